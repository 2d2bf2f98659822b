"""Hypothesis strategies for tables that engines are apt to get wrong.

Names and values with quotes, of mixed case, in other scripts, that look like SQL or like formats; NULLs; constant
columns; duplicates; weights of zero, of thousands of millions, broken ones; from 2 to 50 classes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from random_tables import cases_of
from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Kind, Schema, Task

NAMES = ("a b", 'q"x', "Grün", "c'd", "E", "e", "select", "名前", "x;--", "%s", "{0}", "b\\n", "node", "y", "w", "c0")
VALUES = ("x", "X", "y'", "ü", "z\\", '"', " ", "null ", "1", "1.0", "%(a)s", "--", "日", "True")

WHOLE = (0.0, 1.0, 2.0, 3.0)
HUGE_AND_SMALL = (0.0, 2.0**40, 2.0**40 - 1, 2.0**39, 1.0, 7.0)
BROKEN = (0.0, 0.1, 0.125, 0.3, 0.5, 1.0, 2.75)

TARGETS = (-2.5, -1.0, 0.0, 0.1, 0.5, 1.0, 3.75, 100.0, 1000.125)
"""Numbers to predict: sums of their squares keep the digits that two ways of adding may differ in."""


@st.composite
def hostile_schemas(
    draw: st.DrawFn, task: Task = Task.CLASSIFICATION, *, weighted: bool = False, by_case: bool = True
) -> Schema:
    """Draw one to four attributes, a target, and maybe a column of weights, in any order.

    `by_case`: names may differ in case only.
    """
    key = None if by_case else str.casefold
    names = draw(st.lists(st.sampled_from(NAMES), min_size=3, max_size=6, unique_by=key or str))
    target, weight, *others = names
    columns = [_column(draw, name) for name in others]
    if task is Task.REGRESSION:
        columns.append(Column(target, Kind.NUMERIC))
    else:
        classes = draw(st.one_of(st.integers(2, 5), st.integers(2, 50)))
        columns.append(
            Column(target, Kind.NOMINAL, tuple(f"{VALUES[code % len(VALUES)]}{code}" for code in range(classes)))
        )
    if weighted:
        columns.append(Column(weight, Kind.NUMERIC))
    return Schema(tuple(draw(st.permutations(columns))), target=target, weight=weight if weighted else None)


def _column(draw: st.DrawFn, name: str) -> Column:
    kind = draw(st.sampled_from(list(Kind)))
    if kind is Kind.NUMERIC:
        return Column(name, kind)
    values = draw(st.lists(st.sampled_from(VALUES), min_size=2, max_size=5, unique=True))
    return Column(name, kind, tuple(values))


@st.composite
def tables(
    draw: st.DrawFn,
    task: Task = Task.CLASSIFICATION,
    *,
    missing: bool = False,
    broken: bool = False,
    by_case: bool = True,
    max_rows: int = 40,
) -> Dataset:
    """Draw a table; `broken` ones have weights that are not whole."""
    # Squares of deviations, weighed by 7 beside 2^40, need more digits than a double has: no engine could agree.
    heavy_ones = (HUGE_AND_SMALL,) if task is Task.CLASSIFICATION else ()
    weights = BROKEN if broken else draw(st.sampled_from((None, WHOLE, *heavy_ones)))
    schema = draw(hostile_schemas(task, weighted=weights is not None, by_case=by_case))
    data = draw(cases_of(schema, max_rows=max_rows, missing=missing))
    constant = draw(st.none() | st.integers(0, len(schema.attributes) - 1))
    columns = list(data.columns)
    if constant is not None:
        columns[constant] = np.full_like(columns[constant], columns[constant][0])
    target = data.target
    if task is Task.REGRESSION:
        target = np.array(draw(st.lists(st.sampled_from(TARGETS), min_size=data.n_rows, max_size=data.n_rows)))
    heavy = None
    if weights is not None:
        heavy = np.array(draw(st.lists(st.sampled_from(weights), min_size=data.n_rows, max_size=data.n_rows)))
        heavy[draw(st.integers(0, data.n_rows - 1))] = weights[1]  # somebody has to weigh something
    return replace(data, columns=tuple(columns), target=target, weights=heavy, source="cases")
