"""The verb tune: chooses, reports both estimates, and saves the model of the choice."""

from __future__ import annotations

from cli.shell import LINE, WEATHER, Shell


def test_it_chooses_and_saves(shell: Shell) -> None:
    result = shell.fine("tune", "weather.csv", "-t", "play", "--folds", "2", "--outer-folds", "2")
    assert "Chosen: " in result.out
    assert "Nested estimate" in result.out
    assert "optimistic" in result.out
    assert "Model written to weather.model.json" in result.out
    assert shell.fine("show", "weather.model.json").out


def test_as_json(shell: Shell) -> None:
    plain = shell.fine(
        "tune", "weather.csv", "-t", "play", "-a", "id3", "--folds", "2", "--outer-folds", "0", "-o", "m.json", "--json"
    ).json
    assert plain["model"] == "m.json"
    assert plain["nested"] is None
    assert len(plain["candidates"]) == 5
    assert plain["chosen"] in {one["candidate"] for one in plain["candidates"]}
    assert shell.files() == ["m.json", "weather.csv"]


def test_numbers_and_rules(shell: Shell) -> None:
    shell.write("line.csv", LINE)
    few = ("--folds", "2", "--outer-folds", "2", "--no-save")
    assert "of the variance" in shell.fine("tune", "line.csv", "-t", "y", "-a", "cart", *few).out
    assert " rule" in shell.fine("tune", "weather.csv", "-t", "play", "-a", "rules", *few).out
    assert shell.files() == ["line.csv", "weather.csv"]


def test_the_time_limit_reports_what_was_not_tried(shell: Shell) -> None:
    result = shell.fine("tune", "weather.csv", "-t", "play", "--time-limit", "0.000001", "--no-save")
    assert "without an estimate" in result.out


def test_mistakes(shell: Shell) -> None:
    assert "name the column to predict" in shell("tune", "weather.csv").error
    assert "is not one of" in shell("tune", "weather.csv", "-t", "play", "-a", "cal2").err
    assert "no folder" in shell("tune", "weather.csv", "-t", "play", "-o", "nowhere/m.json").error
    shell.write("few.csv", "\n".join(WEATHER.splitlines()[:4]) + "\n")
    assert "four cases" in shell("tune", "few.csv", "-t", "play", "--json").error
    shell.write("line.csv", LINE)
    assert "can only predict classes" in shell("tune", "line.csv", "-t", "y").error
