"""Discretisation of numeric attributes: entropy, equal width, equal frequency, ChiMerge, and bins.

Every method takes the frequency table of a numeric attribute and returns ascending bounds; no interval is empty, and
missing values are not used.

Entropy (`mdl_bounds`, Fayyad and Irani 1993): the cut of highest information gain is accepted if it shortens the
description, that is, if its gain exceeds (log2(N - 1) + log2(3^k - 2) - k H + k1 H1 + k2 H2) / N, where N is the
weight, k the number of classes with cases, H the entropy, and 1 and 2 are the two sides. Accepted sides are split
further in the same way.

Intervals (`as_nominal`, `with_intervals`): learners for nominal attributes learn from intervals, and the finished tree
tests the numbers again. Invariants: an interval column has the name and the index of its numeric column; all other
columns are unchanged. The tree that `with_intervals` returns routes every case as the tree over intervals did.

Bins (`in_bins`): with the option `bins` only the borders of bins are tried as cuts. Each number is replaced by the
highest number of its bin. The bins of a column have about equal numbers of cases; a column with no more distinct
numbers than bins is unchanged. Cuts lie at the highest number of a bin, so the tree routes original numbers and their
replacements alike, and neither growing nor prediction needs to know about bins.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import inf, log2

import numpy as np
import numpy.typing as npt

from treewright.counting.numpy import MemoryEngine
from treewright.counting.table import Counts, FrequencyTable
from treewright.data.columns import Codes
from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Kind, Schema, Task
from treewright.errors import ParameterError
from treewright.learners.base import TreeLearner
from treewright.learners.candidates import midpoint
from treewright.learners.criteria import ENTROPY, chi_square_statistic, entropy, first_of_ties
from treewright.parameters import check_whole_number
from treewright.tree.build import build_tree, records_of
from treewright.tree.split import Split, Test
from treewright.tree.tree import Tree


def mdl_bounds(table: FrequencyTable) -> tuple[float, ...]:
    """Return the accepted bounds, ascending: midpoints between neighbouring numbers.

    Examples
    --------
    >>> counts = np.array([[5, 0], [5, 0], [0, 5], [0, 5]])
    >>> mdl_bounds(FrequencyTable(counts, np.zeros(2, dtype=int), counts.sum(axis=1), np.array([1.0, 2.0, 3.0, 4.0])))
    (2.5,)
    """
    values = table.first
    bounds = []
    waiting = [(0, len(values))]
    while waiting:
        first, end = waiting.pop()
        cut = _accepted_cut(table.counts[first:end])
        if cut is None:
            continue
        middle = first + cut + 1
        bounds.append(midpoint(float(values[middle - 1]), float(values[middle])))
        waiting += [(first, middle), (middle, end)]
    return tuple(sorted(bounds))


def _accepted_cut(counts: Counts) -> int | None:
    """Return the index of the best cut if it is accepted, else None."""
    if len(counts) < 2:
        return None
    whole = counts.sum(axis=0)
    left: Counts = np.cumsum(counts, axis=0)[:-1]
    gains = ENTROPY.of_cuts(left, whole - left)
    cut = first_of_ties(gains)
    low, high = left[cut], whole - left[cut]
    n = float(whole.sum())
    if n <= 1:
        return None
    classes, classes_low, classes_high = (int(np.count_nonzero(side)) for side in (whole, low, high))
    delta = log2(3**classes - 2) - (
        classes * entropy(whole) - classes_low * entropy(low) - classes_high * entropy(high)
    )
    return cut if gains[cut] > (log2(n - 1) + delta) / n else None


Floats = npt.NDArray[np.float64]


def equal_width_bounds(table: FrequencyTable, bins: int) -> tuple[float, ...]:
    """Return the bounds of bins of equal width over the range of the numbers.

    A border between two numbers is moved to their midpoint, which changes no interval of the table.

    Parameters
    ----------
    table : FrequencyTable
        Of a numeric attribute.
    bins : int
        At least 1.

    Examples
    --------
    >>> counts = np.ones((4, 2), dtype=int)
    >>> table = FrequencyTable(counts, np.zeros(2, dtype=int), counts.sum(axis=1), np.array([0.0, 1.0, 2.0, 10.0]))
    >>> equal_width_bounds(table, 2), equal_width_bounds(table, 10)
    ((6.0,), (1.5, 6.0))
    """
    values = _numbers(table)
    check_whole_number("bins", bins, 1, plain=True)
    if len(values) < 2:
        return ()
    # Halved, because the width of a range of very large numbers overflows a double.
    low, high = values[0] / 2, values[-1] / 2
    borders = 2 * (low + (high - low) * (np.arange(1, bins) / bins))
    below = np.searchsorted(values, borders, side="right")
    return _midpoints(values, below)


def equal_frequency_bounds(table: FrequencyTable, bins: int) -> tuple[float, ...]:
    """Return the bounds of bins of about equal weight.

    A border follows the first number at which the weight reaches 1, 2, ... parts of `bins`. Borders at the same number
    coincide, so a heavy number makes fewer bins.

    Parameters
    ----------
    table : FrequencyTable
        Of a numeric attribute, for classes.
    bins : int
        At least 1.

    Examples
    --------
    >>> counts = np.array([[1, 1], [1, 1], [2, 2], [0, 4], [1, 3]])
    >>> table = FrequencyTable(counts, np.zeros(2, dtype=int), counts.sum(axis=1), np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    >>> equal_frequency_bounds(table, 4), equal_frequency_bounds(table, 2)
    ((2.5, 3.5, 4.5), (3.5,))
    """
    values = _numbers(table)
    check_whole_number("bins", bins, 1, plain=True)
    if len(values) < 2:
        return ()
    reached = np.cumsum(table.counts.sum(axis=1))
    wanted = reached[-1] * (np.arange(1, bins) / bins)
    # A sum of fractional weights may fall short by rounding; that must not move the border by one number.
    below = np.searchsorted(reached, wanted * (1 - 1e-12), side="left") + 1
    return _midpoints(values, below)


def chi_merge_bounds(
    table: FrequencyTable, significance: float = 0.05, max_intervals: int | None = None
) -> tuple[float, ...]:
    """Merge neighbouring intervals whose classes do not differ significantly (ChiMerge).

    Initially every number is an interval. The neighbours with the smallest chi-square (the first pair of equals) are
    merged repeatedly, while it is below the critical value for `significance` and (classes - 1) degrees of freedom, or
    while there are more than `max_intervals`. All classes of the table count, even if a pair lacks some, so that one
    critical value applies to all pairs.

    Parameters
    ----------
    table : FrequencyTable
        Of a numeric attribute, for classes.
    significance : float
        Between 0 and 1; smaller makes fewer intervals.
    max_intervals : int or None
        At least 1.

    References
    ----------
    R. Kerber, ChiMerge: discretization of numeric attributes, AAAI 1992. Small expected counts are left as they are
    (some programs raise them to 0.5), and classes that do not occur in a pair add nothing to its chi-square.

    Examples
    --------
    >>> counts = np.array([[5, 0], [5, 0], [0, 5], [0, 5], [5, 0]])
    >>> table = FrequencyTable(counts, np.zeros(2, dtype=int), counts.sum(axis=1), np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    >>> chi_merge_bounds(table), chi_merge_bounds(table, max_intervals=2)
    ((2.5, 4.5), (2.5,))
    """
    from scipy.special import chdtri

    values = _numbers(table)
    if not 0 < significance < 1:
        raise ParameterError(f"significance must be between 0 and 1, not {significance!r}")
    if max_intervals is not None:
        check_whole_number("max_intervals", max_intervals, 1, plain=True)
    classes = int(np.count_nonzero(table.known))
    critical = float(chdtri(classes - 1, significance)) if classes > 1 else inf
    first = _merged(table.counts, critical, len(values) if max_intervals is None else max_intervals)
    return _midpoints(values, np.array(first[1:], dtype=np.intp))


def _merged(counts: Counts, critical: float, most: int) -> list[int]:
    """Return the index of the first number of each remaining interval."""
    groups = {index: row for index, row in enumerate(counts.astype(np.float64)) if row.sum() > 0}
    starts = list(groups)
    after = dict(zip(starts, [*starts[1:], -1], strict=False))
    before = dict(zip(starts, [-1, *starts[:-1]], strict=False))
    strength = partial(_difference, groups)
    waiting = [(strength(one, after[one]), one, after[one]) for one in starts[:-1]]
    heapq.heapify(waiting)
    current = {one: value for value, one, _ in waiting}
    while waiting:
        value, one, other = heapq.heappop(waiting)
        if after.get(one, -1) != other or current[one] != value:
            continue  # one of the two was merged since
        if value >= critical and len(groups) <= most:
            break
        groups[one] = groups[one] + groups.pop(other)
        after[one] = after.pop(other)
        if after[one] >= 0:
            before[after[one]] = one
        for left in (before[one], one):
            if left >= 0 and after[left] >= 0:
                current[left] = strength(left, after[left])
                heapq.heappush(waiting, (current[left], left, after[left]))
    return sorted(groups)


def _difference(groups: dict[int, Floats], one: int, other: int) -> float:
    """Return chi-square of two intervals, rounded so that equal tables are equal."""
    return round(chi_square_statistic(np.stack((groups[one], groups[other]))), 9)


def _numbers(table: FrequencyTable) -> Floats:
    if table.values is None:
        raise ParameterError("bounds need the table of a numeric attribute, and this one has categories")
    return table.values


def _midpoints(values: Floats, below: npt.NDArray[np.intp]) -> tuple[float, ...]:
    """Return the bounds with these counts of numbers below them, except those with all or no numbers below."""
    positions = np.unique(below[(below > 0) & (below < len(values))])
    return tuple((values[positions - 1] / 2 + values[positions] / 2).tolist())


Bounds = Mapping[int, tuple[float, ...]]
"""Bounds by numeric attribute."""


def as_nominal(dataset: Dataset) -> tuple[Dataset, Bounds]:
    """Replace the numeric columns by intervals, discretised by entropy.

    Parameters
    ----------
    dataset : Dataset
        With classes.

    Returns
    -------
    dataset : Dataset
        The same cases with nominal columns only.
    bounds : dict of int to tuple of float
        For `in_intervals` and `with_intervals`.

    Examples
    --------
    >>> schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NOMINAL, ("a", "b"))), target="y")
    >>> numbers = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, np.nan])
    >>> cases = Dataset(schema, (numbers,), 8, np.array([0, 0, 0, 0, 1, 1, 1, 1], dtype=np.int32))
    >>> nominal, bounds = as_nominal(cases)
    >>> bounds, nominal.schema.attributes[0].values, nominal.columns[0].tolist()
    ({0: (4.5,)}, ('<= 4.5', '> 4.5'), [0, 0, 0, 0, 1, 1, 1, -1])
    """
    if dataset.schema.task is Task.REGRESSION:
        raise ParameterError(f"intervals are made for classes, and the target {dataset.schema.target!r} is a number")
    numeric = [attribute for attribute, column in enumerate(dataset.schema.attributes) if column.is_numeric]
    if not numeric:
        return dataset, {}
    engine = MemoryEngine(dataset)
    [tables] = engine.count([(engine.root(), numeric)])
    bounds = {attribute: mdl_bounds(table) for attribute, table in zip(numeric, tables, strict=True)}
    return in_intervals(dataset, bounds), bounds


def in_intervals(dataset: Dataset, bounds: Bounds) -> Dataset:
    """Replace the numeric columns by intervals with these bounds.

    Parameters
    ----------
    dataset : Dataset
        With or without a target.
    bounds : dict of int to tuple of float
        For every numeric attribute.

    Examples
    --------
    >>> schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NOMINAL, ("a", "b"))), target="y")
    >>> in_intervals(Dataset(schema, (np.array([9.0, 4.5]),), 2), {0: (4.5,)}).columns[0].tolist()
    [1, 0]
    """
    if not bounds:
        return dataset
    columns = tuple(
        _interval_codes(column, bounds[attribute]) if attribute in bounds else column
        for attribute, column in enumerate(dataset.columns)
    )
    return replace(dataset, schema=interval_schema(dataset.schema, bounds), columns=columns)


def interval_schema(schema: Schema, bounds: Bounds) -> Schema:
    """Return the schema with interval columns in place of the numeric ones."""
    for attribute, inner in bounds.items():
        name = schema.attributes[attribute].name
        schema = schema.with_column(Column(name, Kind.NOMINAL, interval_labels(inner)))
    return schema


def interval_labels(bounds: tuple[float, ...]) -> tuple[str, ...]:
    """Return the intervals as conditions, from the lowest to the highest.

    Examples
    --------
    >>> interval_labels((1.5, 3.0)), interval_labels(())
    (('<= 1.5', '> 1.5, <= 3', '> 3'), ('any',))
    """
    if not bounds:
        return ("any",)
    split, column = Split.intervals(0, bounds), Column("", Kind.NUMERIC)
    return tuple(split.describe(branch, column) for branch in range(split.n_branches))


def with_intervals(tree: Tree, schema: Schema, bounds: Bounds) -> Tree:
    """Convert the tests of interval columns into tests of the numbers.

    Parameters
    ----------
    tree : Tree
        Grown on what `as_nominal` or `in_intervals` returned, with a branch for every interval.
    schema : Schema
        The one with the numeric columns.
    bounds : dict of int to tuple of float

    Returns
    -------
    Tree
        With the same nodes, counts and stop reasons.

    Examples
    --------
    >>> from treewright.learners.recipe import ID3
    >>> from treewright.fitting.learn import fit
    >>> schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NOMINAL, ("a", "b"))), target="y")
    >>> target = np.array([0, 0, 0, 0, 1, 1, 1, 1], dtype=np.int32)
    >>> nominal, bounds = as_nominal(Dataset(schema, (np.arange(8.0),), 8, target))
    >>> with_intervals(fit(nominal, ID3()).tree, schema, bounds).split(0).bounds
    (3.5,)
    """
    records = records_of(tree)
    for number, record in enumerate(records):
        split = record.split
        if split is None or split.attribute not in bounds:
            continue
        if split.test is not Test.NOMINAL:
            raise ParameterError(f"node {number} has no branch for every interval, but a test '{split.test}'")
        record.split = Split.intervals(split.attribute, bounds[split.attribute], split.missing)
    return build_tree(schema, records)[0]


def _interval_codes(column: Codes | Floats, bounds: tuple[float, ...]) -> Codes:
    codes = np.searchsorted(np.array(bounds, dtype=np.float64), column, side="left")
    return np.where(np.isnan(column), -1, codes).astype(np.int32)


def in_bins(dataset: Dataset, learner: TreeLearner) -> Dataset:
    """Return the cases with binned numbers if the learner has the option `bins`, otherwise the dataset itself.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.recipe import CART
    >>> restaurant = sample("restaurant")
    >>> in_bins(restaurant, CART()) is restaurant
    True
    """
    bins = learner.numeric_bins
    if bins is None:
        return dataset
    columns = tuple(
        bin_tops(column.astype(np.float64, copy=False), bins) if attribute.is_numeric else column
        for attribute, column in zip(dataset.schema.attributes, dataset.columns, strict=True)
    )
    return replace(dataset, columns=columns)


def bin_tops(column: Floats, bins: int) -> Floats:
    """Return for each number the highest one of its bin; missing ones stay missing.

    Examples
    --------
    >>> bin_tops(np.array([1.0, 2.0, 3.0, np.nan, 4.0, 5.0, 6.0]), 3).tolist()
    [2.0, 2.0, 4.0, nan, 4.0, 6.0, 6.0]
    """
    known = np.sort(column[~np.isnan(column)] + 0.0)
    if len(known) == 0:
        return column
    if np.count_nonzero(known[1:] != known[:-1]) < bins:
        return column
    tops = np.unique(known[np.arange(1, bins + 1) * len(known) // bins - 1])
    return np.where(np.isnan(column), np.nan, tops[np.minimum(np.searchsorted(tops, column), len(tops) - 1)])
