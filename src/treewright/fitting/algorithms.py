"""What `treewright.fit` learns by: the protocol of all learners, and all algorithms by name."""

from __future__ import annotations

from typing import Any, Protocol

import treewright.ensembles.plan
import treewright.plans
from treewright.data.dataset import Dataset
from treewright.data.schema import Schema
from treewright.errors import ParameterError
from treewright.learners.base import Abilities, Run
from treewright.learners.registry import algorithm_named, algorithm_names, algorithms
from treewright.plans import Plan

__all__ = ["Learner", "algorithm_named", "algorithm_names", "algorithms", "as_learner", "is_learner"]

DEFINED_IN = (treewright.plans, treewright.ensembles.plan)
"""The modules that register the built-in algorithms when they are imported."""


class Learner(Protocol):
    """A tree with its prunings, rules, or many trees: a value that makes a model from cases."""

    @property
    def name(self) -> str:
        """The name for people."""

    @property
    def abilities(self) -> Abilities:
        """What it can take."""

    @property
    def tree(self) -> Plan:
        """How each tree is grown and pruned."""

    def describe(self) -> str:
        """Describe the options that matter in one line."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for the model file."""

    def for_schema(self, schema: Schema) -> Learner:
        """Return the learner for classes or for numbers, whichever the target holds, or refuse the task."""

    def learn(self, cases: Dataset, run: Run, *, smoothing: Any = None, costs: Any = None) -> Any:
        """Learn a model from cases whose target the learner is for."""


def as_learner(learner: Any) -> Learner:
    """Return what `fit` learns by, from a learner of trees, a plan, or the name of an algorithm.

    Examples
    --------
    >>> from treewright.learners.chaid.options import CHAID
    >>> as_learner("cart").describe(), as_learner(CHAID()).name
    ('gini, unpruned', 'CHAID')
    """
    if isinstance(learner, str):
        learner = algorithm_named(learner).make()
    if not is_learner(learner):
        raise ParameterError(
            "learn by a plan, a learner of trees or the name of an algorithm "
            f"({', '.join(algorithm_names())}), not {type(learner).__name__}"
        )
    # What learns no model itself grows a tree: a plan makes the model.
    return learner if hasattr(learner, "learn") else Plan(learner)


def is_learner(learner: Any) -> bool:
    """Return True if `treewright.fit` takes this as what to learn: a value that says its abilities."""
    return isinstance(getattr(learner, "abilities", None), Abilities)
