"""One rule for each leaf of a tree.

A rule has the conditions on the path from the root and the class of the leaf. Leaves that less than one training case
reached give no rule.
"""

from __future__ import annotations

from dataclasses import dataclass

from treewright.model.conditions import Condition
from treewright.model.formula import tree_paths
from treewright.model.tree import Tree

LEAST_WEIGHT = 1.0
"""A leaf that fewer cases reached has nothing behind its class."""


@dataclass(frozen=True, slots=True)
class PathRule:
    """The conditions on the way to a leaf, root first, and the class it says."""

    conditions: tuple[Condition, ...]
    outcome: int


def extract_rules(tree: Tree) -> list[PathRule]:
    """Return the rules of a tree, depth first, branches in order.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright.data.samples import sample
    >>> from treewright.model.build import NodeRecord, build_tree
    >>> from treewright.model.split import Split
    >>> from treewright.model.tree import Stop
    >>> schema = sample("play-tennis").schema
    >>> leaves = [NodeRecord(n, np.array([n, 0]), 0, stop=Stop.PURE) for n in (8, 0)]
    >>> root = NodeRecord(8, np.array([8, 0]), 0, Split.multiway(3, 2), [1, 2])
    >>> tree, _ = build_tree(schema, [root, *leaves])
    >>> [rule.conditions[0].describe(schema) for rule in extract_rules(tree)]
    ['Wind = Weak']
    """
    return [
        PathRule(conditions, int(tree.outcome[leaf]))
        for leaf, conditions in tree_paths(tree)
        if tree.weight[leaf] >= LEAST_WEIGHT
    ]
