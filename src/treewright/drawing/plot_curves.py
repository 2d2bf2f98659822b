"""Plots of the learning curve, the complexity curve, and the error of a forest, by matplotlib and as text.

The band of the learning curve is one standard deviation over the repeats to either side. In the complexity curve a line
marks the lowest validation error, another the smallest tree within one standard error of it. The error of a forest is
plotted against the number of its trees; `importance_text` shows the importance of its attributes.
"""

from __future__ import annotations

from typing import Any

from treewright.drawing.figure import COLOURS, new_figure
from treewright.drawing.text_plot import Mark, Series, bars, line_plot
from treewright.errors import ParameterError
from treewright.evaluation.curves import ComplexityCurve, LearningCurve
from treewright.explain.attribute import forest_importance
from treewright.tree.forest import Forest

_NAMES = {
    "accuracy": "accuracy",
    "rmse": "root mean squared error",
    "errors": "share of errors",
    "squares": "mean squared error",
}


def plot_curve(curve: LearningCurve | ComplexityCurve) -> Any:
    """Return the figure of either curve."""
    return plot_learning(curve) if isinstance(curve, LearningCurve) else plot_complexity(curve)


def plot_learning(curve: LearningCurve) -> Any:
    """Return a matplotlib figure of the result against training size, with its band (needs matplotlib)."""
    figure, axes = new_figure()
    sizes = [point.size for point in curve.points]
    axes.fill_between(
        sizes,
        [point.low for point in curve.points],
        [point.high for point in curve.points],
        color=COLOURS[0],
        alpha=0.2,
        linewidth=0,
        label="one standard deviation",
    )
    axes.plot(sizes, [point.score for point in curve.points], "o-", color=COLOURS[0], label="unseen cases")
    axes.plot(sizes, [point.training for point in curve.points], "s--", color=COLOURS[1], label="training cases")
    axes.set_xlabel("training cases")
    axes.set_ylabel(_NAMES[curve.measure])
    axes.legend(frameon=False)
    return figure


def plot_complexity(curve: ComplexityCurve) -> Any:
    """Return a matplotlib figure of both errors against leaves, with the optimum marked (needs matplotlib)."""
    figure, axes = new_figure()
    leaves = [point.leaves for point in curve.points]
    axes.plot(leaves, [point.training for point in curve.points], "s--", color=COLOURS[1], label="training")
    axes.errorbar(
        leaves,
        [point.validation for point in curve.points],
        yerr=[point.standard_error for point in curve.points],
        fmt="o-",
        color=COLOURS[0],
        elinewidth=0.8,
        label=f"validation, {curve.folds} folds",
    )
    best, simplest = curve.points[curve.best], curve.points[curve.simplest]
    axes.axvline(best.leaves, color=COLOURS[2], linestyle=":", label=f"least: {_leaves(best.leaves)}")
    if curve.simplest != curve.best:
        label = f"within one standard error: {_leaves(simplest.leaves)}"
        axes.axvline(simplest.leaves, color=COLOURS[3], linestyle="-.", label=label)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel("leaves")
    axes.set_ylabel(_NAMES[curve.measure])
    axes.legend(edgecolor="none")
    return figure


def curve_text(curve: LearningCurve | ComplexityCurve, *, width: int = 72, braille: bool = False) -> str:
    """Return either curve as a small text plot.

    Examples
    --------
    >>> from treewright.evaluation.curves import LearningPoint
    >>> points = (LearningPoint(10, 0.6, 0.5, 0.7, 1.0), LearningPoint(100, 0.8, 0.75, 0.85, 1.0))
    >>> print(curve_text(LearningCurve("accuracy", 5, points), width=30).splitlines()[0])
    accuracy
    """
    marks: list[Mark] = []
    if isinstance(curve, LearningCurve):
        x: list[float] = [point.size for point in curve.points]
        lines = [
            Series("unseen cases", x, [point.score for point in curve.points]),
            Series("training cases", x, [point.training for point in curve.points]),
            Series("band, low", x, [point.low for point in curve.points]),
            Series("band, high", x, [point.high for point in curve.points]),
        ]
        label, log = "training cases", False
    else:
        x = [point.leaves for point in curve.points]
        lines = [
            Series("validation", x, [point.validation for point in curve.points]),
            Series("training", x, [point.training for point in curve.points]),
        ]
        label, log = "leaves", True
        marks = _optimum(curve)
    return line_plot(
        lines, width=width, braille=braille, log_x=log, x_label=label, y_label=_NAMES[curve.measure], marks=marks
    )


def _optimum(curve: ComplexityCurve) -> list[Mark]:
    """Return marks for the optimum and for the smallest tree within one standard error of it."""
    best, simplest = curve.points[curve.best].leaves, curve.points[curve.simplest].leaves
    marks = [Mark(best, "^", f"least validation error: {_leaves(best)}")]
    if simplest != best:
        marks.append(Mark(simplest, "'", f"within one standard error of it: {_leaves(simplest)}"))
    return marks


def _leaves(number: int) -> str:
    return "1 leaf" if number == 1 else f"{number:,} leaves"


CURVES = {
    "oob_error": "out-of-bag error",
    "training_error": "training error",
    "error": "weighted error of a tree",
}
"""Keys of a log that are plotted against the number of trees, with their labels."""


def error_curves(forest: Forest) -> list[Series]:
    """Return the errors recorded during training, against the number of trees; there may be none."""
    x = list(range(1, forest.n_trees + 1))
    return [Series(name, x, forest.log[key]) for key, name in CURVES.items() if key in forest.log]


def errors_text(forest: Forest, *, width: int = 72, braille: bool = False) -> str:
    """Return the error against the number of trees as a small text plot, empty if none was recorded.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.ensembles.plan import adaboost
    >>> from treewright.fitting.learn import fit
    >>> print(errors_text(fit(sample("restaurant"), adaboost(trees=5)), width=30).splitlines()[0])
    error
    """
    curves = error_curves(forest)
    if not curves:
        return ""
    label = "mean squared error" if forest.is_regression else "error"
    if len(curves) == 1:
        label = f"{curves[0].name} ({label})" if forest.is_regression else curves[0].name
    return line_plot(curves, width=width, braille=braille, x_label="trees", y_label=label)


def plot_errors(forest: Forest) -> Any:
    """Return a matplotlib figure of the error against the number of trees (needs matplotlib)."""
    curves = error_curves(forest)
    if not curves:
        raise ParameterError("this forest has no error for each tree: none was recorded during training")
    figure, axes = new_figure()
    for curve, style in zip(curves, ("-", "--", ":"), strict=False):
        axes.plot(curve.x, curve.y, style, label=curve.name, drawstyle="default")
    axes.set_xlabel("trees")
    axes.set_ylabel("mean squared error" if forest.is_regression else "share of errors")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)
    return figure


def importance_text(forest: Forest, *, width: int = 72, blocks: bool = False, most: int = 20) -> str:
    """Return the attributes by their share in the decrease of impurity, the most important first."""
    shares = forest_importance(forest, str(forest.recipe.get("criterion"))).tolist()
    order = sorted(range(len(shares)), key=lambda index: (-shares[index], index))
    names = [forest.schema.attributes[index].name for index in order[:most]]
    text = bars(names, [shares[index] for index in order[:most]], width=width, blocks=blocks)
    return text if len(order) <= most else f"{text}\n... and {len(order) - most} more"
