"""The score of an attribute: at one node, and over the whole tree.

At a node: the frequency table of its best test and the values of all criteria for that table. Over the tree: the mean
decrease of impurity over all tests of the attribute.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log2
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.counting.table import Counts
from treewright.explain.conditions import special_branch
from treewright.learners.criteria import (
    chi_square,
    entropy,
    gini,
    split_information,
    total_entropy,
    total_gini,
    total_variance,
)
from treewright.learners.recipe import Cuts, MissingPolicy, Recipe
from treewright.tree.forest import Forest
from treewright.tree.io.tree_json import plain_number
from treewright.tree.split import EvaluatedSplit, Split, SplitStatus
from treewright.tree.tree import LEAF, Node, Tree


@dataclass(frozen=True)
class Branch:
    """One row of an attribute's table: its cases and their impurity; a numeric target has `mean` instead of counts."""

    label: str
    counts: tuple[int | float, ...]
    weight: float
    impurity: float
    mean: float | None = None
    special: str | None = None
    """"missing" or "known" where the branch is that of missing or of known values as such."""


@dataclass(frozen=True)
class AttributeExplanation:
    """One attribute at the node with the values of all criteria; `verdict` is the status of its best split."""

    name: str
    verdict: SplitStatus
    branches: tuple[Branch, ...] = ()
    unknown: float = 0.0
    known: float = 0.0
    after: float | None = None
    decrease: float | None = None
    tries: int = 0
    adjusted_p: float | None = None
    correction: float = 0.0
    split_information: float | None = None
    ratio: float | None = None
    gini_decrease: float | None = None
    chi_square: float | None = None
    chi_square_df: int | None = None
    chi_square_p: float | None = None
    own_score: float | None = None
    """By a criterion of the user's, times the share of known cases."""

    @property
    def verdict_code(self) -> str:
        """The status as a key of the catalogue."""
        return self.verdict.name.lower()

    def score(self, by: str) -> float | None:
        """Return the score by which attributes are compared; names without a score of their own mean the gain."""
        number: float | None = {
            "ratio": self.ratio,
            "chi_square": self.chi_square,
            "adjusted_p": self.adjusted_p,
            "own": self.own_score,
        }.get(by, self.decrease)
        return number


def explain_attribute(node: Node, recipe: Recipe, measure: str, one: EvaluatedSplit) -> AttributeExplanation:
    """Compute all scores of an attribute from its evaluated split; `measure` is the impurity measure."""
    column = node.tree.schema.attributes[one.attribute]
    split = one.split
    if split is None:
        return AttributeExplanation(column.name, one.status, adjusted_p=one.p_value)
    counts = _with_learned_side(recipe, split, one)
    weights = counts[:, 0] if measure == "variance" else counts.sum(axis=1)
    totals = {"entropy": total_entropy, "gini": total_gini, "variance": total_variance}[measure](counts)
    mean = float(node.tree.outcome[node.index]) if measure == "variance" else None
    branches = tuple(
        replace(
            _branch(
                split.describe(branch, column), counts[branch], float(weights[branch]), float(totals[branch]), mean
            ),
            special=special_branch(split, branch) or None,
        )
        for branch in range(split.n_branches)
    )
    known = float(weights.sum())
    unknown = 0.0 if recipe.missing is MissingPolicy.LEARNED else _weight(one.unknown, measure)
    after = float(totals.sum()) / known
    before = _impurity_of(counts.sum(axis=0), measure)
    correction = _correction(recipe, one, known + unknown)
    decrease = (before - after) * known / (known + unknown) - correction
    return AttributeExplanation(
        name=column.name,
        verdict=one.status,
        branches=branches,
        unknown=unknown,
        known=known,
        after=after,
        decrease=decrease,
        tries=one.tries,
        adjusted_p=one.p_value,
        correction=correction,
        own_score=None if one.own_score is None else one.own_score * known / (known + unknown),
        **_further(counts, one.unknown, decrease, measure, recipe),
    )


def _further(counts: Counts, unknown: Counts, decrease: float, measure: str, recipe: Recipe) -> dict[str, Any]:
    """Return the other criteria of the same table, for comparison."""
    if measure == "variance":
        return {}
    independence = chi_square(counts)
    further: dict[str, Any] = {
        "gini_decrease": gini(counts.sum(axis=0)) - float(total_gini(counts).sum()) / float(counts.sum()),
        "chi_square": independence.statistic,
        "chi_square_df": independence.df,
        "chi_square_p": independence.p,
    }
    if measure == "entropy":
        missing = None if recipe.missing is MissingPolicy.LEARNED else unknown
        information = split_information(counts, missing)
        further["split_information"] = information
        further["ratio"] = decrease / information if information > 0 else 0.0
    return further


def _with_learned_side(recipe: Recipe, split: Split, one: EvaluatedSplit) -> Counts:
    if recipe.missing is not MissingPolicy.LEARNED:
        return one.counts
    counts = one.counts.astype(np.float64) if one.unknown.dtype.kind == "f" else one.counts.copy()
    counts[split.missing] += one.unknown
    return counts


def _branch(label: str, row: Counts, weight: float, total: float, node_mean: float | None) -> Branch:
    impurity = total / weight if weight > 0 else 0.0
    if node_mean is not None:
        mean = node_mean + float(row[1]) / weight if weight > 0 else None
        return Branch(label, (), weight, impurity, mean)
    return Branch(label, tuple(plain_number(count) for count in row.tolist()), weight, impurity)


def _impurity_of(row: Counts, measure: str) -> float:
    if measure == "variance":
        return float(total_variance(row[None, :])[0]) / float(row[0])
    return entropy(row) if measure == "entropy" else gini(row)


def _weight(row: Counts, measure: str) -> float:
    return float(row[0]) if measure == "variance" else float(row.sum())


def _correction(recipe: Recipe, one: EvaluatedSplit, weight: float) -> float:
    rule = recipe.numeric
    if one.tries and one.split is not None and one.split.cut is not None and isinstance(rule, Cuts) and rule.correction:
        return log2(one.tries) / weight
    return 0.0


def impurity_importance(tree: Tree, criterion: str) -> npt.NDArray[np.float64]:
    """Return the share of each attribute in the decrease of impurity; the shares sum to one (zero for a single leaf).

    Parameters
    ----------
    tree : Tree
    criterion : str
        ``"gini"`` counts by Gini, ``"variance"`` by sums of squares, all others by entropy.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.recipe import ID3
    >>> from treewright.fitting.learn import fit
    >>> impurity_importance(fit(sample("play-tennis"), ID3()).tree, "gain").round(3).tolist()
    [0.262, 0.0, 0.369, 0.369]
    """
    if tree.sse is not None:
        total = tree.sse
    else:
        total = total_gini(tree.counts) if criterion == "gini" else total_entropy(tree.counts)
        total = np.where(tree.weight > 0, total, 0.0)
    inner = np.flatnonzero(tree.attribute != LEAF)
    below = np.bincount(
        np.repeat(np.arange(tree.n_nodes), np.diff(tree.child_start)), total[tree.children], tree.n_nodes
    )
    decreases = np.maximum(total[inner] - below[inner], 0.0)
    importance = np.bincount(tree.attribute[inner], decreases, len(tree.schema.attributes)).astype(np.float64)
    everything = importance.sum()
    return importance / everything if everything > 0 else importance


def forest_importance(forest: Forest, criterion: str) -> npt.NDArray[np.float64]:
    """Return the importances averaged over the trees by the weight of their votes; they sum to one again.

    A tree with a single leaf is left out.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.ensembles.plan import bagging
    >>> from treewright.fitting.learn import fit
    >>> forest = fit(sample("play-tennis"), bagging(trees=20))
    >>> float(forest_importance(forest, "gain").sum().round(6))
    1.0
    """
    importance = np.zeros(len(forest.schema.attributes))
    for tree, weight in zip(forest.trees, forest.weights.tolist(), strict=True):
        importance += weight * impurity_importance(tree, criterion)
    everything = importance.sum()
    return importance / everything if everything > 0 else importance
