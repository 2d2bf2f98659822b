"""The engines that have to learn the same model, each behind the same function."""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from dask_frames import cluster, dask_engine
from database_tables import cells_of
from servers import postgresql_engine, spark_engine
from treewright import fit
from treewright.counting.sql.connection import connect
from treewright.counting.sql.engine import SqlEngine
from treewright.data.dataset import Dataset
from treewright.data.table_address import Table
from treewright.fitting.out_of_core import fit_over
from treewright.learners.recipe import Recipe
from treewright.plans import Plan, as_plan
from treewright.tree.forest import Forest
from treewright.tree.io.model_file import model_to_json
from treewright.tree.model import TreeModel

pa: Any = pytest.importorskip("pyarrow")
pq: Any = pytest.importorskip("pyarrow.parquet")

ALL = os.environ.get("TREEWRIGHT_ALL_ENGINES") == "1"
"""Whether every engine learns from every set."""

REFERENCE = "interpreted"

Learn = Callable[[Dataset, Plan], TreeModel]


def _interpreted(data: Dataset, plan: Plan) -> TreeModel:
    return fit(data, plan, engine="interpreted")


def _compiled(data: Dataset, plan: Plan) -> TreeModel:
    if not isinstance(as_plan(plan).learner, Recipe):
        pytest.skip(f"{plan.name} is grown by the interpreter only")
    return fit(data, plan, engine="compiled")


def _fit_out_of_core(engine: Any, plan: Plan) -> TreeModel:
    with engine:
        return fit_over(engine, plan, finish_rows=0)


_numbers = itertools.count()


def _duckdb(data: Dataset, plan: Plan, **options: Any) -> TreeModel:
    """Learn from a Parquet file: a relation of DuckDB cannot have names that differ in case only."""
    columns = {name: pa.array(cells, pa.float64() if number else pa.string()) for name, number, cells in cells_of(data)}
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/cases.parquet"
        pq.write_table(pa.table(columns), path)
        connection = connect(Table(path))
        try:
            return _fit_out_of_core(SqlEngine(connection, data.schema, source=data.source, **options), plan)
        finally:
            connection.close()


def _duckdb_by_runs(data: Dataset, plan: Plan) -> TreeModel:
    return _duckdb(data, plan, few_numbers=6)


def _postgresql(data: Dataset, plan: Plan) -> TreeModel:
    return _fit_out_of_core(postgresql_engine(data, f"cases_{next(_numbers)}"), plan)


def _spark(data: Dataset, plan: Plan) -> TreeModel:
    return _fit_out_of_core(spark_engine(data), plan)


def _dask(data: Dataset, plan: Plan) -> TreeModel:
    return _fit_out_of_core(dask_engine(data), plan)


def _dask_by_runs(data: Dataset, plan: Plan) -> TreeModel:
    return _fit_out_of_core(dask_engine(data, few_numbers=6, coded_numbers=3, kept_bytes=0), plan)


def _dask_cluster(data: Dataset, plan: Plan) -> TreeModel:
    with cluster().as_current():
        return _fit_out_of_core(dask_engine(data), plan)


ENGINES: dict[str, Learn] = {
    "interpreted": _interpreted,
    "compiled": _compiled,
    "duckdb": _duckdb,
    "duckdb by runs": _duckdb_by_runs,
    "postgresql": _postgresql,
    "spark": _spark,
    "dask": _dask,
    "dask by runs": _dask_by_runs,
    "dask cluster": _dask_cluster,
}
"""Out of core nothing is finished in memory, so that the engine itself is tested."""

OTHERS = [name for name in ENGINES if name != REFERENCE]
OUT_OF_CORE = [name for name in OTHERS if name != "compiled"]


SLOW = ("spark", "dask cluster")
"""Engines that take their time to start."""

SERVERS = ("postgresql", *SLOW)
"""Engines that are processes of their own."""


def marks_of(engine: str) -> list[pytest.MarkDecorator]:
    """Return the marks of a test that needs an engine."""
    return [pytest.mark.server] * (engine in SERVERS) + [pytest.mark.slow] * (engine in SLOW)


def marked(names: Iterable[str]) -> list[Any]:
    """Return engines as parameters, servers and slow ones marked."""
    return [pytest.param(name, marks=marks_of(name)) for name in names]


def saved(model: TreeModel | Forest) -> str:
    """Return what a model file holds."""
    return model_to_json(model)
