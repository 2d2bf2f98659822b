"""Random forests as estimators, and as a transformer into leaves.

Random forests as scikit-learn estimators.

A transformer that encodes each case by its leaves in a forest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, issparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import Tags
from sklearn.utils.validation import _num_samples, check_is_fitted, check_random_state

from treewright.data.schema import Schema
from treewright.ensembles.neighbours import embedding
from treewright.ensembles.plan import ForestPlan, forest, tree_plan
from treewright.errors import ParameterError
from treewright.estimators.bagging import (
    Bagging,
    BaggingClassifier,
    BaggingRegressor,
    EnsembleEstimator,
    reject_tree_options,
)
from treewright.estimators.cart import GrowthLimits
from treewright.learners.criteria import CriterionFunction
from treewright.plans import cart

_GROWTH_DEFAULTS: dict[str, Any] = {
    "max_depth": None,
    "min_samples_split": 2,
    "min_samples_leaf": 1,
    "min_weight_fraction_leaf": 0.0,
    "max_leaf_nodes": None,
    "min_impurity_decrease": 0.0,
}
"""Defaults of the limits of CART's growth."""


class _RandomForest(GrowthLimits, Bagging):
    """Base class of random forests: sampled attributes and thresholds, and the growth limits of CART."""

    criterion: str | CriterionFunction
    max_features: int | float | str | None
    features_per: str
    random_cuts: bool

    def _forest(self, n_rows: int, criterion: str | CriterionFunction, default_criterion: str) -> ForestPlan:
        if self.tree is not None:
            reject_tree_options(self, {"criterion": default_criterion, **_GROWTH_DEFAULTS})
            plan = tree_plan(self.tree, cart())
        else:
            plan = cart(criterion=criterion, stopping=self._stopping(n_rows))
        return forest(
            plan,
            trees=self.n_estimators,
            max_features=self.max_features,
            per=self.features_per,
            random_cuts=self.random_cuts,
            **self._bootstraps(),
        )


class RandomForestClassifier(_RandomForest, BaggingClassifier):
    """Random forest (Breiman 2001): bagged trees with a few sampled attributes at each node; probabilities averaged.

    Parameters
    ----------
    n_estimators : int, default 100
        Number of trees.
    tree : None, "cart", "c45", "id3", Recipe or Plan
        The trees: None is CART with the limits below; a forest of C4.5 trees with branches for every value and
        fractional cases is ``tree="c45"``.
    criterion : {"gini", "entropy", "chi2"} or function, default "gini"
        A function as for `CARTClassifier`.
    max_depth, max_leaf_nodes : int or None
    min_samples_split, min_samples_leaf : int or float
    min_weight_fraction_leaf, min_impurity_decrease : float
        Limits of CART's growing.
    max_features : "sqrt", "log2", int, float or None
        Attributes sampled: the root of their number, ``floor(log2(n)) + 1``, a number, a share, or all.
    features_per : {"node", "tree"}
        Sample them anew at each node, or once for each tree.
    random_cuts : bool
        Sample the thresholds of numbers, too (extremely randomised trees).
    bootstrap, max_samples, balanced_bootstrap, oob_score, permutation_importance, class_weight, smoothing
        As for `BaggedTreesClassifier`.
    n_jobs, time_limit, progress, warm_start, random_state, schema
        As for `BaggedTreesClassifier`.

    Attributes
    ----------
    trees_ : tuple of Tree
    classes_ : array
        Sorted labels.
    feature_importances_ : array
    oob_score_, oob_decision_function_, oob_errors_
        With `oob_score`.
    permutation_importances_, permutation_importances_error_
        With `permutation_importance`.
    schema_ : Schema
    model_ : Forest

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = RandomForestClassifier(30, oob_score=True).fit(X, y)
    >>> clf.oob_score_ > 0.9, clf.oob_decision_function_.shape
    (True, (150, 3))
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        tree: Any = None,
        criterion: str | CriterionFunction = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        max_features: int | float | str | None = "sqrt",
        features_per: str = "node",
        random_cuts: bool = False,
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
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.max_features = max_features
        self.features_per = features_per
        self.random_cuts = random_cuts
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
        if not callable(self.criterion) and self.criterion not in ("gini", "entropy", "chi2"):
            raise ParameterError(f"criterion must be 'gini', 'entropy' or 'chi2', not {self.criterion!r}")
        return self._forest(n_rows, self.criterion, "gini")


class RandomForestRegressor(_RandomForest, BaggingRegressor):
    """Random forest for numbers: bagged trees with some sampled attributes at each node; predictions averaged.

    Parameters
    ----------
    n_estimators : int, default 100
    tree : None, "cart", Recipe or Plan
        The trees: None is CART with the limits below.
    criterion : {"squared_error"}
    max_depth, max_leaf_nodes, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, min_impurity_decrease
        Limits of growing.
    max_features : "sqrt", "log2", int, float or None, default 1/3
        Attributes sampled; Breiman recommends a third for numbers.
    features_per, random_cuts
        As for `RandomForestClassifier`.
    bootstrap, max_samples, oob_score, permutation_importance, n_jobs, time_limit, progress, warm_start, random_state
        As for `BaggedTreesClassifier`.
    quantiles : bool
        Keep the training cases in the leaves, for `predict_quantiles` and `predict_interval`.
    schema : Schema, dict or None

    Attributes
    ----------
    trees_ : tuple of Tree
    feature_importances_ : array
    oob_score_, oob_prediction_, oob_errors_
        With `oob_score`: share of variance explained, predictions, mean squared error after each tree.
    model_ : Forest

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(100.0).reshape(-1, 1)
    >>> reg = RandomForestRegressor(30, quantiles=True).fit(X, X[:, 0] // 10)
    >>> reg.predict([[15.0]]).round(1).tolist(), reg.predict_interval([[15.0]]).tolist()
    ([1.0], [[1.0, 1.0]])
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        tree: Any = None,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        max_features: int | float | str | None = 1 / 3,
        features_per: str = "node",
        random_cuts: bool = False,
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
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.max_features = max_features
        self.features_per = features_per
        self.random_cuts = random_cuts
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
        if self.criterion != "squared_error":
            raise ParameterError(f"criterion must be 'squared_error', not {self.criterion!r}")
        return self._forest(n_rows, "gini", "squared_error")  # for numbers the criterion becomes the variance


class ForestEmbedding(TransformerMixin, BaseEstimator):
    """Embedding of cases by the leaves of a forest: a sparse column for each leaf, 1 for the cases in it.

    A linear model on these columns is a kernel method whose kernel is the forest's proximity.

    Parameters
    ----------
    forest : estimator or None
        A forest of this package, such as ``RandomForestClassifier(100, max_depth=5)``: it is fitted to the target. None
        needs no target: trees with random cuts are fitted to noise, so that the leaves partition the cases at random.
    n_estimators : int, default 100
        Number of trees, if no forest is given.
    max_depth : int or None, default 5
        Their depth.
    n_jobs : int or None
    random_state : int, RandomState or None

    Attributes
    ----------
    forest_ : estimator
        The fitted forest.
    n_features_in_ : int
    n_leaves_ : int
        Number of columns.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> leaves = ForestEmbedding(n_estimators=10, max_depth=3).fit_transform(X)
    >>> leaves.shape[0], leaves.sum(axis=1).min().item()
    (150, 10.0)
    """

    def __init__(
        self,
        forest: Any = None,
        *,
        n_estimators: int = 100,
        max_depth: int | None = 5,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.forest = forest
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        """Declare support for strings, categories and missing values, and whether a target is required."""
        tags: Tags = super().__sklearn_tags__()  # type: ignore[no-untyped-call]  # scikit-learn has no types
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.required = self.forest is not None
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the forest.

        Parameters
        ----------
        X : table
        y : array or None
            The target if a forest is given, else ignored.
        sample_weight : array or None

        Returns
        -------
        self
        """
        if self.forest is None:
            self.forest_ = RandomForestRegressor(
                self.n_estimators,
                max_depth=self.max_depth,
                max_features=1,
                random_cuts=True,
                bootstrap=False,
                n_jobs=self.n_jobs,
                random_state=self.random_state,
            )
            y = check_random_state(0 if self.random_state is None else self.random_state).uniform(size=_rows(X))
        else:
            if not isinstance(self.forest, EnsembleEstimator):
                raise ParameterError(f"forest must be a forest of this package or None, not {self.forest!r}")
            if y is None:
                raise ParameterError("ForestEmbedding requires y to be passed if a forest is given, but y is None")
            self.forest_ = clone(self.forest)
        self.forest_.fit(X, y, sample_weight)
        self.n_features_in_ = self.forest_.n_features_in_
        if hasattr(self.forest_, "feature_names_in_"):
            self.feature_names_in_ = self.forest_.feature_names_in_
        self.n_leaves_ = int(self.forest_.model_.packed.leaf_starts[-1])
        return self

    def transform(self, X: Any) -> csr_matrix:
        """Return the leaves of the cases (cases x leaves), as a sparse matrix of ones."""
        check_is_fitted(self)
        leaves: csr_matrix = embedding(self.forest_.model_, self.forest_._cases(X))
        return leaves

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Return a name for each leaf: the number of its tree and of its leaf there."""
        check_is_fitted(self)
        starts = self.forest_.model_.packed.leaf_starts
        return np.array(
            [
                f"tree{tree}_leaf{leaf}"
                for tree, number in enumerate(np.diff(starts).tolist())
                for leaf in range(number)
            ],
            dtype=object,
        )


def _rows(X: Any) -> int:
    return len(next(iter(X.values()), ())) if isinstance(X, Mapping) and not issparse(X) else int(_num_samples(X))
