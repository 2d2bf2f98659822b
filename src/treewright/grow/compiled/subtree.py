"""Grow a whole subtree in one kernel, over a block of cases small enough for the cache.

Invariants.

* The cases of a node are a slice, of `visits` and of the order by every numeric attribute. A split partitions the slice
  stably: each branch is a part of its parent's slice, and nothing is sorted twice.
* A case with a missing value follows every branch as a fractional case; each copy is a case of its own. The slices of
the
  branches are then written after the used part of the block, and the copies after all cases, until these branches are
  finished.
* Nodes are written depth first, so that a subtree is a range of nodes. An explicit stack of frames replaces recursion.
* The kernel allocates nothing: where a buffer is full it returns, and resumes at the same node with larger buffers
  (`block_growth`).
"""

from __future__ import annotations

import numpy as np

from treewright.counts.compiled.flags import Array, Number, inlined_internal, internal, no_alloc_kernel
from treewright.grow.compiled.arithmetic import VARIANCE
from treewright.grow.compiled.blocks import (
    BestTests,
    Block,
    Buffers,
    CategoryBuffers,
    Rules,
    Visits,
    spread,
    summarise,
)
from treewright.grow.compiled.by_need import LazySortBuffers
from treewright.grow.compiled.dividing import assign_branches, copy_fractional
from treewright.grow.compiled.drawing import child_key
from treewright.grow.compiled.examine import choose, evaluate_attributes
from treewright.grow.compiled.options import CUT, MULTIWAY
from treewright.grow.compiled.written import (
    ATTRIBUTE,
    BRANCHES,
    CASES_END,
    COUNTS_AT,
    FIRST,
    HIGH,
    LEVEL,
    LOW,
    MEAN,
    MISSING,
    OUTCOME,
    PARENT,
    PARENT_NODE,
    PARENT_OUTCOME,
    RANDOM_CUT,
    SIDES_AT,
    SIZE,
    SLICES_END,
    SSE,
    STOP,
    WEIGHT,
    Frames,
    NodeArrays,
)
from treewright.model.tree import STOPS, Stop

PURE, EMPTY, NO_ATTRIBUTES, NO_GAIN = (
    STOPS.index(stop) for stop in (Stop.PURE, Stop.EMPTY, Stop.NO_ATTRIBUTES, Stop.NO_GAIN)
)
TOO_FEW, DEPTH, SMALL_GAIN = (STOPS.index(stop) for stop in (Stop.TOO_FEW, Stop.DEPTH, Stop.SMALL_GAIN))

# State that survives a return for larger buffers: used lengths, and the number of cases that are needed.
WAITING, NODES, SIDES, NEEDED = range(4)
FINISHED, MORE_NODES, MORE_CASES = 0, 1, 2


@no_alloc_kernel
def grow_nodes(
    block: Block,
    rules: Rules,
    visits: Visits,
    buffers: Buffers,
    found: BestTests,
    written: NodeArrays,
    frames: Frames,
    state: Array,
    cancelled: Array,
    by_value: CategoryBuffers | None,
    cuts: Array | None,
    copies: Array | None,
    lazy_sort: LazySortBuffers | None,
) -> Number:
    """Grow until the stack is empty or a buffer is full; return `FINISHED`, `MORE_NODES` or `MORE_CASES`.

    Parameters
    ----------
    block, rules, visits, buffers, found, written, frames
    state : array of int
        See the names of its columns.
    cancelled : array of bool
    by_value, cuts, copies, lazy_sort
        Buffers for categories, random thresholds, fractional cases (None where there are none) and lazy sorts (None
        where all orders are maintained).
    """
    opt = rules.opt[0]
    regression = opt["criterion"] == VARIANCE
    n_attributes, most_values = len(rules.tests), len(buffers.starts)
    size = len(visits.cases)
    summary, starts, cases_of = buffers.summary, buffers.starts, visits.cases
    free = buffers.turn[0]
    waiting, n_nodes, n_sides = state[WAITING], state[NODES], state[SIDES]
    shift = rules.shift[0]
    mask = (np.int64(1) << shift) - 1
    status = FINISHED
    # Invariant: nodes below `n_nodes` are written; each of the `waiting` frames has its cases in one slice.
    while waiting > 0 and not cancelled[0]:
        if (
            n_nodes >= len(written.integers)
            or waiting + most_values >= len(frames.keys)
            or n_sides + most_values > len(written.sides)
        ):
            status = MORE_NODES
            break
        at = waiting - 1
        fields = frames.fields[at]
        waiting = at
        first, n_here, level = fields[FIRST], fields[SIZE], fields[LEVEL]
        top, cases = fields[SLICES_END], fields[CASES_END]
        node = n_nodes
        n_nodes += 1
        ints, reals = written.integers[node], written.doubles[node]
        pure, mean, weight = summarise(cases_of, first, n_here, block, regression, summary)
        write_leaf(ints, reals, fields, summary, mean, weight, regression, written.doubles)
        n_free = np.int64(0)
        for a in range(n_attributes):
            if not frames.used[at, a]:
                free[n_free] = a
                n_free += 1
        ints[STOP] = stop_of(n_here, pure, level, weight, n_free, opt)
        if ints[STOP] >= 0:
            continue
        if regression:
            for p in range(first, first + n_here):
                block.deviation[cases_of[p]] = block.values[cases_of[p]] - mean
        perfect = evaluate_attributes(
            n_free, cases_of, first, n_here, frames.keys[at], block, rules, buffers, found, by_value, cuts, lazy_sort
        )
        a = choose(found, rules, buffers.scores)
        ints[STOP] = stop_after(a, weight, found, opt)
        if ints[STOP] >= 0:
            continue
        branches = rules.n_values[a] if rules.tests[a] == MULTIWAY else 2
        sides_before = n_sides
        n_sides = write_test(ints, a, branches, found, rules, written.sides, n_sides)
        if cuts is not None and rules.tests[a] == CUT:
            reals[RANDOM_CUT] = cuts[a]
        n_missing = assign_branches(
            cases_of, first, n_here, ints, block, rules, written.sides, visits.branch_of, starts
        )
        if copies is not None and n_missing > 0:
            made = n_missing * _occurring(starts, branches)
            if max(top, cases) + n_here + made > size:
                # This node is processed again with larger buffers.
                state[NEEDED] = max(top, cases) + n_here + made
                waiting, n_nodes, n_sides = at + 1, node, sides_before
                status = MORE_CASES
                break
            copy_fractional(
                cases_of, first, n_here, branches, visits.branch_of, copies, top, cases, block, rules, buffers
            )
            top, cases = starts[branches], cases + made
        else:
            begin = first
            for branch in range(branches):
                here = starts[branch]
                starts[branch] = begin
                begin += here
            starts[branches] = begin
            # After a perfect split all branches are leaves, whose orders are never read.
            for slot in range(block.order.shape[0] if lazy_sort is None and found.score[a] < perfect else 0):
                spread(
                    block.order[slot], first, n_here, mask, visits.branch_of, starts[:branches], visits.spare_entries
                )
            spread(cases_of, first, n_here, np.int64(0x7FFFFFFF), visits.branch_of, starts[:branches], visits.spare)
        key = frames.keys[at]
        if opt["once_per_path"] and rules.tests[a] == MULTIWAY:
            frames.used[at, a] = True
        for below in range(at + branches - 1, at - 1, -1):
            branch = at + branches - 1 - below
            n_below = starts[branch + 1] - starts[branch]
            set_frame(frames.fields, below, starts[branch], n_below, level + 1, node, ints[OUTCOME], top, cases)
            frames.keys[below] = child_key(key, branch)
            if below > at:
                _copy_flags(frames.used, at, below)
        waiting += branches
    state[WAITING], state[NODES], state[SIDES] = waiting, n_nodes, n_sides
    return status


@internal
def set_frame(
    frames: Array,
    at: Number,
    first: Number,
    size: Number,
    level: Number,
    above: Number,
    parent_outcome: Number,
    top: Number,
    cases: Number,
) -> None:
    """Write the stack frame of a node."""
    frames[at, FIRST] = first
    frames[at, SIZE] = size
    frames[at, LEVEL] = level
    frames[at, PARENT_NODE] = above
    frames[at, PARENT_OUTCOME] = parent_outcome
    frames[at, SLICES_END] = top
    frames[at, CASES_END] = cases


@internal
def _occurring(sizes: Array, branches: Number) -> Number:
    """Return the number of branches that have cases."""
    occurring = 0
    for branch in range(branches):
        occurring += sizes[branch] > 0
    return occurring


@internal
def _copy_flags(flags: Array, one: Number, other: Number) -> None:
    for i in range(flags.shape[1]):
        flags[other, i] = flags[one, i]


@inlined_internal
def write_leaf(
    ints: Array,
    reals: Array,
    fields: Array,
    summary: Array,
    mean: Number,
    weight: Number,
    regression: bool,
    doubles: Array,
) -> None:
    """Write a node as a leaf; an empty node has the outcome of its parent."""
    ints[ATTRIBUTE] = -1
    ints[PARENT] = fields[PARENT_NODE]
    ints[BRANCHES] = 0
    ints[MISSING] = -1
    ints[SIDES_AT] = ints[LOW] = ints[HIGH] = -1
    ints[OUTCOME] = fields[PARENT_OUTCOME]
    reals[WEIGHT] = weight
    reals[SSE] = summary[2] if regression else 0.0
    reals[MEAN] = mean
    reals[RANDOM_CUT] = np.nan
    if regression:
        if fields[SIZE] == 0 and fields[PARENT_NODE] >= 0:
            reals[MEAN] = doubles[fields[PARENT_NODE], MEAN]
        return
    for k in range(len(summary)):
        reals[COUNTS_AT + k] = summary[k]
    if fields[SIZE] == 0:
        return
    greatest = summary[0]
    for k in range(1, len(summary)):
        greatest = max(greatest, summary[k])
    for k in range(len(summary)):
        if summary[k] >= greatest * (1 - 1e-12):
            ints[OUTCOME] = k
            return


@internal
def stop_of(n: Number, pure: bool, level: Number, weight: Number, n_free: Number, opt: Array) -> Number:
    """Return the reason to stop before anything is counted, -1 if there is none."""
    if n == 0:
        return EMPTY
    if pure:
        return PURE
    if 0 <= opt["max_depth"] <= level:
        return DEPTH
    too_few = n < opt["min_cases"] or n < 2 * opt["min_leaf"]
    if too_few or weight < opt["min_weight"] or weight < opt["least_node"]:
        return TOO_FEW
    return NO_ATTRIBUTES if n_free == 0 else -1


@internal
def stop_after(a: Number, weight: Number, found: BestTests, opt: Array) -> Number:
    """Return the reason not to split by the chosen attribute (-1: no attribute), -1 if there is none."""
    if a < 0:
        return NO_GAIN
    return SMALL_GAIN if found.score[a] * weight / opt["total_weight"] < opt["min_decrease"] else -1


@inlined_internal
def write_test(
    ints: Array, a: Number, branches: Number, found: BestTests, rules: Rules, sides: Array, n_sides: Number
) -> Number:
    """Write the test of a node; return the used length of `sides`."""
    ints[ATTRIBUTE] = a
    ints[BRANCHES] = branches
    ints[MISSING] = found.missing_branch[a]
    if rules.tests[a] == CUT:
        ints[LOW] = found.low[a]
        ints[HIGH] = found.high[a]
    elif rules.tests[a] != MULTIWAY:
        ints[SIDES_AT] = n_sides
        for value in range(rules.n_values[a]):
            sides[n_sides + value] = found.sides[a, value]
        return n_sides + rules.n_values[a]
    return n_sides
