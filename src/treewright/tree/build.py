"""Building a tree from node records, and converting a tree back into records.

Growers and pruners work on lists of `NodeRecord`. `build_tree` numbers the nodes reachable from the root depth first,
so that equal trees have equal indices and equal bytes, whatever the order in which their nodes were created.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from treewright.data.schema import Schema, Task
from treewright.tree.split import Split, Surrogate
from treewright.tree.tree import LEAF, STOPS, TESTS, Stop, Tree, gather_slices, integers_if_exact


@dataclass
class NodeRecord:
    """A mutable node: its statistics and, once split, its test and the indices of its children.

    `counts` are class weights; a regression node has an empty array and uses `sse` instead.
    """

    weight: float
    counts: npt.NDArray[np.int64] | npt.NDArray[np.float64]
    outcome: int | float
    split: Split | None = None
    children: list[int] = field(default_factory=list)
    stop: Stop | None = None
    sse: float | None = None
    estimate: float | None = None
    p_value: float | None = None
    surrogates: tuple[Surrogate, ...] = ()

    def become_leaf(self, stop: Stop) -> None:
        """Remove test and children, and record why the node is a leaf."""
        self.split = None
        self.surrogates = ()
        self.children = []
        self.stop = stop


def build_tree(schema: Schema, records: Sequence[NodeRecord], root: int = 0) -> tuple[Tree, list[int]]:
    """Return the validated tree below `root`, and for each of its nodes the index of its record."""
    order: list[int] = []
    stack = [root]
    while stack:
        node = stack.pop()
        order.append(node)
        stack.extend(reversed(records[node].children))
    number = {record: node for node, record in enumerate(order)}
    nodes = [records[index] for index in order]
    splits = [node.split for node in nodes]
    regression = schema.task is Task.REGRESSION
    outcomes = [node.outcome for node in nodes]
    estimates = [node.estimate for node in nodes]
    p_values = [node.p_value for node in nodes]
    tree = Tree(
        schema=schema,
        attribute=np.array([LEAF if s is None else s.attribute for s in splits], dtype=np.int32),
        test=np.array([0 if s is None else TESTS.index(s.test) for s in splits], dtype=np.int8),
        cut=np.array([np.nan if s is None or s.cut is None else s.cut for s in splits], dtype=np.float64),
        missing=np.array([-1 if s is None else s.missing for s in splits], dtype=np.int32),
        child_start=_starts([len(node.children) for node in nodes]),
        children=np.array([number[child] for node in nodes for child in node.children], dtype=np.int32),
        value_start=_starts([0 if s is None else len(s.branch_of) for s in splits]),
        value_branch=np.array([b for s in splits if s is not None for b in s.branch_of], dtype=np.int32),
        bound_start=_starts([0 if s is None else len(s.bounds) for s in splits]),
        bounds=np.array([b for s in splits if s is not None for b in s.bounds], dtype=np.float64),
        weight=np.array([node.weight for node in nodes], dtype=np.float64),
        counts=np.zeros((len(nodes), 0)) if regression else integers_if_exact(np.array([one.counts for one in nodes])),
        outcome=np.array(outcomes, dtype=np.float64) if regression else np.array(outcomes, dtype=np.int32),
        stop=np.array([-1 if node.stop is None else STOPS.index(node.stop) for node in nodes], dtype=np.int8),
        sse=np.array([node.sse or 0.0 for node in nodes]) if regression else None,
        estimate=np.array(estimates, dtype=np.float64) if any(e is not None for e in estimates) else None,
        p_value=np.array(p_values, dtype=np.float64) if any(p is not None for p in p_values) else None,
        surrogates={
            node: records[record].surrogates for node, record in enumerate(order) if records[record].surrogates
        },
    )
    tree.validate()
    return tree, order


def records_of(tree: Tree) -> list[NodeRecord]:
    """Convert a tree into records with the same indices."""
    return [
        NodeRecord(
            weight=float(tree.weight[index]),
            counts=tree.counts[index],
            outcome=tree.outcome[index].item(),
            split=tree.split(index),
            children=tree.children_of(index).tolist(),
            stop=None if tree.stop[index] < 0 else STOPS[tree.stop[index]],
            sse=None if tree.sse is None else float(tree.sse[index]),
            estimate=None if tree.estimate is None else float(tree.estimate[index]),
            p_value=None if tree.p_value is None or np.isnan(tree.p_value[index]) else float(tree.p_value[index]),
            surrogates=tree.surrogates.get(index, ()),
        )
        for index in range(tree.n_nodes)
    ]


def _starts(lengths: Sequence[int] | npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    return np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)


def rebuild_tree(
    tree: Tree,
    source: npt.NDArray[np.int32],
    *,
    counts: npt.NDArray[np.int64] | npt.NDArray[np.float64] | None = None,
    outcome: npt.NDArray[np.int32] | npt.NDArray[np.float64] | None = None,
    stop: npt.NDArray[np.int8] | None = None,
    estimate: npt.NDArray[np.float64] | None = None,
) -> Tree:
    """Return the tree in which each node has the test and the children of its source; unreachable nodes are dropped.

    Parameters
    ----------
    tree : Tree
    source : array of int
        For each node, the node whose test and children it gets: itself, a descendant, or a leaf.
    counts, outcome, stop, estimate : array or None
        New values for each node; None keeps those of the tree. A source that is a leaf makes the node a leaf.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.recipe import ID3
    >>> from treewright.fitting.learn import fit
    >>> tree = fit(sample("play-tennis"), ID3()).tree
    >>> stump = np.arange(len(tree), dtype=np.int32)
    >>> stump[[1, 5]] = 2  # a leaf
    >>> rebuild_tree(tree, stump, stop=np.where(tree.stop < 0, 0, tree.stop)).n_leaves
    3
    """
    reached = np.zeros(tree.n_nodes, dtype=bool)
    level = np.zeros(1, dtype=np.int32)
    while len(level):
        reached[level] = True
        level = gather_slices(tree.children, tree.child_start, source[level])
    kept = np.flatnonzero(reached)  # children come from descendants only, so the order stays depth first
    tests = source[kept]
    number = np.zeros(tree.n_nodes, dtype=np.int32)
    number[kept] = np.arange(len(kept))
    is_leaf = tree.attribute[tests] == LEAF
    new_counts = (tree.counts if counts is None else counts)[kept]
    new_estimate = tree.estimate if estimate is None else estimate
    new_stop = (tree.stop if stop is None else stop)[kept]
    surrogates = {}
    if tree.surrogates:
        surrogates = {
            index: tree.surrogates[node] for index, node in enumerate(tests.tolist()) if node in tree.surrogates
        }
    rebuilt = Tree(
        schema=tree.schema,
        attribute=tree.attribute[tests],
        test=tree.test[tests],
        cut=tree.cut[tests],
        missing=tree.missing[tests],
        child_start=_starts(np.diff(tree.child_start)[tests]),
        children=number[gather_slices(tree.children, tree.child_start, tests)],
        value_start=_starts(np.diff(tree.value_start)[tests]),
        value_branch=gather_slices(tree.value_branch, tree.value_start, tests),
        bound_start=_starts(np.diff(tree.bound_start)[tests]),
        bounds=gather_slices(tree.bounds, tree.bound_start, tests),
        weight=tree.weight[kept] if counts is None else new_counts.sum(axis=1).astype(np.float64),
        counts=integers_if_exact(new_counts),
        outcome=(tree.outcome if outcome is None else outcome)[kept],
        stop=np.where(is_leaf, new_stop, -1).astype(np.int8),
        sse=None if tree.sse is None else tree.sse[kept],
        estimate=None if new_estimate is None else new_estimate[kept],
        p_value=None if tree.p_value is None else tree.p_value[kept],
        surrogates=surrogates,
    )
    rebuilt.validate()
    return rebuilt
