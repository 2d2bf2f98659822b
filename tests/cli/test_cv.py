"""The verb cv: every splitter, both curves, figures, and what is refused."""

from __future__ import annotations

import pytest

from cli.shell import LINE, WEATHER, Shell

GROUPED = "who," + WEATHER.splitlines()[0] + "\n"
GROUPED += "".join(f"p{at % 4},{row}\n" for at, row in enumerate(WEATHER.splitlines()[1:]))


def test_the_criterion_of_classes_is_not_printed_for_a_numeric_target(shell: Shell) -> None:
    shell.write("line.csv", LINE)
    for more in ((), ("--curve", "learning"), ("--curve", "complexity", "--folds", "3")):
        printed = shell.fine("cv", "line.csv", "-t", "y", "-a", "cart", *more).out
        assert "variance" in printed
        assert "gini" not in printed


def test_the_predictions_can_be_reported(shell: Shell) -> None:
    printed = shell.fine("cv", "weather.csv", "-t", "play", "--folds", "7", "--report").out
    assert "Confusion matrix (rows: actual, columns: predicted)" in printed
    plain = shell.fine("cv", "weather.csv", "-t", "play", "--folds", "7", "--report", "--json").json
    assert plain["report"]["accuracy"] == pytest.approx(plain["pooled"])
    assert (
        "does not apply to a curve" in shell("cv", "weather.csv", "-t", "play", "--curve", "learning", "--report").error
    )


@pytest.mark.parametrize("more", [(), ("--leave-one-out",), ("--holdout", "0.5"), ("--curve", "learning")])
def test_one_row_is_reported_before_anything_else(shell: Shell, more: tuple[str, ...]) -> None:
    shell.write("one.csv", "a,b\nx,y\n")
    result = shell("cv", "one.csv", "-t", "b", *more)
    assert result.code == 3
    assert result.error == "one.csv: there is only one row; an estimate needs at least two"


def test_the_usual_folds(shell: Shell) -> None:
    result = shell.fine("cv", "weather.csv", "-t", "play")
    assert "Accuracy by 10 folds" in result.out
    assert "pooled" in result.out
    assert "averaged" in result.out
    assert 'always predicting "yes"' in result.out
    assert "too few rows for a reliable estimate" in result.out
    assert shell.files() == ["weather.csv"]


@pytest.mark.parametrize(
    ("options", "way", "folds"),
    [
        (("--folds", "3"), "3 folds", 3),
        (("--folds", "3", "--repeats", "2"), "3 folds, 2 times", 6),
        (("--repeats", "2", "--folds", "2", "-a", "id3"), "2 folds, 2 times", 4),
        (("--leave-one-out",), "leave-one-out", 14),
        (("--holdout", "0.25"), "hold-out of 25 %", 1),
        (("--bootstrap", "4"), ".632 bootstrap of 4 samples", 4),
        (("--folds", "2", "--jobs", "2"), "2 folds", 2),
    ],
)
def test_ways(shell: Shell, options: tuple[str, ...], way: str, folds: int) -> None:
    plain = shell.fine("cv", "weather.csv", "-t", "play", "--json", *options).json
    assert plain["way"] == way
    assert len(plain["folds"]) == folds
    assert ("estimate_632" in plain) == ("--bootstrap" in options)


def test_groups(shell: Shell) -> None:
    shell.write("grouped.csv", GROUPED)
    plain = shell.fine("cv", "grouped.csv", "-t", "play", "--groups", "who", "--json").json
    assert [fold["n"] for fold in plain["folds"]] == [4, 4, 3, 3]
    assert "p0" not in shell.fine("cv", "grouped.csv", "-t", "play", "--groups", "who", "--folds", "2").out
    assert "did you mean 'who'" in shell("cv", "grouped.csv", "-t", "play", "--groups", "whom").err


def test_numbers(shell: Shell) -> None:
    shell.write("line.csv", LINE)
    assert "Root mean squared error" in shell.fine("cv", "line.csv", "-t", "y", "-a", "cart").out
    assert "can only predict classes" in shell("cv", "line.csv", "-t", "y").error


def test_learner_options(shell: Shell) -> None:
    assert "confidence 10 %" in shell.fine("cv", "weather.csv", "-t", "play", "-c", "10").out
    assert shell.fine("cv", "weather.csv", "-t", "play", "-a", "rules", "--folds", "3", "--json").json["size"] >= 0


def test_the_learning_curve(shell: Shell) -> None:
    result = shell.fine("cv", "weather.csv", "-t", "play", "--curve", "learning", "--repeats", "2")
    assert "training cases" in result.out
    assert "Accuracy against training size, 2 repeats" in result.out
    plain = shell.fine("cv", "weather.csv", "-t", "play", "--curve", "learning", "--holdout", "0.5", "--json").json
    assert plain["curve"] == "learning"
    assert plain["points"][-1]["size"] == 7


def test_the_complexity_curve_and_its_figure(shell: Shell) -> None:
    pytest.importorskip("matplotlib")
    result = shell.fine("cv", "weather.csv", "-t", "play", "--curve", "complexity", "--folds", "3", "--plot", "c.svg")
    assert "within one standard error" in result.out
    assert "Figure written to c.svg" in result.err
    assert "leaves" in shell.read("c.svg")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--folds", "3", "--leave-one-out"), "alternative ways to split"),
        (("--holdout", "0.2", "--bootstrap", "3"), "alternative ways to split"),
        (("--holdout", "2"), "between 0 and 1"),
        (("--folds", "15"), "more than the number of rows, 14"),
        (("--plot", "x.png"), "add --curve"),
        (("--plot", "x.txt", "--curve", "learning"), "must end in"),
        (("--curve", "complexity", "--bootstrap", "3"), "the complexity curve accepts --folds"),
        (("--curve", "complexity", "-a", "rules"), "needs a single tree"),
        (("--s1", "3"), "not an option of c45"),
    ],
)
def test_what_does_not_go_together(shell: Shell, options: tuple[str, ...], message: str) -> None:
    result = shell("cv", "weather.csv", "-t", "play", "--json", *options)
    assert result.code == 2
    assert message in result.error


def test_other_mistakes(shell: Shell) -> None:
    assert "name the column to predict" in shell("cv", "weather.csv").error
    shell.write("head.csv", WEATHER.splitlines()[0] + "\n")
    assert shell("cv", "head.csv", "-t", "play").code == 3
