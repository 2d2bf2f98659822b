"""Forests, bagging and boosting as estimators: scikit-learn's ways, and what only trees of this house can."""

from __future__ import annotations

from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import treewright
from ensembles.made_cases import two_moons, wave
from treewright import (
    AdaBoostClassifier,
    BaggedTreesClassifier,
    BaggedTreesRegressor,
    ForestEmbedding,
    ParameterError,
    RandomForestClassifier,
    RandomForestRegressor,
)
from treewright.ensembles import random_forest
from treewright.tree.forest import Forest
from treewright.tree.io.model_file import model_to_json

X, Y = load_iris(return_X_y=True)
MOONS = two_moons(120)
WAVE = wave(120)


def test_a_forest_is_better_than_its_trees_on_unseen_cases() -> None:
    data, labels = make_classification(400, 10, n_informative=5, random_state=1)
    forest = cross_val_score(RandomForestClassifier(60), data, labels, cv=4).mean()
    tree = cross_val_score(treewright.CARTClassifier(), data, labels, cv=4).mean()
    assert forest > tree + 0.02


def test_out_of_bag_attributes() -> None:
    clf = RandomForestClassifier(30, oob_score=True, permutation_importance=True).fit(X, Y)
    assert clf.oob_decision_function_.shape == (150, 3)
    has_votes = ~np.isnan(clf.oob_decision_function_).any(axis=1)
    predicted = clf.classes_[clf.oob_decision_function_[has_votes].argmax(axis=1)]
    assert clf.oob_score_ == pytest.approx(np.mean(predicted == Y[has_votes]), abs=0.02)
    assert clf.oob_errors_[-1] == pytest.approx(1 - clf.oob_score_)
    assert clf.model_.log["oob_error"] == tuple(clf.oob_errors_)
    assert clf.permutation_importances_.shape == clf.permutation_importances_error_.shape == (4,)
    assert clf.feature_importances_.sum() == pytest.approx(1.0)
    reg = RandomForestRegressor(30, oob_score=True).fit(WAVE.X, WAVE.y)
    assert 0 < reg.oob_score_ < 1
    assert reg.oob_prediction_.shape == (120,)
    assert len(reg.oob_errors_) == 30


def test_probabilities_follow_classes_in_any_order() -> None:
    labels = np.array(["zebra", "ape", "cow"])[Y]
    clf = RandomForestClassifier(10, oob_score=True).fit(X, labels)
    assert clf.classes_.tolist() == ["ape", "cow", "zebra"]
    assert clf.predict_proba(X).argmax(axis=1).tolist() == np.searchsorted(clf.classes_, clf.predict(X)).tolist()
    assert (clf.predict(X) == labels).mean() > 0.95
    assert np.allclose(np.exp(clf.predict_log_proba(X)), clf.predict_proba(X))


def test_text_and_missing_values_as_they_are() -> None:
    weather = treewright.read("sample:play-tennis")
    frame = weather.to_pandas().drop(columns="PlayTennis")
    frame.loc[3, "Outlook"] = None
    for estimator in (
        RandomForestClassifier(10, tree="c45"),
        BaggedTreesClassifier(5),
        BaggedTreesClassifier(4, tree="chaid"),
        AdaBoostClassifier(5, tree="id3"),
    ):
        assert set(estimator.fit(frame, weather.y).predict(frame)) <= {"Yes", "No"}


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_the_same_forest_for_any_number_of_threads(n_jobs: int) -> None:
    clf = RandomForestClassifier(8, n_jobs=n_jobs).fit(X, Y)
    assert model_to_json(clf.model_) == model_to_json(RandomForestClassifier(8).fit(X, Y).model_)


def test_a_random_state_gives_another_forest_and_always_the_same() -> None:
    one, two = (RandomForestClassifier(5, random_state=seed).fit(X, Y) for seed in (1, 2))
    assert [str(tree) for tree in one.trees_] != [str(tree) for tree in two.trees_]
    again = clone(one).fit(X, Y)
    assert model_to_json(again.model_) == model_to_json(one.model_)


@pytest.mark.parametrize("make", [RandomForestClassifier, BaggedTreesClassifier, AdaBoostClassifier])
def test_a_warm_start_adds_trees(make: Any) -> None:
    data, labels = MOONS.X, MOONS.y
    state = np.random.RandomState(3)
    clf = make(3, warm_start=True, random_state=state).fit(data, labels)
    first = [str(tree) for tree in clf.trees_]
    clf.set_params(n_estimators=6).fit(data, labels)
    assert [str(tree) for tree in clf.trees_][:3] == first
    assert len(clf.trees_) == 6
    with pytest.raises(ParameterError, match="warm_start only adds"):
        clf.set_params(n_estimators=2).fit(data, labels)
    with pytest.raises(ParameterError, match="other data"):
        clf.set_params(n_estimators=8).fit(data, labels[::-1])


def test_ctrl_c_leaves_a_usable_estimator(monkeypatch: pytest.MonkeyPatch) -> None:
    make = random_forest._Job.__call__

    def interrupted(self: Any, number: int) -> Any:
        if number == 4:
            raise KeyboardInterrupt
        return make(self, number)

    monkeypatch.setattr(random_forest._Job, "__call__", interrupted)
    clf = RandomForestClassifier(10)
    with pytest.raises(KeyboardInterrupt, match="4 of 10 trees are finished and kept"):
        clf.fit(X, Y)
    assert len(clf.trees_) == 4
    assert (clf.predict(X) == Y).mean() > 0.9


def test_time_limit_and_progress() -> None:
    result: list[tuple[int, int]] = []
    clf = RandomForestClassifier(50, time_limit=1e-9, progress=lambda *now: result.append(now)).fit(X, Y)
    assert len(clf.trees_) == 1
    assert result == [(1, 50)]


@pytest.mark.full
def test_rare_classes_can_be_given_their_due() -> None:
    data, labels = make_classification(300, 6, weights=[0.93], flip_y=0.05, random_state=0)
    found = {}
    ways: dict[str, dict[str, Any]] = {
        "plain": {},
        "balanced": {"class_weight": "balanced"},
        "subsample": {"class_weight": "balanced_subsample"},
        "bootstrap": {"balanced_bootstrap": True},
    }
    for name, options in ways.items():
        clf = RandomForestClassifier(30, max_depth=3, **options).fit(data, labels)
        found[name] = (clf.predict(data) == 1).sum()
        assert clf.class_weight == options.get("class_weight")
    assert min(found["balanced"], found["subsample"], found["bootstrap"]) > found["plain"]


def test_fitting_assigns_no_parameter() -> None:
    assigned: list[str] = []

    class Recording(RandomForestClassifier):
        def __setattr__(self, name: str, value: Any) -> None:
            assigned.append(name)
            super().__setattr__(name, value)

    clf = Recording(2, class_weight="balanced_subsample")
    assigned.clear()
    clf.fit(X, Y, sample_weight=np.ones(len(Y)))
    # Another thread may read the parameters at any time, so not even a value that is put back is allowed.
    assert not set(assigned) & set(signature(RandomForestClassifier).parameters)


def test_intervals_hold_about_their_share() -> None:
    train, test = wave(500, seed=1), wave(300, seed=2)
    reg = RandomForestRegressor(40, min_samples_leaf=8, max_features=None, quantiles=True).fit(train.X, train.y)
    low, high = reg.predict_interval(test.X, 0.8).T
    assert 0.7 < np.mean((test.y >= low) & (test.y <= high)) < 0.9
    assert reg.predict_quantiles(test.X, (0.5,)).shape == (300, 1)
    with pytest.raises(ParameterError, match="coverage must be"):
        reg.predict_interval(test.X, 1.0)
    with pytest.raises(ParameterError, match="set quantiles=True before fit"):
        BaggedTreesRegressor(3).fit(train.X, train.y).predict_quantiles(test.X)


def test_proximity_and_leaves() -> None:
    clf = RandomForestClassifier(10).fit(X, Y)
    near = clf.proximity(X)
    assert near.shape == (150, 150)
    assert near[:50, :50].mean() > near[:50, 100:].mean()
    assert clf.proximity(X[:3], X).shape == (3, 150)
    assert clf.apply(X).shape == (150, 10)


def test_stages_come_one_by_one() -> None:
    clf = AdaBoostClassifier(12).fit(X, Y)
    stages = list(clf.staged_predict(X))
    assert len(stages) == len(clf.trees_)
    assert stages[-1].tolist() == clf.predict(X).tolist()
    assert np.allclose(list(clf.staged_predict_proba(X))[-1], clf.predict_proba(X))
    reg = RandomForestRegressor(5).fit(WAVE.X, WAVE.y)
    assert np.allclose(list(reg.staged_predict(WAVE.X))[-1], reg.predict(WAVE.X))


def test_adaboost_reports_its_rounds() -> None:
    clf = AdaBoostClassifier(10).fit(MOONS.X, MOONS.y)
    assert len(clf.estimator_errors_) == len(clf.estimator_weights_) == len(clf.resets_) == len(clf.trees_)
    assert clf.decision_function(MOONS.X).shape == (120,)
    assert (clf.decision_function(MOONS.X) > 0).tolist() == (clf.predict(MOONS.X) == clf.classes_[1]).tolist()
    assert AdaBoostClassifier(5).fit(X, Y).decision_function(X).shape == (150, 3)
    calm = AdaBoostClassifier(5, tree="c45", learning_rate=0.5, votes="shares", smoothing=1.0).fit(X, Y)
    assert np.mean(calm.predict(X) == Y) > 0.9
    midway = AdaBoostClassifier(5, tree="c45", reweighting="midway", votes="shares", coarseness=1.4).fit(X, Y)
    assert midway.estimator_weights_.tolist() == [1.0] * len(midway.trees_)
    assert midway.model_.recipe["coarseness"] == 1.4
    alone = AdaBoostClassifier(5).fit(X[:50], Y[:50])
    assert alone.decision_function(X[:2]).tolist() == [1.0, 1.0]


def test_stumps_and_full_trees() -> None:
    assert all(tree.depth <= 1 for tree in AdaBoostClassifier(5).fit(MOONS.X, MOONS.y).trees_)
    assert AdaBoostClassifier(5, max_depth=None).fit(MOONS.X, MOONS.y).trees_[0].depth > 3


def test_an_estimator_saves_a_forest(tmp_path: Path) -> None:
    path = tmp_path / "forest.json"
    clf = RandomForestClassifier(5).fit(X, Y)
    clf.save(path)
    loaded = treewright.load(path)
    assert isinstance(loaded, Forest)
    assert loaded.predict(X).tolist() == clf.predict(X).tolist()


def test_the_embedding_feeds_a_linear_model() -> None:
    data, labels = MOONS.to_pandas().drop(columns="y"), MOONS.y
    forest = RandomForestClassifier(30, max_depth=4)
    embedded = make_pipeline(ForestEmbedding(forest), LogisticRegression()).fit(data, labels)
    assert embedded.score(data, labels) > 0.9
    leaves = ForestEmbedding(n_estimators=7, max_depth=3).fit(data)
    assert leaves.transform(data).sum(axis=1).ravel().tolist()[0] == [7.0] * 120
    names = leaves.get_feature_names_out()
    assert len(names) == leaves.n_leaves_ == leaves.transform(data).shape[1]
    assert names[0] == "tree0_leaf0"
    assert leaves.feature_names_in_.tolist() == list(data.columns)
    by_columns = {name: data[name].tolist() for name in data.columns}
    assert ForestEmbedding(n_estimators=2).fit(by_columns).transform(by_columns).shape[0] == 120


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: RandomForestClassifier(5, tree="c45", max_depth=3).fit(X, Y), "max_depth are options of the default"),
        (lambda: AdaBoostClassifier(5, tree="c45", max_depth=3).fit(X, Y), "max_depth are options"),
        (lambda: RandomForestClassifier(5, criterion="gain").fit(X, Y), "criterion must be"),
        (lambda: RandomForestRegressor(5, criterion="mae").fit(X, Y), "criterion must be"),
        (lambda: RandomForestClassifier(0).fit(X, Y), "trees must be"),
        (lambda: RandomForestClassifier(5, bootstrap=False, oob_score=True).fit(X, Y), "need bootstrap=True"),
        (lambda: RandomForestClassifier(5, max_features="all").fit(X, Y), "max_features must be"),
        (lambda: RandomForestClassifier(5, features_per="leaf").fit(X, Y), "per must be"),
        (lambda: BaggedTreesClassifier(5, tree="oak").fit(X, Y), "must be one of"),
        (lambda: ForestEmbedding("forest").fit(X, Y), "must be a forest of this package"),
        (lambda: ForestEmbedding(RandomForestClassifier(2)).fit(X), "requires y"),
    ],
)
def test_what_cannot_be_is_refused(make: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        make()


def test_sample_weights_are_passed_to_the_trees() -> None:
    heavy = np.where(Y == 1, 100.0, 1.0)
    clf = RandomForestClassifier(10, max_depth=1).fit(X, Y, sample_weight=heavy)
    assert (clf.predict(X) == 1).sum() > 60
    assert RandomForestRegressor(3).fit(X, Y.astype(float), sample_weight=heavy).predict(X).shape == (150,)


def test_extremely_randomised_trees() -> None:
    clf = RandomForestClassifier(20, random_cuts=True, bootstrap=False).fit(X, Y)
    assert np.mean(clf.predict(X) == Y) > 0.95
    cuts = {float(cut) for tree in clf.trees_ for cut in tree.cut[~np.isnan(tree.cut)]}
    assert not cuts <= {round(cut, 3) for cut in cuts}


def test_bagging_of_regression_trees_in_any_recipe() -> None:
    reg = BaggedTreesRegressor(10, tree=treewright.cart(missing="surrogate", cp=0.01), oob_score=True)
    assert reg.fit(WAVE.X, WAVE.y).oob_score_ > 0.2
