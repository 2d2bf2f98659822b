"""Datasets with a key written to tables of each engine out of core, for tests of forests."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import duckdb

from dask_frames import cluster
from database_tables import cells_of, create, quoted
from servers import postgresql_url, spark_session
from treewright.counting.dask.engine import DaskEngine
from treewright.counting.row_sampling import BootstrapSamples
from treewright.counting.sql.connection import DuckDBRelation, PostgreSQLConnection, SparkConnection
from treewright.counting.sql.engine import SqlEngine
from treewright.data.dataset import Dataset
from treewright.data.table_address import Table

KEY = "the key"

Keys = Sequence[int] | Sequence[str]


def is_text(keys: Keys) -> bool:
    return isinstance(keys[0], str)


def duckdb_relation(keys: Keys, data: Dataset | None = None) -> Any:
    """Return a relation of the rows, in a connection of its own."""
    pa: Any = importlib.import_module("pyarrow")
    cells = [] if data is None else cells_of(data)
    arrays = {name: pa.array(some, type=pa.float64() if numeric else pa.string()) for name, numeric, some in cells}
    arrays[KEY] = pa.array(list(keys), type=pa.string() if is_text(keys) else pa.int64())
    return duckdb.connect().from_arrow(pa.table(arrays))


def postgresql_table(keys: Keys, data: Dataset | None = None, name: str = "keyed") -> Table:
    """Return the address of a table of the rows."""
    import psycopg

    url = postgresql_url()
    kind = "TEXT" if is_text(keys) else "BIGINT"
    statement, insert, rows = f"CREATE TABLE {quoted(name)} (", "", [() for _ in keys]
    marks = ["%s"]
    if data is not None:
        statement, insert, rows = create(data, name, "postgresql")
        statement = statement[:-1] + ", "
        marks *= len(rows[0]) + 1
    insert = f"INSERT INTO {quoted(name)} VALUES ({', '.join(marks)})"  # noqa: S608 - a test writes it
    with psycopg.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {quoted(name)}")
        cursor.execute(f"{statement}{quoted(KEY)} {kind})")
        cursor.executemany(insert, [(*row, key) for row, key in zip(rows, keys, strict=True)])
    return Table(url, quoted(name))


def spark_frame(keys: Keys, data: Dataset | None = None) -> Any:
    """Return a frame of the rows."""
    session = spark_session()
    from pyspark.sql.types import DoubleType, LongType, StringType, StructField, StructType

    cells = [] if data is None else cells_of(data)
    fields = [StructField(name, DoubleType() if numeric else StringType()) for name, numeric, _ in cells]
    fields.append(StructField(KEY, StringType() if is_text(keys) else LongType()))
    rows = list(zip(*(some for _, _, some in cells), keys, strict=True))
    return session.createDataFrame(rows, StructType(fields))


def dask_frame(keys: Keys, data: Dataset) -> Any:
    """Return a frame of the rows in three partitions."""
    import dask.dataframe
    import pandas

    arrays = {name: pandas.array(some, dtype="float64" if number else "str") for name, number, some in cells_of(data)}
    arrays[KEY] = pandas.array(list(keys), dtype="str" if is_text(keys) else "int64")
    return dask.dataframe.from_pandas(pandas.DataFrame(arrays), npartitions=3, sort=False)


def _duckdb(data: Dataset, keys: Keys, bootstraps: BootstrapSamples, **options: Any) -> Any:
    relation = duckdb_relation(keys, data)
    return SqlEngine(DuckDBRelation(relation, data.source), data.schema, bootstraps=bootstraps, **options)


def _postgresql(data: Dataset, keys: Keys, bootstraps: BootstrapSamples, **options: Any) -> Any:
    connection = PostgreSQLConnection(postgresql_table(keys, data))
    try:
        return SqlEngine(connection, data.schema, source=data.source, bootstraps=bootstraps, **options)
    except BaseException:
        connection.close()
        raise


def _spark(data: Dataset, keys: Keys, bootstraps: BootstrapSamples, **options: Any) -> Any:
    return SqlEngine(
        SparkConnection(spark_frame(keys, data), data.source), data.schema, bootstraps=bootstraps, **options
    )


def _dask(data: Dataset, keys: Keys, bootstraps: BootstrapSamples, **options: Any) -> Any:
    return DaskEngine(dask_frame(keys, data), data.schema, source=data.source, bootstraps=bootstraps, **options)


def at_work(engine: str) -> AbstractContextManager[Any]:
    """Return the context in which an engine is used: a cluster is the current one there."""
    current: AbstractContextManager[Any] = cluster().as_current() if engine == "dask cluster" else nullcontext()
    return current


KEYED: dict[str, Callable[..., Any]] = {
    "duckdb": _duckdb,
    "postgresql": _postgresql,
    "spark": _spark,
    "dask": _dask,
    "dask cluster": _dask,
}
"""Engines over the bootstrap samples of a forest, by name; they are used inside `at_work`."""
