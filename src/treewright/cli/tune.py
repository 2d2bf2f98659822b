"""treewright tune: choose the options of an algorithm by nested cross-validation, and save the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import click

from treewright.cli.help import Page, Section, Verb, option
from treewright.cli.learners import algorithm_options
from treewright.cli.options import (
    FILE,
    json_option,
    model_options,
    read_cases,
    reading_options,
    schema_options,
    seed_option,
    target_option,
)
from treewright.cli.output import (
    data_line,
    plural,
    progress_bar,
    require_writable,
    size_line,
    warnings_as_notes,
    write_json,
)
from treewright.cli.train import default_model_path

if TYPE_CHECKING:
    from treewright.data.infer import Overrides
    from treewright.data.schema import Schema
    from treewright.tree.model import TreeModel


def _tuned_names() -> tuple[str, ...]:
    """Return the algorithms with something to choose."""
    from treewright.fitting.algorithms import algorithms

    return tuple(one.key for one in algorithms(variants=False) if one.settings is not None)


def _settings_page(ctx: click.Context, algorithm: str) -> Page:
    """Return the settings that are tried for an algorithm."""
    from treewright.evaluation.tune import grid_for

    rows = [(str(number), name) for number, name in enumerate(grid_for(algorithm), start=1)]
    usage = f"{ctx.command_path} --algorithm {algorithm} [OPTIONS] FILE"
    return Page(usage, (), (), (Section(f"Settings that are tried for {algorithm}", rows),))


@click.command(
    "tune",
    cls=Verb,
    examples=(
        "treewright tune sample:restaurant --folds 3 --outer-folds 3",
        "treewright tune weather.csv --target play --algorithm cart --time-limit 60",
    ),
)
@click.argument("source", metavar="FILE", type=FILE)
@target_option
@algorithm_options(_tuned_names, page=_settings_page, text="List the settings that are tried and exit.")
@option(
    "evaluation",
    "--folds",
    type=click.IntRange(min=2),
    metavar="K",
    default=5,
    show_default=True,
    help="Inner folds, which choose the settings.",
)
@option(
    "evaluation",
    "--outer-folds",
    type=click.IntRange(min=0),
    metavar="K",
    default=5,
    show_default=True,
    help="Outer folds, which estimate the accuracy; 0 skips it.",
)
@option(
    "evaluation",
    "--time-limit",
    type=float,
    metavar="SECONDS",
    help="Stop after this time and list the untried settings.",
)
@model_options
@seed_option("the folds")
@schema_options
@reading_options
@json_option
def command(
    source: str,
    algorithm: str,
    *,
    target: str | None,
    folds: int,
    outer_folds: int,
    time_limit: float | None,
    output: str | None,
    no_save: bool,
    seed: int,
    overrides: Overrides,
    schema: Schema | None,
    how: dict[str, Any],
    as_json: bool,
) -> None:
    """Choose the options of an algorithm by nested cross-validation and save the best model.

    Among settings within one standard error of the best, the one with the smallest trees is chosen.
    """
    from treewright.evaluation.tune import grid_for, tune
    from treewright.fitting.learn import fit
    from treewright.tree.rules import RuleModel

    path = None if no_save else output or default_model_path(source)
    if path is not None:
        require_writable(path, source)
    default = next(iter(grid_for(algorithm).values()))
    with warnings_as_notes():
        data = read_cases(source, target, schema, overrides, how, default)
        if not as_json:
            click.echo(f"{data_line(data)}\n{default.name}\n")
        with progress_bar("choosing") as bar:
            tuned = tune(
                data, algorithm, inner=folds, outer=outer_folds, time_limit=time_limit, seed=seed, progress=bar
            )
        model = cast("TreeModel | RuleModel", fit(data, tuned.plan))  # no grid is of forests
    if path is not None:
        model.save(path)
    if as_json:
        write_json({"source": data.source, "rows": data.n_rows, **tuned.to_dict(), "model": path})
        return
    click.echo(str(tuned))
    size = f"{plural(len(model.rules), 'rule')}." if isinstance(model, RuleModel) else size_line(model.tree)
    click.echo(f"\nTrained on all cases: {size}")
    if path is not None:
        click.echo(f"Model written to {path}")
