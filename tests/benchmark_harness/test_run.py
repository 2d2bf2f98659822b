"""The command: the list of cases, one small comparison in every form of output, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks import runner
from benchmarks.cases import CASES, SETS, Case
from benchmarks.results import TARGETS, CaseResult, Measurement
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


def cases_of_targets(printed: str) -> set[str]:
    """Return the first column of the table of targets."""
    lines = printed[printed.index("### Targets") :].splitlines()
    return {line.split("|")[1].strip() for line in lines[4:] if line.startswith("|")}


def test_the_list_of_cases(shell: Shell) -> None:
    printed = shell.fine("--list").out
    assert all(case.name in printed for case in CASES)
    assert [case["name"] for case in shell.fine("--list", "--json").json] == [case.name for case in CASES]


@pytest.mark.full
def test_a_small_comparison_in_real_processes(shell: Shell) -> None:
    options = ("--case", "depth-8-two-classes", "--rows", "200", "--peer", "scikit-learn", "--threads", "1")
    result = shell.fine(*options, "--output", "r.json")
    assert "treewright" in result.out
    assert "at least 50 x the speed of scikit-learn" in result.out
    assert "an indication only" in result.out
    assert result.err == "Results written to r.json\n"
    saved = json.loads(shell.read("r.json"))
    assert saved["settings"]["threads"] == [1]
    (case,) = saved["cases"]
    assert {one["competitor"] for one in case["measurements"]} == {"treewright", "scikit-learn"}
    assert all(one["seconds"] > 0 for one in case["measurements"])
    assert shell.files() == ["r.json"]


def test_the_quick_form_is_the_usual_one(shell: Shell, asked: list[tuple[Case, Settings]]) -> None:
    plain = shell.fine("--json").json
    assert [case["name"] for case in plain["cases"]] == [case.name for case in CASES if case.quick]
    assert all(settings == Settings(False, None, repeats=1, threads=settings.threads) for _, settings in asked)
    assert plain["targets"]
    assert plain["format"] == 2


def test_the_full_form_reports_every_target(shell: Shell, asked: list[tuple[Case, Settings]]) -> None:
    printed = shell.fine("--full").out
    assert "benchmarks/ensembles_accuracy.py" in printed
    assert "indication" not in printed
    assert len(asked) == len(CASES)


def test_a_chosen_case_reports_its_own_targets_only(shell: Shell, asked: list[tuple[Case, Settings]]) -> None:
    printed = shell.fine("--full", "--case", "depth-8-two-classes").out
    assert "not measured here" in printed
    assert cases_of_targets(printed) == {"depth-8-two-classes"}
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
        (("--set", "kernel"), "did you mean 'kernels'"),
        (("--recipe", "skewd"), "skewed"),
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


def test_the_full_form_uses_the_processors_that_there_are(
    shell: Shell, asked: list[tuple[Case, Settings]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.run.processors", lambda: 6)
    shell.fine("--full", "--case", "wide")
    shell.fine("--case", "wide")
    shell.fine("--case", "wide", "--threads", "8", "--threads", "3", "--recipe", "skewed")
    assert [settings.threads for _, settings in asked] == [(1, 2, 4), (2,), (3, 8)]
    assert [settings.recipes for _, settings in asked][1:] == [("plain", "skewed"), ("skewed",)]


def test_sets_of_cases(shell: Shell, asked: list[tuple[Case, Settings]]) -> None:
    shell.fine("--set", "kernels")
    assert tuple(case for case, _ in asked) == SETS["kernels"]
    asked.clear()
    shell.fine("--set", "targets")
    assert {case.name for case, _ in asked} == {target.case for target in TARGETS}


def test_the_summary_has_no_table_of_a_case(shell: Shell, asked: list[tuple[Case, Settings]]) -> None:
    options = ("--full", "--case", "wide", "--case", "full-entropy")
    assert "### wide" in shell.fine(*options).out
    printed = shell.fine(*options, "--summary").out
    assert "### wide" not in printed
    assert cases_of_targets(printed) == {"full-entropy"}


def test_saved_results_are_reported_together(shell: Shell, asked: list[tuple[Case, Settings]]) -> None:
    shell.fine("--case", "adaboost", "--full", "-o", "a.json")
    shell.fine("--case", "wide", "--full", "-o", "b.json")
    asked.clear()
    printed = shell.fine("--read", "a.json", "--read", "b.json", "-o", "both.json").out
    assert asked == []
    assert "### adaboost" in printed
    assert "### wide" in printed
    assert cases_of_targets(printed) == {"adaboost"}
    assert shell.fine("--read", "both.json").out == printed
