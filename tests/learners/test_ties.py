"""Scores that differ by rounding only are equal, and the first of them wins."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from treewright.learners.criteria import first_of_ties


@given(st.lists(st.floats(0, 1), min_size=1))
def test_the_first_of_ties_is_no_worse_than_the_best_but_for_rounding(scores: list[float]) -> None:
    index = first_of_ties(np.array(scores))
    assert scores[index] >= max(scores) * (1 - 1e-9)
    assert all(score < max(scores) * (1 - 1e-9) for score in scores[:index])
