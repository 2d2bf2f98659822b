"""Frequency tables add and subtract outcome by outcome, and refuse what does not go together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from treewright.counting.table import FrequencyTable
from treewright.errors import ParameterError


def _table(
    counts: list[list[int]], values: list[float] | None = None, unknown: list[int] | None = None
) -> FrequencyTable:
    array = np.array(counts)
    return FrequencyTable(
        array,
        np.array(unknown or [0] * array.shape[1]),
        array.sum(axis=1),
        None if values is None else np.array(values),
        sum(unknown or []),
    )


def test_known_is_the_column_sum_without_the_unknown_row() -> None:
    table = _table([[2, 3], [4, 0], [3, 2]], unknown=[1, 7])
    assert table.known.tolist() == [9, 5]


def test_weight_counts_the_unknown_row_too() -> None:
    assert _table([[2, 3], [4, 0]], unknown=[1, 7]).weight == 17.0


@given(
    hnp.arrays(np.int64, (4, 3), elements=st.integers(0, 50)), hnp.arrays(np.int64, (4, 3), elements=st.integers(0, 50))
)
def test_what_is_added_can_be_taken_away_again(
    first: np.ndarray[tuple[int, int], np.dtype[np.int64]], second: np.ndarray[tuple[int, int], np.dtype[np.int64]]
) -> None:
    one = FrequencyTable(first[:3], first[3], first[:3].sum(axis=1), unknown_cases=int(first[3].sum()))
    two = FrequencyTable(second[:3], second[3], second[:3].sum(axis=1), unknown_cases=int(second[3].sum()))
    both = one + two
    assert both.weight == one.weight + two.weight
    rest = both - two
    assert np.array_equal(rest.counts, one.counts)
    assert np.array_equal(rest.unknown, one.unknown)
    assert np.array_equal(rest.cases, one.cases)
    assert rest.unknown_cases == one.unknown_cases
    assert rest.counts.dtype == np.int64


def test_adding_keeps_the_numbers_of_a_numeric_attribute() -> None:
    table = _table([[1, 0], [0, 1]], [1.0, 2.5])
    values = (table + table).values
    assert values is not None
    assert values.tolist() == [1.0, 2.5]


def test_tables_of_different_shape_cannot_be_combined() -> None:
    with pytest.raises(ParameterError, match="cannot be combined"):
        _table([[1, 2]]) + _table([[1, 2], [3, 4]])


def test_tables_over_different_numbers_cannot_be_combined() -> None:
    with pytest.raises(ParameterError, match="different numbers"):
        _table([[1, 2], [3, 4]], [1.0, 2.0]) - _table([[1, 2], [3, 4]], [1.0, 3.0])


def test_a_table_of_numbers_and_one_of_categories_cannot_be_combined() -> None:
    with pytest.raises(ParameterError, match="cannot be combined"):
        _table([[1, 2], [3, 4]], [1.0, 2.0]) + _table([[1, 2], [3, 4]])
