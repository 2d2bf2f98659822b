"""Sums and counts of sixteen numbers side by side, the same as in plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treewright.arrays import Ranks
from treewright.intrinsics import LANES, count_below, sum_not_above
from treewright.jit import no_alloc_kernel


@no_alloc_kernel
def _sum(
    keys: Ranks,
    first: np.uint64,
    amounts: npt.NDArray[Any],
    amounts_first: np.uint64,
    own: np.uint64,
    n: np.uint64,
    sums: npt.NDArray[Any],
) -> None:
    sum_not_above(keys, first, amounts, amounts_first, own, n, sums)


@no_alloc_kernel
def _count(keys: Ranks, own: np.uint64, n: np.uint64, counts: Ranks) -> None:
    count_below(keys, own, n, counts)


def _keys(rng: np.random.Generator) -> Ranks:
    return (rng.integers(-(2**31), 2**31, 90) // rng.integers(1, 2**30)).astype(np.int32)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float64])
@settings(deadline=None)
@given(
    seed=st.integers(0, 10**6),
    first=st.integers(0, 9),
    other=st.integers(0, 9),
    n=st.integers(0, 40),
    own=st.integers(0, 24),
)
def test_amounts_of_keys_that_are_not_above_are_added_up(
    dtype: type[np.generic], seed: int, first: int, other: int, n: int, own: int
) -> None:
    rng = np.random.default_rng(seed)
    keys, amounts = _keys(rng), rng.integers(-99, 99, 60).astype(dtype)
    expected = np.zeros(50, dtype=dtype)
    for lane in range(own, own + LANES):
        expected[lane] = sum(int(amounts[other + k]) for k in range(n) if keys[first + k] <= keys[first + lane])
    for total in (sum_not_above, _sum):
        found = np.zeros(50, dtype=dtype)
        total(keys, np.uint64(first), amounts, np.uint64(other), np.uint64(own), np.uint64(n), found)
        assert found.tolist() == expected.tolist()


@settings(deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(0, 60), own=st.integers(0, 40))
def test_keys_that_are_less_are_counted(seed: int, n: int, own: int) -> None:
    keys = _keys(np.random.default_rng(seed))
    expected = [0] * own + [int((keys[:n] < keys[lane]).sum()) for lane in range(own, own + LANES)]
    for count in (count_below, _count):
        found = np.zeros(own + LANES, dtype=np.int32)
        count(keys, np.uint64(own), np.uint64(n), found)
        assert found.tolist() == expected
