"""Compilation of kernels: the decorators with Numba's flags, and the cache of compiled code.

Invariants of the flags. No `fastmath`: a kernel adds in the written order; in another one it decides differently from
the interpreter. No `parallel`: threads come from a pool over columns and subtrees, which compiles in a fraction of the
time.

Invariants of the cache. Compiled code is stored beside the package; if that folder is read-only, in the user's cache
folder; if neither is writable, only in memory. Numba checks only the file of a kernel to see whether its compiled code
is still valid, not the kernels that it calls, so the folder is named after a fingerprint of the source of all kernels.
A kernel is looked up by its name and the syntax of the source, not by its line or the bytes of its file: editing a
comment or a docstring recompiles nothing. A process that creates a new folder, after an upgrade, removes folders that
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
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator

from treewright.lazy_import import loaded_kernels
from treewright.version import __version__

Function = TypeVar("Function", bound=Callable[..., Any])

FLAGS = {"nogil": True, "boundscheck": False, "error_model": "numpy", "fastmath": False}

NO_REFCOUNT = {"_nrt": False, "no_cfunc_wrapper": True}
"""For functions that allocate no arrays: without reference counting they compile and run in half the time."""

UNUSED_DAYS = 28
"""A folder of compiled code that no process has opened for this long is removed."""

_FOLDER = re.compile(r"kernels-[0-9a-f]{16}")

_INDEX_ENTRY = re.compile(r"fingerprint-[0-9a-f]{16}")

_FINGERPRINT = re.compile(r"[0-9a-f]{16}")

_PACKAGE = Path(__file__).parent

_SOURCES = (
    "learners/kernels/*.py",
    "counting/numba.py",
    "ensembles/bootstrap_kernels.py",
    "intrinsics.py",
    "jit.py",
    "learners/candidates.py",
    "learners/criteria.py",
    "learners/pessimistic_error.py",
    "pruning/error_based_fractional_kernels.py",
    "pruning/error_based_kernels.py",
    "tree/pack_kernels.py",
    "tree/route_kernels.py",
    "tree/split.py",
    "tree/tree.py",
)
"""The files that hold kernels or constants that kernels use."""


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
            node.body = [statement for statement in body if not _is_docstring(statement)]  # type: ignore[attr-defined]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


def _is_docstring(statement: ast.stmt) -> bool:
    """Return True if a statement is a string literal and nothing else, as a docstring is."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Constant):
        return False
    return isinstance(statement.value.value, str)


@cache
def fingerprint() -> str:
    """Return a short hash of the syntax of all kernels.

    Parsing takes some 200 ms and reading 1 ms, so the result for these bytes is stored beside the compiled code. The
    version of Python is part of both hashes, as the syntax tree differs between versions.
    """
    sources = [path.read_bytes() for pattern in _SOURCES for path in sorted(_PACKAGE.glob(pattern))]
    version = f"{__version__} {sys.version_info[0]}.{sys.version_info[1]}"
    entry = f"fingerprint-{_short_hash(version, (hashlib.sha256(source).hexdigest() for source in sources))}"
    for root in cache_roots():
        with suppress(OSError, UnicodeDecodeError):
            stored = (root / entry).read_text(encoding="ascii")
            if _FINGERPRINT.fullmatch(stored):
                return stored
    computed = _short_hash(version, map(syntax_hash, sources))
    for root in cache_roots():
        if _store(root / entry, computed):
            break
    return computed


def _short_hash(version: str, hashes: Iterable[str]) -> str:
    return hashlib.sha256(" ".join((version, *hashes)).encode()).hexdigest()[:16]


def _store(path: Path, text: str) -> bool:
    """Write a small file atomically, as other processes may read it; return True if that was possible."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", encoding="ascii", dir=path.parent, delete=False) as file:
            file.write(text)
        os.replace(file.name, path)
    except OSError:
        return False
    return True


def cache_roots() -> Iterator[Path]:
    """Yield the folders that may hold the cache, the preferred one first."""
    configured = os.environ.get("NUMBA_CACHE_DIR")
    if configured:
        yield Path(configured)
        return
    yield Path(__file__).parent / "__pycache__"
    user_cache = os.environ.get("LOCALAPPDATA") if sys.platform == "win32" else os.environ.get("XDG_CACHE_HOME")
    try:
        yield (Path(user_cache) if user_cache else Path.home() / ".cache") / "treewright"
    except RuntimeError:  # the user has no home folder
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
    """Return the folder of compiled code, None if no folder is writable."""
    for root in cache_roots():
        folder = root / f"kernels-{fingerprint()}"
        is_new = not folder.exists()
        if _writable(folder):
            with suppress(OSError):  # it may belong to another user
                os.utime(folder)
            if is_new:
                remove_unused(root)
            return folder
    return None


def remove_unused(root: Path) -> None:
    """Remove compiled code and stored fingerprints unused for `UNUSED_DAYS`, where permissions allow it.

    A process that still runs with one of them has loaded its code, and creates the folder again when it compiles more.
    """
    oldest = time.time() - UNUSED_DAYS * 24 * 3600
    with suppress(OSError):
        for path in root.iterdir():
            if path.is_symlink() or path.stat().st_mtime >= oldest:
                continue
            if _FOLDER.fullmatch(path.name) and path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            elif _INDEX_ENTRY.fullmatch(path.name):
                path.unlink(missing_ok=True)


def kernel(function: Function) -> Function:
    """Compile a function that may allocate arrays, when it is first called."""
    return _cached(function, {})


def inlined_kernel(function: Function) -> Function:
    """Compile a function into its callers: for a few lines in an innermost loop that take many arrays."""
    return _cached(function, {"forceinline": True})


def no_alloc_kernel(function: Function) -> Function:
    """Compile a function that allocates no arrays, when it is first called."""
    return _cached(function, NO_REFCOUNT)


def internal(function: Function) -> Function:
    """Compile a function that allocates no arrays and that only kernels call; it is cached with them."""
    compiled: Function = numba.njit(no_cpython_wrapper=True, **NO_REFCOUNT, **FLAGS)(function)
    return compiled


def inlined_internal(function: Function) -> Function:
    """Compile an internal function into its callers: for one that takes many arrays and is called very often."""
    compiled: Function = numba.njit(no_cpython_wrapper=True, forceinline=True, **NO_REFCOUNT, **FLAGS)(function)
    return compiled


def part_of_kernel(function: Function) -> Function:
    """Compile an internal function as a part of its only caller; others are compiled once more with each caller."""
    compiled: Function = numba.njit(no_cpython_wrapper=True, inline="always", **NO_REFCOUNT, **FLAGS)(function)
    return compiled


class _KernelLocator(_CacheLocator):  # type: ignore[misc]
    """Locate the compiled code of a kernel by its module and name.

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


def _cached(function: Function, flags: dict[str, bool]) -> Function:
    compiled: Any = numba.njit(**flags, **FLAGS)(function)
    if cache_folder() is not None and not numba.core.config.DISABLE_JIT:
        compiled._cache = _KernelCache(function)  # as `enable_caching` does, with this module's locator
    cached: Function = compiled
    return cached


def is_compiled() -> bool:
    """Return True if kernels of this version are in the cache, so that loading them is quick."""
    folder = cache_folder()
    return folder is not None and any(folder.rglob("*.nbi"))


loaded_kernels.kept = cache_folder() is not None
