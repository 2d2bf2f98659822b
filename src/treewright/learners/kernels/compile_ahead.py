"""Compile the block kernels in a second process while the first compiles those of histogram growth.

Numba compiles one kernel at a time in a process, and a first tree needs some twenty seconds of compilation. The kernels
of the two stages have little in common. So a second process grows a tree of a few synthetic cases, with the same
columns and recipe; what it compiles is stored in the cache, where the first process finds it at the first subtree.
Where a second process cannot be started, or fails, the first one compiles everything.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba.core.config
import numpy as np
import numpy.typing as npt

from treewright.concurrency import processors
from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Kind, Schema, Task
from treewright.jit import cache_folder
from treewright.learners.recipe import Recipe, recipe_from_dict

SYNTHETIC_CASES = 64
"""Number of synthetic cases: any few do, since only the compilation matters."""

LAST = "last"
"""A line on the standard input of a background process: no request follows; it ends when it has done those before."""

LEAVE = "leave"
"""The same, and it no longer ends with that input."""

TIMEOUT = 120.0
"""Timeout of the second process in seconds."""

POLL_INTERVAL = 0.1
"""Seconds between two checks whether the growth is cancelled."""

_lock = threading.Lock()
_started: dict[str, CompileProcess | None] = {}


class Helpers:
    """Whether this process may start others; one that is in the background itself leaves the processors to others."""

    allowed = True


class BackgroundProcess:
    """A process that compiles what it reads, in a session of its own, and ends with its standard input.

    Parameters
    ----------
    process : Popen
        Its standard input is a pipe.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        atexit.register(self.end)

    @property
    def number(self) -> int:
        """The number by which the system knows it."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    @property
    def has_succeeded(self) -> bool:
        """Whether it has ended without an error."""
        return self._process.poll() == 0

    def send(self, text: str) -> None:
        """Send a line; a process that has ended ignores it."""
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.write(f"{text}\n".encode())
                self._process.stdin.flush()

    def answers(self) -> Iterator[str]:
        """Yield the lines that it prints, until it ends."""
        if self._process.stdout is not None:
            for line in self._process.stdout:
                yield line.decode().rstrip("\n")

    def leave(self) -> None:
        """Let it go on alone when this process ends."""
        self.send(LEAVE)
        self._close()
        self._process.returncode = 0  # no warning that it still runs: it is meant to
        atexit.unregister(self.end)

    def end(self) -> None:
        """End it, with all processes that it has started."""
        end_session(self._process)
        self._process.wait()
        self._close()
        atexit.unregister(self.end)

    def _close(self) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()


def end_session(process: subprocess.Popen[bytes]) -> None:
    """End a process and, where the system has sessions, all others of its session."""
    if process.poll() is None and hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):  # it may have no session of its own
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()


class CompileProcess:
    """A second process that compiles.

    Parameters
    ----------
    process : Popen
    mark : Path
        File created when it has ended: nothing more is compiled ahead for trees of this kind.
    """

    def __init__(self, process: subprocess.Popen[bytes], mark: Path) -> None:
        self._process, self._mark = process, mark
        self._has_ended = False
        atexit.register(self.stop)

    def wait(self, cancelled: npt.NDArray[np.bool_]) -> None:
        """Wait until it has ended, the growth is cancelled, or the timeout is over."""
        if self._has_ended:
            return
        for _ in range(int(TIMEOUT / POLL_INTERVAL)):
            if cancelled[0]:
                return
            try:
                self._process.wait(POLL_INTERVAL)
            except subprocess.TimeoutExpired:
                continue
            break
        self.stop()
        with suppress(OSError):  # without the file the next process compiles ahead again
            self._mark.touch()
        self._has_ended = True

    def stop(self) -> None:
        """Kill it if it still runs."""
        self._process.kill()
        self._process.wait()
        atexit.unregister(self.stop)


def compile_ahead(kind: str, dataset: Dataset, recipe: Recipe) -> CompileProcess | None:
    """Start a process that compiles the block kernels, unless they are compiled or it cannot be started.

    Parameters
    ----------
    kind : str
        Name of the combination of argument types, for each of which Numba compiles the kernels.
    dataset : Dataset
    recipe : Recipe
        Supported by the kernels.
    """
    folder = cache_folder()
    if folder is None or not (Helpers.allowed and can_compile_elsewhere()):
        return None
    mark = folder / f"subtrees-{kind}"
    with _lock:
        if kind not in _started:
            process = None if mark.exists() else _process(compile_request(dataset, recipe))
            _started[kind] = None if process is None else CompileProcess(process, mark)
        return _started[kind]


def can_compile_elsewhere() -> bool:
    """Return True if there are kernels to compile, a processor for a second process, and a program to start it."""
    return not numba.core.config.DISABLE_JIT and processors() >= 2 and _is_python(sys.executable)


def _is_python(executable: str | None) -> bool:
    """Return True if this is a Python interpreter, not an application that embeds one."""
    return executable is not None and Path(executable).name.lower().startswith("python")


def _process(plain: Mapping[str, Any]) -> subprocess.Popen[bytes] | None:
    """Start a silent process with this input; None where the system allows none."""
    process = started(__name__, subprocess.DEVNULL)
    if process is not None and process.stdin is not None:
        with suppress(BrokenPipeError), process.stdin as given:  # the process may have ended already
            given.write(json.dumps(plain).encode())
    return process


def started(module: str, output: int, *arguments: str, own_session: bool = False) -> subprocess.Popen[bytes] | None:
    """Start a process that runs a module of this package; None where the system allows none."""
    path = os.pathsep.join(folder for folder in sys.path if folder)
    try:
        return subprocess.Popen(  # noqa: S603  (nothing of a user's is in it)
            [sys.executable, "-P", "-m", module, *arguments],
            env=os.environ | {"PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.DEVNULL,
            start_new_session=own_session,  # Ctrl-C at the terminal is for the process that started it
            creationflags=getattr(subprocess, "BELOW_NORMAL_PRIORITY_CLASS", 0) if own_session else 0,
        )
    except OSError:
        return None


def compile_request(dataset: Dataset, recipe: Recipe) -> dict[str, Any]:
    """Return the request to the second process as plain data: kinds of columns, without cells or names."""
    schema = dataset.schema
    columns = [*schema.attributes, schema.target_column]
    return {
        "recipe": recipe.to_dict(),
        "kinds": [str(column.kind) for column in columns],
        "values": [len(column.values) for column in columns],
        "missing": dataset.has_missing,
    }


def synthetic_cases(plain: Mapping[str, Any], rows: int = SYNTHETIC_CASES) -> Dataset:
    """Return synthetic cases with these columns."""
    columns = tuple(
        Column(str(at), Kind(kind), tuple(map(str, range(values))))
        for at, (kind, values) in enumerate(zip(plain["kinds"], plain["values"], strict=True))
    )
    schema = Schema(columns, target=columns[-1].name)
    rng = np.random.default_rng(0)
    cells: list[npt.NDArray[Any]] = []
    for column in schema.attributes:
        if column.is_numeric:
            cells.append(rng.normal(size=rows))
        else:
            cells.append(rng.integers(0, len(column.values), rows).astype(np.int32))
        if plain["missing"]:
            cells[-1][0] = np.nan if column.is_numeric else -1
    target: npt.NDArray[Any] = np.arange(rows, dtype=np.int32) % max(1, len(schema.classes))
    if schema.task is Task.REGRESSION:
        target = rng.normal(size=rows)
    weights = rng.random(rows) + 0.5 if plain.get("weights") else None
    return Dataset(schema, tuple(cells), rows, target, weights)


def main() -> None:
    """Grow a tree for the request on standard input."""
    from treewright.learners.kernels.grower import CompiledGrower

    plain = json.load(sys.stdin)
    CompiledGrower(synthetic_cases(plain)).grow(recipe_from_dict(plain["recipe"]))


if __name__ == "__main__":
    main()
