"""The best threshold of a numeric attribute among few cases: every case is compared with every other, without sorting.

What lies on the left of a threshold is a sum over the cases whose code is not greater, which sixteen lanes compute at
once. The summands are the *accumulator*: weight and weighted deviation of a numeric target, or the weights of the
classes that occur, at most `MOST_CLASSES`, as bit fields of one integer. A missing value has code 0, so the sums hold
the missing cases on the left; for those on the right they are subtracted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treewright.arrays import (
    Classes,
    Codes,
    DoubleBits,
    Integer,
    Options,
    Positions,
    Real,
    Scores,
    Statistics,
    Weights,
    WideCounts,
)
from treewright.intrinsics import LANES, bits_of, number_of, sum_not_above
from treewright.jit import inlined_internal
from treewright.learners.candidates import SHORT
from treewright.learners.criteria import CLEAN, ROUNDING, TIE
from treewright.learners.kernels.options import HIGHEST, MISSING_FRACTIONAL, MISSING_LEARNED
from treewright.learners.kernels.score import ENTROPY, GINI, VARIANCE, impurity, weight_of
from treewright.learners.kernels.workspace import BestTests, Block, Buffers, Rules, add_case

FEW = 64
"""Most cases that are compared with each other."""

MOST_CLASSES = 8
_FIELD = 8
_LARGEST = (1 << _FIELD) - 1
"""Greatest weight of a class in a bit field."""

_NOT_ZERO = 5e-324
"""The least double. A side without weight belongs to no threshold, but its lane is computed with the others."""


class FewCases(NamedTuple):
    """Buffers of a node of few cases; all arrays have as many spare entries as there are lanes.

    Parameters
    ----------
    weights, products, packs : array
        The accumulators of the cases: weight, weight times deviation, and bit-packed class weights.
    left_weights, left_products, left_packs : array
        Their sums on the left of the threshold after each case.
    squares, other_squares : array
        Sums over the classes of the squared weights, or of n log2 n, on the left and on the right.
    fields, classes : array of int
        Bit field of each class, and the class of each field.
    gains : array of int
        Bits of the decrease of the impurity, times the weight, by each threshold, with the missing cases on the right
        and on the left; -1 where there is no threshold.
    """

    weights: Weights
    products: Weights
    packs: WideCounts
    left_weights: Weights
    left_products: Weights
    left_packs: WideCounts
    squares: Scores
    other_squares: Scores
    fields: Positions
    classes: Classes
    gains: DoubleBits


def new_few_cases(width: int) -> FewCases:
    """Allocate the buffers; `width` is at least the number of classes."""
    numbers = np.zeros((6, FEW + LANES))
    packs = np.zeros((2, FEW + LANES), dtype=np.int64)
    return FewCases(
        numbers[0],
        numbers[1],
        packs[0],
        numbers[2],
        numbers[3],
        packs[1],
        numbers[4],
        numbers[5],
        np.zeros(width, dtype=np.int64),
        np.zeros(MOST_CLASSES, dtype=np.int64),
        np.zeros(2 * FEW, dtype=np.int64),
    )


@inlined_internal
def gather_few(stats: Block, size: Integer, summary: Statistics, opt: Options, few: FewCases) -> Integer:
    """Gather the accumulators of the cases of a node; return the number of classes that occur, 1 for a numeric target.

    Returns 0 where the cases are not compared with each other: there are too many, or too many classes, or the options
    ask for more than the sums tell.
    """
    if size > FEW or opt["choice"] != HIGHEST or opt["min_leaf"] > 1 or opt["gap"] > 0:
        return 0
    if opt["correction"] or opt["relative_side"]:
        return 0
    n = np.uint64(size)
    if opt["criterion"] == VARIANCE:
        for p in range(n):
            few.weights[p] = stats.weights[p]
            few.products[p] = stats.weights[p] * stats.deviation[p]
        return 1
    if opt["integer_weights"] == 0 or (opt["criterion"] != GINI and opt["criterion"] != ENTROPY):
        return 0
    n_classes = np.int64(0)
    # Invariant: the classes before k that occur have their fields.
    for k in range(len(summary)):
        if summary[k] > 0:
            if n_classes == MOST_CLASSES or summary[k] > _LARGEST:
                return 0
            few.fields[k] = n_classes
            few.classes[n_classes] = k
            n_classes += 1
    for p in range(n):
        field = few.fields[np.uint64(stats.target[p])]
        few.packs[p] = np.int64(stats.weights[p]) << (_FIELD * field)
    return n_classes


@inlined_internal
def best_of_few(
    a: Integer,
    codes: Codes,
    codes_at: Integer,
    size: Integer,
    weight: Real,
    before: Real,
    limit: Real,
    stats: Block,
    n_classes: Integer,
    rules: Rules,
    few: FewCases,
    buffers: Buffers,
    found: BestTests,
) -> Integer:
    """Write the best threshold of an attribute to `found`; return the number of missing values, -1 if there is no test.

    As `sorted_scan.evaluate_thresholds`, for the cases whose codes begin at `codes_at`.
    """
    opt = rules.opt[0]
    regression = opt["criterion"] == VARIANCE
    zero, begin, n = np.uint64(0), np.uint64(codes_at), np.uint64(size)
    lowest = highest = codes[begin]
    for p in range(n):
        lowest = min(lowest, codes[begin + p])
        highest = max(highest, codes[begin + p])
    if lowest == highest:
        return -1
    for start in range(0, size, LANES):
        own = np.uint64(start)
        if regression:
            sum_not_above(codes, begin, few.weights, zero, own, n, few.left_weights)
            sum_not_above(codes, begin, few.products, zero, own, n, few.left_products)
        else:
            sum_not_above(codes, begin, few.packs, zero, own, n, few.left_packs)
    summary, unknown, known = buffers.summary, buffers.unknown, buffers.known
    width = len(summary)
    n_missing: Integer = np.int64(0)
    whole, whole_weight, whole_before = summary, weight, before
    learn = False
    if lowest == 0:
        n_missing = _sum_missing(codes, begin, n, regression, stats, unknown)
        learn = opt["missing"] == MISSING_LEARNED
        if not learn:
            for k in range(width):
                known[k] = summary[k] - unknown[k]
            if regression and opt["integer_weights"] == 0:
                _sum_known(codes, begin, n, stats, known)
            whole, whole_weight = known, weight_of(known, opt["criterion"])
            whole_before = impurity(known, opt["criterion"], rules.nlogn)
            second_lowest = highest
            for p in range(n):
                second_lowest = min(second_lowest, codes[begin + p] if codes[begin + p] > 0 else highest)
            if second_lowest == highest:
                return -1
    added_up = whole[2] if regression else whole_weight
    rounding = CLEAN * whole_before + ROUNDING * added_up
    least = limit * weight * (1 - 4e-9) - 4 * rounding if limit > -np.inf else -np.inf
    splits = whole, whole_weight, whole_before
    greatest = _decreases(
        codes, begin, n, highest if learn else highest - 1, lowest == 0, splits, n_classes, rules, few, buffers, zero
    )
    if learn:
        on_left = _decreases(codes, begin, n, highest - 1, False, splits, n_classes, rules, few, buffers, n)
        greatest = max(greatest, on_left)
    if greatest < 0 or number_of(greatest) < least:
        return -1
    best = number_of(greatest)
    # Decreases within rounding are zero, and tie.
    tied = bits_of(best * (1 - TIE)) if best > rounding else np.int64(0)
    cut = np.int64(-1)
    index: Integer = np.uint64(0)
    # Invariant: `cut` is the lowest code whose threshold ties with the best. Those with the missing cases on the right
    # come first.
    for p in range(n):
        if few.gains[p] >= tied and (cut < 0 or codes[begin + p] < cut):
            cut, index = np.int64(codes[begin + p]), p
    missing_left = cut < 0
    if missing_left:
        for p in range(n):
            if few.gains[n + p] >= tied and (cut < 0 or codes[begin + p] < cut):
                cut, index = np.int64(codes[begin + p]), n + p
    above = np.int64(highest)
    for p in range(n):
        code = np.int64(codes[begin + p])
        above = min(above, code if code > cut else above)
    gain = number_of(few.gains[index])
    found.score[a] = gain / whole_weight if gain > rounding else 0.0
    found.low[a] = cut
    found.high[a] = above if cut < highest else -1
    if learn:
        found.missing_branch[a] = 0 if missing_left else 1
    elif opt["missing"] == MISSING_FRACTIONAL:
        found.missing_branch[a] = -1
    else:
        left = few.left_weights[index]
        if regression and n_missing > 0:
            left -= unknown[0]
        found.missing_branch[a] = 0 if left >= (whole_weight - left) * SHORT else 1
    return n_missing


@inlined_internal
def _sum_missing(
    codes: Codes, begin: np.uint64, n: np.uint64, regression: bool, stats: Block, unknown: Statistics
) -> Integer:
    """Write the statistics of the cases with a missing value; return their number."""
    for k in range(len(unknown)):
        unknown[k] = 0.0
    n_missing = np.int64(0)
    for p in range(n):
        if codes[begin + p] == 0:
            n_missing += 1
            add_case(unknown, p, stats, regression)
    return n_missing


@inlined_internal
def _sum_known(codes: Codes, begin: np.uint64, n: np.uint64, stats: Block, known: Statistics) -> None:
    """Write the moments of the cases with a value: a difference of sums would keep the rounding of the greater ones."""
    for k in range(len(known)):
        known[k] = 0.0
    for p in range(n):
        if codes[begin + p] > 0:
            add_case(known, p, stats, True)


@inlined_internal
def _decreases(
    codes: Codes,
    begin: np.uint64,
    n: np.uint64,
    last: Integer,
    missing_right: bool,
    splits: tuple[Statistics, Real, Real],
    n_classes: Integer,
    rules: Rules,
    few: FewCases,
    buffers: Buffers,
    into: np.uint64,
) -> Integer:
    """Write the bits of the decrease by the threshold after each case from index `into` on; return the greatest.

    A decrease below zero, which is rounding, becomes zero. There is no threshold after a missing case or a code above
    `last`, nor where a side has too little weight: the bits are -1.
    """
    whole, weight, before = splits
    opt = rules.opt[0]
    criterion = opt["criterion"]
    gains, lefts, unknown = few.gains, few.left_weights, buffers.unknown
    least = opt["least_side"]
    greatest = np.int64(-1)
    # The loops over the cases have no branches, so that they are vectorised.
    if criterion == VARIANCE:
        base = unknown[0] if missing_right else 0.0
        base_product = unknown[1] if missing_right else 0.0
        for p in range(n):
            left, product, code = lefts[p] - base, few.left_products[p] - base_product, codes[begin + p]
            right, rest = weight - left, whole[1] - product
            explained = (product * product * right + rest * rest * left) / max(left * right, _NOT_ZERO)
            gain = bits_of(max(before - max(whole[2] - explained, 0.0), 0.0))
            allowed = (code > 0) & (code <= last) & (left >= least) & (right >= least)
            gains[into + p] = gain if allowed else np.int64(-1)
            greatest = max(greatest, gains[into + p])
        return greatest
    sums, others = few.squares, few.other_squares
    for p in range(n):
        lefts[p] = sums[p] = others[p] = 0.0
    for field in range(n_classes):
        own = np.uint64(few.classes[field])
        shift, total = np.int64(_FIELD) * np.int64(field), whole[own]
        base_count = np.int64(unknown[own]) if missing_right else np.int64(0)
        if criterion == GINI:
            for p in range(n):
                left = np.float64(((few.left_packs[p] >> shift) & _LARGEST) - base_count)
                lefts[p] += left
                sums[p] += left * left
                others[p] += (total - left) * (total - left)
        else:
            for p in range(n):
                count = ((few.left_packs[p] >> shift) & _LARGEST) - base_count
                lefts[p] += np.float64(count)
                sums[p] += rules.nlogn[np.uint64(count)]
                others[p] += rules.nlogn[np.uint64(np.int64(total) - count)]
    for p in range(n):
        left, code = lefts[p], codes[begin + p]
        right = weight - left
        if criterion == GINI:
            after = (left - sums[p] / max(left, _NOT_ZERO)) + (right - others[p] / max(right, _NOT_ZERO))
        else:
            after = (rules.nlogn[np.uint64(left)] - sums[p]) + (rules.nlogn[np.uint64(right)] - others[p])
        allowed = (code > 0) & (code <= last) & (left >= least) & (right >= least)
        gains[into + p] = bits_of(max(before - after, 0.0)) if allowed else np.int64(-1)
        greatest = max(greatest, gains[into + p])
    return greatest
