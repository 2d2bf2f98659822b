"""treewright export: a tree in the language of another program."""

from __future__ import annotations

import pytest

from cli.shell import Shell, in_process_of_its_own


@pytest.mark.parametrize(
    ("form", "start"), [("dot", "digraph"), ("mermaid", "flowchart"), ("tikz", "% Needs"), ("svg", "<svg")]
)
def test_form_goes_to_standard_output_or_into_a_file(shell: Shell, form: str, start: str) -> None:
    model = shell.model()
    result = shell.fine("export", model, "--to", form)
    assert result.out.startswith(start)
    assert result.err == ""
    shell.fine("export", model, "--to", form, "-o", "tree")
    assert shell.read("tree") == result.out


def test_suffix_sets_the_form(shell: Shell) -> None:
    shell.fine("export", shell.model(), "-o", "tree.gv")
    assert shell.read("tree.gv").startswith("digraph")


def test_json_describes_what_was_made(shell: Shell) -> None:
    model = shell.model()
    document = shell.fine("export", model, "--to", "dot", "--json").json
    assert document["form"] == "dot"
    assert document["nodes"] == 8
    assert document["text"].startswith("digraph")
    document = shell.fine("export", model, "-o", "tree.pdf", "--json").json
    assert document == {"form": "pdf", "nodes": 8, "output": "tree.pdf", "text": None}


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ((), 2, "name the format: --to text|svg"),
        (("--to", "dto"), 2, "'dto' is not one of"),
        (("--to", "png"), 2, "png is a binary format"),
        (("-o", "tree.xyz"), 2, "'.xyz' is not a known format"),
        (("--to", "dot", "--data", "weather.csv"), 2, "the form dot has no data"),
    ],
)
def test_wrong_calls_list_what_is_possible(shell: Shell, options: tuple[str, ...], code: int, message: str) -> None:
    result = shell("export", shell.model(), *options)
    assert result.code == code
    assert message in result.error


def test_rules_are_no_tree(shell: Shell) -> None:
    result = shell("export", shell.model("-a", "rules"), "--to", "dot")
    assert result.code == 3
    assert result.error == "model.json: does not hold one tree; see `show` for rules"


def test_reader_may_leave_early(shell: Shell) -> None:
    model = shell.model("-a", "cart", data="x,play\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(600)))
    done = in_process_of_its_own(shell.folder, "export", model, "--to", "svg", "--all")
    assert done.returncode == 0
    assert done.stdout.count(b"<title>") == 1199


def test_hostile_names_are_inert_in_every_form(shell: Shell) -> None:
    name = "</script><script>alert(1)</script>"
    model = shell.model("-a", "cart", data=f'"{name}",play\n' + "1,a\n2,b\n" * 3)
    for form in ("svg", "html", "mermaid"):
        assert "<script" not in shell.fine("export", model, "--to", form).out
