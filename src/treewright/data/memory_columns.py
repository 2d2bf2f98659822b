"""Columns in memory: arrays, and sequences of Python objects of one type.

Booleans become the texts ``False`` and ``True``; dates and times become ISO text, in UTC if they have a time zone.
None, NaN, NaT and pandas' NA are missing. Row numbers in messages start at 0. No number is silently altered: an integer
that a double cannot represent is an error, and so is an infinity.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright._base.errors import DataError
from treewright._base.processors import processors
from treewright.data.raw import Floats, NumberColumn, TextColumn, numbers_as_text, text_column
from treewright.data.schema import Kind, LabelType

MANY_CELLS = 4_000_000
"""From this many numbers on, several threads search for infinities."""

_EXACT = 2**53
_BOOLEANS = ("False", "True")
NUMBERS = (int, float, np.integer, np.floating, Decimal, Fraction)
_MOMENTS = (dt.datetime, dt.date, dt.time)


class CellTypeError(DataError, TypeError):
    """A cell, or a whole column, of a type that no column can hold."""


def array_column(
    cells: npt.NDArray[Any], name: str, kind: Kind | None = None, empty: npt.NDArray[np.bool_] | None = None
) -> NumberColumn | TextColumn:
    """Convert a one-dimensional array; `empty` marks missing cells besides NaN.

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
    if has_infinity(values):
        raise infinite(name, int(np.argmax(np.isinf(values))))
    column = NumberColumn(values)
    return column if kind in (None, Kind.NUMERIC) else numbers_as_text(column)


def object_column(cells: Sequence[Any], name: str, kind: Kind | None = None) -> NumberColumn | TextColumn:
    """Convert Python objects, which must all be of one type (text, boolean, number, or date and time).

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
    """Return the type of a cell; None for a type that means missing."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(cell, str):
        return "text"
    if isinstance(cell, (bool, np.bool_)):
        return "boolean"
    if isinstance(cell, NUMBERS):
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
            raise infinite(name, row)
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
    """Parse the texts of a column declared numeric, by the rules for text files."""
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


def has_infinity(values: Floats) -> bool:
    """Return True if a number is infinite (NaN is missing)."""
    # A finite sum proves that all numbers are finite; it takes one pass and no memory.
    if values.size < MANY_CELLS:
        total = _sum(values)
    else:
        with ThreadPoolExecutor(processors()) as pool:
            total = sum(pool.map(_sum, np.array_split(values, processors())))
    return not isfinite(total) and bool(np.isinf(values).any())


def _sum(values: Floats) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        return float(values.sum())


def infinite(name: str, row: int) -> DataError:
    """Return the error for a number that is infinite."""
    return DataError(f"row {row}: Input contains infinity; a number must be finite", column=name)
