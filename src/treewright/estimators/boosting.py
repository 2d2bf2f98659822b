"""AdaBoost as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from treewright.data.schema import Schema
from treewright.ensembles.plan import BoostPlan, adaboost, tree_plan
from treewright.estimators.bagging import EnsembleClassifier, reject_tree_options
from treewright.learners.recipe import Stopping
from treewright.plans import cart

Floats = npt.NDArray[np.float64]


class AdaBoostClassifier(EnsembleClassifier):
    """AdaBoost (Freund and Schapire 1997; SAMME for several classes): trees on cases reweighted by their errors.

    Parameters
    ----------
    n_estimators : int, default 50
        Most rounds.
    tree : None, "cart", "c45", "id3", "chaid", Recipe or Plan
        The trees: None is CART of `max_depth`; it must take case weights.
    max_depth : int or None, default 1
        Depth of the default trees: 1 gives stumps, None full trees.
    learning_rate : float, default 1.0
        Share of alpha by which the weights of cases change; smaller values suit noisy labels.
    votes : {"class", "shares"}
        A tree votes for one class, as published, or splits its vote by the class shares of the leaf.
    reweighting : {"factor", "midway"}
        The weights of cases are multiplied, as published, or moved halfway, which suits noisy labels; with "midway" all
        trees have equal votes, so `votes` should be "shares".
    coarseness : float, default 0.0
        Minimum node weight for a split in later trees, in mean leaf weights of the first tree; 1 to 2 for noisy labels,
        0 for no limit.
    smoothing : None, "laplace" or float
        How leaves estimate the class shares.
    max_resets : int, default 10
        How often the weights may be reset in total because a tree was no better than guessing; such a round is repeated
        on a bootstrap sample.
    time_limit : float or None
        Seconds after which no further round is started.
    progress : callable or None
        Called with the number of finished rounds and of all rounds.
    warm_start : bool
        Fitting again adds rounds to the existing ones (the data must be the same).
    random_state : int, RandomState or None
        Seed of the bootstrap samples after resets.
    schema : Schema, dict or None

    Attributes
    ----------
    trees_ : tuple of Tree
    estimator_weights_ : array
        Alpha of each tree.
    estimator_errors_ : array
        Weighted error of each tree in its round.
    resets_ : array of int
        Resets before each tree.
    classes_ : array
        Sorted labels.
    feature_importances_ : array
    model_ : Forest

    Examples
    --------
    >>> import treewright
    >>> weather = treewright.read("sample:play-tennis")
    >>> clf = AdaBoostClassifier(10).fit(weather.X, weather.y)
    >>> clf.estimator_errors_[:2].round(3).tolist(), round(clf.score(weather.X, weather.y), 2)
    ([0.357, 0.278], 0.86)
    """

    def __init__(
        self,
        n_estimators: int = 50,
        *,
        tree: Any = None,
        max_depth: int | None = 1,
        learning_rate: float = 1.0,
        votes: str = "class",
        reweighting: str = "factor",
        coarseness: float = 0.0,
        smoothing: str | float | None = None,
        max_resets: int = 10,
        time_limit: float | None = None,
        progress: Callable[[int, int], None] | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        schema: Schema | Mapping[str, Any] | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.tree = tree
        self.max_depth = max_depth
        self.learning_rate = learning_rate
        self.votes = votes
        self.reweighting = reweighting
        self.coarseness = coarseness
        self.smoothing = smoothing
        self.max_resets = max_resets
        self.time_limit = time_limit
        self.progress = progress
        self.warm_start = warm_start
        self.random_state = random_state
        self.schema = schema

    def _recipe(self, n_rows: int, n_attributes: int) -> BoostPlan:
        if self.tree is not None:
            reject_tree_options(self, {"max_depth": 1})
        plan = tree_plan(self.tree, cart(stopping=Stopping(max_depth=self.max_depth)))
        return adaboost(
            plan,
            trees=self.n_estimators,
            learning_rate=self.learning_rate,
            votes=self.votes,
            reweighting=self.reweighting,
            coarseness=self.coarseness,
            max_resets=self.max_resets,
            seed=self._seed,
        )

    @property
    def estimator_weights_(self) -> Floats:
        """Alpha of each tree."""
        return self._logged("alpha")

    @property
    def estimator_errors_(self) -> Floats:
        """Weighted error of each tree in its round."""
        return self._logged("error")

    @property
    def resets_(self) -> npt.NDArray[np.int64]:
        """Resets of the weights before each tree."""
        return self._logged("resets").astype(np.int64)

    def _logged(self, name: str) -> Floats:
        check_is_fitted(self)
        return np.array(self.model_.log[name])

    def decision_function(self, X: Any) -> Floats:
        """Return the share of the votes of each class; with two classes that of the second less that of the first."""
        votes = self.predict_proba(X)
        if len(self.classes_) == 1:
            return votes[:, 0]
        return votes[:, 1] - votes[:, 0] if votes.shape[1] == 2 else votes
