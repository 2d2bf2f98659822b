"""The one kind of test: valid from the moment it exists, routing as its description reads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_tables import cases_of, schemas, splits_of
from treewright.data.schema import Column, Kind
from treewright.errors import ParameterError
from treewright.tree.split import FRACTIONAL, KNOWN, Split, Surrogate, Test

COLOURS = Column("c", Kind.NOMINAL, ("red", "green", "blue"))
AGE = Column("age", Kind.NUMERIC)

NOMINAL = {"branch_of": (0, 1, 2), "n_branches": 3}


@pytest.mark.parametrize(
    ("test", "fields", "message"),
    [
        (Test.THRESHOLD, {"attribute": -1, "cut": 1.0}, "attribute index -1 is negative"),
        (Test.THRESHOLD, {}, "a threshold has a cut, and nothing else has one"),
        (Test.THRESHOLD, {"cut": float("nan")}, "cut nan is not finite"),
        (Test.THRESHOLD, {"cut": float("inf")}, "cut inf is not finite"),
        (Test.THRESHOLD, {"cut": 1.0, "n_branches": 3}, "a threshold test has two branches, not 3"),
        (Test.THRESHOLD, {"cut": 1.0, "n_branches": 1}, "at least two branches, not 1"),
        (Test.THRESHOLD, {"cut": 1.0, "missing": 2}, "missing values cannot go to branch 2 of 2"),
        (Test.THRESHOLD, {"cut": 1.0, "missing": -3}, "missing values cannot go to branch -3"),
        (Test.THRESHOLD, {"cut": 1.0, "bounds": (1.0,)}, "intervals have bounds, and nothing else"),
        (Test.THRESHOLD, {"cut": 1.0, "branch_of": (0, 1)}, "gives the branch of each value; no other test does"),
        (Test.NOMINAL, NOMINAL | {"cut": 1.0}, "a threshold has a cut, and nothing else"),
        (Test.NOMINAL, {}, "a test of a nominal attribute gives the branch of each value"),
        (Test.NOMINAL, {"branch_of": (0, 1), "n_branches": 3}, "one branch for each value, in order"),
        (Test.NOMINAL, {"branch_of": (0, 1), "n_branches": 2**31 - 1}, "2 values do not fill 2147483647 branches"),
        (Test.SUBSET, {"branch_of": (0, 1), "n_branches": 2**31 - 1}, "2 values do not fill 2147483647 branches"),
        (Test.NOMINAL, {"branch_of": (1, 0)}, "one branch for each value, in order"),
        (Test.NOMINAL, {"branch_of": (0, 2)}, r"outside 0\.\.1"),
        (Test.SUBSET, {"branch_of": (0, -2, 1)}, r"outside 0\.\.1"),
        (Test.SUBSET, {"branch_of": (0, 0), "missing": 0}, "a branch of a subset test has no value"),
        (Test.SUBSET, {"branch_of": (0, 0)}, "a branch of a subset test has no value"),
        (Test.SUBSET, {"branch_of": (0, 1), "bounds": (1.0,)}, "intervals have bounds"),
        (Test.EQUALS, {"branch_of": (0, 0, 1)}, "one value on the left and all others on the right"),
        (Test.EQUALS, {"branch_of": (0, -1, 1)}, "one value on the left and all others on the right"),
        (Test.EQUALS, {"branch_of": (0, 1, 2), "n_branches": 3}, "an? equals test has two branches, not 3"),
        (Test.INTERVALS, {}, "intervals have bounds"),
        (Test.INTERVALS, {"bounds": (1.0, 2.0)}, "2 bounds do not make 2 intervals"),
        (Test.INTERVALS, {"bounds": (2.0, 1.0), "n_branches": 3}, "the bounds do not ascend"),
        (Test.INTERVALS, {"bounds": (1.0, 1.0), "n_branches": 3}, "the bounds do not ascend"),
        (Test.INTERVALS, {"bounds": (float("nan"),)}, "a bound is not finite"),
        (Test.INTERVALS, {"bounds": (1.0,), "n_branches": 3, "missing": 0}, "1 bounds do not make 3 intervals"),
        (Test.INTERVALS, {"bounds": (1.0,), "branch_of": (0, 1)}, "no other test does"),
    ],
)
def test_a_contradiction_is_refused(test: Test, fields: dict[str, Any], message: str) -> None:
    everything: dict[str, Any] = {"attribute": 0, "test": test, "n_branches": 2}
    with pytest.raises(ParameterError, match=message):
        Split(**(everything | fields))


def plain_branch(split: Split, value: float) -> int:
    """Return the branch of one value, as the docstring of the module defines it."""
    if split.test in {Test.THRESHOLD, Test.INTERVALS}:
        if value != value:  # noqa: PLR0124 - NaN
            return -1
        bounds = split.bounds if split.cut is None else (split.cut,)
        for branch, bound in enumerate(bounds):
            if value <= bound:
                return branch
        return len(bounds)
    return -1 if value < 0 else split.branch_of[int(value)]


@given(st.data())
def test_routing_is_what_a_plain_loop_does(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    split = data.draw(splits_of(schema))
    cells = data.draw(cases_of(schema)).columns[split.attribute]
    assert split.route(cells).tolist() == [plain_branch(split, cell) for cell in cells.tolist()]


def test_a_bound_belongs_to_the_lower_side() -> None:
    assert Split.threshold(0, 2.5).route(np.array([2.5, np.nextafter(2.5, 3)])).tolist() == [0, 1]
    assert Split.intervals(0, [1, 2]).route(np.array([1.0, 1.5, 2.0, 2.5])).tolist() == [0, 1, 1, 2]


def test_large_neighbours_are_distinguished() -> None:
    assert Split.threshold(0, 16_777_216).route(np.array([16_777_216.0, 16_777_217.0])).tolist() == [0, 1]


def test_only_the_missing_pass_the_greatest_cut() -> None:
    assert Split.threshold(0, KNOWN, missing=1).route(np.array([1e308, KNOWN, np.nan])).tolist() == [0, 0, -1]


def test_another_way_for_missing_values_is_another_split() -> None:
    split = Split.intervals(3, [1, 2])
    changed = split.with_missing(2)
    assert (changed.missing, changed.bounds, changed.attribute) == (2, split.bounds, 3)
    assert split.missing == FRACTIONAL
    with pytest.raises(ParameterError):
        split.with_missing(3)


def test_a_split_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Split.threshold(0, 1.0).cut = 2.0  # type: ignore[misc]


@pytest.mark.parametrize(
    ("split", "column", "labels", "described"),
    [
        (Split.threshold(0, 2.0), AGE, ["<=", ">"], ["<= 2", "> 2"]),
        (Split.threshold(0, 0.1), AGE, ["<=", ">"], ["<= 0.1", "> 0.1"]),
        (Split.threshold(0, KNOWN, missing=1), AGE, ["<=", ">"], ["known", "missing"]),
        (Split.multiway(0, 3), COLOURS, ["red", "green", "blue"], ["red", "green", "blue"]),
        (Split.subsets(0, (1, 0, 1)), COLOURS, [("green",), ("red", "blue")], ["{green}", "{red, blue}"]),
        (Split.subsets(0, (1, 0, -1)), COLOURS, [("green",), ("red",)], ["{green}", "{red}"]),
        (Split.equals(0, 1, 3), COLOURS, ["=", "!="], ["= green", "!= green"]),
        (Split.intervals(0, (1.5, 3)), AGE, [0, 1, 2], ["<= 1.5", "> 1.5, <= 3", "> 3"]),
        (Split.intervals(0, (1.5,), missing=2), AGE, [0, 1, "missing"], ["<= 1.5", "> 1.5", "missing"]),
        (
            Split.subsets(0, (0, 0, 0), missing=1),
            COLOURS,
            [COLOURS.values, "missing"],
            ["{red, green, blue}", "missing"],
        ),
    ],
)
def test_branches_have_labels_and_conditions(
    split: Split, column: Column, labels: list[Any], described: list[str]
) -> None:
    assert split.labels(column) == labels
    assert [split.describe(branch, column) for branch in range(split.n_branches)] == described


def test_the_printed_cut_is_the_cut() -> None:
    cut = 0.1 + 0.2
    assert float(Split.threshold(0, cut).describe(0, AGE).removeprefix("<= ")) == cut


def test_a_surrogate_has_two_branches_and_its_agreement_is_a_share() -> None:
    with pytest.raises(ParameterError, match="a surrogate has two branches, not 3"):
        Surrogate(Split.multiway(0, 3), 0.5, 0.5)
    for agreement, adjusted in ((1.5, 0.5), (-0.1, 0.5), (0.5, 1.5), (float("nan"), 0.5)):
        with pytest.raises(ParameterError, match="agreement of a surrogate must be between 0 and 1"):
            Surrogate(Split.threshold(0, 1.0), agreement, adjusted)


def test_a_reversed_surrogate_exchanges_the_branches_but_not_the_missing() -> None:
    values = np.array([0.0, 2.0, np.nan])
    assert Surrogate(Split.threshold(0, 1.0), 1.0, 1.0).route(values).tolist() == [0, 1, -1]
    assert Surrogate(Split.threshold(0, 1.0), 1.0, 1.0, reversed=True).route(values).tolist() == [1, 0, -1]
