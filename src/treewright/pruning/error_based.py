"""Error-based pruning: a subtree is kept, replaced by a leaf, or replaced by its largest branch.

Invariants: the rules are those of C4.5 (Quinlan 1993, chapter 4) without the 32-bit rounding of Release 8: comparisons
use a relative tolerance of 1e-9, so that rounding decides nothing. Branches are decided before their node. Pruning a
decided subtree again with the same cases changes nothing, so after raising only the nodes whose cases changed are
decided again. Cases have a canonical order, which depends on their values and not on their rows. Nothing recurses.

Large data is pruned by a kernel, small data by `ErrorBasedPruner`, which is the readable reference; both give the same
tree.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset, missing_mask
from treewright.errors import DataError
from treewright.learners.grower import is_compiled
from treewright.learners.pessimistic_error import extra_errors, squared_deviate
from treewright.pruning.collapse import check_classification
from treewright.tree.build import NodeRecord, build_tree, records_of
from treewright.tree.split import FRACTIONAL, Split
from treewright.tree.tree import Floats, Stop, Tree

PRUNING_SLACK = 0.1
"""A simpler tree is chosen if its expected errors are at most this much higher."""

TOLERANCE = 1e-9
"""Numbers that differ by less than this share of themselves are equal."""

FEW_CASES = 8
"""Up to this many cases are faster to route one by one than as arrays."""

Rows = npt.NDArray[np.intp]

Part = tuple[Rows, Floats | None]
"""Cases and their weights at a node; None if every case has its full weight there."""


def canonical_order(cases: Dataset) -> Rows:
    """Return an order of cases that depends on their values, not on the order of the rows."""
    keys: list[npt.NDArray[np.generic]] = list(cases.columns[::-1])
    weights = () if cases.weights is None else (cases.weights,)
    return np.lexsort((*keys, *weights, np.asarray(cases.target)))


@dataclass(frozen=True)
class PruningDecision:
    """The comparison at a node, and its result.

    Parameters
    ----------
    node : int
        Index in the unpruned tree.
    counts : tuple of float
        Class weights of the cases of the node.
    as_leaf, as_tree : float
        Expected errors of the node as a leaf, and of its branches together.
    branches : tuple of float
        Expected errors of each branch that has cases.
    raised : float or None
        Expected errors of the largest branch in place of the node; None if raising was not tried.
    outcome : {"kept", "pruned", "raised"}
    heir : int or None
        The largest branch, as its index in the unpruned tree.
    """

    node: int
    counts: tuple[float, ...]
    as_leaf: float
    as_tree: float
    branches: tuple[float, ...]
    raised: float | None
    outcome: str
    heir: int | None = None


class ErrorBasedPruner:
    """The state of one run: records, changed in place, and the cases of each node."""

    def __init__(
        self,
        tree: Tree,
        dataset: Dataset,
        confidence: float,
        raising: bool,
        extra: Callable[[float, float, float], float] = extra_errors,
        decisions: list[PruningDecision] | None = None,
    ) -> None:
        self._extra = extra
        self._decisions = decisions
        self._schema = tree.schema
        self._records = records_of(tree)
        self._confidence = confidence
        self._raising = raising
        self._columns = dataset.columns
        self._classes = np.asarray(dataset.target, dtype=np.intp)
        self._own_weights = dataset.weights
        self._n_classes = len(tree.schema.classes)
        self._unit_weights = has_only_unit_weights(tree, dataset)
        nothing = np.zeros(0, dtype=np.intp)
        self._cases: list[Part] = [(nothing, None)] * tree.n_nodes
        self._counts: list[Floats] = [np.zeros(self._n_classes)] * tree.n_nodes
        self._staying: dict[int, float] = {}
        self._to_decide = [False] * tree.n_nodes
        for record in self._records:
            record.estimate = 0.0
        weights = dataset.weights
        if self._unit_weights and (weights is None or bool(np.all(weights == np.floor(weights)))):
            rows = np.arange(dataset.n_rows, dtype=np.intp)
        else:  # sums could depend on the order of the rows
            rows = canonical_order(dataset)
        self._send_down(0, (rows, None))

    def run(self) -> tuple[Tree, list[int]]:
        """Decide every node that has cases, branches first; return the pruned tree and the origin of its nodes."""
        waiting = [(0, False)]
        while waiting:
            node, branches_decided = waiting.pop()
            if not branches_decided:
                waiting.append((node, True))
                children = self._records[node].children
                waiting.extend((child, False) for child in children if self._to_decide[child])
            elif self._decide(node):
                self._to_decide[node] = False
            else:
                waiting.append((node, False))
        return build_tree(self._schema, self._records)

    # -- the decision ------------------------------------------------------------------------------------------

    def _decide(self, node: int) -> bool:
        """Decide about a node whose branches are decided; return False if a branch replaced it."""
        record = self._records[node]
        as_leaf = self._as_leaf(self._counts[node])
        if record.split is None:
            record.estimate = as_leaf
            return True
        reached = [child for child in record.children if len(self._cases[child][0])]
        branches = tuple(self._records[child].estimate or 0.0 for child in reached)
        as_tree = sum(branches) + self._staying.get(node, 0.0)
        raised, heir = self._raised(node, reached) if self._raising and reached else (math.inf, -1)
        if _at_most(as_leaf, raised + PRUNING_SLACK) and _at_most(as_leaf, as_tree + PRUNING_SLACK):
            outcome = "pruned"
        else:
            outcome = "raised" if _at_most(raised, as_tree + PRUNING_SLACK) else "kept"
        if self._decisions is not None:
            counts = tuple(self._counts[node].tolist())
            tried = raised if math.isfinite(raised) else None
            largest = heir if heir >= 0 else None
            self._decisions.append(PruningDecision(node, counts, as_leaf, as_tree, branches, tried, outcome, largest))
        if outcome == "pruned":
            record.become_leaf(Stop.PRUNED)
            record.estimate = as_leaf
        elif outcome == "raised":
            self._records[node] = self._records[heir]
            rows, weights = self._cases[node]
            self._send_down(node, (rows.copy(), weights))  # decided branches keep slices of the old array
            return False
        else:
            record.estimate = as_tree
        return True

    def _as_leaf(self, counts: Floats, outcome: int | None = None) -> float:
        """Return the expected errors of a leaf with these cases that predicts `outcome` or the most frequent class."""
        weight = float(counts.sum())
        errors = max(weight - float(counts.max() if outcome is None else counts[outcome]), 0.0)
        return errors + self._extra(weight, errors, self._confidence)

    # -- raising -----------------------------------------------------------------------------------------------

    def _raised(self, node: int, reached: list[int]) -> tuple[float, int]:
        """Return the expected errors of the largest branch with all cases of its node, and this branch."""
        heir = reached[0]
        for child in reached[1:]:  # the last of equals
            if _at_most(float(self._counts[heir].sum()), float(self._counts[child].sum())):
                heir = child
        if not self._unit_weights:
            return self._estimate_with(heir, self._cases[node]), heir
        others = [self._cases[child][0] for child in self._records[node].children if child != heir]
        return (self._records[heir].estimate or 0.0) + self._change_by(heir, np.concatenate(others)), heir

    def _estimate_with(self, node: int, cases: Part) -> float:
        """Sum the estimates of the leaves below a node that has exactly these cases."""
        total = 0.0
        waiting = [(node, cases)]
        while waiting:
            node, cases = waiting.pop()
            record = self._records[node]
            if record.split is None:
                total += self._as_leaf(self._count(cases))
                continue
            parts, staying = self._partitioned(record.split, record, cases)
            if len(staying[0]):
                total += self._as_leaf(self._count(staying), _heaviest_class(self._count(cases), int(record.outcome)))
            waiting += [(child, part) for child, part in zip(record.children, parts, strict=True) if len(part[0])]
        return total

    def _change_by(self, node: int, newcomers: Rows) -> float:
        """Return how the estimate of a decided node changes when these cases are added.

        Used only for unit-weight cases: the cases of the node then keep their leaves, and only the leaves that
        newcomers reach change. This keeps chains of thousands of nodes affordable.
        """
        arrivals: list[tuple[int, Rows]] = []
        waiting = [(node, newcomers)]
        while waiting:
            node, rows = waiting.pop()
            record = self._records[node]
            if record.split is None:
                arrivals.append((node, rows))
            elif len(rows) <= FEW_CASES:
                arrivals += [(self._leaf_of(node, row), np.array([row])) for row in rows.tolist()]
            else:
                parts, _ = self._partitioned(record.split, record, (rows, None))
                waiting += [(child, part) for child, (part, _) in zip(record.children, parts, strict=True) if len(part)]
        added: dict[int, Floats] = {}
        for leaf, rows in arrivals:
            added[leaf] = added.get(leaf, 0.0) + self._count((rows, None))
        return sum(
            self._as_leaf(self._counts[leaf] + counts) - (self._records[leaf].estimate or 0.0)
            for leaf, counts in added.items()
        )

    def _leaf_of(self, node: int, row: int) -> int:
        """Return the leaf of one unit-weight case."""
        record = self._records[node]
        while record.split is not None:
            node = record.children[self._branch_of(record.split, record, row)]
            record = self._records[node]
        return node

    def _branch_of(self, split: Split, record: NodeRecord, row: int) -> int:
        value = self._columns[split.attribute][row]
        branch = split.route_one(value)
        for surrogate in record.surrogates:
            if branch >= 0:
                break
            branch = int(surrogate.route(self._columns[surrogate.split.attribute][[row]])[0])
        return branch if branch >= 0 else split.missing

    # -- cases -------------------------------------------------------------------------------------------------

    def _count(self, cases: Part) -> Floats:
        rows, weights = cases
        if weights is None and self._own_weights is not None:
            weights = self._own_weights[rows]
        return np.bincount(self._classes[rows], weights, self._n_classes).astype(np.float64)

    def _send_down(self, top: int, cases: Part) -> None:
        """Give a node its cases and partition them among its descendants, except below nodes whose cases stay the same.

        A node that gets cases gets their weight, counts and class, and is to be decided.
        """
        waiting = [(top, cases)]
        while waiting:
            node, cases = waiting.pop()
            record = self._records[node]
            first_time = not len(self._cases[node][0])
            counts = self._count(cases)
            self._cases[node], self._counts[node], self._to_decide[node] = cases, counts, True
            record.weight, record.counts = float(counts.sum()), counts
            record.outcome = _heaviest_class(counts, int(record.outcome))
            if record.split is None:
                pure = int(np.count_nonzero(counts)) <= 1
                if node != top and (record.stop is Stop.EMPTY or not (first_time or pure)):
                    record.stop = Stop.PURE if pure else Stop.PRUNED
                continue
            parts, staying = self._partitioned(record.split, record, cases, in_place=self._unit_weights)
            self._staying.pop(node, None)
            if len(staying[0]):
                self._staying[node] = self._as_leaf(self._count(staying), int(record.outcome))
            for child, part in zip(record.children, parts, strict=True):
                if len(part[0]) and not self._same(self._cases[child], part):
                    waiting.append((child, part))

    def _same(self, before: Part, now: Part) -> bool:
        """Return True if both parts are the same cases with the same weights."""
        if self._unit_weights:
            return len(before[0]) == len(now[0])  # raising only adds cases
        if not np.array_equal(before[0], now[0]):
            return False
        if before[1] is None or now[1] is None:
            return before[1] is now[1]
        return np.array_equal(before[1], now[1])

    def _partitioned(
        self, split: Split, record: NodeRecord, cases: Part, *, in_place: bool = False
    ) -> tuple[list[Part], Part]:
        """Return the cases of each branch, and those that stay; every part keeps the order.

        In place, the cases are sorted by branch and the parts are slices of the same array, so that all nodes together
        need one array.
        """
        rows, weights = cases
        branches = split.route(self._columns[split.attribute][rows])
        for surrogate in record.surrogates:
            unknown = np.flatnonzero(branches < 0)
            branches[unknown] = surrogate.route(self._columns[surrogate.split.attribute][rows[unknown]])
        if split.missing >= 0:
            branches[branches < 0] = split.missing
        if in_place:
            rows[:] = rows[np.argsort(branches, kind="stable")]
            ends = np.cumsum(np.bincount(branches, minlength=split.n_branches))
            return [(part, None) for part in np.split(rows, ends[:-1])], (rows[:0], None)
        missing = branches < 0
        if not missing.any() or split.missing != FRACTIONAL or missing.all():
            masks = [missing, *(branches == branch for branch in range(split.n_branches))]
            staying, *parts = [(rows[mask], None if weights is None else weights[mask]) for mask in masks]
            return parts, staying
        if weights is None:
            weights = np.ones(len(rows)) if self._own_weights is None else self._own_weights[rows]
        known = float(weights[~missing].sum())
        parts = []
        for branch in range(split.n_branches):
            here = branches == branch
            there = here | missing if here.any() else here
            share = float(weights[here].sum()) / known
            parts.append((rows[there], np.where(missing, weights * share, weights)[there]))
        return parts, (rows[:0], None)


def _heaviest_class(counts: Floats, outcome: int) -> int:
    """Return the class of greatest weight; the given class wins ties."""
    best = int(np.argmax(counts))
    return best if counts[best] > counts[outcome] * (1 + TOLERANCE) else outcome


def _at_most(number: float, bound: float) -> bool:
    """Return True if a number is at most a bound, up to rounding."""
    return number <= bound or math.isclose(number, bound, rel_tol=TOLERANCE)


def prune_error_based(
    tree: Tree, dataset: Dataset, confidence: float = 0.25, *, raising: bool = True, engine: str = "auto"
) -> Tree:
    """Return the tree pruned by expected errors.

    From the leaves up, a node becomes a leaf if the leaf is expected to make at most 0.1 errors more than the subtree
    and than the largest branch in its place. Otherwise its largest branch replaces it if that is expected to make at
    most 0.1 errors more than the subtree.

    Parameters
    ----------
    tree : Tree
        A classification tree with tests of any form.
    dataset : Dataset
        The cases the tree was grown from; their weights are respected, cases of weight 0 are left out.
    confidence : float
        CF, above 0 and up to 1; smaller prunes more.
    raising : bool
        Whether a branch may replace its node.
    engine : str
        "interpreted", "compiled", or "auto" to choose by the size of the data. The tree is the same.

    Returns
    -------
    Tree
        With `estimate`. Weights and counts are those of the cases that reach a node in the new tree; its class changes
        only to one of greater weight. Branches that no case reaches remain as they are and expect no errors.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.recipe import C45
    >>> from treewright.fitting.learn import fit
    >>> weather = sample("play-tennis")
    >>> pruned = prune_error_based(fit(weather, C45()).tree, weather)
    >>> len(pruned), round(float(pruned.estimate[0]), 4)
    (8, 5.3918)
    >>> len(prune_error_based(fit(weather, C45()).tree, weather, 0.01))
    1
    """
    check_classification(tree, "error-based pruning")
    squared_deviate(confidence)  # raises for an invalid confidence
    cases = cases_with_weight(tree, dataset)
    if is_compiled(engine, cases) and tree.n_nodes > 1 and tree.p_value is None and not tree.surrogates:
        if has_only_unit_weights(tree, cases):
            from treewright.pruning.error_based_kernels import prune_unit_cases

            return prune_unit_cases(tree, cases, confidence, raising=raising)
        from treewright.pruning.error_based_fractional_kernels import prune_fractional_cases

        return prune_fractional_cases(tree, cases, canonical_order(cases), confidence, raising=raising)
    return ErrorBasedPruner(tree, cases, confidence, raising).run()[0]


def has_only_unit_weights(tree: Tree, cases: Dataset) -> bool:
    """Return True if every case takes one branch at each test, by its value or the default branch."""
    inner = np.flatnonzero(tree.attribute >= 0)
    undecided = inner[tree.missing[inner] < 0]
    tested = np.unique(tree.attribute[undecided])
    missing = any(bool(missing_mask(cases.columns[attribute]).any()) for attribute in tested.tolist())
    owner = np.repeat(np.arange(tree.n_nodes), np.diff(tree.value_start))
    return not missing and not bool(np.any((tree.value_branch < 0) & (tree.missing[owner] < 0)))


def error_based_decisions(
    tree: Tree,
    dataset: Dataset,
    confidence: float = 0.25,
    *,
    raising: bool = True,
    extra: Callable[[float, float, float], float] = extra_errors,
) -> tuple[Tree, list[int], list[PruningDecision]]:
    """Prune as `prune_error_based` does, and return every decision.

    Parameters
    ----------
    tree, dataset, confidence, raising
        As in `prune_error_based`.
    extra : callable
        The extra errors of a leaf by its weight, its errors and the confidence; J48 has others.

    Returns
    -------
    tree : Tree
    origin : list of int
        For each node of the pruned tree, its index in the unpruned tree.
    decisions : list of PruningDecision
        In order; a node whose branch was raised is decided again.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.recipe import C45
    >>> from treewright.fitting.learn import fit
    >>> weather = sample("play-tennis")
    >>> _, _, decisions = error_based_decisions(fit(weather, C45()).tree, weather)
    >>> [(one.node, round(one.as_leaf, 2), round(one.as_tree, 2), one.outcome) for one in decisions]
    [(5, 3.24, 2.11, 'kept'), (1, 3.24, 2.11, 'kept'), (0, 6.79, 5.39, 'kept')]
    """
    decisions: list[PruningDecision] = []
    pruner = ErrorBasedPruner(tree, cases_with_weight(tree, dataset), confidence, raising, extra, decisions)
    pruned, origin = pruner.run()
    return pruned, origin, decisions


def cases_with_weight(tree: Tree, dataset: Dataset) -> Dataset:
    """Return the cases of positive weight; raise unless there are some, with a target and the tree's columns."""
    if dataset.target is None:
        raise DataError("pruning needs cases with their target", source=dataset.source)
    known, given = tree.schema, dataset.schema
    if given.attributes != known.attributes or given.target_column != known.target_column:
        raise DataError("the cases do not have the columns of the tree", source=dataset.source)
    if dataset.weights is not None and np.any(dataset.weights == 0):
        dataset = dataset.take(dataset.weights > 0)
    if dataset.n_rows == 0:
        raise DataError("there are no cases to prune by", source=dataset.source)
    return dataset
