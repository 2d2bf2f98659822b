"""The significance tests of CHAID, and the multipliers that adjust p-values for the number of possible groupings.

Weights are numbers of cases: a case of weight three counts as three. Fractional weights are allowed; the statistics and
the degrees of freedom of the F-test then use the sums of weights, and the p-values are approximate.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import StrEnum
from functools import lru_cache
from typing import Protocol

import numpy as np
import numpy.typing as npt

from treewright.counting.table import Counts
from treewright.learners.criteria import chi_square_statistic

Floats = npt.NDArray[np.float64]

DIRECT = 1e-250
"""Tails above this are computed directly; below, their logarithm comes from a continued fraction."""

SQUARES_ROUNDING = 1e-12
"""Differences below this share of a sum of squares are rounding errors."""

STEPS = 100_000
"""Bound on the steps of a continued fraction; a few dozen are usual."""


class Scale(StrEnum):
    """Which levels of an attribute may be merged."""

    NOMINAL = "any two"
    ORDERED = "neighbours"
    FLOATING = "neighbours, and the last level with any"


# -- tails of distributions, as logarithms ---------------------------------------------------------------------------


def log_chi_square_tail(statistic: Floats, df: Floats) -> Floats:
    """Return log P(X >= statistic) of chi-square variables; 0 without degrees of freedom.

    Examples
    --------
    >>> log_chi_square_tail(np.array([3.841459, 10_000.0, 5.0]), np.array([1.0, 1.0, 0.0])).round(4).tolist()
    [-2.9957, -5004.8311, 0.0]
    """
    from scipy.special import chdtr, chdtrc, gammaln

    tested = df > 0
    x, freedom = np.where(tested, statistic, 0.0), np.where(tested, df, 1.0)
    result = _log_of(chdtrc(freedom, x), lambda near: chdtr(freedom[near], x[near]))
    far = ~np.isfinite(result)
    if far.any():
        half, shape = x[far] / 2, freedom[far] / 2
        # Legendre's continued fraction of the incomplete gamma function.
        fraction = _continued_fraction(
            half + 1 - shape, lambda step: -step * (step - shape), lambda step: half + 1 - shape + 2 * step
        )
        result[far] = shape * np.log(half) - half - gammaln(shape) - np.log(fraction)
    tails: Floats = np.where(tested, result, 0.0)
    return tails


def log_f_tail(statistic: Floats, df_between: Floats, df_within: Floats) -> Floats:
    """Return log P(F >= statistic); minus infinity for an infinite statistic, 0 without degrees of freedom.

    Examples
    --------
    >>> two, ten = np.array([2.0, 2.0]), np.array([10.0, 10.0])
    >>> log_f_tail(np.array([4.102821, np.inf]), two, ten).round(4).tolist()
    [-2.9957, -inf]
    """
    from scipy.special import betaln, fdtr, fdtrc

    tested = (df_between > 0) & (df_within > 0)
    finite = tested & np.isfinite(statistic)
    f = np.where(finite, statistic, 0.0)
    over, under = np.where(tested, df_between, 1.0), np.where(tested, df_within, 1.0)
    result = _log_of(fdtrc(over, under, f), lambda near: fdtr(over[near], under[near], f[near]))
    far = finite & ~np.isfinite(result)
    if far.any():
        a, b = under[far] / 2, over[far] / 2
        odds = over[far] * f[far] / under[far]
        x = 1 / (1 + odds)
        fraction = _continued_fraction(
            np.ones_like(x), lambda step: _beta_term(step, a, b, x), lambda _: np.ones_like(x)
        )
        # x and 1 - x from their ratio: either may round to 1.
        log_x, log_rest = -np.log1p(odds), np.log(odds) - np.log1p(odds)
        result[far] = a * log_x + b * log_rest - np.log(a) - betaln(a, b) - np.log(fraction)
    tails: Floats = np.where(finite, result, np.where(tested, -np.inf, 0.0))
    return tails


def _beta_term(step: int, a: Floats, b: Floats, x: Floats) -> Floats:
    """Return the numerator of a step of the continued fraction of the incomplete beta function."""
    m = step // 2
    if step % 2 == 0:
        even: Floats = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        return even
    odd: Floats = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
    return odd


def _log_of(upper_tail: Floats, lower_tail_at: Callable[[npt.NDArray[np.bool_]], Floats]) -> Floats:
    """Return log p by way of the smaller tail; minus infinity if p is too small for an accurate double."""
    result: Floats = np.where(upper_tail > DIRECT, np.log(np.maximum(upper_tail, DIRECT)), -np.inf)
    near = upper_tail > 0.5
    if near.any():  # close to 1 only the lower tail distinguishes p-values
        result[near] = np.log1p(-lower_tail_at(near))
    return result


class _Term(Protocol):
    """The numerator or denominator of a step (1, 2, ...) of a continued fraction."""

    def __call__(self, step: int, /) -> Floats: ...


def _continued_fraction(start: Floats, numerator: _Term, denominator: _Term) -> Floats:
    """Evaluate ``start + n1/(d1 + n2/(d2 + ...))`` by Lentz's method."""
    tiny = 1e-300
    value = np.where(start == 0, tiny, start)
    c, d = value.copy(), np.zeros_like(value)
    for step in range(1, STEPS):
        n, b = numerator(step), denominator(step)
        d = b + n * d
        c = b + n / c
        d = 1 / np.where(d == 0, tiny, d)
        c = np.where(c == 0, tiny, c)
        value = value * (c * d)
        if np.all(np.abs(c * d - 1) <= 1e-15):
            break
    return value


# -- tests of tables -------------------------------------------------------------------------------------------------


class SignificanceTest(Protocol):
    """A test of whether the distribution of the target differs between rows."""

    def weights(self, rows: Counts) -> Floats:
        """Return the weight of the cases of each row."""

    def of_row_pairs(self, first: Counts, second: Counts) -> Floats:
        """Return log p of many tables of two rows, given by their first and second rows."""

    def of_table(self, rows: Counts) -> float:
        """Return log p of one table."""


class ChiSquareTest:
    """Pearson's chi-square test without correction; rows and columns without cases are left out.

    Examples
    --------
    >>> table = np.array([[10, 20], [20, 10]])
    >>> round(float(np.exp(ChiSquareTest().of_table(table))), 6)
    0.009823
    """

    def weights(self, rows: Counts) -> Floats:
        """Return the weight of the cases of each row."""
        weights: Floats = rows.sum(axis=1).astype(np.float64)
        return weights

    def of_row_pairs(self, first: Counts, second: Counts) -> Floats:
        """Return log p of many tables of two rows."""
        n1, n2 = self.weights(first), self.weights(second)
        both = (first + second).astype(np.float64)
        # Whole counts stay whole up to the quotient, so that reordering a table does not change a bit.
        crossed = (first * n2[:, None] - second * n1[:, None]) ** 2
        parts = np.divide(crossed, both, out=np.zeros_like(both), where=both > 0)
        product = n1 * n2
        statistic = np.divide(parts.sum(axis=1), product, out=np.zeros_like(product), where=product > 0)
        classes = np.count_nonzero(both > 0, axis=1)
        return log_chi_square_tail(statistic, np.where(product > 0, classes - 1.0, 0.0))

    def of_table(self, rows: Counts) -> float:
        """Return log p of one table; 0 (p = 1) with fewer than two rows or columns that have cases."""
        df = (np.count_nonzero(rows.sum(axis=1)) - 1) * (np.count_nonzero(rows.sum(axis=0)) - 1)
        if df <= 0 or not rows.any():
            return 0.0
        return float(log_chi_square_tail(np.array([chi_square_statistic(rows)]), np.array([float(df)]))[0])


class FTest:
    """The F-test of one-way analysis of variance.

    The degrees of freedom are those of the weights: rows minus one, and weight minus rows. Without degrees of freedom,
    p = 1. If the target differs between rows and not at all within them, p = 0.

    Examples
    --------
    >>> moments = np.array([[3.0, -3.0, 5.0], [3.0, 3.0, 5.0]])  # deviations -2, -1, 0 and 0, 1, 2
    >>> round(float(np.exp(FTest().of_table(moments))), 6)
    0.070484
    """

    def weights(self, rows: Counts) -> Floats:
        """Return the weight of the cases of each row."""
        weights: Floats = rows[:, 0].astype(np.float64)
        return weights

    def of_row_pairs(self, first: Counts, second: Counts) -> Floats:
        """Return log p of many tables of two rows."""
        return self._of_tables(np.stack((first, second), axis=1).astype(np.float64))

    def of_table(self, rows: Counts) -> float:
        """Return log p of one table."""
        return float(self._of_tables(rows[None].astype(np.float64))[0])

    def _of_tables(self, tables: Floats) -> Floats:
        """Test tables x rows x moments."""
        n, sums, squares = tables[:, :, 0], tables[:, :, 1], tables[:, :, 2]
        present = n > 0
        total = n.sum(axis=1)
        explained = np.divide(sums**2, n, out=np.zeros_like(n), where=present).sum(axis=1)
        level = np.divide(sums.sum(axis=1) ** 2, total, out=np.zeros_like(total), where=total > 0)
        whole = np.maximum(squares.sum(axis=1) - level, 0.0)
        # Deviations are taken from the mean of the node; rounding errors are proportional to their squares.
        noise = SQUARES_ROUNDING * squares.sum(axis=1)
        between = np.where(explained - level > noise, explained - level, 0.0)
        within = np.where(whole - between > noise, whole - between, 0.0)
        groups = np.count_nonzero(present, axis=1)
        df_between, df_within = groups - 1.0, total - groups
        tested = (df_between > 0) & (df_within > 0) & (between > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            f = (between / df_between) / (within / df_within)
        return log_f_tail(np.where(tested, f, 0.0), np.where(tested, df_between, 0.0), df_within)


# -- multipliers -----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def log_multiplier(levels: int, groups: int, scale: Scale) -> float:
    """Return the logarithm of the number of partitions of levels into groups.

    Kass (1980): ordered levels have C(c-1, r-1) partitions into r runs; with a floating level it is alone beside r-1
    runs of the c-1 others, or in one of r runs of them, C(c-2, r-2) + r C(c-2, r-1); nominal levels have as many as
    Stirling's number of the second kind, sum over i of (-1)^i (r-i)^c / (i! (r-i)!).

    Examples
    --------
    >>> [round(math.exp(log_multiplier(4, 2, scale))) for scale in (Scale.NOMINAL, Scale.ORDERED, Scale.FLOATING)]
    [7, 3, 5]
    """
    if groups <= 1 or levels <= 1:
        return 0.0
    if scale is Scale.ORDERED:
        return math.log(math.comb(levels - 1, groups - 1))
    if scale is Scale.FLOATING:
        return math.log(math.comb(levels - 2, groups - 2) + groups * math.comb(levels - 2, groups - 1))
    # The sum times r!, in whole numbers: its terms are huge and almost cancel.
    partitions_times_factorial = sum((-1) ** i * math.comb(groups, i) * (groups - i) ** levels for i in range(groups))
    return math.log(partitions_times_factorial // math.factorial(groups))


def log_exhaustive_multiplier(levels: int, scale: Scale) -> float:
    """Return the logarithm of the multiplier of exhaustive CHAID, which does not depend on the number of groups.

    Biggs, de Ville and Suen (1991) count the pairs that are compared on the way down: with k groups there are k(k-1)/2
    pairs of a nominal attribute, k-1 of an ordered one, 2k-3 with a floating level that is still alone. Summed for k
    from 2 to c that makes c(c^2-1)/6, c(c-1)/2 and (c-1)^2.

    Examples
    --------
    >>> [round(math.exp(log_exhaustive_multiplier(4, scale))) for scale in Scale]
    [10, 6, 9]
    """
    if levels <= 1:
        return 0.0
    match scale:
        case Scale.NOMINAL:
            return math.log(levels * (levels**2 - 1) // 6)
        case Scale.ORDERED:
            return math.log(levels * (levels - 1) // 2)
        case Scale.FLOATING:
            return 2 * math.log(levels - 1)
