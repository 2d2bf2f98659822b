"""The split: the test at a node, and the trace of the splits that were evaluated there.

The split: one test of one attribute, the same type for every learner. A case with a missing value goes down every
branch in proportion (`FRACTIONAL`), down one default branch, or stays at the node (`STAY`). A value that belongs to no
branch is treated as missing. The default branch of a subset or intervals test may be a branch that no known value
takes.

Invariants: a split is validated at construction, and equality with a threshold or bound goes to the lower side.

The split trace: for each node, the frequency table and the status of every attribute that was evaluated. Only counts
and statuses are stored, never derived numbers. Explanations compute gains and entropies from the counts, with the same
result on every machine. The score of a user-defined criterion is stored, because it cannot be recomputed.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.data.schema import Column
from treewright.errors import ParameterError
from treewright.wording import printable

FRACTIONAL = -1
"""A case with a missing value goes down every branch, in proportion to the weight of the branch."""

STAY = -2
"""A case with a missing value stays at the node, which predicts as if it were a leaf."""

KNOWN = float(np.finfo(np.float64).max)
"""The largest double. A threshold here separates known values (left) from missing ones (right)."""

Branches = npt.NDArray[np.int32]
Label = str | tuple[str, ...] | int


class Test(StrEnum):
    """The form of a split.

    ``threshold``: ``x <= cut`` goes to branch 0, ``x > cut`` to branch 1. ``nominal``: one branch per category.
    ``subset``: each branch takes a set of categories. ``equals``: one category goes to branch 0, all others to
    branch 1. ``intervals``: a number goes to the branch of its interval; a bound belongs to the interval below it.
    """

    __test__ = False  # not a test class for pytest

    THRESHOLD = "threshold"
    NOMINAL = "nominal"
    SUBSET = "subset"
    EQUALS = "equals"
    INTERVALS = "intervals"


NUMERIC_TESTS = frozenset({Test.THRESHOLD, Test.INTERVALS})


@dataclass(frozen=True, slots=True)
class Split:
    """A test of one attribute, made by the constructors below.

    Parameters
    ----------
    attribute : int
        Index among the attributes of the schema.
    test : Test
    n_branches : int
    missing : int
        `FRACTIONAL`, `STAY`, or the default branch: the one that cases with a missing value take.
    cut : float or None
        The threshold, for a threshold test.
    branch_of : tuple of int
        For tests of categories: the branch of each category, -1 for none.
    bounds : tuple of float
        For intervals: the inner bounds, ascending.

    Examples
    --------
    >>> Split.threshold(0, 2.5).route(np.array([2.0, 2.5, 3.0, np.nan])).tolist()
    [0, 0, 1, -1]
    >>> Split.subsets(1, (0, 1, 0)).route(np.array([2, 1, -1])).tolist()
    [0, 1, -1]
    """

    attribute: int
    test: Test
    n_branches: int
    missing: int = FRACTIONAL
    cut: float | None = None
    branch_of: tuple[int, ...] = ()
    bounds: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.attribute < 0:
            raise ParameterError(f"attribute index {self.attribute} is negative")
        if self.n_branches < 2:
            raise ParameterError(f"a split needs at least two branches, not {self.n_branches}")
        if not STAY <= self.missing < self.n_branches:
            raise ParameterError(f"missing values cannot go to branch {self.missing} of {self.n_branches}")
        if (self.cut is not None) != (self.test is Test.THRESHOLD):
            raise ParameterError("a threshold has a cut, and nothing else has one")
        if self.cut is not None and not math.isfinite(self.cut):
            raise ParameterError(f"cut {self.cut} is not finite")
        if bool(self.bounds) != (self.test is Test.INTERVALS):
            raise ParameterError("intervals have bounds, and nothing else has them")
        if bool(self.branch_of) == (self.test in NUMERIC_TESTS):
            raise ParameterError("a test of a nominal attribute gives the branch of each value; no other test does")
        if self.bounds:
            own_branch = self.missing == self.n_branches - 1
            if self.n_branches != len(self.bounds) + 1 and not (own_branch and self.n_branches == len(self.bounds) + 2):
                raise ParameterError(f"{len(self.bounds)} bounds do not make {self.n_branches} intervals")
            if not all(math.isfinite(bound) for bound in self.bounds):
                raise ParameterError("a bound is not finite")
            if any(low >= high for low, high in zip(self.bounds, self.bounds[1:], strict=False)):
                raise ParameterError("the bounds do not ascend")
        if self.branch_of:
            if self.n_branches > len(self.branch_of) + 1:  # checked before anything of that size is allocated
                raise ParameterError(f"{len(self.branch_of)} values do not fill {self.n_branches} branches")
            if not all(-1 <= branch < self.n_branches for branch in self.branch_of):
                raise ParameterError(f"a value goes to a branch outside 0..{self.n_branches - 1}")
            if self.test is Test.NOMINAL and self.branch_of != tuple(range(self.n_branches)):
                raise ParameterError("a nominal test has one branch for each value, in order")
            if self.test is Test.EQUALS and (self.branch_of.count(0) != 1 or -1 in self.branch_of):
                raise ParameterError("an equals test has one value on the left and all others on the right")
            if self.test is Test.SUBSET and set(range(self.n_branches)) - {self.missing} - set(self.branch_of):
                raise ParameterError("a branch of a subset test has no value")
        if self.test in {Test.THRESHOLD, Test.EQUALS} and self.n_branches != 2:
            raise ParameterError(f"a {self.test} test has two branches, not {self.n_branches}")

    @classmethod
    def threshold(cls, attribute: int, cut: float, missing: int = FRACTIONAL) -> Split:
        """``x <= cut`` against ``x > cut``."""
        return cls(attribute, Test.THRESHOLD, 2, missing, cut=float(cut))

    @classmethod
    def multiway(cls, attribute: int, n_values: int, missing: int = FRACTIONAL) -> Split:
        """One branch for each category."""
        return cls(attribute, Test.NOMINAL, n_values, missing, branch_of=tuple(range(n_values)))

    @classmethod
    def subsets(cls, attribute: int, branch_of: Sequence[int], missing: int = FRACTIONAL) -> Split:
        """Assign each category to a branch; -1 treats a category as missing."""
        branches = tuple(int(branch) for branch in branch_of)
        return cls(attribute, Test.SUBSET, max(*branches, missing) + 1, missing, branch_of=branches)

    @classmethod
    def equals(cls, attribute: int, value: int, n_values: int, missing: int = FRACTIONAL) -> Split:
        """One category against all others."""
        branch_of = tuple(0 if code == value else 1 for code in range(n_values))
        return cls(attribute, Test.EQUALS, 2, missing, branch_of=branch_of)

    @classmethod
    def intervals(cls, attribute: int, bounds: Sequence[float], missing: int = FRACTIONAL) -> Split:
        """One branch per interval between the bounds, and one more if missing values have a branch of their own."""
        inner = tuple(float(bound) for bound in bounds)
        return cls(attribute, Test.INTERVALS, max(len(inner), missing) + 1, missing, bounds=inner)

    def with_missing(self, missing: int) -> Split:
        """Return the same test with another treatment of missing values."""
        return Split(self.attribute, self.test, self.n_branches, missing, self.cut, self.branch_of, self.bounds)

    def route(self, values: npt.NDArray[np.int32] | npt.NDArray[np.float64]) -> Branches:
        """Return the branch of each encoded value, -1 if it is missing or belongs to no branch."""
        if self.cut is not None:
            branches = np.where(values <= self.cut, 0, 1)
            return np.where(np.isnan(values), -1, branches).astype(np.int32)
        if self.test is Test.INTERVALS:
            branches = np.searchsorted(np.array(self.bounds), values, side="left")
            return np.where(np.isnan(values), -1, branches).astype(np.int32)
        return np.array((*self.branch_of, -1), dtype=np.int32)[values]

    def route_one(self, value: float) -> int:
        """Return the branch of one encoded value, as `route` does for an array.

        Examples
        --------
        >>> Split.threshold(0, 2.5).route_one(2.5), Split.threshold(0, 2.5).route_one(float("nan"))
        (0, -1)
        >>> Split.subsets(1, (0, 1, 0)).route_one(1), Split.intervals(0, (1.0, 3.0)).route_one(3.5)
        (1, 2)
        """
        if self.branch_of:
            return self.branch_of[int(value)] if value >= 0 else -1
        if math.isnan(value):
            return -1
        return int(value > self.cut) if self.cut is not None else bisect_left(self.bounds, value)

    def labels(self, column: Column) -> list[Label]:
        """Return the label of each branch: ``"<="``, one or several categories, ``"="``, or the interval index."""
        match self.test:
            case Test.THRESHOLD:
                return ["<=", ">"]
            case Test.NOMINAL:
                return list(column.values)
            case Test.EQUALS:
                return ["=", "!="]
            case Test.INTERVALS:
                return [branch if branch <= len(self.bounds) else "missing" for branch in range(self.n_branches)]
            case Test.SUBSET:
                return [self.values_of(branch, column) or "missing" for branch in range(self.n_branches)]

    def values_of(self, branch: int, column: Column) -> tuple[str, ...]:
        """Return the categories that take a branch."""
        return tuple(value for value, taken in zip(column.values, self.branch_of, strict=True) if taken == branch)

    def describe(self, branch: int, column: Column) -> str:
        """Return the condition of a branch as readable text, without the attribute's name.

        Examples
        --------
        >>> from treewright.data.schema import Kind
        >>> Split.threshold(0, 2.5).describe(1, Column("age", Kind.NUMERIC))
        '> 2.5'
        >>> Split.subsets(0, (0, 1, 0)).describe(0, Column("c", Kind.NOMINAL, ("red", "blue", "green")))
        '{red, green}'
        """
        match self.test:
            case Test.THRESHOLD:
                if self.cut == KNOWN:
                    return "missing" if branch == self.missing else "known"
                return f"{'<=' if branch == 0 else '>'} {_number(self.cut)}"
            case Test.NOMINAL:
                return printable(column.values[branch])
            case Test.EQUALS:
                value = column.values[self.branch_of.index(0)]
                return f"{'=' if branch == 0 else '!='} {printable(value)}"
            case Test.INTERVALS:
                return self._interval(branch)
            case Test.SUBSET:
                if branch not in self.branch_of:
                    return "missing"
                return "{" + ", ".join(printable(value) for value in self.values_of(branch, column)) + "}"

    def _interval(self, branch: int) -> str:
        if branch > len(self.bounds):
            return "missing"
        if branch == 0:
            return f"<= {_number(self.bounds[0])}"
        if branch == len(self.bounds):
            return f"> {_number(self.bounds[-1])}"
        return f"> {_number(self.bounds[branch - 1])}, <= {_number(self.bounds[branch])}"


@dataclass(frozen=True, slots=True)
class Surrogate:
    """A surrogate split: it decides the branch where the primary split's value is missing.

    Parameters
    ----------
    split : Split
        With two branches, as the primary split has.
    agreement : float
        Share of the cases that it sends down the same branch as the primary split.
    adjusted : float
        Agreement relative to that of the majority rule, where 1 is perfect agreement.
    reversed : bool
        Whether the two branches are swapped.
    """

    split: Split
    agreement: float
    adjusted: float
    reversed: bool = False

    def __post_init__(self) -> None:
        if self.split.n_branches != 2:
            raise ParameterError(f"a surrogate has two branches, not {self.split.n_branches}")
        if not 0 <= self.agreement <= 1 or not self.adjusted <= 1:
            raise ParameterError("the agreement of a surrogate must be between 0 and 1")

    def route(self, values: npt.NDArray[np.int32] | npt.NDArray[np.float64]) -> Branches:
        """Return the branch of the primary split for each encoded value, -1 where this value is missing as well."""
        branches = self.split.route(values)
        return np.where(branches < 0, -1, 1 - branches).astype(np.int32) if self.reversed else branches


def _number(value: float | None) -> str:
    """Format a bound as its shortest exact decimal, so that the printed test equals the stored one."""
    text = repr(float(0.0 if value is None else value))
    return text.removesuffix(".0")


Counts = npt.NDArray[np.int64] | npt.NDArray[np.float64]


class SplitStatus(StrEnum):
    """The result of evaluating an attribute at a node.

    Values are stored in model files, names (in lower case) in the JSON of explanations and reports.
    """

    CHOSEN = "chosen"
    CONSIDERED = "considered"
    BELOW_AVERAGE = "below the average gain"
    NO_GAIN = "no gain"
    NO_SPLIT_INFORMATION = "no split information"
    TOO_FEW = "too few cases in two branches"
    MONOTONIC = "against the monotonic constraint"
    ONE_VALUE = "one value only"
    ALL_MISSING = "all values missing"
    USED_ABOVE = "used above"
    NOT_DRAWN = "not drawn"
    SMALL_GAIN = "gain below the minimum"
    NOT_SIGNIFICANT = "best, but not significant"
    PRUNED = "best, but pruned"
    ONE_GROUP = "all values in one group"


@dataclass(frozen=True)
class EvaluatedSplit:
    """The evaluation of one attribute at one node.

    Parameters
    ----------
    attribute : int
    status : SplitStatus
    split : Split or None
        The best test of this attribute, None if there is none.
    counts : array, branches x classes
        Of the cases with a known value. For regression the columns are weight, sum and sum of squares of the
        deviations from the node's mean (so that a large mean loses no digits).
    unknown : array
        The same for the cases with a missing value.
    tries : int
        For a threshold: the number of thresholds compared.
    p_value : float or None
        Significance by which a statistical learner chose, adjusted for the number of possible groupings.
    own_score : float or None
        Score of a user-defined criterion.
    """

    attribute: int
    status: SplitStatus
    split: Split | None
    counts: Counts
    unknown: Counts
    tries: int = 0
    p_value: float | None = None
    own_score: float | None = None

    @property
    def cells(self) -> int:
        """Number of stored counts, for the size limit of a model's trace."""
        return int(self.counts.size + self.unknown.size)


class LazyTrace(Mapping[int, tuple[EvaluatedSplit, ...]]):
    """A split trace computed on first access.

    Parameters
    ----------
    make : callable
        Computes the trace.

    Examples
    --------
    >>> trace = LazyTrace(dict)
    >>> len(trace), trace == {}
    (0, True)
    """

    def __init__(self, make: Callable[[], Mapping[int, tuple[EvaluatedSplit, ...]]]) -> None:
        self._make: Callable[[], Mapping[int, tuple[EvaluatedSplit, ...]]] | None = make
        self._trace: dict[int, tuple[EvaluatedSplit, ...]] = {}

    def _computed(self) -> dict[int, tuple[EvaluatedSplit, ...]]:
        if self._make is not None:
            self._trace = dict(self._make())
            self._make = None  # releases the training cases
        return self._trace

    def __getitem__(self, node: int) -> tuple[EvaluatedSplit, ...]:
        return self._computed()[node]

    def __iter__(self) -> Iterator[int]:
        return iter(self._computed())

    def __len__(self) -> int:
        return len(self._computed())

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)
