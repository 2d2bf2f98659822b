"""The former name of `treewright.learners.criteria`: every name still works, with a note."""

from __future__ import annotations

import warnings
from typing import Any

from treewright.learners import criteria


def __getattr__(name: str) -> Any:
    value = getattr(criteria, name)
    warnings.warn("treewright.grow.criteria is now treewright.learners.criteria", DeprecationWarning, stacklevel=2)
    return value
