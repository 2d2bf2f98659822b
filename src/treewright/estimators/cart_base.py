"""The base class of the CART estimators: their plan, and the methods of their trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from treewright._base.errors import ParameterError
from treewright.estimators.arguments import cases_from, seed_of
from treewright.estimators.base import TreeEstimator
from treewright.grow.own_criterion import CriterionFunction
from treewright.grow.recipe import Draw, Stopping
from treewright.plans import Plan, cart
from treewright.prune.cost_complexity import Impurity, cost_complexity_path

if TYPE_CHECKING:
    from treewright.prune.rpart import CpTable

RPART: dict[str, Any] = {"min_samples_split": 20, "cp": 0.01, "max_depth": 30, "missing": "surrogate", "faults": True}
"""The defaults of rpart."""


class CARTEstimator(TreeEstimator):
    """What CART's classifier and regressor share."""

    criterion: str | CriterionFunction
    max_depth: int | None
    min_samples_split: int | float
    min_samples_leaf: int | float
    min_weight_fraction_leaf: float
    max_leaf_nodes: int | None
    min_impurity_decrease: float
    max_features: int | float | str | None
    random_state: Any
    missing: str | None
    max_surrogates: int
    priors: Any = None
    loss: Any = None
    cp: float | None
    choose: Literal["min", "1se"] | None
    xval: Any
    faults: bool
    bins: int | None
    monotonic: Any
    prune: Any
    ccp_alpha: float
    grow_significance: float | None = None

    @classmethod
    def like_rpart(cls, **overrides: Any) -> Self:
        """Return an estimator with rpart's defaults, which grows the tree that rpart grows.

        These are ``minsplit`` 20, ``minbucket`` a third of it, ``cp`` 0.01, ``maxdepth`` 30 and five surrogates; and
        what is odd in the program is reproduced (`faults`).

        Parameters
        ----------
        **overrides
            Parameters of the constructor that shall be different.

        Examples
        --------
        >>> from treewright import CARTClassifier
        >>> CARTClassifier.like_rpart(cp=0.001)
        CARTClassifier(cp=0.001, faults=True, max_depth=30, min_samples_leaf=7,
                       min_samples_split=20, missing='surrogate')
        """
        chosen = {**RPART, **overrides}
        split = chosen["min_samples_split"]
        chosen.setdefault(
            "min_samples_leaf", max(1, round(split / 3)) if isinstance(split, (int, np.integer)) else split / 3
        )
        return cls(**chosen)

    def _cart(self, criterion: str | CriterionFunction, n_rows: int, n_attributes: int) -> Plan:
        stopping = Stopping(
            max_depth=self.max_depth,
            max_leaves=self.max_leaf_nodes,
            min_cases=max(2, cases_from(self.min_samples_split, n_rows, "min_samples_split")),
            min_leaf=cases_from(self.min_samples_leaf, n_rows, "min_samples_leaf"),
            min_share=self.min_weight_fraction_leaf,
            min_decrease=self.min_impurity_decrease,
            significance=self.grow_significance,
        )
        draw = None
        if self.max_features is not None:
            draw = Draw(_attributes_drawn(self.max_features, n_attributes), self._seed)
        return cart(
            criterion=criterion,
            missing=self.missing,
            stopping=stopping,
            draw=draw,
            monotonic=self.monotonic,
            bins=self.bins,
            max_surrogates=self.max_surrogates,
            cp=self.cp,
            choose=self.choose,
            xval=self.xval,
            seed=self._seed,
            faults=self.faults,
            prune="cost_complexity" if self.prune is None and self.ccp_alpha > 0 else self.prune,
            alpha=self.ccp_alpha,
            **self._of_classes(),
        )

    @property
    def _seed(self) -> int:
        """The same data give the same tree: nothing is left to chance unless a random state asks for it."""
        return 0 if self.random_state is None else seed_of(self.random_state)

    def _of_classes(self) -> dict[str, Any]:
        """Return what only classes have: priors and losses."""
        return {}

    # -- prediction --------------------------------------------------------------------------------------------------

    @property
    def cp_table_(self) -> CpTable:
        """The trees that pruning can give, and their errors: only where the tree was grown by rpart's options."""
        check_is_fitted(self)
        rows = self.model_.recipe.get("cp_table")
        if rows is None:
            raise AttributeError("there is a cp table only with rpart's options (missing='surrogate', cp, choose, ...)")
        from treewright.prune.rpart import CpTable

        return CpTable.from_rows(rows)

    @property
    def feature_importances_(self) -> npt.NDArray[np.float64]:
        """Share of each attribute in the decrease of impurity; as rpart counts it, surrogates have their part."""
        check_is_fitted(self)
        shares = self.model_.recipe.get("importance")
        return super().feature_importances_ if shares is None else np.array(shares, dtype=np.float64)

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """Return the values of `ccp_alpha` at which the tree for these data becomes smaller.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.

        Returns
        -------
        Bunch
            ``ccp_alphas``, ascending, and ``impurities``, the total impurity of the leaves from there on.

        Examples
        --------
        >>> from treewright import CARTClassifier
        >>> path = CARTClassifier().cost_complexity_pruning_path([[1.0], [2.0], [3.0]], ["a", "b", "b"])
        >>> path.ccp_alphas.round(4).tolist(), path.impurities.round(4).tolist()
        ([0.0, 0.4444], [0.0, 0.4444])
        """
        whole = clone(self).set_params(ccp_alpha=0.0, prune=None).fit(X, y, sample_weight)
        if "importance" in whole.model_.recipe:
            raise ParameterError(
                "the path is by impurity, as scikit-learn has it: with rpart's options see cp_table_, "
                "and with criterion='absolute_error' there is none"
            )
        measure: Impurity = "entropy" if self.criterion == "entropy" else "gini"
        path = cost_complexity_path(whole.tree_, "impurity", measure)
        return Bunch(ccp_alphas=path.alphas, impurities=path.risks)


def _attributes_drawn(max_features: int | float | str, n_attributes: int) -> int:
    if max_features == "sqrt":
        return max(1, int(np.sqrt(n_attributes)))
    if max_features == "log2":
        return max(1, int(np.log2(n_attributes)) + 1 if n_attributes else 1)
    if isinstance(max_features, (bool, str)):
        raise ParameterError(f"max_features must be a number, 'sqrt', 'log2' or None, not {max_features!r}")
    if isinstance(max_features, (int, np.integer)):
        if not 1 <= max_features <= n_attributes:
            raise ParameterError(
                f"max_features must be from 1 to {n_attributes}, the number of attributes, not {max_features}"
            )
        return int(max_features)
    if not 0 < max_features <= 1:
        raise ParameterError(f"max_features as a share must be above 0 and at most 1, not {max_features!r}")
    return max(1, int(max_features * n_attributes))
