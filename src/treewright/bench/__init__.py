"""Treewright beside its peers: made data, one process for each measurement, and the ratios."""
