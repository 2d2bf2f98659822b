"""What explains a tree that was learned: its tables are counted again, at once or when somebody asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from treewright.data.dataset import Dataset
from treewright.grow.cal.options import CAL2, CAL3
from treewright.grow.chaid.options import CHAID
from treewright.grow.engines import counting_engine, is_compiled, with_compiled_criterion
from treewright.grow.grower import Grown, keeps_traces, trace_tree
from treewright.grow.recipe import MissingPolicy
from treewright.model.tree import Stop, Tree
from treewright.model.working import EvaluatedSplit, LazyTrace, SplitStatus
from treewright.plans import Plan

Working = Mapping[int, tuple[EvaluatedSplit, ...]]

CELLS_KEPT = 5_000_000
"""Cells of a table that a model may keep until its working is asked for."""


def examined_later(dataset: Dataset, plan: Plan, tree: Tree, engine: str, grown: Grown | None = None) -> Working:
    """Put off what explains the tree until somebody asks: it takes longer than the tree.

    Until then the cases are kept, a copy if they are somebody else's; those of a large table are not, and are examined
    at once.
    """
    if not keeps_traces(plan.judge, dataset.schema, dataset.n_rows):
        return {}
    if dataset.n_rows * len(dataset.columns) > CELLS_KEPT:
        return examined(dataset, plan, tree, engine, grown)
    kept = replace(dataset, columns=tuple(column.copy() for column in dataset.columns))
    return LazyTrace(lambda: examined(kept, plan, tree, engine, grown))


def examined(dataset: Dataset, plan: Plan, tree: Tree, engine: str = "auto", grown: Grown | None = None) -> Working:
    """Count the tables of a tree again and tell what a learner could see in them, as it was done.

    Split traces of the grown tree are reused for the nodes that pruning left alone.
    """
    judge = plan.judge
    counting = counting_engine(dataset, engine, fractional=judge.missing is MissingPolicy.FRACTIONAL)
    if is_compiled(engine, dataset):
        judge = with_compiled_criterion(judge)
    working = trace_tree(counting, judge, tree, grown=grown)
    if not isinstance(plan.learner, (CHAID, CAL2, CAL3)):
        return working
    merges = isinstance(plan.learner, CHAID)
    return {
        node: tuple(as_it_was_done(one, tree.node(node).stop, merges_missing=merges) for one in entries)
        for node, entries in working.items()
    }


def as_it_was_done(one: EvaluatedSplit, stop: Stop | None, *, merges_missing: bool) -> EvaluatedSplit:
    """Tell what a learner did that does not choose as its judge does.

    CHAID tested its table with the missing cases in their branch; and a leaf that the judge would have divided was not
    pruned unless it says so.
    """
    if one.status is SplitStatus.PRUNED and stop is not Stop.PRUNED:
        return replace(one, status=SplitStatus.CONSIDERED)
    if not merges_missing or one.status is not SplitStatus.CHOSEN or one.split is None:
        return one
    counts = one.counts.copy()
    counts[one.split.missing] += one.unknown
    return replace(one, counts=counts, unknown=np.zeros_like(one.unknown), tries=0)
