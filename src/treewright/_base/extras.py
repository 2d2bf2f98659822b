"""Optional packages: imported when first needed, with the exact install line when missing."""

from __future__ import annotations

import importlib
from types import ModuleType

from treewright._base.errors import MissingExtraError


def need(module: str, extra: str, purpose: str) -> ModuleType:
    """Import an optional module or say how to install it.

    Parameters
    ----------
    module : str
        Import name, such as ``"matplotlib.pyplot"``.
    extra : str
        The extra of this package that brings it.
    purpose : str
        What it is needed for, to finish the sentence "... is needed to ...".

    Examples
    --------
    >>> need("no_such_module", "plots", "draw a curve")
    Traceback (most recent call last):
        ...
    treewright._base.errors.MissingExtraError: no_such_module is needed to draw a curve: pip install "treewright[plots]"
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != module.split(".", maxsplit=1)[0]:
            raise
        package = module.split(".", maxsplit=1)[0]
        raise MissingExtraError(f'{package} is needed to {purpose}: pip install "treewright[{extra}]"') from error
