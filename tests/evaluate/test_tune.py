"""Choosing: the smaller tree among equals, honest beside optimistic, and in time."""

from __future__ import annotations

import json

import numpy as np
import pytest

from evaluate.test_resampling import cases, line
from treewright._base.errors import ParameterError
from treewright.data.dataset import Dataset
from treewright.evaluate import tune as tune_module
from treewright.evaluate.estimate import Fit, Rows
from treewright.evaluate.grids import grid_for
from treewright.evaluate.resampling import KFold, estimate
from treewright.evaluate.runs import FoldRun, Learn, run_pair
from treewright.evaluate.tune import Candidate, _choice, tune
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
        Candidate("first", 0.80, 0.02, 30.0, 1.0),
        Candidate("best", 0.85, 0.03, 20.0, 1.0),
        Candidate("near", 0.83, 0.01, 5.0, 1.0),
        Candidate("far", 0.70, 0.05, 1.0, 1.0),
    ]
    assert _choice(tried, 1.0) == "near"
    assert _choice(tried, -1.0) == "far"  # of errors the least is the best
    assert _choice([*tried, Candidate("nearer", 0.84, 0.0, 5.0, 1.0)], 1.0) == "nearer"


def test_the_nested_estimate_is_told_beside_the_inner_one() -> None:
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
    assert "honest" in text
    assert "optimistic" in text
    assert "Baseline" in text


def test_forms() -> None:
    told: list[tuple[int, int]] = []
    tuned = tune(cases(40), {"a": c45()}, inner=2, outer=2, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (8, 8)
    assert json.loads(tuned.to_json()) == tuned.to_dict()
    assert list(tuned.to_dataframe()["chosen"]) == [True]
    assert "<table>" in tuned._repr_html_()


class _Clock:
    """Every fit takes a second, and nothing else takes time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0

        def slow(dataset: Dataset, fit: Fit, fold: int, train: Rows, test: Rows) -> FoldRun:
            self.now += 1.0
            return run_pair(dataset, fit, fold, train, test)

        monkeypatch.setattr(tune_module, "run_pair", slow)

    def __call__(self) -> float:
        return self.now


def test_the_time_limit_is_respected_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    grid = {f"depth {depth}": id3(max_depth=depth) for depth in (1, 2, 3, 4, 5, 6)}
    for limit, candidates, outer in ((9.0, 1, 1), (18.0, 3, 1), (30.0, 5, 1), (60.0, 6, 3), (12 * 4 + 3 + 1, 6, 3)):
        tuned = tune(cases(40), grid, inner=2, outer=3, time_limit=limit, clock=_Clock(monkeypatch))
        assert tuned.seconds <= limit - 1  # a second is left for the model itself
        assert len(tuned.candidates) == candidates
        assert len(tuned.not_tried) == 6 - candidates
        assert len(tuned.chosen_in_folds) == outer
        assert any("no time to try" in warning for warning in tuned.warnings) == (candidates < 6)
        assert any("of 3 folds" in warning for warning in tuned.warnings) == (outer < 3)
        assert all(name in str(tuned) for name in tuned.not_tried)


def test_no_time_at_all_takes_the_first_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    tuned = tune(cases(40), {"first": id3(), "second": c45()}, time_limit=2.0, clock=_Clock(monkeypatch))
    assert tuned.chosen == "first"
    assert tuned.candidates == ()
    assert tuned.inner is None
    assert tuned.nested is None
    assert any("nothing is known" in warning for warning in tuned.warnings)
    assert "first" in str(tuned)
    assert json.loads(tuned.to_json())["nested"] is None


def test_numbers() -> None:
    tuned = tune(line(), {"any": cart(), "pruned": cart(prune="cost_complexity", alpha=1000.0)}, inner=3, outer=2)
    assert tuned.measure == "rmse"
    assert tuned.chosen == "any"
    assert tuned.nested is not None
    assert "root mean squared error" in str(tuned)


@pytest.mark.parametrize("algorithm", ["c45", "id3", "cart", "chaid", "cal3", "rules"])
def test_every_grid_begins_with_the_usual_setting(algorithm: str) -> None:
    grid = grid_for(algorithm)
    usual = next(iter(grid.values()))
    assert len(grid) >= 3
    assert len(set(map(repr, grid.values()))) == len(grid)
    assert isinstance(usual, RulePlan) == (algorithm == "rules")


def test_prices_of_numbers_are_in_their_unit() -> None:
    names = list(grid_for("cart", line()))
    assert "of the variance" in names[0]


def test_fewer_cases_than_folds() -> None:
    tuned = tune(cases(6), {"a": id3()}, inner=5, outer=8)
    assert tuned.outer_folds == 6
    assert tuned.nested is not None
    assert tuned.nested.tested == 6


def test_wrong_calls_are_told() -> None:
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
