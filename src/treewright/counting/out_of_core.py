"""Code that the out-of-core engines share: counted tables, open nodes, and the view of one tree of a forest.

`CountedTable` is a table as an engine counts it; from it follow the summaries of the branches of a split.
`BaseOutOfCoreEngine` keeps the open nodes and the tables counted at them. `TreeView` has the protocol of an engine for
one tree of a forest: all trees share every pass over the data, and tables that one tree needs are counted for all trees
in advance.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from treewright.counting.engine import RunFilter, Summary
from treewright.counting.row_sampling import BootstrapSamples
from treewright.counting.table import FrequencyTable
from treewright.data.dataset import Dataset
from treewright.data.schema import Schema, Task
from treewright.errors import DataError, ParameterError
from treewright.tree.split import FRACTIONAL, KNOWN, STAY, Split

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Range = tuple[float, float]

FEW_NUMBERS = 20_000
"""A numeric column, or a node, with at most this many distinct numbers is counted number by number."""

QUANTILE_BINS = 256
"""Bins of a numeric column with more distinct numbers."""

MAX_CATEGORIES = 1_000_000
"""A nominal column with more categories is rejected: the model would store all of them."""


@dataclass(frozen=True)
class CountedTable:
    """A table and, for a numeric target, the least and greatest target of each outcome; missing values come last."""

    table: FrequencyTable
    low: Floats | None = None
    high: Floats | None = None

    @property
    def size(self) -> int:
        """Number of cells, to limit the tables that are kept."""
        return int(self.table.counts.size + self.table.cases.size)

    def branch_sums(
        self, split: Split, bounds: Sequence[float] | None = None
    ) -> tuple[npt.NDArray[np.generic], Ints, npt.NDArray[np.intp]]:
        """Return statistics and cases of each branch, and the branch of each outcome; missing values come last.

        `bounds` are those of a table of intervals; a branch of the split may comprise several intervals.
        """
        table = self.table
        outcomes: npt.NDArray[np.int32] | Floats = np.arange(len(table.counts), dtype=np.int32)
        if bounds is not None:
            outcomes = np.append(np.array(bounds, dtype=np.float64), KNOWN)
        elif table.values is not None:
            outcomes = table.values
        routed = split.route(outcomes).astype(np.intp)
        branches = np.append(routed, -1)
        default_branch = split.missing if split.missing >= 0 else -1
        branches = np.where(branches < 0, default_branch, branches)
        statistics = np.concatenate((table.counts, table.unknown[None, :]))
        cases = np.append(table.cases, table.unknown_cases)
        sums = np.stack([statistics[branches == branch].sum(axis=0) for branch in range(split.n_branches)])
        numbers = np.array([cases[branches == branch].sum() for branch in range(split.n_branches)], dtype=np.int64)
        return sums, numbers, branches

    def has_cut_inside_run(self, split: Split) -> bool:
        """Return True if a cut of the split lies inside a run, whose numbers were not counted one by one."""
        first, last = self.table.values, self.table.highest
        if first is None or last is None:
            return False
        cuts = (split.cut,) if split.cut is not None else split.bounds
        return any(bool(np.any((first <= cut) & (cut < last))) for cut in cuts)

    def fractional_cases(self, split: Split, bounds: Sequence[float] | None = None) -> int:
        """Return the number of cases that the split would distribute among its branches as fractions."""
        if split.missing >= 0 or split.missing == STAY:
            return 0
        _, _, branches = self.branch_sums(split, bounds)
        cases = np.append(self.table.cases, self.table.unknown_cases)
        return int(cases[branches == FRACTIONAL].sum())


def class_summary(counts: npt.NDArray[np.generic], cases: int) -> Summary:
    """Describe class counts."""
    return Summary(float(counts.sum()), cases, counts, pure=int(np.count_nonzero(counts)) <= 1)


def class_summary_of(table: FrequencyTable) -> Summary:
    """Describe the class counts of a node by the table of any attribute."""
    return class_summary(table.counts.sum(axis=0) + table.unknown, int(table.cases.sum()) + table.unknown_cases)


def number_summary(sums: npt.NDArray[np.generic], cases: int, mean: float, low: float, high: float) -> Summary:
    """Describe a numeric target by its moments around the mean of the parent."""
    if cases == 0:
        return Summary(0.0, 0, np.zeros(3), pure=True)
    weight, total, squares = (float(one) for one in sums)
    pure = low == high
    own = low if pure else mean + total / weight
    sse = 0.0 if pure else max(squares - total * total / weight, 0.0)
    return Summary(weight, cases, np.array([weight, 0.0, sse]), pure, own, sse)


def by_interval(counted: CountedTable, bounds: tuple[float, ...]) -> CountedTable:
    """Add up a table of numbers by intervals.

    Examples
    --------
    >>> numbers = FrequencyTable(np.eye(3, 2), np.zeros(2), np.ones(3, dtype=np.int64), np.array([1.0, 2.0, 3.0]))
    >>> by_interval(CountedTable(numbers), (2.0,)).table.cases.tolist()
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
        positions = np.append(codes, width)
        low, high = np.full(width + 1, np.inf), np.full(width + 1, -np.inf)
        np.minimum.at(low, positions, counted.low)
        np.maximum.at(high, positions, counted.high)
    return CountedTable(FrequencyTable(counts, table.unknown, cases, None, table.unknown_cases), low, high)


def surviving_ranges(table: FrequencyTable, surviving: npt.NDArray[np.bool_]) -> list[Range]:
    """Return first and last number of the surviving runs; adjacent runs are merged."""
    first, last = table.first, table.last
    found: list[Range] = []
    for run in np.flatnonzero(surviving).tolist():
        if found and run > 0 and surviving[run - 1]:
            found[-1] = (found[-1][0], float(last[run]))
        else:
            found.append((float(first[run]), float(last[run])))
    return found


def refined(
    coarse: FrequencyTable,
    surviving: npt.NDArray[np.bool_],
    cuts_inside: npt.NDArray[np.int64],
    fine: FrequencyTable | None,
) -> FrequencyTable:
    """Replace the surviving runs by their single numbers."""
    first, last = coarse.first, coarse.last
    kept = ~surviving
    values, highest, counts, cases, tries = (
        first[kept],
        last[kept],
        coarse.counts[kept],
        coarse.cases[kept],
        cuts_inside[kept],
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
"""Table cells that are kept after their nodes are closed."""


class BaseOutOfCoreEngine(abc.ABC):
    """Base class of the out-of-core engines, which differ in how they pass over the data.

    Parameters
    ----------
    schema : Schema
        With a target.
    source : str or None
        For messages and provenance.
    bootstraps : BootstrapSamples or None
        Of the trees of a forest; the path of the root of a tree is the number of the tree.
    """

    name: str

    def __init__(self, schema: Schema, source: str | None, bootstraps: BootstrapSamples | None) -> None:
        require_target(schema)
        trees = 1 if bootstraps is None else len(bootstraps)
        self.source = source
        self.scans = 0
        self._schema = schema
        self._regression = schema.task is Task.REGRESSION
        self._intervals: dict[int, tuple[float, ...]] = {}
        self._tables: dict[int, dict[int, CountedTable]] = {}
        self._kept_cells = 0
        self._open: dict[int, int] = {}
        self._described: dict[int, Summary] = {}
        self._steps: dict[int, tuple[int, Split, int]] = {}
        self._below: dict[tuple[int, Split], int] = {}
        self._next_node = 0
        self._next_path = trees
        self._trees = trees
        self._bootstrapped = bootstraps is not None
        self._known_rows: int | None = None  # before anything is counted
        self._roots: list[Summary] = []
        self._most_kept = KEPT_CELLS if trees == 1 else 0  # the trees of a forest are not traced

    # -- abstract methods --------------------------------------------------------------------------------------------

    @abc.abstractmethod
    def shut(self) -> None:
        """Release the resources that the engine holds."""

    @abc.abstractmethod
    def _roots_of(self, trees: Sequence[int]) -> list[Summary]:
        """Describe the target of all cases of some trees."""

    @abc.abstractmethod
    def _take_all(self, trees: Sequence[int]) -> None:
        """Replace the bootstrap samples of some trees by all cases, from now on."""

    @abc.abstractmethod
    def _count_at(
        self,
        paths: Sequence[int],
        attributes: Sequence[int],
        run_filter: RunFilter | None = None,
        node_of: Mapping[int, int] | None = None,
    ) -> None:
        """Count the tables of attributes at paths and keep them; `node_of` maps each path to the node of the filter."""

    @abc.abstractmethod
    def _known_missing(self) -> Mapping[str, int]:
        """Return the number of missing values of each attribute for which it is known without counting."""

    @abc.abstractmethod
    def _known_numbers(self, attribute: int) -> npt.NDArray[np.float64] | None:
        """Return the distinct numbers of a numeric attribute, ascending, if they are known."""

    @abc.abstractmethod
    def _largest_between(
        self, bounds: Sequence[Mapping[int, Sequence[float]]]
    ) -> list[dict[int, npt.NDArray[np.float64]]]:
        """Return for each tree, in one pass, the largest number not above each bound and above the bound before.

        Bounds ascend; the result is NaN where there is no such number.
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
        """Number of trees, which share every pass."""
        return self._trees

    @property
    def n_rows(self) -> int:
        """Number of all rows, including those of weight zero."""
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
        if self._bootstrapped and empty:
            # An empty bootstrap sample is replaced by all cases.
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

    def split_node(self, node: int, split: Split) -> list[int]:
        """Close a node and open one for each branch, summarised from the rows of the node's table."""
        path = self._open[node]
        known = self._tables.get(path, {})
        if split.attribute not in known or known[split.attribute].has_cut_inside_run(split):
            self._count_at([path], [split.attribute])
        counted = self._tables[path][split.attribute]
        bounds = self._intervals.get(split.attribute)
        fractional = counted.fractional_cases(split, bounds)
        if fractional:
            name = self._schema.attributes[split.attribute].name
            raise ParameterError(
                f"{fractional:,} cases with a missing value of {name!r} would be split into fractions, "
                f"which {self.name} does not support"
            )
        sums, cases, branches = counted.branch_sums(split, bounds)
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
        """Split a node whose children are known."""
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
        """Return the splits above paths: for each path that is split, the split and the path of its first branch.

        Ancestors come before descendants.
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
        self, requests: Sequence[tuple[int, Sequence[int]]], run_filter: RunFilter | None = None
    ) -> list[list[FrequencyTable]]:
        """Count the tables of attributes at open nodes; return one list per request, in the order of the requests."""
        missing: dict[int, list[int]] = {}
        for node, attributes in requests:
            path = self._open[node]
            known = self._tables.get(path, {})
            lacking = [
                attribute
                for attribute in attributes
                if attribute not in known or (run_filter is None and known[attribute].table.highest is not None)
            ]
            if lacking:
                missing.setdefault(path, [])
                missing[path] += lacking
        if missing:
            wanted = sorted({attribute for lacking in missing.values() for attribute in lacking})
            self._count_at(list(missing), wanted, run_filter, {path: node for node, path in self._open.items()})
        return [
            [self._tables[self._open[node]][attribute].table for attribute in attributes]
            for node, attributes in requests
        ]

    @property
    def intervals(self) -> Mapping[int, Sequence[float]]:
        """Bounds of the numeric attributes that are counted by intervals."""
        return self._intervals

    def use_intervals(self, attribute: int, bounds: Sequence[float]) -> None:
        """Count a numeric attribute by intervals; the tables that are kept are converted."""
        self._intervals[attribute] = tuple(bounds)
        for tables in self._tables.values():
            if attribute in tables:
                tables[attribute] = by_interval(tables[attribute], tuple(bounds))

    def use_numbers(self) -> None:
        """Count numeric attributes by their numbers again from now on."""
        for tables in self._tables.values():
            for attribute in self._intervals:
                tables.pop(attribute, None)
        self._intervals.clear()

    def largest_value_not_above(self, attribute: int, bound: float) -> float:
        """Return the largest number of the attribute in all training data that is not above `bound`."""
        return self.largest_values_not_above({attribute: [bound]})[attribute][0]

    def largest_values_not_above(self, bounds: Mapping[int, Sequence[float]]) -> dict[int, list[float]]:
        """Return `largest_value_not_above` for several bounds: from known numbers, or else in one pass."""
        found: dict[int, list[float]] = {}
        unknown_bounds: dict[int, Sequence[float]] = {}
        for attribute, some in bounds.items():
            column = self._schema.attributes[attribute]
            if not column.is_numeric:
                raise ParameterError(f"column {column.name!r} has no numbers to compare with a bound")
            values = self._known_numbers(attribute)
            if values is not None:
                found[attribute] = [float(values[np.searchsorted(values, one, side="right") - 1]) for one in some]
            else:
                unknown_bounds[attribute] = some
        if unknown_bounds:
            found |= self.largest_in_samples([unknown_bounds])[0]
        return found

    def largest_in_samples(self, bounds: Sequence[Mapping[int, Sequence[float]]]) -> list[dict[int, list[float]]]:
        """Return `largest_values_not_above` for the cases of each tree of a forest, in one pass."""
        ordered = [{attribute: sorted(set(some)) for attribute, some in mine.items()} for mine in bounds]
        found = []
        for wanted, mine, largest in zip(bounds, ordered, self._largest_between(ordered), strict=True):
            best = {attribute: np.fmax.accumulate(some) for attribute, some in largest.items()}
            found.append(
                {one: [float(best[one][mine[one].index(bound)]) for bound in some] for one, some in wanted.items()}
            )
        return found

    def incomplete(self) -> dict[str, int]:
        """Return the number of missing values of each attribute with missing values."""
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
        """Raise: rows out of core have no row numbers."""
        raise ParameterError(f"the rows of {self.name} have no row numbers")


def require_target(schema: Schema) -> None:
    """Raise if the schema has no target."""
    if schema.target is None:
        names = ", ".join(column.name for column in schema.columns)
        raise ParameterError(f"name the column to predict (target=..., --target COL), one of: {names}")


class TreeView:
    """The engine of one tree of a forest.

    Parameters
    ----------
    forest : BaseOutOfCoreEngine
        Over the bootstrap samples of all trees.
    tree : int
    """

    def __init__(self, forest: BaseOutOfCoreEngine, tree: int) -> None:
        self._forest = forest
        self._tree = tree
        self.thresholds: Mapping[int, Mapping[float, float]] = {}
        """Thresholds by attribute and cut, found in one pass for all trees."""

    @property
    def name(self) -> str:
        """Name in messages."""
        return self._forest.name

    @property
    def source(self) -> str | None:
        """Address of the data."""
        return self._forest.source

    @property
    def schema(self) -> Schema:
        """The schema of the data."""
        return self._forest.schema

    @property
    def n_cases(self) -> int:
        """Number of cases in the bootstrap sample."""
        return self._forest.root_summary(self._tree).cases

    @property
    def n_rows(self) -> int:
        """Number of cases in the bootstrap sample."""
        return self.n_cases

    @property
    def scans(self) -> int:
        """Number of passes over the data, for all trees."""
        return self._forest.scans

    @property
    def scans_ahead(self) -> int:
        """0: passes are those of the forest."""
        return 0

    @property
    def scans_per_level(self) -> int:
        """0: passes are those of the forest."""
        return 0

    def root(self) -> int:
        """Open the node of all cases."""
        return self._forest.root(self._tree)

    def summaries(self, nodes: Sequence[int]) -> list[Summary]:
        """Describe the target at open nodes."""
        return self._forest.summaries(nodes)

    def count(
        self, requests: Sequence[tuple[int, Sequence[int]]], run_filter: RunFilter | None = None
    ) -> list[list[FrequencyTable]]:
        """Count the tables of attributes at open nodes."""
        return self._forest.count(requests, run_filter)

    def split_node(self, node: int, split: Split) -> list[int]:
        """Close a node and open one for each branch."""
        return self._forest.split_node(node, split)

    def close(self, node: int) -> None:
        """Forget a node that became a leaf."""
        self._forest.close(node)

    def restore(self, node: int, split: Split, summaries: Sequence[Summary]) -> list[int]:
        """Split a node whose children are known."""
        return self._forest.restore(node, split, summaries)

    def fetch(self, nodes: Sequence[int]) -> list[Dataset]:
        """Return the cases of open nodes."""
        return self._forest.fetch(nodes)

    @property
    def intervals(self) -> Mapping[int, Sequence[float]]:
        """Empty: each tree would have intervals of its own."""
        return {}

    def use_intervals(self, attribute: int, bounds: Sequence[float]) -> None:
        """Raise: each tree would have intervals of its own."""
        raise ParameterError("forests out of core do not support intervals of numeric attributes; use binary splits")

    def use_numbers(self) -> None:
        """Do nothing: there are no intervals."""

    def incomplete(self) -> dict[str, int]:
        """Return the number of missing values of each attribute with missing values."""
        return self._forest.incomplete()

    def largest_values_not_above(self, bounds: Mapping[int, Sequence[float]]) -> dict[int, list[float]]:
        """Return thresholds that were found for all trees."""
        return {attribute: [self.thresholds[attribute][one] for one in some] for attribute, some in bounds.items()}

    def largest_value_not_above(self, attribute: int, bound: float) -> float:
        """Return thresholds that were found for all trees."""
        return self.largest_values_not_above({attribute: [bound]})[attribute][0]

    def distinct_rows(self, cuts: Mapping[int, Sequence[float]], limit: int) -> Dataset | None:
        """Raise: cases are grouped for one tree only."""
        raise ParameterError("the trees of a forest out of core cannot be pruned on cases")

    def rows(self, node: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]:
        """Raise: rows out of core have no row numbers."""
        return self._forest.rows(node)
