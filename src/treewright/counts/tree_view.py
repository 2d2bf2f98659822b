"""One tree of a forest that is counted outside memory: to whoever grows it, it looks like an engine of its own.

All trees of a forest share every pass over the data. What one of them asks for has been counted for all of them before,
so that most questions are answered from what is there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from treewright._base.errors import ParameterError
from treewright.counts.engine import Sieve, Summary
from treewright.counts.outside import OutsideEngine
from treewright.counts.table import FrequencyTable
from treewright.data.dataset import Dataset
from treewright.data.schema import Schema
from treewright.model.split import Split


class TreeView:
    """The engine of one tree.

    Parameters
    ----------
    forest : OutsideEngine
        Over the bags of all trees.
    tree : int
    """

    def __init__(self, forest: OutsideEngine, tree: int) -> None:
        self._forest = forest
        self._tree = tree
        self.placed: Mapping[int, Mapping[float, float]] = {}
        """The largest numbers not above cuts, as they were asked for all trees."""

    @property
    def name(self) -> str:
        """What messages call the engine."""
        return self._forest.name

    @property
    def source(self) -> str | None:
        """Where the data are."""
        return self._forest.source

    @property
    def schema(self) -> Schema:
        """The schema of the data."""
        return self._forest.schema

    @property
    def n_cases(self) -> int:
        """Number of cases in the bag."""
        return self._forest.root_summary(self._tree).cases

    @property
    def n_rows(self) -> int:
        """Number of cases in the bag."""
        return self.n_cases

    @property
    def scans(self) -> int:
        """Passes over the data, for all trees."""
        return self._forest.scans

    @property
    def scans_ahead(self) -> int:
        """No passes: those of the forest count."""
        return 0

    @property
    def scans_per_level(self) -> int:
        """No passes: those of the forest count."""
        return 0

    def root(self) -> int:
        """Open the node of all cases."""
        return self._forest.root(self._tree)

    def summaries(self, nodes: Sequence[int]) -> list[Summary]:
        """Describe the target at open nodes."""
        return self._forest.summaries(nodes)

    def count(
        self, requests: Sequence[tuple[int, Sequence[int]]], sieve: Sieve | None = None
    ) -> list[list[FrequencyTable]]:
        """Count the tables of attributes at open nodes."""
        return self._forest.count(requests, sieve)

    def divide(self, node: int, split: Split) -> list[int]:
        """Close a node and open one for each branch."""
        return self._forest.divide(node, split)

    def close(self, node: int) -> None:
        """Forget a node that became a leaf."""
        self._forest.close(node)

    def restore(self, node: int, split: Split, summaries: Sequence[Summary]) -> list[int]:
        """Divide a node whose children are known."""
        return self._forest.restore(node, split, summaries)

    def fetch(self, nodes: Sequence[int]) -> list[Dataset]:
        """Return the cases of open nodes."""
        return self._forest.fetch(nodes)

    @property
    def intervals(self) -> Mapping[int, Sequence[float]]:
        """No intervals: every tree would have its own."""
        return {}

    def use_intervals(self, attribute: int, bounds: Sequence[float]) -> None:
        """Refuse: every tree would have its own."""
        raise ParameterError("the trees of a forest make no intervals of numbers outside memory; cut them in two")

    def use_numbers(self) -> None:
        """Do nothing: there are no intervals."""

    def incomplete(self) -> dict[str, int]:
        """Return the number of missing values of each attribute that has some."""
        return self._forest.incomplete()

    def largest_values_not_above(self, bounds: Mapping[int, Sequence[float]]) -> dict[int, list[float]]:
        """Answer from what was asked for all trees."""
        return {attribute: [self.placed[attribute][one] for one in some] for attribute, some in bounds.items()}

    def largest_value_not_above(self, attribute: int, bound: float) -> float:
        """Answer from what was asked for all trees."""
        return self.largest_values_not_above({attribute: [bound]})[attribute][0]

    def distinct_rows(self, cuts: Mapping[int, Sequence[float]], limit: int) -> Dataset | None:
        """Refuse: equal cases are put together for one tree only."""
        raise ParameterError("the trees of a forest are not pruned by cases outside memory")

    def rows(self, node: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]:
        """Refuse: rows outside memory have no numbers."""
        return self._forest.rows(node)
