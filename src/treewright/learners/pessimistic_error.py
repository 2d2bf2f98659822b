"""The extra errors that C4.5 adds to the training errors of a leaf.

Two versions use the same table and the same formulas: `extra_errors` in double, and `extra_errors_single` in the 32-bit
arithmetic of Release 8, which rounds wherever the original does.
"""

from __future__ import annotations

import math
from functools import lru_cache

from treewright.errors import ParameterError
from treewright.learners.c45r8.arithmetic import single

DEVIATES = (
    (0.0, 4.0),
    (0.001, 3.09),
    (0.005, 2.58),
    (0.01, 2.33),
    (0.05, 1.65),
    (0.10, 1.28),
    (0.20, 0.84),
    (0.40, 0.25),
    (1.00, 0.00),
)
"""Confidence levels and normal deviates."""

NO_ERROR = 1e-6
"""Fewer errors than this count as none."""

ONE_ERROR = 0.9999
"""Below this, the extra errors are interpolated between those of no error and of one."""

NEARLY_ALL = 0.67
"""Share of the correct cases that is added if nearly all cases are errors."""


def extra_errors(n: float, errors: float, confidence: float = 0.25) -> float:
    """Return the extra errors of a leaf in double precision.

    Parameters
    ----------
    n : float
        Weight of the cases of the leaf; 0 gives 0.
    errors : float
        Weight of the misclassified ones.
    confidence : float
        CF, above 0 and up to 1; smaller prunes more.

    Examples
    --------
    >>> round(extra_errors(6, 0), 4), round(extra_errors(16, 1), 4), round(extra_errors(4, 3.6), 3)
    (1.2378, 1.5069, 0.268)
    """
    q = squared_deviate(confidence)  # whatever the leaf, a confidence out of range is refused
    if n <= 0:
        return 0.0
    if errors < NO_ERROR:
        return n * (1.0 - math.exp(math.log(confidence) / n))
    if errors < ONE_ERROR:
        none = extra_errors(n, 0.0, confidence)
        return none + errors * (extra_errors(n, 1.0, confidence) - none)
    half_more = errors + 0.5
    if half_more >= n:
        return NEARLY_ALL * (n - errors)
    root = math.sqrt(q * (half_more * (1.0 - half_more / n) + q / 4.0))
    return n * (half_more + q / 2.0 + root) / (n + q) - errors


def extra_errors_single(n: float, errors: float, confidence: float = 0.25) -> float:
    """Return the extra errors as C4.5 Release 8 computes them, as a 32-bit float.

    Parameters are those of `extra_errors`; `n` and `errors` must be 32-bit floats, and the confidence is rounded as a
    percentage is when it is read.

    Examples
    --------
    >>> extra_errors_single(6.0, 0.0)
    1.2377...
    """
    _check(confidence)
    return _extra(n, errors, single_confidence(confidence))


@lru_cache(maxsize=65_536)
def _extra(n: float, errors: float, confidence: float) -> float:
    if n <= 0:
        return 0.0
    if errors < NO_ERROR:
        return single(n * (1.0 - math.exp(math.log(confidence) / n)))
    if errors < ONE_ERROR:
        none = _extra(n, 0.0, confidence)
        return single(none + single(errors * single(_extra(n, 1.0, confidence) - none)))
    half_more = errors + 0.5
    if half_more >= n:
        return single(NEARLY_ALL * single(n - errors))
    q = _squared_deviate_single(confidence)
    root = math.sqrt(q * (half_more * (1.0 - half_more / n) + q / 4.0))
    limit = single((half_more + q / 2.0 + root) / single(n + q))
    return single(single(n * limit) - errors)


def single_confidence(confidence: float) -> float:
    """Return the confidence level as Release 8 stores it: a percentage as a 32-bit float, divided by 100."""
    return single(single(confidence * 100.0) / 100.0)


@lru_cache(maxsize=64)
def squared_deviate(confidence: float) -> float:
    """Return the square of the normal deviate of the table, in double.

    Examples
    --------
    >>> round(math.sqrt(squared_deviate(0.25)), 4)
    0.6925
    """
    _check(confidence)
    row = next(i for i, (level, _) in enumerate(DEVIATES) if level >= confidence)
    (low, z_low), (high, z_high) = DEVIATES[row - 1], DEVIATES[row]
    z = z_low + (z_high - z_low) * (confidence - low) / (high - low)
    return z * z


def squared_deviate_single(confidence: float) -> float:
    """Return the square of the normal deviate of the table, in 32-bit arithmetic.

    Examples
    --------
    >>> round(squared_deviate_single(0.25), 9), round(squared_deviate_single(0.05), 8)
    (0.479556233, 2.72249985)
    """
    _check(confidence)
    return _squared_deviate_single(single_confidence(confidence))


@lru_cache(maxsize=64)
def _squared_deviate_single(confidence: float) -> float:
    table = [(single(level), single(z)) for level, z in DEVIATES]
    row = next(i for i, (level, _) in enumerate(table) if level >= confidence)
    (low, z_low), (high, z_high) = table[row - 1], table[row]
    rise = single(single(z_high - z_low) * single(confidence - low))
    z = single(z_low + single(rise / single(high - low)))
    return single(z * z)


def _check(confidence: float) -> None:
    if not 0 < confidence <= 1:
        raise ParameterError(f"confidence must be above 0 and at most 1, not {confidence!r}")
