"""The options of the built-in algorithms: name, help, group and range of each, written once.

An option that several algorithms know is one entry here. What differs between them (the default, the accepted values)
is given where the algorithm is registered, by `shared`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from treewright.learners.registry import AlgorithmOption


def number_or_word(text: str) -> int | float | str | None:
    """Read a count, a share or a word; "all" is None.

    Examples
    --------
    >>> [number_or_word(text) for text in ("5", "0.5", "sqrt", "all")]
    [5, 0.5, 'sqrt', None]
    """
    if text == "all":
        return None
    try:
        return int(text) if text.isdecimal() else float(text)
    except ValueError:
        return text


_PRUNING_METHODS = ("error_based", "reduced_error", "chi_square", "mdl", "cost_complexity")

SHARED: dict[str, AlgorithmOption] = {
    option.name: option
    for option in (
        AlgorithmOption("criterion", "Criterion that scores splits.", placeholder="NAME"),
        AlgorithmOption("max_depth", "Maximum depth of the tree.", type=int, low=0),
        AlgorithmOption("max_leaves", "Maximum number of leaves; grows best-first.", type=int, low=2),
        AlgorithmOption(
            "dialect", "Treewright's, Quinlan's or Weka's C4.5.", values=("c45", "r8", "j48"), default="c45"
        ),
        AlgorithmOption(
            "min_objects",
            "Minimum cases in two branches of a split.",
            type=float,
            flags=("-m", "-M", "--min-objects"),
            low=0,
            above_low=True,
            default="2",
        ),
        AlgorithmOption(
            "confidence",
            "Confidence of error-based pruning; smaller prunes more.",
            "pruning",
            float,
            flags=("-C", "--confidence"),
            low=0,
            high=1,
            above_low=True,
            default="0.25",
        ),
        AlgorithmOption("subset", "Group the values of nominal attributes.", type=bool, flags=("-s", "--subset")),
        AlgorithmOption(
            "binary",
            "Split nominal attributes one value against the rest (j48).",
            type=bool,
            flags=("-B", "--binary"),
        ),
        AlgorithmOption(
            "raising",
            "Prune without subtree raising.",
            "pruning",
            bool,
            flags=("-S", "--no-raising"),
            flag_value=False,
        ),
        AlgorithmOption(
            "mdl_correction",
            "Do not correct the gain of numeric splits (MDL).",
            type=bool,
            flags=("-J", "--no-mdl-correction"),
            flag_value=False,
        ),
        AlgorithmOption(
            "collapse",
            "Keep splits that do not reduce the training error.",
            "pruning",
            bool,
            flags=("-O", "--no-collapse"),
            flag_value=False,
        ),
        AlgorithmOption(
            "prune", "Pruning method.", "pruning", values=_PRUNING_METHODS, placeholder="METHOD", default="none"
        ),
        AlgorithmOption(
            "significance",
            "Significance level of chi_square pruning.",
            "pruning",
            float,
            low=0,
            high=1,
            above_low=True,
            below_high=True,
            default="0.05",
        ),
        AlgorithmOption("bonferroni", "Bonferroni correction for chi_square pruning.", "pruning", bool),
        AlgorithmOption(
            "alpha",
            "Penalty per leaf (ccp_alpha); prunes by cost_complexity.",
            "pruning",
            float,
            low=0,
            above_low=True,
        ),
        AlgorithmOption("min_split", "Minimum cases in a node that is split.", type=int, low=2, default="2"),
        AlgorithmOption("min_leaf", "Minimum cases in each branch of a split.", type=int, low=1, default="1"),
        AlgorithmOption("min_decrease", "Minimum impurity decrease of a split.", type=float, low=0, default="0"),
        AlgorithmOption(
            "grow_significance",
            "Split only if significant at this level (chi-square).",
            type=float,
            low=0,
            high=1,
            above_low=True,
            below_high=True,
        ),
        AlgorithmOption(
            "missing_values",
            "Branch for cases with a missing value.",
            values=("best_side", "majority", "surrogate"),
            placeholder="RULE",
            default="best_side, rpart surrogate",
        ),
        AlgorithmOption("max_surrogates", "Surrogate splits kept at each node (rpart).", type=int, low=0, default="5"),
        AlgorithmOption(
            "cp", "Minimum decrease of risk per split, relative to the root (rpart).", "pruning", float, low=0
        ),
        AlgorithmOption(
            "choose",
            "Choose cp by cross-validation: lowest error or 1-SE rule (rpart).",
            "pruning",
            values=("min", "1se"),
            placeholder="RULE",
        ),
        AlgorithmOption(
            "xval", "Folds of the cross-validation of --choose (rpart).", "pruning", int, low=2, default="10"
        ),
        AlgorithmOption(
            "validation",
            "Select rules by their accuracy on this share of the cases, held out.",
            "pruning",
            float,
            low=0,
            high=1,
            above_low=True,
            below_high=True,
            placeholder="SHARE",
        ),
        AlgorithmOption(
            "alpha_merge",
            "Merge categories whose difference is not significant at this level.",
            type=float,
            low=0,
            high=1,
            above_low=True,
            default="0.05",
        ),
        AlgorithmOption(
            "alpha_split",
            "Split only if the adjusted p-value is at most this.",
            type=float,
            low=0,
            high=1,
            above_low=True,
            default="0.05",
        ),
        AlgorithmOption("resplit", "Allow merged categories to be split again.", type=bool),
        AlgorithmOption("exhaustive", "Use exhaustive CHAID.", type=bool),
        AlgorithmOption("bins", "Try only the borders of N bins as thresholds.", type=int, low=2),
        AlgorithmOption("s1", "Cases that a leaf counts before it decides.", type=int, low=1, default="4"),
        AlgorithmOption(
            "s2",
            "Class share at which a leaf is closed.",
            type=float,
            low=0.5,
            high=1,
            above_low=True,
            default="0.7",
        ),
        AlgorithmOption("max_steps", "Maximum number of cases presented.", type=int, low=1),
        AlgorithmOption("trees", "Number of trees.", "ensemble", int, low=1, high=1_000_000, default="100"),
        AlgorithmOption("base", "Algorithm that grows the trees.", "ensemble", placeholder="NAME"),
        AlgorithmOption(
            "max_features",
            "Attributes sampled for each split.",
            "ensemble",
            number_or_word,
            placeholder="sqrt|log2|all|N|SHARE",
            default="sqrt",
        ),
        AlgorithmOption(
            "features_per",
            "Sample attributes at each node or once per tree.",
            "ensemble",
            values=("node", "tree"),
            placeholder="UNIT",
            default="node",
        ),
        AlgorithmOption("random_cuts", "Draw thresholds at random (extremely randomised trees).", "ensemble", bool),
        AlgorithmOption(
            "max_samples",
            "Cases drawn for each bootstrap sample.",
            "ensemble",
            number_or_word,
            placeholder="N|SHARE",
            default="all",
        ),
        AlgorithmOption("balanced", "Draw equally many cases of each class.", "ensemble", bool),
        AlgorithmOption(
            "learning_rate",
            "Factor that shrinks the change of the case weights.",
            "ensemble",
            float,
            low=0,
            high=1,
            above_low=True,
            default="1",
        ),
        AlgorithmOption(
            "votes",
            "A tree votes for one class, or by the class shares of the leaf.",
            "ensemble",
            values=("class", "shares"),
            placeholder="KIND",
            default="class",
        ),
        AlgorithmOption(
            "reweighting",
            "Multiply case weights as published, or move them half-way.",
            "ensemble",
            values=("factor", "midway"),
            placeholder="RULE",
            default="factor",
        ),
        AlgorithmOption(
            "coarseness",
            "Minimum node weight for a split, in mean leaf weights of the first tree.",
            "ensemble",
            float,
            low=0,
            default="0",
        ),
        AlgorithmOption(
            "max_resets",
            "How often the case weights may be reset.",
            "ensemble",
            int,
            low=0,
            high=1_000_000,
            default="10",
        ),
    )
}
"""The options that the built-in algorithms know, in the order in which help lists them."""


def shared(*names: str, **changes: Any) -> tuple[AlgorithmOption, ...]:
    """Return shared options by name, with what is different for an algorithm.

    Examples
    --------
    >>> shared("min_leaf", default="7")[0].default
    '7'
    """
    return tuple(replace(SHARED[name], **changes) for name in names)
