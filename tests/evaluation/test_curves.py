"""The two curves: sizes and classes in proportion, the optimum where it is, and the same trees as pruning makes."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from evaluation.test_resampling import cases, line
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.errors import DataError, ParameterError
from treewright.evaluation.curves import (
    ComplexityCurve,
    ComplexityPoint,
    LearningCurve,
    LearningPoint,
    _optimum,
    complexity_curve,
    learning_curve,
)
from treewright.evaluation.learners import Learn
from treewright.fitting.learn import fit
from treewright.plans import c45, c45_rules, cart
from treewright.pruning.methods import CostComplexity, ErrorBased, prune
from treewright.tree.model import Predictor


def test_training_parts_are_nested_and_in_proportion() -> None:
    data = cases(120, 3)
    assert data.target is not None
    parts: list[Dataset] = []

    def learned(part: Dataset) -> Predictor:
        parts.append(part)
        return fit(part, c45())

    curve = learning_curve(data, learned, [10, 0.5, 1.0], repeats=2)
    assert [point.size for point in curve.points] == [10, 40, 80]
    shares = np.bincount(data.target, minlength=3) / 120
    for part in parts:
        assert part.target is not None
        counts = np.bincount(part.target, minlength=3)
        assert np.all(np.abs(counts - shares * part.n_rows) <= 2)
    for small, large in pairwise(parts[:3]):
        assert set(small.columns[0]) <= set(large.columns[0])


def test_more_cases_help_where_there_is_something_to_learn() -> None:
    curve = learning_curve(line(200), Learn(cart()), repeats=3)
    assert curve.measure == "rmse"
    assert curve.points[-1].score < curve.points[0].score
    assert all(point.low <= point.score <= point.high for point in curve.points)
    assert all(point.training == 0 for point in curve.points)


def test_rising_is_reported() -> None:
    steps = (LearningPoint(10, 0.5, 0.45, 0.55, 1.0), LearningPoint(100, 0.8, 0.75, 0.85, 1.0))
    assert LearningCurve("accuracy", 5, steps).still_rising
    assert "more cases would help" in str(LearningCurve("accuracy", 5, steps))
    assert not LearningCurve("rmse", 5, steps).still_rising
    assert not LearningCurve("accuracy", 5, steps[:1]).still_rising


def test_forms_of_a_learning_curve() -> None:
    result: list[tuple[int, int]] = []
    curve = learning_curve(
        cases(40), Learn(c45()), [5, 20], repeats=1, progress=lambda done, total: result.append((done, total))
    )
    assert result == [(1, 2), (2, 2)]
    assert json.loads(curve.to_json()) == curve.to_dict()
    assert list(curve.to_dataframe()["size"]) == [5, 20]
    assert "<table>" in curve._repr_html_()
    assert curve.points[0].low == curve.points[0].score


@pytest.mark.parametrize("sizes", [[0], [1000], [1.5], [], [True]])
def test_impossible_sizes_are_refused(sizes: list[int | float]) -> None:
    with pytest.raises(ParameterError, match="training size"):
        learning_curve(cases(40), Learn(c45()), sizes)


def test_the_complexity_curve_follows_the_sequence_of_cost_complexity() -> None:
    data = cases(150, 2)
    plan = cart()
    curve = complexity_curve(data, plan, folds=5)
    tree = fit(data, plan).tree
    assert curve.points[0].leaves == prune(tree, CostComplexity(0.0)).n_leaves
    assert curve.points[-1].leaves == 1
    leaves = [point.leaves for point in curve.points]
    assert leaves == sorted(set(leaves), reverse=True)
    for point in curve.points:
        assert prune(tree, CostComplexity(point.strength)).n_leaves == point.leaves
    training = [point.training for point in curve.points]
    assert training == sorted(training)
    assert curve.points[curve.best].validation == min(point.validation for point in curve.points)
    assert curve.points[curve.simplest].leaves <= curve.points[curve.best].leaves


def test_validation_by_hand() -> None:
    data = cases(60, 2)
    curve = complexity_curve(data, cart(), folds=3, seed=1)
    point = curve.points[curve.best]
    from treewright.evaluation.resampling import estimate
    from treewright.evaluation.splitters import KFold

    found = estimate(data, Learn(cart(prune="cost_complexity", alpha=point.strength)), KFold(3, seed=1))
    assert point.validation == pytest.approx(1 - found.pooled)
    assert point.standard_error == pytest.approx((found.pooled * (1 - found.pooled) / 60) ** 0.5)


def test_along_confidence() -> None:
    data = cases(150, 2)
    curve = complexity_curve(data, c45(), folds=3, along="confidence")
    tree = fit(data, c45().unpruned()).tree
    assert [point.strength for point in curve.points][:2] == [1.0, 0.75]
    for point in curve.points:
        assert prune(tree, ErrorBased(point.strength), data).n_leaves == point.leaves
    assert "confidence" in str(curve)


def test_numbers_have_squares() -> None:
    curve = complexity_curve(line(), cart(), folds=3, points=6)
    assert curve.measure == "squares"
    assert len(curve.points) <= 6
    assert curve.points[-1].training == pytest.approx(np.var(line().y))
    with pytest.raises(ParameterError, match="for classes"):
        complexity_curve(line(), cart(), along="confidence")


def test_forms_of_a_complexity_curve() -> None:
    result: list[tuple[int, int]] = []
    curve = complexity_curve(
        sample("restaurant"), cart(), folds=3, progress=lambda done, total: result.append((done, total))
    )
    assert result == [(1, 3), (2, 3), (3, 3)]
    assert json.loads(curve.to_json()) == curve.to_dict()
    assert len(curve.to_dataframe()) == len(curve.points)
    assert "within one standard error" in str(curve)
    assert "<table>" in curve._repr_html_()


def test_a_single_class_is_one_leaf() -> None:
    curve = complexity_curve(cases(12, 1, target=np.zeros(12, dtype=np.int32)), cart(), folds=3)
    assert [point.leaves for point in curve.points] == [1]
    assert isinstance(curve, ComplexityCurve)
    assert curve.points[0].validation == 0


def test_the_optimum_and_the_simplest_within_one_error() -> None:
    points = [
        ComplexityPoint(0.0, 9, 0.0, 0.30, 0.04),
        ComplexityPoint(0.1, 5, 0.1, 0.20, 0.04),
        ComplexityPoint(0.2, 3, 0.2, 0.23, 0.04),
        ComplexityPoint(0.3, 1, 0.4, 0.40, 0.04),
    ]
    assert _optimum(points) == (1, 2)


def test_wrong_calls_are_refused() -> None:
    with pytest.raises(ParameterError, match="along"):
        complexity_curve(cases(20), cart(), along="depth")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="number of points"):
        complexity_curve(cases(20), cart(), points=1)
    with pytest.raises(ParameterError, match="number of folds"):
        complexity_curve(cases(20), cart(), folds=21)
    with pytest.raises(ParameterError, match="rules and forests have none"):
        complexity_curve(cases(20), c45_rules())
    nothing = replace(cases(20), weights=np.append(np.ones(1), np.zeros(19)))
    with pytest.raises(DataError, match="weight 0"):
        learning_curve(nothing, Learn(c45()), [1.0])
