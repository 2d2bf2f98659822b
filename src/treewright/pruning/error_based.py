"""One run of error-based pruning: a subtree stays, becomes a leaf, or gives way to its largest branch.

Invariants: The rules are those of C4.5 (Quinlan 1993, chapter 4) without the 32-bit rounding of Release 8: comparisons
are made with a relative tolerance of 1e-9, so that rounding decides nothing. Branches are settled before their node. A
settled subtree whose cases do not change stays as it is when it is pruned again, so that after raising only the nodes
that got other cases are looked at once more. Cases keep one order, which depends on what they are and not on where they
stand. Nothing here recurses.

Error-based pruning in double precision: a subtree stays, becomes a leaf, or gives way to its largest branch.

Many cases are pruned by a kernel, few by `error_based_pruner`, which has the words for it; both decide alike.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.errors import DataError, ParameterError
from treewright.learners.grower import is_compiled
from treewright.learners.pessimistic_error import extra_errors
from treewright.tree.build import NodeRecord, build_tree, records_of
from treewright.tree.split import FRACTIONAL, Split
from treewright.tree.tree import Floats, Stop, Tree

PRUNING_SLACK = 0.1
"""A simpler tree is taken when it expects at most this many errors more."""

TOLERANCE = 1e-9
"""Numbers that differ by less than this share of themselves are equal."""

FEW_CASES = 8
"""Up to so many cases are cheaper to route one by one than as arrays."""

Rows = npt.NDArray[np.intp]

Part = tuple[Rows, Floats | None]
"""Cases and the weights they have here; None where each has its own weight, undivided."""


def canonical_order(cases: Dataset) -> Rows:
    """Return an order of cases that follows from what they are, not from where they stand."""
    keys: list[npt.NDArray[np.generic]] = list(cases.columns[::-1])
    weights = () if cases.weights is None else (cases.weights,)
    return np.lexsort((*keys, *weights, np.asarray(cases.target)))


@dataclass(frozen=True)
class PruningDecision:
    """What was compared at a node, and what came of it.

    Parameters
    ----------
    node : int
        In the tree that was to be pruned.
    counts : tuple of float
        Of the cases that the node had.
    as_leaf, as_tree : float
        Errors expected of the node as a leaf, and of its branches together.
    branches : tuple of float
        Errors expected of each branch that has cases.
    raised : float or None
        Errors expected of the largest branch in place of the node; None where that was not tried.
    outcome : {"kept", "pruned", "raised"}
    heir : int or None
        The largest branch, in the numbers of the tree that was to be pruned.
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
    """The state of one run: records that are changed, and the cases that each node has."""

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
        self._unit_weights = self._has_only_unit_weights()
        nothing = np.zeros(0, dtype=np.intp)
        self._cases: list[Part] = [(nothing, None)] * tree.n_nodes
        self._counts: list[Floats] = [np.zeros(self._n_classes)] * tree.n_nodes
        self._staying: dict[int, float] = {}
        self._to_decide = [False] * tree.n_nodes
        for record in self._records:
            record.estimate = 0.0
        self._give(0, (self._ordered(dataset), None))
        self._send_down(0)

    @property
    def records(self) -> list[NodeRecord]:
        """The nodes as they are now, in the numbers of the tree that was given."""
        return self._records

    def run(self) -> Tree:
        """Settle every node that has cases, branches first, and build what remains."""
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
        return build_tree(self._schema, self._records)[0]

    # -- the decision ------------------------------------------------------------------------------------------

    def _decide(self, node: int) -> bool:
        """Decide about a node whose branches are settled; return False if a branch took its place."""
        record = self._records[node]
        as_leaf = self._as_leaf(self._counts[node])
        if record.split is None:
            record.estimate = as_leaf
            return True
        reached = [child for child in record.children if len(self._cases[child][0])]
        as_tree = sum(self._estimate(child) for child in reached) + self._staying.get(node, 0.0)
        raised, heir = math.inf, -1
        if self._raising and reached:
            heir = self._largest(reached)
            raised = self._raised(node, heir)
        if _at_most(as_leaf, raised + PRUNING_SLACK) and _at_most(as_leaf, as_tree + PRUNING_SLACK):
            outcome = "pruned"
        else:
            outcome = "raised" if _at_most(raised, as_tree + PRUNING_SLACK) else "kept"
        if self._decisions is not None:
            branches = tuple(self._estimate(child) for child in reached)
            counts = tuple(self._counts[node].tolist())
            tried = raised if math.isfinite(raised) else None
            largest = heir if heir >= 0 else None
            self._decisions.append(PruningDecision(node, counts, as_leaf, as_tree, branches, tried, outcome, largest))
        if outcome == "pruned":
            record.become_leaf(Stop.PRUNED)
            record.estimate = as_leaf
        elif outcome == "raised":
            self._raise(node, heir)
            return False
        else:
            record.estimate = as_tree
        return True

    def _as_leaf(self, counts: Floats, outcome: int | None = None) -> float:
        """Return the errors that a leaf with these cases expects, saying its own class or the most frequent one."""
        weight = float(counts.sum())
        errors = max(weight - float(counts.max() if outcome is None else counts[outcome]), 0.0)
        return errors + self._extra(weight, errors, self._confidence)

    def _estimate(self, node: int) -> float:
        return self._records[node].estimate or 0.0

    def _largest(self, children: list[int]) -> int:
        """Return the branch of the greatest weight, the last of equals."""
        largest = children[0]
        for child in children[1:]:
            if _at_most(float(self._counts[largest].sum()), float(self._counts[child].sum())):
                largest = child
        return largest

    # -- raising -----------------------------------------------------------------------------------------------

    def _raised(self, node: int, heir: int) -> float:
        """Estimate the errors of a branch if it had all cases of its node."""
        if not self._unit_weights:
            return self._estimate_with(heir, self._cases[node])
        others = [self._cases[child][0] for child in self._records[node].children if child != heir]
        return self._estimate(heir) + self._change_by(heir, np.concatenate(others))

    def _estimate_with(self, node: int, cases: Part) -> float:
        """Sum the estimates of the leaves below a node if these were all its cases."""
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
                total += self._as_leaf(self._count(staying), _most(self._count(cases), int(record.outcome)))
            waiting += [(child, part) for child, part in zip(record.children, parts, strict=True) if len(part[0])]
        return total

    def _change_by(self, node: int, newcomers: Rows) -> float:
        """Return how the estimate of a settled node changes if these cases come in addition.

        Only where cases are whole: those that are there stay where they are, and only the leaves that newcomers
        reach change. This keeps chains of thousands of nodes affordable.
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
        return sum(self._as_leaf(self._counts[leaf] + counts) - self._estimate(leaf) for leaf, counts in added.items())

    def _leaf_of(self, node: int, row: int) -> int:
        """Follow one whole case down to its leaf."""
        record = self._records[node]
        while record.split is not None:
            node = record.children[self._branch_of(record.split, record, row)]
            record = self._records[node]
        return node

    def _branch_of(self, split: Split, record: NodeRecord, row: int) -> int:
        value = self._columns[split.attribute][row]
        branch = -1
        if split.branch_of:
            branch = split.branch_of[value] if value >= 0 else -1
        elif not math.isnan(value):
            branch = int(value > split.cut) if split.cut is not None else bisect_left(split.bounds, value)
        for surrogate in record.surrogates:
            if branch >= 0:
                break
            branch = int(surrogate.route(self._columns[surrogate.split.attribute][[row]])[0])
        return branch if branch >= 0 else split.missing

    def _raise(self, node: int, heir: int) -> None:
        """Put a branch in place of its node and send the cases of the node down there."""
        self._records[node] = self._records[heir]
        rows, weights = self._cases[node]
        self._give(node, (rows.copy(), weights))  # settled branches go on looking at the old array
        self._send_down(node)

    # -- cases -------------------------------------------------------------------------------------------------

    def _has_only_unit_weights(self) -> bool:
        missing = [
            bool(np.isnan(column).any()) if column.dtype.kind == "f" else bool((column < 0).any())
            for column in self._columns
        ]
        return not any(
            split.missing < 0 and (missing[split.attribute] or -1 in split.branch_of)
            for split in (record.split for record in self._records)
            if split is not None
        )

    def _ordered(self, dataset: Dataset) -> Rows:
        """Return the cases in an order that the order of the rows has no part in, where sums could depend on it."""
        weights = dataset.weights
        if self._unit_weights and (weights is None or bool(np.all(weights == np.floor(weights)))):
            return np.arange(dataset.n_rows, dtype=np.intp)
        return canonical_order(dataset)

    def _weights_of(self, cases: Part) -> Floats | None:
        rows, weights = cases
        if weights is not None:
            return weights
        return None if self._own_weights is None else self._own_weights[rows]

    def _count(self, cases: Part) -> Floats:
        counts = np.bincount(self._classes[cases[0]], self._weights_of(cases), self._n_classes)
        return counts.astype(np.float64)

    def _give(self, node: int, cases: Part) -> None:
        """Give a node its cases, and the weight, counts and class that follow from them."""
        record = self._records[node]
        counts = self._count(cases)
        self._cases[node] = cases
        self._counts[node] = counts
        self._to_decide[node] = True
        record.weight = float(counts.sum())
        record.counts = counts
        record.outcome = _most(counts, int(record.outcome))

    def _send_down(self, node: int) -> None:
        """Divide the cases of a node among the nodes below; those that get what they have are left alone."""
        waiting = [node]
        while waiting:
            node = waiting.pop()
            record = self._records[node]
            if record.split is None:
                continue
            parts, staying = self._partitioned(record.split, record, self._cases[node], in_place=self._unit_weights)
            self._staying.pop(node, None)
            if len(staying[0]):
                self._staying[node] = self._as_leaf(self._count(staying), int(record.outcome))
            for child, part in zip(record.children, parts, strict=True):
                if len(part[0]) and not self._same(self._cases[child], part):
                    self._arrive(child, part)
                    waiting.append(child)

    def _arrive(self, child: int, part: Part) -> None:
        first_time = not len(self._cases[child][0])
        self._give(child, part)
        record = self._records[child]
        pure = int(np.count_nonzero(self._counts[child])) <= 1
        if record.split is None and (record.stop is Stop.EMPTY or not (first_time or pure)):
            record.stop = Stop.PURE if pure else Stop.PRUNED

    def _same(self, before: Part, now: Part) -> bool:
        """Tell whether a node gets the cases it has."""
        if self._unit_weights:
            return len(before[0]) == len(now[0])  # raising only adds whole cases
        if not np.array_equal(before[0], now[0]):
            return False
        if before[1] is None or now[1] is None:
            return before[1] is now[1]
        return np.array_equal(before[1], now[1])

    def _partitioned(
        self, split: Split, record: NodeRecord, cases: Part, *, in_place: bool = False
    ) -> tuple[list[Part], Part]:
        """Return the cases of each branch, and those that stay; every part keeps the order.

        In place, the cases are sorted by branch where they are and the parts are stretches of the same array, so that
        all nodes together need one array.
        """
        rows, _ = cases
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
        lost = branches < 0
        if not lost.any() or split.missing != FRACTIONAL or lost.all():
            return [_part(cases, branches == branch) for branch in range(split.n_branches)], _part(cases, lost)
        weights = self._weights_of(cases)
        weights = np.ones(len(rows)) if weights is None else weights
        known = float(weights[~lost].sum())
        parts: list[Part] = []
        for branch in range(split.n_branches):
            here = branches == branch
            there = here | lost if here.any() else here
            share = float(weights[here].sum()) / known
            parts.append((rows[there], np.where(lost, weights * share, weights)[there]))
        return parts, (rows[:0], None)


def _part(cases: Part, mask: npt.NDArray[np.bool_]) -> Part:
    rows, weights = cases
    return rows[mask], None if weights is None else weights[mask]


def _most(counts: Floats, outcome: int) -> int:
    """Return the class of greatest weight, the given one unless another has more."""
    best = int(np.argmax(counts))
    return best if counts[best] > counts[outcome] * (1 + TOLERANCE) else outcome


def _at_most(number: float, bound: float) -> bool:
    """Tell whether a number is not above a bound, rounding aside."""
    return number <= bound or math.isclose(number, bound, rel_tol=TOLERANCE)


def prune_error_based(
    tree: Tree, dataset: Dataset, confidence: float = 0.25, *, raising: bool = True, engine: str = "auto"
) -> Tree:
    """Return the tree pruned by the errors it should expect.

    From the leaves up, a node becomes a leaf if that is expected to make at most 0.1 errors more than the node as it
    is, and more than its largest branch would make in its place; otherwise it gives way to that branch if this is
    expected to make at most 0.1 errors more.

    Parameters
    ----------
    tree : Tree
        With classes and tests of any form.
    dataset : Dataset
        The cases the tree was grown from; their weights are respected, cases of weight 0 are left out.
    confidence : float
        CF, above 0 and up to 1; smaller prunes more.
    raising : bool
        Whether a branch may take the place of its node.
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
    if tree.is_regression:
        raise ParameterError("error-based pruning needs classes; a regression tree can be pruned by its cost")
    extra_errors(1.0, 0.0, confidence)  # refuses a confidence that is none
    cases = cases_with_weight(tree, dataset)
    if is_compiled(engine, cases) and tree.n_nodes > 1 and tree.p_value is None and not tree.surrogates:
        if has_only_unit_weights(tree, cases):
            from treewright.pruning.error_based_kernels import prune_unit_cases

            return prune_unit_cases(tree, cases, confidence, raising=raising)
        from treewright.pruning.error_based_fractional_kernels import prune_fractional_cases

        return prune_fractional_cases(tree, cases, canonical_order(cases), confidence, raising=raising)
    return ErrorBasedPruner(tree, cases, confidence, raising).run()


def has_only_unit_weights(tree: Tree, cases: Dataset) -> bool:
    """Say whether every case goes down one branch at each test, by its value or a default, never by a surrogate."""
    if tree.surrogates:
        return False
    inner = np.flatnonzero(tree.attribute >= 0)
    undecided = inner[tree.missing[inner] < 0]
    tested = np.unique(tree.attribute[undecided])
    lost = any(
        bool(np.isnan(cases.columns[a]).any())
        if cases.columns[a].dtype.kind == "f"
        else bool((cases.columns[a] < 0).any())
        for a in tested.tolist()
    )
    owner = np.repeat(np.arange(tree.n_nodes), np.diff(tree.value_start))
    return not lost and not bool(np.any((tree.value_branch < 0) & (tree.missing[owner] < 0)))


def error_based_decisions(
    tree: Tree,
    dataset: Dataset,
    confidence: float = 0.25,
    *,
    raising: bool = True,
    extra: Callable[[float, float, float], float] = extra_errors,
) -> tuple[Tree, list[int], list[PruningDecision]]:
    """Prune as `prune_error_based` does and tell every decision.

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
        For each node of it, the number that its place had before.
    decisions : list of PruningDecision
        In the order in which they were made; a node whose branch was raised is decided again.

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
    pruner.run()
    pruned, origin = build_tree(tree.schema, pruner.records)
    return pruned, origin, decisions


def cases_with_weight(tree: Tree, dataset: Dataset) -> Dataset:
    """Return the cases that weigh something; raise unless there are some, with a target and the tree's columns."""
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
