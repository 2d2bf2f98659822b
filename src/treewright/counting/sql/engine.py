"""The engine that counts in a database, a level in one statement.

How large an answer will be, and how a request is divided so that each answer is of bearable size.

Temporary tables of our own: the rows of open nodes, each with its node. Where they are allowed conditions stay short
however deep the tree is, and rows of closed nodes are not read again.

The engine that counts in a database, a level in one statement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.counting.engine import Sieve, Summary
from treewright.counting.out_of_core import Counted, OutsideEngine, class_summary, number_summary
from treewright.counting.row_sampling import Bags
from treewright.counting.sql.answers import Decoder, RunStatements, fetched_rows, grouped_rows, largest_numbers_by_tree
from treewright.counting.sql.connection import Connection
from treewright.counting.sql.dialect import named
from treewright.counting.sql.profile import Facts, facts_for, inferred
from treewright.counting.sql.statements import ROOT, OpenCopy, Statements, require_key
from treewright.data.dataset import Dataset
from treewright.data.infer import Overrides
from treewright.data.schema import Schema, Task
from treewright.errors import DataError, ParameterError
from treewright.tree.split import Split
from treewright.wording import unknown_name

RESULT_ROWS = 2_000_000
"""Rows that one statement may return; more nodes and attributes are counted by several."""

FEW_NUMBERS = 20_000
"""Up to so many different numbers in a node all of them are fetched at once."""

MOST_NUMBERS = 50_000_000
"""More different numbers in one table are refused where all of them are needed."""

UNKNOWN_SIZE = RESULT_ROWS
"""A table that nothing is known of is taken to have so many rows."""


class AnswerSizes:
    """Estimates the rows of answers.

    Parameters
    ----------
    schema : Schema
    distinct : dict of str to int or None
        About how many different numbers a column has.
    size : int
        Of the table.
    intervals : dict of int to tuple of float
        Bounds of the attributes that are counted by intervals, as they are at the time.
    most, few : int
        Rows of one answer; numbers that are fetched wherever they are asked for.
    bins : callable
        Tells the number of runs of an attribute.
    widest : int
        Attributes that one statement may count.
    source : str or None
    """

    def __init__(
        self,
        schema: Schema,
        distinct: Mapping[str, int] | None,
        size: int,
        intervals: Mapping[int, tuple[float, ...]],
        most: int,
        few: int,
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
        self.most = most
        self.few = few

    def outcomes(self, attribute: int) -> int:
        """Return about how many rows a table has, whatever the classes."""
        column = self._schema.attributes[attribute]
        if attribute in self._intervals:
            return len(self._intervals[attribute]) + 2
        if not column.is_numeric:
            return len(column.values) + 1
        return self._size if self._distinct is None else self._distinct[column.name] + 1

    def is_many(self, attribute: int) -> bool:
        """Tell whether an attribute has too many numbers to fetch all of them wherever they are asked for."""
        column = self._schema.attributes[attribute]
        return column.is_numeric and attribute not in self._intervals and self.outcomes(attribute) > self.few

    def estimate(self, attributes: Sequence[int], sizes: Sequence[int], *, in_runs: bool = False) -> int:
        """Return about how many rows the tables of attributes at nodes of these sizes have."""
        rows = 0
        for attribute in attributes:
            cells = self.outcomes(attribute) * self._classes
            runs = self._bins(attribute) * (self._classes + 1) if in_runs and self.is_many(attribute) else 0
            rows += sum(runs if runs and size > self.few else min(size, cells) for size in sizes)
        return rows

    def portions(
        self, paths: Sequence[int], sizes: Sequence[int], attributes: Sequence[int], *, in_runs: bool
    ) -> Iterator[tuple[list[int], list[int]]]:
        """Divide a request into nodes and attributes that can be counted at once."""
        portion: list[int] = []
        rows = 0
        for attribute in attributes:
            expected = self.estimate([attribute], sizes, in_runs=in_runs)
            if expected > self.most:
                for some in self._by_nodes(paths, sizes, attribute, in_runs=in_runs):
                    yield some, [attribute]
                continue
            if portion and (rows + expected > self.most or len(portion) == self._widest):
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
            if expected > MOST_NUMBERS:
                raise DataError(
                    f"all of about {expected:,} different numbers would have to be fetched; round them, "
                    "declare the column nominal by ranges, or leave it out",
                    source=self._source,
                    column=self._schema.attributes[attribute].name,
                )
            if portion and rows + expected > self.most:
                yield portion
                portion, rows = [], 0
            portion = [*portion, path]
            rows += expected
        yield portion


LEVELS_PER_COPY = 4
"""Levels after which the rows of open nodes are copied anew."""


class OpenCopies:
    """Keeps one copy at a time; the last one vanishes with the connection.

    Parameters
    ----------
    connection : Connection
        One that may make temporary tables.
    statements : Statements
        They read the copy once there is one.
    """

    def __init__(self, connection: Connection, statements: Statements) -> None:
        self._connection = connection
        self._statements = statements
        self.made = 0

    def is_due(self, paths: Iterable[int]) -> bool:
        """Tell whether the last copy is some levels above these nodes."""
        copy = self._statements.copy
        above = 0 if copy is None else min(map(self._statements.depth_of, copy.labels))
        depths = [self._statements.depth_of(path) for path in paths if path != ROOT]
        return bool(depths) and min(depths) - above >= LEVELS_PER_COPY

    def make(self, paths: Sequence[int]) -> None:
        """Copy the rows of all open nodes, and drop the copy before."""
        labels = {path: str(place) for place, path in enumerate(paths)}
        self.made += 1
        name = f"treewright_open_{self.made}"
        self._connection.run(self._statements.copying(name, labels))
        before = self._statements.copy
        self._statements.copy = OpenCopy(self._connection.dialect.quoted(name), labels)
        if before is not None:
            self._connection.run(f"DROP TABLE {before.relation}")


class SqlEngine(OutsideEngine):
    """Counts by SQL.

    Parameters
    ----------
    connection : Connection
        It is closed by `shut`, or at the end of a ``with`` statement.
    schema : Schema
        With a target.
    facts : Facts or None
        What is known of the table already.
    class_factors : sequence of float or None
        Factors on the weights of the cases of each class.
    source : str or None
        For messages and provenance; None takes that of the connection.
    result_rows, few_numbers : int
        Limits of one answer.
    temporary : bool
        Whether rows of open nodes may be copied to temporary tables, every few levels: conditions stay
        short then, and rows of closed nodes are not read again.
    bags : Bags or None
        The trees of a forest; the key of the rows is looked at first.

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
        facts: Facts | None = None,
        class_factors: Sequence[float] | None = None,
        source: str | None = None,
        result_rows: int = RESULT_ROWS,
        few_numbers: int = FEW_NUMBERS,
        temporary: bool = False,
        bags: Bags | None = None,
    ) -> None:
        if temporary and bags is not None:
            raise ParameterError("the trees of a forest share every scan, and copies are of one tree; leave them out")
        if temporary and not connection.may_copy:
            raise ParameterError(f"{connection.dialect.name} can make no temporary table here; learn without them")
        super().__init__(schema, connection.source if source is None else source, bags)
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
        if bags is not None and bags.key is not None:
            if bags.key not in names:
                raise DataError(unknown_name("column", bags.key, names), source=self.source)
            self._known_rows = require_key(connection, named(columns, bags.key))
            self.scans += 1
        facts = facts_for(connection, schema, columns) if facts is None else facts
        self.scans += 0 if facts is None else facts.scans
        self._facts = facts
        self._known_rows = self._known_rows if facts is None else facts.n_rows
        whole = facts is None or facts.whole_weights
        if class_factors is not None:
            whole = whole and all(float(factor).is_integer() for factor in class_factors)
        self._statements = Statements(
            connection.dialect,
            connection.relation,
            schema,
            columns,
            whole_weights=whole,
            class_factors=class_factors,
            bags=bags,
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
        self._runs = RunStatements(self._statements, facts.edges if facts is not None else {})
        self._sizes = AnswerSizes(
            schema,
            None if facts is None else facts.distinct,
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
        schema, facts = inferred(connection, connection.columns(), target, overrides, nominal_limit=nominal_limit)
        return cls(connection, schema, facts=facts, **options)

    # -- about the data ----------------------------------------------------------------------------------------------

    def shut(self) -> None:
        """Close the connection; temporary tables go with it, so nothing is left behind."""
        self._connection.close()

    @property
    def scans_per_level(self) -> int:
        """Scans that a level takes at most, if its tables fit one answer."""
        return 1 if self._regression or not self._many() else 2

    @property
    def scans_ahead(self) -> int:
        """Scans that it takes before the first level is counted: classes may be told by the facts, or by that level."""
        if self._roots:
            return 0
        return 2 if self._regression else int(bool(self._many()) and self._told_classes is None)

    @property
    def _told_classes(self) -> tuple[float, ...] | None:
        changed = self._statements.has_factors or self._statements.bags is not None
        return None if self._facts is None or changed else self._facts.classes

    def _many(self) -> list[int]:
        return [index for index in range(len(self._schema.attributes)) if self._sizes.is_many(index)]

    def first_statement(self) -> str:
        """Return the statement that counts at the root, for people to read."""
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
        """Divide a node whose children are known."""
        path = self._open[node]
        self.close(node)
        return [
            self._opened(self._statements.path_below(path, split, branch), summary)
            for branch, summary in enumerate(summaries)
        ]

    def _roots_of(self, trees: Sequence[int]) -> list[Summary]:
        return self._number_roots(trees) if self._regression else self._class_roots(trees)

    def _take_all(self, trees: Sequence[int]) -> None:
        if self._statements.bags is not None:
            self._statements.bags = self._statements.bags.with_all(trees)

    def _class_roots(self, trees: Sequence[int]) -> list[Summary]:
        """Return the classes as the facts tell them, where the first level has to be counted with a sieve.

        Else all attributes are counted at once: classes are sums of any table.
        """
        if self._facts is not None and self._told_classes is not None and self._many():
            kind = np.int64 if self._facts.whole_weights else np.float64
            return [class_summary(np.array(self._told_classes, dtype=kind), self._facts.cases)]
        attributes = [index for index in range(len(self._schema.attributes)) if not self._sizes.is_many(index)]
        sizes = [self._size_of_all()] * len(trees)
        if attributes and self._sizes.estimate(attributes, sizes) <= self._sizes.most:
            self._count_at(trees, attributes)
            tables = [self._tables[tree][attributes[0]].table for tree in trees]
        else:
            labels = {tree: str(place) for place, tree in enumerate(trees)}
            tables = [one.table for one in self._counted(labels, {0: "0"}, {0: 1}, trees)[0]]
        return [
            class_summary(table.counts.sum(axis=0) + table.unknown, int(table.cases.sum()) + table.unknown_cases)
            for table in tables
        ]

    def _number_roots(self, trees: Sequence[int]) -> list[Summary]:
        dialect = self._connection.dialect
        weight = dialect.cast("w", "double") if self._statements.weighted else "1"
        tree = "0" if self._statements.bags is None else "tree"
        answer = self._ask(
            f"SELECT {tree} AS tree, COUNT(*) AS n, SUM({weight} * y) / SUM({weight}) AS mean "
            f"FROM ({self._statements.rows()}) r{'' if tree == '0' else ' GROUP BY tree'}"
        )
        cases = dict(zip(answer[0].integers().tolist(), answer[1].integers().tolist(), strict=True))
        means = dict(zip(answer[0].integers().tolist(), answer[2].numbers().tolist(), strict=True))
        drawn = [one for one in trees if cases.get(one)]
        roots = {one: Summary(0.0, 0, np.zeros(3), pure=True) for one in trees}
        if drawn:
            labels = {one: str(place) for place, one in enumerate(drawn)}
            about = {one: dialect.number(means[one]) for one in drawn}
            found = self._counted(labels, {0: "0"}, {0: 1}, drawn, about)[0]
            for one, counted in zip(drawn, found, strict=True):
                low = 0.0 if counted.low is None else float(counted.low[0])
                high = 0.0 if counted.high is None else float(counted.high[0])
                roots[one] = number_summary(counted.table.counts[0], cases[one], means[one], low, high)
        return [roots[one] for one in trees]

    def _size_of_all(self) -> int:
        return UNKNOWN_SIZE if self._facts is None else self._facts.n_rows

    # -- counting ----------------------------------------------------------------------------------------------------

    def _count_at(
        self,
        paths: Sequence[int],
        attributes: Sequence[int],
        sieve: Sieve | None = None,
        node_of: Mapping[int, int] | None = None,
    ) -> None:
        if self._copies is not None and self._copies.is_due(paths):
            open_paths = [self._open[node] for node in sorted(self._open) if self._described[node].cases > 0]
            self.scans += 1
            self._copies.make(open_paths)
        sizes = [self._cases_at(path) for path in paths]
        for some_paths, some in self._sizes.portions(paths, sizes, attributes, in_runs=sieve is not None):
            in_runs = {
                attribute: [place for place, path in enumerate(some_paths) if self._in_runs(path, attribute, sieve)]
                for attribute in some
            }
            in_runs = {attribute: places for attribute, places in in_runs.items() if places}
            labels = {path: str(place) for place, path in enumerate(some_paths)}
            keys = {attribute: self._key(attribute) for attribute in some}
            if not in_runs or sieve is None:
                found = self._counted(labels, keys, self._outcomes(some), some_paths, self._means(some_paths))
            else:
                found = self._runs.counted(
                    self._ask,
                    self._decoder,
                    labels,
                    keys,
                    self._outcomes(some),
                    in_runs,
                    sieve,
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
    ) -> dict[int, list[Counted]]:
        statement = self._statements.counting(labels, keys, means, few_open=self._few_open(paths))
        parts = self._statements.mask_parts([f"k{attribute}" for attribute in keys])
        return self._decoder.tables(self._ask(statement), list(keys), parts, len(paths), outcomes)

    def _few_open(self, paths: Sequence[int]) -> bool:
        """Tell whether most rows belong to none of these nodes."""
        if not self._roots or min(paths) < self._trees:
            return False
        return 2 * sum(self._cases_at(path) for path in paths) < sum(root.cases for root in self._roots)

    def _cases_at(self, path: int) -> int:
        node = self._node_at.get(path)
        return self._size_of_all() if node is None else self._described[node].cases

    def _in_runs(self, path: int, attribute: int, sieve: Sieve | None) -> bool:
        if sieve is None or self._regression:
            return False
        return self._sizes.is_many(attribute) and self._cases_at(path) > self._sizes.few

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

    def _ask(self, statement: str) -> list[Any]:
        self.scans += 1
        return self._connection.ask(statement)

    # -- numbers -----------------------------------------------------------------------------------------------------

    def _known_missing(self) -> dict[str, int]:
        return {} if self._facts is None else self._facts.missing

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
        statement = self._statements.members({path: str(place) for place, path in enumerate(paths)})
        self.scans += 1
        return fetched_rows(self._connection, statement, self._statements, self._decoder, len(paths), self.source)

    def distinct_rows(self, cuts: Mapping[int, Sequence[float]], limit: int) -> Dataset | None:
        """Return the cases with equal ones put together, as far as target and the attributes in `cuts` tell."""
        self.scans += 1
        return grouped_rows(self._connection, self._statements, self._decoder, cuts, limit, self.source)
