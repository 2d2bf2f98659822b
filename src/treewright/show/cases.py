"""Cases that are to be shown in a drawing: taken as they are, with their target if it can be had."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from treewright._base.errors import DataError
from treewright.data.dataset import Dataset
from treewright.data.encode import Unseen, encode
from treewright.data.frames import raw_table
from treewright.data.raw import RawTable
from treewright.data.schema import Schema
from treewright.model.model import TreeModel
from treewright.model.tree import Tree


def cases_for(tree: Tree, data: Any, y: Any = None) -> Dataset:
    """Encode cases by the schema of a tree.

    Parameters
    ----------
    tree : Tree
    data : Dataset, RawTable, dataframe, mapping of columns, array or rows
        With the target among the columns, or without.
    y : array, optional
        The target, where the data do not have it.

    Examples
    --------
    >>> import treewright
    >>> weather = treewright.sample("play-tennis")
    >>> tree = treewright.fit(weather, treewright.ID3()).tree
    >>> cases_for(tree, weather.X, weather.y).target.tolist() == weather.target.tolist()
    True
    """
    schema = tree.schema
    if isinstance(data, Dataset) and data.schema == schema and y is None:
        return data
    if isinstance(data, Dataset) and y is None and data.target is not None and data.schema.target == schema.target:
        y = data.y
    if y is None:
        raw = _with_names(data)
        if raw is not None and schema.target in raw.columns:
            return encode(raw, without_weight(schema), unseen=Unseen.MISSING)
    cases = TreeModel(tree).cases(data)
    if y is None:
        return cases
    labels = np.asarray(y)
    if labels.shape != (cases.n_rows,):
        raise DataError(f"y must have one value for each of the {cases.n_rows} cases, not the shape {labels.shape}")
    name = schema.target or "y"
    alone = Schema((schema.target_column,), target=name, missing_markers=schema.missing_markers)
    target = encode(raw_table({name: labels}), alone).target
    return replace(cases, target=target)


def without_weight(schema: Schema) -> Schema:
    """Return a schema that asks for no weights: those of other cases than the training ones are seldom at hand."""
    if schema.weight is None:
        return schema
    columns = tuple(column for column in schema.columns if column.name != schema.weight)
    return replace(schema, columns=columns, weight=None)


def _with_names(data: Any) -> RawTable | None:
    """Return the columns of data that have names, None where they have none."""
    if isinstance(data, RawTable):
        return data
    if isinstance(data, Mapping) or not isinstance(data, (Dataset, np.ndarray, list, tuple)):
        return raw_table(data)
    return None
