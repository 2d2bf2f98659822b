"""How the cases of a node are divided among its branches, a case without the value with a share of its weight.

Vocabulary
----------
spare
    The cases of a place divided among its branches, one branch after the other, and behind them those that stay.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from treewright.counts.compiled.flags import Array, Number, kernel
from treewright.grow.compiled.blocks import longer
from treewright.model.split import FRACTIONAL
from treewright.prune.compiled.grown import BRANCHES, MISSING, Grown, branch_of_case, class_of


class Cases(NamedTuple):
    """Cases and the weights that they have."""

    rows: Array
    weights: Array


class Desk(NamedTuple):
    """Room for dividing the cases of a place: each one's branch; of each branch known cases, weight, size and start."""

    branch: Array
    known: Array
    weight: Array
    size: Array
    at: Array
    counts: Array


@kernel
def roomy(cases: Cases, n: Number) -> Cases:
    """Return the cases with room for n in all."""
    if n <= len(cases.rows):
        return cases
    return Cases(longer(cases.rows, 2 * n), longer(cases.weights, 2 * n))


@kernel
def count(cases: Cases, first: Number, size: Number, grown: Grown, counts: Array) -> None:
    """Add up the weights of each class."""
    for k in range(len(counts)):
        counts[k] = 0.0
    for p in range(first, first + size):
        counts[class_of(grown, cases.rows[p])] += cases.weights[p]


@kernel
def divide(grown: Grown, node: Number, cases: Cases, first: Number, size: Number, spare: Cases, desk: Desk) -> Any:
    """Divide a stretch of cases among the branches of a node; return `spare` and whether a case was divided."""
    branches = grown.fields[node, BRANCHES]
    for branch in range(branches + 1):
        desk.known[branch] = 0
        desk.weight[branch] = 0.0
    lost = 0
    known = 0.0
    for p in range(size):
        branch = branch_of_case(grown, node, cases.rows[first + p])
        desk.branch[p] = branch
        if branch < 0:
            lost += 1
        else:
            desk.known[branch] += 1
            desk.weight[branch] += cases.weights[first + p]
            known += cases.weights[first + p]
    shared = 0 < lost < size and grown.fields[node, MISSING] == FRACTIONAL
    start = 0
    for branch in range(branches):
        desk.size[branch] = desk.known[branch] + (lost if shared and desk.known[branch] > 0 else 0)
        desk.at[branch] = start
        start += desk.size[branch]
    desk.size[branches] = 0 if shared else lost
    desk.at[branches] = start
    spare = roomy(spare, start + desk.size[branches])
    for p in range(size):
        row, weight, branch = cases.rows[first + p], cases.weights[first + p], desk.branch[p]
        if branch >= 0 or not shared:
            home = branch if branch >= 0 else branches
            spare.rows[desk.at[home]] = row
            spare.weights[desk.at[home]] = weight
            desk.at[home] += 1
            continue
        for home in range(branches):
            if desk.known[home] > 0:
                spare.rows[desk.at[home]] = row
                spare.weights[desk.at[home]] = weight * (desk.weight[home] / known)
                desk.at[home] += 1
    return spare, shared
