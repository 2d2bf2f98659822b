"""Route cases by the kernels of `walking`: the same leaves as `treewright.model.route`, faster."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright._base.processors import processors
from treewright.counts.compiled.steps import lay_out_steps
from treewright.counts.compiled.walking import (
    BATCH_SLOTS,
    STEP,
    THRESHOLD,
    Nodes,
    Table,
    WalkBuffers,
    sum_leaf_values,
    walk,
    walk_thresholds,
)
from treewright.data.dataset import Dataset
from treewright.model.tree import LEAF

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
    lay_out_steps(
        nodes.attribute, nodes.cut, nodes.child_start, nodes.children, roots, attribute_stride, index, node_at, steps
    )
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
    columns, n = cases.columns, cases.n_rows
    if not columns or not n:
        return None
    addresses = [column.__array_interface__["data"][0] for column in columns]
    case_stride, attribute_stride = columns[0].strides[0], addresses[1] - addresses[0] if len(addresses) > 1 else 8
    row_by_row = attribute_stride == 8 and case_stride >= 8 * len(columns)
    column_by_column = case_stride == 8 and attribute_stride >= 8 * n
    same_layout = all(column.dtype == np.float64 and column.strides == (case_stride,) for column in columns)
    evenly_spaced = addresses == [addresses[0] + attribute_stride * at for at in range(len(columns))] and not (
        case_stride % 8 or attribute_stride % 8
    )
    if not (same_layout and evenly_spaced and (row_by_row or column_by_column)):
        return None
    size = ((n - 1) * case_stride + (len(columns) - 1) * attribute_stride) // 8 + 1
    cells: Floats = np.lib.stride_tricks.as_strided(columns[0], (size,), (8,), writeable=False)
    return Table(cells, case_stride // 8, attribute_stride // 8, len(columns))


def ends_of(trees: Any, roots: npt.NDArray[Any], cases: Dataset, first: int, last: int) -> Ints:
    """Implement `treewright.model.quick_route.ends`."""
    router = Router(trees, roots, cases)
    found = np.empty((len(roots), last - first), dtype=np.int32)

    def one_slice(begin: int, end: int) -> None:
        found[:, begin - first : end - first] = router.nodes(begin, end)

    in_slices(one_slice, first, last, router.rows_at_once)
    return found.T


def sums_of(
    trees: Any, roots: npt.NDArray[Any], cases: Dataset, leaf_of_node: Ints, leaf_values: Floats, weights: Floats
) -> Floats:
    """Implement `treewright.model.quick_route.sums`."""
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
