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
import subprocess
import sys
import threading
from collections.abc import Mapping
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

TIMEOUT = 120.0
"""Timeout of the second process in seconds."""

POLL_INTERVAL = 0.1
"""Seconds between two checks whether the growth is cancelled."""

_lock = threading.Lock()
_started: dict[str, CompileProcess | None] = {}


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
    if folder is None or numba.core.config.DISABLE_JIT or processors() < 2 or not _is_python(sys.executable):
        return None
    mark = folder / f"subtrees-{kind}"
    with _lock:
        if kind not in _started:
            process = None if mark.exists() else _process(compile_request(dataset, recipe))
            _started[kind] = None if process is None else CompileProcess(process, mark)
        return _started[kind]


def _is_python(executable: str | None) -> bool:
    """Return True if this is a Python interpreter, not an application that embeds one."""
    return executable is not None and Path(executable).name.lower().startswith("python")


def _process(plain: Mapping[str, Any]) -> subprocess.Popen[bytes] | None:
    """Start a silent process with this input; None where the system allows none."""
    path = os.pathsep.join(folder for folder in sys.path if folder)
    try:
        process = subprocess.Popen(  # noqa: S603  (nothing of a user's is in it)
            [sys.executable, "-P", "-m", __name__],
            env=os.environ | {"PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return None
    if process.stdin is not None:
        with suppress(BrokenPipeError), process.stdin as given:  # the process may have ended already
            given.write(json.dumps(plain).encode())
    return process


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


def synthetic_cases(plain: Mapping[str, Any]) -> Dataset:
    """Return a few synthetic cases with these columns."""
    columns = tuple(
        Column(str(at), Kind(kind), tuple(map(str, range(values))))
        for at, (kind, values) in enumerate(zip(plain["kinds"], plain["values"], strict=True))
    )
    schema = Schema(columns, target=columns[-1].name)
    rng = np.random.default_rng(0)
    cells: list[npt.NDArray[Any]] = []
    for column in schema.attributes:
        if column.is_numeric:
            cells.append(rng.normal(size=SYNTHETIC_CASES))
        else:
            cells.append(rng.integers(0, len(column.values), SYNTHETIC_CASES).astype(np.int32))
        if plain["missing"]:
            cells[-1][0] = np.nan if column.is_numeric else -1
    target: npt.NDArray[Any] = np.arange(SYNTHETIC_CASES, dtype=np.int32) % max(1, len(schema.classes))
    if schema.task is Task.REGRESSION:
        target = rng.normal(size=SYNTHETIC_CASES)
    return Dataset(schema, tuple(cells), SYNTHETIC_CASES, target)


def main() -> None:
    """Grow a tree for the request on standard input."""
    from treewright.learners.kernels.grower import CompiledGrower

    plain = json.load(sys.stdin)
    CompiledGrower(synthetic_cases(plain)).grow(recipe_from_dict(plain["recipe"]))


if __name__ == "__main__":
    main()
