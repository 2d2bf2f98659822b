"""The recorded results of the original programs: where they are and how to read them.

They live outside this repository. The environment variable ``TREEWRIGHT_ORACLE`` says where; tests that need them are
marked ``oracle`` and skip themselves where they are absent.
"""

from __future__ import annotations

import csv
import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from treewright.data.dataset import Dataset
from treewright.data.schema import Column, Schema

DEFAULT = Path(__file__).resolve().parents[2] / "shared" / "oracle"


def oracle_folder() -> Path | None:
    """Return the folder of the recorded sets, None where there is none."""
    folder = Path(os.environ.get("TREEWRIGHT_ORACLE", DEFAULT))
    return folder if folder.is_dir() else None


def require_oracle() -> Path:
    """Return the folder of the recorded sets, or skip the test that asks."""
    folder = oracle_folder()
    if folder is None:
        pytest.skip("the recorded results are not here; set TREEWRIGHT_ORACLE to their folder")
    return folder


def set_names(task: str | None = None, having: str | None = None) -> list[str]:
    """Return the names of the recorded sets, none without the folder.

    They can be restricted to one task ("classification" or "regression") and to those `having` a certain file.
    """
    folder = oracle_folder()
    if folder is None:
        return []
    names = sorted(path.parent.name for path in folder.glob("*/schema.json"))
    if having is not None:
        names = [name for name in names if (folder / name / having).exists()]
    if task is not None:
        names = [name for name in names if load_json(name, "schema.json")["task"] == task]
    return names


@cache
def load_json(name: str, file: str) -> Any:
    """Return a recorded JSON file of a set; skip the test if the set has none."""
    path = require_oracle() / name / file
    if not path.exists():
        pytest.skip(f"{name} has no {file}")
    return json.loads(path.read_text(encoding="utf-8"))


@cache
def load_set(name: str, file: str = "data.csv") -> Dataset:
    """Return the cases of a set, encoded by its recorded schema."""
    description = load_json(name, "schema.json")
    schema = Schema.from_dict(description)
    marker = description["missing_marker"]
    with (require_oracle() / name / file).open(newline="", encoding="utf-8") as handle:
        header, *rows = csv.reader(handle)
    assert header == [column.name for column in schema.columns]
    cells = dict(zip(header, zip(*rows, strict=True), strict=True))
    return Dataset(
        schema=schema,
        columns=tuple(_encoded(column, cells[column.name], marker) for column in schema.attributes),
        n_rows=len(rows),
        target=_encoded(schema.target_column, cells[schema.target_column.name], marker),
        source=f"{name}/{file}",
    )


def folds(name: str) -> npt.NDArray[np.intp]:
    """Return the fold (0 to 4) of each row."""
    with (require_oracle() / name / "folds.csv").open(newline="", encoding="utf-8") as handle:
        pairs = [(int(line["row"]), int(line["fold"])) for line in csv.DictReader(handle)]
    result = np.zeros(len(pairs), dtype=np.intp)
    for row, fold in pairs:
        result[row] = fold
    return result


def _encoded(column: Column, cells: tuple[str, ...], marker: str) -> npt.NDArray[np.float64] | npt.NDArray[np.int32]:
    if column.is_numeric:
        return np.array([np.nan if cell == marker else float(cell) for cell in cells])
    code = {value: index for index, value in enumerate(column.values)}
    return np.array([-1 if cell == marker and marker not in code else code[cell] for cell in cells], dtype=np.int32)
