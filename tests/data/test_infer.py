"""The rules by which a schema is proposed."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright.data.columns import RawTable, TextColumn
from treewright.data.frames import raw_table
from treewright.data.infer import CLASS_LIMIT, NOMINAL_LIMIT, Overrides, in_fixed_order, infer_schema
from treewright.data.read import read_raw
from treewright.data.samples import sample_schema, sample_table
from treewright.data.schema import MISSING_MARKERS, Column, Kind, LabelType, Schema, Task
from treewright.errors import DataError, ParameterError, SchemaError


def csv(text: str, **how: Any) -> RawTable:
    return read_raw(BytesIO(text.encode()), format="csv", **how)


def kinds(schema: Schema) -> dict[str, str]:
    return {column.name: str(column.kind) for column in schema.columns}


def target_of(numbers: list[float | None], **how: Any) -> Column:
    raw = raw_table({"x": [1.5] * len(numbers), "y": numbers})
    return infer_schema(raw, "y", **how).target_column


def test_text_and_booleans_are_nominal_and_numbers_numeric() -> None:
    raw = raw_table({"t": ["b", "a"], "b": [True, False], "whole": [1, 2], "broken": [0.5, 1.5]})
    assert kinds(infer_schema(raw)) == {"t": "nominal", "b": "nominal", "whole": "numeric", "broken": "numeric"}


def test_numbers_with_leading_zeros_stay_text() -> None:
    schema = infer_schema(csv("agent,n,y\n007,7,a\n008,8,b\n"), "y")
    assert schema.column("agent") == Column("agent", Kind.NOMINAL, ("007", "008"))
    assert schema.column("n").is_numeric


def test_one_text_among_numbers_makes_the_column_text() -> None:
    assert infer_schema(csv("x,y\n1,a\ntwo,b\n10,a\n"), "y").column("x").values == ("1", "10", "two")


def test_a_column_of_missing_cells_is_no_error() -> None:
    schema = infer_schema(csv("x,y\n?,a\n,b\n"), "y")
    assert "x" in schema.attribute_names


@pytest.mark.parametrize(
    ("numbers", "kind"),
    [
        (list(range(CLASS_LIMIT)), Kind.NOMINAL),
        (list(range(CLASS_LIMIT + 1)), Kind.NUMERIC),
        ([0.5, 1.0], Kind.NUMERIC),
        ([3, 3, 3], Kind.NOMINAL),
    ],
)
def test_a_target_of_few_whole_numbers_is_a_class(numbers: list[float | None], kind: Kind) -> None:
    assert target_of(numbers).kind is kind


def test_the_task_overrides_the_guess() -> None:
    assert target_of([0, 1], overrides=Overrides(task=Task.REGRESSION)).is_numeric
    classes = target_of([0.5, 10, 2], overrides=Overrides(task=Task.CLASSIFICATION))
    assert classes == Column("y", Kind.NOMINAL, ("0.5", "2", "10"), LabelType.NUMBER)


def test_number_classes_stand_by_size_and_remember_that_they_were_whole() -> None:
    assert target_of([10, 9, 100]) == Column("y", Kind.NOMINAL, ("9", "10", "100"), LabelType.INTEGER)


def test_boolean_classes_remember_that_they_were() -> None:
    column = infer_schema(raw_table({"x": [1, 2], "y": [True, False]}), "y").target_column
    assert (column.values, column.labels) == (("False", "True"), LabelType.BOOLEAN)


def test_few_whole_numbers_are_nominal_only_for_learners_that_ask() -> None:
    raw = raw_table({"few": [*range(NOMINAL_LIMIT), 0], "many": list(range(NOMINAL_LIMIT + 1)), "y": ["a"] * 11})
    assert kinds(infer_schema(raw, "y", nominal_limit=NOMINAL_LIMIT))["few"] == "nominal"
    assert kinds(infer_schema(raw, "y", nominal_limit=NOMINAL_LIMIT))["many"] == "numeric"
    assert kinds(infer_schema(raw, "y"))["few"] == "numeric"


def test_the_weight_stays_a_number_whatever_the_limit() -> None:
    raw = raw_table({"w": [1, 2], "x": [1, 2], "y": ["a", "b"]})
    schema = infer_schema(raw, "y", Overrides(weight="w"), nominal_limit=10)
    assert (schema.weight, schema.attribute_names) == ("w", ("x",))
    assert schema.column("w").is_numeric


CELLS = st.text(alphabet="aB10.nife-", max_size=4) | st.sampled_from(["nan", "inf", "-inf", "1e5", "NaN", "1.0", "1"])


@given(st.lists(CELLS, min_size=1, max_size=8).flatmap(lambda cells: st.tuples(st.just(cells), st.permutations(cells))))
def test_the_order_of_values_does_not_depend_on_the_order_of_rows(both: tuple[list[str], list[str]]) -> None:
    first, second = (infer_schema(raw_table({"x": np.array(cells, dtype=object)})).column("x") for cells in both)
    assert first == second


@given(st.lists(st.integers(-50, 50), min_size=1, unique=True))
def test_texts_that_are_numbers_stand_by_size(numbers: list[int]) -> None:
    assert in_fixed_order(tuple(map(str, numbers))) == tuple(map(str, sorted(numbers)))


def test_an_order_that_the_source_means_is_kept() -> None:
    codes = np.array([0, 2], dtype=np.int32)
    met = TextColumn(("low", "mid", "high"), codes)
    meant = TextColumn(("low", "mid", "high"), codes, is_categorical=True)
    schema = infer_schema(RawTable({"met": met, "meant": meant}, 2))
    assert schema.column("met").values == ("high", "low", "mid")
    assert schema.column("meant").values == ("low", "mid", "high")


def test_overrides_change_the_kind() -> None:
    raw = raw_table({"n": [2, 10], "i": ["x", "y"], "o": ["lo", "hi"], "y": ["a", "b"]})
    schema = infer_schema(raw, "y", Overrides(nominal=("n",), ignore=("i",), ordinal={"o": ("lo", "mid", "hi")}))
    assert schema.column("n").values == ("2", "10")
    assert schema.attribute_names == ("n", "o")
    assert schema.column("o") == Column("o", Kind.ORDINAL, ("lo", "mid", "hi"))


def test_further_missing_markers_are_kept_with_the_schema() -> None:
    assert infer_schema(raw_table({"x": [1]}), None, Overrides(missing=("-9",))).missing_markers == (
        *MISSING_MARKERS,
        "-9",
    )


def test_a_value_that_the_given_order_lacks_is_named_with_its_line() -> None:
    with pytest.raises(DataError, match="line 3, column 'o': value 'mid' is not in the order given: lo < hi"):
        infer_schema(csv("o,y\nlo,a\nmid,b\n"), "y", Overrides(ordinal={"o": ("lo", "hi")}))


def test_text_cannot_be_made_numeric() -> None:
    with pytest.raises(SchemaError, match="column 'x': has texts such as 'one', so it cannot be numeric"):
        infer_schema(raw_table({"x": ["one", "2"]}), None, Overrides(numeric=("x",)))


@pytest.mark.parametrize(
    ("target", "overrides"),
    [
        ("plai", Overrides()),
        (None, Overrides(weight="plai")),
        (None, Overrides(ignore=("plai",))),
        (None, Overrides(nominal=("plai",))),
        (None, Overrides(ordinal={"plai": ("a",)})),
    ],
)
def test_a_column_that_is_not_there_is_named(target: str | None, overrides: Overrides) -> None:
    with pytest.raises(DataError, match="no column 'plai'; did you mean 'play'"):
        infer_schema(raw_table({"play": ["a"]}), target, overrides)


def test_one_column_cannot_have_two_kinds() -> None:
    with pytest.raises(ParameterError, match="given more than one kind: 'x'"):
        Overrides(nominal=("x", "z"), ignore=("x",))


ARFF = """@relation r
@attribute colour {red,green,blue}
@attribute n numeric
@attribute class {yes,no}
@data
green,1,no
red,2,yes
"""


def test_categories_and_order_of_a_typed_column_are_kept() -> None:
    raw = read_raw(BytesIO(ARFF.encode()), format="arff")
    schema = infer_schema(raw, "class")
    assert schema.column("colour").values == ("red", "green", "blue")
    assert schema.classes == ("yes", "no")
    assert schema.column("n").is_numeric


def test_a_typed_column_gives_way_to_an_override() -> None:
    raw = read_raw(BytesIO(ARFF.encode()), format="arff")
    schema = infer_schema(raw, "class", Overrides(ordinal={"colour": ("blue", "green", "red")}, nominal=("n",)))
    assert schema.column("colour").kind is Kind.ORDINAL
    assert schema.column("n").values == ("1", "2")


def test_the_target_of_the_file_is_taken_when_none_is_named() -> None:
    raw = sample_table("play-tennis")
    assert infer_schema(raw) == sample_schema("play-tennis")
    other = infer_schema(raw, "Wind")
    assert other.target == "Wind"
    assert "PlayTennis" in other.attribute_names
