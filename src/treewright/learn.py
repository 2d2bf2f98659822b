"""One plain way from a dataset to a model, whatever the learner. Estimators and the command line call this."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, overload

import numpy as np

from treewright._base.errors import DataError, ParameterError
from treewright._base.version import __version__
from treewright.counts.memory import MemoryEngine
from treewright.data.dataset import Dataset
from treewright.data.schema import Task
from treewright.grow.grower import Progress, examine_tree, grow
from treewright.grow.j48 import grow_j48
from treewright.grow.recipe import MissingPolicy, NominalTest, Recipe, for_regression
from treewright.grow.release8 import Release8, grow_release8
from treewright.grow.subsets import SEARCH
from treewright.model.model import Smoothing, TreeModel
from treewright.model.rule_model import RuleModel
from treewright.model.tree import Tree
from treewright.model.working import Examined
from treewright.plans import Learner, Plan, RulePlan, as_plan
from treewright.prune.j48 import prune_j48
from treewright.prune.method import ReducedError, prune, split_off
from treewright.prune.release8 import prune_release8
from treewright.rules.c45rules import induce_rules
from treewright.rules.validation import induce_rules_on_validation

Working = Mapping[int, tuple[Examined, ...]]


@overload
def fit(
    dataset: Dataset,
    recipe: Plan | Learner,
    *,
    class_weights: Mapping[str, float] | None = None,
    smoothing: Smoothing = None,
    costs: tuple[tuple[float, ...], ...] | None = None,
    progress: Progress | None = None,
) -> TreeModel: ...


@overload
def fit(dataset: Dataset, recipe: RulePlan) -> RuleModel: ...


def fit(
    dataset: Dataset,
    recipe: Plan | Learner | RulePlan,
    *,
    class_weights: Mapping[str, float] | None = None,
    smoothing: Smoothing = None,
    costs: tuple[tuple[float, ...], ...] | None = None,
    progress: Progress | None = None,
) -> TreeModel | RuleModel:
    """Learn a tree, or rules.

    Parameters
    ----------
    dataset : Dataset
        With a target; ``dataset.weights`` are respected.
    recipe : Recipe, Release8, J48, Plan or RulePlan
        What to learn; a bare recipe grows without pruning.
    class_weights : dict of str to float or None
        Factor on the weight of the cases of each class.
    smoothing : None, "laplace" or float
        How class probabilities are estimated.
    costs : tuple of tuples or None
        Cost of saying class j of a case of class i, in declared order.
    progress : callable or None
        Called with cases done and cases in all.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.plans import c45
    >>> model = fit(sample("play-tennis"), c45())
    >>> model.tree.n_leaves, model.tree.node(0).attribute.name
    (5, 'Outlook')
    """
    _require_something(dataset)
    if isinstance(recipe, RulePlan):
        return _fit_rules(dataset, recipe)
    plan = as_plan(recipe)
    weighted = dataset if class_weights is None else _with_class_weights(dataset, class_weights)
    plan = _for_task(plan, weighted)
    tree, working = _grown_and_pruned(weighted, plan, progress)
    return TreeModel(tree, _described(plan), _provenance(dataset), working, smoothing, plan.voting, costs)


def _require_something(dataset: Dataset) -> None:
    if dataset.n_rows == 0:
        raise DataError("there are no rows to learn from", source=dataset.source)
    if dataset.target is None:
        raise DataError("there is no target to learn from", source=dataset.source)


def _for_task(plan: Plan, dataset: Dataset) -> Plan:
    learner = plan.learner
    if dataset.schema.task is Task.CLASSIFICATION:
        if isinstance(learner, Recipe) and learner.criterion == "variance":
            raise ParameterError("variance is for a numeric target; this one has classes")
        return plan
    if not isinstance(learner, Recipe) or learner.nominal is not NominalTest.SUBSETS:
        raise ParameterError(
            f"{plan.name} predicts classes, and the target {dataset.schema.target!r} is a number: "
            "use CART, or declare the target a class"
        )
    return replace(plan, learner=for_regression(learner))


def _grown_and_pruned(dataset: Dataset, plan: Plan, progress: Progress | None) -> tuple[Tree, Working]:
    """Grow, prune, and examine what became of it."""
    held_out = next((method for method in plan.pruning if isinstance(method, ReducedError)), None)
    grow_part, validation = (dataset, None) if held_out is None else split_off(dataset, held_out.share, held_out.seed)
    tree, working = _grown(grow_part, plan, progress)
    before = tree
    for method in plan.pruning:
        tree = prune(tree, method, grow_part, validation)
    if isinstance(plan.learner, Recipe) and tree is before:
        return tree, working
    engine = MemoryEngine(grow_part, fractional=plan.judge.missing is MissingPolicy.FRACTIONAL)
    return tree, examine_tree(engine, plan.judge, tree)


def _grown(dataset: Dataset, plan: Plan, progress: Progress | None) -> tuple[Tree, Working]:
    learner = plan.learner
    if isinstance(learner, Recipe):
        engine = MemoryEngine(dataset, fractional=learner.missing is MissingPolicy.FRACTIONAL)
        grown = grow(engine, learner, progress=progress)
        return grown.tree, grown.working
    if dataset.weights is not None:
        raise ParameterError(f"{plan.name} knows no case weights; dialect 'c45' does")
    if isinstance(learner, Release8):
        growth = grow_release8(dataset, learner)
        return (prune_release8(dataset, growth, learner.confidence) if learner.prune else growth.tree), {}
    return prune_j48(dataset, grow_j48(dataset, learner), learner), {}


def _fit_rules(dataset: Dataset, plan: RulePlan) -> RuleModel:
    if dataset.schema.task is Task.REGRESSION:
        raise ParameterError(f"rules predict classes, and the target {dataset.schema.target!r} is a number")
    share = plan.validation_share
    grow_part, validation = (dataset, None) if share is None else split_off(dataset, share, plan.options.seed)
    tree, _ = _grown_and_pruned(grow_part, plan.tree, None)
    if validation is None:
        rules = induce_rules(tree, grow_part, plan.options)
    else:
        rules = induce_rules_on_validation(tree, validation)
    return RuleModel(rules, plan.to_dict(), _provenance(dataset))


def _with_class_weights(dataset: Dataset, class_weights: Mapping[str, float]) -> Dataset:
    factors = np.array([float(class_weights.get(name, 1.0)) for name in dataset.schema.classes])
    if not np.all((factors >= 0) & np.isfinite(factors)):
        raise ParameterError("class weights must be numbers of at least 0")
    own = np.ones(dataset.n_rows) if dataset.weights is None else dataset.weights
    return replace(dataset, weights=own * factors[dataset.target])


def _described(plan: Plan) -> dict[str, Any]:
    plain = plan.to_dict()
    if isinstance(plan.learner, Recipe) and plan.learner.nominal is NominalTest.SUBSETS:
        plain["subset_search"] = SEARCH
    return plain


def _provenance(dataset: Dataset) -> dict[str, Any]:
    return {"treewright": __version__, "rows": dataset.n_rows, "source": dataset.source}
