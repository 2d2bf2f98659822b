"""Tables in memory: arrays, dataframes, lists of rows, columns by name.

A frame is a pandas or polars DataFrame, a pyarrow Table, or any other eager frame that narwhals supports; none of these
libraries is imported here. The categories of a pandas categorical, a polars Enum or a pyarrow dictionary become the
categories of the column, in their order and including those that no row has. (A polars Categorical shares its
categories across the process, so there the order of appearance counts.)

Columns of an array are named ``x1``, ``x2``, ... unless names are given. Frame column names that are not text are
converted to text; a mix of both is an error.

Invariants: the caller's data is never modified, and a float64 array is not copied. `memory_columns` defines how cells
are converted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.data.columns import (
    NUMBERS,
    CellTypeError,
    NumberColumn,
    RawTable,
    TextColumn,
    array_column,
    has_infinity,
    infinite,
    number_text,
    numbers_as_text,
    object_column,
)
from treewright.data.schema import Kind
from treewright.errors import DataError


def raw_table(data: Any, *, kinds: Mapping[str, Kind] | None = None, names: Sequence[str] | None = None) -> RawTable:
    """Turn data in memory into a raw table.

    Parameters
    ----------
    data : array, frame, list of rows, or mapping of str to column
    kinds : mapping of str to Kind, optional
        Kinds that are known for some columns: numeric ones must hold numbers, others become text.
    names : sequence of str, optional
        Names for the columns of an array or of rows.

    Examples
    --------
    >>> table = raw_table({"wind": ["weak", None], "t": [20, 21.5]})
    >>> table.columns["wind"].codes.tolist(), table.columns["t"].values.tolist()
    ([0, -1], [20.0, 21.5])
    >>> list(raw_table([[1, "a"], [2, "b"]]).columns)
    ['x1', 'x2']
    """
    kinds = kinds or {}
    if isinstance(data, np.ndarray):
        return _from_array(data, kinds, names)
    if isinstance(data, Mapping):
        return _from_columns({_text_name(name): column for name, column in data.items()}, kinds)
    if isinstance(data, (list, tuple)):
        return _from_rows(data, kinds, names)
    if hasattr(data, "toarray") and hasattr(data, "nnz"):
        raise CellTypeError("sparse data are not supported; call .toarray() to make them dense")
    return _from_frame(data, kinds)


def _from_array(data: npt.NDArray[Any], kinds: Mapping[str, Kind], names: Sequence[str] | None) -> RawTable:
    if data.ndim != 2:
        if data.ndim < 2:
            shape = "scalar" if data.ndim == 0 else "1D"
            raise DataError(
                f"Expected 2D array, got {shape} array instead. Reshape your data with .reshape(-1, 1) if it "
                "is one column or .reshape(1, -1) if it is one row"
            )
        raise DataError(f"Found array with dim {data.ndim}, while dim 2 is expected")
    rows, width = data.shape
    if width == 0:
        raise DataError(f"Found array with 0 feature(s) (shape={data.shape}) while a minimum of 1 is required.")
    names = _array_names(width) if names is None else _given_names(names, width)
    if isinstance(data, np.ma.MaskedArray):
        if data.dtype.kind in "iuf" and not data.mask.any():
            data = data.data
        else:
            data = np.array(data.tolist(), dtype=object).reshape(data.shape)  # masked cells become None
    data = np.asarray(data)
    if data.dtype.kind == "f" and not kinds:
        values = data if data.dtype == np.float64 else data.astype(np.float64)
        if has_infinity(values):
            row, position = (int(index) for index in np.argwhere(np.isinf(values))[0])
            raise infinite(names[position], row)
        return RawTable(dict(zip(names, map(NumberColumn, values.T), strict=True)), rows)
    return _from_columns({name: data[:, position] for position, name in enumerate(names)}, kinds)


@lru_cache(maxsize=64)
def _array_names(width: int) -> tuple[str, ...]:
    return tuple(f"x{position}" for position in range(1, width + 1))


def _given_names(names: Sequence[str], width: int) -> Sequence[str]:
    if len(names) != width:
        raise DataError(f"{len(names)} names are given for {width} columns")
    for position, name in enumerate(names):
        _text_name(name)
        if name in names[:position]:
            raise DataError("two columns have this name", column=name)
    return names


def _text_name(name: Any) -> str:
    if not isinstance(name, str):
        raise CellTypeError(f"a column name must be text, not {name!r}")
    return name


def _from_rows(data: Sequence[Any], kinds: Mapping[str, Kind], names: Sequence[str] | None) -> RawTable:
    if not data:
        if names:
            return _from_columns({name: [] for name in names}, kinds)
        raise DataError("there are no rows, so it is unknown how many columns there are")
    rows: list[Sequence[Any]] = []
    for number, row in enumerate(data):
        if isinstance(row, np.ndarray) and row.ndim == 1:
            rows.append(row.tolist() if row.dtype.kind in "biufUO" else list(row))
        elif isinstance(row, (list, tuple)):
            rows.append(row)
        elif isinstance(row, (str, *NUMBERS)) or row is None:
            raise DataError("Expected 2D array, got 1D array instead. Reshape your data: a table is a list of rows")
        else:
            raise CellTypeError(f"row {number}: a row is a list of cells, not {type(row).__name__}")
        if len(rows[-1]) != len(rows[0]):
            raise DataError(f"row {number}: it has {len(rows[-1])} cells, but row 0 has {len(rows[0])}")
    width = len(rows[0])
    if width == 0:
        raise DataError(f"Found array with 0 feature(s) (shape=({len(rows)}, 0)) while a minimum of 1 is required.")
    names = _array_names(width) if names is None else _given_names(names, width)
    return _from_columns(dict(zip(names, zip(*rows, strict=True), strict=True)), kinds)


def _from_columns(data: Mapping[str, Any], kinds: Mapping[str, Kind]) -> RawTable:
    if not data:
        raise DataError("there are no columns: 0 feature(s) while a minimum of 1 is required.")
    columns: dict[str, NumberColumn | TextColumn] = {}
    rows, first = -1, ""
    for name, cells in data.items():
        column = _column(cells, name, kinds.get(name))
        length = len(column.values) if isinstance(column, NumberColumn) else len(column.codes)
        if rows < 0:
            rows, first = length, name
        elif length != rows:
            raise DataError(f"it has {length} cells, but column {first!r} has {rows}", column=name)
        columns[name] = column
    return RawTable(columns, rows)


def _column(cells: Any, name: str, kind: Kind | None) -> NumberColumn | TextColumn:
    if isinstance(cells, np.ndarray):
        if cells.ndim != 1:
            raise DataError(f"a column has one dimension, not {cells.ndim}", column=name)
        if isinstance(cells, np.ma.MaskedArray):
            return object_column(cells.tolist(), name, kind)
        return array_column(cells, name, kind)
    if isinstance(cells, (list, tuple, range)):
        return object_column(cells, name, kind)
    if hasattr(cells, "dtype") or hasattr(cells, "type"):
        import narwhals as nw

        try:
            return _series_column(nw.from_native(cells, series_only=True), name, kind)
        except TypeError:
            raise CellTypeError(f"a column cannot be a {type(cells).__name__}", column=name) from None
    raise CellTypeError(f"a column is a list or an array, not {type(cells).__name__}", column=name)


def _from_frame(data: Any, kinds: Mapping[str, Kind]) -> RawTable:
    import narwhals as nw
    from narwhals.exceptions import DuplicateError

    try:
        frame = nw.from_native(data, eager_only=True)
        given: list[Any] = frame.columns
    except DuplicateError as error:
        raise DataError(f"two columns have the same name: {error}") from error
    except TypeError as error:
        if hasattr(data, "collect"):
            raise CellTypeError("the frame is lazy; call .collect() first") from error
        if getattr(data, "ndim", None) == 1:
            raise DataError("Expected 2D array, got 1D array instead. Reshape your data into a frame") from error
        if hasattr(data, "__array__"):
            return _from_array(np.asarray(data), kinds, None)
        raise CellTypeError(
            f"a table is an array, a frame, a list of rows or a mapping of columns, not {type(data).__name__}"
        ) from error
    text = [isinstance(name, str) for name in given]
    if not all(text) and any(text):
        raise CellTypeError("some column names are text and others are not; make all of them text")
    names = given if all(text) else [str(name) for name in given]
    if len(set(names)) < len(names):
        raise DataError("two columns have the same name once their names are turned into text")
    if not names:
        raise DataError(f"0 feature(s) (shape={frame.shape}) while a minimum of 1 is required.")
    columns = {
        name: _series_column(series, name, kinds.get(name))
        for name, series in zip(names, frame.iter_columns(), strict=True)
    }
    return RawTable(columns, frame.shape[0])


def _series_column(series: Any, name: str, kind: Kind | None) -> NumberColumn | TextColumn:
    """Convert a narwhals series."""
    import narwhals as nw

    dtype = series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        if dtype.is_decimal():
            series = series.cast(nw.Float64)
        empty = series.is_null().to_numpy() if series.null_count() else None
        if empty is None:
            return array_column(series.to_numpy(), name, kind)
        filled = series.fill_null(False if dtype == nw.Boolean else 0).to_numpy()
        return array_column(filled, name, kind, np.asarray(empty, dtype=bool))
    if dtype in (nw.Categorical, nw.Enum):
        return _categorical_column(series, name, kind)
    if dtype in (nw.List, nw.Struct, nw.Array, nw.Binary, nw.Duration):
        raise CellTypeError(f"argument must be a string or a number, not {dtype}", column=name)
    return object_column(series.to_list(), name, kind)


def _categorical_column(series: Any, name: str, kind: Kind | None) -> NumberColumn | TextColumn:
    """Convert a categorical series; its categories give the values and their order."""
    native = series.to_native()
    categories: list[Any] | None = None
    if hasattr(native, "cat") and hasattr(native.cat, "categories"):  # pandas
        categories = native.cat.categories.tolist()
    elif hasattr(native, "unify_dictionaries"):  # pyarrow
        unified = native.unify_dictionaries()
        categories = unified.chunk(0).dictionary.to_pylist() if unified.num_chunks else []
    elif hasattr(series.dtype, "categories"):  # polars Enum
        categories = list(series.dtype.categories)
    cells = series.to_list()
    if kind is Kind.NUMERIC or categories is None:
        return object_column(cells, name, kind)
    base = object_column(categories, name, None)
    if isinstance(base, NumberColumn):
        texts: Sequence[str] = [number_text(value) for value in base.values.tolist()]
        labels = numbers_as_text(base).labels
    else:
        texts = [base.values[code] for code in base.codes.tolist() if code >= 0]
        labels = base.labels
    codes = dict(zip(categories, range(len(categories)), strict=True))
    coded = np.fromiter((codes.get(cell, -1) for cell in cells), dtype=np.int32, count=len(cells))
    ordered = bool(getattr(getattr(native, "cat", None), "ordered", False))
    return TextColumn(tuple(texts), coded, labels, is_categorical=True, ordered=ordered)
