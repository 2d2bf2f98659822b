"""The cases on which rules are measured; all have unit weight."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from treewright._base.errors import DataError, ParameterError, SchemaError
from treewright.data.dataset import Dataset
from treewright.model.conditions import ConditionMasks
from treewright.model.tree import Tree


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
