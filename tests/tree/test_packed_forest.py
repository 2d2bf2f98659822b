"""Many trees in one set of arrays: each comes out as it went in, and cases end where each tree sends them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from random_tables import cases_of, schemas, trees_of
from treewright.data.samples import sample
from treewright.data.schema import Task
from treewright.errors import ParameterError
from treewright.fitting.learn import fit
from treewright.learners.recipe import CART, ID3
from treewright.tree.packed_forest import (
    UNROUTED,
    blocks,
    copy_leaves,
    empty_leaf_statistics,
    interpreted_copy_leaves,
    interpreted_leaves,
    pack_trees,
)
from treewright.tree.route import average_leaf_values, leaf_visits
from treewright.tree.tree import LEAF, Tree


@st.composite
def forests_and_cases(draw: st.DrawFn, task: Task | None = None) -> Any:
    schema = draw(schemas(task))
    trees = draw(st.lists(trees_of(schema), min_size=1, max_size=4))
    return trees, draw(cases_of(schema))


@given(forests_and_cases())
@settings(max_examples=60)
def test_every_tree_comes_out_as_it_went_in(pair: Any) -> None:
    trees, _ = pair
    packed = pack_trees(trees[0].schema, trees)
    assert len(packed) == len(trees)
    assert packed.n_nodes == sum(tree.n_nodes for tree in trees)
    for tree, again in zip(trees, packed, strict=True):
        again.validate()
        assert _without_p_values(again.to_dict()) == _without_p_values(tree.to_dict())
        assert again.surrogates == dict(tree.surrogates)
        if not packed.leaves_only:
            assert again.counts.dtype == tree.counts.dtype


def _without_p_values(plain: Any) -> Any:
    """A packed forest keeps no p-values; sums of squares and means of inner nodes are added up anew."""
    if isinstance(plain, dict):
        kept = {key: _without_p_values(value) for key, value in plain.items() if key != "p_value"}
        return {key: round(value, 6) if isinstance(value, float) else value for key, value in kept.items()}
    return [_without_p_values(one) for one in plain] if isinstance(plain, list) else plain


@given(forests_and_cases())
@settings(max_examples=100)
def test_whole_cases_end_in_the_leaf_of_each_tree_and_others_are_lost(pair: Any) -> None:
    trees, cases = pair
    packed = pack_trees(trees[0].schema, trees)
    leaves = interpreted_leaves(packed, cases, 0, cases.n_rows)
    for index, tree in enumerate(trees):
        ends: dict[int, list[tuple[int, float]]] = {row: [] for row in range(cases.n_rows)}
        for visits in leaf_visits(tree, cases):
            for row, node, share in zip(visits.rows, visits.nodes, visits.shares, strict=True):
                ends[int(row)].append((int(node), float(share)))
        for row, reached in ends.items():
            if leaves[row, index] == UNROUTED:
                continue
            [(node, share)] = reached
            assert share == 1.0
            assert packed.leaf_number[packed.starts[index] + node] == leaves[row, index]
            assert tree.attribute[node] == LEAF


@given(forests_and_cases())
@settings(max_examples=100)
def test_each_tree_predicts_as_it_does_alone(pair: Any) -> None:
    trees, cases = pair
    packed = pack_trees(trees[0].schema, trees)
    for block in blocks(packed, cases):
        for index, tree in enumerate(packed):
            of_node = np.arange(tree.n_nodes, dtype=np.float64).reshape(-1, 1)
            of_leaf = np.zeros((int(packed.leaf_starts[-1]), 1))
            of_leaf[packed.leaf_starts[index] : packed.leaf_starts[index + 1]] = of_node[tree.attribute == LEAF]
            separate = average_leaf_values(tree, cases, of_node)
            assert np.array_equal(block.answers_of(index, of_leaf, of_node), separate[block.first : block.last])


def test_whole_counts_are_kept_for_leaves_only() -> None:
    tree = fit(sample("play-tennis"), ID3()).tree
    packed = pack_trees(tree.schema, [tree])
    assert packed.leaves_only
    assert len(packed.statistics.weight) == tree.n_leaves
    assert np.array_equal(packed[0].counts, tree.counts)
    assert np.array_equal(packed[0].outcome, tree.outcome)


@st.composite
def nearly_summing_trees(draw: st.DrawFn) -> Tree:
    """Draw a tree whose inner statistics follow from its leaves, or nearly do."""
    tree: Tree = draw(trees_of(draw(schemas())))
    packed = pack_trees(tree.schema, [tree])
    leaves = replace(packed, statistics=packed.leaf_statistics, leaves_only=True)
    found = leaves[0]  # its inner statistics are sums
    for name in draw(st.lists(st.sampled_from(("weight", "counts", "outcome", "sse")), max_size=1)):
        values = getattr(found, name)
        if values is not None and values.size:
            changed = values.copy()
            changed.flat[draw(st.integers(0, values.size - 1))] += 1
            found = replace(found, **{name: changed})
    return found


@given(nearly_summing_trees())
@settings(max_examples=150, deadline=None)
def test_kernels_copy_the_leaves_that_the_interpreter_copies(tree: Tree) -> None:
    interpreted, compiled = empty_leaf_statistics([tree]), empty_leaf_statistics([tree])
    sums = interpreted_copy_leaves(tree, interpreted)
    assert copy_leaves(tree, compiled) is sums
    if sums:
        for name, values in vars(interpreted).items():
            assert np.array_equal(getattr(compiled, name), values), name


@pytest.mark.parametrize("n_jobs", [1, 2, None])
@pytest.mark.parametrize("compiled", [False, True])
def test_a_forest_is_packed_alike_by_any_number_of_threads(
    n_jobs: int | None, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    trees = [fit(sample("play-tennis"), ID3()).tree, fit(sample("play-tennis"), CART()).tree] * 3
    expected = pack_trees(trees[0].schema, trees)
    monkeypatch.setattr("treewright.tree.packed_forest.PARALLEL_NODES", 1)
    monkeypatch.setattr("treewright.tree.packed_forest.COMPILED_NODES", 1)
    monkeypatch.setattr("treewright.tree.packed_forest.loaded_kernels.kept", compiled)
    packed = pack_trees(trees[0].schema, trees, n_jobs)
    assert packed.leaves_only is expected.leaves_only
    for name in ("attribute", "test", "missing", "child_start", "children", "value_start", "value_branch", "stop"):
        assert np.array_equal(getattr(packed, name), getattr(expected, name)), name
    assert np.array_equal(packed.statistics.counts, expected.statistics.counts)


def test_a_forest_of_no_trees_is_refused() -> None:
    with pytest.raises(ParameterError, match="at least one tree"):
        pack_trees(sample("play-tennis").schema, [])


def test_a_tree_that_is_not_there_is_an_error() -> None:
    tree = fit(sample("play-tennis"), ID3()).tree
    with pytest.raises(ParameterError, match="the trees are 0 to 0"):
        pack_trees(tree.schema, [tree])[1]


def test_deep_trees_need_no_recursion() -> None:
    x = np.arange(600.0)
    from treewright.data.dataset import Dataset
    from treewright.data.schema import Column, Kind, Schema

    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NOMINAL, ("a", "b"))), target="y")
    data = Dataset(schema, (x,), 600, (np.arange(600) % 2).astype(np.int32))
    tree: Tree = fit(data, CART()).tree
    packed = pack_trees(schema, [tree, tree])
    assert np.array_equal(packed[1].counts, tree.counts)
    [block] = blocks(packed, data)
    assert not len(block.unrouted)
