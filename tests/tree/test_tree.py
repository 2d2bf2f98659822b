"""The tree's arrays: views of nodes, and a validator that lets nothing pass."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from random_tables import trees_and_cases
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.errors import ModelFormatError, ParameterError
from treewright.fitting.learn import fit
from treewright.learners.recipe import CART, ID3
from treewright.tree.build import NodeRecord, build_tree
from treewright.tree.split import Split, Test
from treewright.tree.tree import LEAF, STOPS, TESTS, Stop, Tree

TENNIS = fit(sample("play-tennis"), ID3()).tree
NUMBERS = Schema(
    (Column("x", Kind.NUMERIC), Column("c", Kind.NOMINAL, ("u", "v")), Column("y", Kind.NUMERIC)), target="y"
)


def regression() -> Tree:
    leaf = [NodeRecord(2.0, np.zeros(0), value, stop=Stop.PURE, sse=0.0) for value in (1.0, 2.0, 3.0)]
    root = NodeRecord(6.0, np.zeros(0), 2.0, Split.intervals(0, (1.0, 2.0)), [1, 2, 3], sse=4.0)
    return build_tree(NUMBERS, [root, *leaf])[0]


def test_the_shape_is_counted() -> None:
    assert (TENNIS.n_nodes, len(TENNIS), TENNIS.n_leaves, TENNIS.depth) == (8, 8, 5, 2)
    assert TENNIS.depths.tolist() == [0, 1, 2, 2, 1, 1, 2, 2]
    assert TENNIS.parent.tolist() == [-1, 0, 1, 1, 0, 0, 5, 5]
    assert repr(TENNIS) == "<Tree: 8 nodes, 5 leaves, depth 2>"


def test_a_node_describes_itself() -> None:
    humidity = TENNIS.node(1)
    assert humidity.attribute.name == "Humidity"
    assert humidity.split == Split.multiway(2, 2, missing=humidity.split.missing if humidity.split else 0)
    assert (humidity.weight, humidity.outcome, humidity.distribution) == (5.0, "No", {"Yes": 2, "No": 3})
    assert (humidity.is_leaf, humidity.stop, humidity.depth) == (False, None, 1)
    assert [child.index for child in humidity.children] == [2, 3]
    leaf = TENNIS.node(3)
    assert (leaf.is_leaf, leaf.split, leaf.stop, leaf.distribution) == (True, None, Stop.PURE, {"Yes": 2})
    assert leaf.path == [(0, 0), (1, 1)]
    assert TENNIS.node(0).path == []
    with pytest.raises(ParameterError, match="node 3 is a leaf and tests nothing"):
        _ = leaf.attribute


@pytest.mark.parametrize("index", [-1, 8, 10**9])
def test_a_node_that_is_not_there_is_an_error(index: int) -> None:
    with pytest.raises(ParameterError, match="the nodes are 0 to 7"):
        TENNIS.node(index)


def test_errors_are_the_weight_of_the_other_classes() -> None:
    assert TENNIS.errors.tolist() == [5, 2, 0, 0, 0, 2, 0, 0]
    with pytest.raises(ParameterError, match="see sse"):
        _ = regression().errors


def test_nothing_can_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        TENNIS.weight[0] = 3
    with pytest.raises(AttributeError):
        TENNIS.weight = np.zeros(8)  # type: ignore[misc]


@given(trees_and_cases())
@settings(max_examples=50)
def test_any_tree_that_was_built_is_valid_and_its_links_agree(pair: tuple[Tree, Dataset]) -> None:
    tree, _ = pair
    tree.validate()
    for node in tree:
        for branch, child in enumerate(node.children):
            assert tree.parent[child.index] == node.index
            assert child.depth == node.depth + 1
            assert child.path == [*node.path, (node.index, branch)]


def changed(tree: Tree, **entries: Any) -> Tree:
    """Return the tree with some entries of its arrays changed: ``name=(index, value)``, or a whole array."""
    arrays: dict[str, Any] = {}
    for name, change in entries.items():
        if isinstance(change, tuple):
            arrays[name] = getattr(tree, name).copy()
            arrays[name][change[0]] = change[1]
        else:
            arrays[name] = change
    return replace(tree, **arrays)


INT32 = np.iinfo(np.int32)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ({"attribute": np.zeros(0, dtype=np.int32)}, "at least one node"),
        ({"cut": np.zeros(3)}, "cut has 3 entries for 8 nodes"),
        ({"weight": np.zeros(9)}, "weight has 9 entries"),
        ({"counts": np.zeros((8, 3))}, "counts have shape"),
        ({"estimate": np.zeros(3)}, "sse or estimate is damaged"),
        ({"estimate": np.full(8, np.nan)}, "sse or estimate is damaged"),
        ({"children": (0, 10**8)}, "child of exactly one node"),
        ({"children": (0, 0)}, "child of exactly one node"),
        ({"children": (0, -1)}, "child of exactly one node"),
        ({"children": (0, 2)}, "child of exactly one node"),
        ({"children": np.array([4, 1, 5, 2, 3, 6, 7], dtype=np.int32)}, "not numbered depth first"),
        ({"children": np.array([2, 4, 5, 1, 3, 6, 7], dtype=np.int32)}, "a child must come after its parent"),
        ({"child_start": (1, 99)}, "child_start does not fit"),
        ({"child_start": (0, 1)}, "child_start does not fit"),
        ({"child_start": (8, 6)}, "child_start does not fit"),
        ({"child_start": np.array([0, 5, 5, 5, 5, 5, 7, 7, 7], dtype=np.int32)}, "inner nodes have branches"),
        ({"value_start": (3, -1)}, "value_start does not fit"),
        ({"bound_start": (3, 1)}, "bound_start does not fit"),
        ({"attribute": (1, 4)}, "does not have"),
        ({"attribute": (1, -2)}, "does not have"),
        ({"attribute": (1, LEAF)}, "leaves have none"),
        ({"attribute": (2, 0)}, "inner nodes have branches"),
        ({"test": (0, len(TESTS))}, "unknown form of test"),
        ({"test": (0, TESTS.index(Test.THRESHOLD))}, "node 0: "),
        ({"test": (0, TESTS.index(Test.EQUALS))}, "node 0: "),
        ({"missing": (0, 3)}, "node 0: missing values cannot go to branch 3"),
        ({"value_branch": (1, 0)}, "node 0: a nominal test has one branch for each value"),
        ({"attribute": (5, 0)}, "node 5: 2 values, but 'Outlook' declares 3"),
        ({"weight": (0, np.inf)}, "weight has a number that is not finite"),
        ({"weight": (0, -1.0)}, "is negative"),
        ({"counts": (0, -1)}, "is negative"),
        ({"outcome": (0, 2)}, "an outcome is not a class"),
        ({"outcome": (0, -1)}, "an outcome is not a class"),
        ({"stop": (2, -1)}, "have a stop reason"),
        ({"stop": (0, 0)}, "have a stop reason"),
        ({"stop": (2, len(STOPS))}, "have a stop reason"),
    ],
)
def test_every_damage_is_found(damage: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelFormatError, match=message):
        changed(TENNIS, **damage).validate()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ({"value_branch": (0, 2)}, "branch outside 0..1"),
        ({"value_branch": (1, -2)}, "branch outside 0..1"),
        ({"value_branch": (slice(None), 1)}, "a branch of a subset test has no value"),
        ({"value_branch": (slice(None), 0)}, "a branch of a subset test has no value"),
        ({"missing": (0, 2)}, "missing values cannot go to branch 2 of 2"),
        ({"attribute": (0, 0)}, "values, but"),
    ],
)
def test_damage_to_subsets_on_two_sides_is_found(damage: dict[str, Any], message: str) -> None:
    tree = fit(sample("restaurant"), CART()).tree
    node = int(np.flatnonzero(np.diff(tree.value_start) > 2)[0])
    start, end = tree.value_start[node], tree.value_start[node + 1]
    [(name, (index, value))] = damage.items()
    array = getattr(tree, name).copy()
    part = array[start:end] if name == "value_branch" else array[node : node + 1]
    part[index] = value
    missing = np.where(tree.missing >= 0, -1, tree.missing) if name == "value_branch" else tree.missing
    tree.validate()
    with pytest.raises(ModelFormatError, match=message):
        replace(tree, **{"missing": missing, name: array}).validate()


def test_starts_that_only_ascend_by_overflow_are_found() -> None:
    records = [NodeRecord(3.0, np.array([3, 0]), 0, Split.multiway(0, 3), [1, 2, 3])]
    records += [NodeRecord(1.0, np.array([1, 0]), 0, stop=Stop.PURE) for _ in range(3)]
    tree = build_tree(sample("play-tennis").schema, records)[0]
    start = np.array([0, INT32.max, INT32.min, -1, 3], dtype=np.int32)
    with pytest.raises(ModelFormatError, match="child_start does not fit"):
        replace(tree, child_start=start).validate()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ({"sse": None}, "a regression tree needs sse"),
        ({"sse": np.full(4, -1.0)}, "is negative"),
        ({"sse": np.zeros(3)}, "sse or estimate is damaged"),
        ({"outcome": (1, np.nan)}, "outcome has a number that is not finite"),
        ({"bounds": (0, 5.0)}, "node 0: the bounds do not ascend"),
        ({"bounds": (0, np.nan)}, "node 0: a bound is not finite"),
        ({"attribute": (0, 1)}, "node 0: nominal attribute 'c' cannot have this test"),
        ({"bound_start": np.array([0, 1, 2, 2, 2], dtype=np.int32)}, "leaf 1 has values or bounds|do not make"),
    ],
)
def test_damage_to_a_regression_tree_is_found(damage: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelFormatError, match=message):
        changed(regression(), **damage).validate()


def data_of(x: list[float], y: list[int], weights: list[float] | None = None) -> Dataset:
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NOMINAL, ("a", "b"))), target="y")
    given = None if weights is None else np.array(weights)
    return Dataset(schema, (np.array(x),), len(x), np.array(y, dtype=np.int32), given)


@pytest.mark.parametrize(
    ("x", "y"),
    [([1.0], [1]), ([1.0, 2.0], [1, 1]), ([1.0, 1.0], [0, 1]), ([np.nan, np.nan], [0, 1])],
    ids=["one row", "one class", "constant", "all missing"],
)
def test_data_that_cannot_be_split_give_one_leaf_with_the_reason(x: list[float], y: list[int]) -> None:
    tree = fit(data_of(x, y), CART()).tree
    assert tree.n_nodes == 1
    assert tree.node(0).stop in {Stop.PURE, Stop.NO_GAIN, Stop.TOO_FEW}


def test_large_neighbours_are_split() -> None:
    for numbers in ([16_777_216.0, 16_777_217.0], [1e39, 2e39]):
        model = fit(data_of(numbers, [0, 1]), CART())
        assert model.predict({"x": numbers}).tolist() == ["a", "b"]


def test_no_rows_are_an_error() -> None:
    with pytest.raises(ValueError, match="no rows to learn from"):
        fit(data_of([], []), CART())
