"""Evaluation report on predicted classes.

The confusion matrix holds the weight of the cases of each actual class (row) by predicted class (column). The baseline
always predicts the most frequent class of these cases. Precision, recall, F and support are defined as in scikit-learn,
0 where a class is never predicted or never occurs. Macro and weighted averages are taken over the classes that occur
among the actual or predicted ones. Of two classes the second is the positive one; of several, each is measured against
the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import isnan
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright._base.errors import DataError, ParameterError
from treewright._base.near_names import quoted_list
from treewright.evaluate.estimate import wilson_interval
from treewright.evaluate.mistake_costs import CostReport, cost_report, cost_table
from treewright.evaluate.probability_report import ProbabilityReport, checked_probabilities, probability_report
from treewright.evaluate.report_warnings import class_warnings, probability_warnings
from treewright.evaluate.result import (
    Floats,
    Report,
    Rows,
    checked_weights,
    decimal,
    effective_number,
    percentage,
    plain,
    require_length,
    shown_name,
    shown_names,
)

Codes = npt.NDArray[np.intp]

LARGEST_MATRIX = 12
"""With more classes the most frequent confusions are listed instead of the matrix."""

LISTED = 40
"""So many classes or confusions are shown at most; plain data have all."""


@dataclass(frozen=True)
class ClassScore:
    """Precision, recall, F and support of one class, or their average."""

    label: str
    precision: float
    recall: float
    f: float
    support: float


@dataclass(frozen=True, eq=False)
class ClassificationReport(Report):
    """How good predicted classes are; see the module's docstring for the measures.

    Parameters
    ----------
    classes : tuple of str
    tested : int
        Cases of positive weight.
    confusion : array
    accuracy, low, high : float
        With Wilson's interval of 95 %; for unequal weights that of the effective number of cases.
    balanced_accuracy : float
        Mean recall of the classes that there are cases of.
    baseline : float
    baseline_class : str
    per_class : tuple of ClassScore
    macro, weighted : ClassScore
    probabilities : ProbabilityReport or None
    cost : CostReport or None
    warnings : tuple of str
        Where a number may mislead.
    """

    classes: tuple[str, ...]
    tested: int
    confusion: Floats
    accuracy: float
    low: float
    high: float
    balanced_accuracy: float
    baseline: float
    baseline_class: str
    per_class: tuple[ClassScore, ...]
    macro: ClassScore
    weighted: ClassScore
    probabilities: ProbabilityReport | None = None
    cost: CostReport | None = None
    warnings: tuple[str, ...] = ()

    @property
    def better_than_baseline(self) -> bool:
        """Whether the whole interval lies above the baseline."""
        return self.low > self.baseline

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "kind": "classification",
            "tested": self.tested,
            "classes": list(self.classes),
            "accuracy": self.accuracy,
            "accuracy_low": self.low,
            "accuracy_high": self.high,
            "balanced_accuracy": self.balanced_accuracy,
            "baseline": self.baseline,
            "baseline_class": self.baseline_class,
            "confusion": [[plain(cell) for cell in row] for row in self.confusion.tolist()],
            "per_class": [asdict(score) for score in self.per_class],
            "macro": asdict(self.macro),
            "weighted": asdict(self.weighted),
            "probabilities": None if self.probabilities is None else self.probabilities.to_dict(),
            "cost": None if self.cost is None else self.cost.to_dict(),
            "warnings": list(self.warnings),
        }

    def records(self) -> list[dict[str, Any]]:
        """Return a row for each class and for the averages."""
        found = {} if self.probabilities is None else {curves.label: curves for curves in self.probabilities.curves}
        rows = []
        for kind, score in [
            *(("class", score) for score in self.per_class),
            ("average", self.macro),
            ("average", self.weighted),
        ]:
            curves = found.get(score.label) if kind == "class" else None
            row = {"of": kind, **asdict(score)}
            if found:
                row["auc"] = None if curves is None else curves.auc
                row["average_precision"] = None if curves is None else curves.average_precision
                row["brier"] = None if curves is None else curves.brier
            rows.append(row)
        return rows

    def lines(self) -> list[str]:
        """Return the sentences that stand above the tables."""
        cases = "case" if self.tested == 1 else "cases"
        lines = [
            f"Accuracy {percentage(self.accuracy)} on {self.tested:,} {cases} ({percentage(self.low)} to "
            f"{percentage(self.high)}); "
            f'always predicting "{shown_name(self.baseline_class)}" gives {percentage(self.baseline)}.',
            f"Balanced accuracy {percentage(self.balanced_accuracy)}.",
        ]
        if self.probabilities is not None:
            lines += self.probabilities.lines()
        if self.cost is not None:
            lines += self.cost.lines()
        return lines

    def tables(self) -> list[tuple[str, Rows]]:
        """Return confusion and classes."""
        return [_confusion_table(self), ("Classes", _class_rows(self))]


def classification_report(
    truth: Any,
    predicted: Any,
    probabilities: Any = None,
    classes: Sequence[Any] | None = None,
    weights: Any = None,
    costs: Any = None,
) -> ClassificationReport:
    """Report on predicted classes.

    Parameters
    ----------
    truth, predicted : sequence of labels
    probabilities : array of shape (cases, classes), or (cases,) for the second of two classes; or None
        Columns in the order of `classes`.
    classes : sequence of labels or None
        All classes in their order; None takes those that occur, sorted.
    weights : sequence of numbers or None
        Cases of weight zero are left out.
    costs : table or mapping ``{(actual, predicted): cost}`` or None

    Returns
    -------
    ClassificationReport

    Examples
    --------
    >>> report = classification_report(list("aabbb"), list("aabba"), classes="ab")
    >>> report.accuracy, report.baseline, report.confusion.tolist()
    (0.8, 0.6, [[2.0, 0.0], [1.0, 2.0]])
    """
    true, said = _labels(truth, "truth"), _labels(predicted, "predicted")
    labels = _sorted_labels({*true, *said}) if classes is None else _labels(classes, "classes")
    if len(set(labels)) < len(labels) or len({str(label) for label in labels}) < len(labels):
        raise ParameterError(f"classes must differ from each other, as they do not in {quoted_list(map(str, labels))}")
    codes = {label: code for code, label in enumerate(labels)}
    return report_of_codes(
        _codes(true, codes, "truth"),
        _codes(said, codes, "predicted"),
        probabilities,
        tuple(str(label) for label in labels),
        weights,
        costs,
    )


def report_of_codes(
    truth: Codes,
    predicted: Codes,
    probabilities: Any,
    classes: tuple[str, ...],
    weights: Any = None,
    costs: Any = None,
) -> ClassificationReport:
    """Report on predicted classes that are given as places in `classes`."""
    from sklearn import metrics

    if len(truth) == 0:
        raise DataError("there are no cases to report on")
    require_length("predicted", predicted, len(truth))
    mass = checked_weights(weights, len(truth))
    shares = None if probabilities is None else checked_probabilities(probabilities, len(truth), len(classes))
    table = None if costs is None else cost_table(costs, classes)
    counted = mass > 0
    if not counted.all():
        truth, predicted, mass = truth[counted], predicted[counted], mass[counted]
        shares = None if shares is None else shares[counted]

    confusion = np.full((1, 1), mass.sum())
    if len(classes) > 1:
        places = np.arange(len(classes))
        confusion = metrics.confusion_matrix(truth, predicted, labels=places, sample_weight=mass).astype(np.float64)
    accuracy = float(metrics.accuracy_score(truth, predicted, sample_weight=mass))
    effective = effective_number(mass)
    low, high = wilson_interval(effective * accuracy, effective)
    support = confusion.sum(axis=1)
    most = int(np.argmax(support))
    per_class = _scores(metrics, truth, predicted, mass, classes)
    probable = None if shares is None else probability_report(truth, shares, mass, classes)
    cost = None
    if table is not None:
        second = shares[:, 1] if shares is not None and len(classes) == 2 else None
        cost = cost_report(table, confusion, classes, truth == 1, second, mass)
    baseline = float(support[most] / support.sum())
    sentences = class_warnings(len(truth), accuracy, low, baseline, classes[most], classes, confusion)
    if probable is not None and shares is not None:
        sentences += probability_warnings(shares, probable.log_loss, ordered=probable.auc is not None)
    if cost is not None and cost.best is not None:
        sentences.append(
            "The best threshold was chosen on these same cases: expect a slightly higher cost on new data."
        )
    return ClassificationReport(
        classes,
        len(truth),
        confusion,
        accuracy,
        low,
        high,
        float(np.mean([score.recall for score in per_class if score.support > 0])),
        baseline,
        classes[most],
        per_class,
        _average(metrics, truth, predicted, mass, "macro", float(support.sum())),
        _average(metrics, truth, predicted, mass, "weighted", float(support.sum())),
        probable,
        cost,
        tuple(sentences),
    )


def _labels(values: Any, what: str) -> list[Any]:
    if isinstance(values, (set, frozenset)) or not (hasattr(values, "__len__") and hasattr(values, "__iter__")):
        raise ParameterError(f"{what} must be a list of labels in order")
    if getattr(values, "ndim", 1) != 1:
        raise ParameterError(f"{what} must be a list of labels, one for each case")
    labels: list[Any] = values.tolist() if hasattr(values, "tolist") else list(values)
    for place, label in enumerate(labels):
        if label is None or (isinstance(label, float) and isnan(label)):
            raise DataError(f"{what}: the label of case {place + 1:,} is missing")
        if isinstance(label, (list, dict, set)):
            raise ParameterError(f"{what} must be a list of labels, one for each case")
    return labels


def _sorted_labels(labels: set[Any]) -> list[Any]:
    try:
        return sorted(labels)
    except TypeError:  # of several types
        return sorted(labels, key=lambda label: (type(label).__name__, label))


def _codes(labels: list[Any], codes: dict[Any, int], what: str) -> Codes:
    strangers = [label for label in set(labels) if label not in codes]
    if strangers:
        raise DataError(f"{what}: {strangers[0]!r} is none of the classes {quoted_list(str(label) for label in codes)}")
    return np.array([codes[label] for label in labels], dtype=np.intp)


def _scores(
    metrics: Any, truth: Codes, predicted: Codes, weights: Floats, classes: tuple[str, ...]
) -> tuple[ClassScore, ...]:
    measured = metrics.precision_recall_fscore_support(
        truth, predicted, labels=np.arange(len(classes)), sample_weight=weights, zero_division=0
    )
    return tuple(
        ClassScore(label, float(precision), float(recall), float(f), plain(support))
        for label, precision, recall, f, support in zip(classes, *measured, strict=True)
    )


def _average(metrics: Any, truth: Codes, predicted: Codes, weights: Floats, average: str, support: float) -> ClassScore:
    precision, recall, f, _ = metrics.precision_recall_fscore_support(
        truth, predicted, average=average, sample_weight=weights, zero_division=0
    )
    return ClassScore(average, float(precision), float(recall), float(f), plain(support))


def _confusion_table(report: ClassificationReport) -> tuple[str, Rows]:
    names = shown_names(report.classes)
    if len(names) <= LARGEST_MATRIX:
        body = [
            [name, *(f"{plain(round(cell, 2)):,}" for cell in row)]
            for name, row in zip(names, report.confusion.tolist(), strict=True)
        ]
        return "Confusion matrix (rows: actual, columns: predicted)", [["", *names], *body]
    wrong = report.confusion.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:LARGEST_MATRIX]
    pairs = [(int(place) // len(names), int(place) % len(names)) for place in order]
    body = [
        [names[true], names[said], f"{plain(round(wrong[true, said], 2)):,}"]
        for true, said in pairs
        if wrong[true, said]
    ]
    return "Most frequent errors", [["actual", "predicted", "cases"], *body]


def _class_rows(report: ClassificationReport) -> Rows:
    auc = {} if report.probabilities is None else {found.label: found.auc for found in report.probabilities.curves}
    more = len(auc) > 1
    rows = [["class", "precision", "recall", "F", "support", *(["AUC"] if more else [])]]
    scores = sorted(report.per_class, key=lambda score: -score.support)[:LISTED]
    shown = report.per_class if len(scores) == len(report.per_class) else scores
    name = dict(zip(report.classes, shown_names(report.classes), strict=True))
    for score in shown:
        rows.append([name[score.label], *_cells(score), *([decimal(auc.get(score.label))] if more else [])])
    if len(report.per_class) > len(scores):
        rows.append([f"... {len(report.per_class) - len(scores)} more", *[""] * (len(rows[0]) - 1)])
    mean = None if report.probabilities is None else report.probabilities.auc
    rows.append(["(macro)", *_cells(report.macro), *([decimal(mean)] if more else [])])
    rows.append(["(weighted)", *_cells(report.weighted), *([""] if more else [])])
    return rows


def _cells(score: ClassScore) -> list[str]:
    return [decimal(score.precision), decimal(score.recall), decimal(score.f), f"{plain(round(score.support, 2)):,}"]
