"""Machine operations that Numba does not offer by itself, for kernels.

There are the bits of doubles, arrays at an address, and SIMD operations on sixteen 32-bit integers. LLVM does not
vectorise loops this short, so the vector instructions are generated here.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, lower_builtin, overload, type_callable
from numba.np.arrayobj import populate_array

from treewright.arrays import Integer, Ranks, Real


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


def array_at(address: Integer, length: Integer, step: Integer, like: Any) -> Any:
    """Return an array that is kept elsewhere: a kernel that gets addresses is compiled once for any number of columns.

    Parameters
    ----------
    address : int
        Of the first element.
    length, step : int
        Number of elements, and their distance in elements.
    like : array
        Has the same dtype.

    Examples
    --------
    >>> kept = np.array([0.5, 1.5, 2.5])
    >>> array_at(kept.ctypes.data, 2, 2, kept).tolist()
    [0.5, 2.5]
    """
    size = int(length * step) * like.dtype.itemsize
    return np.frombuffer((ctypes.c_char * size).from_address(int(address)), dtype=like.dtype)[:: int(step)]


def addresses_of(columns: Iterable[npt.NDArray[Any]]) -> tuple[npt.NDArray[np.int64], list[npt.NDArray[np.float64]]]:
    """Return address and step of columns of doubles for `array_at`, and the columns, which must be kept meanwhile.

    Examples
    --------
    >>> addresses, kept = addresses_of(np.array([[0.5, 1.5], [2.5, 3.5]]).T)
    >>> addresses[:, 1].tolist(), int(addresses[1, 0] - addresses[0, 0])
    ([2, 2], 8)
    """
    kept = []
    for column in columns:
        fits = column.dtype == np.float64 and column.strides[0] > 0 and column.strides[0] % column.itemsize == 0
        kept.append(column if fits else np.ascontiguousarray(column, dtype=np.float64))
    addresses = [(column.ctypes.data, column.strides[0] // column.itemsize) for column in kept]
    return np.array(addresses, dtype=np.int64).reshape(-1, 2), kept


# Not an overload: a function without reference counting returns no array, and this one is generated in its caller.
@type_callable(array_at)  # type: ignore[untyped-decorator]  # Numba has no types
def _type_array_at(context: Any) -> Callable[..., Any]:
    def typed(address: Any, length: Any, step: Any, like: Any) -> Any:
        return types.Array(like.dtype, 1, "A")

    return typed


@lower_builtin(array_at, types.Integer, types.Integer, types.Integer, types.Array)  # type: ignore[untyped-decorator]
def _lower_array_at(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Generate the fields of an array that owns no memory."""
    data_type = context.get_data_type(signature.return_type.dtype)
    itemsize = context.get_constant(types.intp, context.get_abi_sizeof(data_type))
    address, length, step = (
        context.cast(builder, value, given, types.int64)
        for value, given in zip(arguments[:3], signature.args[:3], strict=True)
    )
    array = context.make_array(signature.return_type)(context, builder)
    populate_array(
        array,
        data=builder.inttoptr(address, data_type.as_pointer()),
        shape=[length],
        strides=[builder.mul(step, itemsize)],
        itemsize=itemsize,
        meminfo=None,
    )
    return array._getvalue()


LANES = 16
"""SIMD lanes of a vector; LLVM splits it where the processor's registers are narrower."""


def sum_not_above(
    keys: Ranks,
    first: np.uint64,
    amounts: npt.NDArray[Any],
    amounts_first: np.uint64,
    own: np.uint64,
    n: np.uint64,
    sums: npt.NDArray[Any],
) -> None:
    """Sum for each of `LANES` keys the amounts of those among n keys that are not greater.

    Parameters
    ----------
    keys, amounts : array of 32-bit int, array
    first, amounts_first : int
        Index of the first of the n keys, and of their amounts.
    own : int
        Number of the first key of the sums among the n keys.
    n : int
    sums : array
        Output, from index `own` on; of the dtype of the amounts.

    Examples
    --------
    >>> keys, sums = np.array([5, 3, 4] + 13 * [9], dtype=np.int32), np.zeros(16)
    >>> zero, three = np.uint64(0), np.uint64(3)
    >>> sum_not_above(keys, zero, np.array([1.0, 2.0, 4.0]), zero, zero, three, sums)
    >>> sums[:4].tolist()
    [7.0, 2.0, 6.0, 7.0]
    """
    others = keys[int(first) : int(first) + int(n)]
    for lane in range(int(own), int(own) + LANES):
        total = sums.dtype.type(0)
        for key, amount in zip(others, amounts[int(amounts_first) :], strict=False):
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


def _compare_with_all(builder: Any, own: Any, n: Any, into: Any, element: Any, term: Callable[[Any, Any], Any]) -> None:
    """Generate a loop over n keys; each adds to a vector what `term` returns for its index and the own keys.

    Parameters
    ----------
    builder
    own : pointer to the own keys
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
def _vector_sum_not_above(
    typing: Any, keys: Any, first: Any, amounts: Any, amounts_first: Any, own: Any, n: Any, sums: Any
) -> Any:
    """Generate one vector comparison and one vector addition for each of the n keys."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        key, amount, result = (
            context.make_array(signature.args[at])(context, builder, arguments[at]).data for at in (0, 2, 6)
        )
        start, given = builder.gep(key, [arguments[1]]), builder.gep(amount, [arguments[3]])
        element = context.get_value_type(signature.args[2].dtype)
        nothing = ir.Constant(ir.VectorType(element, LANES), [0] * LANES)

        def term(index: Any, own_keys: Any) -> Any:
            other = _broadcast(builder, builder.load(builder.gep(start, [index])))
            added = _broadcast(builder, builder.load(builder.gep(given, [index])))
            return builder.select(builder.icmp_signed("<=", other, own_keys), added, nothing)

        _compare_with_all(
            builder,
            builder.gep(start, [arguments[4]]),
            arguments[5],
            builder.gep(result, [arguments[4]]),
            element,
            term,
        )
        return context.get_dummy_value()

    unsigned = types.uint64
    return types.void(keys, unsigned, amounts, unsigned, unsigned, unsigned, sums), generate


@overload(sum_not_above)  # type: ignore[untyped-decorator]  # Numba has no types
def _overload_sum_not_above(
    keys: Any, first: Any, amounts: Any, amounts_first: Any, own: Any, n: Any, sums: Any
) -> Callable[..., Any]:
    def total(keys: Any, first: Any, amounts: Any, amounts_first: Any, own: Any, n: Any, sums: Any) -> Any:
        return _vector_sum_not_above(keys, first, amounts, amounts_first, own, n, sums)

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
        _compare_with_all(builder, own_at, arguments[2], into, int32, term)
        return context.get_dummy_value()

    return types.void(keys, types.uint64, types.uint64, counts), generate


@overload(count_below)  # type: ignore[untyped-decorator]  # Numba has no types
def _overload_count_below(keys: Any, own: Any, n: Any, counts: Any) -> Callable[..., Any]:
    def count(keys: Any, own: Any, n: Any, counts: Any) -> Any:
        return _vector_count_below(keys, own, n, counts)

    return count
