"""Columns of a database: what their type means to us, and how their values become texts and literals.

Types that are treated alike form a family. The stored name of a column is the engine's name for it; it differs from the
schema's name where an engine renames columns whose names differ in case only.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from treewright._base.errors import DataError
from treewright.counts.sql.dialect import Dialect, sqlglot
from treewright.data.memory_columns import moment_text
from treewright.data.raw import number_text
from treewright.data.schema import Column, LabelType

EXACT = 2**53
"""Larger whole numbers are not doubles."""


class Family(StrEnum):
    """Types that are treated alike."""

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
    """A column where it is.

    Parameters
    ----------
    name : str
        Ours.
    stored : str
        The engine's.
    type : str
        As the engine spells it.
    family : Family

    Examples
    --------
    >>> from treewright.counts.sql.dialect import DUCKDB
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
        """Return the text that a schema declares for a value that came back."""
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
        """Return a declared value in SQL; None where no cell of this type can be it."""
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
        """Return the code of each declared value by its text; booleans are found however the schema spells them."""
        codes = {value: code for code, value in enumerate(column.values)}
        if self.family is Family.BOOLEAN or column.labels is LabelType.BOOLEAN:
            spelled = {value.casefold(): code for value, code in codes.items()}
            codes |= {word: spelled[word.lower()] for word in ("True", "False") if word.lower() in spelled}
        return codes

    @property
    def labels(self) -> LabelType:
        """What the values were before they became text."""
        return LabelType.BOOLEAN if self.family is Family.BOOLEAN else LabelType.TEXT

    def require_known(self, source: str | None) -> None:
        """Raise if values of this type cannot be used."""
        if self.family is Family.OTHER:
            message = f"columns of type {self.type[:60]} are not supported; leave it out or cast it in a view"
            raise DataError(message, source=source, column=self.name)


def stored_column(name: str, stored: str, type_name: str, dialect: Dialect) -> StoredColumn:
    """Describe a column by the type that the engine tells."""
    glot = sqlglot()
    try:
        word = glot.exp.DataType.build(type_name, dialect=dialect.key).this.name
    except glot.errors.SqlglotError:
        word = ""
    return StoredColumn(name, stored, type_name, _FAMILY.get(word, Family.OTHER))


def named(columns: Sequence[StoredColumn], name: str) -> StoredColumn:
    """Return the column of that name, which has to be there."""
    return next(column for column in columns if column.name == name)
