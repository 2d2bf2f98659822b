"""Misclassification costs, and the decision threshold of two classes with the lowest cost.

Row i, column j of the cost matrix is the cost of predicting class j for a case of class i; costs that are not given
are 1, and 0 for correct predictions. With two classes the second is predicted when its probability is at least the
threshold. The fair threshold follows from the costs alone and is optimal for true probabilities (Elkan 2001). The best
threshold has the lowest cost on these same cases, so its cost is slightly optimistic.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright._base.errors import ParameterError
from treewright.evaluate.result import Floats, shown_name
from treewright.model.model import LARGEST_COST


@dataclass(frozen=True)
class BestThreshold:
    """Where two classes cost least; `threshold` is None where the second is best never said."""

    positive: str
    threshold: float | None
    cost: float
    fair_threshold: float | None
    fair_cost: float | None


@dataclass(frozen=True)
class CostReport:
    """Mean cost of a case, in all and beside the class that costs least when it is always said."""

    costs: tuple[tuple[float, ...], ...]
    mean: float
    total: float
    baseline: float
    baseline_class: str
    best: BestThreshold | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self) | {"costs": [list(row) for row in self.costs]}

    def lines(self) -> list[str]:
        """Return the sentences that a report says of the costs."""
        lines = [
            f"Cost {self.mean:.4g} per case, {self.total:.6g} in total; "
            f'always predicting "{shown_name(self.baseline_class)}" costs {self.baseline:.4g}.'
        ]
        best = self.best
        if best is not None:
            where = "never" if best.threshold is None else f"when its probability is at least {best.threshold:.4g}"
            lines.append(f'Lowest cost {best.cost:.4g}: predict "{shown_name(best.positive)}" {where}.')
            if best.fair_threshold is not None and best.fair_cost is not None:
                told = f"{best.fair_threshold:.4g}: cost {best.fair_cost:.4g}"
                lines.append(f"The cost matrix alone implies the threshold {told}.")
        return lines


def cost_table(costs: Any, classes: tuple[str, ...]) -> Floats:
    """Return costs, given as a table or as ``{(true, said): cost}``, as an array.

    Examples
    --------
    >>> cost_table({("sick", "well"): 5}, ("sick", "well")).tolist()
    [[0.0, 5.0], [1.0, 0.0]]
    """
    from treewright.plans import costs_from

    try:
        table = costs_from(costs, list(classes)) or ()
    except ParameterError:
        raise
    except (TypeError, ValueError) as error:
        raise ParameterError(f"costs must be numbers: {error}") from error
    k = len(classes)
    if len(table) != k or any(len(row) != k for row in table):
        raise ParameterError(f"costs must be a table of {k} rows and {k} columns, one for each class")
    array = np.array(table, dtype=np.float64)
    if not np.all((array >= 0) & (array <= LARGEST_COST)):
        raise ParameterError(f"costs must be numbers from 0 to {LARGEST_COST:g}")
    return array


def cost_report(
    table: Floats,
    confusion: Floats,
    classes: tuple[str, ...],
    is_second: npt.NDArray[np.bool_],
    scores: Floats | None,
    weights: Floats,
) -> CostReport:
    """Count the costs; with scores of the second of two classes, look for the best threshold too.

    Examples
    --------
    >>> told = cost_report(np.array([[0.0, 5.0], [1.0, 0.0]]), np.array([[3.0, 1.0], [2.0, 4.0]]), ("sick", "well"),
    ...                    np.array([False, True]), None, np.ones(2))
    >>> told.total, told.mean, told.baseline_class
    (7.0, 0.7, 'sick')
    """
    weight = float(confusion.sum())
    total = float((table * confusion).sum())
    always = confusion.sum(axis=1) @ table / weight
    cheapest = int(np.argmin(always))
    best = None
    if scores is not None and len(classes) == 2:
        best = _best_threshold(table, classes[1], is_second, scores, weights)
    return CostReport(
        tuple(tuple(row) for row in table.tolist()),
        total / weight,
        total,
        float(always[cheapest]),
        classes[cheapest],
        best,
    )


def _best_threshold(
    table: Floats, positive: str, is_second: npt.NDArray[np.bool_], scores: Floats, weights: Floats
) -> BestThreshold:
    """Try every score: with k cases at or above it said to be of the second class, the rest of the first."""
    values, group = np.unique(scores, return_inverse=True)
    truth = is_second.astype(np.intp)
    said_first = np.bincount(group, weights * table[truth, 0], len(values))
    said_second = np.bincount(group, weights * table[truth, 1], len(values))
    # Place i: the scores from values[i] on are said to be of the second class; the last place: none is.
    below = np.concatenate(([0.0], np.cumsum(said_first)))
    above = np.concatenate((np.cumsum(said_second[::-1])[::-1], [0.0]))
    costs = (below + above) / weights.sum()
    place = len(costs) - 1 - int(np.argmin(costs[::-1]))  # of equal costs the highest threshold
    fair = fair_threshold(table)
    fair_cost = None if fair is None else float(costs[int(np.searchsorted(values, fair))])
    return BestThreshold(
        positive, None if place == len(values) else float(values[place]), float(costs[place]), fair, fair_cost
    )


def fair_threshold(table: Floats) -> float | None:
    """Return the threshold that is best if probabilities are true; None where a mistake costs no more than the truth.

    Examples
    --------
    >>> round(fair_threshold(np.array([[0.0, 5.0], [1.0, 0.0]])), 3), fair_threshold(np.zeros((2, 2)))
    (0.833, None)
    """
    false_second = float(table[0, 1] - table[0, 0])
    false_first = float(table[1, 0] - table[1, 1])
    if false_second <= 0 or false_first <= 0:
        return None
    return false_second / (false_second + false_first)
