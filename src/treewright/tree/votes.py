"""Prediction as in C4.5 Release 8 and J48.

C4.5 Release 8 classifies in 32-bit arithmetic. If a value is missing or belongs to no branch, the case
becomes fractional: it goes down all branches in proportion to their weight. After pruning the shares need not add up to
one. A case sums the class shares of all leaves it reaches, and the first class with the largest sum is predicted.

Invariants: leaves add to the sums in depth-first order, with one rounding per addition, so nodes are visited in index
order. A case reaches a node by one path only. In a numeric attribute -999 means missing, as in training.

J48 computes class probabilities, and chooses the class from them. A case that reaches an empty leaf (without training
cases) gets the probabilities of the leaf's parent. A case with a missing value goes down every branch in
proportion to the branch's weight; empty leaves get no share of it. A class must lead by more than the tolerance to win
over a class that comes earlier in class order.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.errors import ParameterError
from treewright.tree.route import leaf_visits
from treewright.tree.split import Split, Test
from treewright.tree.tree import Tree

Singles = npt.NDArray[np.float32]
Rows = npt.NDArray[np.intp]

UNKNOWN_NUMBER = -999.0
"""The number that marks a missing numeric value in the original program."""


def class_sums(tree: Tree, cases: Dataset) -> Singles:
    """Return the class sums of each case, rows by classes.

    Parameters
    ----------
    tree : Tree
        A tree grown or pruned by Release 8 (all splits fractional).
    cases : Dataset
        Encoded with the schema of the tree; the target is not used.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.c45r8.growing import grow_release8
    >>> from treewright.learners.c45r8.options import Release8
    >>> weather = sample("play-tennis")
    >>> sums = class_sums(grow_release8(weather, Release8()).tree, weather)
    >>> bool((np.argmax(sums, axis=1) == weather.target).all())
    True
    """
    if tree.is_regression:
        raise ParameterError("a regression tree has no class sums")
    columns = [
        as_singles(column) if attribute.is_numeric else column.astype(np.int32)
        for attribute, column in zip(tree.schema.attributes, cases.columns, strict=True)
    ]
    sums = np.zeros((cases.n_rows, len(tree.schema.classes)), dtype=np.float32)
    weight = tree.weight.astype(np.float32)
    counts = tree.counts.astype(np.float32)
    all_rows = np.arange(cases.n_rows, dtype=np.intp)
    stack: list[tuple[int, Rows, Singles]] = [(0, all_rows, np.ones(cases.n_rows, dtype=np.float32))]
    while stack:
        node, rows, shares = stack.pop()
        split = tree.split(node)
        if split is None:
            if weight[node] > 0:
                for code in np.flatnonzero(counts[node]):
                    sums[rows, code] += shares * counts[node, code] / weight[node]
            else:  # an empty leaf predicts its class
                sums[rows, int(tree.outcome[node])] += shares
            continue
        children = tree.children_of(node)
        branches = _branches(split, columns[split.attribute][rows])
        unknown = branches < 0
        fractional = bool(unknown.any())
        # push the last branch first, so that the first one is visited first
        for branch in range(split.n_branches - 1, -1, -1):
            child = int(children[branch])
            here = (branches == branch) | unknown if fractional else branches == branch
            if not here.any():
                continue
            part = shares[here]
            if fractional:
                reduced = unknown[here]
                part[reduced] = part[reduced] * weight[child] / max(weight[node], np.finfo(np.float32).tiny)
            stack.append((child, rows[here], part))
    return sums


def _branches(split: Split, values: npt.NDArray[np.float32] | npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    if split.test is Test.THRESHOLD:
        above = (values > np.float32(split.cut or 0.0)).astype(np.int32)
        return np.where(np.isnan(values), np.int32(-1), above)
    return np.array((*split.branch_of, -1), dtype=np.int32)[values.astype(np.int32)]


def as_singles(column: npt.NDArray[np.generic]) -> Singles:
    """Return numbers as the original program reads them: 32-bit floats, NaN if missing."""
    with np.errstate(over="ignore"):
        values = column.astype(np.float32)
    values[values == UNKNOWN_NUMBER] = np.nan
    return values


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
        weighted = of_node[visits.nodes] * visits.shares[:, None]
        for code in range(classes):
            result[start:stop, code] += np.bincount(
                visits.rows - start, weights=weighted[:, code], minlength=stop - start
            )
    return result


def predicted_codes(probabilities: Floats) -> npt.NDArray[np.intp]:
    """Return the class of each row: the most probable one; a class must lead an earlier one by more than the tolerance.

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
