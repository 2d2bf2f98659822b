"""What a schema promises: valid from the moment it exists, and the same after every round trip."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle_sets import load_json, require_oracle, set_names
from treewright.data.schema import MISSING_MARKERS, Column, Kind, LabelType, Schema, Task, with_markers
from treewright.errors import SchemaError

X = Column("x", Kind.NUMERIC)
W = Column("w", Kind.NUMERIC)
WIND = Column("wind", Kind.NOMINAL, ("weak", "strong"))
PLAY = Column("play", Kind.NOMINAL, ("no", "yes"))
SCHEMA = Schema((X, WIND, W, PLAY), target="play", weight="w")

PLAIN_COLUMN = {"name": "x", "kind": "numeric"}


@st.composite
def any_schema(draw: st.DrawFn) -> Schema:
    names = draw(st.lists(st.text(max_size=5), min_size=1, max_size=5, unique=True))
    columns = []
    for name in names:
        kind = draw(st.sampled_from(list(Kind)))
        if kind is Kind.NUMERIC:
            columns.append(Column(name, kind))
        else:
            values = draw(st.lists(st.text(max_size=4), max_size=4, unique=True))
            columns.append(Column(name, kind, tuple(values), draw(st.sampled_from(list(LabelType)))))
    target = draw(st.none() | st.sampled_from(names))
    free = [column.name for column in columns if column.is_numeric and column.name != target]
    weight = draw(st.none() | st.sampled_from(free)) if free else None
    others = [name for name in names if name != target]
    ignored = draw(st.lists(st.sampled_from(others), unique=True)) if others else []
    markers = draw(st.just(MISSING_MARKERS) | st.lists(st.text(max_size=3), max_size=3).map(tuple))
    return Schema(tuple(columns), target, weight, tuple(ignored), markers)


@given(any_schema())
@settings(max_examples=60)
def test_plain_data_and_back_is_the_same_schema(schema: Schema) -> None:
    assert Schema.from_dict(json.loads(json.dumps(schema.to_dict()))) == schema


def test_a_saved_schema_is_loaded_again(tmp_path: Path) -> None:
    schema = Schema((Column("Größe\n", Kind.ORDINAL, ("klein", "groß")), PLAY), target="play", missing_markers=("-",))
    schema.save(tmp_path / "schema.json")
    assert Schema.load(tmp_path / "schema.json") == schema


def test_target_weight_and_ignored_columns_are_no_attributes() -> None:
    schema = Schema((X, WIND, W, PLAY), target="play", weight="w", ignored=("x",))
    assert schema.attribute_names == ("wind",)
    assert schema.classes == ("no", "yes")


def test_the_kind_of_the_target_is_the_task() -> None:
    assert SCHEMA.task is Task.CLASSIFICATION
    assert Schema((X, PLAY), target="x").task is Task.REGRESSION
    assert Schema((X, Column("o", Kind.ORDINAL, ("1", "2"))), target="o").task is Task.CLASSIFICATION


def test_a_replaced_column_keeps_its_position() -> None:
    changed = SCHEMA.with_column(Column("x", Kind.ORDINAL, ("1", "2")))
    assert [column.name for column in changed.columns] == ["x", "wind", "w", "play"]
    assert changed.attributes[0].kind is Kind.ORDINAL
    with pytest.raises(SchemaError, match="no column 'z'"):
        SCHEMA.with_column(Column("z", Kind.NUMERIC))


def test_the_words_of_kinds_and_labels_are_taken_for_them() -> None:
    made: Any = Column("x", "numeric")  # type: ignore[arg-type]
    assert made.is_numeric
    label: Any = Column("y", "nominal", ["1", "2"], "integer")  # type: ignore[arg-type]
    assert label == Column("y", Kind.NOMINAL, ("1", "2"), LabelType.INTEGER)
    assert hash(label) == hash(Column("y", Kind.NOMINAL, ("1", "2"), LabelType.INTEGER))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, Kind.NUMERIC), "a column name must be text, not 3"),
        (("x", "number"), "kind 'number' is not one of nominal, ordinal, numeric"),
        (("x", None), "kind None is not one of"),
        (("x", Kind.NUMERIC, ("a",)), "a numeric column declares no values"),
        (("x", Kind.NOMINAL, ("a", 1)), "a declared value must be text, not 1"),
        (("x", Kind.NOMINAL, ("a", "b", "a")), "value 'a' is declared twice"),
        (("x", Kind.NOMINAL, "ab"), "values must be a sequence of texts, not 'ab'"),
        (("x", Kind.NOMINAL, ("a",), "colour"), "labels 'colour' is not one of text, integer, number, boolean"),
    ],
)
def test_a_column_that_contradicts_itself_is_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Column(*arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"columns": (X, X)}, "column 'x': two columns have this name"),
        ({"target": "plai"}, "no column to be the target: 'plai'; did you mean 'play'"),
        ({"weight": "v"}, "no column to be the weight: 'v'"),
        ({"ignored": ("nothing",)}, "no column to be the ignored one: 'nothing'"),
        ({"target": "w", "weight": "w"}, "column 'w': the target can be neither weight nor ignored"),
        ({"target": "x", "ignored": ("x",)}, "column 'x': the target can be neither weight nor ignored"),
        ({"weight": "wind"}, "column 'wind': the weight column must be numeric"),
    ],
)
def test_a_schema_that_contradicts_itself_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Schema(**({"columns": (X, WIND, W, PLAY)} | arguments))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "a schema is an object with 'columns', not list"),
        ({}, "a schema needs a non-empty list 'columns'"),
        ({"columns": []}, "a schema needs a non-empty list 'columns'"),
        ({"columns": {"x": 1}}, "a schema needs a non-empty list 'columns'"),
        ({"columns": [1]}, "a column is an object with a 'name', not 1"),
        ({"columns": [{"kind": "numeric"}]}, "a column is an object with a 'name'"),
        ({"columns": [{"name": "x"}]}, "column 'x': kind None is not one of nominal, ordinal, numeric"),
        ({"columns": [{"name": "x", "kind": ["numeric"]}]}, "kind .'numeric'. is not one of"),
        ({"columns": [{"name": "x", "kind": "nominal"}]}, "the values of 'x' must be a list of texts, not None"),
        ({"columns": [{"name": "x", "kind": "nominal", "values": "ab"}]}, "must be a list of texts, not 'ab'"),
        ({"columns": [{"name": "x", "kind": "nominal", "values": [1]}]}, "must be a list of texts"),
        ({"columns": [{"name": "x", "kind": "nominal", "values": [], "labels": 1}]}, "labels 1 is not one of text"),
        ({"columns": [PLAIN_COLUMN], "target": 3}, "'target' must be text, not 3"),
        ({"columns": [PLAIN_COLUMN], "weight": ["x"]}, "'weight' must be text"),
        ({"columns": [PLAIN_COLUMN], "ignored": "x"}, "ignored must be a list of texts, not 'x'"),
        ({"columns": [PLAIN_COLUMN], "missing_markers": [1]}, "missing_markers must be a list of texts"),
        ({"columns": [PLAIN_COLUMN], "missing_marker": 1}, "'missing_marker' must be text"),
        ({"columns": [PLAIN_COLUMN], "target": "x", "task": "classification"}, "task is 'classification', but the"),
    ],
)
def test_plain_data_that_is_no_schema_is_refused(data: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Schema.from_dict(data)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
HOSTILE_COLUMN = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["x", "y"]) | JSON,
        "kind": st.sampled_from(list(map(str, Kind))) | JSON,
        "values": st.lists(st.text(max_size=2), max_size=3) | JSON,
        "labels": st.sampled_from(list(map(str, LabelType))) | JSON,
    },
)
HOSTILE_SCHEMA = st.fixed_dictionaries(
    {"columns": st.lists(HOSTILE_COLUMN | JSON, max_size=3) | JSON},
    optional={
        "target": st.sampled_from(["x", "y"]) | JSON,
        "weight": st.sampled_from(["x", "y"]) | JSON,
        "ignored": JSON,
        "task": JSON,
        "missing_marker": JSON,
        "missing_markers": JSON,
    },
)


@given(HOSTILE_SCHEMA | JSON)
@settings(max_examples=60)
def test_hostile_plain_data_is_a_valid_schema_or_a_schema_error(data: Any) -> None:
    try:
        schema = Schema.from_dict(data)
    except SchemaError:
        return
    assert Schema.from_dict(schema.to_dict()) == schema


def nested(depth: int) -> Any:
    value: Any = "end"
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("value", [10**5000, nested(5000)], ids=["number of 5,000 digits", "list of 5,000 levels"])
@pytest.mark.parametrize("key", ["name", "kind", "values", "labels"])
def test_a_value_that_cannot_even_be_shown_is_a_schema_error(key: str, value: Any) -> None:
    column = {"name": "x", "kind": "nominal", "values": ["a"]} | {key: value}
    with pytest.raises(SchemaError):
        Schema.from_dict({"columns": [column]})


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"columns": ' + b"9" * 5000 + b"}", b"[]", b"\x80\x04K\x01."],
    ids=["empty", "cut", "not text", "deep", "long number", "list", "pickle"],
)
def test_a_file_that_is_no_schema_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(content)
    with pytest.raises(SchemaError, match=r"broken\.json"):
        Schema.load(path)


def test_a_single_missing_marker_is_added_to_the_usual_ones() -> None:
    schema = Schema.from_dict({"columns": [PLAIN_COLUMN], "missing_marker": "-9"})
    assert schema.missing_markers == (*MISSING_MARKERS, "-9")
    assert with_markers(["?", "x", "x"]) == (*MISSING_MARKERS, "x")


@pytest.mark.oracle
def test_every_recorded_schema_is_read() -> None:
    require_oracle()
    names = set_names()
    assert names
    for name in names:
        recorded = load_json(name, "schema.json")
        schema = Schema.from_dict(recorded)
        assert [column.name for column in schema.columns] == [column["name"] for column in recorded["columns"]]
        assert schema.target == recorded["target"]
        assert str(schema.task) == recorded["task"]
        assert recorded["missing_marker"] in schema.missing_markers
        for column, plain in zip(schema.columns, recorded["columns"], strict=True):
            assert (str(column.kind), list(column.values)) == (plain["kind"], plain.get("values", []))
        assert Schema.from_dict(schema.to_dict()) == schema
