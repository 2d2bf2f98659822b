"""What kernels pass among themselves: a block of cases, the rules, and room to work in.

Vocabulary
----------
block
    The cases of one node, gathered: codes of every attribute, the order of the cases by every numeric attribute,
    target and weights. Places in a block are small numbers.
order
    For a numeric attribute the cases of a node, ascending; each entry is the code of its number and the case, packed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treewright.counts.compiled.flags import Array, Number, kernel
from treewright.grow.compiled.arithmetic import VARIANCE


class Block(NamedTuple):
    """Cases at hand.

    Parameters
    ----------
    order : array, sorted attributes x room
        Whole numbers: ``code << shift | case``.
    codes : array, attributes x room
        0 for missing, else the value or the rank of the number, from 1.
    target, values : array
        Class codes; numbers to predict (one of the two is used).
    weights : array
    deviation : array
        Of the numbers from the mean of the node that is looked at.
    """

    order: Array
    codes: Array
    target: Array
    values: Array
    weights: Array
    deviation: Array


class Rules(NamedTuple):
    """What does not change while a subtree grows.

    Parameters
    ----------
    opt : array of one `OPTIONS`
    tests, n_values : array of int
        Of each attribute.
    many : array of bool
        Attributes that stay out of C4.5's average.
    slots : array of int
        Row of each attribute in `order` and `numbers`, -1 where it has none.
    numbers : array, sorted attributes x codes
    table : array
        n log2 n.
    shift : array of one int
        Bits of the case in an entry of `order`.
    """

    opt: Array
    tests: Array
    n_values: Array
    many: Array
    slots: Array
    numbers: Array
    table: Array
    shift: Array


class Room(NamedTuple):
    """Scratch space; `tally` and `sizes` are zeros whenever nobody works there."""

    scores: Array
    places: Array
    lefts: Array
    rows: Array
    cases: Array
    unknown: Array
    known: Array
    left: Array
    tally: Array
    sizes: Array


class Found(NamedTuple):
    """The best test of each attribute at a node.

    Parameters
    ----------
    state : array of int
        1 where the test may be chosen, 0 where it has no gain, -1 where there is none.
    score, info : array
        Score of the criterion, entropy of the branches.
    low, high : array of int
        Codes on both sides of a cut; high is -1 where known is parted from missing.
    home : array of int
        Branch of cases without a value, -1 where they are divided.
    cut : array
        Where cuts are drawn, the one that was.
    sides : array, attributes x values
        Branch of each value of a division of values, -1 for values that do not occur.
    """

    state: Array
    score: Array
    info: Array
    low: Array
    high: Array
    home: Array
    cut: Array
    sides: Array


@kernel
def add_case(into: Array, case: Number, block: Block, regression: bool) -> None:
    """Add a case to statistics."""
    w = block.weights[case]
    if regression:
        d = block.deviation[case]
        into[0] += w
        into[1] += w * d
        into[2] += w * d * d
    else:
        into[block.target[case]] += w


@kernel
def new_room(n_cases: Number, n_attributes: Number, most_values: Number, width: Number) -> Room:
    """Make scratch space."""
    return Room(
        np.empty(max(2 * n_cases, n_attributes) + 2),
        np.empty(2 * n_cases + 2, dtype=np.int64),
        np.empty(2 * n_cases + 2),
        np.empty((max(most_values + 1, 2), width)),
        np.empty(most_values + 1, dtype=np.int64),
        np.empty(width),
        np.empty(width),
        np.empty(width),
        np.zeros((most_values + 1) * width, dtype=np.int32),
        np.zeros(most_values + 1, dtype=np.int32),
    )


@kernel
def new_found(n_attributes: Number, most_values: Number) -> Found:
    """Make a place for what is found."""
    return Found(
        np.empty(n_attributes, dtype=np.int64),
        np.empty(n_attributes),
        np.empty(n_attributes),
        np.empty(n_attributes, dtype=np.int64),
        np.empty(n_attributes, dtype=np.int64),
        np.empty(n_attributes, dtype=np.int64),
        np.empty(n_attributes),
        np.zeros((n_attributes, most_values + 1), dtype=np.int8),
    )


@kernel
def more_room(block: Block, room: Number, regression: bool) -> Block:
    """Return the block with room for more cases."""
    return Block(
        wider(block.order, room),
        wider(block.codes, room),
        block.target if regression else longer(block.target, room),
        longer(block.values, room) if regression else block.values,
        longer(block.weights, room),
        longer(block.deviation, room) if regression else block.deviation,
    )


@kernel
def summarise(
    visits: Array, first: Number, size: Number, block: Block, regression: bool, summary: Array
) -> tuple[bool, Number, Number]:
    """Put the statistics of a node into `summary`; return whether it is pure, its mean and its weight."""
    for k in range(len(summary)):
        summary[k] = 0.0
    if size == 0:
        return True, 0.0, 0.0
    if not regression:
        for p in range(first, first + size):
            i = visits[p]
            summary[block.target[i]] += block.weights[i]
        classes = 0
        weight = 0.0
        for k in range(len(summary)):
            weight += summary[k]
            if summary[k] != 0:
                classes += 1
        return classes <= 1, 0.0, weight
    lowest = highest = block.values[visits[first]]
    weight = 0.0
    total = 0.0
    for p in range(first, first + size):
        i = visits[p]
        number = block.values[i]
        lowest = min(lowest, number)
        highest = max(highest, number)
        weight += block.weights[i]
        total += block.weights[i] * number
    summary[0] = weight
    if lowest == highest:
        return True, lowest, weight
    mean = total / weight
    rest = 0.0
    for p in range(first, first + size):
        i = visits[p]
        rest += block.weights[i] * (block.values[i] - mean)
    mean += rest / weight
    squares = 0.0
    for p in range(first, first + size):
        i = visits[p]
        squares += block.weights[i] * (block.values[i] - mean) ** 2
    summary[2] = squares
    return False, mean, weight


@kernel
def spread(
    entries: Array, first: Number, size: Number, mask: Number, branch_of: Array, starts: Array, spare: Array
) -> None:
    """Put a stretch of entries together by branch, each branch in its old order."""
    branches = len(starts)
    if branches == 2:
        here = first
        there = 0
        for p in range(first, first + size):
            # Written to both, one step further in the right one: no branch to be mispredicted.
            entry = entries[p]
            branch = branch_of[np.int64(entry) & mask]
            entries[here] = entry
            spare[there] = entry
            here += 1 - branch
            there += branch
        for p in range(there):
            entries[here + p] = spare[p]
        return
    at = np.empty(branches, dtype=np.int64)
    for branch in range(branches):
        at[branch] = starts[branch]
    for p in range(size):
        spare[p] = entries[first + p]
    for p in range(size):
        branch = branch_of[np.int64(spare[p]) & mask]
        entries[at[branch]] = spare[p]
        at[branch] += 1


@kernel
def longer(array: Array, n: Number) -> Array:
    """Return a copy with room for n."""
    copy = np.empty(n, dtype=array.dtype)
    for i in range(len(array)):  # loops compile in a fraction of the time of slices
        copy[i] = array[i]
    return copy


@kernel
def wider(array: Array, n: Number) -> Array:
    """Return a copy with room for n in each row."""
    copy = np.empty((array.shape[0], n), dtype=array.dtype)
    for i in range(array.shape[0]):
        for j in range(array.shape[1]):
            copy[i, j] = array[i, j]
    return copy


@kernel
def taller(array: Array, n: Number) -> Array:
    """Return a copy with room for n rows."""
    copy = np.empty((n, array.shape[1]), dtype=array.dtype)
    for i in range(array.shape[0]):
        for j in range(array.shape[1]):
            copy[i, j] = array[i, j]
    return copy


@kernel
def is_regression(opt: Array) -> Number:
    """Say whether numbers are predicted."""
    return opt[0]["criterion"] == VARIANCE
