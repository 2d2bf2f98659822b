"""The one kind of test that a tree asks, whoever grew it.

Vocabulary
----------
threshold
    ``x <= cut`` goes to branch 0, ``x > cut`` to branch 1.
nominal
    One branch for every declared value.
subset
    The declared values are shared out among the branches.
equals
    One value goes to branch 0, all the others to branch 1.
intervals
    A number goes to the branch of the interval it lies in; a bound belongs to the interval below it.
known
    A threshold at `KNOWN`, the largest number there is: all that have a value go left, the missing ones right.
missing
    A case without a value goes down every branch in proportion (`FRACTIONAL`), down one default branch, or no further
    (`STAY`). A value that belongs to no branch is treated as missing. The default branch of a subset or intervals test
    may be theirs alone.

Invariants
----------
A split is valid from the moment it exists; equality is always on the lower side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from treewright._base.errors import ParameterError
from treewright._base.printable import printable
from treewright.data.schema import Column

FRACTIONAL = -1
"""Missing values go down every branch, in proportion to its weight."""

STAY = -2
"""Cases without a value stay in the node, which answers for them as if it were a leaf."""

KNOWN = float(np.finfo(np.float64).max)
"""The cut that only tells whether a number is known."""

Branches = npt.NDArray[np.int32]
Label = str | tuple[str, ...] | int


class Test(StrEnum):
    """The form of a split."""

    __test__ = False  # not a test class, whatever its name suggests to pytest

    THRESHOLD = "threshold"
    NOMINAL = "nominal"
    SUBSET = "subset"
    EQUALS = "equals"
    INTERVALS = "intervals"


NUMERIC_TESTS = frozenset({Test.THRESHOLD, Test.INTERVALS})


@dataclass(frozen=True, slots=True)
class Split:
    """A test of one attribute; made by the constructors below, which keep it consistent.

    Parameters
    ----------
    attribute : int
        Index among the attributes of the schema.
    test : Test
    n_branches : int
    missing : int
        `FRACTIONAL` or the branch that takes cases without a value.
    cut : float or None
        For a threshold.
    branch_of : tuple of int
        For nominal tests: the branch of every declared value, -1 for none.
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
            raise ParameterError("tests of nominal attributes say the branch of each value, others do not")
        if self.test is Test.INTERVALS:
            self._check_bounds()
        if self.branch_of:
            self._check_values()
        if self.test in {Test.THRESHOLD, Test.EQUALS} and self.n_branches != 2:
            raise ParameterError(f"a {self.test} test has two branches, not {self.n_branches}")

    def _check_bounds(self) -> None:
        own_branch = self.missing == self.n_branches - 1
        if self.n_branches != len(self.bounds) + 1 and not (own_branch and self.n_branches == len(self.bounds) + 2):
            raise ParameterError(f"{len(self.bounds)} bounds do not make {self.n_branches} intervals")
        if not all(math.isfinite(bound) for bound in self.bounds):
            raise ParameterError("a bound is not finite")
        if any(low >= high for low, high in zip(self.bounds, self.bounds[1:], strict=False)):
            raise ParameterError("the bounds do not ascend")

    def _check_values(self) -> None:
        if self.n_branches > len(self.branch_of) + 1:  # before anything of that size is made
            raise ParameterError(f"{len(self.branch_of)} values do not fill {self.n_branches} branches")
        if not all(-1 <= branch < self.n_branches for branch in self.branch_of):
            raise ParameterError(f"a value goes to a branch outside 0..{self.n_branches - 1}")
        if self.test is Test.NOMINAL and self.branch_of != tuple(range(self.n_branches)):
            raise ParameterError("a nominal test has one branch for each value, in order")
        if self.test is Test.EQUALS and (self.branch_of.count(0) != 1 or -1 in self.branch_of):
            raise ParameterError("an equals test has one value on the left and all others on the right")
        if self.test is Test.SUBSET and set(range(self.n_branches)) - {self.missing} - set(self.branch_of):
            raise ParameterError("a branch of a subset test has no value")

    @classmethod
    def threshold(cls, attribute: int, cut: float, missing: int = FRACTIONAL) -> Split:
        """``x <= cut`` against ``x > cut``."""
        return cls(attribute, Test.THRESHOLD, 2, missing, cut=float(cut))

    @classmethod
    def multiway(cls, attribute: int, n_values: int, missing: int = FRACTIONAL) -> Split:
        """One branch for each declared value."""
        return cls(attribute, Test.NOMINAL, n_values, missing, branch_of=tuple(range(n_values)))

    @classmethod
    def subsets(cls, attribute: int, branch_of: Sequence[int], missing: int = FRACTIONAL) -> Split:
        """Share the declared values out among branches; -1 leaves a value to the missing ones."""
        branches = tuple(int(branch) for branch in branch_of)
        return cls(attribute, Test.SUBSET, max(*branches, missing) + 1, missing, branch_of=branches)

    @classmethod
    def equals(cls, attribute: int, value: int, n_values: int, missing: int = FRACTIONAL) -> Split:
        """One value against all the others."""
        branch_of = tuple(0 if code == value else 1 for code in range(n_values))
        return cls(attribute, Test.EQUALS, 2, missing, branch_of=branch_of)

    @classmethod
    def intervals(cls, attribute: int, bounds: Sequence[float], missing: int = FRACTIONAL) -> Split:
        """One branch for each interval between the bounds, and one more if the missing cases have their own."""
        inner = tuple(float(bound) for bound in bounds)
        return cls(attribute, Test.INTERVALS, max(len(inner), missing) + 1, missing, bounds=inner)

    def with_missing(self, missing: int) -> Split:
        """Return the same test with another way for missing values."""
        return Split(self.attribute, self.test, self.n_branches, missing, self.cut, self.branch_of, self.bounds)

    def route(self, values: npt.NDArray[np.int32] | npt.NDArray[np.float64]) -> Branches:
        """Return the branch of each encoded value, -1 where it is missing or belongs to no branch."""
        if self.cut is not None:
            branches = np.where(values <= self.cut, 0, 1)
            return np.where(np.isnan(values), -1, branches).astype(np.int32)
        if self.test is Test.INTERVALS:
            branches = np.searchsorted(np.array(self.bounds), values, side="left")
            return np.where(np.isnan(values), -1, branches).astype(np.int32)
        return np.array((*self.branch_of, -1), dtype=np.int32)[values]

    def labels(self, column: Column) -> list[Label]:
        """Return the label of each branch: ``"<="``, the value, the values, ``"="``, or the number of the interval."""
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
        """Return the declared values that go down a branch."""
        return tuple(value for value, home in zip(column.values, self.branch_of, strict=True) if home == branch)

    def describe(self, branch: int, column: Column) -> str:
        """Return the condition of a branch as a person reads it, without the attribute's name.

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
    """Another test that stands in for a split where the value is missing.

    Parameters
    ----------
    split : Split
        With as many branches as the split it stands in for.
    agreement : float
        Share of the cases that it sends the same way.
    adjusted : float
        Agreement beyond that of the majority rule, as a share of what is possible.
    reversed : bool
        Whether the two branches are exchanged (a lower value goes the way of the higher ones).
    """

    split: Split
    agreement: float
    adjusted: float
    reversed: bool = False

    def __post_init__(self) -> None:
        if self.split.n_branches != 2:
            raise ParameterError(f"a surrogate has two branches, not {self.split.n_branches}")
        if not 0 <= self.agreement <= 1 or not self.adjusted <= 1:
            raise ParameterError("the agreement of a surrogate is a share")

    def route(self, values: npt.NDArray[np.int32] | npt.NDArray[np.float64]) -> Branches:
        """Return the branch of the first split for each encoded value, -1 where this one is missing, too."""
        branches = self.split.route(values)
        return np.where(branches < 0, -1, 1 - branches).astype(np.int32) if self.reversed else branches


def _number(value: float | None) -> str:
    """Print a bound by its shortest exact decimal, so that the printed test is the test."""
    text = repr(float(0.0 if value is None else value))
    return text.removesuffix(".0")
