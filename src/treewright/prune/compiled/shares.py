"""Partition the cases of a node by branch; a case with a missing test value becomes fractional cases.

Invariant of the output: the cases of the branches one after the other, then the cases that stay at the node.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from treewright.counts.compiled.flags import Array, Number, kernel
from treewright.grow.compiled.blocks import longer
from treewright.model.split import FRACTIONAL
from treewright.prune.compiled.grown import BRANCHES_FIELD, MISSING_FIELD, Grown, branch_of_case, class_of


class Cases(NamedTuple):
    """Cases and their weights."""

    rows: Array
    weights: Array


class PartitionBuffers(NamedTuple):
    """Buffers to partition cases: the branch of each case; of each branch known cases, weight, size and next index."""

    branch: Array
    known: Array
    weight: Array
    size: Array
    at: Array
    counts: Array


@kernel
def with_capacity(cases: Cases, n: Number) -> Cases:
    """Return the cases with a capacity of at least n."""
    if n <= len(cases.rows):
        return cases
    return Cases(longer(cases.rows, 2 * n), longer(cases.weights, 2 * n))


@kernel
def count_classes(cases: Cases, first: Number, size: Number, grown: Grown, counts: Array) -> None:
    """Sum the weights of each class."""
    for k in range(len(counts)):
        counts[k] = 0.0
    for p in range(first, first + size):
        counts[class_of(grown, cases.rows[p])] += cases.weights[p]


@kernel
def partition_cases(
    grown: Grown, node: Number, cases: Cases, first: Number, size: Number, spare: Cases, buffers: PartitionBuffers
) -> Any:
    """Partition a slice of cases by the branches of a node; return `spare` and whether a case became fractional."""
    branches = grown.fields[node, BRANCHES_FIELD]
    for branch in range(branches + 1):
        buffers.known[branch] = 0
        buffers.weight[branch] = 0.0
    n_missing = 0
    known = 0.0
    for p in range(size):
        branch = branch_of_case(grown, node, cases.rows[first + p])
        buffers.branch[p] = branch
        if branch < 0:
            n_missing += 1
        else:
            buffers.known[branch] += 1
            buffers.weight[branch] += cases.weights[first + p]
            known += cases.weights[first + p]
    shared = 0 < n_missing < size and grown.fields[node, MISSING_FIELD] == FRACTIONAL
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
