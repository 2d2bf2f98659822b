"""Bucketed search for categories: the best partition into two sets without sorting, for two classes and the Gini index.

The best partition is by the share of a class (Breiman): categories whose share is not above that of some category form
one side. So categories are compared pairwise by their shares, as the cases of a small node are by their values
(`bucketed`). The key of a category is the share of the second class as an integer: equal where the shares are, and in
their order. The side of the first category that occurs is the left one.

A partition that separates categories with equal shares gains less than one that keeps them together, since the gain is
convex, by at least the weight of one case. So separation matters only where another partition comes that near to the
best, where partitions of many cases tie, and where a partition is not admissible. There the categories get distinct
keys, by share and position, and all are compared once more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treewright.arrays import Codes, DoubleBits, Integer, NarrowCounts, PackedCounts, Positions, Ranks, Real, WideCounts
from treewright.intrinsics import LANES, bits_of, number_of, sum_not_above
from treewright.jit import inlined_internal, internal
from treewright.learners.candidates import SHORT
from treewright.learners.kernels.bucketed import (
    NO_CUT,
    PAIRWISE_CASES,
    ROUNDED,
    TIES,
    CutBuffers,
    Node,
    add_candidate,
    bits_at_least,
    cases_in,
    cases_in_narrow,
    gain_bits,
    is_narrow,
    threshold,
    weights_in,
    weights_in_narrow,
    widened,
)
from treewright.learners.kernels.options import MISSING_FRACTIONAL
from treewright.learners.kernels.workspace import BestTests, Rules

MOST_VALUES = 255
"""Attributes with more categories are not supported: pairwise comparison would be too slow."""

_KEY_SCALE = 2.0**30
"""Scale of the keys: distinct shares of a weight below `bucketed.NARROW_WEIGHT` differ by more than one part."""


class SubsetBuffers(NamedTuple):
    """Buffers of the bucketed search for partitions of categories.

    Parameters
    ----------
    slots : array of int
        Row of each attribute among the nominal ones.
    counts, wide_counts : array of int
        Counts by code.
    present : array of int
        Codes of the categories that occur, ascending; the following arrays are in this order.
    keys, tally, lefts : array of int
        Of categories: keys, narrow counts, and narrow counts of all that are not above.
    wide_keys, wide_tally, wide_lefts : array of int
        The same for nodes with wide counts.
    gains : array of int
        Bits of the gain of the partition after each category.
    """

    slots: Positions
    counts: NarrowCounts
    wide_counts: WideCounts
    present: Codes
    keys: Ranks
    tally: NarrowCounts
    lefts: NarrowCounts
    wide_keys: DoubleBits
    wide_tally: WideCounts
    wide_lefts: WideCounts
    gains: DoubleBits


def new_subset_buffers(slots: Positions, most_values: int) -> SubsetBuffers:
    """Allocate buffers for attributes of at most `most_values` categories."""
    size = most_values + 1 + LANES
    return SubsetBuffers(
        slots,
        counts=np.zeros(size, dtype=np.int32),
        wide_counts=np.zeros(size, dtype=np.int64),
        present=np.zeros(size, dtype=np.int64),
        keys=np.zeros(size, dtype=np.int32),
        tally=np.zeros(size, dtype=np.int32),
        lefts=np.zeros(size, dtype=np.int32),
        wide_keys=np.zeros(size, dtype=np.int64),
        wide_tally=np.zeros(size, dtype=np.int64),
        wide_lefts=np.zeros(size, dtype=np.int64),
        gains=np.zeros(size, dtype=np.int64),
    )


@internal
def best_partition_by_share(
    a: Integer,
    column: Codes,
    limit: Real,
    node: Node,
    rules: Rules,
    buffers: CutBuffers,
    sets: SubsetBuffers,
    found: BestTests,
) -> tuple[bool, Real]:
    """Find the best partition of the categories of an attribute if its gain reaches a limit, which rises with it.

    Parameters
    ----------
    a : int
    column : array of int
        Codes of the attribute, from 1.
    limit : float
        A partition with a lower gain cannot be chosen.
    node : Node
    rules, buffers, sets, found
        No value is missing here; at prediction a missing value follows the rules.

    Returns
    -------
    considered, limit
        Whether there is any admissible partition.
    """
    narrow = is_narrow(node.size, node.one + node.two)
    separated = node.min_leaf > 1 or node.least > 1
    if narrow:
        n = _count(column, rules.n_values[a], node, buffers.narrow, sets.counts, sets.present, sets.tally)
    else:
        n = _count(column, rules.n_values[a], node, buffers.wide, sets.wide_counts, sets.present, sets.wide_tally)
    if n < 2:
        return False, limit
    _find_keys(n, narrow, sets)
    greatest = NO_CUT if separated else _compare(n, narrow, node, sets)
    if greatest < 0:  # perhaps because all categories have equal shares
        _separate_equal(n, narrow, sets)
        separated, greatest = True, _compare(n, narrow, node, sets)
    if greatest < 0:
        return False, limit
    gain = number_of(greatest)
    if gain < limit:
        return True, limit
    limit = max(limit, threshold(gain, node))
    weight = node.one + node.two
    near = gain * (1 - TIES * weight) - ROUNDED * weight * weight * weight
    n_candidates = _collect_candidates(n, limit if separated else near, narrow, node, buffers, sets)
    if not separated and (near <= 0 or not _is_final(n_candidates, weight, buffers)):
        _separate_equal(n, narrow, sets)
        _compare(n, narrow, node, sets)
        n_candidates = _collect_candidates(n, limit, narrow, node, buffers, sets)
    _finalise(a, n, n_candidates, node, rules, buffers, sets, found)
    return True, limit


@inlined_internal
def _count(
    column: Codes,
    n_values: Integer,
    node: Node,
    packed: PackedCounts,
    counts: PackedCounts,
    present: Codes,
    tally: PackedCounts,
) -> Integer:
    """Count the cases of a node by category, and list the categories that occur; return their number.

    Parameters
    ----------
    column : array of int
    n_values : int
    node : Node
    packed : array of int
        Counts of its cases, narrow or wide.
    counts, present, tally : array of int
        Output.
    """
    for code in range(1, n_values + 1):
        counts[code] = 0
    for p in range(node.size):
        counts[np.uint64(column[np.uint64(node.cases[np.uint64(node.first + p)])])] += packed[p]
    n = np.int64(0)
    for code in range(1, n_values + 1):
        present[n] = code
        tally[n] = counts[code]
        n += np.int64(counts[code] != 0)
    return n


@inlined_internal
def _find_keys(n: Integer, narrow: bool, sets: SubsetBuffers) -> None:
    """Compute the keys of the categories that occur."""
    if not narrow:
        for k in range(n):
            one, two = weights_in(sets.wide_tally[k])
            sets.wide_keys[k] = bits_of(two / (one + two))
        return
    for k in range(n):
        one, two = weights_in_narrow(sets.tally[k])
        sets.keys[k] = np.int32(two / (one + two) * _KEY_SCALE)
    for k in range(n, n + LANES):
        sets.tally[k] = 0


@internal
def _key(k: Integer, narrow: bool, sets: SubsetBuffers) -> Integer:
    return np.int64(sets.keys[k]) if narrow else sets.wide_keys[k]


@internal
def _separate_equal(n: Integer, narrow: bool, sets: SubsetBuffers) -> None:
    """Give all n categories distinct keys, by old key and then by position."""
    ranks = sets.wide_lefts  # which are recomputed afterwards
    # The rank of a category is the number of categories that precede it.
    for k in range(n):
        own, rank = _key(k, narrow, sets), np.int64(0)
        for other in range(n):
            key = _key(other, narrow, sets)
            rank += np.int64(key < own or (key == own and other < k))
        ranks[k] = rank
    for k in range(n):
        if narrow:
            sets.keys[k] = ranks[k]
        else:
            sets.wide_keys[k] = ranks[k]


@inlined_internal
def _compare(n: Integer, narrow: bool, node: Node, sets: SubsetBuffers) -> Integer:
    """Compute the gains of the partitions after each of n categories; return the bits of the greatest."""
    gains = sets.gains
    greatest = NO_CUT
    if narrow:
        keys, tally, lefts = sets.keys, sets.tally, sets.lefts
        # Invariant: `lefts[:own]` holds, for each category, the counts of all categories whose key is not greater.
        zero = np.uint64(0)
        for own in range(0, n, LANES):
            sum_not_above(keys, zero, tally, zero, np.uint64(own), np.uint64(n), lefts)
        for k in range(n):
            one, two = weights_in_narrow(lefts[k])
            gains[k] = gain_bits(cases_in_narrow(lefts[k]), one, two, node)
            greatest = max(greatest, gains[k])
        return greatest
    wide_keys, wide_tally = sets.wide_keys, sets.wide_tally
    # Invariant: `gains[:k]` are known and `greatest` is their maximum.
    for k in range(n):
        own_key, left = wide_keys[k], np.int64(0)
        for other in range(n):
            left += wide_tally[other] if wide_keys[other] <= own_key else np.int64(0)
        one, two = weights_in(left)
        sets.wide_lefts[k] = left
        gains[k] = gain_bits(cases_in(left), one, two, node)
        greatest = max(greatest, gains[k])
    return greatest


@internal
def _collect_candidates(
    n: Integer, limit: Real, narrow: bool, node: Node, buffers: CutBuffers, sets: SubsetBuffers
) -> Integer:
    """Collect the partitions that reach a limit; return their number."""
    n_candidates: Integer = np.int64(0)
    least = bits_at_least(limit)
    for k in range(n):
        if sets.gains[k] >= least:
            left = widened(sets.lefts[k]) if narrow else sets.wide_lefts[k]
            one, two = weights_in(left)
            n_candidates = add_candidate(one, two, _key(k, narrow, sets), node, n_candidates, buffers)
    return n_candidates


@internal
def _is_final(n_candidates: Integer, weight: Real, buffers: CutBuffers) -> bool:
    """Return True if no categories need to be separated to know the best of the candidates.

    That is so where all candidates tie, and there is only one, or there are at most `PAIRWISE_CASES` cases: separating
    k of n of them then gains less by 4 / n^5 at least, which is no tie.
    """
    best = buffers.scores[0]
    is_single = True
    for k in range(1, n_candidates):
        best = max(best, buffers.scores[k])
        is_single = is_single and buffers.cuts[k] == buffers.cuts[0]
    for k in range(n_candidates):
        if buffers.scores[k] < best - 1e-9 * abs(best):
            return False
    return is_single or weight <= PAIRWISE_CASES


@internal
def _finalise(
    a: Integer,
    n: Integer,
    n_candidates: Integer,
    node: Node,
    rules: Rules,
    buffers: CutBuffers,
    sets: SubsetBuffers,
    found: BestTests,
) -> None:
    """Write the first of the candidates that tie with the best to `found`."""
    scores, cuts, sides = buffers.scores, buffers.cuts, found.sides[a]
    weight = node.one + node.two
    narrow = is_narrow(node.size, weight)
    best = scores[0]
    for k in range(1, n_candidates):
        best = max(best, scores[k])
    chosen = -1
    # Invariant: `chosen` comes first among the candidates before k that tie with the best, -1 if there is none.
    for k in range(n_candidates):
        if scores[k] >= best - 1e-9 * abs(best) and (
            chosen < 0 or (cuts[k] != cuts[chosen] and _comes_first(cuts[k], cuts[chosen], n, narrow, sets))
        ):
            chosen = k
    key, left = cuts[chosen], buffers.weights[chosen]
    with_first = _key(0, narrow, sets) <= key
    if not with_first:
        left = weight - left
    found.state[a] = 1
    found.score[a] = scores[chosen]
    heavier = np.int64(0) if left >= (weight - left) * SHORT else np.int64(1)
    found.missing_branch[a] = np.int64(-1) if rules.opt[0]["missing"] == MISSING_FRACTIONAL else heavier
    for value in range(rules.n_values[a]):
        sides[value] = np.int8(-1)
    for k in range(n):
        sides[sets.present[k] - 1] = np.int8((_key(k, narrow, sets) <= key) != with_first)


@internal
def _comes_first(one: Integer, other: Integer, n: Integer, narrow: bool, sets: SubsetBuffers) -> bool:
    """Return True if one partition precedes another: the first category in which they differ is on its left."""
    first_left, first_left_of_other = _key(0, narrow, sets) <= one, _key(0, narrow, sets) <= other
    for k in range(1, n):
        key = _key(k, narrow, sets)
        on_side: bool = (key <= one) == first_left
        if on_side != ((key <= other) == first_left_of_other):
            return on_side
    return False
