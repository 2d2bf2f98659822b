"""The options of C4.5 Release 8."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from treewright.data.dataset import Dataset
from treewright.data.schema import Task
from treewright.errors import ParameterError
from treewright.learners.base import Abilities, Grown, Run, TreeLearner, Weights
from treewright.tree.model import Voting
from treewright.tree.tree import Tree

if TYPE_CHECKING:
    from treewright.learners.recipe import Recipe

CRITERIA = ("gain_ratio", "gain")


@dataclass(frozen=True)
class Release8(TreeLearner):
    """The options of C4.5 Release 8.

    Parameters
    ----------
    min_objects : int
        ``-m``: at least two branches of a split need this weight.
    criterion : {"gain_ratio", "gain"}
        ``-g`` is "gain".
    subset : bool
        ``-s``: group the categories of nominal attributes.
    confidence : float
        ``-c`` as a fraction: the confidence level of pruning, above 0 and up to 1 (which does not disable pruning).
    prune : bool
        Whether the tree is pruned.

    Examples
    --------
    >>> Release8(min_objects=1, criterion="gain")
    Release8(min_objects=1, criterion='gain', subset=False, confidence=0.25, prune=True)
    """

    min_objects: int = 2
    criterion: str = "gain_ratio"
    subset: bool = False
    confidence: float = 0.25
    prune: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.min_objects, bool) or not isinstance(self.min_objects, int) or self.min_objects < 1:
            raise ParameterError(f"min_objects must be a whole number of at least 1, not {self.min_objects!r}")
        if self.criterion not in CRITERIA:
            raise ParameterError(f"criterion must be one of {', '.join(CRITERIA)}, not {self.criterion!r}")
        number = isinstance(self.confidence, (int, float)) and not isinstance(self.confidence, bool)
        if not number or not 0 < self.confidence <= 1:
            raise ParameterError(f"confidence must be above 0 and at most 1, not {self.confidence!r}")
        for name in ("subset", "prune"):
            if not isinstance(getattr(self, name), bool):
                raise ParameterError(f"{name} must be True or False, not {getattr(self, name)!r}")

    @property
    def title(self) -> str:
        """The display name."""
        return "C4.5 Release 8"

    @property
    def abilities(self) -> Abilities:
        """Its abilities: classification, without case weights."""
        return Abilities(weights=Weights.NONE)

    @property
    def voting(self) -> Voting:
        """Combine leaves as the original program does."""
        return Voting.RELEASE8

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
        return {"method": "error_based", "confidence": float(self.confidence), "raising": True}

    def criterion_for(self, task: Task) -> str:
        """Return the criterion by name."""
        return self.criterion

    def reference(self, task: Task) -> Recipe:
        """Return the C4.5 recipe with the same options."""
        from treewright.learners.recipe import C45

        return C45(min_objects=self.min_objects, criterion=self.criterion, subset=self.subset)

    def words(self) -> list[str]:
        """Return the criterion."""
        return [self.criterion.replace("_", " ")]

    def describe(self, pruned: Sequence[str]) -> str:
        """Describe the learner, its own pruning, and the prunings that follow it in one line."""
        from treewright.pruning.methods import ErrorBased

        own = [ErrorBased(self.confidence).describe()] if self.prune else []
        return ", ".join([*self.words(), *([*pruned, *own] or ["unpruned"])])

    def unpruned(self) -> Release8:
        """Return the learner without its pruning."""
        return replace(self, prune=False)

    def grow(self, cases: Dataset, run: Run) -> Grown:
        """Grow as the original program does, and prune unless `prune` is off."""
        from treewright.learners.c45r8.growing import grow_release8
        from treewright.learners.c45r8.pruning import prune_release8

        if cases.weights is not None:
            raise ParameterError(f"{self.title} takes no case weights here; dialect 'c45' does")
        grown = grow_release8(cases, self)
        tree = prune_release8(cases, grown, self.confidence) if self.prune else grown.tree
        return Grown(tree, traced=False)

    def grow_unpruned(self, cases: Dataset) -> Tree:
        """Return the tree before pruning."""
        from treewright.learners.c45r8.growing import grow_release8

        return grow_release8(cases, self.unpruned()).tree
