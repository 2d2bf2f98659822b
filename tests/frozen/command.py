"""The command line inside this process, reached as ``python -m treewright`` reaches it."""

from __future__ import annotations

import contextlib
import io
import os
import runpy
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

SETTINGS = {"COLUMNS": "100", "LINES": "50", "NO_COLOR": "1", "TERM": "dumb"}
"""Of the terminal: help and tables are as wide as this, without colour."""

UNSET = ("TREEWRIGHT_LANG", "FORCE_COLOR", "PYTHONIOENCODING", "LANG", "LC_ALL")


@dataclass(frozen=True)
class Completed:
    """What a command printed."""

    code: int
    out: str
    err: str

    def __str__(self) -> str:
        """Return the text under which the hashes were recorded."""
        return f"Told(code={self.code!r}, out={self.out!r}, err={self.err!r})"


def run(*arguments: str) -> Completed:
    """Run one command in the current folder."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n") for _ in range(2))
    before, code = sys.argv, 0
    sys.argv = ["treewright", *arguments]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            runpy.run_module("treewright", run_name="__main__")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    finally:
        sys.argv = before
    return Completed(code, _text(out), _text(err))


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    raw = stream.buffer
    assert isinstance(raw, io.BytesIO)
    return raw.getvalue().decode("utf-8")


@contextlib.contextmanager
def fixed_environment(folder: Path, unset: Sequence[str] = UNSET) -> Iterator[None]:
    """Work in a folder, with a terminal of fixed width and no language set."""
    before = dict(os.environ)
    os.environ.update(SETTINGS)
    for name in unset:
        os.environ.pop(name, None)
    try:
        with contextlib.chdir(folder):
            yield
    finally:
        os.environ.clear()
        os.environ.update(before)
