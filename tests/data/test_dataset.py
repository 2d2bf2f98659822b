"""A table ready to be counted, and what scikit-learn and people do with it."""

from __future__ import annotations

from math import isnan
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from random_tables import datasets
from treewright.data.dataset import Dataset, labels_of
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, LabelType, Schema
from treewright.errors import DataError

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
