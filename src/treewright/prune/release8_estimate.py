"""What C4.5 Release 8 expects of a node that is made a leaf, and when it prefers the simpler tree.

Vocabulary
----------
estimate
    Errors expected of a node: those its training cases make plus the extra errors of `extra_errors_single`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.grow.release8.arithmetic import single
from treewright.prune.extra_errors import extra_errors_single

PRUNING_SLACK = 0.1
"""A simpler tree is taken when it expects at most this many errors more."""


@dataclass(frozen=True, slots=True)
class Estimator:
    """Estimates errors at one confidence level."""

    confidence: float

    def as_leaf(self, weight: float, counts: npt.NDArray[np.number[Any]], outcome: int) -> tuple[float, int]:
        """Return the errors that a leaf with these cases expects, and its class.

        `outcome` is the class so far; ties keep it.

        Examples
        --------
        >>> Estimator(0.25).as_leaf(6.0, np.array([3.0, 3.0]), 1)[1]
        1
        """
        best = int(np.argmax(counts))
        if counts[best] > counts[outcome]:
            outcome = best
        errors = single(weight - float(counts[outcome]))
        return single(errors + extra_errors_single(weight, errors, self.confidence)), outcome
