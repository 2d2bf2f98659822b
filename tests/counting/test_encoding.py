"""The codes of a large table: the same as by searching the borders one by one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treewright.counting.numba import CELLS, MOST_IN_CELL, code_table, encode_numbers

Floats = npt.NDArray[np.float64]


def searched(column: Floats, borders: Floats) -> npt.NDArray[np.int64]:
    """Return the codes, plainly."""
    return np.where(np.isnan(column), 0, np.searchsorted(borders, column, side="left") + 1)


def coded(column: Floats, borders: Floats) -> npt.NDArray[np.int32]:
    codes = np.full(len(column), -1, dtype=np.int32)
    encode_numbers(column, borders, codes)
    return codes


@pytest.mark.parametrize("n_borders", [1, 6, 254, 3000])
@pytest.mark.parametrize("shape", ["even", "normal", "skewed", "both signs, skewed", "one far away", "tiny"])
def test_numbers_are_coded_by_the_borders_below_them_whatever_their_distribution(n_borders: int, shape: str) -> None:
    rng = np.random.default_rng([n_borders, len(shape)])
    size = 4 * n_borders + 20
    made = {
        "even": rng.random(size),
        "normal": rng.normal(size=size),
        "skewed": np.exp(3 * rng.normal(size=size)),
        "both signs, skewed": np.exp(3 * rng.normal(size=size)) * rng.choice([-1.0, 1.0], size),
        "one far away": np.concatenate((rng.random(size - 1), [1e300])),
        "tiny": rng.integers(-50, 50, size) * 5e-324,
    }[shape]
    borders = np.unique(rng.choice(made, n_borders) + 0.0)
    column = np.concatenate((made, borders, np.nextafter(borders, np.inf), [np.nan, np.inf, -np.inf, -0.0, 0.0]))
    assert np.array_equal(coded(column, borders), searched(column, borders))


@settings(deadline=None, max_examples=60)
@given(
    numbers=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30),
    column=st.lists(st.floats(), max_size=30),
)
def test_any_numbers_are_coded_by_any_borders(numbers: list[float], column: list[float]) -> None:
    borders = np.unique(np.array(numbers) + 0.0)
    cells = np.concatenate((np.array(column), borders))
    assert np.array_equal(coded(cells, borders), searched(cells, borders))


def test_borders_that_crowd_into_one_cell_however_it_is_measured_are_searched() -> None:
    crowd = 1.0 + np.arange(3 * MOST_IN_CELL) * 2.0**-50
    borders = np.concatenate(([-float(CELLS)], crowd, [float(CELLS)]))
    column = np.concatenate((crowd, np.nextafter(crowd, 0), [-1e9, 1e9, np.nan]))
    assert np.array_equal(coded(column, borders), searched(column, borders))


def test_a_column_without_any_number_has_no_borders_and_only_missing_codes() -> None:
    codes, planned = code_table([np.full(5, np.nan)], [0], 4, 1)
    assert not codes.any()
    assert planned[0].n_codes == 1
