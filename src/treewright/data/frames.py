"""Tables that are in memory already: arrays, dataframes of any library, lists of rows, columns by name.

Vocabulary
----------
frame
    A pandas or polars DataFrame, a pyarrow Table, or any other eager frame that narwhals knows. None of these
    libraries is imported here.
category order
    The order in which a pandas categorical, a polars Enum or a pyarrow dictionary lists its categories. It
    becomes the declared order, with categories that no row has. (The categories of a polars Categorical are
    shared by a whole process, so there the order of appearance counts.)

What is decided here
--------------------
* Columns of an array are called ``x1``, ``x2``, ... unless names are given. Frame names that are not text are
  turned into text if none of them is; a mix is an error.
* Booleans become the texts ``False`` and ``True``; moments become ISO text, in UTC if they have a time zone.
* None, NaN, NaT and pandas' NA are missing. Rows in messages count from 0.

Invariants
----------
The data handed over are never changed; a float64 array is not even copied. No number is silently altered: an
integer that a double cannot hold is an error, and so is an infinity.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright._base.errors import DataError
from treewright.data.raw import (
    Floats,
    NumberColumn,
    RawTable,
    TextColumn,
    number_text,
    numbers_as_text,
    text_column,
)
from treewright.data.schema import Kind, LabelType

_EXACT = 2**53
_BOOLEANS = ("False", "True")
_NUMBERS = (int, float, np.integer, np.floating, Decimal, Fraction)
_MOMENTS = (dt.datetime, dt.date, dt.time)


class CellTypeError(DataError, TypeError):
    """A cell, or a whole column, of a type that no column can hold."""


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
        if _has_infinity(values):
            row, position = (int(index) for index in np.argwhere(np.isinf(values))[0])
            raise _infinite(names[position], row)
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
        elif isinstance(row, (str, *_NUMBERS)) or row is None:
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
    return TextColumn(tuple(texts), coded, labels, declared=True, ordered=ordered)


def array_column(
    cells: npt.NDArray[Any], name: str, kind: Kind | None = None, empty: npt.NDArray[np.bool_] | None = None
) -> NumberColumn | TextColumn:
    """Convert a one-dimensional array; `empty` tells which cells are missing besides NaN.

    Examples
    --------
    >>> array_column(np.array([True, False]), "b").codes.tolist()
    [1, 0]
    """
    code = cells.dtype.kind
    if code == "b":
        if kind is Kind.NUMERIC:
            numbers = cells.astype(np.float64)
            return NumberColumn(numbers if empty is None else np.where(empty, np.nan, numbers))
        codes = cells.astype(np.int32)
        return TextColumn(_BOOLEANS, codes if empty is None else np.where(empty, -1, codes), LabelType.BOOLEAN)
    if code in "iu":
        values = cells.astype(np.float64)
        if cells.dtype.itemsize == 8 and len(cells) and np.abs(values).max() >= _EXACT:
            exact = [None if empty is not None and empty[row] else cell for row, cell in enumerate(cells.tolist())]
            return object_column(exact, name, kind)
    elif code == "f":
        values = cells if cells.dtype == np.float64 else cells.astype(np.float64)
    elif code == "c":
        raise CellTypeError("Complex data not supported", column=name)
    elif code == "M":
        return object_column(cells.astype("datetime64[us]").tolist(), name, kind)
    elif code in "UOT":
        return object_column(cells.tolist(), name, kind)
    else:
        raise CellTypeError(f"argument must be a string or a number, not {cells.dtype}", column=name)
    if empty is not None:
        values = np.where(empty, np.nan, values)
    if _has_infinity(values):
        raise _infinite(name, int(np.argmax(np.isinf(values))))
    column = NumberColumn(values)
    return column if kind in (None, Kind.NUMERIC) else numbers_as_text(column)


def object_column(cells: Sequence[Any], name: str, kind: Kind | None = None) -> NumberColumn | TextColumn:
    """Convert Python objects, which must all be of one sort.

    Examples
    --------
    >>> object_column([1, None, 2.5], "t").values.tolist()
    [1.0, nan, 2.5]
    """
    sorts = {type(cell): _sort(cell, name) for cell in _one_of_each_type(cells)}
    found = {sort for sort in sorts.values() if sort}
    if None in sorts.values():
        cells = [None if sorts[type(cell)] is None else cell for cell in cells]
    if "number" in found and any(cell is not None and _is_nan(cell) for cell in cells):
        cells = [None if cell is not None and _is_nan(cell) else cell for cell in cells]
        if len(found) > 1 and all(cell is None or sorts[type(cell)] != "number" for cell in cells):
            found.discard("number")  # a column of texts in which NaN is missing
    if len(found) > 1:
        first = next(cell for cell in cells if cell is not None)
        row, odd = next(
            (row, cell)
            for row, cell in enumerate(cells)
            if cell is not None and sorts[type(cell)] != sorts[type(first)]
        )
        raise DataError(f"row {row}: {odd!r:.60} is not a {sorts[type(first)]} as the cells before", column=name)
    if not found:
        if kind is Kind.NUMERIC:
            return NumberColumn(np.full(len(cells), np.nan))
        return TextColumn((), np.full(len(cells), -1, dtype=np.int32))
    sort = found.pop()
    if sort == "number":
        return _number_objects(cells, name, kind)
    if sort == "boolean":
        if kind is Kind.NUMERIC:
            return NumberColumn(np.array([np.nan if cell is None else float(cell) for cell in cells]))
        codes = np.array([-1 if cell is None else int(cell) for cell in cells], dtype=np.int32)
        return TextColumn(_BOOLEANS, codes, LabelType.BOOLEAN)
    if kind is Kind.NUMERIC:
        return _numbers_of_texts(cells, name)
    if sort == "moment":
        return text_column(None if cell is None else moment_text(cell) for cell in cells)
    return text_column(cell if cell is None or type(cell) is str else str.__str__(cell) for cell in cells)


def _is_nan(cell: Any) -> bool:
    return bool(cell != cell)  # noqa: PLR0124 - true of NaN alone, whatever type of number it is


def _one_of_each_type(cells: Iterable[Any]) -> list[Any]:
    return list({type(cell): cell for cell in cells}.values())


def _sort(cell: Any, name: str) -> str | None:
    """Return what sort of thing a cell is; None for a type that means missing."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(cell, str):
        return "text"
    if isinstance(cell, (bool, np.bool_)):
        return "boolean"
    if isinstance(cell, _NUMBERS):
        return "number"
    if isinstance(cell, _MOMENTS):
        return "moment"
    if isinstance(cell, (complex, np.complexfloating)):
        raise CellTypeError("Complex data not supported", column=name)
    raise CellTypeError(f"argument must be a string or a number, not {type(cell).__name__!r}", column=name)


def _number_objects(cells: Sequence[Any], name: str, kind: Kind | None) -> NumberColumn | TextColumn:
    nominal = kind not in (None, Kind.NUMERIC)
    values = np.full(len(cells), np.nan)
    inexact = False
    for row, cell in enumerate(cells):
        if cell is None:
            continue
        try:
            values[row] = float(cell)
        except OverflowError:
            values[row] = np.inf if not isinstance(cell, (int, np.integer)) else float(_EXACT)
        if np.isinf(values[row]):
            raise _infinite(name, row)
        if isinstance(cell, (int, np.integer)) and int(values[row]) != int(cell):
            if not nominal:
                raise too_large(name, row, int(cell))
            inexact = True
    column = NumberColumn(values)
    if not nominal:
        return column
    if not inexact:
        return numbers_as_text(column)
    # Exact integers keep their digits, in ascending order as numbers_as_text has them.
    texts = {cell: str(cell) for cell in sorted({int(cell) for cell in cells if cell is not None})}
    codes = {cell: code for code, cell in enumerate(texts)}
    coded = np.array([-1 if cell is None else codes[int(cell)] for cell in cells], dtype=np.int32)
    return TextColumn(tuple(texts.values()), coded, LabelType.INTEGER)


def _numbers_of_texts(cells: Sequence[Any], name: str) -> NumberColumn:
    """Parse texts of a column that was declared numeric, by the rules of text files."""
    from treewright.data.cells import NumberCells, OddCellError
    from treewright.data.schema import MISSING_MARKERS

    collector = NumberCells(frozenset(MISSING_MARKERS), required=True)
    try:
        collector.add(["" if cell is None else str(cell).strip() for cell in cells])
    except OddCellError as odd:
        raise DataError(f"row {odd.index}: {odd.message}", column=name) from None
    return collector.column()


def moment_text(cell: dt.datetime | dt.date | dt.time) -> str:
    """Return the ISO text of a moment, in UTC if it has a time zone.

    Examples
    --------
    >>> moment_text(dt.date(2020, 2, 1)), moment_text(dt.datetime(2020, 2, 1, 12, 30))
    ('2020-02-01', '2020-02-01T12:30:00')
    """
    if isinstance(cell, dt.datetime) and cell.tzinfo is not None:
        cell = cell.astimezone(dt.UTC)
    return cell.isoformat()


def too_large(name: str, row: int, value: int) -> DataError:
    """Return the error for an integer that a double cannot hold."""
    return DataError(
        f"row {row}: {value!s:.60} is beyond 2^53 and would be rounded; declare the column nominal if it is "
        "an identifier",
        column=name,
    )


def _has_infinity(values: Floats) -> bool:
    """Say whether a number is infinite; those that are missing do not count."""
    # Nearly every array is finite, and then its sum mostly is, which takes one pass and no memory.
    with np.errstate(over="ignore", invalid="ignore"):
        total = values.sum()
    return not np.isfinite(total) and bool(np.isinf(values).any())


def _infinite(name: str, row: int) -> DataError:
    return DataError(f"row {row}: Input contains infinity; a number must be finite", column=name)


__all__ = [
    "CellTypeError",
    "Floats",
    "array_column",
    "moment_text",
    "object_column",
    "raw_table",
    "too_large",
]
