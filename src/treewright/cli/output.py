"""What is printed: results on standard output, notes and progress on standard error."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

import click

if TYPE_CHECKING:
    from treewright.data.dataset import Dataset
    from treewright.data.schema import Schema
    from treewright.evaluation.cross_validation import AccuracyEstimate, ErrorEstimate
    from treewright.tree.forest import Forest
    from treewright.tree.tree import Tree

PATIENCE = 0.5
"""Seconds before a progress bar appears."""

LARGE_FILE = 5_000_000
"""A larger file (bytes) takes long enough to read that a progress bar is shown."""


def note(text: str) -> None:
    """Print one line beside the result."""
    from treewright.wording import printable

    click.echo(printable(text), err=True)


def write_json(data: Any) -> None:
    """Print a result as JSON."""
    click.echo(json_text(data))


def json_text(data: Any) -> str:
    """Return the text of a result as JSON."""
    return json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False)


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Print warnings about the data as one line each, without Python's decoration."""
    from treewright.errors import DataWarning

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        yield
    for message in dict.fromkeys(str(warning.message) for warning in caught):  # folds repeat the warning of the whole
        note(f"note: {message}")


def is_terminal(stream: TextIO | None) -> bool:
    """Return True if the stream is a terminal; a stream that was closed (``>&-``) is None."""
    return stream is not None and stream.isatty()


def require_writable(path: str, *inputs: str) -> None:
    """Raise before the work begins if its result could not be written there, or would replace its own input."""
    from treewright.errors import TreewrightError

    folder = os.path.dirname(os.path.realpath(path))
    if not path or os.path.isdir(path):
        raise TreewrightError(f"{path or 'an empty name'} is no file; name a file to write")
    if not os.path.isdir(folder):
        raise TreewrightError(f"{path}: there is no folder {os.path.dirname(path)!r} to write to")
    if os.path.exists(path) and not os.path.isfile(path):
        raise TreewrightError(f"{path}: is not a regular file; nothing can be written there in one piece")
    if not os.access(folder, os.W_OK):
        raise TreewrightError(f"{path}: the folder may not be written to (permission denied)")
    for source in inputs:
        if os.path.exists(source) and os.path.exists(path) and os.path.samefile(source, path):
            raise TreewrightError(f"{path}: would be replaced by the result; name another file to write")


@contextmanager
def reading(source: str) -> Iterator[None]:
    """Show on a terminal that a large file is being read; refuse what only `train` reads, a database or many files."""
    _require_file(source)
    if not is_terminal(sys.stderr) or not os.path.isfile(source) or os.path.getsize(source) < LARGE_FILE:
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        bar.add_task("reading", total=None)
        yield


def _require_file(source: str) -> None:
    from treewright.data.table_address import is_address, without_secrets
    from treewright.errors import DataError

    if is_address(source):
        verb = click.get_current_context().info_name
        other = "the SELECT for it: predict --in-database" if verb == "predict" else "only train reads it"
        message = f"{verb} reads a file, and this is a database or a pattern of files; {other}"
        raise DataError(message, source=without_secrets(source))


@contextmanager
def progress_bar(description: str) -> Iterator[Callable[[int, int], None]]:
    """Show on standard error how far the work is, only on a terminal and only for work that takes a while."""
    start = time.monotonic()
    bar: Any = None

    def show(done: int, total: int) -> None:
        nonlocal bar
        if bar is None:
            if not is_terminal(sys.stderr) or time.monotonic() - start < PATIENCE:
                return
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            bar = Progress(*columns, console=Console(stderr=True), transient=True)
            bar.add_task(description, total=total)
            bar.start()
        bar.update(bar.task_ids[0], completed=done, total=total)

    try:
        yield show
    finally:
        if bar is not None:
            bar.stop()


@contextmanager
def compilation_shown(compiles: bool) -> Iterator[Callable[[], None]]:
    """Show on a terminal how many functions are compiled, until the function that is yielded is called."""
    if not compiles or not is_terminal(sys.stderr):
        yield lambda: None
        return
    from numba.core import event
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("compiling, once: {task.completed} functions"), TimeElapsedColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)

    stop = bar.stop

    class Counter(event.Listener):  # type: ignore[misc]
        def on_start(self, _: Any) -> None:
            """Functions that others call are compiled within these."""

        def on_end(self, _: Any) -> None:
            bar.advance(task)

    task = bar.add_task("compiling", total=None)
    bar.start()
    try:
        with event.install_listener("numba:compile", Counter()):
            yield stop
    finally:
        stop()


def percent(share: float) -> str:
    """Print a share as a whole percentage, never rounding to a certainty that is not there.

    Examples
    --------
    >>> percent(0.643), percent(0.999), percent(1.0), percent(0.001)
    ('64 %', '99.9 %', '100 %', '0.1 %')
    """
    if 0 < share < 0.01 or 0.99 < share < 1:
        shown = f"{100 * share:.1f}"
        return "> 99.9 %" if shown == "100.0" else "< 0.1 %" if shown == "0.0" else f"{shown} %"
    return f"{100 * share:.0f} %"


def data_line(data: Dataset) -> str:
    """Describe a dataset in one line."""
    from pathlib import PurePath

    import numpy as np

    from treewright.data.schema import Task
    from treewright.wording import printable

    line = table_line(data.schema, data.n_rows, PurePath(data.source).name if data.source else None)
    if data.target is None or data.schema.target is None:
        return line
    target = printable(data.schema.target)
    if data.schema.task is Task.REGRESSION:
        low, mean, high = data.target.min(), data.target.mean(), data.target.max()
        return f"{line}, target {target}: mean {mean:.6g}, from {low:.6g} to {high:.6g}"
    counts = np.bincount(data.target, minlength=len(data.schema.classes)).tolist()
    sizes = [f"{printable(name, 30)} {count:,}" for name, count in zip(data.schema.classes, counts, strict=True)]
    shown = ", ".join(sizes[:8]) + (f" and {len(sizes) - 8} more" if len(sizes) > 8 else "")
    return f"{line}, target {target}: {shown}"


def table_line(schema: Schema, n_rows: int, name: str | None) -> str:
    """Describe a table in one line: its name, rows and kinds of attributes."""
    from treewright.wording import printable

    kinds = [str(column.kind) for column in schema.attributes]
    parts = [f"{kinds.count(kind)} {kind}" for kind in ("nominal", "ordinal", "numeric") if kind in kinds]
    attributes = "attribute" if len(kinds) == 1 else "attributes"
    return f"{printable(name or 'data')}   {plural(n_rows, 'row')}, {' + '.join(parts) or 'no'} {attributes}"


def size_line(tree: Tree) -> str:
    """Describe the size of a tree."""
    return f"{plural(tree.n_nodes, 'node')}, {plural(tree.n_leaves, 'leaf', 'leaves')}, depth {tree.depth}."


def plural(n: int, one: str, several: str = "") -> str:
    """Print a number of things.

    Examples
    --------
    >>> plural(1, "row"), plural(2000, "row"), plural(2, "leaf", "leaves")
    ('1 row', '2,000 rows', '2 leaves')
    """
    return f"{n:,} {one if n == 1 else several or one + 's'}"


def estimate_line(estimate: AccuracyEstimate | ErrorEstimate, folds: int, name: str | None = None) -> str:
    """Describe the estimate, and whether it beats the baseline."""
    from treewright.evaluation.cross_validation import ErrorEstimate
    from treewright.wording import printable

    by_folds = f"{folds}-fold estimate" if estimate.folds == folds else f"Hold-out of {estimate.tested:,} rows"
    name = name or by_folds
    if isinstance(estimate, ErrorEstimate):
        return (
            f"{name} of the root mean squared error {estimate.rmse:.4g}; always the mean gives "
            f"{estimate.baseline_rmse:.4g} ({percent(max(estimate.r2, 0.0))} of the variance explained)."
        )
    line = (
        f"{name} {percent(estimate.accuracy)} ({percent(estimate.low)} to {percent(estimate.high)}); "
        f'always "{printable(estimate.baseline_class, 30)}" gives {percent(estimate.baseline)}'
    )
    if estimate.low > estimate.baseline:
        return f"{line}."
    why = "too few rows to trust" if estimate.tested < 50 else "not significantly better than the baseline"
    return f"{line}: {why}."


FIRST_ROUNDS = 10
"""Rounds of boosting that are printed from the beginning."""


def forest_text(forest: Forest) -> str:
    """Describe a forest: its size, the importance of attributes, the error against the number of trees."""
    from treewright.drawing.plot_curves import errors_text, importance_text
    from treewright.drawing.text_plot import can_draw_braille

    width = min(shutil.get_terminal_size((72, 24)).columns if is_terminal(sys.stdout) else 72, 100)
    fine = can_draw_braille(getattr(sys.stdout, "encoding", None))
    parts = [size_of_forest(forest)]
    if "alpha" in forest.log:
        parts.append(rounds_text(forest))
    if forest.schema.attributes:
        parts.append(
            "importance (share of the decrease of impurity)\n" + importance_text(forest, width=width, blocks=fine)
        )
    curve = errors_text(forest, width=width, braille=fine) if forest.n_trees > 1 else ""
    return "\n\n".join([*parts, *([curve] if curve else [])])


def size_of_forest(forest: Forest) -> str:
    """Describe the number and size of the trees."""
    wanted = forest.recipe.get("trees")
    of = f" of {wanted:,}" if isinstance(wanted, int) and wanted != forest.n_trees else ""
    leaves = int(forest.packed.leaf_starts[-1])
    nodes = plural(forest.packed.n_nodes, "node")
    return f"{plural(forest.n_trees, 'tree')}{of}, {nodes}, {plural(leaves, 'leaf', 'leaves')}."


def rounds_text(forest: Forest) -> str:
    """Return the rounds of boosting, of many the first and the last."""
    lines = ["round     error     alpha  resets"]
    numbers = list(range(forest.n_trees))
    shown = numbers if len(numbers) <= FIRST_ROUNDS + 2 else [*numbers[:FIRST_ROUNDS], numbers[-1]]
    for number in shown:
        if number == numbers[-1] and len(shown) < len(numbers):
            lines.append("  ...")
        error, alpha, resets = (forest.log[name][number] for name in ("error", "alpha", "resets"))
        lines.append(f"{number + 1:>5}  {error:>8.4f}  {alpha:>8.4f}  {int(resets):>6}")
    return "\n".join(lines)


def forest_summary(forest: Forest) -> dict[str, Any]:
    """Return the same as plain data."""
    from treewright.explain.attribute import forest_importance

    shares = forest_importance(forest, str(forest.recipe.get("criterion"))).tolist()
    return {
        "trees": forest.n_trees,
        "wanted": forest.recipe.get("trees"),
        "nodes": forest.packed.n_nodes,
        "leaves": int(forest.packed.leaf_starts[-1]),
        "importance": dict(zip((column.name for column in forest.schema.attributes), shares, strict=True)),
        "log": {name: list(numbers) for name, numbers in forest.log.items()},
    }


def save_forest_plot(forest: Forest, path: str) -> None:
    """Draw the error against the number of trees into a file."""
    from treewright.drawing.figure import save_figure
    from treewright.drawing.plot_curves import plot_errors

    save_figure(plot_errors(forest), path)
