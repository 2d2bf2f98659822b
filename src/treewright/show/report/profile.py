"""The data in a few numbers for each column: kind, distinct values, missing ones, and the shape of its distribution."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.data.schema import Column
from treewright.show.report.tree_arrays import KINDS, short, shown

BINS = 16
"""Bars of a histogram."""

MOST_VALUES = 8
"""Values of a nominal column that are told; the others are one bar."""

MOST_COLUMNS = 2_000
"""Columns that are told at all."""


def profile(data: Dataset) -> dict[str, Any]:
    """Return the profile of the target and of every attribute.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> found = profile(sample("play-tennis"))
    >>> found["rows"], found["columns"][0]["name"], found["columns"][0]["values"][0]
    (14, 'PlayTennis', ['Yes', 9])
    """
    schema = data.schema
    told = []
    if data.target is not None:
        told.append({**_column(schema.target_column, data.target), "role": "target"})
    pairs = zip(schema.attributes, data.columns, strict=True)
    told += [_column(column, cells) for column, cells in list(pairs)[:MOST_COLUMNS]]
    result: dict[str, Any] = {"rows": data.n_rows, "columns": told}
    if len(schema.attributes) > MOST_COLUMNS:
        result["more"] = len(schema.attributes) - MOST_COLUMNS
    return result


def _column(column: Column, cells: npt.NDArray[Any]) -> dict[str, Any]:
    told: dict[str, Any] = {"name": shown(column.name), "kind": KINDS.index(column.kind)}
    return told | (_numeric(cells) if column.is_numeric else _nominal(column, cells))


def _nominal(column: Column, codes: npt.NDArray[Any]) -> dict[str, Any]:
    known = codes[codes >= 0]
    counts = np.bincount(known, minlength=len(column.values))
    order = np.argsort(-counts, kind="stable") if len(counts) > MOST_VALUES else np.arange(len(counts))
    top = order[:MOST_VALUES].tolist()
    told: dict[str, Any] = {
        "distinct": int(np.count_nonzero(counts)),
        "missing": int(len(codes) - len(known)),
        "values": [[shown(column.values[code]), int(counts[code])] for code in top],
    }
    if len(counts) > len(top):
        told["others"] = int(len(known) - counts[top].sum())
    return told


def _numeric(values: npt.NDArray[Any]) -> dict[str, Any]:
    known = np.sort(values[~np.isnan(values)])
    told: dict[str, Any] = {"distinct": 0, "missing": int(len(values) - len(known))}
    if len(known) == 0:
        return told
    told["distinct"] = int(1 + np.count_nonzero(known[1:] != known[:-1]))
    quarters = [known[min(len(known) - 1, int(share * len(known)))] for share in (0.25, 0.5, 0.75)]
    low, high = float(known[0]), float(known[-1])
    told["range"] = short([low, *quarters, high])
    if low < high and high - low < float("inf"):  # the range of very large numbers is no number
        told["bins"] = np.histogram(known, BINS, (low, high))[0].tolist()
    return told
