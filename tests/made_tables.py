"""Tables made from a seed, of all that a table may have, and recipes to grow them by.

They are larger than Hypothesis likes to draw: kernels have paths that only many rows reach.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Kind, Schema
from treewright.learners.recipe import (
    C45,
    CART,
    ID3,
    AttributeSampling,
    MissingPolicy,
    Recipe,
    Stopping,
    for_regression,
)
from treewright.tree.tree import Tree


def made_table(seed: int, *, regression: bool = False, rows: int = 200) -> Dataset:
    """Return columns of every kind with and without missing values, weights, and two to fifty classes."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, rows))
    missing_share = float(rng.choice([0.0, 0.0, 0.1, 0.5]))
    made = [_column(rng, index, n, missing_share) for index in range(int(rng.integers(1, 7)))]
    weights: npt.NDArray[np.float64] | None = None
    match int(rng.integers(0, 4)):
        case 2:
            weights = rng.integers(0, 4, n).astype(np.float64)
        case 3:
            weights = rng.random(n) * 3
    if weights is not None and not np.any(weights > 0):
        weights = None
    target: npt.NDArray[Any]
    if regression:
        target = rng.normal(size=n) * 10 + 1000 if rng.random() < 0.5 else rng.integers(0, 5, n).astype(np.float64)
        column = Column("y", Kind.NUMERIC)
    else:
        classes = int(rng.choice([2, 2, 3, 5, 50]))
        signal = np.nan_to_num(np.abs(made[0][1].astype(np.float64)) * 7) % classes
        target = np.where(rng.random(n) < 0.5, signal, rng.integers(0, classes, n)).astype(np.int32)
        column = Column("y", Kind.NOMINAL, tuple(f"c{code}" for code in range(classes)))
    schema = Schema((*(one for one, _ in made), column), target="y")
    return Dataset(schema, tuple(cells for _, cells in made), n, target, weights)


def _column(rng: np.random.Generator, index: int, n: int, missing_share: float) -> tuple[Column, npt.NDArray[Any]]:
    missing = rng.random(n) < missing_share
    match int(rng.integers(0, 4)):
        case 0 | 1 as ordinal:
            values = int(rng.integers(1, 6 if ordinal else 14))
            kind = Kind.ORDINAL if ordinal else Kind.NOMINAL
            codes = np.where(missing, -1, rng.integers(0, values, n)).astype(np.int32)
            return Column(f"a{index}", kind, tuple(f"v{code}" for code in range(values))), codes
        case 2:
            numbers = rng.integers(-3, int(rng.choice([2, 10, 50])), n).astype(np.float64)
        case _:
            numbers = rng.normal(size=n) * float(rng.choice([1, 1e-6, 1e9]))
    return Column(f"a{index}", Kind.NUMERIC), np.where(missing, np.nan, numbers)


def recipes(seed: int, *, regression: bool = False) -> list[Recipe]:
    """Return recipes of every kind that kernels grow, with options drawn from the seed."""
    rng = np.random.default_rng(seed + 10**6)
    stopping = Stopping(
        max_depth=[None, 3][int(rng.integers(0, 2))],
        min_cases=int(rng.choice([2, 10])),
        min_leaf=int(rng.choice([1, 3])),
        min_share=float(rng.choice([0, 0.02])),
        min_decrease=float(rng.choice([0, 0.01])),
    )
    draw = None
    if rng.random() < 0.5:
        draw = AttributeSampling(
            2, int(rng.integers(0, 99)), per_tree=rng.random() < 0.3, random_cuts=rng.random() < 0.4
        )
    missing = [MissingPolicy.LEARNED, MissingPolicy.MAJORITY, MissingPolicy.FRACTIONAL][int(rng.integers(0, 3))]
    criterion = str(rng.choice(["gini", "entropy", "chi2"]))
    cart = CART(criterion=criterion, stopping=stopping, missing=missing, draw=draw)
    if regression:
        return [for_regression(cart)]
    c45 = C45(
        min_objects=float(rng.choice([1, 2, 5])),
        criterion=str(rng.choice(["gain", "gain_ratio"])),
        mdl_correction=bool(rng.random() < 0.5),
    )
    return [cart, replace(c45, draw=draw), ID3(criterion=str(rng.choice(["gain", "gini", "chi2"])))]


def is_exact(dataset: Dataset, recipe: Recipe, *, regression: bool) -> bool:
    """Return True if all counts are whole numbers, so that trees must be equal bit by bit."""
    whole = dataset.weights is None or bool(np.all(dataset.weights == np.floor(dataset.weights)))
    return whole and not regression and not (dataset.has_missing and recipe.missing is MissingPolicy.FRACTIONAL)


def difference(one: Tree, other: Tree, *, exact: bool) -> str | None:
    """Return the first array in which two trees differ, None if they are the same (to 1e-9 unless exact).

    Both are validated: growers do not do so, so the tests of every grower that compare its trees are where it is done.
    """
    one.validate()
    other.validate()
    for name in (
        "attribute", "test", "missing", "child_start", "children", "value_start", "value_branch", "bound_start",
        "bounds", "stop", "cut",
    ):  # fmt: skip
        if not np.array_equal(getattr(one, name), getattr(other, name), equal_nan=name in ("cut", "bounds")):
            return name
    for name in ("weight", "counts", "outcome", "sse"):
        here, there = getattr(one, name), getattr(other, name)
        if here is None or there is None:
            if here is not there:
                return name
        elif exact:
            if here.dtype != there.dtype or not np.array_equal(here, there):
                return name
        elif not np.allclose(here, there, rtol=1e-9, atol=1e-9 * max(1.0, float(np.abs(there).max(initial=0)))):
            return name
    return None


def filled(columns: tuple[npt.NDArray[Any], ...]) -> tuple[npt.NDArray[Any], ...]:
    """Return the columns with a zero or the first value instead of what is missing."""
    return tuple(np.nan_to_num(cells) if cells.dtype.kind == "f" else np.maximum(cells, 0) for cells in columns)
