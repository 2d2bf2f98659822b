"""treewright report: from a file or a model to one HTML file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from cli.shell import LINE, WEATHER, Shell, in_process_of_its_own


def payload(shell: Shell, name: str) -> dict[str, Any]:
    """Return the data in a report."""
    found: dict[str, Any] = json.loads(shell.read(name).split('id="data-block">')[1].split("</script>")[0])
    return found


def test_a_file_becomes_a_report(shell: Shell) -> None:
    shell.write("weather.csv", WEATHER)
    result = shell.fine("report", "weather.csv", "-t", "play")
    assert result.out.startswith("Report written to weather.report.html (")
    data = payload(shell, "weather.report.html")
    assert data["about"]["title"] == "Decision tree for play"
    assert data["quality"]["method"]["folds"] == 10
    assert data["learning"]["points"]
    assert shell.files() == ["weather.csv", "weather.report.html"]


def test_options_of_the_learner_are_those_of_train(shell: Shell) -> None:
    shell.write("weather.csv", WEATHER)
    shell.fine(
        "report", "weather.csv", "-t", "play", "-a", "cart", "--max-depth", "1", "--no-curve", "-o", "small.html"
    )
    data = payload(shell, "small.html")
    assert data["tree"]["branches"] == [2, 0, 0]
    assert "learning" not in data
    error = shell("report", "weather.csv", "-t", "play", "-a", "cart", "--s1", "3").error
    assert "--s1 is not an option of cart" in error


def test_json_has_path_and_size(shell: Shell) -> None:
    shell.write("weather.csv", WEATHER)
    document = shell.fine("report", "weather.csv", "-t", "play", "--folds", "0", "--json", "-o", "r.html").json
    assert document == {"report": "r.html", "bytes": len(shell.read("r.html").encode())}


def test_a_number_is_reported_too(shell: Shell) -> None:
    shell.write("line.csv", LINE)
    shell.fine("report", "line.csv", "-t", "y", "-a", "cart", "--folds", "3", "--no-curve")
    assert payload(shell, "line.report.html")["classes"] is None
    assert "can only predict classes" in shell("report", "line.csv", "-t", "y").error


def test_rules_are_reported_too(shell: Shell) -> None:
    shell.write("weather.csv", WEATHER)
    shell.fine("report", "weather.csv", "-t", "play", "-a", "rules", "--no-curve", "--folds", "2")
    assert "ruleset" in payload(shell, "weather.report.html")


def test_a_model_is_reported_with_the_cases_it_was_learned_from(shell: Shell) -> None:
    shell.model()
    shell.fine("report", "training.csv", "--model", "model.json", "--folds", "2", "--no-curve")
    assert payload(shell, "training.report.html")["quality"]["method"]["kind"] == "folds"


def test_a_model_alone_is_reported_without_quality(shell: Shell) -> None:
    shell.model()
    result = shell.fine("report", "--model", "model.json", "--title", "Handed over", "--lang", "it")
    assert "model.report.html" in result.out
    data = payload(shell, "model.report.html")
    assert data["about"]["title"] == "Handed over"
    assert data["words"]["tree"] == "Albero"
    assert "quality" not in data


def test_other_cases_of_a_model_measure_it(shell: Shell) -> None:
    shell.model()
    shell.write("other.csv", "\n".join(WEATHER.splitlines()[:9]) + "\n")
    result = shell.fine("report", "other.csv", "--model", "model.json")
    assert "not trained on these cases" in result.err
    assert payload(shell, "other.report.html")["quality"]["method"] == {"kind": "test", "tested": 8, "of": 8}
    shell.fine("report", "training.csv", "--model", "model.json", "--test", "other.csv", "-o", "both.html")
    data = payload(shell, "both.html")
    assert data["quality"]["method"]["kind"] == "test"
    assert data["profile"]["rows"] == 14
    assert (
        "omit it, or omit --test"
        in shell("report", "other.csv", "--model", "model.json", "--test", "training.csv").error
    )


def test_test_cases_beside_a_file_to_learn_from(shell: Shell) -> None:
    shell.write("weather.csv", WEATHER)
    shell.write("test.csv", WEATHER.replace("hot", "warm"))
    result = shell.fine("report", "weather.csv", "-t", "play", "--test", "test.csv", "--no-curve")
    assert "4 in 'temperature'" in result.err
    assert payload(shell, "weather.report.html")["quality"]["method"]["tested"] == 14


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name a FILE to train on, or a model"),
        (("weather.csv",), "name the column to predict"),
        (("weather.csv", "-t", "pley"), "did you mean 'play'"),
        (("weather.csv", "-t", "play", "--lang", "deu"), "de"),
        (("weather.csv", "-t", "play", "--folds", "1"), "1 is not 0 or at least 2"),
        (("weather.csv", "-t", "play", "-o", "weather.csv"), "would be replaced"),
        (("weather.csv", "-t", "play", "-o", "no/such/folder.html"), "no folder"),
        (("--model", "model.json", "-t", "play"), "--target would have no effect"),
        (("--model", "model.json", "-a", "cart", "--max-depth", "2"), "--max-depth, --algorithm would have no effect"),
        (("--model", "model.json", "--nominal", "wind"), "options for columns would have no effect"),
        (("--model", "modell.json"), "did you mean 'model.json'"),
        (("no.csv", "-t", "play"), "no.csv"),
        (("lacking.csv", "--model", "model.json"), "the target is needed"),
    ],
)
def test_wrong_calls_are_reported_in_one_line_and_leave_no_file(
    shell: Shell, arguments: tuple[str, ...], message: str
) -> None:
    shell.write("weather.csv", WEATHER)
    shell.write("lacking.csv", "outlook,temperature,humidity,wind\nsunny,hot,high,weak\n")
    shell.model()
    before = shell.files()
    assert message in shell("report", *arguments).error
    assert shell.files() == before


def test_a_forest_has_no_report_of_one_tree(shell: Shell) -> None:
    shell.write("weather.csv", WEATHER)
    shell.fine("train", "weather.csv", "-t", "play", "-a", "forest", "--folds", "0", "-o", "model.json")
    assert "this model is a forest" in shell("report", "--model", "model.json").error


def test_help_names_what_the_verb_takes(shell: Shell) -> None:
    printed = shell.fine("report", "--help").out
    for word in ("--model", "--test", "--lang", "--no-curve", "--algorithm", "--confidence"):
        assert word in printed


def test_a_schema_does_not_go_with_a_model(shell: Shell) -> None:
    shell.model()
    shell.fine("data", "training.csv", "-t", "play", "--save", "schema.json")
    error = shell("report", "--model", "model.json", "--schema", "schema.json").error
    assert "--schema would have no effect" in error


def test_the_report_comes_from_standard_input_too(shell: Shell) -> None:
    done = in_process_of_its_own(
        shell.folder, "report", "-", "-t", "play", "--folds", "0", "--no-curve", stdin=WEATHER.encode()
    )
    assert done.returncode == 0, done.stderr
    assert b"stdin.report.html" in done.stdout


def test_progress_is_shown_part_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    from treewright.cli import report as verb

    seen: list[tuple[str, str]] = []

    @contextmanager
    def bar(what: str) -> Iterator[Callable[[int, int], None]]:
        yield lambda done, total: seen.append((what, f"{done}/{total}"))
        seen.append((what, "end"))

    monkeypatch.setattr(verb, "progress_bar", bar)
    with verb.progress_bars() as bars:
        bars("folds", 1, 2)
        bars("folds", 2, 2)
        bars("curve", 1, 1)
    assert seen == [("folds", "1/2"), ("folds", "2/2"), ("folds", "end"), ("curve", "1/1"), ("curve", "end")]
