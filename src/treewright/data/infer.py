"""Inference of a schema from the data; the user can inspect, override and save it.

Text and booleans are nominal, numbers are numeric. A target of text, booleans or at most 20 distinct integers is a
class, else a number. Some learners (ID3, CHAID, CAL) request integer columns with few distinct values as nominal. The
column types that a format declares (ARFF, C4.5 names) are kept.

The categories of an inferred nominal column are in a fixed order (numbers by size, else texts by code point), never in
the order of the rows, so that a shuffled table gives the same tree.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from treewright.data.columns import NumberColumn, RawTable, TextColumn, numbers_as_text
from treewright.data.schema import MISSING_MARKERS, Column, Kind, Schema, Task, with_markers
from treewright.errors import ParameterError, SchemaError
from treewright.wording import quoted_list

CLASS_LIMIT = 20
"""A whole-number target with at most this many different values is a class."""

NOMINAL_LIMIT = 10
"""Learners without cuts take whole-number columns with at most this many different values as nominal."""


@dataclass(frozen=True)
class Overrides:
    """Corrections by the user to the inferred schema.

    Parameters
    ----------
    nominal, numeric, ignore : tuple of str
        Columns of that kind, or to be ignored.
    ordinal : dict of str to tuple of str
        Columns whose values, from low to high, are ordered.
    weight : str or None
        Column of case weights.
    task : Task or None
        Whether the target is a class or a number.
    missing : tuple of str
        Further texts that mean "missing".
    """

    nominal: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    ordinal: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ignore: tuple[str, ...] = ()
    weight: str | None = None
    task: Task | None = None
    missing: tuple[str, ...] = ()
    markers: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """All texts that mean "missing"."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "markers", with_markers(self.missing) if self.missing else MISSING_MARKERS)
        named = [*self.nominal, *self.numeric, *self.ordinal, *self.ignore]
        twice = sorted({name for name in named if named.count(name) > 1})
        if twice:
            raise ParameterError(f"given more than one kind: {quoted_list(twice)}")

    def kinds(self, target: str | None) -> dict[str, Kind]:
        """Return the kinds that a reader must know in advance."""
        kinds = dict.fromkeys(self.nominal, Kind.NOMINAL)
        kinds |= dict.fromkeys(self.numeric, Kind.NUMERIC)
        kinds |= dict.fromkeys(self.ordinal, Kind.ORDINAL)
        if self.weight is not None:
            kinds[self.weight] = Kind.NUMERIC
        if target is not None and self.task is not None:
            kinds[target] = Kind.NUMERIC if self.task is Task.REGRESSION else Kind.NOMINAL
        return kinds


def infer_schema(
    raw: RawTable,
    target: str | None = None,
    overrides: Overrides | None = None,
    *,
    nominal_limit: int = 0,
) -> Schema:
    """Propose a schema for a table.

    Parameters
    ----------
    raw : RawTable
    target : str or None
        The column to predict; None takes the one that the format declares, if any.
    overrides : Overrides or None
    nominal_limit : int
        Whole-number attributes with at most this many different values become nominal.

    Examples
    --------
    >>> from treewright.data.columns import RawTable, NumberColumn, text_column
    >>> raw = RawTable({"age": NumberColumn(np.array([31.0, 42.0])), "buys": text_column(["yes", "no"])}, 2)
    >>> [(c.name, str(c.kind), c.values) for c in infer_schema(raw, "buys").columns]
    [('age', 'numeric', ()), ('buys', 'nominal', ('no', 'yes'))]
    """
    chosen = overrides or Overrides()
    declared = raw.declared
    if target is None and declared is not None:
        target = declared.target
    kinds = chosen.kinds(target)
    for name in (target, chosen.weight, *kinds, *chosen.ignore):
        if name is not None:
            raw.column(name)
    columns = []
    for name, cells in raw.columns.items():
        limit = CLASS_LIMIT if name == target else nominal_limit if name != chosen.weight else 0
        given = None if declared is None else declared.column(name)
        if given is not None and name == target and given.is_numeric:
            limit = 0  # the format declares a number
        columns.append(_propose(raw, name, cells, kinds.get(name), given, chosen.ordinal.get(name), limit))
    ignored = [*chosen.ignore, *(name for name in (declared.ignored if declared is not None else ()) if name != target)]
    return Schema(
        tuple(columns),
        target=target,
        weight=chosen.weight,
        ignored=tuple(dict.fromkeys(ignored)),
        missing_markers=chosen.markers,
    )


def _propose(
    raw: RawTable,
    name: str,
    cells: NumberColumn | TextColumn,
    wanted: Kind | None,
    given: Column | None,
    order: tuple[str, ...] | None,
    limit: int,
) -> Column:
    if order is not None:
        return _ordinal(raw, name, cells, order)
    few = False
    if wanted is None and limit > 0 and isinstance(cells, NumberColumn):
        distinct = np.unique(cells.values[~np.isnan(cells.values)])
        few = 0 < len(distinct) <= limit and bool(np.all(distinct == np.floor(distinct)))
    keeps_type = given is not None and wanted in (None, given.kind) and (given.is_numeric or given.values)
    if given is not None and keeps_type and not (given.is_numeric and few):
        return given
    if wanted is Kind.NUMERIC:
        if isinstance(cells, TextColumn) and cells.values:
            raise SchemaError(f"has texts such as {cells.values[0]!r}, so it cannot be numeric", column=name)
        return Column(name, Kind.NUMERIC)
    if isinstance(cells, NumberColumn):
        if wanted is None and not few:
            return Column(name, Kind.NUMERIC)
        text = numbers_as_text(cells)
        return Column(name, Kind.NOMINAL, text.values, text.labels)
    values = cells.values if cells.is_categorical else in_fixed_order(cells.values)
    ordinal = cells.ordered and wanted is None
    return Column(name, Kind.ORDINAL if ordinal else Kind.NOMINAL, values, cells.labels)


def _ordinal(raw: RawTable, name: str, cells: NumberColumn | TextColumn, order: tuple[str, ...]) -> Column:
    text = cells if isinstance(cells, TextColumn) else numbers_as_text(cells)
    for code, value in enumerate(text.values):
        if value not in order:
            row = int(np.argmax(text.codes == code))
            raise raw.error(f"value {value!r} is not in the order given: {' < '.join(order)}", row, name)
    return Column(name, Kind.ORDINAL, order, text.labels)


def in_fixed_order(values: tuple[str, ...]) -> tuple[str, ...]:
    """Sort texts as numbers where all of them are, else by code point.

    Examples
    --------
    >>> in_fixed_order(("10", "9", "100")), in_fixed_order(("b", "10", "a"))
    (('9', '10', '100'), ('10', 'a', 'b'))
    """
    try:
        numbers = {value: float(value) for value in values}
    except ValueError:
        return tuple(sorted(values))
    if any(math.isnan(number) for number in numbers.values()):  # NaN cannot be ordered
        return tuple(sorted(values))
    return tuple(sorted(values, key=lambda value: (numbers[value], value)))
