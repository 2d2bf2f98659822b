"""Profile a table before it is counted: kinds of columns, numbers of distinct values, whether weights are integers.

One or two statements fetch this for all columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from treewright.counting.sql.connection import Answer, Connection
from treewright.counting.sql.dialect import EXACT, Dialect, Family, StoredColumn, named
from treewright.data.columns import NumberColumn, RawTable, TextColumn, numbers_as_text, text_column
from treewright.data.infer import CLASS_LIMIT, Overrides, infer_schema
from treewright.data.schema import Kind, Schema, Task
from treewright.errors import DataError
from treewright.wording import unknown_name

MOST_VALUES = 1_000_000
"""A nominal column with more values is refused: all of them would go into the model."""

BINS = 256
"""Quantiles that numbers are divided by, where there are too many to look at all of them."""

MOST_BESIDE = 500
"""Conditions that are counted beside the facts: statements have no room for any number of columns."""

_PLAIN = "^[+-]?((0|[1-9][0-9]*)([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?$"


@dataclass(frozen=True)
class Facts:
    """What is known of a table.

    Parameters
    ----------
    n_rows : int
    distinct : dict of str to int
        About how many different numbers a numeric column has.
    edges : dict of str to list of float
        Quantiles of numeric columns with many.
    missing : dict of str to int
        Missing values of attributes.
    whole_weights : bool
    scans : int
        Statements that it took.
    classes : tuple of float or None
        Weight of each declared class; None where it is not known, or not to the last digit.
    cases : int
        Rows of any weight, if the classes are known.
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
class _About:
    """One column: cells that are not NULL, about how many differ, and, of numbers, range and broken ones."""

    known: int
    distinct: int
    low: float = math.nan
    high: float = math.nan
    broken: int = 0
    not_numbers: int = 0
    edges: tuple[float, ...] = ()
    integer: bool = False


def facts_for(connection: Connection, schema: Schema, columns: Sequence[StoredColumn]) -> Facts | None:
    """Return what learning by a given schema needs to know; None if that is nothing."""
    wanted = [named(columns, column.name) for column in schema.attributes if column.is_numeric]
    if schema.target_column.is_numeric:
        wanted.append(named(columns, schema.target_column.name))
    if schema.weight is not None:
        wanted.append(named(columns, schema.weight))
    if not wanted:
        return None
    beside = _beside(schema, columns, connection.dialect)
    n_rows, about, told = _ask_about(connection, wanted, set(schema.attribute_names), beside)
    facts = _facts(connection, schema, n_rows, about, 1)
    if not told:
        return facts
    nominal = [column.name for column in schema.attributes if not column.is_numeric]
    missing = facts.missing | {name: n_rows - int(known) for name, known in zip(nominal, told, strict=False)}
    cases, declared, *classes = told[len(nominal) :]
    # Classes that are not declared are told by whoever decodes the tables; whole numbers of any size by the tables.
    exact = not facts.whole_weights or sum(classes) < EXACT
    known = tuple(classes) if classes and exact and declared == n_rows else None
    return replace(facts, missing=missing, classes=known, cases=int(cases))


def _beside(schema: Schema, columns: Sequence[StoredColumn], dialect: Dialect) -> list[tuple[str, str]]:
    """Return what else is asked with the facts: known cells of nominal attributes, cases, and the weight of each class.

    Each is an expression over the table and an aggregate of it, called ``{}`` there; none at all if they are too many
    for one statement.
    """
    asked = []
    for column in schema.attributes:
        if not column.is_numeric:
            stored = named(columns, column.name)
            markers = [marker for marker in schema.missing_markers if marker not in stored.codes(column)]
            texts = [] if stored.family.is_number or stored.family is Family.BOOLEAN else map(dialect.text, markers)
            listed = ", ".join(texts)
            value = stored.nominal(dialect)
            known = f"{value} NOT IN ({listed})" if listed else f"{value} IS NOT NULL"
            asked.append((f"CASE WHEN {known} THEN 1 END", "COUNT({})"))
    weight = "1" if schema.weight is None else named(columns, schema.weight).numeric(dialect)
    target, stored = schema.target_column, named(columns, schema.target_column.name)
    literals = [stored.literal(value, dialect) for value in target.values]
    value = stored.nominal(dialect)
    declared = ", ".join(literal for literal in literals if literal is not None)
    asked.append((f"CASE WHEN {weight} > 0 THEN 1 END", "COUNT({})"))
    asked.append((f"CASE WHEN {value} IN ({declared}) THEN 1 END" if declared else "NULL", "COUNT({})"))
    for literal in literals:
        mine = "0" if literal is None else f"CASE WHEN {value} = {literal} THEN {weight} ELSE 0 END"
        asked.append((dialect.cast(mine, "double"), "SUM({})"))
    return asked if len(asked) <= MOST_BESIDE else []


def inferred(
    connection: Connection,
    columns: Sequence[StoredColumn],
    target: str | None,
    overrides: Overrides | None = None,
    *,
    nominal_limit: int = 0,
) -> tuple[Schema, Facts]:
    """Propose the schema that reading the same table into memory would propose, and tell what was found out."""
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
    # Text is listed anyway: a table of nothing else takes one statement.
    asked = [column for column in used if not _is_text(column, kinds.get(column.name))]
    n_rows, about, _ = _ask_about(connection, asked, set(names) - {target, chosen.weight}) if asked else (0, {}, [])
    listed = [
        column
        for column in used
        if column.name not in about
        or (_is_numeric(column, about[column.name], kinds.get(column.name)) is False)
        or (about[column.name].distinct <= 3 * few and kinds.get(column.name) is not Kind.NUMERIC)
    ]
    values: dict[str, list[object]] = {}
    if listed:
        n_rows, values, known = _values(connection, listed)
        about = {name: _About(known[name], len(values[name])) for name in values} | about
    raw: dict[str, NumberColumn | TextColumn] = {}
    for column in columns:
        raw[column.name] = (
            _raw_column(column, about[column.name], values.get(column.name), kinds.get(column.name))
            if column.name in about
            else _left_out(column)
        )
    schema = infer_schema(RawTable(raw, n_rows, connection.source), target, overrides, nominal_limit=nominal_limit)
    return schema, _facts(connection, schema, n_rows, about, bool(asked) + bool(listed))


def _is_text(column: StoredColumn, wanted: Kind | None) -> bool:
    """Tell whether the values of a column are listed, whatever they are."""
    return not column.family.is_number and column.family is not Family.CELL and wanted is not Kind.NUMERIC


def _left_out(column: StoredColumn) -> NumberColumn | TextColumn:
    """Return an ignored column without looking at it: its values, maybe a name for each row, are nobody's business."""
    return NumberColumn(np.zeros(0)) if column.family.is_number else text_column([])


def _is_numeric(column: StoredColumn, about: _About, wanted: Kind | None) -> bool:
    """Tell whether a column is one of numbers unless it turns out to have few whole ones."""
    if wanted is not None:
        return wanted is Kind.NUMERIC
    if column.family is Family.CELL:
        return about.known > 0 and about.not_numbers == 0
    return column.family.is_number


def _raw_column(
    column: StoredColumn, about: _About, values: list[object] | None, wanted: Kind | None
) -> NumberColumn | TextColumn:
    """Return the different values of a column, as a reader would hand them over."""
    numeric = column.family.is_number or (column.family is Family.CELL and _is_numeric(column, about, None))
    if wanted is Kind.NUMERIC or (numeric and values is None):
        # All that inference asks of many numbers is whether they are few and whole.
        return NumberColumn(np.array([0.5, 1.5]) if about.known else np.zeros(0))
    if numeric and not (column.family is Family.CELL and wanted is not None):
        numbers = NumberColumn(np.array([float(str(value)) for value in values or ()], dtype=np.float64))
        return numbers if wanted is None else numbers_as_text(numbers)
    return text_column([column.text_of(value) for value in values or ()], column.labels)


def _facts(connection: Connection, schema: Schema, n_rows: int, about: dict[str, _About], scans: int) -> Facts:
    if n_rows == 0:
        raise DataError("there are no rows to learn from", source=connection.source)
    numeric = [column.name for column in schema.attributes if column.is_numeric]
    if schema.target is not None and schema.task is Task.REGRESSION:
        numeric.append(schema.target)
    for name in numeric:
        one = about[name]
        if math.isinf(one.low) or math.isinf(one.high):
            raise DataError("there are infinite numbers", source=connection.source, column=name)
        if one.integer and max(abs(one.low), abs(one.high)) >= EXACT:
            raise DataError(
                "there are whole numbers beyond 2^53, which would be rounded; declare the column nominal",
                source=connection.source,
                column=name,
            )
    if schema.target is not None and schema.target in about and about[schema.target].known < n_rows:
        missing = n_rows - about[schema.target].known
        rows = "row" if missing == 1 else "rows"
        raise DataError(f"the target is missing in {missing:,} {rows}", source=connection.source, column=schema.target)
    whole = True
    if schema.weight is not None:
        weights = about[schema.weight]
        if weights.known < n_rows or weights.low < 0 or math.isinf(weights.high):
            raise DataError("a weight must be a number of at least 0", source=connection.source, column=schema.weight)
        if weights.high == 0:
            raise DataError("all weights are zero, so there is nothing to learn from", source=connection.source)
        whole = weights.broken == 0
    distinct = {name: about[name].distinct for name in numeric}
    edges = {name: sorted(set(about[name].edges)) for name in numeric}
    holes = {name: n_rows - about[name].known for name in schema.attribute_names if name in about}
    return Facts(n_rows, distinct, edges, holes, whole, scans)


def _ask_about(
    connection: Connection,
    columns: Sequence[StoredColumn],
    with_edges: set[str],
    beside: Sequence[tuple[str, str]] = (),
) -> tuple[int, dict[str, _About], list[float]]:
    """Ask about columns, and for aggregates of further expressions."""
    dialect = connection.dialect
    picks = ["COUNT(*) AS rows_"]
    shares = [step / BINS for step in range(1, BINS)]
    for place, column in enumerate(columns):
        value = f"v{place}"
        picks.append(f"COUNT({value}) AS a{place}_0")
        picks.append(f"{dialect.distinct.format(value)} AS a{place}_1")
        if column.family.is_number:
            # Beyond 2^53 every double is whole, and Spark's FLOOR, a whole number of 64 bits, would overflow.
            whole = f"ABS({value}) >= {dialect.number(2.0**53)}"
            broken = f"SUM(CASE WHEN {whole} THEN 0 WHEN {value} <> FLOOR({value}) THEN 1 ELSE 0 END)"
            picks += [f"MIN({value}) AS a{place}_2", f"MAX({value}) AS a{place}_3", f"{broken} AS a{place}_4"]
            edges = dialect.quantiles_of(value, shares) if column.name in with_edges else "NULL"
            picks.append(f"{edges} AS a{place}_5")
        elif column.family is Family.CELL:
            picks.append(
                f"SUM(CASE WHEN REGEXP_MATCHES({value}, {dialect.text(_PLAIN)}) THEN 0 ELSE 1 END) AS a{place}_2"
            )
    written = [
        f"{column.numeric(dialect) if column.family.is_number else column.nominal(dialect)} AS v{place}"
        for place, column in enumerate(columns)
    ]
    for place, (expression, aggregate) in enumerate(beside):
        written.append(f"{expression} AS b{place}")
        picks.append(f"{aggregate.format(f'b{place}')} AS d{place}")
    inner = ", ".join(written)
    answer = connection.ask(f"SELECT {', '.join(picks)} FROM (SELECT {inner} FROM {connection.relation}) r")
    cells = iter(answer)
    n_rows = int(next(cells).integers()[0])
    about: dict[str, _About] = {}
    for column in columns:
        known, distinct = (int(next(cells).integers()[0]) for _ in range(2))
        if column.family.is_number:
            low, high = (float(next(cells).numbers()[0]) for _ in range(2))
            broken_ones = int(next(cells).integers()[0])
            array = next(cells)
            listed = () if array.null[0] else tuple(float(edge) for edge in array.cells[0] if edge is not None)
            integer = column.family is Family.INTEGER
            about[column.name] = _About(known, distinct, low, high, broken_ones, 0, listed, integer)
        elif column.family is Family.CELL:
            # NULLs do not match either.
            about[column.name] = _About(known, distinct, not_numbers=int(next(cells).integers()[0]) - (n_rows - known))
        else:
            about[column.name] = _About(known, distinct)
    return n_rows, about, [float(cell.numbers()[0]) for cell in cells]


def _values(
    connection: Connection, columns: Sequence[StoredColumn]
) -> tuple[int, dict[str, list[object]], dict[str, int]]:
    """Return the number of rows, and of columns the different values without NULL and how many cells are not NULL."""
    dialect = connection.dialect
    names = [f"k{place}" for place in range(len(columns))]
    found: dict[str, list[object]] = {}
    known: dict[str, int] = {}
    n_rows = 0
    inner = ", ".join(f"{column.nominal(dialect)} AS k{place}" for place, column in enumerate(columns))
    widest = dialect.widest_grouping
    parts = [names[start : start + widest] for start in range(0, len(names), widest)]
    masks = [f"{dialect.grouped_by(part)} AS m{place}" for place, part in enumerate(parts)]
    sets = ", ".join(f"({name})" for name in names)
    statement = (
        f"SELECT {', '.join((*masks, *names))}, COUNT(*) AS n FROM (SELECT {inner} FROM {connection.relation}) r "
        f"GROUP BY GROUPING SETS ({sets})"
    )
    answer: Answer = connection.ask(statement)
    for number, part in enumerate(parts):
        mask = answer[number].integers()
        for position, name in enumerate(part):
            place = names.index(name)
            expected = (1 << len(part)) - 1 - (1 << (len(part) - 1 - position))
            rows = np.flatnonzero(mask == expected)
            cells, many = answer[len(parts) + place].take(rows), answer[-1].integers()[rows]
            n_rows, known[columns[place].name] = int(many.sum()), int(many[~cells.null].sum())
            found[columns[place].name] = [
                cell for cell, null in zip(cells.cells.tolist(), cells.null.tolist(), strict=True) if not null
            ]
    for column in columns:
        if len(found[column.name]) > MOST_VALUES:
            raise DataError(
                f"there are {len(found[column.name]):,} different values: leave the column out",
                source=connection.source,
                column=column.name,
            )
    return n_rows, found, known
