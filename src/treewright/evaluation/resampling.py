"""Estimates of the performance on new data by resampling: one number with its interval, and the result of each split.

A CV splitter (`treewright.evaluation.splitters`) makes the train/test splits. The pooled result counts the
predictions of all test sets together, so a large test set counts more than a small one; the averaged result is the mean
over the test sets. The .632 bootstrap adds 0.632 of the accuracy on the cases left out, which is too low, and 0.368 of
the accuracy on the training cases, which is too high (Efron 1983).

Invariants: The interval counts every case once, however often it was predicted: predicting it again in another repeat
adds no information about other cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.data.schema import Task
from treewright.errors import DataError
from treewright.evaluation.classification import LOPSIDED, ClassificationReport, report_of_codes
from treewright.evaluation.cross_validation import Rows, target_of, wilson_interval
from treewright.evaluation.fold_runs import FoldResult, FoldRun, run_split, run_splits, score_of
from treewright.evaluation.learners import fit_of
from treewright.evaluation.regression import RegressionReport, regression_report, rmse_interval
from treewright.evaluation.report import Report, effective_number, percentage
from treewright.evaluation.report import Rows as Table
from treewright.evaluation.splitters import Bootstrap632, Grouped, Splitter, as_splitter, attribute_index
from treewright.parameters import check_whole_number
from treewright.wording import printable, quoted_list


@dataclass(frozen=True)
class Estimate(Report):
    """An estimate by resampling, with the results of the splits.

    Parameters
    ----------
    way : str
        Description of the CV splitter.
    measure : {"accuracy", "rmse"}
    folds : tuple of FoldResult
    tested : int
        Different cases of positive weight that were predicted.
    pooled : float
        Over all predictions together.
    averaged, deviation : float
        Mean and standard deviation of the results of the folds (deviation 0 for one fold).
    low, high : float or None
        95 % interval of `value`, the number to report: Wilson's for an accuracy; for an error from the variance of the
        cases, None if there are too few.
    baseline : float
        Result of always predicting the most frequent class (the mean) of the tested cases.
    baseline_class : str or None
    resubstitution, estimate_632 : float or None
        For the bootstrap: the result on the training cases, and the .632 estimate.
    """

    way: str
    measure: str
    folds: tuple[FoldResult, ...]
    tested: int
    pooled: float
    averaged: float
    deviation: float
    low: float | None
    high: float | None
    baseline: float
    baseline_class: str | None
    resubstitution: float | None = None
    estimate_632: float | None = None
    warnings: tuple[str, ...] = ()
    rows: Rows = field(default_factory=lambda: np.zeros(0, np.intp), repr=False, compare=False)
    predicted: npt.NDArray[Any] = field(default_factory=lambda: np.zeros(0), repr=False, compare=False)

    @property
    def value(self) -> float:
        """The number to report: the .632 estimate of a bootstrap, else the pooled result."""
        return self.pooled if self.estimate_632 is None else self.estimate_632

    @property
    def size(self) -> float | None:
        """Mean number of leaves or rules."""
        sizes = [fold.size for fold in self.folds if fold.size is not None]
        return sum(sizes) / len(sizes) if sizes else None

    @property
    def seconds(self) -> float:
        """Time of all folds together."""
        return sum(fold.seconds for fold in self.folds)

    def report(self, dataset: Dataset) -> ClassificationReport | RegressionReport:
        """Report on the predictions for unseen cases: confusion matrix, recall of each class, R2 and so on.

        Every case counts once, by its first prediction.

        Parameters
        ----------
        dataset : Dataset
            The dataset of the estimate.

        Examples
        --------
        >>> from treewright.data.samples import sample
        >>> from treewright.evaluation.splitters import LeaveOneOut
        >>> from treewright.evaluation.resampling import estimate
        >>> estimate(sample("play-tennis"), "c45", LeaveOneOut()).report(sample("play-tennis")).confusion.tolist()
        [[4.0, 5.0], [2.0, 3.0]]
        """
        rows, first = np.unique(self.rows, return_index=True)
        cases, predicted = dataset.take(rows), self.predicted[first]
        if self.measure == "rmse":
            return regression_report(target_of(cases), predicted, cases.weights)
        actual = target_of(cases).astype(np.intp)
        return report_of_codes(actual, predicted.astype(np.intp), None, dataset.schema.classes, cases.weights)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        plain: dict[str, Any] = {"way": self.way, "measure": self.measure, "tested": self.tested}
        plain |= {"pooled": self.pooled, "averaged": self.averaged, "deviation": self.deviation}
        plain |= {"low": self.low, "high": self.high, "baseline": self.baseline, "baseline_class": self.baseline_class}
        if self.estimate_632 is not None:
            plain |= {"estimate_632": self.estimate_632, "resubstitution": self.resubstitution}
        return plain | {
            "size": self.size,
            "seconds": self.seconds,
            "folds": self.records(),
            "warnings": list(self.warnings),
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one row for each fold."""
        return [
            {
                "fold": f.fold,
                "trained": f.trained,
                "n": f.n,
                self.measure: f.score,
                "size": f.size,
                "seconds": f.seconds,
            }
            for f in self.folds
        ]

    def lines(self) -> list[str]:
        """Return the sentences: the measure, the pooled and averaged result, and the baseline."""
        shown = _shown(self.measure)
        name = "Accuracy" if self.measure == "accuracy" else "Root mean squared error"
        lines = [f"{name} by {printable(self.way)}"]
        if self.estimate_632 is not None and self.resubstitution is not None:
            training = f"on the training cases {shown(self.resubstitution)}"
            lines.append(f".632      {shown(self.estimate_632)}{self._between()}; {training}")
        between = self._between() if self.estimate_632 is None else ""
        cases = "1 case" if self.tested == 1 else f"{self.tested:,} cases"
        lines.append(f"pooled    {shown(self.pooled)}{between}, over {cases}")
        if len(self.folds) > 1:
            spread = f"{100 * self.deviation:.1f} points" if self.measure == "accuracy" else f"{self.deviation:.4g}"
            lines.append(
                f"averaged  {shown(self.averaged)} over {len(self.folds):,} test sets, standard deviation {spread}"
            )
        always = "the mean" if self.baseline_class is None else f'"{printable(self.baseline_class, 30)}"'
        lines.append(f"baseline  {shown(self.baseline)} by always predicting {always}")
        return lines

    def _between(self) -> str:
        shown = _shown(self.measure)
        return "" if self.low is None or self.high is None else f" ({shown(self.low)} to {shown(self.high)})"

    def tables(self) -> list[tuple[str, Table]]:
        """Return the table of the folds, the first twenty of many."""
        shown = _shown(self.measure)
        rows = [["fold", "trained", "n", self.measure, "size", "seconds"]]
        rows += [
            [
                str(f.fold),
                f"{f.trained:,}",
                f"{f.n:,}",
                "-" if f.score is None else shown(f.score),
                "-" if f.size is None else f"{f.size:,}",
                f"{f.seconds:.2f}",
            ]
            for f in self.folds[:20]
        ]
        more = len(self.folds) - 20
        return [("Folds" if more <= 0 else f"The first 20 of {len(self.folds):,} folds", rows)]


def _shown(measure: str) -> Callable[[float], str]:
    return percentage if measure == "accuracy" else "{:.4g}".format


Progress = Callable[[int, int], None]


SHARE_DRAWN = 0.632
"""Share of the cases that occur in a large bootstrap sample, 1 - 1/e."""


def estimate(
    dataset: Dataset,
    learner: Any,
    way: Splitter | int | None = None,
    progress: Progress | None = None,
    *,
    n_jobs: int | None = None,
) -> Estimate:
    """Estimate the performance of a learner on unseen cases.

    Parameters
    ----------
    dataset : Dataset
    learner : Plan, recipe, name of an algorithm, estimator, or function from a dataset to a model
        `Learn` is a plan with class weights, costs or smoothing.
    way : KFold, Repeated, Grouped, GivenFolds, LeaveOneOut, HoldOut, Bootstrap632, int or None
        The CV splitter; a number means that many folds, None ten (or as many as there are cases).
    progress : callable or None
        Called with the number of finished fits and of all fits.
    n_jobs : int or None
        Number of threads (if kernels grow the trees) or processes, -1 for one on each processor; None uses several if
        that saves time. Except for the seconds, the result does not depend on it.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.evaluation.splitters import LeaveOneOut
    >>> found = estimate(sample("play-tennis"), "c45", LeaveOneOut())
    >>> len(found.folds), round(found.pooled, 3), round(found.baseline, 3)
    (14, 0.5, 0.643)
    """
    if n_jobs not in (None, -1):
        check_whole_number("n_jobs", n_jobs, 1)
    target_of(dataset)
    if dataset.n_rows < 2:
        raise DataError(_too_few(dataset.n_rows), source=dataset.source)
    fit = fit_of(learner)
    splitter = as_splitter(way, dataset)
    cases = without_attribute(dataset, splitter.column) if isinstance(splitter, Grouped) else dataset
    number = splitter.number(dataset)
    bootstrap = isinstance(splitter, Bootstrap632)
    runs = []
    for run in run_splits(cases, fit, enumerate(splitter.pairs(dataset), start=1), number, n_jobs):
        runs.append(run)
        if progress is not None:
            progress(len(runs), number + bootstrap)
    found = estimate_of_runs(cases, splitter.describe(), runs)
    if not bootstrap:
        return found
    everything = np.arange(cases.n_rows)
    training = run_split(cases, fit, 0, everything, everything)
    if progress is not None:
        progress(number + 1, number + 1)
    return _with_632(cases, found, training)


def _too_few(rows: int) -> str:
    if rows == 0:
        return "there are no rows to learn from"
    return "there is one row, and an estimate needs at least two: one to train on and one to test on"


def without_attribute(dataset: Dataset, name: str) -> Dataset:
    """Return the dataset with an attribute ignored in training."""
    index = attribute_index(dataset, name)
    schema = replace(dataset.schema, ignored=(*dataset.schema.ignored, name))
    return replace(dataset, schema=schema, columns=dataset.columns[:index] + dataset.columns[index + 1 :])


def estimate_of_runs(dataset: Dataset, way: str, runs: Iterable[FoldRun]) -> Estimate:
    """Return the estimate from the runs of all splits."""
    done = tuple(runs)
    rows = np.concatenate([run.rows for run in done])
    predicted = np.concatenate([run.predicted for run in done])
    pooled = score_of(dataset.take(rows), predicted)
    scores = [run.result.score for run in done if run.result.score is not None]
    if pooled is None:
        raise DataError("all tested cases have weight 0, so there is nothing to estimate", source=dataset.source)
    tested = dataset.take(np.unique(rows))
    weights = tested.case_weights
    actual = target_of(tested)
    counted = int(np.count_nonzero(weights))
    baseline_class = None
    never: list[str] = []
    if dataset.schema.task is Task.REGRESSION:
        measure = "rmse"
        mean = float((weights * actual).sum() / weights.sum())
        baseline = sqrt(float((weights * (actual - mean) ** 2).sum() / weights.sum()))
        low, high = _interval_of_error(_squares(dataset, rows, predicted), weights)
    else:
        measure = "accuracy"
        counts = np.bincount(actual.astype(np.intp), weights, len(dataset.schema.classes))
        baseline = float(counts.max()) / float(weights.sum())
        baseline_class = dataset.schema.classes[int(np.argmax(counts))]
        n = effective_number(weights)
        low, high = wilson_interval(pooled * n, n)
        never = _never_predicted(dataset, actual, predicted)
    deviation = float(np.std(scores, ddof=1)) if len(scores) > 1 else 0.0
    return Estimate(
        way,
        measure,
        tuple(run.result for run in done),
        counted,
        pooled,
        float(np.mean(scores)),
        deviation,
        low,
        high,
        baseline,
        baseline_class,
        warnings=(
            *_warnings(counted, pooled, low, baseline, measure),
            *_about_classes(baseline, baseline_class, never, sum(run.strange for run in done)),
        ),
        rows=rows,
        predicted=predicted,
    )


def _squares(dataset: Dataset, rows: Rows, predicted: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return the mean squared error of each tested case over its predictions, in the order of the cases."""
    rows_tested, case = np.unique(rows, return_inverse=True)
    squares = (target_of(dataset)[rows] - predicted) ** 2
    mean: npt.NDArray[np.float64] = np.bincount(case, squares, len(rows_tested)) / np.bincount(
        case, minlength=len(rows_tested)
    )
    return mean


def _interval_of_error(
    squares: npt.NDArray[np.float64], weights: npt.NDArray[np.float64]
) -> tuple[float | None, float | None]:
    counted = weights > 0
    mean = float(np.average(squares[counted], weights=weights[counted]))
    return rmse_interval(mean, squares[counted], weights[counted])


def _warnings(n: int, value: float, low: float | None, baseline: float, measure: str) -> tuple[str, ...]:
    if measure == "rmse":
        return ("no better than always predicting the mean",) if value >= baseline > 0 else ()
    if low is None or low > baseline:
        return ()
    if baseline == 1:
        return ("all tested cases are of one class: every accuracy here is trivial",)
    return ("too few rows for a reliable estimate",) if n < 50 else ("not significantly better than the baseline",)


def _never_predicted(dataset: Dataset, actual: npt.NDArray[Any], predicted: npt.NDArray[Any]) -> list[str]:
    missed = np.setdiff1d(actual.astype(np.intp), predicted.astype(np.intp))
    return [dataset.schema.classes[code] for code in missed.tolist()]


def _about_classes(baseline: float, majority: str | None, never: list[str], strange: int) -> list[str]:
    """Return warnings if the accuracy hides the result of a class."""
    messages = []
    if LOPSIDED <= baseline < 1:
        messages.append(
            f"accuracy is misleading here: always predicting {majority!r} is right for {percentage(baseline)}"
        )
    if never and baseline < 1:
        messages.append(f"never predicted: {quoted_list(never)}")
    if strange:
        cases = "1 case was" if strange == 1 else f"{strange:,} cases were"
        messages.append(f"{cases} of a class absent from the training part and could not be predicted correctly")
    return messages


def _with_632(dataset: Dataset, found: Estimate, training: FoldRun) -> Estimate:
    """Return the estimate with its .632 value: of accuracies, or of mean squared errors."""
    scores = np.array([fold.score for fold in found.folds if fold.score is not None])
    seen = training.result.score or 0.0
    tested = dataset.take(np.unique(found.rows))
    weights = tested.case_weights
    low: float | None
    high: float | None
    if found.measure == "accuracy":
        estimate_632 = (1 - SHARE_DRAWN) * seen + SHARE_DRAWN * float(scores.mean())
        n = effective_number(weights)
        low, high = wilson_interval(estimate_632 * n, n)
    else:
        estimate_632 = sqrt((1 - SHARE_DRAWN) * seen**2 + SHARE_DRAWN * float((scores**2).mean()))
        rows_tested = np.unique(found.rows)
        training_squares = _squares(dataset, training.rows, training.predicted)[rows_tested]
        test_squares = _squares(dataset, found.rows, found.predicted)
        low, high = _interval_of_error((1 - SHARE_DRAWN) * training_squares + SHARE_DRAWN * test_squares, weights)
    first = _warnings(found.tested, found.pooled, found.low, found.baseline, found.measure)
    messages = (
        *_warnings(found.tested, estimate_632, low, found.baseline, found.measure),
        *found.warnings[len(first) :],
    )
    return replace(found, resubstitution=seen, estimate_632=estimate_632, low=low, high=high, warnings=messages)
