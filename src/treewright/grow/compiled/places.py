"""Places between the numbers of a large node, where a cut may lie: how many there are, and the numbers beside one."""

from __future__ import annotations

import numpy as np

from treewright.counts.compiled.flags import Array, Number, no_alloc_kernel


@no_alloc_kernel
def numbers_beside(codes: Array, column: Array, rows: Array, code: Number, following: Number) -> tuple[Number, Number]:
    """Return the greatest number of one bin and the least of another, among the cases of a node."""
    low, high = -np.inf, np.inf
    for i in range(len(rows)):
        row = rows[i]
        if codes[row] == code:
            low = max(low, column[row] + 0.0)
        elif codes[row] == following:
            high = min(high, column[row] + 0.0)
    return low, high


def count_places(ranks: Array, numbers: Array, ends: Array, rows: Array, gap: float, inner: Array, gaps: Array) -> None:
    """Count the places inside each bin of an attribute, and say which borders are places.

    Parameters
    ----------
    ranks : array of int
        Of every row of the table; -1 where missing.
    numbers : array
        Of each rank.
    ends : array of int
        One more than the last rank of each code.
    rows : array of int
        Of the node.
    gap : float
        Neighbours must be further apart than this.
    inner, gaps : array, by codes
        To be filled.
    """
    words = np.zeros((len(numbers) + 7) // 8, dtype=np.uint64)
    _count_places(ranks, numbers, ends, rows, gap, inner, gaps, words, words.view(np.uint8))


@no_alloc_kernel
def _count_places(
    ranks: Array,
    numbers: Array,
    ends: Array,
    rows: Array,
    gap: Number,
    inner: Array,
    gaps: Array,
    words: Array,
    seen: Array,
) -> None:
    """Count; `words` are the bytes of `seen`, eight at a time, all of them zero."""
    for i in range(len(rows)):
        rank = ranks[rows[i]]
        if rank >= 0:
            seen[rank] = 1
    code = 1
    before = np.int64(-1)
    code_before = 0
    for k in range(len(inner)):
        inner[k] = 0
        gaps[k] = True
    for word in range(len(words)):
        if words[word] == 0:
            continue
        for rank in range(8 * word, 8 * word + 8):
            if seen[rank] == 0:
                continue
            while rank >= ends[code]:
                code += 1
            if before >= 0:
                far = numbers[rank] - numbers[before] > gap
                if code == code_before:
                    inner[code] += far
                else:
                    gaps[code_before] = far
            before = np.int64(rank)
            code_before = code
