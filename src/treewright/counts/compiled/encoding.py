"""Encode the columns of a large table for counting: one small integer code per cell.

Invariants. Code 0 is a missing value. A nominal column, or a numeric one with few distinct values, is coded by rank:
every value has its own code, from 1, in category order or ascending. A numeric column with many distinct values is
binned: each code is the interval between two borders, and the order inside a bin is looked up in the column itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.counts.compiled.bits import bits_of
from treewright.counts.compiled.flags import Array, Number, internal, no_alloc_kernel

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
def _find_distinct_values(column: Array, limit: Number, found: Array, slots: Array) -> Number:
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

    The range from the first border to the last is cut into cells of equal width; where that puts too many borders into
    one cell, of equal steps of the bits of the doubles, which is nearly a logarithmic scale. A value is compared only
    with the borders of its cell. Where neither helps, the borders are searched by bisection.
    """
    buffers = np.empty(len(borders) + MOST_IN_CELL), np.empty(len(borders), dtype=np.int64)
    _encode(column, borders, codes, *buffers, np.zeros(CELLS + 1, dtype=np.int64))


@no_alloc_kernel
def _encode(column: Array, borders: Array, codes: Array, padded: Array, keys: Array, below_cell: Array) -> None:
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
                below = below_cell[_cell_of(number, first, scale)]
                for _ in range(fullest):
                    below += padded[below] < number
                codes[row] = 0 if np.isnan(number) else below + 1
            return
    shift = np.int64(1)  # a difference of halves does not overflow
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
            cell = (_key_of(bits_of(number)) >> shift) - start
            below = below_cell[min(max(cell, 0), CELLS - 1)]
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
def _even_cells(borders: Array) -> tuple[Number, Number]:
    """Return the first border and the cells per unit, 0 where the borders are too close together or too far apart."""
    if len(borders) == 0:
        return 0.0, 0.0
    length = borders[len(borders) - 1] - borders[0]
    return borders[0], (CELLS - 1) / length if 1e-290 < length < 1e290 else 0.0


@internal
def _cell_of(number: Number, first: Number, scale: Number) -> Number:
    """Return the cell of a value; it is monotonic in the value, so borders of other cells need no comparison."""
    scaled = (number - first) * scale
    if not scaled > 0.0:
        return np.int64(0)
    return np.int64(scaled) if scaled < CELLS - 1 else np.int64(CELLS - 1)


@internal
def _key_of(bits: Number) -> Number:
    """Return an integer that orders like the double with these bits."""
    return bits if bits >= 0 else ~(bits & np.int64(0x7FFFFFFFFFFFFFFF))


@internal
def _prefix_sums(below_cell: Array) -> Number:
    """Turn the number of borders per cell (shifted by one) into prefix sums; return the greatest number in a cell."""
    fullest = np.int64(0)
    for cell in range(len(below_cell) - 1):
        fullest = max(fullest, below_cell[cell + 1])
        below_cell[cell + 1] += below_cell[cell]
    return fullest


@no_alloc_kernel
def encode_values(column: Array, codes: Array) -> None:
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
