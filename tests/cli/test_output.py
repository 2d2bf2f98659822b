"""Lines for people: numbers, notes, progress, and output paths."""

from __future__ import annotations

import io
import os
import stat
import sys
import warnings
from pathlib import Path

import pytest

from cli.shell import Shell
from treewright.cli import output
from treewright.cli.output import estimate_line, is_terminal, percent, plural, progress_bar, require_writable
from treewright.errors import DataWarning, TreewrightError
from treewright.evaluation.cross_validation import AccuracyEstimate, ErrorEstimate


class Terminal(io.StringIO):
    """A stream that pretends to be a terminal."""

    def isatty(self) -> bool:
        return True


# -- numbers and sentences ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0 %"), (1, "100 %"), (0.643, "64 %"), (0.999, "99.9 %"), (0.99999, "> 99.9 %"), (0.00001, "< 0.1 %")],
)
def test_percentage_never_rounds_to_certainty(share: float, text: str) -> None:
    assert percent(share) == text


@pytest.mark.parametrize(("n", "text"), [(0, "0 rows"), (1, "1 row"), (1500, "1,500 rows")])
def test_one_thing_is_not_several(n: int, text: str) -> None:
    assert plural(n, "row") == text


@pytest.mark.parametrize(
    ("tested", "low", "end"),
    [
        (14, 0.4, ": too few rows to trust."),
        (500, 0.4, ": not significantly better than the baseline."),
        (500, 0.7, "gives 60 %."),
    ],
)
def test_estimate_is_compared_with_the_baseline(tested: int, low: float, end: str) -> None:
    line = estimate_line(AccuracyEstimate(10, tested, 0, 0.8, low, 0.9, 0.6, "yes"), 10)
    assert line.startswith(f'10-fold estimate 80 % ({percent(low)} to 90 %); always "yes" gives 60 %')
    assert line.endswith(end)


def test_hold_out_is_not_called_folds() -> None:
    assert estimate_line(AccuracyEstimate(1, 900, 0, 0.8, 0.7, 0.9, 0.6, "yes"), 10).startswith(
        "Hold-out of 900 rows 80 %"
    )


def test_worse_than_the_mean_explains_nothing() -> None:
    assert "(0 % of the variance explained)" in estimate_line(ErrorEstimate(10, 40, 2.0, -0.5, 1.5), 10)


def test_hostile_class_is_escaped_in_the_estimate() -> None:
    assert "\x1b" not in estimate_line(AccuracyEstimate(10, 14, 9, 0.6, 0.4, 0.8, 0.6, "\x1b[31m"), 10)


def test_many_classes_are_cut(shell: Shell) -> None:
    shell.write("t.csv", "x,play\n" + "".join(f"{i},c{i}\n" for i in range(12)))
    printed = shell.fine("train", "t.csv", "-t", "play", "--no-save", "--folds", "0").out
    assert "target play: c0 1, c1 1, c10 1, c11 1, c2 1, c3 1, c4 1, c5 1 and 4 more\n" in printed


# -- notes -------------------------------------------------------------------------------------------------------------


def test_warnings_become_one_escaped_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    with output.warnings_as_notes():
        warnings.warn("value '\x1b[31m'\nis new", DataWarning, stacklevel=1)
        warnings.warn("second", DataWarning, stacklevel=1)
    assert capsys.readouterr() == ("", "note: value '\\x1b[31m'\\nis new\nnote: second\n")


# -- progress ----------------------------------------------------------------------------------------------------------


def test_progress_is_silent_in_a_pipe(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(output, "PATIENCE", 0)
    with progress_bar("growing") as bar:
        bar(1, 2)
    assert capsys.readouterr() == ("", "")


def test_progress_shows_on_a_terminal_and_clears_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(output, "PATIENCE", 0)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar("growing") as bar:
        bar(1, 4)
        bar(3, 4)
    assert "growing" in terminal.getvalue()
    assert "3/4" in terminal.getvalue()
    assert terminal.getvalue().endswith("\x1b[2K")


def test_progress_does_not_flash_by_for_quick_work(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress_bar("growing") as bar:
        bar(1, 1)
    assert terminal.getvalue() == ""


def test_reading_is_shown_for_a_large_file_on_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data.csv").write_text("a,b\n")
    monkeypatch.setenv("TERM", "xterm")
    for size, shown in ((0, True), (1000, False)):
        terminal = Terminal()
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setattr(output, "LARGE_FILE", size)
        with output.reading(str(tmp_path / "data.csv")):
            pass
        assert ("reading" in terminal.getvalue()) == shown


def test_closed_stream_is_no_terminal() -> None:
    assert not is_terminal(None)
    assert not is_terminal(io.StringIO())
    assert is_terminal(Terminal())


# -- output paths ------------------------------------------------------------------------------------------------------


def test_new_and_existing_files_are_output_paths(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("")
    require_writable(str(tmp_path / "old"), "sample:play-tennis", "-", str(tmp_path / "none"))
    require_writable(str(tmp_path / "new"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_device_or_pipe_is_never_replaced_by_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TreewrightError, match="is not a regular file"):
        require_writable(str(tmp_path / "pipe"))
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_empty_name_is_no_output_path() -> None:
    with pytest.raises(TreewrightError, match="an empty name"):
        require_writable("")


def test_folder_without_permission_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(TreewrightError, match="may not be written to"):
        require_writable(str(tmp_path / "new"))


def test_link_to_the_input_counts_as_the_input(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "data")
    with pytest.raises(TreewrightError, match="would be replaced"):
        require_writable(str(tmp_path / "link"), str(tmp_path / "data"))


@pytest.mark.parametrize("verb", ["data", "cv", "report", "tune"])
def test_database_is_refused_by_verbs_that_read_files(shell: Shell, verb: str) -> None:
    result = shell(verb, "postgresql://ann:secret@db/shop?table=sales")
    assert f"{verb} reads a file, and this is a database or a pattern of files; only train reads it" in result.error
    assert "secret" not in result.error


def test_predict_of_a_database_names_the_option(shell: Shell) -> None:
    shell.fine("train", "sample:play-tennis", "--folds", "0", "-o", "m.json")
    assert "predict --in-database" in shell("predict", "m.json", "duckdb:///shop.db?table=sales").error
    assert "only train reads it" in shell("evaluate", "m.json", "duckdb:///shop.db?table=sales").error
