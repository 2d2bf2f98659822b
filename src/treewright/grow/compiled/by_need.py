"""The order of the cases of a node by an attribute, made when the attribute is drawn.

Where few of many attributes are looked at, that is less work than to keep the order by each of them. Codes are then the
ranks of the numbers in the whole table.

Vocabulary
----------
place
    Of a case, by an attribute: where it stands in the order of the whole block. Once a block is sorted by an attribute,
    any of its nodes is, too: a bit is set at the place of each of its cases, and the bits are read from the lowest on.
word, group
    64 places; 64 words, with a bit for each that has any. Bits are cleared where they are read.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from treewright.counts.compiled.bits import lowest_bit
from treewright.counts.compiled.flags import Array, Number, internal, no_alloc_kernel
from treewright.grow.compiled.blocks import Block

SORTED_FROM = 8
"""A block is sorted by an attribute for a node of at least one in so many of its cases; a smaller node by itself."""

FEW_CASES = 20
"""Up to so many cases of a node are sorted by insertion."""

DIGIT = 11
"""Most bits of a digit by which the cases of a node are sorted."""

MOST_NEARLY_SORTED = 1024
"""Up to so many cases one digit nearly sorts, and insertion does the rest."""

MOST_ALIKE = 32
"""Where more cases have the same first digit they are sorted by all digits, the last one first."""

_ONE, _ALL, _NOTHING = np.uint64(1), np.uint64(63), np.uint64(0)
_WORD = np.uint64(6)


class NeedRoom(NamedTuple):
    """What is known of the order of a block, and scratch space.

    Parameters
    ----------
    places : array of int, numeric attributes x cases
    is_sorted : array of bool
        Whether the block is sorted by a numeric attribute: then its rows of places and of ``block.order`` are good.
    everybody : array of int
        All cases.
    words, groups : array of 64-bit words
        Nothing but zeros whenever nobody works there.
    entries, spare : array
        The order that was asked for, and as much room again.
    counts : array of int
        Of the values of a digit.
    """

    places: Array
    is_sorted: Array
    everybody: Array
    words: Array
    groups: Array
    entries: Array
    spare: Array
    counts: Array


def new_need_room(order: npt.NDArray[Any]) -> NeedRoom:
    """Make room for orders like these."""
    n_attributes, n = order.shape
    words = n // 64 + 1
    return NeedRoom(
        np.empty((n_attributes, n), dtype=np.uint16 if n <= 1 << 16 else np.int32),
        np.zeros(n_attributes, dtype=np.bool_),
        np.arange(n, dtype=np.int32),
        np.zeros(words, dtype=np.uint64),
        np.zeros(words // 64 + 1, dtype=np.uint64),
        np.empty(n, dtype=order.dtype),
        np.empty(n, dtype=order.dtype),
        np.empty(1 << DIGIT, dtype=np.int64),
    )


@internal
def order_cases(
    codes: Array, slot: Number, visits: Array, first: Number, size: Number, shift: Number, block: Block, room: NeedRoom
) -> None:
    """Put the cases of a stretch into ``room.entries``, from `first` on, by an attribute.

    Parameters
    ----------
    codes : array of int
        Of the attribute.
    slot : int
        Its row among the numeric ones.
    visits, first, size, shift
        As in `sort_cases`.
    block, room
    """
    n = len(room.everybody)
    everything = np.int64(0)
    if not room.is_sorted[slot]:
        if size * SORTED_FROM < n:
            sort_cases(codes, visits, first, size, shift, room.entries, room.counts, room.spare)
            return
        whole = block.order[slot]
        sort_cases(codes, room.everybody, everything, n, shift, whole, room.counts, room.spare)
        mask = (np.int64(1) << shift) - 1
        for place in range(n):
            room.places[slot, np.int64(whole[place]) & mask] = place
        room.is_sorted[slot] = True
    pick_cases(room.places[slot], block.order[slot], visits, first, size, room.words, room.groups, room.entries)


@no_alloc_kernel
def pick_cases(
    places: Array,
    order: Array,
    visits: Array,
    first: Number,
    size: Number,
    words: Array,
    groups: Array,
    entries: Array,
) -> None:
    """Put the entries of some cases together in the order of all.

    Parameters
    ----------
    places, order : array
        Place of each case, and the entries in their places.
    visits, first, size
        The cases are those of this stretch.
    words, groups : array of 64-bit words
        Zeros.
    entries : array
        To be filled from `first` on.
    """
    at = np.uint64(first)
    if size >= len(words):
        for p in range(first, first + size):
            place = np.uint64(places[visits[p]])
            words[place >> _WORD] |= _ONE << (place & _ALL)
        for one in range(len(words)):
            at = _read_word(np.uint64(one), words, order, entries, at)
        return
    for p in range(first, first + size):
        place = np.uint64(places[visits[p]])
        number = place >> _WORD
        words[number] |= _ONE << (place & _ALL)
        groups[number >> _WORD] |= _ONE << (number & _ALL)
    for which in range(len(groups)):
        group = groups[which]
        groups[which] = _NOTHING
        while group != _NOTHING:
            at = _read_word((np.uint64(which) << _WORD) + lowest_bit(group), words, order, entries, at)
            group &= group - _ONE


@internal
def _read_word(number: np.uint64, words: Array, order: Array, entries: Array, at: np.uint64) -> np.uint64:
    """Write the entries of the places of a word from `at` on and clear it; return where to go on."""
    word = words[number]
    words[number] = _NOTHING
    while word != _NOTHING:
        entries[at] = order[(number << _WORD) + lowest_bit(word)]
        word &= word - _ONE
        at += _ONE
    return at


@no_alloc_kernel
def sort_cases(
    codes: Array, visits: Array, first: Number, size: Number, shift: Number, order: Array, counts: Array, spare: Array
) -> None:
    """Put the cases of a stretch into `order` by their codes, those of one code as they come.

    The codes of a node are mostly spread evenly, so that one digit nearly sorts them, and insertion does the rest.

    Parameters
    ----------
    codes : array of int
        Of an attribute.
    visits : array of int
        Cases; those of the stretch ascend.
    first, size, shift : int
    order : array
        To be filled from `first` on.
    counts, spare : array
        Scratch space.
    """
    if size <= FEW_CASES:
        for p in range(first, first + size):
            _insert_entry((np.int64(codes[visits[p]]) << shift) | np.int64(visits[p]), order, first, p)
        return
    lowest = highest = np.int64(codes[visits[first]])
    for p in range(first, first + size):
        code = np.int64(codes[visits[p]])
        lowest = min(lowest, code)
        highest = max(highest, code)
        order[p] = (code << shift) | np.int64(visits[p])
    bits = wanted = nowhere = np.int64(0)
    while highest - lowest >> bits > 0:
        bits += 1
    while size >> (wanted + 1) > 0:
        wanted += 1
    base = lowest << shift
    digit = min(bits, wanted, DIGIT)
    fullest = size
    if digit == bits or size <= MOST_NEARLY_SORTED:
        fullest = _count_digit(order, first, size, base, shift + bits - digit, digit, counts)
    if digit == bits or fullest <= MOST_ALIKE:
        _by_digit(order, first, spare, nowhere, size, base, shift + bits - digit, digit, counts)
        for k in range(size):
            _insert_entry(np.int64(spare[k]), order, first, first + k)
        return
    passes = (bits + DIGIT - 1) // DIGIT
    digit = (bits + passes - 1) // passes
    for turn in range(passes):
        low = shift + turn * digit
        if turn % 2 == 0:
            _count_digit(order, first, size, base, low, digit, counts)
            _by_digit(order, first, spare, nowhere, size, base, low, digit, counts)
        else:
            _count_digit(spare, nowhere, size, base, low, digit, counts)
            _by_digit(spare, nowhere, order, first, size, base, low, digit, counts)
    if passes % 2 == 1:
        for k in range(size):
            order[first + k] = spare[k]


@internal
def _insert_entry(entry: Number, order: Array, first: Number, at: Number) -> None:
    """Insert an entry into those from `first` to before `at`."""
    while at > first and np.int64(order[at - 1]) > entry:
        order[at] = order[at - 1]
        at -= 1
    order[at] = entry


@internal
def _count_digit(
    entries: Array, start: Number, n: Number, base: Number, low: Number, digit: Number, counts: Array
) -> Number:
    """Count the values of a digit of what entries are above a base; return how many the most common one has."""
    mask = (np.int64(1) << digit) - 1
    for value in range(mask + 1):
        counts[value] = 0
    for k in range(n):
        counts[((np.int64(entries[start + k]) - base) >> low) & mask] += 1
    fullest = np.int64(0)
    for value in range(mask + 1):
        fullest = max(fullest, counts[value])
    return fullest


@internal
def _by_digit(
    entries: Array,
    start: Number,
    into: Array,
    place: Number,
    n: Number,
    base: Number,
    low: Number,
    digit: Number,
    counts: Array,
) -> None:
    """Put entries into another place by a digit whose values are counted, equal ones as they come."""
    mask = (np.int64(1) << digit) - 1
    at = np.int64(place)
    for value in range(mask + 1):
        here = counts[value]
        counts[value] = at
        at += here
    for k in range(n):
        entry = entries[start + k]
        value = ((np.int64(entry) - base) >> low) & mask
        into[counts[value]] = entry
        counts[value] += 1
