"""rpart's surrogates: splits of other attributes that send cases the same way, for where the value is missing.

Vocabulary
----------
agreement
    Weight of the cases that a surrogate sends to the same side as the primary split.
majority rule
    Sending every case to the side that has more weight; a surrogate has to be better.
adjusted
    Agreement beyond the majority rule as a share of what is possible: 1 is a perfect stand-in, 0 is no help.

Invariants
----------
Cases without the primary's value take no part in the search; those without the surrogate's count as disagreeing, since
the agreement is a share of all cases that the primary can place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from treewright.data.dataset import Dataset
from treewright.grow.rpart.nodes import RpartSplit, cut_between
from treewright.grow.rpart.order import LEFT, NEITHER, RIGHT, Floats, Rows, RpartCases, RpartTable, Sides

LEAST_CASES = 2
"""Cases that a surrogate needs on each side."""

LEAST_ADJUSTED = 1e-10
"""What a surrogate must add to the majority rule."""


def default_side(sides: Sides, weights: Floats) -> int:
    """Return the heavier side of the cases that the primary split places, `NEITHER` if they weigh the same.

    Examples
    --------
    >>> default_side(np.array([1, 0, 1], dtype=np.int8), np.ones(3)), default_side(np.array([1, 0]), np.ones(2))
    (1, -1)
    """
    left, right = (float(weights[sides == side].sum()) for side in (LEFT, RIGHT))
    return NEITHER if left == right else int(right > left)


def find_surrogates(
    table: RpartTable, cases: RpartCases, sides: Sides, weights: Floats, primary: int, limit: int, *, faults: bool
) -> list[RpartSplit]:
    """Return the best surrogates of a split, the best first.

    Parameters
    ----------
    table : RpartTable
    cases : RpartCases
        Those of the node.
    sides : array of int
        The side to which the primary split sends each row of the table, `NEITHER` where it cannot tell.
    weights : array of float
        Of each row of the table.
    primary : int
        The attribute of the primary split.
    limit : int
        How many to return at most.
    faults : bool
        Refuse nominal surrogates unless at least two cases *disagree*, as rpart does, so that a perfect one is
        refused. Otherwise at least two cases must go to each side. Also makes cuts strict.
    """
    placed = cases.rows[sides[cases.rows] >= 0]
    left, right = (float(weights[placed[sides[placed] == side]].sum()) for side in (LEFT, RIGHT))
    total, majority = left + right, max(left, right) / (left + right)
    found = [
        *_numeric(table, cases, sides, weights, exact=faults),
        *_nominal(table, placed, sides, weights, faults=faults),
    ]
    surrogates = []
    for split in sorted(found, key=lambda one: one.attribute):
        agreement = min(split.improve / total, 1.0)  # sums of fractions may be over by rounding
        adjusted = (agreement - majority) / (1.0 - majority)
        if split.attribute != primary and adjusted > LEAST_ADJUSTED:
            surrogates.append(replace(split, improve=agreement, adjusted=adjusted))
    surrogates.sort(key=lambda one: -one.improve)  # stable: the earlier of equals stays before
    return surrogates[:limit]


def _numeric(
    table: RpartTable, cases: RpartCases, sides: Sides, weights: Floats, *, exact: bool
) -> Iterator[RpartSplit]:
    """Yield the best cut of each numeric attribute that beats the more frequent side, with its agreement.

    Cases that the primary cannot place do not count, but their values are there: cuts lie between any two neighbours.
    """
    n = len(cases)
    if not len(cases.orders):
        return
    values = np.take_along_axis(table.values, cases.orders, axis=1)
    goes = sides[cases.orders]
    if table.has_missing:
        goes = np.where(np.arange(n) < cases.known[:, np.newaxis], goes, NEITHER)
    ordered = weights[cases.orders]
    left = np.cumsum(np.where(goes == LEFT, ordered, 0.0), axis=1)
    right = np.cumsum(np.where(goes == RIGHT, ordered, 0.0), axis=1)
    below = np.cumsum(goes != NEITHER, axis=1)
    allowed = (values[:, 1:] != values[:, :-1]) & (below[:, :-1] >= LEAST_CASES)
    allowed &= below[:, -1:] - below[:, :-1] >= LEAST_CASES
    agreement = np.full((len(values), n - 1, 2), -1.0)
    agreement[:, :, 0] = np.where(allowed, right[:, :-1] + (left[:, -1:] - left[:, :-1]), -1.0)
    agreement[:, :, 1] = np.where(allowed, left[:, :-1] + (right[:, -1:] - right[:, :-1]), -1.0)
    flat = agreement.reshape(len(values), -1)
    for place, best in enumerate(np.argmax(flat, axis=1).tolist()):
        most = flat[place, best]
        if most > max(left[place, -1], right[place, -1]):
            at, low_goes_left = divmod(best, 2)
            cut, strict = cut_between(float(values[place, at]), float(values[place, at + 1]), exact=exact)
            lower = LEFT if low_goes_left else RIGHT
            yield RpartSplit(table.numeric[place], 0, float(most), cut, lower, strict)


def _nominal(table: RpartTable, rows: Rows, sides: Sides, weights: Floats, *, faults: bool) -> Iterator[RpartSplit]:
    """Yield for each nominal attribute the division that sends each value to its more frequent side."""
    if not table.nominal:
        return
    codes = table.codes[:, rows]
    size, many = int(table.level_start[-1]), len(codes)
    cells = (codes * 2 + sides[rows]).ravel()
    numbers = np.bincount(cells, minlength=2 * size).reshape(size, 2)
    sums = np.bincount(cells, weights=np.tile(weights[rows], many), minlength=2 * size).reshape(size, 2)
    for place, attribute in enumerate(table.nominal):
        levels = table.levels(place)
        cases, weight = numbers[levels], sums[levels]
        occurring = cases.sum(axis=1) > 0
        all_left, all_right = weight.sum(axis=0).tolist()
        if_equal = LEFT if all_left > all_right else RIGHT
        chosen = np.where(
            weight[:, LEFT] > weight[:, RIGHT], LEFT, np.where(weight[:, LEFT] < weight[:, RIGHT], RIGHT, if_equal)
        )
        every = np.arange(len(chosen))
        agreeing = cases[every, chosen].sum()
        if faults:
            accepted = min(agreeing, cases.sum() - agreeing) >= LEAST_CASES
        else:
            accepted = all(cases[chosen == side].sum() >= LEAST_CASES for side in (LEFT, RIGHT))
        # A division that leaves one side empty is the majority rule itself.
        if accepted and len(set(chosen[occurring].tolist())) == 2:
            yield RpartSplit(
                attribute,
                0,
                float(weight[every, chosen].sum()),
                sides=tuple(np.where(occurring, chosen, NEITHER).tolist()),
            )


def place_cases(
    dataset: Dataset, rows: Rows, sides: Sides, surrogates: list[RpartSplit], default: int
) -> list[RpartSplit]:
    """Fill in the sides of the rows that the primary split left open; return the surrogates with their counts.

    The first surrogate that knows the value decides, and after all of them the default.
    """
    counted = []
    for surrogate in surrogates:
        open_rows = rows[sides[rows] < 0]
        sides[open_rows] = surrogate.route(dataset.columns[surrogate.attribute][open_rows])
        counted.append(replace(surrogate, count=int(np.count_nonzero(sides[open_rows] >= 0))))
    open_rows = rows[sides[rows] < 0]
    sides[open_rows] = default
    return counted
