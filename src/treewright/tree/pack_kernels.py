"""Kernels that pack trees, and that read packed arrays.

Packing copies the statistics of the leaves of a tree and checks that they determine all others. The kernels decide as
`treewright.tree.packed_forest` does without them, in a tenth of the time and without the interpreter lock.
"""

from __future__ import annotations

import numpy as np

from treewright.arrays import Boolean, Bytes, Integer, NodeDoubles, NodeIndices, NodeIntegers, Offsets, Real
from treewright.jit import internal, no_alloc_kernel
from treewright.tree.split import STAY


@no_alloc_kernel
def copy_class_leaves(
    child_start: Offsets,
    children: NodeIndices,
    weight: NodeDoubles,
    counts: NodeDoubles,
    outcome: NodeIntegers,
    leaf_weight: NodeDoubles,
    leaf_counts: NodeDoubles,
    leaf_outcome: NodeIntegers,
) -> Boolean:
    """Copy the statistics of the leaves; stop and return False if those of an inner node do not follow from them.

    Parameters
    ----------
    child_start, children : array
    weight, counts, outcome : array
        Of the nodes; `counts` are int64 or float64, nodes x classes.
    leaf_weight, leaf_counts, leaf_outcome : array
        Output, one row for each leaf.
    """
    leaf = 0
    # Invariant: the leaves before `node` are copied, and the statistics of the inner nodes before it add up.
    for node in range(len(weight)):
        first, last = np.int64(child_start[node]), np.int64(child_start[node + 1])
        if first == last:
            leaf_weight[leaf], leaf_outcome[leaf] = weight[node], outcome[node]
            for k in range(counts.shape[1]):
                leaf_counts[leaf, k] = counts[node, k]
            leaf += 1
            continue
        if _sum_of_children(children, weight, first, last) != weight[node]:
            return False
        most = 0.0
        for k in range(counts.shape[1]):
            total = counts[children[first], k]
            for at in range(first + 1, last):
                total += counts[children[at], k]
            if total != counts[node, k]:
                return False
            most = max(most, np.float64(total))
        most *= 1 - 1e-12
        majority = 0
        while majority < counts.shape[1] - 1 and counts[node, majority] < most:
            majority += 1
        if majority != outcome[node]:
            return False
    return True


@no_alloc_kernel
def copy_number_leaves(
    child_start: Offsets,
    children: NodeIndices,
    missing: NodeIntegers,
    weight: NodeDoubles,
    mean: NodeDoubles,
    sse: NodeDoubles,
    leaf_weight: NodeDoubles,
    leaf_mean: NodeDoubles,
    leaf_sse: NodeDoubles,
    same: Real,
) -> Boolean:
    """Copy the statistics of the leaves of a regression tree, or return False, as `copy_class_leaves` does.

    Parameters
    ----------
    child_start, children, missing : array
    weight, mean, sse : array
        Of the nodes.
    leaf_weight, leaf_mean, leaf_sse : array
        Output, one number for each leaf.
    same : float
        Relative difference of a mean or sum of squares that counts as rounding error.
    """
    largest_mean = largest_sse = 0.0
    for node in range(len(weight)):
        largest_mean, largest_sse = max(largest_mean, abs(mean[node])), max(largest_sse, sse[node])
    limit_of_mean, limit_of_sse = same * (1.0 + largest_mean), same * (1.0 + largest_sse)
    leaf = 0
    # Invariant: as in `copy_class_leaves`.
    for node in range(len(weight)):
        first, last = np.int64(child_start[node]), np.int64(child_start[node + 1])
        if first == last:
            leaf_weight[leaf], leaf_mean[leaf], leaf_sse[leaf] = weight[node], mean[node], sse[node]
            leaf += 1
            continue
        if missing[node] == STAY:  # then inner nodes predict as well, and need exact statistics
            return False
        total = _sum_of_children(children, weight, first, last)
        if total != weight[node]:
            return False
        average = 0.0
        for at in range(first, last):
            average += weight[children[at]] * mean[children[at]]
        average /= total if total > 0 else 1.0
        squares = 0.0
        for at in range(first, last):
            child = children[at]
            squares += sse[child] + weight[child] * (mean[child] - average) ** 2
        if not (abs(average - mean[node]) <= limit_of_mean and abs(squares - sse[node]) <= limit_of_sse):
            return False
    return True


@internal
def _sum_of_children(children: NodeIndices, weight: NodeDoubles, first: Integer, last: Integer) -> Real:
    total = 0.0
    for at in range(first, last):
        total += weight[children[at]]
    return total


@no_alloc_kernel
def decode_base64(text: Bytes, values: Bytes, decoded: Bytes) -> Boolean:
    """Decode base64 without padding; return False if there is a character outside the alphabet.

    Parameters
    ----------
    text : array, a multiple of four characters
    values : array, 256
        The value of each character, 255 outside the alphabet.
    decoded : array
        Output, three bytes for four characters.
    """
    seen, to = np.uint8(0), np.uint64(0)
    # Invariant: `seen` has the high bits that occurred in values before `at`, which the alphabet leaves zero.
    for at in range(np.uint64(0), np.uint64(len(text)), np.uint64(4)):
        a, b = values[text[at]], values[text[at + np.uint64(1)]]
        c, d = values[text[at + np.uint64(2)]], values[text[at + np.uint64(3)]]
        seen |= a | b | c | d
        decoded[to] = a << 2 | b >> 4
        decoded[to + np.uint64(1)] = b << 4 | c >> 2
        decoded[to + np.uint64(2)] = c << 6 | d
        to += np.uint64(3)
    return seen < 64
