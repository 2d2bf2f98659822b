"""A connection to whoever runs the statements: one small class for each engine.

Vocabulary
----------
relation
    What stands after FROM: a quoted table name, or the function that reads files.
answer
    The columns that a statement returned, each as an array with a mask of its NULLs.

Invariants
----------
Only SELECT statements and our own temporary tables are ever run. Errors of a driver become `EngineError` without the
original behind them, because a driver's message may quote the password; what is quoted of it is masked.
"""

from __future__ import annotations

import abc
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright._base.errors import EngineError
from treewright.counts.sql.columns import StoredColumn
from treewright.counts.sql.dialect import Dialect


@dataclass(frozen=True)
class AnswerColumn:
    """Cells and where they are NULL."""

    cells: npt.NDArray[Any]
    null: npt.NDArray[np.bool_]

    def numbers(self) -> npt.NDArray[np.float64]:
        """Return doubles, NaN for NULL."""
        if self.cells.dtype != object:
            values = self.cells.astype(np.float64)
            return np.where(self.null, np.nan, values) if self.null.any() else values
        return np.array([np.nan if empty else float(cell) for cell, empty in zip(self.cells, self.null, strict=True)])

    def integers(self) -> npt.NDArray[np.int64]:
        """Return whole numbers, 0 for NULL; they come as doubles or decimals where an engine sums so."""
        if self.cells.dtype != object:
            return np.where(self.null, 0, self.cells).astype(np.int64)
        return np.array(
            [0 if empty else int(cell) for cell, empty in zip(self.cells, self.null, strict=True)], dtype=np.int64
        )

    def take(self, rows: npt.NDArray[Any]) -> AnswerColumn:
        """Return some of the cells."""
        return AnswerColumn(self.cells[rows], self.null[rows])


Answer = list[AnswerColumn]


class Connection(abc.ABC):
    """Runs statements of one dialect over one relation.

    Parameters
    ----------
    dialect : Dialect
    relation : str
        SQL for what stands after FROM.
    source : str or None
        For messages and provenance; without credentials.
    secrets : sequence of str
        What no message may contain.
    """

    def __init__(self, dialect: Dialect, relation: str, source: str | None, secrets: Sequence[str] = ()) -> None:
        self.dialect = dialect
        self.relation = relation
        self.source = source
        self._secrets = tuple(secrets)

    may_copy = False
    """Whether temporary tables of our own can be made."""

    @abc.abstractmethod
    def columns(self) -> list[StoredColumn]:
        """Return the columns of the relation."""

    @abc.abstractmethod
    def ask(self, statement: str) -> Answer:
        """Run a SELECT."""

    @abc.abstractmethod
    def run(self, statement: str) -> None:
        """Run a statement about a temporary table of our own."""

    @abc.abstractmethod
    def close(self) -> None:
        """Leave nothing behind."""

    def clean(self, message: object) -> str:
        """Return one line of a message without any secret."""
        return without(self._secrets, first_line(message))

    def _failed(self, what: str, error: BaseException) -> EngineError:
        place = f"{self.source}: " if self.source else ""
        return EngineError(f"{place}{self.dialect.name} {what}: {self.clean(error)}")


def first_line(message: object) -> str:
    """Return the first line of a message: drivers add the whole statement."""
    text = str(message).strip()
    return text.splitlines()[0] if text else type(message).__name__


def without(secrets: Sequence[str], line: str) -> str:
    """Return a line in which no secret can be read."""
    for secret in secrets:
        line = line.replace(secret, "***")
    return line


def from_tuples(rows: Sequence[Sequence[Any]], width: int) -> Answer:
    """Return what a driver fetched row by row."""
    columns: Iterable[Sequence[Any]] = zip(*rows, strict=True) if rows else ([] for _ in range(width))
    answer = []
    for column in columns:
        cells = np.empty(len(rows), dtype=object)
        cells[:] = column
        answer.append(AnswerColumn(cells, np.array([cell is None for cell in column], dtype=bool)))
    return answer
