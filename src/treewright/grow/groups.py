"""Grouping the values of a nominal attribute (C4.5's subset mode), in double precision.

Start with a branch per value that occurs; put values of one and the same class together; then merge, pair by pair,
the two groups whose merging makes the ratio of gain to split information largest, as long as it grows. While fewer
than three groups are large enough the largest one is kept out of merging, so that the small ones find each other.
Values that do not occur share one more branch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treewright.counts.table import Counts
from treewright.grow.criteria import ENTROPY, split_information, total_entropy

BETTER = 1e-5
"""By this much merging must improve the ratio."""

TIE = 1e-9
"""Relative difference below which two merges are equally good; the first pair wins."""


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
    present = [value for value in range(len(counts)) if counts[value].sum() > 0]
    groups = _same_class_together([[value] for value in present], counts)
    score = _value(_table(groups, counts), unknown)
    while len(groups) > 2:
        table = _table(groups, counts)
        weights = table.sum(axis=1)
        large = int(np.count_nonzero(weights >= least))
        barred = int(np.argmax(weights)) if large < 3 else -1
        merge = _best_merge(table, unknown, barred, forced=not by_ratio or large < 2)
        if merge is None:
            break
        pair, value = merge
        if by_ratio and large >= 2 and value < score + BETTER:
            break
        groups[pair[0]] = sorted(groups[pair[0]] + groups[pair[1]])
        del groups[pair[1]]
        score = value
    if score <= 0 or len(groups) < 2:
        return None
    groups.sort(key=lambda group: group[0])
    home = {value: branch for branch, group in enumerate(groups) for value in group}
    absent = len(groups)
    return Groups(tuple(home.get(value, absent) for value in range(len(counts))), _table(groups, counts))


def _table(groups: list[list[int]], counts: Counts) -> Counts:
    return np.stack([counts[group].sum(axis=0) for group in groups])


def _same_class_together(groups: list[list[int]], counts: Counts) -> list[list[int]]:
    """Put together the values all of whose cases are of one and the same class."""
    together: list[list[int]] = []
    of_class: dict[int, list[int]] = {}
    for group in groups:
        row = counts[group].sum(axis=0)
        classes = np.flatnonzero(row)
        only = int(classes[0]) if len(classes) == 1 else None
        if only is not None and only in of_class:
            of_class[only].extend(group)
            continue
        own = list(group)
        together.append(own)
        if only is not None:
            of_class[only] = own
    return together


def _value(table: Counts, unknown: Counts) -> float:
    """Return gain over split information, 0 where either is nothing."""
    information = split_information(table, unknown)
    gain = ENTROPY.of_table(table)
    known = float(table.sum())
    return gain * known / (known + float(unknown.sum())) / information if information > 0 and gain > 0 else 0.0


def _best_merge(table: Counts, unknown: Counts, barred: int, *, forced: bool) -> tuple[tuple[int, int], float] | None:
    """Return the pair whose merging gives the best value, and that value; None if there is no pair worth it."""
    free = [place for place in range(len(table)) if place != barred]
    if len(free) < 2:
        return None
    first, second = (np.array(side)[_upper(len(free))] for side in np.meshgrid(free, free, indexing="ij"))
    values = _values_after(table, unknown, first, second)
    best = int(np.argmax(values >= values.max() - TIE * abs(values.max())))
    if values[best] <= 0 and not forced:
        return None
    return (int(first[best]), int(second[best])), float(values[best])


def _upper(n: int) -> npt.NDArray[np.bool_]:
    return np.triu(np.ones((n, n), dtype=bool), k=1)


def _values_after(
    table: Counts, unknown: Counts, first: npt.NDArray[np.intp], second: npt.NDArray[np.intp]
) -> npt.NDArray[np.float64]:
    """Return the value after each merge: only two terms of the sums change."""
    known = float(table.sum())
    weight = known + float(unknown.sum())
    whole = float(total_entropy(table.sum(axis=0, keepdims=True))[0])
    inside = total_entropy(table)
    merged = total_entropy(table[first] + table[second])
    after = inside.sum() - inside[first] - inside[second] + merged
    gain = (whole - after) / weight
    sizes = table.sum(axis=1)
    pairs = np.stack([sizes[first], sizes[second]], axis=1)
    # The entropy of the sizes falls by the entropy of the pair within its sum.
    information = split_information(table, unknown) - total_entropy(pairs) / weight
    fits = (gain > 1e-12 * whole / weight) & (information > 1e-12)
    return np.where(fits, gain / np.where(fits, information, 1.0), 0.0)
