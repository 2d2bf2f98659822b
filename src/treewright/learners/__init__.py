"""Algorithms that grow a tree.

The shared grower reads a `recipe`: `criteria` score tables, `candidates` finds the best split of an attribute, `select`
chooses among attributes, `grower` splits nodes until none is open, `out_of_core` does so for data out of core.
`kernels` is the same grower compiled. Each of the other packages reproduces one program or paper: options, growing,
trace, pruning of its own.
"""
