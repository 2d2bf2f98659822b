"""Random numbers that depend only on a seed and the number of a tree.

Neither the order in which trees are grown, nor the number of threads or machines, nor an interruption changes a forest.
A bootstrap sample is the number of times that each case was sampled; cases are never copied.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from treewright.lazy_import import loaded_kernels
from treewright.learners.sampling import child_key, root_key

Longs = npt.NDArray[np.int64]

_STEP = 0x9E3779B97F4A7C15

COMPILED_SAMPLE = 5_000
"""Samples of at least this many cases are drawn by a kernel where kernels are loaded: in a fifth of the time."""

SAMPLE, ATTRIBUTES, PERMUTATION, CASES = range(4)
"""Purposes of the random numbers of a tree."""


def tree_key(seed: int, tree: int, purpose: int = SAMPLE) -> int:
    """Return the key of a tree for a purpose.

    Examples
    --------
    >>> tree_key(1, 2) == tree_key(1, 2), tree_key(1, 2) == tree_key(1, 3), tree_key(1, 2, 0) == tree_key(1, 2, 1)
    (True, False, False)
    """
    # The seed is mixed twice: mixed once, tree 3 of seed 8 would be tree 7 of seed 4.
    return child_key(child_key(root_key(root_key(seed)), tree), purpose)


def stream(key: int, n: int) -> npt.NDArray[np.uint64]:
    """Return n random 64-bit numbers: SplitMix64 from this state (`learners.sampling.mixed`, all at once)."""
    with np.errstate(over="ignore"):
        number = np.uint64(key) + np.arange(1, n + 1, dtype=np.uint64) * np.uint64(_STEP)
        number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))


def sampled_rows(key: int, n: int, size: int) -> Longs:
    """Return `size` numbers from 0 to n - 1, sampled with replacement (the bias of the remainder is below n / 2^64)."""
    return (stream(key, size) % np.uint64(n)).astype(np.int64)


def shares(key: int, n: int) -> npt.NDArray[np.float64]:
    """Return n numbers from 0 to below 1."""
    return (stream(key, n) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def permutation(key: int, n: int) -> Longs:
    """Return 0 to n - 1 in random order."""
    return np.argsort(stream(key, n), kind="stable").astype(np.int64)


def bootstrap(key: int, n: int, size: int | None = None) -> Longs:
    """Return how often each of n cases is in a sample of `size` (by default n) cases with replacement.

    Examples
    --------
    >>> times = bootstrap(tree_key(0, 0), 1000)
    >>> int(times.sum()), bool(0.3 < (times == 0).mean() < 0.45)
    (1000, True)
    """
    size = n if size is None else size
    if not loaded_kernels.kept or size < COMPILED_SAMPLE:
        return np.bincount(sampled_rows(key, n, size), minlength=n)
    from treewright.ensembles.bootstrap_kernels import count_sampled

    times = np.zeros(n, dtype=np.int64)
    count_sampled(np.uint64(key), np.uint64(n), size, times)
    return times


def balanced_bootstrap(key: int, target: npt.NDArray[np.integer], size: int | None = None) -> Longs:
    """Return how often each case is in a sample with the same number of cases of every class.

    The number is that of the rarest class (Chen, Liaw and Breiman 2004), or `size` divided by the number of classes.
    """
    present, counts = np.unique(target, return_counts=True)
    times = np.zeros(len(target), dtype=np.int64)
    for index, code in enumerate(present.tolist()):
        rows = np.flatnonzero(target == code)
        n_sampled = int(counts.min()) if size is None else max(1, size // len(present))
        times[rows] = bootstrap(child_key(key, index), len(rows), n_sampled)
    return times
