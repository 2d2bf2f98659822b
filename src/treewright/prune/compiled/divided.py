"""Error-based pruning over divided cases as a kernel: what `treewright.prune.error_based` decides, to a billionth.

A case without the value that a test asks for goes down every branch with a share of its weight, or stays at its node.
So a branch that takes the place of its node may get shares that it did not have, and is estimated by sending all cases
of the node down.

Vocabulary
----------
place
    A node of the tree that was given. Raising gives a place the test and the branches of another one.
waiting
    Places that are still to be settled. Their cases stand one behind the other, with the weights that they have there,
    those of the next one last; so a case is kept for the places on one way down only, not for all.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from treewright.counts.compiled.bits import bits_of
from treewright.counts.compiled.flags import Array, Number, kernel
from treewright.data.dataset import Dataset
from treewright.grow.compiled.blocks import longer
from treewright.grow.compiled.drawing import mixed
from treewright.model.build import rebuild_tree
from treewright.model.tree import LEAF, Tree
from treewright.prune.compiled.grown import BRANCHES, CHILDREN_AT, SLOT, Grown, grown_of
from treewright.prune.compiled.settling import (
    EMPTY,
    PRUNED,
    PURE,
    as_leaf_of,
    class_said,
    extra_errors_of,
    is_pure,
    settle,
    sum_of_branches,
)
from treewright.prune.compiled.shares import Cases, Desk, count, divide, roomy
from treewright.prune.extra_errors import squared_deviate


class Places(NamedTuple):
    """What changes: test and branches of each place, how many cases it has and their seal, and what follows from them.

    The seal tells whether a place gets the cases that it has, with the same weights.
    """

    source: Array
    size: Array
    divided: Array
    seal: Array
    counts: Array
    outcome: Array
    stop: Array
    estimate: Array
    staying: Array


class Limits(NamedTuple):
    """The confidence level and the square of its normal deviate."""

    confidence: float
    squared: float


@kernel
def _saying(counts: Array, outcome: Number, limits: Limits) -> Number:
    """Return the errors expected of cases that are all told this class."""
    weight = 0.0
    for k in range(len(counts)):
        weight += counts[k]
    errors = max(weight - counts[outcome], 0.0)
    return errors + extra_errors_of(weight, errors, limits.confidence, limits.squared)


@kernel
def _seal(cases: Cases, first: Number, size: Number) -> np.uint64:
    """Return a number that other cases or weights have only by a chance of one in 2**64."""
    total = np.uint64(size)
    for p in range(first, first + size):
        total += mixed(np.uint64(bits_of(cases.weights[p])) ^ mixed(np.uint64(cases.rows[p])))
    return total


@kernel
def _arrive(
    places: Places, child: Number, spare: Cases, start: Number, size: Number, divided: Number, grown: Grown
) -> Number:
    """Give a place its cases, count them, and let a leaf tell why it is one; return False if it had them."""
    seal = _seal(spare, start, size)
    if places.size[child] == size and places.divided[child] == divided and places.seal[child] == seal:
        return False
    first_time = places.size[child] == 0
    places.size[child], places.divided[child], places.seal[child] = size, divided, seal
    counts = places.counts[child]
    count(spare, start, size, grown, counts)
    places.outcome[child] = class_said(counts, places.outcome[child])
    pure = is_pure(counts)
    if grown.fields[places.source[child], SLOT] == LEAF and (places.stop[child] == EMPTY or not (first_time or pure)):
        places.stop[child] = PURE if pure else PRUNED
    return True


@kernel
def _estimate_with(
    places: Places, heir: Number, cases: Cases, size: Number, spare: Cases, grown: Grown, desk: Desk, limits: Limits
) -> Any:
    """Sum the estimates of the leaves below a place if these were all its cases; `cases` are used up."""
    total = 0.0
    waiting = np.empty(64, dtype=np.int64)
    sizes = np.empty(64, dtype=np.int64)
    waiting[0] = heir
    sizes[0] = size
    n = 1
    end = size  # those who wait have their cases one behind the other, the next one's last
    while n > 0:
        n -= 1
        here, size = waiting[n], sizes[n]
        first = end - size
        node = places.source[here]
        count(cases, first, size, grown, desk.counts[0])
        if grown.fields[node, SLOT] == LEAF:
            total += as_leaf_of(desk.counts[0], limits.confidence, limits.squared)
            end = first
            continue
        spare, _ = divide(grown, node, cases, first, size, spare, desk)
        begin = grown.fields[node, CHILDREN_AT]
        branches = grown.fields[node, BRANCHES]
        if n + branches > len(waiting):
            waiting = longer(waiting, 2 * (n + branches))
            sizes = longer(sizes, 2 * (n + branches))
        start = 0
        for branch in range(branches):
            start += desk.size[branch]
            if desk.size[branch] > 0:
                waiting[n] = grown.children[begin + branch]
                sizes[n] = desk.size[branch]
                n += 1
        if desk.size[branches] > 0:
            outcome = class_said(desk.counts[0], places.outcome[here])
            count(spare, start, desk.size[branches], grown, desk.counts[1])
            total += _saying(desk.counts[1], outcome, limits)
        cases = roomy(cases, first + start)
        for p in range(start):
            cases.rows[first + p] = spare.rows[p]
            cases.weights[first + p] = spare.weights[p]
        end = first + start
    return total, cases, spare


@kernel
def prune_divided_kernel(
    grown: Grown, places: Places, cases: Cases, desk: Desk, leaf: Number, raising: bool, limits: Limits
) -> None:
    """Settle every place that has cases, branches first.

    `leaf` is the number of some leaf: a place that becomes one takes it as its source.
    """
    end = len(cases.rows)
    spare = Cases(np.empty(end, dtype=np.int32), np.empty(end))
    trial = Cases(np.empty(0, dtype=np.int32), np.empty(0))
    places.size[0] = end
    count(cases, 0, end, grown, places.counts[0])
    places.outcome[0] = class_said(places.counts[0], places.outcome[0])
    waiting = np.empty(64, dtype=np.int64)  # the number of a place; less than 0: its branches are settled
    waiting[0] = 0
    n = 1
    while n > 0:
        n -= 1
        is_new = waiting[n] >= 0
        here = waiting[n] if is_new else -1 - waiting[n]
        node, size = places.source[here], places.size[here]
        first = end - size
        if grown.fields[node, SLOT] == LEAF:
            places.estimate[here] = as_leaf_of(places.counts[here], limits.confidence, limits.squared)
            end = first
            continue
        if is_new:
            branches = grown.fields[node, BRANCHES]
            if n + 1 + branches > len(waiting):
                waiting = longer(waiting, 2 * (n + 1 + branches))
            waiting[n] = -1 - here
            spare, shared = divide(grown, node, cases, first, size, spare, desk)
            cases, end, n = _send_down(places, here, shared, cases, end, spare, grown, desk, limits, waiting, n + 1)
            continue
        as_leaf = as_leaf_of(places.counts[here], limits.confidence, limits.squared)
        as_tree, heir = sum_of_branches(grown, node, places.size, places.counts, places.estimate)
        as_tree += places.staying[here]
        raised = np.inf
        if raising and heir >= 0:
            trial = roomy(trial, size)
            for p in range(size):
                trial.rows[p] = cases.rows[first + p]
                trial.weights[p] = cases.weights[first + p]
            raised, trial, spare = _estimate_with(places, heir, trial, size, spare, grown, desk, limits)
        if settle(places, here, heir, leaf, as_leaf, as_tree, raised):
            places.outcome[here] = class_said(places.counts[here], places.outcome[here])
            waiting[n] = here
            n += 1
        else:
            end = first


@kernel
def _send_down(
    places: Places,
    here: Number,
    shared: Number,
    cases: Cases,
    end: Number,
    spare: Cases,
    grown: Grown,
    desk: Desk,
    limits: Limits,
    waiting: Array,
    n: Number,
) -> Any:
    """Give the branches of a place their parts of its cases, and let those wait that did not have them."""
    node = places.source[here]
    begin, branches = grown.fields[node, CHILDREN_AT], grown.fields[node, BRANCHES]
    divided = places.divided[here] or shared
    start = 0
    for branch in range(branches):
        child, size = grown.children[begin + branch], desk.size[branch]
        if size > 0 and _arrive(places, child, spare, start, size, divided, grown):
            cases = roomy(cases, end + size)
            for p in range(size):
                cases.rows[end + p] = spare.rows[start + p]
                cases.weights[end + p] = spare.weights[start + p]
            end += size
            waiting[n] = child
            n += 1
        start += size
    places.staying[here] = 0.0
    if desk.size[branches] > 0:
        count(spare, start, desk.size[branches], grown, desk.counts[0])
        places.staying[here] = _saying(desk.counts[0], places.outcome[here], limits)
    return cases, end, n


def prune_divided_cases(
    tree: Tree, dataset: Dataset, order: npt.NDArray[np.intp], confidence: float, *, raising: bool
) -> Tree:
    """Prune a tree over cases that may be divided among branches.

    Parameters
    ----------
    tree : Tree
        With at least one test, and without surrogates.
    dataset : Dataset
        Cases that weigh something.
    order : array of int
        In which the cases are added up.
    confidence : float
    raising : bool
    """
    grown = grown_of(tree, dataset)
    n, most = tree.n_nodes, int(np.diff(tree.child_start).max()) + 1
    places = Places(
        np.arange(n, dtype=np.int32),
        np.zeros(n, dtype=np.int64),
        np.zeros(n, dtype=np.bool_),
        np.zeros(n, dtype=np.uint64),
        tree.counts.astype(np.float64),  # where no case comes, all stays as it is
        tree.outcome.astype(np.int32),
        tree.stop.astype(np.int8),
        np.zeros(n),
        np.zeros(n),
    )
    desk = Desk(
        np.empty(dataset.n_rows, dtype=np.int32),
        np.zeros(most, dtype=np.int64),
        np.zeros(most),
        np.zeros(most, dtype=np.int64),
        np.zeros(most, dtype=np.int64),
        np.zeros((2, len(tree.schema.classes))),
    )
    leaf = int(np.argmax(tree.attribute == LEAF))
    weights = np.ones(len(order)) if dataset.weights is None else np.asarray(dataset.weights, dtype=np.float64)[order]
    cases = Cases(order.astype(np.int32), weights)
    limits = Limits(float(confidence), squared_deviate(confidence))
    prune_divided_kernel(grown, places, cases, desk, leaf, raising, limits)
    return rebuild_tree(
        tree,
        places.source,
        counts=places.counts,
        outcome=places.outcome,
        stop=places.stop,
        estimate=places.estimate,
    )
