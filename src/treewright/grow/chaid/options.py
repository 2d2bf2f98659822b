"""The options of CHAID and exhaustive CHAID."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treewright._base.errors import ParameterError

LARGEST_LOG = 709.0
"""The exponential of this is still a finite double."""


@dataclass(frozen=True)
class CHAID:
    """The options of CHAID.

    Parameters
    ----------
    alpha_merge : float, default 0.05
        Groups are merged while the p-value of their difference is larger; 1 merges nothing. Unused by exhaustive CHAID.
    alpha_split : float, default 0.05
        Largest adjusted p-value at which a node is split.
    resplit : bool, default False
        Allow a merged group of three or more levels to be split again.
    exhaustive : bool, default False
        Merge down to two groups and keep the best stage (Biggs, de Ville and Suen 1991).
    min_samples_split : int, default 20
        Least number of cases of a node to be split.
    min_samples_leaf : int, default 7
        Least number of cases of a group; smaller ones are merged with the most similar group.
    max_depth : int or None
    bins : int, default 10
        Number of intervals into which numeric attributes are discretised before growing.
    like_r : bool, default False
        Follow R's CHAID 0.1-2 (classification only). Where that program simulates tables to get a p-value, the
        chi-square distribution is used instead and the result is marked. Numeric attributes, which R's CHAID rejects,
        are discretised into ordered intervals here, too.

    Examples
    --------
    >>> CHAID(alpha_merge=0.1).min_samples_split
    20
    """

    alpha_merge: float = 0.05
    alpha_split: float = 0.05
    resplit: bool = False
    exhaustive: bool = False
    min_samples_split: int = 20
    min_samples_leaf: int = 7
    max_depth: int | None = None
    bins: int = 10
    like_r: bool = False

    def __post_init__(self) -> None:
        for name in ("alpha_merge", "alpha_split"):
            level = getattr(self, name)
            if (
                isinstance(level, (bool, np.bool_))
                or not isinstance(level, (int, float, np.number))
                or not 0 < level <= 1
            ):
                raise ParameterError(f"{name} must be a number above 0 and at most 1, not {level!r}")
        for name, least in (("min_samples_split", 2), ("min_samples_leaf", 1), ("max_depth", 0), ("bins", 2)):
            number = getattr(self, name)
            if number is None and name == "max_depth":
                continue
            if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or number < least:
                raise ParameterError(f"{name} must be a whole number of at least {least}, not {number!r}")
        for name in ("resplit", "exhaustive", "like_r"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise ParameterError(f"{name} must be True or False, not {getattr(self, name)!r}")
        if sum(map(bool, (self.resplit, self.exhaustive, self.like_r))) > 1:
            raise ParameterError(
                "at most one of resplit, exhaustive and like_r can be True: they select different procedures"
            )
