"""Release 8's growing: its arithmetic, moving cases, and whole trees against the reference implementation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from release8_reference import Reference, fl, info, plain, plain_tree, random_dataset, random_options
from small_trees import SCHEMA, table
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.errors import DataError, ParameterError
from treewright.learners.c45r8 import cases as release8_cases
from treewright.learners.c45r8.arithmetic import (
    NO_GAIN,
    information,
    information_of_columns,
    log2,
    products,
    sequential_sum,
    single,
)
from treewright.learners.c45r8.cases import Release8Cases, gathered, quicksorted
from treewright.learners.c45r8.growing import grow_release8
from treewright.learners.c45r8.options import Release8
from treewright.learners.c45r8.splits import Blocks, NodeTable, grouping, node_table, smallest_side, split_score
from treewright.tree.split import FRACTIONAL, Split, Test
from treewright.tree.tree import Stop

RNG_SEEDS = st.integers(0, 2**32 - 1)


def numbers_of(values: list[float], target: list[int], classes: int = 2) -> Dataset:
    """Make a table of one numeric column."""
    names = tuple(f"c{code}" for code in range(classes))
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NOMINAL, names)), target="y")
    return Dataset(schema, (np.array(values, dtype=np.float64),), len(values), np.array(target, dtype=np.int32))


def values_of(codes: list[int], target: list[int], n_values: int) -> Dataset:
    """Make a table of one nominal column and two classes."""
    values = tuple(f"v{value}" for value in range(n_values))
    schema = Schema((Column("x", Kind.NOMINAL, values), Column("y", Kind.NOMINAL, ("no", "yes"))), target="y")
    return Dataset(schema, (np.array(codes, dtype=np.int32),), len(codes), np.array(target, dtype=np.int32))


# -- arithmetic --------------------------------------------------------------------------------------------------------


def test_information_check_values() -> None:
    assert information([9, 5]) == pytest.approx(13.1640034, abs=5e-8)
    assert information([single(0.1), single(0.7), single(2.3333333)]) == pytest.approx(3.00293279, abs=5e-9)
    assert information([]) == information([8.0]) == 0


def test_no_gain_never_passes() -> None:
    assert NO_GAIN < -0.001
    assert log2(0.0) == log2(-1.0) == 0


@given(RNG_SEEDS)
@settings(max_examples=100, deadline=None)
def test_vectorised_information_is_the_scalar_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.choice([0, 1, 3, 0.5, 1 / 3, 7.25], size=(int(rng.integers(1, 12)), 5)).astype(np.float32)
    assert information_of_columns(counts).tolist() == [information(column) for column in counts.T.tolist()]
    assert information_of_columns(counts).tolist() == [info(column) for column in counts.T.tolist()]


def test_products_of_whole_and_other_numbers() -> None:
    for counts in ([0.0, 1.0, 8.0, 70_000.0], [0.5, 8.0, 0.0], [-0.5, 2.0]):
        expected = [count * log2(count) for count in counts]
        assert products(np.array(counts, dtype=np.float32)).tolist() == pytest.approx(expected, rel=1e-15)
    assert products(np.array([], dtype=np.float32)).tolist() == []


def test_sums_are_sequential() -> None:
    values = np.random.default_rng(0).random(1000).astype(np.float32)
    expected = 0.0
    for value in values.tolist():
        expected = fl(expected + value)
    assert sequential_sum(values) == expected
    assert sequential_sum(values[:0]) == 0


# -- moving cases ------------------------------------------------------------------------------------------------------


@given(st.lists(st.booleans(), max_size=60))
def test_gathering_is_exchanging_positions(chosen: list[bool]) -> None:
    positions = list(range(len(chosen)))
    p = 0
    for i in range(len(positions)):
        if chosen[positions[i]]:
            positions[p], positions[i] = positions[i], positions[p]
            p += 1
    moved = gathered(np.array(chosen, dtype=bool), sum(chosen))
    assert positions == (list(range(len(chosen))) if moved is None else moved.tolist())


@pytest.mark.parametrize("short", [0, 200], ids=["arrays", "lists"])
@given(values=st.lists(st.integers(0, 12), max_size=60))
def test_sorting_moves_as_the_original(short: int, values: list[int]) -> None:
    reference = Reference(numbers_of([0.0], [0]), Release8())
    reference.order = list(range(len(values)))
    reference.sort([float(value) for value in values], 0, len(values) - 1)
    before = release8_cases.LIST_SORT_BELOW
    release8_cases.LIST_SORT_BELOW = short
    try:
        moved = quicksorted(np.array(values, dtype=np.float32))
    finally:
        release8_cases.LIST_SORT_BELOW = before
    assert reference.order == (list(range(len(values))) if moved is None else moved.tolist())


def test_unknown_numbers() -> None:
    cases = Release8Cases(numbers_of([1.0, -999.0, np.nan, 2.0], [0, 1, 0, 1]))
    assert cases.unknown[0].tolist() == [False, True, True, False]
    assert not cases.unit_weights
    assert Release8Cases(numbers_of([1.0, 2.0], [0, 1])).unit_weights


# -- whole trees -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [0.0, 0.1, 0.4])
@given(seed=RNG_SEEDS)
@settings(max_examples=60, deadline=None)
def test_growing_is_the_reference_implementation_bit_by_bit(missing: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    data, options = random_dataset(rng, missing), random_options(rng)
    reference = Reference(data, options)
    expected = plain(reference.grow(0, data.n_rows))
    growth = grow_release8(data, options)
    assert plain_tree(growth.tree, growth.tree_errors) == expected
    assert sorted(growth.order.tolist()) == list(range(data.n_rows))
    if not Release8Cases(data).unit_weights:
        assert growth.order.tolist() == reference.order


def test_weather() -> None:
    tree = grow_release8(sample("play-tennis"), Release8()).tree
    assert tree.n_nodes == 8
    assert [node.attribute.name for node in tree if not node.is_leaf] == ["Outlook", "Humidity", "Wind"]
    assert tree.estimate is None


def test_nodes_describe_themselves() -> None:
    growth = grow_release8(values_of([0] * 4 + [1] * 3 + [3], [0] * 4 + [1] * 3 + [1], 4), Release8())
    root, *leaves = growth.tree
    assert root.split is not None
    assert root.split.test is Test.NOMINAL
    assert root.split.missing == FRACTIONAL
    assert [leaf.stop for leaf in leaves] == [Stop.PURE, Stop.PURE, Stop.EMPTY, Stop.PURE]
    assert (leaves[2].weight, leaves[2].distribution) == (0, {"no": 4, "yes": 4})
    assert leaves[2].outcome == "no"


def test_reasons_for_stopping() -> None:
    assert grow_release8(numbers_of([1, 2, 3], [0, 1, 0]), Release8()).tree.node(0).stop is Stop.TOO_FEW
    assert grow_release8(numbers_of([1] * 6, [0, 1] * 3), Release8()).tree.node(0).stop is Stop.NO_GAIN
    assert grow_release8(values_of([0] * 6, [0, 1] * 3, 1), Release8()).tree.node(0).stop is Stop.NO_ATTRIBUTES
    # the test gains information but no case: 4 of 6 against 2 of 4, all of the same class
    collapsed = grow_release8(values_of([0] * 9 + [1] * 5, [0] * 8 + [1] + [0] * 3 + [1] * 2, 2), Release8())
    assert collapsed.tree.node(0).stop is Stop.PRUNED
    assert collapsed.errors[0] == 3


def test_zero_gain_can_win() -> None:
    tree = grow_release8(values_of([0, 0, 1, 1], [0, 1, 0, 1], 2), Release8())
    assert len(tree.records) == 3  # split, then collapsed
    assert tree.tree.n_nodes == 1


def test_cut_is_a_training_value_as_it_was_given() -> None:
    tree = grow_release8(numbers_of([0.1, 0.1, 0.3, 0.3, 0.7], [0, 0, 1, 1, 1]), Release8()).tree
    assert tree.cut[0] == 0.1  # not single(0.1), which no case has
    assert grow_release8(numbers_of([1.0, 1.0, 1.000005, 1.000005], [0, 0, 1, 1]), Release8()).tree.n_nodes == 1


def test_smallest_side() -> None:
    assert smallest_side(300.0, 3, 2) == 10
    assert smallest_side(3000.0, 3, 2) == 25
    assert smallest_side(300.0, 3, 12) == 12
    assert smallest_side(3000.0, 3, 30) == 25  # a tenth of a class is more than m, so the limit of 25 holds


def test_many_valued_attributes_are_left_out_of_the_average_only() -> None:
    codes, target = list(range(6)) * 2, [0, 1] * 6
    assert grow_release8(values_of(codes, target, 6), Release8()).tree.n_nodes == 7


# -- subset mode -------------------------------------------------------------------------------------------------------


def test_values_of_one_class_share_a_branch() -> None:
    codes = [0] * 3 + [1] * 3 + [2] * 3 + [3] * 3
    growth = grow_release8(values_of(codes, [0] * 3 + [1] * 3 + [0] * 3 + [1] * 3, 5), Release8(subset=True))
    assert growth.tree.split(0) == Split.subsets(0, (0, 1, 0, 1, 2))
    assert growth.tree.node(3).stop is Stop.EMPTY


def test_two_values_are_not_grouped() -> None:
    growth = grow_release8(values_of([0] * 3 + [1] * 3, [0] * 3 + [1] * 3, 2), Release8(subset=True))
    assert growth.tree.split(0) == Split.multiway(0, 2)


def test_gain_merges_to_two_blocks() -> None:
    counts = np.array([[0, 0], [5, 1], [4, 2], [1, 5], [3, 3]], dtype=np.float32)
    found = grouping(node_table(counts, 24.0), 2, by_ratio=False)
    assert found is not None
    assert set(found.branch_of) == {0, 1}


def test_scores_of_pairs_are_scores_after_merging() -> None:
    counts = np.array([[0.3, 0], [5, 1], [4, 2.5], [1, 5.25], [3, 3]], dtype=np.float32)
    table = node_table(counts, single(25.05))
    pairs = np.array([(p, q) for p in range(4) for q in range(p + 1, 4)])
    for pair, score in zip(pairs, Blocks(table, by_ratio=True).scores_after_merging(pairs), strict=True):
        blocks = Blocks(table, by_ratio=True)
        blocks.merge(*pair.tolist())
        assert blocks.score() == score


def test_the_oversight_that_leaves_the_minimum_at_one() -> None:
    values = ("u", "v", "w")
    schema = Schema(
        (
            Column("a", Kind.NOMINAL, values),
            Column("x", Kind.NUMERIC),
            Column("y", Kind.NOMINAL, ("no", "yes")),
        ),
        target="y",
    )
    unknown, numbers = np.full(12, -1, dtype=np.int32), np.array([0.0] + [1.0] * 11)
    target = np.array([1] + [0] * 11, dtype=np.int32)
    data = Dataset(schema, (unknown, numbers), 12, target)
    assert grow_release8(data, Release8(min_objects=2)).tree.n_nodes == 1
    assert grow_release8(data, Release8(min_objects=2, subset=True)).tree.cut[0] == 0


def test_worth() -> None:
    assert split_score(0.5, 1.0, 0.4, by_ratio=True) == 0.5
    assert split_score(0.3, 1.0, 0.4, by_ratio=True) == NO_GAIN
    assert split_score(0.5, 0.001, 0.4, by_ratio=True) == NO_GAIN
    assert split_score(0.0, 1.0, 0.0, by_ratio=False) == 0
    assert split_score(0.5, 0.0, 0.0, by_ratio=False) == NO_GAIN


def test_table_without_known_values() -> None:
    nothing: NodeTable = node_table(np.array([[2, 3], [0, 0]], dtype=np.float32), 5.0)
    assert (nothing.known, nothing.base, nothing.unknown_rate) == (0, 0, 1)


# -- limits ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argument", "value", "allowed"),
    [
        ("min_objects", 0, "at least 1"),
        ("min_objects", True, "at least 1"),
        ("criterion", "gini", "gain_ratio, gain"),
        ("confidence", 0.0, "above 0 and at most 1"),
        ("confidence", 25, "above 0 and at most 1"),
        ("confidence", float("nan"), "above 0 and at most 1"),
        ("subset", 1, "True or False"),
        ("prune", None, "True or False"),
    ],
)
def test_options_that_are_refused(argument: str, value: object, allowed: str) -> None:
    with pytest.raises(ParameterError, match=allowed):
        Release8(**{argument: value})  # type: ignore[arg-type]


def test_data_that_are_refused() -> None:
    data = table(SCHEMA, [("red", 1.0, "no", 3.0, "a")])
    with pytest.raises(ParameterError, match="case weights"):
        grow_release8(Dataset(SCHEMA, data.columns, 1, data.target, np.array([2.0])), Release8())
    with pytest.raises(DataError, match="no cases"):
        grow_release8(data.take([]), Release8())
    with pytest.raises(DataError, match="no cases"):
        grow_release8(data.X, Release8())
    for number in (1e39, -3e38):
        with pytest.raises(DataError, match="32-bit"):
            grow_release8(numbers_of([number, 2.0], [0, 1]), Release8())
    regression = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    with pytest.raises(ParameterError, match="classification"):
        grow_release8(Dataset(regression, (np.zeros(2),), 2, np.zeros(2)), Release8())
    weighted = Dataset(SCHEMA, data.columns, 1, data.target, np.array([1.0]))
    assert grow_release8(weighted, Release8()).tree.n_nodes == 1
