"""How much each attribute lowers the impurity, over all its tests (mean decrease of impurity)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from treewright.grow.criteria import total_entropy, total_gini
from treewright.model.tree import LEAF, Tree


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
    >>> from treewright.grow.recipe import ID3
    >>> from treewright.learn import fit
    >>> impurity_importance(fit(sample("play-tennis"), ID3()).tree, "gain").round(3).tolist()
    [0.262, 0.0, 0.369, 0.369]
    """
    if tree.sse is not None:
        total = tree.sse
    else:
        total = total_gini(tree.counts) if criterion == "gini" else total_entropy(tree.counts)
        total = np.where(tree.weight > 0, total, 0.0)
    importance = np.zeros(len(tree.schema.attributes))
    for node in np.flatnonzero(tree.attribute != LEAF).tolist():
        fall = total[node] - total[tree.children_of(node)].sum()
        importance[tree.attribute[node]] += max(float(fall), 0.0)
    everything = importance.sum()
    return importance / everything if everything > 0 else importance
