"""Results of statements: frequency tables, numbers next to cuts, fetched cases, exact search among many numbers.

The result of a counting statement has a row for each outcome that occurs (and each class in it). The masks of the
grouping sets identify the attribute of a row. Cases are fetched for small nodes, and grouped cases for pruning.

The search among very many numbers is exact. Quantiles, computed once, divide the numbers into runs. A first statement
returns for each run its class counts, its first and last number, and the number of gaps in it that admit a cut. The
filter rules out runs by an upper bound on the score of any cut inside; a second statement counts the others number by
number. The quantiles affect only how much is fetched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from treewright.counting.engine import RunFilter
from treewright.counting.out_of_core import CountedTable, Range, refined, surviving_ranges
from treewright.counting.sql.connection import Connection, QueryResult, ResultColumn
from treewright.counting.sql.dialect import StoredColumn, grouping_mask
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
    """Makes frequency tables of results.

    Parameters
    ----------
    stored : sequence of StoredColumn
        Of the attributes.
    attributes : sequence of Column
    target : StoredColumn
    target_column : Column
    whole : bool
        Whether counts are integers.
    weighted : bool
    markers : tuple of str
        Texts that mean "missing" unless they are categories.
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

    def class_codes(self, column: ResultColumn) -> npt.NDArray[np.intp]:
        """Return the codes of classes; raise if one is missing."""
        if column.null.any():
            raise DataError("the target is missing in some rows", source=self._source, column=self._target.name)
        codes = self._codes_of(column, self._target, self._target_column, self._classes)
        if (codes < 0).any():
            raise DataError("the target is missing in some rows", source=self._source, column=self._target.name)
        return codes

    def value_codes(self, attribute: int, column: ResultColumn) -> npt.NDArray[np.intp]:
        """Return the codes of categories, -1 for missing values."""
        known = self._codes.setdefault(attribute, {})
        return self._codes_of(column, self._stored[attribute], self._attributes[attribute], known)

    def _codes_of(
        self, column: ResultColumn, stored: StoredColumn, schema_column: Column, known: dict[object, int]
    ) -> npt.NDArray[np.intp]:
        codes = np.full(len(column.cells), -1, dtype=np.intp)
        cells = column.cells.tolist()
        for row in np.flatnonzero(~column.null).tolist():
            cell = cells[row]
            if cell not in known:
                known[cell] = self._code(stored, schema_column, cell)
            codes[row] = known[cell]
        return codes

    def _code(self, stored: StoredColumn, schema_column: Column, cell: object) -> int:
        text = stored.text_of(cell)
        code = stored.codes(schema_column).get(text)
        if code is not None:
            return code
        if text in self._markers:
            return -1
        hint = did_you_mean(text, schema_column.values)
        message = f"value {text!r} is not declared{hint}; declared are {quoted_list(schema_column.values)}"
        raise DataError(message, source=self._source, column=schema_column.name)

    # -- tables ------------------------------------------------------------------------------------------------------

    def tables(
        self,
        result: QueryResult,
        attributes: Sequence[int],
        mask_parts: Sequence[Sequence[str]],
        nodes: int,
        outcomes: Mapping[int, int | None],
    ) -> dict[int, list[CountedTable]]:
        """Return for each attribute the tables of all nodes.

        Parameters
        ----------
        result : list of ResultColumn
            Of `Statements.counting`.
        attributes : sequence of int
        mask_parts : sequence of sequences of str
            The keys as `Statements.mask_parts` grouped them.
        nodes : int
            Number of nodes that were counted.
        outcomes : dict of int to int or None
            The number of intervals of an attribute; None if it is not counted by intervals.
        """
        of_open_nodes = np.flatnonzero(~result[len(mask_parts)].null)
        if len(of_open_nodes) < len(result[0].cells):
            result = [column.take(of_open_nodes) for column in result]
        masks = result[: len(mask_parts)]
        rest = result[len(mask_parts) :]
        node_column, *rest = rest
        class_column = None
        if not self._regression:
            class_column, *rest = rest
        keys, sums = rest[: len(attributes)], rest[len(attributes) :]
        found: dict[int, list[CountedTable]] = {}
        key_index = 0
        for mask, part in zip(masks, mask_parts, strict=True):
            grouped = mask.integers()
            for position in range(len(part)):
                attribute = attributes[key_index]
                expected = grouping_mask(len(part), position)
                rows = np.flatnonzero(grouped == expected)
                found[attribute] = self._of_attribute(
                    attribute,
                    keys[key_index].take(rows),
                    node_column.take(rows).integers(),
                    None if class_column is None else self.class_codes(class_column.take(rows)),
                    [column.take(rows) for column in sums],
                    nodes,
                    outcomes.get(attribute),
                )
                key_index += 1
        return found

    def _of_attribute(
        self,
        attribute: int,
        keys: ResultColumn,
        node: Ints,
        classes: npt.NDArray[np.intp] | None,
        sums: Sequence[ResultColumn],
        nodes: int,
        intervals: int | None,
    ) -> list[CountedTable]:
        if intervals is not None:
            codes = np.where(keys.null, -1, keys.integers()).astype(np.intp)
            width = intervals
        elif self._attributes[attribute].is_numeric:
            return self._numeric(keys.numbers(), node, classes, sums, nodes)
        else:
            codes = self.value_codes(attribute, keys)
            width = len(self._attributes[attribute].values)
        outcomes = np.where(codes < 0, width, codes)
        counts, cases, low, high = self._added(node * (width + 1) + outcomes, classes, sums, nodes * (width + 1))
        counts = counts.reshape(nodes, width + 1, self._width)
        cases = cases.reshape(nodes, width + 1)
        tables = []
        for index in range(nodes):
            table = FrequencyTable(
                counts[index, :width], counts[index, width], cases[index, :width], None, int(cases[index, width])
            )
            part = slice(index * (width + 1), (index + 1) * (width + 1))
            tables.append(CountedTable(table, None if low is None else low[part], None if high is None else high[part]))
        return tables

    def _numeric(
        self,
        numbers: Floats,
        node: Ints,
        classes: npt.NDArray[np.intp] | None,
        sums: Sequence[ResultColumn],
        nodes: int,
    ) -> list[CountedTable]:
        unknown = np.isnan(numbers)
        tables = []
        order = np.lexsort((numbers, node))
        starts = np.searchsorted(node[order], np.arange(nodes + 1))
        for index in range(nodes):
            rows = order[starts[index] : starts[index + 1]]
            values, ranks = np.unique(numbers[rows][~unknown[rows]], return_inverse=True)
            outcomes = np.full(len(rows), len(values), dtype=np.intp)
            outcomes[~unknown[rows]] = ranks
            own = None if classes is None else classes[rows]
            counts, cases, low, high = self._added(outcomes, own, [one.take(rows) for one in sums], len(values) + 1)
            table = FrequencyTable(counts[:-1], counts[-1], cases[:-1], values, int(cases[-1]))
            tables.append(CountedTable(table, low, high))
        return tables

    def runs(
        self,
        cells: npt.NDArray[np.integer],
        classes: npt.NDArray[np.intp],
        sums: Sequence[ResultColumn],
        size: int,
    ) -> tuple[npt.NDArray[np.generic], Ints]:
        """Add up class counts and cases by cell."""
        counts, cases, _, _ = self._added(cells, classes, sums, size)
        return counts, cases

    def _added(
        self,
        cells: npt.NDArray[np.integer],
        classes: npt.NDArray[np.intp] | None,
        sums: Sequence[ResultColumn],
        size: int,
    ) -> tuple[npt.NDArray[np.generic], Ints, Floats | None, Floats | None]:
        """Add up the rows of a result by cell."""
        number = np.zeros(size, dtype=np.int64)
        np.add.at(number, cells, sums[0].integers())
        if classes is not None:
            counts = np.zeros((size, self._width), dtype=np.int64 if self._whole else np.float64)
            weights = sums[1] if self._weighted else sums[0]
            np.add.at(counts, (cells, classes), weights.integers() if self._whole else weights.numbers())
            return counts, number, None, None
        moments = np.zeros((size, 3))
        for statistic in range(3):
            np.add.at(moments[:, statistic], cells, sums[1 + statistic].numbers())
        low, high = np.full(size, np.inf), np.full(size, -np.inf)
        np.minimum.at(low, cells, sums[4].numbers())
        np.maximum.at(high, cells, sums[5].numbers())
        return moments, number, low, high


def largest_numbers_by_tree(
    connection: Connection, statements: Statements, bounds: Sequence[Mapping[int, Sequence[float]]]
) -> list[dict[int, npt.NDArray[np.float64]]]:
    """Return for each tree, in one statement, the largest number between any two neighbouring bounds of an attribute.

    The first result is not above the first bound, the last one is above all bounds; NaN if there is no such number.
    """
    attributes = sorted({attribute for mine in bounds for attribute in mine})
    names = [f"k{attribute}" for attribute in attributes]
    further = ", ".join(f"{_code(statements, attribute, bounds)} AS k{attribute}" for attribute in attributes)
    tree = "0" if statements.bootstraps is None else "tree"
    sets = ", ".join(f"(t, {name})" for name in names)
    largest = ", ".join(f"MAX(c{attribute}) AS v{attribute}" for attribute in attributes)
    masks = ", ".join(statements.masks(names))
    result = connection.query(
        f"SELECT {masks}, t, {', '.join(names)}, {largest} "
        f"FROM (SELECT r.*, {tree} AS t, {further} FROM ({statements.rows()}) r) q GROUP BY GROUPING SETS ({sets})"
    )
    parts = statements.mask_parts(names)
    found = [{one: np.full(len(some) + 1, np.nan) for one, some in mine.items()} for mine in bounds]
    trees = result[len(parts)].integers()
    key_index = 0
    for number, part in enumerate(parts):
        mask = result[number].integers()
        for position in range(len(part)):
            rows = np.flatnonzero(mask == grouping_mask(len(part), position))
            key = result[len(parts) + 1 + key_index].take(rows)
            value = result[len(parts) + 1 + len(names) + key_index].take(rows).numbers()
            codes = key.integers()
            for row in np.flatnonzero(~key.null).tolist():
                found[trees[rows[row]]][attributes[key_index]][codes[row]] = value[row]
            key_index += 1
    return found


def _code(statements: Statements, attribute: int, bounds: Sequence[Mapping[int, Sequence[float]]]) -> str:
    """Return the expression of the interval of a number, by the bounds of the tree."""
    if statements.bootstraps is None:
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
    result = connection.query(f"SELECT {', '.join(picks)} FROM ({members}) q WHERE node IS NOT NULL")
    node = result[0].integers()
    everything = _dataset(result[1:], list(range(len(names))), statements, decoder, source)
    order = np.argsort(node, kind="stable")
    starts = np.searchsorted(node[order], np.arange(nodes + 1))
    return [everything.take(order[starts[index] : starts[index + 1]]) for index in range(nodes)]


def grouped_rows(
    connection: Connection,
    statements: Statements,
    decoder: Decoder,
    cuts: Mapping[int, Sequence[float]],
    limit: int,
    source: str | None,
) -> Dataset | None:
    """Return the cases grouped by target and the attributes in `cuts`; None if there are more than `limit` groups.

    Numeric attributes are grouped by the cuts; the least number of a group represents it. Other attributes are missing.
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
    result = connection.query(
        f"SELECT {', '.join(('y', *values))}, {weight} AS w "
        f"FROM (SELECT r.*{further} FROM ({statements.rows()}) r) q GROUP BY {', '.join(('y', *names))} "
        f"LIMIT {limit + 1}"
    )
    if len(result[0].cells) > limit:
        return None
    return _dataset(result, list(keys), statements, decoder, source, weighted=True)


def _dataset(
    result: QueryResult,
    attributes: Sequence[int],
    statements: Statements,
    decoder: Decoder,
    source: str | None,
    *,
    weighted: bool | None = None,
) -> Dataset:
    schema = statements.schema
    n = len(result[0].cells)
    target: npt.NDArray[np.float64] | npt.NDArray[np.int32]
    target = result[0].numbers() if statements.regression else decoder.class_codes(result[0]).astype(np.int32)
    columns: list[Codes | Floats] = [
        np.full(n, np.nan) if column.is_numeric else np.full(n, -1, dtype=np.int32) for column in schema.attributes
    ]
    for index, attribute in enumerate(attributes):
        cells = result[1 + index]
        if schema.attributes[attribute].is_numeric:
            columns[attribute] = cells.numbers()
        else:
            columns[attribute] = decoder.value_codes(attribute, cells).astype(np.int32)
    weights = result[1 + len(attributes)].numbers() if (statements.weighted if weighted is None else weighted) else None
    return Dataset(schema, tuple(columns), n, target, weights, source)


_DIRECT, _SUMS, _RANGES = 0, 1, 2


class RunStatements:
    """Writes statements about runs and reads their results.

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
        """Return the maximum number of runs of an attribute."""
        return len(self._edges_of(attribute)) + 1

    def counted(
        self,
        query: Callable[[str], QueryResult],
        decoder: Decoder,
        labels: Mapping[int, str],
        keys: Mapping[int, str],
        outcomes: Mapping[int, int | None],
        in_runs: Mapping[int, Sequence[int]],
        run_filter: RunFilter,
        nodes: Sequence[int],
        *,
        few_open: bool = False,
    ) -> dict[int, list[CountedTable]]:
        """Count runs of numbers, then the numbers of the runs that survive the filter."""
        parts = self._statements.mask_parts([f"k{attribute}" for attribute in keys])
        result = query(self.counting(labels, keys, in_runs, run_filter.gap, few_open=few_open))
        found, coarse = self.tables(result, decoder, list(keys), parts, len(nodes), outcomes, in_runs)
        filtered = {
            (attribute, node_index): run_filter.filter_runs(nodes[node_index], attribute, table)
            for (attribute, node_index), table in coarse.items()
        }
        ranges = {
            key: surviving_ranges(coarse[key], surviving) for key, (surviving, _) in filtered.items() if surviving.any()
        }
        fine: dict[int, list[CountedTable]] = {}
        if ranges:
            fine_keys = self.fine_keys(ranges)
            parts = self._statements.mask_parts([f"k{attribute}" for attribute in fine_keys])
            result = query(self._statements.counting(labels, fine_keys, None, few_open=few_open))
            fine = decoder.tables(result, list(fine_keys), parts, len(nodes), dict.fromkeys(fine_keys))
        for (attribute, node_index), table in coarse.items():
            surviving, cuts_inside = filtered[attribute, node_index]
            single = fine[attribute][node_index].table if attribute in fine else None
            found[attribute][node_index] = CountedTable(refined(table, surviving, cuts_inside, single))
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
        """Return the statement that counts runs of some attributes at some nodes, and complete tables otherwise."""
        dialect = self._statements.dialect
        names = [f"k{attribute}" for attribute in keys]
        masks = [f"m{node_index}" for node_index in range(len(self._statements.mask_parts(names)))]
        weighted = self._statements.weighted
        whole, double = dialect.type("bigint"), dialect.type("double")
        nothing = f"CAST(NULL AS {whole}) AS b, CAST(NULL AS {double}) AS first, CAST(NULL AS {double}) AS last, "
        nothing += f"CAST(NULL AS {whole}) AS inside"
        in_run = {
            attribute: f"({self._mask(names, attribute)} AND node IN ({', '.join(map(str, node_indices))}))"
            for attribute, node_indices in in_runs.items()
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
            # Gaps between neighbours of one run that admit a cut.
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
        for index, part in enumerate(self._statements.mask_parts(names)):
            if f"k{attribute}" in part:
                position = list(part).index(f"k{attribute}")
                return f"m{index} = {grouping_mask(len(part), position)}"
        raise AssertionError(attribute)

    def tables(
        self,
        result: QueryResult,
        decoder: Decoder,
        attributes: Sequence[int],
        mask_parts: Sequence[Sequence[str]],
        nodes: int,
        outcomes: Mapping[int, int | None],
        in_runs: Mapping[int, Sequence[int]],
    ) -> tuple[dict[int, list[CountedTable]], dict[tuple[int, int], FrequencyTable]]:
        """Return the complete tables, and the tables of runs by attribute and index of the node."""
        part = result[0].integers()
        inner = result[1:-4]
        extra = result[-4:]
        direct = np.flatnonzero(part == _DIRECT)
        found = decoder.tables([one.take(direct) for one in inner], attributes, mask_parts, nodes, outcomes)
        width = len(mask_parts)
        masks = [one.integers() for one in inner[:width]]
        node = inner[width].integers()
        coarse: dict[tuple[int, int], FrequencyTable] = {}
        for attribute, node_indices in in_runs.items():
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
            for node_index in node_indices:
                rows = ranges[node[ranges] == node_index]
                rows = rows[np.argsort(codes[rows])]
                cells = node_index * (bins + 1) + codes[rows]
                unknown = node_index * (bins + 1) + bins
                coarse[attribute, node_index] = FrequencyTable(
                    counts[cells],
                    counts[unknown],
                    cases[cells],
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
        index = list(attributes).index(attribute)
        for mask, part in zip(masks, mask_parts, strict=True):
            if index < len(part):
                rows: npt.NDArray[np.bool_] = mask == grouping_mask(len(part), index)
                return rows
            index -= len(part)
        raise AssertionError(attribute)

    def fine_keys(self, ranges: Mapping[tuple[int, int], Sequence[Range]]) -> dict[int, str]:
        """Return keys that are the numbers in some ranges at some nodes, and NULL otherwise."""
        number = self._statements.dialect.number
        by_attribute: dict[int, list[str]] = {}
        for (attribute, node_index), some in ranges.items():
            column = f"c{attribute}"
            cuts_inside = " OR ".join(
                f"({column} >= {number(low)} AND {column} <= {number(high)})" for low, high in some
            )
            by_attribute.setdefault(attribute, []).append(
                f"WHEN {node_index} THEN CASE WHEN {cuts_inside} THEN {column} END"
            )
        return {attribute: f"CASE node {' '.join(parts)} END" for attribute, parts in by_attribute.items()}
