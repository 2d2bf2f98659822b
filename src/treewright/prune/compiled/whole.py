"""Error-based pruning over whole cases as a kernel: what `treewright.prune.error_based` decides, decided alike.

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

from typing import NamedTuple

import numpy as np

from treewright.counts.compiled.flags import Array, Number, inlined_kernel, kernel
from treewright.data.dataset import Dataset
from treewright.grow.compiled.blocks import longer
from treewright.model.build import rebuild_tree
from treewright.model.tree import LEAF, Tree
from treewright.prune.compiled.grown import (
    BRANCHES,
    CHILDREN_AT,
    SLOT,
    Grown,
    branch_of_case,
    class_of,
    grown_of,
    wait_for_branches,
)
from treewright.prune.compiled.settling import (
    EMPTY,
    PRUNED,
    PURE,
    as_leaf_of,
    class_said,
    is_pure,
    settle,
    sum_of_branches,
)
from treewright.prune.extra_errors import squared_deviate

AT_HAND = 4096
"""So many cases fit into the cache."""


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


@inlined_kernel
def _weight_of(grown: Grown, row: Number) -> Number:
    return grown.weights[row] if len(grown.weights) else 1.0


@kernel
def _give(state: State, place: Number, first: Number, size: Number, counts: Array) -> None:
    """Give a place its stretch and its counts, and let it say another class only if that has more."""
    state.first[place] = first
    state.size[place] = size
    own = state.counts[place]
    for k in range(len(counts)):
        own[k] = counts[k]
    state.outcome[place] = class_said(counts, state.outcome[place])
    state.to_settle[place] = True


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
            elif state.stop[child] == EMPTY or not (first_time or is_pure(tally[branch])):
                state.stop[child] = PURE if is_pure(tally[branch]) else PRUNED
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
        if settle(state, here, heir, leaf, as_leaf, as_tree, raised):
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
    return rebuild_tree(
        tree,
        state.source,
        counts=state.counts,
        outcome=state.outcome,
        stop=state.stop,
        estimate=state.estimate,
    )
