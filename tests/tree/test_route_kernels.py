"""Cases end in the same leaves by the kernel and by NumPy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from made_tables import made_table
from random_tables import trees_and_cases
from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Kind, Schema
from treewright.ensembles.plan import forest
from treewright.fitting.learn import fit
from treewright.learners.recipe import C45, CART
from treewright.tree.packed_forest import interpreted_leaves, kernel_leaves
from treewright.tree.route import average_leaf_values, leaf_visits
from treewright.tree.route_kernels import BATCH_SLOTS, as_one_table, ends_of
from treewright.tree.tree import Tree


@settings(deadline=None, max_examples=60)
@given(tree_and_cases=trees_and_cases())
def test_any_tree_sends_unit_weight_cases_to_the_leaf_that_numpy_finds(tree_and_cases: tuple[Tree, Dataset]) -> None:
    tree, table = tree_and_cases
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
        answers = np.random.default_rng(seed).random((tree.n_nodes, 2))
        monkeypatch.setattr("treewright.tree.route.by_kernel", lambda visits, nodes: False)
        expected = average_leaf_values(tree, table, answers)
        monkeypatch.setattr("treewright.tree.route.by_kernel", lambda visits, nodes: True)
        assert np.array_equal(average_leaf_values(tree, table, answers), expected)


def test_all_trees_of_a_forest_are_asked_at_once() -> None:
    table = made_table(4)
    packed = fit(table, forest(trees=3)).packed
    assert np.array_equal(
        kernel_leaves(packed, table, 0, table.n_rows), interpreted_leaves(packed, table, 0, table.n_rows)
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


def in_memory(table: Dataset, order: str) -> Dataset:
    """Lay the numbers of a table row by row, column by column, in part of a larger array, or each column separately."""
    numbers = np.array(table.columns).T
    if order == "separate":
        return replace(table, columns=tuple(np.array([*column, 0.0])[:-1] for column in numbers.T))
    if order == "part":
        numbers = np.hstack([numbers, numbers])[:, 1 : 1 + len(table.columns)]
        return replace(table, columns=tuple(np.roll(numbers, 1, axis=1).T))
    return replace(table, columns=tuple(np.array(numbers, order="C" if order == "rows" else "F").T))


@pytest.mark.parametrize("order", ["rows", "columns", "part", "separate"])
@pytest.mark.parametrize("rows", [1, 2, 3, BATCH_SLOTS - 1, BATCH_SLOTS, BATCH_SLOTS + 1, 1003])
def test_cases_that_go_down_side_by_side_all_arrive(rows: int, order: str) -> None:
    tree = fit(numbers_with_classes(300), CART()).tree
    table = in_memory(numbers_with_classes(rows), order)
    expected = np.zeros(rows, dtype=np.int32)
    for visits in leaf_visits(tree, table):
        expected[visits.rows] = visits.nodes
    assert np.array_equal(ends_of(tree, np.zeros(1), table, 0, rows)[:, 0], expected)


def test_a_number_equal_to_a_cut_goes_below_it() -> None:
    trained = numbers_with_classes(300)
    tree = fit(trained, CART()).tree
    rng = np.random.default_rng(3)
    cuts = [tree.cut[tree.attribute == attribute] for attribute in range(3)]
    numbers = np.column_stack([rng.choice(column, 500) for column in cuts])
    numbers[::2] = np.nextafter(numbers[::2], np.inf)
    table = replace(trained, columns=tuple(numbers.T), n_rows=500, target=None)
    expected = np.zeros(500, dtype=np.int32)
    for visits in leaf_visits(tree, table):
        expected[visits.rows] = visits.nodes
    assert np.array_equal(ends_of(tree, np.zeros(1), table, 0, 500)[:, 0], expected)


def test_a_tree_that_asks_for_few_of_many_attributes_is_given_those() -> None:
    trained = numbers_with_classes(300)
    wide = Schema((*(Column(f"n{at}", Kind.NUMERIC) for at in range(9)), trained.schema.target_column), target="y")
    numbers = np.full((300, 9), 7.0)
    numbers[:, [8, 2, 5]] = np.array(trained.columns).T
    table = Dataset(wide, tuple(numbers.T), 300, trained.target)
    tree = fit(table, CART()).tree
    expected = np.zeros(300, dtype=np.int32)
    for visits in leaf_visits(tree, table):
        expected[visits.rows] = visits.nodes
    assert np.array_equal(ends_of(tree, np.zeros(1), table, 0, 300)[:, 0], expected)


def test_a_tree_of_one_leaf_keeps_all_cases() -> None:
    table = numbers_with_classes(20)
    tree = fit(replace(table, target=np.zeros(20, dtype=np.int32)), CART()).tree
    assert tree.n_nodes == 1
    assert ends_of(tree, np.zeros(1), table, 3, 20)[:, 0].tolist() == [0] * 17


@pytest.mark.parametrize("order", ["rows", "columns"])
@pytest.mark.parametrize("trees", [1, 3])
def test_unrouted_cases_go_down_alone_and_the_others_in_batches(trees: int, order: str) -> None:
    packed = fit(numbers_with_classes(300, missing=0.1), forest(trees=trees)).packed
    table = in_memory(numbers_with_classes(700, missing=0.05), order)
    found = kernel_leaves(packed, table, 0, 700)
    assert np.array_equal(found, interpreted_leaves(packed, table, 0, 700))
    assert len(np.unique(found)) > 10


@pytest.mark.parametrize("seed", range(4))
def test_a_forest_answers_the_same_with_and_without_the_kernel(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    table = made_table(seed)
    model = fit(table, forest(trees=5, seed=seed))
    monkeypatch.setattr("treewright.tree.forest.by_kernel", lambda visits, nodes: False)
    expected = model.answers(table)
    monkeypatch.setattr("treewright.tree.forest.by_kernel", lambda visits, nodes: True)
    assert np.array_equal(model.answers(table), expected)


def test_columns_of_different_tables_are_not_taken_for_one() -> None:
    table = numbers_with_classes(10)
    first, second, third = table.columns
    assert as_one_table(replace(table, columns=(second, first, third))) is None
    assert as_one_table(replace(table, columns=(first, second, third.copy()))) is None
    assert as_one_table(replace(table, columns=(first, third))) is None
    assert as_one_table(replace(table, columns=(first, second.astype(np.int32)))) is None
    assert as_one_table(replace(table, columns=())) is None
    assert as_one_table(table.take(slice(0, 0))) is None


def test_columns_of_one_table_are_found_in_any_order_of_memory() -> None:
    table = numbers_with_classes(10)
    part = replace(table, columns=table.columns[:2])
    for cases, expected in (
        (in_memory(table, "rows"), (3, 1, 3)),
        (in_memory(table, "columns"), (1, 10, 3)),
        (part, (3, 1, 2)),
    ):
        found = as_one_table(cases)
        assert found is not None
        assert found[1:] == expected
