"""Arguments that the block kernels share: a block of cases, the rules, buffers, and the nodes that they write.

A block is a copy of the cases of one node: codes of every attribute, the order of the cases by every numeric attribute,
target and weights. Indices in a block are small. An order lists the cases of a node in ascending order of an attribute;
each entry packs the code of the value and the case.

A growing subtree is written as arrays with one row for each node; a stack holds the nodes that are not processed yet.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from treewright.arrays import (
    Attributes,
    Branches,
    Classes,
    Codes,
    Counts,
    DoubleBits,
    Flags,
    FrameFields,
    Integer,
    Integers,
    Keys,
    Logarithms,
    NodeDoubles,
    NodeIntegers,
    Numbers,
    Options,
    Order,
    Positions,
    Real,
    Rows,
    Scores,
    Shares,
    Sides,
    Sizes,
    Starts,
    Statistics,
    UnitCounts,
    Weights,
)
from treewright.jit import inlined_internal, kernel, no_alloc_kernel

MOST_SUBSETS = 512
"""Most partitions of few categories into two sets that are compared."""


class Block(NamedTuple):
    """The cases of one node, copied together.

    Parameters
    ----------
    order : array, sorted attributes x capacity
        Packed entries: ``code << shift | case``.
    codes : array, attributes x capacity
        0 for missing, else the category or the rank of the value, from 1.
    target, values : array
        Class codes; numeric target (one of the two is used).
    weights : array
    deviation : array
        Of the numeric target from the mean of the current node.
    """

    order: Order
    codes: Codes
    target: Classes
    values: Numbers
    weights: Weights
    deviation: Numbers


class Rules(NamedTuple):
    """What is constant while a subtree is grown.

    Parameters
    ----------
    opt : array of one `OPTIONS`
    tests, n_values : array of int
        Of each attribute.
    high_cardinality : array of bool
        High-cardinality attributes, which C4.5 excludes from its average gain.
    slots : array of int
        Row of each attribute in `order` and `numbers`, -1 where it has none.
    numbers : array, sorted attributes x codes
    nlogn : array
        n log2 n.
    shift : array of one int
        Number of bits of the case in an entry of `order`.
    """

    opt: Options
    tests: Integers
    n_values: Sizes
    high_cardinality: Flags
    slots: Positions
    numbers: Numbers
    nlogn: Logarithms
    shift: Integers


class Buffers(NamedTuple):
    """Buffers for one node.

    Parameters
    ----------
    scores, positions, lefts : array
        Of the thresholds of an attribute; `scores` is long enough for its partitions of categories, too.
    first, second : array
        Sums of each threshold, see `sorted_scan.collect_thresholds`.
    gains : array of int
        Bits of the quick decrease of each threshold.
    rows : array
        Statistics of branches, or by category, missing values last.
    unknown, known, left, before, right, whole, summary : array
        Statistics; `before` are those on the left of the first threshold.
    turn : array of int, 2 x attributes
        Free attributes, and the order in which they are evaluated.
    starts : array of int
        First index of each branch.
    """

    scores: Scores
    positions: Positions
    lefts: Weights
    first: Scores
    second: Scores
    gains: DoubleBits
    rows: Counts
    unknown: Statistics
    known: Statistics
    left: Statistics
    before: Statistics
    right: Statistics
    whole: Statistics
    summary: Statistics
    turn: Attributes
    starts: Starts


class CategoryBuffers(NamedTuple):
    """Buffers for nominal attributes.

    Parameters
    ----------
    cases : array of int
        Numbers of cases by category, missing values last.
    ranks : array of int, classes + 2 x values
        Ranks of categories by class, after the categories that occur and their order.
    shares : array
        Share of a class in each category.
    tally, sizes : array of int
        Cases by category and class, and by category; zeros before and after each use.
    """

    cases: Sizes
    ranks: Positions
    shares: Shares
    tally: UnitCounts
    sizes: UnitCounts


class Visits(NamedTuple):
    """The cases of all nodes, one slice each, and buffers to partition them.

    Parameters
    ----------
    cases : array of int
    branch_of : array of int
    spare, spare_entries : array
    """

    cases: Rows
    branch_of: Branches
    spare: Rows
    spare_entries: Order


class BestTests(NamedTuple):
    """The best test of each attribute at a node.

    Parameters
    ----------
    state : array of int
        1 where the test may be chosen, 0 where it has no gain, -1 where there is none.
    score, info : array
        Score of the criterion, entropy of the branches.
    low, high : array of int
        Codes on both sides of a threshold; high is -1 where known is split from missing.
    missing_branch : array of int
        Default branch of missing values, -1 where these become fractional cases.
    sides : array, attributes x values
        Branch of each category of a binary test, -1 for categories that do not occur.
    """

    state: Integers
    score: Scores
    info: Scores
    low: Codes
    high: Codes
    missing_branch: Integers
    sides: Sides


@inlined_internal
def add_case(into: Statistics, case: Integer, block: Block, regression: bool) -> None:
    """Add a case to statistics."""
    w = block.weights[case]
    if regression:
        d = block.deviation[case]
        into[0] += w
        into[1] += w * d
        into[2] += w * d * d
    else:
        into[block.target[case]] += w


def new_buffers(n_cases: int, n_attributes: int, most_values: int, width: int) -> Buffers:
    """Allocate buffers; `most_values` is at least two, as a test has two branches."""
    unknown, known, left, before, right, whole, summary = np.empty((7, width))
    n_scores = max(2 * n_cases, n_attributes, width * (most_values + 1), MOST_SUBSETS) + 2
    return Buffers(
        np.empty(n_scores),
        np.empty(2 * n_cases + 2, dtype=np.int64),
        np.empty(2 * n_cases + 2),
        np.empty(2 * n_cases + 2),
        np.empty(2 * n_cases + 2),
        np.empty(2 * n_cases + 2, dtype=np.int64),
        np.empty((most_values + 1, width)),
        unknown,
        known,
        left,
        before,
        right,
        whole,
        summary,
        np.empty((2, n_attributes), dtype=np.int64),
        np.empty(most_values + 1, dtype=np.int64),
    )


def new_category_buffers(most_values: int, width: int) -> CategoryBuffers:
    """Allocate buffers for nominal attributes."""
    return CategoryBuffers(
        np.empty(most_values + 1, dtype=np.int64),
        np.empty((width + 2, most_values + 1), dtype=np.int64),
        np.empty(most_values + 1),
        np.zeros((most_values + 1) * width, dtype=np.int32),
        np.zeros(most_values + 1, dtype=np.int32),
    )


def new_visits(rows: Rows, n_cases: int, entry: np.dtype[Any]) -> Visits:
    """Allocate the slices of these cases of a block of `n_cases`, for orders with entries of this dtype."""
    return Visits(
        rows.copy(),
        np.empty(n_cases, dtype=np.int32),
        np.empty(len(rows), dtype=np.int32),
        np.empty(len(rows), dtype=entry),
    )


def new_best_tests(n_attributes: int, most_values: int) -> BestTests:
    """Allocate the best tests."""
    return BestTests(
        np.empty(n_attributes, dtype=np.int64),
        np.empty(n_attributes),
        np.empty(n_attributes),
        np.empty(n_attributes, dtype=np.int64),
        np.empty(n_attributes, dtype=np.int64),
        np.empty(n_attributes, dtype=np.int64),
        np.zeros((n_attributes, most_values + 1), dtype=np.int8),
    )


def with_capacity(block: Block, n_cases: int) -> Block:
    """Return the block with a capacity of `n_cases`."""
    buffers = block.codes.shape[1]
    return Block._make(enlarged(array, n_cases, -1) if array.shape[-1] == buffers else array for array in block)


def enlarged(array: npt.NDArray[Any], n: int, axis: int = 0) -> npt.NDArray[Any]:
    """Return a copy of length n that starts with the old content."""
    shape = [*array.shape]
    here = shape[axis]
    shape[axis] = n
    copy: npt.NDArray[Any] = np.empty(shape, dtype=array.dtype)
    copy[(..., slice(here)) if axis else slice(here)] = array
    return copy


@inlined_internal
def summarise(
    visits: Rows, first: Integer, size: Integer, block: Block, regression: bool, summary: Statistics
) -> tuple[bool, Real, Real]:
    """Write the statistics of a node to `summary`; return whether it is pure, its mean and its weight."""
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
    # Invariant: the extremes and the sums are those of the cases before p.
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
    # The sum of the deviations corrects the rounding of the mean.
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


@no_alloc_kernel
def spread(
    entries: Order | Rows,
    first: Integer,
    size: Integer,
    mask: Integer,
    branch_of: Branches,
    starts: Starts,
    spare: Order | Rows,
) -> None:
    """Partition a slice of entries stably by branch."""
    branches = len(starts)
    if branches == 2:
        here = first
        there = 0
        # Invariant: the entries of branch 0 before p end at `here`, those of branch 1 are `spare[:there]`.
        for p in range(first, first + size):
            # Written to both, and only one index advances: no branch to mispredict.
            entry = entries[p]
            branch = branch_of[np.int64(entry) & mask]
            entries[here] = entry
            spare[there] = entry
            here += 1 - branch
            there += branch
        for p in range(there):
            entries[here + p] = spare[p]
        return
    # Invariant of the second loop: `starts[b]` is the next free index of branch b.
    for p in range(size):
        spare[p] = entries[first + p]
    for p in range(size):
        branch = branch_of[np.int64(spare[p]) & mask]
        entries[starts[branch]] = spare[p]
        starts[branch] += 1
    for branch in range(branches - 1, 0, -1):  # each start has advanced to that of the next branch
        starts[branch] = starts[branch - 1]
    starts[0] = first


@kernel
def longer(array: npt.NDArray[Any], n: Integer) -> npt.NDArray[Any]:
    """Return a copy of length n that starts with the old content."""
    copy = np.empty(n, dtype=array.dtype)
    for i in range(len(array)):  # loops compile in a fraction of the time of slices
        copy[i] = array[i]
    return copy


# Columns of a node: integers, and doubles (the class weights from COUNTS_AT on).
ATTRIBUTE, PARENT, BRANCHES, MISSING, OUTCOME, STOP, SIDES_AT, LOW, HIGH = range(9)
WEIGHT, SSE, MEAN, RANDOM_CUT, COUNTS_AT = range(5)

# Columns of a stack frame. `PARENT_OUTCOME` is the outcome of the parent; `SLICES_END` and `CASES_END` are the used
# lengths of the slices and of the cases of the block.
FIRST, SIZE, LEVEL, PARENT_NODE, PARENT_OUTCOME, SLICES_END, CASES_END = range(7)


class NodeArrays(NamedTuple):
    """The nodes of a subtree in depth-first order, and the branches of the categories of their binary tests."""

    integers: NodeIntegers
    doubles: NodeDoubles
    sides: Sides


class Frames(NamedTuple):
    """The stack of nodes that are not processed yet: integer fields, random keys, attributes excluded by the path."""

    fields: FrameFields
    keys: Keys
    used: Flags
