"""The numbers of the original program: precision and random numbers.

Arithmetic of C4.5rules in single or double precision. Release 8 stores every quantity as a 32-bit float. Its rounding
decides between rules of nearly equal cost, so its rule lists can only be reproduced in that precision. Double precision
takes the same steps without intermediate rounding.

All values are held as doubles. One addition, subtraction, multiplication or division of two 32-bit numbers, computed in
double and rounded once, gives the same bits as the operation in 32 bits, so rounding after each step is sufficient.

The random numbers of Release 8. The original program uses the default additive generator of the C library and never
seeds it, so its "random" search is the same in every run: 31 numbers from a multiplicative congruential generator, then
each number is the sum of those 3 and 31 positions back; the first 310 sums are discarded, and the lowest bit is
dropped.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from enum import StrEnum

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class Precision(StrEnum):
    """What a stored number is rounded to."""

    SINGLE = "single"
    DOUBLE = "double"

    def number(self, value: float) -> float:
        """Round one number.

        Examples
        --------
        >>> Precision.SINGLE.number(0.1), Precision.DOUBLE.number(0.1)
        (0.10000000149011612, 0.1)
        """
        return float(np.float32(value)) if self is Precision.SINGLE else float(value)

    def array(self, values: npt.NDArray[np.generic] | Floats) -> Floats:
        """Round every number of an array."""
        doubles = values.astype(np.float64, copy=False)
        return doubles.astype(np.float32).astype(np.float64) if self is Precision.SINGLE else doubles

    def running_sum(self, values: Floats) -> float:
        """Return the sum from the first to the last value, rounded after each addition.

        Examples
        --------
        >>> Precision.SINGLE.running_sum(np.array([1.0, 2.0**-24, 2.0**-24]))
        1.0
        """
        if not len(values):
            return 0.0
        # Unlike numpy.sum, accumulate adds in order.
        return float(np.add.accumulate(values.astype(np.float32) if self is Precision.SINGLE else values)[-1])

    def log2(self, whole: int) -> float:
        """Round the binary logarithm of a whole number; 0 for 0 and 1."""
        return self.number(log2(whole)) if whole > 1 else 0.0


LN_2 = math.log(2.0)


def log2(value: float) -> float:
    """Return the binary logarithm by way of the natural one, as the original does."""
    return math.log(value) / LN_2


def log2s(values: Floats) -> Floats:
    """Return the binary logarithm of each number, 0 where it is not positive."""
    logarithms: Floats = np.log(np.where(values > 0, values, 1.0)) / LN_2
    return logarithms


_LENGTH, _SHORT_LAG = 31, 3
_THROWN_AWAY = 310


def release8_integers() -> Iterator[int]:
    """Yield the whole numbers, each below 2**31.

    Examples
    --------
    >>> from itertools import islice
    >>> list(islice(release8_integers(), 3))
    [1804289383, 846930886, 1681692777]
    """
    state = [1]
    for _ in range(_LENGTH - 1):
        state.append(16807 * state[-1] % (2**31 - 1))
    # The next three repeat the first three, so that both lags reach existing numbers.
    recent = deque(state + state[:_SHORT_LAG], maxlen=_LENGTH)
    for index, number in enumerate(_sums(recent)):
        if index >= _THROWN_AWAY:
            yield number >> 1


def _sums(recent: deque[int]) -> Iterator[int]:
    while True:
        recent.append((recent[-_SHORT_LAG] + recent[-_LENGTH]) % 2**32)
        yield recent[-1]


def release8_numbers() -> Iterator[float]:
    """Yield the numbers, from 0 to below 1.

    Examples
    --------
    >>> from itertools import islice
    >>> [round(number, 6) for number in islice(release8_numbers(), 2)]
    [0.840188, 0.394383]
    """
    return (number / 2**31 for number in release8_integers())
