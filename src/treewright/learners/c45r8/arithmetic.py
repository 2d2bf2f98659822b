"""The 32-bit arithmetic of C4.5 Release 8.

Invariants
----------
Sums are sequential and rounded after each term. `numpy.add.accumulate` and `numpy.add.at` work like that, `numpy.sum`
does not. Logarithms are computed in double; a product ``v log2 v`` is rounded only after it has been added.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Generator, Iterable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

Singles = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]

LN2 = 0.69314718055994530942
EPSILON = 0.001
"""Tolerance of the comparisons, a double."""

_FLOAT = struct.Struct("=f")
_pack: Callable[[float], bytes] = _FLOAT.pack
_unpack: Callable[[bytes], tuple[float]] = _FLOAT.unpack

LARGEST_EXACT_INTEGER = 1 << 24
"""Up to here every whole number is a 32-bit float, so that counts of unit-weight cases are exact in any order."""

_LARGEST_TABLE = 1 << 20


def single(value: float) -> float:
    """Round to the nearest 32-bit float.

    Examples
    --------
    >>> single(0.1)
    0.10000000149011612
    """
    return _unpack(_pack(value))[0]


NO_GAIN = single(-EPSILON)
"""A little below ``-EPSILON``: never passes a test ``> -EPSILON``."""


def log2(value: float) -> float:
    """Return the logarithm to base 2, and 0 for anything that is not positive."""
    return math.log(value) / LN2 if value > 0 else 0.0


def information(counts: Iterable[float]) -> float:
    """Return the information of counts, added in this order.

    Examples
    --------
    >>> round(information([9, 5]), 7), round(information([single(0.1), single(0.7), single(7 / 3)]), 8)
    (13.1640034, 3.00293279)
    """
    logs = total = 0.0
    for count in counts:
        if count > 0:
            logs = single(logs + count * (math.log(count) / LN2))
        total = single(total + count)
    return single(total * log2(total) - logs)


def sequential_sum(values: Singles) -> float:
    """Return the sum from the first to the last value, rounded after each addition."""
    return float(np.add.accumulate(values)[-1]) if len(values) else 0.0


@cache
def _whole_products(size: int) -> Doubles:
    return np.array([count * log2(count) for count in range(size)])


def products(counts: Singles) -> Doubles:
    """Return ``v log2 v`` of each count in double, 0 where the count is not positive.

    Whole counts use a table computed with the logarithm of the C library; NumPy's vectorised one may differ in the last
    bit.
    """
    whole = counts.astype(np.int64)
    if whole.size and whole.min() >= 0 and whole.max() < _LARGEST_TABLE and np.array_equal(whole, counts):
        return _whole_products(max(1024, 1 << int(whole.max()).bit_length()))[whole]
    doubles = counts.astype(np.float64)
    positive = doubles > 0
    logs = np.log(np.where(positive, doubles, 1.0)) / LN2
    return np.where(positive, doubles * logs, 0.0)


def information_of_columns(counts: Singles) -> Singles:
    """Return the information of each column of a matrix, its rows added from the first to the last."""
    logs = np.zeros(counts.shape[1], dtype=np.float32)
    for row in products(counts):
        logs = (logs + row).astype(np.float32)
    total = np.add.accumulate(counts, axis=0)[-1]
    return (products(total) - logs).astype(np.float32)


def run_stackless(start: Generator[Any, Any, Any]) -> Any:
    """Run a recursive procedure that is written as a generator, without using Python's stack.

    The generator yields the generator of each recursive call and is sent the value which that call returns.

    Examples
    --------
    >>> def depth(n):
    ...     return 0 if n == 0 else 1 + (yield depth(n - 1))
    >>> run_stackless(depth(100_000))
    100000
    """
    calls = [start]
    result = None
    while calls:
        try:
            call = calls[-1].send(result)
        except StopIteration as finished:
            calls.pop()
            result = finished.value
        else:
            calls.append(call)
            result = None
    return result
