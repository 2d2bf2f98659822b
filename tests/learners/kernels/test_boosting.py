"""Rounds of boosting by kernels: to the last bit what NumPy does."""

from __future__ import annotations

import numpy as np
import pytest

from treewright.ensembles.adaboost import QuickTally, Tally


@pytest.mark.parametrize("classes", [2, 3, 20])
@pytest.mark.parametrize("seed", range(3))
def test_weights_errors_and_votes_are_those_of_the_plain_tally(classes: int, seed: int) -> None:
    rng = np.random.default_rng([classes, seed])
    n = 1_000
    target = rng.integers(0, classes, n).astype(np.int32)
    begin = np.ones(n) if seed == 0 else rng.random(n) * (rng.random(n) < 0.9)
    plain, quick = Tally(target, begin, classes), QuickTally(target, begin, classes)
    before = begin.copy()
    for turn in range(8):
        parent_outcome = np.where(rng.random(n) < 0.6, target, rng.integers(0, classes, n)).astype(np.intp)
        if turn % 2:
            assert quick.evaluate(parent_outcome) == plain.evaluate(parent_outcome)
        else:
            leaves = rng.integers(0, 9, n).astype(np.int32)
            of_leaves = rng.integers(0, classes, 9)
            assert quick.evaluate_leaves(of_leaves, leaves) == plain.evaluate_leaves(of_leaves, leaves)
        alpha = 1.0 if turn % 3 == 2 else float(rng.random())  # equal votes make ties
        plain.vote(alpha)
        quick.vote(alpha)
        if turn == 5:
            plain.reset()
            quick.reset()
        elif turn == 6:
            plain.move_midway()
            quick.move_midway()
        else:
            plain.multiply(alpha, classes)
            quick.multiply(alpha, classes)
        assert np.array_equal(quick.weights, plain.weights)
    assert quick.mistakes == plain.mistakes
    assert len(plain.mistakes) == 8
    assert np.array_equal(begin, before)
