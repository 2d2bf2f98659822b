"""How often a row is in the bag of a tree, from a hash of its key that every engine computes alike.

A bootstrap of n rows takes each of them about Poisson(1) times, and for a table outside memory it is that: every row
decides for itself, wherever it is and in whatever order rows come (Oza and Russell 2001).

The hash uses sums, products and remainders of numbers below 2^31 only, so that nothing overflows 64 signed bits and no
dialect of SQL rounds. It works modulo the prime 2^31 - 1: there ``x -> x^5`` is a permutation, because 5 does not
divide 2^31 - 2, and three rounds of adding and raising scatter neighbouring keys (as ciphers of this kind do; Albrecht
et al. 2016).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treewright.errors import DataError

PRIME = 2**31 - 1
OTHER_PRIME = 2**31 - 19

DIGITS = 7
"""Hexadecimal digits of a digest that make one residue."""

DRAWN_BELOW = (
    790015083,
    1580030167,
    1975037709,
    2106706890,
    2139624185,
    2146207644,
    2147304887,
    2147461637,
    2147481230,
    2147483407,
    2147483625,
    2147483645,
)
"""A hash below the first number is drawn no time, below the second once, and so on: the prime times Poisson(1)."""

ALL = -1
"""In place of the first number of a tree: every row is in its bag once."""

Longs = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Bags:
    """The bags of all trees of a forest.

    Parameters
    ----------
    key : str or None
        The column; None if every tree has all rows.
    numbers : tuple of (int, int)
        Two numbers below 2^31 for each tree.

    Examples
    --------
    >>> Bags.of_keys("id", [2**40 + 3, 5]).numbers
    ((515, 512), (5, 0))
    >>> Bags.of_keys(None, [7]).numbers
    ((-1, 0),)
    """

    key: str | None
    numbers: tuple[tuple[int, int], ...]

    @classmethod
    def of_keys(cls, key: str | None, tree_keys: Iterable[int]) -> Bags:
        """Return the bags of trees that have 64 random bits each."""
        if key is None:
            return cls(None, tuple((ALL, 0) for _ in tree_keys))
        return cls(key, tuple((one % PRIME, one // PRIME % PRIME) for one in tree_keys))

    def __len__(self) -> int:
        return len(self.numbers)

    def with_all(self, trees: Iterable[int]) -> Bags:
        """Return the bags with all rows in those of some trees."""
        chosen = set(trees)
        return Bags(self.key, tuple((ALL, 0) if tree in chosen else one for tree, one in enumerate(self.numbers)))


def residues_of_numbers(keys: npt.NDArray[np.integer]) -> tuple[Longs, Longs]:
    """Return the residues of whole numbers of 64 bits.

    Examples
    --------
    >>> [residues.tolist() for residues in residues_of_numbers(np.array([5, -1, 2**40]))]
    [[5, 2147483646, 512], [5, 2147483628, 9728]]
    """
    whole: Longs = keys.astype(np.int64)
    return whole % PRIME, whole % OTHER_PRIME


def residues_of_texts(keys: Iterable[str]) -> tuple[Longs, Longs]:
    """Return the residues of texts.

    Examples
    --------
    >>> [residues.tolist() for residues in residues_of_texts(["a", "ü"])]
    [[212432913, 101140300], [46799805, 172448407]]
    """
    digests = [hashlib.sha256(key.encode()).hexdigest() for key in keys]
    first = np.array([int(digest[:DIGITS], 16) for digest in digests], dtype=np.int64)
    second = np.array([int(digest[DIGITS : 2 * DIGITS], 16) for digest in digests], dtype=np.int64)
    return first, second


def times(residues: tuple[Longs, Longs], numbers: tuple[int, int]) -> Longs:
    """Return how often each row is in the bag of a tree.

    Examples
    --------
    >>> often = times(residues_of_numbers(np.arange(100_000)), (17, 4))
    >>> abs(often.mean() - 1) < 0.01, abs(often.var() - 1) < 0.02
    (np.True_, np.True_)
    """
    first, second = residues
    a, b = numbers
    if a == ALL:
        return np.ones(len(first), dtype=np.int64)
    x = _fifth_power((first + a) % PRIME)
    x = _fifth_power((x + second + b) % PRIME)
    x = _fifth_power((x + a) % PRIME)
    often: Longs = np.searchsorted(np.array(DRAWN_BELOW), x, side="right").astype(np.int64)
    return often


def _fifth_power(x: Longs) -> Longs:
    square = x * x % PRIME
    power: Longs = square * square % PRIME * x % PRIME
    return power


def require_unique(rows: int, known: int, different: int, key: str, source: str | None) -> None:
    """Raise if keys are missing or not unique."""
    if known < rows:
        raise DataError(
            f"{rows - known:,} of {rows:,} keys are missing: rows are drawn by their key", source=source, column=key
        )
    if different < rows:
        raise DataError(
            f"there are {rows:,} rows and only {different:,} different keys: rows of one key would be drawn together, "
            "and the trees would differ less than they should; name a column that is different in every row",
            source=source,
            column=key,
        )
