"""Numbers become intervals for learners of nominal attributes, and come back as tests of the numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from learners.tables_for_growing import numeric_table, tables
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.errors import DataError, ParameterError, SchemaError
from treewright.fitting.learn import fit
from treewright.learners.cal.growing import CaseByCase
from treewright.learners.cal.options import CAL2, CAL3
from treewright.learners.discretise import as_nominal, in_intervals, interval_labels, with_intervals
from treewright.learners.recipe import CART, ID3
from treewright.tree.model import TreeModel
from treewright.tree.split import STAY, Test


def two_columns() -> Dataset:
    x = [float(number) for number in range(16)]
    noise = [float(number % 2) for number in range(16)]
    return numeric_table({"x": x, "noise": noise}, ["a"] * 8 + ["b"] * 8, ("a", "b"))


def test_numbers_become_the_intervals_that_id3_would_make() -> None:
    data = two_columns()
    nominal, bounds = as_nominal(data)
    assert bounds == {0: (7.5,), 1: ()}
    assert [column.kind for column in nominal.schema.attributes] == [Kind.NOMINAL, Kind.NOMINAL]
    assert [column.values for column in nominal.schema.attributes] == [("<= 7.5", "> 7.5"), ("any",)]
    assert nominal.columns[0].tolist() == [0] * 8 + [1] * 8
    assert nominal.columns[0].dtype == np.int32
    split = fit(data, ID3()).tree.split(0)
    assert split is not None
    assert split.bounds == bounds[0]


def test_a_table_without_numbers_stays_what_it_is() -> None:
    data = sample("play-tennis")
    nominal, bounds = as_nominal(data)
    assert nominal is data
    assert bounds == {}


def test_missing_numbers_stay_missing_and_a_bound_belongs_to_the_interval_below() -> None:
    data = numeric_table({"x": [np.nan, 7.5, 7.6]}, ["a", "a", "b"], ("a", "b"))
    assert in_intervals(data, {0: (7.5,)}).columns[0].tolist() == [-1, 0, 1]
    assert in_intervals(data, {0: ()}).columns[0].tolist() == [-1, 0, 0]


def test_weight_and_target_are_kept() -> None:
    data = two_columns()
    weighted = Dataset(data.schema, data.columns, 16, data.target, np.full(16, 2.0))
    nominal, _ = as_nominal(weighted)
    assert nominal.weights is weighted.weights
    assert nominal.target is weighted.target


def test_intervals_are_written_as_conditions() -> None:
    assert interval_labels((-1.5, 0.1 + 0.2)) == ("<= -1.5", "> -1.5, <= 0.30000000000000004", "> 0.30000000000000004")


@settings(max_examples=60, deadline=None)
@given(tables(missing=True))
def test_the_tree_of_numbers_sends_every_case_where_the_nominal_one_did(data: Dataset) -> None:
    nominal, bounds = as_nominal(data)
    tree = fit(nominal, ID3()).tree
    back = with_intervals(tree, data.schema, bounds)
    assert TreeModel(back).apply(data).tolist() == TreeModel(tree).apply(nominal).tolist()
    assert back.counts.tolist() == tree.counts.tolist()
    for node in back:
        if node.split is not None:
            assert node.attribute.is_numeric == (node.split.test is Test.INTERVALS)


def test_a_numeric_target_asks_for_no_intervals() -> None:
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    data = Dataset(schema, (np.array([1.0, 2.0]),), 2, np.array([1.0, 2.0]))
    with pytest.raises(ParameterError, match="'y' is a number"):
        as_nominal(data)


def test_a_test_that_groups_intervals_has_no_way_back() -> None:
    data = two_columns()
    nominal, bounds = as_nominal(data)
    with pytest.raises(ParameterError, match="subset"):
        with_intervals(fit(nominal, CART()).tree, data.schema, bounds)


# -- case by case ----------------------------------------------------------------------------------------------------


def test_cal_learns_numbers_by_interval() -> None:
    data = two_columns()
    learner = CaseByCase.begin(data, CAL2())
    run = learner.learn_all(data)
    assert learner.run == run
    assert learner.notation == "x(a,b)"
    split = learner.tree.split(0)
    assert split is not None
    assert (split.test, split.bounds, split.missing) == (Test.INTERVALS, (7.5,), STAY)
    assert TreeModel(learner.tree).predict(data).tolist() == data.y.tolist()


def test_later_numbers_lie_in_the_intervals_of_the_first_cases() -> None:
    learner = CaseByCase.begin(two_columns(), CAL3(s1=1, s2=1.0), keep_trace=True)
    later = numeric_table({"x": [-100.0, 100.0, np.nan], "noise": [0.0] * 3}, ["a", "b", "a"], ("a", "b"))
    learner.learn_once(later)
    assert len(learner.trace) == 3
    assert learner.notation == "a"  # s1 = 1: the first case closes the root


def test_cases_of_another_schema_are_refused() -> None:
    learner = CaseByCase.begin(two_columns(), CAL2())
    with pytest.raises(SchemaError, match="another schema"):
        learner.learn_all(sample("play-tennis"))
    for call in (learner.learn_once, lambda cases: CaseByCase.begin(cases, CAL2())):
        with pytest.raises(DataError, match="no target"):
            call(two_columns().X)


def test_cases_without_attributes_can_be_learned_from() -> None:
    schema = Schema((Column("y", Kind.NOMINAL, ("a", "b")),), target="y")
    data = Dataset(schema, (), 3, np.array([0, 1, 1], dtype=np.int32))
    learner = CaseByCase.begin(data, CAL2())
    learner.learn_once(data)
    assert learner.notation == "b"
