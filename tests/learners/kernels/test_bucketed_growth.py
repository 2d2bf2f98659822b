"""Trees that are grown without sorting are those of the interpreted grower, bit by bit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
import pytest

from made_tables import difference
from treewright.counting.numpy import MemoryEngine
from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Kind, Schema
from treewright.learners.grower import grow
from treewright.learners.kernels import bucketed_growth
from treewright.learners.kernels import grower as growing
from treewright.learners.kernels.bucketed import HEAVIEST, PAIRWISE_CASES
from treewright.learners.kernels.bucketed_growth import TOGETHER
from treewright.learners.kernels.grower import CompiledGrower
from treewright.learners.recipe import CART, AttributeSampling, Cuts, MissingPolicy, Recipe, Stopping

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # where kernels are plain Python

ROWS = 300 if numba.config.DISABLE_JIT else 1800
"""Enough for nodes with wide counts, except as plain Python."""


def table_of(columns: npt.NDArray[np.float64], weights: npt.NDArray[np.float64] | None = None) -> Dataset:
    """Return cases of two classes that the first two columns mostly separate."""
    n, rng = columns.shape[1], np.random.default_rng(3)
    target = ((columns[0] > np.median(columns[1])) ^ (rng.random(n) < 0.25)).astype(np.int32)
    attributes = tuple(Column(f"x{index}", Kind.NUMERIC) for index in range(len(columns)))
    schema = Schema((*attributes, Column("y", Kind.NOMINAL, ("no", "yes"))), target="y")
    return Dataset(schema, tuple(columns), n, target, weights)


def numbers(kind: str, rows: int = ROWS) -> npt.NDArray[np.float64]:
    rng = np.random.default_rng(7)
    columns = rng.normal(size=(6, rows))
    if kind == "few different numbers":
        return np.asarray(np.floor(columns * np.array([[1], [2], [3], [5], [9], [30]])))
    if kind == "nearly the same column":  # where one is cut, most numbers of the others lie close together
        return columns[:1] + np.where(rng.random((6, rows)) < 0.02, columns, columns * 1e-3)
    if kind == "mostly zeros":
        return np.where(rng.random((6, rows)) < 0.6, 0.0, columns)
    if kind == "constant columns":
        columns[1:5] = 1.5
    return columns


def assert_grown_without_sorting(dataset: Dataset, recipe: Recipe, monkeypatch: pytest.MonkeyPatch) -> None:
    grown = []

    def recorded(*given: Any) -> object:
        grown.append(True)
        return original(*given)

    original = bucketed_growth.grow_bucketed
    monkeypatch.setattr(growing, "grow_bucketed", recorded)
    tree = CompiledGrower(dataset).grow(recipe)
    monkeypatch.undo()
    assert grown
    assert difference(grow(MemoryEngine(dataset), recipe).tree, tree, exact=True) is None


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_sampled", [1, 3, 5])
@pytest.mark.parametrize(
    "kind", ["normal", "few different numbers", "nearly the same column", "mostly zeros", "constant columns"]
)
def test_any_numbers_give_the_interpreted_tree(
    kind: str, n_sampled: int, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = np.random.default_rng(1).poisson(1.0, ROWS).astype(np.float64) if weighted else None
    assert_grown_without_sorting(
        table_of(numbers(kind), weights), CART(draw=AttributeSampling(n_sampled, 5)), monkeypatch
    )


@pytest.mark.parametrize(
    "stopping",
    [
        Stopping(min_leaf=7),
        Stopping(min_branch=9.0),
        Stopping(min_share=0.02),
        Stopping(min_decrease=0.004),
        Stopping(max_depth=4),
        Stopping(min_cases=50),
    ],
)
def test_any_limit_gives_the_interpreted_tree(stopping: Stopping, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = np.random.default_rng(1).integers(0, 5, ROWS).astype(np.float64)
    recipe = CART(draw=AttributeSampling(2, 1), stopping=stopping)
    assert_grown_without_sorting(table_of(numbers("normal"), weights), recipe, monkeypatch)


@pytest.mark.parametrize("policy", MissingPolicy)
def test_the_branch_of_cases_that_will_miss_a_value_is_the_interpreted_one(
    policy: MissingPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = CART(draw=AttributeSampling(2, 1), missing=policy, stopping=Stopping(max_depth=3))
    assert_grown_without_sorting(table_of(numbers("normal", 200)), recipe, monkeypatch)


@pytest.mark.parametrize("rows", [2, 15, 16, 17, PAIRWISE_CASES, PAIRWISE_CASES + 1])
def test_any_number_of_cases_gives_the_interpreted_tree(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    table = table_of(numbers("normal", rows))
    target = (np.arange(rows) % 2).astype(np.int32)
    assert_grown_without_sorting(replace(table, target=target), CART(draw=AttributeSampling(2, 1)), monkeypatch)


def test_the_heaviest_cases_do_not_overflow_a_pack(monkeypatch: pytest.MonkeyPatch) -> None:
    for rows in (PAIRWISE_CASES, 200):
        table = table_of(numbers("normal", rows), np.full(rows, float(HEAVIEST)))
        target = (np.arange(rows) % 8 > 0).astype(np.int32)
        assert_grown_without_sorting(replace(table, target=target), CART(draw=AttributeSampling(3, 2)), monkeypatch)


def test_a_chain_that_waits_with_more_nodes_than_the_buffers_hold_grows_on(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = 200
    columns = np.array([np.arange(rows), np.zeros(rows)], dtype=np.float64)
    table = table_of(columns, np.linspace(1, HEAVIEST, rows).round())
    table = replace(table, target=(np.arange(rows) % 2).astype(np.int32))
    tree = CompiledGrower(table).grow(CART(draw=AttributeSampling(1, 2)))
    assert tree.n_leaves == rows
    assert tree.depth > 64
    assert_grown_without_sorting(table, CART(draw=AttributeSampling(1, 2)), monkeypatch)


def valued(values: tuple[int, ...], rows: int, *, mirrored: bool = False, numeric: int = 0) -> Dataset:
    """Return cases of two classes by columns of so many values and some of numbers.

    Mirrored, the classes of each half are those of the other half turned round: many shares are equal, and many
    partitions tie.
    """
    rng = np.random.default_rng(11)
    codes = [rng.integers(0, n, rows) ** 2 // n for n in values]
    numbers = [rng.normal(size=rows) for _ in range(numeric)]
    target = ((codes[0] % 3 == 1) ^ (rng.random(rows) < 0.3)).astype(np.int32)
    if mirrored:
        half = rows // 2
        target[half : 2 * half] = 1 - target[:half]
        for n, column in zip(values, codes, strict=True):
            column[half : 2 * half] = (column[:half] + n // 2) % n
    attributes = [Column(f"v{k}", Kind.NOMINAL, tuple(f"{i}" for i in range(n))) for k, n in enumerate(values)]
    attributes[1:1] = [Column(f"x{k}", Kind.NUMERIC) for k in range(numeric)]
    columns: list[npt.NDArray[Any]] = [column.astype(np.int32) for column in codes]
    columns[1:1] = numbers
    schema = Schema((*attributes, Column("y", Kind.NOMINAL, ("no", "yes"))), target="y")
    return Dataset(schema, tuple(columns), rows, target)


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("values", [(2, 3, 4), (16, 50, 2, 7), (255, 17, 15)])
@pytest.mark.parametrize("rows", [12, 61, ROWS])
def test_any_values_give_the_interpreted_tree(
    rows: int, values: tuple[int, ...], weighted: bool, mirrored: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = valued(values, rows, mirrored=mirrored)
    if weighted:
        table = replace(table, weights=np.random.default_rng(4).integers(0, 4, rows).astype(np.float64))
    assert_grown_without_sorting(table, CART(draw=AttributeSampling(2, 3)), monkeypatch)


@pytest.mark.parametrize("missing", [MissingPolicy.LEARNED, MissingPolicy.FRACTIONAL])
def test_numbers_beside_values_give_the_interpreted_tree(
    missing: MissingPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = valued((16, 50, 3), ROWS, numeric=3)
    assert_grown_without_sorting(table, CART(draw=AttributeSampling(3, 3), missing=missing), monkeypatch)


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("stopping", [Stopping(min_leaf=6), Stopping(min_branch=8.0), Stopping(min_share=0.03)])
def test_any_limit_on_sets_of_values_gives_the_interpreted_tree(
    stopping: Stopping, mirrored: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = valued((16, 30, 5), ROWS, mirrored=mirrored, numeric=1)
    assert_grown_without_sorting(table, CART(draw=AttributeSampling(2, 8), stopping=stopping), monkeypatch)


@pytest.mark.parametrize(
    "draw", [None, AttributeSampling(4, 2), AttributeSampling(9, 2), AttributeSampling(3, 2, per_tree=True)]
)
def test_the_second_tree_that_draws_nothing_at_nodes_is_grown_without_sorting_too(
    draw: AttributeSampling | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, recipe = valued((16, 5), ROWS, numeric=2), CART(draw=draw)
    grower = CompiledGrower(table)
    with monkeypatch.context() as patched:
        patched.delattr(growing, "grow_bucketed")
        first = grower.grow(recipe)
    with monkeypatch.context() as patched:
        patched.delattr(growing, "grow_block")
        second = grower.grow(recipe)
    assert difference(first, second, exact=True) is None
    assert difference(grow(MemoryEngine(table), recipe).tree, second, exact=True) is None


def test_more_attributes_than_are_counted_together_give_the_interpreted_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = np.random.default_rng(5).normal(size=(2 * TOGETHER + 3, 150))
    assert_grown_without_sorting(table_of(columns), CART(draw=AttributeSampling(TOGETHER + 5, 1)), monkeypatch)
    columns[5:-1] = 0.0
    assert_grown_without_sorting(table_of(columns), CART(draw=AttributeSampling(2, 1)), monkeypatch)


@pytest.mark.parametrize("near", [2, 40, 500])
def test_nodes_that_are_copied_together_at_any_size_give_the_same_tree(
    near: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, recipe = valued((16, 50), ROWS, numeric=3), CART(draw=AttributeSampling(2, 9))
    expected = CompiledGrower(table).grow(recipe)
    monkeypatch.setattr(bucketed_growth, "LOCAL_CASES", near)
    assert difference(expected, CompiledGrower(table).grow(recipe), exact=True) is None


def test_no_gain_at_all_takes_the_lowest_cut_of_the_first_attribute(monkeypatch: pytest.MonkeyPatch) -> None:
    corners = np.array([[0.0, 0.0, 1.0, 1.0], [0.0, 1.0, 0.0, 1.0], [2.0, 2.0, 2.0, 2.0]])
    for times in (1, 40):
        table = table_of(np.tile(corners, times))
        either = (table.columns[0] != table.columns[1]).astype(np.int32)
        assert_grown_without_sorting(replace(table, target=either), CART(draw=AttributeSampling(2, 4)), monkeypatch)


@pytest.mark.parametrize(
    "recipe",
    [
        CART(),
        CART(draw=AttributeSampling(6, 1)),
        CART(draw=AttributeSampling(2, 1, random_cuts=True)),
        CART(draw=AttributeSampling(2, 1, per_tree=True)),
        CART(criterion="entropy", draw=AttributeSampling(2, 1)),
        replace(CART(draw=AttributeSampling(2, 1)), numeric=Cuts(gap=0.1)),
    ],
)
def test_other_recipes_are_first_grown_as_before(recipe: Recipe, monkeypatch: pytest.MonkeyPatch) -> None:
    table = table_of(numbers("normal", 100))
    expected = grow(MemoryEngine(table), recipe).tree
    monkeypatch.delattr(growing, "grow_bucketed")
    assert difference(expected, CompiledGrower(table).grow(recipe), exact=True) is None


def test_very_many_values_and_missing_ones_are_grown_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    table = valued((20, 3), 90)
    gone = replace(table, columns=(np.where(np.arange(90) % 7, table.columns[0], -1), *table.columns[1:]))
    for other in (valued((256, 3), 90), gone):
        expected = grow(MemoryEngine(other), CART(draw=AttributeSampling(1, 1))).tree
        with monkeypatch.context() as patched:
            patched.delattr(growing, "grow_bucketed")
            assert (
                difference(expected, CompiledGrower(other).grow(CART(draw=AttributeSampling(1, 1))), exact=True) is None
            )


@pytest.mark.parametrize("weight", [0.5, HEAVIEST + 1.0])
def test_broken_and_heavy_weights_are_grown_as_before(weight: float, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = np.ones(100)
    weights[5] = weight
    table = table_of(numbers("normal", 100), weights)
    expected = grow(MemoryEngine(table), CART(draw=AttributeSampling(2, 1))).tree
    monkeypatch.delattr(growing, "grow_bucketed")
    assert difference(expected, CompiledGrower(table).grow(CART(draw=AttributeSampling(2, 1))), exact=False) is None


@pytest.mark.slow
def test_many_cases_give_the_tree_that_sorting_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    table = table_of(numbers("normal", 60_000))
    weights = np.random.default_rng(2).poisson(1.0, table.n_rows)
    tree = CompiledGrower(table).grow(CART(draw=AttributeSampling(2, 1)), weights)
    monkeypatch.setattr(growing, "can_grow_bucketed", lambda *_: False)
    assert difference(tree, CompiledGrower(table).grow(CART(draw=AttributeSampling(2, 1)), weights), exact=True) is None
