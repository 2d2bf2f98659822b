"""Profile a table before it is counted: kinds of columns, numbers of distinct values, whether weights are integers.

One or two statements profile all columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from treewright.counting.out_of_core import MAX_CATEGORIES, QUANTILE_BINS
from treewright.counting.sql.connection import Connection, QueryResult
from treewright.counting.sql.dialect import EXACT, Dialect, Family, StoredColumn, grouping_mask, named
from treewright.data.columns import NumberColumn, RawTable, TextColumn, numbers_as_text, text_column
from treewright.data.infer import CLASS_LIMIT, Overrides, infer_schema
from treewright.data.schema import Kind, Schema, Task
from treewright.errors import DataError
from treewright.wording import unknown_name

MAX_FURTHER_AGGREGATES = 500
"""Maximum number of further aggregates in the statement of the profile: databases limit the number of columns."""

_PLAIN = "^[+-]?((0|[1-9][0-9]*)([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?$"


@dataclass(frozen=True)
class TableProfile:
    """The profile of a table.

    Parameters
    ----------
    n_rows : int
    distinct : dict of str to int
        Approximate number of distinct numbers of a numeric column.
    edges : dict of str to list of float
        Quantiles of a numeric column.
    missing : dict of str to int
        Number of missing values of an attribute.
    whole_weights : bool
    scans : int
        Number of statements of the profile.
    classes : tuple of float or None
        Weight of each class; None if it is unknown or not exact.
    cases : int
        Number of rows with a positive weight, if `classes` is known.
    """

    n_rows: int
    distinct: dict[str, int] = field(default_factory=dict)
    edges: dict[str, list[float]] = field(default_factory=dict)
    missing: dict[str, int] = field(default_factory=dict)
    whole_weights: bool = True
    scans: int = 0
    classes: tuple[float, ...] | None = None
    cases: int = 0


@dataclass(frozen=True)
class _ColumnProfile:
    """A column: cells that are not NULL, distinct values, and for numbers the range and the number of fractions."""

    known: int
    distinct: int
    low: float = math.nan
    high: float = math.nan
    broken: int = 0
    not_numbers: int = 0
    edges: tuple[float, ...] = ()
    integer: bool = False


def profile_for(connection: Connection, schema: Schema, columns: Sequence[StoredColumn]) -> TableProfile | None:
    """Return the profile that training by a given schema needs; None if it needs none."""
    wanted = [named(columns, column.name) for column in schema.attributes if column.is_numeric]
    if schema.target_column.is_numeric:
        wanted.append(named(columns, schema.target_column.name))
    if schema.weight is not None:
        wanted.append(named(columns, schema.weight))
    if not wanted:
        return None
    further = _further_aggregates(schema, columns, connection.dialect)
    n_rows, profiles, aggregates = _query_columns(connection, wanted, set(schema.attribute_names), further)
    profile = _table_profile(connection, schema, n_rows, profiles, 1)
    if not aggregates:
        return profile
    nominal = [column.name for column in schema.attributes if not column.is_numeric]
    missing = profile.missing | {name: n_rows - int(known) for name, known in zip(nominal, aggregates, strict=False)}
    cases, of_known_class, *classes = aggregates[len(nominal) :]
    # Unknown classes raise an error when tables are decoded; beyond `EXACT`, class counts are taken from tables.
    exact = not profile.whole_weights or sum(classes) < EXACT
    known = tuple(classes) if classes and exact and of_known_class == n_rows else None
    return replace(profile, missing=missing, classes=known, cases=int(cases))


def _further_aggregates(schema: Schema, columns: Sequence[StoredColumn], dialect: Dialect) -> list[tuple[str, str]]:
    """Return further aggregates: known cells of nominal attributes, cases, and the weight of each class.

    Each is an expression over the table and an aggregate of it, in which ``{}`` stands for the expression. The list is
    empty if one statement cannot hold all of them.
    """
    expressions = []
    for column in schema.attributes:
        if not column.is_numeric:
            stored = named(columns, column.name)
            markers = [marker for marker in schema.missing_markers if marker not in stored.codes(column)]
            texts = [] if stored.family.is_number or stored.family is Family.BOOLEAN else map(dialect.text, markers)
            listed = ", ".join(texts)
            value = stored.nominal(dialect)
            known = f"{value} NOT IN ({listed})" if listed else f"{value} IS NOT NULL"
            expressions.append((f"CASE WHEN {known} THEN 1 END", "COUNT({})"))
    weight = "1" if schema.weight is None else named(columns, schema.weight).numeric(dialect)
    target, stored = schema.target_column, named(columns, schema.target_column.name)
    literals = [stored.literal(value, dialect) for value in target.values]
    value = stored.nominal(dialect)
    listed_classes = ", ".join(literal for literal in literals if literal is not None)
    expressions.append((f"CASE WHEN {weight} > 0 THEN 1 END", "COUNT({})"))
    expressions.append(
        (f"CASE WHEN {value} IN ({listed_classes}) THEN 1 END" if listed_classes else "NULL", "COUNT({})")
    )
    for literal in literals:
        mine = "0" if literal is None else f"CASE WHEN {value} = {literal} THEN {weight} ELSE 0 END"
        expressions.append((dialect.cast(mine, "double"), "SUM({})"))
    return expressions if len(expressions) <= MAX_FURTHER_AGGREGATES else []


def inferred(
    connection: Connection,
    columns: Sequence[StoredColumn],
    target: str | None,
    overrides: Overrides | None = None,
    *,
    nominal_limit: int = 0,
) -> tuple[Schema, TableProfile]:
    """Infer the schema that reading the same table into memory would infer; return it with the profile."""
    chosen = overrides or Overrides()
    names = [column.name for column in columns]
    for name in (target, chosen.weight, *chosen.kinds(target), *chosen.ignore):
        if name is not None and name not in names:
            raise DataError(unknown_name("column", name, names), source=connection.source)
    used = [column for column in columns if column.name not in chosen.ignore]
    for column in used:
        column.require_known(connection.source)
    kinds = chosen.kinds(target)
    few = max(CLASS_LIMIT, nominal_limit)
    # The values of text columns are listed anyway; a table of text columns takes one statement.
    queried = [column for column in used if not _is_text(column, kinds.get(column.name))]
    n_rows, profiles, _ = (
        _query_columns(connection, queried, set(names) - {target, chosen.weight}) if queried else (0, {}, [])
    )
    listed = [
        column
        for column in used
        if column.name not in profiles
        or (_is_numeric(column, profiles[column.name], kinds.get(column.name)) is False)
        or (profiles[column.name].distinct <= 3 * few and kinds.get(column.name) is not Kind.NUMERIC)
    ]
    values: dict[str, list[object]] = {}
    if listed:
        n_rows, values, known = _values(connection, listed)
        profiles = {name: _ColumnProfile(known[name], len(values[name])) for name in values} | profiles
    raw: dict[str, NumberColumn | TextColumn] = {}
    for column in columns:
        raw[column.name] = (
            _raw_column(column, profiles[column.name], values.get(column.name), kinds.get(column.name))
            if column.name in profiles
            else _left_out(column)
        )
    schema = infer_schema(RawTable(raw, n_rows, connection.source), target, overrides, nominal_limit=nominal_limit)
    return schema, _table_profile(connection, schema, n_rows, profiles, bool(queried) + bool(listed))


def _is_text(column: StoredColumn, wanted: Kind | None) -> bool:
    """Return True if the distinct values of a column are listed in any case."""
    return not column.family.is_number and column.family is not Family.CELL and wanted is not Kind.NUMERIC


def _left_out(column: StoredColumn) -> NumberColumn | TextColumn:
    """Return an ignored column without reading it: its values, maybe a name for each row, stay private."""
    return NumberColumn(np.zeros(0)) if column.family.is_number else text_column([])


def _is_numeric(column: StoredColumn, profile: _ColumnProfile, wanted: Kind | None) -> bool:
    """Return True if a column is numeric unless it has few distinct values, all integers."""
    if wanted is not None:
        return wanted is Kind.NUMERIC
    if column.family is Family.CELL:
        return profile.known > 0 and profile.not_numbers == 0
    return column.family.is_number


def _raw_column(
    column: StoredColumn, profile: _ColumnProfile, values: list[object] | None, wanted: Kind | None
) -> NumberColumn | TextColumn:
    """Return the distinct values of a column as a reader would return them."""
    numeric = column.family.is_number or (column.family is Family.CELL and _is_numeric(column, profile, None))
    if wanted is Kind.NUMERIC or (numeric and values is None):
        # Of numbers, inference uses only whether they are few and integers.
        return NumberColumn(np.array([0.5, 1.5]) if profile.known else np.zeros(0))
    if numeric and not (column.family is Family.CELL and wanted is not None):
        numbers = NumberColumn(np.array([float(str(value)) for value in values or ()], dtype=np.float64))
        return numbers if wanted is None else numbers_as_text(numbers)
    return text_column([column.text_of(value) for value in values or ()], column.labels)


def _table_profile(
    connection: Connection, schema: Schema, n_rows: int, profiles: dict[str, _ColumnProfile], scans: int
) -> TableProfile:
    if n_rows == 0:
        raise DataError("there are no rows to learn from", source=connection.source)
    numeric = [column.name for column in schema.attributes if column.is_numeric]
    if schema.target is not None and schema.task is Task.REGRESSION:
        numeric.append(schema.target)
    for name in numeric:
        one = profiles[name]
        if math.isinf(one.low) or math.isinf(one.high):
            raise DataError("infinite numbers are not supported", source=connection.source, column=name)
        if one.integer and max(abs(one.low), abs(one.high)) >= EXACT:
            raise DataError(
                "integers beyond 2^53 would be rounded; make the column nominal",
                source=connection.source,
                column=name,
            )
    if schema.target is not None and schema.target in profiles and profiles[schema.target].known < n_rows:
        missing = n_rows - profiles[schema.target].known
        rows = "row" if missing == 1 else "rows"
        raise DataError(f"the target is missing in {missing:,} {rows}", source=connection.source, column=schema.target)
    whole = True
    if schema.weight is not None:
        weights = profiles[schema.weight]
        if weights.known < n_rows or weights.low < 0 or math.isinf(weights.high):
            raise DataError("a weight must be a number of at least 0", source=connection.source, column=schema.weight)
        if weights.high == 0:
            raise DataError("all weights are zero, so there is nothing to learn from", source=connection.source)
        whole = weights.broken == 0
    distinct = {name: profiles[name].distinct for name in numeric}
    edges = {name: sorted(set(profiles[name].edges)) for name in numeric}
    missing_values = {name: n_rows - profiles[name].known for name in schema.attribute_names if name in profiles}
    return TableProfile(n_rows, distinct, edges, missing_values, whole, scans)


def _query_columns(
    connection: Connection,
    columns: Sequence[StoredColumn],
    with_edges: set[str],
    further: Sequence[tuple[str, str]] = (),
) -> tuple[int, dict[str, _ColumnProfile], list[float]]:
    """Query the profiles of columns and further aggregates; return the number of rows first."""
    dialect = connection.dialect
    picks = ["COUNT(*) AS rows_"]
    shares = [step / QUANTILE_BINS for step in range(1, QUANTILE_BINS)]
    for index, column in enumerate(columns):
        value = f"v{index}"
        picks.append(f"COUNT({value}) AS a{index}_0")
        picks.append(f"{dialect.distinct.format(value)} AS a{index}_1")
        if column.family.is_number:
            # Beyond 2^53 every double is an integer, and FLOOR of Spark, a 64-bit integer, would overflow.
            whole = f"ABS({value}) >= {dialect.number(2.0**53)}"
            broken = f"SUM(CASE WHEN {whole} THEN 0 WHEN {value} <> FLOOR({value}) THEN 1 ELSE 0 END)"
            picks += [f"MIN({value}) AS a{index}_2", f"MAX({value}) AS a{index}_3", f"{broken} AS a{index}_4"]
            edges = dialect.quantiles_of(value, shares) if column.name in with_edges else "NULL"
            picks.append(f"{edges} AS a{index}_5")
        elif column.family is Family.CELL:
            picks.append(
                f"SUM(CASE WHEN REGEXP_MATCHES({value}, {dialect.text(_PLAIN)}) THEN 0 ELSE 1 END) AS a{index}_2"
            )
    written = [
        f"{column.numeric(dialect) if column.family.is_number else column.nominal(dialect)} AS v{index}"
        for index, column in enumerate(columns)
    ]
    for index, (expression, aggregate) in enumerate(further):
        written.append(f"{expression} AS b{index}")
        picks.append(f"{aggregate.format(f'b{index}')} AS d{index}")
    inner = ", ".join(written)
    result = connection.query(f"SELECT {', '.join(picks)} FROM (SELECT {inner} FROM {connection.relation}) r")
    cells = iter(result)
    n_rows = int(next(cells).integers()[0])
    profiles: dict[str, _ColumnProfile] = {}
    for column in columns:
        known, distinct = (int(next(cells).integers()[0]) for _ in range(2))
        if column.family.is_number:
            low, high = (float(next(cells).numbers()[0]) for _ in range(2))
            broken_ones = int(next(cells).integers()[0])
            array = next(cells)
            listed = () if array.null[0] else tuple(float(edge) for edge in array.cells[0] if edge is not None)
            integer = column.family is Family.INTEGER
            profiles[column.name] = _ColumnProfile(known, distinct, low, high, broken_ones, 0, listed, integer)
        elif column.family is Family.CELL:
            # NULLs do not match either.
            profiles[column.name] = _ColumnProfile(
                known, distinct, not_numbers=int(next(cells).integers()[0]) - (n_rows - known)
            )
        else:
            profiles[column.name] = _ColumnProfile(known, distinct)
    return n_rows, profiles, [float(cell.numbers()[0]) for cell in cells]


def _values(
    connection: Connection, columns: Sequence[StoredColumn]
) -> tuple[int, dict[str, list[object]], dict[str, int]]:
    """Return the number of rows, and for each column the distinct values without NULL and the number of known cells."""
    dialect = connection.dialect
    names = [f"k{index}" for index in range(len(columns))]
    found: dict[str, list[object]] = {}
    known: dict[str, int] = {}
    n_rows = 0
    inner = ", ".join(f"{column.nominal(dialect)} AS k{index}" for index, column in enumerate(columns))
    widest = dialect.widest_grouping
    parts = [names[start : start + widest] for start in range(0, len(names), widest)]
    masks = [f"{dialect.grouped_by(part)} AS m{index}" for index, part in enumerate(parts)]
    sets = ", ".join(f"({name})" for name in names)
    statement = (
        f"SELECT {', '.join((*masks, *names))}, COUNT(*) AS n FROM (SELECT {inner} FROM {connection.relation}) r "
        f"GROUP BY GROUPING SETS ({sets})"
    )
    result: QueryResult = connection.query(statement)
    for number, part in enumerate(parts):
        mask = result[number].integers()
        for position, name in enumerate(part):
            index = names.index(name)
            expected = grouping_mask(len(part), position)
            rows = np.flatnonzero(mask == expected)
            cells, counts = result[len(parts) + index].take(rows), result[-1].integers()[rows]
            n_rows, known[columns[index].name] = int(counts.sum()), int(counts[~cells.null].sum())
            found[columns[index].name] = [
                cell for cell, null in zip(cells.cells.tolist(), cells.null.tolist(), strict=True) if not null
            ]
    for column in columns:
        if len(found[column.name]) > MAX_CATEGORIES:
            raise DataError(
                f"{len(found[column.name]):,} distinct values are too many: exclude the column",
                source=connection.source,
                column=column.name,
            )
    return n_rows, found, known
