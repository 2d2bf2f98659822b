"""Plots of a report: ROC, precision-recall, reliability, confusion matrix; by matplotlib and as text.

The kind of a plot is ``roc``, ``pr``, ``calibration`` or ``confusion``. In a figure the dashed line is random guessing
or, for reliability, perfect calibration.

The canvas of a text plot is a square from 0 to 1 in both directions, in characters; ``·`` (or ``.``) is random
guessing, ``*`` the curve, and for several classes a digit for each, the most frequent first. A bar is a share from 0 to
1 in blocks of an eighth of a character, or in ``#``. Plain output is ASCII only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from treewright.drawing.figure import COLOURS, new_figure
from treewright.errors import ParameterError
from treewright.evaluation.classification import ClassificationReport
from treewright.evaluation.probabilities import ClassCurves
from treewright.evaluation.report import Floats, Report, shown_names
from treewright.wording import unknown_name

MOST_CURVES = len(COLOURS)
"""Most classes in a plot, the most frequent ones: there are no more distinguishable colours."""

MOST_NUMBERS = 20
"""Most classes of a confusion matrix with numbers."""

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
    """Draw precision against recall, in steps (a straight line between two points would be too optimistic)."""
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
        error_bars = np.array([[part.observed - part.low, part.high - part.observed] for part in curves.bins]).T
        label = f"{_label(name)} Brier {curves.brier:.3f}"
        axes.errorbar(score, seen, yerr=np.maximum(error_bars, 0.0), marker="o", markersize=4, capsize=2, label=label)
    _finish(axes, "mean predicted probability", "observed share", f"Reliability{more}", "best")
    return figure


def confusion_figure(report: Report) -> Any:
    """Draw the confusion matrix: the shade is the share of the actual class, the number its cases."""
    classes = _classification(report, "confusion")
    names = [_safe(name) for name in shown_names(classes.classes)]
    k = len(names)
    side = min(4.0 + 0.35 * k, 16.0)
    figure, axes = new_figure(side + 0.8, side)
    support = classes.confusion.sum(axis=1, keepdims=True)
    shares = classes.confusion / np.where(support > 0, support, 1.0)
    image = axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    figure.colorbar(image, ax=axes, label="share of the actual class", shrink=0.8)
    if k <= MOST_NUMBERS:
        for (row, column), weight in np.ndenumerate(classes.confusion):
            colour = "white" if shares[row, column] > 0.55 else "black"
            axes.text(column, row, f"{weight:,.6g}", ha="center", va="center", color=colour)
    axes.set_xticks(range(k), names, rotation=90 if k > 4 or max(map(len, names)) > 8 else 0)
    axes.set_yticks(range(k), names)
    axes.set_xlabel("predicted")
    axes.set_ylabel("actual")
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
    >>> from treewright.evaluation.classification import classification_report
    >>> report = classification_report("aabb", "aabb", [0.1, 0.2, 0.8, 0.4], "ab")
    >>> report_figure(report).axes[0].get_xlabel()
    'false positive rate'
    """
    if kind not in FIGURES:
        raise ParameterError(unknown_name("kind of figure", kind, FIGURES))
    return FIGURES[kind](report)


def shown_curves(report: Report, kind: str) -> tuple[list[tuple[str, ClassCurves]], str]:
    """Return the curves with their names, the most frequent class first, and a note on those left out."""
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
        raise ParameterError(f"a figure {kind!r} needs predicted classes, and these are numbers")
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


WIDTH, HEIGHT = 41, 15

_EIGHTHS = " ▏▎▍▌▋▊▉█"


def bar(share: float, width: int = 20, *, plain: bool = False) -> str:
    """Draw a share as a bar.

    Examples
    --------
    >>> bar(0.5, 4), bar(0.3, 4), bar(0.0, 4), bar(0.5, 4, plain=True)
    ('██', '█▎', '', '##')
    """
    if plain:
        return "#" * round(width * min(max(share, 0.0), 1.0))
    eighths = round(8 * width * min(max(share, 0.0), 1.0))
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def roc_text(report: Report, *, plain: bool = False) -> str:
    """Draw true against false positive rate.

    Examples
    --------
    >>> from treewright.evaluation.classification import classification_report
    >>> report = classification_report("aabb", "aabb", [0.1, 0.2, 0.8, 0.4], "ab")
    >>> print(roc_text(report).splitlines()[0])
    true positive rate
    """
    shown, more = shown_curves(report, "roc")
    lines = [(curves.fpr, curves.tpr) for _, curves in shown]
    legend = [f'"{name}" AUC {curves.auc:.3f}' for name, curves in shown]
    return _plot_text("true positive rate", "false positive rate", lines, legend, more, diagonal=True, plain=plain)


def precision_recall_text(report: Report, *, plain: bool = False) -> str:
    """Draw precision against recall, in steps."""
    shown, more = shown_curves(report, "pr")
    lines = [_steps(curves) for _, curves in shown]
    legend = [f'"{name}" average precision {curves.average_precision:.3f}' for name, curves in shown]
    return _plot_text("precision", "recall", lines, legend, more, plain=plain)


def calibration_text(report: Report, *, plain: bool = False) -> str:
    """Show the observed share of each reliability bin as a bar, and its mean predicted probability as ``|``."""
    shown, more = shown_curves(report, "calibration")
    parts = []
    for name, curves in shown:
        rows = [f'"{name}" Brier score {curves.brier:.3f}{more}', "pred.   obs."]
        for part in curves.bins:
            cells = list(f"{bar(part.observed, 30, plain=plain):<31}")
            cells[round(30 * part.mean_score)] = "|"
            rows.append(f"{part.mean_score:.3f}  {part.observed:.3f}  {''.join(cells)}".rstrip())
        parts.append("\n".join(rows))
    return "\n\n".join(parts)


def recall_bars(report: Report, *, plain: bool = False) -> str:
    """Show the recall of each class as a bar.

    Examples
    --------
    >>> from treewright.evaluation.classification import classification_report
    >>> print(recall_bars(classification_report("aabb", "aaba", classes="ab")))
    Recall
    a  100 %  ██████████████████████████████
    b   50 %  ███████████████
    """
    if not isinstance(report, ClassificationReport):
        raise ParameterError("recall needs predicted classes, and these are numbers")
    scores = [score for score in report.per_class if score.support > 0]
    name = dict(zip(report.classes, shown_names(report.classes), strict=True))
    width = max(len(name[score.label]) for score in scores)
    lines = [
        f"{name[score.label]:<{width}}  {100 * score.recall:3.0f} %  {bar(score.recall, 30, plain=plain)}".rstrip()
        for score in scores
    ]
    return "\n".join(["Recall", *lines])


PICTURES: dict[str, Callable[..., str]] = {
    "roc": roc_text,
    "pr": precision_recall_text,
    "calibration": calibration_text,
    "confusion": recall_bars,
}


def report_text_plot(report: Report, kind: str = "roc", *, plain: bool = False) -> str:
    """Draw a plot of this kind; ``confusion`` gives the recall of each class. With `plain` it is ASCII only."""
    if kind not in PICTURES:
        raise ParameterError(unknown_name("kind of picture", kind, PICTURES))
    return PICTURES[kind](report, plain=plain)


def _steps(curves: ClassCurves) -> tuple[Floats, Floats]:
    """Return precision over increasing recall, as steps: each precision extends back to the previous point."""
    recall, precision = curves.recall[::-1], curves.precision[::-1]
    return np.repeat(recall, 2)[:-1], np.concatenate((precision[:1], np.repeat(precision[1:], 2)))


def _plot_text(
    up: str,
    across: str,
    lines: Iterable[tuple[Floats, Floats]],
    legend: list[str],
    more: str,
    *,
    diagonal: bool = False,
    plain: bool = False,
) -> str:
    canvas = [[" "] * WIDTH for _ in range(HEIGHT)]
    if diagonal:
        _trace(canvas, np.array([0.0, 1.0]), np.array([0.0, 1.0]), "." if plain else "·")
    marks = "*" if len(legend) == 1 else "12345678"
    for mark, (x, y) in reversed(list(zip(marks, lines, strict=False))):  # the most frequent class is on top
        _trace(canvas, x, y, mark)
    labels = {0: "1.0", HEIGHT // 2: "0.5", HEIGHT - 1: "0.0"}
    beam, corner, dash = "|+-" if plain else "│└─"
    rows = [f"{labels.get(row_number, ''):>3} {beam}{''.join(row)}".rstrip() for row_number, row in enumerate(canvas)]
    half_width = WIDTH // 2
    axis = [
        f"    {corner}{dash * WIDTH}",
        f"    0.0{'0.5':^{WIDTH - 4}}1.0",
        f"     {across:^{2 * half_width}}".rstrip(),
    ]
    legend_lines = [f"{mark} {text}" for mark, text in zip(marks, legend, strict=False)]
    return "\n".join([f"{up}{more}", *rows, *axis, *legend_lines])


def _trace(canvas: list[list[str]], x: Floats, y: Floats, mark: str) -> None:
    """Mark every cell that a line through these points crosses."""
    for start in range(len(x) - 1):
        length = max(abs(x[start + 1] - x[start]) * WIDTH, abs(y[start + 1] - y[start]) * HEIGHT)
        for part in np.linspace(0.0, 1.0, int(length * 2) + 2).tolist():
            across = x[start] + part * (x[start + 1] - x[start])
            up = y[start] + part * (y[start + 1] - y[start])
            canvas[HEIGHT - 1 - round(up * (HEIGHT - 1))][round(across * (WIDTH - 1))] = mark
