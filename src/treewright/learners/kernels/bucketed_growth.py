"""Grow a whole tree in one kernel by bucketed search (`bucketed`, `bucketed_categories`), without sorting.

The codes of the table are shared by all trees. The cases of a node are a slice, as in `node_loop`. If a node is small
enough for the cache, the codes of its cases are copied to a local table and its cases are renumbered.

The best test of every sampled attribute of a node is searched. After one attribute has a test, others are searched only
as far as their gain may be greater.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treewright.arrays import (
    Attributes,
    Classes,
    Codes,
    Flags,
    Integer,
    Integers,
    NarrowCounts,
    NodeDoubles,
    NodeIntegers,
    Options,
    Real,
    Rows,
    Scores,
    Sides,
    Sizes,
    Statistics,
    Weights,
)
from treewright.intrinsics import LANES, number_of
from treewright.jit import inlined_internal, internal, no_alloc_kernel
from treewright.learners.kernels.bucketed import (
    HEAVIEST,
    PAIRWISE_CASES,
    WIDE,
    CutBuffers,
    Node,
    add_pairwise_candidates,
    count_buckets,
    finalise,
    gather_counts,
    new_cut_buffers,
    packed_counts,
    pairwise_gains,
    refine_buckets,
    threshold,
)
from treewright.learners.kernels.bucketed_categories import (
    MOST_VALUES,
    SubsetBuffers,
    best_partition_by_share,
    new_subset_buffers,
)
from treewright.learners.kernels.encode import ByRank
from treewright.learners.kernels.node_loop import (
    FINISHED,
    MORE_NODES,
    NODES,
    SIDES,
    WAITING,
    choose,
    insertion_sort,
    set_frame,
    stop_after,
    stop_of,
    write_leaf,
    write_test,
)
from treewright.learners.kernels.options import CUT, HIGHEST, MISSING_FRACTIONAL, NOT_TESTED, SUBSETS
from treewright.learners.kernels.random import child_key, shuffle
from treewright.learners.kernels.score import GINI, decrease, impurity
from treewright.learners.kernels.workspace import (
    COUNTS_AT,
    FIRST,
    LEVEL,
    OUTCOME,
    PARENT_NODE,
    SIZE,
    STOP,
    BestTests,
    Frames,
    NodeArrays,
    Rules,
    enlarged,
    new_best_tests,
)

NO_LIMIT = -1.0
"""Below every gain."""


TOGETHER = 32
"""Number of attributes that are counted before any of them is refined."""


class NodeCodes(NamedTuple):
    """The codes of a node, and their bounds.

    Parameters
    ----------
    codes : array of int, numeric attributes x cases
    values : array of int, nominal attributes x cases
    low, high : array of int
        Bounds of the codes of each numeric attribute at the node.
    """

    codes: Codes
    values: Codes
    low: Codes
    high: Codes


@inlined_internal
def evaluate_bucketed(
    node: Node,
    node_codes: NodeCodes,
    key: np.uint64,
    rules: Rules,
    order: Attributes,
    buffers: CutBuffers,
    sets: SubsetBuffers | None,
    found: BestTests,
) -> None:
    """Find the best tests of the sampled attributes, and of further ones until there is any test.

    An attribute gets no test where another one has a better test.
    """
    n = np.int64(len(order))
    n_sampled = np.int64(rules.opt[0]["n_sampled"])
    for a in range(n):
        found.state[a] = -1
    if 0 < n_sampled < n:
        shuffle(key, order, n)
        insertion_sort(order, n_sampled)
    else:
        n_sampled = n
        for a in range(n):
            order[a] = a
    if node.size <= PAIRWISE_CASES:
        _evaluate_small_node(node, node_codes, rules, order, n_sampled, buffers, sets, found)
        return
    start, limit, considered = np.int64(0), NO_LIMIT, False
    # Invariant: the attributes before `start` in `order` are evaluated; no test with a gain below `limit` can be
    # chosen.
    while start < n_sampled or (start < n and not considered):
        end = min(start + TOGETHER, n_sampled) if start < n_sampled else start + 1
        any_, limit = _evaluate_large_node(node, node_codes, rules, order, start, end, limit, buffers, sets, found)
        considered = considered or any_
        start = end


@inlined_internal
def _evaluate_small_node(
    node: Node,
    node_codes: NodeCodes,
    rules: Rules,
    order: Attributes,
    n_sampled: Integer,
    buffers: CutBuffers,
    sets: SubsetBuffers | None,
    found: BestTests,
) -> None:
    """Find the best tests of a small node, one attribute after another."""
    opt = rules.opt[0]
    fractional = opt["missing"] == MISSING_FRACTIONAL
    nothing = np.int64(0)
    weight = node.one + node.two
    perfect = decrease(node.before, 0.0, weight, weight)
    limit = NO_LIMIT
    considered = False
    for lane in range(LANES):
        buffers.narrow[node.size + lane] = 0
    for index in range(len(order)):
        if index >= n_sampled and considered:
            return
        a = order[index]
        if rules.tests[a] == NOT_TESTED:
            continue
        if sets is not None and rules.tests[a] != CUT:
            column = node_codes.values[sets.slots[a]]
            any_, limit = best_partition_by_share(a, column, limit, node, rules, buffers, sets, found)
            considered = considered or any_
        elif node_codes.low[a] < node_codes.high[a]:
            numbers = node_codes.codes[rules.slots[a]]
            for p in range(node.size):
                buffers.codes[p] = numbers[np.uint64(node.cases[np.uint64(node.first + p)])]
            best = pairwise_gains(nothing, node.size, nothing, node, buffers.narrow, buffers)
            if best < 0:
                continue
            considered = True
            gain = number_of(best)
            if gain < limit:
                continue
            limit = max(limit, threshold(gain, node))
            n_candidates = add_pairwise_candidates(nothing, node.size, nothing, limit, node, nothing, buffers)
            finalise(a, n_candidates, node, fractional, buffers, found)
        if found.state[a] == 1 and found.score[a] >= perfect:
            return


@inlined_internal
def _evaluate_large_node(
    node: Node,
    node_codes: NodeCodes,
    rules: Rules,
    order: Attributes,
    start: Integer,
    end: Integer,
    limit: Real,
    buffers: CutBuffers,
    sets: SubsetBuffers | None,
    found: BestTests,
) -> tuple[bool, Real]:
    """Find the best tests of some attributes of a large node that reach a limit, which rises.

    Returns whether there are any, and the limit. All attributes are counted before any is refined: the best cut between
    buckets eliminates most buckets of the others.
    """
    fractional = rules.opt[0]["missing"] == MISSING_FRACTIONAL
    greatest = buffers.greatest
    first = np.int64(0)
    considered = False
    # Invariant: attribute `first` has the greatest gain of a cut between buckets among those before k.
    for k in range(end - start):
        a = order[start + k]
        greatest[k] = -1
        if rules.tests[a] == NOT_TESTED:
            continue
        if sets is not None and rules.tests[a] != CUT:
            column = node_codes.values[sets.slots[a]]
            any_, limit = best_partition_by_share(a, column, limit, node, rules, buffers, sets, found)
            considered = considered or any_
        elif node_codes.low[a] < node_codes.high[a]:
            numbers, low, high = (
                node_codes.codes[rules.slots[a]],
                np.int64(node_codes.low[a]),
                np.int64(node_codes.high[a]),
            )
            greatest[k] = count_buckets(
                numbers, low, high, node, buffers.sums[k], buffers.borders[k], buffers.spans[k], buffers
            )
        if greatest[k] > greatest[first]:
            first = np.int64(k)
    if greatest[first] >= 0:
        limit = max(limit, threshold(number_of(greatest[first]), node))
    # The attribute with the greatest gain comes first: its exact gain raises the limit for all others.
    # Invariant: no test with a gain below `limit` can be chosen.
    for turn in range(end - start):
        own = (first + turn) % (end - start)
        a = order[start + own]
        if rules.tests[a] == CUT and node_codes.low[a] < node_codes.high[a]:
            numbers = node_codes.codes[rules.slots[a]]
            n_candidates, limit = refine_buckets(
                numbers,
                buffers.sums[own],
                buffers.borders[own],
                buffers.spans[own],
                greatest[own],
                limit,
                node,
                buffers,
            )
            if n_candidates > 0:
                finalise(a, n_candidates, node, fractional, buffers, found)
                considered = True
    return considered, limit


LOCAL_CASES = 8192
"""Nodes of at most this many cases are copied to the local table, so that their codes stay in the cache."""

# After the state of `node_loop` that survives a return: the slice of cases that was copied to the local table last.
LOCAL_FROM, LOCAL_TO = 4, 5


class EncodedTable(NamedTuple):
    """The encoded cases of a tree, or of a node that is copied.

    Parameters
    ----------
    codes : array of int, numeric attributes x cases
        Ranks.
    values : array of int, nominal attributes x cases
        Codes from 1.
    packed : array of int
        Bit-packed counts, see `bucketed`.
    """

    codes: Codes
    values: Codes
    packed: NarrowCounts


class Spans(NamedTuple):
    """Bounds of the ranks of each attribute at the nodes on the stack, nodes x attributes."""

    low: Codes
    high: Codes


class TreeBuffers(NamedTuple):
    """Buffers of a tree.

    Parameters
    ----------
    local : EncodedTable
    cases, spare : array of int
        The cases of all nodes, one slice each; a buffer of the same length.
    order : array of int
        Attributes.
    summary, scores : array
    """

    local: EncodedTable
    cases: Rows
    spare: Rows
    order: Attributes
    summary: Statistics
    scores: Scores


def can_grow_bucketed(options: Options, tests: Integers, n_values: Sizes, weights: Weights) -> bool:
    """Return True if bucketed search supports these tests, numbers of categories and weights; no value is missing."""
    opt = options[0]
    return bool(
        opt["criterion"] == GINI
        and opt["choice"] == HIGHEST
        and opt["width"] == 2
        and opt["integer_weights"]
        and np.isin(tests, (CUT, SUBSETS, NOT_TESTED)).all()
        and n_values.max(initial=0) <= MOST_VALUES
        and not (opt["correction"] or opt["relative_side"] or opt["random_cuts"])
        and opt["gap"] <= 0
        and opt["total_weight"] < WIDE
        and weights.max(initial=1.0) <= HEAVIEST
    )


def grow_bucketed(
    ranks: ByRank,
    values: Codes,
    target: Classes,
    rows: Rows,
    weights: Weights,
    rules: Rules,
    key: int,
    cancelled: Flags,
) -> tuple[NodeIntegers, NodeDoubles, Sides, int]:
    """Grow a tree of these rows.

    Parameters
    ----------
    ranks : ByRank
        Of numeric attributes.
    values : array of int, nominal attributes x cases
        Codes from 1.
    target : array of int
        Class of every row of the table.
    rows, weights : array
        The cases; `weights` is empty where each of them weighs one.
    rules : Rules
    key : int
        Random key of the root.
    cancelled : array of bool
        Set by another thread to cancel.

    Returns
    -------
    integers, doubles, sides, n_nodes
        As `node_loop.grow_block` does.
    """
    n_attributes, n = len(rules.tests), len(rows)
    table = EncodedTable(ranks.codes, values, packed_counts(target, weights, rows))
    local = min(n, LOCAL_CASES)
    buffers = TreeBuffers(
        EncodedTable(*(np.empty((*array.shape[:-1], local), dtype=array.dtype) for array in table)),
        rows.copy(),
        np.empty_like(rows),
        np.empty(n_attributes, dtype=np.int64),
        np.empty(2),
        np.empty(n_attributes),
    )
    most_values = max(int(rules.n_values.max(initial=0)), 2)
    sets = new_subset_buffers(np.cumsum(rules.slots < 0) - 1, most_values) if len(values) else None
    cut_buffers, found = new_cut_buffers(n, min(n_attributes, TOGETHER)), new_best_tests(n_attributes, most_values)
    written = NodeArrays(
        np.empty((n // 2 + 64, 9), dtype=np.int32),
        np.empty((n // 2 + 64, COUNTS_AT + 2)),
        np.empty(n // 2 + 64 + most_values, dtype=np.int8),
    )
    frames = Frames(
        np.zeros((64, 7), dtype=np.int64), np.empty(64, dtype=np.uint64), np.zeros((64, n_attributes), dtype=np.bool_)
    )
    spans = Spans(np.ones((64, n_attributes), dtype=np.int32), np.empty((64, n_attributes), dtype=np.int32))
    spans.high[0, rules.slots >= 0] = ranks.greatest
    frames.fields[0, SIZE], frames.fields[0, PARENT_NODE], frames.keys[0] = n, -1, np.uint64(key)
    state = np.array([1, 0, 0, 0, 0, 0], dtype=np.int64)
    while True:
        status = grow_tree(table, rules, buffers, cut_buffers, sets, found, written, frames, spans, state, cancelled)
        if status == FINISHED:
            return written.integers, written.doubles, written.sides, int(state[NODES])
        if state[NODES] >= len(written.integers):
            more = 2 * len(written.integers)
            written = written._replace(
                integers=enlarged(written.integers, more), doubles=enlarged(written.doubles, more)
            )
        if state[SIDES] + most_values > len(written.sides):
            written = written._replace(sides=enlarged(written.sides, 2 * len(written.sides)))
        if state[WAITING] + 2 >= len(frames.keys):
            more = 2 * len(frames.keys)
            frames = Frames(*(enlarged(array, more) for array in frames))
            spans = Spans(*(enlarged(array, more) for array in spans))


@no_alloc_kernel
def grow_tree(
    table: EncodedTable,
    rules: Rules,
    buffers: TreeBuffers,
    cut_buffers: CutBuffers,
    sets: SubsetBuffers | None,
    found: BestTests,
    written: NodeArrays,
    frames: Frames,
    spans: Spans,
    state: Integers,
    cancelled: Flags,
) -> Integer:
    """Grow until the stack is empty or a buffer is full; return `FINISHED` or `MORE_NODES`.

    Parameters
    ----------
    table, rules, buffers, cut_buffers, found, written, frames, spans
    sets : SubsetBuffers or None
        None where all attributes are numeric: the kernel is compiled without the code for categories.
    state : array of int
        See the names of its columns.
    cancelled : array of bool
    """
    opt = rules.opt[0]
    cases_of, summary = buffers.cases, buffers.summary
    n_attributes = np.int64(len(buffers.order))
    waiting, n_nodes, n_sides = state[WAITING], state[NODES], state[SIDES]
    local_from, local_to = state[LOCAL_FROM], state[LOCAL_TO]
    most_values, unused = found.sides.shape[1], np.int64(0)
    status = FINISHED
    # Invariant: nodes below `n_nodes` are written; each of the `waiting` frames has its cases in one slice, and `spans`
    # bounds their ranks.
    while waiting > 0 and not cancelled[0]:
        if (
            n_nodes >= len(written.integers)
            or waiting + 2 >= len(frames.keys)
            or n_sides + most_values - 1 > len(written.sides)
        ):
            status = MORE_NODES
            break
        at = waiting - 1
        fields = frames.fields[at]
        waiting = at
        first, n_here, level, key = fields[FIRST], fields[SIZE], fields[LEVEL], frames.keys[at]
        is_local = local_from <= first < local_to
        if not is_local and n_here <= len(buffers.local.packed):
            _copy_local(table, cases_of, first, n_here, buffers.local)
            local_from, local_to, is_local = first, first + n_here, True
        encoded = buffers.local if is_local else table
        node = n_nodes
        n_nodes += 1
        ints, reals = written.integers[node], written.doubles[node]
        summary[0], summary[1] = gather_counts(cases_of, first, n_here, encoded.packed, cut_buffers)
        weight = summary[0] + summary[1]
        write_leaf(ints, reals, fields, summary, 0.0, weight, False, written.doubles)
        pure = summary[0] == 0 or summary[1] == 0
        ints[STOP] = stop_of(n_here, pure, level, weight, n_attributes, opt)
        if ints[STOP] >= 0:
            continue
        before = impurity(summary, GINI, rules.nlogn)
        here = Node(cases_of, first, n_here, summary[0], summary[1], before, max(opt["min_leaf"], 1), opt["least_side"])
        node_codes = NodeCodes(encoded.codes, encoded.values, spans.low[at], spans.high[at])
        evaluate_bucketed(here, node_codes, key, rules, buffers.order, cut_buffers, sets, found)
        a = choose(found, rules, buffers.order, n_attributes, buffers.scores)
        ints[STOP] = stop_after(a, weight, found, opt)
        if ints[STOP] >= 0:
            continue
        for b in range(n_attributes):
            spans.low[at + 1, b] = spans.low[at, b]
            spans.high[at + 1, b] = spans.high[at, b]
        if sets is not None and rules.tests[a] != CUT:
            middle = _partition_by_category(encoded.values[sets.slots[a]], found.sides[a], here, buffers.spare)
        else:
            middle = _partition_by_cut(encoded.codes[rules.slots[a]], found.low[a], here, buffers.spare, found, a)
            spans.low[at, a] = found.high[a]
            spans.high[at + 1, a] = found.low[a]
        n_sides = write_test(ints, a, np.int64(2), found, rules, written.sides, n_sides)
        for branch in range(2):
            below = at + 1 - branch
            begin = first if branch == 0 else middle
            size = middle - first if branch == 0 else first + n_here - middle
            set_frame(frames.fields[below], begin, size, level + 1, node, ints[OUTCOME], unused, unused)
            frames.keys[below] = child_key(key, branch)
        waiting += 2
    state[WAITING], state[NODES], state[SIDES] = waiting, n_nodes, n_sides
    state[LOCAL_FROM], state[LOCAL_TO] = local_from, local_to
    return status


@internal
def _copy_local(table: EncodedTable, cases: Rows, first: Integer, size: Integer, local: EncodedTable) -> None:
    """Copy the codes and counts of the cases of a node together, and renumber the cases."""
    for row in range(table.codes.shape[0]):
        codes, own_codes = table.codes[row], local.codes[row]
        for p in range(size):
            own_codes[p] = codes[np.uint64(cases[np.uint64(first + p)])]
    for row in range(table.values.shape[0]):
        values, own_values = table.values[row], local.values[row]
        for p in range(size):
            own_values[p] = values[np.uint64(cases[np.uint64(first + p)])]
    for p in range(size):
        local.packed[p] = table.packed[np.uint64(cases[np.uint64(first + p)])]
        cases[np.uint64(first + p)] = p


@inlined_internal
def _partition_by_category(values: Codes, sides: Sides, node: Node, spare: Rows) -> Integer:
    """Partition the cases of a node stably by category; return the first index of the second branch."""
    cases = node.cases
    here, there = np.int64(node.first), np.int64(0)
    # Invariant: the cases of the left branch before p end at `here`, those of the right branch are `spare[:there]`.
    for p in range(node.first, node.first + node.size):
        case = cases[np.uint64(p)]
        right = np.int64(sides[np.uint64(values[np.uint64(case)]) - np.uint64(1)])
        cases[np.uint64(here)] = case
        spare[np.uint64(there)] = case
        here += 1 - right
        there += right
    for p in range(there):
        cases[np.uint64(here + p)] = spare[p]
    return here


@inlined_internal
def _partition_by_cut(codes: Codes, cut: Integer, node: Node, spare: Rows, found: BestTests, a: Integer) -> Integer:
    """Partition the cases of a node stably by a cut; return the first index of the second branch.

    ``found.low`` and ``found.high`` become the codes of the cases next to the cut.
    """
    cases = node.cases
    here, there = np.int64(node.first), np.int64(0)
    low, high = np.int64(0), np.int64(0x7FFFFFFF)
    # Invariant: as in `_partition_by_category`; `low` and `high` are the codes next to the cut in the cases before p.
    for p in range(node.first, node.first + node.size):
        # Written to both, and only one index advances: no branch to mispredict.
        case = cases[np.uint64(p)]
        code = np.int64(codes[np.uint64(case)])
        right = np.int64(code > cut)
        cases[np.uint64(here)] = case
        spare[np.uint64(there)] = case
        here += 1 - right
        there += right
        low = max(low, code if code <= cut else np.int64(0))
        high = min(high, code if code > cut else np.int64(0x7FFFFFFF))
    for p in range(there):
        cases[np.uint64(here + p)] = spare[p]
    found.low[a], found.high[a] = low, high
    return here
