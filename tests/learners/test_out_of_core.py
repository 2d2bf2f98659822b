"""Growing out of core: the same tree and the same split trace, in few passes, also from a state."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from database_tables import duckdb_engine
from engine_tables import random_table
from treewright.counting.numpy import MemoryEngine
from treewright.counting.sql.connection import connect
from treewright.counting.sql.engine import SqlEngine
from treewright.data.dataset import Dataset
from treewright.errors import ModelFormatError, ParameterError
from treewright.learners.base import Grown
from treewright.learners.grower import grow
from treewright.learners.out_of_core import GrowthFile, GrowthState, grow_out_of_core, move_cuts_to_data_values
from treewright.learners.recipe import C45, CART, ID3, Recipe, Stopping, for_regression
from treewright.tree.io.model_file import model_to_json
from treewright.tree.model import TreeModel

RECIPES = {
    "id3": ID3(),
    "c45": C45(min_objects=1),
    "cart": CART(),
    "entropy": CART(criterion="entropy", stopping=Stopping(min_leaf=5)),
    "chi2": CART(criterion="chi2", stopping=Stopping(max_depth=3)),
    "leaves": CART(stopping=Stopping(max_leaves=5)),
    "share": CART(stopping=Stopping(min_share=0.05)),
}


def _bytes(grown: Grown) -> str:
    return model_to_json(TreeModel(grown.tree, {}, {}, grown.traces))


def _in_memory(data: Dataset, recipe: Recipe) -> Grown:
    return grow(MemoryEngine(data), recipe)


@pytest.mark.parametrize("few_numbers", [20_000, pytest.param(3, marks=pytest.mark.full)])
@pytest.mark.parametrize("name", RECIPES)
def test_the_tree_and_its_split_trace_are_those_of_memory(name: str, few_numbers: int) -> None:
    data = random_table(11, rows=120, missing=name != "c45")
    engine = duckdb_engine(data, few_numbers=few_numbers)
    grown = move_cuts_to_data_values(grow_out_of_core(engine, RECIPES[name], finish_rows=0), RECIPES[name], engine)
    assert _bytes(grown) == _bytes(_in_memory(data, RECIPES[name]))


@pytest.mark.parametrize("name", ["id3", "c45", "cart"])
def test_small_nodes_are_finished_in_memory_to_the_same_bytes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treewright.learners.out_of_core.FETCHED_ROWS", 60)
    data = random_table(21, rows=300, missing=name != "c45")
    engine = duckdb_engine(data)
    done: list[int] = []
    levels: list[tuple[int, int]] = []
    grown = grow_out_of_core(
        engine,
        RECIPES[name],
        finish_rows=40,
        progress=lambda cases, _: done.append(cases),
        on_level=lambda depth, nodes: levels.append((depth, nodes)),
    )
    assert levels[0] == (0, 1)
    assert [depth for depth, _ in levels] == list(range(len(levels)))
    assert _bytes(move_cuts_to_data_values(grown, RECIPES[name], engine)) == _bytes(_in_memory(data, RECIPES[name]))
    assert done[-1] == engine.n_cases


def test_only_the_split_trace_that_a_model_keeps_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("treewright.learners.grower", "treewright.learners.out_of_core"):
        monkeypatch.setattr(f"{module}.TRACE_CELLS", 150)
    data = random_table(21, rows=150)
    expected = _in_memory(data, CART())
    assert 0 < len(expected.traces) < expected.tree.n_nodes
    for finish in (0, 40):
        assert _bytes(grow_out_of_core(duckdb_engine(data), CART(), finish_rows=finish)) == _bytes(expected)


def test_a_tree_of_many_cases_keeps_no_split_trace_wherever_it_is_grown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treewright.learners.grower.TRACE_CASES", 100)
    data = random_table(21, rows=150)
    recipe = CART(stopping=Stopping(max_depth=4))
    expected = _in_memory(data, recipe)
    assert not expected.traces
    for finish in (0, 40):
        assert _bytes(grow_out_of_core(duckdb_engine(data), recipe, finish_rows=finish)) == _bytes(expected)


def test_numbers_are_predicted_as_in_memory() -> None:
    data = random_table(31, regression=True)
    recipe = for_regression(CART(stopping=Stopping(max_depth=4)))
    here = _in_memory(data, recipe).tree
    for finish in (0, 50):
        there = grow_out_of_core(duckdb_engine(data), recipe, finish_rows=finish).tree
        assert there.attribute.tolist() == here.attribute.tolist()
        assert there.outcome.tolist() == pytest.approx(here.outcome.tolist(), rel=1e-9)
        assert here.sse is not None
        assert there.sse is not None
        assert there.sse.tolist() == pytest.approx(here.sse.tolist(), rel=1e-7, abs=1e-9)


def test_monotonic_trees_are_those_of_memory() -> None:
    data = random_table(2)
    rows = [row for row in range(data.n_rows) if data.target is not None and int(data.target[row]) < 2]
    two = data.take(rows)
    number = next(column.name for column in two.schema.attributes if column.is_numeric)
    schema = two.schema.with_column(type(two.schema.column("t"))("t", two.schema.column("t").kind, ("k0", "k1")))
    two = Dataset(schema, two.columns, two.n_rows, two.target, two.weights, two.source)
    recipe = CART(monotonic=((number, 1),), stopping=Stopping(max_depth=3))
    grown = grow_out_of_core(duckdb_engine(two, few_numbers=3), recipe, finish_rows=0)
    assert _bytes(grown) == _bytes(_in_memory(two, recipe))


def test_a_level_of_nominal_attributes_is_one_scan() -> None:
    data = random_table(41, rows=400)
    nominal = [index for index, column in enumerate(data.schema.attributes) if not column.is_numeric]
    assert nominal
    from treewright.data.schema import Schema

    columns = tuple(data.schema.attributes[index] for index in nominal)
    schema = Schema((*columns, data.schema.target_column), target="t")
    part = Dataset(schema, tuple(data.columns[index] for index in nominal), 400, data.target, None, "cases")
    for depth in (1, 2, 3):
        engine = duckdb_engine(part)
        tree = grow_out_of_core(engine, CART(stopping=Stopping(max_depth=depth)), finish_rows=0).tree
        assert engine.scans <= tree.depth + 1


@pytest.mark.parametrize("few_numbers", [20_000, pytest.param(5, marks=pytest.mark.full)])
def test_a_level_with_numbers_is_two_scans_at_most(few_numbers: int) -> None:
    data = random_table(52, rows=400, missing=False)
    for depth in (1, 2, 4):
        engine = duckdb_engine(data, few_numbers=few_numbers)
        grow_out_of_core(engine, CART(stopping=Stopping(max_depth=depth)), finish_rows=0)
        assert engine.scans <= 2 * depth + 1  # one statement counts all columns and classes


def test_a_table_without_a_schema_takes_one_scan_more_to_see_its_values() -> None:
    relation = duckdb.sql("SELECT 'v' || i % 3 AS a, 'w' || i % 5 AS b, i % 7 < 3 AS y FROM range(400) t(i)")
    for depth in (1, 2, 3):
        engine = SqlEngine.over(connect(relation), "y")
        assert engine.scans == 1
        tree = grow_out_of_core(engine, CART(stopping=Stopping(max_depth=depth)), finish_rows=0).tree
        assert engine.scans == tree.depth + 1


@pytest.mark.parametrize("finish", [0, 30])
@pytest.mark.parametrize("name", ["id3", "cart", "number"])
def test_growing_goes_on_from_the_state_of_any_level(tmp_path: Path, name: str, finish: int) -> None:
    data = random_table(61, rows=150, regression=name == "number")
    short = CART(stopping=Stopping(max_depth=5))
    recipe = for_regression(short) if name == "number" else short if name == "cart" else RECIPES[name]
    whole = grow_out_of_core(duckdb_engine(data), recipe, finish_rows=finish)
    path = tmp_path / "state.json"
    kept = GrowthFile(path, {"name": name}, {"rows": 300}, data.schema)
    assert kept.load() is None

    class Broken(Exception):  # noqa: N818 - stands for a lost connection
        pass

    for level in (1, 3):
        seen: list[int] = []

        def save(state: GrowthState, seen: list[int] = seen, level: int = level) -> None:
            kept.save(state)
            seen.append(len(state.open_nodes))
            if len(seen) == level:
                raise Broken

        try:
            grow_out_of_core(duckdb_engine(data), recipe, finish_rows=finish, checkpoint=save)
        except Broken:
            grown = grow_out_of_core(duckdb_engine(data), recipe, finish_rows=finish, state=kept.load())
            if name != "number":
                assert _bytes(grown) == _bytes(whole)
            assert grown.tree.attribute.tolist() == whole.tree.attribute.tolist()
    kept.remove()
    assert not path.exists()


def test_a_state_of_another_run_or_no_state_at_all_is_refused(tmp_path: Path) -> None:
    data = random_table(61)
    path = tmp_path / "state.json"
    kept = GrowthFile(path, {"name": "a"}, {"rows": 200}, data.schema)
    short = CART(stopping=Stopping(max_depth=2))
    grow_out_of_core(duckdb_engine(data), short, finish_rows=0, checkpoint=kept.save)
    with pytest.raises(ParameterError, match="another run"):
        GrowthFile(path, {"name": "b"}, {"rows": 200}, data.schema).load()
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"open"', '"opne"'), encoding="utf-8")
    with pytest.raises(ModelFormatError):
        kept.load()
    TreeModel(grow_out_of_core(duckdb_engine(data), short, finish_rows=0).tree).save(path)
    with pytest.raises(ParameterError, match="not the state of an interrupted run"):
        kept.load()
