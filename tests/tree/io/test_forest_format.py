"""Forests in files: the same bytes back, and no file makes a forest that is not one."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from tree.io.test_model_file import sealed
from tree.test_packed_forest import forests_and_cases
from treewright.data.samples import sample
from treewright.ensembles.plan import adaboost, bagging, forest
from treewright.errors import ModelFormatError
from treewright.fitting.learn import fit
from treewright.tree.forest import Forest
from treewright.tree.io.forest_json import decode_array, encode_array
from treewright.tree.io.model_file import load_model, model_from_json, model_to_json
from treewright.tree.packed_forest import pack_trees

WEATHER = fit(sample("play-tennis"), forest(trees=5))
LENSES = fit(sample("contact-lenses"), bagging(trees=4))
BOOSTED = fit(sample("restaurant"), adaboost(trees=4), smoothing="laplace")


def of(model: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(model_to_json(model))
    return document


@given(forests_and_cases())
@settings(max_examples=60)
def test_any_forest_comes_back_and_predicts_the_same(pair: Any) -> None:
    trees, cases = pair
    model = Forest(pack_trees(trees[0].schema, trees), np.ones(len(trees)))
    text = model_to_json(model)
    again = model_from_json(text)
    assert isinstance(again, Forest)
    assert model_to_json(again) == text
    assert np.array_equal(again.answers(cases), model.answers(cases))
    for tree in again.trees:
        tree.validate()


@pytest.mark.parametrize("model", [WEATHER, LENSES, BOOSTED], ids=["forest", "bagging", "adaboost"])
def test_learned_forests_come_back(model: Forest, tmp_path: Path) -> None:
    path = tmp_path / "forest.json"
    model.save(path)
    again = load_model(path)
    assert isinstance(again, Forest)
    assert again.recipe == model.recipe
    assert again.provenance == model.provenance
    assert again.log == model.log
    assert again.smoothing == model.smoothing
    assert again.weights.tolist() == model.weights.tolist()
    assert [tree.to_dict() for tree in again.trees] == [tree.to_dict() for tree in model.trees]


def test_a_changed_array_is_detected_by_the_checksum() -> None:
    document = of(WEATHER)
    document["trees"]["stop"] = encode_array(decode_array(document["trees"], "stop", ("<u1",)) + 1)
    with pytest.raises(ModelFormatError, match="checksum"):
        model_from_json(json.dumps(document))


def test_every_truncated_file_is_detected() -> None:
    text = model_to_json(LENSES)
    for end in range(0, len(text) - 2, 97):
        with pytest.raises(ModelFormatError):
            model_from_json(text[:end])


def _changed(model: Forest, name: str, change: Any) -> str:
    document = of(model)
    part = document["trees"]
    types = ("<u1", "<u2", "<u4", "<i8", "<i1", "<i2", "<i4", "<f8")
    values = decode_array(part, name, types).copy()
    part[name] = encode_array(change(values))
    return sealed(document)


def _with(index: int, value: Any) -> Any:
    def change(values: Any) -> Any:
        values = values.astype(np.float64 if values.dtype.kind == "f" else np.int64)
        values[index] = value
        return values

    return change


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("sizes", _with(0, 0), "at least one node"),
        ("sizes", lambda values: values[:0], "at least one tree"),
        ("sizes", _with(0, 2**31), "at least one node"),
        ("sizes", lambda values: np.full(600, 2**30), "too many"),
        ("sizes", _with(0, 1), "attribute"),
        ("attribute", _with(0, 4), "does not have"),
        ("attribute", _with(0, -2), "does not have"),
        ("attribute", _with(0, -1), "branches|bytes"),
        ("later", _with(0, 0), "child"),
        ("later", _with(0, 10**8), "child"),
        ("later", _with(0, 1), "depth first"),
        ("missing", _with(0, 7), "branch that does not exist"),
        ("missing", _with(0, -3), "branch that does not exist"),
        ("missing", _with(0, 2**40), "branch that does not exist"),
        ("stop", _with(0, 99), "reason to stop"),
        ("counts", _with(0, 2**53), "too large"),
        ("counts", lambda values: values * -1.0 - 1, "negative"),
        ("counts", lambda values: values * np.nan, "negative or not finite"),
    ],
)
def test_damaged_arrays_are_refused(name: str, change: Any, words: str) -> None:
    with pytest.raises(ModelFormatError, match=words):
        model_from_json(_changed(WEATHER, name, change))


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("combining",), "chance", "unknown combining"),
        (("weights",), None, "packed array"),
        (("weights",), encode_array(np.array([1.0])), "bytes"),
        (("weights",), encode_array(np.array([1.0, -1.0, 1, 1, 1])), "at least 0"),
        (("log",), [], "'log' must be an object"),
        (("log",), {"error": encode_array(np.array([np.nan] * 5))}, "finite"),
        (("trees",), None, "'trees' must be an object"),
        (("trees", "statistics"), "roots", "'statistics' must be"),
        (("trees", "surrogates"), {"1": []}, "surrogates"),
        (("trees", "branches"), encode_array(np.array([2])), "bytes"),
        (("trees", "test"), encode_array(np.array([200])), "bytes"),
        (("smoothing",), "much", "smoothing"),
        (("costs",), [[0.0]], "2 rows"),
        (("kind",), "wood", "is not supported"),
    ],
)
def test_damaged_parts_are_refused(path: tuple[str, ...], value: Any, words: str) -> None:
    document = of(WEATHER)
    part = document
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = value
    with pytest.raises(ModelFormatError, match=words):
        model_from_json(sealed(document))


NAMES = ("sizes", "attribute", "later", "cut", "missing", "stop", "branches", "test", "values", "counts", "bounds")


@pytest.mark.parametrize("model", [WEATHER, LENSES, BOOSTED], ids=["forest", "bagging", "adaboost"])
def test_mutated_files_are_refused_or_hold_valid_trees(model: Forest) -> None:
    chance = random.Random(7)  # noqa: S311 - the same mutations every time
    loaded = 0
    for _ in range(400):
        document = of(model)
        part = document["trees"]
        name = chance.choice([name for name in NAMES if name in part])
        values = decode_array(part, name, ("<u1", "<u2", "<u4", "<i8", "<i1", "<i2", "<i4", "<f8"))
        if len(values) == 0:
            continue
        values = values.astype(np.float64 if values.dtype.kind == "f" else np.int64)
        odd = [0, 1, 2, 3, 5, 127, 2**20, -1, -2]
        for _ in range(chance.choice([1, 1, 2])):
            values[chance.randrange(len(values))] = chance.choice(odd)
        if chance.random() < 0.1:
            values = values[:-1]
        part[name] = encode_array(values)
        try:
            again = model_from_json(sealed(document))
        except ModelFormatError:
            continue
        loaded += 1
        assert isinstance(again, Forest)
        for tree in again.trees:
            tree.validate()
        again.answers(sample({id(WEATHER): "play-tennis", id(LENSES): "contact-lenses"}.get(id(model), "restaurant")))
    assert loaded < 400


def test_a_forest_of_numbers_comes_back_with_and_without_mistakes() -> None:
    from treewright.data.dataset import Dataset
    from treewright.data.schema import Column, Kind, Schema
    from treewright.learners.recipe import CART, Stopping

    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    x = np.arange(40.0)
    data = Dataset(schema, (x,), 40, np.sin(x) + x)
    for tree in (CART(), CART(stopping=Stopping(max_depth=2))):
        model = fit(data, forest(tree, trees=3))
        again = model_from_json(model_to_json(model))
        assert isinstance(again, Forest)
        assert np.array_equal(again.predict(data), model.predict(data))
        assert model_to_json(again) == model_to_json(model)
        for change in ("outcome", "weight"):
            with pytest.raises(ModelFormatError, match=r"finite|negative"):
                model_from_json(_changed(model, change, lambda values: values * np.nan))


def by_hand() -> Forest:
    """Return two trees with intervals, subsets, one value against others, surrogates, odd weights and classes."""
    from treewright.data.schema import Column, Kind, Schema
    from treewright.tree.build import NodeRecord, build_tree
    from treewright.tree.split import Split, Surrogate
    from treewright.tree.tree import Stop

    schema = Schema(
        (Column("x", Kind.NUMERIC), Column("c", Kind.NOMINAL, ("u", "v", "w")), Column("y", Kind.NOMINAL, ("a", "b"))),
        target="y",
    )

    def leaf(a: float, b: float, outcome: int, weight: float | None = None) -> NodeRecord:
        return NodeRecord(a + b if weight is None else weight, np.array([a, b]), outcome, stop=Stop.PURE)

    stand_in = Surrogate(Split.subsets(1, (0, 1, -1)), 0.75, 0.5)
    records = [
        NodeRecord(7.5, np.array([4.5, 3.0]), 0, Split.threshold(0, 1.5), [1, 2], surrogates=(stand_in,)),
        NodeRecord(3.5, np.array([2.5, 1.0]), 0, Split.equals(1, 1, 3), [3, 4]),
        NodeRecord(4.0, np.array([2.0, 2.0]), 1, Split.intervals(0, (2.0, 3.25)), [5, 6, 7]),
        leaf(2.5, 0, 0),
        leaf(0, 1, 0),
        leaf(1, 0, 0),
        leaf(0, 2, 1),
        leaf(1, 0, 0, 0.0),
    ]
    tree = build_tree(schema, records)[0]
    return Forest(pack_trees(schema, [tree, tree]), np.array([1.0, 2.0]))


def test_all_forms_of_tests_come_back() -> None:
    model = by_hand()
    text = model_to_json(model)
    again = model_from_json(text)
    assert isinstance(again, Forest)
    assert model_to_json(again) == text
    assert [tree.to_dict() for tree in again.trees] == [tree.to_dict() for tree in model.trees]
    assert again.trees[1].surrogates == model.trees[1].surrogates


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("cut", _with(0, np.inf), "cut is not finite"),
        ("bounds", _with(0, 9.0), "bounds do not ascend"),
        ("bounds", _with(0, np.nan), "bounds do not ascend"),
        ("bound_counts", _with(0, 3), "bounds do not make"),
        ("test", _with(0, 1), "does not match its kind"),
        ("test", _with(0, 9), "unknown form of test"),
        ("test", _with(1, 1), "one branch for each value"),
        ("branches", _with(0, 3), "do not make trees"),
        ("branches", _with(0, 1), "do not make trees"),
        ("values", _with(0, 0), "one value on the left"),
        ("values", _with(0, 5), "branch that does not exist"),
        ("outcome", _with(0, 2), "not a class"),
        ("weight", _with(0, -1.0), "negative"),
    ],
)
def test_damaged_tests_and_statistics_are_refused(name: str, change: Any, words: str) -> None:
    with pytest.raises(ModelFormatError, match=words):
        model_from_json(_changed(by_hand(), name, change))


def test_surrogates_are_only_for_inner_nodes_of_two_branches() -> None:
    document = of(by_hand())
    [one, *_] = document["trees"]["surrogates"].values()
    document["trees"]["surrogates"] = {"2": one}
    with pytest.raises(ModelFormatError, match="cannot have surrogates"):
        model_from_json(sealed(document))
