"""The middle between two numbers, one by one and many at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright.learners.candidates import midpoint, midpoints, shortened

finite = st.floats(allow_nan=False, allow_infinity=False)
halves_of_the_sixteenth_digit = st.builds(
    lambda whole, step: (2 * whole + 1) / 2.0**step, st.integers(10**14, 10**15), st.integers(0, 12)
)
decimals = st.builds(lambda whole, step: whole / 10.0**step, st.integers(-(10**17), 10**17), st.integers(0, 22))
beside_powers_of_ten = st.builds(
    lambda power, step: 10.0**power * (1 + step * 2.0**-52), st.integers(-9, 16), st.integers(-9, 9)
)


def in_fifteen_digits(number: float) -> float:
    return float(f"{number:.15g}")


@given(finite, finite)
def test_a_midpoint_is_not_below_the_lower_and_below_the_higher_number(one: float, two: float) -> None:
    low, high = sorted((one, two))
    if low < high:
        assert low <= midpoint(low, high) < high


@given(st.lists(st.one_of(finite, halves_of_the_sixteenth_digit, decimals, beside_powers_of_ten), max_size=20))
def test_numbers_are_shortened_as_their_decimal_notation_is(numbers: list[float]) -> None:
    short = shortened(np.array(numbers, dtype=np.float64))
    expected = np.array([in_fifteen_digits(number) for number in numbers])
    assert short.tobytes() == expected.tobytes()


@pytest.mark.parametrize("seed", range(3))
def test_a_hundred_thousand_numbers_are_shortened_as_their_decimal_notation_is(seed: int) -> None:
    rng = np.random.default_rng(seed)
    numbers = np.concatenate([rng.normal(size=50_000), rng.normal(size=50_000) * 10.0 ** rng.integers(-9, 17, 50_000)])
    assert shortened(numbers).tolist() == [in_fifteen_digits(number) for number in numbers.tolist()]


@given(st.lists(st.tuples(st.one_of(finite, decimals), st.one_of(finite, decimals)), max_size=20))
def test_many_midpoints_are_those_of_each_pair(pairs: list[tuple[float, float]]) -> None:
    ordered = [(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]]
    low, high = np.array(ordered, dtype=np.float64).reshape(-1, 2).T
    assert midpoints(low, high).tolist() == [midpoint(*pair) for pair in ordered]


def test_neighbours_without_a_number_between_give_the_lower_one() -> None:
    low = np.array([1.0, 5e-324, -1.0])
    assert midpoints(low, np.nextafter(low, np.inf)).tolist() == low.tolist()
