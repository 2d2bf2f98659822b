"""Dividing the cases of a node among its branches, inside a block."""

from __future__ import annotations

import numpy as np

from treewright.counts.compiled.flags import Array, Number, internal
from treewright.grow.compiled.arithmetic import VARIANCE
from treewright.grow.compiled.blocks import Block, Room, Rules
from treewright.grow.compiled.options import CUT, MULTIWAY
from treewright.grow.compiled.written import (
    ATTRIBUTE,
    BRANCHES,
    LOW,
    MISSING,
    SIDES_AT,
)


@internal
def branch_of_code(code: Number, whole: Array, test: Number, sides: Array) -> Number:
    """Return the branch of a code at a node, -1 for a missing one."""
    if code == 0:
        return -1
    if test == CUT:
        return 0 if code <= whole[LOW] else 1
    if test == MULTIWAY:
        return code - 1
    return np.int64(sides[whole[SIDES_AT] + code - 1])


@internal
def divide(
    visits: Array,
    first: Number,
    size: Number,
    whole: Array,
    block: Block,
    rules: Rules,
    sides: Array,
    branch_of: Array,
    sizes: Array,
) -> Number:
    """Find the branch of every case (-1: to be divided) and the sizes of the branches; return how many are divided."""
    a = whole[ATTRIBUTE]
    test = rules.tests[a]
    for branch in range(whole[BRANCHES]):
        sizes[branch] = 0
    lost = 0
    for p in range(first, first + size):
        i = visits[p]
        branch = branch_of_code(np.int64(block.codes[a, i]), whole, test, sides)
        if branch < 0:
            branch = whole[MISSING]
            if branch < 0:
                branch_of[i] = -1
                lost += 1
                continue
        branch_of[i] = branch
        sizes[branch] += 1
    return lost


@internal
def share_out(
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
    room: Room,
) -> None:
    """Put the cases of all branches together anew, a copy of each case without a value in every branch that occurs.

    Parameters
    ----------
    visits, first, size
        The stretch of the node.
    branches : int
    branch_of : array of int
        Of each case, -1 where it must be divided.
    copies : array of int
        Becomes the first copy of each divided case.
    top, cases : int
        Where the branches, and where copies begin.
    block, rules
    room : Room
        ``room.starts`` holds the sizes of the branches; it becomes where they begin, and the end after the last.
    """
    regression = rules.opt[0]["criterion"] == VARIANCE
    starts, shares, occurring = room.starts, room.scores, room.places
    known = 0.0
    for branch in range(branches):
        shares[branch] = 0.0
    lost = 0
    for p in range(first, first + size):
        i = visits[p]
        if branch_of[i] < 0:
            lost += 1
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
            begin += own + lost
    made = np.int64(cases)
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
        _back_to_begin(starts, branches, top)
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
    _back_to_begin(starts, branches, top)


@internal
def _back_to_begin(starts: Array, branches: Number, top: Number) -> None:
    """Move each from the end of its branch to the begin, where the branch before it ends."""
    for branch in range(branches - 1, 0, -1):
        starts[branch] = starts[branch - 1]
    starts[0] = top
