"""Comparisons on the recorded folds give the accuracies that the original programs had on them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from oracle_sets import folds, load_json, load_set, set_names
from treewright.evaluate.compare import compare
from treewright.evaluate.compare_over import compare_over
from treewright.evaluate.comparison import Comparison
from treewright.plans import c45
from treewright.show.figure import save_figure
from treewright.show.plot_compare import critical_difference_figure, critical_difference_text

pytestmark = [pytest.mark.oracle, pytest.mark.slow]

MOST_NUMBERS = 55_000
"""Sets with more numbers (rows times numeric columns) take longer than all the others together."""

PLANS = {
    "c45_r8_pruned": c45(dialect="r8"),
    "c45_r8_unpruned": c45(dialect="r8", prune=False),
    "weka_j48": c45(dialect="j48"),
    "weka_j48_U": c45(dialect="j48", prune=False),
    "weka_j48_B": c45(dialect="j48", binary=True),
}
"""The programs that we follow exactly."""


def numbers_in(name: str) -> int:
    description = load_json(name, "schema.json")
    return int(description["rows"] * sum(column["kind"] == "numeric" for column in description["columns"]))


SETS = [name for name in set_names("classification", having="fold_results.json") if numbers_in(name) <= MOST_NUMBERS]


@cache
def compared(name: str) -> Comparison:
    return compare(load_set(name), PLANS, fold_of=folds(name))


@pytest.mark.parametrize("name", SETS)
def test_accuracies_are_those_recorded(name: str) -> None:
    recorded = load_json(name, "fold_results.json")["results"]
    for one in compared(name).learners:
        expected = recorded[one.name]
        assert one.score == pytest.approx(expected["mean"], abs=1e-6), one.name
        assert one.scores == pytest.approx(expected["per_fold"], abs=1e-6), one.name
        assert one.errors == sum(expected["errors"]), one.name
        if "size" in expected:
            assert one.size == pytest.approx(sum(expected["size"]) / 5), one.name


@pytest.mark.skipif(not SETS, reason="the recorded results are not here")
def test_ranks_and_diagram(tmp_path: Path) -> None:
    result = compare_over({name: compared(name) for name in SETS})
    recorded = {name: load_json(name, "fold_results.json")["results"] for name in SETS}
    expected = compare_over({name: {key: recorded[name][key]["mean"] for key in PLANS} for name in SETS})
    # Recorded means have six decimals, which may part what is equal, never by more than a place here and there.
    ours, theirs = (dict(zip(one.learners, one.average_ranks, strict=True)) for one in (result, expected))
    assert ours == pytest.approx(theirs, abs=0.1)
    assert sum(result.average_ranks) == pytest.approx(15)
    text = critical_difference_text(result)
    assert text.count("●") == 5
    assert f"({len(SETS)} tables)" in text.replace("Nemenyi, 5%, ", "")
    save_figure(critical_difference_figure(result), tmp_path / "cd.svg")
    picture = (tmp_path / "cd.svg").read_text(encoding="utf-8")
    assert all(name in picture for name in PLANS)
