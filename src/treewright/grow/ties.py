"""When two scores are equal, and which of them wins.

Scores that differ by less than a billionth of the better one tie; then the lower cut, the earlier value, the earlier
pair and the earlier column win. The greatest score is found first and then the first that ties with it, so the order of
looking does not matter.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

TIE = 1e-9
"""Relative difference below which two scores are equal."""


def first_of_ties(scores: npt.NDArray[np.float64]) -> int:
    """Return the first place whose score ties with the greatest.

    Examples
    --------
    >>> first_of_ties(np.array([0.1, 0.3, 0.3 + 1e-14, 0.2]))
    1
    """
    best = scores.max()
    return int(np.argmax(scores >= best - TIE * abs(best)))
