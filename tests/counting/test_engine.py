"""Compiled counting gives the tables of the interpreted engine."""

from __future__ import annotations

import numpy as np
import pytest

from made_tables import made_table
from treewright.counting import numba as compiled
from treewright.counting.numba import CompiledEngine, code_table, distinct_values, encode_numbers, plan_column
from treewright.counting.numpy import MemoryEngine
from treewright.counting.table import FrequencyTable
from treewright.tree.split import FRACTIONAL, Split

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # where kernels are plain Python


def same(one: FrequencyTable, other: FrequencyTable) -> bool:
    if one.values is None or other.values is None:
        numbers = one.values is other.values
    else:
        numbers = np.array_equal(one.values, other.values)
    return bool(
        numbers
        and one.counts.dtype == other.counts.dtype
        and np.allclose(one.counts, other.counts, rtol=1e-12)
        and np.allclose(one.unknown, other.unknown, rtol=1e-12)
        and np.array_equal(one.cases, other.cases)
        and one.unknown_cases == other.unknown_cases
    )


@pytest.mark.parametrize("seed", range(20))
def test_every_table_is_the_interpreted_one_also_below_a_fractional_case(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "FEW_ROWS", 0)
    monkeypatch.setattr(compiled, "MOST_RANKS", 20)
    table = made_table(seed)
    engines = [MemoryEngine(table, fractional=True), CompiledEngine(table, fractional=True)]
    attributes = list(range(len(table.columns)))
    nodes = [engine.root() for engine in engines]
    for _ in range(2):
        [[first], [second]] = [engine.count([(node, attributes)]) for engine, node in zip(engines, nodes, strict=True)]
        assert all(same(one, other) for one, other in zip(first, second, strict=True))
        column = table.schema.attributes[0]
        if column.is_numeric:
            split = Split.threshold(0, float(np.nanmedian(table.columns[0])), FRACTIONAL)
        elif len(column.values) > 1:
            split = Split.multiway(0, len(column.values), FRACTIONAL)
        else:
            return
        nodes = [engine.split_node(node, split)[0] for engine, node in zip(engines, nodes, strict=True)]


def test_intervals_are_counted_as_the_interpreter_counts_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "FEW_ROWS", 0)
    table = next(t for t in map(made_table, range(50)) if t.schema.attributes[0].is_numeric)
    engines = [MemoryEngine(table), CompiledEngine(table)]
    for engine in engines:
        engine.use_intervals(0, [0.0, 1.0])
    [[one]], [[other]] = (engine.count([(engine.root(), [0])]) for engine in engines)
    assert same(one, other)


def test_numbers_get_the_code_of_their_bin() -> None:
    codes = np.zeros(6, dtype=np.uint8)
    encode_numbers(np.array([np.nan, -1.0, 0.0, 0.5, 1.0, 9.0]), np.array([0.0, 1.0]), codes)
    assert codes.tolist() == [0, 2 - 1, 1, 2, 2, 3]


def test_few_distinct_numbers_are_found_and_many_are_given_up() -> None:
    assert sorted(distinct_values(np.array([2.0, 1.0, np.nan, 2.0, -0.0, 0.0]), 5).tolist()) == [0.0, 1.0, 2.0]
    assert len(distinct_values(np.arange(100.0), 10)) == 11


def test_columns_are_coded_by_rank_or_by_bin() -> None:
    assert plan_column(np.arange(5.0), 0, 10, 255).numbers is not None
    assert plan_column(np.arange(500.0), 0, 10, 255).is_binned
    assert plan_column(np.zeros(3, dtype=np.int32), 4, 10, 255).n_codes == 5


def test_the_codes_of_a_table_take_the_smallest_type() -> None:
    small, _ = code_table((np.arange(5.0),), (0,), 10, 1)
    wide, _ = code_table((np.arange(500.0),), (0,), 1000, 2)
    assert (small.itemsize, wide.itemsize) == (1, 2)
