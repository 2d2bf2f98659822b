"""Copy the cases of a node into a block."""

from __future__ import annotations

from treewright.counts.compiled.flags import Array, Number, no_alloc_kernel
from treewright.grow.compiled.sorting import SortBuffers, sort_numbers


@no_alloc_kernel
def gather_numbers(column: Array, rows: Array, into: Array) -> None:
    """Copy the values of these rows."""
    for i in range(len(rows)):
        into[i] = column[rows[i]]


@no_alloc_kernel
def gather_codes(codes: Array, rows: Array, into: Array, step: Number) -> None:
    """Copy the codes of these rows plus an offset (category indices become codes from 1)."""
    for i in range(len(rows)):
        into[i] = codes[rows[i]] + step


@no_alloc_kernel
def gather_cases(table: Array, rows: Array, attributes: Array, into: Array) -> None:
    """Copy the codes of these rows, transposing cases x attributes to attributes x cases."""
    for i in range(len(rows)):
        row = rows[i]
        for index in range(len(attributes)):
            into[attributes[index], i] = table[row, index]


@no_alloc_kernel
def sort_columns(
    values: Array,
    attributes: Array,
    n: Number,
    shift: Number,
    order: Array,
    codes: Array,
    numbers: Array,
    buffers: SortBuffers,
) -> None:
    """Sort the numeric columns of a block.

    Parameters
    ----------
    values : array, numeric attributes x n
    attributes : array of int
        Row of each numeric attribute in `codes`.
    n, shift : int
    order, numbers : array, numeric attributes x n
    codes : array, attributes x n
    buffers : SortRoom
    """
    for slot in range(len(attributes)):
        sort_numbers(values[slot], n, shift, order[slot], codes[attributes[slot]], numbers[slot], buffers)
