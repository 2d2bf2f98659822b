"""Error-based pruning over unit-weight cases as a kernel, and what it shares with fractional cases.

A node whose children are finalised becomes a leaf, is replaced by its largest branch, or stays. Estimates and decisions
are those of `treewright.pruning.error_based`. `TreeArrays` holds the tree to prune and its cases as arrays: tests by
node, and the values of the tested attributes by case.

The kernel prunes trees where no case becomes fractional or stays at an inner node: then each case reaches one leaf, and
the estimate of a raised branch follows from routing the cases of its siblings through it.

Invariants. Nodes keep the numbers of the given tree; subtree raising gives a node the test and the branches of another
one (`source`). The cases of a node are a slice of `rows`. A node with a raised branch gets a new slice at the end,
since finalised nodes still refer to the old one.
"""

from __future__ import annotations

from math import exp, log, sqrt
from typing import Any, NamedTuple

import numpy as np

from treewright.arrays import (
    Boolean,
    Branches,
    Codes,
    Counts,
    Estimates,
    Flags,
    Integer,
    Integers,
    NodeBytes,
    NodeIndices,
    NodeIntegers,
    Numbers,
    Positions,
    Real,
    Rows,
    Sizes,
    Starts,
    Statistics,
    Thresholds,
    Weights,
)
from treewright.data.dataset import Dataset
from treewright.jit import inlined_kernel, internal, kernel
from treewright.learners.kernels.workspace import longer
from treewright.learners.pessimistic_error import NEARLY_ALL, NO_ERROR, ONE_ERROR, squared_deviate
from treewright.tree.build import rebuild_tree
from treewright.tree.split import Test
from treewright.tree.tree import LEAF, STOPS, TESTS, Stop, Tree

THRESHOLD, INTERVALS = TESTS.index(Test.THRESHOLD), TESTS.index(Test.INTERVALS)

MOST_BYTE_CODE = 127
"""Up to this many categories and classes, codes have one byte."""


class TreeArrays(NamedTuple):
    """The tree to prune, and its cases.

    Parameters
    ----------
    fields : array, nodes x columns
        The fields of a node in one row, since nodes are visited in no order; see the names of the columns.
    cut, children, value_branch, bounds : array
        As in the tree.
    codes : array, cases x (the class and nominal attributes)
    numbers : array, cases x numeric attributes
    weights : array
        Empty where every case weighs one.
    """

    fields: NodeIntegers
    cut: Thresholds
    children: NodeIndices
    value_branch: Branches
    bounds: Thresholds
    codes: Codes
    numbers: Numbers
    weights: Weights


# Columns of `TreeArrays.fields`. The slot is the column of the attribute in `codes` or `numbers`, LEAF in a leaf.
(
    SLOT_FIELD,
    TEST_FIELD,
    MISSING_FIELD,
    CHILDREN_FIELD,
    BRANCHES_FIELD,
    CATEGORIES_FIELD,
    BOUNDS_FIELD,
    N_BOUNDS_FIELD,
) = range(8)


@inlined_kernel
def branch_of_case(arrays: TreeArrays, node: Integer, row: Integer) -> Integer:
    """Return the branch of a case by the test of a node."""
    slot, test = arrays.fields[node, SLOT_FIELD], arrays.fields[node, TEST_FIELD]
    branch = np.int64(-1)
    if test == THRESHOLD:
        number = arrays.numbers[row, slot]
        if number > arrays.cut[node]:
            branch = np.int64(1)
        elif number <= arrays.cut[node]:
            branch = np.int64(0)
    elif test == INTERVALS:
        number = arrays.numbers[row, slot]
        if not np.isnan(number):
            branch = np.int64(0)
            at = arrays.fields[node, BOUNDS_FIELD]
            for index in range(at, at + arrays.fields[node, N_BOUNDS_FIELD]):
                if arrays.bounds[index] < number:
                    branch += 1
    else:
        code = np.int64(arrays.codes[row, slot])
        if code >= 0:
            branch = np.int64(arrays.value_branch[arrays.fields[node, CATEGORIES_FIELD] + code])
    return branch if branch >= 0 else np.int64(arrays.fields[node, MISSING_FIELD])


@inlined_kernel
def class_of(arrays: TreeArrays, row: Integer) -> Integer:
    """Return the class of a case."""
    return np.int64(arrays.codes[row, 0])


@internal
def push_children(arrays: TreeArrays, node: Integer, to_finalise: Flags, stack: Positions, n: Integer) -> Integer:
    """Push the children of a node that are not finalised on a stack of n nodes; return its new length."""
    begin = arrays.fields[node, CHILDREN_FIELD]
    for edge in range(begin, begin + arrays.fields[node, BRANCHES_FIELD]):
        if to_finalise[arrays.children[edge]]:
            stack[n] = arrays.children[edge]
            n += 1
    return n


def tree_arrays(tree: Tree, dataset: Dataset) -> TreeArrays:
    """Collect the fields of the nodes, and the values of the attributes that the tree tests."""
    inner = tree.attribute != LEAF
    attributes = tree.schema.attributes
    used = np.unique(tree.attribute[inner]).tolist()
    numeric = [a for a in used if attributes[a].is_numeric]
    nominal = [a for a in used if not attributes[a].is_numeric]
    slot = np.full(len(attributes) + 1, LEAF, dtype=np.int32)  # the last entry is for leaves, whose attribute is -1
    slot[numeric], slot[nominal] = np.arange(len(numeric)), np.arange(1, len(nominal) + 1)
    fields = np.empty((tree.n_nodes, 8), dtype=np.int32)
    fields[:, SLOT_FIELD] = slot[tree.attribute]
    fields[:, TEST_FIELD], fields[:, MISSING_FIELD] = tree.test, tree.missing
    fields[:, CHILDREN_FIELD], fields[:, BRANCHES_FIELD] = tree.child_start[:-1], np.diff(tree.child_start)
    fields[:, CATEGORIES_FIELD] = tree.value_start[:-1]
    fields[:, BOUNDS_FIELD], fields[:, N_BOUNDS_FIELD] = tree.bound_start[:-1], np.diff(tree.bound_start)
    greatest_code = max(len(tree.schema.classes), *(len(attributes[a].values) for a in [0, *nominal]))
    width = -(-(len(nominal) + 1) // 8) * 8  # padded to 64-bit words, which are copied faster
    codes = np.zeros((dataset.n_rows, width), dtype=np.int8 if greatest_code <= MOST_BYTE_CODE else np.int32)
    codes[:, 0] = dataset.target
    for index, a in enumerate(nominal):
        codes[:, index + 1] = dataset.columns[a]
    numbers = np.empty((dataset.n_rows, len(numeric)))
    for index, a in enumerate(numeric):
        numbers[:, index] = dataset.columns[a]
    weights = np.zeros(0) if dataset.weights is None else np.asarray(dataset.weights, dtype=np.float64)
    return TreeArrays(fields, tree.cut, tree.children, tree.value_branch, tree.bounds, codes, numbers, weights)


PURE, EMPTY, PRUNED = (STOPS.index(stop) for stop in (Stop.PURE, Stop.EMPTY, Stop.PRUNED))
ESTIMATE_SLACK, WEIGHT_TOLERANCE = 0.1, 1e-9


class Limits(NamedTuple):
    """The confidence level and the square of its normal deviate."""

    confidence: float
    squared: float


@kernel
def extra_errors_of(n: Real, errors: Real, confidence: Real, q: Real) -> Real:
    """Return C4.5's extra errors of a leaf (upper confidence limit minus errors), in double precision."""
    if n <= 0:
        return 0.0
    none = n * (1.0 - exp(log(confidence) / n)) if errors < ONE_ERROR else 0.0
    if errors < NO_ERROR:
        return none
    known = errors if errors >= ONE_ERROR else 1.0
    with_half = known + 0.5
    if with_half >= n:
        more = NEARLY_ALL * (n - known)
    else:
        root = sqrt(q * (with_half * (1.0 - with_half / n) + q / 4.0))
        more = n * (with_half + q / 2.0 + root) / (n + q) - known
    return more if errors >= ONE_ERROR else none + errors * (more - none)


@kernel
def leaf_estimate(counts: Statistics, limits: Limits) -> Real:
    """Return the estimated errors of a leaf."""
    weight = 0.0
    most = counts[0]
    for k in range(len(counts)):
        weight += counts[k]
        most = max(most, counts[k])
    errors = max(weight - most, 0.0)
    return errors + extra_errors_of(weight, errors, limits.confidence, limits.squared)


@kernel
def at_most(number: Real, bound: Real) -> Boolean:
    """Return True if a number is at most a bound, up to rounding."""
    if number <= bound or number == np.inf:
        return number <= bound
    return abs(number - bound) <= WEIGHT_TOLERANCE * max(abs(number), abs(bound))


@kernel
def predicted_class(counts: Statistics, outcome: Integer) -> Integer:
    """Return the class of greatest weight; ties keep the given class."""
    best = 0
    for k in range(1, len(counts)):
        if counts[k] > counts[best]:
            best = k
    return best if counts[best] > counts[outcome] * (1 + WEIGHT_TOLERANCE) else outcome


@kernel
def is_pure(counts: Statistics) -> Boolean:
    """Return True if at most one class has cases."""
    classes = 0
    for k in range(len(counts)):
        if counts[k] != 0:
            classes += 1
    return classes <= 1


@internal
def sum_of_children(
    arrays: TreeArrays, node: Integer, sizes: Sizes, counts: Counts, estimates: Estimates
) -> tuple[Real, Integer]:
    """Return the summed estimates of the children of a node, and the heaviest child, -1 if none has cases."""
    as_tree = greatest = 0.0
    largest = np.int64(-1)
    begin = arrays.fields[node, CHILDREN_FIELD]
    # Invariant: `largest` is the heaviest child before `edge`, the last of those that tie.
    for edge in range(begin, begin + arrays.fields[node, BRANCHES_FIELD]):
        child = np.int64(arrays.children[edge])
        if sizes[child] == 0:
            continue
        as_tree += estimates[child]
        weight = 0.0
        for k in range(counts.shape[1]):
            weight += counts[child, k]
        if largest < 0 or at_most(greatest, weight):
            largest = child
            greatest = weight
    return as_tree, largest


@internal
def finalise(
    state: Any, node: Integer, largest: Integer, leaf: Integer, as_leaf: Real, as_tree: Real, raised: Real
) -> Boolean:
    """Make a node a leaf, raise its largest branch, or leave it unchanged, by the estimated errors of each.

    `leaf` is the number of some leaf: a node that becomes a leaf takes it as its source. Returns True if the branch was
    raised, so that the cases of the node have to be routed again.
    """
    if at_most(as_leaf, raised + ESTIMATE_SLACK) and at_most(as_leaf, as_tree + ESTIMATE_SLACK):
        state.source[node] = leaf
        state.stop[node] = PRUNED
        state.estimate[node] = as_leaf
        return False
    if at_most(raised, as_tree + ESTIMATE_SLACK):
        state.source[node] = state.source[largest]
        state.stop[node] = state.stop[largest]
        state.outcome[node] = state.outcome[largest]
        return True
    state.estimate[node] = as_tree
    return False


CACHED_CASES = 4096
"""This many cases fit into the cache."""


class NodeStates(NamedTuple):
    """State of each node: its source, its slice of cases, and what follows from them."""

    source: NodeIndices
    first: Starts
    size: Sizes
    counts: Counts
    outcome: NodeIntegers
    stop: NodeBytes
    estimate: Estimates
    to_finalise: Flags


class Buffers(NamedTuple):
    """Buffers: for the cases of a node, for its branches, and for the leaves that the siblings' cases reach."""

    spare: Rows
    branch_of: Branches
    sizes: Sizes
    at: Positions
    branch_counts: Counts
    slot_of: NodeIndices


@inlined_kernel
def _weight_of(arrays: TreeArrays, row: Integer) -> Real:
    return arrays.weights[row] if len(arrays.weights) else 1.0


@kernel
def _set_slice(states: NodeStates, node: Integer, first: Integer, size: Integer, counts: Statistics) -> None:
    """Set slice and counts of a node, and its predicted class where another class has more weight."""
    states.first[node] = first
    states.size[node] = size
    own = states.counts[node]
    for k in range(len(counts)):
        own[k] = counts[k]
    states.outcome[node] = predicted_class(counts, states.outcome[node])
    states.to_finalise[node] = True


@kernel
def _route_down(
    states: NodeStates, top: Integer, rows: Rows, arrays: TreeArrays, buffers: Buffers, least: Integer
) -> Positions:
    """Route the cases of a node to its descendants; descendants that receive the same cases again are left alone.

    Returns the nodes that were not split because they have no more than `least` cases.
    """
    small_nodes = np.empty(64, dtype=np.int64)
    n_small = 0
    stack = np.empty(64, dtype=np.int64)
    stack[0] = top
    n = 1
    sizes, at, branch_counts, spare, branch_of = (
        buffers.sizes,
        buffers.at,
        buffers.branch_counts,
        buffers.spare,
        buffers.branch_of,
    )
    width = branch_counts.shape[1]
    # Invariant: each of the n nodes on the stack has its slice, and its descendants have not been updated.
    while n > 0:
        n -= 1
        node = stack[n]
        source_node = states.source[node]
        if arrays.fields[source_node, SLOT_FIELD] == LEAF:
            continue
        first, size = states.first[node], states.size[node]
        if size <= least:
            if n_small == len(small_nodes):
                small_nodes = longer(small_nodes, 2 * n_small)
            small_nodes[n_small] = node
            n_small += 1
            continue
        begin = arrays.fields[source_node, CHILDREN_FIELD]
        branches = arrays.fields[source_node, BRANCHES_FIELD]
        for branch in range(branches):
            sizes[branch] = 0
            for k in range(width):
                branch_counts[branch, k] = 0.0
        for p in range(size):
            row = rows[first + p]
            branch = branch_of_case(arrays, source_node, row)
            branch_of[p] = branch
            spare[p] = row
            sizes[branch] += 1
            branch_counts[branch, class_of(arrays, row)] += _weight_of(arrays, row)
        start = first
        for branch in range(branches):
            at[branch] = start
            start += sizes[branch]
        for p in range(size):
            branch = branch_of[p]
            rows[at[branch]] = spare[p]
            at[branch] += 1
        if n + branches > len(stack):
            stack = longer(stack, 2 * (n + branches))
        for branch in range(branches):
            child = arrays.children[begin + branch]
            if sizes[branch] == 0 or states.size[child] == sizes[branch]:
                continue
            was_empty = states.size[child] == 0
            _set_slice(states, child, at[branch] - sizes[branch], sizes[branch], branch_counts[branch])
            if arrays.fields[states.source[child], SLOT_FIELD] != LEAF:
                stack[n] = child
                n += 1
            elif states.stop[child] == EMPTY or not (was_empty or is_pure(branch_counts[branch])):
                states.stop[child] = PURE if is_pure(branch_counts[branch]) else PRUNED
    return small_nodes[:n_small]


@kernel
def _change_of_estimate(
    states: NodeStates,
    node: Integer,
    largest: Integer,
    rows: Rows,
    arrays: TreeArrays,
    buffers: Buffers,
    limits: Limits,
) -> Real:
    """Return the change of the estimate of a finalised branch if it also receives the cases of its siblings."""
    if arrays.fields[states.source[largest], SLOT_FIELD] == LEAF:  # all cases reach this one leaf
        return leaf_estimate(states.counts[node], limits) - states.estimate[largest]
    source_node = states.source[node]
    width = states.counts.shape[1]
    touched = np.empty(64, dtype=np.int64)
    added = np.empty((64, width))
    slot_of = buffers.slot_of
    n = 0
    begin = arrays.fields[source_node, CHILDREN_FIELD]
    # Invariant: `added[s]` holds the counts of leaf `touched[s]` plus the cases routed so far; `slot_of` inverts
    # `touched`.
    for edge in range(begin, begin + arrays.fields[source_node, BRANCHES_FIELD]):
        child = arrays.children[edge]
        if child == largest:
            continue
        for p in range(states.first[child], states.first[child] + states.size[child]):
            row = rows[p]
            leaf = np.int64(largest)
            source = states.source[leaf]
            while arrays.fields[source, SLOT_FIELD] != LEAF:
                leaf = np.int64(
                    arrays.children[arrays.fields[source, CHILDREN_FIELD] + branch_of_case(arrays, source, row)]
                )
                source = states.source[leaf]
            slot = slot_of[leaf]
            if slot < 0:
                if n == len(touched):
                    touched = longer(touched, 2 * n)
                    added = longer(added.reshape(-1), 2 * n * width).reshape(2 * n, width)
                slot = n
                slot_of[leaf] = n
                touched[n] = leaf
                for k in range(width):
                    added[n, k] = states.counts[leaf, k]
                n += 1
            added[slot, class_of(arrays, row)] += _weight_of(arrays, row)
    change = 0.0
    for slot in range(n):
        leaf = touched[slot]
        change += leaf_estimate(added[slot], limits) - states.estimate[leaf]
        slot_of[leaf] = -1
    return change


@kernel
def route_to_small_nodes(arrays: TreeArrays, states: NodeStates, rows: Rows, buffers: Buffers) -> Positions:
    """Route all cases from the root to nodes of at most `CACHED_CASES` cases; return these nodes."""
    n = len(rows)
    branch_counts = buffers.branch_counts[0]
    for k in range(len(branch_counts)):
        branch_counts[k] = 0.0
    for row in range(n):
        branch_counts[class_of(arrays, row)] += _weight_of(arrays, row)
    _set_slice(states, 0, 0, n, branch_counts)
    return _route_down(states, 0, rows, arrays, buffers, CACHED_CASES)


@kernel
def reordered(table: Integers, rows: Rows) -> Integers:
    """Return the rows of a table in the given order."""
    ordered = np.empty_like(table)
    for p in range(len(table)):
        for column in range(table.shape[1]):
            ordered[p, column] = table[rows[p], column]
    return ordered


@kernel
def prune_kernel(
    arrays: TreeArrays,
    states: NodeStates,
    rows: Rows,
    small_nodes: Positions,
    buffers: Buffers,
    leaf: Integer,
    raising: bool,
    limits: Limits,
) -> None:
    """Route the cases of the nodes `small_nodes` to the leaves, and finalise every node that has cases, children first.

    `leaf` is the number of some leaf: a node that becomes a leaf takes it as its source.
    """
    for one in range(len(small_nodes)):
        _route_down(states, small_nodes[one], rows, arrays, buffers, 0)
    end = len(rows)
    stack = np.empty(64, dtype=np.int64)  # a node; -1 - node where its children are finalised
    stack[0] = 0
    n = 1
    # Invariant: a node below the top of the stack is finalised after everything above it.
    while n > 0:
        n -= 1
        node = stack[n]
        if node >= 0:
            branches = arrays.fields[states.source[node], BRANCHES_FIELD]
            if n + 1 + branches > len(stack):
                stack = longer(stack, 2 * (n + 1 + branches))
            stack[n] = -1 - node
            n = push_children(arrays, states.source[node], states.to_finalise, stack, n + 1)
            continue
        node = -1 - node
        source_node = states.source[node]
        as_leaf = leaf_estimate(states.counts[node], limits)
        states.to_finalise[node] = False
        if arrays.fields[source_node, SLOT_FIELD] == LEAF:
            states.estimate[node] = as_leaf
            continue
        as_tree, largest = sum_of_children(arrays, source_node, states.size, states.counts, states.estimate)
        raised: Real = np.inf
        if raising and largest >= 0:
            raised = states.estimate[largest] + _change_of_estimate(
                states, node, largest, rows, arrays, buffers, limits
            )
        if finalise(states, node, largest, leaf, as_leaf, as_tree, raised):
            size = states.size[node]
            if end + size > len(rows):
                rows = longer(rows, 2 * (end + size))
            for p in range(size):
                rows[end + p] = rows[states.first[node] + p]
            _set_slice(states, node, end, size, states.counts[node])
            end += size
            _route_down(states, node, rows, arrays, buffers, 0)
            stack[n] = node
            n += 1


def prune_unit_cases(tree: Tree, dataset: Dataset, confidence: float, *, raising: bool) -> Tree:
    """Prune a tree over cases that are never fractional.

    Parameters
    ----------
    tree : Tree
        With at least one test; no case becomes fractional or stays at an inner node.
    dataset : Dataset
        Cases with positive weights.
    confidence : float
    raising : bool
    """
    arrays = tree_arrays(tree, dataset)
    n = tree.n_nodes
    states = NodeStates(
        np.arange(n, dtype=np.int32),
        np.zeros(n, dtype=np.int64),
        np.zeros(n, dtype=np.int64),
        np.zeros((n, len(tree.schema.classes))),
        tree.outcome.astype(np.int32),
        tree.stop.astype(np.int8),
        np.zeros(n),
        np.zeros(n, dtype=np.bool_),
    )
    most_branches = int(arrays.fields[:, BRANCHES_FIELD].max())
    buffers = Buffers(
        np.empty(dataset.n_rows, dtype=np.int32),
        np.empty(dataset.n_rows, dtype=np.int32),
        np.empty(most_branches, dtype=np.int64),
        np.empty(most_branches, dtype=np.int64),
        np.empty((most_branches, len(tree.schema.classes))),
        np.full(n, -1, dtype=np.int32),
    )
    rows = np.arange(dataset.n_rows, dtype=np.int32)
    small_nodes = route_to_small_nodes(arrays, states, rows, buffers)
    # The cases of deeper nodes are scattered over memory, so the table is reordered once, where nodes are small.
    arrays = arrays._replace(
        codes=reordered(arrays.codes.view(np.int64), rows).view(arrays.codes.dtype),
        numbers=reordered(arrays.numbers.view(np.int64), rows).view(np.float64),
        weights=arrays.weights[rows] if len(arrays.weights) else arrays.weights,
    )
    rows[:] = np.arange(dataset.n_rows, dtype=np.int32)
    leaf = int(np.argmax(tree.attribute == LEAF))
    limits = Limits(float(confidence), squared_deviate(confidence))
    prune_kernel(arrays, states, rows, small_nodes, buffers, leaf, raising, limits)
    return rebuild_tree(
        tree,
        states.source,
        counts=states.counts,
        outcome=states.outcome,
        stop=states.stop,
        estimate=states.estimate,
    )
