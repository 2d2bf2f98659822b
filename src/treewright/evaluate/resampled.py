"""The result of a resampling estimate: one number with its interval, and the results on each test set.

`treewright.evaluate.resampling` makes it. The pooled result counts the predictions of all test sets together, so a
large test set counts more than a small one; the averaged result is the mean over the test sets.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright._base.printable import printable
from treewright.data.dataset import Dataset
from treewright.evaluate.classification_report import ClassificationReport, report_of_codes
from treewright.evaluate.estimate import Rows
from treewright.evaluate.regression_report import RegressionReport, regression_report
from treewright.evaluate.result import Report, percentage
from treewright.evaluate.result import Rows as Table
from treewright.evaluate.runs import FoldResult
from treewright.evaluate.ways import target_of


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
        >>> from treewright.evaluate.resampling import LeaveOneOut, estimate
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
