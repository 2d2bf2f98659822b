"""Importance by the decrease of impurity, against scikit-learn and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, make_classification
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from treewright.data.samples import sample
from treewright.estimators.cart import CARTClassifier, CARTRegressor
from treewright.explain.attribute import impurity_importance
from treewright.fitting.learn import fit
from treewright.learners.recipe import CART, ID3, Stopping


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_importance_is_scikit_learns_where_no_split_is_tied(criterion: str) -> None:
    """Continuous columns and leaves of at least 25 cases: no two splits are equally good."""
    X, y = make_classification(600, 8, n_informative=5, n_classes=3, random_state=1)
    ours = CARTClassifier(criterion=criterion, max_depth=3, min_samples_leaf=25).fit(X, y)
    theirs = DecisionTreeClassifier(criterion=criterion, max_depth=3, min_samples_leaf=25, random_state=0).fit(X, y)
    assert ours.tree_.n_nodes == theirs.tree_.node_count
    assert ours.feature_importances_ == pytest.approx(theirs.feature_importances_, abs=1e-6)


def test_importance_of_a_regression_tree_is_scikit_learns() -> None:
    X, y = load_diabetes(return_X_y=True)
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(np.float64)
    ours = CARTRegressor(max_depth=3).fit(X, y, weights)
    theirs = DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, y, weights)
    assert ours.feature_importances_ == pytest.approx(theirs.feature_importances_, abs=1e-6)


def test_importance_by_hand() -> None:
    """PlayTennis: Outlook lowers n H by 14 * 0.2467, Humidity and Wind by 5 * 0.971 each below it."""
    tree = fit(sample("play-tennis"), ID3()).tree
    by_hand = np.array([14 * 0.24675, 0.0, 5 * 0.970951, 5 * 0.970951])
    assert impurity_importance(tree, "gain") == pytest.approx(by_hand / by_hand.sum(), abs=1e-5)


def test_shares_sum_to_one_and_a_single_leaf_has_none() -> None:
    data = sample("restaurant")
    assert impurity_importance(fit(data, CART()).tree, "gini").sum() == pytest.approx(1.0)
    leaf = fit(data, CART(stopping=Stopping(max_depth=0))).tree
    assert impurity_importance(leaf, "gini").tolist() == [0.0] * 10
