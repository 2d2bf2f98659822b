"""The shell that every test of the command line gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.shell import WEATHER, Shell


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    """Return a shell in an empty folder that holds only weather.csv."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    opened = Shell(tmp_path, capsys)
    opened.write("weather.csv", WEATHER)
    return opened
