"""J48's growing: the evaluation against a reference implementation, and what the grown nodes are."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.errors import DataError, ParameterError
from treewright.learners.j48.growing import J48Candidate, J48Evaluator, grow_j48, majority, partition
from treewright.learners.j48.options import J48
from treewright.tree.split import FRACTIONAL, Split, Test
from treewright.tree.tree import Stop

CLASSES = ("a", "b", "c")
VALUES = ("u", "v", "w")


def dataset(columns: dict[str, list[Any]], target: list[int], weights: list[float] | None = None) -> Dataset:
    """Make a dataset: lists of floats are numeric columns, lists of ints codes of nominal ones."""
    described: list[Column] = []
    encoded: list[npt.NDArray[np.float64] | npt.NDArray[np.int32]] = []
    for name, cells in columns.items():
        numeric = any(isinstance(cell, float) for cell in cells)
        described.append(Column(name, Kind.NUMERIC) if numeric else Column(name, Kind.NOMINAL, VALUES))
        encoded.append(np.array(cells, np.float64) if numeric else np.array(cells, np.int32))
    schema = Schema((*described, Column("class", Kind.NOMINAL, CLASSES)), target="class")
    return Dataset(
        schema,
        tuple(encoded),
        len(target),
        np.array(target, dtype=np.int32),
        None if weights is None else np.array(weights),
    )


# -- the evaluation and its reference implementation -------------------------------------------------------


def plain_term(weight: float) -> float:
    return 0.0 if weight < 1e-6 else weight * math.log2(weight)


def plain_information(cases: list[tuple[Any, int, float]]) -> float:
    counts = [sum(weight for _, code, weight in cases if code == wanted) for wanted in range(len(CLASSES))]
    return plain_term(sum(counts)) - sum(plain_term(count) for count in counts)


def plain_weight(cases: list[tuple[Any, int, float]]) -> float:
    return sum(weight for _, _, weight in cases)


def plain_gain(parts: list[list[tuple[Any, int, float]]], total: float) -> float:
    cases = [case for part in parts for case in part]
    known = plain_weight(cases)
    gained = known / total * (plain_information(cases) - sum(plain_information(part) for part in parts))
    return 0.0 if abs(gained) < 1e-6 else gained / known


def plain_ratio(gain: float, parts: list[list[tuple[Any, int, float]]], total: float) -> float:
    known = sum(plain_weight(part) for part in parts)
    whole = plain_term(total) - sum(plain_term(plain_weight(part)) for part in parts) - plain_term(total - known)
    return 0.0 if abs(whole) < 1e-6 else gain * total / whole


def plain_nominal(index: int, cases: list[tuple[Any, int, float]], total: float, least: float) -> J48Candidate | None:
    parts = [[case for case in cases if case[0] == value] for value in range(len(VALUES))]
    if sum(plain_weight(part) > least - 1e-6 for part in parts) < 2:
        return None
    gain = plain_gain(parts, total)
    return J48Candidate(index, gain, plain_ratio(gain, parts, total))


def plain_equals(index: int, cases: list[tuple[Any, int, float]], total: float, least: float) -> J48Candidate | None:
    best = None
    for value in range(len(VALUES)):
        parts = [[case for case in cases if case[0] == value], [case for case in cases if case[0] != value]]
        if min(plain_weight(part) for part in parts) <= least - 1e-6:
            continue
        gain = plain_gain(parts, total)
        ratio = plain_ratio(gain, parts, total)
        if best is None and value != 0:
            best = J48Candidate(index, 0.0, 0.0, value=value)
        if best is None or ratio - best.gain_ratio > 1e-6:
            best = J48Candidate(index, gain, ratio, value=value)
    return best


def plain_cut(
    index: int, cases: list[tuple[Any, int, float]], total: float, least: float, charge: bool
) -> J48Candidate | None:
    tenth = 0.1 * plain_weight(cases) / len(CLASSES)
    side = least if tenth < least + 1e-6 else min(tenth, 25.0)
    numbers = sorted({case[0] for case in cases})
    tries, best = 0, J48Candidate(index, 0.0, 0.0)
    for below, above in pairwise(numbers):
        parts = [[case for case in cases if case[0] <= below], [case for case in cases if case[0] > below]]
        if below + 1e-5 >= above or min(plain_weight(part) for part in parts) <= side - 1e-6:
            continue
        tries += 1
        gain = plain_gain(parts, total)
        if gain - best.gain > 1e-6:
            best = J48Candidate(index, gain, plain_ratio(1.0, parts, total), below, above)
    gain = best.gain - (math.log2(tries) / total if charge and tries else 0.0)
    return None if gain <= 1e-6 else replace(best, gain=gain, gain_ratio=gain * best.gain_ratio)


@st.composite
def small_datasets(draw: st.DrawFn) -> Dataset:
    n = draw(st.integers(2, 14))

    def column(cells: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(cells, min_size=n, max_size=n))

    number = st.sampled_from([0.0, 1.0, 1.000001, 2.0, 3.5, math.nan])
    value = st.integers(-1, 2)
    return dataset(
        {"x": column(number), "f": column(value), "y": column(number), "g": column(value)},
        column(st.integers(0, 2)),
        column(st.sampled_from([0.25, 0.5, 1.0, 2.0])),
    )


def close(left: float, right: float) -> bool:
    return math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-9)


@settings(max_examples=300, deadline=None)
@given(small_datasets(), st.integers(1, 2), st.booleans(), st.booleans())
def test_evaluation_agrees_with_the_reference_implementation(
    data: Dataset, least: int, binary: bool, charge: bool
) -> None:
    assert data.weights is not None
    assert data.target is not None
    target = data.target.astype(np.int32)
    evaluator = J48Evaluator(data, target, min_objects=least, binary=binary, mdl_correction=charge)
    total = float(data.weights.sum())
    got = evaluator.candidates(np.arange(len(data), dtype=np.int32), data.weights, total)
    wanted = []
    for index, column in enumerate(data.columns):
        cells = zip(column.tolist(), target.tolist(), data.weights.tolist(), strict=True)
        cases = [cell for cell in cells if cell[0] != -1 and not math.isnan(cell[0])]
        if data.schema.attributes[index].is_numeric:
            found = plain_cut(index, cases, total, least, charge)
        else:
            found = (plain_equals if binary else plain_nominal)(index, cases, total, least)
        if found is not None:
            wanted.append(found)
    assert [c.attribute for c in got] == [c.attribute for c in wanted]
    for one, other in zip(got, wanted, strict=True):
        assert close(one.gain, other.gain)
        assert close(one.gain_ratio, other.gain_ratio)
        assert one.below == other.below
        assert one.value == other.value or one.gain_ratio == 0


def test_many_columns_are_taken_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    columns: dict[str, list[Any]] = {f"x{i}": rng.random(40).tolist() for i in range(5)}
    columns |= {f"f{i}": rng.integers(-1, 3, 40).tolist() for i in range(5)}
    data = dataset(columns, rng.integers(0, 3, 40).tolist())
    whole = grow_j48(data, J48()).tree
    monkeypatch.setattr("treewright.learners.j48.growing.CELLS_PER_BATCH", 50)
    assert grow_j48(data, J48()).tree.to_dict() == whole.to_dict()


# -- the choice --------------------------------------------------------------------------------------------


def test_a_test_without_gain_is_never_chosen() -> None:
    tree = grow_j48(dataset({"f": [0, 0, 1, 1] * 2}, [0, 1, 0, 1] * 2), J48()).tree
    assert tree.n_nodes == 1
    assert tree.node(0).stop is Stop.NO_GAIN


def test_equal_tests_go_to_the_first_attribute_and_the_smallest_cut() -> None:
    tree = grow_j48(dataset({"f": [0, 0, 1, 1], "g": [1, 1, 0, 0]}, [0, 0, 1, 1]), J48()).tree
    assert tree.node(0).attribute.name == "f"
    # Cutting off the first two or the last two gains the same.
    data = dataset({"x": [1.0, 1.0, 2.0, 2.0, 3.0, 3.0]}, [0, 0, 1, 1, 0, 0])
    root = grow_j48(data, J48(mdl_correction=False, collapse=False)).tree.split(0)
    assert root == Split.threshold(0, 1.0)


def test_a_many_valued_attribute_alone_may_be_chosen_but_not_averaged_with_others() -> None:
    many = [0, 0, 1, 1, 2, 2]  # three values are more than 0.3 x 6 cases
    data = dataset({"f": many}, [0, 0, 1, 1, 2, 2])
    assert grow_j48(data, J48()).tree.node(0).attribute.name == "f"
    # The numeric attribute has no valid test, so nothing is in the average and nothing is chosen.
    data = dataset({"f": many, "x": [1.0] * 6}, [0, 0, 1, 1, 2, 2])
    assert grow_j48(data, J48()).tree.n_nodes == 1


def test_the_penalty_can_rule_a_numeric_attribute_out() -> None:
    x, y = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [0, 1, 0, 1, 1, 0, 1, 0]
    data = dataset({"x": x}, y)
    assert grow_j48(data, J48(min_objects=1)).tree.n_nodes == 1
    assert grow_j48(data, J48(min_objects=1, mdl_correction=False)).tree.n_nodes > 1


def test_the_cut_is_a_value_of_the_whole_data() -> None:
    # In the branch f = u the neighbours are 1 and 9; their middle is 5, and 4 occurs elsewhere.
    x = [1.0, 1.0, 9.0, 9.0, 4.0, 4.0, 1.0, 9.0]
    growth = grow_j48(dataset({"f": [0, 0, 0, 0, 1, 1, 1, 1], "x": x}, [0, 0, 1, 1, 2, 2, 2, 2]), J48())
    assert growth.tree.split(0) == Split.multiway(0, 3)
    assert growth.tree.split(1) == Split.threshold(1, 4.0)


@pytest.mark.parametrize("scale", [1.0, -1.0])
def test_the_cut_separates_its_neighbours_whatever_their_size(scale: float) -> None:
    odd = float(np.nextafter(1e12, np.inf))
    for low, high in ((odd, float(np.nextafter(odd, np.inf))), (1e308, 1.7e308)):
        x = sorted(scale * number for number in (low, low, high, high))
        tree = grow_j48(dataset({"x": x}, [0, 0, 1, 1]), J48()).tree
        assert tree.cut[0] == x[0]
        assert tree.weight.tolist() == [4, 2, 2]


def test_one_value_against_the_rest() -> None:
    growth = grow_j48(dataset({"f": [0, 0, 1, 1, 2, 2]}, [0, 0, 1, 1, 0, 0]), J48(binary=True))
    split = growth.tree.split(0)
    assert split == Split.equals(0, 1, 3)
    assert split is not None
    assert split.test is Test.EQUALS
    assert growth.nodes[0].gain == pytest.approx(0.9182958340544896)
    assert growth.nodes[0].gain_ratio == pytest.approx(1.0)


# -- nodes -------------------------------------------------------------------------------------------------


def test_unknown_cases_go_down_every_branch_in_proportion() -> None:
    data = dataset({"f": [0, 0, 0, 1, -1]}, [0, 0, 0, 1, 1])
    growth = grow_j48(data, J48(min_objects=1))
    tree = growth.tree
    assert tree.missing[0] == FRACTIONAL
    assert tree.weight.tolist() == [5, 3.75, 1.25, 0]
    assert tree.counts.tolist() == [[3, 2, 0], [3, 0.75, 0], [0, 1.25, 0], [0, 0, 0]]
    assert tree.outcome.tolist() == [0, 0, 1, 0]
    assert [node.stop for node in tree][2:] == [Stop.PURE, Stop.EMPTY]


def test_without_any_known_value_branches_get_equal_shares() -> None:
    values = np.array([-1, -1], dtype=np.int32)
    shares = partition(Split.multiway(0, 4), values, np.arange(2, dtype=np.int32), np.array([1.0, 3.0]))
    assert [weights.tolist() for _, weights in shares] == [[0.25, 0.75]] * 4


def test_case_weights_count_like_copies() -> None:
    columns: dict[str, list[Any]] = {"x": [1.0, 2.0, 3.0, 4.0], "f": [0, 0, 1, -1]}
    weighted = grow_j48(dataset(columns, [0, 1, 1, 0], [2.0, 1.0, 3.0, 1.0]), J48()).tree
    rows = [0, 0, 1, 2, 2, 2, 3]
    copied = {name: [cells[row] for row in rows] for name, cells in columns.items()}
    assert grow_j48(dataset(copied, [0, 0, 1, 1, 1, 1, 0]), J48()).tree.to_dict() == weighted.to_dict()


def test_reasons_to_stop() -> None:
    few = dataset({"f": [0, 1, 2]}, [0, 1, 2])
    assert grow_j48(few, J48()).tree.node(0).stop is Stop.TOO_FEW
    assert grow_j48(few.take([0]), J48()).tree.node(0).stop is Stop.PURE
    assert grow_j48(dataset({}, [0, 1] * 4), J48()).tree.node(0).stop is Stop.NO_ATTRIBUTES


def test_the_majority_needs_a_clear_lead() -> None:
    assert majority(np.array([0.0, 1.0, 1.0 + 1e-9])) == 1
    assert majority(np.zeros(3)) == 0


def test_collapse_removes_what_saves_no_errors() -> None:
    # A split by f leaves as many errors as there were: class a has the majority on both sides.
    f = [0] * 10 + [1] * 10
    y = [0] * 9 + [1] + [0] * 6 + [1] * 4
    data = dataset({"f": f}, y)
    open_tree = grow_j48(data, J48(collapse=False)).tree
    closed = grow_j48(data, J48()).tree
    assert open_tree.n_nodes == 4
    assert (closed.n_nodes, closed.node(0).stop) == (1, Stop.PRUNED)


def test_a_chain_of_three_thousand_nodes_grows() -> None:
    data = chain(3100)
    growth = grow_j48(data, J48(min_objects=25, mdl_correction=False))
    assert growth.tree.depth > 3000
    assert growth.tree.errors[growth.tree.attribute < 0].sum() == 0


def chain(n: int) -> Dataset:
    """Make alternating classes along one number; heavy cases keep the minimum side at one case."""
    return dataset({"x": np.arange(n, dtype=np.float64).tolist()}, [i % 2 for i in range(n)], [25.0] * n)


# -- what is refused ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "allowed"),
    [
        ({"min_objects": 0}, "at least 1"),
        ({"min_objects": 1.5}, "whole number"),
        ({"min_objects": True}, "whole number"),
        ({"confidence": 0.0}, "above 0 and at most 1"),
        ({"confidence": math.nan}, "above 0 and at most 1"),
        ({"confidence": "high"}, "above 0 and at most 1"),
        ({"prune": 1}, "True or False"),
        ({"binary": None}, "True or False"),
    ],
)
def test_bad_options_are_refused_with_what_is_allowed(options: dict[str, Any], allowed: str) -> None:
    with pytest.raises(ParameterError, match=allowed):
        J48(**options)


def test_data_that_cannot_be_learned_from_are_refused() -> None:
    weather = sample("play-tennis")
    with pytest.raises(DataError, match="have none"):
        grow_j48(weather.X, J48())
    with pytest.raises(DataError, match="no cases"):
        grow_j48(weather.take([]), J48())
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    numeric = Dataset(schema, (np.ones(3),), 3, np.ones(3))
    with pytest.raises(DataError, match="numeric"):
        grow_j48(numeric, J48())
