"""Trees that sample attributes: few cases are compared with each other, many sorted; the trees are the interpreted."""

from __future__ import annotations

import numpy as np
import pytest

from made_tables import difference
from treewright.counting.numpy import MemoryEngine
from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Kind, Schema
from treewright.learners.grower import grow
from treewright.learners.kernels.few_cases import MOST_CLASSES
from treewright.learners.kernels.grower import CompiledGrower
from treewright.learners.kernels.sampled_order import MOST_COMPARED
from treewright.learners.recipe import CART, AttributeSampling, MissingPolicy, Recipe, Stopping, for_regression

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # where kernels are plain Python

ATTRIBUTES = 8


def _table(seed: int, rows: int, classes: int, missing: float, weights: str) -> Dataset:
    """Return a table of numbers, some of them tied; `classes` 0 is a numeric target."""
    rng = np.random.default_rng([seed, rows, classes])
    columns = np.where(
        np.arange(ATTRIBUTES)[:, None] % 2 == 0,
        rng.normal(size=(ATTRIBUTES, rows)),
        rng.integers(0, 5, (ATTRIBUTES, rows)).astype(float),
    )
    signal = columns[0] + (columns[1] > 2) + rng.normal(size=rows)
    columns[rng.random(columns.shape) < missing] = np.nan
    attributes = tuple(Column(f"x{a}", Kind.NUMERIC) for a in range(ATTRIBUTES))
    if classes:
        target = np.digitize(signal, np.quantile(signal, np.arange(1, classes) / classes)).astype(np.int32)
        schema = Schema((*attributes, Column("y", Kind.NOMINAL, tuple(map(str, range(classes))))), "y")
    else:
        target = np.round(signal, 1)
        schema = Schema((*attributes, Column("y", Kind.NUMERIC)), "y")
    given = {
        "none": None,
        "bootstrap": rng.poisson(1, rows) + (np.arange(rows) == 0),
        "heavy": rng.integers(1, 90, rows),
        "real": rng.random(rows) + 0.1,
    }[weights]
    return Dataset(schema, tuple(columns), rows, target, None if given is None else given.astype(float))


def _assert_same(table: Dataset, recipe: Recipe, *, exact: bool) -> None:
    kept = table if table.weights is None else table.take(table.weights > 0)
    expected = grow(MemoryEngine(kept), recipe).tree
    assert difference(expected, CompiledGrower(table).grow(recipe), exact=exact) is None


@pytest.mark.parametrize("weights", ["none", "bootstrap", "heavy", "real"])
@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("policy", [MissingPolicy.LEARNED, MissingPolicy.MAJORITY])
@pytest.mark.parametrize("classes", [0, 2, 5, MOST_CLASSES, MOST_CLASSES + 1])
def test_the_tree_is_the_interpreted_one_whatever_is_added_up(
    classes: int, policy: MissingPolicy, missing: float, weights: str
) -> None:
    draw = AttributeSampling(3, 7)
    for seed, rows in enumerate((3, 17, 64, 65, MOST_COMPARED + 9)):
        table = _table(seed, rows, classes, missing, weights)
        for criterion in ("gini", "entropy") if classes else ("variance",):
            recipe = CART(criterion=criterion if classes else "gini", missing=policy, draw=draw)
            recipe = recipe if classes else for_regression(recipe)
            _assert_same(table, recipe, exact=bool(classes) and weights != "real")


@pytest.mark.parametrize("stopping", [Stopping(min_leaf=3), Stopping(min_branch=2.5), Stopping(max_depth=3)])
@pytest.mark.parametrize("classes", [0, 3])
def test_limits_on_branches_hold_among_few_cases(classes: int, stopping: Stopping) -> None:
    for seed in range(6):
        table = _table(seed, 60, classes, 0.1, "bootstrap")
        recipe = CART(draw=AttributeSampling(3, seed), stopping=stopping, missing=MissingPolicy.LEARNED)
        _assert_same(table, recipe if classes else for_regression(recipe), exact=bool(classes))


def test_cases_without_any_value_are_a_branch_of_their_own() -> None:
    table = _table(0, 40, 3, 0.0, "none")
    target = np.asarray(table.target)
    column = np.where(target == 1, np.nan, 1.0)
    cells = tuple(np.where(target == 1, np.nan, 2.0) if a == 2 else column for a in range(ATTRIBUTES))
    recipe = CART(draw=AttributeSampling(2, 5), missing=MissingPolicy.LEARNED)
    _assert_same(Dataset(table.schema, cells, 40, table.target), recipe, exact=True)
