"""Explanation of a whole tree: its outline, the importance of attributes, its cp table, and the choice of each test."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treewright.explain.attribute import impurity_importance
from treewright.explain.conditions import BranchCondition, condition_of, conditions_to, where
from treewright.explain.document import (
    Block,
    Document,
    Explanation,
    Heading,
    Paragraph,
    TableBlock,
    Together,
    Verbatim,
    name,
)
from treewright.explain.language import Words
from treewright.explain.node import explain_node, outcome_text
from treewright.explain.training_data import model_format_errors
from treewright.learners.recipe import recipe_from_dict
from treewright.tree.model import TreeModel
from treewright.tree.tree import LEAF, Tree
from treewright.wording import number

MOST_NODES = 40
"""Most tests listed one by one; those near the root come first."""

MOST_LEVELS = 6
"""Most levels of the tree in the outline."""

MOST_LINES = 120
"""Most lines of the outline."""


@dataclass(frozen=True)
class OutlineLine:
    """One node in the outline of a tree.

    Parameters
    ----------
    depth, node : int
    condition : BranchCondition or None
        Of the branch that leads to it; None for the root.
    attribute : str or None
        What it tests; None for a leaf, and where the outline ends.
    outcome : str or float
    weight : float
    errors : float or None
        Training cases of other classes.
    hidden : int
        Nodes below that are not shown.
    """

    depth: int
    node: int
    condition: BranchCondition | None
    attribute: str | None
    outcome: str | float
    weight: float
    errors: float | None
    hidden: int


@dataclass(frozen=True)
class TestLine:
    """One test of the tree; `worth` names the score in `value`, None if the model has no split trace of the node."""

    __test__ = False  # not a test class, whatever its name suggests to pytest

    node: int
    conditions: tuple[BranchCondition, ...]
    weight: float
    chosen: str
    worth: str | None = None
    value: float | None = None
    runner_up: str | None = None
    margin: float | None = None


@dataclass(frozen=True)
class TreeExplanation(Explanation):
    """The whole tree.

    Parameters
    ----------
    algorithm, criterion, target : str
    nodes, leaves, depth : int
    weight : float
        Of the training cases.
    outline : tuple of OutlineLine
        The top of the tree, depth first.
    importance : tuple of pairs
        Attributes and their share in the decrease of impurity, the largest first, zeros left out.
    cp_table : tuple of rows
        CP, number of splits, relative error and, where it was cross-validated, xerror and xstd; empty where the learner
        has none.
    tests : tuple of TestLine
    more : int
        Tests that are not listed.
    """

    algorithm: str
    criterion: str
    target: str
    nodes: int
    leaves: int
    depth: int
    weight: float
    outline: tuple[OutlineLine, ...]
    importance: tuple[tuple[str, float], ...]
    cp_table: tuple[tuple[float, ...], ...]
    tests: tuple[TestLine, ...]
    more: int

    def document(self, message: Words) -> Document:
        """Return the explanation as a document in a language."""
        return tree_document(self, message)


def explain_tree(model: TreeModel) -> TreeExplanation:
    """Explain a whole tree from the data stored in the model.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.fitting.learn import fit
    >>> from treewright.plans import id3
    >>> explanation = explain_tree(fit(sample("play-tennis"), id3()))
    >>> [(test.node, test.chosen, test.runner_up) for test in explanation.tests]
    [(0, 'Outlook', 'Humidity'), (1, 'Humidity', 'Temperature'), (5, 'Wind', 'Temperature')]
    """
    tree = model.tree
    recipe = recipe_from_dict(model.recipe)
    inner = sorted(np.flatnonzero(tree.attribute != LEAF).tolist(), key=lambda node: (int(tree.depths[node]), node))
    tests = tuple(_test(model, node) for node in inner[:MOST_NODES])
    return TreeExplanation(
        algorithm=recipe.name,
        criterion=recipe.criterion if recipe.own is None else recipe.own.name,
        target=tree.schema.target or "",
        nodes=tree.n_nodes,
        leaves=tree.n_leaves,
        depth=tree.depth,
        weight=float(tree.weight[0]),
        outline=_outline(tree),
        importance=_importance(model, recipe.criterion),
        cp_table=_cp_table(model),
        tests=tests,
        more=len(inner) - len(tests),
    )


def _outline(tree: Tree) -> tuple[OutlineLine, ...]:
    """Return the first levels; fewer levels if they take too many lines."""
    deepest = MOST_LEVELS
    while deepest > 1 and np.count_nonzero(tree.depths <= deepest) > MOST_LINES:
        deepest -= 1
    lines: list[OutlineLine] = []
    for node in range(tree.n_nodes):
        depth = int(tree.depths[node])
        if depth > deepest:
            above = len(lines) - 1
            lines[above] = replace(lines[above], hidden=lines[above].hidden + 1, attribute=None)
            continue
        if len(lines) >= MOST_LINES:
            lines[-1] = replace(lines[-1], hidden=lines[-1].hidden + 1)
            continue
        lines.append(_outline_line(tree, node, depth))
    return tuple(lines)


def _outline_line(tree: Tree, node: int, depth: int) -> OutlineLine:
    view = tree.node(node)
    parent = int(tree.parent[node])
    condition = None
    if parent >= 0:
        split, branch = tree.split(parent), tree.children_of(parent).tolist().index(node)
        if split is not None:
            condition = condition_of(split, branch, tree.schema.attributes[split.attribute])
    attribute = None if view.is_leaf else view.attribute.name
    errors = None if tree.is_regression else float(tree.errors[node])
    return OutlineLine(depth, node, condition, attribute, view.outcome, view.weight, errors, 0)


def _test(model: TreeModel, node: int) -> TestLine:
    view = model.tree.node(node)
    known: dict[str, Any] = {}
    if node in model.trace:
        explanation = explain_node(model, node)
        chosen = next((one for one in explanation.attributes if one.name == explanation.chosen), None)
        known = {"worth": explanation.worth, "runner_up": explanation.runner_up, "margin": explanation.margin}
        known["value"] = None if chosen is None else chosen.score(explanation.worth)
    return TestLine(node, conditions_to(model.tree, node), view.weight, view.attribute.name, **known)


def _cp_table(model: TreeModel) -> tuple[tuple[float, ...], ...]:
    with model_format_errors("cp table"):
        table = tuple(tuple(float(cell) for cell in row) for row in model.recipe.get("cp_table", ()))
        if any(not 3 <= len(row) <= 5 or len(row) != len(table[0]) for row in table):
            raise ValueError("a row has too few or too many numbers")
        return table


def _importance(model: TreeModel, criterion: str) -> tuple[tuple[str, float], ...]:
    shares = model.recipe.get("importance")
    if shares is None:
        shares = impurity_importance(model.tree, criterion).tolist()
    with model_format_errors("importance"):
        named = [(name, float(share)) for name, share in zip(model.schema.attribute_names, shares, strict=True)]
        return tuple(sorted(((name, share) for name, share in named if share > 0), key=lambda entry: -entry[1]))


def tree_document(explanation: TreeExplanation, message: Words) -> Document:
    """Return the explanation of a tree as a document."""
    size = message(
        "tree.size",
        nodes=message("nodes", n=explanation.nodes),
        leaves=message("leaves", n=explanation.leaves),
        depth=explanation.depth,
        cases=message("cases", n=explanation.weight),
    )
    blocks: list[Block] = [
        Heading(message("tree.heading", algorithm=explanation.algorithm, target=name(explanation.target))),
        Paragraph(size),
        Verbatim(_drawing(explanation, message)),
    ]
    if explanation.tests:
        blocks.append(_tests(explanation, message))
    if explanation.importance:
        rows = tuple((name(one), f"{share:.3f}") for one, share in explanation.importance)
        table = TableBlock((message("head.attribute"), message("head.share")), rows)
        blocks.append(Together((Paragraph(message("tree.importance")), table)))
    if explanation.cp_table:
        blocks.append(_cp_table_block(explanation, message))
    return tuple(blocks)


def _tests(explanation: TreeExplanation, message: Words) -> Block:
    scores = [test.worth for test in explanation.tests if test.worth is not None and test.worth != "order"]
    score_header = "-"
    if scores:
        score_header = name(explanation.criterion) if scores[0] == "own" else message(f"score.{scores[0]}")
    heads = (
        message("head.node"),
        message("head.cases"),
        message("head.test"),
        score_header,
        message("head.runner_up"),
        message("head.margin"),
    )
    rows = tuple(_row(test, message) for test in explanation.tests)
    more = message("tree.more_tests", n=explanation.more) if explanation.more else ""
    table = TableBlock((*heads, message("head.where")), rows, last_left=True, more=more)
    return Together((Paragraph(message("tree.tests")), table))


def _row(test: TestLine, message: Words) -> tuple[str, ...]:
    return (
        str(test.node),
        number(test.weight),
        name(test.chosen),
        _short(test.value),
        "-" if test.runner_up is None else name(test.runner_up),
        _short(test.margin),
        where(test.conditions, message),
    )


def _drawing(explanation: TreeExplanation, message: Words) -> str:
    """Return the top of the tree, a line for each node, indented by its depth."""
    lines = []
    for one in explanation.outline:
        branch = "" if one.condition is None else f"{one.condition.right_side(message)}: "
        if one.attribute is not None:
            text = name(one.attribute)
        else:
            text = f"{outcome_text(one.outcome)}  {number(one.weight)}"
            text += f"/{number(one.errors)}" if one.errors else ""
        text += f"  … {message('tree.more_nodes', n=one.hidden)}" if one.hidden else ""
        lines.append(f"{'   ' * one.depth}{branch}{text}")
    return "\n".join(lines)


def _short(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if 0.001 <= abs(value) < 1000 or value == 0 else f"{value:.3g}"


def _cp_table_block(explanation: TreeExplanation, message: Words) -> Block:
    heads = ("", "CP", message("cp.splits"), message("cp.error"), message("cp.xerror"), message("cp.xstd"))
    rows = tuple(
        (str(row_number), *(f"{cell:.5g}" for cell in row))
        for row_number, row in enumerate(explanation.cp_table, start=1)
    )
    table = TableBlock(heads[: len(rows[0])], rows)
    return Together((Paragraph(message("cp.title")), table))
