"""treewright show: what is in a model file, and what is no model file."""

from __future__ import annotations

import pickle

import pytest

from cli.shell import Shell

DEEP = "x,play\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(600))


def test_tree_is_printed_with_its_origin_and_size(shell: Shell) -> None:
    lines = shell.fine("show", shell.model()).out.splitlines()
    assert lines[0] == "C4.5 for play, learned from training.csv (14 rows)"
    assert lines[2] == "outlook"
    assert lines[-1] == "8 nodes, 5 leaves, depth 2."


def test_numbers_are_those_that_explain_takes(shell: Shell) -> None:
    told = shell.fine("show", shell.model(), "--numbers").out
    assert "[0] outlook" in told
    assert "└─ sunny     [5] humidity" in told
    assert shell.fine("explain", "model.json", "--node", "5").out.startswith("Node 5 (outlook = sunny)")


def test_json_is_the_nested_tree(shell: Shell) -> None:
    told = shell.fine("show", shell.model(), "--json").json
    assert told["attr"] == "outlook"
    assert [branch for branch, _ in told["children"]] == ["overcast", "rain", "sunny"]


def test_depth_cuts_the_tree_and_says_what_is_hidden(shell: Shell) -> None:
    told = shell.fine("show", shell.model(), "--depth", "1").out
    assert "humidity" not in told
    assert "2 more nodes" in told


@pytest.mark.parametrize("options", [(), ("--numbers",)])
def test_large_tree_is_cut_unless_all_is_asked_for(shell: Shell, options: tuple[str, ...]) -> None:
    model = shell.model("-a", "cart", data=DEEP)
    cut = shell.fine("show", model, *options).out
    assert "more nodes" in cut
    assert len(cut.splitlines()) < 220
    whole = shell.fine("show", model, "--all", *options).out
    assert "more nodes" not in whole
    assert whole.count(": ") > 1000
    assert whole.endswith("1,199 nodes, 600 leaves, depth 599.\n")


@pytest.mark.parametrize(
    ("options", "message"),
    [(("--depth", "-1"), "-1 is not in the range"), (("--all", "--depth", "1"), "does not go with --depth")],
)
def test_contradicting_options_are_refused(shell: Shell, options: tuple[str, ...], message: str) -> None:
    told = shell("show", shell.model(), *options)
    assert told.code == 2
    assert message in told.error


def test_hostile_target_name_cannot_break_the_heading(shell: Shell) -> None:
    model = shell.model("-a", "cart", data='x,"\x1b[31mre\nd"\n' + "1,a\n2,b\n" * 3, target="\x1b[31mre\nd")
    told = shell.fine("show", model).out
    assert told.startswith("CART for \\x1b[31mre\\nd, learned from")
    assert "\x1b" not in told


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"a,b\n1,2\n",
        b"{}",
        b"[]",
        b"null",
        b"PAR1\x90\x00",
        b"[" * 100_000,
        pickle.dumps({"a": 1}),
        b'{"format": 1}',
    ],
    ids=["empty", "csv", "object", "list", "null", "binary", "nested", "pickle", "format"],
)
def test_what_is_no_model_is_bad_data(shell: Shell, content: bytes) -> None:
    shell.write("no.json", content)
    told = shell("show", "no.json")
    assert told.code == 3
    assert told.error.startswith("no.json: ")


def test_model_cut_anywhere_is_bad_data(shell: Shell) -> None:
    whole = shell.read(shell.model())
    for size in range(0, len(whole) - 2, len(whole) // 25):
        shell.write("cut.json", whole[:size])
        assert shell("show", "cut.json").code == 3


def test_changed_model_is_bad_data(shell: Shell) -> None:
    shell.write("changed.json", shell.read(shell.model()).replace("overcast", "overkast"))
    told = shell("show", "changed.json")
    assert told.code == 3
    assert "changed.json" in told.error


def test_missing_model_gets_the_nearest_name(shell: Shell) -> None:
    shell.model()
    told = shell("show", "modle.json")
    assert told.code == 3
    assert told.error == "modle.json: there is no such file; did you mean 'model.json'?"


def test_model_in_a_missing_folder_is_bad_data(shell: Shell) -> None:
    told = shell("show", "nowhere/model.json")
    assert told.code == 3
    assert told.error == "nowhere/model.json: there is no such file"


def test_folder_is_no_model(shell: Shell) -> None:
    (shell.folder / "models").mkdir()
    told = shell("show", "models")
    assert told.code == 3
    assert told.error.startswith("models: ")
