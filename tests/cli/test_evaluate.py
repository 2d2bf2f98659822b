"""treewright evaluate: the honest report on predictions."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cli.shell import LINE, WEATHER, Shell

HEADER = WEATHER.splitlines()[0]


def test_report_stands_on_standard_output(shell: Shell) -> None:
    shell.write("new.csv", WEATHER.replace("rain,mild,high,strong,no", "rain,mild,high,strong,yes"))
    result = shell.fine("evaluate", shell.model(), "new.csv")
    assert result.out.startswith(
        'Accuracy 92.9 % on 14 cases (68.5 % to 98.7 %); always predicting "yes" gives 71.4 %.\n'
    )
    for part in ("Confusion", "Classes", "(macro)", "! Only 14 cases: fewer than 30 are too few"):
        assert part in result.out
    assert result.err == ""


def test_the_training_cases_are_recognised(shell: Shell) -> None:
    result = shell.fine("evaluate", shell.model(), "training.csv")
    assert result.out.startswith("Accuracy 100 %")
    assert (
        result.err == "note: the model seems to have been trained on these cases; results on new cases will be worse\n"
    )


def test_json_is_all_that_is_on_standard_output(shell: Shell) -> None:
    document = shell.fine("evaluate", shell.model(), "weather.csv", "--json", "--plot-kind", "roc").json
    assert (document["kind"], document["accuracy"], document["target"], document["plot"]) == (
        "classification",
        1,
        "play",
        None,
    )
    assert document["confusion"] == [[5, 0], [0, 9]]
    assert document["probabilities"]["auc"] == 1


def test_costs_are_counted_and_the_models_own_are_the_default(shell: Shell) -> None:
    document = shell.fine("evaluate", shell.model(), "weather.csv", "--json", "--cost", "no,yes=5").json
    assert document["cost"]["costs"] == [[0, 5], [1, 0]]
    assert document["cost"]["best"]["cost"] == 0
    own = shell.fine("evaluate", shell.model("--cost", "yes,no=3"), "weather.csv", "--json").json
    assert own["cost"]["costs"] == [[0, 1], [3, 0]]


@pytest.mark.parametrize("name", ["roc.png", "roc.svg", "roc.PDF"])
def test_figure_is_written(shell: Shell, name: str) -> None:
    result = shell.fine("evaluate", shell.model(), "weather.csv", "--plot", name)
    assert result.err == f"figure written to {name}\n"
    assert (shell.folder / name).stat().st_size > 1000


@pytest.mark.parametrize("kind", ["roc", "pr", "calibration", "confusion"])
def test_every_kind_is_drawn_as_figure_and_as_text(shell: Shell, kind: str) -> None:
    model = shell.model()
    plain = shell.fine("evaluate", model, "weather.csv").out
    shell.fine("evaluate", model, "weather.csv", "--plot", "figure.svg", "--plot-kind", kind)
    assert (shell.folder / "figure.svg").stat().st_size > 1000
    text = shell.fine("evaluate", model, "weather.csv", "--plot-kind", kind).out
    assert text.startswith(plain)
    assert len(text) > len(plain) + 20


def test_numbers_are_reported(shell: Shell) -> None:
    model = shell.model("-a", "cart", data=LINE, target="y")
    shell.write("line.csv", LINE)
    evaluation = shell.fine("evaluate", model, "line.csv")
    assert "RMSE" in evaluation.out
    assert shell.fine("evaluate", model, "line.csv", "--json").json["r2"]["value"] > 0.5
    for options in (("--cost", "a,b=1"), ("--plot", "x.png"), ("--plot-kind", "roc")):
        result = shell(*("evaluate", model, "line.csv", *options))
        assert result.code == 2
        assert "predicts numbers" in result.error
    assert "x.png" not in shell.files()


def test_rules_are_reported_without_probabilities(shell: Shell) -> None:
    model = shell.model("-a", "rules")
    document = shell.fine("evaluate", model, "weather.csv", "--json").json
    assert document["probabilities"] is None
    result = shell("evaluate", model, "weather.csv", "--plot", "roc.png")
    assert result.code == 2
    assert "needs class probabilities" in result.error
    assert "roc.png" not in shell.files()
    shell.fine("evaluate", model, "weather.csv", "--plot", "confusion.png", "--plot-kind", "confusion")


def test_unknown_classes_and_values_are_reported_and_counted(shell: Shell) -> None:
    shell.write("new.csv", f"{HEADER}\nsunny,hot,high,weak,maybe\nsnow,hot,high,weak,yes\nrain,mild,high,weak,yes\n")
    result = shell.fine("evaluate", shell.model(), "new.csv", "--json")
    assert result.json["classes"] == ["no", "yes", "maybe"]
    assert "note: the model never saw the class 'maybe': all mistakes" in result.err
    assert "values never seen in training count as missing: 1 in 'outlook'" in result.err
    shell.fine("evaluate", "model.json", "new.csv", "--cost", "maybe,no=3")


def test_several_unknown_classes_are_reported_in_the_plural(shell: Shell) -> None:
    shell.write("new.csv", f"{HEADER}\nsunny,hot,high,weak,maybe\nrain,hot,high,weak,never\nrain,mild,high,weak,yes\n")
    result = shell.fine("evaluate", shell.model(), "new.csv")
    assert "the model never saw the 2 classes 'maybe', 'never'" in result.err


@pytest.mark.parametrize("options", [("--plot", "roc.png"), ("--plot-kind", "roc")])
def test_cases_of_one_class_have_a_report_but_no_roc_curve(shell: Shell, options: tuple[str, ...]) -> None:
    shell.write("one.csv", f"{HEADER}\nsunny,hot,high,weak,yes\nrain,hot,high,weak,yes\n")
    result = shell("evaluate", shell.model(), "one.csv", *options)
    assert result.code == 3
    assert "No ROC curve" in result.out
    assert "AUC 0.5" not in result.out
    assert "nothing was drawn: a figure 'roc' needs cases of two classes" in result.err
    assert "roc.png" not in shell.files()
    plain = shell("evaluate", "model.json", "one.csv", "--json", "--plot", "roc.png")
    assert plain.json["plot"] is None
    assert "nothing was drawn" in plain.err


def test_weights_count_where_the_file_has_them(shell: Shell) -> None:
    rows = WEATHER.splitlines()
    weighted = "\n".join([f"{rows[0]},n", *(f"{row},2" for row in rows[1:])])
    model = shell.model("--weight", "n", data=weighted)
    document = shell.fine("evaluate", model, "training.csv", "--json").json
    assert document["confusion"] == [[10, 0], [0, 18]]
    without = shell.fine("evaluate", model, "weather.csv", "--json")
    assert without.json["confusion"] == [[5, 0], [0, 9]]
    assert "note: there is no weight column 'n' here: every case has weight 1" in without.err


@pytest.mark.parametrize(
    ("content", "code", "message"),
    [
        ("outlook,temperature,humidity,wind\nsunny,hot,high,weak\n", 3, "there is no column 'play'"),
        (f"{HEADER}\n", 3, "no rows"),
        (f"{HEADER}\nsunny,hot,high,weak,\n", 3, "new.csv, line 2, column 'play': the target is missing here"),
        ("outlook,play\nsunny,yes\n", 3, "without the columns"),
    ],
)
def test_bad_data_are_one_line_and_code_3(shell: Shell, content: str, code: int, message: str) -> None:
    model = shell.model()
    shell.write("new.csv", content)
    result = shell("evaluate", model, "new.csv", "--plot", "roc.png")
    assert result.code == code
    assert message in result.error
    assert "roc.png" not in shell.files()


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--cost", "no-yes"), 2, "is not of the form ACTUAL,PREDICTED=COST"),
        (("--cost", "no,yes=dear"), 2, "is not of the form ACTUAL,PREDICTED=COST"),
        (("--cost", "no,perhaps=2"), 2, "costs are for pairs"),
        (("--cost", "no,yes=-2"), 2, "costs must be numbers from 0"),
        (("--plot", "roc.gif"), 2, "does not end in .png"),
        (("--plot", "nowhere/roc.png"), 1, "there is no folder"),
        (("--plot-kind", "rok"), 2, "rok"),
    ],
)
def test_wrong_calls_are_one_line(shell: Shell, options: tuple[str, ...], code: int, message: str) -> None:
    result = shell("evaluate", shell.model(), "weather.csv", *options)
    assert result.code == code
    assert message in result.error


def test_missing_files_are_bad_data(shell: Shell) -> None:
    assert shell("evaluate", "modle.json", "weather.csv").code == 3
    assert shell("evaluate", shell.model(), "wether.csv").code == 3


def test_without_matplotlib_the_install_line_is_given_before_the_work(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = shell.model()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = shell("evaluate", model, "weather.csv", "--plot", "roc.png")
    assert result.code == 1
    assert 'pip install "treewright[plots]"' in result.error
    assert shell.fine("evaluate", model, "weather.csv", "--plot-kind", "roc").out


def test_figure_does_not_replace_an_input(shell: Shell) -> None:
    model = shell.model()
    Path("weather.svg").write_text(WEATHER, encoding="utf-8")
    result = shell("evaluate", model, "weather.svg", "--format", "csv", "--plot", "weather.svg")
    assert result.code == 1
    assert shell.read("weather.svg") == WEATHER
