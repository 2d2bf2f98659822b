"""treewright cv: estimate the accuracy on unseen cases by resampling; learning and complexity curves."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Any

import click

from treewright.cli.algorithm_help import LearnerVerb, algorithm_options
from treewright.cli.help import option, verb
from treewright.cli.learners import learner_for, listed_names
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
    ProgressBar,
    data_line,
    is_terminal,
    note,
    require_place,
    say,
    say_json,
    warnings_as_notes,
)
from treewright.cli.train import learner_line

if TYPE_CHECKING:
    from treewright.data.dataset import Dataset
    from treewright.data.infer import Overrides
    from treewright.data.schema import Schema
    from treewright.evaluation.cross_validation import Way
    from treewright.evaluation.curves import ComplexityCurve, LearningCurve
    from treewright.fitting.algorithms import Learner

WAYS = ("folds", "repeats", "groups", "folds_file", "fold_column", "leave_one_out", "holdout", "bootstrap")
"""The options that say how the cases are divided."""

TOGETHER = ({"folds", "repeats"}, {"folds", "groups"})
"""Those of them that go together."""

OF_CURVES = {"learning": {"repeats", "holdout"}, "complexity": {"folds"}}
"""Those that a curve knows."""


@verb(
    "cv",
    "treewright cv weather.csv --target play",
    "treewright cv sample:restaurant --algorithm cart --folds 3 --repeats 5",
    "treewright cv weather.csv --target play --curve learning",
    cls=LearnerVerb,
)
@click.argument("source", metavar="FILE", type=FILE)
@target_option
@algorithm_options(listed_names)
@option(
    "evaluation", "--folds", type=click.IntRange(min=2), metavar="K", usual="10", help="Number of stratified folds."
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
def command(source: str, algorithm: str, **rest: Any) -> None:
    """Estimate the accuracy of an algorithm on unseen cases by cross-validation.

    Prints pooled and mean accuracy (or error) with an interval, the baseline, and the result of every fold.
    """
    given = {name: rest.pop(name) for name in WAYS}
    estimate_and_tell(source, algorithm, {name: value for name, value in given.items() if value is not None}, **rest)


def estimate_and_tell(
    source: str,
    algorithm: str,
    division: dict[str, Any],
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
) -> None:
    """Read, estimate or draw, and print."""
    _check_together(division, curve, plot)
    if report and curve is not None:
        raise click.UsageError("--report does not apply to a curve")
    if plot is not None:
        _require_figure(plot, source)
    plan = learner_for(algorithm, options, seed)
    with warnings_as_notes():
        data = read_cases(source, target, schema, overrides, how, plan)
        _require_folds(data, division.get("folds"))
        if curve is not None:
            _curve(data, plan, curve, plot, division, seed, as_json=as_json)
            return
        from treewright.evaluation.resampling import estimate

        data, way = _way(data, division, seed)
        if not as_json:
            say(f"{data_line(data)}\n{plan.name}   {learner_line(plan, data)}\n")
        with ProgressBar("estimating") as bar:
            found = estimate(data, plan, way, bar, n_jobs=jobs)
        more = found.report(data) if report else None
    if as_json:
        say_json(found.to_dict() | ({} if more is None else {"report": more.to_dict()}))
    else:
        say(str(found) if more is None else f"{found}\n\n{more}")


def _check_together(division: dict[str, Any], curve: str | None, plot: str | None) -> None:
    words = ", ".join(f"--{name.replace('_', '-')}" for name in division)
    if curve is not None:
        if not set(division) <= OF_CURVES[curve]:
            known = " and ".join(f"--{name}" for name in sorted(OF_CURVES[curve]))
            raise click.UsageError(f"the {curve} curve accepts {known}, not {words}")
        return
    if plot is not None:
        raise click.UsageError("--plot draws a curve: add --curve learning or --curve complexity")
    if len(division) > 1 and set(division) not in TOGETHER:
        raise click.UsageError(f"{words} are alternative ways to split the cases; give one of them")


def _require_figure(plot: str, source: str) -> None:
    """Raise before the work begins if the figure could not be drawn or written."""
    import os

    from treewright.drawing.figure import SUFFIXES
    from treewright.lazy_import import import_extra

    require_place(plot, source)
    if os.path.splitext(plot)[1].lower() not in SUFFIXES:
        raise click.BadParameter(f"{plot!r} must end in {', '.join(SUFFIXES)}", param_hint="--plot")
    import_extra("matplotlib", "plots", "draw a figure")


def _require_folds(data: Dataset, folds: int | None) -> None:
    from treewright.errors import DataError

    if data.n_rows < 2:
        raise DataError("there is only one row; an estimate needs at least two", source=data.source)
    if folds is not None and folds > data.n_rows:
        raise click.BadParameter(f"{folds} is more than the number of rows, {data.n_rows:,}", param_hint="--folds")


def _way(data: Dataset, division: dict[str, Any], seed: int) -> tuple[Dataset, Way]:
    """Return the cases to learn from and the way to divide them that the options mean."""
    from treewright.evaluation.cross_validation import (
        Bootstrap632,
        GivenFolds,
        Grouped,
        HoldOut,
        KFold,
        LeaveOneOut,
        Repeated,
    )

    if "folds_file" in division:
        return data, GivenFolds(folds_from_file(division["folds_file"], data.n_rows))
    if "fold_column" in division:
        cases, folds = folds_from_column(data, division["fold_column"])
        return cases, GivenFolds(folds)
    if "leave_one_out" in division:
        return data, LeaveOneOut()
    if "holdout" in division:
        return data, HoldOut(division["holdout"], seed)
    if "bootstrap" in division:
        return data, Bootstrap632(division["bootstrap"], seed)
    wanted = division.get("folds")
    if "groups" in division:
        return data, Grouped(_group_folds(data, division["groups"]) if wanted is None else wanted, division["groups"])
    usual = max(2, min(10, data.n_rows)) if wanted is None else wanted
    if "repeats" in division:
        return data, Repeated(usual, division["repeats"], seed)
    return data, KFold(usual, seed=seed)


def _group_folds(data: Dataset, column: str) -> int:
    """Return ten folds, or as many as there are groups."""
    import numpy as np

    from treewright.evaluation.cross_validation import place_of

    return max(2, min(10, len(np.unique(data.columns[place_of(data, column)]))))


def _curve(
    data: Dataset,
    plan: Learner,
    curve: str,
    plot: str | None,
    division: dict[str, Any],
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
        say(f"{data_line(data)}\n{plan.name}   {learner_line(plan, data)}\n")
    found: LearningCurve | ComplexityCurve
    with ProgressBar("learning") as bar:
        if curve == "learning":
            share = division.get("holdout", 1 / 3)
            repeats = division.get("repeats", 5)
            found = learning_curve(data, plan, None, repeats, seed, share=share, progress=bar)
        else:
            folds = division.get("folds", max(2, min(10, data.n_rows)))
            found = complexity_curve(data, plan, seed, folds=folds, progress=bar)
    if plot is not None:
        save_figure(plot_curve(found), plot)
        note(f"Figure written to {plot}")
    say_json(found.to_dict()) if as_json else say(f"{_drawn(found)}\n\n{found}")


def _drawn(found: LearningCurve | ComplexityCurve) -> str:
    """Return the text plot, as wide as the terminal and in characters that it has."""
    from treewright.drawing.plot_curves import curve_text
    from treewright.drawing.text_plot import can_draw_braille

    width = shutil.get_terminal_size((72, 24)).columns if is_terminal(sys.stdout) else 72
    braille = can_draw_braille(getattr(sys.stdout, "encoding", None))
    return curve_text(found, width=min(width, 100), braille=braille)
