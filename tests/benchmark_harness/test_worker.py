"""The worker: every action measures what its name promises, from job file to result file."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from benchmarks import worker
from benchmarks.cases import Growth
from benchmarks.peers import ScikitLearn


@pytest.fixture(autouse=True)
def _hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "LATENCY_SECONDS", 0.05)


def done(folder: Path, **job: Any) -> dict[str, Any]:
    """Do a job on 200 rows and return its result."""
    usual = {
        "competitor": "scikit-learn",
        "growth": Growth().to_dict(),
        "data": str(folder / "data"),
        "engine": "auto",
        "threads": 1,
        "store": False,
        "accuracy": True,
        "scratch": str(folder),
        "recipe": "plain",
        "rows": 200,
        "file": False,
    }
    (folder / "job.json").write_text(json.dumps(usual | job))
    worker.main([str(folder / "job.json"), str(folder / "result.json")])
    result: dict[str, Any] = json.loads((folder / "result.json").read_text())
    return result


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = done(tmp_path, action="make", maker="continuous", test_rows=100, shape={"columns": 5})
    assert made == {"columns": 5}
    return tmp_path


@pytest.mark.parametrize("competitor", ["treewright", "scikit-learn"])
def test_fit(folder: Path, competitor: str) -> None:
    result = done(folder, action="fit", competitor=competitor)
    assert result["seconds"] > 0
    assert result["nodes"] % 2 == 1
    assert result["training_accuracy"] == 1.0
    assert 0.4 < result["test_accuracy"] < 0.95
    assert result["peak_bytes"] is None or result["peak_bytes"] > 10_000_000


def test_fit_without_accuracy_does_not_predict(folder: Path) -> None:
    assert "test_accuracy" not in done(folder, action="fit", accuracy=False)


@pytest.mark.parametrize("competitor", ["treewright", "scikit-learn"])
def test_fit_can_store_the_model(folder: Path, competitor: str) -> None:
    result = done(folder, action="fit", competitor=competitor, store=True)
    assert result["file_bytes"] > 1000
    assert result["save_seconds"] > 0
    assert result["load_and_predict_seconds"] > 0
    assert result["stored_rows"] == 200
    assert sorted(path.name for path in folder.iterdir()) == ["data", "job.json", "result.json"]


def test_predict_learns_from_one_part_and_predicts_the_other(folder: Path) -> None:
    result = done(folder, action="predict")
    assert "training_accuracy" not in result
    assert 0.4 < result["test_accuracy"] < 0.95
    assert result["seconds"] > 0


def test_latency_is_that_of_the_best_small_fit(folder: Path) -> None:
    result = done(folder, action="latency", competitor="treewright", engine="interpreted")
    assert 0 < result["seconds"] < 60
    assert result["training_accuracy"] == 1.0


def test_start_leaves_the_clock_to_the_runner(folder: Path) -> None:
    before = time.time()
    result = done(folder, action="start")
    assert "seconds" not in result
    assert before < result["done_at"] <= time.time()
    assert result["nodes"] > 1


def test_compile_is_what_the_first_fit_takes_more(folder: Path) -> None:
    result = done(folder, action="compile")
    assert 0 <= result["seconds"] < result["first_seconds"]


def test_the_small_fit_before_has_every_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done(tmp_path, action="make", maker="letters", rows=300, test_rows=50, shape={})
    seen = []
    original = ScikitLearn.grow

    def grow(self: Any, form: Any, table: Any, growth: Growth, threads: int) -> Any:
        seen.append((table.n_rows, len(set(table.labels.tolist())), growth.trees))
        return original(self, form, table, growth, threads)

    monkeypatch.setattr(ScikitLearn, "grow", grow)
    monkeypatch.setattr(worker, "WARM_ROWS", 52)
    done(tmp_path, action="fit", growth=Growth("forest", trees=5).to_dict())
    (warm_rows, warm_classes, warm_trees), timed = seen
    assert warm_classes == 26
    assert warm_rows < 100
    assert warm_trees == 3
    assert timed == (300, 26, 5)


def test_an_error_of_ours_is_a_result(folder: Path) -> None:
    assert "did you mean 'ydf'" in done(folder, action="fit", competitor="ydff")["failed"]


def test_regression_reports_the_share_of_the_variance(tmp_path: Path) -> None:
    shape = {"columns": 5, "classes": 0}
    done(tmp_path, action="make", maker="continuous", recipe="skewed", test_rows=200, shape=shape)
    for competitor in ("treewright", "scikit-learn"):
        result = done(tmp_path, action="fit", competitor=competitor, growth=Growth(max_depth=2).to_dict())
        assert 0.05 < result["training_accuracy"] < 0.9
        assert result["test_accuracy"] < result["training_accuracy"]


def test_visits_are_the_rows_of_split_nodes_times_the_columns_tried(folder: Path) -> None:
    stump = done(folder, action="fit", competitor="treewright", growth=Growth(max_depth=1).to_dict())
    assert stump["visits"] == 200 * 5
    forest = done(
        folder, action="fit", competitor="treewright", growth=Growth("forest", max_depth=1, trees=3).to_dict()
    )
    assert forest["visits"] == 3 * 200 * 2
    assert "visits" not in done(folder, action="fit")


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="only Linux lets a process choose its processors")
def test_predicting_uses_as_many_processors_as_threads(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, seen = os.sched_getaffinity(0), []
    original = ScikitLearn.shares

    def shares(self: Any, model: Any, form: Any) -> Any:
        seen.append(len(os.sched_getaffinity(0)))
        return original(self, model, form)

    monkeypatch.setattr(ScikitLearn, "shares", shares)
    done(folder, action="predict", threads=1)
    assert set(seen) == {1}
    assert os.sched_getaffinity(0) == before


def test_a_table_is_made_as_a_file_where_a_command_reads_it(tmp_path: Path) -> None:
    done(tmp_path, action="make", maker="mixed", recipe="skewed", test_rows=50, shape={}, file=True)
    lines = (tmp_path / "data" / "table.csv").read_text().splitlines()
    assert len(lines) == 201
    assert lines[0].endswith(",y")
