"""C4.5's collapsing, and cutting nodes in general."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from oracle_sets import load_json, load_set, set_names
from random_tables import schemas, trees_of
from small_trees import SCHEMA, tree_of
from treewright.data.schema import Task
from treewright.errors import ParameterError
from treewright.pruning.collapse import collapse, cut_at, staying_counts, staying_errors
from treewright.tree.build import NodeRecord, build_tree
from treewright.tree.split import STAY, Split
from treewright.tree.tree import LEAF, Stop, Tree


def leaf(*counts: float) -> NodeRecord:
    return NodeRecord(float(sum(counts)), np.array(counts), int(np.argmax(counts)), stop=Stop.DEPTH)


def inner(split: Split, children: list[int], *counts: float) -> NodeRecord:
    return NodeRecord(float(sum(counts)), np.array(counts), int(np.argmax(counts)), split, children)


def tree(*records: NodeRecord) -> Tree:
    return build_tree(SCHEMA, records)[0]


def leaf_errors(grown: Tree) -> float:
    return float(grown.errors[grown.attribute == LEAF].sum())


def test_a_test_that_saves_no_error_goes_and_one_that_does_stays() -> None:
    grown = tree(
        inner(Split.multiway(2, 2), [1, 4], 6, 4, 0),
        inner(Split.threshold(1, 2.0), [2, 3], 5, 1, 0),
        leaf(3, 0, 0),
        leaf(2, 1, 0),
        leaf(1, 3, 0),
    )
    collapsed = collapse(grown)
    assert [node.stop for node in collapsed] == [None, Stop.PRUNED, Stop.DEPTH]
    assert collapsed.counts.tolist() == [[6, 4, 0], [5, 1, 0], [1, 3, 0]]
    assert leaf_errors(grown) == leaf_errors(collapsed) == 2


def test_collapsing_goes_up_to_the_root() -> None:
    grown = tree(
        inner(Split.multiway(2, 2), [1, 4], 7, 2, 0),
        inner(Split.threshold(1, 2.0), [2, 3], 5, 1, 0),
        leaf(3, 0, 0),
        leaf(2, 1, 0),
        leaf(2, 1, 0),
    )
    assert len(collapse(grown)) == 1


def test_a_thousandth_of_an_error_does_not_count() -> None:
    for saved, nodes in ((0.0009, 1), (0.0011, 3)):
        grown = tree(
            inner(Split.multiway(2, 2), [1, 2], 5 - saved, 1 + saved, 0), leaf(4, 1, 0), leaf(1 - saved, saved, 0)
        )
        assert len(collapse(grown)) == 1
        grown = tree(inner(Split.multiway(2, 2), [1, 2], 5, 1 + saved, 0), leaf(5, 1, 0), leaf(0, saved, 0))
        assert len(collapse(grown)) == nodes


def test_cases_that_stay_count_as_the_nodes_own() -> None:
    split = Split.multiway(2, 2, STAY)
    grown = tree(inner(split, [1, 2], 4, 3, 1), leaf(2, 0, 0), leaf(0, 2, 0))
    assert staying_counts(grown, 0).tolist() == [2, 1, 1]
    assert staying_errors(grown, 0) == 2
    assert len(collapse(grown)) == 3  # two errors instead of four
    useless = tree(inner(split, [1, 2], 4, 3, 1), leaf(2, 1, 0), leaf(1, 0, 0))
    assert len(collapse(useless)) == 1


def test_cutting_leaves_the_tree_alone() -> None:
    grown = tree(inner(Split.multiway(2, 2), [1, 2], 3, 2, 0), leaf(3, 0, 0), leaf(0, 2, 0))
    assert cut_at(grown, []) is grown
    assert cut_at(grown, [1]) is grown
    cut = cut_at(grown, [0])
    assert len(grown) == 3
    assert (cut.node(0).stop, cut.node(0).distribution) == (Stop.PRUNED, {"a": 3, "b": 2})


def test_numbers_have_no_errors() -> None:
    from treewright.data.schema import Column, Kind, Schema

    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    grown = build_tree(schema, [NodeRecord(1.0, np.zeros(0), 2.5, stop=Stop.PURE, sse=0.0)])[0]
    with pytest.raises(ParameterError, match="regression"):
        collapse(grown)


@given(schemas(Task.CLASSIFICATION).flatmap(trees_of))
def test_collapsing_keeps_the_training_errors_and_is_done_at_once(grown: Tree) -> None:
    collapsed = collapse(grown)
    collapsed.validate()
    assert len(collapsed) <= len(grown)
    assert leaf_errors(collapsed) == pytest.approx(leaf_errors(grown), abs=1e-2)
    assert collapse(collapsed) is collapsed


@pytest.mark.oracle
@pytest.mark.parametrize("name", set_names("classification", having="c45.json"))
def test_the_trees_of_release_8_are_collapsed_already(name: str) -> None:
    runs = load_json(name, "c45.json")["runs"]
    schema = load_set(name).schema
    for run in ("default", "gain", "m10_c5"):
        if "tree" in runs[run]["unpruned"]:  # some are too large to be recorded
            grown = tree_of(schema, runs[run]["unpruned"]["tree"])
            assert collapse(grown) is grown
