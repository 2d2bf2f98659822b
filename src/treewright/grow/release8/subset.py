"""Grouping the values of a nominal attribute, as C4.5 Release 8 does with ``-s``.

Vocabulary
----------
block
    A set of values that share a branch, with its total weight, its class weights and the information within it.
left-over set
    The values that do not occur at the node (weight up to 0.5); they become one more, last branch.
value
    Worth of a grouping against an average gain of 0.001, so that it needs a gain above 0.
excluded
    While few blocks are large, the largest block is kept out of merging.

Invariants
----------
Merging puts block q into p and moves the last block to place q: the order of the blocks decides the order of sums.
All that the search needs is a table of counts; it never sees a case.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from treewright.grow.release8.arithmetic import (
    EPSILON,
    NO_GAIN,
    information,
    information_of_columns,
    single,
)
from treewright.grow.release8.table import NodeTable, gain_of, info_of, split_score

SEARCH_MINIMUM = 1
"""The minimum number of cases while values are being grouped."""

OCCURS = 0.5
"""A value with more weight than this is a block of its own."""

PURE_SLACK = 0.1
"""A block whose other classes weigh no more than this counts as a single class."""

BETTER = 1e-5
"""By this much merging must improve the ratio."""

LEAST_AVERAGE = single(EPSILON)


@dataclass(frozen=True, slots=True)
class Grouping:
    """The branch of each declared value, with gain and information."""

    gain: float
    info: float
    branch_of: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """Gain, information and value of a list of blocks."""

    gain: float
    info: float
    value: float


@dataclass(frozen=True, slots=True)
class Block:
    """Some values, their weight together and by class, and the information within them."""

    values: tuple[int, ...]
    total: float
    row: tuple[float, ...]
    inside: float

    def merged(self, other: Block) -> Block:
        """Return this block with the values of another one added."""
        row = tuple(single(mine + its) for mine, its in zip(self.row, other.row, strict=True))
        return Block(self.values + other.values, single(self.total + other.total), row, information(row))

    def class_if_single(self) -> int | None:
        """Return the class that all of the block belongs to, None if there are several."""
        main = next((c for c, count in enumerate(self.row) if count >= PURE_SLACK), None)
        return main if main is not None and self.is_of(main) else None

    def is_of(self, code: int) -> bool:
        """Whether other classes weigh next to nothing."""
        return self.row[code] >= self.total - PURE_SLACK


class Blocks:
    """A list of blocks of values, merged step by step."""

    def __init__(self, table: NodeTable, *, by_ratio: bool) -> None:
        self.table = table
        self.by_ratio = by_ratio
        self.blocks = [
            Block((value,), total, tuple(row), information(row))
            for value, (total, row) in enumerate(zip(table.totals, table.rows, strict=True))
            if total > OCCURS
        ]

    def __len__(self) -> int:
        return len(self.blocks)

    @property
    def totals(self) -> list[float]:
        """Weight of each block."""
        return [block.total for block in self.blocks]

    @property
    def insides(self) -> list[float]:
        """Information within each block."""
        return [block.inside for block in self.blocks]

    def merge(self, into: int, other: int) -> None:
        """Put one block into another, and the last block in its place."""
        self.blocks[into] = self.blocks[into].merged(self.blocks[other])
        self.blocks[other] = self.blocks[-1]
        self.blocks.pop()

    def score(self) -> Score:
        """Score the blocks as they are."""
        return scored(self.table, self.totals, self.insides, by_ratio=self.by_ratio)

    def merge_single_classes(self) -> bool:
        """Merge the blocks that hold one and the same class, and say whether there were any."""
        before = len(self)
        p = 0
        while p < len(self) - 1:
            main = self.blocks[p].class_if_single()
            q = p + 1
            while main is not None and q < len(self):
                if self.blocks[q].is_of(main):
                    self.merge(p, q)  # what is now at q has not been looked at
                else:
                    q += 1
            p += 1
        return len(self) < before

    def largest(self) -> int:
        """Return the place of the largest block, the first of equals."""
        totals = self.totals
        return totals.index(max(totals))

    def branch_of(self) -> tuple[int, ...]:
        """Return the branch of each declared value, the left-over set being the last branch."""
        branches = [len(self)] * len(self.table.totals)
        for branch, block in enumerate(self.blocks):
            for value in block.values:
                branches[value] = branch
        return tuple(branches)

    def scores_after_merging(self, pairs: npt.NDArray[np.intp]) -> list[Score]:
        """Return the score after merging each pair (rows of p, q); the blocks stay as they are."""
        into, other = pairs[:, 0], pairs[:, 1]
        last = len(self) - 1
        totals = np.array(self.totals, dtype=np.float32)
        rows = np.array([block.row for block in self.blocks], dtype=np.float32).T
        # column j of `home` says which block is at place j after merging
        home = np.broadcast_to(np.arange(last), (len(pairs), last)).copy()
        moved = other < last
        home[moved, other[moved]] = last
        each = np.arange(len(pairs))
        merged_totals = totals[home]
        merged_totals[each, into] = totals[into] + totals[other]
        merged_insides = np.array(self.insides, dtype=np.float32)[home]
        merged_insides[each, into] = information_of_columns(rows[:, into] + rows[:, other])

        table = self.table
        left = np.add.accumulate(merged_insides, axis=1)[:, -1]
        known_share = np.float32(single(1.0 - table.unknown_rate))
        gains = known_share * (np.float32(table.base) - left / np.float32(table.known))
        gains[np.count_nonzero(merged_totals >= SEARCH_MINIMUM, axis=1) < 2] = NO_GAIN
        unknown = np.full((1, len(pairs)), table.unknown, dtype=np.float32)
        infos = information_of_columns(np.vstack((unknown, merged_totals.T))) / np.float32(table.weight)
        return [
            Score(gain, info, split_score(gain, info, LEAST_AVERAGE, by_ratio=self.by_ratio))
            for gain, info in zip(gains.tolist(), infos.tolist(), strict=True)
        ]


def scored(table: NodeTable, totals: list[float], inside: list[float], *, by_ratio: bool) -> Score:
    """Score branches with these totals and this information within each."""
    gain = gain_of(table, totals, inside, SEARCH_MINIMUM)
    info = info_of(table, totals)
    return Score(gain, info, split_score(gain, info, LEAST_AVERAGE, by_ratio=by_ratio))


def grouping(table: NodeTable, minimum: int, *, by_ratio: bool) -> Grouping | None:
    """Return the best grouping found, None if no grouping has a positive value.

    Parameters
    ----------
    table : NodeTable
        Counts at the node; some weight must be known.
    minimum : int
        m; it decides which blocks are large and whether the result is admissible. Within the search 1 takes its place.
    by_ratio : bool
        Gain ratio, or gain; by gain, merging goes on until there are two blocks.
    """
    score = scored(table, table.totals, [information(row) for row in table.rows], by_ratio=by_ratio)
    blocks = Blocks(table, by_ratio=by_ratio)
    if blocks.merge_single_classes():
        score = blocks.score()
    lowest_gain = single(score.gain / 2)
    while len(blocks) > 2:
        large = sum(total >= minimum for total in blocks.totals)
        forced = not by_ratio or large < 2
        excluded = blocks.largest() if large < 3 else None
        found = _best_pair(blocks, lowest_gain, excluded=excluded, forced=forced)
        if found is None or (not forced and found[1].value < score.value + BETTER):
            break
        pair, score = found
        blocks.merge(*pair)
    if score.value <= 0:
        return None
    gain = gain_of(table, blocks.totals, blocks.insides, minimum)
    return Grouping(gain, score.info, blocks.branch_of())


def _best_pair(
    blocks: Blocks, lowest_gain: float, *, excluded: int | None, forced: bool
) -> tuple[tuple[int, int], Score] | None:
    """Return the pair to merge and the score after it; the last of equals wins."""
    free = np.array([place for place in range(len(blocks)) if place != excluded], dtype=np.intp)
    first, second = np.triu_indices(len(free), 1)
    pairs = np.column_stack((free[first], free[second]))
    best = Score(NO_GAIN, 0.0, 0.0)
    found: int | None = None
    for index, score in enumerate(blocks.scores_after_merging(pairs)):
        enough_at_last = score.gain >= lowest_gain > best.gain
        if enough_at_last or score.value >= best.value or (found is None and forced):
            best, found = score, index
    if found is None:
        return None
    p, q = pairs[found].tolist()
    return (p, q), best
