"""Find the best test of every sampled attribute of a node by bucketed search.

After one attribute has a test, others are searched only as far as their gain may be greater.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treewright.counts.compiled.bits import number_of
from treewright.counts.compiled.flags import Array, Number, inlined_internal
from treewright.counts.compiled.lanes import LANES
from treewright.grow.compiled.arithmetic import decrease
from treewright.grow.compiled.blocks import Found, Rules
from treewright.grow.compiled.buckets import count_buckets, look_inside
from treewright.grow.compiled.drawing import shuffle
from treewright.grow.compiled.examine import ascend
from treewright.grow.compiled.options import CUT, DIVIDED, NOT_TESTED
from treewright.grow.compiled.unsorted import FEW, CutRoom, Node, compare_few, note_few, settle, threshold
from treewright.grow.compiled.unsorted_values import SetRoom, divide_by_share

NO_LIMIT = -1.0
"""Below every gain."""


TOGETHER = 32
"""Number of attributes that are counted before any of them is refined."""


class Looked(NamedTuple):
    """The codes of a node, and their bounds.

    Parameters
    ----------
    codes : array of int, numeric attributes x cases
    values : array of int, nominal attributes x cases
    low, high : array of int
        Bounds of the codes of each numeric attribute at the node.
    """

    codes: Array
    values: Array
    low: Array
    high: Array


@inlined_internal
def examine_unsorted(
    node: Node,
    looked: Looked,
    key: np.uint64,
    rules: Rules,
    order: Array,
    room: CutRoom,
    sets: SetRoom | None,
    found: Found,
) -> None:
    """Find the best tests of the sampled attributes, and of further ones until there is any test.

    An attribute gets no test where another one has a better test.
    """
    n = np.int64(len(order))
    drawn = np.int64(rules.opt[0]["drawn"])
    for a in range(n):
        found.state[a] = -1
    if 0 < drawn < n:
        shuffle(key, order, n)
        ascend(order, drawn)
    else:
        drawn = n
        for a in range(n):
            order[a] = a
    if node.size <= FEW:
        _examine_few(node, looked, rules, order, drawn, room, sets, found)
        return
    start, limit, considered = np.int64(0), NO_LIMIT, False
    # Invariant: the attributes before `start` in `order` are evaluated; no test with a gain below `limit` can be
    # chosen.
    while start < drawn or (start < n and not considered):
        end = min(start + TOGETHER, drawn) if start < drawn else start + 1
        any_, limit = _examine_many(node, looked, rules, order, start, end, limit, room, sets, found)
        considered = considered or any_
        start = end


@inlined_internal
def _examine_few(
    node: Node,
    looked: Looked,
    rules: Rules,
    order: Array,
    drawn: Number,
    room: CutRoom,
    sets: SetRoom | None,
    found: Found,
) -> None:
    """Find the best tests of a node of few cases, one attribute after another."""
    opt = rules.opt[0]
    divided = opt["missing"] == DIVIDED
    nothing = np.int64(0)
    weight = node.one + node.two
    perfect = decrease(node.before, 0.0, weight, weight)
    limit = NO_LIMIT
    considered = False
    for lane in range(LANES):
        room.narrow[node.size + lane] = 0
    for place in range(len(order)):
        if place >= drawn and considered:
            return
        a = order[place]
        if rules.tests[a] == NOT_TESTED:
            continue
        if sets is not None and rules.tests[a] != CUT:
            column = looked.values[sets.slots[a]]
            any_, limit = divide_by_share(a, column, limit, node, divided, rules, room, sets, found)
            considered = considered or any_
        elif looked.low[a] < looked.high[a]:
            numbers = looked.codes[rules.slots[a]]
            for p in range(node.size):
                room.codes[p] = numbers[np.uint64(node.cases[np.uint64(node.first + p)])]
            best = compare_few(nothing, node.size, nothing, node, room.narrow, room)
            if best < 0:
                continue
            considered = True
            worth = number_of(best)
            if worth < limit:
                continue
            limit = max(limit, threshold(worth, node))
            noted = note_few(nothing, node.size, nothing, limit, node, nothing, room)
            settle(a, noted, node, divided, room, found)
        if found.state[a] == 1 and found.score[a] >= perfect:
            return


@inlined_internal
def _examine_many(
    node: Node,
    looked: Looked,
    rules: Rules,
    order: Array,
    start: Number,
    end: Number,
    limit: Number,
    room: CutRoom,
    sets: SetRoom | None,
    found: Found,
) -> tuple[bool, Number]:
    """Find the best tests of some attributes of a node of many cases that reach a limit, which rises.

    Returns whether there are any, and the limit. All attributes are counted before any is refined: the best cut between
    buckets eliminates most buckets of the others.
    """
    divided = rules.opt[0]["missing"] == DIVIDED
    greatest = room.greatest
    first = np.int64(0)
    considered = False
    for k in range(end - start):
        a = order[start + k]
        greatest[k] = -1
        if rules.tests[a] == NOT_TESTED:
            continue
        if sets is not None and rules.tests[a] != CUT:
            column = looked.values[sets.slots[a]]
            any_, limit = divide_by_share(a, column, limit, node, divided, rules, room, sets, found)
            considered = considered or any_
        elif looked.low[a] < looked.high[a]:
            numbers, low, high = looked.codes[rules.slots[a]], np.int64(looked.low[a]), np.int64(looked.high[a])
            greatest[k] = count_buckets(numbers, low, high, node, room.sums[k], room.borders[k], room.spans[k], room)
        if greatest[k] > greatest[first]:
            first = np.int64(k)
    if greatest[first] >= 0:
        limit = max(limit, threshold(number_of(greatest[first]), node))
    for turn in range(end - start):
        k = (first + turn) % (end - start)
        a = order[start + k]
        if rules.tests[a] == CUT and looked.low[a] < looked.high[a]:
            numbers = looked.codes[rules.slots[a]]
            noted, limit = look_inside(
                numbers, room.sums[k], room.borders[k], room.spans[k], greatest[k], limit, node, room
            )
            if noted > 0:
                settle(a, noted, node, divided, room, found)
                considered = True
    return considered, limit
