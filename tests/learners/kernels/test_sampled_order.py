"""The order of the cases of a node by an attribute that is sampled there."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treewright.arrays import Boolean, Integer
from treewright.jit import no_alloc_kernel
from treewright.learners.kernels import sampled_order
from treewright.learners.kernels.sampled_order import ENTRY_SHIFT, SampledOrder, new_sampled_order, sort_node
from treewright.learners.kernels.workspace import Block


@no_alloc_kernel
def _sort(start: Integer, size: Integer, order: SampledOrder) -> Boolean:
    return sort_node(start, size, order)


def _sorted(codes: list[int], start: int) -> list[int] | None:
    """Return the positions of the cases in the order of their codes, None if all codes are equal."""
    nothing = np.zeros(1)
    block = Block(
        np.zeros((0, 1), dtype=np.int64),
        np.zeros((1, 1), dtype=np.int32),
        np.zeros(1, dtype=np.uint8),
        nothing,
        nothing,
        nothing,
    )
    order = new_sampled_order(max(len(codes), 1), 1, block, np.zeros((1, 1), dtype=np.int32))
    order.codes[start : start + len(codes)] = codes
    if not _sort(start, len(codes), order):
        return None
    entries = order.entries[: len(codes)]
    positions: list[int] = (entries & ((1 << ENTRY_SHIFT) - 1)).tolist()
    assert (entries >> ENTRY_SHIFT).tolist() == [codes[position] for position in positions]
    return positions


@settings(deadline=None)
@given(
    codes=st.lists(
        st.integers(0, 30) | st.integers(0, 2**18) | st.integers(2**28, 2**28 + 99), min_size=1, max_size=300
    ),
    start=st.integers(0, 5),
)
def test_cases_of_a_node_are_sorted_by_code_and_then_as_they_come(codes: list[int], start: int) -> None:
    expected = None if len(set(codes)) == 1 else sorted(range(len(codes)), key=lambda position: codes[position])
    assert _sorted(codes, start) == expected


@pytest.mark.parametrize("greatest", [3, 2**9, 2**18, 2**30])
def test_many_cases_are_sorted_by_all_digits(greatest: int) -> None:
    codes = np.random.default_rng(0).integers(0, greatest, 20 * sampled_order.MOST_COMPARED).tolist()
    assert _sorted(codes, 0) == np.argsort(codes, kind="stable").tolist()
