"""The engine that counts in a database, a level in one statement.

`ResultSizes` estimates the size of results and splits large requests. `OpenCopies` copies the rows of open nodes to
temporary tables: conditions then stay short in deep trees, and rows of closed nodes are not read again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.counting.engine import RunFilter, Summary
from treewright.counting.out_of_core import (
    FEW_NUMBERS,
    BaseOutOfCoreEngine,
    CountedTable,
    class_summary,
    class_summary_of,
    number_summary,
)
from treewright.counting.row_sampling import BootstrapSamples
from treewright.counting.sql.connection import Connection
from treewright.counting.sql.dialect import named
from treewright.counting.sql.profile import TableProfile, inferred, profile_for
from treewright.counting.sql.results import Decoder, RunStatements, fetched_rows, grouped_rows, largest_numbers_by_tree
from treewright.counting.sql.statements import ROOT, OpenCopy, Statements, require_row_ids
from treewright.data.dataset import Dataset
from treewright.data.infer import Overrides
from treewright.data.schema import Schema, Task
from treewright.errors import DataError, ParameterError
from treewright.tree.split import Split
from treewright.wording import unknown_name

RESULT_ROWS = 2_000_000
"""Maximum number of rows of one result; larger requests take several statements."""

MAX_FETCHED_NUMBERS = 50_000_000
"""Maximum number of distinct numbers in one table if all of them are needed."""

UNKNOWN_SIZE = RESULT_ROWS
"""Assumed number of rows of a table without a profile."""


class ResultSizes:
    """Estimates the number of rows of results.

    Parameters
    ----------
    schema : Schema
    distinct : dict of str to int or None
        Approximate number of distinct numbers of a column.
    size : int
        Number of rows of the table.
    intervals : dict of int to tuple of float
        Current bounds of the attributes that are counted by intervals.
    max_rows, few_numbers : int
        Maximum rows of one result; maximum distinct numbers of a node that are fetched without runs.
    bins : callable
        Returns the number of runs of an attribute.
    widest : int
        Maximum number of attributes of one statement.
    source : str or None
    """

    def __init__(
        self,
        schema: Schema,
        distinct: Mapping[str, int] | None,
        size: int,
        intervals: Mapping[int, tuple[float, ...]],
        max_rows: int,
        few_numbers: int,
        bins: Callable[[int], int],
        widest: int,
        source: str | None,
    ) -> None:
        self._schema = schema
        self._distinct = distinct
        self._size = size
        self._intervals = intervals
        self._classes = 1 if schema.task is Task.REGRESSION else len(schema.classes)
        self._bins = bins
        self._widest = widest
        self._source = source
        self.max_rows = max_rows
        self.few_numbers = few_numbers

    def outcomes(self, attribute: int) -> int:
        """Return the approximate number of outcomes in the table of an attribute."""
        column = self._schema.attributes[attribute]
        if attribute in self._intervals:
            return len(self._intervals[attribute]) + 2
        if not column.is_numeric:
            return len(column.values) + 1
        return self._size if self._distinct is None else self._distinct[column.name] + 1

    def is_high_cardinality(self, attribute: int) -> bool:
        """Return True if an attribute has too many distinct numbers to fetch all of them at every node."""
        column = self._schema.attributes[attribute]
        return column.is_numeric and attribute not in self._intervals and self.outcomes(attribute) > self.few_numbers

    def estimate(self, attributes: Sequence[int], sizes: Sequence[int], *, in_runs: bool = False) -> int:
        """Return the approximate number of rows of the tables of attributes at nodes of these sizes."""
        rows = 0
        for attribute in attributes:
            cells = self.outcomes(attribute) * self._classes
            runs = self._bins(attribute) * (self._classes + 1) if in_runs and self.is_high_cardinality(attribute) else 0
            rows += sum(runs if runs and size > self.few_numbers else min(size, cells) for size in sizes)
        return rows

    def portions(
        self, paths: Sequence[int], sizes: Sequence[int], attributes: Sequence[int], *, in_runs: bool
    ) -> Iterator[tuple[list[int], list[int]]]:
        """Split a request into nodes and attributes that one statement can count."""
        portion: list[int] = []
        rows = 0
        for attribute in attributes:
            expected = self.estimate([attribute], sizes, in_runs=in_runs)
            if expected > self.max_rows:
                for some in self._by_nodes(paths, sizes, attribute, in_runs=in_runs):
                    yield some, [attribute]
                continue
            if portion and (rows + expected > self.max_rows or len(portion) == self._widest):
                yield list(paths), portion
                portion, rows = [], 0
            portion = [*portion, attribute]
            rows += expected
        if portion:
            yield list(paths), portion

    def _by_nodes(
        self, paths: Sequence[int], sizes: Sequence[int], attribute: int, *, in_runs: bool
    ) -> Iterator[list[int]]:
        portion: list[int] = []
        rows = 0
        for path, size in zip(paths, sizes, strict=True):
            expected = self.estimate([attribute], [size], in_runs=in_runs)
            if expected > MAX_FETCHED_NUMBERS:
                raise DataError(
                    f"about {expected:,} distinct numbers would have to be fetched; round them, "
                    "make the column nominal by ranges, or exclude it",
                    source=self._source,
                    column=self._schema.attributes[attribute].name,
                )
            if portion and rows + expected > self.max_rows:
                yield portion
                portion, rows = [], 0
            portion = [*portion, path]
            rows += expected
        yield portion


LEVELS_PER_COPY = 4
"""Number of levels between copies of the rows of open nodes."""


class OpenCopies:
    """Keeps one copy of the rows of open nodes; the last one is dropped with the connection.

    Parameters
    ----------
    connection : Connection
        One that may create temporary tables.
    statements : Statements
        They read the copy if there is one.
    """

    def __init__(self, connection: Connection, statements: Statements) -> None:
        self._connection = connection
        self._statements = statements
        self.made = 0

    def is_due(self, paths: Iterable[int]) -> bool:
        """Return True if the last copy is at least `LEVELS_PER_COPY` levels above these nodes."""
        copy = self._statements.copy
        above = 0 if copy is None else min(map(self._statements.depth_of, copy.labels))
        depths = [self._statements.depth_of(path) for path in paths if path != ROOT]
        return bool(depths) and min(depths) - above >= LEVELS_PER_COPY

    def make(self, paths: Sequence[int]) -> None:
        """Copy the rows of all open nodes and drop the previous copy."""
        labels = {path: str(index) for index, path in enumerate(paths)}
        self.made += 1
        name = f"treewright_open_{self.made}"
        self._connection.run(self._statements.copying(name, labels))
        before = self._statements.copy
        self._statements.copy = OpenCopy(self._connection.dialect.quoted(name), labels)
        if before is not None:
            self._connection.run(f"DROP TABLE {before.relation}")


class SqlEngine(BaseOutOfCoreEngine):
    """Counts with SQL.

    Parameters
    ----------
    connection : Connection
        Closed by `shut` or at the end of a ``with`` statement.
    schema : Schema
        With a target.
    profile : TableProfile or None
        Profile of the table, if there is one.
    class_factors : sequence of float or None
        Factors on the weights of the cases of each class.
    source : str or None
        For messages and provenance; by default that of the connection.
    result_rows, few_numbers : int
        Limits of one result.
    temporary : bool
        Whether the rows of open nodes are copied to temporary tables every few levels: conditions then stay short,
        and rows of closed nodes are not read again.
    bootstraps : BootstrapSamples or None
        Of the trees of a forest; the column of row ids is checked first.

    Examples
    --------
    >>> import duckdb
    >>> from treewright.counting.sql.connection import connect
    >>> rows = duckdb.sql("SELECT * FROM (VALUES ('sun', 'no'), ('rain', 'yes'), ('rain', 'no')) t(sky, play)")
    >>> engine = SqlEngine.over(connect(rows), "play")
    >>> [[sky]] = engine.count([(engine.root(), [0])])
    >>> sky.counts.tolist(), engine.schema.attributes[0].values
    ([[1, 1], [1, 0]], ('rain', 'sun'))
    """

    def __init__(
        self,
        connection: Connection,
        schema: Schema,
        *,
        profile: TableProfile | None = None,
        class_factors: Sequence[float] | None = None,
        source: str | None = None,
        result_rows: int = RESULT_ROWS,
        few_numbers: int = FEW_NUMBERS,
        temporary: bool = False,
        bootstraps: BootstrapSamples | None = None,
    ) -> None:
        if temporary and bootstraps is not None:
            raise ParameterError("temporary tables are not supported for forests, whose trees share every scan")
        if temporary and not connection.may_copy:
            raise ParameterError(f"{connection.dialect.name} cannot create temporary tables here; train without them")
        super().__init__(schema, connection.source if source is None else source, bootstraps)
        self.name = connection.dialect.name
        self._connection = connection
        columns = connection.columns()
        names = [column.name for column in columns]
        for column in schema.columns:
            if column.name not in schema.ignored and column.name not in names:
                raise DataError(f"without the column {column.name!r}; there are {', '.join(names)}", source=self.source)
        for stored in columns:
            if stored.name in {*schema.attribute_names, schema.target, schema.weight}:
                stored.require_known(self.source)
        if bootstraps is not None and bootstraps.row_id is not None:
            if bootstraps.row_id not in names:
                raise DataError(unknown_name("column", bootstraps.row_id, names), source=self.source)
            self._known_rows = require_row_ids(connection, named(columns, bootstraps.row_id))
            self.scans += 1
        profile = profile_for(connection, schema, columns) if profile is None else profile
        self.scans += 0 if profile is None else profile.scans
        self._profile = profile
        self._known_rows = self._known_rows if profile is None else profile.n_rows
        whole = profile is None or profile.whole_weights
        if class_factors is not None:
            whole = whole and all(float(factor).is_integer() for factor in class_factors)
        self._statements = Statements(
            connection.dialect,
            connection.relation,
            schema,
            columns,
            whole_weights=whole,
            class_factors=class_factors,
            bootstraps=bootstraps,
        )
        self._copies = OpenCopies(connection, self._statements) if temporary else None
        self._decoder = Decoder(
            self._statements.stored,
            schema.attributes,
            self._statements.target,
            schema.target_column,
            whole=whole,
            weighted=self._statements.weighted,
            markers=schema.missing_markers,
            source=self.source,
        )
        self._runs = RunStatements(self._statements, profile.edges if profile is not None else {})
        self._sizes = ResultSizes(
            schema,
            None if profile is None else profile.distinct,
            self._size_of_all(),
            self._intervals,
            result_rows,
            few_numbers,
            self._runs.bins,
            connection.dialect.widest_statement,
            self.source,
        )
        self._node_at: dict[int, int] = {}

    @classmethod
    def over(
        cls,
        connection: Connection,
        target: str | None,
        overrides: Overrides | None = None,
        *,
        nominal_limit: int = 0,
        **options: Any,
    ) -> SqlEngine:
        """Return an engine whose schema is inferred from the table."""
        schema, profile = inferred(connection, connection.columns(), target, overrides, nominal_limit=nominal_limit)
        return cls(connection, schema, profile=profile, **options)

    # -- about the data ----------------------------------------------------------------------------------------------

    def shut(self) -> None:
        """Close the connection, which drops temporary tables."""
        self._connection.close()

    @property
    def scans_per_level(self) -> int:
        """Maximum number of scans per level, if its tables fit one result."""
        return 1 if self._regression or not self._high_cardinality() else 2

    @property
    def scans_ahead(self) -> int:
        """Scans before the first level is counted; the profile, or that level, may have the class counts."""
        if self._roots:
            return 0
        return 2 if self._regression else int(bool(self._high_cardinality()) and self._profiled_classes is None)

    @property
    def _profiled_classes(self) -> tuple[float, ...] | None:
        changed = self._statements.has_factors or self._statements.bootstraps is not None
        return None if self._profile is None or changed else self._profile.classes

    def _high_cardinality(self) -> list[int]:
        return [index for index in range(len(self._schema.attributes)) if self._sizes.is_high_cardinality(index)]

    def first_statement(self) -> str:
        """Return the statement that counts at the root, for display."""
        attributes = range(len(self._schema.attributes))
        keys = {attribute: self._key(attribute) for attribute in attributes}
        roots = {path: str(path) for path in range(self._trees)}
        means = dict.fromkeys(roots, self._connection.dialect.number(0)) if self._regression else None
        return self._statements.counting(roots, keys, means)

    # -- nodes -------------------------------------------------------------------------------------------------------

    def _opened(self, path: int, summary: Summary) -> int:
        node = super()._opened(path, summary)
        self._node_at[path] = node
        return node

    def close(self, node: int) -> None:
        """Forget a node that became a leaf; the tables of the top of the tree are kept."""
        self._node_at.pop(self._open[node], None)
        super().close(node)

    def restore(self, node: int, split: Split, summaries: Sequence[Summary]) -> list[int]:
        """Split a node whose children are known."""
        path = self._open[node]
        self.close(node)
        return [
            self._opened(self._statements.path_below(path, split, branch), summary)
            for branch, summary in enumerate(summaries)
        ]

    def _roots_of(self, trees: Sequence[int]) -> list[Summary]:
        return self._number_roots(trees) if self._regression else self._class_roots(trees)

    def _take_all(self, trees: Sequence[int]) -> None:
        if self._statements.bootstraps is not None:
            self._statements.bootstraps = self._statements.bootstraps.with_all(trees)

    def _class_roots(self, trees: Sequence[int]) -> list[Summary]:
        """Return the class counts, from the profile if the first level has to be counted by runs.

        Otherwise all attributes are counted at once, and the class counts are the sums of any table.
        """
        if self._profile is not None and self._profiled_classes is not None and self._high_cardinality():
            kind = np.int64 if self._profile.whole_weights else np.float64
            return [class_summary(np.array(self._profiled_classes, dtype=kind), self._profile.cases)]
        attributes = [
            index for index in range(len(self._schema.attributes)) if not self._sizes.is_high_cardinality(index)
        ]
        sizes = [self._size_of_all()] * len(trees)
        if attributes and self._sizes.estimate(attributes, sizes) <= self._sizes.max_rows:
            self._count_at(trees, attributes)
            tables = [self._tables[tree][attributes[0]].table for tree in trees]
        else:
            labels = {tree: str(index) for index, tree in enumerate(trees)}
            tables = [one.table for one in self._counted(labels, {0: "0"}, {0: 1}, trees)[0]]
        return [class_summary_of(table) for table in tables]

    def _number_roots(self, trees: Sequence[int]) -> list[Summary]:
        dialect = self._connection.dialect
        weight = dialect.cast("w", "double") if self._statements.weighted else "1"
        tree = "0" if self._statements.bootstraps is None else "tree"
        result = self._query(
            f"SELECT {tree} AS tree, COUNT(*) AS n, SUM({weight} * y) / SUM({weight}) AS mean "
            f"FROM ({self._statements.rows()}) r{'' if tree == '0' else ' GROUP BY tree'}"
        )
        cases = dict(zip(result[0].integers().tolist(), result[1].integers().tolist(), strict=True))
        means = dict(zip(result[0].integers().tolist(), result[2].numbers().tolist(), strict=True))
        sampled_trees = [one for one in trees if cases.get(one)]
        roots = {one: Summary(0.0, 0, np.zeros(3), pure=True) for one in trees}
        if sampled_trees:
            labels = {one: str(index) for index, one in enumerate(sampled_trees)}
            about = {one: dialect.number(means[one]) for one in sampled_trees}
            found = self._counted(labels, {0: "0"}, {0: 1}, sampled_trees, about)[0]
            for one, counted in zip(sampled_trees, found, strict=True):
                low = 0.0 if counted.low is None else float(counted.low[0])
                high = 0.0 if counted.high is None else float(counted.high[0])
                roots[one] = number_summary(counted.table.counts[0], cases[one], means[one], low, high)
        return [roots[one] for one in trees]

    def _size_of_all(self) -> int:
        return UNKNOWN_SIZE if self._profile is None else self._profile.n_rows

    # -- counting ----------------------------------------------------------------------------------------------------

    def _count_at(
        self,
        paths: Sequence[int],
        attributes: Sequence[int],
        run_filter: RunFilter | None = None,
        node_of: Mapping[int, int] | None = None,
    ) -> None:
        if self._copies is not None and self._copies.is_due(paths):
            open_paths = [self._open[node] for node in sorted(self._open) if self._described[node].cases > 0]
            self.scans += 1
            self._copies.make(open_paths)
        sizes = [self._cases_at(path) for path in paths]
        for some_paths, some in self._sizes.portions(paths, sizes, attributes, in_runs=run_filter is not None):
            in_runs = {
                attribute: [
                    index for index, path in enumerate(some_paths) if self._in_runs(path, attribute, run_filter)
                ]
                for attribute in some
            }
            in_runs = {attribute: node_indices for attribute, node_indices in in_runs.items() if node_indices}
            labels = {path: str(index) for index, path in enumerate(some_paths)}
            keys = {attribute: self._key(attribute) for attribute in some}
            if not in_runs or run_filter is None:
                found = self._counted(labels, keys, self._outcomes(some), some_paths, self._means(some_paths))
            else:
                found = self._runs.counted(
                    self._query,
                    self._decoder,
                    labels,
                    keys,
                    self._outcomes(some),
                    in_runs,
                    run_filter,
                    [self._node_at[path] for path in some_paths],
                    few_open=self._few_open(some_paths),
                )
            for attribute, tables in found.items():
                for path, counted in zip(some_paths, tables, strict=True):
                    self._tables.setdefault(path, {})[attribute] = counted

    def _counted(
        self,
        labels: Mapping[int, str],
        keys: Mapping[int, str],
        outcomes: Mapping[int, int | None],
        paths: Sequence[int],
        means: Mapping[int, str] | None = None,
    ) -> dict[int, list[CountedTable]]:
        statement = self._statements.counting(labels, keys, means, few_open=self._few_open(paths))
        parts = self._statements.mask_parts([f"k{attribute}" for attribute in keys])
        return self._decoder.tables(self._query(statement), list(keys), parts, len(paths), outcomes)

    def _few_open(self, paths: Sequence[int]) -> bool:
        """Return True if fewer than half of the rows belong to these nodes."""
        if not self._roots or min(paths) < self._trees:
            return False
        return 2 * sum(self._cases_at(path) for path in paths) < sum(root.cases for root in self._roots)

    def _cases_at(self, path: int) -> int:
        node = self._node_at.get(path)
        return self._size_of_all() if node is None else self._described[node].cases

    def _in_runs(self, path: int, attribute: int, run_filter: RunFilter | None) -> bool:
        if run_filter is None or self._regression:
            return False
        return self._sizes.is_high_cardinality(attribute) and self._cases_at(path) > self._sizes.few_numbers

    def _key(self, attribute: int) -> str:
        if attribute in self._intervals:
            return self._statements.interval_code(f"c{attribute}", self._intervals[attribute])
        return f"c{attribute}"

    def _outcomes(self, attributes: Sequence[int]) -> dict[int, int | None]:
        return {
            attribute: len(self._intervals[attribute]) + 1 if attribute in self._intervals else None
            for attribute in attributes
        }

    def _means(self, paths: Sequence[int]) -> dict[int, str] | None:
        if not self._regression:
            return None
        return dict(zip(paths, map(self._connection.dialect.number, self._means_at(paths)), strict=True))

    def _query(self, statement: str) -> list[Any]:
        self.scans += 1
        return self._connection.query(statement)

    # -- numbers -----------------------------------------------------------------------------------------------------

    def _known_missing(self) -> dict[str, int]:
        return {} if self._profile is None else self._profile.missing

    def _known_numbers(self, attribute: int) -> npt.NDArray[np.float64] | None:
        counted = self._tables.get(ROOT, {}).get(attribute)
        return None if counted is None or counted.table.highest is not None else counted.table.values

    def _largest_between(
        self, bounds: Sequence[Mapping[int, Sequence[float]]]
    ) -> list[dict[int, npt.NDArray[np.float64]]]:
        self.scans += 1
        return largest_numbers_by_tree(self._connection, self._statements, bounds)

    # -- cases -------------------------------------------------------------------------------------------------------

    def fetch(self, nodes: Sequence[int]) -> list[Dataset]:
        """Return the cases of open nodes, in one statement."""
        paths = [self._open[node] for node in nodes]
        statement = self._statements.members({path: str(index) for index, path in enumerate(paths)})
        self.scans += 1
        return fetched_rows(self._connection, statement, self._statements, self._decoder, len(paths), self.source)

    def distinct_rows(self, cuts: Mapping[int, Sequence[float]], limit: int) -> Dataset | None:
        """Return cases grouped by target and the attributes in `cuts`; None if there are more than `limit` groups."""
        self.scans += 1
        return grouped_rows(self._connection, self._statements, self._decoder, cuts, limit, self.source)
