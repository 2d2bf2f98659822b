"""Criteria as kernels, a user's own criterion included.

The kernels follow the arithmetic of `treewright.learners.criteria`, operation for operation. The statistics of a set of
cases are the weight of each class; for a numeric target the weight, the sum and the sum of squares of the deviations
from the mean of the node. `nlogn` holds n log2 n of the integers; other arguments are computed by the same scalar
logarithm. Invariant: the order of additions is that of `treewright.learners.criteria`.

A user's criterion is compiled together with a loop that scores tables of two branches by it. It is compiled again in
every process: a function from a notebook has no file by which compiled code could be cached. What Numba cannot compile
is an error; there is no fallback to the interpreter.
"""

from __future__ import annotations

from functools import lru_cache
from math import log2
from typing import Any

import numba
import numpy as np
from numba.core.errors import NumbaError

from treewright.arrays import Counts, Integer, Logarithms, Real, Scores, Statistics
from treewright.errors import ParameterError
from treewright.intrinsics import bits_of
from treewright.jit import FLAGS, internal, no_alloc_kernel
from treewright.learners.criteria import CLEAN, ROUNDING, CriterionFunction, Floats, Scan

ENTROPY, GINI, VARIANCE, CHI_SQUARE = 0, 1, 2, 3

_LOG_BITS = 10
_LOGS = np.array([log2(1 + part / (1 << _LOG_BITS)) for part in range((1 << _LOG_BITS) + 1)])
"""log2 of the numbers from one to two, in even steps."""

QUICK_ERROR = 2e-7
"""A chord over a step h of log2 x is too low by at most h * h / 8 / ln 2 = 1.72e-7; the rest covers rounding."""


@no_alloc_kernel
def fill_nlogn(nlogn: Logarithms, start: Integer) -> None:
    """Write n log2 n into a table from index `start` on."""
    for n in range(max(start, 1), len(nlogn)):
        nlogn[n] = n * log2(n)


@no_alloc_kernel
def nlogn_of(x: Real, nlogn: Logarithms) -> Real:
    """Return x log2 x, 0 for 0."""
    whole = np.int64(x)
    if whole == x and 0 <= whole < len(nlogn):
        return nlogn[whole]
    return x * log2(x) if x > 0 else 0.0


@internal
def quick_nlogn(x: Real) -> Real:
    """Return x log2 x, too low by at most `QUICK_ERROR` times x, from exponent and fraction of the double."""
    if not x > 0:
        return 0.0
    bits = bits_of(x)
    index = (bits >> (52 - _LOG_BITS)) & ((1 << _LOG_BITS) - 1)
    rest = np.float64(bits & ((1 << (52 - _LOG_BITS)) - 1)) * 2.0 ** (_LOG_BITS - 52)
    low = _LOGS[index]
    return x * (np.float64((bits >> 52) - 1023) + low + rest * (_LOGS[index + 1] - low))


@internal
def weight_of(statistics: Statistics, criterion: Integer) -> Real:
    """Return the weight of a set of cases."""
    if criterion == VARIANCE:
        return statistics[0]
    total = 0.0
    for k in range(len(statistics)):
        total += statistics[k]
    return total


@internal
def impurity(statistics: Statistics, criterion: Integer, nlogn: Logarithms) -> Real:
    """Return the impurity of a set of cases times its weight."""
    if criterion == VARIANCE:
        n = statistics[0]
        explained = statistics[1] * statistics[1] / n if n > 0 else 0.0
        return max(statistics[2] - explained, 0.0)
    n = weight_of(statistics, criterion)
    total = 0.0
    if criterion == GINI:
        for k in range(len(statistics)):
            total += statistics[k] * statistics[k]
        return n - (total / n if n > 0 else 0.0)
    for k in range(len(statistics)):
        total += nlogn_of(statistics[k], nlogn)
    return nlogn_of(n, nlogn) - total


@internal
def chi_square_of(rows: Counts, n_rows: Integer, columns: Statistics) -> Real:
    """Return Pearson's chi-square over the rows and columns that are not empty; `columns` becomes the column sums."""
    width = rows.shape[1]
    for k in range(width):
        columns[k] = 0.0
    whole = 0.0
    for row in range(n_rows):
        for k in range(width):
            columns[k] += rows[row, k]
            whole += rows[row, k]
    statistic = 0.0
    # Invariant: `statistic` is the sum over the cells of the rows before `row`.
    for row in range(n_rows):
        total = 0.0
        for k in range(width):
            total += rows[row, k]
        for k in range(width):
            if total > 0 and columns[k] > 0:
                expected = total * columns[k] / whole
                statistic += (rows[row, k] - expected) ** 2 / expected
    return statistic if statistic > ROUNDING * whole else 0.0


@internal
def chi_square_of_sides(left: Statistics, right: Statistics) -> Real:
    """Return Pearson's chi-square of two branches."""
    weight_left = weight_right = whole = 0.0
    for k in range(len(left)):
        weight_left += left[k]
        whole += left[k]
    for k in range(len(right)):
        weight_right += right[k]
        whole += right[k]
    statistic = 0.0
    for side in range(2):
        weight = weight_left if side == 0 else weight_right
        for k in range(len(left)):
            column = left[k] + right[k]
            if weight > 0 and column > 0:
                expected = weight * column / whole
                statistic += ((left[k] if side == 0 else right[k]) - expected) ** 2 / expected
    return statistic if statistic > ROUNDING * whole else 0.0


@internal
def decrease(before: Real, after: Real, weight: Real, added_up: Real) -> Real:
    """Return the impurity decrease per unit of weight, 0 where it is within rounding.

    Rounding is a share of `added_up`: the weight, for a numeric target the sum of squares.
    """
    impurity_decrease = before - after
    rounding = CLEAN * before + ROUNDING * added_up
    return 0.0 if abs(impurity_decrease) <= rounding else impurity_decrease / weight


@no_alloc_kernel
def score_of_table(rows: Counts, n_rows: Integer, criterion: Integer, nlogn: Logarithms, whole: Statistics) -> Real:
    """Score a table of branches; `whole` becomes the sum of its rows."""
    if criterion == CHI_SQUARE:
        return chi_square_of(rows, n_rows, whole)
    for k in range(rows.shape[1]):
        whole[k] = 0.0
    for row in range(n_rows):
        for k in range(rows.shape[1]):
            whole[k] += rows[row, k]
    weight = weight_of(whole, criterion)
    if weight <= 0:
        return 0.0
    after = 0.0
    for row in range(n_rows):
        after += impurity(rows[row], criterion, nlogn)
    added_up = whole[2] if criterion == VARIANCE else weight
    return decrease(impurity(whole, criterion, nlogn), after, weight, added_up)


@internal
def score_of_sides(
    left: Statistics, right: Statistics, before: Real, weight: Real, criterion: Integer, nlogn: Logarithms
) -> Real:
    """Score two branches."""
    if criterion == CHI_SQUARE:
        return chi_square_of_sides(left, right)
    added_up = left[2] + right[2] if criterion == VARIANCE else weight
    return decrease(before, impurity(left, criterion, nlogn) + impurity(right, criterion, nlogn), weight, added_up)


@no_alloc_kernel
def branch_information(rows: Counts, n_rows: Integer, unknown: Real, nlogn: Logarithms) -> Real:
    """Return C4.5's split information; cases with a missing value count as one more branch."""
    total = unknown
    logs = nlogn_of(unknown, nlogn) if unknown > 0 else 0.0
    for row in range(n_rows):
        weight = 0.0
        for k in range(rows.shape[1]):
            weight += rows[row, k]
        total += weight
        logs += nlogn_of(weight, nlogn)
    return (nlogn_of(total, nlogn) - logs) / total if total > 0 else 0.0


@no_alloc_kernel
def first_tied(scores: Scores, n: Integer) -> Integer:
    """Return the first index whose score ties with the greatest, -1 if there is none."""
    if n == 0:
        return -1
    best = scores[0]
    for index in range(1, n):
        best = max(best, scores[index])
    if best == -np.inf:
        return -1
    bound = best - 1e-9 * abs(best)
    for index in range(n):
        if scores[index] >= bound:
            return index
    return -1


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
            f"the criterion {name!r} cannot be compiled ({_reason(error)}); change it, or choose engine='interpreted'"
        ) from error
    for signature in getattr(compiled, "nopython_signatures", ()):
        if not isinstance(signature.return_type, (numba.types.Integer, numba.types.Float, numba.types.Boolean)):
            raise ParameterError(
                f"the criterion {name!r} must return a number in every case; compiled, it returns "
                f"{signature.return_type}"
            )

    def scan(left: Any, right: Any, scores: Any) -> None:
        table = np.empty((2, left.shape[1]))
        for row in range(len(left)):
            table[0] = left[row]
            table[1] = right[row]
            scores[row] = compiled(table)

    # The loop writes into an array that it gets: allocating one calls the interpreter, which may raise an interrupt.
    loop = numba.njit(**FLAGS)(scan)

    def scores_of(left: Floats, right: Floats) -> Floats:
        scores = np.empty(len(left))
        loop(left, right, scores)
        return scores

    return scores_of


def _reason(error: Exception) -> str:
    """Return the reason of an error and the line of the user's code, without the compiler's own trace."""
    text = str(error)
    if "setitem" in text and "readonly array" in text:
        return "it must not change the table that it gets"
    lines = [line.strip() for line in text.splitlines()]
    relevant = [line for line in lines if line and not line.startswith(("Failed in", "During:", "[1]", "[2]", "- "))]
    where = next((line.rstrip(":") for line in relevant if line.startswith("File ")), "")
    reasons = []
    for line in relevant:
        if line.startswith(("File ", "There are ")):
            break
        reasons.append(line)
    reason = " ".join(reasons)[:300]
    return f"{reason}; {where}" if where else reason
