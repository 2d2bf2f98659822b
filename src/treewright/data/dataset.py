"""An encoded table: a schema and its columns as category codes or doubles.

Invariants: `columns` are in the order of ``schema.attributes``. A nominal or ordinal column holds category indices, -1
if missing; a numeric column holds doubles, NaN if missing. The target, if present, is never missing. Weights are finite
and non-negative. A dataset is never modified.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.data.columns import Codes, Floats
from treewright.data.schema import Column, LabelType, Schema
from treewright.errors import DataError
from treewright.wording import unknown_name

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
        return any(bool(missing_mask(column).any()) for column in self.columns)

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
