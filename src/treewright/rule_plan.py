"""Rules as a plan: the tree that they come from, and how they are chosen."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from treewright._base.errors import ParameterError
from treewright.data.dataset import Dataset
from treewright.data.schema import Schema, Task
from treewright.grow.learner import Abilities, Run
from treewright.grow.registry import Algorithm, register
from treewright.model.model import Smoothing
from treewright.plans import C45_OPTIONS, Costs, Plan, c45, provenance_of
from treewright.prune.method import split_off
from treewright.rules.options import RuleOptions

if TYPE_CHECKING:
    from treewright.model.rule_model import RuleModel


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

    @property
    def abilities(self) -> Abilities:
        """What it can take: classes; a rule has no class probabilities."""
        return Abilities(probabilities=False)

    def for_schema(self, schema: Schema) -> RulePlan:
        """Return the plan; rules are for classes."""
        if schema.task is Task.REGRESSION:
            raise ParameterError(f"rules predict classes, and the target {schema.target!r} is a number")
        return self

    def learn(self, cases: Dataset, run: Run, *, smoothing: Smoothing = None, costs: Costs | None = None) -> RuleModel:
        """Learn rules from cases with classes; smoothing and costs are for models with class probabilities."""
        from treewright.model.rule_model import RuleModel
        from treewright.rules.c45rules import induce_rules
        from treewright.rules.validation import induce_rules_on_validation

        share = self.validation_share
        part, validation = (cases, None) if share is None else split_off(cases, share, self.options.seed)
        grown = self.tree.grow_and_prune(part, replace(run, keep_trace=False))
        if validation is None:
            rules = induce_rules(grown.tree, part, self.options)
        else:
            rules = induce_rules_on_validation(grown.tree, validation)
        return RuleModel(rules, self.to_dict(), provenance_of(cases))

    def describe(self) -> str:
        """Describe in a few words how the rules are chosen."""
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
    # Release 8 and J48 keep the confidence among the options of their tree, also of an unpruned one.
    recorded: dict[str, Any] = {} if dialect == "c45" else {"confidence": confidence}
    plan = c45(dialect=dialect, prune=False, **recorded, **tree)
    options = RuleOptions.release8(confidence) if dialect == "r8" else RuleOptions(confidence, seed=seed)
    return RulePlan(plan, options, validation)


register(Algorithm("rules", c45_rules, (*C45_OPTIONS, "validation"), seeded=True, makes="rules"))
