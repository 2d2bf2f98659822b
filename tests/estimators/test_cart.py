"""CART's options through the estimators: rpart's where one of them is used, scikit-learn's otherwise."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

import treewright
from treewright import CARTClassifier, CARTRegressor
from treewright.cart_plan import MedianLearner, RpartLearner
from treewright.counting.numpy import TreeEngine, engine_for
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.errors import ParameterError
from treewright.explain.node import explain_node
from treewright.fitting.learn import fit
from treewright.learners.base import Run as GrowRun
from treewright.learners.rpart.growing import grow_rpart
from treewright.learners.rpart.options import Rpart
from treewright.learners.rpart.pruning import choose_cp, cp_table, cross_validated, importance, prune_to_cp
from treewright.plans import cart

IRIS = load_iris()
CANCER = load_breast_cancer()
DIABETES = load_diabetes()


def twins() -> tuple[Any, Any]:
    """Return two columns with the same information, the second one backwards, and classes by the first."""
    x = np.repeat([1.0, 2.0], [6, 8])
    return np.column_stack((x, 5.0 - x)), np.repeat(["a", "b"], [6, 8])


def with_missing(seed: int = 0, share: float = 0.15) -> tuple[Any, Any]:
    X = IRIS.data.copy()
    X[np.random.default_rng(seed).random(X.shape) < share] = np.nan
    return X, IRIS.target


# -- surrogates ------------------------------------------------------------------------------------------------------


def test_a_case_without_the_value_goes_the_surrogates_way() -> None:
    X, y = twins()
    fitted = CARTClassifier(missing="surrogate").fit(X, y)
    [surrogate] = fitted.tree_.surrogates[0]
    assert (fitted.tree_.attribute[0], surrogate.split.attribute, surrogate.reversed) == (0, 1, True)
    lost = [[np.nan, 4.0], [np.nan, 3.0], [np.nan, np.nan]]
    assert fitted.predict(lost).tolist() == ["a", "b", "b"]  # the last one: most cases are b
    assert CARTClassifier(missing="majority", cp=0.0).fit(X, y).predict(lost).tolist() == ["b", "b", "b"]
    assert CARTClassifier(missing="surrogate", max_surrogates=0).fit(X, y).tree_.surrogates == {}


def test_a_regression_tree_has_surrogates_too() -> None:
    X, y = twins()
    fitted = CARTRegressor(missing="surrogate").fit(X, np.where(y == "a", 1.5, 7.0))
    assert fitted.predict([[np.nan, 4.0], [np.nan, 3.0]]).tolist() == [1.5, 7.0]


def test_saving_keeps_surrogates_predictions_and_the_table(tmp_path: Path) -> None:
    X, y = with_missing()
    fitted = CARTClassifier(missing="surrogate", cp=0.01, priors=[0.2, 0.3, 0.5]).fit(X, y)
    assert fitted.tree_.surrogates
    fitted.save(tmp_path / "model.json")
    model = treewright.load(tmp_path / "model.json")
    assert isinstance(model, treewright.TreeModel)
    assert model.tree.surrogates == fitted.tree_.surrogates
    assert model.predict(X).tolist() == fitted.predict(X).tolist()
    assert model.predict_proba(X).tolist() == fitted.predict_proba(X).tolist()
    assert model.recipe["cp_table"] == [list(row) for row in fitted.cp_table_.rows()]
    again = pickle.loads(pickle.dumps(fitted))  # noqa: S301 - our own bytes
    assert again.feature_importances_.tolist() == fitted.feature_importances_.tolist()


def test_none_means_surrogates_with_rparts_options_and_the_best_side_otherwise() -> None:
    X, y = with_missing()
    by_cp = CARTClassifier(cp=0.01).fit(X, y)
    assert by_cp.tree_.to_dict() == CARTClassifier(cp=0.01, missing="surrogate").fit(X, y).tree_.to_dict()
    plain = CARTClassifier().fit(X, y)
    assert plain.tree_.to_dict() == CARTClassifier(missing="best_side").fit(X, y).tree_.to_dict()
    assert not plain.tree_.surrogates


def test_the_split_trace_of_every_node_counts_the_cases_that_came_there() -> None:
    X, y = with_missing()
    extras: list[dict[str, Any]] = [{}, {"priors": [0.6, 0.3, 0.1]}]
    for extra in extras:
        model = CARTClassifier(missing="surrogate", **extra).fit(X, y).model_
        assert model.tree.surrogates
        assert len(model.trace) > 5
        for node, evaluated in model.trace.items():
            for one in evaluated:
                if one.split is not None:
                    counted = one.counts.sum(axis=0) + one.unknown
                    assert counted == pytest.approx(model.tree.counts[node].astype(float))
        assert explain_node(model).chosen == model.tree.node(0).attribute.name


def test_the_engine_of_a_tree_sends_cases_where_the_tree_does() -> None:
    data = sample("play-tennis")
    tree = grow_rpart(data, Rpart(min_split=2, cp=0.0)).tree
    engine = engine_for(data, tree, fractional=False)
    assert isinstance(engine, TreeEngine)
    split = tree.split(0)
    assert split is not None
    children = engine.split_node(engine.root(), split)
    assert [one.weight for one in engine.summaries(children)] == tree.weight[tree.children_of(0)].tolist()


# -- what rpart's options are passed on to ---------------------------------------------------------------------------


def test_limits_are_handed_on() -> None:
    data = treewright.read("sample:play-tennis")
    limits: dict[str, Any] = {"min_samples_split": 5, "min_samples_leaf": 2, "max_depth": 2}
    fitted = CARTClassifier(missing="surrogate", criterion="entropy", **limits).fit(data.X, data.y)
    options = Rpart("information", min_split=5, min_bucket=2, max_depth=2, cp=0.0, competitors=0)
    assert fitted.tree_.to_dict() == grow_rpart(data, options).tree.to_dict()


def test_cp_none_grows_fully_and_cp_stops_early() -> None:
    full: Any = CARTClassifier(missing="surrogate").fit(IRIS.data, IRIS.target)
    small = CARTClassifier(cp=0.1).fit(IRIS.data, IRIS.target)
    assert full.score(IRIS.data, IRIS.target) == 1.0
    assert full.get_n_leaves() > small.get_n_leaves() == 3
    assert len(small.cp_table_) == 3


def test_depth_has_no_limit_unless_given() -> None:
    n = 80
    X, y = np.arange(float(n))[:, None], np.arange(n) % 2
    deep: Any = CARTClassifier(missing="surrogate").fit(X, y)
    assert deep.score(X, y) == 1.0
    assert deep.get_depth() > 30
    assert CARTClassifier(missing="surrogate", max_depth=4).fit(X, y).get_depth() <= 4


def test_weights_count_as_repeated_cases() -> None:
    weights = np.random.default_rng(0).integers(0, 4, 150)
    weighted = CARTClassifier(missing="surrogate").fit(IRIS.data, IRIS.target, sample_weight=weights)
    repeated = CARTClassifier(missing="surrogate").fit(
        np.repeat(IRIS.data, weights, axis=0), np.repeat(IRIS.target, weights)
    )
    assert weighted.predict_proba(IRIS.data) == pytest.approx(repeated.predict_proba(IRIS.data))


# -- priors and losses -----------------------------------------------------------------------------------------------


def three_groups() -> tuple[Any, Any]:
    """Return 10 cases of no; 7 of no and 3 of yes; 1 of no and 9 of yes."""
    y = ["no"] * 10 + ["no"] * 7 + ["yes"] * 3 + ["no"] + ["yes"] * 9
    return np.repeat([1.0, 2.0, 3.0], 10)[:, None], np.array(y)


def declaring(*classes: str) -> Schema:
    return Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NOMINAL, classes)), target="y")


EACH = [[1.0], [2.0], [3.0]]


@pytest.mark.parametrize("schema", [declaring("no", "yes"), declaring("yes", "maybe", "no")], ids=["sorted", "other"])
def test_a_loss_is_read_in_the_order_of_classes_or_by_label(schema: Schema) -> None:
    X, y = three_groups()
    assert CARTClassifier(cp=0.0, schema=schema).fit(X, y).predict(EACH).tolist() == ["no", "no", "yes"]
    for loss in ([[0, 1], [4, 0]], {("yes", "no"): 4}):
        fitted = CARTClassifier(loss=loss, schema=schema).fit(X, y)
        # In the middle 3 missed at 4 each cost more than 7 at 1; so it need not be split from the right.
        assert fitted.predict(EACH).tolist() == ["no", "yes", "yes"]
        assert fitted.predict_proba(EACH)[1].tolist() == pytest.approx([8 / 20, 12 / 20])
        assert fitted.tree_.node(0).outcome == "yes"


@pytest.mark.parametrize("schema", [declaring("no", "yes"), declaring("yes", "maybe", "no")], ids=["sorted", "other"])
def test_priors_make_shares_into_probabilities(schema: Schema) -> None:
    X, y = three_groups()
    for priors in ({"yes": 0.1, "no": 0.9}, np.array([0.9, 0.1])):
        fitted = CARTClassifier(priors=priors, schema=schema).fit(X, y)
        assert fitted.tree_.weight[0] == pytest.approx(30)
        no, yes = 0.9 / 18, 0.1 * 9 / 12
        assert fitted.predict_proba(EACH)[2].tolist() == pytest.approx([no / (no + yes), yes / (no + yes)])
        assert fitted.predict(EACH).tolist() == ["no", "no", "yes"]
    assert CARTClassifier(priors=[0.2, 0.8], schema=schema).fit(X, y).predict(EACH).tolist() == ["no", "yes", "yes"]


@pytest.mark.parametrize("seed", range(3))
def test_what_is_predicted_is_the_outcome_of_the_leaf(seed: int) -> None:
    X, y = with_missing(seed)
    loss = [[0, 1, 5], [2, 0, 1], [1, 8, 0]]
    fitted = CARTClassifier(loss=loss, priors=[0.5, 0.2, 0.3], min_samples_leaf=12).fit(X, y)
    assert fitted.predict(X).tolist() == fitted.tree_.outcome[fitted.apply(X)].tolist()


# -- the table and the choice of cp ----------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["min", "1se"])
def test_the_choice_of_cp_by_cross_validation(rule: Any) -> None:
    fitted = CARTClassifier(choose=rule, xval=5, random_state=3).fit(CANCER.data, CANCER.target)
    full = CARTClassifier(missing="surrogate").fit(CANCER.data, CANCER.target)
    table = fitted.cp_table_
    assert table.rows()[0][:3] == full.cp_table_.rows()[0]
    cp = choose_cp(table, rule)
    [chosen] = [row for row in table.rows() if row[0] == cp]
    assert fitted.get_n_leaves() == chosen[1] + 1 < full.get_n_leaves()
    again = CARTClassifier(choose=rule, xval=5, random_state=3).fit(CANCER.data, CANCER.target)
    assert again.cp_table_.rows() == table.rows()


def test_the_choice_is_that_of_the_parts() -> None:
    learner = RpartLearner(Rpart(min_split=2, cp=0.0), "min", folds=7, seed=1)
    data = sample("restaurant")
    growth = grow_rpart(data, learner.options)
    table = cross_validated(data, learner.options, growth, folds=7, seed=1)
    learned = learner.grow(data, GrowRun())
    assert learned.statistics["cp_table"] == [list(row) for row in table.rows()]
    assert learned.tree.to_dict() == prune_to_cp(growth, choose_cp(table)).to_dict()


def test_the_table_is_printed_as_rpart_prints_it() -> None:
    fitted = CARTClassifier(choose="1se", random_state=0).fit(IRIS.data, IRIS.target)
    head, *lines = str(fitted.cp_table_).splitlines()
    assert head.split() == ["CP", "nsplit", "rel", "error", "xerror", "xstd"]
    assert lines[0].split()[:4] == ["1", "0.5", "0", "1"]
    assert len({len(line) for line in (head, *lines)}) == 1


def test_there_is_no_table_without_rparts_options() -> None:
    fitted = CARTClassifier().fit(IRIS.data, IRIS.target)
    assert not hasattr(fitted, "cp_table_")
    assert hasattr(CARTClassifier(cp=0.0).fit(IRIS.data, IRIS.target), "cp_table_")


def test_importances_count_surrogates_and_only_the_tests_that_are_left() -> None:
    data = treewright.read("sample:play-tennis")
    growth = grow_rpart(data, Rpart(min_split=2, min_bucket=1, cp=0.0))
    amounts = importance(growth)
    fitted = CARTClassifier(missing="surrogate").fit(data.X, data.y)
    assert fitted.feature_importances_ == pytest.approx(amounts / amounts.sum())
    root = growth.nodes[0]
    assert root.primary is not None
    upper = importance(growth, cp_table(growth).rows()[1][0])
    assert 0 < upper.sum() < amounts.sum()
    assert importance(growth, 1.0).tolist() == [0.0] * 4


def test_in_a_grid_search_over_cp() -> None:
    search = GridSearchCV(CARTClassifier(missing="surrogate"), {"cp": [0.0, 0.02, 0.6]}, cv=3)
    search.fit(*with_missing())
    assert search.best_params_["cp"] < 0.6
    assert search.best_score_ > 0.8


def test_clone_keeps_what_makes_it_rpart() -> None:
    copy: Any = clone(CARTClassifier.like_rpart(cp=0.02))
    params = copy.get_params()
    assert (params["min_samples_split"], params["min_samples_leaf"], params["max_depth"]) == (20, 7, 30)
    assert (params["cp"], params["faults"], params["missing"]) == (0.02, True, "surrogate")
    assert CARTRegressor.like_rpart(min_samples_split=10).min_samples_leaf == 3


# -- what does not go together ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"max_leaf_nodes": 5}, "max_leaf_nodes cannot be combined with missing='surrogate'"),
        ({"max_features": 2}, "max_features cannot be combined with"),
        ({"min_impurity_decrease": 0.1}, "min_impurity_decrease cannot be combined with"),
        ({"min_weight_fraction_leaf": 0.1}, "min_weight_fraction_leaf cannot be combined with"),
        ({"monotonic": [1, 0, 0, 0]}, "monotonic cannot be combined with"),
        ({"criterion": "chi2"}, "criterion='chi2' cannot be combined with"),
        ({"cp": -1}, "cp must be"),
        ({"missing": "best_side", "cp": 0.1}, "missing='best_side' cannot be combined with cp"),
        ({"choose": "2se"}, "'min' or '1se'"),
        ({"choose": "min", "xval": 0}, "at least 2 groups"),
        ({"xval": -1}, "xval"),
        ({"max_surrogates": -1}, "max_surrogates"),
        ({"priors": [0.5, 0.5]}, "3 numbers"),
        ({"priors": [0.5, 0.5, 0.5]}, "sum to 1"),
        ({"priors": {0: 0.5, 1: 0.5}}, "each of the classes"),
        ({"priors": ["a", "b", "c"]}, "numbers"),
        ({"loss": [[0, 1], [1, 0]]}, "3 rows"),
        ({"loss": [[0, 1, 1], [1, 2, 1], [1, 1, 0]]}, "diagonal"),
        ({"missing": "surogate"}, "did you mean 'surrogate'"),
    ],
    ids=str,
)
def test_options_that_do_not_go_together_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        CARTClassifier(**{"missing": "surrogate", **options}).fit(IRIS.data, IRIS.target)


def test_losses_and_priors_are_for_classes() -> None:
    numbers = pd.DataFrame({"x": [1.0, 2.0, 3.0]})
    data = CARTRegressor().fit(numbers, [1.0, 2.0, 5.0]).model_.cases(numbers)
    target = treewright.Dataset(data.schema, data.columns, 3, np.array([1.0, 2.0, 5.0]))
    for options, word in (({"loss": ((0.0, 1.0), (1.0, 0.0))}, "losses"), ({"priors": (0.5, 0.5)}, "priors")):
        with pytest.raises(ParameterError, match=word):
            fit(target, cart(**options))
    with pytest.raises(ParameterError, match="classes"):
        fit(sample("play-tennis"), cart(criterion="absolute_error"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"criterion": "poisson"}, "'squared_error', 'absolute_error'"),
        ({"criterion": "absolute_error", "cp": 0.1}, "criterion='absolute_error' cannot be combined with cp"),
        ({"criterion": "absolute_error", "monotonic": [1] * 10}, "monotonic cannot be combined with criterion"),
        ({"criterion": "absolute_error", "max_features": 2}, "max_features cannot be combined with criterion"),
        ({"criterion": "absolute_error", "ccp_alpha": 0.1}, "ccp_alpha"),
    ],
    ids=str,
)
def test_the_regressor_reports_what_it_cannot_do(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        CARTRegressor(**options).fit(DIABETES.data, DIABETES.target)


# -- plans -----------------------------------------------------------------------------------------------------------


def test_plans_describe_themselves() -> None:
    plan = cart(missing="surrogate", cp=0.01, choose="1se", priors=(0.5, 0.5), loss=((0.0, 1.0), (2.0, 0.0)))
    assert plan.name == "CART"
    assert plan.describe() == (
        "gini, 5 surrogates at most, priors, losses, cp 0.01, "
        "pruned to the least error and its standard error in 10 groups"
    )
    assert cart(cp=0.1, missing="majority", criterion="entropy").describe() == "entropy, cp 0.1"
    median = cart(criterion="absolute_error")
    assert isinstance(median.learner, MedianLearner)
    assert (median.describe(), median.criterion) == ("absolute error", "absolute_error")
    model = fit(sample("play-tennis"), cart(missing="surrogate", cp=0.01))
    assert model.recipe["options"]["options"]["cp"] == 0.01
    assert model.recipe["subset_search"]


def test_a_plan_with_losses_predicts_the_least_loss_without_the_estimator() -> None:
    data = sample("play-tennis")
    model = fit(data, cart(loss=((0.0, 1.0), (50.0, 0.0)), cp=0.9))
    assert model.tree.n_leaves == 1
    assert set(model.predict(data.X).tolist()) == {"No"}


# -- the path of scikit-learn's pruning ------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_the_pruning_path_of_classes_is_scikit_learns(load: Callable[..., Any], criterion: str) -> None:
    X, y = load(return_X_y=True)
    ours = CARTClassifier(criterion=criterion, ccp_alpha=0.3).cost_complexity_pruning_path(X, y)
    theirs = DecisionTreeClassifier(criterion=criterion, random_state=0).cost_complexity_pruning_path(X, y)
    assert ours.ccp_alphas == pytest.approx(theirs.ccp_alphas, abs=1e-9)
    assert ours.impurities == pytest.approx(theirs.impurities, abs=1e-9)


def test_the_pruning_path_of_numbers_is_scikit_learns_and_prunes_so() -> None:
    X, y = DIABETES.data, DIABETES.target
    weights = np.random.default_rng(0).integers(1, 3, len(y)).astype(float)
    ours = CARTRegressor(max_depth=5).cost_complexity_pruning_path(X, y, weights)
    theirs = DecisionTreeRegressor(max_depth=5, random_state=0).cost_complexity_pruning_path(X, y, weights)
    assert ours.ccp_alphas == pytest.approx(theirs.ccp_alphas, rel=1e-9, abs=1e-9)
    assert ours.impurities == pytest.approx(theirs.impurities, rel=1e-9)
    alpha = float(ours.ccp_alphas[-3:-1].mean())
    pruned = CARTRegressor(max_depth=5, ccp_alpha=alpha).fit(X, y, weights)
    other = DecisionTreeRegressor(max_depth=5, ccp_alpha=alpha, random_state=0).fit(X, y, weights)
    assert pruned.get_n_leaves() == other.get_n_leaves() > 1


def test_there_is_no_such_path_with_rparts_options() -> None:
    with pytest.raises(ParameterError, match="cp_table_"):
        CARTClassifier(cp=0.01).cost_complexity_pruning_path(IRIS.data, IRIS.target)


# -- in scikit-learn's company ---------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [
        CARTRegressor(missing="surrogate"),
        CARTRegressor(criterion="absolute_error"),
        CARTClassifier(missing="surrogate"),
    ],
    expected_failed_checks=lambda estimator: (
        {"check_class_weight_classifiers": "sets min_weight_fraction_leaf, which rpart does not know"}
        if isinstance(estimator, CARTClassifier)
        else {}
    ),
)
def test_scikit_learns_checks_pass(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
