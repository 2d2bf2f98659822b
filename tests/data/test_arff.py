"""ARFF: category order, quotes, sparse rows, and errors with their line."""

from __future__ import annotations

import io
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treewright.data import arff
from treewright.data.arff import read_arff
from treewright.data.columns import NumberColumn, RawTable
from treewright.data.schema import Kind
from treewright.data.text_file import TextSource
from treewright.errors import DataError, TreewrightError

HEAD = "@relation t\n@attribute wind {weak, 'very strong', never}\n@attribute t numeric\n@attribute s string\n@data\n"


def read(text: str, **options: Any) -> RawTable:
    return read_arff(TextSource(io.BytesIO(text.encode()), name="t.arff"), **options)


def cells(table: RawTable, name: str) -> list[Any]:
    column = table.columns[name]
    if isinstance(column, NumberColumn):
        return [None if math.isnan(value) else value for value in column.values.tolist()]
    return [None if code < 0 else column.values[code] for code in column.codes.tolist()]


def test_types_order_and_lines() -> None:
    table = read(HEAD + "'very strong', 3.5, \"a, b\"\n% a comment\n\nweak,?,x % another\n?, -1e3 ,?\n")
    assert cells(table, "wind") == ["very strong", "weak", None]
    assert cells(table, "t") == [3.5, None, -1000.0]
    assert cells(table, "s") == ["a, b", "x", None]
    assert table.lines is not None
    assert table.lines.tolist() == [6, 9, 10]
    assert table.declared is not None
    assert table.declared.target is None
    assert table.declared.column("wind").values == ("weak", "very strong", "never")
    assert table.declared.column("s").values == ("a, b", "x")
    assert table.declared.column("t").kind is Kind.NUMERIC


def test_keywords_and_types_in_any_case_and_odd_names() -> None:
    text = "% c\n@RELATION 'a b'\n@ATTRIBUTE 'it\\'s \"x\"' REAL\n@Attribute\tb\t{0,1}\n"
    text += "@attribute c{x}\n@attribute d integer\n"
    table = read(text + "@attribute \"e f\" date 'yyyy-MM-dd'\n@DATA\n1,0,x,2,'2020-01-01'\n")
    assert list(table.columns) == ['it\'s "x"', "b", "c", "d", "e f"]
    assert cells(table, "e f") == ["2020-01-01"]


def test_escapes_inside_quotes() -> None:
    table = read("@relation t\n@attribute s string\n@data\n'a\\'b\\\\c\\nd'\n'50 % off'\n50%\na\\b\n")
    assert cells(table, "s") == ["a'b\\c\nd", "50 % off", "50%", "a\\b"]


def test_a_quoted_question_mark_is_a_value_and_a_bare_one_is_missing() -> None:
    assert cells(read("@relation t\n@attribute s string\n@data\n'?'\n?\nx\n"), "s") == ["?", None, "x"]
    table = read("@relation t\n@attribute s {nan, b}\n@attribute n real\n@data\nnan, NaN\nb,1\n")
    assert cells(table, "s") == ["nan", "b"]
    assert cells(table, "n") == [None, 1.0]


def test_sparse_rows() -> None:
    text = "@relation t\n@attribute a numeric\n@attribute b {x,'y z'}\n@attribute c numeric\n@data\n"
    table = read(text + "{0 5, 1 'y z'}\n{}\n{2 ?}\n")
    assert cells(table, "a") == [5.0, 0.0, 0.0]
    assert cells(table, "b") == ["y z", "x", "x"]
    assert cells(table, "c") == [0.0, 0.0, None]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{9 1}", "index 9"),
        ("{99999999999999999999 1}", "index 9"),
        ("{0 weak, 0 weak}", "twice"),
        ("{0 weak", "closing brace"),
        ("{weak}", "an index and a value"),
        ("{0 'x}", "not closed"),
        ("{0 weak}", "'s'.*leave out"),
        ("{0 weak, 2 x}, {5}", "instance weights"),
        ("weak,1,x,{5}", "instance weights"),
        ("calm,1,x", "column 'wind': 'calm' is not among the declared values"),
        ("weak,one,x", "column 't': 'one' is not a number"),
        ("weak,inf,x", "column 't': 'inf' is not finite"),
        ("weak,1e999,x", "column 't': '1e999' is not finite"),
        ("weak,1", "has 2 cells, but 3"),
        ("weak,1,x,y", "has 4 cells, but 3"),
        ("weak,1,'x", "not closed"),
        ("weak,1,'x'y", "text follows"),
    ],
)
def test_a_bad_row_is_an_error_with_its_line(row: str, message: str) -> None:
    with pytest.raises(DataError, match=rf"t\.arff, line 7.*{message}"):
        read(HEAD + "weak,1,x\n" + row + "\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("@relation t\n", "line 1: there is no @data"),
        ("@relation t\n@data\n", "line 2: @data comes before any"),
        ("@relation t\n@attribute\n", "line 2: expected @attribute, a name and a type"),
        ("@relation t\n@attribute a\n", "line 2, column 'a': type ''"),
        ("@relation t\n@attribute a relational\n", "line 2, column 'a': type 'relational'"),
        ("@relation t\n@attribute a {x,y\n", "no closing brace"),
        ("@relation t\n@attribute a {x,x}\n", "'x' is declared twice"),
        ("@relation t\n@attribute a real\n@attribute a real\n", r"line 3.*the first on line 2"),
        ("a,b\n1,2\n", "line 1: expected @relation"),
    ],
)
def test_a_bad_header_is_an_error_with_its_line(text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read(text)


def test_given_kinds_prevail() -> None:
    text = "@relation t\n@attribute a {1,2}\n@attribute b real\n@attribute c {lo,hi}\n@data\n2,07,hi\n"
    table = read(text, kinds={"a": Kind.NUMERIC, "b": Kind.NOMINAL, "c": Kind.ORDINAL})
    assert cells(table, "a") == [2.0]
    assert cells(table, "b") == ["07"]
    assert table.declared is not None
    assert [column.kind for column in table.declared.columns] == [Kind.NUMERIC, Kind.NOMINAL, Kind.ORDINAL]
    assert table.declared.column("c").values == ("lo", "hi")


def test_lines_of_errors_are_right_in_later_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arff, "_CHUNK_CELLS", 6)
    with pytest.raises(DataError, match="line 10, column 't'"):
        read(HEAD + "weak,1,x\n" * 4 + "weak,z,x\n" + "weak,1,x\n" * 5)
    assert read(HEAD + "weak,1,x\n" * 5).n_rows == 5


def test_no_rows_is_a_table_without_rows() -> None:
    assert read(HEAD).n_rows == 0


values = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\n"), max_size=6)


@given(st.lists(st.tuples(values, values), max_size=6))
@settings(max_examples=200, deadline=None)
def test_quoted_texts_are_read_back(rows: list[tuple[str, str]]) -> None:
    def quote(text: str) -> str:
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    body = "".join(", ".join(map(quote, row)) + "\n" for row in rows)
    table = read("@relation t\n@attribute a string\n@attribute b string\n@data\n" + body)
    assert list(zip(cells(table, "a"), cells(table, "b"), strict=True)) == rows


fragments = st.lists(
    st.sampled_from(
        [
            "@attribute ",
            "@data\n",
            "a",
            " ",
            "{",
            "}",
            ",",
            "'",
            '"',
            "\\",
            "%",
            "?",
            "\n",
            "1",
            " real",
            "0 ",
        ]
    )
).map("".join)


@given(st.binary(max_size=200) | fragments.map(str.encode) | fragments.map(lambda text: (HEAD + text).encode()))
@settings(max_examples=500, deadline=None)
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        read_arff(TextSource(io.BytesIO(data)))
    except TreewrightError:
        return


@pytest.mark.parametrize("text", ["'" * 50_000, "a\\" * 50_000, " " * 100_000 + "x", "{" * 50_000, "a % " * 30_000])
def test_long_hostile_lines_do_not_hang(text: str) -> None:
    try:
        read(HEAD + text + "\n")
    except DataError:
        return
