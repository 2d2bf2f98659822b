"""Error-based pruning in double precision: a subtree stays, becomes a leaf, or gives way to its largest branch.

Many cases are pruned by a kernel, few by `error_based_pruner`, which has the words for it; both decide alike.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from treewright._base.errors import DataError, ParameterError
from treewright.data.dataset import Dataset
from treewright.grow.engines import is_compiled
from treewright.model.build import build_tree
from treewright.model.tree import Tree
from treewright.prune.error_based_pruner import ErrorBasedPruner, PruningDecision, canonical_order
from treewright.prune.extra_errors import extra_errors


def prune_error_based(
    tree: Tree, dataset: Dataset, confidence: float = 0.25, *, raising: bool = True, engine: str = "auto"
) -> Tree:
    """Return the tree pruned by the errors it should expect.

    From the leaves up, a node becomes a leaf if that is expected to make at most 0.1 errors more than the node as it
    is, and more than its largest branch would make in its place; otherwise it gives way to that branch if this is
    expected to make at most 0.1 errors more.

    Parameters
    ----------
    tree : Tree
        With classes and tests of any form.
    dataset : Dataset
        The cases the tree was grown from; their weights are respected, cases of weight 0 are left out.
    confidence : float
        CF, above 0 and up to 1; smaller prunes more.
    raising : bool
        Whether a branch may take the place of its node.
    engine : str
        "interpreted", "compiled", or "auto" to choose by the size of the data. The tree is the same.

    Returns
    -------
    Tree
        With `estimate`. Weights and counts are those of the cases that reach a node in the new tree; its class changes
        only to one of greater weight. Branches that no case reaches remain as they are and expect no errors.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.grow.recipe import C45
    >>> from treewright.learn import fit
    >>> weather = sample("play-tennis")
    >>> pruned = prune_error_based(fit(weather, C45()).tree, weather)
    >>> len(pruned), round(float(pruned.estimate[0]), 4)
    (8, 5.3918)
    >>> len(prune_error_based(fit(weather, C45()).tree, weather, 0.01))
    1
    """
    if tree.is_regression:
        raise ParameterError("error-based pruning needs classes; a regression tree can be pruned by its cost")
    extra_errors(1.0, 0.0, confidence)  # refuses a confidence that is none
    cases = cases_with_weight(tree, dataset)
    if is_compiled(engine, cases) and tree.n_nodes > 1 and tree.p_value is None and not tree.surrogates:
        if has_only_unit_weights(tree, cases):
            from treewright.prune.compiled.whole import prune_unit_cases

            return prune_unit_cases(tree, cases, confidence, raising=raising)
        from treewright.prune.compiled.divided import prune_fractional_cases

        return prune_fractional_cases(tree, cases, canonical_order(cases), confidence, raising=raising)
    return ErrorBasedPruner(tree, cases, confidence, raising).run()


def has_only_unit_weights(tree: Tree, cases: Dataset) -> bool:
    """Say whether every case goes down one branch at each test, by its value or a default, never by a surrogate."""
    if tree.surrogates:
        return False
    inner = np.flatnonzero(tree.attribute >= 0)
    undecided = inner[tree.missing[inner] < 0]
    tested = np.unique(tree.attribute[undecided])
    lost = any(
        bool(np.isnan(cases.columns[a]).any())
        if cases.columns[a].dtype.kind == "f"
        else bool((cases.columns[a] < 0).any())
        for a in tested.tolist()
    )
    owner = np.repeat(np.arange(tree.n_nodes), np.diff(tree.value_start))
    return not lost and not bool(np.any((tree.value_branch < 0) & (tree.missing[owner] < 0)))


def error_based_decisions(
    tree: Tree,
    dataset: Dataset,
    confidence: float = 0.25,
    *,
    raising: bool = True,
    extra: Callable[[float, float, float], float] = extra_errors,
) -> tuple[Tree, list[int], list[PruningDecision]]:
    """Prune as `prune_error_based` does and tell every decision.

    Parameters
    ----------
    tree, dataset, confidence, raising
        As in `prune_error_based`.
    extra : callable
        The extra errors of a leaf by its weight, its errors and the confidence; J48 has others.

    Returns
    -------
    tree : Tree
    origin : list of int
        For each node of it, the number that its place had before.
    decisions : list of PruningDecision
        In the order in which they were made; a node whose branch was raised is decided again.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.grow.recipe import C45
    >>> from treewright.learn import fit
    >>> weather = sample("play-tennis")
    >>> _, _, decisions = error_based_decisions(fit(weather, C45()).tree, weather)
    >>> [(one.node, round(one.as_leaf, 2), round(one.as_tree, 2), one.outcome) for one in decisions]
    [(5, 3.24, 2.11, 'kept'), (1, 3.24, 2.11, 'kept'), (0, 6.79, 5.39, 'kept')]
    """
    decisions: list[PruningDecision] = []
    pruner = ErrorBasedPruner(tree, cases_with_weight(tree, dataset), confidence, raising, extra, decisions)
    pruner.run()
    pruned, origin = build_tree(tree.schema, pruner.records)
    return pruned, origin, decisions


def cases_with_weight(tree: Tree, dataset: Dataset) -> Dataset:
    """Return the cases that weigh something; raise unless there are some, with a target and the tree's columns."""
    if dataset.target is None:
        raise DataError("pruning needs cases with their target", source=dataset.source)
    known, given = tree.schema, dataset.schema
    if given.attributes != known.attributes or given.target_column != known.target_column:
        raise DataError("the cases do not have the columns of the tree", source=dataset.source)
    if dataset.weights is not None and np.any(dataset.weights == 0):
        dataset = dataset.take(dataset.weights > 0)
    if dataset.n_rows == 0:
        raise DataError("there are no cases to prune by", source=dataset.source)
    return dataset
