"""Recipes: an algorithm is a value, not a branch in the code.

A recipe states how splits are formed (nominal, ordinal and numeric attributes, missing values), how they are scored,
which rule chooses among them, and when growth stops. ID3, C4.5 and CART are three such values; `dataclasses.replace`
makes another one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.data.infer import NOMINAL_LIMIT
from treewright.data.schema import Task
from treewright.errors import ModelFormatError, ParameterError
from treewright.learners.base import Abilities, Grown, Progress, Run, TreeLearner
from treewright.learners.criteria import OWN, CriterionFunction, OwnCriterion, criterion_named, named_or_own
from treewright.learners.monotonic import Constraints
from treewright.parameters import check_whole_number
from treewright.tree.tree import Stop
from treewright.wording import did_you_mean


class NominalTest(StrEnum):
    """The tests that a nominal attribute offers."""

    MULTIWAY = "one branch per value"
    SUBSETS = "two sets of values"
    GROUPS = "values grouped while the ratio improves"


class OrdinalTest(StrEnum):
    """The tests that an ordinal attribute offers."""

    MULTIWAY = "one branch per value"
    ORDERED = "lower against higher values"
    GROUPS = "values grouped while the ratio improves"


class Placement(StrEnum):
    """The threshold chosen between two neighbouring values."""

    MIDPOINT = "midpoint"
    DATA_VALUE = "largest value in the data not above the midpoint"


class MissingPolicy(StrEnum):
    """How cases with a missing value are routed."""

    FRACTIONAL = "fractional"
    MAJORITY = "heaviest branch"
    LEARNED = "the side where they fit best"


class Choice(StrEnum):
    """The rule that chooses among the attributes."""

    HIGHEST = "highest score"
    RATIO = "highest gain ratio among gains of at least the average"
    GAIN = "highest gain"


@dataclass(frozen=True)
class Cuts:
    """Binary splits of numeric attributes.

    Parameters
    ----------
    placement : Placement
    gap : float
        Neighbouring values must be further apart than this.
    relative_side : bool
        C4.5's minimum weight of a side: a tenth of the known weight per class, at least `min_objects`, at most 25.
    correction : bool
        Subtract log2(tries)/cases from the gain of the best cut and reject the cut unless the rest is positive.
    bins : int or None
        Number of equal-frequency bins; only bin borders are tried as cuts. None tries every value
        (see `treewright.learners.discretise`).
    """

    placement: Placement = Placement.MIDPOINT
    gap: float = 0.0
    relative_side: bool = False
    correction: bool = False
    bins: int | None = None

    def __post_init__(self) -> None:
        if self.bins is not None:
            check_whole_number("bins", self.bins, 2, plain=True)


@dataclass(frozen=True)
class Intervals:
    """Numeric attributes are discretised before growing.

    Parameters
    ----------
    method : str
        ``"mdl"``: entropy cuts, accepted while the description length falls (Fayyad and Irani).
    """

    method: str = "mdl"


@dataclass(frozen=True)
class Stopping:
    """When a node becomes a leaf.

    Parameters
    ----------
    max_depth, max_leaves : int or None
    min_cases : int
        Least number of cases (unweighted) of a node to be split.
    min_leaf : int
        Least number of cases (unweighted) of every branch of a cut.
    min_weight : float
        Least weight of a node to be split.
    min_branch : float
        Least weight of at least two branches.
    min_share : float
        Least weight of each branch of a binary split, as a share of the weight of all cases.
    significance : float or None
        The chosen split must be significant at this level by a chi-square test (classification only).
    min_decrease : float
        Least score of the chosen split, times the share of all cases that are in the node.
    """

    max_depth: int | None = None
    max_leaves: int | None = None
    min_cases: int = 2
    min_leaf: int = 1
    min_weight: float = 0.0
    min_branch: float = 0.0
    min_share: float = 0.0
    min_decrease: float = 0.0
    significance: float | None = None

    def __post_init__(self) -> None:
        for name, least in (("max_depth", 0), ("max_leaves", 2), ("min_cases", 2), ("min_leaf", 1)):
            if getattr(self, name) is not None:
                check_whole_number(name, getattr(self, name), least, plain=True)
        if not 0 <= self.min_share <= 0.5:
            raise ParameterError(f"min_share must be a number from 0 to 0.5, not {self.min_share!r}")
        if self.significance is not None and not 0 < self.significance < 1:
            raise ParameterError(f"significance must be None or a number between 0 and 1, not {self.significance!r}")
        for name in ("min_weight", "min_branch", "min_decrease"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise ParameterError(f"{name} must be a number of at least 0, not {getattr(self, name)!r}")

    def limit_at(self, depth: int, cases: int, weight: float, least_weight: float) -> Stop | None:
        """Return the limit that a node of this depth and size reaches, None if it may be split.

        `least_weight` is the greater of `min_weight` and twice the weight of `min_share`; each learner subtracts the
        rounding error of its sums.
        """
        if self.max_depth is not None and depth >= self.max_depth:
            return Stop.DEPTH
        if cases < self.min_cases or cases < 2 * self.min_leaf or weight < least_weight:
            return Stop.TOO_FEW
        return None


@dataclass(frozen=True)
class AttributeSampling:
    """Random growth: splits are sought among sampled attributes and, on request, at random cuts.

    Parameters
    ----------
    attributes : int
        Number of sampled attributes.
    seed : int
        Hashed with the path of the node, so that the sample does not depend on the order of growth.
    per_tree : bool
        Sample the attributes once for the whole tree instead of at each node. Then an attribute that offers no split
        is not replaced by another.
    random_cuts : bool
        Cut a numeric attribute at a random point between the least and the greatest value of the node instead of at
        the best threshold (extremely randomised trees; see `treewright.learners.sampling.random_cut`).
    """

    attributes: int
    seed: int
    per_tree: bool = False
    random_cuts: bool = False

    def __post_init__(self) -> None:
        check_whole_number("the number of sampled attributes", self.attributes, 1, plain=True)


@dataclass(frozen=True)
class Recipe(TreeLearner):
    """An algorithm as a value.

    Parameters
    ----------
    name : str
        Display name.
    criterion : str
        Name in `treewright.learners.criteria.CRITERIA`, or ``"own"``.
    nominal, ordinal : NominalTest, OrdinalTest
    numeric : Cuts or Intervals
    missing : MissingPolicy
    choice : Choice
    once_per_path : bool
        Whether a split with one branch per value excludes its attribute from the nodes below.
    stopping : Stopping
    draw : AttributeSampling or None
    nominal_limit : int
        Integer columns with at most this many values are proposed as nominal when the schema is inferred.
    monotonic : tuple of pairs
        Attributes and the sign with which the prediction may change with them (see `treewright.learners.monotonic`).
    own : OwnCriterion or None
        The user's own criterion (see `treewright.learners.criteria`).

    Examples
    --------
    >>> ID3().criterion, C45().choice.name, CART().nominal.name
    ('gain', 'RATIO', 'SUBSETS')
    """

    name: str
    criterion: str
    nominal: NominalTest = NominalTest.MULTIWAY
    ordinal: OrdinalTest = OrdinalTest.MULTIWAY
    numeric: Cuts | Intervals = Cuts()
    missing: MissingPolicy = MissingPolicy.MAJORITY
    choice: Choice = Choice.HIGHEST
    once_per_path: bool = True
    stopping: Stopping = Stopping()
    draw: AttributeSampling | None = None
    nominal_limit: int = 0
    monotonic: Constraints = ()
    own: OwnCriterion | None = None

    def __post_init__(self) -> None:
        if (self.criterion == OWN) != (self.own is not None):
            raise ParameterError(f"criterion {OWN!r} and a custom criterion function must be given together")
        if self.own is None:
            criterion_named(self.criterion)
        elif self.choice is not Choice.HIGHEST or self.nominal is NominalTest.GROUPS:
            raise ParameterError("a custom criterion requires Choice.HIGHEST and does not support grouped values")
        elif isinstance(self.numeric, Cuts) and self.numeric.correction:
            raise ParameterError("the MDL correction of cuts is in bits and does not apply to a custom criterion")
        if self.criterion == "gain_ratio" and self.choice is not Choice.RATIO:
            raise ParameterError("the gain ratio requires Choice.RATIO")
        if self.missing is MissingPolicy.LEARNED and (
            self.nominal is not NominalTest.SUBSETS or self.ordinal is not OrdinalTest.ORDERED
        ):
            raise ParameterError("MissingPolicy.LEARNED requires binary splits")
        if self.monotonic and (
            self.nominal is not NominalTest.SUBSETS
            or self.ordinal is not OrdinalTest.ORDERED
            or self.missing is MissingPolicy.FRACTIONAL
        ):
            raise ParameterError("monotonic constraints require binary splits without fractional cases, as in CART")
        if self.draw is not None and self.draw.random_cuts and isinstance(self.numeric, Cuts) and self.numeric.bins:
            raise ParameterError("random_cuts cannot be combined with bins")
        if self.draw is not None and self.draw.random_cuts and isinstance(self.numeric, Intervals):
            raise ParameterError("random_cuts requires binary numeric splits, not intervals")
        if isinstance(self.numeric, Intervals) and self.numeric.method != "mdl":
            raise ParameterError(f"the discretisation method must be 'mdl', not {self.numeric.method!r}")

    @property
    def criterion_label(self) -> str:
        """The criterion for people to read; a custom criterion by the name of its function."""
        return self.criterion.replace("_", " ") if self.own is None else f"{self.own.name} (own criterion)"

    # -- the learner (see `TreeLearner`) -------------------------------------------------------------------------------

    @property
    def title(self) -> str:
        """The name for people."""
        return self.name

    @property
    def abilities(self) -> Abilities:
        """Supported tasks and engines; recipes with binary splits also support regression."""
        both = self.nominal is NominalTest.SUBSETS
        return Abilities(
            tasks=frozenset({Task.CLASSIFICATION, Task.REGRESSION} if both else {Task.CLASSIFICATION}),
            engines=frozenset({"interpreted", "compiled"}),
            out_of_core=True,
            sampled_attributes=True,
        )

    @property
    def recipe(self) -> Recipe:
        """The recipe itself."""
        return self

    @property
    def numeric_bins(self) -> int | None:
        """The number of bins that numeric attributes are put into before growing."""
        return self.numeric.bins if isinstance(self.numeric, Cuts) else None

    @property
    def order(self) -> str:
        """Level by level or, under a limit on leaves, the node of the highest gain first."""
        return "levels" if self.stopping.max_leaves is None else "best"

    def criterion_for(self, task: Task) -> str:
        """Return the criterion by name."""
        return self.criterion

    def reference(self, task: Task) -> Recipe:
        """Return the recipe itself."""
        return self

    def describe(self, pruned: Sequence[str]) -> str:
        """Describe the recipe and the prunings that follow it in one line."""
        bins = [] if self.numeric_bins is None else [f"cuts at the borders of {self.numeric_bins} bins"]
        return ", ".join([self.criterion_label, *bins, *(pruned or ["unpruned"])])

    def search_report(self) -> dict[str, Any]:
        """Return the method by which subsets of categories were searched."""
        from treewright.learners.candidates import SEARCH, SEARCH_BY_OWN

        if self.nominal is not NominalTest.SUBSETS:
            return {}
        return {"subset_search": SEARCH if self.own is None else SEARCH_BY_OWN}

    def for_task(self, task: Task, target: str | None = None) -> Recipe:
        """Return the recipe for classification or, with variance as its criterion, for regression."""
        if task is Task.CLASSIFICATION and self.criterion == "variance":
            raise ParameterError("the criterion variance requires a numeric target, but this target is nominal")
        super().for_task(task, target)
        if task is Task.REGRESSION and self.own is None:
            require_numeric_criterion(self.criterion, ("gini", "variance"), target)
        return self if task is Task.CLASSIFICATION else for_regression(self)

    def for_class_order(self, codes: npt.NDArray[np.integer[Any]], n_classes: int) -> Recipe:
        """Return the recipe whose monotonic signs are for the second of two classes in category order."""
        if not self.monotonic or codes.tolist() != [1, 0]:
            return self
        return replace(self, monotonic=tuple((name, -sign) for name, sign in self.monotonic))

    def grow(self, cases: Dataset, run: Run) -> Grown:
        """Grow by kernels or by the interpreter, depending on the engine of the run and the size of the data."""
        from treewright.learners.discretise import in_bins
        from treewright.learners.grower import TreeGrower, by_kernels, counter_for, grow_tree

        cases = in_bins(cases, self)
        if by_kernels(run.engine, cases, self):
            tree = grow_tree(cases, self, engine=run.engine, n_jobs=run.n_jobs, progress=run.progress)
            return Grown(tree, traced=False, cases=cases)
        counting, recipe = counter_for(cases, self, run.engine)
        return replace(TreeGrower(counting, recipe, run.progress).grow(), cases=cases)

    def trace_notes(self) -> tuple[str, ...]:
        """Return a note if only the borders of bins were tried."""
        return () if self.numeric_bins is None else ("bins",)

    @property
    def relearnable(self) -> bool:
        """True unless the criterion is custom: a model file stores only its name."""
        return self.own is None

    def grow_over(
        self,
        engine: Any,
        *,
        finish_rows: int,
        progress: Progress | None = None,
        state: Any = None,
        on_level: Callable[[int, int], None] | None = None,
        keep_trace: bool = True,
    ) -> Grown:
        """Grow level by level over an engine that counts out of core."""
        from treewright.learners.out_of_core import grow_out_of_core

        kept = {} if state is None else {"checkpoint": state.save, "state": state.load()}
        return grow_out_of_core(engine, self, finish_rows=finish_rows, progress=progress, on_level=on_level, **kept)

    def finish_over(self, engine: Any, grown: Grown) -> Grown:
        """Return the tree with the thresholds that growing in memory gives."""
        from treewright.learners.out_of_core import move_cuts_to_data_values

        return move_cuts_to_data_values(grown, self, engine)

    def to_dict(self, task: Task = Task.CLASSIFICATION) -> dict[str, Any]:
        """Return plain data for the model file."""
        plain: dict[str, Any] = {one.name: getattr(self, one.name) for one in fields(self)}
        plain["numeric"] = {"kind": type(self.numeric).__name__.lower(), **asdict(self.numeric)}
        if plain["numeric"].get("bins") is None:
            plain["numeric"].pop("bins", None)
        plain["stopping"] = asdict(self.stopping)
        plain["draw"] = None if self.draw is None else asdict(self.draw)
        if not self.monotonic:
            del plain["monotonic"]
        del plain["own"]
        if self.own is not None:
            plain["own_criterion"] = self.own.name  # never the function: loading a model must not run code
        return plain


def ID3(  # noqa: N802 - the algorithm's own name
    *,
    criterion: str | CriterionFunction = "gain",
    max_depth: int | None = None,
    max_leaves: int | None = None,
    min_cases: int = 2,
    min_decrease: float = 0.0,
    significance: float | None = None,
) -> Recipe:
    """Return Quinlan's ID3: information gain, one branch per value, numeric attributes discretised first."""
    allowed = ("gain", "gini", "chi2")
    if not callable(criterion) and criterion not in allowed:
        hint = did_you_mean(str(criterion), allowed)
        names = ", ".join(map(repr, allowed))
        raise ParameterError(f"criterion must be one of {names} for ID3, not {criterion!r}{hint}")
    return Recipe(
        "ID3",
        **named_or_own(criterion),
        numeric=Intervals(),
        stopping=Stopping(max_depth, max_leaves, min_cases, min_decrease=min_decrease, significance=significance),
        nominal_limit=NOMINAL_LIMIT,
    )


def C45(  # noqa: N802 - the algorithm's own name
    *,
    min_objects: float = 2,
    criterion: str | CriterionFunction = "gain_ratio",
    subset: bool = False,
    mdl_correction: bool = True,
    bins: int | None = None,
    max_depth: int | None = None,
    max_leaves: int | None = None,
    significance: float | None = None,
) -> Recipe:
    """Return C4.5's growth: gain ratio among gains of at least the average, cuts at data values, fractional cases."""
    choices = {"gain_ratio": Choice.RATIO, "gain": Choice.GAIN}
    if not callable(criterion) and criterion not in choices:
        hint = did_you_mean(str(criterion), choices)
        raise ParameterError(f"criterion must be 'gain_ratio' or 'gain' for C4.5, not {criterion!r}{hint}")
    if not 0 < min_objects < float("inf"):
        raise ParameterError(f"min_objects must be a positive number, not {min_objects!r}")
    return Recipe(
        "C4.5",
        **named_or_own(criterion),
        nominal=NominalTest.GROUPS if subset else NominalTest.MULTIWAY,
        ordinal=OrdinalTest.GROUPS if subset else OrdinalTest.MULTIWAY,
        numeric=Cuts(
            Placement.DATA_VALUE,
            gap=1e-5,
            relative_side=True,
            correction=mdl_correction and not callable(criterion),
            bins=bins,
        ),
        missing=MissingPolicy.FRACTIONAL,
        choice=Choice.HIGHEST if callable(criterion) else choices[criterion],
        stopping=Stopping(
            max_depth, max_leaves, min_weight=2 * min_objects, min_branch=min_objects, significance=significance
        ),
    )


def CART(  # noqa: N802 - the algorithm's own name
    *,
    criterion: str | CriterionFunction = "gini",
    missing: MissingPolicy = MissingPolicy.LEARNED,
    stopping: Stopping | None = None,
    draw: AttributeSampling | None = None,
    monotonic: Constraints = (),
    bins: int | None = None,
) -> Recipe:
    """Return CART's growth: binary splits by Gini (or entropy), by variance for a numeric target."""
    return Recipe(
        "CART",
        **named_or_own(criterion),
        nominal=NominalTest.SUBSETS,
        ordinal=OrdinalTest.ORDERED,
        numeric=Cuts(bins=bins),
        missing=missing,
        once_per_path=False,
        stopping=stopping or Stopping(),
        draw=draw,
        monotonic=monotonic,
    )


def require_numeric_criterion(criterion: str, allowed: Sequence[str], target: str | None) -> None:
    """Raise if a criterion other than the default was chosen for a numeric target, which is split by its variance."""
    if criterion not in allowed:
        raise ParameterError(
            f"the criterion {criterion!r} is for classes, and the target {target!r} is a number, which is split by its "
            "variance: leave out the criterion"
        )


def for_regression(recipe: Recipe) -> Recipe:
    """Return the recipe with variance as its criterion, for a numeric target."""
    if recipe.own is not None:
        raise ParameterError(f"the criterion {recipe.own.name!r} is for classification, but the target is numeric")
    return replace(recipe, criterion="variance")


def recipe_from_dict(plain: Mapping[str, Any]) -> Recipe:
    """Return the recipe that a model file describes.

    Examples
    --------
    >>> recipe_from_dict(C45().to_dict()) == C45()
    True
    """
    try:
        numeric = dict(plain["numeric"])
        kind = {"cuts": Cuts, "intervals": Intervals}[numeric.pop("kind")]
        if kind is Cuts:
            numeric["placement"] = Placement(numeric["placement"])
        return Recipe(
            name=plain["name"],
            criterion=plain["criterion"],
            nominal=NominalTest(plain["nominal"]),
            ordinal=OrdinalTest(plain["ordinal"]),
            numeric=kind(**numeric),
            missing=MissingPolicy(plain["missing"]),
            choice=Choice(plain["choice"]),
            once_per_path=plain["once_per_path"],
            stopping=Stopping(**plain["stopping"]),
            draw=None if plain["draw"] is None else AttributeSampling(**plain["draw"]),
            nominal_limit=plain["nominal_limit"],
            monotonic=tuple((name, sign) for name, sign in plain.get("monotonic", ())),
            own=OwnCriterion(str(plain["own_criterion"])) if "own_criterion" in plain else None,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelFormatError(f"the recipe in the model is not valid: {error!r:.100}") from error
