"""The split traces of CHAID: groups, counts and adjusted p of every attribute at each node.

`chaid_traces` returns those of a tree that was just grown, for its model to keep; `trace_node` computes that of one
node of a finished tree again.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from treewright.counting.engine import Engine
from treewright.counting.numpy import MemoryEngine
from treewright.counting.table import FrequencyTable, branch_counts
from treewright.data.dataset import Dataset
from treewright.learners.chaid.growing import ChaidEvaluator, ChaidGrowth, ChaidNode, Finding
from treewright.learners.chaid.options import CHAID
from treewright.learners.grower import TRACE_CELLS
from treewright.tree.split import KNOWN, EvaluatedSplit, SplitStatus
from treewright.tree.tree import Stop, Tree


def chaid_traces(
    dataset: Dataset, growth: ChaidGrowth, cells: int = TRACE_CELLS
) -> dict[int, tuple[EvaluatedSplit, ...]]:
    """Return the split traces of a tree from its root down, until their tables have this many cells.

    Parameters
    ----------
    dataset : Dataset
        The cases the tree was grown from.
    growth : ChaidGrowth
    cells : int

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> from treewright.learners.chaid.growing import grow_chaid
    >>> from treewright.learners.chaid.options import CHAID
    >>> lenses = sample("contact-lenses")
    >>> growth = grow_chaid(lenses, CHAID(min_samples_split=10, min_samples_leaf=2))
    >>> [(one.attribute, str(one.status)) for one in chaid_traces(lenses, growth)[0]]
    [(0, 'all values in one group'), (1, 'all values in one group'), (2, 'considered'), (3, 'chosen')]
    """
    return chaid_traces_over(MemoryEngine(dataset), growth, cells)


def chaid_traces_over(
    engine: Engine, growth: ChaidGrowth, cells: int = TRACE_CELLS
) -> dict[int, tuple[EvaluatedSplit, ...]]:
    """Return the split traces as `chaid_traces` does, one pass over the data per level."""
    traces: dict[int, tuple[EvaluatedSplit, ...]] = {}
    level = [(0, engine.root())]
    while level and cells > 0:
        below: list[tuple[int, int]] = []
        counted = engine.count(
            [(open_node, [finding.attribute for finding in growth.nodes[node].findings]) for node, open_node in level]
        )
        for (node, open_node), tables in zip(level, counted, strict=True):
            decision = growth.nodes[node]
            entries = tuple(
                evaluated_split(decision, finding, _with_numbers(table, growth.bounds.get(finding.attribute)))
                for finding, table in zip(decision.findings, tables, strict=True)
            )
            cells -= sum(one.cells for one in entries)
            if cells < 0:
                break
            if entries:
                traces[node] = entries
            split = growth.tree.split(node)
            if split is not None:
                below += zip(growth.tree.children_of(node).tolist(), engine.split_node(open_node, split), strict=True)
        level = below
    return traces


def _with_numbers(table: FrequencyTable, bounds: tuple[float, ...] | None) -> FrequencyTable:
    """Return a table by intervals with one number per interval, since splits that merge intervals need numbers."""
    if bounds is None or table.values is not None:
        return table
    return replace(table, values=np.append(np.array(bounds), KNOWN))


def evaluated_split(node: ChaidNode, finding: Finding, table: FrequencyTable) -> EvaluatedSplit:
    """Return the evaluation of one attribute with the tested table: cases with a missing value are in their group."""
    nothing = np.zeros_like(table.unknown)
    if finding.split is None:
        return EvaluatedSplit(
            finding.attribute, SplitStatus.ONE_GROUP, None, table.counts[:0], table.unknown, 0, finding.adjusted
        )
    counts = branch_counts(table, finding.split)
    if finding.split.missing >= 0:
        counts[finding.split.missing] += table.unknown
    return EvaluatedSplit(
        finding.attribute, _status(node, finding), finding.split, counts, nothing, 0, finding.adjusted
    )


def _status(node: ChaidNode, finding: Finding) -> SplitStatus:
    if finding is node.chosen:
        return SplitStatus.CHOSEN
    best = min(node.findings, key=lambda one: one.log_adjusted)
    return SplitStatus.NOT_SIGNIFICANT if node.chosen is None and finding is best else SplitStatus.CONSIDERED


def trace_node(options: CHAID, cases: Dataset, tree: Tree, node: int) -> tuple[EvaluatedSplit, ...] | None:
    """Return the groups and adjusted p of every attribute at a node; None if no attribute was evaluated."""
    engine = MemoryEngine(cases)
    root = engine.root()
    evaluator = ChaidEvaluator(engine, root, options)
    opened = _opened(engine, root, tree, node)
    [summary] = engine.summaries([opened])
    if tree.node(node).stop is None or tree.node(node).stop is Stop.PRUNED:
        findings = evaluator.evaluate(opened, summary)
    else:
        findings = evaluator.decide(opened, summary, int(tree.depths[node]))[0].findings
    if not findings:
        return None
    best = evaluator.choose(findings)
    chosen = next((one for one in findings if one.attribute == tree.attribute[node]), None)
    found = ChaidNode(findings, chosen, tree.node(node).stop)
    # The tables are counted from the numbers themselves; the engine of the evaluator has intervals instead.
    plain = MemoryEngine(cases)
    [tables] = plain.count([(_opened(plain, plain.root(), tree, node), [one.attribute for one in findings])])
    entries = tuple(evaluated_split(found, finding, table) for finding, table in zip(findings, tables, strict=True))
    if tree.node(node).stop is not Stop.PRUNED or best is None:
        return entries
    return tuple(
        replace(one, status=SplitStatus.PRUNED) if one.attribute == best.attribute and one.split is not None else one
        for one in entries
    )


def _opened(engine: MemoryEngine, opened: int, tree: Tree, node: int) -> int:
    """Route the cases to a node and return its index in the engine."""
    for parent, branch in tree.node(node).path:
        split = tree.split(parent)
        if split is not None:
            opened = engine.split_node(opened, split)[branch]
    return opened
