"""Histogram, by class, of the numeric attribute that a node tests, with its thresholds.

All bins are equally wide parts of the range of the values that reach the node.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.errors import ParameterError
from treewright.tree.route import Visits, all_visits
from treewright.tree.split import KNOWN, NUMERIC_TESTS
from treewright.tree.tree import Tree

BINS = 16

BESIDE = 0.15
"""Share of the range that the number at an end takes."""


@dataclass(frozen=True, slots=True)
class NodeHistogram:
    """Histogram of a numeric attribute at one node.

    Parameters
    ----------
    low, high : float
        Range of the values.
    cuts : tuple of float
        The thresholds of the test.
    counts : tuple of tuples
        Bins x classes; for regression there is one column.
    """

    low: float
    high: float
    cuts: tuple[float, ...]
    counts: tuple[tuple[float, ...], ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        return {
            "low": self.low,
            "high": self.high,
            "cuts": list(self.cuts),
            "counts": [list(row) for row in self.counts],
        }

    def share(self, value: float) -> float:
        """Return the position of a value in the range, from 0 to 1.

        Examples
        --------
        >>> NodeHistogram(2.0, 6.0, (3.0,), ((1.0,),)).share(3.0)
        0.25
        """
        half = self.high / 2 - self.low / 2  # the difference itself may overflow
        return min(1.0, max(0.0, (value / 2 - self.low / 2) / half)) if half > 0 else 0.5

    def ends(self) -> tuple[str, str]:
        """Return the labels of both ends of the range; an end close to a cut has none.

        Examples
        --------
        >>> NodeHistogram(2.0, 6.0, (2.25,), ((1.0,),)).ends()
        ('', '6')
        """
        shares = [self.share(cut) for cut in self.cuts]
        low = "" if any(share < BESIDE for share in shares) else f"{self.low:.4g}"
        return low, "" if any(share > 1 - BESIDE for share in shares) else f"{self.high:.4g}"


def node_histograms(tree: Tree, data: Dataset, nodes: Iterable[int], bins: int = BINS) -> dict[int, NodeHistogram]:
    """Return the histogram of every given node that tests a number and is reached by cases with a value.

    Parameters
    ----------
    tree : Tree
    data : Dataset
        Cases, encoded by the schema of the tree; without a target, or with a numeric one, they are not counted by
        class.
    nodes : iterable of int
        Nodes that do not test a number are skipped.
    bins : int

    Examples
    --------
    >>> import numpy as np
    >>> from treewright.data.dataset import Dataset
    >>> from treewright.data.schema import Column, Kind, Schema
    >>> from treewright.learners.recipe import CART
    >>> from treewright.fitting.learn import fit
    >>> schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NOMINAL, ("a", "b"))), target="y")
    >>> data = Dataset(schema, (np.arange(4.0),), 4, np.array([0, 0, 1, 1], dtype=np.int32))
    >>> node_histograms(fit(data, CART()).tree, data, [0], bins=3)[0]
    NodeHistogram(low=0.0, high=3.0, cuts=(1.5,), counts=((1.0, 0.0), (1.0, 0.0), (0.0, 2.0)))
    """
    if bins < 1:
        raise ParameterError(f"a histogram needs at least one bin, not {bins}")
    if data.schema.attributes != tree.schema.attributes:
        raise ParameterError("the data were not encoded by the schema of the tree")
    splits = {node: tree.split(node) for node in nodes}
    shown_nodes = sorted(node for node, split in splits.items() if split is not None and split.test in NUMERIC_TESTS)
    index_of = np.full(tree.n_nodes, -1, dtype=np.intp)
    index_of[shown_nodes] = np.arange(len(shown_nodes))
    low, high = np.full(len(shown_nodes), np.inf), np.full(len(shown_nodes), -np.inf)
    for visits in all_visits(tree, data):
        at, values, _ = _values(tree, data, visits, index_of)
        np.minimum.at(low, at, values)
        np.maximum.at(high, at, values)
    classes = 1 if data.target is None or tree.is_regression else len(tree.schema.classes)
    counts = np.zeros((len(shown_nodes), bins, classes))
    # Halves, because the difference of two large numbers may overflow; that of two tiny ones may underflow to 0.
    reached = high >= low
    half = np.where(reached, high, 0.0) / 2 - np.where(reached, low, 0.0) / 2
    scale = np.where(half > 0, half, 1.0)
    for visits in all_visits(tree, data):
        at, values, chosen = _values(tree, data, visits, index_of)
        shares = (values / 2 - low[at] / 2) / scale[at]
        into = np.minimum((shares * bins).astype(np.intp), bins - 1)
        rows = visits.rows[chosen]
        codes = np.zeros(len(rows), dtype=np.intp)
        if classes > 1 and data.target is not None:
            codes = data.target[rows].astype(np.intp)
        weights = visits.shares[chosen] * (1.0 if data.weights is None else data.weights[rows])
        np.add.at(counts, (at, into, codes), weights)
    found = {}
    for index, node in enumerate(shown_nodes):
        split = splits[node]
        if low[index] <= high[index] and split is not None:
            cuts = split.bounds if split.cut is None else (split.cut,) if split.cut != KNOWN else ()
            table = tuple(tuple(row) for row in counts[index].tolist())
            found[node] = NodeHistogram(float(low[index]), float(high[index]), cuts, table)
    return found


def _values(
    tree: Tree, data: Dataset, visits: Visits, index_of: npt.NDArray[np.intp]
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float64], npt.NDArray[np.intp]]:
    """Return index and value of the visits to the shown nodes, and the indices of these visits."""
    chosen = np.flatnonzero(index_of[visits.nodes] >= 0)
    attributes = tree.attribute[visits.nodes[chosen]]
    values = np.full(len(chosen), np.nan)
    for attribute in np.unique(attributes):
        here = attributes == attribute
        values[here] = data.columns[attribute][visits.rows[chosen[here]]]
    known = ~np.isnan(values)
    chosen = chosen[known]
    return index_of[visits.nodes[chosen]], values[known], chosen
