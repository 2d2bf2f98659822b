"""The smallest change: found by looking at every leaf, and by trying every case of a small world."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from learners.tables_for_growing import numeric_table, tables
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.explain.counterfactual import smallest_change
from treewright.fitting.learn import fit
from treewright.plans import c45, cart, id3
from treewright.tree.build import NodeRecord, build_tree
from treewright.tree.model import TreeModel
from treewright.tree.split import KNOWN, Split
from treewright.tree.tree import LEAF, Stop


def spread_of(data: Dataset, index: int) -> float:
    values = data.columns[index]
    return float(values.max() - values.min()) if len(values) else 0.0


def naive(model: TreeModel, case: Dataset, data: Dataset) -> tuple[int, float] | None:
    """Try every combination of categories, and of numbers at and just above every cut."""
    tree = model.tree
    options: list[list[Any]] = []
    for index, column in enumerate(tree.schema.attributes):
        own = case.columns[index][0]
        if column.is_numeric:
            cuts = [*tree.cut[tree.attribute == index], *_bounds(model, index)]
            numbers = {float(own), *(float(c) for c in cuts), *(math.nextafter(float(c), math.inf) for c in cuts)}
            options.append(sorted(number for number in numbers if not math.isnan(number)))
        else:
            options.append(list(range(len(column.values))))
    now = model.predict(case)[0]
    best = None
    for values in product(*options):
        columns = tuple(np.full_like(column, value) for value, column in zip(values, case.columns, strict=True))
        if model.predict(replace(case, columns=columns))[0] == now:
            continue
        cost = [_cost(model, data, index, case.columns[index][0], value) for index, value in enumerate(values)]
        changed = [one for one in cost if one is not None]
        key = (len(changed), sum(changed))
        best = key if best is None else min(best, key)
    return best


def _bounds(model: TreeModel, index: int) -> list[float]:
    tree = model.tree
    nodes = np.flatnonzero(tree.attribute == index)
    return [bound for node in nodes for bound in tree.bounds[tree.bound_start[node] : tree.bound_start[node + 1]]]


def _cost(model: TreeModel, data: Dataset, index: int, before: Any, after: Any) -> float | None:
    column = model.schema.attributes[index]
    if before == after:
        return None
    if column.is_numeric:
        return abs(float(after) - float(before)) / (spread_of(data, index) or 1.0)
    return abs(int(after) - int(before)) / (len(column.values) - 1) if column.kind is Kind.ORDINAL else 1.0


@settings(max_examples=40)
@given(tables(max_rows=10, max_columns=3, max_values=3))
def test_no_smaller_change_exists(data: Dataset) -> None:
    for plan in (id3(), c45(min_objects=1, prune=False), cart()):
        model = fit(data, plan)
        for row in range(min(data.n_rows, 3)):
            case = data.take([row])
            found = smallest_change(model, case, data)
            best = naive(model, case, data)
            assert (found is None) == (best is None)
            if found is None or best is None:
                continue
            assert len(found.changes) == best[0]
            assert found.size == pytest.approx(best[1], abs=1e-9)


@settings(max_examples=40)
@given(tables(missing=True, max_columns=3))
def test_reported_change_does_alter_the_class(data: Dataset) -> None:
    for plan in (id3(), c45(min_objects=1), cart()):
        model = fit(data, plan)
        for row in range(min(data.n_rows, 3)):
            case = data.take([row])
            for known in (None, data):
                found = smallest_change(model, case, known)
                if found is None:
                    continue
                columns = list(case.columns)
                for change in found.changes:
                    index = model.schema.attribute_names.index(change.attribute)
                    column = model.schema.attributes[index]
                    new = float(change.after) if column.is_numeric else column.values.index(change.after)
                    columns[index] = np.full_like(columns[index], new)
                changed = replace(case, columns=tuple(columns))
                assert model.predict(changed)[0] == found.outcome
                assert model.predict(changed)[0] != model.predict(case)[0]
                assert model.tree.attribute[found.node] == LEAF


def test_fewer_attributes_go_before_a_smaller_change() -> None:
    # One large step in x, or two small ones in y and z.
    rows = [(x, y, z) for x in (0.0, 10.0) for y in (0.0, 1.0) for z in (0.0, 1.0)]
    classes = ["B" if x == 10.0 or (y == 1.0 and z == 1.0) else "A" for x, y, z in rows]
    x, y, z = (list(column) for column in zip(*rows, strict=True))
    data = numeric_table({"x": x, "u": y, "z": z}, classes, ("A", "B"))
    found = smallest_change(fit(data, cart()), data.take([0]), data)
    assert found is not None
    assert [(change.attribute, change.after) for change in found.changes] == [("x", "10")]


def test_number_at_the_bound_itself_needs_the_smallest_step() -> None:
    data = numeric_table({"x": [1.0, 2.0, 3.0, 4.0]}, list("AABB"), ("A", "B"))
    model = fit(data, c45(min_objects=1))
    found = smallest_change(model, data.take([1]))
    assert found is not None
    [change] = found.changes
    assert (change.before, str(change.condition), change.size) == ("2", "x > 2", 0.0)
    assert float(change.after) > 2.0


def test_training_data_keep_whole_numbers_whole() -> None:
    data = numeric_table({"x": [1.0, 2.0, 3.0, 4.0]}, list("AABB"), ("A", "B"))
    model = fit(data, cart())
    up, down = smallest_change(model, data.take([0]), data), smallest_change(model, data.take([3]), data)
    assert up is not None
    assert down is not None
    assert (up.changes[0].after, str(up.changes[0].condition)) == ("3", "x > 2.5")
    assert (down.changes[0].after, str(down.changes[0].condition)) == ("2", "x <= 2.5")
    without = smallest_change(model, data.take([0]))
    assert without is not None
    assert without.changes[0].after == "2.501"


def test_nearest_ordinal_value_is_taken() -> None:
    column = Column("size", Kind.ORDINAL, ("xs", "s", "m", "l", "xl"))
    schema = Schema((column, Column("k", Kind.NOMINAL, ("A", "B"))), target="k")
    codes = np.array([0, 1, 2, 3, 4], dtype=np.int32)
    data = Dataset(schema, (codes,), 5, np.array([0, 0, 0, 1, 1], dtype=np.int32))
    found = smallest_change(fit(data, cart()), data.take([0]))
    assert found is not None
    assert (found.changes[0].after, found.changes[0].size) == ("l", 0.75)
    assert str(found.changes[0].condition) == "size in {l, xl}"


def test_costs_decide_what_counts_as_a_change() -> None:
    data = sample("play-tennis")
    dear = ((0.0, 100.0), (1.0, 0.0))  # predicting No for an actual Yes costs most
    model = fit(data, id3(max_depth=1), costs=dear)
    assert set(model.predict(data).tolist()) == {"Yes"}
    assert smallest_change(model, data.take([0])) is None


def test_number_that_is_predicted_can_be_altered_too() -> None:
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    data = Dataset(schema, (np.array([1.0, 2.0, 3.0, 4.0]),), 4, np.array([1.0, 1.0, 5.0, 5.0]))
    found = smallest_change(fit(data, cart()), data.take([0]), data)
    assert found is not None
    assert (found.outcome, found.changes[0].attribute) == (5.0, "x")


def test_missing_value_may_be_set_or_left() -> None:
    data = sample("play-tennis")
    model = fit(data, c45())
    case = model.cases({"Outlook": [None], "Temperature": ["Hot"], "Humidity": ["High"], "Wind": ["Weak"]})
    found = smallest_change(model, case)
    assert found is not None
    assert [(change.attribute, change.before, change.after) for change in found.changes] == [("Outlook", None, "Sunny")]


def test_of_equal_changes_the_one_nearest_to_the_leaf_is_reported() -> None:
    """Another Outlook would do as well; Wind is what the case was asked last."""
    data = sample("play-tennis")
    found = smallest_change(fit(data, id3()), data.take([3]))
    assert found is not None
    assert [(change.attribute, change.after) for change in found.changes] == [("Wind", "Strong")]


def test_cut_that_only_asks_for_a_known_value_is_met_by_any_number() -> None:
    x = [1.0, 2.0, 3.0, np.nan, np.nan, np.nan]
    data = numeric_table({"x": x}, list("AAABBB"), ("A", "B"))
    model = fit(data, cart())
    assert model.tree.split(0).cut == KNOWN  # type: ignore[union-attr]
    found = smallest_change(model, data.take([4]))
    assert found is not None
    assert (found.outcome, str(found.changes[0].condition), found.changes[0].before) == ("A", "x known", None)
    assert smallest_change(model, data.take([0])) is None


def test_value_that_no_training_case_has_between_two_cuts_is_made_up() -> None:
    tree = [Split.threshold(0, 0.0), Split.threshold(0, 1.0)]
    schema = Schema((Column("x", Kind.NUMERIC), Column("k", Kind.NOMINAL, ("A", "B"))), target="k")
    records = [
        NodeRecord(3.0, np.array([2, 1]), 0, tree[0], [1, 2]),
        NodeRecord(1.0, np.array([1, 0]), 0, stop=Stop.PURE),
        NodeRecord(2.0, np.array([1, 1]), 0, tree[1], [3, 4]),
        NodeRecord(1.0, np.array([0, 1]), 1, stop=Stop.PURE),
        NodeRecord(1.0, np.array([1, 0]), 0, stop=Stop.PURE),
    ]
    model = TreeModel(build_tree(schema, records)[0])
    data = Dataset(schema, (np.array([-5.0, 5.0]),), 2, np.array([0, 0], dtype=np.int32))
    up, down = smallest_change(model, data.take([0]), data), smallest_change(model, data.take([1]), data)
    assert up is not None
    assert down is not None
    assert (up.changes[0].after, down.changes[0].after) == ("0.001", "1")
    assert str(up.changes[0].condition) == "x > 0, <= 1"


def test_one_leaf_among_sixteen_thousand_is_found() -> None:
    """A complete tree of cuts in which only the last leaf predicts B: every other path has to be given up."""
    levels, attributes = 14, 7
    columns = tuple(Column(f"x{index}", Kind.NUMERIC) for index in range(attributes))
    schema = Schema((*columns, Column("k", Kind.NOMINAL, ("A", "B"))), target="k")
    records: list[NodeRecord] = []
    waiting = [(0, (0.0,) * attributes, 1.0)]
    for _ in range(2 ** (levels + 1) - 1):
        depth, low, width = waiting.pop(0)
        record = NodeRecord(2.0, np.array([2, 0]), 0)
        records.append(record)
        if depth == levels:
            record.stop = Stop.PURE
            continue
        index = depth % attributes
        cut = low[index] + width / 2 ** (depth // attributes + 1)
        record.split = Split.threshold(index, cut)
        record.children = [len(records) + len(waiting), len(records) + len(waiting) + 1]
        upper = tuple(cut if at == index else bound for at, bound in enumerate(low))
        waiting += [(depth + 1, low, width), (depth + 1, upper, width)]
    records[-1].outcome, records[-1].counts = 1, np.array([0, 2])
    model = TreeModel(build_tree(schema, records)[0])
    case = Dataset(schema, tuple(np.zeros(1) for _ in range(attributes)), 1)
    found = smallest_change(model, case)
    assert found is not None
    assert (found.outcome, len(found.changes)) == ("B", attributes)
    assert all(str(change.condition) == f"{change.attribute} > 0.75" for change in found.changes)
