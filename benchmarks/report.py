"""Results for people, in Markdown: tables with the recipes in neighbouring columns, and time against rows as a plot.

Every case has a table; the costs per visit and the targets come last. Beside each number of threads stands also who
knows one thread only.

All results as plain data for a file, with what is needed to read them later: versions, machine, settings.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.made_data import RECIPES
from benchmarks.results import GROWING, CaseResult, Measurement, TargetStatus, cost_table, target_statuses
from benchmarks.runner import Settings
from treewright.drawing.figure import COLOURS, new_figure
from treewright.drawing.text_plot import Series, line_plot
from treewright.errors import DataError
from treewright.version import __version__
from treewright.wording import printable

_WORDS = {True: "met", False: "missed", None: "-"}


def case_text(result: CaseResult, *, width: int = 72, braille: bool = False) -> str:
    """Return the table of a case, with a plot where the data grow."""
    size = f", {result.rows:,} rows" if result.rows and result.action not in GROWING else ""
    lines = [f"### {result.name}: {result.title}{size}", ""]
    if result.action in GROWING:
        lines += _growing_lines(result, width=width, braille=braille)
    else:
        lines += _table(_point_rows(result))
    failed = (
        f"{printable(one.competitor)} ({one.recipe}, {_threads(one.threads)}): {printable(one.failed, 300)}"
        for one in result.measurements
        if one.failed
    )
    notes = [*failed, *result.skipped]
    return "\n".join([*lines, *([""] if notes else []), *(f"- {note}" for note in notes)])


def costs_text(results: Mapping[str, CaseResult]) -> str:
    """Return the costs per visit as ratios to those of two classes, tables for each number of threads."""
    counts = sorted({threads for result in results.values() for threads in result.threads})
    parts = []
    for threads in counts:
        for words, processor in (("Time", False), ("Processor time", True)):
            table = cost_table(results, threads, processor=processor)
            if table:
                title = f"### {words} for a row in a column of a node, {_threads(threads)}"
                parts.append("\n".join([title, "", *_table(table)]))
    return "\n\n".join(parts)


def targets_text(statuses: Sequence[TargetStatus]) -> str:
    """Return the table of the targets."""
    recipes = [recipe for recipe in RECIPES if any(recipe in one.measured for one in statuses)] or ["measured"]
    rows = [["case", "threads", "target", *recipes, ""]]
    for one in statuses:
        cells = [one.measured.get(recipe, "") for recipe in recipes]
        rows.append([one.case, str(one.threads), one.wanted, *cells, _WORDS[one.met]])
    met = sum(one.met is True for one in statuses)
    measured = sum(one.met is not None for one in statuses)
    rest = len(statuses) - measured
    end = f"{met} of {measured} targets met" + (f", {rest} not measured here." if rest else ".")
    return "\n".join(["### Targets", "", *_table(rows, right=(1,)), "", end])


def growth_figure(results: Sequence[CaseResult]) -> Any:
    """Return a matplotlib figure of time against rows or columns, both logarithmic, a panel for each case."""
    across = min(2, len(results))
    down = -(-len(results) // across)
    figure, axes = new_figure(6.4 * across, 4.2 * down)
    axes.remove()  # the panels replace it
    everyone = list(dict.fromkeys(name for result in results for name in result.competitors))
    for position, result in enumerate(results, start=1):
        panel = figure.add_subplot(down, across, position)
        for label, name, recipe, (sizes, seconds) in _lines(result):
            style = "o-" if recipe == next(iter(RECIPES)) else "o--"
            panel.plot(sizes, seconds, style, color=COLOURS[everyone.index(name)], label=label)
        panel.set_title(result.title, fontsize="medium")
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_xlabel(result.action)
        panel.set_ylabel("seconds")
        panel.spines[["top", "right"]].set_visible(False)
        panel.legend(frameon=False, fontsize="small")
    return figure


_COLUMNS: tuple[tuple[str, Callable[[CaseResult, Measurement], str]], ...] = (
    ("seconds", lambda _, one: _seconds(one.seconds)),
    ("ratio", lambda here, one: "" if one.is_ours else _ratio(here.ratio(one.competitor))),
    ("added MB", lambda _, one: _megabytes(one, "added_bytes")),
    ("nodes", lambda _, one: f"{one.facts['nodes']:,}" if "nodes" in one.facts else ""),
    ("training", lambda _, one: _percent(one, "training_accuracy")),
    ("test", lambda _, one: _percent(one, "test_accuracy")),
    ("load and predict", lambda _, one: _seconds(one.facts.get("load_and_predict_seconds"), "")),
)
"""What a row of a case tells of a competitor, for each recipe; the results as JSON have more."""


def _point_rows(result: CaseResult) -> list[list[str]]:
    """Return a row for each competitor and number of threads; columns that nobody filled are left out."""
    recipes = result.recipes
    heads = ["", "threads", *(f"{head}, {recipe}" for head, _ in _COLUMNS for recipe in recipes)]
    rows = []
    for threads in result.threads or (1,):
        views = [result.at(recipe, threads) for recipe in recipes]
        for name in result.competitors:
            found = [next((one for one in view.measurements if one.competitor == name), None) for view in views]
            known = [one for one in found if one is not None]
            if known:
                row = [f"{name} {known[0].version}".strip(), str(known[0].threads)]
                for _, text in _COLUMNS:
                    row += ["" if one is None else text(view, one) for view, one in zip(views, found, strict=True)]
                rows.append(row)
    used = [at for at in range(len(heads)) if at < 2 or any(row[at] for row in rows)]
    return [[row[at] for at in used] for row in (heads, *rows)]


def _growing_lines(result: CaseResult, *, width: int, braille: bool) -> list[str]:
    points = {(one.columns if result.action == "columns" else one.rows, one.competitor) for one in result.measurements}
    lines = _lines(result)
    rows = [[result.action, "competitor", *(f"seconds, {recipe}" for recipe in result.recipes)]]
    for size, name in sorted(points, key=lambda point: (point[0], result.competitors.index(point[1]))):
        by_recipe = {
            recipe: dict(zip(*line, strict=True)).get(size) for _, other, recipe, line in lines if other == name
        }
        rows.append([f"{size:,}", name, *(_seconds(by_recipe.get(recipe)) for recipe in result.recipes)])
    series = [Series(label, sizes, seconds) for label, _, _, (sizes, seconds) in lines]
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
    only = [series[0].name] if len(series) == 1 else []  # a single line has no legend
    return [*_table(rows, right=range(len(rows[0]))), "", "```", plot, *only, "```"]


def _lines(result: CaseResult) -> list[tuple[str, str, str, tuple[list[int], list[float]]]]:
    """Return label, competitor, recipe and points of each line of growing data."""
    lines = []
    for recipe in result.recipes:
        view = result.at(recipe, max(result.threads, default=1))
        for name in view.competitors:
            slope = view.slope(name)
            label = name if len(result.recipes) == 1 else f"{name}, {recipe}"
            lines.append((label if slope is None else f"{label}, slope {slope:.2f}", name, recipe, view.line(name)))
    return lines


def _table(rows: Sequence[Sequence[str]], right: Sequence[int] | None = None) -> list[str]:
    r"""Return a table of Markdown, which is aligned for the terminal, too.

    The first row has the heads. All but the first column go to the right, unless `right` lists others.

    Examples
    --------
    >>> print("\n".join(_table([["name", "seconds"], ["a", "12"]])))
    | name | seconds |
    | ---- | ------: |
    | a    |      12 |
    """
    columns = range(len(rows[0]))
    to_right = set(columns) - {0} if right is None else set(right)
    widths = [max(3, *(len(row[at]) for row in rows)) for at in columns]
    rule = ["-" * (widths[at] - 1) + (":" if at in to_right else "-") for at in columns]
    return [
        "| "
        + " | ".join(row[at].rjust(widths[at]) if at in to_right else row[at].ljust(widths[at]) for at in columns)
        + " |"
        for row in (rows[0], rule, *rows[1:])
    ]


def _threads(threads: int) -> str:
    return f"{threads} thread" if threads == 1 else f"{threads} threads"


def _ratio(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f} x"


def _seconds(seconds: float | None, otherwise: str = "-") -> str:
    """Print three digits, whatever the size.

    Examples
    --------
    >>> _seconds(0.00123456), _seconds(1.5), _seconds(123.456), _seconds(None)
    ('0.00123', '1.5', '123', '-')
    """
    return otherwise if seconds is None else f"{seconds:.3g}" if seconds < 1000 else f"{seconds:.0f}"


def _megabytes(one: Measurement, fact: str) -> str:
    held = one.facts.get(fact)
    return "" if held is None else f"{held / 1e6:,.0f}"


def _percent(one: Measurement, fact: str) -> str:
    share = one.facts.get(fact)
    return "" if share is None else f"{100 * share:.2f} %"


FORMAT = 2
"""Raised when a field changes its meaning."""


def read_results(path: str) -> dict[str, CaseResult]:
    """Return the results that `summary` made plain and a file holds."""
    plain = json.loads(Path(path).read_text(encoding="utf-8"))
    if plain.get("format") != FORMAT:
        raise DataError(f"{path} has format {plain.get('format')} of results, and this reads format {FORMAT}")
    return {one["name"]: CaseResult.from_dict(one) for one in plain["cases"]}


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
