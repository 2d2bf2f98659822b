"""Cases for a drawing come as people have them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from drawn_trees import LINE, numbers, regression
from treewright.data.dataset import Dataset
from treewright.data.frames import raw_table
from treewright.data.schema import Column, Kind, LabelType, Schema
from treewright.drawing.draw import cases_for
from treewright.errors import DataError, DataWarning
from treewright.fitting.learn import fit
from treewright.learners.recipe import CART

DATA = numbers(8)
TREE = fit(DATA, CART()).tree


@pytest.mark.parametrize(
    ("data", "y"),
    [
        (DATA, None),
        (DATA.X, DATA.y),
        (DATA.X, DATA.y.tolist()),
        (DATA.to_pandas(), None),
        (DATA.to_pandas()[["x"]], DATA.to_pandas()["y"]),
        ({"x": np.arange(8.0), "y": DATA.y}, None),
        (raw_table({"x": np.arange(8.0), "y": DATA.y}), None),
        (np.arange(8.0).reshape(-1, 1), DATA.y),
        ([[value] for value in range(8)], DATA.y),
        (replace(DATA, schema=replace(LINE, missing_markers=("none",))), None),
    ],
    ids=["dataset", "X-y", "list", "frame", "series", "mapping", "raw", "array", "rows", "other-schema"],
)
def test_target_is_found(data: Any, y: Any) -> None:
    cases = cases_for(TREE, data, y)
    assert cases.target is not None
    assert cases.target.tolist() == np.asarray(DATA.target).tolist()
    assert cases.columns[0].tolist() == DATA.columns[0].tolist()


@pytest.mark.parametrize(
    "data", [DATA.X, {"x": [1.0, 2.0]}, np.ones((2, 1)), [[1.0]]], ids=["X", "map", "array", "rows"]
)
def test_without_target_there_is_none(data: Any) -> None:
    assert cases_for(TREE, data).target is None


def test_labels_that_are_numbers_find_their_class() -> None:
    schema = Schema((LINE.columns[0], Column("y", Kind.NOMINAL, ("0", "1"), LabelType.INTEGER)), target="y")
    tree = fit(replace(DATA, schema=schema), CART()).tree
    target = cases_for(tree, {"x": [1.0, 2.0]}, np.array([1, 0])).target
    assert target is not None
    assert target.tolist() == [1, 0]


def test_target_of_numbers_is_taken_as_it_is() -> None:
    tree, data = regression()
    found = cases_for(tree, data.to_pandas()).target
    assert found is not None
    assert found.tolist() == np.asarray(data.target).tolist()


def test_weights_that_a_frame_does_not_have_are_not_asked_for() -> None:
    columns = (*LINE.columns, Column("w", Kind.NUMERIC))
    schema = Schema(columns, target="y", weight="w")
    weighted = Dataset(schema, DATA.columns, 8, DATA.target, np.ones(8))
    tree = fit(weighted, CART()).tree
    assert cases_for(tree, pd.DataFrame({"x": [1.0], "y": ["a"]})).n_rows == 1


def test_wrong_targets_are_refused() -> None:
    with pytest.raises(DataError, match="one value for each of the 8 cases"):
        cases_for(TREE, DATA.X, ["a", "b"])
    with pytest.raises(DataError, match="'c' is not declared"):
        cases_for(TREE, DATA.X, ["c"] * 8)
    with pytest.raises(DataError, match="without the column 'x'"):
        cases_for(TREE, {"z": [1.0]})


def test_unseen_values_are_reported_once() -> None:
    schema = Schema((Column("c", Kind.NOMINAL, ("p", "q")), LINE.columns[1]), target="y")
    data = Dataset(schema, (np.array([0, 1], dtype=np.int32),), 2, np.array([0, 1], dtype=np.int32))
    tree = fit(data, CART()).tree
    with pytest.warns(DataWarning, match="1 in 'c'") as result:
        cases_for(tree, {"c": ["p", "new"], "y": ["a", "b"]})
    assert len(result) == 1
