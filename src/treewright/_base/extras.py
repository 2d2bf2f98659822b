"""Optional dependencies: imported on first use; the error for a missing one contains the install command."""

from __future__ import annotations

import importlib
from types import ModuleType

from treewright._base.errors import MissingExtraError


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
    treewright._base.errors.MissingExtraError: no_such_module is needed to draw a curve: pip install "treewright[plots]"
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != module.split(".", maxsplit=1)[0]:
            raise
        package = module.split(".", maxsplit=1)[0]
        raise MissingExtraError(f'{package} is needed to {purpose}: pip install "treewright[{extra}]"') from error
