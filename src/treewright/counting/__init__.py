"""Frequency tables and the engines that count them.

`table` is what a criterion sees, `engine` the protocol. `numpy` counts in memory and is the reference, `numba` does the
same with kernels; `sql` and `dask` count in the database or the cluster and share `out_of_core`.
"""
