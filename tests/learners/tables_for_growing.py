"""Hypothesis strategies for small tables to count and to grow trees from: columns, missing values and weights."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from hypothesis import strategies as st

from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Kind, Schema

Weights = Literal["none", "whole", "real"]

NUMBERS = (-1.5, 0.0, 0.25, 1.0, 2.0, 3.5, 100.0)
"""Few, so that numbers repeat."""


@st.composite
def tables(
    draw: st.DrawFn,
    *,
    kinds: tuple[Kind, ...] = (Kind.NOMINAL, Kind.ORDINAL, Kind.NUMERIC),
    classes: tuple[int, ...] = (2, 3),
    regression: bool = False,
    missing: bool = False,
    weights: Weights = "none",
    max_rows: int = 16,
    max_columns: int = 3,
    max_values: int = 4,
) -> Dataset:
    """Draw a table; every column has one of the kinds, the target is a class unless `regression`."""
    n = draw(st.integers(1, max_rows))
    columns: list[Column] = []
    cells: list[Any] = []
    for index in range(draw(st.integers(1, max_columns))):
        kind = draw(st.sampled_from(kinds))
        if kind is Kind.NUMERIC:
            columns.append(Column(f"a{index}", kind))
            cells.append(np.array(draw(_column(st.sampled_from(NUMBERS), n, np.nan if missing else None))))
        else:
            values = draw(st.integers(2, max_values))
            columns.append(Column(f"a{index}", kind, tuple(f"v{code}" for code in range(values))))
            codes = draw(_column(st.integers(0, values - 1), n, -1 if missing else None))
            cells.append(np.array(codes, dtype=np.int32))
    if regression:
        columns.append(Column("y", Kind.NUMERIC))
        numbers = st.sampled_from((-3.0, 0.0, 0.5, 1.0, 7.25))
        target: Any = np.array(draw(st.lists(numbers, min_size=n, max_size=n)))
    else:
        k = draw(st.sampled_from(classes))
        columns.append(Column("y", Kind.NOMINAL, tuple("ABC"[:k])))
        target = np.array(draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n)), dtype=np.int32)
    schema = Schema(tuple(columns), target="y")
    return Dataset(schema, tuple(cells), n, target, draw(_weights(weights, n)))


def _column(cell: st.SearchStrategy[Any], n: int, missing: float | int | None) -> st.SearchStrategy[list[Any]]:
    if missing is not None:
        cell = st.one_of(cell, cell, cell, st.just(missing))
    return st.lists(cell, min_size=n, max_size=n)


def _weights(kind: Weights, n: int) -> st.SearchStrategy[Any]:
    if kind == "none":
        return st.none()
    one = st.sampled_from((1.0, 2.0, 5.0)) if kind == "whole" else st.sampled_from((0.1, 0.3, 1.0, 2.7))
    return st.lists(one, min_size=n, max_size=n).map(np.array)


def shuffled(data: Dataset, seed: int) -> Dataset:
    """Return the same cases in another order."""
    return data.take(np.random.default_rng(seed).permutation(data.n_rows))


def numeric_table(columns: dict[str, list[float]], target: list[str], classes: tuple[str, ...]) -> Dataset:
    """Make a table of numeric columns and a class."""
    schema = Schema((*(Column(name, Kind.NUMERIC) for name in columns), Column("y", Kind.NOMINAL, classes)), target="y")
    cells = tuple(np.array(cell, dtype=np.float64) for cell in columns.values())
    codes = np.array([classes.index(label) for label in target], dtype=np.int32)
    return Dataset(schema, cells, len(target), codes)
