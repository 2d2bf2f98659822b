"""Folds that are given: in a file, in a column, and wrongly."""

from __future__ import annotations

import pytest

from cli.shell import WEATHER, Shell
from treewright.cli.options import folds_from_file
from treewright.errors import DataError

ROWS = WEATHER.splitlines()
ALTERNATE = "".join(f"{row % 2}\n" for row in range(14))
WITH_FOLD = "\n".join([f"{ROWS[0]},part", *(f"{row},{'ab'[i % 2]}" for i, row in enumerate(ROWS[1:]))]) + "\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1\n0\n2\n", [1, 0, 2]),
        ("fold\nten\nnine\nten\n", [1, 0, 1]),
        ("10\n9\n10\n", [1, 0, 1]),
        ("row,fold\n2,0\n0,1\n1,1\n", [1, 1, 0]),
        ("Fold, Row\n7,1\n7,2\n8,3\n\n", [0, 0, 1]),
    ],
)
def test_forms_of_a_folds_file(shell: Shell, text: str, expected: list[int]) -> None:
    assert folds_from_file(shell.write("folds.csv", text), 3).tolist() == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "gives a fold to 0 rows, and the data have 3"),
        ("1\n2\n", "gives a fold to 2 rows, and the data have 3"),
        ("row,fold\n0,1\n1,1\n3,2\n", "3 rows (from 0 to 3), and the data have 3"),
        ("row,fold\n0,1\n0,1\n1,2\n", "line 3: row 0 has two folds"),
        ("row,fold\nx,1\n0,1\n1,2\n", "line 2: 'x' is no number of a row"),
        ("row,fold\n0,\n1,1\n2,2\n", "line 2: has 2 cells in a line, and none empty"),
        ("0,1\n1,1\n2,2\n", "name the one of the folds 'fold'"),
    ],
)
def test_wrong_folds_files(shell: Shell, text: str, message: str) -> None:
    path = shell.write("folds.csv", text)
    with pytest.raises(DataError) as caught:
        folds_from_file(path, 3)
    assert message in str(caught.value)


def test_a_cell_beyond_all_measure_is_an_error(shell: Shell) -> None:
    path = shell.write("folds.csv", '"' + "x" * 200_000 + '"\n')
    with pytest.raises(DataError, match="no table of folds"):
        folds_from_file(path, 1)


def test_a_file_that_is_not_there(shell: Shell) -> None:
    assert shell("cv", "weather.csv", "-t", "play", "--folds-file", "folds.csv").code == 3


def test_file_and_column_give_the_same_folds(shell: Shell) -> None:
    shell.write("folds.csv", ALTERNATE)
    shell.write("both.csv", WITH_FOLD)
    by_file = shell.fine("cv", "weather.csv", "-t", "play", "--folds-file", "folds.csv", "--json").json
    by_column = shell.fine("cv", "both.csv", "-t", "play", "--fold-column", "part", "--json").json
    for one in (by_file, by_column):
        for fold in one["folds"]:
            del fold["seconds"]
    assert by_file["folds"] == by_column["folds"]
    assert by_file["way"] == "2 given folds"
    compared = [
        shell.fine("compare", "weather.csv", "-t", "play", "--folds-file", "folds.csv", "--json").json,
        shell.fine("compare", "both.csv", "-t", "play", "--fold-column", "part", "--json").json,
    ]
    scores = [{one["name"]: one["scores"] for one in result["learners"]} for result in compared]
    assert scores[0] == scores[1]
    assert compared[0]["folds"] == 2


def test_numbers_can_be_folds(shell: Shell) -> None:
    shell.write("both.csv", WITH_FOLD.replace(",a\n", ",1\n").replace(",b\n", ",2\n"))
    assert shell.fine("cv", "both.csv", "-t", "play", "--fold-column", "part", "--json").json["way"] == "2 given folds"


def test_a_case_without_a_fold_is_an_error(shell: Shell) -> None:
    shell.write("both.csv", WITH_FOLD.replace(",a\n", ",\n", 1))
    message = shell("compare", "both.csv", "-t", "play", "--fold-column", "part").error
    assert message == "both.csv, column 'part': row 1 has no fold"
    assert "did you mean 'part'" in shell("cv", "both.csv", "-t", "play", "--fold-column", "prat").error
