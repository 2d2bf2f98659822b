"""Rules as a plan: the tree that they come from, and how they are chosen."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from treewright._base.errors import ParameterError
from treewright.plans import Plan, c45
from treewright.rules.options import RuleOptions


@dataclass(frozen=True)
class RulePlan:
    """Rules from an unpruned tree: generalise, select, order; or by accuracy on a part that was held out.

    Parameters
    ----------
    tree : Plan
        Without pruning: generalising the rules is the pruning.
    options : RuleOptions
    validation_share : float or None
        Hold out this share of the cases and keep what is accurate there; None uses C4.5rules' estimates.
    """

    tree: Plan
    options: RuleOptions = field(default_factory=RuleOptions)
    validation_share: float | None = None

    def __post_init__(self) -> None:
        share = self.validation_share
        if share is not None and not (isinstance(share, float) and 0 < share < 1):
            raise ParameterError(f"validation must be None or a share between 0 and 1, not {share!r}")

    @property
    def name(self) -> str:
        """The name for people."""
        return f"Rules from {self.tree.name}"

    @property
    def nominal_limit(self) -> int:
        """Whole-number columns with at most this many values are proposed as nominal."""
        return self.tree.nominal_limit

    def describe(self) -> str:
        """Say in a few words how the rules are chosen."""
        if self.validation_share is not None:
            return f"validated on {100 * self.validation_share:.0f} % of the cases"
        return f"generalised at confidence {100 * self.options.confidence:g} %, chosen by description length"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for the model file."""
        return {
            "name": self.name,
            "tree": self.tree.to_dict(),
            "rules": asdict(self.options),
            "validation_share": self.validation_share,
        }


def c45_rules(
    *,
    dialect: str = "c45",
    confidence: float = 0.25,
    seed: int = 0,
    validation: float | None = None,
    **tree: Any,
) -> RulePlan:
    """Return C4.5rules over the unpruned tree of a dialect; other options are those of `c45`."""
    plan = c45(dialect=dialect, confidence=confidence, prune=False, **tree)
    options = RuleOptions.release8(confidence) if dialect == "r8" else RuleOptions(confidence, seed=seed)
    return RulePlan(plan, options, validation)
