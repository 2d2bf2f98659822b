"""Grow a tree out of core, over an engine that counts where the data are.

The cases of small nodes are fetched, many nodes in one pass, and their subtrees are grown in memory. The state after
each level is the tree so far with its open nodes; another process can resume from it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np

from treewright.counts.engine import DistantEngine, Engine, Summary
from treewright.counts.table import FrequencyTable
from treewright.data.dataset import Dataset
from treewright.grow.candidates import SplitEvaluator
from treewright.grow.deciding import GrowingNode
from treewright.grow.engines import counting_engine
from treewright.grow.grower import TRACE_CELLS, _Grower
from treewright.grow.learner import Grown, Progress
from treewright.grow.monotonic import Span
from treewright.grow.placing import by_middles
from treewright.grow.recipe import MissingPolicy, Recipe
from treewright.grow.sieve import NumberSieve
from treewright.model.build import NodeRecord, build_tree
from treewright.model.tree import Stop, Tree
from treewright.model.working import EvaluatedSplit

FINISH_ROWS = 200_000
"""A node with at most so many cases is finished in memory."""

FETCHED_ROWS = 1_000_000
"""Cases that are fetched at once."""


@dataclass(frozen=True)
class OpenNode:
    """An open node as a state keeps it: its record, its place, and its summary."""

    record: int
    depth: int
    used: frozenset[int]
    key: int
    span: Span
    summary: Summary


@dataclass(frozen=True)
class GrowthState:
    """What is known after some levels.

    Parameters
    ----------
    records : list of NodeRecord
        Open nodes are leaves that say so.
    open_nodes : list of OpenNode
    working : dict
        By record.
    bounds : dict of int to tuple of float
        Of numeric attributes that are counted by intervals.
    """

    records: list[NodeRecord]
    open_nodes: list[OpenNode]
    working: dict[int, tuple[EvaluatedSplit, ...]]
    bounds: dict[int, tuple[float, ...]]


Checkpoint = Callable[[GrowthState], None]

OnLevel = Callable[[int, int], None]
"""Called before a level is counted, with its depth and the number of its open nodes."""


def grow_in_place(
    engine: DistantEngine,
    recipe: Recipe,
    *,
    finish_rows: int = FINISH_ROWS,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
    state: GrowthState | None = None,
    on_level: OnLevel | None = None,
) -> Grown:
    """Grow a tree where the data are; its cuts are middles until `treewright.grow.placing.place_cuts` has moved them.

    Parameters
    ----------
    engine : DistantEngine
    recipe : Recipe
    finish_rows : int
        A node with at most so many cases is finished in memory; 0 leaves all counting to the engine.
    progress : callable or None
        Called with cases done and cases in all.
    checkpoint : callable or None
        Called with the state after each level.
    state : GrowthState or None
        Where to go on.
    on_level : callable or None
        Called before each level.
    """
    return _InPlaceGrower(engine, by_middles(recipe), finish_rows, progress, checkpoint, state, on_level).grow()


def examine_in_place(engine: DistantEngine, recipe: Recipe, tree: Tree) -> dict[int, tuple[EvaluatedSplit, ...]]:
    """Examine a tree as `treewright.grow.grower.trace_tree` does, a level in one pass; cuts are middles."""
    return _InPlaceGrower(engine, by_middles(recipe), 0, None, None, None).examine(tree, None, TRACE_CELLS)


class _InPlaceGrower(_Grower):
    def __init__(
        self,
        engine: DistantEngine,
        recipe: Recipe,
        finish_rows: int,
        progress: Progress | None,
        checkpoint: Checkpoint | None,
        state: GrowthState | None,
        on_level: OnLevel | None = None,
    ) -> None:
        super().__init__(engine, recipe, progress)
        self._on_level = on_level
        self._distant = engine
        self._finish_rows = finish_rows
        self._checkpoint = checkpoint
        self._state = state
        self._keeps = self._cells_left > 0
        if finish_rows and self._keeps:
            # Subtrees come out of order, so what fits into the model is decided at the end.
            self._cells_left = sys.maxsize

    def _count(
        self, open_nodes: Sequence[tuple[GrowingNode, Summary]], asked: Sequence[Sequence[int]]
    ) -> list[list[FrequencyTable]]:
        return self._distant.count(
            [(node.engine_node, free) for (node, _), free in zip(open_nodes, asked, strict=True)], self._sieve()
        )

    def _sieve(self) -> NumberSieve | None:
        """Return what rules runs of numbers out, None where every number has to be looked at."""
        draw = self._recipe.draw
        # Bounds hold for the named criteria only, and not where cuts are drawn or constrained.
        exact = self._regression or self._signs or self._recipe.own or (draw is not None and draw.random_cuts)
        return None if exact else NumberSieve(self._recipe, self._evaluator)

    def _make_intervals(self, root: int) -> None:
        """Make intervals unless the engine has them from growing."""
        if not self._distant.intervals:
            super()._make_intervals(root)
        self._bounds = {attribute: tuple(bounds) for attribute, bounds in self._distant.intervals.items()}

    def grow(self) -> Grown:
        if self._recipe.stopping.max_leaves is not None:
            self._cells_left = TRACE_CELLS if self._keeps else 0
            return super().grow()
        level = [self._prepared_root()] if self._state is None else self._restored(self._state)
        while level:
            if self._on_level is not None:
                self._on_level(level[0].depth, len(level))
            small, large = self._by_size(level)
            for node, subtree in zip(small, self._finished(small), strict=True):
                self._graft(node, subtree)
            level = self._advanced(large)
            if self._checkpoint is not None and level:
                self._checkpoint(self._state_with(level))
        return self._grown()

    def _advanced(self, level: Sequence[GrowingNode]) -> list[GrowingNode]:
        """Decide at the nodes of a level, and return those below."""
        return [child for decision in self._decide(level) for child in self._carry_out(decision)]

    def _grown(self) -> Grown:
        tree, order = build_tree(self._schema, self._records)
        number = {record: node for node, record in enumerate(order)}
        if self._finish_rows:
            self._fit_working()
        return Grown(tree, {number[record]: work for record, work in self._working.items()})

    # -- small nodes -------------------------------------------------------------------------------------------------

    def _by_size(self, level: Sequence[GrowingNode]) -> tuple[list[GrowingNode], list[GrowingNode]]:
        """Return the nodes that are finished in memory, and all others."""
        small = [self._is_small(node) for node in level]
        return list(compress(level, small)), [node for node, one in zip(level, small, strict=True) if not one]

    def _is_small(self, node: GrowingNode) -> bool:
        [summary] = self._engine.summaries([node.engine_node])
        return 0 < summary.cases <= self._finish_rows and self._stop_before_counting(node, summary) is None

    def _finished(self, nodes: Sequence[GrowingNode]) -> Iterator[_Subtree]:
        """Fetch the cases of small nodes, some at a time, and grow what is below them."""
        waiting: list[GrowingNode] = []
        rows = 0
        for node in nodes:
            [summary] = self._engine.summaries([node.engine_node])
            if waiting and rows + summary.cases > FETCHED_ROWS:
                yield from self._grown_below(waiting)
                waiting, rows = [], 0
            waiting.append(node)
            rows += summary.cases
        if waiting:
            yield from self._grown_below(waiting)

    def _grown_below(self, nodes: Sequence[GrowingNode]) -> Iterator[_Subtree]:
        fetched = self._distant.fetch([node.engine_node for node in nodes])
        for node, cases in zip(nodes, fetched, strict=True):
            yield self._subtree(node, cases)

    def _subtree(self, node: GrowingNode, cases: Dataset) -> _Subtree:
        place = _Place(node, self._total_weight, self._n_cases, dict(self._bounds), self._keeps)
        return grow_subtree(cases, self._recipe, place)

    def _graft(self, node: GrowingNode, subtree: _Subtree) -> None:
        """Put what was grown in memory below a node."""
        offset = len(self._records) - 1  # the subtree's root is the node itself
        [summary] = self._engine.summaries([node.engine_node])
        top, record = subtree.records[0], self._records[node.record]
        record.split, record.stop = top.split, top.stop
        for one in subtree.records:
            one.children = [child + offset for child in one.children]
        record.children = top.children
        self._records += subtree.records[1:]
        for number, entries in subtree.working.items():
            self._working[node.record if number == 0 else number + offset] = entries
        self._engine.close(node.engine_node)
        self._cases_done += summary.cases
        if self._progress is not None:
            self._progress(self._cases_done, self._n_cases)

    def _fit_working(self) -> None:
        """Keep the working that a grower in memory would have kept: level by level until the cells are used up."""
        kept: dict[int, tuple[EvaluatedSplit, ...]] = {}
        left = TRACE_CELLS if self._keeps else 0
        level = [0]
        while level:
            for record in level:
                entries = self._working.get(record)
                if entries is None:
                    continue
                cells = sum(one.cells for one in entries)
                if cells > left:
                    left = 0
                else:
                    left -= cells
                    kept[record] = entries
            level = [child for record in level for child in self._records[record].children]
        self._working = kept

    # -- states ------------------------------------------------------------------------------------------------------

    def _state_with(self, level: Sequence[GrowingNode]) -> GrowthState:
        summaries = self._engine.summaries([node.engine_node for node in level])
        nodes = [
            OpenNode(node.record, node.depth, node.used, node.key, node.span, summary)
            for node, summary in zip(level, summaries, strict=True)
        ]
        return GrowthState(self._records, nodes, self._working, self._bounds)

    def _restored(self, state: GrowthState) -> list[GrowingNode]:
        """Open the nodes of a state at the engine, which has counted nothing yet."""
        self._records = state.records
        self._working = dict(state.working)
        self._bounds = dict(state.bounds)
        for attribute, bounds in self._bounds.items():
            self._engine.use_intervals(attribute, bounds)
        self._evaluator = SplitEvaluator(self._recipe, self._engine, self._bounds, self._total_weight)
        if not self._finish_rows and self._keeps:
            self._cells_left = TRACE_CELLS - sum(one.cells for work in self._working.values() for one in work)
            decided = sum(1 for record in self._records if record.stop is not Stop.OPEN)
            if len(self._working) < decided and self._overflowed():
                self._cells_left = 0
        summary_of = {node.record: node.summary for node in state.open_nodes}
        place: dict[int, int] = {0: self._engine.root()}
        waiting = [0]
        while waiting:
            record = waiting.pop()
            split = self._records[record].split
            if split is None:
                if record not in summary_of:
                    self._engine.close(place[record])
                continue
            children = self._records[record].children
            nothing = Summary(0.0, 0, np.zeros(0), pure=True)
            opened = self._distant.restore(place[record], split, [summary_of.get(child, nothing) for child in children])
            place.update(zip(children, opened, strict=True))
            waiting += children
        self._cases_done = self._n_cases - sum(node.summary.cases for node in state.open_nodes)
        return [
            GrowingNode(place[node.record], node.record, node.depth, node.used, node.key, node.span)
            for node in state.open_nodes
        ]

    def _overflowed(self) -> bool:
        """Tell whether working was dropped: a node that was divided always has some."""
        return any(
            record.split is not None and number not in self._working for number, record in enumerate(self._records)
        )


# -- finishing -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Place:
    """Where a subtree stands: its node, and what is known of all data."""

    node: GrowingNode
    total_weight: float
    n_cases: int
    bounds: dict[int, tuple[float, ...]]
    keeps_traces: bool


@dataclass(frozen=True)
class _Subtree:
    records: list[NodeRecord]
    working: dict[int, tuple[EvaluatedSplit, ...]]


def grow_subtree(cases: Dataset, recipe: Recipe, place: _Place) -> _Subtree:
    """Grow what is below a node from its cases, as if it were grown with all others."""
    engine = counting_engine(cases, "auto", fractional=recipe.missing is MissingPolicy.FRACTIONAL)
    return _SubtreeGrower(engine, recipe, place).grow_below()


class _SubtreeGrower(_Grower):
    def __init__(self, engine: Engine, recipe: Recipe, place: _Place) -> None:
        super().__init__(engine, recipe, None)
        self._place = place
        self._cells_left = TRACE_CELLS if place.keeps_traces else 0
        self._bounds = place.bounds

    @property
    def _total_weight(self) -> float:
        return self._place.total_weight

    @property
    def _n_cases(self) -> int:
        return self._place.n_cases

    def grow_below(self) -> _Subtree:
        for attribute, bounds in self._bounds.items():
            self._engine.use_intervals(attribute, bounds)
        self._evaluator = SplitEvaluator(self._recipe, self._engine, self._bounds, self._total_weight)
        root = self._opened_root()
        above = self._place.node
        self._grow_by_levels(replace(above, engine_node=root.engine_node, record=0))
        return _Subtree(self._records, self._working)
