"""Reading the two files of a C4.5 data set, names and data.

The names file ``stem.names`` lists the classes, then one entry ``name: type`` per attribute. An entry ends with a
period before a blank or the end of the file, or at the end of its line unless that ends in a comma. ``|`` starts a
comment. The data file ``stem.data`` or ``stem.test`` has one row per line, cells in the order of the names file, the
class last. An attribute of type ``discrete N`` or ``ignore`` is open: its categories are the values found, in order of
appearance.

The class column is named ``class`` (``class_`` if an attribute has that name). If the first entry is just the name of
an attribute, as in C5.0, that attribute is the target and there is no class column. ``[ordered]`` before a category
list makes the attribute ordinal; other extensions of C5.0 (formulas, ``attributes included``) are rejected. Runs of
blanks inside a name or value count as one blank. ``?`` is missing, as is any other missing marker that is not a
category of the attribute.

Invariants: every data line becomes one row or an error with its line number; `declared` is a schema with the target.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from treewright.data.arff import collect_rows
from treewright.data.columns import NumberCells, NumberColumn, RawTable, TextCells, TextColumn
from treewright.data.schema import MISSING_MARKERS, Column, Kind, Schema
from treewright.data.text_file import TextSource
from treewright.errors import DataError

_CHUNK_CELLS = 500_000
_MAX_NAMES_CHARACTERS = 64 * 1024**2
_FRAGMENT = re.compile(r"\\[^\r\n]|[|,]|[^\\|,]+|\\")
_DISCRETE = re.compile(r"discrete(?:\s+[0-9]+)?", re.IGNORECASE)
_ENDINGS = (".names", ".data", ".test")


@dataclass(frozen=True)
class _Attribute:
    name: str
    kind: Kind
    values: tuple[str, ...] = ()
    is_open: bool = False
    ignored: bool = False


@dataclass(frozen=True)
class _Part:
    """A text of the names file, with what ended it: ``:``, ``,``, ``.``, a line end, or nothing."""

    text: str
    end: str
    line: int


def read_names(
    path: str | os.PathLike[str],
    *,
    kinds: Mapping[str, Kind] | None = None,
    missing: Collection[str] = MISSING_MARKERS,
    encoding: str | None = None,
) -> RawTable:
    r"""Read a C4.5 data set.

    Parameters
    ----------
    path : str or path
        The names file, the data file (also ``.test``, also gzipped), or the stem of both.
    kinds : mapping of str to Kind, optional
        Kinds that prevail over the types in the names file.
    missing : collection of str
        Texts that mean "missing" besides ``?``.
    encoding : str, optional
        UTF-8 unless given here or by a byte order mark.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     stem = pathlib.Path(folder, "golf")
    ...     _ = stem.with_suffix(".names").write_text("no, yes.\nwind: weak, strong.\nt: continuous.\n")
    ...     _ = stem.with_suffix(".data").write_text("weak, 20.5, yes\nstrong, ?, no.\n")
    ...     table = read_names(stem)
    >>> table.declared.target, table.declared.classes, table.columns["t"].values.tolist()
    ('class', ('no', 'yes'), [20.5, nan])
    """
    names_path, data_path = names_and_data_paths(path)
    attributes, target = _read_attributes(TextSource(names_path), encoding)
    return _read_data(TextSource(data_path), attributes, target, kinds=kinds or {}, missing=missing, encoding=encoding)


def names_and_data_paths(path: str | os.PathLike[str]) -> tuple[str, str]:
    """Return the paths of the names file and of the data file that belong to either of them or to the stem.

    Examples
    --------
    >>> names_and_data_paths("golf.test")
    ('golf.names', 'golf.test')
    >>> names_and_data_paths("golf")
    ('golf.names', 'golf.data')
    """
    given = os.fspath(path)
    bare = given.removesuffix(".gz")
    stem, ending = os.path.splitext(bare)
    if ending.lower() not in _ENDINGS:
        stem, ending = given, ""
    if ending.lower() == ".names":
        return given, _existing(stem + ".data")
    return _existing(stem + ".names"), given if ending else _existing(stem + ".data")


def _existing(path: str) -> str:
    """Return the path, or its gzipped sibling if only that exists."""
    return path + ".gz" if not os.path.exists(path) and os.path.exists(path + ".gz") else path


def _read_attributes(source: TextSource, encoding: str | None) -> tuple[list[_Attribute], str]:
    """Return the columns of the data file in order and the name of the target."""
    parts = list(_parts(source, encoding))
    if not parts:
        raise DataError("the file is empty", source=source.name)
    entries: list[list[_Part]] = [[]]
    for part in parts:
        entries[-1].append(part)
        if part.end not in (",", ":"):
            entries.append([])
    if not entries[-1]:
        entries.pop()
    classes = entries[0]
    if any(part.end == ":" for part in classes):
        message = "the classes must come before the first attribute"
        raise DataError(message, source=source.name, line=classes[0].line)
    attributes: list[_Attribute] = []
    known: dict[str, int] = {}
    for entry in entries[1:]:
        attribute = _attribute(entry, source.name)
        line = entry[0].line
        if attribute.name in known:
            message = f"two attributes have this name (the first on line {known[attribute.name]})"
            raise DataError(message, source=source.name, line=line, column=attribute.name)
        known[attribute.name] = line
        attributes.append(attribute)
    if not attributes:
        raise DataError("there are no attributes after the classes", source=source.name, line=classes[-1].line)
    if len(classes) == 1 and classes[0].text in known:
        target = classes[0].text
        if next(attribute for attribute in attributes if attribute.name == target).ignored:
            raise DataError("the target is ignored", source=source.name, line=known[target], column=target)
        return attributes, target
    target = "class"
    while target in known:
        target += "_"
    values = _values(classes, source.name, target)
    return [*attributes, _Attribute(target, Kind.NOMINAL, values)], target


def _attribute(entry: list[_Part], source: str) -> _Attribute:
    head, rest = entry[0], entry[1:]
    name = head.text
    if head.end != ":" or not name or not rest or any(part.end == ":" for part in rest):
        message = f"expected 'name: type.' for an attribute, near {name[:40]!r}"
        raise DataError(message, source=source, line=head.line)
    if name.lower() in ("attributes included", "attributes excluded") or rest[0].text.startswith("="):
        raise DataError(f"{name!r} is an addition of C5.0 that is not read", source=source, line=head.line)
    if len(rest) == 1:
        word = rest[0].text.lower()
        if word == "continuous":
            return _Attribute(name, Kind.NUMERIC)
        if word in ("ignore", "label"):
            return _Attribute(name, Kind.NOMINAL, is_open=True, ignored=True)
        if _DISCRETE.fullmatch(word) or word in ("date", "time", "timestamp"):
            return _Attribute(name, Kind.NOMINAL, is_open=True)
    kind = Kind.NOMINAL
    if rest[0].text.lower().startswith("[ordered]"):
        kind = Kind.ORDINAL
        rest = [_Part(rest[0].text[len("[ordered]") :].strip(), rest[0].end, rest[0].line), *rest[1:]]
    return _Attribute(name, kind, _values(rest, source, name))


def _values(parts: list[_Part], source: str, column: str) -> tuple[str, ...]:
    values: dict[str, None] = {}
    for part in parts:
        if not part.text:
            raise DataError("a declared value is empty", source=source, line=part.line, column=column)
        if part.text in values:
            message = f"value {part.text!r} is declared twice"
            raise DataError(message, source=source, line=part.line, column=column)
        values[part.text] = None
    return tuple(values)


def _parts(source: TextSource, encoding: str | None) -> Iterator[_Part]:
    """Split the names file at its separators; comments and escapes are resolved here."""
    text: list[str] = []
    total = 0
    start = 0
    last_end = "\n"
    for number, raw in enumerate(source.read_lines(encoding), start=1):
        total += len(raw)
        if total > _MAX_NAMES_CHARACTERS:
            raise DataError("is too large for a names file", source=source.name, line=number)
        position = 0
        while position < len(raw):
            letter = raw[position]
            position += 1
            if letter == "|":
                position = len(raw)
                letter = "\n"
            following = raw[position : position + 1]
            if letter == "\\" and following not in ("", "\r", "\n"):
                letter = following
                position += 1
            elif letter in ":," or (letter == "." and (not following or following.isspace() or following == "|")):
                # A period after an entry that its line has ended already means nothing.
                if letter != "." or last_end in (",", ":") or "".join(text).strip():
                    yield _Part(_with_single_blanks(text), letter, start or number)
                    last_end = letter
                text, start = [], 0
                continue
            elif letter in "\r\n":
                if "".join(text).strip():
                    yield _Part(_with_single_blanks(text), "\n", start)
                    last_end = "\n"
                text, start = [], 0
                continue
            if not start and not letter.isspace():
                start = number
            text.append(letter)
    if "".join(text).strip():
        yield _Part(_with_single_blanks(text), "", start)


def _with_single_blanks(text: list[str]) -> str:
    return " ".join("".join(text).split())


def _read_data(
    source: TextSource,
    attributes: list[_Attribute],
    target: str,
    *,
    kinds: Mapping[str, Kind],
    missing: Collection[str],
    encoding: str | None,
) -> RawTable:
    markers = frozenset((*missing, "?"))
    names = [attribute.name for attribute in attributes]
    wanted = [kinds.get(attribute.name, attribute.kind) for attribute in attributes]
    collectors: list[NumberCells | TextCells] = []
    for attribute, kind in zip(attributes, wanted, strict=True):
        if kind is Kind.NUMERIC:
            collectors.append(NumberCells(markers, required=True))
        else:
            closed = not attribute.is_open and attribute.kind is not Kind.NUMERIC
            collectors.append(TextCells(markers, attribute.values, closed))
    size = max(1, _CHUNK_CELLS // len(names))
    starts: list[int] = []
    rows: list[list[str]] = []
    for number, line in enumerate(source.read_lines(encoding), start=1):
        cells = _cells(line)
        if cells is None:
            continue
        if len(cells) != len(names):
            message = f"the row has {len(cells)} cells, but {len(names)} are expected"
            raise DataError(message, source=source.name, line=number)
        rows.append(cells)
        starts.append(number)
        if len(rows) == size:
            collect_rows(rows, starts, names, collectors, source.name)
            rows = []
    collect_rows(rows, starts, names, collectors, source.name)
    columns: dict[str, NumberColumn | TextColumn] = {}
    declared = []
    for name, kind, collector in zip(names, wanted, collectors, strict=True):
        column = collector.column()
        columns[name] = column
        declared.append(Column(name, kind, column.values if isinstance(column, TextColumn) else ()))
    ignored = tuple(attribute.name for attribute in attributes if attribute.ignored)
    schema = Schema(tuple(declared), target=target, ignored=ignored)
    return RawTable(columns, len(starts), source.name, np.array(starts, dtype=np.int64), schema)


def _cells(line: str) -> list[str] | None:
    """Return the cells of a data line, None if it is blank or a comment."""
    if "\\" not in line and "|" not in line:
        cells = line.strip().removesuffix(".").split(",")
    else:
        cells = [""]
        ends_row = False  # whether the last thing read is a bare period
        for fragment in _FRAGMENT.findall(line):
            if fragment == "|":
                break
            if fragment == ",":
                cells.append("")
                ends_row = False
            elif len(fragment) == 2 and fragment[0] == "\\":
                cells[-1] += fragment[1]
                ends_row = False
            else:
                cells[-1] += fragment
                ends_row = fragment.rstrip().endswith(".") if fragment.strip() else ends_row
        if ends_row:
            cells[-1] = cells[-1].rstrip().removesuffix(".")
    cells = [" ".join(cell.split()) for cell in cells]
    return None if len(cells) == 1 and not cells[0] else cells
