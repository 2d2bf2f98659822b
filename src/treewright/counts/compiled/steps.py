"""Layout of threshold trees for routing.

Invariant: the two children of a node are adjacent. The roots come first, then the pairs of siblings in the order of
their parents.
"""

from __future__ import annotations

import numpy as np

from treewright.counts.compiled.flags import Array, Number, no_alloc_kernel


@no_alloc_kernel
def lay_out_steps(
    attribute: Array,
    cut: Array,
    child_start: Array,
    children: Array,
    roots: Array,
    attribute_step: Number,
    position: Array,
    node_at: Array,
    steps: Array,
) -> None:
    """Write the steps of all nodes in one pass; every node comes after its parent.

    Parameters
    ----------
    attribute, cut, child_start, children : array
        As in `Tree`; every test has two branches.
    roots : array
    attribute_step : int
        Distance in memory between the values of neighbouring attributes.
    position : array
        Output: the position of every node.
    node_at : array
        Output: the node at every position.
    steps : array of `walking.STEP`
    """
    for tree in range(len(roots)):
        position[roots[tree]] = tree
    below = len(roots)
    # Invariant: every node before `node`, and every child of one, has a position; positions from `below` on are free.
    for node in range(len(attribute)):
        here = position[node]
        node_at[here] = node
        if attribute[node] < 0:
            steps[here]["cut"] = np.inf
            steps[here]["offset"] = 0
            steps[here]["below"] = here
            continue
        first = np.int64(child_start[node])
        position[np.uint64(children[first])] = below
        position[np.uint64(children[first + 1])] = below + 1
        steps[here]["cut"] = cut[node]
        steps[here]["offset"] = np.int64(attribute[node]) * attribute_step
        steps[here]["below"] = below
        below += 2
