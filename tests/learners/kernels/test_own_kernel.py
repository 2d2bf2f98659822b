"""The loop over many tables, compiled and as plain Python."""

from __future__ import annotations

import numpy as np

from learners.own_criteria import gain_by_hand, hellinger
from treewright.learners.criteria import own_criterion
from treewright.learners.kernels.score import compiled_scan


def test_a_scan_scores_every_table_as_the_plain_function_does() -> None:
    rng = np.random.default_rng(1)
    for function, classes in ((hellinger, 2), (gain_by_hand, 4)):
        left, right = (rng.integers(1, 50, (40, classes)).astype(np.float64) for _ in range(2))
        plain = [function(np.stack(sides)) for sides in zip(left, right, strict=True)]
        assert np.allclose(compiled_scan(function.__name__, function)(left, right), plain, rtol=1e-12)


def test_a_scan_is_compiled_once_for_each_function() -> None:
    assert compiled_scan("hellinger", hellinger) is compiled_scan("hellinger", hellinger)


def test_the_plain_function_has_the_last_word_on_the_best() -> None:
    rng = np.random.default_rng(2)
    left, right = (rng.integers(0, 9, (60, 2)) for _ in range(2))
    own = own_criterion(hellinger)
    by_scan = type(own)(own.name, own.function, compiled_scan(own.name, hellinger)).of_cuts(left, right)
    plain = own.of_cuts(left, right)
    assert np.flatnonzero(by_scan >= by_scan.max()).tolist() == np.flatnonzero(plain >= plain.max()).tolist()
    assert by_scan.max() == plain.max()
