"""Positions and words of a drawing."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_trees import HOSTILE, TENNIS, chain, named_tree, numbers, regression, wide
from random_tables import trees_and_cases
from treewright.drawing.layout import LABEL, MARGIN, THICKEST, TreeLayout, edge_heights, lay_out
from treewright.drawing.markup import text_width
from treewright.drawing.node_histogram import node_histograms
from treewright.export.view_model import visible_tree
from treewright.fitting.learn import fit
from treewright.learners.recipe import CART


def check(layout: TreeLayout) -> None:
    """Everything is on the page, nothing overlaps, children are below their parents."""
    boxes, nodes = layout.boxes, layout.view.nodes
    for one, box in zip(nodes, boxes, strict=True):
        assert box.x - box.width / 2 >= MARGIN - 1e-6
        assert box.x + box.width / 2 <= layout.width - MARGIN + 1e-6
        assert box.y + box.height <= layout.height - MARGIN + 1e-6
        assert all(text_width(line, 11) <= box.width for line in box.lines[1:])
        assert box.picture < box.y + box.height
        if one.parent >= 0:
            above = boxes[one.parent]
            assert box.y >= above.y + above.height + LABEL
            assert abs(box.start - above.x) <= above.width / 2 + THICKEST
            begin, first, second, end = edge_heights(above, box)
            assert begin <= first
            assert begin <= end <= box.y
            assert second <= end
    rows: dict[float, list[Any]] = {}
    for box in boxes:
        rows.setdefault(box.y, []).append(box)
    for row in rows.values():
        row.sort(key=lambda box: float(box.x))
        for one, other in itertools.pairwise(row):
            assert one.x + one.width / 2 < other.x - other.width / 2
            assert one.x + text_width(one.branch, 11) / 2 < other.x - text_width(other.branch, 11) / 2
    for swatch in layout.legend:
        assert swatch.x + text_width(swatch.text, 11) <= layout.width


def test_words_of_the_tree_of_the_lecture() -> None:
    layout = lay_out(visible_tree(TENNIS))
    check(layout)
    assert layout.heading == "PlayTennis: 8 nodes, depth 2"
    assert [swatch.text for swatch in layout.legend] == ["Yes", "No"]
    assert [box.lines for box in layout.boxes][:3] == [
        ("Outlook", "n = 14"),
        ("Humidity", "n = 5"),
        ("No", "n = 3 · 100 %"),
    ]
    assert [box.branch for box in layout.boxes][:3] == ["", "Sunny", "High"]


def test_edges_are_as_wide_as_their_cases_are_many_and_begin_side_by_side() -> None:
    layout = lay_out(visible_tree(TENNIS, max_depth=1))
    edges = [box.edge for box in layout.boxes]
    assert edges == pytest.approx([0, THICKEST * 5 / 14, THICKEST * 4 / 14, THICKEST * 5 / 14])
    starts = [box.start for box in layout.boxes[1:]]
    assert starts[1] - starts[0] == pytest.approx((edges[1] + edges[2]) / 2)
    assert starts[0] - edges[1] / 2 == pytest.approx(layout.boxes[0].x - THICKEST / 2)


def test_heading_may_be_given_or_left_out() -> None:
    with_heading = lay_out(visible_tree(TENNIS), heading="Weather\nof May")
    assert with_heading.heading == "Weather\\nof May"
    without = lay_out(visible_tree(TENNIS), heading="")
    assert without.heading == ""
    assert without.height < with_heading.height
    assert lay_out(visible_tree(TENNIS, root=5)).heading.endswith(", from node 5")
    assert lay_out(visible_tree(TENNIS), heading="x" * 1000).heading.endswith("…")


def test_box_with_a_histogram_is_large_enough_for_it() -> None:
    data = numbers()
    tree = fit(data, CART()).tree
    plain = lay_out(visible_tree(tree))
    plots = lay_out(visible_tree(tree), node_histograms(tree, data, range(tree.n_nodes)))
    check(plots)
    assert plots.boxes[0].histogram is not None
    assert plots.boxes[0].height > plain.boxes[0].height
    assert all(
        box.histogram is None
        for one, box in zip(plots.view.nodes, plots.boxes, strict=True)
        if one.hidden == 0 and one.stop
    )


def test_numbers_have_gauges_and_no_legend() -> None:
    tree, _ = regression()
    layout = lay_out(visible_tree(tree))
    check(layout)
    assert layout.legend == ()
    assert all(0 <= low <= mean <= high <= 1 for low, mean, high in (box.error_bar for box in layout.boxes))
    assert layout.boxes[0].lines[1].startswith("mean 5.625 ± ")
    assert min(box.error_bar[0] for box in layout.boxes) == 0
    assert max(box.error_bar[2] for box in layout.boxes) == 1


def test_one_leaf_is_a_drawing_too() -> None:
    tree, _ = regression()
    leaf = visible_tree(tree, root=tree.n_nodes - 1)
    assert lay_out(leaf).boxes[0].error_bar == pytest.approx((0.0, 0.5, 1.0))
    check(lay_out(visible_tree(TENNIS, root=2)))


def test_legend_of_many_classes_names_the_heaviest_and_counts_the_others() -> None:
    layout = lay_out(visible_tree(wide(3, 30)))
    texts = [swatch.text for swatch in layout.legend]
    assert len(texts) == 8
    assert texts[-1] == "23 other classes"
    assert len({swatch.y for swatch in layout.legend}) > 1
    check(layout)


@pytest.mark.parametrize("name", [*HOSTILE, "x" * 5000, "天" * 300])
def test_any_names_keep_to_their_boxes_and_the_title_has_them_all(name: str) -> None:
    layout = lay_out(visible_tree(named_tree(name)))
    check(layout)
    assert layout.boxes[0].title == layout.view.describe(0)
    assert layout.width < 700


def test_plain_data_can_be_written_as_json() -> None:
    data = numbers()
    tree = fit(data, CART()).tree
    layout = lay_out(visible_tree(tree), node_histograms(tree, data, range(tree.n_nodes)))
    plain = json.loads(json.dumps(layout.to_dict(), allow_nan=False))
    assert plain["classes"] == [{"name": "a", "colour": 0}, {"name": "b", "colour": 1}]
    assert plain["nodes"][0]["histogram"]["counts"]
    assert [node["parent"] for node in plain["nodes"]] == tree.parent.tolist()
    numbers_tree, _ = regression()
    plain = json.loads(json.dumps(lay_out(visible_tree(numbers_tree)).to_dict()))
    assert plain["classes"] == []
    assert len(plain["nodes"][0]["gauge"]) == 3


def test_depth_of_thousands_is_placed() -> None:
    layout = lay_out(visible_tree(chain(2999), max_nodes=None))
    assert len(layout.boxes) == 5999
    tops = sorted({box.y for box in layout.boxes})
    assert len(tops) == 3000


@settings(max_examples=80, deadline=None)
@given(trees_and_cases(), st.integers(1, 20))
def test_any_drawing_is_in_order(pair: Any, most: int) -> None:
    tree, cases = pair
    view = visible_tree(tree, max_nodes=most)
    check(lay_out(view))
    check(lay_out(view, node_histograms(tree, cases, range(tree.n_nodes))))
