"""Error-based pruning of large trees as a kernel: what `treewright.prune.error_based` decides, decided alike.

Only where no case is ever divided or stays: then each case reaches one leaf, and what raising a branch would cost is
found by sending the cases of the other branches down.

Vocabulary
----------
place
    A node of the tree that was given. Raising gives a place the test and the branches of another one.
stretch
    The cases of a place stand together in `rows`. A place that got another test has a new stretch at the end, since
    settled places go on looking at the old one.
"""

from __future__ import annotations

from math import exp, log, sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from treewright.counts.compiled.flags import Array, Number, kernel
from treewright.data.dataset import Dataset
from treewright.grow.compiled.blocks import longer
from treewright.model.build import rebuilt
from treewright.model.split import Test
from treewright.model.tree import LEAF, STOPS, TESTS, Stop, Tree
from treewright.prune.extra_errors import NEARLY_ALL, NO_ERROR, ONE_ERROR, squared_deviate

THRESHOLD, INTERVALS = TESTS.index(Test.THRESHOLD), TESTS.index(Test.INTERVALS)
PURE, EMPTY, PRUNED = (STOPS.index(stop) for stop in (Stop.PURE, Stop.EMPTY, Stop.PRUNED))
SLACK, TOLERANCE = 0.1, 1e-9


class Grown(NamedTuple):
    """The tree as it was given, and the cases."""

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
    slot: Array
    codes: Array
    numbers: Array
    target: Array
    weights: Array


class State(NamedTuple):
    """What changes: test and branches of each place, its stretch of cases, and what follows from them."""

    source: Array
    first: Array
    size: Array
    counts: Array
    outcome: Array
    stop: Array
    estimate: Array
    to_settle: Array


@kernel
def extra_errors_of(n: Number, errors: Number, confidence: Number, q: Number) -> Number:
    """Return the extra errors that C4.5 expects of a leaf, in double precision."""
    if n <= 0:
        return 0.0
    none = n * (1.0 - exp(log(confidence) / n))
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
def _as_leaf(counts: Array, confidence: Number, q: Number) -> Number:
    weight = 0.0
    most = counts[0]
    for k in range(len(counts)):
        weight += counts[k]
        most = max(most, counts[k])
    errors = max(weight - most, 0.0)
    return errors + extra_errors_of(weight, errors, confidence, q)


@kernel
def _at_most(number: Number, bound: Number) -> Number:
    if number <= bound or number == np.inf:
        return number <= bound
    return abs(number - bound) <= TOLERANCE * max(abs(number), abs(bound))


@kernel
def _branch(grown: Grown, node: Number, row: Number) -> Number:
    """Return the branch that a case takes by the test of a node."""
    slot = grown.slot[grown.attribute[node]]
    test = grown.test[node]
    if test in (THRESHOLD, INTERVALS):
        number = grown.numbers[slot, row]
        if np.isnan(number):
            return grown.missing[node]
        if test == THRESHOLD:
            return 1 if number > grown.cut[node] else 0
        branch = 0
        for place in range(grown.bound_start[node], grown.bound_start[node + 1]):
            if grown.bounds[place] < number:
                branch += 1
        return branch
    code = grown.codes[slot, row]
    branch = grown.value_branch[grown.value_start[node] + code] if code >= 0 else -1
    return branch if branch >= 0 else grown.missing[node]


@kernel
def _give(state: State, place: Number, rows: Array, grown: Grown) -> None:
    """Count the cases of a place, and let it say another class only if that has more."""
    counts = state.counts[place]
    for k in range(len(counts)):
        counts[k] = 0.0
    for p in range(state.first[place], state.first[place] + state.size[place]):
        counts[grown.target[rows[p]]] += grown.weights[rows[p]]
    best = 0
    for k in range(1, len(counts)):
        if counts[k] > counts[best]:
            best = k
    if counts[best] > counts[state.outcome[place]] * (1 + TOLERANCE):
        state.outcome[place] = best
    state.to_settle[place] = True


@kernel
def _send_down(state: State, place: Number, rows: Array, spare: Array, grown: Grown, most: Number) -> None:
    """Divide the cases of a place among those below; places that get what they have are left alone."""
    waiting = np.empty(64, dtype=np.int64)
    waiting[0] = place
    n = 1
    sizes = np.zeros(most, dtype=np.int64)
    at = np.zeros(most, dtype=np.int64)
    while n > 0:
        n -= 1
        here = waiting[n]
        node = state.source[here]
        if grown.attribute[node] == LEAF:
            continue
        first, size = state.first[here], state.size[here]
        begin = grown.child_start[node]
        branches = grown.child_start[node + 1] - begin
        for branch in range(branches):
            sizes[branch] = 0
        for p in range(first, first + size):
            sizes[_branch(grown, node, rows[p])] += 1
        start = 0
        for branch in range(branches):
            at[branch] = start
            start += sizes[branch]
        for p in range(first, first + size):
            branch = _branch(grown, node, rows[p])
            spare[at[branch]] = rows[p]
            at[branch] += 1
        for p in range(size):
            rows[first + p] = spare[p]
        if n + branches > len(waiting):
            waiting = longer(waiting, 2 * (n + branches))
        start = first
        for branch in range(branches):
            child = grown.children[begin + branch]
            if sizes[branch] > 0 and state.size[child] != sizes[branch]:
                first_time = state.size[child] == 0
                state.first[child] = start
                state.size[child] = sizes[branch]
                _give(state, child, rows, grown)
                classes = 0
                for k in range(state.counts.shape[1]):
                    if state.counts[child, k] != 0:
                        classes += 1
                pure = classes <= 1
                if grown.attribute[state.source[child]] == LEAF and (
                    state.stop[child] == EMPTY or not (first_time or pure)
                ):
                    state.stop[child] = PURE if pure else PRUNED
                waiting[n] = child
                n += 1
            start += sizes[branch]


@kernel
def _change_by(
    state: State, place: Number, heir: Number, rows: Array, grown: Grown, slot_of: Array, confidence: Number, q: Number
) -> Number:
    """Return how the estimate of a settled branch changes if the cases of its sisters come in addition."""
    node = state.source[place]
    newcomers = state.size[place] - state.size[heir]
    width = state.counts.shape[1]
    touched = np.empty(max(newcomers, 1), dtype=np.int64)
    added = np.zeros((max(newcomers, 1), width))
    n = 0
    for edge in range(grown.child_start[node], grown.child_start[node + 1]):
        child = grown.children[edge]
        if child == heir:
            continue
        for p in range(state.first[child], state.first[child] + state.size[child]):
            row = rows[p]
            leaf = heir
            source = state.source[leaf]
            while grown.attribute[source] != LEAF:
                leaf = grown.children[grown.child_start[source] + _branch(grown, source, row)]
                source = state.source[leaf]
            slot = slot_of[leaf]
            if slot < 0:
                slot = n
                slot_of[leaf] = n
                touched[n] = leaf
                for k in range(width):
                    added[n, k] = state.counts[leaf, k]
                n += 1
            added[slot, grown.target[row]] += grown.weights[row]
    change = 0.0
    for slot in range(n):
        leaf = touched[slot]
        change += _as_leaf(added[slot], confidence, q) - state.estimate[leaf]
        slot_of[leaf] = -1
    return change


@kernel
def prune_kernel(
    grown: Grown, state: State, rows: Array, leaf: Number, raising: bool, confidence: Number, q: Number
) -> None:
    """Settle every place that has cases, branches first.

    `leaf` is the number of some leaf: a place that becomes one takes it as its source.
    """
    n_cases = len(rows)
    spare = np.empty(n_cases, dtype=np.int32)
    slot_of = np.full(len(grown.attribute), -1, dtype=np.int32)
    end = n_cases
    most = 2  # branches
    for node in range(len(grown.attribute)):
        most = max(most, grown.child_start[node + 1] - grown.child_start[node])
    state.first[0] = 0
    state.size[0] = n_cases
    _give(state, 0, rows, grown)
    _send_down(state, 0, rows, spare, grown, most)
    waiting = np.empty(64, dtype=np.int64)  # the number of a place; less than 0: its branches are settled
    waiting[0] = 0
    n = 1
    while n > 0:
        n -= 1
        here = waiting[n]
        if here >= 0:
            node = state.source[here]
            begin, stop = grown.child_start[node], grown.child_start[node + 1]
            if n + 1 + stop - begin > len(waiting):
                waiting = longer(waiting, 2 * (n + 1 + stop - begin))
            waiting[n] = -1 - here
            n += 1
            for edge in range(begin, stop):
                if state.to_settle[grown.children[edge]]:
                    waiting[n] = grown.children[edge]
                    n += 1
            continue
        here = -1 - here
        node = state.source[here]
        as_leaf = _as_leaf(state.counts[here], confidence, q)
        state.to_settle[here] = False
        if grown.attribute[node] == LEAF:
            state.estimate[here] = as_leaf
            continue
        as_tree = 0.0
        heir = -1
        greatest = 0.0
        for edge in range(grown.child_start[node], grown.child_start[node + 1]):
            child = grown.children[edge]
            if state.size[child] == 0:
                continue
            as_tree += state.estimate[child]
            weight = 0.0
            for k in range(state.counts.shape[1]):
                weight += state.counts[child, k]
            if heir < 0 or _at_most(greatest, weight):
                heir = child
                greatest = weight
        raised = np.inf
        if raising and heir >= 0:
            raised = state.estimate[heir] + _change_by(state, here, heir, rows, grown, slot_of, confidence, q)
        if _at_most(as_leaf, raised + SLACK) and _at_most(as_leaf, as_tree + SLACK):
            state.source[here] = leaf
            state.stop[here] = PRUNED
            state.estimate[here] = as_leaf
        elif _at_most(raised, as_tree + SLACK):
            state.source[here] = state.source[heir]
            state.stop[here] = state.stop[heir]
            state.outcome[here] = state.outcome[heir]
            size = state.size[here]
            if end + size > len(rows):
                rows = longer(rows, 2 * (end + size))
            for p in range(size):
                rows[end + p] = rows[state.first[here] + p]
            state.first[here] = end
            end += size
            _give(state, here, rows, grown)
            _send_down(state, here, rows, spare, grown, most)
            waiting[n] = here
            n += 1
        else:
            state.estimate[here] = as_tree


def prune_whole_cases(tree: Tree, dataset: Dataset, confidence: float, *, raising: bool) -> Tree:
    """Prune a tree over cases that are never divided.

    Parameters
    ----------
    tree : Tree
        With at least one test, none of which divides a case or lets one stay.
    dataset : Dataset
        Cases that weigh something.
    confidence : float
    raising : bool
    """
    inner = tree.attribute != LEAF
    used = np.unique(tree.attribute[inner])
    numeric = [a for a in used.tolist() if tree.schema.attributes[a].is_numeric]
    nominal = [a for a in used.tolist() if not tree.schema.attributes[a].is_numeric]
    slot = np.full(len(tree.schema.attributes), -1, dtype=np.int64)
    slot[numeric], slot[nominal] = np.arange(len(numeric)), np.arange(len(nominal))
    grown = Grown(
        tree.attribute,
        tree.test,
        tree.cut,
        tree.missing,
        tree.child_start,
        tree.children,
        tree.value_start,
        tree.value_branch,
        tree.bound_start,
        tree.bounds,
        slot,
        _stacked([dataset.columns[a] for a in nominal], np.int32),
        _stacked([dataset.columns[a] for a in numeric], np.float64),
        np.asarray(dataset.target, dtype=np.int32),
        np.ones(dataset.n_rows) if dataset.weights is None else dataset.weights,
    )
    n = tree.n_nodes
    state = State(
        np.arange(n, dtype=np.int32),
        np.zeros(n, dtype=np.int64),
        np.zeros(n, dtype=np.int64),
        np.zeros((n, len(tree.schema.classes))),
        tree.outcome.astype(np.int32),
        tree.stop.astype(np.int8),
        np.zeros(n),
        np.zeros(n, dtype=np.bool_),
    )
    leaf = int(np.argmin(inner))
    rows = np.arange(dataset.n_rows, dtype=np.int32)
    prune_kernel(grown, state, rows, leaf, raising, confidence, squared_deviate(confidence))
    return rebuilt(
        tree,
        state.source,
        counts=state.counts,
        outcome=state.outcome,
        stop=state.stop,
        estimate=state.estimate,
    )


def _stacked(columns: list[npt.NDArray[Any]], dtype: type) -> npt.NDArray[Any]:
    return np.stack(columns).astype(dtype) if columns else np.zeros((0, 0), dtype=dtype)
