"""Spark, by a session of PySpark: classic or Connect."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from treewright._base.errors import DataError, EngineError, ParameterError
from treewright._base.extras import import_extra
from treewright.counts.sql.columns import StoredColumn, stored_column
from treewright.counts.sql.connection import Answer, Connection, first_line, from_tuples, without
from treewright.counts.sql.dialect import SPARK
from treewright.counts.sql.over_duckdb import ending
from treewright.data.table import Table, files_of, secrets_of


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
