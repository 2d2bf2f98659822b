"""Learned models: the base class of all models, and the model of a single tree.

`Predictor` encodes new cases, predicts and saves. `TreeModel` is a tree with everything needed to predict classes,
probabilities and numbers. Prediction needs no learner.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from treewright.atomic_file import write_atomically
from treewright.data.columns import RawTable
from treewright.data.dataset import Dataset, Unseen, encode, labels_of
from treewright.data.frames import raw_table
from treewright.data.schema import Schema, Task
from treewright.errors import ParameterError, SchemaError
from treewright.tree.io.tree_json import evaluated_split_to_plain, tree_to_plain
from treewright.tree.output_methods import Explained, InNotebook, TreeForms
from treewright.tree.route import average_leaf_values, main_leaves
from treewright.tree.split import FRACTIONAL, EvaluatedSplit, Test
from treewright.tree.tree import LEAF, TESTS, Tree
from treewright.tree.votes import class_probabilities, class_sums, predicted_codes


class Predictor:
    """Base class of all models; subclasses provide `schema` and `predict_codes`, and what can be saved `to_plain`."""

    kind: ClassVar[str]
    """What the model file calls it: tree, rules or forest."""

    recipe: Mapping[str, Any]
    provenance: Mapping[str, Any]

    @property
    def schema(self) -> Schema:
        """The schema of the training data."""
        raise NotImplementedError  # provided by each model class

    def predict_codes(self, cases: Dataset) -> npt.NDArray[np.intp]:
        """Return class indices in class order."""
        raise NotImplementedError  # provided by each model class

    @cached_property
    def classes_(self) -> npt.NDArray[Any]:
        """The classes in order: the columns of probabilities."""
        if self.schema.task is Task.REGRESSION:
            raise ParameterError("a regression model has no classes")
        return labels_of(self.schema.target_column)

    def cases(self, data: Any) -> Dataset:
        """Encode new cases: a dataset, a raw table, a dataframe, an array, rows or columns.

        Columns are matched by name, arrays by position. Categories not seen in training count as missing; a warning
        gives their number.
        """
        if isinstance(data, Dataset):
            if data.schema.attributes == self.schema.attributes:
                return data
            data = decoded_table(data)
        raw = data if isinstance(data, RawTable) else raw_table(data, names=self._names_for(data))
        return encode(raw, self.schema, unseen=Unseen.MISSING, with_target=False)

    def _names_for(self, data: Any) -> tuple[str, ...] | None:
        """Return the column names of data that has none, which is matched by position."""
        shape = getattr(data, "shape", None)
        if isinstance(data, np.ndarray) and shape is not None and len(shape) == 2:
            names = self.schema.attribute_names
            if shape[1] != len(names):
                raise SchemaError(
                    f"the array has {shape[1]} columns, the model expects {len(names)}: {', '.join(names)}"
                )
            return names
        return self.schema.attribute_names if isinstance(data, (list, tuple)) else None

    def predict(self, data: Any) -> npt.NDArray[Any]:
        """Return the predicted label of each case."""
        return self.classes_[self.predict_codes(self.cases(data))]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model as JSON; see `treewright.load`. An old file stays until the new one is complete."""
        from treewright.tree.io.model_file import model_to_json

        write_atomically(path, model_to_json(self))

    def to_plain(self) -> dict[str, Any]:
        """Return what the model file holds of this kind of model, beside schema, recipe and provenance."""
        raise ParameterError(f"a {type(self).__name__} cannot be saved")


def decoded_table(data: Dataset) -> RawTable:
    """Decode a dataset, so that it can be encoded with another schema."""
    return raw_table({name: data.column(name) for name in data.schema.attribute_names})


Smoothing = None | str | float
"""None: relative frequencies of the leaf; ``"laplace"``; or the m of the m-estimate."""

LARGEST_M = 1e100
"""A larger m makes no difference and would overflow."""

LARGEST_COST = 1e100
"""Larger costs would overflow."""


class Voting(StrEnum):
    """How the leaves that a fractional case reaches are combined, and how ties are resolved."""

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
    trace : dict of int to tuple of EvaluatedSplit
        The split trace, for the nodes whose trace was kept.
    smoothing : None, "laplace" or float
        How class probabilities are estimated from the cases of a leaf.
    voting : Voting
        How the leaves of a fractional case are combined.
    costs : tuple of tuples or None
        Cost of predicting class j (column) for a case of class i (row), in class order. If given, the class of least
        expected cost is predicted.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.recipe import ID3
    >>> from treewright.fitting.learn import fit
    >>> model = fit(sample("play-tennis"), ID3())
    >>> model.predict({"Outlook": ["Rain"], "Temperature": ["Hot"], "Humidity": ["High"], "Wind": ["Weak"]}).tolist()
    ['Yes']
    """

    kind: ClassVar[Literal["tree"]] = "tree"

    tree: Tree
    recipe: Mapping[str, Any] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    trace: Mapping[int, tuple[EvaluatedSplit, ...]] = field(default_factory=dict)
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

    @property
    def working(self) -> Mapping[int, tuple[EvaluatedSplit, ...]]:
        """The split trace; deprecated, use `trace`."""
        warnings.warn("TreeModel.working is now TreeModel.trace", DeprecationWarning, stacklevel=2)
        return self.trace

    def predict_proba(self, data: Any) -> npt.NDArray[np.float64]:
        """Return the probability of each class, columns in the order of `classes_`."""
        if self.tree.is_regression:
            raise ParameterError("a regression tree has no class probabilities")
        return self._probabilities(self.cases(data))

    def predict(self, data: Any) -> npt.NDArray[Any]:
        """Return the predicted class label or number of each case."""
        if not self.tree.is_regression:
            return super().predict(data)
        of_node = self.tree.outcome.astype(np.float64).reshape(-1, 1)
        return average_leaf_values(self.tree, self.cases(data), of_node)[:, 0]

    def predict_codes(self, cases: Dataset) -> npt.NDArray[np.intp]:
        """Return class indices in class order (ties go to the first).

        A unit-weight case gets the outcome of its leaf, a fractional case the class with the largest average
        probability. Smoothing changes probabilities, not the class of a leaf. With costs, the class of least expected
        cost is predicted.
        """
        if self.costs is not None:
            return first_maximum(-(self._probabilities(cases) @ np.array(self.costs)))
        if self.voting is Voting.RELEASE8:
            codes: npt.NDArray[np.intp] = np.argmax(class_sums(self.tree, cases), axis=1)
            return codes
        if self.voting is Voting.J48:
            return predicted_codes(class_probabilities(self.tree, cases))
        return first_maximum(average_leaf_values(self.tree, cases, node_probabilities(self.tree, None)))

    def _probabilities(self, cases: Dataset) -> npt.NDArray[np.float64]:
        if self.smoothing is None and self.voting is Voting.RELEASE8:
            sums = class_sums(self.tree, cases).astype(np.float64)
            shares: npt.NDArray[np.float64] = sums / sums.sum(axis=1, keepdims=True)
            return shares
        if self.smoothing is None and self.voting is Voting.J48:
            return class_probabilities(self.tree, cases)
        return average_leaf_values(self.tree, cases, node_probabilities(self.tree, self.smoothing))

    def apply(self, data: Any) -> npt.NDArray[np.int32]:
        """Return the leaf of each case (for a fractional case, the one with the largest share)."""
        return main_leaves(self.tree, self.cases(data))

    def to_plain(self) -> dict[str, Any]:
        """Return the parts of the model file that are specific to a single tree."""
        return {
            "smoothing": self.smoothing,
            "voting": str(self.voting),
            "costs": None if self.costs is None else [list(row) for row in self.costs],
            "tree": tree_to_plain(self.tree),
            "working": {
                str(node): [evaluated_split_to_plain(one) for one in self.trace[node]] for node in sorted(self.trace)
            },
        }

    def __str__(self) -> str:
        return self.tree.to_text()


def node_probabilities(tree: Tree, smoothing: Smoothing) -> npt.NDArray[np.float64]:
    """Estimate the class probabilities at every node.

    An empty leaf predicts its class with certainty, as in C4.5, unless smoothing is used.
    """
    classes = len(tree.schema.classes)
    counts = tree.counts.astype(np.float64)
    weight = tree.weight[:, None]
    if smoothing is None:
        certain = np.zeros_like(counts)
        certain[np.arange(tree.n_nodes), tree.outcome] = 1.0
        return np.where(weight > 0, counts / np.where(weight > 0, weight, 1.0), certain)
    counts = np.where(weight > 0, counts, 0.0)
    if smoothing == "laplace":
        laplace: npt.NDArray[np.float64] = (counts + 1.0) / (weight + classes)
        return laplace
    m = float(smoothing)
    prior = counts[0] / weight[0] if tree.weight[0] > 0 else np.full(classes, 1.0 / classes)
    estimated: npt.NDArray[np.float64] = (counts + m * prior) / (weight + m)
    return estimated


FEW_COLUMNS = 16
"""Up to this many columns are compared column by column, more of them row by row."""


def first_maximum(shares: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
    """Return the first column with the largest share, up to rounding error.

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
    best = columns[0].copy()  # by column: looping over many short rows takes ten times as long
    for column in columns[1:]:
        np.maximum(best, column, out=best)
    limit = best - 1e-12 * np.abs(best)
    first = np.zeros(len(shares), dtype=np.intp)
    for code in range(len(columns) - 1, -1, -1):
        first[columns[code] >= limit] = code
    return first


def check_smoothing(smoothing: Smoothing) -> None:
    """Raise `ParameterError` unless smoothing is None, "laplace" or a positive number."""
    if smoothing is None or smoothing == "laplace":
        return
    if isinstance(smoothing, (int, float)) and not isinstance(smoothing, bool) and 0 < smoothing <= LARGEST_M:
        return
    raise ParameterError(
        f"smoothing must be None, 'laplace' or a positive number (the m of the m-estimate), not {smoothing!r}"
    )


def check_costs(costs: tuple[tuple[float, ...], ...], schema: Schema) -> None:
    """Raise `ParameterError` unless there is a finite, non-negative cost for every pair of classes."""
    k = len(schema.classes)
    if schema.task is Task.REGRESSION:
        raise ParameterError("costs are for classes, and this target is a number")
    if len(costs) != k or any(len(row) != k for row in costs):
        raise ParameterError(f"costs must be a table of {k} rows and {k} columns, one for each class")
    if not all(isinstance(cost, (int, float)) and 0 <= cost <= LARGEST_COST for row in costs for cost in row):
        raise ParameterError(f"costs must be numbers from 0 to {LARGEST_COST:g}")


def check_fractional_splits(tree: Tree) -> None:
    """Raise unless Release 8 or J48 could have grown the tree: a classifier whose splits are all fractional."""
    inner = tree.attribute != LEAF
    tests = set(tree.test[inner].tolist())
    if tree.is_regression or TESTS.index(Test.INTERVALS) in tests or np.any(tree.missing[inner] != FRACTIONAL):
        raise ParameterError(
            "this voting needs a classification tree whose splits are all fractional for missing values"
        )
    if np.any(tree.weight > np.finfo(np.float32).max / 2):
        raise ParameterError("this voting needs weights that fit into 32-bit numbers")
