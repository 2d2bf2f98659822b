"""What leaves the partitions beside tables: largest numbers, cases of small nodes, cases with equal ones together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.counts.dask_engine.partitions import Member, Part
from treewright.counts.outside import ROOT
from treewright.data.dataset import Dataset
from treewright.data.raw import Codes, Floats
from treewright.data.schema import Schema, Task

# -- largest numbers -------------------------------------------------------------------------------------------------


def largest_part(part: Part, bounds: Mapping[int, Sequence[float]]) -> dict[int, Floats]:
    """Return for each bound the largest number not above it but above the one before; NaN where there is none."""
    found: dict[int, Floats] = {}
    for attribute, some in bounds.items():
        numbers = part.column(attribute, np.arange(len(part)))
        codes = np.searchsorted(np.array(some), numbers, side="left")
        largest = np.full(len(some) + 1, -np.inf)
        known = ~np.isnan(numbers)
        np.maximum.at(largest, codes[known], numbers[known])
        found[attribute] = np.where(np.isinf(largest), np.nan, largest)[: len(some)]
    return found


def put_together(parts: Sequence[dict[int, Floats]]) -> dict[int, Floats]:
    """Return the largest of all partitions."""
    return {attribute: np.fmax.reduce([part[attribute] for part in parts]) for attribute in parts[0]}


# -- cases of nodes --------------------------------------------------------------------------------------------------


def fetched_part(part: Part, member: Member | None, paths: Sequence[int], source: str | None) -> list[Dataset]:
    """Return the cases of a partition that are at each of some paths."""
    if member is None:
        member = np.full(len(part), ROOT, dtype=np.int32)
    return [part.taken(np.flatnonzero(member == path), source) for path in paths]


def stacked(pieces: Sequence[Dataset]) -> Dataset:
    """Return the cases of several partitions."""
    first = pieces[0]
    weights = [piece.weights for piece in pieces if piece.weights is not None]
    target: Any = np.concatenate([piece.target for piece in pieces if piece.target is not None])
    return replace(
        first,
        columns=tuple(np.concatenate(columns) for columns in zip(*(piece.columns for piece in pieces), strict=True)),
        n_rows=sum(piece.n_rows for piece in pieces),
        target=target,
        weights=np.concatenate(weights) if weights else None,
    )


# -- cases with equal ones together ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Groups:
    """Cases that agree in their keys.

    Parameters
    ----------
    keys : array, groups x (1 + attributes)
        Target, then codes.
    numbers : array, groups x attributes
        The least number of a numeric attribute.
    weights : array
    """

    keys: npt.NDArray[np.float64]
    numbers: Floats
    weights: Floats


def grouped_part(part: Part, cuts: Mapping[int, Sequence[float]], limit: int) -> Groups | None:
    """Put the cases of a partition together; None if there are too many different ones."""
    rows = np.arange(len(part))
    keys, numbers = [part.target.astype(np.float64)], []
    for attribute, some in cuts.items():
        column = part.column(attribute, rows)
        if part.coding.schema.attributes[attribute].is_numeric:
            codes = np.searchsorted(np.array(some), column, side="left")
            keys.append(np.where(np.isnan(column), -1.0, codes))
            numbers.append(column)
        else:
            keys.append(column.astype(np.float64))
            numbers.append(np.zeros(len(rows)))
    weights = np.ones(len(rows)) if part.weights is None else part.weights
    stacked = np.stack(numbers, axis=1) if numbers else np.zeros((len(rows), 0))
    return _put_together(Groups(np.stack(keys, axis=1), stacked, weights), limit)


def add_groups(parts: Sequence[Groups | None], limit: int) -> Groups | None:
    """Put the cases of several partitions together; None if there are too many different ones."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    return _put_together(
        Groups(
            np.concatenate([part.keys for part in known]),
            np.concatenate([part.numbers for part in known]),
            np.concatenate([part.weights for part in known]),
        ),
        limit,
    )


def _put_together(groups: Groups, limit: int) -> Groups | None:
    order = np.lexsort(groups.keys.T[::-1])
    keys = groups.keys[order]
    first = np.ones(len(keys), dtype=bool)
    first[1:] = (keys[1:] != keys[:-1]).any(axis=1)
    begins = np.flatnonzero(first)
    if len(begins) > limit:
        return None
    if len(begins) == 0:
        return groups
    return Groups(
        keys[first],
        np.fmin.reduceat(groups.numbers[order], begins, axis=0),
        np.add.reduceat(groups.weights[order], begins),
    )


def cases_of_groups(groups: Groups, schema: Schema, attributes: Sequence[int], source: str | None) -> Dataset:
    """Return one case for each group; attributes that were not asked for are missing."""
    n = len(groups.weights)
    columns: list[Codes | Floats] = [
        np.full(n, np.nan) if column.is_numeric else np.full(n, -1, dtype=np.int32) for column in schema.attributes
    ]
    for place, attribute in enumerate(attributes):
        if schema.attributes[attribute].is_numeric:
            columns[attribute] = groups.numbers[:, place]
        else:
            columns[attribute] = groups.keys[:, 1 + place].astype(np.int32)
    target = groups.keys[:, 0]
    is_class = schema.task is Task.CLASSIFICATION
    return Dataset(schema, tuple(columns), n, target.astype(np.int32) if is_class else target, groups.weights, source)
