"""Reduced-error pruning: a split is kept only if it reduces the errors on validation cases.

Source: J. R. Quinlan, Simplifying decision trees, International Journal of Man-Machine Studies 27, 1987.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treewright.data.dataset import Dataset
from treewright.pruning.collapse import cut_at
from treewright.pruning.error_based import cases_with_weight
from treewright.tree.route import Visits, all_visits
from treewright.tree.tree import LEAF, Floats, Tree

TOLERANCE = 1e-9
"""Errors that differ by less than this share of themselves are equal."""


def prune_reduced_error(tree: Tree, validation: Dataset) -> Tree:
    """Return the tree without the splits that do not lower the error on validation cases.

    From the leaves up, a node becomes a leaf if its own error is not above the error below it. Ties are pruned, and so
    are nodes that no validation case reaches. Weights, counts and outcomes remain those of the training cases.

    Parameters
    ----------
    tree : Tree
    validation : Dataset
        Not the cases the tree was grown from; weights are respected.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.recipe import ID3
    >>> from treewright.fitting.learn import fit
    >>> weather = sample("play-tennis")
    >>> tree = fit(weather, ID3()).tree
    >>> len(tree), len(prune_reduced_error(tree, weather)), len(prune_reduced_error(tree, weather.take([2, 3, 4, 9])))
    (8, 8, 1)
    """
    return cut_at(tree, validation_estimates(tree, validation).cut)


class ValidationEstimates(NamedTuple):
    """The compared errors on validation cases, by node: as a leaf, and of the subtree; and the nodes to cut."""

    own: Floats
    below: Floats
    cut: list[int]


def validation_estimates(tree: Tree, validation: Dataset) -> ValidationEstimates:
    """Return the errors that reduced-error pruning compares at each node, after pruning its branches.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.recipe import ID3
    >>> from treewright.fitting.learn import fit
    >>> weather = sample("play-tennis")
    >>> found = validation_estimates(fit(weather, ID3()).tree, weather)
    >>> found.own[:2].tolist(), found.below[:2].tolist(), found.cut
    ([5.0, 2.0], [0.0, 0.0], [])
    """
    own, final, weight, final_weight = _validation_errors(tree, cases_with_weight(tree, validation))
    below, compared = own.copy(), own.copy()
    cut = []
    for node in range(tree.n_nodes - 1, -1, -1):
        if tree.attribute[node] == LEAF:
            continue
        children = tree.children_of(node)
        below[node] = final[node] + float(below[children].sum())
        lost = weight[node] - final_weight[node] - float(weight[children].sum())
        if lost > TOLERANCE * weight[node]:
            below[node] += own[node] * lost / weight[node]
        compared[node] = below[node]
        if own[node] <= below[node] * (1 + TOLERANCE):
            cut.append(node)
            below[node] = own[node]
    return ValidationEstimates(own, compared, cut)


def _validation_errors(tree: Tree, cases: Dataset) -> tuple[Floats, Floats, Floats, Floats]:
    """Return for each node the error and the weight of the cases that reach it, and of those that end there.

    The order is: error, error of those that end, weight, weight of those that end.
    """
    sums = np.zeros((4, tree.n_nodes))
    for visits in all_visits(tree, cases):
        weights = visits.shares if cases.weights is None else visits.shares * cases.weights[visits.rows]
        errors = weights * _loss(tree, cases, visits)
        parts = (errors, errors * visits.final, weights, weights * visits.final)
        sums += np.stack([np.bincount(visits.nodes, part, tree.n_nodes) for part in parts])
    return sums[0], sums[1], sums[2], sums[3]


def _loss(tree: Tree, cases: Dataset, visits: Visits) -> Floats:
    target = np.asarray(cases.target)[visits.rows]
    predicted = tree.outcome[visits.nodes]
    loss: Floats = (target - predicted) ** 2 if tree.is_regression else (target != predicted).astype(np.float64)
    return loss
