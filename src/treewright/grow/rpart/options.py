"""The options of trees as rpart grows them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from treewright._base.errors import ParameterError

CRITERIA = ("gini", "information", "variance")

Matrix = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Rpart:
    """The options of rpart.

    Parameters
    ----------
    criterion : {"gini", "information", "variance"}, default "gini"
        What splits improve; a numeric target needs "variance", classes one of the others.
    min_split : int, default 20
        Cases that a node needs to be divided.
    min_bucket : int or None
        Cases that both branches need; None means a third of `min_split`.
    cp : float, default 0.01
        What each split must save, as a share of the root's risk.
    max_depth : int or None, default 30
        Greatest depth of a node, the root having depth 0; None sets no limit.
    competitors : int, default 4
        How many of the next best splits are reported.
    max_surrogates : int, default 5
        How many surrogates a split has at most.
    priors : tuple of float or None
        Share of each declared class where the tree will be used; None takes the shares in the data.
    loss : tuple of tuples of float or None
        Cost of calling a case of class i (row) a j (column); None means 1 for every error.
    faults : bool, default False
        Reproduce what is odd in the program: nominal surrogates are refused unless two cases disagree; without
        surrogates, cases with a missing value stay in the node while growing; in cross-validation losses are
        transposed, cases that no side claims go right, and a root alone is not assessed; equal numbers may have a risk
        by rounding. Also a number that is exactly a cut then goes with the higher ones, as in rpart; otherwise with the
        lower ones, as elsewhere in Treewright.

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
            if name in ("min_bucket", "max_depth") and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
                raise ParameterError(f"{name} must be a whole number of at least {least}, not {value!r}")
        if not _is_amount(self.cp):
            raise ParameterError(f"cp must be a number of at least 0, not {self.cp!r}")
        if not isinstance(self.faults, (bool, np.bool_)):
            raise ParameterError(f"faults must be True or False, not {self.faults!r}")
        if self.priors is not None:
            self._check_priors(self.priors)
        if self.loss is not None:
            self._check_loss(self.loss)

    def _check_priors(self, priors: tuple[float, ...]) -> None:
        if self.criterion == "variance":
            raise ParameterError("priors belong to classes; a numeric target has none")
        if not isinstance(priors, tuple) or not all(_is_amount(prior) for prior in priors):
            raise ParameterError(f"priors must be a tuple of numbers of at least 0, not {priors!r:.80}")
        if not math.isclose(sum(priors), 1.0, abs_tol=1e-6):
            raise ParameterError(f"priors must sum to 1, not to {sum(priors)!r}")

    def _check_loss(self, loss: Matrix) -> None:
        if self.criterion == "variance":
            raise ParameterError("losses belong to classes; a numeric target has none")
        if (
            not isinstance(loss, tuple)
            or not all(isinstance(row, tuple) and len(row) == len(loss) for row in loss)
            or not all(_is_amount(cost) for row in loss for cost in row)
        ):
            raise ParameterError(f"loss must be a square tuple of tuples of numbers of at least 0, not {loss!r:.80}")
        if any(row[place] != 0 for place, row in enumerate(loss)):
            raise ParameterError("loss must be 0 on the diagonal: a right answer costs nothing")
        if not all(any(row) for row in loss):
            raise ParameterError("loss must have a positive number in every row")

    @property
    def least_bucket(self) -> int:
        """Cases that both branches need."""
        return max(1, round(self.min_split / 3)) if self.min_bucket is None else int(self.min_bucket)


def _is_amount(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        return False
    return bool(math.isfinite(value) and value >= 0)
