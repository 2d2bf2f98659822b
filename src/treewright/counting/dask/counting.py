"""What a pass computes from each partition, and how results of several partitions are merged.

Partitions return coded tables, tables of numbers, the largest numbers below bounds, the cases of small nodes, and cases
grouped by equal values. `PassResult` makes frequency tables of the merged result of a pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.counting.dask.partitions import CodedPartition, Coding, Member
from treewright.counting.engine import RunFilter
from treewright.counting.out_of_core import ROOT, CountedTable, refined, surviving_ranges
from treewright.counting.table import FrequencyTable
from treewright.data.columns import Codes
from treewright.data.dataset import Dataset
from treewright.data.schema import Schema, Task

COMPILED_ROWS = 50_000
"""Partitions with at least this many cases are counted by the compiled kernels."""

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Range = tuple[float, float]


@dataclass(frozen=True)
class Request:
    """The tables that one pass counts.

    Parameters
    ----------
    slots : dict of int to int
        The slot, from 0 on, of each path that is counted.
    attributes : tuple of int
    statistics : int
        Classes, or 3 for a numeric target.
    means : tuple of float
        Mean of a numeric target in each slot.
    bounds : dict of int to tuple of float
        Bounds of the binned columns that are counted by intervals.
    every_number : dict of int to set of int
        Slots in which all numbers of a binned column are counted.
    some_numbers : dict of (int, int) to list of ranges
        Ranges in which the numbers of a binned column are counted in a slot.
    steps : dict of int to set of int
        Slots in which the distinct numbers of a binned column are listed.
    """

    slots: Mapping[int, int]
    attributes: tuple[int, ...]
    statistics: int
    means: tuple[float, ...] = ()
    bounds: Mapping[int, tuple[float, ...]] = field(default_factory=dict)
    every_number: Mapping[int, frozenset[int]] = field(default_factory=dict)
    some_numbers: Mapping[tuple[int, int], Sequence[Range]] = field(default_factory=dict)
    steps: Mapping[int, frozenset[int]] = field(default_factory=dict)

    @property
    def number_tables(self) -> list[int]:
        """Attributes with a number table."""
        return sorted({*self.every_number, *(attribute for attribute, _ in self.some_numbers)})


@dataclass(frozen=True)
class CodedTables:
    """Statistics by slot and code (the codes of all attributes concatenated), and extremes of a numeric target."""

    counts: Floats
    cases: Ints
    low: Floats | None = None
    high: Floats | None = None


@dataclass(frozen=True)
class NumberTable:
    """Statistics by slot and number, sorted by both."""

    slot: Ints
    number: Floats
    counts: Floats
    cases: Ints
    low: Floats | None = None
    high: Floats | None = None


@dataclass(frozen=True)
class StepTable:
    """Distinct numbers by slot, sorted by both."""

    slot: Ints
    number: Floats


@dataclass(frozen=True)
class RunTable:
    """First and last number of each bin, and the number of cuts inside, by slot."""

    slot: Ints
    bin: Ints
    first: Floats
    last: Floats
    cuts_inside: Ints


@dataclass(frozen=True)
class _SlottedRows:
    """The rows of a partition that are counted, sorted by slot."""

    rows: npt.NDArray[np.intp]
    slot: Ints
    starts: Ints


def starts_of(part_codes: Mapping[int, int], attributes: Sequence[int]) -> dict[int, int]:
    """Return the first index of each attribute in the concatenated codes."""
    found, next_one = {}, 0
    for attribute in attributes:
        found[attribute] = next_one
        next_one += part_codes[attribute]
    return found


def widths_of(part_or_coding: Any, request: Request) -> dict[int, int]:
    """Return the number of codes of each attribute of a request, including the code of missing values."""
    return {
        attribute: len(request.bounds[attribute]) + 2
        if attribute in request.bounds
        else part_or_coding.n_codes(attribute)
        for attribute in request.attributes
    }


# -- one partition ---------------------------------------------------------------------------------------------------


def counted_part(part: CodedPartition, member: Member | None, request: Request) -> dict[Any, Any]:
    """Count a partition: the coded tables, and number tables and steps by attribute."""
    chosen = _chosen(part, member, request)
    found: dict[Any, Any] = {"coded": _coded_tables(part, chosen, request)}
    for attribute in request.number_tables:
        found["numbers", attribute] = _number_table(part, chosen, request, attribute)
    for attribute, slots in request.steps.items():
        at_slots = np.isin(chosen.slot, sorted(slots))
        numbers = part.numbers[attribute][chosen.rows[at_slots]]
        known = ~np.isnan(numbers)
        found["steps", attribute] = _distinct(chosen.slot[at_slots][known], numbers[known])
    return found


def _chosen(part: CodedPartition, member: Member | None, request: Request) -> _SlottedRows:
    n_slots = len(request.slots)
    if member is None:
        rows = np.arange(len(part) if ROOT in request.slots else 0)
        slot = np.zeros(len(rows), dtype=np.int64)
    else:
        slot_of = np.full(max(int(member.max(initial=0)), *request.slots) + 1, -1, dtype=np.int64)
        slot_of[list(request.slots)] = list(request.slots.values())
        slots = slot_of[member]
        rows = np.flatnonzero(slots >= 0)
        rows = rows[np.argsort(slots[rows], kind="stable")]
        slot = slots[rows]
    return _SlottedRows(rows, slot, np.searchsorted(slot, np.arange(n_slots + 1)))


def _coded_tables(part: CodedPartition, chosen: _SlottedRows, request: Request) -> CodedTables:
    widths = widths_of(part.coding, request)
    starts = starts_of(widths, request.attributes)
    n_slots, n_codes = len(request.slots), sum(widths.values())
    counts = np.zeros((n_slots, n_codes, request.statistics))
    cases = np.zeros((n_slots, n_codes), dtype=np.int64)
    plain = [attribute for attribute in request.attributes if attribute not in request.bounds]
    by_kernel = len(chosen.rows) >= COMPILED_ROWS
    if by_kernel and plain:
        _count_compiled(part, chosen, request, (plain, starts), counts, cases)
    extremes = None
    if request.means:
        extremes = np.full((n_slots, n_codes), np.inf), np.full((n_slots, n_codes), -np.inf)
    for attribute in request.attributes:
        codes = _codes_of(part, chosen.rows, attribute, request)
        cells = chosen.slot * n_codes + (starts[attribute] + codes)
        if extremes is not None:
            np.minimum.at(extremes[0].reshape(-1), cells, part.target[chosen.rows])
            np.maximum.at(extremes[1].reshape(-1), cells, part.target[chosen.rows])
        if by_kernel and attribute not in request.bounds:
            continue
        here = slice(starts[attribute], starts[attribute] + widths[attribute])
        size = n_slots * n_codes
        sums = _sums(part, chosen.rows, cells, size, _deviations(part, chosen.rows, chosen.slot, request), request)
        counts[:, here] = sums.reshape(n_slots, n_codes, -1)[:, here]
        cases[:, here] = np.bincount(cells, minlength=size).reshape(n_slots, n_codes)[:, here]
    return CodedTables(counts, cases, *(extremes or (None, None)))


def _codes_of(part: CodedPartition, rows: npt.NDArray[np.intp], attribute: int, request: Request) -> Ints:
    if attribute not in request.bounds:
        own: Ints = part.codes[attribute][rows].astype(np.int64)
        return own
    numbers = part.numbers[attribute][rows]
    codes = np.searchsorted(np.array(request.bounds[attribute]), numbers, side="left") + 1
    return np.where(np.isnan(numbers), 0, codes)


def _deviations(part: CodedPartition, rows: npt.NDArray[np.intp], slot: Ints, request: Request) -> Floats:
    if not request.means:
        return np.zeros(0)
    deviations: Floats = part.target[rows] - np.array(request.means)[slot]
    return deviations


def _sums(
    part: CodedPartition, rows: npt.NDArray[np.intp], cells: Ints, size: int, deviations: Floats, request: Request
) -> Floats:
    """Add up class weights, or moments, by cell."""
    weights = None if part.weights is None else part.weights[rows]
    if not request.means:
        classes = request.statistics
        counted = np.bincount(cells * classes + part.target[rows], weights, size * classes)
        return counted.astype(np.float64).reshape(size, classes)
    w = np.ones(len(rows)) if weights is None else weights
    moments = (w, w * deviations, w * deviations * deviations)
    return np.stack([np.bincount(cells, moment, size) for moment in moments], axis=1)


def _count_compiled(
    part: CodedPartition,
    chosen: _SlottedRows,
    request: Request,
    plan: tuple[Sequence[int], Mapping[int, int]],
    counts: Floats,
    cases: Ints,
) -> None:
    """Count with the kernels of the compiled engine, slot by slot."""
    from treewright.counting.numba import count_cases, count_classes, count_numbers

    attributes = np.array(plan[0], dtype=np.intp)
    starts = np.zeros(len(part.codes) + 1, dtype=np.int64)
    starts[list(plan[1])] = list(plan[1].values())
    nothing = np.zeros(0)
    for slot in range(len(request.slots)):
        rows = chosen.rows[chosen.starts[slot] : chosen.starts[slot + 1]].astype(np.int32)
        weights = nothing if part.weights is None else part.weights[rows]
        if request.means:
            deviations = part.target[rows] - request.means[slot]
            count_numbers(part.codes, rows, deviations, weights, attributes, starts, counts[slot])
        else:
            count_classes(part.codes, rows, part.target, weights, attributes, starts, counts[slot])
        count_cases(part.codes, rows, attributes, starts, cases[slot])


def _number_table(part: CodedPartition, chosen: _SlottedRows, request: Request, attribute: int) -> NumberTable:
    numbers = part.numbers[attribute][chosen.rows]
    wanted = np.isin(chosen.slot, sorted(request.every_number.get(attribute, ())))
    for (other, where), ranges in request.some_numbers.items():
        if other == attribute:
            here = slice(chosen.starts[where], chosen.starts[where + 1])
            for low, high in ranges:
                wanted[here] |= (numbers[here] >= low) & (numbers[here] <= high)
    kept = np.flatnonzero(wanted & ~np.isnan(numbers))
    kept = kept[np.lexsort((numbers[kept], chosen.slot[kept]))]
    rows, slot, number = chosen.rows[kept], chosen.slot[kept], numbers[kept]
    first = _firsts(slot, number)
    group = np.cumsum(first) - 1
    size = int(first.sum())
    counts = _sums(part, rows, group, size, _deviations(part, rows, slot, request), request)
    extremes: tuple[Floats | None, Floats | None] = (None, None)
    if request.means:
        begins = np.flatnonzero(first)
        target = part.target[rows]
        extremes = (_reduced(np.minimum, target, begins), _reduced(np.maximum, target, begins))
    return NumberTable(slot[first], number[first], counts, np.bincount(group, minlength=size), *extremes)


def _firsts(slot: Ints, number: Floats) -> npt.NDArray[np.bool_]:
    """Return True at each cell of a sorted table where a new number or slot begins."""
    first = np.ones(len(slot), dtype=bool)
    first[1:] = (slot[1:] != slot[:-1]) | (number[1:] != number[:-1])
    return first


def _reduced(function: np.ufunc, cells: npt.NDArray[Any], begins: npt.NDArray[np.intp]) -> npt.NDArray[Any]:
    return function.reduceat(cells, begins, axis=0) if len(begins) else cells[:0]


def _distinct(slot: Ints, number: Floats) -> StepTable:
    order = np.lexsort((number, slot))
    slot, number = slot[order], number[order]
    first = _firsts(slot, number)
    return StepTable(slot[first], number[first])


# -- several partitions ----------------------------------------------------------------------------------------------


def add_coded(tables: Sequence[CodedTables]) -> CodedTables:
    """Add up coded tables."""
    low = high = None
    if tables[0].low is not None:
        low = np.minimum.reduce([table.low for table in tables if table.low is not None])
        high = np.maximum.reduce([table.high for table in tables if table.high is not None])
    counts, cases = tables[0].counts, tables[0].cases
    for table in tables[1:]:
        counts, cases = counts + table.counts, cases + table.cases
    return CodedTables(counts, cases, low, high)


def add_numbers(tables: Sequence[NumberTable]) -> NumberTable:
    """Add up number tables."""
    slot = np.concatenate([table.slot for table in tables])
    number = np.concatenate([table.number for table in tables])
    order = np.lexsort((number, slot))
    slot, number = slot[order], number[order]
    first = _firsts(slot, number)
    begins = np.flatnonzero(first)
    counts = np.concatenate([table.counts for table in tables])[order]
    cases = np.concatenate([table.cases for table in tables])[order]
    low = high = None
    if tables[0].low is not None:
        lows = np.concatenate([table.low for table in tables if table.low is not None])[order]
        highs = np.concatenate([table.high for table in tables if table.high is not None])[order]
        low, high = _reduced(np.minimum, lows, begins), _reduced(np.maximum, highs, begins)
    return NumberTable(
        slot[first], number[first], _reduced(np.add, counts, begins), _reduced(np.add, cases, begins), low, high
    )


def add_steps(tables: Sequence[StepTable]) -> StepTable:
    """Merge tables of distinct numbers."""
    return _distinct(
        np.concatenate([table.slot for table in tables]), np.concatenate([table.number for table in tables])
    )


def runs_of(table: StepTable, edges: Floats, gap: float) -> RunTable:
    """Return first and last number of each non-empty bin, and the number of gaps inside that admit a cut."""
    bins = np.searchsorted(edges, table.number, side="left")
    first = _firsts(table.slot, bins.astype(np.float64))
    begins = np.flatnonzero(first)
    wide = np.zeros(len(first), dtype=np.int64)
    wide[1:] = ~first[1:] & (np.diff(table.number) > gap * (1 + 1e-6))
    ends = np.append(begins[1:], len(first)) - 1
    cuts_inside = _reduced(np.add, wide, begins)
    return RunTable(table.slot[begins], bins[begins], table.number[begins], table.number[ends], cuts_inside)


# -- largest numbers -------------------------------------------------------------------------------------------------


def largest_part(part: CodedPartition, bounds: Mapping[int, Sequence[float]]) -> dict[int, Floats]:
    """Return for each bound the largest number not above it and above the bound before; NaN if there is none."""
    found: dict[int, Floats] = {}
    for attribute, some in bounds.items():
        numbers = part.column(attribute, np.arange(len(part)))
        codes = np.searchsorted(np.array(some), numbers, side="left")
        largest = np.full(len(some) + 1, -np.inf)
        known = ~np.isnan(numbers)
        np.maximum.at(largest, codes[known], numbers[known])
        found[attribute] = np.where(np.isinf(largest), np.nan, largest)[: len(some)]
    return found


def merge_largest(parts: Sequence[dict[int, Floats]]) -> dict[int, Floats]:
    """Return the largest numbers of all partitions."""
    return {attribute: np.fmax.reduce([part[attribute] for part in parts]) for attribute in parts[0]}


# -- cases of nodes --------------------------------------------------------------------------------------------------


def fetched_part(
    part: CodedPartition, member: Member | None, paths: Sequence[int], source: str | None
) -> list[Dataset]:
    """Return the cases of a partition at each of the given paths."""
    if member is None:
        member = np.full(len(part), ROOT, dtype=np.int32)
    return [part.taken(np.flatnonzero(member == path), source) for path in paths]


def concatenated(fragments: Sequence[Dataset]) -> Dataset:
    """Concatenate the cases of several partitions."""
    first = fragments[0]
    weights = [fragment.weights for fragment in fragments if fragment.weights is not None]
    target: Any = np.concatenate([fragment.target for fragment in fragments if fragment.target is not None])
    return replace(
        first,
        columns=tuple(
            np.concatenate(columns) for columns in zip(*(fragment.columns for fragment in fragments), strict=True)
        ),
        n_rows=sum(fragment.n_rows for fragment in fragments),
        target=target,
        weights=np.concatenate(weights) if weights else None,
    )


# -- grouped cases ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DistinctCases:
    """Cases grouped by equal keys.

    Parameters
    ----------
    keys : array, groups x (1 + attributes)
        Target, then codes.
    numbers : array, groups x attributes
        The least number of a numeric attribute.
    weights : array
    """

    keys: npt.NDArray[np.float64]
    numbers: Floats
    weights: Floats


def grouped_part(part: CodedPartition, cuts: Mapping[int, Sequence[float]], limit: int) -> DistinctCases | None:
    """Group the cases of a partition; None if there are more than `limit` groups."""
    rows = np.arange(len(part))
    keys, numbers = [part.target.astype(np.float64)], []
    for attribute, some in cuts.items():
        column = part.column(attribute, rows)
        if part.coding.schema.attributes[attribute].is_numeric:
            codes = np.searchsorted(np.array(some), column, side="left")
            keys.append(np.where(np.isnan(column), -1.0, codes))
            numbers.append(column)
        else:
            keys.append(column.astype(np.float64))
            numbers.append(np.zeros(len(rows)))
    weights = np.ones(len(rows)) if part.weights is None else part.weights
    number_columns = np.stack(numbers, axis=1) if numbers else np.zeros((len(rows), 0))
    return _merged(DistinctCases(np.stack(keys, axis=1), number_columns, weights), limit)


def add_groups(parts: Sequence[DistinctCases | None], limit: int) -> DistinctCases | None:
    """Merge the groups of several partitions; None if there are more than `limit` groups."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    return _merged(
        DistinctCases(
            np.concatenate([part.keys for part in known]),
            np.concatenate([part.numbers for part in known]),
            np.concatenate([part.weights for part in known]),
        ),
        limit,
    )


def _merged(groups: DistinctCases, limit: int) -> DistinctCases | None:
    order = np.lexsort(groups.keys.T[::-1])
    keys = groups.keys[order]
    first = np.ones(len(keys), dtype=bool)
    first[1:] = (keys[1:] != keys[:-1]).any(axis=1)
    begins = np.flatnonzero(first)
    if len(begins) > limit:
        return None
    if len(begins) == 0:
        return groups
    return DistinctCases(
        keys[first],
        np.fmin.reduceat(groups.numbers[order], begins, axis=0),
        np.add.reduceat(groups.weights[order], begins),
    )


def cases_of_groups(groups: DistinctCases, schema: Schema, attributes: Sequence[int], source: str | None) -> Dataset:
    """Return one case for each group; other attributes than the given ones are missing."""
    n = len(groups.weights)
    columns: list[Codes | Floats] = [
        np.full(n, np.nan) if column.is_numeric else np.full(n, -1, dtype=np.int32) for column in schema.attributes
    ]
    for index, attribute in enumerate(attributes):
        if schema.attributes[attribute].is_numeric:
            columns[attribute] = groups.numbers[:, index]
        else:
            columns[attribute] = groups.keys[:, 1 + index].astype(np.int32)
    target = groups.keys[:, 0]
    is_class = schema.task is Task.CLASSIFICATION
    return Dataset(schema, tuple(columns), n, target.astype(np.int32) if is_class else target, groups.weights, source)


class PassResult:
    """The result of a pass, from which frequency tables are made.

    Parameters
    ----------
    coding : Coding
    request : Request
    codes : CodedTables
    numbers : dict of int to NumberTable
    whole : bool
        Whether counts are integers.
    """

    def __init__(
        self, coding: Coding, request: Request, codes: CodedTables, numbers: Mapping[int, NumberTable], *, whole: bool
    ) -> None:
        self.request = request
        self.refined: dict[tuple[int, int], FrequencyTable] = {}
        self._coding, self._codes, self._numbers, self._whole = coding, codes, numbers, whole
        self._widths = widths_of(coding, request)
        self._starts = starts_of(self._widths, request.attributes)

    def _as_integers_if_whole(self, counts: Any) -> Any:
        return np.rint(counts).astype(np.int64) if self._whole else counts

    def counted(self, attribute: int, slot: int) -> CountedTable:
        """Return the table of an attribute in a slot."""
        if (attribute, slot) in self.refined:
            return CountedTable(self.refined[attribute, slot])
        start, width = self._starts[attribute], self._widths[attribute]
        here = slice(start, start + width)
        counts = self._as_integers_if_whole(self._codes.counts[slot, here])
        cases = self._codes.cases[slot, here]
        low = high = None
        if self._codes.low is not None and self._codes.high is not None:
            low, high = self._codes.low[slot, here], self._codes.high[slot, here]
        unknown, unknown_cases = counts[0], int(cases[0])
        values = None
        kept = np.arange(1, width)
        if attribute in self._numbers:
            table = self._numbers[attribute]
            rows = slice(*np.searchsorted(table.slot, [slot, slot + 1]))
            extremes = None if low is None or high is None else (low[0], high[0])
            return self._by_number(table, rows, unknown, unknown_cases, extremes)
        if attribute in self._coding.numbers:
            kept = kept[cases[1:] > 0]
            values = self._coding.numbers[attribute][kept - 1]
        order = np.append(kept, 0)  # missing values last
        table_here = FrequencyTable(counts[kept], unknown, cases[kept], values, unknown_cases)
        return CountedTable(table_here, None if low is None else low[order], None if high is None else high[order])

    def _by_number(
        self,
        table: NumberTable,
        rows: slice,
        unknown: Any,
        unknown_cases: int,
        extremes: tuple[float, float] | None,
    ) -> CountedTable:
        counts = self._as_integers_if_whole(table.counts[rows])
        low = high = None
        if extremes is not None and table.low is not None and table.high is not None:
            low, high = np.append(table.low[rows], extremes[0]), np.append(table.high[rows], extremes[1])
        return CountedTable(
            FrequencyTable(counts, unknown, table.cases[rows], table.number[rows], unknown_cases), low, high
        )

    def runs(self, attribute: int, slot: int, table: RunTable) -> FrequencyTable:
        """Return the table of the bins of an attribute in a slot."""
        rows = slice(*np.searchsorted(table.slot, [slot, slot + 1]))
        start = self._starts[attribute]
        codes = start + 1 + table.bin[rows]
        counts, cases = self._as_integers_if_whole(self._codes.counts[slot]), self._codes.cases[slot]
        return FrequencyTable(
            counts[codes],
            counts[start],
            cases[codes],
            table.first[rows],
            int(cases[start]),
            table.last[rows],
            table.cuts_inside[rows],
        )

    def fine(self, table: NumberTable, slot: int, coarse: FrequencyTable) -> FrequencyTable:
        """Return the table of the single numbers of the surviving runs."""
        rows = slice(*np.searchsorted(table.slot, [slot, slot + 1]))
        return self._by_number(table, rows, coarse.unknown, coarse.unknown_cases, None).table

    def filter_runs(
        self,
        runs: Mapping[int, RunTable],
        nodes: Sequence[int],
        run_filter: RunFilter,
        count: Callable[[Request], Sequence[Any]],
    ) -> None:
        """Count the numbers of the runs that may contain the best cut, in a second pass.

        Parameters
        ----------
        runs : dict of int to RunTable
        nodes : sequence of int
            The node of each slot, for the filter.
        run_filter : RunFilter
        count : callable
            Makes a pass.
        """
        filtered: dict[tuple[int, int], tuple[FrequencyTable, Any, Any]] = {}
        ranges: dict[tuple[int, int], list[tuple[float, float]]] = {}
        for attribute, table in runs.items():
            for slot in sorted(self.request.steps[attribute]):
                coarse = self.runs(attribute, slot, table)
                surviving, cuts_inside = run_filter.filter_runs(nodes[slot], attribute, coarse)
                filtered[attribute, slot] = coarse, surviving, cuts_inside
                if surviving.any():
                    ranges[attribute, slot] = surviving_ranges(coarse, surviving)
        fine: dict[int, NumberTable] = {}
        if ranges:
            request = replace(self.request, attributes=(), bounds={}, every_number={}, steps={}, some_numbers=ranges)
            _, *tables = count(request)
            fine = dict(zip(request.number_tables, tables, strict=True))
        for (attribute, slot), (coarse, surviving, cuts_inside) in filtered.items():
            single = self.fine(fine[attribute], slot, coarse) if (attribute, slot) in ranges else None
            self.refined[attribute, slot] = refined(coarse, surviving, cuts_inside, single)
