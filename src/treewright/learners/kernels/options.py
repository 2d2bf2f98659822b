"""Encode a recipe as numbers for the kernels.

A recipe that the kernels do not support (a limit on leaves, grouped categories, constraints, a user's own criterion) is
grown by the interpreted grower over compiled counting; see `is_supported`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from treewright.arrays import Options
from treewright.data.schema import Kind, Schema
from treewright.learners.candidates import SHORT
from treewright.learners.kernels.score import CHI_SQUARE, ENTROPY, GINI, VARIANCE
from treewright.learners.recipe import Choice, Cuts, Intervals, MissingPolicy, NominalTest, OrdinalTest, Recipe
from treewright.learners.sampling import root_key, shuffled
from treewright.learners.select import HIGH_CARDINALITY_SHARE

OPTIONS = np.dtype(
    [
        ("criterion", np.int64),
        ("choice", np.int64),
        ("missing", np.int64),
        ("relative_side", np.int64),
        ("correction", np.int64),
        ("gap", np.float64),
        ("max_depth", np.int64),
        ("min_cases", np.int64),
        ("min_leaf", np.int64),
        ("min_weight", np.float64),
        ("min_branch", np.float64),
        ("least_side", np.float64),
        ("least_node", np.float64),
        ("min_decrease", np.float64),
        ("total_weight", np.float64),
        ("once_per_path", np.int64),
        ("n_sampled", np.int64),
        ("random_cuts", np.int64),
        ("width", np.int64),
        ("integer_weights", np.int64),
        ("unit_weights", np.int64),
    ]
)
"""The options of a recipe, as one record."""

HIGHEST, RATIO, GAIN = 0, 1, 2
MISSING_FRACTIONAL, MISSING_MAJORITY, MISSING_LEARNED = 0, 1, 2
NOT_TESTED, CUT, MULTIWAY, SUBSETS, ORDERED = -1, 0, 1, 2, 3
"""Form of the test of an attribute."""

CRITERIA = {
    "entropy": ENTROPY,
    "gain": ENTROPY,
    "gain_ratio": ENTROPY,
    "gini": GINI,
    "variance": VARIANCE,
    "chi2": CHI_SQUARE,
}
_CHOICES = {Choice.HIGHEST: HIGHEST, Choice.RATIO: RATIO, Choice.GAIN: GAIN}
_MISSING = {
    MissingPolicy.FRACTIONAL: MISSING_FRACTIONAL,
    MissingPolicy.MAJORITY: MISSING_MAJORITY,
    MissingPolicy.LEARNED: MISSING_LEARNED,
}

LARGEST_EXACT = 94_906_265.0
"""Greatest weight whose square is an exact integer in double precision."""

FEW_WEIGHTS = 64
"""Number of weights that are compared before all are."""

Floats = npt.NDArray[np.float64]


def is_supported(recipe: Recipe) -> bool:
    """Return True if the kernels support this recipe.

    Examples
    --------
    >>> from treewright.learners.recipe import C45, CART, ID3
    >>> [is_supported(recipe) for recipe in (ID3(), C45(), CART(), C45(subset=True), C45(max_leaves=8))]
    [True, True, True, False, False]
    """
    return (
        recipe.criterion in CRITERIA
        and recipe.nominal is not NominalTest.GROUPS
        and recipe.ordinal is not OrdinalTest.GROUPS
        and recipe.stopping.max_leaves is None
        and recipe.stopping.significance is None
        and not recipe.monotonic
        and not (isinstance(recipe.numeric, Intervals) and recipe.missing is MissingPolicy.LEARNED)
    )


def options_of(recipe: Recipe, total_weight: float, width: int, *, whole: bool, unit: bool) -> Options:
    """Return the options of a recipe, for cases of this total weight and statistics of this width.

    `whole`: all weights are integers and no case becomes fractional. `unit`: all weights are 1.
    """
    stopping = recipe.stopping
    cuts = recipe.numeric if isinstance(recipe.numeric, Cuts) else Cuts()
    options = np.zeros(1, dtype=OPTIONS)
    options["criterion"] = CRITERIA[recipe.criterion]
    options["choice"] = _CHOICES[recipe.choice]
    options["missing"] = _MISSING[recipe.missing]
    options["relative_side"] = cuts.relative_side
    options["correction"] = cuts.correction
    options["gap"] = cuts.gap * (1 + 1e-6)
    options["max_depth"] = -1 if stopping.max_depth is None else stopping.max_depth
    options["min_cases"] = stopping.min_cases
    options["min_leaf"] = stopping.min_leaf
    options["min_weight"] = stopping.min_weight * SHORT
    options["min_branch"] = stopping.min_branch
    options["least_side"] = max(stopping.min_share * total_weight, stopping.min_branch) * SHORT
    options["least_node"] = 2 * stopping.min_share * total_weight * SHORT
    options["min_decrease"] = stopping.min_decrease * (1 - 1e-12)
    options["total_weight"] = total_weight
    options["once_per_path"] = recipe.once_per_path
    options["n_sampled"] = 0 if recipe.draw is None or recipe.draw.per_tree else recipe.draw.attributes
    options["random_cuts"] = recipe.draw is not None and recipe.draw.random_cuts
    options["width"] = width
    options["integer_weights"] = whole and total_weight <= LARGEST_EXACT
    options["unit_weights"] = unit
    return options


def tests_of(recipe: Recipe, schema: Schema, intervals: frozenset[int]) -> npt.NDArray[np.int64]:
    """Return the form of the test of each attribute; `intervals` are the numeric attributes that were discretised."""
    tests = np.zeros(len(schema.attributes), dtype=np.int64)
    for index, column in enumerate(schema.attributes):
        if column.is_numeric:
            tests[index] = MULTIWAY if index in intervals else CUT
        elif column.kind is Kind.ORDINAL:
            tests[index] = MULTIWAY if recipe.ordinal is OrdinalTest.MULTIWAY else ORDERED
        else:
            tests[index] = MULTIWAY if recipe.nominal is NominalTest.MULTIWAY else SUBSETS
    if recipe.draw is not None and recipe.draw.per_tree:
        order = shuffled(root_key(recipe.draw.seed), len(tests))
        tests[order[recipe.draw.attributes :]] = NOT_TESTED
    return tests


def high_cardinality_attributes(schema: Schema, n_cases: int) -> npt.NDArray[np.bool_]:
    """Flag the high-cardinality attributes, which C4.5 excludes from its average gain."""
    high_cardinality = np.array(
        [0 < HIGH_CARDINALITY_SHARE * n_cases <= len(column.values) for column in schema.attributes], dtype=bool
    )
    return np.zeros_like(high_cardinality) if high_cardinality.all() else high_cardinality


def is_unchanged(weights: Floats, change: Callable[[Floats], Floats]) -> bool:
    """Return True if `change` leaves all weights unchanged; usually the first few decide."""
    few = weights[:FEW_WEIGHTS]
    return np.array_equal(few, change(few)) and np.array_equal(weights, change(weights))
