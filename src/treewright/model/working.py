"""What was looked at when a node was divided: the counted tables and the status on each attribute.

Only counts and statuses are kept, never derived numbers: whoever explains a node computes gains and entropies from
these, and gets the same ones on every machine. The score by a criterion of the user's is kept, as nobody else can
compute it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.model.split import Split

Counts = npt.NDArray[np.int64] | npt.NDArray[np.float64]


class SplitStatus(StrEnum):
    """What became of an attribute at a node."""

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
    """One attribute at one node.

    Parameters
    ----------
    attribute : int
    status : Verdict
    split : Split or None
        The best test of this attribute; None where there is none.
    counts : array, branches x classes
        Of the cases with a known value; for regression the columns are weight, sum and sum of
        squares of the deviations from the mean of the node (so that a large mean costs no digits).
    unknown : array
        The same for the cases without a value.
    tries : int
        For a cut: how many cuts were compared.
    p_value : float or None
        By which a learner that goes by significance judged the attribute, adjusted for the ways to form its groups.
    own_score : float or None
        By a criterion of the user's.
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
        """Size, for the budget of what a model keeps."""
        return int(self.counts.size + self.unknown.size)


class LazyTrace(Mapping[int, tuple[EvaluatedSplit, ...]]):
    """What was looked at, found out when it is first asked for.

    Parameters
    ----------
    make : callable
        Finds it out.

    Examples
    --------
    >>> later = LazyTrace(dict)
    >>> len(later), later == {}
    (0, True)
    """

    def __init__(self, make: Callable[[], Mapping[int, tuple[EvaluatedSplit, ...]]]) -> None:
        self._make: Callable[[], Mapping[int, tuple[EvaluatedSplit, ...]]] | None = make
        self._made: dict[int, tuple[EvaluatedSplit, ...]] = {}

    def _known(self) -> dict[int, tuple[EvaluatedSplit, ...]]:
        if self._make is not None:
            self._made = dict(self._make())
            self._make = None  # and with it the cases
        return self._made

    def __getitem__(self, node: int) -> tuple[EvaluatedSplit, ...]:
        return self._known()[node]

    def __iter__(self) -> Iterator[int]:
        return iter(self._known())

    def __len__(self) -> int:
        return len(self._known())

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)
