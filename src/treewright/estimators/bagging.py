"""Bagged trees, and what all estimators of many trees share.

The base of the ensemble estimators: fitting, and the methods of fitted forests. The estimators are in
`treewright.estimators.bagging`, `treewright.estimators.forests` and `treewright.estimators.boosting`, the transformer
is in `treewright.estimators.forests`.

Bagged trees as scikit-learn estimators, and the code they share with random forests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from treewright.data.dataset import Dataset
from treewright.data.schema import Schema
from treewright.ensembles.neighbours import Neighbours, neighbours, proximity
from treewright.ensembles.out_of_bag import OutOfBag, out_of_bag, permutation_importance
from treewright.ensembles.plan import EnsemblePlan, ForestPlan, bagging, tree_plan
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
        self.oob_decision_function_ = found.predictions[:, self._columns]


class BaggingRegressor(Bagging, EnsembleRegressor):
    """Base of the regressors over bootstraps."""

    quantiles: bool

    def _learned(self, dataset: Dataset, plan: Any) -> Forest:
        model = self._with_out_of_bag(dataset, plan)
        self._neighbours: Neighbours | None = neighbours(model, dataset, plan) if self.quantiles else None
        return model

    def _keep_out_of_bag(self, found: OutOfBag, dataset: Dataset) -> None:
        self.oob_prediction_ = found.predictions[:, 0]
        self.oob_errors_ = np.array(found.errors)
        judged = found.voters > 0
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
