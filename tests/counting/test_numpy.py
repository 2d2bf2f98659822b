"""The interpreted engine counts what loops over the rows count, in whatever order the rows stand."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learners.tables_for_growing import shuffled, tables
from treewright.counting.numpy import MemoryEngine
from treewright.counting.table import FrequencyTable
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.errors import DataError
from treewright.tree.split import FRACTIONAL, Split

ANY_TABLE = st.one_of(
    *(tables(missing=True, weights=weights) for weights in ("none", "whole", "real")),
)
ANY_REGRESSION = st.one_of(
    *(tables(missing=True, regression=True, weights=weights) for weights in ("none", "whole", "real")),
)


def _is_missing(cell: Any) -> bool:
    return bool(np.isnan(cell)) if isinstance(cell, float) else bool(cell == -1)


def _rows(data: Dataset, attribute: int) -> list[tuple[Any, Any, float]]:
    """Cell (None: missing), target and weight of each row, as plain Python."""
    assert data.target is not None
    weights = [1.0] * data.n_rows if data.weights is None else data.weights.tolist()
    cells = [None if _is_missing(cell) else cell for cell in data.columns[attribute].tolist()]
    return list(zip(cells, data.target.tolist(), weights, strict=True))


def _naive(data: Dataset, attribute: int) -> tuple[dict[Any, list[float]], dict[Any, int]]:
    """Weight of each class, and number of cases, by cell."""
    counts: dict[Any, list[float]] = defaultdict(lambda: [0.0] * len(data.schema.classes))
    cases: dict[Any, int] = defaultdict(int)
    for cell, target, weight in _rows(data, attribute):
        counts[cell][target] += weight
        cases[cell] += 1
    return counts, cases


def _naive_moments(data: Dataset, attribute: int) -> dict[Any, list[float]]:
    assert data.target is not None
    weights = [1.0] * data.n_rows if data.weights is None else data.weights.tolist()
    mean = sum(w * y for w, y in zip(weights, data.target.tolist(), strict=True)) / sum(weights)
    moments: dict[Any, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for cell, target, weight in _rows(data, attribute):
        for power in range(3):
            moments[cell][power] += weight * (target - mean) ** power
    return moments


def _outcomes(data: Dataset, attribute: int, table: FrequencyTable) -> list[Any]:
    column = data.schema.attributes[attribute]
    if column.is_numeric:
        assert table.values is not None
        return list(table.values)
    return list(range(len(column.values)))


@given(ANY_TABLE)
def test_class_tables_equal_a_count_by_loops(data: Dataset) -> None:
    engine = MemoryEngine(data)
    attributes = range(len(data.columns))
    [found] = engine.count([(engine.root(), attributes)])
    for attribute, table in zip(attributes, found, strict=True):
        counts, cases = _naive(data, attribute)
        outcomes = _outcomes(data, attribute, table)
        assert table.counts.tolist() == pytest.approx(np.array([counts[cell] for cell in outcomes]), rel=1e-12)
        assert table.cases.tolist() == [cases[cell] for cell in outcomes]
        assert table.unknown.tolist() == pytest.approx(counts[None], rel=1e-12)
        assert table.unknown_cases == cases[None]


@given(ANY_REGRESSION)
def test_moments_of_a_numeric_target_equal_a_count_by_loops(data: Dataset) -> None:
    engine = MemoryEngine(data)
    attributes = range(len(data.columns))
    [found] = engine.count([(engine.root(), attributes)])
    for attribute, table in zip(attributes, found, strict=True):
        moments = _naive_moments(data, attribute)
        outcomes = _outcomes(data, attribute, table)
        expected = np.array([moments[cell] for cell in outcomes]).reshape(len(outcomes), 3)
        assert table.counts == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert table.unknown == pytest.approx(moments[None], rel=1e-9, abs=1e-9)


@given(tables(missing=True, weights="whole"))
def test_whole_weights_are_counted_as_whole_numbers(data: Dataset) -> None:
    engine = MemoryEngine(data)
    [[table]] = engine.count([(engine.root(), [0])])
    assert table.counts.dtype == np.int64
    assert table.unknown.dtype == np.int64


@given(tables(missing=True, kinds=(Kind.NUMERIC,)))
def test_numbers_of_a_table_ascend_without_repetition_and_occur_in_the_node(data: Dataset) -> None:
    engine = MemoryEngine(data)
    [[table]] = engine.count([(engine.root(), [0])])
    assert table.values is not None
    assert np.all(np.diff(table.values) > 0)
    assert np.all(table.cases > 0)


@given(ANY_TABLE)
def test_the_summary_of_the_root_describes_the_target(data: Dataset) -> None:
    engine = MemoryEngine(data)
    [summary] = engine.summaries([engine.root()])
    weights = [1.0] * data.n_rows if data.weights is None else data.weights.tolist()
    assert summary.cases == data.n_rows
    assert summary.weight == pytest.approx(sum(weights))
    assert data.target is not None
    assert summary.pure == (len(set(data.target.tolist())) == 1)


@given(ANY_REGRESSION)
def test_the_summary_of_a_numeric_target_has_mean_and_sum_of_squares(data: Dataset) -> None:
    engine = MemoryEngine(data)
    [summary] = engine.summaries([engine.root()])
    weights = np.ones(data.n_rows) if data.weights is None else data.weights
    assert data.target is not None
    mean = float(np.average(data.target, weights=weights))
    assert summary.mean == pytest.approx(mean, abs=1e-12)
    assert summary.sse == pytest.approx(float((weights * (data.target - mean) ** 2).sum()), abs=1e-9)


def _a_split(data: Dataset, missing: int) -> Split:
    column = data.schema.attributes[0]
    if column.is_numeric:
        return Split.threshold(0, 0.25, missing)
    return Split.multiway(0, len(column.values), missing)


@given(ANY_TABLE, st.sampled_from((FRACTIONAL, 0, 1)))
def test_splitting_loses_no_weight(data: Dataset, missing: int) -> None:
    column = data.columns[0]
    known = [not _is_missing(cell) for cell in column.tolist()]
    if not any(known):
        return  # no split is by an attribute without values
    engine = MemoryEngine(data, fractional=missing == FRACTIONAL)
    root = engine.root()
    [before] = engine.summaries([root])
    children = engine.split_node(root, _a_split(data, missing))
    after = engine.summaries(children)
    assert sum(summary.weight for summary in after) == pytest.approx(before.weight, rel=1e-12)
    total = np.sum([summary.statistics for summary in after], axis=0)
    assert total == pytest.approx(np.asarray(before.statistics, dtype=float), rel=1e-12)


def _table_with_missing(weights: list[float] | None = None) -> Dataset:
    schema = Schema((Column("a", Kind.NOMINAL, ("x", "y", "z")), Column("k", Kind.NOMINAL, ("A", "B"))), target="k")
    codes = np.array([0, 0, 0, 1, -1], dtype=np.int32)
    target = np.array([0, 0, 1, 1, 0], dtype=np.int32)
    return Dataset(schema, (codes,), 5, target, None if weights is None else np.array(weights))


def test_a_case_without_value_is_shared_out_by_the_weight_of_the_branches() -> None:
    engine = MemoryEngine(_table_with_missing(), fractional=True)
    children = engine.split_node(engine.root(), Split.multiway(0, 3))
    x, y, z = engine.summaries(children)
    assert x.statistics.tolist() == [2 + 3 / 4, 1]
    assert y.statistics.tolist() == [1 / 4, 1]
    assert z.statistics.tolist() == [0, 0]
    assert (x.cases, y.cases, z.cases) == (4, 2, 0)


def test_shares_follow_the_weights_not_the_number_of_cases() -> None:
    engine = MemoryEngine(_table_with_missing([1, 1, 1, 7, 10]), fractional=True)
    x, y, _ = engine.summaries(engine.split_node(engine.root(), Split.multiway(0, 3)))
    assert x.statistics.tolist() == [2 + 10 * 0.3, 1]
    assert y.statistics.tolist() == [10 * 0.7, 7]


def test_a_default_branch_takes_the_whole_case() -> None:
    engine = MemoryEngine(_table_with_missing())
    x, y, _ = engine.summaries(engine.split_node(engine.root(), Split.multiway(0, 3, missing=1)))
    assert x.statistics.tolist() == [2, 1]
    assert y.statistics.tolist() == [1, 1]
    assert x.statistics.dtype == np.int64


def test_rows_name_the_cases_of_a_node_with_their_shares() -> None:
    engine = MemoryEngine(_table_with_missing(), fractional=True)
    _, child, _ = engine.split_node(engine.root(), Split.multiway(0, 3))
    rows, weights = engine.rows(child)
    assert dict(zip(rows.tolist(), weights.tolist(), strict=True)) == {3: 1.0, 4: 0.25}


def test_a_closed_node_is_forgotten() -> None:
    engine = MemoryEngine(_table_with_missing())
    root = engine.root()
    engine.close(root)
    with pytest.raises(KeyError):
        engine.rows(root)


@settings(max_examples=60)
@given(st.one_of(tables(missing=True, weights="real"), ANY_REGRESSION), st.integers(0, 10**6))
def test_shuffled_rows_give_the_same_bits(data: Dataset, seed: int) -> None:
    """Sums of real numbers depend on their order, so the engine has one of its own."""
    one, two = MemoryEngine(data, fractional=True), MemoryEngine(shuffled(data, seed), fractional=True)
    nodes = [(one.root(), two.root())]
    known = [not _is_missing(cell) for cell in data.columns[0].tolist()]
    if any(known):
        split = _a_split(data, FRACTIONAL)
        for engine_one, engine_two in [(one, two)]:
            first, second = engine_one.root(), engine_two.root()
            nodes += zip(engine_one.split_node(first, split), engine_two.split_node(second, split), strict=True)
    for node_one, node_two in nodes:
        [here], [there] = one.summaries([node_one]), two.summaries([node_two])
        assert here.statistics.tobytes() == there.statistics.tobytes()
        assert (here.weight, here.mean, here.sse) == (there.weight, there.mean, there.sse)
        if here.cases == 0:
            continue
        attributes = range(len(data.columns))
        [tables_one] = one.count([(node_one, attributes)])
        [tables_two] = two.count([(node_two, attributes)])
        for table_one, table_two in zip(tables_one, tables_two, strict=True):
            assert table_one.counts.tobytes() == table_two.counts.tobytes()
            assert table_one.unknown.tobytes() == table_two.unknown.tobytes()


@pytest.mark.parametrize("missing", [False, True])
def test_a_small_node_of_a_column_with_many_numbers_is_coded_anew(missing: bool) -> None:
    """2,000 distinct numbers and a node of 5 cases: the short way of counting gives the plain table."""
    n = 2000
    schema = Schema(
        (Column("g", Kind.NOMINAL, ("few", "many")), Column("x", Kind.NUMERIC), Column("k", Kind.NOMINAL, ("A", "B"))),
        target="k",
    )
    group = np.ones(n, dtype=np.int32)
    group[[3, 500, 501, 502, 1999]] = 0
    x = np.arange(n, dtype=np.float64) ** 1.5
    x[501] = x[500]
    if missing:
        x[502] = np.nan
    data = Dataset(schema, (group, x), n, (np.arange(n) % 2).astype(np.int32))
    engine = MemoryEngine(data)
    few, _ = engine.split_node(engine.root(), Split.multiway(0, 2, missing=0))
    [[table]] = engine.count([(few, [1])])
    assert table.values is not None
    present = [3, 500, 1999] if missing else [3, 500, 502, 1999]
    assert table.values.tolist() == x[present].tolist()
    by_number = [[0, 1], [1, 1], [0, 1]] if missing else [[0, 1], [1, 1], [1, 0], [0, 1]]
    assert table.counts.tolist() == by_number
    assert table.unknown.tolist() == ([1, 0] if missing else [0, 0])
    assert table.unknown_cases == int(missing)


def test_intervals_count_a_bound_with_the_interval_below() -> None:
    schema = Schema((Column("x", Kind.NUMERIC), Column("k", Kind.NOMINAL, ("A", "B"))), target="k")
    data = Dataset(
        schema, (np.array([0.0, 1.0, 1.5, 2.0, 3.0, np.nan]),), 6, np.array([0, 0, 1, 1, 0, 1], dtype=np.int32)
    )
    engine = MemoryEngine(data)
    engine.use_intervals(0, [1.0, 2.0])
    [[table]] = engine.count([(engine.root(), [0])])
    assert table.counts.tolist() == [[2, 0], [0, 2], [1, 0]]
    assert table.unknown.tolist() == [0, 1]
    assert table.values is None


def test_the_largest_value_not_above_a_bound_comes_from_all_training_data() -> None:
    schema = Schema((Column("x", Kind.NUMERIC), Column("k", Kind.NOMINAL, ("A", "B"))), target="k")
    data = Dataset(schema, (np.array([1.0, 4.0, 2.5, np.nan]),), 4, np.zeros(4, dtype=np.int32))
    engine = MemoryEngine(data)
    assert engine.largest_value_not_above(0, 3.9) == 2.5
    assert engine.largest_value_not_above(0, 2.5) == 2.5


def test_cases_of_weight_zero_are_left_out() -> None:
    engine = MemoryEngine(_table_with_missing([1, 0, 1, 0, 1]))
    [summary] = engine.summaries([engine.root()])
    assert (engine.n_cases, summary.statistics.tolist()) == (3, [2, 1])


def test_a_large_mean_costs_no_digits_of_the_moments() -> None:
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    y = 1e9 + np.array([0.0, 1.0, 2.0, 3.0])
    engine = MemoryEngine(Dataset(schema, (np.array([0.0, 0.0, 1.0, 1.0]),), 4, y))
    [summary] = engine.summaries([engine.root()])
    assert summary.sse == 5.0
    [[table]] = engine.count([(engine.root(), [0])])
    assert table.counts.tolist() == [[2.0, -2.0, 2.5], [2.0, 2.0, 2.5]]


def test_there_must_be_rows_and_a_target() -> None:
    data = sample("play-tennis")
    with pytest.raises(DataError, match="no rows"):
        MemoryEngine(data.take([]))
    with pytest.raises(DataError, match="no target"):
        MemoryEngine(data.X)


def test_all_weights_zero_leave_nothing_to_learn_from() -> None:
    with pytest.raises(DataError, match="all weights are zero"):
        MemoryEngine(_table_with_missing([0, 0, 0, 0, 0]))


def test_the_play_tennis_table_of_the_lecture() -> None:
    engine = MemoryEngine(sample("play-tennis"))
    [[outlook, _, _, wind]] = engine.count([(engine.root(), [0, 1, 2, 3])])
    assert outlook.counts.tolist() == [[2, 3], [4, 0], [3, 2]]
    assert wind.counts.tolist() == [[6, 2], [3, 3]]
    assert math.isclose(wind.weight, 14)
