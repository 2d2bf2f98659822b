"""The targets: met, missed and not measured, each kind of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from benchmarks.cases import CASES
from benchmarks.results import (
    ELSEWHERE,
    TARGETS,
    CaseResult,
    Measurement,
    TargetStatus,
    cost_table,
    target_statuses,
)

from benchmark_harness.test_results import point


def statuses_of(case: str, *measurements: Measurement, action: str = "fit") -> dict[str, TargetStatus]:
    """Return the statuses of the targets of a case by the words of the target."""
    found = target_statuses({case: CaseResult(case, "", action, 100, measurements)})
    known = sorted(found, key=lambda one: one.met is not None)  # the same words may be for several numbers of threads
    return {one.wanted: one for one in known if one.case == case}


def test_every_target_names_a_case() -> None:
    assert {target.case for target in TARGETS} <= {case.name for case in CASES}


def test_nothing_measured_is_neither_met_nor_missed() -> None:
    found = target_statuses({})
    assert len(found) == len(TARGETS) + len(ELSEWHERE)
    assert all(one.met is None for one in found)
    empty = {case.name: CaseResult(case.name, "", case.action, 0, ()) for case in CASES}
    assert all(one.met is None for one in target_statuses(empty))


@pytest.mark.parametrize(("seconds", "met"), [(50.0, True), (49.0, False)])
def test_speed(seconds: float, met: bool) -> None:
    found = statuses_of("adaboost", point("treewright", 1.0), point("scikit-learn", seconds))
    one = found["at least 50 x the speed of scikit-learn"]
    assert (one.met, one.measured) == (met, {"plain": f"{seconds:g} x"})


@pytest.mark.parametrize(("seconds", "met"), [(1.0, True), (0.5, False)])
def test_the_faster_of_two(seconds: float, met: bool) -> None:
    found = statuses_of(
        "depth-8-two-classes", point("treewright", 1.0), point("lightgbm", 9.0), point("xgboost", seconds)
    )
    one = found["not slower than the faster of lightgbm and xgboost"]
    assert (one.met, one.measured) == (met, {"plain": f"{seconds:g} x (xgboost)"})


def test_the_fastest_of_all() -> None:
    found = statuses_of("nominal", point("treewright", 0.001), point("ydf", 2.0), point("scikit-learn", 0.02))
    one = found["at least 10 x the speed of the fastest peer"]
    assert (one.met, one.measured) == (True, {"plain": "20 x (scikit-learn)"})


@pytest.mark.parametrize(("seconds", "met"), [(0.02, True), (0.021, False)])
def test_at_most_so_many_times(seconds: float, met: bool) -> None:
    found = statuses_of("small", point("treewright", seconds, numba=False), point("scikit-learn", 0.001))
    assert found["at most 20 x the time of scikit-learn"].met is met
    assert found["Numba is not imported"].met is True


def test_numba_where_it_should_not_be() -> None:
    assert statuses_of("small", point("treewright", 1.0, numba=True))["Numba is not imported"].met is False


def test_seconds() -> None:
    assert statuses_of("start-help", point("treewright", 0.1))["within 0.15 s"].met is True
    assert statuses_of("start-help", point("treewright", 0.2))["within 0.15 s"].measured == {"plain": "0.2 s"}


def test_memory_is_that_beyond_the_data() -> None:
    ours = point("treewright", 1.0, added_bytes=59, peak_bytes=159)
    found = statuses_of("depth-8-two-classes", ours, point("scikit-learn", 1.0, added_bytes=100, peak_bytes=200))
    one = found["at most 60 % of the memory that scikit-learn adds to the data"]
    assert (one.met, one.measured) == (True, {"plain": "59 % (80 % of the whole process)"})


@pytest.mark.parametrize(("accuracy", "met"), [(0.8, True), (0.80005, True), (0.801, False)])
def test_the_same_training_error(accuracy: float, met: bool) -> None:
    ours, other = (
        point(name, 1.0, training_accuracy=at) for name, at in (("treewright", accuracy), ("scikit-learn", 0.8))
    )
    assert statuses_of("depth-8-two-classes", ours, other)["the training error of scikit-learn"].met is met


@pytest.mark.parametrize(("accuracy", "met"), [(0.9, True), (0.8971, True), (0.8969, False)])
def test_accuracy_beside_the_best(accuracy: float, met: bool) -> None:
    ours = point("treewright", 1.0, test_accuracy=accuracy)
    found = statuses_of(
        "forest-two-classes", ours, point("ydf", 1.0, test_accuracy=0.9), point("xgboost", 1.0, test_accuracy=0.8)
    )
    one = found["test accuracy not below the best peer by more than 0.3 points"]
    assert one.met is met
    assert one.measured["plain"].endswith("against 90.00 % (ydf)")


@pytest.mark.parametrize(("power", "met"), [(1.05, True), (1.3, False)])
def test_slope(power: float, met: bool) -> None:
    points = [point("treewright", float(rows) ** power, rows) for rows in (10, 100, 1000)]
    one = statuses_of("rows-nominal", *points, action="rows")["time grows linearly with rows (slope 1 +- 0.1)"]
    assert (one.met, one.measured) == (met, {"plain": f"{power:.2f}"})


def test_stored() -> None:
    ours = point("treewright", 1.0, load_and_predict_seconds=0.5, file_bytes=3e6)
    found = statuses_of(
        "forest-two-classes", ours, point("scikit-learn", 1.0, load_and_predict_seconds=2.0, file_bytes=9e6)
    )
    one = found["loads and predicts at least 3 x as fast as scikit-learn"]
    assert (one.met, one.measured) == (True, {"plain": "4 x; file 3.0 MB against 9.0 MB"})


def test_large_ratios_are_whole_numbers() -> None:
    found = statuses_of("adaboost", point("treewright", 0.001), point("scikit-learn", 12.3456))
    assert found["at least 50 x the speed of scikit-learn"].measured == {"plain": "12,346 x"}


def test_a_target_is_met_if_it_is_by_every_recipe() -> None:
    ours = point("treewright", 1.0)
    points = [ours, point("scikit-learn", 60.0), replace(ours, recipe="skewed")]
    slower = replace(point("scikit-learn", 40.0), recipe="skewed")
    (one,) = statuses_of("adaboost", *points, slower).values()
    assert (one.met, one.measured) == (False, {"plain": "60 x", "skewed": "40 x"})
    (one,) = statuses_of("adaboost", *points).values()
    assert (one.met, one.measured) == (True, {"plain": "60 x"})


def test_a_target_names_the_threads_that_it_was_measured_with() -> None:
    points = [replace(point("treewright", 8.0 / threads), threads=threads) for threads in (1, 2, 4)]
    peers = [replace(point("scikit-learn", 60.0), threaded=False)]
    (one,) = statuses_of("adaboost", *points, *peers).values()
    assert (one.threads, one.measured) == (2, {"plain": "15 x"})
    (one,) = statuses_of("adaboost", points[0], *peers).values()
    assert (one.threads, one.measured) == (1, {"plain": "7.5 x"})


@pytest.mark.parametrize(("seconds", "met"), [(1.0, True), (1.1, False)])
def test_sixteen_threads_beside_one(seconds: float, met: bool) -> None:
    alone = point("treewright", 11.0, added_bytes=100)
    many = replace(point("treewright", seconds, added_bytes=201), threads=16)
    found = statuses_of("forest-two-classes", alone, many)
    assert found["at least 11 x its own speed on one thread"].met is met
    assert found["at most 2 x the memory that one thread adds to the data"].measured == {"plain": "2.01 x"}
    assert statuses_of("forest-two-classes", many)["at least 11 x its own speed on one thread"].met is None


def visited(name: str, *costs: float) -> dict[str, CaseResult]:
    """Return the results of a case whose visits cost so many nanoseconds, one for each recipe."""
    points = (
        replace(point("treewright", cost * 1e-9, visits=1.0), recipe=recipe)
        for cost, recipe in zip(costs, ("plain", "skewed"), strict=False)
    )
    return {name: CaseResult(name, "", "fit", 100, tuple(points))}


def test_the_cost_of_a_visit_is_compared_with_that_of_two_classes() -> None:
    results = visited("full-two-classes", 2.0, 3.0) | visited("full-entropy", 4.0, 7.5) | visited("forest-entropy", 5.0)
    assert cost_table(results, 1) == [
        ["cost per visit", "full, plain", "full, skewed", "forest, plain"],
        ["two-classes", "2 ns", "3 ns", ""],
        ["entropy", "2 x", "2.5 x", "5 ns"],
    ]
    assert cost_table(results, 2) == []
    assert cost_table(visited("full-two-classes", 2.0), 1) == []
    (one,) = (one for one in target_statuses(results) if one.case == "full-entropy" and "visit" in one.wanted)
    assert (one.met, one.measured) == (False, {"plain": "2 x", "skewed": "2.5 x"})


@pytest.mark.parametrize(("power", "met"), [(0.9, True), (1.2, False)])
def test_slope_at_most(power: float, met: bool) -> None:
    points = [point("treewright", float(rows) ** power, rows) for rows in (10, 100, 1000)]
    assert statuses_of("rows-mixed", *points, action="rows")["time grows with a slope of at most 1.15"].met is met
