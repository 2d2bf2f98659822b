"""Laying out trees of cuts for going down: the two nodes below another stand side by side.

Vocabulary
----------
place
    Of a node among the steps: the roots come first, then pairs of nodes below the same one, by those above them.
"""

from __future__ import annotations

import numpy as np

from treewright.counts.compiled.flags import Array, Number, borrowing


@borrowing
def lay_steps(
    attribute: Array,
    cut: Array,
    child_start: Array,
    children: Array,
    roots: Array,
    attribute_step: Number,
    place: Array,
    names: Array,
    steps: Array,
) -> None:
    """Write the steps of all nodes, in one pass: nodes come after those above them.

    Parameters
    ----------
    attribute, cut, child_start, children : array
        As in `Tree`; every test has two branches.
    roots : array
    attribute_step : int
        How far apart the numbers of neighbouring attributes lie.
    place : array
        Scratch space; becomes the place of every node.
    names : array
        Becomes the node at every place.
    steps : array of `walking.STEP`
    """
    for tree in range(len(roots)):
        place[roots[tree]] = tree
    below = len(roots)
    for node in range(len(attribute)):
        here = place[node]
        names[here] = node
        if attribute[node] < 0:
            steps[here]["cut"] = np.inf
            steps[here]["offset"] = 0
            steps[here]["below"] = here
            continue
        first = np.int64(child_start[node])
        place[np.uint64(children[first])] = below
        place[np.uint64(children[first + 1])] = below + 1
        steps[here]["cut"] = cut[node]
        steps[here]["offset"] = np.int64(attribute[node]) * attribute_step
        steps[here]["below"] = below
        below += 2
