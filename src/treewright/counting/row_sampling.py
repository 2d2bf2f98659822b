"""Bootstrap samples by a hash of the row id, which every engine computes alike.

A bootstrap sample of n rows contains each row about Poisson(1) times. Out of core that is the definition: the number
of times depends on the row id alone, not on the location or the order of the rows (Oza and Russell 2001).

The hash consists of sums, products and remainders of integers below 2^31, so nothing overflows 64 signed bits and no
dialect of SQL rounds. It is computed modulo the prime 2^31 - 1: there ``x -> x^5`` is a permutation, because 5 does not
divide 2^31 - 2. Three rounds of addition and exponentiation scatter neighbouring row ids (as in ciphers of this kind;
Albrecht et al. 2016).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treewright.errors import DataError

PRIME = 2**31 - 1
SECOND_PRIME = 2**31 - 19

HASH_DIGITS = 7
"""Hexadecimal digits of a digest in one hash."""

POISSON_THRESHOLDS = (
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
"""A row is sampled 0 times if its hash is below the first number, once if below the second, and so on: the prime times
the cumulative distribution of Poisson(1)."""

ALL_ROWS = -1
"""As the first seed of a tree: its sample contains every row once."""

Longs = npt.NDArray[np.int64]


@dataclass(frozen=True)
class BootstrapSamples:
    """The bootstrap samples of all trees of a forest.

    Parameters
    ----------
    row_id : str or None
        The column of row ids; None if every tree has all rows.
    seeds : tuple of (int, int)
        Two seeds below 2^31 for each tree.

    Examples
    --------
    >>> BootstrapSamples.from_tree_keys("id", [2**40 + 3, 5]).seeds
    ((515, 512), (5, 0))
    >>> BootstrapSamples.from_tree_keys(None, [7]).seeds
    ((-1, 0),)
    """

    row_id: str | None
    seeds: tuple[tuple[int, int], ...]

    @classmethod
    def from_tree_keys(cls, row_id: str | None, tree_keys: Iterable[int]) -> BootstrapSamples:
        """Return the samples of trees that have 64 random bits each."""
        if row_id is None:
            return cls(None, tuple((ALL_ROWS, 0) for _ in tree_keys))
        return cls(row_id, tuple((one % PRIME, one // PRIME % PRIME) for one in tree_keys))

    def __len__(self) -> int:
        return len(self.seeds)

    def with_all(self, trees: Iterable[int]) -> BootstrapSamples:
        """Return the samples, with all rows in those of the given trees."""
        chosen = set(trees)
        return BootstrapSamples(
            self.row_id, tuple((ALL_ROWS, 0) if tree in chosen else one for tree, one in enumerate(self.seeds))
        )


def hashes_of_integers(row_ids: npt.NDArray[np.integer]) -> tuple[Longs, Longs]:
    """Return the two hashes of each 64-bit integer.

    Examples
    --------
    >>> [hashes.tolist() for hashes in hashes_of_integers(np.array([5, -1, 2**40]))]
    [[5, 2147483646, 512], [5, 2147483628, 9728]]
    """
    whole: Longs = row_ids.astype(np.int64)
    return whole % PRIME, whole % SECOND_PRIME


def hashes_of_texts(row_ids: Iterable[str]) -> tuple[Longs, Longs]:
    """Return the two hashes of each text.

    Examples
    --------
    >>> [hashes.tolist() for hashes in hashes_of_texts(["a", "ü"])]
    [[212432913, 101140300], [46799805, 172448407]]
    """
    digests = [hashlib.sha256(row_id.encode()).hexdigest() for row_id in row_ids]
    first = np.array([int(digest[:HASH_DIGITS], 16) for digest in digests], dtype=np.int64)
    second = np.array([int(digest[HASH_DIGITS : 2 * HASH_DIGITS], 16) for digest in digests], dtype=np.int64)
    return first, second


def sample_counts(hashes: tuple[Longs, Longs], seeds: tuple[int, int]) -> Longs:
    """Return how often each row is in the sample of a tree.

    Examples
    --------
    >>> counts = sample_counts(hashes_of_integers(np.arange(100_000)), (17, 4))
    >>> abs(counts.mean() - 1) < 0.01, abs(counts.var() - 1) < 0.02
    (np.True_, np.True_)
    """
    first, second = hashes
    a, b = seeds
    if a == ALL_ROWS:
        return np.ones(len(first), dtype=np.int64)
    x = _fifth_power((first + a) % PRIME)
    x = _fifth_power((x + second + b) % PRIME)
    x = _fifth_power((x + a) % PRIME)
    counts: Longs = np.searchsorted(np.array(POISSON_THRESHOLDS), x, side="right").astype(np.int64)
    return counts


def _fifth_power(x: Longs) -> Longs:
    square = x * x % PRIME
    power: Longs = square * square % PRIME * x % PRIME
    return power


def require_unique(rows: int, known: int, different: int, row_id: str, source: str | None) -> None:
    """Raise if row ids are missing or not unique."""
    if known < rows:
        raise DataError(
            f"{rows - known:,} of {rows:,} keys are missing, but the bootstrap samples rows by their key",
            source=source,
            column=row_id,
        )
    if different < rows:
        raise DataError(
            f"{rows:,} rows have only {different:,} distinct keys: rows with the same key would be sampled together, "
            "and the trees would be too similar; name a column with a distinct value in every row",
            source=source,
            column=row_id,
        )
