"""The linear notation: what is written, what is read, what is refused and where."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.errors import ParameterError
from treewright.tree.build import NodeRecord, build_tree
from treewright.tree.model import TreeModel
from treewright.tree.notation import LONGEST_NOTATION, parse_notation, to_notation
from treewright.tree.split import STAY, Split
from treewright.tree.tree import LEAF, Node, Stop, Tree

CAL2 = sample("cal2").schema
ODD_NAMES = ("*", "", "a b", "a,b", "(", '"', "\\", "\\n", "\n", "\x1b[31m", "\u202e", "\ud800", "\u00a0", "日本", "'")


def schema_of(attributes: dict[str, tuple[str, ...]], classes: tuple[str, ...] = ("A", "B")) -> Schema:
    columns = [Column(name, Kind.NOMINAL, values) for name, values in attributes.items()]
    return Schema((*columns, Column("k", Kind.NOMINAL, classes)), target="k")


def leaf(outcome: int, stop: Stop = Stop.PURE) -> NodeRecord:
    return NodeRecord(1.0, np.array([1, 0]), outcome, stop=stop)


def shape_of(tree: Tree) -> list[object]:
    """The tests, the open leaves and the classes of the other ones."""
    return [_shape_of(node) for node in tree]


def _shape_of(node: Node) -> object:
    if node.is_leaf:
        return None if node.stop is Stop.OPEN else node.outcome
    return node.attribute.name, len(node.children)


# -- writing ---------------------------------------------------------------------------------------------------------


def test_a_tree_is_written_with_its_branches_in_category_order() -> None:
    root = NodeRecord(4.0, np.array([2, 2]), 0, Split.multiway(0, 2), [1, 2])
    below = NodeRecord(2.0, np.array([1, 1]), 0, Split.multiway(1, 2), [3, 4])
    tree, _ = build_tree(CAL2, [root, leaf(1), below, leaf(0), leaf(0, Stop.OPEN)])
    assert to_notation(tree) == "x1(B,x2(A,*))"


def test_a_single_leaf_is_its_class_or_a_star() -> None:
    assert to_notation(build_tree(CAL2, [leaf(1)])[0]) == "B"
    assert to_notation(build_tree(CAL2, [leaf(1, Stop.OPEN)])[0]) == "*"


def test_other_tests_have_no_notation() -> None:
    tree, _ = build_tree(CAL2, [NodeRecord(2.0, np.array([1, 1]), 0, Split.equals(2, 1, 5), [1, 2]), leaf(0), leaf(1)])
    with pytest.raises(ParameterError, match="node 0 has 'equals'"):
        to_notation(tree)


def test_a_regression_tree_has_no_notation() -> None:
    schema = Schema((Column("x", Kind.NOMINAL, ("a", "b")), Column("y", Kind.NUMERIC)), target="y")
    tree, _ = build_tree(schema, [NodeRecord(1.0, np.zeros(0), 0.5, stop=Stop.PURE, sse=0.0)])
    with pytest.raises(ParameterError, match="predicts numbers"):
        to_notation(tree)
    with pytest.raises(ParameterError, match="declares none"):
        parse_notation("A", schema)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("Iris-setosa", "Iris-setosa"),
        (">=50K", ">=50K"),
        ("don't", "don't"),
        ("日本", "日本"),
        ("*", '"*"'),
        ("", '""'),
        ("a b", '"a b"'),
        ("f(x)", '"f(x)"'),
        ('say "a"', r'"say \"a\""'),
        ("a\\nb", r'"a\\nb"'),
        ("a\nb", r'"a\nb"'),
        ("\x1b", r'"\x1b"'),
        ("\u202e", r'"\u202e"'),
    ],
)
def test_names_are_quoted_where_they_must_be(name: str, written: str) -> None:
    schema = schema_of({}, (name, "other"))
    assert to_notation(build_tree(schema, [leaf(0)])[0]) == written
    assert parse_notation(written, schema).node(0).outcome == name


# -- reading ---------------------------------------------------------------------------------------------------------


def test_space_between_the_parts_means_nothing() -> None:
    tree = parse_notation(" x1 (\n x2 (A,\tB) , * ) ", CAL2)
    assert to_notation(tree) == "x1(x2(A,B),*)"


def test_what_is_read_has_no_cases_and_open_leaves_are_open() -> None:
    tree = parse_notation("x1(x2(B,B),*)", CAL2)
    assert tree.weight.tolist() == [0.0] * 5
    assert [node.stop for node in tree] == [None, None, Stop.EMPTY, Stop.EMPTY, Stop.OPEN]


def test_nodes_without_a_class_of_their_own_have_that_of_most_leaves() -> None:
    tree = parse_notation("x1(x2(B,*),x3(A,A,A,*,*))", CAL2)
    # the root: three A against one B; below, x2 has one B; open leaves predict as the node above
    assert [node.outcome for node in tree] == ["A", "B", "B", "B", "A", "A", "A", "A", "A", "A"]
    assert parse_notation("x1(*,*)", CAL2).outcome.tolist() == [0, 0, 0]  # no class anywhere: the first one
    assert parse_notation("x1(B,x2(*,*))", CAL2).outcome.tolist() == [1, 1, 1, 1, 1]


def test_what_is_read_predicts_and_a_missing_value_stays() -> None:
    model = TreeModel(parse_notation("x1(x2(A,B),B)", CAL2))
    columns = tuple(np.array(codes, dtype=np.int32) for codes in ([0, 0, 1, -1], [0, 1, -1, 0], [0, 0, 0, 0]))
    assert model.predict(Dataset(CAL2, columns, 4)).tolist() == ["A", "B", "B", "B"]
    assert int(model.tree.missing[0]) == STAY


def test_one_name_for_attribute_and_class_is_distinguished_by_the_bracket() -> None:
    schema = schema_of({"A": ("0", "1")})
    assert shape_of(parse_notation("A(A,B)", schema)) == [("A", 2), "A", "B"]


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("", 1, "a subtree is missing"),
        ("  ", 3, "a subtree is missing"),
        ("x1(", 4, "a subtree is missing"),
        ("x1(A,", 6, "a subtree is missing"),
        ("x1(A,B", 7, "the bracket of 'x1' is not closed"),
        ("x1(x2(A,B),B", 13, "the bracket of 'x1' is not closed"),
        ("x1(A,B))", 8, "the tree is complete, but '\\)' follows"),
        ("A B", 3, "the tree is complete, but 'B' follows"),
        ("A,B", 2, "the tree is complete"),
        ("(A,B)", 1, "a subtree is expected here"),
        ("x1(,B)", 4, "a subtree is expected here"),
        ("x1((A,B),B)", 4, "a subtree is expected here"),
        ("x1(A B)", 6, "a comma or \\) is expected here, not 'B'"),
        ("x1(A(A,B),B)", 4, "there is no attribute 'A'"),
        ("x1(*(A,B),B)", 5, "a comma or \\) is expected here"),
        ("x1(A)", 5, "'x1' has 2 values \\('0', '1'\\), but this is 1 branch"),
        ("x1(A,B,A)", 7, "'x1' has 2 values \\('0', '1'\\), but this is 3 branches"),
        ("x9(A,B)", 1, "there is no attribute 'x9'. There are: 'x1', 'x2', 'x3'"),
        ("x1(A,C)", 6, "there is no class 'C'"),
        ("x1(A,x2)", 6, "'x2' is an attribute and needs its branches"),
        ('x1(A,"B)', 6, "this quote is not closed"),
        ('x1(A,"B\\")', 6, "this quote is not closed"),
        ("x1(A,\\B)", 6, "a backslash outside of quotes"),
        ('x1(A,"B\\q")', 8, "after a backslash comes"),
        ('x1(A,"\\xg0")', 7, "after a backslash comes"),
        ('x1(A,"\\UFFFFFFFF")', 7, "after a backslash comes"),
    ],
)
def test_bad_text_is_refused_with_its_position(text: str, position: int, message: str) -> None:
    with pytest.raises(ParameterError, match=f"^notation, character {position}: {message}"):
        parse_notation(text, CAL2)


def test_attributes_without_a_branch_for_each_value_are_refused() -> None:
    schema = Schema(
        (
            Column("size", Kind.NUMERIC),
            Column("only", Kind.NOMINAL, ("one",)),
            Column("k", Kind.NOMINAL, ("A", "B")),
        ),
        target="k",
    )
    with pytest.raises(ParameterError, match="character 1: attribute 'size' is numeric"):
        parse_notation("size(A,B)", schema)
    with pytest.raises(ParameterError, match="character 1: attribute 'only' declares fewer than two values"):
        parse_notation("only(A)", schema)


# -- hostile text ----------------------------------------------------------------------------------------------------


def test_three_thousand_levels_are_read_and_written() -> None:
    depth = 3000
    schema = schema_of({f"a{level}": ("0", "1") for level in range(depth)})
    text = "".join(f"a{level}(A," for level in range(depth)) + "*" + ")" * depth
    tree = parse_notation(text, schema)
    assert tree.depth == depth
    assert to_notation(tree) == text


@pytest.mark.parametrize(
    "text",
    [
        "x1(" * 100_000,
        ")" * 900_000,
        '"' + "a" * 900_000,
        '"' + "\\" * 900_001,
        "A" * 900_000,
        "x1(A," * 100_000,
        " " * 900_000,
        '"\\n"' * 200_000,
    ],
)
def test_long_nonsense_is_refused_soon(text: str) -> None:
    start = time.perf_counter()
    with pytest.raises(ParameterError) as refused:
        parse_notation(text, CAL2)
    assert time.perf_counter() - start < 30
    assert len(str(refused.value)) < 500


def test_size_is_bounded() -> None:
    with pytest.raises(ParameterError, match=f"at most {LONGEST_NOTATION} are read"):
        parse_notation(" " * (LONGEST_NOTATION + 1), CAL2)
    with pytest.raises(ParameterError, match="7 characters; at most 6 are read"):
        parse_notation("x1(A,B)", CAL2, longest=6)
    many = schema_of({"a": ("0", "1")}, tuple(f"c{code}" for code in range(10_000)))
    with pytest.raises(ParameterError, match="the tree is too large"):
        parse_notation("a(*," * 5000 + "*" + ")" * 5000, many)


@given(st.text(alphabet='x12AB(),*" \\n', max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        tree = parse_notation(text, CAL2)
    except ParameterError as refused:
        message = str(refused)
    else:
        message = ""
        assert to_notation(parse_notation(to_notation(tree), CAL2)) == to_notation(tree)
    assert not message or message.startswith("notation, character ")


# -- round trip ------------------------------------------------------------------------------------------------------


@st.composite
def odd_schemas(draw: st.DrawFn) -> Schema:
    """Nominal attributes and classes with names of all kinds."""
    name = st.sampled_from(ODD_NAMES) | st.text(max_size=4)
    names = draw(st.lists(name, min_size=2, max_size=4, unique=True))
    values = st.lists(name, min_size=2, max_size=3, unique=True).map(tuple)
    *attributes, target = (Column(one, Kind.NOMINAL, draw(values)) for one in names)
    return Schema((*attributes, target), target=target.name)


@st.composite
def nominal_trees(draw: st.DrawFn) -> Tree:
    """Trees with a branch for each value, at random."""
    schema = draw(odd_schemas())
    classes = len(schema.classes)
    records = [NodeRecord(0.0, np.zeros(classes), 0)]
    leaves = [0]
    for _ in range(draw(st.integers(0, 6))):
        node = leaves.pop(draw(st.integers(0, len(leaves) - 1)))
        attribute = draw(st.integers(0, len(schema.attributes) - 1))
        records[node].split = Split.multiway(attribute, len(schema.attributes[attribute].values))
        records[node].children = list(range(len(records), len(records) + len(schema.attributes[attribute].values)))
        leaves += records[node].children
        records += [NodeRecord(0.0, np.zeros(classes), 0) for _ in records[node].children]
    for record in records:
        record.outcome = draw(st.integers(0, classes - 1))
        record.stop = None if record.split else draw(st.sampled_from((Stop.PURE, Stop.OPEN, Stop.NO_ATTRIBUTES)))
    return build_tree(schema, records)[0]


@given(nominal_trees())
def test_what_is_written_is_read_back(tree: Tree) -> None:
    text = to_notation(tree)
    again = parse_notation(text, tree.schema)
    assert shape_of(again) == shape_of(tree)
    assert to_notation(again) == text
    assert not set(text) & {"\n", "\x1b", "\u202e", "\ud800"}
    inner = tree.attribute != LEAF
    assert np.array_equal(again.attribute, tree.attribute)
    assert np.array_equal(again.children, tree.children)
    assert np.array_equal(again.missing[inner], np.full(int(inner.sum()), STAY))
