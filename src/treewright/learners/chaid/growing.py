"""CHAID: trees whose splits are chosen by significance (Kass 1980), and its exhaustive variant (Biggs et al. 1991).

Invariants
----------
The result does not depend on the order of the cases. Of equal p-values the earlier attribute wins. Nothing recurses, so
the depth of a tree is unlimited. Sizes and counts are sums of weights: a case of weight three counts as three.
Fractional weights are allowed and make the p-values approximate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treewright.counting.engine import Engine, Summary
from treewright.counting.numpy import MemoryEngine
from treewright.counting.table import FrequencyTable
from treewright.data.dataset import Dataset
from treewright.data.schema import Task
from treewright.errors import DataError
from treewright.learners.chaid.merging import (
    MISSING,
    TIE,
    AttributeLevels,
    LevelGroups,
    LevelTable,
    Merged,
    merge_exhaustively,
    merge_levels,
    merge_like_r,
    quantile_bounds,
)
from treewright.learners.chaid.options import CHAID, LARGEST_LOG
from treewright.learners.chaid.significance import ChiSquareTest, FTest, SignificanceTest
from treewright.tree.build import NodeRecord, build_tree
from treewright.tree.split import Split
from treewright.tree.tree import Stop, Tree, majority_class

R_SMALL_SHARE = 0.01
"""In R's CHAID the least size of a group is at most this share of the node's cases."""


@dataclass(frozen=True)
class Finding:
    """The evaluation of one attribute at one node.

    Parameters
    ----------
    attribute : int
    groups : tuple of tuple of int
        Levels by group: codes of categories, indices of intervals, `MISSING` (-1) for missing values.
    log_p : float
        Of the grouped table.
    log_multiplier : float
    log_adjusted : float
        With `like_r` it may be above 0.
    split : Split or None
        The split with one branch per group; None if there is nothing to split.
    monte_carlo : bool
        Whether R's CHAID would have simulated tables for one of the p-values (only with `like_r`).
    """

    attribute: int
    groups: LevelGroups
    log_p: float
    log_multiplier: float
    log_adjusted: float
    split: Split | None = None
    monte_carlo: bool = False

    @property
    def p(self) -> float:
        """The p-value of the grouped table."""
        return math.exp(self.log_p)

    @property
    def adjusted(self) -> float:
        """The adjusted p-value; 0 if it is too small for a double, and at most the largest power of e."""
        return math.exp(min(self.log_adjusted, LARGEST_LOG))

    @property
    def multiplier(self) -> float:
        """The multiplier of the p-value; infinite if it is too large for a double."""
        return math.exp(self.log_multiplier) if self.log_multiplier <= LARGEST_LOG else math.inf


@dataclass(frozen=True)
class ChaidNode:
    """The decision at one node: the evaluated attributes, the chosen one, or the stop reason."""

    findings: tuple[Finding, ...]
    chosen: Finding | None
    stop: Stop | None

    @property
    def monte_carlo(self) -> bool:
        """True if R's CHAID would have simulated a p-value of this node."""
        return any(finding.monte_carlo for finding in self.findings)


@dataclass(frozen=True)
class ChaidGrowth:
    """A tree and the decisions at its nodes.

    Parameters
    ----------
    tree : Tree
        With the smallest adjusted p of each node as `p_value`.
    nodes : tuple of ChaidNode
        In the order of the tree's nodes.
    bounds : dict of int to tuple of float
        Bounds of the intervals of numeric attributes.
    """

    tree: Tree
    nodes: tuple[ChaidNode, ...]
    bounds: dict[int, tuple[float, ...]]


class ChaidEvaluator:
    """Evaluates all attributes at the open nodes of an engine: groups and p-values.

    Parameters
    ----------
    engine : Engine
        Its numeric attributes are converted to intervals.
    root : int
        The open node of all training cases.
    options : CHAID
    """

    def __init__(self, engine: Engine, root: int, options: CHAID) -> None:
        self._engine = engine
        self._options = options
        regression = engine.schema.task is Task.REGRESSION
        self._test: SignificanceTest = FTest() if regression else ChiSquareTest()
        [summary] = engine.summaries([root])
        # R drops classes without cases; zero columns do not change a test, but its rule about small cells.
        self._statistics = np.arange(3) if regression else np.flatnonzero(summary.statistics)
        self.bounds: dict[int, tuple[float, ...]] = {}
        attributes = range(len(engine.schema.attributes))
        [tables] = engine.count([(root, attributes)])
        self._levels = [self._prepared(attribute, table) for attribute, table in zip(attributes, tables, strict=True)]
        if options.like_r:
            self._levels = [levels for levels in self._levels if len(levels.fixed or ()) > 1]

    def _prepared(self, attribute: int, table: FrequencyTable) -> AttributeLevels:
        column = self._engine.schema.attributes[attribute]
        occurring = np.flatnonzero(table.cases > 0)
        bounds: tuple[float, ...] = ()
        if column.is_numeric:
            values = table.values if table.values is not None else np.zeros(0)
            bounds = quantile_bounds(values, self._test.weights(table.counts), self._options.bins)
            self.bounds[attribute] = bounds
            self._engine.use_intervals(attribute, bounds)
            occurring = np.arange(len(bounds) + 1 if len(values) else 0)
        if not self._options.like_r:
            return AttributeLevels(attribute, column, bounds)
        fixed = (*occurring.tolist(), MISSING) if table.unknown_cases else tuple(occurring.tolist())
        return AttributeLevels(attribute, column, bounds, fixed, missing_is_nominal=True)

    def evaluate(self, node: int, summary: Summary) -> tuple[Finding, ...]:
        """Return a finding for each attribute, in order (with `like_r` not for those with a single level)."""
        return self._evaluate_all([(node, summary)])[0]

    def _evaluate_all(self, nodes: Sequence[tuple[int, Summary]]) -> list[tuple[Finding, ...]]:
        counted = self._engine.count([(node, [levels.attribute for levels in self._levels]) for node, _ in nodes])
        return [
            tuple(
                self._finding(levels, table, summary.weight) for levels, table in zip(self._levels, tables, strict=True)
            )
            for (_, summary), tables in zip(nodes, counted, strict=True)
        ]

    def _finding(self, attribute: AttributeLevels, table: FrequencyTable, weight: float) -> Finding:
        levels = attribute.levels_in(table)
        rows = attribute.rows(table, levels)[:, self._statistics]
        if len(levels) < 2:
            return Finding(attribute.attribute, (levels,) if levels else (), 0.0, 0.0, 0.0)
        merged = self._merged(LevelTable(rows, attribute.scale(levels), self._test), weight)
        groups = tuple(tuple(levels[row] for row in group) for group in merged.groups)
        weights = np.array([self._test.weights(rows[list(group)]).sum() for group in merged.groups])
        return Finding(
            attribute.attribute,
            groups,
            merged.log_p,
            merged.log_multiplier,
            merged.log_adjusted,
            attribute.split(groups, weights) if len(groups) > 1 and weights.min() > 0 else None,
            merged.monte_carlo,
        )

    def _merged(self, table: LevelTable, weight: float) -> Merged:
        options = self._options
        if options.like_r:
            least = min(math.ceil(R_SMALL_SHARE * weight), options.min_samples_leaf)
            return merge_like_r(table, options.alpha_merge, least)
        if options.exhaustive:
            return merge_exhaustively(table, options.min_samples_leaf)
        return merge_levels(table, options.alpha_merge, options.min_samples_leaf, resplit=options.resplit)

    def choose(self, findings: tuple[Finding, ...]) -> Finding | None:
        """Return the finding with the smallest adjusted p, the first of equals; None if there is none at all."""
        if not findings:
            return None
        # R compares p-values exactly; otherwise differences by rounding are ties.
        tie = 0.0 if self._options.like_r else TIE
        smallest = min(finding.log_adjusted for finding in findings)
        return next(finding for finding in findings if finding.log_adjusted <= smallest + tie)

    def decide(self, node: int, summary: Summary, depth: int) -> tuple[ChaidNode, Finding | None]:
        """Evaluate a node unless a limit is reached; return the decision and the best finding.

        R's CHAID also evaluates pure nodes (without effect), so `like_r` has findings there.
        """
        return self.decide_all([(node, summary)], depth)[0]

    def decide_all(self, nodes: Sequence[tuple[int, Summary]], depth: int) -> list[tuple[ChaidNode, Finding | None]]:
        """Decide about all nodes of a level, which are counted in one pass."""
        options = self._options
        limits = [self._limit(summary, depth) for _, summary in nodes]
        open_nodes = [
            limit is None and (options.like_r or not summary.pure)
            for (_, summary), limit in zip(nodes, limits, strict=True)
        ]
        found = iter(self._evaluate_all([node for node, is_open in zip(nodes, open_nodes, strict=True) if is_open]))
        decided: list[tuple[ChaidNode, Finding | None]] = []
        for (_, summary), limit, is_open in zip(nodes, limits, open_nodes, strict=True):
            stop = Stop.PURE if summary.pure else limit
            findings = next(found) if is_open else ()
            best = self.choose(findings)
            if not is_open:
                decided.append((ChaidNode((), None, stop), None))
                continue
            if best is None:
                stop = stop or Stop.NO_ATTRIBUTES
            elif best.split is None or best.log_adjusted > math.log(options.alpha_split):
                stop = stop or Stop.NOT_SIGNIFICANT
            decided.append((ChaidNode(findings, best if stop is None else None, stop), best))
        return decided

    def _limit(self, summary: Summary, depth: int) -> Stop | None:
        if self._options.max_depth is not None and depth >= self._options.max_depth:
            return Stop.DEPTH
        least = self._options.min_samples_split * (1 - 1e-12)  # sums of fractional weights may fall short by rounding
        return Stop.TOO_FEW if summary.weight < least else None


def grow_chaid(dataset: Dataset, options: CHAID) -> ChaidGrowth:
    """Grow a tree.

    Parameters
    ----------
    dataset : Dataset
        Cases with a target of classes (chi-square tests) or numbers (F-tests); weights are numbers of cases.
    options : CHAID

    Returns
    -------
    ChaidGrowth

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> growth = grow_chaid(sample("contact-lenses"), CHAID())
    >>> print(growth.tree.node(0).attribute.name, round(growth.nodes[0].chosen.adjusted, 6))
    tears 0.000747
    """
    if dataset.target is None:
        raise DataError("CHAID learns from cases with a target, and these have none", source=dataset.source)
    return grow_chaid_over(MemoryEngine(dataset), options)


def grow_chaid_over(engine: Engine, options: CHAID) -> ChaidGrowth:
    """Grow a tree level by level over any engine; `grow_chaid` does it in memory."""
    if options.like_r and engine.schema.task is Task.REGRESSION:
        raise DataError("R's CHAID predicts classes; the target is numeric", column=engine.schema.target)
    root = engine.root()
    evaluator = ChaidEvaluator(engine, root, options)
    records: list[NodeRecord] = [_record(engine.summaries([root])[0], engine.schema.task)]
    nodes: list[ChaidNode] = []
    level = [root]
    depth = 0
    while level:
        below: list[int] = []
        summaries = engine.summaries(level)
        for node, (found, best) in zip(
            level, evaluator.decide_all(list(zip(level, summaries, strict=True)), depth), strict=True
        ):
            record = records[len(nodes)]
            nodes.append(found)
            record.p_value = None if best is None else best.adjusted
            record.stop = found.stop
            if found.chosen is None or found.chosen.split is None:
                engine.close(node)
                continue
            record.split = found.chosen.split
            children = engine.split_node(node, record.split)
            record.children = list(range(len(records), len(records) + len(children)))
            records += [_record(summary, engine.schema.task) for summary in engine.summaries(children)]
            below += children
        level, depth = below, depth + 1
    tree, order = build_tree(engine.schema, records)
    return ChaidGrowth(tree, tuple(nodes[number] for number in order), evaluator.bounds)


def _record(summary: Summary, task: Task) -> NodeRecord:
    if task is Task.REGRESSION:
        return NodeRecord(summary.weight, np.zeros(0), summary.mean, sse=summary.sse)
    return NodeRecord(summary.weight, summary.statistics, majority_class(summary.statistics))
