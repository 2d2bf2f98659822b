from __future__ import annotations

import sys

import pytest

from cli.shell import LINE, WEATHER, Shell
from treewright.fitting.algorithms import algorithm_names


def test_one_table(shell: Shell) -> None:
    result = shell.fine("compare", "weather.csv", "-t", "play", "-a", "id3,c45,r8", "--folds", "7")
    lines = result.out.splitlines()
    assert lines[0] == "weather.csv   14 rows, 4 nominal attributes, target play: no 5, yes 9"
    assert lines[1].startswith("learner  accuracy  95 % interval  errors")
    assert {line.split()[0] for line in lines[2:5]} == {"id3", "c45", "r8"}
    assert 'Always predicting "yes" gives 64.3 %' in result.out
    assert "14 cases, 7 folds" in result.out
    assert result.err == ""


def test_json(shell: Shell) -> None:
    plain = shell.fine(
        "compare",
        "weather.csv",
        "-t",
        "play",
        "-a",
        "j48, r8",
        "--folds",
        "5",
        "--repeats",
        "2",
        "--seed",
        "1",
        "--json",
    ).json
    assert (plain["cases"], plain["folds"], plain["repeats"], plain["measure"]) == (14, 5, 2, "accuracy")
    assert {one["name"] for one in plain["learners"]} == {"j48", "r8"}
    assert len(plain["pairs"]) == 1


def test_all_algorithms(shell: Shell) -> None:
    names = algorithm_names()
    plain = shell.fine("compare", "weather.csv", "-t", "play", "-a", ",".join(names), "--folds", "3", "--json").json
    assert {one["name"] for one in plain["learners"]} == set(names)
    assert next(one for one in plain["learners"] if one["name"] == "rules")["size_of"] == "rules"


def test_several_tables(shell: Shell) -> None:
    shell.write("again.csv", WEATHER.replace("yes", "ja"))
    result = shell.fine(
        "compare", "weather.csv", "again.csv", "-t", "play", "-a", "id3,c45,cart", "--plot", "cd.png", "--folds", "5"
    )
    assert "average rank" in result.out
    assert "critical difference" in result.out
    assert result.out.endswith("\nDiagram written to cd.png\n")
    assert (shell.folder / "cd.png").read_bytes().startswith(b"\x89PNG")


def test_all_files_are_read_before_the_work_begins(shell: Shell) -> None:
    result = shell("compare", "weather.csv", "weathr.csv", "-t", "play")
    assert result.code == 3
    assert "weathr.csv" in result.error  # and nothing was printed


def test_classes_and_numbers(shell: Shell) -> None:
    shell.write("line.csv", LINE)
    shell.write("weather.csv", WEATHER.replace("play", "y"))
    plain = shell.fine("compare", "weather.csv", "line.csv", "-t", "y", "--folds", "4", "--json").json
    assert set(plain["over_tables"]["learners"]) == {"cart", "chaid"}
    assert [one["measure"] for one in plain["tables"].values()] == ["accuracy", "rmse"]


def test_samples_bring_their_target(shell: Shell) -> None:
    plain = shell.fine("compare", "sample:play-tennis", "sample:restaurant", "-a", "id3,c45", "--json").json
    assert set(plain["tables"]) == {"play-tennis", "restaurant"}
    assert plain["over_tables"]["friedman"]["n"] == 2
    assert plain["plot"] is None


def test_tables_of_the_same_name(shell: Shell) -> None:
    (shell.folder / "other").mkdir()
    shell.write("other/weather.csv", WEATHER)
    plain = shell.fine("compare", "weather.csv", "other/weather.csv", "-t", "play", "--folds", "3", "--json").json
    assert set(plain["tables"]) == {"weather.csv", "other/weather.csv"}
    assert shell("compare", "weather.csv", "weather.csv", "-t", "play").error.startswith("weather.csv is named twice")


def test_tables_of_the_same_name_are_distinguished_by_their_folders(shell: Shell) -> None:
    for folder in ("one", "two"):
        (shell.folder / folder).mkdir()
        shell.write(f"{folder}/data.csv", WEATHER)
    result = shell.fine("compare", "one/data.csv", "two/data.csv", "-t", "play", "--folds", "3", "-a", "id3,c45")
    lines = result.out.splitlines()
    assert {line.split()[0] for line in lines if "14 rows" in line} == {"one", "two"}
    assert sum(line.startswith(("one ", "two ")) for line in lines) == 4


def test_a_target_for_each_file(shell: Shell) -> None:
    shell.write("other.csv", WEATHER.replace("play", "game"))
    few = ("--folds", "3", "-a", "id3,c45", "--json")
    by_name = shell.fine("compare", "weather.csv", "other.csv", "-t", "play", "-t", "game", *few).json
    by_position = shell.fine("compare", "weather.csv", "other.csv", "--target-last", *few).json
    assert by_name["over_tables"]["scores"] == by_position["over_tables"]["scores"]
    wrong = shell("compare", "weather.csv", "other.csv", "weather.csv.gz", "-t", "play", "-t", "game")
    assert wrong.error.startswith("--target is given 2 times for 3 FILEs: give it once, or once for each FILE")
    assert "give one of them" in shell("compare", "weather.csv", "-t", "play", "--target-last").error
    assert "name its target" in shell("compare", "-", "--target-last").error


def test_the_last_column_is_one_that_is_left(shell: Shell) -> None:
    few = ("--folds", "3", "-a", "id3,c45", "--json")
    plain = shell.fine("compare", "weather.csv", "--target-last", "--ignore", "play", *few).json
    assert plain["baseline_class"] == "weak"
    shell.write("one.csv", "a\nx\ny\n")
    assert "no column to predict" in shell("compare", "one.csv", "--target-last", "--ignore", "a").error


def test_a_schema_for_each_file(shell: Shell) -> None:
    shell.write("other.csv", WEATHER.replace("play", "game"))
    shell.fine("data", "weather.csv", "-t", "play", "--save", "weather.json")
    shell.fine("data", "other.csv", "-t", "game", "--save", "other.json")
    both = ("--schema", "weather.json", "--schema", "other.json")
    plain = shell.fine("compare", "weather.csv", "other.csv", *both, "--folds", "3", "--json").json
    assert set(plain["tables"]) == {"weather", "other"}
    one = shell.fine("compare", "weather.csv", "--schema", "weather.json", "--folds", "3", "--json").json
    assert one["cases"] == 14
    assert "--schema is given 2 times for 1 FILE" in shell("compare", "weather.csv", *both).error
    assert (
        "cannot be combined with"
        in shell("compare", "weather.csv", "--schema", "weather.json", "--nominal", "wind").error
    )


def test_folds_are_given_or_dealt_out(shell: Shell) -> None:
    shell.write("folds.csv", "".join(f"{row % 3}\n" for row in range(14)))
    call = ("compare", "weather.csv", "-t", "play", "--folds-file", "folds.csv")
    assert shell.fine(*call, "--json").json["folds"] == 3
    for more in (("--folds", "3"), ("--repeats", "2"), ("--fold-column", "wind")):
        assert "are alternative ways to split the cases" in shell(*call, *more).error
    wrong = shell(*call, "--folds-file", "folds.csv").error
    assert wrong.startswith("--folds-file is given 2 times for 1 FILE: give it once for each FILE")


def test_processes_give_the_same_comparison(shell: Shell) -> None:
    call = ("compare", "weather.csv", "-t", "play", "--folds", "3", "-a", "id3,c45", "--json")
    alone, shared = (shell.fine(*call, "--jobs", jobs).json for jobs in ("1", "2"))
    for result in (alone, shared):
        for one in result["learners"]:
            del one["seconds"]
    assert alone == shared


def test_a_terminal_without_boxes_gets_plain_ascii(shell: Shell) -> None:
    from cli.shell import in_process_of_its_own

    call = ("compare", "sample:play-tennis", "sample:restaurant", "-a", "id3,c45", "--folds", "3")
    plain = in_process_of_its_own(shell.folder, *call, PYTHONIOENCODING="ascii").stdout.decode("ascii")
    assert "\\u" not in plain
    assert "+-----" in plain
    assert "├" in in_process_of_its_own(shell.folder, *call).stdout.decode()


def test_numbers(shell: Shell) -> None:
    shell.write("line.csv", LINE)
    plain = shell.fine("compare", "line.csv", "-t", "y", "--folds", "4", "--json").json
    assert plain["measure"] == "rmse"
    assert {one["name"] for one in plain["learners"]} == {"cart", "chaid"}
    wrong = shell("compare", "line.csv", "-t", "y", "-a", "cart,c45")
    assert wrong.code == 2
    assert "'y' is numeric, but c45 predicts classes: compare cart and chaid" in wrong.error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-a", "c45,cartt"), "there is no algorithm 'cartt'; did you mean 'cart'?"),
        (("-a", "c45,zzzzz"), "there is no algorithm 'zzzzz'; there are c45, id3"),
        (("-a", "c45"), "name two or more"),
        (("-a", "c45,C45"), "c45 is named twice"),
        (("--folds", "15"), "15 is more than the 14 rows of weather.csv"),
        (("--plot", "cd.png"), "there is one"),
    ],
)
def test_wrong_calls(shell: Shell, arguments: tuple[str, ...], message: str) -> None:
    result = shell("compare", "weather.csv", "-t", "play", *arguments)
    assert result.code == 2
    assert message in result.error


def test_wrong_plots(shell: Shell) -> None:
    call = ("compare", "weather.csv", "sample:play-tennis")
    assert "a figure is saved as .png, .svg, .pdf" in shell(*call, "--plot", "cd.gif").error
    assert "there is no folder" in shell(*call, "--plot", "nowhere/cd.png").error


def test_no_matplotlib(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = shell("compare", "sample:restaurant", "sample:play-tennis", "--plot", "cd.png")
    assert result.error == 'matplotlib is needed to draw a figure: pip install "treewright[plots]"'


def test_wrong_data(shell: Shell) -> None:
    assert "name the column to predict" in shell("compare", "weather.csv").error
    assert shell("compare", "weathr.csv", "-t", "play").code == 3
    shell.write("one.csv", "a,b\nx,y\n")
    assert shell("compare", "one.csv", "-t", "b").error == "one.csv: there is only one row; folds need at least two"
    shell.write("none.csv", "a,b\n")
    assert shell("compare", "none.csv", "-t", "b").code == 3


def test_one_class(shell: Shell) -> None:
    shell.write("same.csv", "a,b\nx,1\ny,1\nx,1\n")
    result = shell.fine("compare", "same.csv", "-t", "b", "--nominal", "b")
    assert "All learners have the same accuracy, 100.0 %." in result.out
