"""Explanation of one node as data: tables, impurities, gains and status of each attribute, all computed from counts.

`explain_node` uses the split trace stored in the model; for a node without one (a large tree stores only the top) it
needs the training data and counts again.

`worth` names the score by which the attributes were compared: gain, gain ratio, impurity decrease, chi-square, the
adjusted p-value (the smallest wins), or a user-defined criterion. The runner-up is the next best attribute, and the
margin is the difference of the scores. A note is a code; its text is ``note.<code>`` in the message catalogue.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from treewright.data.dataset import Dataset
from treewright.data.schema import Task
from treewright.explain.attribute import AttributeExplanation, Branch, explain_attribute
from treewright.explain.condition import Condition, condition_of, conditions_to
from treewright.explain.document import Document
from treewright.explain.explanation import Explanation
from treewright.explain.language import Words
from treewright.explain.recount import counted_again
from treewright.explain.training import learner_of
from treewright.grow.choice import MANY_VALUES
from treewright.grow.criteria import entropy, gini
from treewright.grow.recipe import Choice, NominalTest, Recipe, recipe_from_dict
from treewright.model.model import TreeModel
from treewright.model.nested import plain_number
from treewright.model.tree import Node, Tree
from treewright.model.working import SplitStatus


@dataclass(frozen=True)
class SurrogateExplanation:
    """A test that stands in where the value of the chosen one is missing.

    Parameters
    ----------
    condition : Condition
        Of the cases that go where the first branch of the chosen test leads.
    agreement : float
        Share of the cases that it sends the same way.
    adjusted : float
        Agreement beyond that of the heavier branch, as a share of what is possible.
    """

    attribute: str
    condition: Condition
    agreement: float
    adjusted: float
    reversed: bool


@dataclass(frozen=True)
class NodeExplanation(Explanation):
    """All that was weighed at one node.

    `measure` is ``"entropy"``, ``"gini"`` or ``"variance"``; attributes stand in the order of their worth, the chosen
    one first. `worth` is ``"gain"``, ``"ratio"``, ``"decrease"``, ``"chi_square"``, ``"adjusted_p"``, ``"own"``
    (a criterion of the user's, whose name is `criterion`) or, where the learner takes the attributes as they come,
    ``"order"``.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learn import fit
    >>> from treewright.plans import id3
    >>> root = explain_node(fit(sample("play-tennis"), id3()))
    >>> root.runner_up, round(root.margin, 3), {name: round(gain, 3) for name, gain in root.gains.items()}
    ('Humidity', 0.095, {'Outlook': 0.247, 'Humidity': 0.152, 'Wind': 0.048, 'Temperature': 0.029})
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
    conditions: tuple[Condition, ...] = ()
    algorithm: str = ""
    criterion: str = ""
    stop_code: str | None = None
    worth: str = "decrease"
    runner_up: str | None = None
    margin: float | None = None
    surrogates: tuple[SurrogateExplanation, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def table(self) -> tuple[Branch, ...]:
        """The frequency table of the chosen attribute; empty for a leaf."""
        chosen = [one.branches for one in self.attributes if one.verdict is SplitStatus.CHOSEN]
        return chosen[0] if chosen else ()

    @property
    def gains(self) -> dict[str, float]:
        """The gain (or decrease of impurity) of every attribute that has a test, the best first."""
        return {one.name: one.decrease for one in self.attributes if one.decrease is not None}

    def document(self, say: Words) -> Document:
        """Return the derivation in the words of a language."""
        from treewright.explain.blackboard import node_document

        return node_document(self, say)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        plain = super().to_dict()
        for told, one in zip(plain["attributes"], self.attributes, strict=True):
            told["verdict_code"] = one.verdict_code
        return plain


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
    working, notes = model.working.get(node), learner_of(model).trace_notes()
    if working is None and (data is not None or view.stop is None):
        working, further = counted_again(model, recipe, node, data)
        notes += further
    measure = {"gini": "gini", "variance": "variance"}.get(recipe.criterion, "entropy")
    explained = [explain_attribute(view, recipe, measure, one) for one in working or ()]
    explained.sort(key=lambda one: _rank(recipe, one))
    tree = model.tree
    conditions = conditions_to(tree, node)
    worth = _worth(model, recipe, explained)
    runner_up, margin = _runner_up(explained, worth)
    return NodeExplanation(
        node=node,
        path=tuple(str(condition) for condition in conditions),
        target=tree.schema.target or "",
        classes=tree.schema.classes,
        counts=tuple(plain_number(count) for count in tree.counts[node].tolist()),
        weight=view.weight,
        impurity=_node_impurity(tree, node, measure),
        mean=float(tree.outcome[node]) if tree.is_regression else None,
        measure=measure,
        outcome=view.outcome,
        stop=None if view.stop is None else str(view.stop),
        chosen=None if view.is_leaf else view.attribute.name,
        average_gain=_average(recipe, tree, model, explained),
        attributes=tuple(explained),
        conditions=conditions,
        algorithm=recipe.name,
        criterion=recipe.criterion if recipe.own is None else recipe.own.name,
        stop_code=None if view.stop is None else view.stop.name.lower(),
        worth=worth,
        runner_up=runner_up,
        margin=margin,
        surrogates=_surrogates(view),
        notes=notes,
    )


def _worth(model: TreeModel, recipe: Recipe, explained: Sequence[AttributeExplanation]) -> str:
    if learner_of(model).criterion_for(Task.CLASSIFICATION) == "":
        return "order"
    if any(one.adjusted_p is not None for one in explained):
        return "adjusted_p"
    if recipe.own is not None:
        return "own"
    if recipe.criterion == "chi2":
        return "chi_square"
    if recipe.choice is Choice.RATIO:
        return "ratio"
    return "gain" if recipe.criterion in ("gain", "entropy") else "decrease"


def _runner_up(explained: Sequence[AttributeExplanation], worth: str) -> tuple[str | None, float | None]:
    """Return the best of the attributes that were beaten, and by how much."""
    winner = next((one for one in explained if one.verdict is SplitStatus.CHOSEN), None)
    second = next((one for one in explained if one.verdict is SplitStatus.CONSIDERED), None)
    if winner is None or second is None or worth == "order":
        return None, None
    first, next_best = winner.worth(worth), second.worth(worth)
    if first is None or next_best is None:
        return second.name, None
    return second.name, next_best - first if worth == "adjusted_p" else first - next_best


def _surrogates(view: Node) -> tuple[SurrogateExplanation, ...]:
    columns = view.tree.schema.attributes
    return tuple(
        SurrogateExplanation(
            columns[one.split.attribute].name,
            condition_of(one.split, 1 if one.reversed else 0, columns[one.split.attribute]),
            one.agreement,
            one.adjusted,
            one.reversed,
        )
        for one in view.surrogates
    )


def _node_impurity(tree: Tree, node: int, measure: str) -> float:
    if tree.sse is not None:
        return float(tree.sse[node]) / float(tree.weight[node]) if tree.weight[node] > 0 else 0.0
    return entropy(tree.counts[node]) if measure == "entropy" else gini(tree.counts[node])


_PLACE = {
    SplitStatus.CHOSEN: 0,
    SplitStatus.SMALL_GAIN: 0,
    SplitStatus.NOT_SIGNIFICANT: 0,
    SplitStatus.PRUNED: 0,
    SplitStatus.CONSIDERED: 1,
    SplitStatus.BELOW_AVERAGE: 2,
}


def _rank(recipe: Recipe, one: AttributeExplanation) -> tuple[int, float, float]:
    place = _PLACE.get(one.verdict, 3)
    if one.adjusted_p is not None:
        return place, one.adjusted_p, -(one.decrease or 0.0)
    worth = one.decrease
    if recipe.own is not None:
        worth = one.own_score
    elif recipe.criterion == "chi2":
        worth = one.chi_square
    elif recipe.choice is Choice.RATIO and place <= 1:
        worth = one.ratio
    return place, -(worth or 0.0), -(one.decrease or 0.0)


def _average(recipe: Recipe, tree: Tree, model: TreeModel, explained: Sequence[AttributeExplanation]) -> float | None:
    if recipe.choice is not Choice.RATIO:
        return None
    rows = 0 if recipe.nominal is NominalTest.GROUPS else model.provenance.get("rows", 0)
    many = {column.name: 0 < MANY_VALUES * rows <= len(column.values) for column in tree.schema.attributes}
    if all(many.values()):
        many = dict.fromkeys(many, False)
    compared = {*_PLACE, SplitStatus.NO_SPLIT_INFORMATION}
    gains = [
        one.decrease for one in explained if one.verdict in compared and one.decrease is not None and not many[one.name]
    ]
    return sum(gains) / len(gains) if gains else None
