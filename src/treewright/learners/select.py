"""Selecting the split of a node: the choice among attributes, and the decision to stop.

`choose` selects one attribute among the candidates of a node. `Choice.HIGHEST` takes the best score. C4.5's rule
(`Choice.RATIO`) first requires a gain of at least the average, then takes the best ratio of gain to split information.
Nominal attributes of high cardinality are excluded from the average but may win.

`Decider` decides at open nodes: a split with its trace, or a reason to stop. The engine counts the tables of the
attributes of a node, the evaluator finds the best split of each attribute, and the rule chooses. Traces are kept within
a budget of table cells.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from treewright.counting.engine import Engine, Summary
from treewright.counting.table import FrequencyTable
from treewright.data.schema import Schema, Task
from treewright.learners.candidates import SHORT, SplitCandidate, SplitEvaluator
from treewright.learners.criteria import chi_square, first_of_ties
from treewright.learners.monotonic import UNBOUNDED, Span
from treewright.learners.recipe import Choice, NominalTest, Recipe
from treewright.learners.sampling import root_key, shuffled
from treewright.tree.split import EvaluatedSplit, SplitStatus
from treewright.tree.tree import Stop

EPSILON = 1e-3
"""C4.5's tolerance in comparisons of gains."""

HIGH_CARDINALITY_SHARE = 0.3
"""A nominal attribute has high cardinality if its number of categories is at least this share of the cases."""


@dataclass(frozen=True)
class Chosen:
    """The candidates with their final statuses, and the index of the winner (None if no split is admissible)."""

    candidates: tuple[SplitCandidate, ...]
    winner: int | None
    average_gain: float | None = None

    @property
    def best(self) -> SplitCandidate | None:
        """The winning candidate."""
        return None if self.winner is None else self.candidates[self.winner]


def choose(
    rule: Choice,
    candidates: Sequence[SplitCandidate],
    schema: Schema,
    n_cases: int,
    *,
    include_high_cardinality: bool = False,
) -> Chosen:
    """Apply a rule of choice; with `include_high_cardinality` all attributes enter the average of gains."""
    if rule is Choice.HIGHEST:
        return _highest(candidates)
    return _c45(rule, candidates, schema, 0 if include_high_cardinality else n_cases)


def _highest(candidates: Sequence[SplitCandidate]) -> Chosen:
    scores = np.array([c.score if c.status is SplitStatus.CONSIDERED else -np.inf for c in candidates])
    return _with_winner(list(candidates), scores, None)


def _c45(rule: Choice, candidates: Sequence[SplitCandidate], schema: Schema, n_cases: int) -> Chosen:
    average = average_gain(candidates, schema, n_cases)
    rated: list[SplitCandidate] = []
    scores = []
    for candidate in candidates:
        status, score = _score_by_rule(rule, candidate, average)
        rated.append(replace(candidate, status=status))
        scores.append(score)
    return _with_winner(rated, np.array(scores), average if rule is Choice.RATIO else None)


def _score_by_rule(rule: Choice, candidate: SplitCandidate, average: float) -> tuple[SplitStatus, float]:
    if candidate.status is not SplitStatus.CONSIDERED or candidate.score <= -EPSILON:
        return candidate.status, -np.inf
    if rule is Choice.GAIN:
        if candidate.split_info <= 0:
            return SplitStatus.NO_SPLIT_INFORMATION, -np.inf
        return SplitStatus.CONSIDERED, candidate.score
    if candidate.score < average - EPSILON:
        return SplitStatus.BELOW_AVERAGE, -np.inf
    if candidate.split_info <= EPSILON:
        return SplitStatus.NO_SPLIT_INFORMATION, -np.inf
    return SplitStatus.CONSIDERED, candidate.score / candidate.split_info


def average_gain(candidates: Sequence[SplitCandidate], schema: Schema, n_cases: int) -> float:
    """Return C4.5's average gain over the admissible splits, excluding attributes of high cardinality.

    Without such a split the average is infinite, so that the ratio chooses none.
    """
    high_cardinality = [0 < HIGH_CARDINALITY_SHARE * n_cases <= len(column.values) for column in schema.attributes]
    if all(high_cardinality):
        high_cardinality = [False] * len(high_cardinality)
    gains = [
        candidate.score
        for candidate in candidates
        if candidate.status is SplitStatus.CONSIDERED
        and candidate.score > -EPSILON
        and not high_cardinality[candidate.attribute]
    ]
    return sum(gains) / len(gains) if gains else np.inf


def _with_winner(
    candidates: list[SplitCandidate], scores: np.ndarray[tuple[int], np.dtype[np.float64]], average: float | None
) -> Chosen:
    if len(scores) == 0 or not np.isfinite(scores.max()):
        return Chosen(tuple(candidates), None, average)
    winner = first_of_ties(scores)
    candidates[winner] = replace(candidates[winner], status=SplitStatus.CHOSEN)
    return Chosen(tuple(candidates), winner, average)


@dataclass(frozen=True)
class GrowingNode:
    """An open node: its number at the engine, its record, and what follows from its path."""

    engine_node: int
    record: int
    depth: int
    used: frozenset[int]
    key: int
    span: Span = UNBOUNDED


@dataclass(frozen=True)
class Decision:
    """The decision at an open node: a split or a reason to stop."""

    node: GrowingNode
    summary: Summary
    chosen: Chosen | None
    stop: Stop | None


class Decider(abc.ABC):
    """Decides at the open nodes of an engine by a recipe, and keeps split traces of at most `cells` table cells."""

    def __init__(self, engine: Engine, recipe: Recipe, cells: int) -> None:
        self._engine = engine
        self._recipe = recipe
        self._schema = engine.schema
        self._regression = self._schema.task is Task.REGRESSION
        self._traces: dict[int, tuple[EvaluatedSplit, ...]] = {}
        self._cells_left = cells
        self._evaluator: SplitEvaluator

    @property
    @abc.abstractmethod
    def _total_weight(self) -> float:
        """The weight of all cases."""

    def _decide(self, nodes: Sequence[GrowingNode]) -> list[Decision]:
        summaries = self._engine.summaries([node.engine_node for node in nodes])
        stops = [self._stop_before_counting(node, summary) for node, summary in zip(nodes, summaries, strict=True)]
        open_nodes = [
            (node, summary) for node, summary, stop in zip(nodes, summaries, stops, strict=True) if stop is None
        ]
        sampled = [self._sampled_attributes(node) for node, _ in open_nodes]
        counted = self._count(open_nodes, [attributes for attributes, _ in sampled])
        decided = iter(
            self._decision(node, summary, attributes, tables, spare)
            for (node, summary), (attributes, spare), tables in zip(open_nodes, sampled, counted, strict=True)
        )
        return [
            next(decided) if stop is None else Decision(node, summary, None, stop)
            for node, summary, stop in zip(nodes, summaries, stops, strict=True)
        ]

    def _count(
        self, open_nodes: Sequence[tuple[GrowingNode, Summary]], attributes: Sequence[Sequence[int]]
    ) -> list[list[FrequencyTable]]:
        return self._engine.count(
            [(node.engine_node, free) for (node, _), free in zip(open_nodes, attributes, strict=True)]
        )

    def _stop_before_counting(self, node: GrowingNode, summary: Summary) -> Stop | None:
        stopping = self._recipe.stopping
        if summary.cases == 0:
            return Stop.EMPTY
        if summary.pure:
            return Stop.PURE
        least_weight = max(stopping.min_weight, 2 * stopping.min_share * self._total_weight) * SHORT
        limit = stopping.limit_at(node.depth, summary.cases, summary.weight, least_weight)
        if limit is None and len(node.used) == len(self._schema.attributes):
            return Stop.NO_ATTRIBUTES
        return limit

    def _attributes_for(self, node: GrowingNode) -> list[int]:
        return [index for index in range(len(self._schema.attributes)) if index not in node.used]

    def _decision(
        self,
        node: GrowingNode,
        summary: Summary,
        attributes: Sequence[int],
        tables: Sequence[FrequencyTable],
        spare: Sequence[int],
    ) -> Decision:
        """Decide by the tables of the sampled attributes; evaluate spare ones only while no split is admissible."""
        span = node.span.shifted(-summary.mean)
        found = {
            attribute: self._evaluator.evaluate(attribute, table, span, node.key)
            for attribute, table in zip(attributes, tables, strict=True)
        }
        for attribute in spare:
            if any(candidate.status is SplitStatus.CONSIDERED for candidate in found.values()):
                break
            [[table]] = self._count([(node, summary)], [[attribute]])
            found[attribute] = self._evaluator.evaluate(attribute, table, span, node.key)
        candidates = [found.get(one) or _not_sampled(one, self._width) for one in self._attributes_for(node)]
        include_high_cardinality = self._recipe.nominal is NominalTest.GROUPS
        chosen = choose(
            self._recipe.choice,
            candidates,
            self._schema,
            self._n_cases,
            include_high_cardinality=include_high_cardinality,
        )
        best = chosen.best
        stop = None
        if best is None:
            stop = Stop.NO_GAIN
        elif best.score * summary.weight / self._total_weight < self._recipe.stopping.min_decrease * (1 - 1e-12):
            stop = Stop.SMALL_GAIN
        elif not self._significant(best):
            stop = Stop.NOT_SIGNIFICANT
        self._keep_trace(node, chosen, stop)
        return Decision(node, summary, chosen, stop)

    @property
    def _n_cases(self) -> int:
        return self._engine.n_cases

    def _significant(self, best: SplitCandidate) -> bool:
        level = self._recipe.stopping.significance
        return level is None or self._regression or chi_square(best.counts).p <= level

    def _sampled_attributes(self, node: GrowingNode) -> tuple[list[int], list[int]]:
        """Return the sampled attributes, and the others in the order in which they replace them."""
        free, draw = self._attributes_for(node), self._recipe.draw
        if draw is not None and draw.per_tree:
            fixed = set(shuffled(root_key(draw.seed), len(self._schema.attributes))[: draw.attributes])
            return [attribute for attribute in free if attribute in fixed], []
        if draw is None or draw.attributes >= len(free):
            return free, []
        order = [free[index] for index in shuffled(node.key, len(free))]
        return sorted(order[: draw.attributes]), order[draw.attributes :]

    def _keep_trace(self, node: GrowingNode, chosen: Chosen, stop: Stop | None) -> None:
        self._keep(node.record, split_trace(chosen, stop, sorted(node.used), self._width))

    def _keep(self, record: int, entries: tuple[EvaluatedSplit, ...]) -> None:
        """Keep the trace of a node if the budget allows it."""
        cells = sum(one.cells for one in entries)
        if cells > self._cells_left:
            self._cells_left = 0
            return
        self._cells_left -= cells
        self._traces[record] = entries

    @property
    def _width(self) -> int:
        return 3 if self._regression else len(self._schema.classes)


def _not_sampled(attribute: int, width: int) -> SplitCandidate:
    nothing = np.zeros((0, width), dtype=np.int64)
    return SplitCandidate(attribute, SplitStatus.NOT_DRAWN, nothing, nothing.sum(axis=0))


def split_trace(chosen: Chosen, stop: Stop | None, used: Sequence[int], width: int) -> tuple[EvaluatedSplit, ...]:
    """Return the split trace of a node, attribute by attribute; `used` are the attributes excluded by splits above."""
    used_above = [_unused(attribute, width) for attribute in used]
    evaluated = [_evaluated(candidate, stop) for candidate in chosen.candidates]
    return tuple(sorted((*evaluated, *used_above), key=lambda one: one.attribute))


def _unused(attribute: int, width: int) -> EvaluatedSplit:
    nothing = np.zeros((0, width), dtype=np.int64)
    return EvaluatedSplit(attribute, SplitStatus.USED_ABOVE, None, nothing, nothing.sum(axis=0))


def _evaluated(candidate: SplitCandidate, stop: Stop | None) -> EvaluatedSplit:
    status = candidate.status
    if status is SplitStatus.CHOSEN and stop is not None:
        status = SplitStatus.NOT_SIGNIFICANT if stop is Stop.NOT_SIGNIFICANT else SplitStatus.SMALL_GAIN
    counts, unknown = candidate.counts, candidate.unknown
    if candidate.split is None:
        counts = counts[:0]
    own_score = candidate.own_score
    return EvaluatedSplit(
        candidate.attribute, status, candidate.split, counts, unknown, candidate.tries, own_score=own_score
    )
