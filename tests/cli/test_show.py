"""treewright show: what is in a model file, and what is no model file."""

from __future__ import annotations

import pickle

import pytest

from cli.shell import Shell

DEEP = "x,play\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(600))


def test_tree_is_printed_with_its_origin_and_size(shell: Shell) -> None:
    lines = shell.fine("show", shell.model()).out.splitlines()
    assert lines[0] == "C4.5 for play, trained on training.csv (14 rows)"
    assert lines[2] == "outlook"
    assert lines[-1] == "8 nodes, 5 leaves, depth 2."


def test_numbers_are_those_that_explain_takes(shell: Shell) -> None:
    printed = shell.fine("show", shell.model(), "--numbers").out
    assert "[0] outlook" in printed
    assert "└─ sunny     [5] humidity" in printed
    assert shell.fine("explain", "model.json", "--node", "5").out.startswith("Node 5 (outlook = sunny)")


def test_json_is_the_nested_tree(shell: Shell) -> None:
    document = shell.fine("show", shell.model(), "--json").json
    assert document["attr"] == "outlook"
    assert [branch for branch, _ in document["children"]] == ["overcast", "rain", "sunny"]


def test_depth_cuts_the_tree_and_counts_what_is_hidden(shell: Shell) -> None:
    printed = shell.fine("show", shell.model(), "--depth", "1").out
    assert "humidity" not in printed
    assert "2 more nodes" in printed


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
    [
        (("--depth", "-1"), "-1 is not in the range"),
        (("--all", "--depth", "1"), "cannot be combined with --depth"),
        (("--all", "--max-nodes", "9"), "cannot be combined with --depth or --max-nodes"),
        (("--json", "--format", "svg"), "--json and --format svg are two forms"),
        (("--numbers", "--format", "svg"), "--numbers is for the form text"),
        (("--format", "png"), "png is a binary format: name a file with -o FILE"),
        (("--format", "sgv"), "'sgv' is not one of"),
        (("--max-nodes", "5"), "--max-nodes is for drawings"),
        (("--data", "weather.csv"), "--data is for drawings"),
        (("--title", "x"), "--title is for drawings"),
        (("--node", "99"), "'99' is not 'root' or a number from 0 to 7"),
        (("--node", "99", "--format", "svg"), "'99' is not 'root' or a number from 0 to 7"),
        (("--tree", "0"), "--tree chooses a tree of a forest, but this model is not a forest"),
        (("-o", "tree.docx"), "'.docx' is not a known format"),
        (("--json", "--depth", "2"), "the form json has no max_depth"),
    ],
)
def test_contradicting_options_are_refused(shell: Shell, options: tuple[str, ...], message: str) -> None:
    result = shell("show", shell.model(), *options)
    assert result.code == 2
    assert message in result.error


def test_hostile_target_name_cannot_break_the_heading(shell: Shell) -> None:
    model = shell.model("-a", "cart", data='x,"\x1b[31mre\nd"\n' + "1,a\n2,b\n" * 3, target="\x1b[31mre\nd")
    printed = shell.fine("show", model).out
    assert printed.startswith("CART for \\x1b[31mre\\nd, trained on")
    assert "\x1b" not in printed


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
    result = shell("show", "no.json")
    assert result.code == 3
    assert result.error.startswith("no.json: ")


def test_model_cut_anywhere_is_bad_data(shell: Shell) -> None:
    whole = shell.read(shell.model())
    for size in range(0, len(whole) - 2, len(whole) // 25):
        shell.write("cut.json", whole[:size])
        assert shell("show", "cut.json").code == 3


def test_changed_model_is_bad_data(shell: Shell) -> None:
    shell.write("changed.json", shell.read(shell.model()).replace("overcast", "overkast"))
    result = shell("show", "changed.json")
    assert result.code == 3
    assert "changed.json" in result.error


def test_missing_model_gets_the_nearest_name(shell: Shell) -> None:
    shell.model()
    result = shell("show", "modle.json")
    assert result.code == 3
    assert result.error == "modle.json: there is no such file; did you mean 'model.json'?"


def test_model_in_a_missing_folder_is_bad_data(shell: Shell) -> None:
    result = shell("show", "nowhere/model.json")
    assert result.code == 3
    assert result.error == "nowhere/model.json: there is no such file"


def test_folder_is_no_model(shell: Shell) -> None:
    (shell.folder / "models").mkdir()
    result = shell("show", "models")
    assert result.code == 3
    assert result.error.startswith("models: ")


# -- drawings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["svg", "html", "png", "pdf", "dot", "mmd", "tex", "json", "txt"])
def test_suffix_of_the_output_sets_the_form(shell: Shell, suffix: str) -> None:
    result = shell.fine("show", shell.model(), "-o", f"tree.{suffix}")
    assert result.out == ""
    assert result.err == f"Written to tree.{suffix}\n"
    content = (shell.folder / f"tree.{suffix}").read_bytes()
    starts = {
        "svg": b"<svg", "html": b"<!doctype html>", "png": b"\x89PNG", "pdf": b"%PDF", "dot": b"digraph",
        "mmd": b"flowchart", "tex": b"% Needs", "json": b"{", "txt": b"C4.5 for play",
    }  # fmt: skip
    assert content.startswith(starts[suffix])


@pytest.mark.parametrize("form", ["svg", "html", "dot", "mermaid", "tikz", "json", "text"])
def test_forms_that_are_text_go_to_standard_output(shell: Shell, form: str) -> None:
    model = shell.model()
    result = shell.fine("show", model, "--format", form)
    assert "outlook" in result.out
    assert result.err == ""
    shell.fine("show", model, "--format", form, "-o", "out")
    assert shell.read("out") == result.out


def test_data_put_histograms_with_the_cut_into_the_drawing(shell: Shell) -> None:
    data = "x;play\n" + "".join(f"{x};{'ab'[x >= 20]}\n" for x in range(40))
    shell.write("numbers.csv", data)
    shell.fine("train", "numbers.csv", "-t", "play", "-a", "cart", "--folds", "0", "-o", "model.json")
    printed = shell.fine("show", "model.json", "-f", "svg", "--data", "numbers.csv", "--delimiter", ";").out
    assert printed.split("</style>")[1].count('"tw-cut"') == 1
    assert shell("show", "model.json", "-f", "svg", "--data", "none.csv").code == 3


def test_large_tree_is_drawn_in_part_unless_all_is_asked_for(shell: Shell) -> None:
    model = shell.model("-a", "cart", data=DEEP)
    assert shell.fine("show", model, "-f", "svg").out.count("<title>") == 119
    assert shell.fine("show", model, "-f", "svg", "--max-nodes", "5").out.count("<title>") == 5
    assert shell.fine("show", model, "-f", "dot", "--max-depth", "2").out.count(" -> ") == 4
    assert shell.fine("show", model, "-f", "svg", "--all").out.count("<title>") == 1199


def test_part_of_a_tree_and_a_title(shell: Shell) -> None:
    model = shell.model()
    assert "[5] humidity" in shell.fine("show", model, "--node", "5", "--numbers").out
    assert "outlook" not in shell.fine("show", model, "--node", "5").out
    drawn = shell.fine("show", model, "--node", "5", "-f", "svg", "--title", "<b>").out
    assert "&lt;b&gt;</text>" in drawn
    assert "outlook" not in drawn


def test_model_is_not_replaced_by_its_drawing(shell: Shell) -> None:
    result = shell("show", shell.model(), "-o", "model.json")
    assert result.code == 1
    assert "would be replaced" in result.error
    assert shell("show", "model.json", "-o", "nowhere/tree.svg").code == 1


def test_rules_have_text_json_and_a_page_but_no_drawing(shell: Shell) -> None:
    model = shell.model("-a", "rules")
    assert shell.fine("show", model).out.endswith("rules.\n")
    assert shell.fine("show", model, "--json").json["rules"]
    shell.fine("show", model, "-o", "rules.html")
    assert shell.read("rules.html").startswith("<!doctype html>")
    result = shell("show", model, "-o", "rules.svg")
    assert result.code == 2
    assert result.error == "svg draws one tree, and this model holds rules: ask for text, json or html"


def test_forest_is_described_and_each_of_its_trees_can_be_shown(shell: Shell) -> None:
    import treewright

    weather = treewright.read("weather.csv", target="play")
    treewright.fit(weather, treewright.forest(trees=3)).save("model.json")
    assert shell.fine("show", "model.json").out.count("play") >= 1
    for number in "012":
        assert shell.fine("show", "model.json", "--tree", number).out.count("nodes, ") == 1
    assert shell.fine("show", "model.json", "--tree", "0", "-f", "svg").out.startswith("<svg")
    result = shell("show", "model.json", "--tree", "3")
    assert result.code == 2
    assert result.error == "there is no tree 3; the trees are 0 to 2"
    result = shell("show", "model.json", "-f", "svg")
    assert result.code == 2
    assert result.error.startswith("svg draws one tree, and this model holds a forest: ask for text, ")
    assert result.error.endswith("or choose a tree with --tree N")
    result = shell("export", "model.json", "--to", "dot")
    assert result.code == 3
    assert result.error == "model.json: does not hold one tree; choose one with --tree N"
    assert shell.fine("export", "model.json", "--to", "dot", "--tree", "1").out.startswith("digraph")
