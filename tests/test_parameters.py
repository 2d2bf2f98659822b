"""Checks of parameters: what they allow, and what their messages name."""

from __future__ import annotations

import math

import numpy as np
import pytest

from treewright.errors import ParameterError
from treewright.parameters import check_flag, check_share, check_whole_number


@pytest.mark.parametrize("value", [1, 7, np.int32(3)])
def test_whole_numbers_are_allowed(value: object) -> None:
    check_whole_number("n", value, 1)


@pytest.mark.parametrize("value", [0, 1.5, 2.0, True, "3", None, math.nan])
def test_other_values_are_not_whole_numbers(value: object) -> None:
    with pytest.raises(ParameterError, match="n must be a whole number of at least 1, not "):
        check_whole_number("n", value, 1)


def test_none_is_allowed_on_request_and_then_named() -> None:
    check_whole_number("n", None, 1, or_none=True)
    with pytest.raises(ParameterError, match="n must be None or a whole number of at least 1, not 0"):
        check_whole_number("n", 0, 1, or_none=True)


def test_plain_values_are_those_of_python() -> None:
    with pytest.raises(ParameterError, match="n must be"):
        check_whole_number("n", np.int64(3), 1, plain=True)
    with pytest.raises(ParameterError, match="s must be"):
        check_share("s", np.float32(0.5), plain=True)
    with pytest.raises(ParameterError, match="f must be"):
        check_flag("f", np.bool_(True), plain=True)


@pytest.mark.parametrize("value", [0.25, 1, np.float64(0.5), np.float32(0.5)])
def test_shares_are_allowed(value: object) -> None:
    check_share("s", value)


@pytest.mark.parametrize("value", [0, 1.5, True, "0.5", None, math.nan])
def test_other_values_are_not_shares(value: object) -> None:
    with pytest.raises(ParameterError, match="s must be a number above 0 and at most 1, not "):
        check_share("s", value)


def test_a_share_may_have_a_higher_bound() -> None:
    with pytest.raises(ParameterError, match=r"s must be a number above 0\.5 and at most 1, not 0\.5"):
        check_share("s", 0.5, above=0.5)


def test_flags() -> None:
    check_flag("f", np.bool_(False))
    with pytest.raises(ParameterError, match="f must be True or False, not None"):
        check_flag("f", None)
