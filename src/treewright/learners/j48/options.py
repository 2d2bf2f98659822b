"""The options of J48, Weka's C4.5."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from treewright.data.dataset import Dataset
from treewright.data.schema import Task
from treewright.learners.base import Grown, Run
from treewright.learners.c45_program import C45Program
from treewright.parameters import check_flag, check_share, check_whole_number
from treewright.tree.model import Voting
from treewright.tree.tree import Tree

if TYPE_CHECKING:
    from treewright.learners.recipe import Recipe


@dataclass(frozen=True)
class J48(C45Program):
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

    voting: ClassVar[Voting] = Voting.J48

    def __post_init__(self) -> None:
        check_whole_number("min_objects", self.min_objects, 1)
        check_share("confidence", self.confidence, plain=True)
        for name in ("prune", "raising", "binary", "mdl_correction", "collapse"):
            check_flag(name, getattr(self, name))

    @property
    def raises_subtrees(self) -> bool:
        """True if pruning may replace a node by its largest branch."""
        return bool(self.raising)

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

    def unpruned(self) -> J48:
        """Return the learner without its pruning."""
        return replace(self, prune=False)

    def grow(self, cases: Dataset, run: Run) -> Grown:
        """Grow and prune as Weka does."""
        from treewright.learners.j48.growing import grow_j48
        from treewright.learners.j48.pruning import prune_j48

        self.check_unweighted(cases)
        return Grown(prune_j48(cases, grow_j48(cases, self), self), traced=False)

    def grow_unpruned(self, cases: Dataset) -> Tree:
        """Return the tree before pruning and collapsing."""
        from treewright.learners.j48.growing import grow_j48

        return grow_j48(cases, self.unpruned()).tree
