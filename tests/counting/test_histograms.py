"""Counting by kernels: cell for cell what a plain loop adds up, in the same order."""

from __future__ import annotations

import numpy as np
import pytest

from treewright.counting.numba import count_cases, count_classes


@pytest.mark.parametrize("classes", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("which", ["all", "some", "shuffled"])
@pytest.mark.parametrize("weighted", [True, False])
def test_every_cell_is_the_sum_of_its_cases_in_their_order(classes: int, which: str, weighted: bool) -> None:
    rng = np.random.default_rng([classes, len(which)])
    n, attributes = 90, np.array([0, 1, 3, 4, 5, 6])
    codes = rng.integers(0, 6, (7, n)).astype(np.uint8)
    target = rng.integers(0, classes, n).astype(np.int32)
    rows = np.arange(n, dtype=np.int32)
    if which != "all":
        rows = rows[::2].copy() if which == "some" else rng.permutation(rows)
    weights = rng.random(len(rows)) if weighted else np.zeros(0)
    starts = np.array([0, 6, 12, 12, 18, 24, 30, 36])
    counts, cases = np.zeros((36, classes)), np.zeros(36, dtype=np.int64)
    count_classes(codes, rows, target, weights, attributes, starts, counts)
    count_cases(codes, rows, attributes, starts, cases)
    wanted, wanted_cases = np.zeros_like(counts), np.zeros_like(cases)
    for attribute in attributes.tolist():
        for index, row in enumerate(rows.tolist()):
            cell = starts[attribute] + codes[attribute, row]
            wanted[cell, target[row]] += weights[index] if weighted else 1.0
            wanted_cases[cell] += 1
    assert counts.tolist() == wanted.tolist()
    assert cases.tolist() == wanted_cases.tolist()
