"""One plain way from a dataset to a model, whatever the learner. Estimators and the command line call this."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from treewright._base.errors import DataError, ParameterError
from treewright._base.version import __version__
from treewright.counts.memory import MemoryEngine
from treewright.data.dataset import Dataset
from treewright.data.schema import Task
from treewright.grow.grower import Progress, grow
from treewright.grow.recipe import MissingPolicy, NominalTest, Recipe, for_regression
from treewright.grow.subsets import SEARCH
from treewright.model.model import Smoothing, TreeModel


def fit(
    dataset: Dataset,
    recipe: Recipe,
    *,
    class_weights: Mapping[str, float] | None = None,
    smoothing: Smoothing = None,
    progress: Progress | None = None,
) -> TreeModel:
    """Learn a tree.

    Parameters
    ----------
    dataset : Dataset
        With a target; ``dataset.weights`` are respected.
    recipe : Recipe
    class_weights : dict of str to float or None
        Factor on the weight of the cases of each class.
    smoothing : None, "laplace" or float
        How class probabilities are estimated.
    progress : callable or None
        Called with cases done and cases in all.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.grow.recipe import C45
    >>> model = fit(sample("play-tennis"), C45())
    >>> model.tree.n_leaves, model.tree.node(0).attribute.name
    (5, 'Outlook')
    """
    if dataset.n_rows == 0:
        raise DataError("there are no rows to learn from", source=dataset.source)
    if dataset.target is None:
        raise DataError("there is no target to learn from", source=dataset.source)
    if dataset.schema.task is Task.REGRESSION:
        recipe = _regression_recipe(recipe)
    elif recipe.criterion == "variance":
        raise ParameterError("variance is for a numeric target; this one has classes")
    weighted = dataset if class_weights is None else _with_class_weights(dataset, class_weights)
    engine = MemoryEngine(weighted, fractional=recipe.missing is MissingPolicy.FRACTIONAL)
    grown = grow(engine, recipe, progress=progress)
    return TreeModel(grown.tree, _described(recipe), _provenance(dataset), grown.working, smoothing)


def _regression_recipe(recipe: Recipe) -> Recipe:
    if recipe.nominal is not NominalTest.SUBSETS:
        raise ParameterError(f"{recipe.name} predicts classes; for a numeric target use CART")
    return for_regression(recipe)


def _with_class_weights(dataset: Dataset, class_weights: Mapping[str, float]) -> Dataset:
    factors = np.array([float(class_weights.get(name, 1.0)) for name in dataset.schema.classes])
    if not np.all((factors >= 0) & np.isfinite(factors)):
        raise ParameterError("class weights must be numbers of at least 0")
    own = np.ones(dataset.n_rows) if dataset.weights is None else dataset.weights
    return replace(dataset, weights=own * factors[dataset.target])


def _described(recipe: Recipe) -> dict[str, Any]:
    plain = recipe.to_dict()
    if recipe.nominal is NominalTest.SUBSETS:
        plain["subset_search"] = SEARCH
    return plain


def _provenance(dataset: Dataset) -> dict[str, Any]:
    return {"treewright": __version__, "rows": dataset.n_rows, "source": dataset.source}
