"""The result of a resampling estimate: one number with its interval, and the results on each test set.

`treewright.evaluation.resampling` makes it. The pooled result counts the predictions of all test sets together, so a
large test set counts more than a small one; the averaged result is the mean over the test sets.

Estimates of the performance on new data by resampling.

A CV splitter (`treewright.evaluation.cross_validation`) makes the train/test splits. The .632 bootstrap mixes 0.632 of
the accuracy on the cases left out, which is too low, with 0.368 of the accuracy on the training cases, which is too
high (Efron 1983).

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
from treewright.evaluation.cross_validation import (
    Bootstrap632,
    Grouped,
    Rows,
    Way,
    as_way,
    check_whole,
    place_of,
    target_of,
    wilson_interval,
)
from treewright.evaluation.fold_runs import FoldResult, FoldRun, run_pair, run_pairs, score_of
from treewright.evaluation.learners import fit_of
from treewright.evaluation.regression import RegressionReport, regression_report, rmse_interval
from treewright.evaluation.report import Report, effective_number, percentage
from treewright.evaluation.report import Rows as Table
from treewright.wording import printable, quoted_list


@dataclass(frozen=True)
class Estimate(Report):
    """An estimate by resampling, with the results it is made of.

    Parameters
    ----------
    way : str
        How the cases were divided.
    measure : {"accuracy", "rmse"}
    folds : tuple of FoldResult
    tested : int
        Different cases of positive weight that were predicted.
    pooled : float
        Over all predictions together.
    averaged, deviation : float
        Mean of the folds' own results, and their standard deviation (0 for one fold).
    low, high : float or None
        95 % interval around `value`, the one number to quote: Wilson's of an accuracy; of an error by the spread of
        the cases, None where they are too few.
    baseline : float
        Of always saying the most frequent class (the mean) of the tested cases.
    baseline_class : str or None
    resubstitution, mixed : float or None
        For the bootstrap: the result on the training cases themselves, and the .632 estimate.
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
    mixed: float | None = None
    warnings: tuple[str, ...] = ()
    rows: Rows = field(default_factory=lambda: np.zeros(0, np.intp), repr=False, compare=False)
    predicted: npt.NDArray[Any] = field(default_factory=lambda: np.zeros(0), repr=False, compare=False)

    @property
    def value(self) -> float:
        """The one number to quote: .632 for the bootstrap, else the pooled one."""
        return self.pooled if self.mixed is None else self.mixed

    @property
    def size(self) -> float | None:
        """Leaves or rules on average."""
        sizes = [fold.size for fold in self.folds if fold.size is not None]
        return sum(sizes) / len(sizes) if sizes else None

    @property
    def seconds(self) -> float:
        """Of all folds together."""
        return sum(fold.seconds for fold in self.folds)

    def report(self, dataset: Dataset) -> ClassificationReport | RegressionReport:
        """Report on what was predicted for unseen cases: confusion, recall of each class, R2 and so on.

        Every case counts once, by its first prediction.

        Parameters
        ----------
        dataset : Dataset
            The one that was estimated on.

        Examples
        --------
        >>> from treewright.data.samples import sample
        >>> from treewright.evaluation.cross_validation import LeaveOneOut
        >>> from treewright.evaluation.resampling import estimate
        >>> estimate(sample("play-tennis"), "c45", LeaveOneOut()).report(sample("play-tennis")).confusion.tolist()
        [[4.0, 5.0], [2.0, 3.0]]
        """
        rows, first = np.unique(self.rows, return_index=True)
        cases, said = dataset.take(rows), self.predicted[first]
        if self.measure == "rmse":
            return regression_report(target_of(cases), said, cases.weights)
        truth = target_of(cases).astype(np.intp)
        return report_of_codes(truth, said.astype(np.intp), None, dataset.schema.classes, cases.weights)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        plain: dict[str, Any] = {"way": self.way, "measure": self.measure, "tested": self.tested}
        plain |= {"pooled": self.pooled, "averaged": self.averaged, "deviation": self.deviation}
        plain |= {"low": self.low, "high": self.high, "baseline": self.baseline, "baseline_class": self.baseline_class}
        if self.mixed is not None:
            plain |= {"estimate_632": self.mixed, "resubstitution": self.resubstitution}
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
        """Return the sentences: what is estimated, pooled and averaged, and the baseline."""
        shown = _shown(self.measure)
        name = "Accuracy" if self.measure == "accuracy" else "Root mean squared error"
        lines = [f"{name} by {printable(self.way)}"]
        if self.mixed is not None and self.resubstitution is not None:
            training = f"on the training cases {shown(self.resubstitution)}"
            lines.append(f".632      {shown(self.mixed)}{self._between()}; {training}")
        between = self._between() if self.mixed is None else ""
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
"""Share of the cases that a large bootstrap sample holds, 1 - 1/e."""


def estimate(
    dataset: Dataset,
    learner: Any,
    way: Way | int | None = None,
    progress: Progress | None = None,
    *,
    n_jobs: int | None = None,
) -> Estimate:
    """Estimate how well a learner does on cases it has not seen.

    Parameters
    ----------
    dataset : Dataset
    learner : Plan, recipe, name of an algorithm, estimator, or function from a dataset to a model
        `Learn` is a plan with class weights, costs or smoothing.
    way : KFold, Repeated, Grouped, GivenFolds, LeaveOneOut, HoldOut, Bootstrap632, int or None
        How the cases are divided; a number is so many folds, None ten (or as many as there are cases).
    progress : callable or None
        Called with fits done and fits in all.
    n_jobs : int or None
        Threads (where kernels grow the trees) or processes that share the work, -1 for one on each processor; None
        takes more than one where that pays, processes only when the first fits have shown it. The result does not
        depend on it, the seconds apart.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.evaluation.cross_validation import LeaveOneOut
    >>> found = estimate(sample("play-tennis"), "c45", LeaveOneOut())
    >>> len(found.folds), round(found.pooled, 3), round(found.baseline, 3)
    (14, 0.5, 0.643)
    """
    if n_jobs not in (None, -1):
        check_whole("n_jobs", n_jobs, 1)
    target_of(dataset)
    if dataset.n_rows < 2:
        raise DataError(_too_few(dataset.n_rows), source=dataset.source)
    fit = fit_of(learner)
    chosen = as_way(way, dataset)
    cases = without_attribute(dataset, chosen.column) if isinstance(chosen, Grouped) else dataset
    number = chosen.number(dataset)
    bootstrap = isinstance(chosen, Bootstrap632)
    runs = []
    for run in run_pairs(cases, fit, enumerate(chosen.pairs(dataset), start=1), number, n_jobs):
        runs.append(run)
        if progress is not None:
            progress(len(runs), number + bootstrap)
    found = summed_up(cases, chosen.describe(), runs)
    if not bootstrap:
        return found
    everything = np.arange(cases.n_rows)
    training = run_pair(cases, fit, 0, everything, everything)
    if progress is not None:
        progress(number + 1, number + 1)
    return _mixed(cases, found, training)


def _too_few(rows: int) -> str:
    if rows == 0:
        return "there are no rows to learn from"
    return "there is one row, and an estimate needs two at least: one to learn from and one to test on"


def without_attribute(dataset: Dataset, name: str) -> Dataset:
    """Return the dataset with an attribute kept out of learning."""
    place = place_of(dataset, name)
    schema = replace(dataset.schema, ignored=(*dataset.schema.ignored, name))
    return replace(dataset, schema=schema, columns=dataset.columns[:place] + dataset.columns[place + 1 :])


def summed_up(dataset: Dataset, way: str, runs: Iterable[FoldRun]) -> Estimate:
    """Make an estimate of what came of the pairs."""
    done = tuple(runs)
    rows = np.concatenate([run.rows for run in done])
    said = np.concatenate([run.predicted for run in done])
    pooled = score_of(dataset.take(rows), said)
    scores = [run.result.score for run in done if run.result.score is not None]
    if pooled is None:
        raise DataError("all tested cases weigh nothing, so there is nothing to estimate", source=dataset.source)
    tested = dataset.take(np.unique(rows))
    weights = np.ones(tested.n_rows) if tested.weights is None else tested.weights
    truth = target_of(tested)
    counted = int(np.count_nonzero(weights))
    baseline_class = None
    never: list[str] = []
    if dataset.schema.task is Task.REGRESSION:
        measure = "rmse"
        mean = float((weights * truth).sum() / weights.sum())
        baseline = sqrt(float((weights * (truth - mean) ** 2).sum() / weights.sum()))
        low, high = _interval_of_error(_squares(dataset, rows, said), weights)
    else:
        measure = "accuracy"
        counts = np.bincount(truth.astype(np.intp), weights, len(dataset.schema.classes))
        baseline = float(counts.max()) / float(weights.sum())
        baseline_class = dataset.schema.classes[int(np.argmax(counts))]
        n = effective_number(weights)
        low, high = wilson_interval(pooled * n, n)
        never = _never_said(dataset, truth, said)
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
        predicted=said,
    )


def _squares(dataset: Dataset, rows: Rows, said: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return the mean squared error of each tested case, in the order of the cases, however often it was predicted."""
    places, case = np.unique(rows, return_inverse=True)
    squares = (target_of(dataset)[rows] - said) ** 2
    mean: npt.NDArray[np.float64] = np.bincount(case, squares, len(places)) / np.bincount(case, minlength=len(places))
    return mean


def _interval_of_error(
    squares: npt.NDArray[np.float64], weights: npt.NDArray[np.float64]
) -> tuple[float | None, float | None]:
    counted = weights > 0
    mean = float(np.average(squares[counted], weights=weights[counted]))
    return rmse_interval(mean, squares[counted], weights[counted])


def _warnings(n: int, value: float, low: float | None, baseline: float, measure: str) -> tuple[str, ...]:
    if measure == "rmse":
        return ("no better than always saying the mean",) if value >= baseline > 0 else ()
    if low is None or low > baseline:
        return ()
    if baseline == 1:
        return ("all tested cases are of one class: every accuracy here is trivial",)
    return ("too few rows for a reliable estimate",) if n < 50 else ("not significantly better than the baseline",)


def _never_said(dataset: Dataset, truth: npt.NDArray[Any], said: npt.NDArray[Any]) -> list[str]:
    missed = np.setdiff1d(truth.astype(np.intp), said.astype(np.intp))
    return [dataset.schema.classes[code] for code in missed.tolist()]


def _about_classes(baseline: float, usual: str | None, never: list[str], strange: int) -> list[str]:
    """Return warnings where the accuracy hides the result of a class."""
    told = []
    if LOPSIDED <= baseline < 1:
        told.append(f"accuracy is misleading here: always predicting {usual!r} is right for {percentage(baseline)}")
    if never and baseline < 1:
        told.append(f"never predicted: {quoted_list(never)}")
    if strange:
        cases = "1 case was" if strange == 1 else f"{strange:,} cases were"
        told.append(f"{cases} of a class absent from the training part and could not be predicted correctly")
    return told


def _mixed(dataset: Dataset, found: Estimate, training: FoldRun) -> Estimate:
    """Add the .632 estimate: of accuracies, or of mean squared errors."""
    scores = np.array([fold.score for fold in found.folds if fold.score is not None])
    seen = training.result.score or 0.0
    tested = dataset.take(np.unique(found.rows))
    weights = np.ones(tested.n_rows) if tested.weights is None else tested.weights
    low: float | None
    high: float | None
    if found.measure == "accuracy":
        mixed = (1 - SHARE_DRAWN) * seen + SHARE_DRAWN * float(scores.mean())
        n = effective_number(weights)
        low, high = wilson_interval(mixed * n, n)
    else:
        mixed = sqrt((1 - SHARE_DRAWN) * seen**2 + SHARE_DRAWN * float((scores**2).mean()))
        places = np.unique(found.rows)
        inside = _squares(dataset, training.rows, training.predicted)[places]
        outside = _squares(dataset, found.rows, found.predicted)
        low, high = _interval_of_error((1 - SHARE_DRAWN) * inside + SHARE_DRAWN * outside, weights)
    first = _warnings(found.tested, found.pooled, found.low, found.baseline, found.measure)
    told = (*_warnings(found.tested, mixed, low, found.baseline, found.measure), *found.warnings[len(first) :])
    return replace(found, resubstitution=seen, mixed=mixed, low=low, high=high, warnings=told)
