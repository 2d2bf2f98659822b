"""Error-based pruning over fractional cases as a kernel: the decisions of `treewright.pruning.error_based`, to 1e-9.

A case with a missing test value follows every branch with a share of its weight, or stays at its node. So a raised
branch may receive shares that it did not have, and it is estimated by routing all cases of its parent through it.

Invariants. Nodes keep the numbers of the given tree; subtree raising gives a node the test and the branches of another
one (`source`). The stack holds nodes that are not finalised yet; their cases are contiguous, in the order of the stack
and with the weights that they have there. So a case is stored only for the nodes of one path, not for all nodes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from treewright.arrays import (
    Boolean,
    Branches,
    Counts,
    Estimates,
    Flags,
    Integer,
    Keys,
    NodeBytes,
    NodeIndices,
    NodeIntegers,
    Positions,
    Real,
    Rows,
    Sizes,
    Statistics,
    Weights,
)
from treewright.data.dataset import Dataset
from treewright.intrinsics import bits_of
from treewright.jit import kernel
from treewright.learners.kernels.random import mixed
from treewright.learners.kernels.workspace import longer
from treewright.learners.pessimistic_error import squared_deviate
from treewright.pruning.error_based_kernels import (
    BRANCHES_FIELD,
    CHILDREN_FIELD,
    EMPTY,
    MISSING_FIELD,
    PRUNED,
    PURE,
    SLOT_FIELD,
    Limits,
    TreeArrays,
    branch_of_case,
    class_of,
    extra_errors_of,
    finalise,
    is_pure,
    leaf_estimate,
    predicted_class,
    sum_of_children,
    tree_arrays,
)
from treewright.tree.build import rebuild_tree
from treewright.tree.split import FRACTIONAL
from treewright.tree.tree import LEAF, Tree


class Cases(NamedTuple):
    """Cases and their weights."""

    rows: Rows
    weights: Weights


class PartitionBuffers(NamedTuple):
    """Buffers to partition cases: the branch of each case; of each branch known cases, weight, size and next index."""

    branch: Branches
    known: Sizes
    weight: Weights
    size: Sizes
    at: Positions
    counts: Counts


@kernel
def with_capacity(cases: Cases, n: Integer) -> Cases:
    """Return the cases with a capacity of at least n."""
    if n <= len(cases.rows):
        return cases
    return Cases(longer(cases.rows, 2 * n), longer(cases.weights, 2 * n))


@kernel
def count_classes(cases: Cases, first: Integer, size: Integer, arrays: TreeArrays, counts: Statistics) -> None:
    """Sum the weights of each class."""
    for k in range(len(counts)):
        counts[k] = 0.0
    for p in range(first, first + size):
        counts[class_of(arrays, cases.rows[p])] += cases.weights[p]


@kernel
def partition_cases(
    arrays: TreeArrays,
    node: Integer,
    cases: Cases,
    first: Integer,
    size: Integer,
    spare: Cases,
    buffers: PartitionBuffers,
) -> Any:
    """Partition a slice of cases by the branches of a node; return `spare` and whether a case became fractional.

    `spare` holds the cases of the branches one after the other, then the cases that stay at the node.
    """
    branches = arrays.fields[node, BRANCHES_FIELD]
    for branch in range(branches + 1):
        buffers.known[branch] = 0
        buffers.weight[branch] = 0.0
    n_missing = 0
    known = 0.0
    for p in range(size):
        branch = branch_of_case(arrays, node, cases.rows[first + p])
        buffers.branch[p] = branch
        if branch < 0:
            n_missing += 1
        else:
            buffers.known[branch] += 1
            buffers.weight[branch] += cases.weights[first + p]
            known += cases.weights[first + p]
    shared = 0 < n_missing < size and arrays.fields[node, MISSING_FIELD] == FRACTIONAL
    start = 0
    for branch in range(branches):
        buffers.size[branch] = buffers.known[branch] + (n_missing if shared and buffers.known[branch] > 0 else 0)
        buffers.at[branch] = start
        start += buffers.size[branch]
    buffers.size[branches] = 0 if shared else n_missing
    buffers.at[branches] = start
    spare = with_capacity(spare, start + buffers.size[branches])
    # Invariant: `buffers.at[b]` is the next free index of branch b in `spare`.
    for p in range(size):
        row, weight, branch = cases.rows[first + p], cases.weights[first + p], buffers.branch[p]
        if branch >= 0 or not shared:
            branch_to = branch if branch >= 0 else branches
            spare.rows[buffers.at[branch_to]] = row
            spare.weights[buffers.at[branch_to]] = weight
            buffers.at[branch_to] += 1
            continue
        for branch_to in range(branches):
            if buffers.known[branch_to] > 0:
                spare.rows[buffers.at[branch_to]] = row
                spare.weights[buffers.at[branch_to]] = weight * (buffers.weight[branch_to] / known)
                buffers.at[branch_to] += 1
    return spare, shared


class NodeStates(NamedTuple):
    """State of each node: its source, the number and hash of its cases, and what follows from them.

    The hash shows whether a node receives the same cases with the same weights again.
    """

    source: NodeIndices
    size: Sizes
    fractional: Flags
    digest: Keys
    counts: Counts
    outcome: NodeIntegers
    stop: NodeBytes
    estimate: Estimates
    staying_estimate: Estimates


@kernel
def _estimate_of_class(counts: Statistics, outcome: Integer, limits: Limits) -> Real:
    """Return the estimated errors of cases for which this class is predicted."""
    weight = 0.0
    for k in range(len(counts)):
        weight += counts[k]
    errors = max(weight - counts[outcome], 0.0)
    return errors + extra_errors_of(weight, errors, limits.confidence, limits.squared)


@kernel
def _digest_of(cases: Cases, first: Integer, size: Integer) -> np.uint64:
    """Return a 64-bit hash of cases and weights that does not depend on their order."""
    total = np.uint64(size)
    for p in range(first, first + size):
        total += mixed(np.uint64(bits_of(cases.weights[p])) ^ mixed(np.uint64(cases.rows[p])))
    return total


@kernel
def _set_cases(
    states: NodeStates,
    child: Integer,
    spare: Cases,
    start: Integer,
    size: Integer,
    fractional: Boolean,
    arrays: TreeArrays,
) -> Boolean:
    """Give a node its cases, count them, and update the stop reason of a leaf; return False if it had them already."""
    digest = _digest_of(spare, start, size)
    if states.size[child] == size and states.fractional[child] == fractional and states.digest[child] == digest:
        return False
    first_time = states.size[child] == 0
    states.size[child], states.fractional[child], states.digest[child] = size, fractional, digest
    counts = states.counts[child]
    count_classes(spare, start, size, arrays, counts)
    states.outcome[child] = predicted_class(counts, states.outcome[child])
    pure = is_pure(counts)
    if arrays.fields[states.source[child], SLOT_FIELD] == LEAF and (
        states.stop[child] == EMPTY or not (first_time or pure)
    ):
        states.stop[child] = PURE if pure else PRUNED
    return True


@kernel
def _estimate_with(
    states: NodeStates,
    largest: Integer,
    cases: Cases,
    size: Integer,
    spare: Cases,
    arrays: TreeArrays,
    buffers: PartitionBuffers,
    limits: Limits,
) -> Any:
    """Sum the estimates of the leaves below a node if it had these cases; `cases` is overwritten."""
    total = 0.0
    stack = np.empty(64, dtype=np.int64)
    sizes = np.empty(64, dtype=np.int64)
    stack[0] = largest
    sizes[0] = size
    n = 1
    end = size
    # Invariant: the cases of the n nodes on the stack are contiguous and end at `end`, those of the top node last;
    # `total` holds the estimates of the leaves that were popped.
    while n > 0:
        n -= 1
        node, size = stack[n], sizes[n]
        first = end - size
        source = states.source[node]
        count_classes(cases, first, size, arrays, buffers.counts[0])
        if arrays.fields[source, SLOT_FIELD] == LEAF:
            total += leaf_estimate(buffers.counts[0], limits)
            end = first
            continue
        spare, _ = partition_cases(arrays, source, cases, first, size, spare, buffers)
        begin = arrays.fields[source, CHILDREN_FIELD]
        branches = arrays.fields[source, BRANCHES_FIELD]
        if n + branches > len(stack):
            stack = longer(stack, 2 * (n + branches))
            sizes = longer(sizes, 2 * (n + branches))
        start = 0
        for branch in range(branches):
            start += buffers.size[branch]
            if buffers.size[branch] > 0:
                stack[n] = arrays.children[begin + branch]
                sizes[n] = buffers.size[branch]
                n += 1
        if buffers.size[branches] > 0:
            outcome = predicted_class(buffers.counts[0], states.outcome[node])
            count_classes(spare, start, buffers.size[branches], arrays, buffers.counts[1])
            total += _estimate_of_class(buffers.counts[1], outcome, limits)
        cases = with_capacity(cases, first + start)
        for p in range(start):
            cases.rows[first + p] = spare.rows[p]
            cases.weights[first + p] = spare.weights[p]
        end = first + start
    return total, cases, spare


@kernel
def prune_fractional_kernel(
    arrays: TreeArrays,
    states: NodeStates,
    cases: Cases,
    buffers: PartitionBuffers,
    leaf: Integer,
    raising: bool,
    limits: Limits,
) -> None:
    """Finalise every node that has cases, children first.

    `leaf` is the number of some leaf: a node that becomes a leaf takes it as its source.
    """
    end = len(cases.rows)
    spare = Cases(np.empty(end, dtype=np.int32), np.empty(end))
    trial = Cases(np.empty(0, dtype=np.int32), np.empty(0))
    states.size[0] = end
    count_classes(cases, 0, end, arrays, states.counts[0])
    states.outcome[0] = predicted_class(states.counts[0], states.outcome[0])
    stack = np.empty(64, dtype=np.int64)  # a node; -1 - node where its children are finalised
    stack[0] = 0
    n = 1
    # Invariant: the cases of the nodes on the stack are contiguous and end at `end`, those of the top node last;
    # every node that was popped for good is finalised.
    while n > 0:
        n -= 1
        is_new = stack[n] >= 0
        node = stack[n] if is_new else -1 - stack[n]
        source, size = states.source[node], states.size[node]
        first = end - size
        if arrays.fields[source, SLOT_FIELD] == LEAF:
            states.estimate[node] = leaf_estimate(states.counts[node], limits)
            end = first
            continue
        if is_new:
            branches = arrays.fields[source, BRANCHES_FIELD]
            if n + 1 + branches > len(stack):
                stack = longer(stack, 2 * (n + 1 + branches))
            stack[n] = -1 - node
            spare, shared = partition_cases(arrays, source, cases, first, size, spare, buffers)
            cases, end, n = _send_down(states, node, shared, cases, end, spare, arrays, buffers, limits, stack, n + 1)
            continue
        as_leaf = leaf_estimate(states.counts[node], limits)
        as_tree, largest = sum_of_children(arrays, source, states.size, states.counts, states.estimate)
        as_tree += states.staying_estimate[node]
        raised = np.inf
        if raising and largest >= 0:
            trial = with_capacity(trial, size)
            for p in range(size):
                trial.rows[p] = cases.rows[first + p]
                trial.weights[p] = cases.weights[first + p]
            raised, trial, spare = _estimate_with(states, largest, trial, size, spare, arrays, buffers, limits)
        if finalise(states, node, largest, leaf, as_leaf, as_tree, raised):
            states.outcome[node] = predicted_class(states.counts[node], states.outcome[node])
            stack[n] = node
            n += 1
        else:
            end = first


@kernel
def _send_down(
    states: NodeStates,
    node: Integer,
    shared: Boolean,
    cases: Cases,
    end: Integer,
    spare: Cases,
    arrays: TreeArrays,
    buffers: PartitionBuffers,
    limits: Limits,
    stack: Positions,
    n: Integer,
) -> Any:
    """Give the children of a node their cases, and push the children whose cases have changed."""
    source = states.source[node]
    begin, branches = arrays.fields[source, CHILDREN_FIELD], arrays.fields[source, BRANCHES_FIELD]
    fractional = states.fractional[node] or shared
    start = 0
    # Invariant: the cases of `branch` begin at `start` of `spare`; the n nodes on the stack have their cases, which end
    # at `end`.
    for branch in range(branches):
        child, size = arrays.children[begin + branch], buffers.size[branch]
        if size > 0 and _set_cases(states, child, spare, start, size, fractional, arrays):
            cases = with_capacity(cases, end + size)
            for p in range(size):
                cases.rows[end + p] = spare.rows[start + p]
                cases.weights[end + p] = spare.weights[start + p]
            end += size
            stack[n] = child
            n += 1
        start += size
    states.staying_estimate[node] = 0.0
    if buffers.size[branches] > 0:
        count_classes(spare, start, buffers.size[branches], arrays, buffers.counts[0])
        states.staying_estimate[node] = _estimate_of_class(buffers.counts[0], states.outcome[node], limits)
    return cases, end, n


def prune_fractional_cases(
    tree: Tree, dataset: Dataset, order: npt.NDArray[np.intp], confidence: float, *, raising: bool
) -> Tree:
    """Prune a tree over cases that may be fractional.

    Parameters
    ----------
    tree : Tree
        With at least one test, and without surrogates.
    dataset : Dataset
        Cases with positive weights.
    order : array of int
        Order in which the cases are added up.
    confidence : float
    raising : bool
    """
    arrays = tree_arrays(tree, dataset)
    n, most_branches = tree.n_nodes, int(np.diff(tree.child_start).max()) + 1
    states = NodeStates(
        np.arange(n, dtype=np.int32),
        np.zeros(n, dtype=np.int64),
        np.zeros(n, dtype=np.bool_),
        np.zeros(n, dtype=np.uint64),
        tree.counts.astype(np.float64),  # a node that no case reaches stays as it is
        tree.outcome.astype(np.int32),
        tree.stop.astype(np.int8),
        np.zeros(n),
        np.zeros(n),
    )
    buffers = PartitionBuffers(
        np.empty(dataset.n_rows, dtype=np.int32),
        np.zeros(most_branches, dtype=np.int64),
        np.zeros(most_branches),
        np.zeros(most_branches, dtype=np.int64),
        np.zeros(most_branches, dtype=np.int64),
        np.zeros((2, len(tree.schema.classes))),
    )
    leaf = int(np.argmax(tree.attribute == LEAF))
    weights = np.ones(len(order)) if dataset.weights is None else np.asarray(dataset.weights, dtype=np.float64)[order]
    cases = Cases(order.astype(np.int32), weights)
    limits = Limits(float(confidence), squared_deviate(confidence))
    prune_fractional_kernel(arrays, states, cases, buffers, leaf, raising, limits)
    return rebuild_tree(
        tree,
        states.source,
        counts=states.counts,
        outcome=states.outcome,
        stop=states.stop,
        estimate=states.estimate,
    )
