"""Kernels that route cases through trees: the same leaves as `treewright.tree.route`, faster.

Trees of thresholds are compiled to steps: the offset of the value in the row of a case, the threshold, and the position
of the left child; the right child is next to it. A leaf points to itself, with an infinite threshold. So a step has no
branch that the processor could mispredict. A batch of cases takes one step each in turn, so that memory latencies
overlap; cases that have reached a leaf leave the batch every few steps.

A case with a missing value is routed by itself (`walk`). A case that no single branch takes (it would become
fractional, stay at an inner node, or follow a surrogate) is left to the interpreted router (`UNROUTED`).

The values of a batch are read once in memory order before the cases are routed, so that the hardware prefetcher loads
them; the later reads in tree order then hit the cache.

Invariant of the steps: the two children of a node are adjacent. The roots come first, then the pairs of siblings in the
order of their parents.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from treewright.arrays import (
    Branches,
    Flags,
    Indices,
    Integer,
    NodeBytes,
    NodeIndices,
    NodeIntegers,
    Numbers,
    Offsets,
    Outputs,
    Positions,
    Real,
    Steps,
    Thresholds,
    Weights,
)
from treewright.concurrency import processors
from treewright.data.dataset import Dataset, as_one_array
from treewright.jit import internal, no_alloc_kernel
from treewright.lazy_import import loaded_kernels
from treewright.tree.split import Test
from treewright.tree.tree import LEAF, TESTS

UNROUTED = -1
"""Instead of a leaf: the interpreted router has to route the case."""

BATCH_SLOTS = 128
"""Slots of a batch of cases: with some 30 attributes, their values just fill the first-level cache."""

STEPS_PER_COMPACTION = 5
"""Steps between two compactions of a batch: steps at a leaf are wasted, and so is the time of a compaction."""

THRESHOLD, INTERVALS = TESTS.index(Test.THRESHOLD), TESTS.index(Test.INTERVALS)

STEP = np.dtype([("cut", np.float64), ("offset", np.uint32), ("below", np.uint32)])


class Nodes(NamedTuple):
    """The arrays of a tree, or of many trees with consecutive node numbers."""

    attribute: NodeIntegers
    test: NodeBytes
    cut: Thresholds
    missing: NodeIntegers
    child_start: Offsets
    children: NodeIndices
    value_start: Offsets
    value_branch: Branches
    bound_start: Offsets
    bounds: Thresholds
    has_surrogate: Flags


class Table(NamedTuple):
    """The values of cases in one block of memory, with the strides between neighbouring cases and attributes.

    Categories are stored as doubles of their codes, -1 for missing.
    """

    cells: Numbers
    case_stride: Integer
    attribute_stride: Integer
    attributes: Integer


class WalkBuffers(NamedTuple):
    """Buffers of `walk_thresholds`: incomplete and complete cases; row offset, position and case of each slot."""

    incomplete: Indices
    complete: Indices
    row: Indices
    position: Indices
    case: Indices


@no_alloc_kernel
def walk_thresholds(
    steps: Steps, node_at: NodeIndices, roots: Positions, table: Table, buffers: WalkBuffers, found: NodeIndices
) -> Integer:
    """Write the leaf of each complete case, for every root (roots x cases), where all tests are thresholds.

    Parameters
    ----------
    steps : array of STEP
    node_at : array
        The node at each position of `steps`.
    roots : array
        Positions of the roots.
    table : Table
    buffers : WalkBuffers
        Holds the incomplete cases afterwards.
    found : array, roots x cases

    Returns
    -------
    int
        Number of incomplete cases; what is written for them is undefined.
    """
    zero, one, slots = np.uint64(0), np.uint64(1), np.uint64(BATCH_SLOTS)
    n = np.uint64(found.shape[1])
    # A single tree stays in the cache together with a batch; several trees are walked one after the other, by all
    # cases.
    batch_cases = slots if len(roots) == 1 else n
    n_incomplete = begin = zero
    # Invariant: the cases before `begin` are routed through all trees.
    while begin < n:
        end = min(begin + batch_cases, n)
        _flag_incomplete(table, begin, end, found[0])
        n_complete = zero
        for case in range(begin, end):
            incomplete = found[0, case]
            buffers.incomplete[n_incomplete] = case
            buffers.complete[n_complete] = case
            n_incomplete += np.uint64(incomplete != 0)
            n_complete += np.uint64(incomplete == 0)
        for tree in range(len(roots)):
            for first in range(zero, n_complete, slots):
                active = min(slots, n_complete - first)
                if len(roots) > 1:  # a single tree has just read them
                    _flag_incomplete(
                        table, buffers.complete[first], buffers.complete[first + active - one] + one, found[tree]
                    )
                for slot in range(active):
                    buffers.case[slot] = buffers.complete[first + slot]
                    buffers.row[slot] = buffers.complete[first + slot] * np.uint64(table.case_stride)
                    buffers.position[slot] = roots[tree]
                # Invariant: the first `active` slots hold the cases of the batch that have not reached a leaf.
                while active:
                    for _ in range(STEPS_PER_COMPACTION):
                        for slot in range(active):
                            step = steps[buffers.position[slot]]
                            value = table.cells[buffers.row[slot] + np.uint64(step["offset"])]
                            buffers.position[slot] = np.uint64(step["below"]) + np.uint64(value > step["cut"])
                    remaining = zero
                    for slot in range(active):
                        case, row, position = buffers.case[slot], buffers.row[slot], buffers.position[slot]
                        found[tree, case] = position
                        buffers.case[remaining], buffers.row[remaining], buffers.position[remaining] = (
                            case,
                            row,
                            position,
                        )
                        remaining += np.uint64(steps[position]["below"] != position)
                    active = remaining
            for at in range(n_complete):
                found[tree, buffers.complete[at]] = node_at[found[tree, buffers.complete[at]]]
        begin = end
    return n_incomplete


@internal
def _flag_incomplete(table: Table, begin: Integer, end: Integer, incomplete: NodeIndices) -> None:
    """Read the values of some cases in memory order, and flag the cases with a missing value."""
    attributes = np.uint64(table.attributes)
    if table.attribute_stride == 1:
        for case in range(begin, end):
            start = case * np.uint64(table.case_stride)
            missing = np.int64(0)
            for position in range(start, start + attributes):
                missing |= np.int64(np.isnan(table.cells[position]))
            incomplete[case] = missing
    else:
        for case in range(begin, end):
            incomplete[case] = 0
        for attribute in range(attributes):
            start = attribute * np.uint64(table.attribute_stride)
            for case in range(begin, end):
                incomplete[case] |= np.int32(np.isnan(table.cells[start + case]))


@no_alloc_kernel
def walk(nodes: Nodes, roots: Positions, table: Table, cases: Indices, found: NodeIndices) -> None:
    """Write the leaf of each of some cases, for every root (roots x cases)."""
    for tree in range(len(roots)):
        for case in cases:
            node = np.int64(roots[tree])
            attribute = nodes.attribute[node]
            # Invariant: the case reaches `node`, whose attribute is `attribute` (negative at a leaf).
            while attribute >= 0:
                value = table.cells[np.int64(case) * table.case_stride + attribute * table.attribute_stride]
                branch = _branch(nodes, node, value)
                if branch < 0:
                    branch = UNROUTED if nodes.has_surrogate[node] else np.int64(nodes.missing[node])
                if branch < 0:
                    node = np.int64(UNROUTED)
                    break
                node = np.int64(nodes.children[nodes.child_start[node] + branch])
                attribute = nodes.attribute[node]
            found[tree, case] = node


@internal
def _branch(nodes: Nodes, node: Integer, value: Real) -> Integer:
    """Return the branch of a value, -1 where it is missing or has no branch."""
    test = nodes.test[node]
    if test == THRESHOLD:
        if np.isnan(value):
            return np.int64(-1)
        return np.int64(1) if value > nodes.cut[node] else np.int64(0)
    if test == INTERVALS:
        if np.isnan(value):
            return np.int64(-1)
        branch = np.int64(0)
        for position in range(nodes.bound_start[node], nodes.bound_start[node + 1]):
            if nodes.bounds[position] < value:
                branch += 1
        return branch
    return np.int64(-1) if value < 0 else np.int64(nodes.value_branch[nodes.value_start[node] + np.int64(value)])


@no_alloc_kernel
def sum_leaf_values(
    found: NodeIndices, leaf_of_node: NodeIndices, leaf_values: Outputs, weights: Weights, sums: Outputs
) -> None:
    """Sum the predictions of the leaves for each case, tree by tree; NaN where a tree left the case unrouted.

    Parameters
    ----------
    found : array, trees x cases
        Nodes.
    leaf_of_node : array
        Row in `leaf_values` of each node.
    leaf_values : array, leaves x outputs
    weights : array
        Of the trees.
    sums : array, cases x outputs
        Zeros.
    """
    # Invariant: `sums` holds the predictions of the trees before `tree`.
    for tree in range(found.shape[0]):
        weight = weights[tree]
        for case in range(found.shape[1]):
            node = found[tree, case]
            for k in range(sums.shape[1]):
                sums[case, k] += leaf_values[leaf_of_node[node], k] * weight if node >= 0 else np.nan


@no_alloc_kernel
def lay_out_steps(
    nodes: Nodes,
    roots: Positions,
    attribute_step: Integer,
    position: Positions,
    node_at: NodeIndices,
    steps: Steps,
) -> None:
    """Write the steps of all nodes in one pass; every node comes after its parent.

    Parameters
    ----------
    nodes : Nodes
        Every test has two branches.
    roots : array
    attribute_step : int
        Distance in memory between the values of neighbouring attributes.
    position : array
        Output: the position of every node.
    node_at : array
        Output: the node at every position.
    steps : array of `STEP`
    """
    attribute, cut, child_start, children = nodes.attribute, nodes.cut, nodes.child_start, nodes.children
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


ROWS_FOR_MANY_TREES = 32_768
"""Cases routed through one tree before the next, whose nodes then have to be loaded into the cache."""

ROWS_OF_COLUMNS = 4096
"""Cases whose values are gathered at once from separate columns."""

ROWS_OF_TABLE = 65_536
"""Cases that a thread routes at once through one tree, where the table is contiguous."""

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]


class Router:
    """Trees and cases prepared for routing.

    Parameters
    ----------
    trees : Tree or PackedForest
        Any object with the arrays of a tree.
    roots : array of int
    cases : Dataset
    """

    def __init__(self, trees: Any, roots: npt.NDArray[Any], cases: Dataset) -> None:
        attribute = trees.attribute
        is_inner = attribute != LEAF
        used = np.flatnonzero(np.bincount(attribute[is_inner], minlength=len(cases.columns)))
        self._columns = [cases.columns[index] for index in used.tolist()]
        # Columns that no tree tests are not read.
        self._table = as_one_table(cases) if 2 * len(used) > len(cases.columns) else None
        if self._table is None:
            new_index = np.zeros(len(cases.columns), dtype=attribute.dtype)
            new_index[used] = np.arange(len(used))
            attribute = np.where(is_inner, new_index[attribute], LEAF)
        has_surrogate = np.zeros(len(is_inner), dtype=np.bool_)
        has_surrogate[list(trees.surrogates)] = True
        arrays = [getattr(trees, name) for name in Nodes._fields if name not in ("attribute", "has_surrogate")]
        self._nodes = Nodes._make([attribute, *arrays, has_surrogate])
        self._roots = np.asarray(roots, dtype=np.int64)
        attribute_stride = self.rows_at_once if self._table is None else self._table.attribute_stride
        offsets_fit = len(cases.columns) * attribute_stride < 2**32
        self._only_thresholds = bool(offsets_fit and is_inner.any() and np.all(trees.test[is_inner] == THRESHOLD))
        if self._only_thresholds:
            self._steps, self._node_at, self._root_positions = _steps(self._nodes, self._roots, attribute_stride)

    @property
    def rows_at_once(self) -> int:
        """Most cases that are routed at once."""
        if len(self._roots) > 1:
            return ROWS_FOR_MANY_TREES
        return ROWS_OF_COLUMNS if self._table is None else ROWS_OF_TABLE

    def nodes(self, begin: int, end: int) -> Ints:
        """Return the leaf of each case in ``begin:end``, for every root (roots x cases)."""
        n = end - begin
        if self._table is not None:
            table = self._table._replace(cells=self._table.cells[begin * self._table.case_stride :])
        else:
            cells = np.empty((len(self._columns), self.rows_at_once))
            for index, column in enumerate(self._columns):
                cells[index, :n] = column[begin:end]
            cells.flags.writeable = (
                False  # as in a read-only table: Numba compiles a second kernel for a writable array
            )
            table = Table(cells.ravel(), 1, self.rows_at_once, len(self._columns))
        found = np.empty((len(self._roots), n), dtype=np.int32)
        if not self._only_thresholds:
            walk(self._nodes, self._roots, table, np.arange(n, dtype=np.uint64), found)
            return found
        batch_cases = n if len(self._roots) > 1 else BATCH_SLOTS
        buffers = WalkBuffers(
            *(np.empty(size, dtype=np.uint64) for size in (n, batch_cases, BATCH_SLOTS, BATCH_SLOTS, BATCH_SLOTS))
        )
        n_incomplete = walk_thresholds(self._steps, self._node_at, self._root_positions, table, buffers, found)
        if n_incomplete:
            walk(self._nodes, self._roots, table, buffers.incomplete[:n_incomplete], found)
        return found


def _steps(
    nodes: Nodes, roots: npt.NDArray[np.int64], attribute_stride: int
) -> tuple[npt.NDArray[Any], Ints, npt.NDArray[np.int64]]:
    """Return the steps, the node at each position, and the positions of the roots."""
    n = len(nodes.attribute)
    index, node_at, steps = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int32), np.empty(n, dtype=STEP)
    lay_out_steps(nodes, roots, attribute_stride, index, node_at, steps)
    return steps, node_at, index[roots]


def as_one_table(cases: Dataset) -> Table | None:
    """Return the columns as one table if they are views of one contiguous array, row-major or column-major.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from treewright.data.samples import sample
    >>> numbers = np.arange(6.0).reshape(3, 2)
    >>> as_one_table(replace(sample("play-tennis"), columns=tuple(numbers.T), n_rows=3))
    Table(cells=array([0., 1., 2., 3., 4., 5.]), case_stride=2, attribute_stride=1, attributes=2)
    >>> as_one_table(sample("play-tennis")) is None
    True
    """
    table = as_one_array(cases.columns)
    if table is None:
        return None
    (n, width), (case_stride, attribute_stride) = table.shape, table.strides
    row_by_row = attribute_stride == 8 and case_stride >= 8 * width
    column_by_column = case_stride == 8 and attribute_stride >= 8 * n
    if case_stride % 8 or not (row_by_row or column_by_column):
        return None
    size = ((n - 1) * case_stride + (width - 1) * attribute_stride) // 8 + 1
    cells: Floats = np.lib.stride_tricks.as_strided(table, (size,), (8,), writeable=False)
    return Table(cells, case_stride // 8, attribute_stride // 8, width)


def ends_of(trees: Any, roots: npt.NDArray[Any], cases: Dataset, first: int, last: int) -> Ints:
    """Implement `treewright.tree.route.ends`."""
    router = Router(trees, roots, cases)
    found = np.empty((len(roots), last - first), dtype=np.int32)

    def one_slice(begin: int, end: int) -> None:
        found[:, begin - first : end - first] = router.nodes(begin, end)

    in_slices(one_slice, first, last, router.rows_at_once)
    return found.T


def sums_of(
    trees: Any, roots: npt.NDArray[Any], cases: Dataset, leaf_of_node: Ints, leaf_values: Floats, weights: Floats
) -> Floats:
    """Implement `treewright.tree.route.sums`."""
    router = Router(trees, roots, cases)
    sums = np.zeros((cases.n_rows, leaf_values.shape[1]))

    def one_slice(begin: int, end: int) -> None:
        sum_leaf_values(router.nodes(begin, end), leaf_of_node, leaf_values, weights, sums[begin:end])

    in_slices(one_slice, 0, cases.n_rows, router.rows_at_once)
    return sums


def in_slices(work: Callable[[int, int], None], first: int, last: int, size: int) -> None:
    """Call `work` on slices of ``first:last`` of at most `size` cases, an equal number in each thread."""
    n_slices = -(-(last - first) // size)
    if n_slices > 1:
        n_slices += -n_slices % processors()
        size = -(-(last - first) // n_slices)
    begins = range(first, last, size)
    ends = [min(begin + size, last) for begin in begins]
    if len(begins) < 2:
        for begin, end in zip(begins, ends, strict=True):
            work(begin, end)
        return
    with ThreadPoolExecutor(processors()) as pool:
        for _ in pool.map(work, begins, ends):
            pass


loaded_kernels.routing = True
