"""Cases end in the same leaves by the kernel and by NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from made_tables import made_table
from random_tables import trees_and_cases
from treewright.counts.compiled.routing import ends_of
from treewright.data.dataset import Dataset
from treewright.ensemble.plan import forest
from treewright.grow.recipe import C45, CART
from treewright.learn import fit
from treewright.model.grove_route import interpreted_leaves, kernel_leaves
from treewright.model.route import leaf_visits, mixed
from treewright.model.tree import Tree


@settings(deadline=None, max_examples=60)
@given(drawn=trees_and_cases())
def test_any_tree_sends_whole_cases_to_the_leaf_that_numpy_finds(drawn: tuple[Tree, Dataset]) -> None:
    tree, table = drawn
    found = ends_of(tree, np.zeros(1), table, 0, table.n_rows)[:, 0]
    expected = np.full(table.n_rows, -1)
    for visits in leaf_visits(tree, table):
        whole = (visits.shares == 1.0) & (tree.attribute[visits.nodes] < 0)
        expected[visits.rows[whole]] = visits.nodes[whole]
    went = found >= 0
    assert np.array_equal(found[went], expected[went])


@pytest.mark.parametrize("seed", range(8))
def test_answers_are_the_same_with_and_without_the_kernel(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    table = made_table(seed)
    for recipe in (C45(), CART()):
        tree = fit(table, recipe).tree
        said = np.random.default_rng(seed).random((tree.n_nodes, 2))
        monkeypatch.setattr("treewright.model.route.by_kernel", lambda visits: False)
        expected = mixed(tree, table, said)
        monkeypatch.setattr("treewright.model.route.by_kernel", lambda visits: True)
        assert np.array_equal(mixed(tree, table, said), expected)


def test_all_trees_of_a_forest_are_asked_at_once() -> None:
    table = made_table(4)
    grove = fit(table, forest(trees=3)).grove
    assert np.array_equal(
        kernel_leaves(grove, table, 0, table.n_rows), interpreted_leaves(grove, table, 0, table.n_rows)
    )


def test_many_cases_are_sent_in_stretches() -> None:
    table = made_table(4)
    large = table.take(np.tile(np.arange(table.n_rows), 20_000 // table.n_rows + 1))
    tree = fit(table, CART()).tree
    found = ends_of(tree, np.zeros(1), large, 5, large.n_rows)[:, 0]
    again = ends_of(tree, np.zeros(1), table, 0, table.n_rows)[:, 0]
    assert np.array_equal(found, np.tile(again, 20_000 // table.n_rows + 1)[5:])
