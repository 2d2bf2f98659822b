"""treewright compare: several algorithms on the same folds, and whether their differences are significant."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import click

from treewright.cli.help import Name, Verb, option
from treewright.cli.learners import learner_for
from treewright.cli.options import (
    FILE,
    fold_column_option,
    folds_from_column,
    folds_from_file,
    jobs_option,
    json_option,
    reading_options,
    schema_options,
    seed_option,
)
from treewright.cli.output import (
    data_line,
    is_terminal,
    progress_bar,
    reading,
    require_writable,
    warnings_as_notes,
    write_json,
)
from treewright.errors import ParameterError
from treewright.wording import did_you_mean

if TYPE_CHECKING:
    from treewright.data.dataset import Dataset
    from treewright.data.infer import Overrides
    from treewright.data.schema import Schema
    from treewright.evaluation.compare import Comparison, ManyComparison
    from treewright.fitting.algorithms import Learner


class AlgorithmNames(Name):
    """Names of algorithms, separated by commas."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the names."""
        if isinstance(value, tuple):
            return value
        known = self.names()
        names = tuple(name.strip().lower() for name in value.split(",") if name.strip())
        for name in names:
            if name not in known:
                hint = did_you_mean(name, known) or f"; there are {', '.join(known)}"
                raise ParameterError(f"--algorithms: there is no algorithm {name!r}{hint}")
            if names.count(name) > 1:
                raise ParameterError(f"--algorithms: {name} is named twice")
        if len(names) < 2:
            raise ParameterError("--algorithms: name two or more, such as id3,c45,cart")
        return names


def _names() -> tuple[str, ...]:
    """Return all algorithms, also C4.5 and CART as the original programs compute them."""
    from treewright.fitting.algorithms import algorithm_names

    return algorithm_names()


def _defaults(*, numeric: bool) -> tuple[str, ...]:
    """Return what is compared where nothing is named."""
    from treewright.data.schema import Task
    from treewright.fitting.algorithms import algorithms

    task = Task.REGRESSION if numeric else Task.CLASSIFICATION
    return tuple(
        one.key for one in algorithms(variants=False) if one.compared and task in one.learner().abilities.tasks
    )


@click.command(
    "compare",
    cls=Verb,
    examples=(
        "treewright compare sample:restaurant --folds 3",
        "treewright compare weather.csv --target play --algorithms c45,cart,forest",
        "treewright compare sample:restaurant sample:contact-lenses --folds 3",
    ),
)
@click.argument("sources", metavar="FILE...", nargs=-1, required=True, type=FILE)
@option(
    "data",
    "-t",
    "--target",
    "targets",
    multiple=True,
    metavar="COL",
    help="Column to predict; once for all FILEs or once for each.",
)
@option("data", "--target-last", is_flag=True, help="Predict the last column of each FILE.")
@option(
    "tree",
    "-a",
    "--algorithms",
    metavar="A,B,...",
    type=AlgorithmNames(_names),
    default_text=lambda: f"{','.join(_defaults(numeric=False))}; regression {','.join(_defaults(numeric=True))}",
    help="Two or more algorithms.",
)
@option("evaluation", "--folds", type=click.IntRange(min=2), metavar="K", default_text="10", help="Number of folds.")
@option(
    "evaluation",
    "--repeats",
    type=click.IntRange(min=1),
    metavar="R",
    default=1,
    show_default=True,
    help="Repetitions with other folds.",
)
@option(
    "evaluation",
    "--folds-file",
    "folds_files",
    multiple=True,
    metavar="FILE",
    type=FILE,
    help="Fold of each row: one per line, or columns row and fold; once for each FILE.",
)
@fold_column_option
@seed_option("the folds")
@jobs_option
@option(
    "output", "--plot", metavar="FILE", type=FILE, help="File for the critical-difference diagram of several FILEs."
)
@partial(schema_options, several=True)
@reading_options
@json_option
def command(
    sources: tuple[str, ...],
    *,
    targets: tuple[str, ...],
    target_last: bool,
    algorithms: tuple[str, ...] | None,
    folds: int | None,
    repeats: int,
    folds_files: tuple[str, ...],
    fold_column: str | None,
    seed: int,
    jobs: int | None,
    plot: str | None,
    overrides: Overrides,
    schemas: list[Schema | None],
    how: dict[str, Any],
    as_json: bool,
) -> None:
    """Compare algorithms on FILE by cross-validation, with tests of significance.

    Several FILEs also give average ranks and a critical-difference diagram.
    """
    from treewright.evaluation.compare import compare_over

    chosen = algorithms
    names = _table_names(sources)
    _require_plot(plot, sources)
    _require_one_way(folds, repeats, folds_files, fold_column)
    if target_last and targets:
        raise click.UsageError("--target and --target-last both name the target; give one of them")
    targets_of = _for_each(targets, sources, "--target")
    schema_of = _for_each(schemas, sources, "--schema")
    folds_of = _for_each(folds_files, sources, "--folds-file", shared=False)
    results: dict[str, Comparison] = {}
    with warnings_as_notes():
        tables = {
            name: _read(source, target, schema, overrides, how, chosen, last=target_last)
            for (name, source), target, schema in zip(names.items(), targets_of, schema_of, strict=True)
        }
        plans = _plans(tables, chosen, seed)
        given = {}
        for (name, data), path in zip(list(tables.items()), folds_of, strict=True):
            _require_folds(data, folds)
            if path is not None:
                given[name] = folds_from_file(path, data.n_rows)
            elif fold_column is not None:
                tables[name], given[name] = folds_from_column(data, fold_column)
        for name, data in tables.items():
            results[name] = _compared(name, data, plans, folds, repeats, seed, given.get(name), jobs)
            if not as_json:
                click.echo(f"{data_line(_called(data, name, len(tables)))}\n{results[name]}\n")
    many = compare_over(results) if len(results) > 1 else None
    if plot is not None and many is not None:
        from treewright.drawing.figure import save_figure
        from treewright.drawing.plot_compare import critical_difference_figure

        save_figure(critical_difference_figure(many), plot)
    if as_json:
        write_json(_as_json(results, many, plot))
    elif many is not None:
        _print(many, plot)


def _called(data: Dataset, name: str, tables: int) -> Dataset:
    """Return the data under the name that the tables have here, where their files do not tell them apart."""
    from dataclasses import replace

    own = PurePath(data.source or "").name
    return data if tables == 1 or own.startswith(name) else replace(data, source=name)


def _for_each(values: Sequence[Any], sources: Sequence[str], option: str, *, shared: bool = True) -> list[Any]:
    """Return a value for each file: the one given, or each its own."""
    if not values:
        return [None] * len(sources)
    if shared and len(values) == 1:
        return [values[0]] * len(sources)
    if len(values) != len(sources):
        once = "once, or " if shared else ""
        raise click.UsageError(
            f"{option} is given {len(values)} times for {many_files(len(sources))}: give it {once}once for each FILE"
        )
    return list(values)


def many_files(n: int) -> str:
    """Print a number of files."""
    return "1 FILE" if n == 1 else f"{n} FILEs"


def _require_one_way(folds: int | None, repeats: int, folds_files: tuple[str, ...], fold_column: str | None) -> None:
    given = [name for name, value in (("--folds-file", folds_files), ("--fold-column", fold_column)) if value]
    dealt = [name for name, value in (("--folds", folds), ("--repeats", repeats > 1)) if value]
    if len(given) + bool(dealt and given) > 1:
        raise click.UsageError(f"{' and '.join(given + dealt)} are alternative ways to split the cases; give one")


def _table_names(sources: tuple[str, ...]) -> dict[str, str]:
    """Return short names of the files; where these are the same, those of their folders, or else whole paths."""
    paths = [PurePath(source.removeprefix("sample:")) for source in sources]
    short = [PurePath(path.name.removesuffix(".gz")).stem or path.name for path in paths]
    folders = [path.parent.name for path in paths]
    names = []
    for index, one in enumerate(short):
        same = [folders[other] for other, name in enumerate(short) if name == one]
        named_by_folder = all(same) and len(set(same)) == len(same) and not set(same) & set(short)
        names.append(one if len(same) == 1 else folders[index] if named_by_folder else sources[index])
    for name in names:
        if names.count(name) > 1:
            raise click.UsageError(f"{name} is named twice; every table counts once")
    return dict(zip(names, sources, strict=True))


def _require_plot(plot: str | None, sources: tuple[str, ...]) -> None:
    """Raise before the work begins if its picture could not be drawn."""
    if plot is None:
        return
    from treewright.drawing.figure import SUFFIXES
    from treewright.lazy_import import import_extra

    if len(sources) < 2:
        raise click.UsageError("--plot draws ranks over several files; there is one")
    if os.path.splitext(plot)[1].lower() not in SUFFIXES:
        raise click.UsageError(f"--plot: a figure is saved as {', '.join(SUFFIXES)}, not {plot!r}")
    require_writable(plot, *sources)
    import_extra("matplotlib", "plots", "draw a figure")


def _read(
    source: str,
    target: str | None,
    schema: Schema | None,
    overrides: Overrides,
    how: dict[str, Any],
    chosen: tuple[str, ...] | None,
    *,
    last: bool,
) -> Dataset:
    from treewright.data.read import read, require_rows

    # One table for all: whole numbers are nominal only if every algorithm would propose it.
    limit = min(learner_for(name, {}).tree.learner.nominal_limit for name in chosen or _defaults(numeric=False))
    with reading(source):
        if last and schema is None:
            target = _last_column(source, overrides, how)
        data = read(source, target, schema, overrides=overrides, nominal_limit=limit, **how)
    require_rows(data)
    if data.target is None:
        columns = ", ".join(column.name for column in data.schema.columns)
        raise click.UsageError(f"{source}: name the column to predict: --target COL, one of: {columns}")
    return data


def _last_column(source: str, overrides: Overrides, how: dict[str, Any]) -> str:
    from treewright.data.read import read_raw
    from treewright.errors import DataError

    if source == "-":
        raise click.UsageError("standard input is read once: name its target by --target")
    names = list(read_raw(source, missing=overrides.markers, **how).columns)
    left = [name for name in names if name not in overrides.ignore and name != overrides.weight]
    if not left:
        raise DataError("has no column to predict", source=source)
    return left[-1]


def _plans(tables: dict[str, Dataset], chosen: tuple[str, ...] | None, seed: int) -> dict[str, Learner]:
    """Make the plans, the same for all tables; some predict classes only."""
    from treewright.data.schema import Task

    numeric = [data for data in tables.values() if data.schema.task is Task.REGRESSION]
    learners = {name: learner_for(name, {}, seed) for name in chosen or _defaults(numeric=bool(numeric))}
    for name, learner in learners.items():
        if numeric and Task.REGRESSION not in learner.abilities.tasks:
            raise click.UsageError(
                f"{numeric[0].source}: column {numeric[0].schema.target!r} is numeric, but {name} predicts classes: "
                "compare cart and chaid, or use --task classification if its values are classes"
            )
    return learners


def _require_folds(data: Dataset, folds: int | None) -> None:
    from treewright.errors import DataError

    if data.n_rows < 2:
        raise DataError("there is only one row; folds need at least two", source=data.source)
    if folds is not None and folds > data.n_rows:
        raise click.BadParameter(
            f"{folds} is more than the {data.n_rows:,} rows of {data.source}", param_hint="--folds"
        )


def _compared(
    name: str,
    data: Dataset,
    plans: dict[str, Learner],
    folds: int | None,
    repeats: int,
    seed: int,
    given: Any,
    jobs: int | None,
) -> Comparison:
    from treewright.evaluation.compare import compare
    from treewright.wording import printable

    chosen = min(10, data.n_rows) if folds is None else folds
    with progress_bar(f"comparing on {printable(name, 30)}") as bar:
        return compare(data, plans, chosen, repeats, seed, given, bar, n_jobs=jobs)


def _print(many: ManyComparison, plot: str | None) -> None:
    from treewright.drawing.plot_compare import critical_difference_text
    from treewright.drawing.text_plot import can_draw_braille

    lines = can_draw_braille(getattr(sys.stdout, "encoding", None))
    width = shutil.get_terminal_size((80, 24)).columns if is_terminal(sys.stdout) else 80
    click.echo(f"{many}\n\n{critical_difference_text(many, max(40, min(width, 100)), lines=lines)}")
    if plot is not None:
        click.echo(f"\nDiagram written to {plot}")


def _as_json(results: dict[str, Comparison], many: ManyComparison | None, plot: str | None) -> dict[str, Any]:
    if many is None:
        return next(iter(results.values())).to_dict()
    tables = {name: result.to_dict() for name, result in results.items()}
    return {"tables": tables, "over_tables": many.to_dict(), "plot": plot}
