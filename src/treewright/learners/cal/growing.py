"""CAL2 and CAL3 (Unger and Wysotzki 1981): trees that grow while the cases come one at a time.

CAL2, for classes that do not overlap: an open leaf takes the class of the case. A leaf whose class differs from that of
the case is replaced by a split on the next attribute; the branch of the case gets its class, the others are open.

CAL3, for classes that overlap: a leaf counts classes. After `s1` cases it is closed with the class whose share is at
least `s2`; if there is none, it is replaced as above, and the branch of the case starts its counters with this case.

The papers leave some points open. Here they are defined as follows.

exhausted
    A leaf that would be replaced when no attribute is left keeps counting and predicts the majority of its counters. In
    CAL3 later cases can still close it.
majority
    The largest counter; of equal ones the first class in class order.
open leaf at prediction
    Predicts the majority of its counters; without counts, that of its parent.
missing value
    A case is skipped, and counted nowhere, if its value is missing or unknown where it is needed: to go down, or to be
    the first case of a new branch. In prediction such a case stays at the node, which predicts its majority.
error
    In CAL2, a case that reaches a leaf of another class. An open leaf has no class, so it makes no error.
end
    CAL2: a pass without error. CAL3: a pass that neither counted, nor closed, nor replaced anything. Cases at exhausted
    leaves do not prevent the end: only counters can change there, and `Run.ended` reports it. Both always end, also
    without `max_steps`: every further pass brings one of finitely many leaves closer to its end.

Invariants: every node counts the cases that reach it or a node below it; a closed leaf counts no more. So a node has
counted at least as many cases of each class as its branches. Nodes refer to one another by index, and nothing recurses.

`CaseByCase` applies CAL2 and CAL3 to data with numeric attributes: it discretises them first, and the finished tree
tests the numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import index

import numpy as np

from treewright.data.dataset import Dataset
from treewright.data.schema import Schema, Task
from treewright.errors import DataError, ParameterError, SchemaError
from treewright.learners.cal.options import CaseByCaseLearner
from treewright.learners.cal.trace import Ended, Event, Run, Step
from treewright.learners.discretise import Bounds, as_nominal, in_intervals, with_intervals
from treewright.tree.build import NodeRecord, build_tree
from treewright.tree.notation import to_notation
from treewright.tree.split import STAY, Split
from treewright.tree.tree import Stop, Tree
from treewright.wording import quoted_list

ROWS_AT_ONCE = 4096
"""Rows of a data set that are converted to Python numbers at a time."""


_STOP_AFTER = {
    Event.PUT: Stop.PURE,
    Event.NOTHING: Stop.PURE,
    Event.COUNTED: Stop.OPEN,
    Event.CLOSED: Stop.CLOSED,
    Event.EXHAUSTED: Stop.NO_ATTRIBUTES,
}
"""The stop reason of a leaf after a case reached it."""


@dataclass(slots=True)
class _Node:
    """A node while learning: its counters and, once it is split, the branches that a case has reached."""

    counts: list[int]
    stop: Stop = Stop.OPEN
    closed: bool = False
    branches: dict[int, int] | None = None


@dataclass(eq=False)
class CalLearner:
    """A tree that learns case by case.

    Parameters
    ----------
    schema : Schema
        Nominal or ordinal attributes, and classes as the target.
    options : CAL2 or CAL3
    keep_trace : bool, default False
        Keep every step in `trace`, with the whole tree after it; for small data.

    Attributes
    ----------
    trace : list of Step
    steps : int
        Cases presented so far.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.cal.options import CAL3
    >>> learner = CalLearner(sample("cal3").schema, CAL3(s1=4, s2=0.7))
    >>> learner.learn_all(sample("cal3"))
    Run(ended=<Ended.NO_CHANGE: 'a pass that changed nothing'>, passes=7, steps=35, skipped=0)
    >>> to_notation(learner.tree)
    'x1(A,x2(B,A))'
    """

    schema: Schema
    options: CaseByCaseLearner
    keep_trace: bool = False
    trace: list[Step] = field(default_factory=list, init=False, repr=False)
    steps: int = field(default=0, init=False, repr=False)

    def __post_init__(self) -> None:
        _check_schema(self.schema, self.options.title)
        attributes = self.schema.attributes
        self._n_classes = len(self.schema.classes)
        self._n_values = [len(column.values) for column in attributes]
        self._order = [attribute for attribute, values in enumerate(self._n_values) if values >= 2]
        self._nodes = [self._new_node()]

    # -- learning ----------------------------------------------------------------------------------------------------

    def learn(self, codes: Sequence[int], class_code: int) -> Step:
        """Learn from one case.

        Parameters
        ----------
        codes : sequence of int
            Index of the category for each attribute of the schema; any other number means missing.
        class_code : int
            Index of the class, in class order.

        Returns
        -------
        Step
            The effect of the case.

        Examples
        --------
        >>> from treewright.data.samples import sample
        >>> from treewright.learners.cal.options import CAL2
        >>> learner = CalLearner(sample("cal2").schema, CAL2(), keep_trace=True)
        >>> for codes, class_code in (((0, 0, 1), 0), ((0, 1, 4), 1)):
        ...     print(learner.learn(codes, class_code))
        1. case 1, at the root (A 1): put class -> A
        2. case 2, at the root (A 1, B 1): split -> x1(B,*)
        """
        try:
            values, own = [index(code) for code in codes], index(class_code)
        except TypeError as error:
            raise ParameterError(f"a case is given by whole numbers, the codes of its values: {error}") from error
        if len(values) != len(self._n_values):
            raise ParameterError(f"a case has {len(self._n_values)} values, one for each attribute, not {len(values)}")
        if not 0 <= own < self._n_classes:
            raise ParameterError(f"class code {own} must be one of 0 to {self._n_classes - 1}")
        event, path = self._present(values, own)
        return self._step(values, path, event, self.steps)

    def learn_all(self, dataset: Dataset) -> Run:
        """Present the cases of a data set in order, pass after pass, until the learner ends or reaches the limit.

        Learning continues from the present tree.

        Parameters
        ----------
        dataset : Dataset
            With the attributes and classes of the learner, and without weights.

        Returns
        -------
        Run
            Why it ended, with the numbers of passes, steps and skipped cases.
        """
        target = self._checked_target(dataset)
        skipped = np.zeros(dataset.n_rows, dtype=np.bool_)
        first = self.steps
        limit = self.options.max_steps
        passes = 0
        while True:
            events: set[Event] = set()
            for row, codes in _rows(dataset):
                if limit is not None and self.steps - first >= limit:
                    return Run(Ended.LIMIT, passes, self.steps - first, int(skipped.sum()))
                event, path = self._present(codes, int(target[row]))
                events.add(event)
                skipped[row] |= event is Event.SKIPPED
                if self.keep_trace:
                    self._step(codes, path, event, row + 1)
            passes += 1
            if not events & self.options.another_pass:
                ended = Ended.EXHAUSTED if Event.EXHAUSTED in events else self.options.ended
                return Run(ended, passes, self.steps - first, int(skipped.sum()))

    def _checked_target(self, dataset: Dataset) -> Sequence[int]:
        name = self.options.title
        if dataset.n_rows == 0:
            raise DataError("there are no rows to learn from", source=dataset.source)
        if dataset.target is None:
            raise DataError("there is no target to learn from", source=dataset.source)
        if dataset.weights is not None and np.any(dataset.weights != 1):
            raise DataError(f"{name} learns from one whole case at a time; weights must be 1", source=dataset.source)
        same = dataset.schema.attributes == self.schema.attributes
        if not same or dataset.schema.classes != self.schema.classes:
            raise SchemaError(f"the data were read with another schema than that of {name}", source=dataset.source)
        target: list[int] = dataset.target.tolist()
        return target

    def _present(self, codes: Sequence[int], class_code: int) -> tuple[Event, list[int]]:
        """Learn from a case; return the event and the nodes on its path."""
        self.steps += 1
        path = self._path(codes)
        leaf = self._nodes[path[-1]]
        if leaf.branches is not None:
            return Event.SKIPPED, path
        event = Event.NOTHING
        if not leaf.closed:
            after = leaf.counts.copy()
            after[class_code] += 1
            event = self._possible(self.options.leaf_event(after, class_code), codes, depth=len(path) - 1)
            if event is Event.SKIPPED:
                return event, path
            leaf.counts = after
            if event is Event.SPLIT:
                self._replace_by_split(leaf, codes[self._order[len(path) - 1]], class_code)
            else:
                leaf.stop, leaf.closed = _STOP_AFTER[event], event is Event.CLOSED
        for number in path[:-1]:
            self._nodes[number].counts[class_code] += 1
        return event, path

    def _path(self, codes: Sequence[int]) -> list[int]:
        """Return the nodes from the root to a leaf, or to the node whose tested value is missing."""
        path = [0]
        for attribute in self._order:
            branches = self._nodes[path[-1]].branches
            if branches is None or not self._has_value(codes, attribute):
                break
            if codes[attribute] not in branches:
                branches[codes[attribute]] = len(self._nodes)
                self._nodes.append(self._new_node())
            path.append(branches[codes[attribute]])
        return path

    def _possible(self, event: Event, codes: Sequence[int], depth: int) -> Event:
        """Return the event, replaced if it is a split without an attribute or without a branch for its case."""
        if event is not Event.SPLIT:
            return event
        if depth == len(self._order):
            return Event.EXHAUSTED
        return event if self._has_value(codes, self._order[depth]) else Event.SKIPPED

    def _replace_by_split(self, leaf: _Node, value: int, class_code: int) -> None:
        own = self._new_node()
        own.counts[class_code] = 1
        # CAL2's new leaf has the class, CAL3's has a counter of one: the options decide.
        own.stop = _STOP_AFTER[self.options.leaf_event(own.counts, class_code)]
        leaf.branches = {value: len(self._nodes)}
        self._nodes.append(own)

    def _has_value(self, codes: Sequence[int], attribute: int) -> bool:
        return 0 <= codes[attribute] < self._n_values[attribute]

    def _new_node(self) -> _Node:
        return _Node([0] * self._n_classes)

    # -- reports -----------------------------------------------------------------------------------------------------

    def _step(self, codes: Sequence[int], path: list[int], event: Event, case: int) -> Step:
        attributes = [self.schema.attributes[attribute] for attribute in self._order[: len(path) - 1]]
        values = [codes[attribute] for attribute in self._order[: len(path) - 1]]
        step = Step(
            number=self.steps,
            case=case,
            path=tuple((column.name, column.values[value]) for column, value in zip(attributes, values, strict=True)),
            event=event,
            counts=tuple(
                (name, count)
                for name, count in zip(self.schema.classes, self._nodes[path[-1]].counts, strict=True)
                if count
            ),
            notation=to_notation(self.tree) if self.keep_trace else None,
        )
        if self.keep_trace:
            self.trace.append(step)
        return step

    @property
    def tree(self) -> Tree:
        """The present tree; later learning does not change it.

        Weight and counts of a node are the cases it has counted, over all passes. Open leaves stop as `Stop.OPEN`,
        leaves with a class as `Stop.PURE`, exhausted ones as `Stop.NO_ATTRIBUTES`.
        """
        records = [self._record(0, above=0)]
        waiting = [(0, 0, 0)]  # index of the node, index of its record, depth
        while waiting:
            number, index, depth = waiting.pop()
            branches = self._nodes[number].branches
            if branches is None:
                continue
            record, attribute = records[index], self._order[depth]
            record.split = Split.multiway(attribute, self._n_values[attribute], STAY)
            record.stop = None
            for value in range(self._n_values[attribute]):
                record.children.append(len(records))
                if value in branches:
                    waiting.append((branches[value], len(records), depth + 1))
                records.append(self._record(branches.get(value), above=int(record.outcome)))
        return build_tree(self.schema, records)[0]

    def _record(self, number: int | None, above: int) -> NodeRecord:
        node = self._new_node() if number is None else self._nodes[number]
        counts = np.array(node.counts, dtype=np.int64)
        weight = float(counts.sum())
        return NodeRecord(weight, counts, int(np.argmax(counts)) if weight else above, stop=node.stop)


# -- checks ----------------------------------------------------------------------------------------------------------


def _check_schema(schema: Schema, name: str) -> None:
    if schema.task is Task.REGRESSION:
        raise SchemaError(f"{name} learns classes; this target is numeric", column=schema.target)
    if not schema.classes:
        raise SchemaError("the target declares no classes", column=schema.target)
    numeric = [column.name for column in schema.attributes if column.is_numeric]
    if numeric:
        raise SchemaError(f"{name} tests nominal attributes only; declare as nominal, or cut: {quoted_list(numeric)}")


def _rows(dataset: Dataset) -> Iterator[tuple[int, Sequence[int]]]:
    """Yield the index and the codes of every row, converted in batches to save memory."""
    for start in range(0, dataset.n_rows, ROWS_AT_ONCE):
        stop = min(start + ROWS_AT_ONCE, dataset.n_rows)
        columns = [column[start:stop].tolist() for column in dataset.columns]
        cases = zip(*columns, strict=True) if columns else ((),) * (stop - start)
        yield from enumerate(cases, start)


@dataclass(eq=False)
class CaseByCase:
    """A tree that learns case by case, numbers included; made by `begin`.

    Parameters
    ----------
    schema : Schema
        Of the cases, including the numeric columns.
    bounds : dict of int to tuple of float
        Bounds of the intervals of numeric columns.
    learner : CalLearner
        Over the columns with intervals.

    Attributes
    ----------
    run : Run or None
        The result of the last `learn_all`.
    """

    schema: Schema
    bounds: Bounds
    learner: CalLearner
    run: Run | None = field(default=None, init=False)

    @classmethod
    def begin(cls, first: Dataset, options: CaseByCaseLearner, *, keep_trace: bool = False) -> CaseByCase:
        """Return a learner for cases like these, before the first case.

        Parameters
        ----------
        first : Dataset
            The first cases, with their classes.
        options : CAL2 or CAL3
        keep_trace : bool
            Keep every step, with the whole tree after it.

        Examples
        --------
        >>> from treewright.data.samples import sample
        >>> from treewright.learners.cal.options import CAL2
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
        """Present the cases, pass after pass, until the learner ends or reaches its limit of steps."""
        self.run = self.learner.learn_all(self._nominal(dataset))
        return self.run

    def learn_once(self, dataset: Dataset) -> None:
        """Present every case once, in order, regardless of the limit of steps."""
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
        """The present tree, with interval tests of numeric attributes."""
        return with_intervals(self.learner.tree, self.schema, self.bounds) if self.bounds else self.learner.tree

    @property
    def notation(self) -> str:
        """The tree on one line; intervals are in ascending order, like categories."""
        return to_notation(self.learner.tree)

    @property
    def trace(self) -> list[Step]:
        """The steps so far, if they are kept."""
        return self.learner.trace
