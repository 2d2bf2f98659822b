"""Bucketed search for many cases: the best threshold without sorting, for two classes and the Gini index.

Cases are counted in buckets of adjacent codes. Cuts between two buckets are compared at once; a bucket is refined only
if a cut inside it may be the best. Inside a bucket the weights on the left lie in a rectangle, and the gain is a convex
function of them: its maximum is at a corner. A bucket survives if a corner reaches the limit.
"""

from __future__ import annotations

import numpy as np

from treewright.counts.compiled.bits import number_of
from treewright.counts.compiled.flags import Array, Number, inlined_internal, internal
from treewright.counts.compiled.lanes import LANES
from treewright.grow.compiled.packs import cases_in, is_narrow, weights_in, widened
from treewright.grow.compiled.sorting import sort_by_bytes
from treewright.grow.compiled.unsorted import (
    MOST_BITS,
    NO_CUT,
    PAIRWISE_CASES,
    CutBuffers,
    Node,
    add_candidate,
    add_few_candidates,
    bits_at_least,
    gain_bits,
    pairwise_gains,
    threshold,
)

PER_BUCKET = 3
"""A bucket has about 2 ** 3 cases."""


@inlined_internal
def count_buckets(
    codes: Array, low: Number, high: Number, node: Node, sums: Array, borders: Array, span: Array, buffers: CutBuffers
) -> Number:
    """Count the cases of a node in buckets; return the bits of the greatest gain of a cut between two.

    Parameters
    ----------
    codes : array of int
        Of an attribute.
    low, high : int
        Bounds of the codes of the node.
    node : Node
    sums, borders, span : array of int
        Output: rows of the buffers of these names.
    buffers : CutRoom
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
            buffers.tally[bucket] = 0
        _count(codes, low, shift, node, buffers.narrow, buffers.tally)
        for bucket in range(n):
            before += widened(buffers.tally[bucket])
            sums[bucket + 1] = before
    else:
        for bucket in range(n):
            buffers.wide_tally[bucket] = 0
        _count(codes, low, shift, node, buffers.wide, buffers.wide_tally)
        for bucket in range(n):
            before += buffers.wide_tally[bucket]
            sums[bucket + 1] = before
    greatest = NO_CUT
    # Invariant: `greatest` is the greatest gain of a cut before `bucket`.
    for bucket in range(n):
        packed_sum = sums[bucket + 1]
        one, two = weights_in(packed_sum)
        borders[bucket] = gain_bits(cases_in(packed_sum), one, two, node)
        greatest = max(greatest, borders[bucket])
    return greatest


@inlined_internal
def _count(codes: Array, low: Number, shift: Number, node: Node, packed: Array, tally: Array) -> None:
    for p in range(node.size):
        code = np.int64(codes[np.uint64(node.cases[np.uint64(node.first + p)])])
        tally[np.uint64((code - low) >> shift)] += packed[p]


@inlined_internal
def _find_surviving_buckets(sums: Array, n: Number, limit: Number, node: Node, surviving: Array) -> Number:
    """Flag the buckets of more than one case with a cut that may reach a limit; return their number."""
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
        surviving[bucket] = here
        found += np.int64(here)
    return found


@inlined_internal
def refine_buckets(
    codes: Array,
    sums: Array,
    borders: Array,
    span: Array,
    greatest: Number,
    limit: Number,
    node: Node,
    buffers: CutBuffers,
) -> tuple[Number, Number]:
    """Collect the cuts of an attribute, between and inside buckets, that reach a limit, which rises with them.

    Parameters
    ----------
    codes : array of int
    sums, borders, span : array of int
        As `count_buckets` left them.
    greatest : int
        Bits of the greatest gain of a cut between buckets.
    limit : float
        Least gain of a candidate.
    node, buffers

    Returns
    -------
    n_candidates, limit
    """
    low, shift, n = span[0], span[1], span[2]
    n_candidates = np.int64(0)
    if greatest >= bits_at_least(limit):
        least = bits_at_least(limit)
        for bucket in range(n):
            if borders[bucket] >= least:
                packed_sum = sums[bucket + 1]
                cut = low + ((np.int64(bucket) + 1) << shift) - 1
                one, two = weights_in(packed_sum)
                n_candidates = add_candidate(one, two, cut, node, n_candidates, buffers)
    if shift == 0 or _find_surviving_buckets(sums, n, limit, node, buffers.surviving) == 0:
        return n_candidates, limit
    _gather_surviving(codes, sums, low, shift, n, node, buffers)
    at = np.int64(0)
    # Invariant: the cases of surviving buckets before `bucket` end at `at`; no cut below `limit` can be the best.
    for bucket in range(n):
        if not buffers.surviving[bucket]:
            continue
        before = sums[bucket]
        size = cases_in(sums[bucket + 1]) - cases_in(before)
        if size <= PAIRWISE_CASES:
            best = pairwise_gains(at, size, before, node, buffers.packed, buffers)
            if best >= bits_at_least(limit):
                limit = max(limit, threshold(number_of(best), node))
                n_candidates = add_few_candidates(at, size, before, limit, node, n_candidates, buffers)
        else:
            n_candidates, limit = _refine_large_bucket(at, size, before, limit, node, n_candidates, buffers)
        at += size
    return n_candidates, limit


@inlined_internal
def _gather_surviving(
    codes: Array, sums: Array, low: Number, shift: Number, n: Number, node: Node, buffers: CutBuffers
) -> None:
    """Copy codes and counts of the cases in surviving buckets, bucket by bucket."""
    surviving, positions = buffers.surviving, buffers.positions
    total = np.int64(0)
    for bucket in range(n):
        positions[bucket] = total
        if surviving[bucket]:
            total += cases_in(sums[bucket + 1]) - cases_in(sums[bucket])
    for p in range(node.size):
        code = codes[np.uint64(node.cases[np.uint64(node.first + p)])]
        own = np.uint64((np.int64(code) - low) >> shift)
        if surviving[own]:
            index = positions[own]
            positions[own] = index + 1
            buffers.codes[np.uint64(index)] = code
            buffers.packed[np.uint64(index)] = buffers.narrow[p]
    for lane in range(LANES):
        buffers.packed[total + lane] = 0


@internal
def _refine_large_bucket(
    at: Number, size: Number, before: Number, limit: Number, node: Node, n_candidates: Number, buffers: CutBuffers
) -> tuple[Number, Number]:
    """Collect the cuts among many cases of a bucket that reach a limit; the cases are sorted."""
    keys, packed = buffers.sort.keys, buffers.sort.cases
    for k in range(size):
        keys[0, k] = np.uint64(buffers.codes[at + k])
        packed[0, k] = buffers.packed[at + k]
    row = sort_by_bytes(keys, packed, size, buffers.sort.counts)
    left = before
    # Invariant: `left` holds the counts of all cases before the k-th of the bucket.
    for k in range(size - 1):
        left += widened(packed[row, k])
        if keys[row, k] == keys[row, k + 1]:
            continue
        one, two = weights_in(left)
        gain = gain_bits(cases_in(left), one, two, node)
        if gain >= bits_at_least(limit):
            limit = max(limit, threshold(number_of(gain), node))
            n_candidates = add_candidate(one, two, np.int64(keys[row, k]), node, n_candidates, buffers)
    return n_candidates, limit
