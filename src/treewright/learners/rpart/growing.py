"""Growing a tree as rpart does (CART of Breiman, Friedman, Olshen and Stone).

Invariants
----------
Nodes are grown depth first, left before right, on a stack of their own: the right branch waits for what the left one
has saved. A node whose splits save too little risk becomes a leaf, and its subtree is discarded.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from treewright.data.dataset import Dataset, missing_mask
from treewright.data.schema import Task
from treewright.errors import DataError, ParameterError
from treewright.learners.rpart.cases import (
    LEFT,
    NEITHER,
    RIGHT,
    ClassTarget,
    NumberTarget,
    Rows,
    RpartCases,
    RpartTable,
    Target,
)
from treewright.learners.rpart.nodes import RpartGrowth, RpartNode, RpartSplit, SubsetSearch
from treewright.learners.rpart.options import Rpart
from treewright.learners.rpart.splits import SplitSearch, assign_sides, default_side, find_surrogates
from treewright.tree.tree import Stop


@dataclass(frozen=True)
class RpartData:
    """Cases prepared for growing one tree or, in cross-validation, several.

    Parameters
    ----------
    dataset : Dataset
        Without the cases that cannot be used: all attributes missing, or no weight.
    kept : array of int
        The rows of the original table that are used.
    table, target
        Attributes and target, arranged.
    cases : RpartCases
        All cases, sorted by each attribute.
    """

    dataset: Dataset
    kept: Rows
    table: RpartTable
    target: Target
    cases: RpartCases


def prepare(dataset: Dataset, options: Rpart) -> RpartData:
    """Check and arrange the training cases."""
    if dataset.target is None:
        raise DataError("rpart learns from cases with a target, and these have none", source=dataset.source)
    regression = dataset.schema.task is Task.REGRESSION
    if regression != (options.criterion == "variance"):
        allowed = "'variance' for a numeric target" if regression else "'gini' or 'information' for classes"
        raise ParameterError(f"criterion must be {allowed}, not {options.criterion!r}")
    kept = np.flatnonzero(usable_cases(dataset))
    if not len(kept):
        raise DataError("there are no cases to learn from", source=dataset.source)
    y = dataset.target[kept]
    if len(kept) < dataset.n_rows:
        dataset = dataset.take(kept)
    weights = dataset.case_weights
    target: Target
    if regression:
        with np.errstate(over="ignore"):
            if not np.isfinite(np.square(y, dtype=np.float64) @ weights):
                raise DataError("the numbers are too large to be squared", column=dataset.schema.target)
        target = NumberTarget(y.astype(np.float64), weights, equal_is_pure=not options.faults)
    else:
        classes = len(dataset.schema.classes)
        target = ClassTarget.of(y.astype(np.int32), weights, classes, options.priors, options.loss)
    table = RpartTable.of(dataset)
    return RpartData(dataset, kept, table, target, table.all_cases(exact_sums=target.has_exact_sums))


def usable_cases(dataset: Dataset) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return which cases have a positive weight and at least one known value."""
    usable = np.zeros(dataset.n_rows, dtype=bool) if dataset.columns else np.ones(dataset.n_rows, dtype=bool)
    for column in dataset.columns:
        usable |= ~missing_mask(column)
    if dataset.weights is not None:
        usable &= dataset.weights > 0
    return usable


def grow_rpart(dataset: Dataset, options: Rpart) -> RpartGrowth:
    """Grow a tree.

    Parameters
    ----------
    dataset : Dataset
        Cases with classes or numbers to predict. Ordinal attributes are taken as nominal. Weights are used in sums and
        risks; the limits count cases. Cases with all attributes missing, or of weight zero, are left out.
    options : Rpart

    Returns
    -------
    RpartGrowth
        The input of `treewright.learners.rpart.pruning`, which makes the cp table and prunes; its `tree` is the
        unpruned tree.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> growth = grow_rpart(sample("play-tennis"), Rpart(min_split=2, cp=0.0))
    >>> growth.tree.n_leaves, growth.nodes[0].risk, round(growth.nodes[0].primary.improve, 6)
    (7, 5.0, 1.428571)
    """
    ready = prepare(dataset, options)
    alpha = float(options.cp) * ready.target.value(ready.cases.first).risk
    nodes, subset_search = grow_nodes(ready, ready.cases, options, alpha)
    return RpartGrowth(dataset.schema, options, nodes, alpha, subset_search)


def grow_nodes(
    ready: RpartData, cases: RpartCases, options: Rpart, alpha: float
) -> tuple[tuple[RpartNode, ...], SubsetSearch]:
    """Grow from some of the prepared cases, for a given least complexity."""
    grower = _Grower(ready, options, alpha)
    return tuple(grower.run(cases)), grower.search.subset_search


@dataclass
class _Visit:
    """A node on the stack: its bound, the cases of its branches, and the risks and splits of grown branches."""

    index: int
    cases: RpartCases | None
    depth: int
    bound: float
    branches: dict[int, RpartCases] = field(default_factory=dict)
    risks: dict[int, float] = field(default_factory=dict)
    splits: dict[int, int] = field(default_factory=dict)


class _Grower:
    """Grows the nodes of one tree."""

    def __init__(self, ready: RpartData, options: Rpart, alpha: float) -> None:
        self._ready = ready
        self._options = options
        self._alpha = alpha
        self._nodes: list[RpartNode] = []
        self.search = SplitSearch(
            ready.table,
            ready.target,
            options.criterion,
            options.least_bucket,
            1 + int(options.competitors),
            exact=bool(options.faults),
        )
        self._sides = np.full(ready.dataset.n_rows, NEITHER, dtype=np.int8)

    def run(self, cases: RpartCases) -> list[RpartNode]:
        """Return the nodes of the tree, depth first."""
        nodes, alpha = self._nodes, self._alpha
        root = self._add(1, cases)
        waiting = [_Visit(root, cases, 0, nodes[root].risk)]
        while waiting:
            visit = waiting[-1]
            node = nodes[visit.index]
            if visit.cases is not None:  # first visit
                bound = min(node.risk, visit.bound)
                node.stop = self._open(visit, visit.cases, bound)
                if node.stop is not None:
                    node.complexity = alpha
                    waiting.pop()
                    self._record_branch(waiting, node.risk, 0)
                else:
                    waiting.append(self._enter(visit, LEFT, bound - alpha))
            elif RIGHT not in visit.risks:
                saved = (node.risk - visit.risks[LEFT]) / (visit.splits[LEFT] + 1)
                bound = min(visit.bound, max(saved, node.risk - nodes[node.left].risk))
                waiting.append(self._enter(visit, RIGHT, bound - alpha))
            else:
                waiting.pop()
                self._record_branch(waiting, *self._close(visit))
        return nodes

    @staticmethod
    def _record_branch(waiting: list[_Visit], risk: float, splits: int) -> None:
        """Record risk and splits of a grown branch at its parent."""
        if waiting:
            above = waiting[-1]
            side = RIGHT if LEFT in above.risks else LEFT
            above.risks[side], above.splits[side] = risk, splits

    def _add(self, number: int, cases: RpartCases) -> int:
        value = self._ready.target.value(cases.first)
        node = RpartNode(number, len(cases), value.weight, value.counts, value.outcome, value.risk)
        self._nodes.append(node)
        return len(self._nodes) - 1

    def _enter(self, visit: _Visit, side: int, bound: float) -> _Visit:
        """Add the node of a branch."""
        parent = self._nodes[visit.index]
        cases = visit.branches.pop(side)
        index = self._add(2 * parent.number + side, cases)
        if side == LEFT:
            parent.left = index
        else:
            parent.right = index
        return _Visit(index, cases, visit.depth + 1, bound)

    def _open(self, visit: _Visit, cases: RpartCases, bound: float) -> Stop | None:
        """Split a node; return the stop reason if it is not split."""
        options, node = self._options, self._nodes[visit.index]
        if node.cases < options.min_split:
            return Stop.TOO_FEW
        if bound <= self._alpha:
            return Stop.PURE if node.risk == 0 else Stop.SMALL_GAIN
        if options.max_depth is not None and visit.depth >= options.max_depth:
            return Stop.DEPTH
        splits = self.search.best(cases, node.risk)
        if not splits:
            return Stop.NO_GAIN
        node.primary, node.competitors = splits[0], tuple(splits[1:])
        self._partition(node, cases, splits[0])
        for side in (LEFT, RIGHT):
            visit.branches[side] = cases.on(side, self._sides)
        visit.cases = None
        return None

    def _partition(self, node: RpartNode, cases: RpartCases, primary: RpartSplit) -> None:
        """Assign a side to every case of the node, and find its surrogates."""
        ready, options, sides = self._ready, self._options, self._sides
        rows, weights = cases.rows, ready.target.weights
        sides[rows] = primary.route(ready.dataset.columns[primary.attribute][rows])
        surrogates: list[RpartSplit] = []
        if options.max_surrogates:
            surrogates = find_surrogates(
                ready.table, cases, sides, weights, primary.attribute, options.max_surrogates, faults=options.faults
            )
        if options.max_surrogates or not options.faults:
            node.default = default_side(sides[rows], weights[rows])
        own_sides = sides[rows]
        decided = assign_sides(ready.dataset, rows, own_sides, surrogates, node.default)
        sides[rows] = own_sides
        node.surrogates = tuple(replace(one, count=n) for one, n in zip(surrogates, decided, strict=True))

    def _close(self, visit: _Visit) -> tuple[float, int]:
        """Compute the complexity of a node with grown branches; return risk and number of splits of its subtree."""
        node, nodes = self._nodes[visit.index], self._nodes
        risks, splits = visit.risks, visit.splits
        children = {LEFT: nodes[node.left], RIGHT: nodes[node.right]}
        first = LEFT if children[LEFT].complexity < children[RIGHT].complexity else RIGHT
        saved = self._saved(node, visit)
        for side in (first, 1 - first):
            if saved <= children[side].complexity:
                break
            risks[side], splits[side] = children[side].risk, 0
            saved = self._saved(node, visit)
        node.complexity = saved
        if saved <= self._alpha:
            node.become_leaf(Stop.SMALL_GAIN)
            del nodes[visit.index + 1 :]
            return node.risk, 0
        return risks[LEFT] + risks[RIGHT], splits[LEFT] + splits[RIGHT] + 1

    @staticmethod
    def _saved(node: RpartNode, visit: _Visit) -> float:
        """Return the risk that each split of the subtree saves on average."""
        below = visit.risks[LEFT] + visit.risks[RIGHT]
        return (node.risk - below) / (visit.splits[LEFT] + visit.splits[RIGHT] + 1)
