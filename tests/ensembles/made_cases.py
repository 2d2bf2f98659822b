"""Small made tables for the tests of forests."""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Kind, Schema


def two_moons(rows: int = 200, seed: int = 0, noise: float = 0.0) -> Dataset:
    """Make two classes that a curve separates, with three numeric columns and a nominal one; some labels flipped."""
    rng = np.random.default_rng(seed)
    x, z, u = rng.normal(size=(3, rows))
    colour = rng.integers(0, 3, rows).astype(np.int32)
    target = ((x**2 + z > 0.8) ^ (colour == 2)).astype(np.int32)
    flipped = rng.random(rows) < noise
    target[flipped] = 1 - target[flipped]
    schema = Schema(
        (
            Column("x", Kind.NUMERIC),
            Column("z", Kind.NUMERIC),
            Column("u", Kind.NUMERIC),
            Column("colour", Kind.NOMINAL, ("red", "green", "blue")),
            Column("y", Kind.NOMINAL, ("no", "yes")),
        ),
        target="y",
    )
    return Dataset(schema, (x, z, u, colour), rows, target)


def with_missing(data: Dataset, share: float = 0.1, seed: int = 0) -> Dataset:
    """Take the values of some cells away."""
    rng = np.random.default_rng(seed)
    columns: list[Any] = []
    for column in data.columns:
        gone = rng.random(data.n_rows) < share
        columns.append(np.where(gone, np.nan, column) if column.dtype.kind == "f" else np.where(gone, -1, column))
    kept = tuple(c.astype(o.dtype) for c, o in zip(columns, data.columns, strict=True))
    return Dataset(data.schema, kept, data.n_rows, data.target, data.weights)


def three_classes(rows: int = 150, seed: int = 0) -> Dataset:
    """Make three classes along two numbers."""
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, rows))
    target = np.digitize(x + 0.5 * z, [-0.5, 0.5]).astype(np.int32)
    schema = Schema(
        (Column("x", Kind.NUMERIC), Column("z", Kind.NUMERIC), Column("y", Kind.NOMINAL, ("a", "b", "c"))), target="y"
    )
    return Dataset(schema, (x, z), rows, target)


def wave(rows: int = 200, seed: int = 0, noise: float = 0.3) -> Dataset:
    """Make a number that depends on one of two columns, with noise."""
    rng = np.random.default_rng(seed)
    x, z = rng.uniform(0, 6, size=(2, rows))
    schema = Schema((Column("x", Kind.NUMERIC), Column("z", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    return Dataset(schema, (x, z), rows, np.sin(x) + rng.normal(0, noise, rows))
