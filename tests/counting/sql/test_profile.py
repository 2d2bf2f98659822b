"""The schema that is inferred where the table is, is the one that reading it would propose."""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from treewright.counting.sql.connection import connect
from treewright.counting.sql.engine import SqlEngine
from treewright.counting.sql.profile import inferred
from treewright.data.infer import Overrides
from treewright.data.read import read
from treewright.data.schema import Schema, Task
from treewright.data.table_address import Table
from treewright.errors import DataError, ParameterError

TABLE = """
SELECT i AS id, i % 7 AS few, i / 3 AS broken, 'v' || (i % 3) AS "Text", i % 2 = 0 AS flag,
DATE '2020-01-01' + INTERVAL (i % 3) DAY AS moment, CAST('2020-01-0' || (1 + i % 3) AS DATE) AS day,
(i % 4)::DECIMAL(8, 2) / 4 AS decimal, CASE WHEN i % 5 > 0 THEN i % 5 END AS holes, NULL::INTEGER AS empty,
(i % 3)::FLOAT AS small, CASE WHEN i % 2 = 0 THEN 'yes' ELSE 'no' END AS y FROM range(100) t(i)
"""


def _schema(path: Path, target: str, overrides: Overrides | None, limit: int) -> Schema:
    connection = connect(Table(str(path)))
    try:
        return inferred(connection, connection.columns(), target, overrides, nominal_limit=limit)[0]
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("target", "overrides", "limit"),
    [
        ("y", None, 0),
        ("y", None, 10),
        ("few", None, 0),
        ("broken", None, 10),
        ("few", Overrides(task=Task.REGRESSION), 0),
        ("flag", Overrides(nominal=("id",), ignore=("moment",), weight="few"), 0),
        ("y", Overrides(ordinal={"Text": ("v2", "v0", "v1")}, nominal=("decimal", "small")), 0),
    ],
)
def test_the_schema_is_that_of_reading_the_same_file(
    tmp_path: Path, target: str, overrides: Overrides | None, limit: int
) -> None:
    path = tmp_path / "t.parquet"
    duckdb.sql(f"COPY ({TABLE}) TO '{path}' (FORMAT parquet)")
    expected = read(path, target, overrides=overrides, nominal_limit=limit).schema
    for name in expected.ignored:  # the values of columns that are left out are not asked for
        expected = expected.with_column(replace(expected.column(name), values=()))
    assert _schema(path, target, overrides, limit) == expected


def test_text_files_are_taken_as_our_reader_takes_them(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = ["id;x;z;y;none", *(f"00{i};{i / 4};{'?' if i % 9 == 0 else 'v' + str(i % 3)};{i % 2};" for i in range(60))]
    path.write_text("\n".join([*rows, '7;nan;"?";1;']) + "\n", encoding="utf-8")
    expected = read(path, "y").schema
    assert _schema(path, "y", None, 0) == expected
    with SqlEngine.over(connect(Table(str(path))), "y") as engine:
        summary = engine.summaries([engine.root()])[0]
        assert summary.cases == 61
        [[numbers, values]] = engine.count([(engine.root(), [1, 2])])
        assert (numbers.unknown_cases, values.unknown_cases) == (1, 8)


def test_names_that_differ_in_case_only_are_distinguished(tmp_path: Path) -> None:
    pa: Any = importlib.import_module("pyarrow")
    pq: Any = importlib.import_module("pyarrow.parquet")

    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": ["x", "y"], "A": ["u", "v"], "y": ["k", "l"]}), path)
    assert _schema(path, "y", None, 0) == read(path, "y").schema


def test_unknown_names_and_kinds_of_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    duckdb.sql(f"COPY ({TABLE}) TO '{path}' (FORMAT parquet)")
    with pytest.raises(DataError, match="did you mean 'few'"):
        _schema(path, "fwe", None, 0)
    with pytest.raises(ParameterError, match="more than one kind"):
        Overrides(nominal=("few",), numeric=("few",))
    (tmp_path / "t.arff").touch()
    for name, message in (
        ("t.arff", "reads only Parquet, CSV"),
        ("t.*", "several formats"),
        ("no-*.csv", "no such file"),
    ):
        with pytest.raises(DataError, match=message):
            connect(Table(str(tmp_path / name)))


def test_a_column_of_too_many_values_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    duckdb.sql(f"COPY (SELECT 'v' || i AS x, 'k' AS y FROM range(50) t(i)) TO '{path}' (FORMAT parquet)")  # noqa: S608
    monkeypatch.setattr("treewright.counting.sql.profile.MAX_CATEGORIES", 49)
    with pytest.raises(DataError, match="50 distinct values"):
        _schema(path, "y", None, 0)
