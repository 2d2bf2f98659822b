"""The model file: the same bytes back, and nothing that a file can contain does any harm."""

from __future__ import annotations

import copy
import json
import pickle
import random
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from random_tables import trees_and_cases
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.errors import ModelFormatError, ParameterError
from treewright.fitting.learn import fit
from treewright.learners.recipe import C45, CART, ID3
from treewright.tree.build import NodeRecord, build_tree
from treewright.tree.io import model_file as module
from treewright.tree.io.model_file import load_model, model_from_json, model_to_json
from treewright.tree.model import Predictor, TreeModel
from treewright.tree.split import Split, Surrogate
from treewright.tree.tree import Stop

TENNIS = fit(sample("play-tennis"), ID3())


def numeric_model() -> TreeModel:
    """Return a small tree with cuts, intervals, subsets, surrogates, broken weights and smoothing."""
    schema = Schema(
        (
            Column("x", Kind.NUMERIC),
            Column("c", Kind.NOMINAL, ("u", "v", "w")),
            Column("y", Kind.NOMINAL, ("a", "b", "z")),
        ),
        target="y",
    )

    def leaf(*counts: float) -> NodeRecord:
        return NodeRecord(sum(counts), np.array(counts), int(np.argmax(counts)), stop=Stop.PURE)

    stand_in = Surrogate(Split.subsets(1, (0, 1, -1)), 0.75, 0.5)
    records = [
        NodeRecord(7.5, np.array([3.5, 3, 1]), 0, Split.threshold(0, 1.5, missing=1), [1, 2], surrogates=(stand_in,)),
        NodeRecord(3.5, np.array([2.5, 1, 0]), 0, Split.subsets(1, (0, 1, -1)), [3, 4], p_value=0.01),
        NodeRecord(4.0, np.array([1, 2, 1]), 1, Split.intervals(0, (2.0, 3.25)), [5, 6, 7]),
        leaf(2.5, 0, 0),
        leaf(0, 1, 0),
        leaf(1, 0, 0),
        leaf(0, 2, 0),
        leaf(0, 0, 1),
    ]
    return TreeModel(build_tree(schema, records)[0], {"name": "by hand"}, {"source": None}, {}, "laplace")


def regression_model() -> TreeModel:
    schema = Schema(
        (Column("x", Kind.NUMERIC), Column("c", Kind.NOMINAL, ("u", "v")), Column("y", Kind.NUMERIC)), target="y"
    )
    x, c = np.array([1.0, 2.0, 3.0, np.nan, 5.0, 6.0]), np.array([0, 1, 0, 1, -1, 1], dtype=np.int32)
    model = fit(Dataset(schema, (x, c), 6, np.array([1.0, 1.5, 2.0, 5.25, 5.0, 9.0])), CART())
    assert isinstance(model, TreeModel)
    return model


def c45_model() -> TreeModel:
    model = fit(sample("restaurant"), C45(min_objects=1), smoothing=1.5)
    assert isinstance(model, TreeModel)
    return model


MODELS: dict[str, Any] = {
    "tennis": lambda: TENNIS,
    "numeric": numeric_model,
    "regression": regression_model,
    "restaurant": c45_model,
}


def document_of(model: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(model_to_json(model))
    return document


def sealed(document: dict[str, Any]) -> str:
    """Return the text of a document with a checksum that fits, as an attacker would write it."""
    document = {key: value for key, value in document.items() if key != "checksum"}
    document["checksum"] = module._checksum(document)
    return json.dumps(document)


def changed(model: Any, path: tuple[Any, ...], value: Any) -> str:
    document = document_of(model)
    part = document
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = value
    return sealed(document)


# -- round trip ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_loading_and_saving_gives_the_same_bytes(tmp_path: Path, name: str) -> None:
    model = MODELS[name]()
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    model.save(first)
    again = load_model(first)
    again.save(second)
    assert first.read_bytes() == second.read_bytes()
    assert again.recipe == model.recipe
    assert again.provenance == model.provenance
    assert str(again) == str(model)


@given(trees_and_cases())
@settings(max_examples=50)
def test_any_tree_comes_back_and_predicts_the_same(pair: Any) -> None:
    tree, cases = pair
    model = TreeModel(tree)
    again = model_from_json(model_to_json(model))
    assert isinstance(again, TreeModel)
    assert model_to_json(again) == model_to_json(model)
    assert again.tree.to_dict() == tree.to_dict()
    assert again.predict(cases).tolist() == model.predict(cases).tolist()
    assert again.tree.counts.dtype == tree.counts.dtype


def test_the_kept_split_trace_comes_back() -> None:
    again = model_from_json(model_to_json(TENNIS))
    assert isinstance(again, TreeModel)
    assert set(again.trace) == set(TENNIS.trace)
    for node, entries in TENNIS.trace.items():
        for one, other in zip(entries, again.trace[node], strict=True):
            assert (one.attribute, one.status, one.split, one.tries) == (
                other.attribute,
                other.status,
                other.split,
                other.tries,
            )
            np.testing.assert_array_equal(one.counts, other.counts)


def test_names_of_all_scripts_and_broken_ones_are_saved(tmp_path: Path) -> None:
    name = '</script>"\n\u202e😀\x00'
    schema = Schema((Column(name, Kind.NUMERIC), Column("y", Kind.NOMINAL, (name, "\udc80 half"))), target="y")
    tree = build_tree(schema, [NodeRecord(1.0, np.array([1, 0]), 0, stop=Stop.PURE)])[0]
    model = TreeModel(tree, provenance={"source": "file-\udcff.csv"})
    model.save(tmp_path / "m.json")
    again = load_model(tmp_path / "m.json")
    assert again.schema == schema
    assert again.provenance == model.provenance


def test_a_model_without_a_kind_is_not_saved(tmp_path: Path) -> None:
    class Guess(Predictor):
        """A model that only predicts."""

    with pytest.raises(ParameterError, match="a Guess cannot be saved"):
        Guess().save(tmp_path / "m.json")
    assert not list(tmp_path.iterdir())


def test_a_tree_is_read_without_the_other_kinds(tmp_path: Path) -> None:
    TENNIS.save(tmp_path / "m.json")
    code = f"""
import sys
from treewright.tree.io.model_file import load_model
load_model({str(tmp_path / "m.json")!r})
print([name for name in sys.modules if name in {{"treewright.tree.forest", "treewright.tree.rules"}}])
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_checksum_detects_that_a_file_was_changed() -> None:
    text = model_to_json(TENNIS)
    for old, new in (('"weight":[14', '"weight":[15'), ('"source":"sample', '"source":"Sample')):
        assert old in text
        with pytest.raises(ModelFormatError, match="checksum does not match"):
            model_from_json(text.replace(old, new))


def test_spaces_and_the_order_of_keys_do_not_matter() -> None:
    document = document_of(TENNIS)
    turned = json.dumps({key: document[key] for key in reversed(document)}, indent=2)
    assert model_to_json(model_from_json(turned)) == model_to_json(TENNIS)


# -- files that are no models ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'"treewright-model"',
        b"\xff\xfe{",
        b"\x00" * 100,
        b'{"format": "treewright-model"}',
        b'{"format": "other", "version": 1}',
        b'{"format": NaN}',
        b"9" * 5000,
        b'{"format": "treewright-model", "version": 1, "kind": "tree", "checksum": ' + b"1" * 5000 + b"}",
    ],
)
def test_what_is_no_model_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(content)
    with pytest.raises(ModelFormatError, match=r"broken\.json"):
        load_model(path)


HEAD = '{"format": "treewright-model", "version": 1, "kind": "tree", '


@pytest.mark.parametrize(
    ("before", "opening", "closing", "after"),
    [
        ("", "[", "]", ""),
        ("", '{"a":', "}", ""),
        (HEAD + '"schema": ', "[", "]", "}"),
        (HEAD + '"recipe": ', '{"a":', "}", "}"),
        ('{"format": "treewright-model", "version": ', "[", "]", "}"),
    ],
)
@pytest.mark.parametrize("depth", [300, 480, 960, 200_000])
def test_deep_nesting_is_a_clear_error_within_a_second(
    before: str, opening: str, closing: str, after: str, depth: int
) -> None:
    text = before + opening * depth + "1" + closing * depth + after
    start = time.perf_counter()
    with pytest.raises(ModelFormatError):
        model_from_json(text)
    assert time.perf_counter() - start < 1


@pytest.mark.parametrize("depth", [100, 400, 700, 900, 950, 980, 990, 2000])
def test_deep_recipes_with_a_fitting_checksum_load_or_are_refused(depth: int) -> None:
    nested: Any = 1
    for _ in range(depth):
        nested = [nested]
    try:
        text = changed(TENNIS, ("recipe", "deep"), nested)
    except RecursionError:  # too deep to be written here, but a file may hold it
        text = changed(TENNIS, ("recipe", "deep"), "HERE").replace('"HERE"', "[" * depth + "]" * depth)
    try:
        model = model_from_json(text)
    except ModelFormatError:
        return
    assert len(model.predict(sample("play-tennis"))) == 14


def test_a_file_cut_anywhere_is_refused() -> None:
    content = model_to_json(TENNIS).encode()
    assert len(content) < 10_000
    for length in range(len(content.rstrip())):
        with pytest.raises(ModelFormatError):
            model_from_json(content[:length])


def test_a_file_with_more_behind_it_is_refused() -> None:
    with pytest.raises(ModelFormatError):
        model_from_json(model_to_json(TENNIS) + "{}")


class Bomb:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_is_refused_and_nothing_is_executed(tmp_path: Path, protocol: int) -> None:
    trace = tmp_path / "executed"
    path = tmp_path / "model.json"
    path.write_bytes(pickle.dumps(Bomb(trace), protocol))
    with pytest.raises(ModelFormatError, match="not a model file"):
        load_model(path)
    assert not trace.exists()


@pytest.mark.parametrize("version", [2, 0, "1", None, 10**6, [1], 1.5])
def test_another_version_is_refused_by_its_number(version: Any) -> None:
    with pytest.raises(ModelFormatError, match=r"version .* is not supported"):
        model_from_json(changed(TENNIS, ("version",), version))


def test_another_kind_of_model_is_refused() -> None:
    with pytest.raises(ModelFormatError, match="kind 'oracle' is not supported"):
        model_from_json(changed(TENNIS, ("kind",), "oracle"))


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    TENNIS.save(tmp_path / "m.json")
    monkeypatch.setattr(module, "MAX_BYTES", 100)
    with pytest.raises(ModelFormatError, match="too many for a model file"):
        load_model(tmp_path / "m.json")


# -- hostile trees with a fitting checksum ---------------------------------------------------------------------------

OUTLOOK = ("working", "0", 0)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("tree", "children", 0), 10**8),
        (("tree", "children", 0), 2**31),
        (("tree", "children", 0), 10**30),
        (("tree", "children", 0), 0),
        (("tree", "children", 0), -1),
        (("tree", "children", 0), True),
        (("tree", "children", 0), 1.0),
        (("tree", "children"), []),
        (("tree", "children"), {"0": 1}),
        (("tree", "child_start"), [0, 2**31 - 1, -(2**31), -1, 5, 5, 7, 7, 7]),
        (("tree", "attribute", 0), 99),
        (("tree", "attribute", 0), -5),
        (("tree", "attribute"), []),
        (("tree", "missing", 0), 3),
        (("tree", "missing", 0), -9),
        (("tree", "test", 0), "threshold"),
        (("tree", "test", 0), "oracle"),
        (("tree", "test", 0), None),
        (("tree", "test", 2), "nominal"),
        (("tree", "test", 0), ["nominal"]),
        (("tree", "cut", 0), 1.5),
        (("tree", "cut", 2), 1.5),
        (("tree", "stop", 0), "pure"),
        (("tree", "stop", 2), None),
        (("tree", "stop", 2), "tired"),
        (("tree", "stop", 2), 3),
        (("tree", "outcome", 0), 2),
        (("tree", "outcome", 0), 0.5),
        (("tree", "weight", 0), -1),
        (("tree", "weight", 0), 10**400),
        (("tree", "weight", 0), "14"),
        (("tree", "weight"), [1]),
        (("tree", "counts", 0), [9, 5, 0]),
        (("tree", "counts", 0), [9, -5]),
        (("tree", "counts", 0), [9, None]),
        (("tree", "counts", 0), 14),
        (("tree", "counts"), []),
        (("tree", "sse"), [0] * 8),
        (("tree", "estimate"), [1]),
        (("tree", "p_value"), [2.0, "x"]),
        (("tree", "p_value"), [0.5]),
        (("tree", "surrogates"), {"0": []}),
        (("tree", "surrogates"), {"99": [{}]}),
        (("tree", "surrogates"), []),
        (("tree",), None),
        (("tree",), []),
        (("schema",), None),
        (("schema", "target"), None),
        (("schema", "columns"), []),
        (("schema", "columns", 4, "values"), ["Yes"]),
        (("schema", "columns", 4, "labels"), "integer"),
        (("schema", "columns", 4, "labels"), "boolean"),
        (("schema", "columns", 0, "values"), ["Sunny", "Rain"]),
        (("schema", "columns", 0, "values"), ["Sunny", "Sunny", "Rain"]),
        (("schema", "columns", 0, "kind"), "numeric"),
        (("recipe",), None),
        (("provenance",), [1]),
        (("smoothing",), "much"),
        (("smoothing",), -1),
        (("smoothing",), 10**400),
        (("smoothing",), [1]),
        (("voting",), "loud"),
        (("costs",), [[1]]),
        (("costs",), [[0, 10**400], [1, 0]]),
        (("costs",), [[0, True], [1, 0]]),
        (("costs",), {"a": 1}),
        (("working",), []),
        (("working", "99"), []),
        (("working", "-1"), []),
        (("working", "٣"), []),
        (("working", "0"), {}),
        (OUTLOOK, 7),
        ((*OUTLOOK, "attribute"), 4),
        ((*OUTLOOK, "attribute"), True),
        ((*OUTLOOK, "branches"), 2**31 - 1),
        ((*OUTLOOK, "branches"), 10**12),
        ((*OUTLOOK, "branches"), 1),
        ((*OUTLOOK, "missing"), 5),
        ((*OUTLOOK, "missing"), None),
        ((*OUTLOOK, "verdict"), "guilty"),
        ((*OUTLOOK, "test"), "threshold"),
        ((*OUTLOOK, "test"), {}),
        ((*OUTLOOK, "counts"), [[1, 2]]),
        ((*OUTLOOK, "counts"), [[1, 2], [3, 4], [5]]),
        ((*OUTLOOK, "unknown"), None),
        ((*OUTLOOK, "tries"), -1),
        ((*OUTLOOK, "tries"), 10**30),
    ],
)
def test_a_contradiction_is_refused_though_the_checksum_fits(path: tuple[Any, ...], value: Any) -> None:
    start = time.perf_counter()
    with pytest.raises(ModelFormatError):
        model_from_json(changed(TENNIS, path, value))
    assert time.perf_counter() - start < 1


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
@pytest.mark.parametrize("key", ["cut", "weight", "bounds", "recipe", "provenance", "smoothing"])
def test_a_number_that_is_not_finite_is_refused_wherever_it_stands(key: str, number: str) -> None:
    document = document_of(numeric_model())
    if key in {"recipe", "provenance"}:
        document[key]["name"] = "HERE"
    elif key == "smoothing":
        document[key] = "HERE"
    else:
        document["tree"][key][0] = "HERE"
    text = sealed(document).replace('"HERE"', number)
    with pytest.raises(ModelFormatError):
        model_from_json(text)


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the way to every part of a document but its checksum."""
    items: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    found = []
    for key, part in items:
        if path or key != "checksum":
            found += [(*path, key), *paths(part, (*path, key))]
    return found


NUMBERS = (0, 1, 2, 3, -1, -2, 7, 2**31 - 1, -(2**31), 2**31, 2**53, 10**40, 0.5, -0.5, 1e-300, 1e300, 1e308)
WORDS = ("", "0", "x", "nominal", "threshold", "pure", "a\nb\x1b", "\ud800", "numeric", "ordinal", "integer")
STRANGE: tuple[Any, ...] = (*NUMBERS, *WORDS, None, True, False, [], [0], [[]], {}, {"a": 1})


def mutated(document: dict[str, Any], chance: random.Random) -> str:
    """Return the document with one to three of its parts replaced, exchanged, doubled or left out."""
    document = copy.deepcopy(document)
    for _ in range(chance.randint(1, 3)):
        path = chance.choice(paths(document))
        parent: Any = document
        for step in path[:-1]:
            parent = parent[step]
        what = chance.randrange(5)
        if what == 0:
            del parent[path[-1]]
        elif what == 1 and isinstance(parent, list):
            parent.insert(path[-1], copy.deepcopy(chance.choice(parent)))
        elif what == 2 and isinstance(parent, list):
            other = chance.randrange(len(parent))
            parent[path[-1]], parent[other] = parent[other], parent[path[-1]]
        elif what == 3 and type(parent[path[-1]]) in (int, float):
            parent[path[-1]] += chance.choice((-1, 1, 0.5, 1000))
        else:
            parent[path[-1]] = copy.deepcopy(chance.choice(STRANGE))
    return sealed(document)


def use(model: Any) -> None:
    """Do with a model all that can be done without a learner."""
    model.tree.validate()
    schema = model.schema
    rows = 5
    columns = tuple(
        np.array([np.nan, -1e300, 0.0, 2.0, 1e300])
        if column.is_numeric
        else np.array([row % (len(column.values) + 1) - 1 for row in range(rows)], dtype=np.int32)
        for column in schema.attributes
    )
    cases = Dataset(schema, columns, rows)
    predicted = model.predict(cases)
    assert len(predicted) == rows
    if not model.tree.is_regression:
        assert model.predict_proba(cases).shape == (rows, len(schema.classes))
    model.apply(cases)
    str(model).encode("utf-8")
    model.tree.to_dict()
    text = model_to_json(model)
    text.encode("utf-8")
    assert model_to_json(model_from_json(text)) == text


@pytest.mark.parametrize("name", MODELS)
def test_no_mutation_crashes_or_loads_into_an_invalid_tree(name: str) -> None:
    document = document_of(MODELS[name]())
    chance = random.Random(f"mutations of {name}")  # noqa: S311 - no secret
    loaded = 0
    for _ in range(400):
        text = mutated(document, chance)
        try:
            model = model_from_json(text)
        except ModelFormatError:
            continue
        loaded += 1
        use(model)
    assert loaded > 5  # the rest was not refused for the checksum alone


# -- depth, and what loading needs -----------------------------------------------------------------------------------


def test_a_deep_tree_prints_saves_loads_and_predicts(tmp_path: Path) -> None:
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NOMINAL, ("a", "b"))), target="y")
    records = []
    for level in range(2999):
        leaf = NodeRecord(1.0, np.array([1 - level % 2, level % 2]), level % 2, stop=Stop.PURE)
        split = Split.threshold(0, level + 0.5)
        records += [NodeRecord(9.0, np.array([5, 4]), 0, split, [2 * level + 1, 2 * level + 2]), leaf]
    records.append(NodeRecord(1.0, np.array([0, 1]), 1, stop=Stop.PURE))
    model = TreeModel(build_tree(schema, records)[0])
    model.save(tmp_path / "deep.json")
    again = load_model(tmp_path / "deep.json")
    assert str(again) == str(model)
    assert again.predict({"x": np.arange(3000.0)}).tolist() == ["a", "b"] * 1500


@pytest.mark.slow
def test_a_tree_of_depth_2999_fits_prints_saves_loads_and_predicts(tmp_path: Path) -> None:
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NOMINAL, ("a", "b"))), target="y")
    x, y = np.arange(3000.0), (np.arange(3000) % 2).astype(np.int32)
    model = fit(Dataset(schema, (x,), 3000, y), CART())
    assert isinstance(model, TreeModel)
    assert model.tree.depth == 2999
    assert len(str(model).splitlines()) > 6000 - 10
    model.save(tmp_path / "deep.json")
    again = load_model(tmp_path / "deep.json")
    assert again.predict({"x": x}).tolist() == ["a", "b"] * 1500
    again.save(tmp_path / "again.json")
    assert (tmp_path / "deep.json").read_bytes() == (tmp_path / "again.json").read_bytes()
    assert isinstance(again, TreeModel)
    assert replace(again, smoothing="laplace").predict({"x": x[:4]}).tolist() == ["a", "b", "a", "b"]


WITHOUT_LEARNERS = """
import sys
from treewright import load
model = load(sys.argv[1])
case = {"Outlook": ["Rain"], "Temperature": ["Hot"], "Humidity": ["High"], "Wind": ["Weak"]}
assert model.predict(case).tolist() == ["Yes"]
assert str(model).startswith("Outlook")
model.tree.to_dict()
model.save(sys.argv[1])
unwanted = ("treewright.learners", "treewright.counting", "treewright.fitting", "treewright.pruning",
            "treewright.estimators", "sklearn", "scipy", "numba", "pandas", "duckdb")
print([name for name in unwanted if name in sys.modules])
"""


def test_a_model_is_used_with_every_learner_absent(tmp_path: Path) -> None:
    TENNIS.save(tmp_path / "m.json")
    command = [sys.executable, "-c", WITHOUT_LEARNERS, str(tmp_path / "m.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
