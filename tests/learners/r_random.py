"""R's random numbers, as far as ``set.seed`` and ``sample`` need them (R 3.6 and later, the defaults).

The generator is the Mersenne Twister, its state filled by a linear congruence; whole numbers are drawn by rejection
from random bits. The well-known first numbers after ``set.seed(1)`` and the recorded cross-validations are its test.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

WORDS = 624
"""Words of the Mersenne Twister's state."""


class RRandom:
    """The stream of uniform numbers after ``set.seed(seed)``."""

    def __init__(self, seed: int) -> None:
        word = seed & 0xFFFFFFFF
        for _ in range(50):
            word = (69069 * word + 1) & 0xFFFFFFFF
        words = []
        for _ in range(WORDS + 1):
            word = (69069 * word + 1) & 0xFFFFFFFF
            words.append(word)
        self._twister = np.random.MT19937()
        # The first word is the position, which seeding sets to the end: the state is renewed before the first number.
        self._twister.state = {
            "bit_generator": "MT19937",
            "state": {"key": np.array(words[1:], dtype=np.uint64), "pos": WORDS},
        }

    def uniform(self) -> float:
        """Return a number between 0 and 1, neither included."""
        number = int(self._twister.random_raw()) * 2.3283064365386963e-10
        return min(max(number, 0.5 * 2.328306437080797e-10), 1.0 - 0.5 * 2.328306437080797e-10)

    def below(self, limit: int) -> int:
        """Return a whole number from 0 to limit - 1."""
        bits = (limit - 1).bit_length()
        while True:
            value = 0
            for _ in range(0, bits + 1, 16):
                value = 65536 * value + int(self.uniform() * 65536)
            value &= (1 << bits) - 1
            if value < limit:
                return value

    def sample(self, values: list[int]) -> list[int]:
        """Return the values in random order."""
        rest, sampled = list(values), []
        while rest:
            index = self.below(len(rest))
            sampled.append(rest[index])
            rest[index] = rest[-1]
            rest.pop()
        return sampled


def cross_validation_groups(n_cases: int, folds: int = 10, seed: int = 1) -> npt.NDArray[np.int64]:
    """Return the groups that rpart draws first after seeding: 1 to `folds` over and over, in random order."""
    return np.array(RRandom(seed).sample([1 + index % folds for index in range(n_cases)]), dtype=np.int64)
