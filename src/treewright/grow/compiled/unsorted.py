"""Bucketed search for few cases: the best threshold by pairwise comparison, for two classes and the Gini index.

Each case is compared with each, many at once by SIMD; larger nodes are searched by `buckets`. The code of a value is
its rank in the column; a cut is the greatest code that goes left. With the weights l0 and l1 of both classes on the
left and t0 and t1 in all, the gain (`gain`) of a cut is (l1 t0 - l0 t1)^2 / (weight of the left * weight of the
right). The decrease of the Gini impurity is twice that, divided by the squared weight of the node. Cuts that may be the
best are noted as candidates and scored as everywhere else, with the same rounding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treewright.counts.compiled.bits import bits_of
from treewright.counts.compiled.flags import Array, Number, inlined_internal, internal
from treewright.counts.compiled.lanes import LANES, add_not_above
from treewright.grow.candidates import SHORT
from treewright.grow.compiled.arithmetic import decrease
from treewright.grow.compiled.blocks import BestTests
from treewright.grow.compiled.packs import (
    cases_in,
    cases_in_narrow,
    is_narrow,
    weights_in,
    weights_in_narrow,
    widened,
)
from treewright.grow.compiled.sorting import SortBuffers, new_sort_buffers

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
    """Buffers.

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
    sort : SortRoom
    """

    narrow: Array
    wide: Array
    tally: Array
    wide_tally: Array
    sums: Array
    borders: Array
    spans: Array
    greatest: Array
    surviving: Array
    positions: Array
    codes: Array
    packed: Array
    lefts: Array
    gains: Array
    scores: Array
    cuts: Array
    weights: Array
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
    """A node, as the search for each of its attributes sees it.

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

    cases: Array
    first: Number
    size: Number
    one: Number
    two: Number
    before: Number
    min_leaf: Number
    least: Number


@inlined_internal
def weigh(cases: Array, first: Number, size: Number, packed: Array, buffers: CutBuffers) -> tuple[Number, Number]:
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
def threshold(gain: Number, node: Node) -> Number:
    """Return the least gain that ties with this gain, or is better."""
    weight = node.one + node.two
    return gain * (1 - TIES) - ROUNDED * weight * weight


@internal
def bits_at_least(limit: Number) -> Number:
    """Return the bits of the least gain that reaches a limit: bits of gains order like the gains."""
    return bits_of(limit) if limit > 0 else np.int64(0)


@inlined_internal
def gain_bits(cases: Number, one: Number, two: Number, node: Node) -> Number:
    """Return the bits of the gain of a cut with these counts on the left, `NO_CUT` where it is not admissible."""
    left = one + two
    right = node.one + node.two - left
    allowed = (
        (cases >= node.min_leaf) & (node.size - cases >= node.min_leaf) & (left >= node.least) & (right >= node.least)
    )
    apart = two * node.one - one * node.two
    return bits_of(apart * apart / (left * right)) if allowed else NO_CUT


@inlined_internal
def pairwise_gains(at: Number, size: Number, before: Number, node: Node, packed: Array, buffers: CutBuffers) -> Number:
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
    buffers : CutRoom
    """
    lefts, gains = buffers.lefts, buffers.gains
    # Invariant: `lefts[:own]` holds, for each case, the counts of all cases whose code is not greater.
    for own in range(0, size, LANES):
        for lane in range(LANES):
            lefts[own + lane] = 0
        for other in range(0, size, LANES):
            add_not_above(buffers.codes, packed, np.uint64(at + own), np.uint64(at + other), lefts, np.uint64(own))
    cases = cases_in(before)
    one, two = weights_in(before)
    greatest = NO_CUT
    for i in range(size):
        more_one, more_two = weights_in_narrow(lefts[i])
        gains[i] = gain_bits(cases + cases_in_narrow(lefts[i]), one + more_one, two + more_two, node)
        greatest = max(greatest, gains[i])
    return greatest


@inlined_internal
def add_few_candidates(
    at: Number, size: Number, before: Number, limit: Number, node: Node, n_candidates: Number, buffers: CutBuffers
) -> Number:
    """Add the cuts among few cases that reach a limit to the candidates; return the number of candidates."""
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
    one: Number, two: Number, cut: Number, node: Node, n_candidates: Number, buffers: CutBuffers
) -> Number:
    """Add a cut to the candidates, with its score in the arithmetic of `cuts.scan_cuts`."""
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
    a: Number, n_candidates: Number, node: Node, fractional: bool, buffers: CutBuffers, found: BestTests
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
    for k in range(n_candidates):
        if scores[k] >= limit and (lowest < 0 or cuts[k] < cuts[lowest]):
            lowest = k
    found.state[a] = 1
    found.score[a] = scores[lowest]
    found.low[a] = cuts[lowest]
    left = buffers.weights[lowest]
    heavier = np.int64(0) if left >= (node.one + node.two - left) * SHORT else np.int64(1)
    found.missing_branch[a] = np.int64(-1) if fractional else heavier
