"""Routing cases down all trees of a packed forest at once.

A router (NumPy, or a kernel for many cases) finds the leaves of unit-weight cases. A case is unrouted if in some tree
no single branch takes it: it would become fractional, stay at an inner node, or follow a surrogate. Unrouted cases are
routed tree by tree by `treewright.model.route`.
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

UNROUTED = -1
"""Instead of a leaf index: the case must be routed tree by tree."""

BLOCK_VISITS = 1_000_000
"""Cases times trees routed per block."""

_THRESHOLD = TESTS.index(Test.THRESHOLD)
_INTERVALS = TESTS.index(Test.INTERVALS)


class Router(Protocol):
    """Finds the leaf of each case in each tree."""

    def __call__(self, packed: PackedForest, cases: Dataset, first: int, last: int) -> Ints:
        """Return the leaf in every tree for the cases ``first:last`` (cases x trees).

        Leaves are numbered as in `PackedForest.leaf_number`; `UNROUTED` marks cases to be routed tree by tree.
        """


def interpreted_leaves(packed: PackedForest, cases: Dataset, first: int, last: int) -> Ints:
    """Find the leaves with NumPy; each step moves all visits one level down."""
    n, trees = last - first, len(packed)
    table = np.empty((len(cases.columns), n))
    used = np.unique(packed.attribute)
    for attribute in used[used != LEAF].tolist():
        table[attribute] = cases.columns[attribute][first:last]  # category codes are small integers, exact as doubles
    flat = table.ravel()
    found = np.full(n * trees, UNROUTED, dtype=np.int32)
    visits = np.arange(n * trees)
    rows = visits // trees
    nodes = np.tile(packed.starts[:-1], n)
    only_cuts = bool(np.all(packed.test[packed.attribute != LEAF] == _THRESHOLD))
    has_surrogates = np.zeros(packed.n_nodes, dtype=bool)
    has_surrogates[list(packed.surrogates)] = True
    while len(visits):
        attributes = packed.attribute[nodes]
        inner = attributes != LEAF
        found[visits[~inner]] = packed.leaf_number[nodes[~inner]]
        visits, rows, nodes, attributes = visits[inner], rows[inner], nodes[inner], attributes[inner]
        values = flat[attributes.astype(np.int64) * n + rows]
        branches = _branches(packed, nodes, values, only_cuts=only_cuts)
        unknown = np.flatnonzero(branches < 0)
        if len(unknown):
            branches[unknown] = np.where(has_surrogates[nodes[unknown]], UNROUTED, packed.missing[nodes[unknown]])
            kept = branches >= 0
            visits, rows, nodes, branches = visits[kept], rows[kept], nodes[kept], branches[kept]
        nodes = packed.children[packed.child_start[nodes] + branches].astype(np.int64)
    return found.reshape(n, trees)


def _branches(
    packed: PackedForest, nodes: npt.NDArray[np.int64], values: Floats, *, only_cuts: bool
) -> npt.NDArray[np.int64]:
    """Return the branch of each visit, -1 if its value is missing or belongs to no branch."""
    branches = (values > packed.cut[nodes]).astype(np.int64)  # a comparison with NaN is False; corrected below
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
    entries = packed.value_start[nodes[by_value]] + np.maximum(codes, 0)
    branches[by_value] = np.where(codes < 0, -1, packed.value_branch[entries])
    return branches


def kernel_leaves(packed: PackedForest, cases: Dataset, first: int, last: int) -> Ints:
    """Find the leaves with a kernel."""
    found = ends(packed, packed.starts[:-1], cases, first, last).T  # the memory layout of the kernel's result
    numbers: Ints = packed.leaf_number[found]
    numbers[found < 0] = UNROUTED
    return numbers.T


@dataclass(frozen=True)
class Block:
    """A block of consecutive cases with their leaves in every tree.

    Parameters
    ----------
    packed : PackedForest
    first, last : int
        The cases ``first:last``.
    leaves : array, cases x trees
    unrouted : array of int
        Positions in the block of the cases that are unrouted in some tree.
    unrouted_cases : Dataset
    """

    packed: PackedForest
    first: int
    last: int
    leaves: Ints
    unrouted: npt.NDArray[np.intp]
    unrouted_cases: Dataset

    def answers_of(self, tree: int, of_leaf: Floats, of_node: Floats | None = None) -> Floats:
        """Return the predictions of one tree for each case, averaged over leaves for fractional cases.

        Parameters
        ----------
        tree : int
        of_leaf : array, all leaves x outputs
        of_node : array or None
            The predictions of the nodes of this tree; needed if the block has unrouted cases.
        """
        answers: Floats = of_leaf[self.leaves[:, tree]]  # index -1 gives unrouted cases a dummy row, replaced below
        if len(self.unrouted) and of_node is not None:
            answers[self.unrouted] = mix_leaf_values(self.packed.trees[tree], self.unrouted_cases, of_node)
        return answers


def blocks(packed: PackedForest, cases: Dataset) -> Iterator[Block]:
    """Yield all cases in order, in blocks with their leaves."""
    compiled = by_kernel(cases.n_rows * len(packed), packed.n_nodes)
    router: Router = kernel_leaves if compiled else interpreted_leaves
    size = max(1, BLOCK_VISITS // len(packed))
    for first in range(0, cases.n_rows, size):
        last = min(first + size, cases.n_rows)
        leaves = router(packed, cases, first, last)
        unrouted = np.flatnonzero((leaves == UNROUTED).any(axis=1))
        yield Block(packed, first, last, leaves, unrouted, cases.take(first + unrouted))
