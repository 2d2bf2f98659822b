"""One call from a file to a dataset."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from treewright.data.infer import Overrides
from treewright.data.read import read, read_for, require_rows
from treewright.data.samples import sample, sample_schema
from treewright.data.schema import Column, Kind, Schema, Task
from treewright.errors import DataError, SchemaError

TEXT = "id,grade,code,y\n1,2,007,a\n2,3,008,b\n3,-,007,a\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "t.csv"
    file.write_text(TEXT, encoding="utf-8")
    return file


def test_a_file_is_read_inferred_and_encoded(path: Path) -> None:
    data = read(path, "y", overrides=Overrides(missing=("-",), ignore=("id",)))
    assert data.schema.attribute_names == ("grade", "code")
    np.testing.assert_array_equal(data["grade"], [2.0, 3.0, np.nan])
    assert data["code"].tolist() == ["007", "008", "007"]
    assert data.y.tolist() == ["a", "b", "a"]
    assert data.source is not None
    assert data.source.endswith("t.csv")


def test_an_override_reaches_the_reader(path: Path) -> None:
    data = read(path, "y", overrides=Overrides(nominal=("id",)), nominal_limit=5)
    assert data.schema.column("id").values == ("1", "2", "3")


def test_few_whole_numbers_become_nominal_on_request(path: Path) -> None:
    assert read(path, "y").schema.column("id").is_numeric
    assert not read(path, "y", nominal_limit=10).schema.column("id").is_numeric


def test_a_schema_is_obeyed_and_other_columns_left_aside(path: Path) -> None:
    schema = Schema(
        (Column("code", Kind.NOMINAL, ("008", "007")), Column("y", Kind.NOMINAL, ("b",))),
        target="y",
        missing_markers=("a",),
    )
    with pytest.raises(DataError, match="target is missing"):
        read(path, schema=schema)
    read_raw_again = read_for(path, schema)
    assert "code" in read_raw_again.columns
    plain = Schema((schema.columns[0], Column("y", Kind.NOMINAL, ("b", "a"))), target="y")
    assert read(path, schema=plain).columns[0].tolist() == [1, 0, 1]
    assert read(path, "code", schema=plain).schema.target == "code"


def test_a_file_without_the_target_gives_new_cases(path: Path) -> None:
    schema = Schema((Column("id", Kind.NUMERIC), Column("z", Kind.NOMINAL, ("u", "v"))), target="z")
    data = read(path, schema=schema)
    assert data.target is None
    assert len(data) == 3


def test_a_target_that_the_schema_does_not_name_is_an_error(path: Path) -> None:
    with pytest.raises(SchemaError, match="no column to be the target: 'nothing'"):
        read(path, "nothing", schema=Schema((Column("id", Kind.NUMERIC),)))


def test_an_open_file_can_be_read() -> None:
    data = read(BytesIO(TEXT.encode()), "y", format="csv")
    assert len(data) == 3


def test_samples_are_named_like_files() -> None:
    data = read("sample:play-tennis")
    assert data.schema == sample_schema("play-tennis")
    assert data.y.tolist() == sample("play-tennis").y.tolist()
    wind = read("sample:play-tennis", "Wind", overrides=Overrides(ignore=("PlayTennis",)))
    assert wind.schema.target == "Wind"
    assert wind.schema.task is Task.CLASSIFICATION


def test_nothing_to_work_on_is_an_error() -> None:
    with pytest.raises(DataError, match="sample:play-tennis: there are no rows"):
        require_rows(sample("play-tennis").take([]))
    require_rows(sample("play-tennis"))
