"""Sorting the numbers of a block, once, before its subtree grows.

Numbers become ranks: 0 stands for missing, equal numbers have equal codes from 1 on, and `order` lists the cases
ascending, each entry with its code. The sort is by the bits of the doubles, byte after byte (radix sort, least
significant byte first, bytes that are all alike passed over). Where few attributes are drawn at each node, the cases
of the node are sorted by the codes of these only.
"""

from __future__ import annotations

import numpy as np

from treewright.counts.compiled.flags import Array, Number, borrowing, kernel, part

FEW = 48
"""Up to so many numbers are sorted by insertion."""

FEW_CASES = 20
"""Up to so many cases of a node are sorted by insertion."""

DIGIT = 11
"""Most bits of a digit by which the cases of a node are sorted."""

MOST_ALIKE = 32
"""Where more cases have the same first digit they are sorted by all digits, the last one first."""

_SIGN = np.uint64(1) << np.uint64(63)
_BYTE = np.uint64(255)


@kernel
def sort_numbers(
    values: Array, n: Number, shift: Number, order: Array, codes: Array, numbers: Array, keys: Array, cases: Array
) -> Number:
    """Sort the first n numbers; return how many different ones there are.

    Parameters
    ----------
    values : array of float
        NaN where missing.
    n, shift : int
    order, codes, numbers : array
        To be filled; ``numbers[code]`` is the number of a code.
    keys, cases : array, 2 x n
        Scratch space.
    """
    lost = known = np.int64(0)
    for i in range(n):
        v = values[i] + 0.0  # no negative zero
        if np.isnan(v):
            order[lost] = i
            codes[i] = 0
            lost += 1
        else:
            numbers[known + 1] = v
            cases[0, known] = i
            known += 1
    bits = numbers[1 : known + 1].view(np.uint64)
    for k in range(known):
        key = bits[k]
        keys[0, k] = ~key if key & _SIGN else key | _SIGN
    at = _insert(keys, cases, known) if known <= FEW else _by_bytes(keys, cases, known)
    distinct = 0
    before = np.uint64(0)
    sorted_keys, sorted_cases = keys[at], cases[at]
    for k in range(known):
        key = sorted_keys[k]
        if distinct == 0 or key != before:
            distinct += 1
            before = key
            bits[distinct - 1] = key ^ _SIGN if key & _SIGN else ~key
        case = np.int64(sorted_cases[k])
        codes[case] = distinct
        order[lost + k] = (np.int64(distinct) << np.int64(shift)) | case
    return distinct


@part
def _insert(keys: Array, cases: Array, n: Number) -> Number:
    for k in range(1, n):
        key, case = keys[0, k], cases[0, k]
        at = k
        while at > 0 and keys[0, at - 1] > key:
            keys[0, at] = keys[0, at - 1]
            cases[0, at] = cases[0, at - 1]
            at -= 1
        keys[0, at] = key
        cases[0, at] = case
    return 0


@kernel
def _by_bytes(keys: Array, cases: Array, n: Number) -> Number:
    counts = np.zeros((8, 256), dtype=np.int64)
    for k in range(n):
        key = keys[0, k]
        for byte in range(8):
            counts[byte, np.int64((key >> np.uint64(8 * byte)) & _BYTE)] += 1
    at = 0
    for byte in range(8):
        shift = np.uint64(8 * byte)
        if counts[byte, np.int64((keys[at, 0] >> shift) & _BYTE)] == n:
            continue
        total = np.int64(0)
        for digit in range(256):
            here = counts[byte, digit]
            counts[byte, digit] = total
            total += here
        for k in range(n):
            key = keys[at, k]
            bucket = np.int64((key >> shift) & _BYTE)
            place = counts[byte, bucket]
            counts[byte, bucket] = place + 1
            keys[1 - at, place] = key
            cases[1 - at, place] = cases[at, k]
        at = 1 - at
    return at


@borrowing
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


@part
def _insert_entry(entry: Number, order: Array, first: Number, at: Number) -> None:
    """Insert an entry into those from `first` to before `at`."""
    while at > first and np.int64(order[at - 1]) > entry:
        order[at] = order[at - 1]
        at -= 1
    order[at] = entry


@part
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


@part
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
