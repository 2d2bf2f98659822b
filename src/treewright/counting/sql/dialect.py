"""SQL dialects and column types.

A `Dialect` writes names, values and the few functions that differ. Names and texts come from the data and are
untrusted, so only sqlglot quotes them into a statement. A number is written as a text that is cast to a double; no
dialect then reads it as a decimal and rounds it.

A `StoredColumn` converts the values of a column to texts and literals by the family of its type. Its stored name is the
name that the engine uses; it differs from the name in the schema if the engine renames columns whose names differ in
case only.
"""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import ModuleType
from typing import Any

from treewright.data.columns import moment_text, number_text
from treewright.data.schema import Column, LabelType
from treewright.errors import DataError
from treewright.lazy_import import import_extra


def sqlglot() -> ModuleType:
    """Import sqlglot; raise with an install hint if it is not installed."""
    return import_extra("sqlglot", "sql", "write SQL")


@dataclass(frozen=True)
class Dialect:
    """The names and functions of one dialect.

    Parameters
    ----------
    name : str
        Name in messages.
    key : str
        Name in sqlglot.
    grouping : str
        The function that returns a bit for each column: 1 if the row of grouping sets is not grouped by it.
    widest_grouping : int
        Maximum number of columns of that function.
    widest_statement : int
        Maximum number of tables that one statement counts.
    distinct : str
        The function that estimates, or counts, distinct values.
    quantiles : str
        The function that computes quantiles, which need not be exact.
    digest : str
        The SHA-256 of a text in UTF-8, in hexadecimal digits.
    hex_number : str
        The integer value of hexadecimal digits.
    barrier : str
        Clause at the end of an inner SELECT that makes its expressions be computed once.
    materialised : str
        Keyword that makes a named subquery be computed once.

    Examples
    --------
    >>> DUCKDB.quoted('a"b'), POSTGRESQL.text("O'Hara"), DUCKDB.number(0.1)
    ('"a""b"', "'O''Hara'", "CAST('0.1' AS DOUBLE)")
    """

    name: str
    key: str
    grouping: str = "GROUPING"
    widest_grouping: int = 30
    widest_statement: int = 1000
    distinct: str = "COUNT(DISTINCT {})"
    quantiles: str = "PERCENTILE_DISC(ARRAY[{1}]) WITHIN GROUP (ORDER BY {0})"
    digest: str = "SHA256({})"
    hex_number: str = "CAST('0x' || {} AS BIGINT)"
    barrier: str = ""
    materialised: str = " MATERIALIZED"

    def quoted(self, *names: str) -> str:
        """Return a name, or the parts of one, as an identifier."""
        exp = sqlglot().exp
        return ".".join(exp.to_identifier(name, quoted=True).sql(dialect=self.key) for name in names)

    def text(self, value: str) -> str:
        """Return a text as a literal."""
        literal: str = sqlglot().exp.Literal.string(value).sql(dialect=self.key)
        return literal

    def number(self, value: float) -> str:
        """Return a literal that is exactly this double."""
        return f"CAST('{float(value)!r}' AS {self.type('double')})"

    @functools.lru_cache(maxsize=32)  # noqa: B019 - there are three dialects, and they live as long as the program
    def type(self, name: str) -> str:
        """Return the name of a type in the dialect."""
        written: str = sqlglot().exp.DataType.build(name).sql(dialect=self.key)
        return written

    def cast(self, expression: str, type_name: str) -> str:
        """Return an expression in another type."""
        return f"CAST({expression} AS {self.type(type_name)})"

    def without_nan(self, expression: str) -> str:
        """Return a double in which NaN is NULL (in all dialects NaN is equal to itself)."""
        return f"NULLIF({expression}, {self.cast(self.text('NaN'), 'double')})"

    def grouped_by(self, columns: Sequence[str]) -> str:
        """Return a bit mask of the columns that a row is not grouped by; the first column is the highest bit.

        The grouping sets of the statement have to begin with the columns that all sets share.
        """
        return f"{self.grouping}({', '.join(columns)})"

    def quantiles_of(self, column: str, shares: Sequence[float]) -> str:
        """Return the expression for an array of quantiles, which need not be exact."""
        return self.quantiles.format(column, ", ".join(f"{share:.6f}" for share in shares))


DUCKDB = Dialect("DuckDB", "duckdb", distinct="APPROX_COUNT_DISTINCT({})", quantiles="APPROX_QUANTILE({0}, [{1}])")
POSTGRESQL = Dialect(
    "PostgreSQL",
    "postgres",
    digest="ENCODE(SHA256(CONVERT_TO({}, 'UTF8')), 'hex')",
    hex_number="CAST(CAST('x0' || {} AS BIT(32)) AS BIGINT)",
    barrier=" OFFSET 0",
)


@dataclass(frozen=True)
class _Spark(Dialect):
    def grouped_by(self, columns: Sequence[str]) -> str:
        """Return the mask of Spark, over all grouped columns: columns in every set add leading zeros."""
        return "GROUPING_ID()"


SPARK = _Spark(
    "Spark",
    "spark",
    widest_grouping=60,
    widest_statement=60,
    distinct="APPROX_COUNT_DISTINCT({})",
    quantiles="PERCENTILE_APPROX({0}, ARRAY({1}))",
    digest="SHA2({}, 256)",
    hex_number="CAST(CONV({}, 16, 10) AS BIGINT)",
    materialised="",
)


def grouping_mask(n_columns: int, position: int) -> int:
    """Return the bit mask of a row that is grouped by one of some columns only.

    Examples
    --------
    >>> [f"{grouping_mask(3, position):03b}" for position in range(3)]
    ['011', '101', '110']
    """
    return (1 << n_columns) - 1 - (1 << (n_columns - 1 - position))


EXACT = 2**53
"""Larger integers may not be doubles."""


class Family(StrEnum):
    """A group of types with the same conversion."""

    INTEGER = "integer"
    FLOAT = "float"
    DECIMAL = "decimal"
    TEXT = "text"
    CELL = "cell of a text file"
    BOOLEAN = "boolean"
    DATE = "date"
    MOMENT = "moment"
    OTHER = "other"

    @property
    def is_number(self) -> bool:
        """Whether the values are numbers."""
        return self in (Family.INTEGER, Family.FLOAT, Family.DECIMAL)


_TYPES = {
    Family.INTEGER: "TINYINT SMALLINT MEDIUMINT INT BIGINT UTINYINT USMALLINT UINT UBIGINT INT128 UINT128",
    Family.FLOAT: "FLOAT DOUBLE",
    Family.DECIMAL: "DECIMAL DECIMAL32 DECIMAL64 DECIMAL128 MONEY",
    Family.TEXT: "TEXT CHAR NCHAR VARCHAR NVARCHAR BPCHAR NAME ENUM UUID",
    Family.BOOLEAN: "BOOLEAN",
    Family.DATE: "DATE",
    Family.MOMENT: "TIMESTAMP TIMESTAMPNTZ TIMESTAMP_S TIMESTAMP_MS DATETIME",
}
_FAMILY = {name: family for family, names in _TYPES.items() for name in names.split()}


@dataclass(frozen=True)
class StoredColumn:
    """A column of a database.

    Parameters
    ----------
    name : str
        In the schema.
    stored : str
        In the engine.
    type : str
        As the engine spells it.
    family : Family

    Examples
    --------
    >>> from treewright.counting.sql.dialect import DUCKDB
    >>> column = stored_column("n", "n", "SMALLINT", DUCKDB)
    >>> column.nominal(DUCKDB), column.literal("7", DUCKDB), column.text_of(7.0)
    ('CAST("n" AS BIGINT)', '7', '7')
    """

    name: str
    stored: str
    type: str
    family: Family

    def numeric(self, dialect: Dialect) -> str:
        """Return the expression of the column as doubles, with NULL for NaN."""
        name = dialect.quoted(self.stored)
        if self.family is Family.BOOLEAN:
            return f"CASE WHEN {name} THEN {dialect.number(1)} WHEN NOT {name} THEN {dialect.number(0)} END"
        double = dialect.cast(name, "double")
        return double if self.family in (Family.INTEGER, Family.DECIMAL) else dialect.without_nan(double)

    def nominal(self, dialect: Dialect) -> str:
        """Return the expression of the column as values that can be grouped by and compared with `literal`."""
        name = dialect.quoted(self.stored)
        if self.family is Family.BOOLEAN:
            return name
        if self.family is Family.INTEGER:
            return dialect.cast(name, "bigint")
        if self.family is Family.DECIMAL:
            return dialect.cast(name, "double")
        if self.family is Family.FLOAT:
            return dialect.without_nan(dialect.cast(name, "double"))
        return dialect.cast(name, "text")

    def text_of(self, value: Any) -> str:
        """Return the category in the schema for a value of a result."""
        if self.family is Family.BOOLEAN:
            return "True" if value else "False"
        if self.family is Family.INTEGER:
            return str(int(value))
        if self.family.is_number:
            return number_text(float(value))
        if self.family is Family.MOMENT:
            return moment_text(dt.datetime.fromisoformat(str(value)))
        return str(value)

    def literal(self, text: str, dialect: Dialect) -> str | None:
        """Return a category as a literal; None if no cell of this type can have it."""
        if self.family is Family.BOOLEAN:
            return {"true": "TRUE", "false": "FALSE"}.get(text.casefold())
        if self.family.is_number:
            try:
                number = float(text)
            except ValueError:
                return None
            if self.family is Family.INTEGER:
                return str(int(text)) if number.is_integer() and text.lstrip("+-").isdigit() else None
            return dialect.number(number)
        if self.family is Family.MOMENT:
            return dialect.text(text.replace("T", " "))
        return dialect.text(text)

    def codes(self, column: Column) -> dict[str, int]:
        """Return the code of each category by its text; the spelling of booleans in the schema does not matter."""
        codes = {value: code for code, value in enumerate(column.values)}
        if self.family is Family.BOOLEAN or column.labels is LabelType.BOOLEAN:
            spelled = {value.casefold(): code for value, code in codes.items()}
            codes |= {word: spelled[word.lower()] for word in ("True", "False") if word.lower() in spelled}
        return codes

    @property
    def labels(self) -> LabelType:
        """The type of the values before they became text."""
        return LabelType.BOOLEAN if self.family is Family.BOOLEAN else LabelType.TEXT

    def require_known(self, source: str | None) -> None:
        """Raise if values of this type cannot be used."""
        if self.family is Family.OTHER:
            message = f"columns of type {self.type[:60]} are not supported; leave it out or cast it in a view"
            raise DataError(message, source=source, column=self.name)


def stored_column(name: str, stored: str, type_name: str, dialect: Dialect) -> StoredColumn:
    """Describe a column by the name of its type in the engine."""
    glot = sqlglot()
    try:
        word = glot.exp.DataType.build(type_name, dialect=dialect.key).this.name
    except glot.errors.SqlglotError:
        word = ""
    return StoredColumn(name, stored, type_name, _FAMILY.get(word, Family.OTHER))


def named(columns: Sequence[StoredColumn], name: str) -> StoredColumn:
    """Return the column of that name, which has to exist."""
    return next(column for column in columns if column.name == name)
