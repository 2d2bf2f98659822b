"""Chi-square pruning: a test at the bottom of the tree stays only if its branches differ more than chance explains.

Vocabulary
----------
table of a test
    Branches x classes, the training weights of the children. Empty branches and classes that do not occur are left
    out, so v branches and k classes have (v - 1)(k - 1) degrees of freedom.
free attributes
    The attributes that could have been tested at a node: all but those that a test with one branch per value or
    interval used up further up on the path. Such a test can be made once per path only; cuts, value sets and
    one-against-the-rest tests can be repeated and use nothing up.
Bonferroni
    The best of m tests is significant by chance m times as often as one test. Multiplying its p-value by m, the
    number of free attributes, makes up for the choice.

Source: J. R. Quinlan, Induction of decision trees, Machine Learning 1, 1986 (the test); S. Russell and P. Norvig,
Artificial Intelligence, chapter on learning (as a pruning from the leaves up).
"""

from __future__ import annotations

import numpy as np

from treewright._base.errors import ParameterError
from treewright.grow.criteria import chi_square
from treewright.model.build import build_tree, records_of
from treewright.model.split import Test
from treewright.model.tree import LEAF, TESTS, Ints, Stop, Tree

USE_UP = (TESTS.index(Test.NOMINAL), TESTS.index(Test.INTERVALS))
"""Codes of the tests that cannot be made twice on one path."""


def prune_chi_square(tree: Tree, significance: float = 0.05, *, bonferroni: bool = False) -> Tree:
    """Return the tree without the lowest tests that are not significant.

    From the leaves up, a node whose children are all leaves becomes a leaf unless Pearson's test of its table has a
    p-value of at most `significance`.

    Parameters
    ----------
    tree : Tree
        With classes.
    significance : float
        Between 0 and 1.
    bonferroni : bool
        Whether the p-value is multiplied by the number of free attributes (and is 1 at most).

    Returns
    -------
    Tree
        With the `p_value` by which it was decided: on inner nodes that of their test, on leaves that were pruned that
        of the test they lost.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.grow.recipe import ID3
    >>> from treewright.learn import fit
    >>> tree = fit(sample("restaurant"), ID3()).tree
    >>> for level in (0.05, 0.005):
    ...     pruned = prune_chi_square(tree, level)
    ...     print(len(pruned), round(float(pruned.p_value[0]), 4))
    4 0.0357
    1 0.0357
    """
    if tree.is_regression:
        raise ParameterError("chi-square pruning needs classes; a regression tree can be pruned by its cost")
    if not 0 < significance < 1:
        raise ParameterError(f"significance must be between 0 and 1, not {significance!r}")
    free = free_attributes(tree)
    records = records_of(tree)
    for node in range(tree.n_nodes - 1, -1, -1):
        if tree.attribute[node] == LEAF:
            continue
        children = tree.children_of(node)
        p = chi_square(tree.counts[children] * (tree.weight[children] > 0)[:, None]).p
        p = min(1.0, p * int(free[node])) if bonferroni else p
        records[node].p_value = p
        if p > significance and all(records[child].split is None for child in children):
            records[node].become_leaf(Stop.PRUNED)
    return build_tree(tree.schema, records)[0]


def free_attributes(tree: Tree) -> Ints:
    """Return for each node how many attributes could have been tested there.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.grow.recipe import CART, ID3
    >>> from treewright.learn import fit
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
    return np.array([len(tree.schema.attributes) - len(taken) for taken in used], dtype=np.int32)
