"""C45Classifier: dialects, pruning, costs, missing values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treewright
from oracle_sets import load_json, load_set, set_names
from treewright.tree.tree import Tree

SMALL = ("weather-numeric", "labor", "iris", "vote")


@pytest.mark.oracle
@pytest.mark.parametrize("name", set_names(task="classification"))
@pytest.mark.parametrize(("dialect", "file", "run"), [("r8", "c45.json", "default"), ("j48", "weka_j48.json", "J48")])
def test_the_estimator_grows_the_tree_of_the_original(name: str, dialect: str, file: str, run: str) -> None:
    data = load_set(name)
    clf = treewright.C45Classifier(dialect=dialect, schema=data.schema).fit(data.X, data.y)
    recorded = load_json(name, file)["runs"][run]
    tree = recorded["pruned"]["tree"] if dialect == "r8" else recorded["tree"]
    assert shape(clf.tree_.to_dict()) == shape(tree)
    errors = int(np.sum(clf.predict(data.X) != data.y))
    assert errors == (recorded["pruned"]["train_errors"] if dialect == "r8" else recorded["train"]["errors"])


def shape(tree: dict[str, Any]) -> list[Any]:
    """Flatten what both trees must share: tests, cuts, labels, classes and weights, without recursion."""
    flat: list[Any] = []
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        flat.append((node.get("attr"), node.get("test"), node.get("cut"), node["class"], round(node["n"], 2)))
        for label, child in node.get("children", []):
            flat.append(label)
            waiting.append(child)
    return flat


@pytest.mark.full
@pytest.mark.oracle
def test_our_dialect_makes_the_same_errors_but_for_ties_that_rounding_decides() -> None:
    """Training errors within 0.5 % of the cases (at least one case) of Release 8, pruned and unpruned.

    In 32-bit floats exact ties of two attributes, and gaps of exactly 1e-5 between numbers, are decided by rounding; a
    set may therefore differ. At most one in twenty trees does.
    """
    compared, differing = 0, []
    for name in set_names(task="classification"):
        data = load_set(name)
        for prune in (True, False):
            clf = treewright.C45Classifier(prune=prune, schema=data.schema).fit(data.X, data.y)
            errors = int(np.sum(clf.predict(data.X) != data.y))
            recorded = load_json(name, "c45.json")["runs"]["default"]["pruned" if prune else "unpruned"]
            compared += 1
            if abs(errors - recorded["train_errors"]) > max(1, 0.005 * len(data)):
                differing.append((name, prune, errors, recorded["train_errors"]))
    assert len(differing) <= compared / 20, differing


def weather() -> treewright.Dataset:
    return treewright.read("sample:play-tennis")


def test_unpruned_is_at_least_as_large_as_pruned() -> None:
    data = treewright.read("sample:contact-lenses")
    sizes = [
        treewright.C45Classifier(prune=prune, confidence=confidence).fit(data.X, data.y).tree_.n_nodes
        for prune, confidence in ((False, 0.25), (True, 0.25), (True, 0.01))
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1]


@pytest.mark.parametrize("dialect", ["c45", "r8", "j48"])
def test_a_case_with_everything_missing_is_classified(dialect: str) -> None:
    data = weather()
    clf = treewright.C45Classifier(dialect=dialect).fit(data.X, data.y)
    blank = {name: [None] for name in data.schema.attribute_names}
    assert clf.predict(blank).tolist() == ["Yes"]
    assert clf.predict_proba(blank).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("dialect", ["c45", "r8", "j48"])
def test_half_the_cells_blanked_still_trains_and_predicts(dialect: str) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 4)).round(2)
    y = np.where(X[:, 0] + X[:, 1] > 0, "up", "down")
    X[rng.random(X.shape) < 0.5] = np.nan
    clf = treewright.C45Classifier(dialect=dialect).fit(X, y)
    assert np.mean(clf.predict(X) == y) > 0.6
    assert np.allclose(clf.predict_proba(X).sum(axis=1), 1.0)


def test_costs_turn_the_answer_to_the_class_of_least_expected_cost() -> None:
    X = np.arange(20.0).reshape(-1, 1)
    y = np.array(["well"] * 15 + ["sick"] * 5)
    X[:] = 0.0  # one leaf with 15 : 5
    plain = treewright.C45Classifier().fit(X, y)
    dear = treewright.C45Classifier(costs={("sick", "well"): 5}).fit(X, y)
    table = treewright.C45Classifier(costs=[[0, 5], [1, 0]]).fit(X, y)  # classes_ are sorted: sick, well
    assert plain.predict(X[:1]).tolist() == ["well"]
    assert dear.predict(X[:1]).tolist() == table.predict(X[:1]).tolist() == ["sick"]
    assert np.allclose(dear.predict_proba(X[:1]), [[0.25, 0.75]])
    with pytest.raises(treewright.ParameterError, match="classes_"):
        treewright.C45Classifier(costs=[[0]]).fit(X, y)


@pytest.mark.parametrize("dialect", ["c45", "r8", "j48"])
def test_a_saved_model_votes_as_the_fitted_one(dialect: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(80, 3)).astype(float)
    X[rng.random(X.shape) < 0.2] = np.nan
    y = rng.choice(["a", "b", "c"], size=80)
    clf = treewright.C45Classifier(dialect=dialect, costs={("a", "b"): 2}).fit(X, y)
    clf.save(tmp_path / "m.json")
    loaded = treewright.load(tmp_path / "m.json")
    assert isinstance(loaded, treewright.TreeModel)
    assert loaded.predict(X).tolist() == clf.predict(X).tolist()
    assert np.array_equal(loaded.predict_proba(X), clf.predict_proba(X))


def test_weights_are_refused_by_the_dialects_that_know_none() -> None:
    data = weather()
    for dialect in ("r8", "j48"):
        with pytest.raises(treewright.ParameterError, match="weights"):
            treewright.C45Classifier(dialect=dialect).fit(data.X, data.y, sample_weight=np.full(14, 2.0))


@pytest.mark.parametrize("prune", ["reduced_error", "chi_square", "mdl", treewright.CostComplexity(0.01)])
def test_other_prunings_give_a_tree_no_larger(prune: Any) -> None:
    data = treewright.read("sample:contact-lenses")
    full: Tree = treewright.C45Classifier(prune=False).fit(data.X, data.y).tree_
    pruned: Tree = treewright.C45Classifier(prune=prune).fit(data.X, data.y).tree_
    assert pruned.n_nodes <= full.n_nodes


def test_the_split_trace_of_a_pruned_tree_belongs_to_its_own_nodes() -> None:
    data = treewright.read("sample:contact-lenses")
    for dialect in ("c45", "r8", "j48"):
        model = treewright.C45Classifier(dialect=dialect).fit(data.X, data.y).model_
        for node, entries in model.trace.items():
            split = model.tree.split(node)
            chosen = [one for one in entries if one.status == "chosen"]
            assert [one.split for one in chosen] == ([split] if split is not None else [])
            for one in chosen:
                below = model.tree.counts[model.tree.children_of(node)]
                assert np.array_equal(one.counts, below)


def test_a_formula_holds_when_the_tree_predicts_the_class() -> None:
    data = weather()
    tree = treewright.C45Classifier().fit(data.X, data.y).tree_
    assert str(tree.to_formula("No")) == "(Outlook = Sunny ∧ Humidity = High) ∨ (Outlook = Rain ∧ Wind = Strong)"


def test_subset_mode_groups_values_and_never_needs_more_leaves() -> None:
    rng = np.random.default_rng(2)
    colour = rng.choice(list("abcdefgh"), 400)
    y = np.where(np.isin(colour, list("abc")) ^ (rng.random(400) < 0.05), "in", "out")
    X = {"colour": colour, "noise": rng.choice(list("xyz"), 400)}
    plain = treewright.C45Classifier(prune=False).fit(X, y).tree_
    grouped = treewright.C45Classifier(prune=False, subset=True).fit(X, y).tree_
    assert grouped.to_dict()["test"] == "subset"
    labels = [set(label) for label, _ in grouped.to_dict()["children"]]
    assert {"a", "b", "c"} in labels
    assert grouped.n_leaves <= plain.n_leaves


@pytest.mark.oracle
def test_subset_trees_without_missing_values_err_like_those_of_release_8() -> None:
    """In double precision and with ties by rule: within one per cent of the cases on nearly every set."""
    differing = []
    names = [name for name in set_names(task="classification") if "subset" in load_json(name, "c45.json")["runs"]]
    complete = [name for name in names if not load_set(name).has_missing and len(load_set(name)) < 5000]
    for name in complete:
        data = load_set(name)
        clf = treewright.C45Classifier(subset=True, prune=False, schema=data.schema).fit(data.X, data.y)
        errors = int(np.sum(clf.predict(data.X) != data.y))
        recorded = load_json(name, "c45.json")["runs"]["subset"]["unpruned"]["train_errors"]
        if abs(errors - recorded) > max(1, 0.01 * len(data)):
            differing.append((name, errors, recorded))
    assert len(differing) <= len(complete) / 10, differing
