"""The command: the list of cases, one small comparison in every form of output, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks import runner
from benchmarks.cases import CASES, Case
from benchmarks.results import CaseResult, Measurement
from benchmarks.run import command
from benchmarks.runner import Settings

from cli.shell import Shell
from treewright.cli.main import run


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    """Return a shell in an empty folder that runs this command."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr("cli.shell.run", lambda arguments: run(arguments, command))
    return Shell(tmp_path, capsys)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Case, Settings]]:
    """Let every case be measured in no time, and remember what was asked for."""
    calls: list[tuple[Case, Settings]] = []

    def run_case(case: Case, settings: Settings, progress: Any = None) -> CaseResult:
        calls.append((case, settings))
        sizes = (100, 1000) if case.action == "rows" else (settings.rows_of(case),)
        points = [Measurement("treewright", "0", size, 28, size / 1000, (size / 1000,), {"nodes": 9}) for size in sizes]
        points.append(Measurement("scikit-learn", "1", 100, 28, 60.0, (60.0,), {"nodes": 9}))
        return CaseResult(case.name, case.title, case.action, settings.rows_of(case), tuple(points))

    monkeypatch.setattr(runner, "run_case", run_case)
    return calls


def test_the_list_of_cases(shell: Shell) -> None:
    printed = shell.fine("--list").out
    assert all(case.name in printed for case in CASES)
    assert [case["name"] for case in shell.fine("--list", "--json").json] == [case.name for case in CASES]


@pytest.mark.full
def test_a_small_comparison_in_real_processes(shell: Shell) -> None:
    options = ("--case", "continuous-8", "--rows", "200", "--peer", "scikit-learn", "--threads", "1")
    result = shell.fine(*options, "--output", "r.json")
    assert "treewright" in result.out
    assert "at least 50 x the speed of scikit-learn" in result.out
    assert "an indication only" in result.out
    assert result.err == "Results written to r.json\n"
    saved = json.loads(shell.read("r.json"))
    assert saved["settings"]["threads"] == 1
    (case,) = saved["cases"]
    assert {one["competitor"] for one in case["measurements"]} == {"treewright", "scikit-learn"}
    assert all(one["seconds"] > 0 for one in case["measurements"])
    assert shell.files() == ["r.json"]


def test_the_quick_form_is_the_usual_one(shell: Shell, asked: list[tuple[Case, Settings]]) -> None:
    plain = shell.fine("--json").json
    assert [case["name"] for case in plain["cases"]] == [case.name for case in CASES if case.quick]
    assert all(settings == Settings(False, None, repeats=1, threads=settings.threads) for _, settings in asked)
    assert plain["targets"]
    assert plain["format"] == 1


def test_the_full_form_reports_every_target(shell: Shell, asked: list[tuple[Case, Settings]]) -> None:
    printed = shell.fine("--full").out
    assert "benchmarks/ensembles_accuracy.py" in printed
    assert "indication" not in printed
    assert len(asked) == len(CASES)


def test_a_chosen_case_reports_its_own_targets_only(shell: Shell, asked: list[tuple[Case, Settings]]) -> None:
    printed = shell.fine("--full", "--case", "continuous-8").out
    assert "not measured here" in printed
    lines = printed[printed.index("  case ") :].splitlines()
    assert {line.split()[0] for line in lines[1:-1]} == {"continuous-8"}
    assert asked[0][1].repeats == 3
    assert asked[0][1].rows_of(asked[0][0]) == 1_000_000


def test_the_figure(shell: Shell, asked: list[tuple[Case, Settings]]) -> None:
    pytest.importorskip("matplotlib")
    result = shell.fine("--case", "rows-nominal", "--plot", "g.svg")
    assert result.err == "Figure written to g.svg\n"
    assert "slope 1.00" in shell.read("g.svg")
    assert "slope 1.00" in result.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--case", "predcit"), "did you mean 'predict'"),
        (("--peer", "sklearn"), "There are: 'treewright', 'scikit-learn'"),
        (("--rows", "5"), "x>=100"),
        (("--plot", "g.svg"), "draws growing data"),
        (("--plot", "g.txt", "--case", "rows-nominal"), "must end in"),
    ],
)
def test_mistakes(shell: Shell, asked: list[tuple[Case, Settings]], options: tuple[str, ...], message: str) -> None:
    result = shell(*options)
    assert result.code == 2
    assert message in result.error
    assert asked == []


def test_an_unwritable_path_is_reported_before_the_work(shell: Shell, asked: list[tuple[Case, Settings]]) -> None:
    assert "there is no folder" in shell("--output", "no/r.json").error
    assert asked == []
