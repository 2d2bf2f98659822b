"""Forests whose bootstraps are decided by the key of each row, so that they are the same wherever the rows are.

Outside memory rows have no numbers to draw, and no order. Each row is therefore in the bag of a tree as often as a hash
of its key, the seed and the number of the tree says, which is about as often as a bootstrap would draw it: Poisson(1)
times (`treewright.counts.bags`). The same forest can be grown in memory from the same keys.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright._base.errors import ParameterError
from treewright._base.version import __version__
from treewright.counts.bags import Bags, residues_of_numbers, residues_of_texts, times
from treewright.data.dataset import Dataset
from treewright.data.schema import Schema
from treewright.ensemble.bootstrap import ATTRIBUTES, tree_key
from treewright.ensemble.growing import TreeMaker
from treewright.ensemble.plan import ForestPlan
from treewright.grow.recipe import Intervals, Recipe
from treewright.model.forest import Combining, Forest
from treewright.model.grove import pack_trees
from treewright.model.model import Smoothing
from treewright.model.tree import Tree
from treewright.prune.method import ErrorBased, ReducedError

Costs = tuple[tuple[float, ...], ...]


def bags_of(plan: ForestPlan, key: str | None) -> Bags:
    """Return the bags of the trees of a plan; without a key only if no rows are drawn.

    Examples
    --------
    >>> from treewright.ensemble.plan import forest
    >>> len(bags_of(forest(trees=3), "id"))
    3
    """
    if plan.bootstrap and key is None:
        raise ParameterError(
            "rows outside memory have no numbers, so a bootstrap draws them by a column that names every row: "
            "say which (key=..., --key COL), or grow every tree from all rows (bootstrap=False)"
        )
    return Bags.of_keys(key if plan.bootstrap else None, (tree_key(plan.seed, tree) for tree in range(plan.trees)))


def require_possible(plan: ForestPlan, schema: Schema, name: str) -> None:
    """Raise unless the forest of a plan can be counted outside memory."""
    tree = plan.tree
    if plan.max_samples is not None or plan.balanced or plan.balanced_weights:
        raise ParameterError(
            f"{name} draws every row by itself: leave out max_samples, balanced and balanced_weights, or read the table"
        )
    recipe = tree.learner.recipe
    if recipe is None:
        raise ParameterError(f"{tree.name} trees of a forest are not grown by {name}: ID3, C4.5 and CART are")
    if recipe.numeric_bins is not None:
        raise ParameterError(f"bins are made from numbers in memory, and not by {name}: leave bins out")
    if recipe.stopping.max_leaves is not None:
        raise ParameterError("under a limit of leaves trees cannot share a scan: limit the depth instead")
    if isinstance(recipe.numeric, Intervals) and any(column.is_numeric for column in schema.attributes):
        raise ParameterError(
            f"{tree.name} makes intervals of numbers, for every tree of a forest its own, which {name} does not count: "
            "use C4.5 or CART"
        )
    if any(isinstance(method, (ErrorBased, ReducedError)) for method in tree.pruning):
        raise ParameterError(f"trees of a forest are not pruned by cases that {name} holds: leave them unpruned")


def recipes_of(plan: ForestPlan, n_attributes: int) -> list[Recipe]:
    """Return the recipe of each tree: they differ in what is left to chance."""
    recipe = plan.tree.learner.recipe
    if recipe is None:
        raise ParameterError(f"{plan.tree.name} does not grow by a recipe")
    recipes = []
    for tree in range(plan.trees):
        draw = plan.draw(tree_key(plan.seed, tree, ATTRIBUTES), n_attributes)
        recipes.append(recipe if draw is None else replace(recipe, draw=draw))
    return recipes


def joined(
    trees: Sequence[Tree],
    plan: ForestPlan,
    key: str | None,
    provenance: Mapping[str, Any],
    smoothing: Smoothing = None,
    costs: Costs | None = None,
) -> Forest:
    """Make a forest of trees; it says that its bootstraps are decided by a key."""
    recipe = plan.to_dict()
    if plan.bootstrap:
        recipe |= {"bootstrap": "poisson", "key": key}
    schema = trees[0].schema
    return Forest(
        pack_trees(schema, trees), np.ones(len(trees)), Combining.MEAN, recipe, provenance, {}, smoothing, costs
    )


def grow_forest_by_key(
    dataset: Dataset,
    keys: npt.NDArray[Any] | Sequence[str],
    plan: ForestPlan,
    key: str = "key",
    *,
    smoothing: Smoothing = None,
    costs: Costs | None = None,
) -> Forest:
    """Grow in memory the forest that any engine grows from the same rows.

    Parameters
    ----------
    dataset : Dataset
        With a target.
    keys : array of whole numbers, or sequence of str
        The key of each row.
    plan : ForestPlan
    key : str
        The name of the column, which the model tells.
    smoothing, costs
        As in `Forest`.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.ensemble.plan import forest
    >>> grow_forest_by_key(sample("play-tennis"), np.arange(14), forest(trees=5)).n_trees
    5
    """
    fitting = plan.for_schema(dataset.schema)
    bags = bags_of(fitting, key)
    maker = TreeMaker(dataset, fitting.tree).prepare()
    array = np.asarray(keys)
    residues = residues_of_numbers(array) if array.dtype.kind in "iu" else residues_of_texts(map(str, keys))
    own = np.ones(dataset.n_rows) if dataset.weights is None else dataset.weights
    trees = []
    for tree, numbers in enumerate(bags.numbers):
        often = times(residues, numbers)
        drawn = often if np.any(own * often > 0) else np.ones_like(often)  # as outside memory: all cases then
        draw = fitting.draw(tree_key(fitting.seed, tree, ATTRIBUTES), len(dataset.columns))
        trees.append(maker.make(drawn if fitting.bootstrap else None, draw))
    provenance = {"treewright": __version__, "rows": dataset.n_rows, "source": dataset.source}
    return joined(trees, fitting, key, provenance, smoothing, costs)
