"""Classifying as Release 8 does, against a recursive reference implementation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from release8_reference import fl, random_dataset, random_options
from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Kind, Schema
from treewright.errors import ParameterError
from treewright.learners.c45r8.growing import grow_release8
from treewright.learners.c45r8.options import Release8
from treewright.learners.c45r8.pruning import prune_release8
from treewright.tree.build import NodeRecord, build_tree
from treewright.tree.split import Split
from treewright.tree.tree import Stop, Tree
from treewright.tree.votes import class_sums

SCHEMA = Schema(
    (
        Column("x", Kind.NUMERIC),
        Column("a", Kind.NOMINAL, ("u", "v", "w")),
        Column("y", Kind.NOMINAL, ("no", "yes")),
    ),
    target="y",
)


def sums_of(tree: Tree, cases: Dataset, row: int) -> list[float]:
    """Return the class sums of one case, step by step."""
    sums = [0.0] * len(tree.schema.classes)

    def visit(node: int, share: float) -> None:
        weight = float(tree.weight[node])
        split = tree.split(node)
        if split is None:
            if weight > 0:
                for code, count in enumerate(tree.counts[node].tolist()):
                    if count:
                        sums[code] = fl(sums[code] + fl(fl(share * count) / weight))
            else:
                sums[int(tree.outcome[node])] = fl(sums[int(tree.outcome[node])] + share)
            return
        value = cases.columns[split.attribute][row].item()
        if tree.schema.attributes[split.attribute].is_numeric:
            unknown = np.isnan(value) or fl(value) == -999
            branch = -1 if unknown else int(fl(value) > fl(split.cut or 0.0))
        else:
            branch = -1 if value < 0 else split.branch_of[value]
        for b, child in enumerate(tree.children_of(node).tolist()):
            if b == branch:
                visit(child, share)
            elif branch < 0:
                visit(child, fl(fl(share * float(tree.weight[child])) / weight))

    visit(0, 1.0)
    return sums


@given(seed=st.integers(0, 2**32 - 1), missing=st.sampled_from([0.0, 0.1, 0.4]))
@settings(max_examples=100, deadline=None)
def test_sums_are_the_reference_implementation_bit_by_bit(seed: int, missing: float) -> None:
    rng = np.random.default_rng(seed)
    data, options = random_dataset(rng, missing), random_options(rng)
    growth = grow_release8(data, options)
    for tree in (growth.tree, prune_release8(data, growth, options.confidence)):
        sums = class_sums(tree, data)
        assert sums.dtype == np.float32
        assert sums.tolist() == [sums_of(tree, data, row) for row in range(data.n_rows)]


def hand_made() -> Tree:
    """``x <= 0.1``: yes and no; else by groups {u}, {v}, with w in none and an empty leaf for v."""
    records = [
        NodeRecord(9.0, np.array([5.0, 4.0]), 0, Split.threshold(0, float(np.float32(0.1))), [1, 2]),
        NodeRecord(3.0, np.array([1.0, 2.0]), 1, stop=Stop.TOO_FEW),
        NodeRecord(6.0, np.array([4.0, 2.0]), 0, Split.subsets(1, (0, 1, -1)), [3, 4]),
        NodeRecord(5.0, np.array([4.0, 1.0]), 0, stop=Stop.TOO_FEW),
        NodeRecord(0.0, np.array([4.0, 2.0]), 0, stop=Stop.EMPTY),
    ]
    return build_tree(SCHEMA, records)[0]


def cases_of(rows: list[tuple[float, int]]) -> Dataset:
    numbers, codes = zip(*rows, strict=True)
    return Dataset(SCHEMA, (np.array(numbers), np.array(codes, dtype=np.int32)), len(rows))


def test_numbers_are_compared_as_singles() -> None:
    # in double 0.1 and the 32-bit 0.1 differ
    sums = class_sums(hand_made(), cases_of([(0.1, 0), (0.1000001, 0)]))
    assert sums[0] == pytest.approx([1 / 3, 2 / 3])
    assert sums[1] == pytest.approx([0.8, 0.2])


def test_unknown_values_and_values_without_a_branch_are_split_into_fractions() -> None:
    sums = class_sums(hand_made(), cases_of([(2.0, 2), (2.0, -1), (2.0, 1), (np.nan, 1), (-999.0, 1)]))
    assert sums[0] == pytest.approx([0.8 * 5 / 6, 0.2 * 5 / 6])
    assert sums[1] == pytest.approx(sums[0])
    assert sums[2].tolist() == [1, 0]
    assert sums[3] == pytest.approx([1 / 9 + 6 / 9, 2 / 9])
    assert sums[4].tolist() == sums[3].tolist()


def test_no_cases() -> None:
    assert class_sums(hand_made(), cases_of([(1.0, 0)]).take([])).shape == (0, 2)


def test_a_regression_tree_has_no_votes() -> None:
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    tree = build_tree(schema, [NodeRecord(1.0, np.zeros(0), 0.5, stop=Stop.TOO_FEW, sse=0.0)])[0]
    with pytest.raises(ParameterError, match="regression"):
        class_sums(tree, Dataset(schema, (np.zeros(1),), 1))


def test_training_cases_of_a_clean_table() -> None:
    data = cases_of([(0.0, 0), (0.0, 0), (1.0, 1), (1.0, 1)])
    data = Dataset(SCHEMA, data.columns, 4, np.array([0, 0, 1, 1], dtype=np.int32))
    assert np.argmax(class_sums(grow_release8(data, Release8()).tree, data), axis=1).tolist() == [0, 0, 1, 1]
