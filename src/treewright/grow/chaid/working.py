"""What CHAID weighed at each node, for the model to keep: groups, counts and adjusted p of every attribute."""

from __future__ import annotations

import numpy as np

from treewright.counts.memory import MemoryEngine
from treewright.counts.table import FrequencyTable
from treewright.data.dataset import Dataset
from treewright.grow.candidates import branch_counts
from treewright.grow.chaid.growing import ChaidGrowth, ChaidNode, Finding
from treewright.grow.grower import WORKING_CELLS
from treewright.model.working import Examined, Verdict


def chaid_working(dataset: Dataset, growth: ChaidGrowth, cells: int = WORKING_CELLS) -> dict[int, tuple[Examined, ...]]:
    """Return the working of a tree from its root down, until the tables have so many cells.

    Parameters
    ----------
    dataset : Dataset
        The cases the tree was grown from.
    growth : ChaidGrowth
    cells : int

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.grow.chaid.growing import CHAID, grow_chaid
    >>> lenses = sample("contact-lenses")
    >>> growth = grow_chaid(lenses, CHAID(min_samples_split=10, min_samples_leaf=2))
    >>> [(one.attribute, str(one.verdict)) for one in chaid_working(lenses, growth)[0]]
    [(0, 'all values in one group'), (1, 'all values in one group'), (2, 'considered'), (3, 'chosen')]
    """
    engine = MemoryEngine(dataset)
    working: dict[int, tuple[Examined, ...]] = {}
    level = [(0, engine.root())]
    while level and cells > 0:
        below: list[tuple[int, int]] = []
        for node, place in level:
            found = growth.nodes[node]
            [tables] = engine.count([(place, [finding.attribute for finding in found.findings])])
            entries = tuple(
                _examined(found, finding, table) for finding, table in zip(found.findings, tables, strict=True)
            )
            cells -= sum(one.cells for one in entries)
            if cells < 0:
                break
            if entries:
                working[node] = entries
            split = growth.tree.split(node)
            if split is not None:
                below += zip(growth.tree.children_of(node).tolist(), engine.divide(place, split), strict=True)
        level = below
    return working


def _examined(node: ChaidNode, finding: Finding, table: FrequencyTable) -> Examined:
    """Return one attribute with the table that was tested: the missing cases are in their group."""
    nothing = np.zeros_like(table.unknown)
    if finding.split is None:
        return Examined(
            finding.attribute, Verdict.ONE_GROUP, None, table.counts[:0], table.unknown, 0, finding.adjusted
        )
    counts = branch_counts(table, finding.split)
    if finding.split.missing >= 0:
        counts[finding.split.missing] += table.unknown
    return Examined(finding.attribute, _verdict(node, finding), finding.split, counts, nothing, 0, finding.adjusted)


def _verdict(node: ChaidNode, finding: Finding) -> Verdict:
    if finding is node.chosen:
        return Verdict.CHOSEN
    best = min(node.findings, key=lambda one: one.log_adjusted)
    return Verdict.NOT_SIGNIFICANT if node.chosen is None and finding is best else Verdict.CONSIDERED
