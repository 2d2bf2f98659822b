"""Grow the subtree of a block: allocate the buffers of the kernel, and enlarge them whenever one is full."""

from __future__ import annotations

import numpy as np

from treewright.counts.compiled.flags import Array
from treewright.grow.compiled.blocks import (
    Block,
    CategoryBuffers,
    Rules,
    enlarged,
    new_best_tests,
    new_buffers,
    new_category_buffers,
    new_visits,
    with_capacity,
)
from treewright.grow.compiled.by_need import LazySortBuffers, new_lazy_sort_buffers
from treewright.grow.compiled.options import CUT, MISSING_FRACTIONAL
from treewright.grow.compiled.subtree import FINISHED, MORE_NODES, NEEDED, NODES, SIDES, WAITING, grow_nodes
from treewright.grow.compiled.written import COUNTS_AT, Frames, NodeArrays

ENTRIES_TOO_NARROW = -1
"""Instead of a number of nodes: the entries of `order` are too narrow for so many fractional cases."""


def grow_block(
    block: Block,
    rules: Rules,
    n: int,
    used: Array,
    key: np.uint64,
    depth: int,
    outcome: int,
    cancelled: Array,
    *,
    sort_lazily: bool,
) -> tuple[Array, Array, Array, int]:
    """Grow the subtree of the first `n` cases of a block.

    Parameters
    ----------
    block : Block
    rules : Rules
    n : int
    used : array of bool
        Attributes that are excluded.
    key, depth, outcome
        Of the root of the subtree: random key, depth, and the outcome of an empty node.
    cancelled : array of bool
        Set by another thread to cancel.
    sort_lazily : bool
        Whether cases are sorted when an attribute is sampled; else all orders are given and maintained.

    Returns
    -------
    integers, doubles, sides, n_nodes
        One row per node, see the names of the columns; `sides` holds the branches of the categories of binary tests.
    """
    n_attributes, width = len(rules.tests), int(rules.opt["width"][0])
    most_values = max(int(rules.n_values.max(initial=0)), 2)
    size = block.codes.shape[1]
    buffers, found = new_buffers(size, n_attributes, most_values, width), new_best_tests(n_attributes, most_values)
    visits = new_visits(size, block.order.dtype)
    by_value, cuts, copies, lazy_sort = _extras(block, rules, most_values, sort_lazily=sort_lazily)
    written = NodeArrays(
        np.empty((64, 9), dtype=np.int32),
        np.empty((64, COUNTS_AT + width)),
        np.empty(64 + most_values, dtype=np.int8),
    )
    frames = Frames(
        np.zeros((64 + most_values, 7), dtype=np.int64),
        np.empty(64 + most_values, dtype=np.uint64),
        np.zeros((64 + most_values, n_attributes), dtype=np.bool_),
    )
    frames.fields[0] = 0, n, depth, -1, outcome, n, n
    frames.keys[0] = key
    frames.used[0] = used
    state = np.array([1, 0, 0, 0], dtype=np.int64)
    while True:
        status = grow_nodes(
            block, rules, visits, buffers, found, written, frames, state, cancelled, by_value, cuts, copies, lazy_sort
        )
        if status == FINISHED:
            return written.integers, written.doubles, written.sides, int(state[NODES])
        if status == MORE_NODES:
            if state[NODES] >= len(written.integers):
                nodes = 2 * len(written.integers)
                written = written._replace(
                    integers=enlarged(written.integers, nodes), doubles=enlarged(written.doubles, nodes)
                )
            most = len(buffers.starts)  # the margin that the kernel checks
            if state[SIDES] + most > len(written.sides):
                written = written._replace(sides=enlarged(written.sides, 2 * len(written.sides)))
            if state[WAITING] + most >= len(frames.keys):
                frames = Frames(*(enlarged(array, 2 * len(frames.keys)) for array in frames))
            continue
        size = max(2 * size, int(state[NEEDED]))
        if rules.shift[0] < 31 and size > 1 << rules.shift[0]:
            return written.integers, written.doubles, written.sides, ENTRIES_TOO_NARROW
        block = with_capacity(block, size)
        buffers = new_buffers(size, n_attributes, most_values, width)
        more = new_visits(size, block.order.dtype)
        more.cases[: len(visits.cases)] = visits.cases
        visits, copies = more, np.empty(size, dtype=np.int32)


def _extras(
    block: Block, rules: Rules, most_values: int, *, sort_lazily: bool
) -> tuple[CategoryBuffers | None, Array | None, Array | None, LazySortBuffers | None]:
    """Allocate optional buffers; for None the kernel is compiled without the code that uses them."""
    opt = rules.opt[0]
    by_value = cuts = copies = lazy_sort = None
    if np.any(rules.tests > CUT):
        by_value = new_category_buffers(most_values, int(opt["width"]))
    if opt["random_cuts"]:
        cuts = np.empty(len(rules.tests))
    if opt["missing"] == MISSING_FRACTIONAL and not np.all(block.codes):
        copies = np.empty(block.codes.shape[1], dtype=np.int32)
    if sort_lazily:
        lazy_sort = new_lazy_sort_buffers(block.order)
    return by_value, cuts, copies, lazy_sort
