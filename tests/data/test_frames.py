"""Data in memory: every library's table gives the same raw table, and none is changed."""

from __future__ import annotations

import datetime as dt
import math
import time
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treewright.data.columns import CellTypeError, NumberColumn, RawTable, TextColumn
from treewright.data.frames import raw_table
from treewright.data.schema import Kind, LabelType
from treewright.errors import DataError

pa: Any = pytest.importorskip("pyarrow")
SPARSE: Any = pytest.importorskip("scipy.sparse")

MAKERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "pandas": pd.DataFrame,
    "pandas, nullable": lambda data: pd.DataFrame(data).convert_dtypes(),
    "pandas, objects": lambda data: pd.DataFrame(data, dtype=object),
    "polars": lambda data: pl.DataFrame(data, strict=False),
    "pyarrow": pa.table,
    "mapping": dict,
    "narwhals": lambda data: nw.from_native(pl.DataFrame(data, strict=False)),
}


def cells(table: RawTable, name: str) -> list[Any]:
    column = table.columns[name]
    if isinstance(column, NumberColumn):
        return [None if math.isnan(value) else value for value in column.values.tolist()]
    return [None if code < 0 else column.values[code] for code in column.codes.tolist()]


def text(table: RawTable, name: str) -> TextColumn:
    column = table.columns[name]
    assert isinstance(column, TextColumn)
    return column


@pytest.mark.parametrize("maker", MAKERS)
def test_every_library_gives_the_same_table(maker: str) -> None:
    data = {
        "number": [1.5, None, -2.0],
        "whole": [1, 2, 16777217],
        "gaps": [1, None, 3],
        "bool": [True, False, True],
        "maybe": [True, None, False],
        "text": ["b", None, "a"],
        "moment": [dt.datetime(2020, 1, 2, 3, 4, 5), None, dt.datetime(2021, 1, 1)],
    }
    table = raw_table(MAKERS[maker](data))
    assert list(table.columns) == list(data)
    assert table.n_rows == 3
    assert cells(table, "number") == [1.5, None, -2.0]
    assert cells(table, "whole") == [1.0, 2.0, 16777217.0]
    assert cells(table, "gaps") == [1.0, None, 3.0]
    assert cells(table, "bool") == ["True", "False", "True"]
    assert (text(table, "bool").values, text(table, "bool").labels) == (("False", "True"), LabelType.BOOLEAN)
    assert cells(table, "maybe") == ["True", None, "False"]
    assert cells(table, "text") == ["b", None, "a"]
    assert text(table, "text").values == ("b", "a")
    assert cells(table, "moment") == ["2020-01-02T03:04:05", None, "2021-01-01T00:00:00"]


@pytest.mark.parametrize("maker", MAKERS)
def test_an_infinity_is_an_error_with_column_and_row(maker: str) -> None:
    with pytest.raises(DataError, match=r"column 'x': row 1: .*contains infinity"):
        raw_table(MAKERS[maker]({"ok": [1.0, 2.0], "x": [1.0, -math.inf]}))


@pytest.mark.parametrize("maker", MAKERS)
def test_an_integer_that_would_be_rounded_is_an_error_unless_nominal(maker: str) -> None:
    data = MAKERS[maker]({"x": [2**53, 2**53 + 1, 5]})
    with pytest.raises(DataError, match=r"column 'x': row 1: 9007199254740993 is beyond 2\^53"):
        raw_table(data)
    table = raw_table(data, kinds={"x": Kind.NOMINAL})
    assert cells(table, "x") == ["9007199254740992", "9007199254740993", "5"]
    assert text(table, "x").values == ("5", "9007199254740992", "9007199254740993")
    assert text(table, "x").labels is LabelType.INTEGER


@pytest.mark.parametrize("maker", MAKERS)
def test_given_kinds_prevail(maker: str) -> None:
    data = MAKERS[maker]({"n": [3, 1], "t": ["007", None], "b": [True, False], "f": [0.5, None]})
    kinds = {"n": Kind.NOMINAL, "t": Kind.NUMERIC, "b": Kind.NUMERIC, "f": Kind.ORDINAL}
    table = raw_table(data, kinds=kinds)
    assert text(table, "n").values == ("1", "3")
    assert cells(table, "t") == [7.0, None]
    assert cells(table, "b") == [1.0, 0.0]
    assert cells(table, "f") == ["0.5", None]
    with pytest.raises(DataError, match="column 't': row 1: 'x' is not a number"):
        raw_table(MAKERS[maker]({"t": ["1", "x"]}), kinds={"t": Kind.NUMERIC})


def test_an_override_makes_booleans_with_gaps_numeric() -> None:
    frame = pd.DataFrame({"b": pd.array([True, None], dtype="boolean")})
    assert cells(raw_table(frame, kinds={"b": Kind.NUMERIC}), "b") == [1.0, None]
    assert cells(raw_table({"b": [True, None]}, kinds={"b": Kind.NUMERIC}), "b") == [1.0, None]
    assert cells(raw_table({"b": [None, None]}, kinds={"b": Kind.NUMERIC}), "b") == [None, None]


def test_category_order_is_kept_with_unused_categories() -> None:
    order = ["never", "low", "high"]
    frames = [
        pd.DataFrame({"c": pd.Categorical(["high", None, "low"], categories=order)}),
        pd.DataFrame({"c": pd.Categorical(["high", None, "low"], categories=order, ordered=True)}),
        pl.DataFrame({"c": pl.Series(["high", None, "low"], dtype=pl.Enum(order))}),
        pa.table({"c": pa.DictionaryArray.from_arrays(pa.array([2, None, 1], pa.int8()), pa.array(order))}),
    ]
    for frame in frames:
        table = raw_table(frame)
        assert text(table, "c").values == tuple(order)
        assert text(table, "c").codes.tolist() == [2, -1, 1]
        assert text(table, "c").labels is LabelType.TEXT


def test_a_polars_categorical_has_its_own_values_only() -> None:
    pl.Series(["elsewhere"], dtype=pl.Categorical)
    table = raw_table(pl.DataFrame({"c": pl.Series(["b", None, "a"], dtype=pl.Categorical)}))
    assert text(table, "c").values == ("b", "a")


def test_categories_that_are_numbers() -> None:
    whole = raw_table(pd.DataFrame({"c": pd.Categorical([3, None, 1], categories=[9, 3, 1])}))
    assert (text(whole, "c").values, text(whole, "c").labels) == (("9", "3", "1"), LabelType.INTEGER)
    assert text(whole, "c").codes.tolist() == [1, -1, 2]
    real = raw_table(pd.DataFrame({"c": pd.Categorical([0.5, 2.0])}))
    assert (text(real, "c").values, text(real, "c").labels) == (("0.5", "2"), LabelType.NUMBER)
    both = raw_table(pd.DataFrame({"c": pd.Categorical([True, False])}))
    assert (text(both, "c").values, text(both, "c").labels) == (("False", "True"), LabelType.BOOLEAN)
    number = raw_table(pd.DataFrame({"c": pd.Categorical([3, 1])}), kinds={"c": Kind.NUMERIC})
    assert cells(number, "c") == [3.0, 1.0]


def test_missing_objects_of_every_sort() -> None:
    frame = pd.DataFrame({"x": np.array(["a", None, math.nan, pd.NA, pd.NaT], dtype=object)})
    assert cells(raw_table(frame), "x") == ["a", None, None, None, None]
    assert cells(raw_table({"x": [1, math.nan, None, Decimal("2.5"), np.float32(0.5)]}), "x") == [
        1,
        None,
        None,
        2.5,
        0.5,
    ]
    assert isinstance(raw_table({"x": [math.nan, math.nan]}).columns["x"], NumberColumn)
    assert text(raw_table({"x": [None, None]}), "x").values == ()
    assert text(raw_table(pl.DataFrame({"x": [None, None]})), "x").values == ()


@pytest.mark.parametrize(
    ("column", "row"), [([1, "a"], 1), (["a", None, "b", 3], 3), ([True, 2], 1), ([None, 1, True], 2)]
)
def test_mixed_columns_are_an_error_with_column_and_row(column: list[Any], row: int) -> None:
    with pytest.raises(DataError, match=rf"column 'x': row {row}: .* is not a"):
        raw_table({"x": column})
    with pytest.raises(DataError, match=rf"column 'x': row {row}: .* is not a"):
        raw_table(pd.DataFrame({"x": np.array(column, dtype=object)}))


@pytest.mark.parametrize("cell", [{"foo": "bar"}, [1], b"x", object()])
def test_objects_that_no_column_can_hold(cell: Any) -> None:
    array = np.array([[1.0, 2.0]], dtype=object)
    array[0, 1] = cell
    for data in (array, [[1.0, cell]], {"x1": [1.0], "x2": [cell]}):
        with pytest.raises(CellTypeError, match="column 'x2': argument must be a string or a number"):
            raw_table(data)
    assert issubclass(CellTypeError, TypeError)


@pytest.mark.parametrize("cell", [[1, 2], {"a": 1}, b"x", dt.timedelta(1)])
def test_frame_columns_that_no_column_can_hold(cell: Any) -> None:
    for frame in (pl.DataFrame({"x": [cell]}), pa.table({"x": [cell]})):
        with pytest.raises(CellTypeError, match="column 'x': argument must be a string or a number"):
            raw_table(frame)


def test_complex_numbers_are_refused() -> None:
    with pytest.raises(DataError, match="Complex data not supported"):
        raw_table(np.ones((2, 2), dtype=complex))
    with pytest.raises(DataError, match="Complex data not supported"):
        raw_table({"x": [1j]})


def test_moments_with_a_time_zone_become_utc() -> None:
    moment = dt.datetime(2020, 1, 1, 12, tzinfo=dt.timezone(dt.timedelta(hours=2)))
    for data in ({"x": [moment]}, pd.DataFrame({"x": [moment]}), pl.DataFrame({"x": [moment]})):
        assert cells(raw_table(data), "x") == ["2020-01-01T10:00:00+00:00"]
    assert cells(raw_table({"x": [dt.date(2020, 1, 1)]}), "x") == ["2020-01-01"]
    days = np.array([["2020-01-01"], ["NaT"]], dtype="datetime64[D]")
    assert cells(raw_table(days), "x1") == ["2020-01-01T00:00:00", None]


def test_a_float_array_is_neither_copied_nor_changed() -> None:
    array = np.array([[1.0, np.nan], [3.0, 4.0]])
    before = array.copy()
    table = raw_table(array)
    assert list(table.columns) == ["x1", "x2"]
    assert cells(table, "x2") == [None, 4.0]
    column = table.columns["x1"]
    assert isinstance(column, NumberColumn)
    assert np.shares_memory(column.values, array)
    np.testing.assert_array_equal(array, before)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "uint64", "longdouble"])
def test_other_numbers_are_widened_exactly(dtype: str) -> None:
    array = (
        np.array([[1, 2], [3, 100]], dtype=dtype) / np.array(8, dtype=dtype)
        if "float" in dtype
        else np.array([[1, 2], [3, 100]], dtype=dtype)
    )
    table = raw_table(array)
    assert cells(table, "x2") == [float(value) for value in array[:, 1]]


def test_arrays_of_booleans_texts_and_objects() -> None:
    assert cells(raw_table(np.array([[True], [False]])), "x1") == ["True", "False"]
    assert cells(raw_table(np.array([["b"], ["a"]])), "x1") == ["b", "a"]
    table = raw_table(np.array([[1, "a"], [None, "b"]], dtype=object))
    assert cells(table, "x1") == [1.0, None]
    assert cells(table, "x2") == ["a", "b"]
    with pytest.raises(CellTypeError, match="argument must be"):
        raw_table(np.array([[b"a"]]))


def test_masked_cells_are_missing() -> None:
    array = np.ma.masked_array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    assert cells(raw_table(array), "x2") == [None, 4.0]
    assert cells(raw_table({"a": array[:, 1]}), "a") == [None, 4.0]
    assert cells(raw_table(np.ma.masked_array([[1.5]])), "x1") == [1.5]


def test_names_for_arrays_and_rows() -> None:
    assert list(raw_table(np.ones((1, 2)), names=["a", "b"]).columns) == ["a", "b"]
    assert list(raw_table([[1, 2]], names=["a", "b"]).columns) == ["a", "b"]
    assert raw_table([], names=["a"]).n_rows == 0
    with pytest.raises(DataError, match="3 names are given for 2 columns"):
        raw_table(np.ones((1, 2)), names=["a", "b", "c"])
    with pytest.raises(DataError, match="two columns"):
        raw_table(np.ones((1, 2)), names=["a", "a"])
    with pytest.raises(CellTypeError, match="must be text"):
        raw_table({1: [2]})


def test_kinds_of_array_columns() -> None:
    table = raw_table(np.array([[2.0, 1.0], [1.0, 1.5]]), kinds={"x1": Kind.NOMINAL})
    assert cells(table, "x1") == ["2", "1"]
    assert cells(table, "x2") == [1.0, 1.5]


def test_frame_names_that_are_not_text() -> None:
    assert list(raw_table(pd.DataFrame([[1, 2]])).columns) == ["0", "1"]
    with pytest.raises(TypeError, match="some column names are text"):
        raw_table(pd.DataFrame([[1, 2]], columns=["a", 3]))
    with pytest.raises(DataError, match="two columns have the same name"):
        raw_table(pd.DataFrame([[1, 2]], columns=["a", "a"]))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (np.array([1.0, 2.0]), "Expected 2D array, got 1D array instead.*Reshape your data"),
        (np.array(1.0), "Expected 2D array, got scalar array instead"),
        (np.ones((1, 1, 1)), "dim 3"),
        (np.ones((3, 0)), r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required"),
        ([[], []], r"0 feature\(s\)"),
        (pd.DataFrame(index=[0, 1]), r"0 feature\(s\)"),
        ({}, "no columns"),
        ([], "no rows"),
        ([1, 2], "Expected 2D array, got 1D array instead"),
        ([[1, 2], [3]], "row 1: it has 1 cells, but row 0 has 2"),
        ([{"a": 1}], "row 0: a row is a list"),
        (pd.Series([1.0]), "Expected 2D array, got 1D array instead"),
        (pl.DataFrame({"a": [1]}).lazy(), "lazy"),
        (SPARSE.csr_matrix([[1.0]]), r"\.toarray\(\)"),
        ("table", "not str"),
        (3, "not int"),
        ({"a": [1, 2], "b": [1]}, "column 'b': it has 1 cells, but column 'a' has 2"),
        ({"a": np.ones((2, 2))}, "one dimension"),
        ({"a": 3}, "column 'a': a column is a list or an array, not int"),
        ({"a": {1, 2}}, "not set"),
        ({"a": pd.DataFrame({"b": [1]})}, "column 'a'"),
    ],
)
def test_what_is_not_a_table_is_an_error(data: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        raw_table(data)


def test_columns_of_any_library_in_a_mapping() -> None:
    table = raw_table({"a": pd.Series([1, 2]), "b": pl.Series(["x", None]), "c": np.array([1.0, 2.0]), "d": range(2)})
    assert cells(table, "b") == ["x", None]
    assert cells(table, "d") == [0.0, 1.0]


def test_rows_that_are_arrays() -> None:
    assert cells(raw_table([np.array([1.0, 2.0]), np.array([3.0, 4.0])]), "x2") == [2.0, 4.0]


def test_frames_are_not_changed() -> None:
    frame = pd.DataFrame({"a": [1.0, np.nan], "b": ["x", None], "c": pd.Categorical(["p", "q"])})
    before = frame.copy(deep=True)
    raw_table(frame, kinds={"a": Kind.NOMINAL})
    pd.testing.assert_frame_equal(frame, before)


def test_huge_python_integers_are_an_error_not_a_crash() -> None:
    with pytest.raises(DataError, match="column 'x': row 0"):
        raw_table({"x": [10**400]})


def test_a_small_array_costs_little() -> None:
    array = np.random.default_rng(0).random((150, 4))
    raw_table(array)
    best = math.inf
    for _ in range(20):
        start = time.perf_counter()
        raw_table(array)
        best = min(best, time.perf_counter() - start)
    assert best < 1e-4


@given(st.lists(st.text(max_size=5) | st.none(), min_size=1, max_size=20))
@settings(max_examples=100, deadline=None)
def test_texts_are_kept_as_they_are(values: list[str | None]) -> None:
    assert cells(raw_table({"x": values}), "x") == values
