"""One function for every question about a tree; `TreeModel.explain` and the estimators call it."""

from __future__ import annotations

from typing import Any

from treewright.data.dataset import Dataset
from treewright.errors import ParameterError
from treewright.explain.document import Explanation
from treewright.explain.growth_steps import growth_steps
from treewright.explain.node import explain_node
from treewright.explain.prediction import explain_prediction
from treewright.explain.pruning import explain_pruning
from treewright.explain.whole_tree import explain_tree
from treewright.tree.model import TreeModel


def explain(
    model: Any,
    row: Any = None,
    *,
    node: int | None = None,
    pruning: bool = False,
    steps: bool = False,
    data: Dataset | None = None,
) -> Explanation:
    """Explain a tree, a prediction, a node, its pruning, or the growth; see `treewright.TreeModel.explain`.

    Parameters
    ----------
    model : TreeModel, or an estimator that has learned one
    row, node, pruning, steps, data
        As in `TreeModel.explain`.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.fitting.learn import fit
    >>> from treewright.plans import id3
    >>> model = fit(sample("play-tennis"), id3())
    >>> type(explain(model)).__name__, type(explain(model, steps=True)).__name__
    ('TreeExplanation', 'Growth')
    """
    tree = model if isinstance(model, TreeModel) else getattr(model, "model_", None)
    if not isinstance(tree, TreeModel):
        raise ParameterError(f"there is no tree to explain in {type(model).__name__}: it has not learned one")
    if data is not None and not isinstance(data, Dataset):
        raise ParameterError(f"data must be a Dataset, as treewright.read returns it, not {type(data).__name__}")
    requested = {"row": row is not None, "steps": steps, "node": node is not None or pruning}
    if sum(requested.values()) > 1:
        names = " and ".join(name for name, given in requested.items() if given)
        raise ParameterError(f"one question at a time: {names} do not go together")
    if row is not None:
        return explain_prediction(tree, row, data)
    if steps:
        return growth_steps(tree, data)
    if pruning:
        return explain_pruning(tree, node or 0, data)
    return explain_tree(tree) if node is None else explain_node(tree, node, data)
