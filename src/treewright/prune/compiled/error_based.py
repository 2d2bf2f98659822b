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
from typing import NamedTuple

import numpy as np

from treewright.counts.compiled.flags import Array, Number, inlined_kernel, kernel, part
from treewright.data.dataset import Dataset
from treewright.grow.compiled.blocks import longer
from treewright.model.build import rebuilt
from treewright.model.split import Test
from treewright.model.tree import LEAF, STOPS, TESTS, Stop, Tree
from treewright.prune.extra_errors import NEARLY_ALL, NO_ERROR, ONE_ERROR, squared_deviate

THRESHOLD, INTERVALS = TESTS.index(Test.THRESHOLD), TESTS.index(Test.INTERVALS)
PURE, EMPTY, PRUNED = (STOPS.index(stop) for stop in (Stop.PURE, Stop.EMPTY, Stop.PRUNED))
SLACK, TOLERANCE = 0.1, 1e-9

AT_HAND = 4096
"""So many cases fit into the cache."""

SMALL = 127
"""Up to so many values and classes, codes have one byte."""


class Grown(NamedTuple):
    """The tree as it was given, and the cases.

    Parameters
    ----------
    fields : array, nodes x columns
        What a case meets at a node, together, since nodes are met in no order; see the names of the columns.
    cut, children, value_branch, bounds : array
        As in the tree.
    codes : array, cases x (the class and nominal attributes)
    numbers : array, cases x numeric attributes
    weights : array
        None at all where every case weighs one.
    """

    fields: Array
    cut: Array
    children: Array
    value_branch: Array
    bounds: Array
    codes: Array
    numbers: Array
    weights: Array


# Columns of `Grown.fields`. The slot is that of the attribute among the nominal or the numeric ones, LEAF in a leaf.
SLOT, TEST, MISSING, CHILDREN_AT, BRANCHES, VALUES_AT, BOUNDS_AT, BOUNDS = range(8)


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


class Room(NamedTuple):
    """Scratch space: for the cases of a place, for its branches, and for the leaves that newcomers reach."""

    spare: Array
    taken: Array
    sizes: Array
    at: Array
    tally: Array
    slot_of: Array


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


@inlined_kernel
def branch_of_case(grown: Grown, node: Number, row: Number) -> Number:
    """Return the branch that a case takes by the test of a node."""
    slot, test = grown.fields[node, SLOT], grown.fields[node, TEST]
    branch = np.int64(-1)
    if test == THRESHOLD:
        number = grown.numbers[row, slot]
        if number > grown.cut[node]:
            branch = np.int64(1)
        elif number <= grown.cut[node]:
            branch = np.int64(0)
    elif test == INTERVALS:
        number = grown.numbers[row, slot]
        if not np.isnan(number):
            branch = np.int64(0)
            at = grown.fields[node, BOUNDS_AT]
            for place in range(at, at + grown.fields[node, BOUNDS]):
                if grown.bounds[place] < number:
                    branch += 1
    else:
        code = np.int64(grown.codes[row, slot])
        if code >= 0:
            branch = np.int64(grown.value_branch[grown.fields[node, VALUES_AT] + code])
    return branch if branch >= 0 else np.int64(grown.fields[node, MISSING])


@inlined_kernel
def class_of(grown: Grown, row: Number) -> Number:
    """Return the class of a case."""
    return np.int64(grown.codes[row, 0])


@inlined_kernel
def _weight_of(grown: Grown, row: Number) -> Number:
    return grown.weights[row] if len(grown.weights) else 1.0


@kernel
def _give(state: State, place: Number, first: Number, size: Number, counts: Array) -> None:
    """Give a place its stretch and its counts, and let it say another class only if that has more."""
    state.first[place] = first
    state.size[place] = size
    own = state.counts[place]
    best = 0
    for k in range(len(counts)):
        own[k] = counts[k]
        if counts[k] > counts[best]:
            best = k
    if counts[best] > counts[state.outcome[place]] * (1 + TOLERANCE):
        state.outcome[place] = best
    state.to_settle[place] = True


@kernel
def _is_pure(counts: Array) -> Number:
    classes = 0
    for k in range(len(counts)):
        if counts[k] != 0:
            classes += 1
    return classes <= 1


@kernel
def _send_down(state: State, place: Number, rows: Array, grown: Grown, room: Room, least: Number) -> Array:
    """Divide the cases of a place among those below; places that get what they have are left alone.

    Returns the places that were not divided because they have no more than `least` cases.
    """
    later = np.empty(64, dtype=np.int64)
    n_later = 0
    waiting = np.empty(64, dtype=np.int64)
    waiting[0] = place
    n = 1
    sizes, at, tally, spare, taken = room.sizes, room.at, room.tally, room.spare, room.taken
    width = tally.shape[1]
    while n > 0:
        n -= 1
        here = waiting[n]
        node = state.source[here]
        if grown.fields[node, SLOT] == LEAF:
            continue
        first, size = state.first[here], state.size[here]
        if size <= least:
            if n_later == len(later):
                later = longer(later, 2 * n_later)
            later[n_later] = here
            n_later += 1
            continue
        begin = grown.fields[node, CHILDREN_AT]
        branches = grown.fields[node, BRANCHES]
        for branch in range(branches):
            sizes[branch] = 0
            for k in range(width):
                tally[branch, k] = 0.0
        for p in range(size):
            row = rows[first + p]
            branch = branch_of_case(grown, node, row)
            taken[p] = branch
            spare[p] = row
            sizes[branch] += 1
            tally[branch, class_of(grown, row)] += _weight_of(grown, row)
        start = first
        for branch in range(branches):
            at[branch] = start
            start += sizes[branch]
        for p in range(size):
            branch = taken[p]
            rows[at[branch]] = spare[p]
            at[branch] += 1
        if n + branches > len(waiting):
            waiting = longer(waiting, 2 * (n + branches))
        for branch in range(branches):
            child = grown.children[begin + branch]
            if sizes[branch] == 0 or state.size[child] == sizes[branch]:
                continue
            first_time = state.size[child] == 0
            _give(state, child, at[branch] - sizes[branch], sizes[branch], tally[branch])
            if grown.fields[state.source[child], SLOT] != LEAF:
                waiting[n] = child
                n += 1
            elif state.stop[child] == EMPTY or not (first_time or _is_pure(tally[branch])):
                state.stop[child] = PURE if _is_pure(tally[branch]) else PRUNED
    return later[:n_later]


@kernel
def _change_by(
    state: State, place: Number, heir: Number, rows: Array, grown: Grown, room: Room, confidence: Number, q: Number
) -> Number:
    """Return how the estimate of a settled branch changes if the cases of its sisters come in addition."""
    if grown.fields[state.source[heir], SLOT] == LEAF:  # all come to this one leaf
        return as_leaf_of(state.counts[place], confidence, q) - state.estimate[heir]
    node = state.source[place]
    width = state.counts.shape[1]
    touched = np.empty(64, dtype=np.int64)
    added = np.empty((64, width))
    slot_of = room.slot_of
    n = 0
    begin = grown.fields[node, CHILDREN_AT]
    for edge in range(begin, begin + grown.fields[node, BRANCHES]):
        child = grown.children[edge]
        if child == heir:
            continue
        for p in range(state.first[child], state.first[child] + state.size[child]):
            row = rows[p]
            leaf = np.int64(heir)
            source = state.source[leaf]
            while grown.fields[source, SLOT] != LEAF:
                leaf = np.int64(grown.children[grown.fields[source, CHILDREN_AT] + branch_of_case(grown, source, row)])
                source = state.source[leaf]
            slot = slot_of[leaf]
            if slot < 0:
                if n == len(touched):
                    touched = longer(touched, 2 * n)
                    added = longer(added.reshape(-1), 2 * n * width).reshape(2 * n, width)
                slot = n
                slot_of[leaf] = n
                touched[n] = leaf
                for k in range(width):
                    added[n, k] = state.counts[leaf, k]
                n += 1
            added[slot, class_of(grown, row)] += _weight_of(grown, row)
    change = 0.0
    for slot in range(n):
        leaf = touched[slot]
        change += as_leaf_of(added[slot], confidence, q) - state.estimate[leaf]
        slot_of[leaf] = -1
    return change


@kernel
def send_apart(grown: Grown, state: State, rows: Array, room: Room) -> Array:
    """Give all cases to the root and send them down to where those of a place are few; return these places."""
    n = len(rows)
    tally = room.tally[0]
    for k in range(len(tally)):
        tally[k] = 0.0
    for row in range(n):
        tally[class_of(grown, row)] += _weight_of(grown, row)
    _give(state, 0, 0, n, tally)
    return _send_down(state, 0, rows, grown, room, AT_HAND)


@kernel
def in_order(table: Array, rows: Array) -> Array:
    """Return the rows of a table in an order."""
    ordered = np.empty_like(table)
    for p in range(len(table)):
        for column in range(table.shape[1]):
            ordered[p, column] = table[rows[p], column]
    return ordered


@part
def wait_for_branches(grown: Grown, node: Number, to_settle: Array, waiting: Array, n: Number) -> Number:
    """Put the branches of a node that are still to be settled on the list of n; return its new length."""
    begin = grown.fields[node, CHILDREN_AT]
    for edge in range(begin, begin + grown.fields[node, BRANCHES]):
        if to_settle[grown.children[edge]]:
            waiting[n] = grown.children[edge]
            n += 1
    return n


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


@kernel
def prune_kernel(
    grown: Grown,
    state: State,
    rows: Array,
    later: Array,
    room: Room,
    leaf: Number,
    raising: bool,
    confidence: Number,
    q: Number,
) -> None:
    """Send the cases of the places `later` down to the leaves, and settle every place that has cases, branches first.

    `leaf` is the number of some leaf: a place that becomes one takes it as its source.
    """
    for one in range(len(later)):
        _send_down(state, later[one], rows, grown, room, 0)
    end = len(rows)
    waiting = np.empty(64, dtype=np.int64)  # the number of a place; less than 0: its branches are settled
    waiting[0] = 0
    n = 1
    while n > 0:
        n -= 1
        here = waiting[n]
        if here >= 0:
            branches = grown.fields[state.source[here], BRANCHES]
            if n + 1 + branches > len(waiting):
                waiting = longer(waiting, 2 * (n + 1 + branches))
            waiting[n] = -1 - here
            n = wait_for_branches(grown, state.source[here], state.to_settle, waiting, n + 1)
            continue
        here = -1 - here
        node = state.source[here]
        as_leaf = as_leaf_of(state.counts[here], confidence, q)
        state.to_settle[here] = False
        if grown.fields[node, SLOT] == LEAF:
            state.estimate[here] = as_leaf
            continue
        as_tree, heir = sum_of_branches(grown, node, state.size, state.counts, state.estimate)
        raised = np.inf
        if raising and heir >= 0:
            raised = state.estimate[heir] + _change_by(state, here, heir, rows, grown, room, confidence, q)
        if at_most(as_leaf, raised + SLACK) and at_most(as_leaf, as_tree + SLACK):
            state.source[here] = leaf
            state.stop[here] = PRUNED
            state.estimate[here] = as_leaf
        elif at_most(raised, as_tree + SLACK):
            state.source[here] = state.source[heir]
            state.stop[here] = state.stop[heir]
            state.outcome[here] = state.outcome[heir]
            size = state.size[here]
            if end + size > len(rows):
                rows = longer(rows, 2 * (end + size))
            for p in range(size):
                rows[end + p] = rows[state.first[here] + p]
            _give(state, here, end, size, state.counts[here])
            end += size
            _send_down(state, here, rows, grown, room, 0)
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
    grown = grown_of(tree, dataset)
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
    most = int(grown.fields[:, BRANCHES].max())
    room = Room(
        np.empty(dataset.n_rows, dtype=np.int32),
        np.empty(dataset.n_rows, dtype=np.int32),
        np.empty(most, dtype=np.int64),
        np.empty(most, dtype=np.int64),
        np.empty((most, len(tree.schema.classes))),
        np.full(n, -1, dtype=np.int32),
    )
    rows = np.arange(dataset.n_rows, dtype=np.int32)
    later = send_apart(grown, state, rows, room)
    # On the way down the cases of a place come to lie ever further apart. So they are moved once, where they are few.
    grown = grown._replace(
        codes=in_order(grown.codes.view(np.int64), rows).view(grown.codes.dtype),
        numbers=in_order(grown.numbers.view(np.int64), rows).view(np.float64),
        weights=grown.weights[rows] if len(grown.weights) else grown.weights,
    )
    rows[:] = np.arange(dataset.n_rows, dtype=np.int32)
    leaf = int(np.argmax(tree.attribute == LEAF))
    prune_kernel(grown, state, rows, later, room, leaf, raising, confidence, squared_deviate(confidence))
    return rebuilt(
        tree,
        state.source,
        counts=state.counts,
        outcome=state.outcome,
        stop=state.stop,
        estimate=state.estimate,
    )


def grown_of(tree: Tree, dataset: Dataset) -> Grown:
    """Put together what a case meets on its way, and what the tree asks of a case."""
    inner = tree.attribute != LEAF
    attributes = tree.schema.attributes
    used = np.unique(tree.attribute[inner]).tolist()
    numeric = [a for a in used if attributes[a].is_numeric]
    nominal = [a for a in used if not attributes[a].is_numeric]
    slot = np.full(len(attributes) + 1, LEAF, dtype=np.int32)  # the last one for leaves, whose attribute is -1
    slot[numeric], slot[nominal] = np.arange(len(numeric)), np.arange(1, len(nominal) + 1)
    fields = np.empty((tree.n_nodes, 8), dtype=np.int32)
    fields[:, SLOT] = slot[tree.attribute]
    fields[:, TEST], fields[:, MISSING] = tree.test, tree.missing
    fields[:, CHILDREN_AT], fields[:, BRANCHES] = tree.child_start[:-1], np.diff(tree.child_start)
    fields[:, VALUES_AT] = tree.value_start[:-1]
    fields[:, BOUNDS_AT], fields[:, BOUNDS] = tree.bound_start[:-1], np.diff(tree.bound_start)
    most = max(len(tree.schema.classes), *(len(attributes[a].values) for a in [0, *nominal]))
    width = -(-(len(nominal) + 1) // 8) * 8  # whole words, which are moved sooner
    codes = np.zeros((dataset.n_rows, width), dtype=np.int8 if most <= SMALL else np.int32)
    codes[:, 0] = dataset.target
    for place, a in enumerate(nominal):
        codes[:, place + 1] = dataset.columns[a]
    numbers = np.empty((dataset.n_rows, len(numeric)))
    for place, a in enumerate(numeric):
        numbers[:, place] = dataset.columns[a]
    weights = np.zeros(0) if dataset.weights is None else np.asarray(dataset.weights, dtype=np.float64)
    return Grown(fields, tree.cut, tree.children, tree.value_branch, tree.bounds, codes, numbers, weights)
