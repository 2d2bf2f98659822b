"""The error-based pruning of C4.5 Release 8.

`Estimator` computes the expected errors of a node as a leaf. Two pruners give the same tree, bit for bit.

`FractionalPruner` is the procedure of the original. Subtree raising replaces a node by its largest branch, which then
gets all cases of the node and is pruned again. Estimating a node with `update` stores its weight, counts and class and
may prune or raise it; without `update` only the estimate is computed. Every estimate partitions the cases again and so
reorders them; later sums depend on that order, which starts as growing left it.

`UnitWeightPruner` is for data without missing values, where all counts are whole numbers and the order of the cases has
no effect. Pruning a node again with the same cases changes nothing, so the expected errors of a branch with all cases
of its node are found by sending down only the added cases: branches that none of them reaches keep their estimate. The
original partitions all cases again for each estimate, which takes time quadratic in the depth. `rows` has the cases of
every leaf; an inner node has those of its leaves.

Invariants: the grown tree does not change, since records are copied first. Nothing recurses on the depth of the tree.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.learners.c45r8.arithmetic import run_stackless, single
from treewright.learners.c45r8.cases import CaseIndices, Release8Cases, SlicePartition, branches_of
from treewright.learners.c45r8.growing import Release8Growth
from treewright.learners.pessimistic_error import extra_errors_single
from treewright.tree.build import NodeRecord, build_tree
from treewright.tree.split import Split, Test
from treewright.tree.tree import Floats, Stop, Tree

PRUNING_SLACK = 0.1
"""A simpler tree is chosen if its expected errors are at most this much higher."""


@dataclass(frozen=True, slots=True)
class Estimator:
    """Estimates errors at one confidence level."""

    confidence: float

    def as_leaf(self, weight: float, counts: npt.NDArray[np.number[Any]], outcome: int) -> tuple[float, int]:
        """Return the expected errors of a leaf with these cases, and its class.

        `outcome` is the present class; ties keep it.

        Examples
        --------
        >>> Estimator(0.25).as_leaf(6.0, np.array([3.0, 3.0]), 1)[1]
        1
        """
        best = int(np.argmax(counts))
        if counts[best] > counts[outcome]:
            outcome = best
        errors = single(weight - float(counts[outcome]))
        return single(errors + extra_errors_single(weight, errors, self.confidence)), outcome


Estimate = tuple[float, int]
"""Expected errors of a node, and the node that replaces it (itself if it is kept)."""


class UnitWeightPruner:
    """The state of one run: records, changed in place, and the cases of the leaves."""

    def __init__(self, cases: Release8Cases, records: list[NodeRecord], estimator: Estimator) -> None:
        self.cases = cases
        self.records = records
        self.estimator = estimator
        self.rows: dict[int, list[CaseIndices]] = {}

    def prune(self) -> int:
        """Prune the tree below record 0 and return the number of its new root."""
        order = self._route_cases()
        replaced: dict[int, int] = {}
        for node in reversed(order):  # children come before their parents
            record = self.records[node]
            record.children = [replaced.get(child, child) for child in record.children]
            if record.weight > 0:
                _, replaced[node] = run_stackless(self._decide(node))
        return replaced.get(0, 0)

    def _route_cases(self) -> list[int]:
        """Route all cases to the leaves, and return the nodes, parents before their children."""
        order = []
        waiting = [(0, np.arange(self.cases.n_cases, dtype=np.intp))]
        while waiting:
            node, rows = waiting.pop()
            order.append(node)
            record = self.records[node]
            if record.split is None:
                self.rows[node] = [rows]
            else:
                parts = self._parts(record.split, rows)
                waiting.extend(zip(record.children, parts, strict=True))
        return order

    def _parts(self, split: Split, rows: CaseIndices) -> list[CaseIndices]:
        branches = branches_of(self.cases, split, rows)
        return [rows[branches == branch] for branch in range(split.n_branches)]

    def _rows_below(self, node: int) -> list[CaseIndices]:
        """Return the cases of all leaves below a node."""
        found = []
        waiting = [node]
        while waiting:
            record = waiting.pop()
            found += self.rows.get(record, [])
            waiting += self.records[record].children
        return found

    def _decide(self, node: int) -> Generator[Any, Estimate, Estimate]:
        """Keep a node, make it a leaf, or replace it by its largest branch; its branches are pruned already."""
        record = self.records[node]
        as_leaf, _ = self.estimator.as_leaf(record.weight, record.counts, int(record.outcome))
        if record.split is None:
            record.estimate = as_leaf
            return as_leaf, node
        as_tree = 0.0
        largest, greatest = 0, -1.0
        for branch, child in enumerate(record.children):
            share = single(self.records[child].weight / record.weight)
            if share > 0:
                as_tree = single(as_tree + (self.records[child].estimate or 0.0))
                if share >= greatest:
                    largest, greatest = branch, share
        largest_child = record.children[largest]
        others = [rows for child in record.children if child != largest_child for rows in self._rows_below(child)]
        newcomers = np.concatenate(others)
        raised, _ = yield self._expected(largest_child, newcomers)
        if as_leaf <= raised + PRUNING_SLACK and as_leaf <= as_tree + PRUNING_SLACK:
            self.rows[node] = self._rows_below(node)
            record.become_leaf(Stop.PRUNED)
            record.estimate = as_leaf
            return as_leaf, node
        if raised <= as_tree + PRUNING_SLACK:
            return (yield self._admit(largest_child, newcomers))
        record.estimate = as_tree
        return as_tree, node

    def _expected(self, node: int, newcomers: CaseIndices) -> Generator[Any, Estimate, Estimate]:
        """Return the expected errors of a node with its own cases and the newcomers, without changing it."""
        record = self.records[node]
        if record.split is None:
            counts = self._counts_with(record, newcomers)
            return self.estimator.as_leaf(float(counts.sum()), counts, int(record.outcome))[0], node
        total = 0.0
        for child, part in zip(record.children, self._parts(record.split, newcomers), strict=True):
            if len(part):
                expected, _ = yield self._expected(child, part)
                total = single(total + expected)
            elif self.records[child].weight > 0:
                total = single(total + (self.records[child].estimate or 0.0))
        return total, node

    def _admit(self, node: int, newcomers: CaseIndices) -> Generator[Any, Estimate, Estimate]:
        """Add the newcomers to a node and its descendants, and prune each node that gets any again."""
        record = self.records[node]
        counts = self._counts_with(record, newcomers)
        record.weight = float(counts.sum())
        record.counts = counts
        record.outcome = self.estimator.as_leaf(record.weight, counts, int(record.outcome))[1]
        if record.split is None:
            self.rows[node].append(newcomers)
        else:
            for branch, part in enumerate(self._parts(record.split, newcomers)):
                if len(part):
                    _, record.children[branch] = yield self._admit(record.children[branch], part)
        return (yield self._decide(node))

    def _counts_with(self, record: NodeRecord, newcomers: CaseIndices) -> Floats:
        """Return the class counts with the newcomers; the record of an empty leaf has its parent's counts."""
        added = np.bincount(self.cases.classes[newcomers], minlength=self.cases.n_classes).astype(np.float64)
        return added + record.counts if record.weight > 0 else added


def prune_release8(dataset: Dataset, growth: Release8Growth, confidence: float = 0.25) -> Tree:
    """Return the pruned tree of C4.5 Release 8.

    Parameters
    ----------
    dataset : Dataset
        The cases the tree was grown from.
    growth : Release8Growth
        It is not changed.
    confidence : float
        CF, above 0 and up to 1.

    Returns
    -------
    Tree
        With `estimate`: the expected errors of each node. Branches without cases keep the training errors of growing.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.c45r8.growing import grow_release8
    >>> from treewright.learners.c45r8.options import Release8
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
    """The state of one run: records, changed in place, and the cases in their order."""

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
        """Return the expected errors of a node with the cases of a slice, and the node that replaces it."""
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
    """Remove unreachable categories from the last branch of subset splits, and the branch if none is left.

    The subset splits above on the path determine which categories can reach a node.
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
            reaching = frozenset(value for value, taken in enumerate(branch_of) if taken == branch)
            waiting.append((child, possible | {attribute: reaching}))
