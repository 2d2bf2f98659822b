"""Tables and cases of partitions: how they are counted, collected and put together.

The tables of one partition, and how tables of several partitions become one.

What leaves the partitions beside tables: largest numbers, cases of small nodes, cases with equal ones together.

From the answer of a pass to frequency tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.counting.dask.partitions import Coding, Member, Part
from treewright.counting.engine import Sieve
from treewright.counting.out_of_core import ROOT, Counted, doubtful_ranges, refined
from treewright.counting.table import FrequencyTable
from treewright.data.columns import Codes
from treewright.data.dataset import Dataset
from treewright.data.schema import Schema, Task

COMPILED_ROWS = 50_000
"""Partitions with at least so many cases are counted by the compiled kernels."""

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Range = tuple[float, float]


@dataclass(frozen=True)
class Request:
    """What is to be counted in one pass.

    Parameters
    ----------
    places : dict of int to int
        The place, from 0 on, of each path that is counted.
    attributes : tuple of int
    statistics : int
        Classes, or 3 for a numeric target.
    means : tuple of float
        Of a numeric target at each place.
    bounds : dict of int to tuple of float
        Of binned columns that are counted by intervals.
    every_number : dict of int to set of int
        Places at which all numbers of a binned column are counted.
    some_numbers : dict of (int, int) to list of ranges
        Ranges in which the numbers of a binned column are counted at a place.
    steps : dict of int to set of int
        Places at which the different numbers of a binned column are wanted.
    """

    places: Mapping[int, int]
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
    """Statistics by node and code, the codes of all attributes one after another; extremes of a numeric target."""

    counts: Floats
    cases: Ints
    low: Floats | None = None
    high: Floats | None = None


@dataclass(frozen=True)
class NumberTable:
    """Statistics by node and number, in this order."""

    place: Ints
    number: Floats
    counts: Floats
    cases: Ints
    low: Floats | None = None
    high: Floats | None = None


@dataclass(frozen=True)
class StepTable:
    """Different numbers by node, in this order."""

    place: Ints
    number: Floats


@dataclass(frozen=True)
class RunTable:
    """First and last number of bins, and the cuts inside, by node."""

    place: Ints
    bin: Ints
    first: Floats
    last: Floats
    inside: Ints


@dataclass(frozen=True)
class _Counted:
    """The cases of a partition that are counted, sorted by place."""

    rows: npt.NDArray[np.intp]
    place: Ints
    starts: Ints


def starts_of(part_codes: Mapping[int, int], attributes: Sequence[int]) -> dict[int, int]:
    """Return the first place of each attribute among all codes."""
    found, next_one = {}, 0
    for attribute in attributes:
        found[attribute] = next_one
        next_one += part_codes[attribute]
    return found


def widths_of(part_or_coding: Any, request: Request) -> dict[int, int]:
    """Return how many codes each attribute of a request has, the missing one included."""
    return {
        attribute: len(request.bounds[attribute]) + 2
        if attribute in request.bounds
        else part_or_coding.n_codes(attribute)
        for attribute in request.attributes
    }


# -- one partition ---------------------------------------------------------------------------------------------------


def counted_part(part: Part, member: Member | None, request: Request) -> dict[Any, Any]:
    """Count a partition: the coded tables, and number tables and steps by attribute."""
    chosen = _chosen(part, member, request)
    found: dict[Any, Any] = {"coded": _coded_tables(part, chosen, request)}
    for attribute in request.number_tables:
        found["numbers", attribute] = _number_table(part, chosen, request, attribute)
    for attribute, places in request.steps.items():
        inside = np.isin(chosen.place, sorted(places))
        numbers = part.numbers[attribute][chosen.rows[inside]]
        known = ~np.isnan(numbers)
        found["steps", attribute] = _distinct(chosen.place[inside][known], numbers[known])
    return found


def _chosen(part: Part, member: Member | None, request: Request) -> _Counted:
    n_places = len(request.places)
    if member is None:
        rows = np.arange(len(part) if ROOT in request.places else 0)
        place = np.zeros(len(rows), dtype=np.int64)
    else:
        place_of = np.full(max(int(member.max(initial=0)), *request.places) + 1, -1, dtype=np.int64)
        place_of[list(request.places)] = list(request.places.values())
        places = place_of[member]
        rows = np.flatnonzero(places >= 0)
        rows = rows[np.argsort(places[rows], kind="stable")]
        place = places[rows]
    return _Counted(rows, place, np.searchsorted(place, np.arange(n_places + 1)))


def _coded_tables(part: Part, chosen: _Counted, request: Request) -> CodedTables:
    widths = widths_of(part.coding, request)
    starts = starts_of(widths, request.attributes)
    n_places, n_codes = len(request.places), sum(widths.values())
    counts = np.zeros((n_places, n_codes, request.statistics))
    cases = np.zeros((n_places, n_codes), dtype=np.int64)
    plain = [attribute for attribute in request.attributes if attribute not in request.bounds]
    by_kernel = len(chosen.rows) >= COMPILED_ROWS
    if by_kernel and plain:
        _count_compiled(part, chosen, request, (plain, starts), counts, cases)
    extremes = None
    if request.means:
        extremes = np.full((n_places, n_codes), np.inf), np.full((n_places, n_codes), -np.inf)
    for attribute in request.attributes:
        codes = _codes_of(part, chosen.rows, attribute, request)
        cells = chosen.place * n_codes + (starts[attribute] + codes)
        if extremes is not None:
            np.minimum.at(extremes[0].reshape(-1), cells, part.target[chosen.rows])
            np.maximum.at(extremes[1].reshape(-1), cells, part.target[chosen.rows])
        if by_kernel and attribute not in request.bounds:
            continue
        here = slice(starts[attribute], starts[attribute] + widths[attribute])
        size = n_places * n_codes
        sums = _sums(part, chosen.rows, cells, size, _deviations(part, chosen.rows, chosen.place, request), request)
        counts[:, here] = sums.reshape(n_places, n_codes, -1)[:, here]
        cases[:, here] = np.bincount(cells, minlength=size).reshape(n_places, n_codes)[:, here]
    return CodedTables(counts, cases, *(extremes or (None, None)))


def _codes_of(part: Part, rows: npt.NDArray[np.intp], attribute: int, request: Request) -> Ints:
    if attribute not in request.bounds:
        own: Ints = part.codes[attribute][rows].astype(np.int64)
        return own
    numbers = part.numbers[attribute][rows]
    codes = np.searchsorted(np.array(request.bounds[attribute]), numbers, side="left") + 1
    return np.where(np.isnan(numbers), 0, codes)


def _deviations(part: Part, rows: npt.NDArray[np.intp], place: Ints, request: Request) -> Floats:
    if not request.means:
        return np.zeros(0)
    deviations: Floats = part.target[rows] - np.array(request.means)[place]
    return deviations


def _sums(
    part: Part, rows: npt.NDArray[np.intp], cells: Ints, size: int, deviations: Floats, request: Request
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
    part: Part,
    chosen: _Counted,
    request: Request,
    plan: tuple[Sequence[int], Mapping[int, int]],
    counts: Floats,
    cases: Ints,
) -> None:
    """Count by the kernels of the compiled engine, node by node."""
    from treewright.counting.numba import count_cases, count_classes, count_numbers

    attributes = np.array(plan[0], dtype=np.intp)
    starts = np.zeros(len(part.codes) + 1, dtype=np.int64)
    starts[list(plan[1])] = list(plan[1].values())
    nothing = np.zeros(0)
    for place in range(len(request.places)):
        rows = chosen.rows[chosen.starts[place] : chosen.starts[place + 1]].astype(np.int32)
        weights = nothing if part.weights is None else part.weights[rows]
        if request.means:
            deviations = part.target[rows] - request.means[place]
            count_numbers(part.codes, rows, deviations, weights, attributes, starts, counts[place])
        else:
            count_classes(part.codes, rows, part.target, weights, attributes, starts, counts[place])
        count_cases(part.codes, rows, attributes, starts, cases[place])


def _number_table(part: Part, chosen: _Counted, request: Request, attribute: int) -> NumberTable:
    numbers = part.numbers[attribute][chosen.rows]
    wanted = np.isin(chosen.place, sorted(request.every_number.get(attribute, ())))
    for (other, where), ranges in request.some_numbers.items():
        if other == attribute:
            here = slice(chosen.starts[where], chosen.starts[where + 1])
            for low, high in ranges:
                wanted[here] |= (numbers[here] >= low) & (numbers[here] <= high)
    kept = np.flatnonzero(wanted & ~np.isnan(numbers))
    kept = kept[np.lexsort((numbers[kept], chosen.place[kept]))]
    rows, place, number = chosen.rows[kept], chosen.place[kept], numbers[kept]
    first = _firsts(place, number)
    group = np.cumsum(first) - 1
    size = int(first.sum())
    counts = _sums(part, rows, group, size, _deviations(part, rows, place, request), request)
    extremes: tuple[Floats | None, Floats | None] = (None, None)
    if request.means:
        begins = np.flatnonzero(first)
        target = part.target[rows]
        extremes = (_reduced(np.minimum, target, begins), _reduced(np.maximum, target, begins))
    return NumberTable(place[first], number[first], counts, np.bincount(group, minlength=size), *extremes)


def _firsts(place: Ints, number: Floats) -> npt.NDArray[np.bool_]:
    """Tell where another number or node begins in sorted cells."""
    first = np.ones(len(place), dtype=bool)
    first[1:] = (place[1:] != place[:-1]) | (number[1:] != number[:-1])
    return first


def _reduced(function: np.ufunc, cells: npt.NDArray[Any], begins: npt.NDArray[np.intp]) -> npt.NDArray[Any]:
    return function.reduceat(cells, begins, axis=0) if len(begins) else cells[:0]


def _distinct(place: Ints, number: Floats) -> StepTable:
    order = np.lexsort((number, place))
    place, number = place[order], number[order]
    first = _firsts(place, number)
    return StepTable(place[first], number[first])


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
    place = np.concatenate([table.place for table in tables])
    number = np.concatenate([table.number for table in tables])
    order = np.lexsort((number, place))
    place, number = place[order], number[order]
    first = _firsts(place, number)
    begins = np.flatnonzero(first)
    counts = np.concatenate([table.counts for table in tables])[order]
    cases = np.concatenate([table.cases for table in tables])[order]
    low = high = None
    if tables[0].low is not None:
        lows = np.concatenate([table.low for table in tables if table.low is not None])[order]
        highs = np.concatenate([table.high for table in tables if table.high is not None])[order]
        low, high = _reduced(np.minimum, lows, begins), _reduced(np.maximum, highs, begins)
    return NumberTable(
        place[first], number[first], _reduced(np.add, counts, begins), _reduced(np.add, cases, begins), low, high
    )


def add_steps(tables: Sequence[StepTable]) -> StepTable:
    """Put different numbers together."""
    return _distinct(
        np.concatenate([table.place for table in tables]), np.concatenate([table.number for table in tables])
    )


def runs_of(table: StepTable, edges: Floats, gap: float) -> RunTable:
    """Return first and last number of the bins that have any, and the steps inside that are wide enough for a cut."""
    bins = np.searchsorted(edges, table.number, side="left")
    first = _firsts(table.place, bins.astype(np.float64))
    begins = np.flatnonzero(first)
    wide = np.zeros(len(first), dtype=np.int64)
    wide[1:] = ~first[1:] & (np.diff(table.number) > gap * (1 + 1e-6))
    ends = np.append(begins[1:], len(first)) - 1
    inside = _reduced(np.add, wide, begins)
    return RunTable(table.place[begins], bins[begins], table.number[begins], table.number[ends], inside)


# -- largest numbers -------------------------------------------------------------------------------------------------


def largest_part(part: Part, bounds: Mapping[int, Sequence[float]]) -> dict[int, Floats]:
    """Return for each bound the largest number not above it but above the one before; NaN where there is none."""
    found: dict[int, Floats] = {}
    for attribute, some in bounds.items():
        numbers = part.column(attribute, np.arange(len(part)))
        codes = np.searchsorted(np.array(some), numbers, side="left")
        largest = np.full(len(some) + 1, -np.inf)
        known = ~np.isnan(numbers)
        np.maximum.at(largest, codes[known], numbers[known])
        found[attribute] = np.where(np.isinf(largest), np.nan, largest)[: len(some)]
    return found


def put_together(parts: Sequence[dict[int, Floats]]) -> dict[int, Floats]:
    """Return the largest of all partitions."""
    return {attribute: np.fmax.reduce([part[attribute] for part in parts]) for attribute in parts[0]}


# -- cases of nodes --------------------------------------------------------------------------------------------------


def fetched_part(part: Part, member: Member | None, paths: Sequence[int], source: str | None) -> list[Dataset]:
    """Return the cases of a partition that are at each of some paths."""
    if member is None:
        member = np.full(len(part), ROOT, dtype=np.int32)
    return [part.taken(np.flatnonzero(member == path), source) for path in paths]


def stacked(pieces: Sequence[Dataset]) -> Dataset:
    """Return the cases of several partitions."""
    first = pieces[0]
    weights = [piece.weights for piece in pieces if piece.weights is not None]
    target: Any = np.concatenate([piece.target for piece in pieces if piece.target is not None])
    return replace(
        first,
        columns=tuple(np.concatenate(columns) for columns in zip(*(piece.columns for piece in pieces), strict=True)),
        n_rows=sum(piece.n_rows for piece in pieces),
        target=target,
        weights=np.concatenate(weights) if weights else None,
    )


# -- cases with equal ones together ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Groups:
    """Cases that agree in their keys.

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


def grouped_part(part: Part, cuts: Mapping[int, Sequence[float]], limit: int) -> Groups | None:
    """Put the cases of a partition together; None if there are too many different ones."""
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
    stacked = np.stack(numbers, axis=1) if numbers else np.zeros((len(rows), 0))
    return _put_together(Groups(np.stack(keys, axis=1), stacked, weights), limit)


def add_groups(parts: Sequence[Groups | None], limit: int) -> Groups | None:
    """Put the cases of several partitions together; None if there are too many different ones."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    return _put_together(
        Groups(
            np.concatenate([part.keys for part in known]),
            np.concatenate([part.numbers for part in known]),
            np.concatenate([part.weights for part in known]),
        ),
        limit,
    )


def _put_together(groups: Groups, limit: int) -> Groups | None:
    order = np.lexsort(groups.keys.T[::-1])
    keys = groups.keys[order]
    first = np.ones(len(keys), dtype=bool)
    first[1:] = (keys[1:] != keys[:-1]).any(axis=1)
    begins = np.flatnonzero(first)
    if len(begins) > limit:
        return None
    if len(begins) == 0:
        return groups
    return Groups(
        keys[first],
        np.fmin.reduceat(groups.numbers[order], begins, axis=0),
        np.add.reduceat(groups.weights[order], begins),
    )


def cases_of_groups(groups: Groups, schema: Schema, attributes: Sequence[int], source: str | None) -> Dataset:
    """Return one case for each group; attributes that were not asked for are missing."""
    n = len(groups.weights)
    columns: list[Codes | Floats] = [
        np.full(n, np.nan) if column.is_numeric else np.full(n, -1, dtype=np.int32) for column in schema.attributes
    ]
    for place, attribute in enumerate(attributes):
        if schema.attributes[attribute].is_numeric:
            columns[attribute] = groups.numbers[:, place]
        else:
            columns[attribute] = groups.keys[:, 1 + place].astype(np.int32)
    target = groups.keys[:, 0]
    is_class = schema.task is Task.CLASSIFICATION
    return Dataset(schema, tuple(columns), n, target.astype(np.int32) if is_class else target, groups.weights, source)


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
