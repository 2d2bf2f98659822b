"""The histogram of a large node, and the search for its best test.

Multiway and binary tests of categories are scored by a kernel or by the `SplitEvaluator` of interpreted growth, which
give the same scores. Thresholds of numeric attributes are scored by the kernels of `bounds` and, inside bins, of
`refine`. Where the highest score wins, attributes are refined in the order of their upper bounds, until the bound is
below the best score. Where the choice rule needs the score of every attribute (C4.5 compares with their average), each
is found exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from math import log2
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.arrays import (
    Codes,
    Counts,
    Entries,
    Flags,
    Integers,
    Logarithms,
    Numbers,
    Options,
    Ranks,
    Rows,
    Sizes,
    Starts,
    Statistics,
)
from treewright.counting.numba import CodedColumn, count_cases, count_classes, count_numbers
from treewright.counting.table import FrequencyTable
from treewright.data.schema import Schema
from treewright.learners.candidates import SHORT, SplitCandidate, SplitEvaluator, midpoint
from treewright.learners.kernels.bounds import (
    BEST,
    N_STATISTICS,
    SCALE,
    STATISTICS_ROWS,
    UPPER_BOUND,
    count_thresholds,
    find_surviving_bins,
    limit_of,
    score_borders,
    score_multiway,
    values_beside,
)
from treewright.learners.kernels.options import CUT, HIGHEST, MULTIWAY, NOT_TESTED
from treewright.learners.kernels.refine import NO_ENTRIES, Binned, Cases, refine_bins, refine_buffers_for
from treewright.learners.kernels.score import branch_information
from treewright.learners.recipe import MissingPolicy, Recipe
from treewright.learners.sampling import shuffled
from treewright.learners.select import choose
from treewright.tree.split import FRACTIONAL, KNOWN, Split, SplitStatus

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

NO_WEIGHTS: Floats = np.zeros(0)
NO_CASES: Ints = np.zeros(0, dtype=np.int64)
NO_CLASSES: npt.NDArray[np.int32] = np.zeros(1, dtype=np.int32)

HALVED_FROM = 32_768
"""From this many cases on, the attributes of a node are counted by two threads if one is idle."""


@dataclass(frozen=True)
class Ranked:
    """The ranks of a binned column, for options that need the number of thresholds or the gap between values.

    Parameters
    ----------
    ranks : array of int
        Of every row; -1 where missing.
    numbers : array
        Of each rank.
    ends : array of int
        One more than the last rank of each code.
    """

    ranks: Ranks
    numbers: Numbers
    ends: Starts


@dataclass(frozen=True)
class Table:
    """The encoded table and the options of histogram growth.

    Parameters
    ----------
    schema : Schema
    recipe : Recipe
    codes : array, attributes x rows
    columns : tuple of array
        The numbers of binned attributes.
    coded : tuple of CodedColumn
    ranked : dict of int to Ranked
        The binned attributes, where the recipe needs their thresholds.
    target : array
        Class codes, or numbers to predict.
    options, nlogn : array
        For kernels: the options of the recipe, and n log2 n.
    tests : array of int
    examiner : callable
        Makes a `SplitEvaluator`.
    regression, whole : bool
    all_cases : callable
        Returns the number of cases of each code in the whole table.
    entries : callable
        Returns the cases of the whole table in the order of an attribute, empty if they are not sorted.
    n_cases, n_jobs : int
    pool, helper : ThreadPoolExecutor or None
        For nodes, and for half of the counting.
    """

    schema: Schema
    recipe: Recipe
    codes: Codes
    columns: tuple[npt.NDArray[Any], ...]
    coded: tuple[CodedColumn, ...]
    ranked: dict[int, Ranked]
    target: npt.NDArray[Any]
    options: Options
    nlogn: Logarithms
    tests: Integers
    examiner: Callable[[], SplitEvaluator]
    regression: bool
    whole: bool
    all_cases: Callable[[], Sizes]
    entries: Callable[[int], Entries]
    n_cases: int
    n_jobs: int
    pool: ThreadPoolExecutor | None
    helper: ThreadPoolExecutor | None
    sizes: Sizes = field(init=False)
    single: Flags = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", np.array([column.n_codes for column in self.coded], dtype=np.int64))
        object.__setattr__(self, "single", np.array([not column.is_binned for column in self.coded], dtype=bool))

    @property
    def width(self) -> int:
        """Length of the statistics of a set of cases."""
        return int(self.options["width"][0])

    @property
    def n_sampled(self) -> int:
        """Number of attributes sampled at each node, 0 if all are evaluated."""
        return int(self.options["n_sampled"][0])


@dataclass(frozen=True)
class Histogram:
    """The histogram of a node.

    Parameters
    ----------
    starts : array of int
        First bin of each attribute; attributes that were not counted have no bins.
    counts : array, bins x statistics
    cases : array of int
        Numbers of cases, empty where each case weighs one.
    """

    starts: Starts
    counts: Counts
    cases: Sizes

    def of(self, attribute: int) -> slice:
        """Return the bins of an attribute."""
        return slice(int(self.starts[attribute]), int(self.starts[attribute + 1]))


def count_node(table: Table, rows: Rows, weights: Floats, deviation: Floats, attributes: Ints) -> Histogram:
    """Count attributes at a node, by two threads if it has more than half of all cases."""
    sizes = np.zeros_like(table.sizes)
    sizes[attributes] = table.sizes[attributes]
    starts = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    counts = np.zeros((int(starts[-1]), table.width))
    unit = len(weights) == 0 and not table.regression
    cases = NO_CASES if unit else np.zeros(int(starts[-1]), dtype=np.int64)
    known_cases = unit
    if not unit and len(rows) == table.codes.shape[1] and len(cases) == int(table.sizes.sum()):
        cases, known_cases = table.all_cases().copy(), True

    def one_part(part: Ints) -> None:
        if table.regression:
            count_numbers(table.codes, rows, deviation, weights, part, starts, counts)
        else:
            count_classes(table.codes, rows, table.target, weights, part, starts, counts)
        if not known_cases:
            count_cases(table.codes, rows, part, starts, cases)

    if table.helper is None or len(attributes) < 8 or len(rows) < max(HALVED_FROM, table.n_cases // 2):
        one_part(attributes)
    else:
        half = (len(attributes) // 2 + 3) // 4 * 4
        other = table.helper.submit(one_part, attributes[:half])
        one_part(attributes[half:])
        other.result()
    return Histogram(starts, counts, cases)


NO_FLAGS: Flags = np.zeros(0, dtype=bool)


@dataclass(frozen=True)
class BestThreshold:
    """The best threshold of an attribute: its bin, the values on both sides, and the statistics on its left."""

    turn: int
    code: int
    low: float
    high: float
    left: Statistics


class Search:
    """Search the best test of one node.

    Parameters
    ----------
    table : Table
    rows, weights : array
        Of the node.
    deviation : array
        Of the numbers to predict from their mean; none for classes.
    key : int
        Random key of the node.
    histogram : Histogram or None
        If it is known already.
    """

    def __init__(
        self, table: Table, rows: Rows, weights: Floats, deviation: Floats, key: int, histogram: Histogram | None
    ) -> None:
        self._t = table
        self._rows, self._weights, self._deviation, self._key = rows, weights, deviation, key
        self.histogram = histogram
        target = NO_CLASSES if table.regression else table.target
        self._cases = Cases(rows, weights, target, deviation)
        self._cuts: dict[int, tuple[Histogram, BestThreshold]] = {}
        opt = table.options[0]
        self._needs_all = bool(opt["choice"] != HIGHEST or opt["correction"])

    def best(self, used: Flags) -> SplitCandidate | None:
        """Return the candidate that is chosen, with its split; None if there is none."""
        t = self._t
        free = np.flatnonzero(~used & (t.tests != NOT_TESTED))
        if t.n_sampled == 0 or t.n_sampled >= len(free):
            found = self._candidates(free)
        else:
            order = free[shuffled(self._key, len(free))]
            found = self._candidates(order[: t.n_sampled])
            for attribute in order[t.n_sampled :]:
                if any(one.status is SplitStatus.CONSIDERED for one in found.values()):
                    break
                found |= self._candidates(np.array([attribute]))
        chosen = choose(t.recipe.choice, [found[attribute] for attribute in sorted(found)], t.schema, t.n_cases).best
        if chosen is None or chosen.split is not None:
            return chosen
        if chosen.attribute in self._cuts:
            return replace(chosen, split=self._split(chosen.attribute))
        return self._examined(chosen.attribute, self._counted(np.array([chosen.attribute])))

    def _counted(self, attributes: Ints) -> Histogram:
        """Return a histogram of these attributes; where few are sampled, only these are counted."""
        if self.histogram is not None:
            return self.histogram
        counted = count_node(self._t, self._rows, self._weights, self._deviation, attributes)
        if self._t.n_sampled == 0:
            self.histogram = counted
        return counted

    def _candidates(self, attributes: Ints) -> dict[int, SplitCandidate]:
        """Return the candidates of attributes; those that cannot win may be left out."""
        t = self._t
        histogram = self._counted(attributes)
        random_cuts = bool(t.options["random_cuts"][0])
        tests = t.tests[attributes]
        cuts = attributes[(tests == CUT) & (not random_cuts)]
        values = attributes[tests == MULTIWAY]
        found = self._by_values(values, histogram)
        for attribute in attributes[(tests > MULTIWAY) | ((tests == CUT) & random_cuts)].tolist():
            found[attribute] = self._examined(attribute, histogram)
        if len(cuts):
            known = max((one.score for one in found.values() if one.status is SplitStatus.CONSIDERED), default=-np.inf)
            found |= self._by_cuts(np.sort(cuts), histogram, known)
        return found

    # -- values ------------------------------------------------------------------------------------------------------

    def _by_values(self, attributes: Ints, histogram: Histogram) -> dict[int, SplitCandidate]:
        """Return the candidates of attributes with one branch per category, without their splits."""
        if len(attributes) == 0:
            return {}
        t = self._t
        scores = np.empty((len(attributes), 2))
        score_multiway(histogram.counts, histogram.cases, histogram.starts, attributes, t.options, t.nlogn, scores)
        return {
            attribute: _candidate(attribute, score, information)
            for attribute, (score, information) in zip(attributes.tolist(), scores.tolist(), strict=True)
            if score > -np.inf
        }

    def _examined(self, attribute: int, histogram: Histogram) -> SplitCandidate:
        """Return the candidate of an attribute with a code for every value, by the interpreter."""
        t = self._t
        part = histogram.of(attribute)
        counts = histogram.counts[part]
        cases = histogram.cases[part] if len(histogram.cases) else counts.sum(axis=1).astype(np.int64)
        whole = not t.regression and (len(self._weights) == 0 or bool(np.all(self._weights == np.floor(self._weights))))
        kept = counts.astype(np.int64) if whole else counts
        numbers = t.coded[attribute].numbers
        some = slice(None) if numbers is None else cases[1:] > 0
        values = None if numbers is None else numbers[some]
        table = FrequencyTable(kept[1:][some], kept[0], cases[1:][some], values, unknown_cases=int(cases[0]))
        return t.examiner().evaluate(attribute, table, key=self._key)

    # -- cuts --------------------------------------------------------------------------------------------------------

    def _by_cuts(self, attributes: Ints, histogram: Histogram, known: float) -> dict[int, SplitCandidate]:
        """Return the candidates of numeric attributes, without their splits.

        `known` is the best score that is known. Unless each must be found, those that cannot reach it are left out.
        """
        t = self._t
        counts, cases, starts = histogram.counts, histogram.cases, histogram.starts
        borders, bounds = np.full((2, len(counts)), -np.inf), np.full((2, len(counts)), -np.inf)
        statistics = np.empty((len(attributes), N_STATISTICS))
        opt = t.options[0]
        inner, gaps = self._thresholds(attributes, histogram)
        rules = (t.options, t.nlogn)
        buffers, classes = np.empty((STATISTICS_ROWS, t.width)), np.empty(t.width, dtype=np.int64)
        score_borders(counts, cases, starts, attributes, gaps, *rules, borders, bounds, statistics, buffers)
        scale = statistics[:, SCALE]
        best = max(known, _scaled(statistics[:, BEST], scale).max())
        with np.errstate(divide="ignore", invalid="ignore"):
            aims = statistics[:, BEST] if self._needs_all else np.where(scale > 0, best / scale, np.inf)
        limits = np.array([limit_of(aim) for aim in aims.tolist()])
        costs = np.full(len(attributes), -np.inf)
        if opt["correction"]:
            parts = [histogram.of(attribute) for attribute in attributes.tolist()]
            costs = np.array([self._least_cost(borders[0, part], inner[part], counts[part]) for part in parts])
            limits = np.maximum(limits, costs / np.where(scale > 0, scale, 1.0))
        surviving = np.zeros(len(counts), dtype=bool)
        find_surviving_bins(
            counts, cases, starts, attributes, t.single, limits, *rules, bounds, statistics, surviving, buffers, classes
        )
        upper_bounds = _scaled(statistics[:, UPPER_BOUND], scale)
        is_whole_table = len(self._rows) == t.codes.shape[1]
        refine_buffers = None
        found = {}
        for one in np.argsort(-upper_bounds, kind="stable").tolist():
            if upper_bounds[one] == -np.inf or (not self._needs_all and upper_bounds[one] < limit_of(best)):
                break
            attribute = int(attributes[one])
            part = histogram.of(attribute)
            if upper_bounds[one] < costs[one]:
                continue
            entries = t.entries(attribute) if is_whole_table and not t.single[attribute] else NO_ENTRIES
            binned = Binned(
                counts[part], cases[part], borders[:, part], surviving[part], inner[part], statistics[one], entries
            )
            limit = limits[one] if self._needs_all or best == -np.inf else limit_of(best / scale[one])
            left = np.zeros(t.width)
            column = NO_WEIGHTS if t.single[attribute] else t.columns[attribute]
            refine_buffers = refine_buffers_for(binned, refine_buffers)
            score, turn, code, low, high, tries = refine_bins(
                binned, t.codes[attribute], column, self._cases, limit, *rules, left, refine_buffers
            )
            if code < 0:
                continue
            self._cuts[attribute] = histogram, BestThreshold(int(turn), int(code), float(low), float(high), left)
            found[attribute] = self._cut_candidate(attribute, histogram, left, float(score) * float(scale[one]), tries)
            best = max(best, found[attribute].score)
        return found

    def _least_cost(self, borders: Floats, inner: Ints, counts: Floats) -> float:
        """Return a lower bound of the MDL penalty on the number of thresholds: a gain below it is no test.

        At least the admissible borders, and the thresholds in the bins between the first and the last of these, are
        tried.
        """
        tried = np.flatnonzero(borders > -np.inf)
        if len(tried) == 0:
            return 0.0
        tries = len(tried) + int(inner[tried[0] + 1 : tried[-1] + 1].sum())
        return log2(tries) / float(counts[:, 0].sum() if self._t.regression else counts.sum()) * SHORT

    def _thresholds(self, attributes: Ints, histogram: Histogram) -> tuple[Ints, Flags]:
        """Return the number of thresholds inside each bin, and which borders are thresholds; empty where not needed."""
        t = self._t
        opt = t.options[0]
        if not opt["correction"] and opt["gap"] == 0:
            return NO_CASES, NO_FLAGS
        inner = np.zeros(len(histogram.counts), dtype=np.int64)
        gaps = np.ones(len(inner), dtype=bool)
        for attribute in attributes.tolist():
            part = histogram.of(attribute)
            ranked = t.ranked.get(attribute)
            if ranked is not None:
                count_thresholds(
                    ranked.ranks, ranked.numbers, ranked.ends, self._rows, opt["gap"], inner[part], gaps[part]
                )
                continue
            numbers = t.coded[attribute].numbers
            present = np.flatnonzero(self._occurs(part, histogram)[1:])
            if numbers is not None and len(present) > 1:
                gaps[part][present[:-1] + 1] = np.diff(numbers[present]) > opt["gap"]
        return inner, gaps

    def _occurs(self, part: slice, histogram: Histogram) -> Flags:
        """Flag the codes that occur."""
        occurs: Flags = histogram.cases[part] > 0 if len(histogram.cases) else histogram.counts[part].sum(axis=1) > 0
        return occurs

    def _cut_candidate(
        self, attribute: int, histogram: Histogram, left: Floats, score: float, tries: int
    ) -> SplitCandidate:
        t = self._t
        if not self._needs_all:
            return _candidate(attribute, score, 0.0)
        counts = histogram.counts[histogram.of(attribute)]
        right = counts[1:].sum(axis=0) - left
        information = 0.0
        at = slice(0, 1) if t.regression else slice(None)
        unknown = float(counts[0, at].sum())
        if not t.regression:
            information = float(branch_information(np.stack((left, right)), 2, unknown, t.nlogn))
        if t.options["correction"][0]:
            score -= log2(tries) / (float(left[at].sum()) + float(right[at].sum()) + unknown)
            if score <= 0:
                return _candidate(attribute, score, information, SplitStatus.NO_GAIN)
        return _candidate(attribute, score, information)

    def _split(self, attribute: int) -> Split:
        """Return the split of the best threshold of an attribute."""
        t = self._t
        histogram, cutting = self._cuts[attribute]
        part = histogram.of(attribute)
        low, high = cutting.low, cutting.high
        if np.isnan(low):
            later = np.flatnonzero(self._occurs(part, histogram)[cutting.code + 1 :])
            following = cutting.code + 1 + int(later[0]) if len(later) else -1
            numbers = t.coded[attribute].numbers
            if following < 0:
                high = np.inf
            elif numbers is not None:
                low, high = float(numbers[cutting.code - 1]), float(numbers[following - 1])
            else:
                low, high = values_beside(t.codes[attribute], t.columns[attribute], self._rows, cutting.code, following)
        cut = KNOWN if high == np.inf else midpoint(low, high)
        counts = histogram.counts[part]
        learn = t.recipe.missing is MissingPolicy.LEARNED and bool(self._occurs(part, histogram)[0])
        at = slice(0, 1) if t.regression else slice(None)
        left, right = cutting.left[at].sum(), (counts[1:].sum(axis=0) - cutting.left)[at].sum()
        missing_branch = int(cutting.turn == 0) if learn else int(left < right * SHORT)
        return Split.threshold(
            attribute, cut, FRACTIONAL if t.recipe.missing is MissingPolicy.FRACTIONAL else missing_branch
        )


def _scaled(scores: Floats, scale: Floats) -> Floats:
    """Return scores times the shares of known cases; -inf stays, whatever the share."""
    with np.errstate(invalid="ignore"):
        return np.where(scores > -np.inf, scores * scale, -np.inf)


def _candidate(
    attribute: int, score: float, information: float, status: SplitStatus = SplitStatus.CONSIDERED
) -> SplitCandidate:
    """Return a candidate without a frequency table."""
    return SplitCandidate(attribute, status, NO_WEIGHTS, NO_WEIGHTS, None, score, information)
