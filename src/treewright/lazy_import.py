"""Lazy imports: optional dependencies, large packages, and the state of the kernels.

Optional dependencies are imported on first use; the error for a missing one contains the install command.

Garbage collection is paused during imports: scikit-learn and Numba create tens of thousands of objects at import time,
and none of them is garbage.

`loaded_kernels` says which kernels this process has loaded. The modules of kernels set its flags. A module that may use
a kernel reads them to estimate the loading time, without importing Numba.
"""

from __future__ import annotations

import gc
import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType

from treewright.errors import MissingExtraError


def import_extra(module: str, extra: str, purpose: str) -> ModuleType:
    """Import an optional module, or raise an error that says how to install it.

    Parameters
    ----------
    module : str
        Import name, such as ``"matplotlib.pyplot"``.
    extra : str
        The extra of this package that installs the module.
    purpose : str
        Completes the sentence "... is needed to ...".

    Examples
    --------
    >>> import_extra("no_such_module", "plots", "draw a curve")
    Traceback (most recent call last):
        ...
    treewright.errors.MissingExtraError: no_such_module is needed to draw a curve: pip install "treewright[plots]"
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != module.split(".", maxsplit=1)[0]:
            raise
        package = module.split(".", maxsplit=1)[0]
        raise MissingExtraError(f'{package} is needed to {purpose}: pip install "treewright[{extra}]"') from error


@contextmanager
def garbage_collection_paused() -> Iterator[None]:
    """Pause garbage collection while modules are imported; it took a fifth of the time to a first tree.

    Examples
    --------
    >>> with garbage_collection_paused():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@dataclass
class LoadedKernels:
    """The state of the kernels, known without loading one.

    Attributes
    ----------
    kept : bool
        Kernels are loaded, and their compiled code is kept on disk.
    routing : bool
        The kernels that send cases down trees are loaded.
    """

    kept: bool = False
    routing: bool = False


loaded_kernels = LoadedKernels()
"""The state of this process."""
