"""The former name of `treewright.learners.recipe`: every name still works, with a note."""

from __future__ import annotations

import warnings
from typing import Any

from treewright.learners import recipe


def __getattr__(name: str) -> Any:
    value = getattr(recipe, name)
    warnings.warn("treewright.grow.recipe is now treewright.learners.recipe", DeprecationWarning, stacklevel=2)
    return value
