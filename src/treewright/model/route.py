"""Sending cases down a tree.

Vocabulary
----------
visit
    A case at a node with a share of its weight. A case with all its values makes one visit per level; where a
    value is missing and the split is fractional, its share is divided among the branches in proportion to their weight.

Everything goes level by level over arrays of visits, so depth costs no stack.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.model.quick_route import by_kernel, sums
from treewright.model.split import FRACTIONAL, STAY, Test
from treewright.model.tree import LEAF, TESTS, Tree

Rows = npt.NDArray[np.intp]
Nodes = npt.NDArray[np.int32]
Shares = npt.NDArray[np.float64]

BATCH = 65_536
"""Rows routed at once."""

VISITS_AT_ONCE = 8_000_000
"""Bound on the visits held at once when missing values multiply them."""

_THRESHOLD = TESTS.index(Test.THRESHOLD)
_INTERVALS = TESTS.index(Test.INTERVALS)


@dataclass(frozen=True)
class Visits:
    """Cases at nodes: parallel arrays of row, node, share of the case's weight, and whether it goes no further."""

    rows: Rows
    nodes: Nodes
    shares: Shares
    final: npt.NDArray[np.bool_]


def leaf_visits(tree: Tree, cases: Dataset) -> Iterator[Visits]:
    """Yield the visits that end, batch by batch, rows counted from the start of the dataset.

    They end at leaves, and at inner nodes whose test lets cases without a value stay.
    """
    for levels in _batches(tree, cases):
        found = [_choose(visits, visits.final) for visits in levels]
        yield Visits(
            np.concatenate([visits.rows for visits in found]),
            np.concatenate([visits.nodes for visits in found]),
            np.concatenate([visits.shares for visits in found]),
            np.concatenate([visits.final for visits in found]),
        )


def all_visits(tree: Tree, cases: Dataset) -> Iterator[Visits]:
    """Yield every visit, inner nodes included, batch by batch and level by level."""
    for levels in _batches(tree, cases):
        yield from levels


def main_leaves(tree: Tree, cases: Dataset) -> Nodes:
    """Return for each case the leaf that gets most of it (the first of equals)."""
    leaves = np.zeros(cases.n_rows, dtype=np.int32)
    for visits in leaf_visits(tree, cases):
        order = np.lexsort((visits.nodes, -visits.shares, visits.rows))
        rows = visits.rows[order]
        first = np.ones(len(rows), dtype=bool)
        first[1:] = rows[1:] != rows[:-1]
        leaves[rows[first]] = visits.nodes[order][first]
    return leaves


def mix_leaf_values(tree: Tree, cases: Dataset, of_node: Shares) -> Shares:
    """Mix what the nodes say (nodes x statements) by the share of each case that ends in them."""
    if by_kernel(cases.n_rows, tree.n_nodes):
        itself = np.arange(tree.n_nodes, dtype=np.int32)
        said: Shares = sums(tree, np.zeros(1, dtype=np.int64), cases, itself, of_node, np.ones(1))
        lost = np.flatnonzero(np.isnan(said[:, 0]))
        if len(lost):
            said[lost] = _mixed(tree, cases.take(lost), of_node)
        return said
    return _mixed(tree, cases, of_node)


def _mixed(tree: Tree, cases: Dataset, of_node: Shares) -> Shares:
    result = np.zeros((cases.n_rows, of_node.shape[1]))
    total = np.zeros(cases.n_rows)
    for visits in leaf_visits(tree, cases):
        np.add.at(result, visits.rows, of_node[visits.nodes] * visits.shares[:, None])
        np.add.at(total, visits.rows, visits.shares)
    return result / np.where(total > 0, total, 1.0)[:, None]


def _batches(tree: Tree, cases: Dataset) -> Iterator[Iterator[Visits]]:
    size = BATCH
    if cases.has_missing:
        size = max(256, min(BATCH, VISITS_AT_ONCE // tree.n_leaves))
    for start in range(0, cases.n_rows, size):
        stop = min(start + size, cases.n_rows)
        yield _levels(tree, cases, np.arange(start, stop, dtype=np.intp))


def _levels(tree: Tree, cases: Dataset, rows: Rows) -> Iterator[Visits]:
    nodes = np.zeros(len(rows), dtype=np.int32)
    shares = np.ones(len(rows))
    while len(rows):
        inner = np.flatnonzero(tree.attribute[nodes] != LEAF)
        branches = _branches_with_defaults(tree, cases, rows[inner], nodes[inner])
        final = np.ones(len(rows), dtype=bool)
        final[inner] = branches == STAY
        yield Visits(rows, nodes, shares, final)
        rows, nodes, shares = _descend(tree, rows[inner], nodes[inner], shares[inner], branches)


def _choose(visits: Visits, mask: npt.NDArray[np.bool_]) -> Visits:
    return Visits(visits.rows[mask], visits.nodes[mask], visits.shares[mask], visits.final[mask])


def _branches_with_defaults(tree: Tree, cases: Dataset, rows: Rows, nodes: Nodes) -> Nodes:
    """Return the branch of each case at its inner node, `FRACTIONAL` or `STAY` where no branch takes it whole."""
    branches = branches_at(tree, cases, rows, nodes)
    lost = branches < 0
    if not lost.any():
        return branches
    for node in set(np.unique(nodes[lost]).tolist()) & set(tree.surrogates):
        for surrogate in tree.surrogates[node]:
            here = np.flatnonzero(lost & (nodes == node) & (branches < 0))
            branches[here] = surrogate.route(cases.columns[surrogate.split.attribute][rows[here]])
    return np.where(branches < 0, tree.missing[nodes], branches)


def _descend(tree: Tree, rows: Rows, nodes: Nodes, shares: Shares, branches: Nodes) -> tuple[Rows, Nodes, Shares]:
    whole = branches >= 0
    below = tree.children[tree.child_start[nodes[whole]] + branches[whole]]
    divided = branches == FRACTIONAL
    if not divided.any():
        return rows[whole], below, shares[whole]
    more_rows, more_nodes, more_shares = _divide(tree, rows[divided], nodes[divided], shares[divided])
    return (
        np.concatenate((rows[whole], more_rows)),
        np.concatenate((below, more_nodes)),
        np.concatenate((shares[whole], more_shares)),
    )


def branches_at(tree: Tree, cases: Dataset, rows: Rows, nodes: Nodes) -> Nodes:
    """Return the branch that each case takes at its (inner) node, -1 where its value is missing."""
    branches = np.full(len(rows), -1, dtype=np.int32)
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
    return branches


def _divide(tree: Tree, rows: Rows, nodes: Nodes, shares: Shares) -> tuple[Rows, Nodes, Shares]:
    start = tree.child_start[nodes]
    many = tree.child_start[nodes + 1] - start
    owner = np.repeat(np.arange(len(many)), many)
    offset = np.arange(len(owner)) - np.repeat(np.cumsum(many) - many, many)
    children = tree.children[start[owner] + offset]
    parents = nodes[owner]
    total = np.bincount(owner, weights=tree.weight[children], minlength=len(many))
    # Pruning may leave branches that do not add up to their node: then the node's own weight is the measure (C4.5).
    measure = np.where(tree.weight[parents] > 0, tree.weight[parents], total[owner])
    # Where no branch ever had a case there is no proportion: they share alike, so that no case is lost.
    even = 1.0 / many[owner]
    part = np.where(total[owner] > 0, tree.weight[children] / np.where(measure > 0, measure, 1.0), even)
    parts = shares[owner] * part
    reached = parts > 0
    return rows[owner][reached], children[reached], parts[reached]
