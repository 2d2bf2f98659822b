"""treewright train on an out-of-core table: a database, files larger than memory, a cluster."""

from __future__ import annotations

import functools
import sys
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import click

from treewright.cli.help import Function, decorated, option
from treewright.cli.options import FILE, parsed_costs
from treewright.cli.output import (
    ProgressBar,
    is_terminal,
    many,
    note,
    percent,
    require_place,
    say,
    say_json,
    size_line,
    warnings_as_notes,
)

if TYPE_CHECKING:
    from treewright.counting.engine import DistantEngine
    from treewright.data.infer import Overrides
    from treewright.data.schema import Schema
    from treewright.data.table_address import Table
    from treewright.ensembles.plan import ForestPlan
    from treewright.plans import Plan
    from treewright.tree.forest import Forest
    from treewright.tree.model import TreeModel

IN_MEMORY = ("auto", "interpreted", "compiled")
"""Engines that read the table into memory."""

IN_PLACE = ("duckdb", "postgresql", "spark", "dask")

_OPTIONS = (
    option(
        "engine",
        "--engine",
        type=click.Choice((*IN_MEMORY, *IN_PLACE)),
        default="auto",
        show_default=True,
        help="Engine that does the counting.",
    ),
    option("engine", "--dry-run", is_flag=True, help="Out of core: print the SQL of the first level and the scans."),
    option(
        "engine",
        "--finish-rows",
        type=click.IntRange(min=0),
        metavar="N",
        usual="200,000",
        help="Out of core: load nodes of up to N rows.",
    ),
    option(
        "engine",
        "--temporary-tables",
        is_flag=True,
        help="Out of core: copy the rows of open nodes to temporary tables.",
    ),
    option("engine", "--key", metavar="COL", help="Out of core: row id, by which a forest samples rows."),
    option(
        "engine",
        "--resume",
        metavar="FILE",
        type=FILE,
        help="Continue from this state (out of core) or model (ensemble).",
    ),
)


def in_place_options(function: Function) -> Function:
    """Add who counts, and how outside memory; the function gets `engine` and `in_place`."""

    @functools.wraps(function)
    def wrapper(
        *args: Any,
        dry_run: bool,
        finish_rows: int | None,
        temporary_tables: bool,
        key: str | None,
        resume: str | None,
        **rest: Any,
    ) -> Any:
        in_place = {
            "temporary_tables": temporary_tables or None,
            "dry_run": dry_run or None,
            "finish_rows": finish_rows,
            "key": key,
            "resume": resume,
        }
        return function(*args, in_place={key: one for key, one in in_place.items() if one is not None}, **rest)

    return decorated(wrapper, _OPTIONS)


def is_in_place(source: str, engine: str, in_place: dict[str, Any]) -> bool:
    """Return True if the table is out of core; raise if an option needs that and it is not."""
    from treewright.data.table_address import is_address

    if engine in IN_PLACE or is_address(source):
        if engine in IN_MEMORY[1:]:
            raise click.UsageError(
                f"--engine {engine} reads a file into memory, and {_shown(source)} is no single file"
            )
        return True
    for name in in_place:
        option = name.replace("_", "-")
        raise click.UsageError(f"--{option} is for out-of-core tables: a URL, several files, or --engine duckdb")
    return False


def _shown(source: str) -> str:
    from treewright.data.table_address import without_secrets

    return without_secrets(source)


def learn_there_and_tell(
    source: str,
    plan: Plan | ForestPlan,
    engine: str,
    *,
    target: str | None,
    output: str | None,
    no_save: bool,
    overrides: Overrides,
    schema: Schema | None,
    as_json: bool,
    smoothing: Any,
    costs: tuple[str, ...],
    in_place: dict[str, Any],
) -> None:
    """Train out of core, save and print."""
    from treewright.counting.engine import engine_over
    from treewright.data.table_address import Table
    from treewright.ensembles.random_forest import bags_of
    from treewright.fitting.learn_in_place import fit_forest_in_place, fit_in_place
    from treewright.learners.out_of_core import FINISH_ROWS
    from treewright.plans import Plan, costs_from

    key = in_place.get("key")
    table = Table(source, None, engine if engine in IN_PLACE else None, key)
    path = None if no_save else output or _model_path(table)
    if path is not None:
        require_place(path)
    finish_rows = in_place.get("finish_rows", FINISH_ROWS)
    with (
        warnings_as_notes(),
        engine_over(
            table,
            target,
            schema,
            overrides,
            nominal_limit=plan.nominal_limit,
            temporary=bool(in_place.get("temporary_tables")),
            bags=None if isinstance(plan, Plan) else bags_of(plan, key),
            key=key,
        ) as distant,
    ):
        if in_place.get("dry_run"):
            _tell_plan(distant, plan, as_json=as_json)
            return
        if not as_json:
            say(f"{_table_line(distant)}\n{plan.name}   {plan.describe()}, counted by {distant.name}\n")
        chosen = costs_from(parsed_costs(costs), list(distant.schema.classes)) if costs else None
        told = {"smoothing": smoothing, "costs": chosen, "finish_rows": finish_rows}
        told["on_level"] = _tell_level if is_terminal(sys.stderr) else None
        with ProgressBar("growing") as bar:
            model: TreeModel | Forest
            if isinstance(plan, Plan):
                model = fit_in_place(distant, plan, progress=bar, state=in_place.get("resume"), **told)
            else:
                model = fit_forest_in_place(distant, plan, key, progress=bar, **told)
        scans = distant.scans
    if path is not None:
        model.save(path)
    if as_json:
        say_json(_as_json(model, path, scans, distant.name))
    else:
        _print(model, scans)
        note("note: no accuracy estimate out of core; test the model with `treewright evaluate`")
        if path is not None:
            say(f"Model written to {path}")


def _tell_level(depth: int, open_nodes: int) -> None:
    """Say how far the tree has grown: a level may take its time."""
    note(f"level {depth}: {many(open_nodes, 'open node')}")


def _model_path(table: Table) -> str:
    if not table.is_file:
        return f"{table.parts[-1]}.model.json"
    stem = PurePath(table.path).stem.strip("*?[]-_. ")
    return f"{stem or PurePath(table.path).parent.name or 'tree'}.model.json"


def _table_line(engine: DistantEngine) -> str:
    from treewright.wording import printable

    kinds = [str(column.kind) for column in engine.schema.attributes]
    parts = [f"{kinds.count(kind)} {kind}" for kind in ("nominal", "ordinal", "numeric") if kind in kinds]
    attributes = "attribute" if len(kinds) == 1 else "attributes"
    name = printable(engine.source or "data")
    return f"{name}   {many(engine.n_rows, 'row')}, {' + '.join(parts) or 'no'} {attributes}"


def _tell_plan(engine: Any, plan: Plan | ForestPlan, *, as_json: bool) -> None:
    """Say what would be asked, without growing."""
    from treewright.fitting.learn_in_place import most_scans
    from treewright.learners.recipe import Recipe
    from treewright.plans import Plan

    learner = plan.learner if isinstance(plan, Plan) else plan.tree.learner
    depth = learner.stopping.max_depth if isinstance(learner, Recipe) else None
    statement = engine.first_statement()
    if as_json:
        scans = None if depth is None else most_scans(engine, plan, depth)
        say_json({"engine": engine.name, "statement": statement, "scans": scans, "scans_so_far": engine.scans})
        return
    say(f"{statement};")
    least, level = most_scans(engine, plan, 0), engine.scans_per_level
    known = "" if depth is None else f": at most {least + level * depth} to depth {depth}"
    factor = "depth" if level == 1 else f"{level} x depth"
    note(f"scans: {engine.scans} so far, {factor} + {least} in all{known}; each level is one statement like this one")


def _print(model: TreeModel | Forest, scans: int) -> None:
    from treewright.cli.output import forest_text
    from treewright.cli.train import printed_tree
    from treewright.tree.forest import Forest

    if isinstance(model, Forest):
        say(f"{forest_text(model)}\n\n{many(scans, 'scan')}.")
        return
    say(printed_tree(model))
    say(f"\n{size_line(model.tree)}  {_training_line(model)}  {many(scans, 'scan')}.")


def _training_line(model: TreeModel) -> str:
    name, number = _training(model)
    if name == "training_rmse":
        return f"Training root mean squared error {number:.4g}."
    return f"Training accuracy {percent(number)}."


def _training(model: TreeModel) -> tuple[str, float]:
    """Return what the leaves say of the training cases, without looking at these again."""
    tree = model.tree
    leaves = [node for node in range(tree.n_nodes) if tree.split(node) is None]
    weight = float(sum(tree.weight[leaf] for leaf in leaves))
    if tree.sse is not None:
        return "training_rmse", float(sum(tree.sse[leaf] for leaf in leaves) / weight) ** 0.5
    right = float(sum(tree.counts[leaf][int(tree.outcome[leaf])] for leaf in leaves))
    return "training_accuracy", right / weight


def _as_json(model: TreeModel | Forest, path: str | None, scans: int, engine: str) -> dict[str, Any]:
    from treewright.cli.output import forest_facts
    from treewright.tree.forest import Forest

    if isinstance(model, Forest):
        size = forest_facts(model)
    else:
        name, number = _training(model)
        size = {"nodes": model.tree.n_nodes, "leaves": model.tree.n_leaves, "depth": model.tree.depth, name: number}
    return {
        "source": model.provenance["source"],
        "rows": model.provenance["rows"],
        "target": model.schema.target,
        "recipe": dict(model.recipe),
        **size,
        "estimate": None,
        "engine": engine,
        "scans": scans,
        "model": None if path is None else str(Path(path)),
    }
