"""Whole trees: against readable growers that loop over rows, by hand, and by what must not change a tree."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise, product
from math import isnan, log2
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learners.tables_for_growing import numeric_table, shuffled, tables
from treewright.counting.numpy import MemoryEngine
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema, Task
from treewright.errors import ParameterError
from treewright.fitting.learn import fit
from treewright.learners.grower import grow, keeps_traces, trace_tree
from treewright.learners.recipe import C45, CART, ID3, AttributeSampling, MissingPolicy, Recipe, Stopping
from treewright.tree.io.model_file import model_to_json
from treewright.tree.split import KNOWN, EvaluatedSplit, Split, SplitStatus, Test
from treewright.tree.tree import Node, Stop, Tree

# -- readable growers ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """One row: None is a missing cell."""

    cells: tuple[Any, ...]
    target: float
    weight: float


Parts = list[list[Case]]
Offer = tuple[float, Callable[[Split], bool], Parts]
"""The score of a partition, whether a test is that partition, and its parts."""


def cases_of(data: Dataset) -> list[Case]:
    assert data.target is not None
    weights = [1.0] * data.n_rows if data.weights is None else data.weights.tolist()
    columns = [[None if _is_missing(cell) else cell for cell in column.tolist()] for column in data.columns]
    rows = zip(*columns, strict=True)
    return [Case(*one) for one in zip(rows, data.target.tolist(), weights, strict=True)]


def _is_missing(cell: float | int) -> bool:
    return cell == -1 if isinstance(cell, int) else isnan(cell)


def weight(cases: list[Case]) -> float:
    return sum(case.weight for case in cases)


def distribution(cases: list[Case]) -> dict[float, float]:
    result: dict[float, float] = {}
    for case in cases:
        result[case.target] = result.get(case.target, 0.0) + case.weight
    return result


def entropy(cases: list[Case]) -> float:
    n = weight(cases)
    return -sum(w / n * log2(w / n) for w in distribution(cases).values())


def gini(cases: list[Case]) -> float:
    n = weight(cases)
    return 1 - sum((w / n) ** 2 for w in distribution(cases).values())


def variance(cases: list[Case]) -> float:
    n = weight(cases)
    mean = sum(case.weight * case.target for case in cases) / n
    return sum(case.weight * (case.target - mean) ** 2 for case in cases) / n


def decrease(impurity: Callable[[list[Case]], float], parts: Parts) -> float:
    everything = [case for part in parts for case in part]
    before = impurity(everything)
    fall = before - sum(weight(part) * impurity(part) for part in parts if part) / weight(everything)
    return 0.0 if abs(fall) <= 1e-12 * before else fall


def first_best(scores: list[float]) -> int:
    best = max(scores)
    return next(index for index, score in enumerate(scores) if score >= best - 1e-9 * abs(best))


def by_value(cases: list[Case], attribute: int, n_values: int) -> Parts:
    return [[case for case in cases if case.cells[attribute] == value] for value in range(n_values)]


class Naive:
    """What a recipe should do at a node; `check` walks a grown tree and compares."""

    def __init__(self, data: Dataset, recipe: Recipe) -> None:
        self.schema = data.schema
        self.recipe = recipe
        self.all_cases = cases_of(data)
        self.regression = data.schema.task is Task.REGRESSION

    def offers(self, cases: list[Case], attribute: int, column: Column) -> list[Offer]:
        """Return the partitions of an attribute in the order in which ties are decided."""
        raise NotImplementedError

    def choose(self, best: dict[int, Offer], cases: list[Case]) -> int | None:
        """Return the winning attribute."""
        if not best:
            return None
        return list(best)[first_best([score for score, _, _ in best.values()])]

    def stop(self, cases: list[Case], used: frozenset[int]) -> Stop | None:
        if not cases:
            return Stop.EMPTY
        if len({case.target for case in cases}) == 1:
            return Stop.PURE
        if weight(cases) < self.recipe.stopping.min_weight:
            return Stop.TOO_FEW
        if len(used) == len(self.schema.attributes):
            return Stop.NO_ATTRIBUTES
        return None

    def check(self, tree: Tree) -> None:
        waiting: list[tuple[Node, list[Case], frozenset[int], Any]] = [
            (tree.node(0), self.all_cases, frozenset(), None)
        ]
        while waiting:
            node, cases, used, above = waiting.pop()
            outcome = self._check_statistics(node, cases, above)
            stop = self.stop(cases, used)
            if stop is not None:
                assert node.stop is stop
                continue
            best = {}
            for attribute, column in enumerate(self.schema.attributes):
                offers = [] if attribute in used else self.offers(cases, attribute, column)
                if offers:
                    best[attribute] = offers[first_best([score for score, _, _ in offers])]
            winner = self.choose(best, cases)
            if winner is None:
                assert node.stop is Stop.NO_GAIN
                continue
            split = node.split
            assert split is not None
            assert split.attribute == winner
            offers = self.offers(cases, winner, self.schema.attributes[winner])
            [(score, _, parts)] = [offer for offer in offers if offer[1](split)]
            assert score == pytest.approx(best[winner][0], rel=1e-9, abs=1e-12)
            if split.test is not Test.SUBSET or self.schema.attributes[winner].kind is Kind.ORDINAL:
                assert best[winner][1](split)  # of equal partitions of a set of values any may be taken
            excluded = used | {winner} if split.test is Test.NOMINAL else used
            assert len(node.children) == len(parts)
            waiting += [(child, part, excluded, outcome) for child, part in zip(node.children, parts, strict=True)]

    def _check_statistics(self, node: Node, cases: list[Case], above: Any) -> Any:
        assert node.weight == pytest.approx(weight(cases))
        if self.regression:
            mean = sum(case.weight * case.target for case in cases) / weight(cases)
            assert node.outcome == pytest.approx(mean, abs=1e-12)
            return mean
        classes = distribution(cases)
        named = {self.schema.classes[int(code)]: w for code, w in classes.items()}
        assert node.distribution == pytest.approx(named)
        if not cases:
            assert node.outcome == above
            return above
        most = max(classes.values())
        first = min(code for code, w in classes.items() if w >= most * (1 - 1e-12))
        assert node.outcome == self.schema.classes[int(first)]
        return node.outcome


class NaiveID3(Naive):
    def offers(self, cases: list[Case], attribute: int, column: Column) -> list[Offer]:
        parts = by_value(cases, attribute, len(column.values))
        known = [case for part in parts for case in part]
        if sum(bool(part) for part in parts) < 2:
            return []
        score = decrease(entropy, parts) * weight(known) / weight(cases)
        default = max(range(len(parts)), key=lambda index: (weight(parts[index]), -index))
        unknown = [case for case in cases if case.cells[attribute] is None]
        full = [part + unknown if index == default else part for index, part in enumerate(parts)]
        return [(score, lambda split: split == Split.multiway(attribute, len(parts), default), full)]


class NaiveC45(Naive):
    """Without missing values below the root."""

    def offers(self, cases: list[Case], attribute: int, column: Column) -> list[Offer]:
        known = [case for case in cases if case.cells[attribute] is not None]
        if column.is_numeric:
            return self._cut(cases, known, attribute)
        parts = by_value(cases, attribute, len(column.values))
        if sum(bool(part) for part in parts) < 2 or sum(weight(part) >= 2 for part in parts) < 2:
            return []
        gain = decrease(entropy, parts) * weight(known) / weight(cases)
        return [(gain, lambda split: split == Split.multiway(attribute, len(parts)), parts)]

    def _cut(self, cases: list[Case], known: list[Case], attribute: int) -> list[Offer]:
        n = weight(known)
        if n < 4:
            return []
        side = 0.1 * n / len(self.schema.classes)
        side = 2 if side <= 2 else min(side, 25)
        numbers = sorted({case.cells[attribute] for case in known})
        tried = []
        for low, high in pairwise(numbers):
            parts = [
                [case for case in known if case.cells[attribute] <= low],
                [case for case in known if case.cells[attribute] > low],
            ]
            if low < high - 1e-5 and min(map(weight, parts)) >= side:
                tried.append((decrease(entropy, parts), (low + high) / 2, parts))
        if not tried:
            return []
        gain, middle, parts = tried[first_best([gain for gain, _, _ in tried])]
        score = gain * n / weight(cases) - log2(len(tried)) / weight(cases)
        seen = [case.cells[attribute] for case in self.all_cases if case.cells[attribute] is not None]
        cut = max(value for value in seen if value <= middle)
        return [(score, lambda split: split.cut == pytest.approx(cut), parts)] if score > 0 else []

    def choose(self, best: dict[int, Offer], cases: list[Case]) -> int | None:
        n = len(self.all_cases)
        columns = self.schema.attributes
        many = {a for a, column in enumerate(columns) if len(column.values) >= 0.3 * n}
        many = set() if len(many) == len(columns) else many
        counted = [score for attribute, (score, _, _) in best.items() if attribute not in many]
        if not counted:
            return None
        average = sum(counted) / len(counted)
        worths = {}
        for attribute, (score, _, parts) in best.items():
            unknown = weight(cases) - sum(map(weight, parts))
            shares = [w / weight(cases) for w in (*map(weight, parts), unknown) if w > 0]
            information = -sum(share * log2(share) for share in shares)
            if score >= average - 1e-3 and information > 1e-3:
                worths[attribute] = score / information
        return list(worths)[first_best(list(worths.values()))] if worths else None


class NaiveCART(Naive):
    def offers(self, cases: list[Case], attribute: int, column: Column) -> list[Offer]:
        known = [case for case in cases if case.cells[attribute] is not None]
        unknown = [case for case in cases if case.cells[attribute] is None]
        values = sorted({case.cells[attribute] for case in known})
        homes = [1, 0] if unknown else [None]
        found: list[Offer] = []
        for default, left in ((side, left) for side in homes for left in self._lefts(values, column, side)):
            parts = [
                [c for c in known if c.cells[attribute] in left] + (unknown if default == 0 else []),
                [c for c in known if c.cells[attribute] not in left] + (unknown if default == 1 else []),
            ]
            if not parts[0] or not parts[1]:
                continue
            impurity = variance if self.regression else gini
            is_it = self._recogniser(parts, attribute, left, default, column, values)
            found.append((decrease(impurity, parts), is_it, parts))
        return found

    @staticmethod
    def _lefts(values: list[Any], column: Column, default: int | None) -> list[set[Any]]:
        if column.kind is Kind.NOMINAL:
            if len(values) < 2:
                return []
            choices = product((True, False), repeat=len(values) - 1)
            lefts = [{values[0], *(v for v, on in zip(values[1:], choice, strict=True) if on)} for choice in choices]
            return [left for left in lefts if len(left) < len(values)]
        prefixes = [set(values[:size]) for size in range(1, len(values))]
        if column.is_numeric and default == 1 and values:
            prefixes.append(set(values))  # known against missing
        return prefixes

    @staticmethod
    def _recogniser(
        parts: Parts, attribute: int, left: set[Any], default: int | None, column: Column, values: list[Any]
    ) -> Callable[[Split], bool]:
        side = default if default is not None else (0 if weight(parts[0]) >= weight(parts[1]) else 1)

        def is_it(split: Split) -> bool:
            if split.attribute != attribute or split.missing != side:
                return False
            if column.is_numeric:
                cut = KNOWN if len(left) == len(values) else (max(left) + min(set(values) - left)) / 2
                return split.cut == pytest.approx(cut)
            return {value for value in values if split.branch_of[value] == 0} == left

        return is_it


@settings(max_examples=120)
@given(tables(kinds=(Kind.NOMINAL, Kind.ORDINAL), missing=True, weights="whole"))
def test_id3_is_the_textbook_grower_node_by_node(data: Dataset) -> None:
    NaiveID3(data, ID3()).check(fit(data, ID3()).tree)


@settings(max_examples=120)
@given(tables(max_rows=25, weights="whole"))
def test_c45_is_the_textbook_grower_node_by_node(data: Dataset) -> None:
    NaiveC45(data, C45()).check(fit(data, C45()).tree)


@settings(max_examples=120)
@given(tables(max_rows=25, missing=True))
def test_c45_chooses_the_root_of_the_textbook_with_missing_values(data: Dataset) -> None:
    tree = fit(data, C45()).tree
    naive = NaiveC45(data, C45())
    stop = naive.stop(naive.all_cases, frozenset())
    if stop is not None:
        assert tree.node(0).stop is stop
        return
    best = {}
    for attribute, column in enumerate(data.schema.attributes):
        offers = naive.offers(naive.all_cases, attribute, column)
        if offers:
            [best[attribute]] = offers
    winner = naive.choose(best, naive.all_cases)
    split = tree.split(0)
    assert (None if split is None else split.attribute) == winner
    assert split is None or best[split.attribute][1](split)


@settings(max_examples=150)
@given(tables(missing=True))
def test_cart_is_the_textbook_grower_node_by_node(data: Dataset) -> None:
    NaiveCART(data, CART()).check(fit(data, CART()).tree)


@settings(max_examples=100)
@given(tables(missing=True, regression=True))
def test_cart_for_numbers_is_the_textbook_grower_node_by_node(data: Dataset) -> None:
    recipe = CART(criterion="variance")
    NaiveCART(data, recipe).check(fit(data, recipe).tree)


# -- why leaves are leaves -------------------------------------------------------------------------------------------


def _stops(tree: Tree) -> set[Stop]:
    return {node.stop for node in tree if node.stop is not None}


def test_depth_limit() -> None:
    tree = fit(sample("play-tennis"), ID3(max_depth=1)).tree
    assert (tree.depth, _stops(tree)) == (1, {Stop.PURE, Stop.DEPTH})
    assert fit(sample("play-tennis"), ID3(max_depth=0)).tree.n_nodes == 1


def test_too_few_cases() -> None:
    tree = fit(sample("play-tennis"), ID3(min_cases=6)).tree
    assert (tree.depth, _stops(tree)) == (1, {Stop.PURE, Stop.TOO_FEW})


def test_too_little_weight_for_c45() -> None:
    tree = fit(sample("play-tennis"), C45(min_objects=3)).tree
    assert Stop.TOO_FEW in _stops(tree)


def test_no_attributes_left() -> None:
    schema = Schema((Column("a", Kind.NOMINAL, ("x", "y")), Column("k", Kind.NOMINAL, ("A", "B"))), target="k")
    data = Dataset(schema, (np.array([0, 0, 1], dtype=np.int32),), 3, np.array([1, 0, 1], dtype=np.int32))
    x, y = fit(data, ID3()).tree.node(0).children
    assert (x.stop, x.outcome) == (Stop.NO_ATTRIBUTES, "A")  # a tie goes to the earlier class
    assert y.stop is Stop.PURE


def test_no_admissible_test() -> None:
    assert _stops(fit(numeric_table({"x": [1.0, 1.0]}, ["a", "b"], ("a", "b")), CART()).tree) == {Stop.NO_GAIN}


def test_small_gain_and_its_split_trace() -> None:
    """Root of PlayTennis under Gini: the best subset lowers the impurity by 0.102."""
    data = sample("play-tennis")
    kept = fit(data, CART(stopping=Stopping(min_decrease=0.10))).tree
    assert not kept.node(0).is_leaf
    model = fit(data, CART(stopping=Stopping(min_decrease=0.11)))
    assert model.tree.node(0).stop is Stop.SMALL_GAIN
    assert SplitStatus.SMALL_GAIN in {one.status for one in model.trace[0]}
    assert SplitStatus.CHOSEN not in {one.status for one in model.trace[0]}


def test_min_decrease_weighs_a_node_by_its_share_of_the_cases() -> None:
    """Below the root half of the cases are left, so a decrease of 0.5 there counts 0.25."""
    x = [0.0, 0.0, 1.0, 1.0]
    z = [0.0, 1.0, 5.0, 5.0]
    data = numeric_table({"x": x, "z": z}, ["a", "b", "c", "c"], ("a", "b", "c"))
    assert fit(data, CART(stopping=Stopping(min_decrease=0.25))).tree.depth == 2
    assert fit(data, CART(stopping=Stopping(min_decrease=0.26))).tree.depth == 1


def test_min_leaf_keeps_every_side_of_a_cut_large() -> None:
    data = numeric_table({"x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}, list("abbbbb"), ("a", "b"))
    tree = fit(data, CART(stopping=Stopping(min_leaf=2))).tree
    assert tree.cut[0] == 2.5
    assert min(node.weight for node in tree if node.is_leaf) >= 2


def test_min_share_keeps_every_side_heavy() -> None:
    data = numeric_table({"x": [1.0, 2.0, 3.0, 4.0]}, list("abbb"), ("a", "b"))
    data = replace(data, weights=np.array([1.0, 1.0, 1.0, 7.0]))
    assert fit(data, CART(stopping=Stopping(min_share=0.3))).tree.cut[0] == 3.5


def test_min_branch_holds_for_the_cuts_of_any_recipe() -> None:
    data = numeric_table({"x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}, list("abbbbb"), ("a", "b"))
    tree = fit(data, CART(stopping=Stopping(min_branch=3))).tree
    assert (tree.cut[0], tree.n_nodes) == (3.5, 3)


# -- best first ------------------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(tables(missing=True), st.integers(2, 6))
def test_a_limit_on_leaves_is_kept_and_the_rest_is_cut_off_the_full_tree(data: Dataset, limit: int) -> None:
    full = fit(data, CART()).tree
    tree = fit(data, CART(stopping=Stopping(max_leaves=limit))).tree
    assert tree.n_leaves == min(limit, full.n_leaves)
    waiting = [(tree.node(0), full.node(0))]
    while waiting:
        small, large = waiting.pop()
        if small.is_leaf:
            assert (small.stop is Stop.LEAVES) == (not large.is_leaf)
            continue
        assert small.split == large.split
        waiting += zip(small.children, large.children, strict=True)


def test_the_node_that_lowers_most_impurity_is_split_first() -> None:
    """Below x = 0 the targets are 0 and 1, above 100 and 103: with three leaves the upper ones are separated."""
    schema = Schema((Column("x", Kind.NUMERIC), Column("z", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    x, z, y = np.array([-1.0, -1, 1, 1]), np.array([0.0, 1, 0, 1]), np.array([0.0, 1, 100, 103])
    tree = fit(Dataset(schema, (x, z), 4, y), CART(criterion="variance", stopping=Stopping(max_leaves=3))).tree
    assert [(node.outcome, node.stop) for node in tree if node.is_leaf] == [
        (0.5, Stop.LEAVES),
        (100.0, Stop.PURE),
        (103.0, Stop.PURE),
    ]


def test_a_limit_no_test_can_keep_leaves_one_leaf() -> None:
    tree = fit(sample("play-tennis"), ID3(max_leaves=2)).tree  # Outlook needs three
    assert (tree.n_nodes, tree.node(0).stop) == (1, Stop.LEAVES)


def test_the_split_trace_of_a_node_cut_off_by_the_leaf_limit_names_no_winner() -> None:
    model = fit(sample("play-tennis"), ID3(max_leaves=2))
    assert SplitStatus.CHOSEN not in {one.status for one in model.trace[0]}


# -- ties ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("recipe", [ID3(), C45(min_objects=1), CART()])
def test_of_equal_columns_the_earlier_one_is_tested(recipe: Recipe) -> None:
    schema = Schema(
        (
            Column("first", Kind.NOMINAL, ("x", "y")),
            Column("second", Kind.NOMINAL, ("x", "y")),
            Column("k", Kind.NOMINAL, ("A", "B")),
        ),
        target="k",
    )
    codes = np.array([0, 0, 1, 1], dtype=np.int32)
    data = Dataset(schema, (codes, 1 - codes), 4, codes)
    tree = fit(data, recipe).tree
    assert (tree.node(0).attribute.name, tree.n_nodes) == ("first", 3)


def test_of_equal_cuts_the_lower_one_is_made() -> None:
    data = numeric_table({"x": [1.0, 2.0, 3.0]}, list("aba"), ("a", "b"))
    assert fit(data, CART()).tree.cut[0] == 1.5


def test_of_equal_classes_the_category_order_decides() -> None:
    data = numeric_table({"x": [1.0, 1.0]}, ["late", "early"], ("late", "early"))
    assert fit(data, CART()).tree.node(0).outcome == "late"
    data = numeric_table({"x": [1.0, 1.0]}, ["late", "early"], ("early", "late"))
    assert fit(data, CART()).tree.node(0).outcome == "early"


def test_rounding_does_not_break_a_tie_of_fractional_classes() -> None:
    """0.1 + 0.2 of A against 0.3 of B: A is earlier and no lighter."""
    data = numeric_table({"x": [1.0, 1.0, 1.0]}, ["a", "a", "b"], ("b", "a"))
    data = replace(data, weights=np.array([0.1, 0.2, 0.3]))
    assert fit(data, CART()).tree.node(0).outcome == "b"


# -- what must not change a tree -------------------------------------------------------------------------------------


def _bytes(data: Dataset, recipe: Recipe) -> str:
    return model_to_json(fit(data, recipe))


@settings(max_examples=60)
@given(
    tables(missing=True, weights="real"), st.integers(0, 10**6), st.sampled_from([ID3(), CART(), C45(min_objects=0.5)])
)
def test_shuffled_rows_give_the_same_file(data: Dataset, seed: int, recipe: Recipe) -> None:
    assert _bytes(data, recipe) == _bytes(shuffled(data, seed), recipe)


@settings(max_examples=60)
@given(tables(missing=True, weights="real", regression=True), st.integers(0, 10**6))
def test_shuffled_rows_give_the_same_file_for_a_numeric_target(data: Dataset, seed: int) -> None:
    recipe = CART(criterion="variance")
    assert _bytes(data, recipe) == _bytes(shuffled(data, seed), recipe)


@pytest.mark.parametrize("recipe", [ID3(), C45(), CART(), CART(draw=AttributeSampling(2, 7))])
def test_a_hundred_fits_give_the_same_file(recipe: Recipe) -> None:
    data = sample("restaurant")
    assert len({_bytes(data, recipe) for _ in range(100)}) == 1


def _doubled_and_weighted(data: Dataset) -> tuple[Dataset, Dataset]:
    doubled = data.take(np.repeat(np.arange(data.n_rows), 2))
    return doubled, replace(data, weights=np.full(data.n_rows, 2.0))


@settings(max_examples=60)
@given(tables(missing=True), st.sampled_from([ID3(), CART()]))
def test_doubled_rows_are_weights_of_two(data: Dataset, recipe: Recipe) -> None:
    doubled, weighted = _doubled_and_weighted(data)
    assert fit(doubled, recipe).tree.to_dict() == fit(weighted, recipe).tree.to_dict()


@settings(max_examples=60)
@given(tables(max_values=3).filter(lambda data: 0.3 * data.n_rows > 3))
def test_doubled_rows_are_weights_of_two_for_c45(data: Dataset) -> None:
    """But for the attributes of very many values, which are found by the number of cases."""
    doubled, weighted = _doubled_and_weighted(data)
    assert fit(doubled, C45()).tree.to_dict() == fit(weighted, C45()).tree.to_dict()


@settings(max_examples=60)
@given(tables(missing=True, weights="whole"), st.sampled_from([ID3(), CART(), C45()]), st.data())
def test_weight_zero_is_a_row_removed(data: Dataset, recipe: Recipe, more: st.DataObject) -> None:
    keep = np.array(more.draw(st.lists(st.booleans(), min_size=data.n_rows, max_size=data.n_rows)))
    if not keep.any():
        return
    assert data.weights is not None
    silent = replace(data, weights=np.where(keep, data.weights, 0.0))
    one, two = fit(silent, recipe), fit(data.take(keep), recipe)
    assert one.tree.to_dict() == two.tree.to_dict()


def test_growing_level_by_level_or_best_first_gives_the_same_file() -> None:
    data = sample("restaurant")
    by_levels, best_first = fit(data, CART()).tree, fit(data, CART(stopping=Stopping(max_leaves=10**6))).tree
    assert by_levels.to_dict() == best_first.to_dict()


# -- missing values of C4.5 by hand ----------------------------------------------------------------------------------


def test_a_case_without_value_is_split_and_counted_in_fractions() -> None:
    """PlayTennis with the Outlook of day 12 (Overcast, Yes) unknown, Quinlan's own example (C4.5, chapter 3).

    Known: 13 cases, 8 yes and 5 no, H = 0.961; after Outlook 0.747; gain = 13/14 (0.961 - 0.747) = 0.199; the split
    information has the unknown case as a fourth branch, 1.809. The case goes down with 5/13, 3/13 and 5/13.
    """
    data = sample("play-tennis")
    outlook = data.columns[0].copy()
    outlook[11] = -1
    data = replace(data, columns=(outlook, *data.columns[1:]))
    model = fit(data, C45(criterion="gain"))
    root = model.tree.node(0)
    assert root.attribute.name == "Outlook"
    assert [node.weight for node in root.children] == pytest.approx([5 + 5 / 13, 3 + 3 / 13, 5 + 5 / 13])
    from treewright.explain.node import explain_node

    [reported] = [one for one in explain_node(model).attributes if one.name == "Outlook"]
    assert reported.decrease == pytest.approx(0.199, abs=0.0005)
    assert reported.split_information == pytest.approx(1.809, abs=0.0005)
    sunny = root.children[0]
    assert sunny.attribute.name == "Humidity"
    assert sunny.distribution == pytest.approx({"Yes": 2 + 5 / 13, "No": 3})
    high, normal = sunny.children
    assert high.distribution == pytest.approx({"Yes": 5 / 13, "No": 3})
    assert normal.distribution == pytest.approx({"Yes": 2})


# -- odd tables ------------------------------------------------------------------------------------------------------

ALL = [ID3(), C45(), CART(), CART(missing=MissingPolicy.MAJORITY)]


def _odd(column: Any, kind: Kind = Kind.NOMINAL) -> Dataset:
    values = ("x", "y") if kind is Kind.NOMINAL else ()
    schema = Schema((Column("a", kind, values), Column("k", Kind.NOMINAL, ("A", "B"))), target="k")
    n = len(column)
    cells: Any = np.array(column, dtype=np.int32 if kind is Kind.NOMINAL else np.float64)
    return Dataset(schema, (cells,), n, (np.arange(n) % 2).astype(np.int32))


@pytest.mark.parametrize("recipe", ALL)
@pytest.mark.parametrize(
    "data",
    [_odd([-1] * 6), _odd([np.nan] * 6, Kind.NUMERIC), _odd([1] * 6), _odd([3.5] * 6, Kind.NUMERIC)],
    ids=["all missing", "all NaN", "one value", "one number"],
)
def test_an_uninformative_column_leaves_one_leaf(recipe: Recipe, data: Dataset) -> None:
    tree = fit(data, recipe).tree
    assert (tree.n_nodes, tree.node(0).stop, tree.node(0).weight) == (1, Stop.NO_GAIN, 6.0)


@pytest.mark.parametrize("recipe", ALL)
def test_one_row_and_one_class_are_one_pure_leaf(recipe: Recipe) -> None:
    data = sample("play-tennis")
    for part in (data.take([0]), data.take(np.flatnonzero(np.asarray(data.target) == 0))):
        tree = fit(part, recipe).tree
        assert (tree.n_nodes, tree.node(0).stop) == (1, Stop.PURE)


@pytest.mark.parametrize("recipe", ALL)
def test_a_table_without_attributes_is_one_leaf(recipe: Recipe) -> None:
    schema = Schema((Column("k", Kind.NOMINAL, ("A", "B")),), target="k")
    tree = fit(Dataset(schema, (), 4, np.array([0, 1, 0, 1], dtype=np.int32)), recipe).tree
    assert tree.node(0).stop is Stop.NO_ATTRIBUTES


def test_numbers_that_floats_cannot_distinguish_are_distinguished() -> None:
    data = numeric_table({"x": [16_777_216.0, 16_777_217.0, 1e39]}, list("aba"), ("a", "b"))
    tree = fit(data, CART()).tree
    assert tree.n_leaves == 3


def test_neighbouring_doubles_are_distinguished() -> None:
    low = 1.0
    data = numeric_table({"x": [low, np.nextafter(low, 2.0)]}, ["a", "b"], ("a", "b"))
    tree = fit(data, CART()).tree
    assert [node.distribution for node in tree.node(0).children] == [{"a": 1}, {"b": 1}]


def test_a_nominal_attribute_is_split_even_if_missing_against_known_would_be_better() -> None:
    """All missing are of class B; among the known, x is A and y is mixed."""
    data = _odd([-1, -1, -1, -1, 0, 0, 1, 1, 1, 1])
    data = replace(data, target=np.array([1, 1, 1, 1, 0, 0, 0, 0, 0, 1], dtype=np.int32))
    root = fit(data, CART()).tree.node(0)
    assert root.split is not None
    assert root.split.missing == 1  # with y, whose cases are nearer to the missing ones
    assert [node.distribution for node in root.children] == [{"A": 2}, {"A": 3, "B": 5}]


@pytest.mark.parametrize("recipe", [ID3(), C45()])
def test_ten_thousand_categories_of_two_rows_each_train(recipe: Recipe) -> None:
    data = _many_categories(10_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whether such a column is worth a warning is not this test's matter
        tree = fit(data, recipe).tree
    assert tree.n_leaves == 10_000
    assert sum(node.weight for node in tree if node.is_leaf) == 20_000


@pytest.mark.slow
def test_ten_thousand_categories_of_two_rows_each_train_binary() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = fit(_many_categories(10_000), CART(stopping=Stopping(max_depth=2))).tree
    assert 2 <= tree.n_leaves <= 4


def _many_categories(n: int) -> Dataset:
    column = Column("c", Kind.NOMINAL, tuple(f"v{code}" for code in range(n)))
    schema = Schema((column, Column("k", Kind.NOMINAL, ("A", "B"))), target="k")
    rng = np.random.default_rng(0)
    return Dataset(
        schema, (np.repeat(np.arange(n), 2).astype(np.int32),), 2 * n, rng.integers(0, 2, 2 * n).astype(np.int32)
    )


def test_alternating_labels_grow_as_deep_as_there_are_rows() -> None:
    n = 300
    labels = ["a" if row % 2 else "b" for row in range(n)]
    tree = fit(numeric_table({"x": [float(row) for row in range(n)]}, labels, ("a", "b")), CART()).tree
    assert tree.n_leaves == n
    assert tree.errors[[node.index for node in tree if node.is_leaf]].sum() == 0


# -- drawing attributes, progress, looking again ---------------------------------------------------------------------


def test_only_sampled_attributes_are_evaluated() -> None:
    model = fit(sample("restaurant"), CART(draw=AttributeSampling(3, 1)))
    statuses = [one.status for one in model.trace[0]]
    assert statuses.count(SplitStatus.NOT_DRAWN) == 7
    assert statuses.count(SplitStatus.CHOSEN) == 1


def test_more_are_sampled_while_none_of_the_sampled_can_be_tested() -> None:
    constant = {f"c{index}": [1.0] * 4 for index in range(9)}
    data = numeric_table({**constant, "x": [1.0, 2.0, 3.0, 4.0]}, list("aabb"), ("a", "b"))
    for seed in range(20):
        assert fit(data, CART(draw=AttributeSampling(1, seed))).tree.node(0).attribute.name == "x"


def test_other_seeds_draw_other_attributes() -> None:
    data = sample("restaurant")
    roots = {fit(data, CART(draw=AttributeSampling(1, seed))).tree.node(0).attribute.name for seed in range(30)}
    assert len(roots) > 4


def test_progress_ends_with_all_cases_done() -> None:
    reported: list[tuple[int, int]] = []
    fit(sample("play-tennis"), ID3(), progress=lambda done, of: reported.append((done, of)))
    assert reported[-1] == (14, 14)
    assert [done for done, _ in reported] == sorted(done for done, _ in reported)


@settings(max_examples=50)
@given(tables(missing=True), st.sampled_from([ID3(), C45(min_objects=1), CART(), CART(draw=AttributeSampling(1, 5))]))
def test_evaluating_a_grown_tree_again_gives_the_split_trace_that_was_kept(data: Dataset, recipe: Recipe) -> None:
    fractional = recipe.missing is MissingPolicy.FRACTIONAL
    grown = grow(MemoryEngine(data, fractional=fractional), recipe)
    again = trace_tree(MemoryEngine(data, fractional=fractional), recipe, grown.tree)
    _check_same_split_trace(again, grown.traces)
    for node in range(grown.tree.n_nodes):
        alone = trace_tree(MemoryEngine(data, fractional=fractional), recipe, grown.tree, node)
        _check_same_split_trace(alone, {key: kept for key, kept in grown.traces.items() if key == node})


def _check_same_split_trace(
    found: Mapping[int, tuple[EvaluatedSplit, ...]], kept: Mapping[int, tuple[EvaluatedSplit, ...]]
) -> None:
    assert set(found) == set(kept)
    for node, entries in kept.items():
        for one, two in zip(found[node], entries, strict=True):
            assert (one.attribute, one.status, one.split, one.tries) == (
                two.attribute,
                two.status,
                two.split,
                two.tries,
            )
            assert np.allclose(one.counts, two.counts, rtol=1e-12)
            assert np.array_equal(one.unknown, two.unknown)


def test_growing_stops_where_the_best_test_is_not_significant() -> None:
    """PlayTennis: Outlook at the root has p 0.17, so at 5 % nothing is split; Humidity below Sunny has p 0.025."""
    weather = sample("play-tennis")
    stopped = fit(weather, ID3(significance=0.05)).tree
    assert stopped.n_nodes == 1
    assert stopped.node(0).stop is Stop.NOT_SIGNIFICANT
    assert fit(weather, ID3(significance=0.2)).tree.n_nodes == 8
    [root] = fit(weather, ID3(significance=0.05)).trace.values()
    assert [str(one.status) for one in root if one.attribute == 0] == ["best, but not significant"]
    with pytest.raises(ParameterError, match="significance"):
        ID3(significance=1.5)


def test_a_tree_of_very_many_numbers_keeps_no_split_trace_however_few_its_cases() -> None:
    schema = Schema(
        (*(Column(f"x{at}", Kind.NUMERIC) for at in range(1000)), Column("y", Kind.NOMINAL, ("a", "b"))), "y"
    )
    assert keeps_traces(CART(), schema, 5_000)
    assert not keeps_traces(CART(), schema, 5_001)
    assert keeps_traces(ID3(), schema, 10**9)


@pytest.mark.parametrize("cells", [0, 30, 200, 20_000])
def test_the_same_nodes_are_evaluated_whatever_the_batch_size(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    data = sample("contact-lenses")
    tree = grow(MemoryEngine(data), ID3()).tree
    found = []
    for at_once in (1, 3, 1000):
        monkeypatch.setattr("treewright.learners.grower.NODES_PER_BATCH", at_once)
        trace = trace_tree(MemoryEngine(data), ID3(), tree, cells=cells)
        found.append({node: [(one.attribute, one.status) for one in entries] for node, entries in trace.items()})
    assert found[0] == found[1] == found[2]
