"""Quality of predicted probabilities: ranking, calibration, loss.

The Brier score of two classes is the mean squared error of the second's probability, from 0 to 1; of several classes it
is the sum over the classes, from 0 to 2. Log loss is the mean negative natural logarithm of the probability of the true
class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright._base.errors import ParameterError
from treewright.evaluate.class_curves import ClassCurves, class_curves
from treewright.evaluate.result import Floats, decimal, shown_name

SUM_TOLERANCE = 1e-4
"""Probabilities of a case may miss 1 by so much (32-bit numbers do)."""


@dataclass(frozen=True, eq=False)
class ProbabilityReport:
    """What the probabilities are worth.

    Parameters
    ----------
    curves : tuple of ClassCurves
        Of the second of two classes, or of each of several against the rest.
    auc, average_precision : float or None
        Of two classes; of several the mean over those classes where they are defined.
    brier : float
        Of two classes the mean squared error of the second's probability, from 0 to 1; of several the sum over the
        classes, from 0 to 2.
    brier_baseline : float
        The same when every case gets the shares of these cases' classes.
    log_loss : float or None
        In nats; None where a class came true that had probability 0, which makes it infinite.
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
        """Return the sentences that a report says of them."""
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
    truth: npt.NDArray[np.intp], shares: Floats, weights: Floats, classes: tuple[str, ...]
) -> ProbabilityReport:
    """Measure probabilities that have been checked."""
    from sklearn import metrics

    wanted = (1,) if len(classes) == 2 else range(len(classes))
    curves = tuple(class_curves(classes[code], truth == code, shares[:, code], weights) for code in wanted)
    areas = [found.auc for found in curves if found.auc is not None]
    precisions = [found.average_precision for found in curves if found.average_precision is not None]
    prior = np.bincount(truth, weights, len(classes)) / weights.sum()
    variance = float((prior * (1 - prior)).sum())
    two = len(classes) == 2
    loss = None
    if len(classes) == 1:
        loss = 0.0
    elif np.all(shares[np.arange(len(truth)), truth] > 0):
        sums = shares.sum(axis=1, keepdims=True)
        loss = float(metrics.log_loss(truth, shares / sums, sample_weight=weights, labels=np.arange(len(classes))))
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
        wanted = f"{n:,} rows (cases) and {k} columns (classes)"
        raise ParameterError(f"probabilities must have {wanted}, not the shape {shares.shape}")
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
