"""The options of CAL2 and CAL3."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from treewright.data.dataset import Dataset
from treewright.data.infer import NOMINAL_LIMIT
from treewright.learners.base import Abilities, Grown, Run, TreeLearner, Weights
from treewright.learners.cal.trace import Ended, Event
from treewright.parameters import check_share, check_whole_number
from treewright.tree.split import EvaluatedSplit, SplitStatus
from treewright.tree.tree import Stop

if TYPE_CHECKING:
    from treewright.learners.cal.growing import CaseByCase


class CaseByCaseLearner(TreeLearner):
    """Base class of CAL2 and CAL3: they learn case by case and score no splits."""

    max_steps: int | None
    another_pass: ClassVar[frozenset[Event]]
    """The events that require another pass over the data."""
    ended: ClassVar[Ended]
    """How learning ends after a pass without those events, if no leaf is exhausted."""

    @abstractmethod
    def leaf_event(self, counts: Sequence[int], case_class: int) -> Event:
        """Return the event at a leaf with these class counts, whose last case has the class `case_class`."""

    @property
    def abilities(self) -> Abilities:
        """Its abilities: classification, without case weights; it continues with later cases."""
        return Abilities(weights=Weights.NONE, grows_on=True)

    @property
    def nominal_limit(self) -> int:
        """Whole-number columns with at most this many values are proposed as nominal."""
        return NOMINAL_LIMIT

    @property
    def order(self) -> str:
        """Depth first."""
        return "depth"

    def words(self) -> list[str]:
        """Return the limit on steps."""
        return [] if self.max_steps is None else [f"steps at most {self.max_steps}"]

    def begin(self, first: Dataset, *, keep_trace: bool = False) -> CaseByCase:
        """Return a learner for cases like these, which takes them one by one."""
        from treewright.learners.cal.growing import CaseByCase

        return CaseByCase.begin(first, self, keep_trace=keep_trace)

    def grow(self, cases: Dataset, run: Run) -> Grown:
        """Present the cases, pass by pass, until nothing changes."""
        case_by_case = self.begin(cases)
        case_by_case.learn_all(cases)
        return Grown(case_by_case.tree, traced=False)

    def corrected(self, entry: EvaluatedSplit, stop: Stop | None) -> EvaluatedSplit:
        """Return the entry; a leaf that only the reference recipe would split was not pruned."""
        if entry.status is SplitStatus.PRUNED and stop is not Stop.PRUNED:
            return replace(entry, status=SplitStatus.CONSIDERED)
        return entry


@dataclass(frozen=True)
class CAL2(CaseByCaseLearner):
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

    another_pass: ClassVar[frozenset[Event]] = frozenset({Event.SPLIT})
    ended: ClassVar[Ended] = Ended.NO_ERROR

    def __post_init__(self) -> None:
        check_whole_number("max_steps", self.max_steps, 1, or_none=True)

    def leaf_event(self, counts: Sequence[int], case_class: int) -> Event:
        """Return the event at a leaf with these class counts, whose last case has the class `case_class`."""
        if counts[case_class] < sum(counts):  # before it is exhausted, a leaf counts only its own class
            return Event.SPLIT
        return Event.PUT if counts[case_class] == 1 else Event.NOTHING

    def words(self) -> list[str]:
        """Return the options that matter."""
        return ["one case at a time", *super().words()]


@dataclass(frozen=True)
class CAL3(CaseByCaseLearner):
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

    another_pass: ClassVar[frozenset[Event]] = frozenset({Event.COUNTED, Event.CLOSED, Event.SPLIT})
    ended: ClassVar[Ended] = Ended.NO_CHANGE

    def __post_init__(self) -> None:
        check_whole_number("s1", self.s1, 1)
        check_whole_number("max_steps", self.max_steps, 1, or_none=True)
        check_share("s2", self.s2, above=0.5)

    def leaf_event(self, counts: Sequence[int], case_class: int) -> Event:
        """Return the event at a leaf with these class counts, whose last case has the class `case_class`."""
        total = sum(counts)
        if total < self.s1:
            return Event.COUNTED
        # A quotient rounds like the decimal in s2: 7 of 10 is 0.7. A product may not: 0.7 times 10 may be above 7.
        return Event.CLOSED if max(counts) / total >= self.s2 else Event.SPLIT

    def words(self) -> list[str]:
        """Return the options that matter."""
        return [f"s1 {self.s1}, s2 {self.s2:g}", *super().words()]
