"""Collecting the cells of one column of a text file: as numbers while all of them are, else as text.

A plain number is a decimal number that is not written like an identifier; ``007`` is not one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from treewright.data.raw import Codes, Floats, NumberColumn, TextColumn
from treewright.data.schema import LabelType

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
        numbers = self._plain(known)
        if numbers is None:
            numbers = self._checked(cells, known)
            if numbers is None:
                return False
        elif not np.isfinite(numbers).all():
            self._note_odd(cells, known[int(np.argmin(np.isfinite(numbers)))])
        if len(known) < len(cells):
            chunk = np.full(len(cells), np.nan)
            chunk[[cell not in self.missing for cell in cells]] = numbers
            numbers = chunk
        self.parts.append(numbers)
        self.rows += len(cells)
        self.known += len(known)
        return True

    def _plain(self, known: Sequence[str]) -> Floats | None:
        """Convert cells if all are plain numbers, else return None.

        `float` accepts more than plain numbers, but nothing else that consists of `_NUMBER_BYTES` alone, so two
        scans of the joined chunk replace a match per cell.
        """
        joined = "\0" + "\0".join(known)
        if not joined.isascii():
            return None
        raw = joined.encode("ascii")
        if raw.translate(None, _NUMBER_BYTES) or (not self.required and _IDENTIFIER.search(raw)):
            return None
        try:
            return np.fromiter(map(float, known), dtype=np.float64, count=len(known))
        except ValueError:
            return None

    def _checked(self, cells: Sequence[str], known: Sequence[str]) -> Floats | None:
        """Convert cell by cell, for a chunk with infinities or cells that are not numbers."""
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
