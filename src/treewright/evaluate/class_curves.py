"""ROC, precision-recall and reliability curves of one class against the rest.

Cases of equal score form one diagonal step of the ROC curve. Reliability bins hold cases in order of their score, in
bins of equal weight, with ties kept together: the mean score of a bin beside the observed share of the class. The Brier
score is the mean squared difference between a probability and the outcome, 0 or 1.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.evaluate.estimate import wilson_interval
from treewright.evaluate.result import Floats, effective_number, plain

BINS = 10
"""Bins of the reliability curve, fewer where scores are tied."""

MOST_POINTS = 400
"""Points of a curve in plain data; the areas are of the whole curve."""


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
    """One class against the rest; the curves are empty and the areas None where one of the two has no cases.

    Parameters
    ----------
    label : str
    prevalence : float
        Share of the class: the precision of guessing.
    fpr, tpr, roc_thresholds : array
        The ROC curve from (0, 0), where nothing is taken for the class (threshold infinite), to (1, 1).
    precision, recall, pr_thresholds : array
        The precision-recall curve as of scikit-learn: falling recall, with a last point (1, 0) without a threshold.
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
        """Whether there are cases both of the class and of the rest."""
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

    truth = is_class.astype(np.intp)
    brier = float(np.average((scores - truth) ** 2, weights=weights))
    prevalence = float(np.average(truth, weights=weights))
    bins = reliability_bins(is_class, scores, weights)
    none: Floats = np.zeros(0)
    if is_class.all() or not is_class.any():
        return ClassCurves(label, prevalence, none, none, none, none, none, none, None, None, bins, brier)
    fpr, tpr, thresholds = metrics.roc_curve(truth, scores, sample_weight=weights)
    precision, recall, limits = metrics.precision_recall_curve(truth, scores, sample_weight=weights)
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
        float(metrics.average_precision_score(truth, scores, sample_weight=weights)),
        bins,
        brier,
    )


def reliability_bins(
    is_class: npt.NDArray[np.bool_], scores: Floats, weights: Floats, bins: int = BINS
) -> tuple[ReliabilityBin, ...]:
    """Put the cases into bins of equal weight by score; cases of one score are never parted.

    Examples
    --------
    >>> found = reliability_bins(np.array([False, True, False, True]), np.array([0.1, 0.1, 0.8, 0.8]), np.ones(4))
    >>> [(round(part.mean_score, 3), part.observed, part.weight) for part in found]
    [(0.1, 0.5, 2), (0.8, 0.5, 2)]
    """
    values, group = np.unique(scores, return_inverse=True)
    of_group = np.bincount(group, weights, len(values))
    # A group of ties goes where its middle is.
    middle = (np.cumsum(of_group) - of_group / 2) / of_group.sum()
    place = np.minimum((middle * bins).astype(np.intp), bins - 1)[group]
    result = []
    for number in np.unique(place).tolist():
        rows = np.flatnonzero(place == number)
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
    places = np.unique(np.linspace(0, len(points) - 1, MOST_POINTS).astype(np.intp))
    return [points[place] for place in places.tolist()]
