"""Small parameter grids: a few settings of each algorithm that are worth trying.

The default setting comes first, because it is tried first when time is short. For a numeric target the ccp_alpha of
cost-complexity pruning is a share of the variance, so that a grid does not depend on the unit of the target.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from treewright import plans, rule_plan
from treewright._base.errors import ParameterError
from treewright._base.near_names import did_you_mean
from treewright.data.dataset import Dataset
from treewright.data.schema import Task
from treewright.grow.recipe import Stopping
from treewright.plans import Plan
from treewright.rule_plan import RulePlan

Grid = Mapping[str, Plan | RulePlan]
Plans = dict[str, Plan | RulePlan]


def grid_for(algorithm: str, dataset: Dataset | None = None) -> Plans:
    """Return the small grid of an algorithm.

    Parameters
    ----------
    algorithm : {"c45", "id3", "cart", "chaid", "cal3", "rules"}
    dataset : Dataset or None
        The cases, whose target gives prices their unit.

    Examples
    --------
    >>> list(grid_for("c45"))[:2]
    ['confidence 25 %, 2 objects', 'confidence 10 %, 2 objects']
    """
    grids: dict[str, Callable[[], Plans]] = {
        "c45": _c45,
        "id3": _id3,
        "cart": lambda: _cart(dataset),
        "chaid": _chaid,
        "cal3": _cal3,
        "rules": _rules,
    }
    if algorithm not in grids:
        hint = did_you_mean(algorithm, list(grids))
        raise ParameterError(f"there are grids for {', '.join(grids)}, not for {algorithm!r}{hint}")
    return grids[algorithm]()


def _c45() -> Plans:
    return {
        f"confidence {100 * confidence:g} %, {objects} objects": plans.c45(confidence=confidence, min_objects=objects)
        for objects in (2, 5, 20)
        for confidence in (0.25, 0.1, 0.01)
    }


def _id3() -> Plans:
    return {
        "any depth" if depth is None else f"depth {depth}": plans.id3(max_depth=depth) for depth in (None, 1, 2, 3, 5)
    }


def _cart(dataset: Dataset | None) -> Plans:
    unit, word = 1.0, ""
    if dataset is not None and dataset.target is not None and dataset.schema.task is Task.REGRESSION:
        unit, word = float(np.var(dataset.target)), " of the variance"
    return {
        f"price {price:g}{word} a leaf, {leaf} cases in a leaf": plans.cart(
            stopping=Stopping(min_leaf=leaf),
            prune="cost_complexity" if price else None,
            alpha=price * unit if price else None,
        )
        for leaf in (1, 5, 20)
        for price in (0.0, 0.001, 0.003, 0.01)
    }


def _chaid() -> Plans:
    return {f"significance {100 * level:g} %": plans.chaid(alpha_split=level) for level in (0.05, 0.01, 0.001)}


def _cal3() -> Plans:
    return {f"s1 {s1}, s2 {s2:g}": plans.cal3(s1=s1, s2=s2) for s1 in (4, 8, 16) for s2 in (0.7, 0.8, 0.9)}


def _rules() -> Plans:
    return {
        f"confidence {100 * confidence:g} %": rule_plan.c45_rules(confidence=confidence)
        for confidence in (0.25, 0.1, 0.01)
    }
