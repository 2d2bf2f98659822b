"""Learning by CAL2 and CAL3, which meet one case after the other and can go on with more."""

from __future__ import annotations

from treewright.data.dataset import Dataset
from treewright.fitting.learn import require_training_cases, warn_of_identifiers
from treewright.learners.base import SplitTraces, TreeLearner
from treewright.learners.cal.growing import CaseByCase
from treewright.learners.tracing import counted_traces
from treewright.plans import Plan, as_plan, provenance
from treewright.pruning.methods import prune
from treewright.tree.model import Smoothing, TreeModel


def fit_case_by_case(
    dataset: Dataset, recipe: Plan | TreeLearner, *, smoothing: Smoothing = None, keep_trace: bool = False
) -> tuple[TreeModel, CaseByCase]:
    """Learn by CAL2 or CAL3 as `fit` does, and return the learner, too: it has the steps and can go on learning.

    Parameters
    ----------
    dataset : Dataset
        With classes.
    recipe : CAL2, CAL3 or a Plan of one of them
    smoothing : None, "laplace" or float
    keep_trace : bool
        Whether every step is kept, with the whole tree after it.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.plans import cal2
    >>> model, learner = fit_case_by_case(sample("cal2"), cal2())
    >>> model.tree.n_leaves, learner.notation
    (4, 'x1(x2(A,B),x2(A,B))')
    """
    learner = begin_case_by_case(dataset, recipe, keep_trace=keep_trace)
    warn_of_identifiers(dataset.schema, dataset.n_rows)
    learner.learn_all(dataset)
    return model_so_far(learner, recipe, data=dataset, smoothing=smoothing), learner


def begin_case_by_case(first: Dataset, recipe: Plan | TreeLearner, *, keep_trace: bool = False) -> CaseByCase:
    """Return a learner for CAL2 or CAL3 that cases like these can be presented to; none is presented yet.

    Parameters
    ----------
    first : Dataset
        The first cases, with their classes: they fix columns, classes and the intervals of numeric columns.
    recipe : CAL2, CAL3 or a Plan of one of them
    keep_trace : bool
        Whether every step is kept, with the whole tree after it.
    """
    plan = as_plan(recipe)
    if plan.abilities.grows_on:
        require_training_cases(first)
    return plan.learner.begin(first, keep_trace=keep_trace)


def model_so_far(
    learner: CaseByCase, recipe: Plan | TreeLearner, *, data: Dataset | None = None, smoothing: Smoothing = None
) -> TreeModel:
    """Return the model of a learner as it is now; what it learns later does not change it.

    Parameters
    ----------
    learner : CaseByCase
    recipe : CAL2, CAL3 or a Plan of one of them
        The one that the learner was begun with.
    data : Dataset or None
        The cases by which the nodes are explained, if they are still at hand.
    smoothing : None, "laplace" or float

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.plans import cal3
    >>> learner = begin_case_by_case(sample("cal3"), cal3())
    >>> run = learner.learn_all(sample("cal3"))
    >>> model_so_far(learner, cal3()).tree.n_leaves
    3
    """
    plan = as_plan(recipe)
    tree = learner.tree
    for method in plan.pruning:
        tree = prune(tree, method, data)
    origin = provenance(learner.learner.steps, None)
    traces: SplitTraces = {}
    if data is not None:
        origin = provenance(data.n_rows, data.source)
        traces = counted_traces(plan.learner, data, tree, plan.task)
    return TreeModel(tree, plan.record(), origin, traces, smoothing, plan.learner.voting)
