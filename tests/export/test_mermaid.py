"""Mermaid: every name is letters, digits, harmless signs and numbered entities."""

from __future__ import annotations

import re

import pytest

from drawn_trees import HOSTILE, TENNIS, named_tree, regression
from treewright.export.mermaid import mermaid_escaped, mermaid_text
from treewright.export.view_model import visible_tree
from treewright.wording import printable

LABEL = r'"((?:[^"#<>&;`|\[\]{}\\]|#\d+;|<br/>)*)"'
LINES = (
    re.compile(rf"    n\d+\[{LABEL}\](?::::folded)?"),
    re.compile(rf"    n\d+\(\[{LABEL}\]\):::class\d"),
    re.compile(rf"    n\d+ -->\|{LABEL}\| n\d+"),
    re.compile(r"    classDef (?:class\d fill:#[0-9a-f]{6},stroke:#59616c,color:#1b1f24|folded stroke-dasharray:4 3)"),
)


def check(text: str) -> list[str]:
    """Check every line against the few forms that are written; return the labels, entities read."""
    first, *lines = text.split("\n")
    assert first == "flowchart TD"
    labels = []
    for line in lines:
        found = [match for pattern in LINES if (match := pattern.fullmatch(line))]
        assert len(found) == 1, line
        if found[0].re.groups:
            labels.append(re.sub(r"#(\d+);", lambda entity: chr(int(entity[1])), found[0][1].replace("<br/>", "\n")))
    return labels


def test_tree_of_the_lecture() -> None:
    labels = check(mermaid_text(visible_tree(TENNIS)))
    assert labels[:3] == ["Outlook\nn = 14", "Humidity\nn = 5", "Sunny"]
    assert len(labels) == 15


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_entities_and_read_as_they_are(name: str) -> None:
    labels = check(mermaid_text(visible_tree(named_tree(name))))
    assert labels[0] == f"{printable(name)}\nn = 3"
    assert labels[2] == printable(name)


def test_scripts_of_all_languages_stand_as_they_are() -> None:
    assert mermaid_escaped("שלום 天氣 é") == "שלום 天氣 é"
    assert mermaid_escaped("😀") == "#128512;"


@pytest.mark.parametrize(
    ("text", "escaped"), [("1. x", "1#46; x"), ("- x", "#45; x"), ("2)", "2#41;"), ("1.5", "1.5"), ("-3 x", "-3 x")]
)
def test_names_do_not_begin_lists(text: str, escaped: str) -> None:
    assert mermaid_escaped(text) == escaped


def test_numbers_have_labels_too() -> None:
    tree, _ = regression()
    labels = check(mermaid_text(visible_tree(tree, max_depth=1)))
    assert labels[2] == "≤ 15.5"
