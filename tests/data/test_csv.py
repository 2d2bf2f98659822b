"""CSV: every cell arrives, with its line, or there is an error that names the position."""

from __future__ import annotations

import csv
import io
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from treewright.data import csv as read_text
from treewright.data.columns import NumberColumn, RawTable, TextColumn
from treewright.data.csv import read_delimited
from treewright.data.schema import Kind
from treewright.data.text_file import TextSource
from treewright.errors import DataError, ParameterError, TreewrightError


def read(data: bytes | str, **options: Any) -> RawTable:
    raw = data.encode() if isinstance(data, str) else data
    return read_delimited(TextSource(io.BytesIO(raw), name="t.csv"), **options)


def cells(table: RawTable, name: str) -> list[Any]:
    column = table.columns[name]
    if isinstance(column, NumberColumn):
        return [None if math.isnan(value) else value for value in column.values.tolist()]
    return [None if code < 0 else column.values[code] for code in column.codes.tolist()]


def lines(table: RawTable) -> list[int]:
    assert table.lines is not None
    return [int(line) for line in table.lines]


def test_numbers_and_texts_are_distinguished() -> None:
    table = read("a,b,c\n1,x,\n2.5,y,?\n,1,NaN\n")
    assert cells(table, "a") == [1.0, 2.5, None]
    assert cells(table, "b") == ["x", "y", "1"]
    column = table.columns["c"]
    assert isinstance(column, TextColumn)
    assert column.values == ()
    assert cells(table, "c") == [None] * 3
    assert table.n_rows == 3
    assert table.source == "t.csv"


@pytest.mark.parametrize("cell", ["007", "-01", "+00", "00.5", "1_000", "0x10", "1 000", "１", "true", "1e", "."])
def test_what_is_not_a_plain_number_makes_its_column_text(cell: str) -> None:
    assert cells(read(f"a;b\n1;1\n{cell};2\n"), "a") == ["1", cell]


@pytest.mark.parametrize("cell", ["0", "0.5", "-0.25", "+3", "1.", ".5", "1e39", "1E-5", "16777217", "-0", "0e1"])
def test_plain_numbers(cell: str) -> None:
    column = read(f"a,b\n{cell},2\n").columns["a"]
    assert isinstance(column, NumberColumn)
    assert column.values.tolist() == [float(cell)]


@pytest.mark.parametrize("cell", ["inf", "-inf", "Infinity", "+INF", "1e999", "-1e400"])
def test_an_infinity_among_numbers_is_an_error_with_line_and_column(cell: str) -> None:
    with pytest.raises(DataError, match=r"t\.csv, line 3, column 'a': .* is not finite") as caught:
        read(f"a,b\n1,1\n{cell},2\n3,4\n")
    assert (caught.value.line, caught.value.column) == (3, "a")


def test_an_infinity_among_texts_is_a_text() -> None:
    assert cells(read("a,b\ninf,1\nx,1\n1e999,1\n"), "a") == ["inf", "x", "1e999"]


def test_given_kinds_prevail() -> None:
    kinds = {"a": Kind.NUMERIC, "b": Kind.NOMINAL, "c": Kind.ORDINAL, "not there": Kind.NUMERIC}
    table = read("a,b,c\n007,1.0,2\n?,01,?\n", kinds=kinds)
    assert cells(table, "a") == [7.0, None]
    assert cells(table, "b") == ["1.0", "01"]
    assert cells(table, "c") == ["2", None]


@pytest.mark.parametrize("cell", ["x", "inf", "1e999", "1_0"])
def test_a_text_in_a_numeric_column_is_an_error_with_line_and_column(cell: str) -> None:
    with pytest.raises(DataError) as caught:
        read(f"a,b\n1,2\n\n{cell},2\n".replace("\n\n", "\n"), kinds={"a": Kind.NUMERIC})
    assert (caught.value.line, caught.value.column) == (3, "a")


def test_an_all_missing_column_with_a_numeric_override_stays_numeric() -> None:
    assert isinstance(read("a,b\n?,1\n", kinds={"a": Kind.NUMERIC}).columns["a"], NumberColumn)


def test_missing_markers_are_those_of_the_caller() -> None:
    table = read("a,b\n-999,none\n1,\n", missing={"-999", "none"})
    assert cells(table, "a") == [None, 1.0]
    assert cells(table, "b") == [None, ""]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(delimiter: str) -> None:
    text = delimiter.join(["a", "b", "c"]) + "\n" + delimiter.join(["1", '"x,;\t|y"', "3"]) + "\n"
    table = read(text)
    assert list(table.columns) == ["a", "b", "c"]
    assert cells(table, "b") == ["x,;\t|y"]


def test_decimal_commas_do_not_hide_the_semicolon() -> None:
    table = read("a;b\n1,5;2,5\n2,5;3\n")
    assert cells(table, "a") == ["1,5", "2,5"]


def test_tab_is_preferred_on_request() -> None:
    assert list(read("a,b\tc,d\n1,2\t3,4\n", prefer_tab=True).columns) == ["a,b", "c,d"]
    assert list(read("a,b\n1,2\n", prefer_tab=True).columns) == ["a", "b"]


def test_one_column_files() -> None:
    table = read("a\n1\n\n3\n\n\n")
    assert cells(table, "a") == [1.0, None, 3.0]
    assert lines(table) == [2, 3, 4]


def test_a_delimiter_must_be_one_character() -> None:
    assert list(read("a b\n1 2\n", delimiter=" ").columns) == ["a", "b"]
    for bad in ("", ",,", '"', "\n"):
        with pytest.raises(ParameterError, match="delimiter"):
            read("a,b\n", delimiter=bad or "\r\n")


def test_without_header_columns_are_numbered() -> None:
    table = read("1,x\n2,y\n", header=False)
    assert cells(table, "x1") == [1.0, 2.0]
    assert lines(table) == [1, 2]


@pytest.mark.parametrize("text", ["a,b\n1,2\n3\n", "a,b\n1,2\n3,4,5\n"])
def test_a_ragged_line_is_an_error_with_line_and_numbers(text: str) -> None:
    with pytest.raises(DataError, match=r"t\.csv, line 3: the row has [13] cells, but 2 are expected"):
        read(text)


def test_lines_are_right_with_quoted_line_ends_and_every_line_ending() -> None:
    table = read(b'a,b\r\n1,"x\r\ny"\r\n2,"p\rq"\r\n3,"l\nm"\r\n4,z')
    assert cells(table, "b") == ["x\r\ny", "p\rq", "l\nm", "z"]
    assert lines(table) == [2, 4, 6, 8]
    with pytest.raises(DataError, match="line 4:"):
        read('a,b\n1,"x\ny"\n2\n')


def test_files_with_lone_carriage_returns() -> None:
    assert cells(read(b"a,b\r1,x\r2,y\r"), "b") == ["x", "y"]


def test_an_unclosed_quote_is_reported_where_the_cell_starts() -> None:
    with pytest.raises(DataError, match="line 3: a quoted cell starts here and is never closed"):
        read('a,b\n1,2\n3,"x\n4,5\n6,7\n')
    with pytest.raises(DataError, match="line 4: a quoted cell starts here"):
        read('a,b\n1,2\n"x\ny","z\n6,7\n')


def test_an_unclosed_quote_over_much_text_is_reported_where_the_cell_starts() -> None:
    with pytest.raises(DataError, match=r"line 2: a cell that starts here is longer .*closing quote"):
        read('a,b\n1,"2\n' + "3,4\n" * 60_000)


def test_text_after_a_closing_quote_is_an_error() -> None:
    with pytest.raises(DataError, match=r"line 3: text follows the closing quote \(line 4\)"):
        read('a,b\n1,2\n3,"x\n"y,5\n')


def test_quotes_inside_an_unquoted_cell_are_kept() -> None:
    assert cells(read('a,b\n5" disk,1\n'), "a") == ['5" disk']


def test_padding_counts_only_inside_quotes() -> None:
    table = read('a, b ,c\n 1 , "x " , " y"\n'.replace('" ,', '",') + "2 ,\tz\t,  w  \n")
    assert list(table.columns) == ["a", "b", "c"]
    assert cells(table, "a") == [1.0, 2.0]
    assert cells(table, "b") == ["x ", "z"]
    assert cells(table, "c") == [" y", "w"]


def test_padding_is_decided_per_cell_in_records_of_several_lines() -> None:
    table = read('a,b\n"x\n ",y \n"p ",q\nr ,"s "\n')
    assert cells(table, "a") == ["x\n ", "p ", "r"]
    assert cells(table, "b") == ["y", "q", "s "]


def test_blank_lines_are_skipped_at_the_end_only() -> None:
    assert read("a,b\n1,2\n\n  \n\n").n_rows == 1
    with pytest.raises(DataError, match="line 3: the line is blank, but rows follow"):
        read("a,b\n1,2\n\n\n3,4\n")


def test_duplicate_names_are_an_error_with_both_positions() -> None:
    with pytest.raises(DataError, match=r"line 1: two columns have the name 'b': columns 2 and 4"):
        read("a,b,c,b\n1,2,3,4\n")


def test_an_unnamed_first_column_is_numbered_and_any_other_is_an_error() -> None:
    assert list(read(",a\n0,1\n").columns) == ["column 1", "a"]
    with pytest.raises(DataError, match="line 1: column 2 of 3 has no name"):
        read("a,,b\n0,1,2\n")


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_an_error(data: bytes) -> None:
    with pytest.raises(DataError, match=r"t\.csv: the file is empty"):
        read(data)


def test_a_header_alone_is_a_table_without_rows() -> None:
    table = read("a,b\n")
    assert table.n_rows == 0
    assert list(table.columns) == ["a", "b"]


def test_latin_1_bom_and_nul() -> None:
    assert list(read(b"\xef\xbb\xbfa,b\n1,2\n").columns) == ["a", "b"]
    assert cells(read("a,b\nä,2\n".encode("utf-16")), "a") == ["ä"]
    assert cells(read(b"a,b\n\xe4,2\n", encoding="latin-1"), "a") == ["ä"]
    with pytest.raises(DataError, match="line 3: byte 0xe4"):
        read(b"a,b\n1,2\n\xe4,2\n")
    with pytest.raises(DataError, match="line 2: there is a NUL"):
        read(b"a,b\n1\0,2\n")


def test_a_column_that_turns_to_text_late_keeps_its_first_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_text, "_CHUNK_ROWS", 3)
    text = "a,b,c\n" + "".join(f"{i}.0,{i},{'q' if i % 2 else '?'}\n" for i in range(10)) + "x,10,q\n11,11,?\n"
    table = read(text)
    assert cells(table, "a") == [f"{i}.0" for i in range(10)] + ["x", "11"]
    assert cells(table, "b") == [float(i) for i in range(12)]
    assert cells(table, "c") == ["q" if i % 2 else None for i in range(10)] + ["q", None]
    assert lines(table) == list(range(2, 14))


def test_an_early_infinity_does_not_matter_if_the_column_turns_to_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(read_text, "_CHUNK_ROWS", 1)
    assert cells(read("a,b\ninf,1\n2,1\nx,1\n"), "a") == ["inf", "2", "x"]
    with pytest.raises(DataError, match="line 3, column 'a'"):
        read("a,b\n2,1\ninf,1\n3,1\n")


def test_chunks_do_not_change_padding_and_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    text = 'a,b\n"x ",1\ny ,2\n"z\n ",3\nw ,4\n'
    whole = read(text)
    monkeypatch.setattr(read_text, "_CHUNK_ROWS", 1)
    parts = read(text)
    assert cells(parts, "a") == cells(whole, "a") == ["x ", "y", "z\n ", "w"]
    assert lines(parts) == lines(whole) == [2, 3, 4, 6]


def test_a_file_that_changes_between_two_passes_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_text, "_CHUNK_ROWS", 1)
    source = TextSource(io.BytesIO(b"a,b\n1,1\nx,1\n"), name="t.csv")
    passes = iter([["a,b\n", "1,1\n", "x,1\n"], ["a,b\n", "1,1\n"]])
    monkeypatch.setattr(source, "read_lines", lambda _: iter(next(passes)))
    with pytest.raises(DataError, match="changed while it was read"):
        read_delimited(source, delimiter=",")


def test_a_wide_table() -> None:
    width = 3000
    header = ",".join(f"c{i}" for i in range(width))
    table = read(header + "\n" + ",".join(["1"] * width) + "\n")
    assert len(table.columns) == width


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
odd = st.sampled_from(
    ["", " ", " a", "a ", '"', '""', "a,b", "x;y", "\n", "\r\n", "\r", "\t", "?", "007", "1", 'é,\n"']
)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[list[str]], str]:
    width = draw(st.integers(1, 4))
    rows = draw(st.lists(st.lists(texts | odd, min_size=width, max_size=width), max_size=8))
    return rows, draw(st.sampled_from(",;\t|"))


@given(tables())
@example(([["", ""], ["", ""]], ","))
@example(([[""], [""]], ","))
@settings(max_examples=300, deadline=None)
def test_what_is_written_is_read_back_cell_by_cell(table: tuple[list[list[str]], str]) -> None:
    rows, delimiter = table
    width = len(rows[0]) if rows else 1
    names = [f"c{i}" for i in range(width)]
    buffer = io.StringIO(newline="")
    csv.writer(buffer, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows([names, *rows])
    for chosen in (delimiter, None):
        result = read(buffer.getvalue(), delimiter=chosen, missing=(), kinds=dict.fromkeys(names, Kind.NOMINAL))
        assert [cells(result, name) for name in names] == [[row[i] for row in rows] for i in range(width)]


@given(tables())
@settings(max_examples=200, deadline=None)
def test_minimal_quoting_loses_nothing_but_padding(table: tuple[list[list[str]], str]) -> None:
    rows, delimiter = table
    width = len(rows[0]) if rows else 1
    names = [f"c{i}" for i in range(width)]
    buffer = io.StringIO(newline="")
    csv.writer(buffer, delimiter=delimiter).writerows([names, *rows])
    result = read(buffer.getvalue(), delimiter=delimiter, missing=(), kinds=dict.fromkeys(names, Kind.NOMINAL))
    found = list(zip(*(cells(result, name) for name in names), strict=True)) if rows else []
    assert len(found) == len(rows)
    for row, got in zip(rows, found, strict=True):
        for cell, value in zip(row, got, strict=True):
            assert value in (cell, cell.strip(" \t"))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
@settings(deadline=None)
def test_every_double_is_read_back_exactly(values: list[float]) -> None:
    column = read("a,b\n" + "".join(f"{value!r},1\n" for value in values)).columns["a"]
    assert isinstance(column, NumberColumn)
    np.testing.assert_array_equal(column.values, values)


@given(
    st.binary(max_size=300)
    | st.lists(st.sampled_from([b",", b'"', b"\n", b"\r", b"1", b"a", b" ", b";", b"?"])).map(b"".join)
)
@settings(max_examples=500, deadline=None)
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        table = read(data)
    except TreewrightError:
        return
    assert all(len(cells(table, name)) == table.n_rows for name in table.columns)


@given(tables(), st.integers(1, 4))
@settings(max_examples=150, deadline=None)
def test_the_size_of_chunks_changes_nothing(table: tuple[list[list[str]], str], size: int) -> None:
    rows, delimiter = table
    width = len(rows[0]) if rows else 1
    buffer = io.StringIO(newline="")
    csv.writer(buffer, delimiter=delimiter).writerows([[f"c{i}" for i in range(width)], *rows])
    with pytest.MonkeyPatch.context() as patch:
        outcomes = []
        for chunk in (1000, size):
            patch.setattr(read_text, "_CHUNK_ROWS", chunk)
            try:
                result = read(buffer.getvalue(), delimiter=delimiter)
            except DataError as error:
                outcomes.append(str(error))
            else:
                outcomes.append(str([[cells(result, name) for name in result.columns], lines(result)]))
    assert outcomes[0] == outcomes[1]


def test_errors_after_plain_chunks_name_the_right_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_text, "_CHUNK_ROWS", 2)
    plain = "a,b\n" + "1,2\n" * 7
    for last, line in (
        ('3,"x\n', 9),
        ("3\n", 9),
        ('"x\ny",1\n4,5\n6,7\n8\n', 13),
        ('"p",1\n"q\n",2\n,"z\n', 12),
    ):
        with pytest.raises(DataError) as caught:
            read(plain + last)
        assert caught.value.line == line
