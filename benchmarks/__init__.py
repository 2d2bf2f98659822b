"""Measurements of speed, memory, size and accuracy, beside the peers that are installed."""
