"""How C4.5 Release 8 evaluates the attributes at a node: tables, subsets, candidates, and the choice.

Tables: gain and information of a split follow from the weights of the categories and classes, never from cases.

Grouping the categories of a nominal attribute, as C4.5 Release 8 does with ``-s``. Invariants: merging puts block q
into p and moves the last block to position q, because the order of the blocks decides the order of sums. The search
needs only a table of counts.

Choice: attributes are evaluated in column order, because each numeric one reorders the cases of the node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treewright.learners.c45r8.arithmetic import (
    EPSILON,
    NO_GAIN,
    Singles,
    information,
    information_of_columns,
    log2,
    single,
)
from treewright.learners.c45r8.cases import CaseIndices, Release8Cases
from treewright.tree.split import Split


@dataclass(frozen=True, slots=True)
class NodeTable:
    """Weights of the categories of a nominal attribute at a node, as Python floats.

    `rows` has one list of class weights per category, only of classes with cases; `totals` has their sums; `base` is
    the information per known case before the split.
    """

    rows: list[list[float]]
    totals: list[float]
    unknown: float
    known: float
    weight: float
    base: float

    @property
    def unknown_rate(self) -> float:
        """Share of the weight that is unknown."""
        return single(self.unknown / self.weight)


def node_table(table: Singles, weight: float) -> NodeTable:
    """Sum the weights of categories (rows; row 0 is unknown) and classes at a node of this weight.

    Without known weight, `base` is 0.
    """
    table = table[:, table.any(axis=0)]  # empty classes add nothing to any sum
    totals = np.add.accumulate(table, axis=1)[:, -1].tolist()
    unknown = totals[0]
    known = single(weight - unknown)
    base = 0.0
    if known > 0:
        per_class = np.add.accumulate(table[1:], axis=0)[-1].tolist()
        logs = 0.0
        for count in per_class:
            logs += count * log2(count)
        base = single((known * log2(known) - logs) / known)
    return NodeTable(table[1:].tolist(), totals[1:], unknown, known, weight, base)


def gain_of(table: NodeTable, totals: Sequence[float], informations: Sequence[float], minimum: int) -> float:
    """Return the gain of a split into branches with these totals and informations."""
    if table.known == 0 or sum(total >= minimum for total in totals) < 2:
        return NO_GAIN
    left = 0.0
    for branch in informations:
        left = single(left + branch)
    return gain_from(table.base, left, table.known, table.unknown_rate)


def gain_from(base: float, left: float, known: float, unknown_rate: float) -> float:
    """Return the gain if `left` is the information that remains after the split."""
    return single(single(1.0 - unknown_rate) * single(base - single(left / known)))


def info_of(table: NodeTable, totals: Sequence[float]) -> float:
    """Return the split information, with the unknown cases as one more branch."""
    return single(information([table.unknown, *totals]) / table.weight)


def split_score(gain: float, info: float, average: float, *, by_ratio: bool) -> float:
    """Return the score of a split with this gain and split information, given the average gain."""
    if by_ratio:
        return single(gain / info) if gain >= average - EPSILON and info > EPSILON else NO_GAIN
    return gain if info > 0 and gain > -EPSILON else NO_GAIN


SEARCH_MINIMUM = 1
"""The minimum number of cases during the search for groups."""

OCCURS = 0.5
"""A category with more weight than this starts as a block of its own."""

PURE_SLACK = 0.1
"""A block whose other classes weigh no more than this counts as a single class."""

BETTER = 1e-5
"""Merging must improve the ratio by at least this."""

LEAST_AVERAGE = single(EPSILON)


@dataclass(frozen=True, slots=True)
class Grouping:
    """The branch of each category, with gain and split information."""

    gain: float
    info: float
    branch_of: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """Gain, split information and score of a list of blocks."""

    gain: float
    info: float
    value: float


@dataclass(frozen=True, slots=True)
class Block:
    """A set of categories: its weight, its class weights, and its information."""

    values: tuple[int, ...]
    total: float
    row: tuple[float, ...]
    information: float

    def merged(self, other: Block) -> Block:
        """Return the union of this block and another one."""
        row = tuple(single(mine + its) for mine, its in zip(self.row, other.row, strict=True))
        return Block(self.values + other.values, single(self.total + other.total), row, information(row))

    def class_if_single(self) -> int | None:
        """Return the only class of the block, None if it has several."""
        main = next((c for c, count in enumerate(self.row) if count >= PURE_SLACK), None)
        return main if main is not None and self.is_of(main) else None

    def is_of(self, code: int) -> bool:
        """Return True if the weight of all other classes is at most `PURE_SLACK`."""
        return self.row[code] >= self.total - PURE_SLACK


class Blocks:
    """A list of blocks of categories, merged step by step."""

    def __init__(self, table: NodeTable, *, by_ratio: bool) -> None:
        self.table = table
        self.by_ratio = by_ratio
        self.blocks = [
            Block((value,), total, tuple(row), information(row))
            for value, (total, row) in enumerate(zip(table.totals, table.rows, strict=True))
            if total > OCCURS
        ]

    def __len__(self) -> int:
        return len(self.blocks)

    @property
    def totals(self) -> list[float]:
        """Weight of each block."""
        return [block.total for block in self.blocks]

    @property
    def informations(self) -> list[float]:
        """Information of each block."""
        return [block.information for block in self.blocks]

    def merge(self, into: int, other: int) -> None:
        """Merge one block into another, and move the last block to its position."""
        self.blocks[into] = self.blocks[into].merged(self.blocks[other])
        self.blocks[other] = self.blocks[-1]
        self.blocks.pop()

    def score(self) -> Score:
        """Return the score of the blocks."""
        return scored(self.table, self.totals, self.informations, by_ratio=self.by_ratio)

    def merge_single_classes(self) -> bool:
        """Merge the blocks that have the same single class; return True if there were any."""
        before = len(self)
        p = 0
        while p < len(self) - 1:
            main = self.blocks[p].class_if_single()
            q = p + 1
            while main is not None and q < len(self):
                if self.blocks[q].is_of(main):
                    self.merge(p, q)  # the block now at q has not been compared yet
                else:
                    q += 1
            p += 1
        return len(self) < before

    def largest(self) -> int:
        """Return the index of the largest block, the first of equals."""
        totals = self.totals
        return totals.index(max(totals))

    def branch_of(self) -> tuple[int, ...]:
        """Return the branch of each category; categories in no block take the last branch."""
        branches = [len(self)] * len(self.table.totals)
        for branch, block in enumerate(self.blocks):
            for value in block.values:
                branches[value] = branch
        return tuple(branches)

    def scores_after_merging(self, merges: npt.NDArray[np.intp]) -> list[Score]:
        """Return the score after each of these merges (rows of p, q); the blocks do not change."""
        into, other = merges[:, 0], merges[:, 1]
        last = len(self) - 1
        totals = np.array(self.totals, dtype=np.float32)
        rows = np.array([block.row for block in self.blocks], dtype=np.float32).T
        # column j of `block_at` has the block at position j after merging
        block_at = np.broadcast_to(np.arange(last), (len(merges), last)).copy()
        moved = other < last
        block_at[moved, other[moved]] = last
        each = np.arange(len(merges))
        merged_totals = totals[block_at]
        merged_totals[each, into] = totals[into] + totals[other]
        merged_informations = np.array(self.informations, dtype=np.float32)[block_at]
        merged_informations[each, into] = information_of_columns(rows[:, into] + rows[:, other])

        table = self.table
        left = np.add.accumulate(merged_informations, axis=1)[:, -1]
        known_share = np.float32(single(1.0 - table.unknown_rate))
        gains = known_share * (np.float32(table.base) - left / np.float32(table.known))
        gains[np.count_nonzero(merged_totals >= SEARCH_MINIMUM, axis=1) < 2] = NO_GAIN
        unknown = np.full((1, len(merges)), table.unknown, dtype=np.float32)
        infos = information_of_columns(np.vstack((unknown, merged_totals.T))) / np.float32(table.weight)
        return [
            Score(gain, info, split_score(gain, info, LEAST_AVERAGE, by_ratio=self.by_ratio))
            for gain, info in zip(gains.tolist(), infos.tolist(), strict=True)
        ]


def scored(table: NodeTable, totals: list[float], informations: list[float], *, by_ratio: bool) -> Score:
    """Return the score of branches with these totals and informations."""
    gain = gain_of(table, totals, informations, SEARCH_MINIMUM)
    info = info_of(table, totals)
    return Score(gain, info, split_score(gain, info, LEAST_AVERAGE, by_ratio=by_ratio))


def grouping(table: NodeTable, minimum: int, *, by_ratio: bool) -> Grouping | None:
    """Return the best grouping found, None if no grouping has a positive score.

    Parameters
    ----------
    table : NodeTable
        Counts at the node; their known weight must be positive.
    minimum : int
        m; it decides which blocks are large and whether the result is admissible. The search itself uses 1.
    by_ratio : bool
        Gain ratio, or gain; by gain, blocks are merged until there are two.
    """
    score = scored(table, table.totals, [information(row) for row in table.rows], by_ratio=by_ratio)
    blocks = Blocks(table, by_ratio=by_ratio)
    if blocks.merge_single_classes():
        score = blocks.score()
    lowest_gain = single(score.gain / 2)
    while len(blocks) > 2:
        large = sum(total >= minimum for total in blocks.totals)
        forced = not by_ratio or large < 2
        excluded = blocks.largest() if large < 3 else None
        found = _best_merge(blocks, lowest_gain, excluded=excluded, forced=forced)
        if found is None or (not forced and found[1].value < score.value + BETTER):
            break
        merge, score = found
        blocks.merge(*merge)
    if score.value <= 0:
        return None
    gain = gain_of(table, blocks.totals, blocks.informations, minimum)
    return Grouping(gain, score.info, blocks.branch_of())


def _best_merge(
    blocks: Blocks, lowest_gain: float, *, excluded: int | None, forced: bool
) -> tuple[tuple[int, int], Score] | None:
    """Return the two blocks to merge and the score after merging; the last of equals wins."""
    free = np.array([block for block in range(len(blocks)) if block != excluded], dtype=np.intp)
    first, second = np.triu_indices(len(free), 1)
    merges = np.column_stack((free[first], free[second]))
    best = Score(NO_GAIN, 0.0, 0.0)
    found: int | None = None
    for index, score in enumerate(blocks.scores_after_merging(merges)):
        enough_at_last = score.gain >= lowest_gain > best.gain
        if enough_at_last or score.value >= best.value or (found is None and forced):
            best, found = score, index
    if found is None:
        return None
    p, q = merges[found].tolist()
    return (p, q), best


MIN_GAP = 1e-5
"""No threshold separates two values that are closer than this."""

MANY_VALUES = 0.3
"""Attributes with at least this share of values to cases do not count in the average gain."""

NO_AVERAGE_GAIN = 1e6
"""The average gain if there is nothing to average: no gain reaches it."""


@dataclass(frozen=True, slots=True)
class Release8Candidate:
    """The best split of one attribute: its gain (`NO_GAIN` for none), its split information, and the split itself."""

    gain: float
    info: float = 0.0
    split: Split | None = None

    @property
    def is_possible(self) -> bool:
        """True if there is a gain, 0 included."""
        return self.gain > -EPSILON


NOTHING = Release8Candidate(NO_GAIN)


class Ascending:
    """The values of a numeric attribute in the whole training set, as 32-bit floats and as given.

    A cut is found among the former and reported as the latter (0.8, not 0.800000012); both split the cases alike.
    """

    def __init__(self, singles: Singles, as_given: npt.NDArray[np.float64]) -> None:
        known = ~np.isnan(singles)
        order = np.lexsort((as_given[known], singles[known]))
        singles, as_given = singles[known][order], as_given[known][order]
        last = np.append(singles[1:] != singles[:-1], True) if len(singles) else np.zeros(0, dtype=bool)
        self._singles, self._as_given = singles[last], as_given[last]

    def largest_not_above(self, bound: float) -> float:
        """Return the largest value that is not above the bound."""
        return float(self._as_given[np.searchsorted(self._singles, np.float32(bound), side="right") - 1])


def nominal_candidate(table: NodeTable, attribute: int, minimum: int) -> Release8Candidate:
    """Evaluate the split with one branch per category."""
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
    # Summed again, in the order in which the previous attribute left the cases; nominal attributes use the weight
    # computed on entering the node. The two can differ in the last bit, which decides which cuts are admissible.
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
    separable = values[:-1] < values[1:].astype(np.float64) - MIN_GAP
    tries = np.flatnonzero(separable & (low >= side) & (low <= single(known - side)))
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
    """Evaluates all attributes of a node and chooses the split.

    Parameters
    ----------
    cases : Release8Cases
    criterion : {"gain_ratio", "gain"}
    subset : bool
        Whether categories of nominal attributes are grouped.
    minimum : int
        m; it can change while growing (see `_grouped_candidate`).
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
        """Return the split of a node, None if there is none.

        Parameters
        ----------
        first, stop : int
            The slice of the node.
        weight : float
            Its weight when the node was entered.
        tested : int
            Bit a is set if nominal attribute a was tested above, which excludes it here.
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
        average = single(total / number) if number else NO_AVERAGE_GAIN
        best, chosen = NO_GAIN, None
        for candidate in candidates.values():
            if candidate.is_possible:
                value = split_score(candidate.gain, candidate.info, average, by_ratio=self.by_ratio)
                if value > best:
                    best, chosen = value, candidate.split
        return chosen

    def used_below(self, split: Split, tested: int) -> int:
        """Return `tested` for the branches of a node with this split."""
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
            self.minimum = 1  # as in the original, which does not restore m after this
            return NOTHING
        found = grouping(table, self.minimum, by_ratio=self.by_ratio)
        if found is None:
            return NOTHING
        return Release8Candidate(found.gain, found.info, Split.subsets(attribute, found.branch_of))
