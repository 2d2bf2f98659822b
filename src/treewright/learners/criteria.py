"""Criteria: a frequency table in, a number out; ties between scores; and criteria that users write.

`nlogn` is the function from which all entropies are computed. It uses the scalar logarithm of the C library, never a
vectorised one, whose last bit may differ: all engines must make the same decisions. Integers, the common case, are
looked up in a table that grows on demand.

Scores that differ by less than a billionth of the better one tie; then the lower cut, the earlier category, the earlier
pair and the earlier column win. The greatest score is found first and then the first one that ties with it, so the
order of the search does not matter.

Criteria are pure functions of frequency tables and never see a row. Sums over classes are computed class by class, sums
over branches branch by branch: every engine adds in the same order.

A custom criterion: a user's function from a table of counts to a score. The function gets the table of a split, a row
for each branch and a column for each class (doubles, read-only, classes in the order of the schema), and returns a
number: the greater, the better the split. A score of at most `LEAST_SCORE` or a non-finite score rejects the split.

The plain Python function decides. The compiled engine compiles the function, too, and scans all cuts and all subsets of
categories with the compiled form. Splits that score close to the best, and those that the compiled form cannot score,
are scored again by the plain function. So a tree does not depend on how a compiler rounds.

A model stores only the name of the function. A loaded model reports the stored scores but cannot score new splits.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from math import log2
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from treewright.counting.table import Counts
from treewright.errors import ParameterError
from treewright.wording import did_you_mean

LARGEST_TABLE = 2**22
"""Integers from this size on are computed one by one."""

TABLE_ENTRIES_PER_COUNT = 64
"""The table grows to at most this many entries per requested count; a few large counts are computed directly."""

_table: npt.NDArray[np.float64] = np.zeros(2)


def nlogn(counts: npt.NDArray[np.int64] | npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return x log2 x for each number, 0 for 0.

    Examples
    --------
    >>> nlogn(np.array([0, 1, 2, 8])).tolist()
    [0.0, 0.0, 2.0, 24.0]
    >>> nlogn(np.array([0.5, 2.0])).tolist()
    [-0.5, 2.0]
    """
    global _table  # noqa: PLW0603 - a cache of constants: whichever thread writes it, the numbers are the same
    if counts.dtype.kind != "f":
        largest = int(counts.max(initial=0))
        table = _table  # another thread may replace the global by a longer or a shorter table
        if largest < min(LARGEST_TABLE, max(len(table), TABLE_ENTRIES_PER_COUNT * counts.size)):
            if largest >= len(table):
                size = 1 << (largest + 1).bit_length()
                table = np.concatenate((table, [n * log2(n) for n in range(len(table), size)]))
                _table = table
            return table[counts]
    flat = [x * log2(x) if x > 0 else 0.0 for x in counts.ravel().tolist()]
    return np.array(flat, dtype=np.float64).reshape(counts.shape)


TIE = 1e-9
"""Relative difference below which two scores are equal."""


def first_of_ties(scores: npt.NDArray[np.float64]) -> int:
    """Return the index of the first score that ties with the greatest.

    Examples
    --------
    >>> first_of_ties(np.array([0.1, 0.3, 0.3 + 1e-14, 0.2]))
    1
    """
    best = scores.max()
    return int(np.argmax(scores >= best - TIE * abs(best)))


Floats = npt.NDArray[np.float64]

CLEAN = 1e-11
"""A decrease below this share of the impurity is a rounding error of the sums and counts as zero."""

ROUNDING = 1e-14
"""The same for a decrease below this share of the weight, or of the sum of squares of a numeric target: a pure set of
fractional cases, or equal numbers far from the mean of the node, have an impurity of this size."""


def _column_sum(columns: npt.NDArray[np.generic]) -> Floats:
    total: Floats = np.zeros(columns.shape[0])
    for column in columns.T:
        total = total + column
    return total


def total_entropy(rows: Counts) -> Floats:
    """Return n H in bits of each row of class counts."""
    total: Floats = nlogn(rows.sum(axis=1)) - _column_sum(nlogn(rows))
    return total


def total_gini(rows: Counts) -> Floats:
    """Return n (1 - sum p^2) of each row of class counts."""
    n = rows.sum(axis=1).astype(np.float64)
    squares = _column_sum(rows.astype(np.float64) ** 2)
    total: Floats = n - np.divide(squares, n, out=np.zeros_like(n), where=n > 0)
    return total


def total_variance(rows: Counts) -> Floats:
    """Return the sum of squares around the mean of each row (weight, sum, sum of squares)."""
    n, total, squares = rows[:, 0], rows[:, 1], rows[:, 2]
    explained = np.divide(total * total, n, out=np.zeros_like(total), where=n > 0)
    around_mean: Floats = np.maximum(squares - explained, 0.0)
    return around_mean


class Criterion(Protocol):
    """Scores splits by their tables; higher is better."""

    @property
    def name(self) -> str:
        """The name in a recipe."""

    def of_table(self, counts: Counts) -> float:
        """Score one table of branches x statistics."""

    def of_cuts(self, left: Counts, right: Counts) -> Floats:
        """Score binary tables, given by their left and right rows."""


@dataclass(frozen=True)
class Decrease:
    """The decrease of an impurity per case, as a criterion."""

    name: str
    total: Callable[[Counts], Floats]

    def of_table(self, counts: Counts) -> float:
        """Return the decrease from the whole table to its branches."""
        after = 0.0
        for part in self.total(counts).tolist():
            after += part
        return float(self._decrease(counts.sum(axis=0, keepdims=True), np.array([after]))[0])

    def of_cuts(self, left: Counts, right: Counts) -> Floats:
        """Return the decrease for each pair of a left and a right row."""
        return self._decrease(left[:1] + right[:1], self.total(left) + self.total(right))

    def _decrease(self, whole: Counts, after: Floats) -> Floats:
        """Return the decrease per case from a row of sums to the totals after splits."""
        if self.total is total_variance:
            weight, added_up = float(whole[0, 0]), float(whole[0, 2])
        else:
            weight = added_up = float(whole.sum())
        if weight <= 0:
            return np.zeros_like(after)
        before = float(self.total(whole)[0])
        decrease = before - after
        # Rounding errors become an exact zero, so that a split without gain is one on every engine.
        rounding = CLEAN * before + ROUNDING * added_up
        cleaned: Floats = np.where(np.abs(decrease) <= rounding, 0.0, decrease) / weight
        return cleaned


@dataclass(frozen=True)
class ChiSquareStatistic:
    """Pearson's chi-square statistic of the table, as a criterion."""

    name: str = "chi2"

    def of_table(self, counts: Counts) -> float:
        """Return Pearson's statistic of the table."""
        return _beyond_rounding(chi_square_statistic(counts), float(counts.sum()))

    def of_cuts(self, left: Counts, right: Counts) -> Floats:
        """Return Pearson's statistic of each binary table."""
        return np.array([self.of_table(np.stack(pair)) for pair in zip(left, right, strict=True)])


ENTROPY = Decrease("entropy", total_entropy)
GINI = Decrease("gini", total_gini)
VARIANCE = Decrease("variance", total_variance)
CHI_SQUARE = ChiSquareStatistic()

CRITERIA: dict[str, Criterion] = {
    "entropy": ENTROPY,
    "gain": ENTROPY,
    "gain_ratio": ENTROPY,  # the rule of choice computes the ratio after the gains of all attributes are known
    "gini": GINI,
    "chi2": CHI_SQUARE,
    "variance": VARIANCE,
}
"""Criteria by the name that recipes use."""


def criterion_named(name: str) -> Criterion:
    """Return a criterion by name."""
    if name not in CRITERIA:
        raise ParameterError(
            f"criterion must be one of {', '.join(CRITERIA)}, not {name!r}{did_you_mean(str(name), CRITERIA)}"
        )
    return CRITERIA[name]


# -- the textbook quantities of one table ----------------------------------------------------------------------------


def entropy(counts: Counts) -> float:
    """Return the entropy of class counts, in bits.

    Examples
    --------
    >>> round(entropy(np.array([9, 5])), 3)
    0.94
    """
    n = float(counts.sum())
    return float(total_entropy(counts[None, :])[0]) / n if n > 0 else 0.0


def gini(counts: Counts) -> float:
    """Return the Gini index of class counts.

    Examples
    --------
    >>> round(gini(np.array([4, 5, 15])), 4)
    0.5382
    """
    n = float(counts.sum())
    return float(total_gini(counts[None, :])[0]) / n if n > 0 else 0.0


def remainder(counts: Counts) -> float:
    """Return the mean entropy after the split (R(S, A), E_new).

    Examples
    --------
    >>> round(remainder(np.array([[0, 2], [4, 0], [2, 4]])), 3)
    0.459
    """
    n = float(counts.sum())
    return float(sum(total_entropy(counts).tolist())) / n if n > 0 else 0.0


def information_gain(counts: Counts, unknown: Counts | None = None) -> float:
    """Return the information gain of a table, times the share of known values.

    Examples
    --------
    >>> round(information_gain(np.array([[3, 4], [6, 1]])), 4)
    0.1518
    """
    gain = ENTROPY.of_table(counts)
    if unknown is None:
        return gain
    known = float(counts.sum())
    return gain * known / (known + float(unknown.sum())) if known > 0 else 0.0


def split_information(counts: Counts, unknown: Counts | None = None) -> float:
    """Return the entropy of the branches themselves; unknown counts as one more branch.

    Examples
    --------
    >>> split_information(np.array([[16], [8], [8]]))
    1.5
    """
    branches = counts.sum(axis=1)
    if unknown is not None and unknown.sum() > 0:
        branches = np.concatenate((unknown.sum(keepdims=True), branches))
    return entropy(branches)


def gain_ratio(counts: Counts, unknown: Counts | None = None) -> float:
    """Return gain divided by split information, 0 where the latter is 0.

    Examples
    --------
    >>> round(gain_ratio(np.array([[2, 3], [4, 0], [3, 2]])), 3)
    0.156
    """
    information = split_information(counts, unknown)
    return information_gain(counts, unknown) / information if information > 0 else 0.0


def gini_decrease(counts: Counts) -> float:
    """Return the decrease of the Gini index by a split.

    Examples
    --------
    >>> round(gini_decrease(np.array([[2, 3], [4, 0], [3, 2]])), 4)
    0.1163
    """
    return GINI.of_table(counts)


def variance_decrease(moments: Counts) -> float:
    """Return the decrease of the variance by a split; columns are weight, sum and sum of squares.

    Examples
    --------
    >>> variance_decrease(np.array([[2.0, 2.0, 2.0], [2.0, 6.0, 18.0]]))
    1.0
    """
    return VARIANCE.of_table(moments)


class PearsonStatistic(NamedTuple):
    """Pearson's statistic with its degrees of freedom and upper tail."""

    statistic: float
    df: int
    p: float


def chi_square_statistic(counts: Counts) -> float:
    """Return Pearson's statistic over the rows and columns that are not empty, added up cell by cell."""
    observed = _non_empty(counts).astype(np.float64)
    if not observed.size:
        return 0.0
    expected = expected_counts(observed)
    statistic = 0.0
    for part in ((observed - expected) ** 2 / expected).ravel().tolist():
        statistic += part
    return statistic


def _beyond_rounding(statistic: float, weight: float) -> float:
    """Return a statistic, or 0 if it is a rounding error, as where all cases have one class."""
    return statistic if statistic > ROUNDING * weight else 0.0


def expected_counts(observed: Counts) -> Floats:
    """Return the expected counts under independence: row sum times column sum divided by the total.

    Examples
    --------
    >>> float(expected_counts(np.array([[27, 281], [73, 619]]))[0, 0])
    30.8
    """
    n = observed.sum()
    expected: Floats = observed.sum(axis=1, keepdims=True) * observed.sum(axis=0, keepdims=True) / n
    return expected


def chi_square(counts: Counts) -> PearsonStatistic:
    """Return Pearson's statistic, its degrees of freedom (v - 1)(k - 1) and its p-value.

    Examples
    --------
    >>> result = chi_square(np.array([[10, 0], [0, 10]]))
    >>> result.statistic, result.df, f"{result.p:.3e}"
    (20.0, 1, '7.744e-06')
    """
    from scipy.special import chdtrc

    rows, columns = _non_empty(counts).shape
    df = max(rows - 1, 0) * max(columns - 1, 0)
    statistic = chi_square_statistic(counts)
    return PearsonStatistic(statistic, df, float(chdtrc(df, statistic)) if df else 1.0)


def _non_empty(counts: Counts) -> Counts:
    kept: Counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    return kept


CriterionFunction = Callable[[Floats], float]
"""Takes branches x classes, returns a score."""

Scan = Callable[[Floats, Floats], Floats]
"""Scores many tables of two branches, given by their left and right rows."""

OWN = "own"
"""Name of every custom criterion in a recipe, whatever the name of its function."""

LEAST_SCORE = 1e-12
"""A score must be greater; anything below is a zero with a rounding error."""

RESCORED_SHARE = 1e-6
"""Splits within this share of the best score are scored again by the plain Python function."""


@dataclass(frozen=True)
class OwnCriterion:
    """A user's function as a criterion.

    Parameters
    ----------
    name : str
        Name of the function.
    function : callable or None
        None if only the name is known, from a loaded model.
    scan : callable or None
        The compiled form, which scores many tables at once.

    Examples
    --------
    >>> def purity(table):
    ...     return sum(max(row) for row in table) / table.sum()
    >>> own_criterion(purity).of_table(np.array([[3, 1], [0, 4]]))
    0.875
    """

    name: str
    function: CriterionFunction | None = None
    scan: Scan | None = field(default=None, compare=False)

    def of_table(self, counts: Counts) -> float:
        """Return the score of one table; minus infinity rejects the split."""
        if self.function is None:
            raise ParameterError(
                f"the criterion {self.name!r} is a custom function, and the model stores only its name: "
                "new splits cannot be scored"
            )
        table = np.array(counts, dtype=np.float64, order="C")
        table.flags.writeable = False
        try:
            with np.errstate(all="ignore"):
                score = self.function(table)
        except Exception as error:
            hint = " (it must not change the table that it gets)" if "read-only" in str(error) else ""
            raise ParameterError(
                f"the criterion {self.name!r} failed on the table {_shown(table)}: "
                f"{type(error).__name__}: {error}{hint}"
            ) from error
        if not isinstance(score, (int, float, np.integer, np.floating, np.bool_)):
            raise ParameterError(
                f"the criterion {self.name!r} must return a number, and returned {score!r:.60} "
                f"for the table {_shown(table)}"
            )
        return float(score) if LEAST_SCORE < score < np.inf else -np.inf

    def of_cuts(self, left: Counts, right: Counts) -> Floats:
        """Score many binary tables; those far below the best keep the score of the compiled form."""
        if self.scan is None:
            scores, rescored = np.empty(len(left)), np.arange(len(left))
        else:
            scores = self._scanned(self.scan, left, right)
            finite = np.isfinite(scores)
            best = scores.max(initial=-np.inf, where=finite)
            rescored = np.flatnonzero(~finite | (scores >= best - RESCORED_SHARE * abs(best)))
        for index in rescored.tolist():
            scores[index] = self.of_table(np.stack((left[index], right[index])))
        scores[~(scores > LEAST_SCORE)] = -np.inf
        return scores

    def _scanned(self, scan: Scan, left: Counts, right: Counts) -> Floats:
        rows = (np.ascontiguousarray(side, dtype=np.float64) for side in (left, right))
        try:
            with np.errstate(all="ignore"):
                return scan(*rows)
        except Exception as error:
            raise ParameterError(
                f"the criterion {self.name!r} failed in compiled form: {type(error).__name__}: {error}"
            ) from error


def own_criterion(function: CriterionFunction) -> OwnCriterion:
    """Return a function as a criterion; raise if it does not take exactly one argument.

    Examples
    --------
    >>> own_criterion(lambda left, right: 0.0)
    Traceback (most recent call last):
    ...
    treewright.errors.ParameterError: the criterion '<lambda>' must be a function of one argument, ...
    """
    name = str(getattr(function, "__name__", None) or type(function).__name__)
    try:
        inspect.signature(function).bind(None)
    except TypeError as error:
        raise ParameterError(
            f"the criterion {name!r} must be a function of one argument, the table of branches x classes: {error}"
        ) from error
    except ValueError:  # some functions written in C have no signature: an error shows when they are called
        return OwnCriterion(name, function)
    return OwnCriterion(name, function)


def named_or_own(criterion: str | CriterionFunction) -> dict[str, Any]:
    """Return the criterion fields of a recipe: the name of a built-in criterion, or a custom one.

    Examples
    --------
    >>> named_or_own("gini"), sorted(named_or_own(len))
    ({'criterion': 'gini'}, ['criterion', 'own'])
    """
    return {"criterion": OWN, "own": own_criterion(criterion)} if callable(criterion) else {"criterion": criterion}


def _shown(table: Floats) -> str:
    """Return a table as shortened text for a message."""
    text = str([[float(f"{cell:.6g}") for cell in row] for row in table[:6].tolist()])
    return text if len(text) <= 200 else f"{text[:200]}..."
