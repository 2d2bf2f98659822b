"""The runner: rounds, alternation, best of them, who is left out, and what happens when something goes wrong."""

from __future__ import annotations

import json
import subprocess
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benchmarks import runner
from benchmarks.cases import Case, Growth, chosen_cases
from benchmarks.peers import PEERS
from benchmarks.runner import Settings, run_case

from treewright.errors import ParameterError, TreewrightError

TINY = Settings(rows=200, peers=("scikit-learn",), repeats=2, threads=(1,), time_limit=60, recipes=("plain",))


def one(name: str) -> Case:
    (case,) = chosen_cases([name], full=True)
    return case


class Workers:
    """Stands in for the processes: remembers the jobs, answers as set up."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, answers: dict[str, list[dict[str, Any]]]) -> None:
        self.jobs: list[dict[str, Any]] = []
        self.environments: list[dict[str, str]] = []
        self._answers = answers
        monkeypatch.setattr(runner._Workspace, "work", self.work)

    def work(self, job: dict[str, Any], environment: dict[str, str] | None = None) -> tuple[dict[str, Any], float]:
        if job["action"] == "make":
            Path(job["data"]).mkdir()
            return {"columns": 28}, 0.1
        self.jobs.append(job)
        self.environments.append(environment or {})
        answers = self._answers[job["competitor"]]
        answer = answers[min(self.named.count(job["competitor"]) - 1, len(answers) - 1)]
        return ({"version": "1"} | answer, 3.0)

    @property
    def named(self) -> list[str]:
        return [job["competitor"] for job in self.jobs]


# -- real processes ----------------------------------------------------------------------------------------------------


@pytest.mark.full
def test_each_competitor_is_measured_in_processes_of_its_own() -> None:
    seen: list[tuple[int, int]] = []
    result = run_case(one("depth-8-two-classes"), TINY, lambda done, total: seen.append((done, total)))
    assert [point.competitor for point in result.measurements] == ["treewright", "scikit-learn"]
    assert seen == [(0, 4), (1, 4), (2, 4), (3, 4)]
    for point in result.measurements:
        assert point.failed is None
        assert len(point.every) == 2
        assert point.seconds == min(point.every)
        assert (point.rows, point.columns) == (200, 28)
        assert 1 < point.facts["nodes"] < 2**9
        assert 0.5 < point.facts["training_accuracy"] <= 1
    ours, other = result.measurements
    assert ours.facts["training_accuracy"] == pytest.approx(other.facts["training_accuracy"], abs=0.03)


def test_a_command_is_timed_as_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "COMMAND_RUNS", 2)
    seen: list[tuple[int, int]] = []
    result = run_case(one("start-help"), TINY, lambda done, total: seen.append((done, total)))
    (point,) = result.measurements
    assert len(point.every) == 2
    assert point.seconds is not None
    assert point.seconds > 0.01
    assert seen == [(0, 2), (1, 2)]


def test_tidying_up_after_a_job_is_not_timed_where_the_job_reports_when_it_was_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(command: list[str], **_: object) -> subprocess.CompletedProcess[bytes]:
        Path(command[-1]).write_text(json.dumps({"done_at": time.time() + 70.0, "nodes": 3}))
        return subprocess.CompletedProcess(command, 0, b"", b"")

    monkeypatch.setattr(subprocess, "run", work)
    result, seconds = runner._Workspace(tmp_path, TINY).work({"action": "start"})
    assert result == {"nodes": 3}
    assert 70.0 <= seconds < 100.0


def test_a_measurement_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    workspace = runner._Workspace(tmp_path, Settings(time_limit=0.001))
    result, seconds = workspace.work({"action": "make"})
    assert result == {"failed": "gave up after 0.001 s"}
    assert seconds == 0.001


def test_a_worker_that_breaks_reports_its_last_line() -> None:
    broken = Case("broken", "no such option", shape={"colums": 3})
    with pytest.raises(TreewrightError, match=r"data of broken could not be made: TypeError.*colums"):
        run_case(broken, TINY)


# -- processes that only print what they were given --------------------------------------------------------------------


def test_rounds_begin_with_another_competitor_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    answer: list[dict[str, Any]] = [{"seconds": 1.0}]
    workers = Workers(monkeypatch, {"treewright": answer, "scikit-learn": answer})
    run_case(one("wide"), TINY)
    assert workers.named == ["treewright", "scikit-learn", "scikit-learn", "treewright"]


def test_the_best_round_counts_with_its_statistics(monkeypatch: pytest.MonkeyPatch) -> None:
    ours: list[dict[str, Any]] = [
        {"seconds": 2.0, "nodes": 5, "load_and_predict_seconds": 1.0},
        {"seconds": 1.0, "nodes": 7, "load_and_predict_seconds": 4.0},
    ]
    Workers(monkeypatch, {"treewright": ours, "scikit-learn": [{"seconds": 3.0}]})
    mine = run_case(one("forest-two-classes"), TINY).of("treewright")
    assert mine is not None
    assert (mine.seconds, mine.every, mine.version) == (1.0, (2.0, 1.0), "1")
    assert mine.facts == {"nodes": 7, "load_and_predict_seconds": 1.0}


def test_who_failed_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    answers: dict[str, Any] = {"treewright": [{"seconds": 1.0}], "scikit-learn": [{"failed": "out of memory"}]}
    workers = Workers(monkeypatch, answers)
    result = run_case(one("wide"), TINY)
    assert Counter(workers.named) == {"treewright": 2, "scikit-learn": 1}
    assert result.measurements[1].failed == "out of memory"
    assert result.measurements[1].seconds is None


def test_a_missing_peer_is_left_out_with_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    Workers(monkeypatch, {"treewright": [{"seconds": 1.0}]})
    monkeypatch.setattr(runner, "installed", lambda peer: False)
    result = run_case(one("wide"), Settings(rows=200, peers=("xgboost", "ydf")))
    assert result.competitors == ("treewright",)
    assert result.skipped == (
        'xgboost is not installed: pip install "treewright[bench]"',
        'ydf is not installed: pip install "treewright[bench]"',
    )


def test_installed_looks_without_importing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert runner.installed("scikit-learn")
    monkeypatch.setattr(PEERS["ydf"], "package", "no_such_package_at_all")
    assert not runner.installed("ydf")


def test_the_whole_process_is_timed_once_the_disk_is_warm(monkeypatch: pytest.MonkeyPatch) -> None:
    workers = Workers(monkeypatch, {name: [{"nodes": 3}] for name in ("treewright", "scikit-learn")})
    result = run_case(one("start-fit"), TINY)
    assert Counter(workers.named) == {"treewright": 3, "scikit-learn": 3}
    assert [point.every for point in result.measurements] == [(3.0, 3.0), (3.0, 3.0)]
    assert all(environment == {"PYTHONDONTWRITEBYTECODE": ""} for environment in workers.environments)


def test_compiling_has_an_empty_folder_and_is_done_once(monkeypatch: pytest.MonkeyPatch) -> None:
    workers = Workers(monkeypatch, {"treewright": [{"seconds": 9.0}]})
    run_case(one("compile"), TINY)
    (environment,) = workers.environments
    assert "NUMBA_CACHE_DIR" in environment
    assert workers.jobs[0]["engine"] == "compiled"


def test_growing_rows_leave_slow_peers_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {"treewright": [{"seconds": 500.0}], "scikit-learn": [{"seconds": 20.0}]}
    Workers(monkeypatch, answers)
    seen: list[tuple[int, int]] = []
    settings = Settings(rows=10_000, peers=("scikit-learn",), repeats=1, recipes=("plain",))
    result = run_case(one("rows-nominal"), settings, lambda done, total: seen.append((done, total)))
    assert result.line("treewright")[0] == [100, 316, 1000, 3162, 10_000]
    assert result.line("scikit-learn")[0] == [100]
    assert seen[-1] == (4, 5)


def test_growing_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    Workers(monkeypatch, {"treewright": [{"seconds": 1.0}]})
    assert len(run_case(one("columns-nominal"), TINY).measurements) == len(runner.GROWING_COLUMNS)


def test_growing_stops_where_ours_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    Workers(monkeypatch, {"treewright": [{"failed": "gave up"}]})
    result = run_case(Case("rows-x", "x", "rows", growth=Growth(max_depth=2), peers=()), TINY)
    assert len(result.measurements) == 1


# -- settings ----------------------------------------------------------------------------------------------------------


def test_rows_come_from_the_form_or_from_the_user() -> None:
    case = one("depth-8-two-classes")
    assert Settings(full=True).rows_of(case) == 1_000_000
    assert Settings().rows_of(case) == 20_000
    assert Settings(rows=123).rows_of(case) == 123
    assert Settings(rows=123).rows_of(one("small")) == 150


def test_wrong_settings() -> None:
    with pytest.raises(ParameterError, match="did you mean 'xgboost'"):
        Settings(peers=("xgbost",))
    with pytest.raises(ParameterError, match="at least 100"):
        Settings(rows=5)


# -- recipes and threads -----------------------------------------------------------------------------------------------


def test_every_recipe_is_measured_with_every_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    workers = Workers(monkeypatch, {name: [{"seconds": 1.0}] for name in ("treewright", "scikit-learn")})
    result = run_case(one("forest-two-classes"), replace(TINY, threads=(1, 2), repeats=1, recipes=("plain", "skewed")))
    assert [(job["competitor"], job["threads"]) for job in workers.jobs] == 2 * [
        ("treewright", 1),
        ("scikit-learn", 1),
        ("treewright", 2),
        ("scikit-learn", 2),
    ]
    assert [(point.recipe, point.threads) for point in result.measurements if point.is_ours] == [
        ("plain", 1),
        ("plain", 2),
        ("skewed", 1),
        ("skewed", 2),
    ]


def test_who_knows_one_thread_only_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    workers = Workers(monkeypatch, {name: [{"seconds": 1.0}] for name in ("treewright", "scikit-learn")})
    result = run_case(one("wide"), replace(TINY, threads=(2, 4), repeats=1))
    assert [(job["competitor"], job["threads"]) for job in workers.jobs] == [
        ("treewright", 2),
        ("treewright", 4),
        ("scikit-learn", 1),
    ]
    assert [result.at("plain", threads).ratio("scikit-learn") for threads in (2, 4)] == [1.0, 1.0]


def test_what_threads_do_not_change_is_measured_with_the_most() -> None:
    settings = Settings(threads=(1, 2))
    assert settings.threads_of(one("wide")) == (1, 2)
    assert settings.threads_of(one("start-fit")) == settings.threads_of(one("rows-mixed")) == (2,)


def test_what_has_one_recipe_only_is_measured_by_it() -> None:
    settings = Settings(recipes=("skewed",))
    assert settings.recipes_of(one("wide")) == ("skewed",)
    assert settings.recipes_of(one("small")) == ("plain",)


def test_a_cold_command_reads_a_file_and_finds_nothing_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    original = subprocess.run

    def ran(command: list[str], **options: Any) -> Any:
        if "benchmarks.worker" in command:
            return original(command, **options)
        folder = Path(options["env"]["NUMBA_CACHE_DIR"])
        seen.append((len(Path(command[-3]).read_text().splitlines()), list(folder.iterdir())))
        return subprocess.CompletedProcess(command, 0, b"", b"")

    monkeypatch.setattr(subprocess, "run", ran)
    result = run_case(one("start-cold"), replace(TINY, recipes=("plain", "skewed")))
    assert seen == [(201, [])] * 2 * runner.COLD_RUNS
    assert [(point.recipe, point.rows, point.columns) for point in result.measurements] == [
        ("plain", 200, 14),
        ("skewed", 200, 14),
    ]


def test_a_command_that_fails_is_reported_with_its_last_line() -> None:
    (point,) = run_case(Case("broken", "no such verb", "command", rows=0, command=("trian",)), TINY).measurements
    assert point.seconds is None
    assert "trian" in (point.failed or "")
