"""Random attributes and cuts of a node, from a hash of the seed and the path of the node.

Neither the order in which nodes are grown nor the number of threads changes the sample.
"""

from __future__ import annotations

_MASK = 2**64 - 1
_STEP = 0x9E3779B97F4A7C15


def mix_bits(number: int) -> int:
    """Mix the bits of a 64-bit number (the finaliser of SplitMix64, Steele et al. 2014)."""
    number = (number + _STEP) & _MASK
    number = ((number ^ (number >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    number = ((number ^ (number >> 27)) * 0x94D049BB133111EB) & _MASK
    return number ^ (number >> 31)


def root_key(seed: int) -> int:
    """Return the key of the root."""
    return mix_bits(seed & _MASK)


def child_key(key: int, branch: int) -> int:
    """Return the key of a child."""
    return mix_bits(key ^ mix_bits(branch + 1))


def shuffled(key: int, n: int) -> list[int]:
    """Return 0..n-1 in random order, seeded by the key.

    Examples
    --------
    >>> sorted(shuffled(root_key(7), 5)), shuffled(root_key(7), 5) == shuffled(root_key(7), 5)
    ([0, 1, 2, 3, 4], True)
    """
    order = list(range(n))
    state = key
    for last in range(n - 1, 0, -1):
        state = (state + _STEP) & _MASK
        # The bias of the remainder is below n / 2^64.
        chosen = mix_bits(state) % (last + 1)
        order[last], order[chosen] = order[chosen], order[last]
    return order


def random_cut(key: int, attribute: int, low: float, high: float) -> float:
    """Return a random cut of an attribute between two numbers of a node, excluding the higher one.

    The 53 high bits of a hash of key and attribute are a number u in [0, 1), and the cut is ``low + u * (high - low)``.
    If rounding or overflow moves it out of ``[low, high)``, it is `low`.

    Examples
    --------
    >>> 1.0 <= random_cut(root_key(3), 0, 1.0, 2.0) < 2.0, random_cut(7, 0, -1.5e308, 1.5e308)
    (True, -1.5e+308)
    """
    share = (mix_bits(key ^ mix_bits(attribute + 1)) >> 11) * 2.0**-53
    cut = low + share * (high - low)
    return cut if low <= cut < high else low
