"""The error-based pruning of C4.5 Release 8, with the order of the cases that growing left behind.

The errors expected of a node are estimated by `treewright.prune.release8_estimate`. Subtree raising replaces a node by
its largest branch, which then gets all cases of the node and is pruned again. Estimating a node with `update` stores
its weight, counts and class and may prune or raise it; without `update` only the estimate is computed.

Invariants
----------
The grown tree does not change: records are copied first. Every estimate partitions the cases again and so moves them;
the sums that follow depend on that order. (Without missing values they do not, and `UnitWeightPruner` takes a shorter
way to the same tree.) Nothing here recurses on the depth of the tree.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Any

import numpy as np

from treewright.data.dataset import Dataset
from treewright.grow.release8.arithmetic import run_stackless, single
from treewright.grow.release8.cases import Release8Cases, SlicePartition
from treewright.grow.release8.growing import Release8Growth
from treewright.model.build import NodeRecord, build_tree
from treewright.model.split import Split, Test
from treewright.model.tree import Stop, Tree
from treewright.prune.release8_estimate import PRUNING_SLACK, Estimator
from treewright.prune.release8_whole import UnitWeightPruner


def prune_release8(dataset: Dataset, growth: Release8Growth, confidence: float = 0.25) -> Tree:
    """Return the pruned tree of C4.5 Release 8.

    Parameters
    ----------
    dataset : Dataset
        The cases the tree was grown from.
    growth : Release8Growth
        What growing gave; it is left as it is.
    confidence : float
        CF, above 0 and up to 1.

    Returns
    -------
    Tree
        With `estimate` filled in: the errors expected of each node. Branches without cases expect what growing wrote.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.grow.release8.growing import grow_release8
    >>> from treewright.grow.release8.options import Release8
    >>> weather = sample("play-tennis")
    >>> round(float(prune_release8(weather, grow_release8(weather, Release8())).estimate[0]), 4)
    5.3918
    """
    records = [replace(record, children=list(record.children)) for record in growth.records]
    for record, errors in zip(records, growth.errors, strict=True):
        record.estimate = errors
    cases = Release8Cases(dataset, growth.order)
    estimator = Estimator(confidence)
    if cases.unit_weights:
        root = UnitWeightPruner(cases, records, estimator).prune()
    else:
        root = FractionalPruner(cases, records, estimator).prune()
    drop_impossible_branches(dataset, records, root)
    return build_tree(growth.schema, records, root)[0]


class FractionalPruner:
    """The state of one run: records that are changed in place, and the cases in their order."""

    def __init__(self, cases: Release8Cases, records: list[NodeRecord], estimator: Estimator) -> None:
        self.cases = cases
        self.records = records
        self.estimator = estimator

    def prune(self) -> int:
        """Prune the tree below record 0 and return the number of its new root."""
        _, root = run_stackless(self._estimate(0, 0, self.cases.n_cases, update=True))
        return int(root)

    def _estimate(
        self, node: int, first: int, stop: int, *, update: bool
    ) -> Generator[Any, tuple[float, int], tuple[float, int]]:
        """Return the errors that a node expects of a stretch, and the node that takes its place."""
        record = self.records[node]
        weight = self.cases.weight(first, stop)
        counts = self.cases.class_counts(first, stop)
        as_leaf, outcome = self.estimator.as_leaf(weight, counts, int(record.outcome))
        if update:
            record.weight = weight
            record.counts = counts.astype(np.float64)
            record.outcome = outcome
        if record.split is None:
            if update:
                record.estimate = as_leaf
            return as_leaf, node

        partition = SlicePartition(self.cases, record.split, first, stop, weight=None)
        as_tree = 0.0
        largest, greatest = 0, -1.0
        for branch in range(len(record.children)):
            if partition.enter(branch):
                if partition.factor >= greatest:
                    largest, greatest = branch, partition.factor
                child = record.children[branch]
                expected, child = yield self._estimate(child, first, partition.branch_stop, update=update)
                partition.leave()
                record.children[branch] = child
                as_tree = single(as_tree + expected)
        partition.close()
        if not update:
            return as_tree, node

        branch = record.children[largest]
        raised, _ = yield self._estimate(branch, first, stop, update=False)
        if as_leaf <= raised + PRUNING_SLACK and as_leaf <= as_tree + PRUNING_SLACK:
            record.become_leaf(Stop.PRUNED)
            record.estimate = as_leaf
            return as_leaf, node
        if raised <= as_tree + PRUNING_SLACK:
            return (yield self._estimate(branch, first, stop, update=True))
        record.estimate = as_tree
        return as_tree, node


def drop_impossible_branches(dataset: Dataset, records: list[NodeRecord], root: int) -> None:
    """Take the values that cannot arrive out of the last branch of subset tests, and the branch if none is left.

    What can arrive is known from the subset tests further up on the path.
    """
    everything: dict[int, frozenset[int]] = {}
    waiting = [(root, everything)]
    while waiting:
        node, possible = waiting.pop()
        record = records[node]
        split = record.split
        if split is None or split.test is not Test.SUBSET:
            waiting.extend((child, possible) for child in record.children)
            continue
        attribute = split.attribute
        n_values = len(dataset.schema.attributes[attribute].values)
        arriving = possible.get(attribute, frozenset(range(n_values)))
        last = split.n_branches - 1
        branch_of = [
            -1 if branch == last and value not in arriving else branch for value, branch in enumerate(split.branch_of)
        ]
        if last not in branch_of:
            record.children.pop()
        record.split = Split.subsets(attribute, branch_of)
        for branch, child in enumerate(record.children):
            inside = frozenset(value for value, home in enumerate(branch_of) if home == branch)
            waiting.append((child, possible | {attribute: inside}))
