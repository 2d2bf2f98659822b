"""n log2 n, the function from which all entropies are computed.

It uses the scalar logarithm of the C library, never a vectorised one, whose last bit may differ: all engines must
make the same decisions. Integers, the usual case, are looked up in a table that grows on demand.
"""

from __future__ import annotations

from math import log2

import numpy as np
import numpy.typing as npt

LARGEST_TABLE = 2**22
"""Integers from this size on are computed one by one."""

TABLE_ENTRIES_PER_COUNT = 64
"""The table grows to at most this many entries per requested count; a few large counts are computed directly."""

_table: npt.NDArray[np.float64] = np.zeros(2)


def nlogn(counts: npt.NDArray[np.int64] | npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return x log2 x for each number, 0 for 0.

    Examples
    --------
    >>> nlogn(np.array([0, 1, 2, 8])).tolist()
    [0.0, 0.0, 2.0, 24.0]
    >>> nlogn(np.array([0.5, 2.0])).tolist()
    [-0.5, 2.0]
    """
    if counts.dtype.kind != "f":
        largest = int(counts.max(initial=0))
        table_pays_off = largest < max(len(_table), TABLE_ENTRIES_PER_COUNT * counts.size)
        if largest < LARGEST_TABLE and table_pays_off:
            return _table_up_to(largest)[counts]
    flat = [x * log2(x) if x > 0 else 0.0 for x in counts.ravel().tolist()]
    return np.array(flat, dtype=np.float64).reshape(counts.shape)


def _table_up_to(largest: int) -> npt.NDArray[np.float64]:
    global _table  # noqa: PLW0603 - a cache of constants: whichever thread writes it, the numbers are the same
    table = _table  # another thread may replace the global by a longer or a shorter table
    if largest >= len(table):
        size = 1 << (largest + 1).bit_length()
        table = np.concatenate((table, [n * log2(n) for n in range(len(table), size)]))
        _table = table
    return table
