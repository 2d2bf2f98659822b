"""treewright train for many trees: one command, an honest estimate, and nothing lost on Ctrl-C."""

from __future__ import annotations

from typing import Any

import pytest

from cli.shell import LINE, Shell
from treewright.ensembles import random_forest
from treewright.tree.forest import Forest
from treewright.tree.io.model_file import load_model


def test_a_forest_in_one_command(shell: Shell) -> None:
    result = shell.fine("train", "weather.csv", "-t", "play", "-a", "forest", "--trees", "20")
    assert "Random forest of CART trees   20 trees, sqrt of the attributes sampled at each node" in result.out
    assert "20 trees, " in result.out
    assert "importance" in result.out
    assert "out-of-bag error" in result.out
    assert "Out-of-bag estimate" in result.out
    assert "Model written to weather.model.json" in result.out
    model = load_model("weather.model.json")
    assert isinstance(model, Forest)
    assert len(model.log["oob_error"]) == 20


@pytest.mark.parametrize("algorithm", ["forest", "bagging", "adaboost"])
def test_the_result_as_json(shell: Shell, algorithm: str) -> None:
    found = shell.fine(
        "train", "weather.csv", "-t", "play", "-a", algorithm, "--trees", "5", "--json", "--no-save"
    ).json
    assert found["trees"] <= 5
    assert set(found["importance"]) == {"outlook", "temperature", "humidity", "wind"}
    assert found["estimate"]["tested"] <= 14
    assert found["model"] is None
    assert ("oob_error" in found["log"]) == (algorithm != "adaboost")


def test_all_attributes_can_be_asked_for_by_their_word(shell: Shell) -> None:
    command = ("train", "sample:restaurant", "-a", "forest", "--trees", "3", "--no-save")
    by_word, by_share, usual = (
        shell(*command, *more) for more in (("--max-features", "all"), ("--max-features", "1.0"), ())
    )
    assert "of the attributes drawn" not in by_word.out
    assert "sqrt of the attributes" in usual.out
    assert by_word.out.splitlines()[2:] == by_share.out.splitlines()[2:]


def test_options_of_the_trees_are_passed_to_them(shell: Shell) -> None:
    shell.fine(
        "train", "weather.csv", "-t", "play", "-a", "forest", "--trees", "3", "--base", "c45", "-m", "1",
        "--max-features", "2", "--features-per", "tree", "--seed", "4", "-o", "m.json",
    )  # fmt: skip
    recipe = load_model("m.json").recipe
    assert recipe["tree"]["name"] == "C4.5"
    assert recipe["tree"]["stopping"]["min_branch"] == 1
    assert (recipe["max_features"], recipe["per"], recipe["seed"]) == (2, "tree", 4)
    shell.fine(
        "train", "weather.csv", "-t", "play", "-a", "forest", "--trees", "2", "--max-features", "0.5",
        "--random-cuts", "--max-depth", "2", "--max-samples", "8", "--balanced", "-o", "m.json",
    )  # fmt: skip
    recipe = load_model("m.json").recipe
    assert (recipe["max_features"], recipe["random_cuts"], recipe["max_samples"]) == (0.5, True, 8)
    assert recipe["tree"]["stopping"]["max_depth"] == 2
    shell.fine("train", "weather.csv", "-t", "play", "-a", "bagging", "--trees", "2", "--folds", "0", "-o", "m.json")
    assert load_model("m.json").recipe["tree"]["pruning"] == [{"method": "collapse"}]
    shell.fine(
        "train", "weather.csv", "-t", "play", "-a", "adaboost", "--trees", "4", "--learning-rate", "0.5",
        "--votes", "shares", "--max-resets", "3", "--folds", "0", "-o", "m.json",
    )  # fmt: skip
    recipe = load_model("m.json").recipe
    assert (recipe["learning_rate"], recipe["votes"], recipe["max_resets"]) == (0.5, "shares", 3)
    assert recipe["tree"]["stopping"]["max_depth"] == 1
    shell.fine(
        "train", "weather.csv", "-t", "play", "-a", "adaboost", "--base", "c45", "--trees", "3",
        "--reweighting", "midway", "--coarseness", "1.4", "--folds", "0", "-o", "m.json",
    )  # fmt: skip
    recipe = load_model("m.json").recipe
    assert (recipe["reweighting"], recipe["coarseness"]) == ("midway", 1.4)


def test_numbers_are_predicted_by_forests_and_not_by_adaboost(shell: Shell) -> None:
    shell.write("line.csv", LINE)
    out = shell.fine("train", "line.csv", "-t", "y", "-a", "forest", "--trees", "10").out
    assert "Training root mean squared error" in out
    assert "Out-of-bag estimate of the root mean squared error" in out
    assert shell.fine("train", "line.csv", "-t", "y", "-a", "bagging", "--base", "cart", "--trees", "3", "--json").json[
        "training_rmse"
    ]
    assert "is numeric" in shell("train", "line.csv", "-t", "y", "-a", "adaboost").error


def test_folds_are_dealt_where_they_are_asked_for(shell: Shell) -> None:
    out = shell.fine("train", "weather.csv", "-t", "play", "-a", "forest", "--trees", "3", "--folds", "3").out
    assert "3-fold estimate" in out
    none = shell.fine("train", "weather.csv", "-t", "play", "-a", "forest", "--trees", "3", "--folds", "0").out
    assert "estimate" not in none
    boosted = shell.fine("train", "weather.csv", "-t", "play", "-a", "adaboost", "--trees", "3").out
    assert "10-fold estimate" in boosted


def test_ctrl_c_keeps_the_finished_trees_in_the_file(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    train = ("train", "weather.csv", "-t", "play", "-a", "forest", "--trees", "8", "-o")
    shell.fine(*train, "whole.json")
    make = random_forest._Job.__call__

    def interrupted(self: Any, number: int) -> Any:
        if number == 3:
            raise KeyboardInterrupt
        return make(self, number)

    with monkeypatch.context() as patched:
        patched.setattr(random_forest._Job, "__call__", interrupted)
        result = shell(*train, "part.json")
    assert result.code == 130
    assert "3 of 8 trees are finished and kept: in part.json; continue with --resume part.json" in result.err
    assert "3 trees of 8" in shell.fine("show", "part.json").out
    shell.fine(*train, "again.json", "--resume", "part.json", "--jobs", "2")
    assert shell.read("again.json") == shell.read("whole.json")


def test_a_time_limit_is_reported(shell: Shell) -> None:
    result = shell.fine("train", "weather.csv", "-t", "play", "-a", "bagging", "--trees", "50", "--time-limit", "1e-9")
    assert "the time limit was reached after 1 of 50 trees" in result.err


def test_one_row_has_no_out_of_bag_estimate(shell: Shell) -> None:
    shell.write("one.csv", "a,y\n1,x\n")
    result = shell.fine("train", "one.csv", "-t", "y", "-a", "forest", "--trees", "2")
    assert "no case was out of bag" in result.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("-a", "forest", "--trees", "0"), "trees must be"),
        (("-a", "c45", "--trees", "5"), "--trees is not an option of c45"),
        (("-a", "adaboost", "--max-features", "2"), "--max-features is not an option of adaboost, only of forest"),
        (("-a", "forest", "--max-features", "some"), "max_features must be"),
        (("-a", "forest", "-m", "3"), "--min-objects is not an option of cart"),
        (("-a", "forest", "--base", "chaid"), "CHAID draws no attributes"),
        (("-a", "c45", "--time-limit", "2"), "--time-limit is for forest"),
        (("-a", "forest", "--time-limit", "0"), "time_limit must be"),
        (("-a", "forest", "--resume", "nothing.json"), "there is no such file"),
        (("-a", "forest", "--resume", "tree.json"), "does not hold an ensemble"),
        (("-a", "forest", "--resume", "other.json"), "trained with other options"),
    ],
)
def test_wrong_calls_report_what_is_wrong(shell: Shell, options: tuple[str, ...], words: str) -> None:
    if "tree.json" in options:
        shell.fine("train", "weather.csv", "-t", "play", "--folds", "0", "-o", "tree.json")
    if "other.json" in options:
        shell.fine("train", "weather.csv", "-t", "play", "-a", "bagging", "--trees", "1", "-o", "other.json")
    result = shell("train", "weather.csv", "-t", "play", *options)
    assert result.code in (2, 3)
    assert words in result.err


def test_forests_are_estimated_and_compared_as_trees_are(shell: Shell) -> None:
    estimate = shell.fine("cv", "weather.csv", "-t", "play", "-a", "forest", "--trees", "5", "--folds", "3").out
    assert "Random forest" in estimate
    assert (
        "needs a single tree" in shell("cv", "weather.csv", "-t", "play", "-a", "forest", "--curve", "complexity").error
    )


def test_predicting_and_evaluating_with_a_forest(shell: Shell) -> None:
    shell.fine("train", "weather.csv", "-t", "play", "-a", "forest", "--trees", "9", "--folds", "0", "-o", "m.json")
    lines = shell.fine("predict", "m.json", "weather.csv", "--proba").out.splitlines()
    assert lines[0].startswith("predicted,p(")
    assert len(lines) == 15
    assert shell.fine("evaluate", "m.json", "weather.csv").out
    assert "holds a forest, but this verb needs a tree" in shell("prune", "m.json", "--method", "mdl").err
