"""The lines of a box."""

from __future__ import annotations

from dataclasses import replace

from drawn_trees import regression, wide
from treewright.export.view_model import LONGEST, Shape, VisibleNode, lines_of, percent, visible_tree


def test_long_names_are_cut() -> None:
    first, second = lines_of(VisibleNode(0, -1, Shape.TEST, "x" * 500, "", 3.5, (2.0, 1.5), 0))
    assert len(first) == LONGEST
    assert first.endswith("…")
    assert second == "n = 3.5"


def test_box_of_the_rest_has_the_number_of_its_nodes_once() -> None:
    rest = visible_tree(wide(9), max_branches=3).nodes[-1]
    assert lines_of(rest) == ["… 7 more branches", "n = 28"]
    assert lines_of(replace(rest, hidden=19)) == ["… 7 more branches", "n = 28", "… 19 more nodes"]


def test_boxes_of_numbers_have_mean_and_spread() -> None:
    tree, _ = regression()
    test, *_, leaf = visible_tree(tree).nodes
    assert lines_of(test)[1].startswith("mean 5.625 ± ")
    assert lines_of(leaf)[1:] == ["± 0.125", "n = 8"]


def test_only_what_is_certain_is_nothing_or_all() -> None:
    assert [percent(share) for share in (0.0, 0.001, 0.004, 0.5, 0.9999, 1.0)] == [
        "0 %", "< 1 %", "< 1 %", "50 %", "> 99 %", "100 %",
    ]  # fmt: skip
