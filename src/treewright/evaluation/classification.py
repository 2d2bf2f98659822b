"""The evaluation report on predicted classes, with misclassification costs and warnings.

The confusion matrix holds the weight of the cases of each actual class (row) by predicted class (column). The baseline
always predicts the most frequent class of these cases. Precision, recall, F and support are defined as in scikit-learn,
0 where a class is never predicted or never occurs. Macro and weighted averages are taken over the classes that occur
among the actual or predicted ones. Of two classes the second is the positive one; of several, each is measured against
the rest.

Row i, column j of the cost matrix is the cost of predicting class j for a case of class i; costs that are not given are
1, and 0 for correct predictions. With two classes the second is predicted when its probability is at least the
threshold. The fair threshold follows from the costs alone and is optimal for true probabilities (Elkan 2001). The best
threshold has the lowest cost on these same cases, so its cost is slightly optimistic.

Warnings say where a number misleads. Accuracy does when it is high only because one class is frequent: with 10
positives in 10,000 cases, always predicting "no" is right for 99.9 % and finds none of the ten.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import isnan
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.errors import DataError, ParameterError
from treewright.evaluation.cross_validation import wilson_interval
from treewright.evaluation.probabilities import ProbabilityReport, checked_probabilities, probability_report
from treewright.evaluation.report import (
    FEW_CASES,
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
from treewright.tree.model import LARGEST_COST
from treewright.wording import quoted_list

LOPSIDED = 0.9
"""If the most frequent class has at least this share, accuracy says little about the others."""


def class_warnings(
    tested: int,
    accuracy: float,
    low: float,
    baseline: float,
    baseline_class: str,
    classes: tuple[str, ...],
    confusion: Floats,
) -> list[str]:
    """Return the warnings about accuracy and classes.

    Examples
    --------
    >>> found = class_warnings(10_000, 0.999, 0.998, 0.999, "no", ("no", "yes"), np.array([[9990.0, 0], [10, 0]]))
    >>> print(found[0].partition("; ")[0])
    Accuracy is misleading here: 99.9 % looks high, but always predicting "no" gives 99.9 %
    """
    support, predicted = confusion.sum(axis=1), confusion.sum(axis=0)
    sentences = []
    if tested < FEW_CASES:
        cases = "1 case" if tested == 1 else f"{tested} cases"
        sentences.append(f"Only {cases}: fewer than {FEW_CASES} are too few for reliable numbers.")
    always = f'always predicting "{baseline_class}" gives {percentage(baseline)}'
    if np.count_nonzero(support) == 1:
        sentences.append(
            f'All cases are of the class "{baseline_class}": these numbers tell nothing about the other classes.'
        )
    elif accuracy <= baseline and accuracy >= LOPSIDED:
        claim = f"{percentage(accuracy)} looks high, but {always}"
        sentences.append(f"Accuracy is misleading here: {claim}; look at the recall of each class.")
    elif accuracy <= baseline:
        sentences.append(f"The accuracy, {percentage(accuracy)}, is not above the baseline: {always}.")
    elif low <= baseline:
        sentences.append(f"The accuracy, {percentage(accuracy)}, is not significantly above the baseline: {always}.")
    elif baseline >= LOPSIDED:
        sentences.append(f"Accuracy tells little here: {always}; look at the recall of each class.")
    absent = [name for name, weight in zip(classes, support.tolist(), strict=True) if weight == 0]
    if absent and len(absent) < len(classes) - 1:
        sentences.append(f"{_classes(absent)} no cases here; these numbers tell nothing about {_it(absent)}.")
    never = [name for name, true, claim in zip(classes, support, predicted, strict=True) if true > 0 and claim == 0]
    if never:
        sentences.append(f"Never predicted: {quoted_list(never)}; every case of {_it(never)} is misclassified.")
    return sentences


def probability_warnings(shares: Floats, log_loss: float | None, *, ordered: bool = True) -> list[str]:
    """Return the warnings about probabilities; `ordered` is True if a ROC curve is defined.

    Examples
    --------
    >>> probability_warnings(np.array([[0.0, 1.0], [1.0, 0.0]]), 0.1)
    ['All probabilities are 0 or 1: no threshold can be chosen, and the ROC curve has one corner.']
    """
    sentences = []
    if shares.shape[1] > 1:
        if np.all((shares == 0) | (shares == 1)):
            corner = ", and the ROC curve has one corner" if ordered else ""
            sentences.append(f"All probabilities are 0 or 1: no threshold can be chosen{corner}.")
        elif np.all(shares == shares[0]):
            order = ": they do not rank the cases (AUC 0.5)" if ordered else ""
            sentences.append(f"All cases have the same probabilities{order}.")
    if log_loss is None:
        sentences.append(
            "Some true classes were given probability 0, so log loss is infinite; try smoothing (--smoothing laplace)."
        )
    return sentences


def _classes(names: list[str]) -> str:
    return f"The class {quoted_list(names)} has" if len(names) == 1 else f"The classes {quoted_list(names)} have"


def _it(names: list[str]) -> str:
    return "it" if len(names) == 1 else "them"


@dataclass(frozen=True)
class BestThreshold:
    """The threshold with the lowest cost; `threshold` is None if it is best never to predict the second class."""

    positive: str
    threshold: float | None
    cost: float
    fair_threshold: float | None
    fair_cost: float | None


@dataclass(frozen=True)
class CostReport:
    """Mean and total cost of the cases; the baseline always predicts the class with the lowest cost."""

    costs: tuple[tuple[float, ...], ...]
    mean: float
    total: float
    baseline: float
    baseline_class: str
    best: BestThreshold | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self) | {"costs": [list(row) for row in self.costs]}

    def lines(self) -> list[str]:
        """Return the sentences of a report about the costs."""
        lines = [
            f"Cost {self.mean:.4g} per case, {self.total:.6g} in total; "
            f'always predicting "{shown_name(self.baseline_class)}" costs {self.baseline:.4g}.'
        ]
        best = self.best
        if best is not None:
            where = "never" if best.threshold is None else f"when its probability is at least {best.threshold:.4g}"
            lines.append(f'Lowest cost {best.cost:.4g}: predict "{shown_name(best.positive)}" {where}.')
            if best.fair_threshold is not None and best.fair_cost is not None:
                threshold = f"{best.fair_threshold:.4g}: cost {best.fair_cost:.4g}"
                lines.append(f"The cost matrix alone implies the threshold {threshold}.")
        return lines


def cost_table(costs: Any, classes: tuple[str, ...]) -> Floats:
    """Return costs, given as a table or as ``{(actual, predicted): cost}``, as an array.

    Examples
    --------
    >>> cost_table({("sick", "well"): 5}, ("sick", "well")).tolist()
    [[0.0, 5.0], [1.0, 0.0]]
    """
    from treewright.plans import costs_from

    try:
        table = costs_from(costs, list(classes)) or ()
    except ParameterError:
        raise
    except (TypeError, ValueError) as error:
        raise ParameterError(f"costs must be numbers: {error}") from error
    k = len(classes)
    if len(table) != k or any(len(row) != k for row in table):
        raise ParameterError(f"costs must be a table of {k} rows and {k} columns, one for each class")
    array = np.array(table, dtype=np.float64)
    if not np.all((array >= 0) & (array <= LARGEST_COST)):
        raise ParameterError(f"costs must be numbers from 0 to {LARGEST_COST:g}")
    return array


def cost_report(
    table: Floats,
    confusion: Floats,
    classes: tuple[str, ...],
    is_second: npt.NDArray[np.bool_],
    scores: Floats | None,
    weights: Floats,
) -> CostReport:
    """Compute the costs; with scores of the second of two classes, find the best threshold too.

    Examples
    --------
    >>> found = cost_report(np.array([[0.0, 5.0], [1.0, 0.0]]), np.array([[3.0, 1.0], [2.0, 4.0]]), ("sick", "well"),
    ...                     np.array([False, True]), None, np.ones(2))
    >>> found.total, found.mean, found.baseline_class
    (7.0, 0.7, 'sick')
    """
    weight = float(confusion.sum())
    total = float((table * confusion).sum())
    always = confusion.sum(axis=1) @ table / weight
    cheapest = int(np.argmin(always))
    best = None
    if scores is not None and len(classes) == 2:
        best = _best_threshold(table, classes[1], is_second, scores, weights)
    return CostReport(
        tuple(tuple(row) for row in table.tolist()),
        total / weight,
        total,
        float(always[cheapest]),
        classes[cheapest],
        best,
    )


def _best_threshold(
    table: Floats, positive: str, is_second: npt.NDArray[np.bool_], scores: Floats, weights: Floats
) -> BestThreshold:
    """Try every score as the threshold; cases at or above it are predicted as the second class, others as the first."""
    values, group = np.unique(scores, return_inverse=True)
    actual = is_second.astype(np.intp)
    costs_first = np.bincount(group, weights * table[actual, 0], len(values))
    costs_second = np.bincount(group, weights * table[actual, 1], len(values))
    # Index i: scores from values[i] on are predicted as the second class; the last index: none is.
    below = np.concatenate(([0.0], np.cumsum(costs_first)))
    above = np.concatenate((np.cumsum(costs_second[::-1])[::-1], [0.0]))
    costs = (below + above) / weights.sum()
    index = len(costs) - 1 - int(np.argmin(costs[::-1]))  # of equal costs the highest threshold
    fair = fair_threshold(table)
    fair_cost = None if fair is None else float(costs[int(np.searchsorted(values, fair))])
    return BestThreshold(
        positive, None if index == len(values) else float(values[index]), float(costs[index]), fair, fair_cost
    )


def fair_threshold(table: Floats) -> float | None:
    """Return the best threshold for true probabilities; None if an error costs no more than a correct prediction.

    Examples
    --------
    >>> round(fair_threshold(np.array([[0.0, 5.0], [1.0, 0.0]])), 3), fair_threshold(np.zeros((2, 2)))
    (0.833, None)
    """
    false_second = float(table[0, 1] - table[0, 0])
    false_first = float(table[1, 0] - table[1, 1])
    if false_second <= 0 or false_first <= 0:
        return None
    return false_second / (false_second + false_first)


Codes = npt.NDArray[np.intp]

LARGEST_MATRIX = 12
"""With more classes the most frequent confusions are listed instead of the matrix."""

LISTED = 40
"""Most classes or confusions in a table; plain data have all of them."""


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
    """The measures of predicted classes; the module's docstring defines them.

    Parameters
    ----------
    classes : tuple of str
    tested : int
        Cases of positive weight.
    confusion : array
    accuracy, low, high : float
        With Wilson's interval of 95 %; for unequal weights that of the effective number of cases.
    balanced_accuracy : float
        Mean recall of the classes that occur.
    baseline : float
    baseline_class : str
    per_class : tuple of ClassScore
    macro, weighted : ClassScore
    probabilities : ProbabilityReport or None
    cost : CostReport or None
    warnings : tuple of str
        Numbers that may mislead.
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
        """True if the whole interval lies above the baseline."""
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
        """Return the sentences above the tables."""
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
        """Return the confusion matrix and the table of classes."""
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
    actual, labels_predicted = _labels(truth, "truth"), _labels(predicted, "predicted")
    labels = _sorted_labels({*actual, *labels_predicted}) if classes is None else _labels(classes, "classes")
    if len(set(labels)) < len(labels) or len({str(label) for label in labels}) < len(labels):
        raise ParameterError(f"classes must differ from each other, as they do not in {quoted_list(map(str, labels))}")
    codes = {label: code for code, label in enumerate(labels)}
    return report_of_codes(
        _codes(actual, codes, "truth"),
        _codes(labels_predicted, codes, "predicted"),
        probabilities,
        tuple(str(label) for label in labels),
        weights,
        costs,
    )


def report_of_codes(
    actual: Codes,
    predicted: Codes,
    probabilities: Any,
    classes: tuple[str, ...],
    weights: Any = None,
    costs: Any = None,
) -> ClassificationReport:
    """Report on predicted classes that are given as indices in `classes`."""
    from sklearn import metrics

    if len(actual) == 0:
        raise DataError("there are no cases to report on")
    require_length("predicted", predicted, len(actual))
    mass = checked_weights(weights, len(actual))
    shares = None if probabilities is None else checked_probabilities(probabilities, len(actual), len(classes))
    table = None if costs is None else cost_table(costs, classes)
    counted = mass > 0
    if not counted.all():
        actual, predicted, mass = actual[counted], predicted[counted], mass[counted]
        shares = None if shares is None else shares[counted]

    confusion = np.full((1, 1), mass.sum())
    if len(classes) > 1:
        codes = np.arange(len(classes))
        confusion = metrics.confusion_matrix(actual, predicted, labels=codes, sample_weight=mass).astype(np.float64)
    accuracy = float(metrics.accuracy_score(actual, predicted, sample_weight=mass))
    effective = effective_number(mass)
    low, high = wilson_interval(effective * accuracy, effective)
    support = confusion.sum(axis=1)
    most = int(np.argmax(support))
    per_class = _scores(metrics, actual, predicted, mass, classes)
    probable = None if shares is None else probability_report(actual, shares, mass, classes)
    cost = None
    if table is not None:
        second = shares[:, 1] if shares is not None and len(classes) == 2 else None
        cost = cost_report(table, confusion, classes, actual == 1, second, mass)
    baseline = float(support[most] / support.sum())
    sentences = class_warnings(len(actual), accuracy, low, baseline, classes[most], classes, confusion)
    if probable is not None and shares is not None:
        sentences += probability_warnings(shares, probable.log_loss, ordered=probable.auc is not None)
    if cost is not None and cost.best is not None:
        sentences.append(
            "The best threshold was chosen on these same cases: expect a slightly higher cost on new data."
        )
    return ClassificationReport(
        classes,
        len(actual),
        confusion,
        accuracy,
        low,
        high,
        float(np.mean([score.recall for score in per_class if score.support > 0])),
        baseline,
        classes[most],
        per_class,
        _average(metrics, actual, predicted, mass, "macro", float(support.sum())),
        _average(metrics, actual, predicted, mass, "weighted", float(support.sum())),
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
    for row, label in enumerate(labels):
        if label is None or (isinstance(label, float) and isnan(label)):
            raise DataError(f"{what}: the label of case {row + 1:,} is missing")
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
    metrics: Any, actual: Codes, predicted: Codes, weights: Floats, classes: tuple[str, ...]
) -> tuple[ClassScore, ...]:
    measured = metrics.precision_recall_fscore_support(
        actual, predicted, labels=np.arange(len(classes)), sample_weight=weights, zero_division=0
    )
    return tuple(
        ClassScore(label, float(precision), float(recall), float(f), plain(support))
        for label, precision, recall, f, support in zip(classes, *measured, strict=True)
    )


def _average(
    metrics: Any, actual: Codes, predicted: Codes, weights: Floats, average: str, support: float
) -> ClassScore:
    precision, recall, f, _ = metrics.precision_recall_fscore_support(
        actual, predicted, average=average, sample_weight=weights, zero_division=0
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
    cells = [(int(index) // len(names), int(index) % len(names)) for index in order]
    body = [
        [names[actual], names[predicted], f"{plain(round(wrong[actual, predicted], 2)):,}"]
        for actual, predicted in cells
        if wrong[actual, predicted]
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
