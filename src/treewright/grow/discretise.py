"""Numeric attributes made nominal by their entropy tables (Fayyad and Irani 1993).

The best cut by entropy divides the numbers in two; it is accepted if the description length falls: its gain must
exceed (log2(N - 1) + log2(3^k - 2) - k H + k1 H1 + k2 H2) / N, where N is the weight, k the number of classes that
occur, H the entropy, and 1 and 2 are the two sides. Accepted sides are divided further in the same way.
"""

from __future__ import annotations

from math import log2

import numpy as np

from treewright.counts.table import Counts, FrequencyTable
from treewright.grow.criteria import ENTROPY, entropy
from treewright.grow.midpoint import midpoint
from treewright.grow.ties import first_of_ties


def mdl_bounds(table: FrequencyTable) -> tuple[float, ...]:
    """Return the accepted bounds, ascending: midpoints between neighbouring numbers.

    Examples
    --------
    >>> counts = np.array([[5, 0], [5, 0], [0, 5], [0, 5]])
    >>> mdl_bounds(FrequencyTable(counts, np.zeros(2, dtype=int), counts.sum(axis=1), np.array([1.0, 2.0, 3.0, 4.0])))
    (2.5,)
    """
    values = table.first
    bounds = []
    waiting = [(0, len(values))]
    while waiting:
        first, end = waiting.pop()
        place = _accepted_cut(table.counts[first:end])
        if place is None:
            continue
        middle = first + place + 1
        bounds.append(midpoint(float(values[middle - 1]), float(values[middle])))
        waiting += [(first, middle), (middle, end)]
    return tuple(sorted(bounds))


def _accepted_cut(counts: Counts) -> int | None:
    """Return the place of the best cut if it pays, else None."""
    if len(counts) < 2:
        return None
    whole = counts.sum(axis=0)
    left: Counts = np.cumsum(counts, axis=0)[:-1]
    gains = ENTROPY.of_cuts(left, whole - left)
    place = first_of_ties(gains)
    low, high = left[place], whole - left[place]
    n = float(whole.sum())
    if n <= 1:
        return None
    classes, classes_low, classes_high = (int(np.count_nonzero(side)) for side in (whole, low, high))
    delta = log2(3**classes - 2) - (
        classes * entropy(whole) - classes_low * entropy(low) - classes_high * entropy(high)
    )
    return place if gains[place] > (log2(n - 1) + delta) / n else None
