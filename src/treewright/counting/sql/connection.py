"""Connections to databases: DuckDB (files, database files, relations), PostgreSQL (psycopg 3) and Spark (PySpark).

Invariants: only SELECT statements and statements about the library's own temporary tables are run. Errors of a driver
become `EngineError` without the original error as context, because the message of a driver may quote the password;
secrets in the message are masked.
"""

from __future__ import annotations

import abc
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.concurrency import interruptible
from treewright.counting.sql.dialect import DUCKDB, POSTGRESQL, SPARK, Dialect, Family, StoredColumn, stored_column
from treewright.data.schema import MISSING_MARKERS
from treewright.data.table_address import Table, files_of, secrets_of
from treewright.errors import DataError, EngineError, ParameterError
from treewright.lazy_import import import_extra


@dataclass(frozen=True)
class ResultColumn:
    """A column of a result: cells, and which of them are NULL."""

    cells: npt.NDArray[Any]
    null: npt.NDArray[np.bool_]

    def numbers(self) -> npt.NDArray[np.float64]:
        """Return doubles, NaN for NULL."""
        if self.cells.dtype != object:
            values = self.cells.astype(np.float64)
            return np.where(self.null, np.nan, values) if self.null.any() else values
        return np.array([np.nan if empty else float(cell) for cell, empty in zip(self.cells, self.null, strict=True)])

    def integers(self) -> npt.NDArray[np.int64]:
        """Return integers, 0 for NULL; some engines return sums of integers as doubles or decimals."""
        if self.cells.dtype != object:
            return np.where(self.null, 0, self.cells).astype(np.int64)
        return np.array(
            [0 if empty else int(cell) for cell, empty in zip(self.cells, self.null, strict=True)], dtype=np.int64
        )

    def take(self, rows: npt.NDArray[Any]) -> ResultColumn:
        """Return some of the cells."""
        return ResultColumn(self.cells[rows], self.null[rows])


QueryResult = list[ResultColumn]


class Connection(abc.ABC):
    """Runs statements of one dialect over one relation.

    Parameters
    ----------
    dialect : Dialect
    relation : str
        SQL of the relation in FROM.
    source : str or None
        For messages and provenance; without credentials.
    secrets : sequence of str
        Texts that are masked in messages.
    """

    def __init__(self, dialect: Dialect, relation: str, source: str | None, secrets: Sequence[str] = ()) -> None:
        self.dialect = dialect
        self.relation = relation
        self.source = source
        self._secrets = tuple(secrets)

    may_copy = False
    """Whether the connection can create temporary tables."""

    @abc.abstractmethod
    def columns(self) -> list[StoredColumn]:
        """Return the columns of the relation."""

    @abc.abstractmethod
    def query(self, statement: str) -> QueryResult:
        """Run a SELECT."""

    @abc.abstractmethod
    def run(self, statement: str) -> None:
        """Run a statement that creates or drops a temporary table."""

    @abc.abstractmethod
    def close(self) -> None:
        """Close the connection and remove temporary objects."""

    def clean(self, message: object) -> str:
        """Return the first line of a message with secrets masked."""
        return without(self._secrets, first_line(message))

    def _failed(self, what: str, error: BaseException) -> EngineError:
        prefix = f"{self.source}: " if self.source else ""
        return EngineError(f"{prefix}{self.dialect.name} {what}: {self.clean(error)}")


def first_line(message: object) -> str:
    """Return the first line of a message; drivers append the statement."""
    text = str(message).strip()
    return text.splitlines()[0] if text else type(message).__name__


def without(secrets: Sequence[str], line: str) -> str:
    """Return a line with secrets masked."""
    for secret in secrets:
        line = line.replace(secret, "***")
    return line


def from_tuples(rows: Sequence[Sequence[Any]], width: int) -> QueryResult:
    """Return the result of a driver that fetches row by row."""
    columns: Iterable[Sequence[Any]] = zip(*rows, strict=True) if rows else ([] for _ in range(width))
    result = []
    for column in columns:
        cells = np.empty(len(rows), dtype=object)
        cells[:] = column
        result.append(ResultColumn(cells, np.array([cell is None for cell in column], dtype=bool)))
    return result


MEMORY = 2 * 1024**3
"""Memory limit of DuckDB in bytes; beyond it DuckDB writes to disk."""


class _DuckDB(Connection):
    """Base class of the connections to DuckDB."""

    @abc.abstractmethod
    def _relation_of(self, statement: str) -> Any:
        """Return the relation of a statement, to be fetched."""

    def query(self, statement: str) -> QueryResult:
        """Run a SELECT."""
        with self._engine_errors("cannot answer"):
            fetched = self._relation_of(statement).fetchnumpy()
        return [_masked(cells) for cells in fetched.values()]

    @contextmanager
    def _engine_errors(self, what: str) -> Iterator[None]:
        import duckdb

        try:
            with interruptible():
                yield
        except duckdb.Error as error:
            raise self._failed(what, error) from None


def _masked(cells: npt.NDArray[Any]) -> ResultColumn:
    if isinstance(cells, np.ma.MaskedArray):
        return ResultColumn(cells.data, np.ma.getmaskarray(cells))
    if cells.dtype == object:
        return ResultColumn(cells, np.array([cell is None for cell in cells.tolist()], dtype=bool))
    return ResultColumn(cells, np.zeros(len(cells), dtype=bool))


class DuckDBConnection(_DuckDB):
    """A new connection to DuckDB, over files or over a database file opened read-only.

    Parameters
    ----------
    table : Table
    memory : int
        Memory limit in bytes; beyond it DuckDB writes to disk.
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
            with self._engine_errors("cannot be opened"):
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
            raise DataError(f"files of several formats: {', '.join(sorted(endings))}", source=pattern)
        if endings == {".parquet"}:
            self._names = _parquet_names(self._connection, files[0])
            return f"READ_PARQUET({listed}, hive_partitioning = false)"
        if endings <= {".csv", ".tsv", ".txt"}:
            return self._text_files(files, listed, prefer_tab=endings == {".tsv"})
        raise DataError("DuckDB reads only Parquet, CSV and TSV files here", source=pattern)

    def _text_files(self, files: list[str], listed: str, *, prefer_tab: bool) -> str:
        from treewright.data.csv import find_delimiter
        from treewright.data.text_file import TextSource

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
        from treewright.data.csv import header_of

        names = header_of(path, delimiter)
        return ", ".join(f"{self.dialect.text(name)}: 'VARCHAR'" for name in names)

    def _relation_of(self, statement: str) -> Any:
        return self._connection.execute(statement)

    def columns(self) -> list[StoredColumn]:
        """Return the columns of the relation."""
        with self._engine_errors("cannot describe the table"):
            described = self._connection.execute(f"DESCRIBE SELECT * FROM {self.relation}").fetchall()
        names = (
            self._names
            if self._names is not None and len(self._names) == len(described)
            else [row[0] for row in described]
        )
        found = [
            stored_column(name, row[0], str(row[1]), self.dialect) for name, row in zip(names, described, strict=True)
        ]
        if self._cells is None:
            return found
        return [StoredColumn(column.name, column.stored, column.type, Family.CELL) for column in found]

    def run(self, statement: str) -> None:
        """Run a statement that creates or drops a temporary table."""
        with self._engine_errors("refuses a temporary table"):
            self._connection.execute(statement)

    def close(self) -> None:
        """Close the database and remove what was written to disk."""
        if self._connection is not None:
            self._connection.close()
        self._folder.cleanup()


def ending(path: str) -> str:
    """Return the suffix of a file name without that of the compression."""
    return os.path.splitext(path.removesuffix(".gz"))[1].lower()


def _parquet_names(connection: Any, path: str) -> list[str]:
    """Return the column names as the file spells them; DuckDB renames columns whose names differ in case only."""
    tree = connection.execute("SELECT name, num_children FROM parquet_schema(?)", [path]).fetchall()
    return [name for name, _ in tree[1:]] if not any(children for _, children in tree[1:]) else []


class DuckDBRelation(_DuckDB):
    """A relation in the connection of the user."""

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
        """Raise: the connection belongs to the user."""
        raise ParameterError("temporary tables need a treewright.Table; a DuckDB relation is read-only")

    def close(self) -> None:
        """Do nothing: the connection belongs to the user."""


class PostgreSQLConnection(Connection):
    """A new session, in one transaction that sees one state of the table.

    Parameters
    ----------
    table : Table
    temporary : bool
        Whether temporary tables may be created; otherwise the transaction is read-only.
    """

    def __init__(self, table: Table, *, temporary: bool = False) -> None:
        super().__init__(POSTGRESQL, POSTGRESQL.quoted(*table.parts), table.source, secrets_of(table.url))
        self.may_copy = temporary
        self._psycopg: Any = import_extra("psycopg", "postgresql", "learn from PostgreSQL")
        with self._engine_errors("cannot be reached"):
            self._connection = self._psycopg.connect(
                table.url, options="-c datestyle=ISO -c application_name=treewright"
            )
            # One state of the table for all levels, even if others write to it.
            self._connection.isolation_level = self._psycopg.IsolationLevel.REPEATABLE_READ
            self._connection.read_only = not temporary

    @contextmanager
    def _engine_errors(self, what: str) -> Iterator[None]:
        try:
            yield
        except self._psycopg.Error as error:
            lost = getattr(self, "_connection", None) is not None and self._connection.closed
            raise self._failed("lost the connection" if lost else what, error) from None

    def query(self, statement: str) -> QueryResult:
        """Run a SELECT."""
        with self._engine_errors("cannot answer"), self._connection.cursor() as cursor:
            cursor.execute(statement)
            return from_tuples(cursor.fetchall(), len(cursor.description))

    def columns(self) -> list[StoredColumn]:
        """Return the columns of the relation."""
        with self._engine_errors("cannot describe the table"), self._connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {self.relation} LIMIT 0")
            described = [(column.name, _enum_as_text(column.type_display)) for column in cursor.description]
        return [stored_column(name, name, kind, self.dialect) for name, kind in described]

    def run(self, statement: str) -> None:
        """Run a statement that creates or drops a temporary table."""
        with self._engine_errors("refuses a temporary table"), self._connection.cursor() as cursor:
            cursor.execute(statement)

    def close(self) -> None:
        """End the session, which drops its temporary tables."""
        self._connection.close()


def _enum_as_text(type_display: str) -> str:
    """Return the type; a type that psycopg knows only by number is user-defined, in most cases an ENUM."""
    return "text" if type_display.isdigit() else type_display


class SparkConnection(Connection):
    """A Spark session, classic or Connect.

    Parameters
    ----------
    frame : DataFrame
        The frame that is counted; it is registered as a temporary view.
    source : str or None
    secrets : sequence of str
    stop : bool
        Whether to stop the session when the connection is closed.
    """

    def __init__(
        self, frame: Any, source: str | None = None, secrets: Sequence[str] = (), *, stop: bool = False
    ) -> None:
        view = f"treewright_rows_{id(self):x}"
        super().__init__(SPARK, SPARK.quoted(view), source, secrets)
        self._frame, self._view, self._stop = frame, view, stop
        self._session = frame.sparkSession
        self._errors: Any = import_extra("pyspark.errors", "spark", "learn with Spark").PySparkException
        with self._engine_errors("cannot read the table"):
            frame.createOrReplaceTempView(view)

    @contextmanager
    def _engine_errors(self, what: str) -> Iterator[None]:
        try:
            yield
        except self._errors as error:
            raise self._failed(what, error) from None

    def query(self, statement: str) -> QueryResult:
        """Run a SELECT."""
        with self._engine_errors("cannot answer"):
            result = self._session.sql(statement)
            return from_tuples(result.collect(), len(result.columns))

    def columns(self) -> list[StoredColumn]:
        """Return the columns of the relation."""
        fields = self._frame.schema.fields
        return [stored_column(field.name, field.name, field.dataType.simpleString(), self.dialect) for field in fields]

    def run(self, statement: str) -> None:
        """Raise: Spark has no temporary tables, only views."""
        raise ParameterError("Spark has no temporary tables; train without them")

    def close(self) -> None:
        """Drop the view, and stop the session if it was started for this connection."""
        with self._engine_errors("cannot drop its view"):
            self._session.catalog.dropTempView(self._view)
            if self._stop:
                self._session.stop()


def spark_connection(table: Table) -> SparkConnection:
    """Connect to the table of an address; an active session is reused."""
    sql = import_extra("pyspark.sql", "spark", "learn with Spark")
    failure: Any = import_extra("pyspark.errors", "spark", "learn with Spark").PySparkException
    files = _files(table) if table.is_file else []
    by_connect = table.url.startswith("sc://")
    if by_connect:
        import_extra("grpc", "spark-connect", "reach Spark by Connect")
    running = sql.SparkSession.getActiveSession()
    builder = sql.SparkSession.builder.appName("treewright")
    secrets = secrets_of(table.url)
    session: Any = None
    try:
        if by_connect:
            session = builder.remote(table.url).getOrCreate()
        else:
            host = "" if table.is_file else table.url.removeprefix("spark://").strip("/")
            session = running or builder.master(f"spark://{host}" if host else "local[*]").getOrCreate()
        frame = session.read.parquet(*files) if files else session.table(SPARK.quoted(*table.parts))
        return SparkConnection(frame, table.source, secrets, stop=running is None)
    except failure as error:
        if running is None and session is not None:
            session.stop()
        reason = without(secrets, first_line(error))
        raise EngineError(f"{table.source}: Spark cannot read the table: {reason}") from None


def _files(table: Table) -> list[str]:
    files = [os.path.abspath(path) for path in files_of(table.path)]
    if not files:
        raise DataError("there is no such file", source=table.source)
    if {ending(path) for path in files} != {".parquet"}:
        raise DataError("Spark reads only Parquet files here", source=table.source)
    return files


def connect(source: Any, *, temporary: bool = False) -> Connection:
    """Connect to a `Table`, a DuckDB relation or a Spark frame.

    Parameters
    ----------
    source : Table, DuckDBPyRelation or DataFrame of Spark
    temporary : bool
        Whether a session of PostgreSQL may create temporary tables; otherwise it is read-only.
    """
    module = type(source).__module__.split(".")[0].lstrip("_")
    engine = source.engine if isinstance(source, Table) else module
    if engine == "duckdb":
        return DuckDBConnection(source) if isinstance(source, Table) else DuckDBRelation(source)
    if engine == "postgresql" and isinstance(source, Table):
        return PostgreSQLConnection(source, temporary=temporary)
    if engine in ("spark", "pyspark"):
        return spark_connection(source) if isinstance(source, Table) else SparkConnection(source)
    raise ParameterError(
        f"the source must be a treewright.Table, a DuckDB relation or a Spark frame, not {type(source).__name__}"
    )
