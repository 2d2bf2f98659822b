"""The raw table: columns as they were read, before a schema is known.

Readers and dataframe adapters produce a `RawTable`; inference proposes a schema for it; encoding turns both into a
`Dataset`.

Invariants: all columns have the same length. A `NumberColumn` holds finite doubles or NaN (missing). A `TextColumn`
holds each distinct text once; code -1 is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treewright._base.errors import DataError
from treewright._base.near_names import unknown_name
from treewright.data.schema import LabelType, Schema

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]


@dataclass(frozen=True)
class NumberColumn:
    """Cells that all are numbers (or missing, as NaN)."""

    values: Floats


@dataclass(frozen=True)
class TextColumn:
    """Cells that are texts, each distinct text kept once.

    `labels` is the original type of the cells. `declared` is True if `values` are categories in a given order (those of
    a dataframe) rather than in order of appearance; `ordered` is True if that order goes from low to high.
    """

    values: tuple[str, ...]
    codes: Codes
    labels: LabelType = LabelType.TEXT
    declared: bool = False
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
    """Put tables of the same columns one below the other; a column that is text in one of them is text.

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
