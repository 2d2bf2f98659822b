"""Parquet: types decide, and nothing is rounded, guessed or executed."""

from __future__ import annotations

import datetime as dt
import io
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from treewright.data.columns import NumberColumn, RawTable, TextColumn
from treewright.data.frames import raw_table
from treewright.data.parquet import read_parquet
from treewright.data.schema import Kind, LabelType
from treewright.data.text_file import TextSource
from treewright.errors import DataError

pa: Any = pytest.importorskip("pyarrow")
pq: Any = pytest.importorskip("pyarrow.parquet")


def cells(table: RawTable, name: str) -> list[Any]:
    column = table.columns[name]
    if isinstance(column, NumberColumn):
        return [None if math.isnan(value) else value for value in column.values.tolist()]
    return [None if code < 0 else column.values[code] for code in column.codes.tolist()]


def read(folder: Path, columns: dict[str, Any], name: str = "t.parquet", **options: Any) -> RawTable:
    path = folder / name
    pq.write_table(pa.table(columns), path)
    return read_parquet(TextSource(path), **options)


def test_every_plain_type(tmp_path: Path) -> None:
    zoned = dt.datetime(2020, 1, 1, 12, tzinfo=dt.timezone(dt.timedelta(hours=2)))
    columns = {
        "int": pa.array([1, None, -3], pa.int16()),
        "float": pa.array([1.5, None, math.nan]),
        "single": pa.array([0.1, None, 2], pa.float32()),
        "decimal": pa.array([Decimal("1.25"), None, Decimal("2.50")]),
        "whole": pa.array([Decimal(7), None, Decimal(8)], pa.decimal128(30, 0)),
        "bool": pa.array([True, None, False]),
        "text": pa.array(["007", None, "ü"]),
        "dictionary": pa.array(["b", None, "a"]).dictionary_encode(),
        "date": pa.array([dt.date(2020, 2, 1), None, dt.date(1999, 12, 31)]),
        "moment": pa.array([dt.datetime(2020, 2, 1, 3, 4, 5, 500000), None, dt.datetime(2020, 2, 1)]),
        "zoned": pa.array([zoned, None, zoned], pa.timestamp("us", tz="UTC")),
    }
    table = read(tmp_path, columns)
    assert table.n_rows == 3
    assert cells(table, "int") == [1.0, None, -3.0]
    assert cells(table, "float") == [1.5, None, None]
    assert cells(table, "single")[2] == 2.0
    assert cells(table, "decimal") == [1.25, None, 2.5]
    assert cells(table, "whole") == [7.0, None, 8.0]
    assert cells(table, "bool") == ["True", None, "False"]
    column = table.columns["bool"]
    assert isinstance(column, TextColumn)
    assert (column.values, column.labels) == (("False", "True"), LabelType.BOOLEAN)
    assert cells(table, "text") == ["007", None, "ü"]
    assert cells(table, "dictionary") == ["b", None, "a"]
    assert cells(table, "date") == ["2020-02-01", None, "1999-12-31"]
    assert cells(table, "moment") == ["2020-02-01T03:04:05.500000", None, "2020-02-01T00:00:00"]
    assert cells(table, "zoned")[0] == "2020-01-01T10:00:00+00:00"


def test_a_file_and_the_same_frame_give_the_same_cells(tmp_path: Path) -> None:
    columns = {
        "n": [1, 2],
        "b": [True, None],
        "t": ["x", None],
        "d": [dt.datetime(2020, 1, 1, 0, 0, 0, 5), None],
        "z": pa.array([dt.datetime(2020, 1, 1), None], pa.timestamp("us", tz="Europe/Berlin")),
    }
    from_file, from_frame = read(tmp_path, columns), raw_table(pa.table(columns))
    for name in columns:
        assert cells(from_file, name) == cells(from_frame, name)


def test_names_that_differ_in_case_only_are_kept(tmp_path: Path) -> None:
    table = read(tmp_path, {"a": [1], "A": ["x"], 'q"; DROP TABLE x; --': [3]})
    assert list(table.columns) == ["a", "A", 'q"; DROP TABLE x; --']


def test_file_names_are_never_patterns_or_sql(tmp_path: Path) -> None:
    read(tmp_path, {"a": [1, 2, 3]}, name="other.parquet")
    assert read(tmp_path, {"a": [1]}, name="*.parquet").n_rows == 1
    assert read(tmp_path, {"a": [1]}, name="it's [x] '); DROP.parquet").n_rows == 1


def test_a_file_object_is_read() -> None:
    buffer = io.BytesIO()
    pq.write_table(pa.table({"a": [1, 2]}), buffer)
    buffer.seek(0)
    assert cells(read_parquet(TextSource(buffer, name="upload")), "a") == [1.0, 2.0]


def test_an_infinity_is_an_error_with_column_and_row(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"t\.parquet: column 'x': row 1: Input contains infinity"):
        read(tmp_path, {"x": [1.0, math.inf]})


@pytest.mark.parametrize("kind", [pa.int64(), pa.uint64(), pa.decimal128(20, 0)])
def test_an_integer_that_would_be_rounded_is_an_error_unless_nominal(tmp_path: Path, kind: Any) -> None:
    cells_given = [2**53, 2**53 + 1, None]
    array = pa.array(
        [None if c is None else Decimal(c) for c in cells_given] if "decimal" in str(kind) else cells_given,
        kind,
    )
    with pytest.raises(DataError, match=r"column 'x': row 1: 9007199254740993 is beyond 2\^53.*nominal"):
        read(tmp_path, {"x": array})
    table = read(tmp_path, {"x": array}, kinds={"x": Kind.NOMINAL})
    assert cells(table, "x") == ["9007199254740992", "9007199254740993", None]


def test_given_kinds_prevail(tmp_path: Path) -> None:
    kinds = {"n": Kind.NOMINAL, "t": Kind.NUMERIC, "b": Kind.NUMERIC, "f": Kind.NOMINAL}
    table = read(tmp_path, {"n": [2, 1], "t": ["007", None], "b": [True, False], "f": [0.5, 3.0]}, kinds=kinds)
    assert cells(table, "n") == ["2", "1"]
    assert cells(table, "t") == [7.0, None]
    assert cells(table, "b") == [1.0, 0.0]
    assert cells(table, "f") == ["0.5", "3"]
    with pytest.raises(DataError, match="column 't': row 0: 'x' is not a number"):
        read(tmp_path, {"t": ["x"]}, kinds={"t": Kind.NUMERIC})


@pytest.mark.parametrize("cell", [[1, 2], {"p": 1}, b"bytes"])
def test_nested_and_binary_columns_are_refused(tmp_path: Path, cell: Any) -> None:
    with pytest.raises(DataError, match=r"column 'x': columns of type .* are not supported"):
        read(tmp_path, {"ok": [1], "x": [cell]})


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": list(range(100))}), path)
    good = path.read_bytes()
    for bad, message in (
        (good[:-20], "cannot be read as Parquet"),
        (b"PAR1", "cannot be read"),
        (b"a,b\n", "not a Parquet"),
    ):
        path.write_bytes(bad)
        with pytest.raises(DataError, match=message):
            read_parquet(TextSource(path))
    with pytest.raises(DataError, match="no such file"):
        read_parquet(TextSource(tmp_path / "absent.parquet"))


def test_enums_and_wide_integers_of_duckdb(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    query = "SELECT CAST('b' AS ENUM('c', 'b')) AS e, uuid() AS u, CAST(5 AS HUGEINT) AS h, TIME '12:30:00' AS t"
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")
    table = read_parquet(TextSource(path))
    assert cells(table, "e") == ["b"]
    assert cells(table, "h") == [5.0]
    assert cells(table, "t") == ["12:30:00"]


def test_no_rows_is_a_table_without_rows(tmp_path: Path) -> None:
    table = read(tmp_path, {"a": pa.array([], pa.int64()), "b": pa.array([], pa.string())})
    assert table.n_rows == 0
    assert list(table.columns) == ["a", "b"]
