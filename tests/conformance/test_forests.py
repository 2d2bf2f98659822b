"""Every engine grows the same bytes of a forest from rows that are sampled by their key."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.engines import ALL, marked, marks_of, saved
from engine_tables import random_table
from keyed_tables import KEY, KEYED, at_work
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.ensembles.plan import ForestPlan, bagging, forest
from treewright.ensembles.random_forest import bootstrap_samples_of, grow_forest_by_row_id
from treewright.errors import DataError, ParameterError
from treewright.fitting.out_of_core import fit_forest_over
from treewright.learners.recipe import CART, Stopping
from treewright.plans import Plan, c45, cart, id3
from treewright.tree.forest import Forest

SHORT = Plan(CART(stopping=Stopping(max_depth=4)))

PLANS: dict[str, ForestPlan] = {
    "forest": forest(SHORT, trees=4, seed=7),
    "bagging": bagging(trees=3, seed=1),
    "c45 forest": forest(c45(prune=False), trees=2, max_features=2),
    "random cuts": forest(SHORT, trees=2, random_cuts=True),
    "all rows": forest(SHORT, trees=2, bootstrap=False),
    "per tree": forest(SHORT, trees=3, max_features=0.5, per="tree"),
    "pruned": bagging(cart(prune="cost_complexity", alpha=0.02), trees=3),
}

NAMED = {
    "duckdb": tuple(PLANS),
    "dask": tuple(PLANS),
    "postgresql": ("forest", "bagging"),
    "spark": ("forest",),
    "dask cluster": ("forest",),
}

CASES = [
    pytest.param(engine, name, marks=marks_of(engine))
    for engine in KEYED
    for name in PLANS
    if ALL or name in NAMED[engine]
]


def _table(name: str, seed: int = 11, rows: int = 90) -> Dataset:
    return random_table(seed, rows=rows, missing=not any(word in name for word in ("c45", "bagging")))


def _keys(rows: int, *, texts: bool = False) -> list[Any]:
    return [f"Nº {row}" for row in range(rows)] if texts else [7 * row - 300 for row in range(rows)]


def _there(engine: str, data: Dataset, keys: list[Any], plan: ForestPlan, finish: int = 0, **options: Any) -> Forest:
    with at_work(engine), KEYED[engine](data, keys, bootstrap_samples_of(plan, KEY), **options) as counted:
        return fit_forest_over(counted, plan, KEY, finish_rows=finish)


@pytest.mark.parametrize(("engine", "name"), CASES)
def test_the_saved_forest_is_the_same_to_the_byte(engine: str, name: str) -> None:
    data, plan = _table(name), PLANS[name]
    keys = _keys(data.n_rows)
    assert saved(_there(engine, data, keys, plan)) == saved(grow_forest_by_row_id(data, np.array(keys), plan, KEY))


@pytest.mark.parametrize("engine", ["duckdb", "dask"])
def test_a_table_of_nominal_attributes_is_the_same_in_all_its_rows(engine: str) -> None:
    data, plan = sample("restaurant"), forest(SHORT, trees=3, seed=2)
    keys = _keys(data.n_rows)
    assert saved(_there(engine, data, keys, plan)) == saved(grow_forest_by_row_id(data, np.array(keys), plan, KEY))


@pytest.mark.parametrize("engine", marked([engine for engine in KEYED if ALL or engine != "spark"]))
def test_keys_may_be_texts(engine: str) -> None:
    data, plan = _table("forest", 12, 60), forest(SHORT, trees=2)
    keys = _keys(data.n_rows, texts=True)
    assert saved(_there(engine, data, keys, plan)) == saved(grow_forest_by_row_id(data, keys, plan, KEY))


@pytest.mark.parametrize("engine", ["duckdb", "dask"])
@pytest.mark.parametrize("name", ["forest", "bagging"])
def test_small_nodes_are_finished_in_memory_to_the_same_bytes(
    engine: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("treewright.learners.out_of_core.FETCHED_ROWS", 100)
    data, plan = _table(name), PLANS[name]
    keys = _keys(data.n_rows)
    here = grow_forest_by_row_id(data, np.array(keys), plan, KEY)
    for finish in (25, 1000):
        assert saved(_there(engine, data, keys, plan, finish)) == saved(here)


@pytest.mark.parametrize("engine", ["duckdb", "dask"])
def test_numbers_by_runs_give_the_same_bytes(engine: str) -> None:
    data, plan = _table("c45", 13, 60), PLANS["c45 forest"]
    keys = _keys(data.n_rows)
    options = {"few_numbers": 6} | ({"coded_numbers": 3} if engine == "dask" else {})
    there = _there(engine, data, keys, plan, 20, **options)
    assert saved(there) == saved(grow_forest_by_row_id(data, np.array(keys), plan, KEY))


@pytest.mark.parametrize("least", [1, 10**9])
def test_kernels_and_interpreter_grow_the_same_from_the_same_keys(least: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treewright.ensembles.growing.COMPILED_FOREST_CELLS", least)
    data, plan = _table("forest", 14), PLANS["forest"]
    keys = _keys(data.n_rows)
    assert saved(_there("duckdb", data, keys, plan)) == saved(grow_forest_by_row_id(data, np.array(keys), plan, KEY))


@pytest.mark.parametrize("engine", marked(["duckdb", "postgresql", "dask"]))
def test_numbers_to_predict_agree_to_a_billionth(engine: str) -> None:
    data, plan = random_table(15, rows=70, regression=True), PLANS["forest"]
    keys = _keys(data.n_rows)
    there, here = _there(engine, data, keys, plan), grow_forest_by_row_id(data, np.array(keys), plan, KEY)
    for one, other in zip(there.trees, here.trees, strict=True):
        assert one.attribute.tolist() == other.attribute.tolist()
        assert one.outcome.tolist() == pytest.approx(other.outcome.tolist(), rel=1e-9)


@pytest.mark.parametrize("engine", ["duckdb", "dask"])
def test_a_tree_whose_bootstrap_sample_is_empty_has_all_rows(engine: str) -> None:
    data = _table("forest", 16, 2)
    plan = forest(SHORT, trees=12)
    keys = _keys(2)
    assert saved(_there(engine, data, keys, plan)) == saved(grow_forest_by_row_id(data, np.array(keys), plan, KEY))


@pytest.mark.parametrize("engine", marked(KEYED))
def test_a_key_that_does_not_name_every_row_is_refused(engine: str) -> None:
    data = _table("forest", 11, 6)
    with at_work(engine), pytest.raises(DataError, match="6 rows have only 5 distinct keys"):
        KEYED[engine](data, [1, 2, 3, 4, 5, 5], bootstrap_samples_of(forest(), KEY))


@pytest.mark.parametrize("engine", ["duckdb", "dask"])
def test_a_column_that_is_no_key_is_refused(engine: str) -> None:
    data = _table("forest", 11, 6)
    with pytest.raises(DataError, match=r"'no key'"):
        KEYED[engine](data, _keys(6), bootstrap_samples_of(forest(), "no key"))
    number = next(column.name for column in data.schema.attributes if column.is_numeric)
    with pytest.raises(DataError, match="the key must be a column of integers or texts"):
        KEYED[engine](data, _keys(6), bootstrap_samples_of(forest(), number))
    texts = [None, *_keys(5, texts=True)][::-1]
    with pytest.raises(DataError, match="1 of 6 keys are missing"):
        KEYED[engine](data, texts, bootstrap_samples_of(forest(), KEY))


def test_a_bootstrap_without_a_key_is_refused_with_the_reason() -> None:
    with pytest.raises(ParameterError, match="samples rows by a key, a column that identifies every row"):
        bootstrap_samples_of(forest(), None)


def test_all_trees_share_each_scan() -> None:
    data = _table("forest", 41, 200)
    keys = _keys(200)
    scans = []
    for trees in (1, 6):
        plan = forest(SHORT, trees=trees)
        with KEYED["duckdb"](data, keys, bootstrap_samples_of(plan, KEY)) as engine:
            fit_forest_over(engine, plan, KEY, finish_rows=0)
            scans.append(engine.scans)
    assert max(scans) <= 4 + 2  # the levels, what is known of numbers, and the key


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (forest(max_samples=0.5), "samples each row independently"),
        (bagging("chaid"), "DuckDB does not support forests"),
        (forest(CART(stopping=Stopping(max_leaves=5))), "cannot share a scan"),
        (forest(id3()), "discretises numeric attributes separately"),
        (forest(CART(bins=8)), "DuckDB does not support bins"),
        (bagging(c45()), "pruned on cases"),
    ],
)
def test_what_needs_cases_is_refused_with_the_reason(plan: ForestPlan, message: str) -> None:
    data = _table("forest", 11, 20)
    with (
        KEYED["duckdb"](data, _keys(20), bootstrap_samples_of(plan, KEY)) as engine,
        pytest.raises(ParameterError, match=message),
    ):
        fit_forest_over(engine, plan, KEY)
