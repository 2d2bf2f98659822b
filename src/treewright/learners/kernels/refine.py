"""Bin refinement: the exact best threshold of a numeric attribute of a large node.

A candidate threshold lies between two distinct values that are neighbours in the node. `tries` is the number of
thresholds that were compared, for the MDL correction of C4.5. The cases of a surviving bin are a slice of `entries`, in
the order of their values; an entry is negative (sign bit set) where its value equals that of the entry before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from treewright.arrays import (
    AttributeStatistics,
    Classes,
    Codes,
    Counts,
    Entries,
    Flags,
    Integer,
    Logarithms,
    Numbers,
    Options,
    Order,
    Positions,
    Real,
    Rows,
    Scores,
    Sizes,
    Statistics,
    Weights,
)
from treewright.jit import internal, no_alloc_kernel
from treewright.learners.kernels.bounds import (
    LAST,
    LEAST,
    N_CASES,
    STATISTICS_ROWS,
    TURNS,
    bound_from,
    cases_of,
    impurity_of,
    limit_of,
    sum_codes,
    tight_bound,
)
from treewright.learners.kernels.score import VARIANCE, first_tied, score_of_sides, weight_of
from treewright.learners.kernels.sort import SortBuffers, new_sort_buffers, sort_numbers

CASES_PER_STEP = 32
"""Cases of a slice that are skipped together if no threshold among them can be the best."""

CASE = np.int64(0x7FFFFFFF)
"""Mask of the case in an entry."""

NO_ENTRIES = np.zeros(0, dtype=np.int32)


class Cases(NamedTuple):
    """The cases of a node.

    Parameters
    ----------
    rows : array of int
    weights : array
        Empty where each case weighs one.
    target : array of int
        Class of every row of the table.
    deviation : array
        For a numeric target, its deviation from the mean, of every case of the node.
    """

    rows: Rows
    weights: Weights
    target: Classes
    deviation: Numbers


class Binned(NamedTuple):
    """The histogram of an attribute.

    Parameters
    ----------
    counts, cases : array
        As in `bounds.score_borders`.
    borders : array, 2 x codes
        Their scores.
    surviving : array of bool
        The surviving bins.
    inner : array of int
        Number of thresholds inside each bin; empty where `tries` is not needed.
    statistics : array
        See `bounds.N_STATISTICS`.
    entries : array
        Of all cases of the table, where the node has all of them and they are sorted; else empty, and the cases of
        surviving bins are sorted here.
    """

    counts: Counts
    cases: Sizes
    borders: Scores
    surviving: Flags
    inner: Sizes
    statistics: AttributeStatistics
    entries: Entries


class RefineBuffers(NamedTuple):
    """Buffers to sort cases, for statistics, and for the candidates: their scores and positions.

    Parameters
    ----------
    kept, values, order, entries, codes, numbers : array
        By cases; `kept` holds the cases of surviving bins.
    sort : SortBuffers
    statistics : array, `STATISTICS_ROWS` x classes
    classes : array of int
    scores : array
    positions : array of int, 3 x scores
        Turn, code and position.
    passed, passed_weights : array
        Of the cases of a step.
    """

    kept: Rows
    values: Numbers
    order: Order
    entries: Entries
    codes: Codes
    numbers: Numbers
    sort: SortBuffers
    statistics: Counts
    classes: Positions
    scores: Scores
    positions: Positions
    passed: Positions
    passed_weights: Weights


def new_refine_buffers(n: int, found: int, width: int) -> RefineBuffers:
    """Allocate buffers for n cases and `found` candidates."""
    return RefineBuffers(
        np.empty(n, dtype=np.int32),
        np.empty(n),
        np.empty(n, dtype=np.int64),
        np.empty(n, dtype=np.int32),
        np.empty(n, dtype=np.int32),
        np.empty(n + 1),
        new_sort_buffers(n),
        np.empty((STATISTICS_ROWS, width)),
        np.empty(width, dtype=np.int64),
        np.empty(found),
        np.empty((3, found), dtype=np.int64),
        np.empty(CASES_PER_STEP, dtype=np.int64),
        np.empty(CASES_PER_STEP),
    )


@internal
def buffers_needed(binned: Binned) -> tuple[Integer, Integer]:
    """Return the number of cases to sort and of candidates for which `refine_bins` needs buffers."""
    n = np.int64(0)
    for code in range(len(binned.surviving)):
        if binned.surviving[code]:
            n += cases_of(binned.counts, binned.cases, code)
    found = np.int64(binned.statistics[TURNS]) * (n + len(binned.surviving)) + 1
    return n if len(binned.entries) == 0 else np.int64(0), found


@no_alloc_kernel
def refine_bins(
    binned: Binned,
    codes: Codes,
    column: Numbers,
    node: Cases,
    limit: Real,
    opt: Options,
    nlogn: Logarithms,
    left_out: Statistics,
    buffers: RefineBuffers,
) -> tuple[Real, Integer, Integer, Real, Real, Integer]:
    """Find the best threshold of an attribute among its borders and the thresholds in surviving bins.

    Parameters
    ----------
    binned : Binned
    codes, column : array
        Of the attribute, by rows of the table.
    node : Cases
    limit : float
        Lower scores do not matter.
    opt, nlogn : array
    left_out : array
        Output: the statistics of the known cases on the left.
    buffers : RefineBuffers

    Returns
    -------
    score, turn, code, low, high, tries
        The code is -1 if there is no threshold. Where it is a border, low and high are NaN: they are not looked up.
    """
    o = opt[0]
    criterion = o["criterion"]
    counts, cases, statistics = binned.counts, binned.cases, binned.statistics
    width = counts.shape[1]
    whole, start, left = buffers.statistics[0], buffers.statistics[1], buffers.statistics[2]
    right, ahead, scratch = buffers.statistics[3], buffers.statistics[4], buffers.statistics[5:7]
    passed, passed_weights = buffers.passed, buffers.passed_weights
    turns, last = np.int64(statistics[TURNS]), np.int64(statistics[LAST])
    sum_codes(counts, cases, turns == 2, whole)
    n = np.int64(0)
    for code in range(1, last + 1):
        if binned.surviving[code]:
            n += cases_of(counts, cases, code)
    is_whole_table = len(binned.entries) > 0
    entries = binned.entries if is_whole_table else buffers.entries
    if not is_whole_table:
        _sort_surviving(n, binned.surviving, codes, column, node, buffers)
    scores, turn_of, code_of, position_of = (
        buffers.scores,
        buffers.positions[0],
        buffers.positions[1],
        buffers.positions[2],
    )
    found = tries = np.int64(0)
    weight = weight_of(whole, criterion)
    before = impurity_of(whole, whole, criterion, nlogn)
    unit = len(node.weights) == 0
    regression = criterion == VARIANCE
    w = 1.0
    for turn in range(turns):
        cases_left: Integer = np.int64(0)
        if turn == 1:
            cases_left = cases_of(counts, cases, 0)
        for k in range(width):
            start[k] = counts[0, k] if turn == 1 else 0.0
        at = cases_of(counts, cases, 0) if is_whole_table else np.int64(0)
        # Invariant: `start` and `cases_left` describe the codes before `code`, whose entries end at `at`; every
        # candidate that may tie with the best among them is in `scores`.
        for code in range(1, last + 1):
            here = cases_of(counts, cases, code)
            if here == 0:
                continue
            if is_whole_table and not binned.surviving[code]:
                at += here
            if binned.surviving[code]:
                for k in range(width):
                    left[k] = start[k]
                weight_left = weight_of(left, criterion)
                so_far = cases_left
                end = at + here
                # Invariant: `left`, `weight_left` and `so_far` describe the cases before `at`.
                while at < end:
                    until = min(at + CASES_PER_STEP, end)
                    for k in range(width):
                        ahead[k] = 0.0
                    for p in range(at, until):
                        i = np.uint64(entries[p] & CASE)
                        if not unit:
                            w = node.weights[i]
                        item = np.int64(i) if regression else np.int64(node.target[np.uint64(node.rows[i])])
                        passed[p - at], passed_weights[p - at] = item, w
                        _add(ahead, item, w, node, regression)
                    for k in range(width):
                        right[k] = whole[k] - left[k] - ahead[k]
                    after = impurity_of(left, whole, criterion, nlogn) + impurity_of(right, whole, criterion, nlogn)
                    gain = bound_from(before, after, weight, criterion) >= limit
                    if gain:
                        tight = tight_bound(
                            left, ahead, whole, before, weight, criterion, nlogn, scratch, buffers.classes
                        )
                        gain = tight >= limit
                    if not gain and len(binned.inner) == 0:  # `tries` is not needed
                        for p in range(until - at):
                            _add(left, passed[p], passed_weights[p], node, regression)
                            weight_left += passed_weights[p]
                        so_far += until - at
                        at = until
                        continue
                    # Invariant: `left`, `weight_left` and `so_far` describe the cases before p. After p there
                    # is a threshold if the next value differs.
                    for p in range(at, until):
                        w = passed_weights[p - at]
                        _add(left, passed[p - at], w, node, regression)
                        weight_left += w
                        so_far += 1
                        if p + 1 == end:
                            break
                        if entries[p + 1] < 0:
                            continue
                        if o["gap"] > 0:
                            number = _number_of(entries[p], column, node)
                            if not _number_of(entries[p + 1], column, node) - number > o["gap"]:
                                continue
                        if so_far < o["min_leaf"] or statistics[N_CASES] - so_far < o["min_leaf"]:
                            continue
                        if weight_left < statistics[LEAST] or weight - weight_left < statistics[LEAST]:
                            continue
                        tries += 1
                        if not gain:
                            continue
                        for k in range(width):
                            right[k] = whole[k] - left[k]
                        score = score_of_sides(left, right, before, weight, criterion, nlogn)
                        if score >= limit:
                            scores[found] = score
                            turn_of[found], code_of[found], position_of[found] = turn, code, p
                            found += 1
                            limit = max(limit, limit_of(score))
                    at = until
            elif len(binned.inner) > 0:
                # Bins with both admissible and inadmissible thresholds survive, so this one has one kind only.
                low = weight_of(start, criterion)
                high = weight - low - weight_of(counts[code], criterion)
                enough = cases_left >= o["min_leaf"] and statistics[N_CASES] - cases_left - here >= o["min_leaf"]
                if enough and low >= statistics[LEAST] and high >= statistics[LEAST]:
                    tries += binned.inner[code]
            cases_left += here
            for k in range(width):
                start[k] += counts[code, k]
            if binned.borders[turn, code] > -np.inf:
                tries += 1
                if binned.borders[turn, code] >= limit:
                    scores[found] = binned.borders[turn, code]
                    turn_of[found], code_of[found], position_of[found] = turn, code, -1
                    found += 1
                    limit = max(limit, limit_of(binned.borders[turn, code]))
    best = first_tied(scores, found)
    if best < 0:
        return -np.inf, np.int64(0), np.int64(-1), np.nan, np.nan, np.int64(tries)
    best_turn, best_code, position = turn_of[best], code_of[best], position_of[best]
    low = high = np.nan
    for k in range(width):
        left_out[k] = 0.0
    for below in range(1, best_code if position >= 0 else best_code + 1):
        for k in range(width):
            left_out[k] += counts[below, k]
    if position >= 0:
        low, high = _number_of(entries[position], column, node), _number_of(entries[position + 1], column, node)
        first = cases_of(counts, cases, 0) if is_whole_table else np.int64(0)
        for below in range(1, best_code):
            if is_whole_table or binned.surviving[below]:
                first += cases_of(counts, cases, below)
        for p in range(first, position + 1):
            i = np.uint64(entries[p] & CASE)
            item = np.int64(i) if regression else np.int64(node.target[np.uint64(node.rows[i])])
            _add(left_out, item, 1.0 if unit else node.weights[i], node, regression)
    return scores[best], best_turn, best_code, low, high, np.int64(tries)


@internal
def _add(into: Statistics, item: Integer, weight: Real, node: Cases, regression: bool) -> None:
    """Add a case to statistics; `item` is its class, or for a numeric target the case itself."""
    if regression:
        d = node.deviation[np.uint64(item)]
        into[0] += weight
        into[1] += weight * d
        into[2] += weight * d * d
    else:
        into[np.uint64(item)] += weight


@internal
def _number_of(entry: Integer, column: Numbers, node: Cases) -> Real:
    """Return the value of a case."""
    return column[node.rows[entry & CASE]] + 0.0  # no negative zero


@internal
def _sort_surviving(
    n: Integer, surviving: Flags, codes: Codes, column: Numbers, node: Cases, buffers: RefineBuffers
) -> None:
    """Write the sorted entries of the n cases in surviving bins to ``buffers.entries``."""
    kept, entries = buffers.kept, buffers.entries
    at = 0
    # Invariant: `kept[:at]` are the cases before i in surviving bins.
    if n > 0:
        for i in range(len(node.rows)):
            row = np.uint64(node.rows[i])
            if surviving[np.uint64(codes[row])]:
                kept[at] = i
                buffers.values[at] = column[row]
                at += 1
    sort_entries(buffers.values[:n], buffers)
    for p in range(n):
        entries[p] = kept[entries[p] & CASE] | (entries[p] & ~CASE)


def entries_of(column: npt.NDArray[np.float64]) -> npt.NDArray[np.int32]:
    """Return the entries of all cases by a column: a stable sort, missing values first.

    Examples
    --------
    >>> (entries_of(np.array([2.5, np.nan, 1.0, 2.5])) & CASE).tolist()
    [1, 2, 0, 3]
    """
    buffers = new_refine_buffers(len(column), 0, 1)
    sort_entries(column, buffers)
    entries: npt.NDArray[np.int32] = buffers.entries
    return entries


@no_alloc_kernel
def sort_entries(values: Numbers, buffers: RefineBuffers) -> None:
    """Sort values stably, missing ones first, and write the entries."""
    n = len(values)
    order, entries = buffers.order, buffers.entries
    sort_numbers(values, n, np.int64(32), order, buffers.codes, buffers.numbers, buffers.sort)
    for p in range(n):
        same = p > 0 and order[p] >> 32 == order[p - 1] >> 32
        entries[p] = (order[p] & CASE) | (~CASE if same else np.int64(0))
