"""Pruning by minimum description length: a split is kept only if it saves more bits than it costs.

A sender and a receiver share the attributes of the training cases. The sender transmits the tree and then, leaf by
leaf, the classes. The best tree gives the shortest message.

The message
-----------
Tree, from the root down and branch after branch (Quinlan and Rivest 1989): one bit for each node, "leaf" or "test";
for a test log2(m) bits for the attribute, m being the attributes free on the path (`free_attributes`), and for its form

==================================  ==================================================================
one branch per value                0, the values are known
threshold                           log2(n - 1): which of the gaps between n cases
intervals with b bounds             log2 C(n - 1, b)
one of v values against the rest    log2 v
v values in r sets                  log2 S(v, r), Stirling's number of the second kind
==================================  ==================================================================

with n the weight of the node.

Classes of the n cases of a leaf, n_1 ... n_k of k classes: first the counts, one of C(n + k - 1, k - 1)
possible ones, then which cases they are, one of n! / (n_1! ... n_k!) arrangements::

    log2 C(n + k - 1, k - 1)  +  log2 n! / (n_1! ... n_k!)

Quinlan and Rivest name the class of the leaf, code the number e of exceptions as one of the numbers up to a bound b,
and say which cases they are: log2(b + 1) + log2 C(n, e). Wallace and Patrick (1993) improved the coding of leaves: the
code above follows them, with the same prior weight for every distribution of the classes. For two classes it comes to
log2(n + 1) + log2 C(n, e), the class included; it handles more than two classes and spends no code on
impossible messages. Factorials of fractional weights use the gamma function.

Sources: J. R. Quinlan and R. L. Rivest, Inferring decision trees using the minimum description length principle,
Information and Computation 80, 1989. C. S. Wallace and J. D. Patrick, Coding decision trees, Machine Learning 11, 1993.
"""

from __future__ import annotations

from functools import cache
from math import comb, factorial, lgamma, log, log2
from typing import NamedTuple

import numpy as np

from treewright.counting.table import Counts
from treewright.pruning.collapse import check_classification, cut_at, staying_counts
from treewright.tree.split import STAY, Split, Test
from treewright.tree.tree import LEAF, TESTS, Floats, Ints, Tree

USE_UP = (TESTS.index(Test.NOMINAL), TESTS.index(Test.INTERVALS))
"""Codes of the tests that cannot occur twice on one path."""

TOLERANCE = 1e-9
"""Lengths that differ by less than this share of themselves are equal."""


def prune_mdl(tree: Tree) -> Tree:
    """Return the tree without the splits that do not shorten the message.

    From the leaves up, a node becomes a leaf if the message does not get longer.

    Parameters
    ----------
    tree : Tree
        With classes.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.recipe import ID3
    >>> from treewright.fitting.learn import fit
    >>> tree = fit(sample("contact-lenses"), ID3()).tree
    >>> pruned = prune_mdl(tree)
    >>> len(tree), round(description_length(tree), 1), len(pruned), round(description_length(pruned), 1)
    (15, 43.5, 5, 31.2)
    """
    return cut_at(tree, message_lengths(tree).cut)


class MessageLengths(NamedTuple):
    """Lengths of the compared messages in bits, by node: as a leaf, as a subtree, of its test alone; and the cuts."""

    as_leaf: Floats
    as_tree: Floats
    test: Floats
    cut: list[int]


def message_lengths(tree: Tree) -> MessageLengths:
    """Return the lengths that pruning compares at each node, after pruning its branches.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.recipe import ID3
    >>> from treewright.fitting.learn import fit
    >>> found = message_lengths(fit(sample("play-tennis"), ID3()).tree)
    >>> round(float(found.as_leaf[0]), 2), round(float(found.as_tree[0]), 2)
    (15.87, 20.14)
    """
    as_leaf = _leaf_lengths(tree)
    own = _test_lengths(tree)
    lengths, compared = as_leaf.copy(), as_leaf.copy()
    cut = []
    for node in range(tree.n_nodes - 1, -1, -1):
        if tree.attribute[node] == LEAF:
            continue
        as_tree = own[node] + float(lengths[tree.children_of(node)].sum())
        compared[node] = as_tree
        if as_leaf[node] <= as_tree * (1 + TOLERANCE):
            cut.append(node)
        else:
            lengths[node] = as_tree
    return MessageLengths(as_leaf, compared, own, cut)


def description_length(tree: Tree) -> float:
    """Return the bits of the tree and of the classes of its training cases given the tree.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.recipe import ID3
    >>> from treewright.fitting.learn import fit
    >>> weather = sample("play-tennis")
    >>> round(description_length(fit(weather, ID3(max_depth=0)).tree), 4)  # 1 + log2 15 + log2 C(14, 5)
    15.8741
    """
    lengths = _leaf_lengths(tree)
    own = _test_lengths(tree)
    for node in range(tree.n_nodes - 1, -1, -1):
        if tree.attribute[node] != LEAF:
            lengths[node] = own[node] + float(lengths[tree.children_of(node)].sum())
    return float(lengths[0])


def class_bits(counts: Counts) -> float:
    """Return the bits of the classes of the cases of a leaf.

    Examples
    --------
    >>> [round(class_bits(np.array(counts)), 4) for counts in ((9, 5), (3, 0), (0, 0))]
    [14.8741, 2.0, 0.0]
    """
    n, k = float(counts.sum()), len(counts)
    logs = lgamma(n + k) - lgamma(k) - sum(lgamma(float(count) + 1.0) for count in counts)
    return max(logs / log(2.0), 0.0)


def split_bits(split: Split, weight: float) -> float:
    """Return the bits of the form of a test, given its attribute.

    Examples
    --------
    >>> split_bits(Split.threshold(0, 2.5), 9.0), round(split_bits(Split.subsets(0, (0, 1, 0)), 9.0), 4)
    (3.0, 1.585)
    """
    match split.test:
        case Test.NOMINAL:
            return 0.0
        case Test.THRESHOLD:
            return log2(max(weight - 1.0, 1.0))
        case Test.INTERVALS:
            gaps, bounds = weight - 1.0, len(split.bounds)
            if gaps <= bounds:
                return 0.0
            return (lgamma(gaps + 1) - lgamma(bounds + 1) - lgamma(gaps - bounds + 1)) / log(2.0)
        case Test.EQUALS:
            return log2(len(split.branch_of))
        case Test.SUBSET:
            return log2(_n_partitions(len(split.branch_of), len(set(split.branch_of))))


@cache
def _n_partitions(values: int, sets: int) -> int:
    """Return Stirling's number of the second kind: the number of partitions of values into sets."""
    ordered = sum(int((-1) ** i) * comb(sets, i) * int((sets - i) ** values) for i in range(sets + 1))
    return ordered // factorial(sets)


def _leaf_lengths(tree: Tree) -> Floats:
    """Return the length of the message below each node if it were a leaf."""
    check_classification(tree, "a description length")
    occurring = tree.counts * (tree.weight > 0)[:, None]
    return np.array([1.0 + class_bits(counts) for counts in occurring])


def _test_lengths(tree: Tree) -> Floats:
    """Return the bits of each node's test, including those of the cases that stay there; 0 for leaves."""
    lengths = np.zeros(tree.n_nodes)
    free = free_attributes(tree)
    for node in np.flatnonzero(tree.attribute != LEAF).tolist():
        split = tree.split(node)
        if split is not None:
            lengths[node] = 1.0 + log2(int(free[node])) + split_bits(split, float(tree.weight[node]))
            if split.missing == STAY:
                lengths[node] += class_bits(staying_counts(tree, node))
    return lengths


def free_attributes(tree: Tree) -> Ints:
    """Return for each node the number of attributes available for its test.

    A test with one branch per category or interval makes its attribute unavailable below; thresholds, subsets and tests
    of one category can be repeated. The tested attribute itself always counts.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.recipe import CART, ID3
    >>> from treewright.fitting.learn import fit
    >>> weather = sample("play-tennis")
    >>> free_attributes(fit(weather, ID3()).tree).tolist()
    [4, 3, 2, 2, 3, 3, 2, 2]
    >>> set(free_attributes(fit(weather, CART()).tree).tolist())
    {4}
    """
    used: list[frozenset[int]] = [frozenset()] * tree.n_nodes
    for node in range(tree.n_nodes):
        if tree.attribute[node] == LEAF:
            continue
        uses_up = tree.test[node] in USE_UP
        below = used[node] | {int(tree.attribute[node])} if uses_up else used[node]
        for child in tree.children_of(node):
            used[child] = below
    taken = [len(above - {int(tree.attribute[node])}) for node, above in enumerate(used)]
    return len(tree.schema.attributes) - np.array(taken, dtype=np.int32)
