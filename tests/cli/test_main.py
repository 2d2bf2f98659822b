"""The command itself: verbs, exit codes, interruptions, and what it does not import."""

from __future__ import annotations

import importlib
import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli.shell import COMMAND, WEATHER, Shell, in_process_of_its_own
from treewright.cli import main
from treewright.cli.main import VERBS
from treewright.version import __version__

BOXES = "├─"


# -- help and verbs ----------------------------------------------------------------------------------------------------


def test_help_lists_every_verb(shell: Shell) -> None:
    printed = shell.fine("--help").out
    assert all(verb in printed for verb in VERBS)
    assert "treewright train sample:play-tennis" in printed


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_under_both_names_and_offers_json(shell: Shell, verb: str) -> None:
    printed = shell.fine(verb, "--help").out
    assert "--json" in printed
    assert shell.fine(verb, "-h").out == printed


def test_version_is_that_of_the_package(shell: Shell) -> None:
    assert shell.fine("--version").out == f"treewright, version {__version__}\n"


def test_no_arguments_print_the_help(shell: Shell) -> None:
    result = shell()
    assert result.code == 2
    assert result.err.startswith("Usage: treewright [OPTIONS] COMMAND [ARGS]...\n\nExamples:\n")
    assert "Traceback" not in result.err


def test_wrong_verb_gets_the_nearest_or_all(shell: Shell) -> None:
    assert (
        shell("trian", "weather.csv").error == "there is no verb 'trian'; did you mean 'train'? (see treewright --help)"
    )
    result = shell("xyzzy")
    assert result.code == 2
    assert f"verbs: {', '.join(VERBS)}" in result.error


def test_wrong_call_is_one_line_that_points_at_the_help(shell: Shell) -> None:
    result = shell("predict", "model.json")
    assert result.code == 2
    assert result.error == "Missing argument 'FILE' (see treewright predict --help)"


# -- errors and exit codes ---------------------------------------------------------------------------------------------


def failing_with(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Let every command end in this error."""

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(main.treewright, "main", fail)


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (MemoryError(), 1, "there is not enough memory for this"),
        (OSError(28, "No space left on device", "m.json"), 1, "m.json: No space left on device"),
        (OSError("odd"), 1, "odd"),
    ],
)
def test_every_failure_is_one_line_and_a_code(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, message: str
) -> None:
    failing_with(monkeypatch, error)
    result = shell("train", "weather.csv")
    assert result.code == code
    assert result.error.startswith(message)


def test_an_error_of_our_own_is_not_hidden(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    failing_with(monkeypatch, RuntimeError("odd"))
    with pytest.raises(RuntimeError, match="odd"):
        shell("train", "weather.csv")


def test_entry_point_exits_with_the_code(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["treewright", "data"])
    with pytest.raises(SystemExit) as stop:
        main.main()
    assert stop.value.code == 2
    assert capsys.readouterr().err.startswith("treewright: name a FILE")


# -- streams -----------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_interrupt_ends_with_130_one_line_and_no_file(tmp_path: Path) -> None:
    (tmp_path / "long.csv").write_text("x,z,y\n" + "".join(f"{i},{i * 7919 % 10007},{i % 3}\n" for i in range(200_000)))
    arguments = ["train", "long.csv", "-t", "y", "-a", "cart", "-o", "model.json"]
    with subprocess.Popen(
        [*COMMAND, *arguments], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        # The description of the data is printed when the growing begins.
        assert process.stdout.readline().startswith("long.csv   200,000 rows")
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        error = process.stderr.read()
        assert process.wait(30) == 130
    assert error.strip() == "treewright: interrupted"
    assert os.listdir(tmp_path) == ["long.csv"]


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
def test_reader_that_leaves_early_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "steps.csv").write_text("x,y\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(1500)))
    in_process_of_its_own(tmp_path, "train", "steps.csv", "-t", "y", "-a", "cart", "--folds", "0", "-o", "m.json")
    with subprocess.Popen(
        [*COMMAND, "show", "m.json", "--all"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"CART for y, trained on steps.csv (1500 rows)\n"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(30) == 0


def test_closed_streams_are_survived(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    model = shell.model()
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    assert main.run(["show", model]) == 0
    assert main.run(["train", "weather.csv", "-t", "play", "--no-save"]) == 0
    assert main.run(["show", "none.json"]) == 3


@pytest.mark.parametrize(("encoding", "tree"), [("utf-8", BOXES.encode()), ("latin-1", rb"\u251c\u2500")])
def test_narrow_encoding_of_the_system_is_no_failure(tmp_path: Path, encoding: str, tree: bytes) -> None:
    result = in_process_of_its_own(tmp_path, "train", "sample:play-tennis", "--no-save", PYTHONIOENCODING=encoding)
    assert result.returncode == 0
    assert tree in result.stdout


def test_pipes_get_utf8_whatever_the_system_prefers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONIOENCODING", raising=False)
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="cp1252")
    main._widen(stream)
    stream.write(BOXES)
    stream.flush()
    assert raw.getvalue() == BOXES.encode()


def test_help_has_no_colour_in_a_pipe(tmp_path: Path) -> None:
    assert b"\x1b" not in in_process_of_its_own(tmp_path, "train", "--help").stdout


# -- what is not imported ----------------------------------------------------------------------------------------------

WATCHED = "import sys; from treewright.cli.main import run; code = run(sys.argv[1:]); "
HEAVY = ("numba", "sklearn", "pandas", "polars", "pyarrow", "duckdb", "scipy", "matplotlib", "narwhals")


def imported_by(folder: Path, *arguments: str) -> set[str]:
    """Return the top-level modules that are loaded after a command."""
    script = WATCHED + "print(code, *{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)"
    result = subprocess.run(
        [sys.executable, "-c", script, *arguments], cwd=folder, capture_output=True, text=True, check=True, timeout=60
    )
    code, *modules = result.stderr.split()
    assert code == "0", result.stderr
    return set(modules)


def test_help_imports_no_numerical_library(tmp_path: Path) -> None:
    assert not imported_by(tmp_path, "--help") & {"numpy", *HEAVY}


@pytest.mark.parametrize("algorithm", ["id3", "c45", "cart"])
def test_small_training_imports_nothing_heavy(tmp_path: Path, algorithm: str) -> None:
    (tmp_path / "weather.csv").write_text(WEATHER)
    loaded = imported_by(tmp_path, "train", "weather.csv", "-t", "play", "-a", algorithm)
    assert not loaded & {"numba", "sklearn", "pandas", "polars", "pyarrow", "duckdb", "matplotlib", "narwhals"}


def test_the_list_of_verbs_has_the_summaries_of_the_verbs() -> None:
    for verb, line in VERBS.items():
        command = importlib.import_module(f"treewright.cli.{verb.replace('-', '_')}").command
        assert command.get_short_help_str(limit=200) == line
