"""What to learn, as a value: a learner and the pruning that follows it; or a tree and how rules are taken from it.

Estimators and the command line turn their options into a `Plan` or `RulePlan` here, so that both refuse the same
combinations with the same words. A learner that follows one program is imported when it is made. C4.5 has three
dialects: ``"c45"`` is ours (double precision, ties by rule, every engine), ``"r8"`` is Quinlan's Release 8 to the last
bit, ``"j48"`` is Weka's. At the end the algorithms are registered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.concurrency import run_in_worker
from treewright.data.dataset import Dataset
from treewright.data.schema import Schema, Task
from treewright.errors import ParameterError
from treewright.learners.base import Abilities, Grown, Run, TreeLearner
from treewright.learners.criteria import CriterionFunction
from treewright.learners.grower import UNINTERRUPTED_CASES, is_compiled
from treewright.learners.recipe import C45, ID3, Recipe, Stopping
from treewright.learners.registry import Algorithm, register
from treewright.learners.shared_options import shared
from treewright.pruning.methods import Collapse, ErrorBased, Method, ReducedError, prune, pruning_from, split_off
from treewright.tree.model import Smoothing, TreeModel, Voting
from treewright.version import __version__
from treewright.wording import did_you_mean

if TYPE_CHECKING:
    from treewright.learners.c45rules.options import RuleOptions
    from treewright.tree.rules import RuleModel

Costs = tuple[tuple[float, ...], ...]

DIALECTS = ("c45", "r8", "j48")


@dataclass(frozen=True)
class Plan:
    """A learner and the pruning methods to apply to its tree, in order.

    Parameters
    ----------
    learner : TreeLearner
        Such as a `Recipe`, `Release8`, `J48`, `CHAID`, `CAL2` or `CAL3`.
    pruning : tuple of pruning methods
    task : Task
        What is to be predicted; `for_schema` sets it by the data.

    Examples
    --------
    >>> plan = c45(confidence=0.1)
    >>> plan.name, [type(method).__name__ for method in plan.pruning]
    ('C4.5', ['Collapse', 'ErrorBased'])
    """

    learner: TreeLearner
    pruning: tuple[Method, ...] = ()
    task: Task = Task.CLASSIFICATION

    @property
    def name(self) -> str:
        """The name for people."""
        return self.learner.title

    @property
    def abilities(self) -> Abilities:
        """What the learner can take."""
        return self.learner.abilities

    @property
    def criterion(self) -> str:
        """The criterion by name; empty for a learner that scores no splits."""
        return self.learner.criterion_for(self.task)

    @property
    def voting(self) -> Voting:
        """How the model combines the leaves of a fractional case."""
        return self.learner.voting

    @property
    def reference(self) -> Recipe:
        """The recipe that scores the splits in traces and explanations."""
        return self.learner.reference(self.task)

    @staticmethod
    def learner_kinds() -> Mapping[str, type[TreeLearner]]:
        """Return all learners of single trees by the name that model files keep."""
        from treewright.cart_plan import MedianLearner, RpartLearner
        from treewright.learners.c45r8.options import Release8
        from treewright.learners.cal.options import CAL2, CAL3
        from treewright.learners.chaid.options import CHAID
        from treewright.learners.j48.options import J48

        built_in = (Recipe, Release8, J48, RpartLearner, MedianLearner, CHAID, CAL2, CAL3)
        return TreeLearner.kinds | {kind.__name__: kind for kind in built_in}

    @property
    def tree(self) -> Plan:
        """How one tree is grown and pruned: the plan itself."""
        return self

    def describe(self) -> str:
        """Describe the learner and the pruning in a few words."""
        return self.learner.describe([one.describe() for one in self.pruning if not isinstance(one, Collapse)])

    @property
    def max_depth(self) -> int | None:
        """The largest depth to which it grows, None if there is no limit."""
        return self.learner.max_depth

    def limits(self) -> list[str]:
        """Return the limits on growing, in a few words each."""
        recipe = self.learner.recipe
        stopping = Stopping() if recipe is None else recipe.stopping
        limits = (("depth at most", stopping.max_depth), ("leaves at most", stopping.max_leaves))
        return [f"{label} {value}" for label, value in limits if value is not None]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for the model file."""
        return self.learner.to_dict(self.task) | {"pruning": [method.to_dict() for method in self.pruning]}

    def record(self) -> dict[str, Any]:
        """Return what a model of one tree keeps of the plan: also how its splits were searched."""
        return self.to_dict() | self.learner.search_report()

    def for_schema(self, schema: Schema) -> Plan:
        """Return the plan for classes or for numbers, whichever the target holds, or refuse the task."""
        return replace(self, learner=self.learner.for_task(schema.task, schema.target), task=schema.task)

    def unpruned(self) -> Plan:
        """Return the plan without its pruning."""
        kept = tuple(method for method in self.pruning if isinstance(method, Collapse))
        return replace(self, learner=self.learner.unpruned(), pruning=kept)

    def grow_and_prune(self, cases: Dataset, run: Run) -> Grown:
        """Return the pruned tree, with split traces if they are wanted."""
        held_out = next((method for method in self.pruning if isinstance(method, ReducedError)), None)
        part, validation = (cases, None) if held_out is None else split_off(cases, held_out.share, held_out.seed)
        grown = self.learner.grow(part, run)
        counted = part if grown.cases is None else grown.cases
        tree = grown.tree
        for method in self.pruning:
            if is_compiled(run.engine, counted) and counted.n_rows > UNINTERRUPTED_CASES:
                tree = run_in_worker(partial(prune, engine=run.engine), tree, method, counted, validation)
            else:
                tree = prune(tree, method, counted, validation, engine=run.engine)
        traces = self.learner.trace(grown, counted, tree, self.task, run) if run.keep_trace else {}
        return Grown(tree, traces, cases=counted, statistics=grown.statistics)

    def learn(self, cases: Dataset, run: Run, *, smoothing: Smoothing = None, costs: Costs | None = None) -> TreeModel:
        """Learn a tree from cases whose target the plan is for (`for_schema`)."""
        grown = self.grow_and_prune(cases, run)
        costs = self.learner.loss if costs is None else costs
        record = self.record() | dict(grown.statistics)
        origin = provenance(cases.n_rows, cases.source)
        return TreeModel(grown.tree, record, origin, grown.traces, smoothing, self.learner.voting, costs)


def id3(
    *,
    criterion: str | CriterionFunction = "gain",
    max_depth: int | None = None,
    max_leaves: int | None = None,
    min_cases: int = 2,
    min_decrease: float = 0.0,
    grow_significance: float | None = None,
    **pruning: Any,
) -> Plan:
    """Return ID3; further options are those of `pruning_from`.

    Growing stops where the best test is not significant at `grow_significance`, if that is given.
    """
    recipe = ID3(
        criterion=criterion,
        max_depth=max_depth,
        max_leaves=max_leaves,
        min_cases=min_cases,
        min_decrease=min_decrease,
        significance=grow_significance,
    )
    return Plan(recipe, pruning_from(pruning.pop("prune", None), **pruning))


def cart(*, prune: str | Method | None = None, alpha: float | None = None, **options: Any) -> Plan:
    """Return CART: as scikit-learn grows it or, with rpart's options, as rpart does.

    Options are those of `treewright.cart_plan.cart_learner` and of `pruning_from`.

    Examples
    --------
    >>> cart(prune="cost_complexity", alpha=0.1).describe(), cart(missing="surrogate", cp=0.01).describe()
    ('gini, pruned at ccp_alpha 0.1', 'gini, 5 surrogates at most, cp 0.01')
    """
    from treewright.cart_plan import cart_learner

    own = {key: options.pop(key) for key in ("significance", "bonferroni", "confidence", "raising") if key in options}
    pruning = pruning_from(prune, alpha=alpha, criterion=options.get("criterion", "gini"), **own)
    return Plan(cart_learner(**options, pruning=pruning), pruning)


def c45(
    *,
    dialect: str = "c45",
    criterion: str | CriterionFunction = "gain_ratio",
    min_objects: float = 2,
    confidence: float = 0.25,
    prune: bool | str | Method | None = True,
    subset: bool = False,
    binary: bool = False,
    raising: bool = True,
    mdl_correction: bool = True,
    collapse: bool = True,
    bins: int | None = None,
    max_depth: int | None = None,
    max_leaves: int | None = None,
    grow_significance: float | None = None,
    alpha: float | None = None,
    significance: float = 0.05,
    bonferroni: bool = False,
) -> Plan:
    """Return C4.5 in one of its dialects.

    Parameters
    ----------
    dialect : {"c45", "r8", "j48"}
    criterion : {"gain_ratio", "gain"} or function
        A function of the table (see `treewright.learners.criteria`) goes with dialect ``c45``, without `subset`, and
        without the correction of cuts, which is in bits.
    min_objects : float
        Weight that two branches of a test need.
    confidence : float
        Of error-based pruning, above 0 and at most 1; smaller prunes more.
    prune : bool, str, pruning method or None
        True is the dialect's own error-based pruning; for others see `pruning_from`.
    subset : bool
        Group the values of nominal attributes (``c45``, ``r8``).
    binary : bool
        One value against the others (``j48``).
    raising, mdl_correction, collapse : bool
        Subtree raising, the cost of choosing among cuts, collapsing of useless tests (``c45``, ``j48``).
    bins : int or None
        Try only the borders of as many bins of a numeric attribute as cuts; None tries every number (``c45``).
    max_depth, max_leaves : int or None
        Limits of growing (``c45``).
    grow_significance : float or None
        Growing stops where the best test is not significant at this level by chi-square (``c45``).
    alpha, significance, bonferroni
        Of other prunings: see `pruning_from`.
    """
    if dialect not in DIALECTS:
        hint = did_you_mean(str(dialect), DIALECTS)
        raise ParameterError(f"dialect must be one of {', '.join(map(repr, DIALECTS))}, not {dialect!r}{hint}")
    given = {
        "subset": (subset, False, ("c45", "r8")),
        "binary": (binary, False, ("j48",)),
        "raising": (raising, True, ("c45", "j48")),
        "mdl_correction": (mdl_correction, True, ("c45", "j48")),
        "collapse": (collapse, True, ("c45", "j48")),
        "bins": (bins, None, ("c45",)),
        "max_depth": (max_depth, None, ("c45",)),
        "max_leaves": (max_leaves, None, ("c45",)),
        "grow_significance": (grow_significance, None, ("c45",)),
        "criterion": (criterion, "gain_ratio", ("c45",) if callable(criterion) else ("c45", "r8")),
    }
    for name, (value, default, dialects) in given.items():
        if value != default and dialect not in dialects:
            raise ParameterError(
                f"{name}={value!r} is not an option of dialect {dialect!r}, only of {', '.join(dialects)}"
            )
    by_program = dialect != "c45" and prune is True
    ours = not by_program  # otherwise confidence and raising belong to the program
    pruning = pruning_from(
        False if by_program else prune,
        confidence=confidence if ours else 0.25,
        raising=raising if ours else True,
        alpha=alpha,
        significance=significance,
        bonferroni=bonferroni,
        criterion="entropy",
    )
    if dialect == "c45":
        recipe = C45(
            min_objects=min_objects,
            criterion=criterion,
            subset=subset,
            mdl_correction=mdl_correction,
            bins=bins,
            max_depth=max_depth,
            max_leaves=max_leaves,
            significance=grow_significance,
        )
        ErrorBased(confidence, raising)  # a wrong confidence is refused also where it is not used
        return Plan(recipe, (*((Collapse(),) if collapse else ()), *pruning))
    whole = _whole(min_objects)
    if dialect == "r8":
        from treewright.learners.c45r8.options import Release8

        return Plan(Release8(whole, str(criterion), subset, confidence, by_program), pruning)
    from treewright.learners.j48.options import J48

    return Plan(J48(whole, confidence, by_program, raising, binary, mdl_correction, collapse), pruning)


def chaid(*, prune: str | Method | None = None, **options: Any) -> Plan:
    """Return CHAID, for classes (chi-square tests) or numbers (F-tests), whichever the target holds.

    Parameters
    ----------
    prune : str, pruning method or None
        CHAID stops by itself; a method prunes what it has grown.
    **options
        Those of `treewright.learners.chaid.options.CHAID`, and those of `pruning_from`.

    Examples
    --------
    >>> chaid(alpha_split=0.01).describe(), chaid(exhaustive=True).name
    ('groups merged at 5 %, tests significant at 1 %', 'exhaustive CHAID')
    """
    from treewright.learners.chaid.options import CHAID

    names = {field.name for field in fields(CHAID)}
    own = {name: options.pop(name) for name in names & set(options)}
    if own.get("exhaustive") and own.get("alpha_merge", CHAID.alpha_merge) != CHAID.alpha_merge:
        raise ParameterError(
            f"alpha_merge={own['alpha_merge']!r} has no effect with exhaustive=True (--exhaustive), "
            "which merges down to two groups"
        )
    return Plan(CHAID(**own), pruning_from(prune, **options))


def cal2(*, max_steps: int | None = None, **pruning: Any) -> Plan:
    """Return CAL2: cases one at a time, attributes in the order of the columns, for classes that do not overlap.

    Examples
    --------
    >>> cal2().describe()
    'one case at a time'
    """
    from treewright.learners.cal.options import CAL2

    return Plan(CAL2(max_steps), pruning_from(pruning.pop("prune", None), **pruning))


def cal3(*, s1: int = 4, s2: float = 0.7, max_steps: int | None = None, **pruning: Any) -> Plan:
    """Return CAL3: as CAL2, but leaves count `s1` cases and close from a share of `s2`, for classes that overlap.

    Examples
    --------
    >>> cal3(max_steps=100).describe()
    's1 4, s2 0.7, steps at most 100'
    """
    from treewright.learners.cal.options import CAL3

    return Plan(CAL3(s1, s2, max_steps), pruning_from(pruning.pop("prune", None), **pruning))


def _whole(min_objects: float) -> int:
    if isinstance(min_objects, bool) or int(min_objects) != min_objects:
        raise ParameterError(f"min_objects must be a whole number in this dialect, not {min_objects!r}")
    return int(min_objects)


def as_plan(learner: Plan | TreeLearner) -> Plan:
    """Return the plan of a bare learner, which grows without pruning."""
    given: Any = learner
    return given if hasattr(given, "learn") else Plan(given)


def provenance(rows: int, source: str | None) -> dict[str, Any]:
    """Return what a model keeps of the data it was trained on, wherever they were."""
    return {"treewright": __version__, "rows": rows, "source": source}


def costs_from(costs: Mapping[tuple[Any, Any], float] | Any, labels: list[str]) -> tuple[tuple[float, ...], ...] | None:
    """Read costs given as a table or as ``{(actual, predicted): cost}``; other mistakes cost 1, correct predictions 0.

    Examples
    --------
    >>> costs_from({("sick", "well"): 5}, ["sick", "well"])
    ((0.0, 5.0), (1.0, 0.0))
    """
    if costs is None:
        return None
    if isinstance(costs, Mapping):
        table = [[0.0 if actual == predicted else 1.0 for predicted in labels] for actual in labels]
        for pair, cost in costs.items():
            if not isinstance(pair, tuple) or len(pair) != 2 or any(str(label) not in labels for label in pair):
                raise ParameterError(f"costs are for pairs (actual class, predicted class) of {labels}, not {pair!r}")
            table[labels.index(str(pair[0]))][labels.index(str(pair[1]))] = float(cost)
        return tuple(tuple(row) for row in table)
    try:
        return tuple(tuple(float(cost) for cost in row) for row in costs)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"costs must be a table of numbers: {error}") from error


def _default_rule_options() -> RuleOptions:
    from treewright.learners.c45rules.options import RuleOptions

    return RuleOptions()


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
    options: RuleOptions = field(default_factory=_default_rule_options)
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
    def abilities(self) -> Abilities:
        """What its tree can take, in memory and for classes; a rule has no class probabilities."""
        return replace(
            self.tree.abilities,
            tasks=frozenset({Task.CLASSIFICATION}),
            out_of_core=False,
            sampled_attributes=False,
            probabilities=False,
        )

    def for_schema(self, schema: Schema) -> RulePlan:
        """Return the plan; rules are for classes."""
        if schema.task is Task.REGRESSION:
            raise ParameterError(f"rules predict classes, and the target {schema.target!r} is a number")
        return self

    def learn(self, cases: Dataset, run: Run, *, smoothing: Smoothing = None, costs: Costs | None = None) -> RuleModel:
        """Learn rules from cases with classes; smoothing and costs are for models with class probabilities."""
        from treewright.learners.c45rules.induce import induce_rules, induce_rules_on_validation
        from treewright.tree.rules import RuleModel

        share = self.validation_share
        part, validation = (cases, None) if share is None else split_off(cases, share, self.options.seed)
        grown = self.tree.grow_and_prune(part, replace(run, keep_trace=False))
        if validation is None:
            rules = induce_rules(grown.tree, part, self.options)
        else:
            rules = induce_rules_on_validation(grown.tree, validation)
        return RuleModel(rules, self.to_dict(), provenance(cases.n_rows, cases.source))

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
    from treewright.learners.c45rules.options import RuleOptions

    if validation is not None and confidence != RuleOptions.confidence:
        raise ParameterError(
            f"confidence={confidence!r} has no effect with validation, which tests rules on cases of its own"
        )
    plan = c45(dialect=dialect, prune=False, **tree)
    if dialect != "c45":  # Release 8 and J48 keep the confidence among the options of their tree
        learner: Any = plan.learner
        plan = replace(plan, learner=replace(learner, confidence=confidence))
    options = RuleOptions.release8(confidence) if dialect == "r8" else RuleOptions(confidence, seed=seed)
    return RulePlan(plan, options, validation)


# -- by name -----------------------------------------------------------------------------------------------------------


def _id3(*, min_split: int = 2, **options: Any) -> Plan:
    return id3(min_cases=min_split, **options)


def _cart(*, missing_values: str | None = None, **options: Any) -> Plan:
    criterion = options.get("criterion", "gini")
    if not callable(criterion) and criterion not in CART_CRITERIA:
        hint = did_you_mean(str(criterion), CART_CRITERIA)
        raise ParameterError(f"criterion must be one of {', '.join(CART_CRITERIA)} for cart, not {criterion!r}{hint}")
    limits = {
        "max_depth": "max_depth",
        "max_leaves": "max_leaves",
        "min_split": "min_cases",
        "min_leaf": "min_leaf",
        "min_decrease": "min_decrease",
        "grow_significance": "significance",
    }
    stopping = {limits[name]: options.pop(name) for name in limits.keys() & options.keys()}
    return cart(stopping=Stopping(**stopping), missing=missing_values, **options)


def _rpart() -> Plan:
    stopping = Stopping(max_depth=30, min_cases=20, min_leaf=7)
    return cart(missing="surrogate", stopping=stopping, cp=0.01, xval=0, faults=True)


def _chaid(*, min_split: int = 20, min_leaf: int = 7, **options: Any) -> Plan:
    return chaid(min_samples_split=min_split, min_samples_leaf=min_leaf, **options)


CART_CRITERIA = ("gini", "entropy", "chi2")
"""The criteria of CART for classes; numbers are split by their variance."""


# -- settings that are worth trying ------------------------------------------------------------------------------------


def _c45_settings(_: Dataset | None) -> dict[str, Plan]:
    return {
        f"confidence {100 * confidence:g} %, {objects} objects": c45(confidence=confidence, min_objects=objects)
        for objects in (2, 5, 20)
        for confidence in (0.25, 0.1, 0.01)
    }


def _id3_settings(_: Dataset | None) -> dict[str, Plan]:
    return {"any depth" if depth is None else f"depth {depth}": id3(max_depth=depth) for depth in (None, 1, 2, 3, 5)}


def _cart_settings(dataset: Dataset | None) -> dict[str, Plan]:
    """Return settings of CART; for a numeric target alpha is a share of its variance, whatever its unit."""
    unit, word = 1.0, ""
    if dataset is not None and dataset.target is not None and dataset.schema.task is Task.REGRESSION:
        unit, word = float(np.var(dataset.target)), " of the variance"
    return {
        f"alpha {alpha:g}{word}, {leaf} case{'' if leaf == 1 else 's'} in a leaf": cart(
            stopping=Stopping(min_leaf=leaf),
            prune="cost_complexity" if alpha else None,
            alpha=alpha * unit if alpha else None,
        )
        for leaf in (1, 5, 20)
        for alpha in (0.0, 0.001, 0.003, 0.01)
    }


def _chaid_settings(_: Dataset | None) -> dict[str, Plan]:
    return {f"significance {100 * level:g} %": chaid(alpha_split=level) for level in (0.05, 0.01, 0.001)}


def _cal3_settings(_: Dataset | None) -> dict[str, Plan]:
    return {f"s1 {s1}, s2 {s2:g}": cal3(s1=s1, s2=s2) for s1 in (4, 8, 16) for s2 in (0.7, 0.8, 0.9)}


def _rules_settings(_: Dataset | None) -> dict[str, RulePlan]:
    return {f"confidence {100 * level:g} %": c45_rules(confidence=level) for level in (0.25, 0.1, 0.01)}


# -- the registry ------------------------------------------------------------------------------------------------------

_PRUNING = shared("prune", "significance", "bonferroni", "alpha")
_C45_CRITERION = shared("criterion", values=("gain_ratio", "gain"), default="gain_ratio")

register(
    Algorithm(
        "c45",
        c45,
        (
            *_C45_CRITERION,
            *shared("max_depth", "max_leaves", "dialect", "min_objects", "confidence", "subset", "binary"),
            *shared("raising", "mdl_correction", "collapse"),
            *shared("prune", default="error_based"),
            *shared("significance", "bonferroni", "alpha", "grow_significance", "bins"),
        ),
        compared=True,
        settings=_c45_settings,
    )
)
register(
    Algorithm(
        "id3",
        _id3,
        (
            *shared("criterion", values=("gain", "gini", "chi2"), default="gain"),
            *shared("max_depth", "max_leaves"),
            *_PRUNING,
            *shared("min_split", "min_decrease", "grow_significance"),
        ),
        settings=_id3_settings,
    )
)
register(
    Algorithm(
        "cart",
        _cart,
        (
            *shared("criterion", values=CART_CRITERIA, default="gini"),
            *shared("max_depth", "max_leaves"),
            *_PRUNING,
            *shared("min_split", "min_leaf", "min_decrease", "grow_significance"),
            *shared("missing_values", "max_surrogates", "cp", "choose", "xval", "bins"),
        ),
        seeded=True,
        compared=True,
        settings=_cart_settings,
    )
)
register(
    Algorithm(
        "chaid",
        _chaid,
        (
            *shared("max_depth"),
            *_PRUNING,
            *shared("min_split", default="20"),
            *shared("min_leaf", default="7"),
            *shared("alpha_merge", "alpha_split", "resplit", "exhaustive"),
            *shared("bins", default="10", help="Intervals into which numeric attributes are divided."),
        ),
        compared=True,
        settings=_chaid_settings,
    )
)
register(Algorithm("cal2", cal2, shared("max_steps")))
register(Algorithm("cal3", cal3, shared("s1", "s2", "max_steps"), settings=_cal3_settings))
register(
    Algorithm(
        "rules",
        c45_rules,
        (
            *_C45_CRITERION,
            *shared("dialect", "min_objects"),
            *shared("confidence", help="Confidence of the error estimate; smaller drops more conditions."),
            *shared("subset", "validation"),
        ),
        seeded=True,
        makes="rules",
        settings=_rules_settings,
    )
)
register(Algorithm("r8", partial(c45, dialect="r8"), variant=True))
register(Algorithm("j48", partial(c45, dialect="j48"), variant=True))
register(Algorithm("rpart", _rpart, variant=True))
