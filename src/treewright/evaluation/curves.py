"""The learning curve and the complexity curve: the effect of more data and of the size of the tree.

The learning curve shows the result on test cases by number of training cases, with a band of one standard deviation
over the repeats. While it rises, more data help.

The complexity curve shows training and validation error by number of leaves, over the sequence of pruned trees.
Training error only decreases; the optimum has the lowest validation error. The smallest tree within one standard error
of the lowest validation error is hardly worse, and simpler (Breiman, Friedman, Olshen and Stone 1984, section 3.4.3).
The error is the share of wrong predictions, or the mean squared error for a numeric target.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from math import sqrt
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.data.schema import Task
from treewright.errors import DataError, ParameterError
from treewright.evaluation.cross_validation import Rows, fold_splits, stratified_folds, target_of
from treewright.evaluation.fold_runs import predictions, score_of
from treewright.evaluation.learners import Learn, fit_of, plan_of
from treewright.evaluation.report import Report, percentage
from treewright.evaluation.report import Rows as Table
from treewright.evaluation.resampling import Progress
from treewright.evaluation.splitters import HoldOut, seeds
from treewright.parameters import check_whole_number
from treewright.pruning.cost_complexity import cost_complexity_path
from treewright.pruning.methods import CostComplexity, ErrorBased, prune
from treewright.tree.model import Predictor, TreeModel

Floats = npt.NDArray[np.float64]
Along = Literal["cost_complexity", "confidence"]

CONFIDENCES = (1.0, 0.75, 0.5, 0.25, 0.1, 0.05, 0.01, 0.001)
"""Strengths of error-based pruning that a curve tries, the weakest first."""


@dataclass(frozen=True)
class LearningPoint:
    """The result for one training size: mean over repeats, band, and the result on the training cases."""

    size: int
    score: float
    low: float
    high: float
    training: float


@dataclass(frozen=True)
class LearningCurve(Report):
    """Results against training size; `measure` is "accuracy" or "rmse"."""

    measure: str
    repeats: int
    points: tuple[LearningPoint, ...]
    warnings: tuple[str, ...] = ()

    @property
    def still_rising(self) -> bool:
        """True if the last step gained more than half the width of the band."""
        if len(self.points) < 2:
            return False
        before, last = self.points[-2:]
        gain = last.score - before.score if self.measure == "accuracy" else before.score - last.score
        return gain > (last.high - last.low) / 2

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        return {
            "curve": "learning",
            "measure": self.measure,
            "repeats": self.repeats,
            "still_rising": self.still_rising,
            "points": self.records(),
            "warnings": list(self.warnings),
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one row for each size."""
        return [asdict(point) for point in self.points]

    def lines(self) -> list[str]:
        """Return the sentences about the curve."""
        name = "Accuracy" if self.measure == "accuracy" else "Root mean squared error"
        conclusion = "more cases would help" if self.still_rising else "more cases would change little"
        return [f"{name} against training size, {self.repeats} repeats: {conclusion}"]

    def tables(self) -> list[tuple[str, Table]]:
        """Return the points."""
        shown = percentage if self.measure == "accuracy" else "{:.4g}".format
        rows = [["cases", "unseen", "low", "high", "training"]]
        rows += [[f"{p.size:,}", shown(p.score), shown(p.low), shown(p.high), shown(p.training)] for p in self.points]
        return [("Learning curve", rows)]


@dataclass(frozen=True)
class ComplexityPoint:
    """One strength of pruning: leaves and training error of the tree of all data, and the validation error."""

    strength: float
    leaves: int
    training: float
    validation: float
    standard_error: float


@dataclass(frozen=True)
class ComplexityCurve(Report):
    """Errors along the trees of pruning, the largest first.

    `best` is the index of the lowest validation error (of the smaller tree, if equal), `simplest` that of the smallest
    tree within one standard error of it.
    """

    along: str
    measure: str
    folds: int
    points: tuple[ComplexityPoint, ...]
    best: int
    simplest: int
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        return {
            "curve": "complexity",
            "along": self.along,
            "measure": self.measure,
            "folds": self.folds,
            "best": self.best,
            "simplest": self.simplest,
            "points": self.records(),
            "warnings": list(self.warnings),
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one row for each strength."""
        return [asdict(point) for point in self.points]

    def lines(self) -> list[str]:
        """Return the sentences about the curve."""
        best, simplest = self.points[self.best], self.points[self.simplest]
        name = "alpha" if self.along == "cost_complexity" else "confidence"
        shown = self._shown
        return [
            f"Error against leaves, validated by {self.folds} folds",
            f"least validation error {shown(best.validation)} with {_leaves(best)} ({name} {best.strength:.4g})",
            f"within one standard error: {_leaves(simplest)}, {shown(simplest.validation)} "
            f"({name} {simplest.strength:.4g})",
        ]

    def tables(self) -> list[tuple[str, Table]]:
        """Return the table of the points, with the optimum marked."""
        rows = [["leaves", "strength", "training", "validation", "standard error", ""]]
        for index, p in enumerate(self.points):
            marks = [label for label, at in (("best", self.best), ("within one error", self.simplest)) if at == index]
            errors = (p.training, p.validation, p.standard_error)
            rows.append([f"{p.leaves:,}", f"{p.strength:.4g}", *map(self._shown, errors), ", ".join(marks)])
        return [("Complexity curve", rows)]

    def _shown(self, error: float) -> str:
        return percentage(error) if self.measure == "errors" else f"{error:.4g}"


def _leaves(point: ComplexityPoint) -> str:
    return "1 leaf" if point.leaves == 1 else f"{point.leaves:,} leaves"


def learning_curve(
    dataset: Dataset,
    learner: Any,
    sizes: Sequence[int | float] | None = None,
    repeats: int = 5,
    seed: int = 0,
    *,
    share: float = 1 / 3,
    progress: Progress | None = None,
) -> LearningCurve:
    """Train on increasing numbers of cases and test on held-out ones.

    In each repeat a share of the cases is held out. The training sets are nested: a larger one contains the smaller
    ones, and all have the classes in proportion.

    Parameters
    ----------
    dataset : Dataset
    learner : Plan, recipe, name of an algorithm, estimator, or function from a dataset to a model
    sizes : list of int or float or None
        Numbers of training cases, or shares of all (floats up to 1); None takes eight, evenly on a logarithmic scale.
    repeats, seed : int
    share : float
        Held out for testing.
    progress : callable or None
        Called with fits done and fits in all.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> curve = learning_curve(sample("restaurant"), "id3", [4, 8], repeats=3)
    >>> [point.size for point in curve.points]
    [4, 8]
    """
    target_of(dataset)
    fit = fit_of(learner)
    check_whole_number("the number of repeats", repeats, 1)
    chosen_sizes: list[int] | None = None
    scores: list[list[tuple[float, float]]] = []
    for done, repeat_seed in enumerate(seeds(seed, repeats)):
        [(train, test)] = HoldOut(share, repeat_seed).pairs(dataset)
        order = _proportional(dataset, train, repeat_seed)
        if chosen_sizes is None:
            chosen_sizes = _sizes(sizes, len(train))
        unseen = dataset.take(test)
        row = []
        for at, size in enumerate(chosen_sizes):
            part = dataset.take(np.sort(order[:size]))
            model = fit(part)
            row.append((_score(model, unseen), _score(model, part)))
            if progress is not None:
                progress(done * len(chosen_sizes) + at + 1, repeats * len(chosen_sizes))
        scores.append(row)
    values = np.array(scores)
    measure = "rmse" if dataset.schema.task is Task.REGRESSION else "accuracy"
    points = tuple(_learning_point(size, values[:, at], measure) for at, size in enumerate(chosen_sizes or []))
    return LearningCurve(measure, repeats, points)


def _score(model: Predictor, cases: Dataset) -> float:
    score = score_of(cases, predictions(model, cases))
    if score is None:
        raise DataError("all cases of a part have weight 0, so there is nothing to measure", source=cases.source)
    return score


def _learning_point(size: int, values: Floats, measure: str) -> LearningPoint:
    mean, training = float(values[:, 0].mean()), float(values[:, 1].mean())
    spread = float(values[:, 0].std(ddof=1)) if len(values) > 1 else 0.0
    high = mean + spread if measure == "rmse" else min(1.0, mean + spread)
    return LearningPoint(size, mean, max(0.0, mean - spread), high, training)


def _sizes(sizes: Sequence[int | float] | None, most: int) -> list[int]:
    if sizes is None:
        least = min(most, max(2, most // 50))
        return sorted({round(size) for size in np.geomspace(least, most, 8)})
    found = set()
    for size in sizes:
        is_count = isinstance(size, (int, np.integer)) and not isinstance(size, bool)
        cases = int(size) if is_count else round(size * most) if isinstance(size, float) and 0 < size <= 1 else 0
        if not 1 <= cases <= most:
            raise ParameterError(f"a training size must be from 1 to {most}, or a share up to 1.0, not {size!r}")
        found.add(cases)
    if not found:
        raise ParameterError("a learning curve needs at least one training size")
    return sorted(found)


def _proportional(dataset: Dataset, rows: Rows, seed: int) -> Rows:
    """Shuffle rows so that the first n have the classes in proportion, for every n."""
    draw = np.random.default_rng([seed, 1])
    shuffled = draw.permutation(rows)
    if dataset.schema.task is Task.REGRESSION:
        return shuffled
    position = np.empty(len(shuffled))
    codes = target_of(dataset)[shuffled]
    for code in np.unique(codes):
        here = np.flatnonzero(codes == code)
        position[here] = (np.arange(len(here)) + 0.5) / len(here)
    ordered: Rows = shuffled[np.argsort(position, kind="stable")]
    return ordered


def complexity_curve(
    dataset: Dataset,
    learner: Any,
    seed: int = 0,
    *,
    folds: int = 10,
    along: Along = "cost_complexity",
    points: int = 30,
    progress: Progress | None = None,
) -> ComplexityCurve:
    """Prune one large tree with increasing strength, and cross-validate each strength.

    Parameters
    ----------
    dataset : Dataset
    learner : Plan, recipe, name of an algorithm, or one of our estimators
        Its own pruning is turned off.
    seed, folds : int
    along : {"cost_complexity", "confidence"}
        The alpha of cost-complexity pruning, or the confidence of C4.5's pruning.
    points : int
        Most trees of the sequence, evenly on a logarithmic scale of leaves.
    progress : callable or None
        Called with fits done and fits in all.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.plans import cart
    >>> curve = complexity_curve(sample("restaurant"), cart(), folds=4)
    >>> [point.leaves for point in curve.points][-1], curve.points[0].training
    (1, 0.0)
    """
    target_of(dataset)
    plan = plan_of(learner, dataset)
    if plan.tree is not plan:
        raise ParameterError("a complexity curve needs a learner of single trees; rules and forests have none")
    check_whole_number("the number of points", points, 2)
    if along not in ("cost_complexity", "confidence"):
        raise ParameterError(f"along must be 'cost_complexity' or 'confidence', not {along!r}")
    if along == "confidence" and dataset.schema.task is Task.REGRESSION:
        raise ParameterError("pruning by confidence is for classes; a numeric target has 'cost_complexity'")
    learn = Learn(plan.tree.unpruned())
    full_tree = _tree(learn, dataset)
    methods: Sequence[CostComplexity | ErrorBased] = _methods(full_tree, along, points)
    trees = list(_pruned(full_tree, methods, dataset))
    training = [float(np.average(_losses(one, dataset), weights=dataset.weights)) for one in trees]
    losses = np.zeros((len(methods), dataset.n_rows))
    for done, (train, test) in enumerate(fold_splits(stratified_folds(dataset, folds, seed))):
        part, unseen = dataset.take(train), dataset.take(test)
        for at, model in enumerate(_pruned(_tree(learn, part), methods, part)):
            losses[at, test] = _losses(model, unseen)
        if progress is not None:
            progress(done + 1, folds)
    weights = dataset.case_weights
    shares = weights / weights.sum()
    found = []
    for method, tree, trained, row in zip(methods, trees, training, losses, strict=True):
        error = float((shares * row).sum())
        standard_error = sqrt(float((shares**2 * (row - error) ** 2).sum()))
        strength = method.alpha if isinstance(method, CostComplexity) else method.confidence
        found.append(ComplexityPoint(strength, tree.tree.n_leaves, trained, error, standard_error))
    best, simplest = _optimum(found)
    measure = "squares" if dataset.schema.task is Task.REGRESSION else "errors"
    return ComplexityCurve(along, measure, folds, tuple(found), best, simplest)


def _tree(learn: Learn, cases: Dataset) -> TreeModel:
    return cast("TreeModel", learn(cases))  # complexity_curve rejects rules and forests


def _methods(model: TreeModel, along: Along, points: int) -> Sequence[CostComplexity | ErrorBased]:
    """Return the strengths to try, the weakest first.

    One alpha represents the range of alphas that prune to the same tree: the geometric mean of the range, which suits
    the trees of the folds better than either end.
    """
    if along == "confidence":
        return [ErrorBased(confidence) for confidence in CONFIDENCES]
    path = cost_complexity_path(model.tree)
    last = np.flatnonzero(np.append(np.diff(path.alphas) > 0, True))
    alphas, leaves = path.alphas[last], path.leaves[last]
    following = np.append(alphas[1:], 2 * alphas[-1])
    alphas_between = np.sqrt(alphas * following)
    if len(alphas_between) > points:
        sizes = np.geomspace(leaves[0], leaves[-1], points)
        chosen = sorted({int(np.argmin(np.abs(leaves - size))) for size in sizes})
        alphas_between = alphas_between[chosen]
    return [CostComplexity(float(alpha)) for alpha in alphas_between]


def _pruned(model: TreeModel, methods: Sequence[CostComplexity | ErrorBased], training: Dataset) -> Iterator[TreeModel]:
    for method in methods:
        yield replace(model, tree=prune(model.tree, method, training), trace={})


def _losses(model: TreeModel, cases: Dataset) -> Floats:
    """Return 1 for each wrong prediction, or the squared errors."""
    predicted = predictions(model, cases)
    if cases.schema.task is Task.REGRESSION:
        squares: Floats = (predicted - target_of(cases)) ** 2
        return squares
    wrong: Floats = (predicted != target_of(cases)).astype(np.float64)
    return wrong


def _optimum(points: Sequence[ComplexityPoint]) -> tuple[int, int]:
    """Return the indices of the lowest validation error and of the smallest tree within one standard error of it."""
    best = min(range(len(points)), key=lambda at: (points[at].validation, points[at].leaves, -at))
    limit = points[best].validation + points[best].standard_error
    near = [at for at, point in enumerate(points) if point.validation <= limit]
    return best, min(near, key=lambda at: (points[at].leaves, points[at].validation, -at))
