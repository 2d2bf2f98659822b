"""Split traces of a trained tree: its tables are counted again by the reference recipe, at once or on first access."""

from __future__ import annotations

from dataclasses import replace

from treewright.counting.numpy import engine_for
from treewright.data.dataset import Dataset
from treewright.data.schema import Task
from treewright.learners.base import Grown, Run, SplitTraces, TreeLearner
from treewright.learners.discretise import in_bins
from treewright.learners.grower import counter_for, is_compiled, keeps_traces, trace_tree
from treewright.learners.recipe import MissingPolicy, Recipe
from treewright.tree.split import EvaluatedSplit, LazyTrace, SplitStatus
from treewright.tree.tree import Stop, Tree

CELLS_KEPT = 5_000_000
"""Maximum number of cells of a table that a model keeps until its split traces are accessed."""


def traces_of(learner: TreeLearner, grown: Grown, cases: Dataset, tree: Tree, task: Task, run: Run) -> SplitTraces:
    """Return the split traces of a tree, those of its growth if the tree was not changed.

    Traces of a tree that kernels grew are computed on first access, since they take longer than the tree. Until then
    the model keeps a copy of the cases; the traces of a large table are computed at once instead.
    """
    if grown.traced and tree is grown.tree:
        return grown.traces
    reusable = grown if grown.traced and learner.recipe is not None else None
    if learner.recipe is None or not is_compiled(run.engine, cases):
        return counted_traces(learner, cases, tree, task, run.engine, reusable)
    if not keeps_traces(learner.reference(task), cases.schema, cases.n_rows):
        return {}
    if cases.n_rows * len(cases.columns) > CELLS_KEPT:
        return counted_traces(learner, cases, tree, task, run.engine, reusable)
    kept = replace(cases, columns=tuple(column.copy() for column in cases.columns))
    return LazyTrace(lambda: counted_traces(learner, kept, tree, task, run.engine, reusable))


def counted_traces(
    learner: TreeLearner, cases: Dataset, tree: Tree, task: Task, engine: str = "auto", grown: Grown | None = None
) -> SplitTraces:
    """Count the tables of a tree again and return its split traces, with the decisions of the learner.

    Traces of the grown tree are reused for the nodes that pruning did not change.
    """
    counting, recipe = counter_for(cases, learner.reference(task), engine)
    traces = trace_tree(counting, recipe, tree, grown=grown)
    return corrected_traces(learner, traces, tree)


def corrected_traces(learner: TreeLearner, traces: SplitTraces, tree: Tree) -> SplitTraces:
    """Return traces by the reference recipe, corrected to the decisions of the learner."""
    return {
        node: tuple(learner.corrected(entry, tree.node(node).stop) for entry in entries)
        for node, entries in traces.items()
    }


def trace_by_reference(recipe: Recipe, cases: Dataset, tree: Tree, node: int) -> tuple[EvaluatedSplit, ...] | None:
    """Return the trace of one node of a finished tree, counted from the cases; None if no split was evaluated."""
    engine = engine_for(in_bins(cases, recipe), tree, fractional=recipe.missing is MissingPolicy.FRACTIONAL)
    found = trace_tree(engine, recipe, tree, node).get(node)
    if found is None or tree.node(node).stop in (None, Stop.PRUNED):
        return found
    # The reference recipe would have split this leaf. The learner did not, so nothing was pruned here.
    considered = [
        replace(one, status=SplitStatus.CONSIDERED) if one.status is SplitStatus.PRUNED else one for one in found
    ]
    return tuple(considered)
