"""What the grower asks of whoever counts.

An engine holds the data and the sets of cases that belong to open nodes; the grower decides. Nodes are numbers that the
engine gives out; `divide` turns one into its children. Nothing else passes between the two: no rows, no recipe.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from treewright.counts.table import Counts, FrequencyTable
from treewright.data.schema import Schema
from treewright.model.split import Split


@dataclass(frozen=True)
class Summary:
    """The target at one node.

    Parameters
    ----------
    weight : float
        Weight of the cases.
    cases : int
        Number of cases, whatever they weigh.
    statistics : array
        Weight of each class; or, for a numeric target, weight, sum and sum of squares of the deviations from the mean.
    pure : bool
        Whether all cases have the same target.
    mean, sse : float
        For a numeric target: the mean and the sum of squares around it.
    """

    weight: float
    cases: int
    statistics: Counts
    pure: bool
    mean: float = 0.0
    sse: float = 0.0


class Engine(Protocol):
    """Counts frequency tables for open nodes."""

    @property
    def schema(self) -> Schema:
        """The schema of the data."""

    @property
    def n_cases(self) -> int:
        """Number of training cases."""

    def root(self) -> int:
        """Open the node of all cases."""

    def summaries(self, nodes: Sequence[int]) -> list[Summary]:
        """Describe the target at open nodes."""

    def count(self, requests: Sequence[tuple[int, Sequence[int]]]) -> list[list[FrequencyTable]]:
        """Count the tables of attributes at open nodes, one list per request in the order asked."""

    def divide(self, node: int, split: Split) -> list[int]:
        """Close a node and open one for each branch (empty ones too)."""

    def close(self, node: int) -> None:
        """Forget a node that became a leaf."""

    def largest_value_not_above(self, attribute: int, bound: float) -> float:
        """Return the largest number of the attribute in all training data that is not above `bound`."""

    def use_intervals(self, attribute: int, bounds: Sequence[float]) -> None:
        """From now on count a numeric attribute by intervals."""

    def rows(self, node: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]:
        """Return the row numbers of an open node's cases and their weights."""
