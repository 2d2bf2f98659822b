"""The order of the cases of one node by an attribute that is sampled there.

Where few of many attributes are sampled, no orders are maintained. The statistics of the cases of a node are gathered
once, and their codes are sorted for each sampled attribute: few cases by counting for each how many codes precede its
own, sixteen at once and without a branch; many cases by their digits, least significant first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treewright.arrays import Attributes, Boolean, Codes, Flags, Integer, Order, Ranks, Rows, Sizes
from treewright.intrinsics import LANES, count_below
from treewright.jit import inlined_internal, internal
from treewright.learners.kernels.few_cases import FewCases, new_few_cases
from treewright.learners.kernels.workspace import Block

MOST_COMPARED = 192
"""Up to this many cases are compared each with each."""

_POSITION_BITS = 8
_LARGEST_CODE = 1 << 23
"""Codes from here on do not fit into 31 bits together with the position of a case."""

DENSE = 8
"""Where a node has more than one in this many cases of the table, codes are read by attribute, else by case."""

TOGETHER = 1 << 18
"""Most codes that are gathered for all sampled attributes together."""

ENTRY_SHIFT = 32
"""Number of bits of the position of a case in an entry."""

DIGIT = 11
"""Most bits of a digit."""


class SampledOrder(NamedTuple):
    """The cases of a node in the order of a sampled attribute.

    Parameters
    ----------
    entries : array of int
        ``code << ENTRY_SHIFT | position``, the position being that in the slice of the node.
    stats : Block
        Target, weights and deviations of the cases by their positions; nothing else.
    spare, counts : array of int
        Buffers: entries, and the histogram of a digit.
    keys, ranks : array of int
        Buffers of few cases: codes with positions, and their ranks.
    by_case : array of int, cases x attributes
        The codes of the table; those of a case lie together.
    codes : array of int
        The codes of the cases of a node, by sampled attribute.
    together : array of bool
        Whether they hold the codes of each sampled attribute, or those of one attribute at a time.
    few : FewCases
    """

    entries: Order
    stats: Block
    spare: Order
    counts: Sizes
    keys: Ranks
    ranks: Ranks
    by_case: Codes
    codes: Codes
    together: Flags
    few: FewCases


def new_sampled_order(n: int, width: int, block: Block, by_case: Codes) -> SampledOrder:
    """Allocate the order of nodes of at most n cases of a block, with statistics of this width."""
    stats = block._replace(
        target=np.empty(n if len(block.target) > 1 else 1, dtype=block.target.dtype),
        weights=np.ones(n),  # which stay where every case weighs one
        deviation=np.empty(n if len(block.deviation) > 1 else 1),
    )
    return SampledOrder(
        np.empty(n, dtype=np.int64),
        stats,
        np.empty(n, dtype=np.int64),
        np.empty(1 << DIGIT, dtype=np.int64),
        np.empty(MOST_COMPARED + LANES, dtype=np.int32),
        np.empty(MOST_COMPARED + LANES, dtype=np.int32),
        by_case,
        np.zeros(max(n, TOGETHER) + LANES, dtype=np.int32),
        np.zeros(len(block.codes), dtype=np.bool_),
        new_few_cases(width),
    )


@inlined_internal
def gather_node(
    visits: Rows, first: Integer, size: Integer, block: Block, regression: bool, unit: bool, order: SampledOrder
) -> None:
    """Copy the statistics of the cases of a node together."""
    stats = order.stats
    for p in range(np.uint64(size)):
        case = np.uint64(visits[np.uint64(first) + p])
        if regression:
            stats.deviation[p] = block.deviation[case]
        else:
            stats.target[p] = block.target[case]
        if regression or not unit:
            stats.weights[p] = block.weights[case]


@inlined_internal
def gather_codes_together(
    attributes: Attributes, n: Integer, visits: Rows, first: Integer, size: Integer, order: SampledOrder
) -> Boolean:
    """Gather the codes of the first n attributes for the cases of a node; return False if that does not pay off."""
    by_case, codes = order.by_case, order.codes
    if size * DENSE > by_case.shape[0] or n * size > TOGETHER:
        return False
    for p in range(np.uint64(size)):
        case = np.uint64(visits[np.uint64(first) + p])
        for index in range(np.uint64(n)):
            codes[index * np.uint64(size) + p] = by_case[case, np.uint64(attributes[index])]
    return True


@inlined_internal
def gather_codes(
    a: Integer, by_attribute: Codes, visits: Rows, first: Integer, size: Integer, order: SampledOrder
) -> None:
    """Gather the codes of one attribute for the cases of a node."""
    codes, column = order.codes, by_attribute[a]
    for p in range(np.uint64(size)):
        codes[p] = column[np.uint64(visits[np.uint64(first) + p])]


@inlined_internal
def sort_node(start: Integer, size: Integer, order: SampledOrder) -> Boolean:
    """Sort the cases of a node by their gathered codes, which begin at `start`; return False if all codes are equal."""
    entries, keys, ranks, codes = order.entries, order.keys, order.ranks, order.codes
    begin = np.uint64(start)
    lowest = highest = codes[begin]
    for p in range(np.uint64(size)):
        lowest = min(lowest, codes[begin + p])
        highest = max(highest, codes[begin + p])
    if lowest == highest:
        return False
    if size > MOST_COMPARED or highest >= _LARGEST_CODE:
        for p in range(np.uint64(size)):
            entries[p] = (np.int64(codes[begin + p]) << ENTRY_SHIFT) | np.int64(p)
        _sort_digits(size, np.int64(lowest), np.int64(highest), order)
        return True
    for p in range(np.uint64(size)):
        keys[p] = (codes[begin + p] << np.int32(_POSITION_BITS)) | np.int32(p)
    # Invariant: the ranks before `own` are known. Keys are distinct, so that ranks are a permutation.
    for own in range(0, size, LANES):
        count_below(keys, np.uint64(own), np.uint64(size), ranks)
    for p in range(np.uint64(size)):
        entries[np.uint64(ranks[p])] = (np.int64(codes[begin + p]) << ENTRY_SHIFT) | np.int64(p)
    return True


@internal
def _sort_digits(size: Integer, lowest: Integer, highest: Integer, order: SampledOrder) -> None:
    """Sort entries with codes between two bounds by their digits."""
    entries, spare, counts = order.entries, order.spare, order.counts
    bits = np.int64(0)
    while (highest - lowest) >> bits > 0:
        bits += 1
    passes = digit = np.int64(0)
    least = np.int64(0)
    # A pass reads and writes each case, and each counter twice. Invariant: `passes` are the cheapest before `tried`.
    for tried in range((bits + DIGIT - 1) // DIGIT, 5):
        width = (bits + tried - 1) // tried
        cost = tried * (4 * size + (np.int64(2) << width))
        if passes == 0 or cost < least:
            passes, digit, least = np.int64(tried), width, cost
    base = lowest << ENTRY_SHIFT
    # Invariant: the entries are sorted by the lowest `turn` digits, in `entries` if turn is even, else in `spare`.
    for turn in range(passes):
        low = ENTRY_SHIFT + turn * digit
        if turn % 2 == 0:
            _sort_by_digit(entries, spare, size, base, low, digit, counts)
        else:
            _sort_by_digit(spare, entries, size, base, low, digit, counts)
    if passes % 2 == 1:
        for p in range(size):
            entries[p] = spare[p]


@internal
def _sort_by_digit(
    entries: Order, into: Order, n: Integer, base: Integer, low: Integer, digit: Integer, counts: Sizes
) -> None:
    """Distribute entries minus a base stably by a digit."""
    mask = (np.int64(1) << digit) - 1
    for value in range(np.uint64(mask + 1)):
        counts[value] = 0
    for p in range(np.uint64(n)):
        counts[np.uint64(((entries[p] - base) >> low) & mask)] += 1
    at = np.int64(0)
    # The histogram becomes the index of the next entry of each digit.
    for value in range(np.uint64(mask + 1)):
        here = counts[value]
        counts[value] = at
        at += here
    for p in range(np.uint64(n)):
        own = np.uint64(((entries[p] - base) >> low) & mask)
        at = counts[own]
        into[np.uint64(at)] = entries[p]
        counts[own] = at + 1
