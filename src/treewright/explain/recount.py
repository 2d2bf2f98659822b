"""The working of a node that a model did not keep, counted again from the training data as its learner counted."""

from __future__ import annotations

from dataclasses import replace

from treewright._base.errors import ParameterError
from treewright.counts.memory import MemoryEngine
from treewright.data.dataset import Dataset
from treewright.explain.training import learner_of, training_cases
from treewright.grow.bins_of_numbers import in_bins
from treewright.grow.chaid.growing import ChaidEvaluator, ChaidNode
from treewright.grow.chaid.options import CHAID
from treewright.grow.chaid.working import examined
from treewright.grow.grower import trace_tree
from treewright.grow.recipe import MissingPolicy, Recipe
from treewright.grow.tree_engine import engine_for
from treewright.model.model import TreeModel
from treewright.model.tree import Stop, Tree
from treewright.model.working import EvaluatedSplit, SplitStatus


def counted_again(
    model: TreeModel, recipe: Recipe, node: int, data: Dataset | None
) -> tuple[tuple[EvaluatedSplit, ...] | None, tuple[str, ...]]:
    """Return what speaks for and against each attribute at a node, counted from the data, and notes on the counting."""
    if data is None:
        raise ParameterError(
            f"the model keeps no working for node {node} (large trees keep only the top): give the training data again"
        )
    cases, notes = training_cases(model, data)
    learner = learner_of(model)
    if isinstance(learner, CHAID):
        return _chaid_again(model, learner, node, cases), notes
    engine = engine_for(in_bins(cases, recipe), model.tree, fractional=recipe.missing is MissingPolicy.FRACTIONAL)
    found = trace_tree(engine, recipe, model.tree, node).get(node)
    if found is not None and model.tree.node(node).stop not in (None, Stop.PRUNED):
        # The judge would have divided this leaf, but nobody did, and so nobody pruned it.
        found = tuple(replace(one, status=_not_pruned(one.status)) for one in found)
    return found, notes


def _not_pruned(status: SplitStatus) -> SplitStatus:
    return SplitStatus.CONSIDERED if status is SplitStatus.PRUNED else status


def _chaid_again(model: TreeModel, options: CHAID, node: int, cases: Dataset) -> tuple[EvaluatedSplit, ...] | None:
    """Find the groups and adjusted p of every attribute at a node, as CHAID did."""
    tree = model.tree
    engine = MemoryEngine(cases)
    root = engine.root()
    examiner = ChaidEvaluator(engine, root, options)
    place = _opened(engine, root, tree, node)
    [summary] = engine.summaries([place])
    if tree.node(node).stop is None or tree.node(node).stop is Stop.PRUNED:
        findings = examiner.examine(place, summary)
    else:
        findings = examiner.decide(place, summary, int(tree.depths[node]))[0].findings
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


def _opened(engine: MemoryEngine, place: int, tree: Tree, node: int) -> int:
    """Send the cases down to a node and return its number at the engine."""
    for parent, branch in tree.node(node).path:
        split = tree.split(parent)
        if split is not None:
            place = engine.divide(place, split)[branch]
    return place
