"""Numeric attributes made nominal without entropy: equal widths, equal weights, and ChiMerge.

Vocabulary
----------
bound
    The border of two intervals, always the midpoint of two neighbouring numbers of the table; a number equal to a bound
    lies in the interval below it.
bin
    One of the intervals that were asked for. Bins without a number of their own vanish, so there may be fewer.

Invariants
----------
Every function takes the frequency table of a numeric attribute and returns ascending bounds; no interval is empty.
Missing values have no part in it. The entropy method is `treewright.grow.discretise`.
"""

from __future__ import annotations

import heapq
from functools import partial
from math import inf

import numpy as np
import numpy.typing as npt

from treewright._base.errors import ParameterError
from treewright.counts.table import Counts, FrequencyTable
from treewright.grow.criteria import chi_square_statistic

Floats = npt.NDArray[np.float64]


def equal_width_bounds(table: FrequencyTable, bins: int) -> tuple[float, ...]:
    """Divide the range from the least to the greatest number into bins of the same width.

    A border between two numbers is moved to their midpoint, which changes no interval of the table.

    Parameters
    ----------
    table : FrequencyTable
        Of a numeric attribute.
    bins : int
        At least 1.

    Examples
    --------
    >>> counts = np.ones((4, 2), dtype=int)
    >>> table = FrequencyTable(counts, np.zeros(2, dtype=int), counts.sum(axis=1), np.array([0.0, 1.0, 2.0, 10.0]))
    >>> equal_width_bounds(table, 2), equal_width_bounds(table, 10)
    ((6.0,), (1.5, 6.0))
    """
    values = _numbers(table)
    _check_bins(bins)
    if len(values) < 2:
        return ()
    # Halves, because the width of a range of very large numbers is beyond the doubles.
    low, high = values[0] / 2, values[-1] / 2
    borders = 2 * (low + (high - low) * (np.arange(1, bins) / bins))
    below = np.searchsorted(values, borders, side="right")
    return _midpoints(values, below)


def equal_frequency_bounds(table: FrequencyTable, bins: int) -> tuple[float, ...]:
    """Divide the numbers into bins of about the same weight.

    A border stands after the first number up to which the weight reaches 1, 2, ... parts of `bins`. Borders that fall
    on the same number are one, so a number of great weight makes fewer bins.

    Parameters
    ----------
    table : FrequencyTable
        Of a numeric attribute, for classes.
    bins : int
        At least 1.

    Examples
    --------
    >>> counts = np.array([[1, 1], [1, 1], [2, 2], [0, 4], [1, 3]])
    >>> table = FrequencyTable(counts, np.zeros(2, dtype=int), counts.sum(axis=1), np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    >>> equal_frequency_bounds(table, 4), equal_frequency_bounds(table, 2)
    ((2.5, 3.5, 4.5), (3.5,))
    """
    values = _numbers(table)
    _check_bins(bins)
    if len(values) < 2:
        return ()
    reached = np.cumsum(table.counts.sum(axis=1))
    wanted = reached[-1] * (np.arange(1, bins) / bins)
    # A sum of broken weights may miss its part by rounding; that must not move the border by one number.
    below = np.searchsorted(reached, wanted * (1 - 1e-12), side="left") + 1
    return _midpoints(values, below)


def chi_merge_bounds(
    table: FrequencyTable, significance: float = 0.05, max_intervals: int | None = None
) -> tuple[float, ...]:
    """Merge neighbouring intervals whose classes do not differ significantly (ChiMerge).

    At first every number is an interval. The neighbours with the smallest chi-square (the first pair of equals) are
    merged, again and again, while it is below the critical value for `significance` and (classes - 1) degrees of
    freedom, or while there are more than `max_intervals`. Classes of the whole table count, also where a pair lacks
    some, so that one critical value serves for all.

    Parameters
    ----------
    table : FrequencyTable
        Of a numeric attribute, for classes.
    significance : float
        Between 0 and 1; smaller makes fewer intervals.
    max_intervals : int or None
        At least 1.

    References
    ----------
    R. Kerber, ChiMerge: discretization of numeric attributes, AAAI 1992. Small expected counts are left as they are
    (some programs raise them to 0.5), and classes that do not occur in a pair add nothing to its chi-square.

    Examples
    --------
    >>> counts = np.array([[5, 0], [5, 0], [0, 5], [0, 5], [5, 0]])
    >>> table = FrequencyTable(counts, np.zeros(2, dtype=int), counts.sum(axis=1), np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    >>> chi_merge_bounds(table), chi_merge_bounds(table, max_intervals=2)
    ((2.5, 4.5), (2.5,))
    """
    from scipy.special import chdtri

    values = _numbers(table)
    if not 0 < significance < 1:
        raise ParameterError(f"significance must be between 0 and 1, not {significance!r}")
    if max_intervals is not None:
        _check_bins(max_intervals, "max_intervals")
    classes = int(np.count_nonzero(table.known))
    critical = float(chdtri(classes - 1, significance)) if classes > 1 else inf
    first = _merged(table.counts, critical, len(values) if max_intervals is None else max_intervals)
    return _midpoints(values, np.array(first[1:], dtype=np.intp))


def _merged(counts: Counts, critical: float, most: int) -> list[int]:
    """Return the first outcome of each interval that remains."""
    groups = {place: row for place, row in enumerate(counts.astype(np.float64)) if row.sum() > 0}
    starts = list(groups)
    after = dict(zip(starts, [*starts[1:], -1], strict=False))
    before = dict(zip(starts, [-1, *starts[:-1]], strict=False))
    strength = partial(_difference, groups)
    waiting = [(strength(one, after[one]), one, after[one]) for one in starts[:-1]]
    heapq.heapify(waiting)
    current = {one: value for value, one, _ in waiting}
    while waiting:
        value, one, other = heapq.heappop(waiting)
        if after.get(one, -1) != other or current[one] != value:
            continue  # one of the two was merged since
        if value >= critical and len(groups) <= most:
            break
        groups[one] = groups[one] + groups.pop(other)
        after[one] = after.pop(other)
        if after[one] >= 0:
            before[after[one]] = one
        for left in (before[one], one):
            if left >= 0 and after[left] >= 0:
                current[left] = strength(left, after[left])
                heapq.heappush(waiting, (current[left], left, after[left]))
    return sorted(groups)


def _difference(groups: dict[int, Floats], one: int, other: int) -> float:
    """Return chi-square of two intervals, rounded so that equal tables are equal."""
    return round(chi_square_statistic(np.stack((groups[one], groups[other]))), 9)


def _numbers(table: FrequencyTable) -> Floats:
    if table.values is None:
        raise ParameterError("bounds are made for numeric attributes, and this table has declared values")
    return table.values


def _midpoints(values: Floats, below: npt.NDArray[np.intp]) -> tuple[float, ...]:
    """Return the bounds that leave so many numbers below them; none where all or no numbers are."""
    places = np.unique(below[(below > 0) & (below < len(values))])
    return tuple((values[places - 1] / 2 + values[places] / 2).tolist())


def _check_bins(bins: int, name: str = "bins") -> None:
    if isinstance(bins, bool) or not isinstance(bins, int) or bins < 1:
        raise ParameterError(f"{name} must be a whole number of at least 1, not {bins!r}")
