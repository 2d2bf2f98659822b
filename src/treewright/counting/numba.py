"""The compiled engine: columns encoded as small integer codes, and histograms counted by kernels.

Invariants of the codes. Code 0 is a missing value. A nominal column, or a numeric one with few distinct values, is
coded by rank: every value has its own code, from 1, in category order or ascending. A numeric column with many distinct
values is binned: each code is the interval between two borders, and the order inside a bin is looked up in the column
itself.

The histogram of a node holds the statistics of every code of every attribute. Indices are unsigned in the loops over
cases: for a signed index Numba checks each time whether it counts from the end.

`CompiledEngine` counts the same tables as `MemoryEngine`, all attributes of a node in one pass. It serves what the
growing kernels leave to the interpreted grower (limits on leaves, grouped categories, constraints, a user's own
criterion) and the split traces of explanations.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.arrays import (
    Attributes,
    Boolean,
    Branches,
    Categories,
    Classes,
    Codes,
    Counts,
    DoubleBits,
    Integer,
    Numbers,
    Positions,
    Real,
    Rows,
    Shares,
    Sizes,
    Starts,
    Statistics,
    Thresholds,
    Weights,
)
from treewright.counting.numpy import MemoryEngine
from treewright.counting.table import FrequencyTable
from treewright.data.dataset import Dataset
from treewright.intrinsics import bits_of
from treewright.jit import internal, no_alloc_kernel

BINS = 255
"""Bins of a column with many distinct values."""

SAMPLE = 50_000
"""Size of the sample whose quantiles are the borders of the bins."""

CELLS = 2048
"""Cells of equal length between the first and the last border of a column."""

MOST_IN_CELL = 4
"""Up to this many borders in the fullest cell, comparing with each is faster than binary search."""

ROWS_PER_SLICE = 8192
"""Rows encoded at once. Cells of a row share a cache line in a row-major table; this many lines fit into the cache."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class CodedColumn:
    """How a column is coded.

    Parameters
    ----------
    n_codes : int
        Number of codes, including the one of missing values.
    numbers : array or None
        For a numeric column coded by rank, the value of each code from 1 on.
    borders : array or None
        For a binned column: code i holds the values above ``borders[i - 2]`` up to ``borders[i - 1]``.
    """

    n_codes: int
    numbers: Floats | None = None
    borders: Floats | None = None

    @property
    def is_binned(self) -> bool:
        """Whether a code stands for several values."""
        return self.borders is not None


def distinct_values(column: Floats, limit: int) -> Floats:
    """Return the distinct values of a column in order of first occurrence; `limit` + 1 of them if there are more."""
    found = np.empty(limit + 1)
    n = _find_distinct_values(column, limit, found, np.full(1 << (4 * limit + 3).bit_length(), -1, dtype=np.int64))
    return found[:n]


@no_alloc_kernel
def _find_distinct_values(column: Numbers, limit: Integer, found: Numbers, slots: Positions) -> Integer:
    """Write distinct values to `found` until there are more than `limit`; return their number.

    `slots` is a hash table with open addressing: its size is a power of two, -1 marks an empty slot.
    """
    size = len(slots)
    n = 0
    # Invariant: `found[:n]` holds the distinct values of the rows before `row`, and `slots` the index of each.
    for row in range(len(column)):
        number = column[row] + 0.0
        if np.isnan(number):
            continue
        bits = np.uint64(bits_of(number))
        slot = np.int64((bits * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & (size - 1)
        while slots[slot] >= 0 and found[slots[slot]] != number:
            slot = (slot + 1) & (size - 1)
        if slots[slot] < 0:
            found[n] = number
            slots[slot] = n
            n += 1
            if n > limit:
                break
    return n


def encode_numbers(column: Floats, borders: Floats, codes: npt.NDArray[Any]) -> None:
    """Write the code of each value: one plus the number of borders below it.

    The range from the first border to the last is divided into cells of equal width. If that puts too many borders into
    one cell, the cells are equal steps of the bits of the doubles, which is nearly a logarithmic scale. A value is
    compared only with the borders of its cell. If neither helps, the borders are searched by bisection.
    """
    buffers = np.empty(len(borders) + MOST_IN_CELL), np.empty(len(borders), dtype=np.int64)
    _encode(column, borders, codes, *buffers, np.zeros(CELLS + 1, dtype=np.int64))


@no_alloc_kernel
def _encode(
    column: Numbers, borders: Thresholds, codes: Codes, padded: Thresholds, keys: DoubleBits, below_cell: Sizes
) -> None:
    """Write the codes; the last three arrays are buffers, `below_cell` holds zeros."""
    n = len(borders)
    for i in range(len(padded)):
        padded[i] = borders[i] if i < n else np.inf
        if i < n:
            keys[i] = _key_of(bits_of(borders[i]))
    first, scale = _even_cells(borders)
    if scale > 0:
        for i in range(n):
            below_cell[_cell_of(borders[i], first, scale) + 1] += 1
        fullest = _prefix_sums(below_cell)
        if fullest <= MOST_IN_CELL:
            # Invariant of the inner loop: `below` never exceeds the number of borders below `number`.
            for row in range(len(column)):
                number = column[row]
                below: Integer = below_cell[_cell_of(number, first, scale)]
                for _ in range(fullest):
                    below += padded[below] < number
                codes[row] = 0 if np.isnan(number) else below + 1
            return
    shift = np.int64(1)  # a difference of halves does not overflow
    # Find the least shift, from 1 on, with which the keys fit into `CELLS` cells.
    while n > 0 and (keys[n - 1] >> shift) - (keys[0] >> shift) >= CELLS:
        shift += 1
    start = keys[0] >> shift if n > 0 else np.int64(0)
    for cell in range(len(below_cell)):
        below_cell[cell] = 0
    for i in range(n):
        below_cell[(keys[i] >> shift) - start + 1] += 1
    fullest = _prefix_sums(below_cell)
    if fullest <= MOST_IN_CELL:
        for row in range(len(column)):
            number = column[row]
            own = (_key_of(bits_of(number)) >> shift) - start
            below = below_cell[min(max(own, 0), CELLS - 1)]
            for _ in range(fullest):
                below += padded[below] < number
            codes[row] = 0 if np.isnan(number) else below + 1
        return
    for row in range(len(column)):
        number = column[row]
        low, high = np.int64(0), np.int64(n)
        # Invariant: borders before `low` are below `number`; those from `high` on are not.
        while low < high:
            middle = (low + high) >> 1
            if borders[middle] < number:
                low = middle + 1
            else:
                high = middle
        codes[row] = 0 if np.isnan(number) else low + 1


@internal
def _even_cells(borders: Thresholds) -> tuple[Real, Real]:
    """Return the first border and the cells per unit, 0 where their range is too short or too long."""
    if len(borders) == 0:
        return 0.0, 0.0
    length = borders[len(borders) - 1] - borders[0]
    return borders[0], (CELLS - 1) / length if 1e-290 < length < 1e290 else 0.0


@internal
def _cell_of(number: Real, first: Real, scale: Real) -> Integer:
    """Return the cell of a value; it is monotonic in the value, so borders of other cells need no comparison."""
    scaled = (number - first) * scale
    if not scaled > 0.0:
        return np.int64(0)
    return np.int64(scaled) if scaled < CELLS - 1 else np.int64(CELLS - 1)


@internal
def _key_of(bits: Integer) -> Integer:
    """Return an integer that orders like the double with these bits."""
    return bits if bits >= 0 else ~(bits & np.int64(0x7FFFFFFFFFFFFFFF))


@internal
def _prefix_sums(below_cell: Sizes) -> Integer:
    """Turn the number of borders per cell (shifted by one) into prefix sums; return the greatest number in a cell."""
    fullest = np.int64(0)
    # Invariant: entries up to `cell` are the numbers of borders in all earlier cells.
    for cell in range(len(below_cell) - 1):
        fullest = max(fullest, below_cell[cell + 1])
        below_cell[cell + 1] += below_cell[cell]
    return fullest


@no_alloc_kernel
def encode_values(column: Categories, codes: Codes) -> None:
    """Write the code of each category."""
    for row in range(len(column)):
        codes[row] = column[row] + 1


def plan_column(column: npt.NDArray[np.generic], n_values: int, most_ranks: int, bins: int) -> CodedColumn:
    """Decide how a column is coded.

    Parameters
    ----------
    column : array
        Doubles, or indices of categories.
    n_values : int
        Categories of a nominal column.
    most_ranks : int
        A column with more distinct values than this is binned.
    bins : int
    """
    if column.dtype.kind != "f":
        return CodedColumn(n_values + 1)
    distinct = distinct_values(column.astype(np.float64, copy=False), most_ranks)
    if len(distinct) <= most_ranks:
        numbers = np.sort(distinct)
        return CodedColumn(len(numbers) + 1, numbers=numbers)
    step = max(len(column) // SAMPLE, 1)
    sample = np.array(column[::step], dtype=np.float64)
    sample = np.sort(sample[~np.isnan(sample)])
    at = (np.arange(1, bins) * len(sample)) // bins
    borders = np.unique(sample[at] + 0.0) if len(sample) else distinct[:1]
    return CodedColumn(len(borders) + 2, borders=borders)


def code_table(
    columns: Sequence[npt.NDArray[Any]], n_values: Sequence[int], most_ranks: int, n_jobs: int
) -> tuple[npt.NDArray[Any], tuple[CodedColumn, ...]]:
    """Encode all columns of a table in `n_jobs` threads.

    Returns
    -------
    codes : array, columns x rows
        Of the narrowest dtype that holds them.
    planned : tuple of CodedColumn
    """
    with ThreadPoolExecutor(n_jobs) as pool:
        planned = tuple(pool.map(lambda c, v: plan_column(c, v, most_ranks, BINS), columns, n_values))
        widest = max((column.n_codes for column in planned), default=1)
        dtype = np.uint8 if widest <= 256 else np.uint16 if widest <= 65_536 else np.int32
        codes = np.empty((len(planned), len(columns[0]) if columns else 0), dtype=dtype)

        slice_rows = max(ROWS_PER_SLICE, 8 * widest)  # the setup of a call is then negligible

        def write(begin: int) -> None:
            rows = slice(begin, begin + slice_rows)
            for column, plan, coded in zip(columns, planned, codes, strict=True):
                borders = plan.numbers if plan.numbers is not None else plan.borders
                if borders is None:
                    encode_values(column[rows], coded[rows])
                else:
                    encode_numbers(column[rows], borders, coded[rows])

        for _ in pool.map(write, range(0, codes.shape[1], slice_rows)):
            pass
    return codes, planned


@no_alloc_kernel
def count_classes(
    codes: Codes, rows: Rows, target: Classes, weights: Weights, attributes: Attributes, starts: Starts, counts: Counts
) -> None:
    """Add the cases of a node to the class weights of their codes (the histogram).

    Parameters
    ----------
    codes : array, attributes x rows of the table
    rows : array of int
        Of the node.
    target, weights : array
        Class of every row of the table; weights of the cases of the node, empty where each weighs one.
    attributes, starts : array of int
        Attributes to count, and the first bin of each attribute in `counts`.
    counts : array, bins x classes
    """
    width = counts.shape[1]
    flat = counts.reshape(-1)
    bits = np.uint64(0)
    while width >> bits > 1:
        bits += np.uint64(1)
    if width != 1 << bits:
        _add_classes(codes, rows, target, weights, attributes, starts, flat, np.uint64(width), None)
    elif _is_whole_table(rows, codes.shape[1]):
        _add_classes(codes, None, target, weights, attributes, starts, flat, np.uint64(width), bits)
    else:
        _add_classes(codes, rows, target, weights, attributes, starts, flat, np.uint64(width), bits)


@internal
def _is_whole_table(rows: Rows, n: Integer) -> Boolean:
    """Return True if a node has all rows of the table, as the root usually has: then `rows` need not be read."""
    same = 0
    while same < len(rows) and rows[same] == same:
        same += 1
    return same == n


@internal
def _add_classes(
    codes: Codes,
    rows: Rows | None,
    target: Classes,
    weights: Weights,
    attributes: Attributes,
    starts: Starts,
    flat: Counts,
    width: np.uint64,
    bits: np.uint64 | None,
) -> None:
    """Add cases as `count_classes` does; all rows of the table where `rows` is None.

    `width` is the number of classes, `bits` its binary logarithm or None where that is no integer: shifts replace
    multiplications.
    """
    n = codes.shape[1] if rows is None else len(rows)
    unit = len(weights) == 0
    fours = len(attributes) // 4 * 4
    w = 1.0
    # Row, class and weight of a case are read once for four attributes.
    # Invariant: `flat` holds all cases of the node for the first `one` attributes.
    for one in range(0, fours, 4):
        a, b, c, d = attributes[one], attributes[one + 1], attributes[one + 2], attributes[one + 3]
        codes_a, codes_b, codes_c, codes_d = codes[a], codes[b], codes[c], codes[d]
        at_a, at_b = np.uint64(starts[a]) * width, np.uint64(starts[b]) * width
        at_c, at_d = np.uint64(starts[c]) * width, np.uint64(starts[d]) * width
        for i in range(n):
            row = np.uint64(i) if rows is None else np.uint64(rows[i])
            k = np.uint64(target[row])
            if not unit:
                w = weights[i]
            if bits is None:
                flat[at_a + np.uint64(codes_a[row]) * width + k] += w
                flat[at_b + np.uint64(codes_b[row]) * width + k] += w
                flat[at_c + np.uint64(codes_c[row]) * width + k] += w
                flat[at_d + np.uint64(codes_d[row]) * width + k] += w
            else:
                flat[at_a + (np.uint64(codes_a[row]) << bits) + k] += w
                flat[at_b + (np.uint64(codes_b[row]) << bits) + k] += w
                flat[at_c + (np.uint64(codes_c[row]) << bits) + k] += w
                flat[at_d + (np.uint64(codes_d[row]) << bits) + k] += w
    for one in range(fours, len(attributes)):
        a = attributes[one]
        codes_a, at_a = codes[a], np.uint64(starts[a]) * width
        for i in range(n):
            row = np.uint64(i) if rows is None else np.uint64(rows[i])
            if not unit:
                w = weights[i]
            flat[at_a + np.uint64(codes_a[row]) * width + np.uint64(target[row])] += w


@internal
def sum_class_weights(rows: Rows, target: Classes, weights: Weights, counts: Statistics) -> None:
    """Add the weights of the cases of a node to the weights of their classes."""
    unit = len(weights) == 0
    w = 1.0
    for i in range(len(rows)):
        if not unit:
            w = weights[i]
        counts[np.uint64(target[np.uint64(rows[i])])] += w


@no_alloc_kernel
def count_numbers(
    codes: Codes,
    rows: Rows,
    deviation: Numbers,
    weights: Weights,
    attributes: Attributes,
    starts: Starts,
    counts: Counts,
) -> None:
    """Add the cases of a node to the weight, sum and sum of squares of their codes.

    `deviation` is the difference between a case's target and the mean of the node.
    """
    n = len(rows)
    unit = len(weights) == 0
    # Invariant: `counts` holds all cases of the node for the attributes before `one`.
    for one in range(len(attributes)):
        a = attributes[one]
        start = np.uint64(starts[a])
        column = codes[a]
        for i in range(n):
            index = start + np.uint64(column[np.uint64(rows[i])])
            w = 1.0 if unit else weights[i]
            d = deviation[i]
            counts[index, 0] += w
            counts[index, 1] += w * d
            counts[index, 2] += w * d * d


@no_alloc_kernel
def count_cases(codes: Codes, rows: Rows, attributes: Attributes, starts: Starts, cases: Sizes) -> None:
    """Count the cases of each code regardless of their weights."""
    fours = len(attributes) // 4 * 4
    # A row is read once for four attributes. Invariant: `cases` holds all rows for the attributes before `one`.
    for one in range(0, fours, 4):
        a, b, c, d = attributes[one], attributes[one + 1], attributes[one + 2], attributes[one + 3]
        codes_a, codes_b, codes_c, codes_d = codes[a], codes[b], codes[c], codes[d]
        at_a, at_b = np.uint64(starts[a]), np.uint64(starts[b])
        at_c, at_d = np.uint64(starts[c]), np.uint64(starts[d])
        for i in range(len(rows)):
            row = np.uint64(rows[i])
            cases[at_a + np.uint64(codes_a[row])] += 1
            cases[at_b + np.uint64(codes_b[row])] += 1
            cases[at_c + np.uint64(codes_c[row])] += 1
            cases[at_d + np.uint64(codes_d[row])] += 1
    for one in range(fours, len(attributes)):
        a = attributes[one]
        codes_a, at_a = codes[a], np.uint64(starts[a])
        for i in range(len(rows)):
            cases[at_a + np.uint64(codes_a[np.uint64(rows[i])])] += 1


@no_alloc_kernel
def route_rows(
    codes: Codes,
    column: Numbers,
    rows: Rows,
    weights: Weights,
    branch_of_code: Branches,
    threshold_bin: tuple[Integer, Real],
    branches: Branches,
    sizes: Sizes,
    sums: Weights,
) -> None:
    """Write the branch of every case of a node: by its code, and in the bin that holds the threshold by its value.

    Parameters
    ----------
    codes, column : array
        Of the attribute.
    rows, weights : array
        Of the node.
    branch_of_code : array
        -1 where a case belongs to no branch.
    threshold_bin : tuple
        The bin that contains the threshold, or -1, and the threshold.
    branches : array
        Output.
    sizes, sums : array
        Number and weight of the cases of each branch are added; the last entry is for cases without a branch.
    """
    unit = len(weights) == 0
    no_branch = np.int64(len(sizes) - 1)
    bin_of_threshold, threshold = threshold_bin
    w = 1.0
    for i in range(len(rows)):
        row = np.uint64(rows[i])
        code = np.uint64(codes[row])
        branch = np.int64(branch_of_code[code])
        if np.int64(code) == bin_of_threshold:
            branch = np.int64(column[row] > threshold)
        if branch < 0:
            branch = no_branch
        if not unit:
            w = weights[i]
        branches[i] = branch
        sizes[np.uint64(branch)] += 1
        sums[np.uint64(branch)] += w


@no_alloc_kernel
def partition_rows(
    rows: Rows,
    weights: Weights,
    branches: Branches,
    sizes: Sizes,
    shares: Shares,
    starts: Starts,
    new_rows: Rows,
    new_weights: Weights,
) -> None:
    """Partition the cases of a node stably by branch.

    A case without a branch is copied to every branch that is not empty; its weight is multiplied by the share of that
    branch (fractional cases).

    Parameters
    ----------
    rows, weights, branches, sizes : array
        As in `route_rows`.
    shares : array
        Of each branch.
    starts : array of int
        First index of each branch; afterwards the index after its last case.
    new_rows, new_weights : array
        Output; no weights where each case weighs one.
    """
    no_branch = len(sizes) - 1
    weighted = len(new_weights) > 0
    unit = len(weights) == 0
    w = 1.0
    # Invariant: `starts[b]` is the next free index of branch b, and the cases before i are written in their order.
    for i in range(len(rows)):
        branch = branches[i]
        if weighted and not unit:
            w = weights[i]
        if branch < no_branch:
            index = np.uint64(starts[np.uint64(branch)])
            starts[np.uint64(branch)] += 1
            new_rows[index] = rows[i]
            if weighted:
                new_weights[index] = w
            continue
        for other in range(no_branch):
            if sizes[other] > 0:
                index = starts[other]
                starts[other] = index + 1
                new_rows[index] = rows[i]
                new_weights[index] = w * shares[other]


FEW_ROWS = 4096
"""Smaller nodes are counted by the interpreted engine: encoding a whole table would cost more than it saves."""

MOST_RANKS = 65_534
"""Numeric columns with more distinct values are counted by the interpreted engine."""


NO_CLASSES = np.zeros(0, dtype=np.int32)


class CompiledEngine(MemoryEngine):
    """Count large nodes by kernels and small nodes by NumPy.

    Parameters
    ----------
    dataset : Dataset
        With a target.
    fractional : bool
        Whether a case with a missing value is split into fractional cases.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> engine = CompiledEngine(sample("play-tennis"))
    >>> [[outlook]] = engine.count([(engine.root(), [0])])
    >>> outlook.counts.tolist()
    [[2, 3], [4, 0], [3, 2]]
    """

    def __init__(self, dataset: Dataset, *, fractional: bool = False) -> None:
        super().__init__(dataset, fractional=fractional)
        self._coded: tuple[npt.NDArray[Any], tuple[CodedColumn, ...]] | None = None
        self._classes = NO_CLASSES  # the dtype that the growing kernels use: another one would compile the kernel again

    def count(self, requests: Sequence[tuple[int, Sequence[int]]]) -> list[list[FrequencyTable]]:
        """Count the tables of attributes at open nodes, one list per request in the order asked."""
        return [self._tables(node, attributes) for node, attributes in requests]

    def _tables(self, node: int, attributes: Sequence[int]) -> list[FrequencyTable]:
        cases = self._open[node]
        if self._regression or len(cases.rows) < FEW_ROWS:
            return [self._table(node, attribute) for attribute in attributes]
        if self._coded is None:
            columns = tuple(column[self._order] for column in self._dataset.columns)
            values = [len(column.values) for column in self.schema.attributes]
            self._coded = code_table(columns, values, MOST_RANKS, 1)
            self._classes = self._target.astype(np.int32)
        codes, planned = self._coded
        by_kernel = [
            attribute
            for attribute in attributes
            if not planned[attribute].is_binned and attribute not in self._intervals
        ]
        starts = np.zeros(len(planned) + 1, dtype=np.int64)
        for attribute in by_kernel:
            starts[attribute + 1 :] += planned[attribute].n_codes
        counts = np.zeros((int(starts[-1]), self._width))
        n_cases = np.zeros(int(starts[-1]), dtype=np.int64)
        rows = cases.rows.astype(np.int32)
        case_weights = np.zeros(0) if cases.weights is None else cases.weights
        counted = np.array(by_kernel, dtype=np.int64)
        count_classes(codes, rows, self._classes, case_weights, counted, starts, counts)
        if cases.weights is not None:
            count_cases(codes, rows, counted, starts, n_cases)
        else:
            n_cases = counts.sum(axis=1).astype(np.int64)
        counts = counts.astype(np.int64 if cases.whole else np.float64)
        tables = []
        for attribute in attributes:
            if attribute not in by_kernel:
                tables.append(self._table(node, attribute))
                continue
            part = slice(int(starts[attribute]), int(starts[attribute + 1]))
            tables.append(_as_table(counts[part], n_cases[part], planned[attribute].numbers))
        return tables


def _as_table(
    counts: npt.NDArray[Any], cases: npt.NDArray[np.int64], numbers: npt.NDArray[np.float64] | None
) -> FrequencyTable:
    if numbers is None:
        return FrequencyTable(counts[1:], counts[0], cases[1:], unknown_cases=int(cases[0]))
    kept = cases[1:] > 0
    return FrequencyTable(counts[1:][kept], counts[0], cases[1:][kept], numbers[kept], int(cases[0]))
