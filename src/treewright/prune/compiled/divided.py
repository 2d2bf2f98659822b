"""Error-based pruning over divided cases as a kernel: what `treewright.prune.error_based` decides, to a billionth.

A case without the value that a test asks for goes down every branch with a share of its weight, or stays at its node.
So a branch that takes the place of its node may get shares that it did not have, and is estimated by sending all cases
of the node down.

Vocabulary
----------
place
    A node of the tree that was given. Raising gives a place the test and the branches of another one.
pool
    The cases of all places with the weights that they have there, one stretch for each place. A place that gets other
    cases has a new stretch at the end; what no place looks at any longer is left out when the room gives out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from treewright.counts.compiled.flags import Array, Number, kernel
from treewright.data.dataset import Dataset
from treewright.grow.compiled.blocks import longer
from treewright.model.build import rebuilt
from treewright.model.tree import LEAF, Tree
from treewright.prune.compiled.grown import BRANCHES, CHILDREN_AT, SLOT, Grown, grown_of, wait_for_branches
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
    """What changes: test and branches of each place, its stretch of the pool, and what follows from its cases."""

    source: Array
    first: Array
    size: Array
    divided: Array
    counts: Array
    outcome: Array
    stop: Array
    estimate: Array
    staying: Array
    to_settle: Array


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
def _give(places: Places, place: Number, pool: Cases, grown: Grown) -> None:
    """Count the cases of a place, and let it say another class only if that has more."""
    counts = places.counts[place]
    count(pool, places.first[place], places.size[place], grown, counts)
    places.outcome[place] = class_said(counts, places.outcome[place])
    places.to_settle[place] = True


@kernel
def _has(
    places: Places, place: Number, pool: Cases, spare: Cases, start: Number, size: Number, divided: Number
) -> Number:
    """Say whether a place has these very cases, with these weights."""
    if places.size[place] != size or places.divided[place] != divided:
        return False
    first = places.first[place]
    for p in range(size):
        if pool.rows[first + p] != spare.rows[start + p] or pool.weights[first + p] != spare.weights[start + p]:
            return False
    return True


@kernel
def _with_room(places: Places, pool: Cases, end: Number, more: Number, grown: Grown) -> Any:
    """Return a pool with room for so many more cases and its end; cases of places out of reach are left out."""
    if end + more <= len(pool.rows):
        return pool, end
    waiting = np.empty(len(places.source), dtype=np.int64)
    waiting[0] = 0
    n = 1
    kept = 0
    while kept < n:  # every place is reached once, so the list of those to visit is the list of the visited
        source = places.source[waiting[kept]]
        kept += 1
        begin = grown.fields[source, CHILDREN_AT]
        for edge in range(begin, begin + grown.fields[source, BRANCHES]):
            waiting[n] = grown.children[edge]
            n += 1
    total = 0
    for place in waiting[:n]:
        total += places.size[place]
    room = 2 * (total + more)
    fresh = Cases(np.empty(room, dtype=np.int32), np.empty(room))
    end = 0
    for place in waiting[:n]:
        first = places.first[place]
        for p in range(places.size[place]):
            fresh.rows[end + p] = pool.rows[first + p]
            fresh.weights[end + p] = pool.weights[first + p]
        places.first[place] = end
        end += places.size[place]
    return fresh, end


@kernel
def _arrive(places: Places, child: Number, pool: Cases, grown: Grown, first_time: Number) -> None:
    """Count the cases that came to a place, and let a leaf tell why it is one."""
    _give(places, child, pool, grown)
    pure = is_pure(places.counts[child])
    if grown.fields[places.source[child], SLOT] == LEAF and (places.stop[child] == EMPTY or not (first_time or pure)):
        places.stop[child] = PURE if pure else PRUNED


@kernel
def _send_down(
    places: Places, place: Number, pool: Cases, end: Number, spare: Cases, grown: Grown, desk: Desk, limits: Limits
) -> Any:
    """Divide the cases of a place among those below; places that get what they have are left alone."""
    waiting = np.empty(64, dtype=np.int64)
    waiting[0] = place
    n = 1
    while n > 0:
        n -= 1
        here = waiting[n]
        node = places.source[here]
        if grown.fields[node, SLOT] == LEAF:
            continue
        spare, shared = divide(grown, node, pool, places.first[here], places.size[here], spare, desk)
        divided = places.divided[here] or shared
        begin = grown.fields[node, CHILDREN_AT]
        branches = grown.fields[node, BRANCHES]
        start = 0
        for branch in range(branches):
            start += desk.size[branch]
        pool, end = _with_room(places, pool, end, start, grown)
        places.staying[here] = 0.0
        if desk.size[branches] > 0:
            count(spare, start, desk.size[branches], grown, desk.counts[0])
            places.staying[here] = _saying(desk.counts[0], places.outcome[here], limits)
        if n + branches > len(waiting):
            waiting = longer(waiting, 2 * (n + branches))
        start = 0
        for branch in range(branches):
            child, size = grown.children[begin + branch], desk.size[branch]
            if size > 0 and not _has(places, child, pool, spare, start, size, divided):
                first_time = places.size[child] == 0
                for p in range(size):
                    pool.rows[end + p] = spare.rows[start + p]
                    pool.weights[end + p] = spare.weights[start + p]
                places.first[child] = end
                places.size[child] = size
                places.divided[child] = divided
                end += size
                _arrive(places, child, pool, grown, first_time)
                waiting[n] = child
                n += 1
            start += size
    return pool, end, spare


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
    grown: Grown, places: Places, pool: Cases, desk: Desk, leaf: Number, raising: bool, limits: Limits
) -> None:
    """Settle every place that has cases, branches first.

    `leaf` is the number of some leaf: a place that becomes one takes it as its source.
    """
    end = len(pool.rows)
    spare = Cases(np.empty(end, dtype=np.int32), np.empty(end))
    trial = Cases(np.empty(end, dtype=np.int32), np.empty(end))
    places.size[0] = end
    _give(places, 0, pool, grown)
    pool, end, spare = _send_down(places, 0, pool, end, spare, grown, desk, limits)
    waiting = np.empty(64, dtype=np.int64)  # the number of a place; less than 0: its branches are settled
    waiting[0] = 0
    n = 1
    while n > 0:
        n -= 1
        here = waiting[n]
        if here >= 0:
            branches = grown.fields[places.source[here], BRANCHES]
            if n + 1 + branches > len(waiting):
                waiting = longer(waiting, 2 * (n + 1 + branches))
            waiting[n] = -1 - here
            n = wait_for_branches(grown, places.source[here], places.to_settle, waiting, n + 1)
            continue
        here = -1 - here
        node = places.source[here]
        as_leaf = as_leaf_of(places.counts[here], limits.confidence, limits.squared)
        places.to_settle[here] = False
        if grown.fields[node, SLOT] == LEAF:
            places.estimate[here] = as_leaf
            continue
        as_tree, heir = sum_of_branches(grown, node, places.size, places.counts, places.estimate)
        as_tree += places.staying[here]
        raised = np.inf
        first, size = places.first[here], places.size[here]
        if raising and heir >= 0:
            trial = roomy(trial, size)
            for p in range(size):
                trial.rows[p] = pool.rows[first + p]
                trial.weights[p] = pool.weights[first + p]
            raised, trial, spare = _estimate_with(places, heir, trial, size, spare, grown, desk, limits)
        if settle(places, here, heir, leaf, as_leaf, as_tree, raised):
            _give(places, here, pool, grown)
            pool, end, spare = _send_down(places, here, pool, end, spare, grown, desk, limits)
            waiting[n] = here
            n += 1


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
        np.zeros(n, dtype=np.int64),
        np.zeros(n, dtype=np.bool_),
        tree.counts.astype(np.float64),  # where no case comes, all stays as it is
        tree.outcome.astype(np.int32),
        tree.stop.astype(np.int8),
        np.zeros(n),
        np.zeros(n),
        np.zeros(n, dtype=np.bool_),
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
    pool = Cases(order.astype(np.int32), weights)
    limits = Limits(float(confidence), squared_deviate(confidence))
    prune_divided_kernel(grown, places, pool, desk, leaf, raising, limits)
    return rebuilt(
        tree,
        places.source,
        counts=places.counts,
        outcome=places.outcome,
        stop=places.stop,
        estimate=places.estimate,
    )
