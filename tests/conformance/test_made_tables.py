"""Every engine learns the same from tables that Hypothesis makes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from conformance.engines import ALL, ENGINES, OTHERS, REFERENCE, marked, saved
from conformance.likeness import differences
from conformance.tables import tables
from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Kind, Schema, Task
from treewright.errors import DataError
from treewright.plans import Plan, c45, cart, chaid, id3

PLANS = (id3(), c45(), c45(prune=False, subset=True), cart(), cart(missing="majority"), chaid())

EXAMPLES = {
    "compiled": 200,
    "duckdb": 200,
    "duckdb by runs": 40,
    "postgresql": 15,
    "spark": 3,
    "dask": 40,
    "dask by runs": 40,
    "dask cluster": 8,
}
"""Tables of an ordinary run; 200 for each engine with ``TREEWRIGHT_ALL_ENGINES=1``."""

SHORT = 50
"""Tables of the short tier; the rest of an engine's are in the full one, drawn with another seed."""

TIERS = [pytest.param(False, id="short"), pytest.param(True, id="rest", marks=pytest.mark.full)]

SLOW_TO_START = [HealthCheck.too_slow, HealthCheck.data_too_large]


def _tables(engine: str, task: Task = Task.CLASSIFICATION, **how: Any) -> st.SearchStrategy[Dataset]:
    """Return tables that an engine has to take.

    Spark does not distinguish names that differ in case only.
    """
    return tables(task, by_case=engine != "spark", **how)


@pytest.mark.parametrize("rest", TIERS)
@pytest.mark.parametrize("engine", marked(OTHERS))
def test_whole_weights_give_the_same_bytes(engine: str, rest: bool) -> None:
    examples = 200 if ALL else EXAMPLES[engine]
    if rest and examples <= SHORT:
        pytest.skip("all tables of this engine are in the short tier")

    @seed(int(rest))
    @settings(
        max_examples=examples - SHORT if rest else min(examples, SHORT),
        suppress_health_check=SLOW_TO_START,
        database=None,
    )
    @given(
        data=_tables(engine),
        plan=st.sampled_from([plan for plan in PLANS if engine != "compiled" or plan.name != "CHAID"]),
    )
    def check(data: Dataset, plan: Plan) -> None:
        assert saved(ENGINES[engine](data, plan)) == saved(ENGINES[REFERENCE](data, plan))

    check()


@pytest.mark.parametrize("engine", marked(OTHERS))
def test_missing_values_that_go_one_way_give_the_same_bytes(engine: str) -> None:
    plans = [id3(), cart(), cart(missing="majority"), chaid()]

    @settings(
        max_examples=200 if ALL else EXAMPLES[engine] // 4 + 1,
        suppress_health_check=SLOW_TO_START,
        database=None,
        derandomize=not ALL,
    )
    @given(data=_tables(engine, missing=True), plan=st.sampled_from(plans[:3] if engine == "compiled" else plans))
    def check(data: Dataset, plan: Plan) -> None:
        assert saved(ENGINES[engine](data, plan)) == saved(ENGINES[REFERENCE](data, plan))

    check()


@pytest.mark.parametrize("engine", marked(OTHERS))
@pytest.mark.parametrize("task", list(Task))
def test_broken_weights_and_numbers_to_predict_give_the_same_tree(engine: str, task: Task) -> None:
    @settings(
        max_examples=200 if ALL else EXAMPLES[engine] // 4 + 1,
        suppress_health_check=SLOW_TO_START,
        database=None,
        derandomize=not ALL,
    )
    @given(
        data=_tables(engine, task, missing=True, broken=task is Task.CLASSIFICATION), plan=st.sampled_from(PLANS[3:5])
    )
    def check(data: Dataset, plan: Plan) -> None:
        assert differences(ENGINES[REFERENCE](data, plan), ENGINES[engine](data, plan)) == []

    check()


@pytest.mark.parametrize("engine", marked(ENGINES))
def test_no_rows_are_a_clear_error(engine: str) -> None:
    schema = Schema((Column("a", Kind.NUMERIC), Column("y", Kind.NOMINAL, ("n", "p"))), target="y")
    nothing = Dataset(schema, (np.zeros(0),), 0, np.zeros(0, dtype=np.int32), None, "cases")
    with pytest.raises(DataError, match="there are no rows to learn from"):
        ENGINES[engine](nothing, cart())


@pytest.mark.parametrize("engine", marked(ENGINES))
def test_weights_of_zero_alone_are_a_clear_error(engine: str) -> None:
    columns = (Column("a", Kind.NOMINAL, ("x", "z")), Column("y", Kind.NOMINAL, ("n", "p")), Column("w", Kind.NUMERIC))
    schema = Schema(columns, target="y", weight="w")
    codes = np.array([0, 1], dtype=np.int32)
    data = Dataset(schema, (codes,), 2, codes, np.zeros(2), "cases")
    with pytest.raises(DataError, match="all weights are zero"):
        ENGINES[engine](data, id3())


@pytest.mark.parametrize("engine", marked(OTHERS))
def test_shuffled_rows_give_the_same_bytes(engine: str) -> None:
    schema = Schema((Column("a", Kind.NUMERIC), Column("y", Kind.NOMINAL, ("n", "p"))), target="y")
    draw = np.random.default_rng(7)
    numbers = np.round(draw.normal(size=60), 2)
    target = (numbers + draw.normal(size=60) > 0).astype(np.int32)
    data = Dataset(schema, (numbers,), 60, target, None, "cases")
    order = draw.permutation(60)
    assert saved(ENGINES[engine](data, c45())) == saved(ENGINES[engine](data.take(order), c45()))
