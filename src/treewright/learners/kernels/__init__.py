"""The compiled grower: kernels by Numba that grow the same tree as the interpreter.

The pipeline is `encode`, then for large nodes `histogram_search` with `bounds` and `refine`, for small ones `blocks`,
`sort`, `sorted_scan`, `categorical` and `node_loop`, then `assemble`. The `bucketed` files grow forests of two classes
without sorting. `grower` runs all of it; `workspace` holds the buffers, `options` the recipe as numbers, `score` the
criteria.
"""
