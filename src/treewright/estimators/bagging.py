"""Bagged trees as scikit-learn estimators, and the code they share with random forests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from treewright._base.errors import ParameterError
from treewright.data.dataset import Dataset
from treewright.data.schema import Schema
from treewright.ensemble.neighbours import Neighbours, neighbours
from treewright.ensemble.out_of_bag import OutOfBag, out_of_bag, permutation_importance
from treewright.ensemble.plan import ForestPlan, bagging, tree_plan
from treewright.ensemble.random_forest import with_log
from treewright.estimators.ensembles import EnsembleClassifier, EnsembleEstimator, EnsembleRegressor
from treewright.model.forest import Forest
from treewright.plans import c45, cart

Floats = npt.NDArray[np.float64]


class Bagging(EnsembleEstimator):
    """Base class of bagged trees and forests: bootstrap samples and out-of-bag predictions."""

    bootstrap: bool
    max_samples: int | float | None
    balanced_bootstrap: bool = False
    class_weight: Any = None
    oob_score: bool
    permutation_importance: bool

    def _bootstraps(self) -> dict[str, Any]:
        return {
            "bootstrap": self.bootstrap,
            "max_samples": self.max_samples,
            "balanced": self.balanced_bootstrap,
            "balanced_weights": self._balances_samples,
            "seed": self._seed,
        }

    @property
    def _balances_samples(self) -> bool:
        return isinstance(self.class_weight, str) and self.class_weight == "balanced_subsample"

    def _with_out_of_bag(self, dataset: Dataset, plan: ForestPlan) -> Forest:
        if (self.oob_score or self.permutation_importance) and not self.bootstrap:
            raise ParameterError(
                "oob_score and permutation_importance need bootstrap=True: else no case is out of a bag"
            )
        model = self._grown(dataset, plan)
        if self.permutation_importance:
            found = permutation_importance(model, dataset, plan)
            self.permutation_importances_ = found.mean
            self.permutation_importances_error_ = found.standard_error
        if self.oob_score:
            judged = out_of_bag(model, dataset, plan)
            self._keep_out_of_bag(judged, dataset)
            return with_log(model, oob_error=judged.errors)
        return model

    def _keep_out_of_bag(self, found: OutOfBag, dataset: Dataset) -> None:
        raise NotImplementedError  # classes and numbers have their own


class BaggingClassifier(Bagging, EnsembleClassifier):
    """Base of the classifiers over bootstraps."""

    @property
    def _case_class_weight(self) -> Any:
        """None for "balanced_subsample": then each tree balances its own bootstrap sample."""
        return None if self._balances_samples else self.class_weight

    def _learned(self, dataset: Dataset, plan: Any) -> Forest:
        return self._with_out_of_bag(dataset, plan)

    def _keep_out_of_bag(self, found: OutOfBag, dataset: Dataset) -> None:
        self.oob_score_ = 1.0 - found.error
        self.oob_errors_ = np.array(found.errors)
        self.oob_decision_function_ = found.answers[:, self._columns]


class BaggingRegressor(Bagging, EnsembleRegressor):
    """Base of the regressors over bootstraps."""

    quantiles: bool

    def _learned(self, dataset: Dataset, plan: Any) -> Forest:
        model = self._with_out_of_bag(dataset, plan)
        self._neighbours: Neighbours | None = neighbours(model, dataset, plan) if self.quantiles else None
        return model

    def _keep_out_of_bag(self, found: OutOfBag, dataset: Dataset) -> None:
        self.oob_prediction_ = found.answers[:, 0]
        self.oob_errors_ = np.array(found.errors)
        judged = found.judges > 0
        weights = None if dataset.weights is None else dataset.weights[judged]
        truth = np.zeros(0) if dataset.target is None else dataset.target[judged]
        self.oob_score_ = float(r2_score(truth, self.oob_prediction_[judged], sample_weight=weights))

    def predict_quantiles(self, X: Any, quantiles: tuple[float, ...] = (0.05, 0.5, 0.95)) -> Floats:
        """Return quantiles of the target of each case, from the training cases that share its leaves.

        Parameters
        ----------
        X : table
        quantiles : tuple of float

        Returns
        -------
        array, cases x quantiles
        """
        cases = self._cases(X)
        if self._neighbours is None:
            raise ParameterError("quantiles need the training cases in the leaves: set quantiles=True before fit")
        return self._neighbours.quantiles(cases, tuple(quantiles))

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Floats:
        """Return an interval for the target of each case that should hold this share of such cases.

        Parameters
        ----------
        X : table
        coverage : float
            Above 0 and below 1.

        Returns
        -------
        array, cases x 2
            Lower and upper end.
        """
        check_is_fitted(self)
        if not 0 < coverage < 1:
            raise ParameterError(f"coverage must be a number above 0 and below 1, not {coverage!r}")
        return self.predict_quantiles(X, ((1 - coverage) / 2, (1 + coverage) / 2))


class BaggedTreesClassifier(BaggingClassifier):
    """Bagging (Breiman 1996): trees on bootstraps of the cases, their probabilities averaged.

    Parameters
    ----------
    n_estimators : int, default 100
        Number of trees.
    tree : None, "cart", "c45", "id3", "chaid", Recipe or Plan
        The trees: None is C4.5 without pruning; any plan is as good, such as ``treewright.c45(confidence=0.1)``.
    bootstrap : bool, default True
        Whether each tree has a bootstrap of the cases, instead of all.
    max_samples : int, float or None
        Cases drawn for each tree, as a number or share; None draws as many as there are.
    balanced_bootstrap : bool
        Whether as many of each class are drawn as the rarest has.
    oob_score : bool
        Whether the training cases are judged by the trees that have not seen them.
    permutation_importance : bool
        Whether the importance of attributes is measured by shuffling their values, out of bag.
    class_weight : dict, "balanced", "balanced_subsample" or None
    smoothing : None, "laplace" or float
        How leaves estimate probabilities.
    n_jobs : int or None
        Threads; the result is the same for any number. ``joblib.parallel_config`` spreads trees over processes or a
        cluster.
    time_limit : float or None
        Seconds after which no further tree is begun.
    progress : callable or None
        Called with trees done and trees in all.
    warm_start : bool
        Whether fitting again keeps the trees and adds those that are missing (the same data are needed).
    random_state : int, RandomState or None
        None is always the same forest.
    schema : Schema, dict or None

    Attributes
    ----------
    trees_ : tuple of Tree
    classes_ : array
        Sorted labels.
    feature_importances_ : array
    oob_score_, oob_decision_function_, oob_errors_
        With `oob_score`: accuracy, probabilities (NaN for cases that were in every bag), error after each tree.
    permutation_importances_, permutation_importances_error_
        With `permutation_importance`: mean rise of the error of a tree and its standard error.
    schema_ : Schema
    model_ : Forest
        What `save` writes.

    Examples
    --------
    >>> import treewright
    >>> weather = treewright.read("sample:play-tennis")
    >>> clf = BaggedTreesClassifier(n_estimators=20).fit(weather.X, weather.y)
    >>> len(clf.trees_), clf.predict(weather.X)[:3].tolist()
    (20, ['No', 'No', 'Yes'])
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        tree: Any = None,
        bootstrap: bool = True,
        max_samples: int | float | None = None,
        balanced_bootstrap: bool = False,
        oob_score: bool = False,
        permutation_importance: bool = False,
        class_weight: Mapping[Any, float] | str | None = None,
        smoothing: str | float | None = None,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        progress: Callable[[int, int], None] | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        schema: Schema | Mapping[str, Any] | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.tree = tree
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.balanced_bootstrap = balanced_bootstrap
        self.oob_score = oob_score
        self.permutation_importance = permutation_importance
        self.class_weight = class_weight
        self.smoothing = smoothing
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.progress = progress
        self.warm_start = warm_start
        self.random_state = random_state
        self.schema = schema

    def _recipe(self, n_rows: int, n_attributes: int) -> ForestPlan:
        return bagging(tree_plan(self.tree, c45(prune=False)), trees=self.n_estimators, **self._bootstraps())


class BaggedTreesRegressor(BaggingRegressor):
    """Bagging for numbers: trees on bootstraps of the cases, their answers averaged.

    Parameters
    ----------
    n_estimators : int, default 100
    tree : None, "cart", "chaid", Recipe or Plan
        The trees: None is CART.
    bootstrap, max_samples, oob_score, permutation_importance, n_jobs, time_limit, progress, warm_start, random_state
        As for `BaggedTreesClassifier`.
    quantiles : bool
        Whether the training cases in the leaves are kept, for `predict_quantiles` and `predict_interval`.
    schema : Schema, dict or None

    Attributes
    ----------
    trees_ : tuple of Tree
    feature_importances_ : array
    oob_score_, oob_prediction_, oob_errors_
        With `oob_score`: share of variance explained, answers, mean squared error after each tree.
    model_ : Forest

    Examples
    --------
    >>> reg = BaggedTreesRegressor(20).fit([[1.0], [2.0], [8.0], [9.0]] * 5, [1.0, 1.0, 2.0, 2.0] * 5)
    >>> reg.predict([[0.0], [10.0]]).tolist()
    [1.0, 2.0]
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        tree: Any = None,
        bootstrap: bool = True,
        max_samples: int | float | None = None,
        oob_score: bool = False,
        permutation_importance: bool = False,
        quantiles: bool = False,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        progress: Callable[[int, int], None] | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        schema: Schema | Mapping[str, Any] | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.tree = tree
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.permutation_importance = permutation_importance
        self.quantiles = quantiles
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.progress = progress
        self.warm_start = warm_start
        self.random_state = random_state
        self.schema = schema

    def _recipe(self, n_rows: int, n_attributes: int) -> ForestPlan:
        return bagging(tree_plan(self.tree, cart()), trees=self.n_estimators, **self._bootstraps())
