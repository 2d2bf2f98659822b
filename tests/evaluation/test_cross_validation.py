"""Folds, pooled accuracy with Wilson's interval, and the baseline beside it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learners.tables_for_growing import tables
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.errors import ParameterError
from treewright.evaluation.cross_validation import (
    AccuracyEstimate,
    ErrorEstimate,
    cross_validate,
    fold_splits,
    stratified_folds,
    wilson_interval,
)
from treewright.fitting.learn import fit
from treewright.learners.recipe import CART, ID3
from treewright.tree.model import TreeModel


def cart(part: Dataset) -> TreeModel:
    return fit(part, CART())


# -- Wilson ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("correct", "n", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilsons_interval_has_the_published_numbers(correct: int, n: int, low: float, high: float) -> None:
    """Newcombe 1998 (Statistics in Medicine 17, 857-872), table I, method 3."""
    assert list(wilson_interval(correct, n)) == pytest.approx([low, high], abs=6e-5)


@given(st.integers(1, 500), st.data())
def test_wilsons_interval_holds_the_share_and_stays_a_probability(n: int, more: st.DataObject) -> None:
    correct = more.draw(st.integers(0, n))
    low, high = wilson_interval(correct, n)
    assert 0 <= low <= correct / n <= high <= 1
    other_low, other_high = wilson_interval(n - correct, n)
    assert [1 - other_high, 1 - other_low] == pytest.approx([low, high], abs=1e-12)


def test_wilsons_interval_inverts_the_score_test() -> None:
    """At the ends of the interval the share lies 1.96 standard errors away (Wilson 1927)."""
    for end in wilson_interval(9, 14):
        assert abs(9 / 14 - end) / np.sqrt(end * (1 - end) / 14) == pytest.approx(1.959964, abs=1e-5)


def test_without_cases_anything_is_possible() -> None:
    assert wilson_interval(0, 0) == (0.0, 1.0)


# -- folds -----------------------------------------------------------------------------------------------------------


@given(tables(max_rows=30), st.integers(2, 6), st.integers(0, 99))
def test_folds_have_equal_sizes_and_spread_every_class_evenly(data: Dataset, k: int, seed: int) -> None:
    if data.n_rows < k:
        with pytest.raises(ParameterError, match="number of folds"):
            stratified_folds(data, k, seed)
        return
    folds = stratified_folds(data, k, seed)
    sizes = np.bincount(folds, minlength=k)
    assert sizes.max() - sizes.min() <= 1
    for code in range(len(data.schema.classes)):
        of_class = np.bincount(folds[np.asarray(data.target) == code], minlength=k)
        assert of_class.max() - of_class.min() <= 1
    assert np.array_equal(folds, stratified_folds(data, k, seed))


@given(tables(max_rows=30, regression=True))
def test_folds_of_a_numeric_target_are_dealt_along_its_ranks(data: Dataset) -> None:
    if data.n_rows < 3:
        return
    folds = stratified_folds(data, 3)
    target = np.asarray(data.target)
    for bound in np.unique(target):
        below = np.bincount(folds[target <= bound], minlength=3)
        assert below.max() - below.min() <= 1


def test_another_seed_gives_other_folds() -> None:
    data = sample("restaurant")
    assert not np.array_equal(stratified_folds(data, 3, 0), stratified_folds(data, 3, 1))


def test_every_case_is_tested_once_and_never_trained_on_then() -> None:
    folds = stratified_folds(sample("restaurant"), 5)
    tested = []
    for train, test in fold_splits(folds):
        assert not set(train.tolist()) & set(test.tolist())
        assert len(train) + len(test) == 12
        tested += test.tolist()
    assert sorted(tested) == list(range(12))


@pytest.mark.parametrize("k", [1, 0, 15])
def test_an_impossible_number_of_folds_is_refused(k: int) -> None:
    with pytest.raises(ParameterError, match="from 2 to the number of cases, 14"):
        stratified_folds(sample("play-tennis"), k)


def test_folds_need_a_target() -> None:
    with pytest.raises(ParameterError, match="the data have none"):
        stratified_folds(sample("play-tennis").X, 2)


# -- estimates -------------------------------------------------------------------------------------------------------


def _iris() -> Dataset:
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    columns = tuple(Column(f"x{index}", Kind.NUMERIC) for index in range(4))
    schema = Schema((*columns, Column("y", Kind.NOMINAL, ("0", "1", "2"))), target="y")
    return Dataset(schema, tuple(np.ascontiguousarray(X[:, index]) for index in range(4)), 150, y.astype(np.int32))


def test_pooled_accuracy_counts_what_cross_val_predict_counts() -> None:
    """The same folds, the same predictions, the same number of hits as by scikit-learn's loop over our estimator."""
    from sklearn.model_selection import PredefinedSplit, cross_val_predict

    from treewright.estimators.cart import CARTClassifier

    data = _iris()
    found = cross_validate(data, cart, 5, seed=3)
    assert isinstance(found, AccuracyEstimate)
    split = PredefinedSplit(stratified_folds(data, 5, 3))
    X = np.stack(data.columns, axis=1)
    predicted = cross_val_predict(CARTClassifier(), X, np.asarray(data.target), cv=split)
    assert found.correct == int((predicted == data.target).sum())
    assert (found.tested, found.folds) == (150, 5)
    assert found.accuracy == found.correct / 150
    assert (found.low, found.high) == wilson_interval(found.correct, 150)


def test_accuracy_is_near_scikit_learns_own_tree_on_the_same_folds() -> None:
    from sklearn.model_selection import PredefinedSplit, cross_val_predict
    from sklearn.tree import DecisionTreeClassifier

    data = _iris()
    found = cross_validate(data, cart, 10)
    assert isinstance(found, AccuracyEstimate)
    X = np.stack(data.columns, axis=1)
    split = PredefinedSplit(stratified_folds(data, 10))
    predicted = cross_val_predict(DecisionTreeClassifier(random_state=0), X, np.asarray(data.target), cv=split)
    assert abs(found.correct - int((predicted == data.target).sum())) <= 4  # ties are broken differently


def test_the_baseline_always_predicts_the_most_frequent_class() -> None:
    found = cross_validate(sample("play-tennis"), lambda part: fit(part, ID3()), 7)
    assert isinstance(found, AccuracyEstimate)
    assert (found.baseline, found.baseline_class) == (9 / 14, "Yes")
    assert found.to_dict()["correct"] == found.correct


def test_errors_of_a_numeric_target_are_pooled() -> None:
    from sklearn.metrics import r2_score, root_mean_squared_error

    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    x = np.arange(30.0)
    y = x**2 + 5 * np.sin(7 * x)
    data = Dataset(schema, (x,), 30, y)
    found = cross_validate(data, cart, 5)
    assert isinstance(found, ErrorEstimate)
    predicted = np.empty(30)
    for train, test in fold_splits(stratified_folds(data, 5)):
        predicted[test] = cart(data.take(train)).predict(data.take(test))
    assert found.rmse == pytest.approx(root_mean_squared_error(y, predicted))
    assert found.r2 == pytest.approx(r2_score(y, predicted))
    assert found.baseline_rmse == pytest.approx(np.std(y))
    assert found.to_dict()["tested"] == 30


def test_a_hold_out_is_the_first_fold_only() -> None:
    data = sample("play-tennis")
    found = cross_validate(data, lambda part: fit(part, ID3()), 7, used=1)
    assert isinstance(found, AccuracyEstimate)
    assert (found.folds, found.tested) == (1, 2)


@pytest.mark.parametrize("used", [0, 8])
def test_no_more_folds_can_be_used_than_there_are(used: int) -> None:
    with pytest.raises(ParameterError, match="used"):
        cross_validate(sample("play-tennis"), lambda part: fit(part, ID3()), 7, used=used)


def test_progress_is_reported_after_each_fold() -> None:
    result: list[tuple[int, int]] = []
    cross_validate(sample("play-tennis"), lambda part: fit(part, ID3()), 3, progress=lambda *now: result.append(now))
    assert result == [(1, 3), (2, 3), (3, 3)]
