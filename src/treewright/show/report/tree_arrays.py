"""A tree as short arrays, from which the page rebuilds its nodes.

`branches` holds the number of branches of each node, 0 for leaves. Nodes are numbered depth first, so this alone
determines the children of each node.

`test` holds for each inner node, in order: a number for a threshold, None for a branch per value, ``["e", code]`` for
one value against the others, ``["s", text]`` for the branch of each value as a digit of base 36 (``-`` for none),
``["s", list]`` for the same with more branches, ``["i", bounds]`` for intervals.

Sparse counts list only the classes that occur at a node: how many, which ones, and their weights.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treewright._base.printable import printable
from treewright.data.schema import Kind, Schema
from treewright.model.split import Split, Test
from treewright.model.tree import LEAF, STOPS, Tree

LONGEST_TEXT = 160
"""Longer names and values are cut on the page."""

KINDS = (Kind.NOMINAL, Kind.ORDINAL, Kind.NUMERIC)
"""Kinds of columns in the order of their codes."""

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def tree_arrays(tree: Tree) -> dict[str, Any]:
    """Return the arrays of a tree as plain data.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.grow.recipe import ID3
    >>> from treewright.learn import fit
    >>> arrays = tree_arrays(fit(sample("play-tennis"), ID3()).tree)
    >>> arrays["branches"], arrays["attribute"], arrays["test"]
    ([3, 2, 0, 0, 0, 2, 0, 0], [0, 2, 3], [None, None, None])
    """
    inner = np.flatnonzero(tree.attribute != LEAF)
    arrays: dict[str, Any] = {
        "branches": np.diff(tree.child_start).tolist(),
        "attribute": tree.attribute[inner].tolist(),
        "test": [_test(tree.split(node)) for node in inner.tolist()],
        "missing": tree.missing[inner].tolist(),
        "stop": [code for code in tree.stop.tolist() if code >= 0],
    }
    if tree.sse is not None:
        arrays |= {"outcome": short(tree.outcome), "weight": short(tree.weight), "sse": short(tree.sse)}
    else:
        arrays |= {"outcome": tree.outcome.tolist(), **_sparse_counts(tree)}
    if tree.surrogates:
        arrays["surrogates"] = {
            str(node): [
                [one.split.attribute, _test(one.split), short_number(one.agreement), int(one.reversed)] for one in found
            ]
            for node, found in tree.surrogates.items()
        }
    return arrays


def _sparse_counts(tree: Tree) -> dict[str, Any]:
    places = np.nonzero(tree.counts)
    counted = {
        "some": np.bincount(places[0], minlength=tree.n_nodes).tolist(),
        "classes": places[1].tolist(),
        "counts": short(tree.counts[places]),
    }
    # A node without cases keeps the counts of those it was made from, and fractions may not add up: then it is said.
    if not np.array_equal(tree.weight, tree.counts.sum(axis=1)):
        counted["weight"] = short(tree.weight)
    return counted


def _test(split: Split | None) -> Any:
    if split is None or split.test is Test.NOMINAL:
        return None
    if split.test is Test.THRESHOLD:
        return split.cut
    if split.test is Test.INTERVALS:
        return ["i", list(split.bounds)]
    if split.test is Test.EQUALS:
        return ["e", split.branch_of.index(0)]
    if split.n_branches > len(_DIGITS):
        return ["s", list(split.branch_of)]
    return ["s", "".join("-" if branch < 0 else _DIGITS[branch] for branch in split.branch_of)]


def columns_of(schema: Schema, wanted: set[int]) -> list[list[Any]]:
    """Return name, kind and, for the wanted nominal attributes, the declared values.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> columns_of(sample("six-rows").schema, {2})
    [['x1', 0], ['x2', 0], ['x3', 0, ['0', '1', '2']]]
    """
    return [
        [
            shown(column.name),
            KINDS.index(column.kind),
            *([[shown(value) for value in column.values]] if place in wanted and not column.is_numeric else []),
        ]
        for place, column in enumerate(schema.attributes)
    ]


def stop_codes() -> list[str]:
    """Return the reasons to stop, in the order of their codes, as keys of the words."""
    return [stop.name.lower() for stop in STOPS]


def shown(text: str) -> str:
    """Return a name from the data as the page shows it: no character that turns or breaks a line, and not too long."""
    return printable(text, LONGEST_TEXT)


def short(values: Any) -> list[int | float | None]:
    """Return numbers with at most six significant digits (whole ones in full), None for NaN."""
    return [short_number(value) for value in np.asarray(values).tolist()]


def short_number(value: float | None) -> int | float | None:
    """Return a number with at most six significant digits; whole ones in full.

    Examples
    --------
    >>> short_number(2 / 3), short_number(1234567.0), short_number(float("nan")), short_number(0.1 + 0.2)
    (0.666667, 1234567, None, 0.3)
    """
    if value is None or not math.isfinite(value):
        return None
    if value == int(value) and abs(value) < 2**53:
        return int(value)
    return float(f"{value:.6g}")
