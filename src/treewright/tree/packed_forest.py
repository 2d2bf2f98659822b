"""A packed forest: all trees of a forest in one set of arrays, for fast routing and compact files.

The nodes of all trees are stored one tree after the other, with consecutive indices. Children, categories and bounds of
node i lie between two starts, as in `Tree`; `children` are indices into the packed forest.

Invariants: every tree is numbered depth first from its root. If the statistics of all inner nodes are exactly the sums
over their children, only those of the leaves are stored, and the others are computed when a tree is extracted. Error
estimates of pruning methods and p-values are not stored.

Cases are routed through all trees at once. A router (NumPy, or a kernel where that is faster) finds the leaves of
unit-weight cases. A case is unrouted if in some tree no single branch takes it: it would become fractional, stay at an
inner node, or follow a surrogate. Unrouted cases are routed tree by tree by `treewright.tree.route`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from treewright.concurrency import processors
from treewright.data.dataset import Dataset
from treewright.data.schema import Schema, Task
from treewright.errors import ParameterError
from treewright.lazy_import import loaded_kernels
from treewright.tree.route import average_leaf_values, by_kernel, ends
from treewright.tree.split import STAY, Surrogate, Test
from treewright.tree.tree import LEAF, TESTS, Tree, integers_if_exact

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[Any]
"""Integers (int64) or doubles."""

Apply = Callable[..., Iterator[Any]]
"""`map`, or that of a thread pool."""

PARALLEL_NODES = 200_000
"""From this many nodes on, trees are packed by several threads; most of the time is spent copying memory."""

FEW_COLUMNS = 16
"""Up to this many columns are compared column by column, more of them row by row."""

COMPILED_NODES = 5_000
"""From this many nodes on, kernels check the statistics of the trees, where kernels are loaded."""

SAME = 1e-9
"""Relative difference of a mean or sum of squares that counts as rounding error."""


@dataclass(frozen=True)
class Statistics:
    """Training statistics as parallel arrays over all nodes, or over the leaves.

    For classification `counts` holds the class weights; for regression it has no columns, and `outcome` and `sse` hold
    mean and sum of squares.
    """

    weight: Floats
    counts: Counts
    outcome: Ints | Floats
    sse: Floats | None

    def take(self, where: slice | npt.NDArray[np.intp]) -> Statistics:
        """Return the statistics of some nodes."""
        sse = None if self.sse is None else self.sse[where]
        return Statistics(self.weight[where], self.counts[where], self.outcome[where], sse)


@dataclass(frozen=True)
class PackedForest:
    """Trees over one schema in one set of arrays, made by `pack_trees` or read from a file.

    Parameters
    ----------
    schema : Schema
    starts : array of int
        First node of each tree (its root), and the number of all nodes.
    attribute, test, cut, missing, child_start, children, value_start, value_branch, bound_start, bounds, stop : arrays
        As in `Tree`.
    statistics : Statistics
    leaves_only : bool
        Whether `statistics` covers the leaves only.
    surrogates : dict of int to tuple of Surrogate

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.recipe import ID3
    >>> from treewright.fitting.learn import fit
    >>> tree = fit(sample("play-tennis"), ID3()).tree
    >>> packed = pack_trees(tree.schema, [tree, tree])
    >>> len(packed), packed.n_nodes, packed[1].to_dict() == tree.to_dict()
    (2, 16, True)
    """

    schema: Schema
    starts: Longs
    attribute: Ints
    test: npt.NDArray[np.int8]
    cut: Floats
    missing: Ints
    child_start: Longs
    children: Ints
    value_start: Longs
    value_branch: Ints
    bound_start: Longs
    bounds: Floats
    stop: npt.NDArray[np.int8]
    statistics: Statistics
    leaves_only: bool
    surrogates: dict[int, tuple[Surrogate, ...]]

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def n_nodes(self) -> int:
        """Number of nodes of all trees."""
        return len(self.attribute)

    @property
    def is_regression(self) -> bool:
        """True if leaves predict numbers instead of classes."""
        return self.schema.task is Task.REGRESSION

    @cached_property
    def leaf_number(self) -> Ints:
        """Index of each leaf among the leaves of all trees (for an inner node: of the last leaf before it)."""
        numbers: Ints = np.cumsum(self.attribute == LEAF, dtype=np.int32)
        numbers -= 1
        return numbers

    @cached_property
    def leaf_starts(self) -> Longs:
        """First leaf of each tree, and the total number of leaves."""
        before = np.concatenate(([0], np.cumsum(self.attribute == LEAF)))
        starts: Longs = before[self.starts].astype(np.int64)
        return starts

    @cached_property
    def leaf_statistics(self) -> Statistics:
        """The statistics of the leaves of all trees."""
        return self.statistics if self.leaves_only else self.statistics.take(np.flatnonzero(self.attribute == LEAF))

    @cached_property
    def trees(self) -> tuple[Tree, ...]:
        """All trees, extracted once."""
        return tuple(self[index] for index in range(len(self)))

    def __iter__(self) -> Iterator[Tree]:
        return iter(self.trees)

    def __getitem__(self, index: int) -> Tree:
        """Extract one tree."""
        if not 0 <= index < len(self):
            raise ParameterError(f"there is no tree {index}; the trees are 0 to {len(self) - 1}")
        first, last = int(self.starts[index]), int(self.starts[index + 1])
        child_start, children = _part(self.child_start, self.children, first, last)
        value_start, value_branch = _part(self.value_start, self.value_branch, first, last)
        bound_start, bounds = _part(self.bound_start, self.bounds, first, last)
        attribute = self.attribute[first:last]
        children = (children - first).astype(np.int32)
        if self.leaves_only:
            leaves = slice(int(self.leaf_starts[index]), int(self.leaf_starts[index + 1]))
            statistics = statistics_from_leaves(self.statistics.take(leaves), attribute == LEAF, child_start, children)
        else:
            statistics = self.statistics.take(slice(first, last))
        return Tree(
            schema=self.schema,
            attribute=attribute,
            test=self.test[first:last],
            cut=self.cut[first:last],
            missing=self.missing[first:last],
            child_start=child_start.astype(np.int32),
            children=children,
            value_start=value_start.astype(np.int32),
            value_branch=value_branch,
            bound_start=bound_start.astype(np.int32),
            bounds=bounds,
            weight=statistics.weight,
            counts=integers_if_exact(statistics.counts),  # even if other trees of the forest have fractions
            outcome=statistics.outcome,
            stop=self.stop[first:last],
            sse=statistics.sse,
            surrogates={node - first: one for node, one in self.surrogates.items() if first <= node < last},
        )


def pack_trees(schema: Schema, trees: Sequence[Tree], n_jobs: int | None = None) -> PackedForest:
    """Pack trees over one schema into one set of arrays, many of them by `n_jobs` threads (None: one per processor)."""
    if not trees:
        raise ParameterError("a forest needs at least one tree")
    starts = np.concatenate(([0], np.cumsum([tree.n_nodes for tree in trees]))).astype(np.int64)
    if starts[-1] >= 2**31:
        raise ParameterError(f"{starts[-1]:,} nodes are too many for one forest")
    jobs = processors() if n_jobs is None else n_jobs
    if starts[-1] < PARALLEL_NODES or jobs == 1:
        return _packed(schema, trees, starts, map)
    with ThreadPoolExecutor(jobs) as pool:
        return _packed(schema, trees, starts, pool.map)


def _packed(schema: Schema, trees: Sequence[Tree], starts: Longs, apply: Apply) -> PackedForest:
    statistics = _statistics_of_leaves(trees, apply)
    leaves_only = statistics is not None
    per_tree: dict[str, list[npt.NDArray[Any]]] = {
        name: [getattr(tree, name) for tree in trees]
        for name in ("attribute", "test", "cut", "missing", "value_branch", "bounds", "stop")
    }
    starting = {name: [getattr(tree, name) for tree in trees] for name in ("child_start", "value_start", "bound_start")}
    joined = dict(zip(per_tree, apply(np.concatenate, per_tree.values()), strict=True))
    joined |= dict(zip(starting, apply(_joined_starts, starting.values()), strict=True))
    parts = list(zip(starts[:-1].tolist(), trees, strict=True))
    return PackedForest(
        schema=schema,
        starts=starts,
        children=_joined_children([tree.children for tree in trees], starts),
        statistics=_joined_statistics(trees) if statistics is None else statistics,
        leaves_only=leaves_only,
        surrogates={first + node: one for first, tree in parts for node, one in tree.surrogates.items()},
        **joined,
    )


def _statistics_of_leaves(trees: Sequence[Tree], apply: Apply) -> Statistics | None:
    """Return the statistics of the leaves of all trees, None unless those of all inner nodes follow from them."""
    joined = empty_leaf_statistics(trees)
    ends = np.cumsum([tree.n_leaves for tree in trees]).tolist()
    parts = [joined.take(slice(end - tree.n_leaves, end)) for end, tree in zip(ends, trees, strict=True)]
    by_kernel = loaded_kernels.kept and sum(tree.n_nodes for tree in trees) >= COMPILED_NODES
    return joined if all(apply(copy_leaves if by_kernel else interpreted_copy_leaves, trees, parts)) else None


def empty_leaf_statistics(trees: Sequence[Tree]) -> Statistics:
    """Return statistics of all leaves of some trees, to be filled."""
    n = sum(tree.n_leaves for tree in trees)
    whole = all(tree.counts.dtype == np.int64 for tree in trees)
    counts = np.empty((n, trees[0].counts.shape[1]), dtype=np.int64 if whole else np.float64)
    if trees[0].is_regression:
        return Statistics(np.empty(n), counts, np.empty(n), np.empty(n))
    return Statistics(np.empty(n), counts, np.empty(n, dtype=np.int32), None)


def copy_leaves(tree: Tree, leaves: Statistics) -> bool:
    """Do the same as `interpreted_copy_leaves` by a kernel."""
    from treewright.tree.pack_kernels import copy_class_leaves, copy_number_leaves

    nodes = tree.child_start, tree.children
    outcome: Any = tree.outcome
    leaf_outcome: Any = leaves.outcome
    if tree.sse is not None and leaves.sse is not None:
        into = leaves.weight, leaf_outcome, leaves.sse
        return bool(copy_number_leaves(*nodes, tree.missing, tree.weight, outcome, tree.sse, *into, SAME))
    counts = np.ascontiguousarray(tree.counts, dtype=leaves.counts.dtype)
    return bool(copy_class_leaves(*nodes, tree.weight, counts, outcome, leaves.weight, leaves.counts, leaf_outcome))


def interpreted_copy_leaves(tree: Tree, leaves: Statistics) -> bool:
    """Copy the statistics of the leaves of a tree; return False if they do not determine those of the inner nodes."""
    if not _adds_up(tree):
        return False
    own = _all_statistics(tree).take(np.flatnonzero(tree.attribute == LEAF))
    leaves.weight[:], leaves.counts[:], leaves.outcome[:] = own.weight, own.counts, own.outcome
    if leaves.sse is not None:
        leaves.sse[:] = own.sse
    return True


def _joined_statistics(trees: Sequence[Tree]) -> Statistics:
    parts = [_all_statistics(tree) for tree in trees]
    weight, counts, outcome = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("weight", "counts", "outcome")
    )
    sums = [part.sse for part in parts if part.sse is not None]
    return Statistics(weight, counts, outcome, np.concatenate(sums) if sums else None)


def _all_statistics(tree: Tree) -> Statistics:
    return Statistics(tree.weight, tree.counts, tree.outcome, tree.sse)


def _joined_children(children: list[Ints], starts: Longs) -> Ints:
    joined = np.empty(sum(map(len, children)), dtype=np.int32)
    at = 0
    for first, own in zip(starts.tolist(), children, strict=False):
        np.add(own, np.int32(first), out=joined[at : at + len(own)])
        at += len(own)
    return joined


def statistics_from_leaves(
    leaves: Statistics, is_leaf: npt.NDArray[np.bool_], child_start: Longs, children: Ints
) -> Statistics:
    """Return the statistics of all nodes of a tree, computed from those of its leaves.

    Levels are visited from the deepest up, so that the sums over the children are complete when a node is reached.
    """
    n = len(is_leaf)
    weight = np.zeros(n)
    weight[is_leaf] = leaves.weight
    counts = np.zeros((n, leaves.counts.shape[1]), dtype=leaves.counts.dtype)
    counts[is_leaf] = leaves.counts
    owner = np.repeat(np.arange(n), np.diff(child_start))
    parent = np.full(n, -1, dtype=np.int64)
    parent[children] = owner
    levels = _levels(parent, child_start, children)
    for level in levels[:0:-1]:
        np.add.at(weight, parent[level], weight[level])
        np.add.at(counts, parent[level], counts[level])
    if leaves.sse is None:
        outcome = majority_classes(counts)
        outcome[is_leaf] = leaves.outcome
        return Statistics(weight, counts, outcome, None)
    mean, sse = np.zeros(n), np.zeros(n)
    mean[is_leaf], sse[is_leaf] = leaves.outcome, leaves.sse
    for level in levels[:0:-1]:
        np.add.at(mean, parent[level], weight[level] * mean[level])
        above = np.unique(parent[level])
        mean[above] /= np.where(weight[above] > 0, weight[above], 1.0)
        np.add.at(sse, parent[level], sse[level] + weight[level] * (mean[level] - mean[parent[level]]) ** 2)
    return Statistics(weight, counts, mean, sse)


def _levels(parent: Longs, child_start: Longs, children: Ints) -> list[Longs]:
    """Return the nodes of each level of a tree."""
    levels = [np.flatnonzero(parent < 0)]
    while len(levels[-1]):
        nodes = levels[-1]
        n_children = child_start[nodes + 1] - child_start[nodes]
        first = np.repeat(child_start[nodes] - np.concatenate(([0], np.cumsum(n_children)[:-1])), n_children)
        levels.append(children[first + np.arange(len(first))].astype(np.int64))
    return levels[:-1]


def _adds_up(tree: Tree) -> bool:
    """Return True if the statistics of the inner nodes follow from those of the leaves (counts exactly)."""
    inner = np.flatnonzero(tree.attribute != LEAF)
    owner = np.repeat(np.arange(tree.n_nodes), np.diff(tree.child_start))
    weight = np.bincount(owner, tree.weight[tree.children], tree.n_nodes)
    if not np.array_equal(weight[inner], tree.weight[inner]):
        return False
    if tree.sse is None:
        above = tree.counts[inner]
        if tree.counts.dtype == np.int64:  # integer sums do not depend on the order
            counts = np.add.reduceat(tree.counts[tree.children], tree.child_start[inner]) if len(above) else above
        else:
            sums = np.zeros_like(tree.counts)
            np.add.at(sums, owner, tree.counts[tree.children])
            counts = sums[inner]
        return np.array_equal(counts, above) and np.array_equal(majority_classes(above), tree.outcome[inner])
    if np.any(tree.missing[inner] == STAY):  # then inner nodes predict as well, and need exact statistics
        return False
    sums = np.bincount(owner, (tree.weight * tree.outcome)[tree.children], tree.n_nodes)
    mean = sums / np.where(weight > 0, weight, 1.0)
    around = tree.weight * (tree.outcome - mean[tree.parent]) ** 2
    sse = np.bincount(owner, (tree.sse + around)[tree.children], tree.n_nodes)
    scale = SAME * (1.0 + np.abs(tree.outcome).max())
    return bool(
        np.all(np.abs(mean - tree.outcome)[inner] <= scale)
        and np.all(np.abs(sse - tree.sse)[inner] <= SAME * (1.0 + tree.sse.max()))
    )


def majority_classes(counts: Counts) -> Ints:
    """Return the first class of the largest weight in each row, up to rounding error (as the grower does)."""
    if counts.shape[1] > FEW_COLUMNS:
        best = counts.max(axis=1, keepdims=True).astype(np.float64)
        found: Ints = np.argmax(counts >= best * (1 - 1e-12), axis=1).astype(np.int32)
        return found
    # By column: looping over many short rows takes ten times as long.
    columns = [column.astype(np.float64) for column in counts.T]
    most = columns[0].copy()
    for column in columns[1:]:
        np.maximum(most, column, out=most)
    most *= 1 - 1e-12
    first: Ints = np.zeros(len(counts), dtype=np.int32)
    for code in range(len(columns) - 1, -1, -1):
        np.copyto(first, np.int32(code), where=columns[code] >= most)
    return first


def _part(starts: Longs, flat: npt.NDArray[Any], first: int, last: int) -> tuple[Longs, npt.NDArray[Any]]:
    own = starts[first : last + 1]
    return own - own[0], flat[own[0] : own[-1]]


def _joined_starts(starts: list[Ints]) -> Longs:
    joined = np.zeros(sum(map(len, starts)) - len(starts) + 1, dtype=np.int64)
    if all(one[0] == one[-1] for one in starts):  # all slices are empty: the zeros need not be written
        return joined
    at, before = 1, 0
    for one in starts:
        np.add(one[1:], before - int(one[0]), out=joined[at : at + len(one) - 1])
        at += len(one) - 1
        before = int(joined[at - 1])
    return joined


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
            answers[self.unrouted] = average_leaf_values(self.packed.trees[tree], self.unrouted_cases, of_node)
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
