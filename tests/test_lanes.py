"""Sums of sixteen numbers side by side, the same as in plain Python."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from treewright.arrays import NarrowCounts, Ranks
from treewright.intrinsics import LANES, add_not_above
from treewright.jit import no_alloc_kernel


@no_alloc_kernel
def _add(
    keys: Ranks, amounts: NarrowCounts, own: np.uint64, other: np.uint64, sums: NarrowCounts, into: np.uint64
) -> None:
    add_not_above(keys, amounts, own, other, sums, into)


@settings(deadline=None)
@given(seed=st.integers(0, 10**6), own=st.integers(0, 9), other=st.integers(0, 30), into=st.integers(0, 5))
def test_amounts_of_keys_that_are_not_above_are_added_to_each_sum(seed: int, own: int, other: int, into: int) -> None:
    rng = np.random.default_rng(seed)
    keys = (rng.integers(-(2**31), 2**31, 60) // rng.integers(1, 2**30)).astype(np.int32)
    amounts, sums = rng.integers(-99, 99, 60).astype(np.int32), rng.integers(0, 9, 30).astype(np.int32)
    expected = sums.copy()
    for lane in range(LANES):
        expected[into + lane] += sum(amounts[k] for k in range(other, other + LANES) if keys[k] <= keys[own + lane])
    for add in (add_not_above, _add):
        found = sums.copy()
        add(keys, amounts, np.uint64(own), np.uint64(other), found, np.uint64(into))
        assert found.tolist() == expected.tolist()
