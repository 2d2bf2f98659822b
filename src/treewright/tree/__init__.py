"""Trees and models, without the learners.

A `split` is the test at a node, a `tree` the arrays of all nodes, a `packed_forest` those of many trees. `model`,
`forest` and `rules` predict. `route` sends cases down a tree, `route_kernels` does so by Numba; `text`, `notation` and
`formula` print; `io` reads and writes the model file.
"""
