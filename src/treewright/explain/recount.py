"""The working of a node that a model did not keep, counted again from the training data as its learner counted."""

from __future__ import annotations

from treewright._base.errors import ParameterError
from treewright.data.dataset import Dataset
from treewright.explain.training import learner_of, training_cases
from treewright.grow.recipe import Recipe
from treewright.model.model import TreeModel
from treewright.model.working import EvaluatedSplit


def counted_again(
    model: TreeModel, recipe: Recipe, node: int, data: Dataset | None
) -> tuple[tuple[EvaluatedSplit, ...] | None, tuple[str, ...]]:
    """Return what speaks for and against each attribute at a node, counted from the data, and notes on the counting."""
    if data is None:
        raise ParameterError(
            f"the model keeps no working for node {node} (large trees keep only the top): give the training data again"
        )
    cases, notes = training_cases(model, data)
    return learner_of(model).trace_node(cases, model.tree, node, recipe), notes
