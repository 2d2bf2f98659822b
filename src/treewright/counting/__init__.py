"""Frequency tables and the engines that count them.

`table` is what a criterion sees, `engine` the protocol. `numpy` counts in memory and is the reference, `numba` does the
same by kernels; `sql` and `dask` count where the data are and share `out_of_core`.
"""
