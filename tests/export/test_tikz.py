"""TikZ: what TeX would read is balanced and free of its own signs."""

from __future__ import annotations

import re

import pytest

from drawn_trees import HOSTILE, TENNIS, chain, named_tree, regression
from treewright.errors import ParameterError
from treewright.export.tikz import LARGEST, PER_CENTIMETRE, tex_escaped, tikz_text
from treewright.export.view_model import visible_tree
from treewright.tree.tree import Tree

CONTROL = {
    "textbackslash", "textasciicircum", "textasciitilde", "textless", "textgreater", "textbar", "symbol", "ldots",
    "leq", "neq", "pm", "cdot",
}  # fmt: skip
"""The control words that may stand in a label."""

NODE = re.compile(r"  \\node\[tree (?:test|folded|leaf \d)\] \(n\d+\) at \(-?[\d.]+,-?[\d.]+\) \{(.*)\};")
EDGE = re.compile(
    r"  \\draw\[tree edge, line width=[\d.]+pt\] \(n\d+\.south\) -- "
    r"node\[tree branch, pos=0\.6\] \{(.*)\} \(n\d+\.north\);"
)


def labels(tree: Tree, **options: int | None) -> list[str]:
    """Return the labels of a picture after checking every line of it."""
    view = visible_tree(tree, **options)  # type: ignore[arg-type]
    text = tikz_text(view, [(10.0 * index, 0.5 * index) for index in range(len(view.nodes))])
    begin = text.index(r"\begin{tikzpicture}")
    for line in text[:begin].splitlines()[1:]:
        assert re.fullmatch(r"\\definecolor\{treeclass\d\}\{HTML\}\{[0-9A-F]{6}\}", line)
    head, body = text[begin:].split(r"font=\scriptsize}]" + "\n")
    assert head.count("{") == head.count("}") + 1  # the brace of the last style is cut off
    *lines, last = body.splitlines()
    assert last == r"\end{tikzpicture}"
    found = [NODE.fullmatch(line) or EDGE.fullmatch(line) for line in lines]
    assert all(found), [line for line, match in zip(lines, found, strict=True) if not match]
    return [match[1] for match in found if match]


def check_tex(label: str) -> None:
    """Read a label as TeX does, sign by sign: no special sign but those that were meant."""
    depth, index = 0, 0
    while index < len(label):
        sign = label[index]
        if sign == "\\":
            word = re.match(r"[A-Za-z]+", label[index + 1 :])
            if word:
                assert word[0] in CONTROL, label
                index += len(word[0]) + 1
            else:
                assert label[index + 1] in "\\{}$&#%_", label
                index += 2
            continue
        if sign == "$":
            inside = re.match(r"\$\\(leq|neq|pm|cdot)\$", label[index:])
            assert inside is not None, label
            index += len(inside[0])
            continue
        assert sign not in '&#%_^~"|<>`', label
        depth += {"{": 1, "}": -1}.get(sign, 0)
        assert depth >= 0, label
        index += 1
    assert depth == 0, label


def test_tree_of_the_lecture() -> None:
    found = labels(TENNIS)
    assert found[0] == r"Outlook\\n = 14"
    assert found[2] == "Sunny"
    assert len(found) == 15


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_only_letters_to_tex(name: str) -> None:
    found = labels(named_tree(name))
    assert len(found) == 5
    for label in found:
        check_tex(label)


def test_what_follows_a_new_line_is_not_read_as_its_option() -> None:
    assert tex_escaped("[2cm]") == "{[}2cm{]}"
    assert tex_escaped("*") == "{*}"


def test_ligatures_are_broken() -> None:
    assert tex_escaped("a--b") == "a{-}{-}b"


def test_numbers_and_deep_trees_are_set_without_nesting() -> None:
    tree, _ = regression()
    assert r"$\leq$ 15.5" in labels(tree)
    assert len(labels(chain(300), max_nodes=None)) == 601 + 600


def test_picture_beyond_the_lengths_of_tex_is_refused() -> None:
    view = visible_tree(TENNIS, max_depth=0)
    assert "550.00,0.00" in tikz_text(view, [(LARGEST * PER_CENTIMETRE, 0.0)])
    with pytest.raises(ParameterError, match=r"5\.5 metres: show fewer nodes"):
        tikz_text(view, [(LARGEST * PER_CENTIMETRE + 1, 0.0)])
