"""Reading Parquet files with DuckDB.

The column types of the file are used as they are: integers and decimals are numbers, booleans become the texts
``False`` and ``True``, dates and times become ISO text (in UTC if they have a time zone).

Invariants: the file name is only passed as a bound parameter, and DuckDB may neither install nor load extensions. NULL
and NaN are missing. An infinity, or an integer that a double cannot represent, is an error that names column and row
(from 0). Nested and binary columns are rejected.
"""

from __future__ import annotations

import datetime as dt
import os
import shutil
import tempfile
from collections.abc import Mapping
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt

from treewright.concurrency import interruptible
from treewright.data.columns import (
    NumberColumn,
    RawTable,
    TextColumn,
    array_column,
    moment_text,
    object_column,
    text_column,
)
from treewright.data.schema import Kind
from treewright.data.text_file import TextSource
from treewright.errors import DataError

_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
_GLOB = frozenset("*?[]{}")
_INTEGERS = frozenset({"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"})
_WIDE = frozenset({"HUGEINT", "UHUGEINT", "BIGNUM", "VARINT"})
_FLOATS = frozenset({"FLOAT", "DOUBLE"})
_AS_TEXT = frozenset({"VARCHAR", "DATE", "UUID", "TIME", "TIME_NS"})
_TIMESTAMPS = frozenset({"TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"})
_ZONED = "TIMESTAMP WITH TIME ZONE"


def read_parquet(source: TextSource, *, kinds: Mapping[str, Kind] | None = None) -> RawTable:
    """Read a Parquet file.

    Parameters
    ----------
    source : TextSource
    kinds : mapping of str to Kind, optional
        Kinds that are known for some columns: numeric ones must hold numbers, others become text.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "t.parquet")
    ...     _ = duckdb.connect().execute(f"COPY (SELECT 1 AS a, true AS b) TO '{path}' (FORMAT parquet)")
    ...     table = read_parquet(TextSource(path))
    >>> table.columns["a"].values.tolist(), table.columns["b"].codes.tolist()
    ([1.0], [1])
    """
    with source.open(unpack=False) as handle:  # the same clear errors as for any other file
        if handle.read(4) != b"PAR1":
            raise DataError("is not a Parquet file", source=source.name)
        handle.seek(0)
        path = source.path
        if path is not None and not _GLOB.intersection(path) and "://" not in path:
            return _read(os.path.abspath(path), source.name, kinds or {})
        # DuckDB takes names with such letters for patterns, and has to seek; so it gets a plain file.
        with tempfile.TemporaryDirectory(prefix="treewright-") as folder:
            copy = os.path.join(folder, "table.parquet")
            with open(copy, "wb") as target:
                shutil.copyfileobj(handle, target)
            return _read(copy, source.name, kinds or {})


def _read(path: str, source: str, kinds: Mapping[str, Kind]) -> RawTable:
    try:
        with interruptible(), duckdb.connect(":memory:", config=_CONFIG) as connection:
            relation = "read_parquet(?, hive_partitioning = false)"
            described = connection.execute(f"DESCRIBE FROM {relation}", [path]).fetchall()
            names = _names(connection, path, len(described), source) or [row[0] for row in described]
            types = [str(row[1]) for row in described]
            chosen = [
                _expression(row[0], name, kind, source) for row, name, kind in zip(described, names, types, strict=True)
            ]
            picks = ", ".join(f"{pick} AS c{position}" for position, pick in enumerate(chosen))
            query = f"SELECT {picks} FROM {relation}"  # noqa: S608 - column names are quoted, the path is bound
            fetched = connection.execute(query, [path]).fetchnumpy()
    except duckdb.Error as error:
        reason = str(error).splitlines()[0].replace(path, source)
        raise DataError(f"cannot be read as Parquet: {reason}", source=source) from error
    columns: dict[str, NumberColumn | TextColumn] = {}
    rows = 0
    for position, (name, kind) in enumerate(zip(names, types, strict=True)):
        cells: Any = fetched.pop(f"c{position}")
        rows = len(cells)
        try:
            columns[name] = _column(cells, name, kind, kinds.get(name))
        except DataError as error:
            raise DataError(str(error), source=source) from error
    return RawTable(columns, rows, source)


def _names(connection: Any, path: str, width: int, source: str) -> list[str] | None:
    """Return the names as the file spells them: DuckDB renames those that differ in case only."""
    tree = connection.execute("SELECT name, num_children FROM parquet_schema(?)", [path]).fetchall()
    names: list[str] = []
    position = 1
    while position < len(tree):
        names.append(tree[position][0])
        below = tree[position][1] or 0
        position += 1
        while below:  # skip what is nested in this column
            below += (tree[position][1] or 0) - 1
            position += 1
    if len(names) != width:
        return None
    for position, name in enumerate(names):
        if name in names[:position]:
            raise DataError("two columns have this name", source=source, column=name)
    return names


def _expression(stored: str, name: str, kind: str, source: str) -> str:
    """Return the SQL that fetches a column in a type that NumPy has."""
    quoted = '"' + stored.replace('"', '""') + '"'
    if kind in _INTEGERS or kind in _FLOATS or kind == "BOOLEAN":
        return quoted
    if kind.startswith("DECIMAL") and not _is_wide(kind):
        return f"CAST({quoted} AS DOUBLE)"
    if _is_wide(kind) or kind in _AS_TEXT or kind.startswith("ENUM"):
        return f"CAST({quoted} AS VARCHAR)"
    if kind in _TIMESTAMPS:
        return f"CAST({quoted} AS TIMESTAMP)"
    if kind == _ZONED:
        return f"epoch_us({quoted})"
    raise DataError(f"columns of type {kind[:60]} are not supported", source=source, column=name)


def _column(cells: npt.NDArray[Any], name: str, kind: str, wanted: Kind | None) -> NumberColumn | TextColumn:
    empty = None
    if isinstance(cells, np.ma.MaskedArray):
        empty = np.ma.getmaskarray(cells)
        cells = cells.data
    if _is_wide(kind):
        objects = _with_none(cells, empty)
        return object_column([None if cell is None else int(cell) for cell in objects], name, wanted)
    if kind in _INTEGERS or kind in _FLOATS or kind == "BOOLEAN" or kind.startswith("DECIMAL"):
        if empty is not None and not empty.any():
            empty = None
        return array_column(cells, name, wanted, empty)
    objects = _with_none(cells, empty)
    if kind in _TIMESTAMPS:
        objects = [None if cell is None else moment_text(cell) for cell in objects]
    elif kind == _ZONED:
        start = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
        objects = [
            None if cell is None else moment_text(start + dt.timedelta(microseconds=int(cell))) for cell in objects
        ]
    if wanted is Kind.NUMERIC:
        return object_column(objects, name, wanted)
    return text_column(objects)


def _is_wide(kind: str) -> bool:
    """Return True if a type has integers wider than those of NumPy; they are read as text."""
    return kind in _WIDE or (kind.startswith("DECIMAL") and kind.replace(" ", "").endswith(",0)"))


def _with_none(cells: npt.NDArray[Any], empty: npt.NDArray[np.bool_] | None) -> list[Any]:
    objects: list[Any] = cells.tolist()
    if empty is not None:
        for row in np.flatnonzero(empty).tolist():
            objects[row] = None
    return objects
