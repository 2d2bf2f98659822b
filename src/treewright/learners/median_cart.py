"""CART for regression by absolute error: leaves predict the median, splits lower the sum of absolute deviations.

Medians do not follow from additive statistics, so this learner works on rows, not on frequency tables.

Invariants
----------
Numeric and ordinal attributes are searched exactly. Categories of nominal attributes are ordered by their medians and
split in that order, which finds good subsets, not always the best. Ties go to the earlier attribute and the lower cut.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.counting.numpy import LARGEST_TARGET
from treewright.data.dataset import Dataset, missing_mask
from treewright.data.schema import Kind, Task
from treewright.errors import DataError, ParameterError
from treewright.learners.candidates import midpoint
from treewright.learners.criteria import first_of_ties
from treewright.learners.recipe import MissingPolicy, Stopping
from treewright.tree.build import NodeRecord, build_tree
from treewright.tree.split import KNOWN, Split
from treewright.tree.tree import Stop, Tree

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]


@dataclass(frozen=True)
class MedianCart:
    """The options of CART by absolute error.

    Parameters
    ----------
    stopping : Stopping
        `min_decrease` is a decrease of the mean absolute deviation.
    missing : MissingPolicy
        Cases with a missing value take the branch where their cost is least, or the heavier branch.
    """

    stopping: Stopping = field(default_factory=Stopping)
    missing: MissingPolicy = MissingPolicy.LEARNED

    def __post_init__(self) -> None:
        if self.missing is MissingPolicy.FRACTIONAL:
            raise ParameterError("a median needs unit-weight cases: missing values cannot be fractional")


@dataclass(frozen=True)
class MedianGrowth:
    """A grown tree, and the decrease of the cost by the splits of each attribute."""

    tree: Tree
    importance: Floats


def grow_median_cart(dataset: Dataset, options: MedianCart) -> MedianGrowth:
    """Grow a tree by absolute error.

    Parameters
    ----------
    dataset : Dataset
        With a numeric target; cases of weight zero are left out.
    options : MedianCart

    Examples
    --------
    >>> from treewright.data.schema import Column, Schema
    >>> schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    >>> data = Dataset(schema, (np.arange(6.0),), 6, np.array([1.0, 1.0, 9.0, 4.0, 4.0, 4.0]))
    >>> growth = grow_median_cart(data, MedianCart(Stopping(max_depth=1)))
    >>> growth.tree.split(0).cut, growth.tree.outcome.tolist()
    (1.5, [4.0, 1.0, 4.0])
    """
    if dataset.schema.task is not Task.REGRESSION or dataset.target is None:
        raise ParameterError("absolute error is for a numeric target")
    if dataset.weights is not None:
        dataset = dataset.take(dataset.weights > 0)
    if dataset.n_rows == 0:
        raise DataError("there are no cases to learn from", source=dataset.source)
    return _Grower(dataset, options).grow()


def weighted_median(numbers: Floats, weights: Floats) -> float:
    """Return the median.

    Examples
    --------
    >>> weighted_median(np.array([1.0, 2.0, 5.0]), np.array([1.0, 1.0, 2.0])), weighted_median(np.ones(1), np.ones(1))
    (3.5, 1.0)
    """
    order = np.argsort(numbers, kind="stable")
    reached = np.cumsum(weights[order])
    half = reached[-1] / 2
    position = min(int(np.searchsorted(reached, half * (1 - 1e-12))), len(order) - 1)
    low = float(numbers[order[position]])
    if position + 1 < len(order) and reached[position] <= half * (1 + 1e-12):
        return low / 2 + float(numbers[order[position + 1]]) / 2
    return low


def running_costs(numbers: Floats, weights: Floats, first: tuple[Floats, Floats] | None = None) -> Floats:
    """Return the absolute error around the median of the first case, of the first two, and so on.

    Two heaps hold the cases up to the median and those above it, with their weights and sums.

    Parameters
    ----------
    numbers, weights : array
    first : pair of arrays or None
        Numbers and weights of cases that belong to every prefix.

    Examples
    --------
    >>> running_costs(np.array([1.0, 5.0, 2.0]), np.ones(3)).tolist()
    [0.0, 4.0, 4.0]
    """
    low: list[tuple[float, float]] = []
    high: list[tuple[float, float]] = []
    low_weight = high_weight = low_sum = high_sum = 0.0
    before = 0
    if first is not None:
        before = len(first[0])
        numbers, weights = np.concatenate((first[0], numbers)), np.concatenate((first[1], weights))
    costs = np.zeros(len(numbers))
    for position, (number, weight) in enumerate(zip(numbers.tolist(), weights.tolist(), strict=True)):
        if low and number <= -low[0][0]:
            heapq.heappush(low, (-number, weight))
            low_weight, low_sum = low_weight + weight, low_sum + weight * number
        else:
            heapq.heappush(high, (number, weight))
            high_weight, high_sum = high_weight + weight, high_sum + weight * number
        while high and low_weight < high_weight:
            moved, mass = heapq.heappop(high)
            heapq.heappush(low, (-moved, mass))
            low_weight, low_sum = low_weight + mass, low_sum + mass * moved
            high_weight, high_sum = high_weight - mass, high_sum - mass * moved
        while len(low) > 1 and low_weight - low[0][1] >= high_weight + low[0][1]:
            turned, mass = heapq.heappop(low)
            heapq.heappush(high, (-turned, mass))
            low_weight, low_sum = low_weight - mass, low_sum + mass * turned
            high_weight, high_sum = high_weight + mass, high_sum - mass * turned
        median = -low[0][0]
        costs[position] = (high_sum - median * high_weight) + (median * low_weight - low_sum)
    return np.maximum(costs[before:], 0.0)


@dataclass(frozen=True)
class _Test:
    split: Split
    saved: float


@dataclass(frozen=True)
class _Open:
    record: int
    rows: Rows
    depth: int
    cost: float


class _Grower:
    def __init__(self, dataset: Dataset, options: MedianCart) -> None:
        self._data = dataset
        self._options = options
        target: npt.NDArray[Any] = np.zeros(0) if dataset.target is None else dataset.target
        self._y = target.astype(np.float64)
        if np.abs(self._y).max() > LARGEST_TARGET:
            raise DataError("the numbers are too large to be squared", column=dataset.schema.target)
        self._w = dataset.case_weights
        # Sums are taken around the overall median, so that a large one loses no digits.
        self._centre = weighted_median(self._y, self._w)
        self._records: list[NodeRecord] = []
        self._importance = np.zeros(len(dataset.schema.attributes))
        self._total = float(self._w.sum())

    def grow(self) -> MedianGrowth:
        limit = self._options.stopping.max_leaves
        leaves = 1
        waiting: list[tuple[float, int, _Open, _Test]] = []
        fresh = [self._opened(np.arange(self._data.n_rows), 0)]
        while fresh or waiting:
            for node in fresh:
                found = self._decided(node)
                if isinstance(found, Stop):
                    self._records[node.record].become_leaf(found)
                else:
                    heapq.heappush(waiting, (-found.saved if limit is not None else 0.0, node.record, node, found))
            fresh = []
            if waiting:
                _, _, node, test = heapq.heappop(waiting)
                if limit is not None and leaves >= limit:
                    self._records[node.record].become_leaf(Stop.LEAVES)
                    continue
                leaves += 1
                fresh = self._partition(node, test)
        return MedianGrowth(build_tree(self._data.schema, self._records)[0], self._importance)

    def _opened(self, rows: Rows, depth: int) -> _Open:
        y, w = self._y[rows], self._w[rows]
        weight = float(w.sum())
        median = weighted_median(y, w)
        mean = float(((y - median) * w).sum()) / weight + median
        squares = float((w * (y - mean) ** 2).sum()) if y.min() < y.max() else 0.0
        self._records.append(NodeRecord(weight, np.zeros(0), median, sse=squares))
        return _Open(len(self._records) - 1, rows, depth, float((np.abs(y - median) * w).sum()))

    def _partition(self, node: _Open, test: _Test) -> list[_Open]:
        record = self._records[node.record]
        record.split = test.split
        self._importance[test.split.attribute] += max(test.saved, 0.0)
        branches = test.split.route(self._data.columns[test.split.attribute][node.rows])
        branches = np.where(branches < 0, test.split.missing, branches)
        below = []
        for branch in (0, 1):
            below.append(self._opened(node.rows[branches == branch], node.depth + 1))
            record.children.append(below[-1].record)
        return below

    def _decided(self, node: _Open) -> _Test | Stop:
        stopping = self._options.stopping
        y = self._y[node.rows]
        if y.min() == y.max():
            return Stop.PURE
        least_weight = max(stopping.min_weight, 2 * stopping.min_share * self._total * (1 - 1e-12))
        limit = stopping.limit_at(node.depth, len(y), self._records[node.record].weight, least_weight)
        if limit is not None:
            return limit
        tests = [
            test for attribute in range(len(self._data.columns)) if (test := self._best(attribute, node)) is not None
        ]
        if not tests:
            return Stop.NO_GAIN
        # Compared by the cost of the branches: the decrease may be tiny, and rounding would then decide.
        best = tests[first_of_ties(np.array([test.saved - node.cost for test in tests]))]
        if best.saved / self._total < stopping.min_decrease * (1 - 1e-12):
            return Stop.SMALL_GAIN
        return best

    # -- one attribute -----------------------------------------------------------------------------------------------

    def _best(self, attribute: int, node: _Open) -> _Test | None:
        """Return the best split of an attribute at a node."""
        column = self._data.columns[attribute][node.rows]
        missing = missing_mask(column)
        known = node.rows[~missing]
        values = column[~missing].astype(np.float64)
        kind = self._data.schema.attributes[attribute].kind
        keys = self._sort_keys(values, known) if kind is Kind.NOMINAL else values
        order = np.argsort(keys, kind="stable")
        found = list(self._sides(known[order], keys[order], node.rows[missing], numeric=kind is Kind.NUMERIC))
        if not found:
            return None
        cost, position, default = found[first_of_ties(np.array([-cost for cost, _, _ in found]))]
        split = self._split(attribute, kind, values[order], position, default)
        return _Test(split, node.cost - cost)

    def _sort_keys(self, values: Floats, rows: Rows) -> Floats:
        """Return for each case the rank of its category by median (ties in category order)."""
        occurring = np.unique(values)
        medians = [weighted_median(self._y[rows[values == one]], self._w[rows[values == one]]) for one in occurring]
        rank = np.empty(len(occurring))
        rank[np.argsort(medians, kind="stable")] = np.arange(len(occurring))
        return rank[np.searchsorted(occurring, values)]

    def _sides(self, rows: Rows, keys: Floats, missing: Rows, *, numeric: bool) -> Iterator[tuple[float, int, int]]:
        """Yield cost, last position on the left and default branch for every admissible split."""
        n = len(rows)
        y, w = self._y[rows] - self._centre, self._w[rows]
        missing_cases = (self._y[missing] - self._centre, self._w[missing])
        no_cases = (np.zeros(0), np.zeros(0))
        low = np.concatenate(([0.0], np.cumsum(w)))
        cuts = [position for position in range(n - 1) if keys[position] < keys[position + 1]]
        learned = self._options.missing is MissingPolicy.LEARNED
        for default in (1, 0) if len(missing) else (1,):
            on_left, on_right = (missing_cases, no_cases) if default == 0 else (no_cases, missing_cases)
            left = running_costs(y, w, on_left)
            right = running_costs(y[::-1], w[::-1], on_right)[::-1]
            for position in cuts:
                if len(missing) and not learned and default != int(low[-1] - low[position + 1] > low[position + 1]):
                    continue
                sizes = (position + 1 + len(on_left[0]), n - position - 1 + len(on_right[0]))
                weights = (low[position + 1] + on_left[1].sum(), low[-1] - low[position + 1] + on_right[1].sum())
                if self._enough(sizes, weights):
                    yield float(left[position] + right[position + 1]), position, default
            if default == 1 and len(missing) and n and learned and numeric:
                missing_cost = float(running_costs(*missing_cases)[-1])
                if self._enough((n, len(missing)), (low[-1], missing_cases[1].sum())):
                    yield float(left[-1]) + missing_cost, n - 1, 1

    def _enough(self, sizes: tuple[int, int], weights: tuple[float, float]) -> bool:
        stopping = self._options.stopping
        least = max(stopping.min_share * self._total, stopping.min_branch) * (1 - 1e-12)
        return min(sizes) >= stopping.min_leaf and min(weights) >= least

    def _split(self, attribute: int, kind: Kind, values: Floats, position: int, default: int) -> Split:
        """Return the split that sends the sorted values up to a position to the left."""
        if kind is not Kind.NUMERIC:
            n_values = len(self._data.schema.attributes[attribute].values)
            if kind is Kind.ORDINAL:
                middle = (values[position] + values[position + 1]) / 2
                return Split.subsets(attribute, [int(code > middle) for code in range(n_values)], default)
            left, right = (
                set(values[: position + 1].astype(int).tolist()),
                set(values[position + 1 :].astype(int).tolist()),
            )
            sides = [0 if code in left else 1 if code in right else -1 for code in range(n_values)]
            return Split.subsets(attribute, sides, default)
        if position == len(values) - 1:
            return Split.threshold(attribute, KNOWN, default)
        return Split.threshold(attribute, midpoint(float(values[position]), float(values[position + 1])), default)
