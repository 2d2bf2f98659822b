"""Chi-square pruning: hand-made tables, the count of free attributes, and pure noise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_tables import schemas, trees_of
from small_trees import SCHEMA
from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Kind, Schema, Task
from treewright.errors import ParameterError
from treewright.fitting.learn import fit
from treewright.learners.recipe import ID3
from treewright.pruning.chi_square import prune_chi_square
from treewright.tree.build import NodeRecord, build_tree
from treewright.tree.split import Split
from treewright.tree.tree import LEAF, Stop, Tree


def node(split: Split | None, children: list[int], *counts: float) -> NodeRecord:
    stop = None if split else Stop.NO_GAIN
    return NodeRecord(float(sum(counts)), np.array(counts), int(np.argmax(counts)), split, children, stop)


def stump(left: tuple[int, ...], right: tuple[int, ...]) -> Tree:
    whole = tuple(np.add(left, right))
    records = [node(Split.multiway(2, 2), [1, 2], *whole), node(None, [], *left), node(None, [], *right)]
    return build_tree(SCHEMA, records)[0]


def test_one_table_by_hand() -> None:
    # All expected counts are 5: chi-square is 4 * 4/5 = 3.2 with one degree of freedom, p = 0.0736.
    tree = stump((7, 3, 0), (3, 7, 0))
    p = math.erfc(math.sqrt(3.2 / 2))
    assert p == pytest.approx(0.0736, abs=1e-4)
    for level, nodes in ((0.05, 1), (0.08, 3)):
        pruned = prune_chi_square(tree, level)
        assert len(pruned) == nodes
        assert pruned.p_value is not None
        assert pruned.p_value[0] == pytest.approx(p)
    assert prune_chi_square(tree, 0.05).node(0).stop is Stop.PRUNED


def test_only_what_occurs_makes_degrees_of_freedom() -> None:
    split = Split.multiway(0, 3)
    records = [
        node(split, [1, 2, 3], 8, 0, 8),
        node(None, [], 6, 0, 2),
        node(None, [], 2, 0, 6),
        node(None, [], 0, 0, 0),
    ]
    pruned = prune_chi_square(build_tree(SCHEMA, records)[0], 0.5)
    assert pruned.p_value is not None
    assert pruned.p_value[0] == pytest.approx(0.0455, abs=1e-4)  # chi-square 4, one degree of freedom
    pure = prune_chi_square(stump((4, 0, 0), (3, 0, 0)), 0.5)
    assert (len(pure), float(np.asarray(pure.p_value)[0])) == (1, 1.0)


def test_an_insignificant_test_above_a_significant_one_stays() -> None:
    records = [
        node(Split.multiway(2, 2), [1, 4], 22, 20, 0),
        node(Split.threshold(1, 2.0), [2, 3], 20, 20, 0),
        node(None, [], 20, 0, 0),
        node(None, [], 0, 20, 0),
        node(None, [], 2, 0, 0),
    ]
    tree = build_tree(SCHEMA, records)[0]
    pruned = prune_chi_square(tree, 0.01)
    assert len(pruned) == 5
    assert pruned.p_value is not None
    assert pruned.p_value[0] > 0.01 > pruned.p_value[1]
    assert np.isnan(pruned.p_value[2])


def test_bonferroni_counts_the_attributes() -> None:
    tree = stump((8, 2, 0), (2, 8, 0))
    plain = prune_chi_square(tree, 0.05)
    adjusted = prune_chi_square(tree, 0.05, bonferroni=True)
    assert plain.p_value is not None
    assert adjusted.p_value is not None
    assert (len(plain), len(adjusted)) == (3, 3)
    assert adjusted.p_value[0] == pytest.approx(4 * plain.p_value[0])
    assert len(prune_chi_square(tree, 0.02)) == 3
    assert len(prune_chi_square(tree, 0.02, bonferroni=True)) == 1
    assert np.asarray(prune_chi_square(stump((5, 5, 0), (5, 5, 0)), bonferroni=True).p_value)[0] == 1


def test_levels_and_numbers_are_refused() -> None:
    for level in (0.0, 1.0, -1.0, float("nan")):
        with pytest.raises(ParameterError, match="significance"):
            prune_chi_square(stump((1, 0, 0), (0, 1, 0)), level)
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    only = build_tree(schema, [NodeRecord(3.0, np.zeros(0), 1.0, stop=Stop.PURE, sse=2.0)])[0]
    with pytest.raises(ParameterError, match="classes"):
        prune_chi_square(only)


@given(schemas(Task.CLASSIFICATION).flatmap(trees_of), st.sampled_from((0.01, 0.05, 0.3)), st.booleans())
def test_any_tree(tree: Tree, level: float, bonferroni: bool) -> None:
    pruned = prune_chi_square(tree, level, bonferroni=bonferroni)
    pruned.validate()
    assert len(pruned) <= len(tree)
    assert prune_chi_square(pruned, level, bonferroni=bonferroni).to_dict() == pruned.to_dict()
    for index in np.flatnonzero(pruned.attribute != LEAF).tolist():
        if all(pruned.attribute[child] == LEAF for child in pruned.children_of(index)):
            assert np.asarray(pruned.p_value)[index] <= level
    if not bonferroni:
        assert len(prune_chi_square(tree, level, bonferroni=True)) <= len(pruned)


@pytest.mark.slow
def test_a_tree_grown_from_dice_is_cut_to_its_root() -> None:
    """These hundred give 93 and 87 single leaves; a thousand others 87 % and 83 %."""
    columns = [Column(f"die{index}", Kind.NOMINAL, tuple("1234")) for index in range(4)]
    schema = Schema((*columns, Column("y", Kind.NOMINAL, tuple("123456"))), target="y")
    single = {"1 %": 0, "5 % Bonferroni": 0}
    sizes = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        codes = rng.integers(0, 4, (4, 200)).astype(np.int32)
        cases = Dataset(schema, tuple(codes), 200, rng.integers(0, 6, 200).astype(np.int32))
        tree = fit(cases, ID3()).tree
        sizes.append(len(tree))
        single["1 %"] += len(prune_chi_square(tree, 0.01)) == 1
        single["5 % Bonferroni"] += len(prune_chi_square(tree, 0.05, bonferroni=True)) == 1
    assert min(sizes) > 150
    assert single["1 %"] >= 85
    assert single["5 % Bonferroni"] >= 85
