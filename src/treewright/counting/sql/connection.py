"""Connections to databases: DuckDB, PostgreSQL and Spark.

A connection to whoever runs the statements: one small class for each engine. Invariants: Only SELECT statements and our
own temporary tables are ever run. Errors of a driver become `EngineError` without the original behind them, because a
driver's message may quote the password; what is quoted of it is masked.

DuckDB: files and database files in a connection of our own, or a relation in the user's.

PostgreSQL, by psycopg 3.

Spark, by a session of PySpark: classic or Connect.

From a table, a relation or a frame to the connection that counts it.
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


class PostgreSQLConnection(Connection):
    """A session of its own, in one transaction that only reads and sees one state of the table.

    Parameters
    ----------
    table : Table
    temporary : bool
        Whether temporary tables may be made.
    """

    def __init__(self, table: Table, *, temporary: bool = False) -> None:
        super().__init__(POSTGRESQL, POSTGRESQL.quoted(*table.parts), table.source, secrets_of(table.url))
        self.may_copy = temporary
        self._psycopg: Any = import_extra("psycopg", "postgresql", "learn from PostgreSQL")
        with self._told("cannot be reached"):
            self._connection = self._psycopg.connect(
                table.url, options="-c datestyle=ISO -c application_name=treewright"
            )
            # One state of the table for all levels, whoever writes to it meanwhile.
            self._connection.isolation_level = self._psycopg.IsolationLevel.REPEATABLE_READ
            self._connection.read_only = not temporary

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        try:
            yield
        except self._psycopg.Error as error:
            lost = getattr(self, "_connection", None) is not None and self._connection.closed
            raise self._failed("lost the connection" if lost else what, error) from None

    def ask(self, statement: str) -> Answer:
        """Run a SELECT."""
        with self._told("cannot answer"), self._connection.cursor() as cursor:
            cursor.execute(statement)
            return from_tuples(cursor.fetchall(), len(cursor.description))

    def columns(self) -> list[StoredColumn]:
        """Return the columns of the relation."""
        with self._told("cannot describe the table"), self._connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {self.relation} LIMIT 0")
            told = [(column.name, _enum_as_text(column.type_display)) for column in cursor.description]
        return [stored_column(name, name, kind, self.dialect) for name, kind in told]

    def run(self, statement: str) -> None:
        """Run a statement about a temporary table of our own."""
        with self._told("refuses a temporary table"), self._connection.cursor() as cursor:
            cursor.execute(statement)

    def close(self) -> None:
        """End the session; its temporary tables vanish with it."""
        self._connection.close()


def _enum_as_text(type_display: str) -> str:
    """Return the type; one that psycopg knows by its number only is of the user's making, mostly an ENUM."""
    return "text" if type_display.isdigit() else type_display


class SparkConnection(Connection):
    """A Spark session, classic or Connect.

    Parameters
    ----------
    frame : DataFrame
        What is counted; it is registered as a temporary view.
    source : str or None
    secrets : sequence of str
    stop : bool
        Whether the session is ours and ends with us.
    """

    def __init__(
        self, frame: Any, source: str | None = None, secrets: Sequence[str] = (), *, stop: bool = False
    ) -> None:
        view = f"treewright_rows_{id(self):x}"
        super().__init__(SPARK, SPARK.quoted(view), source, secrets)
        self._frame, self._view, self._stop = frame, view, stop
        self._session = frame.sparkSession
        self._errors: Any = import_extra("pyspark.errors", "spark", "learn with Spark").PySparkException
        with self._told("cannot read the table"):
            frame.createOrReplaceTempView(view)

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        try:
            yield
        except self._errors as error:
            raise self._failed(what, error) from None

    def ask(self, statement: str) -> Answer:
        """Run a SELECT."""
        with self._told("cannot answer"):
            result = self._session.sql(statement)
            return from_tuples(result.collect(), len(result.columns))

    def columns(self) -> list[StoredColumn]:
        """Return the columns of the relation."""
        fields = self._frame.schema.fields
        return [stored_column(field.name, field.name, field.dataType.simpleString(), self.dialect) for field in fields]

    def run(self, statement: str) -> None:
        """Refuse: Spark has no temporary tables, only views."""
        raise ParameterError("Spark has no temporary tables; learn without them")

    def close(self) -> None:
        """Drop the view, and end the session if it is ours."""
        with self._told("cannot drop its view"):
            self._session.catalog.dropTempView(self._view)
            if self._stop:
                self._session.stop()


def spark_connection(table: Table) -> SparkConnection:
    """Connect to the table of an address; a session that is running already is taken."""
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
        raise DataError("Spark counts Parquet files here", source=table.source)
    return files


def connect(source: Any, *, temporary: bool = False) -> Connection:
    """Connect to a `Table`, a DuckDB relation or a Spark frame.

    Parameters
    ----------
    source : Table, DuckDBPyRelation or DataFrame of Spark
    temporary : bool
        Whether a session of PostgreSQL has to be able to make temporary tables; else it only reads.
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
        f"a table outside memory is a treewright.Table, a DuckDB relation or a Spark frame, not {type(source).__name__}"
    )
