"""Small plots of a report for the terminal, without matplotlib.

The canvas is a square from 0 to 1 in both directions, in characters; ``·`` (or ``.``) is random guessing, ``*`` the
curve, and for several classes a digit for each, the most frequent first. A bar is a share from 0 to 1 in blocks of an
eighth of a character, or in ``#``. Plain output is ASCII only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from treewright._base.errors import ParameterError
from treewright._base.near_names import unknown_name
from treewright.evaluate.class_curves import ClassCurves
from treewright.evaluate.classification_report import ClassificationReport
from treewright.evaluate.result import Floats, Report, shown_names
from treewright.show.plot_report import shown_curves

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
    >>> from treewright.evaluate.report import classification_report
    >>> report = classification_report("aabb", "aabb", [0.1, 0.2, 0.8, 0.4], "ab")
    >>> print(roc_text(report).splitlines()[0])
    true positive rate
    """
    shown, more = shown_curves(report, "roc")
    lines = [(curves.fpr, curves.tpr) for _, curves in shown]
    legend = [f'"{name}" AUC {curves.auc:.3f}' for name, curves in shown]
    return _drawn("true positive rate", "false positive rate", lines, legend, more, diagonal=True, plain=plain)


def precision_recall_text(report: Report, *, plain: bool = False) -> str:
    """Draw precision against recall, in steps."""
    shown, more = shown_curves(report, "pr")
    lines = [_steps(curves) for _, curves in shown]
    legend = [f'"{name}" average precision {curves.average_precision:.3f}' for name, curves in shown]
    return _drawn("precision", "recall", lines, legend, more, plain=plain)


def calibration_text(report: Report, *, plain: bool = False) -> str:
    """Show for each reliability bin the observed share as a bar, and where it should end (``|``)."""
    shown, more = shown_curves(report, "calibration")
    parts = []
    for name, curves in shown:
        rows = [f'"{name}" Brier score {curves.brier:.3f}{more}', " said   seen"]
        for part in curves.bins:
            cells = list(f"{bar(part.observed, 30, plain=plain):<31}")
            cells[round(30 * part.mean_score)] = "|"
            rows.append(f"{part.mean_score:.3f}  {part.observed:.3f}  {''.join(cells)}".rstrip())
        parts.append("\n".join(rows))
    return "\n\n".join(parts)


def recall_bars(report: Report, *, plain: bool = False) -> str:
    """Show the recall of each class as a bar: where an accuracy comes from.

    Examples
    --------
    >>> from treewright.evaluate.report import classification_report
    >>> print(recall_bars(classification_report("aabb", "aaba", classes="ab")))
    Recall
    a  100 %  ██████████████████████████████
    b   50 %  ███████████████
    """
    if not isinstance(report, ClassificationReport):
        raise ParameterError("recall is of predicted classes, and these are numbers")
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
    """Draw a picture of this kind; that of the confusion is the recall of each class. Plain is ASCII alone."""
    if kind not in PICTURES:
        raise ParameterError(unknown_name("kind of picture", kind, PICTURES))
    return PICTURES[kind](report, plain=plain)


def _steps(curves: ClassCurves) -> tuple[Floats, Floats]:
    """Return precision over rising recall, as steps: the precision of a point holds back to the point before."""
    recall, precision = curves.recall[::-1], curves.precision[::-1]
    return np.repeat(recall, 2)[:-1], np.concatenate((precision[:1], np.repeat(precision[1:], 2)))


def _drawn(
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
    rows = [f"{labels.get(place, ''):>3} {beam}{''.join(row)}".rstrip() for place, row in enumerate(canvas)]
    half = WIDTH // 2
    axis = [f"    {corner}{dash * WIDTH}", f"    0.0{'0.5':^{WIDTH - 4}}1.0", f"     {across:^{2 * half}}".rstrip()]
    told = [f"{mark} {text}" for mark, text in zip(marks, legend, strict=False)]
    return "\n".join([f"{up}{more}", *rows, *axis, *told])


def _trace(canvas: list[list[str]], x: Floats, y: Floats, mark: str) -> None:
    """Mark every cell that a line through these points crosses."""
    for start in range(len(x) - 1):
        reach = max(abs(x[start + 1] - x[start]) * WIDTH, abs(y[start + 1] - y[start]) * HEIGHT)
        for part in np.linspace(0.0, 1.0, int(reach * 2) + 2).tolist():
            across = x[start] + part * (x[start + 1] - x[start])
            up = y[start] + part * (y[start + 1] - y[start])
            canvas[HEIGHT - 1 - round(up * (HEIGHT - 1))][round(across * (WIDTH - 1))] = mark
