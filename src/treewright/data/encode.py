"""Encoding a raw table with a schema into a `Dataset`.

There are two policies for a value that is not a category of the schema. In training it is an error (`Unseen.ERROR`). In
prediction it counts as missing, and one warning gives the number of such values (`Unseen.MISSING`).
"""

from __future__ import annotations

import warnings
from enum import Enum, auto

import numpy as np
import numpy.typing as npt

from treewright.data.columns import (
    Codes,
    Floats,
    NumberCells,
    NumberColumn,
    OddCellError,
    RawTable,
    TextColumn,
    numbers_as_text,
)
from treewright.data.dataset import Dataset
from treewright.data.schema import Column, LabelType, Schema
from treewright.errors import DataError, DataWarning
from treewright.wording import did_you_mean, quoted_list

Markers = frozenset[str]


class Unseen(Enum):
    """Policy for a value that is not a category of the schema."""

    ERROR = auto()
    MISSING = auto()


def encode(raw: RawTable, schema: Schema, *, unseen: Unseen = Unseen.ERROR, with_target: bool = True) -> Dataset:
    """Encode the columns of the schema; other columns are ignored.

    Parameters
    ----------
    raw : RawTable
    schema : Schema
    unseen : Unseen
        Policy for unknown categories of the attributes.
    with_target : bool
        Whether to encode target and weight; new cases have none.

    Raises
    ------
    DataError
        With file, line and column of an invalid cell.
    """
    absent = [name for name in schema.attribute_names if name not in raw.columns]
    if absent:
        hints = did_you_mean(absent[0], raw.columns)
        missing = "the column" if len(absent) == 1 else "the columns"
        raise raw.error(f"without {missing} {quoted_list(absent)}{hints}; there are {quoted_list(raw.columns)}")
    unknown_counts: dict[str, int] = {}
    markers = frozenset(schema.missing_markers)
    columns = tuple(_encode_column(raw, attribute, markers, unseen, unknown_counts) for attribute in schema.attributes)
    if unknown_counts:
        counts = ", ".join(f"{count} in {name!r}" for name, count in unknown_counts.items())
        warnings.warn(f"values never seen while learning count as missing: {counts}", DataWarning, stacklevel=2)
    target = _target(raw, schema) if with_target and schema.target is not None else None
    weights = _weights(raw, schema) if with_target and schema.weight is not None else None
    return Dataset(schema, columns, raw.n_rows, target, weights, raw.source)


def _encode_column(
    raw: RawTable, column: Column, markers: Markers, unseen: Unseen, unknown_counts: dict[str, int]
) -> Codes | Floats:
    cells = raw.column(column.name)
    if column.is_numeric:
        return _numbers(raw, column.name, cells, markers)
    text = cells if isinstance(cells, TextColumn) else numbers_as_text(cells)
    codes = _category_codes(text, column)
    # A frame may still contain missing markers; a category is never a marker.
    is_value = np.array([value not in markers or value in column.values for value in text.values] + [False])
    unknown = (codes < 0) & is_value[text.codes]
    if unknown.any():
        if unseen is Unseen.MISSING:
            unknown_counts[column.name] = int(unknown.sum())
        else:
            row = int(np.argmax(unknown))
            raise _undeclared(raw, text, row, column)
    return codes


def _undeclared(raw: RawTable, text: TextColumn, row: int, column: Column) -> DataError:
    value = text.values[text.codes[row]]
    hint = did_you_mean(value, column.values)
    return raw.error(
        f"value {value!r} is not declared{hint}; declared are {quoted_list(column.values)}", row, column.name
    )


def _category_codes(text: TextColumn, column: Column) -> Codes:
    position = {value: code for code, value in enumerate(column.values)}
    if text.labels is LabelType.BOOLEAN:
        # A frame library may have converted TRUE and false to booleans; the schema spells them as in the file.
        position = {value.casefold(): code for value, code in position.items()} | position
        table = [position.get(value, position.get(value.casefold(), -1)) for value in text.values]
    else:
        table = [position.get(value, -1) for value in text.values]
    codes: Codes = np.array([*table, -1], dtype=np.int32)[text.codes]
    return codes


def _numbers(raw: RawTable, name: str, cells: NumberColumn | TextColumn, markers: Markers) -> Floats:
    """Return the numbers of a column; texts are parsed, because the schema declares them numeric."""
    if isinstance(cells, NumberColumn):
        return cells.values
    values = NumberCells(markers, required=True)
    try:
        values.add(cells.values)
    except OddCellError as odd:
        row = int(np.argmax(cells.codes == odd.index))
        raise raw.error(str(odd), row, name) from odd
    numbers: Floats = np.append(values.column().values, np.nan)[cells.codes]
    return numbers


def _target(raw: RawTable, schema: Schema) -> Codes | Floats:
    column = schema.target_column
    unknown_counts: dict[str, int] = {}
    codes = _encode_column(raw, column, frozenset(schema.missing_markers), Unseen.ERROR, unknown_counts)
    missing: npt.NDArray[np.bool_] = np.isnan(codes) if column.is_numeric else codes < 0
    if missing.any():
        row = int(np.argmax(missing))
        others = int(missing.sum()) - 1
        more = f" (and in {others} more {'row' if others == 1 else 'rows'})" if others else ""
        raise raw.error(f"the target is missing here{more}", row, column.name)
    return codes


def _weights(raw: RawTable, schema: Schema) -> Floats:
    name = schema.weight or ""
    weights = _numbers(raw, name, raw.column(name), frozenset(schema.missing_markers))
    bad = ~(weights >= 0)
    if bad.any():
        row = int(np.argmax(bad))
        raise raw.error("a weight must be a number of at least 0", row, name)
    return weights
