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
    return [
        (name, attribute) for name, expected in golden()["computed"].items() for attribute in expected["attributes"]
    ]


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
    for name, expected in golden()["computed"].items():
        counts, tables = _tables(name)
        assert counts.sum() == expected["n"]
        assert set(tables) == set(expected["attributes"])
        assert entropy(counts) == pytest.approx(expected["start_entropy"], abs=1e-9)
        assert gini(counts) == pytest.approx(expected["start_gini"], abs=1e-9)


@pytest.mark.parametrize(("name", "attribute"), _pairs())
def test_entropy_gain_ratio_and_gini_of_an_attribute(name: str, attribute: str) -> None:
    expected = golden()["computed"][name]["attributes"][attribute]
    table = _tables(name)[1][attribute]
    assert remainder(table) == pytest.approx(expected["E_new"], abs=1e-9)
    assert information_gain(table) == pytest.approx(expected["gain"], abs=1e-9)
    assert split_information(table) == pytest.approx(expected["split_info"], abs=1e-9)
    assert gain_ratio(table) == pytest.approx(expected["gain_ratio"], abs=1e-9)
    assert float(total_gini(table).sum()) / float(table.sum()) == pytest.approx(expected["gini_after"], abs=1e-9)


def test_the_rounded_numbers_of_the_textbooks() -> None:
    for name, expected in golden()["textbook"].items():
        counts, tables = _tables(name)
        near = expected["tolerance"]
        for attribute, gain in expected.get("gain", {}).items():
            assert information_gain(tables[attribute]) == pytest.approx(gain, abs=near)
        for attribute, after in expected.get("E_new", {}).items():
            assert remainder(tables[attribute]) == pytest.approx(after, abs=near)
        if "start_entropy" in expected:
            assert entropy(counts) == pytest.approx(expected["start_entropy"], abs=near)
