"""The estimators in scikit-learn's company: data as they are, and everything a fitted estimator can be asked."""

from __future__ import annotations

import pickle
from io import BytesIO
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import treewright
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.errors import DataError, DataWarning, ParameterError
from treewright.estimators.c45 import C45Classifier, ID3Classifier
from treewright.estimators.cart import CARTClassifier, CARTRegressor

CLASSIFIERS = [ID3Classifier(), C45Classifier(), CARTClassifier()]
IRIS = load_iris()
DIABETES = load_diabetes()


def weather() -> tuple[Any, Any]:
    frame = sample("play-tennis").to_pandas()
    return frame.drop(columns="PlayTennis"), frame["PlayTennis"]


def arrow_table(frame: Any) -> Any:
    return pl.DataFrame(frame.to_dict("list")).to_arrow()


def accuracy(fitted: Any, X: Any, y: Any) -> float:
    return float(fitted.score(X, y))


# -- data as they are ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("clf", CLASSIFIERS)
def test_strings_are_taken_as_they_are(clf: Any) -> None:
    X, y = weather()
    fitted = clone(clf).fit(X, y)
    assert fitted.predict(X).tolist() == y.tolist()
    assert fitted.feature_names_in_.tolist() == ["Outlook", "Temperature", "Humidity", "Wind"]
    assert fitted.n_features_in_ == 4
    assert fitted.tree_.node(0).attribute.name == "Outlook"


@pytest.mark.parametrize("clf", CLASSIFIERS)
def test_pandas_polars_arrow_and_dataset_give_the_same_tree(clf: Any) -> None:
    X, y = weather()
    trees = []
    for table in (X, pl.DataFrame(X.to_dict("list")), arrow_table(X)):
        fitted = clone(clf).fit(table, y.to_numpy())
        assert fitted.predict(table).tolist() == y.tolist()
        trees.append(fitted.tree_.to_dict())
    assert trees[0] == trees[1] == trees[2]


def test_a_polars_series_of_labels_is_taken() -> None:
    X, y = weather()
    fitted = CARTClassifier().fit(pl.DataFrame(X.to_dict("list")), pl.Series("play", y.tolist()))
    assert accuracy(fitted, X, y) == 1.0


def test_an_array_of_strings_is_taken() -> None:
    X, y = weather()
    fitted = CARTClassifier().fit(X.to_numpy(dtype=object), y.to_numpy())
    assert accuracy(fitted, X.to_numpy(dtype=object), y) == 1.0


def test_a_frame_is_matched_by_name_not_by_position() -> None:
    X, y = weather()
    fitted = ID3Classifier().fit(X, y)
    assert fitted.predict(X[["Wind", "Humidity", "Temperature", "Outlook"]]).tolist() == y.tolist()
    with pytest.raises(DataError, match="Wind"):
        fitted.predict(X.drop(columns="Wind"))


def test_a_value_never_seen_is_reported_and_counts_as_missing() -> None:
    X, y = weather()
    fitted = C45Classifier().fit(X, y)
    strange = X.head(1).assign(Outlook="Snow")
    with pytest.warns(DataWarning, match="1 in 'Outlook'"):
        assert fitted.predict(strange).shape == (1,)


def test_missing_values_are_welcome() -> None:
    X, y = weather()
    X.loc[[0, 5], "Outlook"] = None
    for clf in CLASSIFIERS:
        assert clone(clf).fit(X, y).predict(X).shape == (14,)
    numbers = IRIS.data.copy()
    numbers[::7, 2] = np.nan
    assert accuracy(CARTClassifier().fit(numbers, IRIS.target), numbers, IRIS.target) > 0.95


def test_a_dataset_brings_its_own_schema() -> None:
    data = treewright.read("sample:play-tennis")
    fitted = C45Classifier().fit(data.X, data.y)
    assert fitted.schema_.attributes == data.schema.attributes
    assert accuracy(fitted, data.X, data.y) == 1.0


# -- labels ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["no", "yes"]),
        np.array(["no", "yes"], dtype=object),
        np.array([7, -3]),
        np.array([2, 5], dtype=np.int8),
        np.array([0.0, 1.0]),
        np.array([False, True]),
    ],
    ids=lambda labels: str(labels.dtype),
)
def test_labels_come_back_in_their_own_type_and_classes_are_sorted(
    labels: np.ndarray[Any, Any], tmp_path: Path
) -> None:
    X = np.array([[1.0], [2.0], [3.0], [4.0]])
    y = labels[[1, 1, 0, 0]]
    fitted = CARTClassifier().fit(X, y)
    predicted = fitted.predict(X)
    assert predicted.tolist() == y.tolist()
    assert predicted.dtype == y.dtype
    assert fitted.classes_.tolist() == sorted(labels.tolist())
    assert fitted.predict_proba(X).argmax(axis=1).tolist() == [fitted.classes_.tolist().index(one) for one in y]
    fitted.save(tmp_path / "model.json")
    assert treewright.load(tmp_path / "model.json").predict(X).tolist() == y.tolist()


def test_a_saved_estimator_predicts_the_same_without_scikit_learn(tmp_path: Path) -> None:
    X, y = weather()
    fitted = C45Classifier().fit(X, y)
    fitted.save(tmp_path / "model.json")
    model = treewright.load(tmp_path / "model.json")
    assert model.predict(X).tolist() == y.tolist()


def test_the_schema_decides_the_order_of_classes_and_values() -> None:
    schema = Schema(
        (Column("a", Kind.NOMINAL, ("z", "y", "x")), Column("k", Kind.NOMINAL, ("no", "maybe", "yes"))), target="k"
    )
    X = pd.DataFrame({"a": ["x", "y", "z"]})
    y = ["yes", "no", "maybe"]
    fitted = ID3Classifier(schema=schema).fit(X, y)
    assert [label for label, _ in fitted.tree_.to_dict()["children"]] == ["z", "y", "x"]
    assert fitted.tree_.node(0).outcome == "no"  # three classes tie, and this one is first
    assert fitted.classes_.tolist() == ["maybe", "no", "yes"]
    assert fitted.predict(X).tolist() == y
    proba = fitted.predict_proba(X)
    assert proba.tolist() == [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    same = ID3Classifier(schema=schema.to_dict()).fit(X, y)
    assert same.tree_.to_dict() == fitted.tree_.to_dict()


def test_a_label_that_the_schema_does_not_declare_is_refused() -> None:
    schema = Schema((Column("a", Kind.NUMERIC), Column("k", Kind.NOMINAL, ("no", "yes"))), target="k")
    with pytest.raises(DataError, match="perhaps"):
        CARTClassifier(schema=schema).fit(pd.DataFrame({"a": [1.0, 2.0]}), ["no", "perhaps"])


def test_ties_of_classes_go_to_the_first_sorted_label_without_a_schema() -> None:
    fitted = CARTClassifier().fit(np.ones((2, 1)), ["b", "a"])
    assert fitted.predict(np.ones((1, 1))).tolist() == ["a"]


# -- in scikit-learn's company ---------------------------------------------------------------------------------------


def test_in_a_pipeline_with_a_column_transformer() -> None:
    X, y = weather()
    X["heat"] = np.arange(14.0)
    ahead = ColumnTransformer(
        [("scale", StandardScaler(), ["heat"]), ("rest", "passthrough", ["Outlook", "Humidity", "Wind"])],
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    pipeline = make_pipeline(ahead, CARTClassifier())
    assert pipeline.fit(X, y).score(X, y) == 1.0


def test_in_a_pipeline_after_an_array_transformer() -> None:
    pipeline = make_pipeline(StandardScaler(), FunctionTransformer(), CARTClassifier(max_depth=2))
    assert pipeline.fit(IRIS.data, IRIS.target).score(IRIS.data, IRIS.target) > 0.95


def test_in_a_grid_search() -> None:
    search = GridSearchCV(CARTClassifier(), {"max_depth": [1, 3], "criterion": ["gini", "entropy"]}, cv=3)
    search.fit(IRIS.data, IRIS.target)
    assert search.best_params_["max_depth"] == 3
    assert search.best_score_ > 0.9


def test_cross_val_score_takes_frames_of_text_and_datasets() -> None:
    X, y = weather()
    by_frame = cross_val_score(ID3Classifier(), X, y, cv=2)
    assert by_frame.shape == (2,)
    data = treewright.read("sample:play-tennis")
    assert cross_val_score(ID3Classifier(), data.X, data.y, cv=2).shape == (2,)


@pytest.mark.parametrize("clf", [*CLASSIFIERS, CARTRegressor()])
def test_clone_and_parameters(clf: Any) -> None:
    copy = clone(clf.set_params(max_depth=2))
    assert copy.get_params() == clf.get_params()
    clf.set_params(max_depth=None)
    assert not hasattr(copy, "model_")


@pytest.mark.parametrize("dump", ["pickle", "joblib"])
def test_a_fitted_estimator_survives_pickling(dump: str) -> None:
    X, y = weather()
    fitted = C45Classifier().fit(X, y)
    if dump == "pickle":
        again = pickle.loads(pickle.dumps(fitted))  # noqa: S301 - our own bytes
    else:
        buffer = BytesIO()
        joblib.dump(fitted, buffer)
        again = joblib.load(BytesIO(buffer.getvalue()))
    assert again.predict(X).tolist() == y.tolist()
    assert again.tree_.to_dict() == fitted.tree_.to_dict()


# -- weights ---------------------------------------------------------------------------------------------------------


def test_sample_weights_count_as_repeated_rows() -> None:
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 4, 150)
    weighted = CARTClassifier().fit(IRIS.data, IRIS.target, sample_weight=weights)
    repeated = CARTClassifier().fit(np.repeat(IRIS.data, weights, axis=0), np.repeat(IRIS.target, weights))
    assert weighted.tree_.to_dict() == repeated.tree_.to_dict()


def test_balanced_class_weights_are_the_explicit_ones() -> None:
    X, y = weather()
    balanced = CARTClassifier(class_weight="balanced").fit(X, y)
    explicit = CARTClassifier(class_weight={"Yes": 14 / (2 * 9), "No": 14 / (2 * 5)}).fit(X, y)
    assert balanced.tree_.to_dict() == explicit.tree_.to_dict()
    root = balanced.tree_.node(0).distribution
    assert root["Yes"] == pytest.approx(root["No"])


def test_weights_that_are_all_zero_are_refused() -> None:
    X, y = weather()
    with pytest.raises(ValueError, match="zero"):
        CARTClassifier().fit(X, y, sample_weight=np.zeros(14))
    with pytest.raises(ValueError, match="zero"):
        CARTRegressor().fit(X, np.arange(14.0), sample_weight=np.zeros(14))
    with pytest.raises(DataError, match="all weights are zero"):
        CARTClassifier(class_weight={"Yes": 0, "No": 0}).fit(X, y)


# -- asking the fitted tree ------------------------------------------------------------------------------------------


def test_probabilities_are_shares_of_the_leaf_unless_smoothed() -> None:
    X = np.array([[1.0]] * 3 + [[2.0]] * 2)
    y = ["a", "a", "b", "b", "b"]
    plain = CARTClassifier().fit(X, y).predict_proba(X[:1])
    assert plain[0] == pytest.approx([2 / 3, 1 / 3])
    laplace = CARTClassifier(smoothing="laplace").fit(X, y).predict_proba(X[-1:])
    assert laplace[0] == pytest.approx([1 / 4, 3 / 4])
    m_estimate = CARTClassifier(smoothing=5.0).fit(X, y).predict_proba(X[-1:])
    assert m_estimate[0] == pytest.approx([(0 + 5 * 0.4) / 7, (2 + 5 * 0.6) / 7])


def test_log_probabilities_are_the_logarithm_also_of_zero() -> None:
    fitted = CARTClassifier().fit([[1.0], [2.0]], ["a", "b"])
    assert fitted.predict_log_proba([[1.0]]).tolist() == [[0.0, -np.inf]]


def test_apply_names_the_leaf_and_decision_path_the_way() -> None:
    fitted = CARTClassifier(max_depth=3).fit(IRIS.data, IRIS.target)
    leaves = fitted.apply(IRIS.data)
    path = fitted.decision_path(IRIS.data)
    assert path.shape == (150, fitted.tree_.n_nodes)
    for row in (0, 60, 149):
        visited = path[[row]].indices.tolist()
        steps = [0]
        while not fitted.tree_.node(steps[-1]).is_leaf:
            split = fitted.tree_.split(steps[-1])
            assert split is not None
            branch = int(split.route(IRIS.data[[row], split.attribute])[0])
            steps.append(int(fitted.tree_.children_of(steps[-1])[branch]))
        assert sorted(visited) == steps
        assert leaves[row] == steps[-1]
    assert np.array_equal(np.bincount(leaves, minlength=fitted.tree_.n_nodes)[leaves], fitted.tree_.weight[leaves])


def test_a_fractional_case_passes_nodes_in_shares() -> None:
    X, y = weather()
    fitted = C45Classifier().fit(X, y)
    lost = X.head(1).copy()
    lost["Outlook"] = pd.Series([None], dtype=object)
    path = fitted.decision_path(lost).toarray()[0]
    assert path[0] == 1.0
    assert path[fitted.tree_.children_of(0)] == pytest.approx([4 / 14, 5 / 14, 5 / 14])  # values sorted


def test_size_and_importances() -> None:
    fitted = CARTClassifier(max_leaf_nodes=4).fit(IRIS.data, IRIS.target)
    assert (fitted.get_n_leaves(), fitted.get_depth()) == (4, fitted.tree_.depth)
    assert fitted.feature_importances_.shape == (4,)
    assert fitted.feature_importances_.sum() == pytest.approx(1.0)


def test_a_regression_tree_is_as_good_as_scikit_learns() -> None:
    weights = np.random.default_rng(1).integers(1, 4, len(DIABETES.target)).astype(np.float64)
    ours = CARTRegressor(max_depth=4).fit(DIABETES.data, DIABETES.target, weights)
    theirs = DecisionTreeRegressor(max_depth=4, random_state=0).fit(DIABETES.data, DIABETES.target, weights)
    assert ours.predict(DIABETES.data) == pytest.approx(theirs.predict(DIABETES.data), rel=1e-9)


@pytest.mark.parametrize(
    "limit",
    [
        {"max_depth": 2},
        {"min_samples_leaf": 10},
        {"min_samples_leaf": 0.1},
        {"min_samples_split": 40},
        {"min_samples_split": 0.5},
        {"max_leaf_nodes": 4},
        {"min_impurity_decrease": 0.05},
        {"min_weight_fraction_leaf": 0.2},
    ],
    ids=str,
)
def test_limits_mean_what_they_mean_in_scikit_learn(limit: dict[str, Any]) -> None:
    ours = CARTClassifier(**limit).fit(IRIS.data, IRIS.target)
    theirs = DecisionTreeClassifier(random_state=0, **limit).fit(IRIS.data, IRIS.target)
    assert ours.tree_.n_leaves == theirs.get_n_leaves()
    assert accuracy(ours, IRIS.data, IRIS.target) == pytest.approx(accuracy(theirs, IRIS.data, IRIS.target))


# -- drawing attributes ----------------------------------------------------------------------------------------------


def test_drawing_is_reproducible_by_the_seed_and_differs_without_it() -> None:
    trees = [CARTClassifier(max_features=1, random_state=s).fit(IRIS.data, IRIS.target).tree_ for s in (3, 3, 4)]
    assert trees[0].to_dict() == trees[1].to_dict()
    assert trees[0].to_dict() != trees[2].to_dict()
    again = np.random.RandomState(3)
    assert (
        CARTClassifier(max_features=1, random_state=again).fit(IRIS.data, IRIS.target).tree_.to_dict()
        == trees[0].to_dict()
    )


def test_a_list_of_lists_has_as_many_attributes_as_columns() -> None:
    rows = IRIS.data.tolist()
    by_list = CARTClassifier(max_features=3, random_state=0).fit(rows, IRIS.target)
    by_array = CARTClassifier(max_features=3, random_state=0).fit(IRIS.data, IRIS.target)
    assert by_list.tree_.to_dict() == by_array.tree_.to_dict()


@pytest.mark.parametrize(("given", "sampled"), [("sqrt", 2), ("log2", 3), (0.5, 2), (3, 3), (1.0, 4)])
def test_the_number_of_attributes_sampled(given: Any, sampled: int) -> None:
    """The logarithm as Breiman has it: floor(log2 m) + 1."""
    fitted = CARTClassifier(max_features=given, random_state=0).fit(IRIS.data, IRIS.target)
    assert fitted.model_.recipe["draw"]["attributes"] == sampled


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_features": 5},
        {"max_features": 0},
        {"max_features": "half"},
        {"max_features": 1.5},
        {"max_features": True},
        {"criterion": "beauty"},
        {"missing": "forget"},
        {"min_samples_leaf": 0},
        {"min_samples_leaf": 1.5},
        {"max_depth": -1},
        {"max_leaf_nodes": 1},
        {"smoothing": -1},
    ],
    ids=str,
)
def test_wrong_parameters_are_refused_when_fitting(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        CARTClassifier(**wrong).fit(IRIS.data, IRIS.target)


def test_missing_to_the_side_of_the_most_cases() -> None:
    X = np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [np.nan]])
    y = ["a", "a", "b", "b", "b", "a"]
    best = CARTClassifier(max_depth=1).fit(X, y)
    majority = CARTClassifier(max_depth=1, missing="majority").fit(X, y)
    assert best.predict(X).tolist() == y
    assert majority.predict(X[-1:]).tolist() == ["b"]


def test_id3_takes_small_whole_numbers_as_nominal() -> None:
    X = np.array([[0], [1], [2], [0], [1], [2]])
    fitted = ID3Classifier().fit(X, list("abaaba"))
    root = fitted.tree_.node(0)
    assert root.attribute.kind is Kind.NOMINAL
    assert len(root.children) == 3
    assert CARTClassifier().fit(X, list("abaaba")).tree_.node(0).attribute.kind is Kind.NUMERIC


def test_x_and_y_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match=r"rows|samples"):
        CARTClassifier().fit(IRIS.data, IRIS.target[:-1])
