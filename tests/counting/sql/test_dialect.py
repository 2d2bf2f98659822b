"""Types of columns, and their values as texts and literals."""

from __future__ import annotations

import datetime as dt

import duckdb
import pytest

import treewright
from treewright.counting.sql.dialect import DUCKDB, POSTGRESQL, SPARK, Family, stored_column
from treewright.errors import DataError
from treewright.plans import id3


@pytest.mark.parametrize(
    ("type_name", "family", "value", "text", "literal"),
    [
        ("SMALLINT", Family.INTEGER, 7, "7", "7"),
        ("DOUBLE", Family.FLOAT, 0.1, "0.1", "CAST('0.1' AS DOUBLE)"),
        ("DECIMAL(4, 2)", Family.DECIMAL, 2.0, "2", "CAST('2.0' AS DOUBLE)"),
        ("VARCHAR", Family.TEXT, "it's", "it's", "'it''s'"),
        ("BOOLEAN", Family.BOOLEAN, True, "True", "TRUE"),
        ("DATE", Family.DATE, "2020-02-01", "2020-02-01", "'2020-02-01'"),
        ("TIMESTAMP", Family.MOMENT, "2020-02-01 12:30:00", "2020-02-01T12:30:00", "'2020-02-01 12:30:00'"),
    ],
)
def test_a_value_has_a_text_and_the_text_a_literal(
    type_name: str, family: Family, value: object, text: str, literal: str
) -> None:
    column = stored_column("c", "c", type_name, DUCKDB)
    assert (column.family, column.text_of(value), column.literal(text, DUCKDB)) == (family, text, literal)


def test_texts_that_no_cell_of_a_type_can_be_have_no_literal() -> None:
    assert stored_column("c", "c", "INTEGER", DUCKDB).literal("red", DUCKDB) is None
    assert stored_column("c", "c", "INTEGER", DUCKDB).literal("1.5", DUCKDB) is None
    assert stored_column("c", "c", "BOOLEAN", DUCKDB).literal("red", DUCKDB) is None


def test_types_that_are_not_known_are_refused_by_name() -> None:
    for type_name, dialect in (("INTEGER[]", DUCKDB), ("_int4", POSTGRESQL), ("array<int>", SPARK)):
        column = stored_column("c", "c", type_name, dialect)
        assert column.family is Family.OTHER
        with pytest.raises(DataError, match=r"column 'c'.*not supported"):
            column.require_known("t")


def test_hostile_names_and_texts_are_quoted_in_every_dialect() -> None:
    assert SPARK.quoted("a`b") == "`a``b`"
    assert SPARK.text("a\\b'c") == "'a\\\\b\\'c'"
    assert POSTGRESQL.quoted("s", 't"; DROP') == '"s"."t""; DROP"'
    assert SPARK.grouped_by(["k0"]) == "GROUPING_ID()"


def test_a_tree_of_typed_columns_splits_them_by_their_values() -> None:
    start = dt.date(2020, 1, 1)
    rows = duckdb.connect().sql(
        "SELECT i % 3 AS n, i % 2 = 0 AS flag, DATE '2020-01-01' + (i % 4)::INTEGER AS day, "
        "(i % 5)::DECIMAL(4, 2) AS d, "
        "TIMESTAMP '2020-01-01 10:00:00' + INTERVAL (i % 2) HOUR AS moment, "
        "CASE WHEN i % 3 = 1 AND i % 4 = 2 OR i % 5 = 3 THEN 'yes' ELSE 'no' END AS y FROM range(120) t(i)"
    )
    model = treewright.fit(rows, id3(), target="y", finish_rows=0)
    cells = rows.fetchall()
    names = ["n", "flag", "day", "d", "moment"]
    cases = {
        name: [
            row[index].isoformat()
            if isinstance(row[index], dt.date)
            else row[index]
            if name != "d"
            else float(row[index])
            for row in cells
        ]
        for index, name in enumerate(names)
    }
    assert start.isoformat() in model.schema.column("day").values
    assert model.predict(cases).tolist() == [row[-1] for row in cells]
