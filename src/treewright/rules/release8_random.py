"""The random numbers of Release 8.

The original program uses the default additive generator of the C library and never seeds it, so its "random" search is
the same in every run: 31 numbers from a multiplicative congruential generator, then each number is the sum of those 3
and 31 positions back; the first 310 sums are discarded, and the lowest bit is dropped.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

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
    # The next three repeat the first three, so that both lags have something to look back at.
    recent = deque(state + state[:_SHORT_LAG], maxlen=_LENGTH)
    for place, number in enumerate(_sums(recent)):
        if place >= _THROWN_AWAY:
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
