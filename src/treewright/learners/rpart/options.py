"""The options of rpart."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from treewright.errors import ParameterError
from treewright.parameters import check_flag, check_whole_number

CRITERIA = ("gini", "information", "variance")

Matrix = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Rpart:
    """The options of rpart.

    Parameters
    ----------
    criterion : {"gini", "information", "variance"}, default "gini"
        Impurity measure; a numeric target needs "variance", classes one of the others.
    min_split : int, default 20
        Least number of cases of a node to be split.
    min_bucket : int or None
        Least number of cases of both branches; None means a third of `min_split`.
    cp : float, default 0.01
        Complexity parameter: least risk decrease of each split, as a share of the root's risk.
    max_depth : int or None, default 30
        Greatest depth of a node, the root having depth 0; None sets no limit.
    competitors : int, default 4
        Number of competitor splits that are reported.
    max_surrogates : int, default 5
        Most surrogates of a split.
    priors : tuple of float or None
        Prior probability of each class; None takes the class shares in the data.
    loss : tuple of tuples of float or None
        Cost of predicting class j (column) for a case of class i (row); None means 1 for every error.
    faults : bool, default False
        Reproduce the quirks of the program: nominal surrogates are rejected unless two cases disagree; without
        surrogates, cases with a missing value stay in the node while growing; in cross-validation losses are
        transposed, cases that neither side takes go right, and a tree without splits is not assessed; equal targets may
        have a risk caused by rounding. A value equal to a threshold then goes right, as in rpart; otherwise left, as
        elsewhere in Treewright.

    Examples
    --------
    >>> Rpart().least_bucket, Rpart(min_split=2).least_bucket
    (7, 1)
    """

    criterion: Literal["gini", "information", "variance"] = "gini"
    min_split: int = 20
    min_bucket: int | None = None
    cp: float = 0.01
    max_depth: int | None = 30
    competitors: int = 4
    max_surrogates: int = 5
    priors: tuple[float, ...] | None = None
    loss: Matrix | None = None
    faults: bool = False

    def __post_init__(self) -> None:
        if self.criterion not in CRITERIA:
            allowed = ", ".join(map(repr, CRITERIA))
            raise ParameterError(f"criterion must be one of {allowed}, not {self.criterion!r}")
        limits = {"min_split": 1, "min_bucket": 1, "max_depth": 0, "competitors": 0, "max_surrogates": 0}
        for name, least in limits.items():
            value = getattr(self, name)
            if value is not None or name not in ("min_bucket", "max_depth"):
                check_whole_number(name, value, least)
        if not _is_amount(self.cp):
            raise ParameterError(f"cp must be a number of at least 0, not {self.cp!r}")
        check_flag("faults", self.faults)
        if self.priors is not None:
            self._check_priors(self.priors)
        if self.loss is not None:
            self._check_loss(self.loss)

    def _check_priors(self, priors: tuple[float, ...]) -> None:
        if self.criterion == "variance":
            raise ParameterError("priors are for classification; a numeric target has none")
        if not isinstance(priors, tuple) or not all(_is_amount(prior) for prior in priors):
            raise ParameterError(f"priors must be a tuple of numbers of at least 0, not {priors!r:.80}")
        if not math.isclose(sum(priors), 1.0, abs_tol=1e-6):
            raise ParameterError(f"priors must sum to 1, not to {sum(priors)!r}")

    def _check_loss(self, loss: Matrix) -> None:
        if self.criterion == "variance":
            raise ParameterError("losses are for classification; a numeric target has none")
        if (
            not isinstance(loss, tuple)
            or not all(isinstance(row, tuple) and len(row) == len(loss) for row in loss)
            or not all(_is_amount(cost) for row in loss for cost in row)
        ):
            raise ParameterError(f"loss must be a square tuple of tuples of numbers of at least 0, not {loss!r:.80}")
        if any(row[index] != 0 for index, row in enumerate(loss)):
            raise ParameterError("loss must be 0 on the diagonal: a correct prediction costs nothing")
        if not all(any(row) for row in loss):
            raise ParameterError("loss must have a positive number in every row")

    @property
    def least_bucket(self) -> int:
        """Least number of cases of both branches."""
        return max(1, round(self.min_split / 3)) if self.min_bucket is None else int(self.min_bucket)


def _is_amount(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        return False
    return bool(math.isfinite(value) and value >= 0)
