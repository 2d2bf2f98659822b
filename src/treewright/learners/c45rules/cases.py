"""The inputs of C4.5rules: the paths of a tree, and the cases on which rules are measured.

Each leaf of a tree gives a rule with the conditions on its path and its class, except leaves that less than one
training case reached. The cases have unit weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.errors import DataError, ParameterError, SchemaError
from treewright.tree.formula import Condition, ConditionMasks, tree_paths
from treewright.tree.tree import Tree


class RuleCases:
    """A dataset with its classes, and the cases that satisfy each condition.

    Case weights are ignored: the counts of a rule are numbers of cases.
    """

    def __init__(self, dataset: Dataset) -> None:
        if dataset.target is None:
            raise DataError("rules need cases with known classes", source=dataset.source)
        if dataset.n_rows == 0:
            raise DataError("rules need at least one case", source=dataset.source)
        self.dataset = dataset
        self.masks = ConditionMasks(dataset)
        self.classes: npt.NDArray[np.int32] = np.asarray(dataset.target, dtype=np.int32)

    @property
    def n(self) -> int:
        """Number of cases."""
        return self.dataset.n_rows

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.dataset.schema.classes)

    @cached_property
    def class_counts(self) -> npt.NDArray[np.int64]:
        """Number of cases of each class."""
        return np.bincount(self.classes, minlength=self.n_classes)


def cases_for(tree: Tree, dataset: Dataset) -> RuleCases:
    """Return the cases, after checking that tree and data have the same schema and a nominal target."""
    if tree.is_regression:
        raise ParameterError("rules predict classes; a regression tree predicts numbers")
    same = dataset.schema.attributes == tree.schema.attributes and dataset.schema.target == tree.schema.target
    if not same or dataset.schema.classes != tree.schema.classes:
        raise SchemaError("the data do not have the attributes and classes of the tree", source=dataset.source)
    return RuleCases(dataset)


LEAST_WEIGHT = 1.0
"""A leaf with less weight than this gives no rule."""


@dataclass(frozen=True, slots=True)
class PathRule:
    """The conditions on the path to a leaf, root first, and the class it predicts."""

    conditions: tuple[Condition, ...]
    outcome: int


def extract_rules(tree: Tree) -> list[PathRule]:
    """Return the rules of a tree, depth first, branches in order.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright.data.samples import sample
    >>> from treewright.tree.build import NodeRecord, build_tree
    >>> from treewright.tree.split import Split
    >>> from treewright.tree.tree import Stop
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
