"""Growing over an engine whose data stay out of core: few passes, exact cuts, and a file to resume from.

Runs of numbers that cannot hold the best cut, ruled out without looking at a number. Gain, Gini and chi-square are
convex in the class counts of one side. A cut inside a run leaves on its left all that is before the run and some of
each class of the run, so its score is at most the greatest at the corners: all of these classes on the left, none of
the others (Alsabti, Ranka and Singh 1998 bound by estimates; corners are exact). A cheaper bound comes first: n times
an impurity never falls when cases are added, so what is before and what is after the run stay as impure as they are.

Where cuts are put when a tree has been grown outside memory. C4.5 puts a cut at the largest number in all data that is
not above the middle between two neighbours. Which cases go where does not depend on it, so the tree is grown with
middles, and all cuts are placed at the end by one pass.

Grow a tree out of core, over an engine that counts where the data are. The cases of small nodes are fetched, many nodes
in one pass, and their subtrees are grown in memory. The state after each level is the tree so far with its open nodes;
another process can resume from it.

The state of growing as a file: the tree so far is a model file, whose open nodes say what is needed to go on. Nothing
of a state file is believed that a model file would not be believed; one of another table, recipe or version is refused,
not continued.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.counting.engine import DistantEngine, Engine, Summary
from treewright.counting.table import Counts, FrequencyTable
from treewright.data.dataset import Dataset
from treewright.data.schema import Schema, Task
from treewright.errors import ModelFormatError, ParameterError
from treewright.learners.base import Grown, Progress
from treewright.learners.candidates import SplitEvaluator
from treewright.learners.criteria import Criterion, Decrease, criterion_named
from treewright.learners.grower import TRACE_CELLS, _Grower, counting_engine
from treewright.learners.monotonic import Span
from treewright.learners.recipe import Cuts, MissingPolicy, Placement, Recipe
from treewright.learners.select import GrowingNode
from treewright.tree.build import NodeRecord, build_tree, records_of
from treewright.tree.io.model_file import load_model, save_model
from treewright.tree.model import TreeModel
from treewright.tree.split import KNOWN, EvaluatedSplit, Split
from treewright.tree.tree import Stop, Tree

MOST_CORNERS = 12
"""Runs with more classes than this have too many corners."""

MARGIN = 1e-7
"""A bound has to be below the best score by this share of it: ties are decided by rule, not by bounds."""

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


class NumberSieve:
    """Tells which runs have to be looked at, by the rules of one recipe.

    Parameters
    ----------
    recipe : Recipe
        For classes, with cuts that are searched for.
    examiner : SplitEvaluator
        Knows which cuts are admissible.
    """

    def __init__(self, recipe: Recipe, examiner: SplitEvaluator) -> None:
        self._criterion: Criterion = criterion_named(recipe.criterion)
        self._learned = recipe.missing is MissingPolicy.LEARNED
        self._evaluator = examiner
        self.gap = recipe.numeric.gap if isinstance(recipe.numeric, Cuts) else 0.0

    def sift(self, node: int, attribute: int, table: FrequencyTable) -> tuple[Flags, npt.NDArray[np.int64]]:
        """Return which runs have to be counted number by number, and the cuts inside the others."""
        first, last = table.first, table.last
        inside = table.inside if table.inside is not None else np.zeros(len(first), dtype=np.int64)
        several = first < last
        left: Counts = np.cumsum(table.counts, axis=0)
        cases = np.cumsum(table.cases)
        before, cases_before = left - table.counts, cases - table.cases
        after_fits = self._evaluator.sides_fit(table, left, cases)
        apart = np.append(first[1:] - last[:-1] > self.gap * (1 + 1e-6), False)
        borders = np.flatnonzero(apart & after_fits)
        if len(borders) == 0:
            return several, inside
        best = float(self._scores(table, left[borders]).max())
        settled = after_fits & self._evaluator.sides_fit(table, before, cases_before)
        bounds = self._bounds(table, before, best, np.flatnonzero(several & settled))
        ruled_out = settled & (bounds < best - MARGIN * abs(best))
        return several & ~ruled_out, inside

    def _extras(self, table: FrequencyTable) -> list[Counts]:
        """Return what may be on the left beside known cases: nothing, and all cases without a value."""
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
        """Return a bound for each of some runs, infinite for all others."""
        bounds = np.full(len(before), np.inf)
        if isinstance(self._criterion, Decrease) and len(runs):
            bounds[runs] = self._sieved(table, before[runs], table.counts[runs])
            runs = runs[bounds[runs] >= best - MARGIN * abs(best)]
        for run in runs.tolist():
            present = np.flatnonzero(table.counts[run])
            if len(present) <= MOST_CORNERS:
                bounds[run] = self._at_corners(table, before[run], table.counts[run], present)
        return bounds

    def _sieved(self, table: FrequencyTable, before: Counts, counts: Counts) -> Floats:
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
    """Return a recipe that puts cuts in the middle between two neighbours."""
    if isinstance(recipe.numeric, Cuts):
        return replace(recipe, numeric=replace(recipe.numeric, placement=Placement.MIDPOINT))
    return recipe


def place_cuts(grown: Grown, recipe: Recipe, engine: DistantEngine) -> Grown:
    """Move every cut to the largest number in the data that is not above it, if the recipe wants cuts there."""
    asked = cuts_to_place(grown, recipe)
    if not asked:
        return grown
    answers = engine.largest_values_not_above(asked)
    placed = {
        (attribute, middle): value
        for attribute, some in asked.items()
        for middle, value in zip(some, answers[attribute], strict=True)
    }
    records = records_of(grown.tree)
    for record in records:
        record.split = _placed(record.split, placed)
    working = {
        node: tuple(replace(one, split=_placed(one.split, placed)) for one in entries)
        for node, entries in grown.working.items()
    }
    return Grown(build_tree(grown.tree.schema, records)[0], working)


def cuts_to_place(grown: Grown, recipe: Recipe) -> dict[int, list[float]]:
    """Return the cuts of a tree, by attribute, that `place_cuts` moves."""
    if not isinstance(recipe.numeric, Cuts) or recipe.numeric.placement is not Placement.DATA_VALUE:
        return {}
    cuts: dict[int, set[float]] = {}
    examined = [one.split for entries in grown.working.values() for one in entries]
    for split in (*(record.split for record in records_of(grown.tree)), *examined):
        if split is not None and split.cut is not None and split.cut != KNOWN:
            cuts.setdefault(split.attribute, set()).add(split.cut)
    return {attribute: sorted(some) for attribute, some in cuts.items()}


def _placed(split: Split | None, placed: Mapping[tuple[int, float], float]) -> Split | None:
    if split is None or split.cut is None or (split.attribute, split.cut) not in placed:
        return split
    return replace(split, cut=placed[split.attribute, split.cut])


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
    """Grow a tree where the data are; its cuts are middles until `place_cuts` has moved them.

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
    """Examine a tree as `treewright.learners.grower.trace_tree` does, a level in one pass; cuts are middles."""
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


_KEY = "growing"


class GrowthFile:
    """Keeps the state of one run.

    Parameters
    ----------
    path : path
    recipe : dict
        The plan in plain data; a state of another one is refused.
    provenance : dict
        Version, rows and source, likewise.
    schema : Schema
        Likewise.
    """

    def __init__(
        self, path: str | os.PathLike[str], recipe: Mapping[str, Any], provenance: Mapping[str, Any], schema: Schema
    ) -> None:
        self._path = Path(path)
        self._recipe = dict(recipe)
        self._provenance = dict(provenance)
        self._schema = schema

    def save(self, state: GrowthState) -> None:
        """Write the state in place of the former one."""
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
        working = {number[record]: entries for record, entries in state.working.items()}
        save_model(TreeModel(tree, self._recipe, self._provenance | {_KEY: growing}, working), self._path)

    def load(self) -> GrowthState | None:
        """Return the state that is there, None if there is none."""
        if not self._path.exists():
            return None
        model = load_model(self._path)
        if not isinstance(model, TreeModel) or _KEY not in model.provenance:
            raise ParameterError(f"{self._path} is a file of its own, not the state of learning that was broken off")
        told = {key: value for key, value in model.provenance.items() if key != _KEY}
        same = told == self._provenance and dict(model.recipe) == self._recipe and model.schema == self._schema
        if not same:
            raise ParameterError(
                f"{self._path} is the state of another run (other table, columns, options or version): "
                "remove it, or name another file"
            )
        records = records_of(model.tree)
        for record in records:
            if record.stop is Stop.OPEN:
                record.stop = None
        growing = model.provenance[_KEY]
        try:
            nodes = [_open_from_plain(plain, model) for plain in growing["open"]]
            bounds = {int(attribute): tuple(map(float, some)) for attribute, some in growing["bounds"].items()}
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise ModelFormatError(f"{self._path}: the open nodes cannot be understood: {error!r:.100}") from error
        return GrowthState(records, nodes, dict(model.trace), bounds)

    def remove(self) -> None:
        """Remove the file: the tree is complete."""
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
