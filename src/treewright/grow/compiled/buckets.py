"""The best cut of many cases by a numeric attribute without sorting them: for two classes and Gini's measure.

Cases are counted in buckets of codes that lie next to each other. A cut between two buckets is compared at once; a
bucket is looked into only if one of the cuts inside it may be the best.

Vocabulary
----------
corner
    Inside a bucket the weights on the left lie in a rectangle, and worth is a convex function of them: it is nowhere
    more than at the corners.
alive
    A bucket with a corner that is worth enough.
"""

from __future__ import annotations

import numpy as np

from treewright.counts.compiled.bits import number_of
from treewright.counts.compiled.flags import Array, Number, inlined_internal, internal
from treewright.counts.compiled.lanes import LANES
from treewright.grow.compiled.packs import cases_in, is_narrow, weights_in, widened
from treewright.grow.compiled.sorting import sort_by_bytes
from treewright.grow.compiled.unsorted import (
    FEW,
    MOST_BITS,
    NO_CUT,
    CutRoom,
    Node,
    bits_at_least,
    compare_few,
    note,
    note_few,
    threshold,
    worth_bits,
)

PER_BUCKET = 3
"""About 2 ** 3 cases come into a bucket."""


@inlined_internal
def count_buckets(
    codes: Array, low: Number, high: Number, node: Node, sums: Array, borders: Array, span: Array, room: CutRoom
) -> Number:
    """Count the cases of a node in buckets; return the bits of the greatest worth of a cut between two.

    Parameters
    ----------
    codes : array of int
        Of an attribute.
    low, high : int
        No code of the node is outside of these.
    node : Node
    sums, borders, span : array of int
        Rows of those of the room, to be filled.
    room : CutRoom
    """
    bits = shift = np.int64(0)
    while node.size >> (bits + PER_BUCKET) > 0 and bits < MOST_BITS:
        bits += 1
    while (high - low) >> shift >> bits > 0:
        shift += 1
    n = ((high - low) >> shift) + 1
    span[0], span[1], span[2] = low, shift, n
    before = np.int64(0)
    if is_narrow(node.size, node.one + node.two):
        for bucket in range(n):
            room.tally[bucket] = 0
        _count(codes, low, shift, node, room.narrow, room.tally)
        for bucket in range(n):
            before += widened(room.tally[bucket])
            sums[bucket + 1] = before
    else:
        for bucket in range(n):
            room.wide_tally[bucket] = 0
        _count(codes, low, shift, node, room.wide, room.wide_tally)
        for bucket in range(n):
            before += room.wide_tally[bucket]
            sums[bucket + 1] = before
    greatest = NO_CUT
    for bucket in range(n):
        pack = sums[bucket + 1]
        one, two = weights_in(pack)
        borders[bucket] = worth_bits(cases_in(pack), one, two, node)
        greatest = max(greatest, borders[bucket])
    return greatest


@inlined_internal
def _count(codes: Array, low: Number, shift: Number, node: Node, packs: Array, tally: Array) -> None:
    for p in range(node.size):
        code = np.int64(codes[np.uint64(node.cases[np.uint64(node.first + p)])])
        tally[np.uint64((code - low) >> shift)] += packs[p]


@inlined_internal
def _find_alive(sums: Array, n: Number, limit: Number, node: Node, alive: Array) -> Number:
    """Find the buckets of more than one case with a cut that may reach a limit; return how many there are."""
    weight = node.one + node.two
    found = np.int64(0)
    for bucket in range(n):
        begin, end = sums[bucket], sums[bucket + 1]
        low_one, low_two = weights_in(begin)
        high_one, high_two = weights_in(end)
        apart = low_two * node.one - high_one * node.two
        other = high_two * node.one - low_one * node.two
        left, other_left = high_one + low_two, low_one + high_two
        here = (apart * apart >= limit * (left * (weight - left))) | (
            other * other >= limit * (other_left * (weight - other_left))
        )
        here &= cases_in(end) - cases_in(begin) > 1
        alive[bucket] = here
        found += np.int64(here)
    return found


@inlined_internal
def look_inside(
    codes: Array,
    sums: Array,
    borders: Array,
    span: Array,
    greatest: Number,
    limit: Number,
    node: Node,
    room: CutRoom,
) -> tuple[Number, Number]:
    """Note the cuts of an attribute, between and inside buckets, that reach a limit, which rises with them.

    Parameters
    ----------
    codes : array of int
    sums, borders, span : array of int
        As `count_buckets` left them.
    greatest : int
        Bits of the greatest worth of a cut between buckets.
    limit : float
        What a cut must be worth.
    node, room

    Returns
    -------
    noted, limit
    """
    low, shift, n = span[0], span[1], span[2]
    noted = np.int64(0)
    if greatest >= bits_at_least(limit):
        least = bits_at_least(limit)
        for bucket in range(n):
            if borders[bucket] >= least:
                pack = sums[bucket + 1]
                cut = low + ((np.int64(bucket) + 1) << shift) - 1
                one, two = weights_in(pack)
                noted = note(one, two, cut, node, noted, room)
    if shift == 0 or _find_alive(sums, n, limit, node, room.alive) == 0:
        return noted, limit
    _put_together(codes, sums, low, shift, n, node, room)
    at = np.int64(0)
    for bucket in range(n):
        if not room.alive[bucket]:
            continue
        before = sums[bucket]
        size = cases_in(sums[bucket + 1]) - cases_in(before)
        if size <= FEW:
            best = compare_few(at, size, before, node, room.packs, room)
            if best >= bits_at_least(limit):
                limit = max(limit, threshold(number_of(best), node))
                noted = note_few(at, size, before, limit, node, noted, room)
        else:
            noted, limit = _look_at_many(at, size, before, limit, node, noted, room)
        at += size
    return noted, limit


@inlined_internal
def _put_together(codes: Array, sums: Array, low: Number, shift: Number, n: Number, node: Node, room: CutRoom) -> None:
    """Put codes and packs of the cases in buckets that are alive together, bucket by bucket."""
    alive, places = room.alive, room.places
    total = np.int64(0)
    for bucket in range(n):
        places[bucket] = total
        if alive[bucket]:
            total += cases_in(sums[bucket + 1]) - cases_in(sums[bucket])
    for p in range(node.size):
        code = codes[np.uint64(node.cases[np.uint64(node.first + p)])]
        own = np.uint64((np.int64(code) - low) >> shift)
        if alive[own]:
            place = places[own]
            places[own] = place + 1
            room.codes[np.uint64(place)] = code
            room.packs[np.uint64(place)] = room.narrow[p]
    for lane in range(LANES):
        room.packs[total + lane] = 0


@internal
def _look_at_many(
    at: Number, size: Number, before: Number, limit: Number, node: Node, noted: Number, room: CutRoom
) -> tuple[Number, Number]:
    """Note the cuts among many cases of a bucket that reach a limit: these are sorted."""
    keys, packs = room.sort.keys, room.sort.cases
    for k in range(size):
        keys[0, k] = np.uint64(room.codes[at + k])
        packs[0, k] = room.packs[at + k]
    turn = sort_by_bytes(keys, packs, size, room.sort.counts)
    left = before
    for k in range(size - 1):
        left += widened(packs[turn, k])
        if keys[turn, k] == keys[turn, k + 1]:
            continue
        one, two = weights_in(left)
        worth = worth_bits(cases_in(left), one, two, node)
        if worth >= bits_at_least(limit):
            limit = max(limit, threshold(number_of(worth), node))
            noted = note(one, two, np.int64(keys[turn, k]), node, noted, room)
    return noted, limit
