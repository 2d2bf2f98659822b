"""From a table, a relation or a frame to the connection that counts it."""

from __future__ import annotations

from typing import Any

from treewright._base.errors import ParameterError
from treewright.counts.sql.connection import Connection
from treewright.data.table import Table


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
        from treewright.counts.sql.over_duckdb import DuckDBConnection, DuckDBRelation

        return DuckDBConnection(source) if isinstance(source, Table) else DuckDBRelation(source)
    if engine == "postgresql" and isinstance(source, Table):
        from treewright.counts.sql.over_postgresql import PostgreSQLConnection

        return PostgreSQLConnection(source, temporary=temporary)
    if engine in ("spark", "pyspark"):
        from treewright.counts.sql.over_spark import SparkConnection, spark_connection

        return spark_connection(source) if isinstance(source, Table) else SparkConnection(source)
    raise ParameterError(
        f"a table outside memory is a treewright.Table, a DuckDB relation or a Spark frame, not {type(source).__name__}"
    )
