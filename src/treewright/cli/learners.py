"""What to learn, from the options of the command line: one table says which option belongs to which algorithm.

Quinlan's letters are accepted beside the long names (-m, -c as a percentage, -g, -s), and Weka's (-M, -C, -B, -S, -J,
-O, -U).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import rich_click as click

if TYPE_CHECKING:
    from treewright.ensemble.plan import EnsemblePlan
    from treewright.plans import Plan
    from treewright.rule_plan import RulePlan

    AnyPlan = Plan | RulePlan | EnsemblePlan

Function = Callable[..., Any]

_TREE = ("id3", "c45", "cart", "chaid")
_C45 = ("c45", "rules")
_DRAWN = ("forest", "bagging")

ENSEMBLES = ("forest", "bagging", "adaboost")
"""The algorithms of many trees; they know the options of their trees (`--base`), too."""

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

_LEARNER_OPTIONS = (
    click.option(
        "--criterion",
        metavar="NAME",
        help="id3: gain, gini or chi2; c45: gain_ratio or gain; cart: gini, entropy or chi2 (default: the first).",
    ),
    click.option("-g", "gain", is_flag=True, help="c45: the same as --criterion gain."),
    click.option("--max-depth", type=int, help="Levels of tests at most."),
    click.option("--max-leaves", type=int, help="Leaves at most; the best nodes are divided first."),
    click.option(
        "--dialect",
        type=click.Choice(["c45", "r8", "j48"]),
        help="c45: ours (default), Quinlan's Release 8 to the last node, or Weka's J48.",
    ),
    click.option(
        "-m", "-M", "--min-objects", type=float, help="c45: cases that two branches of a test need (default 2)."
    ),
    click.option("-C", "--confidence", type=float, help="c45: confidence of pruning, a fraction (default 0.25)."),
    click.option("-c", "percent", type=float, help="c45: the same as a percentage."),
    click.option("-s", "--subset", is_flag=True, default=None, help="c45: group the values of nominal attributes."),
    click.option("-B", "--binary", is_flag=True, default=None, help="c45, dialect j48: one value against the others."),
    click.option(
        "-S", "--no-raising", "raising", is_flag=True, flag_value=False, default=None, help="c45: no subtree raising."
    ),
    click.option(
        "-J",
        "--no-mdl-correction",
        "mdl_correction",
        is_flag=True,
        flag_value=False,
        default=None,
        help="c45: no penalty for choosing among cuts.",
    ),
    click.option(
        "-O", "--no-collapse", "collapse", is_flag=True, flag_value=False, default=None, help="c45: keep useless tests."
    ),
    click.option("-U", "--no-prune", is_flag=True, help="Leave the tree as it was grown."),
    click.option(
        "--prune", type=click.Choice(_PRUNERS), help="How to prune (default: error_based for c45, else not at all)."
    ),
    click.option("--significance", type=float, help="Of --prune chi_square (default 0.05)."),
    click.option(
        "--bonferroni", is_flag=True, default=None, help="Of --prune chi_square: make up for the choice of attributes."
    ),
    click.option("--alpha", type=float, help="Of --prune cost_complexity: the price of a leaf."),
    click.option("--min-split", type=int, help="id3, cart, chaid: cases that a node needs to be divided."),
    click.option("--min-leaf", type=int, help="cart, chaid: cases that each branch needs."),
    click.option("--min-decrease", type=float, help="id3, cart: least decrease of impurity."),
    click.option("--grow-significance", type=float, help="Stop where the best test is not significant by chi-square."),
    click.option(
        "--missing-values",
        type=click.Choice(["best_side", "majority", "surrogate"]),
        help="cart: where cases without a value go (default best_side; with rpart's options surrogate).",
    ),
    click.option("--max-surrogates", type=int, help="cart, surrogate: how many (default 5)."),
    click.option("--cp", type=float, help="cart: what a split must save, as a share of the root's risk (rpart)."),
    click.option("--choose", type=click.Choice(["min", "1se"]), help="cart: choose cp by cross-validation (rpart)."),
    click.option("--xval", type=int, help="cart: groups of that cross-validation (default 10)."),
    click.option(
        "--validation", type=float, metavar="SHARE", help="rules: keep what is accurate on this share, held out."
    ),
    click.option("--alpha-merge", type=float, help="chaid: groups that differ less are merged (default 0.05)."),
    click.option("--alpha-split", type=float, help="chaid: adjusted p up to which a node is divided (default 0.05)."),
    click.option("--resplit", is_flag=True, default=None, help="chaid: merged groups may be divided again."),
    click.option("--exhaustive", is_flag=True, default=None, help="chaid: exhaustive CHAID."),
    click.option(
        "--bins",
        type=int,
        help="chaid: intervals of numeric columns (default 10); c45, cart: only borders of so many bins are cuts.",
    ),
    click.option("--s1", type=int, help="cal3: cases that a leaf counts before it decides (default 4)."),
    click.option("--s2", type=float, help="cal3: share from which on a class closes a leaf (default 0.7)."),
    click.option("--max-steps", type=int, help="cal2, cal3: cases presented at most."),
    click.option("--trees", type=int, help="forest, bagging, adaboost: number of trees (default 100; adaboost 50)."),
    click.option(
        "--base",
        type=click.Choice(["cart", "c45", "id3", "chaid"]),
        help="forest, bagging, adaboost: the trees (default cart, c45 unpruned, cart of depth 1); their options hold.",
    ),
    click.option(
        "--max-features", metavar="sqrt|log2|all|N|SHARE", help="forest: attributes drawn at each node (default sqrt)."
    ),
    click.option(
        "--features-per", type=click.Choice(["node", "tree"]), help="forest: draw at each node, or once for each tree."
    ),
    click.option("--random-cuts", is_flag=True, default=None, help="forest: draw the cuts of numbers, too."),
    click.option("--max-samples", metavar="N|SHARE", help="forest, bagging: cases drawn for each tree (default all)."),
    click.option("--balanced", is_flag=True, default=None, help="forest, bagging: draw as many of each class."),
    click.option("--learning-rate", type=float, help="adaboost: share of alpha that changes weights (default 1)."),
    click.option("--votes", type=click.Choice(["class", "shares"]), help="adaboost: of a tree, whole or by the leaf."),
    click.option(
        "--reweighting", type=click.Choice(["factor", "midway"]), help="adaboost: as published, or calmer (midway)."
    ),
    click.option(
        "--coarseness", type=float, help="adaboost: mean leaves of the first tree that later nodes weigh (default 0)."
    ),
    click.option("--max-resets", type=int, help="adaboost: returns to the first weights at most (default 10)."),
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

    for option in reversed(_LEARNER_OPTIONS):
        wrapper = option(wrapper)
    return wrapper


def _once(options: dict[str, Any], name: str, value: Any, letter: str) -> None:
    if name in options:
        raise click.UsageError(f"{letter} and --{name.replace('_', '-')} say the same; give one of them")
    options[name] = value


def plan_for(algorithm: str, options: dict[str, Any], seed: int = 0) -> AnyPlan:
    """Make the plan of an algorithm from the options given; options of other algorithms are refused."""
    return _ensemble(algorithm, options, seed) if algorithm in ENSEMBLES else tree_plan_for(algorithm, options, seed)


def _ensemble(algorithm: str, options: dict[str, Any], seed: int) -> EnsemblePlan:
    """Make the plan of many trees: options that are not its own are those of its trees."""
    from treewright._base.errors import ParameterError
    from treewright.ensemble import plan
    from treewright.rule_plan import RulePlan

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
    from treewright import plans, rule_plan
    from treewright._base.errors import ParameterError
    from treewright._base.near_names import did_you_mean
    from treewright.grow.recipe import Stopping

    for name, value in options.items():
        if algorithm not in OPTIONS[name]:
            known = ", ".join(OPTIONS[name])
            raise ParameterError(f"--{_spelled(name, value)} is not an option of {algorithm}, only of {known}")
    given = dict(options)
    if algorithm == "rules":
        return rule_plan.c45_rules(seed=seed, **given)
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
