"""The error of a forest against the number of its trees, and the importance of its attributes: text and paper."""

from __future__ import annotations

from typing import Any

from treewright._base.errors import ParameterError
from treewright.explain.importance import forest_importance
from treewright.model.forest import Forest
from treewright.show.figure import new_figure
from treewright.show.text_plot import Series, bars, line_plot

CURVES = {
    "oob_error": "out-of-bag error",
    "training_error": "training error",
    "error": "weighted error of a tree",
}
"""What a log can hold that is drawn against the number of trees."""


def error_curves(forest: Forest) -> list[Series]:
    """Return the errors that were noted while learning, against the number of trees; there may be none."""
    x = list(range(1, forest.n_trees + 1))
    return [Series(name, x, forest.log[key]) for key, name in CURVES.items() if key in forest.log]


def errors_text(forest: Forest, *, width: int = 72, braille: bool = False) -> str:
    """Return the error against the number of trees as a small text plot, empty if none was noted.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.ensemble.plan import adaboost
    >>> from treewright.learn import fit
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
        raise ParameterError("no error was noted for each tree while this forest was learned")
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
    order = sorted(range(len(shares)), key=lambda place: (-shares[place], place))
    names = [forest.schema.attributes[place].name for place in order[:most]]
    text = bars(names, [shares[place] for place in order[:most]], width=width, blocks=blocks)
    return text if len(order) <= most else f"{text}\n... and {len(order) - most} more"
