"""Growing by procedures of their own: CHAID, CAL2, CAL3, rpart, Release 8 and J48."""

from __future__ import annotations

from treewright._base.errors import ParameterError
from treewright.data.dataset import Dataset
from treewright.grow.cal.case_by_case import CaseByCase
from treewright.grow.cal.options import CAL2, CAL3
from treewright.grow.chaid.growing import grow_chaid
from treewright.grow.chaid.options import CHAID
from treewright.grow.chaid.working import chaid_traces
from treewright.grow.j48.growing import grow_j48
from treewright.grow.j48.options import J48
from treewright.grow.release8.growing import grow_release8
from treewright.grow.release8.options import Release8
from treewright.learn_working import Working
from treewright.model.tree import Tree
from treewright.plans import Plan
from treewright.prune.j48 import prune_j48
from treewright.prune.release8 import prune_release8
from treewright.rpart_plan import CartLearner, MedianLearner, RpartLearner

Procedure = Release8 | J48 | CHAID | CAL2 | CAL3 | CartLearner
"""The learners that are no recipe of our own grower."""


def grown_otherwise(dataset: Dataset, plan: Plan, learner: Procedure, *, keep_working: bool) -> tuple[Tree, Working]:
    """Grow, and say what was looked at where the procedure tells that itself.

    Parameters
    ----------
    dataset : Dataset
    plan : Plan
        By its name the learner is called in messages.
    learner : Procedure
        That of the plan.
    keep_working : bool
        Whether what was looked at is wanted.
    """
    if isinstance(learner, CHAID):
        growth = grow_chaid(dataset, learner)
        return growth.tree, chaid_traces(dataset, growth) if keep_working else {}
    if isinstance(learner, (CAL2, CAL3)):
        case_by_case = CaseByCase.begin(dataset, learner)
        case_by_case.learn_all(dataset)
        return case_by_case.tree, {}
    if isinstance(learner, (RpartLearner, MedianLearner)):
        return learner.learn(dataset).tree, {}
    if dataset.weights is not None:
        raise ParameterError(f"{plan.name} takes no case weights here; dialect 'c45' does")
    if isinstance(learner, Release8):
        grown_r8 = grow_release8(dataset, learner)
        return (prune_release8(dataset, grown_r8, learner.confidence) if learner.prune else grown_r8.tree), {}
    return prune_j48(dataset, grow_j48(dataset, learner), learner), {}
