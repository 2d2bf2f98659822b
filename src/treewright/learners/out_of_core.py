"""Growing a tree out of core: few passes, exact thresholds, and a state file to resume from.

**Bounds on runs of numbers.** Gain, Gini and chi-square are convex in the class counts of one side. A cut inside a run
has on its left all cases before the run and some cases of each class of the run. So its score is at most the greatest
score at the corners, where each class of the run is completely on one side (Alsabti, Ranka and Singh 1998 bound by
estimates; corners are exact). A cheaper bound is tried first: n times an impurity never decreases when cases are added,
so the cases before the run and the cases after it stay at least as impure as they are.

**Thresholds.** C4.5 puts a threshold at the largest number in all data that is not above the midpoint of two
neighbours. The partition of the cases does not depend on it, so the tree is grown with midpoints, and one pass at the
end moves all thresholds.

**Small nodes.** The cases of small nodes are fetched, those of many nodes in one pass, and their subtrees are grown in
memory.

**Forests.** The trees grow in step and share every pass over the data. Before a level is decided, the tables that all
trees need are counted at once. Then each tree chooses its splits as it would alone, from tables that are already
counted.

**State file.** The state after each level is the tree so far, as a model file, with its open nodes; another process can
resume from it. A state file is validated like a model file. A state of another table, recipe or version is rejected.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from treewright.counting.engine import Engine, OutOfCoreEngine, Summary
from treewright.counting.out_of_core import BaseOutOfCoreEngine, TreeView
from treewright.counting.table import Counts, FrequencyTable
from treewright.data.dataset import Dataset
from treewright.data.schema import Schema, Task
from treewright.errors import ModelFormatError, ParameterError
from treewright.learners.base import Grown, Progress
from treewright.learners.candidates import SplitEvaluator
from treewright.learners.criteria import Criterion, Decrease, criterion_named
from treewright.learners.grower import TRACE_CELLS, TreeGrower, counter_for
from treewright.learners.monotonic import Span
from treewright.learners.recipe import Cuts, MissingPolicy, Placement, Recipe
from treewright.learners.select import GrowingNode
from treewright.tree.build import NodeRecord, build_tree, records_of
from treewright.tree.io.model_file import load_model
from treewright.tree.model import TreeModel
from treewright.tree.split import KNOWN, EvaluatedSplit, Split
from treewright.tree.tree import Stop, Tree

MOST_CORNERS = 12
"""Maximum number of classes of a run whose corners are evaluated."""

BOUND_MARGIN = 1e-7
"""A bound has to be below the best score by this share of it: ties are resolved by rules, not by bounds."""

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


class ScoreBoundFilter:
    """Selects the runs that may contain the best cut, by upper bounds on the score under one recipe.

    Parameters
    ----------
    recipe : Recipe
        For classes, with thresholds that are searched and not random.
    evaluator : SplitEvaluator
        Decides which cuts are admissible.
    """

    def __init__(self, recipe: Recipe, evaluator: SplitEvaluator) -> None:
        self._criterion: Criterion = criterion_named(recipe.criterion)
        self._learned = recipe.missing is MissingPolicy.LEARNED
        self._evaluator = evaluator
        self.gap = recipe.numeric.gap if isinstance(recipe.numeric, Cuts) else 0.0

    def filter_runs(self, node: int, attribute: int, table: FrequencyTable) -> tuple[Flags, npt.NDArray[np.int64]]:
        """Return which runs have to be counted number by number, and the number of cuts in the others."""
        first, last = table.first, table.last
        cuts_inside = table.cuts_inside if table.cuts_inside is not None else np.zeros(len(first), dtype=np.int64)
        several = first < last
        left: Counts = np.cumsum(table.counts, axis=0)
        cases = np.cumsum(table.cases)
        before, cases_before = left - table.counts, cases - table.cases
        after_fits = self._evaluator.sides_fit(table, left, cases)
        separable = np.append(first[1:] - last[:-1] > self.gap * (1 + 1e-6), False)
        borders = np.flatnonzero(separable & after_fits)
        if len(borders) == 0:
            return several, cuts_inside
        best = float(self._scores(table, left[borders]).max())
        both_sides_fit = after_fits & self._evaluator.sides_fit(table, before, cases_before)
        bounds = self._bounds(table, before, best, np.flatnonzero(several & both_sides_fit))
        ruled_out = both_sides_fit & (bounds < best - BOUND_MARGIN * abs(best))
        return several & ~ruled_out, cuts_inside

    def _extras(self, table: FrequencyTable) -> list[Counts]:
        """Return what may be on the left besides known cases: nothing, and all cases with a missing value."""
        nothing = np.zeros_like(table.unknown)
        return [nothing, table.unknown] if self._learned and table.unknown_cases else [nothing]

    def _whole(self, table: FrequencyTable) -> Counts:
        return table.known + self._extras(table)[-1]

    def _scores(self, table: FrequencyTable, left: Counts) -> Floats:
        whole = self._whole(table)
        sides = [left + extra for extra in self._extras(table)]
        scores: Floats = np.max([self._criterion.of_cuts(side, whole - side) for side in sides], axis=0)
        return scores

    def _bounds(self, table: FrequencyTable, before: Counts, best: float, runs: npt.NDArray[np.intp]) -> Floats:
        """Return a bound for each of the given runs, infinity for the others."""
        bounds = np.full(len(before), np.inf)
        if isinstance(self._criterion, Decrease) and len(runs):
            bounds[runs] = self._impurity_bounds(table, before[runs], table.counts[runs])
            runs = runs[bounds[runs] >= best - BOUND_MARGIN * abs(best)]
        for run in runs.tolist():
            present = np.flatnonzero(table.counts[run])
            if len(present) <= MOST_CORNERS:
                bounds[run] = self._at_corners(table, before[run], table.counts[run], present)
        return bounds

    def _impurity_bounds(self, table: FrequencyTable, before: Counts, counts: Counts) -> Floats:
        criterion = self._criterion
        whole = self._whole(table)
        n = float(whole.sum())
        if not isinstance(criterion, Decrease):
            return np.full(len(before), np.inf)
        total = float(criterion.total(whole[None, :])[0])
        found = []
        for extra in self._extras(table):
            least = criterion.total(before + extra) + criterion.total(whole - extra - before - counts)
            found.append((total - least) / n)
        bounds: Floats = np.max(found, axis=0)
        return bounds

    def _at_corners(
        self, table: FrequencyTable, before: Counts, counts: Counts, present: npt.NDArray[np.intp]
    ) -> float:
        chosen = (np.arange(1 << len(present))[:, None] >> np.arange(len(present))) & 1
        corners = np.zeros((len(chosen), len(counts)), dtype=counts.dtype)
        corners[:, present] = chosen * counts[present]
        return float(self._scores(table, before + corners).max())


def by_middles(recipe: Recipe) -> Recipe:
    """Return the recipe with thresholds at midpoints."""
    if isinstance(recipe.numeric, Cuts):
        return replace(recipe, numeric=replace(recipe.numeric, placement=Placement.MIDPOINT))
    return recipe


def move_cuts_to_data_values(grown: Grown, recipe: Recipe, engine: OutOfCoreEngine) -> Grown:
    """Move every threshold to the largest number in the data not above it, if the recipe puts thresholds there."""
    cuts = cuts_to_move(grown, recipe)
    if not cuts:
        return grown
    thresholds = engine.largest_values_not_above(cuts)
    threshold_of = {
        (attribute, middle): value
        for attribute, some in cuts.items()
        for middle, value in zip(some, thresholds[attribute], strict=True)
    }
    records = records_of(grown.tree)
    for record in records:
        record.split = _moved(record.split, threshold_of)
    traces = {
        node: tuple(replace(one, split=_moved(one.split, threshold_of)) for one in entries)
        for node, entries in grown.traces.items()
    }
    return Grown(build_tree(grown.tree.schema, records)[0], traces)


def cuts_to_move(grown: Grown, recipe: Recipe) -> dict[int, list[float]]:
    """Return the thresholds of a tree, by attribute, that `move_cuts_to_data_values` moves."""
    if not isinstance(recipe.numeric, Cuts) or recipe.numeric.placement is not Placement.DATA_VALUE:
        return {}
    cuts: dict[int, set[float]] = {}
    traced = [one.split for entries in grown.traces.values() for one in entries]
    for split in (*(record.split for record in records_of(grown.tree)), *traced):
        if split is not None and split.cut is not None and split.cut != KNOWN:
            cuts.setdefault(split.attribute, set()).add(split.cut)
    return {attribute: sorted(some) for attribute, some in cuts.items()}


def _moved(split: Split | None, threshold_of: Mapping[tuple[int, float], float]) -> Split | None:
    if split is None or split.cut is None or (split.attribute, split.cut) not in threshold_of:
        return split
    return replace(split, cut=threshold_of[split.attribute, split.cut])


FINISH_ROWS = 200_000
"""A node with at most this many cases is finished in memory."""

FETCHED_ROWS = 1_000_000
"""Maximum number of cases that are fetched at once."""


Item = TypeVar("Item")


def fetch_batches(items: Iterable[Item], sizes: Iterable[int]) -> Iterator[list[Item]]:
    """Yield items in order, in batches of at most `FETCHED_ROWS` cases, unless one item alone has more.

    Examples
    --------
    >>> list(fetch_batches("abc", [600_000, 400_000, 1]))
    [['a', 'b'], ['c']]
    """
    batch: list[Item] = []
    rows = 0
    for item, size in zip(items, sizes, strict=True):
        if batch and rows + size > FETCHED_ROWS:
            yield batch
            batch, rows = [], 0
        batch.append(item)
        rows += size
    if batch:
        yield batch


@dataclass(frozen=True)
class OpenNode:
    """An open node in a state: its record, its position in the tree, and its summary."""

    record: int
    depth: int
    used: frozenset[int]
    key: int
    span: Span
    summary: Summary


@dataclass(frozen=True)
class GrowthState:
    """The state of growth after a level.

    Parameters
    ----------
    records : list of NodeRecord
        Open nodes are leaves.
    open_nodes : list of OpenNode
    traces : dict
        By record.
    bounds : dict of int to tuple of float
        Bounds of numeric attributes that are counted by intervals.
    """

    records: list[NodeRecord]
    open_nodes: list[OpenNode]
    traces: dict[int, tuple[EvaluatedSplit, ...]]
    bounds: dict[int, tuple[float, ...]]


Checkpoint = Callable[[GrowthState], None]

OnLevel = Callable[[int, int], None]
"""Called before a level is counted, with its depth and the number of its open nodes."""


def grow_out_of_core(
    engine: OutOfCoreEngine,
    recipe: Recipe,
    *,
    finish_rows: int = FINISH_ROWS,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
    state: GrowthState | None = None,
    on_level: OnLevel | None = None,
) -> Grown:
    """Grow a tree out of core; its thresholds are midpoints, which `move_cuts_to_data_values` may move.

    Parameters
    ----------
    engine : OutOfCoreEngine
    recipe : Recipe
    finish_rows : int
        A node with at most this many cases is finished in memory; with 0 the engine counts all nodes.
    progress : callable or None
        Called with the number of finished cases and of all cases.
    checkpoint : callable or None
        Called with the state after each level.
    state : GrowthState or None
        A state to resume from.
    on_level : callable or None
        Called before each level.
    """
    return OutOfCoreGrower(engine, by_middles(recipe), finish_rows, progress, checkpoint, state, on_level).grow()


def trace_out_of_core(engine: OutOfCoreEngine, recipe: Recipe, tree: Tree) -> dict[int, tuple[EvaluatedSplit, ...]]:
    """Trace a tree as `treewright.learners.grower.trace_tree` does, a level in one pass; thresholds are midpoints."""
    return OutOfCoreGrower(engine, by_middles(recipe), 0, None, None, None).trace_nodes(tree, None, TRACE_CELLS, {})


class OutOfCoreGrower(TreeGrower):
    """Grows a tree over an out-of-core engine, and finishes small nodes in memory."""

    def __init__(
        self,
        engine: OutOfCoreEngine,
        recipe: Recipe,
        finish_rows: int,
        progress: Progress | None,
        checkpoint: Checkpoint | None,
        state: GrowthState | None,
        on_level: OnLevel | None = None,
    ) -> None:
        super().__init__(engine, recipe, progress)
        self._on_level = on_level
        self._level_engine = engine
        self._finish_rows = finish_rows
        self._checkpoint = checkpoint
        self._state = state
        self._keeps = self._cells_left > 0
        if finish_rows and self._keeps:
            # Subtrees are grown out of order, so the traces that fit the budget are selected at the end.
            self._cells_left = sys.maxsize

    def _count(self, requests: Sequence[tuple[int, Sequence[int]]]) -> list[list[FrequencyTable]]:
        return self._level_engine.count(requests, self.run_filter())

    def run_filter(self) -> ScoreBoundFilter | None:
        """Return the filter for runs of numbers; None if all numbers have to be counted."""
        draw = self._recipe.draw
        # Bounds are valid for built-in criteria only, and not for random or constrained thresholds.
        exact = self._regression or self._signs or self._recipe.own or (draw is not None and draw.random_cuts)
        return None if exact else ScoreBoundFilter(self._recipe, self._evaluator)

    def _make_intervals(self, root: int) -> None:
        """Discretise numeric attributes unless the engine has the intervals from growing."""
        if not self._level_engine.intervals:
            super()._make_intervals(root)
        self._bounds = {attribute: tuple(bounds) for attribute, bounds in self._level_engine.intervals.items()}

    def grow(self) -> Grown:
        """Grow the tree, from a state if there is one."""
        if self._recipe.stopping.max_leaves is not None:
            self._cells_left = TRACE_CELLS if self._keeps else 0
            return super().grow()
        level = [self.prepared_root()] if self._state is None else self._restored(self._state)
        while level:
            if self._on_level is not None:
                self._on_level(level[0].depth, len(level))
            small, large = self.by_size(level)
            for node, subtree in zip(small, self._finished(small), strict=True):
                self.attach(node, subtree)
            level = self.next_level(large)
            if self._checkpoint is not None and level:
                self._checkpoint(self._state_with(level))
        return self.grown()

    def grown(self) -> Grown:
        """Return the tree, with the traces that fit the budget."""
        if self._finish_rows:
            self._fit_traces()
        return self._built()

    # -- small nodes -------------------------------------------------------------------------------------------------

    def by_size(self, level: Sequence[GrowingNode]) -> tuple[list[GrowingNode], list[GrowingNode]]:
        """Return the nodes that are finished in memory, and the others."""
        small = [self._is_small(node) for node in level]
        return list(compress(level, small)), [node for node, one in zip(level, small, strict=True) if not one]

    def _is_small(self, node: GrowingNode) -> bool:
        [summary] = self._engine.summaries([node.engine_node])
        return 0 < summary.cases <= self._finish_rows and self._stop_before_counting(node, summary) is None

    def _finished(self, nodes: Sequence[GrowingNode]) -> Iterator[_Subtree]:
        """Fetch the cases of small nodes in batches and grow their subtrees."""
        summaries = self._engine.summaries([node.engine_node for node in nodes])
        for batch in fetch_batches(nodes, [summary.cases for summary in summaries]):
            fetched = self._level_engine.fetch([node.engine_node for node in batch])
            for node, cases in zip(batch, fetched, strict=True):
                yield self.subtree(node, cases)

    def subtree(self, node: GrowingNode, cases: Dataset) -> _Subtree:
        """Grow the subtree of a node in memory."""
        context = SubtreeContext(node, self._total_weight, self._n_cases, dict(self._bounds), self._keeps)
        return grow_subtree(cases, self._recipe, context)

    def attach(self, node: GrowingNode, subtree: _Subtree) -> None:
        """Attach a subtree that was grown in memory to its node."""
        offset = len(self._records) - 1  # the subtree's root is the node itself
        [summary] = self._engine.summaries([node.engine_node])
        top, record = subtree.records[0], self._records[node.record]
        record.split, record.stop = top.split, top.stop
        for one in subtree.records:
            one.children = [child + offset for child in one.children]
        record.children = top.children
        self._records += subtree.records[1:]
        for number, entries in subtree.traces.items():
            self._traces[node.record if number == 0 else number + offset] = entries
        self._engine.close(node.engine_node)
        self._cases_done += summary.cases
        if self._progress is not None:
            self._progress(self._cases_done, self._n_cases)

    def _fit_traces(self) -> None:
        """Keep the traces that a grower in memory would have kept: level by level until the budget is spent."""
        kept: dict[int, tuple[EvaluatedSplit, ...]] = {}
        left = TRACE_CELLS if self._keeps else 0
        level = [0]
        while level:
            for record in level:
                entries = self._traces.get(record)
                if entries is None:
                    continue
                cells = sum(one.cells for one in entries)
                if cells > left:
                    left = 0
                else:
                    left -= cells
                    kept[record] = entries
            level = [child for record in level for child in self._records[record].children]
        self._traces = kept

    # -- states ------------------------------------------------------------------------------------------------------

    def _state_with(self, level: Sequence[GrowingNode]) -> GrowthState:
        summaries = self._engine.summaries([node.engine_node for node in level])
        nodes = [
            OpenNode(node.record, node.depth, node.used, node.key, node.span, summary)
            for node, summary in zip(level, summaries, strict=True)
        ]
        return GrowthState(self._records, nodes, self._traces, self._bounds)

    def _restored(self, state: GrowthState) -> list[GrowingNode]:
        """Open the nodes of a state at a new engine."""
        self._records = state.records
        self._traces = dict(state.traces)
        self._total_weight = self._records[0].weight
        self._bounds = dict(state.bounds)
        for attribute, bounds in self._bounds.items():
            self._engine.use_intervals(attribute, bounds)
        self._evaluator = SplitEvaluator(self._recipe, self._engine, self._bounds, self._total_weight)
        if not self._finish_rows and self._keeps:
            self._cells_left = TRACE_CELLS - sum(one.cells for work in self._traces.values() for one in work)
            decided = sum(1 for record in self._records if record.stop is not Stop.OPEN)
            if len(self._traces) < decided and self._overflowed():
                self._cells_left = 0
        summary_of = {node.record: node.summary for node in state.open_nodes}
        engine_node_of: dict[int, int] = {0: self._engine.root()}
        waiting = [0]
        while waiting:
            record = waiting.pop()
            split = self._records[record].split
            if split is None:
                if record not in summary_of:
                    self._engine.close(engine_node_of[record])
                continue
            children = self._records[record].children
            nothing = Summary(0.0, 0, np.zeros(0), pure=True)
            opened = self._level_engine.restore(
                engine_node_of[record], split, [summary_of.get(child, nothing) for child in children]
            )
            engine_node_of.update(zip(children, opened, strict=True))
            waiting += children
        self._cases_done = self._n_cases - sum(node.summary.cases for node in state.open_nodes)
        return [
            GrowingNode(engine_node_of[node.record], node.record, node.depth, node.used, node.key, node.span)
            for node in state.open_nodes
        ]

    def _overflowed(self) -> bool:
        """Return True if traces were dropped: a node that was split always has one."""
        return any(
            record.split is not None and number not in self._traces for number, record in enumerate(self._records)
        )


# -- finishing -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SubtreeContext:
    """The context of a subtree: its node, and statistics of all data."""

    node: GrowingNode
    total_weight: float
    n_cases: int
    bounds: dict[int, tuple[float, ...]]
    keeps_traces: bool


@dataclass(frozen=True)
class _Subtree:
    records: list[NodeRecord]
    traces: dict[int, tuple[EvaluatedSplit, ...]]


def grow_subtree(cases: Dataset, recipe: Recipe, context: SubtreeContext) -> _Subtree:
    """Grow the subtree of a node from its cases, with the same result as growing it with the whole tree."""
    return _SubtreeGrower(*counter_for(cases, recipe, "auto"), context).grow_below()


class _SubtreeGrower(TreeGrower):
    def __init__(self, engine: Engine, recipe: Recipe, context: SubtreeContext) -> None:
        super().__init__(engine, recipe, None)
        self._above = context.node
        self._cells_left = TRACE_CELLS if context.keeps_traces else 0
        self._bounds = context.bounds
        self._total_weight = context.total_weight
        self._n_cases = context.n_cases

    def grow_below(self) -> _Subtree:
        for attribute, bounds in self._bounds.items():
            self._engine.use_intervals(attribute, bounds)
        self._evaluator = SplitEvaluator(self._recipe, self._engine, self._bounds, self._total_weight)
        root = self._engine.root()
        [summary] = self._engine.summaries([root])
        self._records.append(self._record(summary, None))
        level = [replace(self._above, engine_node=root, record=0)]
        while level:
            level = self.next_level(level)
        return _Subtree(self._records, self._traces)


# -- forests ---------------------------------------------------------------------------------------------------------

OnTree = Callable[[int, int], None]
"""Called with the number of finished trees and of all trees."""


def grow_forest_over(
    engine: BaseOutOfCoreEngine,
    recipes: Sequence[Recipe],
    *,
    finish_rows: int = FINISH_ROWS,
    progress: OnTree | None = None,
    on_level: OnLevel | None = None,
) -> list[Tree]:
    """Grow a tree by each recipe, over the bootstrap sample with its number.

    Parameters
    ----------
    engine : BaseOutOfCoreEngine
        Over the bootstrap samples of as many trees as there are recipes.
    recipes : sequence of Recipe
        They differ in their random seeds.
    finish_rows : int
        A node with at most this many cases is finished in memory; with 0 the engine counts all nodes.
    progress : callable or None
        Called with the number of finished trees and of all trees.
    on_level : callable or None
        Called before each level with its depth and the number of open nodes of all trees.
    """
    views = [TreeView(engine, tree) for tree in range(len(recipes))]
    growers = [
        ForestTreeGrower(view, by_middles(recipe), finish_rows) for view, recipe in zip(views, recipes, strict=True)
    ]
    levels = [[grower.prepared_root()] for grower in growers]
    while any(levels):
        if on_level is not None:
            on_level(max(level[0].depth for level in levels if level), sum(map(len, levels)))
        sized = [grower.by_size(level) for grower, level in zip(growers, levels, strict=True)]
        _finish(engine, [(grower, node) for grower, (small, _) in zip(growers, sized, strict=True) for node in small])
        _count_level(engine, growers, [large for _, large in sized])
        levels = [grower.next_level(large) for grower, (_, large) in zip(growers, sized, strict=True)]
        if progress is not None:
            progress(sum(not level for level in levels), len(levels))
    grown = [grower.grown() for grower in growers]
    cuts = [cuts_to_move(one, recipe) for one, recipe in zip(grown, recipes, strict=True)]
    if any(cuts):
        for view, mine, thresholds in zip(views, cuts, engine.largest_in_samples(cuts), strict=True):
            view.thresholds = {one: dict(zip(some, thresholds[one], strict=True)) for one, some in mine.items()}
    return [
        move_cuts_to_data_values(one, recipe, view).tree
        for one, recipe, view in zip(grown, recipes, views, strict=True)
    ]


def _count_level(
    engine: BaseOutOfCoreEngine, growers: Sequence[ForestTreeGrower], levels: Sequence[Sequence[GrowingNode]]
) -> None:
    """Count the tables that all trees need at a level."""
    requests: list[tuple[int, Sequence[int]]] = []
    run_filters: dict[int, ScoreBoundFilter] = {}
    for grower, level in zip(growers, levels, strict=True):
        run_filter = grower.run_filter()
        for node, attributes in grower.wanted(level):
            requests.append((node, attributes))
            if run_filter is not None:
                run_filters[node] = run_filter
    if requests:
        engine.count(requests, ForestRunFilter(run_filters) if run_filters else None)


def _finish(engine: BaseOutOfCoreEngine, nodes: Sequence[tuple[ForestTreeGrower, GrowingNode]]) -> None:
    """Finish small nodes of all trees in memory, in batches of limited size."""
    summaries = engine.summaries([node.engine_node for _, node in nodes])
    for batch in fetch_batches(nodes, [summary.cases for summary in summaries]):
        fetched = engine.fetch([node.engine_node for _, node in batch])
        for (grower, node), cases in zip(batch, fetched, strict=True):
            grower.attach(node, grower.subtree(node, cases))


class ForestRunFilter:
    """Applies the filter of the tree that a node belongs to."""

    def __init__(self, run_filters: Mapping[int, ScoreBoundFilter]) -> None:
        self._run_filters = run_filters
        self.gap = next(iter(run_filters.values())).gap

    def filter_runs(
        self, node: int, attribute: int, table: FrequencyTable
    ) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int64]]:
        """Return which runs have to be counted number by number, and the number of cuts in the others."""
        return self._run_filters[node].filter_runs(node, attribute, table)


class ForestTreeGrower(OutOfCoreGrower):
    """Grows one tree of a forest, a level when it is asked to; it keeps no split traces."""

    def __init__(self, engine: OutOfCoreEngine, recipe: Recipe, finish_rows: int) -> None:
        super().__init__(engine, recipe, finish_rows, None, None, None)
        self._keeps = False
        self._cells_left = 0

    def wanted(self, level: Sequence[GrowingNode]) -> Iterator[tuple[int, list[int]]]:
        """Return the open nodes of a level with the attributes that may be evaluated."""
        for node in level:
            [summary] = self._engine.summaries([node.engine_node])
            if self._stop_before_counting(node, summary) is None:
                sampled, spare = self._sampled_attributes(node)
                yield node.engine_node, [*sampled, *spare]


# -- states ----------------------------------------------------------------------------------------------------------

_STATE_KEY = "growing"


class GrowthFile:
    """Reads and writes the state of one run.

    Parameters
    ----------
    path : path
    recipe : dict
        The plan as plain data; a state of another plan is rejected.
    provenance : dict
        Version, rows and source; a state with others is rejected.
    schema : Schema
        A state with another schema is rejected.
    """

    def __init__(
        self, path: str | os.PathLike[str], recipe: Mapping[str, Any], provenance: Mapping[str, Any], schema: Schema
    ) -> None:
        self._path = Path(path)
        self._recipe = dict(recipe)
        self._provenance = dict(provenance)
        self._schema = schema

    def save(self, state: GrowthState) -> None:
        """Write the state, replacing the previous one."""
        for node in state.open_nodes:
            state.records[node.record].stop = Stop.OPEN
        tree, order = build_tree(self._schema, state.records)
        for node in state.open_nodes:
            state.records[node.record].stop = None
        number = {record: node for node, record in enumerate(order)}
        growing = {
            "open": [_open_to_plain(node, number[node.record]) for node in state.open_nodes],
            "bounds": {str(attribute): list(bounds) for attribute, bounds in state.bounds.items()},
        }
        traces = {number[record]: entries for record, entries in state.traces.items()}
        TreeModel(tree, self._recipe, self._provenance | {_STATE_KEY: growing}, traces).save(self._path)

    def load(self) -> GrowthState | None:
        """Return the stored state, None if there is none."""
        if not self._path.exists():
            return None
        model = load_model(self._path)
        if not isinstance(model, TreeModel) or _STATE_KEY not in model.provenance:
            raise ParameterError(f"{self._path} is not the state of an interrupted run")
        provenance = {key: value for key, value in model.provenance.items() if key != _STATE_KEY}
        same = provenance == self._provenance and dict(model.recipe) == self._recipe and model.schema == self._schema
        if not same:
            raise ParameterError(
                f"{self._path} is the state of another run (the table, columns, options or version differ): "
                "remove it, or name another file"
            )
        records = records_of(model.tree)
        for record in records:
            if record.stop is Stop.OPEN:
                record.stop = None
        growing = model.provenance[_STATE_KEY]
        try:
            nodes = [_open_from_plain(plain, model) for plain in growing["open"]]
            bounds = {int(attribute): tuple(map(float, some)) for attribute, some in growing["bounds"].items()}
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise ModelFormatError(f"{self._path}: the open nodes cannot be understood: {error!r:.100}") from error
        return GrowthState(records, nodes, dict(model.trace), bounds)

    def remove(self) -> None:
        """Remove the file when the tree is complete."""
        self._path.unlink(missing_ok=True)


def _open_to_plain(node: OpenNode, number: int) -> dict[str, Any]:
    return {
        "node": number,
        "depth": node.depth,
        "used": sorted(node.used),
        "key": str(node.key),
        "span": [repr(node.span.low), repr(node.span.high)],
        "cases": node.summary.cases,
        "pure": node.summary.pure,
    }


def _open_from_plain(plain: Mapping[str, Any], model: TreeModel) -> OpenNode:
    number = int(plain["node"])
    tree = model.tree
    weight, cases, pure = float(tree.weight[number]), int(plain["cases"]), bool(plain["pure"])
    if not 0 <= number < tree.n_nodes or cases < 0 or not math.isfinite(weight):
        raise ValueError(f"node {number}")
    if model.schema.task is Task.REGRESSION and tree.sse is not None:
        sse = float(tree.sse[number])
        summary = Summary(weight, cases, np.array([weight, 0.0, sse]), pure, float(tree.outcome[number]), sse)
    else:
        summary = Summary(weight, cases, tree.counts[number], pure)
    low, high = (float(bound) for bound in plain["span"])
    used = frozenset(int(attribute) for attribute in plain["used"])
    return OpenNode(number, int(plain["depth"]), used, int(plain["key"]), Span(low, high), summary)
