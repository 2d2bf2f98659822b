"""The split trace: for each node, the frequency table and the status of every attribute that was evaluated.

Only counts and statuses are stored, never derived numbers. Explanations compute gains and entropies from the counts,
with the same result on every machine. The score of a user-defined criterion is stored, because it cannot be
recomputed.
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
    """The result of evaluating an attribute at a node."""

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
