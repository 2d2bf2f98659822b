"""Data of the pruning slider: the sequence of pruned trees, with the errors of every step.

Each step is one of the nested trees of cost-complexity pruning: all links of the same effective alpha are pruned at
once. Step 0 is the tree as trained. The risk is the share of training errors (for a numeric target the mean squared
error), so the alphas are on the scale of the chart.

A case is predicted by the first pruned node on its path, else by its leaf; a fractional case counts in fractions. The
validation error is that of this tree on test cases, or of the trees of the folds, pruned with the same ccp_alpha.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.html_report.page_data import short
from treewright.pruning.cost_complexity import PruningPath, cost_complexity_path
from treewright.tree.model import TreeModel
from treewright.tree.route import all_visits
from treewright.tree.tree import LEAF, Tree

Floats = npt.NDArray[np.float64]

MOST_STEPS = 300
"""Most steps of the slider; of a longer sequence they are even on a logarithmic scale of leaves."""

SAME = 1e-9
"""Strengths that differ by less than this share are one step."""


@dataclass(frozen=True)
class PruningSteps:
    """The nested trees: alpha, pruned nodes and number of leaves of each step after the first."""

    alphas: tuple[float, ...]
    cuts: tuple[tuple[int, ...], ...]
    leaves: tuple[int, ...]


def pruning_steps(tree: Tree, most: int = MOST_STEPS) -> PruningSteps:
    """Return the steps from a tree to its root.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.recipe import ID3
    >>> from treewright.fitting.learn import fit
    >>> steps = pruning_steps(fit(sample("play-tennis"), ID3()).tree)
    >>> steps.leaves, steps.cuts
    ((1,), ((0,),))
    """
    path = _path(tree)
    ends = [
        at
        for at in range(1, len(path.alphas))
        if at + 1 == len(path.alphas) or path.alphas[at + 1] > path.alphas[at] * (1 + SAME)
    ]
    if len(ends) > most:
        sizes_shown = np.geomspace(path.leaves[ends[0]], 1, most)
        sizes = path.leaves[ends]
        ends = [ends[index] for index in sorted({int(np.argmin(np.abs(sizes - size))) for size in sizes_shown})]
    starts = [0, *ends[:-1]]
    return PruningSteps(
        tuple(float(path.alphas[at]) for at in ends),
        tuple(tuple(path.nodes[start + 1 : end + 1].tolist()) for start, end in zip(starts, ends, strict=True)),
        tuple(int(path.leaves[at]) for at in ends),
    )


def _path(tree: Tree) -> PruningPath:
    return cost_complexity_path(tree, "impurity" if tree.is_regression else "errors")


def losses_along(model: TreeModel, cases: Dataset, alphas: Sequence[float]) -> Floats:
    """Return the mean loss on cases of the full tree and of the trees pruned with ascending alphas.

    Parameters
    ----------
    model : TreeModel
    cases : Dataset
        With a target.
    alphas : sequence of float

    Returns
    -------
    array
        One more than there are alphas.
    """
    tree = model.tree
    own, staying = _losses_at_nodes(tree, cases)
    below = own.copy()
    for node in range(tree.n_nodes - 1, -1, -1):
        if tree.attribute[node] != LEAF:
            below[node] = staying[node] + float(below[tree.children_of(node)].sum())
    path = _path(tree)
    total, at = float(below[0]), 1
    result = [total]
    gone = np.zeros(tree.n_nodes)  # losses added by pruning below a node
    for alpha in alphas:
        while at < len(path.alphas) and path.alphas[at] <= alpha * (1 + SAME):
            node = int(path.nodes[at])
            change = float(own[node] - below[node] - gone[node])
            while node >= 0:
                gone[node] += change
                node = int(tree.parent[node])
            total += change
            at += 1
        result.append(total)
    weight = float(cases.n_rows if cases.weights is None else cases.weights.sum())
    return np.array(result) / weight


def _losses_at_nodes(tree: Tree, cases: Dataset) -> tuple[Floats, Floats]:
    """Return the loss of all cases that reach each node, and of those that end there."""
    target = np.zeros(0) if cases.target is None else cases.target
    weights = cases.case_weights
    own, staying = np.zeros(tree.n_nodes), np.zeros(tree.n_nodes)
    for visits in all_visits(tree, cases):
        predicted = tree.outcome[visits.nodes]
        actual = target[visits.rows]
        loss = (predicted - actual) ** 2 if tree.is_regression else (predicted != actual).astype(np.float64)
        amounts = loss * visits.shares * weights[visits.rows]
        own += np.bincount(visits.nodes, amounts, tree.n_nodes)
        staying += np.bincount(visits.nodes[visits.final], amounts[visits.final], tree.n_nodes)
    return own, staying


def between(alphas: Sequence[float]) -> list[float]:
    """Return an alpha inside the range of each step: the geometric mean, which suits the trees of the folds best."""
    following = [*alphas[1:], 2 * alphas[-1]] if alphas else []
    return [sqrt(alpha * after) for alpha, after in zip(alphas, following, strict=True)]


def pruning_data(tree: Tree, steps: PruningSteps, validation: Floats | None = None) -> dict[str, Any]:
    """Return the data of the slider; errors have one entry more than there are steps."""
    plain: dict[str, Any] = {
        "alphas": short(steps.alphas),
        "cuts": [list(cut) for cut in steps.cuts],
        "leaves": [tree.n_leaves, *steps.leaves],
        "training": short(training_errors(tree, steps)),
    }
    if validation is not None:
        smallest = len(validation) - 1 - int(np.argmin(validation[::-1]))  # of equally good trees
        plain |= {"validation": short(validation), "best": smallest}
    return plain


def training_errors(tree: Tree, steps: PruningSteps) -> Floats:
    """Return the training error of each step from the counts in the tree."""
    path = _path(tree)
    alphas = np.array([-1.0, *steps.alphas])
    last = [int(np.searchsorted(path.alphas[1:], alpha * (1 + SAME), side="right")) for alpha in alphas]
    errors: Floats = path.risks[last]
    return errors
