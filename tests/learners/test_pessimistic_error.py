"""Extra errors: the check values of the specification, in 32 bits and in double."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright.errors import ParameterError
from treewright.learners.c45r8.arithmetic import single
from treewright.learners.pessimistic_error import (
    extra_errors,
    extra_errors_single,
    single_confidence,
    squared_deviate,
    squared_deviate_single,
)

LEAVES = [(6, 0), (1, 0), (16, 1), (14, 5), (7, 0.4), (4, 3.6), (100, 12.5)]
CHECKED = {
    0.25: (0.479556233, [1.2378, 0.75, 1.50689, 1.79499, 1.30129, 0.268, 3.00663]),
    0.05: (2.72249985, [2.35823, 0.95, 3.45917, 3.51382, 2.53423, 0.268, 7.04273]),
    1.0: (0.0, [0, 0, 0.5, 0.5, 0.2, 0.268, 0.5]),
}


@pytest.mark.parametrize("confidence", CHECKED)
def test_check_values(confidence: float) -> None:
    q, expected = CHECKED[confidence]
    assert squared_deviate_single(confidence) == pytest.approx(q, abs=5e-9)
    assert squared_deviate(confidence) == pytest.approx(q, abs=1e-6)
    for (n, errors), extra in zip(LEAVES, expected, strict=True):
        in_32_bits = extra_errors_single(n, single(errors), confidence)
        assert in_32_bits == single(in_32_bits)
        assert in_32_bits == pytest.approx(extra, abs=1e-5)
        assert extra_errors(n, errors, confidence) == pytest.approx(extra, abs=1e-5)


@given(st.integers(1, 500), st.floats(0, 1), st.sampled_from([0.001, 0.01, 0.05, 0.1, 0.25, 0.4, 0.7, 1.0]))
def test_the_two_versions_agree_but_for_rounding(n: int, share: float, confidence: float) -> None:
    errors = single(n * share)
    assert extra_errors_single(float(n), errors, confidence) == pytest.approx(
        extra_errors(n, errors, confidence), abs=1e-6 * n + 1e-6
    )


def test_no_cases_expect_nothing() -> None:
    assert extra_errors(0.0, 0.0) == extra_errors_single(0.0, 0.0) == 0


def test_confidence_is_read_as_a_percentage() -> None:
    assert single_confidence(0.25) == 0.25
    assert single_confidence(0.05) == single(single(5.0) / 100)


@pytest.mark.parametrize("confidence", [0.0, -0.1, 1.5, float("nan")])
def test_confidence_has_limits(confidence: float) -> None:
    for function in (extra_errors, extra_errors_single):
        with pytest.raises(ParameterError, match="above 0 and at most 1"):
            function(6, 0, confidence)
    for deviate in (squared_deviate, squared_deviate_single):
        with pytest.raises(ParameterError, match="above 0 and at most 1"):
            deviate(confidence)
