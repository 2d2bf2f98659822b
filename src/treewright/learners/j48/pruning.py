"""J48's error-based pruning: a subtree is kept, replaced by a leaf, or replaced by its largest branch.

Invariants
----------
Branches are decided before their node. Pruning a decided subtree again with the same cases changes nothing, so after
raising only the nodes whose cases changed are decided again. Nothing recurses.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from statistics import NormalDist

import numpy as np

from treewright.data.dataset import Dataset
from treewright.errors import DataError
from treewright.learners.j48.growing import (
    J48_TOLERANCE,
    Floats,
    J48Growth,
    J48Node,
    Rows,
    at_most,
    class_counts,
    majority,
    partition,
)
from treewright.learners.j48.options import J48
from treewright.tree.tree import Stop, Tree

PRUNING_SLACK = 0.1
"""The larger tree is kept only if its estimated errors are lower by more than this."""

FEW_CASES = 8
"""Up to this many cases are faster to route one by one than as arrays."""


def extra_errors(weight: float, errors: float, confidence: float) -> float:
    """Return the errors to add to those of a leaf: the upper confidence limit of a binomial, less the observed errors.

    Examples
    --------
    >>> round(extra_errors(6, 0, 0.25), 4), round(extra_errors(16, 1, 0.25), 4), extra_errors(6, 0, 0.6)
    (1.2378, 1.4757, 0.0)
    """
    if confidence > 0.5:
        return 0.0
    if errors < 1.0:
        base = weight * (1.0 - math.pow(confidence, 1.0 / weight))
        if errors == 0.0:
            return base
        return base + errors * (_beyond_one(weight, 1.0, confidence) - base)
    return _beyond_one(weight, errors, confidence)


def _beyond_one(weight: float, errors: float, confidence: float) -> float:
    """Return the extra errors for at least one error, by the normal approximation."""
    corrected = errors + 0.5
    if corrected >= weight:
        return max(weight - errors, 0.0)
    square = _deviate(confidence) ** 2
    spread = math.sqrt(square * (corrected * (1.0 - corrected / weight) + square / 4.0))
    return weight * (corrected + square / 2.0 + spread) / (weight + square) - errors


@cache
def _deviate(confidence: float) -> float:
    return NormalDist().inv_cdf(1.0 - confidence)


def prune_j48(dataset: Dataset, growth: J48Growth, options: J48) -> Tree:
    """Prune a grown tree as the options say.

    Parameters
    ----------
    dataset : Dataset
        The cases the tree was grown from.
    growth : J48Growth
        It is not changed.
    options : J48
        `prune`, `raising` and `confidence` are used.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.j48.growing import grow_j48
    >>> weather = sample("play-tennis")
    >>> len(prune_j48(weather, grow_j48(weather, J48()), J48()))
    8
    """
    return pruned_growth(dataset, growth, options).tree


def pruned_growth(dataset: Dataset, growth: J48Growth, options: J48) -> J48Growth:
    """Prune, and return the nodes with their cases as well as the tree."""
    if not options.prune:
        return growth
    nodes = [replace(node, children=list(node.children)) for node in growth.nodes]
    _Pruner(dataset, nodes, options).run()
    return J48Growth.of_nodes(dataset.schema, nodes)


class _Pruner:
    """Prunes nodes in place."""

    def __init__(self, dataset: Dataset, nodes: list[J48Node], options: J48) -> None:
        if dataset.target is None:
            raise DataError("pruning needs the cases with their classes", source=dataset.source)
        self._nodes = nodes
        self._columns = dataset.columns
        self._classes = dataset.target.astype(np.int32)
        self._n_classes = len(dataset.schema.classes)
        self._confidence = float(options.confidence)
        self._raising = options.raising
        self._complete = not dataset.has_missing
        self._to_decide = [True] * len(nodes)

    def run(self) -> None:
        """Decide every node, branches first."""
        nodes, to_decide = self._nodes, self._to_decide
        waiting = [(0, False)]
        while waiting:
            index, branches_decided = waiting.pop()
            if not branches_decided:
                waiting.append((index, True))
                waiting.extend((child, False) for child in nodes[index].children if to_decide[child])
            elif self._decide(index):
                to_decide[index] = False
            else:
                waiting.append((index, False))

    def _decide(self, index: int) -> bool:
        """Decide about a node whose branches are decided; return False if a branch replaced it."""
        node = self._nodes[index]
        as_leaf = self._leaf_estimate(node.counts)
        if not node.children:
            node.estimate = as_leaf
            return True
        as_tree = sum(self._decided_estimate(child) for child in node.children)
        largest = self._largest_branch(node)
        raised = self._raised_estimate(node, largest) if self._raising else math.inf
        if at_most(as_leaf, as_tree + PRUNING_SLACK) and at_most(as_leaf, raised + PRUNING_SLACK):
            node.become_leaf(Stop.PRUNED)
            node.estimate = as_leaf
            return True
        if at_most(raised, as_tree + PRUNING_SLACK):
            self._raise(node, self._nodes[largest])
            return False
        node.estimate = as_tree
        return True

    def _leaf_estimate(self, counts: Floats) -> float:
        weight = float(counts.sum())
        if weight < J48_TOLERANCE:
            return 0.0
        errors = weight - float(counts[majority(counts)])
        return errors + extra_errors(weight, errors, self._confidence)

    def _decided_estimate(self, index: int) -> float:
        estimate = self._nodes[index].estimate
        return 0.0 if estimate is None else estimate

    def _largest_branch(self, node: J48Node) -> int:
        """Return the branch with the greatest weight, the last of (nearly) equal ones."""
        largest, most = node.children[0], 0.0
        for child in node.children:
            weight = self._nodes[child].weight
            if at_most(most, weight):
                largest, most = child, weight
        return largest

    # -- raising ---------------------------------------------------------------------------------------------

    def _raised_estimate(self, node: J48Node, branch: int) -> float:
        """Estimate the errors of a branch with all cases of its node."""
        if not self._complete:
            return self._estimate_with(branch, node.rows, node.weights)
        extra = [self._nodes[child] for child in node.children if child != branch]
        rows = np.concatenate([child.rows for child in extra])
        weights = np.concatenate([child.weights for child in extra])
        return self._decided_estimate(branch) + self._change_by(branch, rows, weights)

    def _estimate_with(self, branch: int, rows: Rows, weights: Floats) -> float:
        """Sum the estimates of the leaves below a branch that has exactly these cases."""
        total = 0.0
        waiting = [(branch, rows, weights)]
        while waiting:
            index, rows, weights = waiting.pop()
            node = self._nodes[index]
            if not len(rows):
                continue
            if node.split is None:
                total += self._leaf_estimate(class_counts(rows, weights, self._classes, self._n_classes))
                continue
            shares = partition(node.split, self._columns[node.split.attribute], rows, weights)
            waiting.extend((child, *share) for child, share in zip(node.children, shares, strict=True))
        return total

    def _change_by(self, branch: int, rows: Rows, weights: Floats) -> float:
        """Return how the estimate of a decided branch changes when these cases are added.

        Used only without missing values: the cases of the branch then keep their leaves, and only the leaves that the
        added cases reach change. This keeps chains of thousands of nodes affordable.
        """
        added: dict[int, Floats] = {}
        waiting = [(branch, rows, weights)]
        while waiting:
            index, rows, weights = waiting.pop()
            node = self._nodes[index]
            if len(rows) <= FEW_CASES:
                for row, weight in zip(rows.tolist(), weights.tolist(), strict=True):
                    leaf = self._leaf_of(index, row)
                    added.setdefault(leaf, np.zeros(self._n_classes))[self._classes[row]] += weight
            elif node.split is None:
                counts = class_counts(rows, weights, self._classes, self._n_classes)
                added[index] = added[index] + counts if index in added else counts
            else:
                shares = partition(node.split, self._columns[node.split.attribute], rows, weights)
                waiting.extend((child, *share) for child, share in zip(node.children, shares, strict=True))
        return sum(
            self._leaf_estimate(self._nodes[leaf].counts + counts) - self._decided_estimate(leaf)
            for leaf, counts in added.items()
        )

    def _leaf_of(self, index: int, row: int) -> int:
        """Return the leaf of one case without missing values."""
        nodes, columns = self._nodes, self._columns
        node = nodes[index]
        while node.split is not None:
            index = node.children[node.split.route_one(columns[node.split.attribute][row])]
            node = nodes[index]
        return index

    def _raise(self, node: J48Node, branch: J48Node) -> None:
        """Replace a node by one of its branches, which gets the cases of the node."""
        node.split, node.children, node.stop = branch.split, branch.children, branch.stop
        node.gain, node.gain_ratio = branch.gain, branch.gain_ratio
        branch.split, branch.children = None, []  # the nodes below must have a single parent
        waiting = [node]
        while waiting:
            parent = waiting.pop()
            if parent.split is None:
                continue
            shares = partition(parent.split, self._columns[parent.split.attribute], parent.rows, parent.weights)
            for child, (rows, weights) in zip(parent.children, shares, strict=True):
                if self._give(child, rows, weights):
                    waiting.append(self._nodes[child])

    def _give(self, index: int, rows: Rows, weights: Floats) -> bool:
        """Assign cases to a node; return False if it already has them."""
        node = self._nodes[index]
        if np.array_equal(node.rows, rows) and np.array_equal(node.weights, weights):
            return False
        node.rows, node.weights = rows, weights
        node.counts = class_counts(rows, weights, self._classes, self._n_classes)
        node.weight = float(node.counts.sum())
        node.outcome = majority(node.counts)
        if node.split is None:
            node.stop = Stop.PURE if node.is_pure else Stop.PRUNED
        self._to_decide[index] = True
        return True
