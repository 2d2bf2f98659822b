"""Raw columns: a table before a schema is known, and the conversion of cells and arrays to columns.

Readers and dataframe adapters produce a `RawTable`; inference proposes a schema for it; encoding turns both into a
`Dataset`.

Invariants: all columns have the same length. A `NumberColumn` holds finite doubles or NaN (missing). A `TextColumn`
holds each distinct text once; code -1 is missing.

The cells of one column of a text file are collected as numbers while all of them are, else as text. A plain number is a
decimal number that is not written like an identifier; ``007`` is not one.

Columns in memory are arrays or sequences of Python objects of one type. Booleans become the texts ``False`` and
``True``; dates and times become ISO text, in UTC if they have a time zone. None, NaN, NaT and pandas' NA are missing.
Row numbers in messages start at 0. No number is silently altered: an integer that a double cannot represent is an
error, and so is an infinity.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.concurrency import processors
from treewright.data.schema import Kind, LabelType, Schema
from treewright.errors import DataError
from treewright.wording import unknown_name

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers, with NaN for missing."""

    values: Floats


@dataclass(frozen=True)
class TextColumn:
    """A column of texts, each distinct text stored once.

    `labels` is the original type of the cells. `is_categorical` is True if `values` are categories in a given order
    (those of a dataframe) rather than in order of appearance; `ordered` is True if that order goes from low to high.
    """

    values: tuple[str, ...]
    codes: Codes
    labels: LabelType = LabelType.TEXT
    is_categorical: bool = False
    ordered: bool = False


@dataclass(frozen=True)
class RawTable:
    """Columns by name, in order, with their source.

    Parameters
    ----------
    columns : dict of str to NumberColumn or TextColumn
    n_rows : int
    source : str or None
        File name for messages; None for data handed over in memory.
    lines : array of int or None
        For text files, the 1-based line on which each row starts.
    declared : Schema or None
        The schema that the format itself declares (ARFF, C4.5 names).
    """

    columns: Mapping[str, NumberColumn | TextColumn]
    n_rows: int
    source: str | None = None
    lines: npt.NDArray[np.int64] | None = None
    declared: Schema | None = None

    def column(self, name: str) -> NumberColumn | TextColumn:
        """Return the column of that name, or raise with the nearest name."""
        if name not in self.columns:
            raise DataError(unknown_name("column", name, self.columns), source=self.source)
        return self.columns[name]

    def error(self, message: str, row: int | None = None, column: str | None = None) -> DataError:
        """Return an error with its location: the line of a file, or the row of a frame (from 0)."""
        if row is None or self.lines is not None:
            line = None if row is None or self.lines is None else int(self.lines[row])
            return DataError(message, source=self.source, line=line, column=column)
        location = f"row {row}" if column is None else f"row {row}, column {column!r}"
        return DataError(f"{location}: {message}", source=self.source)


def number_text(value: float) -> str:
    """Return the text of a number, the same for 1, 1.0 and numpy's 1.

    Examples
    --------
    >>> number_text(3.0), number_text(0.1), number_text(-2), number_text(1e300)
    ('3', '0.1', '-2', '1e+300')
    """
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) < 2.0**53 else repr(number)


def text_column(cells: Iterable[str | None], labels: LabelType = LabelType.TEXT) -> TextColumn:
    """Code texts by first appearance; None is missing.

    Examples
    --------
    >>> text_column(["b", None, "a", "b"]).codes.tolist()
    [0, -1, 1, 0]
    """
    known: dict[str | None, int] = {}
    codes = [-1 if cell is None else known.setdefault(cell, len(known)) for cell in cells]
    return TextColumn(tuple(text for text in known if text is not None), np.array(codes, dtype=np.int32), labels)


def numbers_as_text(column: NumberColumn) -> TextColumn:
    """Return the text form of a number column, distinct numbers in ascending order."""
    known = ~np.isnan(column.values)
    distinct, inverse = np.unique(column.values[known], return_inverse=True)
    codes = np.full(len(column.values), -1, dtype=np.int32)
    codes[known] = inverse
    whole = bool(np.all(distinct == np.floor(distinct)))
    labels = LabelType.INTEGER if whole else LabelType.NUMBER
    return TextColumn(tuple(number_text(value) for value in distinct.tolist()), codes, labels)


def stacked(tables: Sequence[RawTable]) -> RawTable:
    """Concatenate tables of the same columns; a column that is text in one of them becomes text.

    Examples
    --------
    >>> one = RawTable({"a": NumberColumn(np.array([1.0]))}, 1)
    >>> two = RawTable({"a": text_column(["x"])}, 1)
    >>> stacked([one, two]).columns["a"].values
    ('1', 'x')
    """
    columns: dict[str, NumberColumn | TextColumn] = {}
    for name in tables[0].columns:
        parts = [table.column(name) for table in tables]
        numbers = [part for part in parts if isinstance(part, NumberColumn)]
        if len(numbers) == len(parts):
            columns[name] = NumberColumn(np.concatenate([part.values for part in numbers]))
            continue
        texts = [part if isinstance(part, TextColumn) else numbers_as_text(part) for part in parts]
        cells = [(*text.values, None)[code] for text in texts for code in text.codes.tolist()]
        columns[name] = text_column(cells, texts[0].labels)
    return RawTable(columns, sum(table.n_rows for table in tables))


_PLAIN = re.compile(r"[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_IDENTIFIER = re.compile(rb"\0[+-]?0[0-9]")
_INFINITY = re.compile(r"[+-]?inf(?:inity)?", re.IGNORECASE)
_NUMBER_BYTES = b"0123456789+-.eE\0"


class OddCellError(Exception):
    """A cell that its column cannot hold; the reader adds file and line."""

    def __init__(self, index: int, message: str) -> None:
        super().__init__(message)
        self.index = index
        self.message = message


@dataclass
class NumberCells:
    """Collects the cells of a column as numbers, chunk by chunk.

    Parameters
    ----------
    missing : frozenset of str
    required : bool
        The column is declared numeric: leading zeros are allowed, and a cell that is not a number is an error.
        Otherwise the first such cell makes `add` return False.

    Examples
    --------
    >>> cells = NumberCells(frozenset({"?"}), required=False)
    >>> cells.add(["1", "?", "2.5"]), cells.add(["007"]), cells.column().values.tolist()
    (True, False, [1.0, nan, 2.5])
    """

    missing: frozenset[str]
    required: bool
    rows: int = 0
    known: int = 0
    odd: tuple[int, str] | None = None
    parts: list[Floats] = field(default_factory=list)

    def add(self, cells: Sequence[str]) -> bool:
        """Add a chunk; return False if the column turns out to be text."""
        known = cells
        if not self.missing.isdisjoint(cells):
            known = [cell for cell in cells if cell not in self.missing]
        numbers = self._converted(cells, known)
        if numbers is None:
            return False
        if len(known) < len(cells):
            chunk = np.full(len(cells), np.nan)
            chunk[[cell not in self.missing for cell in cells]] = numbers
            numbers = chunk
        self.parts.append(numbers)
        self.rows += len(cells)
        self.known += len(known)
        return True

    def _converted(self, cells: Sequence[str], known: Sequence[str]) -> Floats | None:
        """Return the numbers of the known cells, or None if one of them makes the column text.

        `float` accepts more than plain numbers, but nothing else that consists of `_NUMBER_BYTES` alone, so two
        scans of the joined chunk replace a match per cell. A chunk with anything else is checked cell by cell.
        """
        joined = "\0" + "\0".join(known)
        raw = joined.encode("ascii") if joined.isascii() else b"?"
        if not raw.translate(None, _NUMBER_BYTES) and (self.required or not _IDENTIFIER.search(raw)):
            with suppress(ValueError):
                plain = np.fromiter(map(float, known), dtype=np.float64, count=len(known))
                finite = np.isfinite(plain)
                if not finite.all():
                    self._note_odd(cells, known[int(np.argmin(finite))])
                return plain
        pattern = _DECIMAL if self.required else _PLAIN
        numbers = []
        for cell in known:
            if pattern.fullmatch(cell):
                numbers.append(float(cell))
            elif _INFINITY.fullmatch(cell):
                self._note_odd(cells, cell)
                numbers.append(np.nan)
            elif self.required:
                raise OddCellError(cells.index(cell), f"{_shown(cell)} is not a number")
            else:
                return None
        return np.array(numbers, dtype=np.float64)

    def _note_odd(self, cells: Sequence[str], cell: str) -> None:
        """Remember the first cell that is not finite: an error only if the column stays numeric."""
        message = f"{_shown(cell)} is not finite; declare the column nominal to keep it as text"
        if self.required:
            raise OddCellError(cells.index(cell), message)
        if self.odd is None:
            self.odd = (self.rows + cells.index(cell), message)

    def column(self) -> NumberColumn:
        """Return the collected column."""
        values = np.concatenate(self.parts) if self.parts else np.empty(0)
        self.parts.clear()
        return NumberColumn(values)


class TextCells:
    """Collects the cells of a column as texts, chunk by chunk.

    Parameters
    ----------
    missing : collection of str
    values : sequence of str
        Categories known beforehand; they come first, in this order.
    closed : bool
        Whether any other value is an error.

    Examples
    --------
    >>> cells = TextCells({"?"}, ["low", "high"])
    >>> cells.add(["high", "?", "other"])
    >>> cells.column().values, cells.column().codes.tolist()
    (('low', 'high', 'other'), [1, -1, 2])
    """

    def __init__(self, missing: Collection[str], values: Sequence[str] = (), closed: bool = False) -> None:
        self._values = list(values)
        self._codes = dict.fromkeys(missing, -1) | {value: code for code, value in enumerate(values)}
        self._closed = closed
        self._parts: list[Codes] = []

    def add(self, cells: Sequence[str]) -> None:
        """Add a chunk."""
        for cell in dict.fromkeys(cells):
            if cell not in self._codes:
                # A leading NUL marks a quoted text, which is a value and never a missing marker.
                value = cell.removeprefix("\0")
                code = self._codes.get(value, -1)
                if code < 0:
                    if self._closed:
                        message = f"{_shown(value)} is not among the declared values"
                        raise OddCellError(cells.index(cell), message)
                    code = len(self._values)
                    self._values.append(value)
                self._codes[cell] = code
                self._codes.setdefault(value, code)
        self._parts.append(np.fromiter(map(self._codes.__getitem__, cells), dtype=np.int32, count=len(cells)))

    def column(self) -> TextColumn:
        """Return the collected column."""
        self._parts = [np.concatenate(self._parts)] if self._parts else [np.empty(0, dtype=np.int32)]
        return TextColumn(tuple(self._values), self._parts[0], LabelType.TEXT)


def _shown(cell: str) -> str:
    """Return a cell for a message, shortened."""
    cell = cell.removeprefix("\0")
    return repr(cell if len(cell) <= 60 else cell[:57] + "...")


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
