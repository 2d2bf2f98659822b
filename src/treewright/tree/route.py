"""Routing: sending cases down a tree, by NumPy or by a kernel.

A visit is a case at a node with a share of the case's weight. A case without missing values makes one visit per level.
If a value is missing and the split is fractional, the share is distributed over the branches in proportion to their
weight. Visits are processed level by level as arrays, so a deep tree needs no call stack.

NumPy and the kernel reach the same leaves. The kernel is faster, but loading it takes time: half a second if no kernel
was used before, some hundredths of a second otherwise, and all nodes have to be prepared for it. `by_kernel` weighs
this against the number of cases.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.lazy_import import loaded_kernels
from treewright.tree.split import FRACTIONAL, STAY, Test
from treewright.tree.tree import LEAF, TESTS, Tree

MANY_VISITS = 1_000_000
"""Cases times trees from which a kernel is used even if it has to be loaded."""

MANY_FOR_LOADED_ENGINE = 100_000
"""The same if kernels have already grown trees, and compiled code is cached."""

MANY_FOR_LOADED_KERNEL = 1_000
"""The same if the kernel was used before."""

NODES_PER_VISIT = 32
"""Number of nodes that are prepared for the kernel in the time of one visit by NumPy."""


def by_kernel(visits: int, nodes: int) -> bool:
    """Return True if a kernel should route this many cases (times trees) down trees with this many nodes.

    Examples
    --------
    >>> by_kernel(100, 50), by_kernel(10**9, 50)
    (False, True)
    """
    if visits * NODES_PER_VISIT < nodes:
        return False
    if visits >= MANY_VISITS:
        return True
    if loaded_kernels.routing:
        return visits >= MANY_FOR_LOADED_KERNEL
    return loaded_kernels.kept and visits >= MANY_FOR_LOADED_ENGINE


def ends(trees: Any, roots: npt.NDArray[Any], cases: Dataset, first: int, last: int) -> npt.NDArray[np.int32]:
    """Return the final node of each case for every root, computed by a kernel.

    Parameters
    ----------
    trees : Tree or PackedForest
    roots : array of int
    cases : Dataset
    first, last : int
        The cases from `first` to before `last`.

    Returns
    -------
    array, cases x roots
        -1 for cases that the kernel cannot route.
    """
    from treewright.tree.route_kernels import ends_of

    found: npt.NDArray[np.int32] = ends_of(trees, roots, cases, first, last)
    return found


def sums(
    trees: Any,
    roots: npt.NDArray[Any],
    cases: Dataset,
    number: npt.NDArray[np.int32],
    predictions: npt.NDArray[np.float64],
    weights: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """Return the weighted sum of the leaf predictions of all trees, added tree by tree by a kernel.

    Parameters
    ----------
    trees : Tree or PackedForest
    roots : array of int
    cases : Dataset
    number : array of int
        Row in `predictions` of each node.
    predictions : array, rows x outputs
    weights : array
        Weight of each tree.

    Returns
    -------
    array, cases x outputs
        NaN for cases that the kernel cannot route.
    """
    from treewright.tree.route_kernels import sums_of

    found: npt.NDArray[np.float64] = sums_of(trees, roots, cases, number, predictions, weights)
    return found


Rows = npt.NDArray[np.intp]
Nodes = npt.NDArray[np.int32]
Shares = npt.NDArray[np.float64]

BATCH = 65_536
"""Rows routed in one batch."""

MAX_FRACTIONAL_VISITS = 8_000_000
"""Bound on the visits held in memory when missing values multiply them."""

_THRESHOLD = TESTS.index(Test.THRESHOLD)
_INTERVALS = TESTS.index(Test.INTERVALS)


@dataclass(frozen=True)
class Visits:
    """Cases at nodes: parallel arrays of row, node, share of the case's weight, and whether the visit is the last."""

    rows: Rows
    nodes: Nodes
    shares: Shares
    final: npt.NDArray[np.bool_]


def leaf_visits(tree: Tree, cases: Dataset) -> Iterator[Visits]:
    """Yield the final visits, batch by batch; row indices refer to the routed dataset.

    Visits end at leaves, and at inner nodes whose split lets cases with a missing value stay.
    """
    for levels in _batches(tree, cases):
        rows, nodes, shares = [], [], []
        for visits in levels:
            rows.append(visits.rows[visits.final])
            nodes.append(visits.nodes[visits.final])
            shares.append(visits.shares[visits.final])
        found = np.concatenate(rows)
        yield Visits(found, np.concatenate(nodes), np.concatenate(shares), np.ones(len(found), dtype=bool))


def all_visits(tree: Tree, cases: Dataset) -> Iterator[Visits]:
    """Yield every visit, inner nodes included, batch by batch and level by level."""
    for levels in _batches(tree, cases):
        yield from levels


def main_leaves(tree: Tree, cases: Dataset) -> Nodes:
    """Return for each case the leaf with the largest share of it (the first of equals)."""
    leaves = np.zeros(cases.n_rows, dtype=np.int32)
    for visits in leaf_visits(tree, cases):
        order = np.lexsort((visits.nodes, -visits.shares, visits.rows))
        rows = visits.rows[order]
        first = np.ones(len(rows), dtype=bool)
        first[1:] = rows[1:] != rows[:-1]
        leaves[rows[first]] = visits.nodes[order][first]
    return leaves


def average_leaf_values(tree: Tree, cases: Dataset, of_node: Shares) -> Shares:
    """Average the rows of `of_node` (one per node), weighted by the share of each case that ends in the node."""
    if by_kernel(cases.n_rows, tree.n_nodes):
        identity = np.arange(tree.n_nodes, dtype=np.int32)
        averaged: Shares = sums(tree, np.zeros(1, dtype=np.int64), cases, identity, of_node, np.ones(1))
        unrouted = np.flatnonzero(np.isnan(averaged[:, 0]))
        if len(unrouted):
            averaged[unrouted] = _average_by_visits(tree, cases.take(unrouted), of_node)
        return averaged
    return _average_by_visits(tree, cases, of_node)


def _average_by_visits(tree: Tree, cases: Dataset, of_node: Shares) -> Shares:
    result = np.zeros((cases.n_rows, of_node.shape[1]))
    total = np.zeros(cases.n_rows)
    for visits in leaf_visits(tree, cases):
        np.add.at(result, visits.rows, of_node[visits.nodes] * visits.shares[:, None])
        np.add.at(total, visits.rows, visits.shares)
    return result / np.where(total > 0, total, 1.0)[:, None]


def _batches(tree: Tree, cases: Dataset) -> Iterator[Iterator[Visits]]:
    size = BATCH
    if cases.has_missing:
        size = max(256, min(BATCH, MAX_FRACTIONAL_VISITS // tree.n_leaves))
    for start in range(0, cases.n_rows, size):
        stop = min(start + size, cases.n_rows)
        yield _levels(tree, cases, np.arange(start, stop, dtype=np.intp))


def _levels(tree: Tree, cases: Dataset, rows: Rows) -> Iterator[Visits]:
    nodes = np.zeros(len(rows), dtype=np.int32)
    shares = np.ones(len(rows))
    while len(rows):
        inner = np.flatnonzero(tree.attribute[nodes] != LEAF)
        branches = _branches(tree, cases, rows[inner], nodes[inner])
        final = np.ones(len(rows), dtype=bool)
        final[inner] = branches == STAY
        yield Visits(rows, nodes, shares, final)
        routed, fractional = inner[branches >= 0], inner[branches == FRACTIONAL]
        below = tree.children[tree.child_start[nodes[routed]] + branches[branches >= 0]]
        if len(fractional):
            more_rows, more_nodes, more = _distribute(tree, rows[fractional], nodes[fractional], shares[fractional])
            rows = np.concatenate((rows[routed], more_rows))
            nodes = np.concatenate((below, more_nodes))
            shares = np.concatenate((shares[routed], more))
        else:
            rows, nodes, shares = rows[routed], below, shares[routed]


def _branches(tree: Tree, cases: Dataset, rows: Rows, nodes: Nodes) -> Nodes:
    """Return the branch of each case at its inner node, `FRACTIONAL` or `STAY` where no single branch takes it."""
    branches = np.full(len(rows), -1, dtype=np.int32)  # until it is known that the value has a branch
    attributes = tree.attribute[nodes]
    for attribute in np.unique(attributes):
        here = np.flatnonzero(attributes == attribute)
        at = nodes[here]
        values = cases.columns[attribute][rows[here]]
        if not tree.schema.attributes[attribute].is_numeric:
            known = values >= 0
            branches[here[known]] = tree.value_branch[tree.value_start[at[known]] + values[known]]
            continue
        known = ~np.isnan(values)
        by_cut = known & (tree.test[at] == _THRESHOLD)
        branches[here[by_cut]] = values[by_cut] > tree.cut[at[by_cut]]
        for node in np.unique(at[known & (tree.test[at] == _INTERVALS)]):
            same = known & (at == node)
            bounds = tree.bounds[tree.bound_start[node] : tree.bound_start[node + 1]]
            branches[here[same]] = np.searchsorted(bounds, values[same], side="left")
    unknown = branches < 0
    if not unknown.any():
        return branches
    for node in set(np.unique(nodes[unknown]).tolist()) & set(tree.surrogates):
        for surrogate in tree.surrogates[node]:
            here = np.flatnonzero(unknown & (nodes == node) & (branches < 0))
            branches[here] = surrogate.route(cases.columns[surrogate.split.attribute][rows[here]])
    return np.where(branches < 0, tree.missing[nodes], branches)


def _distribute(tree: Tree, rows: Rows, nodes: Nodes, shares: Shares) -> tuple[Rows, Nodes, Shares]:
    """Return the visits that fractional cases make below their nodes."""
    start = tree.child_start[nodes]
    n_children = tree.child_start[nodes + 1] - start
    owner = np.repeat(np.arange(len(n_children)), n_children)
    offset = np.arange(len(owner)) - np.repeat(np.cumsum(n_children) - n_children, n_children)
    children = tree.children[start[owner] + offset]
    parents = nodes[owner]
    total = np.bincount(owner, weights=tree.weight[children], minlength=len(n_children))
    # After pruning the branches may not add up to their node: C4.5 divides by the weight of the node itself.
    measure = np.where(tree.weight[parents] > 0, tree.weight[parents], total[owner])
    # If no branch had a training case, the share is distributed evenly, so that no case is lost.
    even = 1.0 / n_children[owner]
    part = np.where(total[owner] > 0, tree.weight[children] / np.where(measure > 0, measure, 1.0), even)
    parts = shares[owner] * part
    reached = parts > 0
    return rows[owner][reached], children[reached], parts[reached]
