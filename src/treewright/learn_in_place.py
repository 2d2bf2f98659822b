"""Train out of core: on a database, on files larger than memory, or on a cluster. The model is the same as in memory.

An engine (`treewright.counts.engine.DistantEngine`) counts; the same code as in memory chooses the splits. The state
file holds the tree after each level and is itself a model file; interrupted training resumes from it.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from treewright._base.errors import DataWarning, ParameterError
from treewright._base.version import __version__
from treewright.counts.engine import DistantEngine
from treewright.counts.opening import engine_over, is_outside_memory
from treewright.data.dataset import Dataset
from treewright.data.infer import Overrides
from treewright.data.schema import Kind, Schema
from treewright.data.table import ENGINES, Table, is_address
from treewright.ensemble.by_key import bags_of, joined, recipes_of, require_possible
from treewright.ensemble.plan import BoostPlan, EnsemblePlan, ForestPlan
from treewright.grow.bins_of_numbers import bins_of_learner
from treewright.grow.chaid.options import CHAID
from treewright.grow.forest_in_place import grow_forest_over
from treewright.grow.grower import Grown, Progress
from treewright.grow.growth_state import GrowthFile
from treewright.grow.in_place import FINISH_ROWS, OnLevel, examine_in_place, grow_in_place
from treewright.grow.placing import place_cuts
from treewright.grow.recipe import Cuts, Intervals, MissingPolicy, Placement, Recipe
from treewright.learn import MANY_VALUES, VALUES_PER_ROW, described, fit
from treewright.learn_working import as_it_was_done
from treewright.model.forest import Forest
from treewright.model.model import Smoothing, TreeModel
from treewright.model.tree import Tree
from treewright.model.working import EvaluatedSplit
from treewright.plans import Learner, Plan, as_plan, for_task
from treewright.prune.method import ErrorBased, Method, ReducedError, prune
from treewright.rule_plan import RulePlan

DISTINCT_ROWS = 2_000_000
"""Pruning by subtree raising is done with at most so many different cases."""

Costs = tuple[tuple[float, ...], ...]


def fit_table(
    source: Any,
    recipe: Plan | Learner | RulePlan | EnsemblePlan,
    *,
    target: str | None = None,
    schema: Schema | None = None,
    overrides: Overrides | None = None,
    class_weights: Mapping[str, float] | None = None,
    smoothing: Smoothing = None,
    costs: Costs | None = None,
    progress: Progress | None = None,
    keep_working: bool = True,
    finish_rows: int = FINISH_ROWS,
    state: str | os.PathLike[str] | None = None,
    temporary: bool = False,
    engine: str = "auto",
    key: str | None = None,
) -> TreeModel | Forest:
    """Learn from a table where it is.

    Parameters
    ----------
    source : Table, its address as text, DuckDB relation, Spark frame or Dask frame
    recipe : Recipe, CHAID, Plan or ForestPlan
    target : str or None
        The column to predict; None takes that of the schema.
    schema : Schema or None
        What the columns are; None infers it, as reading into memory would.
    overrides : Overrides or None
        Corrections to the inference.
    class_weights, smoothing, costs, progress, keep_working
        As in `treewright.fit`.
    finish_rows : int
        Nodes with at most so many cases are fetched and finished in memory; 0 fetches none.
    state : path or None
        A file that is written after each level and removed at the end. If it is there from a run that was broken off,
        learning goes on from it.
    temporary : bool
        Whether rows of open nodes may be copied to temporary tables (DuckDB and PostgreSQL); else nothing is written.
    engine : str
        ``"duckdb"``, ``"postgresql"``, ``"spark"`` or ``"dask"``; ``"auto"`` takes what the source says.
    key : str or None
        Of a forest: the column that names each row, by which rows are drawn; None takes that of the table.

    Examples
    --------
    >>> import duckdb
    >>> from treewright.plans import id3
    >>> rows = duckdb.sql("SELECT i % 2 = 0 AS even, i % 4 = 0 AS fourth FROM range(100) t(i)")
    >>> fit_table(rows, id3(), target="fourth", finish_rows=0).tree.n_leaves
    2
    """
    if isinstance(recipe, (RulePlan, BoostPlan)):
        raise ParameterError(
            "rules and boosted trees are made from cases in memory; read the table and learn from the dataset"
        )
    if isinstance(source, str) and (engine in ENGINES or is_address(source)):
        source = Table(source, None, None if engine == "auto" else engine)
    elif isinstance(source, Table) and engine != "auto":
        source = replace(source, engine=engine)
    if not is_outside_memory(source):
        raise ParameterError(
            "learn from a treewright.Dataset, a treewright.Table, a DuckDB relation, a Spark frame or a Dask frame, "
            f"not {type(source).__name__}; treewright.read reads files, and estimators take frames"
        )
    plan = recipe if isinstance(recipe, ForestPlan) else as_plan(recipe)
    named = source.key if key is None and isinstance(source, Table) else key
    with engine_over(
        source,
        target,
        schema,
        overrides,
        nominal_limit=plan.nominal_limit,
        class_weights=class_weights,
        temporary=temporary,
        bags=bags_of(plan, named) if isinstance(plan, ForestPlan) else None,
        key=named,
    ) as distant:
        if isinstance(plan, ForestPlan):
            if state is not None:
                raise ParameterError("forests outside memory keep no state: they start again")
            return fit_forest_in_place(
                distant, plan, named, smoothing=smoothing, costs=costs, progress=progress, finish_rows=finish_rows
            )
        return fit_in_place(
            distant,
            plan,
            smoothing=smoothing,
            costs=costs,
            progress=progress,
            keep_working=keep_working,
            finish_rows=finish_rows,
            state=state,
        )


def fit_in_place(
    engine: DistantEngine,
    recipe: Plan | Learner,
    *,
    smoothing: Smoothing = None,
    costs: Costs | None = None,
    progress: Progress | None = None,
    keep_working: bool = True,
    finish_rows: int = FINISH_ROWS,
    state: str | os.PathLike[str] | None = None,
    on_level: OnLevel | None = None,
) -> TreeModel:
    """Learn over an engine whose data are outside memory.

    Parameters
    ----------
    engine : DistantEngine
    recipe : Recipe, CHAID or Plan
    smoothing, costs, progress, keep_working
        As in `treewright.fit`.
    finish_rows : int
        Nodes with at most so many cases are fetched and finished in memory.
    state : path or None
        Where the state after each level is kept.
    on_level : callable or None
        Called before each level with its depth and the number of open nodes.
    """
    _check_finish_rows(finish_rows)
    plan = for_task(as_plan(recipe), engine.schema)
    _require_possible(plan, engine)
    _warn_of_names(engine)
    if engine.n_cases <= finish_rows:
        return _fit_fetched(engine, plan, smoothing, costs, progress, keep_working=keep_working)
    kept = None
    if isinstance(plan.learner, CHAID):
        grown = _grown_by_chaid(engine, plan.learner, keep_working=keep_working)
    else:
        if state is not None:
            told = described(plan) | {"finish_rows": finish_rows}
            kept = GrowthFile(state, told, _provenance(engine), engine.schema)
        grown = _grown(engine, plan, finish_rows, progress, kept, on_level)
    tree = grown.tree
    for method in plan.pruning:
        tree = _pruned(tree, method, engine, plan)
    working: Mapping[int, tuple[EvaluatedSplit, ...]] = {}
    if keep_working:
        working = grown.working if tree is grown.tree else _examined(engine, plan, tree)
    if isinstance(plan.learner, Recipe):
        grown = place_cuts(Grown(tree, dict(working)), plan.learner, engine)
        tree, working = grown.tree, grown.working
    if kept is not None:
        kept.remove()
    return TreeModel(tree, described(plan), _provenance(engine), working, smoothing, plan.voting, costs)


def fit_forest_in_place(
    engine: Any,
    plan: ForestPlan,
    key: str | None,
    *,
    smoothing: Smoothing = None,
    costs: Costs | None = None,
    progress: Progress | None = None,
    finish_rows: int = FINISH_ROWS,
    on_level: OnLevel | None = None,
) -> Forest:
    """Learn a forest over an engine whose data are outside memory; all trees share every scan.

    Parameters
    ----------
    engine : OutsideEngine
        Over the bags of the plan (`treewright.ensemble.by_key.bags_of`).
    plan : ForestPlan
    key : str or None
        The column by which rows are drawn.
    smoothing, costs
        As in `treewright.fit`.
    progress : callable or None
        Called with trees done and trees in all.
    finish_rows : int
        Nodes with at most so many cases are fetched and finished in memory.
    on_level : callable or None
        Called before each level with its depth and the number of open nodes of all trees.
    """
    _check_finish_rows(finish_rows)
    fitting = plan.for_schema(engine.schema)
    require_possible(fitting, engine.schema, engine.name)
    _warn_of_names(engine)
    recipes = recipes_of(fitting, len(engine.schema.attributes))
    if recipes[0].missing is MissingPolicy.FRACTIONAL:
        _require_no_missing(engine, fitting.tree)
    trees = grow_forest_over(engine, recipes, finish_rows=finish_rows, progress=progress, on_level=on_level)
    for method in fitting.tree.pruning:
        trees = [prune(tree, method) for tree in trees]
    return joined(trees, fitting, key, _provenance(engine), smoothing, costs)


def _check_finish_rows(finish_rows: int) -> None:
    if finish_rows < 0:
        raise ParameterError(f"finish_rows must be a whole number of at least 0, not {finish_rows!r}")


def most_scans(engine: DistantEngine, recipe: Plan | Learner | ForestPlan, depth: int) -> int:
    """Return how many scans learning to a depth takes at most, those that were made already included.

    Tables that are too large for one answer, and nodes that are finished in memory, take more.

    Parameters
    ----------
    engine : DistantEngine
    recipe : Recipe, CHAID, Plan or ForestPlan
        The trees of a forest share every scan.
    depth : int

    Examples
    --------
    >>> import duckdb
    >>> from treewright.plans import id3
    >>> rows = duckdb.sql("SELECT 'v' || i % 3 AS x, i % 2 = 0 AS y FROM range(10) t(i)")
    >>> most_scans(engine_over(rows, "y"), id3(), 4)
    5
    """
    plan = for_task(recipe.tree if isinstance(recipe, ForestPlan) else as_plan(recipe), engine.schema)
    scans = engine.scans + engine.scans_ahead + depth * engine.scans_per_level
    cuts = plan.learner.numeric if isinstance(plan.learner, Recipe) else None
    placed = isinstance(cuts, Cuts) and cuts.placement is Placement.DATA_VALUE
    if engine.scans_per_level > 1 and (placed or isinstance(cuts, Intervals)):
        scans += 1  # the numbers next to the cuts, or all numbers to make intervals of
    return scans + sum(isinstance(method, ErrorBased) for method in plan.pruning)


def _provenance(engine: DistantEngine) -> dict[str, Any]:
    return {"treewright": __version__, "rows": engine.n_rows, "source": engine.source}


def _require_possible(plan: Plan, engine: DistantEngine) -> None:
    if not isinstance(plan.learner, (Recipe, CHAID)):
        raise ParameterError(
            f"{plan.name} needs the cases one by one, in memory, and not tables counted by {engine.name}: "
            "ID3, C4.5 (dialect 'c45'), CART and CHAID learn there"
        )
    if bins_of_learner(plan.learner) is not None:
        raise ParameterError(f"bins are made from numbers in memory, and not by {engine.name}: leave bins out")
    held_out = [method for method in plan.pruning if isinstance(method, ReducedError)]
    if held_out:
        raise ParameterError(
            f"reduced-error pruning holds out cases by their number, and rows of {engine.name} have none: "
            "prune by another method"
        )


def _warn_of_names(engine: DistantEngine) -> None:
    for column in engine.schema.attributes:
        values = len(column.values)
        if column.kind is Kind.NOMINAL and values >= MANY_VALUES and values > VALUES_PER_ROW * engine.n_rows:
            warnings.warn(
                f"column {column.name!r} has {values:,} values in {engine.n_rows:,} rows: "
                "if it names the cases, leave it out",
                DataWarning,
                stacklevel=3,
            )


def _fit_fetched(
    engine: DistantEngine,
    plan: Plan,
    smoothing: Smoothing,
    costs: Costs | None,
    progress: Progress | None,
    *,
    keep_working: bool,
) -> TreeModel:
    """Learn in memory, because there is little to fetch."""
    [cases] = engine.fetch([engine.root()])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # it was told already
        model = fit(cases, plan, smoothing=smoothing, costs=costs, progress=progress, keep_working=keep_working)
    return replace(model, provenance=_provenance(engine))


def _grown(
    engine: DistantEngine,
    plan: Plan,
    finish_rows: int,
    progress: Progress | None,
    kept: GrowthFile | None,
    on_level: OnLevel | None,
) -> Grown:
    learner = plan.learner
    if not isinstance(learner, Recipe):
        raise ParameterError(f"{plan.name} does not grow by a recipe")
    if learner.missing is MissingPolicy.FRACTIONAL:
        _require_no_missing(engine, plan)
    if kept is None:
        return grow_in_place(engine, learner, finish_rows=finish_rows, progress=progress, on_level=on_level)
    return grow_in_place(
        engine,
        learner,
        finish_rows=finish_rows,
        progress=progress,
        checkpoint=kept.save,
        state=kept.load(),
        on_level=on_level,
    )


def _require_no_missing(engine: DistantEngine, plan: Plan) -> None:
    """Refuse at once what would be refused after hours."""
    incomplete = engine.incomplete()
    if incomplete:
        told = ", ".join(f"{name!r} ({number:,})" for name, number in incomplete.items())
        raise ParameterError(
            f"{plan.name} divides cases without a value among the branches, which {engine.name} does not do; "
            f"there are values missing in {told}: leave these columns out, fill them, use CART, "
            "or read the table into memory"
        )


def _grown_by_chaid(engine: DistantEngine, options: CHAID, *, keep_working: bool) -> Grown:
    from treewright.grow.chaid.growing import grow_chaid_over
    from treewright.grow.chaid.working import chaid_traces_over

    growth = grow_chaid_over(engine, options)
    return Grown(growth.tree, chaid_traces_over(engine, growth) if keep_working else {})


def _pruned(tree: Tree, method: Method, engine: DistantEngine, plan: Plan) -> Tree:
    if not isinstance(method, ErrorBased):
        return prune(tree, method)
    cases = _cases_for(tree, engine)
    if cases is None:
        raise ParameterError(
            f"{plan.name} is pruned by putting branches in the place of their nodes, which needs the different cases, "
            f"and there are more than {DISTINCT_ROWS:,} of them: prune without raising (raising=False, --no-raising), "
            "or by another method"
        )
    return prune(tree, method, cases)


def _cases_for(tree: Tree, engine: DistantEngine) -> Dataset | None:
    """Return cases that go through any part of the tree as the real ones do, equal ones put together."""
    cuts: dict[int, list[float]] = {}
    for node in range(tree.n_nodes):
        split = tree.split(node)
        if split is not None:
            cuts.setdefault(split.attribute, [])
            cuts[split.attribute] += [split.cut] if split.cut is not None else list(split.bounds)
    return engine.distinct_rows(cuts, DISTINCT_ROWS)


def _examined(engine: DistantEngine, plan: Plan, tree: Tree) -> Mapping[int, tuple[EvaluatedSplit, ...]]:
    if isinstance(plan.learner, CHAID):
        engine.use_numbers()  # its intervals are those of the whole table; the judge cuts numbers in two
    working = examine_in_place(engine, plan.judge, tree)
    if not isinstance(plan.learner, CHAID):
        return working
    return {
        node: tuple(as_it_was_done(one, tree.node(node).stop, merges_missing=True) for one in entries)
        for node, entries in working.items()
    }
