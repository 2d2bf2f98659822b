"""How a dialect of SQL writes names, values and the few functions that differ.

Names and texts come from the data, so they are hostile: sqlglot quotes them, and nothing else puts them into a
statement.

A number is always written as a text that is cast to a double, so that no dialect reads it as a decimal and rounds it.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType

from treewright._base.extras import import_extra


def sqlglot() -> ModuleType:
    """Import sqlglot, or say how to install it."""
    return import_extra("sqlglot", "sql", "write SQL")


@dataclass(frozen=True)
class Dialect:
    """The words of one dialect.

    Parameters
    ----------
    name : str
        For people.
    key : str
        What sqlglot calls it.
    grouping : str
        The function that tells which of the columns a row of grouping sets is not grouped by, one bit each.
    widest_grouping : int
        How many columns it takes.
    widest_statement : int
        How many tables one statement may count.
    distinct : str
        The function that estimates, or counts, different values.
    quantiles : str
        The function that finds quantiles, which need not be exact.
    digest : str
        The SHA-256 of a text in UTF-8, in hexadecimal digits.
    hex_number : str
        The number that some hexadecimal digits are.
    barrier : str
        What ends an inner SELECT so that its expressions are computed once, and not wherever they are named.
    materialised : str
        What makes a named subquery be computed once, however often it is read.

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
        """Return a double that is exactly this number."""
        return f"CAST('{float(value)!r}' AS {self.type('double')})"

    @functools.lru_cache(maxsize=32)  # noqa: B019 - there are three dialects, and they live as long as the program
    def type(self, name: str) -> str:
        """Return what the dialect calls a type."""
        written: str = sqlglot().exp.DataType.build(name).sql(dialect=self.key)
        return written

    def cast(self, expression: str, type_name: str) -> str:
        """Return an expression in another type."""
        return f"CAST({expression} AS {self.type(type_name)})"

    def without_nan(self, expression: str) -> str:
        """Return a double in which NaN is NULL (all dialects hold NaN equal to itself)."""
        return f"NULLIF({expression}, {self.cast(self.text('NaN'), 'double')})"

    def grouped_by(self, columns: Sequence[str]) -> str:
        """Return the expression that is a bit mask of the columns that a row is not grouped by, the first one highest.

        It has to stand in a statement grouped by sets that begin with columns that are in all of them.
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
        """Return Spark's mask, which is of all grouped columns: those in every set add leading zeros."""
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
