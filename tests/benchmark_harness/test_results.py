"""Results: ratios, slopes, and plain data."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from benchmarks.results import CaseResult, Measurement, slope_of


def point(competitor: str, seconds: float | None, rows: int = 100, columns: int = 5, **facts: object) -> Measurement:
    return Measurement(competitor, "1", rows, columns, seconds, (seconds or 0.0,), dict(facts))


def test_the_ratio_is_how_many_times_as_long_a_peer_takes() -> None:
    result = CaseResult("c", "t", "fit", 100, (point("treewright", 2.0), point("ydf", 5.0), point("xgboost", None)))
    assert result.ratio("ydf") == 2.5
    assert result.ratio("treewright") == 1.0
    assert result.ratio("xgboost") is None
    assert result.ratio("lightgbm") is None
    assert [one["ratio"] for one in result.to_dict()["measurements"]] == [1.0, 2.5, None]
    json.dumps(result.to_dict(), allow_nan=False)


def test_without_ours_there_is_no_ratio() -> None:
    result = CaseResult("c", "t", "fit", 100, (point("ydf", 5.0),))
    assert result.ours is None
    assert result.ratio("ydf") is None


def test_growing_data_have_a_slope_for_everyone() -> None:
    ours = [point("treewright", rows / 1e5, rows) for rows in (100, 1000, 10_000)]
    theirs = [point("ydf", (rows / 1e5) ** 2, rows) for rows in (100, 1000)]
    failed = point("ydf", None, 10_000)
    result = CaseResult("c", "t", "rows", 10_000, (*ours, *theirs, failed))
    assert result.slope() == pytest.approx(1.0)
    assert result.slope("ydf") == pytest.approx(2.0)
    assert result.line("ydf")[0] == [100, 1000]
    plain = result.to_dict()
    slopes = {one["competitor"]: one["slope"] for one in plain["slopes"]}
    assert slopes == pytest.approx({"treewright": 1.0, "ydf": 2.0})
    assert "ratio" not in plain["measurements"][0]
    ours_at_last = result.of("treewright")
    assert ours_at_last is not None
    assert ours_at_last.rows == 10_000


def test_growing_columns_are_measured_by_columns() -> None:
    points = tuple(point("treewright", columns / 10, 100, columns) for columns in (10, 20, 40))
    result = CaseResult("c", "t", "columns", 100, points)
    assert result.line("treewright")[0] == [10, 20, 40]
    assert result.slope() == pytest.approx(1.0)


def test_one_size_has_no_slope() -> None:
    assert slope_of([5, 5], [1.0, 2.0]) is None


def test_ratios_are_those_of_the_same_recipe_and_threads() -> None:
    ours = [
        replace(point("treewright", 8.0 / threads * slow), threads=threads, recipe=recipe)
        for threads in (1, 2)
        for recipe, slow in (("plain", 1.0), ("skewed", 2.0))
    ]
    single = replace(point("scikit-learn", 16.0), threaded=False)
    several = replace(point("ydf", 12.0), threads=2)
    result = CaseResult("c", "t", "fit", 100, (*ours, single, several))
    assert (result.recipes, result.threads) == (("plain", "skewed"), (1, 2))
    assert [result.at("plain", threads).ratio("scikit-learn") for threads in (1, 2)] == [2.0, 4.0]
    assert [result.at("plain", threads).ratio("ydf") for threads in (1, 2)] == [None, 3.0]
    assert result.at("skewed", 2).ratio("scikit-learn") is None


def test_results_survive_their_plain_form() -> None:
    result = CaseResult("c", "t", "fit", 100, (point("treewright", 2.0, nodes=3), point("ydf", None)), ("no xgboost",))
    assert CaseResult.from_dict(json.loads(json.dumps(result.to_dict()))) == result


def test_joined_results_have_what_was_measured_last() -> None:
    first = CaseResult("c", "t", "fit", 100, (point("treewright", 2.0), point("ydf", 3.0)), ("a",))
    again = CaseResult(
        "c", "t", "fit", 100, (point("treewright", 1.0), replace(point("treewright", 0.5), threads=2)), ("a",)
    )
    both = first.joined(again)
    assert [(one.competitor, one.threads, one.seconds) for one in both.measurements] == [
        ("treewright", 1, 1.0),
        ("ydf", 1, 3.0),
        ("treewright", 2, 0.5),
    ]
    assert both.skipped == ("a",)
