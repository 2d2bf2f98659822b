"""Dask frames before they are counted: files, schema, kinds of columns, distinct numbers.

What has to be known of a frame before it is counted: kinds of columns, different numbers, whole weights. Two passes at
most: one that sees what a column holds (none if the schema is given), one that sees its numbers (none if there are
neither numbers nor weights). Partitions tell what they saw, and these tales are put together in a tree.

Dask frames: their files, their names, and the schema that is proposed for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.counting.dask.partitions import Cases, Coding, Layout, holds_texts, partition_told, raw_partition
from treewright.counting.dask.passes import computed, in_a_tree, told
from treewright.counting.engine import Summary
from treewright.counting.numpy import LARGEST_TARGET
from treewright.counting.row_sampling import require_unique
from treewright.data.columns import NumberColumn, RawTable, TextColumn, text_column
from treewright.data.frames import raw_table
from treewright.data.infer import CLASS_LIMIT, Overrides, infer_schema
from treewright.data.schema import LabelType, Schema, Task
from treewright.data.table_address import Table, files_of
from treewright.errors import DataError
from treewright.lazy_import import import_extra
from treewright.wording import unknown_name

FEW_NUMBERS = 20_000
"""Up to so many different numbers are remembered one by one."""

POINTS = 4_096
"""Numbers from which quantiles are taken."""

BINS = 256
"""Bins of a column with many different numbers."""

MOST_VALUES = 1_000_000
"""A nominal column with more values is refused: all of them would go into the model."""

Floats = npt.NDArray[np.float64]


# -- what columns hold -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Seen:
    """The different cells of a column.

    Parameters
    ----------
    cells : NumberColumn or TextColumn
        Without repetitions.
    many : bool
        Whether there were more numbers than are of interest.
    """

    cells: NumberColumn | TextColumn
    many: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether all cells are missing."""
        numbers = isinstance(self.cells, NumberColumn)
        return not self.many and not (len(self.cells.values) if numbers else self.cells.values)

    def column(self) -> NumberColumn | TextColumn:
        """Return what a reader would hand over, as far as inference looks at it."""
        # All that inference asks of many numbers is whether they are few and whole.
        return NumberColumn(np.array([0.5, 1.5])) if self.many else self.cells


@dataclass(frozen=True)
class Sight:
    """What was seen of a frame, or of a part of it."""

    n_rows: int
    columns: Mapping[str, Seen]


def seen_part(frame: Any, layout: Layout, few: int, number: int) -> Sight:
    """Look at a partition; more than `few` different numbers are not remembered."""
    with partition_told(number):
        raw = raw_partition(frame, layout)
    columns: dict[str, Seen] = {}
    for name, cells in raw.columns.items():
        if isinstance(cells, NumberColumn):
            columns[name] = _few_numbers(np.unique(cells.values[~np.isnan(cells.values)]), few)
        else:
            columns[name] = Seen(replace(cells, codes=np.arange(len(cells.values), dtype=np.int32)))
    return Sight(raw.n_rows, columns)


def _few_numbers(distinct: Floats, few: int) -> Seen:
    many = len(distinct) > few
    return Seen(NumberColumn(distinct[:0] if many else distinct), many)


def add_sights(sights: Sequence[Sight], few: int, source: str | None) -> Sight:
    """Put together what was seen of several partitions."""
    columns = {
        name: _together([sight.columns[name] for sight in sights], name, few, source) for name in sights[0].columns
    }
    return Sight(sum(sight.n_rows for sight in sights), columns)


def _together(parts: Sequence[Seen], name: str, few: int, source: str | None) -> Seen:
    told = [part for part in parts if not part.is_empty]
    if not told:
        return next((part for part in parts if isinstance(part.cells, NumberColumn)), parts[0])
    numbers = [part for part in told if isinstance(part.cells, NumberColumn)]
    if numbers and len(numbers) < len(told):
        raise DataError("some partitions have numbers and others texts", source=source, column=name)
    if numbers:
        if any(part.many for part in numbers):
            return Seen(NumberColumn(np.zeros(0)), many=True)
        return _few_numbers(np.unique(np.concatenate([part.cells.values for part in numbers])), few)
    texts = [part.cells for part in told if isinstance(part.cells, TextColumn)]
    if all(text.values == texts[0].values for text in texts):
        values, declared = texts[0].values, texts[0].is_categorical and all(text.is_categorical for text in texts)
    else:
        values, declared = tuple(dict.fromkeys(value for text in texts for value in text.values)), False
    if len(values) > MOST_VALUES:
        raise DataError(f"there are {len(values):,} different values: leave the column out", source=source, column=name)
    labels = {text.labels for text in texts}
    if labels == {LabelType.INTEGER, LabelType.NUMBER}:
        labels = {LabelType.NUMBER}
    label = labels.pop() if len(labels) == 1 else LabelType.TEXT
    ordered = declared and texts[0].ordered
    return Seen(replace(text_column(values, label), is_categorical=declared, ordered=ordered))


# -- what numbers there are ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Numbers:
    """The numbers of an attribute.

    Parameters
    ----------
    distinct : array or None
        Ascending; None if there are many.
    points : array
        Some of them, at about equal ranks.
    """

    distinct: Floats | None
    points: Floats

    @property
    def edges(self) -> Floats:
        """Quantiles."""
        places = (np.arange(1, BINS) * len(self.points)) // BINS
        return np.unique(np.sort(self.points)[places]) if len(self.points) else np.zeros(0)


@dataclass(frozen=True)
class Facts:
    """What is known of the encoded cases.

    Parameters
    ----------
    n_rows : int
        Those of weight zero, too.
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
        Those of weight zero left out.
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


def facts_of(cases: Cases, few: int) -> Facts:
    """Look at the numbers of a partition."""
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
        return Facts(cases.n_rows, whole, numbers, missing, classes=counts, cases=data.n_rows)
    if data.n_rows == 0:
        return Facts(cases.n_rows, whole, numbers, missing, Summary(0.0, 0, np.zeros(3), pure=True))
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
    return Facts(cases.n_rows, whole, numbers, missing, summary, float(target.min()), float(target.max()))


def _thinned(ordered: Floats) -> Floats:
    return ordered if len(ordered) <= POINTS else ordered[(np.arange(POINTS) * len(ordered)) // POINTS]


def add_facts(facts: Sequence[Facts], few: int) -> Facts:
    """Put together what is known of several partitions."""
    numbers = {
        attribute: _all_numbers([one.numbers[attribute] for one in facts], few) for attribute in facts[0].numbers
    }
    missing = {attribute: sum(one.missing[attribute] for one in facts) for attribute in facts[0].missing}
    n_rows = sum(one.n_rows for one in facts)
    whole = all(one.whole_weights for one in facts)
    targets = [one.target for one in facts if one.target is not None]
    if not targets:
        classes = np.sum([one.classes for one in facts if one.classes is not None], axis=0)
        return Facts(n_rows, whole, numbers, missing, classes=classes, cases=sum(one.cases for one in facts))
    low, high = min(one.low for one in facts), max(one.high for one in facts)
    return Facts(n_rows, whole, numbers, missing, _joined(targets, low, high), low, high)


def _all_numbers(parts: Sequence[Numbers], few: int) -> Numbers:
    distinct: Floats | None = None
    known = [part.distinct for part in parts if part.distinct is not None]
    if len(known) == len(parts):
        distinct = np.unique(np.concatenate(known))
        distinct = distinct if len(distinct) <= few else None
    points = _thinned(np.sort(np.concatenate([part.points for part in parts])))
    return Numbers(distinct, points)


def _joined(parts: Sequence[Summary], low: float, high: float) -> Summary:
    """Describe the target of several partitions by what is known of each (Chan, Golub and LeVeque 1983)."""
    weight = sum(part.weight for part in parts)
    cases = sum(part.cases for part in parts)
    if cases == 0:
        return Summary(0.0, 0, np.zeros(3), pure=True)
    pure = low == high
    mean = low if pure else sum(part.weight * part.mean for part in parts) / weight
    sse = 0.0 if pure else sum(part.sse + part.weight * (part.mean - mean) ** 2 for part in parts)
    return Summary(weight, cases, np.array([weight, 0.0, sse]), pure, mean, sse)


def coding_of(schema: Schema, facts: Facts | None, coded_numbers: int) -> Coding:
    """Return how columns are coded: by each of their numbers if these are few, else by bins."""
    numbers, edges = {}, {}
    for attribute, known in ({} if facts is None else facts.numbers).items():
        if known.distinct is not None and len(known.distinct) <= coded_numbers:
            numbers[attribute] = known.distinct
        else:
            edges[attribute] = known.edges
    return Coding(schema, numbers, edges)


PARTITION_ROWS = 1_000_000
"""Row groups of Parquet files are read together up to so many rows."""


def frame_of(table: Table) -> Any:
    """Return the Dask frame of Parquet files."""
    frames = import_extra("dask.dataframe", "dask", "learn with Dask")
    files = files_of(table.path)
    if not files:
        raise DataError("there is no such file", source=table.source)
    if not all(path.endswith(".parquet") for path in files):
        raise DataError("Dask counts Parquet files here", source=table.source)
    pandas, parquet = (
        import_extra("pandas", "dask", "learn with Dask"),
        import_extra("pyarrow.parquet", "dask", "learn with Dask"),
    )
    arrow: Any = import_extra("pyarrow", "dask", "learn with Dask")
    pieces: list[tuple[str, tuple[int, ...]]] = []
    names: list[str] | None = None
    with told(table.source, arrow.ArrowException):
        for path in files:
            with parquet.ParquetFile(path) as file:
                names = file.schema_arrow.names if names is None else names
                if file.schema_arrow.names != names:
                    raise DataError(f"{path} has other columns than {files[0]}", source=table.source)
                pieces += [(path, groups) for groups in _portions(file.metadata)]
        nothing = parquet.read_schema(files[0]).empty_table()
    meta = nothing.to_pandas(types_mapper=pandas.ArrowDtype, ignore_metadata=True)
    return frames.from_map(_read_groups, pieces, meta=meta, label="treewright-parquet")


def _portions(metadata: Any) -> list[tuple[int, ...]]:
    """Divide the row groups of a file into partitions."""
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


def _read_groups(piece: tuple[str, tuple[int, ...]], columns: list[str] | None = None) -> Any:
    """Read some row groups; Arrow's types keep whole numbers whole where some are missing."""
    import pandas
    import pyarrow.parquet

    path, groups = piece
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
    """Propose the schema that reading the same frame into memory would propose, in one pass."""
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
        dask.delayed(seen_part)(part, used, few, number)
        for number, part in enumerate(frame[list(used.labels)].to_delayed())
    ]
    sight = computed(in_a_tree(partial, dask.delayed(add_sights), few, source), source)
    if sight.n_rows == 0:
        raise DataError("there are no rows to learn from", source=source)
    numeric = set(frame.select_dtypes("number").columns)
    columns = {
        # An ignored column is not looked at: its values, maybe a name for each row, are nobody's business.
        name: sight.columns[name].column()
        if name in sight.columns
        else (NumberColumn(np.zeros(0)) if label in numeric else text_column([]))
        for label, name in zip(layout.labels, layout.names, strict=True)
    }
    return infer_schema(RawTable(columns, sight.n_rows, source), target, overrides, nominal_limit=nominal_limit)


def keyed(frame: Any, layout: Layout, key: str, source: str | None) -> tuple[Any, int]:
    """Return the label of a key and the number of rows; raise unless it names every one of them. It takes one pass."""
    dask: Any = import_extra("dask", "dask", "learn with Dask")
    if key not in layout.names:
        raise DataError(unknown_name("column", key, layout.names), source=source)
    label = layout.labels[layout.names.index(key)]
    column = frame[label]
    if column.dtype.kind not in "iu" and not holds_texts(column):
        message = f"a key is a column of whole numbers or texts, and this one is {column.dtype}"
        raise DataError(message, source=source, column=key)
    with told(source):
        rows, known, different = (int(one) for one in dask.compute(column.size, column.count(), column.nunique()))
    require_unique(rows, known, different, key, source)
    return label, rows
