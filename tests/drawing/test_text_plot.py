"""Text plots: the size that was asked for, every encoding, and numbers that cannot be drawn."""

from __future__ import annotations

from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright.drawing.text_plot import Mark, Series, bars, can_draw_braille, line_plot

numbers = st.floats(-1e12, 1e12, allow_nan=False)


@given(
    st.lists(st.tuples(numbers, numbers), min_size=1, max_size=30),
    st.integers(20, 90),
    st.integers(5, 20),
    st.booleans(),
)
def test_a_plot_has_the_size_that_was_asked_for(
    points: list[tuple[float, float]], width: int, height: int, braille: bool
) -> None:
    x, y = zip(*points, strict=True)
    lines = line_plot([Series("s", x, y)], width=width, height=height, braille=braille).splitlines()
    assert len(lines) == height
    assert max(map(len, lines)) <= max(width, 34)
    "".join(lines).encode("utf-8" if braille else "ascii")


def test_the_line_goes_through_its_points() -> None:
    text = line_plot([Series("s", [0, 10], [5, 0])], width=20, height=7).splitlines()
    assert text[0].startswith("5 |*")
    assert text[4].endswith("*")


def test_two_series_have_a_legend() -> None:
    series = [Series("up", [1, 2], [1, 2]), Series("down", [1, 2], [2, 1])]
    plain = line_plot(series, width=30, height=8, x_label="cases", y_label="accuracy")
    assert plain.splitlines()[0] == "accuracy"
    assert "* up   + down" in plain
    assert "cases" in plain
    assert "⠒⠒⠒ up" in line_plot(series, width=30, height=8, braille=True)


def test_the_first_line_is_on_top() -> None:
    same = [Series("first", [1, 2], [1, 2]), Series("second", [1, 2], [1, 2])]
    drawn = line_plot(same, width=30, height=8).split("+---", maxsplit=1)[0]
    assert "*" in drawn
    assert "+" not in drawn


@pytest.mark.parametrize("braille", [False, True])
def test_marks_point_at_their_positions_and_are_explained(braille: bool) -> None:
    marks = [Mark(10, "^", "the best"), Mark(1, "'", "the \x1b[31m least"), Mark(10, "!", "hidden behind the best")]
    text = line_plot([Series("s", [1, 10, 100], [3, 1, 2])], width=40, log_x=True, braille=braille, marks=marks)
    axis, pointers, ends, *meanings = text.splitlines()[-6:]
    corner = axis.index("└" if braille else "+")
    assert pointers[corner + 1] == "'"
    assert abs(pointers.index("^") - (corner + 1 + len(axis)) / 2) <= 1
    assert "!" not in pointers
    assert ends.split() == ["1", "100"]
    assert [line.strip() for line in meanings] == ["^ the best", "' the \\x1b[31m least", "! hidden behind the best"]


def test_what_cannot_be_drawn() -> None:
    assert line_plot([]) == "(nothing to draw)"
    assert line_plot([Series("s", [1.0], [nan])]) == "(nothing to draw)"
    assert line_plot([Series("s", [0.0, -1.0], [1.0, 2.0])], log_x=True) == "(nothing to draw)"
    assert bars([], []) == "(nothing to draw)"
    assert "-" in bars(["a", "b"], [nan, 1.0])
    with pytest.raises(ValueError, match="zip"):
        line_plot([Series("s", [1.0, 2.0], [1.0])])


def test_a_single_point_and_a_flat_line() -> None:
    assert "*" in line_plot([Series("s", [3.0], [3.0])])
    assert line_plot([Series("s", [1.0, 2.0], [0.0, 0.0])], width=30).count("*") > 20


def test_a_logarithmic_axis_prints_its_ends_as_numbers() -> None:
    last = line_plot([Series("s", [1, 1000], [0, 1])], log_x=True, width=40).splitlines()[-1]
    assert last.split() == ["1", "1,000"]


def test_bars() -> None:
    text = bars(["one", "two"], [0.5, 0.25], width=30, largest=1.0)
    assert text.splitlines() == ["one  ##########            0.5", "two  #####                0.25"]
    assert "█" in bars(["a"], [1.0], blocks=True)
    assert bars(["a"], [-1.0]).count("#") == 0
    assert bars(["a"], [inf]).count("#") == 0
    assert "\\x1b" in bars(["\x1b[31m"], [1.0])


def test_encodings() -> None:
    assert can_draw_braille("UTF-8")
    assert not can_draw_braille("latin-1")
    assert not can_draw_braille("no such encoding")
