"""The kernels grow the trees of the interpreted grower: node by node, bit by bit where counts are whole."""

from __future__ import annotations

from dataclasses import replace

import numba
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from made_tables import difference, is_exact, made_table, recipes
from random_tables import datasets
from treewright.concurrency import Cancelled, CancelToken
from treewright.counting.numpy import MemoryEngine
from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Kind, Schema, Task
from treewright.errors import DataError, ParameterError
from treewright.learners.grower import grow
from treewright.learners.kernels import encode, grower, histogram_growth
from treewright.learners.kernels.grower import CompiledGrower
from treewright.learners.recipe import (
    C45,
    CART,
    ID3,
    AttributeSampling,
    MissingPolicy,
    Recipe,
    Stopping,
    for_regression,
)
from treewright.tree.route import main_leaves
from treewright.tree.tree import Tree

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # where kernels are plain Python


def interpreted(dataset: Dataset, recipe: Recipe) -> Tree:
    return grow(MemoryEngine(dataset, fractional=recipe.missing is MissingPolicy.FRACTIONAL), recipe).tree


def assert_same(dataset: Dataset, recipe: Recipe) -> None:
    regression = dataset.schema.task is Task.REGRESSION
    exact = is_exact(dataset, recipe, regression=regression)
    found = difference(interpreted(dataset, recipe), CompiledGrower(dataset, 2).grow(recipe), exact=exact)
    assert found is None, (recipe, found)


@pytest.fixture(params=["blocks only", "histograms above blocks of 20", "histograms down to single cases"])
def _parts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use histogram growth for small nodes too, with few ranks and bins, so that small tables test every path."""
    block = {"blocks only": 10**6, "histograms above blocks of 20": 20, "histograms down to single cases": 1}
    monkeypatch.setattr(grower, "BLOCK", block[request.param])
    monkeypatch.setattr(histogram_growth, "BLOCK", block[request.param])
    monkeypatch.setattr(encode, "FEW_RANKS", 4)
    monkeypatch.setattr("treewright.counting.numba.BINS", 6)


@pytest.mark.usefixtures("_parts")
@pytest.mark.parametrize("seed", range(12))
def test_a_tree_of_classes_is_the_interpreted_one(seed: int) -> None:
    table = made_table(seed)
    for recipe in recipes(seed):
        assert_same(table, recipe)


@pytest.mark.usefixtures("_parts")
@pytest.mark.parametrize("seed", range(100, 106))
def test_a_tree_of_numbers_is_the_interpreted_one(seed: int) -> None:
    table = made_table(seed, regression=True)
    for recipe in recipes(seed, regression=True):
        assert_same(table, recipe)


@pytest.mark.usefixtures("_parts")
@pytest.mark.parametrize("seed", range(6))
def test_leaves_that_become_known_while_a_tree_grows_are_those_of_its_cases(seed: int) -> None:
    table = made_table(seed)
    for recipe in recipes(seed):
        leaves = np.empty(table.n_rows, dtype=np.int32)
        tree = CompiledGrower(table).grow(recipe, leaves=leaves)
        assert leaves[0] == -1 or np.array_equal(leaves, main_leaves(tree, table))


def test_the_leaves_of_a_large_stump_become_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grower, "BLOCK", 20)
    monkeypatch.setattr(histogram_growth, "BLOCK", 20)
    table = made_table(3)
    stump = CART(stopping=Stopping(max_depth=1), missing=MissingPolicy.MAJORITY)
    leaves = np.empty(table.n_rows, dtype=np.int32)
    tree = CompiledGrower(table, 2).grow(stump, np.ones(table.n_rows), leaves=leaves)
    assert np.array_equal(leaves, main_leaves(tree, table))
    CompiledGrower(table, 2).grow(stump, np.arange(table.n_rows), leaves=leaves)
    assert leaves[0] == -1  # one case weighs nothing, and nobody asked for its leaf


@pytest.mark.parametrize("criterion", ["gini", "entropy", "chi2"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("share_missing", [0.0, 0.1])
def test_partitions_of_many_categories_are_the_interpreted_ones(
    criterion: str, classes: int, share_missing: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grower, "BLOCK", 50)
    rng = np.random.default_rng([classes, len(criterion)])
    n, values = 150, 14
    columns = tuple(rng.integers(0, values, n).astype(np.int32) for _ in range(3))
    target = ((columns[0] % 7 + rng.integers(0, 4, n)) % classes).astype(np.int32)
    for column in columns:
        column[rng.random(n) < share_missing] = -1
    names = tuple(f"v{value}" for value in range(values))
    attributes = tuple(Column(f"a{index}", Kind.NOMINAL, names) for index in range(3))
    schema = Schema((*attributes, Column("y", Kind.NOMINAL, tuple("abc"[:classes]))), "y")
    real = rng.random(n) + 0.1
    for weights in (None, rng.integers(1, 4, n).astype(float), real):
        for missing in (MissingPolicy.LEARNED, MissingPolicy.MAJORITY):
            table = Dataset(schema, columns, n, target, weights)
            assert_same(table, CART(criterion=criterion, missing=missing, draw=AttributeSampling(2, 3)))
            assert_same(table, CART(criterion=criterion, missing=missing, stopping=Stopping(min_leaf=3)))


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_columns_that_are_kept_in_order_change_nothing(criterion: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grower, "BLOCK", 20)
    monkeypatch.setattr(histogram_growth, "BLOCK", 20)
    monkeypatch.setattr("treewright.counting.numba.BINS", 6)
    monkeypatch.setattr(encode, "FEW_RANKS", 4)
    rng = np.random.default_rng(5)
    table = made_table(7, rows=300)
    stump = CART(criterion=criterion, stopping=Stopping(max_depth=1), missing=MissingPolicy.MAJORITY)
    often = CompiledGrower(table)
    for _ in range(3 * encode.SORTED_AFTER_USES):
        weights = rng.random(table.n_rows)
        assert difference(often.grow(stump, weights), CompiledGrower(table).grow(stump, weights), exact=True) is None
    assert any(len(often.encoded.entries(a)) for a, column in enumerate(table.schema.attributes) if column.is_numeric)


@pytest.mark.slow
@pytest.mark.usefixtures("_parts")
@pytest.mark.parametrize("seed", range(1000, 1030))
def test_many_larger_tables_give_the_interpreted_trees(seed: int) -> None:
    regression = seed % 4 == 0
    table = made_table(seed, regression=regression, rows=600)
    for recipe in recipes(seed, regression=regression):
        assert_same(table, recipe)


@pytest.mark.slow
@settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(table=datasets())
def test_tables_that_hypothesis_draws_give_the_interpreted_trees(table: Dataset) -> None:
    if table.weights is not None and not np.any(table.weights > 0):
        return
    if table.schema.task is Task.REGRESSION:
        if np.abs(np.asarray(table.target)).max() < 1e30:
            assert_same(table, for_regression(CART()))
        return
    for recipe in (ID3(), C45(), CART(), CART(criterion="entropy", missing=MissingPolicy.FRACTIONAL)):
        assert_same(table, recipe)


def numbers_only(rows: int, columns: int = 3, seed: int = 0) -> Dataset:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    y = ((X[:, 0] * X[:, 1] > 0) ^ (rng.random(rows) < 0.1)).astype(np.int32)
    attributes = tuple(Column(f"x{index}", Kind.NUMERIC) for index in range(columns))
    schema = Schema((*attributes, Column("y", Kind.NOMINAL, ("no", "yes"))), target="y")
    return Dataset(schema, tuple(X.T), rows, y)


def test_columns_of_any_layout_give_the_same_tree() -> None:
    table = numbers_only(9000)
    by_row = np.ascontiguousarray(np.stack(table.columns, axis=1))
    backwards = tuple(column[::-1].copy()[::-1] for column in table.columns)
    recipe = CART(stopping=Stopping(max_depth=3))
    expected = CompiledGrower(table).grow(recipe)
    for columns in (tuple(by_row.T), backwards):
        assert difference(CompiledGrower(replace(table, columns=columns)).grow(recipe), expected, exact=True) is None


@pytest.mark.parametrize("weighted", [False, True])
def test_mean_and_squares_of_a_large_node_are_those_of_numpy(weighted: bool) -> None:
    table = numbers_only(20_000)
    target = np.exp(np.random.default_rng(3).normal(size=table.n_rows))
    w = np.random.default_rng(4).random(table.n_rows) + 0.5 if weighted else np.ones(table.n_rows)
    schema = Schema((*table.schema.attributes, Column("y", Kind.NUMERIC)), target="y")
    numbers = Dataset(schema, table.columns, table.n_rows, target, w if weighted else None)
    tree = CompiledGrower(numbers).grow(for_regression(CART(stopping=Stopping(max_depth=1))))
    mean = float((w * target).sum()) / float(w.sum())
    mean += float((w * (target - mean)).sum()) / float(w.sum())
    assert tree.weight[0] == w.sum()
    assert tree.outcome[0] == mean
    assert tree.sse is not None
    assert tree.sse[0] == (w * (target - mean) ** 2).sum()


@pytest.mark.parametrize("rows", [60, 400])
def test_cases_that_are_sorted_by_need_give_the_interpreted_tree(rows: int) -> None:
    table = numbers_only(rows, columns=7)
    ties = tuple(np.floor(column * 3) if index % 2 else column for index, column in enumerate(table.columns))
    gone = tuple(np.where(np.arange(rows) % 9 == index, np.nan, column) for index, column in enumerate(ties))
    weights = np.random.default_rng(1).integers(0, 4, rows).astype(np.float64)
    for columns in (table.columns, ties, gone):
        for missing in (MissingPolicy.LEARNED, MissingPolicy.MAJORITY):
            assert_same(
                replace(table, columns=columns, weights=weights), CART(missing=missing, draw=AttributeSampling(2, 5))
            )


@pytest.mark.slow
def test_entries_are_wide_where_ranks_and_cases_are_many() -> None:
    table = numbers_only(70_000, columns=6)  # 17 bits for the ranks and 17 for the cases of a block that takes all
    recipe = CART(draw=AttributeSampling(2, 1, random_cuts=True), stopping=Stopping(max_depth=4))
    assert_same(table, recipe)


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_cuts_inside_bins_are_exact_on_many_numbers(criterion: str) -> None:
    table = numbers_only(20_000)
    assert_same(table, CART(criterion=criterion, stopping=Stopping(max_depth=5)))


@pytest.mark.slow
def test_any_number_of_threads_gives_the_same_tree() -> None:
    table = numbers_only(30_000)
    trees = [CompiledGrower(table, jobs).grow(CART()) for jobs in (1, 2, 4)]
    assert difference(trees[0], trees[1], exact=True) is None
    assert difference(trees[0], trees[2], exact=True) is None


def test_a_chain_of_three_thousand_nodes_grows() -> None:
    n = 300 if numba.config.DISABLE_JIT else 3000  # as plain Python it would take a minute
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NOMINAL, ("a", "b"))), target="y")
    table = Dataset(schema, (np.arange(n, dtype=np.float64),), n, (np.arange(n) % 2).astype(np.int32))
    assert CompiledGrower(table).grow(CART()).n_leaves == n


def test_weights_stand_in_for_the_datasets_own_and_zeros_leave_cases_out() -> None:
    table = made_table(3)
    weights = np.random.default_rng(5).integers(0, 3, table.n_rows)
    own = replace(table, weights=weights.astype(np.float64))
    assert difference(CompiledGrower(own).grow(CART()), CompiledGrower(table).grow(CART(), weights), exact=True) is None


def test_weights_that_are_all_zero_are_refused() -> None:
    table = made_table(3)
    with pytest.raises(DataError, match="all weights are zero"):
        CompiledGrower(table).grow(CART(), np.zeros(table.n_rows))


def test_a_table_without_target_is_refused() -> None:
    with pytest.raises(DataError, match="no target"):
        CompiledGrower(made_table(3).X)


def test_a_recipe_that_kernels_do_not_know_is_refused() -> None:
    with pytest.raises(ParameterError, match="do not grow"):
        CompiledGrower(made_table(3)).grow(C45(subset=True))


def test_progress_ends_with_all_cases() -> None:
    reports: list[tuple[int, int]] = []
    table = numbers_only(9000)
    CompiledGrower(table).grow(CART(stopping=Stopping(max_depth=2)), progress=lambda *now: reports.append(now))
    assert reports[-1] == (9000, 9000)
    assert all(done <= total for done, total in reports)


def test_progress_is_reported_while_one_thread_grows() -> None:
    reports: list[int] = []
    CompiledGrower(numbers_only(30_000)).grow(CART(), progress=lambda done, _: reports.append(done))
    assert sorted(reports) == reports
    assert len(set(reports)) > 2


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_cancelled_growth_ends_without_a_tree(jobs: int) -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        token.run(CompiledGrower(numbers_only(9000), jobs).grow, CART(stopping=Stopping(max_depth=4)))


def test_many_fractional_cases_outgrow_narrow_entries_and_still_agree() -> None:
    rng = np.random.default_rng(2)
    n = 30_000
    columns = tuple(np.where(rng.random(n) < 0.6, np.nan, rng.integers(0, 3, n).astype(np.float64)) for _ in range(3))
    schema = Schema(
        (*(Column(f"x{index}", Kind.NUMERIC) for index in range(3)), Column("y", Kind.NOMINAL, ("a", "b"))), target="y"
    )
    table = Dataset(schema, columns, n, rng.integers(0, 2, n).astype(np.int32))
    recipe = CART(missing=MissingPolicy.FRACTIONAL, stopping=Stopping(max_depth=3))
    assert_same(table, recipe)
