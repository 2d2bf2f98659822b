"""CAL2Classifier and CAL3Classifier: all cases in turn or one at a time, traced, saved and explained."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

import treewright
from treewright.data.samples import sample
from treewright.errors import DataError, DataWarning, ParameterError
from treewright.estimators.cal import CAL2Classifier, CAL3Classifier
from treewright.explain.node import blackboard, explain_node
from treewright.learners.cal.trace import Ended, Event
from treewright.tree.split import Test

IRIS = load_iris()
BOTH: list[type[CAL2Classifier] | type[CAL3Classifier]] = [CAL2Classifier, CAL3Classifier]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([CAL2Classifier(), CAL3Classifier()])  # type: ignore[untyped-decorator]
def test_scikit_learns_checks_pass(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def frame(name: str) -> tuple[pd.DataFrame, Any]:
    table = sample(name).to_pandas()
    return table.iloc[:, :-1], table.iloc[:, -1]


# -- the examples of Unger and Wysotzki ------------------------------------------------------------------------------


def test_the_example_of_cal2() -> None:
    X, y = frame("cal2")
    clf = CAL2Classifier().fit(X, y)
    assert clf.notation_ == "x1(x2(A,B),x2(A,B))"
    assert clf.run_ is not None
    assert clf.run_.ended is Ended.NO_ERROR
    assert clf.predict(X).tolist() == y.tolist()


def test_the_example_of_cal3() -> None:
    X, y = frame("cal3")
    clf: Any = CAL3Classifier(s1=4, s2=0.7).fit(X, y)
    assert clf.notation_ == "x1(A,x2(B,A))"
    assert clf.score(X, y) == pytest.approx(4 / 5)
    assert clf.predict(X).tolist() == CAL3Classifier().fit(X, y).predict(X).tolist()


def test_every_step_is_traced_on_request() -> None:
    X, y = frame("cal2")
    clf = CAL2Classifier(trace=True).fit(X, y)
    assert [step.event for step in clf.trace_[:3]] == [Event.PUT, Event.NOTHING, Event.SPLIT]
    assert clf.trace_[-1].notation == clf.notation_
    assert clf.run_ is not None
    assert len(clf.trace_) == clf.run_.steps
    with pytest.raises(AttributeError, match="trace=True"):
        CAL2Classifier().fit(X, y).trace_  # noqa: B018


# -- one at a time ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize("name", ["cal2", "cal3", "play-tennis", "restaurant"])
def test_one_at_a_time_is_one_pass(make: Any, name: str) -> None:
    data = sample(name)
    whole = make(max_steps=data.n_rows, schema=data.schema).fit(data.X, data.y)
    single = make(schema=data.schema)
    for case in range(data.n_rows):
        single.partial_fit(data.X[[case]], data.y[[case]])
    batches = make(schema=data.schema).partial_fit(data.X[:2], data.y[:2]).partial_fit(data.X[2:], data.y[2:])
    assert single.notation_ == batches.notation_ == whole.notation_
    assert single.tree_.to_dict() == batches.tree_.to_dict() == whole.tree_.to_dict()
    assert single.predict(data.X).tolist() == whole.predict(data.X).tolist()
    assert single.classes_.tolist() == whole.classes_.tolist()


def test_frames_of_single_cases_are_taken_with_a_schema() -> None:
    X, y = frame("cal2")
    clf = CAL2Classifier(schema=sample("cal2").schema)
    for case in range(3):
        clf.partial_fit(X.iloc[[case]], y.iloc[[case]])
    assert clf.notation_ == "x1(B,*)"
    assert clf.run_ is None


def test_the_first_cases_fix_values_classes_and_intervals() -> None:
    X, y = IRIS.data, IRIS.target
    order = np.random.default_rng(0).permutation(150)
    first, later = order[:100], order[100:]
    clf: Any = CAL2Classifier().partial_fit(X[first], y[first])
    split = clf.tree_.split(0)
    assert split is not None
    assert split.test is Test.INTERVALS
    clf.partial_fit(X[later], y[later])
    again = clf.tree_.split(0)
    assert again is not None
    assert again.bounds == split.bounds
    assert clf.score(X, y) > 0.9


def test_classes_to_come_are_given_in_the_first_call() -> None:
    clf = CAL3Classifier().partial_fit([["a"], ["b"]], [0, 0], classes=[2, 1, 0])
    assert clf.classes_.tolist() == [0, 1, 2]
    assert clf.predict_proba([["a"]]).tolist() == [[1.0, 0.0, 0.0]]
    clf.partial_fit([["b"]], [2])
    with pytest.raises(DataError, match="'3'"):
        clf.partial_fit([["b"]], [3])
    with pytest.raises(DataError, match="the first call did not give"):
        CAL2Classifier().partial_fit([["a"]], ["x"], classes=["y", "z"])


def test_labels_that_are_not_those_of_the_schema_are_refused() -> None:
    data = sample("cal2")
    with pytest.raises(DataError, match="declared"):
        CAL2Classifier(schema=data.schema).partial_fit(data.X, ["C"] * 5)
    clf = CAL2Classifier().partial_fit(data.X, [1, 2, 1, 2, 1])
    assert clf.classes_.tolist() == [1, 2]


def test_learning_goes_on_after_fit_and_begins_anew_with_it() -> None:
    data = sample("cal3")
    clf = CAL3Classifier(trace=True).fit(data.X, data.y)
    steps = len(clf.trace_)
    clf.partial_fit(data.X, data.y)
    assert len(clf.trace_) == steps + 5
    assert len(clf.fit(data.X, data.y).trace_) == steps


def test_a_value_that_is_no_category_is_passed_over() -> None:
    X, y = frame("cal2")
    clf = CAL2Classifier(trace=True).fit(X, y)
    before = clf.notation_
    with pytest.warns(DataWarning, match="1 in 'x1'"):
        clf.partial_fit(X.head(1).assign(x1="7"), y.head(1))
    assert clf.trace_[-1].event is Event.SKIPPED
    assert clf.notation_ == before


def test_x_and_y_must_be_of_one_length() -> None:
    with pytest.raises(DataError, match="2 rows"):
        CAL2Classifier().partial_fit([["a"], ["b"]], [0])
    other = sample("cal3")
    clf = CAL2Classifier().fit(sample("cal2").X, sample("cal2").y)
    with pytest.raises(DataError, match="x3"):
        clf.partial_fit(other.X, other.y)


def test_a_dataset_of_another_schema_is_matched_by_name() -> None:
    data = sample("cal2")
    clf = CAL2Classifier().fit(*frame("cal2"))
    steps = clf.model_.tree.weight[0]
    reordered_schema = treewright.Schema(tuple(data.schema.columns[index] for index in (2, 0, 1, 3)), target="k")
    turned = treewright.Dataset(reordered_schema, (data.columns[2], *data.columns[:2]), 5, data.target)
    clf.partial_fit(turned.X, turned.y)
    assert clf.model_.tree.weight[0] == steps + 5


# -- data as they are ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", BOTH)
def test_missing_values_are_welcome(make: Any) -> None:
    X, y = frame("play-tennis")
    X.loc[[0, 5], "Outlook"] = None
    clf = make().fit(X, y)
    assert clf.predict(X).shape == (14,)
    assert clf.run_.skipped > 0
    numbers = IRIS.data.copy()
    numbers[::7, 2] = np.nan
    by_number: Any = CAL2Classifier().fit(numbers, IRIS.target)
    assert by_number.score(numbers, IRIS.target) > 0.8


@pytest.mark.parametrize("make", BOTH)
def test_a_value_never_seen_stays_at_the_node_above(make: Any) -> None:
    X, y = frame("cal2")
    clf = make().fit(X, y)
    with pytest.warns(DataWarning, match="1 in 'x1'"):
        assert clf.predict(X.head(1).assign(x1="7")).tolist() == [clf.tree_.node(0).outcome]


def test_weights_are_no_part_of_it() -> None:
    data = sample("cal2")
    with pytest.raises(TypeError):
        CAL2Classifier().fit(data.X, data.y, sample_weight=np.ones(5))  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("clf", "word"),
    [
        (CAL2Classifier(max_steps=0), "max_steps"),
        (CAL3Classifier(s1=0), "s1"),
        (CAL3Classifier(s2=0.5), "s2"),
        (CAL3Classifier(smoothing="some"), "smoothing"),
    ],
)
def test_wrong_parameters_are_named(clf: Any, word: str) -> None:
    with pytest.raises(ParameterError, match=word):
        clf.fit([["a"], ["b"]], [0, 1])


def test_nothing_is_available_before_it_is_fitted() -> None:
    for name in ("notation_", "trace_", "run_", "schema_"):
        with pytest.raises(NotFittedError):
            getattr(CAL2Classifier(), name)
        assert not hasattr(CAL2Classifier(), name)


# -- company ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", BOTH)
def test_saved_and_loaded_it_predicts_the_same(make: Any, tmp_path: Path) -> None:
    clf = make(smoothing="laplace").fit(IRIS.data, IRIS.target)
    for fitted in (clf, clf.partial_fit(IRIS.data[:5], IRIS.target[:5])):
        fitted.save(tmp_path / "model.json")
        loaded = treewright.load(tmp_path / "model.json")
        assert isinstance(loaded, treewright.TreeModel)
        assert loaded.predict(IRIS.data).tolist() == fitted.predict(IRIS.data).tolist()
        assert loaded.predict_proba(IRIS.data).tolist() == fitted.predict_proba(IRIS.data).tolist()
        assert loaded.recipe["name"] == make.__name__.removesuffix("Classifier")
    copied = pickle.loads(pickle.dumps(clf))  # noqa: S301
    assert copied.partial_fit(IRIS.data, IRIS.target).notation_ == clf.partial_fit(IRIS.data, IRIS.target).notation_


def test_it_is_cloned_searched_and_put_in_a_pipeline() -> None:
    random = np.random.default_rng(1)
    order = random.permutation(150)
    X, y = IRIS.data[order], IRIS.target[order]
    pipeline = make_pipeline(FunctionTransformer(), CAL3Classifier())
    search = GridSearchCV(pipeline, {"cal3classifier__s1": np.array([2, 10]), "cal3classifier__s2": [0.7, 0.95]}, cv=3)
    assert search.fit(X, y).best_score_ > 0.8
    assert isinstance(search.best_estimator_[-1].model_.recipe["options"]["s1"], int)
    assert cross_val_score(CAL2Classifier(), X, y, cv=3).mean() > 0.85
    assert clone(CAL3Classifier(s1=7)).get_params() == {
        "max_steps": None,
        "s1": 7,
        "s2": 0.7,
        "schema": None,
        "smoothing": None,
        "trace": False,
        "prune": None,
    }


def test_the_estimator_and_the_plain_function_make_the_same_model() -> None:
    data = sample("restaurant")
    for clf, plan in ((CAL2Classifier(), treewright.cal2()), (CAL3Classifier(), treewright.cal3())):
        fitted, plain = clf.fit(data.X, data.y), treewright.fit(data, plan)
        assert fitted.tree_.to_dict() == plain.tree.to_dict()
        assert fitted.model_.recipe == plain.recipe
        assert fitted.model_.provenance == plain.provenance
        assert fitted.model_.trace.keys() == plain.trace.keys()


# -- explanations ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize("name", ["cal2", "cal3", "play-tennis", "iris"])
def test_every_node_can_be_written_out(make: Any, name: str) -> None:
    X, y = (IRIS.data, IRIS.target) if name == "iris" else frame(name)
    clf = make().fit(X, y)
    for node in range(clf.tree_.n_nodes):
        explained = explain_node(clf.model_, node)
        assert "pruned" not in blackboard(explained)
        if explained.chosen is not None and explained.attributes:
            assert explained.attributes[0].name == explained.chosen
    root = explain_node(clf.model_).attributes[0]
    assert sum(branch.weight for branch in root.branches) == len(y)


def test_intervals_are_explained_with_the_cases_of_each() -> None:
    clf = CAL2Classifier().fit(IRIS.data, IRIS.target)
    split = clf.tree_.split(0)
    assert split is not None
    values = IRIS.data[:, split.attribute]
    counted = np.bincount(np.searchsorted(np.array(split.bounds), values), minlength=split.n_branches)
    branches = explain_node(clf.model_).attributes[0].branches
    assert [branch.weight for branch in branches] == counted.tolist()


def test_what_came_case_by_case_is_explained_with_the_cases_given_again() -> None:
    data = sample("play-tennis")
    clf = CAL2Classifier().partial_fit(data.X, data.y)
    with pytest.raises(ParameterError, match="training data"):
        explain_node(clf.model_)
    assert explain_node(clf.model_, 0, data).attributes[0].name == "Outlook"
