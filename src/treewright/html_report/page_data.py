"""The tree and the columns of the data as short arrays for the page.

A tree as short arrays, from which the page rebuilds its nodes. `branches` holds the number of branches of each node, 0
for leaves. Nodes are numbered depth first, so this alone determines the children of each node.

`test` holds for each inner node, in order: a number for a threshold, None for a branch per value, ``["e", code]`` for
one value against the others, ``["s", text]`` for the branch of each value as a digit of base 36 (``-`` for none),
``["s", list]`` for the same with more branches, ``["i", bounds]`` for intervals.

Sparse counts list only the classes that occur at a node: how many, which ones, and their weights.

The profile of a column has a few numbers: kind, distinct values, missing ones, and its distribution.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Kind, Schema
from treewright.tree.split import Split, Test
from treewright.tree.tree import LEAF, STOPS, Tree
from treewright.wording import printable

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
    >>> from treewright.learners.recipe import ID3
    >>> from treewright.fitting.learn import fit
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
    cells = np.nonzero(tree.counts)
    counted = {
        "some": np.bincount(cells[0], minlength=tree.n_nodes).tolist(),
        "classes": cells[1].tolist(),
        "counts": short(tree.counts[cells]),
    }
    # Weights may differ from the counts: an empty node has the counts of its parent, and fractions are rounded.
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


def columns_of(schema: Schema, with_values: set[int]) -> list[list[Any]]:
    """Return name, kind and, for the chosen nominal attributes, the categories.

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
            *([[shown(value) for value in column.values]] if index in with_values and not column.is_numeric else []),
        ]
        for index, column in enumerate(schema.attributes)
    ]


def stop_codes() -> list[str]:
    """Return the reasons to stop, in the order of their codes, as keys of the catalogue."""
    return [stop.name.lower() for stop in STOPS]


def shown(text: str) -> str:
    """Return a name from the data as the page shows it: printable, in one line, and not too long."""
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


BINS = 16
"""Bars of a histogram."""

MOST_VALUES = 8
"""Most values of a nominal column; the others share one bar."""

MOST_COLUMNS = 2_000
"""Most columns of the profile."""


def profile(data: Dataset) -> dict[str, Any]:
    """Return the profile of the target and of every attribute.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> found = profile(sample("play-tennis"))
    >>> found["rows"], found["columns"][0]["name"], found["columns"][0]["values"][0]
    (14, 'PlayTennis', ['Yes', 9])
    """
    schema = data.schema
    described = []
    if data.target is not None:
        described.append({**_column(schema.target_column, data.target), "role": "target"})
    columns = zip(schema.attributes, data.columns, strict=True)
    described += [_column(column, cells) for column, cells in list(columns)[:MOST_COLUMNS]]
    result: dict[str, Any] = {"rows": data.n_rows, "columns": described}
    if len(schema.attributes) > MOST_COLUMNS:
        result["more"] = len(schema.attributes) - MOST_COLUMNS
    return result


def _column(column: Column, cells: npt.NDArray[Any]) -> dict[str, Any]:
    plain: dict[str, Any] = {"name": shown(column.name), "kind": KINDS.index(column.kind)}
    return plain | (_numeric(cells) if column.is_numeric else _nominal(column, cells))


def _nominal(column: Column, codes: npt.NDArray[Any]) -> dict[str, Any]:
    known = codes[codes >= 0]
    counts = np.bincount(known, minlength=len(column.values))
    order = np.argsort(-counts, kind="stable") if len(counts) > MOST_VALUES else np.arange(len(counts))
    top = order[:MOST_VALUES].tolist()
    plain: dict[str, Any] = {
        "distinct": int(np.count_nonzero(counts)),
        "missing": int(len(codes) - len(known)),
        "values": [[shown(column.values[code]), int(counts[code])] for code in top],
    }
    if len(counts) > len(top):
        plain["others"] = int(len(known) - counts[top].sum())
    return plain


def _numeric(values: npt.NDArray[Any]) -> dict[str, Any]:
    known = np.sort(values[~np.isnan(values)])
    plain: dict[str, Any] = {"distinct": 0, "missing": int(len(values) - len(known))}
    if len(known) == 0:
        return plain
    plain["distinct"] = int(1 + np.count_nonzero(known[1:] != known[:-1]))
    quarters = [known[min(len(known) - 1, int(share * len(known)))] for share in (0.25, 0.5, 0.75)]
    low, high = float(known[0]), float(known[-1])
    plain["range"] = short([low, *quarters, high])
    if low < high and high - low < float("inf"):  # the range of very large numbers overflows
        plain["bins"] = np.histogram(known, BINS, (low, high))[0].tolist()
    return plain
