"""A tree of 20,001 nodes over 200,000 rows, made by halving, without a learner."""

from __future__ import annotations

import numpy as np

from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Kind, Schema
from treewright.plans import c45
from treewright.tree.build import NodeRecord, build_tree
from treewright.tree.model import TreeModel
from treewright.tree.split import Split
from treewright.tree.tree import Stop

NODES = 20_001
ROWS = 200_000


def large_data(rows: int = ROWS) -> Dataset:
    """Return cases with six numeric attributes, two of which matter, and one nominal one."""
    rng = np.random.default_rng(1)
    names = ("age", "income", "balance", "duration", "rate", "score")
    columns = [Column(name, Kind.NUMERIC) for name in names]
    columns += [Column("region", Kind.NOMINAL, ("north", "south", "east", "west"))]
    schema = Schema((*columns, Column("buys", Kind.NOMINAL, ("no", "yes"))), target="buys")
    numbers = [rng.normal(size=rows).round(4) for _ in names]
    region = rng.integers(0, 4, rows).astype(np.int32)
    target = (numbers[0] + numbers[1] ** 2 + rng.normal(size=rows) > 1).astype(np.int32)
    return Dataset(schema, (*numbers, region), rows, target, source="customers.parquet")


def large_model(data: Dataset, nodes: int = NODES) -> TreeModel:
    """Split the heaviest leaf at its median until there are so many nodes."""
    target = np.asarray(data.target)
    records = [_leaf(target)]
    waiting = [(0, np.arange(data.n_rows))]
    turn = 0
    while len(records) < nodes:
        node, rows = waiting.pop(0)
        attribute = turn % 6
        turn += 1
        values = data.columns[attribute][rows]
        cut = float(np.partition(values, len(values) // 2)[len(values) // 2])
        left = values <= cut
        if left.all() or not left.any():
            continue
        records[node].split = Split.threshold(attribute, cut)
        records[node].stop = None
        records[node].children = [len(records), len(records) + 1]
        for part in (rows[left], rows[~left]):
            waiting.append((len(records), part))
            records.append(_leaf(target[part]))
    tree, _ = build_tree(data.schema, records)
    provenance = {"rows": data.n_rows, "source": data.source}
    return TreeModel(tree, c45().to_dict(), provenance)


def _leaf(target: np.ndarray[tuple[int], np.dtype[np.int32]]) -> NodeRecord:
    counts = np.bincount(target, minlength=2)
    return NodeRecord(float(len(target)), counts, int(np.argmax(counts)), stop=Stop.TOO_FEW)
