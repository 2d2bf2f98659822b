"""Chance in growing: cuts sampled between the ends of a node, attributes for a tree, and nothing counted in vain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from random_tables import datasets
from treewright.counting.numpy import MemoryEngine
from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Kind, Schema, Task
from treewright.errors import ParameterError
from treewright.learners.grower import grow
from treewright.learners.recipe import C45, CART, ID3, AttributeSampling, Stopping, for_regression, recipe_from_dict
from treewright.learners.sampling import random_cut, root_key, shuffled
from treewright.tree.split import KNOWN
from treewright.tree.tree import LEAF, Tree

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(st.integers(0, 2**64 - 1), st.integers(0, 50), FINITE, FINITE)
def test_a_random_threshold_separates_minimum_and_maximum(key: int, attribute: int, one: float, other: float) -> None:
    low, high = sorted((one, other))
    if low == high:
        return
    cut = random_cut(key, attribute, low, high)
    assert low <= cut < high
    assert cut == random_cut(key, attribute, low, high)


def test_random_cuts_are_spread_evenly() -> None:
    cuts = np.array([random_cut(root_key(seed), 3, 0.0, 1.0) for seed in range(2000)])
    assert abs(cuts.mean() - 0.5) < 3 * np.sqrt(1 / 12 / 2000)
    assert np.histogram(cuts, bins=4, range=(0, 1))[0].min() > 400


def grown(data: Dataset, draw: AttributeSampling, **how: Any) -> Tree:
    recipe = CART(draw=draw, **how)
    if data.schema.task is Task.REGRESSION:
        recipe = for_regression(recipe)
    return grow(MemoryEngine(data), recipe).tree


def numbers(rows: int = 80, columns: int = 6, *, missing: bool = False) -> Dataset:
    rng = np.random.default_rng(5)
    cells = rng.normal(size=(columns, rows))
    target = (cells[0] + cells[-1] > 0).astype(np.int32)
    if missing:
        cells[rng.random(cells.shape) < 0.2] = np.nan
    schema = Schema(
        (*(Column(f"x{i}", Kind.NUMERIC) for i in range(columns)), Column("y", Kind.NOMINAL, ("a", "b"))), target="y"
    )
    return Dataset(schema, tuple(cells), rows, target)


def test_a_random_cut_lies_between_the_ends_of_its_node() -> None:
    data = numbers()
    tree = grown(data, AttributeSampling(6, 11, random_cuts=True))
    assert tree.n_leaves > 10
    rows = {0: np.arange(data.n_rows)}
    for node in range(tree.n_nodes):
        if tree.attribute[node] == LEAF:
            continue
        values = data.columns[tree.attribute[node]][rows[node]]
        assert values.min() <= tree.cut[node] < values.max()
        for branch, child in enumerate(tree.children_of(node).tolist()):
            rows[child] = rows[node][(values > tree.cut[node]) == branch]
            assert len(rows[child]) > 0


def test_the_cut_of_the_root_is_the_sampled_one() -> None:
    data = numbers(columns=1)
    tree = grown(data, AttributeSampling(1, 7, random_cuts=True))
    values = data.columns[0]
    assert tree.cut[0] == random_cut(root_key(7), 0, float(values.min()), float(values.max()))


def test_random_cuts_learn_a_side_for_missing_values() -> None:
    data = numbers(missing=True)
    tree = grown(data, AttributeSampling(3, 2, random_cuts=True))
    inner = tree.attribute != LEAF
    assert set(tree.missing[inner].tolist()) <= {0, 1}
    assert tree.depth > 2
    only = Dataset(data.schema, (np.array([1.0, 1, np.nan, np.nan]),) * 6, 4, np.array([0, 0, 1, 1], dtype=np.int32))
    known = grown(only, AttributeSampling(6, 2, random_cuts=True))
    assert known.cut[0] == KNOWN


@given(datasets(), st.integers(0, 2**32), st.booleans(), st.integers(1, 4))
@settings(max_examples=60)
def test_any_table_can_be_grown_by_chance(data: Dataset, seed: int, per_tree: bool, attributes: int) -> None:
    if data.weights is not None and not np.any(data.weights > 0):
        return
    draw = AttributeSampling(attributes, seed, per_tree=per_tree, random_cuts=True)
    tree = grown(data, draw)
    tree.validate()
    assert tree.to_dict() == grown(data, draw).to_dict()


def test_limits_hold_for_random_cuts() -> None:
    tree = grown(numbers(), AttributeSampling(6, 3, random_cuts=True), stopping=Stopping(min_leaf=9))
    assert tree.weight[tree.attribute == LEAF].min() >= 9


def test_attributes_sampled_for_a_tree_are_the_only_ones_tested() -> None:
    data = numbers()
    for seed in range(10):
        tree = grown(data, AttributeSampling(2, seed, per_tree=True))
        used = set(tree.attribute[tree.attribute != LEAF].tolist())
        assert used <= set(shuffled(root_key(seed), 6)[:2])


def test_attributes_sampled_at_nodes_differ_from_node_to_node() -> None:
    tree = grown(numbers(200), AttributeSampling(1, 4))
    assert len(set(tree.attribute[tree.attribute != LEAF].tolist())) > 3


class Counting(MemoryEngine):
    """Notes which attributes are counted."""

    def __init__(self, data: Dataset) -> None:
        super().__init__(data)
        self.asked: list[int] = []

    def count(self, requests: Any) -> Any:
        self.asked += [len(attributes) for _, attributes in requests]
        return super().count(requests)


def test_only_the_attributes_sampled_are_counted_and_more_where_none_can_be_tested() -> None:
    data = numbers()
    engine = Counting(data)
    grow(engine, CART(draw=AttributeSampling(2, 1)))
    assert set(engine.asked) == {2}
    constant = Dataset(data.schema, (*(np.ones(80),) * 5, data.columns[5]), 80, data.target)
    engine = Counting(constant)
    tree = grow(engine, CART(draw=AttributeSampling(1, 1))).tree
    assert set(tree.attribute[tree.attribute != LEAF].tolist()) == {5}
    assert max(engine.asked) == 1


def test_the_drawing_is_saved_with_the_recipe() -> None:
    recipe = C45()
    for draw in (AttributeSampling(3, 5, per_tree=True), AttributeSampling(3, 5, random_cuts=True)):
        from dataclasses import replace

        sampling = replace(recipe, draw=draw)
        assert recipe_from_dict(sampling.to_dict()) == sampling


def test_intervals_have_no_random_cuts() -> None:
    from dataclasses import replace

    with pytest.raises(ParameterError, match="not intervals"):
        replace(ID3(), draw=AttributeSampling(1, 0, random_cuts=True))
