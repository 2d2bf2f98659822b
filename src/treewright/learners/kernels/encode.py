"""The encoded columns of a dataset for the kernels: each encoding is made once, on first use.

Trees over the same cases, in any number of threads, share them.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from treewright.arrays import Codes, Entries, Numbers, Order, Ranks
from treewright.counting.numba import CodedColumn, code_table, count_cases
from treewright.data.dataset import Dataset
from treewright.learners.criteria import LARGEST_TABLE
from treewright.learners.kernels.histogram_search import Ranked
from treewright.learners.kernels.refine import NO_ENTRIES, entries_of
from treewright.learners.kernels.score import fill_nlogn
from treewright.learners.kernels.sort import SortBuffers, new_sort_buffers, sort_columns

Floats = npt.NDArray[np.float64]

SORTED_AFTER_USES = 4
"""A whole column is sorted when nodes with all cases have refined it this many times."""

MOST_SORTED = 1 << 28
"""In larger tables no column is kept sorted: that takes half as much memory as the values."""

FEW_RANKS = 255
"""Numeric columns of at most this many distinct values are coded by rank."""


class ByRank(NamedTuple):
    """Values as their ranks in the whole column.

    Parameters
    ----------
    codes : array of int, numeric attributes x cases
        0 for missing.
    numbers : array, numeric attributes x codes
        The value of each code.
    greatest : array of int
        Greatest code of each attribute.
    """

    codes: Codes
    numbers: Numbers
    greatest: Ranks


class _Ranking:
    """The ranks of all numeric columns, computed by the threads that wait for them.

    The trees of a forest need the ranks at the same moment, each in its own thread: every thread ranks the next column
    that no other one has begun.
    """

    def __init__(self, dataset: Dataset) -> None:
        self._columns: list[npt.NDArray[Any]] = [column for column in dataset.columns if column.dtype.kind == "f"]
        self._n = dataset.n_rows
        shape = len(self._columns), self._n
        self._codes, self._greatest = np.empty(shape, dtype=np.int32), np.zeros(shape[0], dtype=np.int32)
        self._numbers = np.zeros((shape[0], self._n + 1))
        self._locks = [threading.Lock() for _ in self._columns]
        self._ranked = [False] * len(self._columns)
        self._finish = threading.Lock()
        self._result: ByRank | None = None

    def by_rank(self) -> ByRank:
        """Return the ranks, and compute those that are missing."""
        if self._result is None:
            # The second time, wait for the columns of other threads; one whose thread has failed is ranked here.
            for wait in (False, True):
                self._rank_columns(wait=wait)
            with self._finish:
                if self._result is None:
                    self._result = ByRank(self._codes, self._trimmed(), self._greatest)
        return self._result

    def _rank_columns(self, *, wait: bool) -> None:
        buffers = None
        for index, lock in enumerate(self._locks):
            if self._ranked[index] or not lock.acquire(blocking=wait):
                continue
            try:
                if not self._ranked[index]:
                    buffers = buffers or (np.empty((1, self._n), dtype=np.int64), new_sort_buffers(self._n))
                    self._rank(index, *buffers)
                    self._ranked[index] = True
            finally:
                lock.release()

    def _rank(self, index: int, order: Order, buffers: SortBuffers) -> None:
        values, numbers = self._columns[index].reshape(1, -1), self._numbers[index : index + 1]
        sort_columns(values, np.array([index]), self._n, 32, order, self._codes, numbers, buffers)
        self._greatest[index] = self._codes[index].max(initial=0)

    def _trimmed(self) -> Numbers:
        """Return the values without the codes that no column uses, if codes then fit into fewer bits.

        Else a copy would not pay: unused memory was never touched.
        """
        used = int(self._greatest.max(initial=0)) + 1
        fewer_bits = used.bit_length() < self._numbers.shape[1].bit_length()
        return self._numbers[:, :used].copy() if fewer_bits else self._numbers


class EncodedCases:
    """Codes, ranks and orders of the columns of one dataset.

    Parameters
    ----------
    dataset : Dataset
    n_jobs : int
        Threads that compute them.
    """

    def __init__(self, dataset: Dataset, n_jobs: int) -> None:
        self.dataset = dataset
        self.n_jobs = n_jobs
        self._lock = threading.Lock()
        self._encoded: tuple[Codes, tuple[CodedColumn, ...]] | None = None
        self._distinct: dict[int, Floats] = {}
        self._ranked: dict[int, Ranked] = {}
        self._cases: tuple[Codes, npt.NDArray[np.int64]] | None = None
        self._nominal: tuple[Codes, npt.NDArray[np.int64]] | None = None
        self._values: Codes | None = None
        self._ranking: _Ranking | None = None
        self._codes: Codes | None = None
        self._codes_by_case: Codes | None = None
        self._nlogn: Floats = np.zeros(2)
        self._entries: dict[int, Entries] = {}
        self._uses: dict[int, int] = {}

    def coded(self) -> tuple[Codes, tuple[CodedColumn, ...]]:
        """Return the codes of all columns; numeric columns of more than `FEW_RANKS` distinct values are binned."""
        with self._lock:
            if self._encoded is None:
                values = [len(column.values) for column in self.dataset.schema.attributes]
                self._encoded = code_table(self.dataset.columns, values, FEW_RANKS, self.n_jobs)
            return self._encoded

    def ranked(self, attributes: Sequence[int]) -> dict[int, Ranked]:
        """Return the ranks of the numbers of binned columns."""
        coded = self.coded()[1]
        with self._lock:
            wanted = [attribute for attribute in attributes if attribute not in self._ranked]
            with ThreadPoolExecutor(self.n_jobs) as pool:
                made = pool.map(lambda attribute: self._ranks_of(attribute, coded[attribute]), wanted)
                self._ranked |= dict(zip(wanted, made, strict=True))
            return {attribute: self._ranked[attribute] for attribute in attributes}

    def _ranks_of(self, attribute: int, coded: CodedColumn) -> Ranked:
        column = self.dataset.columns[attribute]
        known = np.flatnonzero(~np.isnan(column))
        numbers, ranks_of_known = np.unique(column[known] + 0.0, return_inverse=True)
        ranks = np.full(len(column), -1, dtype=np.int32)
        ranks[known] = ranks_of_known
        self._distinct[attribute] = numbers
        borders = coded.borders if coded.borders is not None else numbers[:0]
        ends = np.concatenate(([0], np.searchsorted(numbers, borders, side="right"), [len(numbers)]))
        return Ranked(ranks, numbers, ends.astype(np.int64))

    def cases_of(self, codes: Codes, coded: tuple[CodedColumn, ...]) -> npt.NDArray[np.int64]:
        """Return the number of rows of each code; counted once for trees that differ only in weights."""
        with self._lock:
            if self._cases is None or self._cases[0] is not codes:
                starts = np.concatenate(([0], np.cumsum([column.n_codes for column in coded]))).astype(np.int64)
                cases = np.zeros(int(starts[-1]), dtype=np.int64)
                rows = np.arange(codes.shape[1], dtype=np.int32)
                count_cases(codes, rows, np.arange(len(coded)), starts, cases)
                self._cases = codes, cases
            return self._cases[1]

    def entries(self, attribute: int) -> Entries:
        """Return the entries of all cases in the order of a binned attribute (see `refine`), empty the first few times.

        Trees that differ only in weights refine the same column again and again; for one tree sorting all of it costs
        too much.
        """
        with self._lock:
            if attribute not in self._entries:
                self._uses[attribute] = self._uses.get(attribute, 0) + 1
                cells = self.dataset.n_rows * len(self.dataset.columns)
                if self._uses[attribute] < SORTED_AFTER_USES or cells > MOST_SORTED:
                    return NO_ENTRIES
                column = np.ascontiguousarray(self.dataset.columns[attribute], dtype=np.float64)
                self._entries[attribute] = entries_of(column)
            return self._entries[attribute]

    @property
    def code_type(self) -> type[np.integer[Any]]:
        """The narrowest dtype for the codes of all categories and of missing values."""
        most = max((len(column.values) for column in self.dataset.schema.attributes), default=0)
        return np.uint8 if most < 255 else np.int32

    def nominal_codes(self) -> tuple[Codes, npt.NDArray[np.int64]]:
        """Return the codes of the nominal attributes, cases x attributes, and which these are.

        A block gathers cases from all over the table; in this layout the codes of a case are contiguous.
        """
        with self._lock:
            if self._nominal is None:
                data = self.dataset
                kept = [a for a, column in enumerate(data.schema.attributes) if not column.is_numeric]
                table = np.empty((data.n_rows, len(kept)), dtype=self.code_type)
                for index, attribute in enumerate(kept):
                    np.add(data.columns[attribute], 1, out=table[:, index], casting="unsafe")
                self._nominal = table, np.array(kept, dtype=np.int64)
            return self._nominal

    def nominal_codes_by_attribute(self) -> Codes:
        """Return the codes of the nominal attributes, attributes x cases."""
        with self._lock:
            if self._values is None:
                kept = [
                    column
                    for column, about in zip(self.dataset.columns, self.dataset.schema.attributes, strict=True)
                    if not about.is_numeric
                ]
                self._values = np.empty((len(kept), self.dataset.n_rows), dtype=self.code_type)
                for index, column in enumerate(kept):
                    np.add(column, 1, out=self._values[index], casting="unsafe")
            return self._values

    def by_rank(self) -> ByRank:
        """Return the ranks of the values of all cases; threads that ask for them at the same time share the columns."""
        with self._lock:
            if self._ranking is None:
                self._ranking = _Ranking(self.dataset)
        return self._ranking.by_rank()

    def codes_by_attribute(self) -> Codes:
        """Return the codes of all attributes, attributes x cases: ranks of numbers, categories from 1."""
        ranks = self.by_rank().codes
        attributes = self.dataset.schema.attributes
        if len(ranks) == len(attributes):
            return ranks
        with self._lock:
            if self._codes is None:
                self._codes = np.empty((len(attributes), self.dataset.n_rows), dtype=np.int32)
                slot = 0
                for a, column in enumerate(attributes):
                    if column.is_numeric:
                        self._codes[a] = ranks[slot]
                        slot += 1
                    else:
                        np.add(self.dataset.columns[a], 1, out=self._codes[a], casting="unsafe")
            return self._codes

    def codes_by_case(self) -> Codes:
        """Return the codes of all attributes, cases x attributes: those of a case lie together."""
        codes = self.codes_by_attribute()
        with self._lock:
            if self._codes_by_case is None:
                self._codes_by_case = np.ascontiguousarray(codes.T)
            return self._codes_by_case

    def nlogn(self, largest: int) -> Floats:
        """Return n log2 n of the integers up to `largest`, or up to the limit of the table."""
        with self._lock:
            size = min(largest + 1, LARGEST_TABLE)
            if size > len(self._nlogn):
                self._nlogn = np.zeros(size)
                fill_nlogn(self._nlogn, 0)
            return self._nlogn

    def distinct(self, attribute: int) -> Floats:
        """Return the distinct values of an attribute, ascending."""
        if attribute not in self._distinct:
            column = self.dataset.columns[attribute]
            self._distinct[attribute] = np.unique(column[~np.isnan(column)] + 0.0)
        return self._distinct[attribute]
