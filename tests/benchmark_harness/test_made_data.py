"""The made data: always the same, of the documented shape, learnable but never without error."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks.made_data import ADULT_VALUES, MAKERS, Table, continuous, iris, letters, make, mixed, nominal


def same(one: Table, other: Table) -> bool:
    return (
        one.values == other.values
        and np.array_equal(one.numbers, other.numbers, equal_nan=True)
        and np.array_equal(one.codes, other.codes)
        and np.array_equal(one.labels, other.labels)
    )


@pytest.mark.parametrize("name", MAKERS)
def test_a_table_is_the_same_every_time_and_survives_its_file(name: str, tmp_path: Path) -> None:
    table = MAKERS[name](150)
    assert same(table, MAKERS[name](150))
    assert table.n_rows == 150
    assert set(np.unique(table.labels)) <= set(range(table.classes))
    table.save(tmp_path / "deep" / "er")
    assert same(Table.load(tmp_path / "deep" / "er"), table)


@pytest.mark.parametrize("name", [name for name in MAKERS if name != "iris"])
def test_another_seed_gives_another_table(name: str) -> None:
    assert not same(MAKERS[name](150, seed=1), MAKERS[name](150, seed=2))


@pytest.mark.parametrize("name", MAKERS)
def test_numbers_are_the_same_in_32_bits(name: str) -> None:
    numbers = MAKERS[name](150).numbers
    if name != "iris":
        assert np.array_equal(numbers.astype(np.float32).astype(np.float64), numbers, equal_nan=True)


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
