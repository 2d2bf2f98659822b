"""PDF and PNG by matplotlib: the same words and boxes as the SVG, in any script, and no file too large to be opened."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from drawn_trees import HOSTILE, TENNIS, chain, named_tree, numbers, regression, wide
from treewright.drawing.figure import save_figure
from treewright.drawing.layout import lay_out
from treewright.drawing.node_histogram import node_histograms
from treewright.drawing.picture import printed, tree_figure
from treewright.errors import MissingExtraError, ParameterError
from treewright.export.view_model import visible_tree
from treewright.fitting.learn import fit
from treewright.learners.recipe import CART


def texts(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]


def test_words_and_size_are_those_of_the_layout() -> None:
    layout = lay_out(visible_tree(TENNIS))
    figure = tree_figure(layout)
    assert figure.get_size_inches() * 96 == pytest.approx((layout.width, layout.height))
    shown = texts(figure)
    assert shown[:3] == ["PlayTennis: 8 nodes, depth 2", "Yes", "No"]
    for box in layout.boxes:
        assert set(box.lines) <= set(shown)
        assert not box.branch or box.branch in shown


def test_histograms_gauges_and_folded_boxes_are_drawn(tmp_path: Path) -> None:
    data = numbers()
    tree = fit(data, CART()).tree
    plots = tree_figure(lay_out(visible_tree(tree), node_histograms(tree, data, range(tree.n_nodes))))
    assert {"0", "39"} <= set(texts(plots))
    number_tree, cases = regression()
    error_bars = tree_figure(lay_out(visible_tree(number_tree)))
    assert sum(type(patch).__name__ == "Circle" for patch in error_bars.axes[0].patches) == number_tree.n_nodes
    with_plots = lay_out(visible_tree(number_tree), node_histograms(number_tree, cases, [0]))
    rest = tree_figure(lay_out(visible_tree(wide(30, 9), max_branches=4)))
    assert "… 27 more branches" in texts(rest)
    for name, figure in (("plots", plots), ("gauges", error_bars), ("both", tree_figure(with_plots)), ("rest", rest)):
        save_figure(figure, tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("suffix", ["png", "pdf"])
def test_same_tree_gives_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    for name in "ab":
        save_figure(tree_figure(lay_out(visible_tree(TENNIS))), tmp_path / f"{name}.{suffix}")
    assert (tmp_path / f"a.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes()


def test_form_may_be_named_instead_of_the_suffix(tmp_path: Path) -> None:
    save_figure(tree_figure(lay_out(visible_tree(TENNIS))), tmp_path / "tree", form="pdf")
    assert (tmp_path / "tree").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("name", HOSTILE)
def test_any_names_are_printed_without_warning_or_formula(tmp_path: Path, name: str) -> None:
    save_figure(tree_figure(lay_out(visible_tree(named_tree(name)))), tmp_path / "tree.png")


def test_characters_without_a_glyph_are_replaced() -> None:
    assert printed("n ≤ 3 … é") == "n ≤ 3 … é"
    assert printed("天 \U0001f980") == "\ufffd \ufffd"


def test_picture_that_no_reader_would_open_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"too large for PDF and PNG: show fewer nodes \(max_nodes, max_depth\)"):
        tree_figure(lay_out(visible_tree(chain(400), max_nodes=None)))


def test_missing_matplotlib_is_reported_with_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r'draw a tree as PDF or PNG: pip install "treewright\[plots\]"'):
        tree_figure(lay_out(visible_tree(TENNIS)))
