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
"""Share of the range that the number at its end needs."""


@dataclass(frozen=True, slots=True)
class NodeHistogram:
    """Cases along a number.

    Parameters
    ----------
    low, high : float
        Range of the values.
    cuts : tuple of float
        Where the test divides them.
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
        """Return where a value lies in the range, from 0 to 1.

        Examples
        --------
        >>> Histogram(2.0, 6.0, (3.0,), ((1.0,),)).share(3.0)
        0.25
        """
        half = self.high / 2 - self.low / 2  # the difference itself may be too large for a number
        return min(1.0, max(0.0, (value / 2 - self.low / 2) / half)) if half > 0 else 0.5

    def ends(self) -> tuple[str, str]:
        """Return the ends of the range as they are printed below it; one that is beside a cut makes room for its mark.

        Examples
        --------
        >>> Histogram(2.0, 6.0, (2.25,), ((1.0,),)).ends()
        ('', '6')
        """
        shares = [self.share(cut) for cut in self.cuts]
        low = "" if any(share < BESIDE for share in shares) else f"{self.low:.4g}"
        return low, "" if any(share > 1 - BESIDE for share in shares) else f"{self.high:.4g}"


def node_histograms(tree: Tree, data: Dataset, nodes: Iterable[int], bins: int = BINS) -> dict[int, NodeHistogram]:
    """Return the histogram of every given node that divides a number and that cases with a value reach.

    Parameters
    ----------
    tree : Tree
    data : Dataset
        Cases, encoded by the schema of the tree; without a target, or with a number as target, they are not told
        apart by class.
    nodes : iterable of int
        Others than tests of a number are passed over.
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
    Histogram(low=0.0, high=3.0, cuts=(1.5,), counts=((1.0, 0.0), (1.0, 0.0), (0.0, 2.0)))
    """
    if bins < 1:
        raise ParameterError(f"a histogram needs at least one bin, not {bins}")
    if data.schema.attributes != tree.schema.attributes:
        raise ParameterError("the data were not encoded by the schema of the tree")
    splits = {node: tree.split(node) for node in nodes}
    wanted = sorted(node for node, split in splits.items() if split is not None and split.test in NUMERIC_TESTS)
    places = np.full(tree.n_nodes, -1, dtype=np.intp)
    places[wanted] = np.arange(len(wanted))
    low, high = np.full(len(wanted), np.inf), np.full(len(wanted), -np.inf)
    for visits in all_visits(tree, data):
        at, values, _ = _values(tree, data, visits, places)
        np.minimum.at(low, at, values)
        np.maximum.at(high, at, values)
    classes = 1 if data.target is None or tree.is_regression else len(tree.schema.classes)
    counts = np.zeros((len(wanted), bins, classes))
    # Halves, because the difference of two large numbers may be none; that of two tiny ones may be nothing.
    reached = high >= low
    half = np.where(reached, high, 0.0) / 2 - np.where(reached, low, 0.0) / 2
    scale = np.where(half > 0, half, 1.0)
    for visits in all_visits(tree, data):
        at, values, chosen = _values(tree, data, visits, places)
        shares = (values / 2 - low[at] / 2) / scale[at]
        into = np.minimum((shares * bins).astype(np.intp), bins - 1)
        rows = visits.rows[chosen]
        codes = np.zeros(len(rows), dtype=np.intp)
        if classes > 1 and data.target is not None:
            codes = data.target[rows].astype(np.intp)
        weights = visits.shares[chosen] * (1.0 if data.weights is None else data.weights[rows])
        np.add.at(counts, (at, into, codes), weights)
    found = {}
    for place, node in enumerate(wanted):
        split = splits[node]
        if low[place] <= high[place] and split is not None:
            cuts = split.bounds if split.cut is None else (split.cut,) if split.cut != KNOWN else ()
            table = tuple(tuple(row) for row in counts[place].tolist())
            found[node] = NodeHistogram(float(low[place]), float(high[place]), cuts, table)
    return found


def _values(
    tree: Tree, data: Dataset, visits: Visits, places: npt.NDArray[np.intp]
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float64], npt.NDArray[np.intp]]:
    """Return place and value of the visits to the nodes that are wanted, and which visits these are."""
    chosen = np.flatnonzero(places[visits.nodes] >= 0)
    attributes = tree.attribute[visits.nodes[chosen]]
    values = np.full(len(chosen), np.nan)
    for attribute in np.unique(attributes):
        here = attributes == attribute
        values[here] = data.columns[attribute][visits.rows[chosen[here]]]
    known = ~np.isnan(values)
    chosen = chosen[known]
    return places[visits.nodes[chosen]], values[known], chosen
