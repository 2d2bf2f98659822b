"""One plain way from a dataset to a model, whatever the learner. Estimators and the command line call this."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from treewright._base.errors import DataError, DataWarning, ParameterError
from treewright._base.interrupt import run_in_worker
from treewright._base.version import __version__
from treewright.data.dataset import Dataset
from treewright.data.infer import Overrides
from treewright.data.schema import Kind, Schema, Task
from treewright.ensemble.plan import BoostPlan, EnsemblePlan, ForestPlan
from treewright.grow.bins_of_numbers import in_bins
from treewright.grow.chaid.options import CHAID
from treewright.grow.engines import (
    UNINTERRUPTED_CASES,
    by_kernels,
    check_engine,
    counting_engine,
    grow_tree,
    is_compiled,
    with_compiled_criterion,
)
from treewright.grow.grower import Grown, Progress, grow, trace_tree
from treewright.grow.recipe import MissingPolicy, NominalTest, Recipe
from treewright.grow.subsets import SEARCH, SEARCH_BY_OWN
from treewright.grow.tree_engine import engine_for
from treewright.learn_working import Working, examined, examined_later
from treewright.model.model import Smoothing, TreeModel
from treewright.model.tree import Tree
from treewright.plans import Learner, Plan, as_plan, for_task
from treewright.prune.method import ReducedError, prune, split_off
from treewright.rpart_plan import MedianLearner, RpartLearner
from treewright.rule_plan import RulePlan

if TYPE_CHECKING:
    from treewright.model.forest import Forest
    from treewright.model.rule_model import RuleModel

MANY_VALUES = 100
"""A nominal column with fewer values is not suspected of naming the cases."""

VALUES_PER_ROW = 0.2
"""A nominal column with more values for each row than this is."""


@overload
def fit(
    dataset: Dataset,
    recipe: Plan | Learner,
    *,
    class_weights: Mapping[str, float] | None = None,
    smoothing: Smoothing = None,
    costs: tuple[tuple[float, ...], ...] | None = None,
    progress: Progress | None = None,
    keep_working: bool = True,
    engine: str = "auto",
    n_jobs: int | None = None,
) -> TreeModel: ...


@overload
def fit(dataset: Dataset, recipe: RulePlan, *, keep_working: bool = True) -> RuleModel: ...


@overload
def fit(
    dataset: Dataset,
    recipe: EnsemblePlan,
    *,
    class_weights: Mapping[str, float] | None = None,
    smoothing: Smoothing = None,
    costs: tuple[tuple[float, ...], ...] | None = None,
    progress: Progress | None = None,
    keep_working: bool = True,
    n_jobs: int | None = None,
    time_limit: float | None = None,
    resume: Forest | None = None,
) -> Forest: ...


@overload
def fit(
    dataset: object,
    recipe: Plan | Learner,
    *,
    class_weights: Mapping[str, float] | None = None,
    smoothing: Smoothing = None,
    costs: tuple[tuple[float, ...], ...] | None = None,
    progress: Progress | None = None,
    keep_working: bool = True,
    resume: str | PathLike[str] | None = None,
    target: str | None = None,
    schema: Schema | None = None,
    overrides: Overrides | None = None,
    finish_rows: int = ...,
    temporary: bool = False,
    engine: str = "auto",
) -> TreeModel: ...


@overload
def fit(
    dataset: object,
    recipe: EnsemblePlan,
    *,
    class_weights: Mapping[str, float] | None = None,
    smoothing: Smoothing = None,
    costs: tuple[tuple[float, ...], ...] | None = None,
    progress: Progress | None = None,
    target: str | None = None,
    schema: Schema | None = None,
    overrides: Overrides | None = None,
    finish_rows: int = ...,
    engine: str = "auto",
    key: str | None = None,
) -> Forest: ...


def fit(
    dataset: object,
    recipe: Plan | Learner | RulePlan | EnsemblePlan,
    *,
    class_weights: Mapping[str, float] | None = None,
    smoothing: Smoothing = None,
    costs: tuple[tuple[float, ...], ...] | None = None,
    progress: Progress | None = None,
    keep_working: bool = True,
    engine: str = "auto",
    n_jobs: int | None = None,
    time_limit: float | None = None,
    resume: Forest | str | PathLike[str] | None = None,
    **there: Any,
) -> TreeModel | RuleModel | Forest:
    """Learn a tree, rules, or a forest.

    Parameters
    ----------
    dataset : Dataset, Table, DuckDB relation, Spark frame or Dask frame
        With a target; ``dataset.weights`` are respected. All but a dataset stay where they are: an engine counts there.
    recipe : Recipe, Release8, J48, CHAID, CAL2, CAL3, Plan, RulePlan, ForestPlan or BoostPlan
        What to learn; a bare recipe grows without pruning.
    class_weights : dict of str to float or None
        Factor on the weight of the cases of each class.
    smoothing : None, "laplace" or float
        How class probabilities are estimated.
    costs : tuple of tuples or None
        Cost of saying class j of a case of class i, in declared order.
    progress : callable or None
        Called with cases (of a forest: trees) done and in all.
    keep_working : bool
        Whether the model is to tell what was looked at in its nodes; without, the same tree is learned sooner.
    engine : str
        Who grows: "interpreted", "compiled", or "auto" to choose by the size of the data. The tree is the same. For a
        table outside memory who counts: "duckdb", "postgresql", "spark" or "dask".
    n_jobs : int or None
        Threads; None and -1 for all processors (a forest: None for one). The result is the same for any number.
    time_limit : float or None
        Of a forest: seconds after which no further tree is begun.
    resume : Forest, path or None
        Of a forest: one of the same plan and data with fewer trees, to go on with. Of a table outside memory: the file
        that keeps the state after each level.
    **there
        Of a table outside memory: `target`, `schema`, `overrides`, `finish_rows`, `temporary` and `key` as in
        `treewright.learn_in_place.fit_table`.

    Warns
    -----
    DataWarning
        Where a nominal attribute has so many values that it seems to name the cases.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.plans import c45
    >>> model = fit(sample("play-tennis"), c45())
    >>> model.tree.n_leaves, model.tree.node(0).attribute.name
    (5, 'Outlook')
    """
    if not isinstance(dataset, Dataset):
        from treewright.learn_in_place import fit_table

        if resume is not None and not isinstance(resume, (str, PathLike)):
            raise ParameterError("resume is the file of a state for tables outside memory; forests there start again")
        return fit_table(
            dataset,
            recipe,
            class_weights=class_weights,
            smoothing=smoothing,
            costs=costs,
            progress=progress,
            keep_working=keep_working,
            state=resume,
            engine=engine,
            **there,
        )
    if there:
        raise ParameterError(f"{', '.join(there)}: for tables outside memory; a dataset has it")
    require_something(dataset)
    warn_of_names(dataset)
    if isinstance(recipe, RulePlan):
        return _fit_rules(dataset, recipe)
    weighted = dataset if class_weights is None else _with_class_weights(dataset, class_weights)
    if resume is not None and not _is_forest(resume):
        raise ParameterError("resume is a forest here; the file of a state is for tables outside memory")
    if isinstance(recipe, (ForestPlan, BoostPlan)):
        return _fit_ensemble(
            weighted,
            recipe,
            n_jobs,
            resume=resume,
            time_limit=time_limit,
            smoothing=smoothing,
            costs=costs,
            progress=progress,
        )
    if time_limit is not None or resume is not None:
        raise ParameterError("time_limit and resume are for forests")
    check_engine(engine)
    plan = as_plan(recipe)
    plan = for_task(plan, weighted.schema)
    if engine == "compiled" and not isinstance(plan.learner, Recipe):
        raise ParameterError(f"{plan.name} is grown by the interpreter only; leave out the engine")
    if isinstance(plan.learner, (RpartLearner, MedianLearner)):
        model = _fit_cart(weighted, plan, plan.learner, smoothing=smoothing, costs=costs, keep_working=keep_working)
    else:
        tree, working = _grown_and_pruned(
            weighted, plan, progress, keep_working=keep_working, engine=engine, n_jobs=n_jobs
        )
        model = TreeModel(tree, described(plan), provenance_of(dataset), working, smoothing, plan.voting, costs)
    if class_weights is None:
        return model
    # Without these nobody could count the tables again as they were.
    recorded = {str(name): float(factor) for name, factor in class_weights.items()}
    return replace(model, provenance={**model.provenance, "class_weights": recorded})


def warn_of_names(dataset: Dataset) -> None:
    """Point at nominal attributes with nearly a value for each row: a tree would learn the names of the cases."""
    for column in dataset.schema.attributes:
        values = len(column.values)
        if column.kind is Kind.NOMINAL and values >= MANY_VALUES and values > VALUES_PER_ROW * dataset.n_rows:
            warnings.warn(
                f"column {column.name!r} has {values:,} values in {dataset.n_rows:,} rows: "
                "if it names the cases, leave it out",
                DataWarning,
                stacklevel=3,
            )


def require_something(dataset: Dataset) -> None:
    """Raise unless there are rows with a target."""
    if dataset.n_rows == 0:
        raise DataError("there are no rows to learn from", source=dataset.source)
    if dataset.target is None:
        raise DataError("there is no target to learn from", source=dataset.source)


def _grown_and_pruned(
    dataset: Dataset,
    plan: Plan,
    progress: Progress | None,
    *,
    keep_working: bool = True,
    engine: str = "auto",
    n_jobs: int | None = None,
) -> tuple[Tree, Working]:
    """Grow, prune, and examine what became of it, if that is wanted."""
    held_out = next((method for method in plan.pruning if isinstance(method, ReducedError)), None)
    grow_part, validation = (dataset, None) if held_out is None else split_off(dataset, held_out.share, held_out.seed)
    grow_part = in_bins(grow_part, plan.learner)
    tree, working = _grown(grow_part, plan, progress, keep_working=keep_working, engine=engine, n_jobs=n_jobs)
    before = tree
    for method in plan.pruning:
        if is_compiled(engine, grow_part) and grow_part.n_rows > UNINTERRUPTED_CASES:
            tree = run_in_worker(partial(prune, engine=engine), tree, method, grow_part, validation)
        else:
            tree = prune(tree, method, grow_part, validation, engine=engine)
    if not keep_working:
        return tree, {}
    if isinstance(plan.learner, (Recipe, CHAID)) and tree is before and working is not None:
        return tree, working
    if not isinstance(plan.learner, Recipe):
        return tree, examined(grow_part, plan, tree, engine)
    grown = None if working is None else Grown(before, working)
    if is_compiled(engine, grow_part):
        return tree, examined_later(grow_part, plan, tree, engine, grown)
    return tree, examined(grow_part, plan, tree, engine, grown)


def _grown(
    dataset: Dataset,
    plan: Plan,
    progress: Progress | None,
    *,
    keep_working: bool = True,
    engine: str = "auto",
    n_jobs: int | None = None,
) -> tuple[Tree, Working | None]:
    """Grow; no working at all (None) means that it is still to be examined."""
    learner = plan.learner
    if isinstance(learner, Recipe):
        if by_kernels(engine, dataset, learner):
            return grow_tree(dataset, learner, engine=engine, n_jobs=n_jobs, progress=progress), None
        counting = counting_engine(dataset, engine, fractional=learner.missing is MissingPolicy.FRACTIONAL)
        if is_compiled(engine, dataset):
            learner = with_compiled_criterion(learner)
        grown = grow(counting, learner, progress=progress)
        return grown.tree, grown.working
    from treewright.learn_otherwise import grown_otherwise  # seldom needed, and much

    return grown_otherwise(dataset, plan, learner, keep_working=keep_working)


def _fit_cart(
    dataset: Dataset,
    plan: Plan,
    learner: RpartLearner | MedianLearner,
    *,
    smoothing: Smoothing,
    costs: tuple[tuple[float, ...], ...] | None,
    keep_working: bool,
) -> TreeModel:
    """Learn by rpart or by absolute error; what they tell beside the tree goes into the model."""
    learned = learner.learn(dataset)
    tree = learned.tree
    for method in plan.pruning:
        tree = prune(tree, method, learned.cases)
    working: Working = {}
    if keep_working:
        working = trace_tree(engine_for(learned.cases, tree, fractional=False), plan.judge, tree)
    if costs is None and isinstance(learner, RpartLearner):
        costs = learner.options.loss
    recipe = described(plan) | learned.facts
    return TreeModel(tree, recipe, provenance_of(dataset), working, smoothing, plan.voting, costs)


def _is_forest(resume: Any) -> bool:
    from treewright.model.forest import Forest

    return isinstance(resume, Forest)


def _fit_rules(dataset: Dataset, plan: RulePlan) -> RuleModel:
    from treewright.model.rule_model import RuleModel
    from treewright.rules.c45rules import induce_rules
    from treewright.rules.validation import induce_rules_on_validation

    if dataset.schema.task is Task.REGRESSION:
        raise ParameterError(f"rules predict classes, and the target {dataset.schema.target!r} is a number")
    share = plan.validation_share
    grow_part, validation = (dataset, None) if share is None else split_off(dataset, share, plan.options.seed)
    tree, _ = _grown_and_pruned(grow_part, plan.tree, None, keep_working=False)
    if validation is None:
        rules = induce_rules(tree, grow_part, plan.options)
    else:
        rules = induce_rules_on_validation(tree, validation)
    return RuleModel(rules, plan.to_dict(), provenance_of(dataset))


def _fit_ensemble(dataset: Dataset, plan: EnsemblePlan, n_jobs: int | None, **how: Any) -> Forest:
    from treewright.ensemble.adaboost import boost
    from treewright.ensemble.random_forest import grow_forest

    if isinstance(plan, BoostPlan):  # one tree after the other: there is nothing to share out
        return boost(dataset, plan, **how)
    return grow_forest(dataset, plan, n_jobs=n_jobs, **how)


def _with_class_weights(dataset: Dataset, class_weights: Mapping[str, float]) -> Dataset:
    factors = np.array([float(class_weights.get(name, 1.0)) for name in dataset.schema.classes])
    if not np.all((factors >= 0) & np.isfinite(factors)):
        raise ParameterError("class weights must be numbers of at least 0")
    own = np.ones(dataset.n_rows) if dataset.weights is None else dataset.weights
    return replace(dataset, weights=own * factors[dataset.target])


def described(plan: Plan) -> dict[str, Any]:
    """Return the recipe as a model keeps it."""
    plain = plan.to_dict()
    if isinstance(plan.learner, Recipe) and plan.learner.nominal is NominalTest.SUBSETS:
        plain["subset_search"] = SEARCH if plan.learner.own is None else SEARCH_BY_OWN
    return plain


def provenance_of(dataset: Dataset) -> dict[str, Any]:
    """Return what a model keeps of the data it was learned from."""
    return {"treewright": __version__, "rows": dataset.n_rows, "source": dataset.source}
