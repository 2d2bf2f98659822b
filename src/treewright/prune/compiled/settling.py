"""What error-based pruning makes of a place whose branches are settled: a leaf, one of its branches, or what it is.

The estimates and the verdict are those of `treewright.prune.error_based`, for whole and for divided cases alike.
"""

from __future__ import annotations

from math import exp, log, sqrt
from typing import Any

import numpy as np

from treewright.counts.compiled.flags import Array, Number, kernel, part
from treewright.model.tree import STOPS, Stop
from treewright.prune.compiled.grown import BRANCHES, CHILDREN_AT, Grown
from treewright.prune.extra_errors import NEARLY_ALL, NO_ERROR, ONE_ERROR

PURE, EMPTY, PRUNED = (STOPS.index(stop) for stop in (Stop.PURE, Stop.EMPTY, Stop.PRUNED))
SLACK, TOLERANCE = 0.1, 1e-9


@kernel
def extra_errors_of(n: Number, errors: Number, confidence: Number, q: Number) -> Number:
    """Return the extra errors that C4.5 expects of a leaf, in double precision."""
    if n <= 0:
        return 0.0
    none = n * (1.0 - exp(log(confidence) / n)) if errors < ONE_ERROR else 0.0
    if errors < NO_ERROR:
        return none
    known = errors if errors >= ONE_ERROR else 1.0
    half_more = known + 0.5
    if half_more >= n:
        more = NEARLY_ALL * (n - known)
    else:
        root = sqrt(q * (half_more * (1.0 - half_more / n) + q / 4.0))
        more = n * (half_more + q / 2.0 + root) / (n + q) - known
    return more if errors >= ONE_ERROR else none + errors * (more - none)


@kernel
def as_leaf_of(counts: Array, confidence: Number, q: Number) -> Number:
    """Return the errors expected of a leaf."""
    weight = 0.0
    most = counts[0]
    for k in range(len(counts)):
        weight += counts[k]
        most = max(most, counts[k])
    errors = max(weight - most, 0.0)
    return errors + extra_errors_of(weight, errors, confidence, q)


@kernel
def at_most(number: Number, bound: Number) -> Number:
    """Say whether a number is at most a bound, rounding aside."""
    if number <= bound or number == np.inf:
        return number <= bound
    return abs(number - bound) <= TOLERANCE * max(abs(number), abs(bound))


@kernel
def class_said(counts: Array, outcome: Number) -> Number:
    """Return the class of greatest weight, the given one unless another has more."""
    best = 0
    for k in range(1, len(counts)):
        if counts[k] > counts[best]:
            best = k
    return best if counts[best] > counts[outcome] * (1 + TOLERANCE) else outcome


@kernel
def is_pure(counts: Array) -> Number:
    """Say whether at most one class has cases."""
    classes = 0
    for k in range(len(counts)):
        if counts[k] != 0:
            classes += 1
    return classes <= 1


@part
def sum_of_branches(grown: Grown, node: Number, sizes: Array, counts: Array, estimates: Array) -> tuple[Number, Number]:
    """Return the errors expected of the branches of a node, and the heaviest of them, -1 if none has cases."""
    as_tree = greatest = 0.0
    heir = np.int64(-1)
    begin = grown.fields[node, CHILDREN_AT]
    for edge in range(begin, begin + grown.fields[node, BRANCHES]):
        child = np.int64(grown.children[edge])
        if sizes[child] == 0:
            continue
        as_tree += estimates[child]
        weight = 0.0
        for k in range(counts.shape[1]):
            weight += counts[child, k]
        if heir < 0 or at_most(greatest, weight):
            heir = child
            greatest = weight
    return as_tree, heir


@part
def settle(
    state: Any, here: Number, heir: Number, leaf: Number, as_leaf: Number, as_tree: Number, raised: Number
) -> Number:
    """Make a place a leaf, give it the test of its heir, or leave it as it is, by the errors expected of each.

    `leaf` is the number of some leaf: a place that becomes one takes it as its source. Returns whether the place has
    got the test of its heir, so that its cases are to be sent down anew.
    """
    if at_most(as_leaf, raised + SLACK) and at_most(as_leaf, as_tree + SLACK):
        state.source[here] = leaf
        state.stop[here] = PRUNED
        state.estimate[here] = as_leaf
        return False
    if at_most(raised, as_tree + SLACK):
        state.source[here] = state.source[heir]
        state.stop[here] = state.stop[heir]
        state.outcome[here] = state.outcome[heir]
        return True
    state.estimate[here] = as_tree
    return False
