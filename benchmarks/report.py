"""Results for people: a table for each case, the targets at the end, and the time against rows as a plot.

All results as plain data for a file, with what is needed to read them later: versions, machine, settings.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from benchmarks.results import CaseResult, Measurement, TargetStatus, target_statuses
from benchmarks.runner import Settings
from treewright.drawing.figure import COLOURS, new_figure
from treewright.drawing.text_plot import Series, line_plot
from treewright.version import __version__
from treewright.wording import printable

GROWING = ("rows", "columns")
"""Actions whose result is a line, not a point."""

_WORDS = {True: "met", False: "missed", None: "-"}


def case_text(result: CaseResult, *, width: int = 72, braille: bool = False) -> str:
    """Return the table of a case, with a plot where the data grow."""
    size = f", {result.rows:,} rows" if result.rows and result.action not in GROWING else ""
    lines = [f"{result.name}: {result.title}{size}"]
    if result.action in GROWING:
        lines += _growing_lines(result, width=width, braille=braille)
    else:
        lines += _aligned(_point_rows(result))
    lines += _stored_lines(result)
    lines += [
        f"  {printable(one.competitor)}: {printable(one.failed, 300)}" for one in result.measurements if one.failed
    ]
    lines += [f"  {line}" for line in result.skipped]
    return "\n".join(lines)


def targets_text(statuses: Sequence[TargetStatus]) -> str:
    """Return the table of the targets."""
    rows = [["case", "target", "measured", ""]]
    rows += [[one.case, one.wanted, one.measured, _WORDS[one.met]] for one in statuses]
    met = sum(one.met is True for one in statuses)
    measured = sum(one.met is not None for one in statuses)
    rest = len(statuses) - measured
    end = f"{met} of {measured} targets met" + (f", {rest} not measured here." if rest else ".")
    return "\n".join([*_aligned(rows, right=()), end])


def growth_figure(results: Sequence[CaseResult]) -> Any:
    """Return a matplotlib figure of time against rows or columns, both logarithmic, a panel for each case."""
    across = min(2, len(results))
    down = -(-len(results) // across)
    figure, axes = new_figure(6.4 * across, 4.2 * down)
    axes.remove()  # the panels replace it
    everyone = list(dict.fromkeys(name for result in results for name in result.competitors))
    for position, result in enumerate(results, start=1):
        panel = figure.add_subplot(down, across, position)
        for name in result.competitors:
            sizes, seconds = result.line(name)
            slope = result.slope(name)
            label = name if slope is None else f"{name}, slope {slope:.2f}"
            panel.plot(sizes, seconds, "o-", color=COLOURS[everyone.index(name)], label=label)
        panel.set_title(result.title, fontsize="medium")
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_xlabel(result.action)
        panel.set_ylabel("seconds")
        panel.spines[["top", "right"]].set_visible(False)
        panel.legend(frameon=False, fontsize="small")
    return figure


def _point_rows(result: CaseResult) -> list[list[str]]:
    """Return a row for each competitor; columns that nobody filled are left out."""
    heads = ["", "seconds", "ratio", "added MB", "peak MB", "nodes", "training", "test"]
    rows = []
    for one in result.measurements:
        ratio = result.ratio(one.competitor)
        rows.append(
            [
                f"{one.competitor} {one.version}".strip(),
                _seconds(one.seconds),
                "" if ratio is None or one.is_ours else f"{ratio:.2f} x",
                _megabytes(one, "added_bytes"),
                _megabytes(one, "peak_bytes"),
                f"{one.facts['nodes']:,}" if "nodes" in one.facts else "",
                _percent(one, "training_accuracy"),
                _percent(one, "test_accuracy"),
            ]
        )
    used = [at for at in range(len(heads)) if at < 2 or any(row[at] for row in rows)]
    return [[row[at] for at in used] for row in (heads, *rows)]


def _growing_lines(result: CaseResult, *, width: int, braille: bool) -> list[str]:
    rows = [[result.action, "competitor", "seconds"]]
    for one in result.measurements:
        size = one.columns if result.action == "columns" else one.rows
        rows.append([f"{size:,}", one.competitor, _seconds(one.seconds)])
    series = []
    for name in result.competitors:
        sizes, seconds = result.line(name)
        slope = result.slope(name)
        suffix = "" if slope is None else f", slope {slope:.2f}"
        series.append(Series(f"{name}{suffix}", sizes, seconds))
    plot = line_plot(
        series,
        width=width,
        height=16,
        braille=braille,
        log_x=True,
        log_y=True,
        x_label=result.action,
        y_label="seconds",
    )
    only = [f"  {series[0].name}"] if len(series) == 1 else []  # a single line has no legend
    return [*_aligned(rows, right=(0, 2)), "", plot, *only]


def _stored_lines(result: CaseResult) -> list[str]:
    lines = []
    for one in result.measurements:
        if "file_bytes" in one.facts:
            lines.append(
                f"  {one.competitor}: saved in {_seconds(one.facts['save_seconds'])} s, "
                f"{one.facts['file_bytes'] / 1e6:.1f} MB; loaded and {one.facts['stored_rows']:,} rows predicted in "
                f"{_seconds(one.facts['load_and_predict_seconds'])} s"
            )
    return lines


def _aligned(rows: Sequence[Sequence[str]], right: Sequence[int] | None = None) -> list[str]:
    """Put cells under each other: all but the first column to the right, unless `right` lists others."""
    columns = range(len(rows[0]))
    to_right = set(columns) - {0} if right is None else set(right)
    widths = [max(len(row[at]) for row in rows) for at in columns]
    return [
        "  "
        + "  ".join(
            row[at].rjust(widths[at]) if at in to_right else row[at].ljust(widths[at]) for at in columns
        ).rstrip()
        for row in rows
    ]


def _seconds(seconds: float | None) -> str:
    """Print three digits, whatever the size.

    Examples
    --------
    >>> _seconds(0.00123456), _seconds(1.5), _seconds(123.456), _seconds(None)
    ('0.00123', '1.5', '123', '-')
    """
    return "-" if seconds is None else f"{seconds:.3g}" if seconds < 1000 else f"{seconds:.0f}"


def _megabytes(one: Measurement, fact: str) -> str:
    held = one.facts.get(fact)
    return "" if held is None else f"{held / 1e6:,.0f}"


def _percent(one: Measurement, fact: str) -> str:
    share = one.facts.get(fact)
    return "" if share is None else f"{100 * share:.2f} %"


FORMAT = 1
"""Raised when a field changes its meaning."""


def summary(results: Mapping[str, CaseResult], settings: Settings) -> dict[str, Any]:
    """Return everything that was measured."""
    return {
        "format": FORMAT,
        "treewright": __version__,
        "python": platform.python_version(),
        "machine": {"system": platform.system(), "processor": platform.machine(), "cpus": os.cpu_count()},
        "settings": asdict(settings),
        "cases": [result.to_dict() for result in results.values()],
        "targets": [status.to_dict() for status in target_statuses(results)],
    }
