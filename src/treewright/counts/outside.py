"""Open nodes of an engine outside memory, and the tables that were counted at them.

Vocabulary
----------
path
    The number of a place in the tree: the root is 0, and a branch of a test below a path has its own. The same test
    below the same path always leads to the same path, so that tables are found again when a tree is examined later. In
    a forest the path of each root is the number of its tree, and all trees share every pass.
kept tables
    The tables of a node stay while the node is open, because the summaries of its children are sums of their rows;
    those of the top of the tree stay longer, so that a tree can be examined after pruning without another pass.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np
import numpy.typing as npt

from treewright._base.errors import DataError, ParameterError
from treewright.counts.bags import Bags
from treewright.counts.counted import Counted, by_interval, class_summary, number_summary
from treewright.counts.engine import Sieve, Summary
from treewright.counts.table import FrequencyTable
from treewright.data.dataset import Dataset
from treewright.data.schema import Schema, Task
from treewright.model.split import Split

ROOT = 0

KEPT_CELLS = 20_000_000
"""Table cells that are kept beyond the open nodes."""


class OutsideEngine(abc.ABC):
    """What engines that count whole levels have in common; they differ in how they pass over the data.

    Parameters
    ----------
    schema : Schema
        With a target.
    source : str or None
        For messages and provenance.
    bags : Bags or None
        Of the trees of a forest, whose roots have their numbers as paths.
    """

    name: str

    def __init__(self, schema: Schema, source: str | None, bags: Bags | None) -> None:
        require_target(schema)
        trees = 1 if bags is None else len(bags)
        self.source = source
        self.scans = 0
        self._schema = schema
        self._regression = schema.task is Task.REGRESSION
        self._intervals: dict[int, tuple[float, ...]] = {}
        self._tables: dict[int, dict[int, Counted]] = {}
        self._kept_cells = 0
        self._open: dict[int, int] = {}
        self._described: dict[int, Summary] = {}
        self._steps: dict[int, tuple[int, Split, int]] = {}
        self._below: dict[tuple[int, Split], int] = {}
        self._next_node = 0
        self._next_path = trees
        self._trees = trees
        self._bagged = bags is not None
        self._known_rows: int | None = None  # before anything is counted
        self._roots: list[Summary] = []
        self._most_kept = KEPT_CELLS if trees == 1 else 0  # nobody examines the trees of a forest

    # -- what an engine does its own way -----------------------------------------------------------------------------

    @abc.abstractmethod
    def shut(self) -> None:
        """Let go of what is held outside memory."""

    @abc.abstractmethod
    def _roots_of(self, trees: Sequence[int]) -> list[Summary]:
        """Describe the target of all cases of some trees."""

    @abc.abstractmethod
    def _take_all(self, trees: Sequence[int]) -> None:
        """From now on have all cases in the bags of some trees of a forest."""

    @abc.abstractmethod
    def _count_at(
        self,
        paths: Sequence[int],
        attributes: Sequence[int],
        sieve: Sieve | None = None,
        node_of: Mapping[int, int] | None = None,
    ) -> None:
        """Count the tables of attributes at paths and keep them; `node_of` tells the sieve's name of each path."""

    @abc.abstractmethod
    def _known_missing(self) -> Mapping[str, int]:
        """Return the number of missing values of those attributes of which it is known without counting."""

    @abc.abstractmethod
    def _known_numbers(self, attribute: int) -> npt.NDArray[np.float64] | None:
        """Return the different numbers of a numeric attribute, ascending, if they are known."""

    @abc.abstractmethod
    def _largest_between(
        self, bounds: Sequence[Mapping[int, Sequence[float]]]
    ) -> list[dict[int, npt.NDArray[np.float64]]]:
        """Return in one pass, for each tree, the largest number not above each bound but above the one before.

        Bounds ascend; NaN stands where there is no such number.
        """

    @abc.abstractmethod
    def fetch(self, nodes: Sequence[int]) -> list[Dataset]:
        """Return the cases of open nodes, in one pass."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.shut()

    # -- nodes -------------------------------------------------------------------------------------------------------

    @property
    def schema(self) -> Schema:
        """The schema of the data."""
        return self._schema

    @property
    def n_trees(self) -> int:
        """Number of trees that share every pass."""
        return self._trees

    @property
    def n_rows(self) -> int:
        """Number of all rows, those of weight zero included."""
        return self.n_cases if self._known_rows is None else self._known_rows

    @property
    def n_cases(self) -> int:
        """Number of training cases."""
        return self.root_summary().cases

    def root(self, tree: int = 0) -> int:
        """Open the node of all cases of a tree."""
        return self._opened(tree, self.root_summary(tree))

    def root_summary(self, tree: int = 0) -> Summary:
        """Describe the target of all cases of a tree."""
        if not self._roots:
            roots = self._measured_roots()
            if not all(root.cases for root in roots):
                raise DataError("there are no rows to learn from", source=self.source)
            self._roots = roots
        return self._roots[tree]

    def _measured_roots(self) -> list[Summary]:
        """Describe the target of all cases, of each tree of a forest."""
        roots = self._roots_of(range(self._trees))
        empty = [tree for tree, root in enumerate(roots) if root.cases == 0]
        if self._bagged and empty:
            # A bootstrap of nothing says nothing: all cases then.
            self._take_all(empty)
            for tree in empty:
                self._tables.pop(tree, None)
            for tree, root in zip(empty, self._roots_of(empty), strict=True):
                roots[tree] = root
        return roots

    def _opened(self, path: int, summary: Summary) -> int:
        node = self._next_node
        self._next_node += 1
        self._open[node] = path
        self._described[node] = summary
        return node

    def summaries(self, nodes: Sequence[int]) -> list[Summary]:
        """Describe the target at open nodes."""
        return [self._described[node] for node in nodes]

    def close(self, node: int) -> None:
        """Forget a node that became a leaf; the tables of the top of the tree are kept."""
        path = self._open.pop(node)
        del self._described[node]
        size = sum(counted.size for counted in self._tables.get(path, {}).values())
        if self._kept_cells + size <= self._most_kept:
            self._kept_cells += size
        else:
            self._tables.pop(path, None)

    def divide(self, node: int, split: Split) -> list[int]:
        """Close a node and open one for each branch; their summaries are sums of rows of the node's table."""
        path = self._open[node]
        known = self._tables.get(path, {})
        if split.attribute not in known or known[split.attribute].hides(split):
            self._count_at([path], [split.attribute])
        counted = self._tables[path][split.attribute]
        bounds = self._intervals.get(split.attribute)
        lost = counted.lost(split, bounds)
        if lost:
            name = self._schema.attributes[split.attribute].name
            raise ParameterError(
                f"{lost:,} cases without a value of {name!r} would be divided among the branches, "
                f"which {self.name} does not do"
            )
        sums, cases, branches = counted.divided(split, bounds)
        summaries = []
        for branch in range(split.n_branches):
            if not self._regression:
                summaries.append(class_summary(sums[branch], int(cases[branch])))
                continue
            here = branches == branch
            low = 0.0 if counted.low is None or not here.any() else float(counted.low[here].min())
            high = 0.0 if counted.high is None or not here.any() else float(counted.high[here].max())
            mean = self._described[node].mean
            summaries.append(number_summary(sums[branch], int(cases[branch]), mean, low, high))
        return self.restore(node, split, summaries)

    def restore(self, node: int, split: Split, summaries: Sequence[Summary]) -> list[int]:
        """Divide a node whose children are known."""
        path = self._open[node]
        self.close(node)
        first = self._below.get((path, split))
        if first is None:
            first = self._next_path
            self._next_path += split.n_branches
            self._below[path, split] = first
            for branch in range(split.n_branches):
                self._steps[first + branch] = (path, split, branch)
        return [self._opened(first + branch, summary) for branch, summary in enumerate(summaries)]

    def tree_of(self, path: int) -> int:
        """Return the tree of a forest that a path belongs to."""
        while path in self._steps:
            path = self._steps[path][0]
        return path

    def tests_above(self, paths: Sequence[int]) -> dict[int, tuple[Split, int]]:
        """Return the tests that lead to paths: by the path that is divided, the test and the path of its first branch.

        Those above come before those below.
        """
        found: dict[int, tuple[Split, int]] = {}
        for path in paths:
            here = path
            while here in self._steps:
                parent, split, branch = self._steps[here]
                found[parent] = (split, here - branch)
                here = parent
        return dict(sorted(found.items()))

    def _means_at(self, paths: Sequence[int]) -> list[float]:
        """Return the mean of the target at open paths and roots."""
        mean_of = {path: root.mean for path, root in enumerate(self._roots)}
        mean_of |= {path: self._described[node].mean for node, path in self._open.items()}
        return [mean_of[path] for path in paths]

    # -- tables ------------------------------------------------------------------------------------------------------

    def count(
        self, requests: Sequence[tuple[int, Sequence[int]]], sieve: Sieve | None = None
    ) -> list[list[FrequencyTable]]:
        """Count the tables of attributes at open nodes, one list per request in the order asked."""
        missing: dict[int, list[int]] = {}
        for node, attributes in requests:
            path = self._open[node]
            known = self._tables.get(path, {})
            lacking = [
                attribute
                for attribute in attributes
                if attribute not in known or (sieve is None and known[attribute].table.highest is not None)
            ]
            if lacking:
                missing.setdefault(path, [])
                missing[path] += lacking
        if missing:
            wanted = sorted({attribute for lacking in missing.values() for attribute in lacking})
            self._count_at(list(missing), wanted, sieve, {path: node for node, path in self._open.items()})
        return [
            [self._tables[self._open[node]][attribute].table for attribute in attributes]
            for node, attributes in requests
        ]

    @property
    def intervals(self) -> Mapping[int, Sequence[float]]:
        """Bounds of the numeric attributes that are counted by intervals."""
        return self._intervals

    def use_intervals(self, attribute: int, bounds: Sequence[float]) -> None:
        """From now on count a numeric attribute by intervals; tables that are there are added up."""
        self._intervals[attribute] = tuple(bounds)
        for tables in self._tables.values():
            if attribute in tables:
                tables[attribute] = by_interval(tables[attribute], tuple(bounds))

    def use_numbers(self) -> None:
        """From now on count numeric attributes by their numbers again."""
        for tables in self._tables.values():
            for attribute in self._intervals:
                tables.pop(attribute, None)
        self._intervals.clear()

    def largest_value_not_above(self, attribute: int, bound: float) -> float:
        """Return the largest number of the attribute in all training data that is not above `bound`."""
        return self.largest_values_not_above({attribute: [bound]})[attribute][0]

    def largest_values_not_above(self, bounds: Mapping[int, Sequence[float]]) -> dict[int, list[float]]:
        """Answer `largest_value_not_above` for many bounds: from numbers that are known, else in one pass."""
        found: dict[int, list[float]] = {}
        asked: dict[int, Sequence[float]] = {}
        for attribute, some in bounds.items():
            column = self._schema.attributes[attribute]
            if not column.is_numeric:
                raise ParameterError(f"column {column.name!r} has no numbers to compare with a bound")
            values = self._known_numbers(attribute)
            if values is not None:
                found[attribute] = [float(values[np.searchsorted(values, one, side="right") - 1]) for one in some]
            else:
                asked[attribute] = some
        if asked:
            found |= self.largest_in_bags([asked])[0]
        return found

    def largest_in_bags(self, bounds: Sequence[Mapping[int, Sequence[float]]]) -> list[dict[int, list[float]]]:
        """Answer `largest_values_not_above` for the cases of each tree of a forest, in one pass."""
        ordered = [{attribute: sorted(set(some)) for attribute, some in mine.items()} for mine in bounds]
        found = []
        for wanted, mine, largest in zip(bounds, ordered, self._largest_between(ordered), strict=True):
            best = {attribute: np.fmax.accumulate(some) for attribute, some in largest.items()}
            found.append(
                {one: [float(best[one][mine[one].index(bound)]) for bound in some] for one, some in wanted.items()}
            )
        return found

    def incomplete(self) -> dict[str, int]:
        """Return the number of missing values of each attribute that has some."""
        self.root_summary()
        names, trees, known = self._schema.attribute_names, range(self._trees), self._known_missing()
        lacking = [
            index
            for index, name in enumerate(names)
            if name not in known and any(index not in self._tables.get(tree, {}) for tree in trees)
        ]
        if lacking:
            self._count_at(trees, lacking)
        numbers = {
            name: known[name] if name in known else max(self._tables[tree][index].table.unknown_cases for tree in trees)
            for index, name in enumerate(names)
        }
        return {name: number for name, number in numbers.items() if number}

    def rows(self, node: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]:
        """Refuse: rows outside memory have no numbers."""
        raise ParameterError(f"the rows of {self.name} have no numbers")


def require_target(schema: Schema) -> None:
    """Raise unless it is known which column to predict."""
    if schema.target is None:
        names = ", ".join(column.name for column in schema.columns)
        raise ParameterError(f"say which column to predict (target=..., --target COL), one of: {names}")
