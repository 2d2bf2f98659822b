"""The targets: met, missed and not measured, each kind of them."""

from __future__ import annotations

import pytest
from benchmarks.cases import CASES
from benchmarks.results import ELSEWHERE, TARGETS, CaseResult, Measurement, TargetStatus, target_statuses

from benchmark_harness.test_results import point


def statuses_of(case: str, *measurements: Measurement, action: str = "fit") -> dict[str, TargetStatus]:
    """Return the statuses of the targets of a case by the words of the target."""
    found = target_statuses({case: CaseResult(case, "", action, 100, measurements)})
    return {one.wanted: one for one in found if one.case == case}


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
    assert (one.met, one.measured) == (met, f"{seconds:g} x")


@pytest.mark.parametrize(("seconds", "met"), [(1.0, True), (0.5, False)])
def test_the_faster_of_two(seconds: float, met: bool) -> None:
    found = statuses_of("continuous-8", point("treewright", 1.0), point("lightgbm", 9.0), point("xgboost", seconds))
    one = found["not slower than the faster of lightgbm and xgboost"]
    assert (one.met, one.measured) == (met, f"{seconds:g} x (xgboost)")


def test_the_fastest_of_all() -> None:
    found = statuses_of("nominal", point("treewright", 0.001), point("ydf", 2.0), point("scikit-learn", 0.02))
    one = found["at least 10 x the speed of the fastest peer"]
    assert (one.met, one.measured) == (True, "20 x (scikit-learn)")


@pytest.mark.parametrize(("seconds", "met"), [(0.02, True), (0.021, False)])
def test_at_most_so_many_times(seconds: float, met: bool) -> None:
    found = statuses_of("small", point("treewright", seconds, numba=False), point("scikit-learn", 0.001))
    assert found["at most 20 x the time of scikit-learn"].met is met
    assert found["Numba is not imported"].met is True


def test_numba_where_it_should_not_be() -> None:
    assert statuses_of("small", point("treewright", 1.0, numba=True))["Numba is not imported"].met is False


def test_seconds() -> None:
    assert statuses_of("start-help", point("treewright", 0.1))["within 0.15 s"].met is True
    assert statuses_of("start-help", point("treewright", 0.2))["within 0.15 s"].measured == "0.2 s"


def test_memory_is_that_beyond_the_data() -> None:
    ours = point("treewright", 1.0, added_bytes=59, peak_bytes=159)
    found = statuses_of("continuous-8", ours, point("scikit-learn", 1.0, added_bytes=100, peak_bytes=200))
    one = found["at most 60 % of the memory that scikit-learn adds to the data"]
    assert (one.met, one.measured) == (True, "59 % (80 % of the whole process)")


@pytest.mark.parametrize(("accuracy", "met"), [(0.8, True), (0.80005, True), (0.801, False)])
def test_the_same_training_error(accuracy: float, met: bool) -> None:
    ours, other = (
        point(name, 1.0, training_accuracy=at) for name, at in (("treewright", accuracy), ("scikit-learn", 0.8))
    )
    assert statuses_of("continuous-8", ours, other)["the training error of scikit-learn"].met is met


@pytest.mark.parametrize(("accuracy", "met"), [(0.9, True), (0.8971, True), (0.8969, False)])
def test_accuracy_beside_the_best(accuracy: float, met: bool) -> None:
    ours = point("treewright", 1.0, test_accuracy=accuracy)
    found = statuses_of("forest", ours, point("ydf", 1.0, test_accuracy=0.9), point("xgboost", 1.0, test_accuracy=0.8))
    one = found["test accuracy not below the best peer by more than 0.3 points"]
    assert one.met is met
    assert one.measured.endswith("against 90.00 % (ydf)")


@pytest.mark.parametrize(("power", "met"), [(1.05, True), (1.3, False)])
def test_slope(power: float, met: bool) -> None:
    points = [point("treewright", float(rows) ** power, rows) for rows in (10, 100, 1000)]
    one = statuses_of("rows-nominal", *points, action="rows")["time grows linearly with rows (slope 1 +- 0.1)"]
    assert (one.met, one.measured) == (met, f"{power:.2f}")


def test_stored() -> None:
    ours = point("treewright", 1.0, load_and_predict_seconds=0.5, file_bytes=3e6)
    found = statuses_of("forest", ours, point("scikit-learn", 1.0, load_and_predict_seconds=2.0, file_bytes=9e6))
    one = found["loads and predicts at least 3 x as fast as scikit-learn"]
    assert (one.met, one.measured) == (True, "4 x; file 3.0 MB against 9.0 MB")


def test_large_ratios_are_whole_numbers() -> None:
    found = statuses_of("adaboost", point("treewright", 0.001), point("scikit-learn", 12.3456))
    assert found["at least 50 x the speed of scikit-learn"].measured == "12,346 x"
