"""What is learned, and nothing that learns.

A `split` is the test at a node, a `tree` the arrays of all nodes, a `packed_forest` those of many trees. `model`,
`forest` and `rules` add what predicts. `route` sends cases down, `route_kernels` does so by Numba; `text`, `notation`
and `formula` print; `io` reads and writes the model file.
"""
