"""Pruning methods, one file for each."""
