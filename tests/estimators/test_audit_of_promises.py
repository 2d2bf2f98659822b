"""Promises that a stranger would try first: one at a time, the same again, labels as they were given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import treewright

ROWS = [[0, 0, 1], [1, 0, 0], [0, 1, 4], [1, 1, 2], [0, 0, 3]]
CLASSES = list("AABBA")


@pytest.mark.parametrize("estimator", [treewright.CAL2Classifier, treewright.CAL3Classifier])
@pytest.mark.parametrize("declare", [True, False])
def test_cases_that_come_one_at_a_time_give_the_tree_of_one_pass(estimator: Any, declare: bool) -> None:
    rng = np.random.default_rng(4)
    tables = [(np.array(ROWS), np.array(CLASSES))]
    tables += [(rng.integers(0, 3, size=(25, 4)), rng.choice(list("AB"), 25)) for _ in range(5)]
    for X, y in tables:
        one_pass = estimator(max_steps=len(y)).fit(X, y)
        classes = np.unique(y) if declare else None
        by_case = estimator()
        for case in range(len(y)):
            by_case = by_case.partial_fit(X[case : case + 1], y[case : case + 1], classes=classes)
        assert by_case.notation_ == one_pass.notation_
        assert by_case.predict(X).tolist() == one_pass.predict(X).tolist()


def test_cross_validated_choice_is_the_same_again() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:200, :6], y[:200]
    trees = {str(treewright.CARTClassifier(choose="1se").fit(X, y).tree_.to_dict()) for _ in range(4)}
    assert len(trees) == 1
    drawn = {str(treewright.CARTClassifier(max_features=2).fit(X, y).tree_.to_dict()) for _ in range(3)}
    assert len(drawn) == 1


def test_like_rpart_prints_the_cross_validated_errors_also_of_given_groups() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:150, :4], y[:150]
    table = treewright.CARTClassifier.like_rpart().fit(X, y).cp_table_
    assert table.xerror is not None
    assert table.xstd is not None
    groups = np.arange(150) % 5
    by_groups = treewright.CARTClassifier.like_rpart(xval=groups).fit(X, y).cp_table_
    assert by_groups.xerror is not None
    assert by_groups.xerror[0] == pytest.approx(1.0, abs=0.2)
    assert treewright.CARTClassifier.like_rpart(xval=0).fit(X, y).cp_table_.xerror is None
    with pytest.raises(treewright.ParameterError, match="groups for 150 cases"):
        treewright.CARTClassifier.like_rpart(xval=groups[:10]).fit(X, y)


@pytest.mark.parametrize(
    "estimator",
    [
        treewright.ID3Classifier,
        treewright.C45Classifier,
        treewright.CARTClassifier,
        treewright.CHAIDClassifier,
        treewright.CAL2Classifier,
        treewright.CAL3Classifier,
    ],
)
@pytest.mark.parametrize("prune", [None, "chi_square", "mdl", "cost_complexity", "error_based", "simplify"])
def test_every_tree_estimator_takes_every_pruning(estimator: Any, prune: Any) -> None:
    data = treewright.read("sample:contact-lenses")
    if prune == "cost_complexity" and "ccp_alpha" not in estimator().get_params():
        with pytest.raises(treewright.ParameterError, match="needs alpha"):
            estimator(prune=prune).fit(data.X, data.y)
        prune = treewright.CostComplexity(0.01)
    options = {"ccp_alpha": 0.01} if prune == "cost_complexity" else {}
    clf = estimator(prune=prune, **options).fit(data.X, data.y)
    assert clf.tree_.n_nodes <= estimator(prune=None).fit(data.X, data.y).tree_.n_nodes
    assert len(clf.predict(data.X)) == 24


def test_rpart_trees_can_be_pruned_further() -> None:
    data = treewright.read("sample:contact-lenses")
    full = treewright.CARTClassifier(missing="surrogate").fit(data.X, data.y).tree_
    small = treewright.CARTClassifier(missing="surrogate", prune="mdl").fit(data.X, data.y).tree_
    assert small.n_nodes <= full.n_nodes
    assert all(isinstance(node.surrogates, tuple) for node in full)


def test_a_formula_takes_the_label_as_it_was_given() -> None:
    for low, high in ((3, 7), (False, True), (1.0, 2.0), ("a", "b")):
        tree = treewright.CARTClassifier().fit([[0.0], [1.0], [2.0], [3.0]], [low, low, high, high]).tree_
        assert str(tree.to_formula(high)) == "(x1 > 1.5)"


def test_a_closed_leaf_of_cal3_is_not_called_pure() -> None:
    data = treewright.read("sample:cal3")
    leaves = [node for node in treewright.CAL3Classifier().fit(data.X, data.y).tree_ if node.is_leaf]
    assert {str(node.stop) for node in leaves} == {"closed"}


def test_id3_stops_at_a_minimum_gain() -> None:
    data = treewright.read("sample:play-tennis")
    assert treewright.ID3Classifier(min_impurity_decrease=0.25).fit(data.X, data.y).tree_.n_nodes == 1
    assert treewright.ID3Classifier(min_impurity_decrease=0.24).fit(data.X, data.y).tree_.n_nodes > 1
