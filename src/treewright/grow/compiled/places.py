"""Candidate thresholds of a large node: how many lie in each bin, and the values on both sides of one."""

from __future__ import annotations

import numpy as np

from treewright.counts.compiled.flags import Array, Number, no_alloc_kernel


@no_alloc_kernel
def values_beside(codes: Array, column: Array, rows: Array, code: Number, following: Number) -> tuple[Number, Number]:
    """Return the greatest value of one bin and the least of another, among the cases of a node."""
    low, high = -np.inf, np.inf
    for i in range(len(rows)):
        row = rows[i]
        if codes[row] == code:
            low = max(low, column[row] + 0.0)
        elif codes[row] == following:
            high = min(high, column[row] + 0.0)
    return low, high


def count_thresholds(
    ranks: Array, numbers: Array, ends: Array, rows: Array, gap: float, inner: Array, gaps: Array
) -> None:
    """Count the candidate thresholds inside each bin of an attribute, and flag the borders that are candidates.

    Parameters
    ----------
    ranks : array of int
        Rank of the value of every row of the table; -1 where missing.
    numbers : array
        Value of each rank.
    ends : array of int
        One more than the last rank of each code.
    rows : array of int
        Cases of the node.
    gap : float
        Neighbouring values must be further apart than this.
    inner, gaps : array, by codes
        Output.
    """
    words = np.zeros((len(numbers) + 7) // 8, dtype=np.uint64)
    _count_thresholds(ranks, numbers, ends, rows, gap, inner, gaps, words, words.view(np.uint8))


@no_alloc_kernel
def _count_thresholds(
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
    """Count as `count_thresholds`; `words` is `seen`, eight bytes at a time, and holds zeros."""
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
    # Invariant: ranks below 8 * word are counted; `before` is the greatest of them that occurs, in bin `code_before`.
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
