"""How a tree was grown, step by step.

The steps can be played forward and back. A step splits an open node (``"split"``)
or makes it a ``"leaf"``; afterwards subtrees are pruned (``"prune"``) or replaced by a branch (``"raise"``); for CAL2
and CAL3 a step presents a ``"case"``.

After step k, the opened nodes are the root and the children of all steps so far, the decided nodes are those of these
steps, and the others are still open. So each state follows from the list, in both directions.

The order is ``"levels"`` (breadth first), ``"best"`` (best split first, under a limit on leaves), ``"depth"`` (depth
first) or ``"cases"`` (case by case).

In a document each split comes with the table of its choice, if the model has the split trace.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from treewright.counting.numpy import engine_for
from treewright.data.dataset import Dataset
from treewright.errors import ParameterError
from treewright.explain.conditions import BranchCondition, conditions_everywhere, where
from treewright.explain.document import Block, Document, Explanation, Heading, Items, Paragraph, name, plain_data
from treewright.explain.language import Words
from treewright.explain.node import cases_line, choice_blocks, explain_node, outcome_text
from treewright.explain.pruning import Pass, passes_again
from treewright.explain.training_data import grow_unpruned_again, learner_of, training_cases, was_pruned
from treewright.learners.cal.trace import Step
from treewright.learners.criteria import total_entropy, total_gini
from treewright.learners.discretise import in_bins
from treewright.learners.grower import trace_tree
from treewright.learners.recipe import MissingPolicy, recipe_from_dict
from treewright.tree.io.tree_json import plain_number
from treewright.tree.model import TreeModel
from treewright.tree.tree import LEAF, STOPS, Stop, Tree


@dataclass(frozen=True)
class GrowthStep:
    """One step.

    Parameters
    ----------
    number : int
        From 1.
    event : {"split", "leaf", "prune", "raise"}
    node : int
        In the tree that is grown; see `Growth.tree`.
    conditions : tuple of BranchCondition
        The path to the node.
    attribute : str or None
        The attribute that splits it, or did.
    outcome : str or float
    stop_code : str or None
        Why a leaf is a leaf.
    weight : float
    counts : tuple of numbers
    children : tuple of int
        The children that it opens or prunes.
    open : int
        Open nodes after the step.
    leaves : int
        Leaves after the step.
    """

    number: int
    event: str
    node: int
    conditions: tuple[BranchCondition, ...]
    attribute: str | None
    outcome: str | float
    stop_code: str | None
    weight: float
    counts: tuple[int | float, ...]
    children: tuple[int, ...]
    open: int
    leaves: int


@dataclass(frozen=True)
class CaseStep:
    """One case presented to CAL2 or CAL3."""

    number: int
    case: int
    event: str
    event_code: str
    path: tuple[tuple[str, str], ...]
    counts: tuple[tuple[str, int], ...]
    tree: str | None


@dataclass(frozen=True)
class Growth(Explanation):
    """All steps.

    Parameters
    ----------
    algorithm : str
    order : {"levels", "best", "depth", "cases"}
    tree : {"final", "grown"}
        Node numbers are those of the model, or of the tree before pruning.
    pruned : bool
        Whether the model was pruned.
    target : str
    classes : tuple of str
    steps : tuple of GrowthStep or CaseStep
    notes : tuple of str
    source : TreeModel or None
        The model that has the split traces of the steps.
    """

    algorithm: str
    order: str
    tree: str
    pruned: bool
    target: str
    classes: tuple[str, ...]
    steps: tuple[GrowthStep | CaseStep, ...]
    notes: tuple[str, ...] = ()
    source: TreeModel | None = field(default=None, repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; conditions are included only if the nodes are not those of the model."""
        if self.tree == "final":
            bare = [replace(one, conditions=()) if isinstance(one, GrowthStep) else one for one in self.steps]
        else:
            bare = list(self.steps)
        plain: dict[str, Any] = plain_data(replace(self, steps=(), source=None))
        steps = [plain_data(step) for step in bare]
        for step in steps:
            if not step.get("conditions"):
                step.pop("conditions", None)
        return plain | {"steps": steps}

    def document(self, message: Words) -> Document:
        """Return the steps as a document in a language."""
        return steps_document(self, message)


def growth_steps(model: TreeModel, data: Dataset | None = None) -> Growth:
    """Return the steps in which the tree of a model was grown.

    Parameters
    ----------
    model : TreeModel
    data : Dataset or None
        The training data: with them the steps include those before pruning, and CAL2 and CAL3 are replayed case by
        case. Without them the steps are those of the finished tree.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.fitting.learn import fit
    >>> from treewright.plans import id3
    >>> growth = growth_steps(fit(sample("play-tennis"), id3()))
    >>> [(step.event, step.node, step.attribute) for step in growth.steps[:3]]
    [('split', 0, 'Outlook'), ('split', 1, 'Humidity'), ('leaf', 4, None)]
    """
    case_by_case = learner_of(model).abilities.grows_on
    if data is not None and case_by_case:
        return _case_by_case(model, data)
    notes: tuple[str, ...] = ("cases_need_data",) if case_by_case else ()
    source, whose = model, "final"
    if data is not None and was_pruned(model):
        source, notes = _before_pruning(model, data)
        whose = "grown"
    steps = list(_grown_steps(source, _order(model)))
    if data is not None and whose == "grown":
        steps += _pruning_steps(model, data, source.tree, len(steps))
    return Growth(
        algorithm=recipe_from_dict(model.recipe).name,
        order=_order(model),
        tree=whose,
        pruned=was_pruned(model),
        target=model.schema.target or "",
        classes=model.schema.classes,
        steps=tuple(steps),
        notes=notes,
        source=source,
    )


def _before_pruning(model: TreeModel, data: Dataset) -> tuple[TreeModel, tuple[str, ...]]:
    """Return the model before pruning, with the split traces of its nodes, and notes."""
    cases, notes = training_cases(model, data)
    tree = grow_unpruned_again(model, data)
    traces = learner_of(model).trace_grown(cases, tree)
    if traces is not None:
        return replace(model, tree=tree, trace=traces), notes
    recipe = recipe_from_dict(model.recipe)
    engine = engine_for(in_bins(cases, recipe), tree, fractional=recipe.missing is MissingPolicy.FRACTIONAL)
    return replace(model, tree=tree, trace=trace_tree(engine, recipe, tree)), notes


def _order(model: TreeModel) -> str:
    return learner_of(model).order


def _grown_steps(model: TreeModel, order: str) -> Iterator[GrowthStep]:
    """Yield the steps of growing in the order of the grower."""
    tree = model.tree
    turn = _turns(tree, order, recipe_from_dict(model.recipe).criterion)
    conditions = conditions_everywhere(tree)
    waiting, leaves, number = [(turn[0], 0)], 1, 0
    while waiting:
        _, node = heapq.heappop(waiting)
        number += 1
        children = tree.children_of(node).tolist()
        for child in children:
            heapq.heappush(waiting, (turn[child], child))
        leaves += max(len(children) - 1, 0)
        event = "split" if children else "leaf"
        yield _step(tree, node, number, event, conditions[node], len(waiting), leaves)


def _turns(tree: Tree, order: str, criterion: str) -> list[float]:
    """Return the sort key of each node in the order of growth; ties go to the lower number."""
    if order == "levels":
        return [float(depth) for depth in tree.depths]
    if order == "depth":
        return [float(node) for node in range(tree.n_nodes)]
    total = tree.sse
    if total is None:
        total = total_gini(tree.counts) if criterion == "gini" else total_entropy(tree.counts)
    turns = [-np.inf] * tree.n_nodes  # a node that cannot be split becomes a leaf as soon as it is opened
    for node in np.flatnonzero(tree.attribute != LEAF).tolist():
        turns[node] = float(total[tree.children_of(node)].sum() - total[node])
    for node in np.flatnonzero(tree.stop == STOPS.index(Stop.LEAVES)).tolist():
        turns[node] = np.inf  # nodes stopped by the limit on leaves stay open to the end
    return turns


def _step(
    tree: Tree,
    node: int,
    number: int,
    event: str,
    conditions: tuple[BranchCondition, ...],
    waiting: int,
    leaves: int,
) -> GrowthStep:
    view = tree.node(node)
    return GrowthStep(
        number=number,
        event=event,
        node=node,
        conditions=conditions,
        attribute=None if view.is_leaf else view.attribute.name,
        outcome=view.outcome,
        stop_code=None if view.stop is None else view.stop.name.lower(),
        weight=view.weight,
        counts=tuple(plain_number(count) for count in tree.counts[node].tolist()),
        children=tuple(tree.children_of(node).tolist()),
        open=waiting,
        leaves=leaves,
    )


def _pruning_steps(model: TreeModel, data: Dataset, grown: Tree, number: int) -> list[GrowthStep]:
    """Return the pruning steps from the leaves up; node numbers are those of the grown tree."""
    passes, notes = passes_again(model, data)
    steps: list[GrowthStep] = []
    if "other_tree" in notes:
        return steps
    origin = list(range(grown.n_nodes))  # numbers before a method -> numbers in the grown tree
    conditions, now = conditions_everywhere(grown), _Shape(grown)
    for one in passes:
        for node, heir in _prunings(one):
            number += 1
            now.replace(origin[node], None if heir is None else origin[heir])
            event = "prune" if heir is None else "raise"
            steps.append(_step(grown, origin[node], number, event, conditions[origin[node]], 0, now.leaves))
        origin = [origin[before] for before in one.origin]
    return steps


class _Shape:
    """The remaining tree during pruning: children, parents and number of leaves of each node."""

    def __init__(self, tree: Tree) -> None:
        self._children = [tree.children_of(node).tolist() for node in range(tree.n_nodes)]
        self._parent = tree.parent.tolist()
        self._leaf_counts = [1] * tree.n_nodes
        for node in range(tree.n_nodes - 1, -1, -1):
            if self._children[node]:
                self._leaf_counts[node] = sum(self._leaf_counts[child] for child in self._children[node])

    @property
    def leaves(self) -> int:
        """Number of leaves of the whole tree."""
        return self._leaf_counts[0]

    def replace(self, node: int, heir: int | None) -> None:
        """Make a node a leaf, or replace it by one of its branches."""
        self._children[node] = [] if heir is None else self._children[heir]
        for child in self._children[node]:
            self._parent[child] = node
        fewer = self._leaf_counts[node] - (1 if heir is None else self._leaf_counts[heir])
        while node >= 0:
            self._leaf_counts[node] -= fewer
            node = self._parent[node]


def _prunings(one: Pass) -> list[tuple[int, int | None]]:
    """Return the nodes that a method pruned or replaced, in its order, with the branch that replaced them."""
    if one.method["method"] == "error_based":
        changed = [decision for decision in one.history if decision.outcome != "kept"]
        return [(decision.node, decision.heir if decision.outcome == "raised" else None) for decision in changed]
    leaves = [one.origin[node] for node in np.flatnonzero(one.after.attribute == LEAF).tolist()]
    cut = [node for node in leaves if one.before.attribute[node] != LEAF]
    return [(node, None) for node in sorted(cut, reverse=True)]


def _case_by_case(model: TreeModel, data: Dataset) -> Growth:
    steps = tuple(
        CaseStep(one.number, one.case, str(one.event), one.event.name.lower(), one.path, one.counts, one.notation)
        for one in case_steps(model, data)
    )
    name = recipe_from_dict(model.recipe).name
    return Growth(name, "cases", "final", was_pruned(model), model.schema.target or "", model.schema.classes, steps)


def case_steps(model: TreeModel, data: Dataset) -> list[Step]:
    """Present the cases again to CAL2 or CAL3 and return every step.

    Parameters
    ----------
    model : TreeModel
        Learned by CAL2 or CAL3.
    data : Dataset
        The training cases, in their order.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.fitting.learn import fit
    >>> from treewright.plans import cal2
    >>> cases = sample("cal2")
    >>> print(case_steps(fit(cases, cal2()), cases)[2])
    3. case 3, at the root (A 2, B 1): split -> x1(B,*)
    """
    learner = learner_of(model)
    if not learner.abilities.grows_on:
        raise ParameterError(f"cases are presented one by one to CAL2 and CAL3, not to {model.recipe.get('name')}")
    replayed = learner.begin(data, keep_trace=True)
    replayed.learn_all(data)
    return list(replayed.trace)


def steps_document(growth: Growth, message: Words) -> Document:
    """Return the steps as a document."""
    if growth.order == "cases":
        return (
            Items(tuple(_case(step, message) for step in growth.steps if isinstance(step, CaseStep)), numbered=True),
        )
    blocks: list[Block] = [Heading(message("steps.heading", algorithm=growth.algorithm))]
    blocks.append(Paragraph(message(f"steps.order.{growth.order}")))
    if growth.pruned and growth.tree == "final":
        blocks.append(Paragraph(message("note.steps_pruned")))
    for step in growth.steps:
        if isinstance(step, GrowthStep):
            blocks += _grown(growth, step, message)
    blocks += [Paragraph(message(f"note.{code}")) for code in growth.notes]
    return tuple(blocks)


def _grown(growth: Growth, step: GrowthStep, message: Words) -> list[Block]:
    position = message("steps.place", number=step.number, node=step.node, where=where(step.conditions, message))
    cases = message("cases", n=step.weight)
    counts = cases_line(growth.classes, step.counts, message) if growth.classes else ""
    if counts:
        cases += message("node.counts", target=name(growth.target), counts=counts)
    placeholders = {"outcome": outcome_text(step.outcome), "children": ", ".join(str(child) for child in step.children)}
    placeholders["attribute"] = name(step.attribute) if step.attribute is not None else ""
    if step.stop_code is not None:
        placeholders["reason"] = message(f"stop.{step.stop_code}")
    state = message("steps.state", open=step.open, leaves=message("leaves", n=step.leaves))
    line = f"{position}{cases}. {message(f'steps.{step.event}', **placeholders)} {state}"
    blocks: list[Block] = [Heading(line, 3)]
    model = growth.source
    if step.event == "split" and model is not None and step.node in model.trace:
        blocks += choice_blocks(explain_node(model, step.node), message)
    return blocks


def _case(step: CaseStep, message: Words) -> str:
    path = ", ".join(f"{name(attribute)}={name(value)}" for attribute, value in step.path) or message("cal.root")
    counted = ", ".join(f"{name(one)} {count}" for one, count in step.counts) or message("cal.nothing_counted")
    text = message("cal.step", case=step.case, where=path, counted=counted, event=message(f"cal.{step.event_code}"))
    return text if step.tree is None else f"{text} -> {step.tree}"
