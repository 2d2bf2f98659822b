"""treewright train: from a file to a model, or to a one-line error."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from cli.shell import LINE, WEATHER, Shell
from fitting.test_engine_choice import Background
from treewright.cli.train import default_model_path
from treewright.fitting import warm_up
from treewright.fitting.engine_choice import EngineChoice
from treewright.fitting.learn import fit

TREE = """\
outlook
├─ overcast  yes             4
├─ rain      wind
│            ├─ strong  no   2
│            └─ weak    yes  3
└─ sunny     humidity
             ├─ high    no   3
             └─ normal  yes  2
"""


# -- what a newcomer sees ----------------------------------------------------------------------------------------------


def test_first_command_prints_data_tree_size_estimate_and_path_of_the_model(shell: Shell) -> None:
    result = shell.fine("train", "weather.csv", "--target", "play")
    assert result.out.startswith(
        "weather.csv   14 rows, 4 nominal attributes, target play: no 5, yes 9\nC4.5   gain ratio"
    )
    assert TREE in result.out
    assert "8 nodes, 5 leaves, depth 2.  Training accuracy 100 %." in result.out
    assert result.out.endswith("Model written to weather.model.json\n")
    assert result.err == ""
    assert shell.files() == ["weather.csv", "weather.model.json"]


def test_estimate_comes_with_interval_baseline_and_comparison(shell: Shell) -> None:
    printed = shell.fine("train", "weather.csv", "-t", "play").out
    pattern = r'^10-fold estimate \d+ % \(\d+ % to \d+ %\); always "yes" gives 64 %: too few rows to trust\.$'
    assert re.search(pattern, printed, re.MULTILINE)


def test_sample_trains_without_any_file_or_target(shell: Shell) -> None:
    assert 'always "Yes" gives 64 %' in shell.fine("train", "sample:play-tennis").out
    assert "play-tennis.model.json" in shell.files()


def test_estimate_of_a_number_is_an_error_with_its_baseline(shell: Shell) -> None:
    shell.write("line.csv", LINE)
    printed = shell.fine("train", "line.csv", "-t", "y", "-a", "cart", "--max-depth", "3", "--no-save").out
    assert "target y: mean 29.25, from 0 to 58.5" in printed
    assert re.search(r"10-fold estimate of the root mean squared error [\d.]+; always the mean gives 17\.3", printed)
    assert "Training root mean squared error" in printed


def test_large_file_is_estimated_by_one_held_out_part(shell: Shell) -> None:
    shell.write("long.csv", "x,y\n" + "".join(f"{i % 10},{'ab'[i % 10 > 4]}\n" for i in range(20_010)))
    assert "Hold-out of 2,001 rows 100 %" in shell.fine("train", "long.csv", "-t", "y", "-a", "cart", "--no-save").out


@pytest.mark.parametrize("engine", ["interpreted", "compiled"])
def test_estimate_uses_the_engine_of_the_command(shell: Shell, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    engines: list[str] = []

    def recording_fit(*given: Any, **options: Any) -> Any:
        engines.append(options["engine"])
        return fit(*given, **options)

    monkeypatch.setattr("treewright.fitting.learn.fit", recording_fit)
    shell.fine("train", "weather.csv", "-t", "play", "--folds", "3", "--engine", engine, "--no-save")
    assert engines == [engine] * 4  # the model and three folds


def test_large_tree_is_cut_and_reported_as_cut(shell: Shell) -> None:
    rows = "".join(f"{i},{'ab'[i % 2]}\n" for i in range(300))
    shell.write("steps.csv", "x,y\n" + rows)
    printed = shell.fine("train", "steps.csv", "-t", "y", "-a", "cart", "--no-save", "--folds", "0").out
    assert "more nodes" in printed
    assert "599 nodes" in printed
    assert printed.count("\n") < 220


def test_no_save_leaves_nothing_behind(shell: Shell) -> None:
    assert "Model written" not in shell.fine("train", "weather.csv", "-t", "play", "--no-save").out
    assert shell.files() == ["weather.csv"]


def test_same_command_twice_writes_identical_bytes(shell: Shell) -> None:
    for name in ("one.json", "two.json"):
        shell.fine("train", "weather.csv", "-t", "play", "-o", name)
    assert shell.read("one.json") == shell.read("two.json")


def test_json_is_all_that_is_on_standard_output(shell: Shell) -> None:
    document = shell.fine("train", "weather.csv", "-t", "play", "--json").json
    assert (document["rows"], document["nodes"], document["leaves"], document["depth"]) == (14, 8, 5, 2)
    assert document["training_accuracy"] == 1.0
    assert document["estimate"]["low"] < document["estimate"]["accuracy"] < document["estimate"]["high"]
    assert document["estimate"]["baseline_class"] == "yes"
    assert document["model"] == "weather.model.json"


def test_json_of_a_regression_has_its_error(shell: Shell) -> None:
    shell.write("line.csv", LINE)
    document = shell.fine("train", "line.csv", "-t", "y", "-a", "cart", "--json", "--no-save", "--folds", "0").json
    assert document["training_rmse"] == 0
    assert document["estimate"] is None
    assert document["model"] is None


@pytest.mark.parametrize(
    ("source", "path"),
    [
        ("data/weather.csv.gz", "weather.model.json"),
        ("sample:restaurant", "restaurant.model.json"),
        ("-", "stdin.model.json"),
        ("golf.names", "golf.model.json"),
    ],
)
def test_model_is_named_after_its_source(source: str, path: str) -> None:
    assert default_model_path(source) == path


# -- what is read ------------------------------------------------------------------------------------------------------


def test_dialects_of_the_same_table_give_the_same_tree(shell: Shell) -> None:
    dialects: dict[str, bytes] = {
        "bom.csv": b"\xef\xbb\xbf" + WEATHER.encode(),
        "crlf.csv": WEATHER.replace("\n", "\r\n").encode(),
        "tabs.tsv": WEATHER.replace(",", "\t").encode(),
        "semicolons.csv": WEATHER.replace(",", ";").encode(),
        "weather.csv.gz": gzip.compress(WEATHER.encode()),
    }
    for name, content in dialects.items():
        shell.write(name, content)
        assert TREE in shell.fine("train", name, "-t", "play", "--no-save", "--folds", "0").out


def test_arff_and_names_keep_their_category_order(shell: Shell) -> None:
    rows = "".join(f"{o},{i % 9},{c}\n" for i, (o, c) in enumerate([("sunny", "yes"), ("rain", "no")] * 10))
    header = "@relation w\n@attribute outlook {sunny,rain}\n@attribute t numeric\n@attribute play {yes,no}\n@data\n"
    shell.write("w.arff", header + rows)
    shell.write("golf.names", "yes, no.\noutlook: sunny, rain.\nt: continuous.\n")
    shell.write("golf.data", rows)
    for arguments in (("w.arff", "-t", "play"), ("golf.names",), ("golf.data",), ("golf",)):
        printed = shell.fine("train", *arguments, "--no-save", "--folds", "0").out
        assert "yes 10, no 10" in printed
        assert printed.index("sunny") < printed.index("rain")


def test_identifier_with_leading_zeros_stays_text(shell: Shell) -> None:
    shell.write("codes.csv", "id,play\n" + "007,yes\n010,no\n" * 3)
    assert "├─ 007  yes" in shell.fine("train", "codes.csv", "-t", "play", "-a", "id3", "--no-save").out


def test_weights_count(shell: Shell) -> None:
    shell.write("weighted.csv", "x,w,play\na,5,yes\na,1,no\nb,1,yes\nb,1,no\n")
    result = shell.fine(
        "train", "weighted.csv", "-t", "play", "--weight", "w", "-a", "cart", "--no-save", "--folds", "0"
    )
    assert "├─ {a}  yes  6/1" in result.out


def test_hostile_names_cannot_break_a_line_or_colour_the_terminal(shell: Shell) -> None:
    shell.write("evil.csv", '"a\nb","\x1b[31mred",play\n' + '"<b>",1,"y\nes"\n"<i>",2,no\n' * 3)
    result = shell.fine("train", "evil.csv", "-t", "play", "-a", "cart", "--no-save")
    assert "\x1b" not in result.out + result.err
    assert "a\\nb" in result.out
    assert "y\\nes" in result.out


# -- degenerate tables -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("a,play\n1,yes\n", "pure"),
        ("a,play\n1,yes\n2,yes\n3,yes\n", "pure"),
        ("a,b,play\n1,x,yes\n1,x,no\n1,x,yes\n1,x,yes\n", "no admissible split"),
        ("a,play\n,yes\n?,no\n,yes\n", "no admissible split"),
        ("play\nyes\nno\nyes\n", "no attributes left"),
    ],
    ids=["one row", "one class", "constant columns", "empty column", "no attributes"],
)
def test_nothing_to_split_gives_one_leaf_and_a_note(shell: Shell, content: str, reason: str) -> None:
    shell.write("poor.csv", content)
    result = shell.fine("train", "poor.csv", "-t", "play", "-a", "cart")
    assert "1 node, 1 leaf, depth 0." in result.out
    assert result.err == f"note: no split was made: {reason}\n"


def test_column_that_names_the_cases_is_pointed_at(shell: Shell) -> None:
    shell.write("ids.csv", "id,x,play\n" + "".join(f"v{i // 2},{i},{'yes' if i % 3 else 'no'}\n" for i in range(200)))
    result = shell.fine("train", "ids.csv", "-t", "play", "--no-save", "--folds", "0", "--json")
    assert "note: column 'id' has 100 values in 200 rows" in result.err
    assert "leave it out" in result.err


def test_ignored_column_is_not_used(shell: Shell) -> None:
    printed = shell.fine("train", "weather.csv", "-t", "play", "--ignore", "outlook", "--no-save").out
    assert "3 nominal attributes" in printed
    assert "outlook" not in printed


# -- errors ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "t.csv: the file is empty"),
        ("a,play\n", "t.csv: there are no rows"),
        ("a,a,play\n1,2,yes\n", "t.csv, line 1: two columns have the name 'a'"),
        ("a,play\n1,yes\n1\n", "t.csv, line 3: the row has 1 cell"),
        (b"a,play\nK\xf6ln,yes\n", "t.csv, line 2: byte 0xf6 is not UTF-8"),
        (b"a,play\n1\0,yes\n", "t.csv, line 2: there is a NUL byte"),
        ("a,play\n1,yes\ninf,no\n", "t.csv, line 3, column 'a': 'inf' is not finite"),
        ("a,play\n1,yes\n2,\n", "t.csv, line 3, column 'play': the target is missing"),
    ],
    ids=["empty", "header only", "duplicate names", "ragged", "latin-1", "NUL", "infinite", "no target"],
)
def test_bad_data_are_named_by_file_and_line(shell: Shell, content: str | bytes, message: str) -> None:
    shell.write("t.csv", content)
    result = shell("train", "t.csv", "-t", "play")
    assert result.code == 3
    assert result.error.startswith(message)
    assert shell.files() == ["t.csv", "weather.csv"]


def test_encoding_can_be_given(shell: Shell) -> None:
    shell.write("t.csv", "stadt,play\nKöln,yes\nBonn,no\n".encode("latin-1") + b"Bonn,no\nK\xf6ln,yes\n")
    assert "Köln" in shell.fine("train", "t.csv", "-t", "play", "--encoding", "latin-1", "--no-save", "-a", "id3").out


def test_wrong_column_gets_the_nearest_name_and_all_names(shell: Shell) -> None:
    result = shell("train", "weather.csv", "-t", "paly")
    assert result.code == 3
    assert "did you mean 'play'?" in result.error
    assert "'outlook', 'temperature', 'humidity', 'wind', 'play'" in result.error


def test_target_must_be_named(shell: Shell) -> None:
    result = shell("train", "weather.csv")
    assert result.code == 2
    assert "--target COL, one of: outlook, temperature, humidity, wind, play" in result.error


def test_missing_file_gets_the_nearest_name(shell: Shell) -> None:
    result = shell("train", "weather.cvs", "-t", "play")
    assert result.code == 3
    assert result.error == "weather.cvs: there is no such file; did you mean 'weather.csv'?"


def test_folder_is_not_a_table(shell: Shell) -> None:
    (shell.folder / "folder.csv").mkdir()
    result = shell("train", "folder.csv", "-t", "play")
    assert result.code == 3
    assert "is a folder, not a file" in result.error


@pytest.mark.parametrize("algorithm", ["id3", "c45"])
def test_number_as_target_of_a_classifier_names_both_ways_out(shell: Shell, algorithm: str) -> None:
    shell.write("line.csv", LINE)
    result = shell("train", "line.csv", "-t", "y", "-a", algorithm)
    assert result.code == 2
    assert "--algorithm cart" in result.error
    assert "--task classification" in result.error


def test_numbers_can_be_classes(shell: Shell) -> None:
    shell.write("line.csv", "x,y\n" + "".join(f"{x},{0.5 + (x > 20)}\n" for x in range(40)))
    printed = shell.fine("train", "line.csv", "-t", "y", "--task", "classification", "--no-save").out
    assert "target y: 0.5 21, 1.5 19" in printed


def test_text_cannot_be_a_number(shell: Shell) -> None:
    result = shell("train", "weather.csv", "-t", "play", "--task", "regression")
    assert result.code == 3
    assert "weather.csv, line 2, column 'play': 'no' is not a number" in result.error


@pytest.mark.parametrize(
    ("cell", "message"), [("-2", "a weight must be a number of at least 0"), ("a", "'a' is not a number")]
)
def test_bad_weight_is_named(shell: Shell, cell: str, message: str) -> None:
    shell.write("t.csv", f"x,w,play\n1,1,yes\n2,{cell},no\n")
    result = shell("train", "t.csv", "-t", "play", "--weight", "w")
    assert result.code == 3
    assert result.error == f"t.csv, line 3, column 'w': {message}"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--folds", "1"), "--folds: 1 is not 0 or from 2 to the number of rows, 14"),
        (("--folds", "15"), "--folds: 15 is not 0 or from 2 to the number of rows, 14"),
        (("--seed", "-1"), "'--seed': -1 is not in the range"),
        (("--max-depth", "-1"), "max_depth must be a whole number of at least 0, not -1"),
        (("--max-leaves", "0"), "max_leaves must be"),
        (("--min-objects", "nan"), "min_objects must be"),
        (("--min-leaf", "3"), "--min-leaf is not an option of c45"),
        (("--criterion", "gini"), "criterion must be 'gain_ratio' or 'gain'"),
        (("-a", "cart", "--criterion", "gain"), "criterion must be one of gini, entropy, chi2 for cart, not 'gain'"),
        (("--smoothing", "much"), "--smoothing: 'much' is neither laplace nor a positive number"),
        (("--smoothing", "-1"), "--smoothing: '-1' is neither laplace nor a positive number"),
        (("-a", "c5"), "'c5' is not one of c45, id3, cart"),
        (("--algoritm", "c45"), "Did you mean one of: '--algorithm', '--help-algorithm'?"),
    ],
)
def test_wrong_option_is_refused_before_the_work_begins(shell: Shell, options: tuple[str, ...], message: str) -> None:
    result = shell("train", "weather.csv", "-t", "play", *options)
    assert result.code == 2
    assert message in result.error
    assert shell.files() == ["weather.csv"]


@pytest.mark.parametrize("how", [(), ("--engine", "duckdb")])
@pytest.mark.parametrize("algorithm", ["cart", "chaid"])
def test_options_of_classes_are_refused_for_a_number(shell: Shell, algorithm: str, how: tuple[str, ...]) -> None:
    shell.write("line.csv", LINE)
    for name, value in (("--smoothing", "laplace"), ("--cost", "1,2=3")):
        result = shell("train", "line.csv", "-t", "y", "-a", algorithm, name, value, *how)
        assert result.code == 2
        assert f"{name} is for classes, and the target 'y' is a number" in result.error


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        (("-a", "id3", "--min-split", "6"), "ID3   gain"),
        (("-a", "cart", "--min-leaf", "3", "--min-split", "4", "--min-decrease", "0.01"), "CART   gini"),
        (("-a", "cart", "--criterion", "entropy", "--max-leaves", "3"), "leaves at most 3"),
        (("--criterion", "gain", "--min-objects", "3", "--max-depth", "1"), "depth at most 1"),
        (("--smoothing", "laplace"), "C4.5   gain ratio"),
        (("--smoothing", "2.5"), "C4.5   gain ratio"),
    ],
)
def test_options_of_each_algorithm_are_taken(shell: Shell, options: tuple[str, ...], shown: str) -> None:
    assert shown in shell.fine("train", "weather.csv", "-t", "play", "--no-save", "--folds", "0", *options).out


def test_smoothing_goes_into_the_model(shell: Shell) -> None:
    shell.model("--smoothing", "laplace")
    document = shell.fine("predict", "model.json", "weather.csv", "--proba", "--json").json[0]
    assert document["p(no)"] == pytest.approx((3 + 1) / (3 + 2))


# -- where the model goes ----------------------------------------------------------------------------------------------


def test_output_into_a_missing_folder_is_refused_before_the_work(shell: Shell) -> None:
    result = shell("train", "weather.csv", "-t", "play", "-o", "no/such/model.json")
    assert result.code == 1
    assert result.error == "no/such/model.json: there is no folder 'no/such' to write to"


def test_output_cannot_be_a_folder(shell: Shell) -> None:
    (shell.folder / "models").mkdir()
    result = shell("train", "weather.csv", "-t", "play", "-o", "models")
    assert result.code == 1
    assert result.error == "models is no file; name a file to write"
    assert shell.files() == ["models", "weather.csv"]


def test_training_data_are_never_overwritten(shell: Shell) -> None:
    result = shell("train", "weather.csv", "-t", "play", "-o", "./weather.csv")
    assert result.code == 1
    assert "would be replaced" in result.error
    assert shell.read("weather.csv") == WEATHER


def test_failed_command_leaves_the_old_model(shell: Shell) -> None:
    shell.model()
    before = shell.read("model.json")
    assert shell("train", "weather.csv", "-t", "paly", "-o", "model.json").code == 3
    assert shell.read("model.json") == before


def test_model_file_is_json_and_names_its_format(shell: Shell) -> None:
    assert json.loads(shell.read(shell.model()))["format"] == "treewright-model"


# -- engines -----------------------------------------------------------------------------------------------------------


def test_the_tree_is_printed_and_the_second_process_ended_when_the_estimate_is_interrupted(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("treewright.evaluation.cross_validation.cross_validate", interrupted)
    result = shell("train", "weather.csv", "-t", "play")
    assert result.code == 130
    assert TREE in result.out


class _Choice:
    """Stands for the choice of engines, and notes the fits that it hears of."""

    compiles_here = False

    def __init__(self) -> None:
        self.fits: list[str] = []

    def for_model(self) -> str:
        return "canonical"

    def for_fold(self) -> str:
        return "interpreted" if len(self.fits) < 3 else "compiled"

    def fitted(self, engine: str, seconds: float) -> None:
        assert seconds >= 0
        self.fits.append(engine)


def test_engines_may_change_between_folds_and_nothing_else_changes(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = shell.fine("train", "weather.csv", "-t", "play", "--folds", "4", "-o", "a.json")
    choice = _Choice()

    @contextmanager
    def engines(*_: object) -> Iterator[_Choice]:
        yield choice

    monkeypatch.setattr("treewright.cli.train._engines", engines)
    again = shell.fine("train", "weather.csv", "-t", "play", "--folds", "4", "-o", "b.json")
    assert choice.fits == ["canonical", "interpreted", "interpreted", "compiled", "compiled"]
    assert again.out.replace("b.json", "a.json") == printed.out
    assert (shell.folder / "a.json").read_bytes() == (shell.folder / "b.json").read_bytes()


@pytest.mark.parametrize("on_terminal", [False, True])
def test_a_terminal_is_told_of_the_second_process_that_goes_on_after_the_command(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, on_terminal: bool
) -> None:
    process = Background()

    def begins(choice: EngineChoice) -> bool:
        choice._mark = shell.folder / "ready"
        return not choice._start()

    monkeypatch.setattr(EngineChoice, "_by_kernels", begins)
    monkeypatch.setattr(warm_up, "start_background", lambda *_: process)
    monkeypatch.setattr("treewright.cli.train.is_terminal", lambda _: on_terminal)
    result = shell.fine("train", "weather.csv", "-t", "play", "--folds", "0", "--no-save")
    assert process.done == ("left" if on_terminal else "ended")
    assert ("process 4711 goes on compiling" in result.err) == on_terminal
    assert ("TREEWRIGHT_COMPILE=off" in result.err) == on_terminal
