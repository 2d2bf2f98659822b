"""The user's criterion compiled, and the loop that scores many tables of two branches by it.

It is compiled in every process anew: a function from a notebook has no file by which compiled code could be kept. What
Numba cannot compile is an error, never a slower tree.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numba
import numpy as np
from numba.core.errors import NumbaError

from treewright._base.errors import ParameterError
from treewright.counts.compiled.flags import FLAGS
from treewright.grow.own_criterion import CriterionFunction, Floats, Scan

_TABLE = numba.types.Array(numba.types.float64, 2, "C", readonly=True)


@lru_cache(maxsize=32)
def compiled_scan(name: str, function: CriterionFunction) -> Scan:
    """Compile a criterion.

    Parameters
    ----------
    name : str
        For messages.
    function : callable
        Plain, or one that Numba has compiled already.

    Examples
    --------
    >>> def larger_side(table):
    ...     return max(table[0].sum(), table[1].sum())
    >>> compiled_scan("larger_side", larger_side)(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]])).tolist()
    [7.0]
    """
    plain: Any = getattr(function, "py_func", function)
    try:
        compiled = numba.njit((_TABLE,), **FLAGS)(plain)
    except (NumbaError, TypeError, NotImplementedError) as error:
        raise ParameterError(
            f"the criterion {name!r} cannot be compiled ({_essence(error)}); change it, or choose engine='interpreted'"
        ) from error
    for signature in getattr(compiled, "nopython_signatures", ()):
        if not isinstance(signature.return_type, (numba.types.Integer, numba.types.Float, numba.types.Boolean)):
            raise ParameterError(
                f"the criterion {name!r} must return a number in every case; compiled, it returns "
                f"{signature.return_type}"
            )

    def scan(left: Any, right: Any, scores: Any) -> None:
        table = np.empty((2, left.shape[1]))
        for place in range(len(left)):
            table[0] = left[place]
            table[1] = right[place]
            scores[place] = compiled(table)

    # It writes into an array that it is given: to make one would ask the interpreter, which may have an interrupt.
    loop = numba.njit(**FLAGS)(scan)

    def scores_of(left: Floats, right: Floats) -> Floats:
        scores = np.empty(len(left))
        loop(left, right, scores)
        return scores

    return scores_of


def _essence(error: Exception) -> str:
    """Return what is wrong without the compiler's talk about itself."""
    text = str(error)
    if "setitem" in text and "readonly array" in text:
        return "it must not change the table that it gets"
    lines = [line.strip() for line in text.splitlines()]
    told = [line for line in lines if line and not line.startswith(("Failed in", "During:", "[1]", "[2]", "- "))]
    where = next((line.rstrip(":") for line in told if line.startswith("File ")), "")
    reasons = []
    for line in told:
        if line.startswith(("File ", "There are ")):
            break
        reasons.append(line)
    reason = " ".join(reasons)[:300]
    return f"{reason}; {where}" if where else reason
