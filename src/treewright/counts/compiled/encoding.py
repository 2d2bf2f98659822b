"""Encoding the columns of a large table for counting: one small code for every cell.

Vocabulary
----------
ranks
    Codes of a column with few different numbers, or of declared values: every value has its own code, from 1.
bins
    Codes of a column with many different numbers: each code stands for those between two borders. What happens inside
    a bin is looked up in the column itself.
code 0
    Missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.counts.compiled.bits import bits_of
from treewright.counts.compiled.flags import Array, Number, borrowing, part

BINS = 255
"""Bins of a column with many different numbers."""

SAMPLE = 50_000
"""Numbers from which the borders of the bins are taken."""

CELLS = 2048
"""Cells of equal length between the first and the last border of a column."""

MOST_IN_CELL = 4
"""Borders in the fullest cell, up to which comparing with them is quicker than searching."""

STRETCH = 8192
"""Rows coded at once. Neighbouring cells of a table by rows share a line of the cache; so many lines fit into it."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class CodedColumn:
    """How a column was coded.

    Parameters
    ----------
    n_codes : int
        Codes in all, the missing one included.
    numbers : array or None
        For a numeric column by rank, the number of each code from 1 on.
    borders : array or None
        For a binned column: code i holds the numbers above ``borders[i - 2]`` up to ``borders[i - 1]``.
    """

    n_codes: int
    numbers: Floats | None = None
    borders: Floats | None = None

    @property
    def is_binned(self) -> bool:
        """Whether a code stands for several numbers."""
        return self.borders is not None


def few_distinct(column: Floats, limit: int) -> Floats:
    """Return the different numbers of a column in the order of their coming; one more than the limit if too many."""
    found = np.empty(limit + 1)
    n = _find_distinct(column, limit, found, np.full(1 << (4 * limit + 3).bit_length(), -1, dtype=np.int64))
    return found[:n]


@borrowing
def _find_distinct(column: Array, limit: Number, found: Array, slots: Array) -> Number:
    """Put different numbers into `found` until there are more than the limit; return how many there are.

    `slots` are a power of two and empty, which is -1.
    """
    size = len(slots)
    n = 0
    for row in range(len(column)):
        number = column[row] + 0.0
        if np.isnan(number):
            continue
        bits = np.uint64(bits_of(number))
        place = np.int64((bits * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & (size - 1)
        while slots[place] >= 0 and found[slots[place]] != number:
            place = (place + 1) & (size - 1)
        if slots[place] < 0:
            found[n] = number
            slots[place] = n
            n += 1
            if n > limit:
                break
    return n


def encode_numbers(column: Floats, borders: Floats, codes: npt.NDArray[Any]) -> None:
    """Write the code of each number: one more than the borders below it.

    The way from the first border to the last is divided into cells, of equal length, or where that puts too many
    borders into one, of equal steps of the bits, which are nearly those of a logarithm. A number is compared with the
    borders of its cell only. Where neither helps, borders are searched by halves.
    """
    room = np.empty(len(borders) + MOST_IN_CELL), np.empty(len(borders), dtype=np.int64)
    _encode(column, borders, codes, *room, np.zeros(CELLS + 1, dtype=np.int64))


@borrowing
def _encode(column: Array, borders: Array, codes: Array, padded: Array, keys: Array, below_cell: Array) -> None:
    """Write the codes; the last three are scratch space, cells of zeros."""
    n = len(borders)
    for i in range(len(padded)):
        padded[i] = borders[i] if i < n else np.inf
        if i < n:
            keys[i] = _key_of(bits_of(borders[i]))
    first, scale = _even_cells(borders)
    if scale > 0:
        for i in range(n):
            below_cell[_cell_of(borders[i], first, scale) + 1] += 1
        fullest = _add_up(below_cell)
        if fullest <= MOST_IN_CELL:
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
    fullest = _add_up(below_cell)
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
        while low < high:
            middle = (low + high) >> 1
            if borders[middle] < number:
                low = middle + 1
            else:
                high = middle
        codes[row] = 0 if np.isnan(number) else low + 1


@part
def _even_cells(borders: Array) -> tuple[Number, Number]:
    """Return the first border and cells per unit, none where the borders are too near or too far apart."""
    if len(borders) == 0:
        return 0.0, 0.0
    length = borders[len(borders) - 1] - borders[0]
    return borders[0], (CELLS - 1) / length if 1e-290 < length < 1e290 else 0.0


@part
def _cell_of(number: Number, first: Number, scale: Number) -> Number:
    """Return the cell of a number; it never falls where numbers rise, so those of other cells need not be compared."""
    along = (number - first) * scale
    if not along > 0.0:
        return np.int64(0)
    return np.int64(along) if along < CELLS - 1 else np.int64(CELLS - 1)


@part
def _key_of(bits: Number) -> Number:
    """Return a whole number that rises with the double of these bits."""
    return bits if bits >= 0 else ~(bits & np.int64(0x7FFFFFFFFFFFFFFF))


@part
def _add_up(below_cell: Array) -> Number:
    """Turn the borders of each cell (one place on) into those below it; return how many the fullest cell has."""
    fullest = np.int64(0)
    for cell in range(len(below_cell) - 1):
        fullest = max(fullest, below_cell[cell + 1])
        below_cell[cell + 1] += below_cell[cell]
    return fullest


@borrowing
def encode_values(column: Array, codes: Array) -> None:
    """Write the code of each declared value."""
    for row in range(len(column)):
        codes[row] = column[row] + 1


def plan_column(column: npt.NDArray[np.generic], n_values: int, most_ranks: int, bins: int) -> CodedColumn:
    """Decide how a column is coded.

    Parameters
    ----------
    column : array
        Doubles, or indices of declared values.
    n_values : int
        Declared values of a nominal column.
    most_ranks : int
        With more different numbers than this a column is binned.
    bins : int
    """
    if column.dtype.kind != "f":
        return CodedColumn(n_values + 1)
    distinct = few_distinct(column.astype(np.float64, copy=False), most_ranks)
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
    """Code all columns of a table, in as many threads.

    Returns
    -------
    codes : array, columns x rows
        Of the smallest type that holds them.
    planned : tuple of CodedColumn
    """
    with ThreadPoolExecutor(n_jobs) as pool:
        planned = tuple(pool.map(lambda c, v: plan_column(c, v, most_ranks, BINS), columns, n_values))
        widest = max((column.n_codes for column in planned), default=1)
        dtype = np.uint8 if widest <= 256 else np.uint16 if widest <= 65_536 else np.int32
        codes = np.empty((len(planned), len(columns[0]) if columns else 0), dtype=dtype)

        stretch = max(STRETCH, 8 * widest)  # what a call prepares is little beside it

        def write(begin: int) -> None:
            rows = slice(begin, begin + stretch)
            for column, plan, coded in zip(columns, planned, codes, strict=True):
                borders = plan.numbers if plan.numbers is not None else plan.borders
                if borders is None:
                    encode_values(column[rows], coded[rows])
                else:
                    encode_numbers(column[rows], borders, coded[rows])

        for _ in pool.map(write, range(0, codes.shape[1], stretch)):
            pass
    return codes, planned
