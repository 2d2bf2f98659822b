"""Significance tests for two learners on one table, and for many learners on many tables.

Pure arithmetic: numbers in, numbers out. `treewright.evaluation.compare` makes the numbers.

A difference is the score of the first learner minus that of the second on the same test set. The corrected resampled
t-test enlarges the variance over folds, because training sets overlap (Nadeau and Bengio 2003). McNemar's test uses
only the cases on which exactly one of two learners is right. Rank 1 is the best learner on a table; ties share the mean
rank. Average ranks closer than the critical difference are not significantly different by Nemenyi's test.

References
----------
C. Nadeau, Y. Bengio: Inference for the generalization error. Machine Learning 52 (2003) 239-281.
Q. McNemar: Note on the sampling error of the difference between correlated proportions. Psychometrika 12 (1947).
A. L. Edwards: Note on the "correction for continuity" in testing the significance of the difference between
correlated proportions. Psychometrika 13 (1948).
R. L. Iman, J. M. Davenport: Approximations of the critical region of the Friedman statistic. Communications in
Statistics A9 (1980).
S. Holm: A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6 (1979).
J. Demsar: Statistical comparisons of classifiers over multiple data sets. Journal of Machine Learning Research 7
(2006) 1-30.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import comb, inf, isfinite, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.errors import ParameterError

Scores = npt.ArrayLike

FEW = 25
"""With fewer cases than this on which one learner alone is right, McNemar's test is computed exactly."""

EQUAL = 12
"""Decimals in which scores must differ to get different ranks; what lies beyond is rounding."""


@dataclass(frozen=True)
class ResampledT:
    """A corrected resampled t-test.

    Attributes
    ----------
    mean : float
        Of the differences.
    spread : float
        Their standard deviation; 0 if all are equal, and then t is not defined.
    statistic, df, p : float
        Student's t, its degrees of freedom, and the two-sided probability of a t at least as far from 0.
    low, high : float
        Confidence interval of the mean.
    """

    mean: float
    spread: float
    statistic: float
    df: int
    p: float
    low: float
    high: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; an infinite statistic becomes None."""
        return asdict(self) | {"statistic": finite(self.statistic)}


@dataclass(frozen=True)
class McNemar:
    """McNemar's test: how many cases only one of two learners got right.

    Attributes
    ----------
    only_first, only_second : int
    statistic : float or None
        Chi-square; None where the test was exact.
    p : float
        Two-sided.
    method : str
        ``"exact binomial"`` or ``"chi-square with continuity correction"``.
    """

    only_first: int
    only_second: int
    statistic: float | None
    p: float
    method: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Friedman:
    """Friedman's test with the F of Iman and Davenport.

    Attributes
    ----------
    ranks : tuple of float
        Average rank of each learner.
    chi2, df, p_chi2 : float
        Friedman's statistic and its probability.
    f, df1, df2, p : float
        The less conservative statistic of Iman and Davenport and its probability.
    """

    ranks: tuple[float, ...]
    n: int
    chi2: float
    df: int
    p_chi2: float
    f: float
    df1: int
    df2: int
    p: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; an infinite F becomes None."""
        return asdict(self) | {"ranks": list(self.ranks), "f": finite(self.f)}


def finite(value: float) -> float | None:
    """Return the number, or None for one that JSON has no form for."""
    return value if isfinite(value) else None


def corrected_resampled_t(differences: Scores, n_train: float, n_test: float, confidence: float = 0.95) -> ResampledT:
    """Test whether the mean of differences over folds (or repeated splits) is 0.

    The variance of the mean is that of the differences times ``1/k + n_test/n_train``, with k - 1 degrees of freedom.
    If all differences are equal, t is 0 with p = 1 if they are 0, else infinite with p = 0, the limit of the formula;
    check `spread` before trusting that.

    Parameters
    ----------
    differences : array-like of float
        One for each fold, at least two.
    n_train, n_test : float
        Training and test cases of a fold (their means, if folds differ in size).
    confidence : float
        Of the interval.

    Examples
    --------
    >>> test = corrected_resampled_t([0.02, 0.04, 0.00, 0.02], n_train=75, n_test=25)
    >>> round(test.mean, 3), round(test.statistic, 3), test.df, round(test.p, 3)
    (0.02, 1.604, 3, 0.207)
    """
    from scipy.special import stdtr, stdtrit

    found = _finite(differences, 1, "differences")
    k = len(found)
    if k < 2:
        raise ParameterError(f"a t-test needs at least two differences, not {k}")
    if not (n_train > 0 and n_test > 0):
        raise ParameterError(f"n_train and n_test must be positive, not {n_train!r} and {n_test!r}")
    if not 0 < confidence < 1:
        raise ParameterError(f"confidence must be between 0 and 1, not {confidence!r}")
    mean = float(found.mean())
    spread = float(found.std(ddof=1))
    if spread <= 1e-12 * max(1e-3, float(np.abs(found).max())):  # 0 up to rounding
        nothing = abs(mean) <= 1e-15
        statistic = 0.0 if nothing else inf if mean > 0 else -inf
        return ResampledT(mean, 0.0, statistic, k - 1, 1.0 if nothing else 0.0, mean, mean)
    error = spread * sqrt(1 / k + n_test / n_train)
    statistic = mean / error
    half_width = error * float(stdtrit(k - 1, 0.5 + confidence / 2))
    p = float(2 * stdtr(k - 1, -abs(statistic)))
    return ResampledT(mean, spread, statistic, k - 1, min(p, 1.0), mean - half_width, mean + half_width)


def mcnemar(only_first_right: int, only_second_right: int) -> McNemar:
    """Test whether two learners are right equally often, on the same test cases.

    Exact (binomial) for fewer than 25 cases that exactly one of them gets right, else chi-square with the continuity
    correction of Edwards.

    Examples
    --------
    >>> mcnemar(9, 1).p, mcnemar(9, 1).method
    (0.021484375, 'exact binomial')
    >>> test = mcnemar(150, 86)
    >>> round(test.statistic, 3), test.method
    (16.818, 'chi-square with continuity correction')
    """
    b, c = int(only_first_right), int(only_second_right)
    if b < 0 or c < 0 or b != only_first_right or c != only_second_right:
        raise ParameterError(f"cases are counted from 0 on, not {only_first_right!r} and {only_second_right!r}")
    n = b + c
    if n < FEW:
        tail = sum(comb(n, i) for i in range(min(b, c) + 1)) / 2**n
        return McNemar(b, c, None, min(1.0, 2 * tail), "exact binomial")
    from scipy.special import chdtrc

    statistic = max(0, abs(b - c) - 1) ** 2 / n
    return McNemar(b, c, statistic, float(chdtrc(1, statistic)), "chi-square with continuity correction")


def holm(probabilities: Sequence[float]) -> list[float]:
    """Return p-values adjusted for multiple testing (Holm 1979), in the order given.

    Examples
    --------
    >>> [round(p, 6) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    number = len(probabilities)
    adjusted = [1.0] * number
    greatest = 0.0
    for step, index in enumerate(sorted(range(number), key=lambda i: probabilities[i])):
        greatest = max(greatest, min(1.0, (number - step) * probabilities[index]))
        adjusted[index] = greatest
    return adjusted


def ranks_of(scores: Scores, *, higher_is_better: bool = True) -> npt.NDArray[np.float64]:
    """Rank the learners (columns) on each table (row): 1 for the best, equal scores share their mean rank.

    Examples
    --------
    >>> ranks_of([[0.9, 0.8, 0.9], [0.5, 0.7, 0.6]]).tolist()
    [[1.5, 3.0, 1.5], [3.0, 1.0, 2.0]]
    """
    import scipy.stats

    table = np.round(_finite(scores, 2, "scores"), EQUAL)
    ranks: npt.NDArray[np.float64] = scipy.stats.rankdata(-table if higher_is_better else table, axis=1).astype(
        np.float64
    )
    return ranks


def friedman(ranks: Scores, *, correct_ties: bool = False) -> Friedman:
    """Test whether all learners are equally good over several tables.

    Parameters
    ----------
    ranks : array-like, tables by learners
        As `ranks_of` makes them.
    correct_ties : bool
        Divide by the correction for ties. Demsar's formula has none, which is conservative.

    Examples
    --------
    >>> test = friedman([[1, 2, 3], [1, 2, 3], [2, 1, 3], [1, 3, 2]])
    >>> test.ranks, test.chi2, test.f
    ((1.25, 2.0, 2.75), 4.5, 3.857142857142857)
    """
    from scipy.special import chdtrc, fdtrc

    table = _finite(ranks, 2, "ranks")
    n, k = table.shape
    if n < 2 or k < 2:
        raise ParameterError(f"Friedman's test needs at least two tables and two learners, not {n} and {k}")
    if not np.allclose(table.sum(axis=1), k * (k + 1) / 2):
        raise ParameterError(f"the ranks on each table must sum to {k * (k + 1) / 2:g}; make them with ranks_of")
    means = table.mean(axis=0)
    chi2 = max(0.0, 12 * n / (k * (k + 1)) * float(((means - (k + 1) / 2) ** 2).sum()))
    if correct_ties:
        ties = sum(int(size) ** 3 - int(size) for row in table for size in np.unique(row, return_counts=True)[1])
        share = 1 - ties / (n * k * (k * k - 1))
        chi2 = chi2 / share if share > 0 else 0.0
    rest = n * (k - 1) - chi2
    agreed = rest <= 1e-9 * n * k  # all tables have the same ranks
    f = inf if agreed else (n - 1) * chi2 / rest
    df1, df2 = k - 1, (k - 1) * (n - 1)
    return Friedman(
        tuple(float(mean) for mean in means),
        n,
        chi2,
        k - 1,
        float(chdtrc(k - 1, chi2)),
        f,
        df1,
        df2,
        0.0 if agreed else float(fdtrc(df1, df2, f)),
    )


def nemenyi_critical_difference(k: int, n: int, alpha: float = 0.05) -> float:
    """Return the critical difference of the average ranks of k learners over n tables (Nemenyi, after Demsar 2006).

    Examples
    --------
    >>> round(nemenyi_critical_difference(4, 14), 2), round(nemenyi_critical_difference(4, 14, alpha=0.1), 2)
    (1.25, 1.12)
    """
    import scipy.stats

    if k < 2 or n < 1:
        raise ParameterError(f"a critical difference needs at least two learners and one table, not {k} and {n}")
    if not 0 < alpha < 1:
        raise ParameterError(f"alpha must be between 0 and 1, not {alpha!r}")
    law: Any = scipy.stats  # type checkers do not see the distributions, which are made at import
    q = float(law.studentized_range.ppf(1 - alpha, k, np.inf)) / sqrt(2)
    return q * sqrt(k * (k + 1) / (6 * n))


def groups_within(ranks: Sequence[float], difference: float) -> list[tuple[int, ...]]:
    """Return the largest groups of learners (by index, best first) whose average ranks lie less than this apart.

    Groups overlap; a learner that differs from all others is in none.

    Examples
    --------
    >>> groups_within([3.143, 2.000, 2.893, 1.964], 1.25)
    [(3, 1, 2, 0)]
    >>> groups_within([3.143, 2.000, 2.893, 1.964], 1.12)
    [(3, 1, 2), (2, 0)]
    """
    order = sorted(range(len(ranks)), key=lambda i: (ranks[i], i))
    groups: list[tuple[int, ...]] = []
    reached = 0
    for start in range(len(order)):
        stop = start + 1
        while stop < len(order) and ranks[order[stop]] - ranks[order[start]] < difference:
            stop += 1
        if stop > reached and stop - start > 1:
            groups.append(tuple(order[start:stop]))
        reached = max(reached, stop)
    return groups


def _finite(values: Scores, dimensions: int, what: str) -> npt.NDArray[np.float64]:
    try:
        table = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{what} must be numbers, with rows of equal length: {error}") from error
    if table.ndim != dimensions or not np.isfinite(table).all():
        shape = "a row" if dimensions == 1 else "a table"
        raise ParameterError(f"{what} must be {shape} of finite numbers")
    return table
