"""The engine that counts with Dask, a level in one pass over the partitions.

Workers encode, route and count their partitions; only tables are transferred. The node of each case is persisted with
the partitions (`dask.persist`); if a worker is lost, Dask computes its partitions again.

A scan is one pass over the partitions (`treewright.counting.dask.passes`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.counting.dask.counting import (
    PassResult,
    Request,
    add_groups,
    cases_of_groups,
    concatenated,
    fetched_part,
    grouped_part,
    largest_part,
    merge_largest,
)
from treewright.counting.dask.partitions import coded, encoded
from treewright.counting.dask.passes import FAN_IN, Delayed, Passes, computed, portions, tree_reduced
from treewright.counting.dask.profile import (
    CaseStatistics,
    coding_of,
    inferred,
    layout_of,
    merge_statistics,
    row_id_label,
    statistics_of,
)
from treewright.counting.engine import RunFilter, Summary
from treewright.counting.out_of_core import (
    FEW_NUMBERS,
    ROOT,
    BaseOutOfCoreEngine,
    CountedTable,
    by_interval,
    class_summary,
    class_summary_of,
    number_summary,
)
from treewright.counting.row_sampling import BootstrapSamples
from treewright.data.dataset import Dataset
from treewright.data.infer import Overrides
from treewright.data.schema import Schema
from treewright.errors import DataError, ParameterError
from treewright.lazy_import import import_extra

TABLE_CELLS = 5_000_000
"""Maximum number of table cells of one pass; larger requests take several passes."""

CODED_NUMBERS = 1_000
"""A column with at most this many distinct numbers has a code for each number."""

KEPT_BYTES = 1024**3
"""Encoded partitions are persisted on the workers if their total size is below this."""


class DaskEngine(BaseOutOfCoreEngine):
    """Counts with Dask.

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
        At a node with at most this many distinct numbers, all of them are counted at once.
    coded_numbers : int
        A column with at most this many distinct numbers has a code for each number.
    table_cells : int
        Maximum number of table cells of one pass.
    kept_bytes : int
        Encoded partitions are persisted if their total size is below this.
    scans : int
        Number of passes already made.
    bootstraps : BootstrapSamples or None
        Of the trees of a forest; the column of row ids is checked first.

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
        bootstraps: BootstrapSamples | None = None,
    ) -> None:
        super().__init__(schema, source, bootstraps)
        self._dask: Any = import_extra("dask", "dask", "learn with Dask")
        layout = layout_of(frame, source)
        used = [*schema.attribute_names, schema.target_column.name, *([schema.weight] if schema.weight else [])]
        for name in used:
            if name not in layout.names:
                raise DataError(f"without the column {name!r}; there are {', '.join(layout.names)}", source=source)
        row_id = None
        if bootstraps is not None and bootstraps.row_id is not None:
            row_id, self._known_rows = row_id_label(frame, layout, bootstraps.row_id, source)
            self.scans += 1
        layout = replace(layout.of(used), kinds={name: schema.column(name).kind for name in used})
        self.scans += scans
        self._few_numbers, self._table_cells, self._kept_bytes = few_numbers, table_cells, kept_bytes
        delayed = self._dask.delayed
        factors = None if class_factors is None else tuple(float(factor) for factor in class_factors)
        self._cases: list[Delayed] = [
            delayed(encoded)(part, layout, schema, factors, number, row_id)
            for number, part in enumerate(
                frame[list(dict.fromkeys((*layout.labels, *([] if row_id is None else [row_id]))))].to_delayed()
            )
        ]
        self._statistics = self._computed_statistics(weighted=schema.weight is not None or factors is not None)
        self._known_rows = self._known_rows if self._statistics is None else self._statistics.n_rows
        self._whole = self._statistics is None or self._statistics.whole_weights
        self._coding = coding_of(schema, self._statistics, coded_numbers)
        shared = delayed(self._coding, traverse=False)
        partitions = [delayed(coded)(cases, shared) for cases in self._cases]
        self._passes = Passes(partitions, self._coding, bootstraps, self._fits, source)
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
        """Release the persisted partitions."""
        self._cases, self._tables = [], {}
        self._passes = Passes([], self._coding, None, self._fits, self.source)

    @property
    def scans_per_level(self) -> int:
        """Maximum number of passes per level, if its tables fit one pass."""
        known = {} if self._statistics is None else self._statistics.numbers
        return 1 if self._regression or all(one.distinct is not None for one in known.values()) else 2

    @property
    def scans_ahead(self) -> int:
        """Passes before the first level: 0, since the statistics or that level describe the target."""
        return 0

    def first_statement(self) -> str:
        """Describe what is counted at the root."""
        attributes = len(self._schema.attributes)
        return (
            f"-- Dask needs no SQL: each of {self._passes.n_partitions} partitions counts {attributes} tables, "
            f"which are added up {FAN_IN} at a time"
        )

    def _computed_statistics(self, *, weighted: bool) -> CaseStatistics | None:
        numeric = self._regression or any(column.is_numeric for column in self._schema.attributes)
        if not numeric and not weighted:
            return None
        delayed = self._dask.delayed
        partial = [delayed(statistics_of)(cases, self._few_numbers) for cases in self._cases]
        self.scans += 1
        statistics: CaseStatistics = computed(
            tree_reduced(partial, delayed(merge_statistics), self._few_numbers), self.source
        )
        if statistics.n_rows == 0:
            raise DataError("there are no rows to learn from", source=self.source)
        return statistics

    def _known_missing(self) -> dict[str, int]:
        names = self._schema.attribute_names
        return (
            {}
            if self._statistics is None
            else {names[index]: number for index, number in self._statistics.missing.items()}
        )

    def _known_numbers(self, attribute: int) -> npt.NDArray[np.float64] | None:
        return None if self._statistics is None else self._statistics.numbers[attribute].distinct

    def _roots_of(self, trees: Sequence[int]) -> list[Summary]:
        if self._bootstrapped:
            return self._roots_of_samples(trees)
        if self._statistics is not None and self._statistics.target is not None:
            return [self._statistics.target]
        if self._statistics is not None and self._statistics.classes is not None and self._coding.edges:
            return [
                self._checked_summary(class_summary(self._counts(self._statistics.classes), self._statistics.cases))
            ]
        attributes = list(range(len(self._schema.attributes)))
        if not attributes:
            raise ParameterError("there is no attribute to learn from")
        self._count_at([ROOT], attributes)
        return [self._checked_summary(class_summary_of(self._tables[ROOT][0].table))]

    # -- forests -----------------------------------------------------------------------------------------------------

    def _take_all(self, trees: Sequence[int]) -> None:
        self._passes.take_all(trees)

    def _roots_of_samples(self, trees: Sequence[int]) -> list[Summary]:
        if not self._schema.attributes:
            raise ParameterError("there is no attribute to learn from")
        slots = {tree: slot for slot, tree in enumerate(trees)}
        mean = 0.0 if self._statistics is None or self._statistics.target is None else self._statistics.target.mean
        means = (mean,) * len(trees) if self._regression else ()
        [tables] = self._pass(trees, Request(slots, (0,), self._classes, means=means))
        roots = []
        for slot in slots.values():
            sums, cases = self._counts(tables.counts[slot]).sum(axis=0), int(tables.cases[slot].sum())
            if self._regression:
                low, high = float(tables.low[slot].min()), float(tables.high[slot].max())
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
            totals.append(tree_reduced(partial, delayed(merge_largest)))
        return self._persisted(totals)

    def _checked_summary(self, summary: Summary) -> Summary:
        if summary.cases == 0 and self._statistics is not None and self._statistics.n_rows:
            raise DataError("all weights are zero, so there is nothing to learn from", source=self.source)
        return summary

    # -- passes ------------------------------------------------------------------------------------------------------

    def _pass(self, paths: Sequence[int], request: Request, gap: float = 0.0) -> list[Any]:
        """Count in one pass: the coded tables, then number tables, then the runs of binned columns."""
        self.scans += 1
        return self._passes.counted(self._members(paths), request, gap)

    def _members(self, paths: Sequence[int]) -> list[Delayed | None]:
        """Return the path of each case, part by part; paths other than the given ones may be out of date."""
        tests: dict[int, dict[int, Any]] = {}
        for path, step in self.tests_above(paths).items():
            tests.setdefault(self.tree_of(path), {})[path] = step
        return self._passes.members(paths, tests)

    def _persisted(self, totals: Sequence[Delayed]) -> list[Any]:
        self.scans += 1
        return self._passes.computed(totals)

    def _fits(self) -> bool:
        if self._statistics is None and not self._roots:
            return False  # the number of rows is not known yet
        size = np.dtype(self._coding.dtype).itemsize * len(self._schema.attributes)
        return self.n_rows * (size + 8 * len(self._coding.edges) + 16) <= self._kept_bytes

    # -- counting ----------------------------------------------------------------------------------------------------

    def _count_at(
        self,
        paths: Sequence[int],
        attributes: Sequence[int],
        run_filter: RunFilter | None = None,
        node_of: Mapping[int, int] | None = None,
    ) -> None:
        widths = {one: self._coding.n_codes(one) * self._classes for one in attributes}
        for some_paths, some in portions(paths, widths, self._table_cells):
            self._count_portion(some_paths, some, run_filter, node_of or {})

    def _count_portion(
        self, paths: Sequence[int], attributes: Sequence[int], run_filter: RunFilter | None, node_of: Mapping[int, int]
    ) -> None:
        slots = {path: slot for slot, path in enumerate(paths)}
        sizes = self._sizes(paths)
        binned = [one for one in attributes if one in self._coding.edges and one not in self._intervals]
        in_runs = {
            attribute: frozenset(slots[path] for path in paths if self._in_runs(attribute, sizes[path], run_filter))
            for attribute in binned
        }
        in_runs = {attribute: some for attribute, some in in_runs.items() if some}
        all_slots = frozenset(slots.values())
        every = {attribute: all_slots - in_runs.get(attribute, frozenset()) for attribute in binned}
        request = Request(
            slots,
            tuple(attributes),
            self._classes,
            means=self._means(paths),
            bounds={
                one: self._intervals[one] for one in attributes if one in self._intervals and one in self._coding.edges
            },
            every_number={attribute: some for attribute, some in every.items() if some},
            steps=in_runs,
        )
        results = iter(self._pass(paths, request, 0.0 if run_filter is None else run_filter.gap))
        codes = next(results)
        numbers = {attribute: next(results) for attribute in request.number_tables}
        found = PassResult(self._coding, request, codes, numbers, whole=self._whole and not self._regression)
        if in_runs and run_filter is not None:
            runs = {attribute: next(results) for attribute in in_runs}
            nodes = [node_of[path] for path in paths]
            found.filter_runs(runs, nodes, run_filter, lambda request: self._pass(paths, request))
        for attribute in attributes:
            for path in paths:
                self._tables.setdefault(path, {})[attribute] = self._table(found, attribute, slots[path])

    def _table(self, found: PassResult, attribute: int, slot: int) -> CountedTable:
        counted = found.counted(attribute, slot)
        bounds = self._intervals.get(attribute)
        return by_interval(counted, bounds) if bounds is not None and counted.table.values is not None else counted

    def _in_runs(self, attribute: int, size: int, run_filter: RunFilter | None) -> bool:
        if run_filter is None or self._regression or self._statistics is None:
            return False
        return self._statistics.numbers[attribute].distinct is None and size > self._few_numbers

    def _sizes(self, paths: Sequence[int]) -> dict[int, int]:
        known = {path: self._described[node].cases for node, path in self._open.items()}
        return {path: known[path] if path in known else self._few_numbers + 1 for path in paths}

    def _means(self, paths: Sequence[int]) -> tuple[float, ...]:
        return tuple(self._means_at(paths)) if self._regression else ()

    def _counts(self, counts: Any) -> Any:
        return np.rint(counts).astype(np.int64) if self._whole and not self._regression else counts

    # -- cases -------------------------------------------------------------------------------------------------------

    def fetch(self, nodes: Sequence[int]) -> list[Dataset]:
        """Return the cases of open nodes, in one pass."""
        paths = [self._open[node] for node in nodes]
        delayed = self._dask.delayed
        members, parts = self._members(paths), self._passes.parts
        trees = [self.tree_of(path) for path in paths]
        chosen = [index for index in range(len(parts)) if self._passes.tree_of(index) in set(trees)]
        fragments = self._persisted(
            [delayed(fetched_part)(parts[index], members[index], tuple(paths), self.source) for index in chosen]
        )
        return [
            concatenated(
                [
                    fragment[index]
                    for part, fragment in zip(chosen, fragments, strict=True)
                    if self._passes.tree_of(part) == trees[index]
                ]
            )
            for index in range(len(paths))
        ]

    def distinct_rows(self, cuts: Mapping[int, Sequence[float]], limit: int) -> Dataset | None:
        """Return cases grouped by target and the attributes in `cuts`; None if there are more than `limit` groups."""
        delayed = self._dask.delayed
        sorted_cuts = {attribute: tuple(sorted(set(some))) for attribute, some in cuts.items()}
        partial = [delayed(grouped_part)(part, sorted_cuts, limit) for part in self._passes.parts]
        [groups] = self._persisted([tree_reduced(partial, delayed(add_groups), limit)])
        return None if groups is None else cases_of_groups(groups, self._schema, tuple(sorted_cuts), self.source)
