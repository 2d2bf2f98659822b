"""What kind of forest to learn, as a value: any plan for one tree, and what is sampled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, floor, log2, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.data.dataset import Dataset
from treewright.data.schema import Schema
from treewright.errors import ParameterError
from treewright.learners.base import Abilities, Run, TreeLearner, Weights
from treewright.learners.recipe import CART, AttributeSampling, Stopping
from treewright.learners.registry import (
    Algorithm,
    algorithm_named,
    refuse_unknown,
    register,
    tree_algorithms,
)
from treewright.learners.shared_options import shared
from treewright.parameters import check_number, check_share, check_whole_number
from treewright.plans import Costs, Plan, as_plan, c45
from treewright.tree.model import Smoothing
from treewright.wording import did_you_mean

if TYPE_CHECKING:
    from treewright.tree.forest import Forest

MOST_TREES = 1_000_000
"""More are refused."""


def number_of_attributes(wanted: int | float | str | None, n: int) -> int:
    """Return how many of n attributes are sampled.

    Parameters
    ----------
    wanted : "sqrt", "log2", int, float or None
        The root, Breiman's ``floor(log2(n)) + 1``, a number, a share, or all. At least one and at most all are sampled.
    n : int

    Examples
    --------
    >>> [number_of_attributes(wanted, 28) for wanted in ("sqrt", "log2", 4, 0.5, None)]
    [5, 5, 4, 14, 28]
    """
    if wanted is None:
        return max(n, 1)
    if wanted == "sqrt":
        return max(1, floor(sqrt(n)))
    if wanted == "log2":
        return max(1, min(n, floor(log2(n)) + 1 if n else 1))
    if isinstance(wanted, (int, np.integer)) and not isinstance(wanted, bool) and wanted >= 1:
        return max(1, min(int(wanted), n))
    if isinstance(wanted, (float, np.floating)) and 0 < wanted <= 1:
        return max(1, floor(wanted * n))
    raise ParameterError(
        f"max_features must be 'sqrt', 'log2', a whole number of at least 1, a share above 0 and at most 1, or None, "
        f"not {wanted!r}"
    )


def number_of_cases(wanted: int | float | None, n: int) -> int:
    """Return how many of n cases are drawn for a tree: all, a number, or a share."""
    if wanted is None:
        return n
    if isinstance(wanted, (int, np.integer)) and not isinstance(wanted, bool) and wanted >= 1:
        return int(wanted)
    if isinstance(wanted, (float, np.floating)) and 0 < wanted <= 1:
        return max(1, ceil(wanted * n - 1e-9))
    raise ParameterError(
        f"max_samples must be a whole number of at least 1, a share above 0 and at most 1, or None, not {wanted!r}"
    )


@dataclass(frozen=True)
class ForestPlan:
    """Bagged trees or a random forest.

    Parameters
    ----------
    tree : Plan
        How each tree is grown and pruned.
    trees : int
    max_features : "sqrt", "log2", int, float or None
        Attributes drawn; None takes all.
    per : {"node", "tree"}
        Whether they are drawn anew at each node, or once for each tree.
    random_cuts : bool
        Whether the cuts of numbers are drawn, too.
    bootstrap : bool
        Whether each tree has a bootstrap of the cases, instead of all.
    max_samples : int, float or None
        Cases drawn for each tree; None as many as there are.
    balanced : bool
        Whether the same number of each class is drawn.
    balanced_weights : bool
        Whether the classes of each bootstrap get equal weight.
    seed : int

    Examples
    --------
    >>> plan = forest(c45(), trees=50)
    >>> plan.name, plan.describe()
    ('Random forest of C4.5 trees', '50 trees, sqrt of the attributes sampled at each node')
    """

    tree: Plan
    trees: int = 100
    max_features: int | float | str | None = None
    per: str = "node"
    random_cuts: bool = False
    bootstrap: bool = True
    max_samples: int | float | None = None
    balanced: bool = False
    balanced_weights: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        check_whole_number("trees", self.trees, 1, MOST_TREES)
        number_of_attributes(self.max_features, 1)
        number_of_cases(self.max_samples, 1)
        if self.per not in ("node", "tree"):
            raise ParameterError(f"per must be 'node' or 'tree', not {self.per!r}")
        recipe = self.tree.learner.recipe
        if self.draws and not self.tree.abilities.sampled_attributes:
            raise ParameterError(f"{self.tree.name} draws no attributes and no cuts; only ID3, C4.5 and CART do")
        if recipe is not None and self.random_cuts:
            replace(recipe, draw=AttributeSampling(1, 0, random_cuts=True))  # raises where numbers are not cut in two
        if not self.bootstrap and (self.max_samples is not None or self.balanced):
            raise ParameterError("max_samples and balanced say what a bootstrap draws, and bootstrap is False")

    @property
    def draws(self) -> bool:
        """Whether attributes or thresholds are sampled."""
        return self.max_features is not None or self.random_cuts

    @property
    def name(self) -> str:
        """The name for people."""
        kind = "Extremely randomised" if self.random_cuts else "Random forest of" if self.draws else "Bagged"
        return f"{kind} {self.tree.name} trees"

    @property
    def criterion(self) -> str:
        """The criterion of the trees by name."""
        return self.tree.criterion

    def describe(self) -> str:
        """Describe the number of trees and what is sampled."""
        words = [f"{self.trees:,} {'tree' if self.trees == 1 else 'trees'}"]
        if self.max_features is not None:
            wanted = self.max_features
            number = (
                f"{wanted} of the attributes"
                if isinstance(wanted, str)
                else f"{wanted:g} attribute{'' if wanted == 1 else 's'}"
            )
            if isinstance(wanted, float):
                number = f"{100 * wanted:g} % of the attributes"
            words.append(f"{number} sampled {'at each node' if self.per == 'node' else 'for each tree'}")
        if self.balanced:
            words.append("as many of each class in every bootstrap")
        if not self.bootstrap:
            words.append("all cases in every tree")
        return ", ".join(words)

    def for_schema(self, schema: Schema) -> ForestPlan:
        """Return the plan with trees for classes or for numbers, whichever the target holds."""
        if self.balanced or self.balanced_weights:
            _require_classes(schema, "balanced classes")
        return replace(self, tree=self.tree.for_schema(schema))

    @property
    def abilities(self) -> Abilities:
        """What its trees can take."""
        trees = self.tree.abilities
        return Abilities(
            trees.tasks,
            engines=trees.engines,
            out_of_core=trees.out_of_core,
            many_trees=True,
            out_of_bag=self.bootstrap,
        )

    def learn(self, cases: Dataset, run: Run, *, smoothing: Smoothing = None, costs: Costs | None = None) -> Forest:
        """Grow the trees from cases with a target."""
        from treewright.ensembles.random_forest import grow_forest

        return grow_forest(
            cases,
            self,
            n_jobs=run.n_jobs,
            resume=run.resume,
            time_limit=run.time_limit,
            smoothing=smoothing,
            costs=costs,
            progress=run.progress,
            engine=run.engine,
        )

    def draw(self, key: int, n_attributes: int) -> AttributeSampling | None:
        """Return what is sampled in one tree."""
        if not self.draws:
            return None
        many = number_of_attributes(self.max_features, n_attributes)
        return AttributeSampling(many, key, self.per == "tree", self.random_cuts)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for the model file."""
        return {
            "name": self.name,
            "ensemble": "forest",
            "criterion": self.criterion,
            "trees": int(self.trees),
            "max_features": _plain(self.max_features),
            "per": self.per,
            "random_cuts": self.random_cuts,
            "bootstrap": self.bootstrap,
            "max_samples": _plain(self.max_samples),
            "balanced": self.balanced,
            "balanced_weights": self.balanced_weights,
            "seed": int(self.seed),
            "tree": self.tree.to_dict(),
        }


@dataclass(frozen=True)
class BoostPlan:
    """AdaBoost over trees.

    Parameters
    ----------
    tree : Plan
        How each tree is grown and pruned; it must take case weights.
    trees : int
        Rounds at most.
    learning_rate : float
        Share of alpha by which the weights of cases are changed, above 0 and at most 1; 1 is AdaBoost as it was
        published, less heeds mistakes more calmly, which helps where labels are noisy.
    votes : {"class", "shares"}
        Whether a tree votes for one class, as published, or divides its vote by the shares of the classes in the leaf.
    reweighting : {"factor", "midway"}
        Whether the weights of cases are multiplied, as published, or moved half of the way, which is calmer; then all
        trees vote alike, so `votes` should be "shares": a poor tree has mixed leaves. `learning_rate` must be 1.
    coarseness : float
        How much a node of the second and all later trees must weigh to be divided, in mean leaves of the first tree; 0
        sets no limit. Heavy cases look like many to the pruning of a tree, so that later trees follow wrong labels; a
        limit prevents that where labels are noisy (C5.0's comes to about 1.36). For ID3, C4.5 and CART.
    max_resets : int
        How often in all the weights may go back to the start because a tree was no better than guessing.
    seed : int
        Of the bootstraps on which such a round is repeated.

    Examples
    --------
    >>> adaboost(trees=10).describe()
    '10 rounds at most'
    """

    tree: Plan
    trees: int = 50
    learning_rate: float = 1.0
    votes: str = "class"
    max_resets: int = 10
    seed: int = 0
    reweighting: str = "factor"
    coarseness: float = 0.0

    def __post_init__(self) -> None:
        check_whole_number("trees", self.trees, 1, MOST_TREES)
        check_whole_number("max_resets", self.max_resets, 0, MOST_TREES)
        check_share("learning_rate", self.learning_rate)
        if self.votes not in ("class", "shares"):
            raise ParameterError(f"votes must be 'class' or 'shares', not {self.votes!r}")
        if self.reweighting not in ("factor", "midway"):
            raise ParameterError(f"reweighting must be 'factor' or 'midway', not {self.reweighting!r}")
        if self.reweighting == "midway" and self.learning_rate != 1:
            raise ParameterError("learning_rate is for reweighting='factor': the midway rule has its own pace")
        check_number("coarseness", self.coarseness, 0)
        if self.coarseness and self.tree.learner.recipe is None:
            raise ParameterError(f"{self.tree.name} knows no coarseness; only ID3, C4.5 and CART do")

    @property
    def name(self) -> str:
        """The name for people."""
        return f"AdaBoost of {self.tree.name} trees"

    @property
    def criterion(self) -> str:
        """The criterion of the trees by name."""
        return self.tree.criterion

    def describe(self) -> str:
        """Describe the number of rounds, and what is not as published."""
        words = [f"{self.trees:,} {'round' if self.trees == 1 else 'rounds'} at most"]
        if self.learning_rate != 1:
            words.append(f"learning rate {self.learning_rate:g}")
        if self.reweighting == "midway":
            words.append("weights moved midway")
        if self.coarseness:
            words.append(f"later trees split nodes of at least {self.coarseness:g} mean leaves")
        return ", ".join([*words, *(["votes by shares of the leaves"] if self.votes == "shares" else [])])

    def for_schema(self, schema: Schema) -> BoostPlan:
        """Return the plan; AdaBoost is for classes."""
        _require_classes(schema, self.name)
        return replace(self, tree=self.tree.for_schema(schema))

    @property
    def abilities(self) -> Abilities:
        """What it can take: classes, with trees in memory."""
        return Abilities(engines=self.tree.abilities.engines, many_trees=True)

    def learn(self, cases: Dataset, run: Run, *, smoothing: Smoothing = None, costs: Costs | None = None) -> Forest:
        """Grow one tree after the other from cases with classes; the threads of the run share each tree."""
        from treewright.ensembles.adaboost import boost

        return boost(
            cases,
            self,
            n_jobs=run.n_jobs,
            resume=run.resume,
            time_limit=run.time_limit,
            smoothing=smoothing,
            costs=costs,
            progress=run.progress,
            engine=run.engine,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for the model file."""
        return {
            "name": self.name,
            "ensemble": "adaboost",
            "criterion": self.criterion,
            "trees": int(self.trees),
            "learning_rate": float(self.learning_rate),
            "votes": self.votes,
            "reweighting": self.reweighting,
            "coarseness": float(self.coarseness),
            "max_resets": int(self.max_resets),
            "seed": int(self.seed),
            "tree": self.tree.to_dict(),
        }


EnsemblePlan = ForestPlan | BoostPlan


def tree_plan(tree: Plan | TreeLearner | str | None, default: Plan) -> Plan:
    """Return the plan of single trees that was given as such, as a bare recipe, by its name, or not at all."""
    if tree is None:
        return default
    if not isinstance(tree, str):
        return as_plan(tree)
    if tree not in tree_algorithms():
        raise ParameterError(
            f"the trees must be one of {', '.join(map(repr, tree_algorithms()))}, a learner of trees or a plan, "
            f"not {tree!r}"
        )
    return as_plan(algorithm_named(tree).make())


def forest(
    tree: Plan | TreeLearner | str | None = None,
    *,
    trees: int = 100,
    max_features: int | float | str | None = "sqrt",
    **options: Any,
) -> ForestPlan:
    """Return a random forest: CART trees grown fully unless other trees are given.

    Parameters
    ----------
    tree : Plan, Recipe, "cart", "c45", "id3", "chaid" or None
    trees : int
    max_features : "sqrt", "log2", int, float or None
    **options
        Those of `ForestPlan`.

    Examples
    --------
    >>> forest(trees=10, random_cuts=True, max_features=None).name
    'Extremely randomised CART trees'
    """
    return ForestPlan(tree_plan(tree, Plan(CART())), trees, max_features, **options)


def bagging(tree: Plan | TreeLearner | str | None = None, *, trees: int = 100, **options: Any) -> ForestPlan:
    """Return bagged trees: C4.5 unpruned unless other trees are given (bagging likes trees that vary).

    Examples
    --------
    >>> bagging("cart").name, bagging().describe()
    ('Bagged CART trees', '100 trees')
    """
    return ForestPlan(tree_plan(tree, c45(prune=False)), trees, **options)


def adaboost(tree: Plan | TreeLearner | str | None = None, *, trees: int = 50, **options: Any) -> BoostPlan:
    """Return AdaBoost: over stumps (CART of depth one) unless other trees are given.

    Examples
    --------
    >>> adaboost("c45", trees=10).name
    'AdaBoost of C4.5 trees'
    """
    return BoostPlan(tree_plan(tree, Plan(CART(stopping=Stopping(max_depth=1)))), trees, **options)


def _require_classes(schema: Schema, what: str) -> None:
    if schema.target_column.is_numeric:
        raise ParameterError(f"{what}: the target {schema.target!r} is a number, and this is for classes")


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


# -- by name -----------------------------------------------------------------------------------------------------------


def _named(
    key: str,
    make: Callable[..., EnsemblePlan],
    default_base: str,
    tree_options: Mapping[str, Mapping[str, Any]],
    *,
    base: str | None = None,
    seed: int = 0,
    **options: Any,
) -> EnsemblePlan:
    """Return an ensemble by its own options and those of its trees.

    Parameters
    ----------
    key : str
    make : callable
        `forest`, `bagging` or `adaboost`.
    default_base : str
        The algorithm of the trees if `base` names none.
    tree_options : dict
        The options that the trees have here unless others are given, by the `base` that was named; "" if none was.
    base : str or None
        The algorithm of the trees.
    seed : int
    **options
        Of the ensemble and of its trees.
    """
    refuse_unknown(algorithm_named(key), [name for name in options if name in OWN_OPTIONS])
    own = {PARAMETERS.get(name, name): options.pop(name) for name in OWN_OPTIONS & options.keys()}
    if base is not None and base not in tree_algorithms():
        hint = did_you_mean(base, tree_algorithms())
        raise ParameterError(f"base must be one of {', '.join(map(repr, bases(key)))}, not {base!r}{hint}")
    algorithm = algorithm_named(base or default_base)
    tree = algorithm.learner({**tree_options.get(base or "", {}), **options}, seed)
    return make(as_plan(tree), seed=seed, **own)


_CAN_BE_BASE: Mapping[str, Callable[[Abilities], bool]] = {
    "forest": lambda abilities: abilities.sampled_attributes,
    "bagging": lambda _: True,
    "adaboost": lambda abilities: abilities.weights is Weights.ANY,
}


def bases(key: str) -> tuple[str, ...]:
    """Return the algorithms whose trees an ensemble can have, by their abilities.

    Examples
    --------
    >>> bases("forest")
    ('c45', 'id3', 'cart')
    """
    able = _CAN_BE_BASE[key]
    return tuple(name for name in tree_algorithms() if able(as_plan(algorithm_named(name).make()).abilities))


PARAMETERS = {"features_per": "per"}
"""Parameters of plans that have another name than their option."""

_SAMPLED = shared("max_samples", "balanced")
_OWN = {
    "forest": (*shared("max_features", "features_per", "random_cuts"), *_SAMPLED),
    "bagging": _SAMPLED,
    "adaboost": shared("learning_rate", "votes", "reweighting", "coarseness", "max_resets"),
}
OWN_OPTIONS = {"trees"} | {option.name for options in _OWN.values() for option in options}
"""The options of ensembles, which are not passed on to their trees; `base` beside them."""

_UNPRUNED = {"prune": False}
_tree_options: Mapping[str, Mapping[str, Any]]
for _key, _make, _base, _default, _trees, _tree_options in (
    ("forest", forest, "cart", "cart", "100", {}),
    ("bagging", bagging, "c45", "c45, unpruned", "100", {"": _UNPRUNED, "c45": _UNPRUNED}),
    ("adaboost", adaboost, "cart", "cart, depth 1", "50", {"": {"max_depth": 1}}),
):
    _options = (
        *shared("trees", default=_trees),
        *shared("base", default=_default, values=partial(bases, _key)),
        *_OWN[_key],
    )
    _by_name = partial(_named, _key, _make, _base, _tree_options)
    register(Algorithm(_key, _by_name, _options, seeded=True, makes="ensemble"))
