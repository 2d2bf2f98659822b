"""Reading ARFF, the format of Weka.

The category list ``{a, 'b c', d}`` of a nominal attribute keeps its order, including categories that no row has. An
attribute of type ``string`` or ``date`` is open: nominal, with the values found in order of appearance (a date is kept
as written). A sparse row ``{1 5, 3 x}`` has pairs of index (from 0) and value; omitted values are 0, or the first
category.

``%`` starts a comment at the start of a line or after a blank, so ``50%`` is a value. An unquoted ``?`` is missing, as
is any other unquoted missing marker that is not a category of the attribute; a quoted one is a value. A backslash
escapes the next character inside quotes only. A category list ends on the line where it starts. Instance weights and
relational attributes are rejected.

Invariants: every data line becomes one row or an error with its line number. The types in the file are returned as a
`declared` schema without a target; `kinds` given by the caller take precedence.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from treewright.data.columns import NumberCells, NumberColumn, OddCellError, RawTable, TextCells, TextColumn
from treewright.data.schema import MISSING_MARKERS, Column, Kind, Schema
from treewright.data.text_file import TextSource
from treewright.errors import DataError

_CHUNK_CELLS = 500_000
_TEXT = r"""'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+\""""
_CELL = re.compile(rf"\s*+(?:({_TEXT})\s*+(?=,|$)|([^,]*+))(?:,|$)", re.DOTALL)
_NAME = re.compile(rf"\s*+({_TEXT}|[^\s{{'\"][^\s{{]*+)\s*+(.*)", re.DOTALL)
_ENTRY = re.compile(rf"\s*+([0-9]++)\s++(?:({_TEXT})\s*+(?=,|$)|([^,]*+))(?:,|$)", re.DOTALL)
_SKIPPED = re.compile(rf"(?:{_TEXT}|[^'\"%]|(?<!\s)%)*+", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}
_SPECIAL = re.compile(r"""['"\\{}%]""")
_WEIGHT = re.compile(r"\{[^{}'\"]*\}")
_SPARSE_WEIGHT = re.compile(r"\}\s*,\s*\{[^{}'\"]*\}$")


@dataclass(frozen=True)
class _Attribute:
    name: str
    kind: Kind
    values: tuple[str, ...]
    is_open: bool


def read_arff(
    source: TextSource,
    *,
    kinds: Mapping[str, Kind] | None = None,
    missing: Collection[str] = MISSING_MARKERS,
    encoding: str | None = None,
) -> RawTable:
    r"""Read an ARFF file.

    Parameters
    ----------
    source : TextSource
    kinds : mapping of str to Kind, optional
        Kinds that prevail over the types in the file.
    missing : collection of str
        Texts that mean "missing" besides ``?``.
    encoding : str, optional
        UTF-8 unless given here or by a byte order mark.

    Examples
    --------
    >>> import io
    >>> text = b"@relation t\n@attribute wind {weak, strong}\n@attribute t real\n@data\nstrong, 7\n?, 8\n"
    >>> table = read_arff(TextSource(io.BytesIO(text)))
    >>> table.columns["wind"].values, table.columns["wind"].codes.tolist(), table.declared.columns[1].kind
    (('weak', 'strong'), [1, -1], <Kind.NUMERIC: 'numeric'>)
    """
    lines = enumerate(source.read_lines(encoding), start=1)
    markers = frozenset((*missing, "?"))
    attributes = [_overridden(attribute, kinds or {}) for attribute in _header(lines, source.name)]
    collectors: list[NumberCells | TextCells] = [
        NumberCells(markers, required=True)
        if attribute.kind is Kind.NUMERIC
        else TextCells(markers, attribute.values, closed=not attribute.is_open)
        for attribute in attributes
    ]
    size = max(1, _CHUNK_CELLS // len(attributes))
    starts: list[int] = []
    rows: list[list[str]] = []
    for number, line in lines:
        cells = _row(line, attributes, markers, source.name, number)
        if cells is None:
            continue
        rows.append(cells)
        starts.append(number)
        if len(rows) == size:
            collect_rows(rows, starts, [a.name for a in attributes], collectors, source.name)
            rows = []
    collect_rows(rows, starts, [a.name for a in attributes], collectors, source.name)
    columns: dict[str, NumberColumn | TextColumn] = {}
    declared = []
    for attribute, collector in zip(attributes, collectors, strict=True):
        column = collector.column()
        columns[attribute.name] = column
        values = column.values if isinstance(column, TextColumn) else ()
        declared.append(Column(attribute.name, attribute.kind, values))
    schema = Schema(tuple(declared))
    return RawTable(columns, len(starts), source.name, np.array(starts, dtype=np.int64), schema)


def collect_rows(
    rows: list[list[str]],
    starts: list[int],
    names: list[str],
    collectors: list[NumberCells | TextCells],
    source: str,
) -> None:
    """Add rows to their collectors; they are the last ones of those that begin on the lines `starts`."""
    if not rows:
        return
    for name, collector, cells in zip(names, collectors, zip(*rows, strict=True), strict=True):
        try:
            collector.add(cells)
        except OddCellError as odd:
            line = starts[len(starts) - len(rows) + odd.index]
            raise DataError(odd.message, source=source, line=line, column=name) from None


def _overridden(attribute: _Attribute, kinds: Mapping[str, Kind]) -> _Attribute:
    """Return the attribute with the kind that the caller wants."""
    kind = kinds.get(attribute.name, attribute.kind)
    if kind is attribute.kind:
        return attribute
    if kind is Kind.NUMERIC:
        return _Attribute(attribute.name, kind, (), is_open=False)
    was_numeric = attribute.kind is Kind.NUMERIC
    return _Attribute(attribute.name, kind, attribute.values, attribute.is_open or was_numeric)


def _header(lines: Iterator[tuple[int, str]], source: str) -> list[_Attribute]:
    """Read up to ``@data`` and return the attributes."""
    attributes: list[_Attribute] = []
    known: dict[str, int] = {}
    number = 0
    for number, line in lines:
        text = _without_comment(line).strip()
        if not text:
            continue
        keyword, rest = (*text.split(maxsplit=1), "")[:2]
        word = keyword.lower()
        if word == "@relation":
            continue
        if word == "@data":
            if not attributes:
                raise DataError("@data comes before any @attribute", source=source, line=number)
            return attributes
        if word != "@attribute":
            message = f"expected @relation, @attribute or @data, not {keyword[:40]!r}"
            raise DataError(message, source=source, line=number)
        attribute = _attribute(rest, source, number)
        if attribute.name in known:
            message = f"two attributes have this name (the first on line {known[attribute.name]})"
            raise DataError(message, source=source, line=number, column=attribute.name)
        known[attribute.name] = number
        attributes.append(attribute)
    if number == 0:
        raise DataError("the file is empty", source=source)
    raise DataError("there is no @data line", source=source, line=number)


def _attribute(text: str, source: str, line: int) -> _Attribute:
    match = _NAME.fullmatch(text)
    if match is None:
        raise DataError("expected @attribute, a name and a type", source=source, line=line)
    name, rest = _unquoted(match[1]), match[2].strip()
    if rest.startswith("{"):
        if not rest.endswith("}"):
            raise DataError("the list of values has no closing brace", source=source, line=line, column=name)
        values = [text for text, _ in _split(rest[1:-1], source, line)] if rest[1:-1].strip() else []
        seen: set[str] = set()
        for value in values:
            if value in seen:
                raise DataError(f"value {value!r} is declared twice", source=source, line=line, column=name)
            seen.add(value)
        return _Attribute(name, Kind.NOMINAL, tuple(values), is_open=False)
    word = rest.split(maxsplit=1)[0].lower() if rest else ""
    if word in ("numeric", "real", "integer"):
        return _Attribute(name, Kind.NUMERIC, (), is_open=False)
    if word in ("string", "date"):
        return _Attribute(name, Kind.NOMINAL, (), is_open=True)
    message = f"type {word[:40]!r} is not one of numeric, real, integer, string, date or {{values}}"
    raise DataError(message, source=source, line=line, column=name)


def _row(
    line: str, attributes: list[_Attribute], markers: frozenset[str], source: str, number: int
) -> list[str] | None:
    """Return the cells of a data line, None if it is blank or a comment."""
    if not _SPECIAL.search(line):
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) == 1 and not cells[0]:
            return None
    else:
        text = _without_comment(line).strip()
        if not text:
            return None
        if text.startswith("{"):
            return _sparse_row(text, attributes, markers, source, number)
        if text.endswith("}") and _WEIGHT.fullmatch(text.rpartition(",")[2].strip()):
            raise DataError("instance weights are not supported", source=source, line=number)
        cells = [_marked(cell, quoted, markers) for cell, quoted in _split(text, source, number)]
    if len(cells) != len(attributes):
        message = f"the row has {len(cells)} cells, but {len(attributes)} are expected"
        raise DataError(message, source=source, line=number)
    return cells


def _sparse_row(
    text: str, attributes: list[_Attribute], markers: frozenset[str], source: str, number: int
) -> list[str]:
    if _SPARSE_WEIGHT.search(text):
        raise DataError("instance weights are not supported", source=source, line=number)
    if not text.endswith("}"):
        raise DataError("the sparse row has no closing brace", source=source, line=number)
    cells: dict[int, str] = {}
    inner = text[1:-1].strip()
    position = 0
    while position < len(inner):
        match = _ENTRY.match(inner, position)
        if match is None:
            message = f"expected an index and a value, not {inner[position : position + 40]!r}"
            raise DataError(message, source=source, line=number)
        index = int(match[1]) if len(match[1]) < 10 else len(attributes)
        if index >= len(attributes):
            message = f"index {match[1][:20]} is not below the number of attributes, {len(attributes)}"
            raise DataError(message, source=source, line=number)
        if index in cells:
            raise DataError(f"index {index} is there twice", source=source, line=number)
        quoted = match[2] is not None
        value = _unquoted(match[2]) if quoted else match[3].strip()
        if not quoted and value.startswith(("'", '"')):
            raise DataError("a quoted value is not closed", source=source, line=number)
        cells[index] = _marked(value, quoted, markers)
        position = match.end()
    result = []
    for index, attribute in enumerate(attributes):
        if index in cells:
            result.append(cells[index])
        elif attribute.kind is Kind.NUMERIC:
            result.append("0")
        elif attribute.values:
            result.append(attribute.values[0])
        else:
            message = "a sparse row must not leave out an attribute without declared values"
            raise DataError(message, source=source, line=number, column=attribute.name)
    return result


def _split(text: str, source: str, line: int) -> Iterator[tuple[str, bool]]:
    """Yield the text of each cell between commas and whether it was quoted."""
    position = 0
    while True:
        match = _CELL.match(text, position)
        if match is None:  # the pattern takes anything up to a comma or the end
            raise DataError("cannot be split into cells", source=source, line=line)
        if match[1] is not None:
            yield _unquoted(match[1]), True
        else:
            bare = match[2].strip()
            if bare.startswith(("'", '"')):
                message = "a quoted value is not closed, or text follows its closing quote"
                raise DataError(message, source=source, line=line)
            yield bare, False
        position = match.end()
        if not match[0].endswith(",") or position > len(text):
            return


def _without_comment(line: str) -> str:
    """Cut off a comment that is not inside quotes."""
    if "%" not in line:
        return line
    if line.lstrip().startswith("%"):
        return ""
    match = _SKIPPED.match(line)
    return line[: match.end()] if match and line[match.end() :].startswith("%") else line


def _marked(cell: str, quoted: bool, markers: frozenset[str]) -> str:
    """Mark a quoted text that would otherwise be taken for missing (see `TextCells`)."""
    return "\0" + cell if quoted and cell in markers else cell


def _unescaped(match: re.Match[str]) -> str:
    return _ESCAPED.get(match[1], match[1])


def _unquoted(text: str) -> str:
    """Remove quotes, and the backslashes inside them."""
    return _ESCAPE.sub(_unescaped, text[1:-1]) if text[:1] in ("'", '"') else text
