"""The honest report: every number is scikit-learn's, and the sentences warn where a number misleads."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.calibration import calibration_curve

from treewright.data.dataset import encode
from treewright.data.frames import raw_table
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.errors import DataError, ParameterError
from treewright.evaluation.classification import ClassificationReport, classification_report, cost_table
from treewright.evaluation.evaluate_model import evaluate_model
from treewright.evaluation.probabilities import MOST_POINTS, class_curves, reliability_bins
from treewright.evaluation.regression import RegressionReport, half_width, regression_report
from treewright.evaluation.report import percentage
from treewright.fitting.learn import fit
from treewright.learners.recipe import CART, ID3
from treewright.plans import c45_rules
from treewright.tree.model import TreeModel


def random_predictions(
    seed: int, k: int, n: int, *, weighted: bool, tied: bool
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any] | None]:
    """Return actual classes (every class occurs), predictions, probabilities and weights."""
    rng = np.random.default_rng(seed)
    actual = rng.permutation(np.concatenate((np.arange(k), rng.integers(0, k, n))))
    shares = rng.dirichlet(np.ones(k), len(actual))
    if tied:
        shares = (np.round(shares * 2) + 1) / (np.round(shares * 2) + 1).sum(axis=1, keepdims=True)
    predicted = rng.integers(0, k, len(actual))
    return actual, predicted, shares, rng.integers(1, 5, len(actual)).astype(float) if weighted else None


CASES = given(
    seed=st.integers(0, 2**32 - 1),
    k=st.integers(2, 4),
    n=st.integers(0, 60),
    weighted=st.booleans(),
    tied=st.booleans(),
)


@CASES
def test_every_metric_of_classes_is_that_of_scikit_learn(seed: int, k: int, n: int, weighted: bool, tied: bool) -> None:
    actual, predicted, shares, weights = random_predictions(seed, k, n, weighted=weighted, tied=tied)
    report = classification_report(actual, predicted, shares, range(k), weights)
    assert report.confusion == pytest.approx(metrics.confusion_matrix(actual, predicted, sample_weight=weights))
    assert report.accuracy == pytest.approx(metrics.accuracy_score(actual, predicted, sample_weight=weights))
    assert report.balanced_accuracy == pytest.approx(
        metrics.balanced_accuracy_score(actual, predicted, sample_weight=weights)
    )
    for average, score in (("macro", report.macro), ("weighted", report.weighted)):
        expected = metrics.precision_recall_fscore_support(
            actual, predicted, average=average, sample_weight=weights, zero_division=0
        )
        assert (score.precision, score.recall, score.f) == pytest.approx(expected[:3])
    of_class = metrics.precision_recall_fscore_support(actual, predicted, sample_weight=weights, zero_division=0)
    for score, *expected in zip(report.per_class, *of_class, strict=True):
        assert [score.precision, score.recall, score.f, score.support] == pytest.approx(expected)
    result = report.probabilities
    assert result is not None
    assert result.log_loss == pytest.approx(metrics.log_loss(actual, shares, sample_weight=weights))
    if k == 2:
        assert result.auc == pytest.approx(metrics.roc_auc_score(actual, shares[:, 1], sample_weight=weights))
        assert result.brier == pytest.approx(metrics.brier_score_loss(actual, shares[:, 1], sample_weight=weights))
        assert result.average_precision == pytest.approx(
            metrics.average_precision_score(actual, shares[:, 1], sample_weight=weights)
        )
    else:
        assert result.auc == pytest.approx(
            metrics.roc_auc_score(actual, shares, multi_class="ovr", sample_weight=weights)
        )
        squares = ((shares - np.eye(k)[actual]) ** 2).sum(axis=1)
        assert result.brier == pytest.approx(np.average(squares, weights=weights))
        assert result.average_precision == pytest.approx(
            metrics.average_precision_score(np.eye(k)[actual], shares, sample_weight=weights)
        )


@CASES
def test_curves_are_those_of_scikit_learn_and_end_where_they_must(
    seed: int, k: int, n: int, weighted: bool, tied: bool
) -> None:
    actual, predicted, shares, weights = random_predictions(seed, k, n, weighted=weighted, tied=tied)
    report = classification_report(actual, predicted, shares, range(k), weights)
    assert report.probabilities is not None
    for curves in report.probabilities.curves:
        code = int(curves.label)
        fpr, tpr, _ = metrics.roc_curve(actual == code, shares[:, code], sample_weight=weights)
        assert curves.fpr.tolist() == pytest.approx(fpr.tolist())
        assert curves.tpr.tolist() == pytest.approx(tpr.tolist())
        assert (curves.fpr[0], curves.tpr[0]) == (0, 0)
        assert (curves.fpr[-1], curves.tpr[-1]) == pytest.approx((1, 1))
        precision, recall, _ = metrics.precision_recall_curve(actual == code, shares[:, code], sample_weight=weights)
        assert curves.precision.tolist() == pytest.approx(precision.tolist())
        assert curves.recall.tolist() == pytest.approx(recall.tolist())
        assert sum(part.weight for part in curves.bins) == (len(actual) if weights is None else weights.sum())


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 60), weighted=st.booleans())
def test_every_metric_of_numbers_is_that_of_scikit_learn(seed: int, n: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    actual, predicted = rng.normal(size=n), rng.normal(size=n)
    weights = rng.integers(1, 5, n).astype(float) if weighted else None
    report = regression_report(actual, predicted, weights)
    assert report.r2.value == pytest.approx(metrics.r2_score(actual, predicted, sample_weight=weights))
    assert report.rmse.value == pytest.approx(metrics.root_mean_squared_error(actual, predicted, sample_weight=weights))
    assert report.mae.value == pytest.approx(metrics.mean_absolute_error(actual, predicted, sample_weight=weights))
    always = np.full(n, np.average(actual, weights=weights))
    assert report.rmse.baseline == pytest.approx(metrics.root_mean_squared_error(actual, always, sample_weight=weights))
    assert report.mae.baseline == pytest.approx(metrics.mean_absolute_error(actual, always, sample_weight=weights))
    for measure in (report.r2, report.rmse, report.mae):
        if measure.low is not None and measure.high is not None and measure.value is not None:
            assert measure.low <= measure.value <= measure.high


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 40), tied=st.booleans())
def test_best_threshold_is_the_best_of_all_thresholds_tried_one_by_one(seed: int, n: int, tied: bool) -> None:
    actual, predicted, shares, weights = random_predictions(seed, 2, n, weighted=True, tied=tied)
    costs = np.random.default_rng(seed).integers(0, 9, (2, 2)).astype(float)
    report = classification_report(actual, predicted, shares, range(2), weights, costs)
    assert report.cost is not None
    assert report.cost.best is not None
    assert weights is not None

    def cost_of(codes: npt.NDArray[Any]) -> float:
        return float(np.average(costs[actual, codes], weights=weights))

    assert report.cost.mean == pytest.approx(cost_of(predicted))
    assert report.cost.total == pytest.approx(cost_of(predicted) * weights.sum())
    assert report.cost.baseline == pytest.approx(min(cost_of(np.zeros_like(actual)), cost_of(np.ones_like(actual))))
    tried = [*shares[:, 1].tolist(), 2.0]
    best = report.cost.best
    assert best.cost == pytest.approx(min(cost_of((shares[:, 1] >= limit).astype(int)) for limit in tried))
    chosen = 2.0 if best.threshold is None else best.threshold
    assert best.cost == pytest.approx(cost_of((shares[:, 1] >= chosen).astype(int)))
    if best.fair_threshold is not None:
        assert best.fair_cost == pytest.approx(cost_of((shares[:, 1] >= best.fair_threshold).astype(int)))


@given(seed=st.integers(0, 2**32 - 1), tens=st.integers(1, 8))
def test_reliability_bins_without_ties_are_the_quantile_bins_of_scikit_learn(seed: int, tens: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.permutation(np.arange(1, 10 * tens + 1)) / (10 * tens + 2)
    actual = rng.random(10 * tens) < scores
    actual[0], actual[-1] = True, False
    bins = reliability_bins(actual, scores, np.ones(10 * tens))
    observed, predicted = calibration_curve(actual, scores, n_bins=10, strategy="quantile")
    assert [part.weight for part in bins] == [tens] * 10
    assert [part.observed for part in bins] == pytest.approx(observed.tolist())
    assert [part.mean_score for part in bins] == pytest.approx(predicted.tolist())


def test_multi_class_brier_is_that_of_scikit_learn_where_it_has_one() -> None:
    actual, predicted, shares, _ = random_predictions(5, 3, 50, weighted=False, tied=False)
    result = classification_report(actual, predicted, shares, range(3)).probabilities
    assert result is not None
    try:
        expected = metrics.brier_score_loss(actual, shares)
    except ValueError:  # before 1.7
        pytest.skip("this scikit-learn has no Brier score of several classes")
    assert result.brier == pytest.approx(expected)


@pytest.mark.parametrize(
    ("right", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_interval_of_accuracy_is_the_published_one(right: int, n: int, low: float, high: float) -> None:
    # Newcombe, Two-sided confidence intervals for the single proportion, Statistics in Medicine 17 (1998), table I,
    # method 3 (Wilson's score without continuity correction).
    report = classification_report(["a"] * n, ["a"] * right + ["b"] * (n - right), classes="ab")
    assert (report.low, report.high) == pytest.approx((low, high), abs=5e-5)


def test_weights_that_are_all_the_same_change_no_interval_and_unequal_ones_widen_it() -> None:
    actual, predicted = ["a", "b"] * 20, ["a"] * 40
    plain = classification_report(actual, predicted)
    tripled = classification_report(actual, predicted, weights=[3] * 40)
    assert (tripled.low, tripled.high) == pytest.approx((plain.low, plain.high))
    unequal = classification_report(actual, predicted, weights=[1, 1, 9, 9] * 10)
    assert unequal.high - unequal.low > plain.high - plain.low
    assert unequal.accuracy == 0.5


def test_of_9990_to_10_the_report_warns_that_accuracy_misleads() -> None:
    actual = ["no"] * 9990 + ["yes"] * 10
    report = classification_report(actual, ["no"] * 10_000)
    assert report.accuracy == report.baseline == 0.999
    assert not report.better_than_baseline
    assert report.warnings[0].startswith(
        'Accuracy is misleading here: 99.9 % looks high, but always predicting "no" gives'
    )
    assert report.warnings[1] == "Never predicted: 'yes'; every case of it is misclassified."
    found = classification_report(actual, actual)
    assert found.better_than_baseline
    assert found.warnings[0].startswith("Accuracy tells little here")


@pytest.mark.parametrize(
    ("predicted", "sentence"),
    [
        ("a" * 30 + "b" * 70, ""),
        ("a" * 55 + "b" * 45, "is not significantly above the baseline"),
        ("a" * 60 + "b" * 40, "is not above the baseline"),
    ],
)
def test_accuracy_is_compared_with_the_baseline(predicted: str, sentence: str) -> None:
    report = classification_report("a" * 30 + "b" * 70, predicted)
    assert [sentence in warning for warning in report.warnings] == ([True] if sentence else [])


def test_few_cases_are_reported_as_few() -> None:
    assert (
        "Only 14 cases: fewer than 30 are too few"
        in classification_report("a" * 7 + "b" * 7, "a" * 7 + "b" * 7).warnings[0]
    )
    assert "Only 1 case: fewer than 30 are too few" in classification_report("a", "a").warnings[0]
    assert "too few" not in " ".join(classification_report("ab" * 15, "ab" * 15).warnings)
    assert "too few" in regression_report([1, 2], [1, 2]).warnings[0]


def test_class_missing_among_the_actual_ones_has_no_curve_and_is_named() -> None:
    shares = np.array([[0.5, 0.3, 0.2], [0.2, 0.6, 0.2], [0.6, 0.2, 0.2], [0.1, 0.7, 0.2]])
    report = classification_report("abab", "abac", shares, "abc")
    assert report.probabilities is not None
    assert [curves.is_defined for curves in report.probabilities.curves] == [True, True, False]
    assert report.probabilities.auc == 1.0
    assert any("class 'c' has no cases" in warning for warning in report.warnings)
    assert report.balanced_accuracy == 0.75
    assert json.loads(report.to_json())["probabilities"]["curves"][2]["roc"] == []


def test_a_single_actual_class_is_a_defined_answer() -> None:
    report = classification_report("aaa", "aab", [0.1, 0.2, 0.9], "ab", costs=[[0, 2], [1, 0]])
    assert report.probabilities is not None
    assert report.probabilities.auc is None
    assert report.probabilities.average_precision is None
    assert "No ROC curve" in str(report)
    assert any("All cases are of the class" in warning for warning in report.warnings)
    assert report.cost is not None
    assert report.cost.best is not None
    assert report.cost.best.threshold is None
    assert report.cost.best.cost == 0
    assert 'predict "b" never' in str(report)


def test_only_one_class_at_all_is_a_defined_answer() -> None:
    report = classification_report("aaa", "aaa", np.ones((3, 1)), "a", costs=[[0]])
    assert report.accuracy == report.baseline == 1
    assert report.probabilities is not None
    assert (report.probabilities.auc, report.probabilities.log_loss, report.probabilities.brier) == (None, 0, 0)
    assert report.to_json()


def test_ties_in_all_scores_are_one_diagonal_step() -> None:
    report = classification_report("abab", "aaaa", np.full((4, 2), 0.5), "ab")
    assert report.probabilities is not None
    (curves,) = report.probabilities.curves
    assert (curves.fpr.tolist(), curves.tpr.tolist(), curves.auc) == ([0, 1], [0, 1], 0.5)
    assert len(curves.bins) == 1
    assert any("All cases have the same probabilities" in warning for warning in report.warnings)


def test_probabilities_of_0_and_1_are_reported_and_an_infinite_log_loss_has_no_number() -> None:
    report = classification_report("abab", "abaa", [0, 1, 0, 0], "ab")
    assert report.probabilities is not None
    assert report.probabilities.log_loss is None
    assert any("All probabilities are 0 or 1" in warning for warning in report.warnings)
    assert any("log loss is infinite" in warning for warning in report.warnings)
    assert report.to_dict()["probabilities"]["log_loss"] is None


def test_probabilities_of_32_bits_and_in_one_column_are_as_good() -> None:
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(2), 40)
    actual = rng.integers(0, 2, 40)
    result = [
        classification_report(actual, actual, probabilities, range(2)).probabilities
        for probabilities in (shares, shares.astype(np.float32), shares[:, 1])
    ]
    assert result[0] is not None
    for other in result[1:]:
        assert other is not None
        assert (other.auc, other.brier, other.log_loss) == pytest.approx(
            (result[0].auc, result[0].brier, result[0].log_loss), rel=1e-5
        )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"truth": [], "predicted": []}, "no cases"),
        ({"predicted": "a"}, "predicted must be as many as there are cases, 2, not 1"),
        ({"predicted": "az"}, "predicted: 'z' is none of the classes 'a', 'b'"),
        ({"truth": "az"}, "truth: 'z' is none"),
        ({"truth": ["a", None]}, "truth: the label of case 2 is missing"),
        ({"truth": [float("nan"), "a"]}, "truth: the label of case 1 is missing"),
        ({"truth": 3}, "truth must be a list"),
        ({"truth": [["a"], ["b"]]}, "truth must be a list"),
        ({"truth": np.array([["a", "b"]])}, "truth must be a list"),
        ({"classes": "aab"}, "classes must differ"),
        ({"classes": ["a", "b", 1, "1"]}, "classes must differ"),
        ({"classes": {"a", "b"}}, "classes must be a list of labels in order"),
        ({"probabilities": [0.1, float("nan")]}, "a probability of case 2 is not a number"),
        ({"probabilities": [0.1, 1.5]}, "a probability of case 2 is not from 0 to 1"),
        ({"probabilities": [[0.5, 0.5], [0.5, 0.2]]}, "the probabilities of case 2 do not add up to 1"),
        ({"probabilities": [0.1]}, "probabilities must have 2 rows"),
        ({"probabilities": [[1.0], [1.0]]}, "probabilities must have 2 rows"),
        ({"probabilities": "ab"}, "probabilities must be a table of numbers"),
        ({"weights": [0, 0]}, "all weights are zero"),
        ({"weights": [1]}, "weights must be as many"),
        ({"weights": [1, -1]}, "weights must be numbers of at least 0"),
        ({"weights": [1, float("inf")]}, "weights must be numbers of at least 0"),
        ({"weights": "ab"}, "weights must be numbers"),
        ({"weights": [[1, 1]]}, "weights must be a list"),
        ({"costs": [[0, 1]]}, "costs must be a table of 2 rows"),
        ({"costs": [[0, -1], [1, 0]]}, "costs must be numbers from 0"),
        ({"costs": [[0, float("nan")], [1, 0]]}, "costs must be numbers from 0"),
        ({"costs": {("a", "b"): "much"}}, "costs must be numbers"),
        ({"costs": {("a", "z"): 2}}, "costs are for pairs"),
    ],
)
def test_weird_input_gets_a_clear_error(arguments: dict[str, Any], message: str) -> None:
    given_ = {"truth": "ab", "predicted": "ab", "classes": "ab"} | arguments
    with pytest.raises((DataError, ParameterError)) as caught:
        classification_report(**given_)
    assert message in str(caught.value)


def test_labels_of_several_types_are_sorted_somehow_and_cases_without_weight_left_out() -> None:
    report = classification_report([1, "b", 1], [1, "b", "b"], weights=[1, 1, 0])
    assert report.classes == ("1", "b")
    assert (report.tested, report.accuracy) == (2, 1)
    huge = classification_report("ab", "aa", weights=[1e308, 1e308])
    tiny = classification_report("ab", "aa", weights=[1e-300, 1e-300])
    assert huge.accuracy == tiny.accuracy == 0.5
    assert (huge.low, huge.high) == (tiny.low, tiny.high)
    shares = classification_report("abb", "aab", [0.1, 0.2, 0.3], "ab", weights=[1, 1, 0]).probabilities
    assert shares is not None
    assert shares.auc == 1


def test_cost_by_hand() -> None:
    # Two of four sick predicted well at 10 each, one of six well predicted sick at 1.
    actual = ["sick"] * 4 + ["well"] * 6
    predicted = ["sick", "sick", "well", "well", "sick", *["well"] * 5]
    report = classification_report(actual, predicted, classes=["sick", "well"], costs={("sick", "well"): 10})
    assert report.cost is not None
    assert (report.cost.total, report.cost.mean, report.cost.best) == (21, 2.1, None)
    assert (report.cost.baseline, report.cost.baseline_class) == (0.6, "sick")
    assert cost_table([[0, 1], [2, 0]], ("a", "b")).tolist() == [[0, 1], [2, 0]]


def test_fair_threshold_stands_beside_the_best_one() -> None:
    report = classification_report("aabb", "aabb", [0.1, 0.4, 0.3, 0.9], "ab", costs=[[0, 1], [9, 0]])
    assert report.cost is not None
    assert report.cost.best is not None
    assert report.cost.best.fair_threshold == pytest.approx(0.1)
    assert report.cost.best.threshold == 0.3
    assert report.cost.best.cost == 0.25
    assert "The cost matrix alone implies the threshold 0.1" in str(report)
    assert any("chosen on these same cases" in warning for warning in report.warnings)


def test_forms_of_a_report() -> None:
    actual, predicted, shares, _ = random_predictions(1, 3, 50, weighted=False, tied=False)
    report = classification_report(actual, predicted, shares, range(3), costs=np.ones((3, 3)) - np.eye(3))
    assert json.loads(report.to_json()) == report.to_dict()
    frame = report.to_dataframe()
    assert frame["label"].tolist() == ["0", "1", "2", "macro", "weighted"]
    assert {"precision", "recall", "f", "support", "auc", "average_precision", "brier"} <= set(frame.columns)
    assert list(classification_report("ab", "ab").to_dataframe().columns)[-1] == "support"
    text = str(report)
    for part in (
        "Accuracy",
        "Confusion matrix (rows: actual, columns: predicted)",
        "(macro)",
        "(weighted)",
        "Brier",
        "Cost",
    ):
        assert part in text
    html = report._repr_html_()
    assert html.count("<table>") == 2
    assert "<script" not in html
    assert len(html) < 10_000


def test_names_are_escaped_in_html_and_on_the_terminal() -> None:
    bad, worse = "<script>alert('x')</script>", "red\x1b[31m\nnew & line"
    report = classification_report([bad, worse], [bad, bad])
    html = report._repr_html_()
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert "\x1b" not in html
    assert "\x1b" not in str(report)
    assert "new & line" in json.loads(report.to_json())["classes"][1]


def test_many_classes_are_reported_by_the_largest_confusions() -> None:
    labels = [f"class {code:02}" for code in range(60)]
    report = classification_report(labels * 2, [labels[-1], *labels[1:]] * 2)
    text = str(report)
    assert "Most frequent errors" in text
    assert "class 00" in text
    assert "... 20 more" in text
    assert len(report._repr_html_()) < 50_000
    assert len(report.to_dict()["confusion"]) == 60


def test_long_curves_are_thinned_in_plain_data_only() -> None:
    rng = np.random.default_rng(0)
    curves = class_curves("a", rng.random(5000) < 0.5, rng.random(5000), np.ones(5000))
    assert len(curves.fpr) > MOST_POINTS
    result = curves.to_dict()["roc"]
    assert len(result) == MOST_POINTS
    assert (result[0]["fpr"], result[0]["threshold"], result[-1]["tpr"]) == (0, None, 1)


def test_intervals_of_numbers_by_hand() -> None:
    # The absolute errors 0, 0, 0, 2 have mean 0.5 and standard error 1 / sqrt(4) = 0.5; t(3) is 3.182 (Student).
    report = regression_report([1, 2, 3, 4], [1, 2, 3, 6])
    assert report.mae.high == pytest.approx(0.5 + 3.182 * 0.5, abs=1e-3)
    assert report.mae.low == 0
    assert half_width(np.array([1.0]), np.ones(1)) is None


@pytest.mark.slow
def test_intervals_of_numbers_hold_the_actual_value_in_about_95_of_100_samples() -> None:
    rng = np.random.default_rng(1)
    held = np.zeros(3)
    for _ in range(600):
        actual = rng.normal(size=200)
        report = regression_report(actual, actual + rng.normal(size=200) * 0.5)
        for index, (measure, true) in enumerate(
            ((report.r2, 0.75), (report.rmse, 0.5), (report.mae, 0.5 * np.sqrt(2 / np.pi)))
        ):
            assert measure.low is not None
            assert measure.high is not None
            held[index] += measure.low <= true <= measure.high
    assert np.all(held / 600 > 0.92)
    assert np.all(held / 600 < 0.98)


def test_numbers_without_spread_or_error_are_defined_answers() -> None:
    constant = regression_report([0.1] * 40, [0.1] * 39 + [0.2])
    assert constant.r2.value is None
    assert constant.rmse.baseline == constant.mae.baseline == 0
    assert any("R2 is not defined" in warning for warning in constant.warnings)
    assert "-" in str(constant)
    right = regression_report([1.0, 2.0], [1.0, 2.0])
    assert (right.r2.value, right.rmse.value, right.rmse.high) == (1, 0, 0)
    alone = regression_report([1.0], [2.0])
    assert (alone.rmse.value, alone.rmse.low, alone.mae.low) == (1, None, None)
    assert json.loads(alone.to_json())["kind"] == "regression"
    assert regression_report([1.0, 5.0, 3.0], [1.0, 2.0, 3.0], [1, 0, 1]).tested == 2


def test_numbers_are_compared_with_the_mean() -> None:
    rng = np.random.default_rng(0)
    actual = rng.normal(size=100)
    assert regression_report(actual, actual + 0.1).better_than_baseline
    assert any("not better than" in warning for warning in regression_report(actual, -actual).warnings)
    weak = regression_report(actual, 0.1 * actual + rng.normal(size=100) * 0.4)
    assert not weak.better_than_baseline
    assert any("not significantly better" in warning for warning in weak.warnings)


@pytest.mark.parametrize(
    ("actual", "predicted", "weights", "message"),
    [
        ([], [], None, "no cases"),
        ([1.0], [1.0, 2.0], None, "predicted must be as many"),
        ([1.0, float("nan")], [1.0, 2.0], None, "truth: the number of case 2 is missing"),
        ([1.0], [float("inf")], None, "predicted: the number of case 1 is beyond"),
        (["a"], [1.0], None, "truth must be numbers"),
        ([[1.0]], [1.0], None, "truth must be a list"),
        ([1.0], [1.0], [0], "all weights are zero"),
    ],
)
def test_weird_numbers_get_a_clear_error(actual: Any, predicted: Any, weights: Any, message: str) -> None:
    with pytest.raises((DataError, ParameterError)) as caught:
        regression_report(actual, predicted, weights)
    assert message in str(caught.value)


def test_model_of_classes_is_evaluated_with_its_probabilities_and_costs() -> None:
    weather = sample("play-tennis")
    model = fit(weather, ID3())
    report = evaluate_model(model, weather)
    assert isinstance(report, ClassificationReport)
    assert (report.accuracy, report.tested, report.cost) == (1, 14, None)
    assert report.probabilities is not None
    assert isinstance(model, TreeModel)
    dear = evaluate_model(replace(model, costs=((0.0, 5.0), (1.0, 0.0))), weather)
    assert isinstance(dear, ClassificationReport)
    assert dear.cost is not None
    assert np.array(dear.cost.costs).tolist() == [[0, 5], [1, 0]]
    rules = evaluate_model(fit(weather, c45_rules()), weather)
    assert isinstance(rules, ClassificationReport)
    assert rules.probabilities is None


def test_model_meets_classes_in_another_order_and_unknown_ones() -> None:
    weather = sample("play-tennis")
    model = fit(weather, ID3())
    assert isinstance(model, TreeModel)
    columns = [
        replace(column, values=("Maybe", "No", "Yes")) if column.name == "PlayTennis" else column
        for column in weather.schema.columns
    ]
    assert weather.target is not None
    codes = np.array([("Maybe", "No", "Yes").index(label) for label in weather.y.tolist()], dtype=np.int32)
    other = replace(weather, schema=replace(weather.schema, columns=tuple(columns)), target=codes)
    same = evaluate_model(model, other)
    assert isinstance(same, ClassificationReport)
    assert (same.accuracy, same.classes) == (1, weather.schema.classes)
    codes = codes.copy()
    codes[0] = 0
    strange = evaluate_model(replace(model, costs=((0.0, 5.0), (1.0, 0.0))), replace(other, target=codes))
    assert isinstance(strange, ClassificationReport)
    assert strange.classes == (*weather.schema.classes, "Maybe")
    assert strange.accuracy == pytest.approx(13 / 14)
    assert strange.probabilities is not None
    assert strange.probabilities.log_loss is None
    assert strange.cost is not None
    assert np.array(strange.cost.costs)[2].tolist() == [1, 1, 0]


def test_model_of_numbers_is_evaluated() -> None:
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    cars = sample("play-tennis")
    line = encode(raw_table({"x": np.arange(40.0), "y": np.arange(40.0) * 2}), schema)
    model = fit(line, CART())
    report = evaluate_model(model, line)
    assert isinstance(report, RegressionReport)
    assert report.better_than_baseline
    assert report.to_dataframe()["measure"].tolist() == ["R2", "RMSE", "MAE"]
    assert "RMSE" in report._repr_html_()
    with pytest.raises(ParameterError, match="costs are for classes"):
        evaluate_model(model, line, [[0]])
    with pytest.raises(DataError, match="the model predicts numbers, but the target holds classes"):
        evaluate_model(model, cars)
    with pytest.raises(DataError, match="the model predicts classes, but the target holds numbers"):
        evaluate_model(fit(cars, ID3()), line)
    with pytest.raises(DataError, match="no target"):
        evaluate_model(model, line.X)
    with pytest.raises(DataError, match="no cases"):
        evaluate_model(model, line.take([]))


@pytest.mark.parametrize(
    ("share", "text"), [(0.0, "0 %"), (1e-9, "< 0.01 %"), (0.0003, "0.03 %"), (0.9998, "99.98 %"), (1, "100 %")]
)
def test_percentages_never_round_to_certainty(share: float, text: str) -> None:
    assert percentage(share) == text


def test_importing_the_reports_does_not_import_scikit_learn() -> None:
    code = (
        "import sys, treewright.evaluation.evaluate_model, treewright.cli.evaluate; sys.exit('sklearn' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
