"""Sorting the cases of a block, once before its subtree grows.

The numeric columns of a block are sorted once, before its subtree grows. Values become ranks: code 0 is missing, equal
values have equal codes from 1 on. `order` lists the cases in ascending order, each entry packed with its code. The sort
is a radix sort of the bits of the doubles, least significant byte first; bytes that are equal in all keys are skipped.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treewright.arrays import (
    Attributes,
    Codes,
    Integer,
    Keys,
    Numbers,
    Order,
    Rows,
    Sizes,
)
from treewright.intrinsics import bits_of, number_of
from treewright.jit import internal, no_alloc_kernel

MOST_INSERTED_VALUES = 48
"""Up to this many values are sorted by insertion."""

_SIGN = np.uint64(1) << np.uint64(63)
_BYTE = np.uint64(255)


class SortBuffers(NamedTuple):
    """Buffers: keys and cases, 2 x n each, and the histogram of each byte."""

    keys: Keys
    cases: Rows
    counts: Sizes


def new_sort_buffers(n: int) -> SortBuffers:
    """Allocate buffers to sort n values."""
    keys, cases = np.empty((2, n), dtype=np.uint64), np.empty((2, n), dtype=np.int32)
    return SortBuffers(keys, cases, np.empty((8, 256), dtype=np.int64))


@no_alloc_kernel
def sort_numbers(
    values: Numbers, n: Integer, shift: Integer, order: Order, codes: Codes, numbers: Numbers, buffers: SortBuffers
) -> Integer:
    """Sort the first n values; return the number of distinct ones.

    Parameters
    ----------
    values : array of float
        NaN where missing.
    n, shift : int
    order, codes, numbers : array
        Output; ``numbers[code]`` is the value of a code.
    buffers : SortBuffers
    """
    keys, cases = buffers.keys, buffers.cases
    n_missing = known = np.int64(0)
    # Keys order like the doubles. Invariant: the missing values before i are `order[:n_missing]`, the others have keys.
    for i in range(n):
        v = values[i] + 0.0  # no negative zero
        if np.isnan(v):
            order[n_missing] = i
            codes[i] = 0
            n_missing += 1
        else:
            key = np.uint64(bits_of(v))
            keys[0, known] = ~key if key & _SIGN else key | _SIGN
            cases[0, known] = i
            known += 1
    at = (
        _insert(keys, cases, known)
        if known <= MOST_INSERTED_VALUES
        else sort_by_bytes(keys, cases, known, buffers.counts)
    )
    distinct = 0
    before = np.uint64(0)
    sorted_keys, sorted_cases = keys[at], cases[at]
    # Invariant: the k smallest keys have their codes, the greatest of which is `distinct` with key `before`.
    for k in range(known):
        key = sorted_keys[k]
        if distinct == 0 or key != before:
            distinct += 1
            before = key
            numbers[distinct] = number_of(np.int64(key ^ _SIGN if key & _SIGN else ~key))
        case = np.int64(sorted_cases[k])
        codes[case] = distinct
        order[n_missing + k] = (np.int64(distinct) << np.int64(shift)) | case
    return distinct


@internal
def _insert(keys: Keys, cases: Rows, n: Integer) -> Integer:
    # Invariant: the first k keys are sorted.
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


@internal
def sort_by_bytes(keys: Keys, cases: Rows, n: Integer, counts: Sizes) -> Integer:
    """Sort the first n keys of row 0 stably; return the row that holds the result."""
    for byte in range(8):
        for digit in range(256):
            counts[byte, digit] = 0
    for k in range(n):
        key = keys[0, k]
        for byte in range(8):
            counts[byte, np.int64((key >> np.uint64(8 * byte)) & _BYTE)] += 1
    at = 0
    # Invariant: row `at` is sorted by the bytes below `byte`.
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
            position = counts[byte, bucket]
            counts[byte, bucket] = position + 1
            keys[1 - at, position] = key
            cases[1 - at, position] = cases[at, k]
        at = 1 - at
    return at


@no_alloc_kernel
def gather_numbers(column: Numbers, rows: Rows, into: Numbers) -> None:
    """Copy the values of these rows."""
    for i in range(len(rows)):
        into[i] = column[rows[i]]


@no_alloc_kernel
def gather_codes(codes: Codes, rows: Rows, into: Codes, step: Integer) -> None:
    """Copy the codes of these rows plus an offset (category indices become codes from 1)."""
    for i in range(len(rows)):
        into[i] = codes[rows[i]] + step


@no_alloc_kernel
def gather_cases(table: Codes, rows: Rows, attributes: Attributes, into: Codes) -> None:
    """Copy the codes of these rows, transposing cases x attributes to attributes x cases."""
    for i in range(len(rows)):
        row = rows[i]
        for index in range(len(attributes)):
            into[attributes[index], i] = table[row, index]


@no_alloc_kernel
def sort_columns(
    values: Numbers,
    attributes: Attributes,
    n: Integer,
    shift: Integer,
    order: Order,
    codes: Codes,
    numbers: Numbers,
    buffers: SortBuffers,
) -> None:
    """Sort the numeric columns of a block.

    Parameters
    ----------
    values : array, numeric attributes x n
    attributes : array of int
        Row of each numeric attribute in `codes`.
    n, shift : int
    order, numbers : array, numeric attributes x n
    codes : array, attributes x n
    buffers : SortBuffers
    """
    for slot in range(len(attributes)):
        sort_numbers(values[slot], n, shift, order[slot], codes[attributes[slot]], numbers[slot], buffers)
