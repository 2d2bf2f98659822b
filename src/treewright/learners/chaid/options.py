"""The options of CHAID and exhaustive CHAID."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.data.dataset import Dataset
from treewright.data.infer import NOMINAL_LIMIT
from treewright.data.schema import Task
from treewright.errors import ParameterError
from treewright.learners.base import Abilities, Grown, Progress, Run, SplitTraces, TreeLearner
from treewright.parameters import check_flag, check_share, check_whole_number
from treewright.tree.split import EvaluatedSplit, SplitStatus
from treewright.tree.tree import Stop, Tree

if TYPE_CHECKING:
    from treewright.learners.recipe import Recipe

LARGEST_LOG = 709.0
"""The exponential of this is still a finite double."""


@dataclass(frozen=True)
class CHAID(TreeLearner):
    """The options of CHAID.

    Parameters
    ----------
    alpha_merge : float, default 0.05
        Groups are merged while the p-value of their difference is larger; 1 merges nothing. Unused by exhaustive CHAID.
    alpha_split : float, default 0.05
        Largest adjusted p-value at which a node is split.
    resplit : bool, default False
        Allow a merged group of three or more levels to be split again.
    exhaustive : bool, default False
        Merge down to two groups and keep the best stage (Biggs, de Ville and Suen 1991).
    min_samples_split : int, default 20
        Least number of cases of a node to be split.
    min_samples_leaf : int, default 7
        Least number of cases of a group; smaller ones are merged with the most similar group.
    max_depth : int or None
    bins : int, default 10
        Number of intervals into which numeric attributes are discretised before growing.
    like_r : bool, default False
        Follow R's CHAID 0.1-2 (classification only). Where that program simulates tables to get a p-value, the
        chi-square distribution is used instead and the result is marked. Numeric attributes, which R's CHAID rejects,
        are discretised into ordered intervals here, too.

    Examples
    --------
    >>> CHAID(alpha_merge=0.1).min_samples_split
    20
    """

    alpha_merge: float = 0.05
    alpha_split: float = 0.05
    resplit: bool = False
    exhaustive: bool = False
    min_samples_split: int = 20
    min_samples_leaf: int = 7
    max_depth: int | None = None
    bins: int = 10
    like_r: bool = False

    def __post_init__(self) -> None:
        for name in ("alpha_merge", "alpha_split"):
            check_share(name, getattr(self, name))
        for name, least in (("min_samples_split", 2), ("min_samples_leaf", 1), ("max_depth", 0), ("bins", 2)):
            if name != "max_depth" or self.max_depth is not None:
                check_whole_number(name, getattr(self, name), least)
        for name in ("resplit", "exhaustive", "like_r"):
            check_flag(name, getattr(self, name))
        if sum(map(bool, (self.resplit, self.exhaustive, self.like_r))) > 1:
            raise ParameterError(
                "at most one of resplit, exhaustive and like_r can be True: they select different procedures"
            )

    @property
    def title(self) -> str:
        """The display name."""
        return "exhaustive CHAID" if self.exhaustive else "CHAID"

    @property
    def abilities(self) -> Abilities:
        """Its abilities: classification and regression, also out of core."""
        return Abilities(tasks=frozenset(Task), out_of_core=True)

    @property
    def nominal_limit(self) -> int:
        """Whole-number columns with at most this many values are proposed as nominal."""
        return NOMINAL_LIMIT

    def criterion_for(self, task: Task) -> str:
        """Return chi-square for classes and variance, which F-tests compare, for numbers."""
        return "chi2" if task is Task.CLASSIFICATION else "variance"

    def reference(self, task: Task) -> Recipe:
        """Return the nearest recipe: chi-square on multiway splits, or variance on binary ones."""
        from treewright.learners.recipe import CART, MissingPolicy, Recipe, for_regression

        if task is Task.REGRESSION:
            return replace(for_regression(CART(missing=MissingPolicy.MAJORITY)), nominal_limit=NOMINAL_LIMIT)
        return Recipe(self.title, self.criterion_for(task), once_per_path=False, nominal_limit=NOMINAL_LIMIT)

    def words(self) -> list[str]:
        """Return the levels of significance, the procedure and the limit on depth."""
        merged = [] if self.exhaustive else [f"groups merged at {100 * self.alpha_merge:g} %"]
        words = [*merged, f"tests significant at {100 * self.alpha_split:g} %"]
        words += [word for word, wanted in (("as R's program", self.like_r), ("resplit", self.resplit)) if wanted]
        return words if self.max_depth is None else [*words, f"depth at most {self.max_depth}"]

    def grow(self, cases: Dataset, run: Run) -> Grown:
        """Grow in memory; the traces are those of the groups that were merged."""
        from treewright.learners.chaid.growing import grow_chaid
        from treewright.learners.chaid.trace import chaid_traces

        growth = grow_chaid(cases, self)
        return Grown(growth.tree, chaid_traces(cases, growth) if run.keep_trace else {})

    def grow_over(
        self,
        engine: Any,
        *,
        finish_rows: int,
        progress: Progress | None = None,
        state: Any = None,
        on_level: Callable[[int, int], None] | None = None,
        keep_trace: bool = True,
    ) -> Grown:
        """Grow over an out-of-core engine; every node is counted there."""
        from treewright.learners.chaid.growing import grow_chaid_over
        from treewright.learners.chaid.trace import chaid_traces_over

        if state is not None:
            raise ParameterError(f"{self.title} keeps no state out of core and cannot continue; leave out resume")
        growth = grow_chaid_over(engine, self)
        return Grown(growth.tree, chaid_traces_over(engine, growth) if keep_trace else {})

    def trace_over(self, engine: Any, tree: Tree, task: Task) -> SplitTraces:
        """Return the split traces of a tree by its reference recipe, which cuts numbers instead of intervals."""
        engine.use_numbers()
        return super().trace_over(engine, tree, task)

    def trace_grown(self, cases: Dataset, tree: Tree) -> SplitTraces:
        """Return the traces of the groups that were merged."""
        return self.grow(cases, Run()).traces

    def trace_node(self, cases: Dataset, tree: Tree, node: int, recipe: Recipe) -> tuple[EvaluatedSplit, ...] | None:
        """Return the groups and adjusted p of every attribute at a node."""
        from treewright.learners.chaid.trace import trace_node

        return trace_node(self, cases, tree, node)

    def corrected(self, entry: EvaluatedSplit, stop: Stop | None) -> EvaluatedSplit:
        """Return an entry as CHAID evaluated it, with the cases with a missing value in their branch."""
        if entry.status is SplitStatus.PRUNED and stop is not Stop.PRUNED:
            return replace(entry, status=SplitStatus.CONSIDERED)
        if entry.status is not SplitStatus.CHOSEN or entry.split is None:
            return entry
        counts = entry.counts.copy()
        counts[entry.split.missing] += entry.unknown
        return replace(entry, counts=counts, unknown=np.zeros_like(entry.unknown), tries=0)
