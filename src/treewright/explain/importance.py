"""How much each attribute lowers the impurity, over all its tests (mean decrease of impurity)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from treewright.grow.criteria import total_entropy, total_gini
from treewright.model.forest import Forest
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
    inner = np.flatnonzero(tree.attribute != LEAF)
    below = np.bincount(
        np.repeat(np.arange(tree.n_nodes), np.diff(tree.child_start)), total[tree.children], tree.n_nodes
    )
    falls = np.maximum(total[inner] - below[inner], 0.0)
    importance = np.bincount(tree.attribute[inner], falls, len(tree.schema.attributes)).astype(np.float64)
    everything = importance.sum()
    return importance / everything if everything > 0 else importance


def forest_importance(forest: Forest, criterion: str) -> npt.NDArray[np.float64]:
    """Return the mean over the trees of their shares, by the weight of their answers; they sum to one again.

    Trees that are a single leaf do not count.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.ensemble.plan import bagging
    >>> from treewright.learn import fit
    >>> forest = fit(sample("play-tennis"), bagging(trees=20))
    >>> float(forest_importance(forest, "gain").sum().round(6))
    1.0
    """
    importance = np.zeros(len(forest.schema.attributes))
    for tree, weight in zip(forest.trees, forest.weights.tolist(), strict=True):
        importance += weight * impurity_importance(tree, criterion)
    everything = importance.sum()
    return importance / everything if everything > 0 else importance
