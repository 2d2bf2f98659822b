"""How kernels are compiled: one decorator, so that the flags stand in one place.

No `fastmath`: a kernel must add in the order that is written, or it decides otherwise than the interpreter. No
`parallel`: threads come from a pool over columns and subtrees, which compiles in a fraction of the time.

Compiled code is kept on disk: beside the package, or where that cannot be written in the user's cache folder, or where
neither can be written for the life of the process only. Numba looks only at the file of a kernel to see whether its
compiled form is still good, not at the kernels that it calls; so the folder is named after the text of all of them.
Whoever makes a new one, after an upgrade, removes those that nobody has used for weeks.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import numba.core.config

from treewright._base.version import __version__

Function = TypeVar("Function", bound=Callable[..., Any])

Array = Any
Number = Any
"""In kernels the types are those of the arguments: Numba finds them, and they are narrower than Python's."""

FLAGS = {"nogil": True, "boundscheck": False, "error_model": "numpy", "fastmath": False}

BORROWED = {"_nrt": False, "no_cfunc_wrapper": True}
"""For kernels that make no arrays: nothing is counted that is only borrowed, in half the time to compile and to run."""

UNUSED_DAYS = 28
"""A folder of compiled code that no process has begun to use for so long is removed."""

_FOLDER = re.compile(r"kernels-[0-9a-f]{16}")

_PACKAGE = Path(__file__).parents[2]

_SOURCES = (
    "counts/compiled/*.py",
    "grow/compiled/*.py",
    "prune/compiled/*.py",
    "grow/criteria.py",
    "grow/candidates.py",
    "prune/extra_errors.py",
    "model/tree.py",
    "model/split.py",
)
"""The files that kernels are made of, constants included."""


@cache
def fingerprint() -> str:
    """Return a short name for the text of all kernels."""
    text = hashlib.sha256(__version__.encode())
    for pattern in _SOURCES:
        for path in sorted(_PACKAGE.glob(pattern)):
            text.update(path.read_bytes())
    return text.hexdigest()[:16]


def _places() -> Iterator[Path]:
    """Yield the folders that compiled code may be kept in, the best first."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        yield Path(chosen)
        return
    yield Path(__file__).parent / "__pycache__"
    own = os.environ.get("LOCALAPPDATA") if sys.platform == "win32" else os.environ.get("XDG_CACHE_HOME")
    try:
        yield (Path(own) if own else Path.home() / ".cache") / "treewright"
    except RuntimeError:  # there is no home folder
        return


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


@cache
def cache_folder() -> Path | None:
    """Return the folder of compiled code, None if it cannot be kept."""
    for place in _places():
        folder = place / f"kernels-{fingerprint()}"
        is_new = not folder.exists()
        if _writable(folder):
            with suppress(OSError):  # it may be another user's
                os.utime(folder)
            if is_new:
                remove_unused(place)
            return folder
    return None


def remove_unused(place: Path) -> None:
    """Remove the folders of compiled code in a place that have not been used for `UNUSED_DAYS`, where that is allowed.

    A process that still runs with one of them has loaded its code, and makes the folder again when it compiles more.
    """
    oldest = time.time() - UNUSED_DAYS * 24 * 3600
    with suppress(OSError):
        for folder in place.iterdir():
            ours = _FOLDER.fullmatch(folder.name) and folder.is_dir() and not folder.is_symlink()
            if ours and folder.stat().st_mtime < oldest:
                shutil.rmtree(folder, ignore_errors=True)


def kernel(function: Function) -> Function:
    """Compile a function when it is first called."""
    return _kept(function, {})


def inlined_kernel(function: Function) -> Function:
    """Compile a function into those that call it: for a few lines in the innermost loop that are given many arrays."""
    return _kept(function, {"forceinline": True})


def borrowing(function: Function) -> Function:
    """Compile a function that makes no arrays when it is first called."""
    return _kept(function, BORROWED)


def part(function: Function) -> Function:
    """Compile a function that makes no arrays and that only kernels call; it is kept with them."""
    compiled: Function = numba.njit(no_cpython_wrapper=True, **BORROWED, **FLAGS)(function)
    return compiled


def inlined_part(function: Function) -> Function:
    """Compile a part into the kernels that call it: for one that is given many arrays and is called very often."""
    compiled: Function = numba.njit(no_cpython_wrapper=True, forceinline=True, **BORROWED, **FLAGS)(function)
    return compiled


def _kept(function: Function, flags: dict[str, bool]) -> Function:
    folder = cache_folder()
    before = numba.core.config.CACHE_DIR
    if folder is not None:
        numba.core.config.CACHE_DIR = str(folder)  # read while the function is decorated, and nobody else's business
    try:
        compiled: Function = numba.njit(cache=folder is not None, **flags, **FLAGS)(function)
    finally:
        numba.core.config.CACHE_DIR = before
    return compiled


def is_compiled() -> bool:
    """Say whether kernels of this version were compiled before, so that loading them is quick."""
    folder = cache_folder()
    return folder is not None and any(folder.rglob("*.nbi"))
