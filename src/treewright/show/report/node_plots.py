"""Histograms of the numbers that nodes test, for the panel: where the cases lie, and where the cut is."""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.data.dataset import Dataset
from treewright.model.tree import Tree
from treewright.show.histogram import node_histograms
from treewright.show.report.quality import sampled
from treewright.show.report.tree_arrays import short, short_number

MOST_ROWS = 50_000
"""Rows that are looked at; of more a sample is taken."""

MOST_NODES = 150
"""Nodes that have a histogram, the upper ones first."""

MOST_CLASSES = 12
"""With more classes the bars are not divided by class."""


def node_plots(tree: Tree, data: Dataset) -> dict[str, Any]:
    """Return low and high end, cuts and counts (bins x classes) by node.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright.data.schema import Column, Kind, Schema
    >>> from treewright.learn import fit
    >>> from treewright.plans import c45
    >>> schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NOMINAL, ("a", "b"))), target="y")
    >>> data = Dataset(schema, (np.arange(8.0),), 8, np.repeat([0, 1], 4).astype(np.int32))
    >>> low, high, cuts, counts = node_plots(fit(data, c45()).tree, data)["0"]
    >>> low, high, cuts, counts[0], counts[-1]
    (0, 7, [3.0], [1, 0], [0, 1])
    """
    nodes = np.argsort(tree.depths, kind="stable")[:MOST_NODES].tolist()
    found = node_histograms(tree, sampled(data, MOST_ROWS, 0), nodes)
    apart = len(data.schema.classes) <= MOST_CLASSES
    return {
        str(node): [
            short_number(one.low),
            short_number(one.high),
            list(one.cuts),
            [short(row if apart else [sum(row)]) for row in one.counts],
        ]
        for node, one in found.items()
    }
