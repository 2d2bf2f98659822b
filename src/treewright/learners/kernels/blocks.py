"""The block of a node: a copy of its cases, with every numeric column sorted, by one kernel."""

from __future__ import annotations

import numpy as np

from treewright.arrays import Attributes, Classes, Codes, Integer, Integers, Numbers, Order, Ranks, Rows
from treewright.intrinsics import array_at
from treewright.jit import no_alloc_kernel
from treewright.learners.kernels.sort import SortBuffers, gather_cases, gather_codes, gather_numbers, sort_numbers


@no_alloc_kernel
def fill_block(
    rows: Rows,
    n_rows: Integer,
    columns: Integers,
    ranks: Ranks,
    cuts: Attributes,
    nominal: Codes,
    attributes: Attributes,
    target: Classes | Numbers,
    shift: Integer,
    order: Order,
    codes: Codes,
    numbers: Numbers,
    labels: Classes | Numbers,
    values: Numbers,
    buffers: SortBuffers,
) -> None:
    """Copy the cases of a node into a block.

    Parameters
    ----------
    rows : array of int
        Of the node.
    n_rows : int
        Of the table.
    columns : array of int, numeric attributes x 2
        See `treewright.intrinsics.addresses_of`; none where the block has no orders.
    ranks : array, numeric attributes x rows of the table
        Used where the block has no orders.
    cuts : array of int
        The numeric attributes.
    nominal : array, rows of the table x nominal attributes
        Codes.
    attributes : array of int
        The nominal ones.
    target : array, by rows of the table
    shift : int
        Number of bits of the case in an entry of `order`.
    order, codes, numbers, labels : array
        Output: see `workspace.Block`; the target of the cases.
    values, buffers
        Scratch space.
    """
    n = len(rows)
    for slot in range(len(columns)):
        gather_numbers(array_at(columns[slot, 0], n_rows, columns[slot, 1], values), rows, values)
        sort_numbers(values, n, shift, order[slot], codes[cuts[slot]], numbers[slot], buffers)
    for slot in range(len(ranks)):
        gather_codes(ranks[slot], rows, codes[cuts[slot]], np.int64(0))
    gather_cases(nominal, rows, attributes, codes)
    gather_numbers(target, rows, labels)
