"""treewright tune: choose the parameters of a learner, say honestly how good the choice is, and save the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import rich_click as click

from treewright.cli.cv import read_cases
from treewright.cli.options import FILE, json_option, reading_options, schema_options
from treewright.cli.output import (
    ProgressBar,
    data_line,
    many,
    require_place,
    say,
    say_json,
    size_line,
    warnings_as_notes,
)
from treewright.cli.train import default_model_path

if TYPE_CHECKING:
    from treewright.data.infer import Overrides
    from treewright.data.schema import Schema
    from treewright.model.model import TreeModel

TUNED = ("c45", "id3", "cart", "chaid", "cal3", "rules")
"""Algorithms with something to choose."""


@click.command("tune")
@click.argument("source", metavar="FILE", type=FILE)
@click.option("-t", "--target", metavar="COL", help="The column to predict.")
@click.option("-a", "--algorithm", type=click.Choice(TUNED), default="c45", show_default=True)
@click.option("--folds", type=click.IntRange(min=2), default=5, show_default=True, help="Folds of the choice.")
@click.option(
    "--outer-folds",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    help="Folds of the honest estimate; 0 for none.",
)
@click.option("--time-limit", type=float, metavar="SECONDS", help="Stop in time and say what was not tried.")
@click.option("-o", "--output", metavar="FILE", type=FILE, help="Where the model goes (default: NAME.model.json here).")
@click.option("--no-save", is_flag=True, help="Do not write a model.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Deals the cases out.")
@schema_options
@reading_options
@json_option
def command(source: str, algorithm: str, **rest: Any) -> None:
    """Choose the parameters of a learner by nested cross-validation and save the model of the choice.

    Of settings that do equally well, within one standard error, the one with the smallest trees is chosen.
    """
    choose_and_tell(source, algorithm, **rest)


def choose_and_tell(
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
    """Read, choose, learn, save and tell."""
    from treewright.evaluate.grids import grid_for
    from treewright.evaluate.tune import tune
    from treewright.learn import fit
    from treewright.model.rule_model import RuleModel

    path = None if no_save else output or default_model_path(source)
    if path is not None:
        require_place(path, source)
    usual = next(iter(grid_for(algorithm).values()))
    with warnings_as_notes():
        data = read_cases(source, target, schema, overrides, how, usual, algorithm)
        if not as_json:
            say(f"{data_line(data)}\n{usual.name}\n")
        with ProgressBar("choosing") as bar:
            tuned = tune(
                data, algorithm, inner=folds, outer=outer_folds, time_limit=time_limit, seed=seed, progress=bar
            )
        model = cast("TreeModel | RuleModel", fit(data, tuned.plan))  # no grid is of forests
    if path is not None:
        model.save(path)
    if as_json:
        say_json({"source": data.source, "rows": data.n_rows, **tuned.to_dict(), "model": path})
        return
    say(str(tuned))
    size = f"{many(len(model.rules), 'rule')}." if isinstance(model, RuleModel) else size_line(model.tree)
    say(f"\nLearned from all cases: {size}")
    if path is not None:
        say(f"Model written to {path}")
