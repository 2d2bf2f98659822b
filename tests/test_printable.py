"""Names from the data on a terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright.wording import number, printable


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("two\nlines", r"two\nlines"),
        ("\x1b[31mred\x07", r"\x1b[31mred\x07"),
        ("\u202eright to left", r"\u202eright to left"),
        ("line\u2028end", r"line\u2028end"),
        ("nul\x00", r"nul\x00"),
        ("half \ud83d", r"half \ud83d"),
        ("\x9b31m", r"\x9b31m"),
    ],
)
def test_what_would_act_on_the_terminal_is_escaped(raw: str, shown: str) -> None:
    assert printable(raw) == shown


@pytest.mark.parametrize("name", ["plain", "Größe", "😀", "日本", "שלום", "</script>", "a b", "{x}"])
def test_letters_of_all_scripts_stay_as_they_are(name: str) -> None:
    assert printable(name) == name


@given(st.text())
def test_the_result_is_one_line_that_can_be_encoded(text: str) -> None:
    shown = printable(text)
    shown.encode("utf-8")
    assert len(shown.splitlines()) <= 1
    assert "\x1b" not in shown
    assert printable(shown) == shown


@given(st.text(), st.integers(1, 20))
def test_the_limit_holds_after_escaping(text: str, limit: int) -> None:
    shown = printable(text, limit)
    assert len(shown) <= limit
    assert shown == printable(text) or shown == printable(text)[: limit - 1] + "…"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (14.0, "14"),
        (100.0, "100"),
        (0.0, "0"),
        (0.05, "0.1"),
        (2.5, "2.5"),
        (1e15, "1000000000000000"),
        (-3.25, "-3.2"),
    ],
)
def test_weights_are_short(value: float, shown: str) -> None:
    assert number(value) == shown


def test_what_rounding_left_of_nothing_has_no_sign() -> None:
    assert number(-1e-16) == "0"
    assert number(-0.0) == "0"


def test_more_decimals_on_request() -> None:
    assert number(1 / 3, decimals=3) == "0.333"
    assert number(120.0, decimals=0) == "120"
