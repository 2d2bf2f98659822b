"""Algorithms that grow a tree.

The shared grower reads a `recipe`: `criteria` score tables, `candidates` finds the best split of an attribute, `select`
chooses among attributes, `grower` goes on until nothing is open, `out_of_core` where the data are not in memory.
`kernels` is the same grower compiled. Each of the other packages reproduces one program or paper: options, growing,
trace, pruning of its own.
"""
