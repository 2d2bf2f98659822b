"""Train out of core: on a database, on files larger than memory, or on a cluster. The model is the same as in memory.

An engine (`treewright.counting.engine.OutOfCoreEngine`) counts; the same code as in memory chooses the splits. The
state file holds the tree after each level and is itself a model file; interrupted training resumes from it.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, cast

from treewright.counting.engine import OutOfCoreEngine, engine_over, is_out_of_core
from treewright.data.dataset import Dataset
from treewright.data.infer import Overrides
from treewright.data.schema import Schema
from treewright.data.table_address import ENGINES, Table, is_address
from treewright.ensembles.plan import ForestPlan
from treewright.ensembles.random_forest import (
    bootstrap_samples_of,
    forest_of_trees,
    require_forest_out_of_core,
    tree_recipes,
)
from treewright.errors import DataWarning, ParameterError
from treewright.fitting.algorithms import Learner, as_learner
from treewright.fitting.learn import fit, require_classes_to_smooth, warn_of_identifiers
from treewright.learners.base import Grown, Progress, SplitTraces, TreeLearner
from treewright.learners.out_of_core import FINISH_ROWS, GrowthFile, OnLevel, grow_forest_over
from treewright.learners.recipe import Cuts, Intervals, MissingPolicy, Placement
from treewright.parameters import check_whole_number
from treewright.plans import Costs, Plan, as_plan, provenance
from treewright.pruning.methods import ErrorBased, Method, ReducedError, prune
from treewright.tree.forest import Forest
from treewright.tree.model import Smoothing, TreeModel
from treewright.tree.tree import Tree

DISTINCT_ROWS = 2_000_000
"""Pruning by subtree raising is done with at most so many different cases."""


def fit_table(
    source: Any,
    recipe: Learner | TreeLearner | str,
    *,
    target: str | None = None,
    schema: Schema | None = None,
    overrides: Overrides | None = None,
    class_weights: Mapping[str, float] | None = None,
    smoothing: Smoothing = None,
    costs: Costs | None = None,
    progress: Progress | None = None,
    keep_trace: bool = True,
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
    class_weights, smoothing, costs, progress, keep_trace
        As in `treewright.fit`.
    finish_rows : int
        Nodes with at most so many cases are fetched and finished in memory; 0 fetches none.
    state : path or None
        A file that is written after each level and removed at the end. If it is there from a run that was broken off,
        learning goes on from it.
    temporary : bool
        Whether rows of open nodes may be copied to temporary tables (DuckDB and PostgreSQL); else nothing is written.
    engine : str
        ``"duckdb"``, ``"postgresql"``, ``"spark"`` or ``"dask"``; ``"auto"`` takes the engine of the source.
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
    plan = as_learner(recipe)
    if isinstance(source, str) and (engine in ENGINES or is_address(source)):
        source = Table(source, None, None if engine == "auto" else engine)
    elif isinstance(source, Table) and engine != "auto":
        source = replace(source, engine=engine)
    if not is_out_of_core(source):
        raise ParameterError(
            "learn from a treewright.Dataset, a treewright.Table, a DuckDB relation, a Spark frame or a Dask frame, "
            f"not {type(source).__name__}; treewright.read reads files, and estimators take frames"
        )
    with opened_table(
        source, plan, target, schema, overrides, class_weights=class_weights, temporary=temporary, key=key
    ) as table:
        return table.fit(
            smoothing=smoothing,
            costs=costs,
            progress=progress,
            keep_trace=keep_trace,
            finish_rows=finish_rows,
            state=state,
        )


@dataclass(frozen=True)
class OpenedTable:
    """An out-of-core table with an engine that counts it for a learner.

    Parameters
    ----------
    engine : OutOfCoreEngine
    learner : Learner
    key : str or None
        Of a forest: the column by which rows are sampled.
    """

    engine: OutOfCoreEngine
    learner: Learner
    key: str | None

    def fit(
        self,
        *,
        smoothing: Smoothing = None,
        costs: Costs | None = None,
        progress: Progress | None = None,
        keep_trace: bool = True,
        finish_rows: int = FINISH_ROWS,
        state: str | os.PathLike[str] | None = None,
        on_level: OnLevel | None = None,
    ) -> TreeModel | Forest:
        """Learn a tree or a forest; the parameters are those of `fit_over` and `fit_forest_over`."""
        how: dict[str, Any] = {
            "smoothing": smoothing,
            "costs": costs,
            "progress": progress,
            "finish_rows": finish_rows,
            "on_level": on_level,
        }
        if not self.learner.abilities.many_trees:
            return fit_over(self.engine, self.learner.tree, keep_trace=keep_trace, state=state, **how)
        if state is not None:
            raise ParameterError("forests out of core keep no state: they start again")
        return fit_forest_over(self.engine, cast("ForestPlan", self.learner), self.key, **how)

    def most_scans(self, depth: int) -> int:
        """Return how many scans growing to a depth takes at most."""
        return most_scans(self.engine, self.learner, depth)


@contextmanager
def opened_table(
    source: Any,
    plan: Learner,
    target: str | None = None,
    schema: Schema | None = None,
    overrides: Overrides | None = None,
    *,
    class_weights: Mapping[str, float] | None = None,
    temporary: bool = False,
    key: str | None = None,
) -> Iterator[OpenedTable]:
    """Open a table out of core for a learner; the parameters are those of `fit_table`."""
    _require_ability(plan)
    named = source.key if key is None and isinstance(source, Table) else key
    bootstraps = bootstrap_samples_of(cast("ForestPlan", plan), named) if plan.abilities.many_trees else None
    with engine_over(
        source,
        target,
        schema,
        overrides,
        nominal_limit=plan.tree.learner.nominal_limit,
        class_weights=class_weights,
        temporary=temporary,
        bootstraps=bootstraps,
        row_id=named,
    ) as engine:
        yield OpenedTable(engine, plan, named)


def fit_over(
    engine: OutOfCoreEngine,
    recipe: Plan | TreeLearner,
    *,
    smoothing: Smoothing = None,
    costs: Costs | None = None,
    progress: Progress | None = None,
    keep_trace: bool = True,
    finish_rows: int = FINISH_ROWS,
    state: str | os.PathLike[str] | None = None,
    on_level: OnLevel | None = None,
) -> TreeModel:
    """Learn over an engine whose data are out of core.

    Parameters
    ----------
    engine : OutOfCoreEngine
    recipe : Recipe, CHAID or Plan
    smoothing, costs, progress, keep_trace
        As in `treewright.fit`.
    finish_rows : int
        Nodes with at most so many cases are fetched and finished in memory.
    state : path or None
        Where the state after each level is kept.
    on_level : callable or None
        Called before each level with its depth and the number of open nodes.
    """
    check_whole_number("finish_rows", finish_rows, 0)
    plan = as_plan(recipe).for_schema(engine.schema)
    _require_possible(plan, engine)
    require_classes_to_smooth(engine.schema, smoothing)
    warn_of_identifiers(engine.schema, engine.n_rows)
    if engine.n_cases <= finish_rows:
        return _fit_fetched(engine, plan, smoothing, costs, progress, keep_trace=keep_trace)
    if plan.reference.missing is MissingPolicy.FRACTIONAL:
        _require_no_missing(engine, plan)
    origin = provenance(engine.n_rows, engine.source)
    kept = None
    if state is not None:
        kept = GrowthFile(state, plan.record() | {"finish_rows": finish_rows}, origin, engine.schema)
    grown = plan.learner.grow_over(
        engine, finish_rows=finish_rows, progress=progress, state=kept, on_level=on_level, keep_trace=keep_trace
    )
    tree = grown.tree
    for method in plan.pruning:
        tree = _pruned(tree, method, engine, plan)
    traces: SplitTraces = {}
    if keep_trace:
        traces = grown.traces if tree is grown.tree else plan.learner.trace_over(engine, tree, plan.task)
    grown = plan.learner.finish_over(engine, Grown(tree, dict(traces)))
    if kept is not None:
        kept.remove()
    return TreeModel(grown.tree, plan.record(), origin, grown.traces, smoothing, plan.learner.voting, costs)


def fit_forest_over(
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
    """Learn a forest over an engine whose data are out of core; all trees share every scan.

    Parameters
    ----------
    engine : BaseOutOfCoreEngine
        Over the bootstrap samples of the plan (`treewright.ensembles.random_forest.bootstrap_samples_of`).
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
    check_whole_number("finish_rows", finish_rows, 0)
    fitting = plan.for_schema(engine.schema)
    require_forest_out_of_core(fitting, engine.schema, engine.name)
    require_classes_to_smooth(engine.schema, smoothing)
    warn_of_identifiers(engine.schema, engine.n_rows)
    recipes = tree_recipes(fitting, len(engine.schema.attributes))
    if recipes[0].missing is MissingPolicy.FRACTIONAL:
        _require_no_missing(engine, fitting.tree)
    trees = grow_forest_over(engine, recipes, finish_rows=finish_rows, progress=progress, on_level=on_level)
    for method in fitting.tree.pruning:
        trees = [prune(tree, method) for tree in trees]
    return forest_of_trees(trees, fitting, key, provenance(engine.n_rows, engine.source), smoothing, costs)


def most_scans(engine: OutOfCoreEngine, recipe: Learner | TreeLearner, depth: int) -> int:
    """Return how many scans learning to a depth takes at most, those that were made already included.

    Tables that are too large for one answer, and nodes that are finished in memory, take more.

    Parameters
    ----------
    engine : OutOfCoreEngine
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
    plan = as_learner(recipe).tree.for_schema(engine.schema)
    scans = engine.scans + engine.scans_ahead + depth * engine.scans_per_level
    cuts = None if plan.learner.recipe is None else plan.learner.recipe.numeric
    placed = isinstance(cuts, Cuts) and cuts.placement is Placement.DATA_VALUE
    if engine.scans_per_level > 1 and (placed or isinstance(cuts, Intervals)):
        scans += 1  # the numbers next to the cuts, or all numbers to make intervals of
    return scans + sum(isinstance(method, ErrorBased) for method in plan.pruning)


def _require_ability(plan: Learner) -> None:
    if not plan.abilities.out_of_core:
        raise ParameterError(
            f"{plan.name}: trained in memory only; out of core there are ID3, C4.5 (dialect 'c45'), CART, CHAID and "
            "forests of them. Read the table (treewright.read; on the command line give one file and omit --engine)"
        )


def _require_possible(plan: Plan, engine: OutOfCoreEngine) -> None:
    _require_ability(plan)
    if plan.learner.numeric_bins is not None:
        raise ParameterError(f"bins are made from numbers in memory, and not by {engine.name}: leave bins out")
    held_out = [method for method in plan.pruning if isinstance(method, ReducedError)]
    if held_out:
        raise ParameterError(
            f"reduced-error pruning holds out cases by their number, and rows of {engine.name} have none: "
            "prune by another method"
        )


def _fit_fetched(
    engine: OutOfCoreEngine,
    plan: Plan,
    smoothing: Smoothing,
    costs: Costs | None,
    progress: Progress | None,
    *,
    keep_trace: bool,
) -> TreeModel:
    """Learn in memory, because there is little to fetch."""
    [cases] = engine.fetch([engine.root()])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # warned already
        model = fit(cases, plan, smoothing=smoothing, costs=costs, progress=progress, keep_trace=keep_trace)
    return replace(model, provenance=provenance(engine.n_rows, engine.source))


def _require_no_missing(engine: OutOfCoreEngine, plan: Plan) -> None:
    """Refuse at once what would be refused after hours."""
    incomplete = engine.incomplete()
    if incomplete:
        columns = ", ".join(f"{name!r} ({number:,})" for name, number in incomplete.items())
        raise ParameterError(
            f"{plan.name} sends cases with a missing value down several branches, which {engine.name} does not do; "
            f"there are values missing in {columns}: leave these columns out, fill them, use CART, "
            "or read the table into memory"
        )


def _pruned(tree: Tree, method: Method, engine: OutOfCoreEngine, plan: Plan) -> Tree:
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


def _cases_for(tree: Tree, engine: OutOfCoreEngine) -> Dataset | None:
    """Return cases that go through any part of the tree as the real ones do, equal ones put together."""
    cuts: dict[int, list[float]] = {}
    for node in range(tree.n_nodes):
        split = tree.split(node)
        if split is not None:
            cuts.setdefault(split.attribute, [])
            cuts[split.attribute] += [split.cut] if split.cut is not None else list(split.bounds)
    return engine.distinct_rows(cuts, DISTINCT_ROWS)
