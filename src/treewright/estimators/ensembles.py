"""The base of the ensemble estimators: fitting, and the methods of fitted forests.

The estimators are in `treewright.estimators.bagging`, `treewright.estimators.forests` and
`treewright.estimators.boosting`, the transformer is in `treewright.estimators.embedding`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from treewright._base.errors import ParameterError
from treewright.data.dataset import Dataset
from treewright.ensemble.neighbours import proximity
from treewright.ensemble.plan import EnsemblePlan
from treewright.ensemble.running import Interrupted
from treewright.estimators.arguments import seed_of
from treewright.estimators.base import TableClassifier, TableEstimator, TableRegressor
from treewright.explain.importance import forest_importance
from treewright.learn import fit as fit_model
from treewright.model.forest import Forest
from treewright.model.tree import Tree

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[Any]


class EnsembleEstimator(TableEstimator):
    """Base of the estimators of many trees."""

    n_estimators: int
    tree: Any
    n_jobs: int | None = None
    time_limit: float | None
    progress: Callable[[int, int], None] | None
    warm_start: bool
    random_state: Any
    smoothing: Any = None

    model_: Forest
    _seed_: int

    # -- growing -----------------------------------------------------------------------------------------------------

    @property
    def _seed(self) -> int:
        """The same data give the same forest unless a random state asks for another; a warm start keeps its seed."""
        if self.warm_start and hasattr(self, "_seed_"):
            return self._seed_
        self._seed_ = 0 if self.random_state is None else seed_of(self.random_state)
        return self._seed_

    def _grown(self, dataset: Dataset, plan: EnsemblePlan) -> Forest:
        """Grow; on Ctrl-C the estimator keeps the trees that were finished, and can be used."""
        before = self.model_ if self.warm_start and hasattr(self, "model_") else None
        if before is not None and before.n_trees > plan.trees:
            raise ParameterError(
                f"n_estimators={plan.trees} is less than the {before.n_trees} trees there are, and warm_start only adds"
            )
        try:
            grown: Forest = fit_model(
                dataset,
                plan,
                smoothing=self.smoothing,
                progress=self.progress,
                n_jobs=self.n_jobs,
                time_limit=self.time_limit,
                resume=before,
            )
        except Interrupted as stop:
            self.model_ = stop.forest
            raise
        return grown

    # -- prediction --------------------------------------------------------------------------------------------------

    @property
    def trees_(self) -> tuple[Tree, ...]:
        """The fitted trees."""
        check_is_fitted(self)
        return self.model_.trees

    @property
    def feature_importances_(self) -> Floats:
        """Share of each attribute in the decrease of impurity, mean over the trees."""
        check_is_fitted(self)
        return forest_importance(self.model_, str(self.model_.recipe.get("criterion")))

    def apply(self, X: Any) -> npt.NDArray[np.int32]:
        """Return the leaf that each case ends in, in every tree (cases x trees)."""
        cases = self._cases(X)
        return self.model_.apply(cases)

    def proximity(self, X: Any, Y: Any = None) -> Floats:
        """Return the share of the trees in which cases end in the same leaf.

        Parameters
        ----------
        X : table
        Y : table or None
            Other cases; None compares the cases of X with each other.

        Returns
        -------
        array, cases of X x cases of Y
        """
        cases = self._cases(X)
        return proximity(self.model_, cases, None if Y is None else self._cases(Y))


class EnsembleClassifier(EnsembleEstimator, TableClassifier):
    """Base of the classifiers of many trees."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : DataFrame (pandas, polars, Arrow), array, or the ``.X`` of `treewright.read`
            Text, categories and missing values as they are.
        y : array of labels
        sample_weight : array or None

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def _learned(self, dataset: Dataset, plan: EnsemblePlan) -> Forest:
        return self._grown(dataset, plan)

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class, columns in the order of `classes_`."""
        cases = self._cases(X)
        return self._in_order_of_classes(self.model_.predict_proba(cases))

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of `predict_proba`; -inf for a class that no tree predicts."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def staged_predict(self, X: Any) -> Iterator[Labels]:
        """Yield the predictions of the first tree, the first two, and so on."""
        cases = self._cases(X)
        back = np.zeros(len(self.schema_.classes), dtype=np.intp)
        back[self._columns] = np.arange(len(self._columns))
        for answers in self.model_.staged_answers(cases):
            yield self.classes_[back[self.model_.codes_of(answers)]]

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Yield the probabilities by the first tree, the first two, and so on."""
        cases = self._cases(X)
        for answers in self.model_.staged_answers(cases):
            yield answers[:, self._columns]


class EnsembleRegressor(EnsembleEstimator, TableRegressor):
    """Base of the regressors of many trees."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : DataFrame (pandas, polars, Arrow), array, or the ``.X`` of `treewright.read`
        y : array of numbers
        sample_weight : array or None

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Yield the predictions of the first tree, the first two, and so on."""
        cases = self._cases(X)
        for answers in self.model_.staged_answers(cases):
            yield answers[:, 0]


def refuse_beside_tree(estimator: Any, usual: dict[str, Any]) -> None:
    """Raise if options of CART's growing were given beside trees of another kind."""
    given = [name for name, value in usual.items() if getattr(estimator, name) != value]
    if given:
        raise ParameterError(
            f"{', '.join(given)} are options of the usual trees; where `tree` is given, say them there, "
            "as in tree=treewright.c45(max_depth=3)"
        )
