"""The width of words without a font."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright.drawing.markup import fitted, text_width
from treewright.errors import ParameterError


def test_scripts_have_their_widths() -> None:
    assert text_width("iiii", 10) < text_width("aaaa", 10) < text_width("AAAA", 10) < text_width("MMMM", 10)
    assert text_width("天天", 10) > text_width("aa", 10)
    assert text_width("é", 10) >= text_width("e\u0301", 10) == text_width("e", 10)
    assert text_width("😀", 10) > 10
    assert text_width("a", 10, bold=True) > text_width("a", 10)


@given(st.text(max_size=200), st.floats(20, 300), st.booleans())
def test_shortened_words_fit_and_keep_their_beginning(text: str, max_width: float, bold: bool) -> None:
    short = fitted(text, 11, max_width, bold=bold)
    assert text_width(short, 11, bold=bold) <= max_width + 1e-9
    assert short == text or (short.endswith("…") and text.startswith(short[:-1]))


def test_words_of_any_length_are_shortened_quickly() -> None:
    assert len(fitted("x" * 10_000_000, 11, 100)) < 20
    assert fitted("", 11, 100) == ""


def test_too_little_space_is_refused() -> None:
    with pytest.raises(ParameterError, match="too small for text"):
        fitted("x", 11, 5)
