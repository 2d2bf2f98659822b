"""Options of the learners: long names, Quinlan's and Weka's letters, and which algorithm knows which."""

from __future__ import annotations

import pytest

from cli.shell import Shell


def model_bytes(shell: Shell, *options: str) -> bytes:
    shell.fine("train", "weather.csv", "-t", "play", "-o", "m.json", "--folds", "0", *options)
    return (shell.folder / "m.json").read_bytes()


@pytest.mark.parametrize(
    ("letters", "words"),
    [
        (("-m", "3"), ("--min-objects", "3")),
        (("-M", "3"), ("--min-objects", "3")),
        (("-c", "10"), ("--confidence", "0.1")),
        (("-C", "0.1"), ("--confidence", "0.1")),
        (("-g",), ("--criterion", "gain")),
        (("-s",), ("--subset",)),
        (("-U",), ("--no-prune",)),
        (("-S",), ("--no-raising",)),
        (("-J",), ("--no-mdl-correction",)),
        (("-O",), ("--no-collapse",)),
        (("--dialect", "j48", "-B"), ("--dialect", "j48", "--binary")),
    ],
)
def test_letters_mean_the_long_names(shell: Shell, letters: tuple[str, ...], words: tuple[str, ...]) -> None:
    by_letter = model_bytes(shell, *letters)
    assert by_letter == model_bytes(shell, *words)
    assert by_letter != model_bytes(shell)


@pytest.mark.parametrize(
    ("algorithm", "name"),
    [("id3", "ID3"), ("c45", "C4.5"), ("cart", "CART"), ("chaid", "CHAID"), ("cal2", "CAL2"), ("cal3", "CAL3")],
)
def test_every_algorithm_trains_shows_and_predicts(shell: Shell, algorithm: str, name: str) -> None:
    printed = shell.fine("train", "weather.csv", "-t", "play", "-a", algorithm, "-o", "m.json").out
    assert name in printed
    assert shell.fine("show", "m.json").out.startswith(name)
    assert len(shell.fine("predict", "m.json", "weather.csv").out.splitlines()) == 15


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-a", "cart", "--subset"), "--subset is not an option of cart, only of c45, rules"),
        (("-a", "id3", "--no-raising"), "--no-raising is not an option of id3"),
        (("-a", "cal3", "--s2", "0.4"), "s2 must be"),
        (("-a", "chaid", "--resplit", "--exhaustive"), "at most one of"),
        (("--dialect", "r8", "-B"), "not an option of dialect 'r8'"),
        (("-g", "--criterion", "gain"), "mean the same"),
        (("--cost", "yes=3"), "is not of the form ACTUAL,PREDICTED=COST"),
        (("--cost", "yes,maybe=3"), "costs are for pairs"),
    ],
)
def test_options_that_do_not_belong_are_refused(shell: Shell, options: tuple[str, ...], message: str) -> None:
    result = shell("train", "weather.csv", "-t", "play", *options)
    assert result.code == 2
    assert message in result.error


def test_costs_change_what_is_predicted(shell: Shell) -> None:
    shell.write("same.csv", "x,play\n" + "a,yes\n" * 8 + "a,no\n" * 4)
    shell.fine("train", "same.csv", "-t", "play", "-o", "plain.json", "--folds", "0")
    shell.fine("train", "same.csv", "-t", "play", "-o", "dear.json", "--folds", "0", "--cost", "no,yes=5")
    assert shell.fine("predict", "plain.json", "same.csv").out.splitlines()[1] == "yes"
    assert shell.fine("predict", "dear.json", "same.csv").out.splitlines()[1] == "no"


def test_cart_takes_the_options_of_rpart(shell: Shell) -> None:
    result = shell.fine(
        "train", "weather.csv", "-t", "play", "-a", "cart", "--cp", "0.01", "--choose", "1se", "-o", "r.json"
    )
    assert "cp 0.01" in result.out
    shell.fine("train", "weather.csv", "-t", "play", "-a", "cart", "--missing-values", "surrogate", "-o", "s.json")
    assert shell.fine("show", "s.json", "--json").json["attr"] == "outlook"
    refused = shell("train", "weather.csv", "-t", "play", "-a", "cart", "--cp", "0.01", "--max-leaves", "4")
    assert refused.code == 2
    assert "max_leaf_nodes" in refused.error


def test_growing_can_stop_by_chi_square(shell: Shell) -> None:
    for algorithm in ("id3", "c45", "cart"):
        result = shell.fine(
            "train",
            "weather.csv",
            "-t",
            "play",
            "-a",
            algorithm,
            "--grow-significance",
            "0.0001",
            "--json",
            "--no-save",
        )
        assert result.json["nodes"] == 1
