"""Training data as a model weighted them, and the tree grown from them before pruning.

The weight of a case is its own weight times that of its class times the factor of its prior. A model stores only the
pruned tree; the same learner grows the same full tree again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.errors import ModelFormatError, ParameterError
from treewright.learners.base import TreeLearner
from treewright.learners.recipe import recipe_from_dict
from treewright.plans import Plan
from treewright.pruning.methods import split_off
from treewright.tree.model import TreeModel
from treewright.tree.tree import Tree

if TYPE_CHECKING:
    from treewright.learners.rpart.nodes import RpartGrowth

CLASS_WEIGHTS = "class_weights"
"""Key of the class weights in the provenance of a model."""


def learner_name(model: TreeModel) -> str:
    """Return the name of the learner; empty for a recipe of the shared grower."""
    options = model.recipe.get("options")
    return str(options.get("learner", "")) if isinstance(options, Mapping) else ""


@contextmanager
def model_format_errors(what: str) -> Iterator[None]:
    """Raise ModelFormatError for any error in the plain data of a model file: model files are not trusted."""
    try:
        yield
    except (TypeError, KeyError, ValueError, AttributeError, IndexError) as error:
        raise ModelFormatError(f"the {what} in the model cannot be understood: {error}") from error


def learner_of(model: TreeModel) -> TreeLearner:
    """Return the learner of a model, built from its stored options.

    If the learner is not registered, the recipe stored in the model takes its place.
    """
    kind = Plan.learner_kinds().get(learner_name(model))
    if kind is None:
        return recipe_from_dict(model.recipe)
    with model_format_errors("options"):
        return kind.from_options({key: value for key, value in model.recipe["options"].items() if key != "learner"})


def training_cases(model: TreeModel, data: Dataset) -> tuple[Dataset, tuple[str, ...]]:
    """Return the cases with the weights they had when the tree was grown, and the codes of notes.

    Parameters
    ----------
    model : TreeModel
    data : Dataset
        What the model was learned from.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.fitting.learn import fit
    >>> from treewright.plans import id3
    >>> weather = sample("play-tennis")
    >>> training_cases(fit(weather, id3()), weather)[1], training_cases(fit(weather, id3()), weather.take([0, 2]))[1]
    ((), ('other_counts',))
    """
    if data.schema.attributes != model.schema.attributes:
        raise ParameterError("these data are not of the model's schema")
    if data.target is None:
        raise ParameterError("the training data need their target to be counted again")
    cases = _by_class_weights(model, split_held_out(model, data)[0])
    cases = learner_of(model).counted(cases, model.tree)
    return cases, _notes(model, cases)


def split_held_out(model: TreeModel, data: Dataset) -> tuple[Dataset, Dataset | None]:
    """Return the cases to grow from and those held out by reduced-error pruning, None if there are none."""
    with model_format_errors("pruning"):
        for method in model.recipe.get("pruning", ()):
            if method.get("method") == "reduced_error" and "share" in method and not _pruned_later(model):
                return split_off(data, float(method["share"]), int(method["seed"]))
    return data, None


def _pruned_later(model: TreeModel) -> bool:
    """Return True if reduced-error pruning ran after training (`treewright prune`), with its own cases."""
    root = float(model.tree.weight[0])
    return model.provenance.get("rows") == root


def _by_class_weights(model: TreeModel, cases: Dataset) -> Dataset:
    recorded = model.provenance.get(CLASS_WEIGHTS)
    if not isinstance(recorded, Mapping):
        return cases
    with model_format_errors("class weights"):
        factors = np.array([float(recorded.get(name, 1.0)) for name in model.schema.classes])
    return _by_class(cases, factors)


def _by_class(cases: Dataset, factors: npt.NDArray[np.float64]) -> Dataset:
    weights = cases.case_weights
    return replace(cases, weights=weights * factors[cases.target])


def _notes(model: TreeModel, cases: Dataset) -> tuple[str, ...]:
    """Return the notes on counts that differ: weights that were not stored, or other data."""
    tree = model.tree
    weights = cases.case_weights
    if tree.is_regression:
        same = bool(np.isclose(weights.sum(), tree.weight[0], rtol=1e-6))
        return () if same else ("other_counts",)
    counts = np.bincount(np.asarray(cases.target), weights, len(model.schema.classes))
    if np.allclose(counts, tree.counts[0], rtol=1e-6, atol=1e-9):
        return ()
    if model.provenance.get("rows") != cases.n_rows:
        return ("other_counts",)
    # As many rows: either the cases weighed something else, or they are other cases.
    counted = tree.weight[0] == cases.n_rows and tree.counts.dtype.kind == "i" and cases.weights is None
    return ("other_counts",) if counted else ("class_weights_unrecorded",)


def was_pruned(model: TreeModel) -> bool:
    """Return True if the tree was changed after it was grown."""
    return bool(learner_of(model).prunes_itself or model.recipe.get("pruning"))


def rpart_growth(model: TreeModel, data: Dataset) -> RpartGrowth:
    """Grow the tree of a model as rpart does and return the whole growth."""
    growth = getattr(learner_of(model), "growth", None)
    if growth is None:
        raise ParameterError(f"{model.recipe.get('name')} was not grown as rpart grows trees")
    found: RpartGrowth = growth(_by_class_weights(model, data))
    return found


def grow_unpruned_again(model: TreeModel, data: Dataset) -> Tree:
    """Return the tree before it was pruned.

    Parameters
    ----------
    model : TreeModel
    data : Dataset
        What the model was learned from.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.fitting.learn import fit
    >>> from treewright.plans import id3
    >>> lenses = sample("contact-lenses")
    >>> model = fit(lenses, id3(prune="mdl"))
    >>> len(model.tree), len(grow_unpruned_again(model, lenses))
    (5, 15)
    """
    return learner_of(model).grow_unpruned(_by_class_weights(model, split_held_out(model, data)[0]))
