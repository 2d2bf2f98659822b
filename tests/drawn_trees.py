"""Trees to be drawn: the classic one, deep ones, wide ones, and some with names that try to break out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from treewright.data.dataset import Dataset
from treewright.data.samples import sample
from treewright.data.schema import Column, Kind, Schema
from treewright.fitting.learn import fit
from treewright.learners.recipe import CART, ID3, Stopping
from treewright.tree.build import NodeRecord, build_tree
from treewright.tree.split import Split
from treewright.tree.tree import Stop, Tree

TENNIS = fit(sample("play-tennis"), ID3()).tree

HOSTILE = (
    "</script><script>alert(1)</script>",
    "\"><img src=x onerror='alert(1)'>",
    "]]> <!-- & &lt; --",
    "two\nlines\r\n\ttab",
    "nul\x00 bell\x07 escape\x1b[31m",
    "half\ud800 \ufffe\uffff",
    "\u202eevil\u2028\u2029",
    "😀 שלום مرحبا 天氣",
    '\\N \\input{x} $x_1^2$ %~# {a} [b] `c` | "]',
    "end; subgraph x --> y %% #quot;",
    "",
)
"""Names that would do harm in one language or another if they were not escaped."""

LINE = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NOMINAL, ("a", "b"))), target="y")


def leaf(*counts: float) -> NodeRecord:
    return NodeRecord(float(sum(counts)), np.array(counts), int(np.argmax(counts)), stop=Stop.PURE)


def named_tree(name: str) -> Tree:
    """Return a tree whose attribute, values, classes and target have this name, or begin with it."""
    other = f"{name} 2"
    schema = Schema(
        (Column(name, Kind.NOMINAL, (name, other)), Column(f"{name} y", Kind.NOMINAL, (name, other))),
        target=f"{name} y",
    )
    root = NodeRecord(3.0, np.array([1, 2]), 1, Split.multiway(0, 2), [1, 2])
    return build_tree(schema, [root, leaf(1, 0), leaf(0, 2)])[0]


def chain(depth: int) -> Tree:
    """Return a tree that goes down on one side only."""
    records = []
    for level in range(depth):
        counts = np.array([depth - level, 1])
        here = 2 * level
        records += [
            NodeRecord(float(counts.sum()), counts, 0, Split.threshold(0, level), [here + 1, here + 2]),
            leaf(1, 0),
        ]
    return build_tree(LINE, [*records, leaf(0, 1)])[0]


def wide(branches: int, classes: int = 2) -> Tree:
    """Return a root with so many leaves; the leaf at index i has i + 1 cases of class i modulo the classes."""
    values = tuple(f"v{index}" for index in range(branches))
    names = tuple(f"c{code}" for code in range(classes))
    schema = Schema((Column("x", Kind.NOMINAL, values), Column("y", Kind.NOMINAL, names)), target="y")
    table = np.zeros((branches, classes), dtype=np.int64)
    table[np.arange(branches), np.arange(branches) % classes] = np.arange(branches) + 1
    total = table.sum(axis=0)
    root = NodeRecord(
        float(total.sum()), total, int(total.argmax()), Split.multiway(0, branches), [*range(1, branches + 1)]
    )
    return build_tree(schema, [root, *(leaf(*row) for row in table)])[0]


def numbers(n: int = 40) -> Dataset:
    """Return cases of `LINE`: first a, then b, then a again."""
    x = np.arange(float(n))
    return Dataset(LINE, (x,), n, ((x >= n / 4) & (x < n / 2)).astype(np.int32))


def regression(n: int = 32) -> tuple[Tree, Dataset]:
    """Return a tree of numbers and its cases."""
    schema = Schema((Column("x", Kind.NUMERIC), Column("y", Kind.NUMERIC)), target="y")
    x = np.arange(float(n))
    data = Dataset(schema, (x,), n, 10 * (x >= 16) + ((x // 8) % 2) + (x % 2) / 4)
    return fit(data, replace(CART(), stopping=Stopping(max_depth=2))).tree, data
