"""A learned tree with all that is needed to use it: classes, probabilities, costs.

No learner is needed for any of this.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright._base.errors import ParameterError
from treewright.data.dataset import Dataset
from treewright.data.schema import Schema, Task
from treewright.model.explained import Explained
from treewright.model.forms import InNotebook, TreeForms
from treewright.model.j48_votes import class_probabilities, predicted_codes
from treewright.model.predictor import Predictor
from treewright.model.release8_votes import class_sums
from treewright.model.route import main_leaves, mix_leaf_values
from treewright.model.split import FRACTIONAL, Test
from treewright.model.tree import LEAF, TESTS, Tree
from treewright.model.working import EvaluatedSplit

Smoothing = None | str | float
"""None: plain shares of the leaf; ``"laplace"``; or the m of the m-estimate."""

LARGEST_M = 1e100
"""More makes no difference, and would not survive the arithmetic."""

LARGEST_COST = 1e100
"""Larger costs would not survive the arithmetic either."""


class Voting(StrEnum):
    """How the leaves that a divided case reaches are put together, and how ties are seen."""

    SHARES = "shares"
    RELEASE8 = "release8"
    J48 = "j48"


@dataclass(frozen=True)
class TreeModel(Predictor, Explained, TreeForms, InNotebook):
    """A tree that predicts.

    Parameters
    ----------
    tree : Tree
    recipe : dict
        How it was grown, as plain data.
    provenance : dict
        What it was grown from, as plain data.
    working : dict of int to tuple of EvaluatedSplit
        What was looked at, for the nodes for which that was kept.
    smoothing : None, "laplace" or float
        How class probabilities are estimated from the cases of a leaf.
    voting : Voting
        How a case that was divided among leaves is put together again.
    costs : tuple of tuples or None
        Cost of saying class j (column) of a case of class i (row), in declared order: then the class of least
        expected cost is said.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.grow.recipe import ID3
    >>> from treewright.learn import fit
    >>> model = fit(sample("play-tennis"), ID3())
    >>> model.predict({"Outlook": ["Rain"], "Temperature": ["Hot"], "Humidity": ["High"], "Wind": ["Weak"]}).tolist()
    ['Yes']
    """

    tree: Tree
    recipe: Mapping[str, Any] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    working: Mapping[int, tuple[EvaluatedSplit, ...]] = field(default_factory=dict)
    smoothing: Smoothing = None
    voting: Voting = Voting.SHARES
    costs: tuple[tuple[float, ...], ...] | None = None

    def __post_init__(self) -> None:
        check_smoothing(self.smoothing)
        if self.voting is not Voting.SHARES:
            check_fractional_splits(self.tree)
        if self.costs is not None:
            check_costs(self.costs, self.schema)

    @property
    def schema(self) -> Schema:
        """The schema the tree was grown with."""
        return self.tree.schema

    def predict_proba(self, data: Any) -> npt.NDArray[np.float64]:
        """Return the probability of each class, columns in the order of `classes_`."""
        if self.tree.is_regression:
            raise ParameterError("a regression tree has no class probabilities")
        return self._probabilities(self.cases(data))

    def predict(self, data: Any) -> npt.NDArray[Any]:
        """Return the predicted class label or number of each case."""
        if not self.tree.is_regression:
            return super().predict(data)
        return self._mixed(self.cases(data), self.tree.outcome.astype(np.float64).reshape(-1, 1))[:, 0]

    def predict_codes(self, cases: Dataset) -> npt.NDArray[np.intp]:
        """Return class indices in declared order (ties to the first).

        A whole case takes the outcome of its leaf; a divided one the class of the greatest mixed share. Smoothing
        changes probabilities, not the class of a leaf. With costs the class of least expected cost is taken.
        """
        if self.costs is not None:
            return first_maximum(-(self._probabilities(cases) @ np.array(self.costs)))
        if self.voting is Voting.RELEASE8:
            codes: npt.NDArray[np.intp] = np.argmax(class_sums(self.tree, cases), axis=1)
            return codes
        if self.voting is Voting.J48:
            return predicted_codes(class_probabilities(self.tree, cases))
        return first_maximum(self._mixed(cases, node_probabilities(self.tree, None)))

    def _probabilities(self, cases: Dataset) -> npt.NDArray[np.float64]:
        if self.smoothing is None and self.voting is Voting.RELEASE8:
            sums = class_sums(self.tree, cases).astype(np.float64)
            shares: npt.NDArray[np.float64] = sums / sums.sum(axis=1, keepdims=True)
            return shares
        if self.smoothing is None and self.voting is Voting.J48:
            return class_probabilities(self.tree, cases)
        return self._mixed(cases, node_probabilities(self.tree, self.smoothing))

    def apply(self, data: Any) -> npt.NDArray[np.int32]:
        """Return the leaf of each case (the one that gets most of it)."""
        return main_leaves(self.tree, self.cases(data))

    def _mixed(self, cases: Dataset, of_node: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Mix what the leaves say by the share of the case that reaches them."""
        return mix_leaf_values(self.tree, cases, of_node)

    def __str__(self) -> str:
        return self.tree.to_text()


def node_probabilities(tree: Tree, smoothing: Smoothing) -> npt.NDArray[np.float64]:
    """Estimate the class probabilities at every node.

    An empty leaf says its class with certainty, as C4.5's does, unless smoothing spreads it.
    """
    classes = len(tree.schema.classes)
    counts = tree.counts.astype(np.float64)
    weight = tree.weight[:, None]
    if smoothing is None:
        sure = np.zeros_like(counts)
        sure[np.arange(tree.n_nodes), tree.outcome] = 1.0
        return np.where(weight > 0, counts / np.where(weight > 0, weight, 1.0), sure)
    counts = np.where(weight > 0, counts, 0.0)
    if smoothing == "laplace":
        laplace: npt.NDArray[np.float64] = (counts + 1.0) / (weight + classes)
        return laplace
    m = float(smoothing)
    prior = counts[0] / weight[0] if tree.weight[0] > 0 else np.full(classes, 1.0 / classes)
    estimated: npt.NDArray[np.float64] = (counts + m * prior) / (weight + m)
    return estimated


FEW_COLUMNS = 16
"""Up to so many columns are compared one after the other, more of them row by row."""


def first_maximum(shares: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
    """Return the first column whose share is the largest, sums of roundings apart.

    Examples
    --------
    >>> first_maximum(np.array([[0.1 + 0.2, 0.3], [0.2, 0.8]])).tolist()
    [0, 1]
    """
    columns = shares.T
    if len(columns) > FEW_COLUMNS:
        best = shares.max(axis=1, keepdims=True)
        found: npt.NDArray[np.intp] = np.argmax(shares >= best - 1e-12 * np.abs(best), axis=1)
        return found
    best = columns[0].copy()  # column after column: many short rows one by one take ten times as long
    for column in columns[1:]:
        np.maximum(best, column, out=best)
    limit = best - 1e-12 * np.abs(best)
    first = np.zeros(len(shares), dtype=np.intp)
    for place in range(len(columns) - 1, -1, -1):
        first[columns[place] >= limit] = place
    return first


def check_smoothing(smoothing: Smoothing) -> None:
    """Raise unless it is None, "laplace" or a positive number."""
    if smoothing is None or smoothing == "laplace":
        return
    if isinstance(smoothing, (int, float)) and not isinstance(smoothing, bool) and 0 < smoothing <= LARGEST_M:
        return
    raise ParameterError(
        f"smoothing must be None, 'laplace' or a positive number (the m of the m-estimate), not {smoothing!r}"
    )


def check_costs(costs: tuple[tuple[float, ...], ...], schema: Schema) -> None:
    """Raise unless there is a finite cost, not negative, for every pair of classes."""
    k = len(schema.classes)
    if schema.task is Task.REGRESSION:
        raise ParameterError("costs are for classes, and this target is a number")
    if len(costs) != k or any(len(row) != k for row in costs):
        raise ParameterError(f"costs must be a table of {k} rows and {k} columns, one for each class")
    if not all(isinstance(cost, (int, float)) and 0 <= cost <= LARGEST_COST for row in costs for cost in row):
        raise ParameterError(f"costs must be numbers from 0 to {LARGEST_COST:g}")


def check_fractional_splits(tree: Tree) -> None:
    """Raise unless the tree is one that Release 8 or J48 could have made: classes, every test divides missing cases."""
    inner = tree.attribute != LEAF
    tests = set(tree.test[inner].tolist())
    if tree.is_regression or TESTS.index(Test.INTERVALS) in tests or np.any(tree.missing[inner] != FRACTIONAL):
        raise ParameterError("this way of voting is for trees of classes whose tests divide cases without a value")
    if np.any(tree.weight > np.finfo(np.float32).max / 2):
        raise ParameterError("this way of voting is for weights that 32-bit numbers can hold")
