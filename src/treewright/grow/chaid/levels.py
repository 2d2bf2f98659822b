"""The levels of attributes for CHAID: from columns to the rows of a table, and from groups back to a split.

Vocabulary
----------
level
    A declared value of a nominal or ordinal attribute, an interval of a numeric one, or `MISSING`.
interval
    Numeric attributes are cut once, before growing, where a given part of all training cases is passed (quantiles). The
    bounds lie in the middle between neighbouring numbers; a bound belongs to the interval below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from treewright.counts.table import Counts, FrequencyTable
from treewright.data.schema import Column, Kind
from treewright.grow.chaid.significance import Scale
from treewright.model.split import KNOWN, Split

Floats = npt.NDArray[np.float64]

MISSING = -1
"""The level of the cases without a value."""

LevelGroups = tuple[tuple[int, ...], ...]


def quantile_bounds(values: Floats, weights: Floats, bins: int) -> tuple[float, ...]:
    """Return the bounds of at most `bins` intervals of about equal weight.

    A bound follows the first number at which 1/bins, 2/bins, ... of the weight are reached; numbers that are equal
    stay together, so there may be fewer intervals.

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
    steps = np.arange(1, bins) * (reached[-1] / bins) * (1 - 1e-9)  # rounding must not push a bound further on
    places = np.unique(np.searchsorted(reached, steps, side="left"))
    places = places[places < len(values) - 1]
    low, high = values[places], values[places + 1]
    middle = low / 2 + high / 2
    bounds = np.where((low <= middle) & (middle < high), middle, low)
    return tuple(bounds.tolist())


@dataclass(frozen=True)
class AttributeLevels:
    """How one attribute is seen.

    Parameters
    ----------
    attribute : int
    column : Column
    bounds : tuple of float
        Of the intervals of a numeric attribute.
    fixed : tuple of int or None
        The levels to consider at every node (as R's CHAID does), None for those that occur there.
    missing_is_nominal : bool
        Whether an ordinal attribute with missing values loses its order (as in R) or lets them float.
    """

    attribute: int
    column: Column
    bounds: tuple[float, ...] = ()
    fixed: tuple[int, ...] | None = None
    missing_is_nominal: bool = False

    def levels_in(self, table: FrequencyTable) -> tuple[int, ...]:
        """Return the levels to consider at a node, in order, `MISSING` last."""
        if self.fixed is not None:
            return self.fixed
        occurring = np.flatnonzero(table.cases > 0).tolist()
        return (*occurring, MISSING) if table.unknown_cases else tuple(occurring)

    def scale(self, levels: Sequence[int]) -> Scale:
        """Return which of these levels may be merged."""
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

        Cases without a value, and values that are in no group, go where the missing values of the training cases went;
        if there were none, to the heaviest group (the first of equals).
        """
        home = next((branch for branch, group in enumerate(groups) if MISSING in group), int(np.argmax(weights)))
        if self.column.is_numeric:
            return self._split_numbers(groups, home)
        branch_of = [-1] * len(self.column.values)
        for branch, group in enumerate(groups):
            for level in group:
                if level != MISSING:
                    branch_of[level] = branch
        return Split.subsets(self.attribute, branch_of, home)

    def _split_numbers(self, groups: LevelGroups, home: int) -> Split:
        known = [[level for level in group if level != MISSING] for group in groups]
        runs = [levels for levels in known if levels]
        if len(runs) == 1:
            return Split.threshold(self.attribute, KNOWN, home)
        # Intervals without cases here are shared between their neighbours.
        bounds = [self.bounds[(below[-1] + above[0] - 1) // 2] for below, above in pairwise(runs)]
        if len(groups) == 2:
            return Split.threshold(self.attribute, bounds[0], home)
        return Split.intervals(self.attribute, bounds, home)
