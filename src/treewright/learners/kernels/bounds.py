"""Scores of bin borders in a histogram, and upper bounds on the scores of thresholds inside a bin.

Thresholds of numeric attributes of a large node from its histogram: scores of the borders, upper bounds of the bins. A
border is the threshold between two bins; its score needs only the histogram. The upper bound of a bin is at least the
score of any threshold inside it. Impurity times weight never decreases when cases are added, so no threshold leaves
less than the impurity of the cases on both sides of the bin: that bound comes with the borders. Where it is too loose,
a tighter one is computed. The scores are convex in the class counts, so over all ways to distribute the cases of a bin
to two sides the maximum is at a corner: some classes entirely on the left, the others on the right. For a numeric
target, weight and sum of what goes to the left lie in an ellipse, and the corners are those of an octagon around it.
(The idea to search few intervals only is that of Alsabti, Ranka and Singh 1998.)

A surviving bin is one whose bound reaches the best known score; only its cases are sorted. Where the branch of missing
values is learned, every threshold is tried twice (a turn): first with them on the right, then on the left. An attribute
is `single` if its codes stand for one value each: it has no thresholds inside bins.

Where the recipe needs it, the candidate thresholds inside each bin are counted.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from treewright.arrays import (
    Attributes,
    AttributeStatistics,
    Bytes,
    Codes,
    Counts,
    Flags,
    Integer,
    Logarithms,
    Numbers,
    Options,
    Positions,
    Ranks,
    Real,
    Rows,
    Scores,
    Sizes,
    Starts,
    Statistics,
    Words,
)
from treewright.jit import internal, no_alloc_kernel
from treewright.learners.kernels.options import MISSING_LEARNED
from treewright.learners.kernels.score import (
    CHI_SQUARE,
    GINI,
    VARIANCE,
    decrease,
    impurity,
    score_of_sides,
    weight_of,
)
from treewright.learners.kernels.sorted_scan import least_relative_side

CORNERS = 6
"""Up to this many classes in a bin, all corners are tried."""

TIE_FACTOR = 1 - 4e-9
"""A bound below this share of the best score cannot tie with it."""

BOUND_ROUNDING = 1e-13
"""Share of the impurity by which rounding may lower a bound."""

BEST, UPPER_BOUND, SCALE, LEAST, TURNS, LAST, N_CASES = 0, 1, 2, 3, 4, 5, 6
"""Statistics of an attribute: best score of a border; upper bound of any threshold; share of known cases, by which
scores are multiplied; least weight of a side; turns; last code that occurs; number of cases that are split."""

N_STATISTICS = 7

STATISTICS_ROWS = 8
"""Rows of the buffer of statistics that the kernels work with."""

OCTAGON = (
    (0.0, 0.2071067811865476), (0.0, -0.2071067811865476), (1.0, 0.2071067811865476), (1.0, -0.2071067811865476),
    (0.2928932188134524, 0.5), (0.2928932188134524, -0.5), (0.7071067811865476, 0.5), (0.7071067811865476, -0.5),
)  # fmt: skip
"""Corners around the circle of all shares t of a bin's weight and distances u from the mean, |u| <= sqrt(t (1 - t))."""


@no_alloc_kernel
def limit_of(best: Real) -> Real:
    """Return the score below which nothing ties with the best one."""
    return best * TIE_FACTOR if best > 0 else best - 1e-12


@internal
def cases_of(counts: Counts, cases: Sizes, code: Integer) -> Integer:
    """Return the number of cases of a code; where `cases` is empty every case weighs one."""
    if len(cases) > 0:
        return cases[code]
    total = 0.0
    for k in range(counts.shape[1]):
        total += counts[code, k]
    return np.int64(total)


@internal
def impurity_of(statistics: Statistics, whole: Statistics, criterion: Integer, nlogn: Logarithms) -> Real:
    """Return the impurity times the weight; for chi-square the Gini impurity with classes weighted by 1 / frequency.

    Pearson's statistic of two branches is the decrease of this impurity times the number of cases.
    """
    if criterion != CHI_SQUARE:
        return impurity(statistics, criterion, nlogn)
    n = weight_of(statistics, criterion)
    total = 0.0
    for k in range(len(statistics)):
        if statistics[k] > 0:
            total += statistics[k] / whole[k] * (1.0 - statistics[k] / n)
    return total


@internal
def bound_from(before: Real, after: Real, weight: Real, criterion: Integer) -> Real:
    """Return the score of an impurity decrease, increased by the rounding error."""
    if criterion == CHI_SQUARE:
        return (before - after + BOUND_ROUNDING * before) * weight
    return (before - after + BOUND_ROUNDING * (before + (0.0 if criterion == VARIANCE else weight))) / weight


@internal
def sum_codes(counts: Counts, cases: Sizes, learn: bool, whole: Statistics) -> tuple[Integer, Integer]:
    """Sum all codes into `whole`, missing values only if their branch is learned.

    Returns the number of cases and the last code that has some.
    """
    n = np.int64(0)
    last = np.int64(0)
    for k in range(len(whole)):
        whole[k] = 0.0
    # Invariant: `n`, `last` and `whole` describe the codes before `code`.
    for code in range(0 if learn else 1, counts.shape[0]):
        here = cases_of(counts, cases, code)
        n += here
        if here > 0:
            last = np.int64(code)
        for k in range(len(whole)):
            whole[k] += counts[code, k]
    return n, last


@no_alloc_kernel
def score_borders(
    counts: Counts,
    cases: Sizes,
    starts: Starts,
    attributes: Attributes,
    gaps: Flags,
    opt: Options,
    nlogn: Logarithms,
    borders: Scores,
    bounds: Scores,
    statistics: AttributeStatistics,
    buffers: Counts,
) -> None:
    """Score the borders of attributes and bound their bins.

    Parameters
    ----------
    counts, cases : array
        Statistics and numbers of cases of every code of every attribute, the missing ones first; no numbers of cases
        where each weighs one.
    starts, attributes : array of int
        First row of each attribute in `counts`; attributes to score.
    gaps : array of bool
        Whether the gap between the values beside each border is wide enough; empty where there is no minimum gap.
    opt, nlogn : array
    borders, bounds : array, turns x rows of `counts`
        Output; -inf where a border is not admissible or a bin has no threshold inside.
    statistics : array, attributes x `N_STATISTICS`
        Output.
    buffers : array, `STATISTICS_ROWS` x classes
        Scratch space.
    """
    o = opt[0]
    criterion = o["criterion"]
    width = counts.shape[1]
    whole, left, right = buffers[0], buffers[1], buffers[2]
    for one in range(len(attributes)):
        first, end = starts[attributes[one]], starts[attributes[one] + 1]
        own, own_cases = counts[first:end], cases[first:end]
        attribute_statistics = statistics[one]
        n_missing = cases_of(own, own_cases, 0)
        learn = o["missing"] == MISSING_LEARNED and n_missing > 0
        all_cases, last = sum_codes(own, own_cases, learn, whole)
        weight = weight_of(whole, criterion)
        before = impurity_of(whole, whole, criterion, nlogn)
        attribute_statistics[SCALE] = 1.0
        if o["missing"] != MISSING_LEARNED and n_missing > 0:
            unknown = weight_of(own[0], criterion)
            attribute_statistics[SCALE] = weight / (weight + unknown)
        attribute_statistics[LEAST] = o["least_side"]
        if o["relative_side"] and not learn:
            attribute_statistics[LEAST] = max(
                attribute_statistics[LEAST], least_relative_side(weight, width, o["min_branch"])
            )
        attribute_statistics[TURNS], attribute_statistics[LAST], attribute_statistics[N_CASES] = (
            2 if learn else 1,
            last,
            all_cases,
        )
        attribute_statistics[BEST] = attribute_statistics[UPPER_BOUND] = -np.inf
        for turn in range(2 if learn else 1):
            cases_left = n_missing if turn == 1 else np.int64(0)
            for k in range(width):
                left[k] = own[0, k] if turn == 1 else 0.0
            below = impurity_of(left, whole, criterion, nlogn)
            # Invariant: `left` and `below` are the statistics of the codes before `code` and their impurity.
            for code in range(1, last + 1):
                here = cases_of(own, own_cases, code)
                if here == 0:
                    continue
                cases_left += here
                weight_left = 0.0
                for k in range(width):
                    left[k] += own[code, k]
                    right[k] = whole[k] - left[k]
                above = impurity_of(right, whole, criterion, nlogn)
                if here > 1:
                    bound = bound_from(before, below + above, weight, criterion)
                    bounds[turn, first + code] = bound
                    attribute_statistics[UPPER_BOUND] = max(attribute_statistics[UPPER_BOUND], bound)
                below = impurity_of(left, whole, criterion, nlogn)
                if code == last and (turn == 1 or not learn):
                    break
                if len(gaps) > 0 and not gaps[first + code]:
                    continue
                if cases_left < o["min_leaf"] or all_cases - cases_left < o["min_leaf"]:
                    continue
                weight_left = weight_of(left, criterion)
                if (
                    weight_left < attribute_statistics[LEAST]
                    or weight_of(right, criterion) < attribute_statistics[LEAST]
                ):
                    continue
                if criterion == CHI_SQUARE:
                    score = score_of_sides(left, right, before, weight, criterion, nlogn)
                else:
                    added_up = whole[2] if criterion == VARIANCE else weight
                    score = decrease(before, below + above, weight, added_up)
                borders[turn, first + code] = score
                attribute_statistics[BEST] = max(attribute_statistics[BEST], score)


@no_alloc_kernel
def find_surviving_bins(
    counts: Counts,
    cases: Sizes,
    starts: Starts,
    attributes: Attributes,
    single: Flags,
    limits: Scores,
    opt: Options,
    nlogn: Logarithms,
    bounds: Scores,
    statistics: AttributeStatistics,
    surviving: Flags,
    buffers: Counts,
    classes: Positions,
) -> None:
    """Flag the surviving bins, by a tighter bound.

    Parameters
    ----------
    counts, cases, starts, attributes, opt, nlogn, bounds, statistics : array
        As in `score_borders`; the upper bound of an attribute becomes that of its surviving bins and its borders.
    single : array of bool
        Of every attribute.
    limits : array
        Least score that matters, for each attribute.
    surviving : array of bool
        Output, by rows of `counts`.
    buffers, classes : array
        Scratch space, as above, and one integer for each class.
    """
    o = opt[0]
    criterion = o["criterion"]
    width = counts.shape[1]
    whole, left, corners = buffers[0], buffers[1], buffers[2:4]
    for one in range(len(attributes)):
        a = attributes[one]
        attribute_statistics = statistics[one]
        upper_bound = attribute_statistics[UPPER_BOUND]
        attribute_statistics[UPPER_BOUND] = attribute_statistics[BEST]
        if single[a] or (upper_bound < limits[one] and not o["correction"]):
            continue
        first, end = starts[a], starts[a + 1]
        own, own_cases = counts[first:end], cases[first:end]
        learn = attribute_statistics[TURNS] == 2
        all_cases, last = sum_codes(own, own_cases, learn, whole)
        weight = weight_of(whole, criterion)
        before = impurity_of(whole, whole, criterion, nlogn)
        for turn in range(2 if learn else 1):
            cases_left = np.int64(0)
            for k in range(width):
                left[k] = own[0, k] if turn == 1 else 0.0
            # Invariant: `left` and `cases_left` describe the codes before `code`; their surviving bins are flagged.
            for code in range(1, last + 1):
                here = cases_of(own, own_cases, code)
                bound = bounds[turn, first + code]
                if here > 1 and bound >= limits[one]:
                    tight = tight_bound(left, own[code], whole, before, weight, criterion, nlogn, corners, classes)
                    bound = min(bound, tight)
                    if bound >= limits[one]:
                        surviving[first + code] = True
                        attribute_statistics[UPPER_BOUND] = max(attribute_statistics[UPPER_BOUND], bound)
                if here > 1 and o["correction"] and not surviving[first + code]:
                    # Where only some thresholds of a bin are admissible they must be counted one by one.
                    low = weight_of(left, criterion)
                    high = low + weight_of(own[code], criterion)
                    all_fit = (
                        low >= attribute_statistics[LEAST]
                        and weight - high >= attribute_statistics[LEAST]
                        and cases_left >= o["min_leaf"]
                        and all_cases - cases_left - here >= o["min_leaf"]
                    )
                    none_fits = (
                        high < attribute_statistics[LEAST]
                        or weight - low < attribute_statistics[LEAST]
                        or cases_left + here < o["min_leaf"]
                        or all_cases - cases_left < o["min_leaf"]
                    )
                    surviving[first + code] = not all_fit and not none_fits
                cases_left += here
                for k in range(width):
                    left[k] += own[code, k]


@internal
def tight_bound(
    left: Statistics,
    in_bin: Statistics,
    whole: Statistics,
    before: Real,
    weight: Real,
    criterion: Integer,
    nlogn: Logarithms,
    buffers: Counts,
    classes: Positions,
) -> Real:
    """Return an upper bound of the scores inside a bin, by the corners; infinite where there are too many.

    Parameters
    ----------
    left, in_bin, whole : array
        Statistics of the cases left of the bin, in the bin, and of all cases.
    before, weight : float
        Impurity and weight of all.
    buffers, classes : array
        Scratch space.
    """
    if criterion == VARIANCE:
        return _octagon_bound(left, in_bin, whole, before, weight)
    width = len(left)
    n = 0
    for k in range(width):
        if in_bin[k] > 0:
            classes[n] = k
            n += 1
    if n > CORNERS:
        return np.inf
    if criterion == GINI:
        return _gini_bound(left, in_bin, whole, before, weight, n)
    best = -np.inf
    corner, right = buffers[0], buffers[1]
    # Invariant: `best` is the greatest bound of the corners before `choice`.
    for choice in range(1 << n):
        for k in range(width):
            corner[k] = left[k]
        for j in range(n):
            if choice >> j & 1:
                corner[classes[j]] += in_bin[classes[j]]
        for k in range(width):
            right[k] = whole[k] - corner[k]
        after = impurity_of(corner, whole, criterion, nlogn) + impurity_of(right, whole, criterion, nlogn)
        best = max(best, bound_from(before, after, weight, criterion))
    return best


@internal
def _gini_bound(
    left: Statistics, in_bin: Statistics, whole: Statistics, before: Real, weight: Real, n: Integer
) -> Real:
    """Return the same bound for the Gini impurity, all sums of a corner in one loop; n classes are in the bin."""
    most = 0.0
    # The bits of `choice` are the classes of the bin on the left. Invariant: `most` is the greatest sum of squares over
    # weight of the corners before `choice`.
    for choice in range(1 << n):
        weight_left = weight_right = squares_left = squares_right = 0.0
        j = 0
        for k in range(len(left)):
            on_left = left[k]
            if in_bin[k] > 0:
                on_left += in_bin[k] if choice >> j & 1 else 0.0
                j += 1
            on_right = whole[k] - on_left
            weight_left += on_left
            weight_right += on_right
            squares_left += on_left * on_left
            squares_right += on_right * on_right
        kept = (squares_left / weight_left if weight_left > 0 else 0.0) + (
            squares_right / weight_right if weight_right > 0 else 0.0
        )
        most = max(most, kept)
    return bound_from(before, weight - most, weight, GINI)


@internal
def _octagon_bound(left: Statistics, in_bin: Statistics, whole: Statistics, before: Real, weight: Real) -> Real:
    """Return the bound for a numeric target; infinite at the ends, where the octagon gives no bound."""
    low, high = left[0], whole[0] - left[0] - in_bin[0]
    if low <= 0 or high <= 0 or in_bin[0] <= 0:
        return np.inf
    mean = in_bin[1] / in_bin[0]
    deviation = sqrt(max(in_bin[2] / in_bin[0] - mean * mean, 0.0))
    explained = 0.0
    # Invariant: `explained` is the greatest explained sum of squares of the corners so far.
    for share, offset in OCTAGON:
        added_weight = in_bin[0] * share
        added_sum = in_bin[0] * (mean * share + deviation * offset)
        sum_left, sum_right = left[1] + added_sum, whole[1] - left[1] - added_sum
        explained = max(
            explained,
            sum_left * sum_left / (low + added_weight) + sum_right * sum_right / (high + in_bin[0] - added_weight),
        )
    return bound_from(before, whole[2] - explained, weight, VARIANCE)


@no_alloc_kernel
def values_beside(codes: Codes, column: Numbers, rows: Rows, code: Integer, following: Integer) -> tuple[Real, Real]:
    """Return the greatest value of one bin and the least of another, among the cases of a node."""
    low, high = -np.inf, np.inf
    # Invariant: `low` and `high` are those of the cases before i.
    for i in range(len(rows)):
        row = rows[i]
        if codes[row] == code:
            low = max(low, column[row] + 0.0)
        elif codes[row] == following:
            high = min(high, column[row] + 0.0)
    return low, high


@no_alloc_kernel
def count_thresholds(
    ranks: Ranks,
    numbers: Numbers,
    ends: Starts,
    rows: Rows,
    gap: Real,
    inner: Sizes,
    gaps: Flags,
    words: Words,
    seen: Bytes,
) -> None:
    """Count the candidate thresholds inside each bin of an attribute, and flag the borders that are candidates.

    Parameters
    ----------
    ranks : array of int
        Rank of the value of every row of the table; -1 where missing.
    numbers : array
        Value of each rank.
    ends : array of int
        One more than the last rank of each code.
    rows : array of int
        Cases of the node.
    gap : float
        Minimum difference between neighbouring values.
    inner, gaps : array, by codes
        Output.
    words, seen : array
        Scratch space: at least eight bytes more than there are ranks, and the same memory as words of eight bytes. They
        hold zeros before and after.
    """
    for i in range(len(rows)):
        rank = ranks[rows[i]]
        if rank >= 0:
            seen[rank] = 1
    code = 1
    before = np.int64(-1)
    code_before = 0
    for k in range(len(inner)):
        inner[k] = 0
        gaps[k] = True
    # Invariant: ranks below 8 * word are counted; `before` is the greatest of them that occurs, in bin `code_before`.
    for word in range(len(numbers) // 8 + 1):
        if words[word] == 0:
            continue
        for rank in range(8 * word, 8 * word + 8):
            if seen[rank] == 0:
                continue
            seen[rank] = 0
            while rank >= ends[code]:
                code += 1
            if before >= 0:
                far = numbers[rank] - numbers[before] > gap
                if code == code_before:
                    inner[code] += far
                else:
                    gaps[code_before] = far
            before = np.int64(rank)
            code_before = code
