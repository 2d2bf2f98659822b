"""CHAIDClassifier and CHAIDRegressor: data as they are, in scikit-learn's company, and explained."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import treewright
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.errors import DataError, DataWarning, ParameterError
from treewright.estimators.chaid import CHAIDClassifier, CHAIDRegressor
from treewright.explain.node import blackboard, explain_node
from treewright.learners.chaid.growing import grow_chaid
from treewright.learners.chaid.options import CHAID
from treewright.tree.split import KNOWN, SplitStatus, Test

IRIS = load_iris()
DIABETES = load_diabetes()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [CHAIDClassifier(), CHAIDClassifier(exhaustive=True), CHAIDClassifier.like_r(), CHAIDRegressor()]
)
def test_scikit_learns_checks_pass(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def customers(n: int = 400) -> tuple[pd.DataFrame, Any, Any]:
    """Text and numbers with missing values, a class and a number that depend on both, and on what is missing."""
    random = np.random.default_rng(0)
    income = random.normal(size=n)
    income[random.random(n) < 0.15] = np.nan
    town = random.choice(list("abcde"), n).astype(object)
    middle = np.where(np.isin(town, ["a", "b"]), "maybe", "yes")
    label = np.where(np.isnan(income) | (income < -0.5), "no", np.where(income > 0.5, "yes", middle))
    number = np.where(np.isnan(income), 5.0, np.where(income > 0, 2.0, 0.0)) + random.normal(size=n) / 10
    town[random.random(n) < 0.1] = None
    return pd.DataFrame({"income": income, "town": town}), label, number


# -- data as they are ------------------------------------------------------------------------------------------------


def test_texts_numbers_and_missing_values_are_taken_as_they_are() -> None:
    X, label, number = customers()
    clf: Any = CHAIDClassifier().fit(X, label)
    assert clf.score(X, label) > 0.9
    assert clf.classes_.tolist() == ["maybe", "no", "yes"]
    assert clf.predict_proba(X).sum(axis=1) == pytest.approx(1.0)
    assert clf.tree_.node(0).split.test is Test.INTERVALS
    assert clf.feature_importances_.argmax() == 0
    reg: Any = CHAIDRegressor().fit(X, number)
    assert reg.score(X, number) > 0.95


def test_the_tree_is_that_of_the_grower() -> None:
    lenses = sample("contact-lenses")
    clf: Any = CHAIDClassifier(min_samples_split=5, min_samples_leaf=2).fit(lenses.X, lenses.y)
    tree: Any = grow_chaid(lenses, CHAID(min_samples_split=5, min_samples_leaf=2)).tree
    assert clf.tree_.to_dict() == tree.to_dict()
    assert clf.tree_.p_value.tolist() == pytest.approx(tree.p_value.tolist(), nan_ok=True)


def test_a_value_never_seen_goes_where_the_missing_ones_go() -> None:
    X, label, _ = customers()
    clf: Any = CHAIDClassifier().fit(X[["town"]], label)
    strange = pd.DataFrame({"town": ["z", None]}, dtype=object)
    with pytest.warns(DataWarning, match="1 in 'town'"):
        proba = clf.predict_proba(strange)
    assert proba[0].tolist() == proba[1].tolist()


def test_the_order_of_an_ordinal_column_is_kept() -> None:
    values = ("low", "middle", "high")
    X = pd.DataFrame({"x": np.repeat(values, 30)})
    y = np.repeat([0, 1, 0], 30)
    nominal: Any = CHAIDClassifier().fit(X, y)
    assert nominal.tree_.node(0).split.n_branches == 2
    schema = Schema((Column("x", Kind.ORDINAL, values), Column("y", Kind.NOMINAL, ("0", "1"))), target="y")
    ordinal: Any = CHAIDClassifier(schema=schema).fit(X, y)
    assert ordinal.tree_.node(0).split.n_branches == 3  # low and high are no neighbours


def test_weights_are_numbers_of_cases() -> None:
    lenses = sample("contact-lenses")
    light = CHAIDClassifier(min_samples_split=40).fit(lenses.X, lenses.y)
    heavy = CHAIDClassifier(min_samples_split=40).fit(lenses.X, lenses.y, np.full(24, 2.0))
    assert (light.get_n_leaves(), heavy.get_n_leaves() > 1) == (1, True)
    balanced = CHAIDClassifier(class_weight="balanced").fit(lenses.X, lenses.y)
    assert balanced.tree_.counts[0].tolist() == pytest.approx([8.0, 8.0, 8.0])


# -- parameters ------------------------------------------------------------------------------------------------------


def test_levels_and_limits_make_the_tree_smaller() -> None:
    X, label, _ = customers()
    full = CHAIDClassifier().fit(X, label).get_n_leaves()
    assert CHAIDClassifier(max_depth=1).fit(X, label).get_depth() == 1
    assert CHAIDClassifier(alpha_split=1e-30).fit(X, label).get_n_leaves() < full
    assert CHAIDClassifier(min_samples_split=0.5).fit(X, label).get_n_leaves() < full
    coarse: Any = CHAIDClassifier(bins=2).fit(X, label)
    assert coarse.tree_.node(0).split.n_branches <= 3
    assert CHAIDClassifier(min_samples_split=0.001, min_samples_leaf=0.001).fit(X, label).get_n_leaves() >= full


def test_like_r_is_a_parameter_that_survives_cloning() -> None:
    X, label, _ = customers()
    clf = clone(CHAIDClassifier.like_r(min_samples_leaf=20))
    assert clf.get_params()["dialect"] == "r"
    assert "as R's program" in clf._recipe(10, 2).describe()
    assert clf.fit(X, label).model_.recipe["options"]["like_r"] is True


@pytest.mark.parametrize(
    ("parameters", "word"),
    [
        ({"alpha_merge": 0}, "alpha_merge"),
        ({"alpha_split": 2.0}, "alpha_split"),
        ({"resplit": True, "exhaustive": True}, "at most one"),
        ({"dialect": "r", "exhaustive": True}, "at most one"),
        ({"dialect": "R"}, "dialect"),
        ({"min_samples_split": 1}, "min_samples_split"),
        ({"min_samples_leaf": 0}, "min_samples_leaf"),
        ({"bins": 1}, "bins"),
        ({"prune": "chisquare"}, "chi_square"),
    ],
)
def test_wrong_parameters_are_named(parameters: dict[str, Any], word: str) -> None:
    with pytest.raises(ParameterError, match=word):
        CHAIDClassifier(**parameters).fit([["a"], ["b"]], [0, 1])


@pytest.mark.parametrize(
    "method", ["chi_square", "mdl", "error_based", "reduced_error", treewright.CostComplexity(0.05)]
)
def test_what_it_has_grown_can_be_pruned(method: Any) -> None:
    X, label, _ = customers()
    full = CHAIDClassifier(alpha_split=0.9, alpha_merge=0.9).fit(X, label).get_n_leaves()
    assert CHAIDClassifier(alpha_split=0.9, alpha_merge=0.9, prune=method).fit(X, label).get_n_leaves() <= full


def test_numbers_are_pruned_by_cost() -> None:
    X, _, number = customers()
    assert CHAIDRegressor(prune=treewright.CostComplexity(100.0)).fit(X, number).get_n_leaves() == 1
    with pytest.raises(ParameterError, match="classes"):
        CHAIDRegressor(prune="chi_square").fit(X, number)


# -- company ---------------------------------------------------------------------------------------------------------


def test_it_is_cloned_searched_and_put_in_a_pipeline() -> None:
    search = GridSearchCV(
        make_pipeline(StandardScaler(), CHAIDClassifier()),
        {"chaidclassifier__max_depth": np.arange(1, 4), "chaidclassifier__exhaustive": [False, True]},
        cv=3,
    )
    assert search.fit(IRIS.data, IRIS.target).best_score_ > 0.85
    model = search.best_estimator_[-1].model_
    assert isinstance(model.recipe["options"]["max_depth"], int)
    reg: Any = CHAIDRegressor(bins=4).fit(DIABETES.data, DIABETES.target)
    assert clone(reg).get_params()["bins"] == 4
    assert reg.score(DIABETES.data, DIABETES.target) > 0.3


def test_saved_and_loaded_it_predicts_the_same(tmp_path: Path) -> None:
    X, label, number = customers()
    for estimator, y in ((CHAIDClassifier(), label), (CHAIDRegressor(), number)):
        fitted = estimator.fit(X, y)
        fitted.save(tmp_path / "model.json")
        loaded = treewright.load(tmp_path / "model.json")
        assert loaded.predict(X).tolist() == fitted.predict(X).tolist()
        assert loaded.recipe["name"] == "CHAID"
        assert pickle.loads(pickle.dumps(fitted)).predict(X).tolist() == fitted.predict(X).tolist()  # noqa: S301


def test_r_predicts_no_numbers() -> None:
    with pytest.raises(TypeError, match="dialect"):
        CHAIDRegressor(dialect="r")  # type: ignore[call-arg]
    lenses = sample("contact-lenses")
    schema = Schema((*lenses.schema.attributes, Column("n", Kind.NUMERIC)), target="n")
    numbers = treewright.Dataset(schema, lenses.columns, 24, np.arange(24.0))
    with pytest.raises(DataError, match="R's CHAID"):
        treewright.fit(numbers, CHAID(like_r=True))


# -- explanations ----------------------------------------------------------------------------------------------------


def test_the_chosen_test_is_explained_by_the_table_that_was_tested() -> None:
    X, label, _ = customers()
    clf: Any = CHAIDClassifier().fit(X, label)
    explained = explain_node(clf.model_)
    assert explained.chosen == "income"
    chosen = explained.attributes[0]
    assert (chosen.verdict, chosen.unknown, chosen.known) == (SplitStatus.CHOSEN, 0.0, 400.0)
    children = clf.tree_.node(0).children
    assert [branch.weight for branch in chosen.branches] == [child.weight for child in children]
    assert [list(branch.counts) for branch in chosen.branches] == [
        clf.tree_.counts[child.index].tolist() for child in children
    ]
    assert chosen.chi_square_p is not None
    assert chosen.chi_square_p <= clf.tree_.p_value[0]  # which is adjusted
    assert explained.attributes[1].verdict is SplitStatus.CONSIDERED


def test_missing_cases_with_a_branch_of_their_own_are_explained() -> None:
    X, _, number = customers()
    clf: Any = CHAIDClassifier().fit(X, X["income"].isna())
    split = clf.tree_.node(0).split
    assert split.cut == KNOWN
    chosen = explain_node(clf.model_).attributes[0]
    assert [branch.label for branch in chosen.branches] == ["known", "missing"]
    assert chosen.branches[1].weight == X["income"].isna().sum()
    assert chosen.decrease == pytest.approx(explain_node(clf.model_).impurity)
    reg: Any = CHAIDRegressor(bins=4).fit(X, number)
    labels = [branch.label for branch in explain_node(reg.model_).attributes[0].branches]
    assert labels[-1] == "missing"
    assert explain_node(reg.model_).attributes[0].branches[-1].mean == pytest.approx(5.0, abs=0.1)
    town = CHAIDClassifier().fit(X[["town"]], X["town"].isna())
    assert explain_node(town.model_).attributes[0].branches[-1].label == "missing"


@pytest.mark.parametrize("parameters", [{}, {"exhaustive": True}, {"resplit": True}, {"dialect": "r"}])
def test_every_node_can_be_written_out_also_after_loading(parameters: dict[str, Any], tmp_path: Path) -> None:
    X, label, _ = customers()
    clf = CHAIDClassifier(**parameters).fit(X, label)
    clf.save(tmp_path / "model.json")
    loaded = treewright.load(tmp_path / "model.json")
    assert isinstance(loaded, treewright.TreeModel)
    for node in range(clf.tree_.n_nodes):
        text = blackboard(explain_node(clf.model_, node))
        assert text.startswith(f"Node {node}")
        assert "pruned" not in text
        assert blackboard(explain_node(loaded, node)) == text


def test_a_pruned_leaf_describes_what_it_lost() -> None:
    X, label, _ = customers()
    clf = CHAIDClassifier(prune=treewright.CostComplexity(1.0)).fit(X, label)
    assert explain_node(clf.model_).attributes[0].verdict is SplitStatus.PRUNED


def test_numbers_are_explained_node_by_node() -> None:
    reg: Any = CHAIDRegressor().fit(DIABETES.data, DIABETES.target)
    for node in range(reg.tree_.n_nodes):
        assert "Var(y)" in blackboard(explain_node(reg.model_, node))
