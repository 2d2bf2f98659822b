"""Reading a file into a dataset: read, infer the schema unless it is given, encode."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any, BinaryIO

from treewright._base.errors import DataError
from treewright.data.dataset import Dataset
from treewright.data.encode import encode
from treewright.data.infer import Overrides, infer_schema
from treewright.data.raw import RawTable
from treewright.data.read import read_raw
from treewright.data.samples import sample_table
from treewright.data.schema import Kind, Schema

Source = str | os.PathLike[str] | BinaryIO

SAMPLE_PREFIX = "sample:"
"""``sample:play-tennis`` names a bundled table wherever a file can be named."""


def read(
    source: Source,
    target: str | None = None,
    schema: Schema | None = None,
    *,
    overrides: Overrides | None = None,
    nominal_limit: int = 0,
    **how: Any,
) -> Dataset:
    """Read a table.

    Parameters
    ----------
    source : path, binary file, ``"-"`` for standard input, or ``"sample:NAME"``
    target : str or None
        The column to predict. None takes the schema's, or what the format declares.
    schema : Schema or None
        The schema of the columns; other columns of the file are ignored. None infers a schema.
    overrides : Overrides or None
        Corrections to the inference.
    nominal_limit : int
        Whole-number columns with at most this many values are inferred as nominal.
    **how
        ``format``, ``encoding`` and ``delimiter``, if they cannot be detected.

    Returns
    -------
    Dataset
        With ``.X``, ``.y`` and ``.schema``.

    Examples
    --------
    >>> table = read("sample:play-tennis")
    >>> table.X.shape, table.schema.target
    ((14, 4), 'PlayTennis')
    """
    if schema is not None:
        wanted = schema if target is None else replace(schema, target=target)
        raw = read_for(source, wanted, **how)
        return encode(raw, wanted, with_target=wanted.target is None or wanted.target in raw.columns)
    chosen = overrides or Overrides()
    raw = raw_source(source, kinds=chosen.kinds(target), missing=chosen.markers, **how)
    return encode(raw, infer_schema(raw, target, chosen, nominal_limit=nominal_limit))


class _OthersAsText(dict[str, Kind]):
    """Kinds of some columns; all others are read as text."""

    def get(self, name: str, default: Any = None) -> Any:
        return super().get(name, Kind.NOMINAL)


def read_for(source: Source, schema: Schema, *, others_as_text: bool = False, **how: Any) -> RawTable:
    """Read a table with a known schema.

    `others_as_text` reads the columns that the schema does not name as text (an id of 20 digits, say).
    """
    kinds = {column.name: column.kind for column in schema.columns}
    wanted = _OthersAsText(kinds) if others_as_text else kinds
    declared = {value for column in schema.columns for value in column.values}
    missing = tuple(marker for marker in schema.missing_markers if marker not in declared)
    return raw_source(source, kinds=wanted, missing=missing, **how)


def raw_source(source: Source, **how: Any) -> RawTable:
    """Read a file, standard input or a bundled sample."""
    if isinstance(source, str) and source.startswith(SAMPLE_PREFIX):
        return sample_table(source.removeprefix(SAMPLE_PREFIX))
    return read_raw(source, **how)


def require_rows(data: Dataset | RawTable) -> None:
    """Raise `DataError` if there are no rows."""
    if data.n_rows == 0:
        raise DataError("there are no rows", source=data.source)
