"""How kernels are compiled: one decorator, so that the flags stand in one place.

No `fastmath`: a kernel must add in the order that is written, or it decides otherwise than the interpreter. No
`parallel`: threads come from a pool over columns and subtrees, which compiles in a fraction of the time.

Compiled code is kept on disk: beside the package, or where that cannot be written in the user's cache folder, or where
neither can be written for the life of the process only. Numba checks only the file of a kernel to see whether its
compiled code is still valid, not the kernels that it calls; so the folder is named after the source of all of them. A
kernel is looked up by its name and by the syntax of the source, not by its line or the bytes of its file: editing a
comment or a docstring compiles nothing again. A process that makes a new folder, after an upgrade, removes those that
have not been used for weeks.
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numba
import numba.core.config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator

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

_INDEX_ENTRY = re.compile(r"fingerprint-[0-9a-f]{16}")

_FINGERPRINT = re.compile(r"[0-9a-f]{16}")

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


def syntax_hash(source: bytes) -> str:
    """Return a hash of Python source that comments, docstrings, layout and line numbers do not change.

    Examples
    --------
    >>> syntax_hash(b"x = 1  # one") == syntax_hash(b"x  =  1")
    True
    """
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [statement for statement in body if not _is_text(statement)]  # type: ignore[attr-defined]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


def _is_text(statement: ast.stmt) -> bool:
    """Return True if a statement is a string literal and nothing else, as a docstring is."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Constant):
        return False
    return isinstance(statement.value.value, str)


@cache
def fingerprint() -> str:
    """Return a short name for the syntax of all kernels.

    Parsing takes some 200 ms and reading 1 ms, so the result for these bytes is stored beside the compiled code. The
    version of Python is part of both hashes, as the syntax tree differs between versions.
    """
    sources = [path.read_bytes() for pattern in _SOURCES for path in sorted(_PACKAGE.glob(pattern))]
    version = f"{__version__} {sys.version_info[0]}.{sys.version_info[1]}"
    entry = f"fingerprint-{_short_hash(version, (hashlib.sha256(source).hexdigest() for source in sources))}"
    for place in _places():
        with suppress(OSError, UnicodeDecodeError):
            stored = (place / entry).read_text(encoding="ascii")
            if _FINGERPRINT.fullmatch(stored):
                return stored
    computed = _short_hash(version, map(syntax_hash, sources))
    for place in _places():
        if _store(place / entry, computed):
            break
    return computed


def _short_hash(version: str, hashes: Iterable[str]) -> str:
    return hashlib.sha256(" ".join((version, *hashes)).encode()).hexdigest()[:16]


def _store(path: Path, text: str) -> bool:
    """Write a small file in one step, as other processes may read it; return True if that was possible."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", encoding="ascii", dir=path.parent, delete=False) as file:
            file.write(text)
        os.replace(file.name, path)
    except OSError:
        return False
    return True


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
    """Remove compiled code and stored fingerprints that have not been used for `UNUSED_DAYS`, where that is allowed.

    A process that still runs with one of them has loaded its code, and makes the folder again when it compiles more.
    """
    oldest = time.time() - UNUSED_DAYS * 24 * 3600
    with suppress(OSError):
        for path in place.iterdir():
            if path.is_symlink() or path.stat().st_mtime >= oldest:
                continue
            if _FOLDER.fullmatch(path.name) and path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            elif _INDEX_ENTRY.fullmatch(path.name):
                path.unlink(missing_ok=True)


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


class _KernelLocator(_CacheLocator):  # type: ignore[misc]
    """Finds the compiled code of a kernel by its module and name.

    Numba's own locators use the line of the function and the bytes of its file, which an edited comment changes.
    """

    def __init__(self, folder: Path, file: str) -> None:
        self._file = file
        self._folder = folder / self.get_suitable_cache_subpath(file)

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        path = Path(self._file)
        return fingerprint() if _PACKAGE in path.parents else syntax_hash(path.read_bytes())

    def get_disambiguator(self) -> str:
        return "kernel"

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> _KernelLocator | None:
        folder = cache_folder()
        return None if folder is None else cls(folder, file)


class _KernelCacheImpl(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes: ClassVar = [_KernelLocator]


class _KernelCache(FunctionCache):  # type: ignore[misc]
    _impl_class = _KernelCacheImpl


def _kept(function: Function, flags: dict[str, bool]) -> Function:
    compiled: Any = numba.njit(**flags, **FLAGS)(function)
    if cache_folder() is not None and not numba.core.config.DISABLE_JIT:
        compiled._cache = _KernelCache(function)  # what `enable_caching` does, with a locator of our own
    kept: Function = compiled
    return kept


def is_compiled() -> bool:
    """Say whether kernels of this version were compiled before, so that loading them is quick."""
    folder = cache_folder()
    return folder is not None and any(folder.rglob("*.nbi"))
