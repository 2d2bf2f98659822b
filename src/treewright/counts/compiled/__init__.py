"""Counting by compiled kernels: encoding, histograms, the engine."""
