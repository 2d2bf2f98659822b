"""What of a tree is seen: all of it, or the heaviest nodes first, and never more than was asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_trees import TENNIS, chain, regression, wide
from random_tables import trees_and_cases
from treewright.errors import ParameterError
from treewright.export.view_model import OTHER, Shape, VisibleTree, rounded, visible_tree
from treewright.tree.tree import Tree


def shapes(view: VisibleTree) -> list[str]:
    return [str(one.shape) for one in view.nodes]


def test_small_tree_is_seen_whole_in_its_own_order() -> None:
    view = visible_tree(TENNIS)
    assert [one.number for one in view.nodes] == list(range(8))
    assert [one.parent for one in view.nodes] == TENNIS.parent.tolist()
    assert [one.name for one in view.nodes] == ["Outlook", "Humidity", "No", "Yes", "Yes", "Wind", "Yes", "No"]
    assert [one.branch for one in view.nodes][1:4] == ["Sunny", "High", "Normal"]
    assert all(one.hidden_text == "" for one in view.nodes)


def test_depth_folds_what_is_below_and_counts_it() -> None:
    view = visible_tree(TENNIS, max_depth=1)
    assert shapes(view) == ["test", "folded", "leaf", "folded"]
    assert [one.hidden for one in view.nodes] == [0, 2, 0, 2]
    assert view.nodes[1].hidden_text == "… 2 more nodes"
    assert visible_tree(TENNIS, max_depth=0).nodes[0].hidden_text == "… 7 more nodes"


def test_part_of_a_tree_begins_at_its_node() -> None:
    view = visible_tree(TENNIS, root=5)
    assert [one.number for one in view.nodes] == [5, 6, 7]
    assert view.nodes[0].parent == -1
    assert view.nodes[0].branch == ""


def test_folded_nodes_stay_closed() -> None:
    assert shapes(visible_tree(TENNIS, folded={1})) == ["test", "folded", "leaf", "test", "leaf", "leaf"]
    assert shapes(visible_tree(TENNIS, folded=[0])) == ["folded"]


def test_heaviest_nodes_are_opened_first() -> None:
    view = visible_tree(chain(50), max_nodes=7)
    assert shapes(view) == ["test", "leaf", "test", "leaf", "test", "leaf", "folded"]
    assert view.nodes[-1].hidden == 94


def test_many_branches_share_a_box_the_heaviest_are_seen() -> None:
    view = visible_tree(wide(40), max_branches=5)
    assert shapes(view) == ["test", "leaf", "leaf", "leaf", "leaf", "rest"]
    assert [one.branch for one in view.nodes[1:]] == ["v36", "v37", "v38", "v39", "other"]
    rest = view.nodes[-1]
    assert rest.name == "… 36 more branches"
    assert rest.hidden == 36
    assert rest.weight == sum(range(1, 37))
    assert rest.counts == (324.0, 342.0)
    assert rest.number == 0


def test_root_with_more_branches_than_boxes_is_not_hidden_whole() -> None:
    view = visible_tree(wide(40), max_nodes=4)
    assert shapes(view) == ["test", "leaf", "leaf", "rest"]
    assert view.nodes[-1].name == "… 38 more branches"


def test_one_box_is_the_root_alone() -> None:
    assert shapes(visible_tree(wide(40), max_nodes=1)) == ["folded"]


def test_rest_of_a_tree_of_numbers_has_the_mean_and_spread_of_all_its_cases() -> None:
    tree, _ = regression()
    values = wide(6)
    columns = {
        name: getattr(values, name) for name in ("attribute", "test", "cut", "missing", "child_start", "children")
    }
    columns |= {
        name: getattr(values, name) for name in ("value_start", "value_branch", "bound_start", "bounds", "stop")
    }
    schema = tree.schema
    weight = np.array([6.0, 1, 1, 1, 1, 1, 1])
    numbers = Tree(
        schema=type(schema)((values.schema.attributes[0], schema.target_column), target="y"),
        weight=weight,
        counts=np.zeros((7, 0)),
        outcome=np.array([2.5, 0, 1, 2, 3, 4, 5.0]),
        sse=np.array([17.5, 0, 0, 0, 0, 0, 0]),
        **columns,
    )
    rest = visible_tree(numbers, max_branches=2).nodes[-1]
    assert rest.outcome == pytest.approx(3.0)
    assert rest.spread == pytest.approx(np.std([1, 2, 3, 4, 5]))
    assert rest.counts == ()


def test_conditions_have_the_signs_of_a_drawing_and_short_numbers() -> None:
    tree, _ = regression()
    assert [one.branch for one in visible_tree(tree, max_depth=1).nodes] == ["", "≤ 15.5", "> 15.5"]
    assert rounded(0.0982690780896553) == "0.098269"
    assert rounded(1234567.0) == "1234567"
    assert rounded(-1.5) == "-1.5"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_nodes": 0}, "max_nodes must be None or a whole number of at least 1, not 0"),
        ({"max_depth": -1}, "max_depth must be None or a whole number of at least 0"),
        ({"max_branches": 1}, "max_branches must be None or a whole number of at least 2"),
        ({"max_nodes": True}, "max_nodes"),
        ({"max_depth": 1.5}, "max_depth"),
        ({"root": 8}, "there is no node 8; the nodes are 0 to 7"),
    ],
)
def test_impossible_wishes_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        visible_tree(TENNIS, **options)


def test_description_has_all_of_a_box_and_shortens_nothing() -> None:
    view = visible_tree(TENNIS, max_depth=1)
    assert view.describe(0) == "node 0 tests Outlook; 14 cases: Yes 9, No 5"
    assert view.describe(1) == "Outlook = Sunny: node 1, mostly No, 2 more nodes below; 5 cases: No 3, Yes 2"
    assert view.describe(2) == "Outlook = Overcast: leaf 4 says Yes (pure); 4 cases: Yes 4"
    rest = visible_tree(wide(10, 9), max_branches=2)
    assert rest.describe(2).startswith("x other: 9 more branches, 9 more nodes; 45 cases: c8 9, c7 8")
    assert rest.describe(2).endswith(" and 2 more")


def test_description_of_numbers_has_mean_and_deviation() -> None:
    tree, _ = regression()
    result = visible_tree(tree, max_depth=1).describe(1)
    assert result.startswith("x ≤ 15.5: node 1, 2 more nodes below; 16 cases, mean 0.625, standard deviation ")


def test_empty_leaf_has_no_share() -> None:
    view = visible_tree(wide(2))
    empty = type(view.nodes[1])(1, 0, Shape.LEAF, "c0", "v0", 0.0, (0.0, 0.0), 0)
    assert empty.share is None
    assert VisibleTree(view.tree, (view.nodes[0], empty)).describe(1) == "x = v0: leaf 1 says c0 (); 0 cases"


@pytest.mark.parametrize("classes", [2, 7, 8, 20])
def test_the_heaviest_classes_have_colours_of_their_own(classes: int) -> None:
    colours = visible_tree(wide(classes, classes)).colours
    if classes <= OTHER:
        assert colours == tuple(range(classes))
        return
    assert colours[-OTHER:] == tuple(range(OTHER))
    assert set(colours[:-OTHER]) == {OTHER}


def test_twenty_thousand_nodes_can_be_seen_whole() -> None:
    tree = chain(10_000)
    assert len(visible_tree(tree, max_nodes=None).nodes) == 20_001


@settings(max_examples=150, deadline=None)
@given(trees_and_cases(), st.integers(1, 12), st.integers(0, 4), st.integers(2, 5))
def test_any_view_model_keeps_its_limits_and_loses_no_node(pair: Any, most: int, depth: int, branches: int) -> None:
    tree, _ = pair
    view = visible_tree(tree, max_nodes=most, max_depth=depth, max_branches=branches)
    nodes = view.nodes
    assert len(nodes) <= most
    assert sum(one.shape is not Shape.REST for one in nodes) + sum(one.hidden for one in nodes) == tree.n_nodes
    below: dict[int, int] = {}
    for position, one in enumerate(nodes):
        assert one.parent < position
        assert (one.parent < 0) == (position == 0)
        below[one.parent] = below.get(one.parent, 0) + 1
        assert view.describe(position)
    assert all(count <= branches for parent, count in below.items() if parent >= 0)
    assert {position for position, one in enumerate(nodes) if one.shape is Shape.TEST} == set(below) - {-1}
