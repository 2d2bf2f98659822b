"""A learned tree with all that is needed to use it: it takes new cases as they are, and saves itself.

No learner is needed for any of this.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright._base.errors import ParameterError, SchemaError
from treewright.data.dataset import Dataset, labels_of
from treewright.data.encode import Unseen, encode
from treewright.data.frames import raw_table
from treewright.data.raw import RawTable
from treewright.data.schema import Schema
from treewright.model.route import leaf_visits, main_leaves
from treewright.model.tree import Tree
from treewright.model.working import Examined

Smoothing = None | str | float
"""None: plain shares of the leaf; ``"laplace"``; or the m of the m-estimate."""

LARGEST_M = 1e100
"""More makes no difference, and would not survive the arithmetic."""


@dataclass(frozen=True)
class TreeModel:
    """A tree that predicts.

    Parameters
    ----------
    tree : Tree
    recipe : dict
        How it was grown, as plain data.
    provenance : dict
        What it was grown from, as plain data.
    working : dict of int to tuple of Examined
        What was looked at, for the nodes for which that was kept.
    smoothing : None, "laplace" or float
        How class probabilities are estimated from the cases of a leaf.

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
    working: Mapping[int, tuple[Examined, ...]] = field(default_factory=dict)
    smoothing: Smoothing = None

    def __post_init__(self) -> None:
        check_smoothing(self.smoothing)

    @property
    def schema(self) -> Schema:
        """The schema the tree was grown with."""
        return self.tree.schema

    @cached_property
    def classes_(self) -> npt.NDArray[Any]:
        """The classes in declared order: the columns of `predict_proba`."""
        if self.tree.is_regression:
            raise ParameterError("a regression tree has no classes")
        return labels_of(self.schema.target_column)

    def cases(self, data: Any) -> Dataset:
        """Encode new cases: a dataset, a raw table, a dataframe, an array, rows or columns."""
        if isinstance(data, Dataset):
            if data.schema.attributes == self.schema.attributes:
                return data
            data = raw_again(data)
        raw = data if isinstance(data, RawTable) else raw_table(data, names=self._names_for(data))
        return encode(raw, self.schema, unseen=Unseen.MISSING, with_target=False)

    def _names_for(self, data: Any) -> tuple[str, ...] | None:
        """Plain arrays have no names: they are matched by position, so the number must fit."""
        shape = getattr(data, "shape", None)
        if isinstance(data, np.ndarray) and shape is not None and len(shape) == 2:
            names = self.schema.attribute_names
            if shape[1] != len(names):
                raise SchemaError(f"the array has {shape[1]} columns, the model wants {len(names)}: {', '.join(names)}")
            return names
        return self.schema.attribute_names if isinstance(data, (list, tuple)) else None

    @cached_property
    def leaf_probabilities(self) -> npt.NDArray[np.float64]:
        """Class probabilities of every node taken as a leaf, smoothed as the model says."""
        return node_probabilities(self.tree, self.smoothing)

    def predict_proba(self, data: Any) -> npt.NDArray[np.float64]:
        """Return the probability of each class, columns in the order of `classes_`."""
        if self.tree.is_regression:
            raise ParameterError("a regression tree has no class probabilities")
        return self._mixed(self.cases(data), self.leaf_probabilities)

    def predict(self, data: Any) -> npt.NDArray[Any]:
        """Return the predicted class label or number of each case."""
        cases = self.cases(data)
        if self.tree.is_regression:
            return self._mixed(cases, self.tree.outcome.astype(np.float64).reshape(-1, 1))[:, 0]
        return self.classes_[self.predict_codes(cases)]

    def predict_codes(self, cases: Dataset) -> npt.NDArray[np.intp]:
        """Return class indices in declared order (ties to the first).

        A whole case takes the outcome of its leaf; a divided one the class of the greatest mixed share. Smoothing
        changes probabilities, not the class of a leaf.
        """
        shares = self._mixed(cases, node_probabilities(self.tree, None))
        return first_of_best(shares)

    def apply(self, data: Any) -> npt.NDArray[np.int32]:
        """Return the leaf of each case (the one that gets most of it)."""
        return main_leaves(self.tree, self.cases(data))

    def _mixed(self, cases: Dataset, of_node: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Mix what the leaves say by the share of the case that reaches them."""
        result = np.zeros((cases.n_rows, of_node.shape[1]))
        total = np.zeros(cases.n_rows)
        for visits in leaf_visits(self.tree, cases):
            np.add.at(result, visits.rows, of_node[visits.nodes] * visits.shares[:, None])
            np.add.at(total, visits.rows, visits.shares)
        return result / np.where(total > 0, total, 1.0)[:, None]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model as JSON; see `treewright.load`."""
        from treewright.model.format import save_model

        save_model(self, path)

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


def first_of_best(shares: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
    """Return the first column whose share is the largest, sums of roundings apart.

    Examples
    --------
    >>> first_of_best(np.array([[0.1 + 0.2, 0.3], [0.2, 0.8]])).tolist()
    [0, 1]
    """
    best = shares.max(axis=1, keepdims=True)
    first: npt.NDArray[np.intp] = np.argmax(shares >= best * (1 - 1e-12), axis=1)
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


def raw_again(data: Dataset) -> RawTable:
    """Decode a dataset, to be encoded by another schema."""
    return raw_table({name: data.column(name) for name in data.schema.attribute_names})
