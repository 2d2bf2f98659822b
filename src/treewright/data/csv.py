"""Reading CSV and similar files: cells separated by a comma, semicolon, tab or vertical bar.

A record is one row of the table; a quoted cell may contain line breaks, so a record may span several lines. A plain
number is a decimal number such as ``-12``, ``.5`` or ``1e39``, but not ``inf``, ``0x10``, ``1_000`` or ``1,5``. Digits
with a leading zero, as ``007``, are an identifier; one of them makes its column text.

* Spaces and tabs around an unquoted cell are removed; inside quotes they are kept.
* A cell that equals a missing marker is missing, quoted or not.
* Blank lines at the end are skipped. A blank line in the middle is an error in a table of several columns, and an
  empty cell in a table of one column.
* The first header cell may be empty (as in an exported index) and is then named ``column 1``.
* A column without any known cell is a text column without categories.

Invariants: no record is lost; a record with another number of cells than the header is an error with its line number.
The file is streamed in chunks. A column is read as numbers as long as possible; if it turns out to be text in a later
chunk, the file is read a second time, for such columns only.
"""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice

import numpy as np
import numpy.typing as npt

from treewright.data.columns import NumberCells, NumberColumn, OddCellError, RawTable, TextCells, TextColumn
from treewright.data.schema import MISSING_MARKERS, Kind
from treewright.data.text_file import TextSource, count_line_ends
from treewright.errors import DataError, ParameterError

DELIMITERS = (",", ";", "\t", "|")
"""The delimiters that are looked for, the likeliest first."""

_CHUNK_ROWS = 5_000  # small enough for the cells of a chunk to stay in the cache
_CHUNK_CELLS = 200_000  # so that a chunk of a very wide table stays small
_CHUNK_CHARACTERS = 1 << 25
_SAMPLE_ROWS = 100
_SAMPLE_CHARACTERS = 1 << 18
_PADDING = " \t"

_QUOTED = re.compile(r'"(?:[^"]|"")*+"')


def read_delimited(
    source: TextSource,
    *,
    kinds: Mapping[str, Kind] | None = None,
    missing: Collection[str] = MISSING_MARKERS,
    delimiter: str | None = None,
    header: bool = True,
    encoding: str | None = None,
    prefer_tab: bool = False,
) -> RawTable:
    r"""Read a table of delimited cells.

    Parameters
    ----------
    source : TextSource
    kinds : mapping of str to Kind, optional
        Kinds that are known for some columns: numeric ones must hold numbers, others are kept as text.
    missing : collection of str
        Texts that mean "missing".
    delimiter : str, optional
        One character; found among comma, semicolon, tab and bar if not given.
    header : bool, default=True
        Whether the first record holds the names; if not they are ``x1``, ``x2``, ...
    encoding : str, optional
        UTF-8 unless given here or by a byte order mark.
    prefer_tab : bool, default=False
        Take the tab as delimiter whenever the first record has one.

    Examples
    --------
    >>> import io
    >>> table = read_delimited(TextSource(io.BytesIO(b"id;age\n007;31\n012;?\n")))
    >>> table.columns["id"].values, table.columns["age"].values.tolist(), table.lines.tolist()
    (('007', '012'), [31.0, nan], [2, 3])
    """
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n\0'):
        raise ParameterError(f"delimiter must be one character, no quote or line end, not {delimiter!r}")
    chosen = delimiter or find_delimiter(source, encoding, prefer_tab)
    kinds = kinds or {}
    markers = frozenset(missing)

    records = _Records(source, chosen, encoding, header)
    collectors: dict[str, NumberCells | TextCells] = {}
    for name in records.names:
        kind = kinds.get(name)
        if kind is None or kind is Kind.NUMERIC:
            collectors[name] = NumberCells(markers, required=kind is Kind.NUMERIC)
        else:
            collectors[name] = TextCells(markers)
    starts: list[npt.NDArray[np.int64]] = []
    late: list[str] = []  # columns that turned out to be text when earlier chunks were gone already
    for lines, columns in records.chunks(set(records.names)):
        for name in list(columns):
            collector = collectors[name]
            try:
                if collector.add(columns[name]) is False:
                    collectors[name] = text = TextCells(markers)
                    if starts:
                        late.append(name)
                        records.wanted.discard(name)
                    else:
                        text.add(columns[name])
            except OddCellError as odd:
                raise DataError(odd.message, source=source.name, line=int(lines[odd.index]), column=name) from None
        starts.append(lines)
    all_lines = np.concatenate(starts) if starts else np.empty(0, dtype=np.int64)

    if late:
        again = _Records(source, chosen, encoding, header)
        rows = 0
        for lines, columns in again.chunks(set(late)):
            rows += len(lines)
            for name, cells in columns.items():
                collectors[name].add(cells)
        if rows != len(all_lines):
            raise DataError("the file changed while it was read", source=source.name)
    result: dict[str, NumberColumn | TextColumn] = {}
    for name, collector in collectors.items():
        if isinstance(collector, NumberCells):
            if collector.odd is not None:
                row, message = collector.odd
                raise DataError(message, source=source.name, line=int(all_lines[row]), column=name)
            if collector.known == 0 and not collector.required:
                result[name] = TextColumn((), np.full(len(all_lines), -1, dtype=np.int32))
                continue
        result[name] = collector.column()
    return RawTable(result, len(all_lines), source.name, all_lines)


class _Records:
    """The records of one pass over the file, as chunks of columns, with the line where each record starts."""

    def __init__(self, source: TextSource, delimiter: str, encoding: str | None, header: bool) -> None:
        self._source = source
        self._delimiter = delimiter
        self._raw: list[str] = []  # the lines of the records since `_raw_start`, for what csv does not report
        self._raw_start = 1
        self._lines = source.read_lines(encoding)
        self._ahead: deque[str] = deque()  # lines read ahead, but not yet split into cells
        self._skipped = 0  # lines that did not go through `_reader`
        self._new_reader = partial(
            csv.reader, delimiter=delimiter, strict=True, skipinitialspace=delimiter not in _PADDING
        )
        self._reader = self._new_reader(self._feed())
        self._pending: list[str] | None = None
        first = self._next()
        while first is not None and not first:  # blank lines before the header
            first = self._next()
        if first is None:
            raise DataError("the file is empty", source=source.name)
        if header:
            self.names = _column_names(first, source.name, self._record_start)
        else:
            self.names = [f"x{position}" for position in range(1, len(first) + 1)]
            self._pending = first
        self.wanted: set[str] = set()

    def _feed(self) -> Iterator[str]:
        while (line := self._ahead.popleft() if self._ahead else next(self._lines, None)) is not None:
            self._raw.append(line)
            yield line

    def _next(self) -> list[str] | None:
        """Return the next record, None at the end of the file."""
        if self._pending is not None:
            record, self._pending = self._pending, None
            return record
        self._record_start = self._skipped + self._reader.line_num + 1
        try:
            return next(self._reader, None)
        except csv.Error as error:
            raise self._csv_error(str(error)) from None

    def _csv_error(self, reason: str) -> DataError:
        start = self._record_start
        text = "".join(self._raw[start - self._raw_start :])
        cells = list(_scan(text, self._delimiter))
        offset = next((begin for begin, end, quoted in cells if quoted and end < 0), 0)
        line = start + count_line_ends(text[:offset])
        if "unexpected end" in reason:
            message = "a quoted cell starts here and is never closed"
        elif "field larger" in reason:
            message = (
                f"a cell that starts here is longer than {csv.field_size_limit():,} characters; "
                "is its closing quote missing?"
            )
        elif "expected after" in reason:
            end = self._skipped + self._reader.line_num
            message = f"text follows the closing quote (line {end}) of a quoted cell that starts here"
        else:
            message = f"not a record of a table: {reason}"
        return DataError(message, source=self._source.name, line=line)

    def chunks(self, wanted: set[str]) -> Iterator[tuple[npt.NDArray[np.int64], dict[str, Sequence[str]]]]:
        """Yield line numbers and the wanted columns (`self.wanted` may shrink on the way)."""
        self.wanted = wanted
        width = len(self.names)
        size = max(1, min(_CHUNK_ROWS, _CHUNK_CELLS // width))
        rows: list[list[str]] = []
        lines: list[int] = []
        blank: list[int] = []  # line and number of the blank lines that may turn out to be the last ones
        yield from self._plain_chunks(size)
        while (record := self._next()) is not None:
            if not record or (width > 1 and len(record) == 1 and not record[0].strip(_PADDING)):
                blank = [blank[0], blank[1] + 1] if blank else [self._record_start, 1]
                continue
            if blank:
                if width > 1:
                    raise DataError(
                        f"the line is blank, but rows follow; expected {width} cells",
                        source=self._source.name,
                        line=blank[0],
                    )
                rows.extend([""] for _ in range(blank[1]))
                lines.extend(range(blank[0], blank[0] + blank[1]))
                blank = []
            if len(record) != width:
                raise DataError(
                    f"the row has {len(record)} cells, but {width} are expected",
                    source=self._source.name,
                    line=self._record_start,
                )
            rows.append(record)
            lines.append(self._record_start)
            if len(rows) >= size:
                yield self._columns(rows, lines)
                rows, lines = [], []
                self._raw = []
                self._raw_start = self._skipped + self._reader.line_num + 1
                yield from self._plain_chunks(size)
        if rows:
            yield self._columns(rows, lines)

    def _plain_chunks(self, size: int) -> Iterator[tuple[npt.NDArray[np.int64], dict[str, Sequence[str]]]]:
        """Yield chunks as long as each of their records is one line without quotes and of the right width.

        This is what nearly all records are, and it spares a round of Python for each. The lines of the chunk that is
        not like that are kept for `_next`.
        """
        start = self._skipped + self._reader.line_num + 1
        while self._pending is None:
            characters = 0
            while len(self._ahead) < size and characters < _CHUNK_CHARACTERS:
                lines = list(islice(self._lines, min(1000, size - len(self._ahead))))
                if not lines:
                    break
                self._ahead.extend(lines)
                characters += sum(map(len, lines))
            batch = list(self._ahead)
            if not batch or '"' in "".join(batch):
                return
            try:
                rows = list(self._new_reader(batch))
            except csv.Error:
                return
            if set(map(len, rows)) != {len(self.names)}:
                return
            self._ahead.clear()
            self._skipped += len(batch)
            self._raw, self._raw_start = batch, start
            yield self._columns(rows, list(range(start, start + len(rows))))
            start += len(rows)
            self._raw, self._raw_start = [], start

    def _columns(
        self, rows: list[list[str]], lines: list[int]
    ) -> tuple[npt.NDArray[np.int64], dict[str, Sequence[str]]]:
        columns: dict[str, Sequence[str]] = {}
        for position, (name, cells) in enumerate(zip(self.names, zip(*rows, strict=True), strict=True)):
            if name in self.wanted:
                joined = "\0" + "\0".join(cells) + "\0"
                padded = any(edge in joined for edge in (" \0", "\0 ", "\t\0", "\0\t"))
                columns[name] = self._stripped(cells, lines, position) if padded else cells
        return np.array(lines, dtype=np.int64), columns

    def _stripped(self, cells: Sequence[str], lines: list[int], position: int) -> list[str]:
        """Strip the cells that were not quoted, which only the text of their record shows."""
        result = list(cells)
        ends = [*lines[1:], self._raw_start + len(self._raw)]
        for row, cell in enumerate(cells):
            bare = cell.strip(_PADDING)
            if bare != cell:
                text = "".join(self._raw[lines[row] - self._raw_start : ends[row] - self._raw_start])
                if '"' not in text or not list(_scan(text, self._delimiter))[position][2]:
                    result[row] = bare
        return result


def _scan(text: str, delimiter: str) -> Iterator[tuple[int, int, bool]]:
    """Yield begin, end and whether quoted for each cell of a record; an unclosed quote has end -1."""
    position = 0
    spaces = "" if delimiter in _PADDING else " "
    while position <= len(text):
        while spaces and text.startswith(spaces, position):
            position += 1
        quoted = text.startswith('"', position)
        after = position
        if quoted:
            match = _QUOTED.match(text, position)
            if match is None or text[match.end() : match.end() + 1] not in (delimiter, "\r", "\n", ""):
                yield position, -1, True
                return
            after = match.end()
        end = text.find(delimiter, after)
        yield position, (len(text) if end < 0 else end), quoted
        if end < 0:
            return
        position = end + 1


def _column_names(cells: list[str], source: str, line: int) -> list[str]:
    """Return the names of the header, or raise for one that is empty or there twice."""
    names: list[str] = []
    for position, cell in enumerate(cells, start=1):
        name = cell.strip(_PADDING + "\r\n")
        if not name:
            if position > 1 or len(cells) == 1:
                raise DataError(f"column {position} of {len(cells)} has no name", source=source, line=line)
            name = "column 1"
        if name in names:
            first = names.index(name) + 1
            message = f"two columns have the name {name!r}: columns {first} and {position}"
            raise DataError(message, source=source, line=line)
        names.append(name)
    return names


def header_of(path: str, delimiter: str) -> list[str]:
    """Return the names in the first record of a file."""
    return _Records(TextSource(path), delimiter, None, header=True).names


def find_delimiter(source: TextSource, encoding: str | None, prefer_tab: bool) -> str:
    """Return the delimiter that splits the first records into the same number of cells, the most of them."""
    sample: list[str] = []
    size = 0
    for line in source.read_lines(encoding):
        sample.append(line)
        size += len(line)
        if size > _SAMPLE_CHARACTERS or len(sample) > 4 * _SAMPLE_ROWS:
            break
    best, best_score = ",", (False, 0, 0)
    for delimiter in ("\t", *DELIMITERS) if prefer_tab else DELIMITERS:
        counts: list[int] = []
        clean = True
        reader = csv.reader(sample, delimiter=delimiter, strict=True, skipinitialspace=delimiter != "\t")
        try:
            for record in reader:
                if record:
                    counts.append(len(record))
                if len(counts) == _SAMPLE_ROWS:
                    break
        except csv.Error:
            clean = False  # a delimiter that is not the right one breaks quoted cells; so does a damaged file
        if not counts or counts[0] == 1:
            continue
        if prefer_tab and delimiter == "\t":
            return delimiter
        agreeing = counts.count(counts[0])
        score = (clean and agreeing == len(counts), agreeing, counts[0])
        if score > best_score:
            best, best_score = delimiter, score
    return best
