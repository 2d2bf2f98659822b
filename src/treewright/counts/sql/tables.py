"""From the answer of a counting statement to frequency tables.

An answer has a row for each outcome that occurs (and each class in it); which attribute it belongs to is told by the
masks of the grouping sets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from treewright._base.errors import DataError
from treewright._base.near_names import did_you_mean, quoted_list
from treewright.counts.counted import Counted
from treewright.counts.sql.columns import StoredColumn
from treewright.counts.sql.connection import Answer, AnswerColumn
from treewright.counts.table import FrequencyTable
from treewright.data.schema import Column

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Decoder:
    """Turns answers into tables.

    Parameters
    ----------
    stored : sequence of StoredColumn
        Of the attributes.
    attributes : sequence of Column
    target : StoredColumn
    target_column : Column
    whole : bool
        Whether counts are whole numbers.
    weighted : bool
    markers : tuple of str
        Texts that mean "missing" where they are not declared.
    source : str or None
    """

    def __init__(
        self,
        stored: Sequence[StoredColumn],
        attributes: Sequence[Column],
        target: StoredColumn,
        target_column: Column,
        *,
        whole: bool,
        weighted: bool,
        markers: tuple[str, ...],
        source: str | None,
    ) -> None:
        self._stored = stored
        self._attributes = attributes
        self._target = target
        self._target_column = target_column
        self._regression = target_column.is_numeric
        self._width = 3 if self._regression else len(target_column.values)
        self._whole = whole
        self._weighted = weighted
        self._markers = frozenset(markers)
        self._source = source
        self._codes: dict[int, dict[object, int]] = {}
        self._classes: dict[object, int] = {}

    # -- keys --------------------------------------------------------------------------------------------------------

    def class_codes(self, column: AnswerColumn) -> npt.NDArray[np.intp]:
        """Return the codes of classes; a missing one is an error."""
        if column.null.any():
            raise DataError("the target is missing in some rows", source=self._source, column=self._target.name)
        codes = self._codes_of(column, self._target, self._target_column, self._classes)
        if (codes < 0).any():
            raise DataError("the target is missing in some rows", source=self._source, column=self._target.name)
        return codes

    def value_codes(self, attribute: int, column: AnswerColumn) -> npt.NDArray[np.intp]:
        """Return the codes of declared values, -1 for missing ones."""
        known = self._codes.setdefault(attribute, {})
        return self._codes_of(column, self._stored[attribute], self._attributes[attribute], known)

    def _codes_of(
        self, column: AnswerColumn, stored: StoredColumn, declared: Column, known: dict[object, int]
    ) -> npt.NDArray[np.intp]:
        codes = np.full(len(column.cells), -1, dtype=np.intp)
        cells = column.cells.tolist()
        for row in np.flatnonzero(~column.null).tolist():
            cell = cells[row]
            if cell not in known:
                known[cell] = self._code(stored, declared, cell)
            codes[row] = known[cell]
        return codes

    def _code(self, stored: StoredColumn, declared: Column, cell: object) -> int:
        text = stored.text_of(cell)
        code = stored.codes(declared).get(text)
        if code is not None:
            return code
        if text in self._markers:
            return -1
        hint = did_you_mean(text, declared.values)
        message = f"value {text!r} is not declared{hint}; declared are {quoted_list(declared.values)}"
        raise DataError(message, source=self._source, column=declared.name)

    # -- tables ------------------------------------------------------------------------------------------------------

    def tables(
        self,
        answer: Answer,
        attributes: Sequence[int],
        mask_parts: Sequence[Sequence[str]],
        nodes: int,
        outcomes: Mapping[int, int | None],
    ) -> dict[int, list[Counted]]:
        """Return for each attribute the tables of all nodes.

        Parameters
        ----------
        answer : list of AnswerColumn
            Of `Statements.counting`.
        attributes : sequence of int
        mask_parts : sequence of sequences of str
            As `Statements.mask_parts` divided the keys.
        nodes : int
            How many were counted.
        outcomes : dict of int to int or None
            The number of intervals of an attribute; None for its own values.
        """
        of_open_nodes = np.flatnonzero(~answer[len(mask_parts)].null)
        if len(of_open_nodes) < len(answer[0].cells):
            answer = [column.take(of_open_nodes) for column in answer]
        masks = answer[: len(mask_parts)]
        rest = answer[len(mask_parts) :]
        node_column, *rest = rest
        class_column = None
        if not self._regression:
            class_column, *rest = rest
        keys, sums = rest[: len(attributes)], rest[len(attributes) :]
        found: dict[int, list[Counted]] = {}
        place = 0
        for mask, part in zip(masks, mask_parts, strict=True):
            grouped = mask.integers()
            for position in range(len(part)):
                attribute = attributes[place]
                expected = (1 << len(part)) - 1 - (1 << (len(part) - 1 - position))
                rows = np.flatnonzero(grouped == expected)
                found[attribute] = self._of_attribute(
                    attribute,
                    keys[place].take(rows),
                    node_column.take(rows).integers(),
                    None if class_column is None else self.class_codes(class_column.take(rows)),
                    [column.take(rows) for column in sums],
                    nodes,
                    outcomes.get(attribute),
                )
                place += 1
        return found

    def _of_attribute(
        self,
        attribute: int,
        keys: AnswerColumn,
        node: Ints,
        classes: npt.NDArray[np.intp] | None,
        sums: Sequence[AnswerColumn],
        nodes: int,
        intervals: int | None,
    ) -> list[Counted]:
        if intervals is not None:
            codes = np.where(keys.null, -1, keys.integers()).astype(np.intp)
            width = intervals
        elif self._attributes[attribute].is_numeric:
            return self._numeric(keys.numbers(), node, classes, sums, nodes)
        else:
            codes = self.value_codes(attribute, keys)
            width = len(self._attributes[attribute].values)
        places = np.where(codes < 0, width, codes)
        counts, cases, low, high = self._added(node * (width + 1) + places, classes, sums, nodes * (width + 1))
        counts = counts.reshape(nodes, width + 1, self._width)
        cases = cases.reshape(nodes, width + 1)
        tables = []
        for index in range(nodes):
            table = FrequencyTable(
                counts[index, :width], counts[index, width], cases[index, :width], None, int(cases[index, width])
            )
            part = slice(index * (width + 1), (index + 1) * (width + 1))
            tables.append(Counted(table, None if low is None else low[part], None if high is None else high[part]))
        return tables

    def _numeric(
        self,
        numbers: Floats,
        node: Ints,
        classes: npt.NDArray[np.intp] | None,
        sums: Sequence[AnswerColumn],
        nodes: int,
    ) -> list[Counted]:
        unknown = np.isnan(numbers)
        tables = []
        order = np.lexsort((numbers, node))
        starts = np.searchsorted(node[order], np.arange(nodes + 1))
        for index in range(nodes):
            rows = order[starts[index] : starts[index + 1]]
            values, ranks = np.unique(numbers[rows][~unknown[rows]], return_inverse=True)
            places = np.full(len(rows), len(values), dtype=np.intp)
            places[~unknown[rows]] = ranks
            own = None if classes is None else classes[rows]
            counts, cases, low, high = self._added(places, own, [one.take(rows) for one in sums], len(values) + 1)
            table = FrequencyTable(counts[:-1], counts[-1], cases[:-1], values, int(cases[-1]))
            tables.append(Counted(table, low, high))
        return tables

    def runs(
        self,
        places: npt.NDArray[np.integer],
        classes: npt.NDArray[np.intp],
        sums: Sequence[AnswerColumn],
        size: int,
    ) -> tuple[npt.NDArray[np.generic], Ints]:
        """Add up class counts and cases by place."""
        counts, cases, _, _ = self._added(places, classes, sums, size)
        return counts, cases

    def _added(
        self,
        places: npt.NDArray[np.integer],
        classes: npt.NDArray[np.intp] | None,
        sums: Sequence[AnswerColumn],
        size: int,
    ) -> tuple[npt.NDArray[np.generic], Ints, Floats | None, Floats | None]:
        """Add up the rows of an answer by place."""
        number = np.zeros(size, dtype=np.int64)
        np.add.at(number, places, sums[0].integers())
        if classes is not None:
            counts = np.zeros((size, self._width), dtype=np.int64 if self._whole else np.float64)
            weights = sums[1] if self._weighted else sums[0]
            np.add.at(counts, (places, classes), weights.integers() if self._whole else weights.numbers())
            return counts, number, None, None
        moments = np.zeros((size, 3))
        for statistic in range(3):
            np.add.at(moments[:, statistic], places, sums[1 + statistic].numbers())
        low, high = np.full(size, np.inf), np.full(size, -np.inf)
        np.minimum.at(low, places, sums[4].numbers())
        np.maximum.at(high, places, sums[5].numbers())
        return moments, number, low, high
