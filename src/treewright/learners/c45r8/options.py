"""The options of C4.5 Release 8."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from treewright.data.dataset import Dataset
from treewright.data.schema import Task
from treewright.errors import ParameterError
from treewright.learners.base import Grown, Run
from treewright.learners.c45_program import C45Program
from treewright.parameters import check_flag, check_share, check_whole_number
from treewright.tree.model import Voting
from treewright.tree.tree import Tree

if TYPE_CHECKING:
    from treewright.learners.recipe import Recipe

CRITERIA = ("gain_ratio", "gain")


@dataclass(frozen=True)
class Release8(C45Program):
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

    voting: ClassVar[Voting] = Voting.RELEASE8

    def __post_init__(self) -> None:
        check_whole_number("min_objects", self.min_objects, 1, plain=True)
        if self.criterion not in CRITERIA:
            raise ParameterError(f"criterion must be one of {', '.join(CRITERIA)}, not {self.criterion!r}")
        check_share("confidence", self.confidence, plain=True)
        for name in ("subset", "prune"):
            check_flag(name, getattr(self, name), plain=True)

    @property
    def title(self) -> str:
        """The display name."""
        return "C4.5 Release 8"

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

    def unpruned(self) -> Release8:
        """Return the learner without its pruning."""
        return replace(self, prune=False)

    def grow(self, cases: Dataset, run: Run) -> Grown:
        """Grow as the original program does, and prune unless `prune` is off."""
        from treewright.learners.c45r8.growing import grow_release8
        from treewright.learners.c45r8.pruning import prune_release8

        self.check_unweighted(cases)
        grown = grow_release8(cases, self)
        tree = prune_release8(cases, grown, self.confidence) if self.prune else grown.tree
        return Grown(tree, traced=False)

    def grow_unpruned(self, cases: Dataset) -> Tree:
        """Return the tree before pruning."""
        from treewright.learners.c45r8.growing import grow_release8

        return grow_release8(cases, self.unpruned()).tree
