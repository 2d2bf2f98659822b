"""Reading a table, whatever its format.

Reading a file of any supported format: ``csv``, ``tsv``, ``arff``, ``names`` (C4.5) or ``parquet``. The format is the
one given by the caller, else determined by the file name, else by the content. The result is a `RawTable` with its
source, or one of Treewright's errors is raised.

Reading a file into a dataset: read, infer the schema unless it is given, encode.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, BinaryIO

from treewright.data.columns import RawTable
from treewright.data.csv import read_delimited
from treewright.data.dataset import Dataset, encode
from treewright.data.infer import Overrides, infer_schema
from treewright.data.schema import MISSING_MARKERS, Kind, Schema
from treewright.data.text_file import TextSource
from treewright.errors import DataError, ParameterError
from treewright.wording import did_you_mean, quoted_list

FORMATS = ("csv", "tsv", "arff", "names", "parquet")
"""The formats that can be read."""

_BY_SUFFIX = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".arff": "arff",
    ".names": "names",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_HEAD = 1 << 16

Source = str | os.PathLike[str] | BinaryIO

SAMPLE_PREFIX = "sample:"
"""``sample:play-tennis`` names a bundled table wherever a file can be named."""


def read_raw(
    source: Source,
    *,
    format: str | None = None,
    kinds: Mapping[str, Kind] | None = None,
    missing: Collection[str] = MISSING_MARKERS,
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool = True,
) -> RawTable:
    r"""Read a table from a file, standard input or the bundled samples.

    Parameters
    ----------
    source : str, path or binary file
        A path, ``"-"`` for standard input, ``"sample:NAME"``, or a file object opened in binary mode; text may be
        gzipped.
    format : {"csv", "tsv", "arff", "names", "parquet"}, optional
        Found by name and content if not given.
    kinds : mapping of str to Kind, optional
        Kinds that are known for some columns.
    missing : collection of str
        Texts that mean "missing" in text files.
    encoding : str, optional
        Of text files; UTF-8 unless given here or by a byte order mark.
    delimiter : str, optional
        For csv and tsv; found if not given.
    header : bool, default=True
        For csv and tsv: whether the first record holds the names.

    Examples
    --------
    >>> import io
    >>> table = read_raw(io.BytesIO(b"wind,t\nweak,20\n"))
    >>> table.n_rows, list(table.columns)
    (1, ['wind', 't'])
    """
    if isinstance(source, str) and source.startswith(SAMPLE_PREFIX):
        from treewright.data.samples import sample_table

        return sample_table(source.removeprefix(SAMPLE_PREFIX))
    if format is not None and format not in FORMATS:
        hint = did_you_mean(format, FORMATS) if isinstance(format, str) else ""
        raise ParameterError(f"format {format!r} is not one of {quoted_list(FORMATS)}{hint}")
    # The readers of rarer formats are loaded by the files that need them.
    opened = TextSource(source)
    format = format or _format_of(opened)
    if format == "names":
        from treewright.data.c45_names import read_names

        if opened.path is None:
            raise ParameterError("format 'names' needs a path, for it consists of two files")
        return read_names(opened.path, kinds=kinds, missing=missing, encoding=encoding)
    if format == "parquet":
        from treewright.data.parquet import read_parquet

        return read_parquet(opened, kinds=kinds)
    if format == "arff":
        from treewright.data.arff import read_arff

        return read_arff(opened, kinds=kinds, missing=missing, encoding=encoding)
    return read_delimited(
        opened,
        kinds=kinds,
        missing=missing,
        delimiter=delimiter,
        header=header,
        encoding=encoding,
        prefer_tab=format == "tsv",
    )


def _format_of(source: TextSource) -> str:
    """Return the format by the ending of the name, else by the content."""
    path = source.path
    if path is not None:
        suffix = os.path.splitext(path.removesuffix(".gz"))[1].lower()
        is_data = suffix in (".data", ".test")
        if is_data or not os.path.exists(path):
            from treewright.data.c45_names import names_and_data_paths

            names_path, data_path = names_and_data_paths(path)
            # A stem: there is no such file, but both that belong to it are there.
            if os.path.exists(names_path) and (is_data or os.path.exists(data_path)):
                return "names"
        if suffix in _BY_SUFFIX:
            return _BY_SUFFIX[suffix]
    with source.open() as handle:
        head = handle.read(_HEAD)
    if head.startswith(b"PAR1"):
        return "parquet"
    for line in head.decode(source.encoding(), errors="ignore").splitlines():
        text = line.strip()
        if text and not text.startswith("%"):
            return "arff" if text.lower().startswith("@relation") else "csv"
    return "csv"


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
    raw = read_raw(source, kinds=chosen.kinds(target), missing=chosen.markers, **how)
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
    return read_raw(source, kinds=wanted, missing=missing, **how)


def require_rows(data: Dataset | RawTable) -> None:
    """Raise `DataError` if there are no rows."""
    if data.n_rows == 0:
        raise DataError("there are no rows", source=data.source)
