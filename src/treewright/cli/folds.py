"""Predefined folds, from a file or from a column of the data."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy.typing as npt

    from treewright.data.dataset import Dataset

HEADERS = ("fold", "row")


def folds_from_file(path: str, n_rows: int) -> npt.NDArray[Any]:
    """Read the fold of each row: a name or number a line, or a table with columns `fold` and, if not in order, `row`.

    Rows are numbered from 0 or from 1. Returns whole numbers from 0 on, in the order in which the folds sort.
    """
    from treewright._base.errors import DataError
    from treewright.data.text_source import TextSource

    try:
        read = list(enumerate(csv.reader(TextSource(path).read_lines()), start=1))
    except csv.Error as error:
        raise DataError(f"is no table of folds: {error}", source=path) from error
    lines = [(number, line) for number, line in read if any(line)]
    names = [cell.strip().lower() for cell in lines[0][1]] if lines else []
    headed = "fold" in names
    if headed:
        lines = lines[1:]
    elif lines and len(lines[0][1]) > 1:
        raise DataError("has several columns; name the one of the folds 'fold', in a first line", source=path, line=1)
    fold_at, row_at = names.index("fold") if headed else 0, names.index("row") if "row" in names else None
    width = len(names) if headed else 1
    found: dict[int, str] = {}
    for place, (number, line) in enumerate(lines):
        if len(line) != width or not line[fold_at].strip():
            raise DataError(f"has {width} cells in a line, and none empty", source=path, line=number)
        row = place if row_at is None else _whole(line[row_at], path, number)
        if row in found:
            raise DataError(f"row {row} has two folds", source=path, line=number)
        found[row] = line[fold_at].strip()
    first = min(found, default=0)
    if len(found) != n_rows or first not in (0, 1) or max(found) != first + n_rows - 1:
        span = "" if row_at is None else f" (from {first:,} to {max(found, default=0):,})"
        raise DataError(f"gives a fold to {len(found):,} rows{span}, and the data have {n_rows:,}", source=path)
    return _codes([found[row] for row in range(first, first + n_rows)])


def folds_from_column(data: Dataset, name: str) -> tuple[Dataset, npt.NDArray[Any]]:
    """Return the data without a column, and the folds that it says."""
    import numpy as np

    from treewright._base.errors import DataError
    from treewright.evaluate.resampling import without_attribute
    from treewright.evaluate.ways import place_of

    column = data.columns[place_of(data, name)]
    missing = np.isnan(column) if column.dtype.kind == "f" else column < 0
    if missing.any():
        raise DataError(f"row {int(np.argmax(missing)) + 1:,} has no fold", source=data.source, column=name)
    folds: npt.NDArray[Any] = np.unique(column, return_inverse=True)[1]
    return without_attribute(data, name), folds


def _whole(cell: str, path: str, number: int) -> int:
    from treewright._base.errors import DataError

    try:
        return int(cell)
    except ValueError as error:
        raise DataError(f"{cell!r} is no number of a row", source=path, line=number) from error


def _codes(names: list[str]) -> npt.NDArray[Any]:
    import numpy as np

    numbers = all(name.lstrip("-").isdigit() for name in names)
    order = sorted(set(names), key=(lambda name: (int(name), name)) if numbers else None)
    code = {name: place for place, name in enumerate(order)}
    return np.array([code[name] for name in names], dtype=np.intp)
