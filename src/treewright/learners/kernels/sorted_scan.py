"""The best threshold of a numeric attribute at a node of a block: the decisions of `treewright.learners.candidates`.

A candidate threshold lies after the last case of one value and before the first case of the next.
"""

from __future__ import annotations

from math import log2

import numpy as np

from treewright.arrays import Boolean, Integer, Numbers, Order, Real, Rows, Statistics, Thresholds
from treewright.jit import internal
from treewright.learners.candidates import LARGEST_SIDE, SHORT
from treewright.learners.criteria import CLEAN, ROUNDING
from treewright.learners.kernels.options import MISSING_FRACTIONAL, MISSING_LEARNED
from treewright.learners.kernels.random import random_cut
from treewright.learners.kernels.score import (
    CHI_SQUARE,
    ENTROPY,
    GINI,
    QUICK_ERROR,
    VARIANCE,
    decrease,
    first_tied,
    impurity,
    nlogn_of,
    quick_nlogn,
    score_of_sides,
    weight_of,
)
from treewright.learners.kernels.sort import LazySortBuffers, sort_cases
from treewright.learners.kernels.workspace import BestTests, Block, Buffers, Rules, add_case


@internal
def least_relative_side(known: Real, width: Integer, least: Real) -> Real:
    """Return C4.5's minimum weight of each side of a cut, infinite where there are too few cases for any."""
    if known < 2 * least * SHORT:
        return np.inf
    side = 0.1 * known / width
    return (least if side <= least else min(side, LARGEST_SIDE)) * SHORT


@internal
def scan_cuts(
    order: Order,
    start: Integer,
    end: Integer,
    numbers: Numbers,
    block: Block,
    rules: Rules,
    buffers: Buffers,
    cases_left: Integer,
    cases_all: Integer,
    last_too: Boolean,
    side: Real,
    least_decrease: Real,
    filled: Integer,
) -> Integer:
    """Score the candidate thresholds of a sorted slice; return the number of scores.

    Parameters
    ----------
    order, numbers : array
        Of the attribute.
    start, end : int
        Slice of the cases with a known value.
    block, rules, buffers
        ``buffers.left`` holds the statistics of what lies on the left before the first case (the missing ones, or
        nothing), ``buffers.known`` those of all; scores and positions are added.
    cases_left, cases_all : int
        Cases on the left before the first one; all of them.
    last_too : bool
        Whether the position after the last value is a candidate, too, and the gap is ignored.
    side : float
        Least weight of each side.
    least_decrease : float
        Decrease of the impurity, times the weight, that is worth a score.
    filled : int
        Number of scores that are there already.
    """
    opt = rules.opt[0]
    criterion = opt["criterion"]
    left, whole, scores, positions = buffers.left, buffers.known, buffers.scores, buffers.positions
    target, weights, deviation = block.target, block.weights, block.deviation
    width = len(left)
    shift = rules.shift[0]
    mask = (np.int64(1) << shift) - 1
    weight = weight_of(whole, criterion)
    before = 0.0 if criterion == CHI_SQUARE else impurity(whole, criterion, rules.nlogn)
    right = buffers.right
    least = max(opt["least_side"], side)
    # A case changes the sums of squares, or of n log2 n, in its own class only. Integers are added without rounding.
    incremental = criterion == GINI and opt["integer_weights"] == 1 and opt["correction"] == 0
    by_logs = criterion == ENTROPY and opt["integer_weights"] == 0
    by_table = criterion == ENTROPY and opt["integer_weights"] == 1
    by_squares = criterion == VARIANCE
    sums_left = sums_right = 0.0
    bound: Real = least_decrease
    if incremental:
        bound += weight - before
        for k in range(width):
            rest = whole[k] - left[k]
            sums_left += left[k] * left[k]
            sums_right += rest * rest
    if by_table:
        for k in range(width):
            sums_left += nlogn_of(left[k], rules.nlogn)
            sums_right += nlogn_of(whole[k] - left[k], rules.nlogn)
    squares_whole = (weight - before) * weight
    weight_left = weight_of(left, criterion)
    gap, min_leaf = opt["gap"], opt["min_leaf"]
    unit = opt["unit_weights"] == 1
    slack = 2 * (CLEAN * before + ROUNDING * (whole[2] if by_squares else weight))
    if by_logs:
        slack += QUICK_ERROR * weight
    elif by_table:
        slack += 4e-16 * (end - start) * nlogn_of(weight, rules.nlogn)  # each update of the sums is rounded
    w = 1.0
    following = np.int64(order[start]) if start < end else np.int64(0)
    # Invariant: `left`, `weight_left` and `cases_left` describe the cases before `position` (and what was left of
    # `start`); no threshold that scores below `bound` can tie with the best.
    for position in range(start, end):
        packed = following
        case = packed & mask
        if not unit:
            w = weights[case]
        cases_left += 1
        weight_left += w
        if criterion == VARIANCE:
            d = deviation[case]
            left[0] += w
            left[1] += w * d
            left[2] += w * d * d
        else:
            k = target[case]
            if incremental:
                sums_left += w * (2.0 * left[k] + w)
                sums_right -= w * (2.0 * (whole[k] - left[k]) - w)
            elif by_table:
                rest = whole[k] - left[k]
                sums_left += nlogn_of(left[k] + w, rules.nlogn) - nlogn_of(left[k], rules.nlogn)
                sums_right += nlogn_of(rest - w, rules.nlogn) - nlogn_of(rest, rules.nlogn)
            left[k] += w
        if position + 1 < end:
            following = np.int64(order[position + 1])
            code, next_code = packed >> shift, following >> shift
            if next_code == code or (gap > 0 and not last_too and not numbers[next_code] - numbers[code] > gap):
                continue
        elif not last_too:
            continue
        if cases_left < min_leaf or cases_all - cases_left < min_leaf:
            continue
        weight_right = weight - weight_left
        if weight_left < least or weight_right < least:
            continue
        if incremental:
            # Most thresholds are rejected by multiplications only; the divisions are done for the rest.
            if sums_left * weight_right + sums_right * weight_left < bound * (weight_left * weight_right):
                continue
            after = (weight_left - (sums_left / weight_left if weight_left > 0 else 0.0)) + (
                weight_right - (sums_right / weight_right if weight_right > 0 else 0.0)
            )
            scores[filled] = decrease(before, after, weight, weight)
            rise = (weight - after) - squares_whole / weight
            bound = max(bound, (weight - after) - 3e-9 * abs(rise) - 4 * CLEAN * weight)
        else:
            for k in range(width):
                right[k] = whole[k] - left[k]
            most = np.inf  # what the decrease times the weight can be at most
            if by_squares:
                # The sums of squares about both means, without a division unless they can be the best.
                both = weight_left * weight_right
                explained = left[1] * left[1] * weight_right + right[1] * right[1] * weight_left
                if explained < (bound - slack - (before - whole[2])) * both:
                    continue
            elif by_logs:
                most = before - _quick_entropy(left, right, weight_left, weight_right) + slack
            elif by_table:
                of_sides = nlogn_of(weight_left, rules.nlogn) + nlogn_of(weight_right, rules.nlogn)
                most = before - (of_sides - sums_left - sums_right) + slack
            if most < bound:
                scores[filled] = -np.inf  # C4.5 counts the thresholds that were tried
            else:
                scores[filled] = score_of_sides(left, right, before, weight, criterion, rules.nlogn)
                bound = max(bound, scores[filled] * weight * (1 - 4e-9))
        positions[filled] = position
        buffers.lefts[filled] = weight_left
        filled += 1
    return filled


@internal
def _quick_entropy(left: Statistics, right: Statistics, weight_left: Real, weight_right: Real) -> Real:
    """Return the entropy of two branches times their weight, up to `QUICK_ERROR` of it."""
    total = quick_nlogn(weight_left) + quick_nlogn(weight_right)
    for k in range(len(left)):
        total -= quick_nlogn(left[k]) + quick_nlogn(right[k])
    return total


@internal
def evaluate_thresholds(
    a: Integer,
    first: Integer,
    size: Integer,
    key: np.uint64,
    block: Block,
    rules: Rules,
    buffers: Buffers,
    found: BestTests,
    cuts: Thresholds | None,
    visits: Rows,
    limit: Real,
    lazy_sort: LazySortBuffers | None,
) -> Integer:
    """Write the best threshold of an attribute to `found`; return the number of missing values, -1 if there is no test.

    There is none where no score can tie with `limit`, that of another attribute. ``buffers.unknown`` becomes the
    statistics of the missing cases; the first of ``buffers.rows`` become the weights of both sides.
    """
    opt = rules.opt[0]
    criterion = opt["criterion"]
    regression = criterion == VARIANCE
    slot = rules.slots[a]
    numbers = rules.numbers[slot]
    shift = rules.shift[0]
    mask = (np.int64(1) << shift) - 1
    if lazy_sort is not None:
        order = lazy_sort.entries
        sort_cases(block.codes[a], visits, first, size, shift, order, lazy_sort.counts, lazy_sort.spare)
    else:
        order = block.order[slot]
    unknown, known, left, rows, summary = buffers.unknown, buffers.known, buffers.left, buffers.rows, buffers.summary
    width = len(summary)
    for k in range(width):
        unknown[k] = 0.0
        left[k] = 0.0
    n_missing = nothing = np.int64(0)
    # Missing values have code 0, so they come first. Invariant: `unknown` holds the first `n_missing` cases.
    while n_missing < size and np.int64(order[first + n_missing]) >> shift == 0:
        add_case(unknown, np.int64(order[first + n_missing]) & mask, block, regression)
        n_missing += 1
    begin, end = first + n_missing, first + size
    if begin == end:
        return -1
    learn = opt["missing"] == MISSING_LEARNED and n_missing > 0
    if np.int64(order[begin]) >> shift == np.int64(order[end - 1]) >> shift and not learn:
        return -1
    for k in range(width):
        known[k] = summary[k] - unknown[k]
    if n_missing > 0 and not opt["integer_weights"]:
        # A difference of sums would keep the rounding of the greater ones.
        for k in range(width):
            known[k] = 0.0
        for p in range(begin, end):
            add_case(known, np.int64(order[p]) & mask, block, regression)
    known_weight = weight_of(known, criterion)
    least = -np.inf
    if limit > -np.inf:
        # Without the missing cases the score is multiplied by the share of the known ones afterwards.
        all_known = impurity(known, criterion, rules.nlogn) if not learn else impurity(summary, criterion, rules.nlogn)
        rounding = CLEAN * all_known + ROUNDING * (summary[2] if regression else weight_of(summary, criterion))
        least = limit * weight_of(summary, criterion) * (1 - 4e-9) - 4 * rounding
    missing_left = False
    tries = 0
    if cuts is not None:
        at = random_threshold(a, order, begin, end, key, n_missing, block, rules, buffers, cuts)
        if at < 0:
            return -1
        missing_left = at >= end
        at = at - (end - begin) if missing_left else at
        best = 0
        found.score[a] = buffers.scores[0]
        tries = 1
    else:
        if learn:
            for k in range(width):
                known[k] = summary[k]
            first_part = scan_cuts(
                order, begin, end, numbers, block, rules, buffers, nothing, size, learn, -np.inf, least, nothing
            )
            for k in range(width):
                left[k] = unknown[k]
            tries = scan_cuts(
                order, begin, end, numbers, block, rules, buffers, n_missing, size, learn, -np.inf, least, first_part
            )
            if tries > first_part and buffers.positions[tries - 1] == end - 1:
                tries -= 1  # all cases are on one side
            best = first_tied(buffers.scores, tries)
            missing_left = best >= first_part
        else:
            side = -np.inf
            if opt["relative_side"]:
                side = least_relative_side(known_weight, width, opt["min_branch"])
            tries = scan_cuts(
                order,
                begin,
                end,
                numbers,
                block,
                rules,
                buffers,
                nothing,
                size - n_missing,
                learn,
                side,
                least,
                nothing,
            )
            best = first_tied(buffers.scores, tries)
        if best < 0:
            return -1
        at = buffers.positions[best]
        found.score[a] = buffers.scores[best]
    found.low[a] = np.int64(order[at]) >> shift
    found.high[a] = np.int64(order[at + 1]) >> shift if at + 1 < end else -1
    if learn:
        found.missing_branch[a] = 0 if missing_left else 1
        return n_missing
    found.missing_branch[a] = -1
    for k in range(1, width):
        rows[0, k] = rows[1, k] = 0.0
    rows[0, 0] = buffers.lefts[best]
    rows[1, 0] = known_weight - buffers.lefts[best]
    if opt["missing"] != MISSING_FRACTIONAL:
        found.missing_branch[a] = 0 if rows[0, 0] >= rows[1, 0] * SHORT else 1
    if opt["correction"]:
        weight = weight_of(summary, criterion)
        found.score[a] = found.score[a] * (known_weight / weight) - log2(tries) / weight
    return n_missing


@internal
def random_threshold(
    a: Integer,
    order: Order,
    begin: Integer,
    end: Integer,
    key: np.uint64,
    n_missing: Integer,
    block: Block,
    rules: Rules,
    buffers: Buffers,
    cuts: Thresholds,
) -> Integer:
    """Sample a random threshold between the least and the greatest value; return its position, -1 if not admissible.

    Where the branch of missing values is learned, the threshold is tried with them on the right and on the left, and
    known against missing; with them on the left the position is increased by the number of known cases.
    """
    opt = rules.opt[0]
    criterion = opt["criterion"]
    regression = criterion == VARIANCE
    shift = rules.shift[0]
    mask = (np.int64(1) << shift) - 1
    numbers = rules.numbers[rules.slots[a]]
    lowest, highest = np.int64(order[begin]) >> shift, np.int64(order[end - 1]) >> shift
    learn = opt["missing"] == MISSING_LEARNED and n_missing > 0
    at = begin - 1
    if lowest < highest:
        cuts[a] = random_cut(key, a, numbers[lowest], numbers[highest])
        while numbers[np.int64(order[at + 1]) >> shift] <= cuts[a]:
            at += 1
    whole, left = buffers.known, buffers.left
    width = len(left)
    right = buffers.right
    for k in range(width):
        left[k] = 0.0
        if learn:
            whole[k] += buffers.unknown[k]
    for p in range(begin, at + 1):
        add_case(left, np.int64(order[p]) & mask, block, regression)
    side = -np.inf
    if not learn:
        if not numbers[np.int64(order[at + 1]) >> shift] - numbers[np.int64(order[at]) >> shift] > opt["gap"]:
            return -1
        if opt["relative_side"]:
            side = least_relative_side(weight_of(whole, criterion), width, opt["min_branch"])
    known_cases = end - begin
    cases_all = known_cases + n_missing if learn else known_cases
    weight = weight_of(whole, criterion)
    before = 0.0 if criterion == CHI_SQUARE else impurity(whole, criterion, rules.nlogn)
    found_scores = np.int64(0)
    # Variants: missing values on the right; known against missing; missing values on the left.
    # Invariant: the admissible variants before `variant` have their scores.
    for variant in range(3 if learn else 1):
        cases_left = at + 1 - begin
        if variant == 1:
            cases_left = known_cases
            for k in range(width):
                left[k] = whole[k] - buffers.unknown[k]
        elif variant == 2:
            cases_left = at + 1 - begin + n_missing
            for k in range(width):
                left[k] = buffers.unknown[k]
            for p in range(begin, at + 1):
                add_case(left, np.int64(order[p]) & mask, block, regression)
        if variant != 1 and at < begin:
            continue
        if cases_left < opt["min_leaf"] or cases_all - cases_left < opt["min_leaf"]:
            continue
        weight_left = weight_of(left, criterion)
        least = max(opt["least_side"], side)
        if weight_left < least or weight - weight_left < least:
            continue
        for k in range(width):
            right[k] = whole[k] - left[k]
        buffers.scores[found_scores] = score_of_sides(left, right, before, weight, criterion, rules.nlogn)
        buffers.lefts[found_scores] = weight_left
        buffers.positions[found_scores] = end - 1 if variant == 1 else at if variant == 0 else at + known_cases
        found_scores += 1
    best = first_tied(buffers.scores, found_scores)
    if best < 0:
        return -1
    buffers.scores[0] = buffers.scores[best]
    buffers.lefts[0] = buffers.lefts[best]
    return buffers.positions[best]
