"""treewright train: a table in, a tree out."""

from __future__ import annotations

import sys
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import rich_click as click

from treewright.cli.options import FILE, json_option, reading_options, schema_options
from treewright.cli.output import (
    ProgressBar,
    data_line,
    estimate_line,
    is_terminal,
    note,
    percent,
    reading,
    require_place,
    say,
    say_json,
    size_line,
    warnings_as_notes,
)

if TYPE_CHECKING:
    from treewright.data.dataset import Dataset
    from treewright.data.infer import Overrides
    from treewright.data.schema import Schema
    from treewright.evaluate.estimate import AccuracyEstimate, ErrorEstimate
    from treewright.grow.recipe import Recipe
    from treewright.model.model import TreeModel

ALL_FOLDS_UP_TO = 20_000
"""Beyond so many rows one fold of ten is held out instead of all ten in turn."""

PRINTED_NODES = 200
"""Larger trees are printed to the depth that fits."""


@click.command("train")
@click.argument("source", metavar="FILE", type=FILE)
@click.option("-t", "--target", metavar="COL", help="The column to predict.")
@click.option("-a", "--algorithm", type=click.Choice(["id3", "c45", "cart"]), default="c45", show_default=True)
@click.option("-o", "--output", metavar="FILE", type=FILE, help="Where the model goes (default: NAME.model.json here).")
@click.option("--no-save", is_flag=True, help="Do not write a model.")
@click.option(
    "--criterion",
    metavar="NAME",
    help="id3: gain, gini or chi2; c45: gain_ratio or gain; cart: gini, entropy or chi2 (default: the first).",
)
@click.option("--max-depth", type=int, help="Levels of tests at most.")
@click.option("--max-leaves", type=int, help="Leaves at most; the best nodes are divided first.")
@click.option("-m", "--min-objects", type=float, help="c45: cases that two branches of a test need (default 2).")
@click.option("--min-split", type=int, help="id3, cart: cases that a node needs to be divided.")
@click.option("--min-leaf", type=int, help="cart: cases that each branch needs.")
@click.option("--min-decrease", type=float, help="cart: least decrease of impurity.")
@click.option("--smoothing", metavar="laplace|M", help="Probabilities by Laplace, or by the m-estimate with this M.")
@click.option("--folds", type=click.IntRange(min=0), help="Folds of the estimate; 0 for none (default 10).")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Deals the cases out to folds.")
@schema_options
@reading_options
@json_option
def command(
    source: str,
    target: str | None,
    algorithm: str,
    output: str | None,
    no_save: bool,
    smoothing: str | None,
    folds: int | None,
    seed: int,
    overrides: Overrides,
    schema: Schema | None,
    how: dict[str, Any],
    as_json: bool,
    **limits: Any,
) -> None:
    """Learn a tree from FILE and print it with an honest estimate.

    FILE is CSV, TSV, Parquet, ARFF, C4.5 names/data, "-" for standard input, or sample:NAME (see `treewright data
    --samples`).
    """
    from treewright.data.tables import read, require_rows
    from treewright.learn import fit

    recipe = recipe_for(algorithm, limits)
    smooth = _smoothing(smoothing)
    path = None if no_save else output or default_model_path(source)
    if path is not None:
        require_place(path, source)
    with warnings_as_notes():
        with reading(source):
            data = read(source, target, schema, overrides=overrides, nominal_limit=recipe.nominal_limit, **how)
        require_rows(data)
        _require_target(data)
        _require_task(data, recipe, algorithm)
        _require_folds(data, folds)
        _tell_near_names(data)
        if not as_json:
            say(f"{data_line(data)}\n{_recipe_line(recipe, data)}\n")
        with ProgressBar("growing") as bar:
            model = fit(data, recipe, smoothing=smooth, progress=bar)
        estimate, folds = _estimate(data, recipe, folds, seed)
    if path is not None:
        model.save(path)
    if as_json:
        say_json(_as_json(data, model, estimate, path))
    else:
        _print(data, model, estimate, folds, path)


def recipe_for(algorithm: str, limits: dict[str, Any]) -> Recipe:
    """Make the recipe of an algorithm from the options given; options of other algorithms are refused."""
    from treewright._base.errors import ParameterError
    from treewright.grow.recipe import C45, CART, ID3, Stopping

    given = {name: value for name, value in limits.items() if value is not None}
    allowed = {
        "id3": {
            "criterion": "criterion",
            "max_depth": "max_depth",
            "max_leaves": "max_leaves",
            "min_split": "min_cases",
        },
        "c45": {
            "criterion": "criterion",
            "max_depth": "max_depth",
            "max_leaves": "max_leaves",
            "min_objects": "min_objects",
        },
        "cart": {
            "criterion": "criterion",
            "max_depth": "max_depth",
            "max_leaves": "max_leaves",
            "min_split": "min_cases",
            "min_leaf": "min_leaf",
            "min_decrease": "min_decrease",
        },
    }[algorithm]
    for name in given:
        if name not in allowed:
            raise ParameterError(f"--{name.replace('_', '-')} is not an option of {algorithm}")
    chosen = {allowed[name]: value for name, value in given.items()}
    if algorithm == "cart":
        criterion = chosen.pop("criterion", "gini")
        if criterion not in ("gini", "entropy", "chi2"):
            raise ParameterError(f"--criterion must be gini, entropy or chi2 for cart, not {criterion!r}")
        return CART(criterion=criterion, stopping=Stopping(**chosen))
    return ID3(**chosen) if algorithm == "id3" else C45(**chosen)


def _smoothing(text: str | None) -> str | float | None:
    if text is None or text == "laplace":
        return text
    from treewright.model.model import check_smoothing

    try:
        check_smoothing(float(text))
    except ValueError:  # of float or, as ParameterError, of the check
        raise click.BadParameter(
            f"{text!r} is neither laplace nor a positive number", param_hint="--smoothing"
        ) from None
    return float(text)


def _require_target(data: Dataset) -> None:
    if data.target is None:
        names = ", ".join(column.name for column in data.schema.columns)
        raise click.UsageError(f"say which column to predict: --target COL, one of: {names}")


def _require_task(data: Dataset, recipe: Recipe, algorithm: str) -> None:
    from treewright.data.schema import Task

    if data.schema.task is Task.REGRESSION and algorithm != "cart":
        raise click.UsageError(
            f"column {data.schema.target!r} is a number, and {recipe.name} predicts classes: "
            "use --algorithm cart, or --task classification if its values are classes"
        )


def _require_folds(data: Dataset, folds: int | None) -> None:
    if folds and not 2 <= folds <= data.n_rows:
        raise click.BadParameter(
            f"{folds} is not 0 or from 2 to the number of rows, {data.n_rows:,}", param_hint="--folds"
        )


def _tell_near_names(data: Dataset) -> None:
    """Point at nominal columns with nearly a value for each row: such a column names the cases."""
    for column in data.schema.attributes:
        if len(column.values) > 50 and data.n_rows < 5 * len(column.values):
            note(
                f"note: column {column.name!r} has {len(column.values):,} values in {data.n_rows:,} rows; "
                "if it names the cases, leave it out with --ignore"
            )


def _estimate(
    data: Dataset, recipe: Recipe, folds: int | None, seed: int
) -> tuple[AccuracyEstimate | ErrorEstimate | None, int]:
    """Estimate by all folds, or by one fold of ten where ten fits would take too long."""
    from treewright.evaluate.estimate import cross_validate
    from treewright.learn import fit

    chosen = min(10, data.n_rows) if folds is None else folds
    if chosen == 0 or (folds is None and data.n_rows < 4):
        return None, chosen
    used = 1 if folds is None and data.n_rows > ALL_FOLDS_UP_TO else None
    with ProgressBar("cross-validating") as bar:
        estimate = cross_validate(data, lambda part: fit(part, recipe), chosen, used=used, seed=seed, progress=bar)
    return estimate, chosen


def default_model_path(source: str) -> str:
    """Return NAME.model.json in the working folder.

    Examples
    --------
    >>> default_model_path("data/weather.csv.gz"), default_model_path("sample:restaurant"), default_model_path("-")
    ('weather.model.json', 'restaurant.model.json', 'stdin.model.json')
    """
    if source == "-":
        return "stdin.model.json"
    name = PurePath(source.removeprefix("sample:")).name.removesuffix(".gz")
    return f"{PurePath(name).stem or 'tree'}.model.json"


def _recipe_line(recipe: Recipe, data: Dataset) -> str:
    from treewright.data.schema import Task

    criterion = "variance" if data.schema.task is Task.REGRESSION else recipe.criterion.replace("_", " ")
    limits = [
        f"{label} {value}"
        for label, value in (
            ("depth at most", recipe.stopping.max_depth),
            ("leaves at most", recipe.stopping.max_leaves),
        )
        if value is not None
    ]
    return f"{recipe.name}   {', '.join([criterion, 'unpruned', *limits])}"


def _print(
    data: Dataset,
    model: TreeModel,
    estimate: AccuracyEstimate | ErrorEstimate | None,
    folds: int,
    path: str | None,
) -> None:
    say(printed_tree(model))
    say(f"\n{size_line(model.tree)}  {_training_line(data, model)}")
    if estimate is not None:
        say(estimate_line(estimate, folds))
    if path is not None:
        say(f"Model written to {path}")
    if model.tree.n_nodes == 1:
        note(f"note: the tree is a single leaf: {model.tree.node(0).stop}")


def printed_tree(model: TreeModel, depth: int | None = None, *, numbers: bool = False) -> str:
    """Return the text of a tree; of a large one the top only, unless a depth is asked for."""
    import shutil

    tree = model.tree
    if depth is None and tree.n_nodes > PRINTED_NODES:
        by_level = [int((tree.depths <= level).sum()) for level in range(1, tree.depth + 1)]
        depth = max(1, sum(size <= PRINTED_NODES for size in by_level))
    width = shutil.get_terminal_size((100, 24)).columns if is_terminal(sys.stdout) else 100
    return tree.to_text(max_depth=depth, width=width, numbers=numbers)


def _training_line(data: Dataset, model: TreeModel) -> str:
    if model.tree.is_regression:
        return f"Training root mean squared error {_training(data, model):.4g}."
    return f"Training accuracy {percent(_training(data, model))}."


def _training(data: Dataset, model: TreeModel) -> float:
    """Return the accuracy or, for a number, the root mean squared error on the training cases."""
    if model.tree.is_regression:
        return float(((model.predict(data) - data.y) ** 2).mean() ** 0.5)
    return float((model.predict_codes(data) == data.target).mean())


def _as_json(
    data: Dataset, model: TreeModel, estimate: AccuracyEstimate | ErrorEstimate | None, path: str | None
) -> dict[str, Any]:
    tree = model.tree
    return {
        "source": data.source,
        "rows": data.n_rows,
        "target": data.schema.target,
        "recipe": dict(model.recipe),
        "nodes": tree.n_nodes,
        "leaves": tree.n_leaves,
        "depth": tree.depth,
        "training_rmse" if tree.is_regression else "training_accuracy": _training(data, model),
        "estimate": None if estimate is None else estimate.to_dict(),
        "model": None if path is None else str(Path(path)),
    }
