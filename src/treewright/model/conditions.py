"""Conditions of rules: tests of one attribute that a case satisfies or not.

``=`` and ``in`` are for nominal and ordinal attributes, ``<=`` and ``>`` for numeric ones. A missing value fails every
condition.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from treewright._base.errors import ParameterError
from treewright._base.printable import printable
from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Schema

Mask = npt.NDArray[np.bool_]

BATCH = 65_536
"""Cases classified per batch, which bounds the memory for the masks of the conditions."""

CACHE_BYTES = 2**28
"""Memory for cached masks of conditions; the least recently used ones are recomputed when needed."""


class Op(StrEnum):
    """The operator of a condition."""

    EQUALS = "="
    AT_MOST = "<="
    ABOVE = ">"
    IN = "in"


NUMERIC_OPS = frozenset({Op.AT_MOST, Op.ABOVE})


@dataclass(frozen=True, slots=True)
class Condition:
    """One test of one attribute; made by the constructors below.

    Parameters
    ----------
    attribute : int
        Index among the attributes of the schema.
    op : Op
    cut : float or None
        For ``<=`` and ``>``.
    values : tuple of int
        Codes of categories, ascending: one for ``=``, any number for ``in``.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> weather = sample("play-tennis")
    >>> overcast = Condition.equals(0, 1)
    >>> overcast.describe(weather.schema), int(overcast.matches(weather).sum())
    ('Outlook = Overcast', 4)
    """

    attribute: int
    op: Op
    cut: float | None = None
    values: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.attribute < 0:
            raise ParameterError(f"attribute index {self.attribute} is negative")
        if (self.cut is not None) != (self.op in NUMERIC_OPS):
            raise ParameterError("'<=' and '>' have a cut, '=' and 'in' have none")
        if self.cut is not None and not math.isfinite(self.cut):
            raise ParameterError(f"cut {self.cut} is not finite")
        if bool(self.values) == (self.op in NUMERIC_OPS):
            raise ParameterError("'=' and 'in' have values, '<=' and '>' have none")
        if self.op is Op.EQUALS and len(self.values) != 1:
            raise ParameterError(f"'=' has one value, not {len(self.values)}")
        if any(value < 0 for value in self.values) or sorted(set(self.values)) != list(self.values):
            raise ParameterError("the codes of values must be non-negative, ascending and unique")

    @classmethod
    def equals(cls, attribute: int, value: int) -> Condition:
        """``attribute = value``."""
        return cls(attribute, Op.EQUALS, values=(int(value),))

    @classmethod
    def one_of(cls, attribute: int, values: Iterable[int]) -> Condition:
        """``attribute in {values}``."""
        return cls(attribute, Op.IN, values=tuple(sorted({int(value) for value in values})))

    @classmethod
    def at_most(cls, attribute: int, cut: float) -> Condition:
        """``attribute <= cut``."""
        return cls(attribute, Op.AT_MOST, cut=float(cut))

    @classmethod
    def above(cls, attribute: int, cut: float) -> Condition:
        """``attribute > cut``."""
        return cls(attribute, Op.ABOVE, cut=float(cut))

    def matches(self, cases: Dataset) -> Mask:
        """Return which cases satisfy the condition; a missing value does not."""
        column = cases.columns[self.attribute]
        if self.cut is not None:
            # A comparison with NaN, which marks a missing number, is false in both directions.
            return column <= self.cut if self.op is Op.AT_MOST else column > self.cut
        passes = np.zeros(len(cases.schema.attributes[self.attribute].values) + 1, dtype=np.bool_)
        passes[list(self.values)] = True
        return passes[column]  # the missing code -1 reads the last entry, which stays false

    def describe(self, schema: Schema) -> str:
        """Return the condition as readable text."""
        column = schema.attributes[self.attribute]
        return f"{printable(column.name)} {self.op} {self._operand(column)}"

    def _operand(self, column: Column) -> str:
        if self.cut is not None:
            return repr(self.cut).removesuffix(
                ".0"
            )  # the shortest exact decimal: the printed test equals the stored one
        names = [printable(column.values[value]) for value in self.values]
        return names[0] if self.op is Op.EQUALS else "{" + ", ".join(names) + "}"

    def check(self, schema: Schema) -> None:
        """Raise `ParameterError` unless the schema has such an attribute and such values."""
        if self.attribute >= len(schema.attributes):
            raise ParameterError(f"there is no attribute {self.attribute}; there are {len(schema.attributes)}")
        column = schema.attributes[self.attribute]
        if column.is_numeric != (self.op in NUMERIC_OPS):
            raise ParameterError(f"{column.kind} attribute {column.name!r} cannot be tested by {str(self.op)!r}")
        if self.values and self.values[-1] >= len(column.values):
            raise ParameterError(f"{column.name!r} declares {len(column.values)} values, no value {self.values[-1]}")


class ConditionMasks:
    """A bounded cache of the cases that satisfy each condition."""

    def __init__(self, cases: Dataset) -> None:
        self.cases = cases
        self._masks: dict[Condition, Mask] = {}
        self._capacity = max(64, CACHE_BYTES // max(1, cases.n_rows))

    def __getitem__(self, condition: Condition) -> Mask:
        mask = self._masks.pop(condition, None)
        if mask is None:
            mask = condition.matches(self.cases)
            mask.setflags(write=False)
        self._masks[condition] = mask  # moved to the end of the dictionary, so the first is the least recently used
        if len(self._masks) > self._capacity:
            del self._masks[next(iter(self._masks))]
        return mask

    def all_of(self, conditions: Iterable[Condition]) -> Mask:
        """Return which cases satisfy all the conditions (without conditions: every case)."""
        passes = np.ones(self.cases.n_rows, dtype=np.bool_)
        for condition in conditions:
            passes &= self[condition]
        return passes
