"""The options of CAL2 and CAL3."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from treewright._base.errors import ParameterError
from treewright.grow.cal.trace import Ended, Event


@dataclass(frozen=True)
class CAL2:
    """The options of CAL2.

    Parameters
    ----------
    max_steps : int or None
        Most cases that one call of `CalLearner.learn_all` presents, over all passes; None sets no limit.

    Examples
    --------
    >>> CAL2().leaf_event([2, 1], 1)
    <Event.SPLIT: 'split'>
    """

    max_steps: int | None = None

    name: ClassVar[str] = "CAL2"
    another_pass: ClassVar[frozenset[Event]] = frozenset({Event.SPLIT})
    """The events that require another pass over the data."""
    ended: ClassVar[Ended] = Ended.NO_ERROR
    """How a run ends after a pass without those events, if no leaf was exhausted."""

    def __post_init__(self) -> None:
        _check_whole("max_steps", self.max_steps, or_none=True)

    def leaf_event(self, counts: Sequence[int], case_class: int) -> Event:
        """Return the event at a leaf with these class counts, whose last case has the class `case_class`."""
        if counts[case_class] < sum(counts):  # until it is exhausted, a leaf has only counted its own class
            return Event.SPLIT
        return Event.PUT if counts[case_class] == 1 else Event.NOTHING


@dataclass(frozen=True)
class CAL3:
    """The options of CAL3.

    Parameters
    ----------
    s1 : int, default 4
        Cases that a leaf counts before its class shares decide; at least 1.
    s2 : float, default 0.7
        Class share that closes a leaf; at most 1, and above 0.5 so that only one class can reach it.
    max_steps : int or None
        Most cases that one call of `CalLearner.learn_all` presents, over all passes; None sets no limit.

    Examples
    --------
    >>> CAL3(s1=4, s2=0.7).leaf_event([3, 1], 0), CAL3(s1=4, s2=0.8).leaf_event([3, 1], 0)
    (<Event.CLOSED: 'closed'>, <Event.SPLIT: 'split'>)
    """

    s1: int = 4
    s2: float = 0.7
    max_steps: int | None = None

    name: ClassVar[str] = "CAL3"
    another_pass: ClassVar[frozenset[Event]] = frozenset({Event.COUNTED, Event.CLOSED, Event.SPLIT})
    """The events that require another pass over the data."""
    ended: ClassVar[Ended] = Ended.NO_CHANGE
    """How a run ends after a pass without those events, if no leaf was exhausted."""

    def __post_init__(self) -> None:
        _check_whole("s1", self.s1)
        _check_whole("max_steps", self.max_steps, or_none=True)
        share = self.s2
        if isinstance(share, bool) or not isinstance(share, (int, float, np.number)) or not 0.5 < share <= 1:
            raise ParameterError(f"s2 must be a number above 0.5 and at most 1, not {share!r}")

    def leaf_event(self, counts: Sequence[int], case_class: int) -> Event:
        """Return the event at a leaf with these class counts, whose last case has the class `case_class`."""
        total = sum(counts)
        if total < self.s1:
            return Event.COUNTED
        # A quotient is rounded as the decimal in s2 is: 7 of 10 is 0.7. A product is not: 0.7 times 10 may be above 7.
        return Event.CLOSED if max(counts) / total >= self.s2 else Event.SPLIT


CalOptions = CAL2 | CAL3


def _check_whole(name: str, value: int | None, *, or_none: bool = False) -> None:
    if value is None and or_none:
        return
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        allowed = "None or a whole number" if or_none else "a whole number"
        raise ParameterError(f"{name} must be {allowed} of at least 1, not {value!r}")
