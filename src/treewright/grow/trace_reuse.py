"""Which split traces of a grown tree still hold after it was pruned.

A node that is reached by the same tests has the same cases, so its split trace need not be counted again. Where subtree
raising replaced a node by one of its branches, that node has another test and the nodes below it have other cases.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass

from treewright.model.tree import STOPS, Stop, Tree
from treewright.model.working import EvaluatedSplit

BEFORE_COUNTING = frozenset(
    STOPS.index(stop) for stop in (Stop.EMPTY, Stop.PURE, Stop.DEPTH, Stop.TOO_FEW, Stop.NO_ATTRIBUTES)
)
"""Codes of the reasons to stop for which a node has no split trace."""

LEAVES = STOPS.index(Stop.LEAVES)
"""Code of the reason to stop that takes back the status of the best attribute: the trace has to be made again."""


@dataclass(frozen=True)
class ReusableTraces:
    """The nodes of a pruned tree for which nothing has to be counted.

    Parameters
    ----------
    traces : dict of int to tuple of EvaluatedSplit
        Split trace of a node, with the statuses that growth gave.
    known : frozenset of int
        The nodes with a trace, and those that have none because growth stopped before it counted.
    """

    traces: Mapping[int, tuple[EvaluatedSplit, ...]]
    known: frozenset[int]

    def unknown_and_ancestors(self, tree: Tree) -> Container[int]:
        """Return the nodes that have to be counted, and the nodes above them."""
        if not self.known:
            return range(tree.n_nodes)
        nodes: set[int] = set()
        parent = tree.parent.tolist()
        for node in range(tree.n_nodes - 1, -1, -1):  # children have higher numbers than their parents
            if node not in self.known or node in nodes:
                nodes.update((node, max(parent[node], 0)))
        return nodes


NO_TRACES = ReusableTraces({}, frozenset())
"""Of a tree whose growth is not known."""


def reusable_traces(grown: Tree, traces: Mapping[int, tuple[EvaluatedSplit, ...]], pruned: Tree) -> ReusableTraces:
    """Return the split traces of a grown tree that hold for the pruned one, by its node numbers.

    Parameters
    ----------
    grown : Tree
        Before pruning.
    traces : dict of int to tuple of EvaluatedSplit
        Split traces of its nodes, as far as they were kept.
    pruned : Tree
        After pruning.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.grow.recipe import C45
    >>> from treewright.learn import fit
    >>> from treewright.prune.collapse import collapse
    >>> lenses = fit(sample("contact-lenses"), C45())
    >>> reusable = reusable_traces(lenses.tree, lenses.working, collapse(lenses.tree))
    >>> sorted(reusable.traces), reusable.known == set(range(7))
    ([0, 2, 3, 4], True)
    """
    kept: dict[int, tuple[EvaluatedSplit, ...]] = {}
    known = []
    same_cases = [(0, 0)]
    while same_cases:
        node, before = same_cases.pop()
        split, split_before = pruned.split(node), grown.split(before)
        if split is not None and split == split_before:
            same_cases += zip(pruned.children_of(node).tolist(), grown.children_of(before).tolist(), strict=True)
        trace = traces.get(before)
        if trace is None:
            if int(grown.stop[before]) in BEFORE_COUNTING:
                known.append(node)
        elif grown.stop[before] != LEAVES and (split is None or any(one.split == split for one in trace)):
            kept[node] = trace
            known.append(node)
    return ReusableTraces(kept, frozenset(known))
