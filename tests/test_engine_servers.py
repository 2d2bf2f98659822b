"""Real servers: PostgreSQL and Spark learn to the same bytes, keep secrets, and survive a lost connection."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path
from typing import Any

import duckdb
import pytest

import treewright
from engine_tables import random_table
from servers import fill_postgresql, postgresql_engine, postgresql_url, spark_engine, spark_session
from treewright.counting.sql.connection import PostgreSQLConnection, SparkConnection, connect
from treewright.counting.sql.engine import SqlEngine
from treewright.counting.sql.prediction import prediction_statement
from treewright.data.samples import sample
from treewright.data.table_address import Table
from treewright.errors import DataError, EngineError, MissingExtraError
from treewright.fitting.learn import fit
from treewright.fitting.out_of_core import fit_over
from treewright.learners.recipe import CART, Stopping
from treewright.plans import c45, cart, chaid, id3
from treewright.tree.io.model_file import model_to_json

PLANS: dict[str, Any] = {
    "id3": id3(),
    "c45": c45(),
    "cart": cart(),
    "chaid": chaid(min_samples_split=10, min_samples_leaf=3),
}


@pytest.mark.server
@pytest.mark.slow
@pytest.mark.parametrize("few_numbers", [20_000, 3])
@pytest.mark.parametrize("name", PLANS)
def test_postgresql_gives_the_same_bytes(name: str, few_numbers: int) -> None:
    data = random_table(301, rows=150, missing=name != "c45")
    with postgresql_engine(data, few_numbers=few_numbers) as engine:
        there = fit_over(engine, PLANS[name], finish_rows=0)
    assert model_to_json(there) == model_to_json(fit(data, PLANS[name]))


@pytest.mark.server
@pytest.mark.slow
@pytest.mark.parametrize("name", PLANS)
def test_spark_gives_the_same_bytes(name: str) -> None:
    data = sample("contact-lenses") if name != "cart" else random_table(301, rows=60)
    plan = PLANS[name] if name != "cart" else cart(stopping=Stopping(max_depth=2))
    with spark_engine(data, few_numbers=20 if name == "cart" else 20_000) as engine:
        there = fit_over(engine, plan, finish_rows=0)
    assert model_to_json(there) == model_to_json(fit(data, plan))


@pytest.mark.server
@pytest.mark.slow
def test_types_of_postgresql_are_understood() -> None:
    import psycopg

    url = postgresql_url()
    with psycopg.connect(url) as connection:
        connection.execute("DROP TABLE IF EXISTS types; DROP TYPE IF EXISTS mood")
        connection.execute("CREATE TYPE mood AS ENUM ('sad', 'glad')")
        connection.execute(
            "CREATE TABLE types AS SELECT i AS id, (i % 3)::smallint AS small, (i / 7.0)::numeric(8, 3) AS money, "
            "i % 2 = 0 AS flag, date '2020-01-01' + i % 3 AS day, ('v' || i % 2)::varchar(5) AS code, "
            "'NaN'::float8 AS nothing, (CASE WHEN i % 2 = 0 THEN 'sad' ELSE 'glad' END)::mood AS y "
            "FROM generate_series(1, 60) i"
        )
    table = Table(url, "types")
    with SqlEngine.over(connect(table), "y") as engine:
        schema = engine.schema
        assert engine.incomplete() == {"nothing": 60}
    kinds = {column.name: str(column.kind) for column in schema.columns}
    assert kinds["money"] == "numeric"
    assert schema.column("flag").values == ("False", "True")
    assert schema.column("day").values == ("2020-01-01", "2020-01-02", "2020-01-03")
    assert schema.classes == ("glad", "sad")


@pytest.mark.server
@pytest.mark.slow
def test_the_password_is_in_no_message_and_no_model() -> None:
    table = fill_postgresql(sample("play-tennis"), "weather")
    model = treewright.fit(table, id3(), target="PlayTennis", finish_rows=0)
    assert "topsecret" not in model_to_json(model)
    assert "***" in str(model.provenance["source"])
    with pytest.raises(EngineError) as caught:
        treewright.fit(Table(table.url, "no such table"), id3(), target="y")
    assert "topsecret" not in str(caught.value)
    assert caught.value.__cause__ is None
    wrong = Table(table.url.replace("tester:topsecret@/postgres", "tester:topsecret@/nowhere"), "t")
    with pytest.raises(EngineError, match="PostgreSQL cannot be reached") as caught:
        treewright.fit(wrong, id3(), target="y")
    assert "topsecret" not in str(caught.value)


@pytest.mark.server
@pytest.mark.slow
def test_nothing_but_reading_is_allowed_in_the_session() -> None:
    table = fill_postgresql(sample("play-tennis"), "weather")
    connection = PostgreSQLConnection(table)
    with pytest.raises(EngineError, match="read-only"):
        connection.run('DELETE FROM "weather"')
    connection.close()
    allowed = PostgreSQLConnection(table, temporary=True)
    allowed.run("CREATE TEMPORARY TABLE own AS SELECT 1")
    allowed.close()


@pytest.mark.server
@pytest.mark.slow
def test_temporary_tables_of_postgresql_change_nothing_and_vanish(monkeypatch: pytest.MonkeyPatch) -> None:
    import psycopg

    monkeypatch.setattr("treewright.counting.sql.engine.LEVELS_PER_COPY", 2)
    data = random_table(301, rows=150)
    table = fill_postgresql(data, "cases")
    connection = PostgreSQLConnection(table, temporary=True)
    with SqlEngine(connection, data.schema, source="cases", temporary=True) as engine:
        there = fit_over(engine, cart(), finish_rows=0)
        assert engine._copies is not None
        assert engine._copies.made
    assert model_to_json(there) == model_to_json(fit(data, cart()))
    with psycopg.connect(table.url) as other:
        assert other.execute("SELECT count(*) FROM pg_class WHERE relname LIKE 'treewright%'").fetchone() == (0,)


class _Killed(PostgreSQLConnection):
    """A session whose server process ends in the middle of a statement of the third level."""

    statements_left = 3

    def query(self, statement: str) -> Any:
        if type(self).statements_left == 0:
            import psycopg

            number = self._connection.info.backend_pid
            with psycopg.connect(postgresql_url(), autocommit=True) as other:
                other.execute("SELECT pg_terminate_backend(%s, 5000)", [number])
        type(self).statements_left -= 1
        return super().query(statement)


@pytest.mark.server
@pytest.mark.slow
@pytest.mark.parametrize("finish", [0, 25])
def test_learning_goes_on_after_the_server_ended_the_session(tmp_path: Path, finish: int) -> None:
    data = random_table(303, rows=250)
    plan = CART(stopping=Stopping(max_depth=6))
    table = fill_postgresql(data, "cases")
    state = tmp_path / "state.json"
    _Killed.statements_left = 4  # one about all columns, and those of three levels
    engine = SqlEngine(_Killed(table), data.schema, source="cases")
    with pytest.raises(EngineError, match="PostgreSQL lost the connection"):
        fit_over(engine, plan, finish_rows=finish, state=state)
    engine.shut()
    assert state.exists()
    with postgresql_engine(data) as again:
        model = fit_over(again, plan, finish_rows=finish, state=state)
    assert model_to_json(model) == model_to_json(fit(data, plan))
    assert not state.exists()


class _KilledInside(PostgreSQLConnection):
    """A session whose server process ends while it works on a statement of the third level."""

    statements_left = 0

    def query(self, statement: str) -> Any:
        if type(self).statements_left == 0:
            # The same statement, which now takes its time: whoever ends the session meets it at work.
            statement = f"WITH slow AS MATERIALIZED (SELECT pg_sleep(60)) SELECT q.* FROM slow, ({statement}) q"  # noqa: S608
            threading.Thread(target=self._end_when_busy, args=[self._connection.info.backend_pid]).start()
        type(self).statements_left -= 1
        return super().query(statement)

    def _end_when_busy(self, number: int) -> None:
        import psycopg

        asleep = "SELECT count(*) FROM pg_stat_activity WHERE pid = %s AND wait_event = 'PgSleep'"
        with psycopg.connect(postgresql_url(), autocommit=True) as other:
            while other.execute(asleep, [number]).fetchone() == (0,):
                time.sleep(0.01)
            other.execute("SELECT pg_terminate_backend(%s)", [number])


@pytest.mark.server
@pytest.mark.slow
def test_learning_goes_on_after_the_session_was_ended_inside_a_statement_of_level_three(tmp_path: Path) -> None:
    data = random_table(303, rows=250)
    plan = CART(stopping=Stopping(max_depth=6))
    table = fill_postgresql(data, "cases")
    state = tmp_path / "state.json"
    _KilledInside.statements_left = 4  # one about all columns, and those of three levels
    levels: list[int] = []
    engine = SqlEngine(_KilledInside(table), data.schema, source="cases")
    with pytest.raises(EngineError, match="PostgreSQL lost the connection"):
        fit_over(engine, plan, finish_rows=0, state=state, on_level=lambda depth, _: levels.append(depth))
    engine.shut()
    assert levels == [0, 1, 2, 3]
    with postgresql_engine(data) as again:
        model = fit_over(again, plan, finish_rows=0, state=state)
    assert model_to_json(model) == model_to_json(fit(data, plan))
    assert not state.exists()


@pytest.mark.server
@pytest.mark.slow
def test_spark_frames_and_selects_work_and_leave_no_view() -> None:
    session = spark_session()
    before = {table.name for table in session.catalog.listTables()}
    frame = session.createDataFrame(
        [("a", 1.0, "yes"), ("b", 2.0, "no"), ("a", None, "yes")], "x string, z double, y string"
    )
    model = treewright.fit(frame, id3(), target="y", finish_rows=0)
    assert model.tree.n_leaves == 2
    connection = SparkConnection(frame)
    statement = prediction_statement(model, connection.columns(), connection.relation, connection.dialect)
    assert [row[0] for row in session.sql(statement).collect()] == ["yes", "no", "yes"]
    connection.close()
    assert {table.name for table in session.catalog.listTables()} == before


@pytest.mark.server
@pytest.mark.slow
def test_spark_reads_files_and_tables_of_its_catalogue(tmp_path: Path) -> None:
    session = spark_session()
    frame = session.createDataFrame([("a", "yes"), ("b", "no"), ("a", "yes")], "x string, y string")
    path = tmp_path / "t.parquet"
    rows = "SELECT * FROM (VALUES ('a', 'yes'), ('b', 'no'), ('a', 'yes')) t(x, y)"
    duckdb.sql(f"COPY ({rows}) TO '{path}' (FORMAT parquet)")
    by_file = treewright.fit(Table(str(path), engine="spark"), id3(), target="y", finish_rows=0)
    frame.createOrReplaceTempView("cases")
    by_name = treewright.fit(Table("spark://", "cases"), id3(), target="y", finish_rows=0)
    session.catalog.dropTempView("cases")
    assert by_file.tree.to_dict() == by_name.tree.to_dict()
    assert session.range(1).count() == 1  # the session was there before, and stays
    with pytest.raises(DataError, match="no such file"):
        connect(Table(str(tmp_path / "no-*.parquet"), engine="spark"))
    (tmp_path / "t.csv").touch()
    with pytest.raises(DataError, match="Parquet"):
        connect(Table(str(tmp_path / "t.csv"), engine="spark"))
    with pytest.raises(EngineError, match="Spark cannot"):
        treewright.fit(Table("spark://", "nothing"), id3(), target="y")


def test_spark_connect_reports_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspark")
    monkeypatch.setitem(sys.modules, "grpc", None)
    with pytest.raises(MissingExtraError, match=r"spark-connect"):
        connect(Table("sc://localhost", "cases"))
