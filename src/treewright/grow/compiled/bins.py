"""Numeric attributes of a large node by their histograms: scores of the borders, and what a look inside could bring.

Vocabulary
----------
border
    The place of a cut between two bins; its score needs the histogram only.
bound
    No cut inside a bin scores more. Impurity times weight never falls when cases are added, so no cut leaves less than
    what the cases on both sides of the bin have among themselves: that bound comes with the borders. Where it reaches
    too far a nearer one is found. The scores are convex in the class counts, so over all ways to put the cases of a
    bin on two sides the best is a corner: whole classes to the left, the others to the right. For numbers to predict,
    weight and sum of what goes to the left lie in an ellipse, and the corners are those of an octagon around it.
    (Alsabti, Ranka and Singh 1998 have the idea of looking into few intervals only.)
alive
    A bin whose bound reaches the best score that is known. Only its cases are sorted.
turn
    Where the side of missing cases is learned every cut is tried twice: first with them on the right, then on the left.
single
    An attribute whose codes stand for one number each: there is nothing inside.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from treewright.counts.compiled.flags import Array, Number, internal, no_alloc_kernel
from treewright.grow.compiled.arithmetic import (
    CHI_SQUARE,
    GINI,
    VARIANCE,
    decrease,
    impurity,
    score_of_sides,
    weight_of,
)
from treewright.grow.compiled.cuts import least_relative_side
from treewright.grow.compiled.options import LEARNED

CORNERS = 6
"""Up to so many classes in a bin all corners are tried."""

SLACK = 1 - 4e-9
"""A bound must fall short of the best score by more than what counts as a tie."""

BOUND_ROUNDING = 1e-13
"""So much of the impurity a bound may be too low by rounding."""

BEST, REACH, SCALE, LEAST, TURNS, LAST, CASES = 0, 1, 2, 3, 4, 5, 6
"""What is noted of an attribute: best score of a border; most that any cut can reach; share of known cases, by which
scores are multiplied; least weight of a side; turns; last code that occurs; number of cases that are divided."""

FACTS = 7

ROOM = 8
"""Statistics of some set of cases that kernels work with."""

OCTAGON = (
    (0.0, 0.2071067811865476), (0.0, -0.2071067811865476), (1.0, 0.2071067811865476), (1.0, -0.2071067811865476),
    (0.2928932188134524, 0.5), (0.2928932188134524, -0.5), (0.7071067811865476, 0.5), (0.7071067811865476, -0.5),
)  # fmt: skip
"""Corners around the circle of all shares t of a bin's weight and distances u from the mean, |u| <= sqrt(t (1 - t))."""


@no_alloc_kernel
def limit_of(best: Number) -> Number:
    """Return the score below which nothing ties with the best one."""
    return best * SLACK if best > 0 else best - 1e-12


@internal
def cases_of(counts: Array, cases: Array, place: Number) -> Number:
    """Return the number of cases of a code; where it is not counted apart every case weighs one."""
    if len(cases) > 0:
        return cases[place]
    total = 0.0
    for k in range(counts.shape[1]):
        total += counts[place, k]
    return np.int64(total)


@internal
def spread_of(statistics: Array, whole: Array, criterion: Number, table: Array) -> Number:
    """Return the impurity times the weight; for chi-square that of classes weighed by how rare they are.

    Pearson's statistic of two branches is the fall of this impurity times the number of cases.
    """
    if criterion != CHI_SQUARE:
        return impurity(statistics, criterion, table)
    n = weight_of(statistics, criterion)
    total = 0.0
    for k in range(len(statistics)):
        if statistics[k] > 0:
            total += statistics[k] / whole[k] * (1.0 - statistics[k] / n)
    return total


@internal
def bound_from(before: Number, after: Number, weight: Number, criterion: Number) -> Number:
    """Return the score of a fall of the impurity, and a little more for rounding."""
    if criterion == CHI_SQUARE:
        return (before - after + BOUND_ROUNDING * before) * weight
    return (before - after + BOUND_ROUNDING * (before + (0.0 if criterion == VARIANCE else weight))) / weight


@internal
def sum_of_codes(counts: Array, cases: Array, learn: bool, whole: Array) -> tuple[Number, Number]:
    """Add up all codes into `whole`, the missing ones only if their side is learned.

    Returns the number of cases and the last code that has some.
    """
    n = np.int64(0)
    last = np.int64(0)
    for k in range(len(whole)):
        whole[k] = 0.0
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
    counts: Array,
    cases: Array,
    starts: Array,
    attributes: Array,
    gaps: Array,
    opt: Array,
    table: Array,
    borders: Array,
    bounds: Array,
    facts: Array,
    room: Array,
) -> None:
    """Score the borders of attributes and bound their bins.

    Parameters
    ----------
    counts, cases : array
        Statistics and numbers of cases of every code of every attribute, the missing ones first; no numbers of cases
        where each weighs one.
    starts, attributes : array of int
        First place of each attribute in `counts`; those to be looked at.
    gaps : array of bool
        Whether the numbers beside each border are far enough apart; empty where they need not be.
    opt, table : array
    borders, bounds : array, 2 x places
        To be filled; -inf where a border is not admitted or a bin has nothing inside.
    facts : array, attributes x `FACTS`
        To be filled.
    room : array, `ROOM` x classes
        Scratch space.
    """
    o = opt[0]
    criterion = o["criterion"]
    width = counts.shape[1]
    whole, left, right = room[0], room[1], room[2]
    for one in range(len(attributes)):
        first, end = starts[attributes[one]], starts[attributes[one] + 1]
        own, own_cases = counts[first:end], cases[first:end]
        fact = facts[one]
        lost = cases_of(own, own_cases, 0)
        learn = o["missing"] == LEARNED and lost > 0
        all_cases, last = sum_of_codes(own, own_cases, learn, whole)
        weight = weight_of(whole, criterion)
        before = spread_of(whole, whole, criterion, table)
        fact[SCALE] = 1.0
        if o["missing"] != LEARNED and lost > 0:
            unknown = weight_of(own[0], criterion)
            fact[SCALE] = weight / (weight + unknown)
        fact[LEAST] = o["least_side"]
        if o["relative_side"] and not learn:
            fact[LEAST] = max(fact[LEAST], least_relative_side(weight, width, o["min_branch"]))
        fact[TURNS], fact[LAST], fact[CASES] = 2 if learn else 1, last, all_cases
        fact[BEST] = fact[REACH] = -np.inf
        for turn in range(2 if learn else 1):
            cases_left = lost if turn == 1 else np.int64(0)
            for k in range(width):
                left[k] = own[0, k] if turn == 1 else 0.0
            below = spread_of(left, whole, criterion, table)
            for code in range(1, last + 1):
                here = cases_of(own, own_cases, code)
                if here == 0:
                    continue
                cases_left += here
                weight_left = 0.0
                for k in range(width):
                    left[k] += own[code, k]
                    right[k] = whole[k] - left[k]
                above = spread_of(right, whole, criterion, table)
                if here > 1:
                    bound = bound_from(before, below + above, weight, criterion)
                    bounds[turn, first + code] = bound
                    fact[REACH] = max(fact[REACH], bound)
                below = spread_of(left, whole, criterion, table)
                if code == last and (turn == 1 or not learn):
                    break
                if len(gaps) > 0 and not gaps[first + code]:
                    continue
                if cases_left < o["min_leaf"] or all_cases - cases_left < o["min_leaf"]:
                    continue
                weight_left = weight_of(left, criterion)
                if weight_left < fact[LEAST] or weight_of(right, criterion) < fact[LEAST]:
                    continue
                if criterion == CHI_SQUARE:
                    score = score_of_sides(left, right, before, weight, criterion, table)
                else:
                    added_up = whole[2] if criterion == VARIANCE else weight
                    score = decrease(before, below + above, weight, added_up)
                borders[turn, first + code] = score
                fact[BEST] = max(fact[BEST], score)


@no_alloc_kernel
def find_alive(
    counts: Array,
    cases: Array,
    starts: Array,
    attributes: Array,
    single: Array,
    limits: Array,
    opt: Array,
    table: Array,
    bounds: Array,
    facts: Array,
    alive: Array,
    room: Array,
    inside: Array,
) -> None:
    """Mark the bins that must be looked into, after a nearer bound.

    Parameters
    ----------
    counts, cases, starts, attributes, opt, table, bounds, facts : array
        As in `score_borders`; the reach of an attribute becomes that of its living bins and of its borders.
    single : array of bool
        Of every attribute.
    limits : array
        Least score that matters, for each attribute to be looked at.
    alive : array of bool
        To be filled, by places.
    room, inside : array
        Scratch space, as above, and whole numbers by class.
    """
    o = opt[0]
    criterion = o["criterion"]
    width = counts.shape[1]
    whole, left, corners = room[0], room[1], room[2:4]
    for one in range(len(attributes)):
        a = attributes[one]
        fact = facts[one]
        reach = fact[REACH]
        fact[REACH] = fact[BEST]
        if single[a] or (reach < limits[one] and not o["correction"]):
            continue
        first, end = starts[a], starts[a + 1]
        own, own_cases = counts[first:end], cases[first:end]
        learn = fact[TURNS] == 2
        all_cases, last = sum_of_codes(own, own_cases, learn, whole)
        weight = weight_of(whole, criterion)
        before = spread_of(whole, whole, criterion, table)
        for turn in range(2 if learn else 1):
            cases_left = np.int64(0)
            for k in range(width):
                left[k] = own[0, k] if turn == 1 else 0.0
            for code in range(1, last + 1):
                here = cases_of(own, own_cases, code)
                bound = bounds[turn, first + code]
                if here > 1 and bound >= limits[one]:
                    nearer = near_bound(left, own[code], whole, before, weight, criterion, table, corners, inside)
                    bound = min(bound, nearer)
                    if bound >= limits[one]:
                        alive[first + code] = True
                        fact[REACH] = max(fact[REACH], bound)
                if here > 1 and o["correction"] and not alive[first + code]:
                    # Where only some of the cuts in a bin are admitted they must be counted one by one.
                    low = weight_of(left, criterion)
                    high = low + weight_of(own[code], criterion)
                    all_fit = (
                        low >= fact[LEAST]
                        and weight - high >= fact[LEAST]
                        and cases_left >= o["min_leaf"]
                        and all_cases - cases_left - here >= o["min_leaf"]
                    )
                    none_fits = (
                        high < fact[LEAST]
                        or weight - low < fact[LEAST]
                        or cases_left + here < o["min_leaf"]
                        or all_cases - cases_left < o["min_leaf"]
                    )
                    alive[first + code] = not all_fit and not none_fits
                cases_left += here
                for k in range(width):
                    left[k] += own[code, k]


@internal
def near_bound(
    left: Array,
    inner: Array,
    whole: Array,
    before: Number,
    weight: Number,
    criterion: Number,
    table: Array,
    room: Array,
    inside: Array,
) -> Number:
    """Return more than any cut inside a bin can score, by the corners; infinite where there are too many.

    Parameters
    ----------
    left, inner, whole : array
        Statistics of what lies left of the bin, in the bin, and of all.
    before, weight : float
        Impurity and weight of all.
    room, inside : array
        Scratch space.
    """
    if criterion == VARIANCE:
        return _octagon_bound(left, inner, whole, before, weight)
    width = len(left)
    n = 0
    for k in range(width):
        if inner[k] > 0:
            inside[n] = k
            n += 1
    if n > CORNERS:
        return np.inf
    if criterion == GINI:
        return _gini_bound(left, inner, whole, before, weight, n)
    best = -np.inf
    corner, right = room[0], room[1]
    for choice in range(1 << n):
        for k in range(width):
            corner[k] = left[k]
        for j in range(n):
            if choice >> j & 1:
                corner[inside[j]] += inner[inside[j]]
        for k in range(width):
            right[k] = whole[k] - corner[k]
        after = spread_of(corner, whole, criterion, table) + spread_of(right, whole, criterion, table)
        best = max(best, bound_from(before, after, weight, criterion))
    return best


@internal
def _gini_bound(left: Array, inner: Array, whole: Array, before: Number, weight: Number, n: Number) -> Number:
    """Return the same for Gini's impurity, all sums of a corner in one loop; n classes are in the bin."""
    most = 0.0
    for choice in range(1 << n):
        here = there = below = above = 0.0
        j = 0
        for k in range(len(left)):
            on_left = left[k]
            if inner[k] > 0:
                on_left += inner[k] if choice >> j & 1 else 0.0
                j += 1
            on_right = whole[k] - on_left
            here += on_left
            there += on_right
            below += on_left * on_left
            above += on_right * on_right
        kept = (below / here if here > 0 else 0.0) + (above / there if there > 0 else 0.0)
        most = max(most, kept)
    return bound_from(before, weight - most, weight, GINI)


@internal
def _octagon_bound(left: Array, inner: Array, whole: Array, before: Number, weight: Number) -> Number:
    """Return the bound for numbers to predict; infinite at the ends, where the octagon says nothing."""
    low, high = left[0], whole[0] - left[0] - inner[0]
    if low <= 0 or high <= 0 or inner[0] <= 0:
        return np.inf
    mean = inner[1] / inner[0]
    deviation = sqrt(max(inner[2] / inner[0] - mean * mean, 0.0))
    explained = 0.0
    for t, u in OCTAGON:
        w = inner[0] * t
        s = inner[0] * (mean * t + deviation * u)
        below, above = left[1] + s, whole[1] - left[1] - s
        explained = max(explained, below * below / (low + w) + above * above / (high + inner[0] - w))
    return bound_from(before, whole[2] - explained, weight, VARIANCE)
