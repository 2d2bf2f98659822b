"""Discretise numeric attributes, for recipes that do so once before the tree is grown."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.counts.memory import MemoryEngine
from treewright.data.dataset import Dataset
from treewright.grow.discretise import mdl_bounds


def make_intervals(
    dataset: Dataset, rows: npt.NDArray[np.int32], weights: npt.NDArray[np.float64]
) -> tuple[dict[int, tuple[float, ...]], dict[int, npt.NDArray[Any]]]:
    """Return the bounds of each numeric attribute, found on `rows`, and the interval codes of all rows, 0 for missing.

    `weights` is empty where each row weighs one.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> bounds, codes = make_intervals(sample("play-tennis"), np.arange(14, dtype=np.int32), np.zeros(0))
    >>> bounds, codes
    ({}, {})
    """
    engine = MemoryEngine(replace(dataset.take(rows), weights=weights if len(weights) else None))
    numeric = [index for index, column in enumerate(dataset.schema.attributes) if column.is_numeric]
    [tables] = engine.count([(engine.root(), numeric)])
    bounds: dict[int, tuple[float, ...]] = {}
    codes: dict[int, npt.NDArray[Any]] = {}
    for attribute, table in zip(numeric, tables, strict=True):
        bounds[attribute] = mdl_bounds(table)
        column = dataset.columns[attribute]
        own = np.searchsorted(np.array(bounds[attribute]), column, side="left") + 1
        codes[attribute] = np.where(np.isnan(column), 0, own).astype(np.int32)
    return bounds, codes
