"""What came of choosing the parameters of a learner: the choice, both estimates, and what was left out.

The words are those of `treewright.evaluate.tune`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from treewright._base.printable import printable
from treewright.algorithms import Learner
from treewright.evaluate.resampled import Estimate
from treewright.evaluate.result import Report, percentage
from treewright.evaluate.result import Rows as Table


@dataclass(frozen=True)
class Candidate:
    """A plan with its inner result: pooled score, standard error over the folds, and leaves on average."""

    name: str
    score: float
    standard_error: float
    size: float
    seconds: float


@dataclass(frozen=True)
class Tuned(Report):
    """What was chosen, by what, and how good it is.

    Parameters
    ----------
    chosen : str
        Name of the chosen candidate.
    plan : Plan, RulePlan, ForestPlan or BoostPlan
        The chosen one, to be fitted to all cases.
    measure : {"accuracy", "rmse"}
    candidates : tuple of Candidate
        Those that were tried, in the order of the grid.
    not_tried : tuple of str
        Names of those that the time did not suffice for.
    nested : Estimate or None
        The honest estimate; None if no outer fold was finished.
    inner_folds : int
        Rounds by which the candidates were compared.
    outer_folds : int
        Outer folds that were wanted.
    chosen_in_folds : tuple of str
        What was chosen in each finished outer fold.
    seconds : float
    """

    chosen: str
    plan: Learner
    measure: str
    candidates: tuple[Candidate, ...]
    not_tried: tuple[str, ...]
    nested: Estimate | None
    inner_folds: int
    outer_folds: int
    chosen_in_folds: tuple[str, ...]
    seconds: float
    warnings: tuple[str, ...] = field(default=())

    @property
    def inner(self) -> float | None:
        """The inner result of the chosen candidate, as a rule too good; None if none could be tried."""
        return next((one.score for one in self.candidates if one.name == self.chosen), None)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        return {
            "chosen": self.chosen,
            "recipe": self.plan.to_dict(),
            "measure": self.measure,
            "inner": self.inner,
            "nested": None if self.nested is None else self.nested.to_dict(),
            "inner_folds": self.inner_folds,
            "outer_folds": self.outer_folds,
            "chosen_in_folds": list(self.chosen_in_folds),
            "candidates": self.records(),
            "not_tried": list(self.not_tried),
            "seconds": self.seconds,
            "warnings": list(self.warnings),
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one row for each candidate that was tried."""
        return [
            {
                "candidate": one.name,
                self.measure: one.score,
                "standard_error": one.standard_error,
                "size": one.size,
                "seconds": one.seconds,
                "chosen": one.name == self.chosen,
            }
            for one in self.candidates
        ]

    def lines(self) -> list[str]:
        """Return what was chosen and the two estimates."""
        lines = [f"Chosen: {printable(self.chosen)}"]
        name = "accuracy" if self.measure == "accuracy" else "root mean squared error"
        if self.nested is not None:
            between = ""
            if self.nested.low is not None and self.nested.high is not None:
                between = f" ({percentage(self.nested.low)} to {percentage(self.nested.high)})"
            done = len(self.nested.folds)
            folds = f"{done}" if done == self.outer_folds else f"{done} of {self.outer_folds}"
            found = f"{self._shown(self.nested.pooled)}{between}"
            lines.append(f"Nested estimate of the {name} {found}, {folds} outer folds: unbiased")
        if self.inner is not None:
            lines.append(f"Inner estimate {self._shown(self.inner)}, used to choose it: {self._inner_worth()}")
        if self.nested is not None:
            lines.append(f"Baseline {self._shown(self.nested.baseline)}")
        return lines

    def _inner_worth(self) -> str:
        if self.nested is None or self.inner is None:
            return "usually optimistic"
        up = self.measure == "accuracy"
        better = self.inner > self.nested.pooled if up else self.inner < self.nested.pooled
        return "optimistic" if better else "usually optimistic, here no better than the nested estimate"

    def tables(self) -> list[tuple[str, Table]]:
        """Return the candidates."""
        if not self.candidates:
            return []
        rows = [["candidate", self.measure, "standard error", "size", ""]]
        for one in self.candidates:
            error = (
                f"{100 * one.standard_error:.1f} points" if self.measure == "accuracy" else f"{one.standard_error:.3g}"
            )
            mark = "chosen" if one.name == self.chosen else ""
            rows.append([printable(one.name, 60), self._shown(one.score), error, f"{one.size:.1f}", mark])
        return [("Candidates, by inner folds", rows)]

    def _shown(self, score: float) -> str:
        return percentage(score) if self.measure == "accuracy" else f"{score:.4g}"
