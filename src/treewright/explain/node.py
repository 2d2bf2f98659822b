"""The derivation of one node as data: tables, impurities, gains and verdicts, all numbers computed from counts.

`explain_node` takes the working that the model kept; for a node without (a large tree keeps only its top) it needs the
training data and counts again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2
from typing import Any

import numpy as np

from treewright._base.errors import ParameterError
from treewright.counts.table import Counts
from treewright.data.dataset import Dataset
from treewright.grow.choice import MANY_VALUES
from treewright.grow.criteria import (
    chi_square,
    entropy,
    gini,
    split_information,
    total_entropy,
    total_gini,
    total_variance,
)
from treewright.grow.grower import examine_tree
from treewright.grow.recipe import Choice, Cuts, MissingPolicy, NominalTest, Recipe, recipe_from_dict
from treewright.grow.tree_engine import engine_for
from treewright.model.model import TreeModel
from treewright.model.nested import plain_number
from treewright.model.split import Split
from treewright.model.tree import Node, Tree
from treewright.model.working import Examined, Verdict


@dataclass(frozen=True)
class Branch:
    """One row of an attribute's table: its cases and their impurity; a numeric target has `mean` instead of counts."""

    label: str
    counts: tuple[int | float, ...]
    weight: float
    impurity: float
    mean: float | None = None


@dataclass(frozen=True)
class AttributeExplanation:
    """One attribute at the node, with every number that speaks for or against it."""

    name: str
    verdict: Verdict
    branches: tuple[Branch, ...] = ()
    unknown: float = 0.0
    known: float = 0.0
    after: float | None = None
    decrease: float | None = None
    tries: int = 0
    adjusted_p: float | None = None
    correction: float = 0.0
    split_information: float | None = None
    ratio: float | None = None
    gini_decrease: float | None = None
    chi_square: float | None = None
    chi_square_df: int | None = None
    chi_square_p: float | None = None


@dataclass(frozen=True)
class NodeExplanation:
    """All that was weighed at one node.

    `measure` is ``"entropy"``, ``"gini"`` or ``"variance"``; attributes stand in the order of their worth, the chosen
    one first.
    """

    node: int
    path: tuple[str, ...]
    target: str
    classes: tuple[str, ...]
    counts: tuple[int | float, ...]
    weight: float
    impurity: float
    mean: float | None
    measure: str
    outcome: str | float
    stop: str | None
    chosen: str | None
    average_gain: float | None
    attributes: tuple[AttributeExplanation, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {key: _plain(value) for key, value in vars(self).items() if value is not None}


def explain_node(model: TreeModel, node: int = 0, data: Dataset | None = None) -> NodeExplanation:
    """Explain how a node came about.

    Parameters
    ----------
    model : TreeModel
    node : int
        Number of the node; the root is 0.
    data : Dataset or None
        The training data, for a node whose working the model did not keep.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.grow.recipe import C45
    >>> from treewright.learn import fit
    >>> root = explain_node(fit(sample("play-tennis"), C45()))
    >>> [(one.name, round(one.decrease, 3), str(one.verdict)) for one in root.attributes[:3]]
    [('Outlook', 0.247, 'chosen'), ('Humidity', 0.152, 'considered'), ('Wind', 0.048, 'below the average gain')]
    """
    view = model.tree.node(node)
    recipe = recipe_from_dict(model.recipe)
    working = model.working.get(node)
    if working is None and (data is not None or view.stop is None):
        working = _counted_again(model, recipe, node, data)
    measure = {"gini": "gini", "variance": "variance"}.get(recipe.criterion, "entropy")
    explained = [_attribute(view, recipe, measure, one) for one in working or ()]
    explained.sort(key=lambda one: _rank(recipe, one))
    tree = model.tree
    counts = tuple(plain_number(count) for count in tree.counts[node].tolist())
    return NodeExplanation(
        node=node,
        path=path_text(tree, node),
        target=tree.schema.target or "",
        classes=tree.schema.classes,
        counts=counts,
        weight=view.weight,
        impurity=_node_impurity(tree, node, measure),
        mean=float(tree.outcome[node]) if tree.is_regression else None,
        measure=measure,
        outcome=view.outcome,
        stop=None if view.stop is None else str(view.stop),
        chosen=None if view.is_leaf else view.attribute.name,
        average_gain=_average(recipe, tree, model, explained),
        attributes=tuple(explained),
    )


def path_text(tree: Tree, node: int) -> tuple[str, ...]:
    """Return the conditions from the root to a node as a person reads them; of several bounds the tightest ones."""
    steps: dict[tuple[int, str], str] = {}
    for parent, branch in tree.node(node).path:
        split = tree.split(parent)
        if split is None:
            continue
        column = tree.schema.attributes[split.attribute]
        words = split.describe(branch, column)
        # A later bound on the same side is tighter, and a later set is a part of the earlier one.
        side = words[0] if split.cut is not None else "="
        steps.pop((split.attribute, side), None)
        steps[split.attribute, side] = f"{column.name}{_joint(words)}{words}"
    return tuple(steps.values())


def _joint(words: str) -> str:
    if words.startswith(("<", ">", "=", "!")):
        return " "
    return " in " if words.startswith("{") else " = "


def _counted_again(model: TreeModel, recipe: Recipe, node: int, data: Dataset | None) -> tuple[Examined, ...] | None:
    if data is None:
        raise ParameterError(
            f"the model keeps no working for node {node} (large trees keep only the top): give the training data again"
        )
    if data.schema.attributes != model.schema.attributes:
        raise ParameterError("these data are not of the model's schema")
    engine = engine_for(data, model.tree, fractional=recipe.missing is MissingPolicy.FRACTIONAL)
    return examine_tree(engine, recipe, model.tree, node).get(node)


def _node_impurity(tree: Tree, node: int, measure: str) -> float:
    if tree.sse is not None:
        return float(tree.sse[node]) / float(tree.weight[node]) if tree.weight[node] > 0 else 0.0
    return entropy(tree.counts[node]) if measure == "entropy" else gini(tree.counts[node])


_PLACE = {
    Verdict.CHOSEN: 0,
    Verdict.SMALL_GAIN: 0,
    Verdict.NOT_SIGNIFICANT: 0,
    Verdict.PRUNED: 0,
    Verdict.CONSIDERED: 1,
    Verdict.BELOW_AVERAGE: 2,
}


def _rank(recipe: Recipe, one: AttributeExplanation) -> tuple[int, float, float]:
    place = _PLACE.get(one.verdict, 3)
    if one.adjusted_p is not None:
        return place, one.adjusted_p, -(one.decrease or 0.0)
    worth = one.decrease
    if recipe.criterion == "chi2":
        worth = one.chi_square
    elif recipe.choice is Choice.RATIO and place <= 1:
        worth = one.ratio
    return place, -(worth or 0.0), -(one.decrease or 0.0)


def _attribute(node: Node, recipe: Recipe, measure: str, one: Examined) -> AttributeExplanation:
    column = node.tree.schema.attributes[one.attribute]
    split = one.split
    if split is None:
        return AttributeExplanation(column.name, one.verdict, adjusted_p=one.p_value)
    counts = _with_learned_side(recipe, split, one)
    weights = counts[:, 0] if measure == "variance" else counts.sum(axis=1)
    totals = {"entropy": total_entropy, "gini": total_gini, "variance": total_variance}[measure](counts)
    mean = float(node.tree.outcome[node.index]) if measure == "variance" else None
    branches = tuple(
        _branch(split.describe(place, column), counts[place], float(weights[place]), float(totals[place]), mean)
        for place in range(split.n_branches)
    )
    known = float(weights.sum())
    unknown = 0.0 if recipe.missing is MissingPolicy.LEARNED else _weight(one.unknown, measure)
    after = float(totals.sum()) / known
    before = _impurity_of(counts.sum(axis=0), measure)
    correction = _correction(recipe, one, known + unknown)
    decrease = (before - after) * known / (known + unknown) - correction
    return AttributeExplanation(
        name=column.name,
        verdict=one.verdict,
        branches=branches,
        unknown=unknown,
        known=known,
        after=after,
        decrease=decrease,
        tries=one.tries,
        adjusted_p=one.p_value,
        correction=correction,
        **_further(counts, one.unknown, decrease, measure, recipe),
    )


def _further(counts: Counts, unknown: Counts, decrease: float, measure: str, recipe: Recipe) -> dict[str, Any]:
    """Return the other criteria of the same table, for comparison."""
    if measure == "variance":
        return {}
    independence = chi_square(counts)
    further: dict[str, Any] = {
        "gini_decrease": gini(counts.sum(axis=0)) - float(total_gini(counts).sum()) / float(counts.sum()),
        "chi_square": independence.statistic,
        "chi_square_df": independence.df,
        "chi_square_p": independence.p,
    }
    if measure == "entropy":
        outside = None if recipe.missing is MissingPolicy.LEARNED else unknown
        information = split_information(counts, outside)
        further["split_information"] = information
        further["ratio"] = decrease / information if information > 0 else 0.0
    return further


def _with_learned_side(recipe: Recipe, split: Split, one: Examined) -> Counts:
    if recipe.missing is not MissingPolicy.LEARNED:
        return one.counts
    counts = one.counts.astype(np.float64) if one.unknown.dtype.kind == "f" else one.counts.copy()
    counts[split.missing] += one.unknown
    return counts


def _branch(label: str, row: Counts, weight: float, total: float, node_mean: float | None) -> Branch:
    impurity = total / weight if weight > 0 else 0.0
    if node_mean is not None:
        mean = node_mean + float(row[1]) / weight if weight > 0 else None
        return Branch(label, (), weight, impurity, mean)
    return Branch(label, tuple(plain_number(count) for count in row.tolist()), weight, impurity)


def _impurity_of(row: Counts, measure: str) -> float:
    if measure == "variance":
        return float(total_variance(row[None, :])[0]) / float(row[0])
    return entropy(row) if measure == "entropy" else gini(row)


def _weight(row: Counts, measure: str) -> float:
    return float(row[0]) if measure == "variance" else float(row.sum())


def _correction(recipe: Recipe, one: Examined, weight: float) -> float:
    rule = recipe.numeric
    if one.tries and one.split is not None and one.split.cut is not None and isinstance(rule, Cuts) and rule.correction:
        return log2(one.tries) / weight
    return 0.0


def _average(recipe: Recipe, tree: Tree, model: TreeModel, explained: Sequence[AttributeExplanation]) -> float | None:
    if recipe.choice is not Choice.RATIO:
        return None
    rows = 0 if recipe.nominal is NominalTest.GROUPS else model.provenance.get("rows", 0)
    many = {column.name: 0 < MANY_VALUES * rows <= len(column.values) for column in tree.schema.attributes}
    if all(many.values()):
        many = dict.fromkeys(many, False)
    compared = {*_PLACE, Verdict.NO_SPLIT_INFORMATION}
    gains = [
        one.decrease for one in explained if one.verdict in compared and one.decrease is not None and not many[one.name]
    ]
    return sum(gains) / len(gains) if gains else None


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if isinstance(value, (AttributeExplanation, Branch)):
        return {key: _plain(one) for key, one in vars(value).items() if one is not None}
    return str(value) if isinstance(value, Verdict) else value
