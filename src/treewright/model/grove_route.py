"""Sending cases down all trees of a packed forest at once.

Vocabulary
----------
lost
    A case that no branch takes whole in some tree (it would be divided, would stay at an inner node, or would follow a
    surrogate). Such cases go the long way, tree by tree, by `treewright.model.route`; all others go level by level over
    arrays.
router
    Whoever finds the leaves of whole cases: NumPy, or a kernel where there are many.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.model.grove import PackedForest
from treewright.model.quick_route import by_kernel, ends
from treewright.model.route import mix_leaf_values
from treewright.model.split import Test
from treewright.model.tree import LEAF, TESTS

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

LOST = -1
"""In place of a leaf: the case has to go the long way."""

VISITS_AT_ONCE = 1_000_000
"""Cases times trees that are routed at once."""

_THRESHOLD = TESTS.index(Test.THRESHOLD)
_INTERVALS = TESTS.index(Test.INTERVALS)


class Router(Protocol):
    """Finds leaves."""

    def __call__(self, packed: PackedForest, cases: Dataset, first: int, last: int) -> Ints:
        """Return for the cases from `first` to before `last` the leaf in every tree (cases x trees).

        Leaves are numbered as in `PackedForest.leaf_number`; `LOST` where the case has to go the long way.
        """


def interpreted_leaves(packed: PackedForest, cases: Dataset, first: int, last: int) -> Ints:
    """Find the leaves by NumPy, one step of all visits at a time."""
    n, trees = last - first, len(packed)
    table = np.empty((len(cases.columns), n))
    used = np.unique(packed.attribute)
    for place in used[used != LEAF].tolist():
        table[place] = cases.columns[place][first:last]  # codes of values are whole and small: doubles hold them
    flat = table.ravel()
    found = np.full(n * trees, LOST, dtype=np.int32)
    visits = np.arange(n * trees)
    rows = visits // trees
    nodes = np.tile(packed.starts[:-1], n)
    only_cuts = bool(np.all(packed.test[packed.attribute != LEAF] == _THRESHOLD))
    stands_in = np.zeros(packed.n_nodes, dtype=bool)
    stands_in[list(packed.surrogates)] = True
    while len(visits):
        attributes = packed.attribute[nodes]
        inner = attributes != LEAF
        found[visits[~inner]] = packed.leaf_number[nodes[~inner]]
        visits, rows, nodes, attributes = visits[inner], rows[inner], nodes[inner], attributes[inner]
        values = flat[attributes.astype(np.int64) * n + rows]
        branches = _branches(packed, nodes, values, only_cuts=only_cuts)
        unknown = np.flatnonzero(branches < 0)
        if len(unknown):
            branches[unknown] = np.where(stands_in[nodes[unknown]], LOST, packed.missing[nodes[unknown]])
            kept = branches >= 0
            visits, rows, nodes, branches = visits[kept], rows[kept], nodes[kept], branches[kept]
        nodes = packed.children[packed.child_start[nodes] + branches].astype(np.int64)
    return found.reshape(n, trees)


def _branches(
    packed: PackedForest, nodes: npt.NDArray[np.int64], values: Floats, *, only_cuts: bool
) -> npt.NDArray[np.int64]:
    """Return the branch of each visit, -1 where its value is missing or belongs to no branch."""
    branches = (values > packed.cut[nodes]).astype(np.int64)  # comparing with NaN is False: those are corrected below
    if only_cuts:
        branches[np.isnan(values)] = -1
        return branches
    tests = packed.test[nodes]
    by_cut = tests == _THRESHOLD
    branches[by_cut & np.isnan(values)] = -1
    by_bounds = np.flatnonzero(tests == _INTERVALS)
    for node in np.unique(nodes[by_bounds]).tolist():
        here = by_bounds[nodes[by_bounds] == node]
        bounds = packed.bounds[packed.bound_start[node] : packed.bound_start[node + 1]]
        branches[here] = np.where(np.isnan(values[here]), -1, np.searchsorted(bounds, values[here], side="left"))
    by_value = np.flatnonzero(~by_cut & (tests != _INTERVALS))
    codes = values[by_value].astype(np.int64)
    places = packed.value_start[nodes[by_value]] + np.maximum(codes, 0)
    branches[by_value] = np.where(codes < 0, -1, packed.value_branch[places])
    return branches


def kernel_leaves(packed: PackedForest, cases: Dataset, first: int, last: int) -> Ints:
    """Find the leaves by a kernel."""
    found = ends(packed, packed.starts[:-1], cases, first, last).T  # as it lies in memory
    numbers: Ints = packed.leaf_number[found]
    numbers[found < 0] = LOST
    return numbers.T


@dataclass(frozen=True)
class Block:
    """Some of the cases with their leaves in every tree.

    Parameters
    ----------
    packed : PackedForest
    first, last : int
        The cases from `first` to before `last`.
    leaves : array, cases x trees
    lost : array of int
        Places in the block of the cases that go the long way, in any tree.
    lost_cases : Dataset
    """

    packed: PackedForest
    first: int
    last: int
    leaves: Ints
    lost: npt.NDArray[np.intp]
    lost_cases: Dataset

    def said_by(self, tree: int, of_leaf: Floats, of_node: Floats | None = None) -> Floats:
        """Return what the leaves of one tree say of each case, mixed for cases that were divided.

        Parameters
        ----------
        tree : int
        of_leaf : array, all leaves x statements
        of_node : array or None
            What the nodes of this tree say; needed where cases are lost.
        """
        said: Floats = of_leaf[self.leaves[:, tree]]  # lost cases get the last row first, and their own below
        if len(self.lost) and of_node is not None:
            said[self.lost] = mix_leaf_values(self.packed.trees[tree], self.lost_cases, of_node)
        return said


def blocks(packed: PackedForest, cases: Dataset) -> Iterator[Block]:
    """Yield the cases in order, with their leaves."""
    quick = by_kernel(cases.n_rows * len(packed), packed.n_nodes)
    router: Router = kernel_leaves if quick else interpreted_leaves
    size = max(1, VISITS_AT_ONCE // len(packed))
    for first in range(0, cases.n_rows, size):
        last = min(first + size, cases.n_rows)
        leaves = router(packed, cases, first, last)
        lost = np.flatnonzero((leaves == LOST).any(axis=1))
        yield Block(packed, first, last, leaves, lost, cases.take(first + lost))
