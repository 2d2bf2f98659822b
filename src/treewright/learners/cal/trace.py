"""Records of learning by CAL2 and CAL3: one `Step` per case, one `Run` per data set."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from treewright.wording import printable


class Event(StrEnum):
    """The effect of presenting a case."""

    PUT = "put class"
    """The leaf was open and took the class of the case (CAL2)."""
    NOTHING = "nothing"
    """The leaf already predicts the class of the case (CAL2), or is closed (CAL3)."""
    SPLIT = "split"
    """The leaf was replaced by a split on the next attribute."""
    COUNTED = "counted"
    """The leaf counted the case, and still has fewer than `s1` cases (CAL3)."""
    CLOSED = "closed"
    """The leaf counted the case and was closed with its class (CAL3)."""
    EXHAUSTED = "exhausted"
    """The leaf would be replaced, but no attribute is left: it counts, and predicts the majority."""
    SKIPPED = "skipped"
    """A required value is missing: the case was neither learned nor counted."""


class Ended(StrEnum):
    """Why the presentation of a data set ended."""

    NO_ERROR = "a pass without error"
    NO_CHANGE = "a pass that changed nothing"
    EXHAUSTED = "attributes exhausted"
    LIMIT = "limit of steps"


@dataclass(frozen=True, slots=True)
class Step:
    """One case and its effect on the tree.

    Parameters
    ----------
    number : int
        Number of cases presented to the learner so far, including this one.
    case : int
        Number of the case in its data set, from 1; equal to `number` for cases presented one by one.
    path : tuple of (str, str)
        Attribute and value of each test on the path to the node that the case reached.
    event : Event
    counts : tuple of (str, int)
        Class counts of that node, including this case unless it was skipped, without zeros.
    notation : str or None
        The whole tree after the step; None if no trace is kept.

    Examples
    --------
    >>> print(Step(3, 3, (), Event.SPLIT, (("A", 2), ("B", 1)), "x1(B,*)"))
    3. case 3, at the root (A 2, B 1): split -> x1(B,*)
    """

    number: int
    case: int
    path: tuple[tuple[str, str], ...]
    event: Event
    counts: tuple[tuple[str, int], ...]
    notation: str | None = None

    def __str__(self) -> str:
        tests = (f"{printable(attribute)}={printable(value)}" for attribute, value in self.path)
        where = ", ".join(tests) or "at the root"
        counted = ", ".join(f"{printable(name)} {count}" for name, count in self.counts) or "nothing counted"
        after = "" if self.notation is None else f" -> {self.notation}"
        return f"{self.number}. case {self.case}, {where} ({counted}): {self.event}{after}"


@dataclass(frozen=True, slots=True)
class Run:
    """The result of presenting a data set.

    Parameters
    ----------
    ended : Ended
    passes : int
        Number of complete passes.
    steps : int
        Cases presented, over all passes.
    skipped : int
        Number of cases of the data set that were skipped at least once because a required value is missing.
    """

    ended: Ended
    passes: int
    steps: int
    skipped: int
