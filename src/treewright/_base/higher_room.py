"""Forms of a model that a higher room makes, found when they are asked for.

A tree can draw itself (`Tree.to_svg`), but the room of the models stands below the room of the drawings and must not
import it. So the package itself, which knows every room, says here once who makes the forms; a lower room asks by name.
"""

from __future__ import annotations

import importlib
from typing import Any

_makers: dict[str, str] = {}


def made_by(home: str, *names: str) -> None:
    """Say which module has the functions of these names."""
    _makers.update(dict.fromkeys(names, home))


def made(name: str, thing: Any, **options: Any) -> Any:
    """Let the function of that name make a form of a thing; its module is imported now.

    Examples
    --------
    >>> import treewright
    >>> made("to_dot", treewright.fit(treewright.sample("cal2"), treewright.ID3()))[:14]
    'digraph tree {'
    """
    return getattr(importlib.import_module(_makers[name]), name)(thing, **options)
