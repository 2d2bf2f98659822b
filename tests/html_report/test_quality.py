"""The quality on unseen cases: by folds, held out, on test cases; samples of large data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from small_trees import random_cases
from treewright import plans
from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Kind, Schema
from treewright.evaluation.cross_validation import cross_validate
from treewright.evaluation.evaluate_model import evaluate_model
from treewright.evaluation.learners import Learn
from treewright.fitting.learn import fit
from treewright.html_report import quality
from treewright.html_report.pruning_slider import losses_along, pruning_steps
from treewright.html_report.quality import cross_validated, learning_data, measured_on, quality_data, sampled

DATA = random_cases(np.random.default_rng(11), 200, 0.1)


def line(n: int = 90) -> Dataset:
    rng = np.random.default_rng(12)
    x = rng.random(n)
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    return Dataset(schema, (x,), n, x + rng.normal(0, 0.1, n))


def test_folds_give_the_accuracy_of_cross_validation_and_the_losses_along_pruning() -> None:
    learn = Learn(plans.c45())
    steps = pruning_steps(fit(DATA, plans.c45()).tree)
    done: list[tuple[int, int]] = []
    found = cross_validated(DATA, learn, steps, folds=5, progress=lambda *part: done.append(part))
    result = quality_data(found)
    assert result["accuracy"][0] == pytest.approx(cross_validate(DATA, learn, 5).to_dict()["accuracy"], abs=1e-6)
    assert result["method"] == {"kind": "folds", "folds": 5, "rows": 200, "of": 200, "tested": 200}
    assert np.sum(result["confusion"]) == 200
    assert found.losses is not None
    assert len(found.losses) == len(steps.leaves) + 1
    assert done[-1] == (5, 5)


def test_of_many_rows_a_part_is_held_out_and_of_very_many_a_sample_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quality, "ALL_FOLDS_UP_TO", 50)
    monkeypatch.setattr(quality, "MOST_ROWS", 100)
    found = cross_validated(DATA, Learn(plans.id3()), None)
    assert found.method == {"kind": "holdout", "folds": 1, "rows": 100, "of": 200, "tested": 10}
    assert found.losses is None


def test_test_cases_are_measured_by_the_model_itself() -> None:
    model = fit(DATA, plans.cart())
    steps = pruning_steps(model.tree)
    other = random_cases(np.random.default_rng(13), 80)
    found = measured_on(model, other, steps)
    assert quality_data(found)["accuracy"][0] == pytest.approx(
        evaluate_model(model, other).to_dict()["accuracy"], abs=1e-6
    )
    assert found.losses == pytest.approx(losses_along(model, other, steps.alphas))
    assert found.method["kind"] == "test"


def test_a_curve_for_each_class_with_the_weights_of_both_sides() -> None:
    result = quality_data(measured_on(fit(DATA, plans.c45(prune=False)), DATA, None, kind="training"))
    assert [curve["class"] for curve in result["roc"]] == [0, 1, 2]
    for curve in result["roc"]:
        assert curve["positive"] + curve["negative"] == pytest.approx(200)
        assert curve["thresholds"][0] is None
        assert (curve["fpr"][-1], curve["tpr"][-1]) == (1, 1)
    assert result["scores"][0][3] == sum(result["confusion"][0])


def test_classes_without_cases_on_one_side_have_no_curve_and_rules_none_at_all() -> None:
    only = DATA.take(np.flatnonzero(np.asarray(DATA.target) == 0))
    assert quality_data(measured_on(fit(DATA, plans.c45()), only, None))["roc"] == []
    rules = quality_data(measured_on(fit(DATA, plans.c45_rules()), DATA, None))
    assert rules["roc"] == []


def test_numbers_have_measures_and_pairs() -> None:
    data = line()
    steps = pruning_steps(fit(data, plans.cart()).tree)
    result = quality_data(cross_validated(data, Learn(plans.cart()), steps, folds=3))
    assert result["r2"][0] > 0.5
    assert len(result["scatter"][0]) == len(result["scatter"][1]) == 90
    own = quality_data(measured_on(fit(data, plans.cart()), data, None, kind="training"))
    assert own["rmse"][0] == 0


def test_very_many_classes_are_shown_as_their_confusions() -> None:
    rng = np.random.default_rng(1)
    classes = tuple(f"k{code}" for code in range(80))
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NOMINAL, classes)), target="y")
    x = rng.random(400)
    data = Dataset(schema, (x,), 400, (80 * x).astype(np.int32))
    result = quality_data(measured_on(fit(data, plans.c45(max_depth=3)), data, None))
    assert "confusion" not in result
    counts = [count for _, _, count in result["confusions"]]
    assert counts == sorted(counts, reverse=True)
    assert all(true != predicted for true, predicted, _ in result["confusions"])


def test_weights_and_costs_are_respected() -> None:
    heavy = replace(DATA, weights=np.linspace(0.5, 2, 200))
    costs = ((0.0, 5.0, 1.0), (1.0, 0.0, 1.0), (1.0, 1.0, 0.0))
    found = cross_validated(heavy, Learn(plans.c45(), costs=costs), None, folds=4, costs=costs)
    assert np.sum(quality_data(found)["confusion"]) == pytest.approx(np.linspace(0.5, 2, 200).sum(), rel=1e-4)
    assert found.report.to_dict()["cost"] is not None


def test_a_sample_keeps_the_classes_in_proportion() -> None:
    part = sampled(DATA, 50, 0)
    assert abs(part.n_rows - 50) <= 1
    shares = np.bincount(np.asarray(part.target)) / part.n_rows
    assert shares == pytest.approx(np.bincount(np.asarray(DATA.target)) / 200, abs=0.03)
    assert sampled(DATA, 200, 0) is DATA


def test_the_learning_curve_grows_from_few_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    result = learning_data(DATA, Learn(plans.id3()))
    assert result is not None
    assert result["repeats"] == 10
    sizes = [point[0] for point in result["points"]]
    assert sizes == sorted(sizes)
    assert all(low <= score <= high for _, score, low, high, _ in result["points"])
    assert learning_data(DATA.take(slice(0, 5)), Learn(plans.id3())) is None
    monkeypatch.setattr(quality, "MOST_CURVE_ROWS", 60)
    small = learning_data(DATA, Learn(plans.id3()))
    assert small is not None
    assert (small["rows"], small["of"]) == (60, 200)
