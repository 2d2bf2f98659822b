"""Bit operations on 64-bit words and doubles, for kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic, overload


def lowest_bit(word: np.uint64) -> np.uint64:
    """Return the index of the lowest set bit, from 0; `word` is not zero.

    Examples
    --------
    >>> int(lowest_bit(np.uint64(40)))
    3
    """
    number = int(word)
    return np.uint64((number & -number).bit_length() - 1)


@intrinsic  # type: ignore[untyped-decorator]  # Numba has no types
def _trailing_zeros(typing: Any, word: Any) -> Any:
    """Generate the processor's own instruction."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], context.get_constant(types.boolean, 1))

    return types.uint64(types.uint64), generate


@overload(lowest_bit)  # type: ignore[untyped-decorator]  # Numba has no types
def _overload_lowest_bit(word: Any) -> Callable[..., Any]:
    def zeros(word: Any) -> Any:
        return _trailing_zeros(word)

    return zeros


def bits_of(number: float) -> np.int64:
    """Return the bits of a double as an integer.

    Examples
    --------
    >>> int(bits_of(1.0)) >> 52
    1023
    """
    bits: np.int64 = np.float64(number).view(np.int64)
    return bits


def number_of(bits: np.int64) -> np.float64:
    """Return the double with these bits.

    Examples
    --------
    >>> float(number_of(bits_of(-1.5)))
    -1.5
    """
    number: np.float64 = np.int64(bits).view(np.float64)
    return number


@intrinsic  # type: ignore[untyped-decorator]  # Numba has no types
def _cast_to_int64(typing: Any, number: Any) -> Any:
    """Generate a bit cast, which is no instruction at all."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], context.get_value_type(types.int64))

    return types.int64(types.float64), generate


@overload(bits_of)  # type: ignore[untyped-decorator]  # Numba has no types
def _overload_bits_of(number: Any) -> Callable[..., Any]:
    def bits(number: Any) -> Any:
        return _cast_to_int64(number)

    return bits


@intrinsic  # type: ignore[untyped-decorator]  # Numba has no types
def _cast_to_float64(typing: Any, bits: Any) -> Any:
    """Generate a bit cast, which is no instruction at all."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], context.get_value_type(types.float64))

    return types.float64(types.int64), generate


@overload(number_of)  # type: ignore[untyped-decorator]  # Numba has no types
def _overload_number_of(bits: Any) -> Callable[..., Any]:
    def number(bits: Any) -> Any:
        return _cast_to_float64(bits)

    return number
