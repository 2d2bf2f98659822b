"""Numbers for learners that know declared values only: intervals before learning, and the numbers' own tests after it.

Vocabulary
----------
bounds
    The inner borders of the intervals of a numeric attribute, found by the entropy tables with the MDL stop (see
    `treewright.grow.discretise`); a number equal to a bound lies in the interval below it. No bounds make one
    interval, which tells nothing apart, so that the attribute is never tested.
interval column
    The nominal column that stands in for a numeric one: its values are the intervals in ascending order, written as
    conditions.

Invariants
----------
Interval columns have the name and the place of the numeric ones, so attributes keep their numbers; all other columns
stay as they are. A tree that `with_intervals` has turned back sends every case where the first one sent it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from treewright._base.errors import ParameterError
from treewright.counts.memory import MemoryEngine
from treewright.data.dataset import Dataset
from treewright.data.raw import Codes, Floats
from treewright.data.schema import Column, Kind, Schema, Task
from treewright.grow.discretise import mdl_bounds
from treewright.model.build import build_tree, records_of
from treewright.model.split import Split, Test
from treewright.model.tree import Tree

Bounds = Mapping[int, tuple[float, ...]]
"""Bounds by attribute; attributes that are not numeric are not in it."""


def as_nominal(dataset: Dataset) -> tuple[Dataset, Bounds]:
    """Replace the numeric columns by intervals that the classes ask for.

    Parameters
    ----------
    dataset : Dataset
        With classes.

    Returns
    -------
    dataset : Dataset
        The same cases without numbers.
    bounds : dict of int to tuple of float
        For `in_intervals` and `with_intervals`.

    Examples
    --------
    >>> schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NOMINAL, ("a", "b"))), target="y")
    >>> numbers = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, np.nan])
    >>> cases = Dataset(schema, (numbers,), 8, np.array([0, 0, 0, 0, 1, 1, 1, 1], dtype=np.int32))
    >>> nominal, bounds = as_nominal(cases)
    >>> bounds, nominal.schema.attributes[0].values, nominal.columns[0].tolist()
    ({0: (4.5,)}, ('<= 4.5', '> 4.5'), [0, 0, 0, 0, 1, 1, 1, -1])
    """
    if dataset.schema.task is Task.REGRESSION:
        raise ParameterError(f"intervals are made for classes, and the target {dataset.schema.target!r} is a number")
    numeric = [place for place, column in enumerate(dataset.schema.attributes) if column.is_numeric]
    if not numeric:
        return dataset, {}
    engine = MemoryEngine(dataset)
    [tables] = engine.count([(engine.root(), numeric)])
    bounds = {attribute: mdl_bounds(table) for attribute, table in zip(numeric, tables, strict=True)}
    return in_intervals(dataset, bounds), bounds


def in_intervals(dataset: Dataset, bounds: Bounds) -> Dataset:
    """Replace the numeric columns by intervals with these bounds.

    Parameters
    ----------
    dataset : Dataset
        With or without a target.
    bounds : dict of int to tuple of float
        For every numeric attribute.

    Examples
    --------
    >>> schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NOMINAL, ("a", "b"))), target="y")
    >>> in_intervals(Dataset(schema, (np.array([9.0, 4.5]),), 2), {0: (4.5,)}).columns[0].tolist()
    [1, 0]
    """
    if not bounds:
        return dataset
    columns = tuple(
        _interval_codes(column, bounds[place]) if place in bounds else column
        for place, column in enumerate(dataset.columns)
    )
    return replace(dataset, schema=interval_schema(dataset.schema, bounds), columns=columns)


def interval_schema(schema: Schema, bounds: Bounds) -> Schema:
    """Return the schema with interval columns in place of the numeric ones."""
    for place, inner in bounds.items():
        name = schema.attributes[place].name
        schema = schema.with_column(Column(name, Kind.NOMINAL, interval_labels(inner)))
    return schema


def interval_labels(bounds: tuple[float, ...]) -> tuple[str, ...]:
    """Return the intervals as conditions, from the lowest to the highest.

    Examples
    --------
    >>> interval_labels((1.5, 3.0)), interval_labels(())
    (('<= 1.5', '> 1.5, <= 3', '> 3'), ('any',))
    """
    if not bounds:
        return ("any",)
    split, column = Split.intervals(0, bounds), Column("", Kind.NUMERIC)
    return tuple(split.describe(branch, column) for branch in range(split.n_branches))


def with_intervals(tree: Tree, schema: Schema, bounds: Bounds) -> Tree:
    """Turn the tests of interval columns back into tests of the numbers.

    Parameters
    ----------
    tree : Tree
        Grown on what `as_nominal` or `in_intervals` returned, with a branch for every interval.
    schema : Schema
        The one with the numeric columns.
    bounds : dict of int to tuple of float

    Returns
    -------
    Tree
        With the same nodes, counts and reasons.

    Examples
    --------
    >>> from treewright.grow.recipe import ID3
    >>> from treewright.learn import fit
    >>> schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NOMINAL, ("a", "b"))), target="y")
    >>> target = np.array([0, 0, 0, 0, 1, 1, 1, 1], dtype=np.int32)
    >>> nominal, bounds = as_nominal(Dataset(schema, (np.arange(8.0),), 8, target))
    >>> with_intervals(fit(nominal, ID3()).tree, schema, bounds).split(0).bounds
    (3.5,)
    """
    records = records_of(tree)
    for number, record in enumerate(records):
        split = record.split
        if split is None or split.attribute not in bounds:
            continue
        if split.test is not Test.NOMINAL:
            raise ParameterError(f"node {number} has no branch for every interval, but a test '{split.test}'")
        record.split = Split.intervals(split.attribute, bounds[split.attribute], split.missing)
    return build_tree(schema, records)[0]


def _interval_codes(column: Codes | Floats, bounds: tuple[float, ...]) -> Codes:
    codes = np.searchsorted(np.array(bounds, dtype=np.float64), column, side="left")
    return np.where(np.isnan(column), -1, codes).astype(np.int32)
