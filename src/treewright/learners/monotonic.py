"""Monotonic constraints: the prediction may only increase, or only decrease, with an attribute.

Invariants
----------
A split on a constrained attribute orders its branches, and the midpoint between their values becomes a bound of both
spans; every node below stays within its span. So the predictions on the lower side are at most (or at least) those on
the higher side, in every subtree and after pruning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.counting.table import Counts
from treewright.data.schema import Kind, Schema
from treewright.errors import ParameterError
from treewright.wording import did_you_mean

Floats = npt.NDArray[np.float64]

Constraints = tuple[tuple[str | int, int], ...]
"""Pairs of an attribute (its name, or its index if every attribute is listed) and a sign."""


@dataclass(frozen=True)
class Span:
    """The interval of values that a node may predict.

    Parameters
    ----------
    low, high : float

    Examples
    --------
    >>> Span(0.0, 8.0).split(1, 2.0, 5.0)
    (Span(low=0.0, high=3.5), Span(low=3.5, high=8.0))
    """

    low: float = -inf
    high: float = inf

    def clipped(self, value: float) -> float:
        """Return the nearest value within the span."""
        return min(max(value, self.low), self.high)

    def split(self, sign: int, lower: float, higher: float) -> tuple[Span, Span]:
        """Return the spans of the lower and the higher branch of a constrained split, given their values."""
        middle = self.clipped(lower / 2 + higher / 2)
        below, above = Span(self.low, middle), Span(middle, self.high)
        return (below, above) if sign > 0 else (above, below)

    def admits(self, left: Floats, right: Floats, sign: int) -> npt.NDArray[np.bool_]:
        """Return a mask of candidate splits whose branch values are within the span and in the order of the sign."""
        fits: npt.NDArray[np.bool_] = (np.minimum(left, right) >= self.low) & (np.maximum(left, right) <= self.high)
        return fits & (sign * (right - left) >= 0) if sign else fits


UNBOUNDED = Span()
"""The span of a node without a constrained split above."""


def values_of(rows: Counts, *, classification: bool) -> Floats:
    """Return the value of each row of a table: share of the second class, or mean (of deviations).

    Examples
    --------
    >>> values_of(np.array([[1, 3], [2, 0]]), classification=True).tolist()
    [0.75, 0.0]
    """
    weight = (rows.sum(axis=1) if classification else rows[:, 0]).astype(np.float64)
    return np.divide(rows[:, 1], weight, out=np.zeros(len(rows)), where=weight > 0)


def constraints_from(given: Any) -> Constraints:
    """Read constraints given as dict by name, as sequence with one for each column, or None.

    Examples
    --------
    >>> constraints_from({"age": 1}), constraints_from([0, -1])
    ((('age', 1),), ((0, 0), (1, -1)))
    """
    if given is None:
        return ()
    if isinstance(given, str) or not isinstance(given, (Mapping, Sequence, np.ndarray)):
        raise ParameterError(f"monotonic must hold -1, 0 or 1 for each column, or by name, not {given!r:.80}")
    pairs = [(str(name), sign) for name, sign in given.items()] if isinstance(given, Mapping) else enumerate(given)
    read: list[tuple[str | int, int]] = []
    for name, sign in pairs:
        if isinstance(sign, (bool, np.bool_)) or sign not in (-1, 0, 1):
            raise ParameterError(f"monotonic must be -1 (falling), 0 or 1 (rising) for a column, not {sign!r}")
        read.append((name, int(sign)))
    return tuple(read)


def signs_for(constraints: Constraints, schema: Schema) -> dict[int, int]:
    """Return the sign of each constrained attribute, after checking the constraints against the schema."""
    signs: dict[int, int] = {}
    names = schema.attribute_names
    by_position = [name for name, _ in constraints if isinstance(name, int)]
    if by_position and by_position != list(range(len(names))):
        raise ParameterError(f"monotonic must hold {len(names)} numbers, one for each column, not {len(constraints)}")
    for name, sign in constraints:
        if isinstance(name, str) and name not in names:
            raise ParameterError(f"monotonic names {name!r}, which is no column{did_you_mean(name, names)}")
        attribute = name if isinstance(name, int) else names.index(name)
        if sign and schema.attributes[attribute].kind is Kind.NOMINAL:
            raise ParameterError(f"monotonic is for numeric and ordinal columns, and {names[attribute]!r} is nominal")
        if sign:
            signs[attribute] = sign
    if signs and len(schema.classes) > 2:
        raise ParameterError(f"monotonic is for numbers and for two classes, and {schema.target!r} has more classes")
    return signs
