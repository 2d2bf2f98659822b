"""Trees from records in any order, and records from trees."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from random_tables import records_for, schemas, trees_and_cases
from small_trees import SCHEMA
from treewright.data.dataset import Dataset
from treewright.errors import ModelFormatError
from treewright.tree.build import NodeRecord, build_tree, records_of
from treewright.tree.io.model_file import model_to_json
from treewright.tree.model import TreeModel
from treewright.tree.split import Split
from treewright.tree.tree import Stop, Tree


def leaf(*counts: float) -> NodeRecord:
    return NodeRecord(float(sum(counts)), np.array(counts), int(np.argmax(counts)), stop=Stop.PURE)


def test_nodes_are_numbered_depth_first_with_branches_in_order() -> None:
    inner = NodeRecord(2.0, np.array([1, 1, 0]), 0, Split.threshold(1, 2.0), [4, 3])
    root = NodeRecord(3.0, np.array([1, 1, 1]), 0, Split.multiway(2, 2), [2, 1])
    tree, order = build_tree(SCHEMA, [root, leaf(0, 0, 1), inner, leaf(0, 1, 0), leaf(1, 0, 0)])
    assert order == [0, 2, 4, 3, 1]
    assert tree.outcome.tolist() == [0, 0, 0, 1, 2]
    assert tree.children.tolist() == [1, 4, 2, 3]


@given(st.data())
@settings(max_examples=50)
def test_the_order_of_the_records_leaves_no_trace(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    records = data.draw(records_for(schema))
    position = data.draw(st.permutations(range(len(records))))
    moved: list[NodeRecord] = [records[0]] * len(records)
    for old, new in enumerate(position):
        moved[new] = deepcopy(records[old])
        moved[new].children = [position[child] for child in records[old].children]
    tree, order = build_tree(schema, moved, root=position[0])
    assert model_to_json(TreeModel(tree)) == model_to_json(TreeModel(build_tree(schema, records)[0]))
    assert sorted(order) == list(range(len(records)))
    for node, record in enumerate(order):
        assert tree.split(node) == moved[record].split
        assert tree.weight[node] == moved[record].weight


@given(trees_and_cases())
@settings(max_examples=50)
def test_rebuilt_from_its_records_it_is_the_same_tree(pair: tuple[Tree, Dataset]) -> None:
    tree, _ = pair
    again, order = build_tree(tree.schema, records_of(tree))
    assert order == list(range(tree.n_nodes))
    assert model_to_json(TreeModel(again)) == model_to_json(TreeModel(tree))
    assert again.counts.dtype == tree.counts.dtype


def test_what_is_not_below_the_root_is_left_out() -> None:
    records = [leaf(9, 9, 9), NodeRecord(3.0, np.array([1, 2, 0]), 1, Split.multiway(2, 2), [2, 4])]
    records += [leaf(1, 0, 0), leaf(7, 7, 7), leaf(0, 2, 0)]
    tree, order = build_tree(SCHEMA, records, root=1)
    assert order == [1, 2, 4]
    assert tree.n_nodes == 3


def test_a_node_that_becomes_a_leaf_forgets_its_branches() -> None:
    record = NodeRecord(3.0, np.array([1, 2, 0]), 1, Split.multiway(2, 2), [1, 2])
    record.become_leaf(Stop.PRUNED)
    tree, _ = build_tree(SCHEMA, [record, leaf(1, 0, 0), leaf(0, 2, 0)])
    assert tree.n_nodes == 1
    assert tree.node(0).stop is Stop.PRUNED


@pytest.mark.parametrize(("counts", "kind"), [((1.0, 2.0, 0.0), "i"), ((0.5, 2.0, 0.0), "f"), ((1e20, 0.0, 0.0), "f")])
def test_counts_are_whole_numbers_where_all_of_them_are(counts: tuple[float, ...], kind: str) -> None:
    tree, _ = build_tree(SCHEMA, [leaf(*counts)])
    assert tree.counts.dtype.kind == kind
    assert tree.counts[0].tolist() == list(counts)


def test_an_invalid_tree_is_not_built() -> None:
    with pytest.raises(ModelFormatError, match="does not have"):
        build_tree(
            SCHEMA,
            [NodeRecord(2.0, np.array([1, 1, 0]), 0, Split.threshold(9, 1.0), [1, 2]), leaf(1, 0, 0), leaf(0, 1, 0)],
        )
    with pytest.raises(ModelFormatError, match="inner nodes have branches"):
        build_tree(SCHEMA, [NodeRecord(2.0, np.array([1, 1, 0]), 0, Split.threshold(1, 1.0))])


def test_estimates_are_kept_when_there_are_some() -> None:
    record = leaf(1, 2, 0)
    record.estimate = 1.25
    tree, _ = build_tree(SCHEMA, [record])
    assert tree.estimate is not None
    assert records_of(tree)[0].estimate == 1.25
