"""The bytes of a text file, decoded into lines.

A source is a path, ``-`` for standard input, or a file object opened in binary mode. It can be opened any number of
times: input that can be read only once is kept in memory (still compressed, if it was). A line is a physical line,
numbered from 1; it ends with LF, CRLF or a lone CR, also inside a quoted cell.

Invariants: gzip is recognised by its first bytes, not by its name, and is always streamed: the decompressed text is
never held completely, and decompression stops at stated limits. Any problem with the bytes (no such file, a damaged
archive, another encoding, a NUL byte) is a `DataError` that names the file and, if known, the line.
"""

from __future__ import annotations

import codecs
import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

from treewright.errors import DataError, ParameterError
from treewright.wording import did_you_mean

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MAX_TEXT_BYTES = 4 * 1024**3
"""The most bytes to which one gzip file may unpack."""

MAX_TEXT_RATIO = 200
"""How many times larger than its archive an unpacked text may be, once it is over `RATIO_FREE_BYTES`."""

RATIO_FREE_BYTES = 32 * 1024**2
"""Up to this many unpacked bytes the ratio does not matter."""

MAX_LINE_CHARACTERS = 16 * 1024**2
"""The longest line that is read."""

_GZIP_MAGIC = b"\x1f\x8b"
_BLOCK = 1 << 20

Source = str | os.PathLike[str] | BinaryIO


class TextSource:
    r"""A source of bytes that can be opened repeatedly; gzip is unpacked.

    Parameters
    ----------
    source : str, path or binary file
        A path, ``"-"`` for standard input, or a file object opened in binary mode.
    name : str, optional
        What messages call it; the path, or ``<standard input>``.
    max_bytes : int, default=MAX_TEXT_BYTES
        Cap on what a gzip file may unpack to.
    max_ratio : int, default=MAX_TEXT_RATIO
        Cap on how many times larger than the archive its text may be (beyond the first 32 MiB). No real
        table comes near it, and it stops an archive made to fill the memory long before `max_bytes`.

    Examples
    --------
    >>> source = TextSource(io.BytesIO(b"a,b\n1,2\n"), name="t.csv")
    >>> list(source.read_lines()), list(source.read_lines())
    (['a,b\n', '1,2\n'], ['a,b\n', '1,2\n'])
    """

    def __init__(
        self,
        source: Source,
        *,
        name: str | None = None,
        max_bytes: int = MAX_TEXT_BYTES,
        max_ratio: int = MAX_TEXT_RATIO,
    ) -> None:
        self.path: str | None = None
        self.max_bytes = max_bytes
        self.max_ratio = max_ratio
        self._kept: bytes | None = None
        if isinstance(source, (str, os.PathLike)):
            path = os.fspath(source)
            if path == "-":
                self.name = name or "<standard input>"
                self._kept = sys.stdin.buffer.read()
            else:
                self.name = name or path
                self.path = path
        elif hasattr(source, "read"):
            given = getattr(source, "name", None)
            self.name = name or (given if isinstance(given, str) else "<file object>")
            kept = source.read()
            if not isinstance(kept, (bytes, bytearray, memoryview)):
                raise ParameterError(f"{self.name}: open the file object in binary mode, with 'rb'")
            self._kept = bytes(kept)
        else:
            raise ParameterError(f"a source is a path, '-' or a binary file, not {type(source).__name__}")

    def open(self, *, unpack: bool = True) -> BinaryIO:
        """Open the bytes: unpacked when they are gzip, or as they are stored."""
        path = self.path or ""
        try:
            if self._kept is None:
                raw: BinaryIO = open(path, "rb")  # noqa: SIM115 - the caller closes it
            else:
                raw = io.BytesIO(self._kept)
        except FileNotFoundError as error:
            raise DataError(f"there is no such file{_near_file(path)}", source=self.name) from error
        except IsADirectoryError as error:
            raise DataError("is a folder, not a file", source=self.name) from error
        except PermissionError as error:
            raise DataError("may not be read (permission denied)", source=self.name) from error
        except OSError as error:
            raise DataError(f"cannot be opened: {error.strerror or error}", source=self.name) from error
        except ValueError as error:  # a NUL byte inside the path
            raise DataError(f"cannot be opened: {error}", source=self.name) from error
        if not unpack:
            return raw
        try:
            magic = raw.read(2)
            raw.seek(0)
        except OSError as error:
            raw.close()
            raise DataError(f"cannot be read: {error.strerror or error}", source=self.name) from error
        if magic != _GZIP_MAGIC:
            return raw
        return io.BufferedReader(_CappedGzip(raw, self), _BLOCK)

    def encoding(self, wanted: str | None = None) -> str:
        """Return the wanted encoding, else that of the byte order mark, else UTF-8."""
        with self.open() as handle:
            start = handle.read(4)
        if wanted is not None:
            try:
                known = codecs.lookup(wanted).name
            except (LookupError, ValueError):
                raise ParameterError(
                    f"there is no encoding {wanted!r}; usual ones are 'utf-8', 'latin-1', 'cp1252'"
                ) from None
            return "utf-8-sig" if known == "utf-8" and start.startswith(codecs.BOM_UTF8) else known
        if start.startswith(codecs.BOM_UTF8):
            return "utf-8-sig"
        if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-16"
        return "utf-8"

    def read_lines(self, encoding: str | None = None) -> Iterator[str]:
        """Yield the physical lines with their line ends untouched.

        Raises
        ------
        DataError
            For bytes that are not text in this encoding, a NUL byte or an endless line, with its number.
        """
        chosen = self.encoding(encoding)
        with self.open() as binary:
            try:
                text = io.TextIOWrapper(binary, encoding=chosen, newline="")
            except LookupError:  # codecs such as "hex" turn bytes into bytes
                raise ParameterError(f"{encoding!r} is not an encoding of text") from None
            number = 0
            try:
                while line := text.readline(MAX_LINE_CHARACTERS):
                    number += 1
                    if "\0" in line:
                        raise DataError("there is a NUL byte; the file is not text", source=self.name, line=number)
                    if len(line) >= MAX_LINE_CHARACTERS:
                        raise DataError(
                            f"the line is longer than {MAX_LINE_CHARACTERS:,} characters; is this a table?",
                            source=self.name,
                            line=number,
                        )
                    yield line
            except UnicodeError as error:
                raise self._bad_bytes(chosen) from error

    def _bad_bytes(self, encoding: str) -> DataError:
        """Return an error with the line that cannot be decoded (the decoder only reports a buffer offset)."""
        decoder = codecs.getincrementaldecoder(encoding)()
        line, ended_in_cr = 1, False
        with self.open() as handle:
            while True:
                block = handle.read(_BLOCK)
                try:
                    text = decoder.decode(block, final=not block)
                except UnicodeDecodeError as error:
                    text = error.object[: error.start].decode(encoding, errors="ignore")
                    bad = error.object[error.start : error.start + 1].hex()
                    line += count_line_ends(text, ended_in_cr)
                    advice = (
                        "convert the file to UTF-8, or give its encoding, such as encoding='latin-1'"
                        if encoding.startswith("utf-8")
                        else "is this the right encoding?"
                    )
                    return DataError(
                        f"byte 0x{bad} is not {_shown(encoding)} text; {advice}", source=self.name, line=line
                    )
                except UnicodeError as error:
                    return DataError(f"is not {_shown(encoding)} text: {error}", source=self.name)
                line += count_line_ends(text, ended_in_cr)
                ended_in_cr = text.endswith("\r") if text else ended_in_cr
                if not block:
                    return DataError(f"is not {_shown(encoding)} text", source=self.name)


class _CappedGzip(io.RawIOBase):
    """An un-gzipping stream that stops at the caps and reports damage as `DataError`."""

    def __init__(self, raw: BinaryIO, source: TextSource) -> None:
        super().__init__()
        self._raw = raw
        self._gzip = gzip.GzipFile(fileobj=raw, mode="rb")
        self._source = source
        self._unpacked = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        try:
            block = self._gzip.read(min(len(view), _BLOCK))
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise DataError(f"the gzip file is damaged: {error}", source=self._source.name) from error
        except OSError as error:
            raise DataError(f"cannot be read: {error}", source=self._source.name) from error
        view[: len(block)] = block
        self._unpacked += len(block)
        self._check_caps()
        return len(block)

    def _check_caps(self) -> None:
        if self._unpacked > self._source.max_bytes:
            raise DataError(
                f"the gzip file unpacks to more than {self._source.max_bytes:,} bytes; unpack it first",
                source=self._source.name,
            )
        packed = self._raw.tell()
        if self._unpacked > max(RATIO_FREE_BYTES, packed * self._source.max_ratio):
            raise DataError(
                f"the gzip file unpacks to more than {self._source.max_ratio} times its size; "
                "unpack it first if it can be trusted",
                source=self._source.name,
            )

    def close(self) -> None:
        if not self.closed:
            self._gzip.close()
            self._raw.close()
        super().close()


def count_line_ends(text: str, after_cr: bool = False) -> int:
    r"""Count line ends in a block of text; `after_cr`: the block before ended in CR, which was counted.

    Examples
    --------
    >>> count_line_ends("a\nb\r\nc\rd")
    3
    """
    ends = text.count("\n") + text.count("\r") - text.count("\r\n")
    return ends - 1 if after_cr and text.startswith("\n") else ends


def _shown(encoding: str) -> str:
    return "UTF-8" if encoding.startswith("utf-8") else encoding


def _near_file(path: str) -> str:
    """Return a hint with the nearest file name of the same folder."""
    folder, name = os.path.split(path)
    try:
        names = os.listdir(folder or os.curdir)
    except (OSError, ValueError):
        return ""
    return did_you_mean(name, names)
