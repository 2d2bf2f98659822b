"""Turning inner nodes into leaves: by training error, and where all leaves below agree.

Turning inner nodes into leaves, and C4.5's first rule for it: a test that saves no training error goes. Invariants: A
tree is never changed; what is cut keeps its weight, its counts, its outcome and its p-value. Numbers of nodes count
upwards from parent to child, so one pass backward sees the branches before their node and nothing recurses.

Taking out the tests that decide nothing: all leaves below say the same. Whole cases get the same answer as before; the
probabilities that a leaf gives become those of all the cases below, and so may the answer for a case that is divided
because a value is missing.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import numpy.typing as npt

from treewright.tree.build import build_tree, rebuild_tree, records_of
from treewright.tree.split import STAY
from treewright.tree.tree import LEAF, STOPS, Floats, Stop, Tree

COLLAPSE_SLACK = 1e-3
"""A test must save more training errors than this."""


def collapse(tree: Tree) -> Tree:
    """Return the tree without the tests that save no training errors (C4.5, Quinlan 1993).

    From the leaves up, a node becomes a leaf when the errors below it sum to at least its own errors less 0.001. The
    errors below a node that was cut remain what they were, as in C4.5.

    Parameters
    ----------
    tree : Tree
        With classes.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.recipe import C45
    >>> from treewright.fitting.learn import fit
    >>> lenses = fit(sample("contact-lenses"), C45()).tree
    >>> len(lenses), len(collapse(lenses))
    (10, 7)
    """
    own, parent = tree.errors, tree.parent
    inner = tree.attribute != LEAF
    below: Floats = np.where(inner, 0.0, own)
    for level in reversed(list(tree.levels())):
        for node in level[tree.missing[level] == STAY].tolist():
            below[node] += staying_errors(tree, node)
        upwards = level[::-1]  # from the last branch to the first
        if upwards[0]:
            np.add.at(below, parent[upwards], below[upwards])
    cut = np.flatnonzero(inner & (below >= own - COLLAPSE_SLACK))
    return cut_at(tree, cut)


def cut_at(tree: Tree, nodes: Collection[int] | npt.NDArray[np.intp]) -> Tree:
    """Return the tree in which these nodes are leaves; the tree itself if there are none.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.recipe import ID3
    >>> from treewright.fitting.learn import fit
    >>> weather = fit(sample("play-tennis"), ID3()).tree
    >>> print(cut_at(weather, [0]).node(0).stop)
    pruned
    """
    chosen = np.fromiter(nodes, dtype=np.intp, count=len(nodes))
    wanted = chosen[tree.attribute[chosen] != LEAF]
    if not len(wanted):
        return tree
    source = np.arange(tree.n_nodes, dtype=np.int32)
    source[wanted] = np.argmax(tree.attribute == LEAF)
    stop = tree.stop.copy()
    stop[wanted] = STOPS.index(Stop.PRUNED)
    return rebuild_tree(tree, source, stop=stop)


def end_of_subtree(tree: Tree, node: int) -> int:
    """Return the number after the last node below a node: they are numbered in one run.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.recipe import ID3
    >>> from treewright.fitting.learn import fit
    >>> [end_of_subtree(fit(sample("play-tennis"), ID3()).tree, node) for node in (0, 1, 4)]
    [8, 4, 5]
    """
    outside = np.flatnonzero(tree.depths[node + 1 :] <= tree.depths[node])
    return node + 1 + int(outside[0]) if len(outside) else tree.n_nodes


def staying_errors(tree: Tree, node: int) -> float:
    """Return the training errors among the cases that go no further than an inner node."""
    if tree.missing[node] != STAY:
        return 0.0
    staying = staying_counts(tree, node)
    return float(staying.sum() - staying[tree.outcome[node]])


def staying_counts(tree: Tree, node: int) -> Floats:
    """Return the class weights of the training cases that stay at an inner node because a value is missing."""
    rest: Floats = tree.counts[node] - tree.counts[tree.children_of(node)].sum(axis=0).astype(np.float64)
    return np.maximum(rest, 0.0)


def simplify(tree: Tree) -> Tree:
    """Return the tree without the tests all of whose leaves say the same outcome.

    The new leaf says what they said. An empty leaf counts with what it says, and a node where cases without a value
    stay with what it says itself.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.recipe import C45
    >>> from treewright.fitting.learn import fit
    >>> tree = fit(sample("contact-lenses"), C45()).tree
    >>> len(tree), len(simplify(tree))
    (10, 7)
    """
    records = records_of(tree)
    for record in reversed(records):
        if record.split is None:
            continue
        leaves = [records[child] for child in record.children]
        said = {leaf.outcome for leaf in leaves}
        if record.split.missing == STAY:
            said.add(record.outcome)
        if len(said) == 1 and all(leaf.split is None for leaf in leaves):
            record.outcome = said.pop()
            record.become_leaf(Stop.PRUNED)
    return build_tree(tree.schema, records)[0]
