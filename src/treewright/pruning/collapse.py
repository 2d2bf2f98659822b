"""Turning inner nodes into leaves: by training error, and where all leaves below agree.

`collapse` is C4.5's first rule: a split that saves no training error is removed. Invariants: a tree is never changed; a
pruned node keeps its weight, its counts, its outcome and its p-value. A child has a higher index than its parent, so
one backward pass visits the branches before their node and nothing recurses.

`simplify` removes the splits whose leaves all predict the same outcome. Unit-weight cases keep their prediction. The
class probabilities become those of all cases below, which may change the prediction of a fractional case.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import numpy.typing as npt

from treewright.errors import ParameterError
from treewright.tree.build import build_tree, rebuild_tree, records_of
from treewright.tree.split import STAY
from treewright.tree.tree import LEAF, STOPS, Floats, Stop, Tree

COLLAPSE_SLACK = 1e-3
"""A split must save more training errors than this."""


def collapse(tree: Tree) -> Tree:
    """Return the tree without the splits that save no training errors (C4.5, Quinlan 1993).

    From the leaves up, a node becomes a leaf when the errors below it sum to at least its own errors less 0.001. The
    errors below a pruned node remain unchanged, as in C4.5.

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


def check_classification(tree: Tree, method: str) -> None:
    """Raise `ParameterError` if a pruning method for classes is given a regression tree."""
    if tree.is_regression:
        raise ParameterError(f"{method} needs classes; a regression tree can be pruned by cost complexity")


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
    """Return the index after the last node of a subtree; the nodes of a subtree have consecutive indices.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.recipe import ID3
    >>> from treewright.fitting.learn import fit
    >>> [end_of_subtree(fit(sample("play-tennis"), ID3()).tree, node) for node in (0, 1, 4)]
    [8, 4, 5]
    """
    not_below = np.flatnonzero(tree.depths[node + 1 :] <= tree.depths[node])
    return node + 1 + int(not_below[0]) if len(not_below) else tree.n_nodes


def staying_errors(tree: Tree, node: int) -> float:
    """Return the training errors among the cases that stay at an inner node."""
    if tree.missing[node] != STAY:
        return 0.0
    staying = staying_counts(tree, node)
    return float(staying.sum() - staying[tree.outcome[node]])


def staying_counts(tree: Tree, node: int) -> Floats:
    """Return the class weights of the training cases that stay at an inner node because a value is missing."""
    rest: Floats = tree.counts[node] - tree.counts[tree.children_of(node)].sum(axis=0).astype(np.float64)
    return np.maximum(rest, 0.0)


def simplify(tree: Tree) -> Tree:
    """Return the tree without the splits whose leaves all predict the same outcome.

    The new leaf predicts this outcome. Empty leaves count as well; so does the node itself if cases with a missing
    value stay there.

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
        outcomes = {leaf.outcome for leaf in leaves}
        if record.split.missing == STAY:
            outcomes.add(record.outcome)
        if len(outcomes) == 1 and all(leaf.split is None for leaf in leaves):
            record.outcome = outcomes.pop()
            record.become_leaf(Stop.PRUNED)
    return build_tree(tree.schema, records)[0]
