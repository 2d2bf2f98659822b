"""Bagged trees as scikit-learn estimators, and the base classes of all ensemble estimators.

Random forests are in `treewright.estimators.forests`, AdaBoost is in `treewright.estimators.boosting`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from treewright.data.dataset import Dataset
from treewright.data.schema import Schema
from treewright.ensembles.neighbours import Neighbours, neighbours, proximity
from treewright.ensembles.out_of_bag import OutOfBag, out_of_bag, permutation_importance
from treewright.ensembles.plan import ForestPlan, bagging, tree_plan
from treewright.ensembles.random_forest import with_log
from treewright.ensembles.running import Interrupted
from treewright.errors import ParameterError
from treewright.estimators.base import TableClassifier, TableEstimator, TableRegressor, seed_of
from treewright.explain.attribute import forest_importance
from treewright.fitting.learn import fit as fit_model
from treewright.plans import c45, cart
from treewright.tree.forest import Forest
from treewright.tree.tree import Tree

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
        """Random seed: 0 unless a random state is given; a warm start keeps its seed."""
        if self.warm_start and hasattr(self, "_seed_"):
            return self._seed_
        self._seed_ = 0 if self.random_state is None else seed_of(self.random_state)
        return self._seed_

    def _train(self, dataset: Dataset, plan: Any) -> Forest:
        """Grow the trees; after Ctrl-C the estimator has the finished trees and can be used."""
        self._check_options()
        before = self.model_ if self.warm_start and hasattr(self, "model_") else None
        if before is not None and before.n_trees > plan.trees:
            raise ParameterError(
                f"n_estimators={plan.trees} is less than the {before.n_trees} fitted trees; warm_start only adds trees"
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
        return self._with_results(grown, dataset, plan)

    def _check_options(self) -> None:
        """Raise if options contradict each other."""

    def _with_results(self, forest: Forest, dataset: Dataset, plan: Any) -> Forest:
        """Set further results of the training cases, and return the forest with what it keeps of them."""
        return forest

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
        for predictions in self.model_.staged_answers(cases):
            yield self.classes_[back[self.model_.codes_of(predictions)]]

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Yield the probabilities by the first tree, the first two, and so on."""
        cases = self._cases(X)
        for predictions in self.model_.staged_answers(cases):
            yield predictions[:, self._columns]


class EnsembleRegressor(EnsembleEstimator, TableRegressor):
    """Base of the regressors of many trees."""

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Yield the predictions of the first tree, the first two, and so on."""
        cases = self._cases(X)
        for predictions in self.model_.staged_answers(cases):
            yield predictions[:, 0]


def reject_tree_options(estimator: Any, defaults: dict[str, Any]) -> None:
    """Raise if options of the default trees are given together with `tree`."""
    given = [name for name, value in defaults.items() if getattr(estimator, name) != value]
    if given:
        raise ParameterError(
            f"{', '.join(given)} are options of the default trees; with `tree`, set them there, "
            "as in tree=treewright.c45(max_depth=3)"
        )


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

    def _check_options(self) -> None:
        if (self.oob_score or self.permutation_importance) and not self.bootstrap:
            raise ParameterError(
                "oob_score and permutation_importance need bootstrap=True: without it no case is out of bag"
            )

    def _with_results(self, forest: Forest, dataset: Dataset, plan: Any) -> Forest:
        """Compute the out-of-bag results."""
        if self.permutation_importance:
            found = permutation_importance(forest, dataset, plan)
            self.permutation_importances_ = found.mean
            self.permutation_importances_error_ = found.standard_error
        if self.oob_score:
            tested = out_of_bag(forest, dataset, plan)
            self._set_out_of_bag(tested, dataset)
            return with_log(forest, oob_error=tested.errors)
        return forest

    def _set_out_of_bag(self, found: OutOfBag, dataset: Dataset) -> None:
        raise NotImplementedError  # classes and numbers have their own


class BaggingClassifier(Bagging, EnsembleClassifier):
    """Base of the classifiers on bootstrap samples."""

    @property
    def _case_class_weight(self) -> Any:
        """None for "balanced_subsample": then each tree balances its own bootstrap sample."""
        return None if self._balances_samples else self.class_weight

    def _set_out_of_bag(self, found: OutOfBag, dataset: Dataset) -> None:
        self.oob_score_ = 1.0 - found.error
        self.oob_errors_ = np.array(found.errors)
        self.oob_decision_function_ = found.predictions[:, self._columns]


class BaggingRegressor(Bagging, EnsembleRegressor):
    """Base of the regressors on bootstrap samples."""

    quantiles: bool

    def _with_results(self, forest: Forest, dataset: Dataset, plan: Any) -> Forest:
        forest = super()._with_results(forest, dataset, plan)
        self._neighbours: Neighbours | None = neighbours(forest, dataset, plan) if self.quantiles else None
        return forest

    def _set_out_of_bag(self, found: OutOfBag, dataset: Dataset) -> None:
        self.oob_prediction_ = found.predictions[:, 0]
        self.oob_errors_ = np.array(found.errors)
        tested = found.voters > 0
        weights = None if dataset.weights is None else dataset.weights[tested]
        actual = np.zeros(0) if dataset.target is None else dataset.target[tested]
        self.oob_score_ = float(r2_score(actual, self.oob_prediction_[tested], sample_weight=weights))

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
        """Return a prediction interval for the target of each case.

        Parameters
        ----------
        X : table
        coverage : float
            Share of such cases that the interval should contain, above 0 and below 1.

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
    """Bagging (Breiman 1996): trees on bootstrap samples of the cases, probabilities averaged.

    Parameters
    ----------
    n_estimators : int, default 100
        Number of trees.
    tree : None, "cart", "c45", "id3", "chaid", Recipe or Plan
        The trees: None is C4.5 without pruning; any plan is possible, such as ``treewright.c45(confidence=0.1)``.
    bootstrap : bool, default True
        Train each tree on a bootstrap sample of the cases instead of all.
    max_samples : int, float or None
        Cases sampled for each tree, as a number or share; None samples as many as there are.
    balanced_bootstrap : bool
        Sample as many cases of each class as the rarest class has.
    oob_score : bool
        Evaluate the training cases with the trees that were not trained on them.
    permutation_importance : bool
        Measure the importance of attributes by shuffling their values, out of bag.
    class_weight : dict, "balanced", "balanced_subsample" or None
    smoothing : None, "laplace" or float
        How leaves estimate probabilities.
    n_jobs : int or None
        Threads; the result is the same for any number. ``joblib.parallel_config`` spreads trees over processes or a
        cluster.
    time_limit : float or None
        Seconds after which no further tree is started.
    progress : callable or None
        Called with the number of finished trees and of all trees.
    warm_start : bool
        Fitting again keeps the trees and adds the missing ones (the data must be the same).
    random_state : int, RandomState or None
        None always gives the same forest.
    schema : Schema, dict or None

    Attributes
    ----------
    trees_ : tuple of Tree
    classes_ : array
        Sorted labels.
    feature_importances_ : array
    oob_score_, oob_decision_function_, oob_errors_
        With `oob_score`: accuracy, probabilities (NaN for cases in every bootstrap sample), error after each tree.
    permutation_importances_, permutation_importances_error_
        With `permutation_importance`: mean increase of the error of a tree and its standard error.
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
    """Bagging for numbers: trees on bootstrap samples of the cases, predictions averaged.

    Parameters
    ----------
    n_estimators : int, default 100
    tree : None, "cart", "chaid", Recipe or Plan
        The trees: None is CART.
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
