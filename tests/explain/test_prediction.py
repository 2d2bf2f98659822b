"""A prediction in words: the path, the leaf's cases, the parts of a fractional case, the surrogate used."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from learners.tables_for_growing import numeric_table, tables
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.errors import ParameterError
from treewright.explain.language import LANGUAGES
from treewright.explain.prediction import explain_prediction
from treewright.fitting.learn import fit
from treewright.plans import c45, cal2, cart, chaid, id3

TENNIS = sample("play-tennis")


def test_path_leaf_and_probabilities_of_a_whole_case() -> None:
    explanation = explain_prediction(fit(TENNIS, id3()), TENNIS.take([13]))
    assert explanation.outcome == "No"
    assert [(step.attribute, step.value, step.how, step.share) for step in explanation.steps] == [
        ("Outlook", "Rain", "value", 1.0),
        ("Wind", "Strong", "value", 1.0),
    ]
    [leaf] = explanation.leaves
    assert (leaf.counts, leaf.weight, leaf.share) == ((0, 2), 2.0, 1.0)
    assert explanation.probabilities == (0.0, 1.0)
    assert explanation.given == {"Outlook": "Rain", "Temperature": "Mild", "Humidity": "High", "Wind": "Strong"}
    text = explanation.to_text()
    assert "1. Outlook = Rain\n2. Wind = Strong" in text
    assert "holds 2 cases of the training data: No 2." in text


@settings(max_examples=60)
@given(tables(missing=True, max_columns=3))
def test_parts_of_a_case_give_the_probabilities_of_the_model(data: Dataset) -> None:
    for plan in (id3(), c45(min_objects=1), cart()):
        model = fit(data, plan)
        for row in range(min(3, data.n_rows)):
            case = data.take([row])
            explanation = explain_prediction(model, case)
            assert sum(leaf.share for leaf in explanation.leaves) == pytest.approx(1.0)
            assert explanation.probabilities == pytest.approx(model.predict_proba(case)[0].tolist())
            mixed = np.zeros(len(data.schema.classes))
            for leaf in explanation.leaves:
                counts = np.array(leaf.counts, dtype=float)
                sure = np.eye(len(counts))[data.schema.classes.index(str(leaf.outcome))]
                mixed += leaf.share * (counts / counts.sum() if leaf.weight > 0 else sure)
            assert mixed.tolist() == pytest.approx(list(explanation.probabilities or ()))
            assert explanation.outcome == model.predict(case)[0]
            for lang in LANGUAGES:
                assert explanation.to_text(lang)


def test_surrogate_that_stood_in_is_named() -> None:
    x = [float(value) for value in range(20)]
    data = numeric_table({"x": x, "z": [2 * value for value in x]}, ["A"] * 10 + ["B"] * 10, ("A", "B"))
    model = fit(data, cart(missing="surrogate", cp=0.0))
    explanation = explain_prediction(model, {"x": None, "z": 4.0})
    [step] = explanation.steps
    assert (step.how, step.value) == ("surrogate", None)
    assert step.surrogate is not None
    assert (step.surrogate.attribute, step.surrogate.condition.relation) == ("z", "<=")
    assert "x is missing; the surrogate split z <= " in explanation.to_text()
    assert explanation.outcome == "A"


def test_surrogate_turned_around_has_the_condition_that_the_case_meets() -> None:
    x = [float(value) for value in range(20)]
    data = numeric_table({"x": x, "z": [-value for value in x]}, ["A"] * 10 + ["B"] * 10, ("A", "B"))
    model = fit(data, cart(missing="surrogate", cp=0.0))
    [step] = explain_prediction(model, {"z": -4.0}).steps
    assert step.surrogate is not None
    assert step.surrogate.reversed
    assert str(step.surrogate.condition).startswith("z > -")


def test_case_without_value_goes_the_default_way_or_stays() -> None:
    explanation = explain_prediction(fit(TENNIS, id3()), {"Outlook": None})
    assert explanation.steps[0].how == "default"
    assert "Outlook is missing; the case takes the default branch: " in explanation.to_text()
    x = [float(value) for value in range(20)]
    data = numeric_table({"x": x}, ["A"] * 10 + ["B"] * 10, ("A", "B"))
    stays = explain_prediction(fit(data, cart(missing="surrogate", cp=0.0)), {"x": None})
    assert stays.steps[0].how == "stays"
    assert stays.leaves[0].node == 0
    assert "the case stays here, and this node makes the prediction" in stays.to_text()


def test_numeric_value_is_printed_beside_the_condition() -> None:
    data = numeric_table({"x": [1.0, 2.0, 3.0, 4.0]}, list("AABB"), ("A", "B"))
    explanation = explain_prediction(fit(data, cart()), {"x": 1.25})
    assert "1. x <= 2.5 (value 1.25)" in explanation.to_text()
    assert "1. x <= 2.5 (Wert 1.25)" in explanation.to_text("de")


def test_single_leaf_and_empty_leaf_and_number() -> None:
    alone = explain_prediction(fit(TENNIS, id3(max_depth=0)), {})
    assert "The tree is a single leaf and tests no attribute." in alone.to_text()
    assert "No change to the case changes the prediction." in alone.to_text()
    assert alone.notes == ("no_counterfactual",)
    some = fit(TENNIS.take(np.flatnonzero(TENNIS.columns[0] != 1)), id3())
    empty = explain_prediction(some, {"Outlook": "Overcast"})
    assert "holds no training cases; it predicts the class of its parent." in empty.to_text()
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    numbers = Dataset(schema, (np.array([1.0, 2.0, 3.0, 4.0]),), 4, np.array([1.0, 1.0, 5.0, 5.0]))
    number = explain_prediction(fit(numbers, cart()), {"x": 1.0})
    assert (number.outcome, number.probabilities) == (1.0, None)
    assert "holds 2 cases of the training data; the prediction is their mean." in number.to_text()


def test_many_leaves_of_a_fractional_case_are_cut_short() -> None:
    values = tuple(f"v{code}" for code in range(30))
    schema = Schema((Column("a", Kind.NOMINAL, values), Column("k", Kind.NOMINAL, ("A", "B"))), target="k")
    codes = np.repeat(np.arange(30), 3).astype(np.int32)
    model = fit(Dataset(schema, (codes,), 90, (codes % 2).astype(np.int32)), c45(prune=False))
    explanation = explain_prediction(model, {"a": None})
    assert len(explanation.leaves) == 30
    assert "... 10 more leaves" in explanation.to_text()


@pytest.mark.parametrize(
    "plan", [c45(dialect="r8"), c45(dialect="j48"), chaid(min_samples_split=4, min_samples_leaf=2)]
)
def test_every_learner_is_explained(plan: object) -> None:
    model = fit(TENNIS, plan)  # type: ignore[call-overload]
    for row in range(14):
        explanation = explain_prediction(model, TENNIS.take([row]))
        assert explanation.outcome == model.predict(TENNIS.take([row]))[0]


def test_value_that_cal_never_met_is_explained_as_it_is_predicted() -> None:
    data = sample("cal2")
    model = fit(data, cal2())
    assert explain_prediction(model, data.take([0])).outcome == model.predict(data.take([0]))[0]


def test_rows_that_are_none_are_refused() -> None:
    model = fit(TENNIS, id3())
    with pytest.raises(ParameterError, match="no attribute 'Outlok'; did you mean 'Outlook'"):
        explain_prediction(model, {"Outlok": "Rain"})
    with pytest.raises(ParameterError, match="one case is explained at a time, and these are 2"):
        explain_prediction(model, TENNIS.take([0, 1]))
    with pytest.raises(ParameterError, match="a column has 2 values"):
        explain_prediction(model, {"Outlook": ["Rain", "Sunny"]})
    assert explain_prediction(model, {"Outlook": ["Overcast"], "PlayTennis": ["No"]}).outcome == "Yes"


def test_rows_of_frames_and_arrays_are_cases() -> None:
    pandas = pytest.importorskip("pandas")
    model = fit(TENNIS, id3())
    frame = pandas.DataFrame({name: TENNIS.column(name) for name in TENNIS.schema.attribute_names})
    wanted = explain_prediction(model, TENNIS.take([13]))
    assert explain_prediction(model, frame.iloc[13]) == wanted
    assert explain_prediction(model, frame.iloc[[13]]) == wanted
    assert explain_prediction(model, np.array(["Rain", "Mild", "High", "Strong"], dtype=object)) == wanted
    assert explain_prediction(model, [["Rain", "Mild", "High", "Strong"]]) == wanted


def test_class_that_costs_decide_is_the_one_explained() -> None:
    model = fit(TENNIS, id3(max_depth=1), costs=((0.0, 1.0), (10.0, 0.0)))
    explanation = explain_prediction(model, TENNIS.take([3]))
    assert explanation.outcome == model.predict(TENNIS.take([3]))[0] == "No"
    assert explanation.counterfactual is not None
    assert explanation.counterfactual.outcome == "Yes"


def test_smoothed_probabilities_are_those_of_the_model() -> None:
    model = replace(fit(TENNIS, id3()), smoothing="laplace")
    assert explain_prediction(model, TENNIS.take([0])).probabilities == pytest.approx((1 / 5, 4 / 5))
