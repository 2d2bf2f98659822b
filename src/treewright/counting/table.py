"""The frequency table: what a criterion sees instead of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.errors import ParameterError
from treewright.tree.split import Split

Counts = npt.NDArray[Any]
"""Integers (int64) if the weights are integers, doubles otherwise."""


@dataclass(frozen=True)
class FrequencyTable:
    """Outcomes x classes (or moments) of one attribute at one node.

    Parameters
    ----------
    counts : array, outcomes x statistics
        Integers if the weights are integers.
    unknown : array of statistics
    cases : array of int
        Number of cases of each outcome, unweighted.
    values : array of float or None
        For a numeric attribute the distinct numbers, ascending; None for categories and intervals.
    unknown_cases : int
        Number of cases with a missing value.
    highest : array of float or None
        If rows are runs of neighbouring numbers, the last number of each run; `values` are the first ones. Runs
        contain only cuts that cannot be the best.
    cuts_inside : array of int or None
        For runs: the number of cuts inside each, which were ruled out by a bound.

    Examples
    --------
    >>> table = FrequencyTable(np.array([[2, 3], [4, 0], [3, 2]]), np.array([0, 0]), np.array([5, 4, 5]))
    >>> table.known.tolist(), (table + table).weight
    ([9, 5], 28.0)
    """

    counts: Counts
    unknown: Counts
    cases: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64] | None = None
    unknown_cases: int = 0
    highest: npt.NDArray[np.float64] | None = None
    cuts_inside: npt.NDArray[np.int64] | None = None

    @property
    def known(self) -> Counts:
        """Column sums over the cases with a value."""
        known: Counts = self.counts.sum(axis=0)
        return known

    @property
    def first(self) -> npt.NDArray[np.float64]:
        """The first number of each row of a table of numbers."""
        return np.zeros(0) if self.values is None else self.values

    @property
    def last(self) -> npt.NDArray[np.float64]:
        """The last number of each row of a table of numbers: the first one unless the row is a run."""
        return self.first if self.highest is None else self.highest

    @property
    def weight(self) -> float:
        """Weight of all cases, unknown included (classification tables)."""
        return float(self.counts.sum() + self.unknown.sum())

    def __add__(self, other: FrequencyTable) -> FrequencyTable:
        """Add the table of other cases, outcome by outcome."""
        self._check(other)
        return FrequencyTable(
            self.counts + other.counts,
            self.unknown + other.unknown,
            self.cases + other.cases,
            self.values,
            self.unknown_cases + other.unknown_cases,
        )

    def __sub__(self, other: FrequencyTable) -> FrequencyTable:
        """Subtract the table of some of the cases: the difference is the table of the others."""
        self._check(other)
        return FrequencyTable(
            self.counts - other.counts,
            self.unknown - other.unknown,
            self.cases - other.cases,
            self.values,
            self.unknown_cases - other.unknown_cases,
        )

    def _check(self, other: FrequencyTable) -> None:
        if self.counts.shape != other.counts.shape:
            raise ParameterError(f"tables of shape {self.counts.shape} and {other.counts.shape} cannot be combined")
        if (self.values is None) != (other.values is None):
            raise ParameterError("a table of numbers and one of categories cannot be combined")
        if self.values is not None and other.values is not None and not np.array_equal(self.values, other.values):
            raise ParameterError("tables of different numbers cannot be combined")


def branch_counts(table: FrequencyTable, split: Split) -> Counts:
    """Add up the rows of an attribute's table by the branches of a split.

    Examples
    --------
    >>> table = FrequencyTable(np.array([[1, 0], [0, 2], [3, 0]]), np.zeros(2), np.ones(3), np.array([1.0, 2.0, 3.0]))
    >>> branch_counts(table, Split.threshold(0, 2.0)).tolist()
    [[1, 2], [3, 0]]
    """
    outcomes = table.values if table.values is not None else np.arange(len(table.counts), dtype=np.int32)
    counted_by_interval = table.values is None and bool(split.bounds)
    branches = outcomes.astype(np.int32) if counted_by_interval else split.route(outcomes)
    counts: Counts = np.zeros((split.n_branches, table.counts.shape[1]), dtype=table.counts.dtype)
    for branch in range(split.n_branches):
        counts[branch] = table.counts[branches == branch].sum(axis=0)
    return counts
