"""One plain way from a dataset to a model, whatever the learner. Estimators and the command line call this."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from treewright.data.dataset import Dataset
from treewright.data.infer import Overrides
from treewright.data.schema import Kind, Schema, Task
from treewright.ensembles.plan import EnsemblePlan
from treewright.errors import DataError, DataWarning, ParameterError
from treewright.fitting.algorithms import Learner, as_learner
from treewright.learners.base import Progress, Run, TreeLearner
from treewright.learners.grower import CANONICAL, check_engine
from treewright.plans import Plan, RulePlan
from treewright.tree.model import Smoothing, TreeModel

if TYPE_CHECKING:
    from treewright.tree.forest import Forest
    from treewright.tree.rules import RuleModel

MANY_VALUES = 100
"""A nominal column with fewer values is not suspected of naming the cases."""

VALUES_PER_ROW = 0.2
"""A nominal column with more values for each row than this is."""


OUT_OF_CORE_OPTIONS = ("target", "schema", "overrides", "finish_rows", "temporary", "key")
"""Options of `fit` for out-of-core tables."""


@overload
def fit(
    dataset: Dataset,
    recipe: Plan | TreeLearner,
    *,
    class_weights: Mapping[str, float] | None = None,
    smoothing: Smoothing = None,
    costs: tuple[tuple[float, ...], ...] | None = None,
    progress: Progress | None = None,
    keep_trace: bool = True,
    engine: str = "auto",
    n_jobs: int | None = None,
) -> TreeModel: ...


@overload
def fit(dataset: Dataset, recipe: RulePlan, *, keep_trace: bool = True) -> RuleModel: ...


@overload
def fit(
    dataset: Dataset,
    recipe: EnsemblePlan,
    *,
    class_weights: Mapping[str, float] | None = None,
    smoothing: Smoothing = None,
    costs: tuple[tuple[float, ...], ...] | None = None,
    progress: Progress | None = None,
    keep_trace: bool = True,
    n_jobs: int | None = None,
    time_limit: float | None = None,
    resume: Forest | None = None,
) -> Forest: ...


@overload
def fit(
    dataset: object,
    recipe: Plan | TreeLearner,
    *,
    class_weights: Mapping[str, float] | None = None,
    smoothing: Smoothing = None,
    costs: tuple[tuple[float, ...], ...] | None = None,
    progress: Progress | None = None,
    keep_trace: bool = True,
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


@overload
def fit(dataset: object, recipe: Learner | TreeLearner | str, **options: Any) -> TreeModel | RuleModel | Forest: ...


def fit(
    dataset: object,
    recipe: Learner | TreeLearner | str,
    *,
    class_weights: Mapping[str, float] | None = None,
    smoothing: Smoothing = None,
    costs: tuple[tuple[float, ...], ...] | None = None,
    progress: Progress | None = None,
    keep_trace: bool = True,
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
    recipe : Plan, RulePlan, ForestPlan, BoostPlan, a learner of trees, or the name of an algorithm
        What to learn. A bare learner, such as a `Recipe` or `CHAID`, grows without pruning; a name such as "c45" stands
        for the algorithm with its default options.
    class_weights : dict of str to float or None
        Factor on the weight of the cases of each class.
    smoothing : None, "laplace" or float
        How class probabilities are estimated.
    costs : tuple of tuples or None
        Cost of predicting class j for a case of actual class i, in category order.
    progress : callable or None
        Called with cases (of a forest: trees) done and in all.
    keep_trace : bool
        Whether the model keeps what was evaluated at its nodes; without, the same tree is grown sooner.
    engine : str
        Who grows: "interpreted", "compiled", or "auto" to choose by the size of the data. The tree is the same. Where
        weights are not whole, the last digits of their sums may differ; "canonical" searches splits by kernels and
        has the sums of "interpreted". For an out-of-core table who counts: "duckdb", "postgresql", "spark" or "dask".
    n_jobs : int or None
        Threads; None and -1 for all processors (a forest: None for one). The result is the same for any number.
    time_limit : float or None
        Of a forest: seconds after which no further tree is begun.
    resume : Forest, path or None
        Of a forest: one of the same plan and data with fewer trees, to go on with. Of an out-of-core table: the file
        that keeps the state after each level.
    **there
        Of an out-of-core table: `target`, `schema`, `overrides`, `finish_rows`, `temporary` and `key` as in
        `treewright.fitting.out_of_core.fit_table`.

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
    if "keep_working" in there:
        warnings.warn("keep_working is called keep_trace since version 0.2", DeprecationWarning, stacklevel=2)
        keep_trace = there.pop("keep_working")
    plan = as_learner(recipe)
    if not isinstance(dataset, Dataset):
        from treewright.fitting.out_of_core import fit_table

        if resume is not None and not isinstance(resume, (str, PathLike)):
            raise ParameterError("resume is the file of a state for out-of-core tables; forests there start again")
        return fit_table(
            dataset,
            plan,
            class_weights=class_weights,
            smoothing=smoothing,
            costs=costs,
            progress=progress,
            keep_trace=keep_trace,
            state=resume,
            engine=engine,
            **there,
        )
    if there:
        unknown = ", ".join(name for name in there if name not in OUT_OF_CORE_OPTIONS)
        if unknown:
            raise ParameterError(
                f"{unknown}: no option of fit; options of an algorithm go to its plan, such as c45(confidence=0.1)"
            )
        raise ParameterError(f"{', '.join(there)}: for out-of-core tables; a dataset has it")
    if resume is not None:
        from treewright.tree.forest import Forest

        if not isinstance(resume, Forest):
            raise ParameterError("resume is a forest here; the file of a state is for out-of-core tables")
    run = Run(engine, n_jobs, progress, keep_trace, time_limit, resume)
    require_training_cases(dataset)
    _check_abilities(plan, run, class_weights=class_weights, smoothing=smoothing, costs=costs)
    require_classes_to_smooth(dataset.schema, smoothing)
    warn_of_identifiers(dataset.schema, dataset.n_rows)
    weighted = dataset if class_weights is None else _with_class_weights(dataset, class_weights)
    model: TreeModel | RuleModel | Forest = plan.for_schema(dataset.schema).learn(
        weighted, run, smoothing=smoothing, costs=costs
    )
    if class_weights is None or plan.abilities.many_trees:
        return model
    # Without these nobody could count the tables again as they were.
    recorded = {str(name): float(factor) for name, factor in class_weights.items()}
    return replace(model, provenance={**model.provenance, "class_weights": recorded})


def _check_abilities(plan: Learner, run: Run, **given: Any) -> None:
    """Raise if the learner cannot do what was requested."""
    abilities = plan.abilities
    if not abilities.many_trees and (run.time_limit is not None or run.resume is not None):
        raise ParameterError("time_limit and resume are for forests")
    check_engine(run.engine)
    needed = "compiled" if run.engine == CANONICAL and not abilities.many_trees else run.engine
    if needed != "auto" and needed not in abilities.engines:
        raise ParameterError(f"{plan.name} cannot be grown by engine={run.engine!r}; leave out the engine")
    if not abilities.probabilities:
        for name, value in given.items():
            if value is not None:
                raise ParameterError(f"{name} needs class probabilities, which {plan.name} does not provide")


def require_classes_to_smooth(schema: Schema, smoothing: Smoothing) -> None:
    """Raise if smoothing is given for a numeric target, which has no class probabilities."""
    if smoothing is not None and schema.task is Task.REGRESSION:
        raise ParameterError("smoothing is for classes, and this target is a number")


def warn_of_identifiers(schema: Schema, n_rows: int) -> None:
    """Warn of nominal attributes with nearly a value for each row: a tree would learn the names of the cases."""
    for column in schema.attributes:
        values = len(column.values)
        if column.kind is Kind.NOMINAL and values >= MANY_VALUES and values > VALUES_PER_ROW * n_rows:
            warnings.warn(
                f"column {column.name!r} has {values:,} values in {n_rows:,} rows: if it names the cases, leave it out",
                DataWarning,
                stacklevel=3,
            )


def require_training_cases(dataset: Dataset) -> None:
    """Raise unless there are rows with a target."""
    if dataset.n_rows == 0:
        raise DataError("there are no rows to learn from", source=dataset.source)
    if dataset.target is None:
        raise DataError("there is no target to learn from", source=dataset.source)


def _with_class_weights(dataset: Dataset, class_weights: Mapping[str, float]) -> Dataset:
    from treewright.counting.engine import class_factors

    factors = np.array(class_factors(class_weights, dataset.schema))
    own = dataset.case_weights
    return replace(dataset, weights=own * factors[dataset.target])
