"""The rule that chooses one attribute among the candidates of a node.

`Choice.HIGHEST` takes the best score. C4.5's rule (`Choice.RATIO`) first asks for a gain of at least the average,
then takes the best ratio of gain to split information; nominal attributes with very many values stay out of the
average, but may win.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from treewright.data.schema import Schema
from treewright.grow.candidates import SplitCandidate
from treewright.grow.recipe import Choice
from treewright.grow.ties import first_of_ties
from treewright.model.working import SplitStatus

EPSILON = 1e-3
"""C4.5's tolerance in comparisons of gains."""

MANY_VALUES = 0.3
"""A nominal attribute with at least this share of the number of cases as values stays out of the average."""


@dataclass(frozen=True)
class Chosen:
    """The candidates with their final statuses, and the place of the winner (None: no test is admissible)."""

    candidates: tuple[SplitCandidate, ...]
    winner: int | None
    average_gain: float | None = None

    @property
    def best(self) -> SplitCandidate | None:
        """The winning candidate."""
        return None if self.winner is None else self.candidates[self.winner]


def choose(
    rule: Choice, candidates: Sequence[SplitCandidate], schema: Schema, n_cases: int, *, many_count: bool = False
) -> Chosen:
    """Apply a rule of choice; `many_count` lets attributes of very many values count in the average, too."""
    if rule is Choice.HIGHEST:
        return _highest(candidates)
    return _c45(rule, candidates, schema, 0 if many_count else n_cases)


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
    """Return C4.5's average: over the possible tests, attributes with very many values left out.

    If no attribute counts the average is infinite, so that none can be chosen by the ratio.
    """
    many = [0 < MANY_VALUES * n_cases <= len(column.values) for column in schema.attributes]
    if all(many):
        many = [False] * len(many)
    gains = [
        candidate.score
        for candidate in candidates
        if candidate.status is SplitStatus.CONSIDERED and candidate.score > -EPSILON and not many[candidate.attribute]
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
