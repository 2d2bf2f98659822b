"""Why an attribute was chosen, which one came next, why others did not count; for every learner."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from explain.test_pruning import noisy
from learners.tables_for_growing import numeric_table
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.explain.language import LANGUAGES
from treewright.explain.node import explain_node
from treewright.fitting.learn import fit
from treewright.learners.recipe import CART, ID3, AttributeSampling
from treewright.plans import c45, cal2, cart, chaid, id3
from treewright.tree.split import SplitStatus
from treewright.tree.tree import LEAF

TENNIS = sample("play-tennis")


@pytest.mark.parametrize(
    ("plan", "worth", "runner_up", "margin"),
    [
        (id3(), "gain", "Humidity", 0.2467 - 0.1518),
        (c45(), "ratio", "Humidity", 0.1564 - 0.1518),
        (c45(criterion="gain"), "gain", "Humidity", 0.2467 - 0.1518),
        (id3(criterion="gini"), "decrease", "Humidity", 0.1163 - 0.0918),
        (id3(criterion="chi2"), "chi_square", "Humidity", 3.5467 - 2.8),
        (cart(), "decrease", "Humidity", 0.1020 - 0.0918),
        (c45(dialect="r8"), "ratio", "Humidity", 0.1564 - 0.1518),
        (c45(dialect="j48"), "ratio", "Humidity", 0.1564 - 0.1518),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_runner_up_and_margin_by_the_number_that_decided(plan: Any, worth: str, runner_up: str, margin: float) -> None:
    root = explain_node(fit(TENNIS, plan))
    assert (root.chosen, root.worth, root.runner_up) == ("Outlook", worth, runner_up)
    assert root.margin == pytest.approx(margin, abs=2e-4)
    for lang in LANGUAGES:
        assert "Humidity" in root.to_text(lang).split("\n\n")[-1]


def test_adjusted_p_decides_in_chaid_and_the_smallest_wins() -> None:
    model = fit(sample("contact-lenses"), chaid(min_samples_split=10, min_samples_leaf=2))
    root = explain_node(model)
    assert (root.worth, root.chosen, root.runner_up) == ("adjusted_p", "tears", "astigmatism")
    assert root.margin is not None
    assert root.margin > 0
    assert "it has the smallest adjusted p-value. Runner-up: astigmatism" in root.to_text()


def test_tie_is_reported_as_one() -> None:
    schema = Schema(
        (*(Column(name, Kind.NOMINAL, ("x", "y")) for name in "ab"), Column("k", Kind.NOMINAL, ("A", "B"))), target="k"
    )
    codes = np.array([0, 0, 1, 1], dtype=np.int32)
    root = explain_node(fit(Dataset(schema, (codes, codes), 4, codes), id3()))
    assert root.margin == 0.0
    assert root.to_text().endswith("a is chosen: b has the same information gain, and ties go to the earlier column.")


def test_only_attribute_and_the_next_in_order() -> None:
    data = numeric_table({"x": [1.0, 2.0, 3.0]}, ["A", "A", "B"], ("A", "B"))
    root = explain_node(fit(data, cart()))
    assert (root.runner_up, root.margin) == (None, None)
    assert "x is chosen: no other attribute was eligible." in root.to_text()
    cal = explain_node(fit(sample("cal2"), cal2()))
    assert (cal.worth, cal.runner_up) == ("order", None)
    assert "x1 is tested because it is the next attribute in order." in cal.to_text()


def test_choice_by_another_rule_than_the_table_is_admitted() -> None:
    root = explain_node(fit(TENNIS, id3()))
    odd = replace(root, margin=-0.1)
    assert "is chosen by a rule of the algorithm itself; Humidity has the better information gain." in odd.to_text()


def test_leaf_has_no_choice_to_give_reasons_for() -> None:
    model = fit(TENNIS, c45(confidence=0.01))
    leaf = explain_node(model)
    assert (leaf.chosen, leaf.runner_up, leaf.stop_code) == (None, None, "pruned")
    assert leaf.table == ()
    assert "best, but pruned" in leaf.to_text()
    assert leaf.to_text("de").endswith("Blatt: Yes (beschnitten).")


def test_reasons_of_those_that_were_not_eligible() -> None:
    days = Column("Date", Kind.NOMINAL, tuple(f"D{day}" for day in range(14)))
    schema = Schema((days, *TENNIS.schema.columns), target="PlayTennis")
    data = Dataset(schema, (np.arange(14, dtype=np.int32), *TENNIS.columns), 14, TENNIS.target)
    root = explain_node(fit(data, c45()))
    verdicts = {one.name: one.verdict_code for one in root.attributes}
    assert verdicts["Date"] == "too_few"
    assert "fewer than two branches with enough cases" in root.to_text()
    assert "weniger als zwei Zweige mit genügend Beispielen" in root.to_text("de")
    below = explain_node(fit(TENNIS, id3()), 1)
    assert {one.name: one.verdict_code for one in below.attributes}["Outlook"] == "used_above"
    sampled = explain_node(fit(TENNIS, replace(CART(), draw=AttributeSampling(1, 0))))
    assert "not sampled at this node" in sampled.to_text()


def test_table_and_gains_are_at_hand() -> None:
    root = explain_node(fit(TENNIS, id3()))
    assert [(row.label, row.counts) for row in root.table] == [
        ("Sunny", (2, 3)),
        ("Overcast", (4, 0)),
        ("Rain", (3, 2)),
    ]
    assert list(root.gains) == ["Outlook", "Humidity", "Wind", "Temperature"]
    plain = root.to_dict()
    assert plain["attributes"][0]["verdict_code"] == "chosen"
    assert (plain["algorithm"], plain["criterion"], plain["worth"]) == ("ID3", "gain", "gain")


def test_surrogates_stand_below_the_choice() -> None:
    x = [float(value) for value in range(20)]
    data = numeric_table({"x": x, "z": [-v for v in x]}, ["A"] * 10 + ["B"] * 10, ("A", "B"))
    root = explain_node(fit(data, cart(missing="surrogate", cp=0.0)))
    [surrogate] = root.surrogates
    assert (surrogate.attribute, surrogate.agreement, surrogate.reversed) == ("z", 1.0, True)
    assert surrogate.condition.relation == ">"
    assert re.search(r"^z > -9\.5 +1\.000 +1\.000$", root.to_text(), re.MULTILINE)
    assert root.to_dict()["surrogates"][0]["condition"] == {"attribute": "z", "relation": ">", "value": "-9.5"}


def test_absolute_error_and_losses_are_noted() -> None:
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    data = Dataset(schema, (np.array([1.0, 2.0, 3.0, 4.0]),), 4, np.array([1.0, 1.0, 5.0, 5.0]))
    assert explain_node(fit(data, cart(criterion="absolute_error"))).notes == ("squared_error",)
    dear = cart(loss=((0.0, 1.0), (5.0, 0.0)), cp=0.0)
    result = explain_node(fit(noisy(), dear))
    assert result.notes == ("losses",)
    assert "The tables count cases without them." in result.to_text()


def test_branch_of_missing_values_is_named_in_every_language() -> None:
    data = noisy()
    codes = data.columns[0].copy()
    codes[::3] = -1
    with_missing = replace(data, columns=(codes, *data.columns[1:]))
    target = np.where(codes < 0, 1, 0).astype(np.int32)
    model = fit(replace(with_missing, target=target), chaid())
    root = explain_node(model)
    assert root.table[-1].special == "missing"
    assert "\nfehlt" in root.to_text("de")
    assert "\n缺失" in root.to_text("zh")
    below = explain_node(model, int(model.tree.children_of(0)[-1]))
    assert below.path == ("a0 missing",)
    assert "a0 mancante" in below.to_text("it")


# -- counted again -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "plan",
    [
        chaid(),
        chaid(exhaustive=True),
        chaid(like_r=True),
        id3(prune="reduced_error"),
        c45(prune="reduced_error"),
        cart(missing="surrogate", cp=0.01),
        cart(priors=(0.2, 0.8), cp=0.01),
        c45(dialect="r8"),
        c45(dialect="j48"),
    ],
    ids=lambda plan: f"{plan.name}, {plan.describe()}",
)
def test_split_trace_counted_again_is_the_split_trace_that_was_kept(plan: Any) -> None:
    data = noisy()
    model = fit(data, plan)
    forgetful = replace(model, trace={})
    inner = [node for node in range(model.tree.n_nodes) if model.tree.attribute[node] != LEAF]
    assert inner
    for node in inner:
        kept, again = explain_node(model, node), explain_node(forgetful, node, data)
        assert again.notes == kept.notes
        assert [(one.name, one.verdict) for one in again.attributes] == [
            (one.name, one.verdict) for one in kept.attributes
        ]
        for ours, theirs in zip(again.attributes, kept.attributes, strict=True):
            assert ours.branches == theirs.branches
            assert ours.adjusted_p == theirs.adjusted_p


def test_chaid_leaves_are_counted_again_with_their_groups() -> None:
    data = noisy()
    model = fit(data, chaid())
    forgetful = replace(model, trace={})
    for node in range(model.tree.n_nodes):
        again = explain_node(forgetful, node, data)
        kept = explain_node(model, node)
        assert [(one.name, one.verdict, one.adjusted_p) for one in again.attributes] == [
            (one.name, one.verdict, one.adjusted_p) for one in kept.attributes
        ]


def test_pruned_chaid_leaf_shows_the_best_test_as_pruned() -> None:
    data = noisy()
    model = fit(data, chaid(prune="chi_square", significance=1e-12))
    assert model.tree.n_nodes == 1
    result = explain_node(replace(model, trace={}), 0, data)
    assert result.attributes[0].verdict is SplitStatus.PRUNED
    assert result.attributes[0].adjusted_p is not None


def test_class_weights_are_recorded_and_count_again() -> None:
    model = fit(TENNIS, c45(), class_weights={"No": 3.0})
    assert model.provenance["class_weights"] == {"No": 3.0}
    assert model.tree.counts[0].tolist() == [9, 15]
    again = explain_node(replace(model, trace={}), 0, TENNIS)
    assert again.notes == ()
    assert again.table == explain_node(model).table


def test_weights_that_are_not_recorded_are_reported_as_missing() -> None:
    weighted = replace(TENNIS, weights=np.where(TENNIS.target == 1, 3.0, 1.0))
    model = replace(fit(weighted, c45()), trace={})
    result = explain_node(model, 0, TENNIS)
    assert result.notes == ("class_weights_unrecorded",)
    assert "trained with weights that it does not store" in result.to_text()
    assert explain_node(model, 0, weighted).notes == ()
    assert explain_node(model, 0, TENNIS.take([0, 1, 2, 5])).notes == ("other_counts",)


def test_leaf_that_the_reference_recipe_would_split_was_not_pruned() -> None:
    data = noisy()
    model = fit(data, ID3(max_leaves=4))
    leaves = [node for node in range(model.tree.n_nodes) if str(model.tree.node(node).stop) == "leaf limit"]
    result = explain_node(replace(model, trace={}), leaves[0], data)
    assert SplitStatus.PRUNED not in {one.verdict for one in result.attributes}
