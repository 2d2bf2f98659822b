"""Colours: distinct, legible."""

from __future__ import annotations

import pytest

from treewright.drawing.figure import DARK, LIGHT, Ground, blended


def luminance(colour: str) -> float:
    """Relative luminance as the accessibility guidelines (WCAG 2) define it."""
    parts = [int(colour[index : index + 2], 16) / 255 for index in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("ground", [LIGHT, DARK])
def test_words_are_legible_on_page_boxes_and_leaves(ground: Ground) -> None:
    for surface in (ground.page, ground.box, *(blended(colour, ground.page) for colour in ground.classes)):
        assert contrast(ground.words, surface) > 7
        assert contrast(ground.quiet, surface) > 4.5


@pytest.mark.parametrize("ground", [LIGHT, DARK])
def test_classes_are_eight_different_colours(ground: Ground) -> None:
    assert len(set(ground.classes)) == 8
    assert all(contrast(colour, ground.page) > 1.2 for colour in ground.classes)


def test_mixing() -> None:
    assert blended("#ff0000", "#0000ff", 0.5) == "#800080"
    assert blended("#123456", "#ffffff", 1.0) == "#123456"
