"""A table becomes codes, ready to be counted, or an error; and what scikit-learn and people do with it."""

from __future__ import annotations

import warnings
from io import BytesIO
from math import isnan
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from random_tables import datasets
from treewright.data.columns import RawTable
from treewright.data.dataset import Dataset, Unseen, as_one_array, encode, labels_of
from treewright.data.frames import raw_table
from treewright.data.read import read_raw
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, LabelType, Schema
from treewright.errors import DataError, DataWarning

WEATHER = sample("play-tennis")


def rows_of(data: Dataset) -> list[tuple[Any, ...]]:
    """Return every row as plain values, missing as None."""
    parts = [*data.columns, *([] if data.target is None else [data.target])]
    parts += [] if data.weights is None else [data.weights]
    return [
        tuple(None if isinstance(cell, float) and isnan(cell) else cell for cell in row)
        for row in zip(*(p.tolist() for p in parts), strict=True)
    ]


@given(datasets(min_rows=1), st.data())
@settings(max_examples=50)
def test_taking_rows_takes_them_from_all_columns(data: Dataset, draw: st.DataObject) -> None:
    index = draw.draw(st.lists(st.integers(0, data.n_rows - 1), max_size=6))
    rows = rows_of(data)
    taken = data.take(np.array(index, dtype=np.intp))
    assert len(taken) == len(index)
    assert rows_of(taken) == [rows[row] for row in index]
    assert rows_of(data.take(index)) == rows_of(taken)
    mask = np.array(draw.draw(st.lists(st.booleans(), min_size=data.n_rows, max_size=data.n_rows)))
    assert rows_of(data[mask]) == [row for row, kept in zip(rows, mask.tolist(), strict=True) if kept]
    cut = draw.draw(st.slices(data.n_rows))
    assert rows_of(data[cut]) == rows[cut]
    assert data[cut].n_rows == len(rows[cut])


def test_a_row_number_gives_a_table_of_one_row() -> None:
    assert rows_of(WEATHER[3]) == [rows_of(WEATHER)[3]]
    assert rows_of(WEATHER[-1]) == [rows_of(WEATHER)[-1]]
    rows: Any = WEATHER
    assert len([row for row in rows]) == 14  # noqa: C416 - the loop must end
    with pytest.raises(IndexError):
        WEATHER[14]


def test_rows_may_be_indexed_with_all_columns_but_not_with_some() -> None:
    assert rows_of(WEATHER[np.array([0, 2]), :]) == rows_of(WEATHER.take([0, 2]))
    assert rows_of(WEATHER[[1], ...]) == rows_of(WEATHER.take([1]))
    with pytest.raises(TypeError, match="indexed by rows, or by the name of a column"):
        WEATHER[[0], 1]


def test_attributes_alone_have_neither_target_nor_weights() -> None:
    weighted = Dataset(WEATHER.schema, WEATHER.columns, 14, WEATHER.target, np.ones(14))
    assert weighted.X.target is None
    assert weighted.X.weights is None
    assert (weighted.X.shape, weighted.X.ndim) == ((14, 4), 2)
    with pytest.raises(DataError, match="no target"):
        _ = weighted.X.y


@pytest.mark.parametrize(
    ("values", "labels", "expected"),
    [
        (("no", "yes"), LabelType.TEXT, ["no", "yes"]),
        (("-1", "3"), LabelType.INTEGER, [-1, 3]),
        (("0.5", "2"), LabelType.NUMBER, [0.5, 2.0]),
        (("False", "True"), LabelType.BOOLEAN, [False, True]),
    ],
)
def test_labels_come_back_in_the_type_they_had(values: tuple[str, ...], labels: LabelType, expected: list[Any]) -> None:
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NOMINAL, values, labels)), target="y")
    y = Dataset(schema, (np.zeros(3),), 3, np.array([1, 0, 1], dtype=np.int32)).y
    assert y.tolist() == [expected[1], expected[0], expected[1]]
    assert {type(label) for label in y.tolist()} == {type(expected[0])}


@pytest.mark.parametrize(
    ("labels", "value"), [(LabelType.INTEGER, "a"), (LabelType.INTEGER, "9" * 30), (LabelType.BOOLEAN, "yes")]
)
def test_values_that_are_not_such_labels_are_an_error(labels: LabelType, value: str) -> None:
    with pytest.raises(DataError, match="column 'y': the values are not"):
        labels_of(Column("y", Kind.NOMINAL, (value,), labels))


def test_numbers_to_predict_are_numbers() -> None:
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    assert Dataset(schema, (np.zeros(2),), 2, np.array([0.5, 1.5])).y.tolist() == [0.5, 1.5]


def test_a_column_is_decoded_by_name() -> None:
    schema = Schema((Column("c", Kind.NOMINAL, ("r", "g")), Column("x", Kind.NUMERIC)))
    data = Dataset(schema, (np.array([1, -1, 0], dtype=np.int32), np.array([1.0, np.nan, 2.0])), 3)
    assert data["c"].tolist() == ["g", None, "r"]
    np.testing.assert_array_equal(data["x"], [1.0, np.nan, 2.0])


def test_a_name_that_is_no_attribute_is_an_error_that_lists_them() -> None:
    with pytest.raises(DataError, match="no attribute 'Wnd'; did you mean 'Wind'"):
        WEATHER.column("Wnd")
    with pytest.raises(DataError, match=r"no attribute 'PlayTennis'.*'Outlook', 'Temperature'"):
        WEATHER["PlayTennis"]


def test_a_frame_has_the_attributes_and_the_target() -> None:
    pytest.importorskip("pandas")
    frame = WEATHER.to_pandas()
    assert list(frame.columns) == ["Outlook", "Temperature", "Humidity", "Wind", "PlayTennis"]
    assert frame["PlayTennis"].tolist() == WEATHER.y.tolist()
    assert list(WEATHER.X.to_pandas().columns) == ["Outlook", "Temperature", "Humidity", "Wind"]


def test_cross_validation_of_scikit_learn_takes_it_as_it_is() -> None:
    from sklearn.model_selection import cross_val_score

    from treewright.estimators.c45 import C45Classifier

    lenses = sample("contact-lenses")
    scores = cross_val_score(C45Classifier(), lenses.X, lenses.y, cv=4)
    assert len(scores) == 4
    assert scores.mean() > 0.6


SCHEMA = Schema(
    (
        Column("wind", Kind.NOMINAL, ("weak", "strong")),
        Column("age", Kind.NUMERIC),
        Column("w", Kind.NUMERIC),
        Column("play", Kind.NOMINAL, ("no", "yes")),
    ),
    target="play",
    weight="w",
)
HEADER = "wind,age,w,play\n"


def table(rows: str, header: str = HEADER) -> RawTable:
    kinds = {column.name: column.kind for column in SCHEMA.columns}
    return read_raw(BytesIO((header + rows).encode()), format="csv", kinds=kinds)


def test_cells_become_codes_in_category_order_and_numbers() -> None:
    data = encode(table("strong,3.5,1,yes\nweak,?,0.5,no\n?,1,2,no\n"), SCHEMA)
    wind, age = data.columns
    assert wind.tolist() == [1, 0, -1]
    assert wind.dtype == np.int32
    np.testing.assert_array_equal(age, [3.5, np.nan, 1.0])
    assert data.target is not None
    assert data.target.tolist() == [1, 0, 0]
    assert data.weights is not None
    assert data.weights.tolist() == [1.0, 0.5, 2.0]


def test_columns_are_matched_by_name_and_strangers_left_aside() -> None:
    straight = encode(table("strong,3.5,1,yes\n"), SCHEMA)
    mixed = encode(table("x,yes,1,3.5,strong\n", "extra,play,w,age,wind\n"), SCHEMA)
    for one, other in zip(straight.columns, mixed.columns, strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_undeclared_value_is_an_error_with_line_column_and_the_nearest_value() -> None:
    with pytest.raises(DataError) as caught:
        encode(table("weak,1,1,no\nstrnog,2,1,yes\n"), SCHEMA)
    assert (caught.value.line, caught.value.column) == (3, "wind")
    assert "value 'strnog' is not declared; did you mean 'strong'?; declared are 'weak', 'strong'" in str(caught.value)


def test_an_undeclared_class_is_an_error_also_under_the_lenient_policy() -> None:
    with pytest.raises(DataError, match="column 'play': value 'maybe' is not declared"):
        encode(table("weak,1,1,maybe\n"), SCHEMA, unseen=Unseen.MISSING)


def test_unseen_values_count_as_missing_with_one_warning_that_counts() -> None:
    schema = Schema((SCHEMA.columns[0], Column("c", Kind.NOMINAL, ("r",)), SCHEMA.columns[3]), target="play")
    raw = raw_table({"wind": ["storm", "weak", "gale", None], "c": ["r", "g", None, "r"]})
    with pytest.warns(DataWarning) as caught:
        data = encode(raw, schema, unseen=Unseen.MISSING, with_target=False)
    assert [str(warning.message) for warning in caught] == [
        "values never seen in training count as missing: 2 in 'wind', 1 in 'c'"
    ]
    assert data.columns[0].tolist() == [-1, 0, -1, -1]
    assert data.columns[1].tolist() == [0, -1, -1, 0]


def test_missing_values_alone_are_no_reason_to_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encode(raw_table({"wind": [None, "weak"], "age": [1, None]}), SCHEMA, unseen=Unseen.MISSING, with_target=False)


def test_absent_columns_are_listed_with_those_that_are_there() -> None:
    with pytest.raises(DataError) as caught:
        encode(raw_table({"wnd": ["weak"], "old": [1]}), SCHEMA, with_target=False)
    assert "without the columns 'wind', 'age'; did you mean 'wnd'?; there are 'wnd', 'old'" in str(caught.value)


def test_new_cases_need_neither_target_nor_weight() -> None:
    data = encode(raw_table({"wind": ["weak"], "age": [2.0]}), SCHEMA, with_target=False)
    assert data.target is None
    assert data.weights is None


def test_an_absent_target_is_an_error_while_learning() -> None:
    with pytest.raises(DataError, match="no column 'play'"):
        encode(raw_table({"wind": ["weak"], "age": [2.0], "w": [1]}), SCHEMA)


@pytest.mark.parametrize("gap", ["?", ""])
def test_a_missing_class_is_an_error_that_counts_and_names_the_first(gap: str) -> None:
    with pytest.raises(DataError, match=r"line 3, column 'play': the target is missing here \(and in 1 more row\)"):
        encode(table(f"weak,1,1,no\nweak,1,1,{gap}\nweak,1,1,?\n"), SCHEMA)


def test_a_missing_number_to_predict_is_an_error() -> None:
    schema = Schema((Column("age", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    with pytest.raises(DataError, match="row 1, column 'y': the target is missing"):
        encode(raw_table({"age": [1, 2], "y": [0.5, None]}), schema)


@pytest.mark.parametrize("weight", ["-1", "?"])
def test_a_weight_below_zero_or_missing_is_an_error(weight: str) -> None:
    with pytest.raises(DataError, match="line 3, column 'w': a weight must be a number of at least 0"):
        encode(table(f"weak,1,0,no\nweak,1,{weight},no\n"), SCHEMA)


def test_text_in_a_numeric_column_is_an_error_with_its_row() -> None:
    with pytest.raises(DataError, match="row 1, column 'age': 'old' is not a number"):
        encode(raw_table({"wind": ["weak", "weak"], "age": [None, "old"]}), SCHEMA, with_target=False)


def test_a_numeric_column_without_any_number_is_all_missing() -> None:
    data = encode(raw_table({"wind": ["weak"], "age": [None]}), SCHEMA, with_target=False)
    assert np.isnan(data.columns[1]).all()


def test_numbers_meet_nominal_values_whatever_their_type() -> None:
    schema = Schema((Column("n", Kind.NOMINAL, ("1", "2.5", "16777217"), LabelType.NUMBER),))
    assert encode(raw_table({"n": np.array([2.5, 1.0, np.nan])}), schema).columns[0].tolist() == [1, 0, -1]
    assert encode(raw_table({"n": np.array([16777217, 1])}), schema).columns[0].tolist() == [2, 0]
    assert encode(raw_table({"n": ["1", "2.5"]}), schema).columns[0].tolist() == [0, 1]


def test_large_neighbours_and_large_numbers_are_distinguished() -> None:
    schema = Schema((Column("x", Kind.NUMERIC),))
    numbers = [16_777_216, 16_777_217, 1e39]
    assert encode(raw_table({"x": numbers}), schema).columns[0].tolist() == numbers


def test_no_rows_are_encoded_to_no_rows() -> None:
    data = encode(raw_table({"wind": np.array([], dtype=object), "age": np.array([])}), SCHEMA, with_target=False)
    assert len(data) == 0
    assert [len(column) for column in data.columns] == [0, 0]


def test_a_frame_of_texts_is_read_by_its_schema_markers_and_all() -> None:
    """All cells as texts, as `pandas.read_csv(dtype=str)` gives them: the schema defines numbers and missing."""
    schema = Schema(
        (Column("x", Kind.NUMERIC), Column("c", Kind.NOMINAL, ("a", "b")), Column("y", Kind.NOMINAL, ("n", "p"))),
        target="y",
    )
    raw = raw_table({"x": ["1.5", "?", "007", ""], "c": ["a", "?", "b", None], "y": ["p", "n", "p", "n"]})
    data = encode(raw, schema)
    assert data.columns[0].tolist()[::2] == [1.5, 7.0]
    assert np.isnan(data.columns[0][[1, 3]]).all()
    assert data.columns[1].tolist() == [0, -1, 1, -1]
    with pytest.raises(DataError, match=r"row 1, column 'x': 'much' is not a number"):
        encode(raw_table({"x": ["1", "much"], "c": ["a", "a"], "y": ["p", "n"]}), schema)
    with pytest.raises(DataError, match="'q' is not declared"):
        encode(raw_table({"x": ["1", "2"], "c": ["a", "q"], "y": ["p", "n"]}), schema)


def test_booleans_find_the_values_that_the_file_spelled_differently() -> None:
    schema = Schema((Column("windy", Kind.NOMINAL, ("TRUE", "FALSE")),))
    assert encode(raw_table({"windy": [True, False, None, True]}), schema).columns[0].tolist() == [0, 1, -1, 0]
    with pytest.raises(DataError, match="'True' is not declared"):
        encode(raw_table({"windy": [True]}), Schema((Column("windy", Kind.NOMINAL, ("yes", "no")),)))


LAYOUTS: dict[str, Any] = {
    "row by row": lambda table: tuple(table.copy().T),
    "column by column": lambda table: tuple(np.asfortranarray(table).T),
    "part of a wider table": lambda table: tuple(np.hstack([table, np.full((len(table), 2), np.nan)])[:, :3].T),
    "every second row": lambda table: tuple(np.repeat(table, 2, axis=0)[::2].T),
    "backwards": lambda table: tuple(table[::-1, ::-1].T),
    "apart": lambda table: tuple(column.copy() for column in table.T),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("cell", [None, (0, 0), (3, 1), (4, 2)])
def test_a_missing_number_is_found_in_any_layout_of_the_columns(layout: str, cell: tuple[int, int] | None) -> None:
    table = np.arange(15.0).reshape(5, 3)
    if cell is not None:
        table[cell] = np.nan
    schema = Schema(tuple(Column(name, Kind.NUMERIC) for name in "abc"))
    data = Dataset(schema, LAYOUTS[layout](table), 5)
    assert data.has_missing is (cell is not None)
    if layout not in ("apart", "backwards"):
        found = as_one_array(data.columns)
        assert found is not None
        assert np.array_equal(found, table, equal_nan=True)


def test_missing_categories_are_found_and_no_row_is_nothing_missing() -> None:
    schema = Schema((Column("x", Kind.NUMERIC), Column("c", Kind.NOMINAL, ("a", "b"))))
    codes = np.array([0, 1, -1], dtype=np.int32)
    assert Dataset(schema, (np.zeros(3), codes), 3).has_missing
    assert not Dataset(schema, (np.zeros(2), codes[:2]), 2).has_missing
    assert not Dataset(schema, (np.zeros(0), codes[:0]), 0).has_missing
    assert not Dataset(Schema(()), (), 3).has_missing
