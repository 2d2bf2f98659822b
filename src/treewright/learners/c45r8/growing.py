"""Growing the tree of Quinlan's C4.5 Release 8, node by node and bit by bit.

Invariants
----------
Nothing here recurses on the depth of the tree. Nodes are grown depth first, branches in order: the order of the
cases, the weights of fractional ones and (in subset mode) the minimum number of cases carry over from one to the next.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from treewright.data.dataset import Dataset
from treewright.data.schema import Schema
from treewright.learners.c45r8.arithmetic import EPSILON, Singles, run_stackless, single
from treewright.learners.c45r8.cases import CaseIndices, Release8Cases, SlicePartition
from treewright.learners.c45r8.options import Release8
from treewright.learners.c45r8.splits import Release8Evaluator
from treewright.tree.build import NodeRecord, build_tree
from treewright.tree.tree import Stop, Tree


@dataclass(frozen=True)
class Release8Growth:
    """A grown tree with the data that pruning needs.

    Parameters
    ----------
    schema : Schema
    options : Release8
    records : list of NodeRecord
        The nodes; record 0 is the root. A collapsed node keeps no children, so some records may be unreachable.
    errors : list of float
        Training errors below each record, as 32-bit floats. A collapsed node keeps the sum of its branches.
    order : array of int
        The cases in the order in which growing left them, with which pruning starts.
    """

    schema: Schema
    options: Release8
    records: list[NodeRecord]
    errors: list[float]
    order: CaseIndices

    @cached_property
    def tree(self) -> Tree:
        """The grown tree."""
        return self._built[0]

    @cached_property
    def tree_errors(self) -> list[float]:
        """Training errors below each node of `tree`."""
        return [self.errors[record] for record in self._built[1]]

    @cached_property
    def _built(self) -> tuple[Tree, list[int]]:
        return build_tree(self.schema, self.records)


def grow_release8(dataset: Dataset, options: Release8) -> Release8Growth:
    """Grow the tree that C4.5 Release 8 grows from these cases.

    Parameters
    ----------
    dataset : Dataset
        Training cases with their classes, in file order: the order affects the result. No case weights.
    options : Release8

    Returns
    -------
    Release8Growth
        The tree before pruning, for `treewright.learners.c45r8.pruning.prune_release8`.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> growth = grow_release8(sample("play-tennis"), Release8())
    >>> growth.tree.n_nodes, growth.tree.node(0).attribute.name
    (8, 'Outlook')
    """
    grower = _Grower(Release8Cases(dataset), options)
    run_stackless(grower.grow(0, dataset.n_rows, 0))
    return Release8Growth(dataset.schema, options, grower.records, grower.errors, grower.cases.order)


class _Grower:
    """The state of one run."""

    def __init__(self, cases: Release8Cases, options: Release8) -> None:
        self.cases = cases
        self.evaluator = Release8Evaluator(cases, options.criterion, options.subset, options.min_objects)
        self.records: list[NodeRecord] = []
        self.errors: list[float] = []

    def grow(self, first: int, stop: int, tested: int) -> Generator[Any, int, int]:
        """Grow the node that owns this slice, and return its index (see `run_stackless`)."""
        weight = self.cases.weight(first, stop)
        counts = self.cases.class_counts(first, stop)
        outcome = int(np.argmax(counts))  # compared exactly, as in the original; see `majority_class`
        most = float(counts[outcome])
        own_errors = single(weight - most)
        number = self._add(weight, counts, outcome, own_errors)
        record = self.records[number]
        if most == weight or weight < 2 * self.evaluator.minimum:
            record.stop = Stop.PURE if most == weight else Stop.TOO_FEW
            return number
        split = self.evaluator.best_split(first, stop, weight, tested)
        if split is None:
            record.stop = Stop.NO_GAIN if self.evaluator.usable else Stop.NO_ATTRIBUTES
            return number

        partition = SlicePartition(self.cases, split, first, stop, weight=weight)
        below = self.evaluator.used_below(split, tested)
        children = []
        errors = 0.0
        for branch in range(split.n_branches):
            if partition.enter(branch):
                child = yield self.grow(first, partition.branch_stop, below)
                partition.leave()
                errors = single(errors + self.errors[child])
            else:
                child = self._add(0.0, counts, outcome, 0.0)
                self.records[child].stop = Stop.EMPTY
            children.append(child)
        partition.close()
        self.errors[number] = errors
        if errors >= own_errors - EPSILON:
            record.become_leaf(Stop.PRUNED)
        else:
            record.split, record.children = split, children
        return number

    def _add(self, weight: float, counts: Singles, outcome: int, errors: float) -> int:
        self.records.append(NodeRecord(weight, counts.astype(np.float64), outcome))
        self.errors.append(errors)
        return len(self.records) - 1
