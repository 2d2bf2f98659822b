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

from treewright.counts.compiled.flags import Array, Number, kernel

BINS = 255
"""Bins of a column with many different numbers."""

SAMPLE = 50_000
"""Numbers from which the borders of the bins are taken."""

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


@kernel
def few_distinct(column: Array, limit: Number) -> Array:
    """Return the different numbers of a column in the order of their coming; one more than the limit if too many."""
    size = 1
    while size < 4 * (limit + 1):
        size *= 2
    slots = np.full(size, -1, dtype=np.int64)
    found = np.empty(limit + 1)
    n = 0
    cell = np.empty(1)
    bits = cell.view(np.uint64)
    for row in range(len(column)):
        number = column[row] + 0.0
        if np.isnan(number):
            continue
        cell[0] = number
        place = np.int64((bits[0] * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & (size - 1)
        while slots[place] >= 0 and found[slots[place]] != number:
            place = (place + 1) & (size - 1)
        if slots[place] < 0:
            found[n] = number
            slots[place] = n
            n += 1
            if n > limit:
                break
    return found[:n]


@kernel
def encode_numbers(column: Array, borders: Array, codes: Array) -> None:
    """Write the code of each number: one more than the borders below it."""
    size = 1
    while size <= len(borders):
        size *= 2
    padded = np.full(size, np.inf)
    padded[: len(borders)] = borders
    for row in range(len(column)):
        number = column[row]
        below = 0
        half = size >> 1
        while half > 0:  # the same steps for every number: nothing to be mispredicted
            below += half * (padded[below + half - 1] < number)
            half >>= 1
        codes[row] = 0 if np.isnan(number) else below + 1


@kernel
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
    distinct = few_distinct(column, most_ranks)
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

        def write(index: int) -> None:
            column, plan = columns[index], planned[index]
            borders = plan.numbers if plan.numbers is not None else plan.borders
            if borders is None:
                encode_values(column, codes[index])
            else:
                encode_numbers(column, borders, codes[index])

        for _ in pool.map(write, range(len(planned))):
            pass
    return codes, planned
