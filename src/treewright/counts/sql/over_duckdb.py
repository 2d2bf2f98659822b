"""DuckDB: files and database files in a connection of our own, or a relation in the user's."""

from __future__ import annotations

import abc
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright._base.errors import DataError, ParameterError
from treewright.counts.sql.columns import Family, StoredColumn, stored_column
from treewright.counts.sql.connection import Answer, AnswerColumn, Connection
from treewright.counts.sql.dialect import DUCKDB
from treewright.data.duckdb_interrupt import interruptible
from treewright.data.schema import MISSING_MARKERS
from treewright.data.table import Table, files_of

MEMORY = 2 * 1024**3
"""Bytes that our own DuckDB may take before it goes to disk."""


class _DuckDB(Connection):
    """What our own DuckDB and the relation of a user have in common."""

    @abc.abstractmethod
    def _relation_of(self, statement: str) -> Any:
        """Return what DuckDB gives for a statement, to be fetched."""

    def ask(self, statement: str) -> Answer:
        """Run a SELECT."""
        with self._told("cannot answer"):
            fetched = self._relation_of(statement).fetchnumpy()
        return [_masked(cells) for cells in fetched.values()]

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        import duckdb

        try:
            with interruptible():
                yield
        except duckdb.Error as error:
            raise self._failed(what, error) from None


def _masked(cells: npt.NDArray[Any]) -> AnswerColumn:
    if isinstance(cells, np.ma.MaskedArray):
        return AnswerColumn(cells.data, np.ma.getmaskarray(cells))
    if cells.dtype == object:
        return AnswerColumn(cells, np.array([cell is None for cell in cells.tolist()], dtype=bool))
    return AnswerColumn(cells, np.zeros(len(cells), dtype=bool))


class DuckDBConnection(_DuckDB):
    """Our own DuckDB: over files, or over a database file that is opened for reading only.

    Parameters
    ----------
    table : Table
    memory : int
        Bytes that it may take before it goes to disk.
    threads : int or None
    """

    def __init__(self, table: Table, *, memory: int = MEMORY, threads: int | None = None) -> None:
        import duckdb

        super().__init__(DUCKDB, "", table.source)
        self.may_copy = True
        self._folder = tempfile.TemporaryDirectory(prefix="treewright-")
        config: dict[str, Any] = {
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "memory_limit": f"{memory // 1024**2}MB",
            "preserve_insertion_order": "false",
            "temp_directory": self._folder.name,
        }
        if threads is not None:
            config["threads"] = threads
        self._cells: list[str] | None = None
        self._names: list[str] | None = None
        self._connection: Any = None
        try:
            with self._told("cannot be opened"):
                self._open(table, duckdb, config)
        except BaseException:
            self.close()
            raise

    def _open(self, table: Table, duckdb: Any, config: dict[str, Any]) -> None:
        if table.is_file:
            self._connection = duckdb.connect(":memory:", config=config)
            self.relation = self._files(table.path)
            return
        if not os.path.exists(table.path):
            raise DataError("there is no such file", source=table.shown)
        self._connection = duckdb.connect(table.path, read_only=True, config=config)
        self.relation = self.dialect.quoted(*table.parts)

    def _files(self, pattern: str) -> str:
        files = files_of(pattern)
        if not files:
            raise DataError("there is no such file", source=pattern)
        listed = "[" + ", ".join(self.dialect.text(os.path.abspath(path)) for path in files) + "]"
        endings = {ending(path) for path in files}
        if len(endings) > 1:
            raise DataError(f"files of several kinds: {', '.join(sorted(endings))}", source=pattern)
        if endings == {".parquet"}:
            self._names = _parquet_names(self._connection, files[0])
            return f"READ_PARQUET({listed}, hive_partitioning = false)"
        if endings <= {".csv", ".tsv", ".txt"}:
            return self._text_files(files, listed, prefer_tab=endings == {".tsv"})
        raise DataError("DuckDB counts Parquet, CSV and TSV files here", source=pattern)

    def _text_files(self, files: list[str], listed: str, *, prefer_tab: bool) -> str:
        from treewright.data.read_text import find_delimiter
        from treewright.data.text_source import TextSource

        delimiter = find_delimiter(TextSource(files[0]), None, prefer_tab)
        markers = ", ".join(self.dialect.text(marker) for marker in MISSING_MARKERS)
        self._cells = []
        return (
            f"READ_CSV({listed}, all_varchar = true, header = true, auto_detect = false, quote = '\"', escape = '\"', "
            f"delim = {self.dialect.text(delimiter)}, nullstr = [{markers}], allow_quoted_nulls = true, "
            f"null_padding = false, strict_mode = true, ignore_errors = false, "
            f"columns = {{{self._text_columns(files[0], delimiter)}}})"
        )

    def _text_columns(self, path: str, delimiter: str) -> str:
        from treewright.data.read_text import header_of

        names = header_of(path, delimiter)
        return ", ".join(f"{self.dialect.text(name)}: 'VARCHAR'" for name in names)

    def _relation_of(self, statement: str) -> Any:
        return self._connection.execute(statement)

    def columns(self) -> list[StoredColumn]:
        """Return the columns of the relation."""
        with self._told("cannot describe the table"):
            told = self._connection.execute(f"DESCRIBE SELECT * FROM {self.relation}").fetchall()
        names = self._names if self._names is not None and len(self._names) == len(told) else [row[0] for row in told]
        found = [stored_column(name, row[0], str(row[1]), self.dialect) for name, row in zip(names, told, strict=True)]
        if self._cells is None:
            return found
        return [StoredColumn(column.name, column.stored, column.type, Family.CELL) for column in found]

    def run(self, statement: str) -> None:
        """Run a statement about a temporary table of our own."""
        with self._told("refuses a temporary table"):
            self._connection.execute(statement)

    def close(self) -> None:
        """Close the database and remove what was written to disk."""
        if self._connection is not None:
            self._connection.close()
        self._folder.cleanup()


def ending(path: str) -> str:
    """Return how the name of a file ends, compression apart."""
    return os.path.splitext(path.removesuffix(".gz"))[1].lower()


def _parquet_names(connection: Any, path: str) -> list[str]:
    """Return the names of the columns as the file spells them: DuckDB renames those that differ in case only."""
    tree = connection.execute("SELECT name, num_children FROM parquet_schema(?)", [path]).fetchall()
    return [name for name, _ in tree[1:]] if not any(children for _, children in tree[1:]) else []


class DuckDBRelation(_DuckDB):
    """A relation that the user made, in the user's own connection."""

    def __init__(self, relation: Any, source: str | None = None) -> None:
        super().__init__(DUCKDB, DUCKDB.quoted("treewright_rows"), source)
        self._relation = relation

    def _relation_of(self, statement: str) -> Any:
        return self._relation.query("treewright_rows", statement)

    def columns(self) -> list[StoredColumn]:
        """Return the columns of the relation."""
        pairs = zip(self._relation.columns, self._relation.types, strict=True)
        return [stored_column(name, name, str(kind), self.dialect) for name, kind in pairs]

    def run(self, statement: str) -> None:
        """Refuse: the connection is the user's."""
        raise ParameterError("a DuckDB relation is only read; temporary tables need a Table")

    def close(self) -> None:
        """Do nothing: the connection is the user's."""
