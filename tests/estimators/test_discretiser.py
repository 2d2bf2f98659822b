"""Discretiser: numbers into intervals by four methods, as a transformer among others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import treewright
from learners.tables_for_growing import numeric_table
from treewright.data.samples import sample
from treewright.errors import DataError, ParameterError
from treewright.estimators.discretiser import METHODS, Discretiser

IRIS = load_iris()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([Discretiser(method=method) for method in METHODS])  # type: ignore[untyped-decorator]
def test_scikit_learns_checks_pass(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def bounds(**parameters: Any) -> list[list[float]]:
    X = np.array([[1.0], [2.0], [3.0], [4.0], [9.0], [10.0], [11.0], [12.0]])
    fitted = Discretiser(**parameters).fit(X, list("aaaabbbb"))
    return [found.tolist() for found in fitted.bounds_]


def test_every_method_finds_its_own_bounds() -> None:
    assert bounds() == bounds(method="chi_merge") == [[6.5]]
    assert bounds(method="equal_width", bins=4) == [[3.5, 6.5, 9.5]]
    assert bounds(method="equal_frequency", bins=4) == [[2.5, 6.5, 10.5]]


def test_chi_merge_has_a_level_and_a_limit() -> None:
    X = np.arange(8.0).reshape(-1, 1)
    y = list("aabbaabb")
    loose = Discretiser(method="chi_merge", significance=0.3, bins=None).fit(X, y)
    assert len(loose.bounds_[0]) == 3
    assert len(Discretiser(method="chi_merge", significance=0.3, bins=2).fit(X, y).bounds_[0]) == 1
    assert len(Discretiser(method="chi_merge", significance=0.01).fit(X, y).bounds_[0]) == 0


def test_id3_cuts_the_same_intervals() -> None:
    found = Discretiser().fit(IRIS.data, IRIS.target).bounds_
    split: Any = treewright.ID3Classifier().fit(IRIS.data, IRIS.target).tree_.split(0)
    assert split.bounds == tuple(found[split.attribute])


def test_intervals_are_numbers_or_texts_and_missing_stays_missing() -> None:
    X = np.array([[1.0, 5.0], [2.0, np.nan], [8.0, 5.0], [np.nan, 5.0]])
    cut: Any = Discretiser(method="equal_width", bins=2).fit(X)
    assert cut.transform(X)[:3, 0].tolist() == [0.0, 0.0, 1.0]
    assert np.isnan(cut.transform(X)).tolist() == np.isnan(X).tolist()
    assert cut.set_params(labels=True).transform(X).tolist() == [
        ["<= 5", "any"],
        ["<= 5", None],
        ["> 5", "any"],
        [None, "any"],
    ]


def test_a_column_without_a_number_has_one_interval() -> None:
    X = np.array([[np.nan], [np.nan]])
    assert Discretiser().fit(X, [0, 1]).bounds_[0].tolist() == []
    assert np.isnan(Discretiser().fit(X, [0, 1]).transform(X)).all()


def test_numbers_beyond_the_training_cases_lie_in_the_outer_intervals() -> None:
    cut: Any = Discretiser(method="equal_width", bins=2).fit([[0.0], [2.0]])
    assert cut.transform([[-1e300], [1.0], [1e300]]).ravel().tolist() == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_their_names(make: Callable[[Any], Any]) -> None:
    table = make({"length": [1.0, 2.0, 8.0, 9.0], "width": [1.0, None, 3.0, 3.0]})
    cut: Any = Discretiser(method="equal_width", bins=2).fit(table)
    assert cut.feature_names_in_.tolist() == ["length", "width"]
    assert cut.get_feature_names_out().tolist() == ["length", "width"]
    frame = cut.set_output(transform="pandas").transform(table)
    assert list(frame.columns) == ["length", "width"]
    assert frame["length"].tolist() == [0.0, 0.0, 1.0, 1.0]
    texts = cut.set_params(labels=True).set_output(transform="polars").transform(table)
    assert texts["length"].to_list() == ["<= 5", "<= 5", "> 5", "> 5"]


def test_a_dataset_of_numbers_is_taken_and_one_of_texts_refused() -> None:
    data = numeric_table({"x": [1.0, 2.0, 3.0, 4.0]}, list("aabb"), ("a", "b"))
    cut: Any = Discretiser(method="chi_merge", significance=0.2)
    codes = cut.fit_transform(data.X, data.y)
    assert codes.ravel().tolist() == [0.0, 0.0, 1.0, 1.0]
    tennis = sample("play-tennis")
    with pytest.raises(DataError, match="Outlook"):
        Discretiser().fit(tennis.X, tennis.y)


def test_it_stands_in_a_pipeline_and_is_searched() -> None:
    pipeline = make_pipeline(Discretiser(), treewright.CAL2Classifier())
    assert pipeline.fit(IRIS.data, IRIS.target).score(IRIS.data, IRIS.target) > 0.9
    search = GridSearchCV(pipeline, {"discretiser__method": ["mdl", "equal_frequency"]}, cv=3)
    assert search.fit(IRIS.data, IRIS.target).best_score_ > 0.8
    assert clone(Discretiser(bins=3)).get_params()["bins"] == 3


@pytest.mark.parametrize(
    ("parameters", "word"),
    [
        ({"method": "equal_widht"}, "did you mean 'equal_width'"),
        ({"method": "equal_width", "bins": 0}, "bins"),
        ({"method": "equal_frequency", "bins": None}, "bins"),
        ({"method": "chi_merge", "significance": 1.0}, "significance"),
    ],
)
def test_wrong_parameters_are_named(parameters: dict[str, Any], word: str) -> None:
    with pytest.raises(ParameterError, match=word):
        Discretiser(**parameters).fit([[1.0], [2.0]], [0, 1])


def test_a_number_of_bins_may_be_one_of_numpy() -> None:
    assert bounds(method="equal_width", bins=np.int64(2)) == [[6.5]]


def test_methods_by_classes_need_classes() -> None:
    for method in ("mdl", "chi_merge"):
        with pytest.raises(DataError, match="requires y"):
            Discretiser(method=method).fit([[1.0], [2.0]])
    with pytest.raises(ValueError, match="continuous"):
        Discretiser().fit([[1.0], [2.0]], [0.5, 1.25])
    with pytest.raises(ValueError, match="inconsistent"):
        Discretiser().fit([[1.0], [2.0]], [0])
