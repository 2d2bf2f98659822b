"""Real servers for tests: PostgreSQL from Debian's packages, started here and stopped again, and Spark in this process.

Tests that ask for one that is not installed are skipped with a message; with ``TREEWRIGHT_ENGINES=required`` they fail.
"""

from __future__ import annotations

import atexit
import functools
import glob
import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from database_tables import cells_of, create, quoted
from treewright.counting.sql.connection import PostgreSQLConnection, SparkConnection
from treewright.counting.sql.engine import SqlEngine
from treewright.data.dataset import Dataset
from treewright.data.table_address import Table

REQUIRED = os.environ.get("TREEWRIGHT_ENGINES") == "required"


def absent(what: str) -> None:
    """Skip the test, or fail it where engines are required."""
    if REQUIRED:
        pytest.fail(f"{what} is not installed, and TREEWRIGHT_ENGINES=required")
    pytest.skip(f"{what} is not installed")


# -- PostgreSQL ------------------------------------------------------------------------------------------------------


def postgresql_programs() -> Path | None:
    """Return the folder of initdb and postgres, None where there is none."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).parent
    folders = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
    return Path(folders[-1]).parent if folders else None


@functools.cache
def _postgresql_folder(programs: Path) -> str:
    """Start a server on a socket in a folder of its own, once for all tests; an ordinary user runs it."""
    folder = tempfile.mkdtemp(prefix="tw-pg-")
    who: dict[str, Any] = {}
    if os.getuid() == 0:  # it refuses to run as root
        account = next(pwd.getpwnam(name) for name in ("postgres", "nobody") if _is_user(name))
        os.chown(folder, account.pw_uid, account.pw_gid)
        who = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
    data = f"{folder}/data"
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    subprocess.run(
        [programs / "initdb", "-D", data, "-U", "tester", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N"],
        check=True,
        **quiet,
        **who,
    )
    settings = ["listen_addresses=", "fsync=off", "max_connections=20", "shared_buffers=32MB"]
    options = [word for setting in settings for word in ("-c", setting)]
    server = subprocess.Popen([programs / "postgres", "-D", data, "-k", folder, *options], **quiet, **who)

    def stop() -> None:
        server.terminate()
        server.wait()
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(stop)
    return folder


def _is_user(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


def postgresql_url() -> str:
    """Return the URL of a running PostgreSQL; skip the test where there is none."""
    programs = postgresql_programs()
    if programs is None or importlib.util.find_spec("psycopg") is None:
        absent("PostgreSQL (postgresql and psycopg)")
        raise AssertionError
    url = f"postgresql://tester:topsecret@/postgres?host={_postgresql_folder(programs)}"
    _wait_for(url)
    return url


@functools.cache
def _wait_for(url: str) -> None:
    import psycopg

    for _ in range(200):
        try:
            psycopg.connect(url).close()
        except psycopg.OperationalError:
            time.sleep(0.1)
        else:
            return
    pytest.fail("PostgreSQL does not start")


def fill_postgresql(dataset: Dataset, name: str) -> Table:
    """Write the rows of a dataset to a table of that name and return its address."""
    import psycopg

    url = postgresql_url()
    statement, insert, rows = create(dataset, name, "postgresql")
    with psycopg.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {quoted(name)}")
        cursor.execute(statement)
        cursor.executemany(insert, rows)
    return Table(url, quoted(name))


def postgresql_engine(dataset: Dataset, name: str = "cases", **options: Any) -> SqlEngine:
    """Return an engine over the rows of a dataset in PostgreSQL."""
    table = fill_postgresql(dataset, name)
    connection = PostgreSQLConnection(table)
    try:
        return SqlEngine(connection, dataset.schema, source=dataset.source or "", **options)
    except BaseException:
        connection.close()
        raise


# -- Spark -----------------------------------------------------------------------------------------------------------


@functools.cache
def spark_session() -> Any:
    """Return a session in this process, one for all tests; skip the test where there is none."""
    if importlib.util.find_spec("pyspark") is None or shutil.which("java") is None:
        absent("Spark (pyspark and java)")
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "1g")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    atexit.register(session.stop)
    return session


def spark_engine(dataset: Dataset, **options: Any) -> SqlEngine:
    """Return an engine over the rows of a dataset in Spark."""
    session = spark_session()
    from pyspark.sql.types import DoubleType, StringType, StructField, StructType

    columns = cells_of(dataset)
    fields = [StructField(name, DoubleType() if numeric else StringType()) for name, numeric, _ in columns]
    rows = list(zip(*(cells for _, _, cells in columns), strict=True))
    frame = session.createDataFrame(rows, StructType(fields))
    return SqlEngine(SparkConnection(frame, dataset.source), dataset.schema, **options)
