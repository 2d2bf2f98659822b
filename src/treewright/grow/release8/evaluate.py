"""What C4.5 Release 8 thinks of each attribute at a node, and which one it takes.

Vocabulary
----------
gain, info
    Gain of information by a test and information of the division itself, both per case, as 32-bit floats.
worth
    What the attributes are compared by: gain ratio or gain.
minimum
    The minimum number of cases (m). In subset mode an oversight of the original sets it to 1 for the rest of the run;
    reproducing the trees needs it, so it is a changeable part of the `Release8Evaluator`.

Invariants
----------
Attributes are looked at in column order, because each numeric one reorders the cases of the node.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treewright.grow.release8.arithmetic import (
    EPSILON,
    NO_GAIN,
    Singles,
    information,
    information_of_columns,
    log2,
    single,
)
from treewright.grow.release8.cases import CaseIndices, Release8Cases
from treewright.grow.release8.subset import grouping
from treewright.grow.release8.table import NodeTable, gain_of, info_of, node_table, split_score
from treewright.model.split import Split

MIN_GAP = 1e-5
"""No threshold separates two values that are closer than this."""

MANY_VALUES = 0.3
"""Attributes with at least this share of values to cases do not count in the average gain."""

NO_AVERAGE = 1e6
"""The average gain when there is nothing to average: nothing is as good as this."""


@dataclass(frozen=True, slots=True)
class Release8Candidate:
    """The best test on one attribute: its gain (`NO_GAIN` for none) and information, and the test itself."""

    gain: float
    info: float = 0.0
    split: Split | None = None

    @property
    def is_possible(self) -> bool:
        """Whether there is a gain, 0 included."""
        return self.gain > -EPSILON


NOTHING = Release8Candidate(NO_GAIN)


class Ascending:
    """The numbers of an attribute in the whole training set, as 32-bit floats and as they were given.

    A cut is found among the former and told as the latter (0.8, not 0.800000012), which divides the cases alike.
    """

    def __init__(self, singles: Singles, as_given: npt.NDArray[np.float64]) -> None:
        known = ~np.isnan(singles)
        order = np.lexsort((as_given[known], singles[known]))
        singles, as_given = singles[known][order], as_given[known][order]
        last = np.append(singles[1:] != singles[:-1], True) if len(singles) else np.zeros(0, dtype=bool)
        self._singles, self._as_given = singles[last], as_given[last]

    def largest_not_above(self, bound: float) -> float:
        """Return the largest number that is not above the bound."""
        return float(self._as_given[np.searchsorted(self._singles, np.float32(bound), side="right") - 1])


def nominal_candidate(table: NodeTable, attribute: int, minimum: int) -> Release8Candidate:
    """Evaluate the test with one branch for each value."""
    if table.weight <= table.unknown:
        return NOTHING
    gain = gain_of(table, table.totals, [information(row) for row in table.rows], minimum)
    if not gain > -EPSILON:
        return NOTHING
    return Release8Candidate(gain, info_of(table, table.totals), Split.multiway(attribute, len(table.rows)))


def numeric_candidate(
    cases: Release8Cases, attribute: int, first: int, stop: int, minimum: int, ascending: Ascending
) -> Release8Candidate:
    """Evaluate all cuts of a numeric attribute; `ascending` are its values in the whole training set."""
    # Added anew, in the order in which the attribute before left the cases; nominal attributes take the weight that the
    # node was entered with. The two can differ in the last bit, and with it which cuts are admissible.
    weight = cases.weight(first, stop)
    start = first + cases.gather_unknown(attribute, first, stop)
    unknown = 0.0
    if start > first:
        for count in cases.class_counts(first, start).tolist():
            unknown = single(unknown + count)
    known = single(weight - unknown)
    if known < 2 * minimum:
        return NOTHING
    unknown_rate = single(1.0 - single(known / weight))
    ordered = cases.sort(attribute, start, stop)
    values = cases.numbers[attribute][ordered]
    counts = cases.class_counts_of(ordered)
    base = single(information(counts.tolist()) / known)

    side = smallest_side(known, cases.n_classes, minimum)
    weights = cases.weights[ordered]
    low = np.add.accumulate(weights)[:-1]
    apart = values[:-1] < values[1:].astype(np.float64) - MIN_GAP
    tries = np.flatnonzero(apart & (low >= side) & (low <= single(known - side)))
    if not len(tries):
        return NOTHING
    cost = single(log2(len(tries)) / weight)

    below, above = _sides(cases, ordered, weights, counts, tries)
    low = low[tries]
    high = np.float32(known) - low
    left = information_of_columns(below) + information_of_columns(above)
    gains = np.float32(single(1.0 - unknown_rate)) * (np.float32(base) - left / np.float32(known))
    gains = np.where((low >= minimum) & (high >= minimum), gains, np.float32(NO_GAIN)) - np.float32(cost)
    best = int(np.argmax(gains))
    gain = float(gains[best])
    if gain <= 0:
        return NOTHING
    info = single(information([unknown, float(low[best]), float(high[best])]) / weight)
    at = int(tries[best])
    middle = single(single(float(values[at]) + float(values[at + 1])) / 2)
    return Release8Candidate(gain, info, Split.threshold(attribute, ascending.largest_not_above(middle)))


def smallest_side(known: float, n_classes: int, minimum: int) -> float:
    """Return the least weight on either side of a cut: a tenth of the average class, between m and 25.

    Examples
    --------
    >>> smallest_side(100, 2, 2), smallest_side(1000, 2, 2), smallest_side(12, 2, 2)
    (5.0, 25.0, 2.0)
    """
    side = single(0.1 * known / n_classes)
    if side <= minimum:
        return float(minimum)
    return min(side, 25.0)


def _sides(
    cases: Release8Cases, ordered: CaseIndices, weights: Singles, counts: Singles, tries: CaseIndices
) -> tuple[Singles, Singles]:
    """Return the class weights (rows) below and above each cut, added and subtracted case by case."""
    present = np.flatnonzero(counts)
    row_of = np.zeros(cases.n_classes, dtype=np.intp)
    row_of[present] = np.arange(len(present))
    end = int(tries[-1]) + 1
    moving = np.zeros((len(present), end + 1), dtype=np.float32)
    moving[row_of[cases.classes[ordered[:end]]], np.arange(1, end + 1)] = weights[:end]
    below = np.add.accumulate(moving, axis=1)[:, tries + 1]
    if cases.unit_weights:
        return below, counts[present][:, None] - below
    moving[:, 0] = counts[present]
    above = np.subtract.accumulate(moving, axis=1)[:, tries + 1]
    return below, above


class Release8Evaluator:
    """Looks at all attributes of a node and chooses the test.

    Parameters
    ----------
    cases : Release8Cases
    criterion : {"gain_ratio", "gain"}
    subset : bool
        Whether values of nominal attributes are grouped.
    minimum : int
        m, as long as nothing changes it.
    """

    def __init__(self, cases: Release8Cases, criterion: str, subset: bool, minimum: int) -> None:
        self.cases = cases
        self.by_ratio = criterion == "gain_ratio"
        self.subset = subset
        self.minimum = minimum
        sizes = [len(attribute.values) for attribute in cases.attributes]
        self.usable = [
            index for index, attribute in enumerate(cases.attributes) if attribute.is_numeric or sizes[index] > 1
        ]
        limit = MANY_VALUES * cases.n_cases
        few = {index for index in self.usable if cases.attributes[index].is_numeric or sizes[index] < limit}
        self.averaged = set(self.usable) if subset or not few else few
        self.grouped = {index for index in self.usable if subset and sizes[index] > 2}
        self.ascending = {index: Ascending(cases.numbers[index], cases.as_given[index]) for index in cases.numbers}

    def best_split(self, first: int, stop: int, weight: float, tested: int) -> Split | None:
        """Return the test to take at a node, None if there is none.

        Parameters
        ----------
        first, stop : int
            The stretch of the node.
        weight : float
            Its weight when the node was entered.
        tested : int
            Bit a is set when nominal attribute a was tested further up, which bars it here.
        """
        candidates = {
            attribute: self._candidate(attribute, first, stop, weight)
            for attribute in self.usable
            if not tested >> attribute & 1
        }
        total, number = 0.0, 0
        for attribute, candidate in candidates.items():
            if candidate.is_possible and attribute in self.averaged:
                total = single(total + candidate.gain)
                number += 1
        average = single(total / number) if number else NO_AVERAGE
        best, chosen = NO_GAIN, None
        for candidate in candidates.values():
            if candidate.is_possible:
                value = split_score(candidate.gain, candidate.info, average, by_ratio=self.by_ratio)
                if value > best:
                    best, chosen = value, candidate.split
        return chosen

    def used_below(self, split: Split, tested: int) -> int:
        """Return `tested` for the branches of a node with this test."""
        attribute = split.attribute
        if self.cases.attributes[attribute].is_numeric or attribute in self.grouped:
            return tested
        return tested | 1 << attribute

    def _candidate(self, attribute: int, first: int, stop: int, weight: float) -> Release8Candidate:
        if attribute in self.ascending:
            ascending = self.ascending[attribute]
            return numeric_candidate(self.cases, attribute, first, stop, self.minimum, ascending)
        table = node_table(self.cases.value_table(attribute, first, stop), weight)
        if attribute in self.grouped:
            return self._grouped_candidate(attribute, table)
        return nominal_candidate(table, attribute, self.minimum)

    def _grouped_candidate(self, attribute: int, table: NodeTable) -> Release8Candidate:
        if table.known < EPSILON:
            self.minimum = 1  # the oversight of the original: m stays as it is during the evaluation
            return NOTHING
        found = grouping(table, self.minimum, by_ratio=self.by_ratio)
        if found is None:
            return NOTHING
        return Release8Candidate(found.gain, found.info, Split.subsets(attribute, found.branch_of))
