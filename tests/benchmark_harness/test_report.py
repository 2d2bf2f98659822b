"""The report: tables, plots and figures of made results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benchmarks.report import case_text, costs_text, growth_figure, read_results, targets_text
from benchmarks.results import CaseResult, Measurement, TargetStatus

from benchmark_harness.test_results import point
from treewright.drawing.figure import save_figure
from treewright.errors import DataError

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
        "### wide: many columns, 2,000 rows",
        "",
        "|              | threads | seconds, plain | ratio, plain | added MB, plain | nodes, plain | training, plain"
        " | test, plain |",
        "| ------------ | ------: | -------------: | -----------: | --------------: | -----------: | --------------:"
        " | ----------: |",
        "| treewright 1 |       1 |            0.5 |              |               2 |       12,345 |        100.00 %"
        " |     87.50 % |",
        "| ydf 1        |       1 |           1.25 |       2.50 x |                 |            7 |                "
        " |             |",
        "",
        "- xgboost is not installed",
    ]


def test_recipes_are_neighbours_and_threads_have_rows() -> None:
    points = [
        replace(point(name, seconds * factor / threads), recipe=recipe, threads=threads, threaded=several)
        for name, seconds, several in (("treewright", 1.0, True), ("scikit-learn", 6.0, False))
        for threads in ((1, 2) if several else (1,))
        for recipe, factor in (("plain", 1.0), ("skewed", 3.0))
    ]
    printed = case_text(CaseResult("c", "t", "fit", 100, tuple(points)))
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in printed.splitlines()[2:]]
    assert cells[0] == ["", "threads", "seconds, plain", "seconds, skewed", "ratio, plain", "ratio, skewed"]
    assert cells[2:] == [
        ["treewright 1", "1", "1", "3", "", ""],
        ["scikit-learn 1", "1", "6", "18", "6.00 x", "6.00 x"],
        ["treewright 1", "2", "0.5", "1.5", "", ""],
        ["scikit-learn 1", "1", "6", "18", "12.00 x", "12.00 x"],
    ]


def test_columns_that_nobody_filled_are_left_out() -> None:
    printed = case_text(CaseResult("start-help", "treewright --help", "command", 0, (point("treewright", 0.1),)))
    assert printed.splitlines()[2] == "|              | threads | seconds, plain |"
    assert len(printed.splitlines()) == 5


def test_a_failure_is_printed_without_control_characters() -> None:
    failed = Measurement("ydf", "", 100, 5, None, (), {}, "out of\x1b[31m memory")
    printed = case_text(CaseResult("wide", "many columns", "fit", 100, (failed,)))
    assert "\x1b" not in printed
    assert "- ydf (plain, 1 thread): out of" in printed


def test_what_storing_took_is_reported() -> None:
    stored = point(
        "treewright", 1.0, save_seconds=0.5, file_bytes=2_500_000, load_and_predict_seconds=0.25, stored_rows=99
    )
    printed = case_text(CaseResult("forest", "trees", "fit", 100, (stored,)))
    head, _, row = (line.split("|")[4].strip() for line in printed.splitlines()[2:])
    assert (head, row) == ("load and predict, plain", "0.25")


def test_growing_data_are_drawn_with_their_slopes() -> None:
    printed = case_text(GROWING)
    assert "| 10,000 | treewright |" in printed
    assert "* treewright, slope 1.00   + ydf, slope 1.00" in printed
    assert "\nseconds\n  0.1 |" in printed
    alone = case_text(CaseResult("rows-mixed", "t", "rows", 1000, GROWING.measurements[:3]), braille=True)
    assert alone.endswith("treewright, slope 1.00\n```")


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
        [
            TargetStatus("a", "w", {"plain": "1 x", "skewed": "2 x"}, True),
            TargetStatus("b", "w", {"plain": "0 x"}, False, 16),
            TargetStatus("c", "w", {}, None),
        ]
    )
    lines = printed.splitlines()
    assert lines[4].replace("|", "").split() == ["a", "2", "w", "1", "x", "2", "x", "met"]
    assert [cell.strip() for cell in lines[5].split("|")[2:]] == ["16", "w", "0 x", "", "missed", ""]
    assert lines[-1] == "1 of 2 targets met, 1 not measured here."
    assert targets_text([TargetStatus("a", "w", {"plain": "1 x"}, True)]).endswith("1 of 1 targets met.")


def test_costs_have_a_table_for_each_number_of_threads() -> None:
    results = {
        name: CaseResult(
            name,
            "",
            "fit",
            100,
            tuple(
                replace(point("treewright", cost / threads, visits=1e9, processor_seconds=cost), threads=threads)
                for threads in (1, 2)
            ),
        )
        for name, cost in (("full-two-classes", 2.0), ("full-entropy", 5.0))
    }
    printed = costs_text(results)
    assert [line for line in printed.splitlines() if line.startswith("#")] == [
        f"### {words} for a row in a column of a node, {threads}"
        for threads in ("1 thread", "2 threads")
        for words in ("Time", "Processor time")
    ]
    assert [line for line in printed.splitlines() if line.startswith("| two")] == [
        f"| two-classes    |        {cost} ns |" for cost in (2, 2, 1, 2)
    ]
    assert printed.count("| entropy        |       2.5 x |") == 4
    assert costs_text({}) == ""


def test_results_of_another_format_are_refused(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text('{"format": 1, "cases": []}')
    with pytest.raises(DataError, match=r"r.json has format 1 of results, and this reads format 2"):
        read_results(str(tmp_path / "r.json"))
