"""Counts of a nominal attribute at a node of C4.5 Release 8, and what they say about a division.

Vocabulary
----------
gain, info
    Gain of information by a test and information of the division itself, both per case, as 32-bit floats.
worth
    What tests are compared by: gain ratio or gain.

Everything here sees weights of values and classes, never a case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treewright.grow.release8.arithmetic import EPSILON, NO_GAIN, Singles, information, log2, single


@dataclass(frozen=True, slots=True)
class NodeTable:
    """Weights of the values of a nominal attribute at a node, as Python floats.

    `rows` hold one list of class weights for each value, only the classes that occur; `totals` their sums; `base` is
    the information per known case before dividing.
    """

    rows: list[list[float]]
    totals: list[float]
    unknown: float
    known: float
    weight: float
    base: float

    @property
    def unknown_rate(self) -> float:
        """Share of the weight that is unknown."""
        return single(self.unknown / self.weight)


def node_table(table: Singles, weight: float) -> NodeTable:
    """Sum up the weights of values (rows; row 0 is unknown) and classes at a node of this weight.

    With no known weight, `base` is 0.
    """
    table = table[:, table.any(axis=0)]  # empty classes add nothing to any sum
    totals = np.add.accumulate(table, axis=1)[:, -1].tolist()
    unknown = totals[0]
    known = single(weight - unknown)
    base = 0.0
    if known > 0:
        per_class = np.add.accumulate(table[1:], axis=0)[-1].tolist()
        logs = 0.0
        for count in per_class:
            logs += count * log2(count)
        base = single((known * log2(known) - logs) / known)
    return NodeTable(table[1:].tolist(), totals[1:], unknown, known, weight, base)


def gain_of(table: NodeTable, totals: Sequence[float], informations: Sequence[float], minimum: int) -> float:
    """Return the gain of dividing into branches with these totals and this information within each."""
    if table.known == 0 or sum(total >= minimum for total in totals) < 2:
        return NO_GAIN
    left = 0.0
    for inside in informations:
        left = single(left + inside)
    return gain_from(table.base, left, table.known, table.unknown_rate)


def gain_from(base: float, left: float, known: float, unknown_rate: float) -> float:
    """Return the gain when `left` is the information that remains after dividing."""
    return single(single(1.0 - unknown_rate) * single(base - single(left / known)))


def info_of(table: NodeTable, totals: Sequence[float]) -> float:
    """Return the information of a division, the unknown cases being one more part."""
    return single(information([table.unknown, *totals]) / table.weight)


def split_score(gain: float, info: float, average: float, *, by_ratio: bool) -> float:
    """Return what a test with this gain and information is worth against the average gain."""
    if by_ratio:
        return single(gain / info) if gain >= average - EPSILON and info > EPSILON else NO_GAIN
    return gain if info > 0 and gain > -EPSILON else NO_GAIN
