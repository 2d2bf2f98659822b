"""The encoded columns of a dataset: the same for any number of threads that ask for them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Kind, Schema
from treewright.learners.kernels.encode import EncodedCases
from treewright.learners.kernels.sort import sort_columns

SORT = "treewright.learners.kernels.encode.sort_columns"

ROWS = 300


def table(*, different: int = 7) -> Dataset:
    """Return numbers with `different` values, some of them missing, beside a column of categories."""
    rng = np.random.default_rng(2)
    numbers = tuple(rng.integers(0, different, ROWS) / 3 for _ in range(9))
    numbers[4][rng.random(ROWS) < 0.3] = np.nan
    attributes = tuple(Column(f"x{index}", Kind.NUMERIC) for index in range(9))
    names = Column("n", Kind.NOMINAL, ("a", "b"))
    schema = Schema((*attributes, names, Column("y", Kind.NOMINAL, ("no", "yes"))), target="y")
    target = rng.integers(0, 2, ROWS).astype(np.int32)
    return Dataset(schema, (*numbers, rng.integers(0, 2, ROWS).astype(np.int32)), ROWS, target)


@pytest.mark.parametrize("different", [1, 7, 10**6])
def test_ranks_are_those_of_the_sorted_values(different: int) -> None:
    data = table(different=different)
    codes, numbers, greatest = EncodedCases(data, 1).by_rank()
    for slot, column in enumerate(data.columns[:9]):
        known = ~np.isnan(column)
        values, ranks = np.unique(column[known], return_inverse=True)
        assert np.array_equal(codes[slot, known], ranks + 1)
        assert not codes[slot, ~known].any()
        assert np.array_equal(numbers[slot, 1 : len(values) + 1], values)
        assert greatest[slot] == len(values)


def test_threads_that_wait_for_the_ranks_share_the_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    ranked: list[int] = []

    def recorded(values: Any, attributes: Any, *others: Any) -> None:
        ranked.append(int(attributes[0]))
        sort_columns(values, attributes, *others)

    monkeypatch.setattr(SORT, recorded)
    encoded = EncodedCases(table(), 1)
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda _: encoded.by_rank(), range(6)))
    assert sorted(ranked) == list(range(9))
    assert all(one is found[0] for one in found)
    assert np.array_equal(found[0].codes, EncodedCases(table(), 1).by_rank().codes)


def test_a_column_whose_thread_fails_is_ranked_by_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded = EncodedCases(table(), 1)

    def failing(*_: Any) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(SORT, failing)
        with pytest.raises(MemoryError):
            encoded.by_rank()
    assert np.array_equal(encoded.by_rank().codes, EncodedCases(table(), 1).by_rank().codes)
