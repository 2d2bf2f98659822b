"""Random numbers in kernels (SplitMix64): the same as `treewright.learners.sampling`, in 64-bit arithmetic."""

from __future__ import annotations

import numpy as np

from treewright.arrays import Integer, Positions, Real
from treewright.jit import no_alloc_kernel

_GOLDEN_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


@no_alloc_kernel
def mixed(number: np.uint64) -> np.uint64:
    """Return the SplitMix64 hash of a 64-bit number."""
    number = number + _GOLDEN_GAMMA
    number = (number ^ (number >> np.uint64(30))) * _MIX_1
    number = (number ^ (number >> np.uint64(27))) * _MIX_2
    return number ^ (number >> np.uint64(31))


@no_alloc_kernel
def child_key(key: np.uint64, branch: Integer) -> np.uint64:
    """Return the random key of a child node."""
    return mixed(key ^ mixed(np.uint64(branch + 1)))


@no_alloc_kernel
def shuffle(key: np.uint64, order: Positions, n: Integer) -> None:
    """Write a random permutation of 0..n-1 (Fisher-Yates) that the key determines."""
    for index in range(n):
        order[index] = index
    state = key
    # Invariant: the entries after `last` are final.
    for last in range(n - 1, 0, -1):
        state = state + _GOLDEN_GAMMA
        chosen = np.int64(mixed(state) % np.uint64(last + 1))
        encoded = order[last]
        order[last] = order[chosen]
        order[chosen] = encoded


@no_alloc_kernel
def random_cut(key: np.uint64, attribute: Integer, low: Real, high: Real) -> Real:
    """Return a random threshold of an attribute in ``[low, high)``."""
    share = np.float64(mixed(key ^ mixed(np.uint64(attribute + 1))) >> np.uint64(11)) * 2.0**-53
    cut = low + share * (high - low)
    return cut if low <= cut < high else low
