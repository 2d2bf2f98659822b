"""Words inside XML."""

from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from treewright.drawing.markup import decimal, hundredth, xml_text


@given(st.text())
def test_any_text_is_well_formed_and_comes_back(text: str) -> None:
    escaped = xml_text(text)
    element = ElementTree.fromstring(f'<t a="{escaped}">{escaped}</t>')  # noqa: S314
    assert element.get("a") is not None
    held = (element.text or "").replace("\r", "\n")
    if all(
        character >= " " and not 0xD800 <= ord(character) < 0xE000 and ord(character) < 0xFFFE for character in text
    ):
        assert held == text


def test_surrogates_and_what_xml_forbids_are_spelled_out() -> None:
    assert xml_text("\ud800\x00\uffff") == "\\ud800\\x00\\uffff"


def test_long_texts_are_cut_before_they_are_escaped() -> None:
    assert xml_text("<<<<<<", 3) == "&lt;&lt;…"


def test_lengths_are_short() -> None:
    assert [decimal(value) for value in (0.04, -0.04, 1234.56, 7)] == ["0", "0", "1234.6", "7"]
    assert [hundredth(value) for value in (0.004, -0.004, 10.0, 100, 1.5)] == ["0", "0", "10", "100", "1.5"]
