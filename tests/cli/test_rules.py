"""treewright rules: rules from a file, shown, saved, predicted with."""

from __future__ import annotations

import pytest

from cli.shell import LINE, Shell


def test_rules_are_printed_saved_shown_and_predicted_with(shell: Shell) -> None:
    printed = shell.fine("rules", "weather.csv", "-t", "play", "--dialect", "r8", "-o", "r.json").out
    assert "Rules from C4.5 Release 8" in printed
    assert "IF outlook = overcast THEN yes" in printed
    assert "DEFAULT yes" in printed
    assert "Training accuracy 100 %" in printed
    shown = shell.fine("show", "r.json").out
    assert "IF outlook = overcast THEN yes" in shown
    assert shell.fine("show", "r.json", "--json").json["rules"]
    predicted = shell.fine("predict", "r.json", "weather.csv")
    assert predicted.out.splitlines()[:3] == ["predicted", "no", "no"]
    assert "14 of 14" in predicted.err


def test_train_learns_the_same_rules(shell: Shell) -> None:
    shell.fine("rules", "weather.csv", "-t", "play", "-o", "one.json")
    shell.fine("train", "weather.csv", "-t", "play", "-a", "rules", "-o", "two.json")
    assert (shell.folder / "one.json").read_bytes() == (shell.folder / "two.json").read_bytes()


def test_json_counts_the_rules(shell: Shell) -> None:
    document = shell.fine("rules", "weather.csv", "-t", "play", "--no-save", "--folds", "0", "--json").json
    assert document["rules"] >= 2
    assert document["training_accuracy"] > 0.9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--binary",), "--binary is not an option of rules"),
        (("--validation", "2"), "validation must be None or a share"),
        (("-c", "25", "-C", "0.25"), "-c and --confidence mean the same"),
    ],
)
def test_what_rules_do_not_know_is_refused(shell: Shell, arguments: tuple[str, ...], message: str) -> None:
    result = shell("rules", "weather.csv", "-t", "play", *arguments)
    assert result.code == 2
    assert message in result.error


def test_rules_of_numbers_are_refused_and_rules_are_no_tree(shell: Shell) -> None:
    shell.write("line.csv", LINE)
    result = shell("rules", "line.csv", "-t", "y")
    assert result.code == 2
    assert "can only predict classes" in result.error
    shell.fine("rules", "weather.csv", "-t", "play", "-o", "r.json")
    for verb in ("explain", "prune"):
        refused = shell(verb, "r.json")
        assert refused.code == 3
        assert "needs a tree" in refused.error
    assert shell("predict", "r.json", "weather.csv", "--proba").code == 2
