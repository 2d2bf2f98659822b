"""The split trace of one node of a finished tree, found again as CHAID found it."""

from __future__ import annotations

from dataclasses import replace

from treewright.counts.memory import MemoryEngine
from treewright.data.dataset import Dataset
from treewright.grow.chaid.growing import ChaidEvaluator, ChaidNode
from treewright.grow.chaid.options import CHAID
from treewright.grow.chaid.working import examined
from treewright.model.tree import Stop, Tree
from treewright.model.working import EvaluatedSplit, SplitStatus


def trace_node(options: CHAID, cases: Dataset, tree: Tree, node: int) -> tuple[EvaluatedSplit, ...] | None:
    """Return the groups and adjusted p of every attribute at a node; None where no test was tried."""
    engine = MemoryEngine(cases)
    root = engine.root()
    examiner = ChaidEvaluator(engine, root, options)
    opened = _opened(engine, root, tree, node)
    [summary] = engine.summaries([opened])
    if tree.node(node).stop is None or tree.node(node).stop is Stop.PRUNED:
        findings = examiner.examine(opened, summary)
    else:
        findings = examiner.decide(opened, summary, int(tree.depths[node]))[0].findings
    if not findings:
        return None
    best = examiner.choose(findings)
    chosen = next((one for one in findings if one.attribute == tree.attribute[node]), None)
    found = ChaidNode(findings, chosen, tree.node(node).stop)
    # The tables of a test are counted from the numbers as they are: the examiner's engine has intervals in their place.
    plain = MemoryEngine(cases)
    [tables] = plain.count([(_opened(plain, plain.root(), tree, node), [one.attribute for one in findings])])
    entries = tuple(examined(found, finding, table) for finding, table in zip(findings, tables, strict=True))
    if tree.node(node).stop is not Stop.PRUNED or best is None:
        return entries
    return tuple(
        replace(one, status=SplitStatus.PRUNED) if one.attribute == best.attribute and one.split is not None else one
        for one in entries
    )


def _opened(engine: MemoryEngine, opened: int, tree: Tree, node: int) -> int:
    """Send the cases down to a node and return the engine's number of it."""
    for parent, branch in tree.node(node).path:
        split = tree.split(parent)
        if split is not None:
            opened = engine.divide(opened, split)[branch]
    return opened
