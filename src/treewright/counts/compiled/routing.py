"""Trees and cases made ready for the kernels of `walking`, which find the leaves of `treewright.model.route` sooner."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright._base.processors import processors
from treewright.counts.compiled.steps import lay_steps
from treewright.counts.compiled.walking import (
    BATCH_SLOTS,
    STEP,
    THRESHOLD,
    Lists,
    Nodes,
    Table,
    add_up,
    walk,
    walk_cuts,
)
from treewright.data.dataset import Dataset
from treewright.model.tree import LEAF

ROWS_FOR_MANY_TREES = 32_768
"""Cases that go down one tree before the next, whose nodes then have to come into the cache."""

ROWS_OF_COLUMNS = 4096
"""Cases whose numbers are gathered at once from columns that lie apart."""

ROWS_OF_TABLE = 65_536
"""Cases of one tree that a thread takes at once, where their numbers lie together already."""

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]


class Router:
    """Trees and cases made ready for going down.

    Parameters
    ----------
    trees : Tree or PackedForest
        Whatever has the arrays.
    roots : array of int
    cases : Dataset
    """

    def __init__(self, trees: Any, roots: npt.NDArray[Any], cases: Dataset) -> None:
        attribute = trees.attribute
        inner = attribute != LEAF
        used = np.flatnonzero(np.bincount(attribute[inner], minlength=len(cases.columns)))
        self._columns = [cases.columns[place] for place in used.tolist()]
        # Numbers that no tree asks for are not worth to be read.
        self._table = as_one_table(cases) if 2 * len(used) > len(cases.columns) else None
        if self._table is None:
            number = np.zeros(len(cases.columns), dtype=attribute.dtype)
            number[used] = np.arange(len(used))
            attribute = np.where(inner, number[attribute], LEAF)
        stands_in = np.zeros(len(inner), dtype=np.bool_)
        stands_in[list(trees.surrogates)] = True
        arrays = [getattr(trees, name) for name in Nodes._fields if name not in ("attribute", "stands_in")]
        self._nodes = Nodes._make([attribute, *arrays, stands_in])
        self._roots = np.asarray(roots, dtype=np.int64)
        attribute_step = self.rows_at_once if self._table is None else self._table.attribute_step
        within = len(cases.columns) * attribute_step < 2**32
        self._by_cuts = bool(within and inner.any() and np.all(trees.test[inner] == THRESHOLD))
        if self._by_cuts:
            self._steps, self._names, self._places = _steps(self._nodes, self._roots, attribute_step)

    @property
    def rows_at_once(self) -> int:
        """How many cases are sent down at once, at most."""
        if len(self._roots) > 1:
            return ROWS_FOR_MANY_TREES
        return ROWS_OF_COLUMNS if self._table is None else ROWS_OF_TABLE

    def nodes(self, begin: int, end: int) -> Ints:
        """Return the node in which the cases from `begin` to before `end` end, for every root (roots x cases)."""
        n = end - begin
        if self._table is not None:
            table = self._table._replace(cells=self._table.cells[begin * self._table.case_step :])
        else:
            cells = np.empty((len(self._columns), self.rows_at_once))
            for place, column in enumerate(self._columns):
                cells[place, :n] = column[begin:end]
            cells.flags.writeable = False  # as those are that may not be written to: another type is compiled again
            table = Table(cells.ravel(), 1, self.rows_at_once, len(self._columns))
        found = np.empty((len(self._roots), n), dtype=np.int32)
        if not self._by_cuts:
            walk(self._nodes, self._roots, table, np.arange(n, dtype=np.uint64), found)
            return found
        reach = n if len(self._roots) > 1 else BATCH_SLOTS
        lists = Lists(*(np.empty(size, dtype=np.uint64) for size in (n, reach, BATCH_SLOTS, BATCH_SLOTS, BATCH_SLOTS)))
        n_odd = walk_cuts(self._steps, self._names, self._places, table, lists, found)
        if n_odd:
            walk(self._nodes, self._roots, table, lists.odd[:n_odd], found)
        return found


def _steps(
    nodes: Nodes, roots: npt.NDArray[np.int64], attribute_step: int
) -> tuple[npt.NDArray[Any], Ints, npt.NDArray[np.int64]]:
    """Return the steps, the node at the place of each, and the places of the roots."""
    n = len(nodes.attribute)
    place, names, steps = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int32), np.empty(n, dtype=STEP)
    lay_steps(nodes.attribute, nodes.cut, nodes.child_start, nodes.children, roots, attribute_step, place, names, steps)
    return steps, names, place[roots]


def as_one_table(cases: Dataset) -> Table | None:
    """Return the columns as one table if they lie in memory as such a one, row by row or column by column.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from treewright.data.samples import sample
    >>> numbers = np.arange(6.0).reshape(3, 2)
    >>> as_one_table(replace(sample("play-tennis"), columns=tuple(numbers.T), n_rows=3))
    Table(cells=array([0., 1., 2., 3., 4., 5.]), case_step=2, attribute_step=1, attributes=2)
    >>> as_one_table(sample("play-tennis")) is None
    True
    """
    columns, n = cases.columns, cases.n_rows
    if not columns or not n:
        return None
    places = [column.__array_interface__["data"][0] for column in columns]
    down, across = columns[0].strides[0], places[1] - places[0] if len(places) > 1 else 8
    row_by_row = across == 8 and down >= 8 * len(columns)
    column_by_column = down == 8 and across >= 8 * n
    alike = all(column.dtype == np.float64 and column.strides == (down,) for column in columns)
    evenly = places == [places[0] + across * at for at in range(len(columns))] and not (down % 8 or across % 8)
    if not (alike and evenly and (row_by_row or column_by_column)):
        return None
    size = ((n - 1) * down + (len(columns) - 1) * across) // 8 + 1
    cells: Floats = np.lib.stride_tricks.as_strided(columns[0], (size,), (8,), writeable=False)
    return Table(cells, down // 8, across // 8, len(columns))


def ends_of(trees: Any, roots: npt.NDArray[Any], cases: Dataset, first: int, last: int) -> Ints:
    """Do what `treewright.model.quick_route.ends` says."""
    router = Router(trees, roots, cases)
    found = np.empty((len(roots), last - first), dtype=np.int32)

    def some(begin: int, end: int) -> None:
        found[:, begin - first : end - first] = router.nodes(begin, end)

    in_stretches(some, first, last, router.rows_at_once)
    return found.T


def sums_of(trees: Any, roots: npt.NDArray[Any], cases: Dataset, number: Ints, said: Floats, weights: Floats) -> Floats:
    """Do what `treewright.model.quick_route.sums` says."""
    router = Router(trees, roots, cases)
    sums = np.zeros((cases.n_rows, said.shape[1]))

    def some(begin: int, end: int) -> None:
        add_up(router.nodes(begin, end), number, said, weights, sums[begin:end])

    in_stretches(some, 0, cases.n_rows, router.rows_at_once)
    return sums


def in_stretches(work: Callable[[int, int], None], first: int, last: int, size: int) -> None:
    """Do the cases from `first` to before `last`, at most so many at a time, in threads, as many in each."""
    stretches = -(-(last - first) // size)
    if stretches > 1:
        stretches += -stretches % processors()
        size = -(-(last - first) // stretches)
    begins = range(first, last, size)
    ends = [min(begin + size, last) for begin in begins]
    if len(begins) < 2:
        for begin, end in zip(begins, ends, strict=True):
            work(begin, end)
        return
    with ThreadPoolExecutor(processors()) as pool:
        for _ in pool.map(work, begins, ends):
            pass
