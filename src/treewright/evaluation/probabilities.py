"""Quality of predicted probabilities: ranking, calibration, loss.

ROC, precision-recall and reliability curves of one class against the rest. Cases of equal score form one diagonal step
of the ROC curve. Reliability bins hold cases in order of their score, in bins of equal weight, with ties kept together:
the mean score of a bin beside the observed share of the class. The Brier score is the mean squared difference between a
probability and the outcome, 0 or 1.

The Brier score of two classes is the mean squared error
of the second's probability, from 0 to 1; of several classes it is the sum over the classes, from 0 to 2. Log loss is
the mean negative natural logarithm of the probability of the true class.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.errors import ParameterError
from treewright.evaluation.cross_validation import wilson_interval
from treewright.evaluation.report import Floats, decimal, effective_number, plain, shown_name

BINS = 10
"""Bins of the reliability curve; tied scores give fewer."""

MOST_POINTS = 400
"""Most points of a curve in plain data; the areas are those of the full curve."""


@dataclass(frozen=True)
class ReliabilityBin:
    """Cases of about the same score: the mean score, the observed share and its interval."""

    mean_score: float
    observed: float
    low: float
    high: float
    weight: float

    def to_dict(self) -> dict[str, float]:
        """Return plain data."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class ClassCurves:
    """One class against the rest; the curves are empty and the areas None if one of the two has no cases.

    Parameters
    ----------
    label : str
    prevalence : float
        Share of the class, which is the precision of random guessing.
    fpr, tpr, roc_thresholds : array
        The ROC curve from (0, 0), where the class is never predicted (threshold infinite), to (1, 1).
    precision, recall, pr_thresholds : array
        The precision-recall curve as in scikit-learn: decreasing recall, with a last point (1, 0) without a threshold.
    auc, average_precision : float or None
    bins : tuple of ReliabilityBin
    brier : float
    """

    label: str
    prevalence: float
    fpr: Floats
    tpr: Floats
    roc_thresholds: Floats
    precision: Floats
    recall: Floats
    pr_thresholds: Floats
    auc: float | None
    average_precision: float | None
    bins: tuple[ReliabilityBin, ...]
    brier: float

    @property
    def is_defined(self) -> bool:
        """True if there are cases both of the class and of the rest."""
        return self.auc is not None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; long curves are thinned."""
        thresholds = [None if np.isinf(threshold) else threshold for threshold in self.roc_thresholds.tolist()]
        roc = zip(self.fpr.tolist(), self.tpr.tolist(), thresholds, strict=True)
        limits = [*self.pr_thresholds.tolist(), None] if len(self.recall) else []
        pr = zip(self.recall.tolist(), self.precision.tolist(), limits, strict=True)
        return {
            "class": self.label,
            "prevalence": self.prevalence,
            "auc": self.auc,
            "average_precision": self.average_precision,
            "brier": self.brier,
            "roc": [{"fpr": x, "tpr": y, "threshold": t} for x, y, t in _thinned(list(roc))],
            "precision_recall": [{"recall": x, "precision": y, "threshold": t} for x, y, t in _thinned(list(pr))],
            "reliability": [part.to_dict() for part in self.bins],
        }


def class_curves(label: str, is_class: npt.NDArray[np.bool_], scores: Floats, weights: Floats) -> ClassCurves:
    """Measure the scores of one class.

    Examples
    --------
    >>> curves = class_curves("yes", np.array([False, True, True]), np.array([0.1, 0.1, 0.9]), np.ones(3))
    >>> curves.fpr.tolist(), curves.tpr.tolist(), curves.auc
    ([0.0, 0.0, 1.0], [0.0, 0.5, 1.0], 0.75)
    """
    from sklearn import metrics

    actual = is_class.astype(np.intp)
    brier = float(np.average((scores - actual) ** 2, weights=weights))
    prevalence = float(np.average(actual, weights=weights))
    bins = reliability_bins(is_class, scores, weights)
    none: Floats = np.zeros(0)
    if is_class.all() or not is_class.any():
        return ClassCurves(label, prevalence, none, none, none, none, none, none, None, None, bins, brier)
    fpr, tpr, thresholds = metrics.roc_curve(actual, scores, sample_weight=weights)
    precision, recall, limits = metrics.precision_recall_curve(actual, scores, sample_weight=weights)
    return ClassCurves(
        label,
        prevalence,
        fpr,
        tpr,
        thresholds,
        precision,
        recall,
        limits,
        float(metrics.auc(fpr, tpr)),
        float(metrics.average_precision_score(actual, scores, sample_weight=weights)),
        bins,
        brier,
    )


def reliability_bins(
    is_class: npt.NDArray[np.bool_], scores: Floats, weights: Floats, bins: int = BINS
) -> tuple[ReliabilityBin, ...]:
    """Put the cases into bins of equal weight by score; cases of equal score stay together.

    Examples
    --------
    >>> found = reliability_bins(np.array([False, True, False, True]), np.array([0.1, 0.1, 0.8, 0.8]), np.ones(4))
    >>> [(round(part.mean_score, 3), part.observed, part.weight) for part in found]
    [(0.1, 0.5, 2), (0.8, 0.5, 2)]
    """
    values, group = np.unique(scores, return_inverse=True)
    of_group = np.bincount(group, weights, len(values))
    # A group of tied scores goes to the bin of its midpoint.
    middle = (np.cumsum(of_group) - of_group / 2) / of_group.sum()
    bin_of = np.minimum((middle * bins).astype(np.intp), bins - 1)[group]
    result = []
    for number in np.unique(bin_of).tolist():
        rows = np.flatnonzero(bin_of == number)
        mass = weights[rows]
        mean_score = float(np.average(scores[rows], weights=mass))
        observed = float(np.average(is_class[rows], weights=mass))
        effective = effective_number(mass)
        low, high = wilson_interval(effective * observed, effective)
        result.append(ReliabilityBin(mean_score, observed, low, high, plain(mass.sum())))
    return tuple(result)


def _thinned(points: list[Any]) -> list[Any]:
    if len(points) <= MOST_POINTS:
        return points
    indices = np.unique(np.linspace(0, len(points) - 1, MOST_POINTS).astype(np.intp))
    return [points[index] for index in indices.tolist()]


SUM_TOLERANCE = 1e-4
"""Largest deviation of the probabilities of a case from the sum 1 (32-bit numbers deviate)."""


@dataclass(frozen=True, eq=False)
class ProbabilityReport:
    """The measures of predicted probabilities.

    Parameters
    ----------
    curves : tuple of ClassCurves
        Of the second of two classes, or of each of several against the rest.
    auc, average_precision : float or None
        Of two classes; of several the mean over the classes for which they are defined.
    brier : float
        Of two classes the mean squared error of the second's probability, from 0 to 1; of several the sum over the
        classes, from 0 to 2.
    brier_baseline : float
        Brier score of predicting the class shares for every case.
    log_loss : float or None
        In nats; None if it is infinite: some true class has probability 0.
    """

    curves: tuple[ClassCurves, ...]
    auc: float | None
    average_precision: float | None
    brier: float
    brier_baseline: float
    log_loss: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "auc": self.auc,
            "average_precision": self.average_precision,
            "brier": self.brier,
            "brier_baseline": self.brier_baseline,
            "log_loss": self.log_loss,
            "curves": [curves.to_dict() for curves in self.curves],
        }

    def lines(self) -> list[str]:
        """Return the sentences of a report about the probabilities."""
        of = "mean of each class against the rest"
        if len(self.curves) == 1:
            of = f'of "{shown_name(self.curves[0].label)}"'
        first = f"AUC {decimal(self.auc)} and average precision {decimal(self.average_precision)}, {of}."
        if self.auc is None:
            first = "No ROC curve: it needs cases of two classes."
        loss = "infinite" if self.log_loss is None else decimal(self.log_loss)
        shares = decimal(self.brier_baseline)
        return [first, f"Brier score {decimal(self.brier)} (baseline: {shares}), log loss {loss}."]


def probability_report(
    actual: npt.NDArray[np.intp], shares: Floats, weights: Floats, classes: tuple[str, ...]
) -> ProbabilityReport:
    """Measure probabilities that `checked_probabilities` returned."""
    from sklearn import metrics

    measured = (1,) if len(classes) == 2 else range(len(classes))
    curves = tuple(class_curves(classes[code], actual == code, shares[:, code], weights) for code in measured)
    areas = [found.auc for found in curves if found.auc is not None]
    precisions = [found.average_precision for found in curves if found.average_precision is not None]
    prior = np.bincount(actual, weights, len(classes)) / weights.sum()
    variance = float((prior * (1 - prior)).sum())
    two = len(classes) == 2
    loss = None
    if len(classes) == 1:
        loss = 0.0
    elif np.all(shares[np.arange(len(actual)), actual] > 0):
        sums = shares.sum(axis=1, keepdims=True)
        loss = float(metrics.log_loss(actual, shares / sums, sample_weight=weights, labels=np.arange(len(classes))))
    return ProbabilityReport(
        curves,
        float(np.mean(areas)) if areas else None,
        float(np.mean(precisions)) if precisions else None,
        float(sum(found.brier for found in curves)),
        variance / 2 if two else variance,
        loss,
    )


def checked_probabilities(probabilities: Any, n: int, k: int) -> Floats:
    """Return probabilities as an array of one row for each case and one column for each class."""
    try:
        shares = np.asarray(probabilities, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"probabilities must be a table of numbers: {error}") from error
    if shares.ndim == 1 and k == 2:
        shares = np.column_stack((1 - shares, shares))
    if shares.ndim != 2 or shares.shape != (n, k):
        expected = f"{n:,} rows (cases) and {k} columns (classes)"
        raise ParameterError(f"probabilities must have {expected}, not the shape {shares.shape}")
    bad = ~np.all((shares >= -1e-9) & (shares <= 1 + 1e-9), axis=1)
    if bad.any():
        row = int(np.argmax(bad))
        what = "is not a number" if np.isnan(shares[row]).any() else "is not from 0 to 1"
        raise ParameterError(f"a probability of case {row + 1:,} {what}: {shares[row].tolist()}")
    off = np.abs(shares.sum(axis=1) - 1) > SUM_TOLERANCE
    if off.any():
        row = int(np.argmax(off))
        raise ParameterError(f"the probabilities of case {row + 1:,} do not add up to 1: {shares[row].tolist()}")
    return np.clip(shares, 0.0, 1.0)
