"""AdaBoost: trees are grown in sequence; misclassified cases have higher weights in the next round.

Two classes (Freund and Schapire 1997): eps is the weighted error, alpha = 1/2 ln((1 - eps) / eps). The weights of
correct cases are multiplied by e^(-alpha) and those of misclassified cases by e^alpha, then scaled to their former sum.
More classes (SAMME; Zhu, Zou, Rosset and Hastie 2009): alpha = ln((1 - eps) / eps) + ln(K - 1), and only the weights of
misclassified cases are multiplied. All trees vote, weighted by alpha.

The midway rule, reportedly used by C5.0 (Kuhn and Johnson 2013, section 14.6), changes weights less. The misclassified
cases get half of what their weight lacks to half of the total, in equal amounts; the correct ones lose it in proportion
to their weights. All trees have the same vote. The weight of a case that stays misclassified grows by addition and
not by multiplication, so wrong labels do less harm.

Later trees can be kept as coarse as the first one. Pruning treats a case of weight three like three cases that agree,
so trees would grow to fit single wrong labels. Therefore a node is split only if it weighs at least `coarseness` mean
leaves of the first tree.
"""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import exp, log
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.concurrency import run_in_worker
from treewright.data.dataset import Dataset
from treewright.ensembles.bootstrap import bootstrap, tree_key
from treewright.ensembles.growing import Leaves, TreeMaker
from treewright.ensembles.plan import BoostPlan
from treewright.ensembles.random_forest import DataDigest, provenance_of, resumed_trees
from treewright.ensembles.running import Interrupted, Progress, check_time_limit
from treewright.errors import ParameterError
from treewright.learners.grower import threads
from treewright.learners.sampling import child_key
from treewright.tree.forest import Combining, Forest
from treewright.tree.model import Smoothing, first_maximum, node_probabilities
from treewright.tree.packed_forest import blocks, pack_trees
from treewright.tree.tree import LEAF, Tree

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.integer[Any]]

MANY_CASES = 20_000
"""Least number of cases for which kernels update the tally, if kernels grow the trees."""


def alpha_of(error: float, classes: int) -> float:
    """Return the weight of a tree with this error.

    Examples
    --------
    >>> round(alpha_of(0.1, 2), 4), round(alpha_of(0.1, 3), 4)
    (1.0986, 2.8904)
    """
    if classes <= 2:
        return 0.5 * log((1 - error) / error)
    return log((1 - error) / error) + log(classes - 1)


def updated(weights: Floats, wrong: Mask, alpha: float, classes: int) -> Floats:
    """Return the weights after a round, with the same sum.

    Examples
    --------
    >>> updated(np.ones(4), np.array([True, False, False, False]), alpha_of(0.25, 2), 2).round(4).tolist()
    [2.0, 0.6667, 0.6667, 0.6667]
    """
    factor = np.where(wrong, exp(alpha), exp(-alpha) if classes <= 2 else 1.0)
    new = weights * factor
    scaled: Floats = new * (weights.sum() / new.sum())
    return scaled


def midway(weights: Floats, wrong: Mask) -> Floats:
    """Return the weights after a round of the midway rule, with the same sum.

    Examples
    --------
    >>> midway(np.ones(4), np.array([True, False, False, False])).round(4).tolist()
    [1.5, 0.8333, 0.8333, 0.8333]
    """
    total, mistaken = float(weights.sum()), float(weights[wrong].sum())
    moved = (total / 2 - mistaken) / 2
    return np.where(wrong, weights + moved / np.count_nonzero(wrong), weights * (1 - moved / (total - mistaken)))


class Tally:
    """Weights of the cases, and votes of the trees with their errors.

    Parameters
    ----------
    target : array of int
        The class of each case.
    initial : array
        The initial weights.
    classes : int
        Number of classes of the schema.

    Examples
    --------
    >>> tally = Tally(np.array([0, 1, 1, 1]), np.ones(4), 2)
    >>> tally.evaluate(np.array([1, 1, 1, 1]))
    0.25
    >>> tally.vote(1.0)
    >>> tally.mistakes
    [0.25]
    >>> tally.multiply(alpha_of(0.25, 2), 2)
    >>> tally.weights.round(4).tolist()
    [2.0, 0.6667, 0.6667, 0.6667]
    """

    def __init__(self, target: npt.NDArray[np.generic], initial: Floats, classes: int) -> None:
        self._target, self._initial = target, initial
        self._total = float(initial.sum())
        self.weights = initial
        self._votes = np.zeros((len(target), classes))
        self._predicted: Codes = np.zeros(0, dtype=np.intp)
        self._wrong: Mask = np.zeros(0, dtype=bool)
        self._mistakes: list[float] = []

    @property
    def mistakes(self) -> list[float]:
        """The error of the votes so far after each tree, by the initial weights."""
        return self._mistakes

    def reset(self) -> None:
        """Reset the weights to the initial ones."""
        self.weights = self._initial

    def evaluate(self, predicted: Codes) -> float:
        """Store the predictions of a tree; return its weighted error."""
        self._predicted, self._wrong = predicted, predicted != self._target
        return float(self.weights[self._wrong].sum() / self.weights.sum())

    def evaluate_leaves(self, predicted: Codes, leaves: npt.NDArray[np.int32]) -> float:
        """Do the same from the class of each leaf and the leaf of each case."""
        return self.evaluate(predicted[leaves])

    def vote(self, alpha: float) -> None:
        """Add the votes of the last tree and store the error of all votes."""
        self._votes[np.arange(len(self._predicted)), self._predicted] += alpha
        wrong = first_maximum(self._votes) != self._target
        self._mistakes.append(float(self._initial[wrong].sum() / self._total))

    def multiply(self, alpha: float, classes: int) -> None:
        """Update the weights as `updated` does."""
        self.weights = updated(self.weights, self._wrong, alpha, classes)

    def move_midway(self) -> None:
        """Update the weights by the midway rule."""
        self.weights = midway(self.weights, self._wrong & (self.weights > 0))


class QuickTally(Tally):
    """The same with kernels; a thread adds up the votes while the next tree grows."""

    def __init__(self, target: npt.NDArray[np.generic], initial: Floats, classes: int) -> None:
        super().__init__(target, initial, classes)
        self._wrong = np.zeros(len(target), dtype=bool)
        self._wrong_weights = np.empty(len(target))
        self._buffers = [np.empty(len(target)), np.empty(len(target))]
        self._wrong_votes = np.empty(len(target))
        self._voting = ThreadPoolExecutor(1)
        self._later: list[Future[float]] = []

    @property
    def mistakes(self) -> list[float]:
        """The error of the votes so far after each tree, by the initial weights."""
        return [one.result() for one in self._later]

    def evaluate_leaves(self, predicted: Codes, leaves: npt.NDArray[np.int32]) -> float:
        """Do the same from the class of each leaf and the leaf of each case."""
        return self.evaluate(predicted.astype(np.int32).take(leaves, mode="clip"))  # "clip" is faster than a check

    def evaluate(self, predicted: Codes) -> float:
        """Store the predictions of a tree; return its weighted error."""
        from treewright.learners.kernels.boosting import flag_misclassified

        self._predicted = predicted
        n = flag_misclassified(predicted, self._target, self.weights, self._wrong, self._wrong_weights)
        return float(self._wrong_weights[:n].sum() / self.weights.sum())

    def vote(self, alpha: float) -> None:
        """Add the votes of the last tree and store the error of all votes."""
        self._later.append(self._voting.submit(self._cast, self._predicted, alpha))

    def _cast(self, predicted: Codes, alpha: float) -> float:
        from treewright.learners.kernels.boosting import cast_votes

        n = cast_votes(predicted, self._target, alpha, self._votes, self._initial, self._wrong_votes)
        return float(self._wrong_votes[:n].sum() / self._total)

    def multiply(self, alpha: float, classes: int) -> None:
        """Update the weights as `updated` does."""
        from treewright.learners.kernels.boosting import reweight

        new = next(buffer for buffer in self._buffers if buffer is not self.weights)
        reweight(self.weights, self._wrong, exp(alpha), exp(-alpha) if classes <= 2 else 1.0, new)
        new *= self.weights.sum() / new.sum()
        self.weights = new


GUESSING = 1e-10
"""An error this close to that of guessing is not better than guessing."""

REPORTED_AFTER = 0.05
"""Seconds of boosting between reports of progress."""


@dataclass
class _Boosting:
    """The state of boosting between rounds."""

    dataset: Dataset
    plan: BoostPlan
    initial: Floats
    tally: Tally
    digest: DataDigest
    trees: list[Tree] = field(default_factory=list)
    alphas: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    resets: list[float] = field(default_factory=list)
    finished: bool = False

    @cached_property
    def classes(self) -> int:
        """Number of classes that occur; other classes do not affect guessing."""
        target = self.dataset.target
        return 2 if target is None else max(2, len(np.unique(target[self.initial > 0])))

    def guesses(self, tree: Tree, error: float) -> bool:
        """Return True if a tree with this error is not better than guessing."""
        if self.plan.reweighting != "midway":
            return error >= 1 - 1 / self.classes - GUESSING
        return error >= 0.5 - GUESSING or (tree.n_nodes == 1 and len(self.trees) > 0)

    def error_of(self, tree: Tree, leaves: Leaves | None = None) -> float:
        """Return the weighted error of a tree; `leaves` are the leaves of the cases, if they are known."""
        if leaves is not None:
            return self.tally.evaluate_leaves(first_maximum(node_probabilities(tree, None)), leaves)
        forest = Forest(pack_trees(self.dataset.schema, [tree]), np.ones(1), Combining.VOTES)
        parts = [forest.voted(block, 0) for block in blocks(forest.packed, self.dataset)]
        return self.tally.evaluate(np.concatenate(parts))

    def accept(self, tree: Tree, error: float, resets: int) -> None:
        """Add a tree and update the weights."""
        is_midway = self.plan.reweighting == "midway"
        if error <= 0:
            alpha = 1.0 if is_midway else 1.0 + sum(self.alphas)
            self.finished = True
        elif is_midway:
            alpha = 1.0
            self.tally.move_midway()
        else:
            alpha = alpha_of(error, self.classes)
            self.tally.multiply(self.plan.learning_rate * alpha, self.classes)
        self._add(tree, alpha, error, resets)

    def _add(self, tree: Tree, alpha: float, error: float, resets: int) -> None:
        """Add a tree that was just evaluated, and the error of the votes so far."""
        self.tally.vote(alpha)
        self.alphas.append(alpha)
        self.errors.append(error)
        self.resets.append(float(resets))
        self.trees.append(tree)

    def replay(self, tree: Tree, resets: float) -> None:
        """Repeat a round of an earlier run with its tree."""
        if resets:
            self.tally.reset()
        error = self.error_of(tree)
        if self.guesses(tree, error):
            self.give_up(tree, error, int(resets))
        else:
            self.accept(tree, error, int(resets))

    def round(self, maker: TreeMaker) -> None:
        """Train one more tree; while it is not better than guessing, reset the weights and repeat, up to the limit."""
        if self.plan.coarseness and self.trees:
            maker = maker.with_min_weight(self.plan.coarseness * mean_leaf(self.trees[0]))
        tree, leaves = maker.make_and_route(self.tally.weights)
        error = self.error_of(tree, leaves)
        resets = 0
        while self.guesses(tree, error):
            if sum(self.resets) + resets >= self.plan.max_resets:
                self.finished = True
                break
            resets += 1
            self.tally.reset()
            key = child_key(tree_key(self.plan.seed, len(self.trees)), resets)
            tree = maker.make(self.initial * bootstrap(key, self.dataset.n_rows))
            error = self.error_of(tree)
        if not self.finished:
            self.accept(tree, error, resets)
        elif not self.trees:
            self.give_up(tree, error, resets)

    def rounds(self, maker: TreeMaker, end: float) -> None:
        """Train trees until all are trained or the end time is reached; at least one."""
        while len(self.trees) < self.plan.trees and not self.finished:
            self.round(maker)
            if time.monotonic() >= end:
                break

    def give_up(self, tree: Tree, error: float, resets: int) -> None:
        """Add the last tree although it is not better than guessing: a model has at least one tree."""
        self._add(tree, 1.0, error, resets)
        self.finished = True

    def forest(self, smoothing: Smoothing, costs: tuple[tuple[float, ...], ...] | None) -> Forest:
        """Return the trees so far as a model."""
        log = {
            "error": tuple(self.errors),
            "alpha": tuple(self.alphas),
            "resets": tuple(self.resets),
            "training_error": tuple(self.tally.mistakes),
        }
        packed = pack_trees(self.dataset.schema, self.trees)
        recipe, provenance = self.plan.to_dict(), provenance_of(self.dataset, self.digest)
        combining = Combining.VOTES if self.plan.votes == "class" else Combining.MEAN
        return Forest(packed, np.array(self.alphas), combining, recipe, provenance, log, smoothing, costs)


def boost(
    dataset: Dataset,
    plan: BoostPlan,
    *,
    resume: Forest | None = None,
    n_jobs: int | None = None,
    time_limit: float | None = None,
    smoothing: Smoothing = None,
    costs: tuple[tuple[float, ...], ...] | None = None,
    progress: Progress | None = None,
    engine: str = "auto",
) -> Forest:
    """Train boosted trees.

    Parameters
    ----------
    dataset : Dataset
        With classes; its weights are the initial weights.
    plan : BoostPlan
    resume : Forest or None
        Fewer boosted trees of the same plan and the same cases, to which trees are added.
    n_jobs : int or None
        Threads for each tree, by default as many as the process may use; the trees do not depend on it.
    time_limit : float or None
        Seconds after which no further round is started.
    smoothing, costs
        As in `Forest`.
    progress : callable or None
        Called with the number of finished rounds and of all rounds.
    engine : {"auto", "interpreted", "compiled"}
        What grows the trees; the forest is the same.

    Raises
    ------
    Interrupted
        On Ctrl-C, with the trees that were finished.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.ensembles.plan import adaboost
    >>> model = boost(sample("restaurant"), adaboost(trees=3))
    >>> [round(error, 4) for error in model.log["error"]]
    [0.25, 0.2222, 0.2857]
    """
    fitting = plan.for_schema(dataset.schema)
    check_time_limit(time_limit)
    digest = DataDigest(dataset)
    initial = dataset.case_weights
    maker = TreeMaker(_unweighted(dataset), fitting.tree, threads(n_jobs), engine).prepare()
    quick = maker.compiled and dataset.n_rows >= MANY_CASES
    target = np.zeros(0, dtype=np.int32) if dataset.target is None else dataset.target
    tally = (QuickTally if quick else Tally)(target, initial, len(dataset.schema.classes))
    state = _Boosting(dataset, fitting, initial, tally, digest)
    if resume is not None:
        resets = resume.log.get("resets", ())
        if len(resets) != resume.n_trees:
            raise ParameterError("the forest to resume was not boosted")
        for tree, before in zip(resumed_trees(resume, fitting, dataset, state.digest), resets, strict=True):
            state.replay(tree, before)
    last = np.inf if time_limit is None else time.monotonic() + time_limit
    try:
        while len(state.trees) < plan.trees and not state.finished:
            reported = len(state.trees)
            # The state is read next and must not change.
            run_in_worker(state.rounds, maker, min(last, time.monotonic() + REPORTED_AFTER), grace=None)
            if progress is not None:
                for done in range(reported, len(state.trees)):
                    progress(done + 1, plan.trees)
            if time.monotonic() >= last:
                break
    except KeyboardInterrupt as interrupt:
        if not state.trees:
            raise
        raise Interrupted(state.forest(smoothing, costs), plan.trees) from interrupt
    return state.forest(smoothing, costs)


def mean_leaf(tree: Tree) -> float:
    """Return the mean weight of the leaves that have cases.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.fitting.learn import fit
    >>> from treewright.plans import c45
    >>> round(mean_leaf(fit(sample("play-tennis"), c45()).tree), 2)
    2.8
    """
    leaves = np.count_nonzero((tree.attribute == LEAF) & (tree.weight > 0))
    return float(tree.weight[0]) / max(int(leaves), 1)


def _unweighted(dataset: Dataset) -> Dataset:
    """Return the cases without their weights, which the initial weights already include."""
    return replace(dataset, weights=None)
