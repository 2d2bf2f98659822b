"""Every learner with its main options, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import treewright as tw

Make = Callable[[], Any]


def rpart() -> Any:
    """Return CART with surrogates; its record names five groups, which version 0.1 accepted without a use for them."""
    plan = tw.cart(missing="surrogate", cp=0.01)
    learner: Any = plan.learner
    return replace(plan, learner=replace(learner, folds=5))


MAIN: dict[str, Make] = {
    "c45": tw.c45,
    "r8": lambda: tw.c45(dialect="r8"),
    "j48": lambda: tw.c45(dialect="j48"),
    "rpart": rpart,
    "cart": tw.cart,
    "id3": tw.id3,
    "chaid": tw.chaid,
    "cal2": lambda: tw.cal2(max_steps=2000),
    "cal3": lambda: tw.cal3(max_steps=2000),
    "rules": tw.c45_rules,
    "forest": lambda: tw.forest(trees=4, seed=3),
    "bagging": lambda: tw.bagging(trees=3, seed=5),
    "adaboost": lambda: tw.adaboost(trees=4),
}
"""Each learner once, for tables of classes."""

OPTIONS: dict[str, Make] = {
    "c45-unpruned": lambda: tw.c45(prune=False),
    "c45-gain": lambda: tw.c45(criterion="gain", min_objects=1, confidence=0.1),
    "c45-subset": lambda: tw.c45(subset=True),
    "c45-bins": lambda: tw.c45(bins=8),
    "c45-limits": lambda: tw.c45(max_depth=3, max_leaves=6),
    "c45-plain": lambda: tw.c45(raising=False, collapse=False, mdl_correction=False),
    "c45-significant": lambda: tw.c45(grow_significance=0.05, prune=False),
    "c45-chi-square": lambda: tw.c45(prune="chi_square", significance=0.1, bonferroni=True),
    "c45-mdl": lambda: tw.c45(prune="mdl"),
    "c45-reduced-error": lambda: tw.c45(prune="reduced_error"),
    "c45-cost-complexity": lambda: tw.c45(prune="cost_complexity", alpha=0.01),
    "c45-simplify": lambda: tw.c45(prune="simplify"),
    "r8-subset": lambda: tw.c45(dialect="r8", subset=True, min_objects=1),
    "r8-gain": lambda: tw.c45(dialect="r8", criterion="gain", confidence=0.1),
    "r8-unpruned": lambda: tw.c45(dialect="r8", prune=False),
    "j48-binary": lambda: tw.c45(dialect="j48", binary=True),
    "j48-plain": lambda: tw.c45(dialect="j48", raising=False, mdl_correction=False, collapse=False),
    "j48-unpruned": lambda: tw.c45(dialect="j48", prune=False),
    "rpart-1se": lambda: tw.cart(missing="surrogate", cp=0.0, choose="1se", xval=4),
    "rpart-entropy": lambda: tw.cart(criterion="entropy", missing="surrogate", max_surrogates=1, cp=0.001),
    "cart-entropy": lambda: tw.cart(criterion="entropy"),
    "cart-chi2": lambda: tw.cart(criterion="chi2"),
    "cart-majority": lambda: tw.cart(missing="majority"),
    "cart-bins": lambda: tw.cart(bins=8),
    "cart-cost-complexity": lambda: tw.cart(prune="cost_complexity", alpha=0.02),
    "id3-gini": lambda: tw.id3(criterion="gini", max_depth=3),
    "id3-chi2": lambda: tw.id3(criterion="chi2", max_leaves=6),
    "id3-significant": lambda: tw.id3(grow_significance=0.1, min_decrease=0.01),
    "chaid-exhaustive": lambda: tw.chaid(exhaustive=True, alpha_split=0.2),
    "chaid-resplit": lambda: tw.chaid(resplit=True, alpha_merge=0.2, alpha_split=0.3, like_r=False),
    "chaid-like-r": lambda: tw.chaid(like_r=True, alpha_split=0.2),
    "cal3-s": lambda: tw.cal3(s1=3, s2=0.6, max_steps=1000),
    "rules-r8": lambda: tw.c45_rules(dialect="r8"),
    "rules-j48": lambda: tw.c45_rules(dialect="j48", confidence=0.5),
    "rules-validation": lambda: tw.c45_rules(validation=0.3),
    "extra": lambda: tw.forest(trees=3, random_cuts=True, bootstrap=False, max_features=None),
    "forest-c45": lambda: tw.forest("c45", trees=3, max_features=2, per="tree", balanced=True),
    "forest-id3": lambda: tw.forest("id3", trees=3, max_samples=0.5),
    "bagging-cart": lambda: tw.bagging("cart", trees=3),
    "bagging-chaid": lambda: tw.bagging("chaid", trees=3),
    "adaboost-c45": lambda: tw.adaboost("c45", trees=3, votes="shares", reweighting="midway"),
    "adaboost-slow": lambda: tw.adaboost("cart", trees=3, learning_rate=0.5),
    "adaboost-coarse": lambda: tw.adaboost("c45", trees=3, coarseness=1.36),
}
"""Options, for tables of classes."""

NUMBERS: dict[str, Make] = {
    "cart": tw.cart,
    "rpart": rpart,
    "absolute-error": lambda: tw.cart(criterion="absolute_error"),
    "chaid": tw.chaid,
    "forest": lambda: tw.forest(trees=4, max_features=2),
    "c45": tw.c45,
}
"""Each learner once, for tables of numbers; C4.5 refuses them."""

NUMBER_OPTIONS: dict[str, Make] = {
    "cart-majority": lambda: tw.cart(missing="majority"),
    "cart-bins": lambda: tw.cart(bins=8),
    "cart-cost-complexity": lambda: tw.cart(prune="cost_complexity", alpha=0.2),
    "rpart-1se": lambda: tw.cart(missing="surrogate", cp=0.0, choose="1se", xval=4),
    "absolute-error-cost": lambda: tw.cart(criterion="absolute_error", prune="cost_complexity", alpha=0.1),
    "chaid-exhaustive": lambda: tw.chaid(exhaustive=True, alpha_split=0.2),
    "extra": lambda: tw.forest(trees=3, random_cuts=True, bootstrap=False),
    "bagging-cart": lambda: tw.bagging("cart", trees=3),
    "bagging-chaid": lambda: tw.bagging("chaid", trees=3),
}
