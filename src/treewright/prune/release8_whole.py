"""The pruning of C4.5 Release 8 for data without unknown values, without counting anything twice.

Vocabulary
----------
newcomers
    Cases that reach a node because a node above it is, or might be, replaced by this branch.
estimate
    Errors expected of a node, as in `treewright.prune.release8`.

Why
---
Without unknown values all counts are whole numbers and no order of the cases matters. What a node expects of its own
cases is then known once it was pruned, and pruning it again with the same cases would change nothing. So the question
what a branch would expect of all the cases of its node is answered by sending only the newcomers down: branches that
none of them reaches keep their estimate. The original divides all cases again for each such question, which takes
time with the square of the depth.

Invariants
----------
The results are those of the general procedure, bit by bit. `rows` holds the cases of every leaf; inner nodes have
those of their leaves.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np

from treewright.grow.release8.arithmetic import run_stackless, single
from treewright.grow.release8.cases import CaseIndices, Release8Cases, branches_of
from treewright.model.build import NodeRecord
from treewright.model.split import Split
from treewright.model.tree import Floats, Stop
from treewright.prune.release8_estimate import PRUNING_SLACK, Estimator

Answer = tuple[float, int]
"""Expected errors, and the node that takes the place of the one that was asked."""


class UnitWeightPruner:
    """The state of one run: records that are changed in place, and the cases of the leaves."""

    def __init__(self, cases: Release8Cases, records: list[NodeRecord], estimator: Estimator) -> None:
        self.cases = cases
        self.records = records
        self.estimator = estimator
        self.rows: dict[int, list[CaseIndices]] = {}

    def prune(self) -> int:
        """Prune the tree below record 0 and return the number of its new root."""
        order = self._place_cases()
        replaced: dict[int, int] = {}
        for node in reversed(order):  # children come before their parents
            record = self.records[node]
            record.children = [replaced.get(child, child) for child in record.children]
            if record.weight > 0:
                _, replaced[node] = run_stackless(self._decide(node))
        return replaced.get(0, 0)

    def _place_cases(self) -> list[int]:
        """Send all cases down to the leaves, and return the nodes with parents before their children."""
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

    def _decide(self, node: int) -> Generator[Any, Answer, Answer]:
        """Leave a node as it is, make it a leaf or replace it by its largest branch; its branches are pruned."""
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
        heir = record.children[largest]
        others = [rows for child in record.children if child != heir for rows in self._rows_below(child)]
        newcomers = np.concatenate(others)
        raised, _ = yield self._expected(heir, newcomers)
        if as_leaf <= raised + PRUNING_SLACK and as_leaf <= as_tree + PRUNING_SLACK:
            self.rows[node] = self._rows_below(node)
            record.become_leaf(Stop.PRUNED)
            record.estimate = as_leaf
            return as_leaf, node
        if raised <= as_tree + PRUNING_SLACK:
            return (yield self._admit(heir, newcomers))
        record.estimate = as_tree
        return as_tree, node

    def _expected(self, node: int, newcomers: CaseIndices) -> Generator[Any, Answer, Answer]:
        """Return the errors a node would expect of its own cases and the newcomers; nothing is changed."""
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

    def _admit(self, node: int, newcomers: CaseIndices) -> Generator[Any, Answer, Answer]:
        """Add the newcomers to a node and those below it, and prune each node that gets any anew."""
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
        """Return the class counts with the newcomers; an empty leaf shows its parent's counts but has none."""
        added = np.bincount(self.cases.classes[newcomers], minlength=self.cases.n_classes).astype(np.float64)
        return added + record.counts if record.weight > 0 else added
