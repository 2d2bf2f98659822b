"""What the page shows of nodes is what `explain` prints."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from small_trees import random_cases
from treewright import plans
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.explain.node import explain_node
from treewright.fitting.learn import fit
from treewright.html_report import node_panel
from treewright.html_report.node_panel import (
    MOST_ATTRIBUTES,
    MOST_BRANCHES,
    MOST_TABLES,
    NUMBERS,
    explanations,
    pruning_lines,
)


@pytest.mark.parametrize("plan", [plans.c45(), plans.id3(), plans.cart(), plans.chaid(), plans.c45(dialect="j48")])
def test_every_number_of_explain_is_there(plan: plans.Plan) -> None:
    data = random_cases(np.random.default_rng(8), 150, 0.1)
    model = fit(data, plan)
    found = explanations(model)
    assert set(found) == {str(node) for node in model.trace}
    json.dumps(found, allow_nan=False)
    for node, result in found.items():
        whole = explain_node(model, int(node))
        assert len(result["attributes"]) == len(whole.attributes)
        assert result["impurity"] == pytest.approx(whole.impurity, abs=1e-6)
        for (index, status, numbers, *table), one in zip(result["attributes"], whole.attributes, strict=True):
            assert model.schema.attribute_names[index] == one.name
            assert status == one.verdict.name.lower()
            for at, key in enumerate(NUMBERS):
                value = getattr(one, key)
                number = numbers[at] if at < len(numbers) else None
                assert (number or 0) == pytest.approx(value or 0, rel=1e-5, abs=1e-6), key
                assert (number is None) == (value is None) or at >= len(numbers), key
            if table:
                assert [branch[0] for branch in table[0]] == [branch.label for branch in one.branches]


def test_the_top_of_the_tree_comes_first_when_space_ends() -> None:
    model = fit(random_cases(np.random.default_rng(9), 300), plans.id3())
    whole = explanations(model)
    part = explanations(model, most_characters=len(json.dumps(whole)) // 2)
    assert 0 < len(part) < len(whole)
    assert "0" in part
    depths = model.tree.depths
    assert max(depths[int(node)] for node in part) <= min(depths[int(node)] for node in set(whole) - set(part)) + 1
    assert explanations(model, most_characters=0) == {}


def test_nodes_near_the_root_without_a_split_trace_are_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    data = random_cases(np.random.default_rng(10), 200)
    model = fit(data, plans.id3())
    bare = replace(model, trace={})
    assert explanations(bare) == {}
    inner = {str(node.index) for node in model.tree if not node.is_leaf}
    again = explanations(bare, data)
    assert set(again) == inner
    kept = explanations(model)
    for node in inner:
        assert again[node]["attributes"] == kept[node]["attributes"]
    monkeypatch.setattr(node_panel, "RECOUNTED_CELLS", 2 * 200 * 4)
    assert len(explanations(bare, data)) == 2
    assert "0" in explanations(bare, data)
    other = explanations(bare, random_cases(np.random.default_rng(12), 150))
    assert other["0"]["notes"] == ["other_counts"]


def test_many_attributes_and_many_values_are_cut() -> None:
    rng = np.random.default_rng(0)
    values = tuple(f"v{index}" for index in range(90))
    columns = [Column("wide", Kind.NOMINAL, values)] + [Column(f"x{index}", Kind.NUMERIC) for index in range(80)]
    schema = Schema((*columns, Column("y", Kind.NOMINAL, ("a", "b"))), target="y")
    codes = rng.integers(0, 90, 400).astype(np.int32)
    numbers = tuple(rng.random(400) for _ in range(80))
    data = Dataset(schema, (codes, *numbers), 400, (codes % 2).astype(np.int32))
    root = explanations(fit(data, plans.id3(criterion="gain")))["0"]
    assert len(root["attributes"]) == MOST_ATTRIBUTES
    assert root["more"] == 81 - MOST_ATTRIBUTES
    assert sum(len(one) > 3 for one in root["attributes"]) <= MOST_TABLES
    wide = next(one for one in root["attributes"] if one[0] == 0)
    assert len(wide[3]) == MOST_BRANCHES
    assert wide[4] == 30


def test_the_pruning_decision_is_explained_line_by_line() -> None:
    model = fit(sample("contact-lenses"), plans.c45())
    lines = pruning_lines(model)
    assert "0" in lines
    assert any(" = " in line for line in lines["0"])
    assert lines != pruning_lines(model, lang="de")
    again = pruning_lines(model, sample("contact-lenses"))
    assert len(again["0"]) >= len(lines["0"])
    assert not any("--data" in line for result in lines.values() for line in result)
    assert pruning_lines(model, most_characters=0) == {}
    assert pruning_lines(replace(model, trace={})) == {}
