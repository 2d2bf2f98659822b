"""SVG: well-formed, inert, the same bytes, and all that is to be seen is there."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings

from drawn_trees import HOSTILE, TENNIS, chain, named_tree, numbers, regression, wide
from random_tables import trees_and_cases
from treewright.drawing.layout import lay_out
from treewright.drawing.node_histogram import node_histograms
from treewright.drawing.svg import svg_text
from treewright.export.view_model import visible_tree
from treewright.fitting.learn import fit
from treewright.learners.recipe import CART

SVG = "{http://www.w3.org/2000/svg}"
ELEMENTS = {f"{SVG}{name}" for name in ("svg", "style", "rect", "text", "g", "path", "title", "circle")}
ATTRIBUTES = {
    "class", "role", "aria-label", "width", "height", "viewBox", "font-family", "x", "y", "rx", "fill", "d",
    "stroke-width", "text-anchor", "data-node", "fill-opacity", "cx", "cy", "r",
}  # fmt: skip


def parsed(text: str) -> ElementTree.Element:
    """Parse a drawing; only known elements and attributes may be in it, and no address."""
    root = ElementTree.fromstring(text)  # noqa: S314
    for element in root.iter():
        assert element.tag in ELEMENTS
        assert set(element.keys()) <= ATTRIBUTES
    style = root.findtext(f"{SVG}style") or ""
    assert "url(" not in style
    assert "@import" not in style
    return root


def nodes(root: ElementTree.Element) -> list[ElementTree.Element]:
    return [element for element in root.iter(f"{SVG}g") if (element.get("class") or "").startswith("tw-node")]


def words(element: ElementTree.Element) -> list[str]:
    return [text.text or "" for text in element.iter(f"{SVG}text")]


def test_tree_of_the_lecture() -> None:
    root = parsed(svg_text(lay_out(visible_tree(TENNIS))))
    assert root.get("aria-label") == "Decision tree. PlayTennis: 8 nodes, depth 2"
    drawn = nodes(root)
    assert [node.get("class") for node in drawn][:3] == ["tw-node tw-test", "tw-node tw-test", "tw-node tw-leaf"]
    assert words(drawn[2]) == ["High", "No", "n = 3 · 100 %"]
    assert drawn[2].findtext(f"{SVG}title") == "Humidity = High: leaf 2 says No (pure); 3 cases: No 3"
    assert words(root)[:3] == ["PlayTennis: 8 nodes, depth 2", "Yes", "No"]


def test_bar_shows_the_mix_of_classes() -> None:
    root = parsed(svg_text(lay_out(visible_tree(TENNIS, max_depth=0))))
    bars = [rect for rect in nodes(root)[0].iter(f"{SVG}rect") if re.fullmatch(r"tw-c\d", rect.get("class") or "")]
    widths = [float(rect.get("width") or 0) for rect in bars]
    assert [rect.get("class") for rect in bars] == ["tw-c0", "tw-c1"]
    assert widths[0] / sum(widths) == pytest.approx(9 / 14, abs=1e-3)
    assert float(bars[1].get("x") or 0) == pytest.approx(float(bars[0].get("x") or 0) + widths[0], abs=0.02)


def test_histogram_shows_the_cases_and_the_cut_between_them() -> None:
    data = numbers()
    tree = fit(data, CART()).tree
    root = parsed(svg_text(lay_out(visible_tree(tree), node_histograms(tree, data, range(tree.n_nodes)))))
    first = nodes(root)[0]
    cuts = [path for path in first.iter(f"{SVG}path") if path.get("class") == "tw-cut"]
    assert len(cuts) == 1
    at = float((cuts[0].get("d") or "")[1:].split()[0])
    bars = [rect for rect in first.iter(f"{SVG}rect") if (rect.get("class") or "").startswith("tw-c")]
    low = min(float(bar.get("x") or 0) for bar in bars)
    high = max(float(bar.get("x") or 0) + float(bar.get("width") or 0) for bar in bars)
    assert (at - low) / (high - low) == pytest.approx(float(tree.cut[0]) / 39, abs=0.02)
    assert words(first)[-2:] == ["0", "39"]


def test_numbers_show_mean_and_spread() -> None:
    tree, data = regression()
    root = parsed(svg_text(lay_out(visible_tree(tree))))
    assert len(list(root.iter(f"{SVG}circle"))) == tree.n_nodes
    root = parsed(svg_text(lay_out(visible_tree(tree), node_histograms(tree, data, range(tree.n_nodes)))))
    assert len(list(root.iter(f"{SVG}circle"))) == tree.n_leaves


def test_folded_and_gathered_boxes_are_dashed_and_describe_what_they_hide() -> None:
    root = parsed(svg_text(lay_out(visible_tree(wide(30), max_branches=4))))
    last = nodes(root)[-1]
    assert last.get("class") == "tw-node tw-rest"
    assert words(last) == ["other", "… 27 more branches", "n = 378"]


def test_dark_ground_is_a_matter_of_the_reader() -> None:
    style = parsed(svg_text(lay_out(visible_tree(TENNIS)))).findtext(f"{SVG}style") or ""
    light, dark = style.split("@media (prefers-color-scheme:dark)")
    assert set(re.findall(r"\.tw-[a-z0-9]+", dark)) <= set(re.findall(r"\.tw-[a-z0-9]+", light))


def test_ground_may_be_left_to_the_page() -> None:
    assert svg_text(lay_out(visible_tree(TENNIS)), background=False).count('tw-page" width') == 0
    assert svg_text(lay_out(visible_tree(TENNIS))).count('tw-page" width') == 1


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_inert_and_legible(name: str) -> None:
    root = parsed(svg_text(lay_out(visible_tree(named_tree(name)))))
    assert len(nodes(root)) == 3
    if name.isprintable() and name:
        assert any(name in (title.text or "") for title in root.iter(f"{SVG}title"))


def test_long_title_is_cut() -> None:
    root = parsed(svg_text(lay_out(visible_tree(named_tree("x" * 5000))), longest_title=100))
    assert all(len(title.text or "") <= 100 for title in root.iter(f"{SVG}title"))


def test_same_tree_gives_the_same_bytes_in_any_process() -> None:
    code = (
        "import treewright; model = treewright.fit(treewright.sample('play-tennis'), treewright.ID3()); "
        "import sys; sys.stdout.buffer.write(model.to_svg().encode())"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert seen == {svg_text(lay_out(visible_tree(TENNIS))).encode()}


def test_depth_of_thousands_is_drawn() -> None:
    root = parsed(svg_text(lay_out(visible_tree(chain(2999), max_nodes=None))))
    assert len(nodes(root)) == 5999


@settings(max_examples=60, deadline=None)
@given(trees_and_cases())
def test_any_tree_is_well_formed(pair: Any) -> None:
    tree, cases = pair
    view = visible_tree(tree)
    parsed(svg_text(lay_out(view)))
    root = parsed(svg_text(lay_out(view, node_histograms(tree, cases, range(tree.n_nodes)))))
    assert len(nodes(root)) == len(view.nodes)
    assert "nan" not in ElementTree.tostring(root, "unicode")
