"""Choosing: the smaller tree among equals, honest beside optimistic, and in time."""

from __future__ import annotations

import json

import numpy as np
import pytest

from evaluation.test_resampling import cases, line
from treewright.data.dataset import Dataset
from treewright.errors import ParameterError
from treewright.evaluation import tune as tune_module
from treewright.evaluation.cross_validation import Fit, Rows
from treewright.evaluation.fold_runs import FoldRun, run_split
from treewright.evaluation.learners import Learn
from treewright.evaluation.resampling import estimate
from treewright.evaluation.splitters import KFold
from treewright.evaluation.tune import TuningCandidate, _choice, grid_for, tune
from treewright.plans import RulePlan, c45, cart, id3


def test_the_smaller_of_two_equals_is_chosen() -> None:
    draw = np.random.default_rng(5)
    data = cases(200, 2, target=draw.integers(0, 2, 200).astype(np.int32))  # nothing to learn
    tuned = tune(data, {"large": c45(prune=False), "small": c45(confidence=0.001)}, inner=3, outer=0)
    sizes = {one.name: one.size for one in tuned.candidates}
    assert sizes["small"] < sizes["large"]
    assert tuned.chosen == "small"
    assert tuned.plan == c45(confidence=0.001)
    assert tuned.nested is None


def test_the_choice_by_hand() -> None:
    tried = [
        TuningCandidate("first", 0.80, 0.02, 30.0, 1.0),
        TuningCandidate("best", 0.85, 0.03, 20.0, 1.0),
        TuningCandidate("near", 0.83, 0.01, 5.0, 1.0),
        TuningCandidate("far", 0.70, 0.05, 1.0, 1.0),
    ]
    assert _choice(tried, 1.0) == "near"
    assert _choice(tried, -1.0) == "far"  # of errors the least is the best
    assert _choice([*tried, TuningCandidate("nearer", 0.84, 0.0, 5.0, 1.0)], 1.0) == "nearer"


def test_the_nested_estimate_is_reported_beside_the_inner_one() -> None:
    data = cases(90, 3)
    tuned = tune(data, {"usual": c45(), "depth 1": c45(max_depth=1)}, inner=3, outer=3)
    assert tuned.nested is not None
    assert len(tuned.nested.folds) == 3
    assert tuned.nested.tested == 90
    assert len(tuned.chosen_in_folds) == 3
    assert tuned.not_tried == ()
    inner = {one.name: one.score for one in tuned.candidates}
    assert tuned.inner == inner[tuned.chosen]
    assert inner["usual"] == pytest.approx(estimate(data, Learn(c45()), KFold(3)).pooled)
    text = str(tuned)
    assert "unbiased" in text
    assert "optimistic" in text
    assert "Baseline" in text


def test_forms() -> None:
    result: list[tuple[int, int]] = []
    tuned = tune(cases(40), {"a": c45()}, inner=2, outer=2, progress=lambda done, total: result.append((done, total)))
    assert result[-1] == (8, 8)
    assert json.loads(tuned.to_json()) == tuned.to_dict()
    assert list(tuned.to_dataframe()["chosen"]) == [True]
    assert "<table>" in tuned._repr_html_()


class _Clock:
    """Every fit takes a second, and nothing else takes time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0

        def slow(dataset: Dataset, fit: Fit, fold: int, train: Rows, test: Rows) -> FoldRun:
            self.now += 1.0
            return run_split(dataset, fit, fold, train, test)

        monkeypatch.setattr(tune_module, "run_split", slow)

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("limit", "candidates", "rounds", "outer"),
    [
        (3.0, 1, 1, 0),  # a candidate once and the model itself
        (9.0, 3, 1, 1),  # three candidates, the same in one outer fold, its test and the model itself
        (13.5, 5, 1, 1),
        (14.0, 6, 1, 1),  # one round, one outer fold
        (20.0, 6, 1, 1),
        (26.0, 6, 2, 1),
        (40.0, 6, 2, 2),
        (55.0, 6, 2, 3),
        (63.0, 6, 3, 2),
        (6 * 3 * 4 + 3 + 1, 6, 3, 3),  # all of it
        (1000.0, 6, 3, 3),
    ],
)
def test_a_time_limit_is_used_well_and_reported(
    monkeypatch: pytest.MonkeyPatch, limit: float, candidates: int, rounds: int, outer: int
) -> None:
    grid = {f"depth {depth}": id3(max_depth=depth) for depth in (1, 2, 3, 4, 5, 6)}
    tuned = tune(cases(40), grid, inner=3, outer=3, time_limit=limit, clock=_Clock(monkeypatch))
    assert tuned.seconds <= limit - 1  # a second is left for the model itself
    assert (len(tuned.candidates), tuned.inner_folds, len(tuned.chosen_in_folds)) == (candidates, rounds, outer)
    assert len(tuned.not_tried) == 6 - candidates
    assert any("not tried within the time limit" in warning for warning in tuned.warnings) == (candidates < 6)
    assert any("of 3 inner folds" in warning for warning in tuned.warnings) == (rounds < 3)
    assert any("nested estimate" in warning for warning in tuned.warnings) == (outer < 3)
    assert all(name in str(tuned) for name in tuned.not_tried)


def test_all_candidates_are_measured_on_the_same_folds_when_time_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    data = cases(60, 3)
    grid = {"usual": c45(), "depth 1": c45(max_depth=1)}
    tuned = tune(data, grid, inner=5, outer=0, time_limit=8.0, clock=_Clock(monkeypatch))
    assert tuned.inner_folds == 3
    default = estimate(data, c45(), KFold(5))
    right = [fold.score * fold.n for fold in default.folds[:3] if fold.score is not None]
    assert tuned.candidates[0].score == pytest.approx(sum(right) / sum(fold.n for fold in default.folds[:3]))


def test_no_time_at_all_takes_the_first_and_reports_it() -> None:
    late = iter(range(100))
    tuned = tune(cases(40), {"first": id3(), "second": c45()}, time_limit=0.5, clock=lambda: next(late))
    assert tuned.chosen == "first"
    assert tuned.candidates == ()
    assert tuned.inner is None
    assert tuned.nested is None
    assert any("without an estimate" in warning for warning in tuned.warnings)
    assert "first" in str(tuned)
    assert json.loads(tuned.to_json())["nested"] is None


def test_an_outer_fold_that_takes_longer_than_expected_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = _Clock(monkeypatch)

    def slower_and_slower(dataset: Dataset, fit: Fit, fold: int, train: Rows, test: Rows) -> FoldRun:
        clock.now += 1.0 + 0.02 * clock.now
        return run_split(dataset, fit, fold, train, test)

    monkeypatch.setattr(tune_module, "run_split", slower_and_slower)
    for limit in np.arange(8.0, 60.0, 2.0).tolist():
        clock.now = 0.0
        tuned = tune(cases(40), {"a": id3(), "b": c45()}, inner=3, outer=3, time_limit=limit, clock=clock)
        assert tuned.seconds <= limit
        assert len(tuned.chosen_in_folds) == (0 if tuned.nested is None else len(tuned.nested.folds))


def test_time_for_one_round_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    tuned = tune(cases(40), {"a": id3()}, inner=3, outer=0, time_limit=2.2, clock=_Clock(monkeypatch))
    assert tuned.inner_folds == 1
    assert tuned.warnings == ("the choice is based on 1 of 3 inner folds: the time limit was reached",)


def test_an_outer_fold_that_was_not_finished_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = _Clock(monkeypatch)
    fits = 0

    def slow_at_last(dataset: Dataset, fit: Fit, fold: int, train: Rows, test: Rows) -> FoldRun:
        nonlocal fits
        fits += 1
        clock.now += 1.0 if fits <= 7 else 20.0  # six of the choice, and one in the first outer fold
        return run_split(dataset, fit, fold, train, test)

    monkeypatch.setattr(tune_module, "run_split", slow_at_last)
    tuned = tune(cases(40), {"a": id3(), "b": c45()}, inner=3, outer=3, time_limit=40.0, clock=clock)
    assert tuned.inner_folds == 3
    assert tuned.nested is None
    assert tuned.warnings == ("there is no nested estimate: the time limit was reached",)


def test_fewer_folds_than_wanted_are_reported() -> None:
    tuned = tune(cases(6), {"a": id3()}, inner=8, outer=8)
    assert (tuned.inner_folds, tuned.outer_folds) == (5, 6)
    assert tuned.nested is not None
    assert tuned.nested.tested == 6
    assert tuned.warnings[0] == "there are only 6 cases: 5 inner folds instead of 8 and 6 outer folds instead of 8"
    assert tune(cases(20), {"a": id3()}).warnings == ()
    assert tune(cases(4), {"a": id3()}, inner=2, outer=2).warnings == ()


def test_the_inner_estimate_is_called_optimistic_only_where_it_is() -> None:
    result = set()
    for seed in range(12):
        tuned = tune(cases(40, seed=seed), {"usual": c45(), "depth 1": c45(max_depth=1)}, inner=3, outer=3)
        assert tuned.nested is not None
        assert tuned.inner is not None
        better = tuned.inner > tuned.nested.pooled
        assert ("no better than the nested estimate" in str(tuned)) == (not better)
        result.add(better)
    assert result == {True, False}
    assert "usually optimistic" in str(tune(cases(40), {"a": c45()}, inner=2, outer=0))


def test_candidates_may_be_recipes_estimators_or_a_list() -> None:
    from treewright.estimators.c45 import C45Classifier
    from treewright.learners.recipe import ID3

    tuned = tune(cases(40), [c45(), ID3(), C45Classifier(confidence=0.1), "chaid"], inner=2, outer=0)
    assert [one.name for one in tuned.candidates] == ["C4.5", "ID3", "C45Classifier", "chaid"]
    assert tuned.plan.to_dict()
    with pytest.raises(ParameterError, match="not function"):
        tune(cases(40), [c45(), lambda part: None])


def test_numbers() -> None:
    tuned = tune(line(), {"any": cart(), "pruned": cart(prune="cost_complexity", alpha=1000.0)}, inner=3, outer=2)
    assert tuned.measure == "rmse"
    assert tuned.chosen == "any"
    assert tuned.nested is not None
    assert "root mean squared error" in str(tuned)


@pytest.mark.parametrize("algorithm", ["c45", "id3", "cart", "chaid", "cal3", "rules"])
def test_every_grid_begins_with_the_usual_setting(algorithm: str) -> None:
    grid = grid_for(algorithm)
    default = next(iter(grid.values()))
    assert len(grid) >= 3
    assert len(set(map(repr, grid.values()))) == len(grid)
    assert isinstance(default, RulePlan) == (algorithm == "rules")


def test_prices_of_numbers_are_in_their_unit() -> None:
    names = list(grid_for("cart", line()))
    assert "of the variance" in names[0]


def test_wrong_calls_are_refused() -> None:
    with pytest.raises(ParameterError, match="did you mean 'c45'"):
        tune(cases(20), "c4.5")
    with pytest.raises(ParameterError, match="empty"):
        tune(cases(20), {})
    with pytest.raises(ParameterError, match="inner"):
        tune(cases(20), inner=1)
    with pytest.raises(ParameterError, match="outer"):
        tune(cases(20), outer=1)
    with pytest.raises(ParameterError, match="time limit"):
        tune(cases(20), time_limit=0)
    with pytest.raises(ParameterError, match="four cases"):
        tune(cases(3))
