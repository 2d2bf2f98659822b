"""treewright data: what the columns are taken to be, and how to override it."""

from __future__ import annotations

import json

import pytest

from cli.shell import LINE, WEATHER, Shell


def line_of(text: str, column: str) -> list[str]:
    """Return the words of the line about a column."""
    return next(line.split() for line in text.splitlines() if line.startswith(column))


def test_each_column_stands_with_its_kind_and_values(shell: Shell) -> None:
    shell.write("t.csv", "age,town,id,play\n31,Bonn,007,yes\n?,Köln,012,no\n45.5,,013,yes\n")
    printed = shell.fine("data", "t.csv", "-t", "play").out
    assert printed.startswith("t.csv   3 rows, 4 columns\n")
    assert line_of(printed, "age") == ["age", "numeric", "1", "31", "to", "45.5"]
    assert line_of(printed, "town") == ["town", "nominal", "1", "Bonn,", "Köln"]
    assert line_of(printed, "id") == ["id", "nominal", "0", "007,", "012,", "013"]
    assert line_of(printed, "play") == ["play", "nominal,", "target", "0", "no,", "yes"]


def test_without_a_target_it_explains_how_to_name_one(shell: Shell) -> None:
    assert shell.fine("data", "weather.csv").out.endswith("No target yet: train with --target COL.\n")


def test_roles_and_orders_are_shown(shell: Shell) -> None:
    shell.write("t.csv", "size,w,x,play\nlow,1,2,yes\nhigh,2,3,no\n")
    options = ("--ordinal", "size=low<high", "--weight", "w", "--ignore", "x", "--nominal", "play")
    printed = shell.fine("data", "t.csv", *options).out
    assert line_of(printed, "size") == ["size", "ordinal", "0", "low", "<", "high"]
    assert line_of(printed, "w") == ["w", "numeric,", "weight", "0", "1", "to", "2"]
    assert line_of(printed, "x") == ["x", "numeric,", "ignored", "0", "2", "to", "3"]


def test_many_values_are_cut_and_empty_columns_reported(shell: Shell) -> None:
    shell.write("t.csv", "c,none,n\n" + "".join(f"v{i:02},,\n" for i in range(9)))
    printed = shell.fine("data", "t.csv", "--numeric", "n").out
    assert "v00, v01, v02, v03, v04, v05 and 3 more" in printed
    assert line_of(printed, "none") == ["none", "nominal", "9"]
    assert line_of(printed, "n ") == ["n", "numeric", "9", "none"]


def test_saved_schema_makes_the_same_model(shell: Shell) -> None:
    result = shell.fine("data", "weather.csv", "-t", "play", "--save", "weather.schema.json")
    assert result.err == "schema written to weather.schema.json\n"
    assert json.loads(shell.read("weather.schema.json"))["target"] == "play"
    shell.fine("train", "weather.csv", "-t", "play", "-o", "direct.json")
    shell.fine("train", "weather.csv", "--schema", "weather.schema.json", "-o", "through.json")
    assert shell.read("direct.json") == shell.read("through.json")


def test_edited_schema_is_obeyed(shell: Shell) -> None:
    shell.fine("data", "weather.csv", "-t", "play", "--save", "s.json")
    schema = json.loads(shell.read("s.json"))
    schema["ignored"] = ["outlook"]
    schema["columns"][1] |= {"kind": "ordinal", "values": ["cool", "mild", "hot"]}
    shell.write("s.json", json.dumps(schema))
    printed = shell.fine("train", "weather.csv", "--schema", "s.json", "--no-save", "--folds", "0").out
    assert "2 nominal + 1 ordinal attributes" in printed
    listed = shell.fine("data", "weather.csv", "--schema", "s.json").out
    assert line_of(listed, "temperature")[3:] == ["cool", "<", "mild", "<", "hot"]


def test_target_can_replace_that_of_the_schema(shell: Shell) -> None:
    shell.fine("data", "weather.csv", "-t", "play", "--save", "s.json")
    printed = shell.fine("data", "weather.csv", "--schema", "s.json", "-t", "wind").out
    assert line_of(printed, "wind")[1:3] == ["nominal,", "target"]


def test_json_holds_the_schema_and_nothing_else(shell: Shell) -> None:
    document = shell.fine("data", "weather.csv", "-t", "play", "--json").json
    assert (document["rows"], document["target"], document["task"]) == (14, "play", "classification")
    assert document["columns"][3] == {"name": "wind", "kind": "nominal", "values": ["strong", "weak"]}


def test_samples_are_listed_and_each_can_be_read(shell: Shell) -> None:
    names = [entry["name"] for entry in shell.fine("data", "--samples", "--json").json]
    assert "sample:play-tennis" in names
    listing = shell.fine("data", "--samples").out
    for name in names:
        assert name in listing
        assert "target" in shell.fine("data", name).out


def test_unknown_sample_lists_what_there_is(shell: Shell) -> None:
    result = shell("data", "sample:play-tenis")
    assert result.code == 2
    assert "did you mean 'play-tennis'?" in result.error


def test_hostile_names_are_shown_escaped(shell: Shell) -> None:
    shell.write("t.csv", '"a\nb","\x1b[31mred",\u202eevil\n1,2,3\n')
    printed = shell.fine("data", "t.csv").out
    assert "a\\nb" in printed
    assert "\\x1b[31mred" in printed
    assert "\\u202eevil" in printed
    assert "\x1b" not in printed


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--nominal", "wnd"), 3, "did you mean 'wind'?"),
        (("--ordinal", "temperature=cool<hot"), 3, "value 'mild' is not in the order given: cool < hot"),
        (("--ordinal", "temperature"), 2, "'temperature' is not of the form COL=a<b<c"),
        (("--numeric", "wind"), 3, "line 2, column 'wind': 'weak' is not a number"),
        (("--nominal", "wind", "--ignore", "wind"), 2, "given more than one kind: 'wind'"),
        (("--schema", "none.json"), 3, "none.json: there is no such file"),
        (("--schema", "weather.csv"), 3, "weather.csv: not a schema file"),
        (("--save", "nowhere/s.json"), 1, "nowhere/s.json: there is no folder 'nowhere'"),
        (("--save", "weather.csv"), 1, "would be replaced"),
    ],
)
def test_wrong_corrections_are_reported_in_one_line(
    shell: Shell, options: tuple[str, ...], code: int, message: str
) -> None:
    result = shell("data", "weather.csv", *options)
    assert result.code == code
    assert message in result.error
    assert shell.read("weather.csv") == WEATHER


def test_schema_and_single_corrections_do_not_mix(shell: Shell) -> None:
    shell.fine("data", "weather.csv", "--save", "s.json")
    result = shell("data", "weather.csv", "--schema", "s.json", "--nominal", "wind")
    assert result.code == 2
    assert "--schema describes all" in result.error


def test_schema_of_another_table_names_the_absent_columns(shell: Shell) -> None:
    shell.fine("data", "weather.csv", "--save", "s.json")
    shell.write("line.csv", LINE)
    result = shell("data", "line.csv", "--schema", "s.json")
    assert result.code == 3
    assert "'outlook'" in result.error


def test_file_must_be_named(shell: Shell) -> None:
    result = shell("data")
    assert result.code == 2
    assert "--samples" in result.error
