"""Tables that an engine outside memory has counted: what they say of the branches of a test, and runs of numbers.

Vocabulary
----------
run
    A bin of numbers that were not counted one by one. Whoever decides (the sieve) says which runs may hold the best
    cut; the numbers of these are counted, and take the place of the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treewright.counts.engine import Summary
from treewright.counts.table import FrequencyTable
from treewright.model.split import FRACTIONAL, KNOWN, STAY, Split

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Range = tuple[float, float]


@dataclass(frozen=True)
class Counted:
    """A table and, for a numeric target, the least and greatest target of each outcome, the missing cases last."""

    table: FrequencyTable
    low: Floats | None = None
    high: Floats | None = None

    @property
    def size(self) -> int:
        """Cells, to bound what is kept."""
        return int(self.table.counts.size + self.table.cases.size)

    def divided(
        self, split: Split, bounds: Sequence[float] | None = None
    ) -> tuple[npt.NDArray[np.generic], Ints, npt.NDArray[np.intp]]:
        """Return statistics and cases of each branch, and the branch of each outcome with the missing cases last.

        Where the table is one of intervals, `bounds` are theirs; a test may put some of them together.
        """
        table = self.table
        outcomes: npt.NDArray[np.int32] | Floats = np.arange(len(table.counts), dtype=np.int32)
        if bounds is not None:
            outcomes = np.append(np.array(bounds, dtype=np.float64), KNOWN)
        elif table.values is not None:
            outcomes = table.values
        routed = split.route(outcomes).astype(np.intp)
        branches = np.append(routed, -1)
        home = split.missing if split.missing >= 0 else -1
        branches = np.where(branches < 0, home, branches)
        statistics = np.concatenate((table.counts, table.unknown[None, :]))
        cases = np.append(table.cases, table.unknown_cases)
        sums = np.stack([statistics[branches == branch].sum(axis=0) for branch in range(split.n_branches)])
        numbers = np.array([cases[branches == branch].sum() for branch in range(split.n_branches)], dtype=np.int64)
        return sums, numbers, branches

    def hides(self, split: Split) -> bool:
        """Tell whether a cut of the test is inside a run, whose numbers are not known one by one."""
        first, last = self.table.values, self.table.highest
        if first is None or last is None:
            return False
        cuts = (split.cut,) if split.cut is not None else split.bounds
        return any(bool(np.any((first <= cut) & (cut < last))) for cut in cuts)

    def lost(self, split: Split, bounds: Sequence[float] | None = None) -> int:
        """Return how many cases no branch takes whole."""
        if split.missing >= 0 or split.missing == STAY:
            return 0
        _, _, branches = self.divided(split, bounds)
        cases = np.append(self.table.cases, self.table.unknown_cases)
        return int(cases[branches == FRACTIONAL].sum())


def class_summary(counts: npt.NDArray[np.generic], cases: int) -> Summary:
    """Describe class counts."""
    return Summary(float(counts.sum()), cases, counts, pure=int(np.count_nonzero(counts)) <= 1)


def number_summary(sums: npt.NDArray[np.generic], cases: int, mean: float, low: float, high: float) -> Summary:
    """Describe a numeric target by its moments around the mean of the parent."""
    if cases == 0:
        return Summary(0.0, 0, np.zeros(3), pure=True)
    weight, total, squares = (float(one) for one in sums)
    pure = low == high
    own = low if pure else mean + total / weight
    sse = 0.0 if pure else max(squares - total * total / weight, 0.0)
    return Summary(weight, cases, np.array([weight, 0.0, sse]), pure, own, sse)


def by_interval(counted: Counted, bounds: tuple[float, ...]) -> Counted:
    """Add up a table of numbers by intervals.

    Examples
    --------
    >>> numbers = FrequencyTable(np.eye(3, 2), np.zeros(2), np.ones(3, dtype=np.int64), np.array([1.0, 2.0, 3.0]))
    >>> by_interval(Counted(numbers), (2.0,)).table.cases.tolist()
    [2, 1]
    """
    table = counted.table
    codes = np.searchsorted(np.array(bounds), table.first, side="left")
    width = len(bounds) + 1
    counts = np.zeros((width, table.counts.shape[1]), dtype=table.counts.dtype)
    np.add.at(counts, codes, table.counts)
    cases = np.zeros(width, dtype=np.int64)
    np.add.at(cases, codes, table.cases)
    low = high = None
    if counted.low is not None and counted.high is not None:
        places = np.append(codes, width)
        low, high = np.full(width + 1, np.inf), np.full(width + 1, -np.inf)
        np.minimum.at(low, places, counted.low)
        np.maximum.at(high, places, counted.high)
    return Counted(FrequencyTable(counts, table.unknown, cases, None, table.unknown_cases), low, high)


def doubtful_ranges(table: FrequencyTable, doubtful: npt.NDArray[np.bool_]) -> list[Range]:
    """Return first and last number of the doubtful runs, neighbours put together."""
    first, last = table.first, table.last
    found: list[Range] = []
    for place in np.flatnonzero(doubtful).tolist():
        if found and place > 0 and doubtful[place - 1]:
            found[-1] = (found[-1][0], float(last[place]))
        else:
            found.append((float(first[place]), float(last[place])))
    return found


def refined(
    coarse: FrequencyTable,
    doubtful: npt.NDArray[np.bool_],
    inside: npt.NDArray[np.int64],
    fine: FrequencyTable | None,
) -> FrequencyTable:
    """Put single numbers in place of the doubtful runs."""
    first, last = coarse.first, coarse.last
    kept = ~doubtful
    values, highest, counts, cases, tries = (
        first[kept],
        last[kept],
        coarse.counts[kept],
        coarse.cases[kept],
        inside[kept],
    )
    if fine is not None and fine.values is not None:
        values = np.concatenate((values, fine.values))
        highest = np.concatenate((highest, fine.values))
        counts = np.concatenate((counts, fine.counts))
        cases = np.concatenate((cases, fine.cases))
        tries = np.concatenate((tries, np.zeros(len(fine.values), dtype=np.int64)))
    order = np.argsort(values, kind="stable")
    return FrequencyTable(
        counts[order],
        coarse.unknown,
        cases[order],
        values[order],
        coarse.unknown_cases,
        highest[order],
        tries[order],
    )
