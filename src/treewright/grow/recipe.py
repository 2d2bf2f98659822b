"""Recipes: an algorithm is a value, not a branch in the code.

A recipe says how tests are formed (nominal, ordinal, numeric attributes, missing values), how they are scored, which
rule chooses among them, and when to stop. ID3, C4.5 and CART are three such values; a user makes another one with
`dataclasses.replace`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from typing import Any

from treewright._base.errors import ModelFormatError, ParameterError
from treewright._base.near_names import did_you_mean
from treewright.data.infer import NOMINAL_LIMIT
from treewright.grow.criteria import criterion_named
from treewright.grow.monotonic import Constraints
from treewright.grow.own_criterion import OWN, CriterionFunction, OwnCriterion, named_or_own


def _check_limit(name: str, value: int | None, least: int) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < least):
        raise ParameterError(f"{name} must be a whole number of at least {least}, not {value!r}")


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
    """Where a cut between two neighbouring numbers is put."""

    MIDPOINT = "midpoint"
    DATA_VALUE = "largest value in the data not above the midpoint"


class MissingPolicy(StrEnum):
    """What becomes of cases without a value."""

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
    """How numeric attributes are cut in two.

    Parameters
    ----------
    placement : Placement
    gap : float
        Neighbouring numbers must be further apart than this.
    relative_side : bool
        C4.5's minimum side: a tenth of the known weight per class, at least the minimum of objects, at most 25.
    correction : bool
        Whether log2(tries)/cases is taken off the gain of the best cut, and what remains must be positive.
    bins : int or None
        Numbers are put into as many bins of about as many cases each, and only the borders of these are tried; None
        tries every number (see `treewright.grow.bins_of_numbers`).
    """

    placement: Placement = Placement.MIDPOINT
    gap: float = 0.0
    relative_side: bool = False
    correction: bool = False
    bins: int | None = None

    def __post_init__(self) -> None:
        _check_limit("bins", self.bins, 2)


@dataclass(frozen=True)
class Intervals:
    """Numeric attributes are made nominal before growing.

    Parameters
    ----------
    method : str
        ``"mdl"``: entropy cuts as long as they pay by description length (Fayyad and Irani).
    """

    method: str = "mdl"


@dataclass(frozen=True)
class Stopping:
    """When a node is left as it is.

    Parameters
    ----------
    max_depth, max_leaves : int or None
    min_cases : int
        Cases that a node needs to be divided (counted, not weighed).
    min_leaf : int
        Cases that every branch of a cut needs (counted).
    min_weight : float
        Weight that a node needs to be divided.
    min_branch : float
        Weight that at least two branches need.
    min_share : float
        Share of the weight of all cases that each branch of a test with two branches needs.
    significance : float or None
        The chosen test must be significant at this level by chi-square (classes only).
    min_decrease : float
        Least score of the chosen test times the share of all cases in the node.
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
        _check_limit("max_depth", self.max_depth, 0)
        _check_limit("max_leaves", self.max_leaves, 2)
        _check_limit("min_cases", self.min_cases, 2)
        _check_limit("min_leaf", self.min_leaf, 1)
        if not 0 <= self.min_share <= 0.5:
            raise ParameterError(f"min_share must be a number from 0 to 0.5, not {self.min_share!r}")
        if self.significance is not None and not 0 < self.significance < 1:
            raise ParameterError(f"significance must be None or a number between 0 and 1, not {self.significance!r}")
        for name in ("min_weight", "min_branch", "min_decrease"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise ParameterError(f"{name} must be a number of at least 0, not {getattr(self, name)!r}")


@dataclass(frozen=True)
class Draw:
    """Chance in growing: only some attributes are looked at, and on request cuts are drawn, too.

    Parameters
    ----------
    attributes : int
        How many.
    seed : int
        Decides the drawing together with the place of the node, so that the order of growing does not matter.
    per_tree : bool
        Whether the attributes are drawn once, for the whole tree, instead of anew at each node. Then an attribute that
        cannot be tested is not replaced by another.
    random_cuts : bool
        Whether a number is cut at a place drawn between the least and the greatest of the node instead of at the best
        one (extremely randomised trees; see `treewright.grow.drawing.random_cut`).
    """

    attributes: int
    seed: int
    per_tree: bool = False
    random_cuts: bool = False

    def __post_init__(self) -> None:
        _check_limit("the number of attributes drawn", self.attributes, 1)


@dataclass(frozen=True)
class Recipe:
    """An algorithm as a value.

    Parameters
    ----------
    name : str
        For people.
    criterion : str
        Name in `treewright.grow.criteria.CRITERIA`, or ``"own"``.
    nominal, ordinal : NominalTest, OrdinalTest
    numeric : Cuts or Intervals
    missing : MissingPolicy
    choice : Choice
    once_per_path : bool
        Whether a test with a branch per value bars its attribute further down.
    stopping : Stopping
    draw : Draw or None
    nominal_limit : int
        Whole-number columns with at most this many values are proposed as nominal when the schema is inferred.
    monotonic : tuple of pairs
        Attributes and the sign by which the prediction may change with them (see `treewright.grow.monotonic`).
    own : OwnCriterion or None
        The user's own criterion (see `treewright.grow.own_criterion`).

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
    draw: Draw | None = None
    nominal_limit: int = 0
    monotonic: Constraints = ()
    own: OwnCriterion | None = None

    def __post_init__(self) -> None:
        if (self.criterion == OWN) != (self.own is not None):
            raise ParameterError(f"criterion {OWN!r} goes with a function of the user's, and such a function with it")
        if self.own is None:
            criterion_named(self.criterion)
        elif self.choice is not Choice.HIGHEST or self.nominal is NominalTest.GROUPS:
            raise ParameterError("a criterion of the user's goes with the highest score, and not with grouped values")
        elif isinstance(self.numeric, Cuts) and self.numeric.correction:
            raise ParameterError("the correction of cuts is in bits, which a criterion of the user's is not")
        if self.criterion == "gain_ratio" and self.choice is not Choice.RATIO:
            raise ParameterError("the gain ratio goes with its own rule of choice, Choice.RATIO")
        if self.missing is MissingPolicy.LEARNED and (
            self.nominal is not NominalTest.SUBSETS or self.ordinal is not OrdinalTest.ORDERED
        ):
            raise ParameterError("a side for missing values is learned only by tests with two branches")
        if self.monotonic and (
            self.nominal is not NominalTest.SUBSETS
            or self.ordinal is not OrdinalTest.ORDERED
            or self.missing is MissingPolicy.FRACTIONAL
        ):
            raise ParameterError("monotonic is for tests with two branches that divide no case, as in CART")
        if self.draw is not None and self.draw.random_cuts and isinstance(self.numeric, Cuts) and self.numeric.bins:
            raise ParameterError("random_cuts are drawn between numbers as they are, not between bins")
        if self.draw is not None and self.draw.random_cuts and isinstance(self.numeric, Intervals):
            raise ParameterError("random_cuts is for numbers that are cut in two, not for intervals")
        if isinstance(self.numeric, Intervals) and self.numeric.method != "mdl":
            raise ParameterError(f"the method of intervals must be 'mdl', not {self.numeric.method!r}")

    @property
    def criterion_told(self) -> str:
        """The criterion in words; a criterion of the user's by the name of its function."""
        return self.criterion.replace("_", " ") if self.own is None else f"{self.own.name} (own criterion)"

    def to_dict(self) -> dict[str, Any]:
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
            plain["own_criterion"] = self.own.name  # and never the function: loading must not run anything
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
    """Return Quinlan's ID3: information gain, one branch per value, numbers made nominal first."""
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
    draw: Draw | None = None,
    monotonic: Constraints = (),
    bins: int | None = None,
) -> Recipe:
    """Return CART's growth: two branches, Gini (or entropy), variance for a numeric target."""
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


def for_regression(recipe: Recipe) -> Recipe:
    """Return the recipe with variance as its criterion, for a numeric target."""
    if recipe.own is not None:
        raise ParameterError(f"the criterion {recipe.own.name!r} is for classes, and the target is a number")
    return replace(recipe, criterion="variance")


def recipe_from_dict(plain: Mapping[str, Any]) -> Recipe:
    """Make the recipe again that a model file describes.

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
            draw=None if plain["draw"] is None else Draw(**plain["draw"]),
            nominal_limit=plain["nominal_limit"],
            monotonic=tuple((name, sign) for name, sign in plain.get("monotonic", ())),
            own=OwnCriterion(str(plain["own_criterion"])) if "own_criterion" in plain else None,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelFormatError(f"the recipe in the model cannot be understood: {error!r:.100}") from error
