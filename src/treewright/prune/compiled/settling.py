"""The decision of error-based pruning at a node whose children are finalised: leaf, raised branch, or unchanged.

Estimates and decision are those of `treewright.prune.error_based`, for unit-weight and for fractional cases.
"""

from __future__ import annotations

from math import exp, log, sqrt
from typing import Any

import numpy as np

from treewright.counts.compiled.flags import Array, Number, internal, kernel
from treewright.model.tree import STOPS, Stop
from treewright.prune.compiled.grown import BRANCHES_FIELD, CHILDREN_FIELD, Grown
from treewright.prune.extra_errors import NEARLY_ALL, NO_ERROR, ONE_ERROR

PURE, EMPTY, PRUNED = (STOPS.index(stop) for stop in (Stop.PURE, Stop.EMPTY, Stop.PRUNED))
ESTIMATE_SLACK, WEIGHT_TOLERANCE = 0.1, 1e-9


@kernel
def extra_errors_of(n: Number, errors: Number, confidence: Number, q: Number) -> Number:
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
def leaf_estimate(counts: Array, confidence: Number, q: Number) -> Number:
    """Return the estimated errors of a leaf."""
    weight = 0.0
    most = counts[0]
    for k in range(len(counts)):
        weight += counts[k]
        most = max(most, counts[k])
    errors = max(weight - most, 0.0)
    return errors + extra_errors_of(weight, errors, confidence, q)


@kernel
def at_most(number: Number, bound: Number) -> Number:
    """Return True if a number is at most a bound, up to rounding."""
    if number <= bound or number == np.inf:
        return number <= bound
    return abs(number - bound) <= WEIGHT_TOLERANCE * max(abs(number), abs(bound))


@kernel
def predicted_class(counts: Array, outcome: Number) -> Number:
    """Return the class of greatest weight; ties keep the given class."""
    best = 0
    for k in range(1, len(counts)):
        if counts[k] > counts[best]:
            best = k
    return best if counts[best] > counts[outcome] * (1 + WEIGHT_TOLERANCE) else outcome


@kernel
def is_pure(counts: Array) -> Number:
    """Return True if at most one class has cases."""
    classes = 0
    for k in range(len(counts)):
        if counts[k] != 0:
            classes += 1
    return classes <= 1


@internal
def sum_of_children(grown: Grown, node: Number, sizes: Array, counts: Array, estimates: Array) -> tuple[Number, Number]:
    """Return the summed estimates of the children of a node, and the heaviest child, -1 if none has cases."""
    as_tree = greatest = 0.0
    largest = np.int64(-1)
    begin = grown.fields[node, CHILDREN_FIELD]
    for edge in range(begin, begin + grown.fields[node, BRANCHES_FIELD]):
        child = np.int64(grown.children[edge])
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
    state: Any, node: Number, largest: Number, leaf: Number, as_leaf: Number, as_tree: Number, raised: Number
) -> Number:
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
