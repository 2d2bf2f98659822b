"""Random tables that all engines have to count alike: hostile names, NULLs, weights, many numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Kind, Schema

NAMES = ("a b", 'q"x', "Grün", "c'd", "E")
VALUES = ("x", "y'", "ü", "z\\")


def random_table(seed: int, *, rows: int = 200, missing: bool = True, regression: bool = False) -> Dataset:
    """Return a table with attributes of all kinds, whose target depends on them; weights now and then."""
    draw = np.random.default_rng(seed)
    classes = int(draw.integers(2, 5))
    target = draw.integers(0, classes, rows).astype(np.int32)
    columns: list[Column] = []
    data: list[Any] = []
    for name in NAMES[: int(draw.integers(2, 6))]:
        if draw.random() < 0.4:
            width = int(draw.integers(2, 5))
            codes = ((target + draw.integers(0, width, rows)) % width).astype(np.int32)
            if missing:
                codes[draw.random(rows) < 0.1] = -1
            columns.append(Column(name, Kind.NOMINAL if draw.random() < 0.7 else Kind.ORDINAL, VALUES[:width]))
            data.append(codes)
        else:
            numbers = np.round(draw.normal(size=rows) + target * draw.random(), int(draw.integers(0, 7)))
            if missing and draw.random() < 0.5:
                numbers[draw.random(rows) < 0.1] = np.nan
            columns.append(Column(name, Kind.NUMERIC))
            data.append(numbers + 0.0)
    weights = None
    if draw.random() < 0.4:
        weights = draw.integers(0, 4, rows).astype(np.float64)
        columns.append(Column("w", Kind.NUMERIC))
    if regression:
        columns.append(Column("t", Kind.NUMERIC))
        answers: np.ndarray[Any, np.dtype[np.float64]] = np.round(draw.normal(size=rows) + target, 3)
        schema = Schema(tuple(columns), target="t", weight=None if weights is None else "w")
        return Dataset(schema, tuple(data), rows, answers, weights, "cases")
    columns.append(Column("t", Kind.NOMINAL, tuple(f"k{code}" for code in range(classes))))
    schema = Schema(tuple(columns), target="t", weight=None if weights is None else "w")
    return Dataset(schema, tuple(data), rows, target, weights, "cases")
