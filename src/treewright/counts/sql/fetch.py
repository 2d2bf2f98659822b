"""Cases that are fetched into memory after all: those of small nodes, or all with equal ones put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from treewright.counts.sql.connection import Answer, Connection
from treewright.counts.sql.statements import Statements
from treewright.counts.sql.tables import Decoder
from treewright.data.dataset import Dataset
from treewright.data.raw import Codes, Floats


def fetched_rows(
    connection: Connection,
    members: str,
    statements: Statements,
    decoder: Decoder,
    nodes: int,
    source: str | None,
) -> list[Dataset]:
    """Return the cases of each node that `members` labels from 0 on."""
    names = [f"c{index}" for index in range(len(statements.stored))]
    picks = ["node", "y", *names, *(["w"] if statements.weighted else [])]
    answer = connection.ask(f"SELECT {', '.join(picks)} FROM ({members}) q WHERE node IS NOT NULL")
    node = answer[0].integers()
    everything = _dataset(answer[1:], list(range(len(names))), statements, decoder, source)
    order = np.argsort(node, kind="stable")
    starts = np.searchsorted(node[order], np.arange(nodes + 1))
    return [everything.take(order[starts[place] : starts[place + 1]]) for place in range(nodes)]


def grouped_rows(
    connection: Connection,
    statements: Statements,
    decoder: Decoder,
    cuts: Mapping[int, Sequence[float]],
    limit: int,
    source: str | None,
) -> Dataset | None:
    """Return one case for all that agree in the target and in what a tree asks of some attributes.

    A numeric attribute is told apart by the cuts, and the least of the numbers between two cuts stands for all of
    them. Attributes that are not asked for are missing.
    """
    keys = {
        attribute: statements.interval_code(f"c{attribute}", sorted(set(some)))
        if statements.schema.attributes[attribute].is_numeric
        else f"c{attribute}"
        for attribute, some in cuts.items()
    }
    further = "".join(f", {expression} AS k{attribute}" for attribute, expression in keys.items())
    names = [f"k{attribute}" for attribute in keys]
    values = [
        f"MIN(c{attribute}) AS v{attribute}" if statements.schema.attributes[attribute].is_numeric else f"k{attribute}"
        for attribute in keys
    ]
    weight = "SUM(w)" if statements.weighted else "COUNT(*)"
    answer = connection.ask(
        f"SELECT {', '.join(('y', *values))}, {weight} AS w "
        f"FROM (SELECT r.*{further} FROM ({statements.rows()}) r) q GROUP BY {', '.join(('y', *names))} "
        f"LIMIT {limit + 1}"
    )
    if len(answer[0].cells) > limit:
        return None
    return _dataset(answer, list(keys), statements, decoder, source, weighted=True)


def _dataset(
    answer: Answer,
    attributes: Sequence[int],
    statements: Statements,
    decoder: Decoder,
    source: str | None,
    *,
    weighted: bool | None = None,
) -> Dataset:
    schema = statements.schema
    n = len(answer[0].cells)
    target: npt.NDArray[np.float64] | npt.NDArray[np.int32]
    target = answer[0].numbers() if statements.regression else decoder.class_codes(answer[0]).astype(np.int32)
    columns: list[Codes | Floats] = [
        np.full(n, np.nan) if column.is_numeric else np.full(n, -1, dtype=np.int32) for column in schema.attributes
    ]
    for place, attribute in enumerate(attributes):
        cells = answer[1 + place]
        if schema.attributes[attribute].is_numeric:
            columns[attribute] = cells.numbers()
        else:
            columns[attribute] = decoder.value_codes(attribute, cells).astype(np.int32)
    weights = answer[1 + len(attributes)].numbers() if (statements.weighted if weighted is None else weighted) else None
    return Dataset(schema, tuple(columns), n, target, weights, source)
