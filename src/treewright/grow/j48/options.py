"""The options of J48, Weka's C4.5."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treewright._base.errors import ParameterError


@dataclass(frozen=True)
class J48:
    """The options of J48.

    Parameters
    ----------
    min_objects : int, default 2
        Least weight of at least two branches of a split (``-M``).
    confidence : float, default 0.25
        Confidence level of the error estimates (``-C``); smaller values prune more, above 0.5 no errors are added.
    prune : bool, default True
        Prune by estimated errors (off: ``-U``).
    raising : bool, default True
        Let pruning replace a node by its largest branch, subtree raising (off: ``-S``).
    binary : bool, default False
        Split nominal attributes into one category against the rest (``-B``).
    mdl_correction : bool, default True
        Reduce the gain of numeric attributes by the cost of the number of cuts tried (off: ``-J``).
    collapse : bool, default True
        Collapse subtrees that do not reduce training errors (off: ``-O``).

    Examples
    --------
    >>> J48(min_objects=5).confidence
    0.25
    """

    min_objects: int = 2
    confidence: float = 0.25
    prune: bool = True
    raising: bool = True
    binary: bool = False
    mdl_correction: bool = True
    collapse: bool = True

    def __post_init__(self) -> None:
        least, confidence = self.min_objects, self.confidence
        if isinstance(least, bool) or not isinstance(least, (int, np.integer)) or least < 1:
            raise ParameterError(f"min_objects must be a whole number of at least 1, not {least!r}")
        if isinstance(confidence, bool) or not isinstance(confidence, (int, float)) or not 0 < confidence <= 1:
            raise ParameterError(f"confidence must be a number above 0 and at most 1, not {confidence!r}")
        for name in ("prune", "raising", "binary", "mdl_correction", "collapse"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise ParameterError(f"{name} must be True or False, not {getattr(self, name)!r}")
