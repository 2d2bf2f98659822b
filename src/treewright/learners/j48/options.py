"""The options of J48, Weka's C4.5."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.data.dataset import Dataset
from treewright.data.schema import Task
from treewright.errors import ParameterError
from treewright.learners.base import Abilities, Grown, Run, TreeLearner, Weights
from treewright.tree.model import Voting
from treewright.tree.tree import Tree

if TYPE_CHECKING:
    from treewright.learners.recipe import Recipe


@dataclass(frozen=True)
class J48(TreeLearner):
    """The options of J48.

    Parameters
    ----------
    min_objects : int, default 2
        Least weight of at least two branches of a split (``-M``).
    confidence : float, default 0.25
        Confidence level of the error estimates (``-C``); smaller values prune more, above 0.5 no errors are added.
    prune : bool, default True
        Prune by estimated errors (off: ``-U``).
    raising : bool, default True
        Let pruning replace a node by its largest branch, subtree raising (off: ``-S``).
    binary : bool, default False
        Split nominal attributes into one category against the rest (``-B``).
    mdl_correction : bool, default True
        Reduce the gain of numeric attributes by the cost of the number of cuts tried (off: ``-J``).
    collapse : bool, default True
        Collapse subtrees that do not reduce training errors (off: ``-O``).

    Examples
    --------
    >>> J48(min_objects=5).confidence
    0.25
    """

    min_objects: int = 2
    confidence: float = 0.25
    prune: bool = True
    raising: bool = True
    binary: bool = False
    mdl_correction: bool = True
    collapse: bool = True

    def __post_init__(self) -> None:
        least, confidence = self.min_objects, self.confidence
        if isinstance(least, bool) or not isinstance(least, (int, np.integer)) or least < 1:
            raise ParameterError(f"min_objects must be a whole number of at least 1, not {least!r}")
        if isinstance(confidence, bool) or not isinstance(confidence, (int, float)) or not 0 < confidence <= 1:
            raise ParameterError(f"confidence must be a number above 0 and at most 1, not {confidence!r}")
        for name in ("prune", "raising", "binary", "mdl_correction", "collapse"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise ParameterError(f"{name} must be True or False, not {getattr(self, name)!r}")

    @property
    def abilities(self) -> Abilities:
        """Its abilities: classification, without case weights."""
        return Abilities(weights=Weights.NONE)

    @property
    def voting(self) -> Voting:
        """Combine leaves as Weka does."""
        return Voting.J48

    @property
    def order(self) -> str:
        """Depth first."""
        return "depth"

    @property
    def prunes_itself(self) -> bool:
        """True if it prunes as part of learning."""
        return self.prune

    @property
    def own_pruning(self) -> dict[str, Any] | None:
        """Error-based pruning with the options of the program."""
        if not self.prune:
            return None
        return {"method": "error_based", "confidence": float(self.confidence), "raising": bool(self.raising)}

    def criterion_for(self, task: Task) -> str:
        """Return the criterion by name."""
        return "gain_ratio"

    def reference(self, task: Task) -> Recipe:
        """Return the C4.5 recipe with the same options."""
        from treewright.learners.recipe import C45

        return C45(min_objects=self.min_objects, mdl_correction=self.mdl_correction)

    def words(self) -> list[str]:
        """Return the criterion."""
        return ["gain ratio"]

    def describe(self, pruned: Sequence[str]) -> str:
        """Describe the learner, its own pruning, and the prunings that follow it in one line."""
        from treewright.pruning.methods import ErrorBased

        own = [ErrorBased(self.confidence).describe()] if self.prune else []
        return ", ".join([*self.words(), *([*pruned, *own] or ["unpruned"])])

    def unpruned(self) -> J48:
        """Return the learner without its pruning."""
        return replace(self, prune=False)

    def grow(self, cases: Dataset, run: Run) -> Grown:
        """Grow and prune as Weka does."""
        from treewright.learners.j48.growing import grow_j48
        from treewright.learners.j48.pruning import prune_j48

        if cases.weights is not None:
            raise ParameterError(f"{self.title} takes no case weights here; dialect 'c45' does")
        return Grown(prune_j48(cases, grow_j48(cases, self), self), traced=False)

    def grow_unpruned(self, cases: Dataset) -> Tree:
        """Return the tree before pruning and collapsing."""
        from treewright.learners.j48.growing import grow_j48

        return grow_j48(cases, self.unpruned()).tree
