"""An encoded table: a schema and its columns as category codes or doubles.

There are two policies for a value that is not a category of the schema. In training it is an error (`Unseen.ERROR`). In
prediction it counts as missing, and one warning gives the number of such values (`Unseen.MISSING`).

Invariants: `columns` are in the order of ``schema.attributes``. A nominal or ordinal column holds category indices, -1
if missing; a numeric column holds doubles, NaN if missing. The target, if present, is never missing. Weights are finite
and non-negative. A dataset is never modified.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import cached_property
from typing import Any

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
from treewright.data.schema import Column, LabelType, Schema
from treewright.errors import DataError, DataWarning
from treewright.wording import did_you_mean, quoted_list, unknown_name

RowIndex = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Dataset:
    """Encoded columns of one table.

    Parameters
    ----------
    schema : Schema
        The schema of the columns; it may name a target that these rows do not have (new cases).
    columns : tuple of array
        One per attribute of the schema.
    n_rows : int
    target : array or None
        Class codes or numbers.
    weights : array or None
        Case weights; None gives every case the weight one.
    source : str or None
        Name of the file, for messages and provenance.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> weather = sample("play-tennis")
    >>> len(weather), weather.schema.attribute_names, weather.y[:3].tolist()
    (14, ('Outlook', 'Temperature', 'Humidity', 'Wind'), ['No', 'No', 'Yes'])
    """

    schema: Schema
    columns: tuple[Codes | Floats, ...]
    n_rows: int
    target: Codes | Floats | None = None
    weights: Floats | None = None
    source: str | None = None

    def __len__(self) -> int:
        return self.n_rows

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of attributes."""
        return self.n_rows, len(self.columns)

    @property
    def ndim(self) -> int:
        """Two: a dataset is a table."""
        return 2

    @cached_property
    def has_missing(self) -> bool:
        """True if an attribute has a missing value."""
        if self.n_rows == 0:
            return False
        table = as_one_array(self.columns)
        parts = self.columns if table is None else (table,)
        return any(_has_missing(part) for part in parts)

    @cached_property
    def case_weights(self) -> Floats:
        """The case weights; 1 for each case if there are none."""
        return np.ones(self.n_rows) if self.weights is None else self.weights.astype(np.float64, copy=False)

    @property
    def X(self) -> Dataset:  # noqa: N802 - the field's own name
        """The attributes alone, with the schema; estimators accept it directly."""
        return replace(self, target=None, weights=None)

    @cached_property
    def y(self) -> npt.NDArray[Any]:
        """The target as it was before encoding: labels or numbers."""
        if self.target is None:
            raise DataError("these data have no target", source=self.source)
        column = self.schema.target_column
        return self.target if column.is_numeric else labels_of(column)[self.target]

    def column(self, name: str) -> npt.NDArray[Any]:
        """Return an attribute decoded: doubles, or an object array of texts with None for missing."""
        if name not in self.schema.attribute_names:
            raise DataError(unknown_name("attribute", name, self.schema.attribute_names), source=self.source)
        index = self.schema.attribute_names.index(name)
        attribute = self.schema.attributes[index]
        codes = self.columns[index]
        if attribute.is_numeric:
            return codes
        return np.array([*attribute.values, None], dtype=object)[codes]

    def take(self, rows: npt.NDArray[Any] | Sequence[int] | slice) -> Dataset:
        """Return the dataset of these rows (indices, mask or slice)."""
        columns = tuple(column[rows] for column in self.columns)
        index = np.arange(self.n_rows)[rows]
        return replace(
            self,
            columns=columns,
            n_rows=len(index),
            target=None if self.target is None else self.target[rows],
            weights=None if self.weights is None else self.weights[rows],
        )

    def __getitem__(self, key: Any) -> Any:
        """Column by name, rows by index array, mask or slice (what scikit-learn's splitters need)."""
        if isinstance(key, str):
            return self.column(key)
        if isinstance(key, tuple):
            rows, *rest = key
            if any(part is not Ellipsis and part != slice(None) for part in rest):
                raise TypeError("a dataset is indexed by rows, or by the name of a column")
            key = rows
        if isinstance(key, (int, np.integer)):
            key = [int(key)]
        return self.take(key)

    def to_pandas(self) -> Any:
        """Return the attributes and the target as a pandas DataFrame (needs pandas)."""
        from treewright.lazy_import import import_extra

        pandas = import_extra("pandas", "dev", "make a DataFrame")
        table = {name: self.column(name) for name in self.schema.attribute_names}
        if self.target is not None and self.schema.target is not None:
            table[self.schema.target] = self.y
        return pandas.DataFrame(table)


def as_one_array(columns: Sequence[Codes | Floats]) -> Floats | None:
    """Return columns of doubles as one array, rows x columns, if they are evenly spaced in memory.

    The columns of a row-major table are views of it. A pass over each reads all of its memory, a pass over the table
    reads it once.

    Examples
    --------
    >>> numbers = np.arange(6.0).reshape(3, 2)
    >>> as_one_array(tuple(numbers.T)).tolist()
    [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    >>> as_one_array((np.zeros(2), np.zeros(2, dtype=np.int32))) is None
    True
    """
    if not columns or not len(columns[0]):
        return None
    strides, n = columns[0].strides, len(columns[0])
    if not all(column.dtype == np.float64 and column.strides == strides for column in columns):
        return None
    addresses = [column.__array_interface__["data"][0] for column in columns]
    step = addresses[1] - addresses[0] if len(addresses) > 1 else columns[0].itemsize
    if step % columns[0].itemsize or addresses != [addresses[0] + step * at for at in range(len(columns))]:
        return None
    return np.lib.stride_tricks.as_strided(columns[0], (n, len(columns)), (*strides, step), writeable=False)


def _has_missing(values: Codes | Floats) -> bool:
    """Return True if one of at least one encoded values is missing."""
    with np.errstate(invalid="ignore"):
        return bool(np.isnan(values.max()) if values.dtype.kind == "f" else values.min() < 0)


def missing_mask(column: Codes | Floats) -> npt.NDArray[np.bool_]:
    """Return which values of an encoded column are missing: NaN, or a negative code.

    Examples
    --------
    >>> missing_mask(np.array([0.5, np.nan])).tolist(), missing_mask(np.array([0, -1], dtype=np.int32)).tolist()
    ([False, True], [False, True])
    """
    mask: npt.NDArray[np.bool_] = np.isnan(column) if column.dtype.kind == "f" else column < 0
    return mask


def labels_of(column: Column) -> npt.NDArray[Any]:
    """Return the values of a nominal column in the type they had before they became text.

    Examples
    --------
    >>> from treewright.data.schema import Kind
    >>> labels_of(Column("y", Kind.NOMINAL, ("0", "1"), LabelType.INTEGER)).tolist()
    [0, 1]
    """
    try:
        match column.labels:
            case LabelType.INTEGER:
                return np.array([int(value) for value in column.values], dtype=np.int64)
            case LabelType.NUMBER:
                return np.array([float(value) for value in column.values], dtype=np.float64)
            case LabelType.BOOLEAN:
                return np.array([_boolean(value) for value in column.values], dtype=np.bool_)
            case LabelType.TEXT:
                return np.array(column.values, dtype=object if not column.values else np.str_)
    except (ValueError, OverflowError) as error:
        raise DataError(f"the values are not {column.labels} labels: {error}", column=column.name) from error


def _boolean(value: str) -> bool:
    if value not in {"True", "False"}:
        raise ValueError(f"{value!r} is not 'True' or 'False'")
    return value == "True"


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
        warnings.warn(f"values never seen in training count as missing: {counts}", DataWarning, stacklevel=2)
    target = weights = None
    if with_target and schema.target is not None:
        target = _encode_column(raw, schema.target_column, markers, Unseen.ERROR, unknown_counts)
        missing_targets = missing_mask(target)
        if missing_targets.any():
            others = int(missing_targets.sum()) - 1
            more = f" (and in {others} more {'row' if others == 1 else 'rows'})" if others else ""
            raise raw.error(f"the target is missing here{more}", int(np.argmax(missing_targets)), schema.target)
    if with_target and schema.weight is not None:
        numbers = _encode_column(raw, schema.column(schema.weight), markers, Unseen.ERROR, unknown_counts)
        weights = numbers.astype(np.float64, copy=False)
        bad = ~(weights >= 0)
        if bad.any():
            raise raw.error("a weight must be a number of at least 0", int(np.argmax(bad)), schema.weight)
    return Dataset(schema, columns, raw.n_rows, target, weights, raw.source)


def _encode_column(
    raw: RawTable, column: Column, markers: frozenset[str], unseen: Unseen, unknown_counts: dict[str, int]
) -> Codes | Floats:
    cells = raw.column(column.name)
    if column.is_numeric:
        return cells.values if isinstance(cells, NumberColumn) else _parsed(raw, column.name, cells, markers)
    text = cells if isinstance(cells, TextColumn) else numbers_as_text(cells)
    position = {value: code for code, value in enumerate(column.values)}
    if text.labels is LabelType.BOOLEAN:
        # A frame library may have converted TRUE and false to booleans; the schema spells them as in the file.
        position = {value.casefold(): code for value, code in position.items()} | position
        table = [position.get(value, position.get(value.casefold(), -1)) for value in text.values]
    else:
        table = [position.get(value, -1) for value in text.values]
    codes: Codes = np.array([*table, -1], dtype=np.int32)[text.codes]
    # A frame may still contain missing markers; a category is never a marker.
    is_value = np.array([value not in markers or value in column.values for value in text.values] + [False])
    unknown = (codes < 0) & is_value[text.codes]
    if unknown.any() and unseen is Unseen.MISSING:
        unknown_counts[column.name] = int(unknown.sum())
    elif unknown.any():
        row = int(np.argmax(unknown))
        value = text.values[text.codes[row]]
        declared = f"{did_you_mean(value, column.values)}; declared are {quoted_list(column.values)}"
        raise raw.error(f"value {value!r} is not declared{declared}", row, column.name)
    return codes


def _parsed(raw: RawTable, name: str, cells: TextColumn, markers: frozenset[str]) -> Floats:
    """Return the numbers that texts mean, because the schema declares them numeric."""
    values = NumberCells(markers, required=True)
    try:
        values.add(cells.values)
    except OddCellError as odd:
        row = int(np.argmax(cells.codes == odd.index))
        raise raw.error(str(odd), row, name) from odd
    numbers: Floats = np.append(values.column().values, np.nan)[cells.codes]
    return numbers
