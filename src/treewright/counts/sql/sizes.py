"""How large an answer will be, and how a request is divided so that each answer is of bearable size."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from treewright._base.errors import DataError
from treewright.data.schema import Schema, Task

RESULT_ROWS = 2_000_000
"""Rows that one statement may return; more nodes and attributes are counted by several."""

FEW_NUMBERS = 20_000
"""Up to so many different numbers in a node all of them are fetched at once."""

MOST_NUMBERS = 50_000_000
"""More different numbers in one table are refused where all of them are needed."""

UNKNOWN_SIZE = RESULT_ROWS
"""A table that nothing is known of is taken to have so many rows."""


class AnswerSizes:
    """Estimates the rows of answers.

    Parameters
    ----------
    schema : Schema
    distinct : dict of str to int or None
        About how many different numbers a column has.
    size : int
        Of the table.
    intervals : dict of int to tuple of float
        Bounds of the attributes that are counted by intervals, as they are at the time.
    most, few : int
        Rows of one answer; numbers that are fetched wherever they are asked for.
    bins : callable
        Tells the number of runs of an attribute.
    widest : int
        Attributes that one statement may count.
    source : str or None
    """

    def __init__(
        self,
        schema: Schema,
        distinct: Mapping[str, int] | None,
        size: int,
        intervals: Mapping[int, tuple[float, ...]],
        most: int,
        few: int,
        bins: Callable[[int], int],
        widest: int,
        source: str | None,
    ) -> None:
        self._schema = schema
        self._distinct = distinct
        self._size = size
        self._intervals = intervals
        self._classes = 1 if schema.task is Task.REGRESSION else len(schema.classes)
        self._bins = bins
        self._widest = widest
        self._source = source
        self.most = most
        self.few = few

    def outcomes(self, attribute: int) -> int:
        """Return about how many rows a table has, whatever the classes."""
        column = self._schema.attributes[attribute]
        if attribute in self._intervals:
            return len(self._intervals[attribute]) + 2
        if not column.is_numeric:
            return len(column.values) + 1
        return self._size if self._distinct is None else self._distinct[column.name] + 1

    def is_many(self, attribute: int) -> bool:
        """Tell whether an attribute has too many numbers to fetch all of them wherever they are asked for."""
        column = self._schema.attributes[attribute]
        return column.is_numeric and attribute not in self._intervals and self.outcomes(attribute) > self.few

    def estimate(self, attributes: Sequence[int], sizes: Sequence[int], *, in_runs: bool = False) -> int:
        """Return about how many rows the tables of attributes at nodes of these sizes have."""
        rows = 0
        for attribute in attributes:
            cells = self.outcomes(attribute) * self._classes
            runs = self._bins(attribute) * (self._classes + 1) if in_runs and self.is_many(attribute) else 0
            rows += sum(runs if runs and size > self.few else min(size, cells) for size in sizes)
        return rows

    def portions(
        self, paths: Sequence[int], sizes: Sequence[int], attributes: Sequence[int], *, in_runs: bool
    ) -> Iterator[tuple[list[int], list[int]]]:
        """Divide a request into nodes and attributes that can be counted at once."""
        portion: list[int] = []
        rows = 0
        for attribute in attributes:
            expected = self.estimate([attribute], sizes, in_runs=in_runs)
            if expected > self.most:
                for some in self._by_nodes(paths, sizes, attribute, in_runs=in_runs):
                    yield some, [attribute]
                continue
            if portion and (rows + expected > self.most or len(portion) == self._widest):
                yield list(paths), portion
                portion, rows = [], 0
            portion = [*portion, attribute]
            rows += expected
        if portion:
            yield list(paths), portion

    def _by_nodes(
        self, paths: Sequence[int], sizes: Sequence[int], attribute: int, *, in_runs: bool
    ) -> Iterator[list[int]]:
        portion: list[int] = []
        rows = 0
        for path, size in zip(paths, sizes, strict=True):
            expected = self.estimate([attribute], [size], in_runs=in_runs)
            if expected > MOST_NUMBERS:
                raise DataError(
                    f"all of about {expected:,} different numbers would have to be fetched; round them, "
                    "declare the column nominal by ranges, or leave it out",
                    source=self._source,
                    column=self._schema.attributes[attribute].name,
                )
            if portion and rows + expected > self.most:
                yield portion
                portion, rows = [], 0
            portion = [*portion, path]
            rows += expected
        yield portion
