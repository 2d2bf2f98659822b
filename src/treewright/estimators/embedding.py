"""A transformer that encodes each case by its leaves in a forest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, issparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import Tags
from sklearn.utils.validation import _num_samples, check_is_fitted, check_random_state

from treewright._base.errors import ParameterError
from treewright.ensemble.neighbours import embedding
from treewright.estimators.ensembles import EnsembleEstimator
from treewright.estimators.forests import RandomForestRegressor


class ForestEmbedding(TransformerMixin, BaseEstimator):
    """Cases as the leaves of a forest that they end in: sparse columns of ones, one for each leaf.

    A linear model on these columns is a kernel method whose kernel is the forest's proximity.

    Parameters
    ----------
    forest : estimator or None
        A forest of this package, such as ``RandomForestClassifier(100, max_depth=5)``: it is fitted to the target. None
        needs no target: trees with random cuts are fitted to noise, so that the leaves divide the cases by chance.
    n_estimators : int, default 100
        Trees, where no forest is given.
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
        tags: Tags = super().__sklearn_tags__()  # type: ignore[no-untyped-call]  # scikit-learn tells no types
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
            The target, where a forest is given; else it is not looked at.
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
                raise ParameterError("ForestEmbedding requires y to be passed where a forest is given, but y is None")
            self.forest_ = clone(self.forest)
        self.forest_.fit(X, y, sample_weight)
        self.n_features_in_ = self.forest_.n_features_in_
        if hasattr(self.forest_, "feature_names_in_"):
            self.feature_names_in_ = self.forest_.feature_names_in_
        self.n_leaves_ = int(self.forest_.model_.grove.leaf_starts[-1])
        return self

    def transform(self, X: Any) -> csr_matrix:
        """Return the leaves of the cases (cases x leaves), as a sparse matrix of ones."""
        check_is_fitted(self)
        leaves: csr_matrix = embedding(self.forest_.model_, self.forest_._cases(X))
        return leaves

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Return a name for each leaf: the number of its tree and of its leaf there."""
        check_is_fitted(self)
        starts = self.forest_.model_.grove.leaf_starts
        return np.array(
            [f"tree{tree}_leaf{leaf}" for tree, many in enumerate(np.diff(starts).tolist()) for leaf in range(many)],
            dtype=object,
        )


def _rows(X: Any) -> int:
    return len(next(iter(X.values()), ())) if isinstance(X, Mapping) and not issparse(X) else int(_num_samples(X))
