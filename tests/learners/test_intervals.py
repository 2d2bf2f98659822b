"""Equal widths, equal weights and ChiMerge: small tables by hand, and a reference implementation."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright.counting.table import FrequencyTable
from treewright.errors import ParameterError
from treewright.learners.criteria import chi_square, chi_square_statistic
from treewright.learners.discretise import chi_merge_bounds, equal_frequency_bounds, equal_width_bounds


def table(values: list[float], counts: list[list[float]]) -> FrequencyTable:
    rows = np.array(counts).reshape(len(values), -1)
    return FrequencyTable(rows, np.zeros(rows.shape[1]), np.ones(len(values), dtype=np.int64), np.array(values))


@st.composite
def tables(draw: st.DrawFn) -> FrequencyTable:
    values = sorted(
        draw(st.sets(st.sampled_from([-1e300, -2.5, -1.0, 0.0, 0.25, 1.0, 3.0, 7.0, 1e6, 1e300]), min_size=1))
    )
    classes = draw(st.integers(2, 3))
    weights = st.lists(st.sampled_from((0.0, 1.0, 2.0, 5.0)), min_size=classes, max_size=classes)
    counts = draw(st.lists(weights.filter(any), min_size=len(values), max_size=len(values)))
    return table(values, counts)


def test_equal_widths() -> None:
    numbers = table([0.0, 1.0, 2.0, 6.0, 8.0], [[1, 0]] * 5)
    assert equal_width_bounds(numbers, 1) == ()
    assert equal_width_bounds(numbers, 2) == (4.0,)
    assert equal_width_bounds(numbers, 4) == (4.0, 7.0)  # nothing lies above 2 and up to 4
    assert equal_width_bounds(numbers, 8) == (1.5, 4.0, 7.0)  # a number on a border lies below it
    assert equal_width_bounds(table([3.0], [[1, 1]]), 5) == ()
    assert equal_width_bounds(table([-1.7e308, 1.7e308], [[1, 1]] * 2), 2) == (0.0,)


def test_equal_weights() -> None:
    numbers = table([1.0, 2.0, 3.0, 4.0], [[1, 0], [1, 0], [1, 1], [0, 4]])
    assert equal_frequency_bounds(numbers, 2) == (3.5,)
    assert equal_frequency_bounds(numbers, 4) == (2.5, 3.5)
    heavy = table([1.0, 2.0, 3.0], [[0, 90], [5, 0], [5, 0]])
    assert equal_frequency_bounds(heavy, 4) == (1.5,)
    thirds = table([1.0, 2.0, 3.0], [[0.1, 0.0], [0.1, 0.0], [0.1, 0.0]])
    assert equal_frequency_bounds(thirds, 3) == (1.5, 2.5)


def test_chi_merge_by_hand() -> None:
    # Chi-square of the neighbours: 0, 10, 0 (merged), then 20: above 3.84 at 5 %.
    numbers = table([1.0, 2.0, 3.0, 4.0], [[5, 0], [5, 0], [0, 5], [0, 5]])
    assert chi_merge_bounds(numbers) == (2.5,)
    assert chi_merge_bounds(numbers, max_intervals=1) == ()
    # 2 : 1 against 1 : 2 is chi-square 2/3, not enough at 5 %, but at 50 % (0.455).
    weak = table([1.0, 2.0], [[2, 1], [1, 2]])
    assert chi_merge_bounds(weak) == ()
    assert chi_merge_bounds(weak, 0.5) == (1.5,)
    assert chi_merge_bounds(table([1.0, 2.0], [[3, 0], [4, 0]])) == ()
    assert chi_merge_bounds(table([1.0, 2.0], [[0, 0], [0, 0]])) == ()


def test_wrong_parameters_are_refused() -> None:
    numbers = table([1.0, 2.0], [[1, 0], [0, 1]])
    for bins in (0, -1, True, 2.0):
        with pytest.raises(ParameterError, match="bins must be"):
            equal_width_bounds(numbers, bins)  # type: ignore[arg-type]
        with pytest.raises(ParameterError, match="bins must be"):
            equal_frequency_bounds(numbers, bins)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="max_intervals must be"):
        chi_merge_bounds(numbers, max_intervals=0)
    with pytest.raises(ParameterError, match="significance"):
        chi_merge_bounds(numbers, 1.0)
    nominal = FrequencyTable(np.ones((2, 2)), np.zeros(2), np.ones(2, dtype=np.int64))
    with pytest.raises(ParameterError, match="numeric"):
        equal_width_bounds(nominal, 2)


@given(tables(), st.integers(1, 12))
def test_bounds_ascend_and_no_interval_is_empty(numbers: FrequencyTable, bins: int) -> None:
    values = np.asarray(numbers.values)
    for bounds in (
        equal_width_bounds(numbers, bins),
        equal_frequency_bounds(numbers, bins),
        chi_merge_bounds(numbers, 0.3, bins),
    ):
        assert all(low < high for low, high in pairwise(bounds))
        assert len(bounds) < bins
        interval = np.searchsorted(np.array(bounds), values, side="left")
        assert set(interval.tolist()) == set(range(len(bounds) + 1))


@given(tables(), st.integers(2, 6))
def test_equal_weights_keep_their_distance(numbers: FrequencyTable, bins: int) -> None:
    """A bin never weighs more than its part and the number on which it ends."""
    bounds = equal_frequency_bounds(numbers, bins)
    interval = np.searchsorted(np.array(bounds), np.asarray(numbers.values), side="left")
    weights = numbers.counts.sum(axis=1)
    for index in range(len(bounds) + 1):
        here = weights[interval == index]
        assert here.sum() - here[-1] < weights.sum() / bins + 1e-9


def plain_chi_merge(rows: list[np.ndarray], significance: float, most: int) -> list[int]:
    """Merge as the options of the method ask; return the number of outcomes in each interval."""
    sizes = [1] * len(rows)
    degrees = int(np.count_nonzero(np.sum(rows, axis=0))) - 1
    while len(rows) > 1:
        strengths = [round(chi_square_statistic(np.stack(pair)), 9) for pair in pairwise(rows)]
        weakest = int(np.argmin(strengths))
        # As if the pair had all classes: the tail of its statistic at their degrees of freedom.
        tail = 1.0 if degrees == 0 else chi_tail(strengths[weakest], degrees)
        if tail <= significance and len(rows) <= most:
            break
        rows[weakest : weakest + 2] = [rows[weakest] + rows[weakest + 1]]
        sizes[weakest : weakest + 2] = [sizes[weakest] + sizes[weakest + 1]]
    return sizes


def chi_tail(statistic: float, degrees: int) -> float:
    from scipy.special import chdtrc

    return float(chdtrc(degrees, statistic))


@given(tables(), st.sampled_from((0.03, 0.11, 0.47)), st.integers(1, 8))
def test_chi_merge_is_the_plain_procedure(numbers: FrequencyTable, significance: float, most: int) -> None:
    bounds = chi_merge_bounds(numbers, significance, most)
    interval = np.searchsorted(np.array(bounds), np.asarray(numbers.values), side="left")
    assert np.bincount(interval).tolist() == plain_chi_merge(list(numbers.counts), significance, most)
    assert chi_square(numbers.counts).df >= 0
