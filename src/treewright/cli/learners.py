"""Learner options of the command line: one table says which option belongs to which algorithm.

Quinlan's letters are accepted beside the long names (-m, -c as a percentage, -g, -s), and Weka's (-M, -C, -B, -S, -J,
-O, -U).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from treewright.cli.help import Function, decorated, option

if TYPE_CHECKING:
    from treewright.ensembles.plan import EnsemblePlan
    from treewright.plans import Plan, RulePlan

if TYPE_CHECKING:
    AnyPlan = Plan | RulePlan | EnsemblePlan

_TREE = ("id3", "c45", "cart", "chaid")
_C45 = ("c45", "rules")
_DRAWN = ("forest", "bagging")

ENSEMBLES = ("forest", "bagging", "adaboost")
"""The ensembles; they know the options of their trees (`--base`), too."""

FOR_NUMBERS = ("cart", "chaid", "forest", "bagging")
"""The algorithms that predict numbers."""

OPTIONS: dict[str, tuple[str, ...]] = {
    "criterion": ("id3", "c45", "rules", "cart"),
    "max_depth": ("id3", "c45", "cart", "chaid"),
    "max_leaves": ("id3", "c45", "cart"),
    "dialect": _C45,
    "min_objects": _C45,
    "confidence": _C45,
    "subset": _C45,
    "binary": ("c45",),
    "raising": ("c45",),
    "mdl_correction": ("c45",),
    "collapse": ("c45",),
    "prune": _TREE,
    "significance": _TREE,
    "bonferroni": _TREE,
    "alpha": _TREE,
    "min_split": ("id3", "cart", "chaid"),
    "min_leaf": ("cart", "chaid"),
    "min_decrease": ("id3", "cart"),
    "grow_significance": ("id3", "c45", "cart"),
    "missing_values": ("cart",),
    "max_surrogates": ("cart",),
    "cp": ("cart",),
    "choose": ("cart",),
    "xval": ("cart",),
    "validation": ("rules",),
    "alpha_merge": ("chaid",),
    "alpha_split": ("chaid",),
    "resplit": ("chaid",),
    "exhaustive": ("chaid",),
    "bins": ("chaid", "c45", "cart"),
    "s1": ("cal3",),
    "s2": ("cal3",),
    "max_steps": ("cal2", "cal3"),
    "trees": ENSEMBLES,
    "base": ENSEMBLES,
    "max_features": ("forest",),
    "features_per": ("forest",),
    "random_cuts": ("forest",),
    "max_samples": _DRAWN,
    "balanced": _DRAWN,
    "learning_rate": ("adaboost",),
    "votes": ("adaboost",),
    "reweighting": ("adaboost",),
    "coarseness": ("adaboost",),
    "max_resets": ("adaboost",),
}
"""The algorithms that know each option."""

TREE_ALGORITHMS = ("c45", "id3", "cart", "chaid", "cal2", "cal3", "rules")
ALGORITHMS = (*TREE_ALGORITHMS, *ENSEMBLES)

_PRUNERS = ("error_based", "reduced_error", "chi_square", "mdl", "cost_complexity")

CRITERIA = {
    "id3": ("gain", "gini", "chi2"),
    "c45": ("gain_ratio", "gain"),
    "rules": ("gain_ratio", "gain"),
    "cart": ("gini", "entropy", "chi2"),
}
"""The criteria that each algorithm knows, the default first."""

_LEARNER_OPTIONS = (
    option(
        "tree",
        "--criterion",
        metavar="NAME",
        choices=CRITERIA,
        usual={algorithm: names[0] for algorithm, names in CRITERIA.items()},
        help="Criterion that scores splits.",
    ),
    option("tree", "-g", "gain", is_flag=True, same_as=("criterion", "gain"), help="Same as --criterion gain."),
    option("tree", "--max-depth", bounds=click.IntRange(min=0), help="Maximum depth of the tree."),
    option("tree", "--max-leaves", bounds=click.IntRange(min=2), help="Maximum number of leaves; grows best-first."),
    option(
        "tree",
        "--dialect",
        type=click.Choice(["c45", "r8", "j48"]),
        usual="c45",
        help="Treewright's, Quinlan's or Weka's C4.5.",
    ),
    option(
        "tree",
        "-m",
        "-M",
        "--min-objects",
        bounds=click.FloatRange(min=0, min_open=True),
        usual="2",
        help="Minimum cases in two branches of a split.",
    ),
    option(
        "pruning",
        "-C",
        "--confidence",
        bounds=click.FloatRange(0, 1, min_open=True),
        usual="0.25",
        help="Confidence of error-based pruning; smaller prunes more.",
        notes={"rules": "Confidence of the error estimate; smaller drops more conditions."},
    ),
    option(
        "pruning",
        "-c",
        "percent",
        type=float,
        metavar="PERCENT",
        same_as=("confidence", None),
        help="Same as --confidence, as a percentage.",
    ),
    option("tree", "-s", "--subset", is_flag=True, default=None, help="Group the values of nominal attributes."),
    option(
        "tree",
        "-B",
        "--binary",
        is_flag=True,
        default=None,
        help="Split nominal attributes one value against the rest (j48).",
    ),
    option(
        "pruning",
        "-S",
        "--no-raising",
        "raising",
        is_flag=True,
        flag_value=False,
        default=None,
        help="Prune without subtree raising.",
    ),
    option(
        "tree",
        "-J",
        "--no-mdl-correction",
        "mdl_correction",
        is_flag=True,
        flag_value=False,
        default=None,
        help="Do not correct the gain of numeric splits (MDL).",
    ),
    option(
        "pruning",
        "-O",
        "--no-collapse",
        "collapse",
        is_flag=True,
        flag_value=False,
        default=None,
        help="Keep splits that do not reduce the training error.",
    ),
    option("pruning", "-U", "--no-prune", is_flag=True, same_as=("prune", None), help="Do not prune the tree."),
    option(
        "pruning",
        "--prune",
        type=click.Choice(_PRUNERS),
        metavar="METHOD",
        usual={"c45": "error_based", "id3": "none", "cart": "none", "chaid": "none"},
        help="Pruning method.",
    ),
    option(
        "pruning",
        "--significance",
        bounds=click.FloatRange(0, 1, min_open=True, max_open=True),
        usual="0.05",
        help="Significance level of chi_square pruning.",
    ),
    option("pruning", "--bonferroni", is_flag=True, default=None, help="Bonferroni correction for chi_square pruning."),
    option(
        "pruning",
        "--alpha",
        bounds=click.FloatRange(min=0, min_open=True),
        help="Penalty per leaf (ccp_alpha); prunes by cost_complexity.",
    ),
    option(
        "tree",
        "--min-split",
        bounds=click.IntRange(min=2),
        usual={"id3": "2", "cart": "2", "chaid": "20"},
        help="Minimum cases in a node that is split.",
    ),
    option(
        "tree",
        "--min-leaf",
        bounds=click.IntRange(min=1),
        usual={"cart": "1", "chaid": "7"},
        help="Minimum cases in each branch of a split.",
    ),
    option(
        "tree",
        "--min-decrease",
        bounds=click.FloatRange(min=0),
        usual="0",
        help="Minimum impurity decrease of a split.",
    ),
    option(
        "tree",
        "--grow-significance",
        bounds=click.FloatRange(0, 1, min_open=True, max_open=True),
        help="Split only if significant at this level (chi-square).",
    ),
    option(
        "tree",
        "--missing-values",
        type=click.Choice(["best_side", "majority", "surrogate"]),
        metavar="RULE",
        usual="best_side, rpart surrogate",
        help="Branch for cases with a missing value.",
    ),
    option(
        "tree",
        "--max-surrogates",
        bounds=click.IntRange(min=0),
        usual="5",
        help="Surrogate splits kept at each node (rpart).",
    ),
    option(
        "pruning",
        "--cp",
        bounds=click.FloatRange(min=0),
        help="Minimum decrease of risk per split, relative to the root (rpart).",
    ),
    option(
        "pruning",
        "--choose",
        type=click.Choice(["min", "1se"]),
        metavar="RULE",
        help="Choose cp by cross-validation: lowest error or 1-SE rule (rpart).",
    ),
    option(
        "pruning",
        "--xval",
        bounds=click.IntRange(min=2),
        usual="10",
        help="Folds of the cross-validation of --choose (rpart).",
    ),
    option(
        "pruning",
        "--validation",
        bounds=click.FloatRange(0, 1, min_open=True, max_open=True),
        metavar="SHARE",
        help="Select rules by their accuracy on this share of the cases, held out.",
    ),
    option(
        "tree",
        "--alpha-merge",
        bounds=click.FloatRange(0, 1, min_open=True),
        usual="0.05",
        help="Merge categories whose difference is not significant at this level.",
    ),
    option(
        "tree",
        "--alpha-split",
        bounds=click.FloatRange(0, 1, min_open=True),
        usual="0.05",
        help="Split only if the adjusted p-value is at most this.",
    ),
    option("tree", "--resplit", is_flag=True, default=None, help="Allow merged categories to be split again."),
    option("tree", "--exhaustive", is_flag=True, default=None, help="Use exhaustive CHAID."),
    option(
        "tree",
        "--bins",
        bounds=click.IntRange(min=2),
        usual={"chaid": "10"},
        help="Try only the borders of N bins as thresholds.",
        notes={"chaid": "Intervals into which numeric attributes are divided."},
    ),
    option(
        "tree",
        "--s1",
        bounds=click.IntRange(min=1),
        usual="4",
        help="Cases that a leaf counts before it decides.",
    ),
    option(
        "tree",
        "--s2",
        bounds=click.FloatRange(0.5, 1, min_open=True),
        usual="0.7",
        help="Class share at which a leaf is closed.",
    ),
    option("tree", "--max-steps", bounds=click.IntRange(min=1), help="Maximum number of cases presented."),
    option(
        "ensemble",
        "--trees",
        bounds=click.IntRange(1, 1_000_000),
        usual={"forest": "100", "bagging": "100", "adaboost": "50"},
        help="Number of trees.",
    ),
    option(
        "ensemble",
        "--base",
        type=click.Choice(["cart", "c45", "id3", "chaid"]),
        usual={"forest": "cart", "bagging": "c45, unpruned", "adaboost": "cart, depth 1"},
        help="Algorithm that grows the trees.",
    ),
    option(
        "ensemble",
        "--max-features",
        metavar="sqrt|log2|all|N|SHARE",
        usual="sqrt",
        help="Attributes sampled for each split.",
    ),
    option(
        "ensemble",
        "--features-per",
        type=click.Choice(["node", "tree"]),
        metavar="UNIT",
        usual="node",
        help="Sample attributes at each node or once per tree.",
    ),
    option(
        "ensemble",
        "--random-cuts",
        is_flag=True,
        default=None,
        help="Draw thresholds at random (extremely randomised trees).",
    ),
    option("ensemble", "--max-samples", metavar="N|SHARE", usual="all", help="Cases drawn for each bootstrap sample."),
    option("ensemble", "--balanced", is_flag=True, default=None, help="Draw equally many cases of each class."),
    option(
        "ensemble",
        "--learning-rate",
        bounds=click.FloatRange(0, 1, min_open=True),
        usual="1",
        help="Factor that shrinks the change of the case weights.",
    ),
    option(
        "ensemble",
        "--votes",
        type=click.Choice(["class", "shares"]),
        metavar="KIND",
        usual="class",
        help="A tree votes for one class, or by the class shares of the leaf.",
    ),
    option(
        "ensemble",
        "--reweighting",
        type=click.Choice(["factor", "midway"]),
        metavar="RULE",
        usual="factor",
        help="Multiply case weights as published, or move them half-way.",
    ),
    option(
        "ensemble",
        "--coarseness",
        bounds=click.FloatRange(min=0),
        usual="0",
        help="Minimum node weight for a split, in mean leaf weights of the first tree.",
    ),
    option(
        "ensemble",
        "--max-resets",
        bounds=click.IntRange(0, 1_000_000),
        usual="10",
        help="How often the case weights may be reset.",
    ),
)


def learner_options(function: Function) -> Function:
    """Add what to learn; the function gets `options`, the ones that were given."""

    @functools.wraps(function)
    def wrapper(*args: Any, gain: bool, percent: float | None, no_prune: bool, **rest: Any) -> Any:
        options = {name: rest.pop(name) for name in OPTIONS}
        options = {name: value for name, value in options.items() if value is not None}
        if gain:
            _once(options, "criterion", "gain", "-g")
        if percent is not None:
            _once(options, "confidence", percent / 100, "-c")
        if no_prune:
            _once(options, "prune", False, "--no-prune")
        return function(*args, options=options, **rest)

    return decorated(wrapper, _LEARNER_OPTIONS)


def _once(options: dict[str, Any], name: str, value: Any, letter: str) -> None:
    if name in options:
        raise click.UsageError(f"{letter} and --{name.replace('_', '-')} mean the same; give one of them")
    options[name] = value


def plan_for(algorithm: str, options: dict[str, Any], seed: int = 0) -> AnyPlan:
    """Make the plan of an algorithm from the options given; options of other algorithms are refused."""
    return _ensemble(algorithm, options, seed) if algorithm in ENSEMBLES else tree_plan_for(algorithm, options, seed)


def _ensemble(algorithm: str, options: dict[str, Any], seed: int) -> EnsemblePlan:
    """Make the plan of many trees: options that are not its own are those of its trees."""
    from treewright.ensembles import plan
    from treewright.errors import ParameterError
    from treewright.plans import RulePlan

    own = {name: value for name, value in options.items() if set(OPTIONS[name]) <= set(ENSEMBLES)}
    of_trees = {name: value for name, value in options.items() if name not in own}
    for name, value in own.items():
        if algorithm not in OPTIONS[name]:
            raise ParameterError(
                f"--{_spelled(name, value)} is not an option of {algorithm}, only of {', '.join(OPTIONS[name])}"
            )
    base = own.pop("base", "c45" if algorithm == "bagging" else "cart")
    if algorithm == "bagging" and base == "c45":
        of_trees = {"prune": False, **of_trees}
    if algorithm == "adaboost" and "base" not in options:
        of_trees = {"max_depth": 1, **of_trees}
    trees = tree_plan_for(base, of_trees, seed)
    if isinstance(trees, RulePlan):
        raise ParameterError("a forest is made of trees, not of rules")
    for name in ("max_features", "max_samples"):
        if name in own:
            own[name] = _number_or_word(own[name])
    make: Callable[..., EnsemblePlan] = getattr(plan, algorithm)
    return make(trees, seed=seed, **_renamed(own, {"features_per": "per"}))


def _number_or_word(text: str) -> int | float | str | None:
    """Read a number of things, a share of them, or a word; "all" is None."""
    if text == "all":
        return None
    try:
        return int(text) if text.isdecimal() else float(text)
    except ValueError:
        return text


def tree_plan_for(algorithm: str, options: dict[str, Any], seed: int = 0) -> Plan | RulePlan:
    """Make the plan of one tree, or of rules."""
    from treewright import plans
    from treewright.errors import ParameterError
    from treewright.learners.recipe import Stopping
    from treewright.wording import did_you_mean

    for name, value in options.items():
        if algorithm not in OPTIONS[name]:
            known = ", ".join(OPTIONS[name])
            raise ParameterError(f"--{_spelled(name, value)} is not an option of {algorithm}, only of {known}")
    given = dict(options)
    if algorithm == "rules":
        return plans.c45_rules(seed=seed, **given)
    if algorithm == "c45":
        return plans.c45(**given)
    if algorithm == "id3":
        return plans.id3(**_renamed(given, {"min_split": "min_cases"}))
    if algorithm == "cart":
        criterion = given.get("criterion", "gini")
        if criterion not in ("gini", "entropy", "chi2"):
            hint = did_you_mean(criterion, ("gini", "entropy", "chi2"))
            raise ParameterError(f"--criterion must be gini, entropy or chi2 for cart, not {criterion!r}{hint}")
        limits = {"max_depth", "max_leaves", "min_split", "min_leaf", "min_decrease", "grow_significance"}
        names = {"min_split": "min_cases", "grow_significance": "significance"}
        stopping = _renamed({name: given.pop(name) for name in limits & set(given)}, names)
        return plans.cart(stopping=Stopping(**stopping), seed=seed, **_renamed(given, {"missing_values": "missing"}))
    names = {"min_split": "min_samples_split", "min_leaf": "min_samples_leaf"}
    make: Callable[..., Plan] = getattr(plans, algorithm)
    return make(**_renamed(given, names))


def _spelled(name: str, value: Any) -> str:
    words = name.replace("_", "-")
    return f"no-{words}" if value is False else words


def _renamed(given: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in given.items()}
