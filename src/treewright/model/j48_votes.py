"""Prediction as in J48: class probabilities, and the class chosen from them.

A case that reaches an empty leaf (without training cases) gets the probabilities of the leaf's parent. A case with a
missing value goes down every branch in proportion to the branch's weight; empty leaves get no share of it. A class
must lead by more than the tolerance to win over a class that comes earlier in class order.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from treewright._base.errors import ParameterError
from treewright.data.dataset import Dataset
from treewright.model.route import leaf_visits
from treewright.model.tree import Tree

Floats = npt.NDArray[np.float64]

TOLERANCE = 1e-6
"""Probabilities closer than this are equal."""


def class_probabilities(tree: Tree, cases: Dataset) -> Floats:
    """Return the probability of each class for each case.

    Parameters
    ----------
    tree : Tree
        A tree grown or pruned by J48.
    cases : Dataset
        Encoded with the attributes of the tree's schema.

    Returns
    -------
    array, cases x classes
    """
    if tree.is_regression:
        raise ParameterError("a regression tree has no class probabilities")
    of_node = _node_probabilities(tree)
    classes = of_node.shape[1]
    result = np.zeros((cases.n_rows, classes))
    for visits in leaf_visits(tree, cases):
        start, stop = int(visits.rows.min()), int(visits.rows.max()) + 1
        answers = of_node[visits.nodes] * visits.shares[:, None]
        for code in range(classes):
            result[start:stop, code] += np.bincount(
                visits.rows - start, weights=answers[:, code], minlength=stop - start
            )
    return result


def predicted_codes(probabilities: Floats) -> npt.NDArray[np.intp]:
    """Return the class of each row: the first that is ahead of all before it by more than the tolerance.

    Examples
    --------
    >>> predicted_codes(np.array([[0.5, 0.5 + 1e-9], [0.4, 0.6]])).tolist()
    [0, 1]
    """
    rows, classes = probabilities.shape
    codes = np.zeros(rows, dtype=np.intp)
    best = np.full(rows, -1.0)
    for code in range(classes):
        ahead = probabilities[:, code] - best > TOLERANCE
        codes[ahead] = code
        best[ahead] = probabilities[ahead, code]
    return codes


def _node_probabilities(tree: Tree) -> Floats:
    """Return the class probabilities that each node predicts as a leaf."""
    weight = tree.weight[:, None]
    shares: Floats = np.where(weight > 0, tree.counts / np.where(weight > 0, weight, 1.0), 0.0)
    empty = np.flatnonzero(tree.weight <= 0)
    empty = empty[empty > 0]
    shares[empty] = shares[tree.parent[empty]]
    return shares
