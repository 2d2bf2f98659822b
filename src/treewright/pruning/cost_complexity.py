"""Cost-complexity pruning: the weakest link is cut first (Breiman, Friedman, Olshen and Stone 1984, chapter 3).

Invariants
----------
The weakest link (the first in node order, if several are equally weak) is cut, the strengths of its ancestors are
computed again, and so on up to the root; strengths never decrease. So for every alpha there is one smallest tree
of least risk + alpha * leaves, and these trees are nested. Cases that stay at an inner node (`STAY`) have the risk
that the node has with them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np

from treewright.errors import ParameterError
from treewright.learners.criteria import total_entropy, total_gini
from treewright.pruning.collapse import cut_at, end_of_subtree, staying_counts
from treewright.tree.split import STAY
from treewright.tree.tree import LEAF, Floats, Ints, Tree
from treewright.wording import did_you_mean

Risk = Literal["impurity", "errors"]
Impurity = Literal["gini", "entropy"]

RISKS = ("impurity", "errors")
"""The allowed measures of a node's risk."""

IMPURITIES = {"gini": total_gini, "entropy": total_entropy}
"""Impurity times weight, by name."""

STRENGTH_TOLERANCE = 1e-12
"""A strength within this share of alpha counts as equal to alpha."""


class PruningPath(NamedTuple):
    """The sequence of pruned trees from the whole tree to its root.

    Parameters
    ----------
    alphas : array of float
        Ascending, the first 0: the least alpha at which the tree is this small. Each cut has an entry, also of equal
        alpha; if a node and one below it are equally weak, the upper one is cut at once, while scikit-learn may list
        both.
    risks : array of float
        Total risk of the leaves.
    leaves : array of int
        Number of leaves.
    nodes : array of int
        The node of the whole tree that the last cut made a leaf, -1 for the whole tree.
    """

    alphas: Floats
    risks: Floats
    leaves: Ints
    nodes: Ints


def cost_complexity_path(tree: Tree, risk: Risk = "impurity", criterion: Impurity = "gini") -> PruningPath:
    """Return alpha, total risk and number of leaves after each cut, beginning with the whole tree.

    Parameters
    ----------
    tree : Tree
    risk : {"impurity", "errors"}
        A tree with a numeric target has only "impurity", which is the variance.
    criterion : {"gini", "entropy"}
        The impurity, for classes.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.recipe import CART
    >>> from treewright.fitting.learn import fit
    >>> path = cost_complexity_path(fit(sample("play-tennis"), CART()).tree, "errors")
    >>> path.leaves.tolist(), (14 * path.alphas).round(3).tolist(), (14 * path.risks).round(3).tolist()
    ([7, 5, 3, 1], [0.0, 0.5, 0.5, 1.5], [0.0, 1.0, 2.0, 5.0])
    """
    risks, staying = node_risks(tree, risk, criterion)
    whole = (-1, 0.0, float(_below(tree, risks, staying)[0][0]), tree.n_leaves)
    nodes, strengths, sums, leaves = zip(whole, *_weakest_links(tree, risks, staying), strict=True)
    return PruningPath(
        np.array(strengths), np.array(sums), np.array(leaves, dtype=np.int32), np.array(nodes, dtype=np.int32)
    )


def prune_cost_complexity(tree: Tree, alpha: float, risk: Risk = "impurity", criterion: Impurity = "gini") -> Tree:
    """Return the smallest tree of least risk + alpha * leaves.

    Parameters
    ----------
    tree : Tree
    alpha : float
        At least 0; 0 cuts only splits that do not lower the risk.
    risk, criterion
        As in `cost_complexity_path`.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.recipe import CART
    >>> from treewright.fitting.learn import fit
    >>> tree = fit(sample("play-tennis"), CART()).tree
    >>> [prune_cost_complexity(tree, errors / 14, "errors").n_leaves for errors in (0.2, 0.5, 1.4, 1.5)]
    [7, 3, 3, 1]
    """
    if not alpha >= 0:
        raise ParameterError(f"alpha must be a number of at least 0, not {alpha!r}")
    cut = []
    for node, strength, _, _ in _weakest_links(tree, *node_risks(tree, risk, criterion)):
        if strength > alpha * (1 + STRENGTH_TOLERANCE):
            break
        cut.append(node)
    return cut_at(tree, cut)


def check_measure(risk: str, criterion: str) -> None:
    """Raise `ParameterError` unless these are names of a risk and of an impurity."""
    for what, name, allowed in (("risk", risk, RISKS), ("criterion", criterion, tuple(IMPURITIES))):
        if name not in allowed:
            names = ", ".join(repr(one) for one in allowed)
            raise ParameterError(f"{what} must be one of {names}, not {name!r}{did_you_mean(str(name), allowed)}")


def node_risks(tree: Tree, risk: str, criterion: str = "gini") -> tuple[Floats, Floats]:
    """Return the risk of each node as a leaf, and the risk of the cases that stay at each inner node."""
    check_measure(risk, criterion)
    staying = np.zeros(tree.n_nodes)
    stay_at = np.flatnonzero((tree.attribute != LEAF) & (tree.missing == STAY)).tolist()
    total = float(tree.weight[0]) or 1.0
    if tree.sse is not None:
        if risk != "impurity":
            raise ParameterError(f"the risk of a tree with a numeric target must be 'impurity', not {risk!r}")
        for node in stay_at:
            staying[node] = _staying_squares(tree, tree.sse, node)
        return tree.sse / total, staying / total
    counts = tree.counts * (tree.weight > 0)[:, None]
    staying_weights = np.array([staying_counts(tree, node) for node in stay_at]).reshape(-1, counts.shape[1])
    if risk == "errors":
        staying[stay_at] = staying_weights.sum(axis=1) - staying_weights[np.arange(len(stay_at)), tree.outcome[stay_at]]
        return tree.errors / total, staying / total
    staying[stay_at] = IMPURITIES[criterion](staying_weights)
    return IMPURITIES[criterion](counts) / total, staying / total


def _staying_squares(tree: Tree, squares: Floats, node: int) -> float:
    """Return the squared deviations, from the mean of a node, of the cases that stay there."""
    children = tree.children_of(node)
    shift = tree.outcome[children] - tree.outcome[node]
    gone = float((squares[children] + tree.weight[children] * shift**2).sum())
    return max(float(squares[node]) - gone, 0.0)


def _below(tree: Tree, risks: Floats, staying: Floats) -> tuple[Floats, Ints]:
    """Return the risk and the number of the leaves below each node."""
    risk, leaves = risks.copy(), np.ones(tree.n_nodes, dtype=np.int32)
    for node in range(tree.n_nodes - 1, -1, -1):
        if tree.attribute[node] != LEAF:
            children = tree.children_of(node)
            risk[node] = staying[node] + float(risk[children].sum())
            leaves[node] = int(leaves[children].sum())
    return risk, leaves


class Link(NamedTuple):
    """An inner node as a link: its risk as a leaf, the risk and the number of the leaves below, the strength."""

    own: float
    below: float
    leaves: int
    strength: float


def link_at(tree: Tree, node: int, risks: Floats, staying: Floats) -> Link:
    """Return the strength of an inner node of a tree.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.recipe import CART
    >>> from treewright.fitting.learn import fit
    >>> tree = fit(sample("play-tennis"), CART()).tree
    >>> link_at(tree, 0, *node_risks(tree, "errors"))
    Link(own=0.357..., below=0.0, leaves=7, strength=0.0595...)
    """
    end = end_of_subtree(tree, node)
    leaf = tree.attribute[node:end] == LEAF
    own, n_leaves = float(risks[node]), int(np.count_nonzero(leaf))
    below = float(np.where(leaf, risks[node:end], staying[node:end]).sum())
    return Link(own, below, n_leaves, (own - below) / (n_leaves - 1))


def cut_before(tree: Tree, node: int, risks: Floats, staying: Floats) -> Tree | None:
    """Return the pruned tree in which a node is the weakest link; None if it is cut with an ancestor."""
    cut: list[int] = []
    for weakest, _, _, _ in _weakest_links(tree, risks, staying):
        if weakest == node:
            return cut_at(tree, cut)
        cut.append(weakest)
    return None


def _weakest_links(tree: Tree, risks: Floats, staying: Floats) -> Iterator[tuple[int, float, float, int]]:
    """Yield the cuts in order: node, strength of the link, and risk and number of leaves after the cut."""
    risk, leaves = _below(tree, risks, staying)
    end = np.arange(1, tree.n_nodes + 1)  # the nodes of a subtree are those from its root up to this
    for node in range(tree.n_nodes - 1, 0, -1):
        end[tree.parent[node]] = max(end[tree.parent[node]], end[node])
    inner = tree.attribute != LEAF
    strength = np.full(tree.n_nodes, np.inf)
    strength[inner] = (risks[inner] - risk[inner]) / (leaves[inner] - 1)
    least = 0.0
    while strength[0] < np.inf:
        node = int(np.argmin(strength))
        least = max(least, float(strength[node]))  # only rounding could make strengths decrease
        above = _ancestors(tree, node)
        risk[above] += risks[node] - risk[node]
        leaves[above] -= leaves[node] - 1
        risk[node], leaves[node] = risks[node], 1
        strength[node : end[node]] = np.inf
        strength[above] = (risks[above] - risk[above]) / (leaves[above] - 1)
        yield node, least, float(risk[0]), int(leaves[0])


def _ancestors(tree: Tree, node: int) -> list[int]:
    found = []
    node = int(tree.parent[node])
    while node >= 0:
        found.append(node)
        node = int(tree.parent[node])
    return found
