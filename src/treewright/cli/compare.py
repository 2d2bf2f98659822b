"""treewright compare: several algorithms on the same folds, and whether their differences are more than noise."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import rich_click as click

from treewright.cli.learners import ALGORITHMS, plan_for
from treewright.cli.options import FILE, json_option, reading_options, schema_options
from treewright.cli.output import (
    ProgressBar,
    data_line,
    is_terminal,
    reading,
    require_place,
    say,
    say_json,
    warnings_as_notes,
)

if TYPE_CHECKING:
    from treewright.data.dataset import Dataset
    from treewright.data.infer import Overrides
    from treewright.data.schema import Schema
    from treewright.evaluate.compare_over import ManyComparison
    from treewright.evaluate.comparison import Comparison
    from treewright.plans import Plan, RulePlan

DIALECTS = ("r8", "j48")
"""C4.5 as the original programs compute it, named like algorithms."""

NAMES = (*ALGORITHMS, *DIALECTS)

FOR_CLASSES, FOR_NUMBERS = ("c45", "cart", "chaid"), ("cart", "chaid")
"""What is compared where nothing is said."""


@click.command("compare")
@click.argument("sources", metavar="FILE...", nargs=-1, required=True, type=FILE)
@click.option("-t", "--target", metavar="COL", help="The column to predict, in all files.")
@click.option(
    "-a",
    "--algorithms",
    metavar="A,B,...",
    help=f"Two or more of {', '.join(NAMES)} (default: {','.join(FOR_CLASSES)}; for a number {','.join(FOR_NUMBERS)}).",
)
@click.option("--folds", type=click.IntRange(min=2), help="Parts of the cases (default 10, fewer with fewer cases).")
@click.option("--repeats", type=click.IntRange(min=1), default=1, show_default=True, help="Deal the cases out again.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Deals the cases out to folds.")
@click.option(
    "--plot", metavar="FILE", type=FILE, help="Critical-difference diagram of several files: PNG, SVG or PDF."
)
@schema_options
@reading_options
@json_option
def command(
    sources: tuple[str, ...],
    *,
    target: str | None,
    algorithms: str | None,
    folds: int | None,
    repeats: int,
    seed: int,
    plot: str | None,
    overrides: Overrides,
    schema: Schema | None,
    how: dict[str, Any],
    as_json: bool,
) -> None:
    """Compare algorithms on FILE by cross-validation: who wins, by how much, and beyond noise or not.

    With several FILEs, average ranks and the critical-difference diagram, too.
    """
    from treewright.evaluate.compare_over import compare_over

    chosen = None if algorithms is None else _named(algorithms)
    names = _table_names(sources)
    _require_plot(plot, sources)
    results: dict[str, Comparison] = {}
    with warnings_as_notes():
        tables = {name: _read(source, target, schema, overrides, how, chosen) for name, source in names.items()}
        plans = _plans(tables, chosen, seed)
        for data in tables.values():
            _require_folds(data, folds)
        for name, data in tables.items():
            results[name] = _compared(name, data, plans, folds, repeats, seed)
            if not as_json:
                say(f"{data_line(data)}\n{results[name]}\n")
    many = compare_over(results) if len(results) > 1 else None
    if plot is not None and many is not None:
        from treewright.show.figure import save_figure
        from treewright.show.plot_compare import critical_difference_figure

        save_figure(critical_difference_figure(many), plot)
    if as_json:
        say_json(_as_json(results, many, plot))
    elif many is not None:
        _print(many, plot)


def _named(text: str) -> tuple[str, ...]:
    from treewright._base.errors import ParameterError
    from treewright._base.near_names import did_you_mean

    names = tuple(name.strip().lower() for name in text.split(",") if name.strip())
    for name in names:
        if name not in NAMES:
            hint = did_you_mean(name, NAMES) or f"; there are {', '.join(NAMES)}"
            raise ParameterError(f"--algorithms: there is no algorithm {name!r}{hint}")
        if names.count(name) > 1:
            raise ParameterError(f"--algorithms: {name} is named twice")
    if len(names) < 2:
        raise ParameterError("--algorithms: name two or more, such as id3,c45,cart")
    return names


def _table_names(sources: tuple[str, ...]) -> dict[str, str]:
    """Return short names of the files, or their whole paths where short names are the same."""
    short = [PurePath(source.removeprefix("sample:")).name.removesuffix(".gz") for source in sources]
    short = [PurePath(name).stem or name for name in short]
    names = [one if short.count(one) == 1 else source for one, source in zip(short, sources, strict=True)]
    for name in names:
        if names.count(name) > 1:
            raise click.UsageError(f"{name} is named twice; every table counts once")
    return dict(zip(names, sources, strict=True))


def _require_plot(plot: str | None, sources: tuple[str, ...]) -> None:
    """Raise before the work begins if its picture could not be drawn."""
    if plot is None:
        return
    from treewright._base.extras import need
    from treewright.show.figure import SUFFIXES

    if len(sources) < 2:
        raise click.UsageError("--plot draws ranks over several files; there is one")
    if os.path.splitext(plot)[1].lower() not in SUFFIXES:
        raise click.UsageError(f"--plot: a figure is saved as {', '.join(SUFFIXES)}, not {plot!r}")
    require_place(plot, *sources)
    need("matplotlib", "plots", "draw a figure")


def _plan(name: str, seed: int) -> Plan | RulePlan:
    return plan_for("c45", {"dialect": name}) if name in DIALECTS else plan_for(name, {}, seed)


def _read(
    source: str,
    target: str | None,
    schema: Schema | None,
    overrides: Overrides,
    how: dict[str, Any],
    chosen: tuple[str, ...] | None,
) -> Dataset:
    from treewright.data.tables import read, require_rows

    # One table for all: whole numbers are nominal only if every algorithm would propose it.
    limit = min(_plan(name, 0).nominal_limit for name in chosen or FOR_CLASSES)
    with reading(source):
        data = read(source, target, schema, overrides=overrides, nominal_limit=limit, **how)
    require_rows(data)
    if data.target is None:
        columns = ", ".join(column.name for column in data.schema.columns)
        raise click.UsageError(f"{source}: say which column to predict: --target COL, one of: {columns}")
    return data


def _plans(tables: dict[str, Dataset], chosen: tuple[str, ...] | None, seed: int) -> dict[str, Plan | RulePlan]:
    """Make the plans, the same for all tables; some predict classes only."""
    from treewright.data.schema import Task

    numeric = [data for data in tables.values() if data.schema.task is Task.REGRESSION]
    names = chosen or (FOR_NUMBERS if numeric else FOR_CLASSES)
    for name in names:
        if numeric and name not in FOR_NUMBERS:
            raise click.UsageError(
                f"{numeric[0].source}: column {numeric[0].schema.target!r} is a number, and {name} predicts classes: "
                "compare cart and chaid, or use --task classification if its values are classes"
            )
    return {name: _plan(name, seed) for name in names}


def _require_folds(data: Dataset, folds: int | None) -> None:
    from treewright._base.errors import DataError

    if data.n_rows < 2:
        raise DataError("there is one row, and folds need two at least", source=data.source)
    if folds is not None and folds > data.n_rows:
        raise click.BadParameter(
            f"{folds} is more than the {data.n_rows:,} rows of {data.source}", param_hint="--folds"
        )


def _compared(
    name: str, data: Dataset, plans: dict[str, Plan | RulePlan], folds: int | None, repeats: int, seed: int
) -> Comparison:
    from treewright._base.printable import printable
    from treewright.evaluate.compare import compare

    chosen = min(10, data.n_rows) if folds is None else folds
    with ProgressBar(f"comparing on {printable(name, 30)}") as bar:
        return compare(data, plans, chosen, repeats, seed, progress=bar)


def _print(many: ManyComparison, plot: str | None) -> None:
    from treewright.show.plot_compare import critical_difference_text

    width = shutil.get_terminal_size((80, 24)).columns if is_terminal(sys.stdout) else 80
    say(f"{many}\n\n{critical_difference_text(many, max(40, min(width, 100)))}")
    if plot is not None:
        say(f"\nDiagram written to {plot}")


def _as_json(results: dict[str, Comparison], many: ManyComparison | None, plot: str | None) -> dict[str, Any]:
    if many is None:
        return next(iter(results.values())).to_dict()
    tables = {name: result.to_dict() for name, result in results.items()}
    return {"tables": tables, "over_tables": many.to_dict(), "plot": plot}
