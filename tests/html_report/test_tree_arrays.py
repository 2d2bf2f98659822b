"""Trees as short arrays."""

from __future__ import annotations

import json

import numpy as np
import pytest

from treewright import plans
from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.fitting.learn import fit
from treewright.html_report.page_data import columns_of, short, short_number, shown, stop_codes, tree_arrays
from treewright.tree.build import NodeRecord, build_tree
from treewright.tree.split import Split
from treewright.tree.tree import Stop, Tree


def tree_with(split: Split, schema: Schema) -> Tree:
    leaves = [NodeRecord(1.5, np.array([1.0, 0.5]), 0, stop=Stop.PURE) for _ in range(split.n_branches)]
    root = NodeRecord(1.5 * len(leaves), np.array([1.0, 0.5]) * len(leaves), 0, split, [*range(1, len(leaves) + 1)])
    return build_tree(schema, [root, *leaves])[0]


def schema_of(values: int) -> Schema:
    words = tuple(f"v{index}" for index in range(values))
    columns = (Column("c", Kind.NOMINAL, words), Column("x", Kind.NUMERIC), Column("y", Kind.NOMINAL, ("a", "b")))
    return Schema(columns, target="y")


@pytest.mark.parametrize(
    ("split", "written"),
    [
        (Split.threshold(1, 2.5), 2.5),
        (Split.multiway(0, 4), None),
        (Split.equals(0, 2, 4), ["e", 2]),
        (Split.subsets(0, (0, 1, -1, 0), missing=1), ["s", "01-0"]),
        (Split.intervals(1, (1.0, 2.0)), ["i", [1.0, 2.0]]),
        (Split.subsets(0, tuple(range(40))), ["s", list(range(40))]),
    ],
)
def test_every_form_of_test_is_written(split: Split, written: object) -> None:
    arrays = tree_arrays(tree_with(split, schema_of(len(split.branch_of) or 4)))
    assert arrays["test"] == [written]
    assert arrays["branches"] == [split.n_branches, *[0] * split.n_branches]
    assert arrays["missing"] == [split.missing]
    json.dumps(arrays, allow_nan=False)


def test_counts_are_sparse_and_weights_only_there_where_they_differ() -> None:
    arrays = tree_arrays(fit(sample("play-tennis"), plans.id3()).tree)
    assert arrays["some"] == [2, 2, 1, 1, 1, 2, 1, 1]
    assert arrays["classes"][:4] == [0, 1, 0, 1]
    assert arrays["counts"][:4] == [9, 5, 2, 3]
    assert "weight" not in arrays


def test_regression_has_means_weights_and_squares() -> None:
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    leaf = NodeRecord(2.0, np.zeros(0), 1 / 3, stop=Stop.PURE, sse=0.5)
    arrays = tree_arrays(build_tree(schema, [leaf])[0])
    assert arrays["outcome"] == [0.333333]
    assert arrays["weight"] == [2]
    assert arrays["sse"] == [0.5]


def test_surrogates_are_listed() -> None:
    rng = np.random.default_rng(0)
    x = rng.random(80)
    schema = Schema((Column("a", Kind.NUMERIC), Column("b", Kind.NUMERIC), Column("y", Kind.NOMINAL, ("n", "p"))), "y")
    data = Dataset(schema, (x, -x), 80, (x > 0.5).astype(np.int32))
    tree = fit(data, plans.cart(missing="surrogate")).tree
    [[attribute, cut, agreement, turned]] = tree_arrays(tree)["surrogates"]["0"]
    assert (attribute, agreement, turned) == (1, 1, 1)
    assert cut == tree.surrogates[0][0].split.cut


def test_only_wanted_columns_bring_their_values() -> None:
    schema = schema_of(3)
    assert columns_of(schema, {0}) == [["c", 0, ["v0", "v1", "v2"]], ["x", 2]]
    assert columns_of(schema, set()) == [["c", 0], ["x", 2]]


def test_numbers_are_short_and_never_nan() -> None:
    assert short(np.array([1.0, 0.123456789, np.nan, np.inf, 1e17])) == [1, 0.123457, None, None, 1e17]
    assert short_number(None) is None


def test_names_are_made_legible_and_cut() -> None:
    assert shown("a\nb\u202ec") == "a\\nb\\u202ec"
    assert len(shown("x" * 1_000)) == 160


def test_every_reason_to_stop_has_a_code() -> None:
    assert stop_codes()[0] == "pure"
    assert len(stop_codes()) == len(Stop)
