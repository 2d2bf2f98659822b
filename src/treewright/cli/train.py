"""treewright train: a table in, a tree or rules out."""

from __future__ import annotations

import sys
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import click

from treewright.cli.algorithm_help import LearnerVerb, algorithm_options
from treewright.cli.help import option, verb
from treewright.cli.learners import ALGORITHMS, FOR_NUMBERS, learner_options, plan_for
from treewright.cli.options import (
    FILE,
    cost_option,
    json_option,
    model_options,
    parsed_costs,
    reading_options,
    schema_options,
    seed_option,
    target_option,
)
from treewright.cli.output import (
    ProgressBar,
    data_line,
    estimate_line,
    is_terminal,
    many,
    note,
    percent,
    reading,
    require_place,
    say,
    say_json,
    size_line,
    warnings_as_notes,
)
from treewright.cli.train_in_place import in_place_options, is_in_place, learn_there_and_tell

if TYPE_CHECKING:
    from treewright.cli.learners import AnyPlan
    from treewright.data.dataset import Dataset
    from treewright.data.infer import Overrides
    from treewright.data.schema import Schema
    from treewright.evaluation.cross_validation import AccuracyEstimate, ErrorEstimate
    from treewright.plans import Plan, RulePlan
    from treewright.tree.model import Predictor, TreeModel
    from treewright.tree.rules import RuleModel

ALL_FOLDS_UP_TO = 20_000
"""Beyond so many rows one fold of ten is held out instead of all ten in turn."""

PRINTED_NODES = 200
"""Larger trees are printed to the depth that fits."""


@verb(
    "train",
    "treewright train sample:play-tennis               # a bundled table",
    "treewright train weather.csv --target play        # writes weather.model.json",
    "treewright train weather.csv -t play -a forest --trees 50 -o forest.json",
    "treewright train 'data/*.parquet' --target play   # larger than memory",
    cls=LearnerVerb,
)
@click.argument("source", metavar="FILE", type=FILE)
@target_option
@algorithm_options(ALGORITHMS)
@option("tree", "--smoothing", metavar="laplace|M", help="Smooth class probabilities: Laplace or m-estimate.")
@cost_option("Cost of this misclassification; others cost 1.")
@option(
    "evaluation", "--folds", type=click.IntRange(min=0), usual="10", help="Folds of the accuracy estimate; 0 skips it."
)
@seed_option("folds, samples and rule selection")
@in_place_options
@option("engine", "--jobs", type=int, metavar="N", help="Number of threads; -1 uses all cores.")
@option("engine", "--time-limit", type=float, metavar="SECONDS", help="Ensembles: start no new tree after this time.")
@learner_options
@schema_options
@reading_options
@model_options
@json_option
def command(source: str, algorithm: str, **rest: Any) -> None:
    """Train a tree, rules or an ensemble on FILE, print it and estimate its accuracy.

    FILE is CSV, TSV, Parquet, ARFF, C4.5 names/data, "-" for standard input, or sample:NAME (see `treewright data
    --samples`). Out of core: 'data/*.parquet', duckdb:///file.db?table=t, postgresql://user@host/database?table=t,
    spark://?table=t.
    """
    learn_and_tell(source, algorithm, **rest)


def learn_and_tell(
    source: str,
    algorithm: str,
    *,
    target: str | None,
    output: str | None,
    no_save: bool,
    folds: int | None,
    seed: int,
    options: dict[str, Any],
    overrides: Overrides,
    schema: Schema | None,
    how: dict[str, Any],
    as_json: bool,
    smoothing: str | None = None,
    costs: tuple[str, ...] = (),
    jobs: int | None = None,
    time_limit: float | None = None,
    engine: str = "auto",
    in_place: dict[str, Any] | None = None,
) -> None:
    """Read, train, estimate, save and print."""
    from treewright.cli.train_forest import Growing, grow_and_tell
    from treewright.data.read import read, require_rows
    from treewright.ensembles.plan import ForestPlan
    from treewright.fitting.learn import fit
    from treewright.plans import Plan, RulePlan

    plan = plan_for(algorithm, options, seed)
    there = dict(in_place or {})
    resume = None if isinstance(plan, (Plan, RulePlan)) else there.pop("resume", None)
    growing = Growing(jobs, time_limit, resume)
    smooth = _smoothing(smoothing)
    if is_in_place(source, engine, there):
        if not isinstance(plan, (Plan, ForestPlan)):
            what = "rules are" if isinstance(plan, RulePlan) else "boosted trees are"
            raise click.UsageError(f"{what} trained in memory: give one file, or omit --engine")
        growing.refuse_outside_memory()
        if folds:
            raise click.UsageError("--folds needs cases in memory; use `treewright evaluate` with another table")
        learn_there_and_tell(
            source,
            plan,
            engine,
            target=target,
            output=output,
            no_save=no_save,
            overrides=overrides,
            schema=schema,
            as_json=as_json,
            smoothing=smooth,
            costs=costs,
            in_place=there,
        )
        return
    path = None if no_save else output or default_model_path(source)
    if path is not None:
        require_place(path, source)
    with warnings_as_notes():
        with reading(source):
            data = read(source, target, schema, overrides=overrides, nominal_limit=plan.nominal_limit, **how)
        require_rows(data)
        _require_target(data)
        _require_task(data, plan, algorithm)
        _require_folds(data, folds)
        table = _costs(costs, data, plan)
        if not isinstance(plan, (Plan, RulePlan)):
            grow_and_tell(
                data,
                plan,
                growing,
                path=path,
                folds=folds,
                seed=seed,
                smoothing=smooth,
                costs=table,
                as_json=as_json,
            )
            return
        growing.refuse_for_one_tree()
        if not as_json:
            say(f"{data_line(data)}\n{plan.name}   {plan_line(plan, data)}\n")
        with ProgressBar("growing") as bar:
            model: TreeModel | RuleModel
            if isinstance(plan, RulePlan):
                model = fit(data, plan)
            else:
                model = fit(data, plan, smoothing=smooth, costs=table, progress=bar, engine=engine, n_jobs=jobs)
        estimate, folds = _estimate(data, plan, table, folds, seed, engine)
    if path is not None:
        model.save(path)
    if as_json:
        say_json(_as_json(data, model, estimate, path))
    else:
        _print(data, model, estimate, folds, path)


def _costs(texts: tuple[str, ...], data: Dataset, plan: AnyPlan) -> tuple[tuple[float, ...], ...] | None:
    from treewright.plans import RulePlan, costs_from

    if not texts:
        return None
    if isinstance(plan, RulePlan):
        raise click.UsageError("--cost needs class probabilities, which rules do not provide")
    return costs_from(parsed_costs(texts), list(data.schema.classes))


def _smoothing(text: str | None) -> str | float | None:
    if text is None or text == "laplace":
        return text
    from treewright.tree.model import check_smoothing

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
        raise click.UsageError(f"name the column to predict: --target COL, one of: {names}")


def _require_task(data: Dataset, plan: AnyPlan, algorithm: str) -> None:
    from treewright.data.schema import Task

    if data.schema.task is Task.REGRESSION and algorithm not in FOR_NUMBERS:
        raise click.UsageError(
            f"column {data.schema.target!r} is numeric, but {plan.name} predicts classes: "
            "use --algorithm cart, or --task classification if its values are classes"
        )


def _require_folds(data: Dataset, folds: int | None) -> None:
    if folds and not 2 <= folds <= data.n_rows:
        raise click.BadParameter(
            f"{folds} is not 0 or from 2 to the number of rows, {data.n_rows:,}", param_hint="--folds"
        )


def _estimate(
    data: Dataset,
    plan: Plan | RulePlan,
    costs: tuple[tuple[float, ...], ...] | None,
    folds: int | None,
    seed: int,
    engine: str,
) -> tuple[AccuracyEstimate | ErrorEstimate | None, int]:
    """Estimate by all folds, or by one fold of ten where ten fits would take too long."""
    from treewright.evaluation.cross_validation import cross_validate
    from treewright.fitting.learn import fit
    from treewright.plans import RulePlan

    chosen = min(10, data.n_rows) if folds is None else folds
    if chosen == 0 or (folds is None and data.n_rows < 4):
        return None, chosen
    used = 1 if folds is None and data.n_rows > ALL_FOLDS_UP_TO else None

    def learned(part: Dataset) -> Predictor:
        if isinstance(plan, RulePlan):
            return fit(part, plan)
        return fit(part, plan, costs=costs, keep_working=False, engine=engine)

    with ProgressBar("cross-validating") as bar:
        estimate = cross_validate(data, learned, chosen, used=used, seed=seed, progress=bar)
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


def plan_line(plan: AnyPlan, data: Dataset) -> str:
    """Say how a plan learns from these data."""
    from treewright.data.schema import Task
    from treewright.learners.recipe import Recipe
    from treewright.plans import Plan

    words = plan.describe()
    if not isinstance(plan, Plan) or not isinstance(plan.learner, Recipe):
        return words
    if data.schema.task is Task.REGRESSION:
        words = words.replace(plan.criterion.replace("_", " "), "variance", 1)
    stopping = plan.learner.stopping
    limits = (("depth at most", stopping.max_depth), ("leaves at most", stopping.max_leaves))
    return ", ".join([words, *(f"{label} {value}" for label, value in limits if value is not None)])


def _print(
    data: Dataset,
    model: TreeModel | RuleModel,
    estimate: AccuracyEstimate | ErrorEstimate | None,
    folds: int,
    path: str | None,
) -> None:
    from treewright.tree.rules import RuleModel

    if isinstance(model, RuleModel):
        say(str(model))
        say(f"\n{many(len(model.rules), 'rule')}.  {_training_line(data, model)}")
    else:
        say(printed_tree(model))
        say(f"\n{size_line(model.tree)}  {_training_line(data, model)}")
        if model.tree.n_nodes == 1:
            note(f"note: no split was made: {model.tree.node(0).stop}")
    if estimate is not None:
        say(estimate_line(estimate, folds))
    if path is not None:
        say(f"Model written to {path}")


def printed_tree(model: TreeModel, depth: int | None = None, *, numbers: bool = False, node: int = 0) -> str:
    """Return the text of a tree (or of the part below a node); of a large one the top only, unless a depth is asked."""
    import shutil

    from treewright.tree.text import subtree_size

    tree = model.tree
    depths = tree.depths[node : node + subtree_size(tree, node)] - tree.depths[node]
    if depth is None and len(depths) > PRINTED_NODES:
        by_level = [int((depths <= level).sum()) for level in range(1, int(depths.max()) + 1)]
        depth = max(1, sum(size <= PRINTED_NODES for size in by_level))
    width = shutil.get_terminal_size((100, 24)).columns if is_terminal(sys.stdout) else 100
    return tree.to_text(max_depth=depth, width=width, numbers=numbers, node=node)


def _training_line(data: Dataset, model: TreeModel | RuleModel) -> str:
    from treewright.data.schema import Task

    if data.schema.task is Task.REGRESSION:
        return f"Training root mean squared error {_training(data, model):.4g}."
    return f"Training accuracy {percent(_training(data, model))}."


def _training(data: Dataset, model: TreeModel | RuleModel) -> float:
    """Return the accuracy or, for a number, the root mean squared error on the training cases."""
    import numpy as np

    from treewright.data.schema import Task

    weights = data.weights
    if data.schema.task is Task.REGRESSION:
        return float(np.average((model.predict(data) - data.y) ** 2, weights=weights) ** 0.5)
    return float(np.average(model.predict_codes(data) == data.target, weights=weights))


def _as_json(
    data: Dataset,
    model: TreeModel | RuleModel,
    estimate: AccuracyEstimate | ErrorEstimate | None,
    path: str | None,
) -> dict[str, Any]:
    from treewright.data.schema import Task
    from treewright.tree.rules import RuleModel

    if isinstance(model, RuleModel):
        size: dict[str, Any] = {"rules": len(model.rules)}
    else:
        size = {"nodes": model.tree.n_nodes, "leaves": model.tree.n_leaves, "depth": model.tree.depth}
    measure = "training_rmse" if data.schema.task is Task.REGRESSION else "training_accuracy"
    return {
        "source": data.source,
        "rows": data.n_rows,
        "target": data.schema.target,
        "recipe": dict(model.recipe),
        **size,
        measure: _training(data, model),
        "estimate": None if estimate is None else estimate.to_dict(),
        "model": None if path is None else str(Path(path)),
    }
