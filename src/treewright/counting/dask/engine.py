"""The engine that counts by Dask, a level in one pass over the partitions.

Every partition is encoded, routed and counted where it is; only tables travel. Which case is at which node is kept
beside the partitions (`dask.persist`), so that a worker that is lost costs Dask the time to make its share again.

A scan is one pass over the partitions (`treewright.counting.dask.passes`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.counting.dask.counting import (
    Found,
    Request,
    add_groups,
    cases_of_groups,
    fetched_part,
    grouped_part,
    largest_part,
    put_together,
    stacked,
)
from treewright.counting.dask.partitions import coded, encoded
from treewright.counting.dask.passes import FAN_IN, Delayed, Passes, computed, in_a_tree, portions
from treewright.counting.dask.profile import (
    FEW_NUMBERS,
    Facts,
    add_facts,
    coding_of,
    facts_of,
    inferred,
    keyed,
    layout_of,
)
from treewright.counting.engine import Sieve, Summary
from treewright.counting.out_of_core import ROOT, Counted, OutsideEngine, by_interval, class_summary, number_summary
from treewright.counting.row_sampling import Bags
from treewright.data.dataset import Dataset
from treewright.data.infer import Overrides
from treewright.data.schema import Schema
from treewright.errors import DataError, ParameterError
from treewright.lazy_import import import_extra

TABLE_CELLS = 5_000_000
"""Cells of tables that one pass counts; more nodes and attributes are counted by several."""

CODED_NUMBERS = 1_000
"""Up to so many different numbers each of them has its own code."""

KEPT_BYTES = 1024**3
"""Encoded partitions stay with the workers if all of them together take less."""


class DaskEngine(OutsideEngine):
    """Counts by Dask.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
    schema : Schema
        With a target.
    class_factors : sequence of float or None
        Factors on the weights of the cases of each class.
    source : str or None
        For messages and provenance.
    few_numbers : int
        Up to so many different numbers at a node all of them are counted at once.
    coded_numbers : int
        Up to so many different numbers in all, each of them has its own code.
    table_cells : int
        Cells of tables that one pass may count.
    kept_bytes : int
        Encoded partitions are kept if all of them together take less.
    scans : int
        Passes that were made already.
    bags : Bags or None
        The trees of a forest; the key of the rows is looked at first.

    Examples
    --------
    >>> import dask.dataframe, pandas
    >>> rows = pandas.DataFrame({"sky": ["sun", "rain", "rain"], "play": ["no", "yes", "no"]})
    >>> engine = DaskEngine.over(dask.dataframe.from_pandas(rows, npartitions=2), "play")
    >>> [[sky]] = engine.count([(engine.root(), [0])])
    >>> sky.counts.tolist(), engine.schema.attributes[0].values
    ([[1, 1], [1, 0]], ('rain', 'sun'))
    """

    name = "Dask"

    def __init__(
        self,
        frame: Any,
        schema: Schema,
        *,
        class_factors: Sequence[float] | None = None,
        source: str | None = None,
        few_numbers: int = FEW_NUMBERS,
        coded_numbers: int = CODED_NUMBERS,
        table_cells: int = TABLE_CELLS,
        kept_bytes: int = KEPT_BYTES,
        scans: int = 0,
        bags: Bags | None = None,
    ) -> None:
        super().__init__(schema, source, bags)
        self._dask: Any = import_extra("dask", "dask", "learn with Dask")
        layout = layout_of(frame, source)
        used = [*schema.attribute_names, schema.target_column.name, *([schema.weight] if schema.weight else [])]
        for name in used:
            if name not in layout.names:
                raise DataError(f"without the column {name!r}; there are {', '.join(layout.names)}", source=source)
        key = None
        if bags is not None and bags.key is not None:
            key, self._known_rows = keyed(frame, layout, bags.key, source)
            self.scans += 1
        layout = replace(layout.of(used), kinds={name: schema.column(name).kind for name in used})
        self.scans += scans
        self._few, self._table_cells, self._kept_bytes = few_numbers, table_cells, kept_bytes
        delayed = self._dask.delayed
        factors = None if class_factors is None else tuple(float(factor) for factor in class_factors)
        self._cases: list[Delayed] = [
            delayed(encoded)(part, layout, schema, factors, number, key)
            for number, part in enumerate(
                frame[list(dict.fromkeys((*layout.labels, *([] if key is None else [key]))))].to_delayed()
            )
        ]
        self._facts = self._found_facts(weighted=schema.weight is not None or factors is not None)
        self._known_rows = self._known_rows if self._facts is None else self._facts.n_rows
        self._whole = self._facts is None or self._facts.whole_weights
        self._coding = coding_of(schema, self._facts, coded_numbers)
        shared = delayed(self._coding, traverse=False)
        partitions = [delayed(coded)(cases, shared) for cases in self._cases]
        self._passes = Passes(partitions, self._coding, bags, self._fits, source)
        self._classes = 3 if self._regression else len(schema.classes)

    @classmethod
    def over(
        cls,
        frame: Any,
        target: str | None,
        overrides: Overrides | None = None,
        *,
        nominal_limit: int = 0,
        source: str | None = None,
        **options: Any,
    ) -> DaskEngine:
        """Return an engine whose schema is inferred from the frame."""
        import_extra("dask", "dask", "learn with Dask")
        schema = inferred(frame, target, overrides, nominal_limit=nominal_limit, source=source)
        return cls(frame, schema, source=source, scans=1, **options)

    # -- about the data ----------------------------------------------------------------------------------------------

    def shut(self) -> None:
        """Let go of what the workers keep."""
        self._cases, self._tables = [], {}
        self._passes = Passes([], self._coding, None, self._fits, self.source)

    @property
    def scans_per_level(self) -> int:
        """Passes that a level takes at most, if its tables are of bearable size."""
        known = {} if self._facts is None else self._facts.numbers
        return 1 if self._regression or all(one.distinct is not None for one in known.values()) else 2

    @property
    def scans_ahead(self) -> int:
        """Passes before the first level: none, as the facts, or that level, tell about the target."""
        return 0

    def first_statement(self) -> str:
        """Return what is done at the root, for people to read."""
        attributes = len(self._schema.attributes)
        return (
            f"-- Dask needs no SQL: each of {self._passes.n_partitions} partitions counts {attributes} tables, "
            f"which are added up {FAN_IN} at a time"
        )

    def _found_facts(self, *, weighted: bool) -> Facts | None:
        numeric = self._regression or any(column.is_numeric for column in self._schema.attributes)
        if not numeric and not weighted:
            return None
        delayed = self._dask.delayed
        partial = [delayed(facts_of)(cases, self._few) for cases in self._cases]
        self.scans += 1
        facts: Facts = computed(in_a_tree(partial, delayed(add_facts), self._few), self.source)
        if facts.n_rows == 0:
            raise DataError("there are no rows to learn from", source=self.source)
        return facts

    def _known_missing(self) -> dict[str, int]:
        names = self._schema.attribute_names
        return {} if self._facts is None else {names[index]: number for index, number in self._facts.missing.items()}

    def _known_numbers(self, attribute: int) -> npt.NDArray[np.float64] | None:
        return None if self._facts is None else self._facts.numbers[attribute].distinct

    def _roots_of(self, trees: Sequence[int]) -> list[Summary]:
        if self._bagged:
            return self._roots_of_bags(trees)
        if self._facts is not None and self._facts.target is not None:
            return [self._facts.target]
        if self._facts is not None and self._facts.classes is not None and self._coding.edges:
            return [self._classes_seen(class_summary(self._counts(self._facts.classes), self._facts.cases))]
        attributes = list(range(len(self._schema.attributes)))
        if not attributes:
            raise ParameterError("there is no attribute to learn from")
        self._count_at([ROOT], attributes)
        table = self._tables[ROOT][0].table
        counts = table.counts.sum(axis=0) + table.unknown
        return [self._classes_seen(class_summary(counts, int(table.cases.sum()) + table.unknown_cases))]

    # -- forests -----------------------------------------------------------------------------------------------------

    def _take_all(self, trees: Sequence[int]) -> None:
        self._passes.take_all(trees)

    def _roots_of_bags(self, trees: Sequence[int]) -> list[Summary]:
        if not self._schema.attributes:
            raise ParameterError("there is no attribute to learn from")
        places = {tree: place for place, tree in enumerate(trees)}
        mean = 0.0 if self._facts is None or self._facts.target is None else self._facts.target.mean
        means = (mean,) * len(trees) if self._regression else ()
        [tables] = self._pass(trees, Request(places, (0,), self._classes, means=means))
        roots = []
        for place in places.values():
            sums, cases = self._counts(tables.counts[place]).sum(axis=0), int(tables.cases[place].sum())
            if self._regression:
                low, high = float(tables.low[place].min()), float(tables.high[place].max())
                roots.append(number_summary(sums, cases, mean, low, high))
            else:
                roots.append(class_summary(sums, cases))
        return roots

    def _largest_between(
        self, bounds: Sequence[Mapping[int, Sequence[float]]]
    ) -> list[dict[int, npt.NDArray[np.float64]]]:
        delayed = self._dask.delayed
        totals = []
        for tree, mine in enumerate(bounds):
            partial = [delayed(largest_part)(part, mine) for part in self._passes.of_tree(tree)]
            totals.append(in_a_tree(partial, delayed(put_together)))
        return self._persisted(totals)

    def _classes_seen(self, summary: Summary) -> Summary:
        if summary.cases == 0 and self._facts is not None and self._facts.n_rows:
            raise DataError("all weights are zero, so there is nothing to learn from", source=self.source)
        return summary

    # -- passes ------------------------------------------------------------------------------------------------------

    def _pass(self, paths: Sequence[int], request: Request, gap: float = 0.0) -> list[Any]:
        """Count in one pass: the coded tables, then number tables, then the runs of binned columns."""
        self.scans += 1
        return self._passes.counted(self._members(paths), request, gap)

    def _members(self, paths: Sequence[int]) -> list[Delayed | None]:
        """Return where the cases of each part are, as far as it concerns these paths."""
        tests: dict[int, dict[int, Any]] = {}
        for path, step in self.tests_above(paths).items():
            tests.setdefault(self.tree_of(path), {})[path] = step
        return self._passes.members(paths, tests)

    def _persisted(self, totals: Sequence[Delayed]) -> list[Any]:
        self.scans += 1
        return self._passes.computed(totals)

    def _fits(self) -> bool:
        if self._facts is None and not self._roots:
            return False  # nobody knows yet how many rows there are
        size = np.dtype(self._coding.dtype).itemsize * len(self._schema.attributes)
        return self.n_rows * (size + 8 * len(self._coding.edges) + 16) <= self._kept_bytes

    # -- counting ----------------------------------------------------------------------------------------------------

    def _count_at(
        self,
        paths: Sequence[int],
        attributes: Sequence[int],
        sieve: Sieve | None = None,
        node_of: Mapping[int, int] | None = None,
    ) -> None:
        widths = {one: self._coding.n_codes(one) * self._classes for one in attributes}
        for some_paths, some in portions(paths, widths, self._table_cells):
            self._count_portion(some_paths, some, sieve, node_of or {})

    def _count_portion(
        self, paths: Sequence[int], attributes: Sequence[int], sieve: Sieve | None, node_of: Mapping[int, int]
    ) -> None:
        places = {path: place for place, path in enumerate(paths)}
        sizes = self._sizes(paths)
        binned = [one for one in attributes if one in self._coding.edges and one not in self._intervals]
        in_runs = {
            attribute: frozenset(places[path] for path in paths if self._in_runs(attribute, sizes[path], sieve))
            for attribute in binned
        }
        in_runs = {attribute: some for attribute, some in in_runs.items() if some}
        all_places = frozenset(places.values())
        every = {attribute: all_places - in_runs.get(attribute, frozenset()) for attribute in binned}
        request = Request(
            places,
            tuple(attributes),
            self._classes,
            means=self._means(paths),
            bounds={
                one: self._intervals[one] for one in attributes if one in self._intervals and one in self._coding.edges
            },
            every_number={attribute: some for attribute, some in every.items() if some},
            steps=in_runs,
        )
        answers = iter(self._pass(paths, request, 0.0 if sieve is None else sieve.gap))
        codes = next(answers)
        numbers = {attribute: next(answers) for attribute in request.number_tables}
        found = Found(self._coding, request, codes, numbers, whole=self._whole and not self._regression)
        if in_runs and sieve is not None:
            runs = {attribute: next(answers) for attribute in in_runs}
            nodes = [node_of[path] for path in paths]
            found.sift(runs, nodes, sieve, lambda asked: self._pass(paths, asked))
        for attribute in attributes:
            for path in paths:
                self._tables.setdefault(path, {})[attribute] = self._table(found, attribute, places[path])

    def _table(self, found: Found, attribute: int, place: int) -> Counted:
        counted = found.counted(attribute, place)
        bounds = self._intervals.get(attribute)
        return by_interval(counted, bounds) if bounds is not None and counted.table.values is not None else counted

    def _in_runs(self, attribute: int, size: int, sieve: Sieve | None) -> bool:
        if sieve is None or self._regression or self._facts is None:
            return False
        return self._facts.numbers[attribute].distinct is None and size > self._few

    def _sizes(self, paths: Sequence[int]) -> dict[int, int]:
        known = {path: self._described[node].cases for node, path in self._open.items()}
        return {path: known[path] if path in known else self._few + 1 for path in paths}

    def _means(self, paths: Sequence[int]) -> tuple[float, ...]:
        return tuple(self._means_at(paths)) if self._regression else ()

    def _counts(self, counts: Any) -> Any:
        return np.rint(counts).astype(np.int64) if self._whole and not self._regression else counts

    # -- more questions ----------------------------------------------------------------------------------------------

    def fetch(self, nodes: Sequence[int]) -> list[Dataset]:
        """Return the cases of open nodes, in one pass."""
        paths = [self._open[node] for node in nodes]
        delayed = self._dask.delayed
        members, parts = self._members(paths), self._passes.parts
        trees = [self.tree_of(path) for path in paths]
        chosen = [place for place in range(len(parts)) if self._passes.tree_of(place) in set(trees)]
        pieces = self._persisted(
            [delayed(fetched_part)(parts[place], members[place], tuple(paths), self.source) for place in chosen]
        )
        return [
            stacked(
                [
                    piece[place]
                    for part, piece in zip(chosen, pieces, strict=True)
                    if self._passes.tree_of(part) == trees[place]
                ]
            )
            for place in range(len(paths))
        ]

    def distinct_rows(self, cuts: Mapping[int, Sequence[float]], limit: int) -> Dataset | None:
        """Return the cases with equal ones put together, as far as target and the attributes in `cuts` tell."""
        delayed = self._dask.delayed
        told = {attribute: tuple(sorted(set(some))) for attribute, some in cuts.items()}
        partial = [delayed(grouped_part)(part, told, limit) for part in self._passes.parts]
        [groups] = self._persisted([in_a_tree(partial, delayed(add_groups), limit)])
        return None if groups is None else cases_of_groups(groups, self._schema, tuple(told), self.source)
