"""Hypothesis strategies for small tables and for trees that fit them.

Trees are made at random, not grown: any test of any attribute, any way of missing values, whole or broken weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Kind, Schema, Task
from treewright.tree.build import NodeRecord, build_tree
from treewright.tree.split import STAY, Split, Surrogate, Test
from treewright.tree.tree import Stop, Tree

NUMBERS = (-2.5, -1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 16_777_216.0, 16_777_217.0, 1e39)
"""Few numbers, so that cells repeat and meet the cuts."""


@st.composite
def schemas(draw: st.DrawFn, task: Task | None = None) -> Schema:
    """Draw one to four attributes of any kind and a target of two to five classes, or a number."""
    kinds = draw(st.lists(st.sampled_from(list(Kind)), min_size=1, max_size=4))
    columns = [_column(draw, f"a{index}", kind) for index, kind in enumerate(kinds)]
    wanted = draw(st.sampled_from(list(Task))) if task is None else task
    if wanted is Task.REGRESSION:
        target = Column("y", Kind.NUMERIC)
    else:
        target = Column("y", Kind.NOMINAL, tuple(f"c{code}" for code in range(draw(st.integers(2, 5)))))
    return Schema((*columns, target), target="y")


def _column(draw: st.DrawFn, name: str, kind: Kind) -> Column:
    if kind is Kind.NUMERIC:
        return Column(name, kind)
    return Column(name, kind, tuple(f"v{code}" for code in range(draw(st.integers(2, 4)))))


@st.composite
def cases_of(
    draw: st.DrawFn, schema: Schema, *, min_rows: int = 1, max_rows: int = 12, missing: bool = True
) -> Dataset:
    """Draw a table of a schema, with missing cells and weights now and then."""
    rows = draw(st.integers(min_rows, max_rows))
    columns = tuple(_cells(draw, column, rows, missing=missing) for column in schema.attributes)
    weights = draw(st.none() | st.lists(st.sampled_from((0.0, 0.5, 1.0, 3.0)), min_size=rows, max_size=rows))
    return Dataset(
        schema,
        columns,
        rows,
        _cells(draw, schema.target_column, rows, missing=False),
        None if weights is None else np.array(weights, dtype=np.float64),
    )


@st.composite
def datasets(draw: st.DrawFn, /, task: Task | None = None, **how: Any) -> Dataset:
    """Draw a schema and a table of it."""
    return draw(cases_of(draw(schemas(task)), **how))


def _cells(draw: st.DrawFn, column: Column, rows: int, *, missing: bool) -> npt.NDArray[Any]:
    if column.is_numeric:
        numbers = st.sampled_from((*NUMBERS, np.nan) if missing else NUMBERS)
        return np.array(draw(st.lists(numbers, min_size=rows, max_size=rows)), dtype=np.float64)
    codes = st.integers(-1 if missing else 0, len(column.values) - 1)
    return np.array(draw(st.lists(codes, min_size=rows, max_size=rows)), dtype=np.int32)


@st.composite
def splits_of(draw: st.DrawFn, schema: Schema) -> Split:
    """Draw a test of any form that fits an attribute of the schema."""
    attribute = draw(st.integers(0, len(schema.attributes) - 1))
    column = schema.attributes[attribute]
    form = draw(st.integers(0, 2))
    if column.is_numeric:
        finite = [number for number in NUMBERS if number < 1e30]
        if form == 0:
            split = Split.threshold(attribute, draw(st.sampled_from(finite)))
        else:
            bounds = draw(st.lists(st.sampled_from(finite), min_size=1, max_size=3, unique=True))
            split = Split.intervals(attribute, sorted(bounds))
    elif form == 0:
        split = Split.multiway(attribute, len(column.values))
    elif form == 1:
        split = Split.equals(attribute, draw(st.integers(0, len(column.values) - 1)), len(column.values))
    else:
        others = draw(st.lists(st.integers(-1, 1), min_size=len(column.values) - 2, max_size=len(column.values) - 2))
        split = Split.subsets(attribute, draw(st.permutations([0, 1, *others])))
    if split.test in {Test.SUBSET, Test.INTERVALS} and draw(st.booleans()):
        return _with_own_branch(split)
    return split.with_missing(draw(st.integers(STAY, split.n_branches - 1)))


def _with_own_branch(split: Split) -> Split:
    """Return the same test with one more branch, for the missing cases alone."""
    if split.test is Test.SUBSET:
        return Split.subsets(split.attribute, split.branch_of, missing=split.n_branches)
    return Split.intervals(split.attribute, split.bounds, missing=split.n_branches)


@st.composite
def trees_of(draw: st.DrawFn, schema: Schema, max_tests: int = 6) -> Tree:
    """Draw a tree whose leaves have any weights; an inner node has the sum of what is below it."""
    return build_tree(schema, draw(records_for(schema, max_tests)))[0]


@st.composite
def records_for(draw: st.DrawFn, schema: Schema, max_tests: int = 6) -> list[NodeRecord]:
    """Draw the records of a tree, parents first."""
    records = [NodeRecord(0.0, np.zeros(0), 0)]
    leaves = [0]
    for _ in range(draw(st.integers(0, max_tests))):
        node = leaves.pop(draw(st.integers(0, len(leaves) - 1)))
        split = draw(splits_of(schema))
        records[node].split = split
        if split.n_branches == 2:
            others = draw(st.lists(splits_of(schema).filter(lambda other: other.n_branches == 2), max_size=2))
            records[node].surrogates = tuple(Surrogate(other, 0.75, 0.5, draw(st.booleans())) for other in others)
        records[node].children = list(range(len(records), len(records) + split.n_branches))
        leaves += records[node].children
        records += [NodeRecord(0.0, np.zeros(0), 0) for _ in records[node].children]
    for record in reversed(records):
        below = [records[child] for child in record.children]
        _fill(draw, schema, record, below)
    return records


def _fill(draw: st.DrawFn, schema: Schema, record: NodeRecord, below: list[NodeRecord]) -> None:
    record.stop = None if below else draw(st.sampled_from(list(Stop)))
    record.p_value = draw(st.sampled_from((None, 0.0, 0.25)))
    weights = st.sampled_from((0.0, 1.0, 2.0, 3.5))
    if schema.task is Task.REGRESSION:
        record.weight = sum(node.weight for node in below) if below else draw(weights)
        record.outcome, record.sse = draw(st.sampled_from((-1.5, 0.0, 2.25))), draw(st.sampled_from((0.0, 0.5)))
        return
    classes = len(schema.classes)
    if below:
        record.counts = np.sum([node.counts for node in below], axis=0)
    else:
        record.counts = np.array(draw(st.lists(weights, min_size=classes, max_size=classes)))
    record.weight = float(record.counts.sum())
    record.outcome = int(np.argmax(record.counts))


@st.composite
def trees_and_cases(draw: st.DrawFn, /, task: Task | None = None, **how: Any) -> tuple[Tree, Dataset]:
    """Draw a tree and a table of the same schema."""
    schema = draw(schemas(task))
    return draw(trees_of(schema)), draw(cases_of(schema, **how))
