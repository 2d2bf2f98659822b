"""The text of statements that count and of statements that sample rows; nothing is run here.

The bootstrap samples of `treewright.counting.row_sampling` in SQL have every row once for each tree, with the number of
times it is sampled. Products are nested SELECTs, because an expression that is used twice would be computed twice.

A counting statement has three layers, so that names of the table occur once::

    rows      SELECT <column> AS c0, ..., <target> AS y, <weight> AS w FROM <table>
    members   SELECT c0, ..., y, w, <node> AS node FROM (rows)
    counts    SELECT node, y, c0, ..., COUNT(*) FROM (members) GROUP BY GROUPING SETS ((node, y, c0), ...)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from treewright.counting.row_sampling import (
    ALL_ROWS,
    HASH_DIGITS,
    POISSON_THRESHOLDS,
    PRIME,
    SECOND_PRIME,
    BootstrapSamples,
    require_unique,
)
from treewright.counting.sql.connection import Connection
from treewright.counting.sql.dialect import Dialect, Family, StoredColumn
from treewright.data.schema import Schema, Task
from treewright.errors import DataError
from treewright.tree.split import Split, Test


def require_row_ids(connection: Connection, row_id: StoredColumn) -> int:
    """Return the number of rows; raise unless row ids are unique. Takes one scan."""
    if row_id.family not in (Family.INTEGER, Family.TEXT, Family.CELL):
        raise DataError(
            f"the key must be a column of integers or texts, not of type {row_id.type.lower() or row_id.family}",
            source=connection.source,
            column=row_id.name,
        )
    value = row_id.nominal(connection.dialect)
    result = connection.query(
        f"SELECT COUNT(*) AS n, COUNT(k) AS known, COUNT(DISTINCT k) AS different "
        f"FROM (SELECT {value} AS k FROM {connection.relation}) r"
    )
    rows, known, different = (int(column.integers()[0]) for column in result)
    require_unique(rows, known, different, row_id.name, connection.source)
    return rows


def row_hashes(row_id: StoredColumn, dialect: Dialect) -> tuple[str, str, str]:
    """Return the expression of a row id over the table, and of its two hashes over that, which is named `h`."""
    if row_id.family is Family.INTEGER:
        first, second = (f"((h % {prime}) + {prime}) % {prime}" for prime in (PRIME, SECOND_PRIME))
        return row_id.nominal(dialect), first, second
    first, second = (dialect.hex_number.format(f"SUBSTR(h, {start}, {HASH_DIGITS})") for start in (1, 1 + HASH_DIGITS))
    return dialect.digest.format(row_id.nominal(dialect)), first, second


def bootstrap_rows(
    rows: str, columns: list[str], bootstraps: BootstrapSamples, dialect: Dialect, *, weighted: bool
) -> str:
    """Return the rows of all bootstrap samples: the columns, the weight `w`, and the number of the `tree`.

    Parameters
    ----------
    rows : str
        A SELECT of the columns, of the hashes `r1` and `r2` if rows are sampled, and of `w0` if they have weights.
    columns : list of str
    bootstraps : BootstrapSamples
    dialect : Dialect
    weighted : bool
    """
    listed = ", ".join(f"({tree}, {a}, {b})" for tree, (a, b) in enumerate(bootstraps.seeds))
    trees = f"(VALUES {listed}) AS t(tree, a, b)"
    own = "w0" if weighted else "1"
    kept = [*columns, *(["w0"] if weighted else []), "tree"]
    if bootstraps.row_id is None:
        picks = ", ".join((*columns, f"{own} AS w", "tree"))
        return f"SELECT {picks} FROM ({rows}) b CROSS JOIN {trees}"
    fixed = ", ".join((*kept, "a", "b", "r2"))
    layer = f"SELECT {', '.join((*kept, 'a', 'b', 'r2'))}, (r1 + a) % {PRIME} AS x FROM ({rows}) r CROSS JOIN {trees}"
    for addend in (" + r2 + b", " + a", ""):
        squared = f"SELECT {fixed}, x, x * x % {PRIME} AS q FROM ({layer}{dialect.barrier}) s"
        power = f"q * q % {PRIME} * x % {PRIME}"
        power = f"({power}{addend}) % {PRIME}" if addend else power
        layer = f"SELECT {fixed}, {power} AS x FROM ({squared}{dialect.barrier}) s"
    steps = " ".join(f"WHEN x < {below} THEN {count}" for count, below in enumerate(POISSON_THRESHOLDS))
    count = f"CASE WHEN a = {ALL_ROWS} THEN 1 {steps} ELSE {len(POISSON_THRESHOLDS)} END"
    count = f"{own} * {count}" if weighted else count
    sampled = f"SELECT {', '.join(kept)}, {count} AS w FROM ({layer}{dialect.barrier}) s"
    return f"SELECT {', '.join((*columns, 'w', 'tree'))} FROM ({sampled}{dialect.barrier}) d WHERE w > 0"


NESTED = 50
"""Deeper trees are written as flat conditions: parsers limit the nesting."""

ROOT = 0
"""The path of the root."""


@dataclass(frozen=True)
class BranchStep:
    """The last step of a path: the branch of a split of its parent."""

    parent: int
    split: Split
    branch: int
    depth: int


@dataclass(frozen=True)
class OpenCopy:
    """A temporary table with the rows of the nodes that were open when it was created.

    Parameters
    ----------
    relation : str
        Its quoted name; its columns are those of `Statements.rows` and `base`.
    labels : dict of int to str
        The value of `base` for each path.
    """

    relation: str
    labels: Mapping[int, str]


class Statements:
    """Writes statements over one table.

    Parameters
    ----------
    dialect : Dialect
    relation : str
        SQL of the relation in FROM.
    schema : Schema
    columns : sequence of StoredColumn
    whole_weights : bool
        Whether weights are summed as integers.
    class_factors : sequence of float or None
        Factors on the weights of the cases of each class.
    bootstraps : BootstrapSamples or None
        Of the trees of a forest. The path of the root of each tree is the number of the tree.
    """

    def __init__(
        self,
        dialect: Dialect,
        relation: str,
        schema: Schema,
        columns: Sequence[StoredColumn],
        *,
        whole_weights: bool = True,
        class_factors: Sequence[float] | None = None,
        bootstraps: BootstrapSamples | None = None,
    ) -> None:
        self.dialect = dialect
        self.schema = schema
        by_name = {column.name: column for column in columns}
        self.stored = [by_name[column.name] for column in schema.attributes]
        self.known = tuple(columns)
        # In prediction there may be no target.
        nothing = StoredColumn(schema.target_column.name, schema.target_column.name, "", Family.OTHER)
        self.target = by_name.get(schema.target_column.name, nothing)
        self._weight = None if schema.weight is None else by_name[schema.weight]
        self._whole = whole_weights
        self._factors = class_factors
        self.regression = schema.task is Task.REGRESSION
        self.relation = relation
        self.copy: OpenCopy | None = None
        self.bootstraps = bootstraps
        self._row_id = None if bootstraps is None or bootstraps.row_id is None else by_name[bootstraps.row_id]
        self.steps: list[BranchStep | None] = [None] * (1 if bootstraps is None else len(bootstraps))
        self._interned: dict[tuple[int, Split, int], int] = {}

    @property
    def weighted(self) -> bool:
        """Whether cases have weights."""
        return self._has_weights or self.bootstraps is not None

    @property
    def _has_weights(self) -> bool:
        return self._weight is not None or self._factors is not None

    @property
    def has_factors(self) -> bool:
        """Whether classes have factors on their weights."""
        return self._factors is not None

    # -- paths -------------------------------------------------------------------------------------------------------

    def path_below(self, parent: int, split: Split, branch: int) -> int:
        """Return the path of a branch; the same branch of the same split has the same path."""
        key = (parent, split, branch)
        if key not in self._interned:
            above = self.steps[parent]
            self._interned[key] = len(self.steps)
            self.steps.append(BranchStep(parent, split, branch, 1 if above is None else above.depth + 1))
        return self._interned[key]

    def depth_of(self, path: int) -> int:
        """Return the number of splits above a path."""
        step = self.steps[path]
        return 0 if step is None else step.depth

    def member(self, labels: Mapping[int, str]) -> str:
        """Return the expression of the label of the path that a row belongs to, NULL if it belongs to none of these."""
        if ROOT in labels and self.bootstraps is None:
            return labels[ROOT]
        copied = self.copy.labels if self.copy is not None and self._is_copied(labels) else {}
        if max(self.depth_of(path) for path in labels) - self._depth_of_copy(copied) > NESTED:
            return self._flat(labels, copied)
        below: dict[int, dict[int, int]] = {}
        tops: dict[int, None] = {}
        for path in labels:
            here = path
            while (step := self.steps[here]) is not None and here not in copied:
                if step.branch in below.setdefault(step.parent, {}):
                    break
                below[step.parent][step.branch] = here
                here = step.parent
            else:
                tops[here] = None
        if not copied and self.bootstraps is None:
            return self._nested(ROOT, labels, below)
        parts = [f"WHEN {copied.get(top, top)} THEN {self._nested(top, labels, below)}" for top in tops]
        return f"CASE {'base' if copied else 'tree'} {' '.join(parts)} END"

    def _depth_of_copy(self, copied: Mapping[int, str]) -> int:
        return min((self.depth_of(path) for path in copied), default=0)

    def _is_copied(self, labels: Iterable[int]) -> bool:
        """Return True if all rows of some paths are in the copy."""
        return self.copy is not None and all(self._copied_above(path) is not None for path in labels)

    def _copied_above(self, path: int) -> int | None:
        """Return the path, at or above this one, whose rows are in the copy."""
        copied = {} if self.copy is None else self.copy.labels
        while path not in copied:
            step = self.steps[path]
            if step is None:
                return None
            path = step.parent
        return path

    def _nested(self, path: int, labels: Mapping[int, str], below: Mapping[int, Mapping[int, int]]) -> str:
        if path in labels:
            return labels[path]
        split = self._split_above(next(iter(below[path].values())))
        # The default branch takes all other rows, so its condition is not needed.
        rest = split.missing if len(below[path]) == split.n_branches else -1
        parts = [
            f"WHEN {self.condition(split, branch)} THEN {self._nested(child, labels, below)}"
            for branch, child in sorted(below[path].items())
            if branch != rest
        ]
        if rest >= 0:
            parts.append(f"ELSE {self._nested(below[path][rest], labels, below)}")
        return f"CASE {' '.join(parts)} END"

    def _split_above(self, path: int) -> Split:
        step = self.steps[path]
        if step is None:
            raise AssertionError(path)
        return step.split

    def _flat(self, labels: Mapping[int, str], copied: Mapping[int, str]) -> str:
        parts = []
        for path, label in labels.items():
            conditions = []
            here = path
            while (step := self.steps[here]) is not None and here not in copied:
                conditions.append(self.condition(step.split, step.branch))
                here = step.parent
            if here in copied:
                conditions.append(f"base = {copied[here]}")
            elif self.bootstraps is not None:
                conditions.append(f"tree = {here}")
            parts.append(f"WHEN {' AND '.join(reversed(conditions))} THEN {label}")
        return f"CASE {' '.join(parts)} END"

    def condition(self, split: Split, branch: int) -> str:
        """Return the condition of a branch; it is never NULL for a row that the branch takes."""
        column = f"c{split.attribute}"
        is_default = branch == split.missing
        if split.test is Test.THRESHOLD:
            known = f"{column} {'<=' if branch == 0 else '>'} {self.dialect.number(split.cut or 0.0)}"
            return f"({known} OR {column} IS NULL)" if is_default else known
        if split.test is Test.INTERVALS:
            return self._interval(split, branch, column, is_default)
        own = self._literals(split, [code for code, to in enumerate(split.branch_of) if to == branch])
        if is_default:
            others = self._literals(split, [code for code, to in enumerate(split.branch_of) if to not in (branch, -1)])
            # Values that belong to no branch are treated as missing.
            return f"({column} IS NULL OR {column} NOT IN ({', '.join(others)}))" if others else "(1 = 1)"
        return f"{column} IN ({', '.join(own)})" if own else "(1 = 0)"

    def _interval(self, split: Split, branch: int, column: str, is_default: bool) -> str:
        parts = []
        if 0 < branch <= len(split.bounds):
            parts.append(f"{column} > {self.dialect.number(split.bounds[branch - 1])}")
        if branch < len(split.bounds):
            parts.append(f"{column} <= {self.dialect.number(split.bounds[branch])}")
        known = " AND ".join(parts) if parts else "(1 = 0)"
        return f"(({known}) OR {column} IS NULL)" if is_default else f"({known})"

    def _literals(self, split: Split, codes: Sequence[int]) -> list[str]:
        values = self.schema.attributes[split.attribute].values
        stored = self.stored[split.attribute]
        written = (stored.literal(values[code], self.dialect) for code in codes)
        return [literal for literal in written if literal is not None]

    # -- layers ------------------------------------------------------------------------------------------------------

    def rows(self) -> str:
        """Return the innermost layer: renamed columns without cases of weight zero, or their bootstrap samples."""
        picks = [f"{self.column(index)} AS c{index}" for index in range(len(self.stored))]
        target = self.target.numeric(self.dialect) if self.regression else self.target.nominal(self.dialect)
        picks.append(f"{target} AS y")
        where = ""
        if self._has_weights:
            weight = self.weight_expression()
            picks.append(f"{weight} AS {'w' if self.bootstraps is None else 'w0'}")
            where = f" WHERE {weight} > 0"
        if self.bootstraps is None:
            return f"SELECT {', '.join(picks)} FROM {self.relation}{where}"
        columns = [*(f"c{index}" for index in range(len(self.stored))), "y"]
        rows = f"SELECT {', '.join(picks)} FROM {self.relation}{where}"
        if self._row_id is not None:
            row_id, first, second = row_hashes(self._row_id, self.dialect)
            inner = f"SELECT {', '.join((*picks, f'{row_id} AS h'))} FROM {self.relation}{where}"
            kept = [*columns, *(["w0"] if self._has_weights else [])]
            kept += [f"{first} AS r1", f"{second} AS r2"]
            rows = f"SELECT {', '.join(kept)} FROM ({inner}{self.dialect.barrier}) h"
        return bootstrap_rows(rows, columns, self.bootstraps, self.dialect, weighted=self._has_weights)

    def weight_expression(self) -> str:
        """Return the weight of a row."""
        weight = "1"
        if self._weight is not None:
            weight = self.dialect.quoted(self._weight.stored)
            if self._whole:
                weight = self.dialect.cast(weight, "bigint")
            elif self._weight.family is not Family.DECIMAL:
                weight = self._weight.numeric(self.dialect)
        if self._factors is None:
            return weight
        target = self.target.nominal(self.dialect)
        factors = []
        for value, factor in zip(self.schema.classes, self._factors, strict=True):
            literal = self.target.literal(value, self.dialect)
            number = str(int(factor)) if self._whole else self.dialect.number(factor)
            factors.append(f"WHEN {literal} THEN {number}")
        return f"{weight} * CASE {target} {' '.join(factors)} END"

    def column(self, index: int) -> str:
        """Return the expression of an attribute: doubles or categories, NULL if missing."""
        stored, attribute = self.stored[index], self.schema.attributes[index]
        return stored.numeric(self.dialect) if attribute.is_numeric else stored.nominal(self.dialect)

    def members(self, labels: Mapping[int, str], further: Sequence[str] = ()) -> str:
        """Return the rows of some paths with their labels and further expressions over c0, ..., y and w."""
        extra = "".join(f", {one}" for one in further)
        rows = self.rows()
        if self.copy is not None and self._is_copied(labels):
            rows = f"SELECT * FROM {self.copy.relation}"
        return f"SELECT r.*, {self.member(labels)} AS node{extra} FROM ({rows}) r"

    def copying(self, name: str, labels: Mapping[int, str]) -> str:
        """Return the statement that copies the rows of open nodes, each with its node, to a temporary table."""
        columns = [f"c{index}" for index in range(len(self.stored))]
        picks = ", ".join((*columns, "y", *(["w"] if self.weighted else []), "node AS base"))
        return (
            f"CREATE TEMPORARY TABLE {self.dialect.quoted(name)} AS "
            f"SELECT {picks} FROM ({self.members(labels)}) q WHERE node IS NOT NULL"
        )

    def interval_code(self, column: str, bounds: Sequence[float]) -> str:
        """Return the expression of the number of bounds below a number, by binary search; NULL stays NULL."""
        if not bounds:
            return f"CASE WHEN {column} IS NOT NULL THEN 0 END"

        def between(low: int, high: int) -> str:
            if low == high:
                return str(low)
            middle = (low + high) // 2
            test = f"{column} <= {self.dialect.number(bounds[middle])}"
            return f"CASE WHEN {test} THEN {between(low, middle)} ELSE {between(middle + 1, high)} END"

        return f"CASE WHEN {column} IS NOT NULL THEN {between(0, len(bounds))} END"

    def counting(
        self,
        labels: Mapping[int, str],
        keys: Mapping[int, str],
        means: Mapping[int, str] | None,
        *,
        few_open: bool = False,
    ) -> str:
        """Return the statement that counts the tables of all keys at all labelled paths.

        Parameters
        ----------
        labels : dict of int to str
            Numbers of paths.
        keys : dict of int to str
            For each attribute the expression to group by; it may use `node`.
        means : dict of int to str or None
            For a numeric target: the mean of each path.
        few_open : bool
            Whether most rows belong to closed nodes and are worth excluding before counting, which evaluates the
            member expression once more. Otherwise they are counted with a node that is NULL.
        """
        names = [f"k{attribute}" for attribute in keys]
        further = [f"{expression} AS k{attribute}" for attribute, expression in keys.items()]
        about_mean = [] if means is None else [f"y - ({self.member(means)}) AS d"]
        fixed = self.fixed
        sets = ", ".join(f"({', '.join((*fixed, name))})" for name in names)
        picks = [*self.masks(names), *fixed, *names, *self._sums()]
        keyed = f"SELECT m.*, {', '.join(further)} FROM ({self.members(labels, about_mean)}) m"
        where = " WHERE node IS NOT NULL" if few_open else ""
        return f"SELECT {', '.join(picks)} FROM ({keyed}{where}) q GROUP BY GROUPING SETS ({sets})"

    @property
    def fixed(self) -> tuple[str, ...]:
        """Columns that every table is grouped by, in addition to its key."""
        return ("node",) if self.regression else ("node", "y")

    def masks(self, names: Sequence[str]) -> list[str]:
        """Return the bit masks that identify the key that a row is grouped by."""
        return [f"{self.dialect.grouped_by(part)} AS m{index}" for index, part in enumerate(self.mask_parts(names))]

    def mask_parts(self, names: Sequence[str]) -> list[Sequence[str]]:
        """Split names into parts that fit one mask each."""
        widest = self.dialect.widest_grouping
        return [names[start : start + widest] for start in range(0, len(names), widest)]

    def _sums(self) -> list[str]:
        weight = "w" if self.weighted else "1"
        if not self.regression:
            return ["COUNT(*) AS n", f"SUM({weight}) AS s"] if self.weighted else ["COUNT(*) AS n"]
        weights = f"SUM({weight})" if self.weighted else "COUNT(*)"
        factor = f"{self.dialect.cast('w', 'double')} * " if self.weighted else ""
        return [
            "COUNT(*) AS n",
            f"{weights} AS s",
            f"SUM({factor}d) AS s1",
            f"SUM({factor}d * d) AS s2",
            "MIN(y) AS low",
            "MAX(y) AS high",
        ]
