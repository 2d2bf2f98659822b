"""The numbers next to cuts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from treewright.counts.sql.connection import Connection
from treewright.counts.sql.statements import Statements


def largest_numbers_by_tree(
    connection: Connection, statements: Statements, bounds: Sequence[Mapping[int, Sequence[float]]]
) -> list[dict[int, npt.NDArray[np.float64]]]:
    """Return, in one statement, the greatest number between each two neighbouring bounds of each attribute.

    The first is at most the first bound, the last one is above all; NaN where there is none. The trees of a forest have
    bounds and cases of their own.
    """
    attributes = sorted({attribute for mine in bounds for attribute in mine})
    names = [f"k{attribute}" for attribute in attributes]
    further = ", ".join(f"{_code(statements, attribute, bounds)} AS k{attribute}" for attribute in attributes)
    tree = "0" if statements.bags is None else "tree"
    sets = ", ".join(f"(t, {name})" for name in names)
    largest = ", ".join(f"MAX(c{attribute}) AS v{attribute}" for attribute in attributes)
    masks = ", ".join(statements.masks(names))
    answer = connection.ask(
        f"SELECT {masks}, t, {', '.join(names)}, {largest} "
        f"FROM (SELECT r.*, {tree} AS t, {further} FROM ({statements.rows()}) r) q GROUP BY GROUPING SETS ({sets})"
    )
    parts = statements.mask_parts(names)
    found = [{one: np.full(len(some) + 1, np.nan) for one, some in mine.items()} for mine in bounds]
    trees = answer[len(parts)].integers()
    place = 0
    for number, part in enumerate(parts):
        mask = answer[number].integers()
        for position in range(len(part)):
            rows = np.flatnonzero(mask == (1 << len(part)) - 1 - (1 << (len(part) - 1 - position)))
            key = answer[len(parts) + 1 + place].take(rows)
            value = answer[len(parts) + 1 + len(names) + place].take(rows).numbers()
            codes = key.integers()
            for row in np.flatnonzero(~key.null).tolist():
                found[trees[rows[row]]][attributes[place]][codes[row]] = value[row]
            place += 1
    return found


def _code(statements: Statements, attribute: int, bounds: Sequence[Mapping[int, Sequence[float]]]) -> str:
    """Return the interval of a number, by the bounds of the tree."""
    if statements.bags is None:
        return statements.interval_code(f"c{attribute}", bounds[0][attribute])
    parts = [
        f"WHEN {tree} THEN {statements.interval_code(f'c{attribute}', mine[attribute])}"
        for tree, mine in enumerate(bounds)
        if attribute in mine
    ]
    return f"CASE tree {' '.join(parts)} END"
