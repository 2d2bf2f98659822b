"""Draw bootstrap samples by a kernel, without the interpreter lock: the numbers of `treewright.ensembles.bootstrap`."""

from __future__ import annotations

import numpy as np

from treewright.arrays import Integer, Sizes
from treewright.jit import no_alloc_kernel


@no_alloc_kernel
def count_sampled(key: np.uint64, n: np.uint64, size: Integer, times: Sizes) -> None:
    """Count how often each of n cases is in a sample of `size` cases with replacement.

    Parameters
    ----------
    key : uint64
        State of SplitMix64 before its first number.
    n : uint64
    size : int
    times : array, n
        Zeros; output: the number of copies of each case.
    """
    state = key
    # Invariant: `state` has made as many numbers as cases are counted in `times`.
    for _ in range(size):
        state += np.uint64(0x9E3779B97F4A7C15)
        number = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        times[(number ^ (number >> np.uint64(31))) % n] += 1
