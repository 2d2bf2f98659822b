"""The CHAID estimators: splits chosen by statistical significance, for classification and regression."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from treewright.data.schema import Schema
from treewright.errors import ParameterError
from treewright.estimators.base import TreeClassifier, TreeRegressor, cases_from
from treewright.plans import Plan, chaid
from treewright.wording import did_you_mean

CHAID_DIALECTS = ("chaid", "r")
"""The published procedure, or that of R's package."""


class _CHAID:
    """The parameters of CHAID's classifier and regressor."""

    alpha_merge: float
    alpha_split: float
    resplit: bool
    exhaustive: bool
    min_samples_split: int | float
    min_samples_leaf: int | float
    max_depth: int | None
    bins: int
    prune: Any

    def _chaid(self, n_rows: int, *, like_r: bool = False) -> Plan:
        return chaid(
            alpha_merge=self.alpha_merge,
            alpha_split=self.alpha_split,
            resplit=self.resplit,
            exhaustive=self.exhaustive,
            min_samples_split=_least(self.min_samples_split, n_rows, "min_samples_split", 2),
            min_samples_leaf=_least(self.min_samples_leaf, n_rows, "min_samples_leaf", 1),
            max_depth=self.max_depth,
            bins=self.bins,
            like_r=like_r,
            prune=self.prune,
        )


class CHAIDClassifier(_CHAID, TreeClassifier):
    """CHAID (Kass 1980) for classes: values that do not differ share a branch, the most significant test is chosen.

    Parameters
    ----------
    alpha_merge : float, default 0.05
        Values whose difference has a larger p are merged; 1 merges nothing. Exhaustive CHAID does not use it.
    alpha_split : float, default 0.05
        Largest adjusted p of a split.
    resplit : bool, default False
        Allow a merged group of three or more values to be split again.
    exhaustive : bool, default False
        Merge down to two groups and take the best stage (Biggs, de Ville and Suen 1991).
    min_samples_split, min_samples_leaf : int or float, default 20 and 7
        Cases (or share of all cases) that a node needs for a split, that a branch needs. A case of weight three
        counts as three.
    max_depth : int or None
    bins : int, default 10
        Intervals of about equal weight that numeric columns are cut into before growing.
    dialect : {"chaid", "r"}, default "chaid"
        The published procedure, or that of R's package CHAID 0.1-2 (see `like_r`).
    prune : str, pruning method or None
        CHAID needs no pruning; a method, as for `ID3Classifier`, prunes the grown tree.
    class_weight : dict, "balanced" or None
    smoothing : None, "laplace" or float
        How `predict_proba` estimates: shares of the leaf, Laplace, or the m of the m-estimate.
    schema : Schema, dict or None
        Types of the columns; None infers them. Whole-number columns of at most 10 values are taken as nominal. Of
        ordinal and numeric columns only neighbours are merged.

    Attributes
    ----------
    tree_ : Tree
        With the adjusted p of each node as ``p_value``. Missing values are a value of their own, which may have a
        branch to itself or share one.
    schema_ : Schema
    classes_ : array
        Sorted labels.
    model_ : TreeModel
        What `save` writes.

    Examples
    --------
    >>> import treewright
    >>> lenses = treewright.read("sample:contact-lenses")
    >>> clf = CHAIDClassifier().fit(lenses.X, lenses.y)
    >>> clf.tree_.node(0).attribute.name, round(float(clf.tree_.p_value[0]), 6)
    ('tears', 0.000747)
    """

    def __init__(
        self,
        *,
        alpha_merge: float = 0.05,
        alpha_split: float = 0.05,
        resplit: bool = False,
        exhaustive: bool = False,
        min_samples_split: int | float = 20,
        min_samples_leaf: int | float = 7,
        max_depth: int | None = None,
        bins: int = 10,
        dialect: str = "chaid",
        prune: Any = None,
        class_weight: Mapping[Any, float] | str | None = None,
        smoothing: str | float | None = None,
        schema: Schema | Mapping[str, Any] | None = None,
    ) -> None:
        self.alpha_merge = alpha_merge
        self.alpha_split = alpha_split
        self.resplit = resplit
        self.exhaustive = exhaustive
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.bins = bins
        self.dialect = dialect
        self.prune = prune
        self.class_weight = class_weight
        self.smoothing = smoothing
        self.schema = schema

    @classmethod
    def like_r(cls, **parameters: Any) -> Self:
        """Return an estimator that follows R's CHAID 0.1-2, whose defaults are those above.

        That program never merges down to one group, knows no order of a column with missing values, and allows small
        groups in small nodes. Where it draws random tables for a p-value, the chi-square distribution is used.

        Parameters
        ----------
        **parameters
            Of the estimator; `resplit` and `exhaustive` are other procedures and cannot be True.

        Examples
        --------
        >>> CHAIDClassifier.like_r(max_depth=2)
        CHAIDClassifier(dialect='r', max_depth=2)
        """
        return cls(**{"dialect": "r", **parameters})

    def _recipe(self, n_rows: int, n_attributes: int) -> Plan:
        if self.dialect not in CHAID_DIALECTS:
            hint = did_you_mean(str(self.dialect), CHAID_DIALECTS)
            raise ParameterError(
                f"dialect must be one of {', '.join(map(repr, CHAID_DIALECTS))}, not {self.dialect!r}{hint}"
            )
        return self._chaid(n_rows, like_r=self.dialect == "r")


class CHAIDRegressor(_CHAID, TreeRegressor):
    """CHAID (Kass 1980) for numbers: as `CHAIDClassifier`, with F-tests in place of chi-square tests.

    Parameters
    ----------
    alpha_merge, alpha_split : float, default 0.05
    resplit, exhaustive : bool, default False
    min_samples_split, min_samples_leaf : int or float, default 20 and 7
    max_depth : int or None
    bins : int, default 10
    prune : pruning method or None
        `treewright.CostComplexity` or ``"reduced_error"``; the others are for classes.
    schema : Schema, dict or None

    Attributes
    ----------
    tree_ : Tree
    schema_ : Schema
    model_ : TreeModel
        What `save` writes.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([["low"], ["middle"], ["high"]], 20, axis=0)
    >>> y = np.repeat([1.0, 1.0, 5.0], 20) + np.tile([0.0, 0.5], 30)
    >>> reg = CHAIDRegressor().fit(X, y)
    >>> [child.weight for child in reg.tree_.node(0).children], reg.predict([["high"], ["low"]]).tolist()
    ([20.0, 40.0], [5.25, 1.25])
    """

    def __init__(
        self,
        *,
        alpha_merge: float = 0.05,
        alpha_split: float = 0.05,
        resplit: bool = False,
        exhaustive: bool = False,
        min_samples_split: int | float = 20,
        min_samples_leaf: int | float = 7,
        max_depth: int | None = None,
        bins: int = 10,
        prune: Any = None,
        schema: Schema | Mapping[str, Any] | None = None,
    ) -> None:
        self.alpha_merge = alpha_merge
        self.alpha_split = alpha_split
        self.resplit = resplit
        self.exhaustive = exhaustive
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.bins = bins
        self.prune = prune
        self.schema = schema

    def _recipe(self, n_rows: int, n_attributes: int) -> Plan:
        return self._chaid(n_rows)


def _least(value: Any, n_rows: int, name: str, least: int) -> int:
    """Return a number of cases given as such or as a share of all, which may be a share of few."""
    cases = cases_from(value, n_rows, name)
    return cases if isinstance(value, (int, np.integer)) else max(least, cases)
