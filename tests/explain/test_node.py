"""The derivation of a node as data."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learners.tables_for_growing import numeric_table, tables
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.errors import ParameterError
from treewright.explain.attribute import AttributeExplanation
from treewright.explain.conditions import path_text
from treewright.explain.node import NodeExplanation, blackboard, explain_node
from treewright.fitting.learn import fit
from treewright.learners.chaid.growing import grow_chaid
from treewright.learners.chaid.options import CHAID
from treewright.learners.criteria import chi_square, entropy, gain_ratio, gini_decrease, information_gain
from treewright.learners.recipe import C45, CART, ID3, Recipe, Stopping
from treewright.plans import chaid
from treewright.tree.io.model_file import model_from_json, model_to_json
from treewright.tree.model import TreeModel
from treewright.tree.split import SplitStatus


def named(explanation: NodeExplanation, name: str) -> AttributeExplanation:
    [found] = [one for one in explanation.attributes if one.name == name]
    return found


def test_the_root_of_play_tennis() -> None:
    root = explain_node(fit(sample("play-tennis"), C45()))
    assert (root.node, root.path, root.target, root.classes) == (0, (), "PlayTennis", ("Yes", "No"))
    assert (root.counts, root.weight, root.chosen, root.stop, root.measure) == (
        (9, 5),
        14.0,
        "Outlook",
        None,
        "entropy",
    )
    assert root.impurity == pytest.approx(0.940286, abs=1e-6)
    outlook = named(root, "Outlook")
    assert [(branch.label, branch.counts, branch.weight) for branch in outlook.branches] == [
        ("Sunny", (2, 3), 5.0),
        ("Overcast", (4, 0), 4.0),
        ("Rain", (3, 2), 5.0),
    ]
    assert [branch.impurity for branch in outlook.branches] == pytest.approx([0.970951, 0, 0.970951], abs=1e-6)
    table = np.array([[2, 3], [4, 0], [3, 2]])
    assert outlook.decrease == pytest.approx(information_gain(table))
    assert outlook.ratio == pytest.approx(gain_ratio(table))
    assert outlook.gini_decrease == pytest.approx(gini_decrease(table))
    statistic, df, p = chi_square(table)
    assert (outlook.chi_square, outlook.chi_square_df, outlook.chi_square_p) == pytest.approx((statistic, df, p))


def test_attributes_stand_in_the_order_of_what_the_recipe_compares() -> None:
    """b has the greater gain, c the greater ratio; ID3 compares gains, C4.5 ratios."""
    schema = Schema(
        (
            Column("a", Kind.NOMINAL, ("0", "1")),
            Column("b", Kind.NOMINAL, ("0", "1", "2", "3", "4", "5", "6", "7")),
            Column("c", Kind.NOMINAL, ("0", "1")),
            Column("k", Kind.NOMINAL, ("A", "B")),
        ),
        target="k",
    )
    target = np.repeat([0, 1], 16).astype(np.int32)
    a = target.copy()
    b = np.tile(np.arange(4), 8) + 4 * target
    b[:5] = 7
    c = target.copy()
    c[:6] = 1
    data = Dataset(schema, tuple(column.astype(np.int32) for column in (a, b, c)), 32, target)
    by_gain, by_ratio = explain_node(fit(data, ID3())), explain_node(fit(data, C45()))
    gains = {one.name: one.decrease or 0.0 for one in by_gain.attributes}
    ratios = {one.name: one.ratio or 0.0 for one in by_gain.attributes}
    assert gains["b"] > gains["c"]
    assert ratios["b"] < ratios["c"]
    assert [one.name for one in by_gain.attributes] == ["a", "b", "c"]
    considered = [
        one.name for one in by_ratio.attributes if one.verdict in (SplitStatus.CHOSEN, SplitStatus.CONSIDERED)
    ]
    assert considered == sorted(considered, key=lambda name: -ratios[name])


def test_by_chi_square_attributes_stand_in_its_order() -> None:
    root = explain_node(fit(sample("restaurant"), ID3(criterion="chi2")))
    considered = [one.chi_square or 0.0 for one in root.attributes if one.verdict is not SplitStatus.ONE_VALUE]
    assert considered == sorted(considered, reverse=True)


@settings(max_examples=40)
@given(
    st.one_of(tables(missing=True, weights="whole"), tables(missing=True, weights="real")),
    st.sampled_from([ID3(), C45(), CART(), CART(stopping=Stopping(min_decrease=0.2)), ID3(criterion="gini")]),
)
def test_counting_again_gives_the_kept_split_trace_at_every_node(data: Dataset, recipe: Recipe) -> None:
    model = fit(data, recipe)
    forgetful = replace(model, trace={})
    for node in range(model.tree.n_nodes):
        kept, again = explain_node(model, node), explain_node(forgetful, node, data)
        _check_equal(kept, again)


@settings(max_examples=30)
@given(tables(missing=True, regression=True))
def test_counting_again_gives_the_kept_split_trace_of_a_numeric_target(data: Dataset) -> None:
    model = fit(data, CART())
    forgetful = replace(model, trace={})
    for node in range(model.tree.n_nodes):
        _check_equal(explain_node(model, node), explain_node(forgetful, node, data))


def _check_equal(one: NodeExplanation, two: NodeExplanation) -> None:
    assert replace(one, attributes=()) == replace(two, attributes=())
    assert [a.name for a in one.attributes] == [a.name for a in two.attributes]
    for first, second in zip(one.attributes, two.attributes, strict=True):
        assert (first.verdict, first.tries, len(first.branches)) == (second.verdict, second.tries, len(second.branches))
        assert (first.decrease is None) == (second.decrease is None)
        assert (first.decrease or 0.0) == pytest.approx(second.decrease or 0.0, rel=1e-9, abs=1e-12)
        assert (first.ratio or 0.0) == pytest.approx(second.ratio or 0.0, rel=1e-9, abs=1e-12)
        for left, right in zip(first.branches, second.branches, strict=True):
            assert left.label == right.label
            assert left.weight == pytest.approx(right.weight)
            assert left.impurity == pytest.approx(right.impurity, rel=1e-9, abs=1e-12)


@settings(max_examples=40)
@given(tables(missing=True), st.sampled_from([ID3(), CART(), C45(min_objects=1)]))
def test_the_chosen_attribute_stands_first_and_has_the_test_of_the_tree(data: Dataset, recipe: Recipe) -> None:
    model = fit(data, recipe)
    for node in range(model.tree.n_nodes):
        explanation = explain_node(model, node)
        if explanation.chosen is None:
            assert all(one.verdict is not SplitStatus.CHOSEN for one in explanation.attributes)
            continue
        first = explanation.attributes[0]
        assert (first.name, first.verdict) == (explanation.chosen, SplitStatus.CHOSEN)
        split = model.tree.split(node)
        assert split is not None
        assert len(first.branches) == split.n_branches


def test_a_saved_model_explains_itself_in_the_same_numbers() -> None:
    for name, recipe in (("play-tennis", C45()), ("restaurant", CART()), ("contact-lenses", ID3())):
        model = fit(sample(name), recipe)
        again = model_from_json(model_to_json(model))
        for node in range(model.tree.n_nodes):
            assert explain_node(model, node).to_dict() == explain_node(again, node).to_dict()  # type: ignore[arg-type]


def test_plain_data_goes_through_json() -> None:
    plain = explain_node(fit(sample("play-tennis"), C45())).to_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert plain["attributes"][0]["verdict"] == "chosen"


def test_a_pure_leaf_was_not_evaluated() -> None:
    leaf = explain_node(fit(sample("six-rows"), ID3()), 1)
    assert (leaf.stop, leaf.outcome, leaf.attributes, leaf.impurity) == ("pure", "A", (), 0.0)


def test_the_path_reads_like_conditions() -> None:
    model = fit(sample("play-tennis"), ID3())
    deepest = int(np.argmax(model.tree.depths))
    assert path_text(model.tree, deepest) == ("Outlook = Sunny", "Humidity = High")
    cart = fit(sample("play-tennis"), CART()).tree
    assert path_text(cart, 1) == ("Outlook in {Sunny, Rain}",)
    cut = fit(numeric_table({"x": [1.0, 2.0]}, ["a", "b"], ("a", "b")), CART()).tree
    assert (path_text(cut, 1), path_text(cut, 2)) == (("x <= 1.5",), ("x > 1.5",))


def test_a_node_without_a_split_trace_needs_the_data() -> None:
    data = sample("play-tennis")
    forgetful = replace(fit(data, ID3()), trace={})
    with pytest.raises(ParameterError, match="give the training data"):
        explain_node(forgetful)
    with pytest.raises(ParameterError, match="not of the model's schema"):
        explain_node(forgetful, 0, sample("restaurant"))


def test_a_node_that_does_not_exist_is_named() -> None:
    with pytest.raises(ParameterError, match="there is no node 99"):
        explain_node(fit(sample("play-tennis"), ID3()), 99)


def test_a_numeric_target_with_a_large_mean_is_explained_to_the_last_digit() -> None:
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    y = 1e9 + np.array([0.0, 1.0, 10.0, 11.0])
    root = explain_node(fit(Dataset(schema, (np.array([1.0, 2.0, 3.0, 4.0]),), 4, y), CART()))
    [x] = root.attributes
    assert root.impurity == 25.25
    assert x.after == pytest.approx(0.25, rel=1e-9)
    assert x.decrease == pytest.approx(25.0, rel=1e-9)
    assert [branch.mean for branch in x.branches] == [1e9 + 0.5, 1e9 + 10.5]


def test_the_average_gain_is_that_of_the_rule_of_choice() -> None:
    data = sample("play-tennis")
    root = explain_node(fit(data, C45()))
    gains = [one.decrease or 0.0 for one in root.attributes]
    assert root.average_gain == pytest.approx(sum(gains) / 4)
    assert explain_node(fit(data, ID3())).average_gain is None
    small = replace(C45(), stopping=Stopping(min_weight=4, min_branch=2, min_decrease=0.5))
    stopped = explain_node(fit(data, small))
    assert stopped.stop is not None
    assert stopped.average_gain == pytest.approx(sum(gains) / 4)


def test_impurity_of_a_fractional_node_is_that_of_its_weights() -> None:
    data = sample("play-tennis")
    outlook = data.columns[0].copy()
    outlook[11] = -1
    model = fit(replace(data, columns=(outlook, *data.columns[1:])), C45(criterion="gain"))
    sunny = explain_node(model, 1)
    assert sunny.counts == pytest.approx((2 + 5 / 13, 3))
    assert sunny.impurity == pytest.approx(entropy(np.array([2 + 5 / 13, 3.0])))


def test_chaid_is_explained_by_the_groups_and_adjusted_p_of_every_attribute() -> None:
    lenses = sample("contact-lenses")
    plan = chaid(min_samples_split=10, min_samples_leaf=2)
    model = fit(lenses, plan)
    growth = grow_chaid(lenses, CHAID(min_samples_split=10, min_samples_leaf=2))
    for node, found in enumerate(growth.nodes):
        result = {one.name: one.adjusted_p for one in explain_node(model, node).attributes}
        for finding in found.findings:
            assert result[lenses.schema.attribute_names[finding.attribute]] == finding.adjusted
    loaded = model_from_json(model_to_json(model))
    assert isinstance(loaded, TreeModel)
    root = explain_node(loaded)
    assert [one.name for one in root.attributes[:2]] == ["tears", "astigmatism"]
    assert "adjusted p" in blackboard(root)
