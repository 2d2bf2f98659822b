"""Cases end in the same leaves by the kernel and by NumPy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from made_tables import made_table
from random_tables import trees_and_cases
from treewright.counts.compiled.routing import as_one_table, ends_of
from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Kind, Schema
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


def numbers_with_classes(rows: int, missing: float = 0.0) -> Dataset:
    """Make a table all of whose columns are views of one array."""
    rng = np.random.default_rng(rows)
    numbers = rng.normal(size=(rows, 3))
    classes = (numbers[:, 0] * numbers[:, 1] + rng.normal(size=rows) > 0).astype(np.int32)
    numbers[rng.random(numbers.shape) < missing] = np.nan
    columns = [Column(name, Kind.NUMERIC) for name in "abc"]
    schema = Schema((*columns, Column("y", Kind.NOMINAL, ("no", "yes"))), target="y")
    return Dataset(schema, tuple(numbers.T), rows, classes)


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 7, 8, 203])
def test_cases_that_go_down_side_by_side_all_arrive(rows: int) -> None:
    tree = fit(numbers_with_classes(300), CART()).tree
    table = numbers_with_classes(rows)
    assert as_one_table(table) is not None
    copied = replace(table, columns=tuple(column.copy() for column in table.columns))
    expected = np.zeros(rows, dtype=np.int32)
    for visits in leaf_visits(tree, table):
        expected[visits.rows] = visits.nodes
    for cases in (table, copied):
        assert np.array_equal(ends_of(tree, np.zeros(1), cases, 0, rows)[:, 0], expected)


def test_a_missing_number_sends_its_stretch_down_case_by_case() -> None:
    trained = numbers_with_classes(300, missing=0.1)
    tree = fit(trained, CART()).tree
    table = numbers_with_classes(50, missing=0.2)
    found = ends_of(tree, np.zeros(1), table, 0, 50)[:, 0]
    for visits in leaf_visits(tree, table):
        whole = visits.shares == 1.0
        went = found[visits.rows[whole]] >= 0
        assert np.array_equal(found[visits.rows[whole]][went], visits.nodes[whole][went])


@pytest.mark.parametrize("seed", range(4))
def test_a_forest_answers_the_same_with_and_without_the_kernel(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    table = made_table(seed)
    model = fit(table, forest(trees=5, seed=seed))
    monkeypatch.setattr("treewright.model.forest.by_kernel", lambda visits: False)
    expected = model.answers(table)
    monkeypatch.setattr("treewright.model.forest.by_kernel", lambda visits: True)
    assert np.array_equal(model.answers(table), expected)


def test_columns_of_different_tables_are_not_taken_for_one() -> None:
    table = numbers_with_classes(10)
    first, second, third = table.columns
    assert as_one_table(replace(table, columns=(second, first, third))) is None
    assert as_one_table(replace(table, columns=(first, second, third.copy()))) is None
    assert as_one_table(replace(table, columns=(first, second))) is None
    assert as_one_table(replace(table, columns=())) is None
