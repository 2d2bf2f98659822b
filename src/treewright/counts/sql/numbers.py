"""The numbers next to cuts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from treewright.counts.sql.connection import Connection
from treewright.counts.sql.statements import Statements


def largest_numbers(
    connection: Connection, statements: Statements, bounds: Mapping[int, Sequence[float]]
) -> dict[int, npt.NDArray[np.float64]]:
    """Return, in one statement, the greatest number between each two neighbouring bounds of each attribute.

    The first is at most the first bound, the last one is above all; NaN where there is none.
    """
    names = [f"k{attribute}" for attribute in bounds]
    further = ", ".join(
        f"{statements.interval_code(f'c{attribute}', some)} AS k{attribute}" for attribute, some in bounds.items()
    )
    sets = ", ".join(f"({name})" for name in names)
    largest = ", ".join(f"MAX(c{attribute}) AS v{attribute}" for attribute in bounds)
    masks = ", ".join(statements.masks(names))
    answer = connection.ask(
        f"SELECT {masks}, {', '.join(names)}, {largest} "
        f"FROM (SELECT r.*, {further} FROM ({statements.rows()}) r) q GROUP BY GROUPING SETS ({sets})"
    )
    parts = statements.mask_parts(names)
    found: dict[int, npt.NDArray[np.float64]] = {}
    attributes = list(bounds)
    place = 0
    for number, part in enumerate(parts):
        mask = answer[number].integers()
        for position in range(len(part)):
            rows = np.flatnonzero(mask == (1 << len(part)) - 1 - (1 << (len(part) - 1 - position)))
            key = answer[len(parts) + place].take(rows)
            value = answer[len(parts) + len(names) + place].take(rows).numbers()
            attribute = attributes[place]
            found[attribute] = np.full(len(bounds[attribute]) + 1, np.nan)
            found[attribute][key.integers()[~key.null]] = value[~key.null]
            place += 1
    return found
