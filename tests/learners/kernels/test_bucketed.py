"""Bit-packed counts."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from treewright.arrays import NarrowCounts, Numbers
from treewright.jit import no_alloc_kernel
from treewright.learners.kernels.bucketed import (
    NARROW_WEIGHT,
    cases_in,
    cases_in_narrow,
    packed_counts,
    weights_in,
    weights_in_narrow,
    widened,
)


@no_alloc_kernel
def _unpacked(packed: NarrowCounts, into: Numbers) -> None:
    """Write the fields of the sum of narrow counts, then those of the same sum as wide counts."""
    total = np.int32(0)
    for k in range(len(packed)):
        total += packed[k]
    one, two = weights_in_narrow(total)
    into[0], into[1], into[2] = cases_in_narrow(total), one, two
    one, two = weights_in(widened(total))
    into[3], into[4], into[5] = cases_in(widened(total)), one, two


@settings(deadline=None)
@given(cases=st.lists(st.tuples(st.integers(0, 1), st.integers(1, 31)), max_size=66))
def test_sums_of_packed_counts_hold_cases_and_weights_to_the_last_bit(cases: list[tuple[int, int]]) -> None:
    target = np.array([one for one, _ in cases], dtype=np.int32)
    weights = np.array([weight for _, weight in cases], dtype=np.float64)
    assert weights.sum() < NARROW_WEIGHT
    fields = np.empty(6)
    _unpacked(packed_counts(target, weights, np.arange(len(cases), dtype=np.int32)), fields)
    assert fields.tolist() == 2 * [len(cases), weights[target == 0].sum(), weights[target == 1].sum()]
