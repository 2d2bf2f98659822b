"""treewright predict: new cases in, predictions out."""

from __future__ import annotations

import csv
import io
import json

import pytest

from cli.shell import LINE, WEATHER, Shell

PREDICTED = [row.rsplit(",", 1)[1] for row in WEATHER.splitlines()[1:]]


def rows_of(text: str) -> list[list[str]]:
    """Read the CSV that was printed."""
    return list(csv.reader(io.StringIO(text)))


def test_predictions_stand_on_standard_output_one_to_a_row(shell: Shell) -> None:
    result = shell.fine("predict", shell.model(), "weather.csv")
    assert result.out.splitlines() == ["predicted", *PREDICTED]
    assert result.err == "14 of 14 as in column 'play': 100 %\n"


def test_json_is_all_that_is_on_standard_output(shell: Shell) -> None:
    result = shell.fine("predict", shell.model(), "weather.csv", "--json", "--proba")
    assert [case["predicted"] for case in result.json] == PREDICTED
    assert all(case["p(no)"] + case["p(yes)"] == pytest.approx(1) for case in result.json)


@pytest.mark.parametrize("option", [(), ("--json",)])
def test_output_goes_to_the_file_and_nothing_to_standard_output(shell: Shell, option: tuple[str, ...]) -> None:
    result = shell.fine("predict", shell.model(), "weather.csv", "-o", "said", *option)
    assert result.out == ""
    assert result.err.startswith("14 predictions written to said\n")
    text = shell.read("said")
    assert (
        [case["predicted"] for case in json.loads(text)] == PREDICTED
        if option
        else text.split() == ["predicted", *PREDICTED]
    )


def test_kept_columns_come_first_as_they_were(shell: Shell) -> None:
    cases = "extra,wind,outlook,humidity,temperature\n0.50,weak,sunny,high,hot\n?,strong,rain,high,\n"
    shell.write("cases.csv", cases)
    rows = rows_of(shell.fine("predict", shell.model(), "cases.csv", "--keep", "--proba").out)
    assert rows == [
        ["extra", "wind", "outlook", "humidity", "temperature", "predicted", "p(no)", "p(yes)"],
        ["0.50", "weak", "sunny", "high", "hot", "no", "1.0", "0.0"],
        ["", "strong", "rain", "high", "", "no", "1.0", "0.0"],
    ]


def test_kept_column_of_the_same_name_is_not_overwritten(shell: Shell) -> None:
    header, *rows = WEATHER.splitlines()
    shell.write("again.csv", "\n".join([f"{header},predicted", *(f"{row},maybe" for row in rows)]))
    model = shell.model()
    result = shell("predict", model, "again.csv", "--keep")
    assert result.code == 3
    assert "again.csv, column 'predicted'" in result.error
    assert shell.fine("predict", model, "again.csv").out.split() == ["predicted", *PREDICTED]


def test_columns_are_matched_by_name_not_by_position(shell: Shell) -> None:
    table = [row.split(",") for row in WEATHER.splitlines()]
    shell.write("turned.csv", "\n".join(",".join(reversed(row)) for row in table))
    assert shell.fine("predict", shell.model(), "turned.csv").out.split() == ["predicted", *PREDICTED]


def test_absent_column_is_an_error_that_lists_the_names(shell: Shell) -> None:
    shell.write("cases.csv", "wind,outlook,temperature\nweak,sunny,hot\n")
    result = shell("predict", shell.model(), "cases.csv")
    assert result.code == 3
    assert "'humidity'" in result.error
    assert "there are 'wind', 'outlook', 'temperature'" in result.error


def test_values_never_seen_are_counted_in_one_note(shell: Shell) -> None:
    shell.write("cases.csv", "outlook,temperature,humidity,wind\nsnow,hot,high,weak\nfog,hot,high,gale\n")
    result = shell.fine("predict", shell.model(), "cases.csv")
    assert len(result.out.split()) == 3
    assert result.err == "note: values never seen in training count as missing: 2 in 'outlook', 1 in 'wind'\n"


def test_accuracy_is_reported_for_the_cases_whose_class_is_known(shell: Shell) -> None:
    header = "outlook,temperature,humidity,wind,play\n"
    shell.write(
        "cases.csv", header + "overcast,hot,high,weak,yes\novercast,hot,high,weak,\novercast,hot,high,weak,no\n"
    )
    assert shell.fine("predict", shell.model(), "cases.csv").err == "1 of 2 as in column 'play': 50 %\n"


def test_class_named_none_is_not_taken_for_missing(shell: Shell) -> None:
    model = shell.model("-a", "cart", data="x,play\n" + "1,None\n2,some\n" * 4)
    shell.write("cases.csv", "x,play\n1,\n2,some\n")
    assert shell.fine("predict", model, "cases.csv").err == "1 of 1 as in column 'play': 100 %\n"


def test_number_is_predicted_with_its_error(shell: Shell) -> None:
    model = shell.model("-a", "cart", data=LINE, target="y")
    shell.write("cases.csv", "x,y\n0,3\n1,-2.5\n5,\n")
    result = shell.fine("predict", model, "cases.csv")
    assert result.out.split() == ["predicted", "0.0", "1.5", "7.5"]
    assert result.err == "root mean squared error against column 'y': 3.536\n"


def test_probabilities_of_a_number_are_refused(shell: Shell) -> None:
    result = shell("predict", shell.model("-a", "cart", data=LINE, target="y"), "training.csv", "--proba")
    assert result.code == 2
    assert "--proba needs a classification tree" in result.error


def test_excel_safe_prefixes_what_a_spreadsheet_would_run(shell: Shell) -> None:
    data = "name,play\n" + '"=cmd()",+1+1\n@x,-a\n"\tt",yes\nplain,@b\n' * 3
    model = shell.model("-a", "id3", data=data)
    rows = rows_of(shell.fine("predict", model, "training.csv", "--keep", "--excel-safe").out)
    assert rows[1:5] == [
        ["'=cmd()", "'+1+1", "'+1+1"],
        ["'@x", "'-a", "'-a"],
        ["'\tt", "yes", "yes"],
        ["plain", "'@b", "'@b"],
    ]
    assert rows_of(shell.fine("predict", model, "training.csv", "--keep").out)[1] == ["=cmd()", "+1+1", "+1+1"]


def test_excel_safe_leaves_numbers_alone(shell: Shell) -> None:
    model = shell.model("-a", "cart", data="x,y\n" + "".join(f"{x},{-x}.5\n" for x in range(1, 40)), target="y")
    assert shell.fine("predict", model, "training.csv", "--excel-safe").out.split()[1] == "-1.5"


def test_line_ends_and_delimiters_in_names_survive_the_csv(shell: Shell) -> None:
    model = shell.model("-a", "id3", data='"a\nb",play\n' + '"x,1","y\nes"\nz,no\n' * 3)
    rows = rows_of(shell.fine("predict", model, "training.csv", "--keep", "--proba").out)
    assert rows[0] == ["a\nb", "play", "predicted", "p(no)", "p(y\nes)"]
    assert rows[1] == ["x,1", "y\nes", "y\nes", "0.0", "1.0"]


@pytest.mark.parametrize(
    ("content", "message"), [("", "the file is empty"), ("outlook,temperature,humidity,wind\n", "there are no rows")]
)
def test_nothing_to_predict_is_bad_data(shell: Shell, content: str, message: str) -> None:
    shell.write("cases.csv", content)
    result = shell("predict", shell.model(), "cases.csv")
    assert result.code == 3
    assert result.error == f"cases.csv: {message}"


@pytest.mark.parametrize("name", ["model.json", "weather.csv"])
def test_neither_model_nor_data_are_overwritten(shell: Shell, name: str) -> None:
    model = shell.model()
    before = shell.read(name)
    result = shell("predict", model, "weather.csv", "-o", name)
    assert result.code == 1
    assert "would be replaced" in result.error
    assert shell.read(name) == before


def test_unusable_output_is_reported_before_anything_is_read(shell: Shell) -> None:
    assert shell("predict", "no-model.json", "no-data.csv", "-o", "nowhere/said.csv").code == 1


def test_swapped_arguments_are_detected(shell: Shell) -> None:
    result = shell("predict", "weather.csv", shell.model())
    assert result.code == 3
    assert result.error.startswith("weather.csv: not a model file")
