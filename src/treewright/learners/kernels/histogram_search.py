"""The histogram of a large node, and the search for its best test: one kernel from the cases of a node to its test.

Thresholds of numeric attributes are scored by the kernels of `bounds` and, inside bins, of `refine`; tests of
categories by those of `categorical`, from the histogram. Where the highest score wins, attributes are refined in the
order of their upper bounds, until the bound is below the best score. Where the choice rule needs the score of every
attribute (C4.5 compares with their average), each is found exactly.

The kernel allocates nothing and knows nothing of threads: where it needs larger buffers, the sorted cases of a column,
or a count that several threads share, it returns a status, and continues with the next call.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log2
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from treewright.arrays import (
    Attributes,
    AttributeStatistics,
    Branches,
    Bytes,
    Classes,
    Codes,
    Counts,
    Entries,
    Flags,
    Integer,
    Integers,
    NodeDoubles,
    NodeIntegers,
    Numbers,
    Options,
    Ranks,
    Real,
    Rows,
    Scores,
    Sides,
    Sizes,
    Starts,
    Statistics,
    Thresholds,
    Weights,
    Words,
)
from treewright.counting.numba import (
    CodedColumn,
    count_cases,
    count_classes,
    count_numbers,
    partition_rows,
    route_rows,
    sum_class_weights,
)
from treewright.intrinsics import addresses_of, array_at
from treewright.jit import internal, no_alloc_kernel, part_of_kernel
from treewright.learners.candidates import SHORT
from treewright.learners.kernels.bounds import (
    BEST,
    N_STATISTICS,
    SCALE,
    UPPER_BOUND,
    cases_of,
    count_thresholds,
    find_surviving_bins,
    limit_of,
    score_borders,
    values_beside,
)
from treewright.learners.kernels.categorical import evaluate_counted
from treewright.learners.kernels.node_loop import choose, insertion_sort, stop_after, stop_of, write_test
from treewright.learners.kernels.options import (
    CUT,
    HIGHEST,
    MISSING_FRACTIONAL,
    MISSING_LEARNED,
    MULTIWAY,
    NOT_TESTED,
)
from treewright.learners.kernels.random import shuffle
from treewright.learners.kernels.refine import (
    Binned,
    Cases,
    RefineBuffers,
    buffers_needed,
    refine_bins,
)
from treewright.learners.kernels.score import VARIANCE, branch_information, weight_of
from treewright.learners.kernels.workspace import (
    ATTRIBUTE,
    BRANCHES,
    COUNTS_AT,
    HIGH,
    LOW,
    MEAN,
    MISSING,
    OUTCOME,
    SSE,
    STOP,
    WEIGHT,
    BestTests,
    Buffers,
    CategoryBuffers,
    Rules,
    new_best_tests,
    new_buffers,
)

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

NO_WEIGHTS: Floats = np.zeros(0)
NO_CASES: Ints = np.zeros(0, dtype=np.int64)

SUM_BLOCK = 128
"""Up to this many numbers are added by eight running sums, as in NumPy."""


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


class EncodedTable(NamedTuple):
    """The encoded table for kernels. Columns and ranks are given by their addresses, see `EncodedTable.of`.

    Parameters
    ----------
    codes : array, attributes x rows
    starts : array of int
        First bin of each attribute in a histogram.
    single : array of bool
        Attributes whose codes stand for one value each.
    values : array, by bins
        That value, of a numeric attribute.
    columns : array of int, attributes x 2
        Address of the column of a binned attribute, and the distance of its values in doubles.
    ranked : array of int, attributes x 3
        Addresses of ranks and of their numbers, and how many these are, see `Ranked`; zeros where not needed.
    ends : array of int, by bins
    target, numbers : array
        Classes or numbers to predict (one of the two is used).
    """

    codes: Codes
    starts: Starts
    single: Flags
    values: Numbers
    columns: Integers
    ranked: Integers
    ends: Starts
    target: Classes
    numbers: Numbers

    @classmethod
    def of(
        cls,
        codes: Codes,
        coded: tuple[CodedColumn, ...],
        columns: tuple[npt.NDArray[Any], ...],
        ranked: dict[int, Ranked],
        target: npt.NDArray[Any],
        *,
        regression: bool,
    ) -> tuple[EncodedTable, list[Any]]:
        """Return the table, and the arrays whose addresses it holds: they must live as long as it is used."""
        starts = np.concatenate(([0], np.cumsum([column.n_codes for column in coded]))).astype(np.int64)
        values, ends = np.full(int(starts[-1]), np.nan), np.zeros(int(starts[-1]), dtype=np.int64)
        where, of_ranks = np.ones((len(coded), 2), dtype=np.int64), np.zeros((len(coded), 3), dtype=np.int64)
        where[:, 0] = codes.ctypes.data  # of attributes without a column, which is never read
        binned = [a for a, column in enumerate(coded) if column.is_binned]
        where[binned], kept = addresses_of(columns[a] for a in binned)
        for a, column in enumerate(coded):
            if column.numbers is not None:
                values[int(starts[a]) + 1 : int(starts[a + 1])] = column.numbers
            if a in ranked:
                ranks = ranked[a]
                of_ranks[a] = ranks.ranks.ctypes.data, ranks.numbers.ctypes.data, len(ranks.numbers)
                ends[int(starts[a]) : int(starts[a + 1])] = ranks.ends
        single = np.array([not column.is_binned for column in coded], dtype=bool)
        classes = np.zeros(1, dtype=np.int32) if regression else target
        numbers = np.ascontiguousarray(target, dtype=np.float64) if regression else NO_WEIGHTS
        return cls(codes, starts, single, values, where, of_ranks, ends, classes, numbers), [*kept, *ranked.values()]


class NodeCases(NamedTuple):
    """The cases of a node; no weights where each weighs one."""

    rows: Rows
    weights: Weights


class Histogram(NamedTuple):
    """The histogram of a node.

    Parameters
    ----------
    counts : array, bins x statistics
    cases : array of int
        Numbers of cases, empty where each case weighs one.
    """

    counts: Counts
    cases: Sizes


class NodeRecord(NamedTuple):
    """A node: integers and doubles as in a fragment, the values beside a threshold, the branches of categories.

    ``integers[LOW]`` is the last code on the left of a threshold; ``integers[HIGH]`` is 1 where the next value has the
    same code, else 0.
    """

    integers: NodeIntegers
    doubles: NodeDoubles
    edges: Thresholds
    sides: Sides


def new_record(width: int, most_values: int, outcome: int, mean: float) -> NodeRecord:
    """Return a leaf with the outcome of its parent, which an empty node keeps."""
    record = NodeRecord(
        np.full(9, -1, dtype=np.int32),
        np.zeros(COUNTS_AT + width),
        np.full(2, np.nan),
        np.empty(most_values, dtype=np.int8),
    )
    record.integers[OUTCOME], record.integers[BRANCHES], record.doubles[MEAN] = outcome, 0, mean
    return record


class SumStack(NamedTuple):
    """Slices that are not added up yet, and the sums of those that are: a stack replaces recursion."""

    pending: Integers
    totals: Statistics


class Route(NamedTuple):
    """Where the cases of a node go.

    Parameters
    ----------
    branch_of : array of int
        Branch of each code of the chosen attribute, -1 where a case becomes fractional.
    sizes, sums : array
        Numbers and weights of the branches; the last entry is for cases without a branch.
    stack : SumStack
    """

    branch_of: Branches
    sizes: Sizes
    sums: Weights
    stack: SumStack


class SearchBuffers(NamedTuple):
    """Buffers for the search of one node at a time.

    Parameters
    ----------
    found : BestTests
    node : Buffers
    deviation : array, by cases
        Of the numbers to predict from their mean.
    borders, bounds : array, 2 x bins
    statistics : array, attributes x `bounds.N_STATISTICS`
    surviving, gaps, inner : array, by bins
        See `bounds`; the last two are empty where thresholds need not be counted.
    limits, costs : array, by attributes
        Least score that matters, and least MDL penalty.
    edges : array, attributes x 2
        Values beside the best threshold of each attribute.
    part, cuts : array of int
        Attributes that are counted together, and the numeric ones among them.
    best : array of one float
        The best score so far.
    words, seen : array
        See `bounds.count_thresholds`.
    route : Route
    """

    found: BestTests
    node: Buffers
    deviation: Numbers
    borders: Scores
    bounds: Scores
    statistics: AttributeStatistics
    surviving: Flags
    gaps: Flags
    inner: Sizes
    limits: Scores
    costs: Scores
    edges: Thresholds
    part: Attributes
    cuts: Attributes
    best: Scores
    words: Words
    seen: Bytes
    route: Route


def new_search_buffers(table: EncodedTable, rules: Rules, most_values: int, width: int) -> SearchBuffers:
    """Allocate buffers."""
    n_attributes, n_bins = len(rules.tests), int(table.starts[-1])
    opt = rules.opt[0]
    thresholds = n_bins if opt["correction"] or opt["gap"] > 0 else 0
    words = np.zeros(int(table.ranked[:, 2].max(initial=0)) // 8 + 1, dtype=np.uint64)
    codes = int(np.diff(table.starts).max(initial=1))
    return SearchBuffers(
        new_best_tests(n_attributes, most_values),
        new_buffers(0, n_attributes, most_values, width),
        np.empty(0),
        np.empty((2, n_bins)),
        np.empty((2, n_bins)),
        np.empty((n_attributes, N_STATISTICS)),
        np.empty(n_bins, dtype=np.bool_),
        np.empty(thresholds, dtype=np.bool_),
        np.empty(thresholds, dtype=np.int64),
        np.empty(n_attributes),
        np.empty(n_attributes),
        np.empty((n_attributes, 2)),
        np.empty(n_attributes, dtype=np.int64),
        np.empty(n_attributes, dtype=np.int64),
        np.empty(1),
        words,
        words.view(np.uint8),
        Route(
            np.empty(codes, dtype=np.int32),
            np.empty(most_values + 1, dtype=np.int64),
            np.empty(most_values + 1),
            SumStack(np.empty(128, dtype=np.int64), np.empty(64)),
        ),
    )


# State of a search that survives a return. The first five are input.
DEPTH, IN_BLOCK, COUNTED, KNOWN_CASES, SHARED, STAGE, N_FREE, FROM, UNTIL, N_CUTS, ASKED, SORTED, FOUND, COPIES = range(
    14
)
N_STATE = 14

BEGIN, COUNT, REFINE = 0, 1, 2
FINISHED, COUNT_PART, MORE_BUFFERS, MORE_ENTRIES = 0, 1, 2, 3


@no_alloc_kernel
def search_node(
    table: EncodedTable,
    rules: Rules,
    node: NodeCases,
    key: np.uint64,
    used: Flags,
    histogram: Histogram,
    entries: Entries,
    buffers: SearchBuffers,
    refine_buffers: RefineBuffers,
    by_value: CategoryBuffers | None,
    state: Integers,
    record: NodeRecord,
) -> Integer:
    """Find the best test of a node and write it, or the reason to stop.

    Returns
    -------
    status : int
        `FINISHED`: then ``state[COPIES]`` is the number of cases that the split adds, as some become fractional.
        `COUNT_PART`: the first ``state[UNTIL]`` attributes of ``buffers.part`` are to be counted.
        `MORE_BUFFERS`: for `SORTED` cases and `FOUND` candidates. `MORE_ENTRIES`: those of attribute `ASKED`.
    """
    opt = rules.opt[0]
    free, order = buffers.node.turn[0], buffers.node.turn[1]
    found, part = buffers.found, buffers.part
    if state[STAGE] == BEGIN:
        pure = summarise_node(table, node, opt, buffers, record)
        n_free = np.int64(0)
        n_used = 0
        for a in range(len(used)):
            n_used += used[a]
            if not used[a] and rules.tests[a] != NOT_TESTED:
                free[n_free] = a
                n_free += 1
            found.state[a] = -1
        weight = record.doubles[WEIGHT]
        record.integers[STOP] = stop_of(len(node.rows), pure, state[DEPTH], weight, len(used) - n_used, opt)
        if record.integers[STOP] >= 0 or state[IN_BLOCK]:
            return FINISHED
        sampled = n_free
        if 0 < opt["n_sampled"] < n_free:
            shuffle(key, order, n_free)
            sampled = opt["n_sampled"]
            insertion_sort(order, sampled)
        else:
            for index in range(n_free):
                order[index] = index
        state[N_FREE], state[FROM], state[UNTIL], state[STAGE] = n_free, 0, sampled, COUNT
    # Invariant: the attributes before `FROM` in the order have their best tests in `found`; none of them may be chosen.
    while True:
        n_part = state[UNTIL] - state[FROM]
        if state[STAGE] == COUNT:
            for index in range(n_part):
                part[index] = free[order[state[FROM] + index]]
            if not state[COUNTED]:
                if state[SHARED]:
                    return COUNT_PART
                count_part(table, node, buffers.deviation, part[:n_part], state[KNOWN_CASES] == 1, histogram)
            state[N_CUTS] = evaluate_part(n_part, table, rules, histogram, buffers, by_value)
            bound_cuts(state[N_CUTS], table, rules, node, histogram, buffers, refine_buffers)
            state[STAGE] = REFINE
        status = refine_cuts(table, rules, node, histogram, entries, buffers, refine_buffers, state)
        if status != FINISHED:
            return status
        considered = False
        for index in range(n_part):
            considered = considered or found.state[part[index]] == 1
        if considered or state[UNTIL] >= state[N_FREE]:
            break
        state[FROM], state[UNTIL], state[STAGE] = state[UNTIL], state[UNTIL] + 1, COUNT
    ints = record.integers
    a = choose(found, rules, free, state[N_FREE], buffers.node.scores)
    ints[STOP] = stop_after(a, record.doubles[WEIGHT], found, opt)
    if ints[STOP] < 0:
        branches = rules.n_values[a] if rules.tests[a] == MULTIWAY else 2
        write_test(ints, a, branches, found, rules, record.sides, 0)
        if rules.tests[a] == CUT:
            write_edges(a, table, node, histogram, buffers, record.edges)
        state[COPIES] = write_route(a, table, rules, histogram, record, buffers.route.branch_of)
    return FINISHED


@internal
def pairwise_sum(numbers: Numbers, stack: SumStack) -> Real:
    """Return the sum, added in the order in which NumPy adds, to the last bit: a half, and the other half to it."""
    pending, totals = stack
    pending[0] = len(numbers)
    waiting, n_totals, first = 1, 0, 0
    # Invariant: the totals of the slices before `first` wait to be added; `pending` lists lengths of slices, and for
    # an addition -1.
    while waiting > 0:
        waiting -= 1
        n = pending[waiting]
        if n < 0:
            n_totals -= 1
            totals[n_totals - 1] += totals[n_totals]
        elif n <= SUM_BLOCK:
            totals[n_totals] = _block_sum(numbers, first, n)
            n_totals += 1
            first += n
        else:
            half = n // 2
            half -= half % 8
            pending[waiting] = -1
            pending[waiting + 1] = n - half
            pending[waiting + 2] = half
            waiting += 3
    return totals[0]


@internal
def _block_sum(numbers: Numbers, first: Integer, n: Integer) -> Real:
    """Return the sum of a short slice, by eight running sums."""
    eights = n - n % 8
    total = 0.0
    if n >= 8:
        a, b, c, d = numbers[first], numbers[first + 1], numbers[first + 2], numbers[first + 3]
        e, f, g, h = numbers[first + 4], numbers[first + 5], numbers[first + 6], numbers[first + 7]
        for i in range(first + 8, first + eights, 8):
            a += numbers[i]
            b += numbers[i + 1]
            c += numbers[i + 2]
            d += numbers[i + 3]
            e += numbers[i + 4]
            f += numbers[i + 5]
            g += numbers[i + 6]
            h += numbers[i + 7]
        total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for i in range(first + eights, first + n):
        total += numbers[i]
    return total


@internal
def summarise_node(
    table: EncodedTable, node: NodeCases, opt: Options, buffers: SearchBuffers, record: NodeRecord
) -> bool:
    """Write statistics, weight and outcome of a node, and the deviations of its cases; return True if it is pure."""
    rows, weights, reals = node.rows, node.weights, record.doubles
    n = len(rows)
    if n == 0:
        return False
    counts = reals[COUNTS_AT:]
    if len(table.numbers) == 0:
        sum_class_weights(rows, table.target, weights, counts)
        return write_outcome(record, buffers.route.stack)
    deviation = buffers.deviation
    unit = len(weights) == 0
    lowest = highest = table.numbers[rows[0]]
    for i in range(n):
        number = table.numbers[rows[i]]
        lowest, highest = min(lowest, number), max(highest, number)
        deviation[i] = number if unit else weights[i] * number
    weight = np.float64(n) if unit else pairwise_sum(weights, buffers.route.stack)
    mean = lowest
    if lowest < highest:
        mean = pairwise_sum(deviation[:n], buffers.route.stack) / weight
        for i in range(n):
            off = table.numbers[rows[i]] - mean
            deviation[i] = off if unit else weights[i] * off
        mean += pairwise_sum(deviation[:n], buffers.route.stack) / weight  # corrects the rounding of the mean
        for i in range(n):
            off = table.numbers[rows[i]] - mean
            deviation[i] = off * off if unit else weights[i] * (off * off)
        reals[SSE] = pairwise_sum(deviation[:n], buffers.route.stack)
        for i in range(n):
            deviation[i] = table.numbers[rows[i]] - mean
    reals[WEIGHT], reals[MEAN] = weight, mean
    counts[0], counts[2] = weight, reals[SSE]
    return bool(lowest == highest)


@no_alloc_kernel
def write_outcome(record: NodeRecord, stack: SumStack) -> bool:
    """Write weight and outcome of a node with cases by its class weights; return True if it is pure."""
    counts = record.doubles[COUNTS_AT:]
    record.doubles[WEIGHT] = pairwise_sum(counts, stack)
    greatest = counts[0]
    occurring = 0
    for k in range(len(counts)):
        greatest = max(greatest, counts[k])
        occurring += counts[k] != 0
    outcome = 0
    while counts[outcome] < greatest * (1 - 1e-12):
        outcome += 1
    record.integers[OUTCOME] = outcome
    return occurring <= 1


@no_alloc_kernel
def count_part(
    table: EncodedTable,
    node: NodeCases,
    deviation: Numbers,
    attributes: Attributes,
    known_cases: bool,
    histogram: Histogram,
) -> None:
    """Count attributes at a node; with `known_cases` the numbers of cases are in the histogram already."""
    counts, cases, starts = histogram.counts, histogram.cases, table.starts
    counts_cases = len(cases) > 0 and not known_cases
    for index in range(len(attributes)):
        for code in range(starts[attributes[index]], starts[attributes[index] + 1]):
            for k in range(counts.shape[1]):
                counts[code, k] = 0.0
            if counts_cases:
                cases[code] = 0
    if len(table.numbers) == 0:
        count_classes(table.codes, node.rows, table.target, node.weights, attributes, starts, counts)
    else:
        count_numbers(table.codes, node.rows, deviation, node.weights, attributes, starts, counts)
    if counts_cases:
        count_cases(table.codes, node.rows, attributes, starts, cases)


@no_alloc_kernel
def subtract_part(table: EncodedTable, histogram: Histogram, counted: Histogram, attributes: Attributes) -> None:
    """Subtract the counts of attributes from a histogram."""
    for index in range(len(attributes)):
        for code in range(table.starts[attributes[index]], table.starts[attributes[index] + 1]):
            for k in range(histogram.counts.shape[1]):
                histogram.counts[code, k] -= counted.counts[code, k]
            if len(histogram.cases) > 0:
                histogram.cases[code] -= counted.cases[code]


@internal
def evaluate_part(
    n_part: Integer,
    table: EncodedTable,
    rules: Rules,
    histogram: Histogram,
    buffers: SearchBuffers,
    by_value: CategoryBuffers | None,
) -> Integer:
    """Find the best tests of the nominal attributes; list the numeric ones, ascending, and return their number."""
    opt = rules.opt[0]
    criterion = opt["criterion"]
    found, rows = buffers.found, buffers.node.rows
    counts, all_cases, starts = histogram.counts, histogram.cases, table.starts
    n_cuts = np.int64(0)
    buffers.best[0] = -np.inf
    for index in range(n_part):
        a = buffers.part[index]
        if rules.tests[a] == CUT:
            buffers.cuts[n_cuts] = a
            n_cuts += 1
        elif by_value is not None:
            n_values = rules.n_values[a]
            for code in range(n_values + 1):
                at = starts[a] + code
                row = code - 1 if code > 0 else n_values
                by_value.cases[row] = cases_of(counts, all_cases, at)
                for k in range(counts.shape[1]):
                    rows[row, k] = counts[at, k]
            n_missing = evaluate_counted(a, rules, buffers.node, found, by_value)
            if n_missing < 0:
                continue
            branches = n_values if rules.tests[a] == MULTIWAY else 2
            unknown = 0.0
            if n_missing > 0:
                unknown = weight_of(buffers.node.unknown, criterion)
                if opt["missing"] != MISSING_LEARNED:
                    known = 0.0
                    for branch in range(branches):
                        known += weight_of(rows[branch], criterion)
                    found.score[a] *= known / (known + unknown)
            if opt["choice"] != HIGHEST:
                found.info[a] = branch_information(rows, branches, unknown, rules.nlogn)
            found.state[a] = 1
            buffers.best[0] = max(buffers.best[0], found.score[a])
    insertion_sort(buffers.cuts, n_cuts)
    return n_cuts


@internal
def scaled(score: Real, scale: Real) -> Real:
    """Return a score times the share of known cases; -inf stays, whatever the share."""
    return score * scale if score > -np.inf else -np.inf


@internal
def needs_all(opt: Options) -> bool:
    """Return True if the best threshold of every attribute must be found, not only that of the best attribute."""
    return bool(opt["choice"] != HIGHEST or opt["correction"] == 1)


@part_of_kernel
def bound_cuts(
    n_cuts: Integer,
    table: EncodedTable,
    rules: Rules,
    node: NodeCases,
    histogram: Histogram,
    buffers: SearchBuffers,
    refine_buffers: RefineBuffers,
) -> None:
    """Score the borders of numeric attributes and flag the bins that may hold a better threshold."""
    if n_cuts == 0:
        return
    opt, cuts = rules.opt[0], buffers.cuts[:n_cuts]
    counts, cases, starts = histogram.counts, histogram.cases, table.starts
    inner, gaps, borders, statistics = buffers.inner, buffers.gaps, buffers.borders, buffers.statistics
    for one in range(n_cuts):
        a = cuts[one]
        first, end = starts[a], starts[a + 1]
        for code in range(first, end):
            buffers.surviving[code] = False
            for turn in range(2):
                borders[turn, code] = buffers.bounds[turn, code] = -np.inf
        if len(gaps) > 0:
            find_thresholds(a, table, rules, node, histogram, buffers)
    rule, nlogn, scratch = rules.opt, rules.nlogn, refine_buffers.statistics
    score_borders(counts, cases, starts, cuts, gaps, rule, nlogn, borders, buffers.bounds, statistics, scratch)
    best = buffers.best[0]
    for one in range(n_cuts):
        best = max(best, scaled(statistics[one, BEST], statistics[one, SCALE]))
    for one in range(n_cuts):
        first, end, scale = starts[cuts[one]], starts[cuts[one] + 1], statistics[one, SCALE]
        aim = statistics[one, BEST] if needs_all(opt) else (best / scale if scale > 0 else np.inf)
        buffers.limits[one] = limit_of(aim)
        buffers.costs[one] = -np.inf
        if opt["correction"]:
            weight = 0.0
            for code in range(first, end):
                weight += weight_of(counts[code], opt["criterion"])
            buffers.costs[one] = least_cost(borders[0, first:end], inner[first:end], weight)
            limit = buffers.costs[one] / (scale if scale > 0 else 1.0)
            buffers.limits[one] = max(buffers.limits[one], limit)
    find_surviving_bins(
        counts,
        cases,
        starts,
        cuts,
        table.single,
        buffers.limits,
        rule,
        nlogn,
        buffers.bounds,
        statistics,
        buffers.surviving,
        scratch,
        refine_buffers.classes,
    )
    buffers.best[0] = best


@part_of_kernel
def find_thresholds(
    a: Integer, table: EncodedTable, rules: Rules, node: NodeCases, histogram: Histogram, buffers: SearchBuffers
) -> None:
    """Write the number of thresholds inside each bin of an attribute, and which borders are thresholds."""
    gap = rules.opt[0]["gap"]
    first, end = table.starts[a], table.starts[a + 1]
    inner, gaps = buffers.inner[first:end], buffers.gaps[first:end]
    if not table.single[a]:
        n = table.ranked[a, 2]
        ranks = array_at(table.ranked[a, 0], table.codes.shape[1], 1, node.rows)
        numbers = array_at(table.ranked[a, 1], n, 1, table.values)
        ends = table.ends[first:end]
        count_thresholds(ranks, numbers, ends, node.rows, gap, inner, gaps, buffers.words, buffers.seen)
        return
    before = 0
    for code in range(end - first):
        inner[code] = 0
        gaps[code] = True
        if code > 0 and cases_of(histogram.counts, histogram.cases, first + code) > 0:
            if before > 0:
                gaps[before] = table.values[first + code] - table.values[first + before] > gap
            before = code


@internal
def least_cost(borders: Scores, inner: Sizes, weight: Real) -> Real:
    """Return a lower bound of the MDL penalty on the number of thresholds: a gain below it is no test.

    At least the admissible borders, and the thresholds in the bins between the first and the last of these, are tried.
    """
    tries = between = np.int64(0)
    # Invariant: `tries` counts up to the last admissible border before `code`, `between` what is inside bins after it.
    for code in range(len(borders)):
        if tries > 0:
            between += inner[code]
        if borders[code] > -np.inf:
            tries += 1 + between
            between = np.int64(0)
    return log2(np.float64(tries)) / weight * SHORT if tries > 0 else 0.0


@part_of_kernel
def refine_cuts(
    table: EncodedTable,
    rules: Rules,
    node: NodeCases,
    histogram: Histogram,
    entries: Entries,
    buffers: SearchBuffers,
    refine_buffers: RefineBuffers,
    state: Integers,
) -> Integer:
    """Find the best thresholds of the numeric attributes; return the status of `search_node`.

    Unless each must be found, those that cannot reach the best score are left out.
    """
    opt, every = rules.opt[0], needs_all(rules.opt[0])
    statistics, found, best = buffers.statistics, buffers.found, buffers.best
    cases = Cases(node.rows, node.weights, table.target, buffers.deviation)
    is_whole_table = len(node.rows) == table.codes.shape[1]
    nothing = refine_buffers.entries[:0]
    while True:
        one = -1
        bound = -np.inf
        for other in range(state[N_CUTS]):
            upper = scaled(statistics[other, UPPER_BOUND], statistics[other, SCALE])
            if upper > bound:
                one, bound = other, upper
        if one < 0 or (not every and bound < limit_of(best[0])):
            return FINISHED
        a, scale = buffers.cuts[one], statistics[one, SCALE]
        if bound >= buffers.costs[one]:
            part = slice(table.starts[a], table.starts[a + 1])
            has_order = is_whole_table and not table.single[a]
            if has_order and state[ASKED] != a:
                state[ASKED] = a
                return MORE_ENTRIES
            binned = Binned(
                histogram.counts[part],
                histogram.cases[part],
                buffers.borders[:, part],
                buffers.surviving[part],
                buffers.inner[part],
                statistics[one],
                entries if has_order else nothing,
            )
            n, candidates = buffers_needed(binned)
            if n > len(refine_buffers.kept) or candidates > len(refine_buffers.scores):
                state[SORTED], state[FOUND] = n, candidates
                return MORE_BUFFERS
            limit = buffers.limits[one] if every or best[0] == -np.inf else limit_of(best[0] / scale)
            left = buffers.node.left
            score, turn, code, low, high, tries = refine_bins(
                binned,
                table.codes[a],
                array_at(table.columns[a, 0], table.codes.shape[1], table.columns[a, 1], table.values),
                cases,
                limit,
                rules.opt,
                rules.nlogn,
                left,
                refine_buffers,
            )
            if code >= 0:
                found.score[a], found.low[a], found.high[a] = score * scale, code, not np.isnan(low)
                buffers.edges[a, 0], buffers.edges[a, 1] = low, high
                rate_threshold(a, turn, tries, opt, rules, binned, left, buffers)
                best[0] = max(best[0], found.score[a])
        statistics[one, UPPER_BOUND] = -np.inf


@part_of_kernel
def rate_threshold(
    a: Integer,
    turn: Integer,
    tries: Integer,
    opt: Options,
    rules: Rules,
    binned: Binned,
    left: Statistics,
    buffers: SearchBuffers,
) -> None:
    """Write state, information and default branch of the best threshold of an attribute, and correct its score."""
    found, rows, criterion = buffers.found, buffers.node.rows, opt["criterion"]
    for k in range(len(left)):
        known = 0.0
        for code in range(1, len(binned.counts)):
            known += binned.counts[code, k]
        rows[0, k] = left[k]
        rows[1, k] = known - left[k]
    below, above = weight_of(rows[0], criterion), weight_of(rows[1], criterion)
    unknown = weight_of(binned.counts[0], criterion)
    if criterion != VARIANCE and opt["choice"] != HIGHEST:
        found.info[a] = branch_information(rows, 2, unknown, rules.nlogn)
    if opt["correction"]:
        found.score[a] -= log2(np.float64(tries)) / (below + above + unknown)
    found.state[a] = 0 if opt["correction"] and found.score[a] <= 0 else 1
    found.missing_branch[a] = -1
    if opt["missing"] == MISSING_LEARNED and cases_of(binned.counts, binned.cases, 0) > 0:
        found.missing_branch[a] = turn == 0
    elif opt["missing"] != MISSING_FRACTIONAL:
        found.missing_branch[a] = below < above * SHORT


@part_of_kernel
def write_edges(
    a: Integer,
    table: EncodedTable,
    node: NodeCases,
    histogram: Histogram,
    buffers: SearchBuffers,
    edges: Thresholds,
) -> None:
    """Write the values on both sides of the chosen threshold; the higher one is infinite beside missing values only."""
    edges[0], edges[1] = buffers.edges[a, 0], buffers.edges[a, 1]
    if buffers.found.high[a]:
        return
    first, end = table.starts[a], table.starts[a + 1]
    code = buffers.found.low[a]
    following = code + 1
    while first + following < end and cases_of(histogram.counts, histogram.cases, first + following) == 0:
        following += 1
    if first + following == end:
        edges[1] = np.inf
    elif table.single[a]:
        edges[0], edges[1] = table.values[first + code], table.values[first + following]
    else:
        edges[0], edges[1] = values_beside(
            table.codes[a],
            array_at(table.columns[a, 0], table.codes.shape[1], table.columns[a, 1], table.values),
            node.rows,
            code,
            following,
        )


@part_of_kernel
def write_route(
    a: Integer, table: EncodedTable, rules: Rules, histogram: Histogram, record: NodeRecord, branch_of: Branches
) -> Integer:
    """Write the branch of each code, -1 where a case becomes fractional; return the number of copies that are added."""
    ints, first, end = record.integers, table.starts[a], table.starts[a + 1]
    n_missing = cases_of(histogram.counts, histogram.cases, first)
    occurring = np.int64(2)
    if rules.tests[a] == MULTIWAY:
        occurring = np.int64(0)
        for code in range(first + 1, end):
            occurring += np.int64(cases_of(histogram.counts, histogram.cases, code) > 0)
    branch_of[0] = ints[MISSING]
    for code in range(1, end - first):
        if rules.tests[a] == CUT:
            branch_of[code] = code > ints[LOW]
        elif rules.tests[a] == MULTIWAY:
            branch_of[code] = code - 1
        else:
            branch_of[code] = record.sides[code - 1] if record.sides[code - 1] >= 0 else ints[MISSING]
    return n_missing * (occurring - 1) if ints[MISSING] < 0 else np.int64(0)


@no_alloc_kernel
def partition_node(
    codes: Codes,
    columns: Integers,
    node: NodeCases,
    integers: NodeIntegers,
    threshold: Real,
    route: Route,
    target: Classes,
    branches: Branches,
    starts: Starts,
    new: NodeCases,
    counts: Counts,
) -> None:
    """Partition the cases of a node by its test.

    Parameters
    ----------
    codes, columns, target : array
        Of the table.
    node : NodeCases
    integers, threshold
        The test; see `NodeRecord`.
    route : Route
    branches : array
        Output: the branch of each case.
    starts : array of int
        Output: the first case of each branch, and the end of the last one.
    new : NodeCases
        Output: the cases of all branches.
    counts : array, branches x classes
        Zeros, to which the class weights of the branches are added; then nothing is written to `new`. Empty if the
        branches are open or there are fractional cases.
    """
    a, n_branches = np.int64(integers[ATTRIBUTE]), np.int64(integers[BRANCHES])
    column = array_at(columns[a, 0], codes.shape[1], columns[a, 1], route.sums)
    inside = np.int64(integers[LOW] if integers[HIGH] == 1 else -1)
    sizes, sums = route.sizes[: n_branches + 1], route.sums[: n_branches + 1]
    for branch in range(n_branches + 1):
        sizes[branch] = 0
        sums[branch] = 0.0
    inside_bin = inside, threshold
    route_rows(codes[a], column, node.rows, node.weights, route.branch_of, inside_bin, branches, sizes, sums)
    n_missing = sizes[n_branches]
    starts[0] = 0
    for branch in range(n_branches):
        starts[branch + 1] = starts[branch] + (sizes[branch] + n_missing if sizes[branch] > 0 else 0)
    if len(counts) > 0:
        unit = len(node.weights) == 0
        for i in range(len(branches)):
            counts[branches[i], np.uint64(target[node.rows[i]])] += 1.0 if unit else node.weights[i]
        return
    if n_missing > 0:
        total = pairwise_sum(sums[:n_branches], route.stack)
        for branch in range(n_branches):
            sums[branch] /= total
    # Each start advances to the end of its branch, which is the start of the next one.
    partition_rows(node.rows, node.weights, branches, sizes, sums, starts, new.rows, new.weights)
    for branch in range(n_branches, 0, -1):
        starts[branch] = starts[branch - 1]
    starts[0] = 0
