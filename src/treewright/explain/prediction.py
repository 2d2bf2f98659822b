"""Explanation of a prediction: the path of the case, the training cases of its leaf, and a counterfactual.

A step of the path is decided by the ``"value"`` of the case, or by a ``"surrogate"`` or the ``"default"`` branch if the
value is missing; or fractions of the case go to all branches (``"divided"``), or the case ``"stays"`` at the node. The
shares of the leaves of a fractional case sum to one.
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
from treewright.explain.conditions import BranchCondition, condition_of, conditions_to, where
from treewright.explain.counterfactual import Change, Counterfactual, smallest_change
from treewright.explain.document import Block, Document, Explanation, Heading, Items, Paragraph, TableBlock, name
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
    """One test on the path of the case.

    Parameters
    ----------
    node : int
    attribute : str
    value : str or None
        The value of the case; None if it is missing.
    how : {"value", "surrogate", "default", "divided", "stays"}
    condition : BranchCondition or None
        Of the branch that it took; None if the case was split into fractions or stays.
    surrogate : SurrogateExplanation or None
        The surrogate that decided, with the condition that the case meets.
    share : float
        Fraction of the case at this node.
    """

    node: int
    attribute: str
    value: str | None
    how: str
    condition: BranchCondition | None
    surrogate: SurrogateExplanation | None
    share: float


@dataclass(frozen=True)
class ReachedLeaf:
    """A leaf that the case, or a fraction of it, reaches, with its training cases."""

    node: int
    share: float
    outcome: str | float
    weight: float
    counts: tuple[int | float, ...]
    conditions: tuple[BranchCondition, ...]


@dataclass(frozen=True)
class PredictionExplanation(Explanation):
    """The explanation of one prediction."""

    target: str
    outcome: str | float
    classes: tuple[str, ...]
    probabilities: tuple[float, ...] | None
    given: Mapping[str, str | None]
    steps: tuple[PathStep, ...]
    leaves: tuple[ReachedLeaf, ...]
    counterfactual: Counterfactual | None
    notes: tuple[str, ...] = ()

    def document(self, message: Words) -> Document:
        """Return the explanation as a document in a language."""
        return prediction_document(self, message)


def explain_prediction(model: TreeModel, row: Any, data: Dataset | None = None) -> PredictionExplanation:
    """Explain the prediction of the model for one case.

    Parameters
    ----------
    model : TreeModel
    row : dict of name to value, or a table with one row
        A column that the dict does not name counts as missing.
    data : Dataset or None
        Training data, for the range of each numeric attribute; without them it is the range of its cuts in the tree.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.fitting.learn import fit
    >>> from treewright.plans import id3
    >>> model = fit(sample("play-tennis"), id3())
    >>> found = explain_prediction(model, {"Outlook": "Rain", "Wind": "Weak", "Humidity": "Normal"})
    >>> found.outcome, [str(step.condition) for step in found.steps]
    ('Yes', ['Outlook = Rain', 'Wind = Weak'])
    >>> [str(change.condition) for change in found.counterfactual.changes], found.counterfactual.outcome
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
        given={column.name: value_text(column, case, index) for index, column in enumerate(tree.schema.attributes)},
        steps=steps,
        leaves=leaves,
        counterfactual=found,
        notes=notes,
    )


def one_case(model: TreeModel, row: Any) -> Dataset:
    """Encode one case; columns that a dict does not name are missing, unknown names are rejected.

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


def value_text(column: Column, case: Dataset, attribute: int) -> str | None:
    """Return the value of a case as text, None where it is missing."""
    value = case.columns[attribute][0]
    if column.is_numeric:
        return None if np.isnan(value) else number_text(float(value))
    return None if value < 0 else column.values[int(value)]


def _walk(tree: Tree, case: Dataset) -> tuple[tuple[PathStep, ...], tuple[ReachedLeaf, ...]]:
    """Send the case, or fractions of it, down the tree and record every test; the largest fraction comes first."""
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
            waiting.extend(sorted(_fractions(tree, node, share), key=lambda one: one[1]))
        else:
            waiting.append((int(tree.children_of(node)[branch]), share))
    leaves.sort(key=lambda leaf: -leaf.share)
    return tuple(steps), tuple(leaves)


def _step(tree: Tree, case: Dataset, node: int, split: Split, share: float) -> tuple[PathStep, int]:
    column = tree.schema.attributes[split.attribute]
    value = value_text(column, case, split.attribute)
    branch = int(split.route(case.columns[split.attribute])[0])
    how, surrogate = VALUE, None
    if branch < 0:
        how, branch, surrogate = _without_value(tree, case, node, split)
    condition = condition_of(split, branch, column) if branch >= 0 else None
    return PathStep(node, column.name, value, how, condition, surrogate, share), branch


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


def _fractions(tree: Tree, node: int, share: float) -> list[tuple[int, float]]:
    """Return the branches with their fractions of a case, as in `treewright.tree.route`."""
    children = tree.children_of(node).tolist()
    weights = [float(tree.weight[child]) for child in children]
    total = float(tree.weight[node]) or sum(weights)
    if sum(weights) <= 0:
        return [(child, share / len(children)) for child in children]
    return [(child, share * weight / total) for child, weight in zip(children, weights, strict=True) if weight > 0]


def _leaf(tree: Tree, node: int, share: float) -> ReachedLeaf:
    view = tree.node(node)
    counts = tuple(plain_number(count) for count in tree.counts[node].tolist())
    return ReachedLeaf(node, share, view.outcome, view.weight, counts, conditions_to(tree, node))


MOST_LEAVES = 20
"""Most leaves of a fractional case that are listed."""


def prediction_document(explanation: PredictionExplanation, message: Words) -> Document:
    """Return the prediction as a document."""
    target, outcome = name(explanation.target), outcome_text(explanation.outcome)
    blocks: list[Block] = [Heading(message("prediction.heading", target=target, outcome=outcome))]
    if explanation.steps:
        blocks.append(Paragraph(message("prediction.path")))
        blocks.append(Items(tuple(_step_text(step, message) for step in explanation.steps), numbered=True))
    else:
        blocks.append(Paragraph(message("prediction.no_test")))
    blocks += _leaves(explanation, message)
    if explanation.probabilities is not None:
        blocks.append(_probabilities(explanation, message))
    blocks.append(_counterfactual(explanation.counterfactual, explanation, message))
    return tuple(blocks)


def _step_text(step: PathStep, message: Words) -> str:
    attribute = name(step.attribute)
    part = message("prediction.part", share=f"{step.share:.3f}") if step.share < 1 else ""
    condition = "" if step.condition is None else step.condition.describe(message)
    if step.how == "value":
        if step.value is not None and step.condition is not None and step.condition.value != name(step.value):
            return message("prediction.by_value", condition=condition, value=name(step.value)) + part
        return condition + part
    placeholders = {"attribute": attribute, "condition": condition}
    if step.surrogate is not None:
        placeholders["surrogate"] = step.surrogate.condition.describe(message)
    return message(f"prediction.by_{step.how}", **placeholders) + part


def _leaves(explanation: PredictionExplanation, message: Words) -> list[Block]:
    if len(explanation.leaves) == 1:
        [leaf] = explanation.leaves
        cases = message("cases", n=leaf.weight)
        texts = [
            f"{name(one)} {number(count)}"
            for one, count in zip(explanation.classes, leaf.counts, strict=False)
            if count
        ]
        counts = ", ".join(texts)
        if not explanation.classes:
            return [Paragraph(message("prediction.leaf_mean", node=leaf.node, cases=cases))]
        if not texts:
            return [Paragraph(message("prediction.leaf_empty", node=leaf.node))]
        return [Paragraph(message("prediction.leaf", node=leaf.node, cases=cases, counts=counts))]
    shown = explanation.leaves[:MOST_LEAVES]
    heads = [
        message("head.leaf"),
        message("head.share"),
        message("head.outcome"),
        *(name(one, 12) for one in explanation.classes),
    ]
    rows = tuple(
        (
            f"{leaf.node}: {where(leaf.conditions, message)}",
            f"{leaf.share:.3f}",
            outcome_text(leaf.outcome),
            *(number(count) for count in leaf.counts),
        )
        for leaf in shown
    )
    hidden = len(explanation.leaves) - len(shown)
    table = TableBlock(tuple(heads), rows, more=message("prediction.more_leaves", n=hidden) if hidden else "")
    return [Paragraph(message("prediction.leaves")), table]


def _probabilities(explanation: PredictionExplanation, message: Words) -> Block:
    by_share = sorted(
        zip(explanation.classes, explanation.probabilities or (), strict=True), key=lambda entry: -entry[1]
    )
    texts = ", ".join(f"{name(one)} {share:.3f}" for one, share in by_share if share > 0)
    return Paragraph(message("prediction.probabilities", probabilities=texts))


def _counterfactual(found: Counterfactual | None, explanation: PredictionExplanation, message: Words) -> Block:
    if found is None:
        return Paragraph(message("counterfactual.none"))
    changes = message.joined([_change(change, message) for change in found.changes])
    target, outcome = name(explanation.target), outcome_text(found.outcome)
    return Paragraph(message("counterfactual.change", target=target, outcome=outcome, changes=changes, node=found.node))


def _change(change: Change, message: Words) -> str:
    before = message("branch.missing") if change.before is None else name(change.before)
    return message("counterfactual.one", condition=change.condition.describe(message), before=before)
