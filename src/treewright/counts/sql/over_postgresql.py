"""PostgreSQL, by psycopg 3."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from treewright._base.extras import import_extra
from treewright.counts.sql.columns import StoredColumn, stored_column
from treewright.counts.sql.connection import Answer, Connection, from_tuples
from treewright.counts.sql.dialect import POSTGRESQL
from treewright.data.table import Table, secrets_of


class PostgreSQLConnection(Connection):
    """A session of its own, in one transaction that only reads and sees one state of the table.

    Parameters
    ----------
    table : Table
    temporary : bool
        Whether temporary tables may be made.
    """

    def __init__(self, table: Table, *, temporary: bool = False) -> None:
        super().__init__(POSTGRESQL, POSTGRESQL.quoted(*table.parts), table.source, secrets_of(table.url))
        self.may_copy = temporary
        self._psycopg: Any = import_extra("psycopg", "postgresql", "learn from PostgreSQL")
        with self._told("cannot be reached"):
            self._connection = self._psycopg.connect(
                table.url, options="-c datestyle=ISO -c application_name=treewright"
            )
            # One state of the table for all levels, whoever writes to it meanwhile.
            self._connection.isolation_level = self._psycopg.IsolationLevel.REPEATABLE_READ
            self._connection.read_only = not temporary

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        try:
            yield
        except self._psycopg.Error as error:
            lost = getattr(self, "_connection", None) is not None and self._connection.closed
            raise self._failed("lost the connection" if lost else what, error) from None

    def ask(self, statement: str) -> Answer:
        """Run a SELECT."""
        with self._told("cannot answer"), self._connection.cursor() as cursor:
            cursor.execute(statement)
            return from_tuples(cursor.fetchall(), len(cursor.description))

    def columns(self) -> list[StoredColumn]:
        """Return the columns of the relation."""
        with self._told("cannot describe the table"), self._connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {self.relation} LIMIT 0")
            told = [(column.name, _enum_as_text(column.type_display)) for column in cursor.description]
        return [stored_column(name, name, kind, self.dialect) for name, kind in told]

    def run(self, statement: str) -> None:
        """Run a statement about a temporary table of our own."""
        with self._told("refuses a temporary table"), self._connection.cursor() as cursor:
            cursor.execute(statement)

    def close(self) -> None:
        """End the session; its temporary tables vanish with it."""
        self._connection.close()


def _enum_as_text(type_display: str) -> str:
    """Return the type; one that psycopg knows by its number only is of the user's making, mostly an ENUM."""
    return "text" if type_display.isdigit() else type_display
