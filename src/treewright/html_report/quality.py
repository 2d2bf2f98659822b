"""Evaluation of the model for the page: one run over folds or test cases feeds all charts.

Each fold is predicted by a tree trained on the others in the same way. With many cases one fold is held out, and of
very many cases a sample is used: the page says so. With test cases the model itself predicts them, and nothing is
trained again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.data.schema import Task
from treewright.evaluation.classification import ClassificationReport, report_of_codes
from treewright.evaluation.cross_validation import Fit, fold_splits, stratified_folds
from treewright.evaluation.curves import LearningCurve, learning_curve
from treewright.evaluation.evaluate_model import evaluate_model
from treewright.evaluation.fold_runs import predictions
from treewright.evaluation.regression import RegressionReport, regression_report
from treewright.html_report.page_data import short, short_number, shown
from treewright.html_report.pruning_slider import PruningSteps, between, losses_along
from treewright.pruning.methods import split_off
from treewright.tree.model import Predictor, TreeModel

Floats = npt.NDArray[np.float64]
Progress = Callable[[int, int], None]

ALL_FOLDS_UP_TO = 5_000
"""With more rows a single hold-out replaces the cross-validation."""

MOST_ROWS = 30_000
"""Most rows of an estimate; of more rows a sample is taken."""

MOST_CURVE_ROWS = 6_000
"""The same for a learning curve, which trains about forty models."""

LEAST_ROWS = 8
"""Fewest rows for an estimate."""

ROC_POINTS = 120
"""Points of each curve."""

SCATTER = 600
"""Most cases of the scatter plot, predicted against actual."""

LARGEST_MATRIX = 60
"""Most classes of a confusion matrix; with more only the most frequent errors are listed."""


@dataclass(frozen=True)
class UnseenResults:
    """Results on unseen cases: the report, points of a scatter plot, losses along the pruning steps, and the method."""

    report: ClassificationReport | RegressionReport
    scatter: tuple[Floats, Floats] | None
    losses: Floats | None
    method: dict[str, Any]


def cross_validated(
    data: Dataset,
    learn: Fit,
    steps: PruningSteps | None,
    *,
    folds: int = 10,
    seed: int = 0,
    costs: Any = None,
    progress: Progress | None = None,
) -> UnseenResults:
    """Evaluate by cross-validation, or by a hold-out if there are many cases.

    Parameters
    ----------
    data : Dataset
    learn : callable
        Trains a model on cases.
    steps : PruningSteps or None
        Steps of the full tree; None for rules.
    folds, seed : int
    costs : table or None
        Misclassification costs.
    progress : callable or None
        Called with the number of finished folds and of all folds.
    """
    cases = sampled(data, MOST_ROWS, seed)
    is_large = cases.n_rows > ALL_FOLDS_UP_TO
    parts = stratified_folds(cases, min(folds, cases.n_rows), seed)
    rounds = 1 if is_large else int(parts.max()) + 1
    rows, predicted, shares, losses, weights = [], [], [], [], []
    alphas = [] if steps is None else between(steps.alphas)
    for done, (train, test) in enumerate(fold_splits(parts, rounds)):
        model = learn(cases.take(train))
        unseen = cases.take(test)
        rows.append(test)
        predicted.append(predictions(model, unseen))
        if isinstance(model, TreeModel):
            if not model.tree.is_regression:
                shares.append(model.predict_proba(unseen))
            losses.append(losses_along(model, unseen, alphas))
        weights.append(float(len(test) if unseen.weights is None else unseen.weights.sum()))
        if progress is not None:
            progress(done + 1, rounds)
    seen = cases.take(np.concatenate(rows))
    method = {"kind": "holdout" if rounds == 1 else "folds", "folds": rounds, "rows": cases.n_rows, "of": data.n_rows}
    return UnseenResults(
        _report(seen, np.concatenate(predicted), np.concatenate(shares) if shares else None, costs),
        _scatter_points(seen, np.concatenate(predicted)),
        np.average(losses, axis=0, weights=weights) if losses and steps is not None else None,
        method | {"tested": seen.n_rows},
    )


def measured_on(model: Predictor, test: Dataset, steps: PruningSteps | None, *, kind: str = "test") -> UnseenResults:
    """Evaluate the model on test cases or, with that `kind`, on its training cases."""
    report = evaluate_model(model, test)
    losses = None
    scatter = None
    if isinstance(model, TreeModel):
        cases = sampled(test, 10 * MOST_ROWS, 0)
        if steps is not None:
            losses = losses_along(model, cases, steps.alphas)
        scatter = _scatter_points(cases, model.predict(cases)) if model.tree.is_regression else None
    return UnseenResults(report, scatter, losses, {"kind": kind, "tested": test.n_rows, "of": test.n_rows})


def sampled(data: Dataset, most: int, seed: int) -> Dataset:
    """Return the cases, or a stratified sample of at most `most` of them."""
    return data if data.n_rows <= most else split_off(data, most / data.n_rows, seed)[1]


def _report(
    cases: Dataset, predicted: npt.NDArray[Any], shares: Floats | None, costs: Any
) -> ClassificationReport | RegressionReport:
    actual = np.zeros(0) if cases.target is None else cases.target
    if cases.schema.task is Task.REGRESSION:
        return regression_report(actual, predicted, cases.weights)
    return report_of_codes(actual.astype(np.intp), predicted, shares, cases.schema.classes, cases.weights, costs)


def _scatter_points(cases: Dataset, predicted: npt.NDArray[Any]) -> tuple[Floats, Floats] | None:
    if cases.schema.task is not Task.REGRESSION or cases.target is None:
        return None
    chosen = np.unique(np.linspace(0, cases.n_rows - 1, SCATTER).astype(np.intp))
    return cases.target[chosen].astype(np.float64), predicted[chosen].astype(np.float64)


def quality_data(unseen: UnseenResults) -> dict[str, Any]:
    """Return the results as plain data."""
    report = unseen.report
    plain: dict[str, Any] = {"method": unseen.method, "warnings": [shown(sentence) for sentence in report.warnings]}
    if isinstance(report, RegressionReport):
        for name in ("r2", "rmse", "mae"):
            measure = getattr(report, name)
            plain[name] = short([measure.value, measure.low, measure.high, measure.baseline])
        if unseen.scatter is not None:
            plain["scatter"] = [short(unseen.scatter[0]), short(unseen.scatter[1])]
        return plain
    plain |= {
        "classes": [shown(name) for name in report.classes],
        "accuracy": short([report.accuracy, report.low, report.high, report.baseline]),
        "balanced": short_number(report.balanced_accuracy),
        "baseline_class": shown(report.baseline_class),
        "scores": [short([one.precision, one.recall, one.f, one.support]) for one in report.per_class],
        "roc": list(_curves(report)),
        **_confusion(report),
    }
    return plain


def _confusion(report: ClassificationReport) -> dict[str, Any]:
    if len(report.classes) <= LARGEST_MATRIX:
        return {"confusion": [short(row) for row in report.confusion]}
    wrong = report.confusion.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:40]
    cells = [divmod(int(index), len(report.classes)) for index in order if wrong.flat[index] > 0]
    return {
        "confusions": [
            [actual, predicted, short_number(float(wrong[actual, predicted]))] for actual, predicted in cells
        ]
    }


def _curves(report: ClassificationReport) -> Iterator[dict[str, Any]]:
    """Yield the ROC curve of each class, with the weights of the class and of the rest."""
    if report.probabilities is None:
        return
    total = float(report.confusion.sum())
    for curve in report.probabilities.curves:
        if not curve.is_defined:
            continue
        points = np.unique(np.linspace(0, len(curve.fpr) - 1, ROC_POINTS).astype(np.intp))
        yield {
            "class": report.classes.index(curve.label),
            "auc": short_number(curve.auc),
            "positive": short_number(curve.prevalence * total),
            "negative": short_number((1 - curve.prevalence) * total),
            "fpr": short(curve.fpr[points]),
            "tpr": short(curve.tpr[points]),
            "thresholds": short(curve.roc_thresholds[points]),
        }


def learning_data(
    data: Dataset, learn: Fit, *, seed: int = 0, progress: Progress | None = None
) -> dict[str, Any] | None:
    """Return the learning curve as plain data, None if there are too few cases."""
    cases = sampled(data, MOST_CURVE_ROWS, seed)
    if cases.n_rows < LEAST_ROWS:
        return None
    repeats = 10 if cases.n_rows <= 300 else 5 if cases.n_rows <= 2_000 else 3
    curve: LearningCurve = learning_curve(cases, learn, repeats=repeats, seed=seed, progress=progress)
    return {
        "measure": curve.measure,
        "repeats": repeats,
        "rising": curve.still_rising,
        "rows": cases.n_rows,
        "of": data.n_rows,
        "points": [short([p.size, p.score, p.low, p.high, p.training]) for p in curve.points],
    }
