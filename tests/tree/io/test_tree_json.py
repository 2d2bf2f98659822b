"""The nested form has the shape that the recorded trees have."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import given, settings

from random_tables import trees_and_cases
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.fitting.learn import fit
from treewright.learners.recipe import ID3
from treewright.tree.build import NodeRecord, build_tree
from treewright.tree.io.tree_json import plain_number, tree_to_json
from treewright.tree.split import Split
from treewright.tree.tree import Stop, Tree

CLASSES = Column("y", Kind.NOMINAL, ("a", "b"))


def leaf(a: float, b: float) -> NodeRecord:
    return NodeRecord(a + b, np.array([a, b]), int(b > a), stop=Stop.PURE)


def test_a_tree_with_a_branch_per_value() -> None:
    tree = fit(sample("play-tennis"), ID3()).tree.to_dict()
    assert {key: value for key, value in tree.items() if key != "children"} == {
        "class": "Yes",
        "n": 14,
        "e": 5,
        "dist": {"Yes": 9, "No": 5},
        "attr": "Outlook",
        "test": "nominal",
        "missing": "Sunny",
    }
    assert [label for label, _ in tree["children"]] == ["Sunny", "Overcast", "Rain"]
    assert tree["children"][1][1] == {"class": "Yes", "n": 4, "e": 0, "dist": {"Yes": 4}, "stop": "pure"}


def test_cuts_subsets_and_single_values_have_their_labels() -> None:
    schema = Schema((Column("x", Kind.NUMERIC), Column("c", Kind.NOMINAL, ("u", "v", "w")), CLASSES), target="y")
    records = [
        NodeRecord(6.5, np.array([3.5, 3]), 0, Split.threshold(0, 1.5), [1, 2]),
        NodeRecord(3.5, np.array([2.5, 1]), 0, Split.subsets(1, (0, 1, 0), missing=0), [3, 4]),
        NodeRecord(3.0, np.array([1, 2]), 1, Split.equals(1, 1, 3, missing=1), [5, 6]),
        leaf(2.5, 0),
        leaf(0, 1),
        leaf(1, 0),
        leaf(0, 2),
    ]
    root = build_tree(schema, records)[0].to_dict()
    assert (root["test"], root["cut"], root["missing"]) == ("threshold", 1.5, "fractional")
    assert [label for label, _ in root["children"]] == ["<=", ">"]
    assert (root["n"], root["e"], root["dist"]) == (6.5, 3, {"a": 3.5, "b": 3})
    low, high = (node for _, node in root["children"])
    assert (low["test"], low["missing"]) == ("subset", ["u", "w"])
    assert [label for label, _ in low["children"]] == [["u", "w"], ["v"]]
    assert (high["test"], high["value"], high["missing"]) == ("equals", "v", "!=")
    assert [label for label, _ in high["children"]] == ["=", "!="]


def test_regression_over_intervals_has_values_and_sums_of_squares() -> None:
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    leaves = [NodeRecord(1.0, np.zeros(0), value, stop=Stop.PURE, sse=0.0) for value in (1.0, 2.5, 3.0)]
    root = NodeRecord(3.0, np.zeros(0), 2.0, Split.intervals(0, (1.0, 2.5), missing=1), [1, 2, 3], sse=2.25)
    assert build_tree(schema, [root, *leaves])[0].to_dict() == {
        "value": 2.0,
        "n": 3,
        "sse": 2.25,
        "attr": "x",
        "test": "intervals",
        "intervals": [1.0, 2.5],
        "missing": 1,
        "children": [
            [0, {"value": 1.0, "n": 1, "sse": 0.0, "stop": "pure"}],
            [1, {"value": 2.5, "n": 1, "sse": 0.0, "stop": "pure"}],
            [2, {"value": 3.0, "n": 1, "sse": 0.0, "stop": "pure"}],
        ],
    }


def test_an_estimate_stands_beside_the_error() -> None:
    record = leaf(3, 1)
    record.estimate = 1.75
    schema = Schema((Column("x", Kind.NUMERIC), CLASSES), target="y")
    node = build_tree(schema, [record])[0].to_dict()
    assert (node["e"], node["estimate"]) == (1, 1.75)


@given(trees_and_cases())
@settings(max_examples=50)
def test_the_written_text_is_the_json_of_the_nested_form(pair: tuple[Tree, Dataset]) -> None:
    tree, _ = pair
    assert json.loads(tree_to_json(tree)) == json.loads(json.dumps(tree.to_dict()))


def test_names_are_written_so_that_they_come_back() -> None:
    name = '</script>"\n\u202e😀'
    schema = Schema((Column(name, Kind.NOMINAL, (name, "v")), CLASSES), target="y")
    root = NodeRecord(2.0, np.array([1, 1]), 0, Split.multiway(0, 2), [1, 2])
    tree = build_tree(schema, [root, leaf(1, 0), leaf(0, 1)])[0]
    again = json.loads(tree_to_json(tree))
    assert (again["attr"], again["children"][0][0]) == (name, name)


def test_a_depth_of_three_thousand_is_written() -> None:
    schema = Schema((Column("x", Kind.NUMERIC), CLASSES), target="y")
    records = []
    for depth in range(3000):
        records += [
            NodeRecord(1.0, np.array([1, 0]), 0, Split.threshold(0, depth), [2 * depth + 1, 2 * depth + 2]),
            leaf(1, 0),
        ]
    text = tree_to_json(build_tree(schema, [*records, leaf(1, 0)])[0])
    assert text.count('"children"') == 3000
    assert text.count("[") == text.count("]") == 3000 * 3


def test_whole_numbers_are_written_as_such() -> None:
    assert json.dumps([plain_number(3.0), plain_number(np.float64(2.5)), plain_number(0.0)]) == "[3, 2.5, 0]"
