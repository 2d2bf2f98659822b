"""Grouping the values of a nominal attribute (C4.5's subset mode), in double precision.

Start with a group for each value that occurs; put values of one and the same class together; then merge, pair by pair,
the two groups whose merging makes the ratio of gain to split information largest, as long as it grows. Merges that
keep at least half of the first gain come before others. While fewer than three groups are large enough the largest
one is kept out of merging, so that the small ones find each other. Values that (nearly) do not occur share one more
branch and play no part.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treewright.counts.table import Counts
from treewright.grow.criteria import split_information, total_entropy
from treewright.grow.ties import TIE, first_of_ties

BETTER = 1e-5
"""By this much merging must improve the ratio."""

OCCURS = 0.5
"""A value needs more weight than this to be grouped; only divided cases weigh less than one."""

PURE_SLACK = 0.1
"""A group whose other classes weigh no more than this counts as a single class."""

LEAST_WEIGHT = 1.0
"""While groups are merged, two of them must weigh at least this much for there to be any gain."""


@dataclass(frozen=True)
class Groups:
    """The branch of each declared value, and the table of the branches that have cases."""

    branch_of: tuple[int, ...]
    counts: Counts


def grouped(counts: Counts, unknown: Counts, least: float, *, by_ratio: bool) -> Groups | None:
    """Group the values of a table; None where no grouping has a gain.

    Parameters
    ----------
    counts : array, declared values x classes
    unknown : array of classes
    least : float
        Weight that makes a group large enough.
    by_ratio : bool
        Merge while the ratio grows; otherwise (plain gain) until two groups are left.

    Examples
    --------
    >>> grouped(np.array([[5, 0], [4, 1], [0, 6], [3, 0]]), np.zeros(2), 2, by_ratio=True).branch_of
    (0, 0, 1, 0)
    """
    groups = _same_class_together([[value] for value in range(len(counts)) if counts[value].sum() > OCCURS], counts)
    if len(groups) < 2:
        return None
    measure = _Measure(counts, unknown)
    gain, score = measure.whole(_table(groups, counts))
    half = gain / 2
    while len(groups) > 2:
        table = _table(groups, counts)
        weights = table.sum(axis=1)
        large = int(np.count_nonzero(weights >= least))
        barred = int(np.argmax(weights)) if large < 3 else -1
        merge = _best_merge(measure, table, barred, half, forced=not by_ratio or large < 2)
        if merge is None:
            break
        first, second, value = merge
        if by_ratio and large >= 2 and value < score + BETTER:
            break
        groups[first] = groups[first] + groups[second]
        del groups[second]
        score = value
    if score <= 0:
        return None
    groups = sorted(sorted(group) for group in groups)
    home = {value: branch for branch, group in enumerate(groups) for value in group}
    return Groups(tuple(home.get(value, len(groups)) for value in range(len(counts))), _table(groups, counts))


def _table(groups: list[list[int]], counts: Counts) -> Counts:
    return np.stack([counts[group].sum(axis=0) for group in groups])


def _same_class_together(groups: list[list[int]], counts: Counts) -> list[list[int]]:
    """Put together the values (nearly) all of whose cases are of one and the same class."""
    together: list[list[int]] = []
    of_class: dict[int, list[int]] = {}
    for group in groups:
        row = counts[group].sum(axis=0)
        main = int(np.argmax(row))
        single = bool(row[main] >= row.sum() - PURE_SLACK)
        if single and main in of_class:
            of_class[main].extend(group)
            continue
        own = list(group)
        together.append(own)
        if single:
            of_class[main] = own
    return together


class _Measure:
    """Gain and its ratio to the split information, over all the cases of the attribute."""

    def __init__(self, counts: Counts, unknown: Counts) -> None:
        self._unknown = unknown
        self._weight = float(counts.sum()) + float(unknown.sum())
        self._before = float(total_entropy(counts.sum(axis=0, keepdims=True))[0])

    def whole(self, table: Counts) -> tuple[float, float]:
        """Return gain and ratio of the groups as they are."""
        gain = (self._before - float(total_entropy(table).sum())) / self._weight
        information = split_information(table, self._unknown)
        fits = np.count_nonzero(table.sum(axis=1) >= LEAST_WEIGHT) >= 2 and information > 0 and gain > 0
        return gain, gain / information if fits else 0.0

    def after_merging(
        self, table: Counts, first: npt.NDArray[np.intp], second: npt.NDArray[np.intp]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return gain and ratio after each merge: only two terms of the sums change."""
        inside = total_entropy(table)
        merged = total_entropy(table[first] + table[second])
        after = inside.sum() - inside[first] - inside[second] + merged
        gain = (self._before - after) / self._weight
        sizes = table.sum(axis=1)
        pairs = np.stack([sizes[first], sizes[second]], axis=1)
        # The entropy of the sizes falls by the entropy of the pair within its sum.
        information = split_information(table, self._unknown) - total_entropy(pairs) / self._weight
        large = (
            np.count_nonzero(sizes >= LEAST_WEIGHT)
            - (pairs >= LEAST_WEIGHT).sum(axis=1)
            + (pairs.sum(axis=1) >= LEAST_WEIGHT)
        )
        fits = (gain > 1e-12 * self._before / self._weight) & (information > 1e-12) & (large >= 2)
        return gain, np.where(fits, gain / np.where(fits, information, 1.0), 0.0)


def _best_merge(
    measure: _Measure, table: Counts, barred: int, half: float, *, forced: bool
) -> tuple[int, int, float] | None:
    """Return the best pair and its ratio after merging; None if no pair is worth it."""
    free = np.array([place for place in range(len(table)) if place != barred], dtype=np.intp)
    if len(free) < 2:
        return None
    upper_first, upper_second = np.triu_indices(len(free), k=1)
    first, second = free[upper_first], free[upper_second]
    gains, values = measure.after_merging(table, first, second)
    good = gains >= half * (1 - TIE)
    ranked = np.where(good, values, -1.0) if good.any() else values
    best = first_of_ties(ranked)
    if values[best] <= 0 and not forced:
        return None
    return int(first[best]), int(second[best]), float(values[best])
