"""treewright warm-up: seconds and folder, or a one-line error."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cli.shell import Shell
from treewright.fitting import warm_up


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Let nothing be compiled; return the folder in which code is stored."""
    code = tmp_path / "code"
    code.mkdir()
    (code / "kernel.nbc").write_bytes(bytes(3_000_000))
    monkeypatch.setattr(warm_up, "compile_all", lambda jobs, progress: code)
    return code


def test_it_prints_the_seconds_the_size_and_the_folder(shell: Shell, folder: Path) -> None:
    result = shell.fine("warm-up", "--jobs", "2")
    assert re.fullmatch(rf"Kernels compiled in \d+ s, 3 MB in {re.escape(str(folder))}\n", result.out)
    assert result.err == ""


def test_the_same_as_data(shell: Shell, folder: Path) -> None:
    found = shell.fine("warm-up", "--json").json
    assert (found["folder"], found["bytes"]) == (str(folder), 3_000_000)
    assert found["seconds"] >= 0


def test_where_no_folder_is_writable_it_fails_and_says_what_to_set(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warm_up, "cache_folder", lambda: None)
    result = shell("warm-up")
    assert result.code == 1
    assert "set NUMBA_CACHE_DIR to a folder that is" in result.error


def test_a_number_of_processes_is_checked(shell: Shell) -> None:
    assert shell("warm-up", "--jobs", "0").code == 2
