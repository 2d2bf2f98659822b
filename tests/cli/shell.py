"""A shell for tests: runs the command line inside this process, in a folder of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from treewright.cli.main import run

WEATHER = """\
outlook,temperature,humidity,wind,play
sunny,hot,high,weak,no
sunny,hot,high,strong,no
overcast,hot,high,weak,yes
rain,mild,high,weak,yes
rain,cool,normal,weak,yes
rain,cool,normal,strong,no
overcast,cool,normal,strong,yes
sunny,mild,high,weak,no
sunny,cool,normal,weak,yes
rain,mild,normal,weak,yes
sunny,mild,normal,strong,yes
overcast,mild,high,strong,yes
overcast,hot,normal,weak,yes
rain,mild,high,strong,no
"""
"""The 14 days of Quinlan's example."""

LINE = "x,y\n" + "".join(f"{x},{1.5 * x}\n" for x in range(40))
"""A numeric target that depends on one attribute."""


@dataclass(frozen=True)
class Result:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, all of which must be JSON."""
        return json.loads(self.out)

    @property
    def error(self) -> str:
        """The one line of an error; nothing else may have been printed, least of all a traceback."""
        assert self.code != 0
        assert self.out == ""
        assert self.err.startswith("treewright: ")
        assert self.err.endswith("\n")
        assert self.err.count("\n") == 1, self.err
        return self.err.removeprefix("treewright: ").removesuffix("\n")


class Shell:
    """Runs commands in `folder`."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys

    def __call__(self, *arguments: str) -> Result:
        """Run `treewright` in this process."""
        self._capsys.readouterr()
        code = run(list(arguments))
        out, err = self._capsys.readouterr()
        return Result(code, out, err)

    def fine(self, *arguments: str) -> Result:
        """Run a command that must succeed."""
        result = self(*arguments)
        assert result.code == 0, result.err
        return result

    def write(self, name: str, content: str | bytes) -> str:
        """Write a file and return its name."""
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return name

    def read(self, name: str) -> str:
        """Return the text of a file."""
        return (self.folder / name).read_text(encoding="utf-8")

    def files(self) -> list[str]:
        """Return the names of all files, hidden ones too."""
        return sorted(os.listdir(self.folder))

    def model(self, *options: str, data: str = WEATHER, target: str = "play") -> str:
        """Train on some data and return the name of the model file."""
        self.write("training.csv", data)
        self.fine("train", "training.csv", "-t", target, "--folds", "0", "-o", "model.json", *options)
        return "model.json"


COMMAND = (sys.executable, "-c", "from treewright.cli.main import main; main()")
"""The entry point, for tests that need a process of its own."""


def in_process_of_its_own(
    folder: Path, *arguments: str, stdin: bytes = b"", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """Run the command in a new process and wait for it."""
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=folder,
        input=stdin,
        capture_output=True,
        env=os.environ | environment,
        check=False,
        timeout=60,
    )
