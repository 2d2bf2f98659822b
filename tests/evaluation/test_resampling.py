"""Splitting cases and estimating: every splitter keeps its promise, and odd inputs have a defined answer."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright.concurrency import processors
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.errors import DataError, DataWarning, ParameterError
from treewright.evaluation import fold_runs as runs_module
from treewright.evaluation.cross_validation import cross_validate, wilson_interval
from treewright.evaluation.fold_runs import FoldResult, FoldRun
from treewright.evaluation.learners import Learn
from treewright.evaluation.regression import regression_report
from treewright.evaluation.resampling import Estimate, estimate, estimate_of_runs
from treewright.evaluation.splitters import (
    Bootstrap632,
    GivenFolds,
    Grouped,
    HoldOut,
    KFold,
    LeaveOneOut,
    Repeated,
    Splitter,
)
from treewright.fitting.learn import fit
from treewright.learners.recipe import C45
from treewright.plans import c45, c45_rules, cart, chaid, id3
from treewright.tree.model import Predictor, TreeModel


def cases(n: int, classes: int = 2, seed: int = 0, target: npt.NDArray[np.int32] | None = None) -> Dataset:
    """Return cases of one number, one name and a class that depends on the number somewhat."""
    draw = np.random.default_rng(seed)
    x = draw.normal(size=n)
    codes = (
        np.clip(np.floor(x + draw.normal(size=n) + classes / 2), 0, classes - 1).astype(np.int32)
        if target is None
        else target
    )
    schema = Schema(
        (
            Column("x", Kind.NUMERIC),
            Column("who", Kind.NOMINAL, tuple(f"p{i}" for i in range(7))),
            Column("y", Kind.NOMINAL, tuple(f"c{i}" for i in range(classes))),
        ),
        target="y",
    )
    who = draw.integers(-1, 7, n).astype(np.int32)
    return Dataset(schema, (x, who), n, codes)


def line(n: int = 60) -> Dataset:
    x = np.arange(float(n))
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    return Dataset(schema, (x,), n, 2 * x + np.sin(x))


WAYS: list[Splitter] = [
    HoldOut(0.3, 1),
    KFold(4, seed=2),
    KFold(4, stratified=False, seed=2),
    Repeated(3, 2, seed=3),
    Grouped(3, "who"),
    LeaveOneOut(),
    Bootstrap632(5, seed=4),
]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_pairs_are_disjoint_complete_and_repeatable(way: Splitter) -> None:
    data = cases(41, 3)
    pairs = list(way.pairs(data))
    assert len(pairs) == way.number(data)
    for (train, test), (again, tested) in zip(pairs, way.pairs(data), strict=True):
        assert not set(train) & set(test)
        assert set(train) | set(test) == set(range(41))
        assert len(train) > 0
        assert len(test) > 0
        assert np.array_equal(train, again)
        assert np.array_equal(test, tested)
    assert way.describe()


@given(st.integers(4, 60), st.integers(2, 9), st.integers(0, 5))
def test_stratified_folds_differ_by_one_case_of_a_class(n: int, k: int, seed: int) -> None:
    data = cases(n, 3, seed)
    if k > n:
        return
    assert data.target is not None
    counts = np.array([np.bincount(data.target[test], minlength=3) for _, test in KFold(k, seed=seed).pairs(data)])
    assert (counts.max(axis=0) - counts.min(axis=0) <= 1).all()
    assert counts.sum() == n


@given(st.integers(10, 80), st.integers(2, 5), st.integers(0, 5))
def test_groups_are_never_split(n: int, k: int, seed: int) -> None:
    data = cases(n, 2, seed)
    who = data.columns[1]
    if len(np.unique(who)) < k:
        return
    tested = []
    for train, test in Grouped(k, "who").pairs(data):
        assert not set(who[train]) & set(who[test])
        tested += test.tolist()
    assert sorted(tested) == list(range(n))


def test_the_group_column_is_kept_out_of_learning() -> None:
    seen: list[tuple[str, ...]] = []

    def learned(part: Dataset) -> Predictor:
        seen.append(part.schema.attribute_names)
        return fit(part, c45())

    estimate(cases(40), learned, Grouped(3, "who"))
    assert seen == [("x",)] * 3


def test_a_bootstrap_sample_leaves_the_expected_share_out() -> None:
    n, times = 400, 200
    shares = [len(test) / n for train, test in Bootstrap632(times, 7).pairs(cases(n))]
    expected = (1 - 1 / n) ** n
    assert abs(np.mean(shares) - expected) < 3 * np.std(shares, ddof=1) / sqrt(times)
    assert all(len(train) == n for train, _ in Bootstrap632(3).pairs(cases(n)))


def test_632_by_hand() -> None:
    data = cases(50)
    found = estimate(data, Learn(c45()), Bootstrap632(8))
    model = fit(data, c45())
    training = float(np.mean(model.predict_codes(data) == data.target))
    out_of_sample = np.mean([fold.score for fold in found.folds if fold.score is not None])
    assert found.resubstitution == pytest.approx(training)
    assert found.estimate_632 == pytest.approx(0.368 * training + 0.632 * out_of_sample)
    assert found.value == found.estimate_632
    assert ".632" in str(found)
    assert found.to_dict()["estimate_632"] == found.estimate_632
    assert (found.low, found.high) == pytest.approx(wilson_interval(found.value * found.tested, found.tested))
    line_of_632 = next(text for text in found.lines() if text.startswith(".632"))
    assert f"({100 * (found.low or 0):.1f} % to {100 * (found.high or 0):.1f} %)" in line_of_632


def test_632_of_numbers_mixes_squares() -> None:
    found = estimate(line(), Learn(cart()), Bootstrap632(4))
    scores = np.array([fold.score for fold in found.folds if fold.score is not None])
    assert found.resubstitution is not None
    assert found.estimate_632 == pytest.approx(sqrt(0.368 * found.resubstitution**2 + 0.632 * np.mean(scores**2)))
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.value < found.high


def test_the_interval_of_an_error_is_that_of_the_report_however_often_cases_are_tested() -> None:
    data = line()
    once = estimate(data, cart(), KFold(5))
    report = regression_report(np.asarray(data.target)[once.rows], once.predicted)
    assert (once.low, once.high) == pytest.approx((report.rmse.low, report.rmse.high))
    often = estimate(data, cart(), Repeated(5, 6))
    assert often.low is not None
    assert often.high is not None
    assert once.low is not None
    assert once.high is not None
    assert often.high - often.low > 0.5 * (once.high - once.low)


@pytest.mark.parametrize("way", [KFold(4), Repeated(3, 4), HoldOut(0.3), Bootstrap632(5)])
def test_the_report_counts_every_case_once(way: Splitter) -> None:
    data = cases(60, 3)
    found = estimate(data, c45(), way)
    report = found.report(data).to_dict()
    assert np.sum(report["confusion"]) == pytest.approx(found.tested)
    if isinstance(way, (KFold, HoldOut)):  # the others test a case several times
        assert report["accuracy"] == pytest.approx(found.pooled)
        assert (report["accuracy_low"], report["accuracy_high"]) == pytest.approx((found.low, found.high))
    numbers = estimate(line(), cart(), KFold(4))
    assert numbers.report(line()).to_dict()["rmse"]["value"] == pytest.approx(numbers.pooled)


def test_given_folds_are_tested_in_their_order() -> None:
    data = cases(12)
    folds = [9, 2, 2, 5] * 3
    found = estimate(data, c45(), GivenFolds(folds))
    assert [fold.n for fold in found.folds] == [6, 3, 3]
    assert found.rows[:6].tolist() == [1, 2, 5, 6, 9, 10]
    assert "3 given folds" in str(found)
    for wrong in ([1, 2], [1] * 12, [0.5] * 12, ["a"] * 12):
        with pytest.raises(ParameterError, match="fold_of"):
            estimate(data, c45(), GivenFolds(wrong))  # type: ignore[arg-type]


def test_leave_one_out_has_a_fold_for_each_case() -> None:
    found = estimate(cases(23), Learn(c45()), LeaveOneOut())
    assert len(found.folds) == 23
    assert all(fold.n == 1 and fold.trained == 22 for fold in found.folds)
    assert found.pooled == pytest.approx(found.averaged)


def test_pooled_and_averaged_differ_on_unequal_folds() -> None:
    data = cases(4, target=np.array([0, 0, 0, 1], dtype=np.int32))
    runs = [
        FoldRun(FoldResult(1, 1, 3, 1.0, 1, 0.1), np.array([0, 1, 2]), np.array([0, 0, 0])),
        FoldRun(FoldResult(2, 3, 1, 0.0, 3, 0.2), np.array([3]), np.array([0])),
    ]
    found = estimate_of_runs(data, "by hand", runs)
    assert (found.pooled, found.averaged) == (0.75, 0.5)
    assert found.deviation == pytest.approx(sqrt(0.5))
    assert (found.low, found.high) == pytest.approx(wilson_interval(3, 4))
    assert found.baseline == 0.75
    assert found.size == 2.0
    assert found.seconds == pytest.approx(0.3)
    assert "pooled    75.0 %" in str(found)
    assert "averaged  50.0 %" in str(found)


def test_it_agrees_with_cross_validate() -> None:
    for data, plan in ((cases(80, 3), c45()), (line(), cart())):
        found = estimate(data, Learn(plan), KFold(5, seed=3))
        other = cross_validate(data, lambda part, plan=plan: fit(part, plan), 5, seed=3)  # type: ignore[misc]
        plain = other.to_dict()
        assert found.pooled == pytest.approx(plain.get("accuracy", plain.get("rmse")))
        assert found.baseline == pytest.approx(plain.get("baseline", plain.get("baseline_rmse")))
        if found.measure == "accuracy":
            assert found.low == plain["low"]


def test_weights_count_in_scores_and_interval() -> None:
    data = cases(60)
    weighted = Dataset(data.schema, data.columns, 60, data.target, np.where(np.arange(60) < 30, 3.0, 1.0))
    found = estimate(weighted, Learn(c45()), KFold(3))
    assert weighted.target is not None
    assert weighted.weights is not None
    right = found.predicted == weighted.target[found.rows]
    assert found.pooled == pytest.approx(np.average(right, weights=weighted.weights[found.rows]))
    n = 120**2 / (30 * 9 + 30)
    assert (found.low, found.high) == pytest.approx(wilson_interval(found.pooled * n, n))


def test_repeats_do_not_narrow_the_interval() -> None:
    data = cases(60)
    once, often = (estimate(data, Learn(c45()), Repeated(3, times)) for times in (1, 6))
    assert often.tested == once.tested == 60
    assert once.low is not None
    assert once.high is not None
    assert often.low is not None
    assert often.high is not None
    assert often.high - often.low > 0.8 * (once.high - once.low)


def test_all_forms() -> None:
    found = estimate(sample("play-tennis"), Learn(c45()), KFold(7))
    assert json.loads(found.to_json()) == found.to_dict()
    frame = found.to_dataframe()
    assert list(frame.columns) == ["fold", "trained", "n", "accuracy", "size", "seconds"]
    assert len(frame) == 7
    assert "<table>" in found._repr_html_()
    assert "too few rows for a reliable estimate" in str(found)
    assert "The first 20 of 30 folds" in str(estimate(cases(30), Learn(c45()), LeaveOneOut()))


def test_html_is_escaped() -> None:
    odd = Estimate("<b>", "accuracy", (), 1, 1.0, 1.0, 0.0, 0.5, 1.0, 1.0, "<script>")
    assert "<script>" not in odd._repr_html_()
    assert "<b>" not in odd._repr_html_()


def test_numbers() -> None:
    found = estimate(line(), Learn(cart()), KFold(5))
    assert found.measure == "rmse"
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.pooled < found.high
    assert found.baseline_class is None
    assert found.pooled < found.baseline
    assert "Root mean squared error" in str(found)


def test_rules_have_a_size() -> None:
    found = estimate(cases(60), Learn(c45_rules()), HoldOut(0.25))
    assert found.size is not None
    assert len(found.folds) == 1
    assert "averaged" not in "\n".join(found.lines())


def test_progress_is_reported() -> None:
    result: list[tuple[int, int]] = []
    estimate(cases(20), Learn(c45()), KFold(4), lambda done, total: result.append((done, total)))
    assert result == [(1, 4), (2, 4), (3, 4), (4, 4)]
    result.clear()
    estimate(cases(20), Learn(c45()), Bootstrap632(2), lambda done, total: result.append((done, total)))
    assert result == [(1, 3), (2, 3), (3, 3)]


# -- odd inputs --------------------------------------------------------------------------------------------------------


def test_a_class_missing_in_a_fold() -> None:
    target = np.zeros(12, dtype=np.int32)
    target[3] = 1  # its fold is predicted by models that never saw the class
    found = estimate(cases(12, 3, target=target), Learn(c45()), KFold(4))
    assert found.pooled == pytest.approx(11 / 12)
    assert found.baseline == pytest.approx(11 / 12)

    assert "1 case was of a class absent from the training part and could not be predicted correctly" in found.warnings
    assert "accuracy is misleading here: always predicting 'c0' is right for 91.7 %" in found.warnings
    assert "never predicted: 'c1'" in found.warnings


def test_an_imbalanced_table_is_reported_to_mislead() -> None:
    target = np.zeros(1000, dtype=np.int32)
    target[:3] = 1
    for way in (KFold(3), Bootstrap632(3)):
        found = estimate(cases(1000, 2, target=target), c45(), way)
        assert any("accuracy is misleading here" in warning for warning in found.warnings)
        assert any("never predicted: 'c1'" in warning for warning in found.warnings)
    assert not any("misleads" in warning for warning in estimate(cases(60), c45(), KFold(3)).warnings)


def test_a_single_class_is_reported_as_trivial() -> None:
    found = estimate(cases(12, 1, target=np.zeros(12, dtype=np.int32)), Learn(c45()), KFold(3))
    assert found.pooled == found.baseline == 1
    assert any("one class" in warning for warning in found.warnings)


def test_the_usual_way_takes_as_many_folds_as_there_are_cases() -> None:
    assert len(estimate(cases(5), Learn(c45())).folds) == 5


def test_a_fold_without_weight_has_no_score() -> None:
    data = cases(6, target=np.array([0, 1, 0, 1, 0, 1], dtype=np.int32))
    weighted = Dataset(data.schema, data.columns, 6, data.target, np.array([0.0, 1, 1, 1, 1, 1]))
    found = estimate(weighted, Learn(c45()), LeaveOneOut())
    assert found.folds[0].score is None
    assert found.tested == 5
    assert json.loads(found.to_json())["folds"][0]["accuracy"] is None
    nothing = Dataset(data.schema, data.columns, 6, data.target, np.zeros(6))
    with pytest.raises(DataError, match="weigh"):
        estimate(nothing, Learn(c45()), KFold(2))
    with pytest.raises(DataError, match="all tested cases have weight 0"):
        estimate(nothing, lambda part: fit(replace(part, weights=None), c45()), KFold(2))


@pytest.mark.parametrize(
    ("way", "message"),
    [
        (KFold(21), "from 2 to the number of cases, 20, not 21"),
        (KFold(21, stratified=False), "at most the number of cases, 20, not 21"),
        (Repeated(21, 2), "from 2 to the number of cases"),
        (Grouped(15, "who"), "at most the number of groups by 'who'"),
        (HoldOut(0.01), "too few to hold out 1 %"),
    ],
)
def test_too_many_folds_are_reported(way: Splitter, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        estimate(cases(20), Learn(c45()), way)


def test_one_case_is_too_few() -> None:
    for way in (None, LeaveOneOut(), Bootstrap632(2), KFold(2), HoldOut(0.5)):
        with pytest.raises(DataError, match="there is one row, and an estimate needs at least two"):
            estimate(cases(1), Learn(c45()), way)
    for alone in (LeaveOneOut(), Bootstrap632(2)):
        with pytest.raises(ParameterError, match="two"):
            list(alone.pairs(cases(1)))


def test_a_number_is_so_many_folds_and_other_splitters_are_described() -> None:
    assert len(estimate(cases(20), "c45", 4).folds) == 4
    for wrong in ("ten", True, 2.5, KFold):
        with pytest.raises(ParameterError, match="a number of folds or one of KFold, Repeated"):
            estimate(cases(20), "c45", wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"takes a dataset, .* not DataFrame"):
        estimate(cases(20).to_pandas(), "c45")


def test_wrong_parameters_are_refused() -> None:
    with pytest.raises(ParameterError, match="at least 2"):
        KFold(1)
    with pytest.raises(ParameterError, match="between 0 and 1"):
        HoldOut(1.0)
    with pytest.raises(ParameterError, match="seed"):
        Bootstrap632(3, seed=-1)
    with pytest.raises(ParameterError, match="repeats"):
        Repeated(3, 0)
    with pytest.raises(ParameterError, match="n_jobs"):
        estimate(cases(10), Learn(c45()), n_jobs=0)
    with pytest.raises(DataError, match="did you mean"):
        estimate(cases(10), Learn(c45()), Grouped(2, "whom"))
    with pytest.raises(DataError, match="no target"):
        estimate(cases(10).X, Learn(c45()))
    with pytest.raises(DataError, match="no rows"):
        estimate(cases(10).take(slice(0, 0)), Learn(c45()), KFold(2))


# -- speed and processes -----------------------------------------------------------------------------------------------


class Unsendable:
    """A function that holds something of this process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def __call__(self, part: Dataset) -> TreeModel:
        return fit(part, c45())


def test_long_work_is_shared_among_processes_and_gives_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    data = cases(60, 3)
    alone = estimate(data, c45(), KFold(5), n_jobs=1)
    shared: list[int] = []
    real = runs_module._shared

    def recording(*work: Any) -> Iterator[FoldRun]:
        shared.append(work[-1])
        return real(*work)

    monkeypatch.setattr(runs_module, "_shared", recording)
    monkeypatch.setattr(runs_module, "processors", lambda: 2)
    assert estimate(data, c45(), KFold(5)).folds[0].score == alone.folds[0].score
    assert shared == []  # so short a work is done here
    monkeypatch.setattr(runs_module, "WORTH_SHARING", 0.0)
    result: list[tuple[int, int]] = []
    together = estimate(data, c45(), KFold(5), lambda done, total: result.append((done, total)))
    assert shared == [2]
    assert result == [(done, 5) for done in range(1, 6)]
    assert [replace(fold, seconds=0.0) for fold in together.folds] == [replace(f, seconds=0.0) for f in alone.folds]
    assert np.array_equal(together.predicted, alone.predicted)
    assert np.array_equal(together.rows, alone.rows)
    estimate(data, lambda part: fit(part, c45()), KFold(5))
    assert shared == [2]  # what a function of one's own does beside learning would be lost
    monkeypatch.setattr(runs_module, "processors", lambda: 1)
    assert estimate(data, c45(), KFold(5)).pooled == alone.pooled
    assert shared == [2]


def test_minus_one_is_a_process_for_each_processor() -> None:
    data = cases(40, 3)
    assert estimate(data, c45(), KFold(3), n_jobs=-1).pooled == estimate(data, c45(), KFold(3), n_jobs=1).pooled
    assert vars(runs_module)["processors"] is processors


def test_processes_give_the_same_result() -> None:
    data = cases(60, 3)
    one, two = (estimate(data, Learn(c45()), KFold(4), n_jobs=jobs) for jobs in (1, 2))
    assert [fold.score for fold in one.folds] == [fold.score for fold in two.folds]
    assert np.array_equal(one.predicted, two.predicted)
    assert len(estimate(data, lambda part: fit(part, c45()), KFold(2), n_jobs=2).folds) == 2
    with pytest.raises(ParameterError, match="cannot be pickled for other processes"):
        estimate(data, Unsendable(), KFold(2), n_jobs=2)


def test_processes_pass_warnings_on() -> None:
    values = tuple(f"v{i}" for i in range(120))
    schema = Schema((Column("name", Kind.NOMINAL, values), Column("y", Kind.NOMINAL, ("a", "b"))), target="y")
    data = Dataset(schema, (np.arange(120, dtype=np.int32),), 120, (np.arange(120) % 2).astype(np.int32))
    with pytest.warns(DataWarning, match="names the cases"):
        estimate(data, Learn(id3()), KFold(2), n_jobs=2)


@pytest.mark.parametrize("plan", [c45(), c45(prune="mdl"), id3(), chaid(), cart(missing="surrogate", cp=0.01)], ids=str)
def test_without_the_split_trace_the_tree_is_the_same(plan: object) -> None:
    data = cases(120, 3)
    with_trace = fit(data, plan)  # type: ignore[call-overload]
    without = fit(data, plan, keep_trace=False)  # type: ignore[call-overload]
    assert with_trace.trace
    assert without.trace == {}
    assert with_trace.tree.to_text() == without.tree.to_text()
    assert np.array_equal(with_trace.tree.counts, without.tree.counts)


@pytest.fixture
def _by_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let kernels grow and prune small trees, too, and let there be two processors."""
    monkeypatch.setattr("treewright.learners.grower.COMPILED_CELLS", 1)
    monkeypatch.setattr(runs_module, "processors", lambda: 2)


@pytest.mark.usefixtures("_by_kernels")
@pytest.mark.parametrize("plan", [c45(), cart(), C45()], ids=["C4.5", "CART", "a recipe"])
def test_folds_of_trees_by_kernels_are_shared_among_threads(plan: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    data = cases(120, 3)
    alone = estimate(data, plan, KFold(5), n_jobs=1)
    seen: list[tuple[bool, int | None]] = []
    learn = Learn.__call__

    def recording(self: Learn, part: Dataset) -> Any:
        seen.append((threading.current_thread() is threading.main_thread(), self.n_jobs))
        return learn(self, part)

    monkeypatch.setattr(Learn, "__call__", recording)
    monkeypatch.setattr(runs_module, "_shared", None)  # no processes
    for jobs in (None, -1, 2, 3):
        seen.clear()
        result: list[tuple[int, int]] = []
        shared = estimate(data, plan, KFold(5), lambda *how_far: result.append(how_far), n_jobs=jobs)  # noqa: B023
        assert seen == [(False, 1)] * 5  # a thread of one's own for each fold at work, and no more
        assert result == [(done, 5) for done in range(1, 6)]
        assert [replace(fold, seconds=0.0) for fold in shared.folds] == [replace(f, seconds=0.0) for f in alone.folds]
        assert np.array_equal(shared.predicted, alone.predicted)
        assert np.array_equal(shared.rows, alone.rows)


@pytest.mark.usefixtures("_by_kernels")
def test_an_error_in_a_thread_ends_the_estimate() -> None:
    values = tuple(f"v{i}" for i in range(120))
    schema = Schema((Column("name", Kind.NOMINAL, values), Column("y", Kind.NOMINAL, ("a", "b"))), target="y")
    data = Dataset(schema, (np.arange(120, dtype=np.int32),), 120, (np.arange(120) % 2).astype(np.int32))
    with pytest.raises(DataWarning, match="names the cases"):
        estimate(data, id3(), KFold(3))
    with pytest.warns(DataWarning, match="names the cases"):
        estimate(data, id3(), KFold(3))


def test_folds_take_rows_of_the_cases_that_were_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    data = cases(60, 3)
    monkeypatch.setattr("treewright.data.dataset.encode", None)
    parts: list[Dataset] = []

    def learn(part: Dataset) -> TreeModel:
        parts.append(part)
        return fit(part, c45())

    found = estimate(data, learn, KFold(4))
    for fold, part in enumerate(parts):
        test = found.rows[15 * fold : 15 * (fold + 1)]
        train = np.setdiff1d(np.arange(60), test)
        assert part.schema is data.schema
        for column, whole in zip(part.columns, data.columns, strict=True):
            assert column.dtype == whole.dtype
            assert np.array_equal(np.sort(column), np.sort(whole[train]))
