"""How J48's trees vote."""

from __future__ import annotations

import numpy as np
import pytest

from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Kind, Schema
from treewright.errors import ParameterError
from treewright.tree.build import NodeRecord, build_tree
from treewright.tree.split import Split
from treewright.tree.tree import Stop, Tree
from treewright.tree.votes import class_probabilities, predicted_codes

SCHEMA = Schema(
    (
        Column("f", Kind.NOMINAL, ("u", "v", "w")),
        Column("x", Kind.NUMERIC),
        Column("y", Kind.NOMINAL, ("a", "b")),
    ),
    target="y",
)


def record(counts: list[float], split: Split | None = None, children: tuple[int, ...] = ()) -> NodeRecord:
    numbers = np.array(counts)
    stop = None if split else (Stop.TOO_FEW if numbers.sum() else Stop.EMPTY)
    return NodeRecord(float(numbers.sum()), numbers, int(numbers.argmax()), split, list(children), stop)


def three_way_tree() -> Tree:
    """Return f = u: a cut of x; f = v: two cases of b, one of a; f = w: nobody."""
    records = [
        record([5, 3], Split.multiway(0, 3), (1, 2, 3)),
        record([4, 1], Split.threshold(1, 2.0), (4, 5)),
        record([1, 2]),
        record([0, 0]),
        record([4, 0]),
        record([0, 1]),
    ]
    return build_tree(SCHEMA, records)[0]


def cases(f: list[int], x: list[float]) -> Dataset:
    return Dataset(SCHEMA, (np.array(f, dtype=np.int32), np.array(x)), len(f))


def test_leaves_predict_their_shares() -> None:
    got = class_probabilities(three_way_tree(), cases([0, 0, 1], [2.0, 2.5, np.nan]))
    assert np.allclose(got, [[1.0, 0.0], [0.0, 1.0], [1 / 3, 2 / 3]])


def test_a_value_that_leads_to_an_empty_leaf_gets_the_prediction_of_the_parent() -> None:
    assert np.allclose(class_probabilities(three_way_tree(), cases([2], [0.0])), [[5 / 8, 3 / 8]])


def test_unknown_values_mix_the_branches_and_skip_the_empty_one() -> None:
    got = class_probabilities(three_way_tree(), cases([-1, 0, -1], [1.0, np.nan, np.nan]))
    one = 5 / 8 * np.array([1, 0]) + 3 / 8 * np.array([1 / 3, 2 / 3])
    both = 5 / 8 * np.array([4 / 5, 1 / 5]) + 3 / 8 * np.array([1 / 3, 2 / 3])
    assert np.allclose(got, np.array([one, [4 / 5, 1 / 5], both]))


def test_a_single_leaf_and_no_cases() -> None:
    leaf = build_tree(SCHEMA, [record([1, 3])])[0]
    assert class_probabilities(leaf, cases([-1, 0], [0.0, 1.0])).tolist() == [[0.25, 0.75]] * 2
    assert class_probabilities(leaf, cases([], [])).shape == (0, 2)


def test_the_first_of_nearly_equal_classes_wins() -> None:
    rows = np.array([[0.3, 0.3 + 5e-7, 0.3 + 9e-7], [0.3, 0.3 + 2e-6, 0.3], [0.0, 0.0, 1.0]])
    assert predicted_codes(rows).tolist() == [0, 1, 2]
    assert predicted_codes(np.zeros((0, 2))).tolist() == []


def test_a_regression_tree_has_no_classes() -> None:
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    tree = build_tree(schema, [NodeRecord(1.0, np.zeros(0), 2.0, stop=Stop.PURE, sse=0.0)])[0]
    with pytest.raises(ParameterError, match="no class probabilities"):
        class_probabilities(tree, Dataset(schema, (np.ones(1),), 1))
