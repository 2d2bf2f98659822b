"""Learning where the data live: models of the same bytes as in memory, refusals before hours are spent, resuming."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import treewright
from database_tables import duckdb_engine
from engine_tables import random_table
from treewright.counting.sql.connection import DuckDBConnection, DuckDBRelation
from treewright.counting.sql.engine import SqlEngine
from treewright.data.infer import Overrides
from treewright.data.samples import sample
from treewright.ensembles.plan import forest
from treewright.ensembles.random_forest import grow_forest_by_row_id
from treewright.errors import DataError, DataWarning, EngineError, ParameterError
from treewright.fitting.learn import fit
from treewright.fitting.out_of_core import fit_over, fit_table, most_scans
from treewright.learners.recipe import Recipe
from treewright.plans import c45, c45_rules, cal2, cart, chaid, id3
from treewright.tree.forest import Forest
from treewright.tree.io.model_file import model_to_json
from treewright.tree.model import TreeModel

PLANS: dict[str, Any] = {
    "id3": id3(),
    "id3 pruned": id3(prune="mdl"),
    "c45": c45(),
    "c45 unpruned": c45(prune=False, min_objects=1),
    "c45 without raising": c45(raising=False),
    "c45 subset": c45(subset=True),
    "cart": cart(),
    "cart pruned": cart(prune="cost_complexity", alpha=0.01),
    "chaid": chaid(min_samples_split=10, min_samples_leaf=3),
    "chaid pruned": chaid(min_samples_split=10, min_samples_leaf=2, alpha_split=0.5, prune="mdl"),
}

SHORT = ("id3", "id3 pruned", "c45 unpruned", "chaid")
"""Plans of the short tier: those that take a tenth of the time of the others."""


@pytest.mark.parametrize(
    "name", [name if name in SHORT else pytest.param(name, marks=pytest.mark.full) for name in PLANS]
)
def test_the_saved_model_is_that_of_memory_byte_for_byte(name: str) -> None:
    data = random_table(101, rows=120, missing="c45" not in name)
    expected = model_to_json(fit(data, PLANS[name]))
    engine = duckdb_engine(data, few_numbers=5)
    assert model_to_json(fit_over(engine, PLANS[name], finish_rows=0)) == expected


@pytest.mark.parametrize("name", ["id3", "c45", "cart", "chaid"])
def test_a_small_table_is_fetched_and_learned_in_memory(name: str) -> None:
    data = random_table(103, rows=60)  # with missing values, which C4.5 splits into fractions in memory
    engine = duckdb_engine(data)
    assert model_to_json(fit_over(engine, PLANS[name])) == model_to_json(fit(data, PLANS[name]))


def test_the_lecture_tables_give_the_same_bytes() -> None:
    for name in ("play-tennis", "contact-lenses", "restaurant"):
        for plan in (id3(), c45(), cart(), chaid(min_samples_split=4, min_samples_leaf=1)):
            data = sample(name)
            assert model_to_json(fit_over(duckdb_engine(data), plan, finish_rows=0)) == model_to_json(fit(data, plan))


def test_pruning_reads_the_table_once_more_and_examining_does_not() -> None:
    data = random_table(101, rows=120, missing=False)
    plain, pruned = duckdb_engine(data), duckdb_engine(data)
    fit_over(plain, c45(prune=False, collapse=False), finish_rows=0)
    fit_over(pruned, c45(raising=False), finish_rows=0)
    assert pruned.scans == plain.scans + 1


def test_class_weights_and_costs_are_those_of_memory() -> None:
    data = random_table(105, rows=100)
    names = data.schema.classes
    weights = {names[0]: 3.0, names[1]: 0.0}
    here = fit(data, cart(), class_weights=weights)
    factors = [weights.get(name, 1.0) for name in names]
    there = fit_over(duckdb_engine(data, class_factors=factors), cart(), finish_rows=0)
    assert there.tree.to_dict() == here.tree.to_dict()


def test_fit_takes_a_relation_and_a_table(tmp_path: Path) -> None:
    statement = (
        "SELECT i % 2 = 0 AS even, i % 3 AS rest, CASE WHEN i % 4 = 0 THEN 'yes' ELSE 'no' END AS y FROM range(64) t(i)"
    )
    connection = duckdb.connect()
    by_relation = treewright.fit(connection.sql(statement), id3(), target="y", finish_rows=0)
    path = tmp_path / "t.parquet"
    connection.execute(f"COPY ({statement}) TO '{path}' (FORMAT parquet)")
    by_file = treewright.fit(treewright.Table(str(path)), id3(), target="y", finish_rows=0)
    in_memory = treewright.fit(treewright.read(path, "y", nominal_limit=10), id3())
    assert by_relation.tree.to_dict() == by_file.tree.to_dict() == in_memory.tree.to_dict()
    assert model_to_json(by_file) == model_to_json(in_memory)
    by_name = treewright.fit(str(path), id3(), target="y", engine="duckdb", finish_rows=0)
    assert model_to_json(by_name) == model_to_json(by_file)
    with pytest.raises(ParameterError, match="cannot be combined with"):
        treewright.fit(treewright.Table(str(path)), id3(), target="y", engine="postgresql")
    with pytest.raises(ParameterError, match="not str"):
        treewright.fit(str(path), id3(), target="y")
    again = treewright.fit(treewright.Table(str(path)), id3(), schema=by_file.schema, class_weights={"yes": 2.0})
    assert again.tree.weight[0] == 80
    with pytest.raises(ParameterError, match="at least 0"):
        treewright.fit(treewright.Table(str(path)), id3(), target="y", class_weights={"yes": -1.0})


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (c45(dialect="r8"), "C4.5 Release 8: trained in memory only"),
        (cal2(), "CAL2: trained in memory only"),
        (cart(prune="reduced_error"), "holds out cases by their number"),
        (cart(bins=4), "bins are made from numbers in memory"),
        (c45_rules(), "Rules from C4.5: trained in memory only"),
    ],
)
def test_learners_that_need_cases_are_refused_with_the_reason(plan: Any, message: str) -> None:
    rows = duckdb.connect().sql("SELECT i % 2 AS x, i % 2 AS y FROM range(10) t(i)")
    with pytest.raises(ParameterError, match=message):
        treewright.fit(rows, plan, target="y", finish_rows=0)


def test_missing_values_that_c45_would_split_into_fractions_are_refused_at_once() -> None:
    data = random_table(2, rows=60)
    engine = duckdb_engine(data)
    with pytest.raises(
        ParameterError,
        match=r"C4\.5 sends cases with a missing value down several branches.*DuckDB does not do.*use CART",
    ):
        fit_over(engine, c45(), finish_rows=0)
    assert engine.scans <= 3


def test_raising_with_too_many_different_cases_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treewright.fitting.out_of_core.DISTINCT_ROWS", 2)
    with pytest.raises(ParameterError, match="prune without raising"):
        fit_over(duckdb_engine(sample("play-tennis")), c45(), finish_rows=0)


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(ParameterError, match="not list"):
        treewright.fit([[1]], id3())
    with pytest.raises(ParameterError, match="target: for out-of-core tables"):
        treewright.fit(sample("play-tennis"), id3(), target="x")
    with pytest.raises(ParameterError, match="finish_rows"):
        fit_over(duckdb_engine(sample("play-tennis")), id3(), finish_rows=-1)


def test_a_column_that_names_the_cases_is_pointed_at() -> None:
    rows = duckdb.connect().sql("SELECT 'n' || i AS name, i % 2 AS y FROM range(200) t(i)")
    with pytest.warns(DataWarning, match="'name' has 200 values"):
        treewright.fit(rows, id3(max_depth=1), target="y", finish_rows=0)


@pytest.mark.parametrize("few_numbers", [20_000, 3])
def test_temporary_tables_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few_numbers: int) -> None:
    monkeypatch.setattr("treewright.counting.sql.engine.LEVELS_PER_COPY", 1)
    data = random_table(109, rows=120)
    path = tmp_path / "t.parquet"
    relation = duckdb_engine(data)._connection._relation  # type: ignore[attr-defined]
    relation.write_parquet(str(path))
    connection = DuckDBConnection(treewright.Table(str(path)))
    plan = cart(prune="mdl")
    with SqlEngine(connection, data.schema, source="cases", few_numbers=few_numbers, temporary=True) as engine:
        model = fit_over(engine, plan, finish_rows=0)
        assert engine._copies is not None
        assert engine._copies.made > 1
        names = connection.query("SELECT table_name FROM duckdb_tables()")[0].cells.tolist()
        assert len(names) == 1  # the last copy, which goes with the connection
    assert model_to_json(model) == model_to_json(fit(data, plan))


def test_temporary_tables_are_refused_where_nothing_may_be_written() -> None:
    rows = duckdb.connect().sql("SELECT 'a' AS x, 'b' AS y")
    with pytest.raises(ParameterError, match="cannot create temporary tables here"):
        fit_table(rows, id3(), target="y", temporary=True)


class _Interrupted(DuckDBRelation):
    """A connection that is lost after some statements."""

    left = 3

    def query(self, statement: str) -> Any:
        self.left -= 1
        if self.left < 0:
            raise EngineError("the connection was lost")
        return super().query(statement)


@pytest.mark.parametrize("finish", [0, 20])
def test_learning_goes_on_where_the_connection_was_lost(tmp_path: Path, finish: int) -> None:
    data = replace(random_table(101, rows=200, missing=False), source="t")
    plan = c45(min_objects=1, prune="mdl")
    expected = model_to_json(fit(data, plan))
    state = tmp_path / "state.json"
    engine = duckdb_engine(data)
    relation = engine._connection._relation  # type: ignore[attr-defined]
    engine._connection = _Interrupted(relation, "t")
    with pytest.raises(EngineError, match="lost"):
        fit_over(engine, plan, finish_rows=finish, state=state)
    assert state.exists()
    model = fit_over(duckdb_engine(data), plan, finish_rows=finish, state=state)
    assert model_to_json(model) == expected
    assert not state.exists()


def test_a_file_that_is_no_state_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(treewright.TreewrightError):
        fit_over(duckdb_engine(sample("play-tennis")), id3(), finish_rows=0, state=path)
    assert path.read_text(encoding="utf-8") == "{}"


def test_zero_rows_are_refused() -> None:
    rows = duckdb.connect().sql("SELECT 'a' AS x, 'b' AS y WHERE 1 = 0")
    with pytest.raises(DataError, match="no rows"):
        fit_table(rows, id3(), target="y")


@pytest.mark.parametrize("target", ["'k' || i % 2", "i / 3"])
def test_a_table_without_attributes_makes_a_single_leaf(target: str) -> None:
    rows = duckdb.connect().sql(f"SELECT {target} AS y FROM range(100) t(i)")  # noqa: S608
    model = fit_table(rows, cart(), target="y", finish_rows=0)
    assert isinstance(model, TreeModel)
    tree = model.tree
    assert (tree.n_nodes, tree.weight[0]) == (1, 100)


def test_huge_counts_are_exact() -> None:
    rows = duckdb.connect().sql(
        "SELECT 'v' || (i % 2) AS x, CASE WHEN i = 3 THEN 'no' ELSE 'yes' END AS y, 2251799813685247 AS w "
        "FROM range(4) t(i)"
    )
    model = fit_table(rows, id3(), target="y", overrides=Overrides(weight="w"), finish_rows=0)
    assert isinstance(model, TreeModel)
    tree = model.tree
    assert tree.counts[0].tolist() == [2251799813685247, 3 * 2251799813685247]
    assert np.array_equal(tree.counts[1] + tree.counts[2], tree.counts[0])


@pytest.mark.parametrize("few_numbers", [20_000, pytest.param(5, marks=pytest.mark.full)])
@pytest.mark.parametrize("name", ["id3", "c45", "c45 unpruned", "c45 without raising", "cart", "number"])
def test_learning_takes_no_more_scans_than_a_dry_run_predicts(name: str, few_numbers: int) -> None:
    for seed in (101, 109) if few_numbers > 5 else (101,):
        for depth in (1, 3):
            data = random_table(seed, rows=150, missing="c45" not in name, regression=name == "number")
            plan = replace(PLANS[name if name != "number" else "cart"])
            assert isinstance(plan.learner, Recipe)
            stopping = replace(plan.learner.stopping, max_depth=depth)
            plan = replace(plan, learner=replace(plan.learner, stopping=stopping))
            engine = duckdb_engine(data, few_numbers=few_numbers)
            result = most_scans(engine, plan, depth)
            fit_over(engine, plan, finish_rows=0)
            assert engine.scans <= result
            if name == "cart":
                assert result <= 2 * depth + 1


def test_a_forest_is_learned_from_a_table_with_a_key(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    statement = (
        "SELECT i AS id, i % 2 = 0 AS even, 'r' || i % 3 AS rest, CASE WHEN i % 4 = 0 THEN 'yes' ELSE 'no' END AS y "
        "FROM range(64) t(i)"
    )
    duckdb.connect().execute(f"COPY ({statement}) TO '{path}' (FORMAT parquet)")
    plan = forest(trees=3, seed=5)
    model = treewright.fit(treewright.Table(str(path), key="id"), plan, target="y", finish_rows=0)
    assert isinstance(model, Forest)
    assert model.schema.attribute_names == ("even", "rest")
    assert (model.recipe["bootstrap"], model.recipe["key"]) == ("poisson", "id")
    data = treewright.read(path, "y", overrides=Overrides(ignore=("id",)))
    here = grow_forest_by_row_id(data, np.arange(64), plan, "id")
    assert [tree.to_dict() for tree in model.trees] == [tree.to_dict() for tree in here.trees]
    by_schema = treewright.fit(str(path), plan, schema=data.schema, engine="duckdb", key="id")
    assert [tree.to_dict() for tree in by_schema.trees] == [tree.to_dict() for tree in here.trees]
    with pytest.raises(ParameterError, match="a column that identifies every row"):
        treewright.fit(treewright.Table(str(path)), plan, target="y")
    with pytest.raises(DataError, match="only 2 distinct keys"):
        treewright.fit(duckdb.sql(f"SELECT id % 2 AS k, rest, y FROM '{path}'"), plan, target="y", key="k")  # noqa: S608
    with pytest.raises(ParameterError, match="keep no state"):
        fit_table(treewright.Table(str(path)), plan, target="y", key="id", state=tmp_path / "s.json")
    with pytest.raises(ParameterError, match="temporary tables are not supported for forests"):
        fit_table(treewright.Table(str(path)), plan, target="y", key="id", temporary=True)


WITHOUT_OTHER_LEARNERS = """
import sys
from treewright.cli.main import run
code = run(["train", sys.argv[1], "-t", "y", "--engine", "duckdb", "--no-save", *sys.argv[2:]])
print(*sys.modules, file=sys.stderr)
sys.exit(code)
"""
OTHER_LEARNERS = r"treewright\.(grow\.(cal|chaid|j48|release8)\.(?!options|trace|arithmetic)|prune\.(j48|release8))\S*"


@pytest.mark.parametrize("options", [[], ["-a", "cart"], ["-a", "forest", "--trees", "2", "--key", "a"]], ids=str)
def test_other_learners_are_not_imported_out_of_core(options: list[str], tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b,y\n1,x,p\n2,y,q\n3,x,p\n4,z,q\n", encoding="utf-8")
    command = [sys.executable, "-c", WITHOUT_OTHER_LEARNERS, str(path), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "treewright.learners.out_of_core" in done.stderr
    assert re.findall(OTHER_LEARNERS, done.stderr) == []
