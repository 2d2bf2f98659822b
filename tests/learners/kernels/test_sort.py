"""The order of the cases of a node by an attribute that is sampled there."""

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
