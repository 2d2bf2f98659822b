"""The cases of rpart's nodes in rpart's order of summation; outcome and risk of a node.

The cases of a node are kept in the orders in which rpart adds them up. Invariants: the last bit of a sum of doubles
depends on the order of its terms, and that bit decides exact ties between splits. The sort is therefore rpart's own,
unstable one: which of two equal values comes first affects the result. In the orders that are searched for thresholds,
cases with a missing value come last; in the first order they are sorted as zero.

The targets give a node its outcome, its risk and the altered priors. Invariants: classes without cases are left out
before anything is counted; only finished nodes list them again, with weight 0. Both weights of a class are computed
from all cases and stay the same in every node and in cross-validation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.errors import ParameterError
from treewright.learners.rpart.options import Matrix

Rows = npt.NDArray[np.intp]
Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]
Sides = npt.NDArray[np.int8]

INSERTION = 11
"""Up to so many elements are sorted by insertion."""

LEFT, RIGHT, NEITHER = 0, 1, -1
"""The branches of a node in rpart's sense, and no branch."""


def quicksort_order(values: Floats) -> Rows:
    """Return the order in which rpart's quicksort leaves these values (no NaN).

    Examples
    --------
    >>> quicksort_order(np.array([3.0, 1.0, 2.0])).tolist()
    [1, 2, 0]
    >>> quicksort_order(np.array([0.0] * 6 + [1.0] * 6)).tolist() == list(range(12))
    True
    >>> quicksort_order(np.array([2.0, 1.0] * 6)).tolist()
    [11, 1, 7, 3, 5, 9, 4, 6, 2, 8, 10, 0]
    """
    stable = np.argsort(values, kind="stable")
    ordered = values[stable]
    if not np.any(ordered[1:] == ordered[:-1]):
        return stable  # without equal values every sort gives the same
    key: list[float] = values.tolist()
    row = list(range(len(key)))
    waiting = [(0, len(key) - 1)]
    while waiting:
        start, stop = waiting.pop()
        if stop - start < INSERTION:
            _insertion(key, row, start, stop)
            continue
        low, high = _partition(key, row, start, stop)
        if start < low:
            waiting.append((start, low))
        if high < stop:
            waiting.append((high, stop))
    return np.array(row, dtype=np.intp)


def _insertion(key: list[float], row: list[int], start: int, stop: int) -> None:
    for position in range(start + 1, stop + 1):
        value, number = key[position], row[position]
        free = position
        while free > start and key[free - 1] > value:
            key[free], row[free] = key[free - 1], row[free - 1]
            free -= 1
        key[free], row[free] = value, number


def _partition(key: list[float], row: list[int], start: int, stop: int) -> tuple[int, int]:
    """Partition a range around a pivot; return the end of the lower part and the start of the higher one."""
    pivot = sorted((key[start], key[(start + stop) // 2], key[stop]))[1]
    low, high = start, stop
    while low < high:
        while key[low] < pivot:
            low += 1
        while key[high] > pivot:
            high -= 1
        if low < high:
            if key[low] > key[high]:
                key[low], key[high] = key[high], key[low]
                row[low], row[high] = row[high], row[low]
            low += 1
            high -= 1
    while low > start and key[low] >= pivot:
        low -= 1
    while high < stop and key[high] <= pivot:
        high += 1
    return low, high


@dataclass(frozen=True)
class RpartTable:
    """All cases, arranged for evaluating many attributes at once.

    Parameters
    ----------
    numeric, nominal : tuple of int
        The attributes of either sort.
    values : array, numeric attributes x cases
    codes : array, nominal attributes x cases
        Indices into one list of all categories of all nominal attributes; the last index of an attribute means missing.
    level_start : array of int
        Where the categories of each nominal attribute start in that list; one entry more than attributes.
    has_missing : bool
        Whether a numeric value is missing anywhere.
    """

    numeric: tuple[int, ...]
    nominal: tuple[int, ...]
    values: Floats
    codes: Rows
    level_start: Rows
    has_missing: bool

    @classmethod
    def of(cls, dataset: Dataset) -> RpartTable:
        """Arrange the attributes of a dataset."""
        attributes = dataset.schema.attributes
        numeric = tuple(index for index, column in enumerate(attributes) if column.is_numeric)
        nominal = tuple(index for index, column in enumerate(attributes) if not column.is_numeric)
        values = np.empty((len(numeric), dataset.n_rows))
        for row, index in enumerate(numeric):
            values[row] = dataset.columns[index]
        widths = [len(attributes[index].values) + 1 for index in nominal]
        level_start = np.concatenate(([0], np.cumsum(widths, dtype=np.intp))).astype(np.intp)
        codes = np.empty((len(nominal), dataset.n_rows), dtype=np.intp)
        for row, index in enumerate(nominal):
            column = dataset.columns[index]
            codes[row] = level_start[row] + np.where(column < 0, widths[row] - 1, column)
        return cls(numeric, nominal, values, codes, level_start, bool(np.isnan(values).any()))

    def levels(self, row: int) -> slice:
        """Return the indices of the categories of one nominal attribute, without the index for missing."""
        return slice(int(self.level_start[row]), int(self.level_start[row + 1]) - 1)

    def all_cases(self, *, exact_sums: bool) -> RpartCases:
        """Return all cases, sorted by each attribute.

        If all sums are of whole numbers (`exact_sums`), their order has no effect, and the faster sort is used.
        """
        n = self.values.shape[1] if self.numeric else self.codes.shape[1]
        rows = np.arange(n, dtype=np.intp)
        orders = np.empty(self.values.shape, dtype=np.intp)
        known = np.empty(len(self.numeric), dtype=np.intp)
        first = rows
        for row, index in enumerate(self.numeric):
            missing = np.isnan(self.values[row])
            keys = np.where(missing, 0.0, self.values[row])
            order = np.argsort(keys, kind="stable") if exact_sums else quicksort_order(keys)
            if index == 0:
                first = order
            known[row] = n - np.count_nonzero(missing)
            orders[row] = np.concatenate((order[~missing[order]], order[missing[order]]))
        return RpartCases(rows, first, orders, known)


@dataclass(frozen=True)
class RpartCases:
    """The cases of one node.

    Parameters
    ----------
    rows : array of int
        In file order.
    first : array of int
        The same rows in first order.
    orders : array of int, numeric attributes x cases
        The same rows sorted by each numeric attribute, those with a missing value last.
    known : array of int
        Number of cases with a known value, for each numeric attribute.
    """

    rows: Rows
    first: Rows
    orders: Rows
    known: Rows

    def __len__(self) -> int:
        return len(self.rows)

    def on(self, side: int, sides: Sides) -> RpartCases:
        """Return the cases on one side, with all orders kept; `sides` has the side of every row of the table."""
        rows = self.rows[sides[self.rows] == side]
        first = rows if self.first is self.rows else self.first[sides[self.first] == side]
        mask = sides[self.orders] == side
        orders = self.orders[mask].reshape(len(self.orders), len(rows))
        if np.all(self.known == len(self.rows)):
            known = np.full(len(self.known), len(rows), dtype=np.intp)
        else:
            known = np.count_nonzero(mask & (np.arange(len(self.rows)) < self.known[:, np.newaxis]), axis=1)
        return RpartCases(rows, first, orders, known)


@dataclass(frozen=True)
class NodeValue:
    """Outcome and risk of a node.

    Parameters
    ----------
    weight : float
    outcome : int or float
        Class index in class order, or mean.
    risk : float
    counts : array
        Weight of each class in class order; empty for regression.
    """

    weight: float
    outcome: int | float
    risk: float
    counts: Floats


@dataclass(frozen=True)
class ClassTarget:
    """A target of classes.

    Parameters
    ----------
    classes : array of int
        Class of each case, as an index into `occurring`.
    weights : array of float
        Case weights.
    occurring : array of int
        Index in class order of each class that has cases.
    n_schema_classes : int
    altered, risk_weights : array of float
        One number for each class that has cases.
    loss : array
        Between the classes that have cases.
    """

    classes: Rows
    weights: Floats
    occurring: Rows
    n_schema_classes: int
    altered: Floats
    risk_weights: Floats
    loss: Floats

    @classmethod
    def of(
        cls,
        codes: npt.NDArray[np.int32],
        weights: Floats,
        n_schema_classes: int,
        priors: tuple[float, ...] | None,
        loss: Matrix | None,
    ) -> ClassTarget:
        """Compute the weights of the classes from all cases."""
        _check_sizes(n_schema_classes, priors, loss)
        totals = np.bincount(codes, weights=weights, minlength=n_schema_classes)
        occurring = np.flatnonzero(totals)
        k = len(occurring)
        shares = totals[occurring] / totals.sum()
        prior = shares
        if priors is not None:
            prior = np.array(priors, dtype=np.float64)[occurring]
            if prior.sum() == 0:
                raise ParameterError("priors are positive only for classes without cases")
            if k < n_schema_classes:
                prior = prior / prior.sum()
        costs = np.ones((k, k)) - np.eye(k)
        if loss is not None:
            costs = np.array(loss, dtype=np.float64)[np.ix_(occurring, occurring)]
        weighted = costs * prior[:, np.newaxis]
        total = float(np.cumsum(weighted)[-1])
        altered = np.cumsum(weighted, axis=1)[:, -1] / (total * shares) if total > 0 else np.ones(k)
        return cls(
            np.searchsorted(occurring, codes), weights, occurring, n_schema_classes, altered, prior / shares, costs
        )

    @property
    def n_classes(self) -> int:
        """Number of classes that have cases."""
        return len(self.occurring)

    @cached_property
    def has_exact_sums(self) -> bool:
        """True if the search adds whole numbers only."""
        return bool(np.all(self.altered == 1.0) and np.all(self.weights == np.floor(self.weights)))

    def value(self, rows: Rows) -> NodeValue:
        """Return outcome and risk of a node with these cases: the class with the smallest loss, the first of equals."""
        counts = np.bincount(self.classes[rows], weights=self.weights[rows], minlength=self.n_classes)
        losses = np.cumsum(counts[:, np.newaxis] * self.loss * self.risk_weights[:, np.newaxis], axis=0)[-1]
        best = int(np.argmin(losses))
        schema_counts = np.zeros(self.n_schema_classes)
        schema_counts[self.occurring] = counts
        return NodeValue(float(counts.sum()), int(self.occurring[best]), float(losses[best]), schema_counts)

    def errors(self, rows: Rows, outcomes: Floats, *, transposed: bool) -> Floats:
        """Return the cost of predicting these classes (indices in class order), without case weights."""
        actual, predicted = self.classes[rows], np.searchsorted(self.occurring, outcomes.astype(np.intp))
        losses = self.loss[predicted, actual] if transposed else self.loss[actual, predicted]
        costs: Floats = losses * self.risk_weights[actual]
        return costs


@dataclass(frozen=True)
class NumberTarget:
    """A numeric target.

    Parameters
    ----------
    numbers, weights : array of float
    equal_is_pure : bool
        Whether a node of equal numbers has no risk. In rpart it may have a risk, since the mean is rounded, and is
        even split if cp is 0.
    """

    numbers: Floats
    weights: Floats
    equal_is_pure: bool = True

    @property
    def has_exact_sums(self) -> bool:
        """False: deviations from a mean are seldom whole numbers."""
        return False

    def value(self, rows: Rows) -> NodeValue:
        """Return the mean of these cases and their squared differences from it, summed in the order given."""
        numbers, weights = self.numbers[rows], self.weights[rows]
        weight = float(np.cumsum(weights)[-1])
        if self.equal_is_pure and numbers.min() == numbers.max():
            return NodeValue(weight, float(numbers[0]), 0.0, np.zeros(0))
        mean = float(np.cumsum(numbers * weights)[-1]) / weight
        away = numbers - mean
        return NodeValue(weight, mean, float(np.cumsum(away * away * weights)[-1]), np.zeros(0))

    def errors(self, rows: Rows, outcomes: Floats, *, transposed: bool) -> Floats:
        """Return the squared differences of these cases from the means; there are no losses to transpose."""
        away = self.numbers[rows] - outcomes
        squares: Floats = away * away
        return squares


Target = ClassTarget | NumberTarget


def _check_sizes(n_schema_classes: int, priors: tuple[float, ...] | None, loss: Matrix | None) -> None:
    if priors is not None and len(priors) != n_schema_classes:
        raise ParameterError(f"priors must be {n_schema_classes} numbers, one per class, not {len(priors)}")
    if loss is not None and len(loss) != n_schema_classes:
        raise ParameterError(f"loss must have {n_schema_classes} rows, one per class, not {len(loss)}")
