"""The SQL engine counts as the engine in memory does, in few statements."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from database_tables import duckdb_engine
from engine_tables import random_table
from treewright.counting.numpy import MemoryEngine
from treewright.counting.sql.connection import DuckDBConnection, DuckDBRelation, connect
from treewright.counting.sql.engine import SqlEngine
from treewright.data.infer import Overrides
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.data.table_address import Table
from treewright.errors import DataError, EngineError, ParameterError
from treewright.tree.split import FRACTIONAL, Split


def _relation(statement: str) -> tuple[Any, DuckDBRelation]:
    connection = duckdb.connect()
    return connection, DuckDBRelation(connection.sql(statement), "t")


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.booleans())
def test_tables_and_summaries_are_those_of_memory_at_the_root_and_below(seed: int, regression: bool) -> None:
    data = random_table(seed, rows=60, regression=regression)
    here, there = MemoryEngine(data), duckdb_engine(data)
    nodes = (here.root(), there.root())
    attributes = range(len(data.columns))
    numeric = [index for index in attributes if data.schema.attributes[index].is_numeric]
    for _ in range(2):
        [mine], [theirs] = here.count([(nodes[0], attributes)]), there.count([(nodes[1], attributes)])
        for one, other in zip(mine, theirs, strict=True):
            assert one.counts.dtype == other.counts.dtype
            np.testing.assert_allclose(other.counts, one.counts, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(other.unknown, one.unknown, rtol=1e-9, atol=1e-9)
            assert other.cases.tolist() == one.cases.tolist()
            assert other.unknown_cases == one.unknown_cases
            if one.values is not None:
                assert other.values is not None
                assert other.values.tolist() == one.values.tolist()
        values = mine[numeric[0]].values if numeric else None
        if values is None or len(values) == 0:
            return
        split = Split.threshold(numeric[0], float(values[len(values) // 2]), 1)
        below = here.split_node(nodes[0], split), there.split_node(nodes[1], split)
        for mine_below, theirs_below in zip(here.summaries(below[0]), there.summaries(below[1]), strict=True):
            assert theirs_below.cases == mine_below.cases
            assert theirs_below.pure == mine_below.pure
            assert theirs_below.weight == pytest.approx(mine_below.weight, rel=1e-12)
            assert theirs_below.mean == pytest.approx(mine_below.mean, rel=1e-9, abs=1e-12)
            assert theirs_below.sse == pytest.approx(mine_below.sse, rel=1e-7, abs=1e-9)
        nodes = (below[0][1], below[1][1])
        if here.summaries([nodes[0]])[0].cases == 0:
            return


def test_all_open_nodes_of_a_level_are_counted_by_one_statement() -> None:
    engine = duckdb_engine(sample("play-tennis"))
    root = engine.root()
    assert engine.scans == 1  # the classes are sums of the tables
    engine.count([(root, range(4))])
    assert engine.scans == 1
    children = engine.split_node(root, Split.multiway(0, 3, 0))
    assert engine.scans == 1  # their summaries are rows of the parent's table
    engine.count([(child, [1, 2, 3]) for child in children])
    assert engine.scans == 2


def test_a_level_is_counted_in_parts_where_the_answer_would_be_too_large() -> None:
    data = random_table(3, rows=80)
    here, there = MemoryEngine(data), duckdb_engine(data, result_rows=40)
    attributes = range(len(data.columns))
    [mine], [theirs] = here.count([(here.root(), attributes)]), there.count([(there.root(), attributes)])
    assert [table.counts.tolist() for table in theirs] == [table.counts.tolist() for table in mine]
    assert there.scans > 2


def test_null_and_nan_are_both_missing() -> None:
    _keep, relation = _relation("SELECT * FROM (VALUES (1.5, 'a'), ('NaN'::DOUBLE, 'b'), (NULL, 'a')) t(x, y)")
    engine = SqlEngine.over(relation, "y")
    [[table]] = engine.count([(engine.root(), [0])])
    assert table.values is not None
    assert table.values.tolist() == [1.5]
    assert (table.unknown_cases, table.unknown.tolist()) == (2, [1, 1])


@pytest.mark.parametrize(
    ("weights", "expected", "dtype"),
    [
        (["2", "3", "0"], [2, 3], np.int64),
        (["0.1::DECIMAL(5,2)", "0.20::DECIMAL(5,2)", "0"], [0.1, 0.2], np.float64),
        (["9007199254740990", "1", "1"], [9007199254740990, 1], np.int64),
    ],
)
def test_weights_are_summed_exactly(weights: list[str], expected: list[float], dtype: type) -> None:
    rows = ", ".join(f"('{value}', 'k', {weight})" for value, weight in zip("abc", weights, strict=True))
    _keep, relation = _relation(f"SELECT * FROM (VALUES {rows}) t(x, y, w)")  # noqa: S608
    engine = SqlEngine.over(relation, "y", Overrides(weight="w"))
    [[table]] = engine.count([(engine.root(), [0])])
    assert table.counts[:2, 0].tolist() == expected
    assert table.counts.dtype == dtype
    assert engine.n_rows == 3
    assert engine.n_cases == (2 if weights[2] == "0" else 3)


def test_decimal_weights_add_up_without_rounding() -> None:
    rows = ", ".join("('a', 'k', 0.10::DECIMAL(5,2))" for _ in range(10))
    _keep, relation = _relation(f"SELECT * FROM (VALUES {rows}) t(x, y, w)")  # noqa: S608
    engine = SqlEngine.over(relation, "y", Overrides(weight="w"))
    assert Decimal(str(engine.summaries([engine.root()])[0].weight)) == Decimal("1.0")


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("SELECT 'a' AS x, NULL::VARCHAR AS y", "the target is missing in 1 row"),
        ("SELECT 'a' AS x, 'b' AS y WHERE 1 = 0", "there are no rows"),
        ("SELECT 'inf'::DOUBLE AS x, 'b' AS y", "infinite"),
        ("SELECT 9007199254740993 AS x, 'b' AS y", "2^53"),
        ("SELECT [1] AS x, 'b' AS y", "not supported"),
    ],
)
def test_tables_that_cannot_be_learned_from_are_refused(statement: str, message: str) -> None:
    _keep, relation = _relation(statement)
    with pytest.raises(DataError, match=message.replace("^", r"\^")):
        SqlEngine.over(relation, "y").root()


@pytest.mark.parametrize(("weight", "message"), [("-1", "at least 0"), ("0", "all weights are zero")])
def test_weights_that_are_none_are_refused(weight: str, message: str) -> None:
    _keep, relation = _relation(f"SELECT 'a' AS x, 'b' AS y, {weight} AS w")
    with pytest.raises(DataError, match=message):
        SqlEngine.over(relation, "y", Overrides(weight="w"))


def test_a_value_that_the_schema_does_not_declare_is_an_error_and_a_marker_is_missing() -> None:
    schema = Schema((Column("x", Kind.NOMINAL, ("a",)), Column("y", Kind.NOMINAL, ("k", "l"))), target="y")
    _keep, relation = _relation("SELECT * FROM (VALUES ('a', 'k'), ('?', 'l')) t(x, y)")
    [[table]] = (engine := SqlEngine(relation, schema)).count([(engine.root(), [0])])
    assert table.unknown_cases == 1
    _other, relation = _relation("SELECT * FROM (VALUES ('b', 'k'), ('?', 'l')) t(x, y)")
    with pytest.raises(DataError, match="value 'b' is not declared"):
        SqlEngine(relation, schema).root()


def test_a_column_that_is_not_there_is_named() -> None:
    _keep, relation = _relation("SELECT 'a' AS x, 'b' AS y")
    with pytest.raises(DataError, match="no column 'z'"):
        SqlEngine.over(relation, "z")
    schema = Schema((Column("q", Kind.NOMINAL, ("a",)), Column("y", Kind.NOMINAL, ("b",))), target="y")
    with pytest.raises(DataError, match="without the column 'q'"):
        SqlEngine(relation, schema)


def test_without_a_target_the_columns_are_listed() -> None:
    _keep, relation = _relation("SELECT 'a' AS x, 'b' AS y")
    with pytest.raises(ParameterError, match="one of: x, y"):
        SqlEngine.over(relation, None)


def test_fractional_cases_are_rejected() -> None:
    data = random_table(1, rows=60)
    engine = duckdb_engine(data)
    numeric = next(index for index, column in enumerate(data.schema.attributes) if not column.is_numeric)
    width = len(data.schema.attributes[numeric].values)
    with pytest.raises(ParameterError, match="DuckDB does not support"):
        engine.split_node(engine.root(), Split.multiway(numeric, width, FRACTIONAL))
    assert engine.incomplete()


def test_the_largest_numbers_not_above_bounds_come_from_one_statement_or_none() -> None:
    data = random_table(7, rows=100)
    numeric = [index for index, column in enumerate(data.schema.attributes) if column.is_numeric]
    bounds = {index: [0.05, 1.0, float(np.nanmax(data.columns[index]))] for index in numeric}
    here = MemoryEngine(data)
    expected = {index: [here.largest_value_not_above(index, one) for one in some] for index, some in bounds.items()}
    for few in (3, 20_000):
        there = duckdb_engine(data, few_numbers=few)
        there.root()
        before = there.scans
        assert there.largest_values_not_above(bounds) == expected
        assert there.scans - before == (1 if few == 3 else 0)
    assert there.largest_value_not_above(numeric[0], 1.0) == expected[numeric[0]][1]
    with pytest.raises(ParameterError, match="no numbers"):
        there.largest_value_not_above(next(index for index in range(len(data.columns)) if index not in numeric), 1.0)


def test_rows_have_no_row_numbers() -> None:
    engine = duckdb_engine(sample("play-tennis"))
    with pytest.raises(ParameterError, match="no row numbers"):
        engine.rows(engine.root())


def test_fetched_cases_are_those_of_the_node() -> None:
    data = sample("play-tennis")
    engine = duckdb_engine(data)
    children = engine.split_node(engine.root(), Split.multiway(0, 3, 0))
    parts = engine.fetch(children)
    assert [part.n_rows for part in parts] == [5, 4, 5]
    assert sorted(parts[1].y.tolist()) == ["Yes"] * 4


def test_equal_cases_are_grouped() -> None:
    data = sample("play-tennis")
    engine = duckdb_engine(data)
    cases = engine.distinct_rows({0: []}, 100)
    assert cases is not None
    assert cases.weights is not None
    assert (cases.n_rows, cases.weights.sum()) == (5, 14)
    assert engine.distinct_rows({0: []}, 4) is None


@pytest.mark.full
def test_deep_paths_are_written_flat() -> None:
    _keep, relation = _relation("SELECT i::DOUBLE AS x, (i % 2)::VARCHAR AS y FROM range(200) t(i)")
    engine = SqlEngine.over(relation, "y")
    node = engine.root()
    for cut in range(120):
        engine.count([(node, [0])])
        node = engine.split_node(node, Split.threshold(0, cut + 0.5, 1))[1]
    [[table]] = engine.count([(node, [0])])
    assert table.values is not None
    assert table.values.tolist() == list(range(120, 200))


def test_a_statement_that_fails_is_reported_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1,a\n2\n", encoding="utf-8")
    connection = connect(Table(str(path)))
    with pytest.raises(EngineError, match="DuckDB cannot answer") as caught:
        SqlEngine.over(connection, "y").root()
    connection.close()
    assert "\n" not in str(caught.value)


def test_our_own_duckdb_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    with duckdb.connect(str(path)) as writing:
        writing.execute("CREATE TABLE \"my table\" AS SELECT 'a' AS x, 'b' AS y")
    connection = DuckDBConnection(Table(f"duckdb:///{path}", '"my table"'))
    folder = Path(connection._folder.name)
    with SqlEngine.over(connection, "y") as engine:
        assert engine.summaries([engine.root()])[0].cases == 1
        assert folder.exists()
    assert not folder.exists()
    with pytest.raises(DataError, match="no such file"):
        connect(Table(f"duckdb:///{tmp_path}/nothing.db", "t"))


def test_only_select_is_ever_written() -> None:
    import sqlglot

    engine = duckdb_engine(sample("play-tennis"))
    for dialect in ("duckdb", "postgres", "spark"):
        parsed = sqlglot.parse(engine.first_statement(), dialect=dialect)
        assert [type(one).__name__ for one in parsed] == ["Select"]


def test_a_relation_of_a_user_gets_no_temporary_table() -> None:
    _keep, relation = _relation("SELECT 1 AS x")
    with pytest.raises(ParameterError, match="read-only"):
        relation.run("CREATE TEMP TABLE t AS SELECT 1")
    with pytest.raises(ParameterError, match="not list"):
        connect([1])


def test_class_factors_weigh_the_cases() -> None:
    data = sample("play-tennis")
    engine = duckdb_engine(data, class_factors=[2.0, 0.0])
    summary = engine.summaries([engine.root()])[0]
    assert (summary.statistics.tolist(), summary.cases) == ([18, 0], 9)
    engine = duckdb_engine(data, class_factors=[0.5, 1.0])
    assert engine.summaries([engine.root()])[0].statistics.tolist() == [4.5, 5.0]


def test_a_weight_column_and_class_factors_go_together() -> None:
    data = random_table(4, rows=50)
    weighted = replace(data, weights=np.arange(50, dtype=np.float64))
    if data.schema.weight is None:
        schema = Schema((*data.schema.columns, Column("w", Kind.NUMERIC)), target="t", weight="w")
        weighted = replace(weighted, schema=schema)
    factors = [3.0] * len(data.schema.classes)
    engine = duckdb_engine(weighted, class_factors=factors)
    assert engine.summaries([engine.root()])[0].weight == 3 * 49 * 50 / 2
