"""Explanation of a pruning decision: the numbers that each pruning method compared at a node.

A stage is one pruning method of the model; methods run one after the other, so a node has one stage for each method
that considered it. The decision is ``"kept"``, ``"pruned"``, ``"raised"`` (a branch replaced the node) or ``"never"``:
the node grew as a leaf, or no method considered it.

A model does not store pruned subtrees. With the training data the tree is grown and pruned again, and the numbers are
those of that moment; without them, the numbers follow from the finished tree.
"""

from __future__ import annotations

from dataclasses import dataclass

from treewright.data.dataset import Dataset
from treewright.explain.condition import Condition, conditions_to
from treewright.explain.document import Document
from treewright.explain.explanation import Explanation
from treewright.explain.language import Words
from treewright.explain.pruning_formulas import Estimate
from treewright.explain.pruning_stages import Stage, finished_stages, stages_again
from treewright.explain.training import was_pruned
from treewright.model.model import TreeModel
from treewright.model.nested import plain_number

__all__ = ["Estimate", "PruningExplanation", "Stage", "explain_pruning"]


@dataclass(frozen=True)
class PruningExplanation(Explanation):
    """What pruning compared at a node."""

    node: int
    conditions: tuple[Condition, ...]
    decision: str
    target: str
    classes: tuple[str, ...]
    counts: tuple[int | float, ...]
    weight: float
    outcome: str | float
    stages: tuple[Stage, ...]
    notes: tuple[str, ...] = ()

    def document(self, say: Words) -> Document:
        """Return the comparison in the words of a language."""
        from treewright.explain.pruning_text import pruning_document

        return pruning_document(self, say)


def explain_pruning(model: TreeModel, node: int = 0, data: Dataset | None = None) -> PruningExplanation:
    """Explain what pruning did at a node, and by which numbers.

    Parameters
    ----------
    model : TreeModel
    node : int
        An inner node or a leaf; the root is 0.
    data : Dataset or None
        The training data: needed for what was cut off, for raising, and for cases that were held out.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learn import fit
    >>> from treewright.plans import c45
    >>> weather = sample("play-tennis")
    >>> told = explain_pruning(fit(weather, c45()), 0, weather)
    >>> told.decision, [(one.kind, round(one.value, 3)) for one in told.stages[-1].estimates]
    ('kept', [('leaf', 6.795), ('tree', 5.392), ('raised', 7.739)])
    """
    view = model.tree.node(node)
    stages: tuple[Stage, ...] = ()
    notes: tuple[str, ...] = ()
    if not was_pruned(model):
        notes = ("not_pruned",)
    elif data is None:
        stages, notes = finished_stages(model, node)
    else:
        stages, notes = stages_again(model, node, data)
    tree = model.tree
    return PruningExplanation(
        node=node,
        conditions=conditions_to(tree, node),
        decision=_decision(stages, view.is_leaf, view.stop is not None and view.stop.name == "PRUNED"),
        target=tree.schema.target or "",
        classes=tree.schema.classes,
        counts=tuple(plain_number(count) for count in tree.counts[node].tolist()),
        weight=view.weight,
        outcome=view.outcome,
        stages=stages,
        notes=notes,
    )


def _decision(stages: tuple[Stage, ...], is_leaf: bool, was_cut: bool) -> str:
    told = [stage.decision for stage in stages]
    if was_cut or "pruned" in told:
        return "pruned"
    if "raised" in told:
        return "raised"
    return "never" if is_leaf or not stages else "kept"
