"""Why a case is predicted as it is: its path, the cases of its leaf, and what would change the prediction.

Explanation of a prediction: the path of the case, the training cases of its leaf, and a counterfactual. A step of the
path is decided by the ``"value"`` of the case, by a ``"surrogate"`` or the ``"default"`` branch where it is missing; or
fractions of the case go to all branches (``"divided"``), or the case ``"stays"`` at the node. The shares of the leaves
of a fractional case sum to one.

A prediction written out: the tests on its path, the cases of its leaf, and the smallest change that alters it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from treewright.data.columns import number_text
from treewright.data.dataset import Dataset
from treewright.data.schema import Column
from treewright.errors import ParameterError
from treewright.explain.conditions import Condition, condition_of, conditions_to, where
from treewright.explain.counterfactual import Change, Counterfactual, smallest_change
from treewright.explain.document import Block, Document, Explanation, Heading, Items, Paragraph, Table, name
from treewright.explain.language import Words
from treewright.explain.node import SurrogateExplanation, outcome_text
from treewright.tree.io.tree_json import plain_number
from treewright.tree.model import TreeModel
from treewright.tree.split import FRACTIONAL, STAY, Split
from treewright.tree.tree import Tree
from treewright.wording import did_you_mean, number

VALUE, SURROGATE, DEFAULT, DIVIDED, STAYS = "value", "surrogate", "default", "divided", "stays"


@dataclass(frozen=True)
class PathStep:
    """One test that the case met.

    Parameters
    ----------
    node : int
    attribute : str
    value : str or None
        What the case has; None where it is missing.
    how : {"value", "surrogate", "default", "divided", "stays"}
    condition : Condition or None
        Of the branch that it took; None where it was divided or stays.
    surrogate : SurrogateExplanation or None
        The test that stood in, with the condition that the case meets.
    share : float
        Of the case that is at this node.
    """

    node: int
    attribute: str
    value: str | None
    how: str
    condition: Condition | None
    surrogate: SurrogateExplanation | None
    share: float


@dataclass(frozen=True)
class ReachedLeaf:
    """A leaf that the case, or a part of it, comes to, with its training cases."""

    node: int
    share: float
    outcome: str | float
    weight: float
    counts: tuple[int | float, ...]
    conditions: tuple[Condition, ...]


@dataclass(frozen=True)
class PredictionExplanation(Explanation):
    """All about one prediction."""

    target: str
    outcome: str | float
    classes: tuple[str, ...]
    probabilities: tuple[float, ...] | None
    given: Mapping[str, str | None]
    steps: tuple[PathStep, ...]
    leaves: tuple[ReachedLeaf, ...]
    counterfactual: Counterfactual | None
    notes: tuple[str, ...] = ()

    def document(self, say: Words) -> Document:
        """Return the path and all the rest in the words of a language."""
        return prediction_document(self, say)


def explain_prediction(model: TreeModel, row: Any, data: Dataset | None = None) -> PredictionExplanation:
    """Explain what the model says of one case.

    Parameters
    ----------
    model : TreeModel
    row : dict of name to value, or a table with one row
        A column that a dict does not name is missing.
    data : Dataset or None
        Training data, for how far the values of each numeric attribute spread; without them the cuts in the tree tell.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.fitting.learn import fit
    >>> from treewright.plans import id3
    >>> model = fit(sample("play-tennis"), id3())
    >>> told = explain_prediction(model, {"Outlook": "Rain", "Wind": "Weak", "Humidity": "Normal"})
    >>> told.outcome, [str(step.condition) for step in told.steps]
    ('Yes', ['Outlook = Rain', 'Wind = Weak'])
    >>> [str(change.condition) for change in told.counterfactual.changes], told.counterfactual.outcome
    (['Wind = Strong'], 'No')
    """
    case = one_case(model, row)
    tree = model.tree
    steps, leaves = _walk(tree, case)
    outcome: str | float
    probabilities = None
    if tree.is_regression:
        outcome = float(model.predict(case)[0])
    else:
        outcome = tree.schema.classes[int(model.predict_codes(case)[0])]
        probabilities = tuple(float(share) for share in model.predict_proba(case)[0])
    found = smallest_change(model, case, data)
    notes = () if found is not None else ("no_counterfactual",)
    return PredictionExplanation(
        target=tree.schema.target or "",
        outcome=outcome,
        classes=tree.schema.classes,
        probabilities=probabilities,
        given={column.name: value_text(column, case, place) for place, column in enumerate(tree.schema.attributes)},
        steps=steps,
        leaves=leaves,
        counterfactual=found,
        notes=notes,
    )


def one_case(model: TreeModel, row: Any) -> Dataset:
    """Encode one case; columns that a dict does not name are missing, unknown names are refused.

    A row of a dataframe counts as a dict, a plain row of values has them in the order of the columns.
    """
    if getattr(row, "ndim", 2) == 1:
        row = row.to_dict() if hasattr(row, "to_dict") else np.asarray(row, dtype=object).reshape(1, -1)
    if isinstance(row, Mapping):
        names = model.schema.attribute_names
        for given in row:
            if given not in names and given != model.schema.target:
                hint = did_you_mean(str(given), names)
                raise ParameterError(f"the model has no attribute {given!r}{hint}")
        row = {name: [_single(row.get(name))] for name in names}
    case = model.cases(row)
    if case.n_rows != 1:
        raise ParameterError(f"one case is explained at a time, and these are {case.n_rows}")
    return case


def _single(value: Any) -> Any:
    if isinstance(value, (list, tuple, np.ndarray)):
        if len(value) != 1:
            raise ParameterError(f"one case is explained at a time, and a column has {len(value)} values")
        return value[0]
    return value


def value_text(column: Column, case: Dataset, place: int) -> str | None:
    """Return the value of a case as text, None where it is missing."""
    value = case.columns[place][0]
    if column.is_numeric:
        return None if np.isnan(value) else number_text(float(value))
    return None if value < 0 else column.values[int(value)]


def _walk(tree: Tree, case: Dataset) -> tuple[tuple[PathStep, ...], tuple[ReachedLeaf, ...]]:
    """Send the case down, also in parts, and write down every test; the greatest part of the case comes first."""
    steps: list[PathStep] = []
    leaves: list[ReachedLeaf] = []
    waiting: list[tuple[int, float]] = [(0, 1.0)]
    while waiting:
        node, share = waiting.pop()
        split = tree.split(node)
        if split is None:
            leaves.append(_leaf(tree, node, share))
            continue
        step, branch = _step(tree, case, node, split, share)
        steps.append(step)
        if branch == STAY:
            leaves.append(_leaf(tree, node, share))
        elif branch == FRACTIONAL:
            waiting.extend(sorted(_divided(tree, node, share), key=lambda one: one[1]))
        else:
            waiting.append((int(tree.children_of(node)[branch]), share))
    leaves.sort(key=lambda leaf: -leaf.share)
    return tuple(steps), tuple(leaves)


def _step(tree: Tree, case: Dataset, node: int, split: Split, share: float) -> tuple[PathStep, int]:
    column = tree.schema.attributes[split.attribute]
    value = value_text(column, case, split.attribute)
    branch = int(split.route(case.columns[split.attribute])[0])
    how, stand_in = VALUE, None
    if branch < 0:
        how, branch, stand_in = _without_value(tree, case, node, split)
    condition = condition_of(split, branch, column) if branch >= 0 else None
    return PathStep(node, column.name, value, how, condition, stand_in, share), branch


def _without_value(tree: Tree, case: Dataset, node: int, split: Split) -> tuple[str, int, SurrogateExplanation | None]:
    for one in tree.surrogates.get(node, ()):
        branch = int(one.route(case.columns[one.split.attribute])[0])
        if branch >= 0:
            column = tree.schema.attributes[one.split.attribute]
            met = condition_of(one.split, 1 - branch if one.reversed else branch, column)
            return SURROGATE, branch, SurrogateExplanation(column.name, met, one.agreement, one.adjusted, one.reversed)
    if split.missing == FRACTIONAL:
        return DIVIDED, FRACTIONAL, None
    return (STAYS, STAY, None) if split.missing == STAY else (DEFAULT, split.missing, None)


def _divided(tree: Tree, node: int, share: float) -> list[tuple[int, float]]:
    """Return the branches with their parts of a case, as in `treewright.tree.route`."""
    children = tree.children_of(node).tolist()
    weights = [float(tree.weight[child]) for child in children]
    whole = float(tree.weight[node]) or sum(weights)
    if sum(weights) <= 0:
        return [(child, share / len(children)) for child in children]
    return [(child, share * weight / whole) for child, weight in zip(children, weights, strict=True) if weight > 0]


def _leaf(tree: Tree, node: int, share: float) -> ReachedLeaf:
    view = tree.node(node)
    counts = tuple(plain_number(count) for count in tree.counts[node].tolist())
    return ReachedLeaf(node, share, view.outcome, view.weight, counts, conditions_to(tree, node))


MOST_LEAVES = 20
"""Leaves of a divided case that are listed."""


def prediction_document(explanation: PredictionExplanation, say: Words) -> Document:
    """Return the prediction as a document."""
    target, outcome = name(explanation.target), outcome_text(explanation.outcome)
    blocks: list[Block] = [Heading(say("prediction.heading", target=target, outcome=outcome))]
    if explanation.steps:
        blocks.append(Paragraph(say("prediction.path")))
        blocks.append(Items(tuple(_step_text(step, say) for step in explanation.steps), numbered=True))
    else:
        blocks.append(Paragraph(say("prediction.no_test")))
    blocks += _leaves(explanation, say)
    if explanation.probabilities is not None:
        blocks.append(_probabilities(explanation, say))
    blocks.append(_counterfactual(explanation.counterfactual, explanation, say))
    return tuple(blocks)


def _step_text(step: PathStep, say: Words) -> str:
    attribute = name(step.attribute)
    part = say("prediction.part", share=f"{step.share:.3f}") if step.share < 1 else ""
    condition = "" if step.condition is None else step.condition.said(say)
    if step.how == "value":
        if step.value is not None and step.condition is not None and step.condition.value != name(step.value):
            return say("prediction.by_value", condition=condition, value=name(step.value)) + part
        return condition + part
    places = {"attribute": attribute, "condition": condition}
    if step.surrogate is not None:
        places["surrogate"] = step.surrogate.condition.said(say)
    return say(f"prediction.by_{step.how}", **places) + part


def _leaves(explanation: PredictionExplanation, say: Words) -> list[Block]:
    if len(explanation.leaves) == 1:
        [leaf] = explanation.leaves
        cases = say("cases", n=leaf.weight)
        told = [
            f"{name(one)} {number(count)}"
            for one, count in zip(explanation.classes, leaf.counts, strict=False)
            if count
        ]
        counts = ", ".join(told)
        if not explanation.classes:
            return [Paragraph(say("prediction.leaf_mean", node=leaf.node, cases=cases))]
        if not told:
            return [Paragraph(say("prediction.leaf_empty", node=leaf.node))]
        return [Paragraph(say("prediction.leaf", node=leaf.node, cases=cases, counts=counts))]
    shown = explanation.leaves[:MOST_LEAVES]
    heads = [say("head.leaf"), say("head.share"), say("head.outcome"), *(name(one, 12) for one in explanation.classes)]
    rows = tuple(
        (
            f"{leaf.node}: {where(leaf.conditions, say)}",
            f"{leaf.share:.3f}",
            outcome_text(leaf.outcome),
            *(number(count) for count in leaf.counts),
        )
        for leaf in shown
    )
    hidden = len(explanation.leaves) - len(shown)
    table = Table(tuple(heads), rows, more=say("prediction.more_leaves", n=hidden) if hidden else "")
    return [Paragraph(say("prediction.leaves")), table]


def _probabilities(explanation: PredictionExplanation, say: Words) -> Block:
    pairs = sorted(zip(explanation.classes, explanation.probabilities or (), strict=True), key=lambda pair: -pair[1])
    told = ", ".join(f"{name(one)} {share:.3f}" for one, share in pairs if share > 0)
    return Paragraph(say("prediction.probabilities", probabilities=told))


def _counterfactual(found: Counterfactual | None, explanation: PredictionExplanation, say: Words) -> Block:
    if found is None:
        return Paragraph(say("counterfactual.none"))
    changes = say.joined([_change(change, say) for change in found.changes])
    target, outcome = name(explanation.target), outcome_text(found.outcome)
    return Paragraph(say("counterfactual.change", target=target, outcome=outcome, changes=changes, node=found.node))


def _change(change: Change, say: Words) -> str:
    before = say("branch.missing") if change.before is None else name(change.before)
    return say("counterfactual.one", condition=change.condition.said(say), before=before)
