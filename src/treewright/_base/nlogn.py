"""n log2 n, the one function that every entropy here is made of.

It is computed by the scalar logarithm of the C library, never by a vectorised one, whose last bit may differ: engines
that count in other places must come to the same decision. Whole numbers, the usual case, are looked up in a table
that grows on demand.
"""

from __future__ import annotations

from math import log2

import numpy as np
import numpy.typing as npt

LARGEST_TABLE = 2**22
"""Whole numbers from here on are computed one by one."""

WORTH_A_TABLE = 64
"""The table grows for numbers up to so many times as many as are asked for: a few large ones are computed."""

_table: npt.NDArray[np.float64] = np.zeros(2)


def nlogn(counts: npt.NDArray[np.int64] | npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return x log2 x of each number, 0 for 0.

    Examples
    --------
    >>> nlogn(np.array([0, 1, 2, 8])).tolist()
    [0.0, 0.0, 2.0, 24.0]
    >>> nlogn(np.array([0.5, 2.0])).tolist()
    [-0.5, 2.0]
    """
    if counts.dtype.kind != "f":
        largest = int(counts.max(initial=0))
        worth_a_table = largest < max(len(_table), WORTH_A_TABLE * counts.size)
        if largest < LARGEST_TABLE and worth_a_table:
            return _table_up_to(largest)[counts]
    flat = [x * log2(x) if x > 0 else 0.0 for x in counts.ravel().tolist()]
    return np.array(flat, dtype=np.float64).reshape(counts.shape)


def _table_up_to(largest: int) -> npt.NDArray[np.float64]:
    global _table  # noqa: PLW0603 - a cache of constants: whichever thread writes it, the numbers are the same
    table = _table  # another thread may replace it meanwhile, by a longer or a shorter one
    if largest >= len(table):
        size = 1 << (largest + 1).bit_length()
        table = np.concatenate((table, [n * log2(n) for n in range(len(table), size)]))
        _table = table
    return table
