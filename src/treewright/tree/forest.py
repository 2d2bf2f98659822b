"""An ensemble of trees: a bagged or random forest, or boosted trees. Prediction needs no learner.

The predictions of the trees are combined in one of two ways. ``mean`` averages their class probabilities (or numbers).
``votes`` adds one vote per tree, weighted by the tree's weight.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from math import isfinite
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.data.schema import Schema
from treewright.errors import ModelFormatError, ParameterError
from treewright.tree.io.forest_json import (
    DOUBLES,
    decode_array,
    encode_array,
    packed_forest_from_plain,
    packed_forest_to_plain,
)
from treewright.tree.io.tree_json import object_at
from treewright.tree.model import Predictor, Smoothing, check_costs, check_smoothing, first_maximum, node_probabilities
from treewright.tree.packed_forest import Block, PackedForest, blocks
from treewright.tree.route import by_kernel, main_leaves, sums
from treewright.tree.tree import LEAF, Tree

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]


class Combining(StrEnum):
    """How the predictions of the trees are combined."""

    MEAN = "mean"
    VOTES = "votes"


@dataclass(frozen=True, eq=False)
class Forest(Predictor):
    """Weighted trees that predict together.

    Parameters
    ----------
    packed : PackedForest
        The trees, as one set of arrays.
    weights : array of float
        Weight of the prediction of each tree.
    combining : Combining
    recipe : dict
        How it was learned, as plain data.
    provenance : dict
        What it was learned from, as plain data.
    log : dict of str to tuple of float
        Training log with one number per tree: the out-of-bag error after each tree, or error and alpha of each
        boosting round.
    smoothing : None, "laplace" or float
        How class probabilities are estimated from the cases of a leaf.
    costs : tuple of tuples or None
        Cost of predicting class j (column) for a case of class i (row). If given, the class of least expected cost is
        predicted.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.ensembles.plan import forest
    >>> from treewright.fitting.learn import fit
    >>> model = fit(sample("play-tennis"), forest(trees=20))
    >>> len(model.trees), model.predict(sample("play-tennis"))[:3].tolist()
    (20, ['No', 'No', 'Yes'])
    """

    kind: ClassVar[Literal["forest"]] = "forest"

    packed: PackedForest
    weights: Floats
    combining: Combining = Combining.MEAN
    recipe: Mapping[str, Any] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    log: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    smoothing: Smoothing = None
    costs: tuple[tuple[float, ...], ...] | None = None

    def __post_init__(self) -> None:
        check_smoothing(self.smoothing)
        if self.costs is not None:
            check_costs(self.costs, self.schema)
        if len(self.weights) != len(self.packed):
            raise ParameterError(f"{len(self.weights)} weights for {len(self.packed)} trees")
        total = float(np.sum(self.weights))
        if not np.all(self.weights >= 0) or not 0 < total < float("inf"):
            raise ParameterError("the weights of trees must be numbers of at least 0, and not all of them 0")
        if self.packed.is_regression and self.combining is Combining.VOTES:
            raise ParameterError("votes are for classes, and this target is a number")
        for name, numbers in self.log.items():
            if len(numbers) != len(self.packed) or not all(isfinite(number) for number in numbers):
                raise ParameterError(f"the log {name!r} must have a finite number for each of {len(self.packed)} trees")

    @property
    def grove(self) -> PackedForest:
        """The trees under the former name of `packed`."""
        warnings.warn("Forest.grove is now called Forest.packed", DeprecationWarning, stacklevel=2)
        return self.packed

    @property
    def schema(self) -> Schema:
        """The schema the trees were grown with."""
        return self.packed.schema

    @property
    def trees(self) -> tuple[Tree, ...]:
        """The trees in the order in which they were grown."""
        return self.packed.trees

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.packed)

    @property
    def is_regression(self) -> bool:
        """True if numbers are predicted."""
        return self.packed.is_regression

    # -- prediction --------------------------------------------------------------------------------------------------

    def predict(self, data: Any) -> npt.NDArray[Any]:
        """Return the predicted class label or number of each case."""
        if not self.is_regression:
            return super().predict(data)
        return self.answers(self.cases(data))[:, 0]

    def predict_proba(self, data: Any) -> Floats:
        """Return the probability (or share of votes) of each class, columns in the order of `classes_`."""
        if self.is_regression:
            raise ParameterError("a forest of numbers has no class probabilities")
        return self.answers(self.cases(data))

    def predict_codes(self, cases: Dataset) -> Codes:
        """Return class indices in class order (ties go to the first)."""
        return self.codes_of(self.answers(cases))

    def codes_of(self, predictions: Floats) -> Codes:
        """Return the predicted classes for combined predictions."""
        if self.costs is not None:
            return first_maximum(-(predictions @ np.array(self.costs)))
        return first_maximum(predictions)

    def answers(self, cases: Dataset) -> Floats:
        """Return the combined predictions: class probabilities, shares of votes, or one column of numbers."""
        total = float(np.sum(self.weights))
        if self.combining is Combining.MEAN and by_kernel(cases.n_rows * len(self.packed), self.packed.n_nodes):
            packed = self.packed
            added = sums(packed, packed.starts[:-1], cases, packed.leaf_number, self._of_leaf, self.weights)
            unrouted = np.flatnonzero(np.isnan(added[:, 0]))
            if len(unrouted):
                added[unrouted] = self._summed_predictions(cases.take(unrouted))
            return added / total
        return self._summed_predictions(cases) / total

    def _summed_predictions(self, cases: Dataset) -> Floats:
        result = np.zeros((cases.n_rows, self._width))
        for block in blocks(self.packed, cases):
            part = result[block.first : block.last]
            for index, weight in enumerate(self.weights.tolist()):
                self.add_prediction(part, block, index, weight)
        return result

    def staged_answers(self, cases: Dataset) -> Iterator[Floats]:
        """Yield the combined answers of the first tree, the first two, and so on."""
        found = list(blocks(self.packed, cases))
        result, total = np.zeros((cases.n_rows, self._width)), 0.0
        for index, weight in enumerate(self.weights.tolist()):
            total += weight
            for block in found:
                self.add_prediction(result[block.first : block.last], block, index, weight)
            yield result / (total if total > 0 else 1.0)

    def add_prediction(self, result: Floats, block: Block, index: int, weight: float = 1.0) -> None:
        """Add the prediction of one tree for the cases of a block, times a weight."""
        if self.combining is Combining.MEAN:
            of_node = self._of_node(index) if len(block.unrouted) else None
            predictions = block.answers_of(index, self._of_leaf, of_node)
            result += predictions if weight == 1.0 else predictions * weight
            return
        result[np.arange(len(result)), self.voted(block, index)] += weight

    def voted(self, block: Block, index: int) -> Codes:
        """Return the class that one tree predicts for each case of a block."""
        codes = self._leaf_codes[block.leaves[:, index]]
        if len(block.unrouted):
            codes[block.unrouted] = first_maximum(
                block.answers_of(index, self._of_leaf, self._of_node(index))[block.unrouted]
            )
        return codes

    def nodes(self, cases: Dataset) -> npt.NDArray[np.int64]:
        """Return the final node of each case in every tree, numbered as in the packed forest (cases x trees).

        A fractional case counts for the leaf with the largest share of it.
        """
        leaf_nodes = np.flatnonzero(self.packed.attribute == LEAF)
        found = np.empty((cases.n_rows, self.n_trees), dtype=np.int64)
        for block in blocks(self.packed, cases):
            part = found[block.first : block.last]
            part[:] = leaf_nodes[block.leaves]
            if len(block.unrouted):
                for index, tree in enumerate(self.trees):
                    part[block.unrouted, index] = self.packed.starts[index] + main_leaves(tree, block.unrouted_cases)
        return found

    def apply(self, data: Any) -> npt.NDArray[np.int32]:
        """Return the final node of each case in every tree, numbered as in the tree (cases x trees)."""
        return (self.nodes(self.cases(data)) - self.packed.starts[:-1]).astype(np.int32)

    # -- model file --------------------------------------------------------------------------------------------------

    def to_plain(self) -> dict[str, Any]:
        """Return the parts of the model file that are specific to forests."""
        log = {name: encode_array(np.array(numbers, dtype=np.float64)) for name, numbers in sorted(self.log.items())}
        return {
            "combining": str(self.combining),
            "smoothing": self.smoothing,
            "costs": None if self.costs is None else [list(row) for row in self.costs],
            "weights": encode_array(self.weights),
            "log": log,
            "trees": packed_forest_to_plain(self.packed),
        }

    @classmethod
    def from_plain(
        cls,
        schema: Schema,
        recipe: Mapping[str, Any],
        provenance: Mapping[str, Any],
        document: Mapping[str, Any],
        costs: tuple[tuple[float, ...], ...] | None,
    ) -> Forest:
        """Restore and validate a forest."""
        packed = packed_forest_from_plain(schema, object_at(document, "trees"))
        try:
            combining = Combining(str(document.get("combining")))
        except ValueError as error:
            raise ModelFormatError(f"unknown combining {document.get('combining')!r:.40}") from error
        weights = decode_array(document, "weights", DOUBLES, len(packed)).astype(np.float64)
        log = object_at(document, "log")
        numbers = {name: tuple(decode_array(log, name, DOUBLES, len(packed)).tolist()) for name in log}
        return cls(packed, weights, combining, recipe, provenance, numbers, document.get("smoothing"), costs)

    # -- predictions of leaves and nodes -----------------------------------------------------------------------------

    @property
    def _width(self) -> int:
        return 1 if self.is_regression else len(self.schema.classes)

    @property
    def _leaf_smoothing(self) -> Smoothing:
        """The smoothing of probabilities; votes go to the class of the leaf, which smoothing does not change."""
        return self.smoothing if self.combining is Combining.MEAN else None

    @cached_property
    def _of_leaf(self) -> Floats:
        statistics = self.packed.leaf_statistics
        if self.is_regression:
            return statistics.outcome.astype(np.float64).reshape(-1, 1)
        smoothing = self._leaf_smoothing
        if smoothing is not None and smoothing != "laplace":  # the prior comes from the root of each tree
            parts = [node_probabilities(tree, smoothing)[tree.attribute == LEAF] for tree in self.trees]
            return np.concatenate(parts)
        return _shares(statistics.counts, statistics.weight, statistics.outcome, laplace=smoothing == "laplace")

    @cached_property
    def _leaf_codes(self) -> Codes:
        return first_maximum(self._of_leaf)

    def _of_node(self, index: int) -> Floats:
        tree = self.trees[index]
        if self.is_regression:
            return tree.outcome.astype(np.float64).reshape(-1, 1)
        return node_probabilities(tree, self._leaf_smoothing)

    def __str__(self) -> str:
        nodes, trees = self.packed.n_nodes, self.n_trees
        name = self.recipe.get("name", "Forest")
        return f"{name}: {trees:,} {'tree' if trees == 1 else 'trees'}, {nodes:,} nodes"


def _shares(counts: npt.NDArray[Any], weight: Floats, outcome: npt.NDArray[Any], *, laplace: bool) -> Floats:
    """Estimate class probabilities as `node_probabilities` does, without a prior."""
    found = counts.astype(np.float64)
    total = weight[:, None]
    if laplace:
        smoothed: Floats = (np.where(total > 0, found, 0.0) + 1.0) / (total + found.shape[1])
        return smoothed
    empty = np.flatnonzero(weight <= 0)
    found[empty] = 0.0
    found[empty, outcome[empty]] = 1.0  # an empty leaf predicts its class with certainty
    for column in found.T:  # by column: looping over many short rows is slow
        np.divide(column, np.where(weight > 0, weight, 1.0) if len(empty) else weight, out=column)
    return found
