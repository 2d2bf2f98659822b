"""The numbers of golden.json: textbook values, and unrounded ones that Weka's evaluators agree with."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from oracle_sets import load_set, oracle_folder, require_oracle
from treewright.counting.numpy import MemoryEngine
from treewright.counting.table import Counts
from treewright.learners.criteria import (
    entropy,
    gain_ratio,
    gini,
    information_gain,
    remainder,
    split_information,
    total_gini,
)

pytestmark = pytest.mark.oracle


@cache
def golden() -> dict[str, Any]:
    content: dict[str, Any] = json.loads((require_oracle() / "golden.json").read_text(encoding="utf-8"))
    return content


def _pairs() -> list[tuple[str, str]]:
    if oracle_folder() is None:
        return [("none", "none")]
    return [(name, attribute) for name, told in golden()["computed"].items() for attribute in told["attributes"]]


@cache
def _tables(name: str) -> tuple[Counts, dict[str, Counts]]:
    data = load_set(name)
    engine = MemoryEngine(data)
    root = engine.root()
    [summary] = engine.summaries([root])
    [tables] = engine.count([(root, range(len(data.columns)))])
    names = data.schema.attribute_names
    return summary.statistics, {attribute: table.counts for attribute, table in zip(names, tables, strict=True)}


def test_the_recorded_sets_are_those_of_the_file() -> None:
    for name, told in golden()["computed"].items():
        counts, tables = _tables(name)
        assert counts.sum() == told["n"]
        assert set(tables) == set(told["attributes"])
        assert entropy(counts) == pytest.approx(told["start_entropy"], abs=1e-9)
        assert gini(counts) == pytest.approx(told["start_gini"], abs=1e-9)


@pytest.mark.parametrize(("name", "attribute"), _pairs())
def test_entropy_gain_ratio_and_gini_of_an_attribute(name: str, attribute: str) -> None:
    told = golden()["computed"][name]["attributes"][attribute]
    table = _tables(name)[1][attribute]
    assert remainder(table) == pytest.approx(told["E_new"], abs=1e-9)
    assert information_gain(table) == pytest.approx(told["gain"], abs=1e-9)
    assert split_information(table) == pytest.approx(told["split_info"], abs=1e-9)
    assert gain_ratio(table) == pytest.approx(told["gain_ratio"], abs=1e-9)
    assert float(total_gini(table).sum()) / float(table.sum()) == pytest.approx(told["gini_after"], abs=1e-9)


def test_the_rounded_numbers_of_the_textbooks() -> None:
    for name, told in golden()["textbook"].items():
        counts, tables = _tables(name)
        near = told["tolerance"]
        for attribute, gain in told.get("gain", {}).items():
            assert information_gain(tables[attribute]) == pytest.approx(gain, abs=near)
        for attribute, after in told.get("E_new", {}).items():
            assert remainder(tables[attribute]) == pytest.approx(after, abs=near)
        if "start_entropy" in told:
            assert entropy(counts) == pytest.approx(told["start_entropy"], abs=near)
