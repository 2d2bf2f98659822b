"""The made data: always the same, of the documented shape, learnable but never without error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from benchmarks.made_data import (
    ADULT_VALUES,
    RECIPES,
    Table,
    continuous,
    iris,
    letters,
    make,
    mixed,
    nominal,
    skewed,
    write_csv,
)

import treewright

MAKERS = [maker for makers in RECIPES.values() for maker in makers.values()]
SEEDED = [maker for maker in MAKERS if maker is not iris]


Maker = Callable[..., Table]


def same(one: Table, other: Table) -> bool:
    return (
        one.values == other.values
        and np.array_equal(one.numbers, other.numbers, equal_nan=True)
        and np.array_equal(one.codes, other.codes)
        and np.array_equal(one.labels, other.labels)
    )


@pytest.mark.parametrize("maker", MAKERS)
def test_a_table_is_the_same_every_time_and_survives_its_file(maker: Maker, tmp_path: Path) -> None:
    table = maker(150)
    assert same(table, maker(150))
    assert table.n_rows == 150
    assert set(np.unique(table.labels)) <= set(range(table.classes))
    table.save(tmp_path / "deep" / "er")
    assert same(Table.load(tmp_path / "deep" / "er"), table)


@pytest.mark.parametrize("maker", SEEDED)
def test_another_seed_gives_another_table(maker: Maker) -> None:
    assert not same(maker(150, seed=1), maker(150, seed=2))


@pytest.mark.parametrize("maker", SEEDED)
def test_numbers_are_the_same_in_32_bits(maker: Maker) -> None:
    numbers = maker(150).numbers
    assert np.array_equal(numbers.astype(np.float32).astype(np.float64), numbers, equal_nan=True)


@pytest.mark.parametrize("name", RECIPES["skewed"])
def test_both_recipes_make_tables_of_one_shape(name: str) -> None:
    plain, other = (RECIPES[recipe][name](200) for recipe in ("plain", "skewed"))
    assert plain.numbers.shape == other.numbers.shape
    assert (plain.values, plain.classes) == (other.values, other.classes)
    assert np.isnan(plain.numbers).any() == np.isnan(other.numbers).any()
    assert not same(plain, other)


@pytest.mark.parametrize("maker", [continuous, skewed])
def test_numbers_come_with_several_classes_with_none_and_with_missing_cells(maker: Maker) -> None:
    assert set(np.unique(maker(2_000, classes=5).labels)) == set(range(5))
    assert len(np.unique(maker(2_000, classes=0).labels)) > 200
    assert np.isnan(maker(5_000, missing=0.1).numbers).mean() == pytest.approx(0.1, abs=0.01)


def test_the_second_recipe_is_skewed_rounded_and_tied() -> None:
    table = skewed(20_000, values=(10,), classes=26, missing=0.1)
    distinct = [len(np.unique(column[~np.isnan(column)])) for column in table.numbers.T]
    assert distinct[7] == 2
    assert sorted(distinct)[len(distinct) // 2] < table.n_rows / 50
    amounts = table.numbers[:, 0]
    assert amounts.mean() > 1.5 * np.median(amounts)
    counts = np.bincount(table.codes[table.codes >= 0])
    assert counts[0] > 5 * counts[-1]
    assert np.bincount(table.labels).max() > 5 * np.bincount(table.labels).min()
    lacking = np.isnan(table.numbers).mean(axis=0)
    assert lacking[0] == 0
    assert lacking[-1] == pytest.approx(0.2, abs=0.02)


def test_a_table_becomes_a_file_that_is_read_as_it_was(tmp_path: Path) -> None:
    table = skewed(300, columns=4, values=(3,), missing=0.2)
    write_csv(table, tmp_path / "table.csv")
    data = treewright.read(tmp_path / "table.csv", target="y")
    assert data.n_rows == 300
    assert data.schema.classes == ("c0", "c1")
    read = np.asarray(data.columns[3], dtype=float)
    assert np.array_equal(np.isnan(read), np.isnan(table.numbers[:, 3]))


def test_numbers_predict_the_class_but_not_for_sure() -> None:
    table = continuous(20_000)
    product_is_high = table.numbers[:, 0] * table.numbers[:, 1] > 0
    right = (product_is_high == (table.labels == 1)).mean()
    assert 0.6 < right < 0.9
    assert set(np.unique(continuous(2_000, columns=3, classes=4).labels)) == {0, 1, 2, 3}


def test_nominal_values_predict_the_class_but_not_for_sure() -> None:
    table = nominal(20_000, columns=4, values=5, classes=3)
    cell = table.codes @ np.array([125, 25, 5, 1])
    counts = np.zeros((625, 3))
    np.add.at(counts, (cell, table.labels), 1)
    best_possible = counts.max(axis=1).sum() / table.n_rows
    assert np.bincount(table.labels).max() / table.n_rows < 0.6 < best_possible < 0.95


def test_the_census_has_missing_values_everywhere() -> None:
    table = mixed(5_000)
    assert table.values == ADULT_VALUES
    assert np.isnan(table.numbers).mean(axis=0) == pytest.approx(0.1, abs=0.03)
    assert (table.codes < 0).mean(axis=0) == pytest.approx(0.1, abs=0.03)
    assert all(table.codes[:, at].max() < values for at, values in enumerate(ADULT_VALUES))
    assert 0.15 < table.labels.mean() < 0.4


def test_letters_has_every_class_as_soon_as_it_can() -> None:
    assert len(np.unique(letters(26).labels)) == 26
    assert len(letters(5).labels) == 5


def test_iris_is_mixed() -> None:
    assert iris(150).numbers.shape == (150, 4)
    assert len(np.unique(iris(20).labels)) == 3


def test_make_splits_one_table(tmp_path: Path) -> None:
    assert make("nominal", 80, 20, {"columns": 3}, tmp_path) == 3
    whole = nominal(100, columns=3)
    assert same(Table.load(tmp_path / "training"), whole.head(80))
    assert same(Table.load(tmp_path / "test"), whole.tail(80))
