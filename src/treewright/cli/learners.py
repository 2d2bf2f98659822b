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
    from treewright.plans import Plan, RulePlan

Function = Callable[..., Any]

_TREE = ("id3", "c45", "cart", "chaid")
_C45 = ("c45", "rules")

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
    "bins": ("chaid",),
    "s1": ("cal3",),
    "s2": ("cal3",),
    "max_steps": ("cal2", "cal3"),
}
"""The algorithms that know each option."""

ALGORITHMS = ("c45", "id3", "cart", "chaid", "cal2", "cal3", "rules")

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
    click.option("--bins", type=int, help="chaid: intervals of numeric columns (default 10)."),
    click.option("--s1", type=int, help="cal3: cases that a leaf counts before it decides (default 4)."),
    click.option("--s2", type=float, help="cal3: share from which on a class closes a leaf (default 0.7)."),
    click.option("--max-steps", type=int, help="cal2, cal3: cases presented at most."),
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


def plan_for(algorithm: str, options: dict[str, Any], seed: int = 0) -> Plan | RulePlan:
    """Make the plan of an algorithm from the options given; options of other algorithms are refused."""
    from treewright import plans
    from treewright._base.errors import ParameterError
    from treewright.grow.recipe import Stopping

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
            raise ParameterError(f"--criterion must be gini, entropy or chi2 for cart, not {criterion!r}")
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
