"""From the table of one attribute to its best test: which cuts are allowed, where they are put, what they score."""

from __future__ import annotations

from dataclasses import replace
from math import log2
from typing import Any

import numpy as np
import pytest

from learners.tables_for_growing import numeric_table
from treewright.counting.numpy import MemoryEngine
from treewright.counting.table import branch_counts
from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Kind, Schema
from treewright.learners.candidates import SplitCandidate, SplitEvaluator
from treewright.learners.criteria import information_gain, split_information
from treewright.learners.recipe import C45, CART, ID3, Cuts, MissingPolicy, Recipe, Stopping
from treewright.tree.split import FRACTIONAL, KNOWN, Split, SplitStatus


def examine(data: Dataset, recipe: Recipe, attribute: int = 0) -> SplitCandidate:
    engine = MemoryEngine(data)
    root = engine.root()
    [[table]] = engine.count([(root, [attribute])])
    [summary] = engine.summaries([root])
    return SplitEvaluator(recipe, engine, {}, summary.weight).evaluate(attribute, table)


def nominal_table(codes: list[int], target: list[int], values: int = 3, kind: Kind = Kind.NOMINAL) -> Dataset:
    schema = Schema((Column("a", kind, tuple("xyzuvw"[:values])), Column("k", Kind.NOMINAL, ("A", "B"))), target="k")
    return Dataset(schema, (np.array(codes, dtype=np.int32),), len(codes), np.array(target, dtype=np.int32))


def numbers(values: list[float], target: str) -> Dataset:
    return numeric_table({"x": values}, list(target), ("A", "B"))


# -- reasons against an attribute ------------------------------------------------------------------------------------


@pytest.mark.parametrize("recipe", [ID3(), C45(), CART()])
def test_without_any_value_there_is_no_test(recipe: Recipe) -> None:
    candidate = examine(nominal_table([-1, -1], [0, 1]), recipe)
    assert (candidate.status, candidate.split) == (SplitStatus.ALL_MISSING, None)


@pytest.mark.parametrize("recipe", [ID3(), C45(), CART()])
def test_with_one_value_there_is_no_test(recipe: Recipe) -> None:
    candidate = examine(nominal_table([1, 1, 1], [0, 1, 1]), recipe)
    assert (candidate.status, candidate.split) == (SplitStatus.ONE_VALUE, None)


def test_c45_wants_two_branches_of_two_cases() -> None:
    assert examine(nominal_table([0, 0, 0, 1, 2], [0, 1, 0, 1, 1]), C45()).status is SplitStatus.TOO_FEW
    assert examine(nominal_table([0, 0, 0, 1, 1], [0, 1, 0, 1, 1]), C45()).status is SplitStatus.CONSIDERED


def test_c45_takes_a_cut_only_if_its_gain_exceeds_the_cost_of_its_choice() -> None:
    """Gain of the best cut less log2(tries)/cases must be positive."""
    data = numbers([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], "ABABABAB")
    candidate = examine(data, C45())
    assert (candidate.status, candidate.tries) == (SplitStatus.NO_GAIN, 5)
    assert candidate.score < 0


# -- cuts ------------------------------------------------------------------------------------------------------------


def test_a_cut_is_put_in_the_middle_by_cart_and_at_a_value_of_the_data_by_c45() -> None:
    data = numbers([1.0, 2.0, 6.0, 7.0], "AABB")
    cart, c45 = examine(data, CART()).split, examine(data, C45()).split
    assert cart is not None
    assert c45 is not None
    assert (cart.cut, c45.cut) == (4.0, 2.0)


def test_c45_looks_for_the_cut_in_all_training_data() -> None:
    """In the node x = 1 and 9 are neighbours; 4 occurs elsewhere and is the largest value not above the middle."""
    schema = Schema(
        (
            Column("g", Kind.NOMINAL, ("here", "there")),
            Column("x", Kind.NUMERIC),
            Column("k", Kind.NOMINAL, ("A", "B")),
        ),
        target="k",
    )
    group = np.array([0, 0, 0, 0, 1], dtype=np.int32)
    x = np.array([1.0, 1.0, 9.0, 9.0, 4.0])
    engine = MemoryEngine(Dataset(schema, (group, x), 5, np.array([0, 0, 1, 1, 0], dtype=np.int32)))
    here, _ = engine.split_node(engine.root(), Split.multiway(0, 2, 0))
    [[table]] = engine.count([(here, [1])])
    split = SplitEvaluator(C45(), engine, {}, 5.0).evaluate(1, table).split
    assert split is not None
    assert split.cut == 4.0


def test_c45_takes_log2_of_the_tries_over_all_cases_off_the_gain() -> None:
    values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, np.nan, np.nan]
    data = numbers(values, "AAAAABBBBBAB")
    candidate = examine(data, C45())
    gain = information_gain(np.array([[5, 0], [0, 5]]), np.array([1, 1]))
    assert gain == pytest.approx(10 / 12)
    assert candidate.tries == 7  # two cases on each side: after the 2nd to after the 8th of ten
    assert candidate.score == pytest.approx(gain - log2(7) / 12)
    assert candidate.split_info == pytest.approx(split_information(np.array([[5], [5]]), np.array([2])))


def test_the_smallest_side_of_a_c45_cut_grows_with_the_node_up_to_25() -> None:
    """A tenth of the known weight per class, between the minimum of objects and 25."""
    for n, side in ((40, 2), (100, 5), (1000, 25)):
        values = [float(row) for row in range(n)]
        data = numbers(values, "A" + "B" * (n - 1))  # the one A asks for a cut as low as allowed
        split = examine(data, replace(C45(), numeric=Cuts(relative_side=True))).split
        assert split is not None
        assert split.cut == side - 0.5


def test_c45_does_not_cut_between_numbers_that_are_nearly_equal() -> None:
    data = numbers([1.0, 1.0, 1.0 + 5e-6, 1.0 + 5e-6], "AABB")
    assert examine(data, C45()).status is SplitStatus.TOO_FEW
    assert examine(data, CART()).status is SplitStatus.CONSIDERED


# -- missing values --------------------------------------------------------------------------------------------------


def test_cart_sends_missing_values_where_they_fit_best() -> None:
    data = numbers([1.0, 2.0, 3.0, 4.0, np.nan, np.nan], "AABBAA")
    candidate = examine(data, CART())
    assert candidate.split == Split.threshold(0, 2.5, 0)
    assert candidate.score == pytest.approx(1 - (16 + 4) / 36)
    data = numbers([1.0, 2.0, 3.0, 4.0, np.nan, np.nan], "AABBBB")
    assert examine(data, CART()).split == Split.threshold(0, 2.5, 1)


def test_cart_can_test_whether_a_number_is_known() -> None:
    data = numbers([1.0, 2.0, 3.0, np.nan, np.nan, np.nan], "AAABBB")
    assert examine(data, CART()).split == Split.threshold(0, KNOWN, 1)


def test_the_majority_policy_sends_missing_values_to_the_heavier_side_and_scales_the_score() -> None:
    recipe = CART(missing=MissingPolicy.MAJORITY)
    candidate = examine(numbers([1.0, 2.0, 3.0, 4.0, 5.0, np.nan], "AABBBA"), recipe)
    assert candidate.split == Split.threshold(0, 2.5, 1)
    assert candidate.score == pytest.approx(5 / 6 * (1 - (4 + 9) / 25))


def test_fractional_policy_leaves_the_way_open() -> None:
    split = examine(nominal_table([0, 0, 1, 1, -1], [0, 0, 1, 1, 0]), C45()).split
    assert split is not None
    assert split.missing == FRACTIONAL


def test_a_nominal_test_takes_missing_values_along_with_the_values_they_resemble() -> None:
    data = nominal_table([0, 0, 1, 1, 2, 2, -1, -1], [0, 0, 1, 1, 1, 1, 1, 1])
    split = examine(data, CART()).split
    assert split is not None
    assert (split.branch_of, split.missing) == ((0, 1, 1), 1)


# -- sets of values --------------------------------------------------------------------------------------------------


def test_a_value_that_does_not_occur_belongs_to_no_side() -> None:
    split = examine(nominal_table([0, 0, 2, 2], [0, 0, 1, 1]), CART()).split
    assert split is not None
    assert split.branch_of == (0, -1, 1)


def test_ordinal_values_are_cut_in_order_and_absent_ones_go_with_their_neighbour() -> None:
    data = nominal_table([0, 3, 0, 3, 1], [0, 1, 0, 1, 1], 4, Kind.ORDINAL)
    split = examine(data, CART()).split
    assert split is not None
    assert split.branch_of == (0, 1, 1, 1)
    data = nominal_table([0, 3, 0, 3], [0, 1, 0, 1], 4, Kind.ORDINAL)
    split = examine(data, CART()).split
    assert split is not None
    assert split.branch_of == (0, 0, 1, 1)


def test_sides_smaller_than_the_minimum_are_not_made() -> None:
    data = nominal_table([0, 1, 1, 2, 2], [0, 1, 1, 1, 1])
    candidate = examine(data, CART(stopping=Stopping(min_leaf=2)))
    assert candidate.split is not None
    assert candidate.counts.sum(axis=1).min() >= 2
    assert examine(data, CART(stopping=Stopping(min_leaf=3))).status is SplitStatus.TOO_FEW


@pytest.mark.parametrize(
    ("data", "recipe"),
    [
        (nominal_table([0, 0, 1, 1, 2, -1], [0, 1, 1, 1, 0, 1]), ID3()),
        (nominal_table([0, 0, 1, 1, 2, -1], [0, 1, 1, 1, 0, 1]), CART()),
        (nominal_table([0, 0, 1, 1, 2, -1], [0, 1, 1, 1, 0, 1], 3, Kind.ORDINAL), CART()),
        (numbers([1.0, 2.0, 2.0, 5.0, np.nan], "AABBB"), CART()),
        (numbers([1.0, 2.0, 2.0, 5.0, np.nan], "AABBB"), C45(min_objects=1)),
    ],
)
def test_the_table_of_a_candidate_is_that_of_its_branches(data: Dataset, recipe: Recipe) -> None:
    candidate = examine(data, recipe)
    assert candidate.split is not None
    branches = candidate.split.route(data.columns[0])
    target: Any = data.target
    for branch in range(candidate.split.n_branches):
        expected = np.bincount(target[branches == branch], minlength=2)
        assert candidate.counts[branch].tolist() == expected.tolist()
    assert candidate.unknown.tolist() == np.bincount(target[branches < 0], minlength=2).tolist()
    engine = MemoryEngine(data)
    [[table]] = engine.count([(engine.root(), [0])])
    assert branch_counts(table, candidate.split).tolist() == candidate.counts.tolist()
