"""Sixteen whole numbers side by side, for kernels: what a processor does to all of them in one step.

Loops over so few are not made into such steps by the compiler; they are written down here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

LANES = 16
"""So many 32-bit numbers are side by side; where a processor has room for fewer they are taken in turns."""

Ints = npt.NDArray[np.int32]


def add_not_above(keys: Ints, amounts: Ints, own: np.uint64, other: np.uint64, sums: Ints, into: np.uint64) -> None:
    """Add to each of `LANES` sums the amounts of those among `LANES` others whose keys are not above its own.

    Parameters
    ----------
    keys, amounts : array of 32-bit int
    own, other : int
        Where the keys of the sums begin, and those of the others.
    sums : array of 32-bit int
    into : int
        Where the sums begin.

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
def _lanes_not_above(typing: Any, keys: Any, amounts: Any, own: Any, other: Any, sums: Any, into: Any) -> Any:
    """Be a comparison and an addition of all lanes for each of the others."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number = ir.IntType(32)
        lanes = ir.VectorType(number, LANES)
        nothing, unset = ir.Constant(lanes, [0] * LANES), ir.Constant(lanes, ir.Undefined)

        def address(which: int, place: Any) -> Any:
            array = context.make_array(signature.args[which])(context, builder, arguments[which])
            return builder.gep(array.data, [place])

        def all_lanes(where: Any) -> Any:
            loaded = builder.load(builder.bitcast(where, lanes.as_pointer()))
            loaded.align = 4
            return loaded

        def in_all_lanes(value: Any) -> Any:
            return builder.shuffle_vector(builder.insert_element(unset, value, number(0)), unset, nothing)

        own_keys = all_lanes(address(0, arguments[2]))
        totals = address(4, arguments[5])
        total = all_lanes(totals)
        for step in range(LANES):
            place = builder.add(arguments[3], ir.IntType(64)(step))
            key = in_all_lanes(builder.load(address(0, place)))
            amount = in_all_lanes(builder.load(address(1, place)))
            total = builder.add(total, builder.select(builder.icmp_signed("<=", key, own_keys), amount, nothing))
        builder.store(total, builder.bitcast(totals, lanes.as_pointer())).align = 4
        return context.get_dummy_value()

    return types.void(keys, amounts, types.uint64, types.uint64, sums, types.uint64), generate


@overload(add_not_above)  # type: ignore[untyped-decorator]  # Numba has no types
def _add_in_kernels(keys: Any, amounts: Any, own: Any, other: Any, sums: Any, into: Any) -> Callable[..., Any]:
    def add(keys: Any, amounts: Any, own: Any, other: Any, sums: Any, into: Any) -> Any:
        return _lanes_not_above(keys, amounts, own, other, sums, into)

    return add
