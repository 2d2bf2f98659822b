"""n log2 n: the same bits everywhere."""

from __future__ import annotations

import math
import struct
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright.learners import criteria as module
from treewright.learners.criteria import LARGEST_TABLE, nlogn


def bits(numbers: list[float]) -> list[bytes]:
    return [struct.pack("<d", number) for number in numbers]


def expected(numbers: list[Any]) -> list[float]:
    return [x * math.log2(x) if x > 0 else 0.0 for x in numbers]


@pytest.fixture
def short_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start with the table of a fresh process."""
    monkeypatch.setattr(module, "_table", np.zeros(2))


@given(st.lists(st.integers(0, 5000), max_size=20), st.sampled_from(["int64", "int32", "uint16", "uint64"]))
def test_whole_numbers_are_exact_in_every_integer_type(numbers: list[int], dtype: str) -> None:
    assert bits(nlogn(np.array(numbers, dtype=dtype)).tolist()) == bits(expected(numbers))


@given(st.lists(st.floats(0, 1e300), max_size=20))
def test_broken_numbers_are_exact(numbers: list[float]) -> None:
    assert bits(nlogn(np.array(numbers, dtype=np.float64)).tolist()) == bits(expected(numbers))


@given(st.lists(st.floats(0, 2.0**100, width=32), max_size=20))
def test_single_precision_is_computed_in_double(numbers: list[float]) -> None:
    result = nlogn(np.array(numbers, dtype=np.float32))  # type: ignore[arg-type]
    assert result.dtype == np.float64
    assert bits(result.tolist()) == bits(expected(numbers))


@given(st.integers(0, 2**22 - 1))
def test_whole_and_broken_types_agree(number: int) -> None:
    number %= 70_000
    whole, broken = nlogn(np.array([number])), nlogn(np.array([float(number)]))
    assert bits(whole.tolist()) == bits(broken.tolist())


@pytest.mark.usefixtures("short_table")
def test_the_table_grows_without_changing_what_it_had() -> None:
    for largest in (1, 2, 3, 4, 7, 8, 1000, 1023, 1024, 5):
        numbers = list(range(largest + 1))
        assert bits(nlogn(np.array(numbers)).tolist()) == bits(expected(numbers))


@pytest.mark.usefixtures("short_table")
def test_beyond_the_largest_table_numbers_are_computed_singly() -> None:
    numbers = [LARGEST_TABLE, LARGEST_TABLE + 1, 2**53, 2**62, 3, 0]
    assert bits(nlogn(np.array(numbers)).tolist()) == bits(expected(numbers))
    assert len(module._table) == 2  # nothing of that size was kept


def test_negative_remainders_of_a_subtraction_count_as_nothing() -> None:
    assert nlogn(np.array([-1e-17, 0.0])).tolist() == [0.0, 0.0]


def test_the_shape_is_kept_also_when_empty() -> None:
    assert nlogn(np.zeros((2, 0), dtype=np.int64)).shape == (2, 0)
    assert nlogn(np.zeros((0, 3))).shape == (0, 3)
    assert nlogn(np.arange(6).reshape(2, 3)).shape == (2, 3)
    assert nlogn(np.arange(6.0).reshape(3, 2)).shape == (3, 2)


@pytest.mark.usefixtures("short_table")
def test_a_table_replaced_by_a_shorter_one_meanwhile_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    """While one thread makes the table longer, another one may replace it by a shorter one."""
    fresh = np.zeros(2)

    def log2_and_another_thread(x: float) -> float:
        module._table = fresh
        return math.log2(x)

    nlogn(np.array([100]))
    monkeypatch.setattr(module, "log2", log2_and_another_thread)
    numbers = list(range(1000))
    assert bits(nlogn(np.array(numbers)).tolist()) == bits(expected(numbers))
    assert bits(nlogn(np.array(numbers)).tolist()) == bits(expected(numbers))


@pytest.mark.usefixtures("short_table")
def test_many_threads_get_the_same_numbers() -> None:
    sizes = [3, 5000, 17, 900, 20_000, 2, 64, 12_000] * 4
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda size: nlogn(np.arange(size)).tolist(), sizes))
    for size, result in zip(sizes, results, strict=True):
        assert bits(result) == bits(expected(list(range(size))))


@pytest.mark.usefixtures("short_table")
def test_a_few_large_numbers_make_no_table_and_many_do() -> None:
    numbers = [300_000, 299_999, 17]
    assert bits(nlogn(np.array(numbers)).tolist()) == bits(expected(numbers))
    assert len(module._table) == 2
    nlogn(np.arange(10_000))
    assert len(module._table) > 10_000
