"""Partition the cases of a node of a block by branch, with fractional cases."""

from __future__ import annotations

import numpy as np

from treewright.counts.compiled.flags import Array, Number, internal
from treewright.grow.compiled.arithmetic import VARIANCE
from treewright.grow.compiled.blocks import Block, Buffers, Rules
from treewright.grow.compiled.options import CUT, MULTIWAY
from treewright.grow.compiled.written import (
    ATTRIBUTE,
    BRANCHES,
    LOW,
    MISSING,
    SIDES_AT,
)


@internal
def branch_of_code(code: Number, ints: Array, test: Number, sides: Array) -> Number:
    """Return the branch of a code at a node, -1 for a missing value."""
    if code == 0:
        return -1
    if test == CUT:
        return 0 if code <= ints[LOW] else 1
    if test == MULTIWAY:
        return code - 1
    return np.int64(sides[ints[SIDES_AT] + code - 1])


@internal
def assign_branches(
    visits: Array,
    first: Number,
    size: Number,
    ints: Array,
    block: Block,
    rules: Rules,
    sides: Array,
    branch_of: Array,
    sizes: Array,
) -> Number:
    """Write the branch of every case (-1: fractional) and the branch sizes; return the number of fractional cases."""
    a = ints[ATTRIBUTE]
    test = rules.tests[a]
    for branch in range(ints[BRANCHES]):
        sizes[branch] = 0
    n_missing = 0
    for p in range(first, first + size):
        i = visits[p]
        branch = branch_of_code(np.int64(block.codes[a, i]), ints, test, sides)
        if branch < 0:
            branch = ints[MISSING]
            if branch < 0:
                branch_of[i] = -1
                n_missing += 1
                continue
        branch_of[i] = branch
        sizes[branch] += 1
    return n_missing


@internal
def copy_fractional(
    visits: Array,
    first: Number,
    size: Number,
    branches: Number,
    branch_of: Array,
    copies: Array,
    top: Number,
    cases: Number,
    block: Block,
    rules: Rules,
    buffers: Buffers,
) -> None:
    """Write the slices of all branches, with a copy of each fractional case in every branch that is not empty.

    Parameters
    ----------
    visits, first, size
        The slice of the node.
    branches : int
    branch_of : array of int
        Of each case, -1 where it becomes fractional.
    copies : array of int
        Output: the first copy of each fractional case.
    top, cases : int
        First index of the branches, and of the copies.
    block, rules
    buffers : Room
        ``buffers.starts`` holds the sizes of the branches; it becomes their starts, and the end of the last one.
    """
    regression = rules.opt[0]["criterion"] == VARIANCE
    starts, shares, occurring = buffers.starts, buffers.scores, buffers.positions
    known = 0.0
    for branch in range(branches):
        shares[branch] = 0.0
    n_missing = 0
    for p in range(first, first + size):
        i = visits[p]
        if branch_of[i] < 0:
            n_missing += 1
            continue
        known += block.weights[i]
        shares[branch_of[i]] += block.weights[i]
    n_occurring = np.int64(0)
    begin = np.int64(top)
    for branch in range(branches):
        own = starts[branch]
        starts[branch] = begin
        if own > 0:
            shares[branch] = shares[branch] / known
            occurring[n_occurring] = branch
            n_occurring += 1
            begin += own + n_missing
    made = np.int64(cases)
    # Invariant: `starts[b]` is the next free index of branch b; the copies of earlier cases end at `made`.
    for p in range(first, first + size):
        i = visits[p]
        own = np.int64(branch_of[i])
        if own >= 0:
            visits[starts[own]] = i
            starts[own] += 1
            continue
        copies[i] = made
        for other in range(block.codes.shape[0]):
            code = block.codes[other, i]
            for copy in range(made, made + n_occurring):
                block.codes[other, copy] = code
        for k in range(n_occurring):
            branch = occurring[k]
            visits[starts[branch]] = made
            starts[branch] += 1
            block.weights[made] = block.weights[i] * shares[branch]
            if regression:
                block.values[made] = block.values[i]
            else:
                block.target[made] = block.target[i]
            made += 1
    shift = rules.shift[0]
    mask = (np.int64(1) << shift) - 1
    for slot in range(block.order.shape[0]):
        order = block.order[slot]
        _reset_starts(starts, branches, top)
        for p in range(first, first + size):
            packed = np.int64(order[p])
            i = packed & mask
            own = np.int64(branch_of[i])
            if own >= 0:
                order[starts[own]] = packed
                starts[own] += 1
                continue
            copy = (packed >> shift << shift) | np.int64(copies[i])
            for k in range(n_occurring):
                branch = occurring[k]
                order[starts[branch]] = copy + k
                starts[branch] += 1
    starts[branches] = begin
    _reset_starts(starts, branches, top)


@internal
def _reset_starts(starts: Array, branches: Number, top: Number) -> None:
    """Reset `starts` from the ends of the branches to their starts, where the branch before ends."""
    for branch in range(branches - 1, 0, -1):
        starts[branch] = starts[branch - 1]
    starts[0] = top
