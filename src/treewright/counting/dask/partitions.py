"""An encoded partition of a frame, with the columns that a worker needs to count and to route."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.counting.out_of_core import ROOT
from treewright.counting.row_sampling import hashes_of_integers, hashes_of_texts, sample_counts
from treewright.data.columns import NumberColumn, RawTable, TextColumn
from treewright.data.dataset import Dataset, encode
from treewright.data.frames import raw_table
from treewright.data.schema import Kind, LabelType, Schema
from treewright.errors import DataError
from treewright.tree.split import Split

Floats = npt.NDArray[np.float64]
Member = npt.NDArray[np.int32]
Steps = Mapping[int, tuple[Split, int]]
RowHashes = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]


@dataclass(frozen=True)
class Layout:
    """The labels of the columns of a frame, and their names in the schema.

    Parameters
    ----------
    labels : tuple
        As in the frame.
    names : tuple of str
    kinds : dict of str to Kind
        Kinds that are known before any cell is read.
    source : str or None
    """

    labels: tuple[Any, ...]
    names: tuple[str, ...]
    kinds: Mapping[str, Kind]
    source: str | None = None

    def of(self, names: Sequence[str]) -> Layout:
        """Return the layout of some of the columns."""
        labels = tuple(self.labels[self.names.index(name)] for name in names)
        return replace(self, labels=labels, names=tuple(names))


@dataclass(frozen=True)
class EncodedPartition:
    """The encoded cases of a partition without those of weight zero, its number of rows, and the hashes of its row ids.

    Hashes (`treewright.counting.row_sampling`) are None if rows are not sampled.
    """

    dataset: Dataset
    n_rows: int
    row_hashes: RowHashes | None = None


@dataclass(frozen=True)
class Coding:
    """The coding of columns, the same for all partitions.

    Parameters
    ----------
    schema : Schema
    numbers : dict of int to array
        The distinct numbers of columns with few of them, ascending.
    edges : dict of int to array
        Quantiles of binned columns; bin i holds the numbers above ``edges[i - 1]`` up to ``edges[i]``.
    """

    schema: Schema
    numbers: Mapping[int, Floats]
    edges: Mapping[int, Floats]

    def n_codes(self, attribute: int) -> int:
        """Return the number of codes of a column, including the code of missing values."""
        if attribute in self.numbers:
            return len(self.numbers[attribute]) + 1
        if attribute in self.edges:
            return len(self.edges[attribute]) + 2
        return len(self.schema.attributes[attribute].values) + 1

    @property
    def dtype(self) -> type[np.uint8] | type[np.uint16] | type[np.int32]:
        """The smallest type that holds all codes."""
        widest = max((self.n_codes(index) for index in range(len(self.schema.attributes))), default=1)
        return np.uint8 if widest <= 256 else np.uint16 if widest <= 65_536 else np.int32


@dataclass(frozen=True)
class CodedPartition:
    """A partition in the coding in which it is counted.

    Parameters
    ----------
    coding : Coding
    codes : array, attributes x cases
    numbers : dict of int to array
        Of the binned columns.
    target : array
    weights : array or None
    row_hashes : two arrays or None
        The hashes of the row ids.
    """

    coding: Coding
    codes: npt.NDArray[Any]
    numbers: Mapping[int, Floats]
    target: npt.NDArray[Any]
    weights: Floats | None
    row_hashes: RowHashes | None = None

    def __len__(self) -> int:
        return len(self.target)

    def column(self, attribute: int, rows: npt.NDArray[np.intp]) -> npt.NDArray[Any]:
        """Return the cells of some cases as they are in a dataset."""
        if attribute in self.numbers:
            return self.numbers[attribute][rows]
        codes: npt.NDArray[Any] = self.codes[attribute][rows]
        if attribute not in self.coding.numbers:
            return codes.astype(np.int32) - np.int32(1)
        cells: Floats = np.concatenate(([np.nan], self.coding.numbers[attribute]))[codes]
        return cells

    def taken(self, rows: npt.NDArray[np.intp], source: str | None) -> Dataset:
        """Return some cases as a dataset."""
        columns = tuple(self.column(attribute, rows) for attribute in range(len(self.codes)))
        weights = None if self.weights is None else self.weights[rows]
        return Dataset(self.coding.schema, columns, len(rows), self.target[rows], weights, source)


@contextmanager
def partition_in_errors(number: int) -> Iterator[None]:
    """Name the partition in the message of a data error."""
    try:
        yield
    except DataError as error:
        raise DataError(f"partition {number}: {error}") from None


def raw_partition(frame: Any, layout: Layout) -> RawTable:
    """Return a partition as a raw table; the library of the frame codes texts."""
    named = {name: frame[label] for label, name in zip(layout.labels, layout.names, strict=True)}
    columns: dict[str, NumberColumn | TextColumn] = {}
    others = {}
    for name, series in named.items():
        if holds_texts(series) and layout.kinds.get(name) is not Kind.NUMERIC:
            columns[name] = _coded_texts(series)
        else:
            others[name] = series
    if others:
        columns |= dict(raw_table(others, kinds=layout.kinds).columns)
    return RawTable({name: columns[name] for name in layout.names}, len(frame), layout.source)


def holds_texts(series: Any) -> bool:
    """Return True if the type of a column is a text type."""
    words = str(series.dtype)
    return words in ("str", "string", "large_string[pyarrow]") or words.startswith("string[")


def _coded_texts(series: Any) -> TextColumn:
    codes, values = series.factorize()
    return TextColumn(tuple(str(value) for value in values), codes.astype(np.int32), LabelType.TEXT)


def encoded(
    frame: Any, layout: Layout, schema: Schema, class_factors: Sequence[float] | None, number: int, row_id: Any = None
) -> EncodedPartition:
    """Encode a partition by the schema without the cases of weight zero; `row_id` is the label of the row ids."""
    with partition_in_errors(number):
        dataset = encode(raw_partition(frame, layout), schema)
    n_rows = dataset.n_rows
    if class_factors is not None and dataset.target is not None:
        factors = np.array(class_factors, dtype=np.float64)[dataset.target.astype(np.intp)]
        weights = factors if dataset.weights is None else dataset.weights * factors
        dataset = replace(dataset, weights=weights)
    row_hashes = None if row_id is None else _row_hashes(frame[row_id])
    if dataset.weights is not None and np.any(dataset.weights == 0):
        kept = dataset.weights > 0
        row_hashes = None if row_hashes is None else (row_hashes[0][kept], row_hashes[1][kept])
        dataset = dataset.take(kept)
    return EncodedPartition(dataset, n_rows, row_hashes)


def _row_hashes(row_ids: Any) -> RowHashes:
    return (
        hashes_of_integers(row_ids.to_numpy(np.int64))
        if row_ids.dtype.kind in "iu"
        else hashes_of_texts(map(str, row_ids))
    )


def coded(cases: EncodedPartition, coding: Coding) -> CodedPartition:
    """Code an encoded partition for counting."""
    dataset = cases.dataset
    codes = np.empty((len(dataset.columns), dataset.n_rows), dtype=coding.dtype)
    numbers: dict[int, Floats] = {}
    for attribute, column in enumerate(dataset.columns):
        if attribute in coding.numbers or attribute in coding.edges:
            borders = coding.numbers[attribute] if attribute in coding.numbers else coding.edges[attribute]
            codes[attribute] = np.where(np.isnan(column), 0, np.searchsorted(borders, column, side="left") + 1)
            if attribute in coding.edges:
                numbers[attribute] = column.astype(np.float64)
        else:
            codes[attribute] = column + 1
    target = np.zeros(0) if dataset.target is None else dataset.target
    return CodedPartition(coding, codes, numbers, target, dataset.weights, cases.row_hashes)


def bootstrap_sample(part: CodedPartition, seeds: tuple[int, int]) -> CodedPartition:
    """Return the bootstrap sample of a tree, with the weights of its cases."""
    counts = np.ones(len(part), dtype=np.int64) if part.row_hashes is None else sample_counts(part.row_hashes, seeds)
    kept = np.flatnonzero(counts)
    weights = counts[kept].astype(np.float64) * (1.0 if part.weights is None else part.weights[kept])
    chosen = {attribute: column[kept] for attribute, column in part.numbers.items()}
    return CodedPartition(part.coding, part.codes[:, kept], chosen, part.target[kept], weights)


def all_at(part: CodedPartition, path: int) -> Member:
    """Return the path of the root for each case."""
    return np.full(len(part), path, dtype=np.int32)


def routed(part: CodedPartition, member: Member | None, steps: Steps) -> Member:
    """Route cases by the splits at their paths; a case that no branch takes keeps its path.

    Parameters
    ----------
    part : CodedPartition
    member : array or None
    steps : dict of int to (Split, int)
        For each path that is split, the split and the path of its first branch; ancestors before descendants.
    """
    result = np.full(len(part), ROOT, dtype=np.int32) if member is None else member.copy()
    waiting = dict(steps)
    while waiting:
        # All paths whose cases have arrived, at once: cases are sorted by path once per level.
        below = {first + branch for split, first in waiting.values() for branch in range(split.n_branches)}
        ready = {path: step for path, step in waiting.items() if path not in below}
        order = np.argsort(result, kind="stable")
        at = result[order]
        for path, (split, first) in ready.items():
            rows = order[np.searchsorted(at, path) : np.searchsorted(at, path, side="right")]
            branches = split.route(part.column(split.attribute, rows))
            if split.missing >= 0:
                branches = np.where(branches < 0, split.missing, branches)
            taken = branches >= 0
            result[rows[taken]] = first + branches[taken]
            del waiting[path]
    return result
