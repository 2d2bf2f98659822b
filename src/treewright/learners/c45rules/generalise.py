"""Generalising single rules: drop unnecessary conditions, and reject rules that are no better than chance.

The actual error of a rule is the share of the cases it covers that have another class. The pessimistic error adds the
errors given by the confidence level. A rule is rejected if it is no better than a rule that covers nothing, whose
pessimistic error is one minus the share of its class (Laplace estimate).

Conditions are dropped greedily: while dropping some condition makes the actual or the pessimistic error no worse, drop
the one whose absence gives the lowest pessimistic error, the last of equals.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from treewright.learners.c45rules.arithmetic import Precision
from treewright.learners.c45rules.cases import PathRule, RuleCases
from treewright.learners.pessimistic_error import extra_errors, extra_errors_single
from treewright.tree.formula import NUMERIC_OPS, Condition


@dataclass(frozen=True, slots=True)
class Candidate:
    """A generalised rule: sorted conditions, class, and its pessimistic error."""

    conditions: tuple[Condition, ...]
    outcome: int
    error: float


class ErrorEstimates:
    """Actual and pessimistic error by number of covered and of wrongly covered cases."""

    def __init__(self, confidence: float, precision: Precision) -> None:
        self._confidence = confidence
        self._extra = extra_errors_single if precision is Precision.SINGLE else extra_errors
        self._round = precision.number
        self._known: dict[tuple[int, int], tuple[float, float]] = {}

    def __call__(self, covered: int, wrong: int) -> tuple[float, float]:
        """Return both errors of a rule that covers at least one case."""
        key = covered, wrong
        if key not in self._known:
            actual = self._round(wrong / covered)
            extra = self._extra(float(covered), float(wrong), self._confidence)
            pessimistic = self._round(self._round(wrong + extra) / covered)
            self._known[key] = actual, pessimistic
        return self._known[key]

    def ignorance(self, cases: RuleCases, outcome: int) -> float:
        """Return the pessimistic error of a rule for a class that covers nothing."""
        return self._round(1.0 - (int(cases.class_counts[outcome]) + 1.0) / (cases.n + 2.0))


def generalise(rules: Iterable[PathRule], cases: RuleCases, estimates: ErrorEstimates) -> list[Candidate]:
    """Generalise every rule, reject those no better than chance, sort conditions and remove duplicates.

    The candidates keep the order of their rules.
    """
    candidates = (generalise_one(rule, cases, estimates) for rule in rules)
    return without_duplicates(candidate for candidate in candidates if candidate is not None)


def generalise_one(rule: PathRule, cases: RuleCases, estimates: ErrorEstimates) -> Candidate | None:
    """Drop unnecessary conditions of a rule; return None if the rest is rejected."""
    if not rule.conditions:
        return None
    ignorance = estimates.ignorance(cases, rule.outcome)

    def errors(covered: int, wrong: int) -> tuple[float, float]:
        return estimates(covered, wrong) if covered else (0.0, ignorance)

    shrinking = ShrinkingRule(rule, cases)
    covered, wrong = shrinking.counts()
    actual, pessimistic = errors(covered, wrong)
    while shrinking.remaining:
        counts = shrinking.counts_without_each(covered, wrong)
        without = [errors(*one) for one in counts]
        if not any(one[1] <= pessimistic or one[0] <= actual for one in without):
            break
        lowest = min(one[1] for one in without)
        drop = max(index for index, one in enumerate(without) if one[1] == lowest)
        shrinking.drop(drop)
        covered, wrong = counts[drop]
        actual, pessimistic = without[drop]
    if not shrinking.remaining or covered == 0 or pessimistic >= ignorance:
        return None
    return Candidate(sorted_conditions(rule.conditions, shrinking.remaining), rule.outcome, pessimistic)


class ShrinkingRule:
    """A rule from which conditions are dropped, with the cases that it covers at each stage.

    For every case the number of conditions that it fails is stored. The rule covers the cases that fail none; without
    one condition it also covers those that fail only that one. So one pass over the cases counts for all conditions.
    `remaining` has the positions of the remaining conditions.
    """

    def __init__(self, rule: PathRule, cases: RuleCases) -> None:
        self.remaining = list(range(len(rule.conditions)))
        self._other = cases.classes != rule.outcome
        self._failing = [~cases.masks[condition] for condition in rule.conditions]
        self._failed: npt.NDArray[np.int32] = np.zeros(cases.n, dtype=np.int32)
        for failing in self._failing:
            self._failed += failing

    def counts(self) -> tuple[int, int]:
        """Return how many cases are covered, and how many of them have another class."""
        covered = self._failed == 0
        return int(np.count_nonzero(covered)), int(np.count_nonzero(covered & self._other))

    def counts_without_each(self, covered: int, wrong: int) -> list[tuple[int, int]]:
        """Return the counts without each condition, given the present ones."""
        fails_one = np.flatnonzero(self._failed == 1)
        other = self._other[fails_one]
        result = []
        for failing in self._failing:
            gained = failing[fails_one]
            result.append((covered + int(np.count_nonzero(gained)), wrong + int(np.count_nonzero(gained & other))))
        return result

    def drop(self, index: int) -> None:
        """Drop one of the remaining conditions, by its index."""
        self._failed -= self._failing.pop(index)
        del self.remaining[index]


def sorted_conditions(path: Sequence[Condition], kept: Collection[int]) -> tuple[Condition, ...]:
    """Bring the kept conditions of a path into the order of the original program.

    Its comparison is not a consistent order (a nominal condition comes before a numeric one whatever their
    attributes, and a lower attribute before a higher one whatever their kind), so the result depends on the
    procedure: selection sort with exchanges. Dropped conditions are skipped but keep their positions until an
    exchange moves them.

    Parameters
    ----------
    path : sequence of Condition
        All conditions of the path, dropped ones included.
    kept : collection of int
        Positions of the kept ones.

    Examples
    --------
    >>> low, high, between = Condition.at_most(0, 1.0), Condition.above(0, 0.5), Condition.equals(1, 0)
    >>> [condition.cut for condition in sorted_conditions([low, between, high], kept={0, 2})]
    [0.5, 1.0]
    """
    left = set(kept)
    slots: list[Condition | None] = [one if position in left else None for position, one in enumerate(path)]
    for position in range(len(kept)):
        chosen, best = position, slots[position]
        for later in range(position + 1, len(slots)):
            one = slots[later]
            if one is not None and (best is None or _comes_before(one, best)):
                chosen, best = later, one
        slots[position], slots[chosen] = slots[chosen], slots[position]
    return tuple(one for one in slots if one is not None)


def _comes_before(one: Condition, other: Condition) -> bool:
    if one.attribute < other.attribute:
        return True
    if one.op not in NUMERIC_OPS and other.op in NUMERIC_OPS:
        return True
    same = one.attribute == other.attribute
    return same and one.cut is not None and other.cut is not None and one.cut < other.cut


def without_duplicates(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Keep the first of equal rules of a class, with the greatest error of them.

    Two rules are equal when they compare the same attributes with the same values or cuts, in the same
    order. The direction of a comparison is *ignored*, an oversight of the original that shows in its rule lists.
    """
    kept: dict[tuple[object, ...], Candidate] = {}
    for candidate in candidates:
        key = (candidate.outcome, *(_without_direction(condition) for condition in candidate.conditions))
        known = kept.get(key)
        if known is None:
            kept[key] = candidate
        elif candidate.error > known.error:
            kept[key] = replace(known, error=candidate.error)
    return list(kept.values())


def _without_direction(condition: Condition) -> tuple[object, ...]:
    return (
        condition.attribute,
        condition.cut,
        condition.op if condition.cut is None else None,
        condition.values,
    )
