"""Temporary tables of our own: the rows of open nodes, each with its node.

Where they are allowed conditions stay short however deep the tree is, and rows of closed nodes are not read again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from treewright.counts.sql.connection import Connection
from treewright.counts.sql.statements import ROOT, OpenCopy, Statements

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
