"""The full comparison, with few rows and one peer: every case runs from end to end."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from benchmarks import runner, worker
from benchmarks.cases import CASES, Case
from benchmarks.report import case_text, growth_figure, summary
from benchmarks.results import GROWING
from benchmarks.runner import Settings, run_case

from benchmark_harness.test_run import cases_of_targets

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.full
def test_the_full_form_in_a_process_of_its_own(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "benchmarks.run",
        "--full",
        "--case",
        "full-two-classes",
        "--rows",
        "200",
        "--repeats",
        "1",
    ]
    options = ["--peer", "scikit-learn", "--threads", "1", "--output", str(tmp_path / "r.json")]
    done = subprocess.run([*command, *options], cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "targets met" in done.stdout
    assert cases_of_targets(done.stdout) == {"full-two-classes"}
    saved = json.loads((tmp_path / "r.json").read_text())
    assert saved["settings"]["full"] is True
    assert {one["failed"] for one in saved["cases"][0]["measurements"]} == {None}


@pytest.fixture
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the workers work here: starting a process for each would take minutes."""

    def work(self: Any, job: dict[str, Any], environment: dict[str, str] | None = None) -> tuple[dict[str, Any], float]:
        (self.folder / "job.json").write_text(json.dumps(job))
        start = time.perf_counter()
        worker.main([str(self.folder / "job.json"), str(self.folder / "result.json")])
        return json.loads((self.folder / "result.json").read_text()), time.perf_counter() - start

    monkeypatch.setattr(runner._Workspace, "work", work)
    monkeypatch.setattr(runner, "COMMAND_RUNS", 1)
    monkeypatch.setattr(runner, "COLD_RUNS", 1)
    monkeypatch.setattr(worker, "LATENCY_SECONDS", 0.05)


@pytest.mark.slow
@pytest.mark.usefixtures("_in_this_process")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_case_runs_with_few_rows(case: Case) -> None:
    settings = Settings(full=True, rows=100, peers=("scikit-learn",), repeats=1, threads=(1,))
    result = run_case(case, settings)
    assert result.measurements
    for one in result.measurements:
        assert one.failed is None
        assert one.seconds is not None
        assert one.seconds >= 0
    assert case.title in case_text(result)
    assert json.loads(json.dumps(summary({case.name: result}, settings), allow_nan=False))["cases"]
    if case.action in GROWING:
        pytest.importorskip("matplotlib")
        assert growth_figure([result]).axes
