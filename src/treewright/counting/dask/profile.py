"""Profile a Dask frame before it is counted: files, schema, kinds of columns, distinct numbers, integer weights.

At most two passes are made: one for the contents of the columns (none if the schema is given) and one for the
statistics of numeric columns and weights (none if there are neither). Profiles of partitions are merged in a tree of
tasks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.counting.dask.partitions import (
    Coding,
    EncodedPartition,
    Layout,
    holds_texts,
    partition_in_errors,
    raw_partition,
)
from treewright.counting.dask.passes import computed, engine_errors, tree_reduced
from treewright.counting.engine import Summary
from treewright.counting.numpy import LARGEST_TARGET
from treewright.counting.out_of_core import MAX_CATEGORIES, QUANTILE_BINS
from treewright.counting.row_sampling import require_unique
from treewright.data.columns import NumberColumn, RawTable, TextColumn, text_column
from treewright.data.frames import raw_table
from treewright.data.infer import CLASS_LIMIT, Overrides, infer_schema
from treewright.data.schema import LabelType, Schema, Task
from treewright.data.table_address import Table, files_of
from treewright.errors import DataError
from treewright.lazy_import import import_extra
from treewright.wording import unknown_name

POINTS = 4_096
"""Number of points from which quantiles are computed."""

Floats = npt.NDArray[np.float64]


# -- contents of columns ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DistinctCells:
    """The distinct cells of a column.

    Parameters
    ----------
    cells : NumberColumn or TextColumn
        Without duplicates.
    too_many : bool
        Whether there are more distinct numbers than are stored.
    """

    cells: NumberColumn | TextColumn
    too_many: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether all cells are missing."""
        numbers = isinstance(self.cells, NumberColumn)
        return not self.too_many and not (len(self.cells.values) if numbers else self.cells.values)

    def column(self) -> NumberColumn | TextColumn:
        """Return a column that inference treats like the complete one."""
        # Of numbers, inference uses only whether they are few and integers.
        return NumberColumn(np.array([0.5, 1.5])) if self.too_many else self.cells


@dataclass(frozen=True)
class FrameProfile:
    """The contents of a frame or of a partition."""

    n_rows: int
    columns: Mapping[str, DistinctCells]


def profile_part(frame: Any, layout: Layout, few: int, number: int) -> FrameProfile:
    """Profile a partition; of a column with more than `few` distinct numbers none is stored."""
    with partition_in_errors(number):
        raw = raw_partition(frame, layout)
    columns: dict[str, DistinctCells] = {}
    for name, cells in raw.columns.items():
        if isinstance(cells, NumberColumn):
            columns[name] = _few_numbers(np.unique(cells.values[~np.isnan(cells.values)]), few)
        else:
            columns[name] = DistinctCells(replace(cells, codes=np.arange(len(cells.values), dtype=np.int32)))
    return FrameProfile(raw.n_rows, columns)


def _few_numbers(distinct: Floats, few: int) -> DistinctCells:
    too_many = len(distinct) > few
    return DistinctCells(NumberColumn(distinct[:0] if too_many else distinct), too_many)


def merge_profiles(profiles: Sequence[FrameProfile], few: int, source: str | None) -> FrameProfile:
    """Merge the profiles of several partitions."""
    columns = {
        name: _merged_cells([profile.columns[name] for profile in profiles], name, few, source)
        for name in profiles[0].columns
    }
    return FrameProfile(sum(profile.n_rows for profile in profiles), columns)


def _merged_cells(parts: Sequence[DistinctCells], name: str, few: int, source: str | None) -> DistinctCells:
    non_empty = [part for part in parts if not part.is_empty]
    if not non_empty:
        return next((part for part in parts if isinstance(part.cells, NumberColumn)), parts[0])
    numbers = [part for part in non_empty if isinstance(part.cells, NumberColumn)]
    if numbers and len(numbers) < len(non_empty):
        raise DataError("some partitions contain numbers and others contain text", source=source, column=name)
    if numbers:
        if any(part.too_many for part in numbers):
            return DistinctCells(NumberColumn(np.zeros(0)), too_many=True)
        return _few_numbers(np.unique(np.concatenate([part.cells.values for part in numbers])), few)
    texts = [part.cells for part in non_empty if isinstance(part.cells, TextColumn)]
    if all(text.values == texts[0].values for text in texts):
        values, categorical = texts[0].values, texts[0].is_categorical and all(text.is_categorical for text in texts)
    else:
        values, categorical = tuple(dict.fromkeys(value for text in texts for value in text.values)), False
    if len(values) > MAX_CATEGORIES:
        raise DataError(f"{len(values):,} distinct values are too many: exclude the column", source=source, column=name)
    labels = {text.labels for text in texts}
    if labels == {LabelType.INTEGER, LabelType.NUMBER}:
        labels = {LabelType.NUMBER}
    label = labels.pop() if len(labels) == 1 else LabelType.TEXT
    ordered = categorical and texts[0].ordered
    return DistinctCells(replace(text_column(values, label), is_categorical=categorical, ordered=ordered))


# -- statistics of the cases -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Numbers:
    """The numbers of an attribute.

    Parameters
    ----------
    distinct : array or None
        The distinct numbers, ascending; None if there are many.
    points : array
        Some of the numbers, at about equally spaced ranks.
    """

    distinct: Floats | None
    points: Floats

    @property
    def edges(self) -> Floats:
        """Quantiles."""
        positions = (np.arange(1, QUANTILE_BINS) * len(self.points)) // QUANTILE_BINS
        return np.unique(np.sort(self.points)[positions]) if len(self.points) else np.zeros(0)


@dataclass(frozen=True)
class CaseStatistics:
    """Statistics of the encoded cases.

    Parameters
    ----------
    n_rows : int
        Including those of weight zero.
    whole_weights : bool
    numbers : dict of int to Numbers
    missing : dict of int to int
        Missing values of each attribute.
    target : Summary or None
        Of a numeric target.
    low, high : float
        Its extremes.
    classes : array or None
        Weight of each class.
    cases : int
        Excluding those of weight zero.
    """

    n_rows: int
    whole_weights: bool
    numbers: Mapping[int, Numbers]
    missing: Mapping[int, int]
    target: Summary | None = None
    low: float = np.inf
    high: float = -np.inf
    classes: Floats | None = None
    cases: int = 0


def statistics_of(cases: EncodedPartition, few: int) -> CaseStatistics:
    """Compute the statistics of a partition."""
    data = cases.dataset
    numbers: dict[int, Numbers] = {}
    missing: dict[int, int] = {}
    for attribute, column in enumerate(data.columns):
        if column.dtype.kind != "f":
            missing[attribute] = int(np.count_nonzero(column < 0))
            continue
        known: Floats = np.sort(column[~np.isnan(column)].astype(np.float64))
        distinct = np.unique(known)
        missing[attribute] = len(column) - len(known)
        numbers[attribute] = Numbers(distinct if len(distinct) <= few else None, _thinned(known))
    whole = data.weights is None or bool(np.all(data.weights == np.floor(data.weights)))
    if data.weights is not None and np.isinf(data.weights).any():
        raise DataError("a weight must be a number of at least 0", source=data.source, column=data.schema.weight)
    if data.schema.task is not Task.REGRESSION:
        codes = np.zeros(0, dtype=np.intp) if data.target is None else data.target.astype(np.intp)
        counts: Floats = np.bincount(codes, data.weights, len(data.schema.classes)).astype(np.float64)
        return CaseStatistics(cases.n_rows, whole, numbers, missing, classes=counts, cases=data.n_rows)
    if data.n_rows == 0:
        return CaseStatistics(cases.n_rows, whole, numbers, missing, Summary(0.0, 0, np.zeros(3), pure=True))
    target = np.zeros(0) if data.target is None else data.target.astype(np.float64)
    largest = float(np.abs(target).max())
    if largest > LARGEST_TARGET:
        message = f"{largest:g} is too large: sums of squares would overflow"
        raise DataError(message, source=data.source, column=data.schema.target)
    w = np.ones(len(target)) if data.weights is None else data.weights
    total = float(w.sum())
    mean = float((w * target).sum()) / total
    mean += float((w * (target - mean)).sum()) / total
    sse = float((w * (target - mean) ** 2).sum())
    summary = Summary(total, len(target), np.zeros(3), pure=False, mean=mean, sse=sse)
    return CaseStatistics(cases.n_rows, whole, numbers, missing, summary, float(target.min()), float(target.max()))


def _thinned(ordered: Floats) -> Floats:
    return ordered if len(ordered) <= POINTS else ordered[(np.arange(POINTS) * len(ordered)) // POINTS]


def merge_statistics(statistics: Sequence[CaseStatistics], few: int) -> CaseStatistics:
    """Merge the statistics of several partitions."""
    numbers = {
        attribute: _all_numbers([one.numbers[attribute] for one in statistics], few)
        for attribute in statistics[0].numbers
    }
    missing = {attribute: sum(one.missing[attribute] for one in statistics) for attribute in statistics[0].missing}
    n_rows = sum(one.n_rows for one in statistics)
    whole = all(one.whole_weights for one in statistics)
    targets = [one.target for one in statistics if one.target is not None]
    if not targets:
        classes = np.sum([one.classes for one in statistics if one.classes is not None], axis=0)
        return CaseStatistics(
            n_rows, whole, numbers, missing, classes=classes, cases=sum(one.cases for one in statistics)
        )
    low, high = min(one.low for one in statistics), max(one.high for one in statistics)
    return CaseStatistics(n_rows, whole, numbers, missing, _merged_summary(targets, low, high), low, high)


def _all_numbers(parts: Sequence[Numbers], few: int) -> Numbers:
    distinct: Floats | None = None
    known = [part.distinct for part in parts if part.distinct is not None]
    if len(known) == len(parts):
        distinct = np.unique(np.concatenate(known))
        distinct = distinct if len(distinct) <= few else None
    points = _thinned(np.sort(np.concatenate([part.points for part in parts])))
    return Numbers(distinct, points)


def _merged_summary(parts: Sequence[Summary], low: float, high: float) -> Summary:
    """Describe the target of several partitions by the summary of each (Chan, Golub and LeVeque 1983)."""
    weight = sum(part.weight for part in parts)
    cases = sum(part.cases for part in parts)
    if cases == 0:
        return Summary(0.0, 0, np.zeros(3), pure=True)
    pure = low == high
    mean = low if pure else sum(part.weight * part.mean for part in parts) / weight
    sse = 0.0 if pure else sum(part.sse + part.weight * (part.mean - mean) ** 2 for part in parts)
    return Summary(weight, cases, np.array([weight, 0.0, sse]), pure, mean, sse)


def coding_of(schema: Schema, statistics: CaseStatistics | None, coded_numbers: int) -> Coding:
    """Return the coding of the columns: a code for each number if these are few, else for each bin."""
    numbers, edges = {}, {}
    for attribute, known in ({} if statistics is None else statistics.numbers).items():
        if known.distinct is not None and len(known.distinct) <= coded_numbers:
            numbers[attribute] = known.distinct
        else:
            edges[attribute] = known.edges
    return Coding(schema, numbers, edges)


PARTITION_ROWS = 1_000_000
"""Row groups of Parquet files are read together up to this many rows."""


def frame_of(table: Table) -> Any:
    """Return the Dask frame of Parquet files."""
    frames = import_extra("dask.dataframe", "dask", "learn with Dask")
    files = files_of(table.path)
    if not files:
        raise DataError("there is no such file", source=table.source)
    if not all(path.endswith(".parquet") for path in files):
        raise DataError("Dask reads only Parquet files here", source=table.source)
    pandas, parquet = (
        import_extra("pandas", "dask", "learn with Dask"),
        import_extra("pyarrow.parquet", "dask", "learn with Dask"),
    )
    arrow: Any = import_extra("pyarrow", "dask", "learn with Dask")
    fragments: list[tuple[str, tuple[int, ...]]] = []
    names: list[str] | None = None
    with engine_errors(table.source, arrow.ArrowException):
        for path in files:
            with parquet.ParquetFile(path) as file:
                names = file.schema_arrow.names if names is None else names
                if file.schema_arrow.names != names:
                    raise DataError(f"the columns of {path} differ from those of {files[0]}", source=table.source)
                fragments += [(path, groups) for groups in _portions(file.metadata)]
        nothing = parquet.read_schema(files[0]).empty_table()
    meta = nothing.to_pandas(types_mapper=pandas.ArrowDtype, ignore_metadata=True)
    return frames.from_map(_read_groups, fragments, meta=meta, label="treewright-parquet")


def _portions(metadata: Any) -> list[tuple[int, ...]]:
    """Group the row groups of a file into partitions."""
    portions: list[tuple[int, ...]] = []
    rows = PARTITION_ROWS
    for group in range(metadata.num_row_groups):
        here = metadata.row_group(group).num_rows
        if rows + here > PARTITION_ROWS:
            portions.append(())
            rows = 0
        portions[-1] = (*portions[-1], group)
        rows += here
    return portions or [()]


def _read_groups(fragment: tuple[str, tuple[int, ...]], columns: list[str] | None = None) -> Any:
    """Read some row groups; with Arrow types integers stay integers even if some are missing."""
    import pandas
    import pyarrow.parquet

    path, groups = fragment
    with pyarrow.parquet.ParquetFile(path) as file:
        table = file.read_row_groups(groups, columns=columns)
    return table.to_pandas(types_mapper=pandas.ArrowDtype, ignore_metadata=True)


def layout_of(frame: Any, source: str | None) -> Layout:
    """Return the names of the columns of a frame."""
    labels = tuple(frame.columns)
    names = tuple(raw_table(frame._meta.iloc[:0]).columns)
    return Layout(labels, names, {}, source)


def inferred(
    frame: Any, target: str | None, overrides: Overrides | None, *, nominal_limit: int = 0, source: str | None = None
) -> Schema:
    """Infer, in one pass, the schema that reading the same frame into memory would infer."""
    dask: Any = import_extra("dask", "dask", "learn with Dask")
    chosen = overrides or Overrides()
    layout = layout_of(frame, source)
    for name in (target, chosen.weight, *chosen.kinds(target), *chosen.ignore):
        if name is not None and name not in layout.names:
            raise DataError(unknown_name("column", name, layout.names), source=source)
    used = layout.of([name for name in layout.names if name not in chosen.ignore])
    used = replace(used, kinds=chosen.kinds(target))
    few = max(CLASS_LIMIT, nominal_limit)
    partial = [
        dask.delayed(profile_part)(part, used, few, number)
        for number, part in enumerate(frame[list(used.labels)].to_delayed())
    ]
    profile = computed(tree_reduced(partial, dask.delayed(merge_profiles), few, source), source)
    if profile.n_rows == 0:
        raise DataError("there are no rows to learn from", source=source)
    numeric = set(frame.select_dtypes("number").columns)
    columns = {
        # An ignored column is not read: its values, maybe a name for each row, stay private.
        name: profile.columns[name].column()
        if name in profile.columns
        else (NumberColumn(np.zeros(0)) if label in numeric else text_column([]))
        for label, name in zip(layout.labels, layout.names, strict=True)
    }
    return infer_schema(RawTable(columns, profile.n_rows, source), target, overrides, nominal_limit=nominal_limit)


def row_id_label(frame: Any, layout: Layout, row_id: str, source: str | None) -> tuple[Any, int]:
    """Return the label of the column of row ids and the number of rows; raise unless ids are unique. Takes one pass."""
    dask: Any = import_extra("dask", "dask", "learn with Dask")
    if row_id not in layout.names:
        raise DataError(unknown_name("column", row_id, layout.names), source=source)
    label = layout.labels[layout.names.index(row_id)]
    column = frame[label]
    if column.dtype.kind not in "iu" and not holds_texts(column):
        message = f"the key must be a column of integers or texts, not of type {column.dtype}"
        raise DataError(message, source=source, column=row_id)
    with engine_errors(source):
        rows, known, different = (int(one) for one in dask.compute(column.size, column.count(), column.nunique()))
    require_unique(rows, known, different, row_id, source)
    return label, rows
