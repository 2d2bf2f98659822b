"""The middle between two numbers, where a cut belongs.

Vocabulary
----------
short
    Rounded to fifteen significant digits, so that the middle of two decimals reads like one: 1.74605, not
    1.7460499999999999.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

DIGITS = 15

_TENS = np.array([10.0**power for power in range(23)])
"""The powers of ten that are exact doubles."""

_HALVES = 2.0**27 + 1
"""Times this, a double falls into two halves whose products are exact."""


def midpoint(low: float, high: float) -> float:
    """Return the middle between two numbers, never the higher one itself: it must stay above the cut.

    Examples
    --------
    >>> midpoint(1.0, 2.0), midpoint(-5e-324, 0.0)
    (1.5, -5e-324)
    """
    middle = low / 2 + high / 2
    for candidate in (float(f"{middle:.{DIGITS}g}"), middle):
        if low <= candidate < high:
            return candidate
    return low


def midpoints(low: Floats, high: Floats) -> Floats:
    """Return the middles of many pairs of finite numbers, each as `midpoint` does.

    Examples
    --------
    >>> midpoints(np.array([1.0, 1.7460]), np.array([2.0, 1.7461])).tolist()
    [1.5, 1.74605]
    """
    middle = low / 2 + high / 2
    candidate = shortened(middle)
    middle = np.where((low <= middle) & (middle < high), middle, low)
    return np.where((low <= candidate) & (candidate < high), candidate, middle)


def shortened(numbers: Floats) -> Floats:
    """Return finite numbers rounded to fifteen digits, as their decimal notation would be.

    A number times a power of ten is a product and the exact rest of it; both decide how it is rounded to a whole number
    of fifteen digits. That one and the power are exact doubles, so their quotient is the nearest double to the decimal.
    Very large and very small numbers, whose power is not exact, go by way of their notation.

    Examples
    --------
    >>> shortened(np.array([1.7460499999999999, -0.1, 0.0, 1e300 / 3])).tolist()
    [1.74605, -0.1, 0.0, 3.33333333333333e+299]
    """
    short = numbers.copy()
    size = np.abs(numbers)
    near = (size >= 1e-7) & (size < 1e14)
    given = size[near]
    if len(given):
        power = DIGITS - 1 - np.floor(np.log10(given)).astype(np.int64)
        # The logarithm may be one off at a power of ten; the product is not.
        product = given * _TENS[power]
        power += (product < 10.0 ** (DIGITS - 1)).astype(np.int64) - (product >= 10.0**DIGITS)
        ten = _TENS[power]
        product, rest = _exact_product(given, ten)
        whole = np.floor(product)
        above = (product - whole - 0.5) + rest
        whole += (above > 0) | ((above == 0) & (whole % 2 == 1))
        short[near] = np.copysign(whole / ten, numbers[near])
    far = np.flatnonzero(~near)
    short[far] = [float(f"{number:.{DIGITS}g}") for number in numbers[far].tolist()]
    return short


def _exact_product(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Return the product of doubles and what rounding took off it (Dekker's way)."""
    product = one * other
    high_one, high_other = _upper_half(one), _upper_half(other)
    low_one, low_other = one - high_one, other - high_other
    rest = ((high_one * high_other - product) + high_one * low_other + low_one * high_other) + low_one * low_other
    return product, rest


def _upper_half(numbers: Floats) -> Floats:
    spread = numbers * _HALVES
    half: Floats = spread - (spread - numbers)
    return half
