"""Evaluation report on predicted numbers: R2, RMSE and MAE with intervals and a baseline.

R2 is the share of the variance of these cases that the predictions explain; below 0 they are worse than the mean. The
baseline always predicts the mean of these cases. The 95 % intervals use the delta method: each measure is a function of
means over the cases, whose standard error follows from the influence of the cases; Student's t has the effective number
of cases minus one degrees of freedom. The interval of RMSE is built on the log scale, so that it stays above 0.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import exp, log, sqrt
from typing import Any

import numpy as np

from treewright.errors import DataError, ParameterError
from treewright.evaluation.report import (
    FEW_CASES,
    Floats,
    Report,
    Rows,
    checked_weights,
    effective_number,
    require_length,
)

LARGEST = 1e150
"""Larger numbers cannot be squared."""


@dataclass(frozen=True)
class Measure:
    """A measure with its interval, if there is one, and the value of the baseline."""

    value: float | None
    low: float | None
    high: float | None
    baseline: float


@dataclass(frozen=True)
class RegressionReport(Report):
    """The measures of predicted numbers; the module's docstring defines them.

    Parameters
    ----------
    tested : int
        Cases of positive weight.
    r2 : Measure
        Without a value if all actual numbers are the same.
    rmse, mae : Measure
    mean : float
        Mean of the actual numbers, which the baseline predicts.
    warnings : tuple of str
    """

    tested: int
    r2: Measure
    rmse: Measure
    mae: Measure
    mean: float
    warnings: tuple[str, ...] = ()

    @property
    def better_than_baseline(self) -> bool:
        """True if the whole interval of R2 lies above 0."""
        return self.r2.low is not None and self.r2.low > 0

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {"kind": "regression", **asdict(self), "warnings": list(self.warnings)}

    def records(self) -> list[dict[str, Any]]:
        """Return a row for each measure."""
        named = (("R2", self.r2), ("RMSE", self.rmse), ("MAE", self.mae))
        return [{"measure": name, **asdict(measure)} for name, measure in named]

    def lines(self) -> list[str]:
        """Return the sentence above the table."""
        cases = "case" if self.tested == 1 else "cases"
        return [f"{self.tested:,} {cases}; the baseline always predicts their mean, {self.mean:.6g}."]

    def tables(self) -> list[tuple[str, Rows]]:
        """Return the measures."""
        rows = [["measure", "value", "low", "high", "baseline"]]
        for row in self.records():
            cells = (row[key] for key in rows[0][1:])
            rows.append([row["measure"], *("-" if cell is None else f"{cell:.4g}" for cell in cells)])
        return [("Measures with 95 % intervals", rows)]


def regression_report(truth: Any, predicted: Any, weights: Any = None) -> RegressionReport:
    """Report on predicted numbers.

    Parameters
    ----------
    truth, predicted : sequence of numbers
    weights : sequence of numbers or None
        Cases of weight zero are left out.

    Returns
    -------
    RegressionReport

    Examples
    --------
    >>> report = regression_report([1, 2, 3, 4], [1, 2, 3, 6])
    >>> report.rmse.value, report.mae.value, round(report.r2.value, 3)
    (1.0, 0.5, 0.2)
    """
    from sklearn import metrics

    actual, predictions = _numbers(truth, "truth"), _numbers(predicted, "predicted")
    if len(actual) == 0:
        raise DataError("there are no cases to report on")
    require_length("predicted", predictions, len(actual))
    mass = checked_weights(weights, len(actual))
    counted = mass > 0
    actual, predictions, mass = actual[counted], predictions[counted], mass[counted]
    mean = float(np.average(actual, weights=mass))
    squares, around = (actual - predictions) ** 2, (actual - mean) ** 2
    mse = float(metrics.mean_squared_error(actual, predictions, sample_weight=mass))
    variance = float(np.average(around, weights=mass))
    constant = bool(np.all(actual == actual[0]))
    rmse = Measure(sqrt(mse), *rmse_interval(mse, squares, mass), 0.0 if constant else sqrt(variance))
    absolute = float(metrics.mean_absolute_error(actual, predictions, sample_weight=mass))
    half = half_width(np.abs(actual - predictions) - absolute, mass)
    mae = Measure(
        absolute,
        None if half is None else max(0.0, absolute - half),
        None if half is None else absolute + half,
        0.0 if constant else float(np.average(np.abs(actual - mean), weights=mass)),
    )
    r2 = Measure(None, None, None, 0.0)
    if not constant and variance > 0:
        value = float(metrics.r2_score(actual, predictions, sample_weight=mass))
        half = half_width((mse / variance) * (around / variance) - squares / variance, mass)
        low = None if half is None else value - half
        r2 = Measure(value, low, None if half is None else min(1.0, value + half), 0.0)
    return RegressionReport(len(actual), r2, rmse, mae, mean, tuple(_warnings(len(actual), r2)))


def half_width(influence: Floats, weights: Floats) -> float | None:
    """Return half the width of the confidence interval of a mean of influences; None for a single case.

    Examples
    --------
    >>> round(half_width(np.array([-1.0, 0.0, 1.0]), np.ones(3)), 3)  # t(2) 4.303 times 1 / sqrt(3)
    2.484
    """
    from scipy.special import stdtrit

    effective = effective_number(weights)
    if len(weights) < 2 or effective - 1 < 1e-6:
        return None
    shares = weights / weights.sum()
    variance = float((shares**2 * influence**2).sum()) * effective / (effective - 1)
    return float(stdtrit(effective - 1, 0.975)) * sqrt(variance)


def rmse_interval(mse: float, squares: Floats, weights: Floats) -> tuple[float | None, float | None]:
    """Return the interval of the root of a mean squared error; None if there are too few cases.

    Examples
    --------
    >>> low, high = rmse_interval(1.0, np.array([0.5, 1.5, 1.0, 1.0]), np.ones(4))
    >>> round(low, 3), round(high, 3)
    (0.723, 1.384)
    """
    if mse == 0:
        return 0.0, 0.0
    half = half_width(squares / mse - 1, weights)  # of the logarithm of the mean squared error
    if half is None or half > 600:
        return None, None
    return exp((log(mse) - half) / 2), exp((log(mse) + half) / 2)


def _numbers(values: Any, what: str) -> Floats:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{what} must be numbers: {error}") from error
    if numbers.ndim != 1:
        raise ParameterError(f"{what} must be a list of numbers, one for each case")
    bad = ~(np.abs(numbers) <= LARGEST)
    if bad.any():
        row = int(np.argmax(bad))
        problem = "is missing" if np.isnan(numbers[row]) else f"is beyond {LARGEST:g}"
        raise DataError(f"{what}: the number of case {row + 1:,} {problem}")
    return numbers


def _warnings(tested: int, r2: Measure) -> list[str]:
    sentences = []
    if tested < FEW_CASES:
        cases = "1 case" if tested == 1 else f"{tested} cases"
        sentences.append(f"Only {cases}: fewer than {FEW_CASES} are too few for reliable numbers.")
    if r2.value is None:
        sentences.append("All actual values are the same: R2 is not defined.")
    elif r2.value <= 0:
        sentences.append("The predictions are not better than always predicting the mean.")
    elif r2.low is not None and r2.low <= 0:
        sentences.append("The predictions are not significantly better than always predicting the mean.")
    return sentences
