"""C4.5 files: the grammar of names, the rows of data, and errors with their line."""

from __future__ import annotations

import gzip
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from treewright.data import c45_names as names_module
from treewright.data.c45_names import read_names
from treewright.data.columns import NumberColumn, RawTable
from treewright.data.schema import Kind
from treewright.errors import DataError, TreewrightError

NAMES = """| Golf
Don't Play, Play.   | the classes

outlook: sunny, overcast,
         rain.
temp.C at noon: continuous.
no\\: of holes: discrete 3.
id: ignore.
"""


def cells(table: RawTable, name: str) -> list[Any]:
    column = table.columns[name]
    if isinstance(column, NumberColumn):
        return [None if math.isnan(value) else value for value in column.values.tolist()]
    return [None if code < 0 else column.values[code] for code in column.codes.tolist()]


def write(folder: Path, names: str = NAMES, data: str = "") -> Path:
    (folder / "golf.names").write_text(names)
    (folder / "golf.data").write_text(data)
    return folder / "golf"


def test_names_and_rows(tmp_path: Path) -> None:
    data = "sunny, 20.5, nine, 007, Play\n\n| comment\n"
    data += "rain,?,  eighteen   holes ,?,Don't Play.\n?,0,nine,a\\,b,Play | x\n"
    table = read_names(write(tmp_path, data=data))
    assert list(table.columns) == ["outlook", "temp.C at noon", "no: of holes", "id", "class"]
    assert cells(table, "outlook") == ["sunny", "rain", None]
    assert cells(table, "temp.C at noon") == [20.5, None, 0.0]
    assert cells(table, "no: of holes") == ["nine", "eighteen holes", "nine"]
    assert cells(table, "id") == ["007", None, "a,b"]
    assert cells(table, "class") == ["Play", "Don't Play", "Play"]
    assert table.lines is not None
    assert table.lines.tolist() == [1, 4, 5]
    schema = table.declared
    assert schema is not None
    assert (schema.target, schema.ignored) == ("class", ("id",))
    assert schema.classes == ("Don't Play", "Play")
    assert schema.column("outlook").values == ("sunny", "overcast", "rain")
    assert schema.attribute_names == ("outlook", "temp.C at noon", "no: of holes")


def test_either_file_or_the_stem_may_be_given(tmp_path: Path) -> None:
    stem = write(tmp_path, "a, b.\nx: continuous.\n", "1,a\n2,b\n")
    (tmp_path / "golf.test").write_text("3,b\n")
    for given_path in (stem, tmp_path / "golf.names", str(tmp_path / "golf.data")):
        assert read_names(given_path).n_rows == 2
    table = read_names(tmp_path / "golf.test")
    assert cells(table, "x") == [3.0]
    assert table.source == str(tmp_path / "golf.test")


def test_gzipped_files_are_found(tmp_path: Path) -> None:
    (tmp_path / "golf.names").write_text("a, b.\nx: continuous.\n")
    (tmp_path / "golf.data.gz").write_bytes(gzip.compress(b"1,a\n"))
    assert read_names(tmp_path / "golf").n_rows == 1
    assert read_names(tmp_path / "golf.data.gz").n_rows == 1


def test_entries_end_with_their_line_too(tmp_path: Path) -> None:
    table = read_names(write(tmp_path, "a, b\nx: continuous\ny: 1.5, 2.5\n.\n", "1, 2.5, a.\n"))
    assert cells(table, "y") == ["2.5"]


def test_a_target_that_is_an_attribute(tmp_path: Path) -> None:
    names = "price.\nx: continuous.\nsize: [ordered] small, large.\nprice: continuous.\nwhen: date.\n"
    table = read_names(write(tmp_path, names, "1,large,10.5,2020/01/01\n"))
    schema = table.declared
    assert schema is not None
    assert schema.target == "price"
    assert list(table.columns) == ["x", "size", "price", "when"]
    assert schema.column("size").kind is Kind.ORDINAL
    assert schema.column("size").values == ("small", "large")


def test_the_class_column_gets_a_free_name(tmp_path: Path) -> None:
    table = read_names(write(tmp_path, "a, b.\nclass: continuous.\n", "1,a\n"))
    assert list(table.columns) == ["class", "class_"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("hail,1,nine,1,Play", "column 'outlook': 'hail' is not among the declared values"),
        ("rain,warm,nine,1,Play", "column 'temp.C at noon': 'warm' is not a number"),
        ("rain,inf,nine,1,Play", "column 'temp.C at noon': 'inf' is not finite"),
        ("rain,1,nine,1,Perhaps", "column 'class': 'Perhaps' is not among"),
        ("rain,1,nine,1", "has 4 cells, but 5"),
        ("rain,1,nine,1,Play,", "has 6 cells, but 5"),
    ],
)
def test_a_bad_row_is_an_error_with_its_line(tmp_path: Path, row: str, message: str) -> None:
    stem = write(tmp_path, data="sunny,1,nine,1,Play\n" + row + "\n")
    with pytest.raises(DataError, match=rf"golf\.data, line 2.*{message}"):
        read_names(stem)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("", "is empty"),
        ("| only a comment\n", "is empty"),
        ("a, b.\n", "no attributes"),
        ("x: continuous.\n", "line 1: the classes must come before"),
        ("a, b.\nx: continuous.\nx: continuous.\n", r"line 3.*the first on line 2"),
        ("a, b.\nx\n", "line 2: expected 'name: type.'"),
        ("a, b.\nx: y: z.\n", "line 2: expected 'name: type.'"),
        ("a, b.\nx: p, , q.\n", "line 2, column 'x': a declared value is empty"),
        ("a, b.\nx: p,\n p.\n", "line 3, column 'x': value 'p' is declared twice"),
        ("a, a.\nx: continuous.\n", "line 1, column 'class': value 'a' is declared twice"),
        ("a, b.\nx := y + 1.\n", "C5.0"),
        ("a, b.\nx: continuous.\nattributes excluded: x.\n", "C5.0"),
        ("x.\nx: ignore.\n", "the target is ignored"),
    ],
)
def test_a_bad_names_file_is_an_error_with_its_line(tmp_path: Path, names: str, message: str) -> None:
    with pytest.raises(DataError, match=rf"golf\.names.*{message}"):
        read_names(write(tmp_path, names))


def test_given_kinds_prevail(tmp_path: Path) -> None:
    stem = write(tmp_path, "a, b.\nx: continuous.\ny: 1, 2.\n", "01,2,a\n")
    table = read_names(stem, kinds={"x": Kind.NOMINAL, "y": Kind.NUMERIC})
    assert cells(table, "x") == ["01"]
    assert cells(table, "y") == [2.0]


def test_a_missing_names_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"golf\.names: there is no such file"):
        read_names(tmp_path / "golf")


def test_chunks_keep_lines_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names_module, "_CHUNK_CELLS", 4)
    stem = write(tmp_path, "a, b.\nx: continuous.\n", "1,a\n2,b\n3,a\n4,c\n")
    with pytest.raises(DataError, match="line 4, column 'class'"):
        read_names(stem)


def test_a_huge_names_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names_module, "_MAX_NAMES_CHARACTERS", 10)
    with pytest.raises(DataError, match="too large for a names file"):
        read_names(write(tmp_path, "a, b.\nx: continuous.\n"))


fragments = st.lists(
    st.sampled_from(["a", "b", "x", ":", ",", ".", ". ", "|", "\\", "\n", " ", "continuous", "discrete", "1", "?"])
)


@given(
    st.binary(max_size=100) | fragments.map("".join).map(str.encode),
    st.binary(max_size=60) | fragments.map("".join).map(str.encode),
)
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_read_or_refused(tmp_path: Path, names: bytes, data: bytes) -> None:
    for head in (b"", b"a, b.\nx: continuous.\ny: discrete.\n"):
        (tmp_path / "golf.names").write_bytes(head + names)
        (tmp_path / "golf.data").write_bytes(data)
        try:
            read_names(tmp_path / "golf")
        except TreewrightError:
            continue


@pytest.mark.parametrize("text", ["." * 100_000, "\\" * 100_000, "|" * 100_000, ", " * 50_000, "a " * 100_000])
def test_long_hostile_lines_do_not_hang(tmp_path: Path, text: str) -> None:
    for names, data in (("a, b.\nx: continuous.\n", text), (text, "")):
        try:
            read_names(write(tmp_path, names, data))
        except DataError:
            continue
