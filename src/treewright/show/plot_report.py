"""Figures of a report: ROC, precision-recall, reliability, confusion matrix.

The kind of a figure is ``roc``, ``pr``, ``calibration`` or ``confusion``. The dashed line is random guessing or, for
reliability, perfect calibration.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from treewright._base.errors import ParameterError
from treewright._base.near_names import unknown_name
from treewright.evaluate.class_curves import ClassCurves
from treewright.evaluate.classification_report import ClassificationReport
from treewright.evaluate.result import Report, shown_names
from treewright.show.figure import COLOURS, new_figure

MOST_CURVES = len(COLOURS)
"""Of more classes only the most frequent are drawn: there are no more colours that can be told apart."""

MOST_NUMBERS = 20
"""A confusion matrix of more classes is drawn without numbers."""

_CHANCE: dict[str, Any] = {"color": "#888888", "linewidth": 1, "linestyle": "--"}


def roc_figure(report: Report) -> Any:
    """Draw true against false positive rate; ties are diagonal steps."""
    shown, more = shown_curves(report, "roc")
    figure, axes = new_figure(5.2, 4.8)
    axes.plot([0, 1], [0, 1], **_CHANCE)
    for name, curves in shown:
        axes.plot(curves.fpr, curves.tpr, label=f"{_label(name)} AUC {curves.auc:.3f}")
    _finish(axes, "false positive rate", "true positive rate", f"ROC{more}", "lower right")
    return figure


def precision_recall_figure(report: Report) -> Any:
    """Draw precision against recall, in steps (a straight line between two points would promise too much)."""
    shown, more = shown_curves(report, "pr")
    figure, axes = new_figure(5.2, 4.8)
    for name, curves in shown:
        label = f"{_label(name)} average {curves.average_precision:.3f}"
        (line,) = axes.plot(curves.recall, curves.precision, drawstyle="steps-post", label=label)
        axes.axhline(curves.prevalence, **{**_CHANCE, "color": line.get_color()})
    _finish(axes, "recall", "precision", f"Precision and recall{more} (dashed: guessing)", "best")
    return figure


def calibration_figure(report: Report) -> Any:
    """Draw the observed share of each reliability bin, with its interval, against the mean probability."""
    shown, more = shown_curves(report, "calibration")
    figure, axes = new_figure(5.2, 4.8)
    axes.plot([0, 1], [0, 1], **_CHANCE)
    for name, curves in shown:
        score = np.array([part.mean_score for part in curves.bins])
        seen = np.array([part.observed for part in curves.bins])
        reach = np.array([[part.observed - part.low, part.high - part.observed] for part in curves.bins]).T
        label = f"{_label(name)} Brier {curves.brier:.3f}"
        axes.errorbar(score, seen, yerr=np.maximum(reach, 0.0), marker="o", markersize=4, capsize=2, label=label)
    _finish(axes, "mean predicted probability", "observed share", f"Reliability{more}", "best")
    return figure


def confusion_figure(report: Report) -> Any:
    """Draw the confusion matrix: shade is the share of the true class, the number its cases."""
    classes = _classification(report, "confusion")
    names = [_safe(name) for name in shown_names(classes.classes)]
    k = len(names)
    side = min(4.0 + 0.35 * k, 16.0)
    figure, axes = new_figure(side + 0.8, side)
    support = classes.confusion.sum(axis=1, keepdims=True)
    shares = classes.confusion / np.where(support > 0, support, 1.0)
    image = axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    figure.colorbar(image, ax=axes, label="share of the true class", shrink=0.8)
    if k <= MOST_NUMBERS:
        for (row, column), weight in np.ndenumerate(classes.confusion):
            colour = "white" if shares[row, column] > 0.55 else "black"
            axes.text(column, row, f"{weight:,.6g}", ha="center", va="center", color=colour)
    axes.set_xticks(range(k), names, rotation=90 if k > 4 or max(map(len, names)) > 8 else 0)
    axes.set_yticks(range(k), names)
    axes.set_xlabel("said")
    axes.set_ylabel("truth")
    axes.set_title(f"Confusion of {classes.tested:,} cases")
    return figure


FIGURES: dict[str, Callable[[Report], Any]] = {
    "roc": roc_figure,
    "pr": precision_recall_figure,
    "calibration": calibration_figure,
    "confusion": confusion_figure,
}


def report_figure(report: Report, kind: str = "roc") -> Any:
    """Draw a figure of this kind.

    Examples
    --------
    >>> from treewright.evaluate.report import classification_report
    >>> report = classification_report("aabb", "aabb", [0.1, 0.2, 0.8, 0.4], "ab")
    >>> report_figure(report).axes[0].get_xlabel()
    'false positive rate'
    """
    if kind not in FIGURES:
        raise ParameterError(unknown_name("kind of figure", kind, FIGURES))
    return FIGURES[kind](report)


def shown_curves(report: Report, kind: str) -> tuple[list[tuple[str, ClassCurves]], str]:
    """Return the curves that can be drawn under their names, the most frequent first, and a word on those left out."""
    classes = _classification(report, kind)
    if classes.probabilities is None:
        raise ParameterError(f"a figure {kind!r} needs class probabilities, and there are none; confusion needs none")
    found = [curves for curves in classes.probabilities.curves if kind == "calibration" or curves.is_defined]
    if not found:
        raise ParameterError(f"a figure {kind!r} needs cases of two classes, and these are all of one")
    found = sorted(found, key=lambda curves: -curves.prevalence)
    more = f", {MOST_CURVES} of {len(found)} classes" if len(found) > MOST_CURVES else ""
    name = dict(zip(classes.classes, shown_names(classes.classes), strict=True))
    return [(name[curves.label], curves) for curves in found[:MOST_CURVES]], more


def _classification(report: Report, kind: str) -> ClassificationReport:
    if not isinstance(report, ClassificationReport):
        raise ParameterError(f"a figure {kind!r} is of predicted classes, and these are numbers")
    return report


def _finish(axes: Any, across: str, up: str, title: str, legend: str) -> None:
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.02, 1.02)
    axes.set_aspect("equal")
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.set_title(title)
    axes.legend(loc=legend, frameon=False, fontsize="small")


def _label(name: str) -> str:
    return f'"{_safe(name)}"'  # quoted: a label that begins with _ would not be shown


def _safe(name: str) -> str:
    """Escape what matplotlib would take for a formula."""
    return name.replace("$", r"\$")
