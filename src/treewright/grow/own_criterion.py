"""A custom criterion: a user's function from a table of counts to a score.

The function gets the table of a split, a row for each branch and a column for each class (doubles, read-only, classes
in the order of the schema), and returns a number: the greater, the better the split. A score of at most `LEAST_SCORE`
or a non-finite score rejects the split.

The plain Python function decides. The compiled engine compiles the function, too, and scans all cuts and all subsets of
categories with the compiled form. Splits that score close to the best, and those that the compiled form cannot score,
are scored again by the plain function. So a tree does not depend on how a compiler rounds.

A model stores only the name of the function. A loaded model reports the stored scores but cannot score new splits.
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
            scores, doubtful = np.empty(len(left)), np.arange(len(left))
        else:
            scores = self._scanned(self.scan, left, right)
            finite = np.isfinite(scores)
            best = scores.max(initial=-np.inf, where=finite)
            doubtful = np.flatnonzero(~finite | (scores >= best - RESCORED_SHARE * abs(best)))
        for place in doubtful.tolist():
            scores[place] = self.of_table(np.stack((left[place], right[place])))
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
    treewright._base.errors.ParameterError: the criterion '<lambda>' must be a function of one argument, ...
    """
    name = str(getattr(function, "__name__", None) or type(function).__name__)
    try:
        inspect.signature(function).bind(None)
    except TypeError as error:
        raise ParameterError(
            f"the criterion {name!r} must be a function of one argument, the table of branches x classes: {error}"
        ) from error
    except ValueError:  # some functions written in C have no signature; calling them shows
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
