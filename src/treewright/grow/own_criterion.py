"""A criterion that the user wrote: a plain function from a table of counts to a score.

The function gets the table of a test, a row for each branch and a column for each class (doubles, read-only, classes in
the order of the schema), and returns a number: the greater, the better the test. A score of at most `LEAST`, or one
that is not finite, says that the test is none.

Plain Python decides. The compiled engine compiles the function too, and looks through all cuts and all divisions of
values by the compiled form; those that come near the best, and those that it cannot score, are scored once more by the
plain function. So a tree does not depend on how a compiler rounds.

A model keeps the name of the function only. A model that was loaded tells what the scores were, but cannot score
anything new.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright._base.errors import ParameterError
from treewright.counts.table import Counts

Floats = npt.NDArray[np.float64]

CriterionFunction = Callable[[Floats], float]
"""Takes branches x classes, returns a score."""

Scan = Callable[[Floats, Floats], Floats]
"""Scores many tables of two branches, given by their left and right rows."""

OWN = "own"
"""How recipes call a criterion of the user's, whatever the name of its function."""

LEAST = 1e-12
"""A score must be greater; less is the rounding of one that should be zero."""

RESCORED_SHARE = 1e-6
"""Splits within this share of the best score are scored again by the plain Python function."""


@dataclass(frozen=True)
class OwnCriterion:
    """The user's function as a criterion.

    Parameters
    ----------
    name : str
        Of the function.
    function : callable or None
        None where only the name is known, from a model.
    scan : callable or None
        The compiled form, for many tables at once.

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
        """Score one table; minus infinity where the test is none."""
        if self.function is None:
            raise ParameterError(
                f"the criterion {self.name!r} was a function of the user's, and a model keeps its name only: "
                "nothing can be counted again by it"
            )
        table = np.array(counts, dtype=np.float64, order="C")
        table.flags.writeable = False
        try:
            with np.errstate(all="ignore"):
                score = self.function(table)
        except Exception as error:
            hint = " (it must not change the table that it gets)" if "read-only" in str(error) else ""
            raise ParameterError(
                f"the criterion {self.name!r} failed on the table {_told(table)}: {type(error).__name__}: {error}{hint}"
            ) from error
        if not isinstance(score, (int, float, np.integer, np.floating, np.bool_)):
            raise ParameterError(
                f"the criterion {self.name!r} must return a number, and returned {score!r:.60} "
                f"for the table {_told(table)}"
            )
        return float(score) if LEAST < score < np.inf else -np.inf

    def of_cuts(self, left: Counts, right: Counts) -> Floats:
        """Score many binary tables; those that the compiled form puts far behind the best have its score."""
        if self.scan is None:
            scores, doubtful = np.empty(len(left)), np.arange(len(left))
        else:
            scores = self._scanned(self.scan, left, right)
            finite = np.isfinite(scores)
            best = scores.max(initial=-np.inf, where=finite)
            doubtful = np.flatnonzero(~finite | (scores >= best - RESCORED_SHARE * abs(best)))
        for place in doubtful.tolist():
            scores[place] = self.of_table(np.stack((left[place], right[place])))
        scores[~(scores > LEAST)] = -np.inf
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
    """Return a function as a criterion, or say why it is none.

    Examples
    --------
    >>> own_criterion(lambda left, right: 0.0)
    Traceback (most recent call last):
    ...
    treewright._base.errors.ParameterError: the criterion '<lambda>' must be a function of one argument, ...
    """
    name = str(getattr(function, "__name__", None) or type(function).__name__)
    try:
        inspect.signature(function).bind(None)
    except TypeError as error:
        raise ParameterError(
            f"the criterion {name!r} must be a function of one argument, the table of branches x classes: {error}"
        ) from error
    except ValueError:  # some functions written in C do not tell; calling them will
        return OwnCriterion(name, function)
    return OwnCriterion(name, function)


def named_or_own(criterion: str | CriterionFunction) -> dict[str, Any]:
    """Return what a recipe is told: the name of a criterion, or that it is the user's own, and which.

    Examples
    --------
    >>> named_or_own("gini"), sorted(named_or_own(len))
    ({'criterion': 'gini'}, ['criterion', 'own'])
    """
    return {"criterion": OWN, "own": own_criterion(criterion)} if callable(criterion) else {"criterion": criterion}


def _told(table: Floats) -> str:
    """Return a table for a message, shortened."""
    text = str([[float(f"{cell:.6g}") for cell in row] for row in table[:6].tolist()])
    return text if len(text) <= 200 else f"{text[:200]}..."
