"""The base class of the learners that follow a program of the C4.5 family: Release 8 and J48."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treewright.data.dataset import Dataset
from treewright.errors import ParameterError
from treewright.learners.base import Abilities, TreeLearner, Weights


class C45Program(TreeLearner):
    """A learner that prunes by estimated errors as part of learning, and takes no case weights."""

    prune: bool
    confidence: float

    @property
    def abilities(self) -> Abilities:
        """Its abilities: classification, without case weights."""
        return Abilities(weights=Weights.NONE)

    @property
    def order(self) -> str:
        """Depth first."""
        return "depth"

    @property
    def prunes_itself(self) -> bool:
        """True if it prunes as part of learning."""
        return self.prune

    @property
    def raises_subtrees(self) -> bool:
        """True if pruning may replace a node by its largest branch."""
        return True

    @property
    def own_pruning(self) -> dict[str, Any] | None:
        """Error-based pruning with the options of the program."""
        if not self.prune:
            return None
        return {"method": "error_based", "confidence": float(self.confidence), "raising": self.raises_subtrees}

    def describe(self, pruned: Sequence[str]) -> str:
        """Describe the learner, its own pruning, and the prunings that follow it in one line."""
        from treewright.pruning.methods import ErrorBased

        own = [ErrorBased(self.confidence).describe()] if self.prune else []
        return ", ".join([*self.words(), *([*pruned, *own] or ["unpruned"])])

    def check_unweighted(self, cases: Dataset) -> None:
        """Raise `ParameterError` if the cases have weights."""
        if cases.weights is not None:
            raise ParameterError(f"{self.title} takes no case weights here; dialect 'c45' does")
