"""The best threshold of a numeric attribute at a node of a block: the decisions of `treewright.learners.candidates`.

A candidate threshold lies after the last case of one value and before the first case of the next.
"""

from __future__ import annotations

from math import log2

import numpy as np

from treewright.arrays import Boolean, Integer, Logarithms, Numbers, Order, Real, Statistics, Thresholds
from treewright.intrinsics import bits_of, number_of
from treewright.jit import inlined_internal, internal
from treewright.learners.candidates import LARGEST_SIDE, SHORT
from treewright.learners.criteria import CLEAN, ROUNDING
from treewright.learners.kernels.options import HIGHEST, MISSING_FRACTIONAL, MISSING_LEARNED
from treewright.learners.kernels.random import random_cut
from treewright.learners.kernels.sampled_order import ENTRY_SHIFT, SampledOrder, sort_node
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
from treewright.learners.kernels.workspace import BestTests, Block, Buffers, Rules, add_case


@internal
def least_relative_side(known: Real, width: Integer, least: Real) -> Real:
    """Return C4.5's minimum weight of each side of a cut, infinite where there are too few cases for any."""
    if known < 2 * least * SHORT:
        return np.inf
    side = 0.1 * known / width
    return (least if side <= least else min(side, LARGEST_SIDE)) * SHORT


@inlined_internal
def scan_cuts(
    order: Order,
    start: Integer,
    end: Integer,
    shift: Integer,
    numbers: Numbers,
    stats: Block,
    whole: Statistics,
    weight: Real,
    before: Real,
    rules: Rules,
    buffers: Buffers,
    cases_left: Integer,
    cases_all: Integer,
    last_too: Boolean,
    gap: Real,
    side: Real,
    least_decrease: Real,
    filled: Integer,
) -> tuple[Integer, Integer]:
    """Score the thresholds of a sorted slice that may be the best; return the number of scores and of all thresholds.

    The statistics on the left of each admissible threshold are collected first. From these follow the decreases of the
    impurity up to rounding, without a branch; only thresholds that may tie with the best are scored exactly.

    Parameters
    ----------
    order, shift, numbers : array, int, array
        Of the attribute.
    start, end : int
        Slice of the cases with a known value.
    stats : Block
        Of the cases in `order`.
    whole, weight, before : array, float, float
        Statistics of all cases that are split, their weight, and their impurity times the weight.
    rules, buffers
        ``buffers.left`` holds the statistics of what lies on the left before the first case (the missing ones, or
        nothing); scores, positions and weights on the left are added.
    cases_left, cases_all : int
        Cases on the left before the first one; all of them.
    last_too : bool
        Whether the position after the last value is a candidate, too.
    gap : float
        Greatest difference of two values without a threshold between them.
    side : float
        Least weight of each side.
    least_decrease : float
        Decrease of the impurity, times the weight, that is worth a score.
    filled : int
        Number of scores that are there already.
    """
    opt = rules.opt[0]
    criterion = opt["criterion"]
    left, right = buffers.left, buffers.right
    width = len(left)
    squares = criterion == GINI and opt["integer_weights"] == 1
    moments = criterion == VARIANCE
    from_counts = not squares and not moments
    if from_counts:
        for k in range(width):
            buffers.before[k] = left[k]
    n = collect_thresholds(
        order,
        start,
        end,
        shift,
        numbers,
        stats,
        whole,
        weight,
        rules,
        buffers,
        cases_left,
        cases_all,
        last_too,
        gap,
        max(opt["least_side"], side),
        filled,
    )
    if n == 0:
        return filled, n
    limit = np.int64(0)
    if criterion == CHI_SQUARE:
        for index in range(filled, filled + n):
            buffers.gains[index] = 0
    else:
        # Invariant: a decrease, times the weight, is between the quick one and that less twice the slack.
        slack = 2 * (CLEAN * before + ROUNDING * (whole[2] if criterion == VARIANCE else weight))
        if opt["integer_weights"] == 0:
            slack += (QUICK_ERROR if criterion == ENTROPY else 4e-16 * (end - start)) * weight
        elif criterion == ENTROPY:
            slack += 4e-16 * (end - start) * nlogn_of(weight, rules.nlogn)  # each update of the sums is rounded
        greatest = quick_decreases(n, filled, whole, weight, before, slack, rules, buffers)
        best = number_of(greatest) - 2 * slack
        wanted = max(least_decrease, best * (1 - 4e-9) if best > 0 else best - slack)
        if number_of(greatest) < wanted:
            return filled, n
        limit = bits_of(wanted) if wanted > 0 else np.int64(0)
    lefts, scores, positions, gains = buffers.lefts, buffers.scores, buffers.positions, buffers.gains
    first, second = buffers.first, buffers.second
    mask = (np.int64(1) << shift) - 1
    unit = opt["unit_weights"] == 1
    next_case = start
    if from_counts:
        for k in range(width):
            left[k] = buffers.before[k]
    kept = filled
    # Invariant: the thresholds before `index` that may be the best have their scores in `filled` to `kept`. Where the
    # sums do not suffice for a score, `left` describes the cases before `next_case`.
    for index in range(np.uint64(filled), np.uint64(filled + n)):
        if gains[index] < limit:
            continue
        position, weight_left = positions[index], lefts[index]
        if squares:
            weight_right = weight - weight_left
            after = (weight_left - first[index] / weight_left) + (
                weight_right - (second[index] / weight_right if weight_right > 0 else 0.0)
            )
            scores[kept] = decrease(before, after, weight, weight)
        elif moments:
            weight_right, rest = weight - weight_left, whole[1] - first[index]
            explained = first[index] * first[index] / weight_left + rest * rest / weight_right
            scores[kept] = decrease(before, max(whole[2] - explained, 0.0), weight, whole[2])
        else:
            while next_case <= position:
                case = np.int64(order[next_case]) & mask
                left[stats.target[case]] += 1.0 if unit else stats.weights[case]
                next_case += 1
            for k in range(width):
                right[k] = whole[k] - left[k]
            scores[kept] = score_of_sides(left, right, before, weight, criterion, rules.nlogn)
        positions[kept] = position
        lefts[kept] = weight_left
        kept += 1
    return kept, n


@inlined_internal
def collect_thresholds(
    order: Order,
    start: Integer,
    end: Integer,
    shift: Integer,
    numbers: Numbers,
    stats: Block,
    whole: Statistics,
    weight: Real,
    rules: Rules,
    buffers: Buffers,
    cases_left: Integer,
    cases_all: Integer,
    last_too: Boolean,
    gap: Real,
    least: Real,
    filled: Integer,
) -> Integer:
    """Collect position, weight and sums on the left of each admissible threshold; return their number.

    The sums are those from which `quick_decreases` follow: of squares or of n log n of the class weights on both sides,
    or the sum of the deviations on the left. ``buffers.left`` changes.
    """
    opt = rules.opt[0]
    criterion = opt["criterion"]
    left = buffers.left
    positions, lefts, firsts, seconds = buffers.positions, buffers.lefts, buffers.first, buffers.second
    target, weights, deviation, nlogn = stats.target, stats.weights, stats.deviation, rules.nlogn
    mask = (np.int64(1) << shift) - 1
    weight_left = weight_of(left, criterion)
    by_squares, by_logs, by_moments = criterion == GINI, criterion == ENTROPY, criterion == VARIANCE
    by_table = opt["integer_weights"] == 1
    unit = opt["unit_weights"] == 1
    first = second = 0.0
    if by_moments:
        first = left[1]
    elif by_squares:
        for k in range(len(left)):
            rest = whole[k] - left[k]
            first += left[k] * left[k]
            second += rest * rest
    elif by_logs:
        for k in range(len(left)):
            first += _nlogn(left[k], by_table, nlogn)
            second += _nlogn(whole[k] - left[k], by_table, nlogn)
    min_leaf = opt["min_leaf"]
    checks_sides = min_leaf > 1 or least > 0
    w = 1.0
    n = np.uint64(filled)
    following = np.int64(order[start]) if start < end else np.int64(0)
    # Invariant: `left`, `first`, `second` and the weights and numbers on the left describe the cases before `position`
    # (and what was left of `start`).
    for position in range(start, end):
        packed = following
        case = np.uint64(packed & mask)
        if not unit:
            w = weights[case]
        cases_left += 1
        weight_left += w
        if by_moments:
            d = deviation[case]
            first += w * d
        else:
            own = np.uint64(target[case])
            here = left[own]
            if by_squares:
                first += w * (2.0 * here + w)
                second -= w * (2.0 * (whole[own] - here) - w)
            elif by_logs:
                rest = whole[own] - here
                first += _nlogn(here + w, by_table, nlogn) - _nlogn(here, by_table, nlogn)
                second += _nlogn(rest - w, by_table, nlogn) - _nlogn(rest, by_table, nlogn)
            left[own] = here + w
        admissible = last_too
        if position + 1 < end:
            following = np.int64(order[np.uint64(position + 1)])
            admissible = (following >> shift) != (packed >> shift)
            if gap > 0:
                admissible &= numbers[following >> shift] - numbers[packed >> shift] > gap
        if checks_sides:
            admissible &= (cases_left >= min_leaf) & (cases_all - cases_left >= min_leaf)
            admissible &= (weight_left >= least) & (weight - weight_left >= least)
        # Always written, and kept only where n advances: no branch to mispredict.
        positions[n] = position
        lefts[n] = weight_left
        firsts[n] = first
        seconds[n] = second
        n += np.uint64(admissible)
    return np.int64(n) - filled


@inlined_internal
def _nlogn(x: Real, by_table: bool, nlogn: Logarithms) -> Real:
    """Return n log2 n of a class weight, exact for integers, else as `quick_nlogn`."""
    return nlogn_of(x, nlogn) if by_table else quick_nlogn(x)


@inlined_internal
def quick_decreases(
    n: Integer,
    filled: Integer,
    whole: Statistics,
    weight: Real,
    before: Real,
    slack: Real,
    rules: Rules,
    buffers: Buffers,
) -> Integer:
    """Compute decreases of the impurity, times the weight, that are too great by at most twice the slack.

    Their bits are written to ``buffers.gains``; returns the greatest. A decrease below zero counts as zero.
    """
    lefts, first, second, gains = buffers.lefts, buffers.first, buffers.second, buffers.gains
    begin, end = np.uint64(filled), np.uint64(filled + n)  # unsigned: a signed index may count from the end
    greatest = np.int64(0)
    criterion = rules.opt[0]["criterion"]
    if criterion == ENTROPY:
        by_table = rules.opt[0]["integer_weights"] == 1
        for i in range(begin, end):
            weight_right = weight - lefts[i]
            after = _nlogn(lefts[i], by_table, rules.nlogn) + _nlogn(weight_right, by_table, rules.nlogn)
            gains[i] = bits_of(max(before - (after - first[i] - second[i]) + slack, 0.0))
            greatest = max(greatest, gains[i])
        return greatest
    total, base = 0.0, before - weight
    if criterion == VARIANCE:
        total, base = whole[1], before - whole[2]
    # These loops have no branches, so that they are vectorised.
    if criterion == VARIANCE:
        for i in range(begin, end):
            weight_left, weight_right, rest = lefts[i], weight - lefts[i], total - first[i]
            explained = first[i] * first[i] * weight_right + rest * rest * weight_left
            gains[i] = bits_of(max(explained / (weight_left * weight_right) + base + slack, 0.0))
            greatest = max(greatest, gains[i])
        return greatest
    for i in range(begin, end):
        weight_left, weight_right = lefts[i], weight - lefts[i]
        squares = first[i] * weight_right + second[i] * weight_left
        gains[i] = bits_of(max(squares / (weight_left * weight_right) + base + slack, 0.0))
        greatest = max(greatest, gains[i])
    return greatest


@inlined_internal
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
    weight: Real,
    before: Real,
    limit: Real,
    codes_at: Integer,
    sampled: SampledOrder | None,
) -> Integer:
    """Write the best threshold of an attribute to `found`; return the number of missing values, -1 if there is no test.

    There is none where no score can tie with `limit`, that of another attribute. `weight` and `before` are the weight
    of the node and its impurity, times the weight. ``buffers.unknown`` becomes the statistics of the missing cases; the
    first of ``buffers.rows`` become the weights of both sides.
    """
    opt = rules.opt[0]
    criterion = opt["criterion"]
    regression = criterion == VARIANCE
    slot = rules.slots[a]
    numbers = rules.numbers[slot]
    if sampled is not None:
        if not sort_node(codes_at, size, sampled):
            return -1
        order, stats, shift, first = sampled.entries, sampled.stats, np.int64(ENTRY_SHIFT), np.int64(0)
    else:
        order, stats, shift = block.order[slot], block, rules.shift[0]
    mask = (np.int64(1) << shift) - 1
    unknown, left, rows, summary = buffers.unknown, buffers.left, buffers.rows, buffers.summary
    width = len(summary)
    for k in range(width):
        left[k] = 0.0
    n_missing = nothing = np.int64(0)
    known, known_weight, known_before = summary, weight, before
    learn = False
    begin, end = first, first + size
    if np.int64(order[first]) >> shift == 0:
        for k in range(width):
            unknown[k] = 0.0
        # Missing values have code 0, so they come first. Invariant: `unknown` holds the first `n_missing` cases.
        while n_missing < size and np.int64(order[first + n_missing]) >> shift == 0:
            add_case(unknown, np.int64(order[first + n_missing]) & mask, stats, regression)
            n_missing += 1
        begin += n_missing
        if begin == end:
            return -1
        known = buffers.known
        for k in range(width):
            known[k] = summary[k] - unknown[k]
        if not opt["integer_weights"]:
            # A difference of sums would keep the rounding of the greater ones.
            for k in range(width):
                known[k] = 0.0
            for p in range(begin, end):
                add_case(known, np.int64(order[p]) & mask, stats, regression)
        known_weight = weight_of(known, criterion)
        known_before = 0.0 if criterion == CHI_SQUARE else impurity(known, criterion, rules.nlogn)
        learn = opt["missing"] == MISSING_LEARNED
    if np.int64(order[begin]) >> shift == np.int64(order[end - 1]) >> shift and not learn:
        return -1
    least = -np.inf
    if limit > -np.inf:
        # Without the missing cases the score is multiplied by the share of the known ones afterwards.
        rounding = CLEAN * (before if learn else known_before) + ROUNDING * (summary[2] if regression else weight)
        least = limit * weight * (1 - 4e-9) - 4 * rounding
    missing_left: Boolean = False
    tries: Integer = 0
    if cuts is not None:
        for k in range(width):
            buffers.known[k] = summary[k] if learn else known[k]
        at = random_threshold(a, order, begin, end, shift, key, n_missing, stats, rules, buffers, cuts)
        if at < 0:
            return -1
        missing_left = at >= end
        at = at - (end - begin) if missing_left else at
        best = 0
        found.score[a] = buffers.scores[0]
        tries = 1
    else:
        side, gap = -np.inf, opt["gap"]
        if learn:
            gap = -1.0
        elif opt["relative_side"]:
            side = least_relative_side(known_weight, width, opt["min_branch"])
        cases = size if learn else size - n_missing
        n_scores: Integer = nothing
        first_part: Integer = nothing
        # Where the branch of missing values is learned: first they are on the right, then on the left.
        for turn in range(2 if learn else 1):
            if turn == 1:
                first_part = n_scores
                for k in range(width):
                    left[k] = unknown[k]
            n_scores, tries = scan_cuts(
                order,
                begin,
                end,
                shift,
                numbers,
                stats,
                summary if learn else known,
                weight if learn else known_weight,
                before if learn else known_before,
                rules,
                buffers,
                n_missing if turn == 1 else nothing,
                cases,
                learn and turn == 0,
                gap,
                side,
                least,
                n_scores,
            )
        best = first_tied(buffers.scores, n_scores)
        missing_left = learn and best >= first_part
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
    if opt["choice"] != HIGHEST:
        for k in range(1, width):
            rows[0, k] = rows[1, k] = 0.0
    rows[0, 0] = buffers.lefts[best]
    rows[1, 0] = known_weight - buffers.lefts[best]
    if opt["missing"] != MISSING_FRACTIONAL:
        found.missing_branch[a] = 0 if rows[0, 0] >= rows[1, 0] * SHORT else 1
    if opt["correction"]:
        found.score[a] = found.score[a] * (known_weight / weight) - log2(tries) / weight
    return n_missing


@inlined_internal
def random_threshold(
    a: Integer,
    order: Order,
    begin: Integer,
    end: Integer,
    shift: Integer,
    key: np.uint64,
    n_missing: Integer,
    stats: Block,
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
    for p in range(begin, at + 1):
        add_case(left, np.int64(order[p]) & mask, stats, regression)
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
                add_case(left, np.int64(order[p]) & mask, stats, regression)
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
