"""The tree on a terminal."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from random_tables import trees_and_cases
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.fitting.learn import fit
from treewright.learners.recipe import ID3
from treewright.tree.build import NodeRecord, build_tree
from treewright.tree.split import Split
from treewright.tree.text import BLOCK, LONGEST_LABEL
from treewright.tree.tree import Stop, Tree

TENNIS = fit(sample("play-tennis"), ID3()).tree

PICTURE = """\
Outlook
├─ Sunny     Humidity
│            ├─ High    No   3
│            └─ Normal  Yes  2
├─ Overcast  Yes             4
└─ Rain      Wind
             ├─ Weak    Yes  3
             └─ Strong  No   2"""

NARROW = """\
Outlook
├─ Sunny: Humidity
│  ├─ High: No     3
│  └─ Normal: Yes  2
├─ Overcast: Yes   4
└─ Rain: Wind
   ├─ Weak: Yes    3
   └─ Strong: No   2"""

SHALLOW = """\
Outlook
├─ Sunny     No … 2 more nodes   5/2
├─ Overcast  Yes                 4
└─ Rain      Yes … 2 more nodes  5/2"""


def leaf(*counts: float) -> NodeRecord:
    return NodeRecord(float(sum(counts)), np.array(counts), int(np.argmax(counts)), stop=Stop.PURE)


def named_tree(attribute: str, values: tuple[str, str], classes: tuple[str, str]) -> Tree:
    schema = Schema((Column(attribute, Kind.NOMINAL, values), Column("y", Kind.NOMINAL, classes)), target="y")
    root = NodeRecord(3.0, np.array([1, 2]), 1, Split.multiway(0, 2), [1, 2])
    return build_tree(schema, [root, leaf(1, 0), leaf(0, 2)])[0]


def chain(depth: int) -> Tree:
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NOMINAL, ("a", "b"))), target="y")
    records = []
    for level in range(depth):
        counts = np.array([depth - level, 1])
        here = 2 * level
        records += [
            NodeRecord(float(counts.sum()), counts, 0, Split.threshold(0, level), [here + 1, here + 2]),
            leaf(1, 0),
        ]
    return build_tree(schema, [*records, leaf(0, 1)])[0]


def test_the_tennis_tree_is_the_picture_of_the_lecture() -> None:
    assert TENNIS.to_text() == PICTURE
    assert str(TENNIS) == PICTURE


def test_a_narrow_terminal_gets_a_narrow_tree() -> None:
    assert TENNIS.to_text(width=22) == NARROW


def test_below_the_wanted_depth_nodes_are_counted() -> None:
    assert TENNIS.to_text(max_depth=1) == SHALLOW
    assert TENNIS.to_text(max_depth=0) == "Yes … 7 more nodes  14/5"
    assert TENNIS.to_text(max_depth=2) == PICTURE


def test_nodes_are_numbered_on_request() -> None:
    text = TENNIS.to_text(numbers=True)
    assert [int(number) for number in re.findall(r"\[(\d+)\]", text)] == list(range(8))
    assert "[5] Wind" in text


def test_a_single_leaf_is_one_line() -> None:
    schema = Schema((Column("y", Kind.NOMINAL, ("a", "b")),), target="y")
    assert build_tree(schema, [leaf(3, 1)])[0].to_text() == "a  4/1"


def test_rounding_leaves_no_errors_below_zero() -> None:
    schema = Schema((Column("y", Kind.NOMINAL, ("a", "b")),), target="y")
    record = NodeRecord(0.1 + 0.2 - 1e-16, np.array([0.1 + 0.2, 0.0]), 0, stop=Stop.PURE)
    assert build_tree(schema, [record])[0].to_text() == "a  0.3"


def test_regression_leaves_show_their_mean() -> None:
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    records = [NodeRecord(4.0, np.zeros(0), 1.5, Split.threshold(0, 0.1), [1, 2], sse=1.0)]
    records += [NodeRecord(2.0, np.zeros(0), mean, stop=Stop.PURE, sse=0.0) for mean in (1.0, 2.0 / 3)]
    assert build_tree(schema, records)[0].to_text() == "x\n├─ <= 0.1  1         2\n└─ > 0.1   0.666667  2"


def test_deep_trees_are_cut_into_subtrees_that_are_each_printed_once() -> None:
    text = chain(3 * BLOCK - 1).to_text()
    blocks = text.split("\n\n")
    assert len(blocks) == 3
    assert [block.splitlines()[0] for block in blocks[1:]] == ["Subtree [S1]", "Subtree [S2]"]
    assert text.count("[S1]") == text.count("[S2]") == 2
    assert len(re.findall(r"<= \d+", text)) == 3 * BLOCK - 1
    assert max(map(len, text.splitlines())) < 250


@pytest.mark.parametrize("width", [20, 100, 10_000])
def test_no_line_of_a_deep_tree_is_lost_at_any_width(width: int) -> None:
    tree = chain(2 * BLOCK + 5)
    cuts = re.findall(r"<= (\d+)", tree.to_text(width=width))
    assert [int(cut) for cut in cuts] == list(range(2 * BLOCK + 5))


@pytest.mark.parametrize(
    "name",
    ["two\nlines", "\x1b[31mred", "\u202eevil", "nul\x00", "a\rb", "\u2028", "half\ud800", "\x85"],
)
def test_names_cannot_break_lines_or_act_on_the_terminal(name: str) -> None:
    text = named_tree(name, (name, "v"), (name, "yes")).to_text()
    assert len(text.splitlines()) == 3
    assert name not in text
    assert text.isascii() or not any(ord(character) in {0x202E, 0x2028, 0x85} for character in text)
    text.encode("utf-8")


@pytest.mark.parametrize("name", ["</script><script>alert(1)</script>", "😀", "שלום", "{a, b}", "'quoted'", "%s {0}"])
def test_other_names_stand_as_they_are(name: str) -> None:
    lines = named_tree(name, (name, "v"), (name, "yes")).to_text().splitlines()
    assert lines[0] == name
    assert lines[1].startswith(f"├─ {name}  {name}  ")


def test_long_labels_are_shortened_and_the_rest_counted_by_values() -> None:
    values = tuple(f"value, number {number}" for number in range(40))
    schema = Schema((Column("c", Kind.NOMINAL, values), Column("y", Kind.NOMINAL, ("a", "b"))), target="y")
    root = NodeRecord(3.0, np.array([1, 2]), 1, Split.subsets(0, [0] * 39 + [1]), [1, 2])
    first, second = build_tree(schema, [root, leaf(1, 0), leaf(0, 2)])[0].to_text().splitlines()[1:]
    assert first.startswith("├─ {value, number 0, value, number 1, … 37 more}")
    assert "{value, number 39}" in second


def test_one_very_long_value_is_cut() -> None:
    long = "x" * 500
    schema = Schema((Column("c", Kind.NOMINAL, (long, "v")), Column("y", Kind.NOMINAL, ("a", "b"))), target="y")
    for split in (Split.multiway(0, 2), Split.subsets(0, (0, 1)), Split.equals(0, 0, 2)):
        root = NodeRecord(3.0, np.array([1, 2]), 1, split, [1, 2])
        text = build_tree(schema, [root, leaf(1, 0), leaf(0, 2)])[0].to_text()
        assert "…" in text
        assert "xxx" in text
        assert max(map(len, text.splitlines())) < LONGEST_LABEL + 20


@given(trees_and_cases(), st.integers(10, 120), st.none() | st.integers(0, 4), st.booleans())
@settings(max_examples=60)
def test_any_tree_prints_a_line_for_every_node(pair: Any, width: int, max_depth: int | None, numbers: bool) -> None:
    tree: Tree = pair[0]
    cases: Dataset = pair[1]
    assert cases.schema == tree.schema
    lines = tree.to_text(width=width, max_depth=max_depth, numbers=numbers).splitlines()
    shown = tree.n_nodes if max_depth is None else int(np.count_nonzero(tree.depths <= max_depth))
    assert len(lines) == shown
    assert not any(line.endswith(" ") for line in lines)
