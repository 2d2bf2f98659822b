"""Options that several verbs share."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.shell import WEATHER, Shell, in_process_of_its_own

FOUR = "outlook,temperature,humidity,wind"


@pytest.mark.parametrize(("given", "delimiter"), [(r"\t", "\t"), ("\t", "\t"), ("|", "|"), (":", ":")])
def test_delimiter_can_be_given_also_as_backslash_t(shell: Shell, given: str, delimiter: str) -> None:
    shell.write("t.txt", WEATHER.replace(",", delimiter))
    assert "4 nominal attributes" in shell.fine("train", "t.txt", "-t", "play", "--delimiter", given, "--no-save").out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--delimiter", ";;"), "delimiter must be one character"),
        (("--format", "cvs"), "did you mean 'csv'?"),
        (("--encoding", "latin-99"), "there is no encoding 'latin-99'"),
    ],
)
def test_unknown_ways_of_reading_are_wrong_calls(shell: Shell, options: tuple[str, ...], message: str) -> None:
    result = shell("train", "weather.csv", "-t", "play", *options)
    assert result.code == 2
    assert message in result.error


@pytest.mark.parametrize(("format_", "message"), [("parquet", "not a Parquet file"), ("arff", "expected @relation")])
def test_format_that_does_not_fit_is_bad_data(shell: Shell, format_: str, message: str) -> None:
    result = shell("train", "weather.csv", "-t", "play", "--format", format_)
    assert result.code == 3
    assert message in result.error


def test_format_overrides_the_name(shell: Shell) -> None:
    shell.write("weather.arff", WEATHER)
    assert (
        "4 nominal attributes" in shell.fine("train", "weather.arff", "-t", "play", "--format", "csv", "--no-save").out
    )


def test_further_markers_mean_missing_in_training_and_in_prediction(shell: Shell) -> None:
    shell.write("t.csv", WEATHER.replace("strong", "n/a"))
    shell.fine("train", "t.csv", "-t", "play", "--missing", "n/a", "-o", "m.json", "--folds", "0")
    assert "n/a" not in shell.fine("show", "m.json").out
    shell.write("cases.csv", f"{FOUR}\nrain,hot,high,n/a\n")
    assert shell.fine("predict", "m.json", "cases.csv").err == ""


def test_order_may_have_spaces_and_columns_an_equals_sign_after_the_first(shell: Shell) -> None:
    shell.write("t.csv", "size,play\nbig one,yes\nsmall,no\n")
    document = shell.fine("data", "t.csv", "--ordinal", "size = small < big one", "--json").json
    assert document["columns"][0] == {"name": "size", "kind": "ordinal", "values": ["small", "big one"]}


@pytest.mark.parametrize("text", ["size", "size=", "size=a", "size=a<", "size=<b", "=a<b"])
def test_order_needs_a_column_and_two_values(shell: Shell, text: str) -> None:
    result = shell("data", "weather.csv", "--ordinal", text)
    assert result.code == 2
    assert f"{text!r} is not of the form COL=a<b<c" in result.error


def test_standard_input_is_a_file_too(tmp_path: Path) -> None:
    trained = in_process_of_its_own(tmp_path, "train", "-", "-t", "play", stdin=WEATHER.encode())
    assert trained.returncode == 0
    assert trained.stdout.startswith(b"<standard input>   14 rows")
    assert [path.name for path in tmp_path.iterdir()] == ["stdin.model.json"]
    case = f"{FOUR}\novercast,hot,high,weak\n".encode()
    result = in_process_of_its_own(tmp_path, "predict", "stdin.model.json", "-", stdin=case)
    assert result.stdout.split() == [b"predicted", b"yes"]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("tr", "plain,train"),
        ("train --al", "plain,--algorithm"),
        ("train -a c", "plain,cart"),
        ("train wea", "file,wea"),
        ("predict m.json wea", "file,wea"),
        ("train --schema s", "file,s"),
    ],
)
def test_shell_completes_verbs_options_choices_and_files(tmp_path: Path, words: str, offered: str) -> None:
    line, index = f"treewright {words}", str(len(words.split()))
    result = in_process_of_its_own(tmp_path, _TREEWRIGHT_COMPLETE="bash_complete", COMP_WORDS=line, COMP_CWORD=index)
    assert offered in result.stdout.decode().split()


def test_shell_gets_its_completion_script(tmp_path: Path) -> None:
    result = in_process_of_its_own(tmp_path, _TREEWRIGHT_COMPLETE="zsh_source")
    assert result.returncode == 0
    assert b"#compdef treewright" in result.stdout
