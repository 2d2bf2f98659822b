"""The levels of an attribute, and how CHAID merges them.

Merging takes the table of one attribute and returns groups of its rows; the functions are pure. There are three
procedures: Kass's (1980), the exhaustive one of Biggs, de Ville and Suen (1991), and that of R's CHAID 0.1-2;
`merge_like_r` lists how the last differs from Kass's.

Ties: of equally similar pairs, the one whose higher group comes first is merged, then the one whose lower group comes
first. Log p-values closer than `TIE` are equal, except in the procedure of R, which compares them exactly.

`AttributeLevels` converts columns to the rows of a table, and groups back to a split.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from treewright.counting.table import Counts, FrequencyTable
from treewright.data.schema import Column, Kind
from treewright.learners.candidates import subsets_to_compare
from treewright.learners.chaid.significance import (
    ChiSquareTest,
    Scale,
    SignificanceTest,
    log_exhaustive_multiplier,
    log_multiplier,
)
from treewright.tree.split import KNOWN, Split

Floats = npt.NDArray[np.float64]
Groups = tuple[tuple[int, ...], ...]

TIE = 1e-9
"""Difference below which two log p-values are equal."""

SMALL_CELL, SMALL_TABLE = 10, 100
"""R's CHAID simulates random tables if a cell is below the first and the total below the second."""


class Merged(NamedTuple):
    """The result of merging the levels of an attribute.

    Parameters
    ----------
    groups : tuple of tuple of int
        Rows of the table, by group.
    log_p : float
        Of the table of the groups.
    log_multiplier : float
        Logarithm of the multiplier of the p-value.
    log_adjusted : float
        Logarithm of the adjusted p-value; at most 0, except in R's procedure, which does not limit it.
    monte_carlo : bool
        Whether R would have simulated tables for one of the p-values.
    """

    groups: Groups
    log_p: float
    log_multiplier: float
    log_adjusted: float
    monte_carlo: bool = False


@dataclass(frozen=True)
class LevelTable:
    """The table of one attribute: levels x statistics, how levels may be merged, and how groups are tested."""

    rows: Counts
    scale: Scale
    test: SignificanceTest

    @property
    def singles(self) -> Groups:
        """One group per level."""
        return tuple((level,) for level in range(len(self.rows)))

    def sums(self, groups: Groups) -> Counts:
        """Return the summed row of each group."""
        added: Counts = np.stack([self.rows[list(group)].sum(axis=0) for group in groups])
        return added

    def log_p(self, groups: Groups) -> float:
        """Return log p of the table of these groups."""
        return self.test.of_table(self.sums(groups))

    def weights(self, groups: Groups) -> Floats:
        """Return the weight of each group."""
        return self.test.weights(self.sums(groups))

    def allowed(self, groups: Groups) -> npt.NDArray[np.bool_]:
        """Return which pairs of groups (lower, higher) may be merged."""
        k = len(groups)
        if self.scale is Scale.NOMINAL:
            return np.triu(np.ones((k, k), dtype=bool), 1)
        pairs = np.eye(k, k=1, dtype=bool)
        if self.scale is Scale.FLOATING and groups[-1] == (len(self.rows) - 1,):
            pairs[:-1, -1] = True
        return pairs


def merge_groups(groups: Groups, low: int, high: int) -> Groups:
    """Return the groups after merging two of them into the lower one.

    Examples
    --------
    >>> merge_groups(((0,), (1,), (2, 4), (3,)), 1, 2)
    ((0,), (1, 2, 4), (3,))
    """
    merged = tuple(sorted(groups[low] + groups[high]))
    return (*groups[:low], merged, *groups[low + 1 : high], *groups[high + 1 :])


class _GroupPairs:
    """Log p of every pair of groups, kept between rounds: cell (lower, higher), NaN if not computed."""

    def __init__(self, table: LevelTable, groups: Groups) -> None:
        self._table = table
        self.start(groups)

    def start(self, groups: Groups) -> None:
        """Start again with these groups."""
        self.groups = groups
        self._sums = self._table.sums(groups)
        self._cells = np.full((len(groups), len(groups)), np.nan)
        self._fill()

    def _fill(self) -> None:
        self._open = self._table.allowed(self.groups)
        low, high = np.nonzero(self._open & np.isnan(self._cells))
        if len(low):
            self._cells[low, high] = self._tested(self._sums[low], self._sums[high])

    def _tested(self, first: Counts, second: Counts) -> Floats:
        return self._table.test.of_row_pairs(first, second)

    def merge(self, low: int, high: int) -> None:
        """Merge two groups and test the new one against the others."""
        self._replace(low, high)
        self._cells[low, :] = self._cells[:, low] = np.nan
        self._cells = np.delete(np.delete(self._cells, high, 0), high, 1)
        self._fill()

    def _replace(self, low: int, high: int) -> None:
        self.groups = merge_groups(self.groups, low, high)
        self._sums[low] += self._sums[high]
        self._sums = np.delete(self._sums, high, 0)

    def most_similar(self, only: int | None = None, tie: float = TIE) -> tuple[int, int, float]:
        """Return the pair with the largest p (among those that contain the group `only`), and its log p."""
        candidates = self._open
        if only is not None:
            own = np.zeros_like(candidates)
            own[only, :] = own[:, only] = True
            candidates = candidates & own
        # By column (the higher group), then by row: the order of ties.
        high, low = np.nonzero(candidates.T)
        values = self._cells[low, high]
        best = float(values.max())
        chosen = int(np.argmax(values >= best - tie)) if best > -math.inf else 0
        return int(low[chosen]), int(high[chosen]), float(values[chosen])

    @property
    def weights(self) -> Floats:
        """Weight of each group."""
        return self._table.test.weights(self._sums)

    def small_group(self, least: float) -> int | None:
        """Return the lightest group (the first of equals) if it weighs less than `least`."""
        weights = self.weights
        lightest = int(np.argmin(weights))
        return lightest if weights[lightest] < least * (1 - 1e-12) else None


# -- Kass ------------------------------------------------------------------------------------------------------------


def merge_levels(table: LevelTable, alpha: float, least: float, *, resplit: bool = False) -> Merged:
    """Merge by Kass's procedure.

    The most similar pair is merged while its p is above `alpha`; then the lightest group, while its weight is below
    `least`, is merged with the group most similar to it, and pairs are compared again. A single group may remain. With
    `resplit`, a merged group of three or more levels is split again by its best binary split (for many levels and
    classes `treewright.learners.candidates` limits the search), if the p-value of the two parts is at most `alpha`,
    each part has the weight `least`, and these groups did not occur before (so that merging ends).

    Parameters
    ----------
    table : LevelTable
        Of the levels that have cases.
    alpha : float
    least : float
    resplit : bool

    Examples
    --------
    >>> rows = np.array([[30, 10], [28, 12], [10, 30]])
    >>> merge_levels(LevelTable(rows, Scale.NOMINAL, ChiSquareTest()), 0.05, 7).groups
    ((0, 1), (2,))
    """
    limit = math.log(alpha)
    pairs = _GroupPairs(table, table.singles)
    seen = {pairs.groups}
    while len(pairs.groups) > 1:
        low, high, log_p = pairs.most_similar()
        if log_p <= limit:
            small = pairs.small_group(least)
            if small is None:
                break
            low, high, _ = pairs.most_similar(only=small)
        pairs.merge(low, high)
        seen.add(pairs.groups)
        if resplit and len(pairs.groups[low]) >= 3:
            parts = _best_partition(table, pairs.groups[low], least)
            if parts is not None and parts[1] <= limit:
                others = (*pairs.groups[:low], *pairs.groups[low + 1 :])
                resplit_groups = tuple(sorted((*others, *parts[0])))
                if resplit_groups not in seen:
                    seen.add(resplit_groups)
                    pairs.start(resplit_groups)
    return _adjusted(table, pairs.groups)


def _adjusted(table: LevelTable, groups: Groups) -> Merged:
    if len(groups) < 2:
        return Merged(groups, 0.0, 0.0, 0.0)
    log_p = table.log_p(groups)
    multiplier = log_multiplier(len(table.rows), len(groups), table.scale)
    return Merged(groups, log_p, multiplier, min(log_p + multiplier, 0.0))


def _best_partition(table: LevelTable, group: tuple[int, ...], least: float) -> tuple[Groups, float] | None:
    """Return the two parts of a group that differ most, and their log p; None if no parts have enough weight."""
    levels = np.array(group)
    rows = table.rows[levels]
    sides = _partitions(table, group, rows)
    left = np.stack([rows[side].sum(axis=0) for side in sides])
    right = rows.sum(axis=0) - left
    weights = np.minimum(table.test.weights(left), table.test.weights(right))
    fits = weights >= least * (1 - 1e-12)
    if not fits.any():
        return None
    log_p = np.where(fits, table.test.of_row_pairs(left, right), np.inf)
    best = int(np.argmax(log_p <= log_p.min() + TIE))
    parts = (tuple(levels[sides[best]].tolist()), tuple(levels[~sides[best]].tolist()))
    return parts, float(log_p[best])


def _partitions(table: LevelTable, group: tuple[int, ...], rows: Counts) -> npt.NDArray[np.bool_]:
    """Return the binary partitions of a group as masks, the first level always on the left."""
    if table.scale is Scale.NOMINAL:
        regression = not isinstance(table.test, ChiSquareTest)
        return subsets_to_compare(rows, np.ones(len(rows), dtype=np.int64), regression=regression)
    floats = table.scale is Scale.FLOATING and group[-1] == len(table.rows) - 1
    known = len(group) - floats
    cuts = np.tril(np.ones((known - 1, known), dtype=bool))
    if not floats:
        return cuts
    off, on = np.zeros((known - 1, 1), dtype=bool), np.ones((known - 1, 1), dtype=bool)
    alone = np.append(np.ones(known, dtype=bool), False)[None, :]  # the missing values against all others
    return np.concatenate((np.concatenate((cuts, off), axis=1), np.concatenate((cuts, on), axis=1), alone))


# -- exhaustive ------------------------------------------------------------------------------------------------------


def merge_exhaustively(table: LevelTable, least: float) -> Merged:
    """Merge pair after pair down to two groups, and return the stage with the smallest p (the first of equals).

    Levels lighter than `least` are first merged with the level most similar to them, the lightest first, so that every
    stage is admissible. The multiplier is the same for all stages.

    Examples
    --------
    >>> rows = np.array([[30, 10], [28, 12], [10, 30]])
    >>> merged = merge_exhaustively(LevelTable(rows, Scale.NOMINAL, ChiSquareTest()), 7)
    >>> merged.groups, round(math.exp(merged.log_multiplier))
    (((0, 1), (2,)), 4)
    """
    pairs = _GroupPairs(table, table.singles)
    while len(pairs.groups) > 1:
        small = pairs.small_group(least)
        if small is None:
            break
        pairs.merge(*pairs.most_similar(only=small)[:2])
    if len(pairs.groups) < 2:
        return Merged(pairs.groups, 0.0, 0.0, 0.0)
    best, best_log_p = pairs.groups, table.log_p(pairs.groups)
    while len(pairs.groups) > 2:
        pairs.merge(*pairs.most_similar()[:2])
        log_p = table.log_p(pairs.groups)
        if log_p < best_log_p - TIE:
            best, best_log_p = pairs.groups, log_p
    multiplier = log_exhaustive_multiplier(len(table.rows), table.scale)
    return Merged(best, best_log_p, multiplier, min(best_log_p + multiplier, 0.0))


# -- R's CHAID -------------------------------------------------------------------------------------------------------


def merge_like_r(table: LevelTable, alpha: float, least: int) -> Merged:
    """Merge as R's CHAID 0.1-2 does.

    Differences from Kass: the levels are those of the whole data, even if they have no cases at the node; two groups
    always remain; while any group has fewer than `least` cases the most similar pair is merged, whether it contains
    that group or not, and if such a group remains, the adjusted p is 1; the adjusted p may exceed 1; and p-values of
    pairs are displaced (see `_DisplacedGroupPairs`). The program simulates small tables; here they use the chi-square
    distribution as well, and the result is marked.
    """
    limit = math.log(alpha)
    pairs = _DisplacedGroupPairs(table, table.singles)
    while len(pairs.groups) > 2:
        low, high, log_p = pairs.most_similar(tie=0.0)
        if log_p <= limit and pairs.weights.min() >= least:
            break
        pairs.merge(low, high)
    groups = pairs.groups
    if pairs.weights.min() < least:
        return Merged(groups, 0.0, 0.0, 0.0, pairs.monte_carlo)
    sums = table.sums(groups)
    monte_carlo = pairs.monte_carlo or simulates_tables(sums)
    log_p = table.test.of_table(sums)
    if log_p == 0:
        return Merged(groups, 0.0, 0.0, 0.0, monte_carlo)
    occurring = int(np.count_nonzero(table.test.weights(table.rows)))
    multiplier = log_multiplier(occurring, len(groups), table.scale)
    return Merged(groups, log_p, multiplier, log_p + multiplier, monte_carlo)


class _DisplacedGroupPairs(_GroupPairs):
    """The table of pairs as R's CHAID keeps it.

    When groups a < b are merged, the cells of both are cleared, and then row a and column b are deleted, not row b. So
    the rows between move up by one, and the p-values of group i+1 are used for group i.
    """

    monte_carlo = False

    def _tested(self, first: Counts, second: Counts) -> Floats:
        self.monte_carlo = self.monte_carlo or simulates_tables(np.stack((first, second), axis=1))
        return super()._tested(first, second)

    def merge(self, low: int, high: int) -> None:
        self._replace(low, high)
        for group in (low, high):
            self._cells[group, :] = self._cells[:, group] = np.nan
        self._cells = np.delete(np.delete(self._cells, low, 0), high, 1)
        self._fill()


def simulates_tables(rows: Counts) -> bool:
    """Return True if R's CHAID simulates random tables for a table, or for one of several (tables x rows x classes).

    Examples
    --------
    >>> simulates_tables(np.array([[9, 20], [20, 9]])), simulates_tables(np.array([[9, 50], [50, 9]]))
    (True, False)
    """
    small = (rows.min(axis=(-2, -1)) < SMALL_CELL) & (rows.sum(axis=(-2, -1)) < SMALL_TABLE)
    several = [np.count_nonzero(rows.sum(axis=axis), axis=-1) > 1 for axis in (-2, -1)]
    return bool(np.any(small & several[0] & several[1]))


MISSING = -1
"""The level of the cases with a missing value."""

LevelGroups = tuple[tuple[int, ...], ...]


def quantile_bounds(values: Floats, weights: Floats, bins: int) -> tuple[float, ...]:
    """Return the bounds of at most `bins` intervals of about equal weight.

    A bound follows the first number at which 1/bins, 2/bins, ... of the weight are reached. Equal numbers stay
    together, so there may be fewer intervals.

    Parameters
    ----------
    values : array of float
        Distinct numbers, ascending.
    weights : array of float
        Of the cases with each number.
    bins : int

    Examples
    --------
    >>> quantile_bounds(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 1.0, 1.0, 1.0]), 2)
    (2.5,)
    >>> quantile_bounds(np.array([0.0, 5.0, 6.0]), np.array([8.0, 1.0, 1.0]), 5)
    (2.5,)
    """
    reached = np.cumsum(weights)
    if len(values) < 2:
        return ()
    steps = np.arange(1, bins) * (reached[-1] / bins) * (1 - 1e-9)  # rounding must not move a bound to the next number
    positions = np.unique(np.searchsorted(reached, steps, side="left"))
    positions = positions[positions < len(values) - 1]
    low, high = values[positions], values[positions + 1]
    middle = low / 2 + high / 2
    bounds = np.where((low <= middle) & (middle < high), middle, low)
    return tuple(bounds.tolist())


@dataclass(frozen=True)
class AttributeLevels:
    """The levels of one attribute.

    Parameters
    ----------
    attribute : int
    column : Column
    bounds : tuple of float
        Bounds of the intervals of a numeric attribute.
    fixed : tuple of int or None
        The levels to use at every node (as in R's CHAID), None for those that have cases there.
    missing_is_nominal : bool
        Whether missing values make an ordinal attribute nominal (as in R); otherwise they are a floating level.
    """

    attribute: int
    column: Column
    bounds: tuple[float, ...] = ()
    fixed: tuple[int, ...] | None = None
    missing_is_nominal: bool = False

    def levels_in(self, table: FrequencyTable) -> tuple[int, ...]:
        """Return the levels to use at a node, in order, `MISSING` last."""
        if self.fixed is not None:
            return self.fixed
        occurring = np.flatnonzero(table.cases > 0).tolist()
        return (*occurring, MISSING) if table.unknown_cases else tuple(occurring)

    def scale(self, levels: Sequence[int]) -> Scale:
        """Return the scale, which determines the levels that may be merged."""
        missing = len(levels) > 0 and levels[-1] == MISSING
        if self.column.kind is Kind.NOMINAL or (
            missing and self.missing_is_nominal and not self.column.is_numeric  # intervals have to stay in order
        ):
            return Scale.NOMINAL
        return Scale.FLOATING if missing else Scale.ORDERED

    def rows(self, table: FrequencyTable, levels: Sequence[int]) -> Counts:
        """Return the rows of these levels."""
        rows: Counts = np.concatenate((table.counts, table.unknown[None, :]))[list(levels)]
        return rows

    def split(self, groups: LevelGroups, weights: Floats) -> Split:
        """Return the test with one branch per group.

        Missing values, and categories in no group, take the branch of the missing training values; if there were none,
        the branch of the heaviest group (the first of equals).
        """
        default = next((branch for branch, group in enumerate(groups) if MISSING in group), int(np.argmax(weights)))
        if self.column.is_numeric:
            return self._split_numbers(groups, default)
        branch_of = [-1] * len(self.column.values)
        for branch, group in enumerate(groups):
            for level in group:
                if level != MISSING:
                    branch_of[level] = branch
        return Split.subsets(self.attribute, branch_of, default)

    def _split_numbers(self, groups: LevelGroups, default: int) -> Split:
        known = [[level for level in group if level != MISSING] for group in groups]
        runs = [levels for levels in known if levels]
        if len(runs) == 1:
            return Split.threshold(self.attribute, KNOWN, default)
        # Intervals without cases at the node are shared between their neighbours.
        bounds = [self.bounds[(below[-1] + above[0] - 1) // 2] for below, above in pairwise(runs)]
        if len(groups) == 2:
            return Split.threshold(self.attribute, bounds[0], default)
        return Split.intervals(self.attribute, bounds, default)
