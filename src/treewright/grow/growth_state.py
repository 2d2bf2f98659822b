"""The state of growing as a file: the tree so far is a model file, whose open nodes say what is needed to go on.

Nothing of a state file is believed that a model file would not be believed; one of another table, recipe or version
is refused, not continued.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from treewright._base.errors import ModelFormatError, ParameterError
from treewright.counts.engine import Summary
from treewright.data.schema import Schema, Task
from treewright.grow.in_place import GrowthState, OpenNode
from treewright.grow.monotonic import Span
from treewright.model.build import build_tree, records_of
from treewright.model.format import load_model, save_model
from treewright.model.model import TreeModel
from treewright.model.tree import Stop

_KEY = "growing"


class GrowthFile:
    """Keeps the state of one run.

    Parameters
    ----------
    path : path
    recipe : dict
        The plan in plain data; a state of another one is refused.
    provenance : dict
        Version, rows and source, likewise.
    schema : Schema
        Likewise.
    """

    def __init__(
        self, path: str | os.PathLike[str], recipe: Mapping[str, Any], provenance: Mapping[str, Any], schema: Schema
    ) -> None:
        self._path = Path(path)
        self._recipe = dict(recipe)
        self._provenance = dict(provenance)
        self._schema = schema

    def save(self, state: GrowthState) -> None:
        """Write the state in place of the former one."""
        for node in state.open_nodes:
            state.records[node.record].stop = Stop.OPEN
        tree, order = build_tree(self._schema, state.records)
        for node in state.open_nodes:
            state.records[node.record].stop = None
        number = {record: node for node, record in enumerate(order)}
        growing = {
            "open": [_open_to_plain(node, number[node.record]) for node in state.open_nodes],
            "bounds": {str(attribute): list(bounds) for attribute, bounds in state.bounds.items()},
        }
        working = {number[record]: entries for record, entries in state.working.items()}
        save_model(TreeModel(tree, self._recipe, self._provenance | {_KEY: growing}, working), self._path)

    def load(self) -> GrowthState | None:
        """Return the state that is there, None if there is none."""
        if not self._path.exists():
            return None
        model = load_model(self._path)
        if not isinstance(model, TreeModel) or _KEY not in model.provenance:
            raise ParameterError(f"{self._path} is a file of its own, not the state of learning that was broken off")
        told = {key: value for key, value in model.provenance.items() if key != _KEY}
        same = told == self._provenance and dict(model.recipe) == self._recipe and model.schema == self._schema
        if not same:
            raise ParameterError(
                f"{self._path} is the state of another run (other table, columns, options or version): "
                "remove it, or name another file"
            )
        records = records_of(model.tree)
        for record in records:
            if record.stop is Stop.OPEN:
                record.stop = None
        growing = model.provenance[_KEY]
        try:
            nodes = [_open_from_plain(plain, model) for plain in growing["open"]]
            bounds = {int(attribute): tuple(map(float, some)) for attribute, some in growing["bounds"].items()}
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise ModelFormatError(f"{self._path}: the open nodes cannot be understood: {error!r:.100}") from error
        return GrowthState(records, nodes, dict(model.working), bounds)

    def remove(self) -> None:
        """Remove the file: the tree is complete."""
        self._path.unlink(missing_ok=True)


def _open_to_plain(node: OpenNode, number: int) -> dict[str, Any]:
    return {
        "node": number,
        "depth": node.depth,
        "used": sorted(node.used),
        "key": str(node.key),
        "span": [repr(node.span.low), repr(node.span.high)],
        "cases": node.summary.cases,
        "pure": node.summary.pure,
    }


def _open_from_plain(plain: Mapping[str, Any], model: TreeModel) -> OpenNode:
    number = int(plain["node"])
    tree = model.tree
    weight, cases, pure = float(tree.weight[number]), int(plain["cases"]), bool(plain["pure"])
    if not 0 <= number < tree.n_nodes or cases < 0 or not math.isfinite(weight):
        raise ValueError(f"node {number}")
    if model.schema.task is Task.REGRESSION and tree.sse is not None:
        sse = float(tree.sse[number])
        summary = Summary(weight, cases, np.array([weight, 0.0, sse]), pure, float(tree.outcome[number]), sse)
    else:
        summary = Summary(weight, cases, tree.counts[number], pure)
    low, high = (float(bound) for bound in plain["span"])
    used = frozenset(int(attribute) for attribute in plain["used"])
    return OpenNode(number, int(plain["depth"]), used, int(plain["key"]), Span(low, high), summary)
