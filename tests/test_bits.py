"""Bits in kernels, the same as in plain Python."""

from __future__ import annotations

import struct

from hypothesis import given, settings
from hypothesis import strategies as st

from treewright.arrays import Integer, Real
from treewright.intrinsics import bits_of, number_of
from treewright.jit import kernel


@kernel
def _there_and_back(number: float) -> tuple[Integer, Real]:
    bits = bits_of(number)
    return bits, number_of(bits)


@settings(deadline=None)
@given(number=st.floats())
def test_the_bits_of_a_number_are_the_same_in_kernels(number: float) -> None:
    [expected] = struct.unpack("<q", struct.pack("<d", number))
    bits, back = _there_and_back(number)
    assert bits == bits_of(number) == expected
    assert struct.pack("<d", back) == struct.pack("<d", number_of(bits)) == struct.pack("<d", number)
