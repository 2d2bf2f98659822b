"""Errors that have a position and can be caught."""

from __future__ import annotations

import pickle

import pytest

from treewright.errors import (
    DataError,
    MissingExtraError,
    ModelFormatError,
    ParameterError,
    SchemaError,
    TreewrightError,
)


@pytest.mark.parametrize("kind", [DataError, SchemaError, ModelFormatError, ParameterError, MissingExtraError])
def test_every_error_is_ours_and_a_value_error(kind: type[TreewrightError]) -> None:
    with pytest.raises(TreewrightError):
        raise kind("reason")
    with pytest.raises(ValueError, match="reason"):
        raise kind("reason")


def test_a_missing_extra_is_an_import_error_too() -> None:
    with pytest.raises(ImportError):
        raise MissingExtraError("reason")


def test_a_schema_error_is_a_matter_of_the_data() -> None:
    assert issubclass(SchemaError, DataError)
    assert not issubclass(ModelFormatError, DataError)


@pytest.mark.parametrize(
    ("position", "text"),
    [
        ({}, "bad"),
        ({"source": "t.csv"}, "t.csv: bad"),
        ({"line": 0}, "line 0: bad"),
        ({"column": ""}, "column '': bad"),
        ({"source": "t.csv", "line": 7, "column": "age"}, "t.csv, line 7, column 'age': bad"),
    ],
)
def test_the_message_starts_with_the_position(position: dict[str, object], text: str) -> None:
    error = DataError("bad", **position)  # type: ignore[arg-type]
    assert str(error) == text
    assert (error.source, error.line, error.column) == tuple(position.get(key) for key in ("source", "line", "column"))


def test_the_position_survives_the_way_between_processes() -> None:
    error = DataError("bad", source="t.csv", line=7, column="age")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert str(again) == str(error)
    assert (again.source, again.line, again.column) == ("t.csv", 7, "age")
