"""Datasets written to tables of a database, for tests of engines out of core."""

from __future__ import annotations

import importlib
from typing import Any

import duckdb
import numpy as np

from treewright.counting.sql.connection import DuckDBRelation
from treewright.counting.sql.engine import SqlEngine
from treewright.data.dataset import Dataset

TYPES = {"duckdb": ("VARCHAR", "DOUBLE"), "postgresql": ("TEXT", "DOUBLE PRECISION"), "spark": ("STRING", "DOUBLE")}


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def cells_of(dataset: Dataset) -> list[tuple[str, bool, list[Any]]]:
    """Return name, whether numeric, and the cells of all columns: None where missing."""
    columns = []
    for column in dataset.schema.columns:
        name = column.name
        if name == dataset.schema.target and dataset.target is not None:
            cells = (
                dataset.target.tolist()
                if column.is_numeric
                else [column.values[code] for code in dataset.target.tolist()]
            )
        elif name == dataset.schema.weight:
            cells = (np.ones(dataset.n_rows) if dataset.weights is None else dataset.weights).tolist()
        elif name in dataset.schema.attribute_names:
            decoded = dataset.column(name).tolist()
            cells = [None if isinstance(cell, float) and np.isnan(cell) else cell for cell in decoded]
        else:
            continue
        columns.append((name, column.is_numeric, cells))
    return columns


def create(dataset: Dataset, name: str, engine: str) -> tuple[str, str, list[tuple[Any, ...]]]:
    """Return CREATE TABLE, the INSERT with markers, and the rows."""
    columns = cells_of(dataset)
    text, number = TYPES[engine]
    listed = ", ".join(f"{quoted(column)} {number if numeric else text}" for column, numeric, _ in columns)
    mark = "?" if engine == "duckdb" else "%s"
    rows = list(zip(*(cells for _, _, cells in columns), strict=True))
    insert = f"INSERT INTO {quoted(name)} VALUES ({', '.join([mark] * len(columns))})"  # noqa: S608 - a test writes it
    return f"CREATE TABLE {quoted(name)} ({listed})", insert, rows


def duckdb_engine(dataset: Dataset, **options: Any) -> SqlEngine:
    """Return a DuckDB engine over the rows of a dataset."""
    pa: Any = importlib.import_module("pyarrow")

    arrays = {
        name: pa.array(cells, type=pa.float64() if numeric else pa.string())
        for name, numeric, cells in cells_of(dataset)
    }
    table = pa.table(arrays)
    connection = duckdb.connect()
    relation = connection.from_arrow(table)
    engine = SqlEngine(DuckDBRelation(relation, dataset.source), dataset.schema, **options)
    engine.keep_alive = connection  # type: ignore[attr-defined]
    return engine
