"""The report: tables, plots and figures of made results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from benchmarks.report import case_text, growth_figure, targets_text
from benchmarks.results import CaseResult, Measurement, TargetStatus

from benchmark_harness.test_results import point
from treewright.drawing.figure import save_figure

GROWING = CaseResult(
    "rows-nominal",
    "growing rows",
    "rows",
    10_000,
    (
        *(point("treewright", rows / 1e5, rows) for rows in (100, 1000, 10_000)),
        *(point("ydf", rows / 1e4, rows) for rows in (100, 1000)),
    ),
)


def test_a_case_is_a_table_with_the_ratios() -> None:
    facts: dict[str, Any] = {
        "nodes": 12345,
        "training_accuracy": 1.0,
        "test_accuracy": 0.875,
        "added_bytes": 2e6,
        "peak_bytes": 3e8,
    }
    ours, other = point("treewright", 0.5, **facts), point("ydf", 1.25, nodes=7)
    printed = case_text(CaseResult("wide", "many columns", "fit", 2000, (ours, other), ("xgboost is not installed",)))
    assert printed.splitlines() == [
        "wide: many columns, 2,000 rows",
        "                seconds   ratio  added MB  peak MB   nodes  training     test",
        "  treewright 1      0.5                 2      300  12,345  100.00 %  87.50 %",
        "  ydf 1            1.25  2.50 x                          7",
        "  xgboost is not installed",
    ]


def test_columns_that_nobody_filled_are_left_out() -> None:
    printed = case_text(CaseResult("start-help", "treewright --help", "command", 0, (point("treewright", 0.1),)))
    assert printed.splitlines()[1:] == ["                seconds", "  treewright 1      0.1"]


def test_a_failure_is_printed_without_control_characters() -> None:
    failed = Measurement("ydf", "", 100, 5, None, (), {}, "out of\x1b[31m memory")
    printed = case_text(CaseResult("wide", "many columns", "fit", 100, (failed,)))
    assert "\x1b" not in printed
    assert "ydf: out of" in printed


def test_what_storing_took_is_reported() -> None:
    stored = point(
        "treewright", 1.0, save_seconds=0.5, file_bytes=2_500_000, load_and_predict_seconds=0.25, stored_rows=99
    )
    printed = case_text(CaseResult("forest", "trees", "fit", 100, (stored,)))
    assert "treewright: saved in 0.5 s, 2.5 MB; loaded and 99 rows predicted in 0.25 s" in printed


def test_growing_data_are_drawn_with_their_slopes() -> None:
    printed = case_text(GROWING)
    assert "10,000  treewright" in printed
    assert "* treewright, slope 1.00   + ydf, slope 1.00" in printed
    assert "\nseconds\n  0.1 |" in printed
    alone = case_text(CaseResult("rows-mixed", "t", "rows", 1000, GROWING.measurements[:3]), braille=True)
    assert alone.endswith("treewright, slope 1.00")


def test_growing_data_of_which_nothing_came_are_survived() -> None:
    failed = Measurement("treewright", "", 100, 5, None, (), {}, "gave up after 1 s")
    printed = case_text(CaseResult("rows-mixed", "t", "rows", 1000, (failed,)))
    assert "nothing to draw" in printed
    assert "gave up after 1 s" in printed


def test_the_figure_has_both_axes_logarithmic_and_the_slopes(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    columns = tuple(point("treewright", float(n), 100, n) for n in (10, 20))
    figure = growth_figure([GROWING, CaseResult("columns-x", "growing columns", "columns", 100, columns), GROWING])
    axes, second, _ = figure.axes
    assert second.get_xlabel() == "columns"
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert axes.get_xlabel() == "rows"
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["treewright, slope 1.00", "ydf, slope 1.00"]
    save_figure(figure, tmp_path / "growth.svg")


def test_statuses_are_counted() -> None:
    printed = targets_text(
        [TargetStatus("a", "w", "1 x", True), TargetStatus("b", "w", "0 x", False), TargetStatus("c", "w", "-", None)]
    )
    lines = printed.splitlines()
    assert lines[1].split() == ["a", "w", "1", "x", "met"]
    assert lines[2].endswith("missed")
    assert lines[-1] == "1 of 2 targets met, 1 not measured here."
    assert targets_text([TargetStatus("a", "w", "1 x", True)]).endswith("1 of 1 targets met.")
