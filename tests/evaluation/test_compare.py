from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.errors import DataError, ParameterError
from treewright.estimators.c45 import C45Classifier
from treewright.evaluation.compare import Comparison, compare, compare_over
from treewright.learners.recipe import C45, ID3
from treewright.plans import c45, c45_rules, cart, chaid, id3
from treewright.tree.model import Predictor


class Parrot(Predictor):
    """Predicts for each case what the column of its name holds."""

    def __init__(self, cases: Dataset, name: str) -> None:
        self._schema, self.name = cases.schema, name

    @property
    def schema(self) -> Schema:
        return self._schema

    def predict_codes(self, cases: Dataset) -> npt.NDArray[np.intp]:
        return np.asarray(cases.columns[cases.schema.attribute_names.index(self.name)]).astype(np.intp)

    def predict(self, data: Dataset) -> npt.NDArray[np.float64]:
        return np.asarray(data.columns[data.schema.attribute_names.index(self.name)], dtype=np.float64)


def parrots(*names: str) -> dict[str, Any]:
    return {name: partial(Parrot, name=name) for name in names}


def classes(actual: str, **predicted: str) -> Dataset:
    """Make a table of classes a and b in which each column is the prediction of a parrot."""
    columns = tuple(Column(name, Kind.NOMINAL, ("a", "b")) for name in predicted)
    schema = Schema((*columns, Column("truth", Kind.NOMINAL, ("a", "b"))), "truth")

    def codes(text: str) -> npt.NDArray[np.int32]:
        return np.array([ord(letter) - ord("a") for letter in text], dtype=np.int32)

    return Dataset(schema, tuple(codes(text) for text in predicted.values()), len(actual), codes(actual))


def numbers(actual: list[float], **predicted: list[float]) -> Dataset:
    schema = Schema((*(Column(name, Kind.NUMERIC) for name in predicted), Column("truth", Kind.NUMERIC)), "truth")
    return Dataset(
        schema, tuple(np.array(row, float) for row in predicted.values()), len(actual), np.array(actual, float)
    )


HAND = classes("aaaabbbb", good="aaaabbba", poor="abbabaaa")
HAND_FOLDS = [0, 0, 1, 1, 2, 2, 3, 3]


class TestByHand:
    # good is wrong on case 7; poor on cases 1, 2, 5, 6 and 7.
    def test_scores(self) -> None:
        result = compare(HAND, parrots("poor", "good"), fold_of=HAND_FOLDS)
        good, poor = result.learners
        assert (good.name, poor.name) == ("good", "poor")  # best first
        assert list(good.scores) == [1, 1, 1, 0.5]
        assert list(poor.scores) == [0.5, 0.5, 0.5, 0]
        assert (good.score, good.pooled, good.errors) == (0.875, 0.875, 1)
        assert (poor.score, poor.pooled, poor.errors) == (0.375, 0.375, 5)
        assert (result.baseline, result.baseline_class) == (0.5, "a")
        assert (result.cases, result.folds, result.repeats) == (8, 4, 1)
        assert (good.size, good.size_of) == (None, "")

    def test_equal_differences_are_left_to_mcnemar(self) -> None:
        # All four folds differ by 0.5: there is no spread. Four cases only good has right, none only poor: 2/16.
        pair = compare(HAND, parrots("poor", "good"), fold_of=HAND_FOLDS).pairs[0]
        assert (pair.first, pair.second, pair.better, pair.difference) == ("good", "poor", "good", 0.5)
        assert pair.mcnemar is not None
        assert (pair.mcnemar.only_first, pair.mcnemar.only_second) == (4, 0)
        assert (pair.p, pair.decided_by, pair.more_than_noise) == (0.125, "McNemar's test", False)

    def test_t_test(self) -> None:
        # Folds of four: differences 1/4 (case 1; case 2 is in the second) ...
        result = compare(HAND, parrots("poor", "good"), fold_of=[0, 0, 0, 0, 0, 1, 1, 1])
        assert result.learner("good").scores == pytest.approx((1, 2 / 3))
        assert result.learner("poor").scores == pytest.approx((3 / 5, 0))
        pair = result.pair("poor", "good")
        # Differences 2/5 and 2/3: mean 8/15, variance (4/15)^2 / 2; sizes are 4 and 4 on average: times 1/2 + 1.
        assert pair.difference == pytest.approx(8 / 15)
        assert pair.t_test.statistic == pytest.approx((8 / 15) / sqrt((4 / 15) ** 2 / 2 * 1.5))
        assert pair.decided_by == "corrected resampled t-test"

    def test_sentences(self) -> None:
        result = compare(HAND, parrots("poor", "good"), fold_of=HAND_FOLDS)
        assert result.sentences == (
            "good has the best accuracy, 87.5 %, but no difference is statistically significant.",
            "good is ahead of poor by 50.0 percentage points on every fold: "
            "not significant (McNemar 4 to 0, p = 0.12).",
        )
        text = str(result)
        assert text.splitlines()[0].split() == [
            "learner",
            "accuracy",
            "95",
            "%",
            "interval",
            "errors",
            "size",
            "seconds",
        ]
        assert 'Always predicting "a" gives 50.0 %' in text

    def test_more_than_noise(self) -> None:
        actual = "ab" * 100
        wrong = "".join("ab"[(i // 2 % 3 == 0) ^ (i % 2)] for i in range(200))
        result = compare(classes(actual, x=actual, y=wrong), parrots("y", "x"))
        assert result.pairs[0].more_than_noise
        assert result.sentences[0] == "x has the best accuracy, 100.0 %, significantly better than the other."
        assert "significant (p < 0.001; McNemar 68 to 0, p < 0.001)" in result.sentences[1]

    def test_some_are_near(self) -> None:
        actual = "ab" * 100
        near = "b" + actual[1:]
        wrong = "".join("ab"[(i // 2 % 3 == 0) ^ (i % 2)] for i in range(200))
        result = compare(classes(actual, x=actual, y=wrong, z=near), parrots("x", "y", "z"))
        assert result.sentences[0].endswith("not significantly different from x: z.")
        assert "p is adjusted for 3 pairs" in str(result)

    def test_numbers(self) -> None:
        data = numbers([0, 0, 4, 4], near=[1, 1, 4, 6], far=[3, 4, 4, 4])
        result = compare(data, parrots("far", "near"), fold_of=[0, 0, 1, 1])
        near, far = result.learners
        assert result.measure == "rmse"
        assert near.scores == pytest.approx((1, sqrt(2)))
        assert far.scores == pytest.approx((sqrt(12.5), 0))
        assert near.pooled == pytest.approx(sqrt(1.5))
        assert (near.errors, near.low) == (None, None)
        assert (result.baseline, result.baseline_class) == (2, None)
        assert result.pairs[0].better == "near"
        assert result.pairs[0].mcnemar is None
        assert "near is ahead of far by 0.5607" in str(result)
        assert "Always predicting the mean gives 2." in str(result)

    def test_numbers_that_do_not_spread(self) -> None:
        data = numbers([0, 0, 4, 4], near=[1, 1, 5, 5], far=[2, 2, 6, 6])
        pair = compare(data, parrots("far", "near"), fold_of=[0, 0, 1, 1]).pairs[0]
        assert (pair.p, pair.more_than_noise) == (1, False)

    def test_weights(self) -> None:
        weights = np.array([1.0, 1, 1, 1, 1, 1, 1, 5])
        result = compare(replace(HAND, weights=weights), parrots("poor", "good"), fold_of=HAND_FOLDS)
        assert result.learner("good").scores == pytest.approx((1, 1, 1, 1 / 6))
        assert result.baseline == pytest.approx(8 / 12)
        with pytest.raises(DataError, match="weight 0"):
            compare(
                replace(HAND, weights=np.array([0.0, 0, 1, 1, 1, 1, 1, 1])), parrots("poor", "good"), fold_of=HAND_FOLDS
            )


class TestLearners:
    def test_all_kinds(self) -> None:
        learners: dict[str, Any] = {
            "plan": c45(),
            "recipe": ID3(),
            "rules": c45_rules(),
            "call": partial(Parrot, name="Wind"),
        }
        calls: list[tuple[int, int]] = []
        result = compare(sample("play-tennis"), learners, folds=7, progress=lambda *seen: calls.append(seen))
        assert calls == [(done, 28) for done in range(1, 29)]
        units = {one.name: one.size_of for one in result.learners}
        assert units == {"plan": "nodes", "recipe": "nodes", "rules": "rules", "call": ""}
        assert len(result.pairs) == 6
        assert all(one.seconds > 0 for one in result.learners)

    def test_scores_are_those_of_cross_validation(self) -> None:
        from treewright.evaluation.cross_validation import AccuracyEstimate, cross_validate
        from treewright.fitting.learn import fit

        data = sample("play-tennis")
        result = compare(data, {"c45": c45(), "id3": id3()}, folds=5, seed=3)
        alone = cross_validate(data, lambda part: fit(part, c45()), 5, seed=3)
        assert isinstance(alone, AccuracyEstimate)
        assert result.learner("c45").pooled == pytest.approx(alone.accuracy)
        assert result.baseline == alone.baseline

    def test_repeats(self) -> None:
        data = sample("play-tennis")
        result = compare(data, {"c45": c45(), "id3": id3()}, folds=5, repeats=3)
        assert len(result.learners[0].scores) == 15
        assert result.pairs[0].t_test.df == 14
        once = compare(data, {"c45": c45(), "id3": id3()}, folds=5)
        assert result.learner("id3").scores[:5] == once.learner("id3").scores
        assert result.pairs[0].mcnemar is not None
        assert "3 times 5 folds" in str(result)

    @settings(max_examples=15)
    @given(st.integers(0, 1000), st.integers(2, 6))
    def test_the_order_of_learners_does_not_matter(self, seed: int, folds: int) -> None:
        data, plans = sample("play-tennis"), {"c45": c45(), "id3": id3()}
        one = compare(data, plans, folds, seed=seed)
        other = compare(data, dict(reversed(plans.items())), folds, seed=seed)
        assert one.scores == other.scores
        assert one.pairs[0].p == pytest.approx(other.pairs[0].p)
        assert one.pairs[0].better == other.pairs[0].better

    def test_identical_learners(self) -> None:
        result = compare(sample("play-tennis"), {"one": c45(), "two": c45()}, folds=5)
        pair = result.pairs[0]
        assert (pair.better, pair.p, pair.more_than_noise) == (None, 1, False)
        assert pair.sentence == "one and two are equal on every fold."
        assert result.sentences[0].startswith("All learners have the same accuracy")

    def test_some_share_the_best_rank(self) -> None:
        result = compare(HAND, {**parrots("good", "poor"), "copy": parrots("good")["good"]}, fold_of=HAND_FOLDS)
        assert result.sentences[0].startswith("good and copy share the best accuracy, 87.5 %")

    def test_numeric_target(self) -> None:
        x = np.arange(40.0)
        data = numbers((1.5 * x).tolist(), x=x.tolist())
        result = compare(data, {"cart": cart(), "chaid": chaid()}, folds=4)
        assert result.measure == "rmse"
        assert {one.size_of for one in result.learners} == {"nodes"}


class TestOddities:
    def test_a_class_is_missing_in_a_fold(self) -> None:
        # The only b is in the first fold: it is never learned there, and never met elsewhere.
        data = classes("baaaaaaa", x="abababab", y="aabbaabb")
        result = compare(data, {"c45": c45(), "id3": id3()}, fold_of=[0, 0, 1, 1, 2, 2, 3, 3])
        assert result.learner("c45").scores == (0.5, 1, 1, 1)

    def test_one_class(self) -> None:
        data = classes("aaaaaa", x="ababab")
        result = compare(data, {"c45": c45(), "cart": cart()}, folds=3)
        assert result.scores == {"c45": 1, "cart": 1}
        assert result.baseline == 1
        assert result.pairs[0].better is None
        assert "there is only one class, so every accuracy here is trivial." in str(result)

    def test_cases_without_weight_are_not_counted(self) -> None:
        weights = np.array([1.0, 1, 1, 1, 1, 1, 1, 0])
        result = compare(replace(HAND, weights=weights), parrots("good", "poor"), folds=2)
        whole = compare(HAND, parrots("good", "poor"), folds=2)
        [one], [all_of_them] = result.pairs, whole.pairs
        assert one.mcnemar is not None
        assert all_of_them.mcnemar is not None
        assert one.mcnemar.only_first + one.mcnemar.only_second <= all_of_them.mcnemar.only_first
        for name in ("good", "poor"):
            errors, before = result.learner(name).errors, whole.learner(name).errors
            assert errors is not None
            assert before is not None
            assert before - errors in (0, 1)

    def test_small_differences_are_not_printed_as_none(self) -> None:
        actual = "ab" * 2000
        wrong = "b" + actual[1:]
        result = compare(classes(actual, x=actual, y=wrong), parrots("x", "y"), folds=4).sentences[1]
        assert "x is ahead of y by 0.03 percentage points" in result

    def test_tables_that_are_none_are_refused(self) -> None:
        with pytest.raises(ParameterError, match="takes a dataset"):
            compare(HAND.to_pandas(), ["c45", "cart"])
        with pytest.raises(ParameterError, match=r"a dict of tables .* not list"):
            compare_over([1, 2])

    def test_more_folds_than_cases(self) -> None:
        with pytest.raises(ParameterError, match="from 2 to the number of cases, 14, not 15"):
            compare(sample("play-tennis"), {"a": c45(), "b": id3()}, folds=15)

    def test_fold_numbers_may_have_gaps(self) -> None:
        result = compare(HAND, parrots("good", "poor"), fold_of=np.array([-3, -3, 9, 9, 4, 4, 7, 7]))
        assert result.folds == 4
        assert len(result.learners[0].scores) == 4

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"learners": {"a": c45()}}, "at least two learners, not 1"),
            ({"learners": {"a": c45(), "b": 3}}, "learner 'b' must be a plan, a recipe, .* not int"),
            ({"learners": {"a": c45(), "b": "c4.5"}}, "there is no algorithm 'c4.5'; did you mean 'c45'?"),
            ({"learners": {1: c45(), 2: c45()}}, "names that are text, not 1"),
            ({"learners": "c45"}, r"a list such as \['c45', 'cart'\]"),
            ({"learners": [c45(), C45Classifier]}, "not the class C45Classifier"),
            ({"n_jobs": 0}, "n_jobs must be a whole number of at least 1"),
            ({"folds": 2.5}, "the number of folds must be a whole number"),
            ({"alpha": 1.5}, "alpha must be"),
            ({"repeats": 0}, "repeats must be"),
            ({"seed": -1}, "seed must be"),
            ({"fold_of": [0, 1]}, "for each of the 14 cases"),
            ({"fold_of": [0.5] * 14}, "for each of the 14 cases"),
            ({"fold_of": [1] * 14}, "at least two folds"),
            ({"fold_of": [0, 1] * 7, "repeats": 2}, "used once"),
        ],
    )
    def test_refused(self, options: dict[str, object], message: str) -> None:
        call: dict[str, object] = {"learners": {"a": c45(), "b": C45()}, **options}
        with pytest.raises(ParameterError, match=message):
            compare(sample("play-tennis"), **call)  # type: ignore[arg-type]

    def test_no_target(self) -> None:
        with pytest.raises(DataError, match="there is no target"):
            compare(sample("play-tennis").X, {"a": c45(), "b": id3()})

    def test_refusals_name_the_learner(self) -> None:
        data = numbers([1, 2, 3, 4], x=[1, 2, 3, 4])
        with pytest.raises(ParameterError, match=r"learner 'quinlan': C4\.5 predicts classes"):
            compare(data, {"cart": cart(), "quinlan": c45()}, folds=2)

        def picky(part: Dataset) -> Predictor:
            raise DataError(f"{part.n_rows} cases are too few")

        with pytest.raises(DataError, match="learner 'picky': 2 cases are too few"):
            compare(data, {"cart": cart(), "picky": picky}, folds=2)


class TestForms:
    def result(self) -> Comparison:
        return compare(HAND, {**parrots("good"), "<b>&": parrots("poor")["poor"]}, fold_of=HAND_FOLDS)

    def test_json(self) -> None:
        result = self.result()
        plain = json.loads(result.to_json())
        assert plain == result.to_dict()
        assert plain["learners"][0]["scores"] == [1, 1, 1, 0.5]
        assert plain["pairs"][0]["t_test"]["statistic"] is None  # infinite
        assert plain["pairs"][0]["mcnemar"]["method"] == "exact binomial"

    def test_dataframe(self) -> None:
        result = self.result()
        frame = result.to_dataframe()
        assert frame.loc["good", "accuracy"] == 0.875
        assert result.to_dataframe("folds")["good"].tolist() == [1, 1, 1, 0.5]
        assert result.to_dataframe("pairs")["better"].tolist() == ["good"]
        with pytest.raises(ParameterError, match="not 'trees'"):
            result.to_dataframe("trees")

    def test_html_is_escaped(self) -> None:
        text = self.result()._repr_html_()
        assert '<th scope="row">&lt;b&gt;&amp;</th>' in text
        assert "<b>" not in text

    def test_unknown_names(self) -> None:
        with pytest.raises(ParameterError, match="there is no learner 'x'; there are: 'good'"):
            self.result().learner("x")
        with pytest.raises(ParameterError, match="with itself"):
            self.result().pair("good", "good")


SCORES = {
    "a": {"x": 0.9, "y": 0.8, "z": 0.7},
    "b": {"y": 0.8, "x": 0.9, "z": 0.8},
    "c": {"x": 0.6, "y": 0.7, "z": 0.5},
    "d": {"x": 0.9, "y": 0.8, "z": 0.1},
}
"""Ranks 1 2 3, 1 2.5 2.5, 2 1 3, 1 2 3."""


class TestOver:
    def test_by_hand(self) -> None:
        result = compare_over(SCORES)
        assert result.learners == ("x", "y", "z")
        assert list(result.average_ranks) == [1.25, 1.875, 2.875]
        assert list(result.ranks[1]) == [1, 2.5, 2.5]
        # 12 x 4 / (3 x 4) x (0.75^2 + 0.125^2 + 0.875^2) = 5.375; F = 3 x 5.375 / (8 - 5.375)
        assert result.friedman.chi2 == pytest.approx(5.375)
        assert result.friedman.f == pytest.approx(16.125 / 2.625)
        # Demsar's 2.343 x sqrt(3 x 4 / (6 x 4))
        assert result.critical_difference == pytest.approx(2.343 / sqrt(2), abs=1e-3)
        assert result.groups == (("x", "y", "z"),)
        assert result.differ  # F(2, 6) = 6.14, critical value 5.14

    def test_sentences(self) -> None:
        best, beyond = compare_over(SCORES).sentences
        assert best == "x has the best average rank, 1.25, but not significantly better than any other."
        assert "not all equal (Friedman, F(2, 6) = 6.14, p = 0.035)" in beyond
        comparison = compare_over({str(i): {"x": 0.9, "y": 0.8, "z": 0.1} for i in range(10)})
        assert comparison.sentences[0] == "x has the best average rank, 1.00, significantly better than z."
        assert json.loads(comparison.to_json())["friedman"]["f"] is None

    def test_equal_learners(self) -> None:
        result = compare_over({name: {"x": 0.5, "y": 0.5} for name in "abc"})
        assert result.average_ranks == (1.5, 1.5)
        assert result.sentences[0].startswith("All learners have the same average rank, 1.50; over these tables no")
        assert result.groups == (("x", "y"),)

    def test_errors_rank_the_other_way(self) -> None:
        assert compare_over(SCORES, higher_is_better=False).learners == ("z", "y", "x")

    def test_comparisons_know_which_way(self) -> None:
        classed = compare(HAND, parrots("poor", "good"), fold_of=HAND_FOLDS)
        data = numbers([0, 0, 4, 4], good=[1, 1, 4, 6], poor=[3, 4, 4, 4])
        numbered = compare(data, parrots("poor", "good"), fold_of=[0, 0, 1, 1])
        result = compare_over({"classes": classed, "numbers": numbered})
        assert result.learners == ("good", "poor")
        assert result.average_ranks == (1, 2)

    def test_dataframe(self) -> None:
        frame = compare_over(SCORES).to_dataframe()
        assert frame.loc["c", "y"] == 0.7
        again = compare_over(frame)
        assert again == compare_over(SCORES)
        assert again.to_dataframe("ranks").mean().tolist() == list(again.average_ranks)
        with pytest.raises(ParameterError, match="not 'learners'"):
            again.to_dataframe("learners")

    def test_text_and_html(self) -> None:
        result = compare_over({f"<{name}>": row for name, row in SCORES.items()})
        lines = str(result).splitlines()
        assert lines[0].split() == ["table", "x", "y", "z"]
        assert lines[2].split() == ["<b>", "0.9", "(1)", "0.8", "(2.5)", "0.8", "(2.5)"]
        assert "<b>" not in result._repr_html_()
        assert json.loads(result.to_json()) == result.to_dict()

    def test_refused(self) -> None:
        with pytest.raises(ParameterError, match="at least two tables, not 1"):
            compare_over({"a": SCORES["a"]})
        with pytest.raises(ParameterError, match="'b' differs in 'z'"):
            compare_over({"a": {"x": 1, "y": 0.5}, "b": SCORES["b"]})
        with pytest.raises(ParameterError, match="finite numbers"):
            compare_over({"a": {"x": 1, "y": float("nan")}, "b": {"x": 1, "y": 1}})
