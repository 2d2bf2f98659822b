"""Pruning by description length: lengths by hand, and the promises on any tree."""

from __future__ import annotations

from math import comb, factorial, log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_tables import schemas, trees_of
from small_trees import SCHEMA
from treewright.data.schema import Column, Kind, Schema, Task
from treewright.errors import ParameterError
from treewright.pruning.mdl import class_bits, description_length, free_attributes, prune_mdl, split_bits
from treewright.tree.build import NodeRecord, build_tree
from treewright.tree.split import STAY, Split
from treewright.tree.tree import Stop, Tree


def node(split: Split | None, children: list[int], *counts: float) -> NodeRecord:
    stop = None if split else Stop.NO_GAIN
    return NodeRecord(float(sum(counts)), np.array(counts), int(np.argmax(counts)), split, children, stop)


def stump(left: tuple[int, ...], right: tuple[int, ...], missing: int = 0) -> Tree:
    whole = tuple(np.add(left, right))
    split = Split.multiway(2, 2, missing)
    return build_tree(SCHEMA, [node(split, [1, 2], *whole), node(None, [], *left), node(None, [], *right)])[0]


@given(st.lists(st.integers(0, 12), min_size=2, max_size=4))
def test_the_classes_of_a_leaf_are_counted_out(counts: list[int]) -> None:
    n, k = sum(counts), len(counts)
    arrangements = factorial(n)
    for count in counts:
        arrangements //= factorial(count)
    assert class_bits(np.array(counts)) == pytest.approx(log2(comb(n + k - 1, k - 1)) + log2(arrangements), abs=1e-9)


def test_two_classes_are_exceptions_and_their_number() -> None:
    assert class_bits(np.array([14, 3])) == pytest.approx(log2(18) + log2(comb(17, 3)))
    assert class_bits(np.array([0.5, 0.25])) > 0


def test_the_bits_of_each_form_of_test() -> None:
    assert split_bits(Split.multiway(0, 5), 20.0) == 0
    assert split_bits(Split.threshold(0, 1.5), 17.0) == 4
    assert split_bits(Split.threshold(0, 1.5), 1.0) == 0
    assert split_bits(Split.intervals(0, (1.0, 2.0)), 11.0) == pytest.approx(log2(45))  # two gaps of ten
    assert split_bits(Split.intervals(0, (1.0, 2.0)), 2.0) == 0
    assert split_bits(Split.equals(0, 1, 8), 9.0) == 3
    assert split_bits(Split.subsets(0, (0, 1, 1, 0)), 9.0) == pytest.approx(log2(7))
    assert split_bits(Split.subsets(0, (0, 1, 2, 0)), 9.0) == pytest.approx(log2(6))


def test_a_stump_by_hand() -> None:
    tree = stump((10, 0, 0), (0, 10, 0))
    as_leaf = 1 + log2(comb(22, 2)) + log2(comb(20, 10))
    as_tree = 1 + log2(4) + 2 * (1 + log2(comb(12, 2)))
    assert description_length(tree) == pytest.approx(as_tree)
    assert as_tree < as_leaf
    assert len(prune_mdl(tree)) == 3
    small = stump((1, 0, 0), (0, 1, 0))
    assert description_length(small) == pytest.approx(3 + 2 * (1 + log2(3)))
    cut = prune_mdl(small)
    assert cut.node(0).stop is Stop.PRUNED
    assert description_length(cut) == pytest.approx(1 + log2(6) + log2(2))


def test_cases_that_stay_are_encoded_too() -> None:
    stay = stump((10, 0, 0), (0, 10, 0), STAY)
    records = [
        node(Split.multiway(2, 2, STAY), [1, 2], 12, 11, 0),
        node(None, [], 10, 0, 0),
        node(None, [], 0, 10, 0),
    ]
    more = build_tree(SCHEMA, records)[0]
    coded = log2(comb(5, 2)) + log2(3)  # two and one of three cases
    assert description_length(more) - description_length(stay) == pytest.approx(coded)


def test_only_tests_by_value_and_interval_use_an_attribute_up() -> None:
    records = [
        node(Split.multiway(2, 2), [1, 6], 4, 0, 0),
        node(Split.intervals(1, (1.0, 2.0)), [2, 3, 4], 3, 0, 0),
        *(node(None, [], 1, 0, 0) for _ in range(3)),
        node(None, [], 0, 0, 0),
        node(Split.equals(0, 1, 3), [7, 8], 1, 0, 0),
        node(Split.threshold(3, 1.0), [5, 9], 1, 0, 0),
        node(None, [], 0, 0, 0),
        node(None, [], 1, 0, 0),
    ]
    tree = build_tree(SCHEMA, records)[0]
    assert free_attributes(tree).tolist() == [4, 3, 2, 2, 2, 3, 3, 3, 3, 3]


def test_numbers_are_refused() -> None:
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    only = build_tree(schema, [NodeRecord(3.0, np.zeros(0), 1.0, stop=Stop.PURE, sse=2.0)])[0]
    with pytest.raises(ParameterError, match="classes"):
        prune_mdl(only)


@given(schemas(Task.CLASSIFICATION).flatmap(trees_of))
def test_any_tree(tree: Tree) -> None:
    pruned = prune_mdl(tree)
    pruned.validate()
    assert len(pruned) <= len(tree)
    assert description_length(pruned) <= description_length(tree) * (1 + 1e-9)
    assert prune_mdl(pruned) is pruned
    assert free_attributes(tree).min() >= 0
