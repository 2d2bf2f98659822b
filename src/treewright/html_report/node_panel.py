"""The node panel of the page: explanations and histograms of nodes.

Explanations are short lists, within a limit on their size. Nodes are explained level by level until the JSON reaches
its limit, so the top of a large tree is always explained. For the other nodes the page shows what follows from the
counts of the tree, and says so. Nodes that test a number have a histogram with the thresholds.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from treewright.data.dataset import Dataset
from treewright.drawing.node_histogram import node_histograms
from treewright.explain.attribute import AttributeExplanation, Branch
from treewright.explain.node import explain_node
from treewright.explain.pruning import explain_pruning
from treewright.html_report.page_data import short, short_number, shown
from treewright.html_report.quality import sampled
from treewright.tree.model import TreeModel
from treewright.tree.tree import LEAF, Tree

MOST_CHARACTERS = 700_000
"""Most characters of all explanations together."""

RECOUNTED_CELLS = 8_000_000
"""Most cells of data that are counted for nodes without a split trace."""

MOST_PRUNING_CHARACTERS = 150_000
"""Most characters of all pruning decisions together."""

PRUNED_AGAIN = 3_000
"""Rows times nodes up to which the tree is grown and pruned again, to show the pruned subtrees."""

MOST_ATTRIBUTES = 60
"""Most attributes of one node; the best come first."""

MOST_TABLES = 25
"""Most attributes of one node with a table."""

MOST_BRANCHES = 60
"""Most rows of one table."""

NUMBERS = (
    "decrease",
    "split_information",
    "ratio",
    "gini_decrease",
    "chi_square",
    "chi_square_df",
    "chi_square_p",
    "adjusted_p",
    "after",
    "known",
    "unknown",
    "tries",
    "correction",
)
"""The numbers of an attribute, in their order in the data of the page."""


def explanations(
    model: TreeModel, data: Dataset | None = None, most_characters: int = MOST_CHARACTERS
) -> dict[str, Any]:
    """Return the explanations of the nodes with a split trace, by node.

    With the training cases some upper nodes without a split trace are counted again, within a limit on their cost.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.fitting.learn import fit
    >>> from treewright.plans import c45
    >>> found = explanations(fit(sample("play-tennis"), c45()))
    >>> [(attribute, numbers[0]) for attribute, status, numbers, *table in found["0"]["attributes"]]
    [(0, 0.24675), (2, 0.151836), (3, 0.048127), (1, 0.029223)]
    """
    result: dict[str, Any] = {}
    retraced = _nodes_to_retrace(model, data)
    for node in _from_the_top(model, {*model.trace, *retraced}):
        plain = _node(model, node, data if node in retraced else None)
        most_characters -= len(json.dumps(plain, ensure_ascii=False))
        if most_characters < 0:
            break
        result[str(node)] = plain
    return result


def _from_the_top(model: TreeModel, nodes: Iterable[int]) -> list[int]:
    depths = model.tree.depths
    return sorted(nodes, key=lambda node: (int(depths[node]), node))


def _nodes_to_retrace(model: TreeModel, data: Dataset | None) -> set[int]:
    """Return the upper nodes without a split trace that are counted again."""
    if data is None:
        return set()
    lacking = _from_the_top(model, set(np.flatnonzero(model.tree.attribute != LEAF).tolist()) - set(model.trace))
    limit = RECOUNTED_CELLS // max(1, data.n_rows * len(data.columns))
    return set(lacking[:limit])


def _node(model: TreeModel, node: int, data: Dataset | None) -> dict[str, Any]:
    explanation = explain_node(model, node, data)
    index_of = {name: position for position, name in enumerate(model.schema.attribute_names)}
    listed = explanation.attributes[:MOST_ATTRIBUTES]
    plain: dict[str, Any] = {
        "measure": explanation.measure,
        "impurity": _precise(explanation.impurity),
        "score": explanation.worth,
        "attributes": [
            _attribute(index_of[one.name], one, with_table=at < MOST_TABLES) for at, one in enumerate(listed)
        ],
    }
    if len(explanation.attributes) > len(listed):
        plain["more"] = len(explanation.attributes) - len(listed)
    if explanation.average_gain is not None:
        plain["average"] = _precise(explanation.average_gain)
    if explanation.runner_up is not None and explanation.margin is not None:
        plain["runner_up"] = [index_of[explanation.runner_up], _precise(explanation.margin)]
    if explanation.notes:
        plain["notes"] = list(explanation.notes)
    return plain


def _attribute(attribute: int, one: AttributeExplanation, *, with_table: bool) -> list[Any]:
    numbers = [_precise(getattr(one, name)) for name in NUMBERS]
    while numbers and not numbers[-1]:  # zeros and missing numbers at the end are left out
        numbers.pop()
    plain: list[Any] = [attribute, one.verdict.name.lower(), numbers]
    if with_table and one.branches:
        plain.append([_branch(branch) for branch in one.branches[:MOST_BRANCHES]])
        if len(one.branches) > MOST_BRANCHES:
            plain.append(len(one.branches) - MOST_BRANCHES)
    return plain


def _branch(branch: Branch) -> list[Any]:
    if branch.counts:
        return [shown(branch.label), short(branch.counts), _precise(branch.impurity)]
    return [shown(branch.label), [short_number(branch.weight), _precise(branch.mean)], _precise(branch.impurity)]


def _precise(value: float | None) -> float | int | None:
    """Return a number rounded to the digits that make the page show the same as `explain`."""
    if value is None or not math.isfinite(value):
        return None
    if value == int(value):
        return int(value)
    size = abs(value)
    return float(f"{value:.4g}") if size < 1e-4 else round(value, 6) if size < 1_000 else round(value, 3)


def pruning_lines(
    model: TreeModel,
    data: Dataset | None = None,
    lang: str | None = None,
    most_characters: int = MOST_PRUNING_CHARACTERS,
) -> dict[str, list[str]]:
    """Return the pruning decisions at the nodes, line by line.

    With few training cases the tree is grown and pruned again, else the numbers follow from the finished tree.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.fitting.learn import fit
    >>> from treewright.plans import c45, id3
    >>> weather = sample("play-tennis")
    >>> pruning_lines(fit(weather, id3()), weather)
    {}
    >>> pruning_lines(fit(weather, c45()), weather)["0"][-1]
    'Result: the split was kept.'
    """
    retraced = data if data is not None and data.n_rows * len(model.trace) <= PRUNED_AGAIN else None
    result: dict[str, list[str]] = {}
    for node in _from_the_top(model, model.trace):
        explanation = replace(explain_pruning(model, node, retraced), notes=())  # notes are about the command line
        if not any(stage.estimates for stage in explanation.stages):
            continue
        lines = [line for line in explanation.to_text(lang).splitlines() if line.strip()][
            1:
        ]  # the page has its own heading
        most_characters -= sum(map(len, lines))
        if most_characters < 0:
            break
        result[str(node)] = lines
    return result


MOST_ROWS = 50_000
"""Most rows of a histogram; of more rows a sample is taken."""

MOST_NODES = 150
"""Most nodes with a histogram, the upper ones first."""

MOST_CLASSES = 12
"""Most classes of a histogram by class."""


def node_plots(tree: Tree, data: Dataset) -> dict[str, Any]:
    """Return low and high end, cuts and counts (bins x classes) by node.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright.data.schema import Column, Kind, Schema
    >>> from treewright.fitting.learn import fit
    >>> from treewright.plans import c45
    >>> schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NOMINAL, ("a", "b"))), target="y")
    >>> data = Dataset(schema, (np.arange(8.0),), 8, np.repeat([0, 1], 4).astype(np.int32))
    >>> low, high, cuts, counts = node_plots(fit(data, c45()).tree, data)["0"]
    >>> low, high, cuts, counts[0], counts[-1]
    (0, 7, [3.0], [1, 0], [0, 1])
    """
    nodes = np.argsort(tree.depths, kind="stable")[:MOST_NODES].tolist()
    found = node_histograms(tree, sampled(data, MOST_ROWS, 0), nodes)
    by_class = len(data.schema.classes) <= MOST_CLASSES
    return {
        str(node): [
            short_number(one.low),
            short_number(one.high),
            list(one.cuts),
            [short(row if by_class else [sum(row)]) for row in one.counts],
        ]
        for node, one in found.items()
    }
