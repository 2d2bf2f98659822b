"""Columns of arrays and objects; more of them is tested with the tables they come in."""

from __future__ import annotations

import numpy as np
import pytest

from treewright.data import columns
from treewright.data.columns import has_infinity


@pytest.mark.parametrize("many", [1, 10**9], ids=["in threads", "at once"])
def test_infinity_is_found_wherever_it_is_and_missing_or_huge_numbers_are_none(
    many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columns, "MANY_CELLS", many)
    values = np.arange(30.0).reshape(10, 3)
    assert not has_infinity(values)
    assert not has_infinity(values[:0])
    values[4, 1] = np.nan
    assert not has_infinity(values)
    values[0] = values[9] = 1e308  # their sum is no longer finite
    assert not has_infinity(values)
    for cell in ((0, 0), (9, 2)):
        infinite = values.copy()
        infinite[cell] = -np.inf
        assert has_infinity(infinite)
        assert has_infinity(infinite.T)
    infinite[0, 0] = np.inf  # the sum of both is missing
    assert has_infinity(infinite)
