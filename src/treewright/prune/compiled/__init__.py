"""Pruning by compiled kernels."""
