"""Graphviz: what it would read is what was meant."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from drawn_trees import HOSTILE, TENNIS, chain, named_tree, regression, wide
from treewright.export.dot import dot_escaped, dot_text
from treewright.export.view_model import visible_tree

STRING = r'"((?:[^"\\]|\\.)*)"'
ATTRIBUTE = rf"[a-z]+=(?:{STRING}|[0-9.]+|[a-z]+)"
STATEMENT = re.compile(rf"    (n\d+(?: -> n\d+)?|node|edge) \[({ATTRIBUTE}(?:, {ATTRIBUTE})*)\];")


def read(text: str) -> dict[str, str]:
    """Read the labels of nodes and edges by the grammar of DOT, unescaped as Graphviz does."""
    first, *lines, last = text.split("\n")
    assert (first, last) == ("digraph tree {", "}")
    labels = {}
    for line in lines:
        found = STATEMENT.fullmatch(line)
        assert found is not None, line
        label = re.search(rf"label={STRING}", found[2])
        if label is not None:
            plain = re.sub(r"\\(.)", lambda escape: {"n": "\n"}.get(escape[1], escape[1]), label[1])
            labels[found[1]] = plain.replace("&amp;", "&")
    return labels


def test_tree_of_the_lecture() -> None:
    labels = read(dot_text(visible_tree(TENNIS)))
    assert labels["n0"] == "Outlook\nn = 14"
    assert labels["n0 -> n1"] == "Sunny"
    assert labels["n2"] == "No\nn = 3 (100 %)"
    assert len(labels) == 15


def test_leaves_have_the_colour_of_their_class_and_edges_the_width_of_their_cases() -> None:
    text = dot_text(visible_tree(TENNIS, max_depth=1))
    assert 'n2 [label="Yes\\nn = 4 (100 %)", fillcolor="#cfe3f0"]' in text
    assert 'n0 -> n1 [label="Sunny", penwidth=2.86]' in text
    assert text.count('style="rounded,dashed"') == 2


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_inside_their_strings(name: str) -> None:
    text = dot_text(visible_tree(named_tree(name)))
    labels = read(text)
    assert set(labels) == {"n0", "n1", "n2", "n0 -> n1", "n0 -> n2"}
    assert len(text.splitlines()) == 9
    assert not any(ord(character) < 32 for character in text.replace("\n", ""))
    text.encode("utf-8")


def test_escapes_of_graphviz_are_not_read_from_names() -> None:
    assert dot_escaped(r"\N \G \l") == r"\\N \\G \\l"
    assert dot_escaped("&amp; &#65;") == "&amp;amp; &amp;#65;"


def test_numbers_and_deep_trees_have_labels_too() -> None:
    tree, _ = regression()
    assert read(dot_text(visible_tree(tree)))["n0"].startswith("x\nmean 5.625 ± ")
    assert len(read(dot_text(visible_tree(chain(2999), max_nodes=None)))) == 5999 + 5998


def test_tree_without_cases_has_thin_edges() -> None:
    view = visible_tree(wide(2))
    empty = type(view)(
        view.tree,
        tuple(
            type(one)(one.number, one.parent, one.shape, one.name, one.branch, 0.0, (0.0, 0.0), 0) for one in view.nodes
        ),
    )
    assert "penwidth=0.50" in dot_text(empty)


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
@pytest.mark.parametrize("name", HOSTILE)
def test_graphviz_accepts_it(name: str) -> None:
    done = subprocess.run(
        ["dot", "-Tplain"], input=dot_text(visible_tree(named_tree(name))), capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("graph ")
