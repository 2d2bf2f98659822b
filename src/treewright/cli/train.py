"""treewright train: a table in, a tree, rules or an ensemble out; in memory, or out of core where the table lies."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, cast

import click

from treewright.cli.help import option
from treewright.cli.learners import LearnerVerb, algorithm_options, learner_for, listed_names
from treewright.cli.options import (
    FILE,
    json_option,
    model_options,
    open_model,
    parsed_cost,
    read_cases,
    reading_options,
    schema_options,
    seed_option,
    target_option,
)
from treewright.cli.output import (
    compilation_shown,
    data_line,
    estimate_line,
    forest_summary,
    forest_text,
    is_terminal,
    note,
    percent,
    plural,
    progress_bar,
    require_writable,
    size_line,
    table_line,
    warnings_as_notes,
    write_json,
)

if TYPE_CHECKING:
    from treewright.data.dataset import Dataset
    from treewright.data.infer import Overrides
    from treewright.data.schema import Schema
    from treewright.ensembles.plan import ForestPlan
    from treewright.evaluation.cross_validation import AccuracyEstimate, ErrorEstimate
    from treewright.fitting.algorithms import Learner
    from treewright.fitting.engine_choice import EngineChoice
    from treewright.fitting.out_of_core import OpenedTable
    from treewright.tree.forest import Forest
    from treewright.tree.model import TreeModel
    from treewright.tree.rules import RuleModel

    Measure = tuple[str, float]
    Model = TreeModel | RuleModel | Forest
    Estimate = AccuracyEstimate | ErrorEstimate

ALL_FOLDS_UP_TO = 20_000
"""Beyond so many rows one fold of ten is held out instead of all ten in turn."""

PRINTED_NODES = 200
"""Larger trees are printed to the depth that fits."""

IN_MEMORY = ("auto", "interpreted", "compiled")
"""Engines that read the table into memory."""

OUT_OF_CORE = ("duckdb", "postgresql", "spark", "dask")
"""Engines that count where the table lies."""


@dataclass(frozen=True)
class Request:
    """How to train: engine, threads, limits; the options of `train` beside the data and the algorithm.

    Parameters
    ----------
    engine : str
    jobs : int or None
        Threads.
    time_limit : float or None
        Seconds after which no further tree is begun.
    resume : str or None
        A model file (of an ensemble) or a state file (out of core) to go on with.
    dry_run, finish_rows, temporary_tables, key
        Out of core only: see `treewright.fit`.
    """

    engine: str = "auto"
    jobs: int | None = None
    time_limit: float | None = None
    resume: str | None = None
    dry_run: bool = False
    finish_rows: int | None = None
    temporary_tables: bool = False
    key: str | None = None

    def is_out_of_core(self, source: str, learner: Learner) -> bool:
        """Return True if the table is out of core; raise if an option needs the other case, or an ensemble."""
        from treewright.data.table_address import is_address, without_secrets

        out_of_core = self.engine in OUT_OF_CORE or is_address(source)
        if out_of_core and self.engine in IN_MEMORY[1:]:
            raise click.UsageError(
                f"--engine {self.engine} reads a file into memory, and {without_secrets(source)} is no single file"
            )
        only = {
            "--temporary-tables": self.temporary_tables,
            "--dry-run": self.dry_run,
            "--finish-rows": self.finish_rows is not None,
            "--key": self.key is not None,
        }
        for name, given in only.items():
            if given and not out_of_core:
                raise click.UsageError(f"{name} is for out-of-core tables: a URL, several files, or --engine duckdb")
        ensemble = learner.abilities.many_trees
        for name, limit in (("time-limit", self.time_limit), ("resume", self.resume)):
            if limit is not None and out_of_core and (ensemble or name == "time-limit"):
                raise click.UsageError(
                    f"--{name} is for ensembles in memory: out of core, their trees grow together, level by level"
                )
            if limit is not None and not out_of_core and not ensemble:
                names = listed_names("ensemble")
                table = " and for out-of-core tables" if name == "resume" else ""
                raise click.UsageError(f"--{name} is for {', '.join(names[:-1])} and {names[-1]}{table}")
        return out_of_core


@click.command(
    "train",
    cls=LearnerVerb,
    examples=(
        "treewright train sample:play-tennis               # a bundled table",
        "treewright train weather.csv --target play        # writes weather.model.json",
        "treewright train weather.csv -t play -a forest --trees 50 -o forest.json",
        "treewright train 'data/*.parquet' --target play   # larger than memory",
    ),
)
@click.argument("source", metavar="FILE", type=FILE)
@target_option
@algorithm_options(listed_names)
@option("tree", "--smoothing", metavar="laplace|M", help="Smooth class probabilities: Laplace or m-estimate.")
@option(
    "evaluation",
    "--cost",
    "costs",
    multiple=True,
    metavar="ACTUAL,PREDICTED=C",
    help="Cost of this misclassification; others cost 1.",
)
@option(
    "evaluation",
    "--folds",
    type=click.IntRange(min=0),
    default_text="10",
    help="Folds of the accuracy estimate; 0 skips it.",
)
@seed_option("folds, samples and rule selection")
@option(
    "engine",
    "--engine",
    type=click.Choice((*IN_MEMORY, *OUT_OF_CORE)),
    default="auto",
    show_default=True,
    help="Engine that does the counting.",
)
@option("engine", "--dry-run", is_flag=True, help="Out of core: print the SQL of the first level and the scans.")
@option(
    "engine",
    "--finish-rows",
    type=click.IntRange(min=0),
    metavar="N",
    default_text="200,000",
    help="Out of core: load nodes of up to N rows.",
)
@option(
    "engine", "--temporary-tables", is_flag=True, help="Out of core: copy the rows of open nodes to temporary tables."
)
@option("engine", "--key", metavar="COL", help="Out of core: row id, by which a forest samples rows.")
@option(
    "engine",
    "--resume",
    metavar="FILE",
    type=FILE,
    help="Continue from this state (out of core) or model (ensemble).",
)
@option("engine", "--jobs", type=int, metavar="N", help="Number of threads; -1 uses all cores.")
@option("engine", "--time-limit", type=float, metavar="SECONDS", help="Ensembles: start no new tree after this time.")
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
    request = Request(**{one.name: rest.pop(one.name) for one in fields(Request)})
    train(source, algorithm, request=request, **rest)


def train(
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
    request: Request = Request(),
) -> None:
    """Read, train, estimate, save and print."""
    from treewright.plans import costs_from

    learner = learner_for(algorithm, options, seed)
    smooth = None if smoothing is None else _smoothing(smoothing)
    given_costs = dict(map(parsed_cost, costs))
    for name, value in (("--cost", given_costs), ("--smoothing", smooth)):
        if value and not learner.abilities.probabilities:
            raise click.UsageError(f"{name} needs class probabilities, which rules do not provide")
    if request.is_out_of_core(source, learner):
        if folds:
            raise click.UsageError("--folds needs cases in memory; use `treewright evaluate` with another table")
        columns = {"target": target, "schema": schema, "overrides": overrides}
        _train_out_of_core(
            source, learner, request, columns, smooth, given_costs, output=output, no_save=no_save, as_json=as_json
        )
        return
    resume = None if request.resume is None else _forest(request.resume)
    path = None if no_save else output or default_model_path(source)
    if path is not None:
        require_writable(path, source)
    with warnings_as_notes():
        data = read_cases(source, target, schema, overrides, how, learner)
        _require_classes(data.schema, given_costs, smooth)
        if folds and not 2 <= folds <= data.n_rows:
            raise click.BadParameter(
                f"{folds} is not 0 or from 2 to the number of rows, {data.n_rows:,}", param_hint="--folds"
            )
        table = costs_from(given_costs, list(data.schema.classes)) if given_costs else None
        if not as_json:
            click.echo(f"{data_line(data)}\n{learner.name}   {learner_line(learner, data)}\n")
        class_options = {"smoothing": smooth, "costs": table}
        later: list[str] = []
        with _engines(data, learner, request, folds, later) as choice:
            model = _grown(data, learner, request, choice, resume, class_options, path)
            shown = not as_json and model.kind != "forest"
            if shown:  # the estimate takes many times as long as the tree; it does not change the tree
                _print(model, _training(data, model))
                if sys.stdout is not None:
                    sys.stdout.flush()
            estimate, line, model = _estimate(data, learner, request, choice, class_options, model, folds, seed)
    if path is not None:
        model.save(path)
    if request.time_limit is not None:
        _note_time_limit(model)
    if as_json:
        write_json(_as_json(model, _training(data, model), None if estimate is None else estimate.to_dict(), path))
        return
    if not shown:
        _print(model, _training(data, model))
    if line is not None:
        click.echo(line)
    if path is not None:
        click.echo(f"Model written to {path}")
    for text in later:
        note(text)


@contextmanager
def _engines(
    data: Dataset, learner: Learner, request: Request, folds: int | None, later: list[str]
) -> Iterator[EngineChoice]:
    """Choose the engines of all fits of the command; on a terminal, tell of the process that compiles.

    `later` gets the note to be printed at the end: that the process goes on.
    """
    from treewright.fitting.engine_choice import VARIABLE, EngineChoice

    def started() -> None:
        if is_terminal(sys.stderr):
            note(f"note: a second process compiles kernels for the next time, at low priority ({VARIABLE}=off: never)")

    def left(process: int) -> bool:
        if not is_terminal(sys.stderr):
            return False  # nobody would know
        later.append(f"note: process {process} goes on compiling in the background, for up to a minute")
        return True

    number, used = _folds(data, learner, folds)
    fits = 1 + (number if used is None else used)
    with EngineChoice(data, learner, fits, request.engine, on_start=started).running(leave=left) as choice:
        yield choice


def _folds(data: Dataset, learner: Learner, folds: int | None) -> tuple[int, int | None]:
    """Return the number of folds of the estimate, 0 for none, and how many of them are made, None for all."""
    if folds is None and learner.abilities.out_of_bag:
        return 0, None
    chosen = min(10, data.n_rows) if folds is None else folds
    if chosen == 0 or (folds is None and data.n_rows < 4):
        return 0, None
    one_fold = folds is None and data.n_rows > ALL_FOLDS_UP_TO and not learner.abilities.many_trees
    return chosen, 1 if one_fold else None


def _grown(
    data: Dataset,
    learner: Learner,
    request: Request,
    choice: EngineChoice,
    resume: Forest | None,
    class_options: dict[str, Any],
    path: str | None,
) -> Model:
    """Train, with a progress bar; on Ctrl-C keep the finished trees of an ensemble."""
    from treewright.ensembles.running import Interrupted
    from treewright.fitting.learn import fit

    engine = choice.for_model()
    how = {"engine": engine, "n_jobs": request.jobs, "time_limit": request.time_limit, "resume": resume}
    start = time.perf_counter()
    try:
        with compilation_shown(choice.compiles_here) as compiled, progress_bar("growing") as bar:

            def grown(done: int, total: int) -> None:
                compiled()
                bar(done, total)

            model = fit(data, learner, progress=grown, **class_options, **how)
            choice.fitted(engine, time.perf_counter() - start)
            return model
    except Interrupted as stop:
        if path is not None:
            stop.forest.save(path)
            note(f"{stop}: in {path}; continue with --resume {path}")
        raise KeyboardInterrupt from stop


def _forest(path: str) -> Forest:
    from treewright.errors import DataError
    from treewright.tree.forest import Forest

    model = open_model(path)
    if not isinstance(model, Forest):
        raise DataError("does not hold an ensemble, which --resume needs", source=path)
    return model


def _require_classes(schema: Schema, costs: dict[tuple[str, str], float], smoothing: str | float | None) -> None:
    """Refuse the options of class probabilities where the target is a number."""
    from treewright.data.schema import Task

    for name, value in (("--cost", costs), ("--smoothing", smoothing)):
        if value and schema.task is Task.REGRESSION:
            raise click.UsageError(f"{name} is for classes, and the target {schema.target!r} is a number")


def _smoothing(text: str) -> str | float:
    if text == "laplace":
        return text
    from treewright.tree.model import check_smoothing

    try:
        check_smoothing(float(text))
    except ValueError:  # of float or, as ParameterError, of the check
        raise click.BadParameter(
            f"{text!r} is neither laplace nor a positive number", param_hint="--smoothing"
        ) from None
    return float(text)


def _estimate(
    data: Dataset,
    learner: Learner,
    request: Request,
    choice: EngineChoice,
    class_options: dict[str, Any],
    model: Model,
    folds: int | None,
    seed: int,
) -> tuple[Estimate | None, str | None, Model]:
    """Return the accuracy estimate, its line, and the model, with the out-of-bag errors of its trees if there are any.

    Bootstrap samples leave cases out, which estimate without further training. Otherwise all folds are made, or one
    fold of ten where ten fits take too long.
    """
    from treewright.evaluation.cross_validation import cross_validate
    from treewright.fitting.learn import fit

    estimate = line = None
    if learner.abilities.out_of_bag and model.kind == "forest":
        estimate, model = _out_of_bag(data, cast("ForestPlan", learner), model)
        line = None if estimate is None else estimate_line(estimate, 10, "Out-of-bag estimate")
        if folds is None:
            return estimate, line, model
    chosen, used = _folds(data, learner, folds)
    if chosen == 0:
        return None, None, model

    def trained(part: Dataset) -> Any:
        engine = choice.for_fold()
        start = time.perf_counter()
        found = fit(part, learner, keep_trace=False, engine=engine, n_jobs=request.jobs, **class_options)
        choice.fitted(engine, time.perf_counter() - start)
        return found

    with progress_bar("cross-validating") as bar:
        estimate = cross_validate(data, trained, chosen, used=used, seed=seed, progress=bar)
    return estimate, estimate_line(estimate, chosen), model


def _out_of_bag(data: Dataset, learner: ForestPlan, model: Forest) -> tuple[Estimate | None, Forest]:
    """Return the out-of-bag estimate and the forest with the errors after each tree."""
    from treewright.ensembles.out_of_bag import out_of_bag
    from treewright.ensembles.random_forest import with_log
    from treewright.errors import ParameterError
    from treewright.evaluation.cross_validation import out_of_bag_estimate

    try:
        found = out_of_bag(model, data, learner)
    except ParameterError as error:
        note(f"note: {error}")
        return None, model
    return out_of_bag_estimate(data, model, found), with_log(model, oob_error=found.errors)


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


def learner_line(learner: Learner, data: Dataset) -> str:
    """Describe how a learner learns from these data."""
    fitting = learner.for_schema(data.schema)
    return ", ".join([fitting.describe(), *(fitting.tree.limits() if fitting.tree is fitting else ())])


# -- out of core -------------------------------------------------------------------------------------------------------


def _train_out_of_core(
    source: str,
    learner: Learner,
    request: Request,
    columns: dict[str, Any],
    smoothing: str | float | None,
    costs: dict[tuple[str, str], float],
    *,
    output: str | None,
    no_save: bool,
    as_json: bool,
) -> None:
    """Train where the table lies, save and print."""
    from treewright.data.table_address import Table
    from treewright.fitting.out_of_core import opened_table
    from treewright.learners.out_of_core import FINISH_ROWS
    from treewright.plans import costs_from

    table = Table(source, None, request.engine if request.engine in OUT_OF_CORE else None, request.key)
    path = None if no_save else output or _model_path_of(table)
    if path is not None:
        require_writable(path)
    finish_rows = FINISH_ROWS if request.finish_rows is None else request.finish_rows
    with warnings_as_notes(), opened_table(table, learner, **columns, temporary=request.temporary_tables) as opened:
        engine = opened.engine
        _require_classes(engine.schema, costs, smoothing)
        fitting = learner.for_schema(engine.schema)
        if request.dry_run:
            _print_statement(opened, as_json=as_json)
            return
        if not as_json:
            click.echo(table_line(engine.schema, engine.n_rows, engine.source))
            click.echo(f"{learner.name}   {fitting.describe()}, counted by {engine.name}\n")
        with progress_bar("growing") as bar:
            model = opened.fit(
                smoothing=smoothing,
                costs=costs_from(costs, list(engine.schema.classes)) if costs else None,
                progress=bar,
                finish_rows=finish_rows,
                state=request.resume,
                on_level=_print_level if is_terminal(sys.stderr) else None,
            )
        scans = engine.scans
    if path is not None:
        model.save(path)
    measure = _training_of_leaves(model)
    if as_json:
        write_json(_as_json(model, measure, None, path, engine=engine.name, scans=scans))
        return
    _print(model, measure, f"{plural(scans, 'scan')}.")
    note("note: no accuracy estimate out of core; test the model with `treewright evaluate`")
    if path is not None:
        click.echo(f"Model written to {path}")


def _print_level(depth: int, open_nodes: int) -> None:
    """Print how far the tree has grown: a level may take its time."""
    note(f"level {depth}: {plural(open_nodes, 'open node')}")


def _model_path_of(table: Any) -> str:
    if not table.is_file:
        return f"{table.parts[-1]}.model.json"
    stem = PurePath(table.path).stem.strip("*?[]-_. ")
    return f"{stem or PurePath(table.path).parent.name or 'tree'}.model.json"


def _print_statement(opened: OpenedTable, *, as_json: bool) -> None:
    """Print the first statement and the number of scans, without growing."""
    engine: Any = opened.engine  # each of them has a statement
    depth = opened.learner.tree.max_depth
    statement = engine.first_statement()
    if as_json:
        scans = None if depth is None else opened.most_scans(depth)
        write_json({"engine": engine.name, "statement": statement, "scans": scans, "scans_so_far": engine.scans})
        return
    click.echo(f"{statement};")
    least, level = opened.most_scans(0), engine.scans_per_level
    known = "" if depth is None else f": at most {least + level * depth} to depth {depth}"
    factor = "depth" if level == 1 else f"{level} x depth"
    note(f"scans: {engine.scans} so far, {factor} + {least} in all{known}; each level is one statement like this one")


# -- printing ----------------------------------------------------------------------------------------------------------


def _print(model: Model, measure: Measure | None, *sentences: str) -> None:
    """Print a model, its size, its measure on the training cases and further sentences."""
    if measure is not None:
        name, value = measure
        of_training = (
            f"root mean squared error {value:.4g}" if name == "training_rmse" else f"accuracy {percent(value)}"
        )
        sentences = (f"Training {of_training}.", *sentences)
    line = "  ".join(sentences)
    if model.kind == "forest":
        click.echo(f"{forest_text(model)}\n\n{line}")
    elif model.kind == "rules":
        click.echo(f"{model}\n\n{plural(len(model.rules), 'rule')}.  {line}")
    else:
        click.echo(f"{printed_tree(model)}\n\n{size_line(model.tree)}  {line}")
        if model.tree.n_nodes == 1:
            from treewright.explain.language import words

            stop = model.tree.node(0).stop
            note(f"note: no split was made: {words('en')(f'stop.{stop.name.lower()}') if stop else 'unknown reason'}")


def _note_time_limit(model: Model) -> None:
    """Note that a forest has fewer trees than wanted; boosting may end early by itself."""
    if model.kind != "forest" or "alpha" in model.log:
        return
    wanted = model.recipe.get("trees")
    if isinstance(wanted, int) and model.n_trees < wanted:
        note(f"note: the time limit was reached after {model.n_trees} of {wanted} trees")


def printed_tree(model: TreeModel, depth: int | None = None, *, numbers: bool = False, node: int = 0) -> str:
    """Return the text of a tree (or of the part below a node); of a large one the top only, unless a depth is given."""
    from treewright.tree.text import subtree_size

    tree = model.tree
    depths = tree.depths[node : node + subtree_size(tree, node)] - tree.depths[node]
    if depth is None and len(depths) > PRINTED_NODES:
        by_level = [int((depths <= level).sum()) for level in range(1, int(depths.max()) + 1)]
        depth = max(1, sum(size <= PRINTED_NODES for size in by_level))
    width = shutil.get_terminal_size((100, 24)).columns if is_terminal(sys.stdout) else 100
    return tree.to_text(max_depth=depth, width=width, numbers=numbers, node=node)


def _training(data: Dataset, model: Model) -> Measure:
    """Return the accuracy or, for a number, the root mean squared error on the training cases."""
    import numpy as np

    from treewright.data.schema import Task

    weights = data.weights
    if data.schema.task is Task.REGRESSION:
        return "training_rmse", float(np.average((model.predict(data) - data.y) ** 2, weights=weights) ** 0.5)
    return "training_accuracy", float(np.average(model.predict_codes(data) == data.target, weights=weights))


def _training_of_leaves(model: TreeModel | Forest) -> Measure | None:
    """Return the same of a single tree from its leaves, without another scan of the cases."""
    if model.kind == "forest":
        return None
    tree = model.tree
    leaves = [node for node in range(tree.n_nodes) if tree.split(node) is None]
    weight = float(sum(tree.weight[leaf] for leaf in leaves))
    if tree.sse is not None:
        return "training_rmse", float(sum(tree.sse[leaf] for leaf in leaves) / weight) ** 0.5
    right = float(sum(tree.counts[leaf][int(tree.outcome[leaf])] for leaf in leaves))
    return "training_accuracy", right / weight


def _as_json(
    model: Model, measure: Measure | None, estimate: dict[str, Any] | None, path: str | None, **more: Any
) -> dict[str, Any]:
    if model.kind == "forest":
        size = forest_summary(model)
    elif model.kind == "rules":
        size = {"rules": len(model.rules)}
    else:
        size = {"nodes": model.tree.n_nodes, "leaves": model.tree.n_leaves, "depth": model.tree.depth}
    return {
        "source": model.provenance["source"],
        "rows": model.provenance["rows"],
        "target": model.schema.target,
        "recipe": dict(model.recipe),
        **size,
        **({} if measure is None else dict([measure])),
        "estimate": estimate,
        **more,
        "model": None if path is None else str(Path(path)),
    }
