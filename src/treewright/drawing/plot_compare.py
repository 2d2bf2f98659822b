"""The critical-difference diagram: learners by average rank, with bars over groups without significant differences.

It is Demsar's diagram of Nemenyi's test (Journal of Machine Learning Research 7, 2006, figure 1): an axis of average
ranks, the best on the left, and a thick bar under each group of learners that do not differ significantly.
"""

from __future__ import annotations

from typing import Any

from treewright.drawing.figure import COLOURS, new_figure
from treewright.errors import ParameterError
from treewright.evaluation.compare import ManyComparison
from treewright.evaluation.report import shown_names

LONGEST = 30
"""Longer names are cut."""


def critical_difference_figure(result: ManyComparison) -> Any:
    """Draw the diagram as a matplotlib figure; see `treewright.drawing.figure.save_figure`.

    Examples
    --------
    >>> from treewright.evaluation.compare import compare_over
    >>> result = compare_over({"a": {"x": 0.9, "y": 0.8}, "b": {"x": 0.7, "y": 0.6}, "c": {"x": 0.6, "y": 0.5}})
    >>> len(critical_difference_figure(result).axes)
    1
    """
    k = len(result.learners)
    left = (k + 1) // 2  # as many names on the left as on the right
    bars = len(result.groups)
    first_name = 0.5 + 0.25 * bars + 0.35
    depth = first_name + 0.45 * max(left, k - left)
    figure, axes = new_figure(7.2, 1.0 + 0.5 * depth)
    axes.set_axis_off()
    axes.plot([1, k], [0, 0], color="black", linewidth=1.2)
    for tick in range(1, k + 1):
        axes.plot([tick, tick], [0, -0.15], color="black", linewidth=1.2)
        axes.text(tick, -0.22, str(tick), ha="center", va="bottom")
    _critical_difference(axes, result)
    for index, (start, stop) in enumerate(group_spans(result)):
        y = 0.4 + 0.25 * index
        axes.plot([start - 0.03, stop + 0.03], [y, y], color=COLOURS[1], linewidth=4, solid_capstyle="butt")
    overhang = 0.06 * max(k - 1, 1) + 0.05
    names = shown_names(result.learners, LONGEST)
    for index, (name, rank) in enumerate(zip(names, result.average_ranks, strict=True)):
        on_left = index < left
        y = first_name + 0.45 * (index if on_left else k - 1 - index)
        edge = 1 - overhang if on_left else k + overhang
        axes.plot([rank, rank, edge], [0, y, y], color=COLOURS[0], linewidth=1)
        label = name.replace("$", r"\$")  # a dollar sign would begin a formula
        text = f"{label}  {rank:.2f} " if on_left else f" {rank:.2f}  {label}"
        axes.text(edge, y, text, ha="right" if on_left else "left", va="center")
    axes.set_ylim(depth, -1.5)
    return figure


def _critical_difference(axes: Any, result: ManyComparison) -> None:
    width = result.critical_difference
    stop = 1 + width
    axes.plot([1, stop], [-1, -1], color="black", linewidth=1.2)
    for end in (1, stop):
        axes.plot([end, end], [-1.1, -0.9], color="black", linewidth=1.2)
    text = f"critical difference {width:.2f} (Nemenyi, {result.alpha:.0%}, {len(result.datasets)} tables)"
    axes.text(1, -1.18, text, ha="left", va="bottom")


def group_spans(result: ManyComparison) -> list[tuple[float, float]]:
    """Return the lowest and highest average rank of each group without significant differences.

    Examples
    --------
    >>> from treewright.evaluation.compare import compare_over
    >>> group_spans(compare_over({"a": {"x": 0.9, "y": 0.8}, "b": {"x": 0.7, "y": 0.8}}))
    [(1.5, 1.5)]
    """
    rank = dict(zip(result.learners, result.average_ranks, strict=True))
    return [(min(rank[name] for name in group), max(rank[name] for name in group)) for group in result.groups]


def critical_difference_text(result: ManyComparison, width: int = 80, *, lines: bool = True) -> str:
    """Draw the diagram for a terminal: a line for each learner, a column of bars for each group.

    Parameters
    ----------
    result : ManyComparison
    width : int
    lines : bool
        With box-drawing characters; without, in plain ASCII.

    Examples
    --------
    >>> from treewright.evaluation.compare import compare_over
    >>> table = {name: {"x": 0.9, "y": 0.8, "z": 0.5} for name in "abcdefgh"}
    >>> print(critical_difference_text(compare_over(table), width=40))
    rank    1            2            3
            ├────────────┼────────────┤
    x 1.00  ●                            ┃
    y 2.00               ●               ┃ ┃
    z 3.00                            ●    ┃
            ├──────────────┤
    critical difference 1.17 (Nemenyi, 5%, 8 tables)
    """
    if width < 20:
        raise ParameterError(f"a diagram needs a width of at least 20, not {width}")
    left, dash, cross, right, beyond, dot, beam = "├─┼┤→●┃" if lines else "+-++>*|"
    k = len(result.learners)
    names = shown_names(result.learners, LONGEST)
    label = max(map(len, names)) + 5
    unit = max(2, (width - label - 4 - 2 * len(result.groups)) // (k - 1))
    inner = unit * (k - 1)

    def column_of(rank: float) -> int:
        return round((rank - 1) * unit)

    numbers = "".join(str(rank).ljust(unit) for rank in range(1, k + 1)).rstrip()
    axis = left + (dash * (unit - 1) + cross) * (k - 2) + dash * (unit - 1) + right
    rows = ["rank".ljust(label) + "  " + numbers, " " * (label + 2) + axis]
    for name, learner, rank in zip(names, result.learners, result.average_ranks, strict=True):
        point = (" " * column_of(rank) + dot).ljust(inner + 1)
        bars = " ".join(beam if learner in group else " " for group in result.groups)
        rows.append(f"{name.ljust(label - 5)} {rank:4.2f}  {point}  {bars}".rstrip())
    end_column = min(column_of(1 + result.critical_difference), inner)
    end = right if column_of(1 + result.critical_difference) <= inner else beyond
    scale = " " * (label + 2) + left + dash * (end_column - 1) + end
    caption = f"critical difference {result.critical_difference:.2f} (Nemenyi, {result.alpha:.0%}, "
    caption += f"{len(result.datasets)} tables)"
    return "\n".join([*rows, *([f"{scale} {caption}"] if len(scale) + 1 + len(caption) <= width else [scale, caption])])
