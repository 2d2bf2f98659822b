"""Sending cases down a tree, against a router that takes them one by one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from random_tables import trees_and_cases
from small_trees import SCHEMA, table
from treewright.data.dataset import Dataset
from treewright.data.schema import Task
from treewright.tree import route
from treewright.tree.build import NodeRecord, build_tree, records_of
from treewright.tree.model import TreeModel
from treewright.tree.route import all_visits, leaf_visits, main_leaves
from treewright.tree.split import FRACTIONAL, STAY, Split, Surrogate
from treewright.tree.tree import Stop, Tree


def plain_branch(split: Split, value: float) -> int:
    """Return the branch of one value, -1 for missing."""
    if split.branch_of:
        return -1 if value < 0 else split.branch_of[int(value)]
    if math.isnan(value):
        return -1
    bounds = split.bounds if split.cut is None else (split.cut,)
    return sum(value > bound for bound in bounds)


def plain_visits(tree: Tree, cases: Dataset, row: int) -> tuple[dict[int, float], set[int]]:
    """Return every node that a case reaches with its share, and where it ends, by one step after another."""
    visits: dict[int, float] = {}
    ends: set[int] = set()
    waiting = [(0, 1.0)]
    while waiting:
        node, share = waiting.pop()
        visits[node] = share
        split = tree.split(node)
        if split is None:
            ends.add(node)
            continue
        children = tree.children_of(node).tolist()
        branch = plain_branch(split, cases.columns[split.attribute][row].item())
        for surrogate in tree.surrogates.get(node, ()):
            if branch < 0:
                branch = plain_branch(surrogate.split, cases.columns[surrogate.split.attribute][row].item())
                branch = 1 - branch if surrogate.reversed and branch >= 0 else branch
        if branch < 0 and split.missing == STAY:
            ends.add(node)
            continue
        if branch < 0 and split.missing != FRACTIONAL:
            branch = split.missing
        if branch >= 0:
            waiting.append((children[branch], share))
            continue
        weights = [tree.weight[child].item() for child in children]
        if not any(weights):
            waiting += [(child, share / len(children)) for child in children]
            continue
        whole = tree.weight[node].item() or sum(weights)
        waiting += [(child, share * weight / whole) for child, weight in zip(children, weights, strict=True) if weight]
    return visits, ends


def collected(visits: route.Visits, into: dict[tuple[int, int], float]) -> None:
    for row, node, share in zip(visits.rows.tolist(), visits.nodes.tolist(), visits.shares.tolist(), strict=True):
        assert (row, node) not in into  # a case reaches a node by one way only
        into[row, node] = share


def check(tree: Tree, cases: Dataset) -> None:
    got: dict[tuple[int, int], float] = {}
    for visits in all_visits(tree, cases):
        collected(visits, got)
    expected: dict[tuple[int, int], float] = {}
    expected_ends: dict[tuple[int, int], float] = {}
    for row in range(cases.n_rows):
        shares, ends = plain_visits(tree, cases, row)
        expected |= {(row, node): share for node, share in shares.items()}
        expected_ends |= {(row, node): shares[node] for node in ends}
    assert got == pytest.approx(expected)
    last: dict[tuple[int, int], float] = {}
    for visits in leaf_visits(tree, cases):
        assert visits.final.all()
        collected(visits, last)
    assert last == pytest.approx(expected_ends)


@given(trees_and_cases())
@settings(max_examples=50)
def test_every_case_goes_the_way_of_the_plain_router(pair: tuple[Tree, Dataset]) -> None:
    check(*pair)


@given(trees_and_cases(max_rows=9), st.integers(1, 4))
@settings(max_examples=50)
def test_batches_change_nothing(pair: tuple[Tree, Dataset], size: int) -> None:
    tree, cases = pair
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(route, "BATCH", size)
        check(tree, cases)


def test_many_missing_cells_make_smaller_batches() -> None:
    tree, cases = fractional_tree(), table(SCHEMA, [(None, None, None, None, "a")] * 600)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(route, "MAX_FRACTIONAL_VISITS", 10)
        sizes = [len(set(visits.rows.tolist())) for visits in leaf_visits(tree, cases)]
    assert sizes == [256, 256, 88]


@given(trees_and_cases(missing=False))
@settings(max_examples=50)
def test_a_case_with_all_values_has_unit_weight(pair: tuple[Tree, Dataset]) -> None:
    tree, cases = pair
    if all(split is None or -1 not in split.branch_of for split in map(tree.split, range(tree.n_nodes))):
        assert all((visits.shares == 1.0).all() for visits in all_visits(tree, cases))


@given(trees_and_cases(Task.CLASSIFICATION))
@settings(max_examples=50)
def test_no_part_of_a_case_is_lost(pair: tuple[Tree, Dataset]) -> None:
    tree, cases = pair
    total = np.zeros(cases.n_rows)
    for visits in leaf_visits(tree, cases):
        np.add.at(total, visits.rows, visits.shares)
    np.testing.assert_allclose(total, 1.0)
    assert TreeModel(tree).predict_proba(cases).sum(axis=1) == pytest.approx(np.ones(cases.n_rows))


@given(trees_and_cases())
@settings(max_examples=50)
def test_the_main_leaf_gets_the_greatest_share_and_the_first_of_equals(pair: tuple[Tree, Dataset]) -> None:
    tree, cases = pair
    for row, leaf in enumerate(main_leaves(tree, cases).tolist()):
        visits, ends = plain_visits(tree, cases, row)
        shares = {node: share for node, share in visits.items() if node in ends}
        best = max(shares.values())
        assert shares[leaf] == pytest.approx(best)
        assert not any(node < leaf and share > best * (1 + 1e-9) for node, share in shares.items())


def fractional_tree(*, root: float = 4.0) -> Tree:
    """Return colour: red 1 case, green 3 cases, blue none."""
    records = [NodeRecord(root, np.array([1, 3, 0]), 1, Split.multiway(0, 3), [1, 2, 3])]
    for counts in ([1, 0, 0], [0, 3, 0], [0, 0, 0]):
        records.append(NodeRecord(float(sum(counts)), np.array(counts), int(np.argmax(counts)), stop=Stop.PURE))
    return build_tree(SCHEMA, records)[0]


UNKNOWN = table(SCHEMA, [(None, 1.0, "no", 1.0, "a")])


def test_shares_follow_the_weights_and_empty_branches_get_none() -> None:
    (visits,) = leaf_visits(fractional_tree(), UNKNOWN)
    assert visits.nodes.tolist() == [1, 2]
    assert visits.shares.tolist() == [0.25, 0.75]


def test_branches_that_do_not_add_up_are_measured_by_their_node() -> None:
    (visits,) = leaf_visits(fractional_tree(root=8.0), UNKNOWN)
    assert visits.shares.tolist() == [0.125, 0.375]
    assert TreeModel(fractional_tree(root=8.0)).predict_proba(UNKNOWN).tolist() == [[0.25, 0.75, 0.0]]


def test_a_node_without_weight_is_measured_by_its_branches() -> None:
    (visits,) = leaf_visits(fractional_tree(root=0.0), UNKNOWN)
    assert visits.shares.tolist() == [0.25, 0.75]


def test_branches_that_never_had_a_case_share_alike() -> None:
    records = [NodeRecord(0.0, np.zeros(3), 1, Split.multiway(2, 2), [1, 2])]
    records += [NodeRecord(0.0, np.zeros(3), outcome, stop=Stop.EMPTY) for outcome in (2, 1)]
    tree = build_tree(SCHEMA, records)[0]
    unknown = table(SCHEMA, [("red", 1.0, None, 1.0, "a")])
    assert TreeModel(tree).predict_proba(unknown).tolist() == [[0.0, 0.5, 0.5]]


def test_a_case_that_stays_is_answered_by_the_inner_node() -> None:
    records = records_of(fractional_tree())
    records[0].split = Split.multiway(0, 3, missing=STAY)
    model = TreeModel(build_tree(SCHEMA, records)[0])
    assert model.predict_proba(UNKNOWN).tolist() == [[0.25, 0.75, 0.0]]
    assert model.apply(UNKNOWN).tolist() == [0]


def test_surrogates_stand_in_one_after_the_other_and_may_be_reversed() -> None:
    size = Surrogate(Split.threshold(1, 2.0), 0.9, 0.5)
    age = Surrogate(Split.threshold(3, 1.0), 0.8, 0.5, reversed=True)
    records = [NodeRecord(4.0, np.array([2, 2, 0]), 0, Split.multiway(2, 2, missing=0), [1, 2], surrogates=(size, age))]
    records += [NodeRecord(2.0, np.array(c), int(np.argmax(c)), stop=Stop.PURE) for c in ([2, 0, 0], [0, 2, 0])]
    tree = build_tree(SCHEMA, records)[0]
    rows: list[tuple[str | None, float | None, str | None, float | None, str]] = [
        ("red", 9.0, "no", None, "a"),
        ("red", 9.0, None, 0.0, "b"),
        ("red", None, None, 0.0, "b"),
        ("red", None, None, 5.0, "a"),
        ("red", None, None, None, "a"),
    ]
    assert TreeModel(tree).predict(table(SCHEMA, list(rows))).tolist() == [row[-1] for row in rows]


def test_no_cases_make_no_visits() -> None:
    empty = UNKNOWN.take([])
    assert list(all_visits(fractional_tree(), empty)) == []
    assert main_leaves(fractional_tree(), empty).tolist() == []
