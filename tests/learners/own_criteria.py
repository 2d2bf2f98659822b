"""Criteria as a user may write them, good ones and bad ones; in a module, so that other processes can import them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def hellinger(table: Any) -> float:
    """Distance between how the first and the second class fall into the branches."""
    first, second = table[:, 0].sum(), table[:, 1].sum()
    if first == 0 or second == 0:
        return 0.0
    total = 0.0
    for branch in range(len(table)):
        total += (math.sqrt(table[branch, 0] / first) - math.sqrt(table[branch, 1] / second)) ** 2
    return math.sqrt(total)


def gain_by_hand(table: Any) -> float:
    """Information gain in nats, of any number of classes, with NumPy's own sums and logarithms."""
    n = table.sum()
    before, after = 0.0, 0.0
    for column in range(table.shape[1]):
        share = table[:, column].sum() / n
        if share > 0:
            before -= share * np.log(share)
    for branch in range(table.shape[0]):
        weight = table[branch].sum()
        for column in range(table.shape[1]):
            if table[branch, column] > 0:
                after -= table[branch, column] / n * np.log(table[branch, column] / weight)
    return before - after


def without_a_number_at_times(table: Any) -> float:
    """Not a number where the first branch lacks the first class."""
    return 1.0 - table[1, 0] / table[0, 0]  # type: ignore[no-any-return]


def always_none(table: Any) -> float:
    """No test is good enough."""
    return -float(table.shape[0])


def changes_its_table(table: Any) -> float:
    """What it must not do."""
    table[0, 0] = 1.0
    return 1.0


def returns_text(table: Any) -> Any:
    """What is no number."""
    return "high"


def returns_nothing_at_times(table: Any) -> Any:
    """None is no number either."""
    if table[0, 0] > 0:
        return None
    return 1.0


def returns_a_row(table: Any) -> Any:
    """More than one number."""
    return table[0]


def fails(table: Any) -> float:
    """Divides whole numbers by zero."""
    return 1 // int(table[0, 0] * 0)


def of_two(left: Any, right: Any) -> float:
    """Too many arguments."""
    return float(left.sum() - right.sum())


def uncompilable(table: Any) -> float:
    """Something that Numba does not know."""
    return float(len(str(table.tolist())))


def calls_uncompilable(table: Any) -> float:
    """Calls what cannot be compiled."""
    return uncompilable(table)
