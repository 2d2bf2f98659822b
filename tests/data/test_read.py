"""Reading by name, by content and by request; and every recorded data set."""

from __future__ import annotations

import gzip
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from treewright.data.read import read_raw
from treewright.data.schema import Kind
from treewright.errors import DataError, ParameterError

pa: Any = pytest.importorskip("pyarrow")
pq: Any = pytest.importorskip("pyarrow.parquet")

ARFF = b"% c\n\n@RELATION t\n@attribute a {x,y}\n@data\nx\ny\n"
ORACLE = Path(os.environ.get("TREEWRIGHT_ORACLE", Path(__file__).parents[2].parent / "shared" / "oracle"))


@pytest.mark.parametrize(
    ("name", "data", "names"),
    [
        ("t.csv", b"a,b\n1,2\n3,4\n", ["a", "b"]),
        ("t.CSV", b"a;b\n1;2\n3;4\n", ["a", "b"]),
        ("t.tsv", b"a,1\tb\n1\t2\n3\t4\n", ["a,1", "b"]),
        ("t.tab", b"a,1\tb,c\n1\t2\n3\t4\n", ["a,1", "b,c"]),
        ("t.txt", b"a|b\n1|2\n3|4\n", ["a", "b"]),
        ("t.data", b"a,b\n1,2\n3,4\n", ["a", "b"]),
        ("t.arff", ARFF, ["a"]),
        ("t.unknown", ARFF, ["a"]),
        ("t.txt", ARFF, ["a"]),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_the_format_is_found(tmp_path: Path, name: str, data: bytes, names: list[str], packed: bool) -> None:
    path = tmp_path / (name + (".gz" if packed else ""))
    path.write_bytes(gzip.compress(data) if packed else data)
    table = read_raw(path)
    assert list(table.columns) == names
    assert table.n_rows == 2
    assert table.source == str(path)


def test_names_files_are_found_by_either_file_or_stem(tmp_path: Path) -> None:
    (tmp_path / "t.names").write_text("p, q.\na: continuous.\n")
    for name in ("t.data", "t.test"):
        (tmp_path / name).write_text("1,p\n2,q\n")
    for name in ("t.names", "t.data", "t.test", "t"):
        table = read_raw(tmp_path / name)
        assert table.declared is not None
        assert table.declared.target == "class"
    assert read_raw(str(tmp_path / "t"), format="names").n_rows == 2
    assert list(read_raw(tmp_path / "t.data", format="csv", header=False).columns) == ["x1", "x2"]


def test_parquet_is_found_by_name_and_by_content(tmp_path: Path) -> None:
    for name in ("t.parquet", "t.pq", "t.unknown"):
        pq.write_table(pa.table({"a": [1, 2]}), tmp_path / name)
        assert read_raw(tmp_path / name).n_rows == 2
        assert read_raw(io.BytesIO((tmp_path / name).read_bytes())).n_rows == 2


@pytest.mark.parametrize(("data", "rows"), [(b"a,b\n1,2\n", 1), (ARFF, 2), (gzip.compress(ARFF, mtime=0), 2)])
def test_format_of_standard_input_is_found_by_content(monkeypatch: pytest.MonkeyPatch, data: bytes, rows: int) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    table = read_raw("-")
    assert table.n_rows == rows
    assert table.source == "<standard input>"


def test_options_are_passed_on() -> None:
    table = read_raw(
        io.BytesIO(b"a b\n01 \xe4\n-9 x\n"),
        format="csv",
        kinds={"a": Kind.NUMERIC},
        missing={"-9"},
        encoding="latin-1",
        delimiter=" ",
    )
    assert table.columns["b"].values == ("ä", "x")
    assert table.columns["a"].values.tolist()[0] == 1.0  # type: ignore[union-attr]


def test_an_unknown_format_is_an_error_with_the_nearest() -> None:
    with pytest.raises(ParameterError, match="'csv', 'tsv', 'arff', 'names', 'parquet'; did you mean 'parquet'"):
        read_raw(io.BytesIO(b""), format="parket")
    with pytest.raises(ParameterError, match="needs a path"):
        read_raw(io.BytesIO(b""), format="names")


def test_a_missing_file_is_a_data_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        read_raw(tmp_path / "absent.csv")
    with pytest.raises(DataError, match="no such file"):
        read_raw(tmp_path / "absent")


def _recorded() -> list[Path]:
    return sorted(path.parent for path in ORACLE.glob("*/data.csv"))


@pytest.mark.oracle
@pytest.mark.skipif(not ORACLE.is_dir(), reason="the recorded data sets are not here; set TREEWRIGHT_ORACLE")
@pytest.mark.parametrize("folder", _recorded(), ids=lambda folder: folder.name)
def test_recorded_data_sets_are_read_whole(folder: Path) -> None:
    schema = json.loads((folder / "schema.json").read_text(encoding="utf-8"))
    kinds = {column["name"]: Kind(column["kind"]) for column in schema["columns"]}
    table = read_raw(folder / "data.csv", kinds=kinds, missing={schema["missing_marker"] or "?"})
    assert table.n_rows == schema["rows"]
    assert list(table.columns) == [column["name"] for column in schema["columns"]]
    assert read_raw(folder / "data.csv").n_rows == schema["rows"]
