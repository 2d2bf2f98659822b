"""Bits in kernels, the same as in plain Python."""

from __future__ import annotations

import struct

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from treewright.arrays import Integer, Real
from treewright.intrinsics import bits_of, lowest_bit, number_of
from treewright.jit import kernel


@kernel
def _lowest_bit(word: np.uint64) -> np.uint64:
    return lowest_bit(word)


@kernel
def _there_and_back(number: float) -> tuple[Integer, Real]:
    bits = bits_of(number)
    return bits, number_of(bits)


@settings(deadline=None)
@given(word=st.integers(1, 2**64 - 1))
def test_the_lowest_bit_is_the_same_in_kernels(word: int) -> None:
    expected = f"{word:b}"[::-1].index("1")
    assert lowest_bit(np.uint64(word)) == expected
    assert _lowest_bit(np.uint64(word)) == expected


@settings(deadline=None)
@given(number=st.floats())
def test_the_bits_of_a_number_are_the_same_in_kernels(number: float) -> None:
    [expected] = struct.unpack("<q", struct.pack("<d", number))
    bits, back = _there_and_back(number)
    assert bits == bits_of(number) == expected
    assert struct.pack("<d", back) == struct.pack("<d", number_of(bits)) == struct.pack("<d", number)
