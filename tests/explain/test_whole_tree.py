"""The whole tree in one explanation, and the one function that answers every question."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import treewright
from explain.test_pruning import noisy
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.errors import ModelFormatError, ParameterError, TreewrightError
from treewright.explain.ask import explain
from treewright.explain.language import LANGUAGES
from treewright.explain.training_data import grow_unpruned_again, learner_of, rpart_growth, training_cases
from treewright.explain.whole_tree import MOST_LINES, MOST_NODES, explain_tree
from treewright.fitting.learn import fit
from treewright.plans import c45, cal2, cart, id3
from treewright.tree.build import NodeRecord, build_tree
from treewright.tree.model import TreeModel
from treewright.tree.split import Split
from treewright.tree.tree import Stop

TENNIS = sample("play-tennis")


def test_tree_with_its_tests_and_what_it_leans_on() -> None:
    result = explain_tree(fit(TENNIS, id3()))
    assert (result.nodes, result.leaves, result.depth, result.weight) == (8, 5, 2, 14.0)
    assert [(test.chosen, test.runner_up) for test in result.tests] == [
        ("Outlook", "Humidity"),
        ("Humidity", "Temperature"),
        ("Wind", "Temperature"),
    ]
    assert sum(share for _, share in result.importance) == pytest.approx(1.0)
    text = result.to_text()
    assert "8 nodes, 5 leaves, depth 2, from 14 cases." in text
    assert "Outlook\n   Sunny: Humidity\n      High: No  3" in text
    assert "Why each split was chosen:" in text


@pytest.mark.parametrize("lang", LANGUAGES)
def test_cp_table_in_every_language(lang: str) -> None:
    result = explain_tree(fit(noisy(), cart(choose="min", cp=0.0)))
    assert len(result.cp_table) > 2
    text = result.to_text(lang)
    assert f"{result.cp_table[0][0]:.5g}" in text
    assert "CP" in text


def test_large_tree_is_explained_from_the_top_and_stays_small() -> None:
    model = fit(noisy(0, 1500), c45(prune=False, min_objects=1))
    result = explain_tree(model)
    assert len(result.tests) == MOST_NODES
    assert result.more > 0
    assert f"... {result.more} more splits" in result.to_text()
    assert len(result.outline) <= MOST_LINES
    assert sum(line.hidden for line in result.outline) + len(result.outline) == model.tree.n_nodes
    assert "more nodes" in result.to_text()
    assert "weitere Knoten" in result.to_text("de")
    assert len(result._repr_html_().encode()) <= 50_000


def test_root_with_very_many_branches_is_cut_short() -> None:
    values = tuple(f"v{code}" for code in range(300))
    schema = Schema((Column("a", Kind.NOMINAL, values), Column("k", Kind.NOMINAL, ("A", "B"))), target="k")
    codes = np.repeat(np.arange(300), 2).astype(np.int32)
    data = Dataset(schema, (codes,), 600, (codes % 2).astype(np.int32))
    with pytest.warns(treewright.DataWarning):
        result = explain_tree(fit(data, id3()))
    assert len(result.outline) == MOST_LINES
    assert result.outline[-1].hidden == 301 - MOST_LINES


def test_split_trace_that_was_not_kept_leaves_dashes() -> None:
    result = explain_tree(replace(fit(TENNIS, id3()), trace={}))
    assert (result.tests[0].chosen, result.tests[0].worth, result.tests[0].runner_up) == ("Outlook", None, None)
    assert re.search(r"^0 +14 +Outlook  -          -       -  root$", result.to_text(), re.MULTILINE)


def test_numbers_and_cal_are_explained_too() -> None:
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    data = Dataset(schema, (np.array([1.0, 2.0, 3.0, 4.0]),), 4, np.array([1.0, 1.0, 5e6, 5e6]))
    assert "<= 2.5: 1  2" in explain_tree(fit(data, cart())).to_text()
    assert "CAL2 tree for" in explain_tree(fit(sample("cal2"), cal2())).to_text()


def test_one_function_for_every_question() -> None:
    model = fit(TENNIS, c45())
    assert type(explain(model)).__name__ == "TreeExplanation"
    assert type(explain(model, {"Outlook": "Rain"})).__name__ == "PredictionExplanation"
    assert type(model.explain(node=1)).__name__ == "NodeExplanation"
    assert type(model.explain(pruning=True)).__name__ == "PruningExplanation"
    assert type(model.explain(steps=True)).__name__ == "Growth"
    with pytest.raises(ParameterError, match="one question at a time: row and node do not go together"):
        model.explain({"Outlook": "Rain"}, node=1)
    with pytest.raises(ParameterError, match=r"data must be a Dataset, .* not list"):
        model.explain(data=[1])
    with pytest.raises(ParameterError, match="there is no tree to explain in int"):
        explain(3)


def test_estimators_explain_what_they_have_learned() -> None:
    clf = treewright.C45Classifier()
    with pytest.raises(ParameterError, match="no tree to explain in C45Classifier"):
        clf.explain()
    clf.fit(TENNIS.X, TENNIS.y)
    assert clf.explain().nodes == 8
    assert clf.explain({"Outlook": "Overcast"}).outcome == "Yes"
    assert clf.explain(node=0).runner_up == "Humidity"
    assert clf.explain(clf.model_.cases({name: ["Rain"] for name in ["Outlook"]} | NOTHING)).steps[0].value == "Rain"


NOTHING = {name: [None] for name in ("Temperature", "Humidity", "Wind")}


def test_training_data_of_another_table_are_refused() -> None:
    model = fit(TENNIS, id3())
    with pytest.raises(ParameterError, match="not of the model's schema"):
        training_cases(model, sample("restaurant"))
    without = Dataset(TENNIS.schema, TENNIS.columns, TENNIS.n_rows)
    with pytest.raises(ParameterError, match="need their target"):
        training_cases(model, without)


def test_options_that_make_no_sense_are_a_damaged_model() -> None:
    model = fit(sample("cal2"), cal2())
    damaged = replace(model, recipe={**model.recipe, "options": {"learner": "CAL3", "s1": "many"}})
    with pytest.raises((ModelFormatError, ParameterError)):
        learner_of(damaged)
    rpart = fit(noisy(), cart(cp=0.01))
    broken = replace(rpart, recipe={**rpart.recipe, "options": {"learner": "RpartLearner"}})
    with pytest.raises(ModelFormatError, match="options in the model cannot be understood"):
        learner_of(broken)


DAMAGE: list[dict[str, Any]] = [
    {"pruning": [{"method": "magic"}]},
    {"pruning": [{"method": "error_based", "confidence": "much"}]},
    {"pruning": [{"confidence": 0.25}]},
    {"pruning": [3]},
    {"pruning": 5},
    {"pruning": [{"method": "reduced_error", "share": "half", "seed": 0}]},
    {"options": {"learner": "J48", "prune": True}},
    {"options": {"learner": "Release8", "prune": True, "confidence": None}},
    {"options": {"learner": "RpartLearner", "options": {"cp": "x"}}},
    {"options": {"learner": "RpartLearner", "options": {"cp": 0.1}, "choose": "min"}},
    {"cp_table": [["a"]]},
    {"cp_table": [[1.0, 0.0, 1.0], [1.0]]},
    {"cp_table": 7},
    {"importance": [0.5]},
    {"importance": ["x", 0, 0, 0]},
]


def refuses(model: TreeModel, question: dict[str, Any]) -> bool:
    try:
        model.explain(**question)
    except TreewrightError:
        return True
    return False


@pytest.mark.parametrize("damage", DAMAGE, ids=str)
def test_damaged_model_is_refused_with_one_error(damage: dict[str, Any]) -> None:
    model = fit(TENNIS, c45())
    damaged = replace(model, recipe={**model.recipe, **damage})
    questions: list[dict[str, Any]] = [{}, {"pruning": True}, {"pruning": True, "data": TENNIS}]
    # All are asked: none may end in another error.
    refused = [refuses(damaged, question) for question in [*questions, {"steps": True, "data": TENNIS}]]
    assert True in refused


def test_damaged_class_weights_are_refused() -> None:
    model = fit(TENNIS, c45())
    damaged = replace(model, trace={}, provenance={**model.provenance, "class_weights": {"No": "x"}})
    with pytest.raises(ModelFormatError, match="class weights in the model cannot be understood"):
        damaged.explain(node=0, data=TENNIS)


def test_growth_of_rpart_is_asked_of_rpart_only() -> None:
    with pytest.raises(ParameterError, match="was not grown as rpart grows trees"):
        rpart_growth(fit(TENNIS, c45()), TENNIS)


def test_tree_is_grown_again_as_it_was() -> None:
    data = noisy()
    for plan in (id3(), c45(prune=False, collapse=False), cart(), cart(cp=0.01), c45(dialect="r8", prune=False)):
        model = fit(data, plan)
        assert np.array_equal(grow_unpruned_again(model, data).attribute, model.tree.attribute)


def test_tree_of_depth_2999_is_explained_in_every_way() -> None:
    schema = Schema((Column("x", Kind.NUMERIC), Column("k", Kind.NOMINAL, ("A", "B"))), target="k")
    levels = 2999
    records: list[NodeRecord] = []
    for level in range(levels):
        inner = NodeRecord(1.0, np.array([1, 0]), 0, Split.threshold(0, float(level)), [2 * level + 1, 2 * level + 2])
        records += [inner, NodeRecord(1.0, np.array([1, 0]), 0, stop=Stop.PURE)]
    records.append(NodeRecord(1.0, np.array([0, 1]), 1, stop=Stop.PURE))
    model = TreeModel(build_tree(schema, records)[0], recipe=id3().to_dict())
    assert model.tree.depth == levels
    result = model.explain({"x": -5.0})
    assert [str(change.condition) for change in result.counterfactual.changes] == [f"x > {levels - 1}"]
    deep = model.explain({"x": 1e6})
    assert len(deep.steps) == levels
    assert [str(condition) for condition in deep.leaves[0].conditions] == [f"x > {levels - 1}"]
    assert len(model.explain(steps=True).steps) == 2 * levels + 1
    assert model.explain().depth == levels
    assert model.explain(node=2 * levels).outcome == "B"
