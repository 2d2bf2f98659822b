"""Dividing the cases of a node among its branches, inside a block."""

from __future__ import annotations

import numpy as np

from treewright.counts.compiled.flags import Array, Number, part
from treewright.grow.compiled.arithmetic import VARIANCE
from treewright.grow.compiled.blocks import Block, Rules
from treewright.grow.compiled.options import CUT, MULTIWAY
from treewright.grow.compiled.written import (
    ABOVE,
    ATTRIBUTE,
    BRANCH,
    BRANCHES,
    CASES,
    FIRST,
    LOW,
    MISSING,
    SIDES_AT,
    SIZE,
    TOP,
    Written,
)


@part
def branch_of_code(code: Number, whole: Array, test: Number, sides: Array) -> Number:
    """Return the branch of a code at a node, -1 for a missing one."""
    if code == 0:
        return -1
    if test == CUT:
        return 0 if code <= whole[LOW] else 1
    if test == MULTIWAY:
        return code - 1
    return np.int64(sides[whole[SIDES_AT] + code - 1])


@part
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
    """Find the branch of every case and the sizes of the branches; return how many cases must be divided."""
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
                lost += 1
                continue
        branch_of[i] = branch
        sizes[branch] += 1
    return lost


@part
def branch_size(fields: Array, visits: Array, block: Block, rules: Rules, written: Written) -> Number:
    """Return how many cases a branch gets, the divided ones included; an empty branch gets none of these."""
    whole = written.integers[fields[ABOVE]]
    a = whole[ATTRIBUTE]
    own = lost = 0
    for p in range(fields[FIRST], fields[FIRST] + fields[SIZE]):
        branch = branch_of_code(np.int64(block.codes[a, visits[p]]), whole, rules.tests[a], written.sides)
        if branch < 0:
            lost += 1
        elif branch == fields[BRANCH]:
            own += 1
    return own + lost if own else 0


@part
def open_branch(fields: Array, visits: Array, copy_of: Array, block: Block, rules: Rules, written: Written) -> Number:
    """Put the cases of a branch together at the end of the block, copies of divided ones included.

    Returns the first free case after them.
    """
    whole = written.integers[fields[ABOVE]]
    a = whole[ATTRIBUTE]
    test = rules.tests[a]
    regression = rules.opt[0]["criterion"] == VARIANCE
    first, size, top, made = fields[FIRST], fields[SIZE], fields[TOP], fields[CASES]
    own_weight = known_weight = 0.0
    own = 0
    for p in range(first, first + size):
        i = visits[p]
        branch = branch_of_code(np.int64(block.codes[a, i]), whole, test, written.sides)
        if branch >= 0:
            known_weight += block.weights[i]
        if branch == fields[BRANCH]:
            own += 1
            own_weight += block.weights[i]
    if own == 0:
        return made
    share = own_weight / known_weight
    fill = top
    for p in range(first, first + size):
        i = visits[p]
        branch = branch_of_code(np.int64(block.codes[a, i]), whole, test, written.sides)
        copy_of[i] = -1
        if branch == fields[BRANCH]:
            copy_of[i] = i
        elif branch < 0:
            block.weights[made] = block.weights[i] * share
            if regression:
                block.values[made] = block.values[i]
            else:
                block.target[made] = block.target[i]
            for other in range(block.codes.shape[0]):
                block.codes[other, made] = block.codes[other, i]
            copy_of[i] = made
            made += 1
        if copy_of[i] >= 0:
            visits[fill] = copy_of[i]
            fill += 1
    shift = rules.shift[0]
    mask = (np.int64(1) << shift) - 1
    for slot in range(block.order.shape[0]):
        fill = top
        for p in range(first, first + size):
            packed = np.int64(block.order[slot, p])
            copy = np.int64(copy_of[packed & mask])
            if copy >= 0:
                block.order[slot, fill] = ((packed >> shift) << shift) | copy
                fill += 1
    return made
