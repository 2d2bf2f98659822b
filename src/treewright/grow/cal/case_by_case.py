"""CAL2 and CAL3 over cases as they are: numbers are put into intervals first, and come back as tests of the numbers.

Vocabulary
----------
first cases
    The cases that the learner was begun with. They fix the columns, the classes and the intervals of numeric columns;
    numbers that come later lie in one of these intervals.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from treewright._base.errors import DataError, SchemaError
from treewright.data.dataset import Dataset
from treewright.data.schema import Schema
from treewright.grow.as_nominal import Bounds, as_nominal, in_intervals, with_intervals
from treewright.grow.cal.learner import CalLearner
from treewright.grow.cal.options import CaseByCaseLearner
from treewright.grow.cal.trace import Run, Step
from treewright.model.notation import to_notation
from treewright.model.tree import Tree


@dataclass(eq=False)
class CaseByCase:
    """A tree that learns case by case, numbers included; made by `begin`.

    Parameters
    ----------
    schema : Schema
        Of the cases, with their numeric columns.
    bounds : dict of int to tuple of float
        Of the intervals of numeric columns.
    learner : CalLearner
        Over the columns with intervals.

    Attributes
    ----------
    run : Run or None
        What came of the last `learn_all`.
    """

    schema: Schema
    bounds: Bounds
    learner: CalLearner
    run: Run | None = field(default=None, init=False)

    @classmethod
    def begin(cls, first: Dataset, options: CaseByCaseLearner, *, keep_trace: bool = False) -> CaseByCase:
        """Return a learner for cases like these; nothing is learned yet.

        Parameters
        ----------
        first : Dataset
            The first cases, with their classes.
        options : CAL2 or CAL3
        keep_trace : bool
            Whether every step is kept, with the whole tree after it.

        Examples
        --------
        >>> from treewright.data.samples import sample
        >>> from treewright.grow.cal.options import CAL2
        >>> learner = CaseByCase.begin(sample("cal2"), CAL2())
        >>> learner.learn_once(sample("cal2").take([0, 2]))
        >>> learner.notation
        'x1(B,*)'
        """
        if first.target is None:
            raise DataError("there is no target to learn from", source=first.source)
        nominal, bounds = as_nominal(first)
        return cls(first.schema, bounds, CalLearner(nominal.schema, options, keep_trace))

    def learn_all(self, dataset: Dataset) -> Run:
        """Present the cases again and again until the learner's end or its limit of steps."""
        self.run = self.learner.learn_all(self._nominal(dataset))
        return self.run

    def learn_once(self, dataset: Dataset) -> None:
        """Present every case once, in order, whatever the limit of steps."""
        if dataset.target is None:
            raise DataError("there is no target to learn from", source=dataset.source)
        columns = [column.tolist() for column in self._nominal(dataset).columns]
        cases = zip(*columns, strict=True) if columns else ((),) * dataset.n_rows
        for codes, class_code in zip(cases, dataset.target.tolist(), strict=True):
            self.learner.learn(codes, class_code)

    def _nominal(self, dataset: Dataset) -> Dataset:
        if dataset.schema.attributes != self.schema.attributes or dataset.schema.classes != self.schema.classes:
            raise SchemaError("these cases have another schema than the first ones", source=dataset.source)
        return in_intervals(dataset, self.bounds)

    @property
    def tree(self) -> Tree:
        """The tree as it is now, with tests of numbers by interval."""
        return with_intervals(self.learner.tree, self.schema, self.bounds) if self.bounds else self.learner.tree

    @property
    def notation(self) -> str:
        """The tree on one line; intervals stand in ascending order, like declared values."""
        return to_notation(self.learner.tree)

    @property
    def trace(self) -> list[Step]:
        """The steps so far, if they are kept."""
        return self.learner.trace
