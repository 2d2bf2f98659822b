"""Which cuts a node of a tree of numbers may get: the best of every attribute that is drawn, found without sorting.

After an attribute has a cut, others are looked at only as far as theirs may be better.
"""

from __future__ import annotations

import numpy as np

from treewright.counts.compiled.bits import number_of
from treewright.counts.compiled.flags import Array, Number, part
from treewright.counts.compiled.lanes import LANES
from treewright.grow.compiled.arithmetic import decrease
from treewright.grow.compiled.blocks import Found
from treewright.grow.compiled.buckets import count_buckets, look_inside
from treewright.grow.compiled.drawing import shuffle
from treewright.grow.compiled.examine import ascend
from treewright.grow.compiled.options import DIVIDED
from treewright.grow.compiled.unsorted import FEW, CutRoom, Node, compare_few, note_few, settle, threshold

NO_LIMIT = -1.0
"""Every cut is worth more."""


@part
def examine_unsorted(
    node: Node,
    codes: Array,
    low: Array,
    high: Array,
    key: np.uint64,
    opt: Array,
    order: Array,
    room: CutRoom,
    found: Found,
) -> None:
    """Find the best cut of the attributes that are drawn, and of further ones until there is any cut.

    Attributes whose cuts cannot be chosen because another has a better one stay without.
    """
    n = np.int64(len(order))
    drawn = opt["drawn"]
    for a in range(n):
        found.state[a] = -1
    shuffle(key, order, n)
    ascend(order, drawn)
    if node.size <= FEW:
        _examine_few(node, codes, low, high, opt, order, room, found)
        return
    start, end = np.int64(0), np.int64(drawn)
    divided = opt["missing"] == DIVIDED
    while start < n:
        if _examine_many(node, codes, low, high, divided, order, start, end, room, found):
            return
        start, end = end, end + 1


@part
def _examine_few(
    node: Node,
    codes: Array,
    low: Array,
    high: Array,
    opt: Array,
    order: Array,
    room: CutRoom,
    found: Found,
) -> None:
    """Find the best cuts of a node of few cases, one attribute after the other."""
    nothing = np.int64(0)
    weight = node.one + node.two
    perfect = decrease(node.before, 0.0, weight, weight)
    limit = NO_LIMIT
    considered = False
    for lane in range(LANES):
        room.narrow[node.size + lane] = 0
    for place in range(len(order)):
        if place >= opt["drawn"] and considered:
            return
        a = order[place]
        if low[a] == high[a]:
            continue
        column = codes[a]
        for p in range(node.size):
            room.codes[p] = column[np.uint64(node.cases[np.uint64(node.first + p)])]
        best = compare_few(nothing, node.size, nothing, node, room.narrow, room)
        if best < 0:
            continue
        considered = True
        worth = number_of(best)
        if worth < limit:
            continue
        limit = max(limit, threshold(worth, node))
        noted = note_few(nothing, node.size, nothing, limit, node, nothing, room)
        settle(a, noted, node, opt["missing"] == DIVIDED, room, found)
        if found.score[a] >= perfect:
            return


@part
def _examine_many(
    node: Node,
    codes: Array,
    low: Array,
    high: Array,
    divided: bool,
    order: Array,
    start: Number,
    end: Number,
    room: CutRoom,
    found: Found,
) -> bool:
    """Find the best cuts of some attributes of a node of many cases; say whether there are any.

    All are counted before any is looked into: the best cut between buckets spares most buckets of the others.
    """
    greatest = room.greatest
    first = np.int64(0)
    for k in range(end - start):
        a = order[start + k]
        greatest[k] = -1
        if low[a] < high[a]:
            greatest[k] = count_buckets(
                codes[a], np.int64(low[a]), np.int64(high[a]), node, room.sums[k], room.borders[k], room.spans[k], room
            )
        if greatest[k] > greatest[first]:
            first = np.int64(k)
    limit = threshold(number_of(greatest[first]), node) if greatest[first] >= 0 else NO_LIMIT
    any_ = False
    for turn in range(end - start):
        k = (first + turn) % (end - start)
        a = order[start + k]
        if low[a] < high[a]:
            noted, limit = look_inside(
                codes[a], room.sums[k], room.borders[k], room.spans[k], greatest[k], limit, node, room
            )
            if noted > 0:
                settle(a, noted, node, divided, room, found)
                any_ = True
    return any_
