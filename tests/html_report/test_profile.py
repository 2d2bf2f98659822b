"""The profile of the data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Kind, Schema
from treewright.html_report import page_data
from treewright.html_report.page_data import profile

VALUES = tuple(f"v{index}" for index in range(12))
SCHEMA = Schema(
    (
        Column("x", Kind.NUMERIC),
        Column("c", Kind.NOMINAL, VALUES),
        Column("empty", Kind.NUMERIC),
        Column("same", Kind.NUMERIC),
        Column("y", Kind.ORDINAL, ("low", "high")),
    ),
    target="y",
)


def data() -> Dataset:
    x = np.append(np.arange(99.0), np.nan)
    codes = np.append(np.arange(98) % 12, [-1, -1]).astype(np.int32)
    return Dataset(
        SCHEMA, (x, codes, np.full(100, np.nan), np.full(100, 7.0)), 100, np.repeat([0, 1], 50).astype(np.int32)
    )


def test_numbers_have_a_range_and_a_histogram() -> None:
    result = profile(data())
    x = result["columns"][1]
    assert (x["name"], x["kind"], x["distinct"], x["missing"]) == ("x", 2, 99, 1)
    assert x["range"] == [0, 24, 49, 74, 98]
    assert sum(x["bins"]) == 99


def test_words_have_their_most_frequent_values() -> None:
    c = profile(data())["columns"][2]
    assert (c["distinct"], c["missing"]) == (12, 2)
    assert len(c["values"]) == 8
    assert c["others"] == 98 - sum(count for _, count in c["values"])


def test_uninformative_columns_are_reported() -> None:
    columns = profile(data())["columns"]
    assert columns[3] == {"name": "empty", "kind": 2, "distinct": 0, "missing": 100}
    assert columns[4]["distinct"] == 1
    assert "bins" not in columns[4]


def test_the_target_comes_first_and_keeps_its_order() -> None:
    target = profile(data())["columns"][0]
    assert target["role"] == "target"
    assert target["values"] == [["low", 50], ["high", 50]]
    assert len(profile(replace(data(), target=None))["columns"]) == 4


def test_very_large_numbers_have_no_histogram_but_a_range() -> None:
    schema = Schema((Column("x", Kind.NUMERIC),))
    result = profile(Dataset(schema, (np.array([-1.7e308, 1.7e308]),), 2))["columns"][0]
    assert result["range"][-1] == 1.7e308
    assert "bins" not in result


def test_of_very_many_columns_the_first_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_data, "MOST_COLUMNS", 2)
    result = profile(data())
    assert (len(result["columns"]), result["more"]) == (3, 2)
