"""Answers of the database: frequency tables, numbers next to cuts, fetched cases, and exact search among many numbers.

From the answer of a counting statement to frequency tables. An answer has a row for each outcome that occurs (and each
class in it); which attribute it belongs to is told by the masks of the grouping sets.

The numbers next to cuts.

Cases that are fetched into memory after all: those of small nodes, or all with equal ones put together.

Numeric attributes with very many numbers, exactly: runs first, then the numbers of those that may hold the best cut.
Numbers are divided by quantiles once. In one statement the engine groups by number, numbers a run by its quantile and
returns for each run its classes, its first and last number and how many neighbours in it are far enough apart for a
cut. Whoever decides (the sieve) rules runs out by an upper bound on the score of any cut inside; the others are counted
number by number in a second statement. Nothing is approximate: which quantiles there are changes only what is fetched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from treewright.counting.engine import Sieve
from treewright.counting.out_of_core import Counted, Range, doubtful_ranges, refined
from treewright.counting.sql.connection import Answer, AnswerColumn, Connection
from treewright.counting.sql.dialect import StoredColumn
from treewright.counting.sql.statements import Statements
from treewright.counting.table import FrequencyTable
from treewright.data.columns import Codes
from treewright.data.dataset import Dataset
from treewright.data.schema import Column
from treewright.errors import DataError
from treewright.wording import did_you_mean, quoted_list

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Decoder:
    """Turns answers into tables.

    Parameters
    ----------
    stored : sequence of StoredColumn
        Of the attributes.
    attributes : sequence of Column
    target : StoredColumn
    target_column : Column
    whole : bool
        Whether counts are whole numbers.
    weighted : bool
    markers : tuple of str
        Texts that mean "missing" where they are not declared.
    source : str or None
    """

    def __init__(
        self,
        stored: Sequence[StoredColumn],
        attributes: Sequence[Column],
        target: StoredColumn,
        target_column: Column,
        *,
        whole: bool,
        weighted: bool,
        markers: tuple[str, ...],
        source: str | None,
    ) -> None:
        self._stored = stored
        self._attributes = attributes
        self._target = target
        self._target_column = target_column
        self._regression = target_column.is_numeric
        self._width = 3 if self._regression else len(target_column.values)
        self._whole = whole
        self._weighted = weighted
        self._markers = frozenset(markers)
        self._source = source
        self._codes: dict[int, dict[object, int]] = {}
        self._classes: dict[object, int] = {}

    # -- keys --------------------------------------------------------------------------------------------------------

    def class_codes(self, column: AnswerColumn) -> npt.NDArray[np.intp]:
        """Return the codes of classes; a missing one is an error."""
        if column.null.any():
            raise DataError("the target is missing in some rows", source=self._source, column=self._target.name)
        codes = self._codes_of(column, self._target, self._target_column, self._classes)
        if (codes < 0).any():
            raise DataError("the target is missing in some rows", source=self._source, column=self._target.name)
        return codes

    def value_codes(self, attribute: int, column: AnswerColumn) -> npt.NDArray[np.intp]:
        """Return the codes of declared values, -1 for missing ones."""
        known = self._codes.setdefault(attribute, {})
        return self._codes_of(column, self._stored[attribute], self._attributes[attribute], known)

    def _codes_of(
        self, column: AnswerColumn, stored: StoredColumn, declared: Column, known: dict[object, int]
    ) -> npt.NDArray[np.intp]:
        codes = np.full(len(column.cells), -1, dtype=np.intp)
        cells = column.cells.tolist()
        for row in np.flatnonzero(~column.null).tolist():
            cell = cells[row]
            if cell not in known:
                known[cell] = self._code(stored, declared, cell)
            codes[row] = known[cell]
        return codes

    def _code(self, stored: StoredColumn, declared: Column, cell: object) -> int:
        text = stored.text_of(cell)
        code = stored.codes(declared).get(text)
        if code is not None:
            return code
        if text in self._markers:
            return -1
        hint = did_you_mean(text, declared.values)
        message = f"value {text!r} is not declared{hint}; declared are {quoted_list(declared.values)}"
        raise DataError(message, source=self._source, column=declared.name)

    # -- tables ------------------------------------------------------------------------------------------------------

    def tables(
        self,
        answer: Answer,
        attributes: Sequence[int],
        mask_parts: Sequence[Sequence[str]],
        nodes: int,
        outcomes: Mapping[int, int | None],
    ) -> dict[int, list[Counted]]:
        """Return for each attribute the tables of all nodes.

        Parameters
        ----------
        answer : list of AnswerColumn
            Of `Statements.counting`.
        attributes : sequence of int
        mask_parts : sequence of sequences of str
            As `Statements.mask_parts` divided the keys.
        nodes : int
            How many were counted.
        outcomes : dict of int to int or None
            The number of intervals of an attribute; None for its own values.
        """
        of_open_nodes = np.flatnonzero(~answer[len(mask_parts)].null)
        if len(of_open_nodes) < len(answer[0].cells):
            answer = [column.take(of_open_nodes) for column in answer]
        masks = answer[: len(mask_parts)]
        rest = answer[len(mask_parts) :]
        node_column, *rest = rest
        class_column = None
        if not self._regression:
            class_column, *rest = rest
        keys, sums = rest[: len(attributes)], rest[len(attributes) :]
        found: dict[int, list[Counted]] = {}
        place = 0
        for mask, part in zip(masks, mask_parts, strict=True):
            grouped = mask.integers()
            for position in range(len(part)):
                attribute = attributes[place]
                expected = (1 << len(part)) - 1 - (1 << (len(part) - 1 - position))
                rows = np.flatnonzero(grouped == expected)
                found[attribute] = self._of_attribute(
                    attribute,
                    keys[place].take(rows),
                    node_column.take(rows).integers(),
                    None if class_column is None else self.class_codes(class_column.take(rows)),
                    [column.take(rows) for column in sums],
                    nodes,
                    outcomes.get(attribute),
                )
                place += 1
        return found

    def _of_attribute(
        self,
        attribute: int,
        keys: AnswerColumn,
        node: Ints,
        classes: npt.NDArray[np.intp] | None,
        sums: Sequence[AnswerColumn],
        nodes: int,
        intervals: int | None,
    ) -> list[Counted]:
        if intervals is not None:
            codes = np.where(keys.null, -1, keys.integers()).astype(np.intp)
            width = intervals
        elif self._attributes[attribute].is_numeric:
            return self._numeric(keys.numbers(), node, classes, sums, nodes)
        else:
            codes = self.value_codes(attribute, keys)
            width = len(self._attributes[attribute].values)
        places = np.where(codes < 0, width, codes)
        counts, cases, low, high = self._added(node * (width + 1) + places, classes, sums, nodes * (width + 1))
        counts = counts.reshape(nodes, width + 1, self._width)
        cases = cases.reshape(nodes, width + 1)
        tables = []
        for index in range(nodes):
            table = FrequencyTable(
                counts[index, :width], counts[index, width], cases[index, :width], None, int(cases[index, width])
            )
            part = slice(index * (width + 1), (index + 1) * (width + 1))
            tables.append(Counted(table, None if low is None else low[part], None if high is None else high[part]))
        return tables

    def _numeric(
        self,
        numbers: Floats,
        node: Ints,
        classes: npt.NDArray[np.intp] | None,
        sums: Sequence[AnswerColumn],
        nodes: int,
    ) -> list[Counted]:
        unknown = np.isnan(numbers)
        tables = []
        order = np.lexsort((numbers, node))
        starts = np.searchsorted(node[order], np.arange(nodes + 1))
        for index in range(nodes):
            rows = order[starts[index] : starts[index + 1]]
            values, ranks = np.unique(numbers[rows][~unknown[rows]], return_inverse=True)
            places = np.full(len(rows), len(values), dtype=np.intp)
            places[~unknown[rows]] = ranks
            own = None if classes is None else classes[rows]
            counts, cases, low, high = self._added(places, own, [one.take(rows) for one in sums], len(values) + 1)
            table = FrequencyTable(counts[:-1], counts[-1], cases[:-1], values, int(cases[-1]))
            tables.append(Counted(table, low, high))
        return tables

    def runs(
        self,
        places: npt.NDArray[np.integer],
        classes: npt.NDArray[np.intp],
        sums: Sequence[AnswerColumn],
        size: int,
    ) -> tuple[npt.NDArray[np.generic], Ints]:
        """Add up class counts and cases by place."""
        counts, cases, _, _ = self._added(places, classes, sums, size)
        return counts, cases

    def _added(
        self,
        places: npt.NDArray[np.integer],
        classes: npt.NDArray[np.intp] | None,
        sums: Sequence[AnswerColumn],
        size: int,
    ) -> tuple[npt.NDArray[np.generic], Ints, Floats | None, Floats | None]:
        """Add up the rows of an answer by place."""
        number = np.zeros(size, dtype=np.int64)
        np.add.at(number, places, sums[0].integers())
        if classes is not None:
            counts = np.zeros((size, self._width), dtype=np.int64 if self._whole else np.float64)
            weights = sums[1] if self._weighted else sums[0]
            np.add.at(counts, (places, classes), weights.integers() if self._whole else weights.numbers())
            return counts, number, None, None
        moments = np.zeros((size, 3))
        for statistic in range(3):
            np.add.at(moments[:, statistic], places, sums[1 + statistic].numbers())
        low, high = np.full(size, np.inf), np.full(size, -np.inf)
        np.minimum.at(low, places, sums[4].numbers())
        np.maximum.at(high, places, sums[5].numbers())
        return moments, number, low, high


def largest_numbers_by_tree(
    connection: Connection, statements: Statements, bounds: Sequence[Mapping[int, Sequence[float]]]
) -> list[dict[int, npt.NDArray[np.float64]]]:
    """Return, in one statement, the greatest number between each two neighbouring bounds of each attribute.

    The first is at most the first bound, the last one is above all; NaN where there is none. The trees of a forest have
    bounds and cases of their own.
    """
    attributes = sorted({attribute for mine in bounds for attribute in mine})
    names = [f"k{attribute}" for attribute in attributes]
    further = ", ".join(f"{_code(statements, attribute, bounds)} AS k{attribute}" for attribute in attributes)
    tree = "0" if statements.bags is None else "tree"
    sets = ", ".join(f"(t, {name})" for name in names)
    largest = ", ".join(f"MAX(c{attribute}) AS v{attribute}" for attribute in attributes)
    masks = ", ".join(statements.masks(names))
    answer = connection.ask(
        f"SELECT {masks}, t, {', '.join(names)}, {largest} "
        f"FROM (SELECT r.*, {tree} AS t, {further} FROM ({statements.rows()}) r) q GROUP BY GROUPING SETS ({sets})"
    )
    parts = statements.mask_parts(names)
    found = [{one: np.full(len(some) + 1, np.nan) for one, some in mine.items()} for mine in bounds]
    trees = answer[len(parts)].integers()
    place = 0
    for number, part in enumerate(parts):
        mask = answer[number].integers()
        for position in range(len(part)):
            rows = np.flatnonzero(mask == (1 << len(part)) - 1 - (1 << (len(part) - 1 - position)))
            key = answer[len(parts) + 1 + place].take(rows)
            value = answer[len(parts) + 1 + len(names) + place].take(rows).numbers()
            codes = key.integers()
            for row in np.flatnonzero(~key.null).tolist():
                found[trees[rows[row]]][attributes[place]][codes[row]] = value[row]
            place += 1
    return found


def _code(statements: Statements, attribute: int, bounds: Sequence[Mapping[int, Sequence[float]]]) -> str:
    """Return the interval of a number, by the bounds of the tree."""
    if statements.bags is None:
        return statements.interval_code(f"c{attribute}", bounds[0][attribute])
    parts = [
        f"WHEN {tree} THEN {statements.interval_code(f'c{attribute}', mine[attribute])}"
        for tree, mine in enumerate(bounds)
        if attribute in mine
    ]
    return f"CASE tree {' '.join(parts)} END"


def fetched_rows(
    connection: Connection,
    members: str,
    statements: Statements,
    decoder: Decoder,
    nodes: int,
    source: str | None,
) -> list[Dataset]:
    """Return the cases of each node that `members` labels from 0 on."""
    names = [f"c{index}" for index in range(len(statements.stored))]
    picks = ["node", "y", *names, *(["w"] if statements.weighted else [])]
    answer = connection.ask(f"SELECT {', '.join(picks)} FROM ({members}) q WHERE node IS NOT NULL")
    node = answer[0].integers()
    everything = _dataset(answer[1:], list(range(len(names))), statements, decoder, source)
    order = np.argsort(node, kind="stable")
    starts = np.searchsorted(node[order], np.arange(nodes + 1))
    return [everything.take(order[starts[place] : starts[place + 1]]) for place in range(nodes)]


def grouped_rows(
    connection: Connection,
    statements: Statements,
    decoder: Decoder,
    cuts: Mapping[int, Sequence[float]],
    limit: int,
    source: str | None,
) -> Dataset | None:
    """Return one case for all that agree in the target and in what a tree asks of some attributes.

    A numeric attribute is told apart by the cuts, and the least of the numbers between two cuts stands for all of
    them. Attributes that are not asked for are missing.
    """
    keys = {
        attribute: statements.interval_code(f"c{attribute}", sorted(set(some)))
        if statements.schema.attributes[attribute].is_numeric
        else f"c{attribute}"
        for attribute, some in cuts.items()
    }
    further = "".join(f", {expression} AS k{attribute}" for attribute, expression in keys.items())
    names = [f"k{attribute}" for attribute in keys]
    values = [
        f"MIN(c{attribute}) AS v{attribute}" if statements.schema.attributes[attribute].is_numeric else f"k{attribute}"
        for attribute in keys
    ]
    weight = "SUM(w)" if statements.weighted else "COUNT(*)"
    answer = connection.ask(
        f"SELECT {', '.join(('y', *values))}, {weight} AS w "
        f"FROM (SELECT r.*{further} FROM ({statements.rows()}) r) q GROUP BY {', '.join(('y', *names))} "
        f"LIMIT {limit + 1}"
    )
    if len(answer[0].cells) > limit:
        return None
    return _dataset(answer, list(keys), statements, decoder, source, weighted=True)


def _dataset(
    answer: Answer,
    attributes: Sequence[int],
    statements: Statements,
    decoder: Decoder,
    source: str | None,
    *,
    weighted: bool | None = None,
) -> Dataset:
    schema = statements.schema
    n = len(answer[0].cells)
    target: npt.NDArray[np.float64] | npt.NDArray[np.int32]
    target = answer[0].numbers() if statements.regression else decoder.class_codes(answer[0]).astype(np.int32)
    columns: list[Codes | Floats] = [
        np.full(n, np.nan) if column.is_numeric else np.full(n, -1, dtype=np.int32) for column in schema.attributes
    ]
    for place, attribute in enumerate(attributes):
        cells = answer[1 + place]
        if schema.attributes[attribute].is_numeric:
            columns[attribute] = cells.numbers()
        else:
            columns[attribute] = decoder.value_codes(attribute, cells).astype(np.int32)
    weights = answer[1 + len(attributes)].numbers() if (statements.weighted if weighted is None else weighted) else None
    return Dataset(schema, tuple(columns), n, target, weights, source)


_DIRECT, _SUMS, _RANGES = 0, 1, 2


class RunStatements:
    """Writes statements about runs and reads their answers.

    Parameters
    ----------
    statements : Statements
    edges : dict of str to list of float
        Quantiles by name of the column, ascending.
    """

    def __init__(self, statements: Statements, edges: Mapping[str, Sequence[float]]) -> None:
        self._statements = statements
        self._edges = edges

    def _edges_of(self, attribute: int) -> Sequence[float]:
        return self._edges.get(self._statements.schema.attributes[attribute].name, ())

    def bins(self, attribute: int) -> int:
        """Return the number of runs that an attribute has at most."""
        return len(self._edges_of(attribute)) + 1

    def counted(
        self,
        ask: Callable[[str], Answer],
        decoder: Decoder,
        labels: Mapping[int, str],
        keys: Mapping[int, str],
        outcomes: Mapping[int, int | None],
        in_runs: Mapping[int, Sequence[int]],
        sieve: Sieve,
        nodes: Sequence[int],
        *,
        few_open: bool = False,
    ) -> dict[int, list[Counted]]:
        """Count runs of numbers, and then the numbers of those runs that the sieve leaves."""
        parts = self._statements.mask_parts([f"k{attribute}" for attribute in keys])
        answer = ask(self.counting(labels, keys, in_runs, sieve.gap, few_open=few_open))
        found, coarse = self.tables(answer, decoder, list(keys), parts, len(nodes), outcomes, in_runs)
        sifted = {
            (attribute, place): sieve.sift(nodes[place], attribute, table)
            for (attribute, place), table in coarse.items()
        }
        ranges = {
            key: doubtful_ranges(coarse[key], doubtful) for key, (doubtful, _) in sifted.items() if doubtful.any()
        }
        fine: dict[int, list[Counted]] = {}
        if ranges:
            fine_keys = self.fine_keys(ranges)
            parts = self._statements.mask_parts([f"k{attribute}" for attribute in fine_keys])
            answer = ask(self._statements.counting(labels, fine_keys, None, few_open=few_open))
            fine = decoder.tables(answer, list(fine_keys), parts, len(nodes), dict.fromkeys(fine_keys))
        for (attribute, place), table in coarse.items():
            doubtful, inside = sifted[attribute, place]
            single = fine[attribute][place].table if attribute in fine else None
            found[attribute][place] = Counted(refined(table, doubtful, inside, single))
        return found

    def counting(
        self,
        labels: Mapping[int, str],
        keys: Mapping[int, str],
        in_runs: Mapping[int, Sequence[int]],
        gap: float,
        *,
        few_open: bool = False,
    ) -> str:
        """Return the statement that counts runs of some attributes at some nodes, and plain tables of all others."""
        dialect = self._statements.dialect
        names = [f"k{attribute}" for attribute in keys]
        masks = [f"m{place}" for place in range(len(self._statements.mask_parts(names)))]
        weighted = self._statements.weighted
        whole, double = dialect.type("bigint"), dialect.type("double")
        nothing = f"CAST(NULL AS {whole}) AS b, CAST(NULL AS {double}) AS first, CAST(NULL AS {double}) AS last, "
        nothing += f"CAST(NULL AS {whole}) AS inside"
        in_run = {
            attribute: f"({self._mask(names, attribute)} AND node IN ({', '.join(map(str, places))}))"
            for attribute, places in in_runs.items()
        }
        plain = ", ".join((*masks, "node", "y", *names, "n", *(["s"] if weighted else [])))
        parts = [f"SELECT {_DIRECT} AS part, {plain}, {nothing} FROM g WHERE NOT ({' OR '.join(in_run.values())})"]
        nulls = ["NULL" for _ in names]
        sums = ["SUM(n)", *(["SUM(s)"] if weighted else [])]
        shown = ", ".join(masks)
        for attribute, where in in_run.items():
            key = f"k{attribute}"
            code = self._statements.interval_code(key, self._edges_of(attribute))
            parts.append(
                f"SELECT {_SUMS}, {shown}, node, y, {', '.join((*nulls, *sums))}, b, NULL, NULL, NULL "
                f"FROM (SELECT g.*, {code} AS b FROM g WHERE {where}) t GROUP BY {shown}, node, y, b"
            )
            # Steps between neighbours of one run that a cut could use.
            step = f"{key} - LAG({key}) OVER (PARTITION BY node, b ORDER BY {key})"
            wide = f"CASE WHEN {step} > {dialect.number(gap * (1 + 1e-6))} THEN 1 ELSE 0 END"
            empty = ", ".join(("NULL", *nulls, "NULL", *(["NULL"] if weighted else [])))
            parts.append(
                f"SELECT {_RANGES}, {shown}, node, {empty}, b, MIN({key}), MAX({key}), SUM(wide) "
                f"FROM (SELECT {shown}, node, {key}, b, {wide} AS wide FROM "
                f"(SELECT DISTINCT {shown}, node, {key}, {code} AS b FROM g WHERE {where} AND {key} IS NOT NULL) u) v "
                f"GROUP BY {shown}, node, b"
            )
        counted = self._statements.counting(labels, keys, None, few_open=few_open)
        return f"WITH g AS{dialect.materialised} ({counted}) {' UNION ALL '.join(parts)}"

    def _mask(self, names: Sequence[str], attribute: int) -> str:
        for place, part in enumerate(self._statements.mask_parts(names)):
            if f"k{attribute}" in part:
                position = list(part).index(f"k{attribute}")
                return f"m{place} = {(1 << len(part)) - 1 - (1 << (len(part) - 1 - position))}"
        raise AssertionError(attribute)

    def tables(
        self,
        answer: Answer,
        decoder: Decoder,
        attributes: Sequence[int],
        mask_parts: Sequence[Sequence[str]],
        nodes: int,
        outcomes: Mapping[int, int | None],
        in_runs: Mapping[int, Sequence[int]],
    ) -> tuple[dict[int, list[Counted]], dict[tuple[int, int], FrequencyTable]]:
        """Return the plain tables, and the tables of runs by attribute and place of the node."""
        part = answer[0].integers()
        inner = answer[1:-4]
        extra = answer[-4:]
        direct = np.flatnonzero(part == _DIRECT)
        found = decoder.tables([one.take(direct) for one in inner], attributes, mask_parts, nodes, outcomes)
        width = len(mask_parts)
        masks = [one.integers() for one in inner[:width]]
        node = inner[width].integers()
        coarse: dict[tuple[int, int], FrequencyTable] = {}
        for attribute, places in in_runs.items():
            mine = self._rows_of(masks, attributes, mask_parts, attribute)
            sums, ranges = (np.flatnonzero(mine & (part == kind)) for kind in (_SUMS, _RANGES))
            bins = self.bins(attribute)
            codes = np.where(extra[0].null, bins, extra[0].integers())
            counted = decoder.runs(
                node[sums] * (bins + 1) + codes[sums],
                decoder.class_codes(inner[width + 1].take(sums)),
                [one.take(sums) for one in inner[width + 2 + len(attributes) :]],
                nodes * (bins + 1),
            )
            counts, cases = counted
            for place in places:
                rows = ranges[node[ranges] == place]
                rows = rows[np.argsort(codes[rows])]
                slots = place * (bins + 1) + codes[rows]
                unknown = place * (bins + 1) + bins
                coarse[attribute, place] = FrequencyTable(
                    counts[slots],
                    counts[unknown],
                    cases[slots],
                    extra[1].take(rows).numbers(),
                    int(cases[unknown]),
                    extra[2].take(rows).numbers(),
                    extra[3].take(rows).integers(),
                )
        return found, coarse

    @staticmethod
    def _rows_of(
        masks: Sequence[npt.NDArray[np.int64]],
        attributes: Sequence[int],
        mask_parts: Sequence[Sequence[str]],
        attribute: int,
    ) -> npt.NDArray[np.bool_]:
        place = list(attributes).index(attribute)
        for mask, part in zip(masks, mask_parts, strict=True):
            if place < len(part):
                rows: npt.NDArray[np.bool_] = mask == (1 << len(part)) - 1 - (1 << (len(part) - 1 - place))
                return rows
            place -= len(part)
        raise AssertionError(attribute)

    def fine_keys(self, ranges: Mapping[tuple[int, int], Sequence[Range]]) -> dict[int, str]:
        """Return the keys that are the numbers of some ranges at some nodes, and NULL elsewhere."""
        number = self._statements.dialect.number
        by_attribute: dict[int, list[str]] = {}
        for (attribute, place), some in ranges.items():
            column = f"c{attribute}"
            inside = " OR ".join(f"({column} >= {number(low)} AND {column} <= {number(high)})" for low, high in some)
            by_attribute.setdefault(attribute, []).append(f"WHEN {place} THEN CASE WHEN {inside} THEN {column} END")
        return {attribute: f"CASE node {' '.join(parts)} END" for attribute, parts in by_attribute.items()}
