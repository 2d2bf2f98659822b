"""Release 8's pruning against the reference implementation, and whole trees against those of the original program."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle_sets import load_json, load_set, set_names
from release8_reference import Reference, plain, plain_tree, random_dataset, random_options
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.learners.c45r8.cases import Release8Cases
from treewright.learners.c45r8.growing import grow_release8
from treewright.learners.c45r8.options import Release8
from treewright.learners.c45r8.pruning import Estimator, FractionalPruner, drop_impossible_branches, prune_release8
from treewright.learners.pessimistic_error import extra_errors_single
from treewright.tree.build import NodeRecord, build_tree
from treewright.tree.split import Split
from treewright.tree.tree import Stop, Tree
from treewright.tree.votes import class_sums

RUNS = {
    "default": Release8(),
    "gain": Release8(criterion="gain"),
    "subset": Release8(subset=True),
    "m1_c100": Release8(min_objects=1, confidence=1.0),
    "m1_g_c100": Release8(min_objects=1, criterion="gain", confidence=1.0),
    "m10_c5": Release8(min_objects=10, confidence=0.05),
}
"""The recorded runs of the original program and their options."""

LARGE = 3000
"""Sets with at least this many cases are slow."""


# -- against the reference implementation ------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [0.0, 0.1, 0.4])
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_pruning_is_the_reference_implementation_bit_by_bit(missing: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    data, options = random_dataset(rng, missing), random_options(rng)
    reference = Reference(data, options)
    root = reference.grow(0, data.n_rows)
    expected = reference.prune(root, lambda n, e: extra_errors_single(n, e, options.confidence))
    growth = grow_release8(data, options)
    grown = plain_tree(growth.tree, growth.tree_errors)
    pruned = prune_release8(data, growth, options.confidence)
    assert pruned.estimate is not None
    assert plain_tree(pruned, pruned.estimate) == plain(expected)
    assert plain_tree(growth.tree, growth.tree_errors) == grown  # what was grown stays


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_the_shorter_way_without_unknown_values_leads_to_the_same_tree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    data, options = random_dataset(rng, 0.0), replace(random_options(rng), subset=False)
    growth = grow_release8(data, options)
    short = prune_release8(data, growth, options.confidence)
    records = [replace(record, children=list(record.children), estimate=0.0) for record in growth.records]
    root = FractionalPruner(Release8Cases(data, growth.order), records, Estimator(options.confidence)).prune()
    general = build_tree(data.schema, records, root)[0]
    assert short.estimate is not None
    assert general.estimate is not None
    assert plain_tree(short, short.estimate) == plain_tree(general, general.estimate)


def test_weather_keeps_its_tree() -> None:
    weather = sample("play-tennis")
    growth = grow_release8(weather, Release8())
    pruned = prune_release8(weather, growth)
    assert pruned.n_nodes == growth.tree.n_nodes
    assert pruned.estimate is not None
    assert np.float32(pruned.estimate[0]) == np.float32(5.3918095)


def test_ties_keep_the_class() -> None:
    assert Estimator(0.25).as_leaf(4.0, np.array([2.0, 2.0]), 1)[1] == 1
    assert Estimator(0.25).as_leaf(5.0, np.array([3.0, 2.0]), 1)[1] == 0


def test_impossible_values_leave_the_last_branch() -> None:
    schema = Schema((Column("a", Kind.NOMINAL, tuple("uvwx")), Column("y", Kind.NOMINAL, ("no", "yes"))), target="y")
    counts = np.array([1.0, 1.0])

    def leaf() -> NodeRecord:
        return NodeRecord(2.0, counts, 0, stop=Stop.PURE)

    records = [
        NodeRecord(2.0, counts, 0, Split.subsets(0, (0, 0, 1, 1)), [1, 2]),
        NodeRecord(2.0, counts, 0, Split.subsets(0, (0, 1, 2, 2)), [3, 4, 5]),
        NodeRecord(2.0, counts, 0, Split.subsets(0, (1, 1, 0, 1)), [6, 7]),
        *(leaf() for _ in range(5)),
    ]
    data = Dataset(schema, (np.array([0], dtype=np.int32),), 1, np.array([0], dtype=np.int32))
    drop_impossible_branches(data, records, 0)
    assert records[0].split == Split.subsets(0, (0, 0, 1, 1))
    assert records[1].split == Split.subsets(0, (0, 1, -1, -1))
    assert records[1].children == [3, 4]
    assert records[2].split == Split.subsets(0, (-1, -1, 0, 1))


# -- depth -------------------------------------------------------------------------------------------------------------


def chain(levels: int, each: int, classes: int) -> Dataset:
    """Make a table whose tree cuts off one value after the other.

    Runs of two classes alternate along one number. Many classes keep the smallest side of a cut small, and
    `each` must exceed log2 of the number of cuts.
    """
    run = np.repeat(np.arange(levels + 1), each)
    names = tuple(f"c{code}" for code in range(classes))
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NOMINAL, names)), target="y")
    return Dataset(schema, (run.astype(np.float64),), len(run), (run % 2).astype(np.int32))


@pytest.mark.slow
def test_a_tree_three_thousand_deep() -> None:
    data = chain(3000, 13, 2000)
    growth = grow_release8(data, Release8())
    assert growth.tree.depth == 3000
    pruned = prune_release8(data, growth)
    assert pruned.depth == 3000
    assert np.array_equal(np.argmax(class_sums(pruned, data), axis=1), data.target)  # type: ignore[arg-type]


def test_a_deep_tree_with_an_unknown_value() -> None:
    data = chain(80, 8, 60)
    numbers = data.columns[0].copy()
    numbers[3] = np.nan
    data = replace(data, columns=(numbers,))
    growth = grow_release8(data, Release8())
    assert growth.tree.depth == 80
    assert prune_release8(data, growth).depth >= 79


# -- the original program ----------------------------------------------------------------------------------------------


def difference(tree: Tree, errors: Any, recorded: dict[str, Any]) -> str | None:
    """Return the first difference to a recorded tree, None if there is none; numbers are compared in all 32 bits."""
    classes = tree.schema.classes
    waiting = [(0, recorded)]
    while waiting:
        index, expected = waiting.pop()
        node = tree.node(index)
        counts = [expected["dist"].get(name, 0) for name in classes]
        found: list[tuple[str, Any, Any]] = [
            ("class", node.outcome, expected["class"]),
            ("n", np.float32(node.weight), np.float32(expected["n"])),
            ("dist", tree.counts[index].astype(np.float32).tolist(), np.array(counts, dtype=np.float32).tolist()),
            ("e", np.float32(errors[index]), np.float32(expected["e"])),
            ("leaf", node.is_leaf, "attr" not in expected),
        ]
        split = node.split
        if split is not None and "attr" in expected:
            labels = [list(label) if isinstance(label, tuple) else label for label in split.labels(node.attribute)]
            cut = None if "cut" not in expected else np.float32(expected["cut"])
            found += [
                ("attr", node.attribute.name, expected["attr"]),
                ("test", str(split.test), expected["test"]),
                ("cut", None if split.cut is None else np.float32(split.cut), cut),
                ("branches", labels, [label for label, _ in expected["children"]]),
            ]
            children = [child for _, child in expected["children"]]
            waiting.extend(zip(tree.children_of(index).tolist(), children, strict=False))
        for what, ours, theirs in found:
            if ours != theirs:
                return f"node {index}: {what} is {ours}, recorded {theirs}"
    return None


def errors_of(tree: Tree, cases: Dataset) -> int:
    """Count the cases that the tree classifies wrongly."""
    return int(np.count_nonzero(np.argmax(class_sums(tree, cases), axis=1) != cases.target))


def marks_of(name: str) -> list[pytest.MarkDecorator]:
    """Mark large sets as slow."""
    return [pytest.mark.slow] if load_json(name, "schema.json")["rows"] >= LARGE else []


SETS = set_names(task="classification")
ABSENT = pytest.mark.skip(reason="the recorded results are not here; set TREEWRIGHT_ORACLE to their folder")
RECORDED_SETS = [pytest.param(name, marks=marks_of(name)) for name in SETS] or [pytest.param("", marks=ABSENT)]
RECORDED_RUNS = [
    pytest.param(name, run, marks=marks_of(name)) for name in SETS for run in load_json(name, "c45.json")["runs"]
] or [pytest.param("", "", marks=ABSENT)]


@pytest.mark.oracle
@pytest.mark.parametrize(("name", "run"), RECORDED_RUNS)
def test_recorded_trees(name: str, run: str) -> None:
    data, options, recorded = load_set(name), RUNS[run], load_json(name, "c45.json")["runs"][run]
    growth = grow_release8(data, options)
    pruned = prune_release8(data, growth, options.confidence)
    for kind, tree, errors in (("unpruned", growth.tree, growth.tree_errors), ("pruned", pruned, pruned.estimate)):
        expected = recorded[kind]
        sizes = (expected["size"], expected["leaves"], expected["train_errors"])
        assert (tree.n_nodes, tree.n_leaves, errors_of(tree, data)) == sizes, kind
        if "tree" in expected:
            assert difference(tree, errors, expected["tree"]) is None, kind
        else:
            assert expected["tree_omitted"]
