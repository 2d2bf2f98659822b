"""Bucketed search: the best threshold of a numeric attribute without sorting, for two classes and the Gini index.

Bit-packed counts of a set of cases of two classes. The number of cases and the weights of both classes are bit fields
of one integer, so that counts are added by one addition. Narrow counts have 32 bits, wide counts 64. Invariant: no
field overflows (`is_narrow`, `WIDE`).

Bucketed search for few cases: the best threshold by pairwise comparison, for two classes and the Gini index. Each case
is compared with each by SIMD operations; larger nodes are searched by buckets. The code of a value is its rank in the
column; a cut is the greatest code that goes left. With the weights l0 and l1 of both classes on the left and t0 and t1
in all, the gain (`gain`) of a cut is (l1 t0 - l0 t1)^2 / (weight of the left * weight of the right). The decrease of
the Gini impurity is twice that, divided by the squared weight of the node. Cuts that may be the best are collected as
candidates and scored as everywhere else, with the same rounding.

Bucketed search for many cases: the best threshold without sorting, for two classes and the Gini index. Cases are
counted in buckets of adjacent codes. Cuts between two buckets are compared at once; a bucket is refined only if a cut
inside it may be the best. Inside a bucket the weights on the left lie in a rectangle, and the gain is a convex function
of them: its maximum is at a corner. A bucket survives if a corner reaches the limit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treewright.arrays import (
    Boolean,
    Classes,
    Codes,
    DoubleBits,
    Flags,
    Integer,
    Integers,
    NarrowCounts,
    PackedCounts,
    Positions,
    Real,
    Rows,
    Scores,
    Weights,
    WideCounts,
)
from treewright.intrinsics import LANES, bits_of, number_of, sum_not_above
from treewright.jit import inlined_internal, internal, no_alloc_kernel
from treewright.learners.candidates import SHORT
from treewright.learners.kernels.score import decrease
from treewright.learners.kernels.sort import SortBuffers, new_sort_buffers, sort_by_bytes
from treewright.learners.kernels.workspace import BestTests

NARROW_CASES, NARROW_WEIGHT = 1 << 10, 1 << 11
"""Narrow counts hold fewer cases than this, and less weight of each class."""

WIDE = 1 << 21
"""Wide counts hold less than this of each."""

_CASES32, _WEIGHT32 = np.int32(NARROW_CASES - 1), np.int32(NARROW_WEIGHT - 1)
_FIRST32, _SECOND32 = np.int32(10), np.int32(21)
_FIELD = np.int64(WIDE - 1)
_FIRST, _SECOND = np.int64(21), np.int64(42)


def packed_counts(target: Classes, weights: Weights, rows: Rows) -> NarrowCounts:
    """Return the narrow counts of every row of a table: zero except for `rows`.

    `weights` are those of `rows`, empty where each weighs one.

    Examples
    --------
    >>> [f"{packed_sum:b}" for packed_sum in packed_counts(np.array([0, 1, 1]), np.array([1.0, 3.0]), np.array([0, 2]))]
    ['10000000001', '0', '11000000000000000000001']
    """
    packed = np.zeros(len(target), dtype=np.int32)
    _fill(target, weights, rows, packed)
    return packed


@no_alloc_kernel
def _fill(target: Classes, weights: Weights, rows: Rows, packed: NarrowCounts) -> None:
    for k in range(len(rows)):
        row = np.uint64(rows[k])
        weight = np.int32(weights[k]) if len(weights) > 0 else np.int32(1)
        packed[row] = np.int32(1) + (weight << (_FIRST32 if target[row] == 0 else _SECOND32))


@internal
def is_narrow(cases: Integer, weight: Real) -> Boolean:
    """Return True if so many cases of this weight fit into narrow counts."""
    return cases < NARROW_CASES and weight < NARROW_WEIGHT


@internal
def cases_in(packed_sum: Integer) -> Integer:
    """Return the number of cases in wide counts."""
    return packed_sum & _FIELD


@internal
def weights_in(packed_sum: Integer) -> tuple[Real, Real]:
    """Return the weights of both classes in wide counts."""
    return np.float64((packed_sum >> _FIRST) & _FIELD), np.float64(packed_sum >> _SECOND)


@internal
def cases_in_narrow(packed_sum: Integer) -> Integer:
    """Return the number of cases in narrow counts."""
    return np.int64(packed_sum & _CASES32)


@internal
def weights_in_narrow(packed_sum: Integer) -> tuple[Real, Real]:
    """Return the weights of both classes in narrow counts."""
    return np.float64((packed_sum >> _FIRST32) & _WEIGHT32), np.float64((packed_sum >> _SECOND32) & _WEIGHT32)


@internal
def widened(packed_sum: Integer) -> Integer:
    """Return narrow counts as wide counts."""
    cases, one, two = packed_sum & _CASES32, (packed_sum >> _FIRST32) & _WEIGHT32, (packed_sum >> _SECOND32) & _WEIGHT32
    return np.int64(cases) | np.int64(one) << _FIRST | np.int64(two) << _SECOND


PAIRWISE_CASES = 64
"""Up to this many cases are compared pairwise."""

HEAVIEST = 31
"""Greatest weight of a case: the counts of `PAIRWISE_CASES` cases are narrow."""

MOST_BITS = 11
"""There are up to 2 ** 11 buckets."""

TIES = 3e-9
ROUNDED = 2e-11
"""Cuts tie if their scores differ by 1e-9, and a decrease below 1e-11 of the impurity, which is at most half of the
weight, is zero: a gain that is less by these shares of it and of the squared weight may tie with the best."""

NO_CUT = np.int64(-1)
"""Instead of the bits of a gain: the cut is not admissible."""


class CutBuffers(NamedTuple):
    """Buffers of the bucketed search for thresholds.

    Parameters
    ----------
    narrow, wide : array of int
        Counts of the cases of a node; wide ones where its sum is wide.
    tally, wide_tally : array of int
        Counts of buckets.
    sums : array of int, attributes x buckets + 1
        Counts of all cases before a bucket.
    borders : array of int, attributes x buckets
        Bits of the gain of the cut after a bucket.
    spans : array of int, attributes x 3
        Least code of the first bucket, low bits of a code within a bucket, and number of buckets.
    greatest : array of int
        By attribute, bits of the greatest gain.
    surviving : array of bool
    positions : array of int
        Next index of the cases of a bucket.
    codes, packed : array of int
        Cases that are compared.
    lefts, gains : array of int
        Of few cases: counts of all that are not above, and bits of the gain of a cut after it.
    scores, cuts, weights : array
        Of the candidate cuts, with the weight on the left.
    sort : SortBuffers
    """

    narrow: NarrowCounts
    wide: WideCounts
    tally: NarrowCounts
    wide_tally: WideCounts
    sums: WideCounts
    borders: DoubleBits
    spans: Integers
    greatest: DoubleBits
    surviving: Flags
    positions: Positions
    codes: Codes
    packed: NarrowCounts
    lefts: NarrowCounts
    gains: DoubleBits
    scores: Scores
    cuts: Codes
    weights: Weights
    sort: SortBuffers


def new_cut_buffers(n_cases: int, n_together: int) -> CutBuffers:
    """Allocate buffers for nodes of `n_cases`, and for `n_together` attributes at once."""
    buckets, padded = 1 << MOST_BITS, n_cases + PAIRWISE_CASES + LANES
    candidates = n_cases + buckets
    return CutBuffers(
        np.zeros(padded, dtype=np.int32),
        np.empty(n_cases, dtype=np.int64),
        np.empty(buckets, dtype=np.int32),
        np.empty(buckets, dtype=np.int64),
        np.zeros((n_together, buckets + 1), dtype=np.int64),
        np.empty((n_together, buckets), dtype=np.int64),
        np.empty((n_together, 3), dtype=np.int64),
        np.empty(n_together, dtype=np.int64),
        np.empty(buckets, dtype=np.bool_),
        np.empty(buckets, dtype=np.int64),
        np.zeros(padded, dtype=np.int32),
        np.zeros(padded, dtype=np.int32),
        np.empty(PAIRWISE_CASES, dtype=np.int32),
        np.empty(PAIRWISE_CASES, dtype=np.int64),
        np.empty(candidates),
        np.empty(candidates, dtype=np.int64),
        np.empty(candidates),
        new_sort_buffers(n_cases),
    )


class Node(NamedTuple):
    """A node: what the search needs for each of its attributes.

    Parameters
    ----------
    cases : array of int
        Cases of all nodes.
    first, size : int
        Its slice of them.
    one, two : float
        Weight of each class.
    before : float
        Impurity times weight.
    min_leaf, least : float
        Least number of cases and least weight of each side.
    """

    cases: Rows
    first: Integer
    size: Integer
    one: Real
    two: Real
    before: Real
    min_leaf: Integer
    least: Real


@inlined_internal
def gather_counts(
    cases: Rows, first: Integer, size: Integer, packed: NarrowCounts, buffers: CutBuffers
) -> tuple[Real, Real]:
    """Collect the counts of the cases of a node; return the weights of both classes."""
    narrow, wide = buffers.narrow, buffers.wide
    total = np.int64(0)
    for p in range(size):
        packed_sum = packed[np.uint64(cases[np.uint64(first + p)])]
        narrow[p] = packed_sum
        total += widened(packed_sum)
    one, two = weights_in(total)
    if not is_narrow(size, one + two):
        for p in range(size):
            wide[p] = widened(narrow[p])
    return one, two


@inlined_internal
def threshold(gain: Real, node: Node) -> Real:
    """Return the least gain that ties with this gain, or is better."""
    weight = node.one + node.two
    return gain * (1 - TIES) - ROUNDED * weight * weight


@internal
def bits_at_least(limit: Real) -> Integer:
    """Return the bits of the least gain that reaches a limit: bits of gains order like the gains."""
    return bits_of(limit) if limit > 0 else np.int64(0)


@inlined_internal
def gain_bits(cases: Integer, one: Real, two: Real, node: Node) -> Integer:
    """Return the bits of the gain of a cut with these counts on the left, `NO_CUT` where it is not admissible."""
    left = one + two
    right = node.one + node.two - left
    allowed = (
        (cases >= node.min_leaf) & (node.size - cases >= node.min_leaf) & (left >= node.least) & (right >= node.least)
    )
    difference = two * node.one - one * node.two
    return bits_of(difference * difference / (left * right)) if allowed else NO_CUT


@inlined_internal
def pairwise_gains(
    at: Integer, size: Integer, before: Integer, node: Node, packed: NarrowCounts, buffers: CutBuffers
) -> Integer:
    """Compute the gains of the cuts among few cases; return the bits of the greatest.

    Parameters
    ----------
    at, size : int
        Index of the first case in ``buffers.codes`` and `packed`, and number of cases; what follows has higher codes or
        empty counts.
    before : int
        Wide counts of the cases on the left of all of them.
    node : Node
    packed : array of int
        Narrow counts.
    buffers : CutBuffers
    """
    lefts, gains = buffers.lefts, buffers.gains
    begin, n = np.uint64(at), np.uint64(size)
    # Invariant: `lefts[:own]` holds, for each case, the counts of all cases whose code is not greater.
    for own in range(0, size, LANES):
        sum_not_above(buffers.codes, begin, packed, begin, np.uint64(own), n, lefts)
    cases = cases_in(before)
    one, two = weights_in(before)
    greatest = NO_CUT
    for i in range(size):
        more_one, more_two = weights_in_narrow(lefts[i])
        gains[i] = gain_bits(cases + cases_in_narrow(lefts[i]), one + more_one, two + more_two, node)
        greatest = max(greatest, gains[i])
    return greatest


@inlined_internal
def add_pairwise_candidates(
    at: Integer, size: Integer, before: Integer, limit: Real, node: Node, n_candidates: Integer, buffers: CutBuffers
) -> Integer:
    """Add the cuts whose gains, by `pairwise_gains`, reach a limit; return the number of candidates."""
    least = bits_at_least(limit)
    one, two = weights_in(before)
    for i in range(size):
        if buffers.gains[i] >= least:
            more_one, more_two = weights_in_narrow(buffers.lefts[i])
            n_candidates = add_candidate(
                one + more_one, two + more_two, np.int64(buffers.codes[at + i]), node, n_candidates, buffers
            )
    return n_candidates


@inlined_internal
def add_candidate(
    one: Real, two: Real, cut: Integer, node: Node, n_candidates: Integer, buffers: CutBuffers
) -> Integer:
    """Add a cut to the candidates, with its score in the arithmetic of `sorted_scan.scan_cuts`."""
    left = one + two
    weight = node.one + node.two
    right = weight - left
    other_one, other_two = node.one - one, node.two - two
    after = (left - (one * one + two * two) / left) + (right - (other_one * other_one + other_two * other_two) / right)
    buffers.scores[n_candidates] = decrease(node.before, after, weight, weight)
    buffers.cuts[n_candidates] = cut
    buffers.weights[n_candidates] = left
    return n_candidates + 1


@inlined_internal
def finalise(
    a: Integer, n_candidates: Integer, node: Node, fractional: bool, buffers: CutBuffers, found: BestTests
) -> None:
    """Write the lowest of the candidates that tie with the best to `found`.

    No value is missing here; at prediction a missing value becomes fractional cases or follows the heavier branch.
    """
    scores, cuts = buffers.scores, buffers.cuts
    best = scores[0]
    for k in range(1, n_candidates):
        best = max(best, scores[k])
    limit = best - 1e-9 * abs(best)
    lowest = -1
    # Invariant: `lowest` is the lowest cut among the candidates before k that tie with the best, -1 if there is none.
    for k in range(n_candidates):
        if scores[k] >= limit and (lowest < 0 or cuts[k] < cuts[lowest]):
            lowest = k
    found.state[a] = 1
    found.score[a] = scores[lowest]
    found.low[a] = cuts[lowest]
    left = buffers.weights[lowest]
    heavier = np.int64(0) if left >= (node.one + node.two - left) * SHORT else np.int64(1)
    found.missing_branch[a] = np.int64(-1) if fractional else heavier


PER_BUCKET = 3
"""A bucket has about 2 ** 3 cases."""


@inlined_internal
def count_buckets(
    codes: Codes,
    low: Integer,
    high: Integer,
    node: Node,
    sums: WideCounts,
    borders: DoubleBits,
    span: Integers,
    buffers: CutBuffers,
) -> Integer:
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
    buffers : CutBuffers
    """
    # At most 2 ** bits buckets have about 2 ** PER_BUCKET cases each; the bucket of a code leaves out `shift` low bits.
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
        # Invariant: `before` is the sum of the counts of the buckets before `bucket`; in the other branch, too.
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
def _count(codes: Codes, low: Integer, shift: Integer, node: Node, packed: PackedCounts, tally: PackedCounts) -> None:
    for p in range(node.size):
        code = np.int64(codes[np.uint64(node.cases[np.uint64(node.first + p)])])
        tally[np.uint64((code - low) >> shift)] += packed[p]


@inlined_internal
def _find_surviving_buckets(sums: WideCounts, n: Integer, limit: Real, node: Node, surviving: Flags) -> Integer:
    """Flag the buckets of more than one case with a cut that may reach a limit; return their number."""
    weight = node.one + node.two
    found = np.int64(0)
    # In a bucket the weights of both classes on the left lie in a rectangle, and the greatest gain is at a corner. Two
    # corners are the borders of the bucket; at the others all cases of one class are on the left and none of the other.
    # Invariant: `found` buckets before `bucket` survive.
    for bucket in range(n):
        begin, end = sums[bucket], sums[bucket + 1]
        low_one, low_two = weights_in(begin)
        high_one, high_two = weights_in(end)
        difference = low_two * node.one - high_one * node.two
        other_difference = high_two * node.one - low_one * node.two
        left, other_left = high_one + low_two, low_one + high_two
        survives = (difference * difference >= limit * (left * (weight - left))) | (
            other_difference * other_difference >= limit * (other_left * (weight - other_left))
        )
        survives &= cases_in(end) - cases_in(begin) > 1
        surviving[bucket] = survives
        found += np.int64(survives)
    return found


@inlined_internal
def refine_buckets(
    codes: Codes,
    sums: WideCounts,
    borders: DoubleBits,
    span: Integers,
    greatest: Integer,
    limit: Real,
    node: Node,
    buffers: CutBuffers,
) -> tuple[Integer, Real]:
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
    n_candidates: Integer = np.int64(0)
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
                n_candidates = add_pairwise_candidates(at, size, before, limit, node, n_candidates, buffers)
        else:
            n_candidates, limit = _refine_large_bucket(at, size, before, limit, node, n_candidates, buffers)
        at += size
    return n_candidates, limit


@inlined_internal
def _gather_surviving(
    codes: Codes, sums: WideCounts, low: Integer, shift: Integer, n: Integer, node: Node, buffers: CutBuffers
) -> None:
    """Copy codes and counts of the cases in surviving buckets, bucket by bucket."""
    surviving, positions = buffers.surviving, buffers.positions
    total = np.int64(0)
    for bucket in range(n):
        positions[bucket] = total
        if surviving[bucket]:
            total += cases_in(sums[bucket + 1]) - cases_in(sums[bucket])
    # Invariant: the next case of a surviving bucket goes to index `positions` of that bucket.
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
    at: Integer, size: Integer, before: Integer, limit: Real, node: Node, n_candidates: Integer, buffers: CutBuffers
) -> tuple[Integer, Real]:
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
