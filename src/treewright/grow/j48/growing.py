"""Growing J48's tree (Weka 3.9.7): C4.5 in doubles, with tolerances, a numeric penalty and collapse.

Vocabulary
----------
collapse
    After growing, from the root down, a node becomes a leaf where its leaves make no fewer training errors
    than it would.

Invariants
----------
Trees may be as deep as they like: everything works on a stack of its own. A grown tree is made of `J48Node`,
which own their cases, since pruning with raising sends the cases of a node down other branches; the finished
`Tree` has none.
"""

from __future__ import annotations

import numpy as np

from treewright._base.errors import DataError
from treewright.data.dataset import Dataset
from treewright.data.schema import Task
from treewright.grow.j48.evaluate import J48Evaluator
from treewright.grow.j48.nodes import Codes, Floats, J48Growth, J48Node, greater, partition
from treewright.grow.j48.options import J48
from treewright.model.tree import Stop

COLLAPSE_SLACK = 1e-3
"""Training errors by which leaves must be better than their ancestor to be kept."""


def grow_j48(dataset: Dataset, options: J48) -> J48Growth:
    """Grow a tree and, unless told otherwise, collapse it.

    Parameters
    ----------
    dataset : Dataset
        Cases with classes; weights are used.
    options : J48

    Returns
    -------
    J48Growth
        What `treewright.prune.j48.prune_j48` prunes; its `tree` is J48's unpruned tree.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> grow_j48(sample("play-tennis"), J48()).tree.node(0).attribute.name
    'Outlook'
    """
    classes, weights = _classes_and_weights(dataset)
    evaluator = J48Evaluator(
        dataset,
        classes,
        min_objects=options.min_objects,
        binary=options.binary,
        mdl_correction=options.mdl_correction,
    )
    n_classes = len(dataset.schema.classes)
    rows = np.arange(dataset.n_rows, dtype=np.int32)
    nodes = [J48Node.of_cases(rows, weights, classes, n_classes)]
    waiting = [0]
    while waiting:
        node = nodes[waiting.pop()]
        node.stop = _reason_to_stop(node, options.min_objects, len(dataset.columns))
        if node.stop is not None:
            continue
        best = evaluator.best_test(node.rows, node.weights, node.weight)
        if best is None:
            node.stop = Stop.NO_GAIN
            continue
        node.split = evaluator.split_of(best)
        node.gain, node.gain_ratio = best.gain, best.gain_ratio
        for share_rows, share_weights in partition(
            node.split, dataset.columns[best.attribute], node.rows, node.weights
        ):
            node.children.append(len(nodes))
            nodes.append(J48Node.of_cases(share_rows, share_weights, classes, n_classes))
        waiting.extend(reversed(node.children))
    if options.collapse:
        _collapse(nodes)
    return J48Growth.of_nodes(dataset.schema, nodes)


def _classes_and_weights(dataset: Dataset) -> tuple[Codes, Floats]:
    if dataset.target is None:
        raise DataError("J48 learns from cases with classes, and these have none", source=dataset.source)
    if dataset.schema.task is not Task.CLASSIFICATION:
        raise DataError("J48 predicts classes; the target is numeric", column=dataset.schema.target)
    if dataset.n_rows == 0:
        raise DataError("there are no cases to learn from", source=dataset.source)
    weights = np.ones(dataset.n_rows) if dataset.weights is None else dataset.weights.astype(np.float64)
    return dataset.target.astype(np.int32), weights


def _reason_to_stop(node: J48Node, min_objects: int, n_attributes: int) -> Stop | None:
    if not len(node.rows):
        return Stop.EMPTY
    if node.is_pure:
        return Stop.PURE
    if greater(2.0 * min_objects, node.weight):
        return Stop.TOO_FEW
    return Stop.NO_ATTRIBUTES if n_attributes == 0 else None


def _collapse(nodes: list[J48Node]) -> None:
    """Turn nodes whose leaves do not reduce the training errors into leaves, from the root down."""
    below = [0.0] * len(nodes)
    for index in range(len(nodes) - 1, -1, -1):  # children come after their parents
        node = nodes[index]
        below[index] = sum(below[child] for child in node.children) if node.children else node.errors
    waiting = [0]
    while waiting:
        index = waiting.pop()
        node = nodes[index]
        if node.children and below[index] >= node.errors - COLLAPSE_SLACK:
            node.become_leaf(Stop.PRUNED)
        waiting.extend(node.children)
