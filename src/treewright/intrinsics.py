"""Machine operations that Numba does not offer by itself, for kernels.

There are the bits of doubles, and SIMD operations on sixteen 32-bit integers. LLVM does not
vectorise loops this short, so the vector instructions are generated here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from treewright.arrays import Integer, NarrowCounts, Ranks, Real


def bits_of(number: Real) -> np.int64:
    """Return the bits of a double as an integer.

    Examples
    --------
    >>> int(bits_of(1.0)) >> 52
    1023
    """
    bits: np.int64 = np.float64(number).view(np.int64)
    return bits


def number_of(bits: Integer) -> np.float64:
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


LANES = 16
"""SIMD lanes of a vector; LLVM splits it where the processor's registers are narrower."""


def add_not_above(
    keys: Ranks, amounts: NarrowCounts, own: np.uint64, other: np.uint64, sums: NarrowCounts, into: np.uint64
) -> None:
    """Add to each of `LANES` sums the amounts of those among `LANES` others whose key is not greater than its own.

    Parameters
    ----------
    keys, amounts : array of 32-bit int
    own, other : int
        First index of the keys of the sums, and of the keys of the others.
    sums : array of 32-bit int
    into : int
        First index of the sums.

    Examples
    --------
    >>> keys, amounts, sums = np.arange(32, dtype=np.int32), np.ones(32, dtype=np.int32), np.zeros(16, dtype=np.int32)
    >>> add_not_above(keys, amounts, np.uint64(8), np.uint64(0), sums, np.uint64(0))
    >>> sums.tolist()
    [9, 10, 11, 12, 13, 14, 15, 16, 16, 16, 16, 16, 16, 16, 16, 16]
    """
    others = slice(int(other), int(other) + LANES)
    for lane in range(LANES):
        counted = keys[others] <= keys[int(own) + lane]
        sums[int(into) + lane] += amounts[others][counted].sum(dtype=np.int32)


@intrinsic  # type: ignore[untyped-decorator]  # Numba has no types
def _vector_add_not_above(typing: Any, keys: Any, amounts: Any, own: Any, other: Any, sums: Any, into: Any) -> Any:
    """Generate one vector comparison and one vector addition for each of the others."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        int32 = ir.IntType(32)
        vector = ir.VectorType(int32, LANES)
        zeros, undefined = ir.Constant(vector, [0] * LANES), ir.Constant(vector, ir.Undefined)

        def address(which: int, index: Any) -> Any:
            array = context.make_array(signature.args[which])(context, builder, arguments[which])
            return builder.gep(array.data, [index])

        def load_vector(pointer: Any) -> Any:
            loaded = builder.load(builder.bitcast(pointer, vector.as_pointer()))
            loaded.align = 4
            return loaded

        def broadcast(value: Any) -> Any:
            return builder.shuffle_vector(builder.insert_element(undefined, value, int32(0)), undefined, zeros)

        own_keys = load_vector(address(0, arguments[2]))
        totals = address(4, arguments[5])
        total = load_vector(totals)
        # Invariant: `total` holds the sums over the first `step` of the others.
        for step in range(LANES):
            index = builder.add(arguments[3], ir.IntType(64)(step))
            key = broadcast(builder.load(address(0, index)))
            amount = broadcast(builder.load(address(1, index)))
            total = builder.add(total, builder.select(builder.icmp_signed("<=", key, own_keys), amount, zeros))
        builder.store(total, builder.bitcast(totals, vector.as_pointer())).align = 4
        return context.get_dummy_value()

    return types.void(keys, amounts, types.uint64, types.uint64, sums, types.uint64), generate


@overload(add_not_above)  # type: ignore[untyped-decorator]  # Numba has no types
def _overload_add_not_above(keys: Any, amounts: Any, own: Any, other: Any, sums: Any, into: Any) -> Callable[..., Any]:
    def add(keys: Any, amounts: Any, own: Any, other: Any, sums: Any, into: Any) -> Any:
        return _vector_add_not_above(keys, amounts, own, other, sums, into)

    return add


def sum_not_above(
    keys: Ranks, amounts: npt.NDArray[Any], first: np.uint64, own: np.uint64, n: np.uint64, sums: npt.NDArray[Any]
) -> None:
    """Sum for each of `LANES` keys the amounts of those among n keys that are not greater.

    Parameters
    ----------
    keys : array of 32-bit int
    amounts : array
        Of the n keys, from index 0 on.
    first, own : int
        Index of the first key, and that of the first key of the sums from there on.
    n : int
    sums : array
        Output, from index `own` on; of the dtype of the amounts.

    Examples
    --------
    >>> keys, sums = np.array([5, 3, 4] + 13 * [9], dtype=np.int32), np.zeros(16)
    >>> sum_not_above(keys, np.array([1.0, 2.0, 4.0]), np.uint64(0), np.uint64(0), np.uint64(3), sums)
    >>> sums[:4].tolist()
    [7.0, 2.0, 6.0, 7.0]
    """
    others = keys[int(first) : int(first) + int(n)]
    for lane in range(int(own), int(own) + LANES):
        total = sums.dtype.type(0)
        for key, amount in zip(others, amounts, strict=False):
            total += amount if key <= keys[int(first) + lane] else sums.dtype.type(0)
        sums[lane] = total


def count_below(keys: Ranks, own: np.uint64, n: np.uint64, counts: Ranks) -> None:
    """Count for each of `LANES` keys how many of the first n keys are less.

    Parameters
    ----------
    keys : array of 32-bit int
    own : int
        First index of the keys, and of their counts.
    n : int
    counts : array of 32-bit int
        Output.

    Examples
    --------
    >>> keys, counts = np.array([5, 3, 4] + 13 * [9], dtype=np.int32), np.zeros(16, dtype=np.int32)
    >>> count_below(keys, np.uint64(0), np.uint64(3), counts)
    >>> counts[:4].tolist()
    [2, 0, 1, 3]
    """
    for lane in range(int(own), int(own) + LANES):
        counts[lane] = np.count_nonzero(keys[: int(n)] < keys[lane])


def _compare_with_all(
    context: Any, builder: Any, keys: Any, own: Any, n: Any, into: Any, element: Any, term: Callable[[Any, Any], Any]
) -> None:
    """Generate a loop over n keys; each adds to a vector what `term` returns for its index and the own keys.

    Parameters
    ----------
    keys, own : pointers to the n keys and to the own keys
    n : number of keys
    into : pointer to the sums
    element : type of a sum
    term : callable
        Gets index and own keys.
    """
    vector = ir.VectorType(ir.IntType(32), LANES)
    sums = ir.VectorType(element, LANES)
    own_keys = builder.load(builder.bitcast(own, vector.as_pointer()))
    own_keys.align = 4
    total = cgutils.alloca_once_value(builder, ir.Constant(sums, [0] * LANES))
    add = builder.add if isinstance(element, ir.IntType) else builder.fadd
    # Invariant: `total` holds the sums over the keys before the index.
    with cgutils.for_range(builder, n) as loop:
        builder.store(add(builder.load(total), term(loop.index, own_keys)), total)
    builder.store(builder.load(total), builder.bitcast(into, sums.as_pointer())).align = 4


def _broadcast(builder: Any, value: Any) -> Any:
    """Return a vector of equal elements."""
    undefined = ir.Constant(ir.VectorType(value.type, LANES), ir.Undefined)
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(builder.insert_element(undefined, value, ir.IntType(32)(0)), undefined, zeros)


@intrinsic  # type: ignore[untyped-decorator]  # Numba has no types
def _vector_sum_not_above(typing: Any, keys: Any, amounts: Any, first: Any, own: Any, n: Any, sums: Any) -> Any:
    """Generate one vector comparison and one vector addition for each of the n keys."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        key, amount, result = (
            context.make_array(signature.args[at])(context, builder, arguments[at]).data for at in (0, 1, 5)
        )
        start = builder.gep(key, [arguments[2]])
        element = context.get_value_type(signature.args[1].dtype)
        nothing = ir.Constant(ir.VectorType(element, LANES), [0] * LANES)

        def term(index: Any, own_keys: Any) -> Any:
            other = _broadcast(builder, builder.load(builder.gep(start, [index])))
            added = _broadcast(builder, builder.load(builder.gep(amount, [index])))
            return builder.select(builder.icmp_signed("<=", other, own_keys), added, nothing)

        into = builder.gep(result, [arguments[3]])
        _compare_with_all(
            context, builder, start, builder.gep(start, [arguments[3]]), arguments[4], into, element, term
        )
        return context.get_dummy_value()

    return types.void(keys, amounts, types.uint64, types.uint64, types.uint64, sums), generate


@overload(sum_not_above)  # type: ignore[untyped-decorator]  # Numba has no types
def _overload_sum_not_above(keys: Any, amounts: Any, first: Any, own: Any, n: Any, sums: Any) -> Callable[..., Any]:
    def total(keys: Any, amounts: Any, first: Any, own: Any, n: Any, sums: Any) -> Any:
        return _vector_sum_not_above(keys, amounts, first, own, n, sums)

    return total


@intrinsic  # type: ignore[untyped-decorator]  # Numba has no types
def _vector_count_below(typing: Any, keys: Any, own: Any, n: Any, counts: Any) -> Any:
    """Generate one vector comparison and one vector addition for each of the n keys."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        key, result = (context.make_array(signature.args[at])(context, builder, arguments[at]).data for at in (0, 3))
        int32 = ir.IntType(32)

        def term(index: Any, own_keys: Any) -> Any:
            other = _broadcast(builder, builder.load(builder.gep(key, [index])))
            return builder.zext(builder.icmp_signed("<", other, own_keys), ir.VectorType(int32, LANES))

        own_at, into = builder.gep(key, [arguments[1]]), builder.gep(result, [arguments[1]])
        _compare_with_all(context, builder, key, own_at, arguments[2], into, int32, term)
        return context.get_dummy_value()

    return types.void(keys, types.uint64, types.uint64, counts), generate


@overload(count_below)  # type: ignore[untyped-decorator]  # Numba has no types
def _overload_count_below(keys: Any, own: Any, n: Any, counts: Any) -> Callable[..., Any]:
    def count(keys: Any, own: Any, n: Any, counts: Any) -> Any:
        return _vector_count_below(keys, own, n, counts)

    return count
