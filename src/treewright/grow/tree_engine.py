"""Counting for the nodes of a finished tree: cases go where the tree sends them, also by its surrogates."""

from __future__ import annotations

import numpy as np

from treewright.counts.memory import MemoryEngine, _Cases
from treewright.data.dataset import Dataset
from treewright.model.split import STAY, Split
from treewright.model.tree import LEAF, Tree


class TreeEngine(MemoryEngine):
    """An engine that divides cases as a certain tree does.

    Cases without a value follow the surrogates of the test, then its default; those that no branch takes are in none.

    Parameters
    ----------
    dataset : Dataset
    tree : Tree
        Nodes have to be divided by its tests.
    """

    def __init__(self, dataset: Dataset, tree: Tree) -> None:
        super().__init__(dataset)
        self._tree = tree
        self._place: dict[int, int] = {}

    def root(self) -> int:
        """Open the node of all cases."""
        node = super().root()
        self._place[node] = 0
        return node

    def divide(self, node: int, split: Split) -> list[int]:
        """Close a node and open one for each branch."""
        place, cases = self._place.pop(node), self._open[node]
        rows = self._order[cases.rows]
        columns = self._dataset.columns
        branches = split.route(columns[split.attribute][rows])
        for surrogate in self._tree.surrogates.get(place, ()):
            lost = np.flatnonzero(branches < 0)
            branches[lost] = surrogate.route(columns[surrogate.split.attribute][rows[lost]])
        branches = np.where(branches < 0, split.missing, branches)
        self.close(node)
        children = [self._opened(_Cases(cases.rows[branches == branch], None)) for branch in range(split.n_branches)]
        self._place.update(zip(children, self._tree.children_of(place).tolist(), strict=True))
        return children


def engine_for(dataset: Dataset, tree: Tree, *, fractional: bool) -> MemoryEngine:
    """Return the engine that divides the cases as a tree did which was grown from them.

    Parameters
    ----------
    dataset : Dataset
    tree : Tree
    fractional : bool
        As in `MemoryEngine`; a tree with surrogates divides no case.
    """
    if tree.surrogates or np.any(tree.missing[tree.attribute != LEAF] == STAY):
        return TreeEngine(dataset, tree)
    return MemoryEngine(dataset, fractional=fractional)
