"""Orders made by need: of a node by itself, and of a node from that of its block."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from treewright.learners.kernels import sort


@settings(deadline=None)
@given(
    codes=st.lists(st.integers(0, 30) | st.integers(0, 2**18) | st.integers(2**18, 2**18 + 99), max_size=200),
    first=st.integers(0, 5),
)
def test_cases_of_a_node_are_sorted_by_code_and_then_as_they_come(codes: list[int], first: int) -> None:
    own = np.array([*codes, *range(first)], dtype=np.int32)
    visits = np.concatenate((np.arange(len(codes), len(own)), np.arange(len(codes)))).astype(np.int32)
    order, spare = np.full(len(own), 7, dtype=np.uint32), np.zeros(len(own), dtype=np.uint32)
    sort.sort_cases(own, visits, first, len(codes), 8, order, np.zeros(1 << sort.DIGIT, dtype=np.int64), spare)
    assert order[:first].tolist() == [7] * first
    assert order[first:].tolist() == sorted(code << 8 | case for case, code in enumerate(codes))


def test_many_cases_are_sorted_by_all_digits() -> None:
    rng = np.random.default_rng(0)
    n = 3 * sort.MOST_NEARLY_SORTED
    codes = rng.integers(0, 2**18, n).astype(np.int32)
    order, spare = np.zeros(n, dtype=np.uint32), np.zeros(n, dtype=np.uint32)
    counts = np.zeros(1 << sort.DIGIT, dtype=np.int64)
    sort.sort_cases(codes, np.arange(n, dtype=np.int32), 0, n, 12, order, counts, spare)
    assert order.tolist() == sorted(code << 12 | case for case, code in enumerate(codes.tolist()))


@settings(deadline=None)
@given(
    n=st.integers(1, 400),
    share=st.floats(0, 1),
    first=st.integers(0, 3),
    seed=st.integers(0, 99),
)
def test_cases_of_a_node_are_picked_in_the_order_of_their_block(n: int, share: float, first: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    order = rng.permutation(n).astype(np.uint32)
    positions = np.empty(n, dtype=np.uint16)
    positions[order] = np.arange(n)
    chosen = np.flatnonzero(rng.random(n) < share).astype(np.int32)
    visits = np.concatenate((np.zeros(first, dtype=np.int32), chosen))
    buffers = sort.new_lazy_sort_buffers(np.zeros((1, n + first), dtype=np.uint32))
    sort.select_cases(positions, order, visits, first, len(chosen), buffers.words, buffers.groups, buffers.entries)
    wanted = set(chosen.tolist())
    assert buffers.entries[first : first + len(chosen)].tolist() == [case for case in order.tolist() if case in wanted]
    assert not buffers.words.any()
    assert not buffers.groups.any()
