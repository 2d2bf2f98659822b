"""Small random tables and trees for property tests, and trees written by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Kind, Schema
from treewright.tree.build import NodeRecord, build_tree
from treewright.tree.split import Split
from treewright.tree.tree import Stop, Tree

SCHEMA = Schema(
    (
        Column("colour", Kind.NOMINAL, ("red", "green", "blue")),
        Column("size", Kind.NUMERIC),
        Column("flag", Kind.NOMINAL, ("no", "yes")),
        Column("age", Kind.NUMERIC),
        Column("y", Kind.NOMINAL, ("a", "b", "c")),
    ),
    target="y",
)
"""Two nominal and two numeric attributes, three classes."""


def table(schema: Schema, rows: list[tuple[Any, ...]]) -> Dataset:
    """Encode rows of values, the target last; None is missing."""
    columns: list[Any] = []
    for column, cells in zip(schema.columns, zip(*rows, strict=True), strict=True):
        if column.is_numeric:
            columns.append(np.array([np.nan if cell is None else cell for cell in cells], dtype=np.float64))
        else:
            codes = [-1 if cell is None else column.values.index(cell) for cell in cells]
            columns.append(np.array(codes, dtype=np.int32))
    return Dataset(schema, tuple(columns[:-1]), len(rows), columns[-1])


def random_cases(rng: np.random.Generator, n: int, missing: float = 0.0) -> Dataset:
    """Return cases of `SCHEMA` whose class depends a little on the attributes."""
    colour = rng.integers(0, 3, n).astype(np.int32)
    size = rng.integers(0, 6, n).astype(np.float64)
    flag = rng.integers(0, 2, n).astype(np.int32)
    age = rng.integers(0, 4, n) / 2.0
    target = np.where(rng.random(n) < 0.4, rng.integers(0, 3, n), (colour + (size > 2)) % 3).astype(np.int32)
    for codes in (colour, flag):
        codes[rng.random(n) < missing] = -1
    for numbers in (size, age):
        numbers[rng.random(n) < missing] = np.nan
    return Dataset(SCHEMA, (colour, size, flag, age), n, target)


def random_split(rng: np.random.Generator) -> Split:
    """Return a test of any form that fits `SCHEMA`."""
    match int(rng.integers(0, 6)):
        case 0:
            return Split.multiway(0, 3)
        case 1:
            return Split.multiway(2, 2)
        case 2:
            return Split.equals(0, int(rng.integers(0, 3)), 3)
        case 3:
            return Split.subsets(0, [(0, 1, 0), (0, 1, 1), (1, 0, 0)][int(rng.integers(0, 3))])
        case 4:
            return Split.threshold(int(rng.choice([1, 3])), float(rng.integers(0, 6)))
        case _:
            return Split.intervals(1, sorted(rng.choice(6, 2, replace=False).tolist()))


def random_tree(rng: np.random.Generator, cases: Dataset, tests: int) -> Tree:
    """Grow a tree with so many tests chosen at random; a missing value reaches no branch."""
    target = np.asarray(cases.target)
    records = [_leaf(target, np.arange(cases.n_rows), 0)]
    rows_of = [np.arange(cases.n_rows)]
    leaves = [0]
    for _ in range(tests):
        node = leaves.pop(int(rng.integers(0, len(leaves))))
        split = random_split(rng)
        branches = split.route(cases.columns[split.attribute][rows_of[node]])
        records[node].split, records[node].stop = split, None
        for branch in range(split.n_branches):
            rows = rows_of[node][branches == branch]
            leaves.append(len(records))
            records[node].children.append(len(records))
            records.append(_leaf(target, rows, int(records[node].outcome)))
            rows_of.append(rows)
    return build_tree(cases.schema, records)[0]


def _leaf(target: Any, rows: Any, otherwise: int) -> NodeRecord:
    counts = np.bincount(target[rows], minlength=3)
    outcome = int(np.argmax(counts)) if len(rows) else otherwise
    return NodeRecord(float(len(rows)), counts, outcome, stop=Stop.EMPTY if not len(rows) else Stop.DEPTH)


def tree_of(schema: Schema, root: dict[str, Any]) -> Tree:
    """Build a tree from nested nodes: ``class``, ``n``, ``dist``, and for a test ``attr``, ``cut``, ``children``.

    This is the shape of the recorded trees without grouped values.
    """
    records: list[NodeRecord] = []
    waiting: list[tuple[dict[str, Any], int | None]] = [(root, None)]
    while waiting:
        node, parent = waiting.pop()
        number = len(records)
        if parent is not None:
            records[parent].children.insert(0, number)  # the last branch is popped first
        split = None
        if "attr" in node:
            attribute = schema.attribute_names.index(node["attr"])
            numeric = schema.attributes[attribute].is_numeric
            values = len(schema.attributes[attribute].values)
            split = Split.threshold(attribute, node["cut"]) if numeric else Split.multiway(attribute, values)
        counts = np.array([node["dist"].get(name, 0) for name in schema.classes], dtype=np.float64)
        outcome = schema.classes.index(node["class"])
        stop = None if split else Stop.NO_GAIN
        records.append(NodeRecord(float(node["n"]), counts, outcome, split, [], stop))
        waiting += [(child, number) for _, child in node.get("children", ())]
    return build_tree(schema, records)[0]
