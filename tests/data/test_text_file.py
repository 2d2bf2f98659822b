"""Bytes of any origin: what can go wrong with them, and that the error has the position."""

from __future__ import annotations

import gzip
import io
import os
import sys
from pathlib import Path

import pytest

from treewright.data import text_file
from treewright.data.text_file import TextSource, count_line_ends
from treewright.errors import DataError, ParameterError


def lines_of(data: bytes, encoding: str | None = None) -> list[str]:
    return list(TextSource(io.BytesIO(data), name="t.csv").read_lines(encoding))


def test_a_path_is_opened_as_often_as_needed(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a\n1\n")
    source = TextSource(path)
    assert [list(source.read_lines()) for _ in range(2)] == [["a\n", "1\n"]] * 2
    assert source.name == str(path)


def test_gzip_is_recognised_by_content_and_not_by_name(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(gzip.compress(b"a\n1\n"))
    assert list(TextSource(path).read_lines()) == ["a\n", "1\n"]
    plain = tmp_path / "t.csv.gz"
    plain.write_bytes(b"a\n1\n")
    assert list(TextSource(plain).read_lines()) == ["a\n", "1\n"]


def test_standard_input_can_be_read_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(b"a\n1\n"))))
    source = TextSource("-")
    assert [list(source.read_lines()) for _ in range(2)] == [["a\n", "1\n"]] * 2
    assert source.name == "<standard input>"


def test_a_text_file_object_is_refused() -> None:
    with pytest.raises(ParameterError, match="binary mode"):
        TextSource(io.StringIO("a"))  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="not int"):
        TextSource(3)  # type: ignore[arg-type]


def test_a_missing_file_is_an_error_with_the_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "weather.csv").write_text("a\n")
    with pytest.raises(DataError, match=r"no such file; did you mean 'weather\.csv'\?"):
        TextSource(tmp_path / "wether.csv").open()
    with pytest.raises(DataError, match="no such file"):
        TextSource(tmp_path / "nowhere" / "t.csv").open()
    with pytest.raises(DataError, match="cannot be opened"):
        TextSource("a\0b").open()


def test_a_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is a folder"):
        TextSource(tmp_path).open()


def test_an_unreadable_file_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a\n")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(DataError, match="permission denied"):
        TextSource(path).open()


@pytest.mark.parametrize("cut", [3, 12, 40, -1])
def test_a_cut_gzip_is_an_error(cut: int) -> None:
    data = gzip.compress(os.urandom(200).hex().encode())
    with pytest.raises(DataError, match="gzip file is damaged"):
        lines_of(data[:cut])


def test_a_damaged_gzip_is_an_error() -> None:
    data = bytearray(gzip.compress(b"a,b\n1,2\n" * 100))
    data[-6] ^= 0xFF  # the checksum
    with pytest.raises(DataError, match="gzip file is damaged"):
        lines_of(bytes(data))


def test_unpacking_stops_at_the_cap() -> None:
    data = gzip.compress(b"1,2\n" * 10_000)
    source = TextSource(io.BytesIO(data), max_bytes=10_000)
    with pytest.raises(DataError, match="more than 10,000 bytes"):
        list(source.read_lines())
    assert len(list(TextSource(io.BytesIO(data), max_bytes=40_000).read_lines())) == 10_000


def test_an_archive_that_unpacks_beyond_any_table_is_stopped_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_file, "RATIO_FREE_BYTES", 100_000)
    data = gzip.compress(b"0,0\n" * 500_000)
    seen: list[str] = []
    with pytest.raises(DataError, match="more than 200 times its size"):
        seen.extend(TextSource(io.BytesIO(data)).read_lines())
    assert len(seen) < 300_000
    assert len(list(TextSource(io.BytesIO(data), max_ratio=2_000).read_lines())) == 500_000


def test_an_endless_line_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_file, "MAX_LINE_CHARACTERS", 1000)
    with pytest.raises(DataError, match=r"line 2: the line is longer than 1,000"):
        lines_of(b"a\n" + b"x" * 5000)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\xef\xbb\xbf\xc3\xa4\n", ["ä\n"]),
        ("ä\r\nb".encode("utf-16"), ["ä\r\n", "b"]),
        ("ä\nb".encode("utf-16-be").join([b"\xfe\xff", b""]), ["ä\n", "b"]),
        (b"a\rb\r\nc\n", ["a\r", "b\r\n", "c\n"]),
    ],
)
def test_encodings_and_line_ends(data: bytes, expected: list[str]) -> None:
    assert lines_of(data) == expected


def test_latin_1_is_an_error_with_its_line_unless_asked_for() -> None:
    data = b"a\nb\r\nM\xfcller\n"
    with pytest.raises(DataError, match=r"t\.csv, line 3: byte 0xfc is not UTF-8 text.*encoding='latin-1'"):
        lines_of(data)
    assert lines_of(data, "latin-1")[2] == "Müller\n"


def test_the_line_of_bad_bytes_is_right_beyond_the_first_buffer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_file, "_BLOCK", 7)  # so that CRLF and letters fall on the border of blocks
    with pytest.raises(DataError) as caught:
        lines_of("ä\r\n".encode() * 20_000 + b"\xff\n")
    assert caught.value.line == 20_001


def test_a_letter_cut_off_at_the_end_is_an_error() -> None:
    with pytest.raises(DataError, match="line 2"):
        lines_of(b"a\n\xc3")


def test_a_byte_order_mark_is_dropped_also_when_utf_8_is_asked_for() -> None:
    assert lines_of(b"\xef\xbb\xbfa\n", "UTF-8") == ["a\n"]


@pytest.mark.parametrize("encoding", ["no-such", "hex"])
def test_an_unknown_encoding_is_an_error(encoding: str) -> None:
    with pytest.raises(ParameterError, match="encoding"):
        lines_of(b"a\n", encoding)


def test_a_nul_byte_is_an_error_with_its_line() -> None:
    with pytest.raises(DataError, match="line 2: there is a NUL byte"):
        lines_of(b"a\nb\0\n")


def test_line_ends_over_two_blocks_count_once() -> None:
    assert count_line_ends("a\r") + count_line_ends("\nb", after_cr=True) == 1
