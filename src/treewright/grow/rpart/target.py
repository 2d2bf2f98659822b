"""What rpart predicts, and what a node of its tree is worth: altered weights, outcomes, risks.

Vocabulary
----------
prior
    Share that a class is taken to have where the tree will be used; without saying, its share of the cases.
loss
    ``loss[i][j]`` is the cost of calling a case of class i a j.
altered weight
    Weight of a case in the search for splits: classes that are dear to miss, or more frequent by their prior than in
    the data, weigh more.
risk weight
    Weight of a case in the risk of a node: prior over share.
risk
    What a node would cost as a leaf: expected loss, or squared differences from the mean.

Invariants
----------
Classes without cases do not take part: they are left out before anything is counted, and only the finished nodes speak
of them again. Both weights of a class belong to all cases and stay the same in every node and in cross-validation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from treewright._base.errors import ParameterError
from treewright.grow.rpart.options import Matrix
from treewright.grow.rpart.order import Floats, Rows


@dataclass(frozen=True)
class NodeValue:
    """What a node says and costs.

    Parameters
    ----------
    weight : float
    outcome : int or float
        Class (declared number) or mean.
    risk : float
    counts : array
        Weight of each declared class; empty for regression.
    """

    weight: float
    outcome: int | float
    risk: float
    counts: Floats


@dataclass(frozen=True)
class ClassTarget:
    """Classes to be predicted.

    Parameters
    ----------
    classes : array of int
        Class of each case among the occurring ones.
    weights : array of float
        Case weights.
    occurring : array of int
        Declared number of each occurring class.
    n_declared : int
    altered, risk_weights : array of float
        One number for each occurring class.
    loss : array
        Between occurring classes.
    """

    classes: Rows
    weights: Floats
    occurring: Rows
    n_declared: int
    altered: Floats
    risk_weights: Floats
    loss: Floats

    @classmethod
    def of(
        cls,
        codes: npt.NDArray[np.int32],
        weights: Floats,
        n_declared: int,
        priors: tuple[float, ...] | None,
        loss: Matrix | None,
    ) -> ClassTarget:
        """Work out the weights of the classes from all cases."""
        _check_sizes(n_declared, priors, loss)
        totals = np.bincount(codes, weights=weights, minlength=n_declared)
        occurring = np.flatnonzero(totals)
        k = len(occurring)
        shares = totals[occurring] / totals.sum()
        prior = shares
        if priors is not None:
            prior = np.array(priors, dtype=np.float64)[occurring]
            if prior.sum() == 0:
                raise ParameterError("priors are positive only for classes without cases")
            if k < n_declared:
                prior = prior / prior.sum()
        costs = np.ones((k, k)) - np.eye(k)
        if loss is not None:
            costs = np.array(loss, dtype=np.float64)[np.ix_(occurring, occurring)]
        weighted = costs * prior[:, np.newaxis]
        total = float(np.cumsum(weighted)[-1])
        altered = np.cumsum(weighted, axis=1)[:, -1] / (total * shares) if total > 0 else np.ones(k)
        return cls(np.searchsorted(occurring, codes), weights, occurring, n_declared, altered, prior / shares, costs)

    @property
    def n_classes(self) -> int:
        """How many classes occur."""
        return len(self.occurring)

    @cached_property
    def has_exact_sums(self) -> bool:
        """Whether every sum that the search makes is one of whole numbers."""
        return bool(np.all(self.altered == 1.0) and np.all(self.weights == np.floor(self.weights)))

    def value(self, rows: Rows) -> NodeValue:
        """Return what these cases make of a node: the class with the smallest loss, the first of equals."""
        counts = np.bincount(self.classes[rows], weights=self.weights[rows], minlength=self.n_classes)
        losses = np.cumsum(counts[:, np.newaxis] * self.loss * self.risk_weights[:, np.newaxis], axis=0)[-1]
        best = int(np.argmin(losses))
        declared = np.zeros(self.n_declared)
        declared[self.occurring] = counts
        return NodeValue(float(counts.sum()), int(self.occurring[best]), float(losses[best]), declared)

    def errors(self, rows: Rows, outcomes: Floats, *, transposed: bool) -> Floats:
        """Return what it costs to have said these (declared) classes of these cases, without their weights."""
        true, said = self.classes[rows], np.searchsorted(self.occurring, outcomes.astype(np.intp))
        losses = self.loss[said, true] if transposed else self.loss[true, said]
        costs: Floats = losses * self.risk_weights[true]
        return costs


@dataclass(frozen=True)
class NumberTarget:
    """Numbers to be predicted, and the case weights.

    Parameters
    ----------
    numbers, weights : array of float
    equal_is_pure : bool
        Whether a node of equal numbers has no risk. In rpart it may have some, since their mean is rounded, and is even
        divided if cp is 0.
    """

    numbers: Floats
    weights: Floats
    equal_is_pure: bool = True

    @property
    def has_exact_sums(self) -> bool:
        """Never: deviations from a mean are seldom whole."""
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


def _check_sizes(n_declared: int, priors: tuple[float, ...] | None, loss: Matrix | None) -> None:
    if priors is not None and len(priors) != n_declared:
        raise ParameterError(f"priors must be {n_declared} numbers, one per declared class, not {len(priors)}")
    if loss is not None and len(loss) != n_declared:
        raise ParameterError(f"loss must have {n_declared} rows, one per declared class, not {len(loss)}")
