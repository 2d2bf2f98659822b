"""Which two sets of values are worth comparing.

For two classes or a numeric target it is enough to order the values by class share or mean and cut that order
(Breiman et al. 1984, theorem 4.5). With more classes all divisions are compared up to `EXHAUSTIVE` values that occur;
beyond, the orders by the share of each class are cut, a heuristic that finds good divisions, not always the best:
models say so by `SEARCH`.

A candidate is a row of booleans over the declared values: on the left or not. The first value that occurs is always
on the left, so that a division has one form.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from treewright.counts.table import Counts

Sides = npt.NDArray[np.bool_]

EXHAUSTIVE = 10
"""With more classes than two, up to this many values all divisions are compared."""

SEARCH = (
    f"exact for two classes, for a numeric target and up to {EXHAUSTIVE} values; beyond, along the shares of each class"
)

SEARCH_BY_OWN = f"exact up to {EXHAUSTIVE} values; beyond, along the shares of each class"
"""The same for a criterion of the user's, of which nothing is known."""


def ordered_cuts(cases: npt.NDArray[np.int64], *, missing: bool = False) -> Sides:
    """Return the divisions of ordered values into lower and higher ones, each with cases on both sides.

    Parameters
    ----------
    cases : array of int
        Cases of each declared value.
    missing : bool
        Whether one more place, for the missing cases, is added, once on the right and once on the left of every cut.

    Examples
    --------
    >>> ordered_cuts(np.array([2, 0, 3])).tolist()
    [[True, True, False]]
    >>> ordered_cuts(np.array([2, 3]), missing=True).tolist()
    [[True, False, False], [True, False, True]]
    """
    present = np.flatnonzero(cases > 0)
    values = np.arange(len(cases))
    # Values that do not occur here go with the lower neighbour up to the middle of the gap, like a cut between numbers.
    cuts = (present[:-1] + present[1:]) / 2
    sides = np.array([values <= cut for cut in cuts], dtype=bool).reshape(len(cuts), len(cases))
    if not missing:
        return sides
    off, on = np.zeros((len(cuts), 1), dtype=bool), np.ones((len(cuts), 1), dtype=bool)
    return np.concatenate((np.concatenate((sides, off), axis=1), np.concatenate((sides, on), axis=1)))


def subsets_to_compare(
    counts: Counts,
    cases: npt.NDArray[np.int64],
    *,
    regression: bool,
    missing: bool = False,
    any_order: bool = False,
) -> Sides:
    """Return the divisions among which the best is sure (or, with many values and classes, likely) to be.

    With `missing` the last row stands for the cases without a value. It goes with the values of one side and is never a
    side of its own: known against missing is nothing that a test of values can say. With `any_order` nothing is known
    of the criterion that would make one order enough, not even for two classes.
    """
    divisions = _partitions(counts, cases, regression, missing or any_order)
    if not missing:
        return divisions
    known = divisions[:, :-1] & (cases[:-1] > 0)
    on_the_left = known.sum(axis=1)
    of_both_sides: Sides = divisions[(on_the_left > 0) & (on_the_left < np.count_nonzero(cases[:-1]))]
    return of_both_sides


def sums_of(sides: Sides, counts: Counts) -> Counts:
    """Add up the rows on the left of each candidate, row after row (no matrix product: its order of adding varies)."""
    left: Counts = np.zeros((len(sides), counts.shape[1]), dtype=counts.dtype)
    for value in range(counts.shape[0]):
        left = left + sides[:, value : value + 1] * counts[value]
    return left


def _partitions(counts: Counts, cases: npt.NDArray[np.int64], regression: bool, any_order: bool) -> Sides:
    present = np.flatnonzero(cases > 0)
    occurring_counts = counts[present].astype(np.float64)
    if any_order and len(present) <= EXHAUSTIVE:
        # Also the orders below do not hold once known against missing is out of the question.
        return _spread(_all_partitions(len(present)), present, len(cases))
    if regression:
        orders = [occurring_counts[:, 1] / occurring_counts[:, 0]]
    else:
        shares = occurring_counts / occurring_counts.sum(axis=1, keepdims=True)
        classes = np.flatnonzero(occurring_counts.sum(axis=0) > 0)
        if len(classes) <= 2:
            orders = [shares[:, classes[-1]]]
        elif len(present) <= EXHAUSTIVE:
            return _spread(_all_partitions(len(present)), present, len(cases))
        else:
            orders = [shares[:, chosen] for chosen in classes]
    found = np.concatenate([_prefixes(order) for order in orders])
    return _spread(_normalised(found), present, len(cases))


def _all_partitions(n: int) -> Sides:
    masks = np.arange(2 ** (n - 1) - 1)
    rest = (masks[:, None] >> np.arange(n - 1)) & 1
    return np.concatenate((np.ones((len(masks), 1), dtype=bool), rest.astype(bool)), axis=1)


def _prefixes(order: npt.NDArray[np.float64]) -> Sides:
    rank = np.empty(len(order), dtype=np.intp)
    rank[np.argsort(order, kind="stable")] = np.arange(len(order))
    sides: Sides = rank[None, :] <= np.arange(len(order) - 1)[:, None]
    return sides


def _normalised(sides: Sides) -> Sides:
    turned = np.where(sides[:, :1], sides, ~sides)
    bits = np.packbits(turned, axis=1)  # rows as byte strings: to compare them column by column takes long
    _, first = np.unique(bits.view(np.dtype((np.void, bits.shape[1]))).ravel(), return_index=True)
    return turned[first[::-1]]


def _spread(sides: Sides, present: npt.NDArray[np.intp], n_values: int) -> Sides:
    wide = np.zeros((len(sides), n_values), dtype=bool)
    wide[:, present] = sides
    return wide
