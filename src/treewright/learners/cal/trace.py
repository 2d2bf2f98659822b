"""What CAL2 and CAL3 tell about their learning: one `Step` for each case, one `Run` for a whole data set."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from treewright.wording import printable


class Event(StrEnum):
    """What happened when a case was presented."""

    PUT = "put class"
    """The leaf was open and took the class of the case (CAL2)."""
    NOTHING = "nothing"
    """The leaf says the class of the case already (CAL2), or is closed (CAL3)."""
    SPLIT = "split"
    """The leaf was replaced by a test of the next attribute."""
    COUNTED = "counted"
    """The leaf counted the case, and still has too few to be judged (CAL3)."""
    CLOSED = "closed"
    """The leaf counted the case and was given its class for good (CAL3)."""
    EXHAUSTED = "exhausted"
    """The leaf would be replaced, but no attribute is left: it counts, and says the majority."""
    SKIPPED = "skipped"
    """A value that was needed is missing: nothing was learned from the case, and nothing counted."""


class Ended(StrEnum):
    """Why the presentation of a data set ended."""

    NO_ERROR = "a pass without error"
    NO_CHANGE = "a pass that changed nothing"
    EXHAUSTED = "attributes exhausted"
    LIMIT = "limit of steps"


@dataclass(frozen=True, slots=True)
class Step:
    """One case, and what it did to the tree.

    Parameters
    ----------
    number : int
        How many cases the learner had been shown, with this one.
    case : int
        Number of the case in its data set, from 1; the same as `number` for cases that are shown one by one.
    path : tuple of (str, str)
        Attribute and value of each test on the way to the node that the case came to.
    event : Event
    counts : tuple of (str, int)
        What that node has counted, with this case unless it was skipped: class and number, without zeros.
    notation : str or None
        The whole tree after the step; None where no trace is kept.

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
    """What came of presenting a data set.

    Parameters
    ----------
    ended : Ended
    passes : int
        Complete ones.
    steps : int
        Cases presented, over all passes.
    skipped : int
        How many cases of the data set were passed over at least once, since a value that was needed is missing.
    """

    ended: Ended
    passes: int
    steps: int
    skipped: int
