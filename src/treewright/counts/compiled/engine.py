"""The in-memory engine with compiled counting: the same tables, all attributes of a node in one pass.

It serves what the growing kernels leave to the interpreted grower (limits on leaves, grouped categories, constraints, a
user's own criterion) and the split traces of explanations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.counts.compiled.encoding import CodedColumn, code_table
from treewright.counts.compiled.histograms import count_cases, count_classes
from treewright.counts.memory import MemoryEngine
from treewright.counts.table import FrequencyTable
from treewright.data.dataset import Dataset

FEW_ROWS = 4096
"""Smaller nodes are counted by the interpreted engine: encoding a whole table would cost more than it saves."""

MOST_RANKS = 65_534
"""Numeric columns with more distinct values are counted by the interpreted engine."""


NO_CLASSES = np.zeros(0, dtype=np.int32)


class CompiledEngine(MemoryEngine):
    """Count large nodes by kernels and small nodes by NumPy.

    Parameters
    ----------
    dataset : Dataset
        With a target.
    fractional : bool
        Whether a case with a missing value is split into fractional cases.

    Examples
    --------
    >>> from treewright.data.samples import sample
    >>> engine = CompiledEngine(sample("play-tennis"))
    >>> [[outlook]] = engine.count([(engine.root(), [0])])
    >>> outlook.counts.tolist()
    [[2, 3], [4, 0], [3, 2]]
    """

    def __init__(self, dataset: Dataset, *, fractional: bool = False) -> None:
        super().__init__(dataset, fractional=fractional)
        self._coded: tuple[npt.NDArray[Any], tuple[CodedColumn, ...]] | None = None
        self._classes = NO_CLASSES  # the dtype that the growing kernels use: another one would compile the kernel again

    def count(self, requests: Sequence[tuple[int, Sequence[int]]]) -> list[list[FrequencyTable]]:
        """Count the tables of attributes at open nodes, one list per request in the order asked."""
        return [self._tables(node, attributes) for node, attributes in requests]

    def _tables(self, node: int, attributes: Sequence[int]) -> list[FrequencyTable]:
        cases = self._open[node]
        if self._regression or len(cases.rows) < FEW_ROWS:
            return [self._table(node, attribute) for attribute in attributes]
        if self._coded is None:
            columns = tuple(column[self._order] for column in self._dataset.columns)
            values = [len(column.values) for column in self.schema.attributes]
            self._coded = code_table(columns, values, MOST_RANKS, 1)
            self._classes = self._target.astype(np.int32)
        codes, planned = self._coded
        by_kernel = [
            attribute
            for attribute in attributes
            if not planned[attribute].is_binned and attribute not in self._intervals
        ]
        starts = np.zeros(len(planned) + 1, dtype=np.int64)
        for attribute in by_kernel:
            starts[attribute + 1 :] += planned[attribute].n_codes
        counts = np.zeros((int(starts[-1]), self._width))
        n_cases = np.zeros(int(starts[-1]), dtype=np.int64)
        rows = cases.rows.astype(np.int32)
        weights = self._weights_of(cases)
        case_weights = np.zeros(0) if weights is None else weights
        counted = np.array(by_kernel, dtype=np.int64)
        count_classes(codes, rows, self._classes, case_weights, counted, starts, counts)
        if weights is not None:
            count_cases(codes, rows, counted, starts, n_cases)
        else:
            n_cases = counts.sum(axis=1).astype(np.int64)
        whole = self._whole_or_not(counts, cases)
        tables = []
        for attribute in attributes:
            if attribute not in by_kernel:
                tables.append(self._table(node, attribute))
                continue
            part = slice(int(starts[attribute]), int(starts[attribute + 1]))
            tables.append(_as_table(whole[part], n_cases[part], planned[attribute].numbers))
        return tables


def _as_table(
    counts: npt.NDArray[Any], cases: npt.NDArray[np.int64], numbers: npt.NDArray[np.float64] | None
) -> FrequencyTable:
    if numbers is None:
        return FrequencyTable(counts[1:], counts[0], cases[1:], unknown_cases=int(cases[0]))
    kept = cases[1:] > 0
    return FrequencyTable(counts[1:][kept], counts[0], cases[1:][kept], numbers[kept], int(cases[0]))
