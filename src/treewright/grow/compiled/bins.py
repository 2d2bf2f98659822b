"""The best cut of a binned attribute, exactly: borders from the histogram, and a look inside the few bins that matter.

Vocabulary
----------
border
    The place of a cut between two bins; its score needs the histogram only.
bound
    More than any cut inside a bin can score. The criteria are convex in the class counts, so over all ways to put the
    cases of a bin on two sides the best is a corner: whole classes to the left, the others to the right. Where a bin
    has many classes, a looser bound serves: no cut leaves less impurity than the cases on both sides of the bin have
    among themselves (Alsabti, Ranka and Singh 1998 have the idea of looking into few intervals only).
alive
    A bin whose bound reaches the best score that is known. Only its cases are sorted.
turn
    Where the side of missing cases is learned every cut is tried twice: first with them on the right, then on the left.
"""

from __future__ import annotations

import numpy as np

from treewright.counts.compiled.flags import Array, Number, kernel
from treewright.grow.compiled.arithmetic import (
    CHI_SQUARE,
    first_of_ties,
    impurity,
    score_of_sides,
    weight_of,
)

CORNERS = 5
"""Up to so many classes in a bin all corners are tried."""

SLACK = 1 - 4e-9
"""A bound must fall short of the best score by more than what counts as a tie."""


@kernel
def bound_bins(
    counts: Array, cases: Array, learn: bool, opt: Array, table: Array, borders: Array, bounds: Array
) -> Number:
    """Score the borders and bound the bins of one attribute; return the best score of a border.

    Parameters
    ----------
    counts, cases : array
        Statistics and numbers of cases of every code, the missing ones first.
    learn : bool
        Whether there are two turns.
    opt, table : array
    borders, bounds : array, 2 x codes
        To be filled; -inf where a border is not admitted or a bin is empty.
    """
    o = opt[0]
    criterion = o["criterion"]
    n_codes, width = counts.shape
    whole = np.zeros(width)
    cases_all, last = _sum_codes(counts, cases, learn, whole)
    weight = weight_of(whole, criterion)
    before = 0.0 if criterion == CHI_SQUARE else impurity(whole, criterion, table)
    left = np.zeros(width)
    right = np.zeros(width)
    corner = np.zeros(width)
    inside = np.zeros(width, dtype=np.int64)
    best = -np.inf
    for turn in range(2 if learn else 1):
        cases_left = 0
        for k in range(width):
            left[k] = 0.0
        if turn == 1:
            cases_left = cases[0]
            for k in range(width):
                left[k] = counts[0, k]
        for code in range(1, n_codes):
            borders[turn, code] = bounds[turn, code] = -np.inf
            if cases[code] == 0:
                continue
            if cases[code] > 1:
                bounds[turn, code] = _bound(
                    left, counts[code], whole, before, weight, criterion, table, corner, right, inside
                )
            cases_left += cases[code]
            for k in range(width):
                left[k] += counts[code, k]
                right[k] = whole[k] - left[k]
            if code == last and (turn == 1 or not learn):
                break
            if cases_left < o["min_leaf"] or cases_all - cases_left < o["min_leaf"]:
                continue
            if weight_of(left, criterion) < o["least_side"] or weight_of(right, criterion) < o["least_side"]:
                continue
            borders[turn, code] = score_of_sides(left, right, before, weight, criterion, table)
            best = max(best, borders[turn, code])
        for code in range(last + 1, n_codes):
            borders[turn, code] = bounds[turn, code] = -np.inf
    return best


@kernel
def _sum_codes(counts: Array, cases: Array, learn: bool, whole: Array) -> tuple[Number, Number]:
    """Add up all codes into `whole`, the missing ones only if their side is learned.

    Returns the number of cases and the last code that has some.
    """
    n = 0
    last = 0
    for code in range(0 if learn else 1, counts.shape[0]):
        n += cases[code]
        if cases[code] > 0:
            last = code
        for k in range(counts.shape[1]):
            whole[k] += counts[code, k]
    return n, last


@kernel
def _bound(
    left: Array,
    bin_counts: Array,
    whole: Array,
    before: Number,
    weight: Number,
    criterion: Number,
    table: Array,
    corner: Array,
    right: Array,
    inside: Array,
) -> Number:
    """Return more than any cut inside a bin can score."""
    width = len(left)
    n = 0
    for k in range(width):
        if bin_counts[k] > 0:
            inside[n] = k
            n += 1
    if n > CORNERS and criterion != CHI_SQUARE:
        for k in range(width):
            right[k] = whole[k] - left[k] - bin_counts[k]
        return (before - impurity(left, criterion, table) - impurity(right, criterion, table)) / weight
    if n > CORNERS:
        return np.inf
    best = -np.inf
    for choice in range(1 << n):
        for k in range(width):
            corner[k] = left[k]
        for j in range(n):
            if choice >> j & 1:
                corner[inside[j]] += bin_counts[inside[j]]
        for k in range(width):
            right[k] = whole[k] - corner[k]
        best = max(best, score_of_sides(corner, right, before, weight, criterion, table))
    return best


@kernel
def alive_bins(borders: Array, bounds: Array, turns: Number, best: Number, alive: Array) -> Number:
    """Mark the bins to be looked into, and those beside the best border, whose cut needs their numbers.

    Returns the greatest bound.
    """
    n_codes = bounds.shape[1]
    limit = best * SLACK if best > 0 else best - 1e-12
    greatest = -np.inf
    for code in range(n_codes):
        alive[code] = False
    for turn in range(turns):
        here = -np.inf
        for code in range(1, n_codes):
            here = max(here, borders[turn, code])
        for code in range(1, n_codes):
            greatest = max(greatest, bounds[turn, code])
            if bounds[turn, code] >= limit:
                alive[code] = True
            if borders[turn, code] >= limit and borders[turn, code] == here:
                alive[code] = True
                following = code + 1
                while (
                    following < n_codes - 1
                    and bounds[turn, following] == -np.inf
                    and borders[turn, following] == -np.inf
                ):
                    following += 1
                if following < n_codes:
                    alive[following] = True
    return greatest


@kernel
def collect_alive(
    codes: Array,
    column: Array,
    rows: Array,
    target: Array,
    weights: Array,
    alive: Array,
    values: Array,
    classes: Array,
    own_weights: Array,
    bins: Array,
) -> Number:
    """Gather the cases of a node that lie in bins that are alive; return how many there are."""
    n = 0
    unit = len(weights) == 0
    for i in range(len(rows)):
        row = rows[i]
        code = codes[row]
        if alive[code]:
            values[n] = column[row] + 0.0
            classes[n] = target[row]
            own_weights[n] = 1.0 if unit else weights[i]
            bins[n] = code
            n += 1
    return n


@kernel
def best_cut(
    counts: Array,
    cases: Array,
    learn: bool,
    borders: Array,
    alive: Array,
    order: Array,
    values: Array,
    classes: Array,
    weights: Array,
    bins: Array,
    n: Number,
    opt: Array,
    table: Array,
    left_out: Array,
) -> tuple[Number, Number, Number, Number, Number]:
    """Return score, turn, code, and the numbers on both sides of the best cut of an attribute.

    The numbers are NaN for a border whose bins were not gathered; a code of -1 means that there is no cut, an
    infinite upper number that known is parted from missing. ``left_out`` becomes the statistics of the known cases on
    the left.

    Parameters
    ----------
    counts, cases, borders, alive
        As in `bound_bins` and `alive_bins`.
    order, values, classes, weights, bins : array
        Gathered cases, and their order by number.
    n : int
        How many there are.
    """
    o = opt[0]
    criterion = o["criterion"]
    n_codes, width = counts.shape
    whole = np.zeros(width)
    cases_all, last = _sum_codes(counts, cases, learn, whole)
    weight = weight_of(whole, criterion)
    before = 0.0 if criterion == CHI_SQUARE else impurity(whole, criterion, table)
    room = 2 * (n + n_codes) + 2
    scores = np.empty(room)
    turns = np.empty(room, dtype=np.int64)
    places = np.empty(room, dtype=np.int64)
    where = np.empty(room, dtype=np.int64)
    found = 0
    left = np.zeros(width)
    start = np.zeros(width)
    right = np.zeros(width)
    for turn in range(2 if learn else 1):
        cases_left = 0
        for k in range(width):
            start[k] = 0.0
        if turn == 1:
            cases_left = cases[0]
            for k in range(width):
                start[k] = counts[0, k]
        at = 0
        for code in range(1, last + 1):
            if cases[code] == 0:
                continue
            if alive[code]:
                for k in range(width):
                    left[k] = start[k]
                here = cases_left
                while at < n and bins[order[at]] == code:
                    i = order[at]
                    left[classes[i]] += weights[i]
                    here += 1
                    at += 1
                    if at == n or bins[order[at]] != code:
                        break
                    if values[order[at]] == values[i]:
                        continue
                    if here < o["min_leaf"] or cases_all - here < o["min_leaf"]:
                        continue
                    for k in range(width):
                        right[k] = whole[k] - left[k]
                    if weight_of(left, criterion) < o["least_side"] or weight_of(right, criterion) < o["least_side"]:
                        continue
                    scores[found] = score_of_sides(left, right, before, weight, criterion, table)
                    turns[found], places[found], where[found] = turn, code, at
                    found += 1
            cases_left += cases[code]
            for k in range(width):
                start[k] += counts[code, k]
            if borders[turn, code] > -np.inf:
                scores[found] = borders[turn, code]
                turns[found], places[found], where[found] = turn, code, -1
                found += 1
    best = first_of_ties(scores, found)
    if best < 0:
        return -np.inf, 0, -1, 0.0, 0.0
    best_turn, best_code, place = turns[best], places[best], where[best]
    for k in range(width):
        left_out[k] = 0.0
    for below in range(1, best_code):
        for k in range(width):
            left_out[k] += counts[below, k]
    low = high = np.nan
    if place >= 0:
        low, high = values[order[place - 1]], values[order[place]]
        for p in range(place):
            if bins[order[p]] == best_code:
                left_out[classes[order[p]]] += weights[order[p]]
        return scores[best], best_turn, best_code, low, high
    for k in range(width):
        left_out[k] += counts[best_code, k]
    following = best_code + 1
    while following <= last and cases[following] == 0:
        following += 1
    for p in range(n):
        case = order[p]
        if bins[case] == best_code:
            low = values[case]
        elif following <= last and bins[case] == following and np.isnan(high):
            high = values[case]
    if following > last:
        high = np.inf
    return scores[best], best_turn, -best_code - 2, low, high


@kernel
def numbers_beside(codes: Array, column: Array, rows: Array, code: Number, following: Number) -> tuple[Number, Number]:
    """Return the greatest number of one bin and the least of another, among the cases of a node."""
    low, high = -np.inf, np.inf
    for i in range(len(rows)):
        row = rows[i]
        if codes[row] == code:
            low = max(low, column[row] + 0.0)
        elif codes[row] == following:
            high = min(high, column[row] + 0.0)
    return low, high
