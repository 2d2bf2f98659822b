"""Error-based pruning against numbers by hand, a recursive reference implementation, and recorded trees of C4.5."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracle_sets import load_json, load_set, set_names
from random_tables import trees_and_cases
from small_trees import SCHEMA, random_cases, random_tree, table, tree_of
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema, Task
from treewright.errors import DataError, ParameterError
from treewright.fitting.learn import fit
from treewright.learners.pessimistic_error import extra_errors
from treewright.learners.recipe import C45
from treewright.pruning import error_based
from treewright.pruning.error_based import prune_error_based
from treewright.tree.build import NodeRecord, build_tree, records_of
from treewright.tree.split import FRACTIONAL, STAY, Split, Surrogate
from treewright.tree.tree import Stop, Tree

RUNS = {"default": 0.25, "gain": 0.25, "m1_c100": 1.0, "m1_g_c100": 1.0, "m10_c5": 0.05}
"""The recorded runs without grouped values, and their confidence."""


def no_error(n: float, confidence: float = 0.25) -> float:
    """Return what a leaf of n cases without error expects."""
    return n * (1.0 - math.pow(confidence, 1.0 / n))


# -- by hand -----------------------------------------------------------------------------------------------


def raising_example() -> tuple[Tree, Dataset]:
    """A root that separates one case from twenty, which a second test splits well."""
    rows: list[tuple[Any, ...]] = [("red", 1.0, "no", 0.0, "a")] * 10 + [("red", 5.0, "no", 0.0, "b")] * 10
    rows.append(("red", 1.0, "yes", 0.0, "a"))
    records = [
        NodeRecord(21.0, np.array([11, 10, 0]), 0, Split.multiway(2, 2), [1, 4]),
        NodeRecord(20.0, np.array([10, 10, 0]), 0, Split.threshold(1, 3.0), [2, 3]),
        NodeRecord(10.0, np.array([10, 0, 0]), 0, stop=Stop.PURE),
        NodeRecord(10.0, np.array([0, 10, 0]), 1, stop=Stop.PURE),
        NodeRecord(1.0, np.array([1, 0, 0]), 0, stop=Stop.PURE),
    ]
    return build_tree(SCHEMA, records)[0], table(SCHEMA, rows)


def test_the_largest_branch_replaces_its_node() -> None:
    tree, cases = raising_example()
    pruned = prune_error_based(tree, cases)
    assert pruned.node(0).attribute.name == "size"
    assert pruned.counts.tolist() == [[11, 10, 0], [11, 0, 0], [0, 10, 0]]
    assert pruned.estimate is not None
    assert pruned.estimate[0] == pytest.approx(no_error(11) + no_error(10))
    kept = prune_error_based(tree, cases, raising=False)
    assert len(kept) == 5
    assert kept.estimate is not None
    assert kept.estimate[0] == pytest.approx(2 * no_error(10) + no_error(1))


def test_weights_count_like_repeated_cases() -> None:
    tree, cases = raising_example()
    few = cases.take([0, 10, 20])
    weighted = replace(few, weights=np.array([10.0, 10.0, 1.0]))
    assert prune_error_based(tree, weighted).to_dict() == prune_error_based(tree, cases).to_dict()
    silent = replace(cases, weights=np.where(np.arange(21) == 20, 0.0, 1.0))
    unreached = prune_error_based(tree, silent)
    assert unreached.node(0).attribute.name == "size"  # the root's other branch has no cases


def test_the_last_of_equally_heavy_branches_is_raised() -> None:
    rows: list[tuple[Any, ...]] = [("red", 1.0, flag, 0.0, "a") for flag in ("no", "yes") for _ in range(4)]
    rows += [("red", 5.0, flag, 0.0, "b") for flag in ("no", "yes") for _ in range(4)]
    inner = [(Split.threshold(1, 3.0), [2, 3]), (Split.threshold(1, 4.0), [5, 6])]
    records = [NodeRecord(16.0, np.array([8, 8, 0]), 0, Split.multiway(2, 2), [1, 4])]
    for split, children in inner:
        records.append(NodeRecord(8.0, np.array([4, 4, 0]), 0, split, children))
        records.append(NodeRecord(4.0, np.array([4, 0, 0]), 0, stop=Stop.PURE))
        records.append(NodeRecord(4.0, np.array([0, 4, 0]), 1, stop=Stop.PURE))
    pruned = prune_error_based(build_tree(SCHEMA, records)[0], table(SCHEMA, rows))
    assert len(pruned) == 3
    assert pruned.cut[0] == 4.0


def test_ties_keep_the_class_and_empty_leaves_keep_theirs() -> None:
    rows: list[tuple[Any, ...]] = [("red", 1.0, "no", 0.0, "a"), ("green", 1.0, "no", 0.0, "b")] * 3
    records = [
        NodeRecord(6.0, np.array([3, 3, 0]), 1, Split.multiway(0, 3), [1, 2, 3]),
        NodeRecord(3.0, np.array([3, 0, 0]), 0, stop=Stop.PURE),
        NodeRecord(3.0, np.array([0, 3, 0]), 1, stop=Stop.PURE),
        NodeRecord(0.0, np.array([0, 0, 0]), 2, stop=Stop.EMPTY),
    ]
    tree = build_tree(SCHEMA, records)[0]
    kept = prune_error_based(tree, table(SCHEMA, rows))
    assert kept.outcome.tolist() == [1, 0, 1, 2]
    assert kept.estimate is not None
    assert kept.estimate[3] == 0
    mixed = [(colour, 1.0, "no", 0.0, target) for colour in ("red", "green") for target in ("a", "b")]
    cut = prune_error_based(tree, table(SCHEMA, mixed))
    assert (len(cut), cut.outcome[0], cut.node(0).stop) == (1, 1, Stop.PRUNED)


def test_cases_that_stay_are_a_leaf_of_their_own() -> None:
    rows: list[tuple[Any, ...]] = [("red", 1.0, "no", 0.0, "a")] * 6 + [("red", 1.0, "yes", 0.0, "b")] * 5
    rows += [("red", 1.0, None, 0.0, "a")] * 2 + [("red", 1.0, None, 0.0, "b")]
    records = [
        NodeRecord(14.0, np.array([8, 6, 0]), 0, Split.multiway(2, 2, STAY), [1, 2]),
        NodeRecord(6.0, np.array([6, 0, 0]), 0, stop=Stop.PURE),
        NodeRecord(5.0, np.array([0, 5, 0]), 1, stop=Stop.PURE),
    ]
    pruned = prune_error_based(build_tree(SCHEMA, records)[0], table(SCHEMA, rows))
    assert pruned.estimate is not None
    assert pruned.estimate[0] == pytest.approx(no_error(6) + no_error(5) + 1 + extra_errors(3, 1))
    none_known = table(SCHEMA, [("red", 1.0, None, 0.0, "a")] * 3)
    assert len(prune_error_based(build_tree(SCHEMA, records)[0], none_known)) == 1


def test_surrogates_and_default_branches_take_cases_whole() -> None:
    rows: list[tuple[Any, ...]] = [("red", 1.0, "no", 0.0, "a")] * 6 + [("red", 5.0, "yes", 9.0, "b")] * 6
    rows += [("red", None, "yes", None, "b"), ("red", None, None, None, "a"), ("red", None, None, 9.0, "b")]
    by_flag = Surrogate(Split.multiway(2, 2), 0.9, 0.8)
    by_age = Surrogate(Split.threshold(3, 4.0), 0.9, 0.8)
    records = [
        NodeRecord(15.0, np.array([7, 8, 0]), 1, Split.threshold(1, 3.0, 0), [1, 2], surrogates=(by_flag, by_age)),
        NodeRecord(7.0, np.array([7, 0, 0]), 0, stop=Stop.PURE),
        NodeRecord(8.0, np.array([0, 8, 0]), 1, stop=Stop.PURE),
    ]
    pruned = prune_error_based(build_tree(SCHEMA, records)[0], table(SCHEMA, rows))
    assert pruned.counts.tolist() == [[7, 8, 0], [7, 0, 0], [0, 8, 0]]
    assert pruned.surrogates[0] == (by_flag, by_age)


def test_what_cannot_be_pruned_is_refused() -> None:
    tree, cases = raising_example()
    with pytest.raises(DataError, match="target"):
        prune_error_based(tree, cases.X)
    with pytest.raises(DataError, match="columns"):
        prune_error_based(tree, sample("play-tennis"))
    with pytest.raises(DataError, match="no cases"):
        prune_error_based(tree, replace(cases, weights=np.zeros(21)))
    for confidence in (0.0, 1.5, math.nan):
        with pytest.raises(ParameterError, match="confidence"):
            prune_error_based(tree, cases, confidence)
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    numbers = Dataset(schema, (np.arange(3.0),), 3, np.arange(3.0))
    only = build_tree(schema, [NodeRecord(3.0, np.zeros(0), 1.0, stop=Stop.PURE, sse=2.0)])[0]
    with pytest.raises(ParameterError, match="classes"):
        prune_error_based(only, numbers)


# -- the reference implementation --------------------------------------------------------------------------


Cases = list[tuple[int, float]]
"""Rows and their weights."""


@dataclass
class Plain:
    """A node of the reference implementation."""

    outcome: int
    split: Split | None
    surrogates: tuple[Surrogate, ...] = ()
    children: list[Plain] = field(default_factory=list)
    counts: list[float] = field(default_factory=list)
    expected: float = 0.0


class Reference:
    """The rules as they are published, on lists of (row, weight), recursively."""

    def __init__(self, tree: Tree, data: Dataset, confidence: float, raising: bool) -> None:
        self.data = data
        self.confidence = confidence
        self.raising = raising
        self.k = len(tree.schema.classes)
        self.records = records_of(tree)
        self.root = self.copied(0)
        weights = np.ones(data.n_rows) if data.weights is None else data.weights
        self.cases = [(row, float(weight)) for row, weight in enumerate(weights) if weight > 0]

    def copied(self, index: int) -> Plain:
        record = self.records[index]
        counts = [float(count) for count in record.counts]
        children = [self.copied(child) for child in record.children]
        return Plain(int(record.outcome), record.split, record.surrogates, children, counts)

    def branch(self, node: Plain, split: Split, row: int) -> int:
        branch = int(split.route(self.data.columns[split.attribute][[row]])[0])
        for other in node.surrogates:
            if branch < 0:
                branch = int(other.route(self.data.columns[other.split.attribute][[row]])[0])
        return split.missing if branch < 0 else branch

    def partition(self, node: Plain, split: Split, cases: Cases) -> tuple[list[Cases], Cases]:
        known: list[Cases] = [[] for _ in range(split.n_branches)]
        unknown = []
        for row, weight in cases:
            branch = self.branch(node, split, row)
            if branch < 0:
                unknown.append((row, weight))
            else:
                known[branch].append((row, weight))
        total = sum(weight for part in known for _, weight in part)
        if split.missing == STAY or not total:
            return known, unknown
        shares = [sum(weight for _, weight in part) / total for part in known]
        shared = [[(row, weight * share) for row, weight in unknown] for share in shares]
        return [part + more if part else part for part, more in zip(known, shared, strict=True)], []

    def counted(self, cases: Cases) -> list[float]:
        counts = [0.0] * self.k
        for row, weight in cases:
            counts[np.asarray(self.data.target)[row]] += weight
        return counts

    def as_leaf(self, counts: list[float]) -> float:
        n = sum(counts)
        return n - max(counts) + extra_errors(n, n - max(counts), self.confidence)

    def estimate(self, node: Plain, cases: Cases, update: bool) -> tuple[float, Plain]:
        counts = self.counted(cases)
        as_leaf = self.as_leaf(counts)
        if update:
            node.counts = counts
            if max(counts) > counts[node.outcome] * (1 + 1e-9):
                node.outcome = counts.index(max(counts))
            node.expected = as_leaf
        if node.split is None:
            return as_leaf, node
        parts, staying = self.partition(node, node.split, cases)
        as_tree = 0.0
        if staying:
            stay = self.counted(staying)
            answer = node.outcome if max(counts) <= counts[node.outcome] * (1 + 1e-9) else counts.index(max(counts))
            as_tree = sum(stay) - stay[answer] + extra_errors(sum(stay), sum(stay) - stay[answer], self.confidence)
        for branch, part in enumerate(parts):
            if part:
                expected, node.children[branch] = self.estimate(node.children[branch], part, update)
                as_tree += expected
        if not update:
            return as_tree, node
        raised, heir = math.inf, node
        if self.raising and any(parts):
            weights = [sum(weight for _, weight in part) for part in parts]
            last = max(index for index, weight in enumerate(weights) if close(weight, max(weights)))
            heir = node.children[last]
            raised, _ = self.estimate(heir, cases, update=False)
        if below(as_leaf, raised + 0.1) and below(as_leaf, as_tree + 0.1):
            node.split, node.children = None, []
        elif below(raised, as_tree + 0.1):
            return self.estimate(heir, cases, update=True)
        else:
            node.expected = as_tree
        return node.expected, node

    def pruned(self) -> Plain:
        return self.estimate(self.root, self.cases, update=True)[1]


def close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-9)


def below(number: float, bound: float) -> bool:
    return number <= bound or close(number, bound)


def shape(tree: Tree, node: int = 0) -> Any:
    children = [shape(tree, child) for child in tree.children_of(node)]
    return int(tree.outcome[node]), tree.split(node), children


def plain_shape(node: Plain) -> Any:
    return node.outcome, node.split, [plain_shape(child) for child in node.children]


def numbers(node: Plain) -> list[float]:
    return [node.expected, *node.counts, *(number for child in node.children for number in numbers(child))]


@settings(max_examples=200)
@given(
    trees_and_cases(Task.CLASSIFICATION, max_rows=30),
    st.sampled_from((0.001, 0.1, 0.25, 0.6, 1.0)),
    st.booleans(),
)
def test_any_tree_is_pruned_as_by_the_reference_pruner(
    both: tuple[Tree, Dataset], confidence: float, raising: bool
) -> None:
    tree, cases = both
    assume(cases.weights is None or cases.weights.any())
    pruned = prune_error_based(tree, cases, confidence, raising=raising)
    pruned.validate()
    reference = Reference(tree, cases, confidence, raising).pruned()
    assert shape(pruned) == plain_shape(reference)
    assert pruned.estimate is not None
    ours = np.column_stack((pruned.estimate, pruned.counts)).ravel()
    reached = np.repeat(pruned.weight > 0, 1 + len(tree.schema.classes))
    assert ours[reached].tolist() == pytest.approx(np.array(numbers(reference))[reached].tolist(), rel=1e-9, abs=1e-9)


def with_ways_for_missing(tree: Tree, rng: np.random.Generator, ways: tuple[int, ...]) -> Tree:
    """Give every test one of these ways for missing values, and tests with two branches a surrogate."""
    records = records_of(tree)
    for record in records:
        if record.split is not None:
            record.split = record.split.with_missing(int(rng.choice(ways)))
            if record.split.n_branches == 2:
                other = Split.multiway(2, 2) if rng.random() < 0.5 else Split.threshold(3, 0.5)
                record.surrogates = (Surrogate(other, 0.75, 0.5, bool(rng.random() < 0.5)),)
    return build_tree(tree.schema, records)[0]


@pytest.mark.parametrize("ways", [(0, 1), (FRACTIONAL, STAY, 0, 1), (STAY,)])
@pytest.mark.parametrize("few", [0, error_based.FEW_CASES])
def test_ways_of_missing_values(ways: tuple[int, ...], few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(error_based, "FEW_CASES", few)
    for seed in range(30):
        rng = np.random.default_rng(seed)
        cases = random_cases(rng, 60, missing=0.3)
        tree = with_ways_for_missing(random_tree(rng, cases, 8), rng, ways)
        pruned = prune_error_based(tree, cases, 0.5)
        assert shape(pruned) == plain_shape(Reference(tree, cases, 0.5, raising=True).pruned())


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.sampled_from((0.0, 0.1)), st.sampled_from((0.1, 0.25, 0.8)))
def test_grown_trees(seed: int, missing: float, confidence: float) -> None:
    rng = np.random.default_rng(seed)
    cases = random_cases(rng, int(rng.integers(1, 120)), missing)
    tree = fit(cases, C45(min_objects=1)).tree
    pruned = prune_error_based(tree, cases, confidence)
    assert shape(pruned) == plain_shape(Reference(tree, cases, confidence, raising=True).pruned())
    assert len(pruned) <= len(tree)
    again = prune_error_based(pruned, cases, confidence)
    assert shape(again) == shape(pruned)
    assert again.counts == pytest.approx(pruned.counts)
    assert again.estimate == pytest.approx(pruned.estimate)
    shuffled = cases.take(rng.permutation(cases.n_rows))
    assert prune_error_based(tree, shuffled, confidence).to_dict() == pruned.to_dict()


@pytest.mark.parametrize("few", [0, 1000])
def test_cases_one_by_one_or_as_arrays(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    cases = random_cases(rng, 400)
    tree = fit(cases, C45(min_objects=1)).tree
    expected = prune_error_based(tree, cases, 0.4).to_dict()
    monkeypatch.setattr(error_based, "FEW_CASES", few)
    assert prune_error_based(tree, cases, 0.4).to_dict() == expected


# -- the recorded trees ------------------------------------------------------------------------------------


def recorded_shape(node: dict[str, Any]) -> Any:
    children = [recorded_shape(child) for _, child in node.get("children", ())]
    return node.get("attr"), node.get("cut"), None if children else node["class"], children


@pytest.mark.oracle
@pytest.mark.parametrize("name", set_names("classification", having="c45.json"))
def test_the_recorded_trees_come_out_in_double_too(name: str) -> None:
    """All 185 recorded pairs of an unpruned and a pruned tree, 62 of them from data with missing values."""
    cases = load_set(name)
    recorded = load_json(name, "c45.json")["runs"]
    for run, confidence in RUNS.items():
        if "tree" not in recorded[run]["unpruned"]:  # too large to be recorded
            continue
        grown = tree_of(cases.schema, recorded[run]["unpruned"]["tree"])
        pruned = prune_error_based(grown, cases, confidence)
        assert recorded_shape(pruned.to_dict()) == recorded_shape(recorded[run]["pruned"]["tree"]), run
        assert pruned.estimate is not None
        assert pruned.estimate[0] == pytest.approx(recorded[run]["pruned"]["tree"]["e"], rel=1e-4), run
