"""Numeric attributes with very many numbers, exactly: runs first, then the numbers of those that may hold the best cut.

Numbers are divided by quantiles once. In one statement the engine groups by number, numbers a run by its quantile and
returns for each run its classes, its first and last number and how many neighbours in it are far enough apart for a
cut. Whoever decides (the sieve) rules runs out by an upper bound on the score of any cut inside; the others are counted
number by number in a second statement. Nothing is approximate: which quantiles there are changes only what is fetched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from treewright.counts.counted import Counted, Range, doubtful_ranges, refined
from treewright.counts.engine import Sieve
from treewright.counts.sql.connection import Answer
from treewright.counts.sql.statements import Statements
from treewright.counts.sql.tables import Decoder
from treewright.counts.table import FrequencyTable

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
