"""Grow a tree by kernels: the same tree as the interpreted grower's, faster.

Large nodes are split by their histograms (`histogram_growth`). A node that is small enough for the cache is copied into
a block, and one kernel grows its whole subtree (`node_loop`). `docs/kernels.md` describes the pipeline. Recipes that
discretise numeric attributes do so once, before the tree grows. After a growth is cancelled its threads accept no work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.arrays import Codes, Flags, NodeDoubles, NodeIntegers, Rows, Sides
from treewright.concurrency import Cancelled, cancel_flag
from treewright.counting.numba import CodedColumn
from treewright.counting.numpy import MemoryEngine
from treewright.data.dataset import Dataset
from treewright.data.schema import Schema, Task
from treewright.errors import DataError, ParameterError
from treewright.intrinsics import addresses_of
from treewright.learners.base import Progress
from treewright.learners.discretise import mdl_bounds
from treewright.learners.kernels.assemble import Fragment, fragment_of, tree_of
from treewright.learners.kernels.blocks import fill_block
from treewright.learners.kernels.bucketed_growth import can_grow_bucketed, grow_bucketed
from treewright.learners.kernels.compile_ahead import CompileProcess, compile_ahead
from treewright.learners.kernels.encode import ByRank, EncodedCases
from treewright.learners.kernels.histogram_growth import BLOCK, GrowthNode, HistogramGrowth, Table
from treewright.learners.kernels.histogram_search import NO_WEIGHTS, EncodedTable
from treewright.learners.kernels.node_loop import ENTRIES_TOO_NARROW, grow_block
from treewright.learners.kernels.options import (
    CRITERIA,
    CUT,
    high_cardinality_attributes,
    is_supported,
    is_unchanged,
    options_of,
    tests_of,
)
from treewright.learners.kernels.sampled_order import ENTRY_SHIFT
from treewright.learners.kernels.score import ENTROPY
from treewright.learners.kernels.sort import gather_codes, new_sort_buffers
from treewright.learners.kernels.workspace import MEAN, Block, Rules
from treewright.learners.recipe import Cuts, Intervals, MissingPolicy, Placement, Recipe
from treewright.learners.sampling import root_key
from treewright.tree.tree import Tree


class Threads(ThreadPoolExecutor):
    """A thread pool that accepts no work after the growth is cancelled."""

    def __init__(self, number: int, cancelled: npt.NDArray[np.bool_]) -> None:
        super().__init__(number)
        self._cancelled = cancelled

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Submit a task, unless the growth is cancelled."""
        raise_if_cancelled(self._cancelled)
        return super().submit(fn, *args, **kwargs)


def raise_if_cancelled(cancelled: npt.NDArray[np.bool_]) -> None:
    """Raise `Cancelled` if the growth is cancelled."""
    if cancelled[0]:
        raise Cancelled


def make_intervals(
    dataset: Dataset, rows: npt.NDArray[np.int32], weights: npt.NDArray[np.float64]
) -> tuple[dict[int, tuple[float, ...]], dict[int, npt.NDArray[Any]]]:
    """Return the bounds of each numeric attribute, found on `rows`, and the interval codes of all rows, 0 for missing.

    `weights` is empty where each row weighs one.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> bounds, codes = make_intervals(sample("play-tennis"), np.arange(14, dtype=np.int32), np.zeros(0))
    >>> bounds, codes
    ({}, {})
    """
    engine = MemoryEngine(replace(dataset.take(rows), weights=weights if len(weights) else None))
    numeric = [index for index, column in enumerate(dataset.schema.attributes) if column.is_numeric]
    [tables] = engine.count([(engine.root(), numeric)])
    bounds: dict[int, tuple[float, ...]] = {}
    codes: dict[int, npt.NDArray[Any]] = {}
    for attribute, table in zip(numeric, tables, strict=True):
        bounds[attribute] = mdl_bounds(table)
        column = dataset.columns[attribute]
        own = np.searchsorted(np.array(bounds[attribute]), column, side="left") + 1
        codes[attribute] = np.where(np.isnan(column), 0, own).astype(np.int32)
    return bounds, codes


Floats = npt.NDArray[np.float64]

NARROW = 1 << 16
"""Blocks of fewer cases have 32-bit order entries."""

ONE_BLOCK = 1 << 20
"""Most cases of a tree that is grown as one block, where that is faster: every thread has a copy of them."""

BYTE_CLASSES = 256
"""From this many classes on, class codes need more than a byte."""

KEPT_FROM = 0.75
"""Where more than this share of the numeric attributes is sampled at a node, all orders are maintained."""


class CompiledGrower:
    """Grow trees over one dataset, which is encoded once for all recipes and weights.

    Parameters
    ----------
    dataset : Dataset
        With a target.
    n_jobs : int
        Threads for one tree.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.recipe import ID3
    >>> CompiledGrower(sample("play-tennis")).grow(ID3()).n_leaves
    5
    """

    def __init__(self, dataset: Dataset, n_jobs: int = 1) -> None:
        if dataset.target is None:
            raise DataError("there is no target to learn from", source=dataset.source)
        self.dataset = dataset
        self.n_jobs = n_jobs
        self.grown = 0
        self.encoded = EncodedCases(dataset, n_jobs)

    def grow(
        self,
        recipe: Recipe,
        weights: npt.NDArray[np.generic] | None = None,
        *,
        progress: Progress | None = None,
        leaves: Rows | None = None,
    ) -> Tree:
        """Grow a tree.

        Parameters
        ----------
        recipe : Recipe
            Supported by the kernels, see `treewright.learners.kernels.options.is_supported`.
        weights : array or None
            Replace the weights of the dataset; a zero leaves a case out.
        progress : callable or None
            Called with the number of finished cases and of all cases.
        leaves : array or None
            Output: the leaf of each case; the first entry is -1 where the leaves are not known.
        """
        if not is_supported(recipe):
            raise ParameterError(f"the kernels do not grow {recipe.name} with these options")
        data = self.dataset
        given = data.weights if weights is None else weights
        if given is None:
            rows, w = np.arange(data.n_rows, dtype=np.int32), NO_WEIGHTS
        else:
            w = np.require(given, np.float64, ["C", "W"])  # another layout would compile the kernels once more
            kept = w > 0
            if kept.all():
                rows = np.arange(data.n_rows, dtype=np.int32)
            else:
                rows = np.flatnonzero(kept).astype(np.int32)
                w = w[rows]
            if is_unchanged(w, np.ones_like):
                w = NO_WEIGHTS
        if len(rows) == 0:
            raise DataError("all weights are zero, so there is nothing to learn from", source=data.source)
        if leaves is not None:
            leaves[0] = -1
        with _Growth(self, recipe, rows, w).running() as growth:
            if growth.bucketed:
                fragment = growth.bucketed_fragment(grow_bucketed(*growth.bucketed_input()))
            elif growth.shares_codes:
                fragment = growth.shared_fragment(growth.root())
            elif (table := growth.histogram_table()) is not None:
                routed = leaves if len(rows) == data.n_rows else None
                fragment = HistogramGrowth(table, growth.subtree, progress, routed).grow(growth.root())
            else:
                fragment = growth.subtree(growth.root())
            if progress is not None:
                progress(len(rows), len(rows))
            tree = growth.tree_of(fragment)
        self.grown += 1
        return tree


class _Growth:
    """The growth of one tree."""

    def __init__(self, owner: CompiledGrower, recipe: Recipe, rows: Rows, weights: Floats) -> None:
        self._owner, self._recipe, self._rows, self._weights = owner, recipe, rows, weights
        self._data = owner.dataset
        self._target: npt.NDArray[Any] = np.asarray(self._data.target)
        self.schema: Schema = self._data.schema
        self._regression = self.schema.task is Task.REGRESSION
        self._width = 3 if self._regression else len(self.schema.classes)
        unit = len(weights) == 0
        total = float(len(rows)) if unit else float(weights.sum())
        whole = unit or is_unchanged(weights, np.floor)
        fractional = recipe.missing is MissingPolicy.FRACTIONAL and self._data.has_missing
        self._whole, self._fractional = whole and not fractional, fractional
        self._bounds: dict[int, tuple[float, ...]] = {}
        self._interval_codes: dict[int, Codes] = {}
        if isinstance(recipe.numeric, Intervals):
            self._bounds, self._interval_codes = make_intervals(self._data, rows, weights)
        self._tests = tests_of(recipe, self.schema, frozenset(self._bounds))
        self._values = np.array(
            [
                len(self._bounds[index]) + 1 if index in self._bounds else len(column.values)
                for index, column in enumerate(self.schema.attributes)
            ],
            dtype=np.int64,
        )
        self._cuts = np.flatnonzero(self._tests == CUT)
        self._slots = np.full(len(self._tests), -1, dtype=np.int64)
        self._slots[self._cuts] = np.arange(len(self._cuts))
        # Where attributes are sampled, a node is sorted by these only, and the tree grows from the codes that all trees
        # share; else all orders are maintained, in blocks.
        sampling = recipe.draw
        few = sampling is not None and not sampling.per_tree and sampling.attributes <= KEPT_FROM * len(self._cuts)
        self._lazy_sort = few and len(self._cuts) > 1 and not fractional
        self.shares_codes = self._lazy_sort and (len(rows) <= ONE_BLOCK or owner.n_jobs == 1)
        self._total = total
        self._options = options_of(recipe, total, self._width, whole=self._whole, unit=unit and not fractional)
        self._high_cardinality = high_cardinality_attributes(self.schema, len(rows))
        self.bucketed = self._is_bucketed(weights)
        if self.bucketed:
            numeric = [column.is_numeric for column in self.schema.attributes]
            self._slots = np.where(numeric, np.cumsum(numeric) - 1, -1)
        looked_up = whole and CRITERIA[recipe.criterion] == ENTROPY
        self._nlogn = owner.encoded.nlogn(int(total) + 1 if looked_up else 1)
        self._cancelled = cancel_flag()
        self._pool: ThreadPoolExecutor | None = None
        self._ahead: CompileProcess | None = None

    def _is_bucketed(self, weights: Floats) -> bool:
        """Return True if the tree is grown by bucketed search, without sorting.

        That needs the ranks of all values, which are known after the first tree or pay off where attributes are
        sampled.
        """
        samples_attributes = 0 < self._options["n_sampled"][0] < len(self._tests)
        ranked = samples_attributes or self._owner.grown > 0 or len(self._cuts) == 0
        known = not self._data.has_missing
        return bool(ranked and known and can_grow_bucketed(self._options, self._tests, self._values, weights))

    @contextmanager
    def running(self) -> Iterator[_Growth]:
        """Start the threads, and set the cancel flag at the end, whatever ended the growth."""
        jobs = self._owner.n_jobs
        if jobs > 1 and len(self._rows) > BLOCK:
            self._pool = Threads(jobs, self._cancelled)
        try:
            yield self
        finally:
            self._cancelled[0] = True
            if self._pool is not None:
                self._pool.shutdown(wait=True, cancel_futures=True)

    def root(self) -> GrowthNode:
        """Return the root with all cases."""
        used = np.zeros(len(self._tests), dtype=bool)
        return GrowthNode(self._rows, self._weights, 0, used, self._root_key())

    def _root_key(self) -> int:
        return root_key(self._recipe.draw.seed if self._recipe.draw is not None else 0)

    def tree_of(self, fragment: Fragment) -> Tree:
        """Return the tree of a finished fragment, with its thresholds where the recipe puts them."""
        return tree_of(fragment, self.schema, self._tests, self._bounds, self._threshold_mover())

    # -- bucketed search ---------------------------------------------------------------------------------------------

    def bucketed_input(self) -> tuple[ByRank, Codes, Any, Rows, Floats, Rules, int, Flags]:
        """Return the arguments of `grow_bucketed` for the whole tree."""
        ranks, values = self._owner.encoded.by_rank(), self._owner.encoded.nominal_codes_by_attribute()
        rules = self._rules(ranks.numbers, 0)
        return ranks, values, self._target, self._rows, self._weights, rules, self._root_key(), self._cancelled

    def bucketed_fragment(self, written: tuple[NodeIntegers, NodeDoubles, Sides, int]) -> Fragment:
        """Return the fragment that bucketed search has written."""
        raise_if_cancelled(self._cancelled)
        return fragment_of(written, self._slots, self._owner.encoded.by_rank().numbers)

    # -- histogram growth --------------------------------------------------------------------------------------------

    def histogram_table(self) -> Table | None:
        """Return the input of histogram growth.

        None for few cases, and where histogram growth does not support the recipe for binned columns: then a block is
        grown.
        """
        # Where few nominal attributes are sampled at each node there is nothing to sort and no histogram to inherit.
        few_nominal_sampled = self._options["n_sampled"][0] > 0 and len(self._cuts) == 0
        one_block = few_nominal_sampled and not self._fractional and len(self._rows) <= ONE_BLOCK
        if len(self._rows) <= BLOCK or one_block:
            return None
        self._ahead = compile_ahead(self._kind(), self._data, self._recipe)
        recipe = self._recipe
        rule = recipe.numeric
        codes, coded = self._owner.encoded.coded()
        binned = [attribute for attribute in self._cuts.tolist() if coded[attribute].is_binned]
        needs_thresholds = isinstance(rule, Cuts) and (rule.correction or rule.gap > 0)
        if len(self._cuts) and bool(self._options["random_cuts"][0]):
            return None
        if needs_thresholds and recipe.missing is MissingPolicy.LEARNED:
            return None
        if self._interval_codes:
            codes, coded = self._with_intervals(codes, coded)
        ranked = self._owner.encoded.ranked(binned) if needs_thresholds else {}
        columns = self._data.columns
        encoded, kept = EncodedTable.of(codes, coded, columns, ranked, self._target, regression=self._regression)
        return Table(
            encoded=encoded,
            kept=kept,
            rules=self._rules(np.empty((0, 1)), 0),
            whole=self._whole,
            all_cases=lambda: self._owner.encoded.cases_of(codes, coded),
            entries=self._owner.encoded.entries,
            n_cases=len(self._rows),
            n_jobs=self._owner.n_jobs,
            pool=self._pool,
            cancelled=self._cancelled,
        )

    def _with_intervals(self, codes: Codes, coded: tuple[CodedColumn, ...]) -> tuple[Codes, tuple[CodedColumn, ...]]:
        """Replace the codes of discretised columns by interval codes."""
        codes, plans = codes.copy(), list(coded)
        for attribute, column in self._interval_codes.items():
            codes[attribute] = column
            plans[attribute] = CodedColumn(len(self._bounds[attribute]) + 2)
        return codes, tuple(plans)

    # -- blocks ------------------------------------------------------------------------------------------------------

    def _kind(self) -> str:
        """Return a name for the combination of argument types of the block kernels."""
        properties = {
            "numbers": len(self._cuts) > 0,
            "values": bool(np.any(self._tests > CUT)),
            "regression": self._regression,
            "many-classes": self._width >= BYTE_CLASSES,
            "random-cuts": bool(self._options["random_cuts"][0]),
            "fractional": self._fractional,
            "lazy-sort": self._lazy_sort,
        }
        names = [name for name, holds in properties.items() if holds]
        return "-".join([self._owner.encoded.code_type.__name__, *names])

    def subtree(self, node: GrowthNode) -> Fragment:
        """Grow the subtree of a node in a block."""
        if self._ahead is not None:
            self._ahead.wait(self._cancelled)
        raise_if_cancelled(self._cancelled)
        n = len(node.rows)
        for dtype, shift in self._entries(n):
            block, numbers = self._block(node, dtype, shift)
            rules = self._rules(numbers, shift)
            root = node.used, np.uint64(node.key), node.depth, node.outcome
            written = grow_block(
                block,
                rules,
                np.arange(n, dtype=np.int32),
                *root,
                self._cancelled,
                np.ascontiguousarray(block.codes.T) if self._lazy_sort else None,
            )
            if written[3] != ENTRIES_TOO_NARROW:
                break
        raise_if_cancelled(self._cancelled)  # a cancelled kernel leaves an incomplete subtree
        fragment = fragment_of(written, self._slots, numbers)
        if n == 0:
            fragment.doubles[0, MEAN] = node.mean
        return fragment

    def shared_fragment(self, root: GrowthNode) -> Fragment:
        """Grow the whole tree from the codes that all trees share."""
        encoded, n_rows = self._owner.encoded, self._data.n_rows
        numbers = encoded.by_rank().numbers
        weights = np.ones(n_rows)
        if len(self._weights):
            weights[self._rows] = self._weights
        nothing = np.zeros(1)
        block = Block(
            np.empty((0, 1), dtype=np.int64),
            encoded.codes_by_attribute(),
            np.zeros(1, dtype=np.uint8) if self._regression else self._class_codes(self._target),
            self._target.astype(np.float64, copy=False) if self._regression else nothing,
            weights,
            np.empty(n_rows) if self._regression else nothing,
        )
        rules = self._rules(numbers, ENTRY_SHIFT)
        key = np.uint64(root.key)
        written = grow_block(block, rules, self._rows, root.used, key, 0, 0, self._cancelled, encoded.codes_by_case())
        raise_if_cancelled(self._cancelled)
        return fragment_of(written, self._slots, numbers)

    def _class_codes(self, target: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return classes in the narrowest dtype of the kernels."""
        return target.astype(np.uint8 if self._width < BYTE_CLASSES else np.int32, copy=False)

    def _rules(self, numbers: Floats, shift: int) -> Rules:
        """Return the rules of a block with these values and this number of bits for a case."""
        bits = np.array([shift], dtype=np.int64)
        return Rules(
            self._options, self._tests, self._values, self._high_cardinality, self._slots, numbers, self._nlogn, bits
        )

    def _entries(self, n: int) -> list[tuple[type[np.integer[Any]], int]]:
        """Return the possible dtypes of order entries with the bits for the case, the narrowest first."""
        wide: tuple[type[np.integer[Any]], int] = (np.int64, 32)
        if self._lazy_sort:
            return [wide]  # no order is maintained
        narrow = n < (NARROW // 2 if self._recipe.missing is MissingPolicy.FRACTIONAL else NARROW)
        # Bits that the ranks of n values do not need go to the case number, which grows with fractional cases.
        return [(np.uint32, 32 - n.bit_length()), wide] if narrow else [wide]

    @cached_property
    def _columns(self) -> tuple[npt.NDArray[np.int64], list[Floats]]:
        """The addresses of the numeric columns, and the columns."""
        return addresses_of(self._data.columns[attribute] for attribute in self._cuts.tolist())

    def _block(self, node: GrowthNode, dtype: type[np.integer[Any]], shift: int) -> tuple[Block, Floats]:
        n = len(node.rows)
        encoded, cuts = self._owner.encoded, self._cuts
        nominal, attributes = encoded.nominal_codes()
        only_values = len(attributes) == len(self._tests)
        codes = np.empty((len(self._tests), n), dtype=nominal.dtype if only_values else np.int32)
        sorted_cuts = 0 if self._lazy_sort else len(cuts)
        order: npt.NDArray[Any] = np.empty((sorted_cuts, n), dtype=dtype)
        if self._lazy_sort:
            ranks, numbers, _ = encoded.by_rank()
        else:
            ranks, numbers = np.empty((0, 0), dtype=np.int32), np.empty((len(cuts), n + 1))
        label_type = np.float64 if self._regression else np.uint8 if self._width < BYTE_CLASSES else np.int32
        nothing = np.zeros(1)
        labels: npt.NDArray[Any] = np.empty(n, dtype=label_type)
        columns = self._columns[0][:sorted_cuts]
        to_sort = n if sorted_cuts else 0
        fill_block(
            node.rows,
            self._data.n_rows,
            columns,
            ranks,
            cuts,
            nominal,
            attributes,
            self._target,
            shift,
            order,
            codes,
            numbers,
            labels,
            np.empty(to_sort),
            new_sort_buffers(to_sort),
        )
        for attribute, column_codes in self._interval_codes.items():
            gather_codes(column_codes, node.rows, codes[attribute], 0)
        block = Block(
            order,
            codes,
            np.zeros(1, dtype=np.uint8) if self._regression else labels,
            labels if self._regression else nothing,
            node.weights.copy() if len(node.weights) else np.ones(n),
            np.zeros(n) if self._regression else nothing,
        )
        return block, numbers

    # -- cuts --------------------------------------------------------------------------------------------------------

    def _threshold_mover(self) -> Callable[[int, Floats], Floats] | None:
        rule = self._recipe.numeric
        random_cuts = bool(self._options["random_cuts"][0])
        if (
            isinstance(rule, Cuts)
            and (rule.placement is Placement.DATA_VALUE or rule.bins is not None)
            and not random_cuts
        ):
            return self.at_data_values
        return None

    def at_data_values(self, attribute: int, cuts: Floats) -> Floats:
        """Return the largest data values that are not above these thresholds."""
        if len(self._rows) == self._data.n_rows:
            distinct = self._owner.encoded.distinct(attribute)
        else:
            column = self._data.columns[attribute][self._rows]
            distinct = np.unique(column[~np.isnan(column)] + 0.0)
        moved: Floats = distinct[np.searchsorted(distinct, cuts, side="right") - 1]
        return moved
