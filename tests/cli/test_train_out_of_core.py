"""treewright train and predict on tables that stay where they are."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

import treewright
from cli.shell import LINE, WEATHER, Shell
from servers import fill_postgresql
from treewright.data.samples import sample


def test_several_files_are_learned_from_without_reading_them(shell: Shell) -> None:
    first, *days = WEATHER.splitlines()
    shell.write("part-1.csv", "\n".join([first, *days[:7]]) + "\n")
    shell.write("part-2.csv", "\n".join([first, *days[7:]]) + "\n")
    result = shell.fine("train", "part-*.csv", "--target", "play", "--finish-rows", "0")
    assert result.out.startswith("part-*.csv   14 rows, 4 nominal attributes\nC4.5   gain ratio")
    assert "counted by DuckDB" in result.out
    assert "8 nodes, 5 leaves, depth 2.  Training accuracy 100 %." in result.out
    assert result.out.endswith("Model written to part.model.json\n")
    assert "no accuracy estimate" in result.err
    shell.fine("train", "weather.csv", "--target", "play", "--folds", "0")
    theirs: Any = treewright.load("part.model.json")
    ours: Any = treewright.load("weather.model.json")
    assert theirs.tree.to_dict() == ours.tree.to_dict()


def test_an_engine_takes_one_file_and_json_has_the_scans(shell: Shell) -> None:
    document = shell.fine("train", "weather.csv", "-t", "play", "--engine", "duckdb", "--json", "--no-save").json
    assert (document["engine"], document["rows"], document["estimate"]) == ("DuckDB", 14, None)
    assert document["scans"] >= 2
    assert document["training_accuracy"] == 1.0


def test_numbers_are_predicted_from_a_database_file(shell: Shell) -> None:
    shell.write("line.csv", LINE)
    with duckdb.connect(str(shell.folder / "l.db")) as connection:
        connection.execute("CREATE TABLE line AS SELECT * FROM 'line.csv'")
    result = shell.fine("train", "duckdb:///l.db?table=line", "-t", "y", "-a", "cart", "--finish-rows", "0")
    assert "CART   variance, unpruned, counted by DuckDB" in result.out
    assert "Training root mean squared error 0." in result.out
    assert "Model written to line.model.json" in result.out
    select = shell.fine("predict", "line.model.json", "duckdb:///l.db?table=line", "--in-database").out
    with duckdb.connect(str(shell.folder / "l.db"), read_only=True) as connection:
        predicted = [row[0] for row in connection.execute(select).fetchall()]
    assert predicted == [1.5 * x for x in range(40)]
    shell.fine("predict", "line.model.json", "duckdb:///l.db?table=line", "--in-database", "-o", "p.sql", "--keep")
    assert shell.read("p.sql").startswith("SELECT o0 AS")
    assert "dialect" in shell.fine("predict", "line.model.json", "line.csv", "--in-database", "--json").json


def test_a_criterion_for_classes_is_refused_for_a_number(shell: Shell) -> None:
    shell.write("line.csv", LINE)
    for how in ((), ("--engine", "duckdb"), ("--engine", "duckdb", "--dry-run"), ("--missing-values", "surrogate")):
        result = shell("train", "line.csv", "-t", "y", "-a", "cart", "--criterion", "entropy", *how)
        assert "the criterion 'entropy' is for classes, and the target 'y' is a number" in result.error


def test_a_dry_run_prints_the_first_statement_and_the_scans(shell: Shell) -> None:
    result = shell.fine("train", "weather.csv", "-t", "play", "--engine", "duckdb", "--dry-run", "--max-depth", "3")
    assert result.out.startswith("SELECT GROUPING(")
    assert "depth + 3 in all: at most 6 to depth 3" in result.err  # C4.5 reads once more to prune
    result = shell.fine(
        "train", "weather.csv", "-t", "play", "--engine", "duckdb", "--dry-run", "--max-depth", "3", "-a", "cart"
    )
    assert "depth + 2 in all: at most 5 to depth 3" in result.err
    assert shell.files() == ["weather.csv"]
    plain = shell.fine("train", "weather.csv", "-t", "play", "--engine", "duckdb", "--dry-run", "--json").json
    assert plain["scans"] is None
    assert plain["statement"].startswith("SELECT")


def test_temporary_tables_are_made_only_where_they_are_allowed(shell: Shell) -> None:
    plain = ("train", "weather.csv", "-t", "play", "--engine", "duckdb", "--finish-rows", "0", "-a", "cart")
    shell.fine(*plain, "-o", "one.json")
    shell.fine(*plain, "-o", "two.json", "--temporary-tables")
    assert shell.read("one.json") == shell.read("two.json")


def test_a_state_is_kept_and_removed(shell: Shell) -> None:
    shell.fine("train", "weather.csv", "-t", "play", "--engine", "duckdb", "--finish-rows", "0", "--resume", "s.json")
    assert shell.files() == ["weather.csv", "weather.model.json"]
    shell.write("s.json", "{}")
    result = shell(
        "train", "weather.csv", "-t", "play", "--engine", "duckdb", "--finish-rows", "0", "--resume", "s.json"
    )
    assert result.code != 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("weather.csv", "--dry-run"), "--dry-run is for out-of-core tables"),
        (("weather.csv", "--finish-rows", "5"), "--finish-rows is for out-of-core tables"),
        (("no-*.csv",), "there is no such file"),
        (("mysql://db/x?table=t", "--engine", "duckdb"), "'mysql' is not a scheme"),
        (("weather.csv", "--engine", "postgresql"), "cannot be combined with weather.csv"),
        (("duckdb:///no.db?table=t",), "there is no such file"),
        (("duckdb:///no.db",), "say which table"),
        (("weather.csv", "--engine", "duckdb", "-a", "rules"), "Rules from C4.5: trained in memory only"),
        (("weather.csv", "--engine", "duckdb", "--folds", "5"), "--folds needs cases in memory"),
        (("weather.csv", "--engine", "duckdb", "-a", "cal2"), "CAL2: trained in memory only"),
        (("w*.csv", "--engine", "compiled"), "reads a file into memory"),
        (("postgresql://ann:hush@127.0.0.1:1/x?table=t",), "postgresql://ann:***@127.0.0.1:1/x"),
    ],
)
def test_what_cannot_be_done_is_reported_in_one_line(shell: Shell, arguments: tuple[str, ...], message: str) -> None:
    result = shell("train", *arguments, "-t", "play")
    assert message in result.err
    assert "hush" not in result.err
    assert "Traceback" not in result.err
    assert result.code in (1, 2, 3)


def test_a_select_is_for_trees(shell: Shell) -> None:
    shell.fine("rules", "weather.csv", "-t", "play", "-o", "r.json", "--folds", "0")
    assert "--in-database is for trees" in shell("predict", "r.json", "weather.csv", "--in-database").err


@pytest.mark.server
@pytest.mark.slow
def test_the_command_line_learns_and_predicts_in_postgresql(shell: Shell) -> None:
    import psycopg

    table = fill_postgresql(sample("play-tennis"), "weather")
    address = f"{table.url}&table=weather"
    done = shell.fine("train", address, "--target", "PlayTennis", "-o", "m.json", "--finish-rows", "0")
    assert "counted by PostgreSQL" in done.out
    assert "topsecret" not in done.out + done.err + shell.read("m.json")
    statement = shell.fine("predict", "m.json", address, "--in-database", "--json").json["statement"]
    with psycopg.connect(table.url) as connection:
        predicted = [row[0] for row in connection.execute(statement)]
    assert predicted == treewright.load("m.json").predict(sample("play-tennis")).tolist()


def test_a_forest_is_grown_by_an_engine_that_draws_rows_by_their_key(shell: Shell) -> None:
    with duckdb.connect() as connection:
        statement = "SELECT i AS id, 'a' || i % 3 AS a, 'b' || i % 5 AS b, i % 6 = 1 AS y FROM range(90) t(i)"
        connection.execute(f"COPY ({statement}) TO '{shell.folder / 'rows.parquet'}' (FORMAT parquet)")
    train = ("train", "rows.parquet", "-t", "y", "-a", "forest", "--trees", "3", "--engine", "duckdb")
    result = shell.fine(*train, "--key", "id", "--finish-rows", "0", "-o", "one.json")
    assert "3 trees" in result.out
    assert "scans." in result.out
    plain = shell.fine(*train, "--key", "id", "-o", "two.json", "--json").json
    assert (plain["trees"], plain["recipe"]["key"], plain["estimate"]) == (3, "id", None)
    assert shell.read("one.json") == shell.read("two.json")
    dry = shell.fine(*train, "--key", "id", "--dry-run", "--max-depth", "4")
    assert dry.out.startswith("SELECT GROUPING(")
    assert "2 so far, depth + 2 in all: at most 6 to depth 4" in dry.err
    assert "a column that identifies every row" in shell(*train).err
    assert "--resume is for ensembles in memory" in shell(*train, "--key", "id", "--resume", "one.json").err
    assert "trained in memory only" in shell(*train[:5], "adaboost", *train[8:]).err
    assert "--key is for out-of-core tables" in shell("train", "weather.csv", "-t", "play", "--key", "id").err
