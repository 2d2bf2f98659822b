"""Score multiway tests, one branch per category, at a large node from its histogram."""

from __future__ import annotations

import numpy as np

from treewright.counts.compiled.flags import Array, Number, internal, kernel
from treewright.grow.candidates import SHORT
from treewright.grow.compiled.arithmetic import branch_information, score_of_table, weight_of
from treewright.grow.compiled.bins import cases_of
from treewright.grow.compiled.options import HIGHEST


@kernel
def score_multiway(
    counts: Array, cases: Array, starts: Array, attributes: Array, opt: Array, table: Array, scores: Array
) -> None:
    """Score tests with one branch for each category.

    Parameters
    ----------
    counts, cases, starts, attributes, opt, table : array
        As in `bins.score_borders`.
    scores : array, attributes x 2
        Output: the score, -inf where there is no valid test, and the split information.
    """
    o = opt[0]
    whole = np.empty(counts.shape[1])
    for one in range(len(attributes)):
        first, end = starts[attributes[one]], starts[attributes[one] + 1]
        own, own_cases = counts[first:end], cases[first:end]
        scores[one, 0] = -np.inf
        scores[one, 1] = 0.0
        if _is_test(own, own_cases, o["criterion"], o["min_branch"] * SHORT, o["min_leaf"]):
            n_values = end - first - 1
            score = score_of_table(own[1:], n_values, o["criterion"], table, whole)
            unknown = 0.0
            if cases_of(own, own_cases, 0) > 0:
                unknown = weight_of(own[0], o["criterion"])
                known = 0.0
                for value in range(1, n_values + 1):
                    known += weight_of(own[value], o["criterion"])
                score *= known / (known + unknown)
            scores[one, 0] = score
            if o["choice"] != HIGHEST:
                scores[one, 1] = branch_information(own[1:], n_values, unknown, table)


@internal
def _is_test(counts: Array, cases: Array, criterion: Number, least: Number, min_leaf: Number) -> bool:
    """Return True if two categories occur, and two branches have enough cases."""
    outcomes = enough = 0
    for code in range(1, len(counts)):
        here = cases_of(counts, cases, code)
        outcomes += here > 0
        enough += here >= min_leaf and weight_of(counts[code], criterion) >= least
    return outcomes >= 2 and enough >= 2
