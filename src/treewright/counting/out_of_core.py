"""What the out-of-core engines share: counted tables, open nodes, and the view of one tree of a forest.

Tables that an engine outside memory has counted: what they say of the branches of a test, and runs of numbers.

Open nodes of an engine outside memory, and the tables that were counted at them.

One tree of a forest that is counted outside memory: to whoever grows it, it looks like an engine of its own. All trees
of a forest share every pass over the data. What one of them asks for has been counted for all of them before, so that
most questions are answered from what is there.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from treewright.counting.engine import Sieve, Summary
from treewright.counting.row_sampling import Bags
from treewright.counting.table import FrequencyTable
from treewright.data.dataset import Dataset
from treewright.data.schema import Schema, Task
from treewright.errors import DataError, ParameterError
from treewright.tree.split import FRACTIONAL, KNOWN, STAY, Split

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Range = tuple[float, float]


@dataclass(frozen=True)
class Counted:
    """A table and, for a numeric target, the least and greatest target of each outcome, the missing cases last."""

    table: FrequencyTable
    low: Floats | None = None
    high: Floats | None = None

    @property
    def size(self) -> int:
        """Cells, to bound what is kept."""
        return int(self.table.counts.size + self.table.cases.size)

    def divided(
        self, split: Split, bounds: Sequence[float] | None = None
    ) -> tuple[npt.NDArray[np.generic], Ints, npt.NDArray[np.intp]]:
        """Return statistics and cases of each branch, and the branch of each outcome with the missing cases last.

        Where the table is one of intervals, `bounds` are theirs; a test may put some of them together.
        """
        table = self.table
        outcomes: npt.NDArray[np.int32] | Floats = np.arange(len(table.counts), dtype=np.int32)
        if bounds is not None:
            outcomes = np.append(np.array(bounds, dtype=np.float64), KNOWN)
        elif table.values is not None:
            outcomes = table.values
        routed = split.route(outcomes).astype(np.intp)
        branches = np.append(routed, -1)
        home = split.missing if split.missing >= 0 else -1
        branches = np.where(branches < 0, home, branches)
        statistics = np.concatenate((table.counts, table.unknown[None, :]))
        cases = np.append(table.cases, table.unknown_cases)
        sums = np.stack([statistics[branches == branch].sum(axis=0) for branch in range(split.n_branches)])
        numbers = np.array([cases[branches == branch].sum() for branch in range(split.n_branches)], dtype=np.int64)
        return sums, numbers, branches

    def hides(self, split: Split) -> bool:
        """Tell whether a cut of the test is inside a run, whose numbers are not known one by one."""
        first, last = self.table.values, self.table.highest
        if first is None or last is None:
            return False
        cuts = (split.cut,) if split.cut is not None else split.bounds
        return any(bool(np.any((first <= cut) & (cut < last))) for cut in cuts)

    def lost(self, split: Split, bounds: Sequence[float] | None = None) -> int:
        """Return how many cases no branch takes whole."""
        if split.missing >= 0 or split.missing == STAY:
            return 0
        _, _, branches = self.divided(split, bounds)
        cases = np.append(self.table.cases, self.table.unknown_cases)
        return int(cases[branches == FRACTIONAL].sum())


def class_summary(counts: npt.NDArray[np.generic], cases: int) -> Summary:
    """Describe class counts."""
    return Summary(float(counts.sum()), cases, counts, pure=int(np.count_nonzero(counts)) <= 1)


def number_summary(sums: npt.NDArray[np.generic], cases: int, mean: float, low: float, high: float) -> Summary:
    """Describe a numeric target by its moments around the mean of the parent."""
    if cases == 0:
        return Summary(0.0, 0, np.zeros(3), pure=True)
    weight, total, squares = (float(one) for one in sums)
    pure = low == high
    own = low if pure else mean + total / weight
    sse = 0.0 if pure else max(squares - total * total / weight, 0.0)
    return Summary(weight, cases, np.array([weight, 0.0, sse]), pure, own, sse)


def by_interval(counted: Counted, bounds: tuple[float, ...]) -> Counted:
    """Add up a table of numbers by intervals.

    Examples
    --------
    >>> numbers = FrequencyTable(np.eye(3, 2), np.zeros(2), np.ones(3, dtype=np.int64), np.array([1.0, 2.0, 3.0]))
    >>> by_interval(Counted(numbers), (2.0,)).table.cases.tolist()
    [2, 1]
    """
    table = counted.table
    codes = np.searchsorted(np.array(bounds), table.first, side="left")
    width = len(bounds) + 1
    counts = np.zeros((width, table.counts.shape[1]), dtype=table.counts.dtype)
    np.add.at(counts, codes, table.counts)
    cases = np.zeros(width, dtype=np.int64)
    np.add.at(cases, codes, table.cases)
    low = high = None
    if counted.low is not None and counted.high is not None:
        places = np.append(codes, width)
        low, high = np.full(width + 1, np.inf), np.full(width + 1, -np.inf)
        np.minimum.at(low, places, counted.low)
        np.maximum.at(high, places, counted.high)
    return Counted(FrequencyTable(counts, table.unknown, cases, None, table.unknown_cases), low, high)


def doubtful_ranges(table: FrequencyTable, doubtful: npt.NDArray[np.bool_]) -> list[Range]:
    """Return first and last number of the doubtful runs, neighbours put together."""
    first, last = table.first, table.last
    found: list[Range] = []
    for place in np.flatnonzero(doubtful).tolist():
        if found and place > 0 and doubtful[place - 1]:
            found[-1] = (found[-1][0], float(last[place]))
        else:
            found.append((float(first[place]), float(last[place])))
    return found


def refined(
    coarse: FrequencyTable,
    doubtful: npt.NDArray[np.bool_],
    inside: npt.NDArray[np.int64],
    fine: FrequencyTable | None,
) -> FrequencyTable:
    """Put single numbers in place of the doubtful runs."""
    first, last = coarse.first, coarse.last
    kept = ~doubtful
    values, highest, counts, cases, tries = (
        first[kept],
        last[kept],
        coarse.counts[kept],
        coarse.cases[kept],
        inside[kept],
    )
    if fine is not None and fine.values is not None:
        values = np.concatenate((values, fine.values))
        highest = np.concatenate((highest, fine.values))
        counts = np.concatenate((counts, fine.counts))
        cases = np.concatenate((cases, fine.cases))
        tries = np.concatenate((tries, np.zeros(len(fine.values), dtype=np.int64)))
    order = np.argsort(values, kind="stable")
    return FrequencyTable(
        counts[order],
        coarse.unknown,
        cases[order],
        values[order],
        coarse.unknown_cases,
        highest[order],
        tries[order],
    )


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
