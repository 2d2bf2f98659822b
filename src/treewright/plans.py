"""What to learn, as a value: a learner and the pruning that follows it.

Estimators and the command line turn their options into a `Plan` here, so that both refuse the same combinations with
the same words.

Vocabulary
----------
learner
    A recipe for our own grower, the options of a learner that follows an original program (Release 8, J48), or those
    of a procedure of its own (CHAID, CAL2, CAL3).
dialect
    Whose C4.5: ``"c45"`` is ours (double precision, ties by rule, every engine), ``"r8"`` is Quinlan's Release 8 to
    the last bit, ``"j48"`` is Weka's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np

from treewright._base.errors import ParameterError
from treewright._base.near_names import did_you_mean
from treewright.data.infer import NOMINAL_LIMIT
from treewright.data.schema import Schema, Task
from treewright.grow.bins_of_numbers import bins_of_learner
from treewright.grow.cal.options import CAL2, CAL3
from treewright.grow.chaid.options import CHAID
from treewright.grow.j48.options import J48
from treewright.grow.own_criterion import CriterionFunction
from treewright.grow.recipe import C45, CART, ID3, MissingPolicy, NominalTest, Recipe, for_regression
from treewright.grow.release8.options import Release8
from treewright.model.model import Voting
from treewright.prune.method import Collapse, ErrorBased, Method, pruning_from
from treewright.rpart_plan import CartLearner, MedianLearner, RpartLearner, cart_learner

Learner = Recipe | Release8 | J48 | CHAID | CAL2 | CAL3 | CartLearner

DIALECTS = ("c45", "r8", "j48")


@dataclass(frozen=True)
class Plan:
    """A learner and the pruning methods to apply to its tree, in order.

    Parameters
    ----------
    learner : Recipe, Release8, J48, CHAID, CAL2, CAL3, RpartLearner or MedianLearner
    pruning : tuple of pruning methods
    task : Task
        What CHAID is to predict, which its options do not say; `treewright.fit` sets it by the data.

    Examples
    --------
    >>> plan = c45(confidence=0.1)
    >>> plan.name, [type(method).__name__ for method in plan.pruning]
    ('C4.5', ['Collapse', 'ErrorBased'])
    """

    learner: Learner
    pruning: tuple[Method, ...] = ()
    task: Task = Task.CLASSIFICATION

    @property
    def name(self) -> str:
        """The name for people."""
        if isinstance(self.learner, (Recipe, CAL2, CAL3, RpartLearner, MedianLearner)):
            return self.learner.name
        if isinstance(self.learner, CHAID):
            return "exhaustive CHAID" if self.learner.exhaustive else "CHAID"
        return "C4.5 Release 8" if isinstance(self.learner, Release8) else "J48"

    @property
    def nominal_limit(self) -> int:
        """Whole-number columns with at most this many values are proposed as nominal."""
        if isinstance(self.learner, (CHAID, CAL2, CAL3)):
            return NOMINAL_LIMIT
        return self.learner.nominal_limit if isinstance(self.learner, Recipe) else 0

    @property
    def criterion(self) -> str:
        """The criterion by name; empty for CAL2 and CAL3, which choose nothing."""
        if isinstance(self.learner, CHAID):
            return "chi2" if self.task is Task.CLASSIFICATION else "variance"
        if isinstance(self.learner, (CAL2, CAL3)):
            return ""
        return "gain_ratio" if isinstance(self.learner, J48) else self.learner.criterion

    @property
    def voting(self) -> Voting:
        """How the model puts divided cases together."""
        votes: dict[type, Voting] = {Release8: Voting.RELEASE8, J48: Voting.J48}
        return votes.get(type(self.learner), Voting.SHARES)

    @property
    def judge(self) -> Recipe:
        """The recipe by which the working of nodes is examined."""
        if isinstance(self.learner, Recipe):
            return self.learner
        if isinstance(self.learner, (RpartLearner, MedianLearner)):
            return self.learner.judge
        if isinstance(self.learner, (CHAID, CAL2, CAL3)):
            return self._judge_of_a_procedure()
        subset = isinstance(self.learner, Release8) and self.learner.subset
        correction = not isinstance(self.learner, J48) or self.learner.mdl_correction
        return C45(
            min_objects=self.learner.min_objects,
            criterion=self.criterion,
            subset=subset,
            mdl_correction=correction,
        )

    def _judge_of_a_procedure(self) -> Recipe:
        """Return the nearest recipe; numbers are cut in two, so that tables can be counted for any intervals."""
        if isinstance(self.learner, CHAID):
            if self.task is Task.REGRESSION:
                return replace(for_regression(CART(missing=MissingPolicy.MAJORITY)), nominal_limit=NOMINAL_LIMIT)
            return Recipe(self.name, self.criterion, once_per_path=False, nominal_limit=NOMINAL_LIMIT)
        return Recipe(self.name, "gain", nominal_limit=NOMINAL_LIMIT)

    def describe(self) -> str:
        """Say the criterion and the pruning in a few words."""
        pruned = [method.describe() for method in self.pruning if not isinstance(method, Collapse)]
        if isinstance(self.learner, (CHAID, CAL2, CAL3)):  # nobody expects them to be pruned
            return ", ".join([*_told(self.learner), *pruned])
        if isinstance(self.learner, (RpartLearner, MedianLearner)):
            return ", ".join([*self.learner.told(), *pruned])
        told = self.learner.criterion_label if isinstance(self.learner, Recipe) else self.criterion.replace("_", " ")
        words = [told]
        bins = bins_of_learner(self.learner)
        if bins is not None:
            words.append(f"cuts at the borders of {bins} bins")
        if not isinstance(self.learner, Recipe) and self.learner.prune:
            pruned.append(ErrorBased(self.learner.confidence).describe())
        return ", ".join([*words, *(pruned or ["unpruned"])])

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for the model file."""
        plain: dict[str, Any] = {**self.judge.to_dict(), "name": self.name}
        if not isinstance(self.learner, Recipe):
            options = {name: _plain(value) for name, value in asdict(self.learner).items()}
            plain["options"] = {"learner": type(self.learner).__name__, **options}
        return plain | {"pruning": [method.to_dict() for method in self.pruning]}


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

    Options are those of `treewright.rpart_plan.cart_learner` and of `pruning_from`.

    Examples
    --------
    >>> cart(prune="cost_complexity", alpha=0.1).describe(), cart(missing="surrogate", cp=0.01).describe()
    ('gini, pruned at a price of 0.1 a leaf', 'gini, 5 surrogates at most, cp 0.01')
    """
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
    alpha: float = 0.0,
    significance: float = 0.05,
    bonferroni: bool = False,
) -> Plan:
    """Return C4.5 in one of its dialects.

    Parameters
    ----------
    dialect : {"c45", "r8", "j48"}
    criterion : {"gain_ratio", "gain"} or function
        A function of the table (see `treewright.grow.own_criterion`) goes with dialect ``c45``, without `subset`, and
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
    for name, (value, usual, dialects) in given.items():
        if value != usual and dialect not in dialects:
            raise ParameterError(
                f"{name}={value!r} is not an option of dialect {dialect!r}, only of {', '.join(dialects)}"
            )
    by_program = dialect != "c45" and prune is True
    pruning = pruning_from(
        False if by_program else prune,
        confidence=confidence,
        raising=raising,
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
        ErrorBased(confidence, raising)  # a wrong confidence is told also where it is not used
        return Plan(recipe, (*((Collapse(),) if collapse else ()), *pruning))
    whole = _whole(min_objects)
    if dialect == "r8":
        return Plan(Release8(whole, str(criterion), subset, confidence, by_program), pruning)
    return Plan(J48(whole, confidence, by_program, raising, binary, mdl_correction, collapse), pruning)


def chaid(*, prune: str | Method | None = None, **options: Any) -> Plan:
    """Return CHAID, for classes (chi-square tests) or numbers (F-tests), whichever the target holds.

    Parameters
    ----------
    prune : str, pruning method or None
        CHAID stops by itself; a method prunes what it has grown.
    **options
        Those of `treewright.grow.chaid.growing.CHAID`, and those of `pruning_from`.

    Examples
    --------
    >>> chaid(alpha_split=0.01).describe(), chaid(exhaustive=True).name
    ('groups merged at 5 %, tests significant at 1 %', 'exhaustive CHAID')
    """
    names = {field.name for field in fields(CHAID)}
    own = {name: options.pop(name) for name in names & set(options)}
    return Plan(CHAID(**own), pruning_from(prune, **options))


def cal2(*, max_steps: int | None = None, **pruning: Any) -> Plan:
    """Return CAL2: cases one at a time, attributes in the order of the columns, for classes that do not overlap.

    Examples
    --------
    >>> cal2().describe()
    'one case at a time'
    """
    return Plan(CAL2(max_steps), pruning_from(pruning.pop("prune", None), **pruning))


def cal3(*, s1: int = 4, s2: float = 0.7, max_steps: int | None = None, **pruning: Any) -> Plan:
    """Return CAL3: as CAL2, but leaves count `s1` cases and close from a share of `s2`, for classes that overlap.

    Examples
    --------
    >>> cal3(max_steps=100).describe()
    's1 4, s2 0.7, steps at most 100'
    """
    return Plan(CAL3(s1, s2, max_steps), pruning_from(pruning.pop("prune", None), **pruning))


def _told(learner: CHAID | CAL2 | CAL3) -> list[str]:
    """Return the options that matter in a few words each."""
    if isinstance(learner, CHAID):
        merged = [] if learner.exhaustive else [f"groups merged at {100 * learner.alpha_merge:g} %"]
        words = [*merged, f"tests significant at {100 * learner.alpha_split:g} %"]
        words += [word for word, wanted in (("as R's program", learner.like_r), ("resplit", learner.resplit)) if wanted]
        return words if learner.max_depth is None else [*words, f"depth at most {learner.max_depth}"]
    words = ["one case at a time"] if isinstance(learner, CAL2) else [f"s1 {learner.s1}, s2 {learner.s2:g}"]
    return words if learner.max_steps is None else [*words, f"steps at most {learner.max_steps}"]


def _plain(value: Any) -> Any:
    """Return the number of Python's own for one of NumPy's, which a model file has no form for."""
    return value.item() if isinstance(value, np.generic) else value


def _whole(min_objects: float) -> int:
    if isinstance(min_objects, bool) or int(min_objects) != min_objects:
        raise ParameterError(f"min_objects must be a whole number in this dialect, not {min_objects!r}")
    return int(min_objects)


def as_plan(learner: Plan | Learner) -> Plan:
    """Wrap a bare learner."""
    return learner if isinstance(learner, Plan) else Plan(learner)


def for_task(plan: Plan, schema: Schema) -> Plan:
    """Return the plan for classes or for numbers, whichever the target holds, or say that it is not for them."""
    learner = plan.learner
    if isinstance(learner, (RpartLearner, MedianLearner)):
        return replace(plan, learner=learner.for_task(schema.task))
    if schema.task is Task.CLASSIFICATION:
        if isinstance(learner, Recipe) and learner.criterion == "variance":
            raise ParameterError("variance is for a numeric target; this one has classes")
        return plan
    if isinstance(learner, CHAID):
        return replace(plan, task=Task.REGRESSION)
    if not isinstance(learner, Recipe) or learner.nominal is not NominalTest.SUBSETS:
        raise ParameterError(
            f"{plan.name} predicts classes, and the target {schema.target!r} is a number: "
            "use CART or CHAID, or declare the target a class"
        )
    return replace(plan, learner=for_regression(learner))


def without_pruning(plan: Plan) -> Plan:
    """Return the plan with its growing only."""
    learner = plan.learner
    if isinstance(learner, (Release8, J48)):
        learner = replace(learner, prune=False)
    return Plan(learner, tuple(method for method in plan.pruning if isinstance(method, Collapse)))


def costs_from(costs: Mapping[tuple[Any, Any], float] | Any, labels: list[str]) -> tuple[tuple[float, ...], ...] | None:
    """Read costs given as a table or as ``{(true, predicted): cost}``; what is not said costs 1, right answers 0.

    Examples
    --------
    >>> costs_from({("sick", "well"): 5}, ["sick", "well"])
    ((0.0, 5.0), (1.0, 0.0))
    """
    if costs is None:
        return None
    if isinstance(costs, Mapping):
        table = [[0.0 if true == said else 1.0 for said in labels] for true in labels]
        for pair, cost in costs.items():
            if not isinstance(pair, tuple) or len(pair) != 2 or any(str(label) not in labels for label in pair):
                raise ParameterError(f"costs are for pairs (true class, predicted class) of {labels}, not {pair!r}")
            table[labels.index(str(pair[0]))][labels.index(str(pair[1]))] = float(cost)
        return tuple(tuple(row) for row in table)
    try:
        return tuple(tuple(float(cost) for cost in row) for row in costs)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"costs must be a table of numbers: {error}") from error
