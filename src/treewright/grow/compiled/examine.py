"""Select the test of a node of a block: the best test of every attribute, and the choice among them.

A perfect test has only pure branches. None scores higher, so where the highest score decides, the attributes after it
are skipped; and its branches are leaves. Most nodes of a fully grown tree are small, and many of them have a perfect
test.
"""

from __future__ import annotations

import numpy as np

from treewright.counts.compiled.flags import Array, Number, internal
from treewright.grow.compiled.arithmetic import (
    ENTROPY,
    GINI,
    branch_information,
    decrease,
    first_tied,
    impurity,
    weight_of,
)
from treewright.grow.compiled.blocks import BestTests, Block, Buffers, CategoryBuffers, Rules
from treewright.grow.compiled.by_need import LazySortBuffers
from treewright.grow.compiled.cuts import evaluate_thresholds
from treewright.grow.compiled.declared import evaluate_categories
from treewright.grow.compiled.drawing import shuffle
from treewright.grow.compiled.multiway import HAS_MISSING, evaluate_multiway, supports_unit_counts
from treewright.grow.compiled.options import CUT, GAIN, HIGHEST, MISSING_LEARNED, MULTIWAY, NOT_TESTED, RATIO

EPSILON = 1e-3
"""C4.5's tolerance, as in `treewright.grow.choice`."""


@internal
def evaluate_attributes(
    n_free: Number,
    visits: Array,
    first: Number,
    size: Number,
    key: np.uint64,
    block: Block,
    rules: Rules,
    buffers: Buffers,
    found: BestTests,
    by_value: CategoryBuffers | None,
    cuts: Array | None,
    lazy_sort: LazySortBuffers | None,
) -> Number:
    """Find the best test of each free attribute, or of those that are sampled among them.

    Returns the score of a perfect test, infinite where it is not known to the last bit. After a perfect test no other
    attribute is evaluated.
    """
    opt = rules.opt[0]
    criterion = opt["criterion"]
    summary, free, order = buffers.summary, buffers.turn[0], buffers.turn[1]
    for a in range(len(found.state)):
        found.state[a] = -1
    limit = n_free
    if 0 < opt["n_sampled"] < n_free:
        shuffle(key, order, n_free)
        limit = opt["n_sampled"]
        insertion_sort(order, limit)
    else:
        for index in range(n_free):
            order[index] = index
    weight = weight_of(summary, criterion)
    by_ones = by_value is not None and supports_unit_counts(opt)
    before = impurity(summary, criterion, rules.table)
    # Integers are added without rounding, so the impurity of pure branches is exactly zero.
    is_exact = opt["choice"] == HIGHEST and opt["integer_weights"] == 1 and criterion in (GINI, ENTROPY)
    perfect = decrease(before, 0.0, weight, weight) if is_exact else np.inf
    considered = False
    # Invariant: the attributes before `index` have their best test in `found`; none of them has a perfect one.
    for index in range(n_free):
        if index >= limit and considered:
            break
        a = free[order[index]]
        if rules.tests[a] == NOT_TESTED:
            continue
        if by_value is not None and by_ones and rules.tests[a] == MULTIWAY:
            state = evaluate_multiway(a, visits, first, size, before, block, rules, found, by_value)
            if state != HAS_MISSING:
                found.state[a] = state
                considered = considered or state == 1
                if state == 1 and found.score[a] >= perfect:
                    break
                continue
        cut = rules.tests[a] == CUT
        n_missing = np.int64(-1)
        if cut:
            n_missing = evaluate_thresholds(
                a, first, size, summary, key, block, rules, buffers, found, cuts, visits, lazy_sort
            )
        elif by_value is not None:
            n_missing = evaluate_categories(a, visits, first, size, block, rules, buffers, found, by_value)
        if n_missing < 0:
            continue
        corrected = cut and opt["correction"]
        unknown = weight_of(buffers.unknown, criterion) if n_missing > 0 else 0.0
        if n_missing > 0 and opt["missing"] != MISSING_LEARNED and not corrected:
            found.score[a] *= (weight - unknown) / weight
        found.state[a] = 0 if corrected and found.score[a] <= 0 else 1
        considered = considered or found.state[a] == 1
        if opt["choice"] != HIGHEST:
            branches = rules.n_values[a] if rules.tests[a] == MULTIWAY else 2
            found.info[a] = branch_information(buffers.rows, branches, unknown, rules.table)
        if found.score[a] >= perfect:
            break
    return perfect


@internal
def insertion_sort(order: Array, n: Number) -> None:
    """Sort the first n entries by insertion."""
    # Invariant: the entries before `end` are sorted.
    for end in range(1, n):
        moved = order[end]
        at = end
        while at > 0 and order[at - 1] > moved:
            order[at] = order[at - 1]
            at -= 1
        order[at] = moved


@internal
def choose(found: BestTests, rules: Rules, scores: Array) -> Number:
    """Return the attribute that the choice rule selects, -1 if there is none."""
    choice = rules.opt[0]["choice"]
    n = len(found.state)
    average = np.inf
    if choice == RATIO:
        total = 0.0
        counted = 0
        for a in range(n):
            if found.state[a] == 1 and found.score[a] > -EPSILON and not rules.high_cardinality[a]:
                total += found.score[a]
                counted += 1
        if counted:
            average = total / counted
    for a in range(n):
        scores[a] = -np.inf
        if found.state[a] != 1:
            continue
        if choice == HIGHEST:
            scores[a] = found.score[a]
        elif found.score[a] > -EPSILON:
            if choice == GAIN:
                if found.info[a] > 0:
                    scores[a] = found.score[a]
            elif found.score[a] >= average - EPSILON and found.info[a] > EPSILON:
                scores[a] = found.score[a] / found.info[a]
    return first_tied(scores, n)
