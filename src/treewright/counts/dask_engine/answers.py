"""From the answer of a pass to frequency tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from treewright.counts.counted import Counted, doubtful_ranges, refined
from treewright.counts.dask_engine.counting import CodedTables, NumberTable, Request, RunTable, starts_of, widths_of
from treewright.counts.dask_engine.partitions import Coding
from treewright.counts.engine import Sieve
from treewright.counts.table import FrequencyTable


class Found:
    """The answer of a pass, from which tables are cut out.

    Parameters
    ----------
    coding : Coding
    request : Request
    codes : CodedTables
    numbers : dict of int to NumberTable
    whole : bool
        Whether counts are whole numbers.
    """

    def __init__(
        self, coding: Coding, request: Request, codes: CodedTables, numbers: Mapping[int, NumberTable], *, whole: bool
    ) -> None:
        self.request = request
        self.refined: dict[tuple[int, int], FrequencyTable] = {}
        self._coding, self._codes, self._numbers, self._whole = coding, codes, numbers, whole
        self._widths = widths_of(coding, request)
        self._starts = starts_of(self._widths, request.attributes)

    def _whole_or_not(self, counts: Any) -> Any:
        return np.rint(counts).astype(np.int64) if self._whole else counts

    def counted(self, attribute: int, place: int) -> Counted:
        """Return the table of an attribute at a place."""
        if (attribute, place) in self.refined:
            return Counted(self.refined[attribute, place])
        start, width = self._starts[attribute], self._widths[attribute]
        here = slice(start, start + width)
        counts = self._whole_or_not(self._codes.counts[place, here])
        cases = self._codes.cases[place, here]
        low = high = None
        if self._codes.low is not None and self._codes.high is not None:
            low, high = self._codes.low[place, here], self._codes.high[place, here]
        unknown, unknown_cases = counts[0], int(cases[0])
        values = None
        kept = np.arange(1, width)
        if attribute in self._numbers:
            table = self._numbers[attribute]
            rows = slice(*np.searchsorted(table.place, [place, place + 1]))
            extremes = None if low is None or high is None else (low[0], high[0])
            return self._by_number(table, rows, unknown, unknown_cases, extremes)
        if attribute in self._coding.numbers:
            kept = kept[cases[1:] > 0]
            values = self._coding.numbers[attribute][kept - 1]
        order = np.append(kept, 0)  # the missing cases last
        table_here = FrequencyTable(counts[kept], unknown, cases[kept], values, unknown_cases)
        return Counted(table_here, None if low is None else low[order], None if high is None else high[order])

    def _by_number(
        self,
        table: NumberTable,
        rows: slice,
        unknown: Any,
        unknown_cases: int,
        extremes: tuple[float, float] | None,
    ) -> Counted:
        counts = self._whole_or_not(table.counts[rows])
        low = high = None
        if extremes is not None and table.low is not None and table.high is not None:
            low, high = np.append(table.low[rows], extremes[0]), np.append(table.high[rows], extremes[1])
        return Counted(FrequencyTable(counts, unknown, table.cases[rows], table.number[rows], unknown_cases), low, high)

    def runs(self, attribute: int, place: int, table: RunTable) -> FrequencyTable:
        """Return the table of the bins of an attribute at a place."""
        rows = slice(*np.searchsorted(table.place, [place, place + 1]))
        start = self._starts[attribute]
        codes = start + 1 + table.bin[rows]
        counts, cases = self._whole_or_not(self._codes.counts[place]), self._codes.cases[place]
        return FrequencyTable(
            counts[codes],
            counts[start],
            cases[codes],
            table.first[rows],
            int(cases[start]),
            table.last[rows],
            table.inside[rows],
        )

    def fine(self, table: NumberTable, place: int, coarse: FrequencyTable) -> FrequencyTable:
        """Return the numbers of doubtful runs."""
        rows = slice(*np.searchsorted(table.place, [place, place + 1]))
        return self._by_number(table, rows, coarse.unknown, coarse.unknown_cases, None).table

    def sift(
        self,
        runs: Mapping[int, RunTable],
        nodes: Sequence[int],
        sieve: Sieve,
        count: Callable[[Request], Sequence[Any]],
    ) -> None:
        """Have the numbers counted of those runs that may hold the best cut, in a second pass.

        Parameters
        ----------
        runs : dict of int to RunTable
        nodes : sequence of int
            What the sieve calls each place.
        sieve : Sieve
        count : callable
            Makes the pass.
        """
        sifted: dict[tuple[int, int], tuple[FrequencyTable, Any, Any]] = {}
        ranges: dict[tuple[int, int], list[tuple[float, float]]] = {}
        for attribute, table in runs.items():
            for place in sorted(self.request.steps[attribute]):
                coarse = self.runs(attribute, place, table)
                doubtful, inside = sieve.sift(nodes[place], attribute, coarse)
                sifted[attribute, place] = coarse, doubtful, inside
                if doubtful.any():
                    ranges[attribute, place] = doubtful_ranges(coarse, doubtful)
        fine: dict[int, NumberTable] = {}
        if ranges:
            asked = replace(self.request, attributes=(), bounds={}, every_number={}, steps={}, some_numbers=ranges)
            _, *tables = count(asked)
            fine = dict(zip(asked.number_tables, tables, strict=True))
        for (attribute, place), (coarse, doubtful, inside) in sifted.items():
            single = self.fine(fine[attribute], place, coarse) if (attribute, place) in ranges else None
            self.refined[attribute, place] = refined(coarse, doubtful, inside, single)
