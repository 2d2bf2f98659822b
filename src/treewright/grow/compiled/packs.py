"""Bit-packed counts of a set of cases of two classes.

The number of cases and the weights of both classes are bit fields of one integer, so that counts are added by one
addition. Narrow counts have 32 bits, wide counts 64. Invariant: no field overflows (`is_narrow`, `WIDE`).
"""

from __future__ import annotations

import numpy as np

from treewright.counts.compiled.flags import Array, Number, internal, no_alloc_kernel

NARROW_CASES, NARROW_WEIGHT = 1 << 10, 1 << 11
"""Narrow counts hold fewer cases than this, and less weight of each class."""

WIDE = 1 << 21
"""Wide counts hold less than this of each."""

_CASES32, _WEIGHT32 = np.int32(NARROW_CASES - 1), np.int32(NARROW_WEIGHT - 1)
_FIRST32, _SECOND32 = np.int32(10), np.int32(21)
_FIELD = np.int64(WIDE - 1)
_FIRST, _SECOND = np.int64(21), np.int64(42)


def packed_counts(target: Array, weights: Array, rows: Array) -> Array:
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
def _fill(target: Array, weights: Array, rows: Array, packed: Array) -> None:
    for k in range(len(rows)):
        row = np.uint64(rows[k])
        weight = np.int32(weights[k]) if len(weights) > 0 else np.int32(1)
        packed[row] = np.int32(1) + (weight << (_FIRST32 if target[row] == 0 else _SECOND32))


@internal
def is_narrow(cases: Number, weight: Number) -> Number:
    """Return True if so many cases of this weight fit into narrow counts."""
    return cases < NARROW_CASES and weight < NARROW_WEIGHT


@internal
def cases_in(packed_sum: Number) -> Number:
    """Return the number of cases in wide counts."""
    return packed_sum & _FIELD


@internal
def weights_in(packed_sum: Number) -> tuple[Number, Number]:
    """Return the weights of both classes in wide counts."""
    return np.float64((packed_sum >> _FIRST) & _FIELD), np.float64(packed_sum >> _SECOND)


@internal
def cases_in_narrow(packed_sum: Number) -> Number:
    """Return the number of cases in narrow counts."""
    return np.int64(packed_sum & _CASES32)


@internal
def weights_in_narrow(packed_sum: Number) -> tuple[Number, Number]:
    """Return the weights of both classes in narrow counts."""
    return np.float64((packed_sum >> _FIRST32) & _WEIGHT32), np.float64((packed_sum >> _SECOND32) & _WEIGHT32)


@internal
def widened(packed_sum: Number) -> Number:
    """Return narrow counts as wide counts."""
    cases, one, two = packed_sum & _CASES32, (packed_sum >> _FIRST32) & _WEIGHT32, (packed_sum >> _SECOND32) & _WEIGHT32
    return np.int64(cases) | np.int64(one) << _FIRST | np.int64(two) << _SECOND
