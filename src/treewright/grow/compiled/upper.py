"""The upper part of a large tree: nodes too large for a block, counted by histograms and decided one by one.

Vocabulary
----------
upper node
    A node of more than `BLOCK` cases. Its attributes are counted in one pass; where a node is divided, all branches but
    the largest are counted, and that one is what remains of the parent's histogram.
lower node
    A node that fits into a block: a kernel grows its whole subtree, in a thread of the pool.

Attributes with a code for every value are examined by the same `Examiner` as in the interpreted grower; binned ones by
the kernels of `bins`, which come to the same decision.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.counts.compiled.encoding import CodedColumn
from treewright.counts.compiled.histograms import count_cases, count_classes, count_numbers, route_rows
from treewright.counts.table import FrequencyTable
from treewright.data.schema import Schema
from treewright.grow.candidates import SHORT, Candidate, Examiner, midpoint
from treewright.grow.choice import Chosen, choose
from treewright.grow.compiled.assembly import Piece, spliced
from treewright.grow.compiled.bins import SLACK, alive_bins, best_cut, bound_bins, collect_alive, numbers_beside
from treewright.grow.compiled.blocks import spread
from treewright.grow.compiled.options import NOT_TESTED
from treewright.grow.compiled.subtree import (
    ATTRIBUTE,
    BRANCHES,
    COUNTS_AT,
    HIGH,
    LOW,
    MEAN,
    MISSING,
    OUTCOME,
    PARENT,
    SIDES_AT,
    SSE,
    STOP,
    WEIGHT,
)
from treewright.grow.drawing import child_key, shuffled
from treewright.grow.grower import Progress
from treewright.grow.recipe import MissingPolicy, Recipe
from treewright.model.split import FRACTIONAL, KNOWN, Split, Test
from treewright.model.tree import STOPS, Stop
from treewright.model.working import Verdict

BLOCK = 8192
"""Nodes of at most so many cases are grown by one kernel."""

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int32]
NO_WEIGHTS: Floats = np.zeros(0)


@dataclass
class UpperNode:
    """An open node."""

    rows: Rows
    weights: Floats
    depth: int
    used: npt.NDArray[np.bool_]
    key: int
    parent: int
    outcome: int
    mean: float
    counts: Floats | None = None
    cases: npt.NDArray[np.int64] | None = None


@dataclass(frozen=True)
class Table:
    """The encoded table and the rules, as the upper part needs them.

    Parameters
    ----------
    schema : Schema
    recipe : Recipe
    codes : array, attributes x rows
    columns : tuple of array
        The numbers of binned attributes.
    coded : tuple of CodedColumn
    target : array
        Class codes, or numbers to predict.
    options, table : array
        For kernels.
    tests : array of int
    examiner : Examiner
    regression, whole : bool
    n_cases : int
    pool, helper : ThreadPoolExecutor or None
        For lower nodes, and for half of the counting.
    """

    schema: Schema
    recipe: Recipe
    codes: npt.NDArray[Any]
    columns: tuple[npt.NDArray[Any], ...]
    coded: tuple[CodedColumn, ...]
    target: npt.NDArray[Any]
    options: npt.NDArray[Any]
    table: Floats
    tests: npt.NDArray[np.int64]
    examiner: Examiner
    regression: bool
    whole: bool
    n_cases: int
    pool: ThreadPoolExecutor | None
    helper: ThreadPoolExecutor | None
    starts: npt.NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        sizes = [column.n_codes for column in self.coded]
        object.__setattr__(self, "starts", np.concatenate(([0], np.cumsum(sizes))).astype(np.int64))


@dataclass(frozen=True)
class Bounded:
    """A binned attribute at a node: scores of its borders, and what its bins can reach.

    Parameters
    ----------
    attribute : int
    counts, cases : array
        Of each code.
    learn : bool
        Whether the side of the missing cases is to be found, too.
    borders, bounds : array, 2 x codes
    best, scale, reach : float
        Best score of a border; the share of known cases, by which scores are multiplied; the most that any cut can
        score, so multiplied.
    """

    attribute: int
    counts: Floats
    cases: npt.NDArray[np.int64]
    learn: bool
    borders: Floats
    bounds: Floats
    best: float
    scale: float
    reach: float


class UpperPart:
    """Grows the upper nodes and hands the lower ones on.

    Parameters
    ----------
    table : Table
    finish : callable
        Grows the subtree of a lower node in a block.
    progress : callable or None
        Called with cases in finished subtrees and all cases.
    """

    def __init__(self, table: Table, finish: Callable[[UpperNode], Piece], progress: Progress | None = None) -> None:
        self._t = table
        self._finish = finish
        self._progress = progress
        self._done = 0
        self._width = int(table.options["width"][0])
        self._rows: list[dict[str, Any]] = []
        self._below: dict[int, Future[Piece] | Piece] = {}

    def grow(self, root: UpperNode) -> Piece:
        """Grow the whole tree."""
        waiting = [root]
        while waiting:
            waiting += reversed(self._visit(waiting.pop()))
        return spliced(self._piece(), self._finished())

    def _finished(self) -> dict[int, Piece]:
        futures = {future for future in self._below.values() if isinstance(future, Future)}
        while futures:  # in short waits, so that an interrupt gets through
            done, futures = wait(futures, timeout=0.2)
            for future in done:
                self._tell(int(future.result().doubles[0, WEIGHT]))
        return {node: piece.result() if isinstance(piece, Future) else piece for node, piece in self._below.items()}

    def _tell(self, cases: int) -> None:
        self._done += cases
        if self._progress is not None:
            self._progress(min(self._done, self._t.n_cases), self._t.n_cases)

    # -- one node ----------------------------------------------------------------------------------------------------

    def _visit(self, node: UpperNode) -> list[UpperNode]:
        number = len(self._rows)
        n = len(node.rows)
        if n <= BLOCK:
            self._rows.append({})
            self._rows[number] = self._empty_row(node)
            pool = self._t.pool
            self._below[number] = self._finish(node) if pool is None else pool.submit(self._finish, node)
            if pool is None:
                self._tell(n)
            return []
        summary, mean, sse, pure = self._summary(node)
        weight = float(summary[0]) if self._t.regression else float(summary.sum())
        row = self._empty_row(node)
        row.update(weight=weight, mean=mean, sse=sse, counts=summary)
        if not self._t.regression:
            row["outcome"] = int(np.argmax(summary >= summary.max() * (1 - 1e-12)))
        self._rows.append(row)
        stop = self._stop(node, n, weight, pure)
        if stop is not None:
            row["stop"] = STOPS.index(stop)
            self._tell(n)
            return []
        self._count(node, mean)
        chosen = self._choose(node, summary, mean)
        best = chosen.best
        if best is None or best.split is None:
            stop = Stop.NO_GAIN
        elif best.score * weight / float(self._t.options["total_weight"][0]) < float(
            self._t.options["min_decrease"][0]
        ):
            stop = Stop.SMALL_GAIN
        if stop is not None or best is None or best.split is None:
            row["stop"] = STOPS.index(stop or Stop.NO_GAIN)
            return []
        row["split"] = best.split
        return self._divide(number, node, best, int(row["outcome"]), mean)

    def _empty_row(self, node: UpperNode) -> dict[str, Any]:
        return {
            "parent": node.parent, "outcome": node.outcome, "weight": 0.0, "mean": node.mean, "sse": 0.0,
            "counts": np.zeros(self._width), "stop": -1, "split": None,
        }  # fmt: skip

    def _summary(self, node: UpperNode) -> tuple[Floats, float, float, bool]:
        t = self._t
        if not t.regression:
            weights = node.weights if len(node.weights) else None
            counts = np.bincount(t.target[node.rows], weights, self._width).astype(np.float64)
            return counts, 0.0, 0.0, int(np.count_nonzero(counts)) <= 1
        numbers = t.target[node.rows]
        w = node.weights if len(node.weights) else np.ones(len(numbers))
        total = float(w.sum())
        if numbers.min() == numbers.max():
            return np.array([total, 0.0, 0.0]), float(numbers[0]), 0.0, True
        mean = float((w * numbers).sum()) / total
        mean += float((w * (numbers - mean)).sum()) / total
        sse = float((w * (numbers - mean) ** 2).sum())
        return np.array([total, 0.0, sse]), mean, sse, False

    def _stop(self, node: UpperNode, n: int, weight: float, pure: bool) -> Stop | None:
        o = self._t.options[0]
        if pure:
            return Stop.PURE
        if 0 <= o["max_depth"] <= node.depth:
            return Stop.DEPTH
        if n < o["min_cases"] or n < 2 * o["min_leaf"] or weight < o["min_weight"] or weight < o["least_node"]:
            return Stop.TOO_FEW
        return Stop.NO_ATTRIBUTES if node.used.all() else None

    # -- counting ----------------------------------------------------------------------------------------------------

    def _count(self, node: UpperNode, mean: float) -> None:
        if node.counts is not None:
            return
        t = self._t
        places = int(t.starts[-1])
        node.counts = np.zeros((places, self._width))
        free = np.flatnonzero(~node.used)
        deviation = t.target[node.rows] - mean if t.regression else NO_WEIGHTS
        node.cases = None if self._unit(node) else np.zeros(places, dtype=np.int64)

        def one_part(attributes: npt.NDArray[np.intp]) -> None:
            if t.regression:
                count_numbers(t.codes, node.rows, deviation, node.weights, attributes, t.starts, node.counts)
            else:
                count_classes(t.codes, node.rows, t.target, node.weights, attributes, t.starts, node.counts)
            if node.cases is not None:
                count_cases(t.codes, node.rows, attributes, t.starts, node.cases)

        if t.helper is None or len(free) < 2 or len(node.rows) < 4 * BLOCK:
            one_part(free)
            return
        half = (len(free) + 1) // 2
        other = t.helper.submit(one_part, free[:half])
        one_part(free[half:])
        other.result()

    def _unit(self, node: UpperNode) -> bool:
        return len(node.weights) == 0 and not self._t.regression

    # -- deciding ----------------------------------------------------------------------------------------------------

    def _choose(self, node: UpperNode, summary: Floats, mean: float) -> Chosen:
        t = self._t
        free = np.flatnonzero(~node.used).tolist()
        draw = t.recipe.draw
        if draw is not None and draw.per_tree:
            found = self._candidates(node, [attribute for attribute in free if t.tests[attribute] != NOT_TESTED])
        elif draw is None or draw.attributes >= len(free):
            found = self._candidates(node, free)
        else:
            order = [free[place] for place in shuffled(node.key, len(free))]
            found = self._candidates(node, order[: draw.attributes])
            for attribute in order[draw.attributes :]:
                if any(one.verdict is Verdict.CONSIDERED for one in found.values()):
                    break
                found |= self._candidates(node, [attribute])
        nothing = Candidate(0, Verdict.NOT_DRAWN, np.zeros((0, self._width)), np.zeros(self._width))
        candidates = [found.get(attribute) or replace(nothing, attribute=attribute) for attribute in free]
        return choose(t.recipe.choice, candidates, t.schema, t.n_cases)

    def _candidates(self, node: UpperNode, attributes: list[int]) -> dict[int, Candidate]:
        """Return the candidates of attributes; binned ones that cannot win are left out.

        These are looked at in the order of what they can reach at most, until that is less than what was found.
        """
        t = self._t
        found = {a: self._coded(node, a) for a in attributes if not t.coded[a].is_binned}
        binned = [self._bounded(node, a) for a in attributes if t.coded[a].is_binned]
        scores = [one.score for one in found.values() if one.verdict is Verdict.CONSIDERED]
        best = max([*scores, *(one.best * one.scale for one in binned)], default=-np.inf)
        for one in sorted(binned, key=lambda one: (-one.reach, one.attribute)):
            if one.reach < best * SLACK:
                break
            candidate = self._binned(node, one, best / one.scale if one.scale > 0 else -np.inf)
            found[one.attribute] = candidate
            if candidate.verdict is Verdict.CONSIDERED:
                best = max(best, candidate.score)
        return found

    def _table_of(self, node: UpperNode, attribute: int) -> tuple[Floats, npt.NDArray[np.int64]]:
        """Return statistics and number of cases of each code of an attribute."""
        first, end = int(self._t.starts[attribute]), int(self._t.starts[attribute + 1])
        counts = node.counts[first:end] if node.counts is not None else np.zeros((1, 1))
        cases = counts.sum(axis=1).astype(np.int64) if node.cases is None else node.cases[first:end]
        return counts, cases

    def _coded(self, node: UpperNode, attribute: int) -> Candidate:
        """Return the candidate of an attribute with a code for every value."""
        t = self._t
        counts, cases = self._table_of(node, attribute)
        kept_counts = counts.astype(np.int64) if self._whole_here(node) else counts
        values = t.coded[attribute].numbers
        if values is None:
            table = FrequencyTable(kept_counts[1:], kept_counts[0], cases[1:], None, unknown_cases=int(cases[0]))
        else:
            kept = cases[1:] > 0
            table = FrequencyTable(
                kept_counts[1:][kept], kept_counts[0], cases[1:][kept], values[kept], unknown_cases=int(cases[0])
            )
        return t.examiner.examine(attribute, table, key=node.key)

    def _whole_here(self, node: UpperNode) -> bool:
        return not self._t.regression and (
            len(node.weights) == 0 or bool(np.all(node.weights == np.floor(node.weights)))
        )

    def _bounded(self, node: UpperNode, attribute: int) -> Bounded:
        """Score the borders of a binned attribute and bound what its bins can reach."""
        t = self._t
        counts, cases = self._table_of(node, attribute)
        learn = t.recipe.missing is MissingPolicy.LEARNED and bool(cases[0])
        borders, bounds = np.full((2, len(counts)), -np.inf), np.full((2, len(counts)), -np.inf)
        best = bound_bins(counts, cases, learn, t.options, t.table, borders, bounds)
        scale = 1.0
        if t.recipe.missing is not MissingPolicy.LEARNED and cases[0]:
            total = float(counts.sum())
            scale = (total - float(counts[0].sum())) / total
        reach = max(best, float(bounds.max())) * scale if scale > 0 else -np.inf
        return Bounded(attribute, counts, cases, learn, borders, bounds, best, scale, reach)

    def _binned(self, node: UpperNode, one: Bounded, known_best: float) -> Candidate:
        """Return the candidate of a binned attribute: look inside the bins that may still hold the best cut."""
        t = self._t
        attribute, counts, cases, learn = one.attribute, one.counts, one.cases, one.learn
        as_kept = np.int64 if self._whole_here(node) else np.float64
        unknown = counts[0].astype(as_kept)
        if not cases[1:].any():
            return Candidate(attribute, Verdict.ALL_MISSING, counts[:0].astype(as_kept), unknown)
        alive = np.zeros(len(counts), dtype=bool)
        alive_bins(one.borders, one.bounds, 2 if learn else 1, max(one.best, known_best), alive)
        room = int(cases[alive].sum())
        values, own_weights = np.empty(room), np.empty(room)
        classes, bins = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int32)
        column, codes = t.columns[attribute], t.codes[attribute]
        n = collect_alive(codes, column, node.rows, t.target, node.weights, alive, values, classes, own_weights, bins)
        order = np.argsort(values[:n], kind="stable")
        left = np.zeros(self._width)
        score, turn, code, low, high = best_cut(
            counts, cases, learn, one.borders, alive, order, values, classes, own_weights, bins, n, t.options, t.table,
            left,
        )  # fmt: skip
        if code == -1:
            present = column[node.rows]
            if not learn and np.nanmin(present) == np.nanmax(present):
                whole = counts[1:].sum(axis=0, keepdims=True).astype(as_kept)
                return Candidate(attribute, Verdict.ONE_VALUE, whole, unknown)
            return Candidate(attribute, Verdict.TOO_FEW, counts[:0].astype(as_kept), unknown)
        if code < 0:
            border = -code - 2
            later = np.flatnonzero(cases[border + 1 :])
            if len(later) and (np.isnan(low) or np.isnan(high)):
                low, high = numbers_beside(codes, column, node.rows, border, border + 1 + int(later[0]))
        cut = KNOWN if high == np.inf else midpoint(low, high)
        right = counts[1:].sum(axis=0) - left
        home = int(turn == 0) if learn else int(left.sum() < right.sum() * SHORT)
        if t.recipe.missing is MissingPolicy.FRACTIONAL:
            home = FRACTIONAL
        split = Split.threshold(attribute, cut, home)
        both = np.stack((left, right)).astype(as_kept)
        return Candidate(attribute, Verdict.CONSIDERED, both, unknown, split, float(score) * one.scale)

    # -- dividing ----------------------------------------------------------------------------------------------------

    def _divide(self, number: int, node: UpperNode, best: Candidate, outcome: int, mean: float) -> list[UpperNode]:
        t = self._t
        split = best.split
        assert split is not None  # noqa: S101 - a candidate that was chosen has a test
        a = split.attribute
        branches = np.empty(len(node.rows), dtype=np.int32)
        branch_of_code, inside, cut = self._branch_table(split)
        column = t.columns[a] if t.coded[a].is_binned else NO_WEIGHTS
        route_rows(t.codes[a], column, node.rows, branch_of_code, inside, cut, branches)
        if split.missing >= 0:
            branches[branches < 0] = split.missing
        used = node.used
        if t.recipe.once_per_path and split.test in {Test.NOMINAL, Test.INTERVALS}:
            used = used.copy()
            used[a] = True
        parts = self._parts(node, branches, split.n_branches)
        children = [
            UpperNode(rows, weights, node.depth + 1, used, child_key(node.key, branch), number, outcome, mean)
            for branch, (rows, weights) in enumerate(parts)
        ]
        self._inherit(node, children, mean)
        node.counts = node.cases = None
        return children

    def _branch_table(self, split: Split) -> tuple[npt.NDArray[np.int32], int, float]:
        """Return the branch of each code, the bin that a cut divides (-1: none) and the cut."""
        coded = self._t.coded[split.attribute]
        table = np.full(coded.n_codes, -1, dtype=np.int32)
        if split.cut is None:
            if split.test is Test.INTERVALS:
                table[1:] = np.arange(coded.n_codes - 1)
            else:
                table[1:] = split.branch_of
            return table, -1, 0.0
        if coded.numbers is not None:
            table[1:] = coded.numbers > split.cut
            return table, -1, 0.0
        borders = coded.borders if coded.borders is not None else NO_WEIGHTS
        inside = int(np.searchsorted(borders, split.cut, side="left")) + 1
        table[1:inside] = 0
        table[inside:] = 1
        return table, inside, float(split.cut)

    def _parts(self, node: UpperNode, branches: npt.NDArray[np.int32], n_branches: int) -> list[tuple[Rows, Floats]]:
        """Return the cases of each branch; a case without a branch goes to all that are not empty, in proportion."""
        lost = branches < 0
        weights = node.weights
        if not lost.any():
            sizes = np.bincount(branches, minlength=n_branches)
            starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
            order = np.arange(len(branches), dtype=np.int32)
            spread(order, 0, len(order), np.int64(0x7FFFFFFF), branches, starts, np.empty_like(order))
            ends = np.cumsum(sizes)
            rows = node.rows[order]
            sorted_weights = weights[order] if len(weights) else weights
            return [
                (rows[start:end], sorted_weights[start:end] if len(weights) else weights)
                for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
            ]
        own = weights if len(weights) else np.ones(len(branches))
        known = float(own[~lost].sum())
        parts = []
        for branch in range(n_branches):
            here = branches == branch
            if not here.any():
                parts.append((node.rows[here], own[here]))
                continue
            share = float(own[here].sum()) / known
            mask = here | lost
            parts.append((node.rows[mask], np.where(lost, own * share, own)[mask]))
        return parts

    def _inherit(self, node: UpperNode, children: list[UpperNode], mean: float) -> None:
        """Give the largest branch what remains of the histogram when the others are counted."""
        t = self._t
        large = [child for child in children if len(child.rows) > BLOCK]
        if t.regression or not t.whole or len(large) == 0 or node.counts is None:
            return
        if sum(len(child.rows) for child in children) != len(node.rows):
            return  # divided cases
        heir = max(large, key=lambda child: len(child.rows))
        rest = len(node.rows) - len(heir.rows)
        if rest >= len(heir.rows):
            return
        counts = node.counts
        cases = node.cases
        for child in children:
            if child is heir or len(child.rows) == 0:
                continue
            self._count(child, mean)
            if child.counts is not None:
                counts -= child.counts
            if cases is not None and child.cases is not None:
                cases -= child.cases
            if len(child.rows) <= BLOCK:
                child.counts = child.cases = None
        heir.counts, heir.cases = counts, cases

    # -- writing -----------------------------------------------------------------------------------------------------

    def _piece(self) -> Piece:
        n = len(self._rows)
        integers = np.full((n, 9), -1, dtype=np.int32)
        doubles = np.zeros((n, COUNTS_AT + self._width))
        low, high = np.full(n, np.nan), np.full(n, np.nan)
        sides: list[int] = []
        for number, row in enumerate(self._rows):
            integers[number, PARENT] = row["parent"]
            integers[number, OUTCOME] = row["outcome"]
            integers[number, STOP] = row["stop"]
            integers[number, BRANCHES] = 0
            doubles[number, WEIGHT], doubles[number, MEAN], doubles[number, SSE] = (
                row["weight"],
                row["mean"],
                row["sse"],
            )
            doubles[number, COUNTS_AT:] = row["counts"]
            split: Split | None = row["split"]
            if split is None:
                continue
            integers[number, ATTRIBUTE] = split.attribute
            integers[number, BRANCHES] = split.n_branches
            integers[number, MISSING] = split.missing
            if split.cut is not None:
                integers[number, LOW] = integers[number, HIGH] = 0
                low[number] = split.cut
                high[number] = np.inf if split.cut == KNOWN else split.cut
            elif split.test is Test.SUBSET:
                integers[number, SIDES_AT] = len(sides)
                sides += split.branch_of
        return Piece(integers, doubles, low, high, np.array(sides, dtype=np.int8))
