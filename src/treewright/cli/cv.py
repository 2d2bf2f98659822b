"""treewright cv: estimate the accuracy on unseen cases by resampling; learning and complexity curves."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Any

import click

from treewright.cli.help import option
from treewright.cli.learners import LearnerVerb, algorithm_options, learner_for, listed_names
from treewright.cli.options import (
    FILE,
    fold_column_option,
    folds_from_column,
    folds_from_file,
    jobs_option,
    json_option,
    read_cases,
    reading_options,
    schema_options,
    seed_option,
    target_option,
)
from treewright.cli.output import (
    data_line,
    is_terminal,
    note,
    progress_bar,
    require_writable,
    warnings_as_notes,
    write_json,
)
from treewright.cli.train import learner_line

if TYPE_CHECKING:
    from treewright.data.dataset import Dataset
    from treewright.data.infer import Overrides
    from treewright.data.schema import Schema
    from treewright.evaluation.curves import ComplexityCurve, LearningCurve
    from treewright.evaluation.splitters import Splitter
    from treewright.fitting.algorithms import Learner

SPLITTING = ("folds", "repeats", "groups", "folds_file", "fold_column", "leave_one_out", "holdout", "bootstrap")
"""The options that say how the cases are split."""

COMBINATIONS = ({"folds", "repeats"}, {"folds", "groups"})
"""Combinations of them that are allowed."""

CURVE_OPTIONS = {"learning": {"repeats", "holdout"}, "complexity": {"folds"}}
"""The ones that each curve accepts."""


@click.command(
    "cv",
    cls=LearnerVerb,
    examples=(
        "treewright cv weather.csv --target play",
        "treewright cv sample:restaurant --algorithm cart --folds 3 --repeats 5",
        "treewright cv weather.csv --target play --curve learning",
    ),
)
@click.argument("source", metavar="FILE", type=FILE)
@target_option
@algorithm_options(listed_names)
@option(
    "evaluation",
    "--folds",
    type=click.IntRange(min=2),
    metavar="K",
    default_text="10",
    help="Number of stratified folds.",
)
@option(
    "evaluation",
    "--repeats",
    type=click.IntRange(min=1),
    metavar="R",
    help="Repeat the cross-validation R times.",
)
@option(
    "evaluation", "--groups", metavar="COL", help="Keep cases with the same value together; not used as an attribute."
)
@option(
    "evaluation",
    "--folds-file",
    metavar="FILE",
    type=FILE,
    help="Fold of each row: one per line, or columns row and fold.",
)
@fold_column_option
@option("evaluation", "--leave-one-out", is_flag=True, default=None, help="Use each case as a test set.")
@option("evaluation", "--holdout", type=float, metavar="SHARE", help="Test once, on this share of the cases.")
@option(
    "evaluation", "--bootstrap", type=click.IntRange(min=1), metavar="N", help="Use the .632 bootstrap with N samples."
)
@option(
    "evaluation",
    "--curve",
    type=click.Choice(["learning", "complexity"]),
    help="Plot accuracy against training size, or error against leaves.",
)
@option("output", "--plot", metavar="FILE", type=FILE, help="File for the curve: .png, .svg or .pdf.")
@option("output", "--report", is_flag=True, help="Also print the confusion matrix, recall of each class, R2.")
@jobs_option
@seed_option("the folds")
@schema_options
@reading_options
@json_option
def command(
    source: str,
    algorithm: str,
    *,
    target: str | None,
    curve: str | None,
    plot: str | None,
    report: bool,
    jobs: int | None,
    seed: int,
    options: dict[str, Any],
    overrides: Overrides,
    schema: Schema | None,
    how: dict[str, Any],
    as_json: bool,
    **rest: Any,
) -> None:
    """Estimate the accuracy of an algorithm on unseen cases by cross-validation.

    Prints pooled and mean accuracy (or error) with an interval, the baseline, and the result of every fold.
    """
    splitting = {name: rest[name] for name in SPLITTING if rest[name] is not None}
    _check_together(splitting, curve, plot)
    if report and curve is not None:
        raise click.UsageError("--report does not apply to a curve")
    if plot is not None:
        _require_figure(plot, source)
    plan = learner_for(algorithm, options, seed)
    with warnings_as_notes():
        data = read_cases(source, target, schema, overrides, how, plan)
        _require_folds(data, splitting.get("folds"))
        if curve is not None:
            _curve(data, plan, curve, plot, splitting, seed, as_json=as_json)
            return
        from treewright.evaluation.resampling import estimate

        data, splitter = _splitter(data, splitting, seed)
        if not as_json:
            click.echo(f"{data_line(data)}\n{plan.name}   {learner_line(plan, data)}\n")
        with progress_bar("estimating") as bar:
            found = estimate(data, plan, splitter, bar, n_jobs=jobs)
        more = found.report(data) if report else None
    if as_json:
        write_json(found.to_dict() | ({} if more is None else {"report": more.to_dict()}))
    else:
        click.echo(str(found) if more is None else f"{found}\n\n{more}")


def _check_together(splitting: dict[str, Any], curve: str | None, plot: str | None) -> None:
    words = ", ".join(f"--{name.replace('_', '-')}" for name in splitting)
    if curve is not None:
        if not set(splitting) <= CURVE_OPTIONS[curve]:
            known = " and ".join(f"--{name}" for name in sorted(CURVE_OPTIONS[curve]))
            raise click.UsageError(f"the {curve} curve accepts {known}, not {words}")
        return
    if plot is not None:
        raise click.UsageError("--plot draws a curve: add --curve learning or --curve complexity")
    if len(splitting) > 1 and set(splitting) not in COMBINATIONS:
        raise click.UsageError(f"{words} are alternative ways to split the cases; give one of them")


def _require_figure(plot: str, source: str) -> None:
    """Raise before the work begins if the figure could not be drawn or written."""
    import os

    from treewright.drawing.figure import SUFFIXES
    from treewright.lazy_import import import_extra

    require_writable(plot, source)
    if os.path.splitext(plot)[1].lower() not in SUFFIXES:
        raise click.BadParameter(f"{plot!r} must end in {', '.join(SUFFIXES)}", param_hint="--plot")
    import_extra("matplotlib", "plots", "draw a figure")


def _require_folds(data: Dataset, folds: int | None) -> None:
    from treewright.errors import DataError

    if data.n_rows < 2:
        raise DataError("there is only one row; an estimate needs at least two", source=data.source)
    if folds is not None and folds > data.n_rows:
        raise click.BadParameter(f"{folds} is more than the number of rows, {data.n_rows:,}", param_hint="--folds")


def _splitter(data: Dataset, splitting: dict[str, Any], seed: int) -> tuple[Dataset, Splitter]:
    """Return the cases to learn from and the splitter that the options mean."""
    from treewright.evaluation.splitters import Bootstrap632, GivenFolds, Grouped, HoldOut, KFold, LeaveOneOut, Repeated

    if "folds_file" in splitting:
        return data, GivenFolds(folds_from_file(splitting["folds_file"], data.n_rows))
    if "fold_column" in splitting:
        cases, folds = folds_from_column(data, splitting["fold_column"])
        return cases, GivenFolds(folds)
    if "leave_one_out" in splitting:
        return data, LeaveOneOut()
    if "holdout" in splitting:
        return data, HoldOut(splitting["holdout"], seed)
    if "bootstrap" in splitting:
        return data, Bootstrap632(splitting["bootstrap"], seed)
    wanted = splitting.get("folds")
    if "groups" in splitting:
        return data, Grouped(_group_folds(data, splitting["groups"]) if wanted is None else wanted, splitting["groups"])
    n_folds = max(2, min(10, data.n_rows)) if wanted is None else wanted
    if "repeats" in splitting:
        return data, Repeated(n_folds, splitting["repeats"], seed)
    return data, KFold(n_folds, seed=seed)


def _group_folds(data: Dataset, column: str) -> int:
    """Return ten folds, or as many as there are groups."""
    import numpy as np

    from treewright.evaluation.splitters import attribute_index

    return max(2, min(10, len(np.unique(data.columns[attribute_index(data, column)]))))


def _curve(
    data: Dataset,
    plan: Learner,
    curve: str,
    plot: str | None,
    splitting: dict[str, Any],
    seed: int,
    *,
    as_json: bool,
) -> None:
    from treewright.drawing.figure import save_figure
    from treewright.drawing.plot_curves import plot_curve
    from treewright.evaluation.curves import complexity_curve, learning_curve

    if curve == "complexity" and plan.tree is not plan:
        raise click.UsageError(f"the complexity curve needs a single tree, not {plan.name}")
    if not as_json:
        click.echo(f"{data_line(data)}\n{plan.name}   {learner_line(plan, data)}\n")
    found: LearningCurve | ComplexityCurve
    with progress_bar("learning") as bar:
        if curve == "learning":
            share = splitting.get("holdout", 1 / 3)
            repeats = splitting.get("repeats", 5)
            found = learning_curve(data, plan, None, repeats, seed, share=share, progress=bar)
        else:
            folds = splitting.get("folds", max(2, min(10, data.n_rows)))
            found = complexity_curve(data, plan, seed, folds=folds, progress=bar)
    if plot is not None:
        save_figure(plot_curve(found), plot)
        note(f"Figure written to {plot}")
    write_json(found.to_dict()) if as_json else click.echo(f"{_plotted(found)}\n\n{found}")


def _plotted(found: LearningCurve | ComplexityCurve) -> str:
    """Return the text plot, as wide as the terminal and in characters that it has."""
    from treewright.drawing.plot_curves import curve_text
    from treewright.drawing.text_plot import can_draw_braille

    width = shutil.get_terminal_size((72, 24)).columns if is_terminal(sys.stdout) else 72
    braille = can_draw_braille(getattr(sys.stdout, "encoding", None))
    return curve_text(found, width=min(width, 100), braille=braille)
