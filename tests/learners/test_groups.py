"""Grouping values: C4.5's subset mode in double precision."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treewright.learners.candidates import Groups, grouped
from treewright.learners.criteria import gain_ratio


def nothing(classes: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.zeros(classes, dtype=np.int64)


def test_values_of_one_class_come_together_first() -> None:
    found = grouped(np.array([[4, 0], [0, 5], [3, 0], [0, 2]]), nothing(2), 2, by_ratio=True)
    assert found is not None
    assert found.branch_of == (0, 1, 0, 1)
    assert found.counts.tolist() == [[7, 0], [0, 7]]


def test_values_that_do_not_occur_share_one_more_branch() -> None:
    found = grouped(np.array([[4, 0], [0, 0], [0, 5], [0, 0]]), nothing(2), 2, by_ratio=True)
    assert found is not None
    assert found.branch_of == (0, 2, 1, 2)


def test_plain_gain_merges_down_to_two_groups() -> None:
    counts = np.array([[5, 1, 1], [1, 5, 1], [1, 1, 5], [4, 2, 2]])
    found = grouped(counts, nothing(3), 2, by_ratio=False)
    assert found is not None
    assert set(found.branch_of) == {0, 1}


def test_a_table_without_any_gain_is_not_grouped() -> None:
    assert grouped(np.array([[2, 2], [3, 3], [1, 1]]), nothing(2), 2, by_ratio=True) is None
    assert grouped(np.array([[2, 2], [0, 0]]), nothing(2), 2, by_ratio=True) is None


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=3, max_size=7),
    st.lists(st.integers(0, 3), min_size=3, max_size=3),
)
def test_no_further_merge_of_two_large_groups_would_improve_the_ratio(
    rows: list[list[int]], missing: list[int]
) -> None:
    """The search is greedy: where it stops, no single merge is better by more than its threshold."""
    counts, unknown = np.array(rows), np.array(missing)
    found = grouped(counts, unknown, 1, by_ratio=True)
    if found is None:
        return
    check_consistent(found, counts)
    table = found.counts
    if len(table) <= 3:
        return  # with few large groups one of them is excluded from merging
    now = gain_ratio(table, unknown)
    for first, second in combinations(range(len(table)), 2):
        kept = [row for index, row in enumerate(table) if index not in (first, second)]
        merged = np.array([*kept, table[first] + table[second]])
        assert gain_ratio(merged, unknown) < now + 1e-5 + 1e-9


def check_consistent(found: Groups, counts: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> None:
    for branch, row in enumerate(found.counts):
        values = [value for value, taken in enumerate(found.branch_of) if taken == branch]
        assert values
        assert counts[values].sum(axis=0).tolist() == row.tolist()


@pytest.mark.parametrize("by_ratio", [True, False])
def test_the_order_of_equally_good_merges_is_fixed(by_ratio: bool) -> None:
    counts = np.array([[3, 1], [3, 1], [3, 1], [1, 3], [1, 3], [1, 3]])
    again = [grouped(counts, nothing(2), 2, by_ratio=by_ratio) for _ in range(3)]
    assert again[0] is not None
    assert len({found.branch_of for found in again if found is not None}) == 1
    assert again[0].branch_of == (0, 0, 0, 1, 1, 1)
