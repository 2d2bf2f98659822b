"""Kernels that route cases through trees.

Trees of thresholds are compiled to steps: the offset of the value in the row of a case, the threshold, and the position
of the left child; the right child is next to it. A leaf points to itself, with an infinite threshold. So a step has no
branch that the processor could mispredict. A batch of cases takes one step each in turn, so that memory latencies
overlap; cases that have reached a leaf leave the batch every few steps.

A case with a missing value is routed by itself (`walk`). A case that no single branch takes (it would become
fractional, stay at an inner node, or follow a surrogate) is left to the interpreted router (`UNROUTED`).

The values of a batch are read once in memory order before the cases are routed, so that the hardware prefetcher loads
them; the later reads in tree order then hit the cache.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treewright.counts.compiled.flags import Array, Number, internal, no_alloc_kernel
from treewright.model.split import Test
from treewright.model.tree import TESTS

UNROUTED = -1
"""Instead of a leaf: the interpreted router has to route the case."""

BATCH_SLOTS = 128
"""Slots of a batch of cases: with some 30 attributes, their values just fill the first-level cache."""

STEPS_PER_COMPACTION = 5
"""Steps between two compactions of a batch: steps at a leaf are wasted, and so is the time of a compaction."""

THRESHOLD, INTERVALS = TESTS.index(Test.THRESHOLD), TESTS.index(Test.INTERVALS)

STEP = np.dtype([("cut", np.float64), ("offset", np.uint32), ("below", np.uint32)])


class Nodes(NamedTuple):
    """The arrays of a tree, or of many trees with consecutive node numbers."""

    attribute: Array
    test: Array
    cut: Array
    missing: Array
    child_start: Array
    children: Array
    value_start: Array
    value_branch: Array
    bound_start: Array
    bounds: Array
    has_surrogate: Array


class Table(NamedTuple):
    """The values of cases in one block of memory, with the strides between neighbouring cases and attributes.

    Categories are stored as doubles of their codes, -1 for missing.
    """

    cells: Array
    case_stride: Number
    attribute_stride: Number
    attributes: Number


class WalkBuffers(NamedTuple):
    """Buffers of `walk_thresholds`: incomplete and complete cases; row offset, position and case of each slot."""

    incomplete: Array
    complete: Array
    row: Array
    position: Array
    case: Array


@no_alloc_kernel
def walk_thresholds(
    steps: Array, node_at: Array, roots: Array, table: Table, buffers: WalkBuffers, found: Array
) -> Number:
    """Write the leaf of each complete case, for every root (roots x cases), where all tests are thresholds.

    Parameters
    ----------
    steps : array of STEP
    node_at : array
        The node at each position of `steps`.
    roots : array
        Positions of the roots.
    table : Table
    buffers : Lists
        Holds the incomplete cases afterwards.
    found : array, roots x cases

    Returns
    -------
    int
        Number of incomplete cases; what is written for them is undefined.
    """
    zero, one, slots = np.uint64(0), np.uint64(1), np.uint64(BATCH_SLOTS)
    n = np.uint64(found.shape[1])
    # A single tree stays in the cache together with a batch; several trees are walked one after the other, by all
    # cases.
    batch_cases = slots if len(roots) == 1 else n
    n_incomplete = begin = zero
    # Invariant: the cases before `begin` are routed through all trees.
    while begin < n:
        end = min(begin + batch_cases, n)
        _flag_incomplete(table, begin, end, found[0])
        n_complete = zero
        for case in range(begin, end):
            incomplete = found[0, case]
            buffers.incomplete[n_incomplete] = case
            buffers.complete[n_complete] = case
            n_incomplete += np.uint64(incomplete != 0)
            n_complete += np.uint64(incomplete == 0)
        for tree in range(len(roots)):
            for first in range(zero, n_complete, slots):
                active = min(slots, n_complete - first)
                if len(roots) > 1:  # otherwise they have just been read
                    _flag_incomplete(
                        table, buffers.complete[first], buffers.complete[first + active - one] + one, found[tree]
                    )
                for slot in range(active):
                    buffers.case[slot] = buffers.complete[first + slot]
                    buffers.row[slot] = buffers.complete[first + slot] * np.uint64(table.case_stride)
                    buffers.position[slot] = roots[tree]
                # Invariant: the first `active` slots hold the cases of the batch that have not reached a leaf.
                while active:
                    for _ in range(STEPS_PER_COMPACTION):
                        for slot in range(active):
                            step = steps[buffers.position[slot]]
                            value = table.cells[buffers.row[slot] + np.uint64(step["offset"])]
                            buffers.position[slot] = np.uint64(step["below"]) + np.uint64(value > step["cut"])
                    remaining = zero
                    for slot in range(active):
                        case, row, position = buffers.case[slot], buffers.row[slot], buffers.position[slot]
                        found[tree, case] = position
                        buffers.case[remaining], buffers.row[remaining], buffers.position[remaining] = (
                            case,
                            row,
                            position,
                        )
                        remaining += np.uint64(steps[position]["below"] != position)
                    active = remaining
            for at in range(n_complete):
                found[tree, buffers.complete[at]] = node_at[found[tree, buffers.complete[at]]]
        begin = end
    return n_incomplete


@internal
def _flag_incomplete(table: Table, begin: Number, end: Number, incomplete: Array) -> None:
    """Read the values of some cases in memory order, and flag the cases with a missing value."""
    attributes = np.uint64(table.attributes)
    if table.attribute_stride == 1:
        for case in range(begin, end):
            start = case * np.uint64(table.case_stride)
            missing = np.int64(0)
            for position in range(start, start + attributes):
                missing |= np.int64(np.isnan(table.cells[position]))
            incomplete[case] = missing
    else:
        for case in range(begin, end):
            incomplete[case] = 0
        for attribute in range(attributes):
            start = attribute * np.uint64(table.attribute_stride)
            for case in range(begin, end):
                incomplete[case] |= np.int32(np.isnan(table.cells[start + case]))


@no_alloc_kernel
def walk(nodes: Nodes, roots: Array, table: Table, cases: Array, found: Array) -> None:
    """Write the leaf of each of some cases, for every root (roots x cases)."""
    for tree in range(len(roots)):
        for case in cases:
            node = np.int64(roots[tree])
            attribute = nodes.attribute[node]
            # Invariant: the case reaches `node`, whose attribute is `attribute` (negative at a leaf).
            while attribute >= 0:
                value = table.cells[np.int64(case) * table.case_stride + attribute * table.attribute_stride]
                branch = _branch(nodes, node, value)
                if branch < 0:
                    branch = UNROUTED if nodes.has_surrogate[node] else np.int64(nodes.missing[node])
                if branch < 0:
                    node = np.int64(UNROUTED)
                    break
                node = np.int64(nodes.children[nodes.child_start[node] + branch])
                attribute = nodes.attribute[node]
            found[tree, case] = node


@internal
def _branch(nodes: Nodes, node: Number, value: Number) -> Number:
    """Return the branch of a value, -1 where it is missing or has no branch."""
    test = nodes.test[node]
    if test == THRESHOLD:
        if np.isnan(value):
            return np.int64(-1)
        return np.int64(1) if value > nodes.cut[node] else np.int64(0)
    if test == INTERVALS:
        if np.isnan(value):
            return np.int64(-1)
        branch = np.int64(0)
        for position in range(nodes.bound_start[node], nodes.bound_start[node + 1]):
            if nodes.bounds[position] < value:
                branch += 1
        return branch
    return np.int64(-1) if value < 0 else np.int64(nodes.value_branch[nodes.value_start[node] + np.int64(value)])


@no_alloc_kernel
def sum_leaf_values(found: Array, leaf_of_node: Array, leaf_values: Array, weights: Array, sums: Array) -> None:
    """Sum the predictions of the leaves for each case, tree by tree; NaN where a tree left the case unrouted.

    Parameters
    ----------
    found : array, trees x cases
        Nodes.
    leaf_of_node : array
        Row in `leaf_values` of each node.
    leaf_values : array, leaves x outputs
    weights : array
        Of the trees.
    sums : array, cases x outputs
        Zeros.
    """
    for tree in range(found.shape[0]):
        weight = weights[tree]
        for case in range(found.shape[1]):
            node = found[tree, case]
            for k in range(sums.shape[1]):
                sums[case, k] += leaf_values[leaf_of_node[node], k] * weight if node >= 0 else np.nan
