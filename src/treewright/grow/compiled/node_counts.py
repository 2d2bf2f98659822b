"""The input of histogram growth, and the histogram of a node."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.counts.compiled.encoding import CodedColumn
from treewright.counts.compiled.histograms import count_cases, count_classes, count_numbers
from treewright.data.schema import Schema
from treewright.grow.candidates import SplitEvaluator
from treewright.grow.recipe import Recipe

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int32]

NO_WEIGHTS: Floats = np.zeros(0)
NO_CASES: Ints = np.zeros(0, dtype=np.int64)
NO_CLASSES: npt.NDArray[np.int32] = np.zeros(1, dtype=np.int32)

HALVED_FROM = 32_768
"""From this many cases on, the attributes of a node are counted by two threads if one is idle."""


@dataclass(frozen=True)
class Ranked:
    """The ranks of a binned column, for options that need the number of thresholds or the gap between values.

    Parameters
    ----------
    ranks : array of int
        Of every row; -1 where missing.
    numbers : array
        Of each rank.
    ends : array of int
        One more than the last rank of each code.
    """

    ranks: npt.NDArray[np.int32]
    numbers: Floats
    ends: Ints


@dataclass(frozen=True)
class Table:
    """The encoded table and the options of histogram growth.

    Parameters
    ----------
    schema : Schema
    recipe : Recipe
    codes : array, attributes x rows
    columns : tuple of array
        The numbers of binned attributes.
    coded : tuple of CodedColumn
    ranked : dict of int to Ranked
        The binned attributes, where the recipe needs their thresholds.
    target : array
        Class codes, or numbers to predict.
    options, table : array
        For kernels.
    tests : array of int
    examiner : callable
        Makes a `SplitEvaluator`.
    regression, whole : bool
    all_cases : callable
        Returns the number of cases of each code in the whole table.
    entries : callable
        Returns the cases of the whole table in the order of an attribute, empty if they are not sorted.
    n_cases, n_jobs : int
    pool, helper : ThreadPoolExecutor or None
        For nodes, and for half of the counting.
    """

    schema: Schema
    recipe: Recipe
    codes: npt.NDArray[Any]
    columns: tuple[npt.NDArray[Any], ...]
    coded: tuple[CodedColumn, ...]
    ranked: dict[int, Ranked]
    target: npt.NDArray[Any]
    options: npt.NDArray[Any]
    table: Floats
    tests: Ints
    examiner: Callable[[], SplitEvaluator]
    regression: bool
    whole: bool
    all_cases: Callable[[], Ints]
    entries: Callable[[int], Rows]
    n_cases: int
    n_jobs: int
    pool: ThreadPoolExecutor | None
    helper: ThreadPoolExecutor | None
    sizes: Ints = field(init=False)
    single: Flags = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", np.array([column.n_codes for column in self.coded], dtype=np.int64))
        object.__setattr__(self, "single", np.array([not column.is_binned for column in self.coded], dtype=bool))

    @property
    def width(self) -> int:
        """Length of the statistics of a set of cases."""
        return int(self.options["width"][0])

    @property
    def n_sampled(self) -> int:
        """Number of attributes sampled at each node, 0 if all are evaluated."""
        return int(self.options["n_sampled"][0])


@dataclass(frozen=True)
class Histogram:
    """The histogram of a node.

    Parameters
    ----------
    starts : array of int
        First bin of each attribute; attributes that were not counted have no bins.
    counts : array, bins x statistics
    cases : array of int
        Numbers of cases, empty where each case weighs one.
    """

    starts: Ints
    counts: Floats
    cases: Ints

    def of(self, attribute: int) -> slice:
        """Return the bins of an attribute."""
        return slice(int(self.starts[attribute]), int(self.starts[attribute + 1]))


def count_node(table: Table, rows: Rows, weights: Floats, deviation: Floats, attributes: Ints) -> Histogram:
    """Count attributes at a node, by two threads if it has more than half of all cases."""
    sizes = np.zeros_like(table.sizes)
    sizes[attributes] = table.sizes[attributes]
    starts = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    counts = np.zeros((int(starts[-1]), table.width))
    unit = len(weights) == 0 and not table.regression
    cases = NO_CASES if unit else np.zeros(int(starts[-1]), dtype=np.int64)
    known_cases = unit
    if not unit and len(rows) == table.codes.shape[1] and len(cases) == int(table.sizes.sum()):
        cases, known_cases = table.all_cases().copy(), True

    def one_part(part: Ints) -> None:
        if table.regression:
            count_numbers(table.codes, rows, deviation, weights, part, starts, counts)
        else:
            count_classes(table.codes, rows, table.target, weights, part, starts, counts)
        if not known_cases:
            count_cases(table.codes, rows, part, starts, cases)

    if table.helper is None or len(attributes) < 8 or len(rows) < max(HALVED_FROM, table.n_cases // 2):
        one_part(attributes)
    else:
        half = (len(attributes) // 2 + 3) // 4 * 4
        other = table.helper.submit(one_part, attributes[:half])
        one_part(attributes[half:])
        other.result()
    return Histogram(starts, counts, cases)
