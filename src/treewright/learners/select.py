"""Selecting the split of a node: the choice among attributes, and the decision to stop.

`choose` selects one attribute among the candidates of a node. `Choice.HIGHEST` takes the best score. C4.5's rule
(`Choice.RATIO`) first requires a gain of at least the average, then takes the best ratio of gain to split information.
Nominal attributes of high cardinality are excluded from the average but may win.

`Decider` decides at open nodes: a split with its trace, or a reason to stop. The engine counts the tables of the
attributes of a node, the evaluator finds the best split of each attribute, and the rule chooses. Traces are kept within
a budget of table cells.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from treewright.counting.engine import Engine, Summary
from treewright.counting.table import Counts, FrequencyTable
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
    """The candidates with their final statuses, and the best of them (None if no split is admissible)."""

    candidates: tuple[SplitCandidate, ...]
    best: SplitCandidate | None
    average_gain: float | None = None


def choose(
    rule: Choice,
    candidates: Sequence[SplitCandidate],
    schema: Schema,
    n_cases: int,
    *,
    include_high_cardinality: bool = False,
) -> Chosen:
    """Apply a rule of choice; with `include_high_cardinality` all attributes enter the average of gains."""
    average = 0.0
    if rule is not Choice.HIGHEST:
        average = average_gain(candidates, schema, 0 if include_high_cardinality else n_cases)
    rated = [_score_by_rule(rule, candidate, average) for candidate in candidates]
    scores = np.array([score for _, score in rated])
    winner = first_of_ties(scores) if len(scores) and np.isfinite(scores.max()) else None
    final = tuple(
        replace(candidate, status=SplitStatus.CHOSEN if index == winner else status)
        for index, (candidate, (status, _)) in enumerate(zip(candidates, rated, strict=True))
    )
    return Chosen(final, None if winner is None else final[winner], average if rule is Choice.RATIO else None)


def _score_by_rule(rule: Choice, candidate: SplitCandidate, average: float) -> tuple[SplitStatus, float]:
    """Return the status of a candidate and the score by which it competes, minus infinity if it does not."""
    if candidate.status is not SplitStatus.CONSIDERED:
        return candidate.status, -np.inf
    if rule is Choice.HIGHEST:
        return SplitStatus.CONSIDERED, candidate.score
    if candidate.score <= -EPSILON:
        return SplitStatus.CONSIDERED, -np.inf
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


@dataclass(frozen=True)
class GrowingNode:
    """An open node: its number at the engine, its record, and what follows from its path.

    `used` are the attributes that splits above exclude; `key` is a hash of the path for what is sampled, 0 where
    nothing is.
    """

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


class Decider:
    """Decides at the open nodes of an engine by a recipe, and keeps split traces of at most `cells` table cells."""

    def __init__(self, engine: Engine, recipe: Recipe, cells: int) -> None:
        self._engine = engine
        self._recipe = recipe
        self._schema = engine.schema
        self._regression = self._schema.task is Task.REGRESSION
        self._no_counts = np.zeros((0, 3 if self._regression else len(self._schema.classes)), dtype=np.int64)
        self._traces: dict[int, tuple[EvaluatedSplit, ...]] = {}
        self._cells_left = cells
        self._n_cases = engine.n_cases
        self._total_weight: float  # of all cases; with the evaluator, known when the root is open
        self._evaluator: SplitEvaluator

    def _decide(self, nodes: Sequence[GrowingNode]) -> list[Decision]:
        summaries = self._engine.summaries([node.engine_node for node in nodes])
        stops = [self._stop_before_counting(node, summary) for node, summary in zip(nodes, summaries, strict=True)]
        open_nodes = [
            (node, summary) for node, summary, stop in zip(nodes, summaries, stops, strict=True) if stop is None
        ]
        sampled = [self._sampled_attributes(node) for node, _ in open_nodes]
        counted = self._count(
            [(node.engine_node, attributes) for (node, _), (attributes, _) in zip(open_nodes, sampled, strict=True)]
        )
        decided = iter(
            self._decision(node, summary, attributes, tables, spare)
            for (node, summary), (attributes, spare), tables in zip(open_nodes, sampled, counted, strict=True)
        )
        return [
            next(decided) if stop is None else Decision(node, summary, None, stop)
            for node, summary, stop in zip(nodes, summaries, stops, strict=True)
        ]

    def _count(self, requests: Sequence[tuple[int, Sequence[int]]]) -> list[list[FrequencyTable]]:
        return self._engine.count(requests)

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

    def _decision(
        self,
        node: GrowingNode,
        summary: Summary,
        attributes: Sequence[int],
        tables: Sequence[FrequencyTable],
        spare: Sequence[int],
    ) -> Decision:
        """Decide by the tables of the sampled attributes; evaluate spare ones only while no split is admissible."""
        span = Span(node.span.low - summary.mean, node.span.high - summary.mean)
        found = {
            attribute: self._evaluator.evaluate(attribute, table, span, node.key)
            for attribute, table in zip(attributes, tables, strict=True)
        }
        for attribute in spare:
            if any(candidate.status is SplitStatus.CONSIDERED for candidate in found.values()):
                break
            [[table]] = self._count([(node.engine_node, [attribute])])
            found[attribute] = self._evaluator.evaluate(attribute, table, span, node.key)
        nothing = self._no_counts
        candidates = [
            found.get(one) or SplitCandidate(one, SplitStatus.NOT_DRAWN, nothing, nothing.sum(axis=0))
            for one in range(len(self._schema.attributes))
            if one not in node.used
        ]
        chosen = choose(
            self._recipe.choice,
            candidates,
            self._schema,
            self._n_cases,
            include_high_cardinality=self._recipe.nominal is NominalTest.GROUPS,
        )
        best, stopping = chosen.best, self._recipe.stopping
        stop = None
        if best is None:
            stop = Stop.NO_GAIN
        elif best.score * summary.weight / self._total_weight < stopping.min_decrease * (1 - 1e-12):
            stop = Stop.SMALL_GAIN
        elif (level := stopping.significance) is not None and not self._regression:
            stop = Stop.NOT_SIGNIFICANT if chi_square(best.counts).p > level else None
        self._keep(node.record, split_trace(chosen, stop, node.used, nothing))
        return Decision(node, summary, chosen, stop)

    def _sampled_attributes(self, node: GrowingNode) -> tuple[list[int], list[int]]:
        """Return the sampled attributes, and the others in the order in which they replace them."""
        draw = self._recipe.draw
        free = [attribute for attribute in range(len(self._schema.attributes)) if attribute not in node.used]
        if draw is not None and draw.per_tree:
            fixed = set(shuffled(root_key(draw.seed), len(self._schema.attributes))[: draw.attributes])
            return [attribute for attribute in free if attribute in fixed], []
        if draw is None or draw.attributes >= len(free):
            return free, []
        order = [free[index] for index in shuffled(node.key, len(free))]
        return sorted(order[: draw.attributes]), order[draw.attributes :]

    def _keep(self, record: int, entries: tuple[EvaluatedSplit, ...]) -> None:
        """Keep the trace of a node if the budget allows it."""
        cells = sum(one.cells for one in entries)
        if cells > self._cells_left:
            self._cells_left = 0
            return
        self._cells_left -= cells
        self._traces[record] = entries


def split_trace(
    chosen: Chosen, stop: Stop | None, used: Collection[int], no_counts: Counts
) -> tuple[EvaluatedSplit, ...]:
    """Return the split trace of a node, attribute by attribute.

    Parameters
    ----------
    chosen : Chosen
    stop : Stop or None
        Why the chosen split is not carried out.
    used : collection of int
        The attributes that splits above exclude.
    no_counts : array, 0 x statistics
    """
    entries = [EvaluatedSplit(one, SplitStatus.USED_ABOVE, None, no_counts, no_counts.sum(axis=0)) for one in used]
    for one in chosen.candidates:
        status = one.status
        if status is SplitStatus.CHOSEN and stop is not None:
            status = SplitStatus.NOT_SIGNIFICANT if stop is Stop.NOT_SIGNIFICANT else SplitStatus.SMALL_GAIN
        counts = one.counts[:0] if one.split is None else one.counts
        entries.append(
            EvaluatedSplit(one.attribute, status, one.split, counts, one.unknown, one.tries, own_score=one.own_score)
        )
    return tuple(sorted(entries, key=lambda one: one.attribute))
